"""What a picture of a case shows: which label maps, which slices, which words. Pure; draws nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.reprs import metric_text, number_text
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import MedotterViewerError, ReadError, UnsupportedTaskError, UsageError
from medotter_viewer.figures.planes import PLANES, Frame, Plane, cut, edge_segments, turned_deg
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.metrics.error_map import WRONG, error_map
from medotter_viewer.metrics.overlap import id_mask
from medotter_viewer.metrics.surface import bounding_box
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.scoring.slices import scored_ids, slice_profile

_TURNED_DEG = 0.5  # an image turned by more against the labels is no longer where it is drawn
_OBLIQUE_DEG = 1.0
_NOTES = 3


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

    def outline(self, part: str, plane: Plane) -> NDArray[np.float64]:
        """Return the (n, 2, 2) edges in mm of one label map in one plane."""
        labels = self.labels[part]
        pixels = cut(labels.data, labels.grid, plane, self.indices[plane.axis])
        if self.ids is not None and part != "native":
            mask = id_mask(pixels, self.ids)
            pixels = mask if self.as_one else np.where(mask, pixels, 0)
        return Frame.of(labels.grid).to_mm(plane, edge_segments(pixels))

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
        If the case has neither image nor labels.
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
    shown = next((part.grid for part in labels.values()), image.grid if image is not None else None)
    if shown is None:
        reasons = "; ".join(dict.fromkeys(f.message for f in case.findings)) or "no file is named"
        raise ReadError(f"case {case.case_id}: nothing to draw: {reasons}")
    all_of_all = region == MACRO and not spec.regions
    return Scene(
        title=f"{case.case_id}   {_region_text(region)}   {_dice_text(case, spec, region)}",
        grid=shown,
        indices=tuple(_worst(case, spec, region, plane.axis, shown) for plane in PLANES),
        labels=labels,
        ids=None if all_of_all else scored_ids(case, spec, region),
        as_one=region != MACRO,
        channel=channel,
        image=image,
        notes=tuple(_notes(case, shown, image)),
    )


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


def _region_text(region: str) -> str:
    return "all regions" if region == MACRO else region


def _dice_text(case: Case, spec: EvalSpec, region: str) -> str:
    """The dice of the title in words; for all regions the mean of those that count."""
    if case.gt is None:
        return "not scored"
    try:
        score = score_case(case, spec, ScoreOptions(metrics=("dice",)))
    except (UnsupportedTaskError, UsageError):
        return ""  # a task that dice says nothing about
    except MedotterViewerError as error:
        return f"not scored: {error}"
    if score.status == "missing_prediction":
        return "no prediction"
    if score.status == "error":
        return "not scored"
    if region != MACRO:
        dice = score.regions[region].metrics["dice"]
        words = metric_text("dice", dice)
        return f"dice {words}" if dice.status in ("ok", "cap") else words
    values = [v for r in score.regions.values() if (v := r.metrics["dice"].value) is not None]
    if not values:
        return "not labelled"
    return f"mean dice {number_text('dice', sum(values) / len(values))} of {len(values)} regions"


def _notes(case: Case, grid: Grid, image: Volume | None) -> list[str]:
    notes = []
    if case.gt is None and case.gt_native is not None:
        notes.append("ground truth in its dataset's own ids: the label remap is not known, nothing is scored")
    if image is None:
        notes.append("no image: labels only")
    if not grid.has_world and grid.unit == "mm":
        notes.append("orientation unknown (the file has no form codes): no letters, positions or sides")
    elif grid.has_world and grid.oblique_deg > _OBLIQUE_DEG:
        notes.append(f"oblique by {grid.oblique_deg:.1f} deg: shown along its own axes")
    if image is not None and grid.has_world and (turned := turned_deg(grid, image.grid)) > _TURNED_DEG:
        notes.append(f"image turned by {turned:.1f} deg against the labels: only its centre is drawn where it lies")
    grave = list(dict.fromkeys(f.message for f in case.findings if f.severity != "info"))
    notes += grave[:_NOTES]
    if len(grave) > _NOTES:
        notes.append(f"and {len(grave) - _NOTES} more findings")
    return notes
