"""BM25 by fields over notes and over their chunks: tantivy on disk, and rank_bm25 in memory.

A note is one entry of an index of notes. A chunk is one entry or more of an index of windows, each
of WINDOW terms behind the names of its note and section, and scores as its best. Each field has
document frequencies and an average length of its own:

    score = sum over fields of weight * sum over words of count * max over variants of
            ln(1 + (n - df + .5) / (df + .5)) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len / avg))

with k1 = 1.2, b = 0.75 and n = the number of entries, as Lucene has it: never negative.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import Unavailable
from .tokens import LexicalQuery, pair_terms

if TYPE_CHECKING:
    import tantivy
    from numpy.typing import NDArray

LEXICAL_VERSION = 2  # part of the stamp of an index; raise it when fields or pairs change

K1 = 1.2
B = 0.75
REMEDY = "run: cortex index --force"

NOTES = "notes"
CHUNKS = "chunks"
NOTE_FIELDS = ("all", "title", "path", "names", "pair", "surface")
CHUNK_FIELDS = ("text",)

WINDOW = 48  # terms; RANKING.md, section 1
STRIDE = 24  # from one window to the next
WINDOWS_A_CHUNK = 3  # looked at for each chunk that is wanted

HEAP_BYTES = 128_000_000  # of terms in memory before they go to disk
# tantivy counts a deleted entry in n, df and avg until its segment is merged, and leaves a segment
# with deletions alone. Above this share, or in an index small enough, all is written anew.
MAX_DELETED_SHARE = 0.05
SMALL_INDEX = 500  # entries; rewriting them takes about 0.1 s
SIGNIFICANT_DIGITS = 6  # what equal scores, added up in another order, share in float32


@dataclass(frozen=True, slots=True)
class LexicalChunk:
    """The terms of a chunk, by field."""

    key: int  # key64 of the chunk id
    heading: tuple[str, ...]  # of its own, last heading
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LexicalNote:
    """The terms of a note, by field."""

    key: int  # key64 of the path
    title: tuple[str, ...]
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    path: tuple[str, ...]
    chunks: tuple[LexicalChunk, ...]
    surface: tuple[str, ...] = ()  # all its words as they are written, without stemming


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """What the score of a field counts. `all` is also the weight of the windows of a chunk."""

    all: float = 1.0  # title, names, headings and text
    title: float = 0.2  # title and aliases
    path: float = 0.5
    names: float = 0.15  # tags
    pair: float = 0.1  # neighbours in `all`
    surface: float = 0.4  # words in the very form that was asked for


def _note_terms(note: LexicalNote) -> dict[str, Sequence[str]]:
    everything = [*note.title, *note.aliases, *note.tags]
    heading: tuple[str, ...] = ()
    for chunk in note.chunks:
        if chunk.heading != heading:  # of a section cut into chunks, once
            everything.extend(chunk.heading)
            heading = chunk.heading
        everything.extend(chunk.text)
    return {
        "all": everything,
        "title": note.title + note.aliases,
        "path": note.path,
        "names": note.tags,
        "pair": list(pair_terms(everything)),
        "surface": note.surface,
    }


def _windows(note: LexicalNote, chunk: LexicalChunk) -> Iterator[dict[str, Sequence[str]]]:
    """The entries of a chunk: its text by windows that half overlap."""
    names = note.title + note.aliases + chunk.heading
    for start in range(0, max(len(chunk.text), 1), STRIDE):
        yield {"text": names + chunk.text[start : start + WINDOW]}
        if start + WINDOW >= len(chunk.text):
            return


_Asked = tuple[str, float, tuple[str, ...]]  # field, weight, variants


def _asked_of_notes(query: LexicalQuery, weights: FieldWeights) -> Iterator[_Asked]:
    for word in query.words:
        for field in ("all", "title", "path", "names"):
            yield field, getattr(weights, field) * word.count, word.variants
        yield "surface", weights.surface * word.count, word.as_written
    for variants in query.pairs:
        yield "pair", weights.pair, variants


def _asked_of_chunks(query: LexicalQuery, weights: FieldWeights) -> Iterator[_Asked]:
    for word in query.words:
        yield "text", weights.all * word.count, word.variants


def _best_windows(
    ranked: Iterable[tuple[int, int, float]], limit: int
) -> list[tuple[int, int, float]]:
    """Each chunk once, by the first of its windows; at most `limit`."""
    best: dict[int, tuple[int, int, float]] = {}
    for entry in ranked:
        best.setdefault(entry[0], entry)
    return list(best.values())[:limit]


def _rounded(score: float) -> float:
    return float(f"{score:.{SIGNIFICANT_DIGITS}g}")


class TantivyIndex:
    """The index on disk. A folder is written once, by build(), and only read from then on."""

    def __init__(self, notes: _Folder, chunks: _Folder, weights: FieldWeights) -> None:
        self._notes = notes
        self._chunks = chunks
        self._weights = weights

    @classmethod
    def build(
        cls,
        folder: Path,
        previous: Path | None,
        notes: Iterable[LexicalNote],
        removed: Collection[int],
    ) -> None:
        """Write an index into `folder`, which is made if need be.

        It holds what `previous` holds, without the notes of `removed`, and `notes`, which take the
        place of any of the same key. `previous` is not changed; its files are shared by hard links
        where the file system has them. Raises Unavailable if it is damaged.
        """
        with _system_errors(folder):
            cls._build(folder, previous, notes, removed)

    @staticmethod
    def _build(
        folder: Path,
        previous: Path | None,
        notes: Iterable[LexicalNote],
        removed: Collection[int],
    ) -> None:
        writers = {
            NOTES: _Writer(folder / NOTES, previous and previous / NOTES, NOTE_FIELDS),
            CHUNKS: _Writer(folder / CHUNKS, previous and previous / CHUNKS, CHUNK_FIELDS),
        }
        for key in removed:
            for writer in writers.values():
                writer.remove(key)
        for note in notes:
            for writer in writers.values():
                writer.remove(note.key)
            writers[NOTES].add(note.key, note.key, _note_terms(note))
            for chunk in note.chunks:
                for window in _windows(note, chunk):
                    writers[CHUNKS].add(chunk.key, note.key, window)
        for name, writer in writers.items():
            writer.close()
            _rewrite_if_worn(folder / name, NOTE_FIELDS if name == NOTES else CHUNK_FIELDS)

    @classmethod
    def check(cls, folder: Path) -> None:
        """Raises Unavailable unless `folder` holds an index that opens."""
        cls.open(folder, FieldWeights())

    @classmethod
    def open(cls, folder: Path, weights: FieldWeights) -> TantivyIndex:
        """Raises Unavailable if there is no index, or a damaged one."""
        return cls(_Folder(folder / NOTES), _Folder(folder / CHUNKS), weights)

    def rank_notes(
        self, query: LexicalQuery, limit: int, allowed: Collection[int] | None
    ) -> list[tuple[int, float]]:
        """(note key, score), best first, ties by key; only scores above 0."""
        hits = self._notes.rank(_asked_of_notes(query, self._weights), limit, allowed)
        return [(key, score) for key, _, score in hits]

    def rank_chunks(
        self, query: LexicalQuery, limit: int, notes: Collection[int] | None
    ) -> list[tuple[int, int, float]]:
        """(chunk key, note key, score), best first, ties by chunk key; only scores above 0."""
        asked = list(_asked_of_chunks(query, self._weights))
        return _best_windows(self._chunks.rank(asked, WINDOWS_A_CHUNK * limit, notes), limit)

    def document_frequency(self, terms: Collection[str]) -> Mapping[str, int]:
        """In how many notes each term stands, in their path or in anything else."""
        return {term: self._notes.document_frequency(("all", "path"), term) for term in terms}

    @property
    def note_count(self) -> int:
        return self._notes.count


@contextmanager
def _system_errors(folder: Path) -> Iterator[None]:
    """Raise what the system refused as the OSError it is: tantivy hides it in a ValueError."""
    try:
        yield
    except ValueError as error:
        found = re.search(r"os error (\d+)", str(error))
        if found is None:
            raise
        number = int(found[1])
        raise OSError(number, os.strerror(number), str(folder)) from None


@contextmanager
def _lockable(folder: Path) -> Iterator[Path]:
    """A folder with the same files in which tantivy may make its lock file.

    Opening takes that lock even to read. Where the folder cannot be written, links to its files
    in a passing folder serve; once open, the files stay open.
    """
    if os.access(folder, os.W_OK):
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="cortex-") as place:
        for entry in os.scandir(folder):
            if not entry.name.endswith(".lock"):
                os.symlink(os.path.abspath(entry.path), os.path.join(place, entry.name))
        yield Path(place)


class _Folder:
    """One tantivy index, open for reading. Entries have a key, and the key of their note."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._tantivy = tantivy
        with _damage_is_unavailable():
            if not (folder / "meta.json").is_file():
                raise FileNotFoundError("there is none")
            self._fields = _fields_of(folder)
            with _lockable(folder) as place:
                index = tantivy.Index.open(str(place))
                index.config_reader(reload_policy="manual")  # no thread that watches the folder
                self._searcher = index.searcher()
        self._schema = index.schema
        self.count: int = self._searcher.num_docs

    def rank(
        self, asked: Iterable[_Asked], limit: int, notes: Collection[int] | None
    ) -> list[tuple[int, int, float]]:
        limit = min(limit, self.count)
        if limit <= 0 or (notes is not None and not notes):
            return []
        with _damage_is_unavailable():
            query = self._query(asked)
            if query is None:
                return []
            hits = self._best(query if notes is None else self._only(query, notes), limit)
            scores = [score for score, _ in hits]
            addresses = [address for _, address in hits]
            keys = self._key_values("key", addresses)
            owners = self._key_values("note", addresses)
        ranked = zip(keys, owners, scores, strict=True)
        positive = [entry for entry in ranked if entry[2] > 0]
        positive.sort(key=lambda entry: (-entry[2], entry[0]))
        return positive[:limit]

    def _best(self, query: tantivy.Query, limit: int) -> list[tuple[float, tantivy.DocAddress]]:
        """At least the `limit` best, and all that equal the last of them: the key decides there."""
        size = limit + 1
        while True:
            size = min(size, self.count)
            hits = [
                (_rounded(score), address)
                for score, address in self._searcher.search(query, size, count=False).hits
            ]
            if len(hits) < size or size == self.count or hits[-1][0] < hits[limit - 1][0]:
                return hits
            size *= 4

    def entries(self) -> Iterator[tuple[int, int, dict[str, Sequence[str]]]]:
        """(key, note key, terms by field) of all that is not deleted, in the order of adding."""
        if self.count:
            query = self._tantivy.Query.all_query()
            for _, address in self._searcher.search(query, self.count, count=False).hits:
                stored = self._searcher.doc(address).to_dict()
                (key,), (note,) = stored.pop("key"), stored.pop("note")
                terms: dict[str, Sequence[str]]
                terms = {field: text.split(" ") for field, (text,) in stored.items()}
                if "all" in terms:
                    terms["pair"] = list(pair_terms(terms["all"]))
                yield key, note, terms

    def document_frequency(self, fields: Sequence[str], term: str) -> int:
        with _damage_is_unavailable():
            return self._document_frequency(fields, term)

    def _document_frequency(self, fields: Sequence[str], term: str) -> int:
        present = [field for field in fields if field in self._fields]
        counts = [(self._searcher.doc_freq(field, term), field) for field in present]
        holding = [field for count, field in counts if count]
        if len(holding) < 2:
            return max((count for count, _ in counts), default=0)
        query = self._tantivy.Query.boolean_query(
            [(self._tantivy.Occur.Should, self._term(field, term)) for field in holding]
        )
        found: int = self._searcher.search(query, 1, count=True).count  # type: ignore[attr-defined]
        return found

    def _query(self, asked: Iterable[_Asked]) -> tantivy.Query | None:
        make, should = self._tantivy.Query, self._tantivy.Occur.Should
        parts = []
        for field, weight, variants in asked:
            if field not in self._fields:  # of an index that an earlier version has written
                continue
            known = [term for term in variants if self._searcher.doc_freq(field, term)]
            if not known or weight <= 0:
                continue
            terms = [self._term(field, term) for term in known]
            part = terms[0] if len(terms) == 1 else make.disjunction_max_query(terms)
            parts.append((should, make.boost_query(part, weight)))
        return make.boolean_query(parts) if parts else None

    def _term(self, field: str, term: str) -> tantivy.Query:
        return self._tantivy.Query.term_query(self._schema, field, term, "freq")

    def _key_values(self, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        values = self._searcher.fast_field_values(field, addresses)
        if None in values:  # no entry lacks a key, unless the file lost it
            raise Unavailable("bm25", "the keyword index is damaged; run: cortex index --force")
        return cast("list[int]", values)

    def _only(self, query: tantivy.Query, notes: Collection[int]) -> tantivy.Query:
        make, must = self._tantivy.Query, self._tantivy.Occur.Must
        chosen = make.const_score_query(make.term_set_query(self._schema, "note", list(notes)), 0.0)
        return make.boolean_query([(must, query), (must, chosen)])


class _Writer:
    """One tantivy index in the making."""

    def __init__(self, folder: Path, previous: Path | None, fields: Sequence[str]) -> None:
        import tantivy

        self._tantivy = tantivy
        folder.mkdir(parents=True, exist_ok=True)
        with _damage_is_unavailable():
            if previous is None:
                index = tantivy.Index(_schema(fields), path=str(folder), reuse=False)
            else:
                _share(previous, folder)
                index = tantivy.Index.open(str(folder))
            self._schema = index.schema
            # With one thread, entries keep the order in which they were added.
            self._writer = index.writer(heap_size=HEAP_BYTES, num_threads=1)
        self._grows = previous is not None

    def remove(self, note: int) -> None:
        if self._grows:
            # delete_documents_by_term takes the number for a signed one, and finds nothing.
            query = self._tantivy.Query.term_query(self._schema, "note", note)
            self._writer.delete_documents_by_query(query)

    def add(self, key: int, note: int, terms: Mapping[str, Sequence[str]]) -> None:
        entry = self._tantivy.Document()
        entry.add_unsigned("key", key)
        entry.add_unsigned("note", note)
        for field, words in terms.items():
            if words:
                entry.add_text(field, " ".join(words))
        self._writer.add_document(entry)

    def close(self) -> None:
        self._writer.commit()
        self._writer.wait_merging_threads()


@contextmanager
def _damage_is_unavailable() -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        # tantivy panics on some damage, and pyo3's PanicException is no Exception.
        if isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException":
            why = f"the lexical index cannot be read ({error}); {REMEDY}"
            raise Unavailable("bm25", why) from error
        raise


def _fields_of(folder: Path) -> frozenset[str]:
    """The fields that an index was made with. Raises ValueError where that cannot be read."""
    try:
        schema = json.loads((folder / "meta.json").read_bytes())["schema"]
        return frozenset(str(field["name"]) for field in schema)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{folder / 'meta.json'} is damaged") from error


def _schema(fields: Sequence[str]) -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    for key in ("key", "note"):
        builder.add_unsigned_field(key, stored=True, indexed=True, fast=True)
    for field in fields:
        # Stored, so that an index can be written anew out of itself; pairs follow from `all`.
        stored = field != "pair"
        builder.add_text_field(
            field, stored=stored, tokenizer_name="whitespace", index_option="freq"
        )
    return builder.build()


def _share(previous: Path, folder: Path) -> None:
    """The files of an index, linked or copied into another folder.

    tantivy writes a segment once and never changes it; what it does replace, it gets as a copy.
    """
    for file in sorted(previous.iterdir()):
        target = folder / file.name
        if file.suffix == ".lock":
            continue
        if file.suffix == ".json":
            shutil.copyfile(file, target)
            continue
        try:
            os.link(file, target)
        except OSError:
            shutil.copyfile(file, target)
    if not (folder / "meta.json").exists():
        raise FileNotFoundError("there is none")


def _rewrite_if_worn(folder: Path, fields: Sequence[str]) -> None:
    """Write an index anew, out of itself, where deleted entries would change its scores."""
    entries, deleted = _entries(folder)
    if not deleted or (entries > SMALL_INDEX and deleted <= MAX_DELETED_SHARE * entries):
        return
    rewritten = folder.with_name(folder.name + ".new")
    writer = _Writer(rewritten, None, fields)
    for entry in _Folder(folder).entries():
        writer.add(*entry)
    writer.close()
    shutil.rmtree(folder)
    rewritten.rename(folder)


def _entries(folder: Path) -> tuple[int, int]:
    """How many entries an index has, those deleted included, and how many of them are deleted."""
    segments = json.loads((folder / "meta.json").read_bytes())["segments"]
    deleted = ((segment["deletes"] or {}).get("num_deleted_docs", 0) for segment in segments)
    return sum(segment["max_doc"] for segment in segments), sum(deleted)


def deleted_entries(folder: Path) -> int | None:
    """How many deleted entries still count in the scores; None if that cannot be read."""
    try:
        return sum(_entries(folder / name)[1] for name in (NOTES, CHUNKS))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


class RankBM25Index:
    """The same answers out of memory, by rank_bm25: slow, plain, and what tantivy is tested by."""

    def __init__(self, notes: Iterable[LexicalNote], weights: FieldWeights) -> None:
        entries = list(notes)
        windows = [
            (chunk.key, note.key, window)
            for note in entries
            for chunk in note.chunks
            for window in _windows(note, chunk)
        ]
        self._weights = weights
        self._notes = _Table(
            [(note.key, note.key) for note in entries], list(map(_note_terms, entries))
        )
        self._chunks = _Table(
            [(chunk, owner) for chunk, owner, _ in windows], [terms for _, _, terms in windows]
        )

    def rank_notes(
        self, query: LexicalQuery, limit: int, allowed: Collection[int] | None
    ) -> list[tuple[int, float]]:
        """(note key, score), best first, ties by key; only scores above 0."""
        hits = self._notes.rank(_asked_of_notes(query, self._weights), limit, allowed)
        return [(key, score) for key, _, score in hits]

    def rank_chunks(
        self, query: LexicalQuery, limit: int, notes: Collection[int] | None
    ) -> list[tuple[int, int, float]]:
        """(chunk key, note key, score), best first, ties by chunk key; only scores above 0."""
        asked = list(_asked_of_chunks(query, self._weights))
        return _best_windows(self._chunks.rank(asked, WINDOWS_A_CHUNK * limit, notes), limit)

    def document_frequency(self, terms: Collection[str]) -> Mapping[str, int]:
        """In how many notes each term stands, in their path or in anything else."""
        return {term: self._notes.document_frequency(("all", "path"), term) for term in terms}

    @property
    def note_count(self) -> int:
        return len(self._notes.keys)


class _Table:
    """The fields of notes, or of chunks, each with its BM25."""

    def __init__(
        self, keys: list[tuple[int, int]], entries: list[Mapping[str, Sequence[str]]]
    ) -> None:
        self.keys = keys
        self._bm25 = {}
        for field in entries[0] if entries else ():
            corpus = [list(entry[field]) for entry in entries]
            if any(corpus):  # rank_bm25 divides by the average length
                self._bm25[field] = _okapi()(corpus, k1=K1, b=B)

    def rank(
        self, asked: Iterable[_Asked], limit: int, notes: Collection[int] | None
    ) -> list[tuple[int, int, float]]:
        import numpy as np

        if limit <= 0 or not self.keys:
            return []
        total: NDArray[Any] = np.zeros(len(self.keys))
        for field, weight, variants in asked:
            if field in self._bm25 and weight > 0:
                by_variant = [self._bm25[field].get_scores([term]) for term in variants]
                total += weight * np.max(by_variant, axis=0)
        chosen = None if notes is None else set(notes)
        ranked = [
            (key, owner, _rounded(score))
            for (key, owner), score in zip(self.keys, total.tolist(), strict=True)
            if score > 0 and (chosen is None or owner in chosen)
        ]
        ranked.sort(key=lambda entry: (-entry[2], entry[0]))
        return ranked[:limit]

    def document_frequency(self, fields: Sequence[str], term: str) -> int:
        tables = [self._bm25[field].doc_freqs for field in fields if field in self._bm25]
        return sum(
            any(term in table[position] for table in tables) for position in range(len(self.keys))
        )


@cache
def _okapi() -> type[Any]:
    from rank_bm25 import BM25Okapi

    class LuceneOkapi(BM25Okapi):  # type: ignore[misc]
        """With Lucene's inverse document frequency, which no word makes negative."""

        def _calc_idf(self, nd: Mapping[str, int]) -> None:
            for term, df in nd.items():
                self.idf[term] = math.log(1 + (self.corpus_size - df + 0.5) / (df + 0.5))

    return LuceneOkapi
