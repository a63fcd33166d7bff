"""Slow work: waited for so long and no longer, and never too much of it at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextvars import ContextVar
from pathlib import Path

import pytest

from cortex.patience import MOST_LATE, Background, Late, Urgent, Workers

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


def test_who_has_a_late_job_gets_no_second_one_until_it_has_ended() -> None:
    workers, go_on = Workers("test"), threading.Event()
    hangs = workers.start("search", go_on.wait, by="a")
    assert hangs is not None and not hangs.is_done(time.monotonic() + 0.05)
    hangs.is_late = True
    assert workers.start("search", lambda: 1, by="a") is None
    assert workers.start("other", lambda: 1, by="a") is not None
    other = workers.start("search", lambda: 2, by="b")
    assert other is not None and other.is_done(time.monotonic() + 5) and other.result == 2
    go_on.set()
    assert hangs.is_done(time.monotonic() + 5)
    assert workers.start("search", lambda: 3, by="a") is not None


def test_late_jobs_do_not_pile_up_whoever_asks() -> None:
    workers, go_on = Workers("test"), threading.Event()
    jobs = []
    for asker in range(100):
        job = workers.start("search", go_on.wait, by=asker)
        if job is not None:
            job.is_late = True
            jobs.append(job)
    assert len(jobs) == MOST_LATE
    go_on.set()
    assert all(job.is_done(time.monotonic() + 5) for job in jobs)
    assert workers.start("search", lambda: 1, by="next") is not None


def test_a_job_of_which_one_is_enough_is_begun_once() -> None:
    workers, go_on = Workers("test"), threading.Event()
    first = workers.start("warm", go_on.wait, most=1)
    assert first is not None and workers.start("warm", go_on.wait, most=1) is None
    go_on.set()
    assert first.is_done(time.monotonic() + 5)


def test_a_job_knows_what_the_one_who_began_it_knows() -> None:
    profile: ContextVar[str] = ContextVar("profile", default="none")
    profile.set("work")
    job = Workers("test").start("look", profile.get)
    assert job is not None and job.is_done(time.monotonic() + 5) and job.result == "work"


def test_whatever_ends_a_job_is_kept_and_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    def leave() -> None:
        raise SystemExit("a panic of a native library is no Exception either")

    job = Workers("test").start("leave", leave)
    assert job is not None and job.is_done(time.monotonic() + 5)
    assert isinstance(job.error, SystemExit) and capfd.readouterr() == ("", "")


def test_urgent_work_goes_before_the_rest_and_is_not_held_up_for_good() -> None:
    urgent, go_on, began = Urgent(most=1), threading.Event(), threading.Event()

    def hang() -> None:
        with urgent.first(5):
            began.set()
            go_on.wait(20)

    thread = threading.Thread(target=hang)
    thread.start()
    assert began.wait(5) and not urgent.is_over(0.05)
    at = time.monotonic()
    with urgent.first(0.05):
        assert time.monotonic() - at < 2
    go_on.set()
    thread.join()
    assert urgent.is_over(5)
