"""What the layers of a case should be: a pure function from a case and options to frozen descriptions.

Nothing here knows napari; `display` writes what differs. The only place that reorders axes, and it makes views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import IntArray, LabelMap
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.core.volume import Volume
from medotter_viewer.core.windows import default_limits, has_hu, limits, value_range
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.metrics.error_map import FN, FP, TP, WRONG
from medotter_viewer.scoring.slices import scored_ids
from medotter_viewer.ui import colors
from medotter_viewer.ui.derived import CompactView, ErrorView, RegionView
from medotter_viewer.ui.options import MODES as MODES
from medotter_viewer.ui.options import OverlayMode as OverlayMode
from medotter_viewer.ui.options import ShowOptions as ShowOptions

IMAGE_PREFIX = "image:"
_LARGEST_DRAWN_ID = 65535  # napari's look-up of colours for larger ids needs a compiler
_MANY_IDS = 4096  # above this the ids that occur are looked up one by one


@dataclass(frozen=True, slots=True, eq=False)
class LayerSpec:
    """What one layer should be.

    Parameters
    ----------
    role : str
        ``image:<channel>``, ``error``, ``gt``, ``second`` or ``pred``.
    name : str
        As shown in the layer list.
    data : (i, p, l) array
        In displayed order, a view wherever possible.
    scale, translate : tuple of float
        mm per step, and mm of the first voxel's centre, along I, P, L.
    visible : bool
        Whether it is drawn.
    opacity : float
        0 to 1.
    rgb : bool
        Of an image: whether a last axis of `data` holds red, green and blue.
    contrast_limits, limits_range : tuple of float or None
        Of an image: black and white, and how far they can be moved.
    color_dict : mapping or None
        Of labels: id to colour, with the keys None (any other id) and 0.
    contour : int
        Of labels: width of the outline in voxels; 0 fills.
    editable : bool
        Whether it may be painted on: its data are then the session's working copy.
    names : mapping of int to str
        Of labels: what an id is called under the pointer.
    """

    role: str
    name: str
    data: Any
    scale: tuple[float, ...]
    translate: tuple[float, ...]
    visible: bool
    opacity: float = 1.0
    rgb: bool = False
    contrast_limits: tuple[float, float] | None = None
    limits_range: tuple[float, float] | None = None
    color_dict: colors.ColorDict | None = None
    contour: int = 0
    editable: bool = False
    names: Mapping[int, str] = field(default_factory=dict)

    @property
    def is_image(self) -> bool:
        """Whether this is an image rather than labels."""
        return self.color_dict is None


def specs(
    case: Case,
    spec: EvalSpec,
    options: ShowOptions | None = None,
    *,
    pred_data: IntArray | None = None,
    second: LabelMap | None = None,
) -> list[LayerSpec]:
    """Return the layers of a case from the lowest to the topmost; a role the case lacks is not there.

    Parameters
    ----------
    case : Case
        As read.
    spec : EvalSpec
        Regions and label space.
    options : ShowOptions, optional
        What is looked at.
    pred_data : (i, j, k) ndarray of int, optional
        The working copy of the prediction, file-axis order: shown instead of the case's own and may be painted on.
    second : LabelMap, optional
        A second model's prediction, on the same grid.

    Returns
    -------
    list of LayerSpec
        Images, error map, ground truth, second prediction, prediction.
    """
    options = options or ShowOptions()
    pred = case.pred
    if pred is not None and pred_data is not None:
        pred = LabelMap(pred_data, pred.grid)
    found = [_image(name, volume, case, options) for name, volume in case.channels.items()]
    # Under contours, too: outlines of one colour hide that two organs were taken for each other.
    tinted = options.mode == "contour" and not options.native and not spec.is_instances
    wrong = options.mode == "error" or (tinted and not _is_solo(options))
    judged = second if options.of_second else pred
    if wrong and case.gt is not None and judged is not None:
        found.append(_errors(case, case.gt, judged, spec, options))
    native = options.native or case.gt is None
    gt = case.gt_native if native else case.gt
    if gt is not None:
        other = pred is not None or second is not None
        found.append(_labels("gt", case, gt, spec, options, native=native, other=other))
    if second is not None:
        found.append(_labels("second", case, second, spec, options, native=False, other=True))
    if pred is not None:
        shown = _labels(
            "pred", case, pred, spec, options, native=False, other=gt is not None, edit=pred_data is not None
        )
        found.append(shown)
    return found


def label_ids(spec: EvalSpec) -> list[int]:
    """Return the ids that a prediction may hold, without 0; empty where neither label space nor regions say."""
    ids = {i for ids in spec.regions.values() for i in ids} | (spec.label_space or set())
    return sorted(ids - {0})


def label_names(spec: EvalSpec) -> dict[int, str]:
    """Return for every id the smallest region that holds it, the first of equals."""
    names: dict[int, str] = {}
    for name, ids in sorted(spec.regions.items(), key=lambda item: len(item[1])):
        for label in ids:
            names.setdefault(label, name)
    return names


def _placed(grid: Grid, data: NDArray[Any]) -> dict[str, Any]:
    """Data in displayed order and where they lie."""
    order = display_order(grid)
    if data.dtype == np.bool_:
        data = data.view(np.uint8)
    elif data.dtype == np.float64:
        data = data.astype(np.float32)
    return {"data": order.apply(data), "scale": order.scale, "translate": order.translate}


def _image(channel: str, volume: Volume, case: Case, options: ShowOptions) -> LayerSpec:
    shown = options.channel if options.channel in case.channels else next(iter(case.channels))
    low_high = default_limits(volume, options.modality)
    if options.window is not None and has_hu(volume, options.modality):
        low_high = limits(options.window)
    elif channel in options.relative and not volume.rgb and not has_hu(volume, options.modality):
        start, extent = low_high[0], low_high[1] - low_high[0]
        low, high = options.relative[channel]
        low_high = (start + low * extent, start + high * extent)
    if options.limits is not None and channel == shown and not volume.rgb:
        low_high = options.limits
    low, high = value_range(volume)
    return LayerSpec(
        role=IMAGE_PREFIX + channel,
        name=channel,
        visible=channel == shown,
        rgb=volume.rgb,
        contrast_limits=low_high,
        limits_range=(min(low, low_high[0]), max(high, low_high[1])),
        **_placed(volume.grid, volume.data),
    )


def _errors(case: Case, gt: LabelMap, pred: LabelMap, spec: EvalSpec, options: ShowOptions) -> LayerSpec:
    placed = _placed(gt.grid, gt.data)
    objects = spec.is_instances
    ids = tuple(scored_ids(case, spec, options.region)) if spec.regions and not objects else None
    placed["data"] = ErrorView(placed["data"], _placed(pred.grid, pred.data)["data"], ids, objects or _is_solo(options))
    return LayerSpec(
        role="error",
        name="errors",
        visible="error" not in options.hidden,
        color_dict=colors.error_colors(only_wrong=options.mode == "contour"),
        names={TP: "right", FN: "missed", FP: "invented", WRONG: "wrong label"},
        **placed,
    )


def _labels(
    role: Literal["gt", "pred", "second"],
    case: Case,
    labels: LabelMap,
    spec: EvalSpec,
    options: ShowOptions,
    *,
    native: bool,
    other: bool,
    edit: bool = False,
) -> LayerSpec:
    called = {"gt": "ground truth", "pred": "prediction", "second": "second prediction"}
    name = called[role] + (" (native ids)" if native else "")
    filled = options.mode == "fill" and (role == "gt" or not other)
    region = _region_ids(case, labels, spec, options, native=native)
    placed = _placed(labels.grid, labels.data)
    names = {} if native else label_names(spec)
    if region is not None and len(region) > 1 and options.joined and options.mode in ("contour", "fill"):
        placed["data"], names, edit = RegionView(placed["data"], region), {region[0]: str(options.region)}, False
    color_dict = _colors(role, labels, spec, options, region, native=native)
    if max(i for i in color_dict if i is not None) > _LARGEST_DRAWN_ID:
        view = CompactView(placed["data"], tuple(sorted(i for i in color_dict if i)))
        placed["data"], edit = view, False
        color_dict = {None: color_dict[None], 0: color_dict[0], **{k: color_dict[i] for k, i in view.numbered()}}
        names = {k: names.get(i, f"id {i}") for k, i in view.numbered()}
    return LayerSpec(
        role=role,
        name=name,
        visible=options.mode in ("contour", "fill") and role not in options.hidden,
        opacity=0.35 if filled else 1.0,
        color_dict=color_dict,
        contour=0 if filled else max(1, options.contour_width // (1 if role == "gt" else 2)),
        editable=edit,
        names=names,
        **placed,
    )


def _region_ids(
    case: Case, labels: LabelMap, spec: EvalSpec, options: ShowOptions, *, native: bool
) -> tuple[int, ...] | None:
    """Ids of the region that is shown alone, as they stand in `labels`; None where all are shown."""
    if options.region is None or options.region == MACRO or spec.is_instances:
        return None
    ids = set(spec.regions[options.region]) - {0}
    remap = case.entry.remap
    if native and remap is not None:
        return tuple(i for i in _ids_of(labels.data) if remap.target(i) in ids)
    return tuple(sorted(ids))


def _colors(
    role: str, labels: LabelMap, spec: EvalSpec, options: ShowOptions, region: tuple[int, ...] | None, *, native: bool
) -> dict[int | None, colors.Rgba]:
    accent = {"gt": colors.GT_ACCENT, "pred": colors.PRED_ACCENT, "second": colors.SECOND_ACCENT}[role]
    if region is not None:
        return colors.accent_colors(region, accent)
    objects = spec.is_instances  # each id is an object with a colour of its own
    ids = ([] if native or objects else label_ids(spec)) or _ids_of(labels.data)
    if role == "second" or (role == "pred" and options.mode == "contour"):
        return colors.accent_colors(ids, accent, unknown=colors.LOUD)
    return colors.label_colors(ids)


def _is_solo(options: ShowOptions) -> bool:
    return options.region is not None and options.region != MACRO


def _ids_of(data: IntArray) -> list[int]:
    """Ids up to the highest; those that occur where that would be many."""
    highest = int(data.max(initial=0))
    if highest <= _MANY_IDS:
        return list(range(1, highest + 1))
    return [int(i) for i in np.unique(data) if i != 0]
