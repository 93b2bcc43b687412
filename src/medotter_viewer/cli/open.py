"""``open``: show cases in the viewer."""

from __future__ import annotations

import argparse
from pathlib import Path

from medotter_viewer.cli.source import names_cases, source_of
from medotter_viewer.errors import BundleError, CaseNotFoundError, MissingDependencyError
from medotter_viewer.sources.source import Split


def run(options: argparse.Namespace) -> int:
    """Open the window and stay until it is closed, or write its picture and leave."""
    source = source_of(options) if names_cases(options) else None
    if source is not None:  # unknown names are errors before a window opens
        split: Split = options.split or "all"
        if options.case is not None and options.case not in (listed := source.case_ids(split)):
            raise CaseNotFoundError(f"no case {options.case!r} among the {len(listed)} of split {split!r}")
        if options.screenshot and not source.case_ids(split):
            raise BundleError(f"{source.target}: no case in split {split!r}: nothing to take a picture of")
        source.spec.check_region(options.region)
    screenshot = Path(options.screenshot) if options.screenshot else None
    try:
        from medotter_viewer.ui.app import run_window

        return run_window(
            source, case_id=options.case, region=options.region, split=options.split or "all", screenshot=screenshot
        )
    except MissingDependencyError:
        raise
    except ImportError as error:  # napari and Qt are imported once there is a screen
        if (error.name or "").partition(".")[0] == "medotter_viewer":
            raise
        raise MissingDependencyError(
            f"the viewer needs napari and a Qt binding ({error}): pip install 'medotter-viewer[gui]'"
        ) from error
