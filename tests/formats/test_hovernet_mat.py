"""MATLAB files of instance maps: the one variable that is read, and what is never looked into."""

from __future__ import annotations

import random
import struct
import tracemalloc
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from medotter_viewer.errors import LabelError, MedotterViewerError, ReadError
from medotter_viewer.formats.hovernet_mat import matches, read_grid, read_labels, read_volume

MAP = np.array([[0, 1, 1], [1039, 0, 7]])


def write(folder: Path, packed: bool = True, **variables: Any) -> Path:
    path = folder / "a.mat"
    savemat(path, variables, do_compression=packed)
    return path


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("dtype", ["u2", "i2", "i4", "u4", "i8", "f4", "f8"])
def test_ids_come_back_as_they_are_with_gaps(tmp_path: Path, dtype: str, packed: bool) -> None:
    path = write(tmp_path, packed, inst_map=MAP.astype(dtype), inst_type=np.array([[1], [2]]))
    labels, findings = read_labels(path)
    assert labels.data.tolist() == [MAP.tolist()]
    assert labels.data.dtype == np.uint16
    assert labels.grid.unit == "px"
    assert findings == []
    assert read_volume(path)[0].data.tolist() == [MAP.tolist()]
    assert read_grid(path)[0].shape == (1, 2, 3)


def test_real_tiles_have_as_many_nuclei_as_their_lists(shared_data: Path) -> None:
    counts = {path.stem: path for path in sorted((shared_data / "data" / "cellseg_he").glob("*.mat"))}
    found = {}
    for name, path in counts.items():
        labels, findings = read_labels(path)
        assert labels.grid.shape == (1, 256, 256)
        assert findings == []
        found[name] = len(np.unique(labels.data)) - 1
    assert found == {"patch1": 20, "patch2": 47, "patch3": 58}


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"type_map": MAP}, "no variable inst_map, expected an instance map; it holds type_map"),
        ({"inst_map": {"a": MAP}}, "inst_map is struct"),
        ({"inst_map": np.array([MAP, "x"], dtype=object)}, "inst_map is cell"),
        ({"inst_map": "text"}, "inst_map is char"),
        ({"a": {"inst_map": MAP}}, "it holds a"),
        ({"inst_map": np.zeros((2, 3, 4), np.uint8)}, r"shape \(2, 3, 4\), expected rows and columns"),
        ({"inst_map": np.zeros((0, 3), np.uint8)}, r"shape \(0, 3\)"),
        ({"inst_map": MAP * 1j}, "inst_map is complex"),
    ],
)
def test_what_is_no_instance_map_is_refused(tmp_path: Path, variables: dict[str, Any], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_labels(write(tmp_path, **variables))


def test_fractions_are_no_ids(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match="not a label map"):
        read_labels(write(tmp_path, inst_map=MAP / 2.5))


def test_version_7_3_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + bytes(600))
    with pytest.raises(ReadError, match=r"HDF5\) is not read; save it with '-v7'"):
        read_labels(tmp_path / "a.mat")


@pytest.mark.parametrize("content", [b"", b"MATLAB", bytes(200), b"version https://git-lfs.github.com/spec/v1\n"])
def test_what_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mat").write_bytes(content)
    for read in (read_grid, read_labels, read_volume):
        with pytest.raises(ReadError, match=r"not a MATLAB 5 file|git lfs"):
            read(tmp_path / "a.mat")


def test_it_is_known_by_its_start(tmp_path: Path) -> None:
    assert matches(write(tmp_path, inst_map=MAP).read_bytes()[:4096])
    assert not matches(b"MATLAB 7.3 MAT-file")


def matrix(rows: int, columns: int, content: bytes, promised: int) -> bytes:
    """A file of one uint8 matrix inst_map whose data element says it has `promised` bytes."""
    body = struct.pack("<IIII", 6, 8, 9, 0) + struct.pack("<IIii", 5, 8, rows, columns)
    body += struct.pack("<II", 1, 8) + b"inst_map" + struct.pack("<II", 2, promised) + content
    element = struct.pack("<II", 14, min(len(body) - len(content) + promised, 2**32 - 1)) + body
    packed = zlib.compress(element)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)
    return head + struct.pack("<II", 15, len(packed)) + packed


def test_a_matrix_made_by_hand_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.mat").write_bytes(matrix(2, 4, bytes(range(8)), 8))
    assert read_labels(tmp_path / "a.mat")[0].data.tolist() == [[[0, 2, 4, 6], [1, 3, 5, 7]]]


@pytest.mark.parametrize("promised", [7, 9, 2**32 - 8])
def test_a_data_element_of_another_size_than_the_shape_is_refused(tmp_path: Path, promised: int) -> None:
    (tmp_path / "a.mat").write_bytes(matrix(2, 4, bytes(8), promised))
    with pytest.raises(ReadError, match=rf"has {promised} bytes of numbers, expected 8"):
        read_labels(tmp_path / "a.mat")


def test_numbers_in_the_other_byte_order_are_read(tmp_path: Path) -> None:
    body = struct.pack(">IIII", 6, 8, 12, 0) + struct.pack(">IIii", 5, 8, 2, 3)
    body += struct.pack(">II", 1, 8) + b"inst_map" + struct.pack(">II", 4, 12) + MAP.astype(">u2").tobytes(order="F")
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">HH", 0x0100, 0x4D49)
    (tmp_path / "a.mat").write_bytes(head + struct.pack(">II", 14, len(body)) + body)
    assert read_labels(tmp_path / "a.mat")[0].data.tolist() == [MAP.tolist()]


@pytest.mark.parametrize(("rows", "columns"), [(100_000, 100_000), (2**31 - 1, 2**31 - 1)])
def test_a_header_that_promises_ten_gigabytes_costs_nothing(tmp_path: Path, rows: int, columns: int) -> None:
    (tmp_path / "a.mat").write_bytes(matrix(rows, columns, bytes(8), 2**32 - 8))
    tracemalloc.start()
    with pytest.raises(ReadError, match="bytes of voxels, the file cannot hold them"):
        read_labels(tmp_path / "a.mat")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


@pytest.mark.parametrize("packed", [True, False])
def test_random_damage_gives_a_valid_map_or_our_error(tmp_path: Path, packed: bool) -> None:
    whole = write(tmp_path, packed, inst_map=MAP.astype(np.int32), type_map=MAP).read_bytes()
    dice = random.Random(11)  # noqa: S311 - nothing secret
    read = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(300):
            content = bytearray(whole[: dice.randrange(120, len(whole))] if n % 5 == 0 else whole)
            for _ in range(dice.randint(1, 3)):
                content[dice.randrange(120, len(content))] = dice.choice([0, 1, 5, 9, 14, 15, 127, 255])
            (tmp_path / "a.mat").write_bytes(content)
            for reader in (read_labels, read_volume, read_grid):
                try:
                    reader(tmp_path / "a.mat")
                except MedotterViewerError:
                    refused += 1
                else:
                    read += 1
    assert read + refused == 900
    assert read > 50
    assert refused > 50
