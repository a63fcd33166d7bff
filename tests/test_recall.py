"""Earlier sessions by full text, out of databases that the host's own code has made."""

from __future__ import annotations

import datetime as dt
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cortex.config.inject import SessionsSourceConfig
from cortex.errors import Unavailable
from cortex.generated import Block, key, mark
from cortex.inject.sessions import SessionsSource
from cortex.inject.source import Ask, Recall
from cortex.records.recall import history, lineage
from host_sessions import DAY, SPRING, Home

pytest.importorskip("hermes_state")

ROOF = [
    ("user", "The gutter over the boathouse leaks again."),
    ("assistant", "Then the flashing wants solder; the boathouse gutter is copper."),
    ("user", "I will order solder tomorrow."),
]
BEES = [("user", "When do the hives swarm?"), ("assistant", "The hives swarm in the warm of May.")]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "hermes")


def asked(home: Home, message: str, session_id: str = "now", **settings: object) -> Recall:
    config = replace(SessionsSourceConfig(threshold=0.35), **settings)  # type: ignore[arg-type]
    now = time.monotonic()
    ask = Ask(message, True, session_id, home.folder, ("default", "custom"), SPRING, now + 3)
    (recall,) = SessionsSource(config).recall(ask)
    return recall


def sessions_of(recall: Recall) -> list[str]:
    return [item.id.split(":")[1] for item in recall.items]


def test_a_session_is_told_by_the_day_its_title_and_the_messages_on_what_was_asked(home: Home):
    home.session("roof", ROOF, title="Roof repair", began=SPRING)
    home.session("bees", BEES, title="Bees")
    recall = asked(home, "which gutter was leaking?")
    assert (recall.status, recall.answered_by) == ("ok", "fts")
    (item,) = recall.items
    assert (item.id, item.head) == ("session:roof:1.0+2.0", "Roof repair")
    assert item.label == time.strftime("%Y-%m-%d", time.localtime(SPRING))
    assert item.text == (
        "user: The gutter over the boathouse leaks again.\n"
        "assistant: Then the flashing wants solder; the boathouse gutter is copper."
    )


def test_words_are_found_in_other_forms_and_not_in_longer_words(home: Home):
    home.session("forms", [("user", "We were painting the hulls and happily varnished them.")])
    home.session("other", [("user", "The paintbrush and the hullabaloo of happenings.")])
    assert sessions_of(asked(home, "paint the hull")) == ["forms"]
    assert sessions_of(asked(home, "happy varnish")) == ["forms"]


def test_short_words_bring_no_session_in_but_rank_those_that_others_found(home: Home):
    home.session("dog", [("user", "The dog ate the biscuits.")])
    home.session("cat", [("user", "The cat ate the biscuits.")])
    assert asked(home, "dog cat").why == "no word of at least 4 characters to look for"
    assert asked(home, "a dog and a biscuit").items[0].head == "(untitled)"
    assert sessions_of(asked(home, "a dog and a biscuit"))[0] == "dog"
    assert sessions_of(asked(home, "dog", min_token_chars=3)) == ["dog"]


def test_the_conversation_that_asks_is_left_out_with_all_that_belongs_to_it(home: Home):
    home.session("first", ROOF)
    home.session("second", ROOF, parent_session_id="first")
    home.session("helper", ROOF, parent_session_id="second")
    home.session("sibling", ROOF, parent_session_id="first")
    home.session("elsewhere", ROOF)
    for own in ("first", "second", "helper", "sibling"):
        assert sessions_of(asked(home, "the leaking gutter", own)) == ["elsewhere"]
    everyone = frozenset({"first", "second", "helper", "sibling"})
    assert lineage(home.database, "helper") == everyone
    assert lineage(home.database, "unknown") == frozenset({"unknown"})


def test_what_only_asks_the_same_is_not_told_but_its_answer_is(home: Home):
    question = "Which paint has the hull?"
    home.session("noted", [("user", question), ("assistant", "Noted.")])
    home.session("unanswered", [("user", "What paint does the hull have?")])
    assert asked(home, question).status == "empty"
    home.session("answered", [("user", question), ("assistant", "It is Epifanes white.")])
    home.session(
        "stated",
        [
            ("user", "The hull got two coats."),
            ("assistant", "Good."),
            ("user", question),
            ("assistant", "Let me look."),
        ],
    )
    texts = {item.id.split(":")[1]: item.text for item in asked(home, question, top_k=4).items}
    assert texts == {
        "answered": "assistant: It is Epifanes white.",
        "stated": "user: The hull got two coats.\nassistant: Let me look.",
    }


