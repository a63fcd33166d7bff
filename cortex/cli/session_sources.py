"""cortex session-sources: which sessions of Hermes there are to learn from, and whence."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..types import Json
from .options import add_json, number
from .output import counted, print_json, say, table, visible

if TYPE_CHECKING:
    from ..desk import Desk

EXAMPLES = (
    ("session-sources", "the sessions since yesterday, and which store they came out of"),
    ("session-sources --lookback-days 7 --json", "the last week, for a program"),
    ("session-sources --messages --timezone Europe/Berlin", "with what was said, secrets masked"),
    ("session-sources --state-db-path backup.db --no-legacy-fallback", "of a copy, and no files"),
)
DESCRIPTION = """\
Lists the sessions of Hermes that were in use in the last days, and says how they were come by:
which store counted (state.db, or session files of older hosts), how many sessions each has, why
it fell back from one to the other, and how many request dumps lie there unread. The database is
opened to be read alone and closed again; nothing is ever written. What was said is printed with
--messages alone, with secrets masked. Exit codes: 0 also when there is nothing, or a store cannot
be read: the report says so; 2 when asked wrongly."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_session_options(parser)
    parser.add_argument(
        "--messages", action="store_true", help="also what was said, with secrets masked"
    )
    add_json(parser)


def add_session_options(parser: argparse.ArgumentParser) -> None:
    """Options for which sessions count; what is not given comes from cron.nightly_promotion."""
    group = parser.add_argument_group(
        "which sessions", "what is not given is that of cron.nightly_promotion in the config"
    )
    group.add_argument(
        "--lookback-days",
        type=_days,
        metavar="N",
        help="how far back, in days of 24 hours (default: 1); older messages are left out",
    )
    group.add_argument(
        "--timezone",
        metavar="ZONE",
        help="of the times printed, and of times that name none, e.g. Europe/Berlin "
        "(default: the system's)",
    )
    group.add_argument(
        "--state-db-path",
        metavar="FILE",
        help="the session database (default: state.db of the Hermes home that asks)",
    )
    group.add_argument(
        "--session-glob",
        action="append",
        metavar="PATTERN",
        help="session files to fall back on; repeat it for more (default: sessions/*.jsonl and "
        "sessions/session_*.json of that home)",
    )
    group.add_argument(
        "--no-legacy-fallback",
        action="store_true",
        help="never read session files, whatever the database lacks",
    )


def _days(text: str) -> float:
    from ..ops.session_settings import MAX_DAYS

    value = number(text)
    if not 0 < value <= MAX_DAYS:
        raise argparse.ArgumentTypeError(
            f"must be above 0 and at most {MAX_DAYS} days, found {text}"
        )
    return value


def asked_sessions(args: argparse.Namespace) -> dict[str, Any]:
    """What add_session_options read, as keywords of Desk.find_sessions."""
    return {
        "lookback_days": args.lookback_days,
        "timezone": args.timezone,
        "state_db_path": args.state_db_path,
        "session_globs": args.session_glob,
        "legacy_fallback": False if args.no_legacy_fallback else None,
    }


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk
    from ..records.transcripts import session_report, session_rows

    desk: Desk = Desk.open(args.config)
    found = desk.find_sessions(**asked_sessions(args))
    report, rows = session_report(found), session_rows(found, with_messages=args.messages)
    warn_of_missing(args, report)
    if args.json:
        print_json({**report, "sessions": rows})
        return 0
    for line in told(report):
        print(visible(line))
    if rows:
        print()
        print(table([_HEAD, *(_row(row) for row in rows)]))
    for row in rows if args.messages else ():
        print()
        print(visible(row["session_id"]))
        for message in row["messages"]:
            time = message["timestamp"] or "at an unknown time"
            print(visible(f"[{time}] {message['role']}: {message['content']}", keep="\n"))
    return 0


def warn_of_missing(args: argparse.Namespace, report: dict[str, Json]) -> None:
    """Falling back on files is by the rules, also from a database that was named; but say so."""
    if args.state_db_path is not None and report["fallback_reason"] == "state_db_missing":
        say(f"there is no file {report['state_db_path']}, which --state-db-path names")


