"""Secrets planted wherever a note has text, and looked for in all that is handed to a model."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hermes_state import SessionDB

from conftest import CortexMaker
from cortex import Cortex
from cortex.cli import main
from cortex.hooks import Hooks
from cortex.plugin import Tools
from cortex.redaction import KINDS, MASK, detector, find, library, mask, redact
from cortex.runtime import Runtime

LETTERS = "qWeRtYuIoPaSdFgHjKlZxCvBnM"


def key(place: str) -> str:
    """A made-up key of a known shape, another one for each place in a note."""
    tail = f"{len(place)}{place}{LETTERS}0123456789"[:36].replace("_", "7").replace(" ", "8")
    return "gh" + "p_" + tail[::-1]


PLACES = (
    *("body", "heading", "title", "alias", "tag", "value", "name", "file", "link", "label"),
    *("code", "comment", "description", "superseded", "zero width"),
)
KEYS = {place: key(place) for place in PLACES}
PASSWORD = "Tr0ub4" + "dorX9"
SPLIT = "\u200b".join(KEYS["zero width"])
NOTE = f"""---
title: Pier login {KEYS["title"]}
aliases: ["pier {KEYS["alias"]}"]
tags: [pier, "{KEYS["tag"]}"]
note_value: "{KEYS["value"]}"
"{KEYS["name"]}": pier
description: About the pier {KEYS["description"]}
password: {PASSWORD}
promote: true
superseded_by: "[[Gone {KEYS["superseded"]}]]"
---
# Pier {KEYS["heading"]}

The pier needs a lamp; its key is {KEYS["body"]}.

See [[Keys/{KEYS["link"]}|pier {KEYS["label"]}]].

```
pier --login {KEYS["code"]}
```

<!-- pier {KEYS["comment"]} -->

The pier hides {SPLIT} here.
"""
PATH = f"Pier {KEYS['file']}.md"
DYNAMIC = """
hooks:
  skill_context: {enabled: false}
  dynamic_context: {enabled: true}
  recent_context: {enabled: true}
  session_pack: {enabled: true}
  deadline_ms: 10000
"""
INJECT = """
hooks: {skill_context: {enabled: false}, deadline_ms: 10000}
inject:
  enabled: true
  redact: REDACT
  "vault": {threshold: 0, min_words: 0}
  fabric: {threshold: 0}
  sessions: {threshold: 0}
