"""Stands in for the host: loads the checkout as its plugin loader does and keeps what it gets.

Run as a script in a fresh process, it does so and prints what was registered and imported.
The real host is driven by test_host.py.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent


class Ctx:
    """What the host hands to register()."""

    def __init__(self) -> None:
        self.tools: dict[str, dict[str, Any]] = {}
        self.hooks: dict[str, list[Callable[..., Any]]] = {}
        self.commands: dict[str, dict[str, Any]] = {}

    def register_tool(self, name: str, **about: Any) -> None:
        self.tools[name] = about

    def register_hook(self, name: str, callback: Callable[..., Any]) -> None:
        self.hooks.setdefault(name, []).append(callback)

    def register_cli_command(self, name: str, **about: Any) -> None:
        self.commands[name] = about

    def call(self, tool: str, args: Any, **host: Any) -> Any:
        """A tool as the host calls it: with keywords of its own, and text for an answer."""
        about = {"task_id": "t", "session_id": "s", "user_task": None, **host}
        answer = self.tools[tool]["handler"](args, **about)
        assert isinstance(answer, str)
        return json.loads(answer)

    def fire(self, hook: str, **keywords: Any) -> list[Any]:
        """What a hook's callbacks give, less the Nones, as the host collects it."""
        keywords = {"telemetry_schema_version": "hermes.observer.v1", **keywords}
        given = [callback(**keywords) for callback in self.hooks[hook]]
        return [value for value in given if value is not None]


def load(ctx: Any, folder: Path = CHECKOUT, name: str = "cortex") -> types.ModuleType:
    """The plugin in `folder`, imported and registered with `ctx` as hermes_cli.plugins does it."""
    if "hermes_plugins" not in sys.modules:
        parent = types.ModuleType("hermes_plugins")
        parent.__path__ = []
        sys.modules["hermes_plugins"] = parent
    full = f"hermes_plugins.{name}"
    spec = importlib.util.spec_from_file_location(
        full, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    module.register(ctx)
    return module


def host_parser(ctx: Ctx) -> argparse.ArgumentParser:
    """A parser that takes `hermes cortex …`, built as hermes_cli.main builds its own."""
    parser = argparse.ArgumentParser(prog="hermes")
    parser.add_argument("--version", "-V", action="store_true")
    parser.add_argument("--model", "-m")
    subparsers = parser.add_subparsers(dest="command")
    for name, about in ctx.commands.items():
        made = subparsers.add_parser(
            name,
            help=about["help"],
            description=about["description"],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        about["setup_fn"](made)
        made.set_defaults(func=about["handler_fn"])
    subparsers.required = True
    return parser


HERMES = """#!{python}
# The installed `hermes`, where Cortex is a checkout in the plugins folder and nothing else: our own
# installation for the tests puts it on the path too, and is a plugin by its entry point.
import os, sys
from importlib import metadata

sys.path = [place for place in sys.path if os.path.realpath(place) != {checkout!r}]
points = [point for found in metadata.distributions() for point in found.entry_points]
others = metadata.EntryPoints(point for point in points if not point.value.startswith("cortex."))
metadata.entry_points = others.select
from hermes_cli.main import main

sys.exit(main())
"""


def write_hermes(file: Path) -> Path:
    """An executable `hermes` that knows Cortex only as the plugin in its home."""
    file.write_text(HERMES.format(python=sys.executable, checkout=str(CHECKOUT)), "utf-8")
    file.chmod(0o755)
    return file


if __name__ == "__main__":
    sys.path = [place for place in sys.path if Path(place or ".").resolve() != CHECKOUT]
    before = set(sys.modules)
    ctx = Ctx()
    load(ctx)
    loaded = sorted(set(sys.modules) - before)
    told = {"tools": list(ctx.tools), "hooks": list(ctx.hooks), "commands": list(ctx.commands)}
    print(json.dumps({**told, "loaded": loaded}))
