"""Draws the axial, coronal and sagittal slice in which a case is worst."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.accents import GT_ACCENT, PRED_ACCENT, WRONG_ACCENT
from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.windows import Window, has_hu, window_of_task
from medotter_viewer.errors import MissingDependencyError
from medotter_viewer.figures.layout import arrange
from medotter_viewer.figures.planes import Box, Frame, Plane, bar_length_mm, cut, position_text, window_limits
from medotter_viewer.figures.scene import Scene, make_scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLE: dict[str, dict[str, Any]] = {  # the prediction is thinner and on top: where both run together, both are seen
    "gt": {"label": "ground truth", "color": GT_ACCENT, "linewidth": 2.6, "zorder": 3},
    "native": {"label": "ground truth (native ids)", "color": GT_ACCENT, "linewidth": 2.6, "zorder": 3},
    "pred": {"label": "prediction", "color": PRED_ACCENT, "linewidth": 1.2, "zorder": 4},
}
_NARROWEST, _MARGIN, _HEAD, _FOOT, _LINE = 6.5, 0.1, 0.32, 0.36, 0.19  # inches
_LETTER = 0.56  # mean width of a letter, in sizes of its font: titles of narrow panes must not meet
_SMALLEST = 6.0  # points: below that nobody reads a title, and it may run into the next pane


def triplet(
    case: Case,
    spec: EvalSpec,
    *,
    region: str | None = None,
    window: tuple[float, float] | str | None = None,
    channel: str | None = None,
    margin_mm: float | None = None,
    modality: str | None = None,
) -> Figure:
    """Return a picture of a case: the axial, coronal and sagittal slice with the largest error area.

    Seen as radiologists do: patient right at screen left, anterior up; the sagittal from the patient's left.
    All planes have one scale in mm; contours run along voxel edges; with several regions, voxels that carry another
    label than the ground truth's are filled. Nothing is resampled: an image on another
    grid than the labels is drawn where its file says, by its nearest slice. Ticks at the rim mark the other planes.
    Of a scan with contours one slice is drawn, that with the largest error area, with the contours of both sides.

    Parameters
    ----------
    case : Case
        Anything of it may be missing; what that means stands below the picture.
    spec : EvalSpec
        Regions and rules.
    region : str, optional
        Whose contours and worst slices; ``macro_avg`` takes all regions. None takes the headline's region.
    window : (width, level) or str, optional
        Grey window, or its name: soft tissue, lung, bone, brain, liver, mediastinum. None takes what suits the task
        for CT (lung for contours of lung scans, bone for vertebrae, else soft tissue), else what suits the image.
    channel : str, optional
        Which image; None takes the first.
    margin_mm : float, optional
        Show only the region and this much around it; None shows everything.
    modality : str, optional
        What the task says its images are, e.g. ``CT``.

    Raises
    ------
    UsageError
        If region, channel or window are not known.
    ReadError
        If the case has neither image nor labels nor contours.
    MissingDependencyError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("pictures need matplotlib: pip install 'medotter-viewer[notebook]'") from error

    scene = make_scene(case, spec, region, channel)
    if window is None and scene.image is not None and has_hu(scene.image, modality):
        window = window_of_task(spec.task_type).name
    limits = None if scene.image is None else window_limits(scene.image, window, modality)
    planes = scene.planes
    boxes = [_box(scene, plane, margin_mm) for plane in planes]
    layout = arrange(boxes)
    width = max(layout.width, _NARROWEST) + 2 * _MARGIN
    notes = [line for note in scene.notes for line in textwrap.wrap(note, int(13 * width))]
    foot = _FOOT + _LINE * len(notes)
    height = _HEAD + layout.height + foot
    figure = Figure(figsize=(width, height), facecolor="white")
    bar_mm = bar_length_mm(min(right - left for left, right, _, _ in boxes))
    for plane, box, (left, top, wide, tall) in zip(planes, boxes, layout.panes, strict=True):
        bottom = height - _HEAD - top - tall
        axes = figure.add_axes(((left + _MARGIN) / width, bottom / height, wide / width, tall / height))
        _draw(axes, scene, plane, box, limits)
        _scale_bar(axes, box, bar_mm)
    margin = _MARGIN / width
    figure.text(margin, 1 - 0.08 / height, scene.title, va="top", fontsize=12, parse_math=False)
    _legend(figure, scene, limits, margin, (foot - _FOOT / 2) / height)
    for number, line in enumerate(notes):
        y = (foot - _FOOT - number * _LINE) / height
        figure.text(margin, y, line, va="top", fontsize=8.5, color="#8A3B00", parse_math=False)
    return figure


def _box(scene: Scene, plane: Plane, margin_mm: float | None) -> Box:
    """The mm that are shown: everything, or the region with a margin."""
    left, right, bottom, top = Frame.of(scene.grid).extent(plane)
    if scene.image is not None:
        other = Frame.of(scene.image.grid).extent(plane)
        left, right = min(left, other[0]), max(right, other[1])
        bottom, top = max(bottom, other[2]), min(top, other[3])
    if margin_mm is not None and (around := scene.region_box_mm()) is not None:
        (low_x, high_x), (low_y, high_y) = around[plane.across], around[plane.down]
        left, right = max(left, low_x - margin_mm), min(right, high_x + margin_mm)
        bottom, top = min(bottom, high_y + margin_mm), max(top, low_y - margin_mm)
    return left, right, bottom, top


