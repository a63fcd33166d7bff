"""What a model is told of each tool, and the names it may give to parameters instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types import Json

_TEXTS = {"type": "array", "items": {"type": "string"}}
_NUMBER = {"type": "number"}
LAST_LINE = 10_000_000


def _texts(what: str) -> dict[str, Json]:
    return {**_TEXTS, "description": what}


def _number(what: str, low: float, high: float) -> dict[str, Json]:
    return {**_NUMBER, "description": what, "minimum": low, "maximum": high}


def _day(what: str) -> dict[str, Json]:
    return {"type": "string", "description": what}


_FILTERS: dict[str, Json] = {
    "type": "object",
    "description": (
        "Only notes that pass all of these; in a list one is enough, and ! excludes. Any other "
        "frontmatter property works as a key too, e.g. {'author': ['Ada']}."
    ),
    "properties": {
        "folders": _texts("With all below, e.g. ['Projects/Garden', '!Archive']"),
        "path": _texts("Words that its path holds; * is any part of one"),
        "title": _texts("The same of title or alias"),
        "phrases": _texts("Its text holds all of these"),
        "exclude": _texts("And none of these words or phrases"),
        "tags_any": _texts("Without #; a tag stands for those below it"),
        "tags_all": _texts("Every one of these tags"),
        "type": _texts("Its frontmatter type, e.g. ['decision']"),
        "status": _texts("e.g. ['active', '!archived']"),
        "domain": _texts("Subject area, e.g. ['health']"),
        "project": _texts("Its frontmatter project"),
        "stability": _texts("How lasting, e.g. ['stable']"),
        "wikilinks_any": _texts("Links to any of these notes, e.g. ['Gauge']"),
        "wikilinks_all": _texts("Links to all of these"),
        "links_to": _texts("Links to these notes, by any of their names"),
        "linked_from": _texts("These notes link to it"),
        "near": _texts("Within two links of these notes"),
        "importance_min": _number("Importance in its frontmatter, 1 to 5", 1, 5),
        "importance_max": _number("At most that", 1, 5),
        "confidence_min": _number("Confidence in its frontmatter, 0 to 1", 0, 1),
        "confidence_max": _number("At most that", 0, 1),
        "modified_after": _day("Its frontmatter date, else its name's or file's"),
        "modified_before": _day("That day or earlier"),
        "after": _day("The same, also 2026-01, 7d, 2w, 3m, yesterday"),
        "before": _day("Before that day, month or year"),
    },
    "additionalProperties": True,
}
# Spelled out once: the same list in each tool would cost every request some 600 tokens.
_FILTERS_AGAIN = {
    "type": "object",
    "description": "As in vault_search",
    "additionalProperties": True,
}
_PLAIN = {
    "type": "boolean",
    "description": "Read the query as words alone, e.g. pasted text",
    "default": False,
}
_AS_OF = _day("Only what existed and was valid on that day, e.g. 2025-03-31")
_BOOST = {
    "type": "boolean",
    "description": "Lift recent and important notes",
    "default": True,
}

SCHEMAS: tuple[dict[str, Json], ...] = (
    {
        "name": "vault_search",
        "description": (
            "Search the user's Markdown notes (the vault) by words, meaning and links. Use it "
            "first for anything the user may have written down: facts, plans, people, decisions. "
            "Returns notes with line ranges and snippets; read on with vault_read_note(note, "
            "start_line), then cite note and lines. No good hit: try other words or fewer filters."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": (
                        "Question or key words, e.g. 'how to calibrate the tide gauge'. Optional "
                        'syntax: "phrase" -word OR tag:x path:x title:x type:x property:value '
                        "after:7d before:2025-06 links-to:[[Note]] linked-from: near:; filters "
                        "alone list notes, newest first"
                    ),
                },
                "top_k": {
                    "type": "integer",
                    "description": "Hits on a page",
                    "minimum": 1,
                    "maximum": 50,
                    "default": 8,
                },
                "page": {
                    "type": "integer",
                    "description": "Go on with next_page of an answer, and next_top_k if given",
                    "minimum": 1,
                    "maximum": 200,
                    "default": 1,
                },
                "filters": _FILTERS,
                "detail": {
                    "type": "string",
                    "description": "full adds each hit's text, tags, frontmatter and ranking",
                    "enum": ["compact", "full"],
                    "default": "compact",
                },
                "group": {
                    "type": "string",
                    "description": "note: one hit a note",
                    "enum": ["chunk", "note"],
                    "default": "chunk",
                },
                "plain": _PLAIN,
                "as_of": _AS_OF,
                "min_evidence": _number("Leave out hits with less evidence, 0 to 1", 0, 1),
                "apply_boost": _BOOST,
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    },
    {
        "name": "vault_read_note",
        "description": (
            "Read one note of the vault as its file is now, whole or in part. Use it after "
            "vault_search, or when you know a note's name. Long notes come in pieces: go on with "
            "start_line = next_line."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "note": {
                    "type": "string",
                    "description": (
                        "Path in the vault as vault_search gives it, or name, title or alias, "
                        "e.g. 'Projects/Gauge.md' or 'Gauge'"
                    ),
                },
                "heading": {
                    "type": "string",
                    "description": "Only the section under it, e.g. 'Setup' or 'Setup > Wiring'",
                },
                "start_line": {
                    "type": "integer",
                    "description": "First line, from 1",
                    "minimum": 1,
                    "maximum": LAST_LINE,
                },
                "end_line": {
                    "type": "integer",
                    "description": "Last line, included; default: the end",
                    "minimum": 1,
                    "maximum": LAST_LINE,
                },
                "start_char": {
                    "type": "integer",
                    "description": "Within start_line, to go on in a very long line (next_char)",
                    "minimum": 0,
                    "maximum": 100_000_000,
                    "default": 0,
                },
                "max_chars": {
                    "type": "integer",
                    "description": "At most so much text; default: what one answer can hold",
                    "minimum": 200,
                    "maximum": 100_000,
                },
            },
            "required": ["note"],
            "additionalProperties": False,
        },
    },
    {
        "name": "vault_build_context",
        "description": (
            "The passages of the vault that answer a question, as Markdown with numbered "
            "citations [^1], within a token budget. Use it when one call shall gather what several "
            "notes say; use vault_search to look around. Cite the notes you used."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "The question, e.g. 'what did we decide about backups'; "
                    "syntax as in vault_search",
                },
                "budget": {
                    "type": "integer",
                    "description": "Tokens of the whole text; default: 4000, unless "
                    "the user set another",
                    "minimum": 1,
                    "maximum": 100_000,
                },
                "top_k": {
                    "type": "integer",
                    "description": "Hits to choose from; default: 20, unless the user set another",
                    "minimum": 1,
                    "maximum": 50,
                },
                "filters": _FILTERS_AGAIN,
                "plain": _PLAIN,
                "as_of": _AS_OF,
                "apply_boost": _BOOST,
                "include_hermes_memory": {
                    "type": "boolean",
                    "description": "Put MEMORY.md and USER.md in front, for this call only; "
                    "default: false, unless the user set true",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    },
)
# Only there where the owner has set tools.write.
WRITE_SCHEMA: dict[str, Json] = {
    "name": "vault_write_note",
    "description": (
        "Write a NEW note into the user's vault; it never changes or overwrites one. Only when the "
        "user asks for it or agrees. Search first: there may be a note on it. The first call "
        "writes nothing and returns a preview; show it to the user, then call again with the same "
        "arguments and its confirm."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "title": {
                "type": "string",
                "description": "Also the file name, e.g. 'Slate instead of tiles'; none of "
                '# ^ [ ] | : / < > " ? *',
            },
            "body": {
                "type": "string",
                "description": "Markdown without frontmatter; the answer in the first lines, "
                "[[links]] only to notes that exist, no secrets",
            },
            "type": {
                "type": "string",
                "description": "Decides the folder; note goes to the inbox",
                "enum": ["fact", "decision", "project", "runbook", "person", "map", "note"],
                "default": "note",
            },
            "folder": {
                "type": "string",
                "description": "Another folder that exists, e.g. 'Projects/Garden'",
            },
            "tags": _texts("Without #, e.g. ['house']"),
            "properties": {
                "type": "object",
                "description": "Other frontmatter, e.g. {'importance': 4, 'domain': 'house', "
                "'supersedes': ['[[Old note]]']}",
                "additionalProperties": True,
            },
            "confirm": {
                "type": "string",
                "description": "What the preview gave; writes that very note",
            },
        },
        "required": ["title", "body"],
        "additionalProperties": False,
    },
}
# What models call a parameter instead, all taken silently.
SYNONYMS: dict[str, dict[str, str]] = {
    "vault_search": {
        **dict.fromkeys(("q", "question", "text"), "query"),
        **dict.fromkeys(("limit", "k", "topk", "max_results", "count"), "top_k"),
        **dict.fromkeys(("group_by", "grouping"), "group"),
        "asof": "as_of",
        "filter": "filters",
        **dict.fromkeys(("boost", "apply_boosts"), "apply_boost"),
    },
    "vault_read_note": {
        **dict.fromkeys(("file", "path", "name", "title", "note_path", "file_path"), "note"),
        **dict.fromkeys(("heading_path", "section", "headings"), "heading"),
        **dict.fromkeys(("from_line", "line", "start"), "start_line"),
        **dict.fromkeys(("to_line", "end"), "end_line"),
        **dict.fromkeys(("max_characters", "limit"), "max_chars"),
    },
    "vault_build_context": {
        **dict.fromkeys(("q", "question", "text"), "query"),
        **dict.fromkeys(("budget_tokens", "max_tokens", "token_budget", "tokens"), "budget"),
        **dict.fromkeys(("limit", "k", "topk", "max_results"), "top_k"),
        "asof": "as_of",
        "filter": "filters",
        **dict.fromkeys(("boost", "apply_boosts"), "apply_boost"),
        **dict.fromkeys(("include_memory", "memory"), "include_hermes_memory"),
    },
    "vault_write_note": {
        **dict.fromkeys(("name", "note", "heading"), "title"),
        **dict.fromkeys(("content", "text", "markdown"), "body"),
        **dict.fromkeys(("note_type", "kind"), "type"),
        **dict.fromkeys(("path", "directory"), "folder"),
        "tag": "tags",
        **dict.fromkeys(("frontmatter", "metadata"), "properties"),
        **dict.fromkeys(("confirmation", "token"), "confirm"),
    },
}
SCHEMA = {schema["name"]: schema for schema in (*SCHEMAS, WRITE_SCHEMA)}
