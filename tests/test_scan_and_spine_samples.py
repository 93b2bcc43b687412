"""The scans and spines of the samples are what they claim to be, and are wrong by what is claimed, no more."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest

from medotter_viewer import open_source, score_case
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.formats.landmark_files import read_landmarks
from medotter_viewer.formats.png import decode
from medotter_viewer.geometry.polygons import even_odd_area, shoelace
from medotter_viewer.phantoms import Tumour, chest_scan, rasterised, spine_phantom
from medotter_viewer.sources.scan_source import ScanSource

REPOSITORY = Path(__file__).resolve().parent.parent
SAMPLES = REPOSITORY / "sample_bundles"
LUNG, SPINE = SAMPLES / "lung_scans", SAMPLES / "spine_ct"
README = (SAMPLES / "README.md").read_text("utf-8")
EXPECTED = {
    (name, model, case_id): numbers
    for name in ("lung_scans", "spine_ct")
    for model, found in json.loads((SAMPLES / name / "expected.json").read_text("utf-8"))["models"].items()
    for case_id, numbers in found["cases"].items()
}
SMALL = {"shape": (48, 36, 10), "spacing": (7.0, 7.0, 6.0)}
DEAD = Tumour((66, 2, 86), 24, 19, necrosis=0.45)


def case_numbers(name: str, model: str, case_id: str) -> dict[str, float]:
    score = score_case(SAMPLES / name, case_id, SAMPLES / name / "predictions" / model)
    return {metric: value.value for metric, value in score.case.items()}


def row_of(case_id: str, word: str) -> str:
    """Return the line of a table of the README that has a case and a word."""
    (line,) = [line for line in README.splitlines() if line.startswith(f"| `{case_id}`") and word in line]
    return line


# --- scans -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "model", "case_id"), EXPECTED)
def test_every_sample_scores_what_plain_counting_gives(name: str, model: str, case_id: str) -> None:
    expected = EXPECTED[name, model, case_id]
    found = case_numbers(name, model, case_id)
    shared = {key: expected[key] for key in found if key in expected}
    assert len(shared) >= 4
    assert {key: found[key] for key in shared} == pytest.approx(shared, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("model", ["mixed", "masks"])
@pytest.mark.parametrize("scan", ["PHANTOM_LUNG_1", "PHANTOM_LUNG_2", "PHANTOM_LUNG_3"])
def test_the_readme_has_the_numbers_of_the_scans(model: str, scan: str) -> None:
    expected = EXPECTED["lung_scans", model, scan]
    row = row_of(scan, f"{expected['scan_score']:.6f}")
    assert [f"{expected[key]:.2f}" in row for key in ("tp_mm3", "fp_mm3", "fn_mm3")] == [True] * 3


def test_the_readme_has_the_means_of_the_models() -> None:
    for model in ("mixed", "masks"):
        scores = [n["scan_score"] for (name, m, _), n in EXPECTED.items() if (name, m) == ("lung_scans", model)]
        assert f"{1e6 * math.fsum(scores) / 3:,.2f} points" in README
    means = json.loads((SPINE / "expected.json").read_text("utf-8"))["models"]
    mixed = means["mixed"]["mean"]
    wanted = (
        f"id_rate {mixed['id_rate']:.3f}, official {mixed['id_rate_official']:.3f}, d_mean {mixed['d_mean']:.3f} mm"
    )
    assert wanted in README
    assert f"`good`: 1, 1, {means['good']['mean']['d_mean']:.3f} mm" in README
    assert f"id_rate 0, d_mean {means['shifted']['mean']['d_mean']:.3f} mm" in README


@pytest.mark.parametrize("case_id", ["PHANTOM_SPINE/001", "PHANTOM_SPINE/002", "PHANTOM_LUMBAR/001"])
def test_the_readme_has_the_numbers_of_the_spines(case_id: str) -> None:
    expected = EXPECTED["spine_ct", "mixed", case_id]
    numbers = (expected["id_rate"], expected["id_rate_official"], expected["d_mean"])
    assert row_of(case_id, f"{expected['d_mean']:.3f}").endswith(" | ".join(f"{v:.3f}" for v in numbers) + " |")


def test_a_scan_is_scored_alike_with_and_without_the_bundle() -> None:
    folder = ScanSource(LUNG / "data", LUNG / "predictions" / "mixed")
    assert folder.case_ids() == open_source(LUNG).case_ids()
    for scan in folder.case_ids():
        score = score_case(folder, scan)
        assert {k: v.value for k, v in score.case.items()} == case_numbers("lung_scans", "mixed", scan)


def test_each_scan_of_the_model_is_wrong_by_what_is_claimed() -> None:
    from shapely import MultiPolygon, Polygon, union_all

    source = open_source(LUNG, predictions=LUNG / "predictions" / "mixed")

    def sides(scan: str) -> tuple[dict[int, MultiPolygon], dict[int, MultiPolygon]]:
        case = source.load(scan, images=False)
        return tuple(
            {
                n: union_all([Polygon(ring).buffer(0) for ring in rings if len(ring) > 2])
                for n, rings in one.rings.items()
            }
            for one in (case.gt_contours, case.pred_contours)
        )

    gt, pred = sides("PHANTOM_LUNG_1")
    assert gt.keys() == pred.keys()
    holes = {n: Polygon(ring) for n, one in gt.items() for ring in one.interiors}
    assert len(holes) == 6  # the dead middle is 2 x 8.55 mm high
    filled = sum(one.area for one in holes.values()) * 3
    # Where the outline is hollow, leaving out a point cuts nothing off but adds a sliver.
    assert filled < EXPECTED["lung_scans", "mixed", "PHANTOM_LUNG_1"]["fp_mm3"] < 1.01 * filled
    assert all(pred[n].covers(hole) for n, hole in holes.items())

    gt, pred = sides("PHANTOM_LUNG_2")
    large = {n: max(getattr(one, "geoms", [one]), key=lambda part: part.centroid.x) for n, one in gt.items()}
    moved = [
        max(getattr(pred[n], "geoms", [pred[n]]), key=lambda part: part.centroid.x).centroid.x - large[n].centroid.x
        for n in (5, 8, 11)
    ]
    assert moved == pytest.approx([7.0] * 3, abs=0.3)
    right = [n for n, one in gt.items() if one.bounds[0] < -50]  # the smaller tumour lies in the right lung
    assert [n for n in right if pred.get(n, Polygon()).is_empty or pred[n].bounds[0] > -50] == right[: len(right) // 2]

    case = source.load("PHANTOM_LUNG_3", images=False)
    gt, pred = sides("PHANTOM_LUNG_3")
    assert {n for n in pred if n not in gt} == {11, 12, 13, 14}
    assert [len(case.pred_contours.rings[n]) for n in gt] == [2] * len(gt)
    both = case.pred_contours.rings[6]
    assert Polygon(both[0]).intersection(Polygon(both[1])).area > 50
    assert all(pred[n].symmetric_difference(one).area < 0.02 * one.area for n, one in gt.items())


def test_the_slips_of_the_pen_and_the_lost_signs_of_a_scan_are_noticed() -> None:
    case = open_source(LUNG).load("PHANTOM_LUNG_2")
    found = {finding.code: finding.message for finding in case.findings}
    assert "no area (slice 9)" in found["contour-without-area"]
    assert "smaller than a pixel (slice 10)" in found["contour-tiny"]
    assert "written without sign" in found["scan-values-signed"]
    assert not [code for scan in ("PHANTOM_LUNG_1", "PHANTOM_LUNG_3") for code in open_source(LUNG).load(scan).findings]


def test_a_keyhole_of_the_sample_has_the_area_of_the_tumour_less_its_dead_middle() -> None:
    scan = chest_scan(1, [DEAD], shape=(48, 36, 20), spacing=(7.0, 7.0, 3.0))
    middle = scan.seeds[0][0]
    (ring,) = scan.tumours[0].rings[middle]
    height = 57.0 + 3 * (middle - 1)
    outer, hole = DEAD.outline(height), DEAD.outline(height, DEAD.necrosis)
    assert even_odd_area(ring) == pytest.approx(abs(shoelace(outer)) - abs(shoelace(hole)), rel=1e-3)


def test_a_seed_lies_in_its_tumour_and_in_no_other_structure_but_the_lungs() -> None:
    from shapely import Point, Polygon

    source = open_source(LUNG)
    for scan in source.case_ids():
        case = source.load(scan, images=False)
        assert len(case.seeds) == (2 if scan == "PHANTOM_LUNG_2" else 1)
        for number, x, y in case.seeds:
            rings = [Polygon(ring).buffer(0) for ring in case.gt_contours.rings[number] if len(ring) > 2]
            assert sum(ring.covers(Point(x, y)) for ring in rings) == 1
            hearts = case.structures["heart"].rings[number]
            assert not any(Polygon(ring).covers(Point(x, y)) for ring in hearts)


def test_the_image_is_bright_in_the_tumour_duller_in_its_dead_middle_and_dark_around() -> None:
    scan = chest_scan(3, [DEAD], shape=(96, 72, 20), spacing=(3.5, 3.5, 3.0))
    image, inside = scan.image.data, rasterised(scan, scan.tumours[0])
    assert 35 < np.median(image[inside]) < 60
    seed_voxel = scan.image.grid.world_to_voxel((-scan.seeds[0][1], -scan.seeds[0][2], 0.0))
    index = scan.numbers.index(scan.seeds[0][0])
    assert inside[round(seed_voxel[0]), round(seed_voxel[1]), index]
    centre = scan.image.grid.world_to_voxel((66.0, 2.0, 0.0))
    middle = image[round(centre[0]) - 1 : round(centre[0]) + 2, round(centre[1]) - 1 : round(centre[1]) + 2, index]
    assert abs(np.mean(middle)) < 20
    assert not inside[round(centre[0]), round(centre[1]), index]
    assert np.median(image[rasterised(scan, scan.structures["lungs"])]) < -750
    heart = image[rasterised(scan, scan.structures["heart"])]
    assert 90 < np.median(heart) < 160


def test_a_tumour_at_the_patients_right_has_negative_x_in_the_contours() -> None:
    scan = chest_scan(1, [Tumour((66, 2, 80), 22, 18)], **SMALL)
    assert all(ring[:, 0].max() < 0 for rings in scan.tumours[0].rings.values() for ring in rings)
    assert scan.image.grid.axcodes == "LPS"


def test_slices_are_numbered_from_the_feet_or_from_the_head() -> None:
    up, down = (chest_scan(1, [DEAD], from_head=head, **SMALL) for head in (False, True))
    assert (up.numbers, down.numbers) == (tuple(range(1, 11)), tuple(range(10, 0, -1)))
    assert np.array_equal(up.image.data, down.image.data)
    for number, rings in up.tumours[0].rings.items():
        assert np.array_equal(rings[0], down.tumours[0].rings[11 - number][0])


def test_filling_the_rings_of_a_scan_gives_pixels_of_their_area() -> None:
    scan = chest_scan(1, [DEAD], shape=(96, 72, 20), spacing=(3.5, 3.5, 3.0))
    area = sum(even_odd_area(ring) for rings in scan.tumours[0].rings.values() for ring in rings)
    assert np.count_nonzero(rasterised(scan, scan.tumours[0])) * 3.5**2 == pytest.approx(area, rel=0.03)
    assert not rasterised(scan, ScanContours()).any()


# --- spines ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spine():
    return spine_phantom(5, shape=(32, 40, 80), spacing=(4.0, 4.0, 4.0), centre_world=(3.0, -20.0, 100.0))


def test_a_seed_gives_the_same_spine_every_time(spine) -> None:
    again = spine_phantom(5, shape=(32, 40, 80), spacing=(4.0, 4.0, 4.0), centre_world=(3.0, -20.0, 100.0))
    assert np.array_equal(again.phantom.image.data, spine.phantom.image.data)
    assert again.points.points_world == spine.points.points_world


def test_each_point_lies_in_its_own_vertebra_in_front_of_the_centre_of_the_mask(spine) -> None:
    labels = spine.phantom.labels
    assert set(np.unique(labels.data)) == {0, *range(17, 25)}
    for label, point in spine.points.points_world.items():
        place = tuple(np.rint(labels.grid.world_to_voxel(point)).astype(int))
        assert labels.data[place] == label
        mass = labels.grid.voxel_to_world(np.argwhere(labels.data == label)).mean(axis=0)
        assert 7 < point[1] - mass[1] < 25
        assert abs(point[0] - mass[0]) < 2


def test_vertebrae_follow_each_other_from_the_head_to_the_feet_and_grow(spine) -> None:
    heights = [spine.points.points_world[label][2] for label in range(17, 25)]
    steps = -np.diff(heights)
    assert (steps > 20).all()
    assert (steps < 42).all()
    sizes = [np.count_nonzero(spine.phantom.labels.data == label) for label in range(17, 25)]
    assert sizes[-1] > 1.1 * sizes[0]


def test_vertebrae_that_are_not_asked_for_are_painted_but_not_labelled() -> None:
    whole, part = (
        spine_phantom(5, labels, shape=(32, 40, 80), spacing=(4.0, 4.0, 4.0)) for labels in (range(17, 25), (23, 24))
    )
    assert np.array_equal(whole.phantom.image.data, part.phantom.image.data)
    assert set(np.unique(part.phantom.labels.data)) == {0, 23, 24}
    assert sorted(part.points.points_world) == [23, 24]


def test_the_spine_has_the_densities_of_a_ct(spine) -> None:
    image, labels = spine.phantom.image.data, spine.phantom.labels.data
    assert image.dtype == np.int16
    assert np.percentile(image[labels > 0], 95) > 400
    assert 100 < np.median(image[labels == 22]) < 600


@pytest.mark.parametrize("case_id", ["PHANTOM_SPINE/001", "PHANTOM_SPINE/002", "PHANTOM_LUMBAR/001"])
def test_files_of_points_in_other_axes_than_the_volume_give_the_same_places(case_id: str) -> None:
    source = open_source(SPINE, predictions=SPINE / "predictions" / "good")
    case = source.load(case_id, images=False)
    off = [math.dist(case.pred_landmarks.points_world[label], p) for label, p in case.gt_landmarks.points_world.items()]
    assert max(off) < 2 * math.sqrt(3) + 0.05


def test_each_spine_of_the_model_is_wrong_by_what_is_claimed() -> None:
    source = open_source(SPINE, predictions=SPINE / "predictions" / "mixed")
    cases = {case_id: source.load(case_id, images=False) for case_id in source.case_ids()}
    gt = {case_id: case.gt_landmarks.points_world for case_id, case in cases.items()}
    pred = {case_id: case.pred_landmarks.points_world for case_id, case in cases.items()}

    one, two, three = "PHANTOM_SPINE/001", "PHANTOM_SPINE/002", "PHANTOM_LUMBAR/001"
    assert gt[one].keys() - pred[one].keys() == {21}
    assert not (cases[one].pred.data == 21).any()
    assert math.dist(pred[one][22], gt[one][22]) == pytest.approx(19, abs=0.05)
    assert math.dist(pred[one][22], gt[one][21]) < 19
    assert np.subtract(pred[two][19], gt[two][19]) == pytest.approx([0, 25, 0], abs=0.05)
    assert pred[three].keys() - gt[three].keys() == {25}
    assert (cases[three].pred.data == 25).any()


def test_in_the_shifted_model_every_point_of_the_good_one_has_the_label_above() -> None:
    grid = Grid((48, 64, 126), np.diag([2.5, 2.5, 2.5, 1.0]))
    for case_id in ("PHANTOM_SPINE/001", "PHANTOM_SPINE/002", "PHANTOM_LUMBAR/001"):
        good, shifted = (
            read_landmarks(SPINE / "predictions" / model / f"{case_id}_ctd.json", grid)[0].points_world
            for model in ("good", "shifted")
        )
        assert {label + 1: point for label, point in shifted.items()} == good


# --- files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lung_scans", "spine_ct"])
def test_the_files_on_disk_are_what_the_script_writes(name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(REPOSITORY / "scripts")
        import sample_scans
        import sample_spines

        made = {"lung_scans": sample_scans, "spine_ct": sample_spines}[name].files()
    on_disk = {str(p.relative_to(SAMPLES)).replace("\\", "/") for p in (SAMPLES / name).rglob("*") if p.is_file()}
    assert on_disk == made.keys()
    for path, content in made.items():
        there = (SAMPLES / path).read_bytes()
        if path.endswith(".gz"):  # the voxels, not the bytes: another zlib packs them differently
            there, content = gzip.decompress(there), gzip.decompress(content)
        elif path.endswith(".png"):
            continue  # see below
        assert there == content, path


def test_the_pictures_of_a_scan_hold_its_values_as_they_were_stored() -> None:
    source = open_source(LUNG)
    for scan, add in (("PHANTOM_LUNG_1", 1024), ("PHANTOM_LUNG_2", 0)):
        case = source.load(scan)
        image = case.channels["image"].data
        for number in (1, 9, 20):
            pixels, _, _ = decode(LUNG / "data" / scan / "pngs" / f"{number}.png", as_labels=True)
            index = number - 1 if scan == "PHANTOM_LUNG_1" else 20 - number
            assert np.array_equal(pixels.astype(np.uint16).view(np.int16).T, image[:, :, index] + add)
