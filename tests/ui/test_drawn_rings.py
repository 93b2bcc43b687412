"""Shapes that were changed become rings in mm; what was not touched keeps its numbers. No window needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scan_phantoms import POSES, block_stack

from medotter_viewer.core.contours import Ring, ScanContours
from medotter_viewer.geometry.placed_rings import place_again, place_rings
from medotter_viewer.ui.drawn_rings import DrawnSlice, edited_rings, same_rings

TENTHS = np.array([(0.1, 40.3), (9.7, 40.3), (9.7, 52.9), (0.1, 52.9)])
FAR = TENTHS + 0.123456789
FLAT = np.array([(0.0, 40.0), (5.0, 40.0), (9.0, 40.0)])


def drawn_on(rings: list[Ring], *, pose: str = "tilted by 12 degrees", most: int = 400) -> DrawnSlice:
    """What is drawn of rings on slice number 13, the third."""
    placed = place_rings(ScanContours({13: rings}), block_stack(POSES[pose]))
    return DrawnSlice.of(placed, 2, most)


def shapes_of(drawn: DrawnSlice) -> list[Any]:
    """What napari gives back of them."""
    return [np.array(path, dtype=np.float32) for path in drawn.paths]


def paths(shapes: list[Any]) -> list[str]:
    return ["path"] * len(shapes)


@pytest.mark.parametrize("pose", list(POSES))
def test_a_ring_that_was_not_touched_is_the_same_array(pose: str) -> None:
    drawn = drawn_on([TENTHS, FAR], pose=pose)
    shapes = shapes_of(drawn)
    assert drawn.is_in(shapes, paths(shapes))
    rings, n_refused = edited_rings(shapes, paths(shapes), drawn)
    assert [a is b for a, b in zip(rings, (TENTHS, FAR), strict=True)] == [True, True]
    assert n_refused == 0


@pytest.mark.parametrize("pose", list(POSES))
def test_of_a_ring_with_a_moved_point_the_other_points_keep_every_bit(pose: str) -> None:
    drawn = drawn_on([TENTHS, FAR], pose=pose)
    shapes = shapes_of(drawn)
    wanted = np.array([(3.0, 47.0)])
    pixel = drawn.placed.stack
    moved = place_rings(ScanContours({13: [np.concatenate([wanted, TENTHS[1:]])]}), pixel).paths(2)[0]
    shapes[0][2] = moved[0]
    rings, _ = edited_rings(shapes, paths(shapes), drawn)
    np.testing.assert_array_equal(rings[0][[0, 1, 3]], TENTHS[[0, 1, 3]])
    np.testing.assert_allclose(rings[0][2], wanted[0], rtol=0, atol=1e-5)
    assert rings[1] is FAR
    again, _ = edited_rings(shapes, paths(shapes), DrawnSlice.of(drawn.placed, 2, 400))
    assert same_rings(rings, again)  # to the last bit, however often it is read


def test_the_point_that_closes_a_path_goes_with_its_twin() -> None:
    drawn = drawn_on([TENTHS])
    path = shapes_of(drawn)[0]
    for alone in (0, -1):  # moved alone, either of them
        shape = path.copy()
        shape[alone] += (0, 0.5, 0.25)
        (ring,), _ = edited_rings([shape], ["path"], drawn)
        assert len(ring) == 4
        np.testing.assert_array_equal(ring[1:], TENTHS[1:])
        assert not np.array_equal(ring[0], TENTHS[0])
    for shape in (path[:-1], path[1:]):  # taken away, either of them
        (ring,), _ = edited_rings([shape], ["path"], drawn)
        assert sorted(map(tuple, ring)) == sorted(map(tuple, TENTHS[1:]))


@pytest.mark.parametrize("place", [0, 2, 5])
def test_a_point_put_in_anywhere_is_one_point_more(place: int) -> None:
    drawn = drawn_on([TENTHS])
    path = shapes_of(drawn)[0]
    shape = np.insert(path, place, path[0] - (0, 1, 1), axis=0)
    (ring,), _ = edited_rings([shape], ["path"], drawn)
    assert len(ring) == 5
    assert {tuple(p) for p in TENTHS} < {tuple(p) for p in ring}


def test_new_shapes_of_every_kind_are_rings() -> None:
    drawn = drawn_on([TENTHS], pose="head first supine")
    box = np.array([(3, 2, 2), (3, 2, 8), (3, 6, 8), (3, 6, 2)], dtype=np.float32)
    for kind, area in (("polygon", 24.0), ("rectangle", 24.0), ("ellipse", np.pi * 3 * 2), ("path", 24.0)):
        rings, n_refused = edited_rings([*shapes_of(drawn), box], ["path", kind], drawn)
        assert (len(rings), n_refused) == (2, 0)
        x, y = rings[1].T  # pixels are 1.5 by 2 mm
        found = abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2 / (1.5 * 2.0)
        assert found == pytest.approx(area, rel=2e-3)


@pytest.mark.parametrize("kind", ["polygon", "path", "line"])
def test_a_shape_without_area_is_refused_and_a_ring_that_became_one_stays(kind: str) -> None:
    drawn = drawn_on([TENTHS])
    line = np.array([(3, 2, 2), (3, 2, 8)], dtype=np.float32)
    assert edited_rings([*shapes_of(drawn), line], ["path", kind], drawn) == ([TENTHS], 1)
    (ring,), n_refused = edited_rings([line], [kind], drawn)
    assert (ring is TENTHS, n_refused) == (True, 1)


def test_rings_that_are_not_drawn_stay_where_they_are() -> None:
    small = [TENTHS * 0.1 + n for n in range(3)]
    source = [FLAT, small[0], TENTHS, FLAT, small[1], FAR, small[2]]
    drawn = drawn_on(source, most=2)
    assert len(drawn.rings) == 2
    shapes = shapes_of(drawn)
    assert same_rings(drawn.merged(source, edited_rings(shapes, paths(shapes), drawn)[0]), source)
    shapes[0][1] += 0.5
    edited, _ = edited_rings(shapes, paths(shapes), drawn)
    merged = drawn.merged(source, edited)
    assert [any(a is b for b in source) for a in merged] == [True, True, False, True, True, True, True]
    (last,) = edited_rings(shapes[1:], ["path"], drawn)[0]
    assert same_rings(drawn.merged(source, [last]), [FLAT, small[0], FLAT, small[1], FAR, small[2]])
    assert same_rings(drawn.merged(source, []), [FLAT, small[0], FLAT, small[1], small[2]])


def test_a_ring_that_repeats_its_first_point_is_drawn_closed_once() -> None:
    closed = np.concatenate([TENTHS, TENTHS[:1]])
    drawn = drawn_on([closed])
    assert [len(path) for path in drawn.paths] == [5]
    shapes = shapes_of(drawn)
    assert edited_rings(shapes, ["path"], drawn)[0][0] is closed


def test_placing_again_looks_at_other_slices_only_and_gives_the_same() -> None:
    stack = block_stack(POSES["head first prone"])
    before = ScanContours({12: [TENTHS], 13: [TENTHS, FLAT], 99: [FAR]})
    placed = place_rings(before, stack)
    after = ScanContours({12: before.rings[12], 13: [FAR], 14: [FLAT, TENTHS]})
    again, fresh = place_again(placed, before, after), place_rings(after, stack)
    assert again.rings[1] is placed.rings[1]
    assert {i: len(rings) for i, rings in again.rings.items()} == {i: len(rings) for i, rings in fresh.rings.items()}
    assert (again.flat, again.elsewhere) == (fresh.flat, fresh.elsewhere) == ({14: 1}, {})
