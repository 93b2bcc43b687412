"""What became of every object of one case, and the scores at any IoU threshold, from one table of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.scores import MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.metrics.instances import match_instances
from medotter_viewer.metrics.instances.detection import Detection
from medotter_viewer.metrics.instances.rows import KINDS, Matcher, MatchRows
from medotter_viewer.metrics.instances.table import MatchKind
from medotter_viewer.metrics.instances.touching import touching_pairs
from medotter_viewer.scoring.instances import instance_values

Detail = Literal["", "merge", "split", "merged", "fragment"]
Column = Literal["kind", "gt", "pred", "iou", "gt_area", "pred_area", "loss"]
COLUMNS: tuple[Column, ...] = ("kind", "gt", "pred", "iou", "gt_area", "pred_area", "loss")
CURVE: tuple[float, ...] = tuple(round(0.05 + 0.01 * i, 2) for i in range(91))
"""0.05, 0.06 ... 0.95: the thresholds of a curve."""


@dataclass(frozen=True, slots=True)
class MatchRow:
    """What became of one object, or of one matching pair.

    Parameters
    ----------
    kind : {"tp", "fp", "fn", "merge", "split"}
        ``tp`` is a pair. Without a match, a predicted object is a ``merge`` when more than half of each of two or more
        ground-truth objects lies in it, else ``fp``; a ground-truth object is a ``split`` when two or more predicted
        objects lie in it with more than half of themselves, else ``fn``.
    gt_id, pred_id : int or None
        The object, and the other one of the match; without a match the one of highest IoU on the other side, None where
        nothing overlaps.
    iou : float
        Of the two; 0 without overlap.
    gt_area, pred_area : int or None
        Voxels of the two.
    loss : int
        Voxels that the line costs of the aggregated Jaccard index.
    share : float
        The same as a part of 1: the shares of all lines sum to 1 - AJI.
    others : tuple of int
        Of a merge the ground-truth ids, of a split the predicted ids, also where one of them matches.
    detail : {"", "merge", "split", "merged", "fragment"}
        Of a match whether its prediction covers others, too, or others lie in its ground truth; of ``fn`` whether the
        object is one of a merge (``merged``), of ``fp`` whether it is one of a split (``fragment``).
    """

    kind: MatchKind
    gt_id: int | None
    pred_id: int | None
    iou: float
    gt_area: int | None
    pred_area: int | None
    loss: int
    share: float
    others: tuple[int, ...] = ()
    detail: Detail = ""

    @property
    def is_match(self) -> bool:
        """Whether both objects match."""
        return self.kind == "tp"

    @property
    def is_of_gt(self) -> bool:
        """Whether the line is about a ground-truth object, alone or in a pair."""
        return self.kind in ("tp", "fn", "split")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Scores at one threshold; None where neither side holds an object."""

    threshold: float
    f1: float | None
    pq: float | None


