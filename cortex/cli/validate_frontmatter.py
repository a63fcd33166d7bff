"""`cortex validate-frontmatter`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..errors import UsageError
from .options import add_json, at_least
from .output import counted, print_json, say, styled, table, visible

if TYPE_CHECKING:
    from ..checks.frontmatter import CheckedNote, FrontmatterReport
    from ..checks.issue import Issue

EXAMPLES = (
    ("validate-frontmatter", "check every note that is indexed"),
    ("validate-frontmatter --path 10_facts 20_decisions/Boats.md", "a folder and a note"),
    ("validate-frontmatter --strict --format github", "annotations in a GitHub workflow"),
)
_DESCRIPTION = """\
Check the properties at the top of notes against the schema of Cortex: required are type, status,
tags, confidence, importance and stability; a missing domain, a value that the schema does not know
and a day that is not written as YYYY-MM-DD are warnings. Every note gets its entry in one report,
those that cannot be read too, and every issue its line and what to write instead.

Nothing is ever changed. Search works without any of these properties: they serve filters, boosts,
upkeep and promotion.

Exit codes: 0 no errors, 1 errors (with --strict also warnings), 2 asked wrongly, for example for a
path outside the vault."""
_LIMIT = 100


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--path",
        nargs="+",
        action="extend",
        default=[],
        metavar="PATH",
        help="only these notes and folders, from the vault's root; may be repeated; a note or "
        "folder that is left out of the index is checked when it is named",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 on warnings too")
    parser.add_argument(
        "--format",
        choices=("text", "json", "github"),
        help="text (default); json: one document; github: annotations for a workflow of GitHub",
    )
    parser.add_argument(
        "--limit",
        type=at_least(0),
        default=_LIMIT,
        metavar="N",
        help=f"how many issues the text lists; 0 is all ({_LIMIT})",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk

    if args.json and args.format not in (None, "json"):
        raise UsageError(f"--json and --format {args.format} contradict each other; give one")
    desk = Desk.open(args.config, env=os.environ)
    report = desk.validate_frontmatter(
        [_from_here(path, desk.config.vault.path) for path in args.path]
    )
    if args.json or args.format == "json":
        print_json(report.document())
    elif args.format == "github":
        for line in github_lines(report, os.environ, os.getcwd()):
            print(visible(line))
        say(_summary(report))
    else:
        _print_text(report, args.limit)
    for folder in report.empty:
        say(f"there are no notes in {folder}")
    return 0 if report.passes(args.strict) else 1


def _from_here(path: str, vault: os.PathLike[str] | None) -> str:
    """A path as from the vault's root. One that is only there from here, in the vault, counts too:
    a hook of git names files from the repository's root."""
    if vault is None or os.path.isabs(path) or os.path.lexists(os.path.join(vault, path)):
        return path
    here, root = os.path.realpath(path), os.path.realpath(vault)
    is_inside = os.path.lexists(path) and here.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(here, root) if is_inside else path


def _print_text(report: FrontmatterReport, limit: int) -> None:
    total = report.errors + report.warnings
    told = set()  # remedies of many lines
    for shown, (note, issue) in enumerate(_issues(report)):
        if limit and shown == limit:
            print(f"and {total - shown:,} more; all of them: --limit 0")
            break
        place = note.file if issue.line is None else f"{note.file}:{issue.line}"
        print(f"{visible(place)}: {_severity(issue)} {issue.code} {visible(issue.message)}")
        what, *lines = (issue.suggestion or "").split("\n")
        if lines and issue.suggestion in told:
            what, lines = "begin it with the same lines as above", []
        told.add(issue.suggestion)
        for line in filter(None, (what, *(f"    {line}" for line in lines))):
            print(f"    {visible(line)}")
    print(_summary(report))
    rows = []
    for code, fields in report.by_code().items():
        named = ", ".join(f"{name} {count:,}" for name, count in fields.most_common() if name)
        rows.append([f"  {code}", f"{fields.total():,}", named])
    if rows:
        print(table(rows))
    if _is_without_schema(report):
        say(
            "most notes have few of the required properties; search works without them; "
            "check the folders that should have them with --path"
        )


def _is_without_schema(report: FrontmatterReport) -> bool:
    """Whether most notes lack most of what is required: a vault of another schema, or of none."""
    lacking = 0
    for note in report.notes:
        codes = [issue.code for issue in note.issues]
        lacking += "missing_frontmatter" in codes or codes.count("missing_required") > 3
    return len(report.notes) > 3 and 2 * lacking > len(report.notes)


def _severity(issue: Issue) -> str:
    return styled(issue.severity, "red" if issue.severity == "error" else "yellow", sys.stdout)


def _issues(report: FrontmatterReport) -> Iterator[tuple[CheckedNote, Issue]]:
    return ((note, issue) for note in report.notes for issue in note.issues)


def _summary(report: FrontmatterReport) -> str:
    unread = sum(any(issue.code == "read_error" for issue in one.issues) for one in report.notes)
    checked = f"{counted(len(report.notes) - unread, 'note')} checked"
    if unread:
        checked += f", {unread:,} could not be read"
    if not report.errors and not report.warnings:
        return f"{checked}, nothing to mend"
    touched = sum(1 for note in report.notes if note.issues)
    errors, warnings = counted(report.errors, "error"), counted(report.warnings, "warning")
    return f"{checked}: {errors}, {warnings}, in {counted(touched, 'note')}"


def github_lines(report: FrontmatterReport, env: Mapping[str, str], here: str) -> Iterator[str]:
    """Each issue as a command of GitHub's workflows.

    The file is named from GITHUB_WORKSPACE, else from `here`, else in full.
    """
    bases = [os.path.realpath(base) for base in (env.get("GITHUB_WORKSPACE"), here) if base]
    for note, issue in _issues(report):
        path = os.path.join(os.path.realpath(report.vault), note.file)
        base = next((base for base in bases if path.startswith(base.rstrip(os.sep) + os.sep)), None)
        file = (os.path.relpath(path, base) if base else path).replace(os.sep, "/")
        message = issue.message + (f"; {issue.suggestion}" if issue.suggestion else "")
        yield (
            f"::{issue.severity} file={_property(file)},line={issue.line or 1},"
            f"title={_property(issue.code)}::{_data(message)}"
        )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
