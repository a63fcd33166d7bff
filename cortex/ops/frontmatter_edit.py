"""Changing properties in a note's text: nothing else moves, not a comment, quote or line end."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..types import Json
from ..vault.frontmatter import HeaderHandler, split

BOM = b"\xef\xbb\xbf"
Value = str | int | float | bool | dt.date | list[str]


class NotEditable(ValueError):
    """The properties cannot be changed as text; the message says why, and the line if known."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be different: properties to set, in this order, and to take out."""

    put: Mapping[str, Value]
    drop: tuple[str, ...] = ()


def edited(data: bytes, change: Change) -> bytes:
    """The bytes of a note with its properties changed.

    A property that is there keeps its place and the spelling of its name; one that already has
    the value is not touched; a new one goes to the end of the block. A note without a block gets
    one. Names count without regard to case, "-" and "_". Raises NotEditable for text that is not
    UTF-8, properties that are not valid YAML, stand twice or in one pair of braces, and whenever
    what comes out would not read back as exactly what was wanted.
    """
    mark = BOM if data.startswith(BOM) else b""
    try:
        text = data[len(mark) :].decode("utf-8")
    except UnicodeDecodeError:
        raise NotEditable("the file is not UTF-8") from None
    changed = _with_block(text, change)
    _check(text, changed, change)
    return mark + changed.encode("utf-8")


def check_header(text: str) -> None:
    """Raises NotEditable if a note's properties are not sound enough to be changed."""
    header = split(text)
    for problem in header.problems:
        where = f"line {problem.line}: " if problem.line else ""
        raise NotEditable(f"{where}{problem.message}")
    # A block that is no mapping is body to a reader; to put another in front would be a second.
    if not header.body_start and HeaderHandler.FM_BOUNDARY.match(text):
        raise NotEditable("line 1: the note begins with --- but no properties follow")


def same_name(one: str, other: str) -> bool:
    return _folded(one) == _folded(other)


def value_of(values: Mapping[str, Json], name: str) -> Json:
    """The value of a property however its name is spelled; None if it is absent."""
    return next((value for key, value in values.items() if same_name(key, name)), None)


