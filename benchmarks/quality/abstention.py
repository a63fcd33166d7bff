"""Does evidence tell questions that a vault can answer from those it cannot?

Questions of one collection are put to its own vault and to the others in its language. Two
collections with the same questions, as translations have, are never put to each other. Questions
marked unanswerable, and those of an adversarial.jsonl, are put to their own vault and only told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cortex.search.explain import STRONG, WEAK

from .built import Built
from .collection import Collection, Question, evenly
from .measures import area_under_curve

CHUNKS = 10  # of which the best evidence counts
KINDS = ("own", "foreign", "unanswerable", "adversarial")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """The evidence that questions of one set found in one vault."""

    vault: str
    questions: str
    kind: str
    evidence: list[float] = field(default_factory=list)


def asked(vaults: Mapping[str, tuple[Collection, Built]], most: int) -> Iterator[Asked]:
    """At most `most` questions of each set put to each vault that they belong to or do not."""
    for name, (_, built) in vaults.items():
        for other, (collection, theirs) in vaults.items():
            if theirs.language != built.language or (
                other != name and _share_ids(vaults, name, other)
            ):
                continue
            for questions in collection.sets:
                kind = "own" if other == name else "foreign"
                groups = {kind: questions.questions}
                if kind == "own":
                    groups["unanswerable"] = questions.unanswerable
                    if not questions.name:
                        groups["adversarial"] = _adversarial(collection)
                for group, found in groups.items():
                    if found:
                        texts = (question.text for question in evenly(found, most))
                        scores = [built.search(text, chunks=CHUNKS).evidence for text in texts]
                        yield Asked(name, questions.label, group, scores)


def table(found: Sequence[Asked]) -> str:
    """Each pair, and all of them together: the area under the curve and what falls where."""
    lines = [
        f"{'vault':24}{'questions':34}{'kind':14}{'n':>6}{'AUC':>8}{'weak':>8}{'strong':>8}{'median':>8}"
    ]
    for one in found:
        own = _pooled(found, "own", one.vault)
        lines.append(_line(one.vault, one.questions, one.kind, np.array(one.evidence), own))
    pooled = {kind: _pooled(found, kind) for kind in KINDS}
    lines.append("")
    for kind, scores in pooled.items():
        if len(scores):
            lines.append(_line("all together", "", kind, scores, pooled["own"]))
    return "\n".join(lines)


def figures(found: Sequence[Asked]) -> dict[str, object]:
    own = _pooled(found, "own")
    return {
        "auc": {
            kind: round(area_under_curve(own, scores), 4)
            for kind in KINDS[1:]
            if len(own) and len(scores := _pooled(found, kind))
        },
        "asked": [
            {
                "vault": one.vault,
                "questions": one.questions,
                "kind": one.kind,
                "evidence": [round(score, 4) for score in one.evidence],
            }
            for one in found
        ],
    }


def _line(vault: str, questions: str, kind: str, scores: Floats, own: Floats) -> str:
    auc = "" if kind == "own" else f"{area_under_curve(own, scores):.3f}"
    weak, strong = (scores < WEAK).mean(), (scores >= STRONG).mean()
    return (
        f"{vault:24}{questions:34}{kind:14}{len(scores):6}{auc:>8}{weak:8.0%}{strong:8.0%}"
        f"{np.median(scores):8.2f}"
    )


def _pooled(found: Sequence[Asked], kind: str, vault: str | None = None) -> Floats:
    chosen = [one for one in found if one.kind == kind and vault in (None, one.vault)]
    return np.array([score for one in chosen for score in one.evidence], dtype=np.float64)


def _share_ids(vaults: Mapping[str, tuple[Collection, Built]], name: str, other: str) -> bool:
    ids = [
        {question.id for questions in vaults[which][0].sets for question in questions.questions}
        for which in (name, other)
    ]
    return len(ids[0] & ids[1]) > len(ids[0]) / 2


def _adversarial(collection: Collection) -> tuple[Question, ...]:
    path = collection.folder / "adversarial.jsonl"
    if not path.is_file():
        return ()
    records = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    return tuple(Question(record["id"], record["text"]) for record in records)
