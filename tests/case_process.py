"""Commands of the product as processes of their own: their exit, output, time and memory."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Run:
    """One command, ended."""

    exit: int
    stdout: str
    stderr: str
    timed_out: bool = False
    peak_mib: float = 0.0


def run_main(arguments: Sequence[str]) -> Run:
    """The command line's own main, in this process: exit and output without the start-up."""
    from cortex.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(list(arguments))
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        except Exception:
            err.write(traceback.format_exc())
            code = 1
    return Run(int(code or 0), out.getvalue(), err.getvalue())


class Process:
    """A command at work, its output going to files so that it never waits for a reader."""

    def __init__(
        self,
        command: Sequence[Any],
        cwd: Path,
        environment: Mapping[str, str],
        typed: bytes = b"",
        as_ordinary_user: bool = False,
    ) -> None:
        # Files, for a process that is killed may leave a child that holds a pipe open.
        self.out, self.err, self.typed = (tempfile.TemporaryFile() for _ in range(3))  # noqa: SIM115
        self.typed.write(typed)
        self.typed.seek(0)
        self.peak_mib = 0.0
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(environment),
            stdin=self.typed,
            stdout=self.out,
            stderr=self.err,
            preexec_fn=drop_special_rights if as_ordinary_user else None,
        )

    def wait_until(self, deadline: float) -> bool:
        """Whether it ended before that moment of the monotonic clock."""
        while self.process.poll() is None:
            self._note_memory()
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.01)
        return True

    def finish(self, limit_s: float) -> Run:
        ended = self.wait_until(time.monotonic() + limit_s)
        if not ended:
            self.kill()
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
            file.close()
        self.typed.close()
        code = self.process.returncode
        return Run(code, texts[0], texts[1], not ended, self.peak_mib)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _note_memory(self) -> None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in lines_of(Path(f"/proc/{self.process.pid}/status").read_text()):
                if line.startswith("VmHWM:"):
                    self.peak_mib = max(self.peak_mib, int(line.split()[1]) / 1024)


def lines_of(text: str) -> list[str]:
    """Lines as an editor counts them: U+2028, form feeds and their like end none."""
    found = re.split(r"\r\n|\n|\r", text)
    return found[:-1] if not found[-1] else found


def drop_special_rights() -> None:
    """Let root's next program be refused what an ordinary owner of the same files is (Linux)."""
    import ctypes

    prctl = ctypes.CDLL(None, use_errno=True).prctl
    drop_from_bounding_set, last_capability = 24, 40
    for capability in range(last_capability + 1):
        if prctl(drop_from_bounding_set, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), f"capability {capability} cannot be dropped")


def can_be_passed(arguments: Sequence[str]) -> bool:
    """Whether the system takes these as arguments of a process (Linux: 128 KiB each, no NUL)."""
    return all("\0" not in one and len(os.fsencode(one)) < 120_000 for one in arguments)


def strace_prefix(log: Path) -> list[str]:
    """Watch native code too, where strace is there and allowed."""
    watch = ["strace", "-f", "-qq", "-e", "trace=connect,sendto", "-e", "signal=none", "-o"]
    if shutil.which("strace") is None:
        return []
    tried = subprocess.run([*watch, os.devnull, "true"], capture_output=True)
    return [] if tried.returncode else [*watch, f"{log}-{time.monotonic_ns()}"]


def without_network() -> list[str]:
    """What to put before a command so that native code has no network either, if it is allowed."""
    command = ["unshare", "--net", "--"]
    if shutil.which("unshare") is None:
        return []
    return [] if subprocess.run([*command, "true"], capture_output=True).returncode else command


# The command line in a process whose model loads and then fails at every text.
FAILING_MODEL = """
import sys

import onnxruntime


def run(*arguments, **options):
    raise RuntimeError("the model fails: a fault of this case")


onnxruntime.InferenceSession.run = run
"""

NETWORK_WATCH = '''
"""Notes every connection that this process tries, and refuses it."""
import os
import socket


def note(what):
    with open(os.environ["CORTEX_CASE_NETWORK_LOG"], "a", encoding="utf-8") as log:
        log.write(f"{what}\\n")


def refuse(name):
    real = getattr(socket.socket, name)

    def tried(self, *arguments):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            note(f"{name} {arguments[-1]}")
            raise OSError(f"{name}: the network is watched")
        return real(self, *arguments)

    setattr(socket.socket, name, tried)


def getaddrinfo(host, *arguments, **options):
    note(f"getaddrinfo {host}")
    raise socket.gaierror("the network is watched")


for name in ("connect", "connect_ex", "sendto"):
    refuse(name)
socket.getaddrinfo = getaddrinfo
'''
