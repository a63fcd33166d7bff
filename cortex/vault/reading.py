"""One note by its path or name, read from the file: nothing hidden, nothing outside the vault."""

from __future__ import annotations

import difflib
import heapq
import os
import posixpath
import re
import stat
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import SEEK, UsageError
from ..text import Undecodable, brief, decode, line_starts, one_line
from ..types import Heading
from . import frontmatter
from .markdown import parse_body
from .scan import FolderRules, is_note_name, is_visible, scan

NEAR_MATCHES = 3
_NAME_ONE = "name a note: its path in the vault, its name, title or alias"
MAX_REF = 4096  # characters; no path is longer
_COMPARED = 200  # characters of a name that are compared with what was mistyped
_WHOLE_WORD = 0.75  # how much a name is like what it holds, if not more
_LIKELY = 40  # names of which it is found out exactly how much they are like it
_LISTED = 12  # headings in a message


class NoNote(UsageError):
    """Nothing that is served is named so."""


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
    from_char: int = 0  # characters of `start_line` that were left out in front
    cut_at: int = 0  # where in `end_line` it was cut; 0 is not at all
    whole: str = field(default="", repr=False)  # the file's text, of which `text` is a part
    start: int = 0  # where in `whole`
    headings: tuple[Heading, ...] = ()  # of the whole note


def locate(
    vault: Path,
    rules: FolderRules,
    ref: str,
    titles: Callable[[], Mapping[str, Sequence[str]]],
    *,
    follow_outside: bool = False,
) -> str:
    """The vault-relative path of the note that `ref` names.

    ref: a path, with or without .md, or a name, title or alias, in any case; [[brackets]] are
    taken off. titles: title or alias, `folded` -> paths, asked for only when no path fits. Raises
    UsageError: no such note (with near matches), several, hidden, excluded or outside the vault.
    """
    if not isinstance(ref, str) or not ref.strip():
        raise UsageError(_NAME_ONE)
    if len(ref) > MAX_REF:
        raise UsageError(f"{brief(ref)!r} is too long for a note; give its path or name")
    if any(ord(char) < 32 or ord(char) == 127 for char in ref):
        exact = ref if _is_served(vault, rules, ref) else None
        if exact is None:
            raise UsageError("a note's name cannot hold control characters; give its path or name")
        return exact
    wanted = ref.strip()
    if wanted.startswith("[[") and wanted.endswith("]]"):
        wanted = wanted[2:-2].split("|")[0].split("#")[0].strip()
    named = wanted
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
    is_inside = not path.startswith(("../", "/")) and is_visible(path)
    for candidate in (path, f"{path}.md") if is_inside else ():
        if is_note_name(candidate) and _is_served(vault, rules, candidate):
            return candidate
    notes = [note.path for note in scan(vault, rules, follow_outside=follow_outside).notes]
    found = by_name(path, notes) if is_inside else []
    if not found:
        present = set(notes)
        known = titles()
        found = [p for p in dict.fromkeys(known.get(folded(named), ())) if p in present]
        if not found:
            if not named.strip("./"):
                raise UsageError(_NAME_ONE)
            if path.startswith("../") or path == "..":
                raise UsageError(
                    "that path leads out of the vault; give a path inside it, or a name"
                )
            raise _no_note(ref, _near(path if is_inside else named, notes, known))
    if len(found) > 1:
        listed = ", ".join(one_line(p) for p in found[:8])
        raise UsageError(f"several notes are named {brief(ref)!r}: {listed}; give the path of one")
    return found[0]


