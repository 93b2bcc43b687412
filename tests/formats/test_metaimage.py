"""MetaImage files: types, packing, positions by ITK's convention, data beside the header, and damage."""

from __future__ import annotations

import random
import tracemalloc
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import LabelError, MedotterViewerError, ReadError, UnsafePathError
from medotter_viewer.formats.metaimage import NAME, matches, read_grid, read_labels, read_volume

IDS = (np.arange(24) % 5).reshape(2, 3, 4)
TYPES = {
    "i1": "MET_CHAR", "u1": "MET_UCHAR", "i2": "MET_SHORT", "u2": "MET_USHORT", "i4": "MET_INT", "u4": "MET_UINT",
    "i8": "MET_LONG_LONG", "u8": "MET_ULONG_LONG", "f4": "MET_FLOAT", "f8": "MET_DOUBLE",
}  # fmt: skip
KEYS = [
    *["NDims", "DimSize", "ElementSpacing", "Offset", "TransformMatrix", "ElementType", "CompressedData", "HeaderSize"],
    *["ElementByteOrderMSB", "ElementNumberOfChannels", "BinaryData", "DistanceUnits", "Comment"],
]


def header_of(array: NDArray[Any], data_file: str = "LOCAL", **keys: Any) -> bytes:
    told = {
        "ObjectType": "Image",
        "NDims": array.ndim,
        "BinaryData": "True",
        "ElementByteOrderMSB": str(array.dtype.byteorder == ">"),
        "TransformMatrix": "1 0 0 0 1 0 0 0 1" if array.ndim == 3 else None,
        "Offset": "10 20 30" if array.ndim == 3 else None,
        "ElementSpacing": "0.5 2 3" if array.ndim == 3 else None,
        "DimSize": " ".join(map(str, array.shape)),
        "ElementType": TYPES[array.dtype.str[1:]],
        **keys,
    }
    lines = [f"{key} = {value}\n" for key, value in told.items() if value is not None]
    return "".join([*lines, f"ElementDataFile = {data_file}\n"]).encode()


def file_of(path: Path, array: NDArray[Any], *, packed: bool = False, **keys: Any) -> Path:
    raw = array.tobytes(order="F")
    if packed:
        raw = zlib.compress(raw)
        keys = {"CompressedData": "True", "CompressedDataSize": len(raw), **keys}
    path.write_bytes(header_of(array, **keys) + raw)
    return path


def codes(findings: list[Finding]) -> list[str]:
    return [f"{f.severity} {f.code}" for f in findings]


class TestValues:
    @pytest.mark.parametrize("packed", [False, True])
    @pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i2", ">u4", "<i8", ">u8", "<f4", ">f4", "<f8"])
    def test_every_type_and_packing_gives_the_same_ids(self, tmp_path: Path, dtype: str, packed: bool) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype(dtype), packed=packed)
        labels, findings = read_labels(path)
        assert labels.data.tolist() == IDS.tolist()
        assert labels.data.dtype == np.uint8
        assert findings == []
        volume, findings = read_volume(path)
        assert volume.data.tolist() == IDS.tolist()
        assert findings == []

    def test_a_long_has_four_bytes_as_in_itk(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype("<i4"), ElementType="MET_LONG")
        assert read_labels(path)[0].data.tolist() == IDS.tolist()

    def test_data_whose_packed_size_is_not_told_are_read(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype("<i2"), packed=True, CompressedDataSize=None)
        assert read_labels(path)[0].data.tolist() == IDS.tolist()

    def test_a_large_packed_volume_is_read_across_its_pieces(self, tmp_path: Path) -> None:
        array = np.random.default_rng(0).integers(0, 300, (128, 128, 100)).astype("<u2")
        labels, _ = read_labels(file_of(tmp_path / "a.mha", array, packed=True))
        assert labels.data.dtype == np.uint16
        np.testing.assert_array_equal(labels.data, array)

    def test_a_ct_says_its_unit(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype("<i2"), Modality="MET_MOD_CT")
        assert read_volume(path)[0].unit == "HU"

    @pytest.mark.parametrize("channels", [3, 4])
    def test_colours_are_an_image_and_no_label_ids(self, tmp_path: Path, channels: int) -> None:
        colours = np.random.default_rng(0).integers(0, 255, (2, 3, 4, channels)).astype(np.uint8)
        told = header_of(IDS.astype(np.uint8), ElementNumberOfChannels=channels)
        (tmp_path / "a.mha").write_bytes(told + colours.transpose(2, 1, 0, 3).tobytes())
        volume, findings = read_volume(tmp_path / "a.mha")
        assert volume.rgb
        np.testing.assert_array_equal(volume.data, colours[..., :3])
        assert codes(findings) == (["info alpha-left-out"] if channels == 4 else [])
        with pytest.raises(LabelError, match=f"{channels} channels for each voxel"):
            read_labels(tmp_path / "a.mha")

    def test_other_channels_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match="2 channels of type"):
            read_volume(file_of(tmp_path / "a.mha", IDS.astype(np.uint8), ElementNumberOfChannels=2))


