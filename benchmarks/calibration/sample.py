"""A part of a collection: questions, the notes that answer them, and others to fill up."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.quality.built import Built
from benchmarks.quality.collection import Collection, Question, evenly

HITS = 12  # of a question that are looked at: as many as the vault source asks for


@dataclass(frozen=True, slots=True)
class Sample:
    name: str
    collection: str
    built: Built
    questions: tuple[Question, ...]
    judgments: dict[str, dict[str, int]]  # question id -> note -> relevance


class Seen(NamedTuple):
    """What a hit shows of a question."""

    cosine: float | None
    share: float  # of the question's words
    rarity: float  # of those words together
    answers: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found."""

    hits: tuple[Seen, ...]  # best first, as the search has them
    mean: float  # of the cosines of the vault's notes

    @property
    def cosine(self) -> float:
        """The best of the hits'."""
        return max((hit.cosine for hit in self.hits if hit.cosine is not None), default=0.0)

    @property
    def relative(self) -> float:
        return (self.cosine - self.mean) / max(1 - self.mean, 1e-6)


def samples(
    collection: Collection,
    cache: Path,
    models: Path,
    model: str | None,
    notes: int,
    most: int,
    *,
    halves: bool,
) -> Iterator[Sample]:
    """At most `most` questions, and `notes` notes beside those that answer them, evenly chosen.

    halves: two samples, each of whole subjects: what stands in front of a note's number.
    """
    sets = collection.sets
    chosen = {question: s for s in sets for question in evenly(s.questions, most // len(sets))}
    judgments = {question.id: s.judgments[question.id] for question, s in chosen.items()}
    everything = sorted(
        path.relative_to(collection.vault).as_posix() for path in collection.vault.rglob("*.md")
    )
    wanted = {note for judged in judgments.values() for note in judged} & set(everything)
    wanted.update(everything[:: max(len(everything) // max(notes, 1), 1)])
    subjects = sorted({_subject(note) for note in wanted})
    parts = {"-a": subjects[0::2], "-b": subjects[1::2]} if halves else {"": subjects}
    for suffix, part in parts.items():
        own = {note for note in wanted if _subject(note) in part}
        vault = cache / f"{collection.name}{suffix}-{notes}-{most}" / "vault"
        for note in own:
            if not (vault / note).exists():
                (vault / note).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(collection.vault / note, vault / note)
        questions = tuple(question for question in chosen if own & judgments[question.id].keys())
        name = f"{collection.name}{suffix}"
        yield Sample(
            name, collection.name, Built(vault, cache, models, model), questions, judgments
        )


def _subject(note: str) -> str:
    return re.sub(r"[ _-]*\d*\.md$", "", note)


def asked(of: Sample, into: Sample) -> list[Found]:
    """The questions of one sample put to the vault of another, or to their own."""
    found = []
    for question in of.questions:
        result = into.built.cortex.search(question.text, top_k=HITS, plain=True, rerank=False)
        answers = of.judgments[question.id] if of is into else {}
        hits = tuple(
            Seen(
                hit.trace.channels["vector"].score if "vector" in hit.trace.channels else None,
                hit.word_share,
                hit.word_rarity,
                hit.chunk.note in answers,
            )
            for hit in result.hits
        )
        found.append(Found(hits, into.built.mean_cosine(question.text)))
    return found
