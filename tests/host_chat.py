"""Conversations in the real host, many turns a second: its terminal back end, driven by a pipe.

`tui_gateway` is what `hermes --tui` runs behind its screen: JSON-RPC by lines, one agent a
conversation, all of them in one process, each turn on a thread of its own. A turn takes a
twentieth of a second, where a command of the host takes three.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from host_driver import CHECKOUT, HERMES

WAIT_S = 90.0


def write_back_end(file: Path) -> Path:
    """An executable that runs the back end, and knows Cortex only as the plugin in its home."""
    text = HERMES.format(python=sys.executable, checkout=str(CHECKOUT))
    text = text.replace("from hermes_cli.main import main", "from tui_gateway.entry import main")
    file.write_text(text, "utf-8")
    file.chmod(0o755)
    return file


class BackEnd:
    """One process of the host, for any number of conversations."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._told = threading.Condition()
        self._asked = 0
        self._answers: dict[int, Any] = {}
        self._turns: dict[str, int] = {}  # conversation -> turns that have ended
        self._failed: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def call(self, method: str, **params: Any) -> Any:
        """What the host answers; an error of it fails the test."""
        assert self._process.stdin is not None
        with self._told:
            self._asked += 1
            number = self._asked
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        self._wait(lambda: number in self._answers, method)
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def chat(self, **params: Any) -> Chat:
        made = self.call("session.create", **params)
        return Chat(self, made["session_id"], made["stored_session_id"])

    def resume(self, stored: str, **params: Any) -> Chat:
        """A conversation that state.db holds."""
        made = self.call("session.resume", session_id=stored, **params)
        return Chat(self, made["session_id"], stored)

    def turn(self, live: str, text: str, **params: Any) -> None:
        """One turn of the user, to its end."""
        before = self._turns.get(live, 0)
        self.call("prompt.submit", session_id=live, text=text, **params)
        self._wait(lambda: self._turns.get(live, 0) > before, f"the turn {text!r}")
        assert not self._failed, self._failed

    def _wait(self, is_there: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + WAIT_S
        with self._told:
            while not is_there():
                assert self._process.poll() is None, f"{what}: the host has ended"
                assert time.monotonic() < until, f"{what}: no answer of the host"
                self._told.wait(0.5)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        answered = set()  # conversations whose turn has its answer, and goes on for a moment
        for line in self._process.stdout:
            message = json.loads(line)
            with self._told:
                if "id" in message:
                    self._answers[message["id"]] = message
                    self._told.notify_all()
                    continue
                event = message["params"]
                live, kind = event.get("session_id", ""), event["type"]
                if kind == "message.complete":
                    answered.add(live)
                elif kind == "session.info" and live in answered:
                    answered.discard(live)
                    self._turns[live] = self._turns.get(live, 0) + 1
                elif kind == "error":
                    self._failed.append(str(event.get("payload")))
                self._told.notify_all()


class Chat:
    """One conversation in a back end."""

    def __init__(self, back_end: BackEnd, live: str, stored: str) -> None:
        self._back_end = back_end
        self._live = live
        self.stored = stored  # its id in state.db

    def say(self, text: str) -> None:
        self._back_end.turn(self._live, text)

    def say_instead(self, number: int, text: str) -> None:
        """Take back the user's message of that number, from 0, and all after it; say this."""
        self._back_end.turn(self._live, text, truncate_before_user_ordinal=number)

    def compress(self) -> Any:
        return self._back_end.call("session.compress", session_id=self._live)

    def name(self, title: str) -> None:
        self._back_end.call("session.title", session_id=self._live, title=title)


@contextmanager
def back_end(home: Path, env: Mapping[str, str]) -> Iterator[BackEnd]:
    """A running back end of a home, with its conversations written down at the end."""
    with (home / "back-end.log").open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            [str(write_back_end(home / "back-end"))],
            env=dict(env),
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
        )
        assert process.stdin is not None and process.stdout is not None
        try:
            yield BackEnd(process)
        finally:
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)
            process.stdout.close()
