"""vault_build_context: cited Markdown, within a budget and what one answer holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .answers import (
    CHANGED_SINCE,
    NOTICE,
    as_json,
    line_range,
    one_line,
    require_known,
    shown_path,
    standing,
    state_of,
)

if TYPE_CHECKING:
    from ..app import Cortex
    from ..types import Context, Json, SearchResult


def vault_build_context(cortex: Cortex, args: dict[str, Any], vector_wait_s: float) -> str:
    """The answer, as JSON; vector_wait_s: as of Cortex.search. Raises CortexError."""
    filters = args.get("filters")
    require_known(cortex, filters)
    result = cortex.search(
        args["query"],
        args.get("top_k"),
        filters,
        boosts=args["apply_boost"],
        vector_wait_s=vector_wait_s,
        as_of=args.get("as_of"),
        plain=args["plain"],
    )
    asked = args.get("budget") or cortex.config.context_builder.token_budget
    limit, budget = cortex.config.tools.max_result_chars, asked
    about: dict[str, Json] = {}
    while True:
        context = cortex.context_of(result, budget, args.get("include_hermes_memory"))
        if not context.text and budget == asked:
            about = {"note": f"nothing fits into {asked} tokens; give a larger budget"}
        answer = _context_answer(cortex, result, context, about)
        if len(answer) <= limit or not budget:
            return answer
        budget = int(min(budget, context.tokens) * min(limit / len(answer), 0.95))
        about = {"truncated": f"to {budget} of {asked} tokens: one answer has {limit:,} characters"}


def _context_answer(
    cortex: Cortex, result: SearchResult, context: Context, about: Mapping[str, Json]
) -> str:
    return as_json(
        {
            "success": True,
            "query": one_line(context.query, 200),
            "context": context.text,
            "citations": [
                {
                    "number": cited.number,
                    "note": shown_path(cited.note),
                    "heading": one_line(" > ".join(cited.heading_path), 300) or None,
                    "lines": line_range(cited.start_line, cited.end_line),
                    **({"changed": CHANGED_SINCE} if cited.note in result.changed else {}),
                    **standing(cited),
                }
                for cited in context.citations
            ],
            "tokens": context.tokens,
            "budget": context.budget,
            **about,
            **({"redacted": context.redacted} if context.redacted else {}),
            **state_of(cortex, result),
            "notice": NOTICE,
        }
    )
