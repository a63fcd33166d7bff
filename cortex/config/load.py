"""Parse and check the settings; an error names the file, the line and the YAML path."""

from __future__ import annotations

import difflib
import math
import os
import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, Union

import yaml

from ..errors import ConfigError
from ..home import expand, find, hermes_home
from .schema import (
    OTHER_SECTIONS,
    SECTIONS,
    Config,
    Description,
    HermesMemoryConfig,
    StaticFile,
    contradictions,
)
from .setting import Setting

MOST_DESCRIBED = 300  # characters of a line of vault.descriptions


def load(path: str | os.PathLike[str] | None, env: Mapping[str, str]) -> Config:
    """The settings from `path`, or from the file that `find` finds.

    Raises ConfigError: no such file, or everything that is wrong in it, in the order of its lines.
    """
    return parse(find(path, env), env)


def parse(file: Path, env: Mapping[str, str]) -> Config:
    """The settings in `file`, checked. Raises ConfigError with all that is wrong."""
    reader = _Reader(file, env)
    given: dict[str, Any] = {name: kind() for name, kind in SECTIONS.items()}
    root = _compose(file)
    if root is not None:
        if not isinstance(root, yaml.MappingNode):
            raise ConfigError(f"{file}: line 1: expected sections such as vault:, found {_a(root)}")
        for name, key, value in reader.pairs(root, ""):
            if name in SECTIONS:
                given[name] = reader.section(SECTIONS[name], value, name)
            elif name not in OTHER_SECTIONS:
                known = (*SECTIONS, *OTHER_SECTIONS)
                reader.fault(name, f"is not a section{_near(name, known)}", key)
    state = _settle(given["index"], file.parent, file.parent).chunks_path.parent
    settled = {name: _settle(value, file.parent, state) for name, value in given.items()}
    settled["hermes_memory"] = _in_home(settled["hermes_memory"], hermes_home(env))
    config = Config(path=file, state=state, given=frozenset(reader.lines), **settled)
    faulty = {where.partition(".")[0] for _, where, _ in reader.faults}
    for where, what in contradictions(config):
        if where.partition(".")[0] not in faulty:
            reader.fault(where, what)
    reader.raise_faults()
    return config


class _Wrong(Exception):
    """What one value must be, and is not."""


