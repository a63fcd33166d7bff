"""Cortex inside the real Hermes Agent, with a scripted model: what goes over the wire.

The host comes from the package index with our other test packages; its driver and the model from
`../shared/host`. A command of the host takes one to four seconds, so sessions are shared.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from cortex import generated
from embeddings_server import Reply, embeddings, serving
from gateways import gateway
from host_driver import CHECKOUT
from shared import shared

pytestmark = [
    pytest.mark.host,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the driver's hermes is a script of a POSIX system"),
]

sys.path.insert(0, str(shared("host")))
from run_host import Host, Run  # noqa: E402

NOTES = {
    "bees.md": "---\ntype: fact\ntags: [insect]\n---\n# Bees\n\nThe hives stand behind the mill. "
    "Bees dance to tell of [[honey]].\n",
    "honey.md": "# Honey\n\nThe honey of this year is in the cellar.\n\n## Use\n\nIn tea.\n",
    "wasps.md": "# Wasps\n\nWasps nest in the attic; the ladder is in the barn.\n",
}
SETTINGS = """
embeddings: {model: hashing}
hooks:
  skill_context: {enabled: true}
  bootstrap_context:
    enabled: true
    include_static_files: [{label: House rules, path: rules.md}]
  recent_context: {enabled: true}
  dynamic_context: {enabled: true}
"""
RULES = "Answer in one sentence.\n"
BLOCKS = ("skill_context", "bootstrap_context", "recent_context", "dynamic_context")


Open = Callable[..., Any]


@pytest.fixture(scope="session")
def opened(hermes: Path) -> Open:
    """Opens a Host over a home, which stays."""

    @contextmanager
    def open_host(
        home: Path,
        script: Sequence[Mapping[str, Any]] = (),
        config: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
        plugins: Sequence[Path] = (CHECKOUT,),
    ) -> Iterator[Host]:
        # Looked at within six hours, so that no chat asks the package index for news.
        home.mkdir(parents=True, exist_ok=True)
        (home / ".update_check").write_text(
            json.dumps({"ts": time.time(), "behind": 0, "rev": None}), "utf-8"
        )
        world = {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "", **(env or {})}
        with Host(plugins, script, hermes=str(hermes), home=home, config=config, env=world) as host:
            for name in [name for name in host.env if name.startswith("CORTEX_")]:
                del host.env[name]
            yield host

    return open_host


def write_notes(folder: Path, notes: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def configure(home: Path, settings: str, notes: Mapping[str, str] = NOTES) -> None:
    """A vault of its own, and the config that names it."""
    vault = write_notes(home / "vault", notes)
    (home / "cortex").mkdir(parents=True, exist_ok=True)
    (home / "cortex" / "rules.md").write_text(RULES, "utf-8")
    text = f"vault: {{path: '{vault}'}}\n{settings}"
    (home / "cortex" / "config.yaml").write_text(text, "utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, opened: Open) -> Path:
    """A home whose vault is indexed, embedded and linked, all by `hermes cortex`."""
    home = tmp_path_factory.mktemp("built")
    configure(home, SETTINGS)
    with opened(home) as host:
        for words in (["index"], ["embed"], ["graph", "build"]):
            done = host.hermes("cortex", *words)
            assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    """A copy of it without the sessions that other tests had there, to be spoilt."""
    copy = tmp_path / "home"
    sessions = shutil.ignore_patterns("state.db*", "sessions", "logs")
    shutil.copytree(built, copy, symlinks=True, ignore=sessions)
    file = copy / "cortex" / "config.yaml"
    file.write_text(file.read_text("utf-8").replace(str(built), str(copy)), "utf-8")
    return copy


def calls(*tools: tuple[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A script: the model calls these tools one after the other, then answers."""
    steps = [{"tool_calls": [{"name": name, "arguments": dict(args)}]} for name, args in tools]
    return [*steps, {"content": "Done."}]


def results(host: Host) -> list[Any]:
    """What the tools answered, in order."""
    messages = host.llm.main_requests[-1]["messages"]
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def asked(run: Run) -> None:
    assert run.returncode == 0, run.stdout + run.stderr


def user_texts(host: Host) -> list[str]:
    """The user's messages of the last request, as the model sees them."""
    messages = host.llm.main_requests[-1]["messages"]
    return [message["content"] for message in messages if message["role"] == "user"]


