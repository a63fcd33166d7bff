"""vault_search: hits in pages, as many as one answer holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .answers import (
    CHANGED_SINCE,
    MOST_COPIES,
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
    from ..types import Hit, Json, SearchResult

DEPTHS = (50, 200)  # hits of a search that pages are cut from: the first few, and the later ones
_FULL_TEXT_CHARS = (4000, 2000, 1000, 500)  # of a hit's text in full detail, the most that fits


def vault_search(cortex: Cortex, args: dict[str, Any], vector_wait_s: float) -> str:
    """The answer, as JSON; vector_wait_s: as of Cortex.search. Raises CortexError."""
    top_k, page, filters = args["top_k"], args["page"], args.get("filters")
    require_known(cortex, filters)
    beyond = page * top_k

    def searched(depth: int, wait_s: float) -> SearchResult:
        return cortex.search(
            args["query"],
            depth,
            filters,
            boosts=args["apply_boost"],
            vector_wait_s=wait_s,
            as_of=args.get("as_of"),
            group=args["group"],
            plain=args["plain"],
            min_evidence=args.get("min_evidence"),
        )

    result = searched(DEPTHS[0], vector_wait_s)
    hits = list(result.hits)
    if len(hits) <= beyond and result.more:
        # A model that was late is not waited for twice.
        wait_s = vector_wait_s if "vector" in result.ran else 0.0
        deeper = searched(DEPTHS[1], wait_s)
        # A deeper search may rank otherwise; what earlier pages showed stays theirs.
        per_note = 1 if args["group"] == "note" else cortex.config.search.max_chunks_per_note
        hits = _joined(hits, deeper.hits, per_note)
        result = replace(
            deeper,
            unavailable=deeper.unavailable if wait_s else result.unavailable,
            changed=(*result.changed, *deeper.changed),
        )
    return _HitList(cortex, args, result, hits[: DEPTHS[1]]).answer()


def _joined(hits: Sequence[Hit], deeper: Sequence[Hit], per_note: int) -> list[Hit]:
    """`hits` and what a deeper search adds: nothing twice, and no more of a note than of one."""
    known = {hit.chunk.id for hit in hits}
    copies = {place for hit in hits for place in hit.duplicates}
    counts = Counter(hit.chunk.note for hit in hits)
    joined = list(hits)
    for hit in deeper:
        note = hit.chunk.note
        place = f"{note}:{line_range(hit.chunk.start_line, hit.chunk.end_line)}"
        if hit.chunk.id in known or place in copies or (per_note and counts[note] >= per_note):
            continue
        counts[note] += 1
        joined.append(hit)
    return joined


@dataclass(slots=True)
class _HitList:
    """The answer to a search, as long as it may be."""

    cortex: Cortex
    args: dict[str, Any]
    result: SearchResult
    hits: list[Hit]  # of all pages

    def answer(self) -> str:
        about: dict[str, Json] = {}
        top_k, start = self.args["top_k"], (self.args["page"] - 1) * self.args["top_k"]
        shown = self.hits[start : start + top_k]
        next_page = self.args["page"] + 1 if len(self.hits) > start + top_k else None
        limit = self.cortex.config.tools.max_result_chars
        sizes = _FULL_TEXT_CHARS if self.args["detail"] == "full" else (0,)
        if next_page is None and self.result.more:
            about["note"] = f"only the best {len(self.hits)} hits have pages; narrow it by filters"
        elif not shown and start:
            about["note"] = f"nothing on page {self.args['page']}: there are {len(self.hits)} hits"
        masked = [_masked(hit) for hit in shown]
        first = {hit.description: hit for hit in reversed(shown)}  # the others need not repeat it
        for size in sizes:
            entries = [
                self._entry(hit, told, size, is_described=size > 0 or first[hit.description] is hit)
                for hit, told in zip(shown, masked, strict=True)
            ]
            answer = self._with(entries, next_page, about)
            if len(answer) <= limit:
                return answer
        room = limit - len(self._with([], next_page, {"truncated": "x" * 250}))
        fitting = 0
        for entry in entries:
            room -= len(as_json(entry)) + 2
            if room < 0:
                break
            fitting += 1
        if not fitting:
            entries = [{key: entries[0][key] for key in ("note", "lines")}]
            fitting = 1
        count, per_page, page = resumable(start, fitting)
        left_out = f"{count} of {len(shown)} hits, to stay within {limit:,} characters"
        about = {
            "next_top_k": per_page,  # with another one the page would begin elsewhere
            "truncated": f"{left_out}; go on with top_k {per_page} and page {page}",
        }
        more = page if len(self.hits) > start + count else None
        return self._with(entries[:count], more, about)

    def _with(
        self, entries: list[dict[str, Json]], next_page: int | None, about: dict[str, Json]
    ) -> str:
        return as_json(
            {
                "success": True,
                "query": one_line(self.result.query, 200),
                "results": entries,
                "page": self.args["page"],
                "next_page": next_page,
                **about,
                **state_of(self.cortex, self.result),
                "notice": NOTICE,
            }
        )

    def _entry(
        self, hit: Hit, masked: tuple[str, str], text_chars: int, *, is_described: bool
    ) -> dict[str, Json]:
        from ..search.explain import why
        from ..vault.frontmatter import day_of

        chunk = hit.chunk
        text, snippet = masked
        entry: dict[str, Json] = {
            "note": shown_path(chunk.note),
            "title": one_line(chunk.title, 200),
            "heading": one_line(" > ".join(chunk.heading_path), 300) or None,
            "lines": line_range(chunk.start_line, chunk.end_line),
            "snippet": snippet,
            "score": round(hit.score, 4),
            "evidence": round(hit.evidence, 2),
            "why": one_line(why(hit.trace), 200),
        }
        if chunk.note in self.result.changed:
            entry["changed"] = CHANGED_SINCE
        entry.update(standing(hit))
        if hit.description and is_described:
            entry["description"] = one_line(hit.description, 300)
        if hit.duplicates:
            entry["same_text_in"] = [shown_path(place) for place in hit.duplicates[:MOST_COPIES]]
        if hit.more_in_note:
            entry["more_in_note"] = hit.more_in_note
        if text_chars:
            cut = len(text) > text_chars
            entry["text"] = f"{text[:text_chars]}…" if cut else text
            entry["text_is_cut"] = cut
            entry["tags"] = [one_line(tag, 100) for tag in hit.tags[:20]]
            entry["modified"] = day_of(hit.meta, hit.modified, hit.chunk.note).isoformat()
            entry["frontmatter"] = _redacted(_within(hit.meta, text_chars))
            entry["ranking"] = _ranking(hit)
        return entry


def resumable(start: int, fitting: int) -> tuple[int, int, int]:
    """(hits to show, top_k, page) so that the page of that size goes on right behind them.

    start: hits before. fitting: how many could be shown, at least 1; a few are left for the next
    page where that gives pages of a good size.
    """

    def largest_page(count: int) -> int:
        return next(k for k in range(fitting, 0, -1) if (start + count) % k == 0)

    count = max(range(1, fitting + 1), key=lambda n: (min(n, largest_page(n)), n))
    per_page = largest_page(count)
    return count, per_page, (start + count) // per_page + 1


def _masked(hit: Hit) -> tuple[str, str]:
    """(text, snippet) of a hit, without secrets."""
    from ..generated import escape
    from ..redaction import occurrences, redact
    from ..search.evidence import snippet

    chunk = hit.chunk
    text, count = redact(chunk.text, occurrences(chunk.text, chunk.secrets))
    if not count:
        return escape(text), escape(hit.snippet)
    words = {chunk.text[start:end] for start, end in hit.text_matches} - {""}
    pattern = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    places = [match.span() for match in re.finditer(pattern, text)] if words else []
    return escape(text), escape(snippet(text, places)[0])


def _redacted(value: Json, key: str = "", above: str = "") -> Json:
    """A property without secrets: its name, or one above it, may be what makes it one."""
    from ..generated import escape
    from ..redaction import find, governing, mask, redact, secret_kind, secret_lines

    if isinstance(value, Mapping):
        return {
            redact(one_line(str(name), 100))[0]: _redacted(
                inner, str(name), governing(above, str(name))
            )
            for name, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        of_key = secret_lines([item if isinstance(item, str) else "" for item in value])
        return [
            mask("private_key") if index in of_key else _redacted(item, key, above)
            for index, item in enumerate(value)
        ]
    if value is None or isinstance(value, bool):
        return value
    kind = secret_kind(above, str(value), inside=key != above)
    if kind is not None:
        return mask(kind)
    if not isinstance(value, str):
        return value
    front = f"{key}: "
    found = find(front + value)
    if not found:
        return escape(value)
    if found[0].start < len(front):
        return mask(found[0].kind)
    return escape(redact(front + value)[0][len(front) :])


def _within(values: Mapping[str, Json], limit: int) -> dict[str, Json]:
    """Those properties that fit into `limit` characters, each where the ones before left room."""
    kept: dict[str, Json] = {}
    for name, value in values.items():
        size = len(as_json({name: value}))
        if size <= limit:
            kept[name] = value
            limit -= size
    return kept if len(kept) == len(values) else {**kept, "…": "cut"}


def _ranking(hit: Hit) -> dict[str, Json]:
    trace = hit.trace
    return {
        "channels": {
            name: {"rank": given.rank, "score": round(given.score, 4)}
            for name, given in trace.channels.items()
        },
        "factors": {name: round(factor, 4) for name, factor in trace.factors.items()},
        "linked_from": shown_path(trace.notes.get("linked_from") or "") or None,
    }
