"""VerSe as published: scans tied by their names, vertebrae in anatomical order, points beside masks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.source import CaseSource
from medotter_viewer.sources.verse_files import is_verse

MASK = np.zeros((4, 4, 40), dtype=np.uint8)
POINTS: dict[int, tuple[float, float, float]] = {}
for place, label in enumerate((20, 28, 19)):  # L1, T13, T12 from the feet upwards
    MASK[1:3, 1:3, 10 * place + 2 : 10 * place + 8] = label
    POINTS[label] = (1.5, 1.5, 10 * place + 4.5)


def nifti(path: Path, array: NDArray[Any] = MASK) -> None:
    import nibabel

    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(array, np.eye(4), dtype=array.dtype), path)


def points(path: Path, found: dict[int, tuple[float, float, float]] = POINTS, *, direction: bool = True) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    listed: list[dict[str, Any]] = [{"direction": ["R", "A", "S"]}] if direction else []
    listed += [{"label": label, "X": x, "Y": y, "Z": z} for label, (x, y, z) in found.items()]
    path.write_text(json.dumps(listed))


def scan(folder: Path, subject: str, name: str = "", *, flat: bool = False) -> None:
    """Write CT, mask and points of one scan."""
    name = name or subject
    raw, derived = (folder / subject,) * 2 if flat else (folder / "rawdata" / subject, folder / "derivatives" / subject)
    nifti(raw / f"{name}_ct.nii.gz", MASK.astype(np.int16))
    nifti(derived / f"{name}_seg-vert_msk.nii.gz")
    points(derived / f"{name}_seg-subreg_ctd.json")
    (derived / f"{name}_seg-vert_snp.png").write_bytes(b"")


def scores(source: CaseSource) -> dict[str, CaseScore]:
    return {s.case_id: s for s in score_entries(list(source.entries("test")), source.spec, ScoreOptions())}


def test_the_files_of_a_scan_are_tied_by_its_name(tmp_path: Path) -> None:
    scan(tmp_path, "sub-verse004")
    source = open_source(tmp_path)
    (entry,) = source.entries()
    assert entry.case_id == "sub-verse004"
    assert dict(entry.channels) == {"image": tmp_path / "rawdata/sub-verse004/sub-verse004_ct.nii.gz"}
    assert entry.gt_path == tmp_path / "derivatives/sub-verse004/sub-verse004_seg-vert_msk.nii.gz"
    assert entry.gt_landmarks_path == tmp_path / "derivatives/sub-verse004/sub-verse004_seg-subreg_ctd.json"
    assert (source.spec.task_type, source.modality, entry.split, entry.dataset) == ("vertebra", "CT", "test", None)


def test_regions_run_from_the_head_to_the_feet(tmp_path: Path) -> None:
    scan(tmp_path, "sub-verse004")
    assert list(open_source(tmp_path).spec.regions.items()) == [("T12", (19,)), ("T13", (28,)), ("L1", (20,))]


def test_splits_directions_older_names_and_flat_folders_are_found(tmp_path: Path) -> None:
    scan(tmp_path, "sub-verse400", "sub-verse400_split-verse253")
    scan(tmp_path, "sub-verse400", "sub-verse400_split-verse155")
    scan(tmp_path, "sub-gl003", "sub-gl003_dir-ax")
    scan(tmp_path, "sub-gl007", "sub-gl007_dir-iso")
    scan(tmp_path, "sub-gl007", "sub-gl007_dir-sag")
    scan(tmp_path, "sub-verse010", flat=True)
    old = tmp_path / "derivatives" / "sub-gl003"
    (old / "sub-gl003_dir-ax_seg-subreg_ctd.json").rename(old / "sub-gl003_dir-ax_seg-vb_ctd.json")
    source = open_source(tmp_path)
    assert source.case_ids() == [
        "sub-gl003",
        "sub-gl007_dir-iso",  # two directions of one subject: two scans
        "sub-gl007_dir-sag",
        "sub-verse010",
        "sub-verse400_split-verse155",
        "sub-verse400_split-verse253",
    ]
    assert all(e.gt_path and e.gt_landmarks_path and e.channels for e in source.entries())


def test_one_subject_s_folder_is_a_target_too(tmp_path: Path) -> None:
    scan(tmp_path, "sub-verse004", flat=True)
    assert open_source(tmp_path / "sub-verse004").case_ids() == ["sub-verse004"]


def test_several_datasets_are_told_apart_and_training_is_train(tmp_path: Path) -> None:
    for name in ("dataset-01training", "dataset-02validation", "dataset-03test"):
        scan(tmp_path / name, "sub-verse004")
    source = open_source(tmp_path)
    assert source.case_ids("train") == ["dataset-01training/sub-verse004"]
    assert source.case_ids("test") == ["dataset-02validation/sub-verse004", "dataset-03test/sub-verse004"]
    assert source.entry("dataset-03test/sub-verse004").dataset == "dataset-03test"


def test_masks_and_points_are_scored_with_either_or_both(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        scan(tmp_path / "data", f"sub-{name}")
    model = tmp_path / "net"
    nifti(model / "sub-a.nii.gz", np.where(MASK == 28, 0, MASK).astype(np.uint8))
    points(model / "sub-a_ctd.json", {20: (1.5, 1.5, 7.5), 19: POINTS[19]})  # L1 by 3 mm, T13 missed
    nifti(model / "sub-b.nii.gz")
    points(model / "sub-c_ctd.json")
    points(model / "sub-x_ctd.json")
    (model / "sub-a_ctd.provenance.json").write_text("{}")  # what stands beside points is no prediction without a case
    source = open_source(tmp_path / "data", predictions=model)
    found = scores(source)
    assert {i: s.status for i, s in found.items()} == {
        "sub-a": "scored",
        "sub-b": "scored",
        "sub-c": "scored",
        "sub-d": "missing_prediction",
    }
    a = found["sub-a"]
    assert [a.regions[name].metrics["dice"].value for name in ("T12", "T13", "L1")] == [1.0, 0.0, 1.0]
    assert a.case["id_rate"].value == pytest.approx(2 / 3)
    assert a.case["d_mean"].value == pytest.approx(1.5)
    b = found["sub-b"]  # a mask alone: its centres are the points, and that is said
    assert (b.case["id_rate"].value, b.case["id_rate"].rule) == (1.0, "points_from_mask")
    assert [n.message.split(":")[0] for n in b.notes if n.code == "points-from-mask"] == ["predicted points"]
    assert (dict(found["sub-c"].regions), found["sub-c"].case["id_rate"].value) == ({}, 1.0)
    assert [Path(f.file or "").name for f in source.check()] == ["sub-x_ctd.json"]


def test_vertebrae_without_a_point_are_not_scored_and_that_is_said(tmp_path: Path) -> None:
    scan(tmp_path / "data", "sub-a")
    scan(tmp_path / "data", "sub-b")
    kept = {label: POINTS[label] for label in (20, 19)}  # the image cuts T13 off
    points(tmp_path / "data/derivatives/sub-b/sub-b_seg-subreg_ctd.json", kept)
    for name in "ab":
        nifti(tmp_path / "net" / f"sub-{name}.nii.gz")
    b = scores(open_source(tmp_path / "data", predictions=tmp_path / "net"))["sub-b"]
    assert {name: region.metrics["dice"].status for name, region in b.regions.items()} == {
        "T12": "ok",
        "T13": "not_labelled",
        "L1": "ok",
    }
    assert any("(T12, L1)" in note.message for note in b.notes if note.code == "scored-vertebrae")


def test_without_points_the_masks_say_which_vertebrae_there_are(tmp_path: Path) -> None:
    nifti(tmp_path / "sub-a_seg-vert_msk.nii.gz")
    source = open_source(tmp_path)
    assert list(source.spec.regions) == ["T12", "T13", "L1"]
    assert [(f.severity, f.code) for f in source.entry("sub-a").findings] == [("warning", "missing-file")]


def test_without_points_the_masks_give_them_on_both_sides(tmp_path: Path) -> None:
    nifti(tmp_path / "data/sub-a_seg-vert_msk.nii.gz")
    nifti(tmp_path / "net/sub-a.nii.gz", np.where(MASK == 28, 0, MASK).astype(np.uint8))
    found = scores(open_source(tmp_path / "data", predictions=tmp_path / "net"))["sub-a"]
    assert found.case["id_rate"].value == pytest.approx(2 / 3)  # T13 is missed
    assert (found.case["d_mean"].value, found.case["n_missing"].value) == (0.0, 1)
    assert [n.code for n in found.notes].count("points-from-mask") == 2


def test_a_scan_without_mask_keeps_its_points_and_one_with_neither_is_an_error(tmp_path: Path) -> None:
    scan(tmp_path, "sub-a")
    scan(tmp_path, "sub-b")
    (tmp_path / "derivatives/sub-a/sub-a_seg-vert_msk.nii.gz").unlink()
    for path in (tmp_path / "derivatives/sub-b").iterdir():
        path.unlink()
    source = open_source(tmp_path)
    assert [(f.severity, f.code) for f in source.entry("sub-a").findings] == [("warning", "no-mask")]
    assert [(f.severity, f.code) for f in source.entry("sub-b").findings] == [("error", "no-ground-truth")]


def test_two_files_of_one_kind_links_out_and_pipes_are_errors_of_their_scan(tmp_path: Path) -> None:
    for name in "abc":
        scan(tmp_path, f"sub-{name}")
    derived = tmp_path / "derivatives"
    points(derived / "sub-a/sub-a_seg-vb_ctd.json")
    mask = derived / "sub-b/sub-b_seg-vert_msk.nii.gz"
    mask.unlink()
    mask.symlink_to("/etc/passwd")
    os.mkfifo(derived / "sub-c/sub-d_seg-vert_msk.nii.gz")
    source = open_source(tmp_path)
    found = {e.case_id: [f.code for f in e.findings if f.severity == "error"] for e in source.entries()}
    assert found["sub-a"] == ["ambiguous-file"]
    assert found["sub-b"] == ["unsafe-path"]
    assert found["sub-c"] == []
    assert "missing-file" in found["sub-d"]


def test_points_without_direction_are_refused_with_what_to_do(tmp_path: Path) -> None:
    scan(tmp_path, "sub-a")
    points(tmp_path / "derivatives/sub-a/sub-a_seg-subreg_ctd.json", direction=False)
    source = open_source(tmp_path)
    assert len(source.spec.regions) == 3  # labels alone need no direction
    (error,) = source.load("sub-a").errors
    assert "--centroid-layout" in error.message


def test_other_folders_are_none(tmp_path: Path) -> None:
    nifti(tmp_path / "sub-01_ct.nii.gz")  # a CT alone is no VerSe
    nifti(tmp_path / "verse004_seg.nii.gz")
    assert not is_verse(tmp_path)
    assert not is_verse(tmp_path / "none")


def test_the_official_sample_gives_the_numbers_of_the_bundle(shared_data: Path, tmp_path: Path) -> None:
    """One scan's own files, seen as a VerSe folder: mask against itself, points against themselves."""
    data = shared_data / "bundles" / "spine_ct_verse" / "data" / "verse"
    folder, model = tmp_path / "sub-verse004", tmp_path / "self"
    folder.mkdir()
    model.mkdir()
    for name in ("sub-verse004_seg-vert_msk.nii.gz", "sub-verse004_seg-subreg_ctd.json"):
        (folder / name).write_bytes((data / name).read_bytes())
    (model / "sub-verse004.nii.gz").write_bytes((data / "sub-verse004_seg-vert_msk.nii.gz").read_bytes())
    (model / "sub-verse004_ctd.json").write_bytes((data / "sub-verse004_seg-subreg_ctd.json").read_bytes())
    score = scores(open_source(folder, predictions=model))["sub-verse004"]
    assert list(score.regions) == ["T9", "T10", "T11", "T12", "L1", "L2", "L3", "L4", "L5"]
    assert {region.metrics["dice"].value for region in score.regions.values()} == {1.0}
    assert (score.case["id_rate"].value, score.case["d_mean"].value) == (1.0, 0.0)
