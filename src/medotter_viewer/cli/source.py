"""From the options named ``source`` to cases."""

from __future__ import annotations

import argparse
from typing import Any

from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.opening import open_source


def source_of(options: argparse.Namespace, *, predictions: bool = True) -> BundleSource:
    """Return the cases that the options name; `predictions` False leaves the model's files alone."""
    return open_source(
        options.target,
        predictions=options.predictions if predictions else None,
        model_name=options.model_name,
        data_root=options.data_root,
        pattern=options.pattern if predictions else None,
        remap=options.remap,
        resample_prediction=options.resample_prediction,
    )


def recorded(source: BundleSource) -> dict[str, Any]:
    """Return what the user chose about the source, for the definitions of a report."""
    remap = source.user_remap
    tables: dict[str, Any] | None = None
    if remap is not None:
        chosen = {"*": remap.for_all} if remap.for_all else dict(remap.by_dataset)
        tables = {
            name: "identity" if r.table is None else {str(k): v for k, v in r.table.items()}
            for name, r in chosen.items()
        }
    return {
        "data_root": str(source.root),
        "predictions": None if source.predictions is None else str(source.predictions.folder),
        "pattern": None if source.predictions is None else source.predictions.pattern,
        "user_remap": None if remap is None else {"source": remap.source, "map": tables},
        "resample_prediction": source.resample_prediction,
    }
