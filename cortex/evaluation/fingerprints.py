"""What a report was made with, so that a later one can tell what has changed since."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._version import __version__
from ..config import Config
from ..config.render import in_force
from ..errors import Damaged
from ..indexer.build import LEXICAL
from ..indexer.lexical import deleted_entries
from ..state import State
from ..types import Json
from .cases import CaseSet

BASELINE_RULE = (
    "write a new baseline with --output only after looking at every regression; "
    "one made with another model, config or vault compares more than the ranking"
)
_SETTINGS = ("search", "embeddings", "vault")  # what of the config can move a hit
_NOT_COMPARED = frozenset(  # they name places, or how fast, and move none
    {
        *("vault.path", "embeddings.cache_folder", "embeddings.batch_size"),
        *("embeddings.device", "embeddings.local_files_only", "search.top_k"),
        *(f"embeddings.endpoint.{key}" for key in ("url", "api_key_env", "timeout_s", "retries")),
    }
)
_DESCRIPTIONS = "vault.descriptions."  # said of hits, and no reason for any


def metadata(config: Config, state: State, today: dt.date, cases: CaseSet) -> dict[str, Json]:
    """Paths, versions and digests of all that a report stands on."""
    index, vectors = _stamp(state, "index"), _stamp(state, "vectors")
    settings = _flat({name: in_force(config)[name] for name in _SETTINGS})
    settings = {
        key: _without_place(value)
        for key, value in settings.items()
        if key not in _NOT_COMPARED and not key.startswith(_DESCRIPTIONS)
    }
    vault: dict[str, Json] = {"path": str(config.vault.path) if config.vault.path else None}
    if index is not None:
        vault |= {"notes": index.values["notes"], "chunks": index.values["chunks"]}
        arrays = (index.array("notes.keys.npy"), index.array("notes.sha256.npy"))  # paths, contents
        vault["sha256"] = _sha256_of(b"".join(array.tobytes() for array in arrays))
    model: dict[str, Json] = {"name": config.embeddings.model, "identity": None}
    if vectors is not None:
        model |= {"name": vectors.values["model"], "identity": vectors.values["identity"]}
    return {
        "generated_at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "today": today.isoformat(),
        "cortex_version": __version__,
        "config_path": str(config.path),
        "vault_path": vault["path"],
        "chunks_path": str(config.index.chunks_path),
        "chroma_path": str(config.index.chroma_path),
        "cases_path": cases.source,
        "config": {"sha256": _sha256_of(_canonical(settings)), "settings": settings},
        "model": model,
        "vault": vault,
        "artifacts": {
            "config": _file(config.path),
            "cases": _file(Path(cases.source)),
            "chunks": _file(config.index.chunks_path),
            "chroma": _folder(config.index.chroma_path),
            "index": _built(state, "index")
            | ({"deleted_entries": deleted_entries(index.folder / LEXICAL)} if index else {}),
            **{kind: _built(state, kind) for kind in ("vectors", "graph")},
        },
        "baseline_rule": BASELINE_RULE,
    }


def _stamp(state: State, kind: str) -> Any:
    try:
        return state.stamp(kind)
    except Damaged:
        return None


def _built(state: State, kind: str) -> dict[str, Json]:
    stamp = _stamp(state, kind)
    entry: dict[str, Json] = {"kind": kind, "exists": stamp is not None}
    if stamp is not None:
        entry |= {"generation": stamp.generation, "built_from": stamp.values.get("built_from")}
    return entry


def _file(path: Path) -> dict[str, Json]:
    entry: dict[str, Json] = {"path": str(path), "exists": path.is_file()}
    if entry["exists"]:
        status = path.stat()
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        entry |= {"mtime_ns": status.st_mtime_ns, "size_bytes": status.st_size, "sha256": digest}
    return entry


def _folder(path: Path) -> dict[str, Json]:
    entry: dict[str, Json] = {"path": str(path), "exists": path.is_dir(), "kind": "directory"}
    if entry["exists"]:
        entry["mtime_ns"] = path.stat().st_mtime_ns
        entry["entry_count"] = sum(1 for _ in path.iterdir())
    return entry


def _flat(values: Mapping[str, Json], prefix: str = "") -> dict[str, Json]:
    """`{"search.rrf_k": 60, ...}` out of sections in sections."""
    found: dict[str, Json] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _without_place(value: Json) -> Json:
    """A model's folder by its name alone: on another machine it lies elsewhere."""
    is_place = isinstance(value, str) and value.startswith(("/", "~", "."))
    return Path(value).name if is_place else value


def _canonical(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=True).encode("ascii")


def _sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
