"""Turn Cortex on and off in the host's config.yaml, which stays as its owner wrote it.

An edit inserts or cuts single entries in the text, so comments, order and quoting stay byte for
byte. It counts only if the new text, parsed, says exactly what was wanted; else it is refused.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import CortexError
from ..files import sync_folder
from ..redaction import redact_part
from .plugin_folder import is_cloned, refuse_unwritable, skills_folder

NAME = "cortex"  # the plugin, as its manifest and its entry point name it

# The host's own choice: quick, and it reads what the one in Python does not, such as tabs in JSON.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Edit:
    """What config.yaml says, and what it would say."""

    path: Path
    before: str | None  # None: there is no file
    after: str

    @property
    def is_needed(self) -> bool:
        return self.after != (self.before or "")

    def diff(self) -> str:
        """The change as a unified diff, with what looks like a key masked; "" if there is none."""
        # Masked before they are compared: a piece of a key can't be told from other text.
        sides = [redact_part(text, 0, len(text))[0] for text in (self.before or "", self.after)]
        lines = difflib.unified_diff(
            sides[0].splitlines(), sides[1].splitlines(),
            str(self.path), str(self.path), n=2, lineterm="",
        )  # fmt: skip
        return "\n".join(lines)


def enabling(home: Path, *, will_be_linked: bool = False) -> Edit:
    """The plugin switched on in `home`, with its skills.

    will_be_linked: see skills_folder. Raises CortexError, see module.
    """
    skills = skills_folder(home, will_be_linked=will_be_linked)

    def change(path: Path, text: str) -> str:
        text = _without(path, text, "plugins", "disabled", lambda entry: entry == NAME)
        text = _with(path, text, "plugins", "enabled", NAME)
        if skills is not None and not _lists_folder(_parsed(path, text), home, skills):
            text = _with(path, text, "skills", "external_dirs", skills)
        return text

    return _edit(home, change)


def disabling(home: Path) -> Edit:
    """What `enabling` put there, taken out, and keys that hold nothing then. Raises CortexError."""
    skills = skills_folder(home)
    # The host, as it brings an old config up to date, takes a folder for on if no list is there.
    is_list_kept = is_cloned(home)

    def change(path: Path, text: str) -> str:
        text = _without(
            path, text, "plugins", "enabled", lambda entry: entry == NAME, tidy=not is_list_kept
        )
        if skills is not None:
            text = _without(
                path, text, "skills", "external_dirs",
                lambda entry: _same_folder(home, entry, skills), tidy=True,
            )  # fmt: skip
        return text

    return _edit(home, change)


def _edit(home: Path, change: Callable[[Path, str], str]) -> Edit:
    path, before = _read(home)
    mark = "\ufeff" if before and before.startswith("\ufeff") else ""
    edit = Edit(path, before, mark + change(path, (before or "")[len(mark) :]))
    if edit.is_needed:
        for folder in {path.parent, Path(os.path.realpath(path)).parent}:
            refuse_unwritable(folder, f"{path} can't be edited")
    return edit


def is_enabled(home: Path) -> bool | None:
    """Whether config.yaml of `home` has the plugin on; None if it is not there or not readable."""
    try:
        path, text = _read(home)
        settings = _parsed(path, text) if text is not None else None
    except CortexError:
        return None
    if settings is None:
        return None
    on, off = (_entries(settings, "plugins", key) for key in ("enabled", "disabled"))
    return NAME in on and NAME not in off


def lacking(home: Path) -> list[str]:
    """What config.yaml of `home` does not name: `the plugin`, `the skills`. [] if not readable."""
    try:
        path, text = _read(home)
        settings = _parsed(path, text or "")
    except CortexError:
        return []
    skills = skills_folder(home)
    on, off = (_entries(settings, "plugins", key) for key in ("enabled", "disabled"))
    parts = [] if NAME in on and NAME not in off else ["the plugin"]
    if skills is not None and not _lists_folder(settings, home, skills):
        parts.append("the skills")
    return parts


def write(edit: Edit) -> Path | None:
    """Replace the file at once, its rights kept. The copy of what it was; None without a file.

    Raises CortexError if the file was changed since it was read.
    """
    place = Path(os.path.realpath(edit.path))  # a link stays one
    if _text_of(place) != edit.before:
        raise CortexError(f"{edit.path} was changed just now; nothing was written; try again")
    backup = _backup_name(edit.path) if edit.before is not None else None
    fresh = None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if backup is not None:
            shutil.copy2(place, backup)
            _give_to_owner_of(place, backup)
        handle, fresh = tempfile.mkstemp(prefix=".cortex-new-", dir=place.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(edit.after.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if backup is not None:
            shutil.copymode(place, fresh)
            _give_to_owner_of(place, fresh)
        os.replace(fresh, place)
    except BaseException as error:
        for left in (fresh, backup):
            if left is not None:
                Path(left).unlink(missing_ok=True)
        if isinstance(error, OSError):
            why = error.strerror or error
            raise CortexError(f"{edit.path} can't be written: {why}; it is as it was") from error
        raise
    sync_folder(place.parent)
    return backup


def _give_to_owner_of(file: Path, other: str | Path) -> None:
    """As root it would be root's, and its owner could not write to it any more."""
    owner = file.stat()
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may
            os.chown(other, owner.st_uid, owner.st_gid)


