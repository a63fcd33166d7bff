"""Who may import whom inside cortex/: the list of LAYOUT, held against every import."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

CORTEX = Path(__file__).resolve().parent.parent / "cortex"

# A module imports from the lines above its own, as they stand here: lowest first.
LAYERS = (
    "_version types errors lookalikes",
    "protocols text commands generated redaction files home session_table patience switch",
    "vault records config state platforms arguments",
    "indexer embedder graph_artifacts graph_index graph_layout graph_names graph_resolve",
    "search",
    "context",
    "inject pack loop checks evaluation graph_diagnostics graph_export graph_viewer",
    "ops",
    "graph_reports",
    "app",
    "checkup",
    "desk",
    "runtime",
    "tools",
    "plugin hooks cli mcp",
    "registration",
)
LEVEL = {name: level for level, line in enumerate(LAYERS) for name in line.split()}
# On one line, and still allowed: the builder of the graph resolves links.
NEIGHBOURS = {("graph_index", "graph_names"), ("graph_index", "graph_resolve")}
# The door (`from cortex import Cortex`) and `python -m cortex` stand above all lines.
DOORS = {"__init__", "__main__"}

# What costs a start-up: imported by these packages alone, or inside a function that needs it.
HEAVY = {"comrak", "frontmatter", "numpy", "onnxruntime", "rank_bm25", "tantivy", "tokenizers"}
MAY_BE_HEAVY = {"protocols", "vault", "indexer", "embedder", "search"} | {
    name for name in LEVEL if name.startswith("graph_")
}
# Inside the function that needs it, wherever that is.
NEVER_AT_IMPORT = {"chromadb", "networkx", "sentence_transformers", "torch"}


def test_every_import_goes_to_a_lower_layer():
    assert layer_faults(read_sources()) == []


def test_no_module_of_cortex_imports_cortex_by_its_absolute_name():
    assert absolute_faults(read_sources()) == []


def test_heavy_libraries_are_imported_only_where_they_are_used():
    assert heavy_faults(read_sources()) == []


def test_each_part_of_cortex_has_a_layer():
    parts = {part_of(name) for name in read_sources()}
    assert parts - DOORS - set(LEVEL) == set()


def test_an_import_upwards_or_sideways_is_a_fault_wherever_it_stands():
    sources = {
        "search/searcher.py": "from ..context import build\nfrom ..indexer.chunks import read\n",
        "indexer/__init__.py": "def f():\n    from ..embedder import bundled\n",
        "vault/note.py": "from .. import app\nfrom ..types import Note\nfrom .chunk import cut\n",
        "config/load.py": "if TYPE_CHECKING:\n    from .. import search as s\n",
        "protocols.py": "from .types import Candidate\n",
        "types.py": "from .protocols import Embedder\n",
        "__main__.py": "from .cli import main\n",
        "graph_index.py": "from .graph_resolve import resolve\n",
        "graph_resolve.py": "from .graph_index import build_graph\n",
    }
    assert layer_faults(sources) == [
        "config/load.py:2 search",
        "graph_resolve.py:1 graph_index",
        "indexer/__init__.py:2 embedder",
        "search/searcher.py:1 context",
        "types.py:1 protocols",
        "vault/note.py:1 app",
    ]


def test_an_absolute_import_of_cortex_is_a_fault_wherever_it_stands():
    sources = {
        "app.py": "import cortex\nimport cortexes\n",
        "search/query.py": "def f():\n    from cortex.types import Query\n",
        "vault/note.py": "from ..types import cortex\n",
    }
    assert absolute_faults(sources) == ["app.py:1 cortex", "search/query.py:2 cortex.types"]


def test_a_heavy_import_at_the_top_of_a_light_module_is_a_fault():
    sources = {
        "app.py": "import numpy as np\ndef f():\n    import chromadb\n",
        "cli/search.py": "from tantivy import Index\n",
        "embedder/chroma.py": "import numpy\nimport chromadb.api\n",
        "types.py": "if TYPE_CHECKING:\n    import numpy\n",
        "context.py": "try:\n    import numpy\nexcept ImportError:\n    pass\n",
    }
    assert heavy_faults(sources) == [
        "app.py:1 numpy",
        "cli/search.py:1 tantivy",
        "context.py:2 numpy",
        "embedder/chroma.py:2 chromadb",
    ]


def read_sources() -> dict[str, str]:
    """Each module's path in cortex/ -> its text. The sample vault is data."""
    found = {
        path.relative_to(CORTEX).as_posix(): path.read_text("utf-8")
        for path in CORTEX.rglob("*.py")
        if path.relative_to(CORTEX).parts[0] != "sample"
    }
    assert {"types.py", "cli/__init__.py"} <= set(found)
    return found


def layer_faults(sources: Mapping[str, str]) -> list[str]:
    faults = []
    for path, source in sorted(sources.items()):
        part = part_of(path)
        if part in DOORS:
            continue
        for line, target in own_imports(path, source):
            if target == part or (part, target) in NEIGHBOURS:
                continue
            if LEVEL.get(target, len(LAYERS)) >= LEVEL.get(part, -1):
                faults.append(f"{path}:{line} {target}")
    return faults


def absolute_faults(sources: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{line} {name}"
        for path, source in sorted(sources.items())
        for line, name in absolute_imports(ast.walk(ast.parse(source)))
        if name.split(".")[0] == "cortex"
    ]


def heavy_faults(sources: Mapping[str, str]) -> list[str]:
    faults = []
    for path, source in sorted(sources.items()):
        allowed = HEAVY if part_of(path) in MAY_BE_HEAVY else set()
        for line, name in absolute_imports(run_at_import(ast.parse(source))):
            library = name.split(".")[0]
            if library in NEVER_AT_IMPORT | (HEAVY - allowed):
                faults.append(f"{path}:{line} {library}")
    return faults


def part_of(path: str) -> str:
    """The name that LAYERS has for a module: its package's, or its own."""
    return path.split("/")[0].removesuffix(".py")


def own_imports(path: str, source: str) -> Iterator[tuple[int, str]]:
    """(line, part of cortex) of each relative import, wherever in the module it stands."""
    package = path.split("/")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            base += node.module.split(".") if node.module else []
            for name in [base[0]] if base else [alias.name for alias in node.names]:
                yield node.lineno, name


def absolute_imports(nodes: Iterator[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, node.module or ""


def run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that importing the module runs: no function bodies, nothing for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from run_at_import(node)
