"""What each block says, cut to its budget; none of it can end its frame or pass for another."""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ..config.schema import (
    BootstrapContextConfig,
    Config,
    DynamicContextConfig,
    RecentContextConfig,
    SessionPackConfig,
    SkillContextConfig,
    StaticFile,
)
from ..errors import Unavailable
from ..generated import Block, escape, escape_citations, escape_labels, key, mark
from ..patience import Urgent
from ..records import static
from ..redaction import redact
from ..text import cut_to_tokens, estimate_tokens, one_line
from ..types import Hit, SearchResult

SKILL = "cortex-vault"
CUT = "[…]"  # stands where a text was cut
MAX_CHARS = 9_500  # of all blocks of a turn; at 10,000 the host puts a preview in their place

_CUT_TOKENS = 12  # for CUT, and for a fence that must be closed in front of it
_LEAST_TOKENS = 24  # less of a text says nothing
_TRIES = 6
_SHARE_OF_VECTORS = 0.5  # of the time that is left, before words alone have to answer
_QUICK_S = 0.1  # a search by words that takes longer meets a process just begun, or a busy machine
_BY_WORDS = ("bm25", "graph")
_WORDS_AT_ONCE = 2  # searches by words; more sessions wait in line, or none of them were in time

_logger = logging.getLogger(__name__)


class Vault(Protocol):
    """What injection needs of Cortex."""

    @property
    def config(self) -> Config: ...

    def search(
        self,
        text: str,
        *,
        channels: Sequence[str] | None = None,
        vector_wait_s: float | None = None,
        rerank: bool = True,
        plain: bool = False,
    ) -> SearchResult: ...

    def warm(self) -> None: ...

    def session_pack(
        self, message: str, home: Path, session_id: str, deadline: float
    ) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Draft:
    """A block that can still be made shorter."""

    name: str
    budget: int  # tokens, with its marks and the frame around it
    compose: Callable[[int], tuple[str, tuple[str, ...]]]  # tokens -> (text, keys); "" for none

    def fitted(
        self, chars: int = MAX_CHARS, tokens: int | None = None
    ) -> tuple[Block | None, bool]:
        """The block within its budget and what is left of a turn, frame included; None if none
        fits.

        And whether it is for want of room that it is shorter than its budget allows, or none.
        """
        allowed = self.budget if tokens is None else min(self.budget, tokens)
        marks = estimate_tokens(mark([Block(self.name, "", ("0" * 8,))]))
        wanted = allowed - marks
        lacks_room = allowed < self.budget and (
            self.compose(self.budget - marks) != self.compose(max(wanted, 0))
        )
        for attempt in range(_TRIES):
            text, keys = self.compose(wanted) if wanted > 0 else ("", ())
            if not text:
                return None, lacks_room
            block = Block(self.name, text, keys)
            framed = mark([block])
            used = estimate_tokens(framed)
            too_long = math.ceil((len(framed) - chars) / len(framed) * used)
            excess = max(used - allowed, too_long)
            if excess <= 0:
                return block, lacks_room
            lacks_room = lacks_room or excess > max(used - self.budget, 0)
            # Texts shrink by whole lines, so what is just too much may stay so for long.
            wanted = min(wanted, used) - excess - attempt * wanted // 20
        return None, lacks_room


def skill(settings: SkillContextConfig, folder: Path, shown: AbstractSet[str]) -> Draft | None:
    """How to use the vault; None when the conversation carries this very text.

    folder: where a relative skill_path starts. Raises Unavailable when there is no such file.
    """
    path = skill_file(settings, folder)
    if path is None:
        raise Unavailable("skill_context", f"the skill {SKILL} is not among the files of Cortex")
    text = static.without_frontmatter(_read("skill_context", path))
    if settings.skill_path:  # ours holds no secret, and shows the shape of some
        text = _without_secrets(text)
    text = escape(text).strip()
    if not text or key(text) in shown:
        return None
    return _draft_of("skill_context", settings.budget, text)


def skill_file(settings: SkillContextConfig, folder: Path) -> Path | None:
    if not settings.skill_path:
        return static.shipped_skill(SKILL)
    path = folder / settings.skill_path
    return path / "SKILL.md" if path.is_dir() else path


