"""What every lexical index promises: the same suite over tantivy and over rank_bm25."""

from __future__ import annotations

import math
import os
import random
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import pytest

from cortex.errors import Unavailable
from cortex.indexer.lexical import (
    FieldWeights,
    LexicalChunk,
    LexicalNote,
    RankBM25Index,
    TantivyIndex,
)
from cortex.indexer.lexical import (
    _note_terms as note_terms,
)
from cortex.indexer.tokens import query_terms, terms
from cortex.protocols import LexicalIndex
from cortex.types import key64

ONLY_ALL = FieldWeights(title=0, path=0, names=0, pair=0, surface=0)

MakeIndex = Callable[..., LexicalIndex]


def note(
    path: str,
    *texts: str,
    title: str = "",
    aliases: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    heading: str = "",
    language: str = "en",
) -> LexicalNote:
    """A note of one chunk a text, in the terms that the indexer would give it."""

    def split(*parts: str) -> tuple[str, ...]:
        return tuple(term for part in parts for term in terms(part, language))

    chunks = tuple(
        LexicalChunk(key64(f"{path}#{number}"), split(heading), split(text))
        for number, text in enumerate(texts)
    )
    return LexicalNote(
        key64(path), split(title), split(*aliases), split(*tags), split(path[:-3]), chunks
    )


def ranked(index: LexicalIndex, query: str, paths: Iterable[str], limit: int = 10) -> list[str]:
    """The paths of the notes that `query` finds, best first."""
    names = {key64(path): path for path in paths}
    return [names[key] for key, _ in index.rank_notes(query_terms(query, ("en",)), limit, None)]


def build_tantivy(
    folder: Path, notes: Iterable[LexicalNote], weights: FieldWeights
) -> TantivyIndex:
    TantivyIndex.build(folder, None, notes, ())
    return TantivyIndex.open(folder, weights)


@pytest.fixture(params=["tantivy", "rank_bm25"])
def make_index(request: pytest.FixtureRequest, tmp_path: Path) -> MakeIndex:
    def make(*notes: LexicalNote, weights: FieldWeights | None = None) -> LexicalIndex:
        weights = weights or FieldWeights()
        if request.param == "tantivy":
            return build_tantivy(tmp_path / "lexical", notes, weights)
        return RankBM25Index(notes, weights)

    return make


def test_a_word_in_most_notes_never_ranks_them_below_notes_without_it(
    make_index: MakeIndex,
) -> None:
    vault = ("a.md", "b.md", "c.md", "d.md")
    index = make_index(
        note("a.md", "compost heap one"),
        note("b.md", "compost heap two"),
        note("c.md", "compost heap three"),
        note("d.md", "unrelated bicycle"),
    )
    assert set(ranked(index, "compost", vault)) == {"a.md", "b.md", "c.md"}


def test_the_score_is_lucenes_bm25(make_index: MakeIndex) -> None:
    index = make_index(note("a.md", "brisk brisk oak"), note("b.md", "ash elm"), weights=ONLY_ALL)
    ((_, score),) = index.rank_notes(query_terms("brisk", ("en",)), 10, None)
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    length = 3 / ((3 + 2) / 2)  # of a.md, in average lengths
    expected = idf * 2 * (1.2 + 1) / (2 + 1.2 * (1 - 0.75 + 0.75 * length))
    assert score == pytest.approx(expected, rel=1e-5)


def test_a_vault_of_one_note_is_found(make_index: MakeIndex) -> None:
    index = make_index(note("only.md", "firing schedule for stoneware", heading="Kiln"))
    assert ranked(index, "stoneware", ["only.md"]) == ["only.md"]
    assert index.note_count == 1


def test_an_empty_index_finds_nothing(make_index: MakeIndex) -> None:
    index = make_index()
    query = query_terms("anything", ("en",))
    assert index.rank_notes(query, 5, None) == []
    assert index.rank_chunks(query, 5, None) == []
    assert index.document_frequency(["anyth"]) == {"anyth": 0}
    assert index.note_count == 0


