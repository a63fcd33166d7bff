"""Headings, links, tags, block ids and comments as Obsidian shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.vault.markdown import Body, parse_body


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for _, heading in parse_body(text, 0).headings]


def targets(text: str) -> list[str]:
    return [link.target for _, link in parse_body(text, 0).links]


def tags(text: str) -> list[str]:
    return [tag for _, tag in parse_body(text, 0).tags]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One ##\n\nTwo\n===\n", [(1, "One"), (1, "Two")]),
        ("~~~\n# no\n~~~\n# yes", [(1, "yes")]),
        ("````\n```\n# no\n```\n````\n## yes", [(2, "yes")]),
        ("<div>\n# no\n</div>\n\n# yes", [(1, "yes")]),
        ("<!--\n# no\n-->\n# yes", [(1, "yes")]),
        ("%%\n# no\n%%\n\n# yes", [(1, "yes")]),
        (
            "%%\n# a mark that is never closed hides nothing",
            [(1, "a mark that is never closed hides nothing")],
        ),
        ("    # no\n\n# `code` *and* [[N|name]] ^id", [(1, "code and name")]),
        ("#tag\n\n####### seven\n\n\\# escaped", []),
        ("> # quoted\n\n- # listed\n", []),
        ("one\r\n# two\r\r# three", [(1, "two"), (1, "three")]),
        ("a\u2028# no\x0b# no\x0c# no", []),
    ],
)
def test_a_heading_is_what_commonmark_says(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


def test_a_heading_knows_those_above_it() -> None:
    body = parse_body("# A\n### B\n### C\n## D\n# E\n", 0)
    assert [h.parents for _, h in body.headings] == [(), ("A",), ("A",), ("A",), ()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[A]] ![[B#H|x]] [[C|l|r]]", ["A", "B", "C"]),
        ("`[[no]]` ``[[no]]`` $[[no]]$ <!-- [[no]] --> %%[[no]]%% [[yes]]", ["yes"]),
        ("```\n[[no]]\n```\n    [[no, indented]]\n\n[[yes]]", ["yes"]),
        ("[[two\nlines]] [[[[inner]]]] [[]] [[ ]]", ["inner"]),
        ("[[Array a]0 notes]] \\[[no]] \\\\[[yes]]", ["Array a]0 notes", "yes"]),
        ("| a |\n|---|\n| [[T\\|name]] |", ["T"]),
        (
            "[a](b%20c.md) [d](<e f.md>) [g](https://x.y/z) ![i](j.png)",
            ["b c.md", "e f.md", "j.png"],
        ),
        ("[r][ref]\n\n[ref]: deep/note.md", ["deep/note.md"]),
        ("text[^1]\n\n[^1]: see [[Foot]]", ["Foot"]),
        ("# H [[InHeading]]\n> [[InQuote]]\n- [[InItem]]", ["InHeading", "InQuote", "InItem"]),
    ],
)
def test_links_are_found_where_a_reader_sees_them(text: str, expected: list[str]) -> None:
    assert targets(text) == expected


def test_a_link_has_its_parts_and_its_line() -> None:
    body = parse_body("one\ntwo ![[N#H#S|name]] [x](#own)", 0)
    [(_, first), (_, second)] = body.links
    assert (first.target, first.subpath, first.label, first.kind) == ("N", "H#S", "name", "embed")
    assert (second.target, second.subpath, second.style, second.line) == ("", "own", "markdown", 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#a #b/c #ä #日本 #x-1_y", ["a", "b/c", "ä", "日本", "x-1_y"]),
        ("#1999 #y1999 a#b [x](#c) http://h/#d `#e`", ["y1999"]),
        ("# heading #tag\n#line", ["tag", "line"]),
        ("[[N #no]] [[#no]]\n#yes,", ["yes"]),
    ],
)
def test_tags_stand_at_the_start_of_a_word(text: str, expected: list[str]) -> None:
    assert tags(text) == expected


def test_block_ids_end_a_line() -> None:
    body = parse_body("text ^one\n\n- item ^two\n\n`^no`\nx^no\n", 0)
    assert body.block_ids == {"one": 1, "two": 3}


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "[[" * 50_000, "` " * 50_000, "> " * 20_000, "<!--" * 20_000]
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    body = parse_body(text, 0)  # the suite's time limit is the check; quadratic code takes minutes
    assert isinstance(body, Body)
    assert body.headings == []


@pytest.mark.parametrize("text", [">" * 30_000 + "x", "- " * 30_000 + "x", "1. " * 20_000 + "x"])
def test_no_depth_of_quotes_and_lists_ends_the_process(text: str) -> None:
    assert len(parse_body(text, 0).blocks) == 1


def test_lone_carriage_returns_end_lines_as_others_do() -> None:
    text = "é <!-- cé -->\n\n# Häding [[a]] #täg ^id\n\nlast [[b]]"
    other = parse_body(text.replace("\n", "\r"), 0)
    body = parse_body(text, 0)
    for name in ("headings", "links", "tags", "block_ids", "comments"):
        assert getattr(body, name) == getattr(other, name)
    assert parse_body("%%\ré%%%%", 0).comments


def test_a_comment_hides_across_lines_of_a_paragraph_and_an_open_one_nothing() -> None:
    body = parse_body(
        "text %% a [[no]] [no](no.md)\nmore %% [[yes]]\n\n> %% b\n> [[kept]]\n\n- %% x\n  [[too]]",
        0,
    )
    assert [link.target for _, link in body.links] == ["yes", "kept", "too"]
    assert len(body.comments) == 1


PIECES = st.sampled_from(
    [
        "# h\n",
        "```\n",
        "~~~\n",
        "[[a]]",
        "%%",
        "\n",
        "\r\n",
        "- ",
        "> ",
        "`",
        "$",
        "<!--",
        "-->",
        "|",
        "é",
        "日",
        "#t ",
        "^b",
        "\t",
        " ",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_offsets_stay_inside_the_text_whatever_it_is(text: str) -> None:
    body = parse_body(text, 0)
    for block in body.blocks:
        assert 0 <= block.start <= block.end <= len(text)
    for start, end in body.comments:
        assert 0 <= start < end <= len(text)
    assert all(text[at:].startswith(("[", "!")) for at, _ in body.links)
    assert all(text[at] == "#" for at, _ in body.tags)
