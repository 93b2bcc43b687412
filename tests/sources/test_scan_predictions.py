"""A scan's prediction in a file of its own: label map, RTSTRUCT or SEG, on its slices and of its target or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest
from numpy.typing import NDArray
from rtstruct_files import Drawn, Structure, write_rtstruct
from scan_files import TARGET, box, submission, tags, write_dicom_scan, write_png_scan
from seg_files import write_seg

from medotter_viewer.batch import score_entries
from medotter_viewer.checks.source import check_source
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.scoring.lung import predicted_contours
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.slices import slice_profile
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.source import CaseSource

WRITERS = {"png": write_png_scan, "dicom": write_dicom_scan}
LPS = np.diag([-1.0, -1.0, 2.5, 1.0])
TRUTH = {1: [box(9.5, 9.5, 10)], 2: [box(9.5, 9.5, 10)]}
"""Pixels 10 to 19 of both axes, on slices 1 and 2 of 3."""


def block(n_rows: int = 10, value: int = 1) -> NDArray[np.uint8]:
    """Columns 10 to 19 and some rows of slices 1 and 2."""
    data = np.zeros((64, 64, 3), dtype=np.uint8)
    data[10:20, 10 : 10 + n_rows, :2] = value
    return data


def write(path: Path, data: Any, affine: Any = LPS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nib.save(nib.Nifti1Image(np.asarray(data), affine), path)
    return path


def one_scan(root: Path, layout: str = "dicom", **more: Any) -> Path:
    WRITERS[layout](root / "scans", "S", {"BODY": {}, TARGET: TRUTH}, n_slices=3, **more)
    return root / "scans"


def scored(source: CaseSource, case_id: str = "S") -> CaseScore:
    (score,) = score_entries([source.entry(case_id)], source.spec, ScoreOptions())
    return score


def volumes(source: CaseSource) -> list[float | None]:
    score = scored(source)
    assert score.status == "scored", score.message
    return [score.case[name].value for name in ("tp_mm3", "fp_mm3", "fn_mm3")]


@pytest.mark.parametrize("name", ["S.nii.gz", "S.nii", "S.nrrd"])
@pytest.mark.parametrize("layout", WRITERS)
def test_a_label_map_is_scored_by_the_areas_of_its_pixels(tmp_path: Path, layout: str, name: str) -> None:
    root = one_scan(tmp_path, layout, thickness=2.0)
    if name.endswith("nrrd"):
        import nrrd

        header = {
            "space": "left-posterior-superior",
            "space directions": np.diag([1, 1, 2.5]),
            "space origin": np.zeros(3),
        }
        (tmp_path / "model").mkdir()
        nrrd.write(str(tmp_path / "model" / name), block(6), header)
    else:
        write(tmp_path / "model" / name, block(6))
    source = open_source(root, predictions=tmp_path / "model")
    assert volumes(source) == [240, 0, 160]  # 2 slices of 60 and 40 mm2, 2 mm thick
    case = source.load("S")
    assert case.pred_contours is None
    assert case.pred is not None
    assert case.pred.grid is case.stack.grid
    contours = predicted_contours(case, source.spec)
    assert contours is not None
    (ring,) = contours.rings[1]
    assert sorted(map(tuple, ring.tolist())) == [(9.5, 9.5), (9.5, 15.5), (19.5, 9.5), (19.5, 15.5)]
    assert {number: list(origins) for number, origins in contours.origins.items()} == {1: ["model"], 2: ["model"]}
    profile = slice_profile(case, source.spec)
    assert profile is not None
    assert sorted(zip(profile.gt, profile.pred, profile.both, strict=True)) == [(0, 0, 0), (100, 60, 60), (100, 60, 60)]


def test_an_empty_label_map_is_a_prediction_and_no_file_is_none(tmp_path: Path) -> None:
    root = one_scan(tmp_path)
    write_dicom_scan(root, "T", {TARGET: TRUTH}, n_slices=3)
    write(tmp_path / "model" / "S.nii.gz", block(0))
    source = open_source(root, predictions=tmp_path / "model")
    assert volumes(source) == [0, 0, 200]
    score = scored(source, "T")
    assert (score.status, source.entry("T").missing) == ("missing_prediction", ("prediction",))
    sought = f"looked for submission.csv and {tmp_path / 'model' / 'T'} with a known suffix"
    assert str(score.message) == f"case T: no prediction found, {sought}"


def test_other_ids_are_an_error_that_names_them(tmp_path: Path) -> None:
    root = one_scan(tmp_path)
    data = block()
    data[0, 0, 0], data[1, :3, 0] = 7, 2
    write(tmp_path / "model" / "S.nii.gz", data)
    source = open_source(root, predictions=tmp_path / "model")
    score = scored(source)
    assert score.status == "error"
    assert "ids outside the label space [1]: 2 (3 voxels), 7 (1 voxels); the target has id 1" in str(score.message)
    assert "ids-outside-label-space" in {f.code for f in check_source(source) if f.severity == "error"}


def test_a_label_map_elsewhere_is_refused_with_numbers_and_may_be_resampled(tmp_path: Path) -> None:
    root = one_scan(tmp_path)
    flipped = LPS.copy()
    flipped[1, 1], flipped[1, 3] = 1, -63  # as a converter writes it: rows from the other end
    write(tmp_path / "model" / "S.nii.gz", block(6)[:, ::-1], flipped)
    score = scored(open_source(root, predictions=tmp_path / "model"))
    assert score.status == "error"
    assert "grids differ: prediction 64 x 64 x 3 voxels" in str(score.message)
    assert "largest corner displacement 63.00 mm, 0.50 mm is allowed" in str(score.message)
    assert "write the prediction on the scan's grid, or resample it by --resample-prediction" in str(score.message)
    source = open_source(root, predictions=tmp_path / "model", resample_prediction=True)
    assert volumes(source) == [120, 0, 80]
    assert "resampled-prediction" in {f.code for f in source.load("S").findings}


def test_without_a_place_of_its_slices_a_scan_takes_polygons_alone(tmp_path: Path) -> None:
    placeless = {n: tags(n).replace("(0020.0032)", "(0020.9999)") for n in (1, 2, 3)}
    root = one_scan(tmp_path, "png", aux=placeless)
    write(tmp_path / "model" / "S.nii.gz", block())
    score = scored(open_source(root, predictions=tmp_path / "model"))
    assert score.status == "error"
    assert "do not say where these lie; give a submission of polygons instead" in str(score.message)


def test_a_label_map_without_position_takes_the_scans(tmp_path: Path) -> None:
    root = one_scan(tmp_path)
    image = nib.Nifti1Image(block(6), None)
    image.header["qform_code"] = image.header["sform_code"] = 0
    (tmp_path / "model").mkdir()
    nib.save(image, tmp_path / "model" / "S.nii.gz")
    source = open_source(root, predictions=tmp_path / "model")
    assert volumes(source) == [120, 0, 80]
    assert "no-form-codes" in {f.code for f in source.load("S").findings}


def test_two_files_for_a_scan_are_refused_and_a_submission_comes_first(tmp_path: Path) -> None:
    root = one_scan(tmp_path)
    for name in ("S.nii", "S.nii.gz"):
        write(tmp_path / "model" / name, block())
    source = open_source(root, predictions=tmp_path / "model")
    assert "2 predictions for case S" in str(scored(source).message)
    submission(tmp_path / "model" / "submission.csv", {"S": {1: [box(9.5, 9.5, 10)]}})
    source = open_source(root, predictions=tmp_path / "model")
    assert volumes(source) == [100, 0, 100]
    assert source.load("S").pred is None


def test_files_are_found_by_a_pattern_and_those_of_no_scan_are_named(tmp_path: Path) -> None:
    root = one_scan(tmp_path)
    write(tmp_path / "model" / "S" / "seg.nii.gz", block())
    write(tmp_path / "model" / "X" / "seg.nii.gz", block())
    source = open_source(root, predictions=tmp_path / "model", pattern="{case_id}/seg.nii.gz")
    assert volumes(source) == [200, 0, 0]
    unused = [f.file for f in check_source(source) if f.code == "unused-prediction"]
    assert unused == [str(tmp_path / "model" / "X" / "seg.nii.gz")]


class TestStructures:
    def predict(self, root: Path, *structures: Structure, folder: bool = False) -> CaseSource:
        scans = one_scan(root)
        path = root / "model" / ("S/rt.dcm" if folder else "S.dcm")
        write_rtstruct(path, structures)
        return open_source(scans, predictions=root / "model")

    @staticmethod
    def drawn(*rings: Any, number: int = 1) -> list[Drawn]:
        return [Drawn([(x, y, 2.5 * (number - 1)) for x, y in ring]) for ring in rings]

    @pytest.mark.parametrize("folder", [False, True])
    def test_rings_are_taken_as_they_were_drawn_and_a_ring_within_another_is_a_hole(
        self, tmp_path: Path, folder: bool
    ) -> None:
        outer, inner = box(9.25, 9.25, 10), box(12.125, 12.125, 4)
        gtv = Structure(2, TARGET, self.drawn(inner, outer))
        body = Structure(1, "BODY", self.drawn(box(0, 0, 60)))
        source = self.predict(tmp_path, body, gtv, folder=folder)
        case = source.load("S")
        assert case.pred is None
        assert case.pred_contours is not None
        assert list(case.pred_contours.rings) == [1]
        (ring,) = case.pred_contours.rings[1]
        assert {tuple(p) for p in ring.tolist()} >= {*outer, *inner}
        (note,) = [f for f in case.findings if f.code == "contour-nested"]
        assert (note.severity, "on slice 1: combined by even-odd" in note.message) == ("info", True)
        tp, fp, fn = volumes(source)
        both = 9.75**2 - 16
        assert (tp, fp, fn) == (pytest.approx(both), pytest.approx(100 - 16 - both), pytest.approx(200 - both))
        assert list(check_source(source)) == [f for f in check_source(source) if f.code != "unused-prediction"]

    def test_names_of_the_target_are_those_of_the_dictionary_and_united(self, tmp_path: Path) -> None:
        one_scan(tmp_path)
        (tmp_path / "scans" / "structure_dict.dat").write_text(f"{TARGET}|GTV left|GTV right\n")
        left = Structure(1, "GTV left", self.drawn(box(9.5, 9.5, 5, 10)))
        right = Structure(2, "GTV right", self.drawn(box(12.5, 9.5, 7, 10)))
        write_rtstruct(tmp_path / "model" / "S.dcm", [left, right])
        source = open_source(tmp_path / "scans", predictions=tmp_path / "model")
        assert volumes(source) == [100, 0, 100]

    def test_rings_that_cross_are_an_error_with_structure_and_slice(self, tmp_path: Path) -> None:
        source = self.predict(tmp_path, Structure(1, TARGET, self.drawn(box(9, 9, 10), box(14, 14, 10), number=2)))
        message = str(scored(source).message)
        assert f"{TARGET}: slice 2: rings 1 and 2 cross each other near x 16.5, y 16.5" in message
        assert "correct the contours, or give the prediction as a label map" in message

    def test_other_names_are_an_error_that_lists_them_and_no_contours_are_an_empty_prediction(
        self, tmp_path: Path
    ) -> None:
        source = self.predict(tmp_path, Structure(1, "tumour", self.drawn(box(9, 9, 10))))
        message = str(scored(source).message)
        assert f"no structure is called {TARGET} or a variant of it (there are tumour)" in message
        write_rtstruct(tmp_path / "model" / "S.dcm", [Structure(1, TARGET, [])])
        assert volumes(open_source(tmp_path / "scans", predictions=tmp_path / "model")) == [0, 0, 200]

    def test_another_frame_of_reference_is_refused(self, tmp_path: Path) -> None:
        scans = one_scan(tmp_path)
        write_rtstruct(tmp_path / "model" / "S.dcm", [Structure(1, TARGET, self.drawn(box(9, 9, 5)))], frame="other")
        score = scored(open_source(scans, predictions=tmp_path / "model"))
        assert score.status == "error"
        assert "frame of reference" in str(score.message)

    def test_a_segmentation_without_its_empty_slices_is_a_label_map_of_the_scan(self, tmp_path: Path) -> None:
        scans = one_scan(tmp_path)
        files = [scans / "S" / "CT" / f"IM{3 - k}.dcm" for k in range(3)]
        masks = np.zeros((3, 64, 64, 2), dtype=np.uint8)
        masks[:2, :, :, 0] = block(6)[:, :, :2].T > 0
        masks[:, 40:, 40:, 1] = 1
        (tmp_path / "model").mkdir()
        write_seg(tmp_path / "model" / "S.dcm", files, masks, [TARGET, "BODY"])
        source = open_source(scans, predictions=tmp_path / "model")
        case = source.load("S")
        assert case.pred is not None
        np.testing.assert_array_equal(case.pred.data, block(6))
        assert volumes(source) == [120, 0, 80]


def test_a_bundle_of_contours_takes_label_maps_too(tmp_path: Path) -> None:
    one_scan(tmp_path, "png")
    (tmp_path / "scans").rename(tmp_path / "data")
    (tmp_path / "bundle").mkdir()
    meta = {"dataset": "D", "image": "S/pngs", "seg": "S/contours", "patient_uid": None}
    manifest = {"task": "t", "version": "1", "hash": "0" * 12, "train": [], "test": ["S"], "per_case": {"S": meta}}
    (tmp_path / "bundle" / "manifest_test.json").write_text(json.dumps(manifest))
    spec = {"task_type": "lung_contour", "eval_regions": {"gtv": [4]}, "lung_contour": {"target": TARGET}}
    (tmp_path / "bundle" / "eval_spec.yaml").write_text(json.dumps(spec))
    write(tmp_path / "model" / "S.nii.gz", block(6, value=4))
    source = open_source(tmp_path / "bundle", predictions=tmp_path / "model")
    assert volumes(source) == [120, 0, 80]
    assert [f.code for f in check_source(source) if f.severity == "error"] == []
    write(tmp_path / "model" / "S.nii.gz", block(6))
    message = str(scored(open_source(tmp_path / "bundle", predictions=tmp_path / "model")).message)
    assert "ids outside the label space [4]: 1 (120 voxels); the target has id 4" in message
