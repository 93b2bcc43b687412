"""Formats by suffix."""

from __future__ import annotations

from pathlib import Path

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
    (tmp_path / name).write_bytes(b"")
    assert format_of(tmp_path / name).name == "nifti"


@pytest.mark.parametrize("read", [read_grid, read_labels, read_volume, format_of])
def test_unknown_and_missing_files_are_read_errors(tmp_path: Path, read: object) -> None:
    assert callable(read)
    (tmp_path / "a.mha").write_bytes(b"")
    with pytest.raises(ReadError, match=r"no reader for this kind of file; expected one of \.nii\.gz, \.nii"):
        read(tmp_path / "a.mha")
    with pytest.raises(ReadError, match="no such file"):
        read(tmp_path / "a.nii")
