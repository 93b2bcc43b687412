"""Which slices the contours of a case lie on: those of its scan, else slices that only have numbers."""

from __future__ import annotations

from medotter_viewer.core.case import Case
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.geometry.numbered_slices import stack_by_numbers


def contour_stack(case: Case) -> SliceStack | None:
    """Return the slices that the contours of a case are placed on.

    Returns
    -------
    SliceStack or None
        That of the scan. Where the files do not say where slices lie, and there is neither image nor label map that
        contours could be wrong on, the slices of `stack_by_numbers`. None where contours have no place, and for a
        case without contours or seeds.
    """
    if case.stack is not None:
        return case.stack
    if case.grid is not None:
        return None
    sides = [c for c in (case.gt_contours, case.pred_contours, *case.structures.values()) if c is not None]
    return stack_by_numbers(sides, case.slice_thickness_mm)
