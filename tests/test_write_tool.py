"""`vault_write_note`: there only when the owner wants it; previewed, confirmed, recorded."""

from __future__ import annotations

import datetime as dt
import errno
import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from conftest import CortexMaker
from cortex import Cortex, generated, plugin, registration
from cortex.errors import CortexError, UsageError
from cortex.files import create_below
from cortex.ops.agent_notes import preview, write_confirmed
from cortex.ops.notes import NewNote
from cortex.plugin import WRITE_SCHEMA
from host_driver import Ctx
from test_plugin import Asked, keywords

NOW = dt.datetime(2026, 3, 1, 14, 5, 30, tzinfo=dt.UTC)
NOTES = {
    "10_facts/Gauge.md": "# Gauge\nThe gauge stands at the pier.\n",
    "log.md": "# Log\n\n- begun",
}
NOTE = {"title": "Slate instead of tiles", "type": "decision", "body": "Slate lasts longer."}
WRITING = "tools: {write: true}\n"


@pytest.fixture
def ask(cortex_with: CortexMaker, tmp_path: Path) -> Asked:
    return Asked(cortex_with(NOTES, WRITING, build=False), tmp_path / "home")


def vault_of(ask: Asked) -> Path:
    vault = ask.runtime.cortex().config.vault.path
    assert vault is not None
    return vault


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_schema_describes_every_parameter_and_holds_only_what_every_provider_takes() -> None:
    taken = {"type", "description", "properties", "required", "additionalProperties", "items"}
    assert keywords(WRITE_SCHEMA["parameters"]) <= taken | {"enum", "default"}
    assert all(about["description"] for about in WRITE_SCHEMA["parameters"]["properties"].values())
    names = set(WRITE_SCHEMA["parameters"]["properties"])
    synonyms = plugin.SYNONYMS["vault_write_note"]
    assert set(synonyms.values()) <= names and not names & set(synonyms)
    assert len(json.dumps(WRITE_SCHEMA, separators=(",", ":"))) <= 2000


