"""What promotion asks of every note of a vault: its names, its flag, and who contradicts whom."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..graph_resolve import Resolver
from ..text import Undecodable, decode
from ..types import Json, Link, Problem
from ..vault import frontmatter
from ..vault.note_schema import INBOX, RAW
from ..vault.scan import FolderRules, FoundNote, scan
from .frontmatter_edit import value_of

_TEMPLATES = re.compile(r"(?:\d+[ _-])?_?templates?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class VaultNote:
    """A note by its properties."""

    path: str
    title: str
    aliases: tuple[str, ...]
    values: Mapping[str, Json]
    problems: tuple[Problem, ...]

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2][:-3]


class Inventory:
    """All notes of the vault, those that the settings leave out too, as they are now.

    found, notes: by path, in order of paths. flagged: those to promote, in the same order.
    misflagged: those whose flag is meant as true and is not, with it as it is to be shown.
    unreadable: {file, message} of the notes and folders that could not be read.
    """

    def __init__(self, vault: Path, *, follow_outside: bool = False) -> None:
        scanned = scan(vault, FolderRules(), follow_outside=follow_outside)
        self.found = {note.path: note for note in scanned.notes}
        self.notes: dict[str, VaultNote] = {}
        self.flagged: list[VaultNote] = []
        self.misflagged: list[tuple[VaultNote, str]] = []
        self.unreadable: list[dict[str, Json]] = [
            {"file": path, "message": problem.message}
            for path, problem in scanned.problems
            if problem.code == "folder_unreadable"
        ]
        for found in self.found.values():
            self._read(found)
        self._resolver = Resolver(map(_record, self.notes.values()), ())
        self._named: dict[str, list[str]] = {}  # folded file name or title -> paths
        for note in self.notes.values():
            for name in dict.fromkeys(map(folded_name, (note.stem, note.title))):
                self._named.setdefault(name, []).append(note.path)

    def resolved(self, note: VaultNote, link: Link) -> list[str]:
        """The notes other than its own that a link may mean."""
        written = {"target": link.target, "subpath": link.subpath, "style": link.style}
        found = self._resolver.resolve(note.path, written)
        if found.kind == "ambiguous":
            return [path for path in found.candidates if path != note.path]
        if found.path in self.notes and found.path != note.path:
            return [str(found.path)]
        name = folded_name(link.target.rpartition("/")[2])
        return [path for path in self._named.get(name, ()) if path != note.path]

    def contradictions(self, pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
        """Of each note, what contradicts it or is contradicted by it, sorted, as far as is known.

        A name that fits no note stands as it is written.
        """
        met: dict[str, set[str]] = {}
        for one, other in pairs:
            met.setdefault(one, set()).add(other)
            met.setdefault(other, set()).add(one)
        for note in self.notes.values():
            said = value_of(note.values, "contradicts")
            if said in (None, "", []) or is_template(note.path):
                continue
            for link in frontmatter.property_links({"contradicts": said}, {}):
                for other in self.resolved(note, link) or [link.target]:
                    met.setdefault(note.path, set()).add(other)
                    met.setdefault(other, set()).add(note.path)
        return {path: sorted(others) for path, others in met.items()}

    def _read(self, found: FoundNote) -> None:
        try:
            text, problems = decode(found.file.read_bytes())
        except Undecodable as error:
            self.unreadable.append({"file": found.path, "message": str(error)})
            return
        except OSError as error:
            self.unreadable.append({"file": found.path, "message": str(error.strerror)})
            return
        header = frontmatter.split(text)
        values = header.values
        note = VaultNote(
            path=found.path,
            title=frontmatter.title_of(values) or found.path.rpartition("/")[2][:-3],
            aliases=tuple(frontmatter.aliases_of(values)),
            values=values,
            problems=(*problems, *header.problems),
        )
        self.notes[found.path] = note
        is_flagged = any(value_of(values, name) is True for name in _FLAGS)
        is_broken = any(problem.code == "frontmatter_not_closed" for problem in header.problems)
        if is_broken and _FLAG.search(text[:_LOOKED_AT]):
            is_flagged = True
        status = value_of(values, "status")
        is_archived = isinstance(status, str) and status.strip().casefold() == "archived"
        is_source = is_template(found.path) or found.path.split("/")[0].casefold() == RAW
        if is_archived or is_source:
            return
        if is_flagged:
            self.flagged.append(note)
        elif meant := _meant_as_true(values):
            self.misflagged.append((note, meant))


def _meant_as_true(values: Mapping[str, Json]) -> str:
    """`promote: yes` of properties that say so; "" where no flag is a word or number for true."""
    for name in _FLAGS:
        value = value_of(values, name)
        if isinstance(value, str) and value.strip().casefold() in _TRUE_WORDS:
            quote = '"' if value.strip().casefold() == "true" else ""
            return f"{name}: {quote}{value.strip()}{quote}"
        if value == 1 and not isinstance(value, bool):
            return f"{name}: {value}"
    return ""


_FLAGS = ("promote", "cortex_promote")
_TRUE_WORDS = frozenset({"true", "yes", "y", "on", "1"})
_FLAG = re.compile(r"^(?:cortex_)?promote[ \t]*:[ \t]*true\b", re.MULTILINE)
_LOOKED_AT = 4096  # characters of a block that is never closed


def is_inbox(path: str) -> bool:
    return path.split("/")[0].casefold() == INBOX


def is_template(path: str) -> bool:
    return any(_TEMPLATES.fullmatch(folder) for folder in path.split("/")[:-1])


def folded_name(name: str) -> str:
    """A name or path as it is compared: in any case, composed, with single blanks."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _record(note: VaultNote) -> dict[str, Json]:
    return {"file": note.path, "aliases": list(note.aliases), "frontmatter": note.values}
