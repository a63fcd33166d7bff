"""Sessions and drafts out of a database that the real Hermes Agent made."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from host_driver import CHECKOUT
from test_host import SETTINGS, asked, built, calls, configure, opened

__all__ = ["built", "opened"]  # fixtures

pytestmark = [
    pytest.mark.host,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the driver's hermes is a script of a POSIX system"),
]

WISH = "Please remember that the ladder belongs to Mr Aalto."
ASIDE = "We decided to sell the old hive in autumn. Where do wasps nest?"


def told(run: Any) -> Any:
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def sessions(built: Path, opened: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two turns with a tool call in one home, another session in a profile of it, and what Cortex
    says of both.
    """
    home = tmp_path_factory.mktemp("sessions") / "home"
    shutil.copytree(built, home, symlinks=True, ignore=shutil.ignore_patterns("state.db*", "logs"))
    file = home / "cortex" / "config.yaml"
    file.write_text(file.read_text("utf-8").replace(str(built), str(home)), "utf-8")
    work = home / "profiles" / "work"
    configure(work, SETTINGS)
    (work / "plugins").mkdir()
    (work / "plugins" / "cortex").symlink_to(CHECKOUT)
    seen: dict[str, Any] = {"home": home}
    with opened(home, calls(("vault_search", {"query": "ladder"}))) as host:
        first = host.turn(WISH)
        asked(first)
        seen["session"] = first.session_id
        asked(host.turn(ASIDE, resume=first.session_id))
        shutil.copy(home / "config.yaml", work / "config.yaml")
        host.llm.script = []
        asked(host.hermes("-p", "work", "chat", "-Q", "-q", "Remember that work is a profile."))
        before = (home / "state.db").read_bytes()
        seen["root"] = told(host.hermes("cortex", "session-sources", "--json", "--messages"))
        seen["work"] = told(
            host.hermes("-p", "work", "cortex", "session-sources", "--json", "--messages")
        )
        seen["drafts"] = told(host.hermes("cortex", "lifecycle", "candidates", "--write", "--json"))
        seen["again"] = told(host.hermes("cortex", "lifecycle", "candidates", "--write", "--json"))
        seen["is_untouched"] = (home / "state.db").read_bytes() == before
    return seen


def test_the_hosts_own_database_is_read(sessions):
    report = sessions["root"]
    assert report["source_backend_primary"] == "state_db"
    assert report["state_db_path"] == str(sessions["home"] / "state.db")
    assert isinstance(report["state_db_schema_version"], int)
    assert report["errors"] == [] and report["fallback_used"] is False
    assert report["skipped"]["tool_or_non_chat_messages"] == 1
    (row,) = report["sessions"]
    assert row["session_id"] == sessions["session"]
    assert row["metadata"]["session_source"] == "cli"
    users = [m["content"] for m in row["messages"] if m["role"] == "user"]
    assert users == [WISH, ASIDE]  # without what Cortex put behind them


def test_a_profile_reads_its_own(sessions):
    (row,) = sessions["work"]["sessions"]
    users = [m["content"] for m in row["messages"] if m["role"] == "user"]
    assert users == ["Remember that work is a profile."]


def test_drafts_are_made_once(sessions):
    drafts = sessions["drafts"]["candidates"]
    assert [(one["kind"], one["quote"]) for one in drafts] == [
        ("remember", WISH),
        ("decision", "We decided to sell the old hive in autumn."),
    ]
    for one in drafts:
        text = (sessions["home"] / "vault" / one["file"]).read_text("utf-8")
        assert f"session {sessions['session']}" in text
    assert sessions["again"]["candidates"] == []
    assert sessions["again"]["skipped"]["known_already"] == 2


def test_what_a_subagent_or_a_job_is_told_gives_no_draft(
    built: Path, opened: Any, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    shutil.copytree(built, home, symlinks=True, ignore=shutil.ignore_patterns("state.db*", "logs"))
    file = home / "cortex" / "config.yaml"
    file.write_text(file.read_text("utf-8").replace(str(built), str(home)), "utf-8")
    errand = {"goal": "Remember that the red door is the subagent's.", "context": "None."}
    with opened(home, calls(("delegate_task", errand))) as host:
        host.turn(WISH)
        host.llm.script = []
        host.hermes(
            "cron", "create", "every 2h", "Remember that the moon is square.", "--name=mine"
        )
        host.hermes("cron", "run", "mine")
        report = told(host.hermes("cortex", "session-sources", "--json"))
        drafts = told(host.hermes("cortex", "lifecycle", "candidates", "--json"))
        named = told(
            host.hermes("cortex", "lifecycle", "candidates", "--json", "--platform=subagent")
        )
    assert report["sessions_selected_by_source"] == {"cli": 1, "cron": 1, "subagent": 1}
    (child,) = (s for s in report["sessions"] if s["metadata"]["session_source"] == "subagent")
    (chat,) = (s for s in report["sessions"] if s["metadata"]["session_source"] == "cli")
    assert child["metadata"]["parent_session_id"] == chat["session_id"]
    assert [one["quote"] for one in drafts["candidates"]] == [WISH]
    assert drafts["skipped"] == {"sessions_of_excluded_platforms": 2}
    assert [one["session_id"] for one in named["candidates"]] == [child["session_id"]]


def test_the_database_is_not_written_to(sessions):
    assert sessions["is_untouched"]
    with sqlite3.connect(sessions["home"] / "state.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
