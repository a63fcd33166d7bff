"""The values that more than one package uses: frozen, and free of behaviour beyond themselves."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

Json = (
    Any  # a value json.dumps takes: None, bool, int, finite float, str, list, dict with text keys
)


def key64(text: str) -> int:
    """A note path or chunk id as a number in [0, 2**63): the form that indexes and arrays hold."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


_IDENTIFIER = re.compile(
    r"\b(?:[a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+"
    r"|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+)\b"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something odd in a note. The note stays searchable."""

    code: str  # e.g. yaml_parse_error, not_utf8, duplicate_key
    message: str
    line: int | None = None  # in the file, from 1


@dataclass(frozen=True, slots=True)
class Heading:
    level: int  # 1 to 6
    text: str  # as a reader sees it, on one line
    line: int
    parents: tuple[str, ...] = ()  # texts of the headings above it, outermost first


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it is written. An edge is a link that found its note."""

    target: str  # without the part from "#"; percent-decoded if Markdown; "" means the own note
    subpath: str | None  # "Heading", "Heading#Sub" or "^block", without the leading "#"
    label: str | None
    kind: Literal["link", "embed"]
    style: Literal["wiki", "markdown"]
    line: int
    property: str | None = None  # the frontmatter property it stands in; None in the body


@dataclass(frozen=True, slots=True)
class Note:
    """One Markdown file, read. Offsets count characters of `text`."""

    path: str  # vault-relative, "/"-separated
    title: str  # frontmatter title, else the file name without .md
    text: str  # the decoded file, byte order mark removed, line ends as they are
    body_start: int  # where the body begins in `text`: after the frontmatter
    frontmatter: Mapping[str, Json]  # JSON-safe; what is absent stays absent
    tags: tuple[str, ...]  # frontmatter and inline, without "#", in order, case as written
    aliases: tuple[str, ...]
    links: tuple[Link, ...]  # of the frontmatter properties; those of the body are in the chunks
    headings: tuple[Heading, ...]
    blocks: Mapping[str, int]  # block id -> line
    language: str  # ISO 639-1 code of the body; "und" when unknown
    sha256: str  # of the bytes of the file
    modified: float  # Unix seconds, of the file
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a note along its headings: an exact span, and the text that derives from it."""

    id: str  # stable: path, heading path and content
    note: str  # path of its note
    title: str  # of its note
    heading_path: tuple[str, ...]
    start: int  # span in Note.text
    end: int
    start_line: int  # first and last line of the span in the file, from 1
    end_line: int
    text: str  # what is shown and searched: comments left out, fences valid, heading lines left out
    tags: tuple[str, ...] = ()  # inline, in this span
    links: tuple[Link, ...] = ()
    secrets: tuple[str, ...] = ()  # lines of secrets that the text alone does not show as such

    @property
    def search_text(self) -> str:
        """Title and heading path in front of the text: what models read."""
        if not self.heading_path and self.text == self.title:
            return self.spelt_place  # the stub of a note without a body
        return f"{self.spelt_place}\n{self.text}"

    @property
    def spelt_place(self) -> str:
        """The place with names out of code as words: `enablePrettyRefs` is no word to a model."""
        return _IDENTIFIER.sub(
            lambda name: _HUMP.sub(" ", name.group().replace("_", " ")), self.place
        )

    @property
    def surface_key(self) -> bytes:
        """16 bytes that are equal for equal search texts: what vectors are kept under."""
        return blake2b(self.search_text.encode("utf-8"), digest_size=16).digest()

    @property
    def place(self) -> str:
        """`Title > Heading > Subheading`, without a heading that only repeats the title."""
        path = self.heading_path
        if path and path[0].casefold() == self.title.casefold():
            path = path[1:]
        return " > ".join((self.title, *filter(None, path)))


@dataclass(frozen=True, slots=True)
class ChannelTrace:
    """What one channel gave one hit: contribution = weight / (k + effective_rank)."""

    rank: int  # ordinal, from 1
    score: float  # the channel's own
    calibrated: float | None  # in (0, 1]; None when ranks are ordinal
    effective_rank: float  # rho
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Trace:
    """score = fused * product(factors), where fused = sum of the contributions."""

    channels: Mapping[str, ChannelTrace]
    k: float  # of the fusion, in ranks
    fused: float
    factors: Mapping[str, float]  # recency, importance, cap, status, quality, repeat; those applied
    notes: Mapping[str, Json] = field(default_factory=dict)  # e.g. linked_from, why of a factor


@dataclass(frozen=True, slots=True)
class Hit:
    chunk: Chunk
    score: float
    trace: Trace
    snippet: str  # around the matching words
    matches: tuple[tuple[int, int], ...]  # spans of matching words in `snippet`
    text_matches: tuple[tuple[int, int], ...]  # the same in `chunk.text`
    evidence: float  # how likely it is about the question: 0 to 1, see search/evidence.py
    meta: Mapping[str, Json]  # the note's frontmatter
    modified: float  # Unix seconds, of the note's file as it was indexed
    tags: tuple[str, ...] = ()  # of the note: frontmatter and inline
    # superseded, deprecated, archived, stale, expired, not-yet-valid: on the day that was asked of
    labels: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()  # paths of the notes that replaced this one
    duplicates: tuple[str, ...] = ()  # `path:lines` of near copies of this text, not shown
    more_in_note: int = 0  # chunks of its note that match too, left out by group or max_per_note
    description: str = ""  # what the settings say of where the note lies
    word_share: float = 0.0  # of the question's words, weighed by rarity, in its text and place
    word_rarity: float = 0.0  # of those together: 1 where no note would hold them by chance
    part: int = 1  # which piece of its section the chunk is
    nearness: float | None = None  # its cosine alone, calibrated: 0 to 1; None without a vector


@dataclass(frozen=True, slots=True)
class Missing:
    """A part that could not run, and why; `why` ends with the remedy."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    query: str
    hits: tuple[Hit, ...]
    ran: tuple[str, ...]  # channels that answered
    unavailable: tuple[Missing, ...]
    warnings: tuple[str, ...]  # e.g. a filter on a property that no note has, or a lagging index
    generation: str
    timings_ms: Mapping[str, float]
    more: bool = False  # whether there were further hits beyond top_k
    changed: tuple[str, ...] = ()  # notes among the hits whose file is not as it was indexed
    corrections: tuple[tuple[str, str], ...] = ()  # misspelt words as typed, and as searched for
    understood: str = ""  # how phrases, exclusions and filters in the query were read; "" for none
    evidence: float = 0.0  # of the best hit, also of one that min_evidence left out


@dataclass(frozen=True, slots=True)
class Citation:
    number: int
    note: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    labels: tuple[str, ...] = ()  # as of a hit: what of the note does not hold
    replaced_by: tuple[str, ...] = ()  # paths


@dataclass(frozen=True, slots=True)
class Context:
    query: str
    text: str
    citations: tuple[Citation, ...]
    tokens: int  # upper estimate of the rendered text, never over `budget`
    budget: int
    relevant: int  # hits that answer the question, whether they fitted or not
    skipped: tuple[str, ...]  # ids of hits that did not fit or were not relevant
    redacted: int  # how many secret-shaped spans were masked
    unavailable: tuple[Missing, ...] = ()
    warnings: tuple[str, ...] = ()
    understood: str = ""  # as of SearchResult
    corrections: tuple[tuple[str, str], ...] = ()  # the same


@dataclass(frozen=True, slots=True)
class Query:
    """A question with everything ranking needs, so that ranking never reads a clock."""

    text: str
    top_k: int
    today: dt.date  # what recency counts from, and on what day notes hold
    as_of: bool = False  # whether that day was asked for: only what existed and held then
    group: Literal["chunk", "note"] = "chunk"  # what a hit is; of a note it is the best chunk
    max_per_note: int | None = None  # chunks among the hits; 0 is any number, None as settings say
    plain: bool = False  # all of the text is words: quotes, -word, OR and tag:x mean nothing
