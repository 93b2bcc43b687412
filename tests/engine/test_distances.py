"""Both engines give the same distances, to the last bit, and the same tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.engine import choice, nearest, threads
from medotter_viewer.metrics.components import error_components
from medotter_viewer.metrics.hausdorff import assd, hausdorff, nsd, percentile_pair
from medotter_viewer.metrics.nearest import nearest_by_tree
from medotter_viewer.metrics.overlap import overlap_table
from medotter_viewer.metrics.region_surfaces import RegionSurfaces
from medotter_viewer.metrics.surface import surface_voxels
from medotter_viewer.metrics.surface_distances import SurfaceDistances, distances_between, surface_distances
from medotter_viewer.metrics.surfel import surfel_hd

STEPS = st.sampled_from([0.5, 0.7, 0.8, 1.0, 3.0, 5.0, 0.3333333])
Pair = tuple[NDArray[np.bool_], NDArray[np.bool_], tuple[float, ...]]


@st.composite
def mask_pairs(draw: st.DrawFn) -> Pair:
    """Noise, shifted blobs, single voxels and far pieces, some at the border, in one to three dimensions."""
    shape = tuple(draw(st.lists(st.integers(1, 14), min_size=1, max_size=3)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["noise", "voxels", "blob"]))
    gt, pred = np.zeros((2, *shape), dtype=bool)
    if kind == "noise":
        gt, pred = rng.random((2, *shape)) < rng.uniform(0.02, 0.9)
    if kind == "blob":
        gt[tuple(slice(n // 4, n - n // 5) for n in shape)] = True
        pred = np.roll(gt, rng.integers(-2, 3, len(shape)).tolist(), axis=tuple(range(len(shape))))
    for mask in (gt, pred):
        mask[tuple(rng.integers(0, shape))] = True
    steps = draw(st.lists(STEPS, min_size=len(shape), max_size=len(shape)))
    if draw(st.booleans()):
        gt, pred = np.asfortranarray(gt), np.asfortranarray(pred)
    return gt, pred, tuple(steps)


def by_voxel(found: SurfaceDistances) -> list[dict[tuple[int, ...], float]]:
    sides = (found.gt_index, found.gt_to_pred), (found.pred_index, found.pred_to_gt)
    return [{tuple(v): d for v, d in zip(index.tolist(), way.tolist(), strict=True)} for index, way in sides]


@given(mask_pairs())
def test_distances_of_every_voxel_are_equal(pair: Pair) -> None:
    gt, pred, spacing = pair
    with choice.using("plain"):
        plain = surface_distances(gt, pred, spacing=spacing)
    with choice.using("compiled"):
        compiled = surface_distances(gt, pred, spacing=spacing)
    assert by_voxel(compiled) == by_voxel(plain)
    for variant in ("directed_max", "pooled", "mean"):
        for percentile in (95.0, 100.0, 50.0):
            values = [hausdorff(d, percentile=percentile, variant=variant) for d in (plain, compiled)]
            assert values[0] == values[1]
    assert nsd(compiled, 1.0) == nsd(plain, 1.0)
    assert assd(compiled) == pytest.approx(assd(plain), rel=1e-12)
    assert percentile_pair(compiled)[3] == percentile_pair(plain)[3]
    apart = (compiled.gt_index - compiled.pred_index[compiled.gt_nearest]) * np.array(spacing)
    assert np.sqrt((apart**2).sum(axis=1)) == pytest.approx(compiled.gt_to_pred, rel=1e-12)


@given(mask_pairs())
def test_the_smallest_distance_is_taken_to_the_last_bit(pair: Pair) -> None:
    gt, pred, spacing = pair
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            found = surface_distances(gt, pred, spacing=spacing)
        differences = found.gt_index[:, None] - found.pred_index[None]
        squares = np.zeros(differences.shape[:2])
        for axis, step in enumerate(spacing):
            squares += (differences[..., axis] * step) ** 2
        assert found.gt_to_pred.tolist() == np.sqrt(squares.min(axis=1)).tolist()


@pytest.mark.parametrize("is_fortran", [False, True])
@pytest.mark.parametrize("patience", [400, 0])
def test_far_voxels_are_found_by_the_sweep_and_by_the_search_tree(
    monkeypatch: pytest.MonkeyPatch, is_fortran: bool, patience: int
) -> None:
    monkeypatch.setenv(threads.VARIABLE, "2")
    rng = np.random.default_rng(7)
    gt, pred = np.zeros((2, 70, 90, 110), dtype=bool, order="F" if is_fortran else "C")
    gt[:20, :20, :20] = rng.random((20, 20, 20)) < 0.3
    pred[50:, 60:, 70:] = rng.random((20, 30, 40)) < 0.3
    pred[3, 4, 5] = True
    spacing = (0.7, 0.8, 1.1)
    with choice.using("plain"):
        plain = surface_distances(gt, pred, spacing=spacing)
    monkeypatch.setattr(nearest, "_PATIENCE", patience)
    with choice.using("compiled"):
        compiled = surface_distances(gt, pred, spacing=spacing)
    assert len(plain.pred_index) > 5000
    assert by_voxel(compiled) == by_voxel(plain)


def test_a_part_far_away_that_comes_first_does_not_make_the_others_far(monkeypatch: pytest.MonkeyPatch) -> None:
    gt, pred = np.zeros((2, 90, 40, 40), dtype=bool)
    gt[60:88, 5:35, 5:35] = True
    pred[61:89, 5:35, 5:35] = True
    pred[0:9, 5:20, 5:20] = True  # the first voxels of this surface, more than are looked at to say how far it is
    far = int(surface_voxels(pred)[:9].sum())
    left: list[int] = []
    search = nearest_by_tree

    def by_tree(queries: NDArray[Any], *others: Any) -> Any:
        left.append(len(queries))
        return search(queries, *others)

    monkeypatch.setattr("medotter_viewer.metrics.surface_distances.nearest_by_tree", by_tree)
    monkeypatch.setattr(nearest, "_PATIENCE", 0)  # what is not near is left to a tree
    with choice.using("compiled"):
        found = surface_distances(gt, pred, spacing=(1.0, 1.0, 1.0))
    assert far > 256
    assert sum(left) <= far
    assert found.pred_to_gt.max() == 60.0
    assert np.median(found.pred_to_gt) <= 1.0


@given(mask_pairs())
def test_how_far_errors_reach_is_equal_to_the_last_bit(pair: Pair) -> None:
    gt, pred, spacing = pair
    found = []
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            found.append(error_components(gt, pred, spacing=spacing, with_distance=True))
    assert found[0] == found[1]


@settings(max_examples=60)
@given(mask_pairs())
def test_sets_of_voxels_and_surface_elements_are_equal(pair: Pair) -> None:
    gt, pred, spacing = pair
    found = []
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            sets = distances_between(np.argwhere(gt), np.argwhere(pred), np.array(spacing))
            surfels = surfel_hd(gt, pred, spacing=spacing) if gt.ndim > 1 else None
            found.append((by_voxel(sets), surfels))
    assert found[0] == found[1]


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([np.uint8, np.uint16, np.int32]))
def test_regions_that_overlap_are_measured_together(seed: int, is_fortran: bool, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    scale = {np.uint8: 1, np.uint16: 300, np.int32: 70_000}[kind]
    gt, pred = ((rng.integers(0, 4, (2, 5, 6, 70)) * (rng.random((2, 5, 6, 70)) < 0.4)) * scale).astype(kind)
    if is_fortran:
        gt, pred = np.asfortranarray(gt), np.asfortranarray(pred)
    regions = [(scale, 2 * scale, 3 * scale), (scale, 3 * scale), (3 * scale,), (9,)]
    values = []
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            surfaces = RegionSurfaces(gt, pred, regions)
            values.append([surfaces.hd95(r, spacing=(1, 2, 0.7), percentile=95, variant="pooled") for r in regions[:3]])
            values[-1] += [surfaces.hd(r, spacing=(1, 2, 0.7)) for r in [*regions[:3], (2 * scale,)]]
    assert values[0] == values[1]


@given(st.integers(0, 10**6), st.integers(1, 400), st.sampled_from([2, 4, 256]))
def test_tables_are_equal(seed: int, n: int, n_ids: int) -> None:
    rng = np.random.default_rng(seed)
    gt, pred = np.repeat(rng.integers(0, n_ids, (2, n)), rng.integers(1, 30), axis=1).astype(np.uint8)
    tables = []
    for engine in ("plain", "compiled"):
        with choice.using(engine):
            table = overlap_table(gt, pred)
        tables.append((table.gt_ids.tolist(), table.pred_ids.tolist(), table.counts.tolist()))
    assert tables[0] == tables[1]


def test_a_large_table_is_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, "3")
    gt = np.zeros((3, 700, 1000), dtype=np.uint8)
    gt[1, 5:600, 7:900] = 255
    with choice.using("compiled"):
        table = overlap_table(gt, np.roll(gt, 3, axis=2))
    assert table.counts.tolist() == [[gt.size - 595 * 896, 595 * 3], [595 * 3, 595 * 890]]
