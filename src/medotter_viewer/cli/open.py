"""``open``: show cases in the viewer."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from medotter_viewer.cli.output import ProgressLine, fail
from medotter_viewer.cli.source import names_cases, options_of, source_of
from medotter_viewer.errors import BundleError, CaseNotFoundError, MissingDependencyError, UsageError
from medotter_viewer.evaluation.predictors import load_predictor
from medotter_viewer.session.deep_link import parse_position
from medotter_viewer.session.resuming import fitting, second_again, source_again, with_options
from medotter_viewer.session.state_file import ReviewState, SavedView, read_state
from medotter_viewer.sources.second_predictions import with_predictions
from medotter_viewer.sources.source import CaseSource, Split


def run(options: argparse.Namespace) -> int:
    """Open the window and stay until it is closed, or write its picture and leave."""
    view = _view(options)
    if options.force_session and options.session is None:
        raise UsageError("--force-session: belongs to --session FILE")
    predictor = None if options.predictor is None else (load_predictor(options.predictor), options.predictor)
    state, said = None, []  # type: tuple[ReviewState | None, list[str]]
    source: CaseSource | None = None
    if options.session is not None:
        source, state, said = _saved(options, view)
        split, case_id, region = state.split, state.case_id, state.region
    else:
        source = source_of(options) if names_cases(options) else None
        split, case_id, region = options.split or "all", options.case, options.region
    if source is not None:  # unknown names are errors before a window opens
        _check(source, split, case_id, region, options.screenshot)
    elif view is not None:
        raise UsageError("--position is a place in a case: name a TARGET, too")
    second = _second(options, source, state)
    for line in said:
        fail(f"warning: {line}")
    return _shown(
        options,
        source,
        case_id=case_id,
        region=region,
        split=split,
        view=None if state is not None else view,
        state=state,
        predictor=predictor,
        second=second,
        say=said,
    )


def _view(options: argparse.Namespace) -> SavedView | None:
    """The place that the options name."""
    if options.position is None:
        if options.plane is not None:
            raise UsageError("--plane says which slice through a place: name it by --position=X,Y,Z, too")
        return None
    return SavedView(parse_position(options.position), options.plane or "axial")


def _second(options: argparse.Namespace, source: CaseSource | None, state: ReviewState | None) -> CaseSource | None:
    """The same cases with another model's predictions."""
    if options.second is None:
        if options.second_name is not None:
            raise UsageError("--second-name: names the model of --second; give --second DIR too")
        return None if state is None or source is None else second_again(state, source)
    if source is None:
        raise UsageError("--second: lays predictions beside those of a TARGET; name what to look at")
    return with_predictions(source, options.second, options.second_name)


def _saved(options: argparse.Namespace, view: SavedView | None) -> tuple[CaseSource, ReviewState, list[str]]:
    """A saved review under what else was given, and its source."""
    saved = read_state(Path(options.session))
    state = with_options(saved, options_of(options))
    changes: dict[str, Any] = {"split": options.split or state.split}
    if options.case is not None and options.case != state.case_id:
        changes |= {"case_id": options.case, "view": None}
    if options.region is not None:
        changes["region"] = options.region
    if view is not None:
        changes["view"] = view
    state = replace(state, **changes)
    source, said = source_again(
        state, options.session, force=options.force_session, progress=ProgressLine("read the ids of")
    )
    asked = {"case_id": options.case, "region": options.region}  # what is typed now is an error where it is not there
    fitted = fitting(state, source)
    return source, replace(fitted, **{key: value for key, value in asked.items() if value is not None}), said


def _check(source: CaseSource, split: Split, case_id: str | None, region: str | None, screenshot: str | None) -> None:
    if case_id is not None and case_id not in (listed := source.case_ids(split)):
        raise CaseNotFoundError(f"no case {case_id!r} among the {len(listed)} of split {split!r}")
    if screenshot and not source.case_ids(split):
        raise BundleError(f"{source.target}: no case in split {split!r}: nothing to take a picture of")
    source.spec.check_region(region)


def _shown(options: argparse.Namespace, source: CaseSource | None, **wanted: Any) -> int:
    screenshot = Path(options.screenshot) if options.screenshot else None
    try:
        from medotter_viewer.ui.app import run_window

        return run_window(source, screenshot=screenshot, **wanted)
    except MissingDependencyError:
        raise
    except ImportError as error:  # napari and Qt are imported once there is a screen
        if (error.name or "").partition(".")[0] == "medotter_viewer":
            raise
        raise MissingDependencyError(
            f"the viewer needs napari and a Qt binding ({error}): pip install 'medotter-viewer[gui]'"
        ) from error
