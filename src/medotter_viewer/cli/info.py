"""``info``: show what a file or folder is."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import groupby

from medotter_viewer.cli.output import print_table, write_json
from medotter_viewer.core.reprs import NOTHING
from medotter_viewer.sources.info import path_info

_ROWS, _IDS = 60, 60
_HEADERS = {"world": "world RAS [mm]", "area_mm2": "area [mm2]", "file_xyz": "X, Y, Z of the file"}


def run(options: argparse.Namespace) -> int:
    """Print the facts of a path."""
    content = path_info(options.path, series=options.series)
    write_json(options.json, content)
    if options.json != "-":
        for key, value in content.items():
            if value not in (None, [], {}) and key not in ("notes", "affine", "items", "labels"):
                print(f"{key}: {_text(value)}")
        if content["labels"]:
            print(f"labels: {_labels(content['labels'])}")
        for row in content["affine"] or []:
            print("affine: " + "  ".join(f"{v:12.5g}" for v in row))
        _print_items(content["items"])
        for note in content["notes"]:
            print(f"{note['severity']}: {note['code']}: {note['message']}")
    return 0


def _print_items(items: Sequence[Mapping[str, object]]) -> None:
    """Print a table for each run of items with the same keys."""
    for keys, run in groupby(items, key=tuple):
        rows = [[_text(item[key]) if item[key] is not None else NOTHING for key in keys] for item in run]
        print_table([_HEADERS.get(key, key) for key in keys], rows[:_ROWS], left=len(keys))
        if len(rows) > _ROWS:
            print(f"... {len(rows)} in all; --json lists them")


def _labels(counts: Mapping[str, int]) -> str:
    """Ids with their voxels; of an image with whole numbers only how many there are."""
    if len(counts) > _IDS:
        ids = [int(i) for i in counts]
        return f"{len(ids)} whole numbers from {min(ids)} to {max(ids)}: an image rather than a label map"
    return ", ".join(f"{i} ({n} {'voxel' if n == 1 else 'voxels'})" for i, n in counts.items())


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_text(v)}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