def as_yaml(value: Value) -> str:
    """A value on one line, as every reader of YAML understands it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, str):
        return _scalar(value)
    return str(value)


# Words that some reader of YAML takes for something else than text.
_NOT_TEXT = re.compile(r"(?:null|true|false|yes|no|on|off|y|n|nan|inf)", re.IGNORECASE)
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./-]*[\w./-])?")


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and not _NOT_TEXT.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=False)


def _with_block(text: str, change: Change) -> str:
    check_header(text)
    opened = HeaderHandler.FM_BOUNDARY.match(text)
    if opened is None:
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = ["---", *(f"{key}: {as_yaml(value)}" for key, value in change.put.items()), "---"]
        return "".join(line + newline for line in lines) + text
    newline = opened[0].lstrip("- \t")
    block, body = HeaderHandler().split(text)
    closing = text[opened.end() + len(block) : len(text) - len(body)]
    return opened[0] + _changed(block, change, newline) + closing + body


@dataclass(frozen=True, slots=True)
class _Entry:
    """One property in the block. Offsets in the block."""

    name: str
    start: int  # of its key
    colon: int  # behind the colon
    value: int  # where the value starts
    end: int  # where it ends; equal to `colon` if it is empty
    is_block_list: bool


def _changed(block: str, change: Change, newline: str) -> str:
    entries = _entries(block)
    indent = " " * (entries[0].start - _line_start(block, entries[0].start)) if entries else ""
    put = dict(change.put)
    pieces: list[str] = []
    done = 0
    for entry in entries:
        wanted = next((key for key in put if same_name(key, entry.name)), None)
        if wanted is not None:
            value = put.pop(wanted)
            at = entry.colon if entry.end <= entry.colon else entry.value
            pieces += [block[done:at], _replaced(block, entry, value, newline)]
            done = max(at, entry.end)
        elif any(same_name(name, entry.name) for name in change.drop):
            start = _line_start(block, entry.start)
            pieces.append(block[done:start])
            done = _next_line(block, entry.end)
    pieces.append(block[done:])
    kept = "".join(pieces)
    if put and kept and not kept.endswith(("\n", "\r")):
        kept += newline
    return kept + "".join(f"{indent}{k}: {as_yaml(v)}{newline}" for k, v in put.items())


def _replaced(block: str, entry: _Entry, value: Value, newline: str) -> str:
    """The value as text in the place of the old one; what is equal stays as it is written."""
    old = block[entry.value : entry.end]
    if _reads_as(old, value):
        return old if entry.end > entry.colon else ""
    if entry.end <= entry.colon:
        return f" {as_yaml(value)}"
    if isinstance(value, list) and entry.is_block_list and value:
        column = entry.value - _line_start(block, entry.value)
        return f"{newline}{' ' * column}".join(f"- {_scalar(item)}" for item in value)
    return as_yaml(value)


def _reads_as(written: str, value: Value) -> bool:
    if not written.strip():
        return False
    return bool(_json(split(f"---\nx: {written}\n---\n").values.get("x")) == _json(value))


def _entries(block: str) -> list[_Entry]:
    """The top-level properties, in order."""
    import yaml

    try:
        node = yaml.compose(block, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 2}: " if mark else ""
        raise NotEditable(f"{where}the properties are not valid YAML") from None
    if node is None:
        return []
    if not isinstance(node, yaml.MappingNode):
        raise NotEditable("line 2: the properties are no list of `name: value`")
    if node.flow_style:
        raise NotEditable("line 2: the properties stand in braces; write one a line, name: value")
    entries = []
    for key, value in node.value:
        key_end = key.end_mark.index
        colon = re.compile(r"[ \t]*:").match(block, key_end)
        if colon is None or not isinstance(key, yaml.ScalarNode):
            line = key.start_mark.line + 2
            raise NotEditable(f"line {line}: a name is written in a way that is not changed")
        _check_order(value, key_end)
        end = max(_end(value, block), colon.end())
        is_list = isinstance(value, yaml.SequenceNode)
        entries.append(
            _Entry(
                name=key.value,
                start=key.start_mark.index,
                colon=colon.end(),
                value=max(value.start_mark.index, colon.end()),
                end=end,
                is_block_list=is_list and not value.flow_style,
            )
        )
    return entries


def _end(node: object, source: str) -> int:
    """Where what is written of a value ends, without the blanks and comments behind it."""
    import yaml

    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        if isinstance(last, tuple):
            key, value = last
            return max(_end(value, source), _end(key, source))
        return _end(last, source)
    assert isinstance(node, yaml.Node)
    start, end = node.start_mark.index, node.end_mark.index
    return start + len(source[start:end].rstrip())


def _check_order(node: object, start: int) -> None:
    """Raises NotEditable for what an alias brings from elsewhere: its marks are not of here."""
    import yaml

    assert isinstance(node, yaml.Node)
    if node.start_mark.index < start:
        line = node.start_mark.line + 2
        raise NotEditable(f"line {line}: what stands here is repeated by an alias, write it out")
    if isinstance(node, yaml.CollectionNode) and node.value:
        last = node.value[-1]
        _check_order(last[1] if isinstance(last, tuple) else last, node.start_mark.index)


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _next_line(text: str, at: int) -> int:
    match = re.compile(r"\r\n|\n|\r").search(text, at)
    return match.end() if match else len(text)


def _check(before: str, after: str, change: Change) -> None:
    """Raises NotEditable unless `after` reads as `before` with the change, and the same body."""
    old, new = split(before), split(after)
    dropped = [*change.drop, *change.put]
    kept = {k: v for k, v in old.values.items() if not _is_one_of(k, dropped)}
    still = {k: v for k, v in new.values.items() if not _is_one_of(k, dropped)}
    is_put = all(_json(value_of(new.values, k)) == _json(v) for k, v in change.put.items())
    put_names = list(change.put)
    is_dropped = not any(
        _is_one_of(key, change.drop) and not _is_one_of(key, put_names) for key in new.values
    )
    same_body = before[old.body_start :] == after[new.body_start :]
    if new.problems or kept != still or not is_put or not is_dropped or not same_body:
        raise NotEditable("the properties are written in a way that is not changed safely")


def _is_one_of(key: str, names: Iterable[str]) -> bool:
    return any(same_name(key, name) for name in names)


def _json(value: Json) -> Json:
    return value.isoformat() if isinstance(value, dt.date) else value


def _folded(key: str) -> str:
    return key.casefold().replace("_", "").replace("-", "").replace(" ", "")
