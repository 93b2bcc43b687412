"""Phantoms are what they claim to be, and the sample files are theirs."""

from __future__ import annotations

import gzip
import importlib.util
import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from medotter_viewer.core.labels import LabelMap
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.phantoms import (
    TORSO_NAMES,
    brain_phantom,
    dilated,
    eroded,
    marker_phantom,
    mirrored,
    removed,
    reoriented,
    roughened,
    shifted,
    swapped,
    torso_phantom,
    with_blob,
)
from medotter_viewer.phantoms.paint import ras_grid

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLES = REPOSITORY / "sample_bundles"
COARSE = {"shape": (64, 52, 28), "spacing": (5.5, 5.5, 10.0)}
ALL_48 = ["".join(codes) for axes in itertools.permutations(("LR", "PA", "IS")) for codes in itertools.product(*axes)]
IDS = {name: number for number, name in TORSO_NAMES.items()}


@pytest.fixture(scope="module")
def torso():
    return torso_phantom(7, **COARSE)


@pytest.fixture(scope="module")
def brain():
    return brain_phantom(7, side="left", shape=(48, 56, 36), spacing_mm=3.6)


@pytest.fixture(scope="module")
def script():
    path = REPOSITORY / "scripts" / "make_sample_bundles.py"
    spec = importlib.util.spec_from_file_location("make_sample_bundles", path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)  # it imports its neighbours
        patch.setitem(sys.modules, "make_sample_bundles", module)
        spec.loader.exec_module(module)
        yield module


def cube(at=(3, 3, 3), size=4, shape=(12, 10, 11), label=1):
    data = np.zeros(shape, dtype=np.uint8)
    data[tuple(slice(a, a + size) for a in at)] = label
    return LabelMap(data, ras_grid(shape, (2.0, 1.5, 3.0)))


def centroid_world(labels, label):
    return labels.grid.voxel_to_world(np.argwhere(labels.data == label)).mean(axis=0)


def positions(labels, label):
    found = labels.grid.voxel_to_world(np.argwhere(labels.data == label))
    return found[np.lexsort(found.T)]


# --- bodies ----------------------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_torso_every_time(torso):
    again = torso_phantom(7, **COARSE)
    assert np.array_equal(torso.image.data, again.image.data)
    assert np.array_equal(torso.labels.data, again.labels.data)


def test_another_seed_gives_another_body_and_another_scan_the_same_body_on_another_day(torso):
    other, later = torso_phantom(8, **COARSE), torso_phantom(7, scan=1, **COARSE)
    same = [
        np.mean(torso.labels.data[torso.labels.data > 0] == p.labels.data[torso.labels.data > 0])
        for p in (other, later)
    ]
    assert same[0] < same[1] < 1


def test_every_organ_of_the_torso_is_there_and_a_lacking_one_leaves_the_rest_alone(torso):
    assert set(np.unique(torso.labels.data)) == {0, *TORSO_NAMES}
    without = torso_phantom(7, without={"gallbladder"}, **COARSE)
    assert not (without.labels.data == IDS["gallbladder"]).any()
    for name in ("spleen", "kidney_left", "aorta"):
        assert np.array_equal(without.labels.data == IDS[name], torso.labels.data == IDS[name])


@pytest.mark.parametrize(
    ("name", "sign"),
    [
        *[("liver", 1), ("gallbladder", 1), ("kidney_right", 1), ("inferior_vena_cava", 1)],
        *[("spleen", -1), ("stomach", -1), ("kidney_left", -1), ("aorta", -1)],
    ],
)
def test_organs_lie_on_their_side_where_x_grows_to_the_patients_right(torso, name, sign):
    assert sign * centroid_world(torso.labels, IDS[name])[0] > 5


def test_the_torso_has_the_densities_of_a_ct(torso):
    image, labels = torso.image.data, torso.labels.data
    assert image.dtype == np.int16
    assert image.min() == -1000
    assert image.max() > 350  # bone
    assert 90 < np.median(image[labels == IDS["liver"]]) < 130
    assert 130 < np.median(image[labels == IDS["aorta"]]) < 185
    assert np.count_nonzero((image > -900) & (image < -780)) > 0.03 * image.size  # lung


