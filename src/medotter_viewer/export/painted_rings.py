"""Who made the rings of a label map that a person may have painted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Origin, ScanContours
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import GridMismatchError, LabelError
from medotter_viewer.geometry.axial_slices import axial_slices
from medotter_viewer.geometry.traced_rings import traced_rings
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.scoring.lung import predicted_contours


def with_painted_rings(case: Case, from_file: LabelMap | None, region: str, spec: EvalSpec) -> Case:
    """Return a case with the rings of its painted label map as contours that say who made each.

    Parameters
    ----------
    case : Case
        With `pred` as it is now.
    from_file : LabelMap or None
        The same label map as it was read.
    region : str
        Whose rings; of a scan those of its target.
    spec : EvalSpec
        Gives the ids.

    Returns
    -------
    Case
        The same where nothing is painted, and where its label map cannot be traced: whoever writes it says why.
    """
    if case.pred is None or from_file is None or case.pred is from_file or case.pred_contours is not None:
        return case
    try:
        now, before = (_traced(replace(case, pred=labels), region, spec) for labels in (case.pred, from_file))
    except (GridMismatchError, LabelError):
        return case
    return replace(case, pred_contours=changed_rings(now, before))


def changed_rings(now: ScanContours, before: ScanContours) -> ScanContours:
    """Return contours in which every ring that was not there before is ``edited``, the others are a ``model``'s.

    Examples
    --------
    >>> import numpy as np
    >>> square = np.array([(0.0, 0.0), (1, 0), (1, 1), (0, 1)])
    >>> changed_rings(ScanContours({3: [square, square + 5]}), ScanContours({3: [square]})).origins
    {3: ('model', 'edited')}
    """
    origins: dict[int, Sequence[Origin]] = {}
    for number, rings in now.rings.items():
        left = Counter((ring + 0.0).tobytes() for ring in before.rings.get(number, ()))
        found: list[Origin] = []
        for ring in rings:
            key = (ring + 0.0).tobytes()
            found.append("model" if left[key] else "edited")
            left[key] -= bool(left[key])
        origins[number] = tuple(found)
    return ScanContours(now.rings, origins)


def _traced(case: Case, region: str, spec: EvalSpec) -> ScanContours:
    """The rings as they are written."""
    if case.pred is None:
        return ScanContours()
    if case.stack is not None or case.gt_contours is not None:
        return predicted_contours(case, spec) or ScanContours()
    slices = axial_slices(case.pred.grid, thickness_mm=case.slice_thickness_mm)
    return ScanContours(traced_rings(id_mask(case.pred.data, spec.regions[region]), slices)[0])
