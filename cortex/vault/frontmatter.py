"""The YAML header of a note: JSON-safe values, and the tags, links, dates and ratings in them."""

from __future__ import annotations

import calendar
import datetime as dt
import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import yaml
from frontmatter.default_handlers import YAMLHandler

from ..redaction import Finding, governing, secret_kind
from ..text import decode, line_starts
from ..types import Json, Link, Problem

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

HEAD_BYTES = 16_384  # of a file, in which its properties stand


@dataclass(frozen=True, slots=True)
class Header:
    values: dict[str, Json]  # what is absent stays absent; an empty value is None
    body_start: int  # offset after the line end of the closing line; 0 without a header
    problems: tuple[Problem, ...] = ()
    key_lines: dict[str, int] = field(default_factory=dict)  # top-level key -> line in the file


def values_in(head: bytes) -> Mapping[str, Json]:
    """The properties of a note, out of the first HEAD_BYTES of its file. Raises Undecodable."""
    if len(head) == HEAD_BYTES:
        head = head[: head.rfind(b"\n") + 1]  # no half of a letter at its end
    return split(decode(head)[0]).values


def split(text: str) -> Header:
    """The header of a note's text, and where the body begins; never raises for its content.

    A header is a first line of three dashes, a mapping, and a line of three dashes or dots;
    either line may end in blanks. A block between two rules that is no mapping is body, and so
    is one that a heading begins and whose keys are all phrases: that is prose with a colon.

    YAML that does not parse is still a header if its first line has the form `key: ...` or most
    of its lines have. Then each top-level key is read on its own: as YAML, else a list or a
    value in brackets item by item, else the text as written. What failed is a problem, and so is
    a line that is not indented and begins no key: it belongs to no value.
    """
    handler = HeaderHandler()
    if not handler.detect(text):
        return Header({}, 0)
    try:
        block, body = handler.split(text)
    except ValueError:
        first_lines = text[text.index("---") + 3 :].lstrip()[:200]
        if not _PLAIN_KEY.match(first_lines):
            return Header({}, 0)
        problem = Problem(
            "frontmatter_not_closed",
            "the properties have no closing line; write --- on a line of its own below them",
            1,
        )
        return Header({}, 0, (problem,))
    try:
        values = handler.load(block)
    except NotAHeader:
        return Header({}, 0)
    problems = tuple(handler.problems[:_MAX_PROBLEMS])
    return Header(values, len(text) - len(body), problems, handler.key_lines)


def secret_spans(text: str) -> list[Finding]:
    """Where in a note's text the properties hold secrets, told by their names, at any depth."""
    handler = HeaderHandler()
    opened = handler.FM_BOUNDARY.match(text)
    if opened is None:
        return []
    try:
        block, _ = handler.split(text)
    except ValueError:
        return []
    at = opened.end()
    found = _Reading(block.translate(_NOT_IN_YAML)).secrets()
    return [Finding(at + start, at + end, kind) for start, end, kind in found]


_MAX_PROBLEMS = 20  # a note; more say nothing new


class NotAHeader(ValueError):
    """The block between two rules is body."""


class HeaderHandler(YAMLHandler):
    """python-frontmatter's YAML, cut at whole lines and read as text before anything else.

    One handler reads one note: after `load`, `problems` and `key_lines` tell what it met.
    """

    FM_BOUNDARY = re.compile(r"---[ \t]*(?:\r\n|\n|\r)")

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[Problem] = []
        self.key_lines: dict[str, int] = {}

    def split(self, text: str) -> tuple[str, str]:
        """Header and body, without the lines that enclose the header. ValueError if not closed."""
        opened = self.FM_BOUNDARY.match(text)
        if opened is None:
            raise ValueError("no frontmatter")
        # From the line end on: the closing line may follow at once.
        closed = _CLOSING.search(text, opened.end() - 1)
        if closed is None:
            raise ValueError("frontmatter is not closed")
        return text[opened.end() : max(opened.end(), closed.start() + 1)], text[closed.end() :]

    def load(self, fm: str, **_: object) -> dict[str, Json]:
        """The values. Raises NotAHeader."""
        block = fm.translate(_NOT_IN_YAML)
        if not block.strip():
            return {}
        reading = _Reading(block)
        try:
            node = reading.compose(block)
        except _YAML_ERRORS as error:
            if not _looks_like_header(block, _ANY_KEY):
                raise NotAHeader from error
            values = reading.salvage(_ANY_KEY, error)
        else:
            if isinstance(node, yaml.MappingNode) and not reading.is_placeholder(node):
                values = reading.mapping(node)
            elif isinstance(node, yaml.ScalarNode) and _all_lines_have_keys(block):
                values = reading.salvage(_TIGHT_KEY, None)
            else:
                raise NotAHeader
            if _is_prose(block, values):
                raise NotAHeader
        self.problems, self.key_lines = reading.problems, reading.key_lines
        return values


_CLOSING = re.compile(r"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
# YAML allows no control characters; it takes other separators for line ends, which Markdown
# does not. One character becomes one, so offsets stay.
_NOT_IN_YAML: dict[int, str] = {
    **dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0)), " "),
    **dict.fromkeys((0x2028, 0x2029), " "),
    **dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\ufffd"),
}
_YAML_ERRORS = (yaml.YAMLError, RecursionError)

