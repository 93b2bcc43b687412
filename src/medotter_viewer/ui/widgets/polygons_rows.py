"""The lines of the polygon tables: every text of them, without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from medotter_viewer.core.contours import ContourRules, Origin, Overlap
from medotter_viewer.core.reprs import NOTHING
from medotter_viewer.geometry import ring_faults
from medotter_viewer.geometry.ring_faults import RingFault
from medotter_viewer.metrics.lung import SliceAreas
from medotter_viewer.scoring.lung import NO_TARGET, NO_TRUE_POSITIVE, LungScanScore
from medotter_viewer.ui.widgets.cells import Cell, Column, Tone
from medotter_viewer.ui.widgets.lines_model import Line
from medotter_viewer.ui.widgets.polygon_facts import PolygonFacts
from medotter_viewer.ui.widgets.scan_places import SeedPlace, StructureFacts
from medotter_viewer.ui.widgets.volumes import VolumeUnit

NUMBERS = (
    Column("scan", "numbers of the whole scan", stretch=True, least=110),
    Column("value", numeric=True),
    Column("", "unit"),
    Column("[mL]", "the same volume in mL", numeric=True),
)
SLICES = (
    Column("slice", "number in the scan's files", numeric=True),
    Column("TP\n[mm²]", "area in both", numeric=True),
    Column("FP\n[mm²]", "area predicted only", numeric=True),
    Column("FN\n[mm²]", "area missed", numeric=True),
    Column("thick\n[mm]", "slice thickness (0018,0050): what makes the area a volume", numeric=True),
    Column("predicted by", "who made the predicted polygons of the slice", stretch=True, least=60),
)
SEEDS = (
    Column("slice", "number in the scan's files", numeric=True),
    Column("x\n[mm]", "DICOM LPS", numeric=True),
    Column("y\n[mm]", "DICOM LPS", numeric=True),
    Column("in ground truth", "whether a contour of the target encloses it", stretch=True, least=80),
    Column("in prediction", "whether a predicted polygon encloses it", least=60),
)
STRUCTURES = (
    Column("no.", "number in the scan's files", numeric=True),
    Column("structure", "name in the scan's files; ● is the target: what is scored", stretch=True, least=90),
    Column("type", "what the dictionary of structures says it is", least=60),
    Column("made", "how its contours were made, by its type"),
    Column("contours", "on all slices", numeric=True),
)
FAULTS = (
    Column("slice", "number in the scan's files", numeric=True),
    Column("of", "side", least=50),
    Column("points", numeric=True),
    Column("area\n[mm²]", "by the even-odd rule", numeric=True),
    Column("what is odd", stretch=True, least=90),
)

OVERLAP_WORDS: Mapping[Overlap, str] = {
    "union": "rings of a side on a slice are united: nothing counts twice",
    "sum": "areas of a side's rings are added up, also where they overlap (the contest's first round)",
    "union_if_both": "rings are united where both sides have some, else added up (the contest's later scorer)",
}
_RULES: Mapping[str, str] = {
    NO_TARGET: "score 0: the scan has no target",
    NO_TRUE_POSITIVE: "score 0: prediction and target do not overlap",
}
_EFFECTS: Mapping[str, str] = {
    ring_faults.FEW_POINTS: "it encloses nothing, is not drawn and counts for nothing",
    ring_faults.NO_AREA: "it encloses nothing, is not drawn and counts for nothing",
    ring_faults.TINY: "it counts; drawn by mistake?",
    ring_faults.REPEATED: "it counts; a point stands twice in a row",
    ring_faults.CROSSING: "it counts by the even-odd rule: a part that it winds around twice is outside",
    ring_faults.NO_SLICE: "it cannot be drawn, and is no volume without a slice thickness",
    ring_faults.UNREADABLE: "a coordinate is not finite: the scan cannot be scored with it",
}
_ORIGINS: tuple[Origin, ...] = ("model", "imported", "edited")
_AREA = VolumeUnit("mm²", 1.0, 1)
_MM3, _ML = VolumeUnit("mm³", 1.0, 1), VolumeUnit("mL", 1000.0, 2)


def header_text(facts: PolygonFacts | None, rules: ContourRules, *, edited: str) -> str:
    """Return what is scored and by which rule, a line each."""
    if facts is None:
        return "No case is open."
    merged = facts.merged
    named = "" if merged in ((), (rules.target,)) else f" = {' + '.join(merged)}"
    several = " (merged)" if len(merged) > 1 else ""
    lines = [f"target {rules.target}{named}{several}", OVERLAP_WORDS[rules.overlap]]
    if facts.numbers is None:
        lines.append(f"not scored: {facts.why_not}")
    elif (rule := facts.numbers.score.rule) is not None:
        lines.append(_RULES.get(rule, rule.replace("_", " ")))
    lines += [edited] * bool(edited)
    return "\n".join(lines)


def alarm_text(facts: PolygonFacts | None) -> str:
    """Return what must not be overlooked: seeds outside the target."""
    outside = () if facts is None else facts.seeds_outside
    if not outside:
        return ""
    slices = ", ".join(str(one.seed[0]) for one in outside)
    one = len(outside) == 1
    return (
        f"{len(outside)} of {len(facts.seeds if facts else ())} seeds "
        f"{'lies' if one else 'lie'} outside the ground truth (slice {slices}): either is wrong"
    )


def origin_text(facts: PolygonFacts | None, number: int | None = None) -> str:
    """Return who made the predicted polygons of the scan, and of a slice.

    Examples
    --------
    >>> origin_text(None)
    ''
    """
    if facts is None:
        return ""
    if facts.pred is None:
        return "no predicted polygons"
    counts = facts.origins()
    n = sum(counts.values())
    text = f"{n} predicted polygon{'s' * (n != 1)}" + (f": {_who(counts)}" if n else "")
    if number is None:
        return text
    here = facts.origins(number)
    return f"{text} · slice {number}: {_who(here) or 'none'}"


def number_lines(found: LungScanScore | None, length_mm: float) -> list[Line]:
    """Return score, T, E and A."""
    if found is None:
        return []
    volumes, value = found.volumes, found.score.value
    formula = "exp(−(E/T + E/(L·A)) / 2)"
    why = f"{formula}: 1 without any error, 0 without any overlap; L = {length_mm:g} mm"
    return [
        Line((Cell("scan score", why, bold=True), Cell(f"{value or 0.0:.6f}", why, bold=True), Cell(), Cell())),
        _volume("T  target", volumes.t_mm3, "volume of the target: TP + FN"),
        _volume("TP", volumes.tp_mm3, "volume in both: areas times slice thickness", quiet=True),
        _volume("FP", volumes.fp_mm3, "volume predicted only", quiet=True),
        _volume("FN", volumes.fn_mm3, "volume missed", quiet=True),
        _volume("E  error", volumes.e_mm3, "FN·T/TP + FP; there is none without any true positive"),
        Line(
            (
                Cell("A  sphere", surface := "surface of a sphere as large as the target: (36π·T²)^⅓"),
                Cell(_AREA.text(volumes.a_mm2), surface),
                Cell("mm²", tone="quiet"),
                Cell(),
            )
        ),
    ]


def slice_lines(facts: PolygonFacts | None, *, worst_first: bool) -> list[Line]:
    """Return a line for each slice with a ring, by error volume or by number."""
    if facts is None or facts.numbers is None:
        return []
    slices, thickness = facts.numbers.slices, facts.numbers.thickness_mm

    def error(number: int) -> float:
        return (slices[number].fp_mm2 + slices[number].fn_mm2) * thickness[number]

    order = sorted(slices, key=lambda n: (-error(n), n)) if worst_first else sorted(slices)
    return [_slice(n, slices[n], thickness[n], _who(facts.origins(n)), error(n)) for n in order]


def seed_lines(seeds: Sequence[SeedPlace]) -> list[Line]:
    """Return a line for each seed; one outside the ground truth is loud."""
    lines = []
    for one in seeds:
        number, x, y = one.seed
        tone: Tone = "error" if one.in_gt is False else "plain"
        words = {True: "inside", False: "OUTSIDE", None: NOTHING}[one.in_gt]
        if not one.on_slice:
            words = f"{words}: no such slice"
        pred = {True: "inside", False: "outside", None: NOTHING}[one.in_pred]
        cells = (Cell(str(number), tone=tone), Cell(f"{x:.1f}", tone=tone), Cell(f"{y:.1f}", tone=tone))
        why = "a seed is a known point inside a tumour" if one.in_gt is False else ""
        lines.append(Line((*cells, Cell(words, why, tone, bold=tone == "error"), Cell(pred)), (number, x, y)))
    return lines


def structure_lines(structures: Sequence[StructureFacts]) -> list[Line]:
    """Return a line for each structure; those that are scored are bold."""
    lines = []
    for one in structures:
        name = f"● {one.name}" if one.is_target else one.name
        kind = "same" if one.kind == one.name else one.kind or NOTHING
        tone: Tone = "plain" if one.n_contours else "quiet"
        made = one.reliability or NOTHING
        lines.append(
            Line(
                (
                    Cell(NOTHING if one.number is None else str(one.number), tone=tone),
                    Cell(name, "● the target: what is scored" if one.is_target else "", tone, bold=one.is_target),
                    Cell(kind, one.kind or "the dictionary does not list this name", "quiet"),
                    Cell(made, made, "quiet"),
                    Cell(f"{one.n_contours:,}", tone=tone),
                ),
                one.middle,
            )
        )
    return lines


def fault_lines(gt: Sequence[RingFault], pred: Sequence[RingFault]) -> list[Line]:
    """Return a line for each odd ring of the target and of the prediction, slice by slice."""
    both = [(fault, "target") for fault in gt] + [(fault, "prediction") for fault in pred]
    lines = []
    for fault, side in sorted(both, key=lambda one: one[0].number):
        why = "\n".join(f"{reason}: {_EFFECTS[reason]}" for reason in fault.reasons)
        x, y = fault.centre or (None, None)
        area = NOTHING if fault.area_mm2 is None else _AREA.text(fault.area_mm2)
        lines.append(
            Line(
                (
                    Cell(str(fault.number)),
                    Cell(side, tone="quiet"),
                    Cell(str(fault.n_points)),
                    Cell(area),
                    Cell(", ".join(fault.reasons), why),
                ),
                (fault.number, x, y),
            )
        )
    return lines


def _who(counts: Mapping[Origin, int]) -> str:
    return ", ".join(f"{counts[who]} {who}" for who in _ORIGINS if counts.get(who))


def _volume(name: str, mm3: float | None, why: str, *, quiet: bool = False) -> Line:
    tone: Tone = "quiet" if quiet else "plain"
    if mm3 is None:
        return Line((Cell(name, why, tone), Cell(NOTHING, why, "quiet"), Cell(), Cell()))
    texts = Cell(_MM3.text(mm3), why, tone), Cell("mm³", tone="quiet"), Cell(_ML.text(mm3), why, tone)
    return Line((Cell(name, why, tone), *texts))


def _slice(number: int, areas: SliceAreas, thickness_mm: float, who: str, error_mm3: float) -> Line:
    why = f"error (FP + FN)·thickness = {_MM3.text(error_mm3)} mm³"

    def cell(area: float) -> Cell:
        return Cell(_AREA.text(area), why, "plain" if area else "quiet")

    return Line(
        (
            Cell(str(number), why),
            cell(areas.tp_mm2),
            cell(areas.fp_mm2),
            cell(areas.fn_mm2),
            Cell(f"{thickness_mm:g}"),
            Cell(who or NOTHING, tone="quiet"),
        ),
        (number, None, None),
    )
