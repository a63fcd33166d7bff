"""Drafts for the inbox out of what was said in sessions: by rules, and never by a model.

A draft quotes what somebody said, with secrets masked, and says who, when and in which session.
Nothing in it is taken for true: its status is draft, its review pending, its confidence low, and
it is not marked for promotion. A sentence becomes a draft once: its digest stands in the draft
and in the state folder, so that one that was promoted, moved or deleted does not come back.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from ..errors import UsageError
from ..files import create_below, dumps
from ..generated import escape
from ..platforms import OPEN
from ..records.messages import Message, Transcript
from ..records.transcripts import Found, moment, session_report, zone_of
from ..redaction import MASK, redact_part
from ..state import State
from ..text import one_line
from ..types import Json
from ..vault.note_schema import INBOX
from ..vault.reading import folded
from ..vault.scan import FolderRules, scan
from .candidate_rules import Dropped, Kind, matches, telling_words
from .candidate_text import is_of_the_host, sentences

LEDGER = "lifecycle/candidates.jsonl"  # in the state folder
LIMIT = 50  # drafts of one run
# Sessions in which nobody speaks for himself, or anybody may.
EXCLUDED = frozenset({"cron", "subagent", "tool"}) | OPEN
MAX_TITLE = 80  # characters
_ALIKE = 0.7  # of their words: one thing said twice in a session
_HEAD = 8_192  # bytes of a note in which its properties are looked for


@dataclass(frozen=True, slots=True)
class Candidate:
    digest: str  # 16 hexadecimal digits: of what was said, whoever said it
    kind: Kind
    title: str
    path: str  # of the draft, vault-relative
    quote: str  # on one line, secrets masked
    redactions: int
    said_by: str  # user or assistant
    session: str
    platform: str
    time: str | None  # ISO, in the zone that was asked for

    @property
    def type(self) -> str:
        return "decision" if self.kind == "decision" else "fact"


@dataclass(slots=True)
class CandidateReport:
    found: Found  # the sessions, and how they were come by
    is_dry: bool
    candidates: list[Candidate] = field(default_factory=list)  # in order of time
    skipped: Counter[str] = field(default_factory=Counter)  # reason -> sessions or sentences
    left: int = 0  # beyond the limit, for another run
    are_searched: bool = False  # by the settings the inbox is indexed like any folder

    def as_json(self) -> dict[str, Json]:
        return {
            "dry_run": self.is_dry,
            "written": 0 if self.is_dry else len(self.candidates),
            "candidates": [
                {
                    "file": one.path,
                    "title": one.title,
                    "kind": one.kind,
                    "type": one.type,
                    "quote": one.quote,
                    "redactions": one.redactions,
                    "said_by": one.said_by,
                    "session_id": one.session,
                    "session_source": one.platform,
                    "time": one.time,
                    "digest": one.digest,
                }
                for one in self.candidates
            ],
            "over_the_limit": self.left,
            "inbox_is_searched": self.are_searched,
            "skipped": dict(sorted(self.skipped.items())),
            "session_sources": session_report(self.found),
        }


def candidates(
    state: State,
    vault: Path,
    found: Found,
    rules: FolderRules,
    *,
    write: bool = False,
    limit: int = LIMIT,
    platforms: Sequence[str] = (),
) -> CandidateReport:
    """Drafts of what was said in the sessions `found`; written into 00_inbox only on request.

    The oldest come first, and what is over the limit is for the next run. platforms: sessions of
    these count, whatever they are, and no others; () is all but EXCLUDED and group chats. rules:
    which notes are indexed, to tell whether drafts are. Raises UsageError when 00_inbox leads out
    of the vault or is no folder, OSError when a draft cannot be written; those before it are, and
    are remembered.
    """
    inbox = vault / INBOX
    if inbox.is_symlink() or (inbox.exists() and not inbox.is_dir()):
        raise UsageError(f"{inbox} is a link or no folder; make it a folder, and run this again")
    is_indexed = rules.takes(f"{INBOX}/draft.md")
    report = CandidateReport(found, is_dry=not write, are_searched=is_indexed)
    drafts = _drafts(found, platforms, report.skipped)
    with state.lock() if write else contextlib.nullcontext():
        known = _known(state, vault)
        names = {folded(name) for name in os.listdir(inbox)} if inbox.is_dir() else set()
        for draft in drafts:
            if draft.digest in known:
                report.skipped["known_already"] += 1
                continue
            known.add(draft.digest)
            if len(report.candidates) >= limit:
                report.left += 1
                continue
            draft = _named(draft, names)
            if write:
                create_below(vault, draft.path, rendered(draft).encode("utf-8"))
                _remember(state, draft)
            report.candidates.append(draft)
    return report


def rendered(draft: Candidate) -> str:
    """The text of the draft. What was said stands in it as a quotation, on one line."""
    said = f"session {draft.session}, {draft.time or 'at an unknown time'}, {draft.platform}"
    who = "the user" if draft.said_by == "user" else "the assistant"
    properties = {
        "type": draft.type,
        "status": "draft",
        "domain": "unsorted",
        "tags": ["from-session"],
        "confidence": "low",
        "importance": "low",
        "stability": "evolving",
        "created": (draft.time or "")[:10] or None,
        "source": said,
        "review_status": "pending",
        "review_reason": f"{draft.kind}, said by {who}; taken by rule, checked by nobody",
        "candidate": draft.digest,
    }
    lines = [f"{name}: {_yaml(value)}" for name, value in properties.items() if value is not None]
    head = "\n".join(["---", *lines, "---"])
    when = (draft.time or "an unknown time")[:16].replace("T", " ")
    return (
        f"{head}\n\n# {draft.title}\n\n> {_quoted(draft.quote)}\n\n"
        f"Said by {who} on {when} in the session `{draft.session}` ({draft.platform}).\n"
    )


# What was said


def _drafts(found: Found, platforms: Sequence[str], skipped: Counter[str]) -> list[Candidate]:
    """In order of time; without a path yet. What is said twice in a session counts once."""
    zone = zone_of(found.wanted.timezone)
    drafts: list[tuple[float, Candidate]] = []
    for session in found.sessions:
        if reason := _refused(session, platforms):
            skipped[reason] += 1
            continue
        seen: list[set[str]] = []
        for message in session.messages:
            for draft in _said(session, message, zone, skipped):
                words = _words(draft.quote)
                if any(_likeness(words, other) >= _ALIKE for other in seen):
                    skipped["said_twice"] += 1
                    continue
                seen.append(words)
                drafts.append((message.time or session.last or 0, draft))
    return [draft for _, draft in sorted(drafts, key=lambda item: item[0])]


def _refused(session: Transcript, platforms: Sequence[str]) -> str | None:
    platform = session.platform.casefold()
    if platforms:
        is_asked = platform in {name.casefold() for name in platforms}
        return None if is_asked else "sessions_of_other_platforms"
    if platform in EXCLUDED:
        return "sessions_of_excluded_platforms"
    if session.chat_type.casefold() not in ("", "dm", "private"):
        return "group_chats"  # who said it there cannot be told
    return None


def _said(
    session: Transcript, message: Message, zone: dt.tzinfo | None, skipped: Counter[str]
) -> Iterator[Candidate]:
    if message.role not in ("user", "assistant"):
        return
    if message.is_observed or is_of_the_host(message.text):
        skipped["messages_of_others"] += 1
        return
    parts = sentences(message.text)
    for match in matches(parts, message.role):
        if isinstance(match, Dropped):
            skipped[match.reason] += 1
            continue
        start, end = parts[match.first].start, parts[match.last].end
        quote, redactions = redact_part(message.text, start, end)
        quote = _flat(quote)
        told = _flat(redact_part(message.text, match.start, match.end)[0])
        if redactions and telling_words(MASK.sub(" ", told)) < 3:
            skipped["mostly_secret"] += 1
            continue
        digest = _digest(quote)  # and not of a secret, which could be guessed from it
        yield Candidate(
            digest=digest,
            kind=match.kind,
            title=_title(told) or f"Draft {digest[:8]}",
            path="",
            quote=quote,
            redactions=redactions,
            said_by=message.role,
            session=_NO_ID.sub("?", session.id)[:120],
            platform=_NO_ID.sub("?", session.platform)[:40],
            time=moment(message.time or session.last, zone),
        )


_NO_ID = re.compile(r"[^\w.:@+-]")


def _flat(text: str) -> str:
    return " ".join(one_line(escape(text)).split())


def _digest(quote: str) -> str:
    """The same for one sentence in any case, and with other punctuation at its ends."""
    words = unicodedata.normalize("NFC", quote).casefold().strip(" .!,;:*_")
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _likeness(one: set[str], other: set[str]) -> float:
    return len(one & other) / (len(one | other) or 1)


# The draft


_SIGNS = re.compile(r'[#^\[\]|:\\/<>"?*`\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+')
_BEGINNING = re.compile(
    r"^(?:(?:that|to|on|dass|daß|que|che|dat|att|że|что|please|bitte)\b[\s,:]*|[\s.,;:!–—•▒_-]+)+",
    re.IGNORECASE,
)
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def _title(told: str) -> str:
    """What was told as a name of a file that can be linked to; "" when nothing is left of it."""
    text = re.sub(r"(?<=\d):(?=\d)", ".", MASK.sub("redacted", told))
    text = unicodedata.normalize("NFC", " ".join(_SIGNS.sub(" ", text).split()))
    text = _BEGINNING.sub("", text)
    if len(text) > MAX_TITLE:
        text = text[: MAX_TITLE + 1].rpartition(" ")[0] or text[:MAX_TITLE]
    while len(text.encode("utf-8")) > 180:
        text = text[:-1]
    text = text.strip(" .,;!。！、，(–—-")
    if not re.search(r"\w", text) or _RESERVED.fullmatch(text):
        return ""
    return text[0].upper() + text[1:]


def _named(draft: Candidate, names: set[str]) -> Candidate:
    """With a path that nothing in the inbox has, which `names` then holds too."""
    name, number = draft.title, 1
    while folded(f"{name}.md") in names:
        number += 1
        name = f"{draft.title} {number}"
    names.add(folded(f"{name}.md"))
    return replace(draft, title=name, path=f"{INBOX}/{name}.md")


def _quoted(text: str) -> str:
    """With nothing in it that would be a link, an embed, a tag, a comment or HTML of the note."""
    text = re.sub(r"\[(?=\[)|(?<=!)\[|<|%(?=%)", r"\\\g<0>", text)
    return re.sub(r"(?<!\S)#(?=\w)", r"\\#", text)


def _yaml(value: Json) -> str:
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    text = str(value)
    return text if re.fullmatch(r"[a-z-]+|\d{4}-\d\d-\d\d", text) else json.dumps(text)


# What is known already


def _known(state: State, vault: Path) -> set[str]:
    """The digests of drafts that were written here before, or stand in a note of the vault."""
    known: set[str] = set()
    with contextlib.suppress(FileNotFoundError), open(state.root / LEDGER, "rb") as file:
        for line in file:  # a killed run may have left half a line
            with contextlib.suppress(ValueError, LookupError, TypeError):
                known.add(str(json.loads(line)["digest"]))
    for note in scan(vault, FolderRules()).notes:
        with contextlib.suppress(OSError), open(note.file, "rb") as file:
            known.update(match[1].decode() for match in _DIGEST.finditer(file.read(_HEAD)))
    return known


_DIGEST = re.compile(rb"^candidate:[ \t]*[\"']?([0-9a-f]{16})\b", re.MULTILINE)


def _remember(state: State, draft: Candidate) -> None:
    """The digest in the state folder; the text of a session is not kept there."""
    path = state.root / LEDGER
    path.parent.mkdir(parents=True, exist_ok=True)
    line = dumps({"digest": draft.digest, "session": draft.session, "time": draft.time})
    with open(path, "ab") as file:
        if file.tell() and not _ends_a_line(path):
            file.write(b"\n")
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _ends_a_line(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
