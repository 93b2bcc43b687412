"""Read ``pngs/<slice>.png`` of scan folders as one volume: stored values signed again, then rescaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats import png

_SIGN = 1 << 15


def png_size(path: Path) -> tuple[int, int]:
    """Return columns and rows of a PNG without decoding it.

    Raises
    ------
    ReadError
        If it is no PNG or damaged.
    """
    try:
        header = png.read_header(path)
    except OSError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path}: {error.strerror or error}") from error
    return header.width, header.height


def read_pngs(
    files: Sequence[Path | None], size: tuple[int, int], rescale: Sequence[tuple[float, float]]
) -> tuple[NDArray[np.int16] | NDArray[np.float32], list[Finding]]:
    """Return the (columns, rows, slices) values of some slices, and what was noticed.

    Parameters
    ----------
    files : sequence of Path or None
        One for each slice, in order; a slice without picture gets the lowest value of the others.
    size : (int, int)
        Columns and rows that each must have.
    rescale : sequence of (float, float)
        Slope and intercept of each slice.

    Returns
    -------
    values : ndarray of int16, or of float32
        ``stored * slope + intercept``; float32 where that is not whole or does not fit. 16-bit values of 32768 and
        more are negative ones that were written without their sign.
    findings : list of Finding

    Raises
    ------
    ReadError
        If no slice has a picture, or one is damaged, in colour, or of another size.
    """
    if all(path is None for path in files):
        raise ReadError("no slice has a picture")
    stored = np.zeros((*size, len(files)), dtype=np.int16, order="F")
    signed: dict[Path, int] = {}
    for index, path in enumerate(files):
        if path is not None:
            stored[:, :, index], n_signed = _stored(path, size)
            if n_signed:
                signed[path] = n_signed
    values = _rescaled(stored, rescale)
    there = [index for index, path in enumerate(files) if path is not None]
    if len(there) < len(files):
        gaps = [index for index, path in enumerate(files) if path is None]
        values[:, :, gaps] = min(values[:, :, index].min() for index in there)
    return values, _signed_note(signed)


def _stored(path: Path, size: tuple[int, int]) -> tuple[NDArray[np.int16], int]:
    """The (columns, rows) stored values of one picture, and how many lost their sign."""
    if png_size(path) != size:
        raise ReadError(
            f"{path}: {_by(png_size(path))} pixels, expected {_by(size)} as the other slices (columns x rows)"
        )
    try:
        pixels, _, _ = png.decode(path, as_labels=True)
    except LabelError as error:
        raise ReadError(f"{path}: a slice in colour, expected 16-bit grey: {error}") from error
    if pixels.dtype.itemsize == 1:
        return pixels.astype(np.int16).T, 0
    wide = pixels.astype(np.uint16) if pixels.dtype != np.uint16 else pixels
    return wide.view(np.int16).T, int(np.count_nonzero(wide >= _SIGN))


def _rescaled(
    stored: NDArray[np.int16], rescale: Sequence[tuple[float, float]]
) -> NDArray[np.int16] | NDArray[np.float32]:
    low, high = int(stored.min(initial=0)), int(stored.max(initial=0))
    whole = all(slope == 1 and float(intercept).is_integer() for slope, intercept in rescale)
    limits = np.iinfo(np.int16)
    if whole and all(limits.min <= low + add and high + add <= limits.max for _, add in rescale):
        if any(add for _, add in rescale):
            stored += np.array([int(add) for _, add in rescale], dtype=np.int16)
        return stored
    values = stored.astype(np.float32, order="F")
    for index, (slope, intercept) in enumerate(rescale):
        values[:, :, index] *= slope
        values[:, :, index] += intercept
    return values


def _signed_note(signed: Mapping[Path, int]) -> list[Finding]:
    if not signed:
        return []
    first = next(iter(signed))
    more = f" (and {len(signed) - 1} more slices)" if len(signed) > 1 else ""
    message = (
        f"{first}{more}: {sum(signed.values())} values of 32768 and more are negative ones written without sign: "
        "65536 was taken off"
    )
    return [Finding("info", "scan-values-signed", message, str(first))]


def _by(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]}"
