"""Whether a note begins with a block of properties that is YAML; what is wrong with it, and where.

Codes: missing_frontmatter, frontmatter_not_mapping, yaml_parse_error; all are errors.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import yaml

from ..text import brief, line_starts
from ..types import Problem
from ..vault.frontmatter import Header, HeaderHandler, split
from ..vault.note_schema import REQUIRED, folder_type
from .issue import Issue

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

# What to write for a property that is not there; the type goes by the folder.
STARTERS = {
    "status": "active",
    "tags": "[]",
    "confidence": "medium",
    "importance": "medium",
    "stability": "evolving",
}


def starter(name: str, path: str) -> str:
    """A line for a property that is missing, as it may stand in the note at `path`."""
    return f"{name}: {STARTERS.get(name) or folder_type(path) or 'note'}"


def read_block(path: str, text: str) -> tuple[Header | None, list[Issue]]:
    """The header of a note's text, if its values can be relied on; what is wrong with the block.

    text: as text.decode gives it, without a byte order mark. None: there is no block, or it is no
    mapping, or YAML does not read it. An unfilled placeholder and a key that is there twice are
    errors that leave the other values as they are.
    """
    opened = HeaderHandler.FM_BOUNDARY.match(text)
    if opened is None:
        return None, [_missing(path, text)]
    header = split(text)
    if not header.body_start:
        return None, [_not_a_header(path, text, header)]
    block = text[opened.end() : header.body_start]
    lines = _Lines(text)
    issues = [_told(problem, lines) for problem in header.problems if problem.code in _SYNTAX]
    known = {issue.line for issue in issues}
    others = (*_control_characters(block), *_placeholders(block, lines))
    issues += [issue for issue in others if issue.line not in known]
    is_read = not any(problem.code == "yaml_parse_error" for problem in header.problems)
    return (header if is_read else None), issues


# What frontmatter.split says of a block that other readers of YAML refuse as a whole.
_SYNTAX = ("yaml_parse_error", "duplicate_key", "unknown_tag", "value_too_large")
_KEY_LINE = r"[A-Za-z_][\w\-]{0,40}[ \t]*:(?=[ \t\r\n])"
_EOL = r"[ \t]*(?:\r\n|\n|\r)"
_TOO_LATE = re.compile(rf"(?:\A|(?<=[\r\n]))---{_EOL}(?={_KEY_LINE})")
_OTHER_FENCE = re.compile(rf"\A(?:[ \t]+---|--|-{{4,}}|[\u2013\u2014]-?){_EOL}(?={_KEY_LINE})")
_SEARCHED = 2000  # characters in which a block that begins too late is looked for
_PART_OF_BLOCK = re.compile(rf"{_KEY_LINE}|[ \t]+\S|-[ \t]|#[^#\s]|[\]}}]")


def _missing(path: str, text: str) -> Issue:
    if late := _TOO_LATE.search(text[:_SEARCHED]):
        line = len(line_starts(text[: late.start()]))
        message = f"the properties begin on line {line}; they count only from the first line on"
        is_blank = not text[: late.start()].strip()
        remedy = "remove the empty lines above them" if is_blank else "move them to the top"
        return _error("missing_frontmatter", message, line, remedy)
    if _OTHER_FENCE.match(text):
        message = "the first line is not three dashes alone, so the properties below do not count"
        return _error("missing_frontmatter", message, 1, "make the first line ---")
    if text.startswith("+++"):
        message = "the properties are TOML between lines of +++, which is not read"
        return _error("missing_frontmatter", message, 1, "write them as YAML between lines of ---")
    wanted = ["---", *(starter(name, path) for name in REQUIRED), "domain: …", "---"]
    remedy = "\n".join(["begin the note with these lines:", *wanted])
    return _error("missing_frontmatter", "the note has no properties at its top", 1, remedy)


def _not_a_header(path: str, text: str, header: Header) -> Issue:
    """What is wrong where the first line is three dashes and no header was found."""
    try:
        block, _ = HeaderHandler().split(text)
    except ValueError:
        if not header.problems:
            return _missing(path, text)
        lines = re.split(r"\r\n|\n|\r", text)
        last = 1
        while last < len(lines) and _PART_OF_BLOCK.match(lines[last] + "\n"):
            last += 1
        message = "the properties have no closing line, so none of them counts"
        remedy = f"write --- on a line of its own below line {last}"
        return _error("missing_frontmatter", message, 1, remedy)
    try:
        for _ in yaml.parse(block, Loader=_Loader):
            pass
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = min(getattr(mark, "line", 0), block.count("\n")) + 2
        message = "the block at the top is not valid YAML, and is read as text"
        return _error("yaml_parse_error", message, line, _AS_PROPERTIES)
    message = "the block at the top holds no properties, and is read as text"
    return _error("frontmatter_not_mapping", message, 1, _AS_PROPERTIES)


_AS_PROPERTIES = "write properties as `key: value`, or put an empty line above the first ---"


class _Lines:
    """The lines of a text by number, cut when they are first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: Sequence[int] = ()

    def at(self, number: int) -> str:
        self._starts = self._starts or line_starts(self.text)
        if not 1 <= number <= len(self._starts):
            return ""
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end].rstrip()