def blocks(text: str) -> list[str]:
    """The names of the blocks that were put behind a message."""
    return re.findall(r'^<cortex_block name="([a-z_]+)"', text, re.MULTILINE)


# A session


@pytest.fixture(scope="module")
def session(built: Path, opened: Open) -> dict[str, Any]:
    """Three turns: the model calls each tool in the first, the others resume the session."""
    script = calls(
        ("vault_search", {"query": "Where do the hives stand?"}),
        ("vault_read_note", {"note": "bees.md"}),
        ("vault_build_context", {"query": "bees", "budget": 500}),
    )
    told: dict[str, Any] = {"turns": []}
    with opened(built, script) as host:
        first = host.turn("Where do the hives stand?")
        asked(first)
        told["offered"] = host.llm.main_requests[0]["tools"]
        told["results"] = results(host)
        told["printed"] = first.stdout
        told["turns"].append(user_texts(host))
        for prompt in ("And where do the bees and their hives stand?", "Where do wasps nest?"):
            asked(host.turn(prompt, resume=first.session_id))
            told["turns"].append(user_texts(host))
        told["system"] = host.llm.main_requests[-1]["messages"][0]["content"]
        asked(host.hermes("sessions", "rename", first.session_id, "Hives behind the mill"))
        told["log"] = (built / "logs" / "agent.log").read_text("utf-8")
    return told


def test_the_model_is_offered_the_three_tools_with_their_schemas(session):
    from cortex.plugin import SCHEMAS

    offered = {tool["function"]["name"]: tool["function"] for tool in session["offered"]}
    for schema in SCHEMAS:
        sent = offered[schema["name"]]
        assert sent["description"] == schema["description"]
        assert set(sent["parameters"]["properties"]) == set(schema["parameters"]["properties"])
        assert sent["parameters"]["required"] == schema["parameters"]["required"]
        for name, about in sent["parameters"]["properties"].items():
            assert about["description"] == schema["parameters"]["properties"][name]["description"]


def test_a_tool_is_called_and_its_answer_goes_back_to_the_model(session):
    search, read, context = session["results"]
    assert search["success"] is True
    assert search["results"][0]["note"] == "bees.md"
    assert set(search["channels"]["ran"]) == {"bm25", "vector", "graph"}
    assert search["index"] == "current"
    assert read["success"] is True and "behind the mill" in read["text"]
    assert context["success"] is True and "behind the mill" in json.dumps(context)
    assert session["printed"].strip() == "Done."


def test_the_first_turn_gets_each_block_that_has_something_to_say(session):
    (text,) = session["turns"][0]
    assert text.startswith("Where do the hives stand?\n\n")
    assert blocks(text) == ["skill_context", "bootstrap_context", "dynamic_context"]
    assert RULES.strip() in text
    assert "The hives stand behind the mill." in text
    assert len(text) < 10_000


def test_what_the_conversation_holds_is_not_told_again_on_resume(session):
    first, again, other = session["turns"][2]
    assert session["turns"][1][0] == session["turns"][0][0] == first  # as it was sent
    assert generated.strip(again).strip() == "And where do the bees and their hives stand?"
    assert not {"skill_context", "bootstrap_context"} & set(blocks(again + other))
    assert "The hives stand behind the mill." not in again
    assert blocks(other) == ["dynamic_context"]
    assert "Wasps nest in the attic" in other


def test_nothing_is_put_into_the_system_prompt_and_nothing_fails(session):
    assert "cortex_context" not in session["system"]
    cortex_lines = [line for line in session["log"].splitlines() if "hermes_plugins.cortex" in line]
    assert [line for line in cortex_lines if " ERROR " in line or " WARNING " in line] == []


def test_a_later_session_is_told_what_the_last_ones_were_about(session, built, opened):
    with opened(built) as host:
        asked(host.turn("Good morning, what is there to do about the honey in the cellar?"))
        (text,) = user_texts(host)
    assert blocks(text) == list(BLOCKS)
    assert "Hives behind the mill" in text


