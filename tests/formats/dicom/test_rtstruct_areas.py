"""Areas of structures without an image."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rtstruct_files import Drawn, Structure, square, write_rtstruct

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.structures import Contour, Roi
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.roi_areas import measure, roi_items

OUTER, INNER, ISLAND = square(0, 0, 20, 3), square(5, 5, 10, 3), square(8, 8, 4, 3)


def items_of(path: Path, *structures: Structure) -> tuple[list[dict[str, Any]], list[Finding]]:
    return roi_items(write_rtstruct(path / "rt.dcm", structures))


def drawn(*rings: Any, kind: str = "CLOSED_PLANAR") -> Roi:
    contours = tuple(Contour(np.array(ring, dtype=float), kind) for ring in rings)
    return Roi(1, "GTV", None, contours, len(contours))


def test_each_structure_is_listed_with_its_area_and_a_name_of_its_own(tmp_path: Path) -> None:
    found, findings = items_of(
        tmp_path,
        Structure(5, "BODY", [Drawn(square(0, 0, 20, 3))]),
        Structure(2, "GTV", [Drawn(square(0, 0, 4, 3))]),
        Structure(9, "GTV", [Drawn(square(0, 0, 8, 3)), Drawn(square(0, 0, 8, 6))]),
        Structure(7, "EMPTY"),
    )
    assert found == [
        {"kind": "roi", "number": 5, "name": "BODY", "contours": 1, "area_mm2": 400.0},
        {"kind": "roi", "number": 2, "name": "GTV (2)", "contours": 1, "area_mm2": 16.0},
        {"kind": "roi", "number": 9, "name": "GTV (9)", "contours": 2, "area_mm2": 128.0},
        {"kind": "roi", "number": 7, "name": "EMPTY", "contours": 0, "area_mm2": 0.0},
    ]
    assert findings == []


def test_points_lines_and_open_contours_have_no_area_and_are_said(tmp_path: Path) -> None:
    contours = [
        Drawn(square(5, 5, 10, 0)),
        Drawn(square(20, 20, 0.12, 0)),
        Drawn([(3, 3, 0)]),
        Drawn([(4, 4, 0)], "POINT"),
        Drawn([(1, 1, 0), (2, 2, 0)]),
        Drawn([(1, 20, 0), (5, 24, 0), (9, 20, 0)], "OPEN_PLANAR"),
        Drawn("", n_points=0),
    ]
    (item,), (finding,) = items_of(tmp_path, Structure(1, "Lung-Left", contours))
    assert item["contours"] == 7
    assert item["area_mm2"] == pytest.approx(100.0144, abs=1e-9)
    assert finding.message == "Lung-Left: 5 contours have no area: 2 are points, 1 has 2 points, 1 is open, 1 is empty"


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("kind", ["CLOSED_PLANAR", "CLOSEDPLANAR_XOR"])
def test_rings_within_rings_are_holes_and_islands_in_any_order(order: tuple[int, ...], kind: str) -> None:
    rings = [OUTER, INNER[::-1], ISLAND]
    found = measure(drawn(*(rings[i] for i in order), kind=kind))
    assert found.area_mm2 == 316
    assert found.n_nested == (kind == "CLOSED_PLANAR")
    two = measure(drawn(*(rings[i] for i in order if i < 2), kind=kind))
    assert (two.area_mm2, two.n_nested) == (300, kind == "CLOSED_PLANAR")


@pytest.mark.parametrize("inner", [INNER, INNER[::-1]])
def test_a_keyhole_is_a_hole_whatever_its_winding(inner: list[tuple[float, float, float]]) -> None:
    found = measure(drawn([*OUTER, OUTER[0], *inner, inner[0]]))
    assert (found.area_mm2, found.n_nested) == (300, 0)


def test_rings_side_by_side_and_rings_of_other_planes_are_summed() -> None:
    found = measure(drawn(OUTER, square(30, 0, 2, 3), square(5, 5, 10, 6)))
    assert (found.area_mm2, found.n_nested) == (504, 0)


def test_rings_whose_boxes_meet_but_that_do_not_are_summed_without_a_word() -> None:
    low, high = [(0, 0, 0), (10, 0, 0), (0, 10, 0)], [(10, 1, 0), (10, 10, 0), (1, 10, 0)]
    found = measure(drawn(low, high))
    assert (found.area_mm2, found.n_nested) == (90.5, 0)


def test_rings_that_cross_are_combined_by_even_odd() -> None:
    found = measure(drawn(square(0, 0, 10, 0), square(5, 5, 10, 0)))
    assert (found.area_mm2, found.n_nested) == (150, 1)


def test_planes_a_hair_apart_are_one_and_a_tenth_of_a_millimetre_two() -> None:
    assert measure(drawn(square(0, 0, 20, 3), square(5, 5, 10, 3.01))).area_mm2 == 300
    assert measure(drawn(square(0, 0, 20, 3), square(5, 5, 10, 3.1))).area_mm2 == 500


@pytest.mark.parametrize("decimals", [2, 6])
def test_oblique_contours_written_with_few_decimals_are_measured_in_their_plane(decimals: int) -> None:
    c, s = np.cos(0.4), np.sin(0.4)
    turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    rings = [np.array(r) @ turn.T for r in (OUTER, INNER, square(30, 30, 0.3, 3), square(0, 0, 20, 6))]
    found = measure(drawn(*(r.round(decimals) for r in rings)))
    assert found.area_mm2 == pytest.approx(300 + 0.09 + 400, rel=10.0**-decimals)
    assert (found.n_nested, found.n_warped) == (1, 0)


def test_a_contour_in_another_plane_is_measured_there_and_a_warped_one_is_left_out(tmp_path: Path) -> None:
    upright = [(x, 0, z) for x, z, _ in square(0, 0, 10, 0)]
    warped = [(0, 0, 0), (10, 0, 3), (10, 10, 0), (0, 10, 3)]
    (item,), (finding,) = items_of(tmp_path, Structure(1, "x", [Drawn(OUTER), Drawn(upright), Drawn(warped)]))
    assert item["area_mm2"] == pytest.approx(500)
    assert (finding.code, finding.severity) == ("contour-not-flat", "warning")
    assert "1 contour lies in no plane" in finding.message


def test_nested_plain_rings_are_noted_once_for_a_structure(tmp_path: Path) -> None:
    rings = [Drawn(square(o, o, s, z)) for z in (0, 3) for o, s in ((0, 20), (5, 10))]
    (item,), (finding,) = items_of(tmp_path, Structure(1, "GTV", rings))
    assert item["area_mm2"] == 600
    assert (finding.code, finding.severity) == ("contour-nested", "info")
    assert "on 2 planes" in finding.message
    assert "CLOSEDPLANAR_XOR" in finding.message


def test_far_from_the_origin_no_digit_is_lost() -> None:
    assert measure(drawn(*(np.add(r, (-512.25, 1024.5, -900)) for r in (OUTER, INNER, ISLAND)))).area_mm2 == 316


@pytest.mark.parametrize(("scan", "names"), [("STS_002", ["GTV_Mass_CT"]), ("RTUTILS_PHANTOM", ["ROI-1", "ROI-4"])])
def test_areas_of_real_files_are_those_of_another_program(shared_data: Path, scan: str, names: list[str]) -> None:
    folder = shared_data / "bundles" / "scans_dicom"
    (path,) = (folder / "data" / scan / "RTst").glob("*.dcm")
    found = {item["name"]: item["area_mm2"] for item in roi_items(path)[0]}
    expected = json.loads((folder / "expected.json").read_text())["models"]["exact"]["cases"][scan]["union"]["slices"]
    truth = sum(one["truth_mm2"] for one in expected.values())
    assert sum(found[name] for name in names) == pytest.approx(truth, abs=1e-6)


def test_nested_rings_of_a_real_file_are_a_hole(shared_data: Path) -> None:
    folder = shared_data / "bundles" / "scans_dicom"
    (path,) = (folder / "data" / "RTUTILS_NESTED" / "RTst").glob("*.dcm")
    info = json.loads((folder / "expected.json").read_text())["info"]["RTUTILS_NESTED_truth_mm2"]
    (item,), _ = roi_items(path)
    assert item["area_mm2"] == pytest.approx(info["even_odd_across_rings_NOT_the_score"], abs=1e-6)


def test_a_tangle_that_cannot_be_measured_is_refused_by_name(tmp_path: Path) -> None:
    points = [(k / 400, 20.0 * (k % 2), 0.0) for k in range(8000)]
    path = write_rtstruct(tmp_path / "rt.dcm", [Structure(1, "tangle", [Drawn(points)])])
    with pytest.raises(ReadError, match=r"rt\.dcm: tangle: .* no outlines of structures"):
        roi_items(path)


def test_thousands_of_rings_in_one_plane_are_measured() -> None:
    rings = [square(2 * (k % 50), 2 * (k // 50), 1, 0) for k in range(2000)]
    found = measure(drawn(*rings, square(-5, -5, 300, 0)))
    assert found.area_mm2 == 90000 - 2000
    assert found.n_nested == 1


@pytest.mark.parametrize("seed", range(8))
def test_rings_combined_by_even_odd_are_the_symmetric_difference_of_another_library(seed: int) -> None:
    shapely = pytest.importorskip("shapely")
    rng = np.random.default_rng(seed)
    rings = [np.column_stack([rng.uniform(0, 20, (3, 2)), np.zeros(3)]) for _ in range(4)]
    wanted = shapely.Polygon()
    for ring in rings:
        wanted = wanted.symmetric_difference(shapely.Polygon(ring[:, :2]))
    assert measure(drawn(*rings)).area_mm2 == pytest.approx(wanted.area, abs=1e-9)
