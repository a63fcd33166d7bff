"""What people type: words, "phrases", -exclusions, OR and filters such as tag:x, read forgivingly.

Words are for ranking and demand nothing. What else is typed is a condition on notes:

    "fog bell"              holds the phrase            -draft  -"fog bell"  -tag:x    does not
    tag: path: folder: title: type: status: …           after:2025-03  before:2w
    links-to:NOTE  linked-from:NOTE  near:NOTE          any property of the notes: author:"Ada L."
    a OR b                  either: the terms beside it; (a b) is one term; between two conditions
                            a small `or` is as good

Whatever cannot be read so (`error: x`, `http://x`, `12:30`, a lone dash or quote) is words.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..errors import UsageError
from ..text import brief
from .filters import Filters, squeezed

MAX_TYPED = 4000  # characters; a longer text was pasted, and is words
MAX_CONDITIONS = 40  # of one query; what is beyond is words
MAX_DEPTH = 20  # of brackets


@dataclass(frozen=True, slots=True)
class Holds:
    """The note holds these words: all of them somewhere, or in this very order."""

    text: str
    in_order: bool


@dataclass(frozen=True, slots=True)
class Passes:
    filters: Filters
    told: str  # for people
    following: tuple[str, ...] = ()  # words behind a note's name without quotes: parts of it?


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Condition, ...]


Condition: TypeAlias = "Holds | Passes | Not | Every | Either"


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    text: str  # what ranks: words, and those of phrases; "" when only conditions were typed
    condition: Condition | None = None  # what a note must be
    understood: str = ""  # how it was read; "" for words alone
    hints: tuple[str, ...] = ()  # what looks like a condition, and could not be one
    has_words: bool = True  # whether there is more to rank by than the words of phrases

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases that a note must hold, or may hold instead of something else."""
        held = (part for part in _wanted(self.condition) if isinstance(part, Holds))
        return tuple(dict.fromkeys(part.text for part in held if part.in_order))

    def without_quotes(self, phrases: Collection[str]) -> ParsedQuery:
        """The same question, where these phrases are words; as it is where it has no others."""
        kept = self.condition.parts if isinstance(self.condition, Every) else (self.condition,)
        left = [part for part in kept if part is not None and not _is_one_of(part, phrases)]
        if not self.has_words:
            return self
        understood = self.understood
        for phrase in phrases:
            understood = understood.replace(f'with "{phrase}"', f"words: {phrase}")
        return replace(self, condition=_every(left), understood=understood)

    @property
    def has_alternatives(self) -> bool:
        """Whether a note may pass for another reason than the words that rank."""
        return _has_either(self.condition)

    @property
    def fields(self) -> frozenset[str]:
        """The filters by lists of values that a note must pass, or may."""
        passed = (part for part in _wanted(self.condition) if isinstance(part, Passes))
        return frozenset(name for part in passed for name in part.filters.lists)


def plain(text: str) -> ParsedQuery:
    """`text` as words alone, whatever stands in it."""
    return ParsedQuery(text)


def parse(
    text: str, today: dt.date, properties: Callable[[], Collection[str]] = tuple
) -> ParsedQuery:
    """What was typed. Never raises: what is no condition is words.

    today: what `7d` and `yesterday` count from. properties: the names, casefolded, of those that
    the notes have; asked for only when `name:value` was typed.
    """
    if len(text) > MAX_TYPED:
        return plain(text)
    reader = _Reader(text, today, properties)
    items = reader.items()
    hints = tuple(dict.fromkeys(reader.hints))
    if not any(item.is_read for item in items):
        return ParsedQuery(text, hints=hints)
    words = " ".join(item.words for item in items if item.words)
    conditions = [item.condition for item in items if item.condition is not None]
    asked = " ".join(item.told for item in items if item.condition is None)
    told = [f"words: {asked}"] if asked else []
    told += [told_of(condition) for condition in conditions]
    if not any(char.isalnum() for char in words):
        words = "" if conditions else text
    return ParsedQuery(words, _every(conditions), "; ".join(told), hints, bool(asked))


