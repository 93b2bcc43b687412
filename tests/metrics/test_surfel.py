"""Surface elements and the area-weighted Hausdorff distance, against values that can be worked out by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import hypot, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.surfel import surface_elements, surfel_hd

Mask = NDArray[np.bool_]
A, B, C = 0.7, 1.3, 2.9
TRIANGLE = sqrt((B * C) ** 2 + (A * C) ** 2 + (A * B) ** 2) / 8
"""Cut-off corner of the cell: its legs are half of A, B and C."""


def box(shape: tuple[int, ...], *ranges: tuple[int, int]) -> Mask:
    mask = np.zeros(shape, dtype=bool)
    mask[tuple(slice(*r) for r in ranges)] = True
    return mask


def voxels(shape: tuple[int, ...], *at: tuple[int, ...]) -> Mask:
    mask = np.zeros(shape, dtype=bool)
    mask[tuple(np.transpose(at))] = True
    return mask


def centre_area(mask: Mask, spacing: tuple[float, ...]) -> float:
    """Area at the corner in the middle of a 2x2x2 or 2x2 mask."""
    corners, areas = surface_elements(mask, spacing)
    return float(areas[(corners == 1).all(axis=1)][0])


class TestSurfaceElements:
    def test_single_voxel_has_eight_triangles_at_its_corners(self) -> None:
        corners, areas = surface_elements(voxels((5, 6, 7), (1, 2, 3)), (A, B, C))
        assert corners.tolist() == [list(p) for p in itertools.product((1, 2), (2, 3), (3, 4))]
        np.testing.assert_allclose(areas, TRIANGLE, rtol=1e-14)

    def test_single_pixel_has_four_half_diagonals(self) -> None:
        corners, lengths = surface_elements(voxels((1, 1), (0, 0)), (3.0, 4.0))
        assert corners.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
        assert lengths.tolist() == [2.5] * 4

    @pytest.mark.parametrize("border", [0, 2])
    def test_cube_total(self, border: int) -> None:
        mask = np.pad(np.ones((3, 3, 3), dtype=bool), border)
        corners, areas = surface_elements(mask, (1, 1, 1))
        assert len(corners) == 4**3 - 2**3
        assert areas.sum() == pytest.approx(6 * 2**2 + 12 * 2 * sqrt(2) / 2 + 8 * sqrt(3) / 8)

    def test_box_total_with_spacing(self) -> None:
        # 4 x 3 x 2 voxels: faces between the outermost voxel centres, edges cut off, corners cut off.
        x, y, z = 3 * A, 2 * B, 1 * C
        edges = 4 * (x * hypot(B, C) + y * hypot(A, C) + z * hypot(A, B)) / 2
        _, areas = surface_elements(np.ones((4, 3, 2), dtype=bool), (A, B, C))
        assert areas.sum() == pytest.approx(2 * (x * y + y * z + x * z) + edges + 8 * TRIANGLE)

    def test_square_total(self) -> None:
        corners, lengths = surface_elements(box((10, 10), (2, 7), (0, 5)), (0.5, 2.0))
        assert len(corners) == 20
        assert lengths.sum() == pytest.approx(2 * 4 * 0.5 + 2 * 4 * 2.0 + 2 * hypot(0.5, 2.0))

    def test_edge_runs_along_the_mask(self) -> None:
        # Rows 0 and 1 of the mask end at a line along axis 1, as long as the step of axis 1.
        assert centre_area(np.array([[True, True], [False, False]]), (3.0, 4.0)) == 4.0
        assert centre_area(np.array([[True, False], [True, False]]), (3.0, 4.0)) == 3.0
        assert centre_area(np.array([[True, False], [False, True]]), (3.0, 4.0)) == 5.0

    @pytest.mark.parametrize(
        ("inside", "expected"),
        [
            pytest.param(["000"], TRIANGLE, id="one"),
            pytest.param(["000", "011"], 2 * TRIANGLE, id="two across a face"),
            pytest.param(["000", "111"], 2 * TRIANGLE, id="two across the cell"),
            pytest.param(["000", "011", "101"], 3 * TRIANGLE, id="three apart"),
            pytest.param(["000", "011", "101", "110"], 4 * TRIANGLE, id="four apart"),
            pytest.param(["000", "100"], A * hypot(B, C) / 2, id="edge"),
            pytest.param(["000", "100", "011"], A * hypot(B, C) / 2 + TRIANGLE, id="edge and one"),
            pytest.param(["000", "100", "011", "111"], A * hypot(B, C), id="two edges"),
            pytest.param(["000", "100", "010"], A * B / 2 + 3 * TRIANGLE, id="three in a plane: pentagon"),
            pytest.param(["000", "100", "010", "111"], A * B / 2 + 4 * TRIANGLE, id="pentagon and one"),
            pytest.param(["000", "100", "010", "110"], A * B, id="four in a plane"),
            pytest.param(["000", "100", "010", "001"], 6 * TRIANGLE, id="one and its neighbours: flat hexagon"),
            pytest.param(
                ["000", "100", "110", "111"],
                4 * TRIANGLE + A * hypot(B, C) / 4 + C * hypot(A, B) / 4,
                id="chain of four: bent hexagon",
            ),
        ],
    )
    @pytest.mark.parametrize("inverted", [False, True])
    def test_area_of_each_kind_of_neighbourhood(self, inside: list[str], expected: float, inverted: bool) -> None:
        mask = voxels((2, 2, 2), *[tuple(int(c) for c in v) for v in inside]) ^ inverted
        for flipped in itertools.product((slice(None), slice(None, None, -1)), repeat=3):
            assert centre_area(mask[flipped], (A, B, C)) == pytest.approx(expected, rel=1e-14)

    def test_every_neighbourhood_turns_with_its_axes(self) -> None:
        for code in range(1, 255):
            mask = np.array([bool(code >> bit & 1) for bit in range(8)]).reshape(2, 2, 2)
            area = centre_area(mask, (A, B, C))
            assert area == centre_area(~mask, (A, B, C))
            assert area == centre_area(mask[:, ::-1], (A, B, C))
            assert area == pytest.approx(centre_area(mask.transpose(2, 0, 1), (C, A, B)), rel=1e-14)

    @pytest.mark.parametrize("shape", [(4, 5), (4, 5, 6), (0, 3)])
    def test_empty_mask_has_no_elements(self, shape: tuple[int, ...]) -> None:
        corners, areas = surface_elements(np.zeros(shape, dtype=bool), [1.0] * len(shape))
        assert corners.shape == (0, len(shape))
        assert corners.dtype == np.intp
        assert areas.shape == (0,)

    def test_full_image_has_its_surface_at_the_border(self) -> None:
        corners, _ = surface_elements(np.ones((4, 4), dtype=bool), (1, 1))
        assert len(corners) == 16
        assert corners.min() == 0
        assert corners.max() == 4


GT_SQUARE = box((40, 40), (5, 15), (5, 15))
STRAY_SQUARE = GT_SQUARE | box((40, 40), (30, 34), (30, 34))
WORKED = [
    pytest.param(
        box((12,) * 3, *[(2, 7)] * 3), box((12,) * 3, (4, 9), (2, 7), (2, 7)), (2, 1, 1), 4.0, id="shifted cube"
    ),
    pytest.param(GT_SQUARE, GT_SQUARE | voxels((40, 40), (35, 35)), (1, 1), 29.0, id="stray pixel"),
    pytest.param(GT_SQUARE, STRAY_SQUARE, (1, 1), 26.172505, id="stray square"),
    pytest.param(voxels((8,) * 3, (1, 4, 4)), voxels((8,) * 3, (4, 4, 4)), (0.5, 1, 1), 1.5, id="single voxels"),
    pytest.param(box((20, 20), (2, 18), (2, 18)), box((20, 20), (2, 10), (2, 18)), (1, 2), 8.0, id="half"),
    pytest.param(STRAY_SQUARE, STRAY_SQUARE, (1, 1), 0.0, id="identical"),
]


class TestWorkedValues:
    @pytest.mark.parametrize(("gt", "pred", "spacing", "expected"), WORKED)
    def test_value(self, gt: Mask, pred: Mask, spacing: tuple[float, ...], expected: float) -> None:
        assert surfel_hd(gt, pred, spacing=spacing) == pytest.approx(expected, abs=1e-6)
        assert surfel_hd(pred, gt, spacing=spacing) == pytest.approx(expected, abs=1e-6)

    def test_number_of_elements(self) -> None:
        assert [len(surface_elements(m, (1, 1))[0]) for m in (GT_SQUARE, STRAY_SQUARE)] == [40, 56]

    def test_percentile_is_weighted_by_area_without_interpolation(self) -> None:
        # One pixel against a row of four, steps 3 and 4: of the row's length 4 x 2.5 + 6 x 4 = 34, the corners at
        # distance 0 hold 2 x 2.5 + 2 x 4 = 13, at 4 and 8 mm 8 each, and at 12 mm 5.
        gt, pred = box((3, 8), (1, 2), (2, 3)), box((3, 8), (1, 2), (2, 6))
        for share, expected in [(0, 0), (13, 0), (14, 4), (20, 4), (22, 8), (28, 8), (30, 12), (34, 12)]:
            assert surfel_hd(gt, pred, spacing=(3, 4), percentile=100 * share / 34) == expected


def pairs(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[Mask, Mask]]:
    mask = hnp.arrays(bool, shape).map(lambda m: m if m.any() else ~m)
    return st.tuples(mask, mask)


# Powers of two keep every distance exact, so that equality can be asked for.
STEPS = st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0])
CASES = st.one_of(
    st.tuples(pairs((6, 5)), st.tuples(STEPS, STEPS)),
    st.tuples(pairs((4, 3, 5)), st.tuples(STEPS, STEPS, STEPS)),
)
Case = tuple[tuple[Mask, Mask], tuple[float, ...]]


class TestInvariance:
    @settings(max_examples=30, deadline=None)
    @given(case=CASES, percentile=st.sampled_from([50.0, 95.0, 100.0]))
    def test_symmetric_in_gt_and_pred(self, case: Case, percentile: float) -> None:
        (gt, pred), spacing = case
        value = surfel_hd(gt, pred, spacing=spacing, percentile=percentile)
        assert value == surfel_hd(pred, gt, spacing=spacing, percentile=percentile)
        assert surfel_hd(gt, gt, spacing=spacing, percentile=percentile) == 0.0

    @settings(max_examples=30, deadline=None)
    @given(case=CASES, data=st.data())
    def test_flips_axis_order_and_background_do_not_matter(self, case: Case, data: st.DataObject) -> None:
        (gt, pred), spacing = case
        ndim = gt.ndim
        axes = data.draw(st.permutations(range(ndim)))
        flips = data.draw(st.sets(st.integers(0, ndim - 1)))
        width = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=ndim, max_size=ndim))
        turned = [np.pad(np.flip(m.transpose(axes), tuple(flips)), width) for m in (gt, pred)]
        expected = surfel_hd(gt, pred, spacing=spacing)
        assert surfel_hd(turned[0], turned[1], spacing=[spacing[axis] for axis in axes]) == expected

    @settings(max_examples=20, deadline=None)
    @given(case=CASES, factor=st.sampled_from([0.125, 2.0, 8.0]))
    def test_scales_with_spacing(self, case: Case, factor: float) -> None:
        (gt, pred), spacing = case
        expected = factor * surfel_hd(gt, pred, spacing=spacing)
        assert surfel_hd(gt, pred, spacing=[factor * step for step in spacing]) == expected

    def test_inputs_are_not_changed(self) -> None:
        gt, pred = GT_SQUARE.copy(), STRAY_SQUARE.copy()
        surfel_hd(gt, pred, spacing=(1, 1))
        assert (gt == GT_SQUARE).all()
        assert (pred == STRAY_SQUARE).all()


class TestErrors:
    @pytest.mark.parametrize(
        ("call", "words"),
        [
            (lambda: surfel_hd(np.zeros((3, 3), bool), np.ones((3, 3), bool), spacing=(1, 1)), "gt is empty"),
            (lambda: surfel_hd(np.ones((3, 3), bool), np.zeros((3, 3), bool), spacing=(1, 1)), "pred is empty"),
            (lambda: surfel_hd(np.ones((3, 3), bool), np.ones((3, 4), bool), spacing=(1, 1)), r"\(3, 4\)"),
            (lambda: surfel_hd(np.ones((3, 3), int), np.ones((3, 3), int), spacing=(1, 1)), "int64"),
            (lambda: surfel_hd(np.ones(3, bool), np.ones(3, bool), spacing=(1,)), "1 axes"),
            (lambda: surface_elements(np.ones((1,) * 4, bool), (1, 1, 1, 1)), "4 axes"),
        ],
    )
    def test_masks(self, call: Callable[[], object], words: str) -> None:
        with pytest.raises(MetricInputError, match=words):
            call()

    @pytest.mark.parametrize(
        "spacing", [(1.0,), (1.0, 1.0, 1.0), (1.0, 0.0), (1.0, -2.0), (1.0, np.nan), (1.0, np.inf)]
    )
    @pytest.mark.parametrize("fill", [False, True])
    def test_spacing(self, spacing: tuple[float, ...], fill: bool) -> None:
        with pytest.raises(MetricInputError, match="spacing"):
            surface_elements(np.full((3, 3), fill), spacing)

    @pytest.mark.parametrize("percentile", [-1.0, 100.5, np.nan])
    def test_percentile(self, percentile: float) -> None:
        with pytest.raises(MetricInputError, match="percentile"):
            surfel_hd(GT_SQUARE, GT_SQUARE, spacing=(1, 1), percentile=percentile)
