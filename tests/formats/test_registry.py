"""Formats by suffix."""

from __future__ import annotations

import gzip
from pathlib import Path

import nibabel
import numpy as np
import pytest

from medotter_viewer.errors import ReadError
from medotter_viewer.formats.registry import SUFFIXES, format_of, read_grid, read_labels, read_volume, stem


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("0001.nii.gz", "0001"),
        ("0001.nii", "0001"),
        ("A.NII.GZ", "A"),
        ("a.b.nii.gz", "a.b"),
        ("a.txt", "a"),
        ("a", "a"),
    ],
)
def test_a_stem_is_the_name_without_its_known_suffix(name: str, expected: str) -> None:
    assert stem(Path("folder.nii") / name) == expected


def test_longer_suffixes_come_first() -> None:
    assert SUFFIXES.index(".nii.gz") < SUFFIXES.index(".nii")


@pytest.mark.parametrize("name", ["a.nii", "a.NII.gz"])
def test_a_format_is_known_by_its_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"damaged")
    assert format_of(tmp_path / name).NAME == "nifti"


def test_content_decides_before_the_suffix_and_a_note_says_so(tmp_path: Path) -> None:
    nifti = nibabel.Nifti1Image(np.ones((2, 3, 4), dtype=np.uint8), np.eye(4)).to_bytes()
    (tmp_path / "a.png").write_bytes(gzip.compress(nifti))
    assert format_of(tmp_path / "a.png").NAME == "nifti"
    labels, notes = read_labels(tmp_path / "a.png")
    assert labels.data.sum() == 24
    assert [f.code for f in notes] == ["wrong-suffix"]


def test_a_pointer_to_large_file_storage_is_named_for_every_suffix(tmp_path: Path) -> None:
    (tmp_path / "a.dcm").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with pytest.raises(ReadError, match="Git LFS pointer, data not downloaded"):
        format_of(tmp_path / "a.dcm")


def test_an_empty_file_is_called_empty_whatever_its_name(tmp_path: Path) -> None:
    for name in ("a.nii.gz", "a.dcm", "a"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(ReadError, match=r"an empty file \(0 bytes\)"):
            format_of(tmp_path / name)


def test_a_folder_that_is_no_volume_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="a folder that no reader takes for one volume"):
        format_of(tmp_path)


@pytest.mark.parametrize("read", [read_grid, read_labels, read_volume, format_of])
def test_unknown_and_missing_files_are_read_errors(tmp_path: Path, read: object) -> None:
    assert callable(read)
    (tmp_path / "a.xyz").write_bytes(b"text")
    with pytest.raises(
        ReadError, match=r"no reader for this kind of file \(it starts with b'text'\); expected one of \.nii"
    ):
        read(tmp_path / "a.xyz")
    with pytest.raises(ReadError, match="no such file"):
        read(tmp_path / "a.nii")
