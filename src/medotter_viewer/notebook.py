"""What a Jupyter cell or a script calls: numbers, pictures and the window, each from one line.

Everything but `view` works without a display.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from medotter_viewer.batch import Progress, score_entries
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import Hd95Name
from medotter_viewer.errors import CaseNotFoundError, MedotterViewerError, MissingDisplayError, UsageError
from medotter_viewer.evaluation.predictors import name_of
from medotter_viewer.evaluation.report import TargetReport, cases_of, report_on
from medotter_viewer.evaluation.sample import check_model
from medotter_viewer.figures import in_cell, show_in_cells, spine_figure, triplet
from medotter_viewer.scoring.options import Missing, ScoreOptions
from medotter_viewer.scoring.registry import score_case as _score_loaded
from medotter_viewer.sources.bundle import Bundle
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.opening import open_source
from medotter_viewer.sources.predictions import PredictionFolder
from medotter_viewer.sources.second_predictions import with_predictions
from medotter_viewer.sources.source import CaseSource, Split
from medotter_viewer.ui.screen import no_display

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Path_: TypeAlias = str | os.PathLike[str]
Target: TypeAlias = Path_ | Bundle | CaseSource
_PATIENCE_S = 30.0
_INSTEAD = "plot_case(...) draws a case without a window"


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A window that `view` opened; a cell shows its screenshot. `window` is the `medotter_viewer.ui` ReviewWindow."""

    window: Any

    @property
    def viewer(self) -> Any:
        """The napari viewer, for anything napari can do."""
        return self.window.viewer

    @property
    def session(self) -> Any:
        """The review: go_to(case_id), step(1), score, ..."""
        return self.window.session

    def close(self) -> None:
        """Close the review and its window."""
        self.window.close()
        self.viewer.close()

    def _repr_png_(self) -> bytes:
        from matplotlib.image import imsave

        png = BytesIO()
        imsave(png, self.viewer.screenshot(canvas_only=False, flash=False), format="png")
        return png.getvalue()


def view(
    target: Target,
    predictions: Path_ | None = None,
    *,
    case: str | None = None,
    region: str | None = None,
    second: Path_ | None = None,
    second_name: str | None = None,
    predictor: Any = None,
    **options: Any,
) -> View:
    """Open the window on a case.

    Jupyter goes on while it is open (napari runs ``%gui qt`` by itself); a script ends with ``napari.run()``.

    Parameters
    ----------
    target : path, Bundle or open source
        What to look at.
    predictions : path, optional
        Folder of one model's predictions.
    case : str, optional
        Full id of the case to open on; None takes the first.
    region : str, optional
        Region to look at alone.
    second : path, optional
        Folder of another model's predictions, laid beside the first: both contours, both numbers.
    second_name : str, optional
        What to call that model; the folder's name by default.
    predictor : Predictor or callable, optional
        A model that predicts the open case when it is asked to (Shift-P): an object with ``predict(image,
        spacing=None)``, or called with both. What it gives is shown and scored, and never written.
    **options
        As for `open_source`: data_root, pattern, model_name, remap, resample_prediction.

    Raises
    ------
    MissingDisplayError
        If there is no display, or napari and Qt are not installed; `plot_case` needs neither.
    CaseNotFoundError
        If there is no such case; the message names those with the nearest ids.
    UsageError
        If region or an option are not known.
    """
    source = _source(target, predictions, options)
    if case is not None:
        _check_case(source, case)
    if region is not None and region not in source.spec.regions:
        raise UsageError(f"region: got {region!r}, expected one of {', '.join(source.spec.regions)}")
    if predictor is not None:
        check_model(predictor)
    other = None if second is None else with_predictions(source, second, second_name)
    if (obstacle := no_display()) is not None:
        raise MissingDisplayError(f"{obstacle}; {_INSTEAD}")
    try:
        from medotter_viewer.ui.app import wait_until_scored
        from medotter_viewer.ui.kernel_loop import keep_kernel_awake
        from medotter_viewer.ui.window import open_window
    except ImportError as error:
        message = f"view() needs napari and Qt ({error}): pip install 'medotter-viewer[gui]'; {_INSTEAD}"
        raise MissingDisplayError(message) from error
    model = None if predictor is None else (predictor, name_of(predictor))
    window = open_window(source, case_id=case, region=region, second=other, predictor=model)
    keep_kernel_awake()
    if in_cell() and source.case_ids():  # the cell's screenshot shows the first case; a slow one is shown as it is
        with suppress(MedotterViewerError):
            wait_until_scored(window, _PATIENCE_S)
    return View(window)


def plot_case(
    target: Target,
    case: str,
    predictions: Path_ | None = None,
    *,
    region: str | None = None,
    window: tuple[float, float] | str | None = None,
    channel: str | None = None,
    margin_mm: float | None = None,
    **options: Any,
) -> Figure:
    """Return a picture of a case: the axial, coronal and sagittal slice with the largest error area.

    A scan with contours is drawn in one plane, that of its slices, on the most wrong of them; a predicted label map is
    outlined there, too. Points of vertebrae are drawn by `plot_spine`. Never needs a display.
    See `medotter_viewer.figures.triplet` for region, window, channel and margin_mm, `view` for the rest.

    Raises
    ------
    CaseNotFoundError
        If there is no such case; the message names those with the nearest ids.
    UsageError
        If region, channel, window or an option are not known.
    """
    source = _source(target, predictions, options)
    _check_case(source, case)
    loaded = source.load(case)
    figure = triplet(
        loaded,
        source.spec,
        region=region,
        window=window,
        channel=channel,
        margin_mm=margin_mm,
        modality=source.modality,
    )
    show_in_cells()
    return figure


