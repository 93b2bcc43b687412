"""On which slices of a series contours lie. Nothing is moved or interpolated: a contour is placed, or said not to be.

A contour belongs to the nearest slice within half the distance of slices, by the position of its points; half-way
between two it goes to the lower one. The image it names is a hint only (PS3.3 C.7.4.1: one frame of reference, one
coordinate system), and decides nothing but which of two equally near slices is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.findings import Finding, Severity
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.core.structures import Contour, Roi
from medotter_viewer.errors import GridMismatchError
from medotter_viewer.geometry.contour_remarks import OFF_PLANE_MM, ContourTally
from medotter_viewer.geometry.slice_distances import usual_distance

Points = NDArray[np.float64]

ONE_PLANE_FRACTION = 0.1
"""Of the distance of slices: how far the points of one contour, and contours of one plane, may lie apart."""
_PIXEL_PARTS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class PlacedContours:
    """The closed contours of one structure, by slice.

    Parameters
    ----------
    stack : SliceStack
        The slices.
    points_lps : mapping of int to sequence of (n, 3) ndarray
        Slice index (0-based, in the order of the volume) to its rings, mm LPS as written: up to half the distance of
        slices off the plane.
    n_contours, n_placed : int
        How many contours the structure has, and how many of them are in `points_lps`.
    """

    stack: SliceStack
    points_lps: Mapping[int, Sequence[Points]]
    n_contours: int
    n_placed: int

    @property
    def n_skipped(self) -> int:
        """How many contours are not placed: without area, tilted, off every slice, unreadable."""
        return self.n_contours - self.n_placed

    def pixels(self, index: int) -> list[Points]:
        """Return the (n, 2) column, row (centres at integers) of the rings on a slice; none gives an empty list.

        Rounded to 2**-16 of a pixel: what lies on a pixel's centre or edge but for the rounding of mm, lies there.
        """
        found = (self.stack.to_pixels(points, index) for points in self.points_lps.get(index, ()))
        return [np.round(pixels * _PIXEL_PARTS) / _PIXEL_PARTS for pixels in found]

    def xy_lps(self, index: int) -> list[Points]:
        """Return the (n, 2) x, y in mm LPS of the rings on a slice of an axial series."""
        return [points[:, :2] for points in self.points_lps.get(index, ())]


def place_contours(
    rois: Iterable[Roi],
    stack: SliceStack,
    *,
    names: Mapping[int, str] | None = None,
    ignore_frame_of_reference: bool = False,
    file: Path | None = None,
) -> tuple[dict[int, PlacedContours], list[Finding]]:
    """Return for each ROI number its contours by slice, and what was noticed.

    Parameters
    ----------
    rois : iterable of Roi
        Structures of one file.
    stack : SliceStack
        Slices of the series they were drawn on.
    names : mapping of int to str, optional
        What to call them in findings; by default as in the file.
    ignore_frame_of_reference : bool
        Whether contours of another frame of reference are placed all the same, with a warning.
    file : Path, optional
        Of the structures, for messages.

    Returns
    -------
    placed : dict of int to PlacedContours
        One for each ROI, in order.
    findings : list of Finding
        Contours that are not placed, off their plane, or refer to other images; the counts are in the messages.

    Raises
    ------
    GridMismatchError
        If structures with contours belong to another frame of reference than the series (unless every contour names
        an image of the series and lies on it: some writers make up a frame of reference), or the series has no
        position.

    Notes
    -----
    A contour is not placed when its points span more than a tenth of the distance of slices across them, or when no
    slice is within half that distance (of the usual one: a missing slice does not stretch its neighbours). When
    contours of several planes fall to one slice, as those of a finer series do, only the plane next to the slice is
    taken: combined by even-odd they would cut each other out.
    """
    rois = tuple(rois)
    if not stack.grid.has_world:
        raise GridMismatchError("the series does not say where it lies: no contour can be placed on it")
    called = names or {}
    placer = _Placer(stack, "" if file is None else str(file), ignore_frame_of_reference)
    placer.check_frame(rois)
    placed = {roi.number: placer.place(roi, called.get(roi.number, roi.name)) for roi in rois}
    placer.note_references(sum(len(roi.contours) for roi in rois))
    return placed, placer.findings


def slice_reach_mm(stack: SliceStack) -> NDArray[np.float64]:
    """Return (n,) how far from each slice a contour may lie: half the usual distance, or half the local one.

    The local distance is the larger of a slice's two gaps. One slice alone has half of the grid's step.
    """
    gaps = np.diff(stack.positions_mm)
    if len(gaps) == 0:
        return np.full(len(stack), stack.grid.spacing[2] / 2)
    around = np.concatenate([gaps[:1], gaps, gaps[-1:]])
    return np.asarray(np.minimum(np.maximum(around[:-1], around[1:]), usual_distance(gaps)) / 2)


class _Placer:
    """Places contours on one stack, and collects what is noticed."""

    def __init__(self, stack: SliceStack, file: str, ignore_frame: bool) -> None:
        self.stack = stack
        self.file = file or None
        self.ignore_frame = ignore_frame
        self.findings: list[Finding] = []
        self.positions = stack.positions_mm
        self.reach = slice_reach_mm(stack)
        self.index_of = {uid: index for index, uid in enumerate(stack.sop_uids) if uid}
        self.n_unknown = 0
        self.unknown_uids: set[str] = set()

    def add(self, severity: Severity, code: str, message: str, where: str | None = None) -> None:
        self.findings.append(Finding(severity, code, message, self.file, where))

    def check_frame(self, rois: Sequence[Roi]) -> None:
        """Refuse another frame of reference; note one that is not told."""
        drawn = [roi for roi in rois if roi.contours]
        theirs, ours = {r.frame_of_reference_uid or "" for r in drawn}, self.stack.frame_of_reference_uid
        if drawn and (not ours or "" in theirs):
            which = "the series" if not ours else "the contours"
            message = f"no frame of reference is told for {which}: taken for that of the other, placed by position"
            self.add("warning", "contour-no-frame-of-reference", message)
        strangers = [roi for roi in drawn if ours and (roi.frame_of_reference_uid or ours) != ours]
        if not strangers:
            return
        other = ", ".join(sorted({roi.frame_of_reference_uid or "" for roi in strangers}))
        got = f"{self.file or 'the contours'}: frame of reference {other}, but the series has {ours}"
        code = "contour-frame-of-reference"
        if all(self.lies_on_its_image(contour) for roi in strangers for contour in roi.contours):
            message = f"{got}; their contours name images of the series and lie on them, and so are placed"
            self.add("warning", code, message)
        elif self.ignore_frame:
            self.add("warning", code, f"{got}; placed all the same, as asked")
        else:
            raise GridMismatchError(
                f"{got}: their coordinates have nothing to do with each other; give the series that was contoured "
                "(or register them first)"
            )

    def lies_on_its_image(self, contour: Contour) -> bool:
        """Whether a contour names an image of the series, and all its points are within reach of that slice."""
        index = self.index_of.get(contour.sop_uid or "")
        if index is None:
            return False
        heights = contour.points_lps @ self.stack.normal_lps
        return bool((np.abs(heights - self.positions[index]) <= self.reach[index] + OFF_PLANE_MM).all())

    def place(self, roi: Roi, name: str) -> PlacedContours:
        planes: dict[int, list[tuple[float, Points]]] = {}
        tally = ContourTally()
        for contour in roi.contours:
            if reason := contour.no_area:
                tally.without_area.append(reason)
                continue
            heights = contour.points_lps @ self.stack.normal_lps
            low, high = float(heights.min()), float(heights.max())
            index, distance = self.nearest((low + high) / 2, contour, tally)
            if high - low > 2 * ONE_PLANE_FRACTION * self.reach[index]:
                tally.spans_mm.append(high - low)
            elif distance > self.reach[index] + OFF_PLANE_MM:
                is_inside = self.positions[0] < low and high < self.positions[-1]
                (tally.between_mm if is_inside else tally.beyond_mm).append(distance)
            else:
                planes.setdefault(index, []).append(((low + high) / 2, contour.points_lps))
                tally.offsets_mm.append(float(np.abs(heights - self.positions[index]).max()))
        taken = {index: self.one_plane(index, planes[index]) for index in sorted(planes)}
        n, n_placed = roi.n_contours or len(roi.contours), sum(map(len, taken.values()))
        tally.n_crowded = sum(map(len, planes.values())) - n_placed
        self.findings += tally.findings(name, n, self.file, 2 * ONE_PLANE_FRACTION * float(self.reach.min()))
        return PlacedContours(self.stack, taken, n, n_placed)

    def nearest(self, height: float, contour: Contour, tally: ContourTally) -> tuple[int, float]:
        """Slice and distance; of two equally near ones that which the contour names, else the lower."""
        distances = np.abs(self.positions - height)
        least = float(distances.min())
        index = int(np.argmax(distances <= least + OFF_PLANE_MM))
        named = self.index_of.get(contour.sop_uid or "")
        if named is None:
            if contour.sop_uid:
                self.n_unknown += 1
                self.unknown_uids.add(contour.sop_uid)
        elif distances[named] <= least + OFF_PLANE_MM:
            index = named
        elif distances[named] > self.reach[named] + OFF_PLANE_MM:
            tally.astray_mm.append(float(distances[named]))
        return index, float(distances[index])

    def one_plane(self, index: int, rings: Sequence[tuple[float, Points]]) -> tuple[Points, ...]:
        """Of the rings of a slice those in the plane next to it; of two equally near planes the lower."""
        heights = np.array([height for height, _ in rings])
        away = np.abs(heights - self.positions[index])
        plane = heights[away <= away.min() + OFF_PLANE_MM].min()
        is_there = np.abs(heights - plane) <= 2 * ONE_PLANE_FRACTION * self.reach[index]
        return tuple(points for (_, points), there in zip(rings, is_there.tolist(), strict=True) if there)

    def note_references(self, n: int) -> None:
        """Say once for all that contours name images which the series does not have."""
        if self.n_unknown:
            message = (
                f"{self.n_unknown} of {n} contours name images that are not in the series "
                f"({len(self.unknown_uids)} in all): placed by their position alone"
            )
            self.add("warning", "contour-other-series", message)
