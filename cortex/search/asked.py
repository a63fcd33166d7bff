"""What a query asks for as such: by a name, letter by letter, as a phrase, by one side of an OR.

These chunks become candidates whatever words and vectors say of them.
"""

from __future__ import annotations

import math

from ..errors import Unavailable
from ..indexer.chunks import property_texts
from .exact import by_name, by_text
from .names import mentioned, named, title_shares
from .pool import Pool
from .run import Run
from .spelling import SHORT
from .wording import chunk_holds, spaced

TITLES_LOOKED_AT = 40  # of the best notes: does the query name one?


def find_exact(run: Run, pool: Pool) -> None:
    """Set `run.exact` and `run.named`: what is asked for by its whole name, or as it is written."""
    if not run.uses_words:
        return
    corpus, text, candidates = run.corpus, run.query.text, pool.candidates
    if not isinstance(run.lexical, Unavailable):
        run.exact = by_text(corpus, run.lexical, text, candidates, run.allowed, pool.best_chunk)
    run.named = _allowed(run, {**named(corpus, text), **named(corpus, run.typed)})
    is_misspelt = len(run.spelt) > SHORT and bool(run.corrections) and not run.named
    if is_misspelt:
        run.named = _allowed(run, named(corpus, run.spelt))
    run.exact.update(by_name(run.named, candidates, pool.best_chunk, misspelt=is_misspelt))
    pool.add(run.exact)


def _allowed(run: Run, notes: dict[int, float]) -> dict[int, float]:
    return {note: likeness for note, likeness in notes.items() if run.is_allowed(note)}


def find_titles(run: Run, pool: Pool) -> None:
    """Set `run.titles`: what notes gain because the query names a title or an alias in full.

    Of the best notes, and of all that have a name that stands in the query.
    """
    corpus, count = run.corpus, len(run.corpus.notes)
    if "bm25" not in run.ran or count < 2:
        return
    asked = {t for word in run.words.words if word.count >= 1 for t in word.variants}
    rarity = {
        term: math.log(count / (1 + df)) / math.log(count)
        for term, df in run.frequency(asked).items()
    }
    by_note = pool.by_note
    best = sorted(by_note, key=lambda note: (-by_note[note], note))[:TITLES_LOOKED_AT]
    others = filter(run.is_allowed, mentioned(corpus, run.spelt))
    looked_at = dict.fromkeys([*corpus.notes.ordinals(best).tolist(), *others])
    shares = title_shares(corpus, looked_at, run.named, run.words, rarity)
    keys = {note: int(corpus.notes.keys[note]) for note in shares}
    pool.add([pool.best_chunk(note) for note, key in keys.items() if key not in by_note])
    gain = run.settings.title_gain
    run.titles = {keys[note]: gain * share for note, share in shares.items()}


def find_phrases(run: Run, pool: Pool) -> None:
    """Set `run.holding`: the chunks of the candidates' notes that hold a phrase.

    Where a note holds it in its names alone, these are all chunks of it that were found.
    """
    phrases = [words for phrase in run.phrases if (words := spaced(phrase))]
    if not phrases:
        return
    corpus = run.corpus
    own: dict[int, list[int]] = {}
    for ordinal, candidate in pool.candidates.items():
        own.setdefault(candidate.note, []).append(ordinal)
    for note, found in own.items():
        record = corpus.note(note)
        said = property_texts(record["frontmatter"])
        names = (record["title"], *record["aliases"], *record["tags"], *said, record["file"][:-3])
        in_names = any(words in spaced(name) for name in names for words in phrases)
        first, last = corpus.first_chunk[note : note + 2].tolist()
        chunks = ((i, corpus.chunks.record(i)) for i in range(first, last))
        holding = [i for i, chunk in chunks if any(chunk_holds(words, chunk) for words in phrases)]
        run.holding.update(holding or (found if in_names else ()))
    pool.add(run.holding)


def find_passing(run: Run, pool: Pool) -> None:
    """Set `run.passing`: a chunk of each note that passes an OR, found by its words or not."""
    if run.allowed is None:
        return
    allowed, notes = run.allowed, run.corpus.notes
    known = {candidate.note_key: ordinal for ordinal, candidate in pool.candidates.items()}
    ordinals = notes.ordinals(sorted(allowed - known.keys())[: run.depth])
    chosen = [pool.best_chunk(note) for note in ordinals[ordinals >= 0].tolist()]
    pool.add(chosen)
    unfound = (chunk for chunk in chosen if chunk is not None)
    run.passing = {*unfound, *(known[key] for key in allowed & known.keys())}
