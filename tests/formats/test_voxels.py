"""Reading voxels in pieces: borders of pieces, types that grow on the way, several gzip members, memory."""

from __future__ import annotations

import gzip
import importlib.util
import io
import itertools
import sys
import tracemalloc
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import isal.igzip
import nibabel
import numpy as np
import pytest
from numpy.typing import NDArray

from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats.nifti import read_labels, read_volume
from medotter_viewer.formats.voxels import StoredVoxels, gunzipped, read_errors

PIECE = 1 << 20
HERE = Path("a.nii")


def stored(array: NDArray[Any], **more: Any) -> StoredVoxels:
    return StoredVoxels(HERE, io.BytesIO(array.tobytes()), array.dtype, array.size, array.nbytes, **more)


@pytest.mark.parametrize("dtype", ["u1", "i1", "<i2", ">i2", ">u4", "<i8", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("size", [1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 3])
def test_pieces_of_every_type_join_without_a_gap(dtype: str, size: int) -> None:
    array = (np.arange(size) % 101).astype(dtype)
    ids, findings = stored(array).ids()
    assert ids.dtype == np.uint8
    assert findings == []
    np.testing.assert_array_equal(ids, np.arange(size) % 101)
    values = stored(array).values()
    assert values.dtype.isnative
    np.testing.assert_array_equal(values, np.arange(size) % 101)


@pytest.mark.parametrize(("largest", "dtype"), [(255, "u1"), (256, "u2"), (70_000, "i4"), (-1, "i4"), (2**31, "u4")])
def test_one_large_id_in_the_last_piece_widens_all(largest: int, dtype: str) -> None:
    array = np.full(PIECE, 7, dtype=np.int64)
    array[-1] = largest
    ids, _ = stored(array).ids()
    assert ids.dtype == dtype
    assert ids[-1] == largest
    assert (ids[:-1] == 7).all()


def test_voxels_that_are_no_numbers_are_counted_over_all_pieces() -> None:
    array = np.zeros(3 * PIECE, dtype=np.float32)
    array[[0, PIECE, -1]] = np.nan, np.inf, np.nan
    array[5] = 0.5
    with pytest.raises(LabelError, match=f"3 of {3 * PIECE} voxels are NaN or infinite"):
        stored(array).ids()


def test_the_largest_deviation_of_all_pieces_is_told() -> None:
    array = np.zeros(PIECE, dtype=np.float64)
    array[[0, -1]] = 0.01, 3.04
    ids, (note,) = stored(array).ids()
    assert (ids[0], ids[-1]) == (0, 3)
    assert "up to 0.0400 from" in note.message
    array[-1] = 3.3
    with pytest.raises(LabelError, match=f"2 of {PIECE} voxels are not whole numbers, largest deviation 0.3 "):
        stored(array).ids()


def test_scaled_values_are_single_precision_and_ids_are_scaled_before_they_are_rounded() -> None:
    array = np.array([0, 1, 2, 400], dtype=np.int16)
    values = stored(array, slope=0.5, inter=-1.0).values()
    assert values.dtype == np.float32
    assert values.tolist() == [-1, -0.5, 0, 199]
    assert stored(array, slope=2.0, inter=1.0).ids()[0].tolist() == [1, 3, 5, 801]


def test_several_gzip_members_are_one_stream(tmp_path: Path) -> None:
    ids = np.random.default_rng(1).integers(0, 9, (64, 64, 300)).astype(np.uint8)
    plain = nibabel.Nifti1Image(ids, np.eye(4)).to_bytes()
    cuts = [0, 100, 352, 5000, PIECE, len(plain)]
    path = tmp_path / "a.nii.gz"
    path.write_bytes(b"".join(gzip.compress(plain[a:b], 1) for a, b in itertools.pairwise(cuts)))
    np.testing.assert_array_equal(read_labels(path)[0].data, ids)
    np.testing.assert_array_equal(read_volume(path)[0].data, ids)


def test_an_isal_without_the_reader_that_is_no_public_name_unpacks_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    content = np.arange(100_000, dtype="<i4").tobytes()
    packed = gzip.compress(content[:1000]) + gzip.compress(content[1000:])
    with gunzipped(io.BytesIO(packed)) as stream:
        assert stream.read() == content
    monkeypatch.setattr(isal, "igzip", SimpleNamespace(IGzipFile=isal.igzip.IGzipFile))
    array = np.zeros(100_000, dtype="<i4")
    with gunzipped(io.BytesIO(packed)) as stream:
        assert StoredVoxels(HERE, stream, array.dtype, array.size, len(content)).values().tobytes() == content
    with pytest.raises(ReadError, match="damaged"), read_errors(HERE), gunzipped(io.BytesIO(packed[:-9])) as stream:
        stream.read()


@pytest.mark.parametrize("place", [-1, -5, -8])
def test_a_wrong_checksum_or_length_at_the_end_is_noticed(place: int) -> None:
    packed = bytearray(gzip.compress(bytes(100_000)))
    packed[place] ^= 1
    with pytest.raises(ReadError, match="damaged"), read_errors(HERE), gunzipped(io.BytesIO(packed)) as stream:
        StoredVoxels(HERE, stream, np.dtype("u1"), 100_000, 100_000).ids()


def test_a_label_map_of_doubles_costs_no_more_memory_than_its_ids() -> None:
    array = (np.arange(4 * PIECE) % 5).astype(np.float64)
    voxels = stored(array)
    tracemalloc.start()
    voxels.ids()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < array.size + 6 * PIECE  # one byte for each voxel, and pieces of 1 MB on the way


def test_more_bytes_than_the_file_can_hold_are_refused_before_anything_is_reserved() -> None:
    with pytest.raises(ReadError, match="promises 10000000000 bytes of voxels, the file cannot hold them"):
        StoredVoxels(HERE, io.BytesIO(), np.dtype("u1"), 10**10, 10**6)


@pytest.fixture
def bench() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "bench_reading.py"
    spec = importlib.util.spec_from_file_location("bench_reading", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_reading"] = module  # its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


def test_the_benchmark_finds_our_arrays_and_positions_equal_to_nibabels(bench: ModuleType, tmp_path: Path) -> None:
    for path in bench.write_phantoms(tmp_path, (16, 12, 9)):
        found = bench.differences(path)
        assert found[bench.OURS] == "equal"
        assert set(found.values()) <= {"equal", "absent"}
    labels, ct = bench.phantoms((16, 12, 9))
    assert len(np.unique(labels)) > 5
    assert ct.min() < -900 < 0 < ct.max()
