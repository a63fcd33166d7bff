"""`cortex note`."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

from .options import add_json, offering
from .output import hint, print_json, say, visible

if TYPE_CHECKING:
    from ..types import Json

EXAMPLES = (
    ('note new --type fact --title "The well was cleaned"', "a fact, in 10_facts"),
    (
        'note new --type decision --title "Slate instead of tiles" --tag house --set importance=4',
        "a decision with a tag and a property",
    ),
    ('note new --title "From a pipe" --body -', "its text from stdin, in 00_inbox"),
    ('note new --type person --title "Ada" --folder People --dry-run', "show it, write nothing"),
)
ABOUT_NEW = """\
Write a new note: out of a template, with checked properties, in the folder of its type.

The template is the vault's own, <type>-note.md or the like in 80_templates, in the folder that
Obsidian uses for templates, or in one called Templates; else the one that Cortex ships. {{title}},
{{date}}, {{time}} and e.g. {{date:DD.MM.YYYY}} in it are filled in. Properties that every note
needs are added where they lack.

Facts go to 10_facts, decisions to 20_decisions, projects to 30_projects, runbooks to 40_runbooks,
people to 50_people, maps to 60_maps, notes to 00_inbox; in a vault with none of these to its root.

It never overwrites a note, also not one whose name differs in case alone, and never writes outside
the vault, into a hidden folder or through a link. A note that validate-frontmatter would have
errors for is not written.

Exit codes: 0 written; 2 asked wrongly, nothing was written
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Write a new note from a template. Exit codes: see note new --help."
    actions = parser.add_subparsers(dest="action", metavar="new", required=True)
    new = actions.add_parser(
        "new",
        help="write a note from a template, with checked properties, into the right folder",
        description=ABOUT_NEW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    new.add_argument(
        "--title", required=True, metavar="TEXT", help="its title, and so the name of its file"
    )
    kind = new.add_argument(
        "--type",
        default="note",
        metavar="TYPE",
        help="fact, decision, project, runbook, person, map or note (the default)",
    )
    offering(kind, ("fact", "decision", "project", "runbook", "person", "map", "note"))
    new.add_argument(
        "--folder", metavar="PATH", help="from the vault's root, . for the root; made if missing"
    )
    new.add_argument("--tag", action="append", default=[], metavar="TAG", help="repeat for more")
    new.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a property, its value as YAML: importance=4, 'related=[\"[[Gauge]]\"]'; repeat",
    )
    new.add_argument(
        "--body", metavar="TEXT", help="its text, in the place of the template's; - reads stdin"
    )
    new.add_argument("--template", metavar="NOTE", help="this note of the vault as the template")
    new.add_argument("--dry-run", action="store_true", help="print the note, write nothing")
    add_json(new)


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk
    from ..ops.notes import NewNote

    desk = Desk.open(args.config, env=os.environ)
    wanted = NewNote(
        title=args.title,
        type=args.type,
        folder=args.folder,
        tags=tuple(args.tag),
        properties=_properties(args.set),
        body=_body(args.body),
        template=args.template,
    )
    note = desk.new_note(wanted, dry_run=args.dry_run)
    is_searched = desk.cortex.rules.takes(note.path)
    if args.json:
        print_json(
            {
                "path": note.path,
                "file": str(desk.config.vault.path / note.path if desk.config.vault.path else ""),
                "type": wanted.type,
                "template": note.template,
                "written": not args.dry_run,
                "searched": is_searched,
                "warnings": [
                    {"code": issue.code, "message": issue.message, "line": issue.line}
                    for issue in note.warnings
                ],
                "secrets": [{"line": line, "kind": kind} for line, kind in note.secrets],
                "text": note.text,
            }
        )
        return 0
    if args.dry_run:
        print(visible(note.text, keep="\n\t"), end="")
    made_from = f"the template {note.template}" if note.template else "the template of Cortex"
    verb = "would write" if args.dry_run else "wrote"
    told = f"{verb} {visible(note.path)} from {visible(made_from)}"
    say(told) if args.dry_run else print(told)
    for issue in note.warnings:
        where = f"line {issue.line}: " if issue.line else ""
        remedy = f"; {issue.suggestion}" if issue.suggestion else ""
        say(f"{where}{issue.message}{remedy}")
    for line, kind in note.secrets:
        say(f"line {line}: this looks like a secret ({kind}); it belongs in a password store")
    if not is_searched:
        say("the settings leave that folder out, so the note is not searched")
    elif not args.dry_run:
        option = f" --config {shlex.quote(args.config)}" if args.config else ""
        print(hint(f"next: cortex index{option}"))
    return 0


def _properties(given: list[str]) -> dict[str, Json]:
    from ..errors import UsageError
    from ..vault.frontmatter import split

    found: dict[str, Json] = {}
    for text in given:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key:
            raise UsageError(f"--set {text!r} is not KEY=VALUE, e.g. --set importance=4")
        if key in found:
            raise UsageError(f"--set {key} is given twice; give a list: {key}=[a, b]")
        header = split(f"---\nvalue: {value}\n---\n")
        is_odd = re.search("[\r\n\ud800-\udfff]", value) or header.problems
        is_yaml = not is_odd and list(header.values) == ["value"]
        found[key] = header.values["value"] if is_yaml else value  # else a text as it was typed
    return found


def _body(given: str | None) -> str | None:
    from ..errors import UsageError
    from ..text import Undecodable, decode

    if given != "-":
        return given
    try:
        text, problems = decode(sys.stdin.buffer.read())
    except Undecodable:
        raise UsageError("what came from stdin is no text; nothing was written") from None
    for problem in problems:
        say(problem.message)
    return text
