"""What was ranked, as a file that other tools score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .collection import encoded

TAG = "cortex"


def run_lines(rankings: Mapping[str, Sequence[tuple[str, float]]], *, tsv: bool) -> str:
    """A line a note: `query Q0 note rank score cortex` as TREC has it, blanks in names as %20.

    tsv: query, note and score between tabs instead, names as they are.
    """
    lines = []
    for query, ranking in rankings.items():
        for rank, (note, score) in enumerate(ranking, 1):
            if tsv:
                lines.append(f"{_cell(query)}\t{_cell(note)}\t{score!r}\n")
            else:
                lines.append(f"{encoded(query)} Q0 {encoded(note)} {rank} {score!r} {TAG}\n")
    return "".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.splitlines()).replace("\t", " ")
