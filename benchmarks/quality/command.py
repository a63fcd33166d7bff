"""Run the collections and print our figures beside the reference rows.

    python -m benchmarks.quality [NAME ...] [--eval DIR] [--split even|odd|all] [--ablate]

A collection is a folder with vault/, queries.jsonl and qrels.tsv (and any queries-X.jsonl beside
qrels-X.tsv; an evidence.tsv adds the share of evidence lines). NAME:X is one such set alone,
NAME: the plain one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cortex
from cortex import CortexError

from . import lines
from .built import Built
from .collection import BadCollection, Collection, QuestionSet, evenly, names, read
from .measures import MEASURES, mean, p_value, scored

REFERENCES = ("BM25", "BM25, whole files", "vectors", "plain RRF")
OURS = "ours"
CHANNELS: dict[str, Sequence[str]] = {"our bm25": ("bm25",), "our vector": ("vector",)}
ABLATIONS: dict[str, Sequence[str]] = {
    "ours without bm25": ("vector", "graph"),
    "ours without vector": ("bm25", "graph"),
    "ours without graph": ("bm25", "vector"),
}
SCHEMA_VERSION = 1
NOISE = 0.05  # a p at or above it


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("collections", nargs="*", metavar="NAME", help="default: all there are")
    parser.add_argument("--eval", type=Path, help="where they lie; default: $CORTEX_EVAL")
    parser.add_argument("--cache", type=Path, help="index and vectors; default: the user's cache")
    parser.add_argument("--models", type=Path, help="the model's weights; default: in the cache")
    parser.add_argument("--model", help="default: the one of an empty config")
    parser.add_argument("--split", choices=("even", "odd", "all"), default="all")
    parser.add_argument("--ablate", action="store_true", help="also without each channel")
    parser.add_argument(
        "--lines",
        type=int,
        default=250,
        metavar="N",
        help="questions whose evidence lines are looked for, evenly chosen; 0: all (default: 250)",
    )
    parser.add_argument(
        "--evidence",
        type=int,
        nargs="?",
        const=50,
        metavar="N",
        help="instead: N questions of each set put to each vault of their language (default: 50)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="all figures, per question too")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="compare with an earlier --json"
    )
    args = parser.parse_args(words)
    root = args.eval or Path(os.environ.get("CORTEX_EVAL") or _checkout().parent / "shared/eval")
    cache = args.cache or _user_cache() / "hermes-cortex" / "benchmarks"
    try:
        before = _earlier(args.against) if args.against else {}
        wanted = _wanted(root, args.collections)
        report: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "cortex": cortex.__version__,
            "split": args.split,
            "model": args.model,
            "sets": [],
        }
        _tell(f"cortex {cortex.__version__} of {Path(cortex.__file__).parent.parent}")
        models = args.models or cache / "models"
        if args.evidence is not None:
            from . import abstention  # needs what older versions of the library have not

            vaults = {
                collection.name: (collection, Built(collection.vault, cache, models, args.model))
                for collection, _ in wanted
            }
            found = list(abstention.asked(vaults, args.evidence))
            print(abstention.table(found))
            if args.json:
                report["evidence"] = abstention.figures(found)
                _write(args.json, report)
            return 0
        for collection, sets in wanted:
            _tell(f"{collection.name}: building")
            built = Built(collection.vault, cache, models, args.model)
            _tell(f"{collection.name}: built in {built.built_s:.1f} s")
            for part in sets:
                chosen = part.part(args.split)
                figures = measure(built, collection, chosen, args.ablate, args.lines)
                report["sets"].append(figures)
                print(table(figures, before.get(figures["label"])), flush=True)
                if args.json:
                    _write(args.json, report)
    except (BadCollection, CortexError) as error:
        print(f"benchmarks.quality: {error}", file=sys.stderr)
        return 2 if isinstance(error, BadCollection) else 1
    return 0


def measure(
    built: Built,
    collection: Collection,
    questions: QuestionSet,
    ablate: bool = False,
    most_lines: int = 0,
) -> dict[str, Any]:
    """The figures of one set of questions: per row and measure a mean and its interval."""
    rows: dict[str, Sequence[str] | None] = {OURS: None, **CHANNELS}
    if ablate:
        rows |= ABLATIONS
    rankings: dict[str, dict[str, list[str]]] = {}
    taken: list[float] = []
    began = time.perf_counter()
    for at, question in enumerate(questions.questions):
        for row, notes in built.plain_rankings(question.text).items():
            rankings.setdefault(row, {})[question.id] = notes
        for row, channels in rows.items():
            found = built.rank(question.text, channels)
            rankings.setdefault(row, {})[question.id] = found.notes
            if row == OURS:
                taken.append(found.seconds)
        if sys.stderr.isatty() and at % 20 == 0:
            print(f"\r{questions.label}: {at}/{len(questions.questions)}", end="", file=sys.stderr)
    values = {row: scored(ranking, questions.judgments) for row, ranking in rankings.items()}
    figures: dict[str, Any] = {
        "label": questions.label,
        "collection": questions.collection,
        "set": questions.name,
        "model": built.model,
        "language": built.language,
        "notes": len(built.notes),
        "chunks": len(built.chunks),
        "questions": len(questions.questions),
        "seconds": round(time.perf_counter() - began, 1),
        "search_ms": {
            "median": round(statistics.median(taken) * 1000, 1),
            "p95": round(float(np.percentile(taken, 95)) * 1000, 1),
        },
        "rows": {
            row: {name: _told(mean(found)) for name, found in by_measure.items()}
            for row, by_measure in values.items()
        },
        "best": {name: _best(values, name) for name in MEASURES},
        "ids": [question.id for question in questions.questions],
        "per_question": {
            row: {name: found.round(6).tolist() for name, found in by_measure.items()}
            for row, by_measure in values.items()
        },
    }
    if not questions.name and collection.evidence:
        chosen = evenly(questions.questions, most_lines)
        shares = lines.shares(built, chosen, collection.evidence)
        figures["evidence_questions"] = len(chosen)
        figures["evidence_lines"] = {
            row: {place: _told(mean(found)) for place, found in places.items()}
            for row, places in shares.items()
        }
    return figures


def _best(values: dict[str, Any], name: str) -> dict[str, Any]:
    """Ours against the best reference and the best of our channels, by one measure."""
    found: dict[str, Any] = {}
    for kind, rows in (("reference", REFERENCES), ("channel", tuple(CHANNELS))):
        row = max(rows, key=lambda row: values[row][name].mean())
        ours, theirs = values[OURS][name], values[row][name]
        found[kind] = {
            "row": row,
            "value": round(float(theirs.mean()), 4),
            "difference": round(float((ours - theirs).mean()), 4),
            "p": round(p_value(ours, theirs), 4),
        }
    return found


def table(figures: dict[str, Any], before: dict[str, Any] | None = None) -> str:
    """One set of questions as text."""
    width = max(len(row) for row in figures["rows"]) + 2
    shown = [
        f"\n{figures['label']}: {figures['questions']} questions, {figures['notes']} notes, "
        f"{figures['chunks']} chunks, {figures['model'].rpartition('/')[2]}; a search takes "
        f"{figures['search_ms']['median']:.0f} ms (95 %: {figures['search_ms']['p95']:.0f})",
        " " * width + "".join(f"{name:>22}" for name in MEASURES),
    ]
    for row, by_measure in figures["rows"].items():
        cells = (_cell(by_measure[name]) for name in MEASURES)
        shown.append(f"{row:{width}}" + "".join(f"{cell:>22}" for cell in cells))
    for kind in ("reference", "channel"):
        compared = (figures["best"][name][kind] for name in MEASURES)
        cells = (f"{c['difference']:+.3f} p {c['p']:.3f}{_mark(c['p'])}" for c in compared)
        shown.append(f"{'vs best ' + kind:{width}}" + "".join(f"{cell:>22}" for cell in cells))
    places = {} if before is None else {key: at for at, key in enumerate(before["ids"])}
    here = [at for at, key in enumerate(figures["ids"]) if key in places]
    if before is not None and here:
        there = [places[figures["ids"][at]] for at in here]
        cells = []
        for name in MEASURES:
            now = np.array(figures["per_question"][OURS][name])[here]
            then = np.array(before["per_question"][OURS][name])[there]
            p = p_value(now, then)
            cells.append(f"{(now - then).mean():+.4f} p {p:.3f}{_mark(p)}")
        shown.append(f"{'ours vs before':{width}}" + "".join(f"{cell:>22}" for cell in cells))
    if "evidence_lines" in figures:
        shown.append(
            f"{'lines, ' + str(figures['evidence_questions']):{width}}"
            + "".join(f"{p:>22}" for p in lines.PLACES)
        )
        for row, places in figures["evidence_lines"].items():
            cells = (_cell(places[place]) for place in lines.PLACES)
            shown.append(f"{row:{width}}" + "".join(f"{cell:>22}" for cell in cells))
    return "\n".join(shown)


def _cell(told: dict[str, float]) -> str:
    return f"{told['mean']:.3f} ({told['low']:.3f}-{told['high']:.3f})"


def _told(found: Any) -> dict[str, float]:
    return {"mean": round(found.value, 4), "low": round(found.low, 4), "high": round(found.high, 4)}


def _mark(p: float) -> str:
    return "~" if p >= NOISE else " "  # what may be noise


def _wanted(root: Path, asked: Sequence[str]) -> list[tuple[Collection, list[QuestionSet]]]:
    chosen: dict[str, set[str] | None] = {}
    for word in asked or names(root):
        name, colon, part = word.partition(":")
        if not colon:
            chosen[name] = None
        elif (known := chosen.setdefault(name, set())) is not None:
            known.add(part)
    found = []
    for name, parts in chosen.items():
        collection = read(root, name)
        there = {questions.name for questions in collection.sets}
        for part in parts or ():
            if part not in there:
                have = ", ".join(f"{name}:{part}" for part in sorted(there))
                raise BadCollection(f"{name} has no questions {part!r}; there are {have}")
        sets = [q for q in collection.sets if parts is None or q.name in parts]
        found.append((collection, sets))
    return found


def _earlier(path: Path) -> dict[str, Any]:
    try:
        report = json.loads(path.read_text("utf-8"))
        if report["schema_version"] != SCHEMA_VERSION:
            raise ValueError
        return {figures["label"]: figures for figures in report["sets"]}
    except (OSError, ValueError, KeyError, TypeError):
        raise BadCollection(f"{path} is no report of this benchmark's --json") from None


def _write(path: Path, report: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report), "utf-8")


def _checkout() -> Path:
    return Path(__file__).resolve().parent.parent.parent


def _user_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