def test_a_single_question_without_a_session_is_answered_alike(built, opened):
    with opened(built, calls(("vault_search", {"query": "wasps"}))) as host:
        run = host.oneshot("Where do wasps nest?")
        asked(run)
        (text,) = user_texts(host)
        assert results(host)[0]["results"][0]["note"] == "wasps.md"
    assert run.stdout.strip() == "Done."
    assert "Wasps nest in the attic" in text


@pytest.mark.parametrize("with_plugin", [False, True])
def test_a_shell_hook_tells_the_same_and_not_what_the_plugin_has_told(
    with_plugin, home, opened, hermes
):
    command = f"{sys.executable} -m cortex hook pre_llm_call"
    config = {"hooks": {"pre_llm_call": [{"command": command, "timeout": 20}]}}
    env = {"HERMES_ACCEPT_HOOKS": "1", "PYTHONPATH": str(CHECKOUT)}
    plugins = (CHECKOUT,) if with_plugin else ()
    with opened(home, config=config, env=env, plugins=plugins) as host:
        first = host.turn("Where do the hives stand?")
        asked(first)
        (text,) = user_texts(host)
        asked(host.turn("And where do wasps nest?", resume=first.session_id))
        again, later = user_texts(host)
    assert blocks(text) == ["skill_context", "bootstrap_context", "dynamic_context"]
    assert again == text
    assert blocks(later) == ["dynamic_context"]
    assert "Wasps nest in the attic" in later


# What can go wrong


def test_the_kill_switch_stops_what_is_put_in_and_leaves_the_tools(built, opened):
    script = calls(("vault_search", {"query": "wasps"}))
    with opened(built, script, env={"HERMES_CORTEX_CONTEXT": "off"}) as host:
        asked(host.turn("Where do wasps nest?"))
        assert user_texts(host) == ["Where do wasps nest?"]
        assert results(host)[0]["results"][0]["note"] == "wasps.md"


def test_with_nothing_configured_a_chat_works_and_a_tool_says_what_to_run(tmp_path, opened):
    home = tmp_path / "new"
    with opened(home, calls(("vault_search", {"query": "bees"}))) as host:
        run = host.turn("Where do the hives stand?")
        asked(run)
        assert run.stdout.strip() == "Done."
        assert user_texts(host) == ["Where do the hives stand?"]
        (answer,) = results(host)
        assert answer["success"] is False
        assert "hermes cortex init --vault PATH" in answer["error"]
        assert str(home) not in answer["error"]
        status = host.hermes("cortex", "status")
        assert (status.returncode, status.stdout) == (2, "")
        assert "run: hermes cortex init --vault PATH" in status.stderr


def test_a_broken_config_costs_the_blocks_and_not_the_turn(home, opened):
    (home / "cortex" / "config.yaml").write_text("vault: [\n", "utf-8")
    with opened(home, calls(("vault_search", {"query": "bees"}))) as host:
        run = host.turn("Where do the hives stand?")
        asked(run)
        assert user_texts(host) == ["Where do the hives stand?"]
        (answer,) = results(host)
        assert answer["success"] is False and "config.yaml" in answer["error"]
        assert str(home) not in answer["error"]
    assert run.stdout.strip() == "Done."


def test_without_an_index_a_tool_says_what_builds_it_and_the_other_blocks_are_told(home, opened):
    for file in (home / "cortex").glob("*.json*"):
        file.unlink()
    with opened(home, calls(("vault_search", {"query": "bees"}))) as host:
        asked(host.turn("Where do the hives stand?"))
        (text,) = user_texts(host)
        (answer,) = results(host)
    assert blocks(text)[:2] == ["skill_context", "bootstrap_context"]
    assert "hermes cortex index" in json.dumps(answer)


def test_with_a_slow_model_the_words_of_the_notes_answer_by_the_deadline(tmp_path, opened):
    def slow(body: Any) -> Reply:
        time.sleep(30)
        return embeddings(body)

    home = tmp_path / "home"
    with serving(embeddings) as server:
        endpoint = f"embeddings: {{model: far, endpoint: {{url: '{server.url}'}}}}"
        configure(home, SETTINGS.replace("embeddings: {model: hashing}", endpoint))
        with opened(home) as host:
            for words in (["index"], ["embed"], ["graph", "build"]):
                assert host.hermes("cortex", *words).returncode == 0
            server.answers[:] = [slow]
            asked(host.turn("Where do wasps nest?"))
            (text,) = user_texts(host)
        lines = (home / "logs" / "agent.log").read_text("utf-8")
    assert "dynamic_context" in blocks(text)
    assert "Wasps nest in the attic" in text
    assert "Traceback" not in lines


