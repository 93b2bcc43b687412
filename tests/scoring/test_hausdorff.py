"""The metric hd of regions: the Hausdorff distance in mm, against hand values and scipy's own."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion, generate_binary_structure
from scipy.spatial.distance import directed_hausdorff

from medotter_viewer.cache.scores import score_through_cache
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.scoring.arrays import label_scores
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import ADAPTERS, score_case
from medotter_viewer.sources.opening import open_source

Array = NDArray[Any]


def scored(gt: Array, pred: Array, options: ScoreOptions | None = None, **keys: Any) -> CaseScore:
    spec = EvalSpec.from_mapping({"eval_regions": {"one": [1]}, "metrics": ["dice", "hd"], **keys})
    maps = [LabelMap(a, Grid(a.shape, np.diag([1.0, 2.0, 3.0, 1.0]))) for a in (gt, pred)]
    entry = CaseEntry("SET/1", remap=Remap(None, "none"))
    return score_case(Case(entry, gt_native=maps[0], gt=maps[0], pred=maps[1]), spec, options)


def dots(*places: tuple[int, int, int]) -> Array:
    array = np.zeros((4, 4, 4), dtype=np.uint8)
    for place in places:
        array[place] = 1
    return array


def surface_mm(mask: Array, spacing: tuple[float, ...]) -> Array:
    """Surface voxels as scipy finds them, in mm."""
    inner = binary_erosion(mask, generate_binary_structure(mask.ndim, 1), border_value=0)
    return np.argwhere(mask & ~inner) * np.array(spacing)


def test_it_is_the_farthest_voxel_of_either_side_in_mm() -> None:
    # From (3, 0, 1) of the prediction the ground truth's voxel is 3 steps of 1 mm and 1 step of 3 mm away.
    score = scored(dots((0, 0, 0)), dots((0, 0, 0), (3, 0, 1)))
    assert score.regions["one"].metrics["hd"] == MetricValue(pytest.approx(sqrt(18)))


def test_one_far_voxel_of_many_decides_where_hd95_does_not_see_it() -> None:
    gt = np.zeros((40, 10, 10), dtype=np.uint8)
    gt[:20] = 1
    pred = gt.copy()
    pred[39, 5, 5] = 1
    values = label_scores(gt, pred, spacing=(1, 1, 1), metrics=("hd95", "hd"))["1"]
    assert (values["hd95"].value, values["hd"].value) == (0.0, 20.0)


@pytest.mark.parametrize("name", ["pooled", "mean", "surfel"])
def test_it_does_not_depend_on_which_hd95_is_chosen(name: Any) -> None:
    gt, pred = dots((0, 0, 0)), dots((0, 0, 0), (0, 2, 0))
    score = scored(gt, pred, ScoreOptions(("hd", "hd95"), name))
    assert score.regions["one"].metrics["hd"].value == 4.0


@pytest.mark.parametrize(
    ("gt", "pred", "table", "expected"),
    [
        ([], [], {}, MetricValue(0.0, "absent", "both_empty")),
        ([(0, 0, 0)], [], {}, MetricValue(4 * sqrt(14), "cap", "image_diagonal")),
        ([], [(0, 0, 0)], {"hd": {"gt_empty_pred_nonempty": 99}}, MetricValue(99.0, "cap", "gt_empty_pred_nonempty")),
        ([], [(0, 0, 0)], {"hd95": {"gt_empty_pred_nonempty": 9}}, MetricValue(4 * sqrt(14), "cap", "image_diagonal")),
    ],
)
def test_an_empty_side_takes_the_value_of_its_own_rule(
    gt: Any, pred: Any, table: dict[str, dict[str, float]], expected: MetricValue
) -> None:
    found = scored(dots(*gt), dots(*pred), empty_structure=table).regions["one"].metrics["hd"]
    assert (found.status, found.rule) == (expected.status, expected.rule)
    assert found.value == pytest.approx(expected.value)


def test_a_specification_that_does_not_name_it_has_none() -> None:
    score = scored(dots((0, 0, 0)), dots((0, 0, 0)), metrics=["dice", "hd95"])
    assert list(score.regions["one"].metrics) == ["dice", "hd95"]
    assert "hd" not in label_scores(dots((0, 0, 0)), dots((0, 0, 0)), spacing=(1, 1, 1))["1"]


def test_the_window_computes_it_for_vertebrae_and_where_the_specification_names_it() -> None:
    seg, vertebrae = ADAPTERS["seg"], ADAPTERS["vertebra"]
    without, named = (EvalSpec.from_mapping({"eval_regions": {"a": [1]}, "metrics": m}) for m in (["dice"], ["hd"]))
    assert (seg.shown(without), seg.shown(named)) == (("dice", "iou", "hd95"), ("dice", "iou", "hd95", "hd"))
    assert "hd" in vertebrae.shown(without)


@given(
    hnp.arrays(bool, (5, 4, 3)),
    hnp.arrays(bool, (5, 4, 3)),
    st.tuples(*[st.sampled_from([0.5, 1.0, 3.0])] * 3),
)
def test_it_equals_scipys_over_the_surface_voxels(gt: Array, pred: Array, spacing: tuple[float, ...]) -> None:
    assume(gt.any() and pred.any())
    one, other = surface_mm(gt, spacing), surface_mm(pred, spacing)
    expected = max(directed_hausdorff(one, other)[0], directed_hausdorff(other, one)[0])
    found = label_scores(gt.astype(np.uint8), pred.astype(np.uint8), spacing=spacing, metrics="hd")["1"]["hd"].value
    assert found == pytest.approx(expected, abs=1e-9)


def test_it_is_remembered_apart_from_hd95(tmp_path: Any) -> None:
    import nibabel as nib

    for name, array in {"gt": dots((0, 0, 0)), "pred": dots((0, 0, 0), (0, 0, 3))}.items():
        nib.save(nib.Nifti1Image(array, np.eye(4)), tmp_path / f"{name}.nii.gz")
    entry = CaseEntry(
        "1", gt_path=tmp_path / "gt.nii.gz", pred_path=tmp_path / "pred.nii.gz", remap=Remap(None, "none")
    )
    spec = EvalSpec.from_mapping({"eval_regions": {"one": [1]}})
    options = ScoreOptions(("hd95", "hd"))
    cache = FactCache(tmp_path / "facts.sqlite")
    found = [score_through_cache(entry, spec, options, cache=cache) for _ in range(2)]
    assert found[0].regions == found[1].regions
    values = {m: v.value for m, v in found[1].regions["one"].metrics.items()}
    assert values == {"hd95": pytest.approx(0.95 * 3), "hd": 3.0}


@pytest.mark.parametrize(
    ("model", "case"), [("derived", "TPTBox/sub-ct_label-22"), ("shift_drop", "TotalSegmentator_spine/example_ct")]
)
def test_it_is_the_value_that_others_computed_for_real_vertebrae(shared_data: Path, model: str, case: str) -> None:
    folder = shared_data / "bundles/spine_ct_verse"
    expected = json.loads((folder / "expected.json").read_text())["models"][model]["cases"][case]["regions"]
    source = open_source(folder / "bundle", predictions=folder / "predictions" / model)
    found = score_case(source.load(case, images=False), source.spec, ScoreOptions(("hd",))).regions
    assert {name: found[name].metrics["hd"].value for name in expected} == {
        name: pytest.approx(values["hd100"], abs=1e-6) for name, values in expected.items()
    }
