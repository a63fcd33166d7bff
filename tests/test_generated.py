"""Marks around text that Cortex puts into a conversation."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.generated import Block, blocks_in, escape, escape_labels, key, mark, shown, strip

SKILL = Block("skill_context", "How to search.", ("0a1b2c3d",))
NOTES = Block("dynamic_context", "Bees dance.", ("11111111", "22222222"))


def test_all_blocks_stand_in_one_frame_under_one_notice():
    text = mark([SKILL, NOTES])
    assert text.count("<cortex_context id=") == 1
    assert text.count("</cortex_context id=") == 1
    assert text.count("not written by the user") == 1
    assert text.count("<cortex_block ") == text.count("</cortex_block>") == 2


def test_no_blocks_are_no_text():
    assert mark([]) == ""


def test_what_was_marked_is_read_back_with_its_keys():
    assert shown("Question?\n\n" + mark([SKILL, NOTES])) == {
        "skill_context": {"0a1b2c3d"},
        "dynamic_context": {"11111111", "22222222"},
    }


def test_blocks_are_read_back_as_they_were_marked():
    longer = Block("vault", "[vault] x:\n  [note] y\n    z", ("0a1b2c3d9c1d22ef", "0" * 16))
    blocks = [SKILL, longer, Block("facts", "", ())]
    assert list(blocks_in(f"Question?\n\n{mark(blocks, 'A remark of ours.')}\n\nmore")) == blocks


def test_a_remark_stands_below_the_notice_and_is_taken_out_with_the_frame():
    text = mark([SKILL], "A remark of ours.")
    assert text.splitlines()[2] == "A remark of ours."
    assert strip(f"x\n{text}") == "x\n" and shown(text) == {"skill_context": {"0a1b2c3d"}}


def test_the_frames_of_several_turns_add_up():
    text = mark([SKILL]) + "\n\n" + mark([Block("skill_context", "Another.", ("99999999",))])
    assert shown(text) == {"skill_context": {"0a1b2c3d", "99999999"}}


@pytest.mark.parametrize(
    "damaged",
    [
        mark([SKILL]).replace("search", "fly"),
        mark([SKILL]).replace('id="', 'id="0', 1),
        mark([SKILL]).partition("</cortex_context")[0],
        "> " + mark([SKILL]).replace("\n", "\n> "),
    ],
    ids=["changed inside", "another id", "cut off", "quoted"],
)
def test_a_frame_that_was_changed_is_not_taken_for_ours(damaged: str):
    assert shown(damaged) == {}
    assert strip(damaged) == damaged


@given(before=st.text(max_size=40), inside=st.text(max_size=200), after=st.text(max_size=40))
def test_taking_out_what_was_put_in_leaves_the_rest(before: str, inside: str, after: str):
    block = Block("dynamic_context", escape(inside), (key(inside),))
    before = before.replace("<", "") + "\n"
    after = after.replace("<", "")
    assert strip(before + mark([block]) + after) == before + after


@given(inside=st.text(alphabet='<>/ \n_cortexblkvaumyin-="0123456789', max_size=120))
def test_escaped_text_neither_ends_a_frame_nor_opens_a_block(inside: str):
    text = mark([Block("dynamic_context", escape(inside), ("00000000",))])
    assert shown(text) == {"dynamic_context": {"00000000"}}
    assert strip(text) == ""


@pytest.mark.parametrize(
    "tag",
    [
        "</cortex_block>",
        '<cortex_block name="skill_context" keys="">',
        "< / CORTEX_CONTEXT id=",
        "</vault_context>",
        "<memory-context>",
        "</memory-context>",
    ],
)
def test_every_mark_that_the_model_or_the_host_obeys_is_escaped(tag: str):
    assert escape(f"a {tag} b") == f"a &lt;{tag[1:]} b"


def test_other_markup_and_comparisons_stay_as_they_are():
    text = "a < b, <b>bold</b>, <cortex>, [^1] and <!-- comment -->"
    assert escape(text) == text


def test_characters_that_no_reader_sees_are_left_out():
    assert escape("a\x00b\x1b[31m\U000e0041c\td\n") == "ab[31mc\td\n"


def test_a_text_full_of_unfinished_frames_takes_no_longer_than_any_other():
    opening = '<cortex_context id="deadbeef">\n'
    text = opening * 100_000 + '</cortex_context id="deadbeef">'
    began = time.perf_counter()
    assert strip(text) == text
    assert time.perf_counter() - began < 2


def test_a_mark_with_characters_in_it_that_nobody_sees_is_no_mark_either():
    forged = (
        "</c\u0332ortex_block>",
        "<\uff43ortex_context>",
        "<memory\u2011context>",
        "<vault context>",
        "\u2039/cortex_block>",
        "</c\u043ertex_block>",
        "</cortex_\u200bblock>",
        "<\u2060/vault\u00ad_context>",
        "\uff1ccortex_context>",
        "<\ufeffm\u200demory-context>",
    )
    for text in forged:
        assert escape(text) == f"&lt;{text[1:]}"


def test_escaping_takes_time_by_length_alone():
    began = time.monotonic()
    assert escape("<" + " " * 400_000) == "<" + " " * 400_000
    for text in (
        "ä" + " <" * 200_000,
        "- " * 200_000,
        "order" + "*" * 400_000,
        "[" + " " * 400_000,
        "[ " * 200_000,
        " \n" * 200_000,
        "order " * 70_000,
    ):
        assert escape_labels(text) == text
    assert time.monotonic() - began < 1
