"""Check-up of the config file and of the vault: only looks, and opens each note at most once."""

from __future__ import annotations

import os
import re
import shlex
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..config import Config
from ..errors import ConfigError, Damaged
from ..files import read_lines
from ..redaction import find as find_secrets
from ..state import State
from ..vault.scan import FolderRules, Scan, lies_among_notes, scan
from . import status
from .doctor import Finding, Found, listed, ok, plural, problems, told

# What programs that keep folders in step call the copy they could not merge.
_CONFLICT = re.compile(r"\.sync-conflict-\d|\(conflicted copy|\(.*'s conflicted copy|Konfliktkopie")
_HUGE = 5_000_000  # bytes of a note: no prose is as long
_HOW_READ = {
    "yaml_parse_error": "have frontmatter that is no YAML",
    "not_utf8": "are not UTF-8",
    "duplicate_key": "have a property twice",
}


def config_faults(path: Path, error: ConfigError) -> Found:
    """Each thing that is wrong in a config that cannot be used."""
    for fault in error.faults:
        yield Finding("problem", fault, f"mend it in {path}")
    if not error.faults:
        finding = told("problem", str(error))
        is_told = finding.command or finding.remedy
        yield finding if is_told else replace(finding, remedy="mend the file")
    if path.is_file():
        yield Finding("info", "without it nothing of the vault can be looked at")


def config_file(config: Config, env: Mapping[str, str]) -> Found:
    path = config.path
    yield ok(str(path))
    if named := env.get("CORTEX_CONFIG"):
        yield Finding("info", f"CORTEX_CONFIG names the config: {named}")
    text = path.read_bytes().decode("utf-8", "replace")
    lines = sorted({text.count("\n", 0, secret.start) + 1 for secret in find_secrets(text)})
    if lines:
        where = ", ".join(map(str, lines))
        yield Finding(
            "warning",
            f"what looks like a key or password stands in it, line {where}",
            "put it into the environment, and its name into embeddings.endpoint.api_key_env",
        )
    if os.name != "nt":
        yield from _loose(path)
    key = config.embeddings.endpoint.api_key_env
    if config.embeddings.endpoint.url and key and not env.get(key):
        yield Finding(
            "problem",
            f"embeddings.endpoint.api_key_env names {key}, which is not set",
            f"set {key} where Cortex runs, in Hermes in its .env",
        )


def _loose(path: Path) -> Found:
    """Whoever may write the config chooses which files are served."""
    for place in (path, path.parent):
        status = place.stat()
        if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
            yield Finding(
                "warning",
                f"everybody may write {place}, and so choose what Cortex serves",
                command=f"chmod go-w {shlex.quote(str(place))}",
            )


def settings(config: Config, hooks: Sequence[status.Row], model: status.Row) -> Found:
    """Files that settings name, and entries that let nobody in."""
    yield from problems(status.file_problems(config, hooks))
    for text in status.setting_warnings(config, hooks, model):
        yield told("warning", text)
    if config.tools.write:
        yield Finding("info", "tools.write is true: agents may add notes to the vault")


def vault(config: Config, rules: FolderRules) -> Found:
    texts = list(status.vault_problems(config))
    yield from problems(texts)
    folder = config.vault.path
    if texts or folder is None:
        return
    if lies_among_notes(config.state, folder, rules):
        yield Finding(
            "problem",
            f"the state folder {config.state} lies inside the vault, among the notes",
            f"move {config.path.name} and index.chunks_path out of it",
        )
    found = scan(folder, rules, follow_outside=config.vault.allow_symlinks_outside)
    yield ok(f"{folder}: {plural(len(found.notes), 'note')}")
    yield from _rule_findings(folder, rules, found)
    yield from _scan_findings(found)
    yield from _name_findings(found)
    yield from _unreadable(found)


def _rule_findings(vault: Path, rules: FolderRules, found: Scan) -> Found:
    every = [note.path for note in found.notes]
    left_out = [path for path in found.others if path[-3:].lower() == ".md"]
    if not every:
        what, remedy = "there is no note in the vault", "put Markdown files there"
        if left_out:
            what = f"the settings take none of {plural(len(left_out), 'note')} of the vault"
            remedy = "see vault.include_folders and vault.exclude_folders"
        yield Finding("warning", what, remedy)
        return
    for entry in rules.include:
        alone = FolderRules(include=(entry,))
        if not any(map(alone.takes, (*every, *left_out))) and not _is_folder(vault, entry):
            what = f"vault.include_folders: {entry} takes no note"
            yield Finding("warning", what, "see how the folder is written, capitals too")
    if left_out:
        given = (("include", rules.include), ("exclude", rules.exclude))
        by = " and ".join(f"vault.{name}_folders" for name, entries in given if entries)
        what = f"{plural(len(left_out), 'note')} left out by {by or 'the settings'}"
        yield Finding("info", f"{what}: {listed(left_out)}", names=tuple(left_out))


