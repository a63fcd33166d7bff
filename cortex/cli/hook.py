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

from ..errors import CortexError
from ..ops.packages import REMEDY, missing_package
from .output import program, say

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

EXAMPLES = (
    ("hook pre_llm_call < payload.json", "what Cortex would put behind the user's message"),
)
DESCRIPTION = """\
Answer a shell hook of Hermes: the payload as JSON on stdin, {"context": TEXT} or nothing on
stdout. For a host that calls programs; where the plugin is on, it speaks itself, and this keeps
silent.

Exit codes: always 0, as a hook must never stop a turn; what went wrong is a line on stderr.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("event", metavar="EVENT", help=f"one of {', '.join(EVENTS)}")


def run(args: argparse.Namespace) -> int:
    try:
        _answer(args)
    except Exception as error:  # one guard, as in hooks.py
        _report(error)
    return 0


def _answer(args: argparse.Namespace) -> None:
    if args.event not in EVENTS:
        say(f"there is no hook {args.event!r}; there are {', '.join(EVENTS)}")
        return
    if args.event != "pre_llm_call" or os.environ.get(PLUGIN_SPEAKS) == "1":
        return  # a process that ends at once has nothing to warm up or to remember
    if sys.stdin is None:  # closed by whoever started this
        return
    if sys.stdin.isatty():
        say('waiting for a payload on stdin, e.g. {"extra": {"user_message": "..."}}')
    told = keywords(sys.stdin.buffer.read(MAX_INPUT + 1))
    text = _context(told, args.config) if told else None
    if text:
        # Escaped, so that no half of a character in a name can stop the line from being written.
        print(json.dumps({"context": text}))
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    if _is_something_late():
        os._exit(0)  # it would hold up the turn, or crash as the interpreter ends


def _report(error: Exception) -> None:
    if isinstance(error, BrokenPipeError):
        raise error  # nobody listens any more
    package = missing_package(error) if isinstance(error, ImportError) else None
    if package is not None:
        say(f"{package} is missing in this Python; {REMEDY}")
    elif isinstance(error, CortexError):
        say(str(error))
    else:  # its message may hold text of a note
        say(f"no context: {type(error).__name__}")


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
    return Injector(Runtime(env), program).context(told)


def _is_something_late() -> bool:
    own = [thread for thread in threading.enumerate() if thread.name.startswith("cortex-")]
    for thread in own:
        thread.join(0.05)  # one that is done takes a moment to end
    return any(thread.is_alive() for thread in own)
