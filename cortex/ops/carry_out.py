"""A run out of the journal, carried out or taken back; either may go on where it was killed.

The order is what keeps notes safe. The new note is whole and on the disk before its source is
archived; what went wrong before that is taken back. Undoing gives the source back first and only
then removes the new note. At every moment one of the two is a note in force.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from .frontmatter_edit import NotEditable, edited
from .journal import Journal, Promotion, Run, State
from .promoted import superseded_change
from .vault_writes import (
    Stand,
    Write,
    apply,
    digest,
    read_plain,
    remove_leftover,
    stand,
    take_back,
)


def carry_out(journal: Journal, vault: Path, run: Run) -> Run:
    """Do what is still to be done of a run; then none of its promotions is `pending`.

    The caller saves it as done. Raises OSError where a note could be neither archived nor its
    new note taken back: then the run stays open, and the next one goes on.
    """
    for index, promotion in enumerate(run.promotions):
        if promotion.state == "pending":
            ended = _Carrying(journal, vault, run, index).ended()
            run = replace(
                ended.run,
                promotions=(
                    *ended.run.promotions[:index],
                    ended.promotion,
                    *ended.run.promotions[index + 1 :],
                ),
            )
            journal.note_end(run, index, ended.promotion)
    return run


@dataclass(frozen=True, slots=True)
class _Ended:
    run: Run
    promotion: Promotion


class _Carrying:
    """One promotion being carried out."""

    def __init__(self, journal: Journal, vault: Path, run: Run, index: int) -> None:
        self.journal, self.vault, self.run, self.index = journal, vault, run, index

    @property
    def promotion(self) -> Promotion:
        return self.run.promotions[self.index]

    def ended(self) -> _Ended:
        made, source, *older = self.promotion.writes
        for write in self.promotion.writes:
            remove_leftover(self.vault, write, self.run.temp(write))
        try:
            why = self._made(made)
        except OSError as error:
            return self._as("failed", f"{made.path} could not be written: {_told(error)}")
        if why:
            return self._as("dropped", why)
        where = stand(self.vault, source)
        if where == "before":
            try:
                self._apply(source)
            except OSError as error:
                self._unmake(made)
                return self._as("failed", f"{source.path} could not be archived: {_told(error)}")
        elif where == "other":
            self._unmake(made)
            return self._as("dropped", f"{source.path} was changed meanwhile")
        notes = [f"{source.path} is gone; {made.path} stays"] if where == "gone" else []
        for write in older:
            if why := self._superseded(write):
                notes.append(f"{write.path} was not marked as superseded: {why}")
        return self._as("done", "; ".join(notes))

    def _as(self, state: State, why: str) -> _Ended:
        return _Ended(self.run, replace(self.promotion, state=state, why=why))

    def _made(self, made: Write) -> str:
        """Have the new note on the disk; why not, if that cannot be."""
        try:
            where = stand(self.vault, made)
            if where == "after":  # by a run that was killed behind it
                return ""
            if where != "before":
                return f"{made.path} is there, and not as it was written"
            for write in self.promotion.writes[1:]:
                if stand(self.vault, write) != "before":
                    return f"{write.path} was changed meanwhile"
            self._apply(made)
        except FileExistsError:
            return f"{made.path} is there already"
        return ""

    def _apply(self, write: Write) -> None:
        data = self.journal.bytes_of(self.run, write.after)
        apply(self.vault, write, data, self.run.temp(write))

    def _unmake(self, made: Write) -> None:
        if stand(self.vault, made) == "after":
            take_back(self.vault, made, None, self.run.temp(made))

    def _superseded(self, write: Write) -> str:
        """Mark one superseded note; why not, if that cannot be."""
        try:
            where = stand(self.vault, write)
            if where == "gone":
                return "it is gone"
            if where == "other":
                write = self._edited_anew(write)
                where = "before"
            if where == "before":
                self._apply(write)
        except NotEditable as error:
            return str(error)
        except OSError as error:
            return _told(error)
        return ""

    def _edited_anew(self, write: Write) -> Write:
        """The write for a note that somebody changed since: the same properties, in today's text.

        It is in the journal before it is done, like every other.
        """
        place = self.vault / write.path
        before = read_plain(place)
        day = dt.date.fromisoformat(self.run.day)
        after = edited(before, superseded_change(self.promotion.target, day))
        modified_ns = place.stat().st_mtime_ns
        anew = replace(write, before=digest(before), after=digest(after), modified_ns=modified_ns)
        self.journal.add(self.run.number, (before, after))
        writes = tuple(anew if one is write else one for one in self.promotion.writes)
        promotions = list(self.run.promotions)
        promotions[self.index] = replace(self.promotion, writes=writes)
        self.run = replace(self.run, promotions=tuple(promotions))
        self.journal.save(self.run)
        return anew


@dataclass(frozen=True, slots=True)
class Step:
    """What undoing does with one file, or that it must leave it, and why."""

    action: Literal["restore", "remove", "keep", "nothing"]
    write: Write
    why: str = ""
    source: Write | None = None  # of a note to remove: what must be back before


def undo_steps(vault: Path, run: Run) -> list[Step]:
    """What undoing a run would do now, in order."""
    steps: list[Step] = []
    seen: dict[str, str] = {}  # path -> digest that earlier steps leave there
    for promotion in reversed(run.promotions):
        if promotion.state != "done":
            continue
        made, source, *older = promotion.writes
        back = _restored(vault, source, seen)
        steps.append(back)
        where = _stand(vault, made, seen)
        if where == "after" and back.action == "keep":
            steps.append(Step("keep", made, f"its source {source.path} is not as it was archived"))
        elif where == "after":
            steps.append(Step("remove", made, source=source))
        else:
            steps.append(_left(made, where))
        steps += [_restored(vault, write, seen) for write in reversed(older)]
    return steps


def undo(journal: Journal, vault: Path, run: Run) -> Run:
    """Take a run back; what was changed since stays, and is in `kept`. The caller saves it."""
    for promotion in run.promotions:
        for write in promotion.writes:
            remove_leftover(vault, write, run.temp(write))
    kept: list[tuple[str, str]] = []
    for step in undo_steps(vault, run):
        write, why = step.write, step.why
        if step.action in ("restore", "remove"):
            data = journal.bytes_of(run, write.before) if write.before else None
            try:
                if step.source is not None and stand(vault, step.source) != "before":
                    why = f"its source {step.source.path} could not be given back"
                elif stand(vault, write) == "after":
                    take_back(vault, write, data, run.temp(write))
                else:
                    why = "it was changed just now"
            except OSError as error:
                why = _told(error)
        if why:
            kept.append((write.path, why))
    return replace(run, status="partly_undone" if kept else "undone", kept=tuple(kept))


def _restored(vault: Path, write: Write, seen: dict[str, str]) -> Step:
    where = _stand(vault, write, seen)
    if where == "after":
        seen[write.path] = str(write.before)
        return Step("restore", write)
    return _left(write, where)


def _left(write: Write, where: Stand | str) -> Step:
    """A file that is as it was before already, or that nobody may touch."""
    if where == "before":
        return Step("nothing", write)
    told = {"gone": "it is gone", "other": "it was changed since"}
    return Step("keep", write, told.get(where, where))


def _stand(vault: Path, write: Write, seen: Mapping[str, str]) -> Stand | str:
    """As `stand`, after the steps before; why it cannot be told, where the system refuses."""
    left = seen.get(write.path)
    if left is not None:
        return "after" if left == write.after else "before" if left == write.before else "other"
    try:
        return stand(vault, write)
    except OSError as error:
        return _told(error)


def _told(error: OSError) -> str:
    return error.strerror or str(error)
