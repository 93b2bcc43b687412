"""NRRD files: every encoding, type and space, data beside the header, and files that are not what they say."""

from __future__ import annotations

import bz2
import gzip
import random
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import nrrd as pynrrd
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import LabelError, MedotterViewerError, ReadError, UnsafePathError
from medotter_viewer.formats import nrrd
from medotter_viewer.formats.nrrd import matches, read_grid, read_labels, read_volume

IDS = (np.arange(24) % 5).reshape(2, 3, 4)
LPS = {
    "space": "left-posterior-superior",
    "space directions": "(0.5,0,0) (0,2,0) (0,0,3)",
    "space origin": "(10,20,30)",
    "kinds": "domain domain domain",
}
TYPES = {
    "i1": "int8", "u1": "unsigned char", "i2": "short", "u2": "uint16", "i4": "int", "u4": "uint32", "i8": "int64",
    "u8": "uint64", "f4": "float", "f8": "double",
}  # fmt: skip


FIELDS = [
    *["type", "dimension", "sizes", "space", "space directions", "space origin", "space units", "kinds", "endian"],
    *["encoding", "byte skip", "line skip", "data file", "spacings", "units", "measurement frame"],
]


def header_of(array: NDArray[Any], encoding: str = "raw", **fields: str) -> bytes:
    """Text of a header; a field with an underscore instead of a blank, None leaves it out."""
    told: dict[str, str | None] = {
        "type": TYPES[array.dtype.str[1:]],
        "dimension": str(array.ndim),
        "sizes": " ".join(map(str, array.shape)),
        "endian": "big" if array.dtype.byteorder == ">" else "little",
        "encoding": encoding,
        **(LPS if array.ndim == 3 else {}),
        **{key.replace("_", " "): value for key, value in fields.items()},
    }
    return "".join(["NRRD0004\n", *(f"{k}: {v}\n" for k, v in told.items() if v is not None)]).encode()


def file_of(path: Path, array: NDArray[Any], encoding: str = "raw", **fields: Any) -> Path:
    raw = array.tobytes(order="F")
    packed = {"gzip": gzip.compress, "gz": gzip.compress, "bzip2": bz2.compress}.get(encoding, bytes)(raw)
    if encoding in ("ascii", "txt", "text"):
        packed = " ".join(str(v) for v in array.ravel(order="F").tolist()).encode()
    path.write_bytes(header_of(array, encoding, **fields) + b"\n" + packed)
    return path


def codes(findings: list[Finding]) -> list[str]:
    return [f"{f.severity} {f.code}" for f in findings]