def told_of(condition: Condition) -> str:
    """A condition in words: `with "fog bell"`, `not tag x`, `tag a or type b`."""
    if isinstance(condition, Holds):
        return f'with "{condition.text}"' if condition.in_order else f"with {condition.text}"
    if isinstance(condition, Passes):
        return condition.told
    if isinstance(condition, Not):
        told = told_of(condition.part)
        if told.startswith("with "):
            return f"without {told.removeprefix('with ')}"
        is_one = isinstance(condition.part, (Passes, Not))
        return f"not {told}" if is_one else f"not ({told})"
    joined = " or " if isinstance(condition, Either) else " and "
    is_mixed = isinstance(condition, Either)
    return joined.join(
        f"({told_of(part)})" if is_mixed and isinstance(part, Every) else told_of(part)
        for part in condition.parts
    )


def _wanted(condition: Condition | None) -> Iterator[Condition]:
    """What is asked for in a condition, and not what is left out."""
    if isinstance(condition, (Holds, Passes)):
        yield condition
    elif isinstance(condition, (Every, Either)):
        for part in condition.parts:
            yield from _wanted(part)


def _is_one_of(condition: Condition, phrases: Collection[str]) -> bool:
    return isinstance(condition, Holds) and condition.in_order and condition.text in phrases


def _has_either(condition: Condition | None) -> bool:
    parts = condition.parts if isinstance(condition, Every) else ()
    return isinstance(condition, Either) or any(map(_has_either, parts))


def _every(conditions: Sequence[Condition]) -> Condition | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return Every(tuple(conditions))


# --- reading

# What is typed, without "-" and "_" and in any case -> what it is called among the filters.
_FIELDS = {
    **{"tag": "tags_any", "tags": "tags_any", "path": "path", "title": "title", "type": "type"},
    **{"after": "after", "before": "before", "linksto": "links_to", "linkedfrom": "linked_from"},
    **{"near": "near", "status": "status", "domain": "domain", "project": "project"},
    **{"stability": "stability", "importancemin": "importance_min"},
    **{"importancemax": "importance_max", "confidencemin": "confidence_min"},
    **{"confidencemax": "confidence_max", "modifiedafter": "modified_after"},
    **{"modifiedbefore": "modified_before"},
}
# The same, where the notes have no property of that name.
_FIELDS_UNLESS_PROPERTIES = {"file": "path", "folder": "folders", "since": "after"}
_OFFERED = ("tag", "path", "title", "type", "after", "before", "links-to", "linked-from", "near")
_TOLD = {
    **{"tags_any": "tag", "folders": "folder", "links_to": "links to", "after": "from"},
    **{"linked_from": "linked from", "modified_after": "modified from"},
    **{"modified_before": "modified until"},
}
_ONE_VALUE = ("after", "before", "path", "title", "links_to", "linked_from", "near")
_CLOSING = {'"': '"', "\u201c": "\u201d\u201c", "\u201e": "\u201c\u201d", "\uff02": "\uff02"}
_KEY = re.compile(r"([^\W\d][\w.-]*)[:\uff1a](?=\S)")
_NO_VALUE = re.compile(r"[:\uff1a/\\]{2}|[:\uff1a\\]|[,;.!?)]*$")  # `x::y`, `http://y`, `C:\y`
_NAME_GOES_ON = re.compile(r"(?:\s+(?![-(])(?!OR\b)[^\s\":()]+){1,6}")
_OPTION = re.compile(r"(?<!\S)(?:--[a-zA-Z]|-[a-zA-Z](?!\S))")
_NO_EXCLUSION = re.compile(r"(?:[^\s(]|\b(?i:and|or|und|oder|sowie|bzw\.)\s+)\Z")
_OR_IN_WORDS = frozenset(("or", "Or", "oder"))  # as good as OR between two conditions
_BRACKETED = re.compile(r"\[\s*([^\[\]:]+?)\s*:\s*([^\[\]]*?)\s*\](?!\()")


