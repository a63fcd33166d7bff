"""`cortex hook EVENT`: what a host with shell hooks alone asks on stdin, answered on stdout.

It always ends with 0: a hook must never stop a turn.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from typing import Any

from .output import say

MAX_INPUT = 64_000_000  # bytes: a long conversation, told whole
EVENTS = (
    "pre_llm_call",
    "on_session_start",
    "on_session_end",
    "on_session_finalize",
    "on_session_reset",
    "subagent_start",
)
# Set by the plugin for all that its process starts: the plugin has spoken already.
PLUGIN_SPEAKS = "HERMES_CORTEX_PLUGIN"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("event", metavar="EVENT", help=f"one of {', '.join(EVENTS)}")


def run(args: argparse.Namespace) -> int:
    if args.event not in EVENTS:
        say(f"there is no hook {args.event!r}; there are {', '.join(EVENTS)}")
        return 0
    if args.event != "pre_llm_call" or os.environ.get(PLUGIN_SPEAKS) == "1":
        return 0  # a process that ends at once has nothing to warm up or to remember
    if sys.stdin.isatty():
        say('waiting for a payload on stdin, e.g. {"extra": {"user_message": "..."}}')
    told = keywords(sys.stdin.buffer.read(MAX_INPUT + 1))
    text = _context(told, args.config) if told else None
    if text:
        # Escaped, so that no half of a character in a name can stop the line from being written.
        print(json.dumps({"context": text}))
    sys.stdout.flush()
    sys.stderr.flush()
    if _is_something_late():
        os._exit(0)  # it would hold up the turn, or crash as the interpreter ends
    return 0


def keywords(raw: bytes) -> dict[str, Any]:
    """The payload of a hook as keywords of pre_llm_call; {} if it is none.

    {"session_id", "extra": {"user_message", "conversation_history", ...}}, or all of it flat, where
    `message` and `session` will do.
    """
    if len(raw) > MAX_INPUT:
        return {}
    try:
        payload = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(payload, dict):
        return {}
    extra = payload.get("extra")
    told = {**payload, **(extra if isinstance(extra, dict) else {})}
    for name, other in (("user_message", "message"), ("session_id", "session")):
        if told.get(name) is None:
            told[name] = told.get(other)
    return told


def _context(told: dict[str, Any], config: str | None) -> str | None:
    from ..inject.injector import Injector
    from ..runtime import Runtime

    env = dict(os.environ)
    if config:
        env["CORTEX_CONFIG"] = os.path.abspath(config)
    injector = Injector(Runtime(env))
    try:
        return injector.context(told)
    except Exception as error:  # one guard, as in hooks.py
        injector.report("pre_llm_call", error)
        return None


def _is_something_late() -> bool:
    own = [thread for thread in threading.enumerate() if thread.name.startswith("cortex-")]
    for thread in own:
        thread.join(0.05)  # one that is done takes a moment to end
    return any(thread.is_alive() for thread in own)
