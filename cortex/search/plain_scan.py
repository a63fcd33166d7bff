"""A look at the note files by words alone: for when there is no index to ask."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from ..indexer.tokens import (
    ALIAS,
    LexicalQuery,
    detect_language,
    query_terms,
    terms,
)
from ..types import Chunk, Hit, Json
from ..vault.frontmatter import HEAD_BYTES, is_in_scope, projects_of
from ..vault.scan import FoundNote
from .evidence import gate_weights, match, rarity_of
from .note_files import NoteFiles, Records, header_record, may_replace, moment_of
from .standing import type_of
from .truth import Truth

SAMPLE_CHARS = 800  # by which the language of a note is told
SAMPLE_NOTES = 60  # by which those of the vault are
NOTES_CUT = 6  # notes that are cut into chunks, by each hit wanted
PER_NOTE = 2  # hits of one note
LEAST_CHARS = 3  # of the beginning of a word that its forms share
QUERY_CHARS = 2_000  # of a question

_MARKS = re.compile("[\u0300-\u036f]+")


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A chunk found by words, by the index or without one."""

    path: str
    title: str
    section: str  # `Title > Heading > Subheading`
    type: str  # of its note; "" without one
    heading_path: tuple[str, ...]
    start_line: int  # from 1
    end_line: int
    text: str
    share: float  # of the question's words that it holds, weighed by how rare they are: 0 to 1
    rarity: float  # of those together: 1 where no note would hold them by chance
    part: int  # which piece of its section it is, from 1
    time: float  # Unix seconds, of its note
    time_from: str  # what tells it: see note_files.Moment
    project: str | None  # several are joined by ", "
    labels: tuple[str, ...] = ()  # superseded, expired, ...: why its note does not hold today
    secrets: tuple[str, ...] = ()  # lines of a secret of which the text holds but a part

    @property
    def place(self) -> str:
        """`folder/Note.md:3-9`."""
        return f"{self.path}:{self.start_line}-{self.end_line}"


@dataclass(frozen=True, slots=True)
class PlainScan:
    hits: tuple[NoteHit, ...]  # best first; equal ones newest first, then by path and line
    matched: int  # notes that hold a word of the question
    read: int  # notes that were read
    why: str  # what was not looked at; "" when all was


@dataclass(frozen=True, slots=True)
class Recalled:
    """Notes found by words: no model, no vectors, no network."""

    hits: tuple[NoteHit, ...]  # best first
    matched: int  # at least so many chunks were found
    by: Literal["bm25", "scan"]
    why: str  # why not by the index, and what was not looked at; "" for nothing of that


def plain_scan(
    files: NoteFiles, text: str, top_k: int, project: str | None, today: dt.date
) -> PlainScan:
    """The chunks that hold the greatest share of the question's words, at most `top_k`.

    project: notes of it and of none, and never another's. What holds no word is no hit.
    """
    languages = _languages(files)
    query = query_terms(text[:QUERY_CHARS], languages)
    places: dict[str, set[int]] = {}  # term -> words of the question
    for at, word in enumerate(query.words):
        for term in word.variants:
            places.setdefault(term, set()).add(at)
    holding: list[tuple[FoundNote, str, frozenset[int]]] = []
    counts: Counter[int] = Counter()
    replacing: list[FoundNote] = []
    read = 0
    beginnings = _beginnings(query)
    for note, body in files.texts():
        read += 1
        if may_replace(body):
            replacing.append(note)
        looked_through = _plain(f"{note.path}\n{body}")
        if not any(beginning in looked_through for beginning in beginnings):
            continue
        language = _language(body, languages)
        own = places.keys() & set(terms(f"{note.path[:-3]}\n{body}", language))
        held = frozenset(at for term in own for at in places[term])
        counts.update(held)
        if held:
            holding.append((note, language, held))
    weights = gate_weights([counts[at] for at in range(len(query.words))], read)
    holding.sort(key=lambda one: (-sum(weights[at] for at in one[2]), one[0].path))
    best = holding[: NOTES_CUT * top_k] if project is None else holding
    records = _records(files, (*(note for note, _, _ in best), *replacing))
    truth = Truth(Records(records.values(), None if replacing else {}), today, is_past=False)
    hits: list[NoteHit] = []
    looked_at = 0
    for note, language, _ in best:
        record = records.get(note.path)
        if record is None or not is_in_scope(record["frontmatter"], project):
            continue
        hits += _hits(files.chunks(note), record, query, weights, language, read, truth)
        looked_at += 1
        if looked_at >= NOTES_CUT * top_k:
            break
    hits.sort(key=lambda hit: (-round(hit.share, 6), -hit.time, hit.path, hit.start_line))
    return PlainScan(tuple(hits[:top_k]), len(holding), read, files.why)


