"""Which packages are missing in this Python, found without importing one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec

from ..config import Config
from ..config.schema import AUTO_MODELS, BUNDLED_MODELS

# None of sentence-transformers'. What the second needs is missed with its weights: Cortex.models.
_OURS = {*BUNDLED_MODELS, *AUTO_MODELS}


def missing(modules: Mapping[str, str]) -> list[str]:
    """The distributions whose module is not to be found; modules: module -> distribution."""
    return sorted({name for module, name in modules.items() if not is_there(module)})


def problems(config: Config, modules: Mapping[str, str]) -> list[str]:
    found = []
    lacking = missing(modules)
    if lacking:
        verb = "is" if len(lacking) == 1 else "are"
        found.append(f"{', '.join(lacking)} {verb} missing in this Python; run: cortex install")
    needing = [config.embeddings.named] if _needs_sentence_transformers(config) else []
    needing += [config.search.reranker] if config.search.reranker else []
    if needing and not is_there("sentence_transformers"):
        how = f"{sys.executable} -m pip install 'sentence-transformers>=5.0'"
        what = " and ".join(needing)
        verb = "needs" if len(needing) == 1 else "need"
        found.append(f"sentence-transformers, which {what} {verb}, is missing; run: {how}")
    return found


def _needs_sentence_transformers(config: Config) -> bool:
    model = config.embeddings.named
    is_ours = model in _OURS or model.startswith("hashing")
    return not is_ours and not config.embeddings.endpoint.url


def is_there(module: str) -> bool:
    """Whether a module could be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except ValueError:  # loaded by something that left no trace of whence
        return True
