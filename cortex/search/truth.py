"""What no longer holds on a day, or not yet, as far as the notes say; and what replaced it."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from ..errors import UsageError
from ..graph_resolve import Resolver
from ..indexer.chunks import link_record
from ..text import brief
from ..types import ChannelTrace, Json, Link
from ..vault.frontmatter import (
    changed_of,
    created_of,
    day_in_name,
    file_day,
    inactive_of,
    replacement_links,
    valid_from_of,
    valid_until_of,
)
from .filters import day_from
from .ranked import Ranked

MOST_BROUGHT = 3  # notes that one replaced note brings in
_DRAFTS = frozenset({"draft", "proposed", "rejected"})  # what such a note replaces still holds

Pair = tuple[str, bool]  # the path of what replaced a note; whether the replaced one says so


def replacements(notes: Sequence[Mapping[str, Json]]) -> list[list[Json]]:
    """[older, newer, whether the older one says so] of what replaced what, sorted by paths.

    notes: the records of notes.jsonl. A note is named as in a link, or by its title or its
    property `id`; a name that fits none or several says nothing.
    """
    resolver = Resolver(notes, ())
    by_name: dict[str, set[str]] = {}
    for note in notes:
        for name in (note["title"], note["frontmatter"].get("id")):
            if isinstance(name, (str, int)) and str(name).strip():
                by_name.setdefault(str(name).strip().casefold(), set()).add(note["file"])

    def found(source: str, links: Iterable[Link]) -> Iterator[str]:
        for link in links:
            path = resolver.resolve(source, link_record(link)).path
            named = by_name.get(link.target.strip().casefold(), set())
            if path is None and len(named) == 1:
                (path,) = named
            if path is not None and path != source and path.lower().endswith(".md"):
                yield path

    said: dict[tuple[str, str], bool] = {}
    for note in notes:
        path = note["file"]
        older, newer = replacement_links(note["frontmatter"])
        for other in found(path, older):
            said.setdefault((other, path), False)
        for other in found(path, newer):
            said[path, other] = True
    return [[older, newer, by_older] for (older, newer), by_older in sorted(said.items())]


class Notes(Protocol):
    """What is asked of the corpus."""

    @property
    def replacements(self) -> Mapping[str, Sequence[Pair]]: ...

    def note_at(self, path: str) -> Mapping[str, Json] | None: ...


class Truth:
    """What holds on a day.

    is_past: the day was asked for. Then what the notes say today counts as far as it was so then:
    a replacement that did not exist yet replaces nothing, and a status counts from the day that
    the note gives for it, else from its last change.
    """

    def __init__(self, notes: Notes, day: dt.date, *, is_past: bool) -> None:
        self._notes = notes
        self._day = day
        self._is_past = is_past
        self._labels: dict[str, tuple[str, ...]] = {}
        self._newer: dict[str, tuple[str, ...]] = {}

    def held(self, note: Mapping[str, Json]) -> bool:
        """Whether a note existed on the day and was valid, as far as it says."""
        begun, values = began(note), note["frontmatter"]
        first, last = valid_from_of(values), valid_until_of(values)
        return not (
            (begun is not None and begun > self._day)
            or (first is not None and first > self._day)
            or (last is not None and last < self._day)
        )

    def labels(self, note: Mapping[str, Json]) -> tuple[str, ...]:
        """superseded, deprecated, archived, stale, expired or not-yet-valid; most have none."""
        path = note["file"]
        found = self._labels.get(path)
        if found is None:
            found = self._labels[path] = tuple(dict.fromkeys(self._labels_of(note)))
        return found

    def _labels_of(self, note: Mapping[str, Json]) -> Iterator[str]:
        values = note["frontmatter"]
        if self.newer(note["file"]):
            yield "superseded"
        word, since = inactive_of(values)
        if word is None and not self._notes.replacements.get(note["file"]):
            word = "superseded" if replacement_links(values)[1] else None  # by what is not there
        if word is not None and self._counts(note, word, since):
            yield word
        last, first = valid_until_of(values), valid_from_of(values)
        if last is not None and last < self._day:
            yield "expired"
        if first is not None and first > self._day:
            yield "not-yet-valid"

    def _counts(self, note: Mapping[str, Json], word: str, since: dt.date | None) -> bool:
        """Whether what a note calls itself now, it was on the day."""
        if not self._is_past:
            return True
        if since is not None:
            return since <= self._day
        if word == "superseded" and self._notes.replacements.get(note["file"]):
            return bool(self.newer(note["file"]))
        values = note["frontmatter"]
        return (changed_of(values) or file_day(note["modified"])) <= self._day

    def newer(self, path: str) -> tuple[str, ...]:
        """The notes that replaced one, by path; not what it replaced itself, in a circle."""
        found = self._newer.get(path)
        if found is None:
            direct = self._in_force(path)
            found = tuple(other for other in direct if path not in self._reached(other))
            self._newer[path] = found
        return found

    def line(self, path: str) -> list[str]:
        """All that stands before a note because it replaced it, or what replaced it: newest first.

        Of two that replaced the same note, the one that was begun last is first.
        """
        ordered: dict[str, None] = {}
        entered = {path}

        def enter(older: str) -> None:
            for newer in sorted(self.newer(older), key=self._begun, reverse=True):
                if newer not in entered:
                    entered.add(newer)
                    enter(newer)
                    ordered[newer] = None

        enter(path)
        return list(ordered)

    def _begun(self, path: str) -> tuple[dt.date, str]:
        note = self._notes.note_at(path)
        return (note and began(note)) or dt.date.min, path

    def _in_force(self, path: str) -> list[str]:
        pairs = self._notes.replacements.get(path)
        older = self._notes.note_at(path) if pairs else None
        if not pairs or older is None:
            return []
        since = inactive_of(older["frontmatter"])[1]
        if self._is_past and since is not None and since > self._day:
            return []
        return sorted(other for other, by_older in pairs if self._replaces(other, by_older))

    def _replaces(self, path: str, by_older: bool) -> bool:
        """Whether a note that is named as a replacement is one on the day."""
        newer = self._notes.note_at(path)
        if newer is None:
            return False
        values = newer["frontmatter"]
        if not by_older and is_draft(values):
            return False
        days = [valid_from_of(values)] + ([began(newer)] if self._is_past else [])
        return all(day is None or day <= self._day for day in days)

    def _reached(self, path: str) -> set[str]:
        """All that replaced a note, step by step."""
        reached, waiting = {path}, [path]
        while waiting:
            for other in self._in_force(waiting.pop()):
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
        return reached


def is_draft(values: Mapping[str, Json]) -> bool:
    """Whether a note says by its status, or `draft: true`, that it does not hold yet."""
    return values.get("draft") is True or (str(values.get("status")).strip().casefold() in _DRAFTS)


def began(note: Mapping[str, Json]) -> dt.date | None:
    """The day a note began: as it says, else as its name begins (2025-03-01 Standup.md)."""
    values = note["frontmatter"]
    return created_of(values) or valid_from_of(values) or day_in_name(note["file"])


def newest_above(
    ranked: Sequence[Ranked],
    truth: Truth,
    bring: Callable[[str], Ranked | None],
    k: float,
    rank: Literal["calibrated", "ordinal"],
) -> list[Ranked]:
    """The same, best first, with each replaced note right behind what replaced it.

    Where that stands further down it is lifted to the same score, by a channel `replaces` of its
    own; where it is not there, `bring` fetches it: by path, None for what may not be shown. k and
    rank are those of the fusion.
    """
    best: dict[str, Ranked] = {}
    for item in ranked:
        best.setdefault(item.chunk.note, item)
    ordered: list[Ranked] = []
    placed: set[int] = set()
    settled: set[str] = set()
    for item in ranked:
        if item.ordinal in placed:
            continue
        path = item.chunk.note
        brought = 0
        for newer in truth.line(path) if path not in settled else ():
            if newer in settled:
                continue
            settled.add(newer)
            above = best.get(newer)
            if above is None and brought < MOST_BROUGHT and not truth.newer(newer):
                above = bring(newer)
                brought += above is not None
            if above is not None:
                _lift(above, item, k, rank)
                placed.add(above.ordinal)
                ordered.append(above)
        settled.add(path)
        placed.add(item.ordinal)
        ordered.append(item)
    return ordered


def _lift(item: Ranked, to: Ranked, k: float, rank: str) -> None:
    item.remarks["replaces"] = to.chunk.note
    if item.score >= to.score:
        return
    fused = to.score / item.factor
    while fused * item.factor < to.score:  # a rounding apart would be another order
        fused = math.nextafter(fused, math.inf)
    contribution = fused - item.fused
    share, rho = (1.0, 0.0) if rank == "calibrated" else (None, 1.0)
    given = ChannelTrace(1, to.score, share, rho, contribution * (k + rho), contribution)
    item.channels = {**item.channels, "replaces": given}
    item.fused = fused


def day_asked(value: object, today: dt.date) -> dt.date:
    """The day that `as_of` means: a date, or text as in the filter `after`. Raises UsageError."""
    day = day_from(value, today)
    if day is None:
        raise UsageError(f"as_of: give a day as YYYY-MM-DD, not {brief(repr(value))}")
    return day
