"""`cortex pack`: a bounded, sealed document of what a session starts from."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .options import add_action, add_json, at_least, number
from .output import counted, hint, print_json, say, visible

if TYPE_CHECKING:
    from ..app import Cortex
    from ..pack.model import Pack

EXAMPLES = (
    ("pack build", "a pack of this profile, as JSON; writes nothing"),
    (
        "pack build --query 'boiler pressure' --project garden --out pack.json",
        "one on a question, of a project alone, kept in a file too",
    ),
    ("pack verify pack.json", "is it whole, and still what one would get"),
    ("pack show", "a pack built now, as Markdown"),
    ("pack show pack.json", "the one in a file"),
    ("pack sentinel", "prove in a world made for it that packs hold what they promise"),
)
_SECTIONS = """\
Its sections, each newest first: temporal_facts (notes of type fact that hold today, and the facts
of the host's memory plugin), handoffs (notes of type handoff that nothing superseded), receipts
(what promotion and the agent wrote), session_context (sessions of the profile: on --query, else
the last words of the newest), semantic (passages on --query, by words alone: no model, no
network). Each says ok, empty, unavailable or refused-secret."""
_BUILD = f"""\
Build a pack: one JSON document of at most --max-bytes, on stdout. Nothing is written without --out.

{_SECTIONS}

Each section gets its newest item first, cut where it takes more than its share; then the room that
is left is filled in their order. The same state gives the same bytes but for generated_at.

What holds a secret is left out and counted. --redact masks it, --allow-secret lets it through and
adds a line to audit.jsonl in the state folder.

While HERMES_CORTEX_CONTEXT is off, 0, false or no, nothing is read, and this is printed:
{{"enabled": false}}

Exit codes: 0 done, whatever was there; 1 the file or the audit could not be written; 2 asked
wrongly."""
_VERIFY = """\
Build the pack of a file again, with what it was asked, and tell how it stands:

  fresh   one built now is the same
  stale   another would come of it now; its digest is told
  aged    the same, but older than its max_age_hours
  broken  its seal does not fit what it says: it was changed or damaged

The seal does not say who made a pack: one that was changed and sealed anew is stale.

Exit codes: 0 fresh, stale or aged; 1 broken; 2 this was never a pack, or asked wrongly."""
_SHOW = """\
Print the pack of a file, or one built now, as Markdown; the same pack gives the same text. Secrets
in a file are masked. Exit codes: 0 done; 1 the seal is broken; 2 asked wrongly."""
_SENTINEL = """\
Make a vault and two profiles in a temporary folder and prove there: what is packed and from where,
that it is the same each time, that profiles stay apart, that secrets stay out, the switch, and what
is told when something is not there. Reads and writes nothing else; needs no config.

Exit codes: 0 all of it holds; 1 something does not."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "A bounded, sealed document of what a session starts from: facts, handoffs, receipts, "
        "sessions, notes. Exit codes: 0 done, 1 a seal is broken, 2 asked wrongly."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    build = add_action(actions, "build", "build a pack of what there is now", _BUILD)
    _add_asked(build)
    build.add_argument(
        "--out", metavar="FILE", help="write it there too; replaces nothing that is no pack"
    )
    verify = add_action(actions, "verify", "is a pack whole, and still what one would get", _VERIFY)
    verify.add_argument("file", metavar="FILE", help="the pack; - reads stdin")
    show = add_action(actions, "show", "print a pack as Markdown", _SHOW)
    show.add_argument(
        "file", nargs="?", metavar="FILE", help="the pack (default: one built now); - reads stdin"
    )
    _add_asked(show)
    sentinel = add_action(actions, "sentinel", "prove that packs hold what they promise", _SENTINEL)
    for action in (build, verify, show, sentinel):
        add_json(action)


def run(args: argparse.Namespace) -> int:
    runs: dict[str, Callable[[argparse.Namespace], int]] = {
        "build": _build,
        "verify": _verify,
        "show": _show,
        "sentinel": _sentinel,
    }
    if args.action is None:
        say(f"pack needs an action: {', '.join(runs)}; see: cortex pack --help")
        return 2
    from ..switch import is_switched_off

    if args.action != "sentinel" and is_switched_off(os.environ):
        print('{"enabled": false}')
        return 0
    return runs[args.action](args)


def _add_asked(parser: argparse.ArgumentParser) -> None:
    """Options for what a pack is to hold; None is what was not given."""
    parser.add_argument(
        "--query", dest="focus", metavar="TEXT", help="what the session is about, in plain words"
    )
    parser.add_argument(
        *("--profile", "--of-profile"),
        dest="of_profile",
        metavar="NAME",
        help="sessions of this profile alone (default: that of HERMES_HOME); behind hermes cortex "
        "write --of-profile, as hermes takes --profile for itself",
    )
    parser.add_argument(
        "--project", metavar="NAME", help="only what is of this project, or of none"
    )
    parser.add_argument(
        "--max-bytes",
        type=at_least(0),
        metavar="N",
        help="of the whole document (default: 4096); 1,024 at least, which holds counts alone",
    )
    parser.add_argument(
        "--max-items", type=at_least(0), metavar="N", help="of each section (default: 5)"
    )
    parser.add_argument(
        "--max-age-hours", type=number, metavar="N", help="older than that it is aged (default: 24)"
    )
    secrets = parser.add_mutually_exclusive_group()
    secrets.add_argument(
        "--redact",
        action="store_true",
        default=None,
        help="pack what holds a secret with [REDACTED:<kind>] in its place",
    )
    secrets.add_argument(
        "--allow-secret",
        action="store_true",
        default=None,
        help="pack it as it is, and record that in audit.jsonl",
    )


def _asked(args: argparse.Namespace) -> dict[str, Any]:
    """What was given of _add_asked, as keywords of Cortex.pack."""
    given = {
        "query": args.focus,
        "profile": args.of_profile,
        "project": args.project,
        "max_bytes": args.max_bytes,
        "max_items": args.max_items,
        "max_age_hours": args.max_age_hours,
        "redact": args.redact,
        "allow_secret": args.allow_secret,
    }
    return {name: value for name, value in given.items() if value is not None}


def _opened(args: argparse.Namespace) -> Cortex:
    from ..app import Cortex

    return Cortex.open(args.config, env=os.environ)


def _build(args: argparse.Namespace) -> int:
    from ..pack.output import checked_output, write_pack

    cortex = _opened(args)
    place = (
        checked_output(Path(args.out), cortex.config.vault.path) if args.out is not None else None
    )
    pack = cortex.pack(**_asked(args), command="pack build")
    if place is not None:
        write_pack(place, pack.to_bytes())
    print(pack.to_bytes().decode(), end="")
    if not args.quiet:
        _tell(pack)
    return 0


def _tell(pack: Pack) -> None:
    packed = sum(len(section.items) for section in pack.sections)
    matched = sum(section.matched for section in pack.sections)
    size = f"{len(pack.to_bytes()):,} of {pack.asked.max_bytes:,} bytes"
    say(f"{counted(packed, 'item')} of {matched:,} found, {size}")
    for section in pack.sections:
        if section.status == "unavailable":
            say(f"{section.name} is not available: {section.why}")
    if count := pack.refused_secret_items:
        say(f"{counted(count, 'item')} left out for holding what looks like a secret")


def _verify(args: argparse.Namespace) -> int:
    from ..pack.output import read_input

    verdict = _opened(args).verify_pack(read_input(args.file))
    if args.json:
        print_json(verdict.as_json())
    else:
        now = verdict.current_digest
        stale = f"one built now is another, {now}" if now else f"none can be built: {verdict.why}"
        told = {
            "fresh": "one built now is the same",
            "stale": stale,
            "aged": f"{verdict.age_hours} hours old, and may be {verdict.max_age_hours}",
            "broken": verdict.why,
        }
        print(visible(hint(f"{verdict.status}: {told[verdict.status]}")))
        if verdict.status in ("stale", "aged"):
            print(hint("next: cortex pack build"))
    return 1 if verdict.status == "broken" else 0


def _show(args: argparse.Namespace) -> int:
    from ..pack.guard import holds_secret
    from ..pack.output import read_input
    from ..pack.render import to_markdown
    from ..pack.verify import opened

    asked = _asked(args)
    if args.file is None:
        pack = _opened(args).pack(**asked, command="pack show")
    elif asked:
        raise UsageError("what a pack in a file holds is settled; leave FILE out to build one now")
    else:
        pack = opened(read_input(args.file))
        if args.json and holds_secret(pack):
            raise UsageError(f"{args.file} holds secrets; as Markdown they are shown masked")
    if args.json:
        print(pack.to_bytes().decode(), end="")
    else:
        markdown = to_markdown(pack, with_secrets=bool(args.allow_secret))
        print(visible(markdown, keep="\n"), end="")
    return 0


def _sentinel(args: argparse.Namespace) -> int:
    from ..app import Cortex
    from ..desk import Desk
    from ..pack import sentinel

    def open_cortex(config: Path, env: Mapping[str, str]) -> Cortex:
        return Cortex.open(config, env=env)

    def promote(config: Path, env: Mapping[str, str]) -> object:
        return Desk.open(config, env=env).nightly(write=True)

    lines: list[str] = []
    report = lines.append if args.json else lambda line: print(visible(line), flush=True)
    code = sentinel.run(report, open_cortex=open_cortex, promote=promote)
    if args.json:
        print_json({"passed": code == 0, "lines": lines})
    return code
