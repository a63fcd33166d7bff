"""`cortex search`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import TYPE_CHECKING

from ..errors import CortexError
from ..search.explain import why
from ..types import ChannelTrace, Hit, Json, SearchResult
from .options import (
    add_filters,
    add_json,
    add_query,
    at_least,
    comma_separated,
    filters,
    query_text,
)
from .output import counted, marked, may_style, print_json, say, tell_what_lacks, visible

if TYPE_CHECKING:
    from ..app import Cortex


def configure(parser: argparse.ArgumentParser) -> None:
    add_query(parser)
    parser.add_argument("--top-k", type=at_least(1), metavar="N", help="how many hits to show")
    parser.add_argument(
        "--no-boost", action="store_true", help="rank without recency, importance and penalties"
    )
    parser.add_argument("--channels", metavar="A,B", help="only these of: bm25, vector, graph")
    add_json(parser)
    add_filters(parser)


def run(args: argparse.Namespace) -> int:
    text, chosen = query_text(args), filters(args)
    channels = None if args.channels is None else tuple(comma_separated(args.channels))
    from ..app import Cortex
    from ..context import relevant

    cortex = Cortex.open(args.config, env=os.environ)
    result = cortex.search(text, args.top_k, chosen, boosts=not args.no_boost, channels=channels)
    if args.json:
        print_json(_document(result))
    else:
        style = may_style(sys.stdout)
        shown = [_lines(rank, hit, style) for rank, hit in enumerate(result.hits, 1)]
        print("\n\n".join(shown) or "nothing found")
    tell_what_lacks(result.unavailable, result.warnings)
    if not relevant(result)[0]:
        _tell_what_waits(cortex)
    return 0


def _tell_what_waits(cortex: Cortex) -> None:
    """The notes that were not searched, and may hold what was not found."""
    with contextlib.suppress(CortexError):  # the search has told what is wrong with the index
        freshness = cortex.freshness()
        waiting = freshness.added + freshness.changed if freshness else 0
        if waiting:
            say(f"{counted(waiting, 'note')} changed or came since the index; run: cortex index")


def _lines(rank: int, hit: Hit, style: bool) -> str:
    """Three lines: where it is, what matched, why it stands here."""
    place = f"{hit.chunk.note}:{hit.chunk.start_line}"
    lines = [
        f"{rank}. {visible(hit.chunk.place)}  ({visible(place)})  {hit.score:.4f}",
        f"   {marked(hit.snippet, hit.matches, style)}",
        f"   why: {visible(why(hit.trace))}",
    ]
    return "\n".join(line for line in lines if line.strip())


def _document(result: SearchResult) -> dict[str, Json]:
    return {
        "query": result.query,
        "count": len(result.hits),
        "generation": result.generation,
        "results": [_entry(rank, hit) for rank, hit in enumerate(result.hits, 1)],
        "channels": {
            "ran": list(result.ran),
            "unavailable": [
                {"what": missing.what, "why": missing.why} for missing in result.unavailable
            ],
        },
        "warnings": list(result.warnings),
        "timings_ms": dict(result.timings_ms),
    }


def _entry(rank: int, hit: Hit) -> dict[str, Json]:
    chunk = hit.chunk
    return {
        "rank": rank,
        "chunk_id": chunk.id,
        "file": chunk.note,
        "title": chunk.title,
        "heading_path": list(chunk.heading_path),
        "heading": chunk.heading_path[-1] if chunk.heading_path else None,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "snippet": hit.snippet,
        "text": chunk.text,
        "score": hit.score,
        "evidence": hit.evidence,
        "trace": {
            "channels": {name: _channel(given) for name, given in hit.trace.channels.items()},
            "rrf_k": hit.trace.k,
            "fused": hit.trace.fused,
            "factors": dict(hit.trace.factors),
            "notes": dict(hit.trace.notes),
        },
        "tags": list(hit.tags),
        "frontmatter": dict(hit.meta),
        "modified": hit.modified,
    }


def _channel(given: ChannelTrace) -> dict[str, Json]:
    return {
        "rank": given.rank,
        "score": given.score,
        "calibrated": given.calibrated,
        "effective_rank": given.effective_rank,
        "weight": given.weight,
        "contribution": given.contribution,
    }
