"""Holding a pack against what there is now: whether it is whole, and still what one would get."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import CortexError, UsageError
from ..types import Json
from .model import KIND, Asked, NoPack, Pack, digest_of, parsed, seconds_of

# fresh: one built now would be the same, and it is not too old. stale: another would come of it.
# aged: the same, and older than it may be. broken: its seal does not fit what it says.
State = Literal["fresh", "stale", "aged", "broken"]
MOST_BYTES = 4_000_000  # of a file that is read as a pack
# Of a file with one of these a pack was meant.
_ASKED = (f'"{KIND}"'.encode(), b'"digest"', b'"sections"')


@dataclass(frozen=True, slots=True)
class Verdict:
    status: State
    digest: str | None  # as the pack has it; None when that cannot be told
    current_digest: str | None = None  # of a pack built now; None when none can be
    age_hours: float | None = None
    max_age_hours: float | None = None
    is_aged: bool = False
    why: str = ""

    def as_json(self) -> dict[str, Json]:
        return {name: getattr(self, name) for name in self.__slots__}


_DIGEST = re.compile(r"[0-9a-f]{64}")


class Broken(CortexError):
    """The seal of a pack does not fit what it says."""

    def __init__(self, why: str, digest: str | None = None) -> None:
        super().__init__(f"the seal of this pack is broken: {why}")
        self.why = why
        self.digest = digest


def opened(pack: bytes | str | Mapping[str, Any] | Pack) -> Pack:
    """A pack whose seal fits.

    Raises Broken, also for what is no JSON any more or has a key twice, and UsageError for what
    was never a pack.
    """
    if isinstance(pack, Pack):
        return pack
    document: Any = pack
    if isinstance(pack, (bytes, str)):
        data = pack.encode("utf-8", "surrogatepass") if isinstance(pack, str) else pack
        try:
            document = json.loads(data, object_pairs_hook=_each_once, parse_constant=_refused)
        except (ValueError, RecursionError):
            if any(mark in data for mark in _ASKED):
                raise Broken("it is no JSON any more") from None
            raise UsageError("this is no pack: it is no JSON; see: cortex pack build") from None
    if not isinstance(document, Mapping) or not {"digest", "sections"} & set(document):
        raise UsageError("this is no pack: it has no digest; see: cortex pack build")
    told = document.get("digest")
    digest = told if isinstance(told, str) and _DIGEST.fullmatch(told) else None
    try:
        if digest is None or digest_of(document) != digest:
            raise Broken("its digest is another than it says", digest)
        read = parsed(document)
        if read.as_json() != dict(document):
            raise NoPack("it holds more than a pack does")
    except NoPack as error:
        raise Broken(str(error), digest) from None
    except (ValueError, TypeError, RecursionError, OverflowError):
        raise Broken("it cannot be written as JSON", digest) from None
    return read


def verify(
    pack: bytes | str | Mapping[str, Any] | Pack, rebuild: Callable[[Asked], Pack], now: float
) -> Verdict:
    """What becomes of a pack when it is built again with what it was asked.

    rebuild: raises CortexError where no such pack can be built any more; it is stale then. now:
    Unix seconds. Stale counts before aged; `is_aged` tells both. Raises UsageError for what was
    never a pack.
    """
    try:
        read = opened(pack)
        generated_at = seconds_of(read.generated_at)
    except Broken as error:
        return Verdict("broken", error.digest, why=error.why)
    age = round((now - generated_at) / 3600, 2)
    is_aged = age > read.asked.max_age_hours
    current, why = None, ""
    try:
        current = rebuild(read.asked).digest
    except CortexError as error:
        why = str(error)
    state: State = "aged" if is_aged else "fresh"
    return Verdict(
        "stale" if current != read.digest else state,
        read.digest,
        current,
        age,
        read.asked.max_age_hours,
        is_aged,
        why,
    )


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