def test_the_phantom_lies_where_it_was_put():
    phantom = torso_phantom(0, shape=(20, 16, 8), spacing=(17.6, 17.6, 35.0), centre_world=(4.0, -5.0, 6.0))
    assert phantom.image.grid.corners_world().mean(axis=0) == pytest.approx([4.0, -5.0, 6.0])


def test_the_brain_has_four_channels_and_a_tumour_on_one_side(brain):
    assert list(brain.channels) == ["t1", "t1c", "t2", "flair"]
    assert all(v.data.dtype == np.int16 and v.grid is brain.labels.grid for v in brain.channels.values())
    world = brain.labels.grid.voxel_to_world(np.argwhere(brain.labels.data > 0))
    assert world[:, 0].max() < 0
    right = brain_phantom(7, side="right", shape=(48, 56, 36), spacing_mm=3.6)
    assert right.labels.grid.voxel_to_world(np.argwhere(right.labels.data > 0))[:, 0].min() > 0


def test_the_tumour_regions_are_nested_and_the_rim_is_bright_after_contrast(brain):
    labels = brain.labels.data
    assert set(np.unique(labels)) == {0, 1, 2, 3}
    grown = dilated(brain.labels, 1).data == 1
    assert not (grown & (labels == 0)).any()  # necrosis never touches healthy brain
    t1, t1c = brain.channels["t1"].data, brain.channels["t1c"].data
    assert np.median(t1c[labels == 3]) > np.median(t1[labels == 3]) + 250
    assert abs(np.median(t1c[labels == 2]) - np.median(t1[labels == 2])) < 50


# --- markers and axis orders -----------------------------------------------------------------------------------


def test_the_bright_voxel_lies_at_the_patients_left_front_and_head():
    phantom = marker_phantom()
    bright = phantom.image.grid.voxel_to_world(np.argwhere(phantom.image.data == 1000))
    assert len(bright) == 1
    assert (bright[0] - phantom.image.grid.corners_world().mean(axis=0)).tolist() == [-6.0, 6.0, 6.0]


def test_the_markers_overlap_no_mirror_image_of_themselves():
    data = marker_phantom().labels.data
    for axes in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]:
        for label in (1, 2, 3):
            assert not np.array_equal(data == label, np.flip(data, axes) == label)


def test_a_marker_phantom_too_small_for_its_markers_is_refused():
    with pytest.raises(GridMismatchError, match="at least"):
        marker_phantom((5, 11, 7))


@pytest.mark.parametrize("axcodes", ALL_48)
def test_every_axis_order_keeps_every_voxel_in_its_place(axcodes):
    phantom = marker_phantom()
    stored, image = reoriented(phantom.labels, axcodes), reoriented(phantom.image, axcodes)
    assert stored.grid.axcodes == axcodes
    for label in (1, 2, 3):
        assert np.allclose(positions(stored, label), positions(phantom.labels, label), atol=1e-9)
    voxels = np.argwhere(image.data > -1)
    back = np.rint(phantom.image.grid.world_to_voxel(image.grid.voxel_to_world(voxels))).astype(int)
    assert np.array_equal(image.data[tuple(voxels.T)], phantom.image.data[tuple(back.T)])


def test_forty_eight_orders_are_forty_eight():
    assert len(set(ALL_48)) == 48


def test_an_axis_order_and_back_is_the_original():
    labels = marker_phantom().labels
    back = reoriented(reoriented(labels, "PIL"), "RAS")
    assert np.array_equal(back.data, labels.data)
    assert np.allclose(back.grid.affine, labels.grid.affine)


@pytest.mark.parametrize("axcodes", ["RA", "RLS", "RAX", "RASS"])
def test_axis_codes_that_name_no_order_are_refused(axcodes):
    with pytest.raises(GridMismatchError, match="axis codes"):
        reoriented(marker_phantom().labels, axcodes)


