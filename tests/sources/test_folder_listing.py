"""What lies in a folder, by name: nothing outside is followed, nothing that is there disappears."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from dicom_files import ramp, write_series

from medotter_viewer import open_source
from medotter_viewer.errors import ReadError
from medotter_viewer.sources.folder_listing import Listing, list_volumes


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


def codes(listing: Listing) -> list[str]:
    return [f"{f.severity} {f.code}" for f in listing.noticed]


def test_the_id_is_the_name_without_suffix_and_with_the_folders_above(tmp_path: Path) -> None:
    touch(tmp_path, "b.nii", "a.1.nii.gz", "site1/0001.NII.GZ", "site1/deep/x.png")
    listing = list_volumes(tmp_path, "labels")
    assert list(listing.paths) == ["a.1", "b", "site1/0001", "site1/deep/x"]
    assert listing.paths["site1/0001"] == tmp_path / "site1" / "0001.NII.GZ"
    assert (dict(listing.refused), codes(listing)) == ({}, [])


def test_two_files_of_one_id_are_refused_and_both_named(tmp_path: Path) -> None:
    touch(tmp_path, "a.nii.gz", "a.nii", "b.nii", "c/a.nii")
    listing = list_volumes(tmp_path, "labels")
    assert list(listing.paths) == ["b", "c/a"]
    assert listing.ids == ["a", "b", "c/a"]  # it does not disappear
    finding = listing.refused["a"]
    assert (finding.severity, finding.code) == ("error", "ambiguous-file")
    assert f"{tmp_path / 'a.nii'} and {tmp_path / 'a.nii.gz'}" in finding.message


def test_hidden_files_and_unknown_suffixes_are_left_out_and_counted(tmp_path: Path) -> None:
    touch(tmp_path, "a.nii", ".hidden.nii", "._a.nii", "notes.txt", *(f"t{i}.csv" for i in range(5)), ".git/x.nii")
    listing = list_volumes(tmp_path, "labels")
    assert list(listing.paths) == ["a"]
    assert [f.message for f in listing.noticed] == [
        "labels: 2 files are hidden and left out: ._a.nii, .hidden.nii",
        "labels: 1 file is named .txt and left out: notes.txt",
        "labels: 5 files are named .csv and left out: t0.csv, t1.csv, t2.csv, ...",
    ]
    assert set(codes(listing)) == {"info file-left-out"}


def test_a_link_out_of_the_folder_is_refused_and_one_inside_is_not(tmp_path: Path) -> None:
    touch(tmp_path, "outside/secret.nii", "in/a.nii", "in/sub/b.nii")
    root = tmp_path / "in"
    (root / "out.nii").symlink_to(tmp_path / "outside" / "secret.nii")
    (root / "again.nii").symlink_to(root / "a.nii")
    (root / "gone.nii").symlink_to(root / "nothing.nii")
    (root / "loop.nii").symlink_to(root / "loop.nii")
    listing = list_volumes(root, "labels")
    assert list(listing.paths) == ["a", "again", "sub/b"]
    assert {i: f.code for i, f in listing.refused.items()} == {
        "out": "unsafe-path",
        "gone": "missing-file",
        "loop": "unsafe-path",
    }
    assert "leaves its folder through a link" in listing.refused["out"].message
    assert "copy the file" in listing.refused["out"].message


def test_links_to_folders_are_not_followed_neither_out_nor_round(tmp_path: Path) -> None:
    touch(tmp_path, "outside/secret.nii", "in/sub/b.nii")
    root = tmp_path / "in"
    (root / "round").symlink_to(root)
    (root / "other").symlink_to(root / "sub")
    listing = list_volumes(root, "labels")
    assert (list(listing.paths), dict(listing.refused)) == (["sub/b"], {})
    assert [f"{f.code} {Path(f.file or '').name}" for f in listing.noticed] == [
        "linked-folder other",
        "unsafe-path round",
    ]
    assert {f.severity for f in listing.noticed} == {"warning"}
    (root / "sub" / "away").symlink_to(tmp_path / "outside")
    listing = list_volumes(root, "labels")
    assert list(listing.paths) == ["sub/b"]
    assert codes(listing) == ["warning unsafe-path"] * 3  # it, and the two links to folders that hold such a link
    assert "secret" not in str(listing)


def test_a_series_with_a_link_out_of_the_folder_is_refused_as_a_whole(tmp_path: Path) -> None:
    slices = write_series(tmp_path / "in" / "one", ramp(2))
    write_series(tmp_path / "in" / "two", ramp(2))
    slices[1].rename(tmp_path / "elsewhere.dcm")
    slices[1].symlink_to(tmp_path / "elsewhere.dcm")
    listing = list_volumes(tmp_path / "in", "images")
    assert listing.ids == ["one", "two"]
    assert list(listing.paths) == ["two"]
    assert "1.dcm: a link that leads out" in listing.refused["one"].message
    alone = open_source(image=tmp_path / "in" / "one")
    assert dict(alone.entry("one").channels) == {}
    assert [f.code for f in alone.entry("one").findings] == ["unsafe-path"]


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    touch(tmp_path, "real/a.nii")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert list(list_volumes(tmp_path / "link", "labels").paths) == ["a"]


def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.nii.gz")
    os.mkfifo(tmp_path / "other")
    touch(tmp_path, "a.nii")
    listing = list_volumes(tmp_path, "labels")
    assert list(listing.paths) == ["a"]
    assert "neither a file nor a folder" in listing.refused["pipe"].message
    assert codes(listing) == ["warning missing-file"]  # the other has no name of a volume


def test_ten_thousand_names_are_listed_within_seconds(tmp_path: Path) -> None:
    for i in range(10_000):
        (tmp_path / f"case_{i:05d}.nii.gz").touch()
    start = time.process_time()
    listing = list_volumes(tmp_path, "labels")
    assert len(listing.paths) == 10_000
    assert time.process_time() - start < 5


def test_folders_far_down_are_said_and_not_gone_into(tmp_path: Path) -> None:
    touch(tmp_path, "/".join(["d"] * 20) + "/x.nii", "a.nii")
    listing = list_volumes(tmp_path, "labels")
    assert list(listing.paths) == ["a"]
    assert codes(listing) == ["warning deep-folder"]


def test_a_name_that_is_no_text_is_listed(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.nii")).touch()
    assert list(list_volumes(tmp_path, "labels").paths) == ["\udcff"]


def test_a_folder_that_cannot_be_listed_is_an_error_of_its_name(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="none: No such file"):
        list_volumes(tmp_path / "none", "labels")