def _beginnings(query: LexicalQuery) -> frozenset[str]:
    """One of which stands in every text that holds a word of the question in any of its forms.

    To look for them is ten times as fast as to part a text into its terms.
    """
    found: set[str] = set()
    for word in query.words:
        surface = _plain(word.surface)
        for variant in word.variants:
            form = _plain(variant.removeprefix(ALIAS))
            pairs = zip(surface, form, strict=False)
            common = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            is_long = len(common) >= LEAST_CHARS
            found.update((common,) if is_long else (surface[:LEAST_CHARS], form[:LEAST_CHARS]))
    return frozenset(filter(None, found))


def _plain(text: str) -> str:
    """In lower case, without the marks on letters."""
    text = text.casefold()
    return text if text.isascii() else _MARKS.sub("", unicodedata.normalize("NFKD", text))


def as_note_hit(hit: Hit) -> NoteHit:
    """A hit of the index in the form of one without it."""
    note = {"file": hit.chunk.note, "frontmatter": hit.meta, "modified": hit.modified}
    return _note_hit(hit.chunk, note, hit.word_share, hit.word_rarity, hit.part, hit.labels)


def _languages(files: NoteFiles) -> list[str]:
    """Those of some notes, from all over the vault, the commonest first."""
    step = max(len(files.notes) // SAMPLE_NOTES, 1)
    found: Counter[str] = Counter()
    for note in files.notes[::step]:
        head = files.read(note, SAMPLE_CHARS)
        if head is not None:
            found[detect_language(head.decode("utf-8", "ignore"))] += 1
    return [language for language, _ in found.most_common() if language != "und"] or ["und"]


def _language(body: str, languages: Sequence[str]) -> str:
    """A note's; that of most notes for one too short to tell."""
    language = detect_language(body[:SAMPLE_CHARS])
    return languages[0] if language == "und" else language


def _records(files: NoteFiles, notes: Iterable[FoundNote]) -> dict[str, dict[str, Json]]:
    """path -> what its properties say, of those notes that can be read."""
    records: dict[str, dict[str, Json]] = {}
    for note in notes:
        if note.path not in records:
            head = files.read(note, HEAD_BYTES)
            if head is not None:
                records[note.path] = header_record(note, head)
    return records


def _hits(
    chunks: Iterable[Chunk],
    note: Mapping[str, Json],
    query: LexicalQuery,
    weights: Sequence[float],
    language: str,
    notes: int,
    truth: Truth,
) -> list[NoteHit]:
    """The best of a note's chunks, of those that hold a word themselves or by their headings."""
    labels = truth.labels(note)
    parts: Counter[tuple[str, ...]] = Counter()
    found: list[NoteHit] = []
    for chunk in chunks:
        parts[chunk.heading_path] += 1
        matched = match(query, weights, chunk, (), language)
        if matched.share > 0:
            rare = rarity_of(matched.own_weight, notes)
            found.append(
                _note_hit(chunk, note, matched.share, rare, parts[chunk.heading_path], labels)
            )
    return sorted(found, key=lambda hit: (-hit.share, hit.start_line))[:PER_NOTE]


def _note_hit(
    chunk: Chunk,
    note: Mapping[str, Json],
    share: float,
    rarity: float,
    part: int,
    labels: tuple[str, ...],
) -> NoteHit:
    values, moment = note["frontmatter"], moment_of(note)
    return NoteHit(
        path=chunk.note,
        title=chunk.title,
        section=chunk.place,
        type=type_of(values),
        heading_path=chunk.heading_path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        text=chunk.text,
        share=share,
        rarity=rarity,
        part=part,
        time=moment.at,
        time_from=moment.by,
        project=", ".join(projects_of(values)) or None,
        labels=labels,
        secrets=chunk.secrets,
    )
