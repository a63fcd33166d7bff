"""The frontmatter of a vault's notes against Cortex's schema: one report over everything."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import UsageError
from ..text import Undecodable, brief, decode, one_line
from ..types import Json
from ..vault.reading import nearest
from ..vault.scan import FolderRules, is_note_name, scan
from .frontmatter_block import read_block
from .frontmatter_values import value_issues
from .issue import Issue, refuse_unreadable


@dataclass(frozen=True, slots=True)
class CheckedNote:
    file: str  # vault-relative, "/"-separated; what was asked for, where there is none
    path: Path
    issues: tuple[Issue, ...] = ()  # by line, then errors first

    def count(self, severity: str) -> int:
        return sum(issue.severity == severity for issue in self.issues)


@dataclass(frozen=True)
class FrontmatterReport:
    vault: Path
    notes: tuple[CheckedNote, ...]  # by file; those without issues too
    empty: tuple[str, ...] = ()  # folders that were asked for and hold no note

    def count(self, severity: str) -> int:
        return sum(note.count(severity) for note in self.notes)

    @cached_property
    def errors(self) -> int:
        return self.count("error")

    @cached_property
    def warnings(self) -> int:
        return self.count("warning")

    def passes(self, strict: bool = False) -> bool:
        """Whether there is no error; strict: and no warning."""
        return not self.errors and not (strict and self.warnings)

    def by_code(self) -> dict[str, Counter[str]]:
        """Code -> property -> how often; "" where it is about none. Most frequent first."""
        counts: dict[str, Counter[str]] = {}
        for note in self.notes:
            for issue in note.issues:
                counts.setdefault(issue.code, Counter())[issue.field or ""] += 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1].total(), item[0])))

    def document(self) -> dict[str, Json]:
        """What json.dumps takes."""
        return {
            "vault_path": str(self.vault),
            "checked_count": len(self.notes),
            "error_count": self.errors,
            "warning_count": self.warnings,
            "files": [
                {
                    "file": note.file,
                    "path": str(note.path),
                    "error_count": note.count("error"),
                    "warning_count": note.count("warning"),
                    "issues": [
                        {
                            "severity": issue.severity,
                            "code": issue.code,
                            "message": issue.message,
                            "field": issue.field,
                            "line": issue.line,
                            "suggestion": issue.suggestion,
                        }
                        for issue in note.issues
                    ],
                }
                for note in self.notes
            ],
        }


def validate(
    vault: Path,
    rules: FolderRules,
    paths: Iterable[str | os.PathLike[str]] = (),
    *,
    follow_outside: bool = False,
) -> FrontmatterReport:
    """Check the notes that `rules` take, or those that `paths` name. Only reads.

    paths: notes and folders, absolute or from the vault's root. A folder stands for the notes in
    it that `rules` take; one that they leave out as a whole, for all notes in it. A note may lie
    where `rules` do not go. What is not there or cannot be read is an entry with a `read_error`.
    Raises UsageError for a path that leads out of the vault, CortexError if the vault itself may
    not be read.
    """
    refuse_unreadable(vault)
    chosen = _Chosen(vault, rules, follow_outside)
    asked = [os.fspath(path) for path in paths]
    if asked:
        for path in asked:
            chosen.add(path)
    else:
        chosen.add_folder("")
    notes = [_checked(file, path) for file, path in chosen.files.items()]
    notes += [CheckedNote(file, vault / file, (issue,)) for file, issue in chosen.unread.items()]
    notes.sort(key=lambda note: note.file)
    return FrontmatterReport(vault, tuple(notes), tuple(chosen.empty))


def issues_in(path: str, text: str) -> list[Issue]:
    """What is wrong with the frontmatter of a note; by line, then errors first.

    path: vault-relative; the folder tells the type to suggest, and whether it is a template.
    """
    header, issues = read_block(path, text)
    if header is not None:
        issues += value_issues(path, header.values, header.key_lines)
    return sorted(issues, key=lambda issue: (issue.line or 0, issue.severity))


def _checked(file: str, path: Path) -> CheckedNote:
    try:
        text, problems = decode(path.read_bytes())
    except OSError as error:
        issue = _unread(f"cannot be read: {error.strerror}", "give yourself the right to read it")
        return CheckedNote(file, path, (issue,))
    except Undecodable as error:
        issue = _unread(str(error), "move it out of the notes, or save it as UTF-8 text")
        return CheckedNote(file, path, (issue,))
    for problem in problems:
        if problem.code == "not_utf8":
            what, _, remedy = problem.message.rpartition("; ")
            return CheckedNote(file, path, (_unread(what, remedy, problem.line),))
    return CheckedNote(file, path, tuple(issues_in(file, text)))


def _unread(message: str, suggestion: str | None, line: int | None = None) -> Issue:
    return Issue("error", "read_error", message, None, line, suggestion)


class _Chosen:
    """The files that are to be checked, each once, and what stands in the way of others."""

    def __init__(self, vault: Path, rules: FolderRules, follow_outside: bool) -> None:
        self.vault = vault
        self.rules = rules
        self.follow_outside = follow_outside
        self.root = os.path.realpath(vault)
        self.files: dict[str, Path] = {}
        self.unread: dict[str, Issue] = {}
        self.empty: list[str] = []

    def add(self, asked: str) -> None:
        if "\0" in asked or not asked.strip():
            raise UsageError(f"{brief(asked)!r} is no path; name a note or a folder")
        file = self._inside(asked)
        path = self.vault / file
        if os.path.isdir(path):
            before = len(self.files) + len(self.unread)
            self.add_folder(file)
            if len(self.files) + len(self.unread) == before and not self._has(file):
                self.empty.append(file or ".")
        elif path.is_file():
            self.files.setdefault(file, path)
        elif os.path.lexists(path):
            is_link = path.is_symlink()
            what = "is a link that leads nowhere" if is_link else "is not a file that can be read"
            self.unread[file] = _unread(what, "name a note or a folder of the vault")
        else:
            self.unread[file] = _unread("does not exist in the vault", self._meant(file))

    def add_folder(self, folder: str) -> None:
        """The notes in a folder ("" is the vault) that the rules take, else all notes in it."""
        self._walk(folder, self.rules)
        if folder and not self.rules.takes(f"{folder}/note.md") and not self._has(folder):
            self._walk(folder, FolderRules())

    def _walk(self, folder: str, rules: FolderRules) -> None:
        found = scan(self.vault, rules, follow_outside=self.follow_outside)
        for note in found.notes:
            if _is_below(note.path, folder):
                self.files.setdefault(note.path, note.file)
        for path, problem in found.problems:
            if not _is_below(path, folder):
                continue
            if problem.code == "folder_unreadable" and rules.takes(f"{path}/note.md"):
                message = f"the folder cannot be read: {problem.message}"
                self.unread[path] = _unread(message, "give yourself the right to read it")
            elif problem.code == "name_not_utf8" and is_note_name(path) and rules.takes(path):
                self.unread[path] = _unread("its name is not UTF-8", "rename it")

    def _has(self, folder: str) -> bool:
        return any(_is_below(file, folder) for file in (*self.files, *self.unread))

    def _inside(self, asked: str) -> str:
        """A path that was asked for, from the vault's root; "" is the vault itself."""
        if os.path.isabs(asked):
            path = os.path.normpath(asked)
            for base in (os.path.abspath(self.vault), self.root):
                if path == base or path.startswith(base.rstrip(os.sep) + os.sep):
                    file = os.path.relpath(path, base)
                    break
            else:
                raise self._escapes(asked)
        else:
            file = os.path.normpath(asked)
        if file.split(os.sep)[0] == os.pardir:
            raise self._escapes(asked)
        real = os.path.realpath(self.vault / file)
        is_inside = real == self.root or real.startswith(self.root.rstrip(os.sep) + os.sep)
        if not is_inside and not self.follow_outside:
            raise self._escapes(asked)
        return "" if file == os.curdir else file.replace(os.sep, "/")

    def _escapes(self, asked: str) -> UsageError:
        return UsageError(
            f"the path {brief(asked)!r} leads out of the vault {self.vault}; "
            "name a note or a folder inside it"
        )

    def _meant(self, file: str) -> str:
        """The note or folder that was meant, if one is named nearly like it."""
        found = scan(self.vault, FolderRules(), follow_outside=self.follow_outside)
        names = {note.path for note in found.notes}
        names |= {folder for name in names for folder in _folders_above(name)}
        names |= {entry.name for entry in os.scandir(self.vault) if entry.is_dir()}
        bare = {_bare(name.rpartition("/")[2]): name for name in sorted(names, reverse=True)}
        whole = {_bare(name): name for name in sorted(names, reverse=True)}
        for known, wanted in ((whole, file), (bare, file.rpartition("/")[2])):
            if near := nearest(_bare(wanted), sorted(known), 1):
                return f"did you mean {one_line(known[near[0]])}?"
        return "name a note or a folder of the vault"


def _bare(name: str) -> str:
    return name[:-3] if is_note_name(name) else name


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _folders_above(path: str) -> Iterator[str]:
    parts: Sequence[str] = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[:count])
