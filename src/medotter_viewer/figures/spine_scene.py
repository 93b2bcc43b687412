"""What the straightened picture of a spine shows: curve, pixels, points and words. Pure; draws nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.landmarks import Candidates, LandmarkRules, Landmarks, Point
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.vertebra_names import in_anatomical_order, is_scored, vertebra_name
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import LabelError, ReadError, UsageError
from medotter_viewer.figures.planes import edge_segments
from medotter_viewer.geometry.straightened import SpineCurve, spine_curve, straightened_image, straightened_labels
from medotter_viewer.metrics.vertebrae import VertebraComparison, VertebraMatch, compare_vertebrae
from medotter_viewer.scoring.vertebra_points import derived_notes, landmarks_of
from medotter_viewer.scoring.vertebrae import comparison_notes

IN_FRONT_MM, BEHIND_MM = 50.0, 80.0
"""How far the picture reaches to both sides of the curve."""
_BEYOND_MM, _FARTHEST_MM = 30.0, 120.0  # the curve goes on for that much, and for more where points lie there
_ASIDE_MM = 5.0  # to the left or right of the picture's plane, from which on it is said
_NOTES = 5
_WHICH = ("gt", "pred")
Segments = NDArray[np.float64]
_RULES: Mapping[Candidates, str] = {"all_gt": "nearest of all", "common": "nearest of those on both sides"}


@dataclass(frozen=True, slots=True)
class SpinePoint:
    """A labelled point in the picture.

    Parameters
    ----------
    label : int
        VerSe label.
    along_mm, behind_mm : float
        Down the picture, and to its right.
    right_mm : float
        How far the point lies to the patient's right of the picture's plane.
    hit : bool or None
        Whether the vertebra is identified; None where that is not asked.
    text : str
        What is to be said of it beside its name.
    is_wrong : bool
        Whether it is missed, or predicted and not identified.
    """

    label: int
    along_mm: float
    behind_mm: float
    right_mm: float
    hit: bool | None
    text: str = ""
    is_wrong: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SpineScene:
    """What one picture shows.

    Parameters
    ----------
    title, subtitle : str
        Case, and its numbers in words.
    extent : (left, right, bottom, top)
        mm at the outer edges of the pixels; down is along the curve, to the right is behind it.
    image : (n, m) ndarray of float32, or None
        NaN outside the image.
    channel : str
        Name of the image.
    volume : Volume or None
        The image itself, for its window.
    labels : mapping of {"gt", "pred"} to (n, m) ndarray of int
        Label maps, those that are there.
    gt, pred : tuple of SpinePoint
        From the head to the feet.
    on_curve : str
        Whose points the curve goes through: ``ground truth`` or ``prediction``.
    notes : tuple of str
        What to know before trusting the picture.
    """

    title: str
    subtitle: str
    extent: tuple[float, float, float, float]
    image: NDArray[np.float32] | None
    channel: str
    volume: Volume | None
    labels: Mapping[str, NDArray[Any]]
    gt: tuple[SpinePoint, ...]
    pred: tuple[SpinePoint, ...]
    on_curve: str
    notes: tuple[str, ...]

    def outlines(self, side: str) -> Segments:
        """Return the (n, 2, 2) edges between labels of one side, mm to the right and down."""
        left, _, _, top = self.extent
        first_pixel = np.array([left + 0.5, top + 0.5])
        return np.asarray(edge_segments(self.labels[side]) + first_pixel)

    def errors(self) -> list[tuple[SpinePoint, SpinePoint]]:
        """Return the pairs of points of vertebrae on both sides."""
        found = {point.label: point for point in self.pred}
        return [(point, found[point.label]) for point in self.gt if point.label in found]


def make_spine_scene(case: Case, spec: EvalSpec, channel: str | None = None) -> SpineScene:
    """Return what the picture of a case shows.

    Parameters
    ----------
    case, spec
        As for `spine_figure`.
    channel : str, optional
        Which image; None takes the first.

    Raises
    ------
    ReadError
        If neither side has two points or more, or they make no curve from head to feet.
    GridMismatchError
        If image or label maps do not say where they lie.
    UsageError
        If there is no such channel.
    """
    if channel is not None and channel not in case.channels:
        there = ", ".join(case.channels) or "no image that could be read"
        raise UsageError(f"case {case.case_id}: channel: got {channel!r}; the case has {there}")
    channel = channel or next(iter(case.channels), "")
    volume = case.channels.get(channel)
    gt, pred = landmarks_of(case)
    rules = spec.landmarks or LandmarkRules()
    sides = [_scored(side) for side in (gt, pred)]
    curve, on_curve = _curve(case, sides)
    places = curve.grid_world(np.arange(-IN_FRONT_MM, BEHIND_MM + 1))
    maps = {"gt": case.gt, "pred": case.pred}
    labels = {
        side: np.where(np.isin(found, [i for i in np.unique(found).tolist() if is_scored(i)]), found, 0)
        for side, one in maps.items()
        if one is not None
        for found in [straightened_labels(one, places)]
    }
    both = gt is not None and pred is not None
    found = compare_vertebrae(*sides, max_distance_mm=rules.max_distance_mm) if both else None
    notes = derived_notes(gt, pred)
    if found is not None:
        notes += [note for note in comparison_notes(found) if note.severity != "info"]
    words = [note.message for note in notes] + [f.message for f in case.findings if f.severity == "error"]
    words += [] if volume is not None else ["no image: masks and points alone"]
    placed = [_placed(side, curve, found, rules.candidates, which) for side, which in zip(sides, _WHICH, strict=True)]
    if any(abs(point.right_mm) > _ASIDE_MM for side in placed for point in side):
        words.append("R or L and mm: the point lies that far to the patient's right or left of the picture's plane")
    return SpineScene(
        title=case.case_id,
        subtitle=_numbers(found, rules.candidates, gt, pred),
        extent=(-IN_FRONT_MM - 0.5, BEHIND_MM + 0.5, curve.arc_mm[-1] + 0.5, curve.arc_mm[0] - 0.5),
        image=None if volume is None else straightened_image(volume, places),
        channel=channel,
        volume=volume,
        labels=labels,
        gt=placed[0],
        pred=placed[1],
        on_curve=on_curve,
        notes=tuple(dict.fromkeys(words))[:_NOTES],
    )


def _scored(side: Landmarks | None) -> dict[int, Point]:
    """Points of vertebrae, from the head to the feet."""
    points = {} if side is None else side.points_world
    return {i: points[i] for i in in_anatomical_order(points) if is_scored(i)}


def _curve(case: Case, sides: list[dict[int, Point]]) -> tuple[SpineCurve, str]:
    """The curve through the points of the ground truth, else of the prediction, long enough for those of both."""
    names = ("ground truth", "prediction")
    place = next((n for n, side in enumerate(sides) if len(side) > 1), None)
    if place is None:
        counts = ", ".join(f"{name} {len(side)}" for name, side in zip(names, sides, strict=True))
        raise ReadError(
            f"case {case.case_id}: a picture along the spine needs two vertebrae or more on one side, got: {counts}"
        )
    points = list(sides[place].values())
    try:
        curve = spine_curve(points, extension_mm=(_FARTHEST_MM, _FARTHEST_MM))
        every = [point for side in sides for point in side.values()]
        along = curve.local(every)[:, 0]
        first, last = curve.at_mm[0], curve.at_mm[-1]
        ends = (float(first - along.min()) + _BEYOND_MM, float(along.max() - last) + _BEYOND_MM)
        return spine_curve(points, extension_mm=(min(ends[0], _FARTHEST_MM), min(ends[1], _FARTHEST_MM))), names[place]
    except LabelError as error:
        raise ReadError(f"case {case.case_id}: {names[place]}: {error}") from error


def _placed(
    side: Mapping[int, Point],
    curve: SpineCurve,
    found: VertebraComparison | None,
    candidates: Candidates,
    which: str,
) -> tuple[SpinePoint, ...]:
    if not side:
        return ()
    places = curve.local(list(side.values())).tolist()
    out = []
    for (label, _), (along, behind, right) in zip(side.items(), places, strict=True):
        match = None if found is None else found.matches[label]
        text = _words(match, candidates, which)
        if abs(right) > _ASIDE_MM:
            text += f"  {'R' if right > 0 else 'L'} {abs(right):.0f} mm"
        hit = None if match is None else match.hit[candidates]
        wrong = match is not None and (match.pred is None if which == "gt" else hit is False)
        out.append(SpinePoint(label, along, behind, right, hit, text, wrong))
    return tuple(out)


def _words(match: VertebraMatch | None, candidates: Candidates, which: str) -> str:
    """Distance and why it is no hit; of the ground truth only that it is missed."""
    if match is None:
        return ""
    if which == "gt":
        return "missed" if match.pred is None else ""
    distance = "" if match.distance_mm is None else f"{match.distance_mm:.1f} mm"
    return "  ".join(part for part in (distance, match.why_not(candidates)) if part)


def _numbers(
    found: VertebraComparison | None, candidates: Candidates, gt: Landmarks | None, pred: Landmarks | None
) -> str:
    """The rate and the distance in words."""
    if found is None:
        side = "ground truth" if gt is not None else "prediction"
        return f"{side} alone: {len((gt or pred or Landmarks({})).points_world)} points"
    rate = found.id_rate(candidates)
    parts = []
    if rate is not None:
        parts.append(f"identified {len(found.hits(candidates))} of {found.n_gt} ({_RULES[candidates]})")
    parts += [] if found.d_mean is None else [f"mean distance {found.d_mean:.1f} mm"]
    if found.extra:
        parts.append("extra " + ", ".join(vertebra_name(i) for i in found.extra))
    return "   ".join(parts)
