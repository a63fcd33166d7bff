"""Check-up of the model: its files, one text embedded, and stored vectors made once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..config import Config
from ..errors import CortexError, Damaged, Unavailable
from ..protocols import Embedder
from ..state import State
from ..types import Json
from ..vault.scan import FolderRules
from . import status
from .doctor import Finding, Found, ok, plural, told

TEXT = "The tide table hangs beside the door."
SAMPLES = 8  # chunks that are embedded once more
LEAST_COSINE = 0.98  # between a vector and the same text's as it is made now
AGAIN = "cortex embed --force"

Row = dict[str, Json]
Verified = Callable[[], Sequence[tuple[str, bool, str]]]


def weights(config: Config, row: Row, verify: Verified) -> Found:
    """The files of the default model, byte for byte, where it is the one in use."""
    texts = list(status.model_problems(config, row))
    for text in texts:
        yield told("problem", text)
    if texts or row.get("get") != "cortex model fetch" or config.embeddings.endpoint.url:
        return
    if not config.search.vector_weight and row["available"] is False:
        return  # nothing asks for it
    for name, is_right, seen in verify():
        if is_right:
            yield ok(f"{name}: {seen.partition(' bytes')[0]} bytes as published")
        else:
            yield told("problem", f"{name} of the model {row['name']}: {seen}")


def embedding(state: State, rules: FolderRules, open_embedder: Callable[[], Embedder]) -> Found:
    """Does it embed, is it the model of the vectors, and does it give those vectors again?"""
    import numpy as np

    from ..embedder.models import SentenceTransformerEmbedder

    embedder = open_embedder()
    try:
        if isinstance(embedder, SentenceTransformerEmbedder) and not embedder.is_here:
            what = f"the model {embedder.name} is not on this machine yet"
            yield Finding("problem", what, command="cortex embed")
            return
        vector = embedder.embed_query(TEXT)
        identity = embedder.identity
    except Unavailable as error:
        yield told("problem", error.why)
        return
    if vector.shape != (embedder.dimensions,) or not abs(float(np.linalg.norm(vector)) - 1) < 1e-3:
        yield Finding("problem", f"{embedder.name} gives no unit vectors", "name another model")
        return
    yield ok(f"{embedder.name} embeds, {embedder.dimensions} numbers a vector")
    try:
        stamp, index = state.stamp("vectors"), state.stamp("index")
    except Damaged:
        return  # told by their own checks
    if stamp is None or index is None:
        return
    if identity != stamp.values["identity"]:
        what = f"the vectors were built with {stamp.values['model']}, not with {embedder.name}"
        what += " as it is now"
        yield Finding("problem", what, command="cortex embed", fix="cortex embed")
    elif stamp.built_from == index.generation:
        yield from _made_again(state, rules, embedder)


def _made_again(state: State, rules: FolderRules, embedder: Embedder) -> Found:
    import numpy as np

    from ..embedder.build import windows
    from ..embedder.vectors import VectorCache
    from ..search.corpus import Corpus

    index, stamp = state.stamp("index"), state.stamp("vectors")
    assert index is not None and stamp is not None
    corpus = Corpus(index, rules.takes)
    known = VectorCache(state.root / stamp.values["cache"], stamp.values["dimensions"])
    places, rows = known.known(), known.rows()
    step = max(len(corpus.chunks) // SAMPLES, 1)
    texts, stored = [], []
    for ordinal in range(0, len(corpus.chunks), step):
        chunk = corpus.chunk(ordinal)
        place = places.get(chunk.surface_key)
        pieces = windows(embedder, chunk)
        if place is not None and len(pieces) == place[1]:
            texts.append(pieces[0])
            stored.append(rows[place[0]])
    if not texts:
        return
    made = embedder.embed_documents(texts)
    with np.errstate(over="ignore", invalid="ignore"):  # damaged bytes may be any number
        cosines = np.sum(made * np.array(stored), axis=1)
    wrong = int(np.count_nonzero(~(cosines >= LEAST_COSINE)))
    if wrong:
        what = f"{wrong} of {plural(len(texts), 'stored vector')} are not what the model gives"
        yield Finding("problem", what, command=AGAIN, fix=AGAIN)
    else:
        yield ok(f"{plural(len(texts), 'stored vector')} made again, and equal")


def search(ask: Callable[[str], object], config: Config, state: State, rules: FolderRules) -> Found:
    """One real question, the title of a note, through every channel."""
    from ..search.corpus import Corpus
    from ..types import SearchResult

    index = state.stamp("index")
    if index is None:
        return
    corpus = Corpus(index, rules.takes)
    if not len(corpus.notes):
        return
    note = corpus.note(len(corpus.notes) // 2)
    try:
        result = ask(str(note["title"]))
    except CortexError as error:
        yield told("problem", str(error))
        return
    assert isinstance(result, SearchResult)
    for lack in result.unavailable:
        yield told("problem", f"{lack.what} is not available: {lack.why}")
    for warning in result.warnings:
        yield told("warning", warning)
    if not result.hits and config.search.min_evidence == 0:
        yield Finding(
            "problem",
            f"a search for the title of {note['file']} finds nothing",
            command="cortex index --force",
            fix="cortex index --force",
        )
    elif result.hits:
        yield ok(f"{plural(len(result.hits), 'hit')} for the title of {note['file']}")
