"""The benchmarks in small: their arrays, and that all that is ours gives equal numbers there. Nothing is timed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from medotter_viewer.engine import choice

pytest.importorskip("numba")
BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    import bench_rows
    import engine_pairs
    import other_sides
    import results
    import rows
    import work
finally:
    sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize("name", work.TINY)
def test_work_items_are_the_same_in_every_run_and_lie_as_the_readers_give_them(name: str) -> None:
    first, second = work.TINY[name](), work.TINY[name]()
    assert np.array_equal(first.gt, second.gt)
    assert np.array_equal(first.pred, second.pred)
    assert first.gt.flags.f_contiguous if first.regions else first.gt.flags.c_contiguous
    assert first.gt.dtype.kind == "u"
    assert not np.array_equal(first.gt, first.pred)
    ids = {i for region in first.regions.values() for i in region}
    assert not ids or set(np.unique(first.gt)) == set(np.unique(first.pred)) == {0, *ids}


def test_both_engines_give_equal_numbers_on_random_cases() -> None:
    for name, found in engine_pairs.compare_random(36).items():
        assert found.wrong == [], name
        assert found.cases >= 18
        assert sum(found.counted.values()) >= 90


@pytest.mark.parametrize("name", work.TINY)
def test_both_engines_give_equal_numbers_on_work_items(name: str) -> None:
    found = engine_pairs.compare_work(work.TINY[name]())
    assert found.wrong == []
    assert found.counted


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.key)
def test_ours_and_what_needs_no_other_library_agree_on_each_row(row: rows.Row) -> None:
    inputs = rows.tiny_inputs(row.inputs)
    reference = None
    for side in row.sides:
        if side.modules:
            continue
        with choice.using(side.engine or "plain"):
            found = side.values(inputs, [step() for step in side.steps(inputs, None)])
        one = bench_rows.Measured(side, {"values": found})
        reference = reference or found
        bench_rows.compare(one, reference, row, is_first=reference is found)
        assert not one.differs, one.equality
    assert reference


def test_a_difference_is_found() -> None:
    row = next(row for row in rows.ROWS if row.key == "dice-w2")
    side = next(side for side in row.sides if side.name == "numpy.bincount")
    one = bench_rows.Measured(side, {"values": {"liver": {"dice": 0.5}}})
    bench_rows.compare(one, {"liver": {"dice": 0.5 + 1e-9}}, row, is_first=False)
    assert one.differs
    assert "DIFFERS" in one.equality
    counted = engine_pairs.Comparison()
    counted.add("case", {"hd of 1": 2.0, "assd of 1": 1.0}, {"hd of 1": 2.0 + 1e-15 * 4, "assd of 1": 1.0 + 1e-13})
    assert len(counted.wrong) == 1


def test_the_exact_fill_is_half_open() -> None:
    square = np.array([[2.0, 2.0], [6.0, 2.0], [6.0, 6.0], [2.0, 6.0]])
    rows_in, columns_in = np.nonzero(other_sides.exact_fill(square))
    assert (rows_in.min(), rows_in.max(), columns_in.min(), columns_in.max()) == (2, 5, 2, 5)


def test_a_block_is_replaced_and_what_people_wrote_stays(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    results.write_block("one", "First", ["| a |"], path)
    path.write_text(path.read_text(encoding="utf-8") + "\nA remark.\n", encoding="utf-8")
    results.write_block("two", "Second", ["| b |"], path)
    results.write_block("one", "First", ["| c |"], path)
    text = path.read_text(encoding="utf-8")
    assert "| a |" not in text
    assert text.index("| c |") < text.index("A remark.") < text.index("| b |")
    assert text.count("## First") == 1
