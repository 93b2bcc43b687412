"""Write small RTSTRUCT files, right ones and such as are found."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from dicom_files import EXPLICIT, uid_of

RTSTRUCT = "1.2.840.10008.5.1.4.1.1.481.3"
Points = Sequence[Sequence[float]]


@dataclass
class Drawn:
    """One contour.

    Parameters
    ----------
    points : sequence of (x, y, z), or str
        mm LPS; a text is written as Contour Data as it stands.
    kind : str or None
        Contour Geometric Type; None leaves it out.
    image : str or None
        UID of the image it names; None writes no ContourImageSequence.
    n_points : int, optional
        Number of Contour Points, if it shall be wrong.
    """

    points: Points | str
    kind: str | None = "CLOSED_PLANAR"
    image: str | None = None
    n_points: int | None = None


@dataclass
class Structure:
    """One ROI; `contours` None leaves it out of the ROI Contour Sequence."""

    number: int
    name: str
    contours: Sequence[Drawn] | None = ()
    color: Sequence[int] | None = (255, 0, 0)
    frame: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


def square(left: float, top: float, side: float, z: float) -> list[tuple[float, float, float]]:
    """Corners of a square in an axial plane."""
    right, bottom = left + side, top + side
    return [(left, top, z), (right, top, z), (right, bottom, z), (left, bottom, z)]


def write_rtstruct(
    path: Path,
    structures: Sequence[Structure],
    *,
    order: Sequence[int] | None = None,
    frame: str | None = "frame of reference",
    syntax: str = EXPLICIT,
    more: Mapping[str, Any] = {},
) -> Path:
    """Write an RTSTRUCT.

    Parameters
    ----------
    path : Path
        Where.
    structures : sequence of Structure
        In the order of the names.
    order : sequence of int, optional
        ROI numbers in the order of the contours, by default that of the names.
    frame : str or None
        Words of the frame of reference (`uid_of`); None writes none.
    syntax : str
        Transfer syntax.
    more : mapping of keyword to value
        Other elements; None removes one.
    """
    import pydicom
    from pydicom.dataset import Dataset, FileDataset, FileMetaDataset

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = RTSTRUCT, uid_of("sop", str(path))
    meta.TransferSyntaxUID = syntax
    file = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    file.SOPClassUID, file.SOPInstanceUID = RTSTRUCT, meta.MediaStorageSOPInstanceUID
    file.Modality, file.PatientName, file.PatientID = "RTSTRUCT", "SECRET^NAME", "SECRET-ID"
    frame_uid = None if frame is None else uid_of("frame", frame)
    if frame_uid is not None:
        reference = Dataset()
        reference.FrameOfReferenceUID = frame_uid
        file.ReferencedFrameOfReferenceSequence = [reference]
    file.StructureSetROISequence = [_named(one, frame_uid) for one in structures]
    by_number = {one.number: one for one in structures}
    ordered = structures if order is None else [by_number[number] for number in order]
    file.ROIContourSequence = [_contoured(one) for one in ordered if one.contours is not None]
    for keyword, value in more.items():
        if value is None:
            delattr(file, keyword)
        else:
            setattr(file, keyword, value)
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pydicom.dcmwrite(path, file, enforce_file_format=False)
    return path


def _named(one: Structure, frame_uid: str | None) -> Any:
    from pydicom.dataset import Dataset

    item = Dataset()
    item.ROINumber, item.ROIName = one.number, one.name
    uid = uid_of("frame", one.frame) if one.frame else frame_uid
    if uid is not None:
        item.ReferencedFrameOfReferenceUID = uid
    for keyword, value in one.more.items():
        setattr(item, keyword, value)
    return item


def _contoured(one: Structure) -> Any:
    from pydicom.dataset import Dataset

    item = Dataset()
    item.ReferencedROINumber = one.number
    if one.color is not None:
        item.ROIDisplayColor = list(one.color)
    if one.contours:
        item.ContourSequence = [_drawn(contour) for contour in one.contours]
    return item


def _drawn(contour: Drawn) -> Any:
    from pydicom.dataelem import RawDataElement
    from pydicom.dataset import Dataset
    from pydicom.tag import Tag

    item = Dataset()
    if contour.image is not None:
        image = Dataset()
        image.ReferencedSOPInstanceUID = contour.image
        item.ContourImageSequence = [image]
    if contour.kind is not None:
        item.ContourGeometricType = contour.kind
    if isinstance(contour.points, str):
        text, n = contour.points, contour.points.count("\\") // 3 + 1
    else:
        text, n = "\\".join(f"{v:.10g}" for v in np.ravel(contour.points)), len(contour.points)
    item.NumberOfContourPoints = n if contour.n_points is None else contour.n_points
    raw = text.encode("latin-1") + b" " * (len(text) % 2)
    tag = Tag(0x30060050)
    item._dict[tag] = RawDataElement(tag, "DS", len(raw), raw, 0, False, True)
    return item


def referring_to(*uids: str) -> dict[str, Any]:
    """Elements for `write_rtstruct`: the series with these UIDs are what it was drawn on."""
    from pydicom.dataset import Dataset

    series = []
    for uid in uids:
        item = Dataset()
        item.SeriesInstanceUID = uid
        series.append(item)
    study, frame = Dataset(), Dataset()
    study.RTReferencedSeriesSequence = series
    frame.FrameOfReferenceUID = uid_of("frame", "frame of reference")
    frame.RTReferencedStudySequence = [study]
    return {"ReferencedFrameOfReferenceSequence": [frame]}
