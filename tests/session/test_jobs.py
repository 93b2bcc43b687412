"""Background work: the newest of a kind wins, and the end is the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from medotter_viewer.session.jobs import Jobs

Work = Callable[[Callable[[Any], None], Callable[[], bool]], None]


def reports(*values: Any) -> Work:
    def work(report: Callable[[Any], None], is_stale: Callable[[], bool]) -> None:
        for value in values:
            report(value)

    return work


def fails(report: Callable[[Any], None], is_stale: Callable[[], bool]) -> None:
    report("so far")
    raise OSError("broken")


def test_results_arrive_in_order(queue: Any, main_thread: Any) -> None:
    jobs, got = Jobs(queue, main_thread), []
    jobs.start("a", reports(1, 2, 3), got.append, got.append)
    queue.run_all()
    assert got == []
    main_thread.take_all()
    assert got == [1, 2, 3]


def test_newer_work_of_a_kind_silences_the_older_at_any_stage(queue: Any, main_thread: Any) -> None:
    jobs, got = Jobs(queue, main_thread), []
    jobs.start("a", reports("taken"), got.append, got.append)
    queue.run_next()
    jobs.start("a", reports("not taken yet"), got.append, got.append)
    main_thread.take_all()
    queue.run_next()
    main_thread.take_all()
    jobs.start("a", reports("never run"), got.append, got.append)
    jobs.start("a", reports("last"), got.append, got.append)
    queue.run_all()
    main_thread.take_all()
    assert got == ["not taken yet", "last"]


def test_kinds_do_not_disturb_each_other(queue: Any, main_thread: Any) -> None:
    jobs, got = Jobs(queue, main_thread), []
    jobs.start("a", reports("a"), got.append, got.append)
    jobs.start("b", reports("b"), got.append, got.append)
    queue.run_all()
    main_thread.take_all()
    assert got == ["a", "b"]


def test_an_error_arrives_like_an_answer(queue: Any, main_thread: Any) -> None:
    jobs, got, errors = Jobs(queue, main_thread), [], []
    jobs.start("a", fails, got.append, errors.append)
    queue.run_all()
    main_thread.take_all()
    assert got == ["so far"]
    assert [str(e) for e in errors] == ["broken"]


def test_errors_of_cancelled_work_are_dropped(queue: Any, main_thread: Any) -> None:
    jobs, got = Jobs(queue, main_thread), []
    jobs.start("a", fails, got.append, got.append)
    jobs.cancel("a")
    queue.run_all()
    main_thread.take_all()
    assert got == []


def test_work_can_ask_whether_anybody_still_waits(queue: Any, main_thread: Any) -> None:
    jobs, asked = Jobs(queue, main_thread), []

    def work(report: Callable[[Any], None], is_stale: Callable[[], bool]) -> None:
        asked.append(is_stale())
        jobs.cancel("a")
        asked.append(is_stale())

    jobs.start("a", work, asked.append, asked.append)
    queue.run_all()
    assert asked == [False, True]


def test_closing_drops_what_is_on_its_way(queue: Any, main_thread: Any) -> None:
    jobs, got = Jobs(queue, main_thread), []
    jobs.start("a", reports(1), got.append, got.append)
    jobs.start("b", reports(2), got.append, got.append)
    queue.run_next()
    jobs.close()
    queue.run_all()
    main_thread.take_all()
    assert got == []
