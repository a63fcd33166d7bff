"""The reports of `cortex graph`: what each takes, and how people read it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from ..types import Json
from .drift import told_drift
from .named import naming
from .options import NODE_TYPES, add_json, at_least, comma_separated, offering
from .output import counted, print_json, table, visible

EXAMPLES = (
    ("graph status", "how many there are of what, and the notes most linked"),
    ("graph broken --limit 20", "the first links that lead nowhere, with what was probably meant"),
    ("graph orphans", "the notes that no link joins to another"),
    ("graph centrality --pagerank", "the notes that matter most to the others"),
    ("graph centrality --node-type tag", "the tags that most notes have"),
    ("graph stale --stale-days 365", "what nobody verified for a year, important notes first"),
    ("graph contradictions", "the notes that say that they contradict another"),
    ("graph duplicates --near", "notes with one title, one alias, or nearly one text"),
    ('graph path "Fog Bell" "House Rules"', "how two notes hang together"),
    ("graph path index tides --via tags --max 5", "the same, also over tags that both have"),
    ('graph neighbors "Stilling Well" --depth 2', "what stands around a note"),
)


def add(actions: Any) -> None:
    """The subcommands that report."""
    status = actions.add_parser(
        "status",
        help="how many there are of what, and the main hubs",
        description="Count nodes, edges and broken links by type, orphans, contradictions and "
        "stale notes (not verified for 180 days), and list the ten notes most linked.",
    )
    broken = actions.add_parser(
        "broken",
        help="links that lead nowhere, or to more than one note, and what was meant",
        description="List the links that lead nowhere or to more than one note, by note and line. "
        "Where a note, heading or file is named nearly so, it is suggested; where several notes "
        "could be meant, they are listed. Changes nothing.",
    )
    orphans = actions.add_parser(
        "orphans",
        help="notes that no link joins to another",
        description="List the notes that no written link leaves for, or reaches from, another "
        "note. Tags, attachments and implied links do not count.",
    )
    central = actions.add_parser(
        "centrality",
        help="the notes with the most links",
        description="Rank notes by how many others they are linked with, each counted once for "
        "each direction however many links there are.",
    )
    central.add_argument("--pagerank", action="store_true", help="by PageRank, not by links")
    ranked = central.add_argument(
        "--node-type",
        metavar="A,B",
        default="note",
        help="rank these: note, tag, heading, block, attachment (note)",
    )
    offering(ranked, NODE_TYPES)
    stale = actions.add_parser(
        "stale",
        help="notes that nobody verified for long",
        description="List the notes whose last_verified (without one, the day the file was "
        "changed) is so many days ago, by importance, then age. A last_verified that is no date "
        "is listed with the reason.",
    )
    stale.add_argument(
        "--stale-days", type=at_least(0), default=180, metavar="N", help="days from when on (180)"
    )
    torn = actions.add_parser(
        "contradictions",
        help="notes that say that they contradict another",
        description="List the `contradicts` properties that lead from one note to another.",
    )
    twice = actions.add_parser(
        "duplicates",
        help="notes with the same title, alias or text",
        description="List groups of notes that have one title, an alias that names another of "
        "them, or one text below the frontmatter.",
    )
    twice.add_argument(
        "--near", action="store_true", help="also texts of which 85 percent are the same"
    )
    path = actions.add_parser(
        "path",
        help="how two notes hang together",
        description="Print the shortest ways between two notes over written links, followed in "
        "both directions: -> is a link to the next note, <- a link from it. That nothing joins "
        "them is an answer too (exit code 0).",
    )
    path.add_argument("one", metavar="A", help="a note: its path, name, title or alias")
    path.add_argument("other", metavar="B", help="the other note")
    path.add_argument("--max", type=at_least(1), default=3, metavar="N", help="how many ways (3)")
    path.add_argument(
        "--via",
        metavar="A,B",
        default="",
        help="what may carry the way on beside links: mentions, tags",
    )
    around = actions.add_parser(
        "neighbors",
        help="what a note links to, what links to it, its tags",
        description="List what stands around a note: notes that link to it and that it links to, "
        "with the kinds of links and their lines, implied links, tags, attachments and its broken "
        "links; with --depth also the notes further away.",
    )
    around.add_argument("note", metavar="NOTE", help="a note: its path, name, title or alias")
    around.add_argument(
        "--depth", type=at_least(1), default=1, metavar="N", help="in written links (1)"
    )
    central.add_argument(
        "--limit", type=at_least(0), default=20, metavar="N", help="how many; 0 is all (20)"
    )
    for listing in (broken, orphans, stale, torn, twice):
        listing.add_argument(
            "--limit", type=at_least(0), default=0, metavar="N", help="how many; 0 is all (all)"
        )
    for one in (status, broken, orphans, central, stale, torn, twice, path, around):
        add_json(one)
        one.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    cortex = Cortex.open(args.config, env=os.environ)
    name = args.action
    if name in _DOCUMENTS:
        named = [vars(args).get(one) for one in ("note", "one", "other")]
        with naming(cortex, *named):
            document = cortex.graph(name, **_options(args))
        warnings = told_drift(cortex)
        if args.json:
            print_json({**document, "warnings": warnings})
        else:
            _DOCUMENTS[name](document)
        return 0
    rows: list[dict[str, Json]] = cortex.graph(name, **_options(args))[name]
    shown, warnings = rows[: args.limit or None], told_drift(cortex)
    if args.json:
        print_json({"count": len(rows), name: shown, "warnings": warnings})
    elif not rows:
        print(_NONE[name])
    else:
        _LISTS[name](shown)
        if len(shown) < len(rows):
            print(f"and {len(rows) - len(shown):,} more")
    return 0


def _options(args: argparse.Namespace) -> dict[str, Any]:
    if args.action == "centrality":
        types = comma_separated(args.node_type)
        return {"limit": args.limit or None, "pagerank": args.pagerank, "node_types": types}
    if args.action == "path":
        via = comma_separated(args.via)
        return {"one": args.one, "other": args.other, "most": args.max, "via": via}
    names = {"stale": ["stale_days"], "duplicates": ["near"], "neighbors": ["note", "depth"]}
    return {name: getattr(args, name) for name in names.get(args.action, ())}


_NONE = {
    "broken": "no broken links",
    "orphans": "no orphans",
    "centrality": "there is none of that type",
    "stale": "no stale notes",
    "contradictions": "no contradictions",
    "duplicates": "no duplicates",
}


def _print_status(status: dict[str, Json]) -> None:
    for total, kinds, one in (
        ("node_count", "nodes_by_type", "node"),
        ("edge_count", "edges_by_type", "edge"),
        ("broken_count", "broken_by_kind", "broken link"),
    ):
        parts = ", ".join(f"{kind} {count:,}" for kind, count in status[kinds].items())
        print(visible(counted(status[total], one) + (f": {parts}" if parts else "")))
    print(counted(status["orphan_count"], "orphan"))
    print(counted(status["contradiction_count"], "contradiction"))
    told = f"{counted(status['stale_count'], 'stale note')}, not verified for 180 days"
    if unverified := status["unverified_count"]:
        told += (
            f" ({counted(unverified, 'note')} without last_verified: "
            "the day the file was changed counts)"
        )
    print(told)
    if status["hubs"]:
        print("most linked:")
        print(table([[f"  {hub['degree']}", hub["file"]] for hub in status["hubs"]]))


def _print_broken(rows: Sequence[dict[str, Json]]) -> None:
    for row in rows:
        place = f"{row['source']}:{row['line']}" if row["line"] else row["source"]
        times = f", {row['count']} times" if row["count"] > 1 else ""
        print(visible(f"{place}  {row['target_raw']}  ({row['kind']}{times})"))
        if candidates := row.get("candidates"):
            print(visible(f"  could be any of: {', '.join(candidates)}"))
        if row["suggestion"]:
            others = row["suggestions"][1:]
            more = f" or {', '.join(others)}" if others else ""
            print(visible(f"  did you mean {row['suggested_link']}? {row['suggestion']}{more}"))


def _print_orphans(rows: Sequence[dict[str, Json]]) -> None:
    print("\n".join(visible(row["file"]) for row in rows))


def _print_central(rows: Sequence[dict[str, Json]]) -> None:
    has_ranks = "pagerank" in rows[0]
    types = {row["type"] for row in rows}
    what = types.pop() if len(types) == 1 else "node"
    cells = [["links", "in", "out", *(["PageRank"] if has_ranks else []), what]]
    for row in rows:
        ranks = [f"{row['pagerank']:.4f}"] if has_ranks else []
        counts = [str(row[name]) for name in ("degree", "in_degree", "out_degree")]
        is_note = row["type"] in ("note", "attachment")
        name = row["file"] if is_note else row["node_id"].partition(":")[2]
        cells.append([*counts, *ranks, name])
    print(table(cells))


def _print_stale(rows: Sequence[dict[str, Json]]) -> None:
    cells = [["days", "importance", "last verified", "note"]]
    for row in rows:
        days, importance = row["days_since_verified"], row["importance"]
        told = row["last_verified"] or f"never; changed {row['modified_date']}"
        if row["reason"] == "unparseable_date":
            told = f"{told!r} is no date"
        cells.append(
            [
                "?" if days is None else str(days),
                "-" if importance is None else f"{importance:g}",
                told,
                row["file"],
            ]
        )
    print(table(cells))


def _print_contradictions(rows: Sequence[dict[str, Json]]) -> None:
    pairs = {(row["source"], row["target"]) for row in rows}
    for row in rows:
        is_told = row["mutual"] and row["source"] > row["target"]
        if is_told and (row["target"], row["source"]) in pairs:
            continue  # the line of the other says it
        place = f"{row['source_file']}:{row['line']}" if row["line"] else row["source_file"]
        both = "  (each says so of the other)" if row["mutual"] else ""
        print(visible(f"{place}  contradicts  {row['target_file']}{both}"))


def _print_duplicates(rows: Sequence[dict[str, Json]]) -> None:
    for row in rows:
        told = {
            "title": f"same title {row['name']!r}",
            "alias": f"same alias {row['name']!r}",
            "content_hash": "same text",
            "near": "nearly the same text",
        }[row["kind"]]
        print(visible(told))
        print("\n".join(visible(f"  {file}") for file in row["files"]))


_ARROWS = {"out": "->", "in": "<-"}


def _print_path(document: dict[str, Json]) -> None:
    one, other = document["from"]["file"], document["to"]["file"]
    if not document["connected"]:
        print(visible(f"{one} and {other} are not connected"))
        return
    if not document["length"]:
        print(visible(f"{one} is both"))
        return
    print(visible(f"{one} to {other}: {counted(document['length'], 'link')}"))
    for number, way in enumerate(document["paths"], start=1):
        print(f"{number}." if len(document["paths"]) > 1 else "")
        print(visible(f"  {_name(way['nodes'][0])}"))
        for step, node in zip(way["steps"], way["nodes"][1:], strict=True):
            arrows = {link["direction"] for link in step["links"]}
            is_both = len(arrows) > 1
            arrow = "<->" if is_both else _ARROWS[step["links"][0]["direction"]]
            told = "; ".join(
                (f"{_ARROWS[link['direction']]} " if is_both else "") + _link(link)
                for link in step["links"]
            )
            print(visible(f"  {arrow} {_name(node)}  ({told})"))


def _name(node: dict[str, Json]) -> str:
    return str(node["file"] or f"#{node['label']}")


def _link(link: dict[str, Json]) -> str:
    """`links_to, line 3`, `embeds 4 times`."""
    lines = link["lines"]
    if link["count"] > 1:
        return f"{link['type']} {link['count']} times"
    return f"{link['type']}, line {lines[0]}" if lines else str(link["type"])


_AROUND = {
    "in": "linked from",
    "out": "links to",
    "mentioned_in": "named without a link in",
    "mentions": "names without a link",
    "tags": "tags",
    "attachments": "attachments",
}


def _print_neighbors(document: dict[str, Json]) -> None:
    print(visible(str(document["note"]["file"])))
    for key, heading in _AROUND.items():
        if rows := document[key]:
            print(f"{heading} ({len(rows):,}):")
            for row in rows:
                told = "" if key == "tags" else f"  ({'; '.join(map(_link, row['links']))})"
                print(visible(f"  {_name(row)}{told}"))
    if broken := document["broken"]:
        print(f"broken links ({len(broken):,}):")
        for row in broken:
            print(visible(f"  {row['target_raw']}  ({row['kind']}, line {row['line']})"))
    if document["further"]:
        print(f"further away ({len(document['further']):,}):")
        for row in document["further"]:
            step = row["through"].partition(":")[2]
            print(visible(f"  {row['distance']}  {_name(row)}  (through {step})"))
    if not any(document[key] for key in _AROUND):
        print("nothing stands around it")


_DOCUMENTS = {"status": _print_status, "path": _print_path, "neighbors": _print_neighbors}
_LISTS = {
    "broken": _print_broken,
    "orphans": _print_orphans,
    "centrality": _print_central,
    "stale": _print_stale,
    "contradictions": _print_contradictions,
    "duplicates": _print_duplicates,
}
