"""Chunks: exact spans that cover the body, ids that survive edits, borders that stay."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.text import estimate_tokens
from cortex.types import Chunk
from cortex.vault.chunk import MAX_TOKENS, chunk_note
from cortex.vault.note import read_note


def chunks(text: str, path: str = "folder/Note.md") -> list[Chunk]:
    note, body = read_note(path, text.encode("utf-8"), 0.0, lambda _: "en")
    return chunk_note(note, body)


def body_of(text: str) -> str:
    note, _ = read_note("n.md", text.encode("utf-8"), 0.0, lambda _: "en")
    return note.text[note.body_start :]


def paragraphs(count: int, words: int = 60, salt: str = "") -> list[str]:
    return [" ".join(f"w{salt}{n}x{i}" for i in range(words)) + "." for n in range(count)]


MIXED = (
    "---\ntitle: T\n---\n\nLead.\n\n# One\n\n## Empty above\n\ntext\n\n# Two\n"
    + "\n\n".join(paragraphs(12))
    + "\n\n```py\n"
    + "\n".join(f"line_{i} = {i} * value" for i in range(200))
    + "\n```\n"
    + "\n".join(f"- item {i} with several words in it" for i in range(80))
    + "\n\n| a | b |\n|---|---|\n"
    + "\n".join(f"| row {i} | value {i} |" for i in range(90))
    + "\n\n"
    + "字" * 1500
    + "\n\n"
    + "A" * 5000
    + "\n"
)


def test_spans_joined_give_the_body_back() -> None:
    found = chunks(MIXED)
    assert "".join(MIXED[chunk.start : chunk.end] for chunk in found) == body_of(MIXED)
    assert all(a.end == b.start for a, b in pairwise(found))


def test_no_chunk_is_over_the_limit_and_every_word_is_in_one() -> None:
    found = chunks(MIXED)
    assert max(estimate_tokens(chunk.text) for chunk in found) <= MAX_TOKENS
    shown = " ".join(chunk.text for chunk in found)
    for word in re.findall(r"\w+", body_of(MIXED)):
        assert word[:100] in shown or word in " ".join(w for c in found for w in c.heading_path)


def test_fences_stay_valid_when_a_long_one_is_cut() -> None:
    pieces = [chunk for chunk in chunks(MIXED) if "line_" in chunk.text]
    assert len(pieces) > 1
    for piece in pieces:
        assert len(re.findall(r"(?m)^```", piece.text)) % 2 == 0
    assert all(piece.text.startswith("```py") for piece in pieces[1:])


def test_a_fence_that_fits_is_never_cut() -> None:
    fence = "```\n" + "\n".join(f"a line of code {i}" for i in range(20)) + "\n```"
    text = "# H\n\n" + "\n\n".join([*paragraphs(8), fence, *paragraphs(8, salt="b")])
    assert sum(fence in chunk.text for chunk in chunks(text)) == 1


def test_lines_count_from_the_start_of_the_file() -> None:
    found = chunks("---\na: 1\n---\n\n\n# Intro\ntext\n\n\n# Next\nend\n")
    assert [(c.heading_path, c.start_line, c.end_line) for c in found] == [
        (("Intro",), 6, 9),
        (("Next",), 10, 11),
    ]


def test_an_empty_heading_goes_with_its_first_subsection() -> None:
    found = chunks("# A\n\n## B\n\ntext\n\n# C\n\n# D\n\nmore\n")
    assert [c.heading_path for c in found] == [("A", "B"), ("C",), ("D",)]
    assert [c.text for c in found] == ["text", "C", "more"]


def test_a_note_without_a_body_has_one_stub_that_names_it() -> None:
    for text in ("", "\n \n", "---\nkind: x\n---\n"):
        [stub] = chunks(text, "folder/Some name.md")
        assert (stub.text, stub.search_text, stub.heading_path) == ("Some name", "Some name", ())


def test_comments_are_left_out_and_what_surrounds_them_stays() -> None:
    [chunk] = chunks("before %%secret%% after <!-- hidden --> end\n\n%%\nblock\n%%\n\nlast")
    assert "secret" not in chunk.text and "hidden" not in chunk.text and "block" not in chunk.text
    assert re.findall(r"\w+", chunk.text) == ["before", "after", "end", "last"]


def test_an_inline_image_is_shortened() -> None:
    [chunk] = chunks("Lamp.\n\n![s](data:image/png;base64," + "A" * 4000 + ")\n\nBlue.")
    assert "AAAA" not in chunk.text and "Blue." in chunk.text


def ids(text: str) -> dict[str, str]:
    """id -> raw text of its span."""
    return {chunk.id: text[chunk.start : chunk.end].strip() for chunk in chunks(text)}


def test_equal_headings_get_ids_of_their_own_and_an_insertion_changes_none() -> None:
    text = "# Notes\n\none\n\n# Notes\n\ntwo\n"
    before = ids(text)
    assert len(before) == 2
    assert before.keys() <= ids("# Notes\n\nzero\n\n" + text).keys()


def test_non_latin_headings_do_not_number_each_other() -> None:
    text = "# 水車\n\n一\n\n# 鐘楼\n\n二\n"
    assert ids(text).keys() <= ids("# 井戸\n\n零\n\n" + text).keys()


@pytest.mark.parametrize("edited", range(0, 40, 3))
def test_an_edit_changes_the_chunk_it_is_in_and_no_other(edited: int) -> None:
    parts = paragraphs(40, words=25)
    before = ids("# Long\n\n" + "\n\n".join(parts))
    old = parts[edited]
    parts[edited] = old + " And one more remark at the end of it."
    after = ids("# Long\n\n" + "\n\n".join(parts))
    touched = [identity for identity, span in before.items() if old in span]
    lost = before.keys() - after.keys()
    assert len(before) > 5
    assert lost <= set(touched)


def test_a_new_paragraph_leaves_the_ids_around_it_alone() -> None:
    parts = paragraphs(40, words=25)
    before = ids("# Long\n\n" + "\n\n".join(parts))
    parts.insert(17, "A new paragraph of a few words only.")
    after = ids("# Long\n\n" + "\n\n".join(parts))
    assert len(before.keys() - after.keys()) <= 1


def test_sections_under_a_bare_title_keep_their_ids_when_others_come_go_and_move() -> None:
    one, two, zero = "## One\n\nfirst\n\n", "## Two\n\nsecond\n\n", "## Zero\n\nnone\n\n"
    before = [chunk.id for chunk in chunks("# Title\n\n" + one + two)]
    for text in (zero + one + two, two + one, one + zero + two):
        assert set(before) <= {chunk.id for chunk in chunks("# Title\n\n" + text)}
    assert before[1] in {chunk.id for chunk in chunks("# Title\n\n" + two)}


def test_byte_identical_twins_under_one_heading_are_told_apart() -> None:
    found = [chunk.id for chunk in chunks("# A\n\nsame\n\n# A\n\nsame\n")]
    assert len(set(found)) == 2


BLOCKS = st.sampled_from(
    [
        "# h\n",
        "## h\n",
        "para\n\n",
        "- a\n- b\n",
        "```\ncode\n",
        "```\n",
        "%%\n",
        "> q\n",
        "| a |\n|---|\n| b |\n",
        "\r\n",
        "x" * 700 + "\n",
        "字" * 300 + "\n",
        "---\n",
        "<div>\n",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(BLOCKS, max_size=30).map("".join))
def test_any_text_is_covered_by_chunks_within_the_limit(text: str) -> None:
    found = chunks(text)
    assert "".join(text[chunk.start : chunk.end] for chunk in found) == body_of(text)
    assert len({chunk.id for chunk in found}) == len(found)
    assert all(chunk.text for chunk in found)
    assert all(estimate_tokens(chunk.text) <= MAX_TOKENS for chunk in found)


def test_a_section_that_is_a_long_heading_alone_is_within_the_limit_too() -> None:
    [chunk] = chunks("字" * 300 + "\n---\n")
    assert chunk.heading_path == ("字" * 300,)
    assert chunk.text and chunk.heading_path[0].startswith(chunk.text)
    assert estimate_tokens(chunk.text) <= MAX_TOKENS


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + "code line\n" * 900 + "```",
        "- item\n" * 900,
        "word " * 3000,
        "a b\n\n" * 900,
        "| a | b |\n|---|---|\n" + "| x | y |\n" * 600,
        "one. two! " * 900,
    ],
)
def test_pieces_that_begin_alike_fill_chunks(text: str) -> None:
    found = chunks(text)
    tokens = sum(estimate_tokens(chunk.text) for chunk in found)
    assert len(found) <= tokens / MAX_TOKENS * 2 + 1
    assert "".join(text[chunk.start : chunk.end] for chunk in found) == text


def test_a_heading_of_any_length_names_a_place_and_stays_searchable() -> None:
    text = "# " + " ".join(f"word{i}" for i in range(2000)) + "\n\nbody\n"
    found = chunks(text)
    assert all(len(chunk.heading_path[0]) <= 301 for chunk in found)
    shown = " ".join(chunk.text for chunk in found)
    assert "word1999" in shown and "body" in shown
    assert all(estimate_tokens(chunk.text) <= MAX_TOKENS for chunk in found)


def test_no_chunk_is_blank_or_a_heading_apart_from_its_text() -> None:
    text = (
        "# Title here\n\n"
        + "字字。" * 400
        + "\n\n\n\n"
        + "🦀🦭" * 200
        + "\n\n\n"
        + "a1b2c3" * 700
        + "\n\n\n"
    )
    found = chunks(text)
    spans = [text[chunk.start : chunk.end].strip() for chunk in found]
    assert all(spans) and "# Title here" not in spans
    assert "".join(text[chunk.start : chunk.end] for chunk in found) == text


def test_models_read_names_out_of_code_in_a_place_as_words() -> None:
    [chunk] = chunks(
        "# enablePrettyRefs and max_line_width\n\nSet `keepHTMLTags` here.", "HTTPServer.md"
    )
    assert chunk.place == "HTTPServer > enablePrettyRefs and max_line_width"
    assert chunk.search_text == (
        "HTTPServer > enable Pretty Refs and max line width\nSet `keepHTMLTags` here."
    )