class TestValues:
    @pytest.mark.parametrize("encoding", ["raw", "gzip", "gz", "bzip2", "ascii", "txt"])
    @pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i2", ">u4", "<i8", ">u8", "<f4", ">f4", "<f8"])
    def test_every_type_and_encoding_gives_the_same_ids(self, tmp_path: Path, dtype: str, encoding: str) -> None:
        labels, findings = read_labels(file_of(tmp_path / "a.nrrd", IDS.astype(dtype), encoding))
        assert labels.data.tolist() == IDS.tolist()
        assert labels.data.dtype == np.uint8
        assert labels.data.flags.f_contiguous
        assert findings == []
        volume, findings = read_volume(tmp_path / "a.nrrd")
        np.testing.assert_array_equal(volume.data, IDS)
        assert volume.data.dtype == (np.float32 if dtype == "<f8" else np.dtype(dtype).newbyteorder("="))
        assert findings == []

    @pytest.mark.parametrize("encoding", ["raw", "gzip", "bzip2", "ascii"])
    def test_what_pynrrd_writes_is_read(self, tmp_path: Path, encoding: str) -> None:
        array = np.asfortranarray(np.arange(-12, 12, dtype=np.int16).reshape(2, 3, 4))
        header = {"space": "RAS", "space directions": np.diag([1.0, 2, 3]), "space origin": [4, 5, 6]}
        pynrrd.write(str(tmp_path / "a.nrrd"), array, {**header, "encoding": encoding})
        volume, _ = read_volume(tmp_path / "a.nrrd")
        assert volume.data.tolist() == array.tolist()
        assert volume.grid.affine.tolist() == [[1, 0, 0, 4], [0, 2, 0, 5], [0, 0, 3, 6], [0, 0, 0, 1]]

    def test_a_long_text_is_read_across_its_pieces(self, tmp_path: Path) -> None:
        array = np.random.default_rng(0).integers(0, 70_000, (40, 40, 40)).astype("<i4")
        assert (read_labels(file_of(tmp_path / "a.nrrd", array, "ascii"))[0].data == array).all()

    @pytest.mark.parametrize("text", [b"1 2 three 4", b"1 2 " + b"9" * 100_000, b"\0\1\2"])
    def test_a_text_that_is_no_numbers_is_damage(self, tmp_path: Path, text: bytes) -> None:
        path = tmp_path / "a.nrrd"
        path.write_bytes(header_of(IDS.astype("<i2"), "ascii") + b"\n" + text)
        with pytest.raises(ReadError, match="damaged text"):
            read_labels(path)

    def test_fractional_ids_are_refused_but_are_an_image(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.nrrd", (IDS / 2).astype("<f4"))
        with pytest.raises(LabelError, match="not a label map"):
            read_labels(path)
        np.testing.assert_array_equal(read_volume(path)[0].data, IDS / 2)

    @pytest.mark.parametrize("place", ["first", "last"])
    @pytest.mark.parametrize("samples", [3, 4])
    def test_colours_are_an_image_and_no_label_ids(self, tmp_path: Path, samples: int, place: str) -> None:
        colours = np.random.default_rng(0).integers(0, 255, (2, 3, 4, samples)).astype(np.uint8)
        kind = "RGB-color" if samples == 3 else "RGBA-color"
        array = np.moveaxis(colours, -1, 0) if place == "first" else colours
        order = ["none", *LPS["space directions"].split()]
        kinds = [kind, "domain", "domain", "domain"]
        if place == "last":
            order, kinds = order[1:] + order[:1], kinds[1:] + kinds[:1]
        told = {**LPS, "space directions": " ".join(order), "kinds": " ".join(kinds)}
        path = file_of(tmp_path / "a.nrrd", array, **told)
        volume, findings = read_volume(path)
        assert volume.rgb
        assert (volume.data == colours[..., :3]).all()
        assert volume.grid.spacing == (0.5, 2.0, 3.0)
        assert codes(findings) == (["info alpha-left-out"] if samples == 4 else [])
        with pytest.raises(LabelError, match="channels of colour"):
            read_labels(path)

    def test_several_volumes_are_refused_with_the_sizes(self, tmp_path: Path) -> None:
        array = np.zeros((2, 3, 4, 5), np.uint8)
        told = {**LPS, "space directions": "none (0.5,0,0) (0,2,0) (0,0,3)", "kinds": "list domain domain domain"}
        for read in (read_labels, read_volume):
            with pytest.raises(ReadError, match=r"4-dimensional, sizes \(2, 3, 4, 5\).*one file per channel"):
                read(file_of(tmp_path / "a.nrrd", array, **told))

    def test_one_volume_on_a_list_axis_is_a_volume_with_a_note(self, tmp_path: Path) -> None:
        told = {**LPS, "space directions": "none (0.5,0,0) (0,2,0) (0,0,3)", "kinds": "list domain domain domain"}
        labels, findings = read_labels(file_of(tmp_path / "a.nrrd", IDS[None].astype(np.uint8), **told))
        assert labels.data.tolist() == IDS.tolist()
        assert codes(findings) == ["info singleton-axes"]


class TestGeometry:
    @pytest.mark.parametrize(
        ("space", "signs"),
        [
            *[("left-posterior-superior", (-1, -1, 1)), ("LPS", (-1, -1, 1))],
            *[("right-anterior-superior", (1, 1, 1)), ("RAS", (1, 1, 1))],
            *[("left-anterior-superior", (-1, 1, 1)), ("LAS", (-1, 1, 1))],
        ],
    )
    def test_every_space_becomes_ras(self, tmp_path: Path, space: str, signs: tuple[int, ...]) -> None:
        grid, findings = read_grid(file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), space=space))
        x, y, z = signs
        expected = [[0.5 * x, 0, 0, 10 * x], [0, 2 * y, 0, 20 * y], [0, 0, 3 * z, 30 * z], [0, 0, 0, 1]]
        assert grid.affine.tolist() == expected
        assert grid.has_world
        assert findings == []

    def test_an_oblique_direction_belongs_to_its_axis(self, tmp_path: Path) -> None:
        """One step along the first axis is (0, 2, 0) LPS, so (0, -2, 0) RAS."""
        directions = "(0, 2, 0) (-0.5,0,0) (0,0.3,3)"  # with blanks, as some write them
        grid, _ = read_grid(file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), space_directions=directions))
        assert grid.voxel_to_world([1, 0, 0]).tolist() == pytest.approx([-10, -22, 30])
        assert grid.voxel_to_world([0, 1, 0]).tolist() == pytest.approx([-9.5, -20, 30])
        assert grid.voxel_to_world([0, 0, 1]).tolist() == pytest.approx([-10, -20.3, 33])

    @pytest.mark.parametrize(
        ("unit", "factor"), [("mm", 1), ("um", 0.001), ("microns", 0.001), ("m", 1000), ("cm", 10), ("", 1)]
    )
    def test_lengths_leave_as_millimetres(self, tmp_path: Path, unit: str, factor: float) -> None:
        units = f'"{unit}" "{unit}" "{unit}"'
        grid, findings = read_grid(file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), space_units=units))
        assert grid.spacing == pytest.approx((0.5 * factor, 2 * factor, 3 * factor))
        assert grid.affine[:3, 3].tolist() == pytest.approx([-10 * factor, -20 * factor, 30 * factor])
        assert codes(findings) == ([] if factor == 1 else ["info unit-converted"])

    def test_spacings_without_a_space_are_steps_only(self, tmp_path: Path) -> None:
        bare = {"space": None, "space_directions": None, "space_origin": None}
        path = file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), **bare, spacings="0.5 2 3")
        grid, findings = read_grid(path)
        assert not grid.has_world
        assert grid.spacing == (0.5, 2.0, 3.0)
        assert findings == []
        assert read_grid(file_of(path, IDS.astype(np.uint8), **bare))[0].spacing == (1.0, 1.0, 1.0)
        micron = {"spacings": "500 500 500", "units": '"um" "um" "um"'}
        assert read_grid(file_of(path, IDS.astype(np.uint8), **bare, **micron))[0].spacing == (0.5, 0.5, 0.5)

    def test_a_space_that_is_not_the_patients_leaves_the_steps(self, tmp_path: Path) -> None:
        grid, findings = read_grid(file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), space="3D-right-handed"))
        assert not grid.has_world
        assert grid.spacing == (0.5, 2.0, 3.0)
        assert codes(findings) == ["warning unknown-space"]

    def test_without_an_origin_it_lies_at_zero_and_that_is_said(self, tmp_path: Path) -> None:
        grid, findings = read_grid(file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), space_origin=None))
        assert grid.affine[:3, 3].tolist() == [0, 0, 0]
        assert codes(findings) == ["warning no-origin"]

    def test_a_slice_gets_a_third_step_of_1_mm_at_right_angles(self, tmp_path: Path) -> None:
        told = {"space": "RAS", "space directions": "(0,2,0) (0,0,3)", "space origin": "(1,2,3)"}
        labels, findings = read_labels(file_of(tmp_path / "a.nrrd", IDS[0].astype(np.uint8), **told))
        assert labels.data.tolist() == IDS[0][..., None].tolist()
        assert labels.grid.affine.tolist() == [[0, 0, 1, 1], [2, 0, 0, 2], [0, 3, 0, 3], [0, 0, 0, 1]]
        assert codes(findings) == ["info singleton-axes"]

    @pytest.mark.parametrize(
        "fields",
        [
            {"space_directions": "(0,0,0) (0,2,0) (0,0,3)"},
            {"space_directions": "(nan,0,0) (0,2,0) (0,0,3)"},
            {"space_directions": "(1,0,0) (1,0,0) (0,0,3)"},
            {"space_directions": "(1,0) (0,1) (1,1)"},
            {"space_directions": "none none none"},
            {"space_origin": "(nan,0,0)"},
            {"space_origin": "(0,0)"},
            {"space_units": '"mm"'},
            {"sizes": "2 3"},
            {"sizes": "2 3 0"},
            {"sizes": "2 3 -4"},
            {"sizes": "2 3 nan"},
            {"sizes": "2 3 1e300"},
            {"dimension": "x"},
            {"dimension": "4"},
            {"kinds": "domain domain"},
            {"kinds": "domain domain list", "space": None, "space_directions": None},
            {"type": "block"},
            {"type": None},
            {"encoding": "hex"},
            {"endian": "middle"},
            {"endian": None},
            {"line_skip": "-1"},
            {"line_skip": "99999999999"},
            {"byte_skip": "-2"},
            {"byte_skip": "99999999999999999999"},
            {"byte_skip": "1"},
        ],
    )
    def test_a_header_that_makes_no_sense_is_a_read_error(self, tmp_path: Path, fields: dict[str, Any]) -> None:
        with pytest.raises(ReadError, match=r"a\.nrrd"):
            read_labels(file_of(tmp_path / "a.nrrd", IDS.astype("<i2"), **fields))


