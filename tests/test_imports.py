"""What a fresh process loads: nothing heavy to show help, no torch or Chroma to search."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent

HEAVY = {
    *("chromadb", "comrak", "frontmatter", "networkx", "numpy", "onnxruntime", "rank_bm25"),
    *("sentence_transformers", "Stemmer", "tantivy", "tokenizers", "torch", "yaml"),
}
NEVER_FOR_A_SEARCH = {"chromadb", "networkx", "sentence_transformers", "torch"}

# Runs the command line in this process, then prints the libraries it loaded on the last line.
RUN_AND_TELL = """
import json, sys
from cortex.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code
loaded = sorted({name.split(".")[0] for name in sys.modules})
print()
print(json.dumps({"code": code or 0, "loaded": loaded}))
"""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["search", "--help"], ["search-eval", "--help"]]
)
def test_help_and_version_load_nothing_heavy(arguments, tmp_path):
    assert libraries_loaded_by(arguments, home=tmp_path) & HEAVY == set()


def test_importing_cortex_and_its_public_names_loads_nothing_that_only_a_model_needs(tmp_path):
    source = "import sys, cortex; print({n.split('.')[0] for n in sys.modules})"
    loaded = python("-c", source, home=tmp_path)
    assert not any(repr(name) in loaded for name in HEAVY)


def test_each_public_name_can_be_had_and_no_other():
    import cortex

    for name in cortex.__all__:
        assert getattr(cortex, name) is not None
    assert cortex.Desk.__module__ == "cortex.desk"
    assert cortex.NewNote("Slate", type="fact").type == "fact"
    with pytest.raises(AttributeError, match="module 'cortex' has no attribute 'Nope'"):
        cortex.Nope  # noqa: B018


def test_registering_in_the_host_loads_nothing_heavy_and_not_the_desk(tmp_path):
    source = (
        "import json, sys, cortex.registration, cortex.plugin, cortex.hooks, cortex.runtime\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = set(json.loads(python("-c", source, home=tmp_path)))
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()
    assert loaded & {"cortex.app", "cortex.desk", "cortex.search", "cortex.ops.cron"} == set()


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A home whose default config has a built index and graph of a small vault."""
    home = tmp_path_factory.mktemp("home")
    vault = home / "vault"
    vault.mkdir()
    (vault / "bees.md").write_text("# Bees\n\nThey dance for [[honey]].\n", "utf-8")
    (vault / "honey.md").write_text("# Honey\n\nSweet, and bees make it.\n", "utf-8")
    for arguments in (["init", "--vault", str(vault)], ["index"], ["graph", "build"]):
        python("-m", "cortex", *arguments, home=home)
    return home


def test_a_search_on_a_built_index_loads_neither_torch_nor_chroma_nor_networkx(built):
    loaded = libraries_loaded_by(["search", "honey", "--json"], home=built)
    assert "tantivy" in loaded  # the search did run
    assert loaded & NEVER_FOR_A_SEARCH == set()


@pytest.mark.network
def test_a_search_that_ranks_by_vectors_too_loads_onnxruntime_and_nothing_heavier(
    built, models_folder
):
    (built / ".hermes" / "cortex" / "models").symlink_to(models_folder)
    python("-m", "cortex", "embed", home=built)
    loaded = libraries_loaded_by(["search", "what do insects do", "--json"], home=built)
    assert "onnxruntime" in loaded
    assert loaded & NEVER_FOR_A_SEARCH == set()


def libraries_loaded_by(arguments: Sequence[str], home: Path) -> set[str]:
    told = json.loads(python("-c", RUN_AND_TELL, *arguments, home=home).splitlines()[-1])
    assert told["code"] == 0
    return set(told["loaded"])


def python(*arguments: str, home: Path) -> str:
    """What a fresh Python prints, in a home of its own. Fails with what it said on stderr."""
    world = {key: value for key, value in os.environ.items() if not key.startswith("CORTEX_")}
    world |= {"HOME": str(home), "HERMES_HOME": str(home / ".hermes"), "PYTHONUTF8": "1"}
    world["PYTHONPATH"] = str(CHECKOUT)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=home, env=world, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