@dataclass(frozen=True, eq=False)
class InstanceMatches:
    """The objects of one case and all that follows from their overlaps.

    Parameters
    ----------
    case_id : str
        Of the case.
    matcher : Matcher
        From the overlaps of both instance masks.
    threshold : float
        The specification's: what the scores are made with.
    empty_structure : mapping
        The specification's rules for empty masks.
    touching : (n, 2) ndarray of int64
        Ids of ground truth that touch, see `touching_pairs`.
    """

    case_id: str
    matcher: Matcher
    threshold: float
    empty_structure: Mapping[str, Mapping[str, float]]
    touching: NDArray[np.int64]

    def detection(self, threshold: float) -> Detection:
        """Return what is found at a threshold from 0 to 1."""
        return self.matcher.detection(threshold)

    def values(self, threshold: float | None = None) -> Mapping[str, MetricValue]:
        """Return f1, dq, sq, pq, aji, aji_plus, tp, fp and fn at a threshold; by default as `score_instances` does.

        Raises
        ------
        MetricInputError
            If the threshold is not from 0 to 1.
        """
        found = self.detection(self.threshold if threshold is None else threshold)
        return instance_values(self.matcher.overlap, found, self._whole, self.empty_structure)

    def rows(self, threshold: float) -> MatchRows:
        """Return a line for every object or matching pair at a threshold from 0 to 1."""
        return self.matcher.rows(threshold)

    def row(self, rows: MatchRows, line: int) -> MatchRow:
        """Return one line of `rows` in words and numbers."""
        overlap, kind = self.matcher.overlap, KINDS[rows.kinds[line]]
        g, p, loss = int(rows.gt[line]), int(rows.pred[line]), int(rows.losses[line])
        detail, others = self._detail(kind, g, p)
        return MatchRow(
            kind,
            int(overlap.gt_ids[g]) if g >= 0 else None,
            int(overlap.pred_ids[p]) if p >= 0 else None,
            float(rows.ious[line]),
            int(overlap.gt_areas[g]) if g >= 0 else None,
            int(overlap.pred_areas[p]) if p >= 0 else None,
            loss,
            self.matcher.losses.share(loss),
            tuple(others),
            detail,
        )

    def order(self, rows: MatchRows, column: Column | None = None, *, descending: bool = True) -> NDArray[np.int64]:
        """Return the lines of `rows` in an order.

        Parameters
        ----------
        rows : MatchRows
            From `rows`.
        column : str, optional
            By what; None puts what has no match first, and of these and of the matches what costs most.
        descending : bool
            Largest first; what is not there comes last. Equal lines stay in the order that None gives.
        """
        ranked = np.lexsort((rows.kinds, -rows.losses, rows.is_match))
        if column is None:
            return ranked
        keys, there = self._keys(rows, column)
        keys, there = keys[ranked], there[ranked]
        return ranked[np.lexsort((-keys if descending else keys, ~there))]

    def line_of(self, rows: MatchRows, object_id: int, *, is_gt: bool) -> int | None:
        """Return the line about an object; None where there is no such object."""
        overlap = self.matcher.overlap
        ids, places, mine = (
            (overlap.gt_ids, rows.gt, rows.of_gt) if is_gt else (overlap.pred_ids, rows.pred, rows.of_pred)
        )
        place = int(np.searchsorted(ids, object_id))
        if place == ids.size or ids[place] != object_id:
            return None
        return int(np.flatnonzero((places == place) & mine)[0])

    def kinds(self, rows: MatchRows) -> tuple[dict[int, MatchKind], dict[int, MatchKind]]:
        """Return what became of each object of ground truth, and of each predicted one, by id."""
        overlap = self.matcher.overlap
        found = []
        for ids, places, mine in (
            (overlap.gt_ids, rows.gt, rows.of_gt),
            (overlap.pred_ids, rows.pred, rows.of_pred),
        ):
            codes = zip(ids[places[mine]].tolist(), rows.kinds[mine].tolist(), strict=True)
            found.append({one: KINDS[code] for one, code in codes})
        return found[0], found[1]

    @cached_property
    def curve(self) -> tuple[CurvePoint, ...]:
        """F1 and PQ at the thresholds of `CURVE`."""
        counted = zip(CURVE, *self.matcher.counts(CURVE), strict=True)
        n_gt, n_pred = self.matcher.overlap.n_gt, self.matcher.overlap.n_pred
        found = [Detection(t, int(tp), n_pred - int(tp), n_gt - int(tp), float(total)) for t, tp, total in counted]
        return tuple(CurvePoint(d.threshold, d.f1, d.pq) for d in found)

    def _detail(self, kind: MatchKind, g: int, p: int) -> tuple[Detail, list[int]]:
        """What else is to be said of an object, and the ids of what it holds; g and p are places in the ids."""
        matcher = self.matcher
        if kind in ("merge", "tp") and matcher.n_covers[p] > 1:
            return ("merge" if kind == "tp" else ""), matcher.covers(p)
        if kind in ("split", "tp") and matcher.n_parts[g] > 1:
            return ("split" if kind == "tp" else ""), matcher.parts(g)
        if kind == "fn" and p >= 0 and matcher.n_covers[p] > 1 and self._id(g, is_gt=True) in matcher.covers(p):
            return "merged", []
        if kind == "fp" and g >= 0 and matcher.n_parts[g] > 1 and self._id(p, is_gt=False) in matcher.parts(g):
            return "fragment", []
        return "", []

    def _id(self, place: int, *, is_gt: bool) -> int:
        overlap = self.matcher.overlap
        return int((overlap.gt_ids if is_gt else overlap.pred_ids)[place])

    @cached_property
    def _whole(self) -> Mapping[str, float | None]:
        """What no threshold changes."""
        from medotter_viewer.metrics.instances import aji, aji_plus

        return {"aji": aji(self.matcher.overlap), "aji_plus": aji_plus(self.matcher.overlap)}

    def _keys(self, rows: MatchRows, column: Column) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What a column is sorted by, and where there is anything."""
        overlap, everywhere = self.matcher.overlap, np.ones(rows.kinds.size, dtype=np.bool_)
        if column in ("gt", "gt_area"):
            values, places = overlap.gt_ids if column == "gt" else overlap.gt_areas, rows.gt
        elif column in ("pred", "pred_area"):
            values, places = overlap.pred_ids if column == "pred" else overlap.pred_areas, rows.pred
        else:
            whole: dict[str, NDArray[Any]] = {"kind": rows.kinds, "iou": rows.ious, "loss": rows.losses}
            return whole[column].astype(np.float64), everywhere
        there = places >= 0
        found = np.zeros(places.size)
        found[there] = values[places[there]]
        return found, there


def instance_matches(case: Case, spec: EvalSpec) -> InstanceMatches | None:
    """Return the matches of a case; None where a side is missing.

    Parameters
    ----------
    case : Case
        With `gt` and `pred` on one grid.
    spec : EvalSpec
        Threshold and rules for empty masks.

    Raises
    ------
    MetricInputError
        If an id is negative.
    """
    if case.gt is None or case.pred is None:
        return None
    matcher = Matcher(match_instances(case.gt.data, case.pred.data))
    matcher.prepare()
    found = InstanceMatches(
        case.case_id, matcher, spec.iou_threshold, spec.empty_structure, touching_pairs(case.gt.data)
    )
    _ = found.curve, found.values()  # here, and not where somebody waits for them
    return found
