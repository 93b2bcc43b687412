"""Lesion-wise scores against values of the reference code, and against the definition carried out plainly."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy import ndimage

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.lesionwise import BRATS_2023, Lesion, lesionwise
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.metrics.surfel import surfel_hd

Mask = NDArray[np.bool_]
ONE = (1.0, 1.0, 1.0)


def cubes(*boxes: tuple[int, int], side: int = 40) -> Mask:
    """Return cubes from and to an index, the same along every axis."""
    mask = np.zeros((side,) * 3, dtype=bool)
    for start, stop in boxes:
        mask[start:stop, start:stop, start:stop] = True
    return mask


TUMOUR = cubes((5, 13))
SHIFTED = np.roll(TUMOUR, 1, axis=0)
FALSE = cubes((30, 34))


class TestValuesOfTheReferenceCode:
    def test_one_lesion_shifted_by_one_voxel(self) -> None:
        found = lesionwise(TUMOUR, SHIFTED, spacing=ONE)
        assert (found.dice, found.hd95_mm) == (0.875, 1.0)
        assert (found.tp, found.fn, found.fp) == (1, 0, 0)
        assert found.lesions == (Lesion(512.0, 1, 0.875, 1.0, True, ((5, 13),) * 3),)

    def test_a_false_lesion_besides(self) -> None:
        pred = SHIFTED | FALSE
        found = lesionwise(TUMOUR, pred, spacing=ONE)
        assert (found.dice, found.hd95_mm) == (0.4375, 187.5)
        assert (found.tp, found.fn, found.fp) == (1, 0, 1)
        # The whole image taken as one, for comparison.
        assert overlap_table(TUMOUR, pred).region([1]).dice == pytest.approx(0.8235, abs=5e-5)
        assert surfel_hd(TUMOUR, pred, spacing=ONE) == pytest.approx(34.1321, abs=5e-5)

    def test_empty_ground_truth(self) -> None:
        found = lesionwise(np.zeros_like(FALSE), FALSE, spacing=ONE)
        assert (found.dice, found.hd95_mm, found.fp, found.lesions) == (0.0, 374.0, 1, ())

    def test_empty_prediction(self) -> None:
        found = lesionwise(TUMOUR, np.zeros_like(FALSE), spacing=ONE)
        assert (found.dice, found.hd95_mm, found.fn) == (0.0, 374.0, 1)
        assert found.lesions[0].pred_pieces == 0

    def test_no_lesion_at_all(self) -> None:
        nothing = np.zeros_like(FALSE)
        assert astuple(lesionwise(nothing, nothing, spacing=ONE)) == (1.0, 0.0, 0, 0, 0, ())


class TestRules:
    def test_the_penalty_is_an_argument(self) -> None:
        assert lesionwise(TUMOUR, SHIFTED | FALSE, spacing=ONE, penalty_mm=100).hd95_mm == 50.5

    def test_pieces_whose_dilations_touch_are_one_lesion(self) -> None:
        # Along one axis 6 background voxels lie between them: 3 steps from either side close the gap.
        gt = np.zeros((30, 12, 12), dtype=bool)
        gt[2:6, 4:8, 4:8] = gt[12:16, 4:8, 4:8] = True
        assert [lesion.volume_mm3 for lesion in lesionwise(gt, gt, spacing=ONE).lesions] == [128.0]
        apart = lesionwise(gt, gt, spacing=ONE, dilation=2)
        assert [lesion.box[0] for lesion in apart.lesions] == [(2, 6), (12, 16)]

    def test_a_piece_near_a_lesion_belongs_to_it_without_overlap(self) -> None:
        gt, pred = np.zeros((2, 30, 12, 12), dtype=bool)
        gt[2:6, 4:8, 4:8] = pred[8:12, 4:8, 4:8] = True
        found = lesionwise(gt, pred, spacing=ONE)
        assert (found.tp, found.fp, found.dice) == (1, 0, 0.0)
        assert 0 < found.hd95_mm < 10
        far = lesionwise(gt, pred, spacing=ONE, dilation=2)
        assert (far.fn, far.fp, far.dice, far.hd95_mm) == (1, 1, 0.0, 374.0)

    def test_one_piece_may_belong_to_two_lesions(self) -> None:
        gt, pred = np.zeros((2, 30, 12, 12), dtype=bool)
        gt[2:6, 4:8, 4:8] = gt[20:24, 4:8, 4:8] = pred[2:24, 4:8, 4:8] = True
        found = lesionwise(gt, pred, spacing=ONE)
        assert (found.tp, found.fn, found.fp) == (2, 0, 0)
        assert found.dice == pytest.approx(2 * 64 / (64 + 352))

    def test_lesions_up_to_the_limit_count_neither_found_nor_missed(self) -> None:
        small, large = cubes((30, 33)), TUMOUR
        gt = large | small
        for pred in (large, large | small):
            found = lesionwise(gt, pred, spacing=ONE)
            assert (found.dice, found.hd95_mm, found.tp, found.fn, found.fp) == (1.0, 0.0, 1, 0, 0)
            assert [lesion.counts for lesion in found.lesions] == [True, False]
        assert lesionwise(gt, large, spacing=ONE, min_volume_mm3=27).fn == 0
        assert lesionwise(gt, large, spacing=ONE, min_volume_mm3=26.9).fn == 1
        # In mm3: voxels of 2 mm make the same lesion eight times as large.
        assert lesionwise(gt, large, spacing=(2, 2, 2)).fn == 1

    def test_only_small_lesions_are_as_good_as_none(self) -> None:
        found = lesionwise(cubes((30, 33)), np.zeros((40,) * 3, dtype=bool), spacing=ONE)
        assert (found.dice, found.hd95_mm) == (1.0, 0.0)

    def test_invented_pieces_count_whatever_their_size(self) -> None:
        pred = TUMOUR | cubes((30, 31), (33, 34))
        assert lesionwise(TUMOUR, pred, spacing=ONE).fp == 2

    def test_parameters_of_the_tasks(self) -> None:
        assert dict(BRATS_2023) == {"GLI": (3, 50), "SSA": (3, 50), "PED": (3, 50), "MEN": (1, 50), "MET": (1, 2)}


def by_definition(gt: Mask, pred: Mask, spacing: Any, dilation: int, limit: float) -> tuple[float, float, int]:
    """Return dice, HD95 and the number of invented pieces, every lesion dilated by itself and on the whole array."""
    around, eighteen = np.ones((3, 3, 3)), ndimage.generate_binary_structure(3, 2)
    blobs, n = ndimage.label(ndimage.binary_dilation(gt, eighteen, dilation), around)
    pieces, n_pieces = ndimage.label(pred, around)
    used: set[int] = set()
    pairs = []
    for number in range(1, n + 1):
        lesion = gt & (blobs == number)
        mine = set(pieces[ndimage.binary_dilation(lesion, eighteen, dilation)].tolist()) - {0}
        used |= mine
        if lesion.sum() * np.prod(spacing) <= limit:
            continue
        found = np.isin(pieces, list(mine))
        dice = 2 * (lesion & found).sum() / (lesion.sum() + found.sum())
        pairs.append((dice, surfel_hd(lesion, found, spacing=spacing) if mine else 374.0))
    fp = n_pieces - len(used)
    pairs += [(0.0, 374.0)] * fp
    means = np.mean(pairs, axis=0) if pairs else (1.0, 0.0)
    return float(means[0]), float(means[1]), fp


@st.composite
def lesions(draw: st.DrawFn) -> tuple[Mask, Mask]:
    """A few scattered voxels and blocks on both sides, not rarely at the border."""
    shape = draw(hnp.array_shapes(min_dims=3, max_dims=3, min_side=3, max_side=12))
    masks = []
    for _ in range(2):
        mask = np.zeros(shape, dtype=bool)
        for _ in range(draw(st.integers(0, 5))):
            start = [draw(st.integers(0, n - 1)) for n in shape]
            size = draw(st.integers(1, 3))
            mask[tuple(slice(s, s + size) for s in start)] = True
        masks.append(mask)
    return masks[0], masks[1]


class TestAgainstTheDefinition:
    @settings(deadline=None)
    @given(
        lesions(), st.integers(1, 3), st.sampled_from([0.0, 2.0, 8.0, 50.0]), st.sampled_from([ONE, (3.0, 0.5, 1.0)])
    )
    def test_equal(self, masks: tuple[Mask, Mask], dilation: int, limit: float, spacing: Any) -> None:
        gt, pred = masks
        found = lesionwise(gt, pred, spacing=spacing, dilation=dilation, min_volume_mm3=limit)
        dice, hd95, fp = by_definition(gt, pred, spacing, dilation, limit)
        assert found.dice == pytest.approx(dice, abs=1e-12)
        assert found.hd95_mm == pytest.approx(hd95, rel=1e-12, abs=1e-12)
        assert found.fp == fp
        assert found.tp + found.fn == sum(lesion.counts for lesion in found.lesions)
        assert sum(lesion.volume_mm3 for lesion in found.lesions) == pytest.approx(gt.sum() * np.prod(spacing))

    @settings(deadline=None)
    @given(lesions())
    def test_a_perfect_prediction_and_background_around(self, masks: tuple[Mask, Mask]) -> None:
        gt, pred = masks
        perfect = lesionwise(gt, gt, spacing=ONE)
        assert (perfect.dice, perfect.hd95_mm) == (1.0, 0.0)
        plain = lesionwise(gt, pred, spacing=ONE)
        padded = lesionwise(np.pad(gt, 4), np.pad(pred, 4), spacing=ONE)
        assert (padded.dice, padded.hd95_mm, padded.fp) == pytest.approx((plain.dice, plain.hd95_mm, plain.fp))


class TestRefusals:
    @pytest.mark.parametrize(
        ("gt", "pred", "words"),
        [
            (np.zeros((2, 2, 2), bool), np.zeros((2, 2, 1), bool), "nothing is broadcast"),
            (np.zeros((2, 2, 2), np.uint8), np.zeros((2, 2, 2), bool), "uint8"),
            (np.zeros((2, 2), bool), np.zeros((2, 2), bool), "2 axes"),
        ],
    )
    def test_masks(self, gt: Any, pred: Any, words: str) -> None:
        with pytest.raises(MetricInputError, match=words):
            lesionwise(gt, pred, spacing=[1.0] * gt.ndim)

    @pytest.mark.parametrize(
        "options",
        [{"dilation": -1}, {"min_volume_mm3": float("nan")}, {"penalty_mm": float("inf")}, {"penalty_mm": -1.0}],
    )
    def test_numbers(self, options: Any) -> None:
        with pytest.raises(MetricInputError, match="expected 0 or more"):
            lesionwise(TUMOUR, TUMOUR, spacing=ONE, **options)

    def test_spacing(self) -> None:
        with pytest.raises(MetricInputError, match="spacing"):
            lesionwise(TUMOUR, TUMOUR, spacing=(1, 1))