def _backup_name(path: Path) -> Path:
    stem = f"{path.name}.cortex-backup-{time.strftime('%Y%m%dT%H%M%S')}"
    backup, number = path.with_name(stem), 1
    while os.path.lexists(backup):
        number += 1
        backup = path.with_name(f"{stem}-{number}")
    return backup


# Reading


def _read(home: Path) -> tuple[Path, str | None]:
    path = home / "config.yaml"
    return path, _text_of(path)


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise CortexError(f"{path} is not UTF-8; nothing was changed in it") from None
    except OSError as error:
        raise CortexError(f"{path} can't be read: {error.strerror}") from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        settings = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark else ""
        told = (getattr(error, "context", None), getattr(error, "problem", None))
        problem = ", ".join(part for part in told if part) or "not YAML"
        raise CortexError(
            f"{path}: {place}{problem}; nothing was changed; mend it and run this again"
        ) from None
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise CortexError(f"{path} holds no settings by name; nothing was changed")
    return settings


def _entries(settings: dict[str, Any], section: str, key: str) -> list[Any]:
    group = settings.get(section)
    entries = group.get(key) if isinstance(group, dict) else None
    if isinstance(entries, str) and section == "skills":
        return [entries]  # the host takes one folder without a list, but no plugin
    return entries if isinstance(entries, list) else []


def _lists_folder(settings: dict[str, Any], home: Path, folder: str) -> bool:
    entries = _entries(settings, "skills", "external_dirs")
    return any(_same_folder(home, entry, folder) for entry in entries)


def _same_folder(home: Path, entry: object, folder: str) -> bool:
    """Read as the host reads entries: expanded, and relative to its home."""
    paths = [
        os.path.realpath(home / os.path.expanduser(os.path.expandvars(str(text))))
        for text in (entry, folder)
    ]
    return paths[0] == paths[1]


# Editing. Each edit is of one list, `section: {key: [...]}`.


def _with(path: Path, text: str, section: str, key: str, entry: str) -> str:
    """`text` with `entry` in the list, which is made if it is not there."""
    before = _parsed(path, text)
    if entry in _entries(before, section, key):
        return text
    group = before.get(section)
    group = {} if group is None else group
    if not isinstance(group, dict):
        raise CortexError(_by_hand(path, section, key, entry))
    entries, there = _entries(before, section, key), group.get(key)
    # Text where the host wants a list counts for nothing there, and making it count is not for us.
    if not isinstance(there, list | None) and there != entry and [there] != entries:
        raise CortexError(_by_hand(path, section, key, entry))
    # Copied no deeper: a value that an alias repeats elsewhere must not change there.
    wanted = {**before, section: {**group, key: [*entries, entry]}}
    return _checked(path, _Editor(text).add(section, key, entry), wanted, section, key, entry)


