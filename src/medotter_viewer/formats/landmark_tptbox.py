"""Bring the layouts of TPTBox's points to the list of VerSe: header, then one label, X, Y and Z for each point.

TPTBox writes such a list itself (``docker``), or names instead of numbers (``POI``: vertebra to part to coordinates),
in voxels of an image or in mm of the world (``POI_GLOBAL``, by the axes of nibabel or of ITK).

References
----------
Hendrik-code/TPTBox, ``core/poi_fun/save_load.py`` and ``core/vert_constants.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from medotter_viewer.core.vertebra_names import NAMES
from medotter_viewer.errors import ReadError

SUBREGION, BODY = 256, 50
"""A label is 256 * part + vertebra; part 50 is the vertebral body."""

WORLD_AXES: Mapping[str, str] = {"nib": "RAS", "itk": "LPS"}
"""Axes of coordinates in mm of the world, by the header's ``coordinate_system``."""

_NUMBERS = {name.upper(): number for number, name in NAMES.items()} | {"S1": 26, "COCC": 27}
_NESTED = ("POI", "POI_GLOBAL")


def as_point_list(content: Any, path: Path) -> tuple[Any, list[str]]:
    """Return parsed JSON as a list of a header and points, and the names of what has no number there.

    What is no layout of TPTBox is returned as it is.

    Raises
    ------
    ReadError
        For the layout of before 2022, and for names that hold no coordinates.
    """
    if isinstance(content, Mapping):
        return _of_pipeline(content), []
    if not isinstance(content, list) or not content or not isinstance(content[0], Mapping):
        return content, []
    header = content[0]
    if "vert_label" in header and "direction" not in header:
        raise ReadError(
            f"{path}: points in TPTBox's old layout (vert_label), whose axes the file does not name; load and save it "
            "again with TPTBox"
        )
    if header.get("format") not in _NESTED:
        return content, []
    points, left_out = [], []
    for vertebra, parts in _items([entry for entry in content[1:] if "label" not in entry], path):
        number = _number(vertebra)
        for part, place in _items([parts], path):
            if not isinstance(place, list) or len(place) != 3:
                raise ReadError(f"{path}: {vertebra}, part {part}: got {place!r}, expected three numbers")
            if number is None or not str(part).isdecimal():
                left_out.append(f"{vertebra} {part}")
            else:
                points.append({"label": SUBREGION * int(part) + number, **dict(zip("XYZ", place, strict=True))})
    return [header, *points], left_out


def _of_pipeline(content: Mapping[str, Any]) -> Any:
    """The list inside the output of a segmentation pipeline, its spacing and shape moved to the header."""
    inner = content.get("centroids")
    points = inner.get("centroids") if isinstance(inner, Mapping) else None
    if not isinstance(points, list):
        return content
    frame = {key: content[name] for key, name in (("zoom", "Spacing"), ("shape", "Shape")) if name in content}
    return [
        {**frame, **entry} if isinstance(entry, Mapping) and "direction" in entry and "label" not in entry else entry
        for entry in points
    ]


def _items(found: list[Any], path: Path) -> list[tuple[Any, Any]]:
    if not all(isinstance(one, Mapping) for one in found):
        raise ReadError(f"{path}: got no points by vertebra and part, expected {{vertebra: {{part: [X, Y, Z]}}}}")
    return [item for one in found for item in one.items()]


def _number(name: Any) -> int | None:
    """Label of a vertebra's name or number, None for what is no vertebra."""
    text = str(name).strip().upper()
    if text.isdecimal() and len(text) < 4:
        return int(text) if int(text) < SUBREGION else None
    return _NUMBERS.get(text)
