"""Jobs of Cortex in the scheduler of the real Hermes: what `hermes cron list` shows afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gateways import gateway, no_other_gateway
from host_driver import CHECKOUT
from shared import shared

pytestmark = [
    pytest.mark.host,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the driver's hermes is a script of a POSIX system"),
]

sys.path.insert(0, str(shared("host")))
from run_host import Host, Run  # noqa: E402

ALL = ("maintenance", "nightly_promotion", "weekly_review")
NAMES = {
    "maintenance": "hermes-cortex-maintenance",
    "nightly": "hermes-cortex-nightly-promotion",
    "weekly": "hermes-cortex-weekly-review",
}
NOTES = {
    "00_inbox/Lamp.md": "---\ntype: fact\npromote: true\n---\n# Lamp\n\nThe lamp is blue.\n",
    "10_facts/Bees.md": "# Bees\n\nThe hives stand behind the mill, see [[nothing]].\n",
}


@contextmanager
def opened(
    hermes: Path, home: Path, script: Sequence[Mapping[str, Any]] = (), env: Any = None
) -> Iterator[Host]:
    home.mkdir(parents=True, exist_ok=True)
    checked = {"ts": time.time(), "behind": 0, "rev": None}  # so that nothing asks for news
    (home / ".update_check").write_text(json.dumps(checked), "utf-8")
    world = {"HOME": str(home.parent), **(env or {})}
    with Host([CHECKOUT], script, hermes=str(hermes), home=home, env=world) as host:
        for name in [name for name in host.env if name.startswith("CORTEX_")]:
            del host.env[name]
        yield host


@pytest.fixture
def host(hermes: Path, tmp_path: Path) -> Iterator[Host]:
    """The default home, with all jobs enabled."""
    with opened(hermes, tmp_path / ".hermes") as host:
        configure(host.home)
        yield host


def configure(home: Path, jobs: str = "", enabled: Sequence[str] = ALL) -> None:
    """A vault of its own, and the config that names it. jobs: more lines below `cron`."""
    for name, text in NOTES.items():
        (home / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "vault" / name).write_text(text, "utf-8")
    settings = [f"  {name}: {{enabled: true}}" for name in enabled if f"  {name}:" not in jobs]
    (home / "cortex").mkdir(exist_ok=True)
    (home / "cortex" / "config.yaml").write_text(
        "\n".join(
            [
                f"vault: {{path: '{home / 'vault'}'}}",
                "embeddings: {model: hashing}",
                "cron:",
                *settings,
                jobs,
            ]
        ),
        "utf-8",
    )


def told(run: Run) -> dict[str, Any]:
    """The document of --json that a command printed."""
    assert run.stdout.startswith("{"), run.stdout + run.stderr
    return dict(json.loads(run.stdout))


def records(home: Path) -> dict[str, dict[str, Any]]:
    """The jobs as the host keeps them, by name."""
    path = home / "cron" / "jobs.json"
    jobs = json.loads(path.read_text("utf-8"))["jobs"] if path.exists() else []
    assert len({job["name"] for job in jobs}) == len(jobs), "a name stands twice"
    return {job["name"]: job for job in jobs}


@no_other_gateway()
def test_jobs_are_listed_by_the_host_after_install_and_gone_after_uninstall(host):
    host.hermes("cron", "create", "every 2h", "Say hello.", "--name", "mine")
    mine = records(host.home)["mine"]
    before = host.hermes("cortex", "cron", "status")
    assert before.returncode == 1
    assert "3 jobs are enabled in the config and not in the scheduler (" in before.stdout
    assert "); run: hermes cortex cron install\n" in before.stdout
    done = host.hermes("cortex", "cron", "install")
    assert done.returncode == 0, done.stderr
    assert "no gateway runs, so nothing starts the jobs" in done.stderr
    listed = host.hermes("cron", "list").stdout
    assert all(f"Name:      {name}\n" in listed for name in NAMES.values())
    jobs = records(host.home)
    assert jobs["mine"] == mine
    maintenance, nightly = jobs[NAMES["maintenance"]], jobs[NAMES["nightly"]]
    assert (maintenance["no_agent"], maintenance["script"]) == (True, "cortex-maintenance.py")
    assert (nightly["no_agent"], nightly["enabled_toolsets"]) == (False, ["cortex", "no_mcp"])
    assert nightly["schedule"] == {"kind": "cron", "expr": "0 2 * * *", "display": "0 2 * * *"}
    again = told(host.hermes("cortex", "cron", "install", "--json"))
    assert [job["outcome"] for job in again["jobs"]] == ["unchanged"] * 3
    # What `updated_at` and the like say aside, nothing has moved.
    assert {name: job["id"] for name, job in records(host.home).items()} == {
        name: job["id"] for name, job in jobs.items()
    }
    status = told(host.hermes("cortex", "cron", "status", "--json"))
    assert [job["state"] for job in status["jobs"]] == ["installed"] * 3
    assert (status["scheduler"]["fires"], status["means"]) == (False, "modules")
    gone = host.hermes("cortex", "cron", "uninstall")
    assert gone.returncode == 0, gone.stderr
    settings = ", ".join(f"cron.{name}.enabled" for name in ALL)
    assert f"cron install would put it back: {settings}" in gone.stderr
    assert records(host.home) == {"mine": mine}
    assert not list((host.home / "scripts").glob("cortex-*"))
    assert NAMES["nightly"] not in host.hermes("cron", "list", "--all").stdout
    assert host.hermes("cortex", "cron", "uninstall").returncode == 1


def test_a_disabled_job_is_refused_and_the_others_are_done(host):
    configure(host.home, enabled=("maintenance",))
    refused = host.hermes("cortex", "cron", "install", "--job", "nightly")
    assert refused.returncode == 1
    assert "cron.nightly_promotion.enabled is false; set it to true in" in refused.stdout
    done = told(host.hermes("cortex", "cron", "install", "--job", "all", "--json"))
    assert [job["outcome"] for job in done["jobs"]] == ["installed", "refused", "refused"]
    assert list(records(host.home)) == [NAMES["maintenance"]]
    configure(host.home, enabled=())
    status = told(host.hermes("cortex", "cron", "status", "--json"))
    assert [job["state"] for job in status["jobs"]] == ["unwanted", "off", "off"]
    assert status["jobs"][0]["mend"] == "cortex cron uninstall --job maintenance"


@no_other_gateway()
def test_status_says_how_to_turn_a_job_on_and_why_a_run_failed(host):
    configure(host.home, enabled=())
    off = host.hermes("cortex", "cron", "status", "--job", "weekly")
    assert off.returncode == 1
    assert "no gateway runs, so nothing starts the jobs\n" in off.stdout  # which mends nothing yet
    assert "report to origin" in off.stdout
    assert off.stdout.endswith(
        f"to turn one on, set cron.weekly_review.enabled to true in {host.home}/cortex/config.yaml"
        ", then run: hermes cortex cron install\n"
    )
    configure(host.home, "  weekly_review: {enabled: true, model: false}", enabled=())
    host.hermes("cortex", "cron", "install")
    assert "Ran now: failed" in host.hermes("cron", "run", NAMES["weekly"]).stdout
    status = host.hermes("cortex", "cron", "status").stdout
    assert f"the last run of {NAMES['weekly']} failed: Script exited with code 1 stdout:" in status
    assert "there is no index yet; run: hermes cortex index" in status
    assert "\\n" not in status  # on one line


def test_a_changed_setting_is_told_and_taken_over_with_history_and_pause_kept(host):
    host.hermes("cortex", "cron", "install", "--job", "maintenance")
    ran = host.hermes("cron", "run", NAMES["maintenance"])
    assert "Ran now: succeeded" in ran.stdout, ran.stdout + ran.stderr
    assert (host.home / "cortex" / "index.json").exists()  # by the job, in the host's process
    host.hermes("cron", "pause", NAMES["maintenance"])
    before = records(host.home)[NAMES["maintenance"]]
    jobs = "  maintenance: {enabled: true, schedule: '15 4 * * *', name: upkeep, deliver: local}"
    configure(host.home, jobs, enabled=("maintenance",))
    status = told(host.hermes("cortex", "cron", "status", "--job", "maintenance", "--json"))
    assert status["jobs"][0]["state"] == "differs"
    assert status["jobs"][0]["differs"] == ["name", "schedule", "deliver"]
    done = told(host.hermes("cortex", "cron", "install", "--json"))
    assert [(job["outcome"], job["paused"]) for job in done["jobs"]] == [("updated", True)]
    again = host.hermes("cortex", "cron", "install").stdout
    assert again.endswith(", paused\n") and "next" not in again
    after = records(host.home)["upkeep"]
    assert after["schedule"]["expr"] == "15 4 * * *"
    kept = ("id", "created_at", "last_run_at", "last_status", "enabled", "state", "repeat")
    assert [after[name] for name in kept] == [before[name] for name in kept]
    assert before["last_status"] == "ok"


def test_jobs_of_others_by_our_name_are_left_alone_and_twins_of_ours_become_one(host):
    host.hermes("cron", "create", "every 2h", "Not of Cortex.", "--name", NAMES["weekly"])
    refused = host.hermes("cortex", "cron", "install", "--job", "weekly")
    assert refused.returncode == 1
    assert "a job of that name that Cortex did not make is there" in refused.stdout
    host.hermes("cortex", "cron", "uninstall")
    assert records(host.home)[NAMES["weekly"]]["prompt"] == "Not of Cortex."

    host.hermes("cortex", "cron", "install", "--job", "maintenance")
    path = host.home / "cron" / "jobs.json"
    store = json.loads(path.read_text("utf-8"))
    ours = next(job for job in store["jobs"] if job["name"] == NAMES["maintenance"])
    twin = {**ours, "id": "aaaaaaaaaaaa", "last_run_at": "2026-01-01T03:30:00+00:00"}
    path.write_text(json.dumps({**store, "jobs": [*store["jobs"], twin]}), "utf-8")
    done = told(host.hermes("cortex", "cron", "install", "--job", "maintenance", "--json"))
    assert [(job["id"], job["duplicates_removed"]) for job in done["jobs"]] == [
        ("aaaaaaaaaaaa", 1)  # the one that has a history
    ]
    assert records(host.home)[NAMES["maintenance"]]["id"] == "aaaaaaaaaaaa"


def test_a_job_that_an_older_version_wrote_is_taken_over(host):
    path = host.home / "cron" / "jobs.json"
    path.parent.mkdir()
    old = {
        "id": "0123456789abcdef",
        "name": NAMES["nightly"],
        "prompt": "Führe die Promotion aus.",
        "schedule": {"kind": "cron", "expr": "0 2 * * *", "display": "0 2 * * *"},
        "enabled": True,
        "state": "scheduled",
        "deliver": "origin",
        "enabled_toolsets": ["file", "terminal"],
        "created_at": "2025-01-01T00:00:00+00:00",
        "last_run_at": "2025-02-01T02:00:00+00:00",
        "last_status": "ok",
        "metadata": {"managed_by": "hermes-cortex", "cortex": {"job": "nightly"}},
    }
    path.write_text(json.dumps({"jobs": [old]}), "utf-8")
    done = told(host.hermes("cortex", "cron", "install", "--job", "nightly", "--json"))
    assert [job["outcome"] for job in done["jobs"]] == ["updated"]
    job = records(host.home)[NAMES["nightly"]]
    assert (job["id"], job["created_at"]) == (old["id"], old["created_at"])
    assert job["enabled_toolsets"] == ["cortex", "no_mcp"]
    assert "Führe" not in job["prompt"]


def test_two_profiles_have_their_own_jobs(host):
    work = host.home / "profiles" / "work"
    (work / "plugins").mkdir(parents=True)
    (work / "plugins" / "cortex").symlink_to(CHECKOUT)
    shutil.copy(host.home / "config.yaml", work / "config.yaml")
    configure(work, enabled=("maintenance",))
    done = host.hermes("-p", "work", "cortex", "cron", "install")
    assert done.returncode == 0, done.stderr
    assert "hermes -p work gateway install" in done.stderr
    assert list(records(work)) == [NAMES["maintenance"]]
    assert records(host.home) == {}
    assert NAMES["maintenance"] in host.hermes("-p", "work", "cron", "list").stdout
    assert NAMES["maintenance"] not in host.hermes("cron", "list").stdout
    ran = host.hermes("-p", "work", "cron", "run", NAMES["maintenance"])
    assert "Ran now: succeeded" in ran.stdout, ran.stdout + ran.stderr
    assert (work / "cortex" / "index.json").exists()
    assert not (host.home / "cortex" / "index.json").exists()
    host.hermes("-p", "work", "cron", "pause", NAMES["maintenance"])
    paused = host.hermes("-p", "work", "cortex", "cron", "status").stdout
    assert "to go on: hermes -p work cron resume " in paused
    host.hermes("cortex", "cron", "install", "--job", "weekly")
    assert host.hermes("-p", "work", "cortex", "cron", "uninstall").returncode == 0
    assert records(work) == {}
    assert list(records(host.home)) == [NAMES["weekly"]]


@pytest.mark.parametrize("is_default", [True, False])
def test_what_a_profile_is_told_to_run_mends_that_profile(hermes, tmp_path, is_default):
    """Also below a home that only HERMES_HOME names, where the host finds profiles as well."""
    env = None if is_default else {"HOME": str(tmp_path / "elsewhere")}
    with opened(hermes, tmp_path / ".hermes", env=env) as host:
        configure(host.home)
        work = host.home / "profiles" / "work"
        (work / "plugins").mkdir(parents=True)
        (work / "plugins" / "cortex").symlink_to(CHECKOUT)
        shutil.copy(host.home / "config.yaml", work / "config.yaml")
        configure(work, "  weekly_review: {enabled: true, model: false}", enabled=())
        lacking = host.hermes("-p", "work", "cortex", "search", "lamp")
        assert "; run: hermes -p work cortex index" in lacking.stderr
        status = host.hermes("-p", "work", "cortex", "cron", "status").stdout
        (told,) = [line for line in status.splitlines() if "not in the scheduler" in line]
        command = told.partition("; run: ")[2].split()
        assert command[:3] == ["hermes", "-p", "work"]
        assert host.hermes(*command[1:]).returncode == 0
        assert list(records(work)) == [NAMES["weekly"]] and not records(host.home)
        ran = host.hermes("-p", "work", "cron", "run", NAMES["weekly"])
        told = ran.stdout + host.hermes("-p", "work", "cortex", "cron", "status").stdout
        assert "run: hermes -p work cortex index" in told


def test_the_nightly_model_gets_the_report_and_no_tool_but_those_of_cortex(hermes, tmp_path):
    with opened(hermes, tmp_path / ".hermes", [{"content": "Promoted: Lamp."}]) as host:
        configure(host.home)
        host.hermes("cortex", "lifecycle", "maintenance")
        assert host.hermes("cortex", "cron", "install", "--job", "nightly").returncode == 0
        ran = host.hermes("cron", "run", NAMES["nightly"])
        requests = host.llm.main_requests
    assert "Ran now: succeeded" in ran.stdout, ran.stdout + ran.stderr
    assert (host.home / "vault" / "10_facts" / "Lamp.md").exists()
    tools = {tool["function"]["name"] for tool in requests[0]["tools"]}
    assert tools == {"vault_search", "vault_build_context", "vault_read_note"}
    prompt = "\n".join(m["content"] for m in requests[0]["messages"] if m["role"] == "user")
    assert "- promoted 00_inbox/Lamp.md -> 10_facts/Lamp.md (fact)" in prompt
    assert "End of the report of Cortex.\n```" in prompt
    assert "Above stands the report of tonight's promotion" in prompt


def test_a_night_with_nothing_to_tell_asks_no_model(hermes, tmp_path):
    with opened(hermes, tmp_path / ".hermes") as host:
        configure(host.home)
        (host.home / "vault" / "00_inbox" / "Lamp.md").unlink()
        host.hermes("cortex", "cron", "install", "--job", "nightly")
        ran = host.hermes("cron", "run", NAMES["nightly"])
        assert host.llm.main_requests == []
    assert "Ran now: succeeded" in ran.stdout, ran.stdout + ran.stderr


def test_a_job_made_with_another_model_is_renewed(host):
    host.hermes("cortex", "cron", "install", "--job", "nightly")
    before = records(host.home)[NAMES["nightly"]]["model_snapshot"]
    config = json.loads((host.home / "config.yaml").read_text("utf-8"))
    config["model"]["default"] = "another-model"
    (host.home / "config.yaml").write_text(json.dumps(config), "utf-8")
    host.hermes("cortex", "cron", "install", "--job", "nightly")
    after = records(host.home)[NAMES["nightly"]]
    assert before and after["model_snapshot"] == "another-model" != before
    assert after["no_agent"] is False


def test_a_running_gateway_and_the_clock_are_told(host):
    configure(host.home, "  nightly_promotion: {enabled: true, timezone: Asia/Tokyo}")
    host.env["HERMES_TIMEZONE"] = "Europe/Paris"
    host.hermes("cortex", "cron", "install")
    with gateway(host) as is_running:
        until = time.monotonic() + 60
        while True:
            status = told(host.hermes("cortex", "cron", "status", "--json"))
            if status["scheduler"]["fires"] or time.monotonic() > until:
                break
            assert is_running(), "the gateway ended"
    assert status["scheduler"]["fires"] is True
    assert status["scheduler"]["timezone"] == "Europe/Paris"
    assert any("Asia/Tokyo, which is for the days it is about" in w for w in status["warnings"])


def test_a_broken_file_of_jobs_is_told_and_not_touched(host):
    path = host.home / "cron" / "jobs.json"
    path.parent.mkdir()
    path.write_text("{broken", "utf-8")
    for action in ("install", "status", "uninstall"):
        done = host.hermes("cortex", "cron", action)
        assert done.returncode == 1
        assert "the scheduler of Hermes failed" in done.stderr and str(path) in done.stderr
    assert path.read_text("utf-8") == "{broken"


def test_another_file_by_the_name_of_our_script_stays(host):
    script = host.home / "scripts" / "cortex-maintenance.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text("print('mine')\n", "utf-8")
    done = host.hermes("cortex", "cron", "install", "--job", "maintenance")
    assert done.returncode == 1
    assert "is not a script of Cortex; move it away" in done.stdout + done.stderr
    assert script.read_text("utf-8") == "print('mine')\n"
    assert records(host.home) == {}


# Where Hermes has a Python of its own, its command is asked.


def test_by_the_command_jobs_without_a_model_stand_and_others_are_refused(host):
    from cortex.ops.host_jobs import HostCommand

    configure(host.home, "  weekly_review: {enabled: true, model: false}")
    env = {**host.env, "HERMES_HOME": str(host.home)}
    scheduler = HostCommand(host.home, env, str(host.executable), "hermes")
    assert scheduler.jobs() == []
    done = by_command(host, "install")
    assert [(e.kind, e.outcome) for e in done] == [
        ("maintenance", "installed"),
        ("nightly", "refused"),
        ("weekly", "installed"),
    ]
    assert "cannot keep a job's model to some tools" in done[1].why
    jobs = records(host.home)
    assert {name: job["no_agent"] for name, job in jobs.items()} == {
        NAMES["maintenance"]: True,
        NAMES["weekly"]: True,
    }
    assert [e.outcome for e in by_command(host, "install")] == ["unchanged", "refused", "unchanged"]
    configure(host.home, "  maintenance: {enabled: true, schedule: '*/30 4 * * *'}")
    assert by_command(host, "install")[0].outcome == "updated"
    assert records(host.home)[NAMES["maintenance"]]["schedule"]["expr"] == "*/30 4 * * *"
    firing = scheduler.firing()
    assert (firing.fires, firing.time_zone) == (False, None)
    assert [e.outcome for e in by_command(host, "uninstall")] == [
        "removed",
        "not installed",
        "removed",
    ]
    assert records(host.home) == {}


def by_command(host: Host, action: str) -> Any:
    from cortex.config import load
    from cortex.ops import cron, host_jobs

    env = {**host.env, "HERMES_HOME": str(host.home)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_jobs, "_is_host_python", lambda: False)
        env["PATH"] = f"{Path(host.executable).parent}{os.pathsep}{env['PATH']}"
        config = load(None, env)
        return getattr(cron, action)(config, host.home, env, ("maintenance", "nightly", "weekly"))


def test_a_home_that_is_not_there_is_not_made(host):
    host.env["HERMES_HOME"] = str(host.home.parent / "typo")
    for action in ("status", "install", "uninstall"):
        command = [sys.executable, "-m", "cortex", "cron", action]
        command += ["--config", str(host.home / "cortex" / "config.yaml")]
        done = subprocess.run(command, env=host.env, capture_output=True, text=True, cwd=CHECKOUT)
        assert done.returncode == 2
        assert "there is no Hermes home at" in done.stderr
    assert not (host.home.parent / "typo").exists()


def test_without_hermes_there_is_no_scheduler(tmp_path, monkeypatch):
    from cortex.errors import CortexError
    from cortex.ops import host_jobs

    monkeypatch.setattr(host_jobs, "_is_host_python", lambda: False)
    with pytest.raises(CortexError, match="neither in this Python nor on the PATH"):
        host_jobs.scheduler(tmp_path, {"PATH": str(tmp_path)})