def _without(
    path: Path,
    text: str,
    section: str,
    key: str,
    is_meant: Callable[[object], bool],
    *,
    tidy: bool = False,
) -> str:
    """`text` with no such entry in the list.

    tidy: a list that holds nothing then goes too, and a section that holds nothing but that list,
    unless its owner wrote the list in brackets or a comment there.
    """
    while True:
        before = _parsed(path, text)
        group = before.get(section)
        entries = group.get(key) if isinstance(group, dict) else None
        meant = [entry for entry in entries if is_meant(entry)] if isinstance(entries, list) else []
        if not meant or not isinstance(group, dict) or not isinstance(entries, list):
            return text
        number = entries.index(meant[0])
        rest = [*entries[:number], *entries[number + 1 :]]
        if tidy and not rest:
            shorter = _Editor(text).drop(section, key)
            others = {name: value for name, value in group.items() if name != key}
            wanted = {name: value for name, value in before.items() if name != section or others}
            if others:
                wanted[section] = others
            if shorter is not None and _says(shorter, wanted):
                return shorter
        wanted = {**before, section: {**group, key: rest}}
        edited = _Editor(text).remove(section, key, number)
        text = _checked(path, edited, wanted, section, key, str(meant[0]))


def _checked(
    path: Path, text: str | None, wanted: dict[str, Any], section: str, key: str, entry: str
) -> str:
    if text is not None and _says(text, wanted):
        return text
    raise CortexError(_by_hand(path, section, key, entry))


def _says(text: str, wanted: dict[str, Any]) -> bool:
    try:
        settings = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, RecursionError):
        return False
    return bool(({} if settings is None else settings) == wanted)


def _by_hand(path: Path, section: str, key: str, entry: str) -> str:
    return (
        f"{path} is written in a way that can't be edited safely, so nothing was changed; "
        f"edit {section}.{key} in it by hand (the entry is {entry})"
    )


