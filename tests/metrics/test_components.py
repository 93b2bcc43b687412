"""Connected pieces of errors: cases drawn by hand, and every voxel of the error map in exactly one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial.distance import cdist

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.components import error_components, error_pieces
from medotter_viewer.metrics.error_map import error_map
from medotter_viewer.metrics.pieces import ErrorComponent, KindTotal

Array = NDArray[Any]
KINDS = {"fn": 2, "fp": 3, "wrong": 4}


def drawn(*rows: str) -> Array:
    """Return a label map as it is drawn: a dot is background."""
    return np.array([[0 if c == "." else int(c) for c in row] for row in rows], dtype=np.uint8)


@st.composite
def label_pairs(draw: st.DrawFn) -> tuple[Array, Array, tuple[float, ...]]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5))
    gt, pred = (
        draw(hnp.arrays(draw(st.sampled_from([np.uint8, np.int16])), shape, elements=st.integers(0, 3)))
        for _ in range(2)
    )
    return gt, pred, draw(st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * len(shape)))


class TestByHand:
    GT = drawn(
        "11....2",
        "11....2",
        ".......",
        "3.....2",
    )
    PRED = drawn(
        "11..1.2",
        "1....1.",
        "1......",
        "1.....2",
    )

    def test_kinds_sizes_and_places(self) -> None:
        found = error_components(self.GT, self.PRED, spacing=(2.0, 0.5), connectivity="corners")
        assert found == [
            ErrorComponent(1, "fp", 0, 1, 2, 2.0, (0.5, 4.5), ((0, 2), (4, 6)), (0, 4)),
            ErrorComponent(2, "fn", 1, 0, 1, 1.0, (1.0, 1.0), ((1, 2), (1, 2)), (1, 1)),
            ErrorComponent(3, "fn", 2, 0, 1, 1.0, (1.0, 6.0), ((1, 2), (6, 7)), (1, 6)),
            ErrorComponent(4, "fp", 0, 1, 1, 1.0, (2.0, 0.0), ((2, 3), (0, 1)), (2, 0)),
            ErrorComponent(5, "wrong", 3, 1, 1, 1.0, (3.0, 0.0), ((3, 4), (0, 1)), (3, 0)),
        ]

    def test_diagonal_neighbours_are_apart_when_faces_connect(self) -> None:
        found = error_components(self.GT, self.PRED, spacing=(2.0, 0.5))
        assert [(c.kind, c.voxels) for c in found] == [
            ("fp", 1), ("fn", 1), ("fp", 1), ("fn", 1), ("fp", 1), ("wrong", 1)
        ]  # fmt: skip
        assert [c.id for c in found] == [1, 2, 3, 4, 5, 6]

    def test_ids_that_do_not_count_are_background_on_both_sides(self) -> None:
        found = error_components(self.GT, self.PRED, spacing=(2.0, 0.5), ids=[0, 2, 3])
        assert [(c.kind, c.gt_label, c.pred_label, c.box) for c in found] == [
            ("fn", 2, 0, ((1, 2), (6, 7))),
            ("fn", 3, 0, ((3, 4), (0, 1))),
        ]

    def test_distances_run_to_the_surface_that_was_missed_or_should_have_been_there(self) -> None:
        found = error_components(self.GT, self.PRED, spacing=(2.0, 0.5), connectivity="corners", with_distance=True)
        # The pair of invented pixels: (1, 5) lies 4 columns from (1, 1); (0, 4) 3 columns. A row is 2 mm.
        assert [(c.kind, c.farthest_mm, c.farthest_voxel) for c in found] == [
            ("fp", 2.0, (1, 5)),
            ("fn", 0.5, (1, 1)),
            ("fn", 2.0, (1, 6)),
            ("fp", 2.0, (2, 0)),
            ("wrong", 4.0, (3, 0)),
        ]

    def test_there_is_no_distance_to_a_label_the_other_side_lacks(self) -> None:
        gt, pred = drawn("11.2"), drawn("...3")
        found = error_components(gt, pred, spacing=(1, 1), with_distance=True)
        assert [(c.kind, c.farthest_mm, c.farthest_voxel) for c in found] == [
            ("fn", None, None),
            ("wrong", None, None),
        ]

    def test_touching_errors_with_other_ids_are_pieces_of_their_own(self) -> None:
        gt, pred = drawn("1122.."), drawn("2211.3")
        found = error_components(gt, pred, spacing=(1, 1))
        assert [(c.kind, c.gt_label, c.pred_label, c.voxels) for c in found] == [
            ("wrong", 1, 2, 2),
            ("wrong", 2, 1, 2),
            ("fp", 0, 3, 1),
        ]

    def test_a_far_false_positive_in_a_volume(self) -> None:
        gt = np.zeros((20, 20, 20), dtype=np.uint8)
        gt[5:10, 5:10, 5:10] = 1
        pred = gt.copy()
        pred[5, 5:10, 5:10] = 0
        pred[15:17, 5:10, 5:10] = 1
        first, second = error_components(gt, pred, spacing=(5, 1, 1), with_distance=True)
        assert (first.kind, first.voxels, first.volume_mm3, first.farthest_mm) == ("fp", 50, 250.0, 35.0)
        assert (first.centroid, first.box) == ((15.5, 7.0, 7.0), ((15, 17), (5, 10), (5, 10)))
        assert (second.kind, second.voxels, second.farthest_mm) == ("fn", 25, 5.0)

    def test_masks_of_a_region(self) -> None:
        gt, pred = drawn("12..") > 0, drawn(".21.") > 0
        found = error_components(gt, pred, spacing=(1, 1))
        assert [(c.kind, c.gt_label, c.pred_label) for c in found] == [("fn", 1, 0), ("fp", 0, 1)]

    def test_a_region_is_one_mask_whose_pieces_say_what_most_of_them_is_on_both_sides(self) -> None:
        gt, pred = drawn("1233.."), drawn("3.11.1")
        found = error_components(gt, pred, spacing=(1, 1), ids=[1, 2], as_one=True, with_distance=True)
        assert [(c.kind, c.gt_label, c.pred_label, c.voxels, c.farthest_mm) for c in found] == [
            # of two equally common ids the lower; the last voxel of the region in gt is column 1, of pred 2 is nearest
            ("fn", 1, 0, 2, 2.0),
            ("fp", 3, 1, 2, 2.0),
            ("fp", 0, 1, 1, 4.0),
        ]
        masks = error_components((gt == 1) | (gt == 2), pred == 1, spacing=(1, 1))
        assert len(masks) == 3

    def test_the_middle_voxel_of_a_bent_piece_lies_in_it(self) -> None:
        gt = drawn("1...1", "1...1", "11111")
        (found,) = error_components(gt, np.zeros_like(gt), spacing=(1, 1))
        assert found.centroid == pytest.approx((12 / 9, 2.0))
        assert found.voxel == (2, 2)
        # with rows of 9 mm the middle of the lower row is 6 mm away, the side of the second row 3.6 mm
        (found,) = error_components(gt, np.zeros_like(gt), spacing=(9, 1))
        assert found.voxel == (1, 0)

    def test_a_list_that_is_cut_keeps_the_totals_of_all(self) -> None:
        found = error_pieces(self.GT, self.PRED, spacing=(2.0, 0.5), limit=2)
        assert [(c.id, c.kind) for c in found.listed] == [(1, "fp"), (2, "fn")]
        assert found.n_pieces == 6
        assert found.totals == {"fp": KindTotal(3, 3), "fn": KindTotal(2, 2), "wrong": KindTotal(1, 1)}
        assert [axis.tolist() for axis in found.index(1)] == [[1], [1]]

    def test_nothing_wrong_and_nothing_there(self) -> None:
        assert error_components(self.GT, self.GT, spacing=(1, 1)) == []
        nothing = np.zeros((3, 3), dtype=np.uint8)
        assert error_components(nothing, nothing, spacing=(1, 1), with_distance=True) == []

    def test_ids_of_31_bits(self) -> None:
        gt = np.array([[2**31, 0, 2**31]])
        (found,) = error_components(gt, gt * [1, 1, 0], spacing=(1, 1))
        assert (found.gt_label, found.box) == (2**31, ((0, 1), (2, 3)))


class TestProperties:
    @given(label_pairs(), st.sampled_from(["corners", "faces"]))
    def test_pieces_are_those_of_each_pair_of_ids(self, case: Any, connectivity: Any) -> None:
        gt, pred, spacing = case
        found = error_components(gt, pred, spacing=spacing, connectivity=connectivity)
        structure = ndimage.generate_binary_structure(gt.ndim, gt.ndim if connectivity == "corners" else 1)
        expected = []
        for g in range(4):
            for p in range(4):
                if g != p:
                    pieces, n = ndimage.label((gt == g) & (pred == p), structure=structure)
                    for i in range(1, n + 1):
                        at = np.argwhere(pieces == i)
                        expected.append((g, p, len(at), tuple(at.min(axis=0).tolist()), tuple(at.mean(axis=0))))
        got = [
            (c.gt_label, c.pred_label, c.voxels, tuple(low for low, _ in c.box), pytest.approx(c.centroid))
            for c in found
        ]
        assert len(got) == len(expected)
        assert all(entry in got for entry in expected)

    @given(label_pairs())
    def test_voxels_and_kinds_add_up_to_the_error_map(self, case: Any) -> None:
        gt, pred, spacing = case
        found = error_components(gt, pred, spacing=spacing)
        errors = error_map(gt, pred)
        for kind, value in KINDS.items():
            assert sum(c.voxels for c in found if c.kind == kind) == (errors == value).sum()

    @given(label_pairs(), st.booleans(), st.sampled_from([None, (1, 2)]))
    def test_pieces_part_the_wrong_voxels_and_their_middle_voxel_is_the_nearest_to_the_centroid(
        self, case: Any, as_one: bool, ids: Any
    ) -> None:
        gt, pred, spacing = case
        if np.isfortran(gt):
            pred = np.asfortranarray(pred)
        found = error_pieces(gt, pred, spacing=spacing, ids=ids, as_one=as_one)
        errors = error_map(gt, pred, ids=ids, as_one=as_one)
        seen = np.zeros(gt.shape, dtype=np.int64)
        for place, piece in enumerate(found.listed):
            index = found.index(place)
            np.add.at(seen, index, 1)
            assert {int(v) for v in errors[index]} == {KINDS[piece.kind]}
            away = np.linalg.norm((np.stack(index, axis=1) - piece.centroid) * spacing, axis=1)
            mine = np.linalg.norm((np.array(piece.voxel) - piece.centroid) * spacing)
            assert list(piece.voxel) in np.stack(index, axis=1).tolist()
            assert mine == pytest.approx(away.min())
        assert (seen == (errors > 1)).all()
        for kind, value in KINDS.items():
            assert found.totals.get(kind, KindTotal()).voxels == (errors == value).sum()

    @given(label_pairs())
    def test_ranks_follow_the_volume(self, case: Any) -> None:
        gt, pred, spacing = case
        found = error_components(gt, pred, spacing=spacing)
        assert [c.id for c in found] == list(range(1, len(found) + 1))
        volumes = [c.volume_mm3 for c in found]
        assert volumes == sorted(volumes, reverse=True)
        assert all(v == pytest.approx(c.voxels * np.prod(spacing)) for v, c in zip(volumes, found, strict=True))

    @given(label_pairs())
    def test_farthest_voxel_lies_in_its_piece_that_far_from_the_other_mask(self, case: Any) -> None:
        gt, pred, spacing = case
        for c in error_components(gt, pred, spacing=spacing, with_distance=True):
            other = np.argwhere(pred == c.gt_label if c.kind == "fn" else gt == c.pred_label)
            if c.farthest_voxel is None:
                assert c.farthest_mm is None
                assert len(other) == 0
                continue
            assert gt[c.farthest_voxel] == c.gt_label
            assert pred[c.farthest_voxel] == c.pred_label
            # From outside a mask its surface is as near as the mask.
            assert c.farthest_mm == pytest.approx(
                cdist([np.multiply(c.farthest_voxel, spacing)], other * spacing).min()
            )

    @given(label_pairs())
    def test_memory_order_does_not_matter(self, case: Any) -> None:
        gt, pred, spacing = case
        expected = error_components(gt, pred, spacing=spacing, with_distance=True)
        turned = error_components(np.asfortranarray(gt), np.asfortranarray(pred), spacing=spacing, with_distance=True)
        assert turned == expected

    @given(label_pairs())
    def test_background_around_moves_places_only(self, case: Any) -> None:
        gt, pred, spacing = case
        plain = error_components(gt, pred, spacing=spacing, with_distance=True)
        padded = error_components(np.pad(gt, 2), np.pad(pred, 2), spacing=spacing, with_distance=True)
        assert [(c.id, c.kind, c.voxels, c.farthest_mm) for c in padded] == [
            (c.id, c.kind, c.voxels, pytest.approx(c.farthest_mm)) for c in plain
        ]
        assert [c.box for c in padded] == [tuple((low + 2, high + 2) for low, high in c.box) for c in plain]


class TestRefusals:
    def test_shapes_types_spacing_and_connectivity(self) -> None:
        good = np.zeros((3, 3), dtype=np.uint8)
        with pytest.raises(MetricInputError, match="nothing is broadcast"):
            error_components(good, good[:1], spacing=(1, 1))
        with pytest.raises(MetricInputError, match="float64"):
            error_components(good, good.astype(float), spacing=(1, 1))
        with pytest.raises(MetricInputError, match="expected 2 positive numbers"):
            error_components(good, good, spacing=(1, 0))
        with pytest.raises(MetricInputError, match="expected corners or faces"):
            error_components(good, good, spacing=(1, 1), connectivity=26)  # type: ignore[arg-type]
