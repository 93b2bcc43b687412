"""Cases that are read ahead: how many, in which order, and within how much memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.session.events import OpenedCase
from medotter_viewer.session.read_ahead import ReadAhead, bytes_in_memory
from medotter_viewer.sources.opening import open_source

MB = 1 << 20


@pytest.fixture
def loads() -> list[str]:
    return []


@pytest.fixture
def ahead(queue: Any, loads: list[str]) -> Any:
    """Function that makes one, of cases of as many MiB as their names say."""

    def load(case_id: str, region: str | None) -> OpenedCase:
        loads.append(case_id)
        return OpenedCase(Case(CaseEntry(case_id)), None)

    def make(**options: Any) -> ReadAhead:
        return ReadAhead(queue, load, lambda case_id: int(case_id[1:]) * MB, **options)

    return make


def test_the_next_few_are_read_one_after_the_other(ahead: Any, queue: Any, loads: list[str]) -> None:
    reading = ahead(most_cases=2)
    reading.start(["a1", "b1", "c1"], None)
    assert len(queue.waiting) == 1
    assert not reading.is_idle
    queue.run_all()
    assert loads == ["a1", "b1"]
    assert reading.is_idle


def test_what_is_there_is_not_read_again(ahead: Any, queue: Any, loads: list[str]) -> None:
    reading = ahead(most_cases=2)
    reading.start(["a1", "b1", "c1"], None)
    queue.run_all()
    future, region = reading.take("a1")
    assert (future.result().case.case_id, region) == ("a1", None)
    reading.start(["b1", "c1"], None)
    queue.run_all()
    assert loads == ["a1", "b1", "c1"]


def test_none_is_read_where_none_is_wanted(ahead: Any, queue: Any) -> None:
    reading = ahead(most_cases=0)
    reading.start(["a1"], None)
    assert reading.is_idle
    assert not queue.waiting
    assert reading.take("a1") is None


def test_together_they_take_no_more_memory_than_there_is_for_them(ahead: Any, queue: Any, loads: list[str]) -> None:
    reading = ahead(most_cases=3, most_bytes=10 * MB)
    reading.start(["a4", "b6", "c1"], None)
    queue.run_all()
    assert loads == ["a4", "b6"]  # 4 + 6 are 10; one more would be 11


def test_one_that_is_too_large_is_left_to_be_read_when_it_is_opened(ahead: Any, queue: Any, loads: list[str]) -> None:
    reading = ahead(most_cases=2, most_bytes=10 * MB)
    reading.start(["a11", "b1"], None)
    queue.run_all()
    assert loads == []
    future, _ = reading.take("a11")
    assert future.result() is None


def test_what_was_taken_or_left_makes_room(ahead: Any, queue: Any, loads: list[str]) -> None:
    reading = ahead(most_cases=2, most_bytes=10 * MB)
    reading.start(["a6", "b4"], None)
    queue.run_all()
    reading.take("a6")
    reading.start(["b4", "c6"], None)
    queue.run_all()
    assert loads == ["a6", "b4", "c6"]
    reading.start(["d10"], None)
    queue.run_all()
    assert loads[-1] == "d10"


def test_a_jump_elsewhere_lets_all_of_them_go(ahead: Any, queue: Any, loads: list[str]) -> None:
    reading = ahead(most_cases=3)
    reading.start(["a1", "b1", "c1"], None)
    queue.run_next()
    assert reading.take("z1") is None
    queue.run_all()
    assert loads == ["a1"]
    assert reading.take("a1") is None


def test_what_a_case_takes_is_told_by_the_headers_of_its_files(tmp_path: Path, write_bundle: Any) -> None:
    gt = np.zeros((10, 10, 10), dtype=np.uint8)
    tiny = write_bundle(tmp_path, {"A/1": {"gt": gt, "image": gt.astype(np.int16)}}, predictions={"A/1": gt})
    entry = open_source(tiny.bundle, predictions=tiny.predictions).entry("A/1")
    # 4 bytes for each voxel of the image, twice 2 for those of either label map
    assert bytes_in_memory(entry) == 1000 * (4 + 2 * 2 * 2)
    assert bytes_in_memory(CaseEntry("A/2", gt_path=tmp_path / "gone.nii.gz")) == 0
