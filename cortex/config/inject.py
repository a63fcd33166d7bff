"""The section `inject`: what is put behind a message by itself, from which source, and when not."""

# ruff: noqa: RUF009  (setting() is dataclasses.field, which ruff knows by that name alone)
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .setting import setting

_SHARE = (
    "of what the budget leaves for the sources, beside the shares of the others; what one does not "
    "need goes to them"
)
_TOP_K = "items told in a turn"
_WORDS = (
    "the least share of the question's words that an item must hold; a rare word weighs more than "
    "a common one"
)


def _enabled() -> bool:
    value: bool = setting(True, "false leaves this source out")
    return value


@dataclass(frozen=True, slots=True)
class VaultSourceConfig:
    """Passages of the vault."""

    enabled: bool = _enabled()
    top_k: int = setting(2, _TOP_K, low=1, high=20)
    threshold: float = setting(
        0.55,
        "the least calibrated cosine of a passage: 0.5 is where questions put to their own vault "
        "and to one on something else are equally likely, for each embedding model",
        low=0,
        high=1,
    )
    min_words: float = setting(0.55, f"or, with a lower cosine or none: {_WORDS}", low=0, high=1)
    share: float = setting(0.4, _SHARE, above=0, high=1)


@dataclass(frozen=True, slots=True)
class FabricSourceConfig:
    """What agents noted, in a folder of dated Markdown entries."""

    enabled: bool = _enabled()
    path: Path | None = setting(
        None, "the folder; empty means that of the environment variable FABRIC_DIR, if there is one"
    )
    top_k: int = setting(3, _TOP_K, low=1, high=20)
    threshold: float = setting(0.5, _WORDS, low=0, high=1)
    share: float = setting(0.15, _SHARE, above=0, high=1)


@dataclass(frozen=True, slots=True)
class SessionsSourceConfig:
    """What was said in earlier sessions of this profile."""

    enabled: bool = _enabled()
    top_k: int = setting(2, _TOP_K, low=1, high=20)
    threshold: float = setting(
        0.35, f"{_WORDS}; a session that holds but a few must hold up to 0.1 more", low=0, high=1
    )
    share: float = setting(0.25, _SHARE, above=0, high=1)
    min_token_chars: int = setting(
        4,
        "a shorter word of the message brings no session in; it only ranks those that others found",
        unit="characters",
        low=1,
        high=20,
    )
    state_db_path: Path | None = setting(None, "empty means state.db of this Hermes home")
    exclude_sources: tuple[str, ...] = setting(
        ("cron", "api_server", "webhook", "subagent"), "no sessions of these platforms"
    )


@dataclass(frozen=True, slots=True)
class FactsSourceConfig:
    """Facts valid now, in a session's first turn."""

    enabled: bool = _enabled()
    top_k: int = setting(3, _TOP_K, low=1, high=20)
    threshold: float = setting(0.5, _WORDS, low=0, high=1)
    share: float = setting(0.2, _SHARE, above=0, high=1)
    types: tuple[str, ...] = setting(("fact",), "notes of these types are facts")
    memory_store_path: Path | None = setting(
        None, "of the host's holographic memory; empty means memory_store.db of this Hermes home"
    )
    min_trust: float = setting(
        0.3, "facts of that memory with less trust are left out", low=0, high=1
    )


def _wordless(closers: tuple[str, ...]) -> str:
    """What is wrong with a phrase that no message can be; "" if nothing is."""
    for closer in closers:
        if not any(map(str.isalnum, closer)):
            return f"must be phrases of words, found {closer!r}; punctuation and emoji don't count"
        if "?" in closer:
            return (
                f"must be phrases that ask nothing, found {closer!r}; leave the question mark out"
            )
    return ""


@dataclass(frozen=True, slots=True)
class InjectConfig:
    """What is put behind each message by itself: what is relevant, and new to the session."""

    enabled: bool = setting(
        False,
        "true asks these sources for each message; then hooks.dynamic_context is left out where "
        "vault tells the same, and hooks.context_injection is ignored",
    )
    budget: int = setting(
        3000,
        "ceiling on all that is put behind a message, blocks of hooks and marks included; these "
        "come first within it, each by a budget of its own",
        unit="tokens",
        low=0,
        high=20000,
    )
    min_chars: int = setting(
        6,
        "a shorter message of plain ASCII without any of :/.@#$_? asks fabric alone",
        unit="characters",
        low=0,
        high=100,
    )
    max_overlap: float = setting(
        0.85,
        "what repeats another item of its source, shown before, or the message itself by more than "
        "this is left out",
        low=0,
        high=1,
    )
    closers: tuple[str, ...] = setting(
        (),
        "phrases that ask for nothing, beside those that Cortex knows, e.g. [over and out]",
        wrong=_wordless,
    )
    redact: bool = setting(
        False, "true tells an item that holds a secret with the secret masked; false drops it"
    )
    vault: VaultSourceConfig = VaultSourceConfig()
    fabric: FabricSourceConfig = FabricSourceConfig()
    sessions: SessionsSourceConfig = SessionsSourceConfig()
    facts: FactsSourceConfig = FactsSourceConfig()
