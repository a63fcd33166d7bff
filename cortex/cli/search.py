"""`cortex search`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..search.explain import WEAK, in_a_word, standing, why
from ..types import ChannelTrace, Hit, Json, SearchResult
from .drift import tell_what_waits
from .options import (
    add_as_of,
    add_filters,
    add_json,
    add_query,
    add_rerank,
    at_least,
    comma_separated,
    filters,
    query_text,
    share,
)
from .output import (
    counted,
    marked,
    may_style,
    print_json,
    say,
    tell_what_lacks,
    tell_what_was_corrected,
    tell_what_was_understood,
    visible,
)

if TYPE_CHECKING:
    pass

MOST_COPIES = 3  # named of one text
MOST_NEAREST = 3  # shown when nothing matches well

EXAMPLES = (
    ("search tide tables", "find notes about it"),
    ("search 'bees tag:garden -draft after:90d'", "with filters in the question"),
    ("search honey --type decision --top-k 3 --json", "three hits of one type, as a document"),
    ("search honey --group note --no-boost", "one hit a note, ranked without boosts"),
)
DESCRIPTION = """\
Find the chunks that answer a question best, by words, meaning and links at once. Shows the
place, a snippet, and why each hit ranks where it does. What could not run is told on stderr,
and the rest answers.

Exit codes: 0 done, also when nothing was found; 1 there is no index; 2 asked wrongly.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_query(parser)
    parser.add_argument(
        "--top-k",
        type=at_least(1),
        metavar="N",
        help="how many hits to show (search.top_k of the config, 20 by default)",
    )
    parser.add_argument(
        "--no-boost", action="store_true", help="rank without recency, importance and penalties"
    )
    add_rerank(parser)
    parser.add_argument("--channels", metavar="A,B", help="only these of: bm25, vector, graph")
    parser.add_argument(
        "--group", choices=("chunk", "note"), default="chunk", help="note: one hit a note"
    )
    parser.add_argument(
        "--max-per-note", type=at_least(0), metavar="N", help="chunks of one note; 0: any number"
    )
    parser.add_argument(
        "--min-evidence",
        type=share,
        metavar="X",
        help="leave out hits that are less likely than this, 0 to 1, about the question",
    )
    add_as_of(parser)
    add_json(parser)
    add_filters(parser)


def run(args: argparse.Namespace) -> int:
    text, chosen = query_text(args), filters(args)
    channels = None if args.channels is None else tuple(comma_separated(args.channels))
    from ..app import Cortex
    from ..context import relevant

    cortex = Cortex.open(args.config, env=os.environ)
    result = cortex.search(
        text,
        args.top_k,
        chosen,
        boosts=not args.no_boost,
        channels=channels,
        as_of=args.as_of,
        group=args.group,
        max_per_note=args.max_per_note,
        rerank=not args.no_rerank,
        plain=args.plain,
        min_evidence=args.min_evidence,
    )
    if args.json:
        print_json(_document(result))
    else:
        style = may_style(sys.stdout)
        described = {hit.description: hit for hit in reversed(result.hits)}  # the first of each
        shown = [
            _lines(rank, hit, style, is_described=described[hit.description] is hit)
            for rank, hit in enumerate(_worth_showing(result, args.top_k), 1)
        ]
        print("\n\n".join(shown) or "nothing found")
        if (more := len(result.hits) - len(shown)) > 0:
            say(f"{counted(more, 'hit')} further off not shown; see them with --top-k")
    tell_what_was_understood(result.understood)
    tell_what_was_corrected(result.corrections)
    tell_what_lacks(result.unavailable, result.warnings)
    if not relevant(result)[0]:
        tell_what_waits(cortex)
    return 0


def _worth_showing(result: SearchResult, asked: int | None) -> tuple[Hit, ...]:
    """All hits; where nothing matches well only the nearest, unless a number was asked for."""
    return result.hits if asked or result.evidence >= WEAK else result.hits[:MOST_NEAREST]


def _lines(rank: int, hit: Hit, style: bool, *, is_described: bool) -> str:
    """Where it is and what of it holds, what matched, what else to know, why it stands here."""
    place = f"{hit.chunk.note}:{hit.chunk.start_line}"
    holds = f"  [{visible(standing(hit))}]" if hit.labels else ""
    worth = f"{hit.score:.4f} {in_a_word(hit.evidence)}"
    lines = [
        f"{rank}. {visible(hit.chunk.place)}  ({visible(place)})  {worth}{holds}",
        f"   {marked(hit.snippet, hit.matches, style)}",
        f"   there: {visible(hit.description)}" if is_described and hit.description else "",
        f"   also in: {visible(_few(hit.duplicates))}" if hit.duplicates else "",
        f"   {counted(hit.more_in_note, 'more chunk')} of this note" if hit.more_in_note else "",
        f"   why: {visible(why(hit.trace))}",
    ]
    return "\n".join(line for line in lines if line.strip())


def _few(places: Sequence[str]) -> str:
    more = len(places) - MOST_COPIES
    return ", ".join(places[:MOST_COPIES]) + (f" and {more} more" if more > 0 else "")


def _document(result: SearchResult) -> dict[str, Json]:
    return {
        "query": result.query,
        "understood": result.understood or None,
        "corrections": [{"typed": typed, "used": used} for typed, used in result.corrections],
        "count": len(result.hits),
        "evidence": round(result.evidence, 4),
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
        "evidence": round(hit.evidence, 4),
        "strength": in_a_word(hit.evidence),
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
        "labels": list(hit.labels),
        "replaced_by": list(hit.replaced_by),
        "duplicates": list(hit.duplicates),
        "more_in_note": hit.more_in_note,
        "description": hit.description or None,
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
