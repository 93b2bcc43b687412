"""``cases``: list what a target holds."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from medotter_viewer.cli.output import fail, print_table, write_json
from medotter_viewer.cli.source import source_of
from medotter_viewer.core.case import CaseEntry
from medotter_viewer.core.findings import errors_of
from medotter_viewer.errors import BundleError
from medotter_viewer.sources.source import CaseSource

INCOMPLETE = frozenset({"missing-file", "no-ground-truth", "no-remap"})


def run(options: argparse.Namespace) -> int:
    """Print the cases of the split (all by default); return 1 for an entry that is malformed.

    A file that is not there is listed under ``missing`` and is no failure of the listing.
    """
    source = source_of(options)
    entries = list(source.entries(options.split or "all"))
    given = {"prediction": source.model is not None, "image": getattr(options, "image", None) is not None}
    asked = [part for part, is_given in given.items() if is_given]
    content = {"target": source.target, "cases": [_as_dict(e, asked) for e in entries]}
    write_json(options.json, content)
    if options.json != "-":
        print_table(
            ("case", "dataset", "split", "tier", "channels", "missing"),
            [
                (
                    e.case_id,
                    e.dataset or "-",
                    e.split or "-",
                    e.tier or "-",
                    ", ".join(e.channels) or "-",
                    ", ".join(_missing(e, asked)) or "-",
                )
                for e in entries
            ],
            left=6,
        )
    broken = [f for e in entries for f in errors_of(e.findings) if f.code not in INCOMPLETE]
    for finding in broken:
        fail(finding.message)
    wrong_names = _wrong_names(source) if getattr(options, "labels", None) is not None else None
    if wrong_names is not None:
        fail(wrong_names)
    return 1 if broken or wrong_names is not None else 0


def _wrong_names(source: CaseSource) -> str | None:
    """Why names that were given cannot be those of the label maps; None where they can."""
    try:
        _ = source.spec
    except BundleError as error:
        return str(error)
    return None


def _missing(entry: CaseEntry, asked: Collection[str]) -> list[str]:
    """Parts without a file; a prediction only where there is a model, an image also where none was found."""
    images = ["image"] if "image" in asked and not entry.channels else []
    return images + [name for name in entry.missing if "prediction" in asked or name != "prediction"]


def _as_dict(entry: CaseEntry, asked: Collection[str]) -> dict[str, Any]:
    files = {name: str(path) for name, path in entry.channels.items()}
    parts = {"gt": entry.gt_path, "prediction": entry.pred_path}
    points = {"gt_landmarks": entry.gt_landmarks_path, "prediction_landmarks": entry.pred_landmarks_path}
    parts |= {name: path for name, path in points.items() if path is not None}  # most tasks have no points
    return {
        "id": entry.case_id,
        "dataset": entry.dataset,
        "split": entry.split,
        "tier": entry.tier,
        "channels": list(entry.channels),
        "files": {**files, **{name: None if path is None else str(path) for name, path in parts.items()}},
        "missing": _missing(entry, asked),
        "findings": [f.to_dict() for f in entry.findings],
    }
