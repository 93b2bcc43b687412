"""What a picture of a case shows: which label maps, which slices, which words. Pure; draws nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ScanContours
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import MedotterViewerError, ReadError, UsageError
from medotter_viewer.figures.planes import PLANES, Frame, Plane, cut, edge_segments
from medotter_viewer.figures.words import notes, title
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.geometry.placed_rings import PlacedRings, place_rings, undrawn
from medotter_viewer.metrics.error_map import WRONG, error_map
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.metrics.surface import bounding_box
from medotter_viewer.scoring.contour_stack import contour_stack
from medotter_viewer.scoring.lung import predicted_contours
from medotter_viewer.scoring.slices import scored_ids, slice_profile

_SIDES = {"gt": "ground truth", "pred": "prediction"}


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What one picture shows.

    Parameters
    ----------
    title : str
        Case, region and dice in words.
    grid : Grid
        Whose slices are shown: that of the labels, without labels that of the image.
    indices : tuple of int
        Displayed slice of each displayed axis.
    labels : mapping of str to LabelMap
        ``gt``, ``native`` and ``pred``, those that are there.
    ids : list of int or None
        Ids that are drawn; None draws all but 0.
    as_one : bool
        Whether the ids are one region, without edges inside.
    channel, image : str, Volume or None
        Name and data of the image.
    notes : tuple of str
        What to know before trusting the picture.
    rings : mapping of str to PlacedRings
        ``gt`` and ``pred``: the contours of a scan, which are drawn instead of label maps.
    """

    title: str
    grid: Grid
    indices: tuple[int, ...]
    labels: dict[str, LabelMap]
    ids: list[int] | None
    as_one: bool
    channel: str
    image: Volume | None
    notes: tuple[str, ...]
    rings: Mapping[str, PlacedRings] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """What is outlined."""
        return tuple(self.rings or self.labels)

    @property
    def planes(self) -> list[Plane]:
        """The planes that are drawn: of contours that of their slices alone, as they have no outline across."""
        side = next(iter(self.rings.values()), None)
        return planes_of(self.grid) if side is None else [PLANES[side.axis]]

    def number_text(self, plane: Plane) -> str:
        """Return the number that the slice of a scan has in its files, in words; empty where it has none."""
        side = next(iter(self.rings.values()), None)
        if side is None or side.axis != plane.axis:
            return ""
        number = side.stack.numbers[side.flipped(self.indices[plane.axis])]
        return "" if number is None else f"  ·  number {number}"

    def outline(self, part: str, plane: Plane) -> NDArray[np.float64]:
        """Return the (n, 2, 2) edges in mm of one label map, or of the contours of one side, in one plane."""
        if self.rings:
            return self._ring_edges(self.rings[part], plane)
        labels = self.labels[part]
        pixels = cut(labels.data, labels.grid, plane, self.indices[plane.axis])
        if self.ids is not None and part != "native":
            mask = id_mask(pixels, self.ids)
            pixels = mask if self.as_one else np.where(mask, pixels, 0)
        return Frame.of(labels.grid).to_mm(plane, edge_segments(pixels))

    def _ring_edges(self, side: PlacedRings, plane: Plane) -> NDArray[np.float64]:
        """Both ends of every edge of a side's rings on the slice that is shown."""
        paths = side.paths(side.flipped(self.indices[plane.axis]))
        edges = [np.stack([path[:-1], path[1:]], axis=1)[..., [plane.across, plane.down]] for path in paths]
        return Frame.of(self.grid).to_mm(plane, np.concatenate([np.zeros((0, 2, 2)), *edges]))

    def wrong_label(self, plane: Plane) -> NDArray[np.bool_] | None:
        """Return the pixels labelled on both sides but not alike; None for one region, which has no wrong label.

        Contours of swapped labels coincide: only this shows them.
        """
        if self.as_one or not {"gt", "pred"} <= self.labels.keys():
            return None
        index = self.indices[plane.axis]
        gt, pred = (cut(self.labels[part].data, self.grid, plane, index) for part in ("gt", "pred"))
        return np.asarray(error_map(gt, pred, ids=self.ids) == WRONG)

    def region_box_mm(self) -> list[tuple[float, float]] | None:
        """Return the displayed mm from edge to edge of what is drawn, along I, P, L; None where that is nothing."""
        order, frame = display_order(self.grid), Frame.of(self.grid)
        if self.rings:
            return self._rings_box_mm(frame)
        there = np.zeros(self.grid.shape, dtype=np.bool_)
        for part, labels in self.labels.items():
            there |= labels.data != 0 if self.ids is None or part == "native" else id_mask(labels.data, self.ids)
        box = bounding_box(order.apply(there))
        if box is None:
            return None
        return [
            (frame.position_mm(axis, side.start) - step / 2, frame.position_mm(axis, side.stop) - step / 2)
            for axis, (side, step) in enumerate(zip(box, frame.scale, strict=True))
        ]

    def _rings_box_mm(self, frame: Frame) -> list[tuple[float, float]] | None:
        """From the lowest to the highest point of all rings; across them to the edges of their slices."""
        found = [path for side in self.rings.values() for index in side.rings for path in side.paths(index)]
        if not found:
            return None
        points = np.concatenate(found)
        across = next(iter(self.rings.values())).axis
        half = [0.5 if axis == across else 0.0 for axis in range(3)]
        low, high = points.min(axis=0) - half, points.max(axis=0) + half
        return [(frame.position_mm(a, low[a]), frame.position_mm(a, high[a])) for a in range(3)]