def _draw(axes: Axes, scene: Scene, plane: Plane, box: Box, limits: tuple[float, float] | None) -> None:
    from matplotlib.collections import LineCollection

    left, right, bottom, top = box
    frame = Frame.of(scene.grid)
    index = scene.indices[plane.axis]
    position = frame.position_mm(plane.axis, index)
    axes.set(facecolor="black", xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)
    if scene.image is not None and limits is not None:
        of_image = Frame.of(scene.image.grid)
        nearest = of_image.nearest_slice(plane.axis, position)
        if nearest is None:
            _write(axes, 0.5, 0.5, "no image here", ha="center", va="center")
        else:
            pixels = cut(scene.image.data, scene.image.grid, plane, nearest)
            extent = of_image.extent(plane)
            axes.imshow(pixels, cmap="gray", vmin=limits[0], vmax=limits[1], extent=extent, origin="upper")
    wrong = scene.wrong_label(plane)
    if wrong is not None and wrong.any():
        _fill(axes, wrong, frame.extent(plane))
    for part in scene.parts:
        style = {name: value for name, value in _STYLE[part].items() if name != "label"}
        axes.add_collection(
            LineCollection(list(scene.outline(part, plane)), snap=not scene.rings, capstyle="projecting", **style),
            autolim=False,
        )
    axes.set(xlim=(left, right), ylim=(bottom, top))
    title = f"{plane.name}   slice {index + 1}/{frame.shape[plane.axis]}{scene.number_text(plane)}"
    if scene.grid.has_world:
        title += f"   {position_text(plane.axis, position)}"
        for letter, (x, y) in zip(plane.letters, ((0.015, 0.5), (0.985, 0.5), (0.5, 0.985), (0.5, 0.015)), strict=True):
            ha, va = {0.015: "left", 0.985: "right"}.get(x, "center"), {0.015: "bottom", 0.985: "top"}.get(y, "center")
            _write(axes, x, y, letter, ha=ha, va=va, fontsize=12, fontweight="bold")
    inches = axes.get_position().width * axes.figure.get_figwidth()  # type: ignore[union-attr]
    fits = inches * 72 / (_LETTER * len(title))
    axes.set_title(title, fontsize=max(_SMALLEST, min(9.5, fits)), loc="left", pad=4)
    _mark_other_planes(axes, scene, plane, box)


def _fill(axes: Axes, mask: NDArray[np.bool_], extent: Box) -> None:
    """Colour the pixels of a mask, letting the image shine through."""
    from matplotlib.colors import to_rgba

    pixels = np.zeros((*mask.shape, 4))
    pixels[mask] = to_rgba(WRONG_ACCENT, 0.45)
    axes.imshow(pixels, extent=extent, origin="upper", interpolation="nearest", zorder=2)


def _mark_other_planes(axes: Axes, scene: Scene, plane: Plane, box: Box) -> None:
    """Short ticks at the rim where the other planes cut this one."""
    frame = Frame.of(scene.grid)
    left, right, bottom, top = box
    tick = 0.03 * min(right - left, bottom - top)
    x = frame.position_mm(plane.across, scene.indices[plane.across])
    y = frame.position_mm(plane.down, scene.indices[plane.down])
    style: dict[str, Any] = {"color": "white", "linewidth": 0.9, "zorder": 2, "alpha": 0.8}
    axes.vlines([x, x], [top, bottom - tick], [top + tick, bottom], **style)
    axes.hlines([y, y], [left, right - tick], [left + tick, right], **style)


def _scale_bar(axes: Axes, box: Box, length_mm: float) -> None:
    """One length in all panes: they have one scale."""
    left, right, bottom, top = box
    inset = 0.03 * min(right - left, bottom - top)
    x, y = right - inset, bottom - inset
    style: dict[str, Any] = {"solid_capstyle": "butt", "zorder": 5, "path_effects": _rim(4)}
    axes.plot([x - length_mm, x], [y, y], color="white", linewidth=2, **style)
    axes.annotate(
        f"{length_mm:g} mm",
        (x - length_mm / 2, y),
        xytext=(0, 3),
        textcoords="offset points",
        color="white",
        fontsize=8.5,
        ha="center",
        zorder=6,
        path_effects=_rim(),
    )


def _write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    """White letters with a dark rim: legible on any grey."""
    axes.text(x, y, text, transform=axes.transAxes, color="white", zorder=6, path_effects=_rim(), **style)


def _rim(width: float = 2) -> list[Any]:
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="black")]


def _legend(figure: Figure, scene: Scene, limits: tuple[float, float] | None, margin: float, middle: float) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], **{k: v for k, v in _STYLE[part].items() if k != "zorder"}) for part in scene.parts]
    if any((wrong := scene.wrong_label(plane)) is not None and wrong.any() for plane in scene.planes):
        lines.append(Line2D([], [], color=WRONG_ACCENT, linewidth=7, alpha=0.6, label="wrong label"))
    if lines:
        place = {"loc": "center left", "bbox_to_anchor": (margin, middle), "borderaxespad": 0, "borderpad": 0}
        figure.legend(handles=lines, ncols=len(lines), frameon=False, fontsize=9.5, **place)
    if limits is not None:
        text = f"{scene.channel}   {Window.from_limits(*limits).text}"
        figure.text(1 - margin, middle, text, ha="right", va="center", fontsize=9.5, color="#444444", parse_math=False)
