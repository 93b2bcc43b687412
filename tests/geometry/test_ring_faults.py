"""Odd rings are named one by one, with what is odd about them."""

from __future__ import annotations

import numpy as np

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.geometry.largest_difference import largest_difference
from medotter_viewer.geometry.polygons import keyhole
from medotter_viewer.geometry.ring_faults import (
    CROSSING,
    FEW_POINTS,
    NO_AREA,
    NO_SLICE,
    REPEATED,
    TINY,
    UNREADABLE,
    ring_faults,
)

SQUARE = np.array([(0.0, 0.0), (10, 0), (10, 10), (0, 10)])


def test_good_rings_keyholes_and_closed_ones_are_not_listed() -> None:
    holed = keyhole(SQUARE, [np.array([(4.0, 4.0), (4, 6), (6, 6), (6, 4)])])
    closed = np.concatenate([SQUARE, SQUARE[:1]])
    assert ring_faults(ScanContours({7: [SQUARE, holed, closed]}), numbers=[7], pixel_mm2=1.0) == []
    assert ring_faults(ScanContours()) == []


def test_every_odd_ring_is_named_with_its_reason_and_place() -> None:
    line = np.array([(0.0, 0.0), (5, 5), (10, 10)])
    tiny = SQUARE / 20 + (50, 60)  # 0.25 mm2
    bow = np.array([(0.0, 0.0), (20, 20), (20, 0), (0, 20)])
    stutter = np.insert(SQUARE, 1, SQUARE[1], axis=0)
    found = ring_faults(
        ScanContours({9: [SQUARE], 7: [SQUARE, line, SQUARE[:2], tiny, bow, stutter]}), numbers=[7, 8], pixel_mm2=1.0
    )
    assert [(f.number, f.place, f.reasons) for f in found] == [
        (7, 1, (NO_AREA,)),
        (7, 2, (FEW_POINTS,)),
        (7, 3, (TINY,)),
        (7, 4, (CROSSING,)),
        (7, 5, (REPEATED,)),
        (9, 0, (NO_SLICE,)),
    ]
    assert [f.area_mm2 for f in found] == [0.0, 0.0, 0.25, 200.0, 100.0, 100.0]
    assert found[2].centre == (50.25, 60.25)
    assert found[1].n_points == 2


def test_a_ring_that_is_no_list_of_numbers_is_named_too() -> None:
    bad = np.array([(0.0, 0.0), (np.nan, 1), (1, 1)])
    (fault,) = ring_faults(ScanContours({7: [bad, SQUARE]}))
    assert (fault.reasons, fault.area_mm2, fault.centre) == ((UNREADABLE,), None, None)


def test_without_points_there_is_no_centre() -> None:
    (fault,) = ring_faults(ScanContours({7: [np.zeros((0, 2))]}))
    assert (fault.reasons, fault.centre, fault.n_points) == ((FEW_POINTS,), None, 0)


def test_the_largest_of_two_wrong_pieces_is_pointed_at() -> None:
    truth = [SQUARE, np.add(SQUARE, (30, 0))]
    # missed: 2 x 10 at the left square, all 10 x 10 of the right one; invented: 3 x 3 below
    pred = [SQUARE - (2, 0), np.array([(0.0, 20.0), (3, 20), (3, 23), (0, 23)])]
    x, y = largest_difference(truth, pred) or (0, 0)
    assert abs(x - 35) < 0.3
    assert abs(y - 5) < 0.3


def test_the_point_lies_in_the_wrong_piece_even_if_that_is_bent() -> None:
    frame = keyhole(SQUARE, [np.array([(1.0, 1.0), (1, 9), (9, 9), (9, 1)])])
    x, y = largest_difference([frame], []) or (5, 5)
    assert min(x, y, 10 - x, 10 - y) <= 1.05


def test_nothing_to_point_at() -> None:
    assert largest_difference([], []) is None
    assert largest_difference([SQUARE], [SQUARE, SQUARE]) is None
    assert largest_difference([SQUARE[:2]], []) is None