class TestGeometry:
    def test_offset_and_steps_become_ras(self, tmp_path: Path) -> None:
        grid, findings = read_grid(file_of(tmp_path / "a.mha", IDS.astype(np.uint8)))
        assert grid.affine.tolist() == [[-0.5, 0, 0, -10], [0, -2, 0, -20], [0, 0, 3, 30], [0, 0, 0, 1]]
        assert grid.has_world
        assert findings == []

    def test_three_numbers_of_the_matrix_are_the_direction_of_one_axis(self, tmp_path: Path) -> None:
        """The first axis runs along +y LPS, so one step of it is 0.5 mm towards the front's opposite."""
        matrix = "0 1 0 0 0 1 1 0 0"
        grid, _ = read_grid(file_of(tmp_path / "a.mha", IDS.astype(np.uint8), TransformMatrix=matrix))
        assert grid.voxel_to_world([1, 0, 0]).tolist() == [-10, -20.5, 30]
        assert grid.voxel_to_world([0, 1, 0]).tolist() == [-10, -20, 32]
        assert grid.voxel_to_world([0, 0, 1]).tolist() == [-13, -20, 30]
        assert grid.axcodes == "PSL"

    @pytest.mark.parametrize(("old", "new"), [("TransformMatrix", "Orientation"), ("Offset", "Position")])
    def test_older_names_of_keys_mean_the_same(self, tmp_path: Path, old: str, new: str) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype(np.uint8))
        expected = read_grid(path)[0].affine
        path.write_bytes(path.read_bytes().replace(old.encode() + b" ", new.encode() + b" "))
        np.testing.assert_array_equal(read_grid(path)[0].affine, expected)

    def test_without_offset_and_matrix_only_the_steps_are_known(self, tmp_path: Path) -> None:
        grid, _ = read_grid(file_of(tmp_path / "a.mha", IDS.astype(np.uint8), Offset=None, TransformMatrix=None))
        assert not grid.has_world
        assert grid.spacing == (0.5, 2.0, 3.0)

    @pytest.mark.parametrize(("unit", "factor"), [("um", 0.001), ("mm", 1), ("cm", 10), ("?", 1)])
    def test_lengths_leave_as_millimetres(self, tmp_path: Path, unit: str, factor: float) -> None:
        grid, findings = read_grid(file_of(tmp_path / "a.mha", IDS.astype(np.uint8), DistanceUnits=unit))
        assert grid.spacing == pytest.approx((0.5 * factor, 2 * factor, 3 * factor))
        assert codes(findings) == ([] if factor == 1 else ["info unit-converted"])

    @pytest.mark.parametrize("shape", [(6, 4), (2, 3, 4, 1)])
    def test_missing_and_single_axes_are_put_right_with_a_note(self, tmp_path: Path, shape: tuple[int, ...]) -> None:
        labels, findings = read_labels(file_of(tmp_path / "a.mha", np.ones(shape, np.uint8)))
        assert labels.data.shape == (*shape, 1)[:3]
        assert not labels.grid.has_world
        assert codes(findings) == ["info singleton-axes"]

    def test_four_dimensions_with_a_position_keep_the_first_three(self, tmp_path: Path) -> None:
        told = {"TransformMatrix": "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1", "Offset": "1 2 3 9", "ElementSpacing": "4 5 6 1"}
        grid, _ = read_grid(file_of(tmp_path / "a.mha", np.ones((2, 3, 4, 1), np.uint8), **told))
        assert grid.affine.tolist() == [[-4, 0, 0, -1], [0, -5, 0, -2], [0, 0, 6, 3], [0, 0, 0, 1]]

    @pytest.mark.parametrize(
        "keys",
        [
            *[
                {"DimSize": "2 3"},
                {"DimSize": "2 3 0"},
                {"DimSize": "2 3 -4"},
                {"DimSize": "2 3 4.5"},
                {"DimSize": None},
            ],
            *[{"NDims": "4"}, {"NDims": "x"}, {"ElementSpacing": "1 1"}, {"ElementSpacing": "nan 1 1"}],
            *[{"ElementSpacing": "0 1 1"}, {"ElementSpacing": "-1 1 1"}, {"ElementSpacing": "1e300 1 1"}],
            *[{"Offset": "1 2"}, {"Offset": "nan 0 0"}, {"TransformMatrix": "1 0 0 0 1 0 0 0"}],
            *[{"TransformMatrix": "1 0 0 1 0 0 0 0 1"}, {"TransformMatrix": "x 0 0 0 1 0 0 0 1"}],
            *[{"ElementType": "MET_STRING"}, {"ElementType": None}, {"ElementNumberOfChannels": "0"}],
            *[
                {"ElementNumberOfChannels": "x"},
                {"HeaderSize": "x"},
                {"HeaderSize": "-2"},
                {"HeaderSize": "99999999999"},
            ],
            *[{"BinaryData": "False"}, {"CompressedData": "True"}],
        ],
    )
    def test_a_header_that_makes_no_sense_is_a_read_error(self, tmp_path: Path, keys: dict[str, Any]) -> None:
        with pytest.raises(ReadError, match=r"a\.mha"):
            read_labels(file_of(tmp_path / "a.mha", IDS.astype("<i2"), **keys))

    def test_several_volumes_are_refused_with_the_sizes(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match=r"4-dimensional, sizes \(2, 3, 4, 5\).*one file per channel"):
            read_volume(file_of(tmp_path / "a.mha", np.ones((2, 3, 4, 5), np.uint8)))

    def test_a_key_that_stands_twice_is_damage(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype(np.uint8))
        path.write_bytes(path.read_bytes().replace(b"NDims = 3\n", b"NDims = 3\nOffset = 0 0 0\n"))
        with pytest.raises(ReadError, match="each key once"):
            read_grid(path)


