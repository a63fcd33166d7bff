"""The source `vault`: what the notes say to a message, by whatever of the search can answer."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ..config.inject import FactsSourceConfig, VaultSourceConfig
from ..errors import CortexError
from ..patience import Urgent
from .days import day_of
from .source import SPARE, Ask, Item, Recall, Status

if TYPE_CHECKING:
    from ..search.plain_scan import NoteHit, PlainScan
    from ..types import Hit, SearchResult

HEADING = "from your notes, on this message:"
NO_TIME = "there was no time for the vectors"
CHANGED = "changed since it was indexed"
# How rare the words that an item holds must be together: a few common ones are in any long note.
LEAST_RARITY = 1.0  # where there is no cosine
LEAST_RARITY_NEAR, NEAR = 0.5, 0.1  # where there is one of that strength at least
LEAST_RARITY_FAR = 1.5  # where it is below that
NEARLY_ALL = 0.9  # of the words: then the cosine does not speak against it

_BY_WORDS = ("bm25", "graph")
_SHARE_OF_WAIT = 0.75  # of the time, for the turns before that search by words
_SHARE_OF_VECTORS = 0.5  # of the time that is left, before words alone have to answer
_SHARE_OF_SCAN = 0.8  # of the time that is left, for reading note files
_WORDS_AT_ONCE = 2  # searches by words; more sessions wait in line, or none of them were in time
_SCANS_AT_ONCE = 1  # a scan reads all notes: more would only slow each other down
_MOST_SAID = 200

_by_words = Urgent(_WORDS_AT_ONCE)
_scans = threading.BoundedSemaphore(_SCANS_AT_ONCE)
_said: set[str] = set()  # what was told as a warning, without its numbers
_NUMBER = re.compile(r"\d+")
_logger = logging.getLogger(__name__)


class Notes(Protocol):
    """What is asked of Cortex."""

    def search(
        self,
        text: str,
        top_k: int | None = None,
        *,
        channels: Sequence[str] | None = None,
        vector_wait_s: float | None = None,
        plain: bool = False,
        rerank: bool = True,
        min_evidence: float | None = None,
    ) -> SearchResult: ...

    def plain_scan(
        self, text: str, top_k: int, project: str | None = None, seconds: float = ...
    ) -> PlainScan: ...


class VaultSource:
    """Chunks of notes that are near to the message, or hold most of its words.

    The first of these that can answer does, and is named in `answered_by`: `hybrid`; `vector`
    where words cannot be searched for; `bm25` where vectors cannot, or are not in time; `scan` of
    the note files where there is no index that opens; `memory_store` where not even notes can be
    read. It never passes by the fused score, which says nothing of how near the best hit is.
    """

    name = "vault"
    heading = HEADING

    def __init__(
        self, config: VaultSourceConfig, vault: Notes, facts_config: FactsSourceConfig
    ) -> None:
        self._config = config
        self._vault = vault
        self._facts = facts_config

    def recall(self, ask: Ask) -> Iterator[Recall]:
        """First by words alone, which are quick, then by all; a way that fails gives way."""
        by_words: SearchResult | None = None
        try:
            with _by_words.first(_SHARE_OF_WAIT * _left(ask)):
                found = self._search(ask.message, _BY_WORDS, None)
            if "bm25" in found.ran:
                by_words = found
                yield self._told(self._from_search(by_words, NO_TIME))
                if not _by_words.is_over(_left(ask) / 2):
                    return
            found = self._search(ask.message, None, _SHARE_OF_VECTORS * _left(ask))
            if {"bm25", "vector"} & set(found.ran):
                yield self._told(self._from_search(found, _missing(found)))
                return
            why = _missing(found)
        except (CortexError, OSError) as error:
            why = str(error)
        if by_words is not None:
            yield self._told(self._from_search(by_words, why))
        else:
            yield self._told(self._without_index(ask, why))

    def _search(
        self, message: str, channels: Sequence[str] | None, wait_s: float | None
    ) -> SearchResult:
        return self._vault.search(
            message,
            SPARE * self._config.top_k,
            channels=channels,
            vector_wait_s=wait_s,
            plain=True,
            rerank=False,
            min_evidence=0,
        )

    def _from_search(self, result: SearchResult, why: str) -> Recall:
        ran = set(result.ran)
        by = "hybrid" if {"bm25", "vector"} <= ran else "bm25" if "bm25" in ran else "vector"
        found = [self._of_hit(hit, hit.chunk.note in result.changed) for hit in result.hits]
        cosines = [hit.nearness for hit in result.hits if hit.nearness is not None]
        shares = [hit.word_share for hit in result.hits]
        return replace(_recall(found, by, why), nearest=self._nearest(cosines, shares))

    def _without_index(self, ask: Ask, why: str) -> Recall:
        """What the note files say, else the memory of the host."""
        if not _scans.acquire(timeout=max(_left(ask) / 4, 0)):
            return Recall("unavailable", why=f"{why}; another turn reads the notes now")
        try:
            most = SPARE * self._config.top_k
            scanned = self._vault.plain_scan(
                ask.message, most, seconds=_SHARE_OF_SCAN * max(_left(ask), 0)
            )
        except (CortexError, OSError) as error:
            return self._remembered(ask, _joined(why, str(error)))
        finally:
            _scans.release()
        why = _joined(why, scanned.why)
        if not scanned.read and scanned.why:
            return self._remembered(ask, why)
        recall = _recall([self._of_note(hit) for hit in scanned.hits], "scan", why)
        return replace(recall, nearest=self._nearest((), [hit.share for hit in scanned.hits]))

    def _remembered(self, ask: Ask, why: str) -> Recall:
        """Facts of the host's holographic memory, where there is one."""
        from .facts import of_memory_store

        found = of_memory_store(ask, self._facts, SPARE * self._config.top_k)
        return replace(found, why=_joined(why, found.why))

    def _of_hit(self, hit: Hit, is_changed: bool) -> _Found:
        from ..search.explain import standing
        from ..search.note_files import moment_of
        from ..search.standing import type_of

        chunk = hit.chunk
        place = f"{chunk.note}:{chunk.start_line}-{chunk.end_line}"
        note = {"file": chunk.note, "frontmatter": hit.meta, "modified": 0.0}
        item = Item(
            id=_id(chunk.note, chunk.heading_path, hit.part),
            label=type_of(hit.meta) or "note",
            head=_head(chunk.place, place, [standing(hit) if hit.labels else ""]),
            text=chunk.text,
            remark=_remark(moment_of(note), is_changed=is_changed),
            score=hit.evidence,
            why=self._reason(hit.nearness, hit.word_share, hit.word_rarity)
            or ("its name" if hit.trace.notes.get("exact") == "name" else ""),
        )
        return _Found(item, bool(chunk.secrets))

    def _of_note(self, hit: NoteHit) -> _Found:
        item = Item(
            id=_id(hit.path, hit.heading_path, hit.part),
            label=hit.type or "note",
            head=_head(hit.section, hit.place, hit.labels),
            text=hit.text,
            remark=_remark((hit.time, hit.time_from)),
            score=hit.share,
            why=self._reason(None, hit.share, hit.rarity),
        )
        return _Found(item, bool(hit.secrets))

    def _reason(self, nearness: float | None, share: float, rarity: float) -> str:
        """What lets something pass; "" when nothing does."""
        if nearness is not None and nearness >= self._config.threshold:
            return f"cosine {nearness:.2f}"
        if words_suffice(share, rarity, nearness, self._config.min_words):
            return f"words {share:.2f}"
        return ""

    def _nearest(self, cosines: Sequence[float], shares: Sequence[float]) -> str:
        """How near the best came, by either measure."""
        told = []
        if cosines:
            told.append(f"cosine {max(cosines):.2f} of {self._config.threshold:g}")
        if shares:
            is_common = ", but too common" if max(shares) >= self._config.min_words else ""
            told.append(f"words {max(shares):.2f} of {self._config.min_words:g}{is_common}")
        return f"none passes; the best: {'; '.join(told)}" if told else ""

    def _told(self, recall: Recall) -> Recall:
        """The same, logged: once as a warning where not everything could answer."""
        by = recall.answered_by or "nothing"
        said = f"vault: answered by {by}: {recall.why}"
        kind = _NUMBER.sub("", said)
        if recall.why not in ("", NO_TIME) and kind not in _said and len(_said) < _MOST_SAID:
            _said.add(kind)
            _logger.warning("%s", said)
        else:
            _logger.debug("vault: answered by %s, %d items", by, len(recall.items))
        return recall


