"""Set Cortex up: write a config for a vault, and the sample vault on request; overwrite nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from .. import files as artifacts
from ..config.load import parse
from ..config.render import commented
from ..errors import CortexError, UsageError
from ..home import expand
from ..vault.scan import FolderRules, lies_among_notes


@dataclass(frozen=True, slots=True)
class Action:
    """What init did, or would do on a dry run."""

    verb: Literal["write", "copy", "keep"]
    path: Path
    what: str  # what stands there, as a phrase


@dataclass(frozen=True, slots=True)
class ChosenVault:
    path: Path
    source: Literal["--vault", "existing config", "WIKI_PATH"]


def choose_vault(given: str | None, config_path: Path, env: Mapping[str, str]) -> ChosenVault:
    """The vault that was `given`, else that of the config at `config_path`, else $WIKI_PATH.

    Raises UsageError if none of them names one, ConfigError if the config is broken.
    """
    if given is not None:
        if not given.strip():
            raise UsageError("--vault is empty; give the folder of your notes")
        return ChosenVault(expand(given.replace("$", "$$"), Path.cwd(), env), "--vault")
    if os.path.lexists(config_path) and (vault := parse(config_path, env).vault.path):
        return ChosenVault(vault, "existing config")
    if wiki := env.get("WIKI_PATH"):
        return ChosenVault(expand(wiki, Path.cwd(), env), "WIKI_PATH")
    raise UsageError("which folder holds your notes? run: cortex init --vault PATH")


def init(
    vault: Path,
    config_path: Path,
    *,
    sample: bool = False,
    dry_run: bool = False,
    env: Mapping[str, str],
) -> list[Action]:
    """Write a commented config for `vault` at `config_path`; nothing is written into the vault.

    sample: first put the shipped sample notes there; the folder must be missing, empty, or hold
    nothing but them. Raises UsageError, before anything is written, if the vault is not there or
    the config already names another.
    """
    config_is_there = os.path.lexists(config_path)
    if config_is_there:
        _refuse_another_vault(vault, config_path, env)
    if sample:
        actions = _sample_actions(vault)
    elif not vault.is_dir():
        what = "is not a folder" if os.path.lexists(vault) else "does not exist"
        raise UsageError(
            f"the vault {vault} {what}; give the folder of your notes, "
            "or add --sample to have a sample vault written there"
        )
    else:
        actions = []
    if lies_among_notes(config_path.parent, vault, FolderRules()):
        raise UsageError(
            f"the config {config_path} would lie inside the vault, with all that is built; "
            "give --config a place outside it, or in a hidden folder of it"
        )
    verb: Literal["keep", "write"] = "keep" if config_is_there else "write"
    actions.append(Action(verb, config_path, "the config"))
    if not dry_run:
        if sample:
            _copy_sample(vault)
        if not config_is_there:
            artifacts.write_text(config_path, commented(vault))
    return actions


def _refuse_another_vault(vault: Path, config_path: Path, env: Mapping[str, str]) -> None:
    existing = parse(config_path, env).vault.path
    if existing is None:
        raise UsageError(
            f"{config_path} is there and names no vault; set vault.path: {vault} in it"
        )
    if not _same_folder(existing, vault):
        raise UsageError(
            f"{config_path} is for the vault {existing}, not {vault}; change vault.path in it, "
            f"or keep both: cortex init --vault {vault} --config OTHER_FILE"
        )


def _same_folder(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there
        return os.path.normpath(one) == os.path.normpath(other)


def _sample_actions(vault: Path) -> list[Action]:
    if os.path.lexists(vault) and not vault.is_dir():
        raise UsageError(f"{vault} is not a folder; the sample needs one that is empty")
    names = {name for name, _ in _sample_files()}
    # What an earlier run wrote may be there, whole or in part; anything else is somebody's.
    for folder, _, there in os.walk(vault):
        for name in there:
            if os.path.relpath(os.path.join(folder, name), vault).replace(os.sep, "/") not in names:
                raise UsageError(
                    f"{vault} is not empty; leave --sample out to use the notes in it, "
                    "or give another folder"
                )
    missing = [name for name in names if not (vault / name).exists()]
    verb: Literal["copy", "keep"] = "copy" if missing else "keep"
    return [Action(verb, vault, f"the sample vault, {len(names)} files")]


def _copy_sample(vault: Path) -> None:
    for name, source in _sample_files():
        if not (vault / name).exists():
            with artifacts.replacing(vault / name) as file:
                file.write(source.read_bytes())


def _sample_files() -> list[tuple[str, Traversable]]:
    """(path in the vault, file) of each note that the package ships."""
    package = __name__.rsplit(".", 2)[0]
    found = sorted(_walk(files(package) / "sample", ""), key=lambda pair: pair[0])
    if not found:
        raise CortexError("this installation has no sample vault; install hermes-cortex again")
    return found


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry
