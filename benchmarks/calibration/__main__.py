"""Fit what a cosine is worth for an embedding model, and tell what the vault source's gate lets by.

    python -m benchmarks.calibration NAME [NAME/2 ...] [--model MODEL] [--questions 200]

Questions of each collection are put to its own vault and to the others': in the same language, or,
for a model of many languages, in any. NAME/2 makes two of one, by subject. Translations of one
collection are never put to each other. The fit is a logistic regression on the best cosine of the
first hits, own against foreign questions, both weighing the same.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.collection import read
from benchmarks.quality.measures import area_under_curve
from cortex.inject.vault import words_suffice
from cortex.search.evidence import cosine_strength

from .sample import Found, Sample, Seen, asked, samples

THRESHOLD = 0.55  # of the vault source
TOP_K = 2
WORD_SHARES = (2.0, 0.9, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)  # the first lets by none

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pair:
    """The questions of one sample put to the vault of another, or to their own."""

    vault: str
    questions: str
    is_own: bool
    found: list[Found]


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("collections", nargs="+", metavar="NAME")
    parser.add_argument("--eval", type=Path, help="where they lie; default: $CORTEX_EVAL")
    parser.add_argument("--cache", type=Path, required=True, help="for vaults, index and vectors")
    parser.add_argument("--models", type=Path, required=True, help="the model's weights")
    parser.add_argument("--model", help="default: the one of an empty config")
    parser.add_argument("--notes", type=int, default=400, help="beside those that answer")
    parser.add_argument("--questions", type=int, default=200, help="of each collection")
    parser.add_argument("--any-language", action="store_true", help="the model knows many")
    parser.add_argument("--json", type=Path, metavar="FILE", help="what each question found")
    args = parser.parse_args(words)
    root = args.eval or Path(os.environ.get("CORTEX_EVAL", "../shared/eval"))
    made: list[Sample] = []
    for name in args.collections:
        name, _, parts = name.partition("/")
        common = (args.cache, args.models, args.model, args.notes, args.questions)
        made += samples(read(root, name), *common, halves=parts == "2")
        print(f"{name}: built", file=sys.stderr, flush=True)
    pairs = [
        Pair(into.name, of.name, of is into, asked(of, into))
        for into in made
        for of in made
        if of is into or _are_foreign(of, into, any_language=args.any_language)
    ]
    tell(pairs, made[0].built.model)
    if args.json:
        args.json.write_text(json.dumps([asdict(pair) for pair in pairs]), "utf-8")
    return 0


def _are_foreign(of: Sample, into: Sample, *, any_language: bool) -> bool:
    if of.collection != into.collection:  # translations have the same questions
        if {q.id for q in of.questions} & set(into.judgments):
            return False
        return any_language or of.built.language == into.built.language
    return True


def tell(pairs: Sequence[Pair], model: str) -> None:
    own = [found for pair in pairs if pair.is_own for found in pair.found]
    foreign = [found for pair in pairs if not pair.is_own for found in pair.found]
    print(f"{model}: {len(own)} questions put to their own vault, {len(foreign)} to another")
    for name in ("cosine", "relative"):
        mine = np.array([getattr(found, name) for found in own])
        others = np.array([getattr(found, name) for found in foreign])
        base, slope = fitted(mine, others)
        print(
            f"  {name:9} base {base:.2f} slope {slope:.2f}, 0.5 at {-base / slope:.3f};"
            f" AUC {area_under_curve(mine, others):.3f}"
        )
        base, slope = fitted(mine[::2], others[::2])
        let_by = [np.mean(_logistic(base + slope * x[1::2]) >= THRESHOLD) for x in (mine, others)]
        told = f"own {let_by[0]:.3f}, foreign {let_by[1]:.3f}"
        print(f"            fitted on every second, {THRESHOLD} lets by of the rest: {told}")
    rows = [(f"{pair.questions} -> {pair.vault}", pair.found) for pair in pairs]
    rows += [("all own", own), ("all foreign", foreign)]
    width = max(len(label) for label, _ in rows)
    print(f"{'':{width}}{'n':>6}  cosine" + "".join(f"{w:8g}" for w in WORD_SHARES[1:]))
    for label, found in rows:
        shares = (np.mean([_passes(f, words, model) for f in found]) for words in WORD_SHARES)
        print(f"{label:{width}}{len(found):6}" + "".join(f"{share:8.3f}" for share in shares))
    answered = (np.mean([_answers(f, words, model) for f in own]) for words in WORD_SHARES)
    ungated = np.mean([any(hit.answers for hit in f.hits[:TOP_K]) for f in own])
    print(
        f"{f'its note in {TOP_K}':{width}}{len(own):6}"
        + "".join(f"{share:8.3f}" for share in answered)
        + f"; without a gate {ungated:.3f}"
    )


def fitted(own: Floats, foreign: Floats) -> tuple[float, float]:
    """(base, slope) of the logistic regression, by Newton's method, both classes weighing alike."""
    x = np.concatenate((own, foreign))
    y = np.concatenate((np.ones(len(own)), np.zeros(len(foreign))))
    weights = np.where(y == 1, 0.5 / len(own), 0.5 / len(foreign))
    design = np.stack((np.ones(len(x)), x), axis=1)
    coefficients = np.zeros(2)
    for _ in range(100):
        likely = _logistic(design @ coefficients)
        gradient = design.T @ (weights * (y - likely)) - 1e-6 * coefficients
        spread = weights * likely * (1 - likely)
        step = np.linalg.solve((design.T * spread) @ design + 1e-6 * np.eye(2), gradient)
        coefficients = coefficients + step
        if np.abs(step).max() < 1e-9:
            break
    return float(coefficients[0]), float(coefficients[1])


def _logistic(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-logits)), dtype=np.float64)


def _lets_by(found: Found, hit: Seen, words: float, model: str) -> bool:
    """As the vault source does. words: the least share; above 1 for none."""
    near = None if hit.cosine is None else cosine_strength(hit.cosine, found.mean, model)
    return words_suffice(hit.share, hit.rarity, near, words) or (near or 0.0) >= THRESHOLD


def _passes(found: Found, words: float, model: str) -> bool:
    return any(_lets_by(found, hit, words, model) for hit in found.hits)


def _answers(found: Found, words: float, model: str) -> bool:
    passing = [hit for hit in found.hits if _lets_by(found, hit, words, model)]
    return any(hit.answers for hit in passing[:TOP_K])


if __name__ == "__main__":
    sys.exit(main())
