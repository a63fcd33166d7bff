"""Files that are told as they are: the shipped skill, and what the owner names in the settings."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from ..text import decode

MAX_READ = 200_000  # bytes of one file; the largest budget keeps but a part of that

_FRONTMATTER = re.compile(r"\A---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def shipped_skill(name: str) -> Path | None:
    """The SKILL.md of a skill that comes with Cortex, in a checkout or installed by pip."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "skills", package.parent / "skills"):
        file = folder / name / "SKILL.md"
        if file.is_file():
            return file
    return None


def read_text(path: Path) -> str:
    """The text of a regular file, of a larger one the first MAX_READ bytes.

    Raises OSError when it cannot be read, ValueError when it holds no text or is no file: a pipe
    would never end.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("not a file")
    with open(path, "rb") as file:
        return decode(file.read(MAX_READ))[0]


def without_frontmatter(text: str) -> str:
    return _FRONTMATTER.sub("", text, count=1)


def first_bytes(text: str, max_bytes: int) -> str:
    """The longest beginning of `text` that has at most so many bytes as UTF-8."""
    return text.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")