# A top-level key: `word:`, a phrase, or a quoted text, then a blank.
_KEY = r"""(?:"[^"\r\n]{1,80}"|'[^'\r\n]{1,80}'|[^\s#?:,\[\]{}&*!|>@`"'\-][^:\r\n]{0,80}?)"""
_ANY_KEY = re.compile(rf"({_KEY})[ \t]*:(?=[ \t\r\n]|\Z)")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w\-]{0,40}[ \t]*:(?=[ \t\r\n])")
_TIGHT_KEY = re.compile(r"([A-Za-z_][\w\-]{0,40})[ \t]*:(?!//)")
# No part of the value above it: not indented, no list item, no comment.
_LOOSE_LINE = re.compile(r"(?<=[\r\n])(?!-[ \t\r\n]|#)\S")


def _top_lines(block: str) -> list[str]:
    """The lines that begin a key, if they are in order: not indented, no list item, no comment."""
    lines = re.split(r"\r\n|\n|\r", block)
    return [line for line in lines if line.strip() and line[0] not in " \t#-"]


def _looks_like_header(block: str, key: re.Pattern[str]) -> bool:
    lines = _top_lines(block)
    if not lines:
        return False
    keyed = sum(1 for line in lines if _PLAIN_KEY.match(line + "\n"))
    return key.match(lines[0]) is not None or keyed * 2 > len(lines)


def _all_lines_have_keys(block: str) -> bool:
    """Whether a block that YAML takes for one text is `key:value` with the blank forgotten."""
    lines = _top_lines(block)
    is_tight = bool(lines) and all(map(_TIGHT_KEY.match, lines))
    return is_tight and len(lines) == len(block.split("\n")) - 1


def _is_prose(block: str, values: Mapping[str, Json]) -> bool:
    return block.lstrip().startswith("#") and all(" " in key for key in values)


class _Loader(_SafeLoader):
    """Composes nodes and constructs nothing; plain scalars are told apart from quoted ones.

    Raises RecursionError for what is nested too deep: libyaml's own composer calls itself without
    a limit, until the process dies.
    """

    _depth = 0

    def descend_resolver(self, node: yaml.Node | None, index: Any) -> None:
        self._depth += 1
        if self._depth > _MAX_COMPOSED:
            raise RecursionError

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: type[yaml.Node], value: str, implicit: Any) -> str:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _STR
        return _SEQ if kind is yaml.SequenceNode else _MAP


_YAML = "tag:yaml.org,2002:"
_PLAIN, _STR, _SEQ, _MAP = "plain", _YAML + "str", _YAML + "seq", _YAML + "map"
# Tags that mean a type JSON has, or one whose text or list is its value.
_RETYPED = {_YAML + name for name in ("null", "bool", "int", "float")}
_KNOWN = {_PLAIN, _STR, _SEQ, _MAP, *_RETYPED} | {
    _YAML + name for name in ("timestamp", "binary", "set", "omap", "pairs", "merge")
}

_MAX_DEPTH = 32
_MAX_COMPOSED = 100  # levels; one costs some 500 bytes of a stack that may be 512 kB
_MAX_MET = 100_000  # lists and mappings that are searched for secrets in one note
_MAX_REPEATED = 100_000  # values and characters that aliases may add to one note


class _Unusable(Exception):
    """A value that cannot become JSON of bounded size."""


