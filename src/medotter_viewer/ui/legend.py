"""Which colour stands for what on the canvas. Pure."""

from __future__ import annotations

from medotter_viewer.core.spec import MACRO
from medotter_viewer.ui.colors import FN_ACCENT, FP_ACCENT, GT_ACCENT, PRED_ACCENT, TP_ACCENT, WRONG_ACCENT
from medotter_viewer.ui.options import ShowOptions

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
