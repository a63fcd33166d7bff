"""vault_write_note in the real Hermes Agent: absent by default, and written when it is on."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from host_driver import CHECKOUT
from test_host import asked, calls, configure, opened, results

__all__ = ["opened"]  # a fixture

pytestmark = [
    pytest.mark.host,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the driver's hermes is a script of a POSIX system"),
]

NOTE = {"title": "Slate instead of tiles", "type": "decision", "body": "Slate lasts longer."}
SETTINGS = "embeddings: {model: hashing}\n"


def offered(host) -> list[str]:
    return [tool["function"]["name"] for tool in host.llm.main_requests[-1]["tools"]]


def test_by_default_the_model_is_not_offered_it_and_a_call_writes_nothing(tmp_path, opened):
    configure(tmp_path, SETTINGS)
    with opened(tmp_path, calls(("vault_write_note", NOTE))) as host:
        asked(host.turn("Write down that we take slate."))
        assert "vault_search" in offered(host)
        assert "vault_write_note" not in offered(host)
        (answer,) = results(host)  # the host takes it for the tool of the nearest name
    assert answer["success"] is False and "no argument" in answer["error"]
    assert sorted(file.name for file in (tmp_path / "vault").rglob("*")) == [
        "bees.md",
        "honey.md",
        "wasps.md",
    ]
    log = (tmp_path / "logs" / "agent.log").read_text("utf-8")
    assert "may_write" not in log  # nor is the host told a no, which it would log each time


def test_when_it_is_on_a_note_is_previewed_confirmed_written_and_found(tmp_path, opened):
    configure(tmp_path, f"{SETTINGS}tools: {{write: true}}\n")
    with opened(tmp_path, calls(("vault_write_note", NOTE))) as host:
        first = host.turn("Write down that we take slate.")
        asked(first)
        assert "vault_write_note" in offered(host)
        (shown,) = results(host)
        assert (shown["success"], shown["written"]) == (True, False)
        note = tmp_path / "vault" / "Slate instead of tiles.md"
        assert not note.exists()

        confirmed = {**NOTE, "confirm": shown["confirm"]}
        host.llm.script.extend(calls(("vault_write_note", confirmed), ("vault_write_note", NOTE)))
        asked(host.turn("Yes, write it.", resume=first.session_id))
        *_, done, again = results(host)
        assert (done["success"], done["written"], done["note"]) == (True, True, note.name)
        assert note.read_text("utf-8") == shown["text"]
        assert again["success"] is False and "is there already" in again["error"]

        (line,) = (tmp_path / "cortex" / "writes.jsonl").read_text("utf-8").splitlines()
        record = json.loads(line)
        assert (record["session"], record["platform"]) == (first.session_id, "cli")
        assert host.hermes("cortex", "index").returncode == 0
        assert "Slate instead of tiles.md" in host.hermes("cortex", "search", "slate").stdout


def test_a_profile_beside_one_that_writes_does_not(tmp_path, opened):
    configure(tmp_path, f"{SETTINGS}tools: {{write: true}}\n")
    work = tmp_path / "profiles" / "work"
    configure(work, SETTINGS)
    (work / "plugins").mkdir()
    (work / "plugins" / "cortex").symlink_to(CHECKOUT)
    with opened(tmp_path, calls(("vault_search", {"query": "bees"}))) as host:
        shutil.copy(tmp_path / "config.yaml", work / "config.yaml")
        asked(host.hermes("-p", "work", "chat", "-Q", "-q", "What of the bees?"))
        assert "vault_search" in offered(host)
        assert "vault_write_note" not in offered(host)