class _Reading:
    """One header being read: nodes become values, oddities become problems."""

    def __init__(self, block: str) -> None:
        self.block = block
        self.problems: list[Problem] = []
        self.key_lines: dict[str, int] = {}
        self._starts: list[int] | None = None
        self._offset = 0  # of the piece being read in the block
        self._has_aliases = "*" in block
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._met: set[tuple[int, str, str]] = set()
        self._repeated = 0

    def compose(self, source: str) -> yaml.Node | None:
        loader = _Loader(source)
        try:
            node: yaml.Node | None = loader.get_single_node()
            return node
        finally:
            loader.dispose()

    def line(self, offset: int) -> int:
        """The line in the file of an offset in the block; the header's first line is line 2."""
        if self._starts is None:
            self._starts = line_starts(self.block)
        return bisect_right(self._starts, offset) + 1

    def report(self, code: str, message: str, offset: int) -> None:
        self.problems.append(Problem(code, message, self.line(offset)))

    def is_placeholder(self, node: yaml.Node) -> bool:
        """Whether YAML takes a template's `{{date}}` for a mapping in a mapping."""
        is_flow = isinstance(node, yaml.CollectionNode) and node.flow_style
        return bool(is_flow) and self.block.startswith("{{", self._at(node))

    def mapping(self, node: yaml.MappingNode) -> dict[str, Json]:
        """The top level, key by key: one bad value costs only its own key."""
        values: dict[str, Json] = {}
        try:
            pairs = list(self._pairs(node, 0))
        except _Unusable as error:
            self.report("value_too_large", f"'<<' is left out: {error}", self._at(node))
            pairs = node.value
        for key_node, value_node in pairs:
            key = self._key(key_node)
            self._check_duplicate(key, values, key_node)
            self.key_lines[key] = self.line(self._at(key_node))
            try:
                values[key] = self.value(value_node, 1)
            except _Unusable as error:
                self.report("value_too_large", f"{key!r} is left out: {error}", self._at(key_node))
        return values

    def value(self, node: yaml.Node, depth: int) -> Json:
        if self._has_aliases:
            self._count(node)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if depth > _MAX_DEPTH:
            raise _Unusable(f"it is nested more than {_MAX_DEPTH} levels deep")
        if node.tag not in _KNOWN:
            self._report_tag(node)
        if self.is_placeholder(node):
            return self.source(node)
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                values: dict[str, Json] = {}
                for key_node, value_node in self._pairs(node, depth):
                    key = self._key(key_node)
                    self._check_duplicate(key, values, key_node)
                    values[key] = self.value(value_node, depth + 1)
                return values
            if _is_link(node) and _UNQUOTED_LINK.fullmatch(self.source(node)):
                return self.source(node)
            return [self.value(item, depth + 1) for item in node.value]
        finally:
            self._open.discard(id(node))

    def secrets(self) -> Iterator[Finding]:
        """The scalars that their names make secrets, as they are written."""
        try:
            node = self.compose(self.block)
        except _YAML_ERRORS:
            node = None
        if isinstance(node, yaml.MappingNode):
            yield from self._secrets(node, "", "", 0)
        else:
            yield from _secrets_of_lines(self.block)

    def _secrets(self, node: yaml.Node, above: str, own: str, depth: int) -> Iterator[Finding]:
        """above: the name that says what `node` holds. own: the nearest one."""
        if isinstance(node, yaml.ScalarNode):
            kind = secret_kind(above, node.value, inside=own != above)
            if kind is not None:
                start, end = self._at(node), node.end_mark.index
                yield Finding(start, start + len(self.block[start:end].rstrip()), kind)
            return
        # An alias brings what was met before, perhaps now under a name of a secret.
        met = (id(node), above, own)
        if depth > _MAX_COMPOSED or met in self._met or len(self._met) > _MAX_MET:
            return
        self._met.add(met)
        if isinstance(node, yaml.MappingNode):
            for key_node, value_node in node.value:
                key = self._key(key_node)
                yield from self._secrets(value_node, governing(above, key), key, depth + 1)
        elif not (_is_link(node) and _UNQUOTED_LINK.fullmatch(self.source(node))):
            for item in node.value:
                yield from self._secrets(item, above, own, depth + 1)

    def source(self, node: yaml.Node) -> str:
        """A node as it is written."""
        start, end = self._at(node), node.end_mark.index + self._offset
        return self.block[start:end].strip()

    def _at(self, node: yaml.Node) -> int:
        at: int = node.start_mark.index
        return at + self._offset

    def _pairs(self, node: yaml.MappingNode, depth: int) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """The pairs of a mapping; those it merges in (`<<: *other`) first, so its own win."""
        own = node.value
        if any(key.value == "<<" for key, _ in own):
            for key, value in own:
                if key.tag == _PLAIN and key.value == "<<":
                    for merged in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                        if isinstance(merged, yaml.MappingNode) and depth < _MAX_DEPTH:
                            self._count(merged)
                            own_keys = {k.value for k, _ in own if isinstance(k, yaml.ScalarNode)}
                            yield from (
                                pair
                                for pair in self._pairs(merged, depth + 1)
                                if pair[0].value not in own_keys
                            )
            own = [pair for pair in own if not (pair[0].tag == _PLAIN and pair[0].value == "<<")]
        yield from own

    def _key(self, node: yaml.Node) -> str:
        if isinstance(node, yaml.ScalarNode):
            key: str = node.value
            return key
        return self.source(node)

    def _check_duplicate(self, key: str, values: Mapping[str, Json], node: yaml.Node) -> None:
        if key in values:
            message = f"{key!r} stands here for the second time; the last value counts, remove one"
            self.report("duplicate_key", message, self._at(node))

    def _count(self, node: yaml.Node) -> None:
        """Bounds what aliases repeat: what is met a second time counts, and a circle ends it."""
        key = id(node)
        if key in self._open:
            raise _Unusable("it contains itself")
        if key not in self._seen:
            self._seen.add(key)
            return
        size = len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        self._repeated += 1 + size
        if self._repeated > _MAX_REPEATED:
            raise _Unusable("its aliases repeat too much; write the values out")

    def _scalar(self, node: yaml.ScalarNode) -> Json:
        text: str = node.value
        tag = node.tag
        if tag == _PLAIN or tag in _RETYPED:
            return _plain(text)
        if tag not in _KNOWN:
            self._report_tag(node)
            if tag.startswith("!"):
                return f"{tag} {text}".strip()  # a word that happens to begin with "!"
        return text

    def _report_tag(self, node: yaml.Node) -> None:
        tag = node.tag.replace(_YAML, "!!")
        self.report(
            "unknown_tag",
            f"{tag!r} is an unknown YAML tag, its value is kept as it is written; "
            "if it is text, put it in quotes",
            self._at(node),
        )

    def salvage(self, key: re.Pattern[str], error: Exception | None) -> dict[str, Json]:
        """What can be read of a header that is no valid YAML, one top-level key at a time."""
        values: dict[str, Json] = {}
        found = len(self.problems)
        first = next((start for start, _, _ in self._sections(key)), len(self.block))
        if _top_lines(self.block[:first]):
            message = "these lines belong to no key; write them as `key: value`"
            self.report("yaml_parse_error", message, 0)
        for start, match, end in self._sections(key):
            name = match[1].strip("\"'") if match[1][0] in "\"'" else match[1].rstrip()
            if name in values:
                message = f"{name!r} stands here for the second time; the last value counts"
                self.report("duplicate_key", message, start)
            self.key_lines[name] = self.line(start)
            if key is _TIGHT_KEY:
                values[name] = _plain(self.block[match.end() : end].strip())
            else:
                try:
                    values[name] = self._section(name, start, match.end(), end)
                except _Unusable as unusable:
                    self.report("value_too_large", f"{name!r} is left out: {unusable}", start)
        if len(self.problems) == found:
            mark = getattr(error, "problem_mark", None)
            what = getattr(error, "problem", None) or "the properties are not valid YAML"
            if key is _TIGHT_KEY:
                what = "there is no blank after the colons; write `key: value`"
            offset = min(getattr(mark, "index", 0), max(0, len(self.block.rstrip()) - 1))
            self.report("yaml_parse_error", f"{what}; check the indentation and quotes", offset)
        return values

    def _sections(self, key: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str], int]]:
        """Each top-level key: where its line starts, its match, and where its section ends."""
        heads = []
        for start in line_starts(self.block):
            match = key.match(self.block, start)
            if match:
                heads.append((start, match))
        ends = [start for start, _ in heads[1:]] + [len(self.block)]
        for (start, match), end in zip(heads, ends, strict=True):
            yield start, match, end

    def _section(self, name: str, start: int, value_start: int, end: int) -> Json:
        try:
            return self._parsed(self.block[start:end], start)
        except _YAML_ERRORS as error:
            loose = _LOOSE_LINE.search(self.block, value_start, end)
            if loose:
                message = "this line belongs to no key; write it as `key: value`"
                self.report("yaml_parse_error", message, loose.start())
                return self._section(name, start, value_start, loose.start())
            reason = _fix(self.block[value_start:end])
            mark = getattr(error, "problem_mark", None)
            at = start + min(getattr(mark, "index", 0), max(0, end - start - 1))
            while at > start and self.block[at] in " \t\r\n":
                at -= 1
            self.report("yaml_parse_error", f"{name!r} is not valid YAML: {reason}", at)
        rest = self.block[value_start:end]
        if "\t" in rest:
            try:
                return self._parsed(self.block[start:value_start] + rest.replace("\t", "  "), start)
            except _YAML_ERRORS:
                pass
        return self._as_written(rest)

    def _parsed(self, source: str, offset: int) -> Json:
        """The value of a section. Raises as compose and value do."""
        self._offset = offset
        try:
            node = self.compose(source)
            if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
                raise yaml.YAMLError("a key is expected")
            return self.value(node.value[0][1], 1)
        finally:
            self._offset = 0

    def _as_written(self, rest: str) -> Json:
        """A list line by line or in brackets, else the text, with its lines joined by a blank."""
        lines = [line for line in re.split(r"\r\n|\n|\r", rest) if not line.startswith("#")]
        lines = [line.strip() for line in lines]
        lines = [line for line in lines if line and not line.startswith("# ")]
        if lines and all(line.startswith("- ") for line in lines):
            return [self._item(line[2:]) for line in lines]
        text = " ".join(lines)
        inner = text[1:-1]
        if text[:1] == "[" and text[-1:] == "]" and not re.search(r"[\[\]{}\"']", inner):
            return [self._item(item) for item in inner.split(",") if item.strip()]
        return _unquoted(text)

    def _item(self, text: str) -> Json:
        text = text.strip()
        return _plain(text) if text[:1] not in ("'", '"') else _unquoted(text)