def test_a_session_database_that_is_none_costs_only_its_block(home, opened):
    state = home / "elsewhere.db"
    state.write_bytes(b"this is no database\n" * 100)
    file = home / "cortex" / "config.yaml"
    text = file.read_text("utf-8")
    told = f"recent_context: {{enabled: true, state_db_path: '{state}'}}"
    file.write_text(text.replace("recent_context: {enabled: true}", told), "utf-8")
    with opened(home) as host:
        asked(host.turn("Where do the hives stand?"))
        (text,) = user_texts(host)
    assert blocks(text) == ["skill_context", "bootstrap_context", "dynamic_context"]


# Sessions that others begin


DELEGATED = [
    {"tool_calls": [{"name": "delegate_task", "arguments": {"goal": "Ask for wasps."}}]},
    {"tool_calls": [{"name": "vault_search", "arguments": {"query": "wasps"}}]},
    {"content": "The subagent is done."},
]


def of_the_subagent(host: Host) -> tuple[list[str], list[Any]]:
    """(the user's messages, the answers of tools) that a subagent's model was sent at last."""
    bodies = [
        body["messages"]
        for body in host.llm.main_requests
        if any(m["role"] == "user" and m["content"] == "Ask for wasps." for m in body["messages"])
    ]
    said = [message["content"] for message in bodies[-1] if message["role"] == "user"]
    answers = [json.loads(m["content"]) for m in bodies[-1] if m["role"] == "tool"]
    return said, answers


def test_a_cron_job_made_on_the_machine_and_its_subagent_may_use_the_tools_and_are_told_nothing(
    home, opened
):
    script = [*DELEGATED, *calls(("vault_search", {"query": "wasps"}))]
    with opened(home, script) as host:
        made = host.hermes("cron", "create", "every 2h", "Where do wasps nest?", "--name", "wasps")
        job = re.search(r"[0-9a-f]{12}", made.stdout)
        assert job is not None, made.stdout + made.stderr
        ran = host.hermes("cron", "run", job[0])
        answer = results(host)[-1]
        texts = user_texts(host)
        said, answers = of_the_subagent(host)
    assert ran.returncode == 0
    assert answer["results"][0]["note"] == "wasps.md"
    assert not any("cortex_block" in text for text in texts)
    assert said == ["Ask for wasps."]
    assert answers[0]["results"][0]["note"] == "wasps.md"


def test_a_stranger_at_the_api_server_gets_neither_notes_nor_blocks_nor_by_a_subagent(home, opened):
    port = free_port()
    script = [
        *DELEGATED,
        *calls(("vault_search", {"query": "wasps"}), ("vault_read_note", {"note": "wasps"})),
    ]
    env = {
        "API_SERVER_ENABLED": "true",
        "API_SERVER_KEY": "a-key-of-the-test-alone-0123456789",
        "API_SERVER_PORT": str(port),
        "API_SERVER_HOST": "127.0.0.1",
    }
    with opened(home, script, env=env) as host, gateway(host) as is_running:
        address = f"http://127.0.0.1:{port}/v1/chat/completions"
        body = {"model": "x", "messages": [{"role": "user", "content": "Where do wasps nest?"}]}
        key = {"Authorization": f"Bearer {env['API_SERVER_KEY']}"}
        answer = json.loads(post(address, body, key, is_running))
        refused, texts = results(host)[1:], user_texts(host)
        said, answers = of_the_subagent(host)
    assert answer["choices"][0]["message"]["content"] == "Done."
    assert texts == ["Where do wasps nest?"]
    assert said == ["Ask for wasps."]
    assert (len(refused), len(answers)) == (2, 1)
    for result in [*refused, *answers]:
        assert result["success"] is False
        assert "api_server sessions are not admitted" in result["error"]
        assert "attic" not in json.dumps(result)


