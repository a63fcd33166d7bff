"""Set Cortex up: a config for a vault, and notes to begin with; nothing is overwritten."""

from __future__ import annotations

import datetime as dt
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from .. import files as artifacts
from ..config.load import parse
from ..config.render import commented
from ..errors import ConfigError, CortexError, UsageError
from ..home import expand
from ..vault.note_schema import NOT_CURATED
from ..vault.scan import FolderRules, lies_among_notes
from . import scaffold as layout
from .shipped import shipped_notes

DEFAULT_VAULT = "~/hermes-workspace/vault"
ONLY_INIT = "only init ever reads it"


@dataclass(frozen=True, slots=True)
class Action:
    """What init did, or would do on a dry run."""

    verb: Literal["write", "copy", "keep"]
    path: Path
    what: str  # what stands there, as a phrase
    names: tuple[str, ...] = ()  # of several things below `path`, "/"-separated


@dataclass(frozen=True, slots=True)
class ChosenVault:
    path: Path
    source: Literal["--vault", "existing config", "WIKI_PATH", "default", "your answer"]


def choose_vault(
    given: str | None, config_path: Path, env: Mapping[str, str], *, or_default: bool = False
) -> ChosenVault:
    """The vault that was `given`, else that of the config at `config_path`, else $WIKI_PATH.

    or_default: else DEFAULT_VAULT. Raises UsageError if none of them names one, ConfigError if
    the config is broken.
    """
    if given is not None:
        return ChosenVault(typed_path(given, env), "--vault")
    if os.path.lexists(config_path) and (vault := parse(config_path, env).vault.path):
        return ChosenVault(vault, "existing config")
    if wiki := env.get("WIKI_PATH"):
        return ChosenVault(expand(wiki, Path.cwd(), env), "WIKI_PATH")
    if or_default:
        return ChosenVault(expand(DEFAULT_VAULT, Path.cwd(), env), "default")
    raise UsageError("which folder holds your notes? run: cortex init --vault PATH")


def typed_path(text: str, env: Mapping[str, str]) -> Path:
    """The folder that was typed; a $ in it is a dollar sign. Raises UsageError if it is blank."""
    if not text.strip():
        raise UsageError("--vault is empty; give the folder of your notes")
    return expand(text.replace("$", "$$"), Path.cwd(), env)


def alignment(vault: Path, env: Mapping[str, str]) -> tuple[str, str]:
    """How $WIKI_PATH stands to the vault: unset, aligned or mismatch; and that as a sentence."""
    wiki = env.get("WIKI_PATH")
    if not wiki:
        return "unset", f"WIKI_PATH is not set; {ONLY_INIT}"
    if _same_folder(expand(wiki, Path.cwd(), env), vault):
        return "aligned", f"WIKI_PATH names this vault; {ONLY_INIT}"
    return "mismatch", f"WIKI_PATH names another folder, {wiki}; {ONLY_INIT}"


