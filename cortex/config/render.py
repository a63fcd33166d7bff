"""Settings as text: the commented file that init writes, and what is in force."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from typing import Any

import yaml

from ..types import Json
from .schema import SECTIONS, Config
from .setting import Setting

_HEAD = """\
# Settings of Cortex. What is commented out shows the default: take the "# " away to change it.
# In paths, ~ and $NAME are expanded and $$ is a dollar sign; a relative path starts at the folder
# of this file. See what is in force with: cortex config show (in Hermes: hermes cortex config show)
"""


def commented(
    vault: Path,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    chunks_path: str | None = None,
    *,
    inject: bool = False,
) -> str:
    """A config for `vault`: what people set first is set, all the rest is there to uncomment.

    inject: whether it switches the sources of `inject` on, which are off by default.
    """
    path = str(vault).replace("$", "$$")
    given: dict[Any, Json] = {("vault", "path"): path}
    given["vault", "include_folders"] = list(include)
    given["vault", "exclude_folders"] = list(exclude)
    if chunks_path is not None:
        given["index", "chunks_path"] = chunks_path
    if inject:
        given["inject", "enabled"] = True
    lines = [_HEAD.rstrip("\n")]
    for name, kind in SECTIONS.items():
        lines += ["", f"{name}:", *_commented_section(kind(), (name,), given)]
    return "\n".join(lines) + "\n"


def _commented_section(section: Any, where: tuple[str, ...], given: dict[Any, Any]) -> list[str]:
    lines, indent = [], "  " * len(where)
    for item in fields(section):
        value = getattr(section, item.name)
        if is_dataclass(value):
            lines.append(f"{indent}{item.name}:")
            lines += _commented_section(value, (*where, item.name), given)
            continue
        about: Setting = item.metadata["setting"]
        if about.meaning:
            lines.append(f"{indent}# {about.meaning}{_range(about)}")
        key = (*where, item.name)
        if key in given:
            lines.append(f"{indent}{item.name}: {_scalar(given[key])}")
        else:
            lines.append(f"{indent}# {item.name}: {_scalar(_plain_of(section, item))}")
    return lines


def _range(about: Setting) -> str:
    """` (0 to 3 hops)`: what a reader needs before changing a number."""
    unit = f" {about.unit}" if about.unit else ""
    if about.high is not None:
        low = f"more than {about.above:g}" if about.above is not None else f"{about.low or 0:g}"
        return f" ({low} to {about.high:.10g}{unit})"
    return f" ({about.unit})" if about.unit else ""


def in_force(config: Config) -> dict[str, Json]:
    """Every section and its values, JSON-safe."""
    return {name: _plain(getattr(config, name)) for name in SECTIONS}


def as_yaml(sections: dict[str, Json]) -> str:
    text: str = yaml.safe_dump(sections, allow_unicode=True, sort_keys=False, width=math.inf)
    return text


def _plain(value: Any) -> Json:
    if is_dataclass(value):
        return {item.name: _plain_of(value, item) for item in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _plain_of(section: Any, item: Field[Any]) -> Json:
    value = getattr(section, item.name)
    if item.name == "descriptions":
        return {about.glob: about.line for about in value}
    return _plain(value)


def _scalar(value: Json) -> str:
    """On one line and quoted, so that no character in it is YAML's."""
    if value is None:
        return "null"
    style = '"' if isinstance(value, str) else None
    text: str = yaml.safe_dump(
        value, default_style=style, default_flow_style=True, allow_unicode=True, width=math.inf
    )
    return text.removesuffix("...\n").strip()
