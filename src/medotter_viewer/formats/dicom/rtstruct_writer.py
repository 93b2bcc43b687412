"""Write an RTSTRUCT: named structures as closed contours on the images of a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from medotter_viewer import __version__
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.structures import Roi
from medotter_viewer.errors import WriteError
from medotter_viewer.formats.dicom.files import read_header
from medotter_viewer.formats.dicom.values import parsing

Algorithm = Literal["AUTOMATIC", "SEMIAUTOMATIC", "MANUAL", ""]
"""How contours were made; empty where nothing says it."""

SOFTWARE = "medotter-viewer"
DESCRIPTION = f"{SOFTWARE} {__version__}, not for clinical use"
_LABEL = "NOT CLINICAL USE"  # of 16 letters at most
_RTSTRUCT, _STUDY_CLASS = "1.2.840.10008.5.1.4.1.1.481.3", "1.2.840.10008.3.1.2.3.1"
_IMPLICIT = "1.2.840.10008.1.2"  # 4 bytes of length: a contour may have more than 64 KB of points
_NAME_LETTERS, _NUMBER_LETTERS = 64, 16
# Type 2 of the patient and the study: copied where they are there, else empty.
_COPIED = (
    *("PatientName", "PatientID", "PatientBirthDate", "PatientSex"),
    *("StudyDate", "StudyTime", "AccessionNumber", "ReferringPhysicianName", "StudyID"),
)
_COPIED_IF_THERE = ("IssuerOfPatientID", "StudyDescription", "PositionReferenceIndicator")


@dataclass(frozen=True, slots=True, eq=False)
class WrittenRoi:
    """A structure to be written.

    Parameters
    ----------
    roi : Roi
        Number, name, colour and contours in mm LPS, each with the image it lies on.
    algorithm : {"AUTOMATIC", "SEMIAUTOMATIC", "MANUAL", ""}
        How they were made.
    """

    roi: Roi
    algorithm: Algorithm = ""


def decimal(value: float) -> str:
    """Return a number in at most 16 letters, the length of DICOM's decimal strings, as exact as these allow.

    Examples
    --------
    >>> decimal(-123.4567890123456789), decimal(0.1), decimal(-1 / 3e7), decimal(-0.0)
    ('-123.45678901235', '0.1', '-3.333333333e-08', '0.0')
    """
    text = repr(value + 0.0)
    digits = _NUMBER_LETTERS
    while len(text) > _NUMBER_LETTERS:
        text = f"{value:.{digits}g}"
        digits -= 1
    return text


def write_structures(path: Path, structures: Sequence[WrittenRoi], stack: SliceStack) -> list[Finding]:
    """Write structures as an RTSTRUCT of the series of a stack.

    Parameters
    ----------
    path : Path
        Where; must not be there.
    structures : sequence of WrittenRoi
        In this order; their numbers differ.
    stack : SliceStack
        Of a series of DICOM images, each a file of its own. Patient, study and frame of reference are those of its
        first file.

    Returns
    -------
    list of Finding
        Attributes of the series that could not be copied, as they are no valid DICOM; a warning each.

    Raises
    ------
    WriteError
        If the stack is no series of single images, a name cannot be that of a structure, or the file cannot be
        written.
    ReadError
        If the first image cannot be read.
    """
    uids = [uid for uid in stack.sop_uids if uid]
    if len(uids) < len(stack) or len(set(uids)) < len(uids):
        raise WriteError(
            f"{stack.files[0].parent}: an RTSTRUCT names the image of every contour, and these are not DICOM images "
            "of one file each; give a series of such"
        )
    for one in structures:
        name = one.roi.name
        if len(name) > _NAME_LETTERS or "\\" in name or not name.isprintable():
            raise WriteError(
                f"region {name[:_NAME_LETTERS]!a}: the name of a structure has at most {_NAME_LETTERS} letters and no "
                "backslash; name it otherwise (--labels)"
            )
    dataset, findings = _dataset(structures, stack, uids)
    try:
        dataset.save_as(path, enforce_file_format=True, overwrite=False)
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise WriteError(f"{path}: cannot be written as DICOM: {error}") from error
    return findings


def _dataset(structures: Sequence[WrittenRoi], stack: SliceStack, uids: Sequence[str]) -> tuple[Any, list[Finding]]:
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import generate_uid

    now = datetime.now()
    series = _Series(stack.files[0])
    file = Dataset()
    file.file_meta = FileMetaDataset()
    file.file_meta.TransferSyntaxUID = _IMPLICIT
    file.file_meta.MediaStorageSOPClassUID = _RTSTRUCT
    file.file_meta.MediaStorageSOPInstanceUID = generate_uid(prefix=None)
    file.SpecificCharacterSet = "ISO_IR 192"
    file.SOPClassUID, file.SOPInstanceUID = _RTSTRUCT, file.file_meta.MediaStorageSOPInstanceUID
    file.InstanceCreationDate, file.InstanceCreationTime = now.strftime("%Y%m%d"), now.strftime("%H%M%S")
    file.Modality, file.Manufacturer, file.OperatorsName = "RTSTRUCT", SOFTWARE, ""
    file.ManufacturerModelName, file.SoftwareVersions = SOFTWARE, __version__
    for keyword in _COPIED:
        series.copy(keyword, file)
    for keyword in _COPIED_IF_THERE:
        series.copy(keyword, file, always=False)
    study = series.uid("StudyInstanceUID") or generate_uid(prefix=None)
    frame = stack.frame_of_reference_uid or generate_uid(prefix=None)
    file.StudyInstanceUID, file.SeriesInstanceUID = study, generate_uid(prefix=None)
    file.SeriesNumber, file.InstanceNumber, file.SeriesDescription = None, 1, DESCRIPTION
    file.FrameOfReferenceUID = frame
    if "PositionReferenceIndicator" not in file:
        file.PositionReferenceIndicator = ""
    file.StructureSetLabel, file.StructureSetName = _LABEL, DESCRIPTION
    file.StructureSetDate, file.StructureSetTime = file.InstanceCreationDate, file.InstanceCreationTime
    file.ApprovalStatus = "UNAPPROVED"
    image_class = series.uid("SOPClassUID") or ""
    file.ReferencedFrameOfReferenceSequence = [
        _item(
            FrameOfReferenceUID=frame,
            RTReferencedStudySequence=[
                _item(
                    ReferencedSOPClassUID=_STUDY_CLASS,
                    ReferencedSOPInstanceUID=study,
                    RTReferencedSeriesSequence=[
                        _item(
                            SeriesInstanceUID=series.uid("SeriesInstanceUID") or "",
                            ContourImageSequence=[_image(image_class, uid) for uid in uids],
                        )
                    ],
                )
            ],
        )
    ]
    file.StructureSetROISequence = [
        _item(
            ROINumber=one.roi.number,
            ReferencedFrameOfReferenceUID=frame,
            ROIName=one.roi.name,
            ROIGenerationAlgorithm=one.algorithm,
        )
        for one in structures
    ]
    file.ROIContourSequence = [_contours(one.roi, image_class) for one in structures]
    file.RTROIObservationsSequence = [
        _item(ObservationNumber=place, ReferencedROINumber=one.roi.number, RTROIInterpretedType="", ROIInterpreter="")
        for place, one in enumerate(structures, 1)
    ]
    return file, series.findings


class _Series:
    """What is copied of the series, and what cannot be."""

    def __init__(self, file: Path) -> None:
        keywords = ("SpecificCharacterSet", "SOPClassUID", "SeriesInstanceUID", "StudyInstanceUID")
        self.header = read_header(file, (*keywords, *_COPIED, *_COPIED_IF_THERE))
        self.findings: list[Finding] = []

    def uid(self, keyword: str) -> str | None:
        return self.header.text(keyword)

    def text(self, keyword: str) -> str:
        """The first value, in the character set of the file."""
        if not self.header.has(keyword):
            return ""
        with parsing(self.header.path):
            value = self.header.dataset[keyword].value
        first = next(iter(value), "") if isinstance(value, list) or type(value).__name__ == "MultiValue" else value
        return "" if first is None else str(first).strip(" \0")

    def copy(self, keyword: str, file: Any, *, always: bool = True) -> None:
        from pydicom import config
        from pydicom.datadict import dictionary_VR, tag_for_keyword
        from pydicom.dataelem import DataElement

        words = self.text(keyword)
        if not words and not always:
            return
        tag = tag_for_keyword(keyword)
        if tag is None:
            raise WriteError(f"{keyword}: no attribute of DICOM")
        try:
            file.add(DataElement(tag, dictionary_VR(tag), words, validation_mode=config.RAISE))
        except ValueError:
            message = f"{keyword} of the series is no valid DICOM, and is left empty in the RTSTRUCT"
            self.findings.append(Finding("warning", "attribute-left-out", message, str(self.header.path)))
            setattr(file, keyword, "")


def _contours(roi: Roi, image_class: str) -> Any:
    item = _item(ReferencedROINumber=roi.number)
    if roi.color is not None:
        item.ROIDisplayColor = list(roi.color)
    if roi.contours:
        item.ContourSequence = [
            _item(
                ContourNumber=place,
                ContourImageSequence=[_image(image_class, contour.sop_uid or "")],
                ContourGeometricType=contour.geometric_type,
                NumberOfContourPoints=len(contour.points_lps),
                ContourData=[decimal(value) for value in contour.points_lps.ravel().tolist()],
            )
            for place, contour in enumerate(roi.contours, 1)
        ]
    return item


def _image(image_class: str, uid: str) -> Any:
    return _item(ReferencedSOPClassUID=image_class, ReferencedSOPInstanceUID=uid)


def _item(**elements: Any) -> Any:
    from pydicom.dataset import Dataset

    item = Dataset()
    for keyword, value in elements.items():
        setattr(item, keyword, value)
    return item
