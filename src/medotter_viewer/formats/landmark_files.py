"""Read labelled points of vertebrae: the centroid JSON of VerSe in its layouts, and TPTBox's points.

A file is a list: perhaps a header with ``direction``, the way each coordinate grows, then one ``label, X, Y, Z`` for
each point. X, Y and Z are no patient coordinates but voxel coordinates along the axes of an image turned as `direction`
says. The files of MICCAI'19 and '20 have no header and mm of a 1 mm grid along axes that differ between the two years;
nothing in the file tells them apart, so they are refused unless the layout is given.

References
----------
anjany/verse, README.md; verse2020.grand-challenge.org; Hendrik-code/TPTBox, ``core/poi_fun/save_load.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.key_reader import to_id
from medotter_viewer.core.landmarks import Landmarks, Point
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.errors import BundleError, LabelError, ReadError
from medotter_viewer.formats.config_files import read_json
from medotter_viewer.formats.landmark_frame import AXES, LandmarkFile
from medotter_viewer.formats.landmark_provenance import edited_labels, read_provenance
from medotter_viewer.formats.landmark_tptbox import BODY, SUBREGION, WORLD_AXES, as_point_list

LAYOUTS: Mapping[str, str] = {"miccai19": "IPL", "miccai20": "PIR"}
"""Axes of the layouts without ``direction``."""

_FARTHEST = 1e9  # no voxel and no mm is beyond it


def parse_landmarks(content: Any, path: Path, *, layout: str | None = None) -> LandmarkFile:
    """Return the points of parsed JSON.

    Parameters
    ----------
    content : list
        Perhaps a header, then points; or another layout of TPTBox's, see `landmark_tptbox`. An entry with a NaN (or
        null) coordinate is skipped, as VerSe's own reader does, with a note. A list without points gives none. Keys
        that are not known are ignored.
    path : Path
        For messages.
    layout : {"miccai19", "miccai20"}, optional
        What a file without ``direction`` is; not looked at where there is one.

    Raises
    ------
    ReadError
        If it is not such a list, the direction is impossible, or there is none and no layout.
    LabelError
        If a label stands twice, or is no whole number.
    """
    content, left_out = as_point_list(content, path)
    if not isinstance(content, list) or not all(isinstance(entry, Mapping) for entry in content):
        raise ReadError(f"{path}: got no list of points, expected [{{direction}}, {{label, X, Y, Z}}, ...]")
    headers = [entry for entry in content if _is_header(entry)]
    if len(headers) > 1:
        raise ReadError(f"{path}: direction stands {len(headers)} times; keep one")
    points, findings = _points([entry for entry in content if not _is_header(entry)], left_out, path)
    if headers and headers[0].get("format") == "POI_GLOBAL":
        return LandmarkFile(path, _ras(points, headers[0], path), "RAS", True, in_world=True, findings=tuple(findings))
    if headers:
        if "direction" not in headers[0]:
            raise ReadError(f"{path}: the header has no direction; expected three axis codes")
        axes = _axes(headers[0]["direction"], path)
        zoom, shape, grid = _frame(headers[0], axes, path)
        return LandmarkFile(path, points, axes, False, zoom, shape, grid, tuple(findings))
    if layout is not None and layout not in LAYOUTS:
        raise ReadError(f"layout: got {layout!r}, expected one of {', '.join(LAYOUTS)}")
    if points and layout is None:
        raise ReadError(
            f"{path}: no direction, so it is not known which way X, Y and Z run; MICCAI'19 and '20 differ: give "
            f"--centroid-layout {' or '.join(LAYOUTS)}"
        )
    return LandmarkFile(path, points, LAYOUTS[layout] if layout else "", True, findings=tuple(findings))


def read_landmark_file(path: Path, *, layout: str | None = None) -> LandmarkFile:
    """Return the points of a file along its own axes; see `parse_landmarks`.

    A provenance beside the file says whether the points were taken from a mask, and which a person moved.

    Raises
    ------
    ReadError, LabelError, BundleError
        As `parse_landmarks`, or if the file cannot be read or is no JSON.
    """
    file = parse_landmarks(read_json(path, nan=True), path, layout=layout)
    found, findings = read_provenance(path)
    file = replace(file, findings=(*file.findings, *findings))
    if found is None:
        return file
    return replace(file, derived=found.derived, edited=edited_labels(found, file.points))


def read_landmarks(path: Path, grid: Grid | None, *, layout: str | None = None) -> tuple[Landmarks, list[Finding]]:
    """Return the points of a file in world mm RAS+, and what was noticed; see `LandmarkFile.place`."""
    return read_landmark_file(path, layout=layout).place(grid)


def _is_header(entry: Mapping[str, Any]) -> bool:
    return "label" not in entry and not entry.keys().isdisjoint(("direction", "coordinate_system", "format"))


def _ras(points: Mapping[int, Point], header: Mapping[str, Any], path: Path) -> dict[int, Point]:
    """Points in mm of the world, which ITK counts towards the left and the back."""
    system = header.get("coordinate_system", "nib")
    if system not in WORLD_AXES:
        raise ReadError(f"{path}: coordinate_system {system!r}, expected one of {', '.join(WORLD_AXES)}")
    sign = 1 if WORLD_AXES[system] == "RAS" else -1
    return {label: (sign * x, sign * y, z) for label, (x, y, z) in points.items()}


def _points(
    entries: Sequence[Mapping[str, Any]], left_out: list[str], path: Path
) -> tuple[dict[int, Point], list[Finding]]:
    points: dict[int, Point] = {}
    skipped: list[int] = []
    others = list(left_out)
    for number, entry in enumerate(entries, 1):
        if absent := [key for key in ("label", *"XYZ") if key not in entry]:
            raise ReadError(f"{path}: point {number}: no {', '.join(absent)}; expected label, X, Y, Z")
        try:
            code = to_id(entry["label"], f"{path}: point {number}: label")
        except BundleError as error:
            raise LabelError(str(error)) from error
        subregion, label = divmod(code, SUBREGION)
        values = [_number(entry[key], f"{path}: label {label}: {key}") for key in "XYZ"]
        if subregion not in (0, BODY):
            others.append(str(code))
        elif any(map(isnan, values)):
            skipped.append(label)
        elif label in points:
            raise LabelError(f"{path}: label {label} ({vertebra_name(label)}) stands twice; keep one of the two points")
        else:
            points[label] = (values[0], values[1], values[2])
    findings = []
    if skipped:
        names = ", ".join(f"{label} ({vertebra_name(label)})" for label in skipped)
        message = f"{path.name}: no numbers (NaN) for {names}: taken as not annotated"
        findings.append(Finding("info", "landmark-not-a-number", message, str(path)))
    if others:
        message = f"{path.name}: points of other parts than the vertebral body, left out: {', '.join(others)}"
        findings.append(Finding("info", "landmark-other-part", message, str(path)))
    return points, findings


def _number(value: Any, where: str) -> float:
    """A coordinate; null is NaN, and a number may be written as text."""
    if value is None:
        return float("nan")
    try:
        number = float("x" if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        number = float("inf")
    if not abs(number) <= _FARTHEST and not isnan(number):
        raise ReadError(f"{where}: got {value!r}, expected a number of at most {_FARTHEST:g}")
    return number


def _axes(direction: Any, path: Path) -> str:
    codes = [str(code).upper() for code in direction] if isinstance(direction, list | str) else []
    if sorted(AXES.get(code, (-1,))[0] for code in codes) != [0, 1, 2]:
        raise ReadError(
            f"{path}: direction {direction!r} is impossible; expected three axis codes, of L or R, P or A, and I or S"
        )
    return "".join(codes)


def _frame(
    header: Mapping[str, Any], axes: str, path: Path
) -> tuple[tuple[float, ...] | None, tuple[int, ...] | None, Grid | None]:
    """Zoom, shape and grid of a header, None where it does not say."""
    given = {key: header[key] for key in ("zoom", "shape", "origin", "rotation") if header.get(key) is not None}
    try:
        found = {key: np.asarray(value, dtype=np.float64) for key, value in given.items()}
        for key, array in found.items():
            if array.shape != ((3, 3) if key == "rotation" else (3,)) or not (np.abs(array) <= _FARTHEST).all():
                raise ValueError(f"{key}: got {given[key]!r}")
        zoom = tuple(found["zoom"].tolist()) if "zoom" in found else None
        shape = tuple(int(n) for n in found["shape"]) if "shape" in found else None
        if len(found) < 4:
            return zoom, shape, None
        affine = np.eye(4)
        affine[:3, :3], affine[:3, 3] = found["rotation"] * found["zoom"], found["origin"]
        grid = Grid(shape or (), affine)
    except (ValueError, TypeError) as error:  # of ours too: a flat or endless grid
        raise ReadError(f"{path}: header cannot be used: {error}") from error
    if grid.axcodes != axes:
        raise ReadError(f"{path}: direction says {axes}, rotation says {grid.axcodes}; one of the two is wrong")
    return zoom, shape, grid
