"""From the options named ``source`` to cases."""

from __future__ import annotations

import argparse

from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.source import CaseSource


def source_of(options: argparse.Namespace, *, predictions: bool = True) -> CaseSource:
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
