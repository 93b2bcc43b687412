"""Files that name their structures, and what becomes of them in a case."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dicom_files import ramp, uid_of, write_series
from rtstruct_files import Drawn, Structure, square, write_rtstruct

from medotter_viewer.core.case import Case, CaseEntry
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap, Remap
from medotter_viewer.errors import GridMismatchError, ReadError
from medotter_viewer.formats.dicom.series import read_stack
from medotter_viewer.sources.loading import load_case
from medotter_viewer.sources.segment_files import is_segment_file, named_labels, read_segment_file


@pytest.fixture
def ct(tmp_path: Path) -> Path:
    """Four slices of 20 x 16 pixels of 1 mm, 3 mm apart from z = -3."""
    write_series(tmp_path / "ct", ramp(4, (16, 20)), step=(0, 0, 3), origin=(0, 0, -3), thickness=3.0)
    return tmp_path / "ct"


def rtstruct(path: Path, **structures: tuple[float, float]) -> Path:
    """Squares of a side at a height, by name."""
    drawn = [
        Structure(n, name, [Drawn(square(1.5, 1.5, side, z))])
        for n, (name, (side, z)) in enumerate(structures.items(), 1)
    ]
    return write_rtstruct(path, drawn)


def case_of(gt: Path, pred: Path, image: Path | None = None, **more: object) -> Case:
    channels = {} if image is None else {"image": image}
    entry = CaseEntry("x", channels=channels, gt_path=gt, pred_path=pred, remap=Remap(None, "none"), **more)  # type: ignore[arg-type]
    return load_case(entry, images=False)


def counts(case: Case, name: str) -> tuple[int, int]:
    assert case.regions is not None
    assert case.gt is not None
    assert case.pred is not None
    ids = case.regions[name]
    return int(np.isin(case.gt.data, ids).sum()), int(np.isin(case.pred.data, ids).sum())


def write_labels(path: Path, data: np.ndarray, affine: np.ndarray) -> Path:
    import nibabel

    nibabel.save(nibabel.Nifti1Image(data.astype(np.uint8), affine), path)
    return path


def codes(case: Case) -> set[str]:
    return {f.code for f in case.findings}


def test_an_rtstruct_needs_its_series(tmp_path: Path) -> None:
    path = rtstruct(tmp_path / "rt.dcm", GTV=(4, 0))
    with pytest.raises(ReadError, match="needs the series it was drawn on: give its folder by --image"):
        read_segment_file(path)


def test_an_rtstruct_becomes_segments_on_the_grid_of_its_series(tmp_path: Path, ct: Path) -> None:
    found = read_segment_file(rtstruct(tmp_path / "rt.dcm", GTV=(4, 0), BODY=(10, 0)), image=ct)
    assert found is not None
    segments, findings = found
    assert findings == []
    assert segments.grid.shape == (20, 16, 4)
    assert segments.grid.corner_displacement_mm(read_stack(ct)[0].grid) == 0
    named = {names: int((segments.codes == code).sum()) for code, names in segments.combinations().items()}
    assert named == {frozenset({"GTV", "BODY"}): 16, frozenset({"BODY"}): 84}


def test_a_folder_with_one_rtstruct_counts_as_that_file(tmp_path: Path, ct: Path) -> None:
    rtstruct(tmp_path / "alone" / "rt.dcm", GTV=(4, 0))
    found = read_segment_file(tmp_path / "alone", image=ct)
    assert found is not None
    assert found[0].codes.any()


def test_a_folder_with_its_images_too_is_its_own_series(ct: Path) -> None:
    rtstruct(ct / "rt.dcm", GTV=(4, 0))
    found = read_segment_file(ct)
    assert found is not None
    assert int((found[0].codes > 0).sum()) == 16


def test_what_is_known_to_name_structures_is_what_is_read_as_such(tmp_path: Path, ct: Path) -> None:
    file = rtstruct(tmp_path / "rt" / "any.name", GTV=(4, 0))
    (tmp_path / "rt" / "damaged").write_bytes(bytes(128) + b"DICM" + bytes(range(200)))  # hides no names
    for path, named in ((file, True), (file.parent, True), (ct, False), (tmp_path / "none", False)):
        assert is_segment_file(path) is named
        assert (read_segment_file(path, image=ct) is not None) is named


def test_what_names_nothing_is_left_to_the_other_readers(tmp_path: Path, ct: Path) -> None:
    labels = write_labels(tmp_path / "a.nii.gz", np.ones((2, 2, 2)), np.eye(4))
    assert read_segment_file(labels) is None
    assert read_segment_file(ct) is None
    assert read_segment_file(ct / "0.dcm") is None
    assert read_segment_file(tmp_path / "nothing") is None
    for n in (1, 2):
        rtstruct(tmp_path / "two" / f"{n}.dcm", GTV=(4, 0))
    assert read_segment_file(tmp_path / "two") is None


def test_another_frame_of_reference_is_refused_by_both_names(tmp_path: Path, ct: Path) -> None:
    path = write_rtstruct(tmp_path / "rt.dcm", [Structure(1, "GTV", [Drawn(square(0, 0, 4, 0))])], frame="other")
    with pytest.raises(GridMismatchError) as caught:
        read_segment_file(path, image=ct)
    assert uid_of("frame", "other") in str(caught.value)
    assert uid_of("frame", "frame of reference") in str(caught.value)


def test_an_rtstruct_is_voxel_for_voxel_its_twin_in_nifti(tmp_path: Path, ct: Path) -> None:
    path = rtstruct(tmp_path / "rt.dcm", GTV=(4, 0), BODY=(6, 3))
    twin = np.zeros((20, 16, 4))
    twin[2:6, 2:6, 1], twin[2:8, 2:8, 2] = 1, 2  # centres from 1.5 to 5.5 and to 7.5 mm
    labels = write_labels(tmp_path / "twin.nii.gz", twin, read_stack(ct)[0].grid.affine)
    case = case_of(labels, path, ct, label_regions={"GTV": (1,), "BODY": (2,)})
    assert case.errors == []
    assert case.gt is not None
    assert case.pred is not None
    assert (case.gt.data == case.pred.data).all()
    assert (counts(case, "GTV"), counts(case, "BODY")) == ((16, 16), (36, 36))


def test_structures_are_matched_by_name_not_by_number(tmp_path: Path, ct: Path) -> None:
    gt = rtstruct(tmp_path / "gt.dcm", GTV=(4, 0), BODY=(10, 0))
    pred = rtstruct(tmp_path / "pred.dcm", BODY=(10, 0), GTV=(3, 0))
    case = case_of(gt, pred, ct)
    assert case.errors == []
    assert (counts(case, "GTV"), counts(case, "BODY")) == ((16, 9), (100, 100))


def test_a_structure_of_one_file_alone_is_empty_in_the_other_and_said(tmp_path: Path, ct: Path) -> None:
    case = case_of(rtstruct(tmp_path / "gt.dcm", GTV=(4, 0)), rtstruct(tmp_path / "pred.dcm", gtv=(4, 0)), ct)
    assert (counts(case, "GTV"), counts(case, "gtv")) == ((16, 0), (0, 16))
    told = [f.message for f in case.findings if f.code == "structure-in-one-file"]
    assert told == [
        "only the ground truth has GTV: taken as empty in the prediction; names are matched as written",
        "only the prediction has gtv: taken as empty in the ground truth; names are matched as written",
    ]


def test_plain_ids_against_names_are_an_error_that_asks_for_names(tmp_path: Path, ct: Path) -> None:
    labels = write_labels(tmp_path / "p.nii.gz", np.zeros((20, 16, 4)), read_stack(ct)[0].grid.affine)
    case = case_of(rtstruct(tmp_path / "gt.dcm", GTV=(4, 0)), labels, ct)
    (error,) = case.errors
    assert error.code == "ids-without-names"
    assert "--labels NAMES.yaml" in error.message
    assert "GTV" in error.message


def test_ids_that_the_names_leave_out_are_background_and_said() -> None:
    labels = LabelMap(np.array([0, 1, 2, 7], dtype=np.uint8).reshape(4, 1, 1), Grid((4, 1, 1), np.eye(4)))
    segments, findings = named_labels(labels, {"both": (1, 2), "one": (2,)}, "prediction")
    assert {c: sorted(n) for c, n in segments.combinations().items()} == {1: ["both"], 2: ["both", "one"]}
    assert segments.codes.ravel().tolist() == [0, 1, 2, 0]
    assert [f.message for f in findings] == ["prediction: ids 7 have no name: taken as background"]


def test_ids_given_with_the_case_are_used_and_one_that_lacks_is_an_error(tmp_path: Path, ct: Path) -> None:
    path = rtstruct(tmp_path / "rt.dcm", GTV=(4, 0))
    case = case_of(path, path, ct, segment_ids={frozenset({"GTV"}): 5})
    assert case.gt is not None
    assert np.unique(case.gt.data).tolist() == [0, 5]
    (error,) = case_of(path, path, ct, segment_ids={frozenset({"other"}): 5}).errors
    assert error.code == "segment-without-id"


def test_a_remap_of_ids_does_not_fit_names(tmp_path: Path, ct: Path) -> None:
    path = rtstruct(tmp_path / "rt.dcm", GTV=(4, 0))
    entry = CaseEntry("x", channels={"image": ct}, gt_path=path, pred_path=path, remap=Remap({1: 2}, "user"))
    assert [f.code for f in load_case(entry, images=False).errors] == ["remap-of-names"]


def test_an_unreadable_contour_keeps_the_case_from_being_scored(tmp_path: Path, ct: Path) -> None:
    path = write_rtstruct(tmp_path / "rt.dcm", [Structure(1, "GTV", [Drawn("1,5\\2\\0")])])
    case = case_of(path, path, ct)
    assert {f.code for f in case.errors} == {"contour-unreadable"}
    assert "GTV: contour 1" in case.errors[0].message


def test_a_seg_that_leaves_out_empty_slices_meets_an_rtstruct(tmp_path: Path, ct: Path) -> None:
    from seg_files import write_seg

    masks = np.zeros((4, 16, 20, 2), dtype=np.uint8)
    masks[1, 2:6, 2:6, 0] = 1
    masks[1, 3:9, 3:9, 1] = 1
    seg = write_seg(tmp_path / "seg.dcm", [ct / f"{k}.dcm" for k in range(4)], masks, ["GTV", "lesion"])
    case = case_of(rtstruct(tmp_path / "rt.dcm", GTV=(4, 0)), seg, ct)
    assert case.errors == []
    assert "segments-cropped" in codes(case)
    assert (counts(case, "GTV"), counts(case, "lesion")) == ((16, 16), (0, 36))
    assert case.gt is not None
    assert case.gt.grid.shape == (20, 16, 4)


def test_a_segmentation_of_slicer_meets_an_rtstruct(tmp_path: Path, ct: Path) -> None:
    import nrrd

    data = np.zeros((6, 6, 2), dtype=np.uint8)  # cut to what it holds, as Slicer does
    data[1:5, 1:5, 0] = 3
    fields = {"Segment0_ID": "Segment_1", "Segment0_Name": "GTV", "Segment0_LabelValue": "3", "Segment0_Layer": "0"}
    header = {
        "space": "left-posterior-superior",
        "space directions": np.diag([1.0, 1.0, 3.0]),
        "space origin": np.array([1.0, 1.0, 0.0]),
        "kinds": ["domain"] * 3,
        **fields,
    }
    nrrd.write(str(tmp_path / "x.seg.nrrd"), data, header)
    case = case_of(rtstruct(tmp_path / "rt.dcm", GTV=(4, 0)), tmp_path / "x.seg.nrrd", ct)
    assert case.errors == []
    assert counts(case, "GTV") == (16, 16)
    assert case.gt is not None
    assert case.pred is not None
    assert (case.gt.data == case.pred.data).all()


def test_segs_of_other_slices_meet_without_an_image(tmp_path: Path, ct: Path) -> None:
    from seg_files import write_seg

    slices = [ct / f"{k}.dcm" for k in range(4)]
    paths = []
    for name, first, last in (("a", 0, 2), ("b", 1, 4)):
        masks = np.zeros((4, 16, 20, 1), dtype=np.uint8)
        masks[first:last, 2:6, 2:6, 0] = 1
        paths.append(write_seg(tmp_path / f"{name}.dcm", slices, masks, ["GTV"]))
    case = case_of(*paths)
    assert case.errors == []
    assert counts(case, "GTV") == (32, 48)
    assert case.gt is not None
    assert case.pred is not None
    assert int(((case.gt.data > 0) & (case.pred.data > 0)).sum()) == 16
