"""Markdown as CommonMark reads it, with what Obsidian adds, each thing with its offsets.

comrak gives the tree and the positions; from it come the blocks, the headings and what is masked
(code, mathematics, HTML, comments). Wikilinks, tags and block ids are then looked for in the source
outside the masks, because Obsidian's own rules for them differ from any parser's: only "]]" ends a
target, a line break never stands in one, and the innermost of nested brackets counts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

import comrak

from ..text import line_starts, one_line
from ..types import Heading, Link

_EXTENSIONS = comrak.ExtensionOptions(
    wikilinks_title_after_pipe=True,
    math_dollars=True,
    table=True,
    footnotes=True,
    strikethrough=True,
    tasklist=True,
    ofm_comments=True,
)
_PARSING = comrak.ParseOptions(sourcepos_chars=True, leave_footnote_definitions=True)

_MASKED_BLOCKS = (comrak.CodeBlock, comrak.HtmlBlock, comrak.MultilineComment)
_MASKED_INLINES = (comrak.Code, comrak.Math, comrak.HtmlInline, comrak.CommentInline)
_CONTAINERS = (
    comrak.List,
    comrak.Item,
    comrak.TaskItem,
    comrak.BlockQuote,
    comrak.Table,
    comrak.FootnoteDefinition,
)
_BLOCKS = (
    *_CONTAINERS,
    *_MASKED_BLOCKS,
    comrak.TableRow,
    comrak.Paragraph,
    comrak.Heading,
    comrak.ThematicBreak,
)

_MAX_FENCE = 40  # characters; a longer line of marks is no fence that anyone would open again
# Both keep every offset. The parser counts characters by "\n" alone, and each quote or list in a
# quote is a call within a call: thousands of them overflow its stack.
_LONE_RETURN = re.compile(r"\r(?!\n)")
_DEEP = re.compile(
    r"(?m)^((?:[ \t]*+(?:>|[*+-](?=[ \t])|\d{1,9}[.)](?=[ \t]))){200})([ \t>*+\-.)\d]+)"
)
MAX_HEADING = 300  # characters of a heading that names a place
_FILLER = "\0"  # stands for each masked character; notes never hold it
_MAX_DEPTH = 100  # of nested blocks looked into; deeper ones count as text of the last
# Obsidian: letters and digits of any script, "_", "-", "/" and emoji; not only digits.
_TAG = re.compile(
    r"""(?:(?<=\s)|(?<![\s\S]))\#
    ([^\u2000-\u206F\u2E00-\u2E7F\u3000-\u303F'!"\#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s\0]+)""",
    re.VERBOSE,
)
_BLOCK_ID = re.compile(r"(?m)(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\r?$")
_TRAILING_BLOCK_ID = re.compile(r"\s+\^[A-Za-z0-9-]+$")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(slots=True)
class Block:
    """A block of the tree: its span in the text, from the start of its first line."""

    kind: Literal["heading", "code", "table", "text", "container"]
    start: int
    end: int
    parts: list[Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced code block: its span, and what opens and closes a part of it that stands alone."""

    start: int
    end: int
    inner_start: int  # after the opening line
    opening: str  # for a part without the opening line; quoted if the block is
    closing: str  # for such a part
    first_closing: str  # for a part with the opening line: as far in as that is
    runs_on: bool  # not closed, and nothing around it ends it


@dataclass(slots=True)
class Body:
    """What a note's body is made of. Offsets are into the whole text of the file."""

    blocks: list[Block] = field(default_factory=list)  # top level, in order
    headings: list[tuple[int, Heading]] = field(
        default_factory=list
    )  # (offset of its line, heading)
    open_headings: list[Heading] = field(default_factory=list)  # those that the next may be under
    # Offset of a heading's line -> its end; not of one too long to stand in a heading path.
    heading_ends: dict[int, int] = field(default_factory=dict)
    links: list[tuple[int, Link]] = field(default_factory=list)  # (offset, link), in order
    tags: list[tuple[int, str]] = field(default_factory=list)
    block_ids: dict[str, int] = field(default_factory=dict)  # id -> line
    comments: list[tuple[int, int]] = field(default_factory=list)  # spans that readers do not see
    codes: list[Code] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # offset of each line of the file

    def line_of(self, offset: int) -> int:
        """The line, from 1, that holds an offset."""
        return bisect_right(self.lines, offset)


def parse_body(text: str, body_start: int) -> Body:
    """Read the body of a note: the part of `text` from `body_start` on."""
    body = Body(lines=line_starts(text))
    source = _LONE_RETURN.sub("\n", text[body_start:].replace("\0", "\ufffd"))
    source = _DEEP.sub(lambda match: match[1] + "x" * len(match[2]), source)
    tree, source = _parse(source)
    first_line = body.line_of(body_start) if body_start < len(text) else len(body.lines)
    # The body may begin in the middle of a line only when that line is the first of the file.
    starts = [body_start, *body.lines[first_line:]]

    def offset(position: comrak.LineColumn, *, after: bool = False) -> int:
        line: int = min(position.line, len(starts)) - 1
        return min(starts[line] + position.column - (0 if after else 1), len(text))

    masks: list[tuple[int, int]] = []
    paragraphs: list[tuple[int, int]] = []
    stack: list[tuple[Any, list[Block], int]] = [
        (child, body.blocks, 0) for child in reversed(tree.children)
    ]
    while stack:
        node, siblings, depth = stack.pop()
        value = node.node_value
        start, end = offset(node.sourcepos.start), offset(node.sourcepos.end, after=True)
        if isinstance(value, _BLOCKS):
            block = Block(
                _kind(value), starts[min(node.sourcepos.start.line, len(starts)) - 1], end
            )
            siblings.append(block)
            if isinstance(value, comrak.Paragraph):
                paragraphs.append((start, end))
            if isinstance(value, _MASKED_BLOCKS):
                masks.append((start, end))
                _note_hidden(body, value, text, start, end)
                continue
            if isinstance(value, comrak.Heading) and siblings is body.blocks:
                _add_heading(body, node, block.start, end)
            inside = block.parts if isinstance(value, _CONTAINERS) and depth < _MAX_DEPTH else []
            stack.extend((child, inside, depth + 1) for child in reversed(node.children))
            continue
        if isinstance(value, _MASKED_INLINES):
            masks.append((start, end))
            html = value.value if isinstance(value, comrak.HtmlInline) else ""
            if isinstance(value, comrak.CommentInline) or html.startswith("<!--"):
                body.comments.append((start, end))
        elif isinstance(value, (comrak.Link, comrak.Image)):
            link = _markdown_link(value, node, body.line_of(start))
            if link is not None:
                body.links.append((start, link))
        stack.extend((child, siblings, depth) for child in reversed(node.children))

    masks.sort()
    visible = _LONE_RETURN.sub("\n", _masked(text, body_start, masks))
    if "%%" in visible:
        hidden = list(_comments_over_lines(visible, body_start, paragraphs))
        body.comments.extend(hidden)
        shown = (pair for pair in body.links if not any(s <= pair[0] < e for s, e in hidden))
        body.links = list(shown)
        masks = sorted([*masks, *hidden])
        visible = _LONE_RETURN.sub("\n", _masked(text, body_start, masks))
    wiki = list(_wikilinks(visible, body_start, body))
    body.links.extend((start, link) for start, _, link in wiki)
    body.links.sort(key=lambda pair: pair[0])
    spans = [(start, end) for start, end, _ in wiki]
    for match in _TAG.finditer(visible):
        at = body_start + match.start()
        tag = match.group(1).rstrip("/")
        inside_link = bisect_right(spans, (at, len(text)))
        if inside_link and at < spans[inside_link - 1][1]:
            continue
        if tag and not tag.replace("/", "").isdigit():
            body.tags.append((at, tag))
    if "^" in visible:
        for match in _BLOCK_ID.finditer(visible):
            line = body.line_of(body_start + match.start(1))
            body.block_ids.setdefault(match.group(1), line)
    body.comments.sort()
    return body


def _parse(source: str) -> tuple[Any, str]:
    """The tree of a body in which an unclosed `%%` hides nothing."""
    while True:
        tree = comrak.parse_document(source, _EXTENSIONS, _PARSING)
        unclosed = list(_unclosed_comments(tree)) if "%%" in source else []
        if not unclosed:
            return tree, source
        starts = line_starts(source)
        for position in unclosed:
            at = source.find("%%", starts[position.line - 1] + position.column - 1)
            if at < 0:
                return tree, source
            source = source[:at] + "xx" + source[at + 2 :]  # same length, so positions stay


def _unclosed_comments(tree: comrak.AstNode) -> Iterator[comrak.LineColumn]:
    """Where comments begin that nothing closes, in quotes and lists too."""
    stack = [tree]
    while stack:
        node = stack.pop()
        value = node.node_value
        if isinstance(value, comrak.MultilineComment) and not value.value.closed:
            yield node.sourcepos.start
        elif isinstance(value, (comrak.Document, *_CONTAINERS)):
            stack.extend(node.children)


def _kind(value: Any) -> Literal["heading", "code", "table", "text", "container"]:
    if isinstance(value, comrak.Heading):
        return "heading"
    if isinstance(value, comrak.CodeBlock):
        return "code"
    if isinstance(value, comrak.Table):
        return "table"
    return "container" if isinstance(value, _CONTAINERS) else "text"


def _note_hidden(body: Body, value: Any, text: str, start: int, end: int) -> None:
    if isinstance(value, comrak.MultilineComment):
        body.comments.append((start, end))
    elif isinstance(value, comrak.HtmlBlock):
        for match in _HTML_COMMENT.finditer(text, start, end):
            body.comments.append(match.span())
    elif value.value.fenced and value.value.fence_length <= _MAX_FENCE:
        index = bisect_right(body.lines, start)
        first_end = body.lines[index] if index < len(body.lines) else len(text)
        marks = chr(value.value.fence_char) * value.value.fence_length
        before = text[body.lines[index - 1] : start]
        quote = "> " * before.count(">")
        inward = re.sub(r"[^\s>]", " ", before)  # list markers become the indent they ask for
        body.codes.append(
            Code(
                start,
                end,
                min(first_end, end),
                f"{quote}{marks}{value.value.info[:_MAX_FENCE]}",
                f"{quote}{marks}",
                f"{inward}{marks}",
                not value.value.closed and not before.strip(),
            )
        )


def _add_heading(body: Body, node: Any, start: int, end: int) -> None:
    level = node.node_value.value.level
    text = _TRAILING_BLOCK_ID.sub("", one_line(" ".join(_plain_text(node).split())).strip())
    if len(text) > MAX_HEADING:
        text = text[:MAX_HEADING] + "…"  # all of it stays in the section's text
    else:
        body.heading_ends[start] = end
    while body.open_headings and body.open_headings[-1].level >= level:
        body.open_headings.pop()
    parents = tuple(heading.text for heading in body.open_headings)
    heading = Heading(level, text, body.line_of(start), parents)
    body.open_headings.append(heading)
    body.headings.append((start, heading))


def _plain_text(node: Any) -> str:
    """What a reader sees of inline content."""
    pieces: list[str] = []
    stack = list(reversed(node.children))
    while stack:
        child = stack.pop()
        value = child.node_value
        if isinstance(value, comrak.Text):
            pieces.append(value.value)
        elif isinstance(value, (comrak.SoftBreak, comrak.LineBreak)):
            pieces.append(" ")
        elif isinstance(value, (comrak.Code, comrak.Math)):
            pieces.append(value.value.literal)
        elif not isinstance(value, (comrak.CommentInline, comrak.HtmlInline)):
            stack.extend(reversed(child.children))
    return "".join(pieces)


def _masked(text: str, body_start: int, masks: Sequence[tuple[int, int]]) -> str:
    """The body with every masked character but line ends replaced by the filler."""
    pieces: list[str] = []
    at = body_start
    for start, end in masks:
        if end <= at:
            continue
        start = max(start, at)
        pieces.append(text[at:start])
        pieces.append(re.sub(r"[^\r\n]", _FILLER, text[start:end]))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _comments_over_lines(
    visible: str, body_start: int, paragraphs: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Comments that begin and end in one paragraph, on different lines: the parser leaves those."""
    for start, end in paragraphs:
        at = visible.find("%%", start - body_start, end - body_start)
        while at >= 0:
            close = visible.find("%%", at + 2, end - body_start)
            if close < 0:
                break
            yield body_start + at, body_start + close + 2
            at = visible.find("%%", close + 2, end - body_start)


def _wikilinks(visible: str, body_start: int, body: Body) -> Iterator[tuple[int, int, Link]]:
    """(start, end, link) of each wikilink and embed, in order, in time linear in the text."""
    at = visible.find("[[")
    while at >= 0:
        close = visible.find("]]", at + 2)
        if close < 0:
            return
        # From the last "[[" on the line of the close: nested brackets give the inner one.
        line_start = max(visible.rfind("\n", at, close), visible.rfind("\r", at, close)) + 1
        start = visible.rfind("[[", max(at, line_start), close)
        if start < 0:
            at = visible.find("[[", max(close, line_start))
            continue
        target = visible[start + 2 : close]
        while visible.startswith("]", close + 2) and target.count("[") > target.count("]"):
            target += "]"
            close += 1
        if _FILLER not in target and not _is_escaped(visible, start):
            embed = visible[start - 1 : start] == "!"
            link = wikilink(target, "embed" if embed else "link", body.line_of(body_start + start))
            if link is not None:
                begin = start - 1 if embed else start
                yield body_start + begin, body_start + close + 2, link
        at = visible.find("[[", close + 2)


def _is_escaped(text: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before an offset."""
    first = at
    while first and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def wikilink(
    inner: str, kind: Literal["link", "embed"], line: int, name: str | None = None
) -> Link | None:
    """What stands between the brackets as a link; None if it names nothing."""
    target, bar, label = inner.partition("|")
    if bar:
        target = target.removesuffix("\\")  # an escaped pipe in a table cell
    target, mark, subpath = target.partition("#")
    target, subpath, label = target.strip(), subpath.strip(), label.strip()
    if not target and not subpath:
        return None
    return Link(target, subpath or None if mark else None, label or None, kind, "wiki", line, name)


def _markdown_link(value: Any, node: Any, line: int) -> Link | None:
    url = value.value.url
    if not url or _SCHEME.match(url) or url.startswith(("//", "?")):
        return None
    target, mark, subpath = url.partition("#")
    target, subpath = unquote(target).strip(), unquote(subpath).strip()
    if not target and not subpath:
        return None
    label = " ".join(_plain_text(node).split())
    kind: Literal["link", "embed"] = "embed" if isinstance(value, comrak.Image) else "link"
    return Link(target, subpath or None if mark else None, label or None, kind, "markdown", line)
