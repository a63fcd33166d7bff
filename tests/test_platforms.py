"""Who may reach the vault: the owner, whom the owner paired, and nobody else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cortex.platforms import Session, origin_of, refusal

DEFAULT = ("local", "paired")


def refused(session: Session, home: Path, admitted=DEFAULT, **env: str) -> str | None:
    return refusal(admitted, session, home, env)


def pair(home: Path, platform: str, *users: str, folder: str = "pairing") -> None:
    """As the host writes it when the owner approves a pairing code."""
    place = home / folder
    place.mkdir(parents=True, exist_ok=True)
    approved = {user: {"user_name": "Ada", "approved_at": 1.0} for user in users}
    (place / f"{platform}-approved.json").write_text(json.dumps(approved), "utf-8")


def cron_job(home: Path, job_id: str, origin: object) -> Session:
    (home / "cron").mkdir(exist_ok=True)
    jobs = {"jobs": [{"id": job_id, "prompt": "x", "origin": origin}], "updated_at": "2026-01-01"}
    (home / "cron" / "jobs.json").write_text(json.dumps(jobs), "utf-8")
    return Session(f"cron_{job_id}_20260101_120000", "cron")


@pytest.mark.parametrize("platform", ["", "cli", "tui", "desktop", "local", "acp"])
def test_the_owners_own_sessions_are_admitted(platform, tmp_path):
    assert refused(Session("s", platform), tmp_path) is None


@pytest.mark.parametrize(
    "platform",
    ["webhook", "msgraph_webhook", "api_server", "homeassistant", "relay", "ntfy", "raft"],
)
def test_where_anybody_may_write_a_pairing_of_that_name_admits_nobody(platform, tmp_path):
    pair(tmp_path, platform, "ada")
    said = refused(Session("s", platform, "ada"), tmp_path, GATEWAY_ALLOWED_USERS="ada")
    assert said == f"{platform} sessions are not admitted: anybody may write there"


def test_a_platform_named_in_the_settings_is_admitted_whoever_writes(tmp_path):
    stranger = Session("s", "webhook", "anybody")
    assert refused(stranger, tmp_path, ("local", " Webhook ")) is None
    assert refused(stranger, tmp_path, ("all",)) is None
    assert refused(stranger, tmp_path, ()) is not None


def test_local_sessions_can_be_shut_out(tmp_path):
    said = refused(Session("s", "cli"), tmp_path, ("telegram",))
    assert said == "local sessions are not admitted"


@pytest.mark.parametrize("folder", ["pairing", "platforms/pairing"])
def test_a_paired_user_is_admitted_and_no_other(folder, tmp_path):
    pair(tmp_path, "telegram", "111", folder=folder)
    assert refused(Session("s", "telegram", "111"), tmp_path) is None
    assert (
        refused(Session("s", "telegram", "222"), tmp_path)
        == "the owner has not paired this telegram user"
    )
    assert refused(Session("s", "discord", "111"), tmp_path) is not None
    assert refused(Session("s", "telegram", "111"), tmp_path, ("local",)) is not None


@pytest.mark.parametrize(
    ("platform", "name"),
    [
        ("telegram", "TELEGRAM_ALLOWED_USERS"),
        ("qqbot", "QQ_ALLOWED_USERS"),
        ("whatsapp_cloud", "WHATSAPP_CLOUD_ALLOWED_USERS"),
        ("signal", "GATEWAY_ALLOWED_USERS"),
    ],
)
def test_a_user_on_an_allow_list_is_admitted(platform, name, tmp_path):
    assert refused(Session("s", platform, "111"), tmp_path, **{name: "999, 111"}) is None
    assert refused(Session("s", platform, "11"), tmp_path, **{name: "999, 111"}) is not None


@pytest.mark.parametrize(
    "env",
    [
        {"TELEGRAM_ALLOWED_USERS": "*"},
        {"TELEGRAM_ALLOWED_USERS": "111", "TELEGRAM_ALLOW_ALL_USERS": "true"},
        {"TELEGRAM_ALLOWED_USERS": "111", "GATEWAY_ALLOW_ALL_USERS": "1"},
        {"TELEGRAM_ALLOWED_USERS": "111", "TELEGRAM_GROUP_ALLOWED_CHATS": "-100"},
    ],
)
def test_whom_the_host_lets_in_without_knowing_them_is_not_admitted(env, tmp_path):
    for stranger in ("222", "*", ""):
        assert refused(Session("s", "telegram", stranger), tmp_path, **env) is not None


@pytest.mark.parametrize(
    ("platform", "config"),
    [
        ("wecom", "wecom: {dm_policy: allowlist, allow_from: [ada, bob]}"),
        ("wecom", "platforms: {wecom: {enabled: true, extra: {allow_from: [ada]}}}"),
        ("weixin", "gateway: {platforms: {weixin: {allow_from: 'bob, ada'}}}"),
        ("qqbot", "platforms: {qqbot: {extra: {allowFrom: [ada]}}}"),
        ("yuanbao", "platforms: {yuanbao: {extra: {dm_allow_from: 'ada'}}}"),
    ],
)
def test_a_user_whom_the_hosts_own_config_allows_by_name_is_admitted(platform, config, tmp_path):
    (tmp_path / "config.yaml").write_text(config, "utf-8")
    assert refused(Session("s", platform, "ada"), tmp_path) is None
    assert refused(Session("s", platform, "eve"), tmp_path) is not None
    assert refused(Session("s", "telegram", "ada"), tmp_path) is not None
    (tmp_path / "config.yaml").write_text("model: {}\n", "utf-8")
    assert refused(Session("s", platform, "ada"), tmp_path) is not None


def test_a_number_in_the_hosts_config_is_a_user_too(tmp_path):
    (tmp_path / "config.yaml").write_text(
        "telegram: {allow_from: [111, true]}\nwhatsapp: {allow_from: [+4915]}\n", "utf-8"
    )
    assert refused(Session("s", "telegram", "111"), tmp_path) is None
    assert refused(Session("s", "whatsapp", "4915:3@s.whatsapp.net"), tmp_path) is None
    for sender in ("True", "true", "1"):
        assert refused(Session("s", "telegram", sender), tmp_path) is not None


@pytest.mark.parametrize(
    "config",
    [
        "wecom: {allow_from: ['*']}",
        "wecom: {dm_policy: open}",
        "wecom: {group_allow_from: [eve]}",  # chats
        "wecom: {groups: {chat: {allow_from: [eve]}}}",  # in that group alone
        "wecom: {allow_from: {eve: true}}",
        "wecom: [allow_from, eve]",
        "allow_from: [eve]",
        "wecom: {allow_from: [eve]",
        "\0",
        "- " * 5000,
    ],
)
def test_what_else_stands_in_the_hosts_config_admits_nobody(config, tmp_path):
    (tmp_path / "config.yaml").write_text(config, "utf-8")
    assert refused(Session("s", "wecom", "eve"), tmp_path) is not None


def test_a_message_without_a_sender_is_nobodys_though_somebody_is_paired(tmp_path):
    # An anonymous admin's or a channel's post in a chat that the host lets in as a whole.
    pair(tmp_path, "telegram", "111", "")
    said = refused(Session("s", "telegram", ""), tmp_path, TELEGRAM_ALLOWED_USERS="111,")
    assert said == "the host did not say who writes in this telegram session"


def test_the_first_part_of_an_address_is_not_the_address(tmp_path):
    assert refused(Session("s", "email", "ada@evil.example"), tmp_path, EMAIL_ALLOWED_USERS="ada")


def test_a_whatsapp_number_is_the_same_in_each_of_its_spellings(tmp_path):
    pair(tmp_path, "whatsapp", "4915")
    for sender in ("4915", "+4915", "4915@s.whatsapp.net", "4915:47@s.whatsapp.net"):
        assert refused(Session("s", "whatsapp", sender), tmp_path) is None
    for sender in ("4916@s.whatsapp.net", "@s.whatsapp.net", ":4915", "+"):
        assert refused(Session("s", "whatsapp", sender), tmp_path) is not None


@pytest.mark.parametrize("content", ["", "[", '["111"]', '"111"', "null", "[" * 100_000, "\xff"])
def test_a_broken_pairing_file_admits_nobody(content, tmp_path):
    pair(tmp_path, "telegram")
    (tmp_path / "pairing" / "telegram-approved.json").write_text(content, "latin-1")
    assert refused(Session("s", "telegram", "111"), tmp_path) is not None


def test_a_platforms_name_is_no_path(tmp_path):
    pair(tmp_path, "x", "111", folder="elsewhere")
    (tmp_path / "pairing").mkdir()
    assert refused(Session("s", "../elsewhere/x", "111"), tmp_path) is not None


def test_a_subagent_is_who_started_it(tmp_path):
    owner = Session("a", "cli")
    stranger = Session("b", "webhook")
    child = Session("c", "subagent", parent=owner)
    assert refused(child, tmp_path) is None
    assert refused(Session("d", "subagent", parent=child), tmp_path) is None
    assert refused(Session("e", "subagent", parent=stranger), tmp_path) is not None
    assert (
        refused(Session("f", "subagent"), tmp_path) == "where this session comes from is not known"
    )


def test_an_endless_chain_of_subagents_is_refused(tmp_path):
    session = Session("0", "cli")
    for number in range(50):
        session = Session(str(number), "subagent", parent=session)
    assert refused(session, tmp_path) is not None


def test_a_cron_job_is_who_made_it(tmp_path):
    pair(tmp_path, "telegram", "111")
    job = "aa11bb22cc33"
    assert refused(cron_job(tmp_path, job, None), tmp_path) is None
    assert refused(cron_job(tmp_path, job, "a remark of a migration"), tmp_path) is None
    origin = {"platform": "telegram", "chat_id": "1", "user_id": "111"}
    assert refused(cron_job(tmp_path, job, origin), tmp_path) is None
    assert refused(cron_job(tmp_path, job, {**origin, "user_id": "222"}), tmp_path) is not None
    assert refused(cron_job(tmp_path, job, {**origin, "user_id": None}), tmp_path) is not None
    api = {"platform": "api_server", "chat_id": "api"}
    assert refused(cron_job(tmp_path, job, api), tmp_path) is not None
    assert refused(cron_job(tmp_path, job, {}), tmp_path) is not None
    assert refused(cron_job(tmp_path, job, {**origin, "platform": ""}), tmp_path) is not None


def test_a_subagent_of_a_cron_job_is_who_made_the_job(tmp_path):
    job = cron_job(tmp_path, "aa11", {"platform": "webhook", "chat_id": "1"})
    assert refused(Session("s", "subagent", parent=job), tmp_path) is not None
    job = cron_job(tmp_path, "aa11", None)
    assert refused(Session("s", "subagent", parent=job), tmp_path) is None


@pytest.mark.parametrize(
    "session_id",
    [
        "cron_ffffffffffff_20260101_120000",  # no such job
        "20260101_120000_abc123",  # what a compression that renames the session leaves
        "cron_aa11bb22cc33",
        "",
    ],
)
def test_a_cron_session_whose_job_is_not_found_is_refused(session_id, tmp_path):
    cron_job(tmp_path, "aa11bb22cc33", None)
    assert origin_of(Session(session_id, "cron"), tmp_path).platform == "unknown"
    assert refused(Session(session_id, "cron"), tmp_path) is not None


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"jobs": [1]}', '{"jobs": null}', "[" * 99999]
)
def test_a_broken_list_of_jobs_admits_no_cron_session(content, tmp_path):
    session = cron_job(tmp_path, "aa11", None)
    (tmp_path / "cron" / "jobs.json").write_text(content, "utf-8")
    assert refused(session, tmp_path) is not None