_KEY_LINE = re.compile(rf"([ \t]*(?:-[ \t]+)?)({_KEY})[ \t]*:(?=[ \t\r\n]|\Z)")
_MARKUP = re.compile(r"[\-|> \t]*(?:[&!]\S*[ \t]+)?")  # what stands before a value
_PIECE = re.compile(r"[^\s,\[\]{}\"'](?:[^,\[\]{}\"'\r\n]*[^\s,\[\]{}\"'])?")


def _secrets_of_lines(block: str) -> Iterator[Finding]:
    """The same for a header that is no YAML: what stands behind a name or deeper below it."""
    name, depth = "", 0
    starts = line_starts(block)
    for start, end in zip(starts, [*starts[1:], len(block)], strict=True):
        head = _KEY_LINE.match(block, start, end)
        indent = end - start - len(block[start:end].lstrip(" \t-"))
        if head is not None:
            above = name if indent > depth else ""
            name, depth = governing(above, head[2].strip("\"' ")), len(head[1])
            start = head.end()
        elif block[start:end].strip() and indent <= depth and block[start] != "-":
            name = ""
        for piece in _PIECE.finditer(block, start, end):
            text = _MARKUP.sub("", piece[0], count=1)
            kind = secret_kind(name, text)
            if kind is not None and not block.startswith(("[[", "${"), piece.start() - 2):
                yield Finding(piece.end() - len(text), piece.end(), kind)


