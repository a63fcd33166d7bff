"""Which messages ask for nothing, what of the others is asked, and what repeats what."""

from __future__ import annotations

import pytest

import gate_chat as chat
import gate_messages as messages
from cortex.inject.gates import Gate, gate, overlap, overlaps


def gated(message: str, *, min_chars: int = 6, closers: tuple[str, ...] = ()) -> Gate:
    return gate(message, min_chars=min_chars, closers=closers)


@pytest.mark.parametrize("message", messages.ASKING)
def test_a_message_that_may_ask_for_something_is_no_closer(message: str):
    assert gated(message).kind != "closer"


@pytest.mark.parametrize("message", messages.CLOSING)
def test_a_message_that_asks_for_nothing_is_a_closer(message: str):
    assert gated(message).kind == "closer"


def test_of_messages_that_the_lists_were_not_made_from_hardly_any_is_taken_wrong():
    wrong = [message for message in messages.UNSEEN_ASKING if gated(message).kind == "closer"]
    missed = [message for message in messages.UNSEEN_CLOSING if gated(message).kind != "closer"]
    assert len(messages.UNSEEN_ASKING) == len(messages.UNSEEN_CLOSING) == 50
    assert wrong == []
    assert len(missed) <= 3


@pytest.mark.parametrize("language", chat.ASKING)
def test_chat_that_asks_or_decides_is_no_closer(language: str):
    told = chat.ASKING[language].strip().splitlines()
    assert [message for message in told if gated(message).kind == "closer"] == []


@pytest.mark.parametrize("language", chat.CLOSING)
def test_chat_that_only_closes_is_a_closer(language: str):
    told = chat.CLOSING[language].strip().splitlines()
    assert [message for message in told if gated(message).kind != "closer"] == []


def test_no_closes_where_it_does_not_mean_not():
    negated, declined = chat.NEGATED.strip().splitlines(), chat.DECLINED.strip().splitlines()
    assert [message for message in negated if gated(message).kind == "closer"] == []
    assert [message for message in declined if gated(message).kind != "closer"] == []


@pytest.mark.parametrize(("message", "meant"), chat.MIXED)
def test_what_is_meant_reaches_the_sources_whole(message: str, meant: str):
    told = gated(message)
    assert told.kind != "closer"
    assert meant in told.message


@pytest.mark.parametrize(
    "word",
    [
        *("にわとり", "おとな", "なおす", "ことわり", "おすわり", "撒哈拉", "太行", "拜恩"),
        *("오하이오", "오키나와", "이더넷", "바이오", "하이에나", "와이어"),
    ],
)
def test_a_word_is_no_closer_for_being_made_of_its_characters(word: str):
    assert gated(word).kind == gated(f"ありがとう、{word}").kind == ""


@pytest.mark.parametrize("word", ["luz", "Termine", "extra", "legal", "stark", "nara", "selva"])
def test_a_word_that_names_a_thing_in_another_language_closes_beside_others_alone(word: str):
    assert gated(word, min_chars=0).kind == ""
    assert gated("extra, merci").kind == gated("legal, obrigado").kind == "closer"


@pytest.mark.parametrize("message", ["L8r!", "gn8", "g2g, bye", "salu2"])
def test_a_digit_in_a_known_word_asks_for_nothing(message: str):
    assert gated(message).kind == "closer"
    assert gated(f"{message} m8x").kind == ""


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        (
            "Thanks! And how often do I check the mooring lines?",
            "how often do I check the mooring lines?",
        ),
        (
            "ok - cleatword cleats, which guards do they need?",
            "cleatword cleats, which guards do they need?",
        ),
        ("bye for now, but first: mooring lines?", "mooring lines?"),
        ("Where are the thank-you cards?", "Where are the thank-you cards?"),
        ("thank-you cards: where?", "thank-you cards: where?"),
        ("find my goodbye speech", "find my goodbye speech"),
        ("ok, and the boiler", "the boiler"),
        ("ok, first aid kit", "first aid kit"),
        ("OK Computer: release date?", "OK Computer: release date?"),
        ("Thank you, thank you cards again", "thank you cards again"),
        ("Where is the key? Thanks a lot, see you tomorrow!", "Where is the key?"),
        ("mooring lines, thanks", "mooring lines"),
        ("How do you say in German: thank you", "How do you say in German: thank you"),
        ("thanks how often do I check the lines", "how often do I check the lines"),
        ("ok thanks 👍 the boiler manual", "the boiler manual"),
        ("Hallo Hermes,\n\nwo ist der Schlüssel?\n\nViele Grüße", "wo ist der Schlüssel?"),
        ("danke, und wie hoch ist der Druck? bis morgen!", "wie hoch ist der Druck?"),
        ("¡Gracias! ¿Dónde está la llave?", "¿Dónde está la llave?"),
        ("谢谢你的帮助，锅炉压力是多少？再见", "锅炉压力是多少？"),
        ("谢谢请问锅炉压力是多少", "请问锅炉压力是多少"),
        ("ありがとう。鍵はどこですか", "鍵はどこですか"),
        ("감사합니다. 보일러 압력은", "보일러 압력은"),
        ("ok?", "ok?"),
        ("👍?", "👍?"),
        ("yes, 3", "3"),
        ("see ok.txt", "see ok.txt"),
    ],
)
def test_what_is_asked_is_what_stands_beside_the_closers(message: str, asked: str):
    assert gated(message) == Gate("", "", asked)


