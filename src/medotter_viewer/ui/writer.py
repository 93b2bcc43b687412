"""napari's File > Save Selected Layers, for the contours and points of a review: the whole case, not only a slice.

A layer holds the outlines of the slice that is looked at; what is written is the review's working copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import Origin, Ring, ScanContours
from medotter_viewer.core.findings import errors_of
from medotter_viewer.core.slice_stack import SliceStack
from medotter_viewer.errors import MetricInputError, WriteError
from medotter_viewer.export.landmark_files import export_landmarks
from medotter_viewer.export.polygon_files import export_cases
from medotter_viewer.export.sources_kept import check_not_a_source
from medotter_viewer.geometry.numbered_slices import axial_stack
from medotter_viewer.geometry.placed_rings import PlacedRings, place_rings
from medotter_viewer.scoring.contour_stack import contour_stack
from medotter_viewer.session.review import ReviewSession
from medotter_viewer.ui.drawn_rings import DrawnSlice, edited_rings
from medotter_viewer.ui.window import ReviewWindow, window_of

_BY_HAND: Origin = "edited"
_OFF_SLICE = 0.5  # of a step: farther from its slice a point belongs to another


def write_polygons(path: str, data: Any, attributes: dict[str, Any]) -> list[str]:  # noqa: ARG001 - napari's signature
    """Write predicted contours as a submission, with the table of areas, scores and provenance beside it.

    Parameters
    ----------
    path : str
        ``FILE.csv``.
    data : list of (n, d) ndarray
        Of the layer; not read: the review's own layer holds one slice, and every slice is written.
    attributes : dict
        Of the layer; its name says which it is.

    Returns
    -------
    list of str
        The files.

    Raises
    ------
    WriteError
        Without an open review, for ground truth, and where shapes are no polygons on slices.
    """
    window, case = _open_review()
    layer, role = _layer(window, attributes, kind="contours")
    session = window.session
    region = _region(session)
    if role is None:
        rings = _rings(layer, case)
        origins = {number: (_BY_HAND,) * len(found) for number, found in rings.items()}
        case = replace(
            session.edits.cases().load(case.case_id, region), pred=None, pred_contours=ScanContours(rings, origins)
        )
    else:
        case = session.edits.cases().load(case.case_id, region)
    out = Path(path)
    check_not_a_source((out, out.with_suffix(".scores.csv")), session.source.entries("all"))
    done = export_cases([case], out, spec=session.spec, region=region, as_drawn=True)
    if not done.files:
        raise WriteError("; ".join(finding.message for finding in errors_of(done.findings)))
    window.show_message(f"wrote {out.name}: {done.polygons} polygons of {case.case_id}")
    return [str(file) for file in done.files]


def write_points(path: str, data: Any, attributes: dict[str, Any]) -> list[str]:  # noqa: ARG001 - napari's signature
    """Write the predicted points of the open case as VerSe's centroid JSON, and their provenance beside it.

    Parameters
    ----------
    path : str
        ``FILE.json``.
    data : (n, d) ndarray
        Of the layer; not read: labels are not in it.
    attributes : dict
        Of the layer; its name says which it is.

    Returns
    -------
    list of str
        The files.

    Raises
    ------
    WriteError
        Without an open review, for other points than the prediction's, and where they cannot be written.
    """
    window, _ = _open_review()
    _, role = _layer(window, attributes, kind="points")
    working = window.session.working
    if role is None or working is None:
        raise WriteError(
            f"layer {attributes.get('name')!r}: its points have no vertebra; move those of the layer 'predicted "
            "points' instead, and save that"
        )
    out = Path(path)
    done = export_landmarks(
        working.frozen(),
        out,
        source=working.case,
        unshifted=working.frozen(what_if=False),
        level_shift=working.level_shift,
        entries=window.session.source.entries("all"),
        overwrite=True,
    )
    window.show_message(f"wrote {out.name}: {done.points} points")
    return [str(done.path), str(done.beside)]


# ---------------------------------------------------------------- which layer of which review


def _open_review() -> tuple[ReviewWindow, Case]:
    import napari

    viewer = napari.current_viewer()
    window = None if viewer is None else window_of(viewer)
    case = None if window is None else window.session.case
    if window is None or case is None:
        raise WriteError(
            "no review is open in this window: what scan the layer belongs to is not known; open its folder first "
            "(Plugins > Review a bundle)"
        )
    return window, case


def _layer(window: ReviewWindow, attributes: dict[str, Any], *, kind: str) -> tuple[Any, str | None]:
    """The layer that is saved, and its role if it is the review's own prediction; None for one of the user's."""
    name = attributes.get("name")
    suffix = "rings" if kind == "contours" else "points"
    for role in ("gt", "other", "pred", "seeds"):
        layer = window.looking.vectors.layer(role if role == "seeds" else f"{role}_{suffix}")
        if layer is not None and layer.name == name:
            if role != "pred":
                raise WriteError(f"layer {name!r} is no prediction: {kind} of the prediction are what is written")
            return layer, role
    if name not in window.viewer.layers:
        raise WriteError(f"layer {name!r} is not in the window of the review")
    return window.viewer.layers[name], None


def _region(session: ReviewSession) -> str:
    """The region that polygons belong to."""
    spec = session.spec
    target = None if spec.contours is None else spec.contours.target
    for name in (target, session.region, *(spec.regions if len(spec.regions) == 1 else ())):
        if name in spec.regions and name is not None:
            return name
    raise WriteError(
        f"which of the regions {', '.join(spec.regions) or '(none)'} is meant? Select its row in the table of scores, "
        "or use the Export tab"
    )


# ---------------------------------------------------------------- shapes of the user's


def _rings(layer: Any, case: Case) -> dict[int, list[Ring]]:
    """The shapes of a layer as rings, x, y in mm LPS by slice number."""
    if layer.ndim != 3:
        raise WriteError(f"layer {layer.name!r} has {layer.ndim} axes, expected 3: it does not say on which slice")
    stack = _stack(case)
    placed = place_rings(ScanContours(), stack)
    by_slice: dict[int, tuple[list[Any], list[str]]] = {}
    for place, (shape, kind) in enumerate(zip(layer.data, layer.shape_type, strict=True), 1):
        world = np.array([layer.data_to_world(point) for point in shape])
        shown = (world - placed.order.translate) / np.asarray(placed.order.scale)
        index = _slice_of(shown[:, placed.axis], placed)
        if index is None:
            raise WriteError(
                f"layer {layer.name!r}: shape {place} does not lie on one slice of {case.case_id}; draw it in the "
                "plane of the slices"
            )
        shapes, kinds = by_slice.setdefault(index, ([], []))
        shapes.append(shown)
        kinds.append(str(kind))
    return {_number(stack, index): _on_slice(layer, placed, index, *found) for index, found in by_slice.items()}


def _on_slice(layer: Any, placed: PlacedRings, index: int, shapes: Sequence[Any], kinds: Sequence[str]) -> list[Ring]:
    try:
        rings, n_refused = edited_rings(shapes, kinds, DrawnSlice(placed, index, [], []))
    except MetricInputError as error:
        raise WriteError(f"layer {layer.name!r}: {error}") from error
    if n_refused:
        raise WriteError(
            f"layer {layer.name!r}: {n_refused} shapes on slice {_number(placed.stack, index)} enclose nothing (lines, "
            "or fewer than 3 points): delete them"
        )
    return rings


def _slice_of(shown: Any, placed: PlacedRings) -> int | None:
    """The slice that all points lie on; None where they lie on several, or on none."""
    nearest = round(float(shown[0]))
    if not 0 <= nearest < len(placed.stack) or np.abs(shown - nearest).max() > _OFF_SLICE:
        return None
    return placed.flipped(nearest)


def _stack(case: Case) -> SliceStack:
    stack = contour_stack(case)
    if stack is None and case.grid is not None:
        stack = axial_stack(case.grid)
    if stack is None:
        raise WriteError(f"case {case.case_id}: it has no axial slices that shapes could lie on")
    return stack


def _number(stack: SliceStack, index: int) -> int:
    number = stack.numbers[index]
    if number is None:
        raise WriteError(f"the slice {index + 1} has no number of its own (DICOM's Instance Number)")
    return number
