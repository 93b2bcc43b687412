"""Arrows, dots and corners: their corners by hand, and what rims do to them."""

from __future__ import annotations

import numpy as np
import pytest

from medotter_viewer.ui.mark_shapes import arrow, corners, dot


def test_an_arrow_points_at_its_end() -> None:
    shape = arrow((0, 0), (20, 0), 2.0)
    assert shape[3].tolist() == [20, 0]
    assert shape[:, 0].min() == 0
    # the head is 4.5 widths long and 3.6 wide
    assert shape[2, 0] == pytest.approx(11)
    assert abs(shape[2, 1]) == pytest.approx(3.6)


def test_a_short_arrow_keeps_a_shaft() -> None:
    shape = arrow((0, 0), (0, 5), 2.0)
    assert shape[2, 1] == pytest.approx(1.5)  # 30 % of its length


def test_an_arrow_seen_from_its_end_is_a_dot() -> None:
    shape = arrow((3, 4), (3, 4.5), 2.0)
    assert len(shape) == 12
    assert np.linalg.norm(shape - (3, 4.25), axis=1) == pytest.approx(np.full(12, 3.0))


def test_a_rim_lies_that_far_outside() -> None:
    thin, wide = arrow((0, 0), (0, 20), 2.0), arrow((0, 0), (0, 20), 2.0, 0.5)
    assert wide[0].tolist() == [-1.5, -0.5]
    # both edges of the head run side by side, half a millimetre apart
    for one, two in ((2, 3), (3, 4)):
        along = (thin[two] - thin[one]) / np.linalg.norm(thin[two] - thin[one])
        away = [abs(np.cross(np.append(along, 0), np.append(wide[k] - thin[one], 0))[2]) for k in (one, two)]
        assert away == pytest.approx([0.5, 0.5])


def test_corners_leave_the_sides_of_the_box_free() -> None:
    found = corners((0, 0), (10, 20), 3.0, 1.0)
    assert len(found) == 4
    assert np.concatenate(found).min(axis=0).tolist() == [-1, -1]
    assert np.concatenate(found).max(axis=0).tolist() == [11, 21]
    assert not any(((c[:, 0] > 3) & (c[:, 0] < 7)).any() for c in found)
    assert dot((1, 2), 3.0).mean(axis=0) == pytest.approx([1, 2])