_NAMED = re.compile(r"'([^']+)' (?:is not valid YAML|stands here|is left out)")


def _told(problem: Problem, lines: _Lines) -> Issue:
    """A problem of the reader as an issue: what is wrong apart from what to do."""
    if problem.code == "unknown_tag":
        what, remedy = problem.message.split(", its value")[0], "put it in quotes if it is text"
    else:
        what, _, remedy = re.sub(" YAML: ", " YAML; ", problem.message).partition("; ")
    line = problem.line or 1
    written = lines.at(line)
    if problem.code == "duplicate_key":
        remedy = f"remove line {line}, or the earlier one; the last value counts"
    elif "no blank after" in what:
        remedy = re.sub(r":(?!\s|//)", ": ", written, count=1)
    elif problem.code == "unknown_tag" or "quotes" in remedy or "placeholder" in remedy:
        remedy = _in_quotes(written) or remedy
    named = _NAMED.match(problem.message)
    return Issue(
        "error", "yaml_parse_error", what, named[1] if named else None, line, brief(remedy, 200)
    )


_VALUE = re.compile(r"([ \t]*(?:-[ \t]+)*(?:[^\s#\"'\[{:-][^:#]{0,80}:[ \t]+)?)(\S.*)")


def _in_quotes(line: str) -> str | None:
    """A line of a header with its value in quotes; None unless YAML then takes it for one text."""
    if (match := _VALUE.fullmatch(line)) is None:
        return None
    value = match[2]
    if value[0] in "'\"":
        value = value.strip("'\"")
    if value[:1] in "[{" and not value.startswith("{{"):
        return None
    quoted = f"'{value}'" if '"' in value and "'" not in value else json.dumps(value)
    if not value.isascii() and quoted[0] == '"':
        quoted = json.dumps(value, ensure_ascii=False)
    written = f"{match[1]}{quoted}"
    try:
        events = [type(event) for event in yaml.parse(written, Loader=_Loader)]
    except yaml.YAMLError:
        return None
    is_one = events.count(yaml.ScalarEvent) == (2 if match[1].strip(" \t-") else 1)
    return written.strip() if is_one else None


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")


def _control_characters(block: str) -> Iterator[Issue]:
    """Characters that YAML forbids, which the reader takes for blanks; the first on each line."""
    told = set()
    for match in _CONTROL.finditer(block):
        line = len(line_starts(block[: match.start()])) + 1
        if line not in told:
            told.add(line)
            message = f"a control character (U+{ord(match[0]):04X}) stands in the properties"
            yield _error("yaml_parse_error", message, line, "remove it")


def _placeholders(block: str, lines: _Lines) -> Iterator[Issue]:
    """The placeholders of templates without quotes, such as `created: {{date}}`."""
    if "{{" not in block:
        return
    starts = line_starts(block)
    try:
        for event in yaml.parse(block[: _end_of(block)], Loader=_Loader):
            if isinstance(event, yaml.MappingStartEvent) and event.flow_style:
                at = event.start_mark.index if event.start_mark else -1
                if at >= 0 and block.startswith("{{", at):
                    line = bisect_right(starts, at) + 1
                    message = (
                        "a placeholder without quotes is a mapping in YAML; other readers lose all "
                        "properties of this note"
                    )
                    remedy = _in_quotes(lines.at(line)) or "put it in quotes"
                    yield _error("yaml_parse_error", message, line, brief(remedy, 200))
    except yaml.YAMLError:  # the reader has told of it
        return


def _end_of(block: str) -> int:
    """Where the line that closes a block begins."""
    starts = [start for start in line_starts(block) if start < len(block)]
    return starts[-1] if starts else 0


def _error(code: str, message: str, line: int, suggestion: str) -> Issue:
    return Issue("error", code, message, None, line, suggestion)
