"""Put the questions of a collection of conversations to injection, and print what it tells.

    python -m benchmarks.injection [--eval DIR] [--split even|odd|all] [--thresholds 0.3 0.4 …]

The conversations of locomo-dev become sessions in a database that the host's own code makes, and
are the vault too. A turn is a question in a session of its own; it has its evidence when a passage
of a session or a note that answers it was injected. A turn is false when something is injected to
a question of another collection, on which no conversation has anything to say.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.quality.collection import BadCollection, Question, QuestionSet, evenly, read
from cortex import Cortex, CortexError
from cortex.inject.preview import preview

from .conversations import Conversation, read_conversations, write_sessions

CONVERSATIONS = "locomo-dev"
STRANGERS = ("xquad-en", "scifact")  # on something else
GOAL = 0.85
SOURCES = {"sessions": ("sessions",), "vault": ("vault",), "both": ("sessions", "vault")}
ALL, EACH = "one database", "one for each conversation"


@dataclass(frozen=True, slots=True)
class Figures:
    mode: str
    sources: str
    threshold: float | None  # of sessions; None is the default of the settings
    turns: int
    evidence: float  # turns whose evidence was injected, of all
    empty: float  # turns into which nothing was
    tokens: float  # a turn, all that is put behind a message
    strange_turns: int
    false: float  # strange turns into which something was injected
    false_tokens: float


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.injection",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--eval", type=Path, help="where collections lie; default: $CORTEX_EVAL")
    parser.add_argument("--models", type=Path, help="the model's weights; default: fetched")
    parser.add_argument("--model", help="default: the one of an empty config")
    parser.add_argument("--split", choices=("even", "odd", "all"), default="all")
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="0: all (default)")
    parser.add_argument(
        "--strangers", type=int, default=150, metavar="N", help="of each other collection"
    )
    parser.add_argument("--sources", nargs="+", choices=tuple(SOURCES), default=tuple(SOURCES))
    parser.add_argument(
        "--thresholds", nargs="+", type=float, metavar="X", help="of sessions, one after another"
    )
    parser.add_argument("--without-names", action="store_true", help="of speakers, in the sessions")
    parser.add_argument("--each", action="store_true", help="a database for each conversation too")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args(words)
    checkout = Path(__file__).resolve().parent.parent.parent
    given = args.eval or os.environ.get("CORTEX_EVAL") or checkout.parent / "shared" / "eval"
    root = Path(given).resolve()
    try:
        collection = read(root, CONVERSATIONS)
        asked = collection.sets[0].part(args.split)
        conversations = read_conversations(collection.vault)
        strange = [
            question.text
            for name in STRANGERS
            for question in evenly(read(root, name).sets[0].questions, args.strangers)
        ]
    except BadCollection as error:
        print(f"benchmarks.injection: {error}", file=sys.stderr)
        return 2
    questions = evenly(asked.questions, args.questions)
    print(HEAD)
    found = []
    with tempfile.TemporaryDirectory() as built:
        for mode in (ALL, EACH) if args.each else (ALL,):
            for name in args.sources:
                thresholds = args.thresholds if args.thresholds and name != "vault" else (None,)
                for threshold in thresholds:
                    try:
                        figures = measure(
                            mode, name, threshold, collection.vault, Path(built), conversations,
                            asked, questions, strange, args.models, args.model,
                            not args.without_names,
                        )  # fmt: skip
                    except CortexError as error:
                        print(f"benchmarks.injection: {error}", file=sys.stderr)
                        return 1
                    found.append(figures)
                    print(row(figures), flush=True)
    if args.json:
        report = {"schema_version": 1, "split": args.split, "rows": [asdict(f) for f in found]}
        args.json.write_text(json.dumps(report), "utf-8")
    return 0


HEAD = (
    f"{'':26}{'sources':10}{'threshold':>10}{'turns':>7}{'evidence':>10}{'empty':>7}{'tokens':>8}"
    f"{'strange':>9}{'false':>7}{'tokens':>8}"
)


def row(one: Figures) -> str:
    threshold = "default" if one.threshold is None else f"{one.threshold:g}"
    goal = "" if one.evidence >= GOAL else f"  below {GOAL:g}"
    return (
        f"{one.mode:26}{one.sources:10}{threshold:>10}{one.turns:7}{one.evidence:10.3f}"
        f"{one.empty:7.3f}{one.tokens:8.0f}{one.strange_turns:9}{one.false:7.3f}"
        f"{one.false_tokens:8.0f}{goal}"
    )


def measure(
    mode: str,
    sources: str,
    threshold: float | None,
    vault: Path,
    built: Path,
    conversations: Sequence[Conversation],
    asked: QuestionSet,
    questions: Sequence[Question],
    strange: Sequence[str],
    models: Path | None,
    model: str | None,
    with_names: bool,
) -> Figures:
    """One row. In the mode EACH a question goes to the conversation that its evidence is in."""
    groups: dict[str, list[Conversation]] = {}
    for one in conversations:
        groups.setdefault(one.note.partition("/")[0] if mode == EACH else "", []).append(one)
    hits, empty, tokens, turns = 0, 0, 0, 0
    false, false_tokens, strange_turns = 0, 0, 0
    for number, (group, members) in enumerate(sorted(groups.items())):
        with _world(
            vault, group, built, members, sources, threshold, models, model, with_names
        ) as world:
            for question in questions:
                gold = {note for note in asked.judgments[question.id] if note.startswith(group)}
                if gold:
                    told = world.turn(question.text)
                    turns += 1
                    hits += bool(gold & told.notes)
                    empty += not told.notes
                    tokens += told.tokens
            for text in strange[number :: len(groups)]:
                told = world.turn(text)
                strange_turns += 1
                false += bool(told.notes)
                false_tokens += told.tokens
    return Figures(
        mode, sources, threshold, turns, hits / turns, empty / turns, tokens / turns,
        strange_turns, false / max(strange_turns, 1), false_tokens / max(strange_turns, 1),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    notes: frozenset[str]  # paths from the vault: of notes, and of those that sessions came from
    tokens: int


@dataclass(frozen=True, slots=True)
class World:
    """A vault, and a Hermes home with a session database."""

    cortex: Cortex
    home: Path
    env: dict[str, str]
    notes: dict[str, str]  # session id -> note
    prefix: str  # of the paths in this vault, where it is a part of all notes

    def turn(self, message: str) -> Turn:
        """One message in a session that nobody knows yet, as the injector answers it."""
        report: Any = preview(
            self.cortex, message, home=self.home, env=self.env, is_first=False, may_wait=True
        )
        found = set()
        for source in report.sources:
            for item in source.items:
                kind, _, rest = item.id.partition(":")
                if kind == "session":
                    found.add(self.notes[rest.partition(":")[0]])
                elif kind == "note":
                    found.add(self.prefix + rest.partition("#")[0])
        return Turn(frozenset(found), report.tokens)


@contextmanager
def _world(
    vault: Path,
    group: str,
    built: Path,
    conversations: Sequence[Conversation],
    sources: str,
    threshold: float | None,
    models: Path | None,
    model: str | None,
    with_names: bool,
) -> Iterator[World]:
    on = SOURCES[sources]
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        notes = write_sessions(home / "state.db", conversations, with_names=with_names)
        sessions: dict[str, Any] = {"enabled": "sessions" in on}
        if threshold is not None:
            sessions["threshold"] = threshold
        settings: dict[str, Any] = {
            "vault": {"path": str(vault / group)},
            "index": {"chunks_path": str(built / (group or "all") / "chunks.jsonl")},
            "inject": {
                "enabled": True,
                "vault": {"enabled": "vault" in on},
                "sessions": sessions,
                "fabric": {"enabled": False},
                "facts": {"enabled": False},
            },
            "hooks": {"skill_context": {"enabled": False}},
            "embeddings": {},
        }
        if models:
            settings["embeddings"]["cache_folder"] = str(models)
        if model:
            settings["embeddings"]["model"] = model
        config = home / "config.yaml"
        config.write_text(yaml.safe_dump(settings), "utf-8")
        env = {"HERMES_HOME": name}
        cortex = Cortex.open(config, env=env)
        if "vault" in on:
            cortex.index()
            if not models:
                cortex.fetch_model()
            cortex.embed()
        yield World(cortex, home, env, notes, f"{group}/" if group else "")