def test_the_same_question_a_hundred_times_in_one_message_is_still_the_question(home: Home):
    home.session("loud", [("user", "Which paint has the hull? " * 100)])
    assert asked(home, "Which paint has the hull?").status == "empty"


def test_sessions_that_only_ask_the_same_hide_none_that_says_more(home: Home):
    question = "Which paint has the hull?"
    for number in range(20):
        home.session(f"s{number}", [("user", question), ("assistant", "OK.")] * 2)
    home.session("told", [("user", "The hull has Epifanes.")], began=SPRING - 900 * DAY)
    assert sessions_of(asked(home, question)) == ["told"]


def test_a_conversation_beside_counts_as_far_as_it_is_older_than_the_one_that_asks(home: Home):
    began = SPRING - 200
    home.session(
        "beside", [("user", "The mast is oak."), ("user", "The keel is lead.")], began=began
    )
    home.session("own", [("user", "Good morning.")], began=began + 30)  # the keel comes at 60
    mast, keel = "What is the mast made of?", "What is the keel made of?"
    assert sessions_of(asked(home, mast, "own")) == ["beside"]
    assert sessions_of(asked(home, keel, "own")) == []
    assert sessions_of(asked(home, keel, "one that begins now")) == ["beside"]
    home.sql("UPDATE messages SET timestamp = timestamp * 1000")
    assert sessions_of(asked(home, keel, "own")) == []
    home.sql("UPDATE messages SET timestamp = timestamp / 1000 - 600")  # nobody has talked since
    home.sql("UPDATE sessions SET started_at = started_at - 1200 WHERE id = 'own'")
    assert sessions_of(asked(home, keel, "own")) == ["beside"]
    home.sql("UPDATE messages SET timestamp = timestamp + 600")
    assert sessions_of(asked(home, keel, "own")) == []
    home.sql("UPDATE sessions SET ended_at = ? WHERE id = 'beside'", SPRING)
    assert sessions_of(asked(home, keel, "own")) == ["beside"]