def _unquoted(text: str) -> str:
    closed = len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]
    return text[1:-1] if closed else text


def _fix(rest: str) -> str:
    """What to do about a value that does not parse."""
    value = rest.strip()
    if re.search(r"^ *\t", rest, re.MULTILINE):
        return "indent it with spaces, not with tabs"
    if value.startswith("{{"):
        return "a placeholder must be put in quotes"
    if value[:1] in tuple("@`%&*!"):
        return f"a value that begins with {value[0]} must be put in quotes"
    if ": " in re.split(r"[\r\n]", rest, maxsplit=1)[0]:
        return "a value with a colon in it must be put in quotes"
    if value[:1] in ("'", '"'):
        return "its quotes do not match"
    if value[:1] in ("[", "{"):
        return "its brackets do not match, or an entry must be put in quotes"
    return "indent what belongs to it alike, and put text with : # or quotes in it in quotes"


_INTEGER = re.compile(r"-?[1-9][0-9]{0,99}|0")
_FLOAT = re.compile(r"-?[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?|-?[0-9]+e-[0-9]+")
_WORDS = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def _plain(text: str) -> Json:
    """What an unquoted value means: YAML 1.2's words, and numbers only if they write back alike.

    So an identifier (00770, 1.10, 1e5, 0x1F), a date and a time of day stay the text they are.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "-0123456789":
        if _INTEGER.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text) and len(text) < 40:
            number = float(text)
            if math.isfinite(number) and repr(number) == text:
                return number
    return text


_UNQUOTED_LINK = re.compile(r"\[\[[^\[\]\r\n]+\]\]")


def _is_link(node: yaml.Node) -> bool:
    """Whether `[[...]]` may be a link without quotes, not a list of lists such as [[1, 2]]."""
    if len(node.value) != 1 or not isinstance(node.value[0], yaml.SequenceNode):
        return False
    items = node.value[0].value
    if not all(isinstance(item, yaml.ScalarNode) for item in items):
        return False
    return len(items) == 1 or all(isinstance(_plain(item.value), str) for item in items)


def _named(values: Mapping[str, Json], *names: str) -> Iterator[tuple[str, Json]]:
    """The properties with these names, in the order of the names; case, "-", "_", " " alike."""
    if not values:
        return
    by_name = _by_name(tuple(values))
    for name in names:
        for key in by_name.get(name, ()):
            yield key, values[key]


@lru_cache(maxsize=1024)  # the notes of a vault have the same few sets of properties
def _by_name(keys: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    by_name: dict[str, list[str]] = {}
    for key in keys:
        by_name.setdefault(_folded(key), []).append(key)
    return by_name


def _folded(key: str) -> str:
    return key.casefold().replace("_", "").replace("-", "").replace(" ", "")


def tags_of(values: Mapping[str, Json]) -> tuple[list[str], tuple[Problem, ...]]:
    """The tags of `tags` and `tag`: no "#", in order, each once (case apart), as first written.

    A text is cut at commas and blanks, an entry of a list at commas: a tag holds neither. Empty
    entries are left out; an entry that is a mapping is a problem.
    """
    tags: dict[str, str] = {}
    problems = []
    for key, value in _named(values, "tags", "tag"):
        for entry in _flat(value):
            if isinstance(entry, dict):
                message = f"an entry of {key!r} is a mapping, not a tag; write it without a colon"
                problems.append(Problem("not_a_tag", message))
                continue
            text = _as_text(entry)
            for piece in re.split(r"[,\s]+" if isinstance(value, str) else ",", text):
                tag = piece.strip().lstrip("#").strip()
                if tag:
                    tags.setdefault(tag.casefold(), tag)
    return list(tags.values()), tuple(problems)


def aliases_of(values: Mapping[str, Json]) -> list[str]:
    """The other names of a note, from `aliases` and `alias`, in order, each once.

    A text is cut at commas, as Obsidian does; a name with a comma goes into a list.
    """
    aliases: dict[str, None] = {}
    for _, value in _named(values, "aliases", "alias"):
        entries = value.split(",") if isinstance(value, str) else _flat(value)
        for entry in entries:
            alias = " ".join(_as_text(entry).split())
            if alias:
                aliases.setdefault(alias)
    return list(aliases)


def projects_of(values: Mapping[str, Json]) -> tuple[str, ...]:
    """The projects that a note belongs to, from `project` and `projects`; () for none.

    Each entry is one name, commas and all; of links, `[[Projects/Apollo|A]]`, it is the last part
    of the target. An entry that is no text is a name as well: that of a project nobody asks for.
    """
    found: dict[str, None] = {}
    for _, value in _named(values, "project", "projects"):
        for entry in _flat(value):
            text = str(entry) if isinstance(entry, dict) else _as_text(entry)
            links = [wikilink(match[1]).target for match in _WIKILINK.finditer(text)]
            for name in links or [text]:
                name = " ".join(name.rpartition("/")[2].split() if links else name.split())
                if name:
                    found.setdefault(name.removesuffix(".md"))
    return tuple(found)


def is_in_scope(values: Mapping[str, Json], project: str | None) -> bool:
    """Whether a note belongs to `project`, or to none; None takes every note.

    Names compare without regard to case and composition; [[brackets]] are taken off.
    """
    if project is None:
        return True
    own = projects_of(values)
    wanted = next(iter(projects_of({"project": project})), "")
    return not own or _comparable(wanted) in map(_comparable, own)


def _comparable(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def title_of(values: Mapping[str, Json]) -> str | None:
    """The property `title` on one line; None if it is absent, empty or no text."""
    for _, value in _named(values, "title"):
        title = " ".join(_as_text(value).split())
        if title:
            return title
    return None


def _flat(value: Json) -> Iterator[Json]:
    if isinstance(value, list):
        for entry in value:
            yield from _flat(entry)
    else:
        yield value


def _as_text(value: Json) -> str:
    """A scalar as it was written; "" for nothing, lists and mappings."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ""