# --- wrong on purpose ------------------------------------------------------------------------------------------


def test_swapping_twice_is_nothing_and_once_keeps_the_union():
    labels = marker_phantom().labels
    once = swapped(labels, 1, 2)
    assert np.array_equal(once.data == 2, labels.data == 1)
    assert np.array_equal(np.isin(once.data, (1, 2)), np.isin(labels.data, (1, 2)))
    assert np.array_equal(swapped(once, 1, 2).data, labels.data)


def test_a_removed_structure_becomes_background_or_another():
    labels = marker_phantom().labels
    assert np.array_equal(removed(labels, 2).data > 0, np.isin(labels.data, (1, 3)))
    assert np.array_equal(removed(labels, 2, into=3).data == 3, np.isin(labels.data, (2, 3)))


def test_a_shift_moves_by_whole_voxels_and_does_not_wrap():
    labels = cube(at=(3, 3, 3), size=4)
    moved = shifted(labels, (2, 0, -1))
    assert np.array_equal(np.argwhere(moved.data), np.add(np.argwhere(labels.data), (2, 0, -1)))
    assert np.count_nonzero(shifted(labels, (7, 0, 0)).data) == 2 * 4 * 4
    assert not shifted(labels, (0, 50, 0)).data.any()


def test_a_shift_of_one_structure_leaves_the_others_where_they_are():
    labels = marker_phantom().labels
    moved = shifted(labels, (1, 0, 0), 3)
    assert np.array_equal(moved.data == 1, labels.data == 1)
    assert centroid_world(moved, 3) - centroid_world(labels, 3) == pytest.approx([2.0, 0.0, 0.0])


@pytest.mark.parametrize("axcodes", ["RAS", "LPS", "SPL", "PIR"])
def test_a_mirrored_prediction_is_mirrored_left_to_right_in_any_order(axcodes):
    labels = reoriented(marker_phantom().labels, axcodes)
    wrong = mirrored(labels)
    middle = labels.grid.corners_world().mean(axis=0)
    expected = (centroid_world(labels, 1) - middle) * (-1, 1, 1)
    assert centroid_world(wrong, 1) - middle == pytest.approx(expected)
    assert wrong.grid is labels.grid


def test_a_blob_is_a_ball_in_millimetres_over_background_only():
    labels = cube()
    wrong = with_blob(labels, 2, labels.grid.voxel_to_world((9, 7, 8)), 3.1)
    added = labels.grid.voxel_to_world(np.argwhere(wrong.data == 2)) - labels.grid.voxel_to_world((9, 7, 8))
    assert np.linalg.norm(added, axis=1).max() <= 3.1
    # |i| * 2, |j| * 1.5, |k| * 3 mm: the centre, 2 along i, 4 along j, 2 along k, 4 across i and j
    assert len(added) == 13
    assert np.array_equal(wrong.data == 1, labels.data == 1)


def test_erosion_and_dilation_move_the_border_by_one_voxel():
    labels = cube(size=4)
    assert np.count_nonzero(eroded(labels, 1).data) == 2**3
    assert np.count_nonzero(dilated(labels, 1).data) == 4**3 + 6 * 4**2
    assert np.array_equal(eroded(dilated(labels, 1), 1).data, labels.data)


def test_dilation_takes_nothing_from_a_neighbour():
    data = cube(size=4).data
    data[7:9, 3:7, 3:7] = 2
    grown = dilated(LabelMap(data, ras_grid(data.shape, (1, 1, 1))), 1)
    assert np.array_equal(grown.data == 2, data == 2)


def test_rough_borders_are_wrong_by_one_voxel_both_ways_and_nowhere_else(torso):
    truth = torso.labels
    wrong = roughened(truth, 5)
    assert np.array_equal(wrong.data, roughened(truth, 5).data)
    assert not np.array_equal(wrong.data, roughened(truth, 6).data)
    liver, pred = truth.data == IDS["liver"], wrong.data == IDS["liver"]
    assert not (pred & ~(dilated(removed_all_but(truth, "liver"), IDS["liver"]).data > 0)).any()
    assert not (~pred & (eroded(removed_all_but(truth, "liver"), IDS["liver"]).data > 0)).any()
    assert (pred & ~liver).any()
    assert (~pred & liver).any()


