"""Which files are DICOM, what kind of object each holds, and which image series a folder has.

Content decides, never the name. Headers only: no pixel is read here. No message ever shows patient data.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.values import Header, parsing, uid_name

if TYPE_CHECKING:
    from typing_extensions import Buffer

SopKind = Literal["image", "rtstruct", "seg", "other"]

RTSTRUCT_CLASS = "1.2.840.10008.5.1.4.1.1.481.3"
SEG_CLASSES = ("1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7")
_NO_IMAGES = ("RTDOSE", "RTPLAN", "RTRECORD", "PR", "KO", "SR", "REG", "FID")  # some have rows and columns
_MAX_INFLATED = 1 << 30
_START = 4096
_VALUE_KINDS = frozenset(
    b"AE AS AT CS DA DS DT FD FL IS LO LT OB OW PN SH SL SQ SS ST TM UC UI UL UN UR US UT".split(),
)

_PIXELS = (
    "PixelData", "FloatPixelData", "DoubleFloatPixelData", "ExtendedOffsetTable", "ExtendedOffsetTableLengths",
    "RedPaletteColorLookupTableDescriptor", "GreenPaletteColorLookupTableDescriptor",
    "BluePaletteColorLookupTableDescriptor", "RedPaletteColorLookupTableData", "GreenPaletteColorLookupTableData",
    "BluePaletteColorLookupTableData",
)  # fmt: skip
_DESCRIPTION = (
    "SamplesPerPixel", "PhotometricInterpretation", "PlanarConfiguration", "NumberOfFrames", "Rows", "Columns",
    "BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation", "PixelPaddingValue",
)  # fmt: skip
HEADER_KEYWORDS = (
    *_DESCRIPTION, "SpecificCharacterSet", "ImageType", "SOPClassUID", "SOPInstanceUID", "Modality",
    "SeriesDescription", "SeriesInstanceUID", "SeriesNumber", "AcquisitionNumber", "InstanceNumber",
    "TemporalPositionIdentifier", "EchoNumbers", "EchoTime", "TriggerTime", "DiffusionBValue",
    "ImagePositionPatient", "ImageOrientationPatient", "FrameOfReferenceUID", "SliceThickness",
    "SpacingBetweenSlices", "PixelSpacing", "ImagerPixelSpacing", "NominalScannedPixelSpacing", "RescaleIntercept",
    "RescaleSlope", "RescaleType", "Units", "DimensionIndexSequence", "SharedFunctionalGroupsSequence",
    "PerFrameFunctionalGroupsSequence", "ModalityLUTSequence",
)  # fmt: skip
"""What is read of an image's header."""


@dataclass(frozen=True, slots=True, eq=False)
class SeriesFiles:
    """The images of one series in a folder.

    Parameters
    ----------
    uid : str
        Series Instance UID; empty where the files have none.
    modality, description : str
        As in the first file; empty where it has none.
    number : int or None
        Series Number.
    headers : sequence of Header
        One for each file, in the order of the files' names.
    """

    uid: str
    modality: str
    description: str
    number: int | None
    headers: Sequence[Header]

    @property
    def n_images(self) -> int:
        """How many images the files hold: frames count each."""
        return sum(max(1, header.whole("NumberOfFrames") or 1) for header in self.headers)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files, in the order of their names."""
        return tuple(header.path for header in self.headers)

    def describe(self) -> str:
        """Return number, modality, description, count and the end of the UID, for messages."""
        number = "series without number" if self.number is None else f"series {self.number}"
        words = f' "{self.description[:60]}"' if self.description else ""
        ending = f", UID ending {self.uid[-12:]}" if self.uid else ""
        images = "1 image" if len(self.headers) == 1 else f"{len(self.headers)} images"
        return f"{number} {self.modality}{words} ({images}{ending})"


def is_dicom(start: bytes) -> bool:
    """Tell whether a file that starts like this is DICOM: ``DICM`` at byte 128, or a plausible headerless data set.

    Parameters
    ----------
    start : bytes
        At least the first 132 bytes.
    """
    if start[128:132] == b"DICM":
        return True
    if len(start) < 16:
        return False
    group, element = (int.from_bytes(start[i : i + 2], "little") for i in (0, 2))
    if group not in (2, 8) or element > 0x0100:
        return False
    if start[4:6] in _VALUE_KINDS:
        return True
    length = int.from_bytes(start[4:8], "little")
    following = int.from_bytes(start[8 + length : 10 + length], "little")
    return length <= 1024 and 10 + length <= len(start) and group <= following <= 0x0020


def read_header(path: Path, keywords: tuple[str, ...] = HEADER_KEYWORDS, *, with_pixels: bool = False) -> Header:
    """Return the wanted elements of a DICOM file.

    Parameters
    ----------
    path : Path
        With or without a preamble.
    keywords : tuple of str
        Names of the elements to read; the others are skipped.
    with_pixels : bool
        Whether the pixels are read too, as they are stored; else the file is read up to them.

    Raises
    ------
    ReadError
        If the file is not DICOM or is damaged.
    """
    import pydicom

    if not path.is_file():
        raise ReadError(f"{path}: no such file")
    start = _start(path)
    if not is_dicom(start):
        packed = "; it is packed with gzip: unpack it first" if start.startswith(b"\x1f\x8b") else ""
        raise ReadError(f"{path}: not a DICOM file (no DICM at byte 128){packed}")
    tags = _tags((*keywords, *_PIXELS) if with_pixels else keywords)
    with parsing(path), _WholeReads(path) as file:
        dataset = pydicom.dcmread(file, stop_before_pixels=not with_pixels, force=True, specific_tags=tags)
    return Header(path, dataset)


def read_pixels(path: Path) -> Header:
    """Return the pixels of a DICOM file, as they are stored, and what describes them.

    Raises
    ------
    ReadError
        If the file is not DICOM or is damaged.
    """
    return read_header(path, _DESCRIPTION, with_pixels=True)


def sop_kind(path: Path) -> SopKind:
    """Return what kind of object a DICOM file holds: an image, an RTSTRUCT, a segmentation or something else.

    Raises
    ------
    ReadError
        If the file is not DICOM or is damaged.
    """
    return kind_of(read_header(path, ("SOPClassUID", "Modality", "Rows", "Columns")))


def kind_of(header: Header) -> SopKind:
    """Return what kind of object a header belongs to."""
    sop_class, modality = header.text("SOPClassUID") or "", (header.text("Modality") or "").upper()
    if sop_class == RTSTRUCT_CLASS or (not sop_class and modality == "RTSTRUCT"):
        return "rtstruct"
    if sop_class in SEG_CLASSES or (not sop_class and modality == "SEG"):
        return "seg"
    has_rows = header.has("Rows") and header.has("Columns")
    return "image" if has_rows and modality not in _NO_IMAGES else "other"


def dicom_files(folder: Path) -> Iterator[Path]:
    """Yield the DICOM files of a folder by name, without those of its subfolders.

    Hidden files, the ``._`` companions of a Mac, ``DICOMDIR`` and everything that is not DICOM are passed over.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise ReadError(f"{folder}: {error.strerror or error}") from error
    for path in paths:
        if path.name.startswith(".") or path.name.upper() == "DICOMDIR" or not path.is_file():
            continue
        if is_dicom(_start(path)):
            yield path


