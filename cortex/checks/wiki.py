"""Whether a vault keeps the contract of a wiki: its folders, its root files, its raw sources."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from ..config import Config
from ..errors import UsageError
from ..text import Undecodable, brief, decode, one_line
from ..types import Json
from ..vault.frontmatter import split
from ..vault.note_schema import FOLDER_TYPES, NOT_CURATED, RAW, RAW_FOLDERS, ROOT_FILES
from ..vault.reading import spelt_there
from ..vault.scan import FolderRules, FoundNote, is_note_name, scan
from .issue import refuse_unreadable

_MAKE = "run: cortex init --scaffold"
_IS_MISSING = "is missing"
_ABOUT_SOURCES = "raw/README.md"  # says what the folder is for, and is no source
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class WikiIssue:
    severity: Literal["error", "warning"]
    code: str
    path: str  # vault-relative; of the vault itself in full
    message: str  # ends with the remedy
    details: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WikiReport:
    config: Path
    vault: Path
    issues: tuple[WikiIssue, ...]  # by severity, code, path and message

    def count(self, severity: str) -> int:
        return sum(issue.severity == severity for issue in self.issues)

    @property
    def errors(self) -> int:
        return self.count("error")

    @property
    def warnings(self) -> int:
        return self.count("warning")

    def passes(self, strict: bool = False) -> bool:
        """Whether there is no error; strict: and no warning."""
        return not (self.issues if strict else self.errors)

    def document(self, strict: bool = False) -> dict[str, Json]:
        """What json.dumps takes; `ok` is whether it passes."""
        return {
            "config_path": str(self.config),
            "vault_path": str(self.vault),
            "ok": self.passes(strict),
            "error_count": self.errors,
            "warning_count": self.warnings,
            "issue_count": len(self.issues),
            "issues": [
                {
                    "severity": issue.severity,
                    "code": issue.code,
                    "path": issue.path,
                    "message": issue.message,
                    **({"details": dict(issue.details)} if issue.details else {}),
                }
                for issue in self.issues
            ],
        }


def wiki_health(config: Config, rules: FolderRules) -> WikiReport:
    """Hold the configured vault against the contract. Only reads, and asks for no time.

    Raises UsageError if the settings name no vault, CortexError if it may not be read.
    """
    vault = config.vault.path
    if vault is None:
        raise UsageError(
            f"{config.path} names no vault; add the folder of your notes there as vault.path"
        )
    found = _vault_issues(vault, config.path) or [
        *_layout_issues(vault, config.vault.allow_symlinks_outside),
        *_drift(vault, rules, config),
        *_source_issues(vault, config.vault.allow_symlinks_outside),
    ]
    found.sort(key=lambda issue: (issue.severity, issue.code, issue.path, issue.message))
    return WikiReport(config.path, vault, tuple(found))


def _vault_issues(vault: Path, config: Path) -> list[WikiIssue]:
    """What makes all further questions void."""
    if not os.path.lexists(vault):
        message = f"the vault does not exist; make the folder, or set vault.path in {config}"
        return [WikiIssue("error", "vault_missing", str(vault), message)]
    if not vault.is_dir():
        message = f"the vault is not a folder; set vault.path in {config}"
        return [WikiIssue("error", "vault_not_directory", str(vault), message)]
    refuse_unreadable(vault)
    return []


def _layout_issues(vault: Path, follow_outside: bool) -> Iterator[WikiIssue]:
    root = os.path.realpath(vault)

    def why_not(path: str, is_wanted: bool) -> str | None:
        """What is wrong with something that has to be in the vault; None if nothing is."""
        file = vault / path
        if is_wanted:
            real = os.path.realpath(file)
            is_inside = real == root or real.startswith(root.rstrip(os.sep) + os.sep)
            return None if is_inside or follow_outside else "is a link that leads out of the vault"
        if file.is_symlink() and not file.exists():
            return "is a link that leads nowhere"
        return "is something else" if os.path.lexists(file) else _IS_MISSING

    def remedy(path: str, why: str) -> str:
        if why != _IS_MISSING:
            return f"move it away and {_MAKE}"
        file = vault / path
        above, other = file.parent, spelt_there(file.parent, file.name)
        if other is not None:
            return f"rename {one_line(os.path.relpath(above / other, vault))}"
        if above != vault and above.is_symlink():  # init makes nothing through a link
            return f"make it in {one_line(os.path.realpath(above))}"
        return _MAKE

    for name in ROOT_FILES:
        if why := why_not(name, (vault / name).is_file()):
            why = "is a folder, not a file" if (vault / name).is_dir() else why
            message = f"the root file {name} {why}; {remedy(name, why)}"
            yield WikiIssue("error", "missing_root_file", name, message)
    for code, folders in (
        ("missing_raw_folder", RAW_FOLDERS),
        ("missing_cortex_folder", tuple(FOLDER_TYPES)),
    ):
        for folder in folders:
            if why := why_not(folder, (vault / folder).is_dir()):
                why = "is a file, not a folder" if (vault / folder).is_file() else why
                message = f"the folder {folder} {why}; {remedy(folder, why)}"
                yield WikiIssue("error", code, folder, message)


def _drift(vault: Path, rules: FolderRules, config: Config) -> Iterator[WikiIssue]:
    """Folders whose notes the settings would have indexed, though they hold no curated notes."""
    takes_outside = config.vault.allow_symlinks_outside
    notes = [note.path for note in scan(vault, rules, follow_outside=takes_outside).notes]
    for folder in NOT_CURATED:
        below = [folder, *(raw for raw in RAW_FOLDERS if raw.startswith(f"{folder}/"))]
        taken = [path for path in notes if path.startswith(f"{folder}/")]
        if taken or any(rules.takes(f"{place}/note.md") for place in below):
            message = (
                f"notes in {folder} would be indexed; add {folder} to vault.exclude_folders in "
                f"{config.path}, then run: cortex index"
            )
            details: dict[str, Json] = {
                "include_folders": list(rules.include),
                "exclude_folders": list(rules.exclude),
                "notes": len(taken),
            }
            yield WikiIssue("error", "config_curated_source_drift", folder, message, details)


def _source_issues(vault: Path, follow_outside: bool) -> Iterator[WikiIssue]:
    found = scan(vault, FolderRules((RAW,)), follow_outside=follow_outside)
    for note in found.notes:
        if note.path != _ABOUT_SOURCES:
            yield from _issues_of_source(note)
    for path, problem in found.problems:
        is_source = path == RAW or path.startswith(f"{RAW}/")
        if is_source and problem.code == "folder_unreadable":
            message = f"cannot be read: {problem.message}; give yourself the right to read it"
            yield WikiIssue("error", "raw_source_read_error", path, message)
        elif is_source and problem.code == "name_not_utf8" and is_note_name(path):
            message = "the name of the file is not UTF-8; rename it"
            yield WikiIssue("error", "raw_source_read_error", path, message)


def _issues_of_source(note: FoundNote) -> Iterator[WikiIssue]:
    def issue(
        severity: Literal["error", "warning"], what: str, message: str, **details: Json
    ) -> WikiIssue:
        return WikiIssue(severity, f"raw_source_{what}", note.path, message, details)

    try:
        text, problems = decode(note.file.read_bytes())
    except OSError as error:
        message = f"cannot be read: {error.strerror}; give yourself the right to read it"
        yield issue("error", "read_error", message)
        return
    except Undecodable as error:
        yield issue("error", "decode_error", f"{error}; save it as UTF-8 text")
        return
    if any(problem.code == "not_utf8" for problem in problems):
        yield issue("error", "decode_error", "the source is not UTF-8; save it as UTF-8")
        return
    header = split(text)
    actual = body_sha256(text[header.body_start :])
    if not header.body_start:
        message = (
            "the source has no frontmatter; begin it with source_url, ingested and "
            f"`sha256: {actual}` between two lines of ---"
        )
        yield issue("warning", "missing_frontmatter", message)
        return
    values = header.values
    if (url := _written(values, "source_url")) is None:
        message = "source_url is missing; add the address that the source was taken from"
        yield issue("warning", "missing_source_url", message)
    elif not _is_web_address(url):
        message = f"source_url {brief(url)!r} is no address; write it in full, as https://…"
        yield issue("warning", "invalid_source_url", message)
    if (day := _written(values, "ingested")) is None:
        message = "ingested is missing; add the day it was taken in, as YYYY-MM-DD"
        yield issue("warning", "missing_ingested", message)
    elif not _is_iso_time(day):
        message = f"ingested {brief(day)!r} is no day; write it as YYYY-MM-DD"
        yield issue("warning", "invalid_ingested", message)
    if (expected := _written(values, "sha256")) is None:
        message = f"sha256 is missing; if the body is as it came, add `sha256: {actual}`"
        yield issue("warning", "missing_sha256", message)
    elif not _SHA256.fullmatch(expected):
        message = f"sha256 {brief(expected)!r} is not 64 hexadecimal digits; {_restore(actual)}"
        yield issue("warning", "invalid_sha256", message)
    elif expected.lower() != actual:
        message = f"the body is not the one that sha256 was taken of; {_restore(actual)}"
        yield issue("error", "sha256_drift", message, expected=expected.lower(), actual=actual)


def _restore(actual: str) -> str:
    return f"restore it, or if the change is meant write `sha256: {actual}`"


def body_sha256(body: str) -> str:
    """The hash of a source's body: with LF line ends, and without one line end at its start."""
    text = body.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\n")
    return sha256(text.encode("utf-8")).hexdigest()


def _written(values: Mapping[str, Json], name: str) -> str | None:
    """A property as text; None if it is absent or blank."""
    value = values.get(name)
    text = "" if value is None else str(value).strip()
    return text or None


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in text
    except ValueError:
        return False


def _is_iso_time(text: str) -> bool:
    """A calendar day, alone or with a time of day."""
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return _ISO_DAY.match(text) is not None
