"""What is kept for a session, and for how long."""

from __future__ import annotations

import threading

from cortex.session_table import SessionTable


def test_a_value_is_kept_under_its_session_and_no_other():
    table: SessionTable[int] = SessionTable()
    table.put("a", 1)
    assert (table.get("a"), table.get("b")) == (1, None)
    table.forget("a")
    table.forget("never there")
    assert table.get("a") is None


def test_the_session_used_longest_ago_goes_first():
    table: SessionTable[int] = SessionTable(max_sessions=2)
    table.put("a", 1)
    table.put("b", 2)
    table.get("a")
    table.put("c", 3)
    assert [table.get(name) for name in "abc"] == [1, None, 3]


def test_what_was_not_used_for_its_age_is_forgotten():
    now = [0.0]
    table: SessionTable[int] = SessionTable(max_age_s=10, clock=lambda: now[0])
    table.put("a", 1)
    now[0] = 9
    table.put("b", 2)
    now[0] = 11
    assert (table.get("a"), table.get("b"), len(table)) == (None, 2, 1)


def test_many_threads_keep_it_within_its_limit():
    table: SessionTable[int] = SessionTable(max_sessions=50)

    def use(start: int) -> None:
        for number in range(start, start + 500):
            table.put(str(number % 120), number)
            table.get(str((number * 7) % 120))

    threads = [threading.Thread(target=use, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(table) == 50
