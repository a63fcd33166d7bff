"""Judged questions: what is asked, and which notes, sections or lines must answer it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..search.filters import Filters
from ..search.truth import day_asked
from ..text import brief
from ..types import Chunk, Json
from ..vault.reading import nearest

EXPECTED_TOP_K = 5  # a case passes if an expected note is among so many hits
MAX_GRADE = 100
A_DAY = dt.date(2000, 1, 1)  # to see whether `7d` can be read
_FAULTS_TOLD = 5


@dataclass(frozen=True, slots=True)
class Target:
    """A note that is expected, or one section or some lines of it."""

    file: str  # vault-relative
    heading: str | None = None
    lines: tuple[int, int] | None = None  # first and last of the file, from 1
    grade: int = 1  # from 1 up: how good an answer it is
    section: tuple[int, int] | None = None  # the lines of `heading`, once it was found

    @property
    def named(self) -> str:
        """`note.md`, `note.md#Heading` or `note.md:10-20`."""
        if self.heading is not None:
            return f"{self.file}#{self.heading}"
        return f"{self.file}:{self.lines[0]}-{self.lines[1]}" if self.lines else self.file

    def holds(self, chunk: Chunk) -> bool:
        """Whether a chunk is of this note, and shares a line with the section and the lines."""
        return chunk.note == self.file and all(
            first <= chunk.end_line and chunk.start_line <= last
            for first, last in filter(None, (self.lines, self.section))
        )


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    query: str
    expected: tuple[Target, ...]  # empty only where `must_not` is all there is to check
    must_not: tuple[Target, ...] = ()  # none of them may be among the first `expected_top_k` hits
    expected_top_k: int = EXPECTED_TOP_K
    filters: Mapping[str, Json] = field(default_factory=dict)
    tags: tuple[str, ...] = ()  # the groups it is counted in
    notes: str = ""
    syntax: bool = False  # read operators in the query, as `cortex search` does
    as_of: str = ""  # the day it is asked for, YYYY-MM-DD; empty is today


@dataclass(frozen=True, slots=True)
class CaseSet:
    """The cases of one source, in its order."""

    cases: tuple[Case, ...]
    source: str  # the file they were read from
    remarks: tuple[str, ...] = ()  # what was left out, and why


def sample_cases() -> CaseSet:
    """The cases that belong to the sample vault."""
    return read_cases(Path(__file__).parent / "sample_cases.yaml")


# Cases in YAML


def read_cases(path: Path) -> CaseSet:
    """A YAML file of cases: a list, or a mapping with `cases`.

    Raises UsageError that names the file and all that is wrong in it.
    """
    faults: list[str] = []
    cases = [
        case
        for number, given in enumerate(_listed(path), 1)
        if (case := _case(given, f"case {number}", faults))
    ]
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            faults.append(f"two cases have the id {brief(case.id)!r}")
        seen.add(case.id)
    if faults:
        raise UsageError(f"{path}: {told(faults)}")
    return CaseSet(tuple(cases), str(path))


def _listed(path: Path) -> list[Any]:
    import yaml

    if path.suffix == ".jsonl":
        raise UsageError(f"{path} is no YAML; give it as --queries, and the judgements as --qrels")
    try:
        document = yaml.load(read_text(path), Loader=_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or "it cannot be parsed"
        raise UsageError(f"{path} is not YAML{where}: {why}") from None
    except RecursionError:
        raise UsageError(f"{path} is not YAML that can be read: nested too deep") from None
    if isinstance(document, dict):
        unknown = [str(key) for key in document if key != "cases"]
        if "cases" not in document or unknown:
            what = f"has {brief(unknown[0])!r}" if unknown else "is empty"
            raise UsageError(f"{path} {what}; give a list of cases, or a mapping with `cases`")
        document = document["cases"]
    if document in (None, "", []):
        raise UsageError(f"{path} holds no cases; to draft some, run: cortex search-eval init")
    if not isinstance(document, list):
        raise UsageError(f"{path} holds no list of cases but {brief(repr(document))}")
    return document


@cache
def _loader() -> Any:
    """Reads YAML as text alone, or `id: 007` and `query: 12:30` would not be what was written."""
    import yaml

    class Loader(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            """A key that stands twice is refused: of two cases run together one would be lost."""
            seen: set[str] = set()
            for key, _ in node.value:
                if isinstance(key.value, str) and key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"{brief(key.value)!r} stands there twice", key.start_mark
                    )
                seen.add(str(key.value))
            return super().construct_mapping(node, deep)

    return Loader


_FIELDS = (
    *("id", "query", "expected_files", "expected", "expected_top_k", "top_k", "must_not"),
    *("filters", "tags", "notes", "syntax", "as_of"),
)
_TARGET_FIELDS = ("file", "heading", "lines", "grade")


def _case(given: Any, where: str, faults: list[str]) -> Case | None:
    """One case; None if it cannot be read, which is then told in `faults`."""
    if not isinstance(given, dict):
        faults.append(f"{where} must be a mapping with id, query and expected_files")
        return None
    values = {str(key): value for key, value in given.items() if value not in ("", "null", "~")}
    known = len(faults)
    name = values.get("id")
    if not isinstance(name, str) or not name.strip():
        faults.append(f"{where} has no id")
        name = ""
    else:
        where = f"case {brief(name)!r}"
    for key in values:
        if key not in _FIELDS:
            near = nearest(key, _FIELDS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_FIELDS)}"
            faults.append(f"{where}: no case has {brief(key)!r}; {hint}")
    query = values.get("query")
    if not isinstance(query, str) or not query.strip():
        faults.append(f"{where} has no query")
    keys = [key for key in ("expected_files", "expected") if key in given]
    if len(keys) > 1:
        faults.append(f"{where}: expected_files and expected are the same; give one")
    expected = _targets(values.get(keys[0]) if keys else None, f"{where}, expected", faults)
    must_not = _targets(values.get("must_not"), f"{where}, must_not", faults)
    if not expected and len(faults) == known and (keys or not must_not):
        faults.append(f"{where} expects no file; name at least one in expected_files")
    tags = values.get("tags", [])
    tags = [tags] if isinstance(tags, str) else tags
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        faults.append(f"{where}: tags must be a word or a list of words")
        tags = []
    filters = values.get("filters", {})
    try:
        Filters.parse(filters, A_DAY)
    except UsageError as error:
        faults.append(f"{where}: {error}")
    as_of = str(values.get("as_of", ""))
    try:
        day_asked(as_of or A_DAY, A_DAY)
    except UsageError as error:
        faults.append(f"{where}: {error}")
    syntax = str(values.get("syntax", "false")).casefold()
    if syntax not in ("true", "false", "yes", "no"):
        faults.append(f"{where}: syntax must be true or false, not {brief(syntax)!r}")
    top_k = _whole(
        values.get("expected_top_k", values.get("top_k", str(EXPECTED_TOP_K))),
        f"{where}: expected_top_k",
        faults,
    )
    if len(faults) > known:
        return None
    return Case(
        id=name,
        query=str(query),
        expected=tuple(expected),
        must_not=tuple(must_not),
        expected_top_k=top_k,
        filters=filters,
        tags=tuple(dict.fromkeys(tags)),
        notes=str(values.get("notes", "")),
        syntax=syntax in ("true", "yes"),
        as_of=as_of,
    )


def _targets(given: Any, where: str, faults: list[str]) -> list[Target]:
    if given is None:
        return []
    found: list[Target] = []
    for item in given if isinstance(given, list) else [given]:
        if isinstance(item, str) and item.strip():
            found.append(_short(item.strip(), where, faults))
        elif isinstance(item, dict) and isinstance(item.get("file"), str) and item["file"].strip():
            unknown = [str(key) for key in item if key not in _TARGET_FIELDS]
            if unknown:
                faults.append(
                    f"{where}: no file has {brief(unknown[0])!r}; there are heading, lines, grade"
                )
            lines = _line_range(item.get("lines"), where, faults)
            grade = _whole(item.get("grade", "1"), f"{where}: grade", faults, MAX_GRADE)
            heading = item.get("heading")
            if heading is not None and (not isinstance(heading, str) or not heading.strip()):
                faults.append(f"{where}: heading must be the text of a heading")
                heading = None
            found.append(Target(item["file"].strip(), heading, lines, grade))
        else:
            faults.append(f"{where}: give the path of a note, not {brief(repr(item))}")
    return once_each(found)


def once_each(targets: Iterable[Target]) -> list[Target]:
    """Each target once, with the best grade that it was given."""
    found: dict[str, Target] = {}
    for target in targets:
        first = found.setdefault(target.named, target)
        if target.grade > first.grade:
            found[target.named] = replace(first, grade=target.grade)
    return list(found.values())


_WITH_HEADING = re.compile(r"(.+?\.md)#(.+)", re.IGNORECASE | re.DOTALL)
_WITH_LINES = re.compile(r"(.+?\.md):(\d{1,9}(?:-\d{1,9})?)", re.IGNORECASE | re.DOTALL)


def _short(text: str, where: str, faults: list[str]) -> Target:
    """A target as one text: `note.md`, `note.md#Heading`, `note.md:10-20`."""
    if match := _WITH_LINES.fullmatch(text):
        return Target(match[1], lines=_line_range(match[2], where, faults))
    if match := _WITH_HEADING.fullmatch(text):
        return Target(match[1], heading=match[2])
    return Target(text)


def _line_range(given: Any, where: str, faults: list[str]) -> tuple[int, int] | None:
    """`10`, `10-20` or `[10, 20]`."""
    if given is None:
        return None
    parts = given if isinstance(given, list) else str(given).split("-")
    try:
        numbers = [int(part) for part in parts]
    except (TypeError, ValueError):
        numbers = []
    if not 1 <= len(numbers) <= 2 or not 1 <= numbers[0] <= numbers[-1]:
        faults.append(f"{where}: lines must be a range such as 10-20, not {brief(repr(given))}")
        return None
    return numbers[0], numbers[-1]


def _whole(given: Any, what: str, faults: list[str], high: int = 10_000) -> int:
    """A whole number from 1 to `high`; 1 where it is none, which is then told."""
    text = str(given).strip()
    if text.isascii() and text.isdigit() and 1 <= int(text) <= high:
        return int(text)
    faults.append(f"{what} must be a whole number from 1 to {high:,}, not {brief(repr(given))}")
    return 1


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def told(faults: Collection[str]) -> str:
    """Faults in a line; of many the first few."""
    listed = list(faults)
    more = len(listed) - _FAULTS_TOLD
    return "; ".join(listed[:_FAULTS_TOLD]) + (f"; and {more:,} more" if more > 0 else "")
