"""``info``: show what a file or folder is."""

from __future__ import annotations

import argparse

from medotter_viewer.cli.output import write_json
from medotter_viewer.sources.info import path_info


def run(options: argparse.Namespace) -> int:
    """Print the facts of a path."""
    content = path_info(options.path)
    write_json(options.json, content)
    if options.json != "-":
        for key, value in content.items():
            if value not in (None, [], {}) and key not in ("notes", "affine", "items"):
                print(f"{key}: {_text(value)}")
        for row in content["affine"] or []:
            print("affine: " + "  ".join(f"{v:12.5g}" for v in row))
        for item in content["items"]:
            print("  " + "  ".join(str(v) for v in item.values()))
        for note in content["notes"]:
            print(f"{note['severity']}: {note['code']}: {note['message']}")
    return 0


def _text(value: object) -> str:
    if isinstance(value, dict):
        shown = [f"{k} ({v})" for k, v in list(value.items())[:40]]
        return ", ".join(shown) + (f", ... {len(value)} in all" if len(value) > 40 else "")
    if isinstance(value, list):
        return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in value)
    return str(value)
