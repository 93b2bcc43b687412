"""Of what surfaces are drawn, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.formats.images import pixel_grid
from medotter_viewer.ui.surface_targets import (
    SurfaceTarget,
    mesh_data,
    scale_ends,
    scale_words,
    surface_lines,
    surface_target,
)

GRID = Grid((12, 14, 16), np.diag([1.0, 2.0, 3.0, 1.0]))
SPEC = EvalSpec.from_mapping(
    {"eval_regions": {"one": [1], "two": [2]}, "metrics": ["dice", "hd95"], "main_region": "two"}
)
NUCLEI = EvalSpec.from_mapping({"task_type": "instance_seg_3d", "eval_regions": {"nucleus": [1]}})


def labels(shift: int = 0) -> Any:
    data = np.zeros(GRID.shape, dtype=np.uint8)
    data[2:5, 3:6, 4:8] = 1
    data[6 + shift : 9 + shift, 7:11, 9:13] = 2
    return data


def case_of(gt: Any = None, pred: Any = None, grid: Grid = GRID) -> Case:
    maps = [LabelMap(a, grid) for a in (labels() if gt is None else gt, labels(1) if pred is None else pred)]
    entry = CaseEntry("D/1", dataset="D", remap=Remap(None, "none"))
    return Case(entry, gt_native=maps[0], gt=maps[0], pred=maps[1])


def found(*args: Any, **options: Any) -> SurfaceTarget:
    target = surface_target(*args, **options)
    assert isinstance(target, SurfaceTarget), target
    return target


def test_the_region_that_is_looked_at_else_the_headlines_else_all() -> None:
    assert found(case_of(), SPEC, region="one").name == "one"
    assert found(case_of(), SPEC).name == "two"
    mean = replace(SPEC, headline=replace(SPEC.headline, region="macro_avg"))
    assert found(case_of(), mean).name == "all labels"


def test_meshes_are_in_displayed_order() -> None:
    target = found(case_of(), SPEC, region="one")
    data = mesh_data(target.measure(), "gt")
    assert data is not None
    # RAS is shown the other way round on each axis: k 4..7 of 16 is I 8..11, j 3..5 of 14 is P 8..10, i 2..4 is L 7..9
    np.testing.assert_allclose(data[0].min(axis=0), (7.5, 7.5, 6.5))
    np.testing.assert_allclose(data[0].max(axis=0), (11.5, 10.5, 9.5))
    assert target.order.scale == (3.0, 2.0, 1.0)
    assert not data[2].any()


def test_the_prediction_is_coloured_by_its_distance_and_the_scale_ends_at_the_scored_hd95() -> None:
    score = CaseScore(
        "D/1", "scored", regions={"two": RegionScore({"hd95": MetricValue(0.8), "dice": MetricValue(0.5)})}
    )
    target = found(case_of(), SPEC, score=score)
    pair = target.measure()
    data = mesh_data(pair, "pred")
    assert data is not None
    assert data[2].max() == 1.0  # shifted by one voxel of 1 mm
    assert pair.top_mm == 0.8
    assert scale_ends(pair, target) == (0.0, 1.0)  # less than a voxel says nothing
    capped = replace(score, regions={"two": RegionScore({"hd95": MetricValue(400.0, "cap", "image_diagonal")})})
    assert found(case_of(), SPEC, score=capped).measure().top_mm == 1.0  # measured: a cap is no distance


def test_the_scale_is_told_in_words_with_its_end_and_the_farthest() -> None:
    target = found(case_of(pred=labels(3)), SPEC)
    pair = target.measure()
    assert scale_words(pair, target, 4) == ["0 mm", "1 mm", "2 mm", "3 mm (hd95) and more, up to 3"]
    same = found(case_of(pred=labels()), SPEC)
    assert scale_words(same.measure(), same, 2) == ["0 mm", "1 mm (a voxel) and more, up to 0"]


def cubes(first: int, second: int) -> Any:
    """Two cubes of 2 x 2 x 2 voxels, of 1 x 2 x 3 mm, 6 voxels apart along the third axis."""
    data = np.zeros(GRID.shape, dtype=np.uint8)
    data[4:6, 4:6, 2:4], data[4:6, 4:6, 8:10] = first, second
    return data


def test_of_all_labels_each_is_measured_against_its_own_so_that_swapped_ones_are_far_off() -> None:
    mean = replace(SPEC, headline=replace(SPEC.headline, region="macro_avg"))
    target = found(case_of(cubes(1, 2), cubes(2, 1)), mean)
    pair = target.measure()
    assert pair.distances_mm is not None
    assert (pair.distances_mm.min(), pair.distances_mm.max()) == (12.0, 18.0)  # 4 or 6 steps of 3 mm
    assert scale_words(pair, target, 2) == ["0 mm", "18 mm (hd95 of the worst label) and more, up to 18"]
    same = found(case_of(cubes(1, 2), cubes(1, 2)), mean).measure()
    assert same.distances_mm is not None
    assert same.distances_mm.max() == 0.0


def test_labels_that_ground_truth_lacks_are_at_the_dark_end_and_that_is_said() -> None:
    mean = replace(SPEC, headline=replace(SPEC.headline, region="macro_avg"))
    target = found(case_of(cubes(1, 0), cubes(1, 2)), mean)
    pair = target.measure()
    data = mesh_data(pair, "pred")
    assert data is not None
    assert set(data[2].tolist()) == {0.0, 1e6}
    assert data[1].max() == len(data[0]) - 1
    assert surface_lines(target, pair) == ["surfaces of all labels", "darkest also: labels that ground truth lacks"]
    assert scale_words(pair, target, 2)[-1] == "1 mm (a voxel) and more, up to 0"


def test_very_many_labels_are_drawn_as_one_mask_and_that_is_said() -> None:
    data = np.zeros(GRID.shape, dtype=np.uint8)
    data.reshape(-1)[: 41 * 20 : 20] = np.arange(1, 42)
    spec = EvalSpec.from_mapping(
        {"eval_regions": {f"r{i}": [i] for i in range(1, 42)}, "metrics": ["dice"], "main_region": "r1"}
    )
    spec = replace(spec, headline=replace(spec.headline, region="macro_avg"))
    target = found(case_of(data, data), spec)
    assert (target.name, target.each_label) == ("all regions as one mask", False)


def test_what_is_missing_or_halved_is_said() -> None:
    target = found(case_of(pred=np.zeros(GRID.shape, dtype=np.uint8)), SPEC)
    pair = target.measure()
    assert surface_lines(target, pair) == ["surfaces of two", "no prediction: no distances"]
    assert mesh_data(pair, "pred") is None
    assert surface_lines(target, replace(pair, halvings=1, pred=pair.gt)) == [
        "surfaces of two",
        "large: halved, voxels of 6 x 4 x 2 mm",
    ]


def test_of_instances_the_pair_alone_is_drawn() -> None:
    target = found(case_of(), NUCLEI, objects=(1, 2))
    assert target.name == "gt 1 and pred 2"
    pair = target.measure()
    assert pair.gt is not None
    assert pair.pred is not None
    np.testing.assert_allclose(pair.gt.vertices.max(axis=0), (11.5, 10.5, 9.5))
    np.testing.assert_allclose(pair.pred.vertices.min(axis=0), (2.5, 2.5, 1.5))
    assert found(case_of(), NUCLEI, objects=(1, None)).name == "gt 1"


def test_why_there_is_no_surface_is_said() -> None:
    assert surface_target(case_of(), NUCLEI) == "choose an object first: a row under Instances, or J"
    flat = np.zeros((1, 5, 5), dtype=np.uint8)
    assert surface_target(case_of(flat, flat, pixel_grid(flat.shape)), SPEC) == "a single slice has no surface"
    bare = replace(case_of(), gt=None, gt_native=None, pred=None)
    assert surface_target(bare, SPEC) == "surfaces are drawn of label maps: this case has none"
