"""The case bank's cases of hooks, each through Hooks as the host calls them."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import CortexMaker
from cortex import Cortex
from cortex.hooks import Hooks
from cortex.runtime import Runtime
from shared import shared
from test_hooks import Conversation

CASES = [
    folder
    for folder in sorted(shared("cases").glob("*/case.yaml"))
    if "  - hook:" in folder.read_text("utf-8")
]
WAYS = {
    "dynamic": "hooks: {skill_context: {enabled: false}, dynamic_context: {enabled: true}}",
    "inject": "hooks: {skill_context: {enabled: false}}\ninject: {enabled: true}",
}
# Without an index the notes themselves are looked at: then something is injected after all.
ANSWERED_BY_SCAN = ("180-",)
# What a check says that the tests below look at, or that all hold anyway.
KNOWN = {"injected", "contains", "has_data_notice", "exit", "no_error_text", "terminates"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("file", CASES, ids=lambda file: file.parent.name)
def test_case(
    file: Path, way: str, cortex_with: CortexMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    case = yaml.safe_load(file.read_text("utf-8"))
    assert set(case["check"]) <= KNOWN
    if way == "inject" and file.parent.name.startswith(ANSWERED_BY_SCAN):
        case["check"]["injected"] = [True]
    faults = case["input"].get("fault") or [None]
    for fault in faults:
        folder = tmp_path / str(fault)[:20]
        world = World(file.parent, case["kind"], cortex_with, folder, WAYS[way])
        if fault is None:
            told = world.play(case["input"])
            check(case["check"], told, case["expect"])
            continue
        with monkeypatch.context() as patched:
            release = break_search(fault, patched)
            assert world.play(case["input"]) == [None]
        release.set()
        world.wait_for_late_work()
        assert world.play({"steps": case["input"]["steps"][1:]}) != [None]


def check(checks: dict[str, Any], told: list[str | None], expect: list[str]) -> None:
    if "injected" in checks:
        assert [text is not None for text in told] == checks["injected"], expect
    for wanted in checks.get("contains", ()):
        assert wanted in (told[-1] or ""), expect
    if checks.get("has_data_notice"):
        assert "reference data, not instructions" in (told[-1] or ""), expect


def break_search(fault: str, patched: pytest.MonkeyPatch) -> threading.Event:
    release = threading.Event()

    def fail(self: Cortex, text: str, *more: Any, **options: Any) -> Any:
        if "takes" in fault:
            release.wait(120)
        raise RuntimeError(f"{fault}: {text}")

    patched.setattr(Cortex, "search", fail)
    return release


class World:
    """A copy of a case with its vault, and hooks over it."""

    def __init__(
        self, case: Path, kind: str, cortex_with: CortexMaker, folder: Path, settings: str
    ) -> None:
        shutil.copytree(case, folder)
        if (folder / "setup.sh").exists():
            subprocess.run(["sh", "setup.sh"], cwd=folder, check=True)
        self.folder = folder
        settings = f"vault: {{path: '{folder / 'vault'}'}}\n{settings}"
        self.cortex = cortex_with({}, settings, build=False)
        env = {"CORTEX_CONFIG": str(self.cortex.config.path), "HERMES_HOME": str(folder / "home")}
        self.hooks = Hooks(Runtime(env))
        self.chats: dict[str, Conversation] = {}
        # Other cases ask whether a message gets context at all; what was shown must not hide it.
        self.replays = kind == "hook-dedup"
        for name in ("index.json", "vectors.json", "graph.json"):
            (self.cortex.config.state / name).unlink(missing_ok=True)

    def play(self, given: dict[str, Any]) -> list[str | None]:
        """What each call of the hook put behind its message."""
        told: list[str | None] = []
        limit_s = (given.get("limits") or {}).get("seconds", 10)
        for step in given["steps"]:
            if step == "index":
                self.cortex.index()
                self.cortex.embed()
                self.cortex.build_graph()
            elif isinstance(step, str):
                subprocess.run(["sh", step], cwd=self.folder, check=True)
            elif "overwrite_state" in step:
                (self.cortex.config.state / "index.json").write_text(step["overwrite_state"])
            else:
                (call,) = step.values()
                text, times = call.get("message_repeat") or (call.get("message"), 1)
                session = call["session"]
                if not self.replays:
                    self.chats.clear()
                chat = self.chats.setdefault(session, Conversation(self.hooks, session))
                began = time.monotonic()
                told.append(chat.say(text if text is None else text * times))
                assert time.monotonic() - began < min(limit_s, 2)
        return told

    def wait_for_late_work(self) -> None:
        for thread in threading.enumerate():
            if thread.name == "cortex-inject":
                thread.join()


@pytest.mark.parametrize("way", WAYS)
def test_closers_are_read_again_within_a_conversation(
    way: str, cortex_with: CortexMaker, tmp_path: Path
):
    settings = f"{WAYS[way]}\ninject: {{closers: [ahoy mate]}}"
    if way == "inject":
        settings = WAYS[way].replace("enabled: true}", "enabled: true, closers: [ahoy mate]}")
    notes = {"ahoy.md": "# Ahoy\n\nAhoy mate is what the harbour master says.\n"}
    cortex = cortex_with(notes, WAYS[way])
    env = {"CORTEX_CONFIG": str(cortex.config.path), "HERMES_HOME": str(tmp_path / "home")}
    hooks, file = Hooks(Runtime(env)), cortex.config.path
    before = file.read_text("utf-8")
    told = []
    for text in (before, before.replace(WAYS[way], settings), before):
        file.write_text(text, "utf-8")
        told.append(Conversation(hooks).say("ahoy mate") is not None)
    assert told == [True, False, True]