"""
QUESTION = "Where does the pier need a lamp?"


@pytest.fixture
def planted(cortex_with: CortexMaker) -> Cortex:
    """A vault with the note of all secrets, one like it without the folder's name, and one that
    links to both."""
    return cortex_with(
        {PATH: NOTE, "Pier.md": NOTE, "Other.md": f"# Other\n\npier, see [[{PATH[:-3]}]].\n"},
        DYNAMIC,
    )


def assert_none_left(told: str, *, of: Mapping[str, str] = KEYS) -> None:
    """No secret, whole or in its last 12 characters, in what was told."""
    for sign in ("\u200b", "\\"):
        told = told.replace(sign, "")
    left = [place for place, secret in of.items() if secret[-12:] in told]
    assert left == []
    assert PASSWORD not in told


def env_of(cortex: Cortex, tmp_path: Path) -> dict[str, str]:
    """Of a home whose sessions and fabric hold secrets too."""
    home, fabric = tmp_path / "home", tmp_path / "fabric"
    if not home.exists():
        home.mkdir()
        sessions = SessionDB(home / "state.db")
        sessions.create_session("s0", source="cli")
        sessions.set_session_title("s0", f"pier {KEYS['title']}")
        sessions.append_message("s0", "user", f"the pier needs a lamp, key {KEYS['body']}")
        sessions.append_message("s0", "assistant", f"the pier lamp has {KEYS['link']} now")
        sessions.close()
        fabric.mkdir()
        entry = f"---\ndate: 2026-01-02\nagent: {KEYS['name']}\nsummary: the pier {KEYS['label']}\n"
        (fabric / f"pier {KEYS['file']}.md").write_text(
            f"{entry}tags: [pier, {KEYS['tag']}]\n---\nThe pier needs a lamp {KEYS['code']}.\n"
        )
    return {
        "CORTEX_CONFIG": str(cortex.config.path),
        "HERMES_HOME": str(home),
        "FABRIC_DIR": str(fabric),
    }


TOOL_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("vault_search", {"query": "pier"}),
    ("vault_search", {"query": "pier", "detail": "full"}),
    ("vault_search", {"query": "pier", "group": "note", "detail": "full"}),
    ("vault_build_context", {"query": "pier"}),
    ("vault_build_context", {"query": "pier", "budget": 4000}),
    ("vault_read_note", {"note": "Pier"}),
    ("vault_read_note", {"note": PATH}),
    ("vault_read_note", {"note": "Pier", "start_line": 4, "end_line": 6}),
    ("vault_read_note", {"note": "Pier", "max_chars": 200}),
)


@pytest.mark.parametrize(("tool", "args"), TOOL_CALLS)
def test_no_tool_answers_with_a_secret_wherever_it_stands_in_a_note(
    planted: Cortex, tmp_path: Path, tool: str, args: dict[str, Any]
) -> None:
    tools = Tools(Runtime(env_of(planted, tmp_path)))
    raw = getattr(tools, tool)(args)
    answer = json.loads(raw)
    assert answer["success"] is True
    assert MASK.search(raw), raw
    assert_none_left(raw)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("vault_read_note", {"note": f"Pir {KEYS['body']}"}),
        ("vault_read_note", {"note": f"Gone/{KEYS['superseded']}.md"}),
        ("vault_read_note", {"note": "Pier", "heading": f"Not {KEYS['heading']}"}),
        ("vault_read_note", {"note": "Pierr"}),
        ("vault_read_note", {"note": "pier " + KEYS["file"][:20]}),
        ("vault_search", {"query": "pier", "filters": {KEYS["name"][:-2]: "x"}}),
        ("vault_search", {"query": "pier", "filters": {"folders": [KEYS["link"], 7]}}),
        ("vault_search", {"query": "pier", KEYS["value"]: 1}),
        ("vault_search", {"query": "pier", "as_of": KEYS["body"]}),
    ],
)
def test_no_error_of_a_tool_repeats_a_secret(
    planted: Cortex, tmp_path: Path, tool: str, args: dict[str, Any]
) -> None:
    tools = Tools(Runtime(env_of(planted, tmp_path)))
    raw = getattr(tools, tool)(args)
    assert_none_left(raw)


@pytest.mark.parametrize(
    ("settings", "is_told"),
    [
        (DYNAMIC, True),
        (INJECT.replace("REDACT", "true"), True),
        (INJECT.replace("REDACT", "false"), False),
    ],
    ids=["dynamic", "inject and redact", "inject and refuse"],
)
def test_what_the_hooks_inject_and_log_holds_no_secret(
    cortex_with: CortexMaker,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    settings: str,
    is_told: bool,
) -> None:
    caplog.set_level(logging.DEBUG)
    planted = cortex_with({PATH: NOTE, "Pier.md": NOTE}, settings)
    hooks = Hooks(Runtime(env_of(planted, tmp_path)))
    told = []
    for message in (QUESTION, f"and what is {KEYS['body']} good for?"):
        answer = hooks.pre_llm_call(
            session_id="s1",
            user_message=message,
            conversation_history=[{"role": "user", "content": message}],
            is_first_turn=not told,
            platform="cli",
            sender_id="",
        )
        told.append((answer or {}).get("context", ""))
    assert ("pier" in "".join(told).casefold()) is is_told
    assert_none_left("".join(told))
    assert_none_left(caplog.text)


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("context", "pier"),
    ("context", "pier", "--json"),
    ("context", "pier", "--budget", "4000"),
    ("inject", "--message", QUESTION),
    ("inject", "--message", QUESTION, "--first", "--json"),
    ("pack", "build", "--query", "pier lamp"),
    ("pack", "build", "--query", "pier lamp", "--redact"),
    ("lifecycle", "nightly", "--json"),
    ("lifecycle", "candidates", "--json"),
    ("session-sources", "--json"),
    ("session-sources", "--json", "--messages"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(words[:2]) for words in COMMANDS])
def test_no_command_that_writes_for_a_model_prints_a_secret(
    planted: Cortex,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    out, errors = run(env_of(planted, tmp_path), monkeypatch, *command)
    assert out
    assert_none_left(out)
    assert_none_left(errors)


def run(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[str, str]:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    out, errors = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(errors), suppress(SystemExit):
        main(list(words))
    return out.getvalue(), errors.getvalue()


def test_the_page_of_the_graph_holds_no_secret(
    planted: Cortex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    run(env_of(planted, tmp_path), monkeypatch, "graph", "viewer", "--output", str(page))
    assert_none_left(page.read_text("utf-8"))


def test_what_we_write_beside_the_vault_names_no_secret(
    planted: Cortex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = env_of(planted, tmp_path)
    for words in (("context", "pier"), ("inject", "--message", "the pier lamp?"), ("doctor",)):
        run(env, monkeypatch, *words)
    index = planted.config.state
    kept = {path for path in index.rglob("*") if path.is_file()}
    journals = [
        path for path in kept if path.suffix in (".log", ".md") or "lifecycle" in path.parts
    ]
    for path in journals:
        assert_none_left(path.read_text("utf-8", errors="replace"))


@pytest.mark.parametrize(
    "holding",
    [
        {"title": f"Pier lamp {KEYS['title']}"},
        {"tags": [KEYS["tag"]]},
        {"properties": {"password": PASSWORD}},
        {"properties": {"origin": KEYS["value"]}},
        {"body": f"The pier lamp has {KEYS['body']}."},
    ],
)
def test_an_agent_cannot_write_a_secret_into_the_vault(
    cortex_with: CortexMaker, tmp_path: Path, holding: dict[str, Any]
) -> None:
    cortex = cortex_with({"Pier.md": "# Pier\npier\n"}, "tools: {write: true}\n")
    tools = Tools(Runtime(env_of(cortex, tmp_path)))
    note = {"title": "Pier lamp", "type": "fact", "body": "It hangs at the pier.", **holding}
    raw = tools.vault_write_note(note)
    assert json.loads(raw)["error"].startswith("this looks like a secret: ")
    assert_none_left(raw)
    assert [path.name for path in tmp_path.joinpath("vault").rglob("*.md")] == ["Pier.md"]


# The detector


def test_the_detector_names_the_library_it_uses() -> None:
    assert detector() == f"{library.load().state}, with our own rules"
    assert library.load().state.startswith("bc-detect-secrets 1.")


@pytest.mark.parametrize("fault", [ImportError("gone"), AttributeError("other"), OSError("odd")])
def test_without_the_library_our_own_rules_find_and_it_is_told(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def broken(name: str) -> Any:
        raise fault

    monkeypatch.setattr(library.importlib, "import_module", broken)
    library.load.cache_clear()
    try:
        assert redact(f"key {KEYS['body']}") == ("key [REDACTED:api_key]", 1)
        assert detector() == (
            f"our own rules alone: bc-detect-secrets cannot be used: {type(fault).__name__}"
        )
    finally:
        library.load.cache_clear()


def test_the_library_is_asked_in_this_process_and_nothing_leaves_it(tmp_path: Path) -> None:
    source = """