LIFECYCLE = ("derived_from", "supports", "contradicts", "supersedes", "superseded_by", "related")
_LIFECYCLE = {_folded(name) for name in (*LIFECYCLE, "replaces", "replaced_by")}
_WIKILINK = re.compile(r"!?\[\[([^\[\]\r\n]+)\]\]")
_MARKDOWN_LINK = re.compile(
    r"!?\[([^\[\]\r\n]*)\]\([ \t]*(?:<([^<>\r\n]*)>|((?:[^\s()]|\([^\s()]*\))+))"
    r"(?:[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'))?[ \t]*\)"
)
_OUTSIDE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:|//")


def property_links(values: Mapping[str, Json], key_lines: Mapping[str, int]) -> list[Link]:
    """The links that stand in properties, in order: wikilinks and Markdown links to notes.

    They count in every text at any depth. In the lifecycle properties bare text is a target
    too: a list, or text cut at commas and line ends. Addresses of the web are no links to notes.
    `property` is the top-level key as written, `line` the line of that key.
    """
    links: list[Link] = []
    for key, value in values.items():
        if not isinstance(value, (str, list, dict, int, float)):
            continue
        is_lifecycle = _folded(key) in _LIFECYCLE
        line = key_lines.get(key, 1)
        for text in _texts(value, numbers=is_lifecycle):
            found, rest = _links_in(text)
            if is_lifecycle and not isinstance(value, dict):
                pieces = re.split(r"[,\r\n]", rest) if isinstance(value, str) else [rest]
                found += [wikilink(piece.strip()) for piece in pieces if _is_target(piece)]
            links += [replace(link, line=line, property=key) for link in found]
    return links


def _texts(value: Json, numbers: bool) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if len(value) == 1 and _is_nested_link(value[0]):
            yield f"[[{value[0][0]}]]"
            return
        for entry in value:
            yield from _texts(entry, numbers)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _texts(entry, numbers)
    elif numbers and isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)


def _is_nested_link(value: Json) -> bool:
    """Other readers of YAML leave `[[Name]]` as [["Name"]]."""
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], str)


def _links_in(text: str) -> tuple[list[Link], str]:
    """The links of a text in order, and the text without them."""
    if "[" not in text:
        return [], text
    found: list[tuple[int, Link]] = []
    for match in _WIKILINK.finditer(text):
        found.append((match.start(), wikilink(match[1])))
    for match in _MARKDOWN_LINK.finditer(text):
        destination = match[2] if match[2] is not None else match[3]
        if destination and not _OUTSIDE.match(destination):
            target, _, subpath = destination.partition("#")
            found.append(
                (
                    match.start(),
                    Link(
                        unquote(target), unquote(subpath) or None, match[1] or None,
                        "link", "markdown", 0,
                    ),
                )
            )  # fmt: skip
    found.sort(key=lambda pair: pair[0])
    rest = _MARKDOWN_LINK.sub(",", _WIKILINK.sub(",", text))
    return [link for _, link in found], rest


def wikilink(inside: str) -> Link:
    """The link that `[[inside]]` is, without its line."""
    name, bar, label = inside.partition("|")
    if name.endswith("\\"):
        name = name[:-1]  # the bar was escaped, as in a table
    target, _, subpath = name.partition("#")
    return Link(
        target.strip(), subpath.strip() or None, (label.strip() or None) if bar else None,
        "link", "wiki", 0,
    )  # fmt: skip


def _is_target(text: str) -> bool:
    text = text.strip(" \t,;")
    return bool(text) and not _OUTSIDE.match(text) and any(c.isalnum() for c in text)


IMPORTANCE_WORDS = {"low": 1, "medium": 3, "med": 3, "high": 5, "critical": 5}
CONFIDENCE_WORDS = {"low": 0.25, "medium": 0.5, "med": 0.5, "high": 0.85, "verified": 1}


