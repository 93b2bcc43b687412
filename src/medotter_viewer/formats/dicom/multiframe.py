"""The planes of an image with several frames: enhanced CT and MR by their functional groups, older ones by spacing.

An older image without a position for each frame is a volume only where it says position, orientation and
SpacingBetweenSlices; otherwise its frames may be a film or projections, and it is refused.
"""

from __future__ import annotations

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.decoding import frame_count
from medotter_viewer.formats.dicom.planes import Plane, axes_of, length_of, origin_of, plane_of, size_of, spacing_of
from medotter_viewer.formats.dicom.scaling import scaling_of
from medotter_viewer.formats.dicom.values import Header

_SHARED, _EACH = "SharedFunctionalGroupsSequence", "PerFrameFunctionalGroupsSequence"


def planes_of(header: Header) -> tuple[list[Plane], list[Finding]]:
    """Return the planes of a file, one for each frame, and what was noticed.

    Raises
    ------
    ReadError
        If a number is malformed, or the frames do not say where they lie.
    """
    if header.has(_EACH):
        return _enhanced(header), []
    if frame_count(header) == 1:
        return [plane_of(header)], []
    return _older(header)


def _enhanced(header: Header) -> list[Plane]:
    frames, count = header.items(_EACH, "frame"), frame_count(header)
    if len(frames) != count:
        raise ReadError(f"{header.place}{count} frames, but functional groups for {len(frames)}; export it again")
    shared = header.items(_SHARED, "shared groups")
    size, pointers = size_of(header), _dimensions(header)
    reference, uid = header.text("FrameOfReferenceUID"), header.text("SOPInstanceUID")
    planes = []
    for index, frame in enumerate(frames):
        found = [frame, *shared]
        position, orientation = _group(found, "PlanePositionSequence"), _group(found, "PlaneOrientationSequence")
        measures = _group(found, "PixelMeasuresSequence")
        transformation = _group(found, "PixelValueTransformationSequence")
        content = _group(found, "FrameContentSequence")
        origin = origin_of(position) if position else None
        axes = axes_of(orientation) if orientation else None
        spacing = spacing_of(measures) if measures else None
        if origin is None or axes is None or spacing is None:
            missing = "position" if origin is None else "orientation" if axes is None else "pixel spacing"
            raise ReadError(f"{frame.place}no {missing} in its functional groups; it cannot be placed in a volume")
        planes.append(
            Plane(
                header,
                index,
                f"{header.path.name} frame {index + 1}",
                size,
                spacing,
                origin,
                axes,
                index + 1,
                length_of(measures, "SliceThickness") if measures else None,
                length_of(measures, "SpacingBetweenSlices") if measures else None,
                uid,
                reference,
                scaling_of(transformation or header),
                _marks(content, pointers) if content else {},
            )
        )
    return planes


def _older(header: Header) -> tuple[list[Plane], list[Finding]]:
    first, count = plane_of(header), frame_count(header)
    step = header.number("SpacingBetweenSlices")
    if first.origin_lps is None or first.axes_lps is None or not step:
        raise ReadError(
            f"{header.place}{count} frames without positions (a film, or projections), expected slices of a volume; "
            "export them as single images or as an enhanced multi-frame image"
        )
    normal = np.cross(first.axes_lps[0], first.axes_lps[1])
    planes = [
        Plane(
            header,
            index,
            f"{header.path.name} frame {index + 1}",
            first.size,
            first.spacing_mm,
            first.origin_lps + normal * step * index,
            first.axes_lps,
            index + 1,
            first.thickness_mm,
            first.between_mm,
            first.sop_uid,
            first.frame_of_reference_uid,
            first.scaling,
            {},
        )
        for index in range(count)
    ]
    message = (
        f"{count} frames with one position: the others are placed {step:g} mm apart, as SpacingBetweenSlices "
        "(0018,0088) says"
    )
    return planes, [Finding("warning", "positions-from-spacing", message, file=str(header.path))]


def _group(items: list[Header], keyword: str) -> Header | None:
    """The one item of a functional group: the frame's own, else the shared one."""
    return next((found[0] for item in items if (found := item.items(keyword, item.where))), None)


def _dimensions(header: Header) -> list[str]:
    """Names of the dimensions that the file counts its frames in."""
    from pydicom.datadict import keyword_for_tag

    names: list[str] = []
    for item in header.items("DimensionIndexSequence"):
        tag = item.attribute("DimensionIndexPointer")
        names.append((keyword_for_tag(tag) if tag is not None else "") or f"dimension {len(names) + 1}")
    return names


def _marks(content: Header, pointers: list[str]) -> dict[str, str | None]:
    """What tells this frame from others at its position."""
    found = {k: content.text(k) for k in ("StackID", "FrameAcquisitionNumber") if content.has(k)}
    try:
        values = content.numbers("DimensionIndexValues", len(pointers)) if pointers else None
    except ReadError:
        values = None
    return {**found, **{name: f"{value:g}" for name, value in zip(pointers, values or (), strict=False)}}