def test_notes_without_any_words_are_no_trouble(make_index: MakeIndex) -> None:
    index = make_index(note(".md", ""), note(".md.md"))
    assert index.note_count == 2
    assert index.rank_notes(query_terms("anything", ("en",)), 5, None) == []


def test_words_that_nowhere_occur_and_limits_beyond_the_vault_find_what_there_is(
    make_index: MakeIndex,
) -> None:
    index = make_index(note("p.md", "red paint"), note("q.md", "green paint"))
    assert ranked(index, "red zyxwvut", ["p.md", "q.md"], limit=10**9) == ["p.md"]
    assert ranked(index, "qqqq wwww", [], limit=50) == []
    assert ranked(index, "paint", [], limit=0) == []
    assert ranked(index, "?!", [], limit=50) == []


def test_equal_notes_are_ordered_by_key_also_where_the_limit_cuts(make_index: MakeIndex) -> None:
    paths = [f"{number}.md" for number in range(40)]
    index = make_index(
        *(note(path, "brisk oak stands", title="elm") for path in paths), note("x.md", "ash")
    )
    keys = sorted(key64(path) for path in paths)
    query = query_terms("elm brisk oak", ("en",))
    hits = index.rank_notes(query, 40, None)
    assert [key for key, _ in hits] == keys
    assert len({score for _, score in hits}) == 1
    assert [key for key, _ in index.rank_notes(query, 3, None)] == keys[:3]
    chunk_keys = sorted(key64(f"{path}#0") for path in paths)
    assert [chunk for chunk, _, _ in index.rank_chunks(query, 3, None)] == chunk_keys[:3]


def test_only_allowed_notes_are_ranked_and_the_cut_comes_after(make_index: MakeIndex) -> None:
    index = make_index(
        *(note(f"{number}.md", "tide tide tide") for number in range(30)),
        note("far.md", "a long note that says tide only once among many other things"),
    )
    query = query_terms("tide", ("en",))
    allowed = {key64("far.md"), key64("no-such-note.md")}
    (hit,) = index.rank_notes(query, 1, allowed)
    unfiltered = dict(index.rank_notes(query, 100, None))
    assert hit == (key64("far.md"), unfiltered[key64("far.md")])  # a filter changes no score
    ((chunk, owner, _),) = index.rank_chunks(query, 1, list(allowed))
    assert (chunk, owner) == (key64("far.md#0"), key64("far.md"))
    assert index.rank_notes(query, 5, ()) == []
    assert index.rank_chunks(query, 5, set()) == []


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("harbour", "title.md"),  # in the title, and in the text of another
        ("quay", "alias.md"),
        ("ferry", "tag.md"),
        ("boats", "boats/path.md"),
        ("tide level", "pair.md"),
    ],
)
def test_each_field_lifts_a_note(make_index: MakeIndex, query: str, best: str) -> None:
    plain = "harbour quay ferry boats level of the tide"
    vault = ["plain.md", "title.md", "alias.md", "tag.md", "boats/path.md", "pair.md"]
    index = make_index(
        note("plain.md", plain),
        note("title.md", plain, title="Harbour"),
        note("alias.md", plain, aliases=("Quay",)),
        note("tag.md", plain, tags=("ferry",)),
        note("boats/path.md", plain),
        note("pair.md", plain.replace("level of the tide", "the tide level of")),
    )
    assert ranked(index, query, vault)[0] == best


def test_a_weight_of_zero_silences_its_field(make_index: MakeIndex) -> None:
    index = make_index(note("tide.md", "ebb and flow"), weights=ONLY_ALL)
    assert ranked(index, "tide", []) == []


def test_a_heading_counts_once_for_all_chunks_of_its_section(make_index: MakeIndex) -> None:
    index = make_index(
        note("one.md", "ash ash", heading="Tide"),
        note("two.md", "ash", "ash", heading="Tide"),
        weights=ONLY_ALL,
    )
    (_, first), (_, second) = index.rank_notes(query_terms("tide", ("en",)), 2, None)
    assert first == second