def importance_of(values: Mapping[str, Json]) -> float | None:
    """`importance` from 1 to 5; None when it is absent or says nothing.

    1 to 5 counts as it is, 0 to 1 as 1 + 4x, more and less as 5 and 1; low is 1, medium 3, high
    and critical 5.
    """
    number = _rating(values, "importance", IMPORTANCE_WORDS)
    if number is None:
        return None
    return 1 + 4 * max(0.0, number) if number < 1 else min(number, 5.0)


def confidence_of(values: Mapping[str, Json]) -> float | None:
    """`confidence` from 0 to 1; None when it is absent or says nothing.

    0 to 1 counts as it is, up to 5 as fifths, more and less as 1 and 0; low is 0.25, medium 0.5,
    high 0.85, verified 1.
    """
    number = _rating(values, "confidence", CONFIDENCE_WORDS)
    if number is None:
        return None
    return min(number / 5 if number > 1 else max(number, 0.0), 1.0)


_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(?:[.,][0-9]{1,30})?")


def _rating(values: Mapping[str, Json], name: str, labels: Mapping[str, float]) -> float | None:
    for _, value in _named(values, name):
        if isinstance(value, str):
            word = value.strip().casefold()
            if word in labels:
                return float(labels[word])
            is_share = word.endswith("%")
            number = word.rstrip("% ")
            if _NUMBER.fullmatch(number):
                parsed = float(number.replace(",", "."))
                return parsed / 100 if is_share else parsed
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            return None if value != value else float(max(-9, min(value, 9)))
    return None


def updated_of(values: Mapping[str, Json], until: dt.date | None = None) -> dt.date | None:
    """When the note was last known to be right, as far as its properties say.

    The first usable of last_verified, updated, modified, date, created, and their usual
    spellings: somebody checked it, then changed it, and only then when it began. Each says that
    the note was current on that day; the earlier names say it later and more surely. until: days
    after it do not count.
    """
    days = (date_of(value) for _, value in _named(values, *_UPDATED))
    return next((day for day in days if day and (until is None or day <= until)), None)


def day_of(values: Mapping[str, Json], modified: float, path: str) -> dt.date:
    """updated_of; of a note that does not say, the day that its name begins with.

    And without one the day on which its file was changed (Unix seconds).
    """
    return updated_of(values) or day_in_name(path) or file_day(modified)


def file_day(modified: float) -> dt.date:
    """The day of a time in Unix seconds; the first or last there is for a clock far off."""
    try:
        return dt.date.fromtimestamp(modified)
    except (OverflowError, OSError, ValueError):
        return dt.date.min if modified < 0 else dt.date.max


_DAY_IN_NAME = re.compile(r"(?:.*/)?(\d{4}-\d\d-\d\d)(?!\d)")


def day_in_name(path: str) -> dt.date | None:
    """The day that a file name begins with (`2025-03-01 Standup.md`), else a folder above it."""
    named = _DAY_IN_NAME.match(path)
    return date_of(named[1]) if named else None


def time_of(values: Mapping[str, Json], names: Sequence[str]) -> float | None:
    """The first of these properties that names a day, in Unix seconds.

    names: as they are without case, "-", "_" and blanks. A day is its first second, and a time
    without a zone is one in UTC: the same on every machine.
    """
    for _, value in _named(values, *names):
        day = date_of(value)
        if day is None:
            continue
        if isinstance(value, int) and value >= 10**9:
            return float(value if value < 10**10 else value / 1000)
        try:
            moment = dt.datetime.fromisoformat(str(value).strip())
        except ValueError:
            moment = dt.datetime.combine(day, dt.time())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.UTC)
        return moment.timestamp()
    return None


def changed_of(values: Mapping[str, Json]) -> dt.date | None:
    """When somebody last wrote in the note, as far as its properties say."""
    return _first_day(values, CHANGED)


def created_of(values: Mapping[str, Json]) -> dt.date | None:
    """When the note began, as far as its properties say: created, else date."""
    return _first_day(values, _CREATED)


def valid_from_of(values: Mapping[str, Json]) -> dt.date | None:
    """The first day on which what the note says holds; None when it does not say."""
    return _first_day(values, ("validfrom", "validsince", "effectivefrom", "effectivedate"))


def valid_until_of(values: Mapping[str, Json]) -> dt.date | None:
    """The last day on which it holds: of 2025-07 and 2025 the last one in them."""
    for _, value in _named(values, *_VALID_UNTIL):
        if day := date_of(value):
            return _last_day(str(value), day)
    return None


