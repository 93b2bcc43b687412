"""Points of a case of vertebrae: those of its files, else those that follow from its masks.

The only place that derives points from a mask, so that the score, the picture and the table show the same ones.
"""

from __future__ import annotations

from dataclasses import replace

from medotter_viewer.core.case import Case
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.labels import LabelMap
from medotter_viewer.core.landmarks import Landmarks
from medotter_viewer.core.vertebra_names import ANATOMICAL_ORDER
from medotter_viewer.metrics.label_centres import label_centres
from medotter_viewer.metrics.overlap import label_voxels

FROM_MASK = "points_from_mask"
"""Rule of a number that rests on points which no file gives."""
CENTRE_OF_MASS = "centre of mass of the mask"
_NO_FILE = "none in a file: taken from the mask, the centre of mass of each vertebra"
_IN_FILE = "the file holds centres of mass of a mask, as its provenance says"
_OFFSET = "a mask's centre lies about 12 mm from the centre of the vertebral body, where annotated points are"


def landmarks_of(case: Case) -> tuple[Landmarks | None, Landmarks | None]:
    """Return the points of ground truth and prediction, for a task of vertebrae.

    Parameters
    ----------
    case : Case
        From `load_case`, perhaps with an edited prediction: derived points follow its mask.

    Returns
    -------
    gt, pred : Landmarks or None
        Those of a file where there is one. Else of the mask in canonical ids (ground truth after the remap), with
        `Landmarks.derived`; vertebrae that the image cuts off then have one too. None with neither, and where a file
        of points is named and could not be read.
    """
    entry = case.entry
    gt = case.gt_landmarks
    if gt is None and entry.gt_landmarks_path is None and case.gt is not None:
        gt = derived_landmarks(case.gt)
    pred = case.pred_landmarks
    if pred is None and entry.pred_landmarks_path is None and case.pred is not None:
        pred = derived_landmarks(case.pred)
    return gt, pred


def with_landmarks(case: Case) -> Case:
    """Return the case with the points of `landmarks_of` as its own."""
    gt, pred = landmarks_of(case)
    if gt is case.gt_landmarks and pred is case.pred_landmarks:
        return case
    return replace(case, gt_landmarks=gt, pred_landmarks=pred)


def labels_there(case: Case) -> set[int]:
    """Return every label of either side, as a point or in the predicted mask: what decides which levels there are."""
    there = {label for side in landmarks_of(case) if side is not None for label in side.points_world}
    return there if case.pred is None else there | (set(label_voxels(case.pred.data)) - {0})


def derived_landmarks(labels: LabelMap) -> Landmarks:
    """Return the centre of mass of every vertebra of a label map in VerSe's ids (1 to 25 and 28), mm RAS+.

    Examples
    --------
    >>> import numpy as np
    >>> from medotter_viewer.core.grid import Grid
    >>> mask = np.zeros((4, 4, 4), dtype=np.uint8)
    >>> mask[1, 2, :] = 20
    >>> dict(derived_landmarks(LabelMap(mask, Grid(mask.shape, np.diag([1, 1, 2, 1])))).points_world)
    {20: (1.0, 2.0, 3.0)}
    """
    centres = label_centres(labels.data, frozenset(ANATOMICAL_ORDER)) if labels.data.ndim == 3 else {}
    points = {i: tuple(labels.grid.voxel_to_world(centre).tolist()) for i, centre in centres.items()}
    return Landmarks({i: points[i] for i in ANATOMICAL_ORDER if i in points}, CENTRE_OF_MASS, derived=True)


def derived_notes(gt: Landmarks | None, pred: Landmarks | None, where: str | None = None) -> list[Finding]:
    """Return what is to be said of points that were derived; nothing of those from files."""
    notes = []
    for name, side in (("ground-truth", gt), ("predicted", pred)):
        if side is None or not side.derived:
            continue
        message = f"{name} points: {_NO_FILE if side.source == CENTRE_OF_MASS else _IN_FILE}; {_OFFSET}"
        if side is gt:
            message += "; vertebrae that the image cuts off count too"
        notes.append(Finding("warning", "points-from-mask", message, where=where))
    return notes
