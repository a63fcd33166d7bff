"""`cortex status`."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
from collections.abc import Iterator, Sequence

from ..types import Json
from .options import add_json, with_config
from .output import counted, hint, print_json, styled, table, typed, visible

COMMANDS = {"index": "index", "vectors": "embed", "graph": "graph build"}  # what builds each

EXAMPLES = (
    ("status", "what is built, what lags behind, what to run next"),
    ("status --json", "the same, for a program"),
)
DESCRIPTION = """\
What is built, how much of it, what lags behind the vault, how the last runs ended, and which
commands to run next. Quick: labels and sizes, no contents; `cortex doctor` looks deeper.

Exit codes: 0 sound; 1 there is something to mend, and it says what; 2 the config is wrong.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    status = Cortex.open(args.config, env=os.environ).status(os.environ)
    status["next"] = [with_config(command, args.config) for command in status["next"]]
    if args.json:
        print_json(status)
    else:
        print("\n".join(_told(status)))
    return 1 if status["problems"] else 0


def _told(status: dict[str, Json]) -> Iterator[str]:
    cortex = status["cortex"]
    for name, value in (
        ("cortex", f"{cortex['version']}, {cortex['loaded']} {cortex['folder']}"),
        ("config", status["config"]),
        ("vault", status["vault"] or "not set"),
        ("state", status["state"]),
        ("model", _model(status)),
        ("index", _index(status)),
        ("vectors", _vectors(status)),
        ("graph", _graph(status)),
        ("freshness", _freshness(status)),
    ):
        yield visible(f"{name + ':':11}{value}")
    if status["runs"]:
        yield "last runs:"
        yield table([["", COMMANDS[kind], *_run(run)] for kind, run in status["runs"].items()])
    for what, names in status["platforms"].items():
        yield visible(f"{what + ':':11}for {', '.join(names) or 'nobody'}")
    if status["tools_write"]:
        yield f"{'writing:':11}agents may add notes to the vault (tools.write: true)"
    yield _blocks(status["hook_lifecycle"])
    if status["problems"]:
        yield styled("to mend:", "red", sys.stdout)
    for problem in status["problems"]:
        yield visible(hint(f"- {problem}"))
    if status["warnings"]:
        yield styled("to know:", "yellow", sys.stdout)
    for warning in status["warnings"]:
        yield visible(hint(f"- {warning}"))
    if status["next"]:
        yield styled("next:", "bold", sys.stdout)
    for command in status["next"]:
        yield visible(f"  {typed(command)}")


def _model(status: dict[str, Json]) -> str:
    if status["model_served_by"]:
        return f"{status['model']}, served by {status['model_served_by']}"
    remark = {True: ", its weights are here", False: ", not here"}
    chosen = ""
    if choice := status["model_choice"]:
        why = f": {choice['why']}" if choice["why"] else ", until there is an index"
        chosen = f"; chosen by auto{why}"
    return str(status["model"]) + remark.get(status["model_available"], "") + chosen


def _index(status: dict[str, Json]) -> str:
    if status["generation"] is None:
        return "none"
    languages = ", ".join(
        f"{count:,} too short to tell" if name == "und" else f"{name} {count:,}"
        for name, count in status["languages"].items()
    )
    counts = f"{counted(status['notes'], 'note')}, {counted(status['chunks'], 'chunk')}"
    return f"{counts}{f' ({languages})' if languages else ''}, generation {status['generation']}"


def _vectors(status: dict[str, Json]) -> str:
    if status["generations"]["vectors"] is None:
        return "none"
    vectors = f"{counted(status['vectors'], 'vector')} of {status['vectors_model']}"
    return vectors + _built_from(status, "vectors")


def _graph(status: dict[str, Json]) -> str:
    graph = status["graph"]
    if graph is None:
        return "none"
    nodes, edges = counted(graph["nodes"], "node"), counted(graph["edges"], "edge")
    broken = counted(graph["broken"], "broken link")
    return f"{nodes}, {edges}, {broken}" + _built_from(status, "graph")


def _built_from(status: dict[str, Json], kind: str) -> str:
    built_from = status["generations"][kind]["built_from"]
    which = "this index" if built_from == status["generation"] else f"generation {built_from}"
    return f", of {which}"


def _freshness(status: dict[str, Json]) -> str:
    freshness = status["freshness"]
    if freshness is None:
        return "no index yet" if status["generation"] is None else "not known"
    if freshness["current"]:
        return "the index is as new as the vault"
    counts = [f"{freshness[what]:,} {what}" for what in ("added", "changed", "removed")]
    return f"{', '.join(counts)} since the index"


def _run(run: dict[str, Json]) -> list[str]:
    """When it began (local time), how long it took, how it ended."""
    began = dt.datetime.fromisoformat(run["started"]).astimezone()
    seconds = "" if run["seconds"] is None else f"{run['seconds']:.1f} s"
    ended = "running, or killed" if run["outcome"] == "running" else run["outcome"]
    error = f": {run['error']}" if run["error"] else ""
    return [f"{began:%Y-%m-%d %H:%M:%S}", seconds, f"{ended}{error}"]


def _blocks(rows: Sequence[dict[str, Json]]) -> str:
    """A line a block: how it is set, when it is told; what it tells and where, or why it does not.

    All that is known of them stands in `cortex config show`.
    """
    from ..inject.rows import SETTING

    cells = []
    for row in rows:
        if row["origin"] == "legacy-absent":
            continue  # of an older release: only for those who still have it
        name, setting = row["name"], SETTING[row["name"]]
        told = row["skipped"]
        if row["effective"]:
            source = f" from {row['source']}" if row["source"] else ""
            told = f"{row['payload']}{source} -> {row['target']}"
        if setting != name:
            name += f" ({setting})"
        cells.append(["", name, "on" if row["effective"] else "off", row["timing"], told])
    return table(cells)
