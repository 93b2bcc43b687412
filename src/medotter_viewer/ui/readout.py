"""What lies under the pointer, in one line: position, intensity with unit, both labels by name. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from medotter_viewer.core.case import Case
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import IntArray, LabelMap
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.volume import Volume
from medotter_viewer.geometry.orientation import display_order
from medotter_viewer.ui.placing import Placed


def voxel_at(grid: Grid, position: Sequence[float]) -> tuple[int, ...] | None:
    """Return the voxel of a grid that is drawn at a displayed position (mm); None outside.

    An oblique grid is drawn along its own axes, so the way back runs through the displayed array, not the affine.
    """
    order = display_order(grid)
    shown = (np.asarray(position) - order.translate) / np.asarray(order.scale)
    index = np.rint(order.voxel_index(shown, grid.shape)).astype(int)
    if (index < 0).any() or (index >= grid.shape).any():
        return None
    return tuple(int(i) for i in index)


def position_of(grid: Grid, voxel: Sequence[float]) -> tuple[float, ...]:
    """Return the displayed position (mm) of a voxel: the inverse of `voxel_at`."""
    order = display_order(grid)
    shown = order.displayed_index(voxel, grid.shape)
    return tuple(float(t + s * i) for t, s, i in zip(order.translate, order.scale, shown, strict=True))


def readout(
    case: Case,
    spec: EvalSpec,
    position: Sequence[float],
    *,
    pred_data: IntArray | None = None,
    channel: str | None = None,
    unit: str = "",
    placed: Placed | None = None,
    second: LabelMap | None = None,
) -> str:
    """Return the line for a displayed position (mm).

    Parameters
    ----------
    case : Case
        The open case.
    spec : EvalSpec
        Names the regions.
    position : (3,) sequence of float
        Displayed mm.
    pred_data : ndarray, optional
        The prediction as edited.
    channel : str, optional
        The image channel that is read out; the first by default.
    unit : str
        Unit of its intensities.
    placed : Placed, optional
        Where the contours of the case lie.
    second : LabelMap, optional
        A second model's prediction, on the grid of the labels.
    """
    image = case.channels.get(channel or "") or case.first_image
    grid = case.grid or (None if placed is None else placed.grid)
    voxel = None if grid is None else voxel_at(grid, position)
    if grid is None or voxel is None:
        return ""
    world = grid.voxel_to_world(voxel)
    x, y, z = -world[0], -world[1], world[2]
    parts = [f"LPS {x:z.1f} {y:z.1f} {z:z.1f} mm"] if grid.has_world else ["no position"]
    parts.append("voxel " + " ".join(map(str, voxel)))
    if image is not None:
        both = grid.has_world and image.grid.has_world
        there = _voxel_of_world(image.grid, world.tolist()) if both else voxel_at(image.grid, position)
        parts.append(_value_text(image, there, unit) if there is not None else "outside the image")
    if case.gt is not None:
        parts.append(f"gt {label_name(int(case.gt.data[voxel]), spec)}")
    if case.gt_native is not None:
        parts.append(f"native {int(case.gt_native.data[voxel])}")
    if case.pred is not None:
        data = case.pred.data if pred_data is None else pred_data
        parts.append(f"pred {label_name(int(data[voxel]), spec)}")
    if second is not None:
        parts.append(f"B {label_name(int(second.data[voxel]), spec)}")
    sides = () if placed is None else (("gt", placed.gt), ("pred", placed.pred))
    parts += [f"{name} {'inside' if side.covers(position) else 'outside'}" for name, side in sides if side is not None]
    return "  ·  ".join(parts)


def _value_text(image: Volume, voxel: tuple[int, ...], unit: str) -> str:
    if image.rgb:
        return "red green blue " + " ".join(str(int(v)) for v in image.data[voxel])
    return f"{unit or 'value'} {image.data[voxel]:g}"


def _voxel_of_world(grid: Grid, world: Sequence[float]) -> tuple[int, ...] | None:
    """Voxel of a grid at a world position: the image's value belongs to the position that is shown beside it."""
    index = np.rint(grid.world_to_voxel(world)).astype(int)
    if (index < 0).any() or (index >= grid.shape).any():
        return None
    return tuple(int(i) for i in index)


def label_name(label: int, spec: EvalSpec) -> str:
    """Return what an id is called: the region of that id alone, else the smallest region that contains it."""
    if label == 0:
        return "background"
    regions = [(len(ids), name) for name, ids in spec.regions.items() if label in ids]
    return f"{min(regions)[1]} ({label})" if regions else f"id {label}"
