"""What people type: how it is read, which notes it leaves, and that nothing typed is an error."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import CortexMaker
from cortex import Cortex, UsageError
from cortex.cli import main
from cortex.hooks import Hooks
from cortex.plugin import Tools
from cortex.runtime import Runtime
from cortex.search.syntax import ParsedQuery, parse

PROPERTIES = frozenset({"author", "last_verified", "due date", "rating"})


def read(text: str) -> ParsedQuery:
    return parse(text, dt.date(2026, 1, 1), lambda: PROPERTIES)


def found(cortex: Cortex, query: str, **asked: Any) -> list[str]:
    """The notes that a search shows, in order."""
    hits = cortex.search(query, top_k=50, **asked).hits
    return list(dict.fromkeys(hit.chunk.note for hit in hits))


@pytest.mark.parametrize(
    ("query", "text", "understood"),
    [
        ('"fog bell" repair', "fog bell repair", 'words: repair; with "fog bell"'),
        ("\u201efog bell\u201c now", "fog bell now", 'words: now; with "fog bell"'),
        ('die "Model C"-Schulen', "die Model C -Schulen", 'words: die -Schulen; with "Model C"'),
        ("tide -draft", "tide", "words: tide; without draft"),
        ('tide -"fog bell" -tag:x', "tide", 'words: tide; without "fog bell"; not tag x'),
        ("tag:#a OR tag:b/c tide", "tide", "words: tide; tag a or tag b/c"),
        ("walrus OR penguin food", "walrus penguin food", "words: walrus or penguin food"),
        ('(tag:a type:b) OR "x y"', "x y", '(tag a and type b) or with "x y"'),
        ('"x y" or tag:b', "x y", 'with "x y" or tag b'),
        ("tag:a or (tag:b type:c)", "", "tag a or (tag b and type c)"),
        ("fog or mist tag:a", "fog or mist", "words: fog or mist; tag a"),
        ("tag:x AND NOT tag:y", "", "tag x; not tag y"),
        ("after:7d before:yesterday", "", "from 2025-12-25; before 2025-12-31"),
        ("after:2025 before:2025-03", "", "from 2025-01-01; before 2025-03-01"),
        ("after:3m", "", "from 2025-10-01"),
        ("after:2w before:today", "", "from 2025-12-18; before 2026-01-01"),
        ("near:[[Tide Gauge]] flood", "flood", "words: flood; near Tide Gauge"),
        ('Links-To:"Tide Gauge"', "", "links to Tide Gauge"),
        ("linked_from:Gauge", "", "linked from Gauge"),
        ('author:"Ada L" tide', "tide", "words: tide; author Ada L"),
        ("[rating:7]", "", "rating 7"),
        ('"due date":2025-01-02', "", "due date 2025-01-02"),
        ("type:decision,fact", "", "type decision or fact"),
        ('path:"my folder" title:gauge', "", "path my folder; title gauge"),
        ("tag\uff1a\u4e66 \u8336", "\u8336", "words: \u8336; tag \u4e66"),
    ],
)
def test_what_was_typed_is_read_and_told(query: str, text: str, understood: str) -> None:
    parsed = read(query)
    assert (parsed.text, parsed.understood, parsed.hints) == (text, understood, ())


@pytest.mark.parametrize(
    "query",
    [
        "why does the fog bell strike late?",
        "error: foo",
        "http://a.b/c",
        "12:30 meeting",
        r"C:\x\y",
        "std::vector<int>",
        "see foo:bar",
        "multi-stage",
        "don't panic",
        "salt AND pepper",
        "NOT",
        "OR AND",
        "NOT draft",
        "OR x",
        "x OR",
        "- a list -- of -",
        "at -5 degrees",
        "rsync -av --delete",
        "Privatpersonen und -organisationen",
        "git commit -m",
        '27" monitor, 24" tv',
        '12 " x 14 " y',
        '"unclosed phrase',
        'wait" for it',
        "pump (really",
        "shore* OR (",
        "[[salt",
        "[a:b](http://x)",
        "a+b? ^x$ \\",
        "'; DROP TABLE notes; --",
        '`printf "%d" -x tag:y`',
        "tag:",
        "tag:#",
        '""',
        '"?!"',
        "-",
        "((((",
        "#tag",
        "x" * 5000 + " -y",
    ],
)
def test_what_is_no_condition_stays_the_text_that_was_typed(query: str) -> None:
    assert read(query) == ParsedQuery(query)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("after:lunch", "after:lunch is read as words; give a day such as 2025-01-31"),
        ("autor:Ada", "autor: is read as a word, for no note has such a property; did you mean "),
        ("importance_min:much", "importance_min:much is read as words; give one number"),
    ],
)
def test_what_looks_like_a_condition_and_is_none_is_told(query: str, hint: str) -> None:
    parsed = read(query)
    assert parsed.text == query and parsed.condition is None
    assert parsed.hints[0].startswith(hint)


@given(st.text('ab -"()OR:#[]tag,*`\u201c\u201d\n', max_size=60))
def test_nothing_that_is_typed_breaks_the_reading(text: str) -> None:
    parsed = read(text)
    assert parsed.text.strip() or parsed.condition is not None or not text.strip()


WORLD = {
    "Coast/Fog Bell.md": "---\ntags: [sea/signal]\nauthor: Ada Lovelace\nupdated: 2025-03-10\n---\n"
    "# When it sticks\n\nThe **fog** bell\nstrikes late. See [[Tide Gauge]].\n\n"
    "# Oil\n\nFog is thick, and a bell is loud: bell, bell, fog, fog.\n",
    "Coast/Tide Gauge.md": "---\naliases: [Limnimeter]\ntype: device\nupdated: 2025-06-01\n---\n"
    "The bell house has a gauge; fog hides it. It speaks of [[Harbour]].",
    "Harbour.md": "---\nstatus: draft\nupdated: 2025-11-30\ncreated: 2020-01-01\n---\n"
    "Boats and drafts. The Limnimeter is near, and the fog bell is not.",
    "Log/2025-12-30.md": "---\ntags: [log]\nupdated: 2025-12-30\n---\nNo more than CAFÉ and sleep.",
    "常青笔记.md": "---\nupdated: 2024-05-05\n---\n我的常青笔记很长。",
}  # fmt: skip
BELL, GAUGE, HARBOUR, LOG, CHINESE = WORLD


@pytest.mark.parametrize(
    ("query", "notes"),
    [
        ('"fog bell"', {BELL, HARBOUR}),
        ('"FOG   Bell" house', {BELL, HARBOUR}),
        ('"cafe and"', {LOG}),
        ('"\u9752\u7b14"', {CHINESE}),
        ('"tide gauge"', {BELL, GAUGE}),  # a link's text, and a title
        ('"sea signal"', {BELL}),  # a tag
        ('"limnimeter"', {GAUGE, HARBOUR}),  # an alias
        ("fog -draft", {BELL, GAUGE}),
        ("fog -drafts", {BELL, GAUGE}),  # words leave out in all their forms, as they are searched
        ('fog -"bell strikes"', {GAUGE, HARBOUR}),
        ("fog -tag:sea", {GAUGE, HARBOUR}),
        ("fog -path:Coast", {HARBOUR}),
        ("fog -title:gauge", {BELL, HARBOUR}),
        ("fog tag:sea", {BELL}),
        ("fog path:coast", {BELL, GAUGE}),
        ("fog path:coast/tide", {GAUGE}),
        ("fog path:/Tide", set()),
        ("fog path:coa", {BELL, GAUGE}),  # no path has that word: it is a part of one
        ("fog folder:Coast", {BELL, GAUGE}),
        ("fog title:limnimeter", {GAUGE}),
        ("fog title:lim*", {GAUGE}),
        ("fog type:device", {GAUGE}),
        ("fog status:draft", {HARBOUR}),
        ('fog author:"ada lovelace"', {BELL}),
        ("fog after:2025-06-01", {GAUGE, HARBOUR}),  # the day itself included
        ("fog before:2025-06-01", {BELL}),  # the day itself not
        ("fog after:2m", {HARBOUR}),
        ("fog links-to:harbour", {GAUGE}),
        ("fog links-to:Limnimeter", {BELL}),  # not Harbour, which only mentions it
        ('fog linked-from:"Fog Bell"', {GAUGE}),
        ("fog near:Fog Bell", {BELL, GAUGE, HARBOUR}),  # its name goes on behind the blank
        ("fog author:ada", {BELL}),  # no author is that: it is a part of a name
        ("fog created:2020-01", {HARBOUR}),
        ('fog near:"Fog Bell"', {BELL, GAUGE, HARBOUR}),
        ("sleep near:Harbour", set()),
        ('tag:log OR "fog bell"', {LOG, BELL, HARBOUR}),
        ('tag:log or "fog bell"', {LOG, BELL, HARBOUR}),
        ("sleep OR tag:sea", {LOG, BELL}),
        ("fog (tag:sea OR type:device)", {BELL, GAUGE}),
        ("fog -(tag:sea OR type:device)", {HARBOUR}),
    ],
)
def test_a_condition_leaves_the_notes_that_meet_it(
    cortex_with: CortexMaker, query: str, notes: set[str]
) -> None:
    cortex = cortex_with(WORLD)
    assert set(found(cortex, query, channels=["bm25"])) == notes
    assert set(found(cortex, query)) >= notes
    result = cortex.search(query)
    assert result.understood
    assert not any("no note" in warning for warning in result.warnings) or not notes


@pytest.mark.parametrize("engine", ["tantivy", "rank_bm25"])
def test_conditions_hold_by_either_engine_and_without_the_keyword_index(
    cortex_with: CortexMaker, engine: str
) -> None:
    cortex = cortex_with(WORLD, f"search: {{lexical_engine: {engine}}}")
    assert set(found(cortex, '"fog bell" -drafts')) == {BELL}
    assert set(found(cortex, '"fog bell" -drafts', channels=["vector"])) == {BELL}


def test_the_chunk_with_the_phrase_is_the_first_of_its_note(cortex_with: CortexMaker) -> None:
    first, *_ = cortex_with(WORLD).search('"bell strikes" fog').hits
    assert first.chunk.heading_path == ("When it sticks",)
    given = first.trace.channels["phrase"]
    assert given.contribution == pytest.approx(given.weight / 60)
    assert sum(c.contribution for c in first.trace.channels.values()) == pytest.approx(
        first.trace.fused
    )


def test_filters_alone_list_the_notes_newest_first(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(WORLD)
    assert found(cortex, "before:2026") == [LOG, HARBOUR, GAUGE, BELL, CHINESE]
    result = cortex.search("-draft", top_k=2)
    assert [hit.chunk.note for hit in result.hits] == [LOG, GAUGE]
    assert result.more and result.warnings == () and result.ran == ()
    assert found(cortex, "", filters={"folders": "Coast"}) == [GAUGE, BELL]
    with pytest.raises(UsageError, match="empty"):
        cortex.search(" ")


def test_a_plain_search_reads_all_of_it_as_words(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(WORLD)
    result = cortex.search('fog -draft "bell strikes" tag:nosuch', plain=True)
    assert {hit.chunk.note for hit in result.hits} >= {BELL, GAUGE, HARBOUR}
    assert result.understood == ""
    assert not any("tag" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("filters", "notes"),
    [
        ({"phrases": ["fog bell"]}, {BELL, HARBOUR}),
        ({"phrases": ["fog bell", "strikes late"]}, {BELL}),
        ({"exclude": ["draft", "strikes late"]}, {GAUGE}),
        ({"title": "gauge"}, {GAUGE}),
        ({"path": ["Coast/Fog", "Harbour"]}, {BELL, HARBOUR}),
        ({"path": ["!Coast"]}, {HARBOUR}),
        ({"links_to": "[[Harbour]]"}, {GAUGE}),
        ({"linked_from": ["Fog Bell", "Tide Gauge"]}, {GAUGE, HARBOUR}),
        ({"near": "Coast/Fog Bell.md"}, {BELL, GAUGE, HARBOUR}),
        ({"author": "ada"}, set()),
        ({"after": "2m"}, {HARBOUR}),
        ({"after": dt.date(2025, 6, 1), "before": "2025-11"}, {GAUGE}),
    ],
)
def test_the_same_is_a_typed_filter(
    cortex_with: CortexMaker, filters: dict[str, Any], notes: set[str]
) -> None:
    cortex = cortex_with(WORLD)
    assert set(found(cortex, "fog", filters=filters, channels=["bm25"])) == notes


@pytest.mark.parametrize(
    ("query", "warning"),
    [
        ("near:Harbor", "near: there is no note 'Harbor'; did you mean Harbour.md?"),
        ("links-to:zzz", "links-to: there is no note 'zzz'"),
        ("fog type:devise", "no note has the type 'devise'; did you mean device?"),
        ("fog tag:see/signal", "no note has the tag 'see/signal'; did you mean sea/signal?"),
        ("fog folder:Cost", "no note is in the folder 'cost'; did you mean Coast?"),
        ('author:"Ada Lovelase"', "no note has the author 'Ada Lovelase'; did you mean Ada Lov"),
        ('"fog horn" tag:sea', 'no note holds "fog horn"; try it without the quotes'),
        ("title:Harbor", "no note is called 'harbor'; did you mean Harbour?"),
    ],
)
def test_a_name_or_value_that_no_note_has_is_told_with_the_nearest(
    cortex_with: CortexMaker, query: str, warning: str
) -> None:
    result = cortex_with(WORLD).search(query)
    assert result.hits == () and result.warnings[0].startswith(warning)


def test_another_number_is_not_said_to_have_been_meant(cortex_with: CortexMaker) -> None:
    cortex = cortex_with({"a.md": "---\nmade: 1610992021546\n---\nFog."})
    assert cortex.search("made:2021").warnings == ("no note has the made '2021'",)


def test_a_question_with_a_phrase_that_no_note_holds_is_read_without_the_quotes(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(WORLD)
    result = cortex.search('why is the "fog horn" of the house late tag:sea')
    assert {hit.chunk.note for hit in result.hits} == {BELL}
    told = 'no note holds "fog horn"; its words are searched, without the quotes'
    assert result.warnings[0] == told
    assert result.understood == "words: why is the of the house late; words: fog horn; tag sea"
    assert cortex.search('fog "bell house"').warnings == ()


def test_a_mistyped_property_is_told_with_the_nearest(cortex_with: CortexMaker) -> None:
    result = cortex_with(WORLD).search("fog", filters={"autor": "Ada"})
    assert result.warnings == (
        "no note has the property 'autor', so it matches none; did you mean author?",
    )


def test_a_name_of_several_notes_means_all_of_them(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(
        {"a/Plan.md": "x", "b/Plan.md": "y", "c.md": "see [[a/Plan]]", "d.md": "see [[b/Plan]]"}
    )
    result = cortex.search("links-to:Plan")
    assert {hit.chunk.note for hit in result.hits} == {"c.md", "d.md"}
    assert result.warnings[0].startswith("links-to: 2 notes are named 'Plan'")


def test_links_to_a_note_that_nobody_has_written_are_found(cortex_with: CortexMaker) -> None:
    cortex = cortex_with({"a.md": "see [[Someday]]", "b.md": "someday"})
    assert found(cortex, "links-to:someday") == ["a.md"]


def test_link_filters_without_a_graph_are_unavailable_and_say_what_to_run(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(WORLD, build=False)
    cortex.index()
    result = cortex.search("near:Harbour fog", channels=["bm25"])
    assert result.hits == ()
    assert [(m.what, m.why) for m in result.unavailable] == [
        ("filtering by links", "there is no graph yet; run: cortex graph build")
    ]


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"after": "lunch"}, "after: give a day such as 2025-01-31, a month, a year, 7d"),
        ({"after": "2025-05", "before": "2025-05"}, "after 2025-05-01 leaves no day before"),
        ({"near": {"a": 1}}, "near: give a value or a list of values"),
    ],
)
def test_a_malformed_typed_filter_is_an_error(
    cortex_with: CortexMaker, filters: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        cortex_with({"a.md": "x"}, build=False).search("x", filters=filters)


def test_a_status_that_was_asked_for_lets_its_notes_stand_where_they_are(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with({"a.md": "---\nstatus: archived\n---\nfog", "b.md": "fog"})
    [hit] = cortex.search("fog status:archived").hits
    assert "status" not in hit.trace.factors


# On the shell, in the tools, behind a message


@pytest.mark.parametrize(
    ("typed", "notes"),
    [
        (["fog", "-draft"], {BELL, GAUGE}),
        (["fog -draft"], {BELL, GAUGE}),
        (["--", "-draft", "fog"], {BELL, GAUGE}),
        (["fog", "-fog bell"], {GAUGE}),  # the shell took the quotes of -"fog bell" away
        (["near:Fog Bell", "fog", "-status:draft"], {BELL, GAUGE}),
        (['"fog bell"'], {BELL, HARBOUR}),
        (["fog -draft", "--plain"], {BELL, GAUGE, HARBOUR}),
        (["fog", "--title", "gauge", "--after", "2025"], {GAUGE}),
        (["fog", "--phrase", "fog bell", "--exclude", "draft"], {BELL}),
        (["fog", "--links-to", "Harbour"], {GAUGE}),
        (["fog", "--linked-from", "Fog Bell", "--before", "2026"], {GAUGE}),
        (["--near", "Fog Bell", "--path", "/Coast"], {BELL, GAUGE}),
    ],
)
def test_the_command_line_takes_the_same(
    cortex_with: CortexMaker,
    capsys: pytest.CaptureFixture[str],
    typed: list[str],
    notes: set[str],
) -> None:
    config = str(cortex_with(WORLD).config.path)
    channels = [] if typed[0] == "--near" else ["--channels", "bm25"]
    words = ["--json", "--config", config, *channels, *typed]
    assert main(["search", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {hit["file"] for hit in told["results"]} == notes


def test_the_command_line_says_how_a_question_was_read(
    cortex_with: CortexMaker, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ["--config", str(cortex_with(WORLD).config.path)]
    assert main(["search", *config, 'fog -draft "bell strikes"']) == 0
    assert 'cortex: read as words: fog; without draft; with "bell strikes"' in (
        capsys.readouterr().err
    )
    assert main(["context", *config, "--json", "tag:sea"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["understood"] == "tag sea"
    assert [cited["note"] for cited in told["citations"]] == [BELL]
    assert main(["search", *config, "fog", "-json"]) == 2
    assert "has no option -json; did you mean --json?" in capsys.readouterr().err
    assert main(["search", *config, "fog", "--before", "noon"]) == 2
    assert "before: give a day such as 2025-01-31" in capsys.readouterr().err


def runtime_of(cortex: Cortex, tmp_path: Path) -> Runtime:
    return Runtime({"CORTEX_CONFIG": str(cortex.config.path), "HERMES_HOME": str(tmp_path)})


def test_the_tools_take_the_same_and_say_how_it_was_read(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    tools = Tools(runtime_of(cortex_with(WORLD), tmp_path))
    told = json.loads(tools.vault_search({"query": 'after:2025-06 -"fog bell"'}))
    assert told["understood"] == 'from 2025-06-01; without "fog bell"'
    assert [hit["note"] for hit in told["results"]] == [LOG, GAUGE]
    told = json.loads(tools.vault_search({"query": "fog", "filters": {"near": ["Gage"]}}))
    assert told["warnings"] == ["near: there is no note 'Gage'"] and told["results"] == []
    told = json.loads(tools.vault_search({"query": '"no such words"', "plain": True}))
    assert "understood" not in told and told["results"]
    told = json.loads(tools.vault_build_context({"query": 'tag:sea "bell strikes"'}))
    assert told["understood"] == 'tag sea; with "bell strikes"'
    assert [cited["note"] for cited in told["citations"]] == [BELL]


def test_pages_of_listed_notes_neither_overlap_nor_skip(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    notes = {f"n{i:02}.md": f"---\nupdated: 2025-01-{i:02}\n---\nx" for i in range(1, 21)}
    tools = Tools(runtime_of(cortex_with(notes), tmp_path))
    shown = []
    for page in (1, 2, 3):
        told = json.loads(tools.vault_search({"query": "after:2024", "top_k": 7, "page": page}))
        shown += [hit["note"] for hit in told["results"]]
    assert shown == sorted(notes, reverse=True)


def test_what_stands_behind_a_message_is_sought_by_its_words_alone(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    dynamic = "hooks: {skill_context: {enabled: false}, dynamic_context: {enabled: true}}"
    hooks = Hooks(runtime_of(cortex_with(WORLD, dynamic), tmp_path))
    message = "Why does the fog bell strike so -late?"
    answer = hooks.pre_llm_call(
        session_id="s",
        platform="cli",
        sender_id="",
        user_message=message,
        conversation_history=[{"role": "user", "content": message}],
        is_first_turn=True,
    )
    assert answer is not None and "strikes late" in answer["context"]


@pytest.mark.parametrize("filters", [{"links_to": ["!Harbour"]}, {"links_to": "!harbour.md"}])
def test_a_note_named_behind_an_exclamation_mark_leaves_out_what_links_to_it(
    cortex_with: CortexMaker, filters: dict[str, Any]
) -> None:
    cortex = cortex_with(WORLD)
    linked = found(cortex, "", filters={"links_to": "Harbour"})
    assert linked and set(found(cortex, "", filters=filters)) == set(WORLD) - set(linked)
    result = cortex.search("fog", filters={"links_to": ["!nowhere"]})
    assert result.hits and "there is no note 'nowhere'" in result.warnings[0]


def test_the_tools_list_notes_by_filters_without_a_question(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    tools = Tools(runtime_of(cortex_with(WORLD), tmp_path))
    for asked in ({}, {"query": ""}, {"query": " "}):
        told = json.loads(tools.vault_search({**asked, "filters": {"tags_any": ["sea"]}}))
        assert [hit["note"] for hit in told["results"]] == [BELL]
        told = json.loads(tools.vault_build_context({**asked, "filters": {"tags_any": ["sea"]}}))
        assert [cited["note"] for cited in told["citations"]] == [BELL]
        assert "query is" in json.loads(tools.vault_search({**asked, "filters": {}}))["error"]


def test_swapped_letters_of_a_short_value_are_seen_through(cortex_with: CortexMaker) -> None:
    cortex = cortex_with({"a.md": "---\ntags: work\n---\nfog", "b.md": "fog"})
    assert cortex.search("fog tag:wrok").warnings == (
        "no note has the tag 'wrok'; did you mean work?",
    )


def test_a_daily_note_without_properties_is_of_the_day_in_its_name(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(
        {"2025-12-30.md": "soup", "2025-11-01 Fair.md": "soup", "Log/2024-01-05.md": "soup"}
    )
    assert found(cortex, "soup after:2025-12-01") == ["2025-12-30.md"]
    assert found(cortex, "soup before:2025") == ["Log/2024-01-05.md"]
    assert found(cortex, "after:2025") == ["2025-12-30.md", "2025-11-01 Fair.md"]
