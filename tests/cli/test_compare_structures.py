"""``compare`` on files that name their structures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import ramp, write_series
from rtstruct_files import Drawn, Structure, square, write_rtstruct

from medotter_viewer.formats.dicom.series import read_stack


@pytest.fixture
def ct(tmp_path: Path) -> Path:
    """Three slices of 30 x 30 pixels of 1 mm, 3 mm apart."""
    write_series(tmp_path / "ct", ramp(3, (30, 30)), step=(0, 0, 3), thickness=3.0)
    return tmp_path / "ct"


def named(path: Path, *structures: Structure, **more: Any) -> Path:
    return write_rtstruct(path, structures, **more)


def gtv(side: float, number: int = 1, name: str = "GTV") -> Structure:
    return Structure(number, name, [Drawn(square(1.5, 1.5, side, 3))])


def test_an_rtstruct_against_itself(cli: Any, ct: Path, tmp_path: Path) -> None:
    rt = named(tmp_path / "rt.dcm", gtv(20, 5, "BODY"), gtv(4, 2), gtv(8, 9), Structure(7, "EMPTY"), order=[9, 7, 2, 5])
    done = cli("compare", rt, rt, "--image", ct, "--json", "-")
    assert (done.code, done.data["status"], done.data["notes"]) == (0, "scored", [])
    regions = done.data["regions"]
    counts = {name: region["counts"]["gt"] for name, region in regions.items()}
    assert counts == {"BODY": 400, "GTV (2)": 16, "GTV (9)": 64, "EMPTY": 0}
    assert [regions[n]["dice"]["value"] for n in counts] == [1, 1, 1, 1]
    assert regions["EMPTY"]["dice"]["status"] == "absent"


def test_structures_that_overlap_are_scored_each_by_itself(cli: Any, ct: Path, tmp_path: Path) -> None:
    gt = named(tmp_path / "gt.dcm", gtv(10, 1, "BODY"), gtv(4, 2, "GTV"))
    pred = named(tmp_path / "pred.dcm", gtv(2, 1, "GTV"), gtv(10, 2, "BODY"))
    regions = cli("compare", gt, pred, "--image", ct, "--json", "-").data["regions"]
    assert regions["BODY"]["counts"] == {"gt": 100, "pred": 100, "intersection": 100}
    assert regions["GTV"]["counts"] == {"gt": 16, "pred": 4, "intersection": 4}
    assert regions["GTV"]["dice"]["value"] == pytest.approx(8 / 20)


@pytest.mark.parametrize(
    ("rings", "pixels"),
    [
        ([square(0.5, 0.5, 20, 3), square(5.5, 5.5, 10, 3)], 300),
        ([square(5.5, 5.5, 10, 3), square(8.5, 8.5, 4, 3), square(0.5, 0.5, 20, 3)], 316),
        ([[*square(0.5, 0.5, 20, 3), (0.5, 0.5, 3), *square(5.5, 5.5, 10, 3), (5.5, 5.5, 3)]], 300),
    ],
)
def test_holes(cli: Any, ct: Path, tmp_path: Path, rings: list[Any], pixels: int) -> None:
    rt = named(tmp_path / "rt.dcm", Structure(1, "GTV", [Drawn(ring) for ring in rings]))
    data = cli("compare", rt, rt, "--image", ct, "--json", "-").data
    assert data["regions"]["GTV"]["counts"]["gt"] == pixels
    assert {n["code"] for n in data["notes"]} == ({"contour-nested"} if len(rings) > 1 else set())


def test_an_rtstruct_without_its_series_says_what_to_give(cli: Any, tmp_path: Path) -> None:
    rt = named(tmp_path / "rt.dcm", gtv(4))
    done = cli("compare", rt, rt)
    assert done.code == 1
    assert "give its folder by --image" in done.err


def test_another_frame_of_reference_is_refused(cli: Any, ct: Path, tmp_path: Path) -> None:
    rt = named(tmp_path / "rt.dcm", gtv(4), frame="other")
    done = cli("compare", rt, rt, "--image", ct, "--json", "-")
    assert (done.code, done.data["status"]) == (1, "error")
    assert "frame of reference" in done.err


def test_names_against_ids_by_a_file_of_labels(cli: Any, ct: Path, tmp_path: Path) -> None:
    import nibabel

    rt = named(tmp_path / "rt.dcm", gtv(4), gtv(10, 2, "BODY"))
    data = np.zeros((30, 30, 3), dtype=np.uint8)
    data[2:6, 2:6, 1] = 7
    pred = tmp_path / "pred.nii.gz"
    nibabel.save(nibabel.Nifti1Image(data, read_stack(ct)[0].grid.affine), pred)
    done = cli("compare", rt, pred, "--image", ct)
    assert done.code == 1
    assert "plain ids" in done.err
    assert "--labels NAMES.yaml" in done.err
    names = tmp_path / "names.yaml"
    names.write_text("7: GTV\n", encoding="utf-8")
    done = cli("compare", rt, pred, "--image", ct, "--labels", names, "--json", "-")
    assert done.code == 0
    assert {n: r["counts"]["pred"] for n, r in done.data["regions"].items()} == {"GTV": 16, "BODY": 0}
    assert [n["code"] for n in done.data["notes"]] == ["structure-in-one-file"]


def test_two_files_of_names_need_no_file_of_labels(cli: Any, ct: Path, tmp_path: Path) -> None:
    rt = named(tmp_path / "rt.dcm", gtv(4))
    names = tmp_path / "names.yaml"
    names.write_text("1: GTV\n", encoding="utf-8")
    done = cli("compare", rt, rt, "--image", ct, "--labels", names, "--json", "-")
    assert (done.code, [n["code"] for n in done.data["notes"]]) == (0, ["labels-not-used"])
    done = cli("compare", rt, rt, "--image", ct, "--instances")
    assert done.code == 2


def test_contours_that_cannot_be_placed_are_told(cli: Any, ct: Path, tmp_path: Path) -> None:
    tilted = [(1.5, 1.5, 0), (5.5, 1.5, 0), (5.5, 5.5, 3), (1.5, 5.5, 3)]
    rt = named(
        tmp_path / "rt.dcm",
        Structure(1, "OFF", [Drawn(square(1.5, 1.5, 4, 3.1341))]),
        Structure(2, "TILTED", [Drawn(tilted)]),
        Structure(3, "OUTSIDE", [Drawn(square(1.5, 1.5, 4, 50))]),
        Structure(4, "BETWEEN", [Drawn(square(1.5, 1.5, 4, 4.5))]),
    )
    done = cli("compare", rt, rt, "--image", ct, "--json", "-")
    data = done.data
    assert (done.code, data["status"]) == (0, "scored")
    assert {n: r["counts"]["gt"] for n, r in data["regions"].items()} == {
        "OFF": 16,
        "TILTED": 0,
        "OUTSIDE": 0,
        "BETWEEN": 16,
    }
    not_placed = {"value": None, "status": "error", "rule": "not_placed"}
    assert {n: r["dice"] for n, r in data["regions"].items()} == {
        "OFF": {"value": 1.0, "status": "ok", "rule": None},
        "TILTED": not_placed,
        "OUTSIDE": not_placed,
        "BETWEEN": {"value": 1.0, "status": "ok", "rule": None},
    }
    codes = {"contour-off-plane", "contour-not-coplanar", "contour-outside-stack", "structure-not-scored"}
    assert {n["code"] for n in data["notes"]} == codes


def test_compare_fails_where_no_region_is_left_to_score(cli: Any, ct: Path, tmp_path: Path) -> None:
    off = named(tmp_path / "off.dcm", Structure(1, "GTV", [Drawn(square(1.5, 1.5, 4, 50))]))
    done = cli("compare", off, named(tmp_path / "rt.dcm", gtv(4)), "--image", ct)
    assert done.code == 1
    assert "no region could be scored" in done.err
    assert "not scored (contours not placed)" in done.out


def test_one_of_several_series_is_chosen_by_an_option(cli: Any, ct: Path, tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    write_series(ct, ramp(3, (30, 30)), step=(0, 0, 3), series="late", names=names, more={"SeriesNumber": 9})
    rt = named(tmp_path / "rt.dcm", gtv(4))
    refused = cli("compare", rt, rt, "--image", ct)
    assert refused.code == 1
    assert "--series 9" in refused.err
    chosen = cli("compare", rt, rt, "--image", ct, "--series", "9", "--json", "-")
    assert (chosen.code, chosen.data["regions"]["GTV"]["counts"]["gt"]) == (0, 16)
    folders = ("--gt", rt, "--pred", rt, "--image", ct)
    assert cli("score", *folders, "--no-cache").code == 1
    assert cli("score", *folders, "--no-cache", "--series", "9").code == 0
    assert cli("check", *folders, "--series", "9").code == 0
    assert cli("cases", *folders, "--series", "9").code == 0


def test_info_lists_series_and_shows_one(cli: Any, ct: Path) -> None:
    more = {"SeriesNumber": 9, "SeriesDescription": "late phase"}
    write_series(ct, ramp(2, (30, 30)), series="late", names=["a", "b"], more=more)
    done = cli("info", ct)
    assert done.code == 0
    assert "late phase" in done.out
    assert "--series 9" in done.out
    assert "SECRET" not in done.out
    assert cli("info", ct, "--series", "late phase", "--json", "-").data["shape"] == [30, 30, 2]
    assert cli("info", ct, "--series", "10").code == 1
