"""Stored values of the frames of a file: what is promised is checked first, then the right decoder is asked.

Decoders are named here, never left to whatever is installed: the only other one for some JPEG kinds is under the GPL.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.errors import MissingDependencyError, ReadError
from medotter_viewer.formats.dicom.codestream import stream_shape
from medotter_viewer.formats.dicom.planes import size_of
from medotter_viewer.formats.dicom.values import Header, parsing, uid_name
from medotter_viewer.formats.images import MAX_PIXELS

_PIXELS = {"PixelData": 0, "FloatPixelData": 32, "DoubleFloatPixelData": 64}
_RATIO = 2000
"""Compressed pixels may stand for so many times their bytes: a thousand times more than images of patients do."""
_UNSUSPICIOUS = 64 << 20  # bytes that may be promised whatever the ratio: an empty image compresses without end

_IMPLICIT, _EXPLICIT, _BIG_ENDIAN = "1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2"
_NATIVE = (_IMPLICIT, _EXPLICIT, _BIG_ENDIAN, "1.2.840.10008.1.2.1.99")
_RLE = "1.2.840.10008.1.2.5"
_JPEG_2000 = ("JPEG 2000", "pylibjpeg-openjpeg", ("pylibjpeg", "gdcm", "pillow"))
_HTJ2K = ("High-Throughput JPEG 2000", "pylibjpeg-openjpeg", ("pylibjpeg",))
_JPEG_LS = ("JPEG-LS", "pyjpegls", ("pyjpegls", "gdcm"))
_LOSSLESS = ("JPEG Lossless", "python-gdcm", ("gdcm",))
# Transfer syntax to its name, the package that decodes it, and pydicom's words for decoders, best first.
_DECODERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    _RLE: ("RLE Lossless", "pylibjpeg-rle", ("pylibjpeg", "pydicom")),
    "1.2.840.10008.1.2.4.50": ("JPEG Baseline", "Pillow", ("pillow", "gdcm")),
    "1.2.840.10008.1.2.4.51": ("JPEG Extended", "Pillow", ("pillow", "gdcm")),
    "1.2.840.10008.1.2.4.57": _LOSSLESS,
    "1.2.840.10008.1.2.4.70": _LOSSLESS,
    "1.2.840.10008.1.2.4.80": _JPEG_LS,
    "1.2.840.10008.1.2.4.81": _JPEG_LS,
    "1.2.840.10008.1.2.4.90": _JPEG_2000,
    "1.2.840.10008.1.2.4.91": _JPEG_2000,
    "1.2.840.10008.1.2.4.201": _HTJ2K,
    "1.2.840.10008.1.2.4.202": _HTJ2K,
    "1.2.840.10008.1.2.4.203": _HTJ2K,
}


@dataclass(frozen=True, slots=True)
class StoredBits:
    """How a sample is stored.

    Parameters
    ----------
    allocated, stored, high : int
        Bits of a sample, bits of its value, index of the value's highest bit.
    signed : bool
        Whether values are two's complement.
    """

    allocated: int
    stored: int
    high: int
    signed: bool

    def value_of(self, raw: NDArray[Any]) -> NDArray[Any]:
        """Return the values in samples: bits that do not belong to them are shifted out."""
        if self.stored == self.allocated or raw.dtype.kind not in "iu":
            return raw
        wide = raw.astype(f"{'i' if self.signed else 'u'}{raw.dtype.itemsize}", copy=True)
        np.left_shift(wide, self.allocated - 1 - self.high, out=wide)
        np.right_shift(wide, self.allocated - self.stored, out=wide)
        return wide


def bits_of(header: Header) -> StoredBits:
    """Return how a sample is stored.

    Raises
    ------
    ReadError
        If the numbers contradict each other.
    """
    allocated = header.whole("BitsAllocated") or 16
    stored = header.whole("BitsStored") or allocated
    high = header.whole("HighBit")
    high = stored - 1 if high is None else high
    if allocated not in (1, 8, 16, 32, 64) or not 1 <= stored <= allocated or not stored - 1 <= high < allocated:
        raise ReadError(
            f"{header.place}{allocated} bits allocated, {stored} stored, high bit {high}: expected 1, 8, 16, 32 or 64 "
            "allocated and values that fit them"
        )
    return StoredBits(allocated, stored, high, header.whole("PixelRepresentation") == 1)


def frame_count(header: Header) -> int:
    """Return how many frames a file says it has.

    Raises
    ------
    ReadError
        If that is no positive number.
    """
    frames = header.whole("NumberOfFrames")
    frames = 1 if frames is None else frames
    if frames < 1:
        raise ReadError(f"{header.place}(0028,0008) NumberOfFrames is {frames}, expected a positive number")
    return frames


def stored_frames(header: Header) -> Iterator[NDArray[Any]]:
    """Yield the stored values of each frame of a file, in its order.

    Parameters
    ----------
    header : Header
        Read with its pixels.

    Yields
    ------
    ndarray
        (rows, columns) in their stored type; (rows, columns, 3) red, green, blue where a frame has colours.

    Raises
    ------
    ReadError
        If there are no pixels, fewer than promised, more than can be, or they are damaged.
    MissingDependencyError
        If the package that decodes them is not installed.
    """
    keyword = next((k for k in _PIXELS if header.has(k)), None)
    if keyword is None:
        raise ReadError(f"{header.place}no pixel data: the file ends before them, or has none")
    rows, columns, samples = size_of(header)
    frames, bits = frame_count(header), bits_of(header)
    syntax = _transfer_syntax(header)
    allocated = _PIXELS[keyword] or bits.allocated
    promised = math.ceil(frames * rows * columns * samples * allocated / 8)
    if frames * rows * columns > MAX_PIXELS:
        raise ReadError(
            f"{header.place}{frames} frames of {columns} x {rows} pixels; at most {MAX_PIXELS} pixels are read"
        )
    data = header.data(keyword)
    plugin = ""
    if syntax in _NATIVE:
        subsampled = (header.text("PhotometricInterpretation") or "") == "YBR_FULL_422"
        needed = promised * 2 // 3 if subsampled else promised
        if len(data) < needed:
            raise ReadError(f"{header.place}truncated: {len(data)} of {needed} bytes of pixels; copy it again")
    else:
        plugin = _decoder(header, syntax)
        if promised > max(_UNSUSPICIOUS, _RATIO * len(data)):
            raise ReadError(
                f"{header.place}the header promises {promised} bytes of pixels, but {len(data)} compressed bytes "
                "cannot hold them"
            )
    if plugin and syntax != _RLE:
        with parsing(header.path):
            _check_streams(header, data, (rows, columns, samples), frames)
    # Only these leave the bits that are not part of a value as they are.
    yield from _decoded(header, syntax, plugin, bits if syntax in (*_NATIVE, _RLE) else None)


def _decoded(header: Header, syntax: str, plugin: str, bits: StoredBits | None) -> Iterator[NDArray[Any]]:
    """Frames as pydicom decodes them; with `bits`, what is not part of a value is shifted out."""
    from pydicom.pixels import get_decoder

    options: dict[str, Any] = {"allow_excess_frames": False}
    if bits is not None:
        options["correct_unused_bits"] = False
    decoder = get_decoder(syntax)
    frames = iter(decoder.iter_array(header.dataset, raw=False, decoding_plugin=plugin, **options))
    while (frame := _next_frame(frames, header)) is not None:
        yield bits.value_of(frame) if bits is not None and frame.ndim == 2 else frame


def _next_frame(frames: Iterator[tuple[NDArray[Any], Any]], header: Header) -> NDArray[Any] | None:
    """The next frame, None after the last."""
    try:
        with parsing(header.path):
            found = next(frames, None)
    except BaseException as error:
        # A decoder in Rust reports damage that it did not expect as a panic, which is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise ReadError(f"{header.place}damaged pixel data; copy or export it again") from error
    return None if found is None else found[0]


def _check_streams(header: Header, data: bytes, shape: tuple[int, int, int], frames: int) -> None:
    """Refuse a stream that announces another size than the header: its decoder would believe the stream."""
    from pydicom.encaps import generate_frames

    for number, stream in enumerate(generate_frames(data, number_of_frames=frames), 1):
        found = stream_shape(stream)
        if found != shape:
            rows, columns, samples = shape
            got = "no JPEG stream" if found is None else f"{found[1]} x {found[0]} pixels of {found[2]} samples"
            raise ReadError(
                f"{header.place}frame {number} holds {got}, expected {columns} x {rows} pixels of {samples}"
            )
        if number >= frames:
            return


def _transfer_syntax(header: Header) -> str:
    """How the pixels are written; of a file that does not say, as its elements are."""
    meta = getattr(header.dataset, "file_meta", None)
    found = Header(header.path, meta).text("TransferSyntaxUID") if meta is not None else None
    if found is not None:
        return found
    implicit, little = header.dataset.original_encoding
    return _IMPLICIT if implicit else _EXPLICIT if little else _BIG_ENDIAN


def _decoder(header: Header, syntax: str) -> str:
    """Name of the decoder to use, in the words of pydicom."""
    from pydicom.pixels import get_decoder

    if syntax not in _DECODERS:
        name = uid_name(syntax) or f"the transfer syntax {syntax[:64]!r}"
        raise ReadError(f"{header.place}pixels in {name}, which is not read; export them uncompressed")
    name, package, plugins = _DECODERS[syntax]
    available = get_decoder(syntax).available_plugins
    found = next((p for p in plugins if p in available), None)
    if found is None:
        raise MissingDependencyError(f"{header.place}{name} pixels need {package}: pip install {package}")
    return found
