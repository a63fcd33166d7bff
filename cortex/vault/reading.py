"""One note by its path or name, read from the file: nothing hidden, nothing outside the vault."""

from __future__ import annotations

import difflib
import os
import posixpath
import stat
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..text import Undecodable, decode, one_line
from ..types import Heading
from . import frontmatter
from .markdown import parse_body
from .scan import FolderRules, is_note_name, is_visible, scan

NEAR_MATCHES = 3


@dataclass(frozen=True, slots=True)
class NoteText:
    """A part of a note as it stands in the file now."""

    path: str
    title: str
    text: str
    start_line: int  # from 1
    end_line: int
    total_lines: int
    more: int | None  # the line to go on at; None at the end of what was asked


def locate(
    vault: Path,
    rules: FolderRules,
    ref: str,
    titles: Callable[[], Mapping[str, Sequence[str]]],
) -> str:
    """The vault-relative path of the note that `ref` names.

    ref: a path, with or without .md, or a name, title or alias, in any case; [[brackets]] are
    taken off. titles: casefolded title or alias -> paths, asked for only when no name fits. Raises
    UsageError: no such note (with near matches), several, hidden, excluded or outside the vault.
    """
    if not isinstance(ref, str) or not ref.strip().strip("./"):
        raise UsageError("name a note: its path in the vault, its name, title or alias")
    if any(ord(char) < 32 or ord(char) == 127 for char in ref):
        exact = ref if _is_served(vault, rules, ref) else None
        if exact is None:
            raise UsageError("a note's name cannot hold control characters; give its path or name")
        return exact
    wanted = ref.strip()
    if wanted.startswith("[[") and wanted.endswith("]]"):
        wanted = wanted[2:-2].split("|")[0].split("#")[0].strip()
    if os.path.isabs(wanted):
        root = os.path.realpath(vault)
        real = os.path.normpath(wanted)
        for base in (str(vault), root):
            if real.startswith(base.rstrip(os.sep) + os.sep):
                wanted = os.path.relpath(real, base).replace(os.sep, "/")
                break
        else:
            wanted = wanted.lstrip("/")  # as in a link, where "/" is the vault's root
    path = posixpath.normpath(wanted)
    if path.startswith(("../", "/")) or path == "..":
        raise UsageError("that path leads out of the vault; give a path inside it, or a name")
    if not is_visible(path):
        raise _no_note(ref, [])
    for candidate in (path, f"{path}.md"):
        if is_note_name(candidate) and _is_served(vault, rules, candidate):
            return candidate
    notes = [note.path for note in scan(vault, rules).notes]
    found = _by_name(path, notes)
    if not found:
        present = set(notes)
        known = titles()
        found = [p for p in dict.fromkeys(known.get(wanted.casefold(), ())) if p in present]
        if not found:
            names = {p.rpartition("/")[2][:-3]: p for p in notes} | {p: p for p in notes}
            near = difflib.get_close_matches(wanted, names, n=NEAR_MATCHES, cutoff=0.6)
            raise _no_note(ref, list(dict.fromkeys(names[name] for name in near)))
    if len(found) > 1:
        listed = ", ".join(one_line(p) for p in found[:8])
        raise UsageError(
            f"several notes are named {one_line(ref)!r}: {listed}; give the path of one"
        )
    return found[0]


