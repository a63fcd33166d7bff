"""Put the packages that Cortex needs into the Python it runs in, and change nothing else there.

Inside the host that Python is the host's. What pip would do is worked out first, with everything
that is installed pinned at its version: then only packages are added, or nothing happens at all.
Standard library only.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import files
from ..errors import CortexError
from .packages import (
    FILES_ALONE,
    MODULES,
    MULTILINGUAL,
    MULTILINGUAL_VERSION,
    private_folder,
    requirements,
)
from .plugin_folder import HOST

Versions = dict[str, str]  # distribution, as PyPI writes it -> version
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be installed, and where."""

    python: str
    host: str | None  # the version of the host in this Python
    folder: Path | None  # the private folder; None: into the Python itself, or all lies there
    add: Versions
    replace: Versions  # of those that Cortex added before: the versions they have now
    is_private: bool


def plan(*, private: bool, tell: Tell, multilingual: bool = False) -> Plan:
    """What is missing, resolved together with all that is installed; nothing is written.

    private: into the private folder; where that is in use already, it stays so. multilingual: the
    model for other languages too; where it was added once, it stays.

    Raises CortexError: this Python may not or can't be installed into, is broken already, or
    the packages don't go together with what is there.
    """
    installer = _Installer.of_this_python()
    there = installed()
    host = there.get(HOST)
    is_private = private or bool(_private_folders())
    folder = private_folder() if is_private else None
    if folder is None:
        _refuse_if_not_ours()
        # What an install that was cut short left behind is for this one to mend.
        if faults := installer.faults((*_OWN, *_manifest())):
            raise CortexError(
                f"the packages of {sys.executable} do not fit together already, and Cortex does "
                f"not add to that: {' '.join(faults[:5])} Mend that first, or run this again with "
                "--private, which leaves this Python as it is"
            )
    ours = _manifest() if folder is None else _installed_in(folder)
    wanted = requirements() + ([f"{HOST}=={host}"] if host else [])
    if multilingual or MULTILINGUAL in ours:
        wanted.append(f"{MULTILINGUAL}=={MULTILINGUAL_VERSION}")
    tell(f"looking up what fits beside {f'{HOST} {host}' if host else 'what is installed'}")
    hosts = {name: there[name] for name in there if folder is not None or name not in ours}
    try:
        found = installer.resolve(wanted, {**ours, **there})
    except _Unresolved:
        if not ours:
            raise
        # What Cortex brought itself may move on when Cortex does.
        found = installer.resolve(wanted, hosts)
    if not found and (faults := _unimportable(folder)):
        raise CortexError(
            f"all packages are there, but {'; '.join(faults[:5])}. Install that one again: "
            f"{sys.executable} -m pip install --force-reinstall --no-deps NAME==VERSION"
        )
    if folder is not None:
        is_there = found == ours and not _unimportable(folder)
        place = folder if found else None
        return Plan(sys.executable, host, place, {} if is_there else found, {}, True)
    foreign = sorted(found.keys() & hosts.keys())
    if foreign:
        raise CortexError(
            f"pip would change {', '.join(foreign)}, which Cortex must not; {_UNCHANGED}"
        )
    replaced = {name: there[name] for name in found if name in there}
    return Plan(sys.executable, host, None, found, replaced, False)


def carry_out(plan: Plan, tell: Tell) -> None:
    """Install what `plan` says. Raises CortexError, with everything as it was before."""
    if not plan.add:
        return
    installer = _Installer.of_this_python()
    count = f"{len(plan.add)} package" + ("" if len(plan.add) == 1 else "s")
    tell(f"installing {count}; the first time this takes a minute or two")
    if plan.folder is not None:
        _fill(plan.folder, plan.add, installer)
        return
    before, listed = installed(), _manifest()
    try:
        # Listed first: if this is killed, what it had put there is still known as ours.
        _list({**listed, **plan.add}, users())
        installer.install(plan.add)
        after = installed()
        changed = [
            f"{name} {version} -> {after.get(name, 'gone')}"
            for name, version in before.items()
            if after.get(name) != version and name not in plan.replace
        ]
        faults = [*changed, *installer.faults(_OWN), *_unimportable(None)]
        if faults:
            raise CortexError("; ".join(faults[:5]))
    except BaseException as error:
        try:
            installer.uninstall([name for name in plan.add if name not in before])
            if plan.replace:
                installer.install(plan.replace)
            _list(listed, users())
            outcome = "what had been added was taken out again"
        except (CortexError, OSError) as another:
            outcome = f"and it could not be taken back: {another}; run this again with --uninstall"
        if isinstance(error, CortexError | OSError):
            raise CortexError(f"{error}; {outcome}") from error
        raise


