"""RTSTRUCT files: names and contours joined by number, numbers read strictly."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from dicom_files import BIG_ENDIAN, DEFLATED, IMPLICIT, ramp, uid_of, write_series
from hypothesis import given
from hypothesis import strategies as st
from rtstruct_files import Drawn, Structure, square, write_rtstruct

from medotter_viewer.errors import MedotterViewerError, ReadError
from medotter_viewer.formats.dicom.rtstruct import parse_points, read_structures


def test_contours_belong_to_the_name_of_their_number_whatever_the_order(tmp_path: Path) -> None:
    sides = {5: 20.0, 2: 4.0, 9: 8.0}
    names = {5: "BODY", 2: "GTV", 9: "GTV", 7: "EMPTY"}
    drawn = [Structure(n, name, [Drawn(square(0, 0, sides[n], 3))] if n in sides else ()) for n, name in names.items()]
    structures, findings = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn, order=[9, 7, 2, 5]))
    assert findings == []
    assert [(r.number, r.name, r.n_contours) for r in structures.rois] == [
        (5, "BODY", 1),
        (2, "GTV", 1),
        (9, "GTV", 1),
        (7, "EMPTY", 0),
    ]
    assert {r.number: float(np.ptp(r.contours[0].points_lps[:, 0])) for r in structures.rois[:3]} == sides
    assert structures.names == {5: "BODY", 2: "GTV (2)", 9: "GTV (9)", 7: "EMPTY"}


def test_a_structure_that_has_no_contour_item_is_listed(tmp_path: Path) -> None:
    drawn = [Structure(1, "GTV", [Drawn(square(0, 0, 4, 0))]), Structure(7, "EMPTY", None)]
    structures, findings = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn))
    assert [(r.name, r.n_contours) for r in structures.rois] == [("GTV", 1), ("EMPTY", 0)]
    assert findings == []


def test_blanks_around_a_name_are_no_part_of_it_and_no_name_is_made_up_silently(tmp_path: Path) -> None:
    drawn = [Structure(1, " GTV  "), Structure(2, "")]
    structures, _ = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn))
    assert [r.name for r in structures.rois] == ["GTV", "ROI 2"]


def test_color_type_image_and_frame_of_reference_are_read(tmp_path: Path) -> None:
    drawn = [Structure(1, "GTV", [Drawn(square(0, 0, 4, 0), "CLOSEDPLANAR_XOR", "1.2.3")], (10, 20, 30))]
    structures, _ = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn))
    (roi,) = structures.rois
    assert roi.color == (10, 20, 30)
    assert (roi.contours[0].geometric_type, roi.contours[0].sop_uid) == ("CLOSEDPLANAR_XOR", "1.2.3")
    assert structures.frame_of_reference_uids == (uid_of("frame", "frame of reference"),)


@pytest.mark.parametrize("syntax", [IMPLICIT, BIG_ENDIAN, DEFLATED])
def test_every_way_of_writing_gives_the_same_points(tmp_path: Path, syntax: str) -> None:
    points = [(-1.5, 2.25, -3e2), (4, 5, -300), (7.125, -8, -300)]
    path = write_rtstruct(tmp_path / "rt.dcm", [Structure(1, "GTV", [Drawn(points)])], syntax=syntax)
    structures, _ = read_structures(path)
    assert structures.rois[0].contours[0].points_lps.tolist() == [list(map(float, p)) for p in points]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("1,5\\2\\3\\4\\5\\6\\7\\8\\9", "1,5"),
        ("1\\2\\3\\4\\5", "5 numbers"),
        ("1\\2\\nan\\4\\5\\6\\7\\8\\9", "nan"),
        ("1\\2\\inf\\4\\5\\6\\7\\8\\9", "inf"),
        ("1\\2\\3\\1_0\\5\\6\\7\\8\\9", "1_0"),
        ("1\\2\\\\4\\5\\6\\7\\8\\9", "value 3 of 9 is ''"),
        ("1\\2\\3 3\\4\\5\\6\\7\\8\\9", "3 3"),
        ("1\\2\\1e999\\4\\5\\6\\7\\8\\9", "inf mm"),
        ("1\\2\\1-2\\4\\5\\6\\7\\8\\9", "1-2"),
    ],
)
def test_a_malformed_number_is_an_error_that_names_structure_and_contour(tmp_path: Path, text: str, word: str) -> None:
    drawn = [Structure(4, "Cord", [Drawn(square(0, 0, 4, 0)), Drawn(text)])]
    structures, findings = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn))
    (finding,) = findings
    assert (finding.severity, finding.code, finding.where) == ("error", "contour-unreadable", "Cord")
    assert "Cord: contour 2" in finding.message
    assert word in finding.message
    assert structures.rois[0].n_contours == 2
    assert len(structures.rois[0].contours) == 1


def test_of_many_malformed_contours_three_are_named_and_all_are_counted(tmp_path: Path) -> None:
    drawn = [Structure(4, "Cord", [Drawn("1\\2")] * 1000)]
    _, (finding,) = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn))
    assert "and 997 more" in finding.message
    assert len(finding.message) < 400


def test_a_wrong_number_of_points_a_missing_type_and_a_repeated_contour_are_said(tmp_path: Path) -> None:
    ring = square(0, 0, 4, 0)
    drawn = [Structure(1, "GTV", [Drawn(ring, n_points=9), Drawn(ring), Drawn(square(9, 9, 1, 0), None)])]
    structures, findings = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn))
    assert {f.code: f.severity for f in findings} == {
        "contour-repeated": "warning",
        "contour-point-count": "warning",
        "contour-without-type": "info",
    }
    assert structures.rois[0].n_contours == 3
    assert len(structures.rois[0].contours) == 2


def test_contours_of_a_number_that_is_not_named_are_kept_with_a_warning(tmp_path: Path) -> None:
    path = write_rtstruct(tmp_path / "rt.dcm", [Structure(3, "x", [Drawn(square(0, 0, 1, 0))])])
    import pydicom

    file = pydicom.dcmread(path)
    file.StructureSetROISequence = []
    file.save_as(path)
    structures, (finding,) = read_structures(path)
    assert (finding.code, structures.rois[0].name) == ("roi-not-listed", "ROI 3")


def test_two_structures_of_one_number_are_refused(tmp_path: Path) -> None:
    path = write_rtstruct(tmp_path / "rt.dcm", [Structure(3, "A"), Structure(3, "B")])
    with pytest.raises(ReadError, match=r"number 3 stands twice \('A' and 'B'\)"):
        read_structures(path)


def test_another_kind_of_dicom_is_refused_and_no_patient_is_named(tmp_path: Path) -> None:
    (path,) = write_series(tmp_path, ramp(1))
    with pytest.raises(ReadError, match="not an RTSTRUCT, but CT") as caught:
        read_structures(path)
    assert "SECRET" not in str(caught.value)


def test_no_patient_is_named_in_any_remark(tmp_path: Path) -> None:
    drawn = [Structure(4, "Cord", [Drawn("1,2")]), Structure(5, "B", [Drawn([(0, 0, 0)], "POINT")])]
    structures, findings = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn))
    assert "SECRET" not in repr([f.to_dict() for f in findings])
    assert len(structures.rois) == 2


def test_points_are_never_made_into_decimals_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = [Structure(1, "GTV", [Drawn(square(0, 0, 4, k)) for k in range(50)])]
    path = write_rtstruct(tmp_path / "rt.dcm", drawn)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("pydicom was asked for decimals: slow, and it repairs what is wrong")

    monkeypatch.setattr("pydicom.values.convert_DS_string", refuse)
    monkeypatch.setattr("pydicom.valuerep.DSfloat.__new__", refuse)
    structures, _ = read_structures(path)
    assert sum(len(c.points_lps) for c in structures.rois[0].contours) == 200


@given(st.lists(st.tuples(*[st.floats(-1e5, 1e5, allow_nan=False)] * 3), min_size=1, max_size=20))
def test_points_come_back_as_python_writes_them(points: list[tuple[float, float, float]]) -> None:
    text = "\\".join(repr(v) for point in points for v in point)
    assert parse_points(text).tolist() == [list(p) for p in points]


@given(st.text(alphabet="0123456789.,+-eE\\ x_naif\0", max_size=40))
def test_any_text_gives_triples_or_a_value_error(text: str) -> None:
    try:
        points = parse_points(text)
    except ValueError:
        return
    assert points.shape[1] == 3
    assert np.isfinite(points).all()


@given(data=st.data())
def test_a_damaged_file_gives_only_our_errors(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged rtstruct"
    path = folder / "rt.dcm"
    if not path.exists():
        write_rtstruct(path, [Structure(1, "GTV", [Drawn(square(0, 0, 4, 0), image="1.2")]), Structure(2, "B")])
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(132, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = folder / "damaged.dcm"
    damaged.write_bytes(bytes(content[: data.draw(st.integers(140, len(content)))]))
    with contextlib.suppress(MedotterViewerError):
        read_structures(damaged)


def test_a_contour_that_runs_to_and_fro_without_end_is_left_out(tmp_path: Path) -> None:
    n = 20_001  # every line crosses the heights of all others
    points = [(float(k % 7), (k if k % 2 else -k) * 0.01, 0.0) for k in range(n)]
    drawn = [Structure(1, "tangle", [Drawn(points), Drawn(square(0, 0, 4, 0))])]
    structures, (finding,) = read_structures(write_rtstruct(tmp_path / "rt.dcm", drawn))
    assert finding.code == "contour-unreadable"
    assert "tangle: contour 1: 20001 points that run to and fro" in finding.message
    assert len(structures.rois[0].contours) == 1
