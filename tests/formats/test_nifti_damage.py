"""Files that are not what they say: only our errors, quickly, and never a volume that is partly made up."""

from __future__ import annotations

import gzip
import random
import struct
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from medotter_viewer.errors import MedotterViewerError, ReadError
from medotter_viewer.formats.nifti import read_grid, read_labels, read_volume

AFFINE = np.diag([1.0, 2.0, 3.0, 1.0])
IDS = np.random.default_rng(0).integers(0, 4, (6, 7, 8)).astype(np.uint8)
PLAIN = nibabel.Nifti1Image(IDS, AFFINE).to_bytes()
PACKED = gzip.compress(PLAIN, 6, mtime=0)
READERS = [read_labels, read_volume, read_grid]


def write(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def patched(content: bytes, offset: int, form: str, *values: Any) -> bytes:
    changed = bytearray(content)
    struct.pack_into(form, changed, offset, *values)
    return bytes(changed)


def test_gzip_data_under_a_plain_name_is_read_with_a_warning(tmp_path: Path) -> None:
    labels, findings = read_labels(write(tmp_path, "a.nii", PACKED))
    assert labels.data.tolist() == IDS.tolist()
    assert [(f.severity, f.code) for f in findings] == [("warning", "wrong-suffix")]
    assert "gzip data in a file not named .gz" in findings[0].message


def test_plain_data_under_a_gzip_name_is_read_with_a_warning(tmp_path: Path) -> None:
    labels, findings = read_labels(write(tmp_path, "a.nii.gz", PLAIN))
    assert labels.data.tolist() == IDS.tolist()
    assert [(f.severity, f.code) for f in findings] == [("warning", "wrong-suffix")]
    assert "not gzip data" in findings[0].message


def test_a_case_of_the_suffix_does_not_matter(tmp_path: Path) -> None:
    assert read_labels(write(tmp_path, "a.NII.GZ", PACKED))[1] == []


@pytest.mark.parametrize("kept", [20, 100, len(PACKED) // 2, len(PACKED) - 8, len(PACKED) - 1])
def test_gzip_data_cut_anywhere_are_refused(tmp_path: Path, kept: int) -> None:
    with pytest.raises(ReadError, match=r"a\.nii\.gz: damaged or truncated gzip data \(unexpected end of gzip stream"):
        read_labels(write(tmp_path, "a.nii.gz", PACKED[:kept]))


def test_a_whole_gzip_stream_of_half_a_volume_is_refused_with_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "a.nii.gz", gzip.compress(PLAIN[: 352 + 100]))
    with pytest.raises(ReadError, match=r"truncated: 100 of 336 bytes of voxels"):
        read_labels(path)


@pytest.mark.parametrize("kept", [352, 353, len(PLAIN) - 1])
def test_plain_data_cut_among_the_voxels_are_refused(tmp_path: Path, kept: int) -> None:
    with pytest.raises(ReadError, match=r"a\.nii: (truncated|damaged)"):
        read_labels(write(tmp_path, "a.nii", PLAIN[:kept]))


@pytest.mark.parametrize("content", [b"", b"\x5c", PLAIN[:4], PLAIN[:347], b"hello" * 200, bytes(1000)])
@pytest.mark.parametrize("read", READERS)
def test_what_is_no_nifti_is_said_to_be_none(tmp_path: Path, content: bytes, read: Any) -> None:
    with pytest.raises(ReadError, match="not a NIfTI file"):
        read(write(tmp_path, "a.nii", content))


@pytest.mark.parametrize("read", READERS)
def test_a_pointer_of_large_file_storage_says_what_to_do(tmp_path: Path, read: Any) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n"
    with pytest.raises(ReadError, match=r"Git LFS pointer, data not downloaded; run 'git lfs pull'"):
        read(write(tmp_path, "a.nii.gz", pointer))


@pytest.mark.parametrize("read", READERS)
def test_missing_files_and_folders_are_read_errors(tmp_path: Path, read: Any) -> None:
    with pytest.raises(ReadError, match=r"a\.nii: No such file"):
        read(tmp_path / "a.nii")
    (tmp_path / "b.nii").mkdir()
    with pytest.raises(ReadError, match=r"b\.nii"):
        read(tmp_path / "b.nii")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dim", [(2048, 2048, 2500), (32767, 32767, 32767)])
def test_a_header_that_promises_ten_gigabytes_and_more_costs_nothing(
    tmp_path: Path, dim: tuple[int, int, int], packed: bool
) -> None:
    content = patched(PLAIN, 42, "<hhh", *dim)
    path = write(tmp_path, "a.nii.gz" if packed else "a.nii", gzip.compress(content) if packed else content)
    promised = dim[0] * dim[1] * dim[2]
    started = time.process_time()
    tracemalloc.start()
    with pytest.raises(ReadError, match=rf"truncated: the header promises {promised} bytes"):
        read_labels(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 << 20
    assert time.process_time() - started < 2


@pytest.mark.parametrize("dim", [(2**32, 2**32, 1), (2**62, 4, 1), (2**31, 2**31, 2**31)])
def test_sizes_beyond_64_bits_do_not_wrap_round(tmp_path: Path, dim: tuple[int, ...]) -> None:
    content = patched(nibabel.Nifti2Image(IDS, AFFINE).to_bytes(), 24, "<qqq", *dim)
    with pytest.raises(ReadError, match=f"promises {dim[0] * dim[1] * dim[2]} bytes"):
        read_labels(write(tmp_path, "a.nii", content))


@pytest.mark.parametrize("offset", [float("nan"), float("inf"), 1e30, 1e6])
@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
def test_voxels_that_start_behind_the_file_are_damage(tmp_path: Path, offset: float, name: str) -> None:
    content = patched(PLAIN, 108, "<f", offset)
    with pytest.raises(ReadError, match=r"damaged|truncated"):
        read_labels(write(tmp_path, name, gzip.compress(content) if name.endswith("gz") else content))


@pytest.mark.parametrize("offset", [0.0, -5.0, 12.0, float("-inf")])
def test_voxels_never_start_inside_the_header(tmp_path: Path, offset: float) -> None:
    labels, _ = read_labels(write(tmp_path, "a.nii", patched(PLAIN, 108, "<f", offset)))
    assert labels.data.tolist() == IDS.tolist()


def test_a_flipped_bit_of_gzip_data_is_noticed_or_makes_no_difference(tmp_path: Path) -> None:
    path = tmp_path / "a.nii.gz"
    harmless = 0  # deflate leaves a few bits unused at its end
    for place in range(10, len(PACKED) - 8):
        for bit in (1, 64):
            damaged = bytearray(PACKED)
            damaged[place] ^= bit
            path.write_bytes(damaged)
            try:
                labels, _ = read_labels(path)
            except MedotterViewerError:
                continue
            harmless += 1
            assert labels.data.tolist() == IDS.tolist()
    assert harmless < 10


def test_one_damaged_gzip_member_behind_the_voxels_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="damaged"):
        read_labels(write(tmp_path, "a.nii.gz", PACKED + b"\x1f\x8bgarbage"))


@pytest.mark.parametrize("start", ["plain", "packed", "nifti2"])
def test_random_damage_gives_a_valid_map_or_our_error(tmp_path: Path, start: str) -> None:
    whole = {"plain": PLAIN, "packed": PACKED, "nifti2": nibabel.Nifti2Image(IDS, AFFINE).to_bytes()}[start]
    dice = random.Random(20_240_101)  # noqa: S311 - nothing secret
    read = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(300):
            content = bytearray(whole[: dice.randrange(len(whole))] if n % 5 == 0 else whole)
            for _ in range(dice.randint(1, 6) if content else 0):
                reach = len(content) if start == "packed" else min(len(content), 560)
                content[dice.randrange(reach)] = dice.choice([0, 1, 127, 128, 255, dice.randrange(256)])
            path = write(tmp_path, dice.choice(["a.nii", "a.nii.gz"]), bytes(content))
            for reader in READERS:
                try:
                    value, findings = reader(path)
                except MedotterViewerError as error:
                    refused += 1
                    assert str(error)  # noqa: PT017 - every error has words
                else:
                    read += 1
                    grid = value if reader is read_grid else value.grid
                    assert np.isfinite(grid.affine).all()
                    assert reader is read_grid or value.data.shape == grid.shape
                    assert all(f.message for f in findings)
    assert read + refused == 900
    assert refused > 100
    assert read > (0 if start == "packed" else 100)
