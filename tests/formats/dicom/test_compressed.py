"""Compressed pixels give the values of their uncompressed twins; what cannot be decoded says which package does."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
import pytest
from dicom_files import DEFLATED, write_slice

from medotter_viewer.errors import MissingDependencyError, ReadError
from medotter_viewer.formats.dicom import decoding, files, series
from medotter_viewer.formats.dicom.codestream import stream_shape

RLE, J2K, JPEG_LS = "1.2.840.10008.1.2.5", "1.2.840.10008.1.2.4.90", "1.2.840.10008.1.2.4.80"
LOSSLESS = "1.2.840.10008.1.2.4.70"
JPEG = "1.2.840.10008.1.2.4.50"
RNG = np.random.default_rng(8)


def noise(dtype: Any, low: int, high: int) -> Any:
    return RNG.integers(low, high, (48, 64)).astype(dtype)


IMAGES = {
    "unsigned 16": noise(np.uint16, 0, 65536),
    "signed 16": noise(np.int16, -2000, 3000),
    "unsigned 8": noise(np.uint8, 0, 256),
}


def changed(path: Path, **elements: Any) -> Path:
    """The same file with other elements, its pixels untouched."""
    image = pydicom.dcmread(path)
    for keyword, value in elements.items():
        setattr(image, keyword, value)
    image.save_as(path)
    return path


def values_of(path: Path) -> Any:
    return series.read_volume(path)[0].data[:, :, 0].T


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("syntax", [RLE, J2K, JPEG_LS, DEFLATED])
def test_lossless_pixels_equal_their_raw_twin(tmp_path: Path, syntax: str, image: str) -> None:
    pixels = IMAGES[image]
    raw = values_of(write_slice(tmp_path / "raw.dcm", pixels, rescale=(1, -1024)))
    values = values_of(write_slice(tmp_path / "i.dcm", pixels, syntax=syntax, rescale=(1, -1024)))
    assert values.dtype == raw.dtype
    assert values.tolist() == raw.tolist() == (pixels.astype(int) - 1024).tolist()


@pytest.mark.parametrize("image", IMAGES)
def test_jpeg_lossless_equals_its_raw_twin(tmp_path: Path, image: str) -> None:
    gdcm = pytest.importorskip("gdcm")
    pixels = IMAGES[image]
    path = write_slice(tmp_path / "raw.dcm", pixels)
    reader, change, writer = gdcm.ImageReader(), gdcm.ImageChangeTransferSyntax(), gdcm.ImageWriter()
    reader.SetFileName(str(path))
    assert reader.Read()
    change.SetTransferSyntax(gdcm.TransferSyntax(gdcm.TransferSyntax.JPEGLosslessProcess14_1))
    change.SetInput(reader.GetImage())
    assert change.Change()
    writer.SetFileName(str(tmp_path / "i.dcm"))
    writer.SetFile(reader.GetFile())
    writer.SetImage(change.GetOutput())
    assert writer.Write()
    assert pydicom.dcmread(tmp_path / "i.dcm").file_meta.TransferSyntaxUID == LOSSLESS
    assert values_of(tmp_path / "i.dcm").tolist() == pixels.tolist()


@pytest.mark.parametrize("plugin", ["pylibjpeg", "gdcm", "pillow"])
def test_an_unsigned_jpeg_2000_stream_of_signed_values_keeps_their_signs(
    tmp_path: Path, plugin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = np.tile(np.array([-1000, -1, 0, 40, 3000, 1, -500, 7], np.int16), (64, 8))
    path = write_slice(tmp_path / "i.dcm", pixels.view(np.uint16), syntax=J2K)
    changed(path, PixelRepresentation=1)
    monkeypatch.setitem(decoding._DECODERS, J2K, ("JPEG 2000", "pylibjpeg-openjpeg", (plugin,)))
    assert values_of(path).tolist() == pixels.tolist()


def test_an_unsigned_stream_of_thirteen_bits_keeps_its_signs(tmp_path: Path) -> None:
    pixels = noise(np.int16, -4096, 4096)
    thirteen = (pixels & 0x1FFF).astype(np.uint16)
    path = write_slice(tmp_path / "i.dcm", thirteen, syntax=J2K, more={"BitsStored": 13, "HighBit": 12})
    changed(path, PixelRepresentation=1)
    assert values_of(path).tolist() == pixels.tolist()


@pytest.mark.parametrize("syntax", [RLE, J2K, JPEG_LS])
def test_twelve_signed_bits_are_read(tmp_path: Path, syntax: str) -> None:
    pixels = noise(np.int16, -2048, 2048)
    more = {"BitsStored": 12, "HighBit": 11}
    assert values_of(write_slice(tmp_path / "i.dcm", pixels, syntax=syntax, more=more)).tolist() == pixels.tolist()


@pytest.mark.parametrize("syntax", [RLE, J2K])
def test_compressed_colours_are_red_green_blue(tmp_path: Path, syntax: str) -> None:
    pixels = RNG.integers(0, 256, (48, 64, 3), dtype=np.uint8)
    volume, _ = series.read_volume(write_slice(tmp_path / "i.dcm", pixels, syntax=syntax))
    assert volume.data[:, :, 0].transpose(1, 0, 2).tolist() == pixels.tolist()


def jpeg_file(path: Path, pixels: Any) -> Path:
    """A colour image in JPEG Baseline, encoded by Pillow, of which a decoder makes YBR and then RGB."""
    import io

    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "jpeg", quality=95, subsampling=0)
    write_slice(path, pixels)
    image = pydicom.dcmread(path)
    image.PixelData = pydicom.encaps.encapsulate([stream.getvalue()])
    image["PixelData"].VR = "OB"
    image["PixelData"].is_undefined_length = True
    image.PhotometricInterpretation = "YBR_FULL_422"
    image.file_meta.TransferSyntaxUID = JPEG
    image.save_as(path)
    return path


def test_jpeg_baseline_colours_come_close(tmp_path: Path) -> None:
    rows, columns = np.mgrid[:48, :64]
    pixels = np.stack([rows * 4, columns * 3, rows + columns], axis=-1).astype(np.uint8)
    volume, _ = series.read_volume(jpeg_file(tmp_path / "i.dcm", pixels))
    assert np.abs(volume.data[:, :, 0].transpose(1, 0, 2).astype(int) - pixels).max() < 12


# ---------------------------------------------------------------- promises


def test_a_missing_decoder_is_one_line_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_slice(tmp_path / "i.dcm", IMAGES["signed 16"], syntax=J2K)
    monkeypatch.setitem(decoding._DECODERS, J2K, ("JPEG 2000", "pylibjpeg-openjpeg", ("absent",)))
    with pytest.raises(MissingDependencyError) as caught:
        series.read_volume(path)
    assert str(caught.value) == f"{path}: JPEG 2000 pixels need pylibjpeg-openjpeg: pip install pylibjpeg-openjpeg"


def test_no_kind_of_jpeg_is_left_to_whatever_is_installed() -> None:
    jpeg = [names for _, package, names in decoding._DECODERS.values() if "pylibjpeg" not in package]
    assert len(jpeg) == 6
    assert not any("pylibjpeg" in names for names in jpeg)  # it would use a GPL package


def test_a_transfer_syntax_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = write_slice(tmp_path / "i.dcm", IMAGES["unsigned 8"])
    image = pydicom.dcmread(path)
    image.file_meta.TransferSyntaxUID = "1.2.840.10008.1.2.4.100"
    image.PixelData = pydicom.encaps.encapsulate([b"\0\0\1\xba" * 40])
    image["PixelData"].VR = "OB"
    image["PixelData"].is_undefined_length = True
    image.save_as(path)
    with pytest.raises(ReadError, match=r"MPEG2 .*not read"):
        series.read_volume(path)


def test_more_than_compressed_bytes_can_hold_is_refused(tmp_path: Path) -> None:
    path = changed(write_slice(tmp_path / "i.dcm", np.zeros((64, 64), np.int16), syntax=RLE), Rows=20000, Columns=20000)
    with pytest.raises(ReadError, match=r"promises 800000000 bytes of pixels, but .* cannot hold"):
        series.read_volume(path)


def test_more_pixels_than_any_image_has_are_refused(tmp_path: Path) -> None:
    path = changed(write_slice(tmp_path / "i.dcm", np.zeros((4, 4), np.int16)), Rows=60000, Columns=60000)
    with pytest.raises(ReadError, match="at most 2147483648 pixels"):
        series.read_volume(path)


@pytest.mark.parametrize("syntax", [J2K, JPEG_LS])
def test_a_stream_of_another_size_than_the_header_is_refused(tmp_path: Path, syntax: str) -> None:
    path = changed(write_slice(tmp_path / "i.dcm", IMAGES["signed 16"], syntax=syntax), Rows=47)
    with pytest.raises(ReadError, match="holds 64 x 48 pixels of 1 samples, expected 64 x 47 pixels"):
        series.read_volume(path)


def test_the_size_of_every_kind_of_stream_is_found(tmp_path: Path) -> None:
    def stream(path: Path) -> bytes:
        return next(pydicom.encaps.generate_frames(pydicom.dcmread(path).PixelData, number_of_frames=1))

    for syntax in (J2K, JPEG_LS):
        path = write_slice(tmp_path / "i.dcm", IMAGES["signed 16"], syntax=syntax)
        assert stream_shape(stream(path)) == (48, 64, 1)
    found = stream(jpeg_file(tmp_path / "j.dcm", np.zeros((48, 64, 3), np.uint8)))
    assert stream_shape(found) == (48, 64, 3)
    for length in range(40):
        stream_shape(found[:length])  # cut anywhere, it says nothing or the same
    assert stream_shape(b"\xff\xd8" + b"\xff" * 40) is None
    assert stream_shape(b"") is None


def test_a_deflated_data_set_may_not_inflate_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_slice(tmp_path / "i.dcm", np.zeros((1000, 1000), np.int16), syntax=DEFLATED)
    assert path.stat().st_size < 10_000
    series.read_grid(path)
    monkeypatch.setattr(files, "_MAX_INFLATED", 1 << 20)
    with pytest.raises(ReadError, match="inflates beyond"):
        series.read_grid(path)


@pytest.mark.parametrize("syntax", [RLE, J2K, JPEG_LS])
def test_damaged_streams_are_read_errors(tmp_path: Path, syntax: str) -> None:
    path = write_slice(tmp_path / "i.dcm", IMAGES["signed 16"], syntax=syntax)
    content = bytearray(path.read_bytes())
    at = len(content) - 2000
    content[at : at + 600] = RNG.bytes(600)
    for damaged in (bytes(content[:-1500]), bytes(content)):
        path.write_bytes(damaged)
        with contextlib.suppress(ReadError):  # a decoder may not notice
            series.read_volume(path)
