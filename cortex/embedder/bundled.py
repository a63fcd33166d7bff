"""The default embedder: all-MiniLM-L6-v2 run by onnxruntime, from weights fetched once."""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import struct
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Unavailable
from ..protocols import Vectors
from . import weights

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped,unused-ignore]
    from tokenizers import Tokenizer

NAME = f"sentence-transformers/{weights.MODEL}"
GRAPH = Path(__file__).with_name("minilm.onnx")  # written by scripts/make_onnx_graph.py
GRAPH_VERSION = 1  # raised whenever another graph gives other vectors
SEQUENCE = 256  # tokens the model was trained to read, [CLS] and [SEP] among them
UNUSED = "pooler."  # of the model's tensors: sentence-transformers takes the mean instead
BATCH_TOKENS = 1024  # a batch that stays in the cache: 4096 cost 10 to 20 % more CPU time
TOKENIZED_AT_ONCE = 512  # texts; bounds the memory that encodings take
MAX_THREADS = 8  # matrices this small gain nothing from more
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class BundledEmbedder:
    """all-MiniLM-L6-v2, float32, on the CPU. Safe to use from several threads.

    folder: where models lie; the weights are expected below it (see weights.py). threads: as many
    as the process may use if None. Nothing is read before the first text.
    """

    identity = f"minilm-{weights.MODEL_FILE.sha256[:12]}-{GRAPH_VERSION}"
    name = NAME
    dimensions = 384
    window = SEQUENCE - 2
    languages: tuple[str, ...] = ("en",)

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        self._folder = folder
        self._threads = threads or usable_threads()
        self._loading = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._model: Model | None = None

    def token_starts(self, text: str) -> Sequence[int]:
        encoding = self._loaded_tokenizer().encode(encodable(text), add_special_tokens=False)
        return [start for start, _ in encoding.offsets]

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return rows
        tokenizer, model = self._loaded_tokenizer(), self._loaded_model()
        for first in range(0, len(texts), TOKENIZED_AT_ONCE):
            part = [encodable(text) for text in texts[first : first + TOKENIZED_AT_ONCE]]
            sequences = [cut(encoding.ids) for encoding in tokenizer.encode_batch(part)]
            for members in batches([len(sequence) for sequence in sequences]):
                ids, mask = padded([sequences[member] for member in members])
                rows[[first + member for member in members]] = model.run(ids, mask)
        return rows

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([text])[0]
        return vector

    def _loaded_tokenizer(self) -> Tokenizer:
        # Apart from the session: to count tokens is enough where every vector is known already.
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = load_tokenizer(self._present())
            return self._tokenizer

    def _loaded_model(self) -> Model:
        with self._loading:
            if self._model is None:
                self._model = load_model(self._present(), self._threads)
            return self._model

    def _present(self) -> Path:
        if not weights.available(self._folder):
            raise Unavailable(
                "vector", f"the embedding model {weights.MODEL} is not here yet; {weights.FETCH}"
            )
        return weights.folder_of(self._folder)


@dataclass(frozen=True, slots=True)
class Model:
    session: InferenceSession
    tensors: Mapping[str, NDArray[np.float32]]  # the session reads them, and does not own them

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Vectors:
        found: Vectors
        try:
            (found,) = self.session.run(None, {"input_ids": ids, "attention_mask": mask})
        except Exception as error:  # onnxruntime raises bare exceptions of its native code
            why = f"the embedding model failed ({error}); run: cortex model verify"
            raise Unavailable("vector", why) from None
        return found


def usable_threads() -> int:
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        count = os.cpu_count() or 1
    return min(count, MAX_THREADS)


def encodable(text: str) -> str:
    """`text` as a tokenizer takes it: lone surrogates, of odd file names and shells, replaced.

    One character stands for one character, so offsets stay right.
    """
    return LONE_SURROGATE.sub("\ufffd", text)


def cut(ids: list[int]) -> list[int]:
    """At most SEQUENCE tokens, the last of them [SEP]."""
    return ids if len(ids) <= SEQUENCE else [*ids[: SEQUENCE - 1], ids[-1]]


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions of `lengths` in groups of like length, of at most BATCH_TOKENS when padded.

    Longest first, so that the largest batch is the first one to ask for memory.
    """
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    while order:
        fitting = max(1, BATCH_TOKENS // lengths[order[0]])
        yield order[:fitting]
        order = order[fitting:]


def padded(sequences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids and the mask of those that are real, both (texts, longest)."""
    shape = (len(sequences), max(map(len, sequences)))
    ids = np.zeros(shape, dtype=np.int64)  # 0 is [PAD]
    mask = np.zeros(shape, dtype=np.int64)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    return ids, mask


def load_tokenizer(place: Path) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _broken_install("tokenizers", error) from error
    try:
        text = (place / weights.TOKENIZER_FILE.name).read_text("utf-8")
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # tokenizers raises bare Exception for a file it cannot read
        raise _damaged(error) from error
    # The file asks for padding to 128 and truncation at 128. Padding without a mask is off by up
    # to 0.3 a coordinate, and the model reads 256.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def load_model(place: Path, threads: int) -> Model:
    # Or it looks up a server of its maker to report to (seen in 1.32), as soon as it is imported.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError as error:
        raise _broken_install("onnxruntime", error) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads  # unset, it also pins threads, which containers refuse
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_mem_pattern = False  # shapes differ from batch to batch
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.log_severity_level = 3  # errors
    try:
        stored = read_safetensors(place / weights.MODEL_FILE.name)
        tensors = {name: stored[name] for name in stored if not name.startswith(UNUSED)}
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(tensor) for tensor in tensors.values()]
        options.add_external_initializers(list(tensors), values)
        session = onnxruntime.InferenceSession(
            GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's own errors derive from nothing narrower
        raise _damaged(error) from error
    return Model(session, tensors)


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file, by name, mapped and not copied.

    The format: the header's length as eight little-endian bytes, the header as JSON
    (name -> dtype, shape, data_offsets), the numbers. Raises ValueError if it is not that.
    """
    with path.open("rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    (length,) = struct.unpack_from("<Q", mapped)
    header: dict[str, Any] = json.loads(mapped[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            count = math.prod(entry["shape"])
            start = 8 + length + entry["data_offsets"][0]
            flat = np.frombuffer(mapped, dtype="<f4", count=count, offset=start)
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def _damaged(error: Exception) -> Unavailable:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return Unavailable(
        "vector", f"the weights of {weights.MODEL} cannot be used ({reason}); {weights.FETCH}"
    )


def _broken_install(package: str, error: ImportError) -> Unavailable:
    reason = " ".join(str(error).split())[:200]
    return Unavailable(
        "vector",
        f"{package} cannot be imported ({reason});"
        f" run: {sys.executable} -m pip install --force-reinstall {package}",
    )