@dataclass(frozen=True, slots=True)
class _Item:
    """A term of the query, as far as it has been read."""

    words: str  # for ranking
    told: str
    condition: Condition | None = None
    is_read: bool = False  # as more than words


@dataclass(slots=True)
class _Mark:
    """`(`, `-(`, `)`, OR, AND or NOT."""

    kind: str
    text: str


@dataclass(slots=True)
class _Reader:
    text: str
    today: dt.date
    properties: Callable[[], Collection[str]]
    hints: list[str] = field(default_factory=list)
    _conditions: int = 0
    _depth: int = 0  # of the bracket at which we read
    _is_command: bool = False  # `rsync -av --delete`: what begins with a dash is an option

    def __post_init__(self) -> None:
        self._is_command = _OPTION.search(self.text) is not None

    def items(self) -> list[_Item]:
        tokens = list(self._tokens())
        for at in range(1, len(tokens) - 1):
            token = tokens[at]
            if not isinstance(token, _Item) or token.words not in _OR_IN_WORDS:
                continue
            before, after = tokens[at - 1 : at], tokens[at + 1 : at + 2]
            if isinstance(before[0], _Item) and _is_condition(before) and _is_condition(after):
                tokens[at] = _Mark("OR", token.words)
        tokens.reverse()
        return _sequence(tokens)

    def _tokens(self) -> Iterator[_Item | _Mark]:
        text, at = self.text, 0
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            if text[at] == "`" and (end := text.find("`", at + 1)) > at + 1:  # code, as it is
                yield _word(text[at : end + 1])
                at = end + 1
                continue
            is_negated = not self._is_command and _begins_exclusion(text, at)
            begin = at + 1 if is_negated else at
            if text[begin] == "(" and self._depth < MAX_DEPTH:
                self._depth += 1
                yield _Mark("-(" if is_negated else "(", text[at : begin + 1])
                at = begin + 1
                continue
            if text[at] == ")" and self._depth:
                self._depth -= 1
                yield _Mark(")", ")")
                at += 1
                continue
            found = self._term(begin) if self._conditions < MAX_CONDITIONS else None
            if found is not None:
                item, at = found
                self._conditions += 1
                yield _negated(item) if is_negated else item
                continue
            end = self._end_of_word(at)
            bare = text[at:end]
            at = end
            if bare in ("OR", "AND", "NOT"):
                yield _Mark(bare, bare)
            elif is_negated and self._conditions < MAX_CONDITIONS:
                self._conditions += 1
                yield _negated(_word(bare[1:]))
            else:
                yield _word(bare)

    def _term(self, at: int) -> tuple[_Item, int] | None:
        """The phrase or filter that begins here, and where it ends."""
        text = self.text
        if quoted := _quoted(text, at):
            phrase, end = quoted
            value = self._value(end + 1) if text[end : end + 1] in (":", "\uff1a") else None
            if value and (item := self._filter(phrase, *value[:2])):
                return item, value[2]
            held = Holds(phrase, in_order=True)
            return _Item(phrase, f'"{phrase}"', held, is_read=True), end
        if bracketed := _BRACKETED.match(text, at):
            key, value_text = bracketed.groups()
            is_quoted = (whole := _quoted(value_text, 0)) is not None
            value_text = whole[0] if whole else value_text
            item = self._filter(key.strip("\"'"), value_text, is_quoted) if value_text else None
            return (item, bracketed.end()) if item else None
        if text[at] == "#" and (tag := re.compile(r"#[^\s#()]+").match(text, at)):
            # Only where it is left out: a bare #tag ranks, as a word.
            is_negated = at > 0 and text[at - 1] == "-"
            item = self._filter("tag", tag[0], False) if is_negated else None
            return (item, tag.end()) if item else None
        key_match = _KEY.match(text, at)
        value = self._value(key_match.end()) if key_match else None
        if key_match is None or value is None:
            return None
        found = self._filter(key_match[1], *value[:2])
        if found and isinstance(found.condition, Passes) and found.condition.filters.links:
            words = () if value[1] else _NAME_GOES_ON.match(text, value[2])
            following = tuple(words[0].split()) if words else ()
            found = replace(found, condition=replace(found.condition, following=following))
        return (found, value[2]) if found else None

    def _value(self, at: int) -> tuple[str, bool, int] | None:
        """(value, whether it was quoted, where it ends) of what follows a colon."""
        text = self.text
        if at >= len(text):
            return None
        if quoted := _quoted(text, at):
            return quoted[0], True, quoted[1]
        if text.startswith("[[", at) and (end := text.find("]]", at)) > 0:
            inside = text[at + 2 : end].strip()
            return (inside, True, end + 2) if inside else None
        if text[at].isspace() or _NO_VALUE.match(text, at):
            return None
        end = self._end_of_word(at)
        value = text[at:end].rstrip(",;")
        return (value, False, end) if value else None

    def _end_of_word(self, at: int) -> int:
        """Where the blank is, or the bracket that closes one from before."""
        match = re.compile(r"\S+").match(self.text, at)
        assert match is not None
        end = match.end()
        if self._depth:
            word = match[0]
            while word.endswith(")") and word.count(")") > word.count("(") and len(word) > 1:
                word, end = word[:-1], end - 1
        return end

    def _filter(self, key: str, value: str, is_quoted: bool) -> _Item | None:
        """The condition that `key:value` is; None, and perhaps a hint, for what is words."""
        name = _FIELDS.get(squeezed(key))
        if name is None and (other := _FIELDS_UNLESS_PROPERTIES.get(squeezed(key))):
            name = None if squeezed(key) in self.properties() else other
        values: list[str] = [value]
        if not is_quoted and name not in _ONE_VALUE:
            values = [part for part in value.split(",") if part.strip("!# ")]
        try:
            if name is not None:
                given = values[0] if len(values) == 1 else values
                filters = Filters.parse({name: given}, self.today)
            else:
                known = self._property(key)
                if known is None:
                    return None
                filters = Filters(properties={known: tuple(values)}) if values else Filters()
        except UsageError as error:
            why = str(error).removeprefix(f"filters: {name}: ")
            self.hints.append(f"{brief(f'{key}:{value}', 60)} is read as words; {why}")
            return None
        if not filters:
            return None
        told = _TOLD.get(name or "", name or key)
        said = " or ".join(part.lstrip("#") for part in values)
        if name in ("after", "before", "modified_after", "modified_before"):
            said = filters.dates[name].isoformat()
        item = Passes(filters, f"{told} {said}")
        return _Item("", item.told, item, is_read=True)

    def _property(self, key: str) -> str | None:
        known = self.properties()
        folded = key.casefold()
        if folded in known or ("." in folded and folded.partition(".")[0] in known):
            return key
        alike = [name for name in known if squeezed(name) == squeezed(key)]
        if alike:
            return sorted(alike)[0]
        near = difflib.get_close_matches(folded, [*_OFFERED, *known], 1, cutoff=0.8)
        if near and len(folded) > 3:
            self.hints.append(
                f"{brief(key, 40)}: is read as a word, for no note has such a property; "
                f"did you mean {near[0]}:?"
            )
        return None


