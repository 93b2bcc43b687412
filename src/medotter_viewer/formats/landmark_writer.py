"""Write labelled points of vertebrae as VerSe's centroid JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from medotter_viewer.core.grid import Grid
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.vertebra_names import in_anatomical_order
from medotter_viewer.errors import WriteError

_DIGITS = 6  # of a voxel: a millionth


def write_landmarks(path: Path, landmarks: Landmarks, grid: Grid, *, overwrite: bool = False) -> None:
    """Write points in voxels along the axes of an image, from the head to the feet.

    The file appears whole or not at all: it is written beside its place and then moved there.

    Parameters
    ----------
    path : Path
        Where.
    landmarks : Landmarks
        The points, mm RAS+.
    grid : Grid
        Of the image the points belong to; its axes become the header's ``direction``.
    overwrite : bool, default False
        Whether a file that is there is replaced.

    Raises
    ------
    WriteError
        If the image's orientation is unknown, the file exists, or it cannot be written.
    """
    if not grid.has_world:
        raise WriteError(f"{path}: the image's orientation is unknown (no form codes)")
    content: list[dict[str, Any]] = [{"direction": list(grid.axcodes)}]
    for label in in_anatomical_order(landmarks.points_world):
        voxel = (round(float(v), _DIGITS) for v in grid.world_to_voxel(landmarks.points_world[label]))
        content.append({"label": label, **dict(zip("XYZ", voxel, strict=True))})
    text = json.dumps(content, allow_nan=False) + "\n"
    if path.exists() and not overwrite:
        raise WriteError(f"{path} exists; choose another name or remove it first")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
