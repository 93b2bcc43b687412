"""One look at each file gives the keys that many looks gave."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from medotter_viewer.cache import looks
from medotter_viewer.cache.dependencies import Dependencies
from medotter_viewer.cache.looks import Looks
from medotter_viewer.cache.store import ENGINE_VERSION, content_key
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.formats import registry
from medotter_viewer.sources.segment_files import is_segment_file

NIFTI = nibabel.Nifti1Image(np.zeros((3, 3, 3), dtype=np.uint8), np.eye(4)).to_bytes()
PACKED = gzip.compress(NIFTI)
NRRD = b"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 3 3 3\nspacings: 1 1 1\nencoding: raw\ndata file: voxels.raw\n\n"


@pytest.mark.parametrize("limit", [1 << 20, 100], ids=["read whole", "read on"])
def test_a_content_key_is_that_of_size_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(looks, "_MOST_BYTES", limit)
    files = {tmp_path / "a": b"x" * 99, tmp_path / "b": b"", tmp_path / "c": bytes(range(256)) * 40}
    plain = hashlib.sha256(json.dumps([ENGINE_VERSION, [["resample", True]]]).encode())
    for path, content in files.items():
        path.write_bytes(content)
        plain.update(f"|{len(content)}|".encode() + content)
    assert content_key(*files, resample=True) == plain.hexdigest()
    seen = Looks()
    for path in files:
        seen.start(path)
    assert content_key(*files, looks=seen, resample=True) == plain.hexdigest()


@pytest.mark.parametrize(
    ("name", "content", "is_nifti"),
    [
        pytest.param("a.nii", NIFTI, True, id="plain"),
        pytest.param("a.nii.gz", PACKED, True, id="packed"),
        pytest.param("a.NII.GZ", PACKED, True, id="packed, capital letters"),
        pytest.param("a.nii.gz", NRRD, False, id="NRRD under another name"),
        pytest.param("a.nrrd", NRRD, False, id="NRRD"),
        pytest.param("a.nrrd", NIFTI, False, id="NIfTI under another name"),
        pytest.param("a.nii", NIFTI[:300], False, id="cut header"),
        pytest.param("a.nii.gz", PACKED[:12], False, id="packed, cut header"),
        pytest.param("a.nii", b"", False, id="empty"),
    ],
)
def test_what_is_taken_for_nifti_names_neither_files_nor_structures(
    tmp_path: Path, name: str, content: bytes, is_nifti: bool
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    (tmp_path / "voxels.raw").write_bytes(bytes(27))
    assert Looks().is_nifti(path) is is_nifti
    if is_nifti:
        assert registry.files_of(path) == (path,)
        assert not is_segment_file(path)


def test_the_data_of_a_header_under_another_name_counts(tmp_path: Path) -> None:
    (tmp_path / "a.nii.gz").write_bytes(NRRD)
    (tmp_path / "voxels.raw").write_bytes(bytes(27))
    files = Dependencies.of(CaseEntry("a", gt_path=tmp_path / "a.nii.gz"))
    assert files.whole == (tmp_path / "a.nii.gz", tmp_path / "voxels.raw")


def test_each_file_is_asked_for_and_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.nii"
    path.write_bytes(NIFTI)
    asked: list[Any] = []
    stat = looks.os.stat
    monkeypatch.setattr(looks.os, "stat", lambda file, **more: asked.append(file) or stat(file, **more))
    seen = Looks()
    files = Dependencies.of(CaseEntry("a", gt_path=path), seen)
    states = files.states(seen)
    assert asked.count(path) == 1
    path.write_bytes(bytes(400))
    assert seen.start(path)[1] == NIFTI
    assert files.states(seen) == states != files.states()


def test_no_file_is_none_and_a_folder_is_no_file(tmp_path: Path) -> None:
    seen = Looks()
    assert seen.stat(tmp_path / "no") is None
    assert (seen.is_dir(tmp_path), seen.is_file(tmp_path)) == (True, False)
    assert not seen.is_nifti(tmp_path / "no.nii")
