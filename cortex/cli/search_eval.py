"""`cortex search-eval` and `cortex search-eval init`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..types import Json
from .options import add_json, at_least, comma_separated
from .output import counted, hint, print_json, program, say, table, visible
from .progress import progress_for

if TYPE_CHECKING:
    from ..app import Cortex

SHOWN = ("nDCG@10", "MRR@10", "Recall@5", "Recall@20", "Success@1", "Success@5")
LISTED = 60  # cases; of more only those that failed or moved are listed
GROUPS_LISTED = 40

EXAMPLES = (
    ("search-eval init", "draft cases from your notes, for you to edit"),
    ("search-eval", "run the cases of this vault, and tell how well searches do"),
    ("search-eval --output before.json", "keep the report, to compare with later"),
    ("search-eval --baseline before.json --fail-on-regression", "fail if a case got worse"),
)
DESCRIPTION = """\
Run judged questions and measure how well searches find what is expected, with and without
boosts. Writes nothing but the files that you name. `init` drafts cases for you to edit, and
overwrites none.

Exit codes: 0 done, and every case passed; 1 a case failed, or got worse where you ask for
that; 2 the cases or the baseline are wrong, or it was asked wrongly.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "action", nargs="?", metavar="init", help="draft cases from your notes, for you to edit"
    )
    given = parser.add_argument_group("cases")
    given.add_argument(
        "--cases", metavar="FILE", help="YAML (search-eval.yaml beside the config, if it is there)"
    )
    given.add_argument("--queries", metavar="FILE", help="instead: queries.jsonl, with --qrels")
    given.add_argument("--qrels", metavar="FILE", help="query id, note, grade; or TREC's columns")
    given.add_argument(
        "--lint-vault-files",
        action="store_true",
        help="first hold files, headings and lines of the cases against the vault as it is now",
    )
    asked = parser.add_argument_group("how to search")
    asked.add_argument(
        "--top-k", type=at_least(1), default=10, metavar="N", help="hits that count (10)"
    )
    asked.add_argument("--channels", metavar="A,B", help="only these of: bm25, vector, graph")
    asked.add_argument("--no-boost", action="store_true", help="without boosts throughout")
    asked.add_argument("--no-rerank", action="store_true", help="without the reranker")
    asked.add_argument(
        "--no-unboosted",
        action="store_true",
        help="do not search again without boosts, nor without a reranker",
    )
    asked.add_argument(
        "--ablate", action="store_true", help="also each channel alone, and all without each"
    )
    out = parser.add_argument_group("what comes of it")
    out.add_argument(
        "--output", "-o", metavar="FILE", help="the report as JSON; of init: the cases"
    )
    out.add_argument("--html", metavar="FILE", help="the report as one page, with all hits")
    out.add_argument(
        "--run", metavar="FILE", help="the ranking for trec_eval; .tsv: query, note, score"
    )
    out.add_argument("--baseline", metavar="FILE", help="an earlier report to compare with")
    out.add_argument("--fail-on-regression", action="store_true", help="exit 1 if a case got worse")
    out.add_argument("--allow-failures", action="store_true", help="exit 0 though cases fail")
    out.add_argument("--count", type=at_least(1), metavar="N", help="of init: how many cases (20)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    if args.action not in (None, "init"):
        raise UsageError(
            f"{program()} search-eval has no {args.action!r}; there is init, and --cases FILE"
        )
    if args.action == "init":
        return _draft(args, Cortex.open(args.config, env=os.environ))
    if args.count is not None:
        raise UsageError(
            "--count is of init; to draft cases, run: cortex search-eval init --count N"
        )
    if args.fail_on_regression and args.baseline is None:
        raise UsageError("--fail-on-regression needs a --baseline to compare with")
    cortex = Cortex.open(args.config, env=os.environ)
    read = [cortex.config.path, args.cases or cortex.cases_path, args.queries, args.qrels]
    for option in ("output", "html", "run"):
        _refuse_place(f"--{option}", getattr(args, option), cortex.config.vault.path, read)
    report = cortex.search_eval(
        args.cases,
        queries=args.queries,
        qrels=args.qrels,
        top_k=args.top_k,
        boosts=not args.no_boost,
        channels=None if args.channels is None else tuple(comma_separated(args.channels)),
        rerank=not args.no_rerank,
        unboosted=not args.no_unboosted,
        ablate=args.ablate,
        baseline=args.baseline,
        run=args.run,
        lint_vault_files=args.lint_vault_files,
        progress=progress_for(args),
    )
    earlier = None
    if args.html and args.baseline:
        from ..evaluation.compare import read_baseline

        earlier = read_baseline(Path(args.baseline))  # before --output, which may replace it
    if args.output:
        from ..files import write_json

        write_json(Path(args.output), report)
    if args.html:
        from ..evaluation.page import page
        from ..files import write_text

        write_text(Path(args.html), page(report, earlier))
    if args.json:
        print_json(report)
    else:
        _print(report)
    for remark in report["remarks"]:
        say(remark)
    _tell_what_lacks(report)
    return _exit_code(args, report)


def _draft(args: argparse.Namespace, cortex: Cortex) -> int:
    from ..evaluation.cases import read_cases

    _refuse_place("--output", args.output, None)
    path = cortex.draft_cases(args.output, args.count or 20)
    count = len(read_cases(path).cases)
    if args.json:
        print_json({"cases": count, "file": str(path)})
        return 0
    option = "" if path == cortex.cases_path else f" --cases {path}"
    print(f"drafted {counted(count, 'case')} from your notes: {visible(str(path))}")
    print("edit them: put in what you really ask, and delete what you never would")
    print(hint(f"next: cortex search-eval{visible(option)}"))
    return 0


def _refuse_place(
    option: str, given: str | None, vault: Path | None, read: Sequence[str | Path | None] = ()
) -> None:
    """Refuse a place that cannot be written to, or must not: before minutes of searching.

    read: files that this run reads, and that somebody has written by hand.
    """
    if given is None:
        return
    path = Path(os.path.abspath(given))
    if path.is_dir():
        raise UsageError(f"{option}: {given} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise UsageError(f"{option}: the folder {path.parent} does not exist")
    if not path.exists():
        return
    if vault is not None and path.resolve().is_relative_to(vault.resolve()):
        raise UsageError(f"{option}: {given} is a file of your vault, which is never written to")
    if any(file and os.path.exists(file) and os.path.samefile(file, path) for file in read):
        raise UsageError(f"{option}: {given} is what this run reads; give the name of another file")


def _exit_code(args: argparse.Namespace, report: Mapping[str, Json]) -> int:
    failed = bool(report["failed"]) and not args.allow_failures
    regressed = args.fail_on_regression and report["compare_summary"]["regression_count"] > 0
    return 1 if failed or regressed else 0


def _tell_what_lacks(report: Mapping[str, Json]) -> None:
    for missing in report["channels"]["unavailable"]:
        say(f"{missing['what']} is not available: {missing['why']}")
    for warning in report["warnings"]:
        say(warning)
    for line in report.get("baseline", {}).get("drift", ()):
        say(f"not the same as the baseline: {line}")


# The table


def _print(report: Mapping[str, Json]) -> None:
    cases = report["cases"]
    is_compared = "compare_summary" in report
    shown = [case for case in cases if len(cases) <= LISTED or _is_told(case)]
    if shown:
        print(table([_case_cells(case, is_compared) for case in shown[: 2 * LISTED]]))
        print()
    left_out = len(cases) - len(shown[: 2 * LISTED])
    if left_out:
        print(f"{left_out:,} more cases are not listed; all of them: --json, --output or --html")
    counts = f"{counted(report['case_count'], 'case')}: {report['passed']:,} passed, "
    print(f"{counts}{report['failed']:,} failed (top {report['top_k']})")
    if report["measures"]:
        print()
        print(_measure_table(report))
    if report["groups"]:
        print()
        print(_group_table(report))
    if len(report["runs"]) > 1:
        print()
        print(_run_table(report["runs"]))
    times = report["latency_ms"]
    told = ", ".join(f"{name} {times[name]:.0f}" for name in ("p50", "p90", "p95", "p99", "max"))
    print(f"\nmilliseconds a search: {told}")
    if is_compared:
        print()
        _print_comparison(report["compare_summary"])


def _is_told(case: Mapping[str, Json]) -> bool:
    return not case["passed"] or bool(case.get("baseline_rank_delta"))


def _case_cells(case: Mapping[str, Json], is_compared: bool) -> list[str]:
    """`PASS  id  1  was 3  the query`; what a failure misses stands behind."""
    rank = case["best_expected_rank"]
    cells = ["PASS" if case["passed"] else "FAIL", _brief(case["id"], 32)]
    cells.append("-" if rank is None else f"#{rank}")
    if is_compared:
        cells.append(_moved(case))
    said = f"{_brief(case['query'], 60)}"
    cells.append(said if case["failure"] is None else f"{said}: {case['failure']}")
    return cells


def _moved(case: Mapping[str, Json]) -> str:
    if case["baseline_status_change"] == "unknown":
        return "new" if case["baseline_passed"] is None else "changed"
    was, rank = case["baseline_best_expected_rank"], case["best_expected_rank"]
    if was == rank and case["baseline_status_change"] == "unchanged":
        return "same"
    is_better = case["baseline_status_change"] == "improvement" or (
        rank is not None and (was is None or rank < was)
    )
    return f"{'better' if is_better else 'worse'}, was {'-' if was is None else f'#{was}'}"


def _brief(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _measure_table(report: Mapping[str, Json]) -> str:
    differences = report.get("compare_summary", {}).get("differences", {})
    head = ["measure", "mean", "95 % interval"] + (["to the baseline"] if differences else [])
    rows = [head]
    for name, found in report["measures"].items():
        spread = f"{found['low']:.3f} to {found['high']:.3f}" if len(report["cases"]) > 1 else "-"
        row = [name, f"{found['value']:.3f}", spread]
        if differences:
            row.append(_difference(differences[name]))
        rows.append(row)
    return table(rows)


def _difference(found: Mapping[str, Any]) -> str:
    """`+0.031 (p 0.012)`, or `+0.002 (noise, p 0.61)`."""
    if found["p"] == 1.0 and abs(found["delta"]) < 1e-9:
        return "the same"
    word = "noise, " if found["noise"] else ""
    p = "p < 0.001" if found["p"] < 0.001 else f"p {found['p']:.3f}"
    return f"{found['delta']:+.3f} ({word}{p})"


def _group_table(report: Mapping[str, Json]) -> str:
    differences = report.get("compare_summary", {}).get("group_differences")
    against = ["nDCG@10 to the baseline"] if differences else []
    rows = [["group", "cases", "passed", *SHOWN, *against]]
    for name, group in list(report["groups"].items())[:GROUPS_LISTED]:
        measures = group["measures"]
        values = [f"{measures[m]['value']:.3f}" if measures else "-" for m in SHOWN]
        row = [_brief(name, 32), str(group["case_count"]), str(group["passed"]), *values]
        if differences:
            row.append(_difference(differences[name]["nDCG@10"]) if differences[name] else "-")
        rows.append(row)
    return table(rows)


def _run_table(runs: Mapping[str, Json]) -> str:
    rows = [["run", "passed", *SHOWN[:4], "nDCG@10 against search"]]
    for name, found in runs.items():
        measures = found["measures"]
        values = [f"{measures[m]:.3f}" if measures else "-" for m in SHOWN[:4]]
        told = _difference(found["differences"]["nDCG@10"]) if found.get("differences") else ""
        rows.append([name, str(found["passed"]), *values, told])
    return table(rows)


def _print_comparison(summary: Mapping[str, Json]) -> None:
    print(
        f"against the baseline: {counted(summary['regression_count'], 'regression')}, "
        f"{counted(summary['improvement_count'], 'improvement')}, "
        f"{counted(summary['matched_case_count'], 'case')} compared"
    )
    for key, what in (
        ("pass_regressions", "passed then, fail now"),
        ("pass_improvements", "failed then, pass now"),
        ("lost", "found then, not found now"),
        ("changed_cases", "asked or judged otherwise, and not compared"),
        ("missing_in_baseline", "not in the baseline"),
        ("missing_in_current", "only in the baseline"),
    ):
        if names := summary[key]:
            print(f"  {what}: {_listed(names)}")
    for key, what in (("rank_regressions", "lower"), ("rank_improvements", "higher")):
        if moves := summary[key]:
            told = [f"{move['id']} by {abs(move['delta'])}" for move in moves]
            print(f"  {what}: {_listed(told)}")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
    return visible(", ".join(names[:10]) + more)