def read_part(
    vault: Path,
    path: str,
    heading: str | None = None,
    lines: tuple[int, int] | None = None,
    max_chars: int = 20_000,
) -> NoteText:
    """A located note: all of it, the section under a heading, or lines from first to last.

    At most `max_chars` characters, whole lines where they fit; `more` is the line to go on at.
    """
    try:
        text, _ = decode((vault / path).read_bytes())
    except Undecodable as error:
        raise UsageError(f"{one_line(path)} is not text: {error}") from None
    except OSError as error:
        raise UsageError(f"{one_line(path)} cannot be read: {error.strerror}") from None
    header = frontmatter.split(text)
    body = parse_body(text, header.body_start)
    starts = body.lines
    total = len(starts) - (1 if starts and starts[-1] == len(text) and len(starts) > 1 else 0)
    first, last = 1, total
    if heading is not None:
        first, last = _section(path, [h for _, h in body.headings], heading, total)
    if lines is not None:
        low, high = lines
        if low < 1 or high < low:
            raise UsageError(f"lines must be a range from 1 up, such as 10-20, not {low}-{high}")
        if low > total:
            raise UsageError(f"{one_line(path)} has {total} lines; line {low} is beyond them")
        if low > last or high < first:
            raise UsageError(f"that section is lines {first}-{last} of the file, not {low}-{high}")
        first, last = max(first, low), min(last, high)
    start = starts[first - 1]
    end = starts[last] if last < len(starts) else len(text)
    more = None
    if end - start > max_chars:
        cut = max(
            (i for i in range(first, last + 1) if _line_end(starts, text, i) - start <= max_chars),
            default=0,
        )
        if cut:
            end, more, last = _line_end(starts, text, cut), cut + 1, cut
        else:  # one line is longer than all that may be handed out
            end, more, last = start + max_chars, (first + 1 if first < total else None), first
    name = path.rpartition("/")[2][:-3]
    return NoteText(
        path=path,
        title=frontmatter.title_of(header.values) or name,
        text=text[start:end],
        start_line=first,
        end_line=last,
        total_lines=total,
        more=more,
    )


def _line_end(starts: Sequence[int], text: str, line: int) -> int:
    return starts[line] if line < len(starts) else len(text)


def _section(path: str, headings: Sequence[Heading], wanted: str, total: int) -> tuple[int, int]:
    """First and last line of the section under a heading; `A#B` and `A > B` name B under A."""
    parts = wanted.split(" > ") if " > " in wanted else wanted.split("#")
    chain = [_folded(part.strip()) for part in parts if part.strip()]
    for index, heading in enumerate(headings):
        names = [*map(_folded, heading.parents), _folded(heading.text)]
        whole = names[-1] == _folded(wanted.strip())
        if whole or (chain and names[-1] == chain[-1] and _in_order(chain, names)):
            end = next(
                (h.line - 1 for h in headings[index + 1 :] if h.level <= heading.level), total
            )
            return heading.line, end
    listed = ", ".join(repr(h.text) for h in headings[:12]) or "none"
    raise UsageError(
        f"{one_line(path)} has no heading {one_line(wanted)!r}; its headings: {listed}"
    )


def _in_order(chain: Sequence[str], names: Sequence[str]) -> bool:
    left = iter(names)
    return all(any(name == part for name in left) for part in chain)


def _is_served(vault: Path, rules: FolderRules, path: str) -> bool:
    """Whether a path is a note that an index may hold, and no link leads it astray."""
    try:
        if not is_visible(path) or not is_note_name(path) or not rules.takes(path):
            return False
        file = vault / path
        if not stat.S_ISREG(os.stat(file).st_mode):
            return False
        real, root = os.path.realpath(file), os.path.realpath(vault)
        inside = os.path.relpath(real, root).replace(os.sep, "/")
    except (OSError, ValueError):
        return False
    return (
        not inside.startswith("../")
        and is_visible(inside)
        and is_note_name(inside)
        and rules.takes(inside)
    )


def _by_name(path: str, notes: Sequence[str]) -> list[str]:
    """Notes whose path ends in `path`: exact first, then without regard to case and composition."""
    wanted = path[:-3] if is_note_name(path) else path
    for fold in (str, _folded):
        target = fold(wanted)
        found = [
            note
            for note in notes
            if fold(note[:-3]) == target or fold(note[:-3]).endswith("/" + target)
        ]
        if found:
            exact = [note for note in found if fold(note[:-3]) == target]
            return exact if len(exact) == 1 else found
    return []


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _no_note(ref: str, near: Sequence[str]) -> UsageError:
    hint = f"; did you mean {', '.join(one_line(p) for p in near)}?" if near else ""
    return UsageError(f"there is no note {one_line(ref)!r} in the vault{hint}")
