"""From the options that say where cases are to the cases."""

from __future__ import annotations

import argparse
from typing import Any

from medotter_viewer.cli.output import ProgressLine
from medotter_viewer.errors import UsageError
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.source import CaseSource

FOLDERS = ("gt", "pred", "image")


def source_of(options: argparse.Namespace, *, predictions: bool = True) -> CaseSource:
    """Return the cases that the options name; `predictions` False leaves the model's files alone.

    Raises
    ------
    UsageError
        If neither a target nor files are named, or both are.
    """
    check_named(options)
    return open_source(**options_of(options, predictions=predictions), progress=ProgressLine("read the ids of"))


def options_of(options: argparse.Namespace, *, predictions: bool = True) -> dict[str, Any]:
    """Return what the options say of `open_source`; `predictions` False leaves the model's files alone."""
    named = {name: getattr(options, name, None) for name in FOLDERS}
    return {
        "target": options.target,
        "predictions": options.predictions if predictions else None,
        "model_name": options.model_name,
        "data_root": options.data_root,
        "pattern": options.pattern if predictions else None,
        "remap": options.remap,
        "resample_prediction": options.resample_prediction,
        **named,
        "pred": named["pred"] if predictions else None,
        "labels": getattr(options, "labels", None),
        "instances": getattr(options, "instances", False),
        "series": getattr(options, "series", None),
    }


def check_named(options: argparse.Namespace) -> None:
    """Raise UsageError where the options name nothing to look at."""
    if not names_cases(options):
        raise UsageError("name what to look at: TARGET, or files or folders by --gt, --pred and --image")


def names_cases(options: argparse.Namespace) -> bool:
    """Whether the options name anything to look at."""
    return any(getattr(options, name, None) is not None for name in ("target", *FOLDERS))


def target_text(options: argparse.Namespace) -> str:
    """Return what the options name, in words for a report: the target, else what stands in its place."""
    named = (getattr(options, name, None) for name in ("target", *FOLDERS))
    return next((str(one) for one in named if one is not None), "")
