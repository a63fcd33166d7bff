"""`cortex hook EVENT`: a payload on stdin, context or nothing on stdout, always exit code 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import CortexMaker

CHECKOUT = Path(__file__).resolve().parent.parent
BOAT = {"boat.md": "# Boat\n\nCheck the mooring lines every week; cleatword cleats need guards.\n"}
DYNAMIC = "hooks: {skill_context: {enabled: false}, dynamic_context: {enabled: true}}"


def hook(stdin: bytes | dict[str, Any], config: Path | None, *arguments: str, **env: str) -> Any:
    """One run of the command, in a process of its own as the host starts it."""
    raw = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HERMES", "CORTEX"))}
    if config is not None:
        kept["CORTEX_CONFIG"] = str(config)
    return subprocess.run(
        [sys.executable, "-m", "cortex", "hook", *(arguments or ["pre_llm_call"])],
        input=raw,
        capture_output=True,
        cwd=CHECKOUT,
        env={**kept, "HERMES_HOME": "/nonexistent", **env},
        timeout=30,
    )


def payload(message: Any, **extra: Any) -> dict[str, Any]:
    """What the host gives to a shell hook."""
    told = {"user_message": message, "conversation_history": [], "is_first_turn": True, **extra}
    return {"hook_event_name": "pre_llm_call", "session_id": "s1", "cwd": "/", "extra": told}


@pytest.fixture
def boat(cortex_with: CortexMaker) -> Path:
    return cortex_with(BOAT, DYNAMIC).config.path


def test_a_payload_of_the_host_is_answered_with_one_object(boat: Path):
    done = hook(payload("mooring lines cleatword", platform="cli", sender_id=""), boat)
    assert done.returncode == 0 and done.stderr == b""
    (line,) = done.stdout.splitlines()
    answer = json.loads(line)
    assert list(answer) == ["context"] and "boat.md" in answer["context"]


def test_what_the_history_carries_is_not_told_again(boat: Path):
    told = json.loads(hook(payload("mooring lines"), boat).stdout)["context"]
    history = [
        {"role": "user", "content": "mooring lines", "api_content": f"mooring lines\n\n{told}"},
        {"role": "assistant", "content": "Weekly."},
        {"role": "user", "content": "mooring lines?"},
    ]
    again = payload("mooring lines?", conversation_history=history, is_first_turn=False)
    assert hook(again, boat).stdout == b""


def test_flat_words_will_do(boat: Path):
    done = hook({"message": "mooring lines cleatword", "session": "s1"}, boat)
    assert "boat.md" in json.loads(done.stdout)["context"]


@pytest.mark.parametrize(
    "stdin",
    [
        *(b"", b"{", b"[]", b"null", b"5", b'"text"', "ÿþ".encode("latin-1"), b"[" * 100_000),
        *(b'{"message": 5}', b'{"extra": 7}', b'{"extra": {"user_message": ""}}'),
    ],
)
def test_broken_input_is_answered_with_nothing(boat: Path, stdin: bytes):
    done = hook(stdin, boat)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("event", ["on_session_start", "on_session_finalize", "subagent_start"])
def test_other_events_say_nothing(boat: Path, event: str):
    done = hook(payload("mooring lines"), boat, event)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_unknown_event_is_named_on_stderr_and_stops_nothing(boat: Path):
    done = hook(payload("mooring lines"), boat, "pre_lmm_call")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"there is no hook 'pre_lmm_call'" in done.stderr


def test_it_is_silent_where_the_plugin_speaks_or_the_switch_is_off(boat: Path):
    for name, value in (("HERMES_CORTEX_PLUGIN", "1"), ("HERMES_CORTEX_CONTEXT", "off")):
        done = hook(payload("mooring lines"), boat, **{name: value})
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_it_is_silent_without_any_config_and_says_what_is_broken_in_one(boat: Path, tmp_path: Path):
    done = hook(payload("x"), None)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    boat.write_text("hooks: {deadline_ms: soon}", "utf-8")
    done = hook(payload("x"), boat)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"hooks.deadline_ms" in done.stderr and b"Traceback" not in done.stderr


def test_a_config_may_be_named(boat: Path):
    done = hook(payload("mooring lines"), None, "pre_llm_call", "--config", str(boat))
    assert b"boat.md" in done.stdout


def test_strangers_get_nothing(boat: Path):
    done = hook(payload("mooring lines", platform="webhook"), boat)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_message_of_five_megabytes_is_answered_in_time(boat: Path):
    began = time.monotonic()
    done = hook(payload("2025-01-01 12:00:00 INFO tick\n" * 170_000), boat)
    assert done.returncode == 0 and time.monotonic() - began < 10


def test_a_server_that_does_not_answer_leaves_the_answer_to_words(cortex_with: CortexMaker):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        made = cortex_with(BOAT, DYNAMIC)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        text = made.config.path.read_text("utf-8")
        endpoint = f"{{model: hashing, endpoint: {{url: '{address}'}}}}"
        made.config.path.write_text(text.replace("{model: hashing}", endpoint), "utf-8")
        began = time.monotonic()
        done = hook(payload("mooring lines cleatword"), made.config.path)
        assert b"boat.md" in done.stdout and time.monotonic() - began < 4


def test_the_skill_alone_needs_nothing_heavy(cortex_with: CortexMaker):
    config = cortex_with(BOAT).config.path
    told = json.dumps(payload("mooring lines"))
    code = (
        "import sys, io; from cortex.cli import main\n"
        f"sys.stdin = io.TextIOWrapper(io.BytesIO({told!r}.encode()))\n"
        "assert main(['hook', 'pre_llm_call']) == 0\n"
        "print(sorted({'numpy', 'comrak', 'tantivy', 'chromadb', 'onnxruntime', 'torch'}"
        " & set(sys.modules)))"
    )
    env = {**os.environ, "CORTEX_CONFIG": str(config)}
    env.pop("HERMES_CORTEX_PLUGIN", None)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT, env=env
    )
    answer, heavy = done.stdout.splitlines()
    assert "vault_search" in json.loads(answer)["context"] and heavy == "[]", done.stderr


@pytest.mark.skipif(os.name == "nt", reason="a shell of a POSIX system closes the streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_stops_nothing(boat: Path, closed: str):
    command = f"{sys.executable} -m cortex hook pre_llm_call {closed}"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HERMES", "CORTEX"))}
    done = subprocess.run(
        ["sh", "-c", command],
        input=json.dumps(payload("mooring lines")).encode(),
        capture_output=True,
        cwd=CHECKOUT,
        env={**env, "CORTEX_CONFIG": str(boat), "HERMES_HOME": "/nonexistent"},
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
