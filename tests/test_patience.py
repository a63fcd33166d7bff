"""Slow work: waited for so long and no longer, and never too much of it at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cortex.patience import Background, Late

CHECKOUT = Path(__file__).resolve().parent.parent


def test_what_is_done_in_time_is_given_or_raised() -> None:
    background = Background("test")
    assert background.within(5, lambda: 7) == 7
    with pytest.raises(KeyError, match="lost"):
        background.within(5, lambda: {}["lost"])


def test_what_is_late_goes_on_and_the_next_is_served() -> None:
    background, go_on, ended = Background("test"), threading.Event(), threading.Event()

    def slow() -> None:
        go_on.wait(20)
        ended.set()

    began = time.monotonic()
    with pytest.raises(Late):
        background.within(0.05, slow)
    assert time.monotonic() - began < 2
    assert background.within(5, lambda: "served") == "served"
    go_on.set()
    assert ended.wait(5)


def test_no_more_than_so_many_run_at_once() -> None:
    background, go_on, started = Background("test", most=2), threading.Event(), []

    def slow() -> None:
        started.append(1)
        go_on.wait(20)

    for _ in range(5):
        with pytest.raises(Late):
            background.within(0.05, slow)
    assert len(started) == 2
    go_on.set()
    assert background.within(5, lambda: "again") == "again"


def test_a_process_that_ends_lets_late_work_finish() -> None:
    code = (
        "import time\n"
        "from cortex.patience import Background, Late\n"
        "def slow():\n"
        "    time.sleep(0.5)\n"
        "    print('finished', flush=True)\n"
        "try:\n"
        "    Background('test').within(0.01, slow)\n"
        "except Late:\n"
        "    print('late', flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["late", "finished"]