def words_suffice(share: float, rarity: float, nearness: float | None, least: float) -> bool:
    """Whether an item holds so much of a message that its cosine need not be high.

    least: of the share of its words. The others are as of a Hit.
    """
    if share < least:
        return False
    if nearness is not None and nearness >= NEAR:
        return rarity >= LEAST_RARITY_NEAR
    is_far = nearness is not None and share < NEARLY_ALL
    return rarity >= (LEAST_RARITY_FAR if is_far else LEAST_RARITY)


@dataclass(frozen=True, slots=True)
class _Found:
    item: Item
    holds_part_of_secret: bool  # the rest of it is in another chunk: no guard could see it


def _recall(found: Sequence[_Found], by: str, why: str) -> Recall:
    passed = [one for one in found if one.item.why]
    items = tuple(one.item for one in passed if not one.holds_part_of_secret)
    refused = len(passed) - len(items)
    if refused:
        many = "1 passage holds" if refused == 1 else f"{refused} passages hold"
        why = _joined(why, f"{many} a part of a secret")
    status: Status = "ok" if items else "refused" if refused else "empty"
    return Recall(status, items, len(found), len(found) - len(passed), why, by)


def _id(path: str, heading_path: Sequence[str], part: int) -> str:
    """The same for the same piece of a section, whatever it says."""
    return f"note:{path}#{' > '.join(heading_path)}" + (f"~{part}" if part > 1 else "")


def _head(place: str, where: str, remarks: Sequence[str]) -> str:
    told = "; ".join(filter(None, remarks))
    return f"{place} ({where}) ({told})" if told else f"{place} ({where})"


def _remark(moment: tuple[float, str], *, is_changed: bool = False) -> str:
    """The day that a note names for itself, and whether it is as it was indexed."""
    return "; ".join(filter(None, (day_of(*moment), CHANGED if is_changed else "")))


def _missing(result: SearchResult) -> str:
    """Why not all of the search answered: of words and vectors, and of links without them."""
    return "; ".join(f"{one.what}: {one.why}" for one in result.unavailable if one.what != "graph")


def _joined(*whys: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, whys)))


def _left(ask: Ask) -> float:
    return max(ask.deadline - time.monotonic(), 0.0)
