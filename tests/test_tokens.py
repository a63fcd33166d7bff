"""Text -> terms: every script, identifiers, languages, and what a query asks for."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.indexer.tokens import (
    MAX_QUERY_WORDS,
    STEMMERS,
    LexicalQuery,
    QueryWord,
    detect_language,
    fold_marks,
    pair_terms,
    query_terms,
    spans,
    terms,
)


def asks_for(query: str, text: str, language: str = "en") -> bool:
    """Whether each word that the query asks for stands in the text."""
    held = set(terms(text, language))
    words = query_terms(query, (language,)).words
    return bool(words) and all(held.intersection(word.variants) for word in words)


def asks_for_some(query: str, text: str, language: str = "en") -> bool:
    held = set(terms(text, language))
    return any(held.intersection(word.variants) for word in query_terms(query, (language,)).words)


# --- words


def test_words_are_folded_and_stemmed_and_stop_words_stay_in_documents() -> None:
    assert terms("The pumps were LEAKING.", "en") == ["the", "pump", "were", "leak"]


def test_words_of_an_unknown_language_are_only_folded() -> None:
    assert terms("The pumps were LEAKING.", "und") == ["the", "pumps", "were", "leaking"]
    assert terms("pumps", "xx") == ["pumps"]


def test_runs_of_one_character_stay() -> None:
    assert terms("vitamin D, plan b, 7", "und") == ["vitamin", "d", "plan", "b", "7"]


def test_sharp_s_is_ss() -> None:
    assert asks_for("STRASSE mühle", "Die Straße zur MÜHLE", "de")
    assert asks_for("straße", "STRASSE", "de")


@pytest.mark.parametrize("language", sorted({*STEMMERS, "und"}))
@pytest.mark.parametrize("word", ["Küchenböden", "naïve", "Ångström", "été", "Łódź", "año"])
def test_a_word_is_found_with_its_marks_and_without_them(word: str, language: str) -> None:
    bare = fold_marks(word.casefold())
    assert bare.isascii()
    assert asks_for(word, word.upper(), language)
    assert asks_for(bare, word, language)
    assert asks_for(word, bare, language)


def test_where_a_mark_makes_another_letter_the_letters_stay_apart() -> None:
    assert terms("får", "sv")[0] != terms("far", "sv")[0]
    assert terms("año", "es")[0] != terms("ano", "es")[0]
    assert terms("край", "und") != terms("краи", "und")
    assert terms("が", "ja") != terms("か", "ja")


def test_turkish_has_two_letters_i() -> None:
    assert terms("IŞIK", "tr")[0] == terms("ışık", "tr")[0]
    assert terms("İZMİR", "tr") == terms("izmir", "tr")
    assert asks_for("isik", "IŞIK", "tr")


@pytest.mark.parametrize(
    "word",
    ["Küchenböden", "Ελλάδα", "в​ода", "한국어", "が", "đường phố", "שָׁלוֹם", "किताबें", "น้ำ"],
)
def test_decomposed_text_gives_the_terms_of_composed_text(word: str) -> None:
    assert terms(unicodedata.normalize("NFD", word), "und") == terms(
        unicodedata.normalize("NFC", word), "und"
    )


def test_vowel_points_may_be_left_out() -> None:
    assert terms("שָׁלוֹם", "he") == ["שלום"]
    assert asks_for("كتاب", "كِتَابٌ", "ar")
    assert asks_for("елка", "Ёлка", "ru")


def test_compatibility_forms_are_their_plain_letters() -> None:
    assert terms("ﬁne Ａｂｃ ①", "und") == ["fine", "abc", "1"]
    assert terms("٣ ३", "und") == ["3", "3"]


def test_signs_that_mean_nothing_to_a_search_do_not_part_a_word() -> None:
    assert terms("Donau\u00addampf", "und") == ["donaudampf"]
    assert terms("کتاب\u200cها", "fa") == terms("کتابها", "fa")


def test_marks_belong_to_their_words() -> None:
    assert terms("नया पानी", "und") == ["नया", "पानी"]
    assert terms("புதிய நீர்", "und") == ["புதிய", "நீர்"]


def test_a_combining_mark_of_a_script_with_spaces_never_parts_a_word() -> None:
    others = [(0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x20D0, 0x20FF)]
    others += [(0x302A, 0x309A), (0xA9E5, 0xA9E5), (0xAA7B, 0xAA7D)]
    for code in range(0x0300, 0xFE00):
        is_mark = unicodedata.category(chr(code)) in ("Mn", "Mc", "Me")
        if is_mark and not any(low <= code <= high for low, high in others):
            text = f"ܐ{chr(code)}ܒ"
            assert {(start, end) for _, start, end in spans(text, "und")} == {(0, 3)}, hex(code)


def test_emoji_are_terms() -> None:
    assert terms("launch 🚀 now ✅️ 🇩🇪", "und") == ["launch", "🚀", "now", "✅", "🇩🇪"]


# --- compounds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("computeTideLevel", ["computetidelevel", "compute", "tide", "level"]),
        ("HTTPRelayClient", ["httprelayclient", "http", "relay", "client"]),
        ("pond_survey", ["pondsurvey", "pond", "survey"]),
        ("multi-stage", ["multistage", "multi", "stage"]),
        ("RIG-2041", ["rig2041", "rig", "2041"]),
        ("PUMP7", ["pump7", "pump", "7"]),
        ("v4.1.7", ["v4.1.7", "4.1.7", "4.1", "4", "1", "7"]),
        ("4.2.0", ["4.2.0", "4.2", "4", "2", "0"]),
        ("2025-11-03", ["2025-11-03", "2025-11", "2025", "11", "03"]),
        ("acme/widget#77", ["acmewidget#77", "acme", "widget", "77"]),
        ("ASP.NET", ["aspnet", "asp", "net"]),
        (".NET", [".net", "net"]),
        ("C#", ["c#", "c"]),
        ("C++", ["c++", "c"]),
        ("__init__", ["init"]),
        ("std::vector", ["stdvector", "std", "vector"]),
        ("iPhone", ["iphone", "phone"]),
        ("PDFs", ["pdfs"]),
        ("U.S.A.", ["usa"]),
        ("sha256", ["sha256", "sha", "256"]),
        ("README", ["readme"]),
    ],
)
def test_a_compound_gives_itself_and_its_parts(text: str, expected: list[str]) -> None:
    assert terms(text, "und") == expected


def test_a_path_gives_its_file_name_and_all_parts() -> None:
    found = terms("/srv/cold/2025-11-03_pond_survey.tar.gz", "und")
    assert {"2025-11-03", "pond", "survey", "srv", "gz", "2025-11-03pondsurveytargz"} <= set(found)


@pytest.mark.parametrize(
    ("one", "other"), [("PondSurvey", "pond_survey"), ("e-mail", "email"), ("RIG2041", "RIG-2041")]
)
def test_ways_to_write_a_compound_share_its_whole(one: str, other: str) -> None:
    assert terms(one, "en")[0] == terms(other, "en")[0]


def test_numbers_that_differ_by_a_separator_stay_apart() -> None:
    assert not set(terms("4.20", "und")) & {terms("42.0", "und")[0], terms("420", "und")[0]}


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("don't", "en", ["dont"]),
        ("don’t", "en", ["dont"]),
        ("Anna's", "und", ["anna"]),
        ("l'eau", "fr", ["eau"]),
        ("dell'acqua", "und", ["acqua"]),
        ("O'Brien", "und", ["obrien", "brien"]),
        ("d'", "und", ["d"]),
        ("צה״ל", "he", ["צהל", "צה"]),
    ],
)
def test_apostrophes(text: str, language: str, expected: list[str]) -> None:
    assert terms(text, language) == expected


def test_parts_are_stemmed_as_words_are() -> None:
    assert terms("computeTideLevels", "en")[1:] == ["comput", "tide", "level"]


def test_a_query_for_a_whole_prefers_it_and_one_for_a_part_finds_it() -> None:
    words = query_terms("v4.1.7", ("en",)).words
    assert words[0].surface == "v4.1.7"
    assert words[0].count > max(word.count for word in words[1:])
    for query in ("computeTideLevel", "tide", "tide level", "computetidelevel"):
        assert asks_for_some(query, "Call `computeTideLevel` first"), query


def test_data_that_is_no_prose_costs_little() -> None:
    assert len(terms("QmFzZTY0/" * 100_000, "en")) <= 200
    assert [len(term) for term in terms("a" * 100_000, "und")] == [64]


# --- scripts written without spaces


def test_han_and_kana_give_units_and_neighbours() -> None:
    assert terms("設備点検", "ja") == ["設", "設備", "備", "備点", "点", "点検", "検"]
    assert [word.surface for word in query_terms("設備点検", ("ja",)).words] == [
        "設備",
        "備点",
        "点検",
    ]
    assert [word.surface for word in query_terms("猫", ("ja",)).words] == ["猫"]


def test_numbers_and_latin_words_stand_apart_from_han() -> None:
    assert terms("5月上旬", "ja") == ["5", "月", "月上", "上", "上旬", "旬"]
    assert asks_for("pump7", "来週の設備点検でPUMP7を交換する。", "ja")


@pytest.mark.parametrize(
    ("query", "text", "language"),
    [
        ("点検", "来週の設備点検でPUMP7を交換する。", "ja"),
        ("猫", "うちの猫が好き", "ja"),
        ("렌즈", "등대에서 새 렌즈를 달았다.", "ko"),
        ("집", "집에 간다", "ko"),
        ("เครื่องสูบ", "เราซ่อมเครื่องสูบน้ำเมื่อวานนี้", "th"),
        ("ខ្មែរ", "ភាសាខ្មែរ", "km"),
        ("မြန်မာ", "မြန်မာဘာသာ", "my"),
        ("ລາວ", "ພາສາລາວ", "lo"),
    ],
)
def test_a_word_is_found_inside_a_run(query: str, text: str, language: str) -> None:
    assert asks_for(query, text, language)


def test_thai_and_khmer_units_keep_their_marks() -> None:
    assert terms("สูบ", "th") == ["สู", "สูบ", "บ"]
    assert terms("ខ្មែ", "km") == ["ខ្មែ"]


# --- spans

ANY_TEXT = st.text(
    st.characters(codec="utf-8") | st.sampled_from("aAbB1-_./'#+ éü\u0301\u0327ßıİが猫한กึ์ﬁ①½🚀"),
    max_size=60,
)


@given(ANY_TEXT, st.sampled_from(["en", "de", "sv", "tr", "ja", "und"]))
def test_spans_are_the_terms_with_their_places(text: str, language: str) -> None:
    found = spans(text, language)
    assert [term for term, _, _ in found] == terms(text, language)
    assert all(0 <= start < end <= len(text) for _, start, end in found)
    assert all(term and not any(c.isspace() for c in term) for term, _, _ in found)
    some = {term for term, _, _ in found[::2]}
    assert spans(text, language, some) == [span for span in found if span[0] in some]


@given(ANY_TEXT, st.sampled_from(["en", "de", "sv", "tr", "ja", "und"]))
def test_a_text_holds_whatever_it_asks_for(text: str, language: str) -> None:
    held = set(terms(text, language))
    query = query_terms(text, ("fr", language))
    assert all(held.intersection(word.variants) for word in query.words)


def test_spans_point_into_the_text_as_it_was_given() -> None:
    text = "Ku\u0308che: ﬁne computeTide 点検"
    assert [(term, text[start:end]) for term, start, end in spans(text, "und")] == [
        ("kuche", "Ku\u0308che"),
        ("fine", "ﬁne"),
        ("computetide", "computeTide"),
        ("compute", "compute"),
        ("tide", "Tide"),
        ("点", "点"),
        ("点検", "点検"),
        ("検", "検"),
    ]


# --- pairs


def test_pairs_are_neighbours_without_aliases_and_units() -> None:
    assert list(pair_terms(terms("Malmö hamn 点検 öppen", "sv"))) == ["malmö|hamn"]


# --- queries


def test_a_query_asks_for_each_word_in_each_language() -> None:
    assert query_terms("Houses", ("en", "und")) == LexicalQuery(
        (QueryWord("houses", ("hous", "~hous", "houses", "~houses"), 1.0, ("houses", "~houses")),),
        (),
    )


def test_stop_words_are_left_out_and_their_neighbours_become_neighbours() -> None:
    query = query_terms("Who painted the house of bees?", ("en",))
    assert [word.surface for word in query.words] == ["painted", "house", "bees"]
    assert query.pairs == (("paint|hous",), ("hous|bee",))


def test_a_query_of_stop_words_keeps_them() -> None:
    assert [word.surface for word in query_terms("to be or not to be", ("en",)).words] == [
        "to",
        "be",
        "or",
        "not",
    ]
    assert asks_for("to be or not to be", "To be or not to be, that is it.")
    assert [word.surface for word in query_terms("NOT", ("en",)).words] == ["not"]


def test_the_stop_words_are_those_of_the_language_of_the_query() -> None:
    both = ("en", "de")
    english = query_terms("how did the mice die", both)
    assert [word.surface for word in english.words] == ["mice", "die"]
    german = query_terms("wie die Mäuse hat er gefangen", both)
    assert [word.surface for word in german.words] == ["mäuse", "gefangen"]


def test_a_vault_of_unknown_language_still_has_stop_words() -> None:
    assert [word.surface for word in query_terms("the tide", ("und",)).words] == ["tide"]
    assert [word.surface for word in query_terms("the tide", ()).words] == ["tide"]


def test_repeated_words_are_counted() -> None:
    assert [word.count for word in query_terms("tide tide gauge", ("en",)).words] == [2, 1]


@pytest.mark.parametrize("text", ["", " \n", "?!", '"; -- (', "***", "\u0301", "\u200b", "'", "_"])
def test_a_query_of_signs_asks_for_nothing(text: str) -> None:
    query = query_terms(text, ("en", "und"))
    assert query == LexicalQuery((), ())
    assert not query


@pytest.mark.parametrize(
    "text",
    ['"unclosed phrase', "pump (really", "shore* OR (", "[[salt", "a+b? ^x$ \\", "{pump}", "x^2"],
)
def test_signs_of_query_languages_are_plain_text(text: str) -> None:
    assert asks_for(text, text)


def test_operator_words_are_words() -> None:
    assert asks_for("salt AND pepper", "salt AND pepper, NOT sugar")
    assert asks_for("NEAR shore", "the NEAR shore* of Lake x^2")
    assert query_terms("OR AND", ("en",)).words


def test_a_long_query_is_bounded_by_its_commonest_words() -> None:
    began = time.process_time()
    repeated = query_terms("tidal gauge " * 16_000, ("en", "de"))
    assert [(word.surface, word.count) for word in repeated.words] == [
        ("tidal", 16_000),
        ("gauge", 16_000),
    ]
    different = query_terms(
        " ".join(f"word{n}x" for n in range(20_000)) + " tide tide", ("en", "de")
    )
    assert len(different.words) == MAX_QUERY_WORDS
    assert different.words[0].surface == "tide"
    assert len(different.pairs) == MAX_QUERY_WORDS
    assert time.process_time() - began < 5


# --- languages


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The pump is in the shed, and it leaks when we use it."),
        ("de", "Die Pumpe ist im Schuppen und sie leckt, wenn wir sie benutzen."),
        ("fr", "La pompe est dans le hangar et elle fuit quand nous l'utilisons."),
        ("es", "La bomba está en el cobertizo y gotea cuando la usamos para el riego."),
        ("it", "La pompa è nel capanno e perde quando la usiamo per il giardino."),
        ("pt", "A bomba está no galpão e vaza quando nós a usamos para o jardim."),
        ("nl", "De pomp staat in de schuur en het lekt als we hem gebruiken."),
        ("sv", "Pumpen är i skjulet och den läcker när vi använder den."),
        ("da", "Pumpen er i skuret, og den lækker, når vi bruger den af og til efter brug."),
        ("no", "Pumpen er i skuret, og den lekker når vi bruker den etter at noen har vært her."),
        ("fi", "Pumppu on vajassa ja se vuotaa, kun me käytämme sitä."),
        ("hu", "A szivattyú a fészerben van, és szivárog, ha azt használjuk, de nem mindig."),
        ("ro", "Pompa este în magazie și curge atunci când o folosim pentru grădină."),
        ("tr", "Pompa kulübede ve onu için kullandığımızda su sızdırıyor, ama çok değil."),
        ("pl", "Pompa jest w szopie i przecieka, kiedy jej używamy, ale nie zawsze."),
        ("cs", "Čerpadlo je v kůlně a teče, když ho používáme, ale není to vždy."),
        ("ru", "Насос стоит в сарае, и он течёт, когда мы его используем."),
        ("uk", "Насос стоїть у сараї, і він тече, коли ми його використовуємо."),
        ("el", "Η αντλία είναι στην αποθήκη και στάζει."),
        ("he", "המשאבה נמצאת במחסן והיא דולפת."),
        ("ar", "المضخة في المخزن وهي تسرب الماء."),
        ("fa", "پمپ در انبار است و آب می‌دهد."),
        ("hi", "पंप शेड में है और वह टपकता है।"),
        ("zh", "水泵在棚子里，使用时会漏水。API v2 的 README 也提到了。"),
        ("ja", "ポンプは小屋にあり、使うと水が漏れる。"),
        ("ko", "펌프는 창고에 있고 쓸 때 물이 샌다."),
        ("th", "ปั๊มอยู่ในโรงเก็บของและรั่วเมื่อใช้"),
        ("und", "compost heap"),
        ("und", ""),
        ("und", "12.5 % 🚀"),
    ],
)
def test_the_language_of_a_text(language: str, text: str) -> None:
    assert detect_language(text) == language


def test_code_and_addresses_have_no_language() -> None:
    assert detect_language("https://die.example.com/der/und/das?wie=ist") == "und"
    assert detect_language("var i = e.target.value; a.c(o, k, v)") == "und"


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert detect_language("The pump is in the shed. " * 1_000 + "и он течёт " * 100_000) == "en"


def test_a_stem_that_is_a_stop_word_elsewhere_is_not_asked_for() -> None:
    [word] = query_terms("bees", ["en", "fr", "de"]).words
    assert "be" not in word.variants and "bee" in word.variants


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("parseHTTPResponse2", {"pars", "http", "respons", "response2", "2"}),
        ("iPhone15", {"iphone15", "iphon", "phone15", "15"}),
        ("getUserByID2", {"get", "user", "id", "2"}),
    ],
)
def test_a_numbered_name_is_found_by_its_parts(name: str, parts: set[str]) -> None:
    assert parts <= set(terms(name, "en"))