class TestDataElsewhere:
    RAW = IDS.astype("<i2").tobytes(order="F")

    def write(self, folder: Path, data_file: str, content: bytes, **keys: Any) -> Path:
        path = folder / "a.mhd"
        path.write_bytes(header_of(IDS.astype("<i2"), data_file, **keys))
        (folder / "a.raw").write_bytes(content)
        return path

    def test_data_beside_the_header_are_read(self, tmp_path: Path) -> None:
        assert read_labels(self.write(tmp_path, "a.raw", self.RAW))[0].data.tolist() == IDS.tolist()
        path = self.write(tmp_path, "a.raw", zlib.compress(self.RAW), CompressedData="True")
        assert read_labels(path)[0].data.tolist() == IDS.tolist()

    @pytest.mark.parametrize("size", ["7", "-1"])
    def test_a_foreign_header_before_the_data_is_skipped(self, tmp_path: Path, size: str) -> None:
        path = self.write(tmp_path, "a.raw", b"ignored" + self.RAW, HeaderSize=size)
        assert read_labels(path)[0].data.tolist() == IDS.tolist()

    @pytest.mark.parametrize("name", ["/etc/passwd", "../a.raw", "c:\\a.raw", "sub/../../a.raw", "\\\\host\\a.raw", ""])
    def test_no_path_leads_out_of_the_folder(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "a.raw").write_bytes(self.RAW)
        with pytest.raises(UnsafePathError, match="ElementDataFile"):
            read_labels(self.write(tmp_path / "in", name, b""))

    def test_no_link_leads_out_of_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "secret").write_bytes(self.RAW)
        path = self.write(tmp_path / "in", "link.raw", b"")
        (tmp_path / "in" / "link.raw").symlink_to(tmp_path / "secret")
        with pytest.raises(UnsafePathError, match="link"):
            read_labels(path)

    @pytest.mark.parametrize("name", ["LIST", "LIST 2", "a%03d.raw 1 4 1"])
    def test_data_in_several_files_are_refused(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(ReadError, match="several files"):
            read_labels(self.write(tmp_path, name, b""))

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match=r"b\.raw: No such file"):
            read_labels(self.write(tmp_path, "b.raw", b""))