def test_long_conversations_that_are_left_out_hide_none(
    home: Home, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("cortex.records.spoken.MAX_MESSAGES", 5)
    home.session("old", [("user", "The anchor weighs twelve kilos.")])
    home.session("own", [("user", "anchor and kilos")] * 9)
    home.session("theirs", [("user", "anchor and kilos")] * 9, profile_name="work")
    assert sessions_of(asked(home, "how many kilos is the anchor?", "own")) == ["old"]


@pytest.mark.parametrize(
    "message",
    [
        "How heavy is the anchor?",
        "remind me, anchor weight?",
        "Do you remember what I told you of the anchor earlier?",
        "Erinnerst du dich, was ich vorhin vom anchor gesagt habe?",
        "⚓ anchor 😀😀😀",
    ],
)
def test_a_natural_question_finds_the_only_session(home: Home, message: str):
    home.session("only", [("user", "The anchor has twelve kilos."), ("assistant", "Noted.")])
    assert sessions_of(asked(home, message)) == ["only"]


def test_stop_words_alone_and_one_word_of_many_bring_nothing(home: Home):
    home.session("only", [("user", "This is what it was, and the anchor is that.")])
    for message in ("what is this and who was that?", "does an anchor help against seasickness?"):
        assert sessions_of(asked(home, message)) == []


def test_a_damaged_full_text_table_is_none(home: Home):
    home.session("roof", ROOF)
    home.sql("DELETE FROM messages_fts_data")
    recall = asked(home, "the leaking gutter")
    assert (sessions_of(recall), recall.answered_by) == (["roof"], "like")


def test_parents_in_a_circle_end(home: Home):
    home.session("a", ROOF)
    home.session("b", ROOF, parent_session_id="a")
    home.sql("UPDATE sessions SET parent_session_id = 'b' WHERE id = 'a'")
    assert lineage(home.database, "a") == frozenset({"a", "b"})


def test_other_profiles_archived_sessions_and_excluded_platforms_stay_out(home: Home):
    home.session("own", ROOF, profile_name="default")
    home.session("nameless", ROOF)
    home.session("foreign", ROOF, profile_name="work")
    home.session("archived", ROOF)
    home.session("job", ROOF, source="Cron")
    home.sql("UPDATE sessions SET archived = 1 WHERE id = 'archived'")
    assert set(sessions_of(asked(home, "the leaking gutter"))) == {"own", "nameless"}
    found = sessions_of(asked(home, "the leaking gutter", exclude_sources=()))
    assert set(found) == {"own", "nameless", "job"}


def test_only_what_user_and_assistant_said_and_nobody_took_back_is_recalled(home: Home):
    home.session(
        "noise",
        [
            ("tool", "gutter leaks, says the tool"),
            ("user", "the gutter leaks, taken back"),
            ("user", "the gutter leaks, overheard"),
        ],
    )
    home.sql("UPDATE messages SET active = 0 WHERE content LIKE '%taken back'")
    home.sql("UPDATE messages SET observed = 1 WHERE content LIKE '%overheard'")
    assert asked(home, "does the gutter leak").status == "empty"


def test_the_arguments_of_a_tool_call_are_nothing_that_was_said(home: Home):
    from hermes_state import SessionDB

    home.session("calls", [("user", "Look it up.")])
    store = SessionDB(home.database)
    store.append_message("calls", "assistant", "One moment.", tool_calls=[{"q": "leaking gutter"}])
    store.close()
    assert asked(home, "the leaking gutter").status == "empty"


def test_what_cortex_itself_put_into_a_message_is_never_recalled(home: Home):
    frame = mark([Block("sessions", "the gutter leaks", (key("x"),))])
    home.session("framed", [("user", f"Good evening to the harbour.\n\n{frame}")])
    assert asked(home, "does the gutter leak").status == "empty"
    (item,) = asked(home, "harbour evening").items
    assert item.text == "user: Good evening to the harbour."


def test_messages_in_parts_are_read_and_pictures_are_not(home: Home):
    parts = [
        {"type": "text", "text": "This gutter is of copper."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 50_000}},
    ]
    home.session("parts", [("user", parts)])
    (item,) = asked(home, "copper gutter").items
    assert item.text == "user: This gutter is of copper."


def test_a_long_message_is_told_by_the_same_pieces_whatever_is_asked(home: Home):
    filler = "The tide came in and went out past the old lighthouse as it always had. " * 6
    text = f"The winch was greased in March. {filler}The anchor chain has ninety links."
    home.session("long", [("user", text)])
    (winch,) = asked(home, "when was the winch greased").items
    (again,) = asked(home, "the greased winch, please").items
    (anchor,) = asked(home, "anchor chain links").items
    assert (winch.id, winch.text) == (again.id, again.text)
    assert winch.id != anchor.id and winch.id.startswith("session:long:")
    assert "greased" in winch.text and "ninety links" in anchor.text
    assert len(anchor.text) <= 430


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("水族館は月曜日に休みます。", "水族館はいつ休みますか"),
        ("锅炉的压力是一点五巴。", "锅炉压力是多少"),
        ("보일러의 압력은 1.5 바입니다.", "보일러의 압력"),
        ("ความดันหม้อไอน้ำคือหนึ่งจุดห้าบาร์", "ความดันหม้อไอน้ำ"),
        ("Der Kesseldruck beträgt anderthalb Bar.", "Wie hoch ist der Kesseldruck?"),
        ("Давление в котле полтора бара.", "какое давление в котлах"),
    ],
)
@pytest.mark.parametrize("drop", ["", "messages_fts_trigram", "messages_fts"])
def test_every_script_is_found_also_without_the_tables_for_it(
    home: Home, said: str, question: str, drop: str
):
    home.session("said", [("user", said)])
    home.session("bees", BEES)
    if drop:
        _drop_tables(home, drop)
    recall = asked(home, question)
    assert sessions_of(recall) == ["said"]
    assert recall.items[0].text == f"user: {said}"


def _drop_tables(home: Home, prefix: str) -> None:
    with closing(sqlite3.connect(home.database)) as connection, connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE ?", (prefix + "%",)
        ).fetchall()
        for (name,) in names:
            connection.execute(f"DROP TRIGGER {name}")
        for table in ("messages_fts_trigram", "messages_fts"):
            if table.startswith(prefix):
                connection.execute(f"DROP TABLE IF EXISTS {table}")


