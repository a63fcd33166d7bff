"""What a process of the host keeps: whose settings count, and whose session it is."""

from __future__ import annotations

import contextvars
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cortex.errors import ConfigError
from cortex.home import hermes_home
from cortex.platforms import Session, refusal
from cortex.runtime import MAX_ENGINES, Runtime

LISTS = ("TELEGRAM_ALLOWED_USERS", "GATEWAY_ALLOWED_USERS", "CORTEX_CONFIG", "HERMES_CRON_SESSION")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name in LISTS or name.startswith("HERMES_SESSION"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "default"))
    for module in ("hermes_constants", "agent.secret_scope", "gateway.session_context"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.delitem(sys.modules, "gateway.run", raising=False)


def profile(home: Path, note: str) -> Path:
    """A home whose vault has one note."""
    (home / "vault").mkdir(parents=True)
    (home / "vault" / f"{note}.md").write_text(f"# {note}\n", "utf-8")
    (home / "cortex").mkdir()
    (home / "cortex" / "config.yaml").write_text(f"vault: {{path: '{home / 'vault'}'}}\n", "utf-8")
    return home


class Host:
    """What the host keeps for each context: the profile's home and secrets, and who writes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home: contextvars.ContextVar[str] = contextvars.ContextVar("home")
        self.secrets: contextvars.ContextVar[dict[str, str] | None]
        self.secrets = contextvars.ContextVar("secrets", default=None)
        self.message: contextvars.ContextVar[dict[str, str] | None]
        self.message = contextvars.ContextVar("message", default=None)
        modules = {
            "hermes_constants": SimpleNamespace(
                get_hermes_home=lambda: Path(self.home.get(os.environ["HERMES_HOME"].strip()))
            ),
            "agent.secret_scope": SimpleNamespace(current_secret_scope=self.secrets.get),
            "gateway.session_context": SimpleNamespace(
                get_session_env=lambda name: (self.message.get() or os.environ).get(name, "")
            ),
        }
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)

    def writes(self, platform: str, user: str) -> None:
        self.message.set({"HERMES_SESSION_PLATFORM": platform, "HERMES_SESSION_USER_ID": user})


@pytest.fixture
def host(monkeypatch) -> Host:
    return Host(monkeypatch)


@pytest.fixture
def gateway(host, monkeypatch) -> Host:
    """The process serves other people."""
    monkeypatch.setitem(sys.modules, "gateway.run", SimpleNamespace())
    return host


# Settings


def test_without_a_config_the_error_says_what_to_run():
    with pytest.raises(ConfigError, match="run: cortex init --vault PATH"):
        Runtime().cortex()


@pytest.mark.skipif(os.name == "nt", reason="a folder that is in use cannot be removed there")
def test_a_process_whose_working_folder_is_gone_goes_on(tmp_path, monkeypatch):
    profile(tmp_path / "default", "bees")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert Runtime().cortex().config.vault.path == tmp_path / "default" / "vault"


def test_settings_are_read_again_when_their_file_changes(tmp_path):
    home = profile(tmp_path / "default", "bees")
    runtime = Runtime()
    first = runtime.cortex()
    assert runtime.cortex() is first
    file = home / "cortex" / "config.yaml"
    file.write_text(file.read_text("utf-8") + "search: {top_k: 3}\n", "utf-8")
    assert runtime.cortex().config.search.top_k == 3
    assert not runtime.cortex().config.inject.enabled
    told = "inject: {enabled: true, max_overlap: 0.5, closers: [jau], vault: {top_k: 7}}\n"
    file.write_text(file.read_text("utf-8") + told, "utf-8")
    inject = runtime.cortex().config.inject
    assert (inject.enabled, inject.max_overlap, inject.closers) == (True, 0.5, ("jau",))
    assert (inject.vault.top_k, inject.fabric.top_k) == (7, 3)
    file.write_text("search: {top_k: none}\n", "utf-8")
    with pytest.raises(ConfigError, match="top_k must be a whole number"):
        runtime.cortex()
    file.unlink()
    with pytest.raises(ConfigError, match="no config yet"):
        runtime.cortex()


def test_the_settings_say_what_goes_into_the_log(tmp_path):
    home = profile(tmp_path / "default", "bees")
    file = home / "cortex" / "config.yaml"
    for level in ("warning", "info"):
        text = file.read_text("utf-8").partition("logging:")[0]
        file.write_text(f"{text}logging: {{level: {level}}}\n", "utf-8")
        Runtime().cortex()
        assert logging.getLogger("cortex.hooks").isEnabledFor(logging.INFO) is (level == "info")


def test_each_profile_has_its_own_settings_and_vault_in_one_process(host, tmp_path):
    for name, note in (("default", "bees"), ("profiles/work", "wasps")):
        profile(tmp_path / name, note)
    runtime = Runtime()

    def notes(home: Path | None) -> list[str]:
        if home is not None:
            host.home.set(str(home))
        cortex = runtime.cortex()
        assert cortex.config.vault.path is not None
        return [path.name for path in cortex.config.vault.path.iterdir()]

    told = {
        name: contextvars.copy_context().run(notes, home)
        for name, home in (("default", None), ("work", tmp_path / "profiles" / "work"))
    }
    assert told == {"default": ["bees.md"], "work": ["wasps.md"]}


def test_commands_name_the_profile_that_is_asking(host, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / ".hermes"))
    runtime = Runtime()
    assert runtime.program() == "hermes cortex"
    host.home.set(str(tmp_path / ".hermes" / "profiles" / "work"))
    assert runtime.program() == "hermes -p work cortex"


def test_another_profile_without_a_config_does_not_get_that_of_the_process(
    host, tmp_path, monkeypatch
):
    home = profile(tmp_path / "default", "bees")
    monkeypatch.setenv("CORTEX_CONFIG", str(home / "cortex" / "config.yaml"))
    runtime = Runtime()
    runtime.cortex()
    host.home.set(str(tmp_path / "profiles" / "new"))
    with pytest.raises(ConfigError, match="no config yet"):
        runtime.cortex()


def test_another_profiles_allow_lists_are_its_own(gateway, tmp_path, monkeypatch):
    monkeypatch.setenv("TELEGRAM_ALLOWED_USERS", "111")
    runtime = Runtime()

    def admitted(user: str) -> bool:
        session = Session("s", "telegram", user)
        told = refusal(("paired",), session, runtime.home(), runtime.environment())
        return told is None

    assert admitted("111")
    gateway.home.set(str(tmp_path / "profiles" / "work"))
    assert not admitted("111")
    gateway.secrets.set({"TELEGRAM_ALLOWED_USERS": "222"})
    assert admitted("222") and not admitted("111")


def test_another_profile_does_not_get_the_keys_of_the_process(host, tmp_path, monkeypatch):
    secrets = ("EMBEDDINGS_API_KEY", "HF_TOKEN", "Their_Secret", "DB_PASSWORD")
    for name in secrets:
        monkeypatch.setenv(name, "of the default profile")
    monkeypatch.setenv("NOTES", "/notes")  # for `vault: {path: $NOTES}`
    runtime = Runtime()
    assert set(secrets) <= runtime.environment().keys()
    host.home.set(str(tmp_path / "profiles" / "work"))
    host.secrets.set({"HF_TOKEN": "its own"})
    env = runtime.environment()
    assert {name: env.get(name) for name in secrets} == {
        **dict.fromkeys(secrets),
        "HF_TOKEN": "its own",
    }
    assert (env["NOTES"], env["HERMES_HOME"]) == ("/notes", str(tmp_path / "profiles" / "work"))


@pytest.mark.parametrize(
    "spelling", ["{}/default/", "{}/default/../default", "default", " {}/default "]
)
def test_the_home_of_the_process_is_its_own_however_it_is_spelt(
    spelling, host, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_HOME", spelling.format(tmp_path))
    monkeypatch.setenv("TELEGRAM_ALLOWED_USERS", "111")
    env = Runtime().environment()
    assert env["TELEGRAM_ALLOWED_USERS"] == "111"
    assert env["HERMES_HOME"] == str(tmp_path / "default")


def test_without_a_home_that_is_named_it_is_where_the_host_has_its_own(tmp_path, monkeypatch):
    assert hermes_home({"HOME": "/home/ada"}) == Path("/home/ada/.hermes")
    assert hermes_home({"HOME": "/home/ada", "HERMES_HOME": " "}) == Path("/home/ada/.hermes")
    monkeypatch.setattr(sys, "platform", "win32")
    assert hermes_home({"LOCALAPPDATA": str(tmp_path)}) == tmp_path / "hermes"


def test_engines_that_were_not_used_lately_are_let_go(tmp_path):
    env: dict[str, str] = {}
    runtime = Runtime(env)
    made = []
    for number in range(MAX_ENGINES + 1):
        env["HERMES_HOME"] = str(profile(tmp_path / str(number), "bees"))
        made.append(runtime.cortex())
    env["HERMES_HOME"] = str(tmp_path / "0")
    assert runtime.cortex() is not made[0]
    env["HERMES_HOME"] = str(tmp_path / str(MAX_ENGINES))
    assert runtime.cortex() is made[MAX_ENGINES]


# Sessions


def test_outside_the_host_a_session_is_local():
    assert Runtime({}).session("x").platform == "local"
    assert Runtime({}).session("").platform == "local"


def test_a_session_is_what_its_hook_said_until_it_is_forgotten(host):
    runtime = Runtime()
    runtime.note_session("s", "telegram", "111")
    assert runtime.session("s") == Session("s", "telegram", "111")
    runtime.forget_session("s")
    assert runtime.session("s").platform == "local"


def test_in_a_process_that_serves_others_an_unknown_session_is_unknown(gateway, monkeypatch):
    assert Runtime().session("x").platform == "unknown"


def test_a_session_for_which_the_gateway_names_no_platform_is_not_the_owners(gateway, tmp_path):
    # So the host answers comments that anybody writes on a shared document.
    runtime = Runtime()
    runtime.note_session("comment", "", "")
    assert refusal(("local", "paired"), runtime.session("comment"), tmp_path, {}) is not None


def test_in_a_process_of_cron_jobs_a_renamed_session_is_not_local(host, monkeypatch):
    monkeypatch.setenv("HERMES_CRON_SESSION", "1")
    assert Runtime().session("20260101_120000_abc123").platform == "unknown"


def test_who_writes_in_a_shared_chat_is_the_sender_of_this_message(gateway):
    # The host hands hooks the sender that its agent was made for, and keeps agents.
    runtime = Runtime()
    gateway.writes("telegram", "222")
    runtime.note_session("chat", "telegram", "111")
    assert runtime.session("chat").sender == "222"
    gateway.writes("telegram", "")
    runtime.note_session("chat", "telegram", "111")
    assert runtime.session("chat").sender == ""


def test_an_api_client_that_names_the_owners_session_is_still_an_api_client(gateway):
    runtime = Runtime()
    gateway.writes("telegram", "111")
    runtime.note_session("s", "telegram", "111")
    gateway.writes("api_server", "")
    assert runtime.session("s").platform == "api_server"


def test_a_subagent_has_the_parent_that_started_it(gateway):
    runtime = Runtime()
    gateway.writes("webhook", "")
    runtime.note_session("parent", "webhook")
    runtime.note_child("parent", "child")
    runtime.note_session("child", "subagent")
    child = runtime.session("child")
    assert child.platform == "subagent"
    assert child.parent is not None and child.parent.platform == "webhook"
    gateway.writes("", "")
    runtime.note_session("orphan", "subagent")
    assert runtime.session("orphan").parent is None


def test_who_calls_his_session_by_the_id_of_the_owners_is_still_a_stranger(gateway, tmp_path):
    # The API server takes session ids from its clients, and lists cron jobs.
    runtime = Runtime()
    gateway.writes("telegram", "111")
    runtime.note_session("chat", "telegram", "111")
    runtime.note_child("chat", "child")
    gateway.writes("", "")
    runtime.note_session("cron_aa_20260101_120000", "cron")
    gateway.writes("api_server", "")
    assert runtime.session("cron_aa_20260101_120000").platform == "api_server"
    child = runtime.session("child")
    assert (child.platform, child.parent) == ("subagent", Session("", "api_server"))
    said = refusal(("local", "paired"), child, tmp_path, {"TELEGRAM_ALLOWED_USERS": "111"})
    assert said == "api_server sessions are not admitted: anybody may write there"


def test_a_cron_session_is_not_taken_for_the_chat_it_was_made_in(gateway):
    runtime = Runtime()
    gateway.writes("", "")
    runtime.note_session("cron_aa_20260101_120000", "cron")
    assert runtime.session("cron_aa_20260101_120000").platform == "cron"
