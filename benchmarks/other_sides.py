"""Remaps, filled contours, traced label maps and edits: this package and its peers."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from measuring import Step
from numpy.typing import NDArray
from side import OUR_PACKAGES, OURS, PLAIN, Side, Values
from work import Work, remap_table

SIDE = 512
STROKE = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Contours:
    """Rings (n, 2) of x, y in pixels of a square image."""

    name: str
    rings: list[NDArray[np.float64]]


# --- A remap of a whole label map, and of the numbers only.


def remap_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from medotter_viewer.core.labels import Remap
    from medotter_viewer.engine.remapping import remapped

    remap = Remap(remap_table(), "dict")
    return [lambda: remapped(remap, work.gt)]


def look_up_steps(work: Work, _parts: int | None = None) -> list[Step]:
    lut = np.zeros(256, np.uint8)
    lut[[*remap_table()]] = [*remap_table().values()]
    return [lambda: lut[work.gt]]


def fastremap_steps(work: Work, _parts: int | None = None) -> list[Step]:
    import fastremap

    table = remap_table()
    labels = work.gt
    return [lambda: fastremap.remap(labels, {0: 0, **table}, preserve_missing_labels=False)]


def array_values(_work: Work, results: list[Any]) -> Values:
    """A digest of the voxels, whatever their type and order in memory."""
    voxels = np.ascontiguousarray(results[0].T.astype(np.uint8, copy=False))
    return {"volume": {"digest": zlib.crc32(voxels), "voxels": voxels.size}}


def numbers_steps(work: Work, _parts: int | None = None) -> list[Step]:
    """What an edit of the remap costs before numbers stand there: the table is there already."""
    from medotter_viewer.core.labels import Remap
    from medotter_viewer.metrics.overlap import overlap_table

    table = overlap_table(work.gt, work.pred)

    def step() -> dict[str, float | None]:
        moved = table.remap_gt(Remap(remap_table(), "dict").target)
        return {name: moved.region(ids).dice for name, ids in work.regions.items()}

    return [step]


def counted_anew_steps(work: Work, _parts: int | None = None) -> list[Step]:
    lut = np.zeros(256, np.uint8)
    lut[[*remap_table()]] = [*remap_table().values()]

    def step() -> dict[str, float | None]:
        g, n = lut[work.gt].ravel(order="K").astype(np.uint16), 21
        counts = np.bincount(g * np.uint16(n) + work.pred.ravel(order="K"), minlength=n * n).reshape(n, n)
        gt, pred, both = counts.sum(axis=1), counts.sum(axis=0), counts.diagonal()
        dice = {name: (2 * both[i], gt[i] + pred[i]) for name, (i,) in work.regions.items()}
        return {name: float(twice / all_) if all_ else None for name, (twice, all_) in dice.items()}

    return [step]


def optional_dices(_work: Work, results: list[Any]) -> Values:
    return {name: {"dice": -1.0 if value is None else value} for name, value in results[0].items()}


# --- A stroke of the brush, and the table after it.


def stroke_of(work: Work) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return gt, old and new ids of a thick stroke in one slice."""
    k = work.gt.shape[2] // 2
    here = work.gt[:, :, k].ravel(), work.pred[:, :, k].ravel()
    start = max(0, (here[0].size - STROKE) // 2)
    gt, old = (ids[start : start + STROKE] for ids in here)
    return gt, old, np.full(gt.size, 6, np.uint8)


def stroke_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from medotter_viewer.metrics.overlap import overlap_table

    table, changes = overlap_table(work.gt, work.pred), stroke_of(work)

    def step() -> dict[str, float | None]:
        painted = table.updated(changes)
        return {name: painted.region(ids).dice for name, ids in work.regions.items()}

    return [step]


def stroke_anew_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from score_sides import bincount_steps

    k = work.gt.shape[2] // 2
    pred = work.pred.copy(order="K")
    flat = pred[:, :, k].ravel()
    start = max(0, (flat.size - STROKE) // 2)
    flat[start : start + STROKE] = 6
    pred[:, :, k] = flat.reshape(pred.shape[:2])
    return bincount_steps(Work(work.name, work.gt, pred, work.spacing, work.regions))


# --- Contours to masks: each into its slice of a volume that is there, as libraries allow; skimage makes its own masks.


def slices_of(contours: Contours, dtype: Any) -> NDArray[Any]:
    """A volume whose pages are there: what it costs to get memory is not what is compared."""
    return np.ones((len(contours.rings), SIDE, SIDE), dtype=dtype)


def fill_steps(contours: Contours, _parts: int | None = None) -> list[Step]:
    from medotter_viewer.geometry.polygons import fill

    volume = slices_of(contours, np.bool_)
    return [lambda: [fill([r], (SIDE, SIDE), out=s) for r, s in zip(contours.rings, volume, strict=True)]]


def cv2_fill_steps(contours: Contours, _parts: int | None = None) -> list[Step]:
    """With its ten bits of sub-pixels, in which these coordinates are exact."""
    import cv2

    points = [np.round(ring * 1024).astype(np.int32) for ring in contours.rings]
    volume = slices_of(contours, np.uint8)

    def step() -> list[NDArray[Any]]:
        for ring, mask in zip(points, volume, strict=True):
            mask[...] = 0
            cv2.fillPoly(mask, [ring], 1, shift=10)
        return list(volume)

    return [step]


def rasterio_fill_steps(contours: Contours, _parts: int | None = None) -> list[Step]:
    from rasterio.features import rasterize

    # Its pixel centres lie at halves.
    closed = [np.concatenate([ring, ring[:1]]) + 0.5 for ring in contours.rings]
    shapes = [{"type": "Polygon", "coordinates": [ring.tolist()]} for ring in closed]
    volume = slices_of(contours, np.uint8)

    def step() -> list[NDArray[Any]]:
        for shape, mask in zip(shapes, volume, strict=True):
            mask[...] = 0
            rasterize([(shape, 1)], out=mask, dtype=np.uint8)
        return list(volume)

    return [step]


def skimage_fill_steps(contours: Contours, _parts: int | None = None) -> list[Step]:
    from skimage.draw import polygon2mask

    return [lambda: [polygon2mask((SIDE, SIDE), ring[:, ::-1]) for ring in contours.rings]]


def fill_values(contours: Contours, results: list[Any]) -> Values:
    wrong = [exact_fill(ring) != (mask != 0) for ring, mask in zip(contours.rings, results[0], strict=True)]
    inside = sum(int(np.count_nonzero(mask)) for mask in results[0])
    return {"contours": {"wrong pixels": float(sum(map(np.count_nonzero, wrong))), "pixels": float(inside)}}


def exact_fill(ring: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the pixels whose centres are inside by whole numbers only: nothing is rounded.

    Half-open: an edge is crossed by rows from its lower end on, a centre on an edge lies to its right.
    """
    points = np.round(ring * 1024).astype(np.int64)
    inside = np.zeros((SIDE, SIDE), dtype=np.bool_)
    columns = np.arange(SIDE, dtype=np.int64)[None, :] * 1024
    for (x0, y0), (x1, y1) in zip(points.tolist(), np.roll(points, -1, axis=0).tolist(), strict=True):
        if y0 == y1:
            continue
        (xl, yl), (xh, yh) = sorted([(x0, y0), (x1, y1)], key=lambda point: point[1])
        rows = np.arange(max(0, -(-yl // 1024)), min(SIDE, -(-yh // 1024)), dtype=np.int64)
        if rows.size:
            # Whether the edge, at the height of the centre, lies at or left of it.
            at_or_left = (columns - xl) * (yh - yl) >= ((rows * 1024 - yl) * (xh - xl))[:, None]
            inside[rows] ^= at_or_left
    return inside


# --- Label maps to polygons.


def planes(work: Work) -> list[NDArray[Any]]:
    """Return the slices (y, x) that hold something, as they lie in memory."""
    return [plane for plane in work.gt.T if plane.any()]


def trace_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from medotter_viewer.geometry.polygons import trace_slices

    return [lambda: trace_slices(work.gt, 2)]


def traced_areas(_work: Work, results: list[Any]) -> Values:
    """By the shoelace formula from the points, not from what is told of the areas."""
    from medotter_viewer.geometry.polygons import shoelace

    areas: dict[int, float] = {}
    for plane, label in results[0].places():
        rings = [ring for polygon in results[0].polygons(plane, label) for ring in polygon.rings]
        areas[label] = areas.get(label, 0.0) + sum(map(shoelace, rings))
    return _areas(areas)


def counted_steps(work: Work, _parts: int | None = None) -> list[Step]:
    return [lambda: np.bincount(work.gt.ravel(order="K"))]


def counted_voxels(_work: Work, results: list[Any]) -> Values:
    return _areas({label: float(n) for label, n in enumerate(results[0].tolist()) if label and n})


def rasterio_shapes_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from rasterio.features import shapes

    slices = planes(work)
    return [lambda: [[*shapes(plane, mask=plane != 0, connectivity=4)] for plane in slices]]


def rasterio_areas(_work: Work, results: list[Any]) -> Values:
    areas: dict[int, float] = {}
    for plane in results[0]:
        for shape, label in plane:
            rings = [np.array(ring) for ring in shape["coordinates"]]
            area = _area(rings[0]) - sum(map(_area, rings[1:]))
            areas[int(label)] = areas.get(int(label), 0.0) + area
    return _areas(areas)


def skimage_contours_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from skimage.measure import find_contours

    slices = planes(work)

    def step() -> list[tuple[int, list[NDArray[Any]]]]:
        found: list[tuple[int, list[NDArray[Any]]]] = []
        for plane in slices:
            labels = np.flatnonzero(np.bincount(plane.ravel())[1:]) + 1
            found += [(int(label), find_contours(plane == label, 0.5)) for label in labels]
        return found

    return [step]


def skimage_areas(_work: Work, results: list[Any]) -> Values:
    areas: dict[int, float] = {}
    for label, rings in results[0]:
        signed = [_signed(ring) for ring in rings]
        areas[label] = areas.get(label, 0.0) + abs(sum(signed))
    return _areas(areas)


def _areas(areas: dict[int, float]) -> Values:
    return {str(label): {"pixels": area} for label, area in sorted(areas.items())}


def _signed(ring: NDArray[Any]) -> float:
    x, y = ring[:, 0], ring[:, 1]
    return float(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1])) / 2


def _area(ring: NDArray[Any]) -> float:
    return abs(_signed(ring))


def both(steps: Any, values: Any, plain: tuple[str, ...] = ("numpy",)) -> tuple[Side, Side]:
    """Ours by both engines."""
    return (
        Side(OURS, OUR_PACKAGES, (), steps, values, engine="compiled"),
        Side(PLAIN, ("medotter-viewer", *plain), (), steps, values, engine="plain"),
    )


DIGEST = {"digest": 0.0, "voxels": 0.0}
REMAP: tuple[Side, ...] = (
    *both(remap_steps, array_values),
    Side("fastremap.remap", ("fastremap",), ("fastremap",), fastremap_steps, array_values, DIGEST),
    Side("lut[gt]", ("numpy",), (), look_up_steps, array_values, DIGEST),
)
NUMBERS: tuple[Side, ...] = (
    *both(numbers_steps, optional_dices),
    Side("lut[gt], numpy.bincount", ("numpy",), (), counted_anew_steps, optional_dices, {"dice": 1e-12}),
)
STROKES: tuple[Side, ...] = (
    *both(stroke_steps, optional_dices),
    Side("numpy.bincount of all", ("numpy",), (), stroke_anew_steps, optional_dices, {"dice": 1e-12}),
)
WRONG = {"wrong pixels": "wrong pixels"}
FILL: tuple[Side, ...] = (
    *both(fill_steps, fill_values),
    Side("cv2.fillPoly", ("opencv-python-headless",), ("cv2",), cv2_fill_steps, fill_values, told=WRONG),
    Side("rasterio", ("rasterio",), ("rasterio",), rasterio_fill_steps, fill_values, told=WRONG),
    Side("skimage.draw.polygon2mask", ("scikit-image",), ("skimage",), skimage_fill_steps, fill_values, told=WRONG),
)
POLYGONS: tuple[Side, ...] = (
    *both(trace_steps, traced_areas, ("scipy",)),
    Side("numpy.bincount", ("numpy",), (), counted_steps, counted_voxels, {"pixels": 0.0}, remark="no polygons"),
    Side("rasterio", ("rasterio",), ("rasterio",), rasterio_shapes_steps, rasterio_areas, {"pixels": 0.0}),
    Side(
        "skimage.measure.find_contours",
        ("scikit-image",),
        ("skimage",),
        skimage_contours_steps,
        skimage_areas,
        told={"pixels": "pixels"},
        remark="cuts corners",
    ),
)