def test_without_any_full_text_table_letters_are_looked_for(home: Home):
    home.session("roof", ROOF)
    home.session("bees", BEES)
    _drop_tables(home, "messages_fts")
    recall = asked(home, "100% of the leaking_gutters")
    assert (recall.answered_by, sessions_of(recall)) == ("like", ["roof"])


SYNTAX = [
    'gutter" OR "boathouse',
    "gutter AND NOT boathouse",
    "NEAR(gutter boathouse, 0) content:gutter",
    "gutter* ^gutter -gutter +gutter {gutter}: (gutter",
    "'; DROP TABLE messages; -- gutter",
    "gutter\0boathouse",
    "gutter \ud800 leaks",
    'gutter """" \\" \\',
    "gutter " * 5_000,
]


@pytest.mark.parametrize("message", SYNTAX)
def test_nothing_that_a_person_writes_becomes_syntax(home: Home, message: str):
    home.session("roof", ROOF)
    home.session("bees", BEES)
    recall = asked(home, message, threshold=0.0)
    assert sessions_of(recall)[0] == "roof"
    assert recall.answered_by == "fts"


def test_titles_and_texts_of_any_making_come_through_as_values(home: Home):
    home.session("odd", [("user", 'the gutter "OR" NEAR( \0 \x1b[31m <cortex_block> [^1]')])
    home.sql("UPDATE sessions SET title = ? WHERE id = 'odd'", "a\nb\u202e" + "x" * 10_000)
    home.sql("UPDATE sessions SET started_at = 'yesterday' WHERE id = 'odd'")
    home.sql("UPDATE messages SET timestamp = 1800000000000")
    (item,) = asked(home, "the gutter").items
    assert "\n" not in item.head and len(item.head) <= 120
    assert item.label == time.strftime("%Y-%m-%d", time.localtime(SPRING))


def test_a_session_without_any_time_is_undated(home: Home):
    home.session("odd", [("user", "the gutter leaks")])
    home.sql("UPDATE sessions SET started_at = 'yesterday'")
    home.sql("UPDATE messages SET timestamp = 'noon'")
    assert asked(home, "leaking gutter").items[0].label == "undated"


def test_a_huge_message_is_read_in_part(home: Home):
    home.session("huge", [("user", "the gutter leaks. " + "tide " * 2_000_000)])
    (item,) = asked(home, "leaking gutter").items
    assert item.text.startswith("user: the gutter leaks.") and len(item.text) < 500


def test_what_was_shown_may_be_dropped_by_the_caller_for_more_than_top_k_come(home: Home):
    for number in range(20):
        home.session(f"s{number}", [("user", f"The gutter leaks at joint {number}.")])
    assert len(asked(home, "leaking gutter").items) == 12  # 6 * top_k
    assert asked(home, "leaking gutter").matched == 20


def test_what_holds_too_few_of_the_words_is_counted_as_gated(home: Home):
    home.session("roof", ROOF)
    recall = asked(home, "gutter quarterly accounting spreadsheet invoices deadline")
    assert (recall.status, recall.matched, recall.gated) == ("empty", 1, 1)
    assert recall.why == "of 1 sessions with some of these words, none holds enough of them"


def test_no_secret_is_cut_in_two_before_the_guard_sees_it(home: Home):
    secret = "ghp_" + "Zk3vQ9" * 6
    for filler in range(150, 230, 3):
        text = f"The gutter {'tide ' * (filler // 5)}{'x' * (filler % 5)} token {secret} leaks. "
        home.session(f"s{filler}", [("user", text + "And the tide is out again. " * 20)])
    for item in asked(home, "gutter leaks token", threshold=0.0, top_k=20).items:
        assert secret in item.text or "ghp_" not in item.text


def test_history_is_what_the_host_would_tell_its_hooks(home: Home):
    from hermes_state import SessionDB

    home.session("talk", [("user", "first"), ("assistant", "answer"), ("tool", "output")])
    store = SessionDB(home.database)
    store.append_message("talk", "user", "second", api_content="second\n\nframe")
    store.append_message("talk", "user", [{"type": "text", "text": "third"}])
    store.close()
    home.sql("UPDATE messages SET active = 0 WHERE content = 'first'")
    assert history(home.database, "talk") == [
        {"role": "assistant", "content": "answer"},
        {"role": "tool", "content": ""},
        {"role": "user", "content": "second", "api_content": "second\n\nframe"},
        {"role": "user", "content": [{"type": "text", "text": "third"}]},
    ]
    assert history(home.database, "nobody") == []