def _begins_exclusion(text: str, at: int) -> bool:
    """Whether a dash here leaves out what follows.

    Not a lone one, nor `--`, `-5`, `"Model C"-Schulen` or `Privatpersonen und -organisationen`.
    """
    if text[at] != "-" or _NO_EXCLUSION.search(text, 0, at):
        return False
    after = text[at + 1 : at + 2]
    if after in _CLOSING or after == "[":
        return _quoted(text, at + 1) is not None or _BRACKETED.match(text, at + 1) is not None
    if after == "(" or (after == "#" and text[at + 2 : at + 3].isalnum()):
        return True
    return after.isalpha()


def _quoted(text: str, at: int) -> tuple[str, int] | None:
    """(what stands between the quotes that open here, where they end); None without a word."""
    closing = _CLOSING.get(text[at : at + 1])
    if closing is None or text[at + 1 : at + 2].isspace():  # 12 " x 14 "
        return None
    ends = [end for mark in closing if (end := text.find(mark, at + 1)) > 0]
    if not ends:
        return None
    inside = " ".join(text[at + 1 : min(ends)].split())
    return (inside, min(ends) + 1) if any(char.isalnum() for char in inside) else None


def _word(text: str) -> _Item:
    return _Item(text, text)


def _negated(item: _Item) -> _Item:
    condition = item.condition or Holds(item.words, in_order=False)
    return _Item("", item.told, Not(condition), is_read=True)


