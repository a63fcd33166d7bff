"""Where a proof takes place: a world with what opens a Cortex there, and what is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import world as worlds
from .audit import RECORD
from .model import STATUSES, Pack, Section
from .render import to_markdown
from .world import World

AMPLE: Mapping[str, Any] = {"max_bytes": 60_000, "max_items": 50}


class Failed(Exception):
    """A proof does not hold; the message says why."""


@dataclass(frozen=True)
class Stage:
    world: World
    open_cortex: Callable[[Path, Mapping[str, str]], Any]
    promote: Callable[[Path, Mapping[str, str]], Any]

    def cortex(self, home: Path | None = None) -> Any:
        """A Cortex opened anew, for the default profile or for that of `home`."""
        config = (home or self.world.home) / "cortex" / "config.yaml"
        return self.open_cortex(config, self.world.env(home))

    def index(self, home: Path | None = None) -> None:
        self.cortex(home).index()

    def pack(self, home: Path | None = None, **asked: Any) -> Pack:
        asked = {"query": worlds.QUERY, "now": self.world.now, **AMPLE, **asked}
        pack: Pack = self.cortex(home).pack(**asked)
        return pack

    def verdict(self, pack: object, now: float | None = None) -> Any:
        return self.cortex().verify_pack(pack, now=self.world.now if now is None else now)


def section_of(pack: Pack, name: str) -> Section:
    section = next((one for one in pack.sections if one.name == name), None)
    if section is None:
        raise Failed(f"there is no section {name}")
    if section.status not in STATUSES:
        raise Failed(f"{name} has the status {section.status}")
    return section


def text_of(pack: Pack) -> str:
    return pack.to_bytes().decode("utf-8")


def same(what: str, value: object, expected: object) -> None:
    if value != expected:
        raise Failed(f"{what}: expected {_short(expected)}, found {_short(value)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def within(text: str, words: Iterable[str], where: str) -> None:
    for word in words:
        if word not in text:
            raise Failed(f"{where} lacks {word}")


def without(text: str, words: Iterable[str], where: str) -> None:
    for word in words:
        if word in text:
            raise Failed(f"{where} holds {word}")


def no_secret(stage: Stage, pack: Pack) -> None:
    """No secret as it is, in what is printed, told to the model or said about a pack."""
    torn = stage.verdict(text_of(pack)[:-40])
    told = [text_of(pack), to_markdown(pack), repr(stage.verdict(pack)), repr(torn)]
    no_secret_in(stage, told, "a pack, or what is said of it")


def no_secret_in(stage: Stage, told: Iterable[str], where: str) -> None:
    for of, secret in stage.world.secrets.items():
        if any(secret in text for text in told):
            raise Failed(f"{where} holds the secret of {of} as it is")


def audit(stage: Stage) -> str:
    file = stage.world.config.parent / RECORD
    return file.read_text("utf-8") if file.is_file() else ""
