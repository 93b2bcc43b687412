"""Two slices at one position: an exact copy is left out, anything else is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import ReadError
from medotter_viewer.formats.dicom.files import read_pixels
from medotter_viewer.formats.dicom.planes import Plane

_SAME_PLACE_MM, _SAME_PLACE_FRACTION = 1e-4, 0.01  # of the usual distance


def without_copies(planes: Sequence[Plane], source: Path) -> tuple[list[Plane], list[Finding]]:
    """Return the planes without exact copies, and a finding for each file left out.

    Raises
    ------
    ReadError
        If two different slices lie at one position.
    """
    places = [p for p in planes if p.axes_lps is not None and p.origin_lps is not None]
    if len(places) < 2:
        return list(planes), []
    axes = places[0].axes_lps
    normal = np.cross(axes[0], axes[1]) if axes is not None else np.zeros(3)
    positions = {id(p): float(p.origin_lps @ normal) for p in places if p.origin_lps is not None}
    ordered = sorted(places, key=lambda p: (positions[id(p)], p.name))
    gaps = np.diff([positions[id(p)] for p in ordered])
    real = gaps[gaps > _SAME_PLACE_MM]
    limit = max(_SAME_PLACE_MM, _SAME_PLACE_FRACTION * float(np.median(real))) if real.size else _SAME_PLACE_MM
    findings: list[Finding] = []
    kept: list[list[Plane]] = []
    for plane, gap in zip(ordered, [np.inf, *gaps], strict=True):
        if gap > limit:
            kept.append([plane])
            continue
        twin = next((p for p in kept[-1] if _is_copy(p, plane)), None)
        if twin is None:
            kept[-1].append(plane)
        else:
            message = f"{plane.name} is a copy of {twin.name} (same SOP Instance UID, same pixels); left out"
            findings.append(Finding("info", "copy-left-out", message, file=str(plane.header.path)))
    if doubled := [group for group in kept if len(group) > 1]:
        raise _doubled(kept, doubled[0], positions[id(doubled[0][0])], source)
    return [group[0] for group in kept], findings


def _is_copy(a: Plane, b: Plane) -> bool:
    """Whether two files of one SOP Instance UID hold the same pixels."""
    if a.header.path == b.header.path or a.sop_uid is None or a.sop_uid != b.sop_uid:
        return False
    pixels = [read_pixels(p.header.path) for p in (a, b)]
    return pixels[0].data("PixelData") == pixels[1].data("PixelData")


def _doubled(kept: Sequence[Sequence[Plane]], pair: Sequence[Plane], position: float, source: Path) -> ReadError:
    where = "\\".join(f"{v:.6g}" for v in pair[0].origin_lps) if pair[0].origin_lps is not None else ""
    start = (
        f"{source}: {pair[0].name} and {pair[1].name} are different slices at one position ({position:.6g} mm along "
        f"the normal, Image Position {where})"
    )
    times = Counter(len(group) for group in kept)
    if len(times) == 1:
        differing = [k for k in pair[0].marks if len({p.marks.get(k) for p in pair}) > 1]
        by = f", which differ in {', '.join(differing)}" if differing else ""
        return ReadError(
            f"{start}: {len(pair)} volumes in one series{by}; put the files of each into a folder of their own"
        )
    return ReadError(f"{start}; remove the one that does not belong to the series")
