"""build_index: changed notes -> chunks.jsonl, notes.jsonl, lexical index, as one generation."""

from __future__ import annotations

import json
import re
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from pathlib import Path
from typing import IO

import numpy as np

from ..errors import CortexError, Damaged, Unavailable
from ..files import dumps, read_json, write_json
from ..protocols import Progress
from ..state import Stamp, State
from ..text import Undecodable
from ..types import Chunk, Json, Problem, key64
from ..vault.chunk import CHUNKER_VERSION, chunk_note
from ..vault.note import read_note
from ..vault.scan import FolderRules, FoundNote, scan
from .chunks import (
    CHUNKS,
    NOTES,
    RecordFile,
    chunk_of,
    chunk_record,
    note_record,
    property_texts,
    write_arrays,
)
from .lexical import LEXICAL_VERSION, LexicalChunk, LexicalNote, TantivyIndex
from .names import NAMES_VERSION, NameIndex, NameWriter, names_of
from .tokens import TOKENIZER_VERSION, UNSTEMMED, detect_language, terms
from .vocabulary import VOCABULARY_VERSION, VocabularyWriter

FORMAT_VERSION = 1  # of the files of a generation
LEXICAL = "lexical"
LANGUAGE_SAMPLE = 300  # notes
LANGUAGE_SAMPLE_BYTES = 2000
REPLACEMENTS = "replacements.json"  # [older note, newer one, whether the older says so]
REPLACEMENTS_VERSION = 1
LEFT_OUT = "left_out.json"  # paths of files that could not be read as text
PUBLIC = (CHUNKS, NOTES)


@dataclass(frozen=True, slots=True)
class NoteProblem:
    note: str
    code: str
    message: str
    line: int | None = None


@dataclass(slots=True)
class IndexReport:
    """What a run found. `kept` are notes that could not be read and keep their last chunks."""

    notes: int = 0
    chunks: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    problems: list[NoteProblem] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    generation: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Read:
    """What the first pass learned of one file."""

    path: str
    found: FoundNote | None  # None: it could not be read, and keeps its last chunks
    sha: bytes
    previous: int  # ordinal in the previous generation, -1 if it is not there


def build_index(
    state: State,
    vault: Path,
    rules: FolderRules,
    *,
    force: bool = False,
    follow_outside: bool = False,
    replacements: Callable[[Sequence[Mapping[str, Json]]], Json] = lambda notes: [],
    progress: Progress | None = None,
) -> IndexReport:
    """Bring the index up to date with the vault, by content. Only the writer may call this.

    force: parse every note again. replacements: what replaced what, by the records of all notes;
    called when a note says that it replaces one, or was. Raises CortexError if the vault is not
    there.
    """
    began = time.perf_counter()
    if not vault.is_dir():
        raise CortexError(
            f"the vault {vault} is not a folder; set vault.path to where your notes are"
        )
    found = scan(vault, rules, follow_outside=follow_outside)
    previous = _Previous.open(state)
    language = _main_language(found.notes)
    # Without `reuse`, the last generation still serves notes that cannot be read now.
    reuse = (
        previous is not None
        and not force
        and previous.stamp.values["versions"] == _versions()
        and previous.stamp.values["main_language"] == language
    )
    report = IndexReport()
    report.problems = [NoteProblem(path, p.code, p.message, p.line) for path, p in found.problems]
    if progress:
        progress.start("index", len(found.notes), "notes")
    reads = _first_pass(found.notes, previous, report)
    if found.unreadable:
        reads = _with_unread_folders(reads, found.unreadable, previous, report)
    kept = {read.previous for read in reads}
    gone = [] if previous is None else [i for i in range(len(previous.notes)) if i not in kept]
    report.removed = len(gone)

    if previous is not None and reuse and not gone and previous.holds_all(reads):
        stamp = previous.stamp
        report.unchanged = len(reads)
        report.problems.extend(previous.problems)
        state.expose(stamp.folder, PUBLIC)
        if progress:
            progress.advance(len(reads))
    else:
        folder = state.new_folder("index")
        writer = _Writer(folder, previous, reuse, report, language, progress)
        if reuse:
            writer.forget(gone)
        TantivyIndex.build(
            folder / LEXICAL,
            previous.lexical if previous is not None and reuse else None,
            writer.write(reads),
            [int(previous.notes.keys[i]) for i in gone] if previous is not None and reuse else [],
        )
        values = writer.close(replacements)
        stamp = state.publish("index", writer.generation(), folder, values, PUBLIC)
    if progress:
        progress.finish()
    report.generation = stamp.generation
    report.notes, report.chunks = stamp.values["notes"], stamp.values["chunks"]
    report.problems.sort(key=lambda problem: (problem.note, problem.line or 0, problem.code))
    report.seconds = time.perf_counter() - began
    return report


