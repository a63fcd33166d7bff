"""What the guard finds, what it misses and where it raises a false alarm.

    python -m benchmarks.secret_guard [--cases DIR] [--eval DIR] [--rounds 12] [--seed 6] [--list]

Three detectors are put to the same texts: the library alone, our own rules alone, and both as the
product uses them. The texts: the cases of the kind `secrets`; shapes made here for a seed; what
only looks like a secret; and the notes of the evaluation vaults, of which whatever is masked is
printed with --list, to be looked at by a person.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import yaml

from cortex import redaction
from cortex.redaction import Finding

from .shapes import Sample, look_alikes, samples

Find = Callable[[str], list[Finding]]
DETECTORS: dict[str, Find] = {
    "library": redaction.find_by_library,
    "own rules": redaction.find_by_rules,
    "both": redaction.find,
}
NOTES = ("vault-kepano", "vault-dendron-site", "vault-oldwinter-zh", "scifact", "locomo-dev")
SHARED = Path(__file__).resolve().parents[3] / "shared"
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]|\\\\(?=_)")
_PIECE = 8  # so many characters of a secret that are left are a piece of it
_PUBLIC = 10  # its beginning may be a prefix that everyone has


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.secret_guard",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", type=Path, default=SHARED / "cases")
    parser.add_argument("--eval", type=Path, default=SHARED / "eval")
    parser.add_argument("--rounds", type=int, default=12, help="of each shape (default: 12)")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--list", action="store_true", help="print each miss and each alarm")
    asked = parser.parse_args(words)
    print(f"detector: {redaction.detector()}\n")
    print(f"{'texts':<34}{'detector':<12}{'found':>8}{'missed':>8}{'false alarms':>14}")
    groups: list[tuple[str, list[Sample]]] = [
        ("cases of the kind secrets", list(_cases(asked.cases))),
        ("shapes made here", list(samples(asked.seed, asked.rounds))),
        ("look-alikes", list(look_alikes(asked.seed, asked.rounds))),
    ]
    for label, texts in groups:
        for name, find in DETECTORS.items():
            _tell(label, name, [(sample, judge(find, sample)) for sample in texts], asked.list)
    for folder in NOTES:
        for name, find in DETECTORS.items():
            _tell_notes(folder, name, find, asked.eval / folder, asked.list and name == "both")
    return 0


def judge(find: Find, sample: Sample) -> tuple[int, int, int]:
    """(found, missed, false alarms) of a sample."""
    masked = masked_by(find, sample.text)
    missed = sum(is_left(secret, masked) for secret in sample.secrets)
    alarms = sum(part not in masked for part in sample.stays)
    return len(sample.secrets) - missed, missed, alarms


def masked_by(find: Find, text: str) -> str:
    """`text` with what is found masked, as a reader sees it."""
    pieces: list[str] = []
    done = 0
    for start, end, kind in find(text):
        pieces += text[done:start], redaction.mask(kind)
        done = end
    return _INVISIBLE.sub("", "".join(pieces) + text[done:])


def is_left(secret: str, masked: str) -> bool:
    """Whether a piece of a secret is still there, but for its public beginning."""
    if len(secret) < _PUBLIC + _PIECE:
        return secret in masked or secret[-_PIECE:] in masked
    ends = range(_PUBLIC, len(secret) - _PIECE + 1)
    return any(secret[at : at + _PIECE] in masked for at in ends)


def _cases(folder: Path) -> Iterator[Sample]:
    """The notes of each case, with the lines that may not be left and what must stay."""
    for path in sorted(folder.glob("*/case.yaml")):
        case = yaml.safe_load(path.read_text("utf-8"))
        if case.get("kind") != "secrets":
            continue
        with tempfile.TemporaryDirectory() as temporary:
            copy = Path(shutil.copytree(path.parent, Path(temporary) / "case"))
            for inside in (copy, *copy.rglob("*")):
                inside.chmod(0o755)
            if case.get("setup"):
                subprocess.run(["sh", "setup.sh"], cwd=copy, check=True)
            secrets = copy / "secrets.txt"
            lines = secrets.read_text("utf-8").split("\n") if secrets.exists() else []
            notes = sorted(copy.glob("vault/**/*.md"))
            text = "\n".join(note.read_text("utf-8") for note in notes)
            stays = tuple(case["check"].get("contains", ()))
            yield Sample(case["title"], text, tuple(filter(None, lines)), stays)


def _tell(
    label: str, name: str, judged: Iterable[tuple[Sample, tuple[int, int, int]]], listed: bool
) -> None:
    total: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for sample, (found, left, alarms) in judged:
        total.update(found=found, missed=left, alarms=alarms)
        if left or alarms:
            missed[sample.shape] += 1
            if listed and name == "both":
                print(f"    {sample.shape}: {sample.text[:160]!r}")
    print(f"{label:<34}{name:<12}{total['found']:>8}{total['missed']:>8}{total['alarms']:>14}")
    if listed and missed and name == "both":
        print("    " + ", ".join(f"{shape} {count}" for shape, count in missed.most_common()))


def _tell_notes(folder: str, name: str, find: Find, path: Path, listed: bool) -> None:
    if not path.is_dir():
        print(f"{folder:<34}{name:<12}{'absent':>8}", file=sys.stderr)
        return
    notes = alarms = 0
    for note in sorted(path.glob("vault/**/*.md")):
        text = note.read_text("utf-8", errors="replace")
        notes += 1
        for start, end, kind in find(text):
            alarms += 1
            if listed:
                before = text[max(0, start - 40) : start]
                print(f"    {note.name} {kind}: {before!r} >> {text[start:end][:60]!r}")
    print(f"{f'{folder}, {notes} notes':<34}{name:<12}{'':>8}{'':>8}{alarms:>14}")
