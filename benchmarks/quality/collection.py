"""Collections on disk: a vault, the questions put to it, and which notes answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path


class BadCollection(Exception):
    """A collection that cannot be used: what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of one file, sorted by id, with their judgments."""

    collection: str
    name: str  # "" for queries.jsonl, "alias" for queries-alias.jsonl
    questions: tuple[Question, ...]  # those that have judgments
    judgments: dict[str, dict[str, int]]  # question id -> note path -> relevance above 0
    unanswerable: tuple[Question, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.collection}, {self.name}" if self.name else self.collection

    def part(self, split: str) -> QuestionSet:
        """Every second question, from the first (even) or the second (odd) one; or all."""
        first = {"even": 0, "odd": 1}.get(split)
        chosen = self.questions if first is None else self.questions[first::2]
        return replace(self, questions=chosen)


@dataclass(frozen=True, slots=True)
class Collection:
    name: str
    folder: Path
    sets: tuple[QuestionSet, ...]
    evidence: dict[str, list[tuple[str, int]]]  # question id -> (note, line) of what answers it

    @property
    def vault(self) -> Path:
        return self.folder / "vault"


def names(root: Path) -> list[str]:
    """The folders below `root` that hold a vault and questions."""
    if not root.is_dir():
        raise BadCollection(f"there is no folder {root}; name one with --eval or CORTEX_EVAL")
    found = [
        path.parent.name for path in root.glob("*/vault") if list(_question_files(path.parent))
    ]
    if not found:
        raise BadCollection(f"no folder in {root} has a vault/, a queries.jsonl and a qrels.tsv")
    return sorted(found)


def read(root: Path, name: str) -> Collection:
    """A collection with all its sets of questions. Raises BadCollection."""
    folder = root / name
    if not (folder / "vault").is_dir():
        near = ", ".join(names(root))
        raise BadCollection(f"there is no collection {name!r} in {root}; there are {near}")
    sets = [_read_set(folder, *files) for files in _question_files(folder)]
    if not sets:
        raise BadCollection(f"{folder} has no queries.jsonl beside a qrels.tsv")
    evidence: dict[str, list[tuple[str, int]]] = {}
    if (folder / "evidence.tsv").is_file():
        for question, note, line in _rows(folder / "evidence.tsv"):
            evidence.setdefault(question, []).append((note, _number(folder, line)))
    return Collection(name, folder, tuple(sets), evidence)


def evenly(items: Sequence[Question], most: int) -> list[Question]:
    """At most `most` of the questions, evenly spread; 0 means all."""
    if not most or len(items) <= most:
        return list(items)
    return [items[at * len(items) // most] for at in range(most)]


def _question_files(folder: Path) -> Iterator[tuple[str, Path, Path]]:
    """(name of the set, its questions, its judgments), the plain one first."""
    for questions in sorted(folder.glob("queries*.jsonl")):
        match = re.fullmatch(r"queries(?:-(.+))?\.jsonl", questions.name)
        judgments = questions.with_name(
            questions.name.replace("queries", "qrels", 1)[: -len(".jsonl")] + ".tsv"
        )
        if match and judgments.is_file():
            yield match[1] or "", questions, judgments


def _read_set(folder: Path, name: str, questions: Path, judgments: Path) -> QuestionSet:
    judged: dict[str, dict[str, int]] = {}
    for question, note, relevance in _rows(judgments):
        if (grade := _number(judgments, relevance)) > 0:
            judged.setdefault(question, {})[note] = grade
    found: dict[str, Question] = {}
    unanswerable = []
    for number, line in enumerate(questions.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            question = Question(str(record["id"]), str(record["text"]))
        except (ValueError, KeyError, TypeError):
            raise BadCollection(f"{questions}:{number} is no object with id and text") from None
        if record.get("answerable") is False:
            unanswerable.append(question)
        elif question.id in judged:
            found[question.id] = question
    if not found:
        raise BadCollection(f"no question of {questions} has a judgment in {judgments.name}")
    ordered = tuple(found[key] for key in sorted(found))
    return QuestionSet(folder.name, name, ordered, judged, tuple(unanswerable))


def _rows(path: Path) -> Iterator[tuple[str, str, str]]:
    """The three columns of each line but the first; TREC's unused second column is passed over."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) == 4:
            del cells[1]
        if len(cells) != 3:
            raise BadCollection(f"{path}:{number} has {len(cells)} columns, not 3")
        if number == 1 and not cells[2].strip().lstrip("-").isdigit():
            continue
        yield cells[0], cells[1], cells[2]


def _number(where: Path, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadCollection(f"{where} has {text!r} where a whole number belongs") from None
