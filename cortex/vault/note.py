"""The bytes of a Markdown file as a Note: problems are reported, never raised for bad prose."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from ..text import decode
from ..types import Note
from . import frontmatter
from .markdown import Body, parse_body


def read_note(
    path: str, data: bytes, modified: float, detect_language: Callable[[str], str]
) -> tuple[Note, Body]:
    """Read one file. Raises text.Undecodable when the bytes are no text at all."""
    text, problems = decode(data)
    header = frontmatter.split(text)
    body = parse_body(text, header.body_start)
    tags, tag_problems = frontmatter.tags_of(header.values)
    seen = {tag.casefold() for tag in tags}
    for _, tag in body.tags:
        if tag.casefold() not in seen:
            seen.add(tag.casefold())
            tags.append(tag)
    name = path.rpartition("/")[2][:-3]
    note = Note(
        path=path,
        title=frontmatter.title_of(header.values) or name,
        text=text,
        body_start=header.body_start,
        frontmatter=header.values,
        tags=tuple(tags),
        aliases=tuple(frontmatter.aliases_of(header.values)),
        links=tuple(frontmatter.property_links(header.values, header.key_lines)),
        headings=tuple(heading for _, heading in body.headings),
        blocks=body.block_ids,
        language=detect_language(text[header.body_start :]),
        sha256=sha256(data).hexdigest(),
        modified=modified,
        problems=(*problems, *header.problems, *tag_problems),
    )
    return note, body
