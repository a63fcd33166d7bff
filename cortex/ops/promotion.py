"""Which notes are to be promoted, and every byte that this would write; reads the vault only."""

from __future__ import annotations

import datetime as dt
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .. import redaction
from ..text import brief, decode, line_starts
from ..types import Json
from ..vault import frontmatter
from ..vault.note_schema import FOLDER_TYPES, RAW
from .frontmatter_edit import NotEditable, check_header, edited, value_of
from .inventory import Inventory, VaultNote, folded_name, is_inbox, is_template
from .journal import Promotion
from .promoted import archived_change, canonical_change, link_to, superseded_change
from .vault_writes import Write, digest

_DEFAULT_TYPE = "fact"
FOLDERS = {kind: folder for folder, kind in FOLDER_TYPES.items() if kind}
Reason = Literal[
    "already_canonical",
    "already_superseded",
    "ambiguous_supersedes",
    "changed",
    "invalid_frontmatter",
    "no_folder_for_type",
    "not_a_boolean",
    "not_a_note_of_the_vault",
    "not_utf8",
    "secret",
    "undone",
    "unreadable",
    "unusable_folder",
]


@dataclass(slots=True)
class Plan:
    """Lists go by path of the note in question."""

    candidates: list[dict[str, Json]] = field(default_factory=list)
    promotions: list[Promotion] = field(default_factory=list)
    blobs: dict[str, bytes] = field(default_factory=dict)  # by digest
    skipped: list[dict[str, Json]] = field(default_factory=list)
    duplicates: list[dict[str, Json]] = field(default_factory=list)
    contradictions: list[dict[str, Json]] = field(default_factory=list)
    not_superseded: list[dict[str, Json]] = field(default_factory=list)
    unreadable: list[dict[str, Json]] = field(default_factory=list)


def plan(
    vault: Path,
    today: dt.date,
    *,
    graph_contradictions: Iterable[tuple[str, str]] = (),
    undone: Mapping[str, str] | None = None,
    follow_outside: bool = False,
) -> Plan:
    """What a promotion run would do now.

    A candidate has `promote: true` or `cortex_promote: true`, a real boolean, and is not archived;
    hidden folders, templates and raw/ hold none. One with another word for true is no candidate
    and stands in `skipped`, unless it lies in the folder of its type. graph_contradictions: pairs
    of paths that the link graph has. undone: source -> digest of what was promoted and taken back:
    that same text is not promoted again. Raises nothing for what stands in a note.
    """
    return _Planner(vault, today, dict(undone or {}), follow_outside).plan(graph_contradictions)


