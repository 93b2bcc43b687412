"""Intensities: each slice by its own rescale, no wrap-around, bits and signs as the header says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import PET, SECONDARY_CAPTURE, ramp, write_series, write_slice

from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats.dicom import file, series

RNG = np.random.default_rng(5)


def codes(findings: Any) -> set[str]:
    return {f.code for f in findings} - {"no-slice-thickness"}


def read(path: Path) -> Any:
    """Rows x columns of a single image, its volume and its findings."""
    volume, findings = series.read_volume(path)
    return volume.data[:, :, 0].T, volume, findings


def test_every_slice_is_scaled_by_its_own_rescale(tmp_path: Path) -> None:
    rescales = [(1, -1000), (2, -1000), None, (1, -1024)]
    for index, (rescale, stored) in enumerate(zip(rescales, [100, 100, 100, -2000], strict=True)):
        more = {"PixelPaddingValue": -2000}
        pixels = np.full((3, 4), stored, np.int16)
        write_slice(tmp_path / f"{index}.dcm", pixels, position=(0, 0, index), rescale=rescale, more=more)
    volume, findings = series.read_volume(tmp_path)
    assert volume.data[0, 0].tolist() == [-900, -800, 100, -3024]
    assert volume.data.dtype == np.int16
    assert volume.data.flags.f_contiguous  # pixels of a slice lie together
    assert volume.unit == "HU"
    assert codes(findings) == {"rescale-missing", "rescale-differs", "padding-value"}


@pytest.mark.parametrize(
    ("stored", "rescale", "value", "dtype"),
    [(30000, (2, 0), 60000, np.uint16), (-30000, (2, 0), -60000, np.int32), (100, (1.5, 0.25), 150.25, np.float32),
     (100, (1, -1024), -924, np.int16), (100, (1, 0), 100, np.int16), (32767, (100000, 0), 3276700000, np.uint32)],
)  # fmt: skip
def test_the_type_is_the_smallest_that_holds_the_values(
    tmp_path: Path, stored: int, rescale: Any, value: float, dtype: Any
) -> None:
    values, _, _ = read(write_slice(tmp_path / "i.dcm", np.full((3, 4), stored, np.int16), rescale=rescale))
    assert values.tolist() == [[value] * 4] * 3
    assert values.dtype == dtype


def test_one_large_slice_widens_all(tmp_path: Path) -> None:
    pixels = [np.full((3, 4), v, np.uint16) for v in (5, 60000, 7)]
    write_series(tmp_path, pixels, rescale=(1, -1000))
    volume, _ = series.read_volume(tmp_path)
    assert volume.data[0, 0].tolist() == [-995, 59000, -993]
    assert volume.data.dtype == np.int32


def test_one_fractional_slope_makes_all_real_numbers(tmp_path: Path) -> None:
    for index, slope in enumerate([1, 0.5]):
        pixels = np.full((3, 4), 3, np.int16)
        write_slice(tmp_path / f"{index}.dcm", pixels, position=(0, 0, index), rescale=(slope, 0))
    volume, _ = series.read_volume(tmp_path)
    assert volume.data.dtype == np.float32
    assert volume.data[0, 0].tolist() == [3, 1.5]


@pytest.mark.parametrize(
    ("texts", "value", "noticed"),
    [({"RescaleSlope": "0", "RescaleIntercept": "-5"}, 95, {"zero-rescale-slope"}),
     ({"RescaleSlope": "", "RescaleIntercept": "-5"}, 95, set()),
     ({"RescaleSlope": "2", "RescaleIntercept": ""}, 200, set()), ({"RescaleIntercept": "-5"}, 95, set())],
)  # fmt: skip
def test_a_blank_rescale_means_as_stored_and_zero_is_told(
    tmp_path: Path, texts: Any, value: int, noticed: set[str]
) -> None:
    path = write_slice(tmp_path / "i.dcm", np.full((3, 4), 100, np.int16), texts=texts)
    values, _, findings = read(path)
    assert values[0, 0] == value
    assert codes(findings) == noticed


def test_a_table_of_values_is_not_applied_silently(tmp_path: Path) -> None:
    from pydicom.dataset import Dataset

    table = Dataset()
    table.LUTDescriptor, table.LUTData = [2, 0, 16], [7, 8]
    table.ModalityLUTType = "US"
    table["LUTDescriptor"].VR = table["LUTData"].VR = "US"
    path = write_slice(tmp_path / "i.dcm", ramp(2)[1], more={"ModalityLUTSequence": [table]})
    values, _, findings = read(path)
    assert values[0, 0] == 1
    assert codes(findings) == {"modality-table"}


@pytest.mark.parametrize("signed", [False, True])
def test_bits_beyond_those_stored_do_not_count(tmp_path: Path, signed: bool) -> None:
    # 12 bits: 0xF234 is 0x234 unsigned; 0x0FFF is -1 signed, whether its sign is carried on or not.
    pixels = np.array([[0xF234, 0x0FFF, 0xFFFF, 0x0001]], np.uint16)
    more = {"BitsStored": 12, "HighBit": 11, "PixelRepresentation": int(signed)}
    values, _, _ = read(write_slice(tmp_path / "i.dcm", pixels, more=more))
    assert values.tolist() == ([[0x234, -1, -1, 1]] if signed else [[0x234, 0xFFF, 0xFFF, 1]])


def test_values_in_the_high_bits_are_shifted_down(tmp_path: Path) -> None:
    more = {"BitsStored": 12, "HighBit": 15}
    values, _, _ = read(write_slice(tmp_path / "i.dcm", np.array([[0x1230, 0xFFF0]], np.uint16), more=more))
    assert values.tolist() == [[0x123, 0xFFF]]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32])
def test_every_stored_type_is_read_as_it_is(tmp_path: Path, dtype: Any) -> None:
    limits = np.iinfo(dtype)
    pixels = np.array([[limits.min, limits.max, 0, 1]], dtype=dtype)
    values, _, _ = read(write_slice(tmp_path / "i.dcm", pixels))
    assert values.tolist() == pixels.tolist()


def test_low_values_shown_bright_keep_their_values(tmp_path: Path) -> None:
    path = write_slice(tmp_path / "i.dcm", ramp(4)[3], more={"PhotometricInterpretation": "MONOCHROME1"})
    values, _, findings = read(path)
    assert values[0, 0] == 3
    assert codes(findings) == {"monochrome1"}


@pytest.mark.parametrize(
    ("keys", "unit"),
    [({}, "HU"), ({"more": {"RescaleType": "HU"}}, "HU"), ({"more": {"RescaleType": "US"}}, ""),
     ({"modality": "MR"}, ""), ({"modality": "PT", "sop_class": PET, "more": {"Units": "BQML"}}, "BQML"),
     ({"modality": "MR", "more": {"RescaleType": "normalized"}}, ""),
     ({"modality": "MR", "more": {"RescaleType": "Hz"}}, "Hz")],
)  # fmt: skip
def test_the_unit_is_that_of_the_modality_or_what_the_file_declares(tmp_path: Path, keys: Any, unit: str) -> None:
    assert read(write_slice(tmp_path / "i.dcm", ramp(1)[0], **keys))[1].unit == unit


def test_a_pet_series_has_a_slope_for_each_slice(tmp_path: Path) -> None:
    for index, slope in enumerate([0.5, 2.25]):
        write_slice(tmp_path / f"{index}.dcm", np.full((3, 4), 10, np.int16), position=(0, 0, index), modality="PT",
                    sop_class=PET, rescale=(slope, 0), more={"Units": "BQML"})  # fmt: skip
    volume, findings = series.read_volume(tmp_path)
    assert volume.data[0, 0].tolist() == [5, 22.5]
    assert volume.unit == "BQML"
    assert codes(findings) == {"rescale-differs"}


# ---------------------------------------------------------------- colours and pictures


def colours(dtype: Any = np.uint8) -> Any:
    return RNG.integers(0, np.iinfo(dtype).max, (5, 7, 3), dtype=dtype)


def test_colours_are_red_green_blue_without_a_position(tmp_path: Path) -> None:
    pixels = colours()
    nowhere: Any = {"position": None, "orientation": None, "spacing": None}
    path = write_slice(tmp_path / "i.dcm", pixels, **nowhere, sop_class=SECONDARY_CAPTURE, modality="OT")
    volume, findings = file.read_volume(path)
    assert volume.rgb
    assert volume.data.shape == (7, 5, 1, 3)
    assert volume.data[:, :, 0].transpose(1, 0, 2).tolist() == pixels.tolist()
    assert (volume.grid.unit, volume.grid.has_world) == ("px", False)
    assert findings == []
    with pytest.raises(LabelError, match="colours"):
        file.read_labels(path)


def test_luminance_and_colour_differences_become_red_green_blue(tmp_path: Path) -> None:
    # Full-range BT.601 by hand: (Y, Cb, Cr) = (76, 85, 255) is pure red.
    pixels = np.tile(np.array([76, 85, 255], np.uint8), (4, 4, 1))
    path = write_slice(tmp_path / "i.dcm", pixels, more={"PhotometricInterpretation": "YBR_FULL"})
    assert np.abs(series.read_volume(path)[0].data[0, 0, 0].astype(int) - [254, 0, 0]).max() <= 1


def test_colours_stored_plane_by_plane_are_put_together(tmp_path: Path) -> None:
    pixels = colours()
    more = {"PlanarConfiguration": 1, "PixelData": pixels.transpose(2, 0, 1).tobytes() + b"\0"}
    path = write_slice(tmp_path / "i.dcm", pixels, more=more)
    assert series.read_volume(path)[0].data[:, :, 0].transpose(1, 0, 2).tolist() == pixels.tolist()


def test_deep_colours_are_shown_with_eight_bits(tmp_path: Path) -> None:
    pixels = colours(np.uint16)
    volume, findings = series.read_volume(write_slice(tmp_path / "i.dcm", pixels))
    assert volume.data[:, :, 0].transpose(1, 0, 2).tolist() == (pixels >> 8).tolist()
    assert "reduced-depth" in codes(findings)


def test_a_palette_is_shown_in_colour_and_its_index_is_the_label(tmp_path: Path) -> None:
    palette = {"Red": [0, 255, 10], "Green": [0, 1, 20], "Blue": [0, 2, 30]}
    more: dict[str, Any] = {"PhotometricInterpretation": "PALETTE COLOR"}
    for name, entries in palette.items():
        more[f"{name}PaletteColorLookupTableDescriptor"] = [3, 0, 16]
        more[f"{name}PaletteColorLookupTableData"] = np.array(entries, "<u2").__lshift__(8).tobytes()
    path = write_slice(tmp_path / "i.dcm", np.array([[0, 1], [2, 0]], np.uint8), more=more)
    volume, findings = series.read_volume(path)
    assert volume.data[:, :, 0].transpose(1, 0, 2).tolist() == [[[0, 0, 0], [255, 1, 2]], [[10, 20, 30], [0, 0, 0]]]
    assert "palette-image" in codes(findings)
    assert series.read_labels(path)[0].data[:, :, 0].T.tolist() == [[0, 1], [2, 0]]


def test_values_can_be_label_ids(tmp_path: Path) -> None:
    write_series(tmp_path, ramp(3), step=(0, 0, 2))
    labels, _ = series.read_labels(tmp_path)
    assert labels.data.dtype == np.uint8
    assert labels.data[0, 0].tolist() == [0, 1, 2]
    assert labels.grid.spacing[2] == 2


# ---------------------------------------------------------------- what is missing


def test_an_image_cut_short_is_refused_with_both_sizes(tmp_path: Path) -> None:
    path = write_slice(tmp_path / "i.dcm", np.zeros((30, 40), np.int16))
    path.write_bytes(path.read_bytes()[:-400])
    series.read_grid(path)  # the header is whole
    with pytest.raises(ReadError, match=r"i\.dcm: truncated: 2000 of 2400 bytes"):
        series.read_volume(path)


def test_a_header_without_pixels_is_refused(tmp_path: Path) -> None:
    path = write_slice(tmp_path / "i.dcm", ramp(1)[0], more={"PixelData": None})
    with pytest.raises(ReadError, match="no pixel data"):
        series.read_volume(path)


@pytest.mark.parametrize(
    "more",
    [{"BitsAllocated": 12}, {"BitsStored": 17}, {"HighBit": 3}, {"SamplesPerPixel": 2}, {"Rows": 0},
     {"NumberOfFrames": "0"}],
)  # fmt: skip
def test_a_description_that_contradicts_itself_is_refused(tmp_path: Path, more: Any) -> None:
    path = write_slice(tmp_path / "i.dcm", ramp(1)[0], more=more)
    with pytest.raises(ReadError, match=r"i\.dcm"):
        series.read_volume(path)
