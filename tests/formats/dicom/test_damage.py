"""Whatever the bytes of a file are: an image or a ReadError in one line, never another exception or warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dicom_files import EXPLICIT, IMPLICIT, write_slice
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats.dicom import file, series
from medotter_viewer.formats.dicom.files import sop_kind

RLE = "1.2.840.10008.1.2.5"
RESCALED: dict[str, Any] = {"rescale": (1.0, -1024.0), "thickness": 2.0}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    folder = tmp_path_factory.mktemp("originals")
    pixels = np.arange(80, dtype=np.int16).reshape(8, 10)
    return [write_slice(folder / s, pixels, syntax=s, **RESCALED).read_bytes() for s in (EXPLICIT, IMPLICIT, RLE)]


def check(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for read in (file.read_volume, file.read_labels, file.read_grid, series.read_volume, sop_kind):
        message = refusal(read, path)
        assert message is None or path.name in message
        assert "\n" not in (message or "")
        assert "SECRET" not in (message or "")


def refusal(read: Any, path: Path) -> str | None:
    """What a reader says that refuses a file; None where it reads it."""
    try:
        read(path)
    except (ReadError, LabelError) as error:
        return str(error)
    return None


@given(
    which=st.integers(0, 2),
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=6),
    length=st.floats(0.1, 1),
)
def test_changed_and_cut_files_never_raise_anything_else(
    originals: list[bytes],
    tmp_path_factory: pytest.TempPathFactory,
    which: int,
    changes: list[tuple[float, int]],
    length: float,
) -> None:
    content = bytearray(originals[which])
    for place, value in changes:
        content[int(place * (len(content) - 1))] = value
    path = tmp_path_factory.mktemp("damaged") / "damaged.dcm"
    check(path, bytes(content[: max(140, int(length * len(content)))] if length < 0.9 else content))


@pytest.mark.parametrize("at", range(0, 700, 7))
def test_a_file_cut_anywhere_is_a_read_error(originals: list[bytes], tmp_path: Path, at: int) -> None:
    path = tmp_path / "cut.dcm"
    for content in originals:
        path.write_bytes(content[:at])
        with pytest.raises(ReadError, match=r"cut\.dcm"):
            file.read_volume(path)