def init(
    vault: Path,
    config_path: Path,
    *,
    sample: bool = False,
    scaffold: bool | None = None,
    dry_run: bool = False,
    today: dt.date,
    env: Mapping[str, str],
) -> list[Action]:
    """Write a commented config for `vault` at `config_path`, and notes to begin with on request.

    sample: first put the shipped sample notes there; the folder must be missing, empty, or hold
    nothing but them. scaffold: what is missing of the layout, the folder itself too; None does so
    for a vault that is there and empty and has no config yet, and takes any other as it is. The
    config of an empty vault so laid out takes in the folders for what is known, and no others. It
    builds into a folder of its own where another config lies beside it.

    Raises UsageError, before anything is written, if the vault is not there or the config already
    names another. Raises CortexError where writing is not allowed; the next run finishes it.
    """
    has_config = os.path.lexists(config_path)
    if has_config:
        _refuse_another_vault(vault, config_path, env)
    if sample and scaffold:
        raise UsageError("--sample and --scaffold exclude each other; leave one of them out")
    if not vault.is_dir():
        _refuse_no_vault(vault, is_made=bool(sample or scaffold))
    is_empty = not sample and layout.is_empty(vault)
    if scaffold is None:
        scaffold = is_empty and not sample and not has_config
    if lies_among_notes(config_path.parent, vault, FolderRules()):
        raise UsageError(
            f"the config {config_path} would lie inside the vault, with all that is built; "
            "give --config a place outside it, or in a hidden folder of it"
        )
    pieces = layout.missing(vault, today) if scaffold else []
    actions = _sample_actions(vault) if sample else []
    actions += _layout_actions(vault, pieces) if scaffold else []
    chunks_path = None if has_config else _chunks_path(config_path, env)
    what = "the config"
    if chunks_path is not None:
        what = f"the config, which builds into {Path(chunks_path).parent}"
    actions.append(Action("keep" if has_config else "write", config_path, what))
    if dry_run:
        return actions
    # Folders that a vault with an order of its own has beside these must be searched too.
    include = layout.CURATED if scaffold and is_empty else ()
    exclude = NOT_CURATED if scaffold else ()
    try:
        if sample:
            _copy_sample(vault)
        if scaffold:
            layout.write(vault, pieces)
        if not has_config:
            text = commented(vault, include, exclude, chunks_path, inject=True)
            artifacts.write_text(config_path, text)
    except PermissionError as error:
        place = Path(error.filename)
        place = place.parent if place.name.startswith(artifacts.STAGED) else place
        raise CortexError(
            f"{place} cannot be written: {error.strerror}; give yourself the right to write there, "
            "or give another folder"
        ) from None
    return actions


_MAX_CONFIG_BYTES = 256 * 1024  # ours has 10 KB; beside it may lie any YAML


def _chunks_path(config_path: Path, env: Mapping[str, str]) -> str | None:
    """Where the config has to build, if another one beside it builds into their common folder."""
    folder = config_path.parent
    for other in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        try:
            if other.stat().st_size > _MAX_CONFIG_BYTES:
                continue
            found = parse(other, env)
        except (ConfigError, OSError):  # the YAML of something else
            continue
        if found.vault.path is not None and found.state == folder:
            return f"{config_path.stem}-state/chunks.jsonl"
    return None


def _refuse_no_vault(vault: Path, is_made: bool) -> None:
    """is_made: it is to be made, where it can be."""
    there = next(place for place in (vault, *vault.parents) if os.path.lexists(place))
    if not there.is_dir():
        what = "is not a folder" if there == vault else f"cannot be made, as {there} is no folder"
        raise UsageError(f"the vault {vault} {what}; give the folder of your notes")
    if not is_made:
        raise UsageError(
            f"the vault {vault} does not exist; give the folder of your notes, "
            "or add --scaffold to begin a new one, or --sample for one to try"
        )


def _layout_actions(vault: Path, pieces: Sequence[layout.Piece]) -> list[Action]:
    if not pieces:
        return [Action("keep", vault, "the layout of the vault")]
    names: dict[str, list[str]] = {}
    for piece in pieces:
        names.setdefault(piece.group, []).append(piece.path)
    return [Action("write", vault, f"the {group}", tuple(of)) for group, of in names.items()]


def _refuse_another_vault(vault: Path, config_path: Path, env: Mapping[str, str]) -> None:
    existing = parse(config_path, env).vault.path
    if existing is None:
        raise UsageError(
            f"{config_path} is there and names no vault; set vault.path: {vault} in it"
        )
    if not _same_folder(existing, vault):
        raise UsageError(
            f"{config_path} is for the vault {existing}, not {vault}; change vault.path in it, "
            f"or keep both: cortex init --vault {shlex.quote(str(vault))} --config OTHER_FILE"
        )


def _same_folder(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them is not there
        return os.path.normpath(one) == os.path.normpath(other)


def _sample_actions(vault: Path) -> list[Action]:
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
    return shipped_notes("sample", "sample vault")
