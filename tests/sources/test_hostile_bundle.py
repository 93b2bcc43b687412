"""A bundle made with bad intentions: every trap is refused by name, nothing leaves it, and the good case counts."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from dicom_files import ramp, write_series
from hostile_files import (
    MAX_MIB,
    Ran,
    pickled_npy,
    pickled_npz,
    raw_pickle,
    run_command,
    run_load,
    write_promises,
)

GT = np.zeros((4, 5, 6), dtype=np.uint8)
GT[1:3, 1:4, 2:5] = 1  # 18 voxels
PRED = np.where(np.arange(6) < 4, GT, 0).astype(np.uint8)  # 12 of them: dice 2 * 12 / 30 = 0.8
CODE = "open({marker!r}, 'w').close()\nREMAP = {{}}\ndef remap(*a, **k): return a\ndef score(*a, **k): return 1\n"
ESCAPE = "esc\x1b[2J\x1b]0;owned\x07\r\nid"


class Hostile(NamedTuple):
    """The bundle, where its predictions are, and what must never come to be."""

    root: Path
    bundle: Path
    data: Path
    predictions: Path
    marker: Path
    names: dict[str, str]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, write_bundle: Any) -> Hostile:
    root = tmp_path_factory.mktemp("hostile")
    marker = root / "executed"
    tiny = write_bundle(root, {"good": {"gt": GT, "image": GT, "dataset": "A"}}, predictions={"good": PRED})
    names = write_traps(tiny.data, root / "outside", marker)
    manifest = json.loads((tiny.bundle / "manifest_test.json").read_text())
    for case_id, place in names.items():
        manifest["test"].append(case_id)
        manifest["per_case"][case_id] = {"dataset": "A", "seg": place, "image": place}
        (tiny.predictions / f"{case_id.replace('/', '_')[:20]}.txt").write_text("unused")
    manifest["per_case"]["good"]["dataset"] = "A"
    (tiny.bundle / "manifest_test.json").write_text(json.dumps(manifest))
    for name in ("remap.py", "scoring.py", "__init__.py", "sitecustomize.py"):
        (tiny.bundle / name).write_text(CODE.format(marker=str(marker)))
    os.mkfifo(tiny.predictions / "fifo.nii")
    (tiny.predictions / "file_link.nii").symlink_to(root / "outside" / "secret.nii")
    (tiny.predictions / "loop.nii").symlink_to(tiny.predictions / "loop.nii")
    pickled_npy(tiny.predictions / "pickle_npy.npy", marker)
    return Hostile(root, tiny.bundle, tiny.data, tiny.predictions, marker, names)


def write_traps(data: Path, outside: Path, marker: Path) -> dict[str, str]:
    """Write the files, and return case id to the path that the manifest names."""
    import nibabel

    outside.mkdir()
    nibabel.save(nibabel.Nifti1Image(GT, np.eye(4)), outside / "secret.nii")
    nibabel.save(nibabel.Nifti1Image(GT, np.eye(4)), data / "x.nii")
    (data / "x.nii").rename(data / "nifti_named.png")
    (data / "file_link.nii").symlink_to(outside / "secret.nii")
    (data / "linked").symlink_to(outside, target_is_directory=True)
    (data / "loop.nii").symlink_to(data / "loop.nii")
    (data / "loop_a").symlink_to(data / "loop_b", target_is_directory=True)
    (data / "loop_b").symlink_to(data / "loop_a", target_is_directory=True)
    (data / "device.nii").symlink_to("/dev/zero")
    (data / "memory.nii").symlink_to("/proc/self/mem")
    os.mkfifo(data / "fifo.nii")
    (data / "folder.nii").mkdir()
    (data / "empty.nii").touch()
    pickled_npy(data / "pickle_npy.npy", marker)
    pickled_npz(data / "pickle_npz.npz", marker)
    raw_pickle(data / "pickle.nii", marker)
    write_series(outside / "series", ramp(3))
    (data / "dicom_links").mkdir()
    for path in (outside / "series").iterdir():
        (data / "dicom_links" / path.name).symlink_to(path)
    write_series(data / "dicom_mixed", ramp(3))
    (data / "dicom_mixed" / "9.dcm").symlink_to(outside / "series" / "2.dcm")
    os.mkfifo(data / "dicom_mixed" / "fifo")
    (data / "nrrd_outside.nhdr").write_text(
        "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 4 5 6\nencoding: raw\ndata file: ../outside/secret.nii\n"
    )
    (data / "meta_outside.mhd").write_text(
        "ObjectType = Image\nNDims = 3\nDimSize = 4 5 6\nElementType = MET_UCHAR\nElementDataFile = /etc/hostname\n"
    )
    listed = {
        "absolute": "/etc/hostname",
        "climbs": "../outside/secret.nii",
        "climbs_inside": "labels/../../outside/secret.nii",
        "drive": "C:\\secret.nii",
        "backslashes": "..\\outside\\secret.nii",
        "nul": "labels/x\0.nii",
        "empty_name": " ",
        "long_name": "a" * 5000 + ".nii",
        "surrogate": "labels/\ud800.nii",
        "device_path": "/dev/zero",
        "no_text": ["x"],  # type: ignore[dict-item]
        "folder_link": "linked/secret.nii",
        "folder_loop": "loop_a/x.nii",
        "dicom_links": "dicom_links",
        "dicom_mixed": "dicom_mixed",
        ESCAPE: "escape\x1b[2J.nii",
        "nifti_named": "nifti_named.png",
    }
    files = [p.name for p in data.iterdir() if p.suffix and p.name not in ("nifti_named.png", "x.nii")]
    return {**listed, **{Path(n).stem: n for n in files}, **{n.replace(".", "_"): n for n in write_promises(data)}}


def check_calm(ran: Ran, hostile: Hostile) -> None:
    """No traceback, no code run, no secret told, little memory, no letter that commands a terminal."""
    assert b"Traceback" not in ran.err, ran.err[-3000:].decode(errors="replace")
    assert b"Warning" not in ran.err
    assert not hostile.marker.exists(), "code of the bundle was executed"
    assert ran.mib < MAX_MIB
    commands = {c for c in ran.text if ord(c) < 32 and c not in "\n\t"} | {c for c in ran.text if 127 <= ord(c) < 160}
    assert not commands, f"letters that command a terminal: {sorted(map(hex, map(ord, commands)))}"


def test_score_refuses_every_trap_by_name_and_scores_the_good_case(hostile: Hostile) -> None:
    ran = run_command(
        hostile.root, "score", hostile.bundle, "--predictions", hostile.predictions, "--json", "-", "--no-cache"
    )
    check_calm(ran, hostile)
    assert ran.code == 1, "not every case is scored"
    report = json.loads(ran.out)
    scored = {i: one for i, one in report["cases"].items() if one["status"] == "scored"}
    assert set(scored) == {"good"}
    assert scored["good"]["regions"]["one"]["dice"]["value"] == pytest.approx(0.8)
    assert set(report["cases"]) == {"good", *hostile.names}


def test_check_says_of_every_trap_which_file_it_is(hostile: Hostile) -> None:
    ran = run_command(hostile.root, "check", hostile.bundle, "--predictions", hostile.predictions, "--json", "-")
    check_calm(ran, hostile)
    assert ran.code == 1
    findings = json.loads(ran.out)["findings"]
    for case_id, place in hostile.names.items():
        told = [f for f in findings if f["where"] == case_id and f["code"] not in ("no-prediction", "wrong-suffix")]
        if case_id == "nifti_named":
            assert told == [], "read by its content"
            continue
        assert any(f["severity"] == "error" for f in told), (case_id, told)
        assert any(repr(place)[:60] in f["message"] or Path(str(place)).name in f["message"] for f in told), told


@pytest.mark.parametrize(
    "words", [("cases", "--json", "-"), ("info", "--json", "-"), ("cases",), ("info",), ("check",)]
)
def test_lists_and_facts_are_printed_without_opening_a_trap(hostile: Hostile, words: tuple[str, ...]) -> None:
    ran = run_command(hostile.root, words[0], hostile.bundle, *words[1:])
    check_calm(ran, hostile)
    if "--json" in words:
        json.loads(ran.out)


def test_every_trap_of_the_data_folder_is_refused_when_it_is_looked_at_alone(hostile: Hostile) -> None:
    from medotter_viewer.errors import MedotterViewerError
    from medotter_viewer.sources.info import path_info

    outside = ("file_link.nii", "linked", "device.nii", "memory.nii")  # a person who names a link means its end
    for path in sorted(hostile.data.iterdir()):
        if path.name in (*outside, "nifti_named.png", "images", "labels") or path.name.startswith("dicom_"):
            continue
        with pytest.raises(MedotterViewerError) as caught:
            path_info(path)
        assert path.name in str(caught.value)
    assert not hostile.marker.exists()


def test_cases_are_loaded_with_their_images_as_a_window_does(hostile: Hostile) -> None:
    ran = run_load(hostile.root, hostile.bundle, hostile.predictions)
    check_calm(ran, hostile)
    assert ran.code == 0
    told = dict(json.loads(line) for line in ran.out.splitlines())
    assert set(told) == {"good", *hostile.names}
    assert told["good"] == []
    assert all(told[case_id] for case_id in hostile.names)


def test_a_folder_of_dicom_files_that_are_links_is_not_followed_out(hostile: Hostile) -> None:
    from medotter_viewer import open_source

    source = open_source(hostile.bundle)
    for case_id in ("dicom_links", "dicom_mixed"):
        case = source.load(case_id)
        for volume in case.channels.values():
            assert volume.grid.shape[-1] == 3 or case_id == "dicom_mixed"
        assert any("link" in f.message for f in case.findings), [f.message for f in case.findings]
    assert not source.load("dicom_links").channels


# ---------------------------------------------------------------- files that spoil the whole bundle


def laughs() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    return "\n".join(lines) + "\n"


SPOILED: dict[str, tuple[str, Any]] = {
    "billion laughs": ("task.yaml", laughs),
    "50 MB of anchors": ("task.yaml", lambda: laughs() + "b: &b [*a1, *a1]\n" * 3_000_000),
    "50 MB of YAML": ("eval_spec.yaml", lambda: "key: value # and a comment\n" * 2_000_000),
    "an anchor that holds itself": ("task.yaml", lambda: "task: &a {b: *a}\n"),
    "brackets": ("eval_spec.yaml", lambda: "[" * 500_000),
    "a tag that calls": ("task.yaml", lambda: "task: !!python/object/apply:os.system ['touch MARKER']\n"),
    "JSON nested 100,000 deep": ("manifest_test.json", lambda: "[" * 100_000),
    "JSON objects nested 100,000 deep": ("manifest_test.json", lambda: '{"a":' * 100_000),
    "a key twice": ("manifest_test.json", lambda: '{"task": "a", "task": "b"}'),
    "a key twice in YAML": ("eval_spec.yaml", lambda: "metrics: [dice]\nmetrics: [iou]\n"),
    "a number of 5,000 digits": ("manifest_test.json", lambda: '{"task": ' + "9" * 5000 + "}"),
    "Latin-1": ("task.yaml", lambda: b"task: {name: \xe9}\n"),
    "a FIFO": ("task.yaml", os.mkfifo),
    "a folder": ("eval_spec.yaml", os.mkdir),
    "a link loop": ("task.yaml", lambda path: path.symlink_to(path)),
    "a device": ("task.yaml", lambda path: path.symlink_to("/dev/zero")),
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_spoiled_file_of_the_bundle_is_named_in_one_line(what: str, tmp_path: Path, write_bundle: Any) -> None:
    name, make = SPOILED[what]
    tiny = write_bundle(tmp_path, {"good": {"gt": GT, "dataset": "A"}}, predictions={"good": PRED})
    path = tiny.bundle / name
    path.unlink(missing_ok=True)
    if make.__code__.co_argcount if hasattr(make, "__code__") else True:
        make(path)
    else:
        content = make()
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = run_command(tmp_path, "score", tiny.bundle, "--predictions", tiny.predictions)
    assert ran.code == 1
    lines = ran.err.decode().splitlines()
    assert len(lines) == 1, lines
    assert str(path) in lines[0]
    assert len(lines[0]) < 1500
    assert ran.mib < MAX_MIB
    assert not (tmp_path / "work" / "MARKER").exists()


# ---------------------------------------------------------------- submissions


def test_a_zip_bomb_and_a_zip_that_climbs_are_read_without_being_expanded(tmp_path: Path) -> None:
    from scan_files import box, write_png_scan

    scans = tmp_path / "scans"
    write_png_scan(scans, "scan", {"radiomics_gtv": {1: [box(10, 10, 8)]}})
    bomb, slip = tmp_path / "bomb.zip", tmp_path / "slip.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("s.csv", "w") as file:
        for _ in range(300):  # 300 MB of one line
            file.write(b"0," * (1 << 19))
    with zipfile.ZipFile(slip, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../escaped.csv", "scan,1,10,10,18,10,18,18,10,18\n")
    before = sorted(tmp_path.rglob("*"))
    for path, code in ((bomb, 1), (slip, 0)):
        ran = run_command(tmp_path, "score", scans, "--predictions", path, "--json", "-", "--no-cache")
        assert b"Traceback" not in ran.err, ran.err
        assert ran.code == code, ran.text
        assert ran.mib < MAX_MIB
        assert path.name in ran.text
    after = [p for p in tmp_path.rglob("*") if p.name not in ("work", "facts.json")]
    assert sorted(after) == before
