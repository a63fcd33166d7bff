"""A report as one HTML page that needs nothing else: every hit, why it stands there, and before.

Notes, queries and an earlier report are data: all of it is escaped, and the page's policy allows
its own style and its one script, and no connection.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ..text import one_line
from ..types import Json

MOST_CASES = 500  # on a page; of more, those that failed or moved come first
_CHANNELS = ("bm25", "vector", "title", "graph")  # that have a colour of their own


def page(report: Mapping[str, Json], baseline: Mapping[str, Json] | None = None) -> str:
    """The page; with the hits of `baseline` beside those of the report."""
    before = {case["id"]: case for case in baseline["cases"]} if baseline else {}
    cases = list(report["cases"])
    if len(cases) > MOST_CASES:
        cases = sorted(cases, key=lambda case: not _is_told(case))[:MOST_CASES]
    left_out = len(report["cases"]) - len(cases)
    about = report["metadata"]
    parts = [
        _summary(report),
        _measures(report),
        _runs(report["runs"]),
        _groups(report),
        _drift(report),
        _filter_bar(report, is_compared=baseline is not None),
        *(_case(case, before.get(case["id"]), is_compared=bool(baseline)) for case in cases),
        f"<p class=quiet>{left_out:,} more cases are in the report's JSON.</p>" if left_out else "",
        f"<footer class=quiet>{_text(about['generated_at'])} · Cortex "
        f"{_text(about['cortex_version'])} · model {_text(about['model']['name'])} · "
        f"config {_text(about['config']['sha256'][:12])} · vault {_text(about['vault_path'])}, "
        f"{_text(str(about['vault'].get('sha256', ''))[:12])}</footer>",
    ]
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return (
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        "<meta name=color-scheme content='light dark'>\n"
        f"<title>Search evaluation</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        "<h1>Search evaluation</h1>\n"
        + "\n".join(part for part in parts if part)
        + f"\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _is_told(case: Mapping[str, Json]) -> bool:
    return not case["passed"] or bool(case.get("baseline_rank_delta"))


def _text(value: object) -> str:
    """A value as text that is nothing but text, wherever it stands in the page."""
    return escape(one_line(str(value)))


def _number(value: Any, form: str = ".3f") -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return format(value, form) if is_number else "–"


# Above the cases


def _summary(report: Mapping[str, Json]) -> str:
    times = report["latency_ms"]
    cards = [
        ("cases", f"{report['case_count']:,}", ""),
        ("passed", f"{report['passed']:,}", "good"),
        ("failed", f"{report['failed']:,}", "bad" if report["failed"] else ""),
    ]
    if summary := report.get("compare_summary"):
        worse, better = summary["regression_count"], summary["improvement_count"]
        cards += [
            ("regressions", f"{worse:,}", "bad" if worse else ""),
            ("improvements", f"{better:,}", "good" if better else ""),
        ]
    cards.append(("median search", f"{_number(times.get('p50'), '.0f')} ms", ""))
    cards.append(("95 % within", f"{_number(times.get('p95'), '.0f')} ms", ""))
    inside = "".join(
        f"<div class='card {kind}'><b>{_text(value)}</b>{_text(name)}</div>"
        for name, value, kind in cards
    )
    channels = ", ".join(report["channels"]["ran"]) or "no channel"
    notes = [f"Ranked by {channels}; the first {report['top_k']} hits count."]
    notes += [
        f"{m['what']} is not available: {m['why']}" for m in report["channels"]["unavailable"]
    ]
    return f"<div class=cards>{inside}</div>" + "".join(f"<p>{_text(note)}</p>" for note in notes)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells that are HTML already; the first cell names the row."""
    heads = "".join(f"<th>{_text(name)}</th>" for name in head)
    lines = "".join(
        f"<tr><th scope=row>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>"
        for row in rows
    )
    return f"<div class=wide><table><thead><tr>{heads}</tr></thead>{lines}</table></div>"


def _measures(report: Mapping[str, Json]) -> str:
    differences = report.get("compare_summary", {}).get("differences", {})
    head = ["measure", "mean", "95 % interval", *(["against the baseline"] if differences else [])]
    rows = []
    for name, found in report["measures"].items():
        low, high = _number(found["low"]), _number(found["high"])
        row = [_text(name), _number(found["value"]), f"{low} to {high}"]
        rows.append(row + ([_difference(differences[name])] if differences else []))
    return f"<h2>Measures</h2>{_table(head, rows)}" if rows else ""


