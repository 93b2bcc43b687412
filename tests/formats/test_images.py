"""Pictures and plain arrays: stored values exactly, colours only as images, damage told as such."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image

from medotter_viewer.core.grid import Grid
from medotter_viewer.errors import LabelError, MedotterViewerError, ReadError
from medotter_viewer.formats import images
from medotter_viewer.formats.images import MAX_PIXELS, read_grid, read_labels, read_volume
from medotter_viewer.formats.registry import format_of
from medotter_viewer.geometry.orientation import display_order

Array = NDArray[Any]


def png_bytes(array: Array, depth: int = 8, colour: int = 0, size: tuple[int, int] | None = None) -> bytes:
    """A PNG written by hand, whose stored bits are known; `size` promises another (width, height)."""
    rows = []
    for row in array.astype(np.uint32):
        if depth < 8:
            bits = "".join(format(int(v), f"0{depth}b") for v in row)
            bits += "0" * (-len(bits) % 8)
            rows.append(bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)))
        else:
            rows.append(row.astype(">u2" if depth == 16 else "u1").tobytes())
    width, height = size or (array.shape[1], array.shape[0])
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))]
    if colour == 3:
        chunks.append((b"PLTE", bytes([0, 0, 0, 0, 0, 0, 255, 0, 0, 1, 1, 1] + [9] * 36)))
    chunks += [(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))), (b"IEND", b"")]
    out = b"\x89PNG\r\n\x1a\n"
    for name, body in chunks:
        out += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return out


@pytest.fixture
def put(tmp_path: Path) -> Any:
    def write(name: str, content: bytes | Array) -> Path:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif name.endswith(".png"):
            Image.fromarray(content).save(path)
        elif name.endswith((".tif", ".tiff")):
            # Without a word tifffile takes some shapes for colours.
            colours = content.shape[:2] == COLOURS.shape[:2]
            tifffile.imwrite(path, content, photometric="rgb" if colours else "minisblack")
        elif name.endswith(".npy"):
            np.save(path, content)
        else:
            np.savez(path, content)
        return path

    return write


COLOURS = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
STACK = np.arange(2 * 3 * 4).reshape(2, 3, 4)

# ---------------------------------------------------------------- stored values


@pytest.mark.parametrize(("depth", "colour"), [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (1, 3), (2, 3), (4, 3), (8, 3)])
def test_a_png_gives_what_is_stored_at_every_depth(put: Any, depth: int, colour: int) -> None:
    high = min(2**depth - 1, 15 if colour == 3 else 2**depth - 1)
    stored = np.linspace(0, high, 15).round().astype(int).reshape(3, 5)
    labels, notes = read_labels(put("a.png", png_bytes(stored, depth, colour)))
    assert labels.data.tolist() == [stored.tolist()]
    assert labels.data.dtype == (np.uint16 if high > 255 else np.uint8)
    assert notes == []


def test_16_bit_grey_is_not_clipped_as_image(put: Any) -> None:
    values = np.array([[0, 255, 256, 1024], [2000, 32767, 32768, 65535]], dtype=np.uint16)
    volume, notes = read_volume(put("a.png", values))
    assert volume.data.tolist() == [values.tolist()]
    assert (volume.rgb, volume.data.dtype, notes) == (False, np.uint16, [])


def test_a_palette_is_decoration_for_labels_and_colour_for_images(put: Any) -> None:
    path = put("a.png", png_bytes(np.array([[0, 1, 2, 3]]), 8, 3))
    assert read_labels(path)[0].data.tolist() == [[[0, 1, 2, 3]]]
    volume, notes = read_volume(path)
    assert volume.data[0, 0].tolist() == [[0, 0, 0], [0, 0, 0], [255, 0, 0], [1, 1, 1]]
    assert [note.code for note in notes] == ["palette-image"]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.int32, np.float32])
def test_a_tiff_gives_what_is_stored(put: Any, kind: Any) -> None:
    stored = (STACK[0] * 10).astype(kind)
    labels, notes = read_labels(put("a.tif", stored))
    assert labels.data.tolist() == [stored.tolist()]
    assert (labels.data.dtype, notes) == (np.uint8, [])


def test_pages_are_the_slices_of_a_volume(tmp_path: Path, put: Any) -> None:
    stack = STACK.astype(np.uint16)
    pages = [Image.fromarray(page) for page in stack]
    pages[0].save(tmp_path / "pages.tif", save_all=True, append_images=pages[1:])
    for path in (put("a.tiff", stack), tmp_path / "pages.tif"):
        assert read_labels(path)[0].data.tolist() == stack.tolist()
        assert read_grid(path)[0].shape == (2, 3, 4)


@pytest.mark.parametrize("compression", ["tiff_lzw", "tiff_adobe_deflate", "packbits"])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_compressed_tiff_is_read_without_further_packages(tmp_path: Path, compression: str, kind: Any) -> None:
    stack = (STACK * 10).astype(kind)
    pages = [Image.fromarray(page) for page in stack]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:], compression=compression)
    assert read_labels(tmp_path / "a.tif")[0].data.tolist() == stack.tolist()
    pages[1].save(tmp_path / "b.tif", compression=compression)
    assert read_labels(tmp_path / "b.tif")[0].data.tolist() == [stack[1].tolist()]


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
@pytest.mark.parametrize("kind", ["?", "u1", ">i4", "<u8", "f8"])
def test_arrays_of_any_plain_type(put: Any, name: str, kind: str) -> None:
    stored = (STACK % 2).astype(kind)
    path = put(name, stored)
    assert read_labels(path)[0].data.tolist() == stored.tolist()
    volume, _ = read_volume(path)
    assert volume.data.tolist() == stored.tolist()
    assert volume.data.dtype.isnative
    assert read_grid(path)[0].shape == (2, 3, 4)


def test_an_array_in_fortran_order_and_large_ids(put: Any) -> None:
    stored = np.asfortranarray(STACK[0] + 2**31)
    assert read_labels(put("a.npy", stored))[0].data.tolist() == [stored.tolist()]


def test_fractions_are_no_labels_and_small_ones_are_rounded_with_a_warning(put: Any) -> None:
    with pytest.raises(LabelError, match="not whole numbers"):
        read_labels(put("a.npy", np.array([[0.5]])))
    labels, notes = read_labels(put("b.npy", np.array([[1.01]])))
    assert labels.data.tolist() == [[[1]]]
    assert [note.code for note in notes] == ["fractional-labels"]


# ---------------------------------------------------------------- where a picture lies


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.npy", "a.npz"])
def test_a_picture_is_one_slice_with_its_first_pixel_at_the_upper_left(put: Any, name: str) -> None:
    path = put(name, STACK[0].astype(np.uint8))
    grid, notes = read_grid(path)
    assert (grid.shape, grid.has_world, grid.unit, notes) == ((1, 3, 4), False, "px", [])
    assert grid.describe() == "1 x 3 x 4 pixels"
    order = display_order(grid)
    assert (order.axes, order.flips, order.scale) == ((0, 1, 2), (False,) * 3, (1.0, 1.0, 1.0))
    labels, _ = read_labels(path)
    assert np.shares_memory(order.apply(labels.data), labels.data)
    assert labels.grid.shape == read_volume(path)[0].grid.shape == grid.shape
    assert format_of(path).NAME == "image"


# ---------------------------------------------------------------- colours


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
@pytest.mark.parametrize("channels", [3, 4])
def test_colours_are_an_image_but_no_labels(put: Any, name: str, channels: int) -> None:
    stored = np.dstack([COLOURS, np.full((4, 5), 255, np.uint8)])[..., :channels]
    path = put(name, stored)
    volume, _ = read_volume(path)
    assert (volume.rgb, volume.grid.shape) == (True, (1, 4, 5))
    assert volume.data[0].tolist() == COLOURS.tolist()
    with pytest.raises(LabelError, match=f"{channels} channels of colour or alpha"):
        read_labels(path)
    assert read_grid(path)[0].shape == (1, 4, 5)


def test_what_of_a_colour_is_not_shown_is_said(tmp_path: Path, put: Any) -> None:
    clear = np.dstack([COLOURS, np.full((4, 5), 7, np.uint8)])
    volume, notes = read_volume(put("a.png", clear))
    assert [note.code for note in notes] == ["alpha-left-out"]
    assert volume.data[0].tolist() == COLOURS.tolist()
    volume, notes = read_volume(put("b.png", png_bytes(COLOURS.reshape(4, 15).astype(int) * 257, 16, 2, size=(5, 4))))
    assert [note.code for note in notes] == ["reduced-depth"]
    assert volume.data[0].tolist() == COLOURS.tolist()
    volume, notes = read_volume(put("c.tif", COLOURS.astype(np.uint16) * 256))
    assert [note.code for note in notes] == ["reduced-depth"]
    assert volume.data[0].tolist() == COLOURS.tolist()
    Image.fromarray(COLOURS[..., :2], "LA").save(tmp_path / "d.png")
    volume, notes = read_volume(tmp_path / "d.png")
    assert (volume.rgb, volume.data[0].tolist()) == (False, COLOURS[..., 0].tolist())
    with pytest.raises(LabelError, match="grey with alpha"):
        read_labels(tmp_path / "d.png")


def test_a_palette_tiff_is_treated_as_a_palette_png(tmp_path: Path) -> None:
    ramp = np.zeros((3, 256), dtype=np.uint16)
    ramp[0, 2] = 65535
    tifffile.imwrite(tmp_path / "a.tif", np.array([[0, 2]], np.uint8), photometric="palette", colormap=ramp)
    assert read_labels(tmp_path / "a.tif")[0].data.tolist() == [[[0, 2]]]
    volume, notes = read_volume(tmp_path / "a.tif")
    assert volume.data[0].tolist() == [[[0, 0, 0], [255, 0, 0]]]
    assert "palette-image" in [note.code for note in notes]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("shape", [(), (3,), (0, 3), (1, 2, 3, 4)])
def test_a_shape_that_is_no_picture_and_no_volume_is_refused(put: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(ReadError, match="expected \\(rows, columns\\)"):
        read_labels(put("a.npy", np.zeros(shape, np.uint8)))


@pytest.mark.parametrize("read", [read_grid, read_labels, read_volume])
def test_pickled_objects_are_never_loaded(put: Any, read: Any) -> None:
    out = io.BytesIO()
    np.save(out, np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(ReadError, match="objects are never loaded"):
        read(put("a.npy", out.getvalue()))
    with pytest.raises(ReadError, match="expected whole or real numbers"):
        read(put("b.npy", np.zeros((2, 2), complex)))


def test_an_npz_holds_exactly_one_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=STACK, b=STACK)
    np.savez(tmp_path / "none.npz")
    with pytest.raises(ReadError, match=r"holds 2 members \(a\.npy, b\.npy\), expected exactly one"):
        read_labels(tmp_path / "two.npz")
    with pytest.raises(ReadError, match="holds 0 members"):
        read_labels(tmp_path / "none.npz")
    np.savez_compressed(tmp_path / "one.npz", STACK)
    assert read_labels(tmp_path / "one.npz")[0].data.tolist() == STACK.tolist()


def npy_promise(shape: tuple[int, ...]) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return out.getvalue()


def test_a_header_that_promises_more_than_the_file_can_hold_costs_nothing(tmp_path: Path, put: Any) -> None:
    big = (200_000, 200_000)
    with pytest.raises(ReadError, match="cannot hold them"):
        read_labels(put("a.png", png_bytes(np.zeros((1, 1)), size=big)))
    with pytest.raises(ReadError, match="cannot hold them"):
        read_labels(put("a.npy", npy_promise(big)))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", npy_promise(big) + bytes(100_000))
    with pytest.raises(ReadError, match="cannot hold them"):
        read_labels(tmp_path / "a.npz")


def test_more_pixels_than_the_bound_are_refused_by_the_header(put: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_PIXELS == 2**31
    paths = [put(name, STACK[0].astype(np.uint8)) for name in ("a.png", "a.tif", "a.npy", "a.npz")]
    monkeypatch.setattr(images, "MAX_PIXELS", 11)
    for path in paths:
        with pytest.raises(ReadError, match="12 pixels"):
            read_volume(path)


def test_pillows_limit_on_large_pictures_does_not_concern_us(put: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [put("a.png", STACK[0].astype(np.uint8)), put("a.tif", STACK[0].astype(np.uint8))]
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2)  # a warning, which is an error here, or Pillow's own error
    for path in paths:
        assert read_labels(path)[0].data.size == 12


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.npy", "a.npz"])
def test_any_cut_of_a_file_is_damage_or_harmless(put: Any, name: str) -> None:
    rng = np.random.default_rng(0)
    path = put(name, rng.integers(0, 255, (30, 40), dtype=np.uint8))
    whole, expected = path.read_bytes(), read_labels(path)[0].data.tolist()
    refusals: list[str] = []
    for length in [*range(0, 120, 7), *range(120, len(whole), 97), len(whole) - 30]:
        cut = put("cut" + path.suffix, whole[:length])
        try:
            found = read_labels(cut)[0].data.tolist()
        except MedotterViewerError as error:
            refusals.append(str(error))
        else:
            assert found == expected
    assert len(refusals) > 10
    assert all(str(cut) in message for message in refusals)


def test_a_git_lfs_pointer_and_an_unknown_content_are_named(put: Any) -> None:
    with pytest.raises(ReadError, match="Git LFS pointer"):
        read_labels(put("a.png", b"version https://git-lfs.github.com/spec/v1\n"))
    with pytest.raises(ReadError, match="neither PNG, TIFF, npy nor npz"):
        read_labels(put("b.png", b"GIF89a"))
    with pytest.raises(ReadError, match="No such file"):
        read_labels(Path("nowhere.png"))


def test_content_decides_and_a_wrong_name_is_noted(put: Any) -> None:
    path = put("a.png", STACK[0].astype(np.uint8))
    other = put("b.tif", path.read_bytes())
    labels, notes = read_labels(other)
    assert labels.data.tolist() == [STACK[0].tolist()]
    assert [note.code for note in notes] == ["wrong-suffix"]


def test_several_pictures_or_channels_in_one_tiff_are_refused(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "a.tif") as out:
        out.write(np.zeros((3, 4), np.uint8))
        out.write(np.zeros((5, 6), np.uint8))
    with pytest.raises(ReadError, match="2 different pictures"):
        read_volume(tmp_path / "a.tif")
    tifffile.imwrite(tmp_path / "b.tif", np.zeros((2, 3, 4), np.uint8), imagej=True, metadata={"axes": "CYX"})
    with pytest.raises(ReadError, match="2 channels"):
        read_labels(tmp_path / "b.tif")


def test_an_animation_is_refused(tmp_path: Path) -> None:
    frames = [Image.fromarray(page.astype(np.uint8)) for page in STACK]
    frames[0].save(tmp_path / "a.png", save_all=True, append_images=frames[1:])
    with pytest.raises(ReadError, match="animated PNG of 2 pictures"):
        read_labels(tmp_path / "a.png")


def test_a_grid_of_pixels_is_no_grid_of_millimetres() -> None:
    assert Grid((1, 2, 3), np.eye(4)).describe() == "1 x 2 x 3 voxels of 1 x 1 x 1 mm, RAS"


# ---------------------------------------------------------------- files that lie


def test_what_the_tiff_decoder_remarks_is_a_finding_and_is_not_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    import tifffile

    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.arange(12, dtype=np.uint8).reshape(3, 4))
    data = bytearray(path.read_bytes())
    data[data.index(b"\x1a\x01\x05\x00") + 2] = 99  # XResolution gets a type that there is none of
    path.write_bytes(data)
    _, findings = read_volume(path)
    assert [(f.severity, f.code) for f in findings] == [("warning", "unusual-tiff")]
    assert "invalid data type 99" in findings[0].message
    assert capfd.readouterr() == ("", "")


def test_an_array_header_is_not_evaluated(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    for header in (b"{'descr': '<u1', 'fortran_order': False, 'shape': (3,", b"(" * 300, b"__import__('os')"):
        path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"abc")
        with pytest.raises(ReadError, match=r"a\.npy: damaged or unusual npy header"):
            read_grid(path)
    header = b"{'shape': (1L, 3L), 'fortran_order': False, 'descr': '|u1'}"  # in Python 2's writing, in another order
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"abc")
    assert read_volume(path)[0].data.ravel().tolist() == [97, 98, 99]


def test_ids_beyond_64_bits_are_refused_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "huge.npy"
    np.save(path, np.array([[0.0, 2.0**70]]))
    with pytest.raises(LabelError, match=r"huge\.npy: label ids"):
        read_labels(path)


@pytest.mark.parametrize("big", [False, True])
def test_a_list_of_pages_in_a_circle_is_refused_at_once(tmp_path: Path, big: bool) -> None:
    path = tmp_path / "circle.tif"
    tifffile.imwrite(path, np.zeros((3, 4, 5), np.uint8), bigtiff=big, photometric="minisblack", metadata=None)
    with tifffile.TiffFile(path) as file:
        second, third = (file.pages[index].offset for index in (1, 2))
    data = bytearray(path.read_bytes())
    size, count, entry = (8, 8, 20) if big else (4, 2, 12)
    end = third + count + int.from_bytes(data[third : third + count], "little") * entry
    assert data[end : end + size] == bytes(size), "the last page"
    assert read_grid(path)[0].shape == (3, 4, 5)
    data[end : end + size] = second.to_bytes(size, "little")
    path.write_bytes(data)
    with pytest.raises(ReadError, match=r"circle\.tif: damaged TIFF: its list of pages runs in a circle"):
        read_grid(path)
