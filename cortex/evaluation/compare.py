"""A report against an earlier one: what got better, what worse, and whether they compare at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..text import brief
from ..types import Json
from .cases import read_text
from .measures import MEASURES
from .report import KIND, SCHEMA_VERSION, differences, rank_delta

_SETTINGS_TOLD = 5


def read_baseline(path: Path) -> dict[str, Json]:
    """An earlier report. Raises UsageError if it is none, or of another schema."""
    again = "to make one, run: cortex search-eval --output FILE"
    try:
        report = json.loads(read_text(path))
    except UsageError as error:
        raise UsageError(f"the baseline {error}; {again}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"the baseline {path} is not JSON; {again}") from None
    if not isinstance(report, dict) or "schema_version" not in report:
        raise UsageError(f"the baseline {path} is no report of search-eval; {again}")
    if report["schema_version"] != SCHEMA_VERSION:
        found = brief(repr(report["schema_version"]))
        raise UsageError(
            f"the baseline {path} has schema version {found}, "
            f"and this Cortex reads {SCHEMA_VERSION}; {again}"
        )
    if report.get("kind") != KIND:
        raise UsageError(f"the baseline {path} is a report of another kind; {again}")
    cases = report.get("cases")
    if not isinstance(cases, list) or not all(map(_is_case, cases)):
        raise UsageError(f"the baseline {path} is damaged: its cases cannot be read; {again}")
    if not isinstance(report.get("metadata"), dict):
        raise UsageError(f"the baseline {path} is damaged: it has no metadata; {again}")
    return report


def _is_case(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("id"), str)
        and isinstance(entry.get("query"), str)
        and isinstance(entry.get("passed"), bool)
        and isinstance(entry.get("best_expected_rank", ""), (int, type(None)))
        and isinstance(entry.get("measures"), dict)
        and all(isinstance(entry.get(key), list) for key in ("hits", "expected", "must_not"))
        and all(isinstance(hit, dict) and "file" in hit and "rank" in hit for hit in entry["hits"])
        and all(map(_is_target, (*entry["expected"], *entry["must_not"])))
    )


def _is_target(entry: Any) -> bool:
    lines = entry.get("lines", [0, 0]) if isinstance(entry, dict) else None
    return (
        isinstance(lines, list)
        and len(lines) == 2
        and "file" in entry
        and isinstance(entry.get("rank"), (int, type(None)))
    )


def compared(report: dict[str, Json], baseline: Mapping[str, Json]) -> dict[str, Json]:
    """The report with what the baseline adds: fields of each case, a summary, and drift.

    A case whose question or expectations have changed since is told and not compared.
    """
    before = {case["id"]: case for case in baseline["cases"]}
    now = {case["id"]: case for case in report["cases"]}
    cases = [_with_baseline(case, before.get(case["id"])) for case in report["cases"]]
    same = [case for case in cases if case["baseline_status_change"] != "unknown"]
    moved = [(case, case["baseline_rank_delta"]) for case in same]
    pass_regressions = [c["id"] for c in same if c["baseline_status_change"] == "regression"]
    pass_improvements = [c["id"] for c in same if c["baseline_status_change"] == "improvement"]
    lost = [c["id"] for c in same if _has_lost(c, before[c["id"]])]
    rank_regressions = [_delta(case, delta) for case, delta in moved if delta and delta > 0]
    rank_improvements = [_delta(case, delta) for case, delta in moved if delta and delta < 0]
    regressed = {*pass_regressions, *lost, *(entry["id"] for entry in rank_regressions)}
    improved = {*pass_improvements, *(entry["id"] for entry in rank_improvements)} - regressed
    shared = [case["id"] for case in same if case["expected"] and _is_measured(before[case["id"]])]
    summary: dict[str, Json] = {
        "baseline_case_count": len(before),
        "current_case_count": len(now),
        "matched_case_count": len(same),
        "missing_in_baseline": [name for name in now if name not in before],
        "missing_in_current": [name for name in before if name not in now],
        "changed_cases": [
            case["id"]
            for case in cases
            if case["id"] in before and case["baseline_status_change"] == "unknown"
        ],
        "pass_regressions": pass_regressions,
        "pass_improvements": pass_improvements,
        "rank_regressions": rank_regressions,
        "rank_improvements": rank_improvements,
        "lost": lost,
        "unknown_baseline_pass_fail": [name for name in now if name not in before],
        "unchanged_pass_fail": sum(1 for c in same if c["baseline_status_change"] == "unchanged"),
        "regression_count": len(regressed),
        "improvement_count": len(improved),
        "differences": _between(now, before, shared),
        "group_differences": {
            tag: _between(now, before, [name for name in shared if tag in now[name]["tags"]])
            for tag in report["groups"]
        },
    }
    return {
        **report,
        "cases": cases,
        "baseline": {
            "schema_version": baseline["schema_version"],
            "metadata": baseline["metadata"],
            "measures": baseline.get("measures", {}),
            "drift": drift(report, baseline),
        },
        "compare_summary": summary,
    }


def _between(
    now: Mapping[str, Json], before: Mapping[str, Json], ids: Sequence[str]
) -> dict[str, Json]:
    return differences(
        ids,
        {name: now[name]["measures"] for name in ids},
        {name: before[name]["measures"] for name in ids},
    )


def _is_measured(case: Mapping[str, Json]) -> bool:
    values = [case["measures"].get(name) for name in MEASURES]
    return all(isinstance(value, (int, float)) and 0 <= value <= 1 for value in values)


def _delta(case: Mapping[str, Json], delta: int) -> dict[str, Json]:
    return {"id": case["id"], "delta": delta}


def _has_lost(case: Mapping[str, Json], before: Mapping[str, Json]) -> bool:
    """Whether an expected note was among the hits then, and is not at any place now."""
    return before["best_expected_rank"] is not None and case["best_expected_rank"] is None


def _with_baseline(case: Mapping[str, Json], before: Mapping[str, Json] | None) -> dict[str, Json]:
    is_same = before is not None and _asked(case) == _asked(before)
    if before is None or not is_same:
        return {
            **case,
            "baseline_best_expected_rank": before["best_expected_rank"] if before else None,
            "baseline_passed": before["passed"] if before else None,
            "baseline_pass_delta": None,
            "baseline_status_change": "unknown",
            "baseline_rank_delta": None,
            "per_file_rank_delta": {},
        }
    change = int(case["passed"]) - int(before["passed"])
    ranks = {_named(target): target.get("rank") for target in before["expected"]}
    return {
        **case,
        "baseline_best_expected_rank": before["best_expected_rank"],
        "baseline_passed": before["passed"],
        "baseline_pass_delta": change,
        "baseline_status_change": {-1: "regression", 0: "unchanged", 1: "improvement"}[change],
        "baseline_rank_delta": rank_delta(case["best_expected_rank"], before["best_expected_rank"]),
        "per_file_rank_delta": {
            name: rank_delta(target["rank"], ranks.get(name))
            for name, target in zip(case["expected_files"], case["expected"], strict=True)
        },
    }


def _asked(case: Mapping[str, Json]) -> tuple[Any, ...]:
    """What makes a case the same: the question, how it is put, and what must come of it."""
    graded = sorted((_named(target), str(target.get("grade"))) for target in case["expected"])
    how = case.get("filters") or {}, bool(case.get("syntax")), case.get("as_of")
    unwanted = sorted(map(_named, case["must_not"]))
    return case["query"], how, graded, unwanted, case.get("expected_top_k")


def _named(target: Mapping[str, Json]) -> str:
    if target.get("heading") is not None:
        return f"{target['file']}#{target['heading']}"
    lines = target.get("lines")
    return f"{target['file']}:{lines[0]}-{lines[1]}" if lines else str(target["file"])


def drift(report: Mapping[str, Json], baseline: Mapping[str, Json]) -> list[str]:
    """What differs besides the ranking, a line each: model, config, vault, what could run."""
    now, then = report["metadata"], baseline["metadata"]
    found = []
    models = [_model(made) for made in (then, now)]
    identities = [_part(made, "model", "identity") for made in (then, now)]
    if models[0] != models[1] and (identities[0] is None or identities[0] != identities[1]):
        found.append(f"the model differs: {models[0]} then, {models[1]} now")
    keys = _differing(_part(then, "config", "settings"), _part(now, "config", "settings"))
    if keys:
        more = f" and {len(keys) - _SETTINGS_TOLD} more" if len(keys) > _SETTINGS_TOLD else ""
        found.append(f"the config differs: {', '.join(keys[:_SETTINGS_TOLD])}{more}")
    if _part(then, "vault", "sha256") != _part(now, "vault", "sha256"):
        counts = [_part(made, "vault", "notes") for made in (then, now)]
        found.append(f"the vault differs: {counts[0]} notes then, {counts[1]} now")
    worn = [_part(made, "artifacts", "index", "deleted_entries") or 0 for made in (then, now)]
    if worn[0] != worn[1]:
        found.append(
            f"the keyword index differs: {worn[0]} deleted entries counted then, {worn[1]} now; "
            "for exact scores, run: cortex index --force"
        )
    ran = [_ran(made) for made in (baseline, report)]
    if ran[0] != ran[1]:
        found.append(f"other channels ran: {ran[0]} then, {ran[1]} now")
    hows = [_how(made) for made in (baseline, report)]
    if hows[0] != hows[1]:
        found.append(f"it was asked otherwise: {hows[0]} then, {hows[1]} now")
    if then.get("cortex_version") != now.get("cortex_version"):
        found.append(
            f"Cortex differs: {then.get('cortex_version')} then, {now.get('cortex_version')} now"
        )
    return found


def _model(made: Mapping[str, Json]) -> str:
    name, identity = _part(made, "model", "name"), _part(made, "model", "identity")
    return f"{name} ({identity})" if identity else f"{name} (nothing embedded)"


def _ran(report: Mapping[str, Json]) -> str:
    channels = _part(report, "channels", "ran")
    if not isinstance(channels, list) or not channels:
        return "none"
    return ", ".join(sorted(map(str, channels)))  # whatever was first in the first case


def _how(report: Mapping[str, Json]) -> str:
    boosts, rerank = (_part(report, "runs", "search", key) for key in ("boosts", "rerank"))
    boosts = "without boosts" if boosts is False else "with boosts"
    rerank = ", not reranked" if rerank is False else ""
    return f"top {report.get('top_k')} {boosts}{rerank}"


def _part(values: Mapping[str, Json], *keys: str) -> Any:
    """A value inside values; None where a part of the way there is missing."""
    found: Any = values
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _differing(then: Any, now: Any) -> list[str]:
    if not isinstance(then, Mapping) or not isinstance(now, Mapping):
        return []
    keys: Sequence[str] = sorted({*then, *now})
    return [key for key in keys if then.get(key) != now.get(key)]