def _difference(found: Mapping[str, Any] | None) -> str:
    if not found:
        return ""
    delta, noise = found["delta"], found["noise"]
    if abs(delta) < 1e-9:
        return "<span class=quiet>the same</span>"
    kind = "quiet" if noise else "good" if delta > 0 else "bad"
    word = "noise" if noise else "beyond chance"
    p = "p &lt; 0.001" if found["p"] < 0.001 else f"p {found['p']:.3f}"
    return f"<span class={kind}>{delta:+.3f} · {p} · {word}</span>"


def _runs(runs: Mapping[str, Json]) -> str:
    if len(runs) < 2:
        return ""
    names = list(next(iter(runs.values()))["measures"])
    rows = []
    for name, run in runs.items():
        differences = run.get("differences") or {}
        rows.append(
            [
                _text(name),
                str(run["passed"]),
                _difference(differences.get("nDCG@10")),
                *(_number(run["measures"][measure]) for measure in names),
            ]
        )
    head = ["run", "passed", "nDCG@10 against search", *names]
    return f"<h2>With and without</h2>{_table(head, rows)}"


def _groups(report: Mapping[str, Json]) -> str:
    groups = report["groups"]
    if not groups:
        return ""
    differences = report.get("compare_summary", {}).get("group_differences")
    names = next((list(group["measures"]) for group in groups.values() if group["measures"]), [])
    rows = []
    for name, group in groups.items():
        row = [_text(name), str(group["case_count"]), str(group["passed"])]
        if differences:
            row.append(_difference(differences[name].get("nDCG@10")))
        values = (group["measures"].get(measure, {}).get("value") for measure in names)
        rows.append([*row, *map(_number, values)])
    against = ["nDCG@10 against the baseline"] if differences else []
    return f"<h2>Groups</h2>{_table(['group', 'cases', 'passed', *against, *names], rows)}"


def _drift(report: Mapping[str, Json]) -> str:
    lines = report.get("baseline", {}).get("drift", ())
    if not lines:
        return ""
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f"<div class=drift><b>Not the same as the baseline</b><ul>{items}</ul></div>"


def _filter_bar(report: Mapping[str, Json], *, is_compared: bool) -> str:
    buttons = [("all", "all"), ("failed", "failed")]
    if is_compared:
        buttons += [("worse", "worse"), ("better", "better")]
    inside = "".join(
        f"<button type=button data-show={kind}>{name}</button>" for kind, name in buttons
    )
    key = "".join(f"<i class={name}></i>{name} " for name in (*_CHANNELS, "other"))
    return (
        f"<h2>Cases</h2><div class=bar>{inside}"
        "<input type=search placeholder='id, query or note' aria-label='Filter cases'></div>"
        f"<p class='key quiet'>A bar shows what each channel gave to a hit's score: {key}</p>"
    )


# A case


def _case(case: Mapping[str, Json], before: Mapping[str, Json] | None, *, is_compared: bool) -> str:
    moved = _movement(case)
    rank = case["best_expected_rank"]
    classes = " ".join(["case", "" if case["passed"] else "failed", moved]).split()
    is_open = " open" if moved == "worse" or not case["passed"] else ""
    badge = "<span class='badge good'>PASS</span>"
    if not case["passed"]:
        badge = "<span class='badge bad'>FAIL</span>"
    change = ""
    if is_compared:
        was = case.get("baseline_best_expected_rank")
        told = {"": "same", "worse": f"was {_place(was)}", "better": f"was {_place(was)}"}[moved]
        if case.get("baseline_status_change") == "unknown":
            told = "not in the baseline" if before is None else "asked otherwise then"
        change = f"<span class='{moved or 'quiet'}'>{_text(told)}</span>"
    columns = [("now", case["hits"], _places(before))]
    if before is not None:
        columns.append(("baseline", before["hits"], None))
    inside = "".join(_column(name, hits, places) for name, hits, places in columns)
    return (
        f"<details class='{' '.join(classes)}'{is_open}><summary>{badge} <b>{_place(rank)}</b> "
        f"<code>{_text(case['id'])}</code> <span class=query>{_text(case['query'])}</span> "
        f"{change}</summary>{_about(case)}<div class=columns>{inside}</div></details>"
    )


