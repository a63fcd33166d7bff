"""One evaluation of a vault: which cases, asked in which ways, and where the report goes."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ..config import Config, require_vault
from ..errors import UsageError
from ..files import write_text
from ..protocols import Progress
from ..search.checked import checked_count
from ..state import State
from ..types import Json, SearchResult
from ..vault.reading import read_part
from .cases import Case, CaseSet, read_cases, sample_cases
from .collection import read_judged
from .compare import compared, read_baseline
from .drafts import as_yaml, drafted
from .fingerprints import metadata
from .report import Variant, evaluate, variants
from .targets import find_notes, lint
from .trec import run_lines

AnyPath = str | os.PathLike[str]
Records = Callable[[], Iterable[dict[str, Any]]]  # of the notes in the index


def own_cases(config: Config) -> Path:
    """Where the cases of a vault are looked for when none are named."""
    return config.path.parent / "search-eval.yaml"


def run_eval(
    config: Config,
    state: State,
    notes: Records,
    takes: Callable[[str], bool],
    search: Callable[..., SearchResult],
    today: dt.date,
    *,
    cases: AnyPath | None,
    queries: AnyPath | None,
    qrels: AnyPath | None,
    top_k: int,
    boosts: bool,
    channels: Sequence[str] | None,
    rerank: bool,
    unboosted: bool,
    ablate: bool,
    baseline: AnyPath | None,
    run: AnyPath | None,
    lint_vault_files: bool,
    progress: Progress | None,
) -> dict[str, Json]:
    """The report that Cortex.search_eval describes, with all that is asked there.

    takes: whether the settings take a path for a note. search: Cortex.search.
    """
    top_k = checked_count("top_k", top_k)
    earlier = None if baseline is None else read_baseline(Path(baseline))
    given = _cases(cases, queries, qrels, own_cases(config), notes)
    vault = require_vault(config)
    headings = {note["file"]: note["headings"] for note in notes()}

    def is_unread(name: str) -> bool:
        place = vault / name
        if os.path.isabs(name) or not takes(name) or not os.path.isfile(place):
            return False
        # A link to another note is that note, and indexed as it alone.
        return os.path.relpath(os.path.realpath(place), os.path.realpath(vault)) not in headings

    resolved = find_notes(given, headings, is_unread)
    if lint_vault_files:
        lint(given, resolved, lambda t: read_part(vault, t.file, t.heading, max_chars=1))
    runs = variants(
        boosts=boosts,
        channels=channels,
        rerank=rerank,
        unboosted=unboosted,
        ablate=ablate,
        reranks=bool(config.search.reranker),
    )

    def ask(case: Case, how: Variant, depth: int) -> SearchResult:
        return search(
            case.query,
            depth,
            case.filters,
            boosts=how.boosts,
            channels=how.channels,
            as_of=case.as_of or None,
            plain=not case.syntax,
            rerank=how.rerank,
        )

    done = evaluate(resolved, ask, runs, top_k, progress=progress)
    about = metadata(config, state, today, given)
    report = {**done.report, "metadata": about, "remarks": list(given.remarks)}
    if run is not None:
        is_tsv = os.fspath(run).endswith(".tsv")
        write_text(Path(run), run_lines(done.rankings, tsv=is_tsv))
    return report if earlier is None else compared(report, earlier)


def _cases(
    cases: AnyPath | None,
    queries: AnyPath | None,
    qrels: AnyPath | None,
    own: Path,
    notes: Records,
) -> CaseSet:
    """The cases that were named, else those that belong to this vault."""
    if queries is not None or qrels is not None:
        if queries is None or qrels is None or cases is not None:
            raise UsageError("give queries and qrels together, or a file of cases")
        return read_judged(Path(queries), Path(qrels))
    if cases is not None:
        return read_cases(Path(cases))
    if os.path.lexists(own):
        return read_cases(own)
    sample = sample_cases()
    known = {note["file"] for note in notes()}
    if all(target.file in known for case in sample.cases for target in case.expected):
        return sample
    raise UsageError(
        "there are no cases for this vault yet; to draft some, run: cortex search-eval init"
    )


def draft(config: Config, notes: Records, output: AnyPath | None, count: int) -> Path:
    """See Cortex.draft_cases."""
    path = own_cases(config) if output is None else Path(output)
    if os.path.lexists(path):
        raise UsageError(f"{path} is there already, and is not overwritten; give --output FILE")
    cases = drafted(notes(), checked_count("count", count))
    if not cases:
        raise UsageError("no note has a title, alias or heading of its own to be asked for")
    write_text(path, as_yaml(cases))
    return path