def told(report: dict[str, Json]) -> list[str]:
    """How the sessions were come by, for people: a line a fact."""
    seen = report["sessions_seen_by_backend"]
    version = report["state_db_schema_version"]
    state = "readable" if report["state_db_readable"] else "not readable"
    if report["fallback_reason"] == "state_db_missing":
        state = "not there"
    files = seen["legacy_json"] + seen["legacy_jsonl"]
    source, reason = report["source_backend_primary"], report["fallback_reason"]
    if not any(seen.values()):
        read, lacking = "nothing", ", and there are no session files"
    else:
        read, lacking = _BACKENDS[source], ""
    if report["fallback_used"]:
        read += f", because {_REASONS[reason]}{lacking}"
    lines = [
        f"database:  {report['state_db_path']} ({state}"
        + (f", schema version {version})" if version is not None else ")"),
        f"since:     {report['lookback_cutoff']} ({report['timezone']})",
        f"read from: {read}",
        f"seen:      {counted(seen['state_db'], 'session')} in the database, "
        f"{counted(files, 'session file')}",
        f"chosen:    {counted(report['sessions_selected'], 'session')}"
        + _listed(report["sessions_selected_by_source"])
        + f", {counted(report['messages_scanned'], 'message')}",
    ]
    if reason and not report["fallback_used"]:
        lines.append(f"note:      {_REASONS[reason]}; files were not to be read")
    if dumps := report["ignored_files"]["request_dump"]:
        lines.append(f"left out:  {counted(dumps, 'request dump')}, never read")
    lines += [f"left out:  {told}" for told in left_out(report["skipped"])]
    lines += [f"error:     {error}" for error in report["errors"]]
    if reason == "state_db_unreadable_or_incompatible":
        lines.append("to do:     mend that database, or name another with --state-db-path")
    return lines


def left_out(skipped: dict[str, int]) -> list[str]:
    """What was left out and how often, for people: `2 sessions of other profiles`."""
    told = []
    for reason, count in skipped.items():
        one, rest = _LEFT_OUT.get(reason, (reason.replace("_", " "), ""))
        if count:
            told.append(f"{counted(count, one)} {rest}".rstrip())
    return told


_LEFT_OUT = {
    "archived_sessions": ("archived session", ""),
    "sessions_of_other_profiles": ("session", "of other profiles"),
    "sessions_in_two_files": ("session", "that another file has already"),
    "sessions_of_other_platforms": ("session", "of platforms that were not asked for"),
    "sessions_of_excluded_platforms": ("session", "of cron, subagents or open platforms"),
    "group_chats": ("group chat", ""),
    "messages_before_the_cutoff": ("message", "from before that time"),
    "tool_or_non_chat_messages": ("message", "of tools"),
    "inactive_messages": ("message", "taken back or summed up"),
    "blank_messages": ("message", "without text"),
    "messages_of_others": ("message", "put there by Hermes, or overheard in a group"),
    "known_already": ("sentence", "that became a draft before"),
    "said_twice": ("sentence", "said before in the same session"),
    "nothing_named": ("sentence", "pointing only at something else"),
    "too_long": ("sentence", "too long to quote"),
    "mostly_secret": ("sentence", "made up mostly of secrets"),
}
_BACKENDS = {"state_db": "the session database", "legacy_files": "session files"}
_REASONS = {
    "state_db_missing": "there is no database",
    "state_db_unreadable_or_incompatible": "the database cannot be used",
    "state_db_zero_eligible_sessions": "the database has no session of that time",
}
_HEAD = ("last message", "session", "from", "messages", "title")


def _listed(counts: dict[str, int]) -> str:
    return f" ({', '.join(f'{name} {count}' for name, count in counts.items())})" if counts else ""


def _row(row: dict[str, Json]) -> tuple[str, ...]:
    about = row["metadata"]
    last, count = row["last_message_ts"] or "", str(row["message_count"])
    return last, row["session_id"], about["session_source"], count, about["title"] or ""
