"""Structures to voxels, against counting by hand and against another library's point in polygon."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.segments import Segments
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.structures import Contour, Roi, StructureSet
from medotter_viewer.errors import MetricInputError
from medotter_viewer.geometry.contour_masks import fill_structures
from medotter_viewer.geometry.polygons import FillRule


def stack_of(
    shape: tuple[int, int, int], origin: tuple[float, float, float] = (0, 0, 0), spacing: tuple[float, ...] = (1, 1, 1)
) -> SliceStack:
    n = shape[2]
    lps = np.diag([*spacing, 1.0])
    lps[:3, 3] = origin
    origins = np.array([(origin[0], origin[1], origin[2] + k * spacing[2]) for k in range(n)])
    return SliceStack(
        Grid(shape, np.diag([-1, -1, 1, 1]) @ lps), origins, [None] * n, [None] * n, [None] * n, [Path("x")] * n, "FoR"
    )


def box(left: float, top: float, right: float, bottom: float, z: float = 0) -> np.ndarray:
    return np.array([(left, top, z), (right, top, z), (right, bottom, z), (left, bottom, z)], dtype=float)


def structure(number: int, name: str, *points: np.ndarray, kind: str = "CLOSED_PLANAR") -> Roi:
    contours = tuple(Contour(p, kind) for p in points)
    return Roi(number, name, None, contours, len(contours), "FoR")


def filled(stack: SliceStack, *rois: Roi, rule: FillRule = "even_odd") -> tuple[Segments, list[Finding]]:
    return fill_structures(StructureSet(rois), stack, rule=rule)


def mask_of(segments: Segments, number: int) -> np.ndarray:
    return np.isin(segments.codes, [code for code, of in segments.members.items() if number in of])


OUTER, INNER, ISLAND = box(0.5, 0.5, 20.5, 20.5), box(5.5, 5.5, 15.5, 15.5), box(8.5, 8.5, 12.5, 12.5)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_ring_within_another_is_a_hole_in_any_order_and_winding(order: tuple[int, ...], turned: bool) -> None:
    rings = [OUTER, INNER[::-1] if turned else INNER]
    segments, findings = filled(stack_of((30, 30, 1)), structure(1, "GTV", *(rings[i] for i in order)))
    assert mask_of(segments, 1).sum() == 300
    assert [f.code for f in findings] == ["contour-nested"]


def test_an_island_in_the_hole_is_in_again() -> None:
    segments, _ = filled(stack_of((30, 30, 1)), structure(1, "GTV", ISLAND, OUTER, INNER))
    assert mask_of(segments, 1).sum() == 316


def test_the_xor_type_needs_no_remark_and_a_keyhole_gives_the_same() -> None:
    stack = stack_of((30, 30, 1))
    xor, findings = filled(stack, structure(1, "GTV", OUTER, INNER, kind="CLOSEDPLANAR_XOR"))
    keyhole = np.concatenate([OUTER, OUTER[:1], INNER, INNER[:1]])
    hole, more = filled(stack, structure(1, "GTV", keyhole))
    assert (mask_of(xor, 1) == mask_of(hole, 1)).all()
    assert findings + more == []


def test_by_the_union_rule_a_ring_within_another_is_more_of_the_same() -> None:
    segments, findings = filled(stack_of((30, 30, 1)), structure(1, "GTV", OUTER, INNER), rule="union")
    assert mask_of(segments, 1).sum() == 400
    assert findings == []


def test_a_ring_smaller_than_a_pixel_flips_none() -> None:
    rings = (box(5, 5, 15, 15), box(20.2, 20.2, 20.32, 20.32), box(9.2, 9.2, 9.32, 9.32))
    segments, _ = filled(stack_of((30, 30, 1)), structure(1, "Lung", *rings))
    assert mask_of(segments, 1).sum() == 100


def test_centres_count_half_open_and_what_leaves_the_image_is_cut_off_aloud() -> None:
    stack = stack_of((16, 16, 1), origin=(-8, -8, 0))
    rois = (
        structure(1, "A", box(-6.5, -6.5, -3.5, -3.5)),
        structure(2, "B", box(-6, -6, -3, -3)),
        structure(3, "EDGE", box(-12, -12, -5.5, -5.5)),
    )
    segments, findings = filled(stack, *rois)
    assert [int(mask_of(segments, n).sum()) for n in (1, 2, 3)] == [9, 9, 9]
    assert np.argwhere(mask_of(segments, 1))[[0, -1], :2].tolist() == [[2, 2], [4, 4]]
    assert [(f.code, f.where) for f in findings] == [("contour-outside-image", "EDGE")]
    assert "3.5 pixels" in findings[0].message


def test_a_ring_along_the_border_of_the_image_does_not_leave_it() -> None:
    segments, findings = filled(stack_of((4, 3, 1)), structure(1, "all", box(-0.5, -0.5, 3.5, 2.5)))
    assert findings == []
    assert mask_of(segments, 1).all()


def test_structures_may_overlap_and_those_without_contours_are_listed() -> None:
    rois = (structure(5, "BODY", box(0.5, 0.5, 4.5, 4.5)), structure(2, "GTV", box(2.5, 2.5, 6.5, 4.5)))
    segments, _ = filled(stack_of((9, 9, 2)), *rois, Roi(7, "EMPTY"))
    counts = {names: int((segments.codes == code).sum()) for code, names in segments.combinations().items()}
    assert counts == {frozenset({"BODY"}): 12, frozenset({"GTV"}): 4, frozenset({"BODY", "GTV"}): 4}
    assert [s.name for s in segments.segments] == ["BODY", "GTV", "EMPTY"]


def test_contours_without_any_pixel_centre_are_said() -> None:
    segments, findings = filled(stack_of((9, 9, 1)), structure(1, "dot", box(2.1, 2.1, 2.4, 2.4)))
    assert not segments.codes.any()
    assert [(f.code, f.severity) for f in findings] == [("contour-without-pixels", "warning")]


def test_columns_rows_and_slices_are_not_mixed_up() -> None:
    segments, _ = filled(
        stack_of((7, 5, 3), spacing=(2, 3, 4)), structure(1, "x", box(-1, -1.5, 5, 1.5, 8), box(9, 7, 11, 10, 0))
    )
    assert np.argwhere(segments.codes).tolist() == [[0, 0, 2], [1, 0, 2], [2, 0, 2], [5, 3, 0]]


@pytest.mark.parametrize("seed", range(6))
def test_masks_are_those_of_point_in_polygon_of_another_library(seed: int) -> None:
    shapely = pytest.importorskip("shapely")
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 1)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, 0, s], [s * s, c, -s * c], [-s * c, s, c * c]])
    spacing, origin = rng.uniform(0.5, 2, 2), rng.uniform(-200, 200, 3)
    lps = np.eye(4)
    lps[:3, 0], lps[:3, 1], lps[:3, 2], lps[:3, 3] = (
        turn[:, 0] * spacing[0],
        turn[:, 1] * spacing[1],
        turn[:, 2] * 3,
        origin,
    )
    origins = np.array([origin + 3 * k * turn[:, 2] for k in range(3)])
    grid = Grid((40, 30, 3), np.diag([-1, -1, 1, 1]) @ lps)
    stack = SliceStack(grid, origins, [None] * 3, [None] * 3, [None] * 3, [Path("x")] * 3, "FoR")
    around = np.sort(rng.uniform(0, 2 * np.pi, 25))
    radius = rng.uniform(4, 14, 25)
    pixels = np.stack([20.123 + radius * np.cos(around), 15.321 + radius * np.sin(around)], axis=1)
    points = origins[1] + pixels @ lps[:3, :2].T
    segments, _ = filled(stack, structure(1, "x", points))
    i, j = np.meshgrid(np.arange(40), np.arange(30), indexing="ij")
    inside = shapely.contains_xy(shapely.Polygon(pixels), i.ravel(), j.ravel()).reshape(40, 30)
    assert (mask_of(segments, 1)[:, :, 1] == inside).all()
    assert inside.sum() > 50
    assert not segments.codes[:, :, [0, 2]].any()


def test_many_points_are_filled_in_bands_of_rows_to_the_same_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    around = np.sort(rng.uniform(0, 2 * np.pi, 60))
    radius = rng.uniform(4, 14, 60)
    points = np.stack([15.1 + radius * np.cos(around), 15.2 + radius * np.sin(around), 0 * around], axis=1)
    roi = structure(1, "x", points, box(10, 10, 14, 14))
    whole, _ = filled(stack_of((30, 30, 1)), roi)
    monkeypatch.setattr("medotter_viewer.geometry.contour_masks._EDGES_BY_ROWS", 64 * 7)
    bands, _ = filled(stack_of((30, 30, 1)), roi)
    assert (whole.codes == bands.codes).all()
    assert whole.codes.sum() > 100


def test_by_the_union_rule_rings_that_leave_the_image_are_cut_off_each() -> None:
    rings = (box(-5, -5, 3.5, 3.5), box(2.5, 2.5, 40, 6.5))
    segments, _ = filled(stack_of((9, 9, 1)), structure(1, "x", *rings), rule="union")
    assert mask_of(segments, 1).sum() == 16 + 6 * 4 - 1


def test_a_tangle_is_refused_by_name() -> None:
    x = np.linspace(0, 20, 8000)
    points = np.stack([x, np.where(np.arange(8000) % 2, 20.0, 0.0), 0 * x], axis=1)
    with pytest.raises(MetricInputError, match=r"tangle: .* no outlines of structures"):
        filled(stack_of((30, 30, 1)), structure(1, "tangle", points))
