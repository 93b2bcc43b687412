"""The form in which the facts of any path are told: the same keys for all, null where one does not apply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import OBLIQUE_DEG, Grid
from medotter_viewer.core.volume import Volume

Facts = dict[str, Any]
_KEYS = ("shape", "spacing", "axcodes", "affine", "dtype", "unit", "labels")


def facts(path: Path, kind: str, *, items: Iterable[dict[str, Any]] = (), notes: Iterable[Finding] = ()) -> Facts:
    """Return the facts of a path that is no volume."""
    told = [note.to_dict() for note in notes]
    return {
        "path": str(path),
        "kind": kind,
        **dict.fromkeys(_KEYS),
        "channels": [],
        "items": list(items),
        "notes": told,
    }


def grid_facts(grid: Grid) -> Facts:
    """Return where voxels lie; in pixels there are no lengths, without form codes no directions."""
    return {
        "shape": list(grid.shape),
        "spacing": list(grid.spacing) if grid.unit == "mm" else None,
        "axcodes": list(grid.axcodes) if grid.has_world else None,
        "affine": grid.affine.tolist() if grid.has_world else None,
    }


def grid_notes(grid: Grid, path: Path) -> list[Finding]:
    """Return what is worth a remark about where voxels lie."""
    notes = []
    if not grid.has_world and grid.unit == "mm":
        message = "the file has no form codes (no qform, no sform): it says its spacing but not where it lies"
        notes.append(Finding("warning", "no-form-codes", message))
    if grid.oblique_deg > OBLIQUE_DEG:
        notes.append(Finding("info", "oblique", f"oblique by {grid.oblique_deg:.2f} deg"))
    return [replace(note, file=str(path)) for note in notes]


def value_range(volume: Volume) -> list[float] | None:
    """Return least and greatest value, leaving out what is no number; None where nothing is left."""
    data = volume.data
    finite = data[np.isfinite(data)] if data.dtype.kind == "f" else data
    return [float(finite.min()), float(finite.max())] if finite.size else None
