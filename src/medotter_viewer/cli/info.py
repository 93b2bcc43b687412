"""``info``: show what a file or folder is."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import groupby

from medotter_viewer.cli.output import print_table, write_json
from medotter_viewer.core.reprs import NOTHING
from medotter_viewer.sources.info import path_info


def run(options: argparse.Namespace) -> int:
    """Print the facts of a path."""
    content = path_info(options.path, series=options.series)
    write_json(options.json, content)
    if options.json != "-":
        for key, value in content.items():
            if value not in (None, [], {}) and key not in ("notes", "affine", "items"):
                print(f"{key}: {_text(value)}")
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
        print_table(keys, rows, left=len(keys))


def _text(value: object) -> str:
    if isinstance(value, dict):
        shown = [f"{k} ({v})" for k, v in list(value.items())[:40]]
        return ", ".join(shown) + (f", ... {len(value)} in all" if len(value) > 40 else "")
    if isinstance(value, list):
        return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