class _Editor:
    """Finds places in YAML text by the marks of its nodes. None: such a place was not found."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line_end = "\r\n" if "\r\n" in text else "\n"
        self.root: Any = yaml.compose(text, Loader=_LOADER)

    def add(self, section: str, key: str, entry: str) -> str | None:
        if self.root is None or _is_null(self.root):
            return self._at_end([f"{section}:", f"  {key}:", f"    - {_plain(entry)}"])
        group = _pair(self.root, section)
        if group is None:
            if self.root.flow_style:
                return self._into_braces(self.root, section, {key: [entry]})
            pad = " " * self.root.value[0][0].start_mark.column
            return self._at_end(
                [f"{pad}{section}:", f"{pad}  {key}:", f"{pad}    - {_plain(entry)}"]
            )
        name, value = group
        if _is_null(value):
            return self._instead_of_null(name, value, {key: [entry]})
        if not isinstance(value, yaml.MappingNode):
            return None
        listed = _pair(value, key)
        if listed is None:
            if value.flow_style:
                return self._into_braces(value, key, [entry])
            pad = " " * value.value[0][0].start_mark.column
            return self._below(name, [f"{pad}{key}:", f"{pad}  - {_plain(entry)}"])
        name, items = listed
        if _is_null(items):
            return self._instead_of_null(name, items, [entry])
        if isinstance(items, yaml.ScalarNode):
            kept = [items.value] if items.value != entry else []
            both = json.dumps([*kept, entry], ensure_ascii=False)
            return self._cut(items.start_mark.index, items.end_mark.index, both)
        if not isinstance(items, yaml.SequenceNode):
            return None
        if not items.flow_style:
            dash = " " * items.start_mark.column + f"- {_plain(entry)}"
            return self._line_at(self._end_of(items.value[-1]), [dash])
        is_json = any(self.text[node.start_mark.index] == '"' for node in (name, *items.value[:1]))
        is_plain = _SIMPLE.fullmatch(entry) and not is_json
        quoted = entry if is_plain else json.dumps(entry, ensure_ascii=False)
        if not items.value:
            return self._cut(items.end_mark.index - 1, items.end_mark.index - 1, quoted)
        at = items.value[-1].end_mark.index
        return self._cut(at, at, self._comma(items, items.value[-1]) + quoted)

    def remove(self, section: str, key: str, number: int) -> str | None:
        group = _pair(self.root, section)
        listed = _pair(group[1], key) if group else None
        if listed is None or not isinstance(listed[1], yaml.SequenceNode):
            return None
        name, items = listed
        item = items.value[number]
        if items.flow_style:
            start, end = item.start_mark.index, item.end_mark.index
            if number > 0:
                start = items.value[number - 1].end_mark.index
            elif len(items.value) > 1:
                end = items.value[1].start_mark.index
            return self._cut(start, end, "")
        start = self.text.rfind("\n", 0, item.start_mark.index) + 1
        text = self._cut(start, self._end_of(item), "")
        if len(items.value) == 1:  # or the list would become null
            colon = text.find(":", name.end_mark.index)
            text = f"{text[: colon + 1]} []{text[colon + 1 :]}"
        return text

    def drop(self, section: str, key: str) -> str | None:
        """Without the key, or without the section if it is the only one there."""
        group = _pair(self.root, section)
        listed = _pair(group[1], key) if group else None
        if group is None or listed is None:
            return None
        if listed[1].flow_style and not group[1].flow_style:
            return None
        if len(group[1].value) == 1:
            return self._without_pair(self.root, group)
        return self._without_pair(group[1], listed)

    def _without_pair(
        self, mapping: yaml.MappingNode, pair: tuple[yaml.Node, yaml.Node]
    ) -> str | None:
        name, value = pair
        start, end = name.start_mark.index, value.end_mark.index
        if mapping.flow_style:
            number = mapping.value.index(pair)
            if number > 0:
                start = mapping.value[number - 1][1].end_mark.index
            elif len(mapping.value) > 1:
                end = mapping.value[1][0].start_mark.index
        else:
            start = self.text.rfind("\n", 0, start) + 1
            end = self._end_of(value)
            # A comment below that stands as deep as what goes.
            deeper = rf"(?:[ \t]*\r?\n)*[ ]{{{name.start_mark.column + 1},}}#"
            if re.compile(deeper).match(self.text, end):
                return None
        return None if "#" in self.text[start:end] else self._cut(start, end, "")

    def _cut(self, start: int, end: int, text: str) -> str:
        return self.text[:start] + text + self.text[end:]

    def _at_end(self, lines: list[str]) -> str:
        return self._line_at(len(self.text), lines)

    def _below(self, name: yaml.Node, lines: list[str]) -> str:
        return self._line_at(self._line_after(name.end_mark.index), lines)

    def _line_at(self, at: int, lines: list[str]) -> str:
        """Lines put where a line begins, or behind a last one that has no end."""
        front = self.text[:at]
        if front and not front.endswith("\n"):
            front += self.line_end
        return front + "".join(line + self.line_end for line in lines) + self.text[at:]

    def _line_after(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def _end_of(self, node: yaml.Node) -> int:
        """Where the line behind the last thing in `node` begins."""
        while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            node = last[1] if isinstance(node, yaml.MappingNode) else last
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            return node.end_mark.index
        return self._line_after(node.end_mark.index)

    def _into_braces(self, group: yaml.MappingNode, name: str, value: object) -> str:
        pair = f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        if not group.value:
            return self._cut(group.end_mark.index - 1, group.end_mark.index - 1, pair)
        at = group.value[-1][1].end_mark.index
        return self._cut(at, at, self._comma(group, group.value[-1][0]) + pair)

    def _comma(self, group: yaml.Node, last: yaml.Node) -> str:
        """`, `, or a line of its own where each entry has one."""
        if last.start_mark.line == group.start_mark.line:
            return ", "
        begin = self.text.rfind("\n", 0, last.start_mark.index) + 1
        pad = self.text[begin : last.start_mark.index]
        return f",{self.line_end}{pad}" if not pad.strip() else ", "

    def _instead_of_null(self, name: yaml.Node, null: yaml.Node, value: object) -> str:
        start, end = null.start_mark.index, null.end_mark.index
        if start < end:  # `null` or `~` stands there
            return self._cut(start, end, json.dumps(value, ensure_ascii=False))
        pad = " " * (name.start_mark.column + 2)
        if isinstance(value, dict):
            ((key, entries),) = value.items()
            lines = [f"{pad}{key}:", f"{pad}  - {_plain(entries[0])}"]
        else:
            assert isinstance(value, list)
            lines = [f"{pad}- {_plain(value[0])}"]
        return self._below(name, lines)


def _pair(group: Any, name: str) -> tuple[yaml.Node, Any] | None:
    """The last one with that name: it is the one that counts."""
    if not isinstance(group, yaml.MappingNode):
        return None
    found = [pair for pair in group.value if pair[0].value == name]
    return found[-1] if found else None


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


_SIMPLE = re.compile(r"[A-Za-z/][\w./-]*")  # means itself, wherever in YAML it stands


def _plain(entry: str) -> str:
    """As people would write it: quoted only where YAML wants it."""
    written: str = yaml.safe_dump(entry, default_flow_style=True, allow_unicode=True, width=10**6)
    return written.removesuffix("...\n").strip()
