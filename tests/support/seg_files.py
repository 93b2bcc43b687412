"""Write small DICOM SEG files with highdicom, another implementation than the one under test."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dicom_files import uid_of
from numpy.typing import NDArray


def write_seg(
    path: Path,
    slices: Sequence[Path],
    masks: NDArray[Any],
    labels: Sequence[str],
    *,
    kind: str = "BINARY",
    colors: Sequence[tuple[int, int, int]] | None = None,
    omit_empty: bool = True,
    **more: Any,
) -> Path:
    """Write a segmentation of a series.

    Parameters
    ----------
    path : Path
        Where.
    slices : sequence of Path
        Files of the series, in the order of `masks`.
    masks : (slice, row, column, segment) ndarray, or (slice, row, column) for LABELMAP
        What belongs to each segment; for FRACTIONAL floats from 0 to 1.
    labels : sequence of str
        Names of segments 1, 2, ...
    kind : {"BINARY", "FRACTIONAL", "LABELMAP"}
        How it is stored.
    colors : sequence of (red, green, blue), optional
        Display colours.
    omit_empty : bool
        Whether frames without any voxel are left out.
    """
    import highdicom
    import pydicom
    from pydicom.sr.codedict import codes

    descriptions = []
    for number, label in enumerate(labels, 1):
        description = highdicom.seg.SegmentDescription(
            segment_number=number,
            segment_label=label,
            segmented_property_category=codes.SCT.Tissue,
            segmented_property_type=codes.SCT.Liver,
            algorithm_type="MANUAL",
            display_color=None if colors is None else highdicom.color.CIELabColor.from_rgb(*colors[number - 1]),
        )
        descriptions.append(description)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        images = []
        for one in slices:
            image = pydicom.dcmread(one)
            for keyword in ("StudyDate", "StudyTime", "AccessionNumber", "PatientBirthDate", "PatientSex", "StudyID"):
                setattr(image, keyword, "")
            image.ReferringPhysicianName = ""
            images.append(image)
        seg = highdicom.seg.Segmentation(
            images,
            masks,
            kind,
            descriptions,
            uid_of("series", str(path)),
            1,
            uid_of("sop", str(path)),
            1,
            "maker",
            "model",
            "1",
            "serial",
            omit_empty_frames=omit_empty,
            **more,
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        seg.save_as(path)
    return path
