"""Do predicted polygons lie on the images of their scan? Those that do not were written in another frame."""

from __future__ import annotations

import numpy as np

from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.slice_stack import SliceStack

Box = tuple[float, float, float, float]
"""Smallest x and y, largest x and y, mm LPS."""


def box_of(contours: ScanContours) -> Box | None:
    """Return the box around all points that are numbers; None without any."""
    points = [np.asarray(ring, dtype=np.float64) for rings in contours.rings.values() for ring in rings]
    found = np.concatenate([np.zeros((0, 2)), *points])
    found = found[np.isfinite(found).all(axis=1)]
    if not len(found):
        return None
    (left, front), (right, back) = found.min(axis=0).tolist(), found.max(axis=0).tolist()
    return left, front, right, back


def outside_image(scan_id: str, box: Box | None, stack: SliceStack | None, file: str | None = None) -> Finding | None:
    """Return a warning about polygons that reach beyond the images of their scan; None where all lie on them.

    Parameters
    ----------
    scan_id : str
        Whose polygons.
    box : Box or None
        Around all of them.
    stack : SliceStack or None
        Where the images lie; None says nothing.
    file : str, optional
        For the finding.
    """
    if box is None or stack is None:
        return None
    columns, rows, _ = stack.grid.shape
    corners = np.array([(-0.5, -0.5), (columns - 0.5, -0.5), (-0.5, rows - 0.5), (columns - 0.5, rows - 0.5)])
    field = np.concatenate([stack.to_lps(corners, index)[:, :2] for index in (0, len(stack) - 1)])
    low, high = field.min(axis=0), field.max(axis=0)
    first, last = np.array(box[:2]), np.array(box[2:])
    if (first >= low).all() and (last <= high).all():
        return None
    how = "lie beside" if (first > high).any() or (last < low).any() else "reach beyond"
    x, y = (f"{name} {a:.6g} to {b:.6g}" for name, a, b in zip("xy", first, last, strict=True))
    there = ", ".join(f"{name} {a:.6g} to {b:.6g}" for name, a, b in zip("xy", low, high, strict=True))
    message = (
        f"scan {scan_id}: its polygons {how} the image: {x}, {y}; the image: {there} mm; x and y are DICOM's LPS "
        "(towards the patient's left and back), not RAS and not pixels"
    )
    return Finding("warning", "polygons-outside-image", message, file, where=scan_id)