def _movement(case: Mapping[str, Json]) -> str:
    """`worse`, `better`, or nothing."""
    change = case.get("baseline_status_change")
    if change not in ("regression", "improvement", "unchanged"):
        return ""
    now, was = case["best_expected_rank"], case["baseline_best_expected_rank"]
    if change == "regression" or (was is not None and (now is None or now > was)):
        return "worse"
    is_better = now is not None and (was is None or now < was)
    return "better" if change == "improvement" or is_better else ""


def _place(rank: Any) -> str:
    return f"#{rank}" if isinstance(rank, int) else "none"


def _about(case: Mapping[str, Json]) -> str:
    wanted = ", ".join(
        f"{name} ({_place(target['rank'])})"
        for name, target in zip(case["expected_files"], case["expected"], strict=True)
    )
    lines = [("expected", f"{wanted}, among the first {case['expected_top_k']}")] if wanted else []
    lines += [("must not", f"{t['file']} ({_place(t['rank'])})") for t in case["must_not"]]
    if case["filters"]:
        told = ", ".join(f"{key}: {value}" for key, value in case["filters"].items())
        lines.append(("filters", told))
    if case["tags"]:
        lines.append(("tags", ", ".join(case["tags"])))
    if case["notes"]:
        lines.append(("notes", case["notes"]))
    if case["failure"]:
        lines.insert(0, ("failed", case["failure"]))
    if ranks := case.get("run_ranks"):
        told = ", ".join(f"{name} {_place(rank)}" for name, rank in ranks.items())
        lines.append(("other runs", told))
    inside = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in lines)
    return f"<dl>{inside}</dl>"


def _places(before: Mapping[str, Json] | None) -> dict[str, Any] | None:
    """chunk id -> its place in the baseline; None if there is none."""
    if before is None:
        return None
    return {str(hit.get("chunk_id")): hit["rank"] for hit in before["hits"]}


def _column(name: str, hits: Sequence[Mapping[str, Any]], places: Mapping[str, Any] | None) -> str:
    inside = "".join(_hit(hit, places) for hit in hits) or "<p class=quiet>nothing found</p>"
    return f"<section><h3>{_text(name)}</h3>{inside}</section>"


def _hit(hit: Mapping[str, Any], places: Mapping[str, Any] | None) -> str:
    kind = "expected" if hit.get("expected") else "unwanted" if hit.get("must_not") else ""
    heading = hit.get("heading_path")
    path = " > ".join(map(str, heading)) if isinstance(heading, list) else ""
    was = ""
    if places is not None:
        old = places.get(str(hit.get("chunk_id")))
        if old != hit["rank"]:
            told = "was not among them" if old is None else f"was {_place(old)}"
            was = f" <span class=quiet>{told}</span>"
    return (
        f"<article class='hit {kind}'><div><b>{_text(hit['rank'])}.</b> {_text(hit['file'])}"
        f"<span class=quiet>:{_text(hit.get('start_line', ''))}</span>{was}"
        f"<span class=score>{_number(hit.get('final_score'), '.4f')}</span></div>"
        f"<div class=quiet>{_text(path)}</div><p>{_text(hit.get('snippet', ''))}</p>"
        f"{_shares(hit)}<div class=why>{_text(hit.get('why', ''))}</div>{_remarks(hit)}</article>"
    )


def _shares(hit: Mapping[str, Any]) -> str:
    """How much of the fused score each channel gave: a bar, and the figures behind it."""
    channels = hit.get("channels")
    if not isinstance(channels, Mapping):
        return ""
    given = {
        str(name): value["contribution"]
        for name, value in channels.items()
        if isinstance(value, Mapping) and isinstance(value.get("contribution"), (int, float))
    }
    total = sum(given.values())
    if total <= 0:
        return ""
    bars, figures = [], []
    for name, amount in given.items():
        kind = name if name in _CHANNELS else "other"
        bars.append(f"<i class={kind} style='width:{100 * max(amount, 0) / total:.1f}%'></i>")
        rank = channels[name].get("rank")
        figures.append(f"{name} {_place(rank)} gave {100 * amount / total:.0f} %")
    return f"<div class=share title='{_text('; '.join(figures))}'>{''.join(bars)}</div>"


