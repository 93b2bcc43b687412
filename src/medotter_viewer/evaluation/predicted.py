"""A case with the prediction of a model that has just been run on it, checked as one that is read from a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medotter_viewer.core.case import Case
from medotter_viewer.core.findings import Finding, Severity
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.errors import GridMismatchError, MedotterViewerError, PredictorError, ReadError, UsageError
from medotter_viewer.evaluation.predictors import last_line
from medotter_viewer.evaluation.sample import Sample, predict, whole_ids
from medotter_viewer.scoring.vertebra_points import derived_landmarks
from medotter_viewer.sources.label_grids import on_grid


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """What a model predicted for a case.

    Parameters
    ----------
    labels : LabelMap
        On the grid that the case is scored on.
    by : str
        Name of the model.
    findings : tuple of Finding
        What was noticed.
    landmarks : Landmarks or None
        Of a task of vertebrae: the points that follow from the labels.
    """

    labels: LabelMap
    by: str
    findings: tuple[Finding, ...] = ()
    landmarks: Landmarks | None = None

    def of(self, case: Case) -> Case:
        """Return a case with this prediction in place of that of its files, of which nothing is left."""
        kept = tuple(f for f in case.findings if not _is_of_prediction(f, case))
        entry = replace(
            case.entry,
            pred_path=None,
            pred_landmarks_path=None,
            findings=tuple(f for f in case.entry.findings if not _is_of_prediction(f, case)),
        )
        return replace(
            case,
            entry=entry,
            pred=self.labels,
            pred_contours=None,
            pred_landmarks=self.landmarks,
            findings=(*kept, *self.findings),
        )


def image_of(case: Case) -> NDArray[Any]:
    """Return what a model gets of a case: its only channel, or all of them stacked along a first axis.

    Raises
    ------
    ReadError
        If there is no image, or a channel could not be read.
    GridMismatchError
        If channels have different shapes.
    """
    if absent := [name for name in case.entry.channels if name not in case.channels]:
        raise ReadError(
            f"case {case.case_id}: channels {', '.join(absent)} cannot be read; a predictor needs all of them: "
            + "; ".join(f.message for f in case.findings)
        )
    channels = [volume.data for volume in case.channels.values()]
    if not channels:
        raise ReadError(f"case {case.case_id}: it has no image for a model to predict from")
    if len(channels) < 2:
        return channels[0]
    if len(shapes := {channel.shape for channel in channels}) > 1:
        raise GridMismatchError(f"case {case.case_id}: channels of shapes {sorted(shapes)} cannot be stacked")
    return np.stack(channels)


def run_model(model: Any, case: Case, name: str) -> Any:
    """Return what a model gives for the image of a case: anything, for it is foreign code.

    Raises
    ------
    PredictorError
        If it fails; the message has its name and its last line.
    ReadError, GridMismatchError
        As for `image_of`.
    """
    image, grid = image_of(case), _grid_of(case)
    sample = Sample(image, np.zeros(0, dtype=np.uint8), grid.spacing, {"case_id": case.case_id})
    try:
        return predict(model, sample, case.case_id)
    except MemoryError as error:
        raise PredictorError(f"{name} failed on case {case.case_id}: out of memory") from error
    except (Exception, SystemExit) as error:
        raise PredictorError(f"{name} failed on case {case.case_id}: {last_line(error)}") from error


def predicted(result: Any, case: Case, name: str, *, resample: bool = False, vertebrae: bool = False) -> Predicted:
    """Return what a model gave as a prediction of a case.

    Parameters
    ----------
    result : array_like of int
        Canonical ids, of the shape of the ground truth, else of the image: then it lies where the image lies, and is
        refused where a file that lies there would be.
    case : Case
        With its image read.
    name : str
        The model's, for messages.
    resample : bool
        Whether a prediction on another grid of the same world is brought onto the ground truth's.
    vertebrae : bool
        Whether points are taken from the labels.

    Raises
    ------
    PredictorError
        If it is no array of whole ids of such a shape.
    GridMismatchError
        If the image does not lie on the ground truth's grid.
    UsageError
        If the files of this case name their structures: a model's ids mean nothing there.
    """
    if case.regions is not None:
        raise UsageError(f"case {case.case_id}: its files name their structures; a model's ids cannot be compared")
    try:
        array = np.asarray(result)
        data = whole_ids(array, f"{name}: prediction for case {case.case_id}")
    except (MedotterViewerError, TypeError, ValueError) as error:
        raise PredictorError(
            str(error) if isinstance(error, MedotterViewerError) else _no_array(result, name)
        ) from error
    except Exception as error:  # foreign code in __array__
        raise PredictorError(f"{name} gave no array for case {case.case_id}: {last_line(error)}") from error
    scored, image = _scored_grid(case), case.first_image
    shapes = [grid.shape for grid in (scored, None if image is None else image.grid) if grid is not None]
    if data.shape not in shapes:
        expected = " or ".join(map(str, dict.fromkeys(shapes)))
        raise PredictorError(f"{name}: case {case.case_id}: got an array of shape {data.shape}, expected {expected}")
    own = data if data.flags.owndata and data.base is None else data.copy(order="K")
    findings: list[Finding] = []

    def add(severity: Severity, code: str, message: str, /) -> None:
        findings.append(Finding(severity, code, message, None, case.case_id))

    if scored is None or data.shape == scored.shape:
        labels: LabelMap | None = LabelMap(own, scored or _grid_of(case))
    else:
        labels = on_grid(LabelMap(own, _grid_of(case)), scored, add, resample=resample)
    if labels is None:
        raise GridMismatchError(f"{name}: case {case.case_id}: {findings[-1].message}")
    return Predicted(labels, name, tuple(findings), derived_landmarks(labels) if vertebrae else None)


def _scored_grid(case: Case) -> Grid | None:
    """Grid of the ground truth, of the slices where that is drawn on them; None without either."""
    if case.gt_contours is not None and case.stack is not None:
        return case.stack.grid
    gt = case.gt or case.gt_native
    return None if gt is None else gt.grid


def _grid_of(case: Case) -> Grid:
    """Where the image lies."""
    image = case.first_image
    if image is None:
        raise ReadError(f"case {case.case_id}: it has no image for a model to predict from")
    return image.grid


def _no_array(result: Any, name: str) -> str:
    return f"{name}: got {type(result).__name__}, expected an array of whole ids, one for each voxel"


def _is_of_prediction(finding: Finding, case: Case) -> bool:
    """Whether a finding is about the prediction that was there before."""
    paths = [str(p) for p in (case.entry.pred_path, case.entry.pred_landmarks_path) if p is not None]
    codes = ("grid-mismatch", "grid-nearly-equal", "resampled-prediction", "ambiguous-prediction")
    about = finding.message.startswith(("prediction", "predicted"))
    return finding.file in paths or finding.code in codes or about