def _main_language(notes: list[FoundNote]) -> str:
    """The commonest language of a sample: the one that notes too short to tell are in."""
    counts: Counter[str] = Counter()
    untold: list[str] = []
    for note in notes[:: max(len(notes) // LANGUAGE_SAMPLE, 1)]:
        try:
            with open(note.file, "rb") as file:
                text = file.read(LANGUAGE_SAMPLE_BYTES).decode("utf-8", "ignore")
        except OSError:
            continue
        text = re.sub(r"\A---\s*\n.*?\n---\s*\n", "", text, flags=re.DOTALL)
        language = detect_language(text)
        if language == "und":
            untold.append(text)
        else:
            counts[language] += 1
    if not counts:
        language = detect_language("\n".join(untold))
        return "en" if language == "und" else language
    language, _ = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return language


def _first_pass(
    notes: list[FoundNote], previous: _Previous | None, report: IndexReport
) -> list[_Read]:
    """Hash every file; a file that cannot be read keeps its last chunks and is reported."""
    reads = []
    ordinals = (
        previous.notes.ordinals([key64(note.path) for note in notes])
        if previous is not None
        else np.full(len(notes), -1, dtype=np.int64)
    )
    for note, ordinal in zip(notes, ordinals.tolist(), strict=True):
        try:
            sha = sha256(note.file.read_bytes()).digest()
        except FileNotFoundError:
            continue  # it vanished between the listing and the reading
        except OSError as error:
            message = f"cannot be read ({error.strerror}); mend its permissions"
            report.problems.append(NoteProblem(note.path, "unreadable", message))
            if ordinal >= 0 and previous is not None:
                report.kept.append(note.path)
                reads.append(_Read(note.path, None, previous.shas[ordinal].tobytes(), ordinal))
            continue
        reads.append(_Read(note.path, note, sha, ordinal))
    return reads


def _with_unread_folders(
    reads: list[_Read], folders: Sequence[str], previous: _Previous | None, report: IndexReport
) -> list[_Read]:
    """Keep the notes of folders that could not be listed. Raises CortexError if it is the vault."""
    if "" in folders:
        raise CortexError("the vault cannot be read; mend its permissions")
    if previous is None:
        return reads
    known = {read.path for read in reads}
    for ordinal, note in enumerate(previous.notes.records()):
        path = note["file"]
        if path not in known and any(path.startswith(folder + "/") for folder in folders):
            report.kept.append(path)
            reads.append(_Read(path, None, previous.shas[ordinal].tobytes(), ordinal))
    return sorted(reads, key=lambda read: read.path)


class _Previous:
    """The last generation, as far as a new one can take from it."""

    def __init__(self, stamp: Stamp) -> None:
        self.stamp = stamp
        self.notes = RecordFile(stamp, NOTES)
        self.chunks = RecordFile(stamp, CHUNKS)
        self.lexical = stamp.folder / LEXICAL
        self.shas = stamp.array("notes.sha256.npy")
        self.modified = stamp.array("notes.modified.npy")
        self.languages = stamp.array("notes.language.npy")
        self.surfaces = stamp.array("chunks.surface.npy")
        self.first_chunk = stamp.array("notes.first_chunk.npy")
        self.names = NameIndex.open(stamp)
        self.problems = [
            NoteProblem(p["note"], p["code"], p["message"], p["line"])
            for p in read_json(stamp.file("problems.json"))
        ]
        TantivyIndex.check(self.lexical)

    @classmethod
    def open(cls, state: State) -> _Previous | None:
        """None when there is none, or when it is damaged or written in another format."""
        try:
            stamp = state.stamp("index")
            if stamp is None or stamp.values["versions"]["format"] != FORMAT_VERSION:
                return None
            return cls(stamp)
        except (Damaged, Unavailable, OSError, ValueError, KeyError):
            return None

    def holds_all(self, reads: list[_Read]) -> bool:
        """Whether nothing at all has changed, times included."""
        return all(
            read.previous >= 0
            and (
                read.found is None
                or (
                    self.shas[read.previous].tobytes() == read.sha
                    and self.modified[read.previous] == read.found.modified
                )
            )
            for read in reads
        )


class _Writer:
    """Writes the files of a generation note by note, in the order of their paths."""

    def __init__(
        self,
        folder: Path,
        previous: _Previous | None,
        reuse: bool,
        report: IndexReport,
        main_language: str,
        progress: Progress | None,
    ) -> None:
        self._folder = folder
        self._main_language = main_language
        self._previous = previous
        self._reuse = reuse
        self._report = report
        self._progress = progress
        self._left_out: list[str] = []
        self._problems: list[NoteProblem] = []
        self._old_problems: dict[str, list[NoteProblem]] = {}
        for problem in previous.problems if previous else ():
            self._old_problems.setdefault(problem.note, []).append(problem)
        self._chunks = _RecordWriter(folder / CHUNKS)
        self._notes = _RecordWriter(folder / NOTES)
        self._names = NameWriter()
        self._words = VocabularyWriter(previous.stamp if previous and reuse else None)
        self._shas: list[bytes] = []
        self._surfaces: list[bytes] = []
        self._modified = array("d")
        self._languages: list[str] = []
        self._first_chunk = array("i", [0])
        self._is_replaced = False  # does a note say that it replaces one, or was
        label = dumps([_versions(), main_language])
        self._digest = blake2b(label.encode(), digest_size=8)

    def forget(self, gone: Sequence[int]) -> None:
        """Take the words of notes of the last generation, by ordinal, out of the vocabulary."""
        for ordinal in gone:
            self._count_words(*self._old(ordinal), sign=-1)

    def write(self, reads: list[_Read]) -> Iterator[LexicalNote]:
        """Write all notes; yields what the lexical index must learn: the notes that changed."""
        for read in reads:
            if self._progress:
                self._progress.advance()
            old = self._previous
            if old is not None and read.previous >= 0:
                same = old.shas[read.previous].tobytes() == read.sha
                if read.found is None or (same and self._reuse):
                    yield from self._copy(read, same)
                    continue
            try:
                yield self._parse(read)
            except (Undecodable, OSError) as error:
                yield from self._unreadable(read, error)

    def _parse(self, read: _Read) -> LexicalNote:
        assert read.found is not None
        data = read.found.file.read_bytes()  # again, so that memory holds one note at a time
        note, body = read_note(read.path, data, read.found.modified, detect_language)
        chunks = chunk_note(note, body)
        for chunk in chunks:
            self._chunks.add(key64(chunk.id), dumps(chunk_record(chunk)).encode("utf-8") + b"\n")
            self._surfaces.append(chunk.surface_key)
        record = note_record(note, len(data), chunks)
        line = dumps(record).encode("utf-8") + b"\n"
        self._end(read, bytes.fromhex(note.sha256), note.modified, note.language, line)
        self._names.add(names_of(record))
        if self._reuse and read.previous >= 0:
            self.forget([read.previous])
        self._count_words(record, chunks)
        self._add_problems(note.path, note.problems)
        old = self._previous
        if old is None or read.previous < 0:
            self._report.added += 1
        elif old.shas[read.previous].tobytes() == bytes.fromhex(note.sha256):
            self._report.unchanged += 1
        else:
            self._report.changed += 1
        language = self._main_language if note.language == "und" else note.language
        names = (*note.tags, *property_texts(note.frontmatter))
        return lexical_note(note.path, note.title, note.aliases, names, language, chunks)

    def _copy(self, read: _Read, same: bool) -> Iterator[LexicalNote]:
        """Take a note over as it was; yields it where the lexical index begins from nothing."""
        old, ordinal = self._previous, read.previous
        assert old is not None
        for index in range(int(old.first_chunk[ordinal]), int(old.first_chunk[ordinal + 1])):
            self._chunks.add(int(old.chunks.keys[index]), old.chunks.line(index))
            self._surfaces.append(old.surfaces[index].tobytes())
        line, modified = old.notes.line(ordinal), float(old.modified[ordinal])
        if same and read.found is not None and read.found.modified != modified:
            record = old.notes.record(ordinal)
            record["modified"] = modified = read.found.modified
            line = dumps(record).encode("utf-8") + b"\n"
        self._end(
            read, old.shas[ordinal].tobytes(), modified, old.languages[ordinal].decode(), line
        )
        for problem in self._old_problems.get(read.path, ()):
            self._problems.append(problem)
            self._report.problems.append(problem)
        self._report.unchanged += 1
        if self._reuse and old.names is not None:
            self._names.add_keys(old.names.keys_of(ordinal))
        else:
            note, chunks = self._old(ordinal)
            self._names.add(names_of(note))
            self._count_words(note, chunks)
            yield lexical_note_of(note, chunks, self._main_language)

    def _old(self, ordinal: int) -> tuple[dict[str, Json], list[Chunk]]:
        """The record of a note of the last generation, and its chunks."""
        old = self._previous
        assert old is not None
        first, last = old.first_chunk[ordinal : ordinal + 2].tolist()
        chunks = [chunk_of(old.chunks.record(index)) for index in range(first, last)]
        return old.notes.record(ordinal), chunks

    def _count_words(
        self, note: Mapping[str, Json], chunks: Sequence[Chunk], sign: int = 1
    ) -> None:
        self._words.add([*names_of(note), *note["tags"]], chunks, sign)

    def _end(self, read: _Read, sha: bytes, modified: float, language: str, line: bytes) -> None:
        self._notes.add(key64(read.path), line)
        self._is_replaced = self._is_replaced or _REPLACING.search(line) is not None
        self._shas.append(sha)
        self._modified.append(modified)
        self._languages.append(language)
        self._first_chunk.append(len(self._chunks.keys))
        self._digest.update(read.path.encode("utf-8") + b"\0" + sha)

    def _unreadable(self, read: _Read, error: Exception) -> Iterator[LexicalNote]:
        if isinstance(error, FileNotFoundError) and read.previous < 0:
            return
        code, what = ("unreadable", f"cannot be read ({error})")
        if isinstance(error, Undecodable):
            code, what = "binary", f"{error}; save it as UTF-8 text, or give it another ending"
        self._report.problems.append(NoteProblem(read.path, code, what))
        if read.previous < 0:
            self._left_out.append(read.path)
        else:
            self._report.kept.append(read.path)
            yield from self._copy(read, same=False)

    def _add_problems(self, path: str, problems: tuple[Problem, ...]) -> None:
        for problem in problems:
            entry = NoteProblem(path, problem.code, problem.message, problem.line)
            self._problems.append(entry)
            self._report.problems.append(entry)

    def close(
        self, replacements: Callable[[Sequence[Mapping[str, Json]]], Json]
    ) -> dict[str, Json]:
        """Finish the files; what the stamp says of them."""
        for name, records in ((CHUNKS, self._chunks), (NOTES, self._notes)):
            records.close()
            write_arrays(self._folder, name, records.offsets, records.keys)
        pairs: Json = []
        if self._is_replaced:
            with open(self._folder / NOTES, "rb") as file:
                pairs = replacements([json.loads(line) for line in file])
        write_json(self._folder / REPLACEMENTS, pairs)
        self._names.write(self._folder)
        self._words.write(self._folder)
        shas = np.frombuffer(b"".join(self._shas), dtype=np.uint8)
        np.save(self._folder / "notes.sha256.npy", shas.reshape(-1, 32))
        surfaces = np.frombuffer(b"".join(self._surfaces), dtype=np.uint8)
        np.save(self._folder / "chunks.surface.npy", surfaces.reshape(-1, 16))
        np.save(self._folder / "notes.modified.npy", np.array(self._modified))
        np.save(self._folder / "notes.language.npy", np.array(self._languages, dtype="S8"))
        np.save(self._folder / "notes.first_chunk.npy", np.array(self._first_chunk))
        write_json(self._folder / LEFT_OUT, self._left_out)
        write_json(
            self._folder / "problems.json",
            [
                {"note": p.note, "code": p.code, "message": p.message, "line": p.line}
                for p in self._problems
            ],
        )
        return {
            "versions": _versions(),
            "notes": len(self._notes.keys),
            "chunks": len(self._chunks.keys),
            "languages": dict(Counter(self._languages).most_common()),
            "main_language": self._main_language,
        }

    def generation(self) -> str:
        return self._digest.hexdigest()


_REPLACING = re.compile(rb"supersede[sd]|replace[sd]", re.IGNORECASE)  # in a record of a note


class _RecordWriter:
    """A JSON Lines file in the making, with the offset and key of each record."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = open(path, "wb")  # noqa: SIM115 (closed by close)
        self.offsets = array("Q", [0])
        self.keys = array("Q")

    def add(self, key: int, line: bytes) -> None:
        self._file.write(line)
        self.keys.append(key)
        self.offsets.append(self.offsets[-1] + len(line))

    def close(self) -> None:
        self._file.close()


def lexical_note(
    path: str,
    title: str,
    aliases: Sequence[str],
    names: Sequence[str],
    language: str,
    chunks: Sequence[Chunk],
) -> LexicalNote:
    """What a lexical index learns of a note: terms by field, in the note's language.

    names: its tags and what its properties say.
    """

    def all_terms(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(term for text in texts for term in terms(text, language))

    return LexicalNote(
        key=key64(path),
        title=all_terms((title,)),
        aliases=all_terms(aliases),
        tags=all_terms(names),
        path=all_terms((path[:-3],)),
        chunks=tuple(
            LexicalChunk(
                key=key64(chunk.id),
                heading=all_terms(chunk.heading_path[-1:]),
                text=tuple(terms(chunk.text, language)),
            )
            for chunk in chunks
        ),
        surface=tuple(
            term
            for text in (title, *aliases, *(chunk.text for chunk in chunks))
            for term in terms(text, UNSTEMMED)
        ),
    )


def lexical_notes(stamp: Stamp) -> Iterator[LexicalNote]:
    """All of a generation, for an index that is not kept on disk."""
    notes, chunks = RecordFile(stamp, NOTES), RecordFile(stamp, CHUNKS)
    first_chunk = stamp.array("notes.first_chunk.npy").tolist()
    for ordinal, note in enumerate(notes.records()):
        first, last = first_chunk[ordinal : ordinal + 2]
        own = [chunk_of(chunks.record(index)) for index in range(first, last)]
        yield lexical_note_of(note, own, stamp.values["main_language"])


def lexical_note_of(
    note: Mapping[str, Json], chunks: Sequence[Chunk], main_language: str
) -> LexicalNote:
    """The same from the record of a note and its chunks."""
    language = main_language if note["language"] == "und" else note["language"]
    names = (*note["tags"], *property_texts(note["frontmatter"]))
    return lexical_note(note["file"], note["title"], note["aliases"], names, language, chunks)


def _versions() -> dict[str, int]:
    """What makes the same notes give other artifacts when it changes."""
    return {
        "format": FORMAT_VERSION,
        "chunker": CHUNKER_VERSION,
        "tokenizer": TOKENIZER_VERSION,
        "lexical": LEXICAL_VERSION,
        "names": NAMES_VERSION,
        "vocabulary": VOCABULARY_VERSION,
        "replacements": REPLACEMENTS_VERSION,
    }
