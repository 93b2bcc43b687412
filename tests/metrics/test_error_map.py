"""Each voxel of an error map by its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.error_map import FN, FP, TP, WRONG, error_map
from medotter_viewer.metrics.overlap import overlap_table

GT = np.array([0, 1, 1, 0, 2, 3, 3], dtype=np.uint8)
PRED = np.array([0, 1, 0, 2, 1, 3, 1], dtype=np.uint8)


def test_right_missed_invented_and_wrong_label() -> None:
    assert (TP, FN, FP, WRONG) == (1, 2, 3, 4)
    assert error_map(GT, PRED).tolist() == [0, TP, FN, FP, WRONG, TP, WRONG]


def test_ids_left_out_are_background_on_both_sides() -> None:
    # 3 is left out: the right 3 vanishes, and a 1 where the truth is 3 is invented.
    assert error_map(GT, PRED, ids=[1, 2]).tolist() == [0, TP, FN, FP, WRONG, 0, FP]


def test_within_a_region_there_is_no_wrong_label() -> None:
    assert error_map(GT, PRED, ids=[1, 2], as_one=True).tolist() == [0, TP, FN, FP, TP, 0, FP]


def test_background_is_never_an_object() -> None:
    assert error_map(GT, PRED, ids=[0, 1]).tolist() == error_map(GT, PRED, ids=[1]).tolist()


def test_no_ids_give_an_empty_map() -> None:
    assert not error_map(GT, PRED, ids=[]).any()


def test_memory_order_of_the_ground_truth_is_kept() -> None:
    gt = np.zeros((3, 4, 5), dtype=np.int16, order="F")
    assert error_map(gt, gt).flags.f_contiguous
    assert error_map(gt, gt).dtype == np.uint8


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(MetricInputError, match="shapes differ"):
        error_map(GT[:, None], PRED)


@given(hnp.arrays(np.uint8, (3, 4, 2), elements=st.integers(0, 3)), st.sets(st.integers(1, 3), min_size=1))
def test_the_map_of_a_region_holds_its_tp_fp_and_fn(both: NDArray[np.uint8], ids: set[int]) -> None:
    gt, pred = both[..., 0], both[..., 1]
    counts = overlap_table(gt, pred).region(ids)
    found = np.bincount(error_map(gt, pred, ids=ids, as_one=True).ravel(), minlength=5)
    assert found[1:].tolist() == [counts.tp, counts.fn, counts.fp, 0]
