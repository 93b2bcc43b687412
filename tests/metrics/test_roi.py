"""Statistics of a region of interest, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.roi import RoiStatistics, in_ellipse, in_rectangle, roi_statistics


def test_mean_and_deviation_are_those_of_the_population() -> None:
    # 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squared deviations 9 1 1 1 0 0 4 16 = 32, 32 / 8 = 4
    found = roi_statistics(np.array([2, 4, 4, 4, 5, 5, 7, 9], dtype=np.int16))
    assert found == RoiStatistics(8, 0, 5.0, 2.0, 2.0, 9.0)


def test_one_voxel_has_no_spread_and_none_has_no_mean() -> None:
    assert roi_statistics(np.array([-1000], dtype=np.int16)) == RoiStatistics(1, 0, -1000.0, 0.0, -1000.0, -1000.0)
    assert roi_statistics(np.zeros(0, dtype=np.int16)) == RoiStatistics(0, 0, None, None, None, None)


def test_sums_do_not_overflow_small_integers() -> None:
    found = roi_statistics(np.full(1000, 200, dtype=np.uint8))
    assert (found.mean, found.sd) == (200.0, 0.0)


def test_values_that_are_no_numbers_are_left_out_and_counted() -> None:
    found = roi_statistics(np.array([1.0, np.nan, 3.0, np.inf]))
    assert (found.n, found.n_left_out, found.mean) == (2, 2, 2.0)


def test_what_is_no_list_of_numbers_is_refused() -> None:
    for values in (np.zeros((2, 2)), np.array([1j]), np.array(["1"])):
        with pytest.raises(MetricInputError, match="intensities"):
            roi_statistics(values)


def test_an_ellipse_takes_the_centres_inside_and_on_its_rim() -> None:
    rows, columns = np.arange(5.0), np.arange(7.0)
    inside = in_ellipse(rows, columns, ((0.0, 0.0), (4.0, 6.0)))  # half axes 2 and 3
    expected = ["0001000", "0111110", "1111111", "0111110", "0001000"]
    # row 1: (1/2)^2 = 1/4, so |x - 3| <= 3 sqrt(3/4) = 2.598
    assert ["".join(str(int(v)) for v in row) for row in inside] == expected


def test_a_flat_ellipse_is_a_line_and_a_rectangle_has_its_rim() -> None:
    rows, columns = np.arange(3.0), np.arange(4.0)
    assert in_ellipse(rows, columns, ((1.0, 0.0), (1.0, 2.0))).astype(int).tolist() == [
        [0, 0, 0, 0],
        [1, 1, 1, 0],
        [0, 0, 0, 0],
    ]
    assert in_rectangle(rows, columns, ((0.5, 1.0), (2.0, 2.0))).astype(int).tolist() == [
        [0, 0, 0, 0],
        [0, 1, 1, 0],
        [0, 1, 1, 0],
    ]
