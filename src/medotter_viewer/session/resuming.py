"""Open what a saved review was on: its source, found again and compared with what was saved. No window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from medotter_viewer.session.state_file import PATHS, ReviewState, check_there
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.second_predictions import with_predictions
from medotter_viewer.sources.source import CaseSource

_OF_SECOND = ("second", "second_name")
_IN_PLACE_OF_TARGET = ("gt", "pred", "image", "labels", "instances")


def with_options(state: ReviewState, given: Mapping[str, Any]) -> ReviewState:
    """Return a saved review with options that a person gave anew, which win over those that were saved.

    Parameters
    ----------
    state : ReviewState
        As saved.
    given : mapping
        Options of `open_source`; None and False are not given.
    """
    told = {key: value for key, value in given.items() if value is not None and value is not False}
    kept = dict(state.source)
    if "target" in told:  # one stands in place of the other
        kept = {key: value for key, value in kept.items() if key not in _IN_PLACE_OF_TARGET}
    elif any(key in told for key in ("gt", "image")):
        kept.pop("target", None)
    named = {key: str(value) if key in PATHS else value for key, value in told.items()}
    return replace(state, source={**kept, **named})


def source_again(
    state: ReviewState, where: str, *, force: bool = False, progress: Any = None
) -> tuple[CaseSource, list[str]]:
    """Return the source that a saved review was on, and what is to be said of it.

    Parameters
    ----------
    state : ReviewState
        The saved review.
    where : str
        Its file, for messages.
    force : bool
        Whether a bundle with another hash is taken, and said.
    progress : callable, optional
        As for `open_source`.

    Raises
    ------
    SavedReviewError
        If it is another bundle now, or files are not there.
    BundleNotFoundError, UsageError, ReadError, BundleError
        As for `open_source`.
    """
    check_there(state, where)
    source = open_source(**{k: v for k, v in state.source.items() if k not in _OF_SECOND}, progress=progress)
    warning = state.check_hash(source.hash, where, force=force)
    said = [warning] if warning else []
    if state.case_id is not None and state.case_id not in source.case_ids(state.split):
        said.append(f"{where}: case {state.case_id} is not there any more: the first one is opened")
    if state.region is not None and state.region not in source.spec.regions:
        said.append(f"{where}: there is no region {state.region} any more: all are shown")
    return source, said


def second_again(state: ReviewState, source: CaseSource) -> CaseSource | None:
    """Return the source with the predictions that lay beside the first ones; None where there were none.

    Raises
    ------
    UsageError
        As for `with_predictions`.
    """
    folder = state.source.get("second")
    return None if folder is None else with_predictions(source, folder, state.source.get("second_name"))


def fitting(state: ReviewState, source: CaseSource) -> ReviewState:
    """Return a saved review without the case and region that its source has no more; a case takes its view along."""
    if state.case_id is not None and state.case_id not in source.case_ids(state.split):
        state = replace(state, case_id=None, view=None)
    return state if state.region in source.spec.regions else replace(state, region=None)
