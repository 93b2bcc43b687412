"""The words and lines of the dock of vertebrae, as values."""

from __future__ import annotations

from typing import Any

from medotter_viewer.core.reprs import IMAGE_DIAGONAL, NOTHING, number_text
from medotter_viewer.core.scores import CaseScore, RegionScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.core.vertebra_names import vertebra_name
from medotter_viewer.ui.widgets.cells import Cell, Column
from medotter_viewer.ui.widgets.reasons import why
from medotter_viewer.ui.widgets.vertebra_facts import VertebraFacts

_METRICS = ("dice", "hd")
COLUMNS = (
    Column("vertebra", "from the head to the feet; a click goes there", least=60),
    Column("distance\n[mm]", "between the two points of the vertebra", numeric=True),
    Column("nearest", "ground-truth vertebra nearest to the predicted point, of those that compete", least=44),
    Column("result", "identified (hit), or why not", stretch=True, least=70),
    Column("dice", "of the vertebra's masks", numeric=True),
    Column(
        "hd\n[mm]",
        "Hausdorff distance of the vertebra's masks, the largest: not the hd95 of the Scores panel",
        numeric=True,
    ),
)
_RULES = {"all_gt": "nearest of all, < {mm}", "common": "nearest of those on both sides, ≤ {mm}"}


def levels(by: int) -> str:
    """Return a shift in words.

    Examples
    --------
    >>> levels(1), levels(-2)
    ('1 level towards the feet', '2 levels towards the head')
    """
    return f"{abs(by)} level{'s' * (abs(by) > 1)} towards the {'feet' if by > 0 else 'head'}"


def header_text(facts: VertebraFacts | None, *, edited: str = "") -> str:
    """Return the numbers of the scan: rates by both rules, distance, missed, extra, edited."""
    if facts is None:
        return ""
    found = facts.found
    if found is None:
        there = [name for name, side in (("ground truth", facts.gt), ("prediction", facts.pred)) if side is not None]
        return f"{there[0]} alone: nothing to compare" if there else "no points, and no mask to take them from"
    own, rate = facts.candidates, found.id_rate(facts.candidates)
    rule = _RULES[own].format(mm=f"{facts.rules.max_distance_mm:g} mm")
    lines = []
    if rate is None:
        lines.append("id rate: not defined, the ground truth has no vertebra")
    else:
        lines.append(f"id rate {rate:.3f}: {len(found.hits(own))} of {found.n_gt} ({rule})")
        others = f"official {number_text('id_rate', found.id_rate('common'))}"
        lines.append(f"by rule: {others} · task text {number_text('id_rate', found.id_rate('all_gt'))}")
    distance = "not defined" if found.d_mean is None else f"{found.d_mean:.2f} mm"
    parts = [f"mean distance {distance}", f"missed {len(found.missing)}", f"extra {len(found.extra)}"]
    lines.append(" · ".join([*parts, *[edited] * bool(edited)]))
    return "\n".join(lines)


def derived_text(facts: VertebraFacts | None) -> str:
    """Return whose points were taken from a mask, and what that means; empty where none were."""
    if facts is None or not facts.derived:
        return ""
    text = f"points from mask ({' and '.join(facts.derived)}): about 12 mm from the centres of the vertebral bodies"
    return text + ("; vertebrae cut off by the image count too" if "ground truth" in facts.derived else "")


def shift_text(facts: VertebraFacts | None) -> str:
    """Return the diagnosis of shifted labels, or what the what-if does; empty without either."""
    if facts is None:
        return ""
    found = facts.found
    if facts.level_shift:
        lines = [f"What if: all predicted labels moved {levels(facts.level_shift)}."]
        if found is not None and facts.rate_without is not None:
            now = number_text("id_rate", found.id_rate(facts.candidates))
            lines.append(f"id rate {facts.rate_without:.3f} → {now}.")
        if facts.left_out:
            lines.append(f"Beyond the end, left out: {', '.join(map(vertebra_name, facts.left_out))}.")
        return " ".join(lines)
    if found is not None and found.level_shift:
        return f"Labels look shifted: moved {levels(found.level_shift)}, they fit."
    return ""


def vertebra_cells(label: int, facts: VertebraFacts, score: CaseScore | None, spec: EvalSpec, *, coming: bool) -> Any:
    """Return the line of a vertebra; `coming` says that more metrics are on their way."""
    name = Cell(vertebra_name(label), f"label {label}")
    region = _region(label, score, spec)
    overlap = [_overlap(metric, region, spec, coming=coming) for metric in _METRICS]
    if facts.found is None:
        side = "ground truth only" if facts.gt is not None and label in facts.gt.points_world else "prediction only"
        return [name, _NOTHING, _NOTHING, Cell(side, tone="quiet"), *overlap]
    match = facts.found.matches[label]
    nearest = match.nearest[facts.candidates]
    distance = _NOTHING if match.distance_mm is None else Cell(f"{match.distance_mm:.2f}")
    near = _NOTHING if nearest is None else Cell(vertebra_name(nearest), bold=nearest != label)
    return [name, distance, near, _result(label, facts), *overlap]


_NOTHING = Cell(NOTHING, tone="quiet")


def _result(label: int, facts: VertebraFacts) -> Cell:
    """Hit, or what is wrong; a point that a person moved says so."""
    match = None if facts.found is None else facts.found.matches[label]
    why = None if match is None else match.why_not(facts.candidates)
    swapped = facts.swapped_with.get(label)
    moved = facts.pred is not None and label in facts.pred.edited and not facts.level_shift
    text = f"swapped with {vertebra_name(swapped)}" if swapped is not None else why or "hit"
    hint = "predicted, but the ground truth does not have it: no rate counts it" if why == "extra" else ""
    tone = "plain" if why is None else "quiet" if why == "extra" else "error"
    return Cell(text + " · moved by hand" * moved, hint, tone)  # type: ignore[arg-type]


def _region(label: int, score: CaseScore | None, spec: EvalSpec) -> RegionScore | None:
    """The region that is this vertebra alone."""
    if score is None or score.status != "scored":
        return None
    names = (name for name, ids in spec.regions.items() if ids == (label,) and name in score.regions)
    return next((score.regions[name] for name in names), None)


def _overlap(metric: str, region: RegionScore | None, spec: EvalSpec, *, coming: bool) -> Cell:
    if region is None:
        return _NOTHING
    value = region.shown(metric)
    if value is None:
        return Cell("…", "being computed", "quiet") if coming else _NOTHING
    reason = why(metric, region, spec, "directed_max")
    if value.status in ("not_labelled", "absent", "error"):
        return Cell(NOTHING, reason, "quiet")
    if value.status == "cap":
        text = f"{value.value:.0f} diag." if value.rule == IMAGE_DIAGONAL else f"{value.value:g}"
        return Cell(f"cap {text}", reason, italic=True)
    return Cell(number_text(metric, value.value), reason)