def _sequence(tokens: list[_Item | _Mark]) -> list[_Item]:
    """The terms up to the bracket that closes; `tokens` stand in reverse, and are used up."""
    items: list[_Item] = []
    alternatives: list[_Item] = []  # those of an OR before the last of items, without that
    waiting: _Mark | None = None  # OR, AND or NOT, until its right side is known

    def close_either() -> None:
        nonlocal alternatives
        if alternatives:
            items.append(_either([*alternatives, items.pop()]))
            alternatives = []

    while tokens:
        token = tokens.pop()
        if isinstance(token, _Mark):
            if token.kind == ")":
                break
            if token.kind in ("(", "-("):
                item = _group(_sequence(tokens))
                if item is None:
                    continue
                if token.kind == "-(":
                    item = _negated(item)
            else:
                if waiting is not None and not (token.kind == "NOT" and waiting.kind != "NOT"):
                    items.append(_word(waiting.text))
                    close_either()
                    waiting = None
                if token.kind == "NOT" and _is_condition(tokens):
                    item = _negated(_group_or_item(tokens))
                elif token.kind == "OR" and not items:
                    item = _word("OR")
                elif token.kind == "NOT":
                    item = _word("NOT")
                else:
                    waiting = token
                    continue
        else:
            item = token
        if waiting is not None and waiting.kind == "OR":
            alternatives.append(items.pop())
            items.append(item)
            waiting = None
            continue
        close_either()
        if waiting is not None:  # AND says nothing between conditions
            if item.condition is None and not (items and items[-1].condition is not None):
                items.append(_word(waiting.text))
            waiting = None
        items.append(item)
    close_either()
    if waiting is not None:
        items.append(_word(waiting.text))
    return items


def _is_condition(tokens: Sequence[_Item | _Mark]) -> bool:
    """Whether what comes next is one that can be left out: no plain word, nothing negated."""
    after = tokens[-1] if tokens else None
    if isinstance(after, _Mark):
        return after.kind == "("
    return after is not None and after.is_read and not isinstance(after.condition, Not)


def _group_or_item(tokens: list[_Item | _Mark]) -> _Item:
    token = tokens.pop()
    if isinstance(token, _Item):
        return token
    return _group(_sequence(tokens)) or _word("NOT")


def _group(items: Sequence[_Item]) -> _Item | None:
    """Terms in brackets as one; its words demand nothing beside a condition."""
    if len(items) < 2:
        return items[0] if items else None
    conditions = [item.condition for item in items if item.condition is not None]
    words = " ".join(item.words for item in items if item.words)
    told = " ".join(item.told for item in items)
    return _Item(words, told, _every(conditions), any(item.is_read for item in items))


def _either(items: Sequence[_Item]) -> _Item:
    words = " ".join(item.words for item in items if item.words)
    told = " or ".join(item.told for item in items)
    if all(item.condition is None for item in items):
        return _Item(words, told, is_read=True)
    parts = tuple(item.condition or Holds(item.words, in_order=False) for item in items)
    return replace(_Item(words, told, is_read=True), condition=Either(parts))