def _is_folder(vault: Path, entry: str) -> bool:
    """Whether an entry of vault.include_folders names a folder, letter by letter: it may be empty.

    A file system that makes nothing of capitals would find `People` by the name `people`.
    """
    place = vault
    for part in Path(entry.strip().strip("/")).parts:
        if part not in (os.listdir(place) if os.access(place, os.R_OK) else ()):
            return False
        place /= part
    return place.is_dir()


def _scan_findings(found: Scan) -> Found:
    by_code: dict[str, list[str]] = defaultdict(list)
    for path, problem in found.problems:
        by_code[problem.code].append(path)
    for code, paths in sorted(by_code.items()):
        names = tuple(paths)
        if code == "folder_unreadable":
            yield Finding(
                "problem",
                f"{plural(len(paths), 'folder')} cannot be listed: {listed(paths)}",
                "give yourself the right to it",
                names=names,
            )
        elif code == "name_not_utf8":
            yield Finding(
                "warning",
                f"{plural(len(paths), 'file')} with a name that is not UTF-8: {listed(paths)}",
                "rename it, to have it indexed",
                names=names,
            )
        else:
            yield Finding(
                "info",
                f"{plural(len(paths), 'link')} out of the vault not followed: {listed(paths)}",
                "to have them read, set vault.allow_symlinks_outside to true",
                names=names,
            )


def _name_findings(found: Scan) -> Found:
    same: dict[str, list[str]] = defaultdict(list)
    for note in found.notes:
        same[unicodedata.normalize("NFC", note.path).casefold()].append(note.path)
    for paths in same.values():
        if len(paths) > 1:
            yield Finding(
                "warning",
                f"names that differ in capitals or accents alone: {listed(paths)}",
                "rename all but one: on Windows and macOS one takes the place of the other",
                names=tuple(paths),
            )
    copies = [note.path for note in found.notes if _CONFLICT.search(note.path)]
    if copies:
        yield Finding(
            "warning",
            f"{plural(len(copies), 'copy', 'copies')} that a sync left: {listed(copies)}",
            "bring the two together, and remove the copy",
            names=tuple(copies),
        )
    huge = [note.path for note in found.notes if note.size > _HUGE]
    if huge:
        yield Finding("info", f"over {_HUGE // 1_000_000} MB: {listed(huge)}", names=tuple(huge))


def _unreadable(found: Scan) -> Found:
    shut: dict[str, list[str]] = defaultdict(list)
    for note in found.notes:
        try:
            with open(note.file, "rb") as file:
                file.read(1)
        except OSError as error:
            shut[error.strerror or str(error)].append(note.path)
    for why, paths in shut.items():
        yield Finding(
            "problem",
            f"{plural(len(paths), 'note')} cannot be read ({why}): {listed(paths)}",
            "give yourself the right to it",
            names=tuple(paths),
        )


def notes_as_read(state: State, config: Config) -> Found:
    """What the index had to put up with: frontmatter that is no YAML, bytes that are no text."""
    if list(status.vault_problems(config)):
        return  # nobody can look at those notes now
    try:
        stamp = status.whole(state, "index")
    except Damaged:
        return  # told by its own check
    if stamp is None:
        return
    by_code: dict[str, dict[str, None]] = defaultdict(dict)
    path = stamp.file("notes.jsonl")
    try:
        for record in read_lines(path):
            for problem in record["problems"]:
                by_code[problem["code"]][record["file"]] = None
    except (ValueError, KeyError, TypeError):
        raise Damaged(f"{path} is damaged; run: cortex index --force") from None
    if not by_code:
        yield ok("every note could be read")
    for code, notes in sorted(by_code.items()):
        names = tuple(notes)
        how = _HOW_READ.get(code, f"have {code.replace('_', ' ')}")
        what = f"{plural(len(names), 'note')} {how}: {listed(names)}"
        yield Finding("info", what, command="cortex validate-frontmatter", names=names)