def test_chunks_are_ranked_by_text_and_heading(make_index: MakeIndex) -> None:
    index = make_index(
        note("a.md", "glaze recipe", "kiln log"),
        note("b.md", "glaze test", heading="Glaze"),
    )
    hits = index.rank_chunks(query_terms("glaze", ("en",)), 10, None)
    assert [(chunk, owner) for chunk, owner, _ in hits] == [
        (key64("b.md#0"), key64("b.md")),
        (key64("a.md#0"), key64("a.md")),
    ]


def test_a_word_counts_by_its_best_variant_only(make_index: MakeIndex) -> None:
    index = make_index(
        note("de.md", "Küchen Plan", language="de"), note("x.md", "ash"), weights=ONLY_ALL
    )
    one = index.rank_notes(query_terms("Küche", ("de",)), 5, None)
    many = index.rank_notes(query_terms("Küche", ("de", "en", "sv", "und")), 5, None)
    assert [key for key, _ in one] == [key64("de.md")]
    assert one == many


def test_a_repeated_word_counts_as_often_as_it_was_asked_for(make_index: MakeIndex) -> None:
    index = make_index(note("a.md", "tide"), note("b.md", "ash"), weights=ONLY_ALL)
    ((_, once),) = index.rank_notes(query_terms("tide", ("en",)), 5, None)
    ((_, twice),) = index.rank_notes(query_terms("tide, tide", ("en",)), 5, None)
    assert twice == pytest.approx(2 * once, rel=1e-5)


def test_document_frequency_counts_notes_by_text_names_and_path(make_index: MakeIndex) -> None:
    index = make_index(
        note("tide/log.md", "ebb", "ebb tide"),
        note("b.md", "ebb", tags=("log",)),
        note("tide/c.md", "ash", title="Tide"),
    )
    assert index.document_frequency(["ebb", "tide", "log", "ash", "oak"]) == {
        "ebb": 2,
        "tide": 2,
        "log": 2,
        "ash": 1,
        "oak": 0,
    }


def test_words_of_every_script_and_odd_signs_find_their_note(make_index: MakeIndex) -> None:
    texts = {
        "ja.md": "来週の設備点検でPUMP7を交換する。",
        "ko.md": "등대에서 새 렌즈를 달았다.",
        "th.md": "เราซ่อมเครื่องสูบน้ำเมื่อวานนี้",
        "hi.md": "नया पानी का पंप",
        "ru.md": "Новый насос",
        "code.md": "written in C++ for v4.1.7",
        "emoji.md": "🚀 launch",
    }
    index = make_index(*(note(path, text) for path, text in texts.items()))
    for query, path in [
        ("点検", "ja.md"),
        ("pump7", "ja.md"),
        ("렌즈", "ko.md"),
        ("เครื่องสูบ", "th.md"),
        ("पंप", "hi.md"),
        ("насос", "ru.md"),
        ("c++", "code.md"),
        ("4.1.7", "code.md"),
        ("🚀", "emoji.md"),
    ]:
        assert ranked(index, query, texts)[0] == path, query


# --- the two against each other, and the folder of tantivy


def generated_vault(count: int, seed: int = 7) -> list[LexicalNote]:
    """Notes whose words are as unevenly common as those of real prose."""
    chance = random.Random(seed)
    vocabulary = [f"word{number}x" for number in range(400)]
    rarity = [1 / (number + 2) for number in range(400)]

    def words(low: int, high: int) -> str:
        return " ".join(chance.choices(vocabulary, rarity, k=chance.randint(low, high)))

    return [
        note(
            f"{words(1, 1)}/{number}.md",
            *(words(5, 120) for _ in range(chance.randint(1, 4))),
            title=words(1, 4),
            tags=(words(1, 1),),
            heading=words(1, 3),
        )
        for number in range(count)
    ]


def questions(count: int, seed: int = 11) -> list[str]:
    chance = random.Random(seed)
    return [
        " ".join(f"word{chance.randint(5, 399)}x" for _ in range(chance.randint(1, 6)))
        for _ in range(count)
    ]


