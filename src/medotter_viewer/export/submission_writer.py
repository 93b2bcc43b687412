"""Turn cases into lines of a submission and rows of its table, and see that each case is read back with its score."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from medotter_viewer.core.case import Case
from medotter_viewer.core.contours import ContourRules, Ring
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import MetricInputError, WriteError
from medotter_viewer.export.case_rings import CaseRings, case_rings
from medotter_viewer.export.companion import polygon_row, rings_score, score_rows
from medotter_viewer.export.drawn_rings import with_drawn_rings
from medotter_viewer.formats.polygon_csv import read_submission
from medotter_viewer.formats.submission_file import MAX_BYTES, MEGABYTE
from medotter_viewer.formats.submission_reader import MAX_LINES
from medotter_viewer.scoring.lung import LungScanScore

MadeLine = Callable[[str, int, Ring], bytes]

_SAME_SCORE = 1e-9  # relative, of a score and of volumes written and read back


class SubmissionWriter:
    """Writes one case after the other; what it keeps of each polygon is its area.

    Parameters
    ----------
    spec : EvalSpec
        Region and rules.
    region : str
        What is written.
    generated_only : bool
        Leave out what a person edited.
    as_drawn : bool
        Write a prediction that was drawn as contours (RTSTRUCT) as it was drawn.
    line : callable
        Makes the line of a polygon.
    out : Path
        For messages.

    Attributes
    ----------
    cases : set of str
        Those written.
    areas, traced : list
        Of every line its area in mm2, and whether it follows pixels.
    findings : list of Finding
        Cases that are left out, and what else was noticed.
    """

    def __init__(
        self, spec: EvalSpec, region: str, *, generated_only: bool, as_drawn: bool, line: MadeLine, out: Path
    ) -> None:
        self._spec, self._region, self._generated, self._as_drawn = spec, region, generated_only, as_drawn
        self._rules = spec.contours or ContourRules()
        self._line, self._out, self._bytes = line, out, 0
        self.cases: set[str] = set()
        self.areas: list[float] = []
        self.traced: list[bool] = []
        self.findings: list[Finding] = []

    def write(self, case: Case, lines: IO[bytes], rows: csv.DictWriter[str], piece: Path) -> None:
        """Write lines and rows of a case; one that cannot be written gives none, and a finding.

        Parameters
        ----------
        case : Case
            With its prediction.
        lines : binary file
            The submission.
        rows : csv.DictWriter
            Of the table.
        piece : Path
            Where the lines of this case stand by themselves, to be read back before they are taken over.

        Raises
        ------
        WriteError
            If they are not read back with the score that was meant, are more than a submission may hold, or the case
            was there before.
        """
        if self._as_drawn:
            case, noticed = with_drawn_rings(case, self._region, self._spec.regions[self._region])
            self.findings += noticed
        try:
            rings = case_rings(case, self._region, self._spec)
        except WriteError as error:
            self.findings.append(Finding("error", "case-not-written", str(error), where=case.case_id))
            return
        if rings.case_id in self.cases:
            raise WriteError(f"case {rings.case_id}: twice among the cases: its polygons would be united")
        self.cases.add(rings.case_id)
        if self._generated:
            rings = self._without_edited(rings)
        with piece.open("wb") as own:
            for number, found in rings.pred.items():
                for ring, area, origin in zip(found, rings.areas_mm2[number], rings.origins[number], strict=True):
                    line = self._line(rings.case_id, number, ring)
                    self._count(line, area, rings.traced)
                    own.write(line)
                    row = polygon_row(rings.case_id, number, len(self.areas), self._region, origin, area)
                    rows.writerow({column: _text(value) for column, value in row.items()})
        score = self._scored(rings, rings.pred)
        if score is not None:
            self._check_score(rings, score, piece)
            for row in score_rows(rings.case_id, score, self._region):
                rows.writerow({column: _text(value) for column, value in row.items()})
        with piece.open("rb") as own:
            while part := own.read(1 << 20):
                lines.write(part)

    def _scored(self, rings: CaseRings, pred: Mapping[int, Sequence[Ring]]) -> LungScanScore | None:
        try:
            return rings_score(rings, pred, self._rules)
        except MetricInputError as error:
            message = f"case {rings.case_id}: written without scores: {error}"
            self.findings.append(Finding("warning", "case-not-scored", message, where=rings.case_id))
            return None

    def _check_score(self, rings: CaseRings, score: LungScanScore, piece: Path) -> None:
        """Score what is read back: it must be what was meant."""
        found = read_submission(piece)
        if errors := errors_of(found.findings):
            reasons = "; ".join(error.message for error in errors[:3])
            raise WriteError(f"{self._out}: not written, case {rings.case_id} would be malformed: {reasons}")
        again = rings_score(rings, found.rings.get(rings.case_id, {}), self._rules)
        for name, value in score.metrics.items():
            read = None if again is None else again.metrics[name].value
            if value.value is None or read is None or abs(value.value - read) > _SAME_SCORE * abs(value.value):
                raise WriteError(
                    f"{self._out}: not written: case {rings.case_id} is read back with {name} {read}, not "
                    f"{value.value}; this is a defect"
                )

    def _without_edited(self, rings: CaseRings) -> CaseRings:
        chosen, n_left_out = rings.without_edited()
        if n_left_out:
            words = "1 polygon is" if n_left_out == 1 else f"{n_left_out} polygons are"
            message = f"case {rings.case_id}: {words} left out, as asked: drawn or changed by a person"
            self.findings.append(Finding("info", "edited-left-out", message, where=rings.case_id))
        return chosen

    def _count(self, line: bytes, area: float, traced: bool) -> None:
        """Keep to the limits of a submission."""
        self.areas.append(area)
        self.traced.append(traced)
        self._bytes += len(line)
        if len(self.areas) > MAX_LINES or self._bytes > MAX_BYTES:
            limits = f"{MAX_LINES:,} polygons and {MAX_BYTES // MEGABYTE} MB"
            raise WriteError(f"more than a submission may hold, {limits}: nothing is written; export fewer cases")


def _text(value: object) -> str:
    return repr(value) if isinstance(value, float) else "" if value is None else str(value)
