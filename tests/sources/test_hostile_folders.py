"""Folders that are opened as they lie: links, pipes, strange names, many files; and names of patients stay inside."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest
from dicom_files import ramp, write_series
from hostile_files import MAX_MIB, Ran, pickled_npy, run_command, run_load
from rtstruct_files import Drawn, Structure, square, write_rtstruct
from scan_files import box, write_dicom_scan, write_png_scan

from medotter_viewer.cli import main

GT = np.zeros((4, 5, 6), dtype=np.uint8)
GT[1:3, 1:4, 2:5] = 1
ODD = [
    "a\nerror: all cases failed",
    "b\x1b[2J\x1b]0;owned\x07",
    "c\u202egnp",
    "d <b>&amp;",
    "-e",
    "f %s {0}",
    " g ",
    "Ödem",
]
BROKEN_UTF8 = os.fsdecode(b"h\xff\xfe")
IS_LINUX = sys.platform.startswith("linux")


def write(path: Path, array: Any = GT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = path.parent / "x.nii"
    nibabel.save(nibabel.Nifti1Image(array, np.eye(4)), plain)
    return plain.rename(path)


def set_traps(folder: Path, outside: Path, marker: Path, suffix: str = ".nii") -> list[str]:
    """Put traps beside the good files of a folder, and return their names without suffix."""
    outside.mkdir(exist_ok=True)
    secret = outside / f"secret{suffix}"
    if not secret.exists():
        write(secret)
    (folder / f"link_out{suffix}").symlink_to(secret)
    (folder / f"link_loop{suffix}").symlink_to(folder / f"link_loop{suffix}")
    (folder / f"link_nowhere{suffix}").symlink_to(folder / "nothing")
    (folder / f"device{suffix}").symlink_to("/dev/zero")
    (folder / "folder_out").symlink_to(outside, target_is_directory=True)
    (folder / "round").symlink_to(folder, target_is_directory=True)
    os.mkfifo(folder / f"pipe{suffix}")
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(folder)  # the name of a socket may have 107 letters
        try:
            one.bind(f"socket{suffix}")
        finally:
            os.chdir(here)
    pickled_npy(folder / "pickle.npy", marker)
    return ["link_out", "link_loop", "link_nowhere", "device", "pipe", "socket", "pickle"]


def check_calm(ran: Ran, *secrets: str) -> None:
    assert b"Traceback" not in ran.err, ran.err[-3000:].decode(errors="replace")
    assert ran.mib < MAX_MIB
    commands = {c for c in ran.text if ord(c) < 32 and c not in "\n\t"} | {c for c in ran.text if 127 <= ord(c) < 160}
    assert not commands, f"letters that command a terminal: {sorted(map(hex, map(ord, commands)))}"
    for secret in secrets:
        assert secret.lower() not in ran.text.lower()


@pytest.fixture
def pairs(tmp_path: Path) -> Iterator[tuple[Path, Path, list[str]]]:
    """Folders of ground truths and predictions with every trap, and names of those that must be scored."""
    gt, pred = tmp_path / "gt", tmp_path / "pred"
    names = ["good", *ODD, *([BROKEN_UTF8] if IS_LINUX else [])]
    for name in names:
        write(gt / f"{name}.nii")
        write(pred / f"{name}.nii")
    for folder in (gt, pred):
        set_traps(folder, tmp_path / "outside", tmp_path / "executed")
    yield gt, pred, names
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    "words", [["score", "--json", "-", "--no-cache"], ["score", "--no-cache"], ["check"], ["cases"]]
)
def test_pairs_of_folders_with_traps(tmp_path: Path, pairs: tuple[Path, Path, list[str]], words: list[str]) -> None:
    gt, pred, names = pairs
    ran = run_command(tmp_path, words[0], "--gt", gt, "--pred", pred, *words[1:])
    check_calm(ran)
    if "--json" not in words:
        assert b"\nerror: all cases failed" not in ran.out + ran.err, "a name cannot look like a line of its own"
        return
    report = json.loads(ran.out)
    scored = [i for i, one in report["cases"].items() if one["status"] == "scored"]
    assert len(scored) == len(names), scored
    assert "good" in scored
    assert ran.code == 1, "what cannot be read is not scored"
    for trap in ("link_out", "link_loop", "device", "pipe", "socket", "pickle"):
        assert report["cases"][trap]["status"] != "scored"
        assert trap in report["cases"][trap]["message"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path / "gt" / "a.nii").chmod(0)
    write(tmp_path / "gt" / "below" / "b.nii")
    (tmp_path / "gt" / "below").chmod(0)
    ran = run_command(tmp_path, "check", "--gt", tmp_path / "gt")
    (tmp_path / "gt" / "below").chmod(0o700)
    check_calm(ran)
    assert ran.code == 1
    assert "a.nii: Permission denied" in ran.text
    assert "below" in ran.text


def test_what_may_not_be_read_is_named_though_root_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from medotter_viewer import open_source

    write(tmp_path / "gt" / "a.nii")
    write(tmp_path / "gt" / "below" / "b.nii")
    listed = os.scandir

    def scandir(folder: Any) -> Any:
        if Path(folder).name == "below":
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    source = open_source(gt=tmp_path / "gt")
    assert list(source.case_ids()) == ["a"]
    assert any("below: Permission denied" in f.message for f in source.check())


def test_a_dataset_of_nnunet_with_traps(tmp_path: Path) -> None:
    place = tmp_path / "Dataset001_x"
    write(place / "imagesTr" / "good_0000.nii", GT.astype(np.float32))
    write(place / "labelsTr" / "good.nii")
    write(tmp_path / "pred" / "good.nii")
    names = set_traps(place / "labelsTr", tmp_path / "outside", tmp_path / "executed")
    set_traps(tmp_path / "pred", tmp_path / "outside", tmp_path / "executed")
    labels = {"background": 0, "b\x1b[2J": 1}
    (place / "dataset.json").write_text(
        json.dumps({"channel_names": {"0": "CT"}, "labels": labels, "numTraining": 1, "file_ending": ".nii"})
    )
    ran = run_command(
        tmp_path, "score", place, "--predictions", tmp_path / "pred", "--split", "all", "--json", "-", "--no-cache"
    )
    check_calm(ran)
    assert ran.out, ran.text
    report = json.loads(ran.out)
    assert report["cases"]["good"]["status"] == "scored"
    assert all(report["cases"][name]["status"] != "scored" for name in names if name in report["cases"])
    assert not (tmp_path / "executed").exists()
    for words in (("check", place), ("cases", place), ("info", place)):
        check_calm(run_command(tmp_path, *words))


def test_scans_with_traps(tmp_path: Path) -> None:
    scans = tmp_path / "scans"
    write_png_scan(scans, "good", {"radiomics_gtv": {1: [box(10, 10, 8)]}}, n_slices=3)
    bad = write_png_scan(scans, "bad", {"radiomics_gtv": {1: [box(10, 10, 8)]}}, n_slices=5)
    write_png_scan(scans, "pipes", {"radiomics_gtv": {1: [box(10, 10, 8)]}}, n_slices=3)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.dat").write_text("MY-SECRET-CONTENT")
    for name in ("auxiliary/2.dat", "contours/2.1.dat", "structures.dat"):
        (bad / name).unlink(missing_ok=True)
        (bad / name).symlink_to(outside / "secret.dat")
    for name in ("auxiliary/2.dat", "contours/2.1.dat", "pngs/2.png"):
        (scans / "pipes" / name).unlink(missing_ok=True)
        os.mkfifo(scans / "pipes" / name)
    for name in ("auxiliary/4.dat", "contours/4.1.dat", "pngs/4.png"):
        (bad / name).unlink(missing_ok=True)
        (bad / name).symlink_to("/dev/zero")
    (scans / "linked").symlink_to(outside, target_is_directory=True)
    (scans / "round").symlink_to(scans, target_is_directory=True)
    shutil.copytree(scans / "good", scans / "esc\x1b[2J")
    (tmp_path / "s.csv").write_text("good,1,10,10,18,10,18,18,10,18\n")
    words = (("score", scans, "--predictions", tmp_path / "s.csv", "--json", "-", "--no-cache"), ("check", scans))
    for command in (*words, ("cases", scans), ("info", scans), ("info", bad)):
        check_calm(run_command(tmp_path, *command), "MY-SECRET-CONTENT")
    ran = run_command(tmp_path, *words[0])
    cases = json.loads(ran.out)["cases"]
    assert cases["good"]["status"] == "scored"
    assert cases["bad"]["status"] == "error"
    assert "a link that leads out of the scan" in cases["bad"]["message"]
    check_calm(run_load(tmp_path, scans), "MY-SECRET-CONTENT")


def test_five_thousand_files_are_listed_in_seconds(tmp_path: Path) -> None:
    data = write(tmp_path / "gt" / "0.nii", GT[:2, :2, :2]).read_bytes()
    for number in range(5000):
        (tmp_path / "gt" / f"{number}.nii").write_bytes(data)
    ran = run_command(tmp_path, "cases", "--gt", tmp_path / "gt", "--json", "-")
    check_calm(ran)
    assert len(json.loads(ran.out)["cases"]) == 5000


# ---------------------------------------------------------------- patients

PATIENT = {
    "PatientName": "DOE^JANE",
    "PatientID": "MRN-4711",
    "PatientBirthDate": "19701231",
    "ReferringPhysicianName": "HOUSE^GREGORY",
    "InstitutionName": "PRINCETON-PLAINSBORO",
    "AccessionNumber": "ACC-0815",
}
SECRETS = ("JANE", "MRN-4711", "19701231", "GREGORY", "PRINCETON", "ACC-0815")


@pytest.fixture
def patient(tmp_path: Path) -> Path:
    """A scan of a patient, right and damaged, beside the same as a series and a structure set alone."""
    folder = write_dicom_scan(tmp_path / "scans", "scan1", {"radiomics_gtv": {1: [box(1, 1, 4)]}}, n_slices=3)
    write_series(tmp_path / "series", ramp(3), thickness=1.0, more=PATIENT)
    broken = {"ImagePositionPatient": "0,0\\DOE\\JANE"}
    write_series(tmp_path / "damaged", ramp(3), texts=broken, more=PATIENT)
    cut = write_series(tmp_path / "cut", ramp(3), more=PATIENT)[1]
    cut.write_bytes(cut.read_bytes()[:-20])
    write_rtstruct(tmp_path / "rt" / "RS.dcm", [Structure(1, "gtv", [Drawn(square(0, 0, 2, 1.0))])], more=PATIENT)
    import pydicom

    for path in folder.rglob("*"):
        if path.is_file():
            dataset = pydicom.dcmread(path)
            for keyword, value in PATIENT.items():
                setattr(dataset, keyword, value)
            dataset.save_as(path)
    return tmp_path


def test_no_command_tells_whose_images_they_are(patient: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def told(*words: object) -> str:
        main([str(word) for word in words])
        return "".join(capfd.readouterr())

    submission = patient / "s.csv"
    submission.write_text("scan1,1,1,1,5,1,5,5,1,5\n")
    scans = patient / "scans"
    for words in (
        ("info", patient / "series"),
        ("info", patient / "series", "--json", "-"),
        ("info", patient / "series" / "1.dcm", "--json", "-"),
        ("info", patient / "cut", "--json", "-"),
        ("info", patient / "cut" / "1.dcm"),
        ("info", patient / "rt" / "RS.dcm", "--json", "-"),
        ("info", scans / "scan1", "--json", "-"),
        ("check", scans, "--json", "-"),
        ("cases", scans, "--json", "-"),
        ("score", scans, "--predictions", submission, "--json", "-", "--no-cache"),
        ("check", "--gt", patient / "series", "--json", "-"),
    ):
        text = told(*words)
        assert text
        assert not [secret for secret in SECRETS if secret in text], words
    text = told("info", patient / "damaged")
    assert "damaged" in text
    assert not [s for s in SECRETS[1:] if s in text], "a name written into a number is quoted: only there"
    ran = run_load(patient, scans)
    check_calm(ran, *SECRETS)
    assert ran.code == 0