class TestDataElsewhere:
    def write(self, folder: Path, data_file: str, content: bytes, **fields: Any) -> Path:
        path = folder / "a.nhdr"
        path.write_bytes(header_of(IDS.astype("<i2"), data_file=data_file, **fields))
        (folder / "a.raw").write_bytes(content)
        return path

    def test_data_beside_the_header_are_read(self, tmp_path: Path) -> None:
        raw = IDS.astype("<i2").tobytes(order="F")
        assert read_labels(self.write(tmp_path, "a.raw", raw))[0].data.tolist() == IDS.tolist()
        path = self.write(tmp_path, "./a.raw", gzip.compress(raw), encoding="gzip")
        assert read_labels(path)[0].data.tolist() == IDS.tolist()

    def test_lines_and_bytes_are_skipped(self, tmp_path: Path) -> None:
        raw = IDS.astype("<i2").tobytes(order="F")
        path = self.write(tmp_path, "a.raw", b"one\ntwo\nxyz" + raw, line_skip="2", byte_skip="3")
        assert read_labels(path)[0].data.tolist() == IDS.tolist()
        path = self.write(tmp_path, "a.raw", b"any header at all" + raw, byte_skip="-1")
        assert read_labels(path)[0].data.tolist() == IDS.tolist()
        path = self.write(tmp_path, "a.raw", gzip.compress(b"xyz" + raw), encoding="gzip", byte_skip="3")
        assert read_labels(path)[0].data.tolist() == IDS.tolist()

    @pytest.mark.parametrize("name", ["/etc/passwd", "../a.raw", "c:\\a.raw", "sub/../../a.raw", "\\\\host\\a.raw"])
    def test_no_path_leads_out_of_the_folder(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "a.raw").write_bytes(IDS.astype("<i2").tobytes(order="F"))
        for read in (read_labels, read_volume):
            with pytest.raises(UnsafePathError, match="data file"):
                read(self.write(tmp_path / "in", name, b""))

    def test_no_link_leads_out_of_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "secret").write_bytes(IDS.astype("<i2").tobytes(order="F"))
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
    @pytest.mark.parametrize("encoding", ["raw", "gzip"])
    def test_a_header_that_promises_ten_gigabytes_costs_nothing(self, tmp_path: Path, encoding: str) -> None:
        path = file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), encoding, sizes="2048 2048 2500")
        tracemalloc.start()
        with pytest.raises(ReadError, match=f"promises {2048 * 2048 * 2500} bytes"):
            read_labels(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 << 20

    def test_nor_does_a_bzip2_file_that_can_hold_anything(self, tmp_path: Path) -> None:
        with pytest.raises(ReadError, match="promises"):
            read_labels(file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), "bzip2", sizes="2048 2048 2500"))
        with pytest.raises(ReadError, match="truncated: 24 of 8000000 bytes"):
            read_labels(file_of(tmp_path / "a.nrrd", IDS.astype(np.uint8), "bzip2", sizes="200 200 200"))

    @pytest.mark.parametrize("encoding", ["raw", "gzip", "bzip2", "ascii"])
    def test_data_cut_short_are_refused(self, tmp_path: Path, encoding: str) -> None:
        path = file_of(tmp_path / "a.nrrd", IDS.astype("<i2"), encoding)
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(ReadError, match=r"truncated|damaged"):
            read_labels(path)

    def test_a_wrong_checksum_is_noticed(self, tmp_path: Path) -> None:
        path = file_of(tmp_path / "a.nrrd", IDS.astype("<i2"), "gzip")
        content = bytearray(path.read_bytes())
        content[-6] ^= 1
        path.write_bytes(content)
        with pytest.raises(ReadError, match="damaged or truncated gzip"):
            read_labels(path)

    @pytest.mark.parametrize("content", [b"", b"NRRD", b"NRRD0004", b"NRRD0004\n", b"NRRD0009\ntype: x\n\n", b"hello"])
    def test_what_is_none_is_said_to_be_none(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "a.nrrd"
        path.write_bytes(content)
        for read in (read_labels, read_volume, read_grid):
            with pytest.raises(ReadError, match=r"a\.nrrd: (not a NRRD file|damaged NRRD header)"):
                read(path)

    def test_a_header_without_an_end_is_not_read_for_ever(self, tmp_path: Path) -> None:
        path = tmp_path / "a.nrrd"
        path.write_bytes(b"NRRD0004\n" + b"# nothing\n" * 500_000)
        with pytest.raises(ReadError, match="no blank line within 4 MB"):
            read_grid(path)

    def test_a_pointer_of_large_file_storage_says_what_to_do(self, tmp_path: Path) -> None:
        path = tmp_path / "a.nrrd"
        path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n")
        with pytest.raises(ReadError, match="git lfs pull"):
            read_grid(path)

    def test_it_is_known_by_its_start(self) -> None:
        assert matches(b"NRRD0005\n# Complete")
        assert not matches(b"NRR")
        assert nrrd.NAME == "nrrd"

    @pytest.mark.parametrize("encoding", ["raw", "gzip", "ascii"])
    def test_random_damage_gives_a_valid_map_or_our_error(self, tmp_path: Path, encoding: str) -> None:
        whole = file_of(tmp_path / "w.nrrd", IDS.astype("<i2"), encoding, space_units='"mm" "mm" "mm"').read_bytes()
        dice = random.Random(7)  # noqa: S311 - nothing secret
        read = refused = 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for n in range(300):
                content = bytearray(whole[: dice.randrange(9, len(whole))] if n % 5 == 0 else whole)
                for _ in range(dice.randint(1, 4)):
                    content[dice.randrange(8, len(content))] = dice.choice([*b"0123456789 -.,()en\n:", 0, 255])
                (tmp_path / "a.nrrd").write_bytes(content)
                for reader in (read_labels, read_volume, read_grid):
                    try:
                        value, _ = reader(tmp_path / "a.nrrd")
                    except MedotterViewerError:
                        refused += 1
                    else:
                        read += 1
                        grid = value if reader is read_grid else value.grid
                        assert np.isfinite(grid.affine).all()
                        assert reader is read_grid or value.data.shape == grid.shape
        assert read > 50
        assert refused > 50

    @settings(max_examples=60)
    @given(
        field=st.sampled_from(FIELDS),
        value=st.text(alphabet="0123456789 -.,()en\"'%/\\amdo\u00b5", max_size=40),
    )
    def test_any_value_of_any_field_gives_a_map_or_our_error(
        self, tmp_path_factory: Any, field: str, value: str
    ) -> None:
        path = tmp_path_factory.mktemp("any") / "a.nrrd"
        file_of(path, IDS.astype("<i2"), **{field: value})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                labels, _ = read_labels(path)
            except MedotterViewerError:
                return
        assert labels.data.shape == labels.grid.shape