def _view(home: Home) -> None:
    home.script(
        "DROP TABLE messages; CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL "
        "SELECT id + 1 FROM n) SELECT id, 'roof' AS session_id, 'user' AS role, "
        "'the gutter' AS content, 1 AS timestamp FROM n;"
    )


BREAKS: dict[str, tuple[Callable[[Home], None], str]] = {
    "no file": (lambda home: home.database.unlink(), "there is no database at"),
    "no database": (lambda home: _write(home, b"not a database, " * 400), "cannot be read"),
    "empty file": (lambda home: _write(home, b""), "no table sessions"),
    "a folder": (lambda home: _folder(home), "there is no database at"),
    "no column": (
        lambda home: home.script("ALTER TABLE messages RENAME COLUMN content TO body"),
        "messages has no content",
    ),
    "no table": (lambda home: home.script("DROP TABLE messages"), "no table messages"),
    "a view without end": (_view, "took too long"),
}


def _write(home: Home, data: bytes) -> None:
    for beside in ("-wal", "-shm"):
        home.database.with_name(f"state.db{beside}").unlink(missing_ok=True)
    home.database.write_bytes(data)


def _folder(home: Home) -> None:
    home.database.unlink()
    home.database.mkdir()


@pytest.mark.parametrize("name", BREAKS)
def test_a_database_that_cannot_be_read_is_a_status_with_a_reason(home: Home, name: str):
    home.session("roof", ROOF)
    change, why = BREAKS[name]
    if name == "no column":
        _drop_tables(home, "messages_fts")
    change(home)
    recall = asked(home, "the leaking gutter")
    assert (recall.status, recall.items) == ("unavailable", ())
    assert why in recall.why
    if name != "a view without end":  # it would take all of its five seconds
        with pytest.raises(Unavailable):
            history(home.database, "roof")


def test_a_view_in_place_of_the_full_text_table_is_not_asked(home: Home):
    home.session("roof", ROOF)
    _drop_tables(home, "messages_fts")
    home.script("CREATE VIEW messages_fts AS SELECT 1 AS rowid, 'gutter' AS content")
    recall = asked(home, "the leaking gutter")
    assert (recall.answered_by, sessions_of(recall)) == ("like", ["roof"])


def test_a_locked_database_is_given_up_soon(home: Home):
    home.session("roof", ROOF)
    with closing(sqlite3.connect(home.database)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        recall = asked(home, "the leaking gutter")
    assert recall.status == "unavailable" and "locked" in recall.why


def test_a_database_of_an_older_host_is_read_without_what_it_lacks(home: Home):
    home.script(
        "CREATE TABLE sessions (id TEXT, started_at REAL);"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT);"
        "INSERT INTO sessions VALUES ('old', 1800000000.0);"
        "INSERT INTO messages VALUES (1, 'old', 'user', 'the Gutter leaks');"
    )
    (item,) = asked(home, "leaking gutter").items
    assert (item.head, item.text) == ("(untitled)", "user: the Gutter leaks")


def test_the_database_is_left_as_it_was(home: Home):
    home.session("roof", ROOF)
    before = home.database.read_bytes()
    assert asked(home, "the leaking gutter").status == "ok"
    assert home.database.read_bytes() == before


def test_a_session_of_the_day_that_is_named_comes_first_and_holds_the_date(home: Home):
    june = dt.datetime(2026, 6, 3, 15).timestamp()
    home.session("march", [("user", "The gutter, the gutter: it leaks.")], began=june - 90 * DAY)
    home.session("june", [("user", "The gutter is mended.")], began=june)
    message = "what was said of the gutter on 3 June, 2026?"
    assert sessions_of(asked(home, message)) == ["june"]
    assert sessions_of(asked(home, message, threshold=0.0)) == ["june", "march"]
    assert sessions_of(asked(home, "and of the gutter on 5 March?"))[0] == "march"
    # On a day of which there is none, those of other days are better than nothing.
    other_day = asked(home, "what was said of the gutter on 7 October 2025?")
    assert set(sessions_of(other_day)) == {"june", "march"}
