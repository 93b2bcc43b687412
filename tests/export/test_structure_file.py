"""An RTSTRUCT of a prediction: the same voxels when read back, the series named, and nothing written by halves."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from dicom_files import uid_of, write_slice
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from rtstruct_files import Drawn, Structure, write_rtstruct

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import RegionNotFoundError, WriteError
from medotter_viewer.export import structure_file
from medotter_viewer.export.structure_file import export_structures
from medotter_viewer.formats.dicom.rtstruct import read_structures
from medotter_viewer.formats.dicom.rtstruct_writer import decimal
from medotter_viewer.formats.dicom.series import read_stack
from medotter_viewer.geometry.contour_masks import fill_structures

SPEC = EvalSpec.from_mapping({"task_type": "seg", "eval_regions": {"tumour": [1, 3], "other": [2]}}, where="spec")
REGIONS = ("tumour", "other")
TILT = (1.0, 0.0, 0.0, 0.0, 0.9396926, 0.3420201)  # by 20 degrees about x


def write_series(
    folder: Path, *, shape: tuple[int, int, int] = (8, 6, 4), orientation: Any = (1, 0, 0, 0, 1, 0), **more: Any
) -> Path:
    """Slices of 0.7 x 1.1 mm pixels, 3 mm apart, whose numbers are those of no order."""
    columns, rows, n = shape
    axes = np.array(orientation, dtype=float).reshape(2, 3)
    normal = np.cross(axes[0], axes[1])
    for k in range(n):
        position = np.array([-20.25, 31.5, 7.0]) + 3.0 * k * normal
        write_slice(
            folder / f"{k}.dcm",
            np.zeros((rows, columns), dtype=np.int16),
            position=position.tolist(),
            orientation=orientation,
            spacing=(1.1, 0.7),
            number=n - k,
            **more,
        )
    return folder


def case_of(folder: Path, data: Any, *, flips: tuple[int, ...] = (), **more: Any) -> Case:
    """Case with a label map on the voxels of the series, some axes from the other end."""
    grid = read_stack(folder)[0].grid
    data, affine = np.asarray(data, dtype=np.uint8), grid.affine.copy()
    for axis in flips:
        data = np.flip(data, axis)
        affine[:3, 3] += affine[:3, axis] * (data.shape[axis] - 1)
        affine[:3, axis] *= -1
    return Case(CaseEntry("A", channels={"image": folder}), pred=LabelMap(data, Grid(data.shape, affine)), **more)


def masks_of(path: Path, folder: Path) -> dict[str, Any]:
    """What our reader makes of a file."""
    segments, findings = fill_structures(read_structures(path)[0], read_stack(folder)[0])
    assert [f.code for f in findings if f.severity != "info"] == []
    names = segments.names
    codes = {n: [c for c, members in segments.members.items() if n in members] for n in names}
    return {names[n]: np.isin(segments.codes, codes[n]) for n in names}


def export(folder: Path, case: Case, **more: Any) -> Any:
    return export_structures(case, folder.parent / "out.dcm", **{"spec": SPEC, "regions": REGIONS, **more})


@given(
    mask=npst.arrays(np.uint8, (8, 6, 4), elements=st.integers(0, 3)),
    flips=st.sets(st.integers(0, 2)),
    tilted=st.booleans(),
)
def test_any_label_map_is_read_back_voxel_by_voxel(tmp_path_factory, mask, flips, tilted) -> None:
    """Holes, borders, pixels that touch at a corner; slices across the body and oblique ones; flipped files."""
    root = tmp_path_factory.mktemp("rt")
    folder = write_series(root / "ct", orientation=TILT if tilted else (1, 0, 0, 0, 1, 0))
    export(folder, case_of(folder, mask, flips=tuple(flips)))
    found = masks_of(root / "out.dcm", folder)
    assert list(found) == list(REGIONS)
    np.testing.assert_array_equal(found["tumour"], np.isin(mask, (1, 3)))
    np.testing.assert_array_equal(found["other"], mask == 2)


class TestContent:
    @pytest.fixture
    def written(self, tmp_path: Path) -> Any:
        import pydicom

        more = {
            "PatientName": "Müller^Zoë",
            "PatientBirthDate": "19700101",
            "StudyDate": "20200131",
            "StudyID": "7",
            "SpecificCharacterSet": "ISO_IR 100",
        }
        folder = write_series(tmp_path / "ct", more=more)
        data = np.zeros((8, 6, 4), dtype=np.uint8)
        data[1:5, 1:5, 1:3] = 1
        data[2:4, 2:4, 2] = 0
        data[7, 0, 0] = 2
        export(folder, case_of(folder, data))
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # every value is valid DICOM
            file = pydicom.dcmread(tmp_path / "out.dcm")
            str(file)
            yield file

    def test_patient_study_and_series_are_those_of_the_images(self, written: Any) -> None:
        assert (str(written.PatientName), written.PatientID) == ("Müller^Zoë", "SECRET-ID")
        assert (written.PatientBirthDate, written.StudyDate, written.StudyID) == ("19700101", "20200131", "7")
        assert (written.PatientSex, written.AccessionNumber) == ("", "")
        assert written.StudyInstanceUID == uid_of("study")
        assert written.SeriesInstanceUID != uid_of("series", "series")
        assert written.FrameOfReferenceUID == uid_of("frame", "frame of reference")
        (frame,) = written.ReferencedFrameOfReferenceSequence
        (study,) = frame.RTReferencedStudySequence
        (series,) = study.RTReferencedSeriesSequence
        assert frame.FrameOfReferenceUID == written.FrameOfReferenceUID
        assert (study.ReferencedSOPInstanceUID, series.SeriesInstanceUID) == (
            uid_of("study"),
            uid_of("series", "series"),
        )
        assert len({image.ReferencedSOPInstanceUID for image in series.ContourImageSequence}) == 4

    def test_it_says_who_wrote_it_and_what_it_is_not_for(self, written: Any) -> None:
        assert (written.Modality, written.ApprovalStatus) == ("RTSTRUCT", "UNAPPROVED")
        assert "medotter-viewer" in written.SeriesDescription
        assert "not for clinical use" in written.SeriesDescription
        assert 0 < len(written.StructureSetLabel) <= 16

    def test_each_region_is_a_structure_with_closed_contours_on_named_images(self, written: Any) -> None:
        rois = [(roi.ROINumber, roi.ROIName, roi.ROIGenerationAlgorithm) for roi in written.StructureSetROISequence]
        assert rois == [(1, "tumour", "AUTOMATIC"), (2, "other", "AUTOMATIC")]
        assert [o.ReferencedROINumber for o in written.RTROIObservationsSequence] == [1, 2]
        tumour, other = written.ROIContourSequence
        assert tumour.ROIDisplayColor != other.ROIDisplayColor
        assert [c.NumberOfContourPoints for c in tumour.ContourSequence] == [4, 11]  # the second has a keyhole
        for contour, k in zip((*tumour.ContourSequence, *other.ContourSequence), (1, 2, 0), strict=True):
            assert contour.ContourGeometricType == "CLOSED_PLANAR"
            points = np.array(contour.ContourData, dtype=float).reshape(-1, 3)
            assert len(points) == contour.NumberOfContourPoints
            np.testing.assert_allclose(points[:, 2], 7 + 3 * k)
            assert all(len(value.original_string) <= 16 for value in contour.ContourData)
            (image,) = contour.ContourImageSequence
            series = (
                written.ReferencedFrameOfReferenceSequence[0].RTReferencedStudySequence[0].RTReferencedSeriesSequence[0]
            )
            assert image.ReferencedSOPInstanceUID == series.ContourImageSequence[k].ReferencedSOPInstanceUID
        corner = sorted(
            map(tuple, np.array(other.ContourSequence[0].ContourData, dtype=float).reshape(-1, 3).tolist())
        )[0]
        assert corner == pytest.approx((-20.25 + 6.5 * 0.7, 31.5 - 0.5 * 1.1, 7))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (-123.456789012345678, "-123.45678901235"), (-1e-7 / 3, "-3.333333333e-08"), (-0.0, "0.0")],
)
def test_a_number_has_at_most_sixteen_letters(value: float, text: str) -> None:
    assert decimal(value) == text
    assert len(text) <= 16


class TestPolygons:
    SQUARE = np.array([(-19.0, 32.0), (-17.0, 32.0), (-17.0, 35.0), (-19.0, 35.0)])

    def scan(self, folder: Path, rings: Any, origins: Any = MappingProxyType({})) -> Case:
        stack = read_stack(folder)[0]
        return Case(CaseEntry("A"), stack=stack, pred_contours=ScanContours(rings, origins), gt_contours=ScanContours())

    @pytest.mark.parametrize(
        ("origins", "algorithm"),
        [
            ({}, ""),
            ({4: ("model",)}, "AUTOMATIC"),
            ({4: ("edited",)}, "MANUAL"),
            ({4: ("model", "edited")}, "SEMIAUTOMATIC"),
        ],
    )
    def test_they_stay_as_they_are_and_who_made_them_is_told(self, tmp_path: Path, origins, algorithm) -> None:
        import pydicom

        folder = write_series(tmp_path / "ct")
        rings = [self.SQUARE, np.add(self.SQUARE, (2.5, 0))][: len(origins.get(4, (1,)))]
        export(folder, self.scan(folder, {4: rings}, origins), regions=["tumour"])
        file = pydicom.dcmread(tmp_path / "out.dcm")
        (roi,) = file.StructureSetROISequence
        assert roi.ROIGenerationAlgorithm == algorithm
        points = [
            np.array(c.ContourData, dtype=float).reshape(-1, 3) for c in file.ROIContourSequence[0].ContourSequence
        ]
        for found, ring in zip(points, rings, strict=True):
            np.testing.assert_allclose(found, np.column_stack([ring, np.full(4, 7.0)]), atol=1e-9)

    def test_on_oblique_slices_they_keep_x_and_y(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct", orientation=TILT)
        found = export(folder, self.scan(folder, {4: [self.SQUARE]}), regions=["tumour"])
        assert found.polygons == 1
        points = read_structures(tmp_path / "out.dcm")[0].rois[0].contours[0].points_lps
        np.testing.assert_allclose(points[:, :2], self.SQUARE, atol=1e-9)
        assert np.ptp(points[:, 2]) > 0.5

    def test_such_as_overlap_are_written_so_that_none_cuts_another_out(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct")
        within = self.SQUARE.mean(axis=0) + (self.SQUARE - self.SQUARE.mean(axis=0)) * 0.5
        found = export(folder, self.scan(folder, {4: [within, self.SQUARE]}), regions=["tumour"])
        assert (found.polygons, found.findings) == (1, ())
        crossing = export(
            folder, self.scan(folder, {4: [self.SQUARE, np.add(self.SQUARE, (1, 1))]}), regions=["tumour"]
        )
        assert [(f.severity, f.code) for f in crossing.findings] == [("warning", "contours-retraced")]
        assert "rings overlap on slice 4" in crossing.findings[0].message
        masks_of(tmp_path / "out.dcm", folder)

    def test_edited_ones_can_be_left_out(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct")
        case = self.scan(folder, {4: [self.SQUARE, np.add(self.SQUARE, (2.5, 0))]}, {4: ("edited", "model")})
        found = export(folder, case, regions=["tumour"], generated_only=True)
        assert (found.polygons, [f.code for f in found.findings]) == (1, ["edited-left-out"])

    @pytest.mark.parametrize("flips", [(), (2,), (1, 2)])
    def test_painted_ones_of_a_plain_file_are_counted_in_the_order_of_that_file(self, tmp_path: Path, flips) -> None:
        folder = write_series(tmp_path / "ct")
        mask = np.zeros((8, 6, 4))
        mask[2:5, 1:3, 3] = 1
        case = case_of(folder, mask, flips=flips)
        number = 1 if 2 in flips else 4
        x, y = (-20.25 + 0.7 * np.array([1.5, 4.5])), 31.5 + 1.1 * np.array([0.5, 2.5])
        ring = np.array([(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])])
        painted = replace(case, pred_contours=ScanContours({number: [ring]}, {number: ["edited"]}))
        export(folder, painted, regions=["tumour"])
        np.testing.assert_array_equal(masks_of(tmp_path / "out.dcm", folder)["tumour"], mask)

    def test_a_drawn_prediction_is_written_as_it_was_drawn(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct")
        ring = [(x + 0.123, y, 10.0) for x, y in self.SQUARE]
        write_rtstruct(tmp_path / "p.dcm", [Structure(5, "tumour", [Drawn(ring)]), Structure(2, "other", [])])
        mask = np.zeros((8, 6, 4))
        mask[2:5, 1:4, 1] = 1  # columns at -20.25 + 0.7 i, rows at 31.5 + 1.1 j
        case = case_of(folder, mask)
        case = Case(CaseEntry("A", channels={"image": folder}, pred_path=tmp_path / "p.dcm"), pred=case.pred)
        assert export(folder, case, as_drawn=True).findings == ()
        rois = read_structures(tmp_path / "out.dcm")[0].rois
        assert [(roi.number, roi.name, len(roi.contours)) for roi in rois] == [(1, "tumour", 1), (2, "other", 0)]
        np.testing.assert_allclose(rois[0].contours[0].points_lps, ring, atol=1e-9)
        case.pred.data[0, 0, 3] = 1  # painted since
        found = export(folder, case, as_drawn=True)
        assert [f.code for f in found.findings] == ["contours-retraced"]
        assert "slice 4 of the label map differs from what is drawn" in found.findings[0].message
        np.testing.assert_array_equal(masks_of(tmp_path / "out.dcm", folder)["tumour"], case.pred.data == 1)

    def test_on_upright_slices_a_drawn_prediction_is_traced_and_it_is_said(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct", orientation=(0, 1, 0, 0, 0, -1))  # sagittal
        stack = read_stack(folder)[0]
        ring = stack.to_lps(np.array([(1.5, 0.5), (4.5, 0.5), (4.5, 2.5), (1.5, 2.5)]), 2)
        write_rtstruct(tmp_path / "p.dcm", [Structure(1, "tumour", [Drawn(ring.tolist())])])
        mask = np.zeros((8, 6, 4))
        mask[2:5, 1:3, 2] = 1
        case = case_of(folder, mask)
        case = Case(CaseEntry("A", channels={"image": folder}, pred_path=tmp_path / "p.dcm"), pred=case.pred)
        found = export(folder, case, regions=["tumour"], as_drawn=True)
        assert [f.code for f in found.findings] == ["contours-retraced"]
        assert "its slices are not axial" in found.findings[0].message
        np.testing.assert_array_equal(masks_of(tmp_path / "out.dcm", folder)["tumour"], mask)


class TestRefused:
    def test_without_a_series_of_images_or_a_prediction(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct")
        case = case_of(folder, np.ones((8, 6, 4)))
        alone = Case(CaseEntry("A"), pred=case.pred)
        with pytest.raises(
            WriteError, match=r"refers to the series of DICOM images .* it has no image; give .* --image"
        ):
            export(folder, alone)
        with pytest.raises(WriteError, match="case A: not written: no prediction"):
            export(folder, Case(CaseEntry("A", channels={"image": folder})))
        with pytest.raises(RegionNotFoundError):
            export(folder, case, regions=["none"])
        assert sorted(path.name for path in tmp_path.iterdir()) == ["ct"]

    def test_a_label_map_on_other_voxels(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct")
        case = case_of(folder, np.ones((8, 6, 4)))
        affine = case.pred.grid.affine.copy()
        affine[0, 3] += 0.3
        moved = Case(case.entry, pred=LabelMap(case.pred.data, Grid((8, 6, 4), affine)))
        with pytest.raises(WriteError, match="voxels do not coincide; write the label map on the grid of the series"):
            export(folder, moved)

    def test_a_name_that_dicom_cannot_hold(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct")
        spec = EvalSpec.from_mapping({"eval_regions": {"a\\b": [1], "x" * 65: [2]}}, where="spec")
        for region in spec.regions:
            with pytest.raises(WriteError, match="at most 64 letters and no backslash"):
                export(folder, case_of(folder, np.ones((8, 6, 4))), spec=spec, regions=[region])

    def test_a_polygon_on_a_slice_that_is_not_there(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct")
        case = TestPolygons().scan(folder, {9: [TestPolygons.SQUARE]})
        with pytest.raises(WriteError, match="slice 9 is not among the images"):
            export(folder, case, regions=["tumour"])

    def test_what_would_be_read_back_otherwise_leaves_the_old_file(self, tmp_path: Path, monkeypatch) -> None:
        folder = write_series(tmp_path / "ct")
        case = case_of(folder, np.ones((8, 6, 4)))
        export(folder, case)
        before = (tmp_path / "out.dcm").read_bytes()
        real = structure_file.write_structures

        def worse(path: Path, rois: Any, stack: Any) -> Any:
            return real(path, rois[1:], stack)

        monkeypatch.setattr(structure_file, "write_structures", worse)
        with pytest.raises(WriteError, match="tumour is read back with 48 other pixels on slice 1"):
            export(folder, case)
        assert (tmp_path / "out.dcm").read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["ct", "out.dcm"]

    def test_an_attribute_that_is_no_valid_dicom_is_left_empty_and_told(self, tmp_path: Path) -> None:
        folder = write_series(tmp_path / "ct", texts={"StudyDate": "yesterday"})
        found = export(folder, case_of(folder, np.ones((8, 6, 4))))
        assert [(f.severity, f.code) for f in found.findings] == [("warning", "attribute-left-out")]
        assert found.findings[0].message.startswith("StudyDate of the series is no valid DICOM")