# Whether it is there


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What the host is given by a home whose config, and those of profiles, say this."""
    monkeypatch.delenv("CORTEX_CONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))

    def registered(config: str | None, profile: str | None = None) -> dict[str, Any]:
        (tmp_path / "vault").mkdir(exist_ok=True)
        for place, settings in (("home", config), ("home/profiles/work", profile)):
            file = tmp_path / place / "cortex" / "config.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
            if settings is not None:
                file.write_text(f"vault: {{path: '{tmp_path}/vault'}}\n{settings}")
        registration._runtime.cache_clear()
        ctx = Ctx()
        registration.register(ctx)
        return ctx.tools

    yield registered
    registration._runtime.cache_clear()
    os.environ.pop(registration.SPEAKS, None)


@pytest.mark.parametrize(
    "config",
    [None, "", "tools: {write: false}\n", "tools:\n  # write: true\n  max_result_chars: 4000\n"],
)
def test_by_default_it_does_not_exist(registered: Any, config: str | None) -> None:
    assert list(registered(config)) == ["vault_search", "vault_read_note", "vault_build_context"]


@pytest.mark.parametrize(
    "config", [WRITING, "tools:\n  write: true\n", '"tools": {"write": true}\n']
)
def test_it_is_there_when_the_settings_say_so(registered: Any, config: str, tmp_path: Path) -> None:
    tools = registered(config)
    about = tools["vault_write_note"]
    assert about["schema"] is WRITE_SCHEMA
    assert about["toolset"] == "cortex"
    assert about["check_fn"]() is True
    # Turned off meanwhile: the next list of tools goes by the settings as they are.
    file = tmp_path / "home" / "cortex" / "config.yaml"
    file.write_text(file.read_text().replace("true", "false"))
    assert about["check_fn"]() is False


def test_one_profile_that_writes_gives_it_to_no_other(registered: Any, tmp_path: Path) -> None:
    about = registered("", profile=WRITING)["vault_write_note"]
    assert about["check_fn"]() is False
    answer = json.loads(about["handler"](NOTE, session_id="s"))
    assert answer["success"] is False
    assert answer["error"].startswith("writing notes is off; ")
    assert files(tmp_path / "vault") == set()


def test_a_broken_config_offers_nothing_and_raises_nothing(registered: Any) -> None:
    about = registered("tools: {write: true, x: 1}\n")["vault_write_note"]
    assert about["check_fn"]() is False


# Preview and write


def test_a_preview_writes_nothing_and_its_confirm_writes_that_very_note(ask: Asked) -> None:
    vault, state = vault_of(ask), ask.runtime.cortex().config.state
    before = files(vault) | files(state)
    shown = ask("vault_write_note", NOTE)
    assert shown["success"] is True and shown["written"] is False
    # Of the canonical folders one is there, so notes go by their type.
    assert shown["note"] == "20_decisions/Slate instead of tiles.md"
    assert shown["warnings"] == ["the folder 20_decisions is made for it"]
    assert shown["text"].endswith("\n# Slate instead of tiles\n\nSlate lasts longer.\n")
    assert files(vault) | files(state) == before

    done = ask("vault_write_note", {**NOTE, "confirm": shown["confirm"]}, session_id="s1")
    assert (done["written"], done["note"], done["searched"]) == (True, shown["note"], True)
    assert done["next"] == "to find it by searching, run: hermes cortex index"
    text = (vault / done["note"]).read_text("utf-8")
    assert text == shown["text"]

    (line,) = (state / "writes.jsonl").read_text("utf-8").splitlines()
    record = json.loads(line)
    assert dt.datetime.fromisoformat(record.pop("time")).tzinfo is not None
    assert record == {
        "event": "note_write",
        "path": done["note"],
        "type": "decision",
        "bytes": len(text.encode()),
        "sha256": sha256(text.encode()).hexdigest(),
        "session": "s1",
        "platform": "local",
    }
    last = (vault / "log.md").read_text("utf-8").splitlines()
    assert last[:3] == ["# Log", "", "- begun"] and len(last) == 4
    assert last[3].endswith(f' note mode=agent status=ok written=1 paths=["{done["note"]}"]')


def test_of_a_note_that_is_not_searched_no_index_is_promised(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    settings = f"vault: {{path: '{tmp_path}/vault', exclude_folders: [00_inbox]}}\n{WRITING}"
    ask = Asked(cortex_with(NOTES, settings, build=False), tmp_path / "home")
    note = {**NOTE, "type": "note"}
    done = ask("vault_write_note", {**note, "confirm": ask("vault_write_note", note)["confirm"]})
    assert (done["note"], done["searched"]) == ("00_inbox/Slate instead of tiles.md", False)
    assert done["next"] == (
        "tell the user its path: the settings leave that folder out of searches"
    )


def test_what_was_not_previewed_is_not_written(ask: Asked) -> None:
    confirm = ask("vault_write_note", NOTE)["confirm"]
    before = files(vault_of(ask))
    for changed, said in (
        ({"body": "Tiles, after all."}, "this is not the note that was previewed"),
        ({"title": "Tiles"}, "this is not the note that was previewed"),
        ({"confirm": confirm[:-1] + ("0" if confirm[-1] != "0" else "1")}, "this is not the note"),
        ({"confirm": "yes"}, "confirm is not what a preview gave"),
        ({"confirm": "99999999T999999Z-0123456789abcdef"}, "confirm is not what a preview gave"),
    ):
        error = ask.error("vault_write_note", {**NOTE, "confirm": confirm, **changed})
        assert error.startswith(said) and "call it without confirm for a new preview" in error
    assert files(vault_of(ask)) == before


def test_a_note_that_is_there_is_never_written_over(ask: Asked) -> None:
    confirm = ask("vault_write_note", NOTE)["confirm"]
    assert ask("vault_write_note", {**NOTE, "confirm": confirm})["written"] is True
    for again in ({**NOTE, "confirm": confirm}, NOTE, {**NOTE, "title": NOTE["title"].upper()}):
        assert "Slate instead of tiles.md is there already" in ask.error("vault_write_note", again)
    title = {"title": "gauge", "type": "fact", "body": "x"}
    assert "10_facts/Gauge.md is there already" in ask.error("vault_write_note", title)


def test_a_preview_is_good_for_an_hour_also_with_a_template_that_tells_the_time(
    tmp_path: Path,
) -> None:
    (tmp_path / "vault" / "80_templates").mkdir(parents=True)
    template = "---\ntype: note\n---\n# {{title}}\n"
    (tmp_path / "vault" / "80_templates" / "note-note.md").write_text(
        template.replace("type: note", "type: note\nat: {{date}} {{time}}")
    )
    vault, state, wanted = tmp_path / "vault", tmp_path / "state", NewNote("Slate", body="x")
    confirm = preview(vault, wanted, NOW).confirm
    for minutes in (-2, 61):
        later = NOW + dt.timedelta(minutes=minutes)
        with pytest.raises(UsageError, match="that preview is too old"):
            write_confirmed(vault, state, wanted, confirm, later, {})
    later = NOW + dt.timedelta(minutes=59)
    note, unlogged = write_confirmed(vault, state, wanted, confirm, later, {})
    assert '\nat: "2026-03-01 14:05"\n' in (vault / note.path).read_text()
    assert unlogged == ""  # there is no log.md, and none is made
    assert not (vault / "log.md").exists()


def test_arguments_are_taken_as_models_give_them(ask: Asked) -> None:
    shown = ask(
        "vault_write_note",
        {
            "name": "Ada",
            "content": "Repairs clocks.",
            "kind": "PERSON",
            "tags": "clock, #x",
            "frontmatter": '{"importance": 4, "aliases": ["A."], "met": "2026-02-01"}',
            "confirm": None,
        },
    )
    assert shown["note"] == "50_people/Ada.md"
    for line in ("tags: [clock, x]", "importance: 4", "aliases: [A.]", "met: 2026-02-01"):
        assert f"\n{line}\n" in shown["text"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"title": ""}, "title is empty"),
        ({"body": " "}, "body is empty"),
        ({"type": "idea"}, "type must be fact or decision"),
        ({"title": "../../etc/x"}, "cannot hold '/'"),
        ({"folder": "../out"}, "leads out of the vault"),
        ({"folder": ".obsidian"}, "is hidden from searches"),
        ({"folder": "10_fact"}, "there is no folder 10_fact in the vault; did you mean 10_facts?"),
        ({"folder": "80_templates"}, "80_templates is not for notes"),
        ({"folder": "raw/articles"}, "raw/articles is not for notes"),
        ({"properties": {"status": "donne"}}, "the note would not be valid: line "),
        ({"tags": [["a"]]}, "tags must be a list of texts"),
        ({"overwrite": True}, "no argument 'overwrite'"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_written(
    ask: Asked, changed: dict[str, Any], said: str
) -> None:
    (vault_of(ask) / "raw" / "articles").mkdir(parents=True)
    before = files(vault_of(ask))
    assert said in ask.error("vault_write_note", {**NOTE, **changed})
    assert files(vault_of(ask)) == before


def test_secrets_are_refused_by_line_and_never_said_again(ask: Asked) -> None:
    key = "ghp_" + "a1B2" * 9
    for changed in (
        {"body": f"The key:\n\n{key}\n"},
        {"properties": {"api_key": "hunter2-Zx9"}},
    ):
        answer = ask.raw("vault_write_note", {**NOTE, **changed})
        assert json.loads(answer)["error"].startswith("this looks like a secret: ")
        assert " in line " in answer
        assert key not in answer and "hunter2" not in answer
    assert not (ask.runtime.cortex().config.state / "writes.jsonl").exists()


def test_what_cortex_itself_put_into_the_conversation_does_not_come_back_as_a_note(
    ask: Asked,
) -> None:
    told = generated.mark([generated.Block("dynamic_context", "The gauge stands at the pier.", ())])
    shown = ask("vault_write_note", {**NOTE, "body": f"Slate lasts.\n\n{told}"})
    assert "Slate lasts." in shown["text"] and "pier" not in shown["text"]
    error = ask.error("vault_write_note", {**NOTE, "body": told})
    assert error.startswith("the body holds nothing but what Cortex itself had put there")


def test_strangers_may_not_write(ask: Asked) -> None:
    ask.runtime.note_session("w", "webhook")
    error = ask.error("vault_write_note", NOTE, session_id="w")
    assert error.startswith("the vault is not open to this session: webhook sessions")


def test_a_long_preview_is_cut_and_the_whole_note_is_written(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    settings = "tools: {write: true, max_result_chars: 4000}\n"
    ask = Asked(cortex_with(NOTES, settings, build=False), tmp_path / "home")
    note = {**NOTE, "body": 'A "line".\n' * 900}
    answer = ask.raw("vault_write_note", note)
    assert len(answer) <= 4000
    shown = json.loads(answer)
    assert shown["text_is_cut"] is True
    done = ask("vault_write_note", {**note, "confirm": shown["confirm"]})
    text = (vault_of(ask) / done["note"]).read_text()
    assert text.count('A "line".') == 900 and text.startswith(shown["text"])


def test_a_write_that_cannot_be_recorded_is_not_made(ask: Asked) -> None:
    confirm = ask("vault_write_note", NOTE)["confirm"]
    (ask.runtime.cortex().config.state / "writes.jsonl").mkdir()
    before = files(vault_of(ask))
    error = ask.error("vault_write_note", {**NOTE, "confirm": confirm})
    assert error.startswith("the record of writes, writes.jsonl, cannot be written: ")
    assert files(vault_of(ask)) == before


@pytest.mark.parametrize("taken", [0, 40])
def test_a_full_disk_leaves_no_note_that_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    vault, state, wanted = tmp_path / "vault", tmp_path / "state", NewNote("Slate", body="x")
    vault.mkdir()
    confirm = preview(vault, wanted, NOW).confirm
    opened = os.fdopen

    class Full:
        """A file that takes no more than so many bytes."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, content: bytes) -> int:
            if not taken:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return int(self.file.write(content[:taken]))

    with monkeypatch.context() as full:
        full.setattr(os, "fdopen", lambda *how, **more: Full(opened(*how, **more)))
        with pytest.raises(CortexError, match=r"writes\.jsonl, cannot be written: No space left"):
            write_confirmed(vault, state, wanted, confirm, NOW, {})
    assert files(vault) == set()
    note, _ = write_confirmed(vault, state, wanted, confirm, NOW, {})
    lines = (state / "writes.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == (2 if taken else 1)  # the piece of a line is not part of the next
    assert json.loads(lines[-1])["path"] == note.path


def test_a_note_that_could_not_be_made_is_recorded_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, state, wanted = tmp_path / "vault", tmp_path / "state", NewNote("Slate", body="x")
    vault.mkdir()
    confirm = preview(vault, wanted, NOW).confirm
    with monkeypatch.context() as full:
        full.setattr("cortex.ops.notes.create_below", refused)
        with pytest.raises(OSError, match="No space left"):
            write_confirmed(vault, state, wanted, confirm, NOW, {"session": "s"})
    assert files(vault) == set()
    records = [json.loads(line) for line in (state / "writes.jsonl").read_text().splitlines()]
    assert [record.pop("event") for record in records] == ["note_write", "note_write_failed"]
    assert records[0] == records[1]


def refused(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_note_that_stands_is_told_as_written_whatever_the_system_says_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, state, wanted = tmp_path / "vault", tmp_path / "state", NewNote("Slate", body="x")
    vault.mkdir()
    confirm = preview(vault, wanted, NOW).confirm

    def made_then_refused(root: Path, path: str, content: bytes) -> None:
        create_below(root, path, content)
        refused()

    monkeypatch.setattr("cortex.ops.notes.create_below", made_then_refused)
    note, _ = write_confirmed(vault, state, wanted, confirm, NOW, {})
    assert (vault / note.path).read_text("utf-8") == note.text
    (line,) = (state / "writes.jsonl").read_text().splitlines()
    assert json.loads(line)["event"] == "note_write"


@pytest.mark.skipif(os.link not in os.supports_dir_fd, reason="notes are made another way there")
def test_without_hard_links_a_full_disk_leaves_no_half_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = os.fsync
    calls = iter([synced, refused])
    monkeypatch.setattr(os, "link", refused)
    monkeypatch.setattr(os, "fsync", lambda file: next(calls)(file))
    with pytest.raises(OSError, match="No space left"):
        create_below(tmp_path, "a.md", b"whole")
    assert files(tmp_path) == set()


def test_it_can_be_called_from_python(ask: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    cortex: Cortex = ask.runtime.cortex()
    monkeypatch.setenv("CORTEX_CONFIG", str(cortex.config.path))
    monkeypatch.setenv("HERMES_HOME", str(cortex.config.state))
    plugin._tools.cache_clear()
    try:
        assert json.loads(plugin.vault_write_note(NOTE))["written"] is False
    finally:
        plugin._tools.cache_clear()
