"""Which sentences of a conversation are worth a draft: by rules alone, and told why.

Four kinds, in order of how plain they are:

    remember    the user asks for it: "remember that ...", "merk dir, dass ...", "记住 ..."
    decision    "we decided to ...", "Entscheidung: ...", "from now on ..."
    correction  "no, the boat is in Kiel, not in Emden"
    fact        something of the user's with a date: "our lease ends on 31 March 2027"

Only the first sentence of a wish, a decision or a date is looked at; a question, a condition, a
negation in front ("we have not decided"), what names nothing ("let's go with that") and what is
about the work at hand ("we're moving to the next question") are left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from .candidate_facts import DATE, FACTS, IMPERATIVES
from .candidate_text import Sentence
from .candidate_words import (
    BACK_REFERENCE,
    CONDITIONS,
    CORRECTIONS,
    DECISION_HINTS,
    DECISIONS,
    DECISIONS_OF_USER,
    DOUBTS,
    LEAD,
    MAY_ASK,
    PASSING,
    REMEMBER,
    REMEMBER_AT_END,
    SELF,
    VAGUE,
    WEAK,
)

Kind = Literal["remember", "decision", "correction", "fact"]

LEAST_WORDS = 4  # of a whole sentence; one less where the user asks to remember it
MOST_WORDS = 80
MOST_CHARS = 1_500  # a longer one is no sentence that anybody said
LEAST_TELLING = 2  # words that say something, beside the cue; one less in a wish


@dataclass(frozen=True, slots=True)
class Match:
    kind: Kind
    first: int  # of the sentences that hold it, by number
    last: int
    start: int  # where in the message what is to be kept begins: behind the cue
    end: int


@dataclass(frozen=True, slots=True)
class Dropped:
    reason: Literal["nothing_named", "too_long"]


def matches(sentences: list[Sentence], role: str) -> list[Match | Dropped]:
    """What of a message is worth keeping, in its order; `role` is user or assistant.

    An assistant is believed in what was decided, and in nothing else: its facts and reminders come
    from elsewhere.
    """
    found: list[Match | Dropped] = []
    for number, sentence in enumerate(sentences):
        if len(sentence.masked) > MOST_CHARS:
            continue
        match = _match(sentences, number, sentence, role)
        if match is not None:
            found.append(match)
    return found


def _match(
    sentences: list[Sentence], number: int, sentence: Sentence, role: str
) -> Match | Dropped | None:
    text = sentence.masked
    lead = LEAD.match(text)
    begin = lead.end() if lead else 0
    is_question = text.rstrip(" \"'”’»)").endswith(("?", "？"))

    if role == "user":
        if match := REMEMBER.match(text, begin):
            if is_question and not MAY_ASK.match(text):
                return None
            return _asked(sentences, number, sentence, match.end())
        if not is_question and (match := REMEMBER_AT_END.search(text)):
            return _whole("remember", sentences, number, 0, match.start())
    if is_question:
        return None
    lower = text.lower()
    is_likely = any(hint in lower for hint in DECISION_HINTS)
    patterns = (DECISIONS, DECISIONS_OF_USER) if role == "user" else (DECISIONS,)
    for pattern in patterns if is_likely else ():
        if match := pattern.search(text):
            before = text[: match.start()]
            if CONDITIONS.search(before) or CONDITIONS.search(match[0]):
                return None
            if role != "user" and SELF.search(match[0]):
                return None
            if pattern is DECISIONS_OF_USER and PASSING.search(text):
                return None
            # What was decided stands behind the cue, or in it: "wir haben uns für X entschieden".
            after = match.end() if _tells(text[match.end() :]) else begin
            return _whole("decision", sentences, number, begin, len(text), after)
    if role != "user":
        return None
    if match := CORRECTIONS.match(text, begin):
        if match["own"] is not None and PASSING.search(text):
            return None
        return _whole("correction", sentences, number, match.end("lead"), len(text))
    has_date = _DIGIT.search(text) is not None and DATE.search(text) is not None
    if has_date and not IMPERATIVES.match(text, begin) and FACTS.search(text):
        if DOUBTS.search(text) or PASSING.search(text):
            return None
        return _whole("fact", sentences, number, begin, len(text))
    return None


def _asked(
    sentences: list[Sentence], number: int, sentence: Sentence, after: int
) -> Match | Dropped | None:
    """What the user asks to remember: the rest of the sentence; else the next, else the last."""
    text = sentence.masked
    if not BACK_REFERENCE.fullmatch(text, after):
        return _whole("remember", sentences, number, after, len(text))
    rest = text[after:].strip()
    for neighbour in (number + 1, number - 1) if rest.endswith(":") else (number - 1, number + 1):
        if 0 <= neighbour < len(sentences):
            beside = sentences[neighbour]
            if _tells(beside.masked) and not beside.masked.rstrip().endswith("?"):
                first, last = sorted((number, neighbour))
                return Match("remember", first, last, beside.start, beside.end)
    return Dropped("nothing_named")


def _whole(
    kind: Kind, sentences: list[Sentence], number: int, start: int, end: int, named: int = 0
) -> Match | Dropped | None:
    """named: where what is kept begins, if that is behind `start`."""
    sentence = sentences[number]
    told = sentence.masked[start:end]
    count = words_in(sentence.masked)
    fewer = kind == "remember"
    if count < LEAST_WORDS - fewer:
        return None
    if count > MOST_WORDS:
        return Dropped("too_long")
    if VAGUE.search(told) or telling_words(told) < LEAST_TELLING - fewer:
        return Dropped("nothing_named")
    first = sentence.start + max(start, named)
    return Match(kind, number, number, first, sentence.start + end)


def _tells(text: str) -> bool:
    """Whether it has words of its own, beside those that only point or connect."""
    return telling_words(text) >= LEAST_TELLING


def telling_words(text: str) -> int:
    wide = len(_WIDE.findall(text)) // 2
    return wide + sum(word.casefold() not in WEAK for word in _WORD.findall(_WIDE.sub(" ", text)))


def words_in(text: str) -> int:
    return len(_WIDE.findall(text)) // 2 + len(_WORD.findall(_WIDE.sub(" ", text)))


_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts without blanks
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W_](?:[\w'’.-]*\w)?")