def test_a_long_message_loses_the_closers_at_both_ends_and_nothing_between():
    pasted = "The log says: thanks. " * 400
    told = gated(f"Thanks, Hermes!\n{pasted}\nWhat is wrong there? Thank you!")
    assert told.message == f"{pasted}\nWhat is wrong there?"


@pytest.mark.parametrize("message", ["BM25", "lease", "the", "tea!", "a b c"])
def test_a_short_plain_message_is_short(message: str):
    assert gated(message) == Gate("short", "shorter than 6 characters", message)


@pytest.mark.parametrize(
    "message",
    [
        "fix the BM25",
        "a/b",
        "x.py",
        "a@b",
        "#tag",
        "$x",
        "a_b",
        "tea?",
        "a:b",
        "会議",
        "鍵",
        "dé",
        "boiler",
    ],
)
def test_a_message_that_is_longer_or_technical_or_not_ascii_is_not_short(message: str):
    assert gated(message) == Gate("", "", message)


def test_how_short_is_short_is_a_setting():
    assert gated("tea", min_chars=0).kind == ""
    assert gated("the boiler", min_chars=20).kind == "short"
    assert gated("ok", min_chars=0).kind == "closer"


def test_own_closers_count_alone_and_beside_the_known_ones():
    own = ("over and out", "Jau!", "ぺこ")
    assert gated("Over and out.").kind == ""
    for message in ("Over and out.", "thanks, over and out!", "jau", "jaaau, danke", "ぺこ"):
        assert gated(message, closers=own).kind == "closer"
    assert gated("over and out of the valley", closers=own).kind == ""
    assert gated("over", closers=own).kind == "short"
    assert gated("10-4!", closers=("10-4",)).kind == "closer"
    assert gated("10-4 boilers", closers=("10-4",)).kind == ""


def test_the_words_of_two_languages_do_not_add_up_to_a_closer():
    assert gated("tack").kind == "closer"  # thanks, in Swedish
    assert gated("brass tack").kind == ""
    assert gated("tack för hjälpen").kind == "closer"
    assert gated("tack vous").kind == ""


@pytest.mark.parametrize(
    ("piece", "times", "kind"),
    [
        ("x", 5_000_000, ""),
        ("thanks ", 700_000, ""),
        ("thanks ", 500, "closer"),
        ("ok - ", 700, "closer"),
        ("👍🏽", 1_900, "closer"),
        ("ha", 1_900, "closer"),
        ("!", 4_000, "closer"),
        ("a\u0301\u0301", 1_300, ""),
        ("\ufdfa", 4_000, ""),
        ("aaabbbcccdddeee", 200, ""),
        ("thanks ok bye good night ", 150, ""),
        (":", 5_000_000, ""),
    ],
)
def test_a_message_without_end_is_looked_at_in_part(piece: str, times: int, kind: str):
    assert gated(piece * times).kind == kind


# Overlap


def test_overlap_is_the_share_of_three_word_shingles():
    # "the pressure is", "pressure is low": the second is not in the other.
    assert overlap("The pressure is low.", "the PRESSURE is high") == 1 / 2
    assert overlap("the pressure is high", "Today the pressure, is high!") == 1
    assert overlap("low is pressure the", "the pressure is low") == 0


def test_overlap_of_texts_of_few_words_is_that_of_their_words():
    assert overlap("boiler pressure", "pressure") == 1 / 2
    assert overlap("boiler", "The boiler is in the cellar") == 1
    assert overlap("the boiler is", "boiler") == 0
    assert overlap("", "boiler") == overlap("...", "...") == 0


def test_overlap_counts_each_character_of_a_script_without_blanks():
    # 锅炉压 炉压力 压力是 力是高 | 锅炉压 炉压力 压力是 力是低
    assert overlap("锅炉压力是高", "锅炉压力是低") == 3 / 4
    assert overlap("ﬁre ｄｏｏｒ", "fire door") == 1


def test_overlaps_of_many_texts_are_those_of_each_two():
    texts = ["", "boiler", "the boiler hums", "The boiler hums at night.", "ボイラーは夜に", "夜に"]
    share = overlaps()
    for one in texts:
        assert [share(one, other) for other in texts] == [overlap(one, other) for other in texts]


def test_overlap_looks_at_the_beginning_of_what_is_huge():
    assert overlap("a b c " * 1_000_000, "b c a " * 1_000_000) == 1
