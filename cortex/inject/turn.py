"""One turn of the user, as far as injection goes: what was asked, what was told before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import generated
from .shown import sent_behind

MAX_MESSAGE = 4_000  # characters that are looked at


@dataclass(frozen=True, slots=True)
class Turn:
    session_id: str
    message: str  # never blank; of a long one the head and the tail
    is_first: bool  # nothing was asked before that could have carried context
    shown: Mapping[str, frozenset[str]]  # block -> keys of what the conversation still carries


def read_turn(kwargs: Mapping[str, Any]) -> Turn | None:
    """The turn that a host tells of, as keywords of pre_llm_call.

    None when nothing can be told: the message is blank or missing, or a list of parts, behind
    which the host puts no text. The history may hold the message itself as its last; it is the
    host's, and nothing in it is taken for granted.
    """
    history = kwargs.get("conversation_history")
    told = history if isinstance(history, Sequence) and not isinstance(history, str) else ()
    messages = [message for message in told if isinstance(message, Mapping)]
    earlier, current = _split(messages)
    content = current.get("content") if current is not None else None
    message = kwargs.get("user_message")
    if message is None:
        message = content
    if not isinstance(message, str) or isinstance(content, list):
        return None
    message = bounded(generated.strip(message).strip())
    if not message:
        return None
    is_first = kwargs.get("is_first_turn") is True or not any(map(_is_text, earlier))
    return Turn(str(kwargs.get("session_id") or ""), message, is_first, shown_in(messages))


def bounded(text: str, limit: int = MAX_MESSAGE) -> str:
    """`text`, of a long one its head and its tail: a question stands before or after what was
    pasted."""
    if len(text) <= limit:
        return text
    tail = limit // 2
    return f"{text[: limit - tail - 1]}\n{text[-tail:]}"


def shown_in(messages: Sequence[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """block -> keys of all that was put behind the user's messages and is replayed with them.

    The host keeps what was really sent as `api_content`, beside the user's own `content`.
    """
    found: dict[str, frozenset[str]] = {}
    for message in messages:
        for name, keys in generated.shown(sent_behind(message)).items():
            found[name] = found.get(name, frozenset()) | keys
    return found


def _split(
    messages: Sequence[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], Mapping[str, Any] | None]:
    """(the user's earlier messages, the current one if it is among them).

    The current one is the last of the user's, when nobody has answered it yet.
    """
    for at in range(len(messages) - 1, -1, -1):
        role = messages[at].get("role")
        if role in ("assistant", "tool"):
            break
        if role == "user":
            return [m for m in messages[:at] if m.get("role") == "user"], messages[at]
    return [m for m in messages if m.get("role") == "user"], None


# How the host writes a picture down, once a message of parts has become text in its database.
_PICTURE = re.compile(r"^\[screenshot\]$", re.MULTILINE)


def _is_text(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, str) and content.strip() != "" and not _PICTURE.search(content)
