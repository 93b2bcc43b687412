"""How wrong each slice is, counted by hand, and the same however a file stores its axes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.scoring.slices import region_centre, scored_ids, slice_profile

Array = NDArray[Any]
SPEC = EvalSpec.from_mapping({"eval_regions": {"one": [1], "two": [2], "both": [1, 2]}, "partial_label": True})
SPACING = (1.0, 2.0, 3.0)


def case_of(gt: Array | None, pred: Array | None, affine: Array | None = None, remap: Remap | None = None) -> Case:
    affine = np.diag([*SPACING, 1.0]) if affine is None else affine
    maps = [None if a is None else LabelMap(a, Grid(a.shape, affine)) for a in (gt, pred)]
    return Case(CaseEntry("SET/1", remap=remap or Remap(None, "none")), gt_native=maps[0], gt=maps[0], pred=maps[1])


@pytest.fixture
def maps() -> tuple[Array, Array]:
    """4 x 3 x 5 voxels of 1 x 2 x 3 mm, axes to the right, front and head.

    At height 1 four voxels are right; at 2 two are missed; at 3 one is invented and one has the wrong label.
    """
    gt, pred = np.zeros((4, 3, 5), dtype=np.uint8), np.zeros((4, 3, 5), dtype=np.uint8)
    gt[:, 0, 1] = pred[:, 0, 1] = 1
    gt[0, :2, 2] = 1
    pred[3, 2, 3] = 1
    gt[2, 2, 3], pred[2, 2, 3] = 1, 2
    return gt, pred


class TestProfile:
    def test_axial_slices_run_from_the_head_down(self, maps: tuple[Array, Array]) -> None:
        profile = slice_profile(case_of(*maps), SPEC, region="one", axis=0)
        assert profile is not None
        assert profile.gt.tolist() == [0, 1, 2, 4, 0]
        assert profile.pred.tolist() == [0, 1, 0, 4, 0]
        assert profile.both.tolist() == [0, 0, 0, 4, 0]
        assert profile.pixel_area_mm2 == pytest.approx(2.0)
        assert profile.error_mm2.tolist() == [0, 4, 4, 0, 0]
        np.testing.assert_array_equal(profile.dice, [np.nan, 0, 0, 1, np.nan])

    def test_coronal_slices_run_from_the_front_back(self, maps: tuple[Array, Array]) -> None:
        profile = slice_profile(case_of(*maps), SPEC, region="one", axis=1)
        assert profile is not None
        assert profile.gt.tolist() == [1, 1, 5]
        assert profile.pred.tolist() == [1, 0, 4]
        assert profile.both.tolist() == [0, 0, 4]
        assert profile.pixel_area_mm2 == pytest.approx(3.0)

    def test_sagittal_slices_run_from_right_to_left(self, maps: tuple[Array, Array]) -> None:
        profile = slice_profile(case_of(*maps), SPEC, region="one", axis=2)
        assert profile is not None
        assert profile.gt.tolist() == [1, 2, 1, 3]
        assert profile.pred.tolist() == [2, 1, 1, 1]
        assert profile.pixel_area_mm2 == pytest.approx(6.0)

    def test_all_regions_together_mind_the_label(self, maps: tuple[Array, Array]) -> None:
        profile = slice_profile(case_of(*maps), SPEC, axis=0)
        assert profile is not None
        assert profile.gt.tolist() == [0, 1, 2, 4, 0]
        assert profile.pred.tolist() == [0, 2, 0, 4, 0]
        assert profile.both.tolist() == [0, 0, 0, 4, 0]

    def test_a_union_does_not(self, maps: tuple[Array, Array]) -> None:
        profile = slice_profile(case_of(*maps), SPEC, region="both", axis=0)
        assert profile is not None
        assert profile.both.tolist() == [0, 1, 0, 4, 0]

    def test_the_mean_over_regions_means_all_of_them(self, maps: tuple[Array, Array]) -> None:
        every, macro = (slice_profile(case_of(*maps), SPEC, region=r, axis=0) for r in (None, "macro_avg"))
        assert every is not None
        assert macro is not None
        assert every.both.tolist() == macro.both.tolist()

    @pytest.mark.parametrize("axis", [0, 1, 2])
    @pytest.mark.parametrize("region", [None, "one", "both"])
    def test_storage_does_not_matter(self, maps: tuple[Array, Array], axis: int, region: str | None) -> None:
        expected = slice_profile(case_of(*maps), SPEC, region=region, axis=axis)
        assert expected is not None
        for order in itertools.permutations(range(3)):
            for flips in itertools.product([1, -1], repeat=3):
                affine = np.zeros((4, 4))
                affine[3, 3] = 1
                for stored, world in enumerate(order):
                    affine[world, stored] = SPACING[world] * flips[stored]
                    if flips[stored] < 0:
                        affine[world, 3] = SPACING[world] * (maps[0].shape[world] - 1)
                turned = [m.transpose(order)[tuple(slice(None, None, f) for f in flips)] for m in maps]
                found = slice_profile(case_of(*turned, affine), SPEC, region=region, axis=axis)
                assert found is not None
                for part in ("gt", "pred", "both"):
                    assert getattr(found, part).tolist() == getattr(expected, part).tolist()
                assert found.pixel_area_mm2 == pytest.approx(expected.pixel_area_mm2)
                assert found.worst == expected.worst

    def test_a_missing_side_counts_as_empty(self, maps: tuple[Array, Array]) -> None:
        gt, pred = maps
        missed, invented = slice_profile(case_of(gt, None), SPEC), slice_profile(case_of(None, pred), SPEC)
        assert missed is not None
        assert invented is not None
        assert missed.error_mm2.tolist() == [0, 2, 4, 8, 0]
        assert (missed.gt.tolist(), missed.pred.tolist()) == ([0, 1, 2, 4, 0], [0] * 5)
        assert (invented.gt.tolist(), invented.pred.tolist()) == ([0] * 5, [0, 2, 0, 4, 0])

    def test_nothing_to_compare_has_no_profile(self) -> None:
        assert slice_profile(case_of(None, None), SPEC) is None


class TestWorst:
    def test_the_slice_with_the_largest_error(self, maps: tuple[Array, Array]) -> None:
        gt, pred = maps
        pred[0, 0, 2] = 1  # one of the two misses at height 2 is made good: height 3, shown second, is worst
        profile = slice_profile(case_of(gt, pred), SPEC, region="one")
        assert profile is not None
        assert profile.worst == 1

    def test_without_errors_the_slice_with_most_of_the_region(self, maps: tuple[Array, Array]) -> None:
        profile = slice_profile(case_of(maps[0], maps[0]), SPEC, region="one")
        assert profile is not None
        assert profile.worst == 3

    def test_without_the_region_the_middle(self, maps: tuple[Array, Array]) -> None:
        profile = slice_profile(case_of(maps[0], maps[0]), SPEC, region="two")
        assert profile is not None
        assert profile.worst == 2


class TestScoredIds:
    def test_all_ids_of_labelled_regions_once(self) -> None:
        assert scored_ids(case_of(None, None), SPEC) == [1, 2]
        assert scored_ids(case_of(None, None), SPEC, "two") == [2]

    def test_regions_not_labelled_are_left_out(self, maps: tuple[Array, Array]) -> None:
        case = case_of(*maps, remap=Remap({5: 1}, "dict"))
        assert scored_ids(case, SPEC) == [1]
        profile = slice_profile(case, SPEC, axis=0)
        assert profile is not None
        assert profile.pred.tolist() == [0, 1, 0, 4, 0]


class TestCentre:
    def test_middle_of_the_box_of_both_sides(self, maps: tuple[Array, Array]) -> None:
        # Shown slice 1 is height 3: truth at i, j = 2, 2; prediction at 2, 2 as 2 and at 3, 2 as 1.
        # Shown rows run to the back (2 - j), shown columns to the left (3 - i).
        assert region_centre(case_of(*maps), SPEC, region="one", axis=0, index=1) == (1.0, 0.0, 0.5)
        assert region_centre(case_of(*maps), SPEC, region="two", axis=0, index=1) == (1.0, 0.0, 1.0)
        # Shown slice 2 is height 2: truth at i = 0, j = 0 and 1.
        assert region_centre(case_of(*maps), SPEC, region=None, axis=0, index=2) == (2.0, 1.5, 3.0)

    def test_along_the_other_axes(self, maps: tuple[Array, Array]) -> None:
        # Shown coronal slice 2 is j = 0: heights 1 (shown 3) and 2 (shown 2), all of i.
        assert region_centre(case_of(*maps), SPEC, region="one", axis=1, index=2) == (2.5, 2.0, 1.5)
        # Shown sagittal slice 0 is i = 3: (j 0, height 1) and (j 2, height 3).
        assert region_centre(case_of(*maps), SPEC, region="one", axis=2, index=0) == (2.0, 1.0, 0.0)

    def test_none_where_the_region_is_not(self, maps: tuple[Array, Array]) -> None:
        assert region_centre(case_of(*maps), SPEC, region="two", axis=0, index=3) is None
        assert region_centre(case_of(None, None), SPEC, region=None, axis=0, index=0) is None