def overlap(one: Collection[object], other: Collection[object]) -> float:
    return len(set(one) & set(other)) / max(len(one), 1)


def test_tantivy_scores_as_rank_bm25_does(tmp_path: Path) -> None:
    vault = generated_vault(150)
    fast = build_tantivy(tmp_path / "lexical", vault, FieldWeights())
    reference = RankBM25Index(vault, FieldWeights())
    shared = []
    for text in questions(40):
        query = query_terms(text, ("en",))
        expected = dict(reference.rank_notes(query, 1000, None))
        found = dict(fast.rank_notes(query, 1000, None))
        assert found.keys() == expected.keys()
        for key, score in found.items():
            # tantivy keeps the length of a field in one byte, exact up to 40 terms only
            assert score == pytest.approx(expected[key], rel=0.1)
        shared.append(overlap(list(found)[:10], list(expected)[:10]))
        chunks = {hit[:2]: hit[2] for hit in fast.rank_chunks(query, 1000, None)}
        for chunk, owner, score in reference.rank_chunks(query, 1000, None):
            assert chunks[chunk, owner] == pytest.approx(score, rel=0.1)
    assert sum(shared) / len(shared) > 0.9


def test_an_index_that_grew_scores_as_one_built_at_once(tmp_path: Path) -> None:
    vault = generated_vault(60)
    TantivyIndex.build(tmp_path / "0", None, vault[:40], ())
    edited = note(f"{'x'}/0.md", "word20x word21x", title="edited")
    TantivyIndex.build(tmp_path / "1", tmp_path / "0", [*vault[40:], edited], [vault[3].key])
    changed = LexicalNote(vault[5].key, (), (), (), (), edited.chunks[:0])
    TantivyIndex.build(tmp_path / "2", tmp_path / "1", [changed], [edited.key])
    grown = TantivyIndex.open(tmp_path / "2", FieldWeights())
    final = [changed if n.key == changed.key else n for n in vault if n.key != vault[3].key]
    fresh = build_tantivy(tmp_path / "fresh", final, FieldWeights())
    assert grown.note_count == len(final) == 59
    for text in questions(20):
        query = query_terms(text, ("en",))
        assert grown.rank_notes(query, 100, None) == fresh.rank_notes(query, 100, None)
        assert grown.rank_chunks(query, 100, None) == fresh.rank_chunks(query, 100, None)


def test_a_large_index_with_few_deletions_scores_nearly_as_one_built_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cortex.indexer.lexical.SMALL_INDEX", 10)
    vault = generated_vault(100)
    TantivyIndex.build(tmp_path / "0", None, vault, ())
    TantivyIndex.build(tmp_path / "1", tmp_path / "0", vault[:4], ())  # 4 % are written twice
    worn = TantivyIndex.open(tmp_path / "1", FieldWeights())
    fresh = TantivyIndex.open(tmp_path / "0", FieldWeights())
    assert worn.note_count == 100
    shared = []
    for text in questions(20):
        query = query_terms(text, ("en",))
        expected = dict(fresh.rank_notes(query, 100, None))
        for key, score in worn.rank_notes(query, 100, None):
            assert score == pytest.approx(expected[key], rel=0.1)
        top = [key for key, _ in worn.rank_notes(query, 10, None)]
        shared.append(overlap(top, list(expected)[:10]))
    assert sum(shared) / len(shared) > 0.9


def test_an_index_of_an_earlier_version_answers_by_the_fields_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = generated_vault(30)
    with monkeypatch.context() as earlier:
        earlier.setattr("cortex.indexer.lexical.NOTE_FIELDS", ("all", "title"))
        earlier.setattr("cortex.indexer.lexical._note_terms", titles_and_all)
        TantivyIndex.build(tmp_path / "old", None, vault, ())
    old = TantivyIndex.open(tmp_path / "old", FieldWeights())
    now = FieldWeights(path=0, names=0, pair=0, surface=0)
    fresh = build_tantivy(tmp_path / "fresh", vault, now)
    for text in questions(10):
        query = query_terms(text, ("en",))
        assert old.rank_notes(query, 30, None) == fresh.rank_notes(query, 30, None)
    assert old.document_frequency(["word1x"]).keys() == {"word1x"}


