"""What stands above and below a picture: case, region and score; what to know before trusting it. Pure."""

from __future__ import annotations

from medotter_viewer.core.case import Case
from medotter_viewer.core.grid import Grid
from medotter_viewer.core.reprs import metric_text, number_text
from medotter_viewer.core.spec import MACRO, EvalSpec
from medotter_viewer.core.volume import Volume
from medotter_viewer.errors import MedotterViewerError, UnsupportedTaskError, UsageError
from medotter_viewer.figures.planes import turned_deg
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case

_TURNED_DEG = 0.5  # an image turned by more against the labels is no longer where it is drawn
_OBLIQUE_DEG = 1.0
_NOTES = 3


def _has_contours(case: Case) -> bool:
    return case.gt_contours is not None or case.pred_contours is not None


def title(case: Case, spec: EvalSpec, region: str) -> str:
    """Return case, region and score in words; contours have a score of the scan."""
    if _has_contours(case):
        return f"{case.case_id}   {_scan_text(case, spec)}"
    return f"{case.case_id}   {_region_text(region)}   {_dice_text(case, spec, region)}"


def _scan_text(case: Case, spec: EvalSpec) -> str:
    """The score of a scan's contours in words."""
    if case.gt_contours is None:
        return "not scored"
    try:
        score = score_case(case, spec)
    except (UnsupportedTaskError, UsageError):
        return ""
    except MedotterViewerError as error:
        return f"not scored: {error}"
    if score.status != "scored":
        return "no prediction" if score.status == "missing_prediction" else "not scored"
    name = spec.headline.metric if spec.headline.metric in score.case else next(iter(score.case))
    return f"{name.replace('_', ' ')} {metric_text(name, score.case[name])}"


def _region_text(region: str) -> str:
    return "all regions" if region == MACRO else region


def _dice_text(case: Case, spec: EvalSpec, region: str) -> str:
    """The dice of the title in words; for all regions the mean of those that count."""
    if case.gt is None:
        return "not scored"
    try:
        score = score_case(case, spec, ScoreOptions(metrics=("dice",)))
    except (UnsupportedTaskError, UsageError):
        return ""  # a task that dice says nothing about
    except MedotterViewerError as error:
        return f"not scored: {error}"
    if score.status == "missing_prediction":
        return "no prediction"
    if score.status == "error":
        return "not scored"
    if region != MACRO:
        found = score.regions.get(region)
        if found is None or (case.pred is None and found.metrics["dice"].value is None):
            return "no predicted mask" if case.pred is None else "not scored"
        dice = found.metrics["dice"]
        words = metric_text("dice", dice)
        return f"dice {words}" if dice.status in ("ok", "cap") else words
    values = [v for r in score.regions.values() if (v := r.metrics["dice"].value) is not None]
    if not values:
        return "no predicted mask" if case.pred is None else "not labelled"
    return f"mean dice {number_text('dice', sum(values) / len(values))} of {len(values)} regions"


def notes(case: Case, grid: Grid, image: Volume | None) -> list[str]:
    """Return what to know before trusting the picture."""
    found = []
    if case.gt is None and case.gt_native is not None:
        found.append("ground truth in its dataset's own ids: the label remap is not known, nothing is scored")
    if image is None:
        found.append("no image: contours only" if _has_contours(case) else "no image: labels only")
    points = (("ground truth", case.gt_landmarks), ("prediction", case.pred_landmarks))
    if counts := [f"{name} {len(side.points_world)}" for name, side in points if side is not None]:
        found.append(f"points of vertebrae ({', '.join(counts)}) are not drawn here: plot_spine draws them")
    if not grid.has_world and grid.unit == "mm":
        found.append("orientation unknown (the file has no form codes): no letters, positions or sides")
    elif grid.has_world and grid.oblique_deg > _OBLIQUE_DEG:
        found.append(f"oblique by {grid.oblique_deg:.1f} deg: shown along its own axes")
    if image is not None and grid.has_world and (turned := turned_deg(grid, image.grid)) > _TURNED_DEG:
        found.append(f"image turned by {turned:.1f} deg against the labels: only its centre is drawn where it lies")
    grave = list(dict.fromkeys(f.message for f in case.findings if f.severity != "info"))
    found += grave[:_NOTES]
    if len(grave) > _NOTES:
        found.append(f"and {len(grave) - _NOTES} more findings")
    return found