import sys
seen = []
def hook(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "subprocess", "os.system",
                         "os.posix_spawn", "os.exec", "os.mkdir", "os.rename")):
        seen.append(event)
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        seen.append(f"open {args[0]}")
sys.addaudithook(hook)
sys.dont_write_bytecode = True
from cortex.redaction import find_by_library
found = find_by_library("Twilio: S" + "K" + "0123456789abcdef" * 2 + " and on")
print(len(found), seen)
"""
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).resolve().parent.parent), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "1 []", done.stderr


def test_importing_the_guard_does_not_load_the_library() -> None:
    source = (
        "import sys, cortex.redaction; "
        "print('detect_secrets' in sys.modules, 'requests' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.stdout.strip() == "False False", done.stderr


@pytest.mark.parametrize("make", [lambda m: m, lambda m: f"pass{m}word", lambda m: f"token: {m}"])
def test_a_mask_is_never_found_again(make: Callable[[str], str]) -> None:
    for kind in KINDS:
        text = f"password: {make(mask(kind))} and {make(mask(kind))}"
        assert find(text) == []
        assert redact(text) == (text, 0)


# Where a secret and what tells it stand apart

APART = """# Harbour

The harbour gate.

## Password

Sardine#yLbt7

## Recovery codes

- a1b2c-d3e4f
- 9x8y7-z6w5v

## Logins of the harbour

| Place | User | Password |
| --- | --- | --- |
ROWS"""


def test_what_a_heading_or_a_column_tells_is_masked_in_the_chunk_that_lacks_it(
    cortex_with: CortexMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = [f"Dock{number}!x{number * 7919 % 10007:05d}" for number in range(200)]
    rows = "\n".join(f"| harbour {n} | anna | {secret} |" for n, secret in enumerate(secrets))
    cortex = cortex_with(
        {"Harbour.md": APART.replace("ROWS", rows)}, INJECT.replace("REDACT", "true")
    )
    env = env_of(cortex, tmp_path)
    tools = Tools(Runtime(env))
    told = [
        tools.vault_search({"query": query, "detail": detail, "limit": 20})
        for query in ("harbour password", "harbour recovery codes", "harbour anna")
        for detail in ("snippet", "full")
    ]
    told += [tools.vault_build_context({"query": "harbour anna", "budget": 6000})]
    told += [tools.vault_read_note({"note": "Harbour", "start_line": n}) for n in (7, 60, 120)]
    for words in (
        ("inject", "--message", "Which password does the harbour have?"),
        ("pack", "build", "--query", "harbour password", "--redact"),
        ("pack", "build", "--query", "harbour anna"),
    ):
        told.append("".join(run(env, monkeypatch, *words)))
    everything = "\n".join(told)
    assert "harbour" in everything and "[REDACTED:" in everything
    for secret in (*secrets, "Sardine#yLbt7", "a1b2c-d3e4f", "9x8y7-z6w5v"):
        assert secret not in everything
