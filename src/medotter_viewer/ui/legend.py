"""Which colour stands for what on the canvas. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from medotter_viewer.core.spec import MACRO
from medotter_viewer.ui.colors import (
    FN_ACCENT,
    FP_ACCENT,
    GT_ACCENT,
    OTHER_ACCENT,
    PRED_ACCENT,
    SEED_ACCENT,
    TP_ACCENT,
    WRONG_ACCENT,
)
from medotter_viewer.ui.options import ShowOptions
from medotter_viewer.ui.placing import Placed

Entry = tuple[str, str | None]
"""A word, and the colour it stands for; None for the colours of the labels."""


def legend(show: ShowOptions, *, has_gt: bool, has_pred: bool, objects: bool = False) -> list[Entry]:
    """Return what is drawn in which colour.

    Parameters
    ----------
    show : ShowOptions
        How the case is looked at.
    has_gt, has_pred : bool
        What the case has.
    objects : bool
        Whether ids are objects rather than labels: then none is wrong, and each has its own colour.

    Examples
    --------
    >>> legend(ShowOptions(region="liver"), has_gt=True, has_pred=True)
    [('ground truth', '#00D3FF'), ('prediction', '#FF8C1A')]
    """
    alone = show.region is not None and show.region != MACRO and not objects
    shown = [
        role
        for role, there in (("gt", has_gt), ("pred", has_pred))
        if there and role not in show.hidden and show.mode != "off"
    ]
    if show.mode == "error":
        if not (has_gt and has_pred) or "error" in show.hidden:
            return []
        wrong: list[Entry] = [] if alone or objects else [("wrong label", WRONG_ACCENT)]
        return [("right", TP_ACCENT), ("missed (FN)", FN_ACCENT), ("invented (FP)", FP_ACCENT), *wrong]
    found: list[Entry] = []
    if "gt" in shown:
        found.append(("ground truth", GT_ACCENT if alone else None))
    if "pred" in shown:
        found.append(("prediction", PRED_ACCENT if alone or show.mode == "contour" else None))
    if len(found) == 2 and show.mode == "contour" and not (alone or objects or show.native):
        found.append(("wrong label", WRONG_ACCENT))
    return found


def vector_legend(placed: Placed, show: ShowOptions) -> list[Entry]:
    """Return what contours, points and lines are drawn in which colour."""
    found: list[Entry] = []
    if show.mode == "off":
        return found
    for role, points, word in (("gt", placed.gt_points, "ground truth"), ("pred", placed.pred_points, "predicted")):
        if points and role not in show.hidden:
            found.append((f"{word} points", GT_ACCENT if role == "gt" else PRED_ACCENT))
    if any(not hit for label, hit in placed.hits.items() if label in placed.gt_points and label in placed.pred_points):
        found += [("not identified", WRONG_ACCENT)] * (not show.hidden & {"gt", "pred"})
    if placed.masks.keys() >= {"gt", "pred"} and show.mode == "error":
        wrong: list[Entry] = [("right", TP_ACCENT), ("missed (FN)", FN_ACCENT), ("invented (FP)", FP_ACCENT)]
        found += [] if "error" in show.hidden else wrong
        found += [("prediction", PRED_ACCENT)] * (show.editing and "pred" not in show.hidden)
    else:
        outlined = show.mode in ("contour", "fill")
        for role, side, entry in (
            ("gt", placed.gt, ("ground truth", GT_ACCENT)),
            ("pred", placed.pred, ("prediction", PRED_ACCENT)),
        ):
            found += [entry] * (outlined and side is not None and bool(side.rings) and role not in show.hidden)
    found += [("seed", SEED_ACCENT)] * bool(len(placed.seeds) and not {"gt", "pred"} <= show.hidden)
    found += [("other structures", OTHER_ACCENT)] * (show.others and placed.others is not None)
    return found


def merged(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries with those of one colour on one line.

    Examples
    --------
    >>> merged([("prediction", "#FF8C1A"), ("ground truth", None), ("predicted points", "#FF8C1A")])
    [('prediction, predicted points', '#FF8C1A'), ('ground truth', None)]
    """
    words: dict[str | None, list[str]] = {}
    for word, color in entries:
        words.setdefault(color, []).append(word)
    return [(", ".join(dict.fromkeys(found)), color) for color, found in words.items()]
