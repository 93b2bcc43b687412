"""Draws a spine straightened along its points: every vertebra of both sides in one picture."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.accents import GT_ACCENT, PRED_ACCENT, WRONG_ACCENT
from medotter_viewer.core.case import Case
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.core.windows import Window, has_hu, window_of_task
from medotter_viewer.errors import MissingDependencyError
from medotter_viewer.figures.planes import window_limits
from medotter_viewer.figures.spine_scene import SpinePoint, SpineScene, make_spine_scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OUTSIDE = "#2A3440"
"""Where there is no image."""
_SIDE: dict[str, dict[str, Any]] = {
    "gt": {"color": GT_ACCENT, "linewidth": 1.8, "zorder": 3},
    "pred": {"color": PRED_ACCENT, "linewidth": 1.0, "zorder": 4},
}
_TALLEST, _WIDEST_SCALE, _LEFT, _RIGHT, _HEAD, _FOOT, _LINE = 8.2, 0.028, 1.0, 3.0, 0.62, 0.42, 0.17  # inches
_LABEL_INCHES = 0.165  # between two names below each other
_BAR_MM = 50.0
_STRAIGHT_MM, _BULGE = 15.0, 0.22


def spine_figure(
    case: Case,
    spec: EvalSpec,
    *,
    window: tuple[float, float] | str | None = None,
    channel: str | None = None,
    modality: str | None = None,
) -> Figure:
    """Return a picture of a spine, straightened along the points of its vertebrae.

    Down the picture runs a smooth curve through the points of the ground truth (without two of them: the prediction's);
    to its left is the front, to its right the back. Points and contours of both sides lie where they are; a line joins
    the two points of a vertebra, yellow where it is not identified. Names stand beside the picture with the distance.
    A point that lies more than 5 mm to the left or right of the picture's plane says so.

    Parameters
    ----------
    case : Case
        With points or masks of at least one side; an image need not be there.
    spec : EvalSpec
        Rules of a hit.
    window : (width, level) or str, optional
        Grey window, or its name. None takes bone for CT, else limits that suit the image.
    channel : str, optional
        Which image; None takes the first.
    modality : str, optional
        What the task says its images are, e.g. ``CT``.

    Raises
    ------
    ReadError
        If neither side has two points or more, or they make no curve from head to feet.
    GridMismatchError
        If image or label maps do not say where they lie.
    UsageError
        If channel or window are not known.
    MissingDependencyError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("pictures need matplotlib: pip install 'medotter-viewer[notebook]'") from error

    scene = make_spine_scene(case, spec, channel)
    left, right, bottom, top = scene.extent
    scale = min(_TALLEST / (bottom - top), _WIDEST_SCALE)
    wide, tall = (right - left) * scale, (bottom - top) * scale
    width = _LEFT + wide + _RIGHT
    about = f"Straightened along the points of the {scene.on_curve}; columns run from front to back."
    notes = [line for note in (about, *scene.notes) for line in textwrap.wrap(note, int(15.5 * width))]
    foot = _FOOT + _LINE * len(notes)
    height = _HEAD + tall + foot
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.add_axes((_LEFT / width, foot / height, wide / width, tall / height))
    window_text = _draw(axes, scene, window, modality)
    _names(axes, scene, _LABEL_INCHES / scale)
    for text, y, size in ((scene.title, 0.08, 12), (scene.subtitle, 0.32, 9.5)):
        figure.text(0.12 / width, 1 - y / height, text, va="top", fontsize=size, parse_math=False)
    _legend(figure, scene, window_text, 0.12 / width, (foot - _FOOT / 2 - 0.04) / height)
    for number, line in enumerate(notes):
        y, color = (foot - _FOOT - number * _LINE) / height, "#8A3B00" if number else "#555555"
        figure.text(0.12 / width, y, line, va="top", fontsize=8, color=color, parse_math=False)
    return figure


def _draw(axes: Axes, scene: SpineScene, window: tuple[float, float] | str | None, modality: str | None) -> str:
    """Image, outlines, points and the lines between them; the window in words."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    left, right, bottom, top = scene.extent
    where: dict[str, Any] = {"extent": scene.extent, "origin": "upper", "interpolation": "nearest"}
    axes.set(facecolor="black" if scene.image is None else OUTSIDE, xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)
    text = ""
    if scene.image is not None and scene.volume is not None:
        if window is None and has_hu(scene.volume, modality):
            window = window_of_task("vertebra").name
        low, high = window_limits(scene.volume, window, modality)
        axes.imshow(scene.image, cmap="gray", vmin=low, vmax=high, **where)  # NaN is not drawn
        text = f"{scene.channel}   {Window.from_limits(low, high).text}"
    for side, labels in scene.labels.items():
        style = _SIDE[side]
        if scene.image is None:
            pixels = np.zeros((*labels.shape, 4))
            pixels[labels != 0] = to_rgba(style["color"], 0.22)
            axes.imshow(pixels, zorder=2, **where)
        axes.add_collection(LineCollection(list(scene.outlines(side)), capstyle="projecting", **style), autolim=False)
    for gt, pred in scene.errors():
        line = error_line(gt, pred)
        for color, extra in (("black", 1.6), (GT_ACCENT if pred.hit else WRONG_ACCENT, 0)):
            axes.plot(
                line[:, 0],
                line[:, 1],
                color=color,
                linewidth=1.4 + extra,
                zorder=5,
                solid_capstyle="butt",
            )
    for points, color, marker in ((scene.gt, GT_ACCENT, "o"), (scene.pred, PRED_ACCENT, "D")):
        axes.scatter(
            [p.behind_mm for p in points],
            [p.along_mm for p in points],
            s=26 if marker == "o" else 20,
            c=[WRONG_ACCENT if p.is_wrong else color for p in points],
            marker=marker,
            edgecolors="black",
            linewidths=0.8,
            zorder=6,
        )
    axes.set(xlim=(left, right), ylim=(bottom, top))
    _letters(axes)
    _scale_bar(axes, scene)
    return text


def error_line(gt: SpinePoint, pred: SpinePoint) -> NDArray[np.float64]:
    """Return the line between two points of a vertebra, (n, 2) mm to the right and down.

    One that runs along the spine is bent to the back: those of labels that are all shifted would else be one line.
    """
    ends: NDArray[np.float64] = np.array([[gt.behind_mm, gt.along_mm], [pred.behind_mm, pred.along_mm]])
    along = abs(ends[1, 1] - ends[0, 1])
    if along <= _STRAIGHT_MM:
        return ends
    part = np.linspace(0.0, 1.0, 21)[:, None]
    line: NDArray[np.float64] = (1 - part) * ends[0] + part * ends[1]
    line[:, 0] += _BULGE * along * 4 * (part * (1 - part))[:, 0]
    return line


def _names(axes: Axes, scene: SpineScene, apart_mm: float) -> None:
    """Names of the ground truth at the left of the picture, of the prediction and what is wrong at its right."""
    _, _, bottom, top = scene.extent
    for points, color, at, ha in ((scene.gt, GT_ACCENT, -4, "right"), (scene.pred, PRED_ACCENT, 4, "left")):
        x = 0.0 if ha == "right" else 1.0
        inside = [p for p in points if top <= p.along_mm <= bottom]
        for point, row in zip(inside, spread([p.along_mm for p in inside], apart_mm), strict=True):
            box = {"facecolor": WRONG_ACCENT if point.is_wrong else color, "edgecolor": "none", "pad": 1.4}
            name, rest = vertebra_name(point.label), point.text
            parts = [(name, box)] if not rest else [(name, box), (rest, None)]
            offset = float(at)
            for text, back in parts:
                axes.annotate(
                    text,
                    (x, row),
                    xycoords=("axes fraction", "data"),
                    xytext=(offset, 0),
                    textcoords="offset points",
                    ha=ha,
                    va="center",
                    fontsize=8.5 if back else 8,
                    color="black" if back else "#333333",
                    bbox=back,
                    annotation_clip=False,
                    parse_math=False,
                )
                offset += (7.0 + 5.6 * len(text)) * (1 if ha == "left" else -1)
            _tick(axes, point, x)


def _tick(axes: Axes, point: SpinePoint, x: float) -> None:
    """A short line at the rim of the picture, at the height of a point."""
    from matplotlib.transforms import blended_transform_factory

    where = blended_transform_factory(axes.transAxes, axes.transData)
    ends = [x, x + (0.02 if x == 0 else -0.02)]
    axes.plot(ends, [point.along_mm] * 2, transform=where, color="white", linewidth=0.8, alpha=0.8, zorder=6)


def spread(rows: list[float], apart: float) -> list[float]:
    """Return places for names at some rows, moved as little down as keeps them apart; order is that of the rows.

    Examples
    --------
    >>> spread([10.0, 11.0, 30.0], 5.0), spread([30.0, 10.0], 5.0)
    ([10.0, 15.0, 30.0], [30.0, 10.0])
    """
    out, last = [0.0] * len(rows), float("-inf")
    for place in sorted(range(len(rows)), key=lambda n: rows[n]):
        last = out[place] = max(rows[place], last + apart)
    return out


def _letters(axes: Axes) -> None:
    for letter, x, y in (("A", 0.03, 0.5), ("P", 0.97, 0.5), ("S", 0.5, 0.985), ("I", 0.5, 0.015)):
        ha = {0.03: "left", 0.97: "right"}.get(x, "center")
        va = {0.985: "top", 0.015: "bottom"}.get(y, "center")
        axes.text(
            x,
            y,
            letter,
            transform=axes.transAxes,
            color="white",
            fontsize=11,
            fontweight="bold",
            ha=ha,
            va=va,
            zorder=7,
            path_effects=_rim(),
        )


def _scale_bar(axes: Axes, scene: SpineScene) -> None:
    """A length that holds along the curve and along each row."""
    _, right, bottom, _ = scene.extent
    x, y = right - 5, bottom - 5
    style: dict[str, Any] = {"solid_capstyle": "butt", "zorder": 7, "path_effects": _rim(4)}
    axes.plot([x, x], [y - _BAR_MM, y], color="white", linewidth=2, **style)
    axes.annotate(
        f"{_BAR_MM:g} mm",
        (x, y - _BAR_MM / 2),
        xytext=(-4, 0),
        textcoords="offset points",
        color="white",
        fontsize=8,
        ha="right",
        va="center",
        rotation=90,
        zorder=7,
        path_effects=_rim(),
    )


def _rim(width: float = 2) -> list[Any]:
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="black")]


def _legend(figure: Figure, scene: SpineScene, window_text: str, margin: float, middle: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for points, side, marker, name in ((scene.gt, "gt", "o", "ground truth"), (scene.pred, "pred", "D", "prediction")):
        if points or side in scene.labels:
            color = _SIDE[side]["color"]
            handles.append(Line2D([], [], color=color, marker=marker, markeredgecolor="black", label=name))
    if any(point.is_wrong for point in (*scene.gt, *scene.pred)):
        handles.append(Line2D([], [], color=WRONG_ACCENT, linewidth=3, label="not identified"))
    if scene.image is not None and np.isnan(scene.image).any():
        handles.append(Patch(facecolor=OUTSIDE, label="outside the image"))
    place = {"loc": "center left", "bbox_to_anchor": (margin, middle), "borderaxespad": 0, "borderpad": 0}
    figure.legend(handles=handles, ncols=len(handles), frameon=False, fontsize=8.5, columnspacing=1.2, **place)
    if window_text:
        figure.text(1 - margin, 1 - 0.1 / figure.get_figheight(), window_text, ha="right", va="top", fontsize=8.5)