def test_what_comes_by_a_webhook_reaches_no_note_until_the_owner_admits_webhooks(home, opened):
    port = free_port()
    route = {"secret": "INSECURE_NO_AUTH", "prompt": "Where do wasps nest? {what}"}
    about = {"host": "127.0.0.1", "port": port, "routes": {"ask": route}}
    config = {"platforms": {"webhook": {"enabled": True, "extra": about}}}
    search = ("vault_search", {"query": "wasps"})
    file = home / "cortex" / "config.yaml"
    with (
        opened(home, [*calls(search), *calls(search)], config) as host,
        gateway(host) as is_running,
    ):
        told = []
        for number in (1, 2):
            address = f"http://127.0.0.1:{port}/webhooks/ask"
            post(address, {"what": f"Ask {number}."}, {"X-Request-ID": str(number)}, is_running)
            until = time.monotonic() + 60
            while len(host.llm.main_requests) < 2 * number:
                assert time.monotonic() < until and is_running()
                time.sleep(0.1)
            told.append((results(host)[-1], user_texts(host)[-1]))
            admitted = "tools: {platforms: [local, webhook]}\n"  # while the gateway runs
            file.write_text(file.read_text("utf-8") + admitted, "utf-8")
    (refused, first), (answered, second) = told
    assert "Ask 1." in first and "Ask 2." in second
    assert not blocks(first + second)
    assert "webhook sessions are not admitted" in refused["error"]
    assert answered["results"][0]["note"] == "wasps.md"


IN_A_GATEWAY = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import gateway.run
from gateway.pairing import PairingStore
from gateway.session_context import set_session_vars
from hermes_constants import set_hermes_home_override
from host_driver import Ctx, load

ctx = Ctx()
load(ctx)
store = PairingStore()
paired = ("telegram", "111"), ("whatsapp", "4915@s.whatsapp.net"), ("ntfy", "topic")
for platform, user in paired:
    store.approve_code(platform, store.generate_code(platform, user, "Ada"))

def ask(platform, user, session="s"):
    set_session_vars(platform=platform, user_id=user, chat_id="1", session_id=session)
    told = {"session_id": session, "platform": platform, "sender_id": "111"}
    given = ctx.fire("pre_llm_call", user_message="Where do wasps nest?", is_first_turn=True,
                     conversation_history=[], model="x", task_id="t", turn_id="1", **told)
    return ctx.call("vault_search", {"query": "wasps"}, session_id=session), given

asked = [("telegram", "111"), ("telegram", "222"), ("telegram", ""), ("whatsapp", "4915:3@lid"),
         ("webhook", "111"), ("", ""), ("wecom", "ada"), ("wecom", "eve"), ("ntfy", "topic")]