class _Planner:
    def __init__(
        self, vault: Path, today: dt.date, undone: dict[str, str], follow_outside: bool
    ) -> None:
        self.vault, self.today, self.undone = vault, today, undone
        self.out = Plan()
        self.inventory = Inventory(vault, follow_outside=follow_outside)
        self.out.unreadable = self.inventory.unreadable
        self.found, self.notes = self.inventory.found, self.inventory.notes
        self.root = os.path.realpath(vault)
        self.folders = _folders_as_spelt(vault)
        self.taken_paths: dict[str, str] = {}  # folded path -> path
        self.taken_names: dict[str, list[tuple[str, str, Literal["title", "alias"]]]] = {}
        for path in self.found:
            self.taken_paths.setdefault(folded_name(path), path)
        for note in self.notes.values():
            if not is_inbox(note.path) and not is_template(note.path):
                self._take_names(note, note.path)
        self.now_at: dict[str, str] = {}  # source -> target, of this run
        self.planned: dict[str, bytes] = {}  # path -> what it holds after the writes so far
        self.superseding: dict[str, str] = {}  # candidate -> another one that supersedes it
        self.marked: dict[str, str] = {}  # superseded in this run -> the new note that does it

    def plan(self, graph_contradictions: Iterable[tuple[str, str]]) -> Plan:
        against = self.inventory.contradictions(graph_contradictions)
        for note in self.inventory.flagged:
            for link in frontmatter.replacement_links(note.values)[0]:
                if len(found := self.inventory.resolved(note, link)) == 1:
                    self.superseding.setdefault(found[0], note.path)
        for note in self.inventory.flagged:
            self._consider(note, against.get(note.path, []))
        for note, flag in self.inventory.misflagged:
            if not _stands_in(note, self.folders.get(_type_of(note.values))):
                name = flag.partition(":")[0]
                message = f"{flag} is not true to YAML; write {name}: true"
                self._skip(note, "not_a_boolean", message)
        self.out.skipped.sort(key=lambda row: row["file"])
        return self.out

    def _consider(self, note: VaultNote, contradictions: list[str]) -> None:
        kind = _type_of(note.values)
        folder = self.folders.get(kind)
        target = "" if folder is None else f"{folder}/{note.path.rpartition('/')[2]}"
        derived_from = link_to(note.path)
        row = {
            "file": note.path,
            "target_file": target or None,
            "type": brief(kind),
            "derived_from": derived_from,
        }
        self.out.candidates.append(row)
        data = self._bytes(note)
        if data is None or not self._is_sound(note, data, folder):
            pass
        elif folder is None:
            known = ", ".join(FOLDERS)
            message = f"type {brief(kind)!r} has no folder of its own"
            message += f"; set promote_type to one of: {known}"
            self._skip(note, "no_folder_for_type", message)
        elif not self._can_hold(folder):
            self._skip(note, "unusable_folder", f"{folder} is no folder, or a link to one")
        elif contradictions:
            for other in contradictions:
                self.out.contradictions.append({"file": note.path, "contradicts": other})
        elif older := self._superseded(note):
            duplicate = self._duplicate(note, target, older[0])
            if duplicate is not None:
                self.out.duplicates.append({"file": note.path, "target_file": target, **duplicate})
            else:
                self._promote(note, data, kind, target, derived_from, older[0])

    def _can_hold(self, folder: str) -> bool:
        place = self.vault / folder
        return not os.path.lexists(place) or (place.is_dir() and not place.is_symlink())

    def _bytes(self, note: VaultNote) -> bytes | None:
        if note.path in self.planned:
            return self.planned[note.path]
        try:
            return self.found[note.path].file.read_bytes()
        except OSError as error:
            self._skip(note, "unreadable", str(error.strerror))
            return None

    def _is_sound(self, note: VaultNote, data: bytes, folder: str | None) -> bool:
        """Whether the note may be promoted by itself; what speaks against it is noted."""
        file = self.found[note.path].file
        if _stands_in(note, folder):
            self._skip(note, "already_canonical", "it stands in its folder; remove promote")
        elif by := self._superseded_by(note):
            self._skip(note, "already_superseded", f"it is superseded by {by}")
        elif not os.path.realpath(file).startswith(self.root + os.sep):
            self._skip(note, "not_a_note_of_the_vault", "a link leads to it from outside the vault")
        elif self.undone.get(note.path) == digest(data):
            message = "its promotion was undone; change it, or promote it with --again"
            self._skip(note, "undone", message)
        elif any(problem.code == "not_utf8" for problem in note.problems):
            self._skip(note, "not_utf8", "it is not UTF-8; save it as UTF-8")
        else:
            text, _ = decode(data)
            try:
                check_header(text)
            except NotEditable as error:
                self._skip(note, "invalid_frontmatter", str(error))
                return False
            if secrets := _secrets(text):
                first = secrets[0]
                message = f"line {first['line']}: what looks like a secret ({first['kind']})"
                self._skip(note, "secret", message, secrets=secrets)
                return False
            return True
        return False

    def _superseded_by(self, note: VaultNote) -> str:
        """What took the place of a candidate, by its own word or that of another one."""
        status, by = (value_of(note.values, name) for name in ("status", "superseded_by"))
        if isinstance(status, str) and status.strip().casefold() == "superseded" and by:
            return ", ".join(map(str, by)) if isinstance(by, list) else str(by)
        return self.superseding.get(note.path, "")

    def _superseded(self, note: VaultNote) -> tuple[list[str]] | None:
        """The notes that it supersedes, in a tuple; None if that cannot be told."""
        older: dict[str, None] = {}
        for link in frontmatter.replacement_links(note.values)[0]:
            found = self.inventory.resolved(note, link)
            if len(found) > 1:
                name = brief(link.target)
                message = f"supersedes {name!r}, which may be any of {', '.join(found)}"
                self._skip(note, "ambiguous_supersedes", message)
                return None
            if not found:
                self._not_superseded(note, brief(link.target), "no note has that name")
                continue
            older[self._followed(found[0])] = None
        return (list(older),)

    def _followed(self, path: str) -> str:
        """Where the note at `path` was promoted to, if it was."""
        seen: set[str] = set()
        while path not in seen:
            seen.add(path)
            promoted_to = self.now_at.get(path)
            if promoted_to is None:
                value = value_of(self.notes[path].values, "promoted_to")
                promoted_to = value if isinstance(value, str) and value in self.notes else None
            if promoted_to is None or promoted_to not in {*self.notes, *self.planned}:
                return path
            if promoted_to not in self.notes:
                return promoted_to
            path = promoted_to
        return path

    def _duplicate(self, note: VaultNote, target: str, older: list[str]) -> dict[str, Json] | None:
        if other := self.taken_paths.get(folded_name(target)):
            return {"reason": "file", "existing": other}
        for name, is_alias in _names(note):
            for other, at, via in self.taken_names.get(name, ()):
                if at != note.path and at not in older:
                    reason = "alias" if is_alias or via == "alias" else "title"
                    return {"reason": reason, "existing": at, "name": other}
        return None

    def _promote(
        self,
        note: VaultNote,
        data: bytes,
        kind: str,
        target: str,
        derived_from: str,
        older: list[str],
    ) -> None:
        try:
            change = canonical_change(note.values, kind, derived_from, self.today)
            canonical = edited(data, change)
            archived = edited(data, archived_change(target, self.today))
        except NotEditable as error:
            self._skip(note, "invalid_frontmatter", str(error))
            return
        place = (self.vault / target).parent
        status = os.stat(self.found[note.path].file)
        made = Write(target, None, digest(canonical), status.st_mode & 0o777, 0, not place.is_dir())
        writes = [made, self._write(note.path, data, archived)]
        contents = [canonical, data, archived]
        for path in older:
            if (edit := self._superseding(note, path, target)) is not None:
                writes.append(self._write(path, *edit))
                self.marked[path] = target
                contents += edit
        self.out.blobs.update((digest(content), content) for content in contents)
        self.out.promotions.append(Promotion(note.path, target, kind, derived_from, tuple(writes)))
        self.planned[target] = canonical
        self.now_at[note.path] = target
        self.taken_paths[folded_name(target)] = target
        self._take_names(note, target)

    def _superseding(self, note: VaultNote, path: str, target: str) -> tuple[bytes, bytes] | None:
        """The bytes of a superseded note, before and after; None if it cannot be marked."""
        other = self.notes.get(path)
        by = value_of(other.values, "superseded_by") if other else None
        try:
            if path not in self.planned:
                if not os.path.realpath(self.found[path].file).startswith(self.root + os.sep):
                    raise NotEditable("a link leads to it from outside the vault")
                before = self.found[path].file.read_bytes()
            else:
                before = self.planned[path]
            if path in self.marked:
                raise NotEditable(f"{self.marked[path]} supersedes it already")
            if by not in (None, "", []):
                raise NotEditable("it says already what superseded it")
            if is_template(path) or path.split("/")[0].casefold() == RAW:
                raise NotEditable("templates and raw sources are not changed")
            after = edited(before, superseded_change(target, self.today))
        except NotEditable as error:
            self._not_superseded(note, path, str(error))
        except OSError as error:
            self._not_superseded(note, path, str(error.strerror))
        else:
            return before, after
        return None

    def _write(self, path: str, before: bytes, after: bytes) -> Write:
        self.planned[path] = after
        found = self.found.get(path)
        if found is None:  # a note that this run makes
            return Write(path, digest(before), digest(after))
        status = os.stat(found.file)
        return Write(
            path, digest(before), digest(after), status.st_mode & 0o777, status.st_mtime_ns
        )

    def _take_names(self, note: VaultNote, at: str) -> None:
        for name, is_alias in _names(note):
            via: Literal["title", "alias"] = "alias" if is_alias else "title"
            shown = note.title if not is_alias else name
            self.taken_names.setdefault(name, []).append((shown, at, via))

    def _skip(self, note: VaultNote, reason: Reason, message: str, **more: Json) -> None:
        self.out.skipped.append({"file": note.path, "reason": reason, "message": message, **more})

    def _not_superseded(self, note: VaultNote, name: str, message: str) -> None:
        self.out.not_superseded.append({"file": name, "by": note.path, "message": message})


