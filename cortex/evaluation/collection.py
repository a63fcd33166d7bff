"""Queries and judgements as test collections have them, read as cases."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..errors import UsageError
from ..text import brief
from ..types import Json
from .cases import MAX_GRADE, Case, CaseSet, Target, read_text

MOST_GROUPS = 30  # values of a field of queries.jsonl; with more it names single queries


def read_judged(queries: Path, qrels: Path) -> CaseSet:
    """queries.jsonl (or id and text in two columns) with its judgements, three columns or TREC's.

    A query without a judgement above 0 is left out, and told. Other fields of a query that have a
    handful of values are groups: `category=temporal`. Raises UsageError.
    """
    judged = _judgements(qrels)
    rows = list(_query_rows(queries))
    if not rows:
        raise UsageError(f"{queries} holds no queries")
    kept = [row for name, _, row in rows if any(g > 0 for g in judged.get(name, {}).values())]
    groups = _groups(kept)
    cases: list[Case] = []
    seen: set[str] = set()
    left_out = 0
    for name, text, row in rows:
        if name in seen:
            raise UsageError(f"{queries}: two queries have the id {brief(name)!r}")
        seen.add(name)
        relevant = {file: grade for file, grade in judged.get(name, {}).items() if grade > 0}
        if not relevant:
            left_out += 1
            continue
        expected = tuple(Target(file, grade=grade) for file, grade in relevant.items())
        tags = tuple(f"{key}={row[key]}" for key in groups if isinstance(row.get(key), (str, int)))
        cases.append(Case(name, text, expected, tags=tags))
    if not cases:
        raise UsageError(f"{qrels} has no judgement above 0 for any query of {queries}")
    remarks = []
    if left_out:
        many = "1 query has" if left_out == 1 else f"{left_out:,} queries have"
        remarks.append(f"{many} no relevant note in {qrels.name}: left out")
    stray = len(judged.keys() - seen)
    if stray:
        remarks.append(f"{qrels.name} judges {stray:,} ids that {queries.name} does not have")
    return CaseSet(tuple(cases), str(queries), tuple(remarks))


_ID_FIELDS = ("id", "_id", "query_id", "qid")
_TEXT_FIELDS = ("text", "query", "question")


def _query_rows(path: Path) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
    """(id, text, all fields) of each line."""
    for number, line in _lines(path):
        if not line.lstrip().startswith("{"):
            name, tab, text = line.partition("\t")
            if not tab or not name.strip() or not text.strip():
                raise UsageError(
                    f'{path}, line {number}: give {{"id": ..., "text": ...}} or id, tab, text'
                )
            yield name.strip(), text.strip(), {}
            continue
        try:
            row = json.loads(line)
        except ValueError:
            raise UsageError(f"{path}, line {number} is not JSON") from None
        found = next((row[key] for key in _ID_FIELDS if key in row), None)
        query = next((row[key] for key in _TEXT_FIELDS if key in row), None)
        if isinstance(found, bool) or not isinstance(found, (str, int)) or not str(found).strip():
            raise UsageError(f"{path}, line {number} has no id")
        if not isinstance(query, str) or not query.strip():
            raise UsageError(f"{path}, line {number} has no text")
        yield _whole_characters(str(found)), _whole_characters(query), row


def _whole_characters(text: str) -> str:
    """JSON may hold half a character, `\\ud800`, which no file can."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _groups(rows: Iterable[Mapping[str, Json]]) -> list[str]:
    """The fields that part the queries into groups."""
    values: dict[str, set[str]] = {}
    for row in rows:
        for key, value in row.items():
            if key not in (*_ID_FIELDS, *_TEXT_FIELDS) and isinstance(value, (str, int)):
                values.setdefault(key, set()).add(str(value))
    return [key for key, found in values.items() if 1 < len(found) <= MOST_GROUPS]


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    """query id -> note -> grade. Columns stand between tabs, or TREC's four between blanks."""
    found: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        parts = line.split("\t") if "\t" in line else line.strip().split(None, 3)
        if len(parts) == 4:
            parts = [parts[0], *parts[2:]] if "\t" in line else _of_trec(line.strip())
        try:
            name, file, grade = (part.strip() for part in parts)
            value = float(grade)
        except ValueError:
            if number == 1 and len(parts) == 3 and not any(map(_is_number, parts)):
                continue  # names of the columns
            raise UsageError(
                f"{path}, line {number}: give query id, note and grade between tabs, "
                "or the four columns of TREC"
            ) from None
        if not name or not file:
            raise UsageError(f"{path}, line {number} has an empty column")
        if not (abs(value) <= MAX_GRADE and value.is_integer()):
            raise UsageError(
                f"{path}, line {number}: the grade must be a whole number up to {MAX_GRADE}, "
                f"not {brief(grade)}"
            )
        found.setdefault(name, {})[decoded(file)] = int(value)
    if not found:
        raise UsageError(f"{path} holds no judgements")
    return found


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _of_trec(line: str) -> list[str]:
    """`q1 0 a note.md 1`: a note's name may hold blanks."""
    name, _, rest = line.split(None, 2)
    file, _, grade = rest.rpartition(" ")
    return [name, file, grade]


def encoded(file: str) -> str:
    """A note's path as TREC's files hold it, which end a column at a blank: `Fog%20Bell.md`."""
    return re.sub(r"[\s%]", lambda match: f"%{ord(match[0]):02X}", file)


def decoded(file: str) -> str:
    if "%" not in file or re.search(r"\s", file):
        return file
    return re.sub(r"%(20|25|09|0[A-D])", lambda match: chr(int(match[1], 16)), file)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of each line that is not empty."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")