answers = [ask(*who) for who in asked]
answers.append(ask("api_server", "", "cron_aa11bb22cc33_20260101_120000"))
set_hermes_home_override(sys.argv[2])
answers.append(ask("telegram", "111"))
print(json.dumps(answers))
"""


def test_in_a_gateway_the_paired_users_of_this_profile_and_no_others_reach_the_vault(home, hermes):
    config = yaml.safe_load((home / "config.yaml").read_text("utf-8"))
    config["wecom"] = {"dm_policy": "allowlist", "allow_from": ["ada"]}
    (home / "config.yaml").write_text(yaml.safe_dump(config), "utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-c", IN_A_GATEWAY),
            json.dumps([str(CHECKOUT / "tests")]),
            str(home / "profiles" / "new"),
        ],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HERMES_HOME": str(home), "HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout.splitlines()[-1])
    paired, stranger, nobody, whatsapp, webhook, unnamed, allowed, *others, other_profile = answers
    for answer, given in (paired, whatsapp, allowed):
        assert answer["results"][0]["note"] == "wasps.md"
        assert "Wasps nest in the attic" in given[0]["context"]
    assert len(others) == 3
    for answer, given in (stranger, nobody, webhook, unnamed, *others, other_profile):
        assert answer["success"] is False and given == []
    assert "the owner has not paired this telegram user" in stranger[0]["error"]
    assert "did not say who writes" in nobody[0]["error"]
    assert "hermes -p new cortex init" in other_profile[0]["error"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def post(
    address: str, body: Any, headers: Mapping[str, str], is_running: Callable[[], bool]
) -> bytes:
    """The answer, asked for again until the gateway listens."""
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}
    )
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return bytes(response.read())
        except urllib.error.HTTPError:
            raise
        except OSError:
            assert is_running() and time.monotonic() < until, "the gateway does not listen"
            time.sleep(0.2)


# Profiles


def test_a_second_profile_has_a_vault_of_its_own_and_shares_nothing(home, opened):
    work = home / "profiles" / "work"
    configure(work, SETTINGS, {"secret plan.md": "# Plan\n\nThe ladder is sold in May.\n"})
    (work / "plugins").mkdir()
    (work / "plugins" / "cortex").symlink_to(CHECKOUT)
    with opened(home, calls(("vault_search", {"query": "ladder"}))) as host:
        shutil.copy(home / "config.yaml", work / "config.yaml")
        assert host.hermes("-p", "work", "cortex", "index").returncode == 0
        asked(host.hermes("-p", "work", "chat", "-Q", "-q", "What of the ladder?"))
        (text,) = user_texts(host)
        (answer,) = results(host)
        mine = host.hermes("cortex", "search", "ladder")
    assert {hit["note"] for hit in answer["results"]} == {"secret plan.md"}
    assert "sold in May" in text and "barn" not in text
    assert "wasps.md" in mine.stdout and "plan" not in mine.stdout


# Commands


def test_hermes_cortex_prints_and_ends_as_cortex_does(built, opened):
    told = [
        ["--help"],
        ["search", "where do wasps nest", "--top-k", "2"],
        ["read", "Honey", "--heading", "Use"],
        ["config", "show", "--json"],
        ["search", "--", "--wasps", "-m", "x"],
        ["read", "no such note"],
        ["serch"],
    ]
    codes = []
    with opened(built) as host:
        for words in told:
            theirs = host.hermes("cortex", *words)
            ours = subprocess.run(
                [sys.executable, "-m", "cortex", *words],
                cwd=built,
                env={**host.env, "PYTHONPATH": str(CHECKOUT)},
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
            )
            printed = theirs.stdout
            if words == ["--help"]:
                printed = printed.replace("hermes cortex ", "cortex ")
            assert printed == ours.stdout
            assert theirs.stderr.replace("hermes cortex ", "cortex ") == ours.stderr
            assert theirs.returncode == ours.returncode
            codes.append(theirs.returncode)
    assert codes == [0, 0, 0, 0, 0, 2, 2]


def test_commands_end_with_0_1_or_2(home, opened):
    with opened(home) as host:
        assert host.hermes("cortex", "index").returncode == 0
        (home / "vault" / "bees.md").write_text("# Bees\n\nGone.\n", "utf-8")
        assert host.hermes("cortex", "index").returncode == 0
        assert host.hermes("cortex", "status").returncode == 1  # vectors lag behind
        assert host.hermes("cortex", "search", "bees", "--topk", "1").returncode == 2
        version = host.hermes("cortex", "version")
    assert (version.returncode, version.stderr) == (0, "")


def test_installed_by_pip_it_is_found_by_its_entry_point(home, opened, tmp_path):
    metadata = tmp_path / "site" / "cortex_as_installed-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cortex-as-installed\n")
    project = (CHECKOUT / "pyproject.toml").read_text("utf-8")
    import tomllib

    (points,) = tomllib.loads(project)["project"]["entry-points"].values()
    lines = [f"{name} = {value}" for name, value in points.items()]
    (metadata / "entry_points.txt").write_text(
        "\n".join(["[hermes_agent.plugins]", *lines]) + "\n", "utf-8"
    )
    (tmp_path / "site" / "cortex").symlink_to(CHECKOUT / "cortex")
    shutil.rmtree(home / "plugins")
    config = {"plugins": {"enabled": ["cortex"]}}
    script = calls(("vault_search", {"query": "wasps"}))
    with opened(home, script, config, {"PYTHONPATH": str(tmp_path / "site")}, plugins=()) as host:
        host.executable = str(Path(sys.executable).with_name("hermes"))
        asked(host.turn("Where do wasps nest?"))
        (text,) = user_texts(host)
        (answer,) = results(host)
        assert host.hermes("cortex", "search", "wasps").returncode == 0
    assert answer["results"][0]["note"] == "wasps.md"
    assert "skill_context" in blocks(text)
