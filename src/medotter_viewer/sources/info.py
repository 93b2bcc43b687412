"""What is in a path: the facts of one file, or what a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from medotter_viewer.core.findings import Finding
from medotter_viewer.core.grid import Grid
from medotter_viewer.errors import LabelError, ReadError
from medotter_viewer.formats import registry
from medotter_viewer.metrics.overlap import label_voxels
from medotter_viewer.sources.bundle import Bundle, find_bundle


def path_info(path: Path) -> dict[str, Any]:
    """Return what a file or folder is, in the JSON form of ``info``.

    Raises
    ------
    ReadError
        If it is not there, no reader knows it, or it is damaged.
    BundleError
        If it is a bundle whose manifest cannot be used.
    """
    if path.is_dir():
        bundle_dir = find_bundle(path)
        if bundle_dir is None:
            raise ReadError(f"{path}: a folder without manifest_test.json; expected a bundle folder or a file")
        return _bundle_info(path, Bundle(bundle_dir))
    return _file_info(path)


def _empty(path: Path, kind: str) -> dict[str, Any]:
    keys = ("shape", "spacing", "axcodes", "affine", "dtype", "unit", "labels")
    return {"path": str(path), "kind": kind, **dict.fromkeys(keys), "channels": [], "items": [], "notes": []}


def _bundle_info(path: Path, bundle: Bundle) -> dict[str, Any]:
    items = [
        {"kind": "case", "id": case_id, "split": split}
        for split, ids in (("train", bundle.train), ("test", bundle.test))
        for case_id in ids
    ]
    identity = {"task": bundle.task, "version": bundle.version, "hash": bundle.hash}
    return {**_empty(path, "bundle"), **identity, "items": items}


def _file_info(path: Path) -> dict[str, Any]:
    kind = registry.format_of(path)
    volume, notes = kind.read_volume(path)
    labels: dict[str, int] | None = None
    try:
        label_map, label_notes = kind.read_labels(path)
        notes = notes + [n for n in label_notes if n not in notes]
        labels = {str(i): n for i, n in label_voxels(label_map.data).items()}
        del label_map
    except LabelError as error:
        notes = [*notes, Finding("info", "not-a-label-map", str(error), file=str(path))]
    grid: Grid = volume.grid
    if not grid.has_world and grid.unit == "mm":
        message = "the file has no form codes (no qform, no sform): it says its spacing but not where it lies"
        notes = [*notes, Finding("warning", "no-form-codes", message, file=str(path))]
    if grid.oblique_deg > 0.1:
        message = f"oblique by {grid.oblique_deg:.2f} deg"
        notes = [*notes, Finding("info", "oblique", message, file=str(path))]
    finite = volume.data[np.isfinite(volume.data)] if volume.data.dtype.kind == "f" else volume.data
    return {
        **_empty(path, kind.NAME),
        "shape": list(grid.shape),
        "spacing": list(grid.spacing) if grid.unit == "mm" else None,
        "axcodes": list(grid.axcodes) if grid.has_world else None,
        "affine": grid.affine.tolist() if grid.has_world else None,
        "dtype": str(volume.data.dtype),
        "unit": volume.unit or None,
        "labels": labels,
        "channels": ["red", "green", "blue"] if volume.rgb else [],
        "range": [float(finite.min()), float(finite.max())] if finite.size else None,
        "notes": [n.to_dict() for n in notes],
    }