def users() -> list[Path]:
    """The homes that use what Cortex added to this Python; none in the list of an older version."""
    try:
        homes = files.read_json(_manifest_path())["homes"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []
    return [Path(str(home)) for home in homes]


def add_user(home: Path) -> None:
    """Record that `home` uses the packages of this Python."""
    homes = users()
    if home.resolve() not in homes:
        _list(_manifest(), [*homes, home.resolve()])


def remove_user(home: Path) -> None:
    """Record that `home` uses them no more."""
    homes = users()
    if home.resolve() in homes:
        _list(_manifest(), [other for other in homes if other != home.resolve()])


def removable() -> tuple[Versions, list[Path]]:
    """(what Cortex added to this Python and nothing else needs, the private folders).

    A package that was brought to another version since is no longer ours.
    """
    there = installed()
    gone = {name: version for name, version in _manifest().items() if there.get(name) == version}
    needed_by = _needs()
    while True:
        rest = {name for name in there if name not in gone and name != "hermes-cortex"}
        kept = {need for name in rest for need in needed_by.get(name, ()) if need in gone}
        if not kept:
            break
        gone = {name: version for name, version in gone.items() if name not in kept}
    return gone, _private_folders()


def remove(packages: Versions, folders: Sequence[Path]) -> None:
    """Take out what `removable` found; what else Cortex had added is no longer ours."""
    remove_folders(folders)
    if packages:
        _Installer.of_this_python().uninstall(list(packages))
    _manifest_path().unlink(missing_ok=True)


def remove_folders(folders: Sequence[Path]) -> None:
    """Take private folders away, and nothing of this Python."""
    for folder in folders:
        shutil.rmtree(folder)
    with contextlib.suppress(OSError):
        private_folder().parent.rmdir()


_OWN = ("hermes-cortex",)  # what it lacks is what this installs
_UNCHANGED = "nothing was changed"
_MARK = "cortex-packages.json"


def installed() -> Versions:
    """Every distribution of this Python, as a new process finds them."""
    rows = json.loads(_python(_LIST))
    return {_canonical(name): version for name, version in rows if name and version}


_LIST = """\
import json
from importlib import metadata
seen = {}
for found in metadata.distributions():
    seen.setdefault(found.metadata["Name"], found.version)
print(json.dumps(list(seen.items())))
"""


def _needs() -> dict[str, set[str]]:
    """Distribution -> what it needs without any extra."""
    rows = json.loads(_python(_REQUIRES))
    return {
        _canonical(name): {
            _canonical(match[0])
            for text in texts
            if "extra" not in text.partition(";")[2] and (match := _NAME.match(text))
        }
        for name, texts in rows
        if name
    }


_REQUIRES = """\
import json
from importlib import metadata
print(json.dumps([(d.metadata["Name"], d.requires or []) for d in metadata.distributions()]))
"""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _python(code: str, *, code_env: Mapping[str, str] | None = None) -> str:
    done = _run([sys.executable, "-c", code], code_env)
    if done.returncode:
        raise CortexError(f"{sys.executable} failed: {_last_lines(done)}")
    return done.stdout


def _run(
    command: Sequence[str], extra: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """In an empty folder, so that nothing beside us is taken for a package."""
    env = {key: value for key, value in os.environ.items() if key not in _ELSEWHERE}
    env.update(PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1", PIP_USER="0", NO_COLOR="1")
    env.update(extra or {}, PYTHONUTF8="1")
    with tempfile.TemporaryDirectory(prefix="cortex-install-") as folder:
        return subprocess.run(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip


# What would send packages to another place than this Python.
_ELSEWHERE = ("PYTHONPATH", "PIP_PREFIX", "PIP_PYTHON", "PIP_ROOT", "PIP_TARGET", "PIP_USER")


def _last_lines(done: subprocess.CompletedProcess[str], count: int = 12) -> str:
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    wanted = [line for line in lines if not line.startswith(("WARNING:", "[notice]"))]
    return " | ".join(wanted[-count:]) or f"exit code {done.returncode}"


def _refuse_if_not_ours() -> None:
    """Raises CortexError if packages are not to be put into this Python."""
    marker = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    if sys.prefix == sys.base_prefix and marker.exists():
        raise CortexError(
            f"{sys.executable} is managed by the system, which adds packages its own way; "
            "run this again with --private, which has them in a folder of the plugin"
        )
    place = sysconfig.get_path("purelib")
    if not os.access(place, os.W_OK):
        raise CortexError(
            f"{place} can't be written to; run this as its owner, or again with --private, "
            "which has the packages in a folder of the plugin"
        )


class _Unresolved(CortexError):
    """No set of packages fits."""


@dataclass(frozen=True, slots=True)
class _Installer:
    """pip, or uv's pip: the words that begin each call."""

    words: tuple[str, ...]
    is_uv: bool

    @classmethod
    def of_this_python(cls) -> _Installer:
        if not sys.executable:
            raise CortexError("this Python does not say where it is, so nothing can be installed")
        if _run([sys.executable, "-m", "pip", "--version"]).returncode == 0:
            return cls((sys.executable, "-m", "pip"), False)
        if uv := shutil.which("uv"):
            return cls((uv, "pip"), True)
        with contextlib.suppress(ImportError):
            import ensurepip

            # The wheel that Python ships runs where it lies, so nothing has to be added for it.
            for wheel in glob.glob(f"{ensurepip.__path__[0]}/_bundled/pip-*.whl"):
                return cls((sys.executable, f"{wheel}/pip"), False)
        raise CortexError(
            f"{sys.executable} has no pip, and there is no uv on the PATH; "
            f"install one of them and run this again"
        )

    def call(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        target = ["--python", sys.executable] if self.is_uv else []
        return _run([*self.words, command, *target, *arguments])

    def faults(self, ignored: Sequence[str]) -> list[str]:
        """What pip finds broken, less what the `ignored` distributions lack."""
        done = self.call("check")
        if done.returncode == 0:
            return []
        text = done.stdout + (done.stderr if self.is_uv else "")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if self.is_uv:
            lines = [line for line in lines if line.startswith("The package")]
            lines = [line.replace("`", "") for line in lines]
        owners = tuple(f"{name} " for name in ignored) + tuple(
            f"The package {name} " for name in ignored
        )
        return [line for line in lines if not line.startswith(owners)]

    def resolve(self, wanted: Sequence[str], held: Versions) -> Versions:
        """What has to be added for `wanted`, with `held` at these versions."""
        pins = [
            f"{name}=={version}"
            for name, version in sorted(held.items())
            if re.fullmatch(r"[0-9][\w.!+-]*", version)
        ]
        with tempfile.TemporaryDirectory(prefix="cortex-install-") as folder:
            constraints = Path(folder) / "constraints.txt"
            constraints.write_text("\n".join(pins) + "\n", "utf-8")
            report = Path(folder) / "report.json"
            asked = [*wanted, "--constraint", str(constraints), "--dry-run"]
            if self.is_uv:
                done = self.call("install", *asked)
            else:
                done = self.call("install", *asked, "--prefer-binary", "--report", str(report))
            if done.returncode:
                raise _failure(done)
            if self.is_uv:
                found = re.findall(r"^ [+~] (\S+?)==(\S+)", done.stderr, re.MULTILINE)
            else:
                rows = json.loads(report.read_text("utf-8"))["install"]
                found = [(row["metadata"]["name"], row["metadata"]["version"]) for row in rows]
        return {_canonical(name): version for name, version in found}

    def install(self, packages: Versions, target: Path | None = None) -> None:
        """Exactly these, and nothing that they ask for."""
        pins = [f"{name}=={version}" for name, version in sorted(packages.items())]
        place = ["--target", str(target)] if target else []
        done = self.call("install", "--no-deps", *place, *pins)
        if done.returncode:
            raise CortexError(f"pip could not install the packages: {_last_lines(done)}")

    def uninstall(self, names: Sequence[str]) -> None:
        if not names:
            return
        done = self.call("uninstall", *([] if self.is_uv else ["--yes"]), *names)
        if done.returncode:
            raise CortexError(f"pip could not take the packages out: {_last_lines(done)}")


def _failure(done: subprocess.CompletedProcess[str]) -> CortexError:
    text = done.stdout + done.stderr
    if not re.search(r"ResolutionImpossible|No solution found", text):
        return CortexError(
            f"pip could not find the packages; {_UNCHANGED}. It says: {_last_lines(done)}"
        )
    cause = re.search(r"The conflict is caused by:\s*(.*?)\n\s*\n", text, re.DOTALL)
    said = "; ".join(cause[1].split("\n")) if cause else _last_lines(done)
    return _Unresolved(
        f"what Cortex needs does not go together with the packages of {sys.executable}, and "
        f"{_UNCHANGED}. It says: {' '.join(said.split())}. Bring the package named there to a "
        "version that fits, or keep Cortex in a Python of its own and let Hermes call it by a "
        "shell hook (README, In Hermes)"
    )


# What Cortex added to this Python: its own list, beside the packages


def _manifest_path() -> Path:
    return Path(sysconfig.get_path("purelib")) / _MARK


def _manifest() -> Versions:
    return _packages_in(_manifest_path())


def _list(packages: Versions, homes: Sequence[Path]) -> None:
    if packages or homes:
        files.write_json(_manifest_path(), {"packages": packages, "homes": [*map(str, homes)]})
    else:
        _manifest_path().unlink(missing_ok=True)


def _private_folders() -> list[Path]:
    """Those of every Python that was used, and what an install that was cut short left."""
    return sorted(
        folder
        for folder in private_folder().parent.glob("*")
        if (folder / _MARK).is_file() or folder.name.startswith(_FRESH)
    )


_FRESH = ".new-"


def _installed_in(folder: Path) -> Versions:
    return _packages_in(folder / _MARK)


def _packages_in(path: Path) -> Versions:
    try:
        listed = files.read_json(path)["packages"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return {}
    return {str(name): str(version) for name, version in dict(listed).items()}


def _fill(folder: Path, packages: Versions, installer: _Installer) -> None:
    """Put `packages` into a folder beside `folder` and let it take that one's place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=_FRESH, dir=folder.parent))
    except OSError as error:
        raise CortexError(f"{folder} can't be made: {error.strerror}") from error
    try:
        installer.install(packages, fresh)
        if faults := _unimportable(fresh):
            raise CortexError("; ".join(faults[:5]))
        files.write_json(fresh / _MARK, {"packages": packages})
        if folder.exists():
            folder.rename(fresh.with_name(fresh.name + "-old"))
        fresh.rename(folder)
        for left in _private_folders():
            if left.name.startswith(_FRESH):
                shutil.rmtree(left, ignore_errors=True)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def _unimportable(folder: Path | None) -> list[str]:
    """What of Cortex's needs can't be imported, each with the reason."""
    env = {
        "CORTEX_TRY": json.dumps([str(folder or ""), [m for m in MODULES if m not in FILES_ALONE]]),
        "ORT_DISABLE_TELEMETRY": "1",  # see embedder/bundled.py
    }
    faults: list[str] = json.loads(_python(_IMPORT, code_env=env))
    return faults


_IMPORT = """\
import importlib, json, os, site
folder, modules = json.loads(os.environ["CORTEX_TRY"])
if folder:
    site.addsitedir(folder)
faults = []
for name in modules:
    try:
        importlib.import_module(name)
    except Exception as error:
        faults.append(f"{name} can't be imported: {type(error).__name__}: {error}")
print(json.dumps(faults))
"""