def _stands_in(note: VaultNote, folder: str | None) -> bool:
    return folder is not None and note.path.casefold().startswith(f"{folder}/".casefold())


def _type_of(values: Mapping[str, Json]) -> str:
    for name in ("promote_type", "type"):
        value = value_of(values, name)
        if value not in (None, "", []):
            return value.strip().casefold() if isinstance(value, str) else str(value)
    return _DEFAULT_TYPE


def _folders_as_spelt(vault: Path) -> dict[str, str]:
    """Type -> its folder, as the vault spells it where it is there; the usual spelling first."""
    with os.scandir(vault) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    there = {name.casefold(): name for name in names} | {name: name for name in names}
    return {
        kind: there.get(folder, there.get(folder.casefold(), folder))
        for kind, folder in FOLDERS.items()
    }


def _secrets(text: str) -> list[dict[str, Json]]:
    """Line and kind of what has the shape of a secret; never the text."""
    starts = line_starts(text)
    found = sorted([*redaction.find(text), *frontmatter.secret_spans(text)])
    rows = {(_line(starts, start), kind) for start, _, kind in found}
    return [{"line": line, "kind": kind} for line, kind in sorted(rows)]


def _line(starts: list[int], at: int) -> int:
    return bisect_right(starts, at)


def _names(note: VaultNote) -> Iterator[tuple[str, bool]]:
    """(a name to compare, whether it is an alias), each once."""
    titles = dict.fromkeys(map(folded_name, (note.stem, note.title)))
    yield from ((name, False) for name in titles if name)
    aliases = dict.fromkeys(map(folded_name, note.aliases))
    yield from ((name, True) for name in aliases if name and name not in titles)
