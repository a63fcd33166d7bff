"""Cases held against a vault: the notes and headings they name, as the index has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from ..errors import UsageError
from ..text import brief
from ..types import Json
from ..vault.reading import NoteText, folded, nearest
from .cases import Case, CaseSet, Target, once_each, told


def find_notes(
    given: CaseSet,
    headings: Mapping[str, Sequence[Sequence[Json]]],
    is_unread: Callable[[str], bool],
) -> tuple[Case, ...]:
    """The cases with their notes by the paths that the index has, and their headings found.

    headings: note -> its headings, as notes.jsonl has them. is_unread: whether a path that is not
    in the index is a note of the vault. A note may be given without `.md`, in another case, with
    the separators of Windows, or by its name alone where one note has it. Raises UsageError that
    names what is missing.
    """
    index = _Names(headings)
    faults: list[str] = []
    resolved = []
    for case in given.cases:

        def find(target: Target, case: Case = case) -> Target:
            try:
                return _found(target, index, headings, is_unread)
            except UsageError as error:
                faults.append(f"case {brief(case.id)!r} names {error}")
                return target

        expected = tuple(once_each(map(find, case.expected)))
        must_not = tuple(once_each(map(find, case.must_not)))
        both = {target.named for target in expected} & {target.named for target in must_not}
        faults.extend(
            f"case {brief(case.id)!r} expects {name}, and it must not be found"
            for name in sorted(both)
        )
        resolved.append(replace(case, expected=expected, must_not=must_not))
    if faults:
        raise UsageError(f"{given.source}: {told(faults)}")
    return tuple(resolved)


class _Names:
    """Notes by path, and by name where only one has it."""

    def __init__(self, notes: Collection[str]) -> None:
        self.exact = set(notes)
        self.folded: dict[str, list[str]] = {}
        self.bare: dict[str, list[str]] = {}
        for note in notes:
            self.folded.setdefault(folded(note), []).append(note)
            self.bare.setdefault(folded(note.rpartition("/")[2]), []).append(note)

    def find(self, name: str) -> list[str]:
        if name in self.exact:  # its name may hold a backslash
            return [name]
        name = name.replace("\\", "/").removeprefix("./").strip("/")
        for wanted in (name, f"{name}.md"):
            if wanted in self.exact:
                return [wanted]
        for wanted in (folded(name), folded(f"{name}.md")):
            if near := self.folded.get(wanted) or ("/" not in name and self.bare.get(wanted)):
                return near
        return []


def _found(
    target: Target,
    index: _Names,
    headings: Mapping[str, Sequence[Sequence[Json]]],
    is_unread: Callable[[str], bool],
) -> Target:
    found = index.find(target.file)
    if not found and is_unread(target.file):
        raise UsageError(f"{brief(target.file)!r}, which is not in the index; run: cortex index")
    if not found:
        near = nearest(target.file.removesuffix(".md"), (n[:-3] for n in index.exact), 1)
        hint = f"; did you mean {brief(near[0])}.md?" if near else ""
        raise UsageError(f"{brief(target.file)!r}, which is no note of the vault{hint}")
    if len(found) > 1:
        listed = ", ".join(brief(note) for note in found[:3])
        raise UsageError(f"{brief(target.file)!r}, which could be any of {listed}; give its path")
    target = replace(target, file=found[0])
    if target.heading is None:
        return target
    own = headings[target.file]
    section = section_lines(own, target.heading)
    if section is None:
        near = nearest(target.heading, [str(heading[1]) for heading in own], 1)
        hint = f"; did you mean {brief(near[0])!r}?" if near else ""
        raise UsageError(
            f"the heading {brief(target.heading)!r}, which {brief(target.file)} does not have{hint}"
        )
    return replace(target, section=section)


def section_lines(headings: Sequence[Sequence[Json]], wanted: str) -> tuple[int, int] | None:
    """First and last line under a heading, subsections included; `A > B` is B under A."""
    wanted = wanted.lstrip("#").strip()
    chain = [_plain(part) for part in wanted.split(" > ")]
    for at, (level, text, line, parents) in enumerate(headings):
        names = [_plain(name) for name in (*parents, text)]
        if names[-1] == _plain(wanted) or (len(chain) > 1 and _in_order(chain, names)):
            after = (other[2] - 1 for other in headings[at + 1 :] if other[0] <= level)
            return line, next(after, 1 << 31)
    return None


def _plain(text: str) -> str:
    return " ".join(folded(text).split())


def _in_order(chain: Sequence[str], names: Sequence[str]) -> bool:
    left = iter(names)
    return chain[-1] == names[-1] and all(any(name == part for name in left) for part in chain)


def lint(given: CaseSet, cases: Sequence[Case], read: Callable[[Target], NoteText]) -> None:
    """Hold resolved cases against the files as they are now, which the index may lag behind.

    read: the part of its file that a target names; UsageError where there is none. Raises
    UsageError that names every case whose file, heading or lines are not there.
    """
    faults = []
    for case in cases:
        for target in (*case.expected, *case.must_not):
            try:
                note = read(target)
            except UsageError as error:
                faults.append(f"case {brief(case.id)!r}: {error}")
                continue
            if target.lines and target.lines[1] > note.total_lines:
                faults.append(
                    f"case {brief(case.id)!r} names line {target.lines[1]} of "
                    f"{brief(target.file)}, which has {note.total_lines}"
                )
    if faults:
        raise UsageError(f"{given.source}: {told(faults)}")
