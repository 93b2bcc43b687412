"""How well vertebrae are named and placed: points of ground truth against predicted ones, in mm.

Two rules decide whether a vertebra is identified, because the text of the task and the organisers' code disagree; both
are always computed:

``all_gt`` (text)
    Of ALL points of the ground truth its own is the nearest to the predicted one, and less than 20 mm away.
``common`` (official code)
    Of the points of labels that are on both sides its own is the nearest, and at most 20 mm away. A vertebra that was
    not predicted does not compete.

References
----------
Glocker et al., MICCAI 2012; task page of VerSe'20; anjany/verse, ``utils/eval_utilities.py`` (``get_hits``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import dist, fsum, isfinite

from medotter_viewer.core.landmarks import CANDIDATES, MAX_DISTANCE_MM, Candidates, Point
from medotter_viewer.core.vertebra_names import ANATOMICAL_ORDER, L6, T13, in_anatomical_order, is_scored, vertebra_name
from medotter_viewer.errors import MetricInputError

Points = Mapping[int, Point]
_DIGITS = 9  # of a mm: affine arithmetic must not decide what "exactly 20 mm" and "equally far" are


@dataclass(frozen=True, slots=True)
class VertebraMatch:
    """One vertebra of ground truth, prediction or both.

    Parameters
    ----------
    label : int
        VerSe label.
    gt, pred : (x, y, z) or None
        Points in mm; None where that side has none.
    distance_mm : float or None
        Between the two; None unless both are there.
    nearest : mapping of {"all_gt", "common"} to int or None
        Label of the competing ground-truth point nearest to the predicted one, the lowest on ties.
    hit : mapping of {"all_gt", "common"} to bool or None
        Whether it is identified; None for an extra vertebra, which the ground truth does not have.
    max_distance_mm : float
        Distance the hits were decided by.
    """

    label: int
    gt: Point | None
    pred: Point | None
    distance_mm: float | None
    nearest: Mapping[Candidates, int | None]
    hit: Mapping[Candidates, bool | None]
    max_distance_mm: float = MAX_DISTANCE_MM

    def why_not(self, candidates: Candidates) -> str | None:
        """Return why it is no hit: missed, extra, nearer to another vertebra, too far away; None for a hit."""
        nearest = self.nearest[candidates]
        if self.hit[candidates]:
            return None
        if self.pred is None:
            return "missed"
        if self.gt is None:
            return "extra"
        if nearest is not None and nearest != self.label:
            return f"nearer to {vertebra_name(nearest)}"
        limit = f"{self.max_distance_mm:g} mm"
        return f"{limit} or farther" if candidates == "all_gt" else f"farther than {limit}"


@dataclass(frozen=True, slots=True)
class VertebraComparison:
    """Points of one scan, ground truth against prediction.

    Parameters
    ----------
    matches : mapping of int to VertebraMatch
        Every scored vertebra of either side, from the head to the feet.
    level_shift : int or None
        By how many levels the predicted labels must be moved towards the feet to fit; see `level_shift`.
    not_scored : tuple of int
        Labels of either side that VerSe does not score (sacrum 26, coccyx 27, above 28).
    """

    matches: Mapping[int, VertebraMatch]
    level_shift: int | None = None
    not_scored: tuple[int, ...] = ()

    def _labels(self, has: Callable[[VertebraMatch], bool]) -> tuple[int, ...]:
        return tuple(label for label, match in self.matches.items() if has(match))

    @property
    def n_gt(self) -> int:
        """Scored vertebrae of the ground truth: the denominator of every rate."""
        return len(self._labels(lambda m: m.gt is not None))

    @property
    def n_pred(self) -> int:
        """Scored vertebrae of the prediction."""
        return len(self._labels(lambda m: m.pred is not None))

    @property
    def missing(self) -> tuple[int, ...]:
        """Vertebrae that were not predicted."""
        return self._labels(lambda m: m.pred is None)

    @property
    def extra(self) -> tuple[int, ...]:
        """Predicted vertebrae that the ground truth does not have; no rate counts them."""
        return self._labels(lambda m: m.gt is None)

    @property
    def swapped(self) -> tuple[tuple[int, int], ...]:
        """Pairs of vertebrae each predicted where the other is."""
        nearest = {label: m.nearest["all_gt"] for label, m in self.matches.items() if m.distance_mm is not None}
        places = {label: place for place, label in enumerate(self.matches)}
        return tuple(
            (one, other)
            for one, other in nearest.items()
            if other is not None and places[one] < places[other] and nearest.get(other) == one
        )

    @property
    def d_mean(self) -> float | None:
        """Mean distance in mm of the vertebrae on both sides; None where there is none. A missed one is no 0 mm."""
        found = [m.distance_mm for m in self.matches.values() if m.distance_mm is not None]
        return fsum(found) / len(found) if found else None

    def hits(self, candidates: Candidates) -> tuple[int, ...]:
        """Return the identified vertebrae."""
        return self._labels(lambda m: m.hit[candidates] is True)

    def id_rate(self, candidates: Candidates) -> float | None:
        """Return the identification rate, hits over vertebrae of the ground truth, 0..1; None without any."""
        return len(self.hits(candidates)) / self.n_gt if self.n_gt else None


def compare_vertebrae(gt: Points, pred: Points, *, max_distance_mm: float = MAX_DISTANCE_MM) -> VertebraComparison:
    """Return which vertebrae are identified, and how far off they are.

    Parameters
    ----------
    gt, pred : mapping of int to (x, y, z)
        Label to point in mm, both in one frame. Either may be empty.
    max_distance_mm : float
        Largest distance of a hit.

    Returns
    -------
    VertebraComparison
        Rates are None when `gt` has no scored vertebra, `d_mean` is None when no label is on both sides.

    Raises
    ------
    MetricInputError
        If a coordinate is not finite or the distance not positive.

    Notes
    -----
    Distances are rounded to 1e-9 mm before they are compared. A predicted label that the ground truth does not have
    neither competes nor counts.

    Examples
    --------
    >>> gt, pred = {20: (0, 0, 0), 21: (0, 12, 0)}, {20: (0, 10, 0)}
    >>> found = compare_vertebrae(gt, pred)  # nearer to L2, which was not predicted
    >>> found.id_rate("all_gt"), found.id_rate("common"), found.d_mean, found.missing
    (0.0, 0.5, 10.0, (21,))
    """
    if not 0 < max_distance_mm < float("inf"):
        raise MetricInputError(f"max_distance_mm: got {max_distance_mm}, expected a positive number of mm")
    for side, points in (("gt", gt), ("pred", pred)):
        for label, point in points.items():
            if len(point) != 3 or not all(isfinite(v) for v in point):
                raise MetricInputError(f"{side} {label}: got {point}, expected three finite numbers of mm")
    labels = in_anatomical_order([*gt, *pred])
    gt, pred = ({label: p for label, p in points.items() if is_scored(label)} for points in (gt, pred))
    competitors: dict[Candidates, list[int]] = {"all_gt": sorted(gt), "common": sorted(set(gt) & set(pred))}
    matches = {}
    for label in labels:
        if not is_scored(label):
            continue
        own, found = gt.get(label), pred.get(label)
        nearest = {rule: None if found is None else _nearest(found, gt, of) for rule, of in competitors.items()}
        distance = None if own is None or found is None else dist(own, found)
        hit: dict[Candidates, bool | None] = dict.fromkeys(CANDIDATES, None if own is None else False)
        if distance is not None:
            mm = round(distance, _DIGITS)
            hit["all_gt"] = nearest["all_gt"] == label and mm < max_distance_mm
            hit["common"] = nearest["common"] == label and mm <= max_distance_mm
        matches[label] = VertebraMatch(label, own, found, distance, nearest, hit, max_distance_mm)
    return VertebraComparison(
        matches,
        level_shift(gt, pred, max_distance_mm=max_distance_mm),
        tuple(label for label in labels if not is_scored(label)),
    )


def level_shift(gt: Points, pred: Points, *, max_distance_mm: float = MAX_DISTANCE_MM) -> int | None:
    """Return by how many levels towards the feet all predicted labels must be moved to fit, when that is clear.

    Parameters
    ----------
    gt, pred : mapping of int to (x, y, z)
        Label to point in mm; labels that are not scored are left out.

    Returns
    -------
    int or None
        1 where L1 was called T12, L2 L1 and so on; never 0. None unless it is clear.

    Notes
    -----
    Every shift of the predicted labels along the spine is tried, and its hits by the rule ``all_gt`` are counted. The
    one with the most (on ties the smaller mean distance, then the smaller shift) is reported when it gives at least two
    hits, hits for more than half of the predicted vertebrae, and at least twice the hits of the labels as they are.
    T13 and L6 are levels only where one of the sides has them.

    Examples
    --------
    >>> gt = {20: (0, 0, 0), 21: (0, 30, 0), 22: (0, 60, 0)}
    >>> level_shift(gt, {19: (0, 0, 0), 20: (0, 30, 0), 21: (0, 60, 0)}), level_shift(gt, gt)
    (1, None)
    """
    gt, pred = ({label: p for label, p in points.items() if is_scored(label)} for points in (gt, pred))
    spine = [label for label in ANATOMICAL_ORDER if label not in (T13, L6) or label in gt or label in pred]
    place = {label: i for i, label in enumerate(spine)}
    nearest = {label: _nearest(point, gt, sorted(gt)) for label, point in pred.items()}

    def hits(shift: int) -> list[float]:
        moved = ((label, place[label] + shift) for label in pred)
        own = ((label, spine[i]) for label, i in moved if 0 <= i < len(spine) and nearest[label] == spine[i])
        distances = (round(dist(pred[label], gt[to]), _DIGITS) for label, to in own)
        return [mm for mm in distances if mm < max_distance_mm]

    tried = {shift: hits(shift) for shift in range(1 - len(spine), len(spine))}
    best = min(tried, key=lambda k: (-len(tried[k]), fsum(tried[k]) / max(len(tried[k]), 1), abs(k), k))
    n = len(tried[best])
    clear = n >= 2 and 2 * n > len(pred) and n >= 2 * len(tried[0])
    return best if clear and best else None


def _nearest(point: Point, gt: Points, labels: Iterable[int]) -> int | None:
    """Label of the nearest of some ground-truth points, the first on ties; None of none."""
    return min(labels, key=lambda label: round(dist(point, gt[label]), _DIGITS), default=None)
