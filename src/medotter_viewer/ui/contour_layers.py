"""Layers of arrays for cases without arrays: contours as masks, and an empty ground under what has no image. Pure."""

from __future__ import annotations

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.metrics.error_map import FN, FP, TP
from medotter_viewer.ui import colors
from medotter_viewer.ui.derived import ErrorView
from medotter_viewer.ui.layers import LayerSpec
from medotter_viewer.ui.options import ShowOptions
from medotter_viewer.ui.placing import Placed

GROUND = "ground"


def contour_specs(case: Case, placed: Placed, options: ShowOptions) -> list[LayerSpec]:
    """Return the layers that stand in for missing arrays, the lowest first; none for a case of images and label maps.

    Ground truth drawn as contours is filled, or compared with the prediction pixel by pixel, on the grid of the
    slices; pixels count by their centres, scores by exact areas.
    """
    found = []
    if not case.channels and case.grid is None and placed.grid is not None:
        order = display_order(placed.grid)
        shape = tuple(placed.grid.shape[a] for a in order.axes)
        ground = np.broadcast_to(np.uint8(0), shape)  # one byte, however large
        found.append(
            LayerSpec(
                GROUND,
                "no image",
                ground,
                order.scale,
                order.translate,
                visible=True,
                contrast_limits=(0.0, 1.0),
                limits_range=(0.0, 1.0),
            )
        )
    gt, pred = placed.masks.get("gt"), placed.masks.get("pred")
    side = placed.gt or placed.pred
    if side is None or not placed.masks:
        return found
    where = {"scale": side.order.scale, "translate": side.order.translate}
    if options.mode == "error" and gt is not None and pred is not None:
        found.append(
            LayerSpec(
                "error",
                "errors",
                ErrorView(gt, pred, None, True),  # type: ignore[arg-type]
                visible="error" not in options.hidden,
                color_dict=colors.error_colors(),
                names={TP: "right", FN: "missed", FP: "invented"},
                **where,  # type: ignore[arg-type]
            )
        )
    filled = gt if gt is not None else pred
    role, name, color = (
        ("gt", "ground truth", colors.GT_ACCENT) if gt is not None else ("pred", "prediction", colors.PRED_ACCENT)
    )
    if options.mode == "fill":
        found.append(
            LayerSpec(
                role,
                name,
                filled,
                visible=role not in options.hidden,
                opacity=0.35,
                color_dict=colors.accent_colors([1], color),
                names={1: "target"},
                **where,  # type: ignore[arg-type]
            )
        )
    return found