def make_scene(case: Case, spec: EvalSpec, region: str | None, channel: str | None) -> Scene:
    """Return what a picture of a case shows.

    Parameters
    ----------
    case, spec
        As for `triplet`.
    region : str or None
        A region of the specification, ``macro_avg`` for all of them; None takes the headline's.
    channel : str or None
        None takes the first image.

    Raises
    ------
    UsageError
        If region or channel are not known.
    ReadError
        If the case has neither image nor labels nor contours.
    """
    region = spec.headline.region if region is None else region
    if region != MACRO and region not in spec.regions:
        raise UsageError(f"region: got {region!r}, expected one of {', '.join([*spec.regions, MACRO])}")
    if channel is not None and channel not in case.channels:
        there = ", ".join(case.channels) or "no image that could be read"
        raise UsageError(f"case {case.case_id}: channel: got {channel!r}; the case has {there}")
    channel = channel or next(iter(case.channels), "")
    image = case.channels.get(channel)
    parts = {"gt": case.gt, "native": case.gt_native if case.gt is None else None, "pred": case.pred}
    labels = {name: part for name, part in parts.items() if part is not None}
    sides = {"gt": case.gt_contours, "pred": _predicted(case, spec)}
    contours = {name: side for name, side in sides.items() if side is not None}
    stack = contour_stack(case) if contours else None
    rings = {} if stack is None else {name: place_rings(side, stack) for name, side in contours.items()}
    shown = next((part.grid for part in labels.values()), image.grid if image is not None else None)
    shown = shown if stack is None else stack.grid
    undone = [note for name, side in contours.items() for note in undrawn(_SIDES[name], side, rings.get(name))]
    if shown is None:
        reasons = "; ".join(dict.fromkeys(f.message for f in case.findings)) or "no file is named"
        raise ReadError(f"case {case.case_id}: nothing to draw: {reasons}")
    all_of_all = region == MACRO and not spec.regions
    return Scene(
        title=title(case, spec, region),
        grid=shown,
        indices=tuple(_worst(case, spec, region, plane.axis, shown) for plane in PLANES),
        labels=labels,
        ids=None if all_of_all else scored_ids(case, spec, region),
        as_one=region != MACRO,
        channel=channel,
        image=image,
        notes=(*undone, *notes(case, shown, image)),
        rings=rings,
    )


def _predicted(case: Case, spec: EvalSpec) -> ScanContours | None:
    """The predicted contours; those of a label map too, where the ground truth is drawn as contours."""
    if case.gt_contours is None or case.pred_contours is not None:
        return case.pred_contours
    try:
        return predicted_contours(case, spec)
    except MedotterViewerError:
        return None  # the title says why there is no score


def planes_of(grid: Grid) -> list[Plane]:
    """Return the planes worth drawing: of a single slice only the one it lies in."""
    shape = Frame.of(grid).shape
    return [p for p in PLANES if shape[p.down] > 1 and shape[p.across] > 1] or [PLANES[0]]


def _worst(case: Case, spec: EvalSpec, region: str, axis: int, grid: Grid) -> int:
    """The slice a picture is taken through; of native labels the one with most of them."""
    if case.gt is None and case.gt_native is not None:
        areas = _areas(case.gt_native.data, grid, axis)
        return int(areas.argmax())
    profile = slice_profile(case, spec, region=region, axis=axis)
    return Frame.of(grid).shape[axis] // 2 if profile is None else profile.worst


def _areas(labels: NDArray[Any], grid: Grid, axis: int) -> NDArray[np.int64]:
    """Labelled pixels of every slice along a displayed axis."""
    plane = PLANES[axis]
    slices = range(Frame.of(grid).shape[axis])
    return np.array([np.count_nonzero(cut(labels, grid, plane, index)) for index in slices], dtype=np.int64)