def bootstrap(settings: BootstrapContextConfig) -> Draft | None:
    """The files that the owner chose, in order. Raises Unavailable if a required one is missing."""
    told: list[tuple[str, str]] = []
    for file in bootstrap_files(settings):
        try:
            text = _of_file(file)
        except Unavailable as error:
            if not file.optional:
                raise
            _logger.info("%s", error.why)
            continue
        if text and file.path is not None:
            label, name = _name(file.label), _name(file.path.name)
            told.append((f"## {label}\nSource: {name}\n\n", text))
    if not told:
        return None
    keys = (key("".join(heading + text for heading, text in told)),)
    return Draft("bootstrap_context", settings.budget, lambda tokens: (_joined(told, tokens), keys))


def bootstrap_files(settings: BootstrapContextConfig) -> list[StaticFile]:
    """Those that are enabled, by their order; equal ones as they are listed."""
    files = [file for file in settings.include_static_files if file.enabled]
    return sorted(files, key=lambda file: file.order)


def session_pack(settings: SessionPackConfig, made: str | None) -> Draft | None:
    """made: the pack as Markdown, already guarded; None where there is none."""
    text = escape_labels(escape(made or "")).strip()
    return _draft_of("session_pack", settings.budget, text) if text else None


def recent(settings: RecentContextConfig, home: Path, session_id: str, now: float) -> Draft | None:
    """The topics of the last sessions, by their titles. Raises Unavailable without a database.

    now: Unix seconds.
    """
    from ..records.sessions import recent_sessions, topics

    database = settings.state_db_path or home / "state.db"
    sessions = recent_sessions(
        database,
        now - settings.lookback_days * 86400,
        settings.max_sessions,
        include=settings.include_sources,
        exclude=settings.exclude_sources,
        without=session_id,
        profiles=profiles(home),
    )
    found = topics(sessions)
    if settings.diagnostics:
        _logger.info(
            "recent_context: %d sessions looked at, %d topics, %d of them told at most",
            len(sessions),
            len(found),
            settings.max_groups,
        )
    found = found[: settings.max_groups]
    if not found:
        return None
    head = (
        "## Recent Hermes topics\n"
        "Titles of earlier sessions, newest first; what was said there is not in them.\n\n"
    )
    lines = []
    for topic in found:
        sources = ", ".join(f"{_name(name)} {count}" for name, count in topic.sources)
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(topic.newest))
        many = "1 session" if topic.sessions == 1 else f"{topic.sessions} sessions"
        lines.append(f'- "{_name(topic.title)}": {many}, last {day} ({sources})\n')
    if settings.query_hint:
        hint = " OR ".join(f'"{_name(topic.title)}"' for topic in found[:5])
        lines.append(f"To look them up: {hint}\n")

    def compose(tokens: int) -> tuple[str, tuple[str, ...]]:
        kept = len(lines)
        while kept and estimate_tokens(head + "".join(lines[:kept])) > tokens:
            kept -= 1
        text = head + "".join(lines[:kept]) if kept else ""
        return text, (key(text),)

    return Draft("recent_context", settings.budget, compose)


def profiles(home: Path) -> tuple[str, ...]:
    """What the host calls the profile of a home; that of its root has two names."""
    return (home.name,) if home.parent.name == "profiles" else ("default", "custom")


def dynamic(
    settings: DynamicContextConfig,
    vault: Vault,
    message: str,
    shown: AbstractSet[str],
    deadline: float,
) -> Iterator[Draft | None]:
    """What the vault says to the message and the conversation does not carry yet.

    Each that comes counts instead of the one before: where time is short, the first is by words
    alone. deadline: in seconds of time.monotonic; half of what is left until then, once the index
    is open, is the vectors' time. Raises CortexError when the vault cannot be searched.
    """
    asked = settings.query.strip()
    query, plain = asked or message, not asked  # in a message quotes and dashes are prose
    cite = vault.config.context_builder.cite_sources
    began = time.monotonic()
    with _by_words.first(0.75 * (deadline - began)):
        result = vault.search(query, channels=_BY_WORDS, rerank=False, plain=plain)
        is_slow = time.monotonic() - began > _QUICK_S
        if is_slow:
            yield _found(result, settings.budget, shown, cite)
    if not _by_words.is_over((deadline - time.monotonic()) / 2):
        if not is_slow:
            yield _found(result, settings.budget, shown, cite)
        return
    wait_s = _SHARE_OF_VECTORS * max(deadline - time.monotonic(), 0)
    result = vault.search(query, vector_wait_s=wait_s, rerank=False, plain=plain)
    yield _found(result, settings.budget, shown, cite)


