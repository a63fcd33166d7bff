"""What Hermes Agent is given of Cortex: its tools, the hooks, the command `hermes cortex`.

Installed by pip, this module is the plugin (entry point `hermes_agent.plugins`); in a checkout,
plugin_runtime.py calls it. It runs at the start of every chat, so it imports nothing heavy.
"""

from __future__ import annotations

import argparse
import functools
import logging
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from .runtime import Runtime

TOOLSET = "cortex"
EMOJI = {
    "vault_search": "🔎",
    "vault_read_note": "📖",
    "vault_build_context": "📚",
    "vault_write_note": "📝",
}
# Tells the processes that the host starts, above all its shell hooks, that the hooks here speak.
SPEAKS = "HERMES_CORTEX_PLUGIN"

_logger = logging.getLogger(__name__)


def register(ctx: Any) -> None:
    """Register what can be; never raises.

    The host does not take back what was registered before an exception, and ends on SystemExit,
    so each part fails alone, and the log says so.
    """
    for what, part in (("command", _command), ("tools", _tools), ("hooks", _hooks)):
        try:
            part(ctx)
        except (Exception, SystemExit):
            _logger.exception("the %s of Cortex could not be registered", what)


@functools.cache
def _runtime() -> Runtime:
    """One a process, however often the host rescans its plugins."""
    from .runtime import Runtime

    return Runtime()


# Tools and hooks


def _tools(ctx: Any) -> None:
    from . import plugin

    tools = plugin.Tools(_runtime())
    offered: list[tuple[Any, dict[str, Any]]] = [(schema, {}) for schema in plugin.SCHEMAS]
    # Asked for each list of tools, and a no is a warning in the host's log: so not without need.
    if _runtime().may_want_writing():
        offered.append((plugin.WRITE_SCHEMA, {"check_fn": tools.may_write}))
    for schema, about in offered:
        name = schema["name"]
        ctx.register_tool(
            name=name,
            toolset=TOOLSET,
            schema=schema,
            handler=getattr(tools, name),
            description=schema["description"],
            emoji=EMOJI.get(name, ""),
            **about,
        )


def _hooks(ctx: Any) -> None:
    from . import hooks

    callbacks = hooks.Hooks(_runtime())
    for name in hooks.HOOKS:
        ctx.register_hook(name, getattr(callbacks, name))
    global _speaks_itself
    if SPEAKS not in os.environ:  # else what started this process speaks
        os.environ[SPEAKS] = "1"
        _speaks_itself = True


_speaks_itself = False


# The command


def _command(ctx: Any) -> None:
    ctx.register_cli_command(
        name="cortex",
        help="Search, read and cite your Markdown notes",
        setup_fn=keep_arguments,
        handler_fn=run_command,
        description="Cited answers out of your own Markdown notes.",
    )


def keep_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the host's parser for `hermes cortex` keep the words behind it as they were typed.

    So that `cortex.cli` reads them, and options, help, errors and exit codes are those of the
    command `cortex`. The host calls parse_known_args, through argparse, on this very object.
    """

    def keep(
        args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        # No arguments: what the host set as defaults, its handler above all, comes along.
        kept, _ = argparse.ArgumentParser.parse_known_args(parser, [], namespace)
        kept.cortex_arguments = list(sys.argv[1:] if args is None else args)
        return kept, []

    parser.parse_known_args = keep  # type: ignore[assignment, method-assign]


def run_command(args: argparse.Namespace) -> NoReturn:
    """Run `hermes cortex …`. The host drops what a handler returns, so this exits itself."""
    from . import cli

    if _speaks_itself:  # not in a process that runs a command, and so fires no hooks
        os.environ.pop(SPEAKS, None)
    cli.decode_names_as_utf8()
    sys.exit(cli.main(args.cortex_arguments, program=_runtime().program()))
