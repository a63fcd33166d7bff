"""`cortex wiki-health`."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace

from .options import add_json, with_config
from .output import counted, hint, print_json, say, styled, visible

EXAMPLES = (
    ("wiki-health", "what the vault lacks of the contract, and how to mend it"),
    ("wiki-health --strict --json", "for a program; exit code 1 on warnings too"),
)
_DESCRIPTION = """\
Hold the vault against the contract of a wiki:
  the root files SCHEMA.md, index.md and log.md, and the folders 00_inbox to 80_templates and
  raw/articles, raw/papers, raw/transcripts and raw/assets are there;
  the settings keep raw, 00_inbox and 80_templates out of the index;
  each source in raw says where it comes from (source_url), since when (ingested), and its body is
  still the one whose sha256 it holds.

Nothing is ever written. A vault with an order of its own need not keep this contract; search does
not ask for it.

Exit codes: 0 no errors, 1 errors (with --strict also warnings), 2 no vault is configured. With
--json `ok` says the same: true where the exit code is 0."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--strict", action="store_true", help="exit with 1 on warnings too")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk
    from ..vault.note_schema import ROOT_FILES

    report = Desk.open(args.config, env=os.environ).wiki_health()
    issues = [
        replace(issue, message=_of_same(issue.message, args.config)) for issue in report.issues
    ]
    report = replace(report, issues=tuple(issues))
    if args.json:
        print_json(report.document(args.strict))
        return 0 if report.passes(args.strict) else 1
    for issue in report.issues:
        colour = "red" if issue.severity == "error" else "yellow"
        severity = styled(issue.severity, colour, sys.stdout)
        print(f"{visible(issue.path)}: {severity} {issue.code}")
        print(f"    {visible(hint(issue.message))}")
    errors, warnings = report.errors, report.warnings
    if report.issues:
        print(f"{counted(errors, 'error')}, {counted(warnings, 'warning')}")
    else:
        print(f"the vault keeps the contract: {visible(str(report.vault))}")
    if [issue.code for issue in report.issues].count("missing_root_file") == len(ROOT_FILES):
        say(
            "the contract is for vaults that cortex init --scaffold laid out; one with an order of "
            "its own need not keep it"
        )
    return 0 if report.passes(args.strict) else 1


def _of_same(message: str, config: str | None) -> str:
    """A message with the command at its end for the same config: another has another vault."""
    text, run, command = message.rpartition("run: ")
    return text + run + with_config(command, config) if run else message