def removed_all_but(labels, name):
    return LabelMap(np.where(labels.data == IDS[name], labels.data, 0), labels.grid)


def test_no_perturbation_changes_what_it_is_given():
    labels = marker_phantom().labels
    before = labels.data.copy()
    for wrong in (
        swapped(labels, 1, 2),
        removed(labels, 1),
        shifted(labels, (1, 1, 1)),
        shifted(labels, (1, 1, 1), 3),
        mirrored(labels),
        with_blob(labels, 1, (10, -20, 30), 4.0),
        eroded(labels, 2),
        dilated(labels, 2),
        roughened(labels, 0, scale_mm=3.0),
    ):
        assert wrong.data.dtype == labels.data.dtype
        assert not np.array_equal(wrong.data, before)
    assert np.array_equal(labels.data, before)


# --- files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["torso_ct", "glioma_mr"])
def test_the_texts_of_a_sample_bundle_are_what_the_script_writes(script, name):
    plan = next(plan for plan in script.PLANS if plan.name == name)
    folder = SAMPLES / name / "bundle"
    assert json.loads((folder / "manifest_test.json").read_text("utf-8")) == script.manifest(plan)
    assert (folder / "task.yaml").read_text("utf-8") == plan.task_yaml
    assert (folder / "eval_spec.yaml").read_text("utf-8") == plan.eval_spec_yaml
    on_disk = {str(p.relative_to(SAMPLES)).replace("\\", "/"): p.read_bytes() for p in (SAMPLES / name).rglob("*.gz")}
    assert (folder / "coverage_report.md").read_text("utf-8") == script.coverage_report(plan, on_disk)


def test_the_smallest_case_on_disk_is_what_the_generator_makes(script):
    sample = next(s for s in script.TORSO.samples if s.split == "train")
    for path, content in script.case_files(script.TORSO, sample):
        # The voxels, not the bytes: another zlib packs the same voxels differently.
        assert gzip.decompress((SAMPLES / path).read_bytes()) == gzip.decompress(content), path


def test_equal_content_is_packed_into_equal_bytes_without_time_or_name(script):
    labels = marker_phantom().labels
    packed = script.packed(labels)
    assert packed == script.packed(labels)
    assert packed[3:8] == bytes(5)  # no name flag, time 0


def test_the_sample_bundles_stay_small():
    files = [p for p in SAMPLES.rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) < 7_500_000
    assert max(p.stat().st_size for p in files) < 700_000


def test_expected_scores_show_the_errors_that_were_made():
    models = json.loads((SAMPLES / "torso_ct" / "expected.json").read_text("utf-8"))["models"]
    mixed = {case_id: case["regions"] for case_id, case in models["mixed"]["cases"].items()}
    assert mixed["PHANTOM_A/0002"]["kidney_left"]["dice"] == 0
    assert mixed["PHANTOM_A/0002"]["kidneys"]["dice"] > 0.9
    assert mixed["PHANTOM_A/0003"]["liver"]["hd95"]["directed_max"] == pytest.approx(6.6, abs=0.5)
    assert mixed["PHANTOM_A/0003"]["gallbladder"]["status"] == "absent"
    assert mixed["PHANTOM_B/0001"]["spleen"]["status"] == "cap"
    assert mixed["PHANTOM_B/0001"]["liver"]["hd95"]["directed_max"] > 50
    assert mixed["PHANTOM_B/0001"]["kidneys"]["status"] == "not_labelled"
    assert mixed["PHANTOM_B/0002"]["liver"]["dice"] < 0.3
    assert not models["good"]["complete"]
    assert models["good"]["aggregate"]["headline"]["value"] > 0.9