def inactive_of(values: Mapping[str, Json]) -> tuple[str | None, dt.date | None]:
    """(superseded, deprecated, archived, stale or expired; since when), as the note says of itself.

    From `status`, also as in "superseded by [[Other]]", or a property of that name that is true or
    a day. The day is that, or archived_on, superseded_at and the like; None when nobody says.
    """
    word: str | None = None
    since: dt.date | None = None
    for _, value in _named(values, "status"):
        for entry in _flat(value):
            if word is None and (match := _NO_LONGER.fullmatch(_as_text(entry))):
                word = _INACTIVE[match[1].casefold()]
    for spelled, meant in _INACTIVE.items():
        for _, value in _named(values, spelled):
            day = None if isinstance(value, bool) else date_of(value)
            if value is True or day:
                word, since = word or meant, since or day
    if word is not None and since is None:
        spellings = [name for name, meant in _INACTIVE.items() if meant == word]
        days = [f for n in spellings for f in (f"{n}on", f"{n}at", f"{n}date", f"date{n}")]
        since = _first_day(values, days)
    return word, since


def replacement_links(values: Mapping[str, Json]) -> tuple[list[Link], list[Link]]:
    """(what the note says it replaces, what it says replaced it), as links; bare text counts too.

    From supersedes and replaces; from superseded_by, replaced_by and `status: superseded by ...`.
    """
    older = _bare_links(values, "supersedes", "replaces")
    newer = _bare_links(values, "supersededby", "replacedby")
    for _, value in _named(values, "status"):
        for entry in _flat(value):
            if (match := _NO_LONGER.fullmatch(_as_text(entry))) and match[2]:
                newer += property_links({"superseded_by": match[2]}, {})
    return older, newer


def _bare_links(values: Mapping[str, Json], *names: str) -> list[Link]:
    found = []
    for _, value in _named(values, *names):
        found += property_links({"superseded_by": value}, {})
    return found


def _first_day(values: Mapping[str, Json], names: Sequence[str]) -> dt.date | None:
    return next((day for _, value in _named(values, *names) if (day := date_of(value))), None)


def _last_day(written: str, day: dt.date) -> dt.date:
    """The last day of what is written: a year, a month or the day itself."""
    parts = re.fullmatch(r"\s*\d{4}(?:([-/.])\d{1,2})?\s*", written.strip("[] "))
    if parts is None:
        return day
    month = day.month if parts[1] else 12
    last = calendar.monthrange(day.year, month)[1]
    return dt.date(day.year, month, last)


CHANGED = (
    *("updated", "dateupdated", "updatedat", "lastupdated"),
    *("modified", "datemodified", "lastmodified", "lastmod", "modifiedat"),
)
_CREATED = ("created", "datecreated", "createdat", "createdon", "creationdate", "date")
_UPDATED = ("lastverified", *CHANGED, "date", "created", "datecreated", "createdat")
_VALID_UNTIL = (
    *("validuntil", "validto", "validthrough", "validtill", "effectiveuntil"),
    *("expires", "expireson", "expiresat", "expiry", "expirydate", "expirationdate"),
)
# What a note calls itself when it no longer holds, and the word for it.
_INACTIVE = {
    "superseded": "superseded",
    "replaced": "superseded",
    "deprecated": "deprecated",
    "obsolete": "deprecated",
    "archived": "archived",
    "stale": "stale",
    "expired": "expired",
}
_NO_LONGER = re.compile(
    rf"\W*({'|'.join(_INACTIVE)})(?:\W*|\s+by:?\s+(.+))", re.IGNORECASE | re.DOTALL
)
_YEAR_FIRST = re.compile(
    r"(\d{4})(?:([-/.])(\d{1,2})(?:\2(\d{1,2})(?!\d))?|(\d{2})(\d{2})(?:T?\d{4}(?:\d\d)?)?)?"
)
_DAY_FIRST = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b")
_WITH_MONTH = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(?:(\d{1,2})(?:st|nd|rd|th|\.)?\s+([a-z]{3,9})\.?,?\s+(\d{4})"
    r"|([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4}))\b",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def date_of(value: Json) -> dt.date | None:
    """The calendar day a value names, as it is written there: zones do not move it.

    Text: 2025-01-02, also with "/" or ".", a time after it or brackets around it; 2025-07 and
    2025 are their first days; 20250102, also with a time; 2.1.2025; 2 Jan 2025; Jan 2, 2025.
    Numbers: a year, 20250102, and Unix time in seconds or milliseconds. None for the rest,
    among them days that do not exist and 01/02/2025, which people read in two ways.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        if 10**9 <= value < 10**10 or 10**12 <= value < 10**13:
            seconds = value if value < 10**10 else value // 1000
            return (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)).date()
        value = str(value)
    if not isinstance(value, str):
        return None
    text = value[:80].strip().strip("[]").strip()
    if match := _YEAR_FIRST.match(text):
        year, _, month, day, month2, day2 = match.groups()
        if day is None and match.end() < len(text):
            return None
        return _date(year, month or month2 or 1, day or day2 or 1)
    if match := _DAY_FIRST.match(text):
        return _date(match[3], match[2], match[1])
    if match := _WITH_MONTH.match(text):
        day, name, year = match.group(1, 2, 3) if match[1] else match.group(5, 4, 6)
        month = name[:3].lower()
        return _date(year, _MONTHS.index(month) + 1, day) if month in _MONTHS else None
    return None


def _date(year: str | int, month: str | int, day: str | int) -> dt.date | None:
    try:
        return dt.date(int(year), int(month), int(day))
    except ValueError:
        return None
