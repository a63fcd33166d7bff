"""Text as such: decoding, lines, token estimates, cutting, slugs."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.text import (
    Undecodable,
    cut_to_tokens,
    decode,
    estimate_tokens,
    is_binary,
    line_starts,
    one_line,
    slug,
)

ANY_TEXT = st.text(
    st.one_of(
        st.sampled_from("ab XY 09.,-\n\t_#é中の한😀й\u0301\u200d"),
        st.characters(),
    ),
    max_size=80,
)


def test_plain_utf8_is_read_as_it_is() -> None:
    assert decode("naïve 東京\r\nx\rz\n".encode()) == ("naïve 東京\r\nx\rz\n", ())
    assert decode(b"") == ("", ())


def test_a_byte_order_mark_is_no_text() -> None:
    assert decode(b"\xef\xbb\xbf# Start") == ("# Start", ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_is_read_by_its_mark(encoding: str) -> None:
    text, problems = decode("\ufeff# Weit é 東".encode(encoding))
    assert text == "# Weit é 東"
    assert [problem.code for problem in problems] == ["not_utf8"]
    assert "not UTF-8; save it as UTF-8" in problems[0].message


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_known_by_its_nuls(encoding: str) -> None:
    assert decode("# Wide\n\ntext with té\n".encode(encoding))[0] == "# Wide\n\ntext with té\n"


def test_bytes_that_are_not_utf8_are_read_one_by_one_as_windows_1252() -> None:
    text, problems = decode("gut\n“Größe” 5 €".encode("cp1252"))
    assert text == "gut\n“Größe” 5 €"
    assert [(problem.code, problem.line) for problem in problems] == [("not_utf8", 2)]
    assert decode("東京 ".encode() + b"\xe9t\xe9")[0] == "東京 été"  # the rest stays whole


def test_one_stray_nul_does_not_lose_the_note() -> None:
    text, problems = decode(b"line one " * 20 + b"\nline\0two\n")
    assert text == "line one " * 20 + "\nline\ufffdtwo\n"
    assert [(problem.code, problem.line) for problem in problems] == [("control_characters", 2)]


@pytest.mark.parametrize("control", ["\x07", "\x7f", "\x01\x02\x03"])
def test_a_control_character_in_a_short_note_is_no_picture(control: str) -> None:
    assert decode(f"{control}jam\n".encode()) == (f"{control}jam\n", ())
    assert decode(f"caf\xe9 {control}\n".encode("cp1252"))[0] == f"caf\xe9 {control}\n"
    assert decode(f"\ufeff{control}jam\n".encode("utf-16"))[0].endswith(f"{control}jam\n")


def test_a_nul_in_a_short_note_is_no_picture() -> None:
    text, problems = decode(b"one\0two words\n")
    assert text == "one\ufffdtwo words\n"
    assert [(problem.code, problem.line) for problem in problems] == [("control_characters", 1)]


def test_utf8_without_a_nul_is_text_whatever_it_says() -> None:
    assert decode(b"\x1b[1m\x01\x02" * 200)[0] == "\x1b[1m\x01\x02" * 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8,
        b"\x7fELF\x02\x01\x01" + bytes(60) + b"text" * 30,
        b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(range(256)),
        b"\xff\xfb\x90d" + bytes(range(1, 32)) * 20,
        bytes(200),
    ],
)
def test_a_picture_named_like_a_note_is_no_text(data: bytes) -> None:
    assert is_binary(data)
    with pytest.raises(Undecodable, match="binary"):
        decode(data)


@given(st.binary(max_size=200))
def test_decoded_text_holds_no_nul_and_can_be_written(data: bytes) -> None:
    try:
        text, _ = decode(data)
    except Undecodable:
        return
    assert "\0" not in text
    text.encode("utf-8")


def test_lines_end_at_lf_crlf_and_cr_alone() -> None:
    assert line_starts("a\nb\r\nc\rd") == [0, 2, 5, 7]
    assert line_starts("a\x0bb\x0cc\u2028d\u2029e\x85f") == [0]
    assert line_starts("") == [0]
    assert line_starts("a\n") == [0, 2]
    assert line_starts("\r\n\r") == [0, 2, 3]


# How many tokens cl100k_base, o200k_base and MiniLM's WordPiece make of each.
@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("The quick brown fox jumps over the lazy dog.", (10, 10, 10)),
        ("Der schnelle braune Fuchs springt über den faulen Hund.", (15, 14, 18)),
        (
            "def parse(text: str) -> list[int]:\n    return [int(x) for x in text.split()]",
            (22, 22, 31),
        ),
        ("getHTTPResponseCode_v2(userId=42)", (10, 11, 16)),
        ("3f786850e387550fdab836ed7e6dc881de23001b", (20, 20, 28)),
        ("UklGRiQAAABXQVZFZm10IBAAAAABAAEA", (19, 17, 19)),
        ("| a | b |\n|---|---|\n| 1.25 | 2024-05-01 |", (24, 24, 26)),
        ("-----\n*****\n#####", (3, 3, 15)),
        ("👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 ❤️", (35, 24, 4)),
        ("Съешь же ещё этих мягких французских булок.", (29, 13, 36)),
        ("いろはにほへと、ちりぬるを。東京特許許可局", (27, 21, 21)),
        ("다람쥐 헌 쳇바퀴에 타고파", (23, 17, 11)),
        ("نص حكيم له سر قاطع وذو شأن عظيم", (24, 14, 23)),
        ("เป็นมนุษย์สุดประเสริฐเลิศคุณค่า", (33, 15, 1)),
    ],
)
def test_an_estimate_is_not_below_real_tokenizers(text: str, counts: tuple[int, int, int]) -> None:
    assert max(counts) <= estimate_tokens(text) <= 2 * max(counts)


def test_an_estimate_of_nothing_is_nothing() -> None:
    assert estimate_tokens("") == 0


def test_english_prose_is_not_far_above_cl100k() -> None:
    # cl100k_base: 58 tokens.
    text = (
        "Bees communicate the direction and distance of flowers by dancing on the comb. The "
        "angle of the dance against gravity gives the direction of the flowers against the sun, "
        "and the duration of the waggle gives the distance. Other bees follow the dancer closely "
        "and then fly out to find the place."
    )
    assert 58 <= estimate_tokens(text) <= 1.4 * 58


@given(ANY_TEXT, ANY_TEXT)
def test_joining_adds_at_most_two_tokens_and_a_longer_prefix_never_has_fewer(
    a: str, b: str
) -> None:
    assert estimate_tokens(a) <= estimate_tokens(a + b)
    assert estimate_tokens(a + b) <= estimate_tokens(a) + estimate_tokens(b) + 2


def test_an_estimate_takes_linear_time() -> None:
    started = time.process_time()
    for text in ("a" * 10**6, "aB1-" * 250_000, "漢字" * 500_000, " " * 10**6, "x " * 500_000):
        estimate_tokens(text)
    assert time.process_time() - started < 5


def test_a_text_that_fits_is_not_cut() -> None:
    assert cut_to_tokens("One line.\n", 50) == "One line.\n"


@pytest.mark.parametrize(
    ("fits", "goes_on", "cut"),
    [
        ("Bees dance on the comb.\nFew. Then", " zq.\n", "Bees dance on the comb."),
        ("Bees dance here. Others fly. Then xq", "zjkqvxwz.", "Bees dance here. Others fly."),
        ("Bees dance on the comb xq", "zjkqvxwzq here", "Bees dance on the comb"),
        (
            "Bees dance on the comb while others",
            " follow them",
            "Bees dance on the comb while others",
        ),
        ("蜜蜂在巢上跳舞。其他的蜜蜂", "跟着它们。", "蜜蜂在巢上跳舞。"),
        ("aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa"),
        ("One.\n" + "word " * 20, "word", ("One.\n" + "word " * 20).rstrip()),  # not back to line 1
    ],
)
def test_a_cut_falls_at_a_line_else_a_sentence_else_a_word(
    fits: str, goes_on: str, cut: str
) -> None:
    assert cut_to_tokens(fits + goes_on, estimate_tokens(fits)) == cut


def test_a_cut_leaves_no_half_character() -> None:
    assert cut_to_tokens("👩‍💻👩‍💻👩‍💻", 9) in ("", "👩‍💻")
    accented = "e\u0301" * 40
    assert len(cut_to_tokens(accented, 20)) % 2 == 0


def test_no_budget_gives_no_text() -> None:
    assert cut_to_tokens("word", 0) == ""
    assert cut_to_tokens("word", -3) == ""


@given(ANY_TEXT, st.integers(0, 60))
def test_a_cut_is_a_prefix_within_the_budget(text: str, budget: int) -> None:
    cut = cut_to_tokens(text, budget)
    assert text.startswith(cut)
    assert estimate_tokens(cut) <= budget


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Getting started: the 2nd step!", "getting-started-the-2nd-step"),
        ("Überblick & Größe", "überblick-größe"),
        ("東京の地図", "東京の地図"),
        ("ที่นี่ ไทย", "ที่นี่-ไทย"),
        ("e\u0301te\u0301", "été"),
        ("C++ / C#", "c-c"),
        ("🐝 !!", "section"),
        ("", "section"),
        ("snake_case_name", "snake-case-name"),
        ("a" * 59 + " b", "a" * 59),
    ],
)
def test_a_slug_keeps_letters_and_digits_of_every_script(text: str, expected: str) -> None:
    assert slug(text) == expected


def test_a_name_on_one_line_cannot_begin_a_line_or_turn_its_direction() -> None:
    assert one_line("a\nb\r\nc\u2028d\u2029e\x85f\x1b[31mg") == "a b  c d e f [31mg"
    assert one_line("evil\u202ecod.md\u2066") == "evil cod.md "
    assert one_line("caf\udce9") == "caf\ufffd"
    assert one_line("naïve  東京 👩‍💻") == "naïve  東京 👩‍💻"


@settings(max_examples=50)
@given(st.text(max_size=50))
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