def read_part(
    vault: Path,
    path: str,
    heading: str | None = None,
    lines: tuple[int, int] | None = None,
    max_chars: int = 20_000,
    from_char: int = 0,
) -> NoteText:
    """A located note: all of it, the section under a heading, or lines from first to last.

    At most `max_chars` characters, whole lines where they fit; `more` is the line to go on at.
    from_char: how many characters of the first line are left out, to go on inside a long one.
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
            raise UsageError(
                f"that section is lines {first}-{last} of the file, not {low}-{min(high, total)}"
            )
        first, last = max(first, low), min(last, high)
    start = starts[first - 1]
    if not 0 <= from_char <= _line_end(starts, text, first) - start:
        raise UsageError(f"line {first} of {one_line(path)} has no character {from_char}")
    start += from_char
    end = starts[last] if last < len(starts) else len(text)
    name = path.rpartition("/")[2][:-3]
    note = NoteText(
        path=path,
        title=frontmatter.title_of(header.values) or name,
        text=text[start:end],
        start_line=first,
        end_line=last,
        total_lines=total,
        more=None,
        from_char=from_char,
        whole=text,
        start=start,
        headings=tuple(h for _, h in body.headings),
    )
    return shortened(note, max_chars)


def shortened(note: NoteText, max_chars: int) -> NoteText:
    """The beginning of a part: whole lines where they fit, else a piece of the first one."""
    if len(note.text) <= max_chars:
        return note
    borders = line_starts(note.text)[1:]
    fitting = bisect_right(borders, max_chars)
    if fitting:
        last = note.start_line + fitting - 1
        text = note.text[: borders[fitting - 1]]
        return replace(note, text=text, end_line=last, more=last + 1, cut_at=0)
    first = note.start_line
    return replace(
        note,
        text=note.text[:max_chars],
        end_line=first,
        more=first + 1 if first < note.end_line else None,
        cut_at=note.from_char + max_chars,
    )


def _line_end(starts: Sequence[int], text: str, line: int) -> int:
    return starts[line] if line < len(starts) else len(text)


def _section(path: str, headings: Sequence[Heading], wanted: str, total: int) -> tuple[int, int]:
    """First and last line of the section under a heading; `A#B` and `A > B` name B under A."""
    parts = wanted.split(" > ") if " > " in wanted else wanted.split("#")
    chain = [folded(part.strip()) for part in parts if part.strip()]
    for index, heading in enumerate(headings):
        names = [*map(folded, heading.parents), folded(heading.text)]
        whole = names[-1] == folded(wanted.strip())
        if whole or (chain and names[-1] == chain[-1] and _in_order(chain, names)):
            end = next(
                (h.line - 1 for h in headings[index + 1 :] if h.level <= heading.level), total
            )
            return heading.line, end
    near = nearest(wanted, [h.text for h in headings], 1)
    meant = f"; did you mean {brief(near[0])!r}?" if near else ""
    listed = ", ".join(repr(brief(h.text)) for h in headings[:_LISTED]) or "none"
    more = f" and {len(headings) - _LISTED} more" if len(headings) > _LISTED else ""
    raise UsageError(
        f"{one_line(path)} has no heading {brief(wanted)!r}{meant}; its headings: {listed}{more}"
    )


def _in_order(chain: Sequence[str], names: Sequence[str]) -> bool:
    left = iter(names)
    return all(any(name == part for name in left) for part in chain)


def _is_served(vault: Path, rules: FolderRules, path: str) -> bool:
    """Whether a path is a note that an index may hold, and no link leads it astray."""
    try:
        if not is_visible(path) or not is_note_name(path) or not rules.takes(path):
            return False
        path.encode("utf-8")  # a name that is no text is not in the index either
        file = vault / path
        if not _is_spelt_so(vault, path):
            return False
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


def _is_spelt_so(vault: Path, path: str) -> bool:
    """Whether each part of a path is written as in its folder.

    Where case or composition do not matter to the system, `private/x.md` opens `Private/x.md`,
    and the rules would not know it.
    """
    folder = os.fspath(vault)
    for part in path.split("/"):
        if part not in os.listdir(folder):
            return False
        folder = os.path.join(folder, part)
    return True


def by_name(path: str, notes: Sequence[str]) -> list[str]:
    """Notes whose path ends in `path`: exact first, then without regard to case and composition."""
    wanted = path[:-3] if is_note_name(path) else path
    for fold in (str, folded):
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


def _near(path: str, notes: Sequence[str], titles: Mapping[str, Sequence[str]]) -> list[str]:
    """Notes whose name, title or alias is much like `path`, or whose path if it names a folder."""
    wanted = path[:-3] if is_note_name(path) else path
    present = set(notes)
    names = {title: path for title, paths in titles.items() for path in paths if path in present}
    names |= {note[:-3] if "/" in wanted else note.rpartition("/")[2][:-3]: note for note in notes}
    near = nearest(wanted, names, 2 * NEAR_MATCHES)
    return list(dict.fromkeys(names[name] for name in near))[:NEAR_MATCHES]


def nearest(wanted: str, names: Iterable[str], count: int) -> list[str]:
    """The names much like `wanted`, or that hold it, in any case; the best first.

    One that has it as a whole word, or words, goes before those that are not very much like it.

    Quick for thousands of names: only those that share most pairs of letters are compared exactly.
    """
    target = folded(wanted.strip())
    if not target or len(target) > _COMPARED:
        return []
    pairs, letters = _pairs(target), sorted(target)
    likely: list[tuple[float, str, str]] = []
    for name in names:
        text = folded(name[: 2 * _COMPARED])
        if len(target) > 2 and target in text:
            likely.append((1 + len(target) / len(text), text, name))
            continue
        short, long = sorted((len(target), len(text)))
        if 3 * long <= 7 * short and (others := _pairs(text)):  # else their ratio is below 0.6
            shared = 2 * len(pairs & others) / (len(pairs) + len(others))
            if not shared and sorted(text) == letters:  # `wrok`: no pair of letters is left
                shared = 0.5
            if shared > 0:
                likely.append((shared, text, name))
    matcher = difflib.SequenceMatcher(b=target, autojunk=False)
    whole = re.compile(rf"(?<!\w){re.escape(target)}(?!\w)")
    scored: list[tuple[float, float, str]] = []
    for shared, text, name in heapq.nlargest(_LIKELY, likely):
        matcher.set_seq1(text[:_COMPARED])
        ratio = matcher.ratio()
        if shared > 1 and whole.search(text):
            scored.append((max(ratio, _WHOLE_WORD), ratio, name))
        elif shared > 1 or ratio >= 0.6:
            scored.append((ratio, ratio, name))
    return [name for *_, name in heapq.nlargest(count, scored)]


def _pairs(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(min(len(text), _COMPARED) - 1)}


def folded(text: str) -> str:
    """A name as names are compared: without regard to case and composition."""
    return unicodedata.normalize("NFC", text).casefold()


def spelt_there(folder: Path, name: str) -> str | None:
    """The name in `folder` that is `name`: as it is, else but for case and composition."""
    try:
        there = os.listdir(folder)
    except OSError:
        return None
    if name in there:
        return name
    return next((other for other in sorted(there) if folded(other) == folded(name)), None)


def left_out(
    vault: Path, rules: FolderRules, ref: str, *, follow_outside: bool = False
) -> list[str]:
    """Paths of the notes that are named so and that the settings leave out; for their owner only.

    Hidden ones are none of these.
    """
    wanted = posixpath.normpath(ref.strip().removeprefix("[[").removesuffix("]]").split("|")[0])
    notes = scan(vault, FolderRules(), follow_outside=follow_outside).notes
    return by_name(wanted, [note.path for note in notes if not rules.takes(note.path)])


def _no_note(ref: str, near: Sequence[str]) -> UsageError:
    hint = f"; did you mean {', '.join(one_line(p) for p in near)}?" if near else f"; {SEEK}"
    return NoNote(f"there is no note {brief(ref)!r} in the vault{hint}")