def find_series(folder: Path) -> tuple[list[SeriesFiles], list[Finding]]:
    """Return the image series of a folder by number, and a finding for each file that is damaged.

    Raises
    ------
    ReadError
        If the folder cannot be listed.
    """
    groups: dict[str, list[Header]] = {}
    findings: list[Finding] = []
    for path in dicom_files(folder):
        try:
            header = read_header(path)
            is_image = kind_of(header) == "image"
            _check_whole(header, is_image=is_image)
        except ReadError as error:
            findings.append(Finding("warning", "unreadable-file", f"{error}; left out", file=str(path)))
            continue
        if is_image:
            groups.setdefault(header.text("SeriesInstanceUID") or "", []).append(header)
    found = [series_of(headers) for headers in groups.values()]
    found.sort(key=lambda one: (one.number is None, one.number or 0, one.uid))
    return found, findings


def series_of(headers: Sequence[Header]) -> SeriesFiles:
    """Return the series to which images belong: what the first of them says of it."""
    first = headers[0]
    number = first.text("SeriesNumber") or ""
    shown = int(number) if number.isascii() and number.isdigit() and len(number) < 12 else None
    words = first.words("Modality") or "", first.words("SeriesDescription") or ""
    return SeriesFiles(first.text("SeriesInstanceUID") or "", *words, shown, headers)


def has_images(folder: Path) -> bool:
    """Tell whether a folder itself holds a DICOM image; stops at the first one."""
    for path in dicom_files(folder):
        try:
            if sop_kind(path) == "image":
                return True
        except ReadError:
            continue
    return False


def _check_whole(header: Header, *, is_image: bool) -> None:
    """Refuse what may be an image whose header is cut short; what is known to be something else is no image."""
    name = uid_name(header.text("SOPClassUID"))
    if not is_image and (not name or "Image Storage" in name):
        raise ReadError(f"{header.place}no rows and columns: no image, or its header is cut short; copy it again")


@cache
def _tags(keywords: tuple[str, ...]) -> list[int | str | tuple[int, int]]:
    from pydicom.tag import Tag

    return [Tag(keyword) for keyword in keywords]


def _start(path: Path) -> bytes:
    """First bytes of a file; none where it cannot be opened."""
    try:
        with path.open("rb") as file:
            return file.read(_START)
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror or error}") from error


class _WholeReads(io.BufferedReader):
    """A file that is never read whole but by one whose data set is deflated: that may not inflate without end."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path, "rb"))
        self._path = path

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        if size is None or size < 0:
            self._refuse_bomb(data)
        return data

    def _refuse_bomb(self, data: Buffer) -> None:
        inflate, got = zlib.decompressobj(-zlib.MAX_WBITS), 0
        part = inflate.decompress(bytes(data), 1 << 20)
        while part:
            got += len(part)
            if got > _MAX_INFLATED:
                raise ReadError(f"{self._path}: its deflated data set inflates beyond {_MAX_INFLATED >> 30} GiB")
            part = inflate.decompress(inflate.unconsumed_tail, 1 << 20)