@dataclass
class _Reader:
    """Reads nodes into the types that the schema names, and keeps what was wrong with them."""

    file: Path
    env: Mapping[str, str]
    faults: list[tuple[int, str, str]] = field(default_factory=list)  # line, YAML path, what
    lines: dict[str, int] = field(default_factory=dict)  # of each YAML path that was read

    def fault(self, where: str, what: str, node: yaml.Node | None = None) -> None:
        line = _line(node) if node is not None else self.lines.get(where, 0)
        self.faults.append((line, where, what))

    def raise_faults(self) -> None:
        if self.faults:
            from ..redaction import redact  # not at the top: few settings are wrong

            told = tuple(
                redact(f"line {line}: {where} {what}" if line else f"{where} {what}")[0]
                for line, where, what in sorted(self.faults)
            )
            raise ConfigError(f"{self.file}: {'; '.join(told)}", told)

    def pairs(
        self, node: yaml.MappingNode, where: str
    ) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        """(key, its node, node of its value), each key once."""
        seen: dict[str, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fault(where or "a key", f"has {_a(key)} for a key; expected a word", key)
            elif key.value in seen:
                place = f"{where}.{key.value}".lstrip(".")
                self.fault(place, f"stands twice, first in line {seen[key.value]}", key)
            else:
                seen[key.value] = _line(key)
                self.lines[f"{where}.{key.value}".lstrip(".")] = _line(key)
                yield key.value, key, value

    def section(self, kind: type, node: yaml.Node, where: str) -> Any:
        """An instance of the dataclass `kind`; what is absent, empty or wrong is its default."""
        if _is_null(node):
            return kind()
        if not isinstance(node, yaml.MappingNode) or node.tag != "tag:yaml.org,2002:map":
            self.fault(where, f"must hold settings, found {_a(node)}", node)
            return kind()
        settings = {item.name: item for item in fields(kind)}
        hints = typing.get_type_hints(kind)
        values: dict[str, Any] = {}
        for name, key, value in self.pairs(node, where):
            place = f"{where}.{name}"
            if name not in settings:
                self.fault(
                    place, f"is not a setting{_inside(name, hints) or _near(name, settings)}", key
                )
            elif is_dataclass(hints[name]):
                values[name] = self.section(typing.cast(type, hints[name]), value, place)
            elif not _is_null(value):
                try:
                    about: Setting = settings[name].metadata["setting"]
                    values[name] = self.value(hints[name], value, place)
                    _check(about, values[name])
                    if about.may_be_path and values[name].startswith(("~", "$", "./", "../")):
                        values[name] = str(expand(values[name], self.file.parent, self.env))
                except _Wrong as wrong:
                    values.pop(name, None)
                    self.fault(place, str(wrong), value)
        return kind(**values)

    def value(self, hint: Any, node: yaml.Node, where: str) -> Any:
        """What `node` says, as the type `hint`. Raises _Wrong."""
        origin, kinds = typing.get_origin(hint), typing.get_args(hint)
        if origin is tuple:
            return self.items(kinds[0], node, where)
        if origin in (Union, types.UnionType):
            return self.one_of([kind for kind in kinds if kind is not types.NoneType], node, where)
        text = _text(node)
        if origin is Literal:
            if text.casefold() not in kinds:
                raise _Wrong(f"must be {' or '.join(kinds)}, found {text!r}")
            return text.casefold()
        if hint is bool:
            return _boolean(text)
        if hint is int:
            return _whole(text)
        if hint is float:
            return _number(text)
        if "\0" in text:
            raise _Wrong("must not hold a NUL character")
        if hint is Path and not text.strip():
            raise _Wrong("must be a path; leave the key out to have its default")
        return expand(text, self.file.parent, self.env) if hint is Path else text

    def items(self, kind: Any, node: yaml.Node, where: str) -> tuple[Any, ...]:
        if kind is Description:
            return tuple(self.descriptions(node, where))
        if not isinstance(node, yaml.SequenceNode):
            is_text = isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:str"
            shown = f", e.g. [{node.value}]" if is_text else ""
            raise _Wrong(f"must be a list{shown}, found {_a(node)}")
        if kind is StaticFile:
            return tuple(
                self.static_file(item, f"{where}[{number}]")
                for number, item in enumerate(node.value)
            )
        values = tuple(self.value(kind, item, where) for item in node.value)
        if "" in values:
            raise _Wrong("has an empty entry")
        return values

    def static_file(self, node: yaml.Node, where: str) -> StaticFile:
        """One file, as its settings or as its path alone."""
        if isinstance(node, yaml.ScalarNode) and not _is_null(node):
            file = StaticFile(path=self.value(Path, node, where))
        else:
            file = self.section(StaticFile, node, where)
        if file.label or file.path is None:
            return file
        return replace(file, label=file.path.stem)

    def descriptions(self, node: yaml.Node, where: str) -> Iterator[Description]:
        """What a mapping of globs to lines says. Raises _Wrong if it is none; one wrong line is
        a fault of its own."""
        if not isinstance(node, yaml.MappingNode) or node.tag != "tag:yaml.org,2002:map":
            example = "{Projects/Garden: The allotment}"
            raise _Wrong(f"must be globs with a line each, e.g. {example}, found {_a(node)}")
        for glob, key, value in self.pairs(node, where):
            place = f"{where}.{glob}"
            try:
                line = " ".join(_text(value).split())
                if not glob.strip("/. ") and glob.strip() != ".":
                    raise _Wrong("has no glob; give a folder or a note, . for those at the root")
                if glob.startswith(("/", "~")) or ".." in glob.split("/"):
                    raise _Wrong("must be a glob over folders of the vault, from its root")
                if _is_null(value) or not line:
                    raise _Wrong("needs a line that says what lies there")
                if len(line) > MOST_DESCRIBED:
                    raise _Wrong(f"may have {MOST_DESCRIBED} characters, found {len(line)}")
                yield Description(glob.strip(), line)
            except _Wrong as wrong:
                self.fault(place, str(wrong), key)

    def one_of(self, kinds: list[Any], node: yaml.Node, where: str) -> Any:
        wrong = []
        for kind in kinds:
            try:
                return self.value(kind, node, where)
            except _Wrong as error:
                wrong.append(str(error))
        wanted = " or ".join(text.partition(",")[0].removeprefix("must be ") for text in wrong)
        raise _Wrong(f"must be {wanted}, found {_text(node)!r}" if len(wrong) > 1 else wrong[0])


def _settle(section: Any, folder: Path, state: Path) -> Any:
    """The section with its relative paths made absolute: those are defaults, see Setting.base."""
    absolute = {}
    for item in fields(section):
        value = getattr(section, item.name)
        if isinstance(value, Path) and not value.is_absolute():
            base = state if item.metadata["setting"].base == "state" else folder
            absolute[item.name] = base / value
    return replace(section, **absolute)


def _in_home(memory: HermesMemoryConfig, home: Path) -> HermesMemoryConfig:
    """What the host itself writes, where it lies unless the settings say otherwise."""
    return replace(
        memory,
        memory_path=memory.memory_path or home / "memories" / "MEMORY.md",
        user_path=memory.user_path or home / "memories" / "USER.md",
    )


def _compose(file: Path) -> yaml.Node | None:
    """The file as YAML nodes, which know their lines; None if nothing stands in it."""
    try:
        raw = file.read_bytes()
    except IsADirectoryError:
        raise ConfigError(f"{file} is a folder; name the file in it, e.g. --config FILE") from None
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}") from error
    try:
        is_utf16 = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = raw.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}: line {line}: not UTF-8; save the file as UTF-8") from None
    try:
        return yaml.SafeLoader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        told = " ".join(part for part in (error.problem, error.context) if part)
        if "'\\t'" in told:
            told = "a tab where YAML wants spaces"
        raise ConfigError(f"{file}: {place}{told}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        told = f"line {line}: YAML does not allow the character U+{int(error.character):04X}"
        raise ConfigError(f"{file}: {told}") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply") from None


_SCALARS = {
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp")
}


def _text(node: yaml.Node) -> str:
    """A scalar as it is written: `no`, `007` and `2024` are text if text is wanted."""
    if not isinstance(node, yaml.ScalarNode):
        raise _Wrong(f"must be one value, found {_a(node)}")
    if node.tag not in _SCALARS:
        raise _Wrong(f"must be one value, found the tag {node.tag}")
    return str(node.value)


_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True}
_BOOLEANS |= {"false": False, "no": False, "off": False, "0": False, "": False}