def _remarks(hit: Mapping[str, Any]) -> str:
    notes = hit.get("notes")
    if not isinstance(notes, Mapping) or not notes:
        return ""
    told = "; ".join(f"{key}: {value}" for key, value in notes.items())
    return f"<div class=why>{_text(told)}</div>"


_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--quiet:#5f6670;--line:#d8dce1;
--good:#1a7f37;--bad:#b3261e;--soft:#f4f5f7;--bm25:#3b6fb5;--vector:#b5733b;--title:#6b4fa0;
--graph:#2f8f7f;--other:#8a8f98}
@media(prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#e4e6e9;--quiet:#9aa1ab;
--line:#343941;--good:#5cc77a;--bad:#ff8a80;--soft:#1e2126;--bm25:#6fa3e8;--vector:#e0a36f;
--title:#a78be0;--graph:#5fc4b2}}
*{box-sizing:border-box}
body{margin:2rem auto;max-width:78rem;padding:0 1rem;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:.9rem;margin:.2rem 0}
.cards{display:flex;flex-wrap:wrap;gap:.6rem}
.card{border:1px solid var(--line);border-radius:6px;padding:.5rem 1rem;color:var(--quiet)}
.card b{display:block;font-size:1.3rem;color:var(--ink)}
.card.good b,span.good,span.better{color:var(--good)}
.card.bad b,span.bad,span.worse{color:var(--bad)}
.quiet,footer{color:var(--quiet)}.wide{overflow-x:auto}
table{border-collapse:collapse}th,td{padding:.25rem .8rem .25rem 0;text-align:right;
border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums;white-space:nowrap}
th:first-child{text-align:left}th[scope=row]{font-weight:normal}
.drift{border-left:4px solid var(--bad);padding:.4rem 1rem;margin:1rem 0;background:var(--soft)}
.bar{display:flex;flex-wrap:wrap;gap:.4rem;margin-bottom:.6rem}
.bar input{flex:1;min-width:8rem;max-width:24rem}
.bar button,.bar input{font:inherit;padding:.2rem .7rem;
background:var(--soft);color:var(--ink);border:1px solid var(--line);border-radius:4px}
.bar button[aria-pressed=true]{border-color:var(--ink)}
details.case{border-bottom:1px solid var(--line);padding:.35rem 0}
details.case[hidden]{display:none}
summary{cursor:pointer;overflow-wrap:anywhere}.badge{font-weight:600;font-size:.8rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.5rem 0}
dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:1rem}
.columns section{min-width:0}
.hit{border:1px solid var(--line);border-left:4px solid var(--line);border-radius:4px;
padding:.4rem .7rem;margin:.4rem 0;overflow-wrap:anywhere}
.hit.expected{border-left-color:var(--good)}.hit.unwanted{border-left-color:var(--bad)}
.hit p{margin:.3rem 0}.score{float:right;font-variant-numeric:tabular-nums}
.share{display:flex;height:.45rem;border-radius:3px;overflow:hidden;background:var(--line)}
.share i{display:block}.bm25{background:var(--bm25)}.vector{background:var(--vector)}
.title{background:var(--title)}.graph{background:var(--graph)}.other{background:var(--other)}
.key i{display:inline-block;width:.8rem;height:.6rem;margin:0 .3rem 0 .6rem;border-radius:2px}
.why{font-size:.85rem;color:var(--quiet)}
footer{margin:2rem 0;font-size:.85rem;overflow-wrap:anywhere}
"""

_SCRIPT = """
const cases = [...document.querySelectorAll('details.case')];
const buttons = [...document.querySelectorAll('.bar button')];
const input = document.querySelector('.bar input');
let show = 'all';
function update() {
  const words = input.value.toLowerCase();
  for (const one of cases) {
    const kind = show === 'all' || one.classList.contains(show);
    one.hidden = !kind || !one.textContent.toLowerCase().includes(words);
  }
  for (const button of buttons)
    button.setAttribute('aria-pressed', String(button.dataset.show === show));
}
for (const button of buttons)
  button.addEventListener('click', () => { show = button.dataset.show; update(); });
input.addEventListener('input', update);
update();
"""