def titles_and_all(note: LexicalNote) -> dict[str, Sequence[str]]:
    return {name: terms for name, terms in note_terms(note).items() if name in ("all", "title")}


@pytest.mark.parametrize("content", ["{}", "[]", '{"schema": 3}', "{"])
def test_an_index_whose_description_is_damaged_is_told(tmp_path: Path, content: str) -> None:
    TantivyIndex.build(tmp_path / "0", None, generated_vault(3), ())
    (tmp_path / "0/notes/meta.json").write_text(content, "utf-8")
    with pytest.raises(Unavailable, match="the lexical index cannot be read"):
        TantivyIndex.open(tmp_path / "0", FieldWeights())


def test_building_leaves_the_index_before_it_as_it_was(tmp_path: Path) -> None:
    vault = generated_vault(20)
    TantivyIndex.build(tmp_path / "0", None, vault, ())

    def contents() -> dict[Path, bytes]:
        return {f: f.read_bytes() for f in sorted((tmp_path / "0").rglob("*")) if f.is_file()}

    before = contents()
    TantivyIndex.build(tmp_path / "1", tmp_path / "0", vault[:5], [vault[6].key])
    assert contents() == before
    shutil.rmtree(tmp_path / "0")
    assert TantivyIndex.open(tmp_path / "1", FieldWeights()).note_count == 19


def test_an_index_grows_where_there_are_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: object, target: object) -> None:
        raise OSError("this file system has no links")

    monkeypatch.setattr(os, "link", refuse)
    TantivyIndex.build(tmp_path / "0", None, [note("a.md", "tide")], ())
    TantivyIndex.build(tmp_path / "1", tmp_path / "0", [note("b.md", "tide")], ())
    assert TantivyIndex.open(tmp_path / "1", FieldWeights()).note_count == 2


def test_the_last_note_can_go(tmp_path: Path) -> None:
    TantivyIndex.build(tmp_path / "0", None, [note("a.md", "tide")], ())
    TantivyIndex.build(tmp_path / "1", tmp_path / "0", [], [key64("a.md")])
    index = TantivyIndex.open(tmp_path / "1", FieldWeights())
    assert index.note_count == 0
    assert index.rank_notes(query_terms("tide", ("en",)), 5, None) == []


def test_a_missing_index_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="run: cortex index --force") as caught:
        TantivyIndex.open(tmp_path / "nowhere", FieldWeights())
    assert caught.value.what == "bm25"
    with pytest.raises(Unavailable):
        TantivyIndex.check(tmp_path / "nowhere")
    with pytest.raises(Unavailable):
        TantivyIndex.build(tmp_path / "new", tmp_path / "nowhere", [], ())
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("damage", ["meta.json", "*.idx", "*.term", "*.fast", "*.fieldnorm"])
@pytest.mark.parametrize("how", ["gone", "empty", "cut"])
def test_a_damaged_index_is_unavailable(tmp_path: Path, damage: str, how: str) -> None:
    TantivyIndex.build(tmp_path / "0", None, generated_vault(10), ())
    (file,) = (tmp_path / "0" / "notes").glob(damage)
    whole = file.read_bytes()
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(whole[: len(whole) // 2 if how == "cut" else 0])
    with pytest.raises(Unavailable, match="run: cortex index --force"):
        TantivyIndex.open(tmp_path / "0", FieldWeights())


def test_damage_that_shows_only_in_a_search_is_unavailable_too(tmp_path: Path) -> None:
    TantivyIndex.build(tmp_path / "0", None, [note("a.md", "tide")], ())
    (file,) = (tmp_path / "0" / "notes").glob("*.pos")
    file.unlink()
    index = TantivyIndex.open(tmp_path / "0", FieldWeights())
    with pytest.raises(Unavailable, match="run: cortex index --force"):
        index.rank_notes(query_terms("tide", ("en",)), 5, None)