_by_words = Urgent(_WORDS_AT_ONCE)


def _found(result: SearchResult, budget: int, shown: AbstractSet[str], cite: bool) -> Draft | None:
    from ..context import build_context, relevant

    fresh = tuple(hit for hit in relevant(result)[0] if _key_of(hit) not in shown)
    if not fresh:
        return None
    result = replace(result, hits=fresh)

    def compose(tokens: int) -> tuple[str, tuple[str, ...]]:
        context = build_context(result, tokens, cite_sources=cite)
        if not context.citations:
            return "", ()
        skipped = set(context.skipped)
        told = {_words(hit) for hit in fresh if hit.chunk.id not in skipped}
        # A copy in another note is named beside the text it repeats, and counts as told.
        keys = dict.fromkeys(_key_of(hit) for hit in fresh if _words(hit) in told)
        return escape_labels(context.text), tuple(keys)

    return Draft("dynamic_context", budget, compose)


def _key_of(hit: Hit) -> str:
    return key(f"{hit.chunk.note}\n{hit.chunk.text}")


def _words(hit: Hit) -> tuple[str, ...]:
    return tuple(hit.chunk.text.split())


# Texts


def _read(block: str, path: Path) -> str:
    try:
        return static.read_text(path)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise Unavailable(block, f"{path} cannot be read: {why}") from None


def _of_file(file: StaticFile) -> str:
    """A file as it may be told: secrets masked, marks escaped, within its own limits."""
    assert file.path is not None  # the settings are checked for that
    text = _without_secrets(_read("bootstrap_context", file.path))
    text = escape_citations(escape(text)).strip()
    if file.max_bytes is not None:
        kept = static.first_bytes(text, file.max_bytes)
        text = text if kept == text else f"{_closed(_whole_lines(kept))}\n{CUT}"
    if file.budget is not None:
        text = _shortened(text, file.budget)
    return _closed(text)


def _without_secrets(text: str) -> str:
    """`text` with secrets masked, also those that names in its frontmatter make such."""
    if not text.startswith("---"):
        return redact(text)[0]
    from ..vault.frontmatter import secret_spans  # a YAML parser comes with it

    return redact(text, secret_spans(text))[0]


def _joined(parts: Sequence[tuple[str, str]], tokens: int) -> str:
    """(heading, text) of each file, as many as fit; the last of them cut where it must be."""
    told = ""
    for heading, text in parts:
        whole = f"{told}{heading}{text}\n\n"
        if estimate_tokens(whole) <= tokens:
            told = whole
            continue
        left = tokens - estimate_tokens(told + heading) - 2  # joining adds at most 2
        if beginning := _shortened(text, left):
            told += f"{heading}{beginning}\n\n"
    return told


def _draft_of(name: str, budget: int, text: str) -> Draft:
    return Draft(name, budget, lambda tokens: (_shortened(text, tokens), (key(text),)))


def _shortened(text: str, tokens: int) -> str:
    """The beginning of `text` within so many tokens, marked where it was cut; "" if none fits."""
    if estimate_tokens(text) <= tokens:
        return _closed(text)
    for room in _smaller(tokens - _CUT_TOKENS):
        kept = _whole_lines(cut_to_tokens(text, room))
        beginning = f"{_closed(kept)}\n{CUT}"
        if kept and estimate_tokens(beginning) <= tokens:
            return beginning
    return ""


def _smaller(tokens: int) -> Iterator[int]:
    while tokens >= _LEAST_TOKENS:
        yield tokens
        tokens -= max(tokens // 8, 1)


def _whole_lines(text: str) -> str:
    """`text` without a last line that may be a part of one, where that leaves half of it."""
    end = text.rfind("\n")
    return text[:end].rstrip() if end > len(text) // 2 else text


_MAY_RUN_ON = re.compile(r"```|~~~|<|%%|\$\$")


def _closed(text: str) -> str:
    """`text` after which Markdown begins afresh."""
    if not _MAY_RUN_ON.search(text):
        return text
    from ..context import sealed  # a Markdown parser comes with it

    return sealed(text)


def _name(text: str) -> str:
    """Untrusted text for the inside of a line."""
    return escape_labels(escape_citations(escape(redact(one_line(text))[0]))).strip()
