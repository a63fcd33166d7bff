"""Hold hits against the settings and the vault as they are now: both may differ from the index."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ..types import Hit, SearchResult
from ..vault.scan import most_specific

CHANGED = "changed since it was indexed"  # how the warning begins that names the notes
GONE = "no longer in the vault"  # the same of those whose file is gone
SHUT = "shown as indexed"  # the same of those whose file cannot be looked at
_LINK_REMARKS = ("linked_from", "link_kind", "link_name")  # of a trace, on another note


def without_excluded(result: SearchResult, takes: Callable[[str], bool]) -> SearchResult:
    """Leave out what the settings exclude now, though it was indexed before."""
    hits: list[Hit] = []
    for hit in result.hits:
        if not takes(hit.chunk.note):
            continue
        notes = hit.trace.notes
        if "linked_from" in notes and not takes(notes["linked_from"]):
            notes = {k: v for k, v in notes.items() if k not in _LINK_REMARKS}
            hit = replace(hit, trace=replace(hit.trace, notes=notes))
        hits.append(hit)
    return replace(result, hits=tuple(hits))


def described(result: SearchResult, told: Mapping[str, str]) -> SearchResult:
    """Put to each hit what the settings say of where its note lies: glob -> line."""
    if not told:
        return result
    hits = []
    for hit in result.hits:
        glob = most_specific(tuple(told), hit.chunk.note)
        hits.append(hit if glob is None else replace(hit, description=told[glob]))
    return replace(result, hits=tuple(hits))


def against_vault(result: SearchResult, vault: Path | None) -> SearchResult:
    """Leave out hits whose file is gone, and say where the index is older than the file."""
    if vault is None or not vault.is_dir():
        warning = f"the vault {vault} is not there; these are hits of the last index"
        return replace(result, warnings=(*result.warnings, warning))
    hits: list[Hit] = []
    gone: dict[str, None] = {}
    shut: dict[str, dict[str, None]] = {}  # why they cannot be looked at -> notes
    changed: dict[str, None] = {}
    for hit in result.hits:
        try:
            modified = os.stat(vault / hit.chunk.note).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            gone[hit.chunk.note] = None
            continue
        except OSError as error:
            shut.setdefault(error.strerror or str(error), {})[hit.chunk.note] = None
            hits.append(hit)
            continue
        if modified != hit.modified:
            changed[hit.chunk.note] = None
        hits.append(hit)
    warnings = list(result.warnings)
    if gone:
        warnings.append(f"{GONE}: {', '.join(gone)}; run: cortex index")
    for why, notes in shut.items():
        warnings.append(f"{SHUT}, for {why.lower()} now: {', '.join(notes)}")
    if changed:
        warnings.append(f"{CHANGED}: {', '.join(changed)}; run: cortex index")
    return replace(result, hits=tuple(hits), warnings=tuple(warnings), changed=tuple(changed))
