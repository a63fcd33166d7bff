"""Which files of a vault are notes: a walk that stays inside it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from ..types import Problem

SKIPPED_FOLDERS = frozenset(
    {"node_modules", "__pycache__"}
)  # beside everything that starts with a dot


@dataclass(frozen=True, slots=True)
class FoundNote:
    path: str  # vault-relative, "/"-separated
    file: Path
    size: int
    modified: float  # Unix seconds


@dataclass(slots=True)
class Scan:
    notes: list[FoundNote] = field(default_factory=list)  # sorted by path
    others: list[str] = field(default_factory=list)  # every other visible file, sorted: attachments
    problems: list[tuple[str, Problem]] = field(default_factory=list)  # (path, problem)
    unreadable: list[str] = field(default_factory=list)  # folders; "" is the vault itself


@dataclass(frozen=True, slots=True)
class FolderRules:
    """`vault.include_folders` and `exclude_folders`: globs over folders, from the vault's root.

    A bare name is that folder at the root, `**/name` one anywhere, `a/*/b` a level of any name. A
    folder carries all below it; "." stands for the notes at the root. A rule that ends in ".md"
    is one for notes: `private.md`, `**/*.draft.md`. Excluding wins.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def takes(self, path: str) -> bool:
        """Whether the note at `path` is to be indexed."""
        if any(_matches(rule, path) for rule in self.exclude):
            return False
        return not self.include or any(_matches(rule, path) for rule in self.include)


def most_specific(rules: Sequence[str], path: str) -> str | None:
    """Of the rules that take the note at `path`, the one that says most; None if none takes it.

    That is the one for the deepest folder, then the one with most letters, then the first.
    """
    best: tuple[int, int] = (-1, -1)
    found = None
    for rule in rules:
        depth = _depth(rule.removesuffix("/**") or rule, path)
        size = len(re.sub(r"\*|\?|\[[^\]]*\]", "", rule.strip().strip("/")))
        if depth is not None and (depth, size) > best:
            best, found = (depth, size), rule
    return found


def scan(vault: Path, rules: FolderRules, *, follow_outside: bool = False) -> Scan:
    """Walk the vault without following links out of it or round in circles.

    A second name for a file inside the vault (a symbolic link) is not a second note. Hidden
    folders, trash, pipes and sockets are left out.
    """
    found = Scan()
    root = os.path.realpath(vault)
    seen = {root}
    for path, entry in _walk(root, "", root, seen, found, follow_outside):
        status = entry.stat()
        if is_note_name(path) and rules.takes(path):
            found.notes.append(FoundNote(path, Path(entry.path), status.st_size, status.st_mtime))
        else:
            found.others.append(path)
    found.notes.sort(key=lambda note: note.path)
    found.others.sort()
    return found


def walk_notes(
    vault: Path, rules: FolderRules, *, follow_outside: bool = False
) -> Iterator[FoundNote]:
    """The notes that `scan` finds, one by one as the walk meets them: for who stops early."""
    root = os.path.realpath(vault)
    for path, entry in _walk(root, "", root, {root}, Scan(), follow_outside):
        if is_note_name(path) and rules.takes(path):
            status = entry.stat()
            yield FoundNote(path, Path(entry.path), status.st_size, status.st_mtime)


def is_note_name(path: str) -> bool:
    return path[-3:].lower() == ".md"


def lies_among_notes(folder: Path, vault: Path, rules: FolderRules) -> bool:
    """Whether a folder is the vault or one inside it whose notes would be indexed."""
    try:
        inside = os.path.relpath(os.path.realpath(folder), os.path.realpath(vault))
    except ValueError:  # on another drive
        return False
    inside = inside.replace(os.sep, "/")
    if inside == ".":
        return rules.takes("note.md")
    is_inside = inside.split("/")[0] != ".." and is_visible(inside)
    return is_inside and rules.takes(f"{inside}/note.md")


def is_visible(path: str) -> bool:
    """Whether no part of a vault-relative path is hidden or skipped."""
    return not any(part.startswith(".") or part in SKIPPED_FOLDERS for part in path.split("/"))


def _walk(
    folder: str, prefix: str, root: str, seen: set[str], found: Scan, follow_outside: bool
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    stack = [(folder, prefix)]
    while stack:
        folder, prefix = stack.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            found.unreadable.append(prefix)
            found.problems.append(
                (prefix or ".", Problem("folder_unreadable", str(error.strerror)))
            )
            continue
        for entry in entries:
            path = f"{prefix}/{entry.name}" if prefix else entry.name
            if not is_visible(entry.name):
                continue
            try:
                entry.name.encode("utf-8")
            except UnicodeEncodeError:
                shown = os.fsencode(path).decode("utf-8", "backslashreplace")
                found.problems.append(
                    (shown, Problem("name_not_utf8", "rename the file to index it"))
                )
                continue
            try:
                if entry.is_symlink():
                    real = os.path.realpath(entry.path)
                    inside = real == root or real.startswith(root + os.sep)
                    if inside:
                        continue  # the walk meets it under its own name
                    if not follow_outside:
                        if is_note_name(path) or entry.is_dir():
                            found.problems.append(
                                (
                                    path,
                                    Problem(
                                        "link_out_of_vault",
                                        "a link out of the vault is not followed",
                                    ),
                                )
                            )
                        continue
                    if real in seen:
                        continue
                    seen.add(real)
                if entry.is_dir():
                    stack.append((entry.path, path))
                elif stat.S_ISREG(entry.stat().st_mode):
                    yield path, entry
            except OSError:
                continue  # it vanished while we looked


@lru_cache(maxsize=65536)
def _ancestors(path: str) -> tuple[str, ...]:
    parts = path.split("/")[:-1]
    return tuple("/".join(parts[: count + 1]) for count in range(len(parts))) or (".",)


def _matches(rule: str, path: str) -> bool:
    return _depth(rule, path) is not None


def _depth(rule: str, path: str) -> int | None:
    """How deep the uppermost folder lies that a rule takes, or the note; None if it takes none."""
    places = _ancestors(path)
    if rule.lower().endswith((".md", "/*", "/**")):  # a rule for notes, or for all in a folder
        places = (*places, path)
    if (name := rule.strip().strip("/")) in places:  # a name may hold the signs of a pattern
        return places.index(name)
    pattern = _compiled(rule)
    return next((depth for depth, place in enumerate(places) if pattern.fullmatch(place)), None)


@lru_cache(maxsize=1024)
def _compiled(rule: str) -> re.Pattern[str]:
    parts = rule.strip().removeprefix("./").strip("/").split("/")
    pattern = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            pattern += ".*" if last else "(?:[^/]+/)*"
            continue
        for char in re.split(r"(\*|\?|\[[^\]]*\])", part):
            if char == "*":
                pattern += "[^/]*"
            elif char == "?":
                pattern += "[^/]"
            elif char.startswith("[") and char.endswith("]") and len(char) > 2:
                pattern += char.replace("[!", "[^")
            else:
                pattern += re.escape(char)
        pattern += "" if last else "/"
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error:  # "[z-a]": no pattern, so a name
        return re.compile(re.escape(rule.strip().strip("/")))