def plot_spine(
    target: Target,
    case: str,
    predictions: Path_ | None = None,
    *,
    window: tuple[float, float] | str | None = None,
    channel: str | None = None,
    **options: Any,
) -> Figure:
    """Return a picture of a spine, straightened along the points of its vertebrae; see `figures.spine_figure`.

    Points of a side that has none in a file are taken from its mask, and a line below says so. Never needs a display.

    Parameters
    ----------
    target, case, predictions, **options
        As for `view`.
    window : (width, level) or str, optional
        Grey window, or its name; None takes bone for CT.
    channel : str, optional
        Which image; None takes the first.

    Raises
    ------
    CaseNotFoundError
        If there is no such case; the message names those with the nearest ids.
    ReadError
        If neither side has two vertebrae or more, or they make no curve from head to feet.
    GridMismatchError
        If a file does not say where it lies.
    UsageError
        If the task has no vertebrae, or channel, window or an option are not known.
    """
    source = _source(target, predictions, options)
    _check_case(source, case)
    if source.spec.task_type != "vertebra":
        raise UsageError(f"{source.target}: task_type {source.spec.task_type!r} has no vertebrae; use plot_case(...)")
    figure = spine_figure(source.load(case), source.spec, window=window, channel=channel, modality=source.modality)
    show_in_cells()
    return figure


def score_case(
    target: Target,
    case: str,
    predictions: Path_ | None = None,
    *,
    metrics: Sequence[str] | None = None,
    hd95: Hd95Name = "directed_max",
    missing: Missing = "skip",
    **options: Any,
) -> CaseScore:
    """Return the scores of one case: a table in a cell, `CaseScore.to_dataframe` for pandas.

    Parameters
    ----------
    target, case, predictions, **options
        As for `view`.
    metrics : sequence of str, optional
        ``dice``, ``iou``, ``hd95``, ``hd``; None takes the specification's.
    hd95 : {"directed_max", "pooled", "mean", "surfel"}
        Which of the quantities called HD95.
    missing : {"skip", "empty"}
        A case without prediction has no numbers, or those of an empty prediction.

    Raises
    ------
    CaseNotFoundError
        If there is no such case; the message names those with the nearest ids.
    UnsupportedTaskError
        If no adapter handles the task type.
    UsageError
        If a metric or an option is not known.
    """
    source = _source(target, predictions, options)
    _check_case(source, case)
    chosen = ScoreOptions(None if metrics is None else tuple(metrics), hd95, missing)
    return _score_loaded(source.load(case, images=False), source.spec, chosen)


def score_bundle(
    target: Target,
    predictions: Path_ | None = None,
    *,
    split: Split = "test",
    metrics: Sequence[str] | None = None,
    hd95: Hd95Name = "directed_max",
    missing: Missing = "skip",
    progress: Progress | None = None,
    **options: Any,
) -> TargetReport:
    """Return the scores of every case of a split and their means: the numbers of ``medotter-viewer score``.

    Parameters
    ----------
    split : {"test", "train", "all"}
        Which cases.
    progress : callable, optional
        Told after every case: how many are done, how many there are, and the newest score.
    target, predictions, metrics, hd95, missing, **options
        As for `score_case`.

    Raises
    ------
    BundleError
        If the split has no case.
    """
    source = _source(target, predictions, options)
    chosen = ScoreOptions(None if metrics is None else tuple(metrics), hd95, missing)
    entries = [source.entry(case_id) for case_id in cases_of(source, split)]
    resample = source.resample_prediction
    scores = score_entries(entries, source.spec, chosen, resample_prediction=resample, progress=progress)
    return report_on(source, scores, chosen, split)


def _source(target: Target, predictions: Path_ | None, options: dict[str, Any]) -> CaseSource:
    """The cases of a target; one that is open already keeps its settings, but may get other predictions."""
    if not isinstance(target, CaseSource):
        if unknown := options.keys() - signature(open_source).parameters.keys():
            raise UsageError(f"{', '.join(sorted(unknown))}: no such option; those of open_source are known")
        return open_source(target, predictions=predictions, **options)
    if options:
        raise UsageError(f"{', '.join(options)}: the source is open already; give them to open_source")
    if predictions is None:
        return target
    if not isinstance(target, BundleSource):
        raise UsageError("predictions: this source has its own; give them to open_source")
    path = Path(predictions)
    return replace(target, predictions=PredictionFolder(path, path.resolve().name))


def _check_case(source: CaseSource, case_id: str) -> None:
    ids = source.case_ids()
    if case_id in ids:
        return
    near = ", ".join(difflib.get_close_matches(case_id, ids, n=3, cutoff=0.4) or ids[:3])
    raise CaseNotFoundError(f"{source.target}: no case {case_id!r} among {len(ids)}; nearest are {near or 'none'}")
