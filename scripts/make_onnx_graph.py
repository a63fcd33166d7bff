#!/usr/bin/env python3
"""Writes cortex/embedder/minilm.onnx: the graph of all-MiniLM-L6-v2 without its weights.

Usage (needs torch and onnx, any folder that holds the model's config.json and model.safetensors):

    python scripts/make_onnx_graph.py MODEL_FOLDER [-o cortex/embedder/minilm.onnx]

The graph takes `input_ids` and `attention_mask`, both int64 of shape (texts, tokens), and gives
`embedding`, float32 unit rows of shape (texts, 384): BERT's encoder, the mean over the tokens that
the mask keeps, and that mean at unit length, as sentence-transformers computes it. Each weight is
an external initializer that bears the name of its tensor in model.safetensors and has its shape;
whoever loads the graph hands them over (`SessionOptions.add_external_initializers`).

The encoder is spelt out here and not taken from transformers, for three reasons: linear layers
over a flat (texts * tokens, width) matrix export as Gemm with transB, so the weights are used as
they lie in the file, without a transposed copy; the exporter keeps LayerNormalization and Gelu as
one node each, so the runtime has nothing to fuse at start; and the file does not change with
transformers' version. Equal input and torch version give equal bytes. tests/test_embedders.py
holds the vectors against sentence-transformers'.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional as F

OPSET = 20  # the first with Gelu
OUTPUT = Path(__file__).resolve().parent.parent / "cortex" / "embedder" / "minilm.onnx"


class Embeddings(nn.Module):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], width)
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], width)
        self.token_type_embeddings = nn.Embedding(config["type_vocab_size"], width)
        self.LayerNorm = nn.LayerNorm(width, eps=config["layer_norm_eps"])

    def forward(self, ids: Tensor) -> Tensor:
        places = self.position_embeddings.weight[: ids.shape[1]]
        kind = self.token_type_embeddings.weight[0]  # of a first sentence; there is no second one
        embedded: Tensor = self.LayerNorm(self.word_embeddings(ids) + places + kind)
        return embedded


class Dense(nn.Module):
    """A linear layer, and under BERT's names what comes after its residual."""

    def __init__(self, wide: int, narrow: int, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(wide, narrow)
        self.LayerNorm = nn.LayerNorm(narrow, eps=eps)

    def forward(self, rows: Tensor, residual: Tensor) -> Tensor:
        normed: Tensor = self.LayerNorm(self.dense(rows) + residual)
        return normed


class SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.size = width // heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, rows: Tensor, hidden: Tensor, texts: int, tokens: int) -> Tensor:
        """rows: (texts * tokens, width). hidden: (texts, 1, 1, tokens), 0 or very negative."""

        def split(flat: Tensor) -> Tensor:  # -> (texts, heads, tokens, size)
            return flat.view(texts, tokens, self.heads, self.size).permute(0, 2, 1, 3)

        query, key = split(self.query(rows)), split(self.key(rows))
        shares = torch.softmax(query @ key.transpose(2, 3) * self.size**-0.5 + hidden, dim=-1)
        mixed = shares @ split(self.value(rows))
        return mixed.permute(0, 2, 1, 3).reshape(-1, self.heads * self.size)


class Layer(nn.Module):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        width, inner = config["hidden_size"], config["intermediate_size"]
        eps = config["layer_norm_eps"]
        attention = SelfAttention(width, config["num_attention_heads"])
        self.attention = nn.ModuleDict({"self": attention, "output": Dense(width, width, eps)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = Dense(inner, width, eps)

    def forward(self, rows: Tensor, hidden: Tensor, texts: int, tokens: int) -> Tensor:
        rows = self.attention["output"](self.attention["self"](rows, hidden, texts, tokens), rows)
        out: Tensor = self.output(F.gelu(self.intermediate["dense"](rows)), rows)
        return out


class SentenceEncoder(nn.Module):
    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.layers = tuple(Layer(config) for _ in range(config["num_hidden_layers"]))
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(self.layers)})

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        texts, tokens = input_ids.shape
        kept = attention_mask.to(torch.float32)
        hidden = ((1.0 - kept) * torch.finfo(torch.float32).min)[:, None, None, :]
        rows = self.embeddings(input_ids).flatten(0, 1)
        for layer in self.layers:
            rows = layer(rows, hidden, texts, tokens)
        weighted = rows.view(texts, tokens, -1) * kept[:, :, None]
        # The divisor of the mean is left out: unit length cancels it.
        return F.normalize(weighted.sum(1), dim=1)


def read_tensors(file: Path) -> dict[str, Tensor]:
    raw = file.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        flat = torch.frombuffer(bytearray(raw[start:end]), dtype=torch.float32)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def export(folder: Path) -> onnx.ModelProto:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    tensors = read_tensors(folder / "model.safetensors")
    encoder = SentenceEncoder(config).eval()
    loaded = encoder.load_state_dict(tensors, strict=False)
    unused = [name for name in loaded.unexpected_keys if not name.startswith("pooler.")]
    if loaded.missing_keys or unused:
        sys.exit(f"not BERT's tensors: missing {loaded.missing_keys}, unused {unused}")

    example = torch.ones((2, 7), dtype=torch.int64)
    axes = {0: "texts", 1: "tokens"}
    with torch.no_grad(), warnings.catch_warnings(), tempfile.TemporaryDirectory() as work:
        warnings.simplefilter("ignore")  # the exporter warns of its own deprecation
        whole = Path(work) / "whole.onnx"
        torch.onnx.export(
            encoder,
            (example, example),
            whole,
            dynamo=False,
            opset_version=OPSET,
            do_constant_folding=False,  # it would rename weights
            input_names=["input_ids", "attention_mask"],
            output_names=["embedding"],
            dynamic_axes={"input_ids": axes, "attention_mask": axes, "embedding": {0: "texts"}},
        )
        model = onnx.load(whole)
    strip_weights(model, tensors)
    return model


def strip_weights(model: onnx.ModelProto, tensors: dict[str, Tensor]) -> None:
    """Turn every weight into a reference by name; whatever else is constant stays inside."""
    for initializer in model.graph.initializer:
        if initializer.name not in tensors:
            continue
        if list(initializer.dims) != list(tensors[initializer.name].shape):
            sys.exit(f"{initializer.name} has another shape in the graph than in the file")
        initializer.ClearField("raw_data")
        initializer.data_location = onnx.TensorProto.EXTERNAL
        initializer.external_data.add(key="location", value="model.safetensors")
    for node in model.graph.node:
        node.ClearField("doc_string")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the weightless ONNX graph of MiniLM.")
    parser.add_argument("folder", type=Path, help="holds config.json and model.safetensors")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    written = export(arguments.folder).SerializeToString(deterministic=True)
    arguments.output.write_bytes(written)
    print(f"{arguments.output}: {len(written):,} bytes")


if __name__ == "__main__":
    main()