class TestDamage:
    @pytest.mark.parametrize("packed", [False, True])
    def test_a_header_that_promises_ten_gigabytes_costs_nothing(self, tmp_path: Path, packed: bool) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype(np.uint8), packed=packed, DimSize="2048 2048 2500")
        tracemalloc.start()
        with pytest.raises(ReadError, match=f"promises {2048 * 2048 * 2500} bytes"):
            read_labels(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5 << 20

    def test_a_packed_file_of_zeros_unpacks_no_more_than_its_voxels(self, tmp_path: Path) -> None:
        bomb = zlib.compress(bytes(200 << 20))
        (tmp_path / "a.mha").write_bytes(header_of(IDS.astype(np.uint8), CompressedData="True") + bomb)
        tracemalloc.start()
        assert read_labels(tmp_path / "a.mha")[0].data.max() == 0
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 << 20

    @pytest.mark.parametrize("packed", [False, True])
    def test_data_cut_short_are_refused(self, tmp_path: Path, packed: bool) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype("<i2"), packed=packed)
        path.write_bytes(path.read_bytes()[:-5])
        with pytest.raises(ReadError, match=r"truncated|damaged"):
            read_labels(path)

    def test_a_wrong_checksum_is_noticed(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.mha", IDS.astype("<i2"), packed=True)
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        with pytest.raises(ReadError, match="damaged or truncated zlib"):
            read_labels(path)

    @pytest.mark.parametrize(
        "content", [b"", b"ObjectType = Image\n", b"hello", b"ElementDataFile = LOCAL\n", bytes(9)]
    )
    def test_what_is_none_is_said_to_be_none(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "a.mha").write_bytes(content)
        for read in (read_labels, read_volume, read_grid):
            with pytest.raises(ReadError, match="not a MetaImage"):
                read(tmp_path / "a.mha")

    def test_a_pointer_of_large_file_storage_says_what_to_do(self, tmp_path: Path) -> None:
        (tmp_path / "a.mha").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n")
        with pytest.raises(ReadError, match="git lfs pull"):
            read_grid(tmp_path / "a.mha")

    def test_it_is_known_by_its_start(self) -> None:
        assert NAME == "metaimage"
        assert matches(header_of(IDS.astype(np.uint8)))
        assert matches(b"Comment = x\r\nNDims = 3\r\nElementDataFile = a.raw\r\n")
        assert not matches(b"Name = someone\n")
        assert not matches(b"NRRD0004\n")

    @pytest.mark.parametrize("packed", [False, True])
    def test_random_damage_gives_a_valid_map_or_our_error(self, tmp_path: Path, packed: bool) -> None:
        whole = file_of(tmp_path / "w.mha", IDS.astype("<i2"), packed=packed).read_bytes()
        dice = random.Random(7)  # noqa: S311 - nothing secret
        read = refused = 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for n in range(300):
                content = bytearray(whole[: dice.randrange(9, len(whole))] if n % 5 == 0 else whole)
                for _ in range(dice.randint(1, 4)):
                    content[dice.randrange(len(content))] = dice.choice([*b"0123456789 -.=en\nTL", 0, 255])
                (tmp_path / "a.mha").write_bytes(content)
                for reader in (read_labels, read_volume, read_grid):
                    try:
                        value, _ = reader(tmp_path / "a.mha")
                    except MedotterViewerError:
                        refused += 1
                    else:
                        read += 1
                        grid = value if reader is read_grid else value.grid
                        assert np.isfinite(grid.affine).all()
                        assert reader is read_grid or value.data.shape[:3] == grid.shape
        assert read > 50
        assert refused > 50

    @settings(max_examples=60)
    @given(key=st.sampled_from(KEYS), value=st.text(alphabet="0123456789 -.enMET_INTSHORaut", max_size=40))
    def test_any_value_of_a_key_gives_a_map_or_our_error(self, tmp_path_factory: Any, key: str, value: str) -> None:
        path = file_of(tmp_path_factory.mktemp("any") / "a.mha", IDS.astype("<i2"), **{key: value})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                labels, _ = read_labels(path)
            except MedotterViewerError:
                return
        assert labels.data.shape == labels.grid.shape
