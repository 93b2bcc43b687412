"""``polygons score``: score a submission of lung contours on a folder of scans, as the contest does."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from medotter_viewer.cli.output import ProgressLine, fail, print_findings, print_table, write_json
from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ContourRules
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.core.reprs import NOTHING
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import LabelError, MetricInputError, UsageError
from medotter_viewer.scoring.lung import NO_TARGET, LungScanScore, contours_score
from medotter_viewer.sources.scan_source import SCALE, ScanSource

_LISTED = 20  # names of structures in a message


@dataclass(frozen=True, slots=True)
class ScanRow:
    """One scan without its contours: its score, or why it has none, and what was noticed."""

    scan_id: str
    findings: Sequence[Finding]
    found: LungScanScore | None = None
    error: str | None = None

    @property
    def is_without_target(self) -> bool:
        """Whether there is no ground truth to find, so that the score is 0 whatever is predicted."""
        return self.found is not None and self.found.score.rule == NO_TARGET

    @property
    def value(self) -> float | None:
        """The score, 0 to 1; None where there is none."""
        return None if self.found is None else self.found.score.value


def run(options: argparse.Namespace) -> int:
    """Print the scores and return 1 when the submission is malformed or a scan cannot be scored."""
    rules = ContourRules(target=options.target or ContourRules().target, overlap=options.overlap)
    source = ScanSource(options.scans, options.submission, rules=rules, structure_dict=options.structures)
    notes = [*source.list_findings, *source.submission_findings]
    if source.submission_error is not None:
        if not errors_of(source.submission_findings):
            notes.append(source.submission_error)
        content: dict[str, Any] = {"score": None, "mean": None, "n_scans": len(source.case_ids()), "scans": {}}
        write_json(options.json, {**content, "notes": [note.to_dict() for note in notes]})
        if options.json != "-":
            print_findings(notes)
        fail(source.submission_error.message)
        return 1
    if all(source.entry(case_id).pred_path is None for case_id in source.case_ids()):
        raise UsageError(
            f"{options.submission}: holds no {rules.submission}, and no file that is named for a scan "
            f"(e.g. {source.case_ids()[0]}.nii.gz)"
        )
    progress, rows = ProgressLine("scored"), []
    names: dict[str, None] = {}  # of all structures there are
    wanted: set[str] = set()
    no_file: list[str] = []
    no_polygon: list[str] = []
    for place, case_id in enumerate(source.case_ids(), 1):
        case = source.load(case_id, images=False)
        names.update(dict.fromkeys(case.structures))
        wanted |= case.entry.scan.names.names_of(rules.target) if case.entry.scan is not None else set()
        rows.append(score_scan(case, source.spec))
        if case.entry.pred_path is None:
            no_file.append(case_id)
        elif case.pred is None and (case.pred_contours is None or not case.pred_contours.n_rings):
            no_polygon.append(case_id)
        progress(place, len(source.case_ids()))
    # One that is there but could not be placed is no misspelling: its scan counts 0, and the notes say why.
    is_there = any(name == one or name.startswith(f"{one} (") for name in names for one in wanted)
    if options.target is not None and not is_there and rows and all(row.is_without_target for row in rows):
        raise UsageError(_no_such_target(options, list(names)))
    left_out = [row for row in rows if row.is_without_target] if options.skip_empty_truth else []
    counted = [row for row in rows if row not in left_out]
    notes += [_left_out(row) for row in left_out]
    if no_polygon := [case_id for case_id in no_polygon if case_id not in {row.scan_id for row in left_out}]:
        message = f"no polygon of {len(no_polygon)} scans, which score 0 and count: {_listed(no_polygon)}"
        notes.append(Finding("info", "scan-not-submitted", message))
    values = [row.value for row in counted if row.value is not None]
    mean = math.fsum(values) / len(values) if values and len(values) == len(counted) else None
    write_json(
        options.json,
        {
            "score": None if mean is None else SCALE * mean,
            "mean": mean,
            "n_scans": len(counted),
            "scans": {row.scan_id: _plain(row) for row in counted},
            "notes": [note.to_dict() for note in notes],
        },
    )
    if options.json != "-":
        _print(rows, counted, mean, notes, source)
    for row in rows:
        if row.error is not None:
            fail(f"{row.scan_id}: not scored: {row.error}")
    for case_id in no_file:
        fail(f"{case_id}: no prediction: it scores 0, the result is incomplete")
    if not counted:
        fail("no scan has a target: there is no score")
    return 1 if errors_of(notes) or any(row.error is not None for row in rows) or no_file or not counted else 0


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_LISTED]) + (f", ... ({len(names)} in all)" if len(names) > _LISTED else "")


def _no_such_target(options: argparse.Namespace, names: list[str]) -> str:
    """What is said where no scan has the target that was asked for."""
    there = _listed(names)
    return (
        f"--target {options.target}: no scan of {options.scans} has contours of it; structures are {there or 'none'}; "
        "a type needs the dictionary that lists its names (--structures FILE)"
    )


def score_scan(case: Case, spec: EvalSpec) -> ScanRow:
    """Return the score of one scan, or why it has none."""
    if case.errors:
        error = "; ".join(dict.fromkeys(f.message for f in case.errors))
        return ScanRow(case.case_id, case.findings, error=error)
    try:
        found = contours_score(case, spec)
    except (MetricInputError, LabelError) as error:
        why = Finding("error", "scan-not-scored", str(error), where=case.case_id)
        return ScanRow(case.case_id, (*case.findings, why), error=str(error))
    if case.pred is None and case.pred_contours is None:
        message = f"{case.case_id}: no prediction found, looked for {case.entry.pred_sought}: counted as empty"
        missing = Finding("warning", "no-prediction", message, where=case.case_id)
        return ScanRow(case.case_id, (*case.findings, missing), found)
    return ScanRow(case.case_id, case.findings, found)


def _plain(row: ScanRow) -> dict[str, Any]:
    """The JSON form of one scan."""
    found = row.found
    volumes = None if found is None else found.volumes
    names = ("tp_mm3", "fp_mm3", "fn_mm3", "t_mm3", "e_mm3", "a_mm2")
    slices = {} if found is None else found.slices
    thickness = {} if found is None else found.thickness_mm
    return {
        **{name: None if volumes is None else getattr(volumes, name) for name in names},
        "score": row.value,
        "slices": {
            str(number): {
                "tp_mm2": areas.tp_mm2,
                "fp_mm2": areas.fp_mm2,
                "fn_mm2": areas.fn_mm2,
                "thickness_mm": thickness[number],
            }
            for number, areas in slices.items()
        },
        "notes": [note.to_dict() for note in row.findings],
    }


def _left_out(row: ScanRow) -> Finding:
    message = f"{row.scan_id}: no target: left out of the mean, as asked"
    return Finding("info", "scan-left-out", message, where=row.scan_id)


def _print(
    rows: list[ScanRow], counted: list[ScanRow], mean: float | None, notes: list[Finding], source: ScanSource
) -> None:
    header = ("scan", "score", "TP (mm3)", "FP (mm3)", "FN (mm3)", "target (mm3)", "slices")
    print_table(header, [_cells(row, counted) for row in rows])
    total = NOTHING if mean is None else f"{SCALE * mean:.2f}"
    print(f"\nscore of {source.model}: {total}  (mean {_text(mean, '.6f')} of {len(counted)} scans)")
    print(f"target {source.rules.target}; rings of a side on a slice: {source.rules.overlap}")
    print_findings(notes)
    for row in rows:
        print_findings(row.findings)


def _cells(row: ScanRow, counted: list[ScanRow]) -> tuple[str, ...]:
    if row.found is None:
        return row.scan_id, "error", *[NOTHING] * 5
    v = row.found.volumes
    score = _text(row.value, ".6f") if row in counted else "left out"
    volumes = (f"{value:.2f}" for value in (v.tp_mm3, v.fp_mm3, v.fn_mm3, v.t_mm3))
    return row.scan_id, score, *volumes, str(len(row.found.slices))


def _text(value: float | None, form: str) -> str:
    return NOTHING if value is None else format(value, form)