def _boolean(text: str) -> bool:
    if text.strip().casefold() not in _BOOLEANS:
        raise _Wrong(f"must be true or false, found {text!r}")
    return _BOOLEANS[text.strip().casefold()]


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise _Wrong(f"must be a number, found {text!r}")
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = _number(text)
    except _Wrong:
        number = math.nan
    if not number.is_integer():
        raise _Wrong(f"must be a whole number, found {text!r}")
    return int(number)


def _check(setting: Setting, value: Any) -> None:
    """Raises _Wrong if `value` is out of the setting's range."""
    if setting.pattern and not re.fullmatch(setting.pattern, value):
        raise _Wrong(f"must be {setting.choices}, found {value!r}")
    if setting.wrong and (told := setting.wrong(value)):
        raise _Wrong(told)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return
    unit = f" {setting.unit}" if setting.unit else ""
    if setting.above is not None and value <= setting.above:
        raise _Wrong(f"must be more than {setting.above:g}{unit}, found {value:g}")
    if setting.low is not None and value < setting.low:
        raise _Wrong(f"must be at least {setting.low:g}{unit}, found {value:g}")
    if setting.high is not None and value > setting.high:
        raise _Wrong(f"must be at most {setting.high:g}{unit}, found {value:g}")


def _inside(name: str, hints: Mapping[str, Any]) -> str:
    """`; did you mean X?`: that very key in the groups of this section; "" if none has it."""
    groups = [
        f"{group}.{name}"
        for group, kind in hints.items()
        if is_dataclass(kind) and any(item.name == name for item in fields(kind))
    ]
    if not groups:
        return ""
    *others, last = groups
    return f"; did you mean {', '.join(others)} or {last}?" if others else f"; did you mean {last}?"


def _near(name: str, known: typing.Iterable[str]) -> str:
    """`; did you mean X?`: that very key in another section, else the nearest one here."""
    for section, kind in SECTIONS.items():
        if any(item.name == name for item in fields(kind)):
            return f"; did you mean {section}.{name}?"
    if near := difflib.get_close_matches(name, list(known), n=1):
        return f"; did you mean {near[0]}?"
    return f"; known are {', '.join(known)}"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _a(node: yaml.Node) -> str:
    """What a node is, for a message."""
    if node.tag.startswith("tag:yaml.org,2002:python"):
        return f"the tag {node.tag}"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return "a group of settings" if isinstance(node, yaml.MappingNode) else f"{node.value!r}"
