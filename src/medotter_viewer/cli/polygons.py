"""``polygons check``: say before the contest does what is wrong with a submission of contours.

The other commands about polygons stand beside this module: `polygons_score` and `polygons_export`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from medotter_viewer.checks.submission import SubmissionCheck, check_submission
from medotter_viewer.cli.output import ProgressLine, fail, print_findings, write_json
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.errors import ReadError

_SHOWN = 20  # findings of one severity on the screen; the JSON has more


def run(options: argparse.Namespace) -> int:
    """Print the findings and return 1 when the submission is malformed."""
    slices = None
    if options.scans is not None:
        from medotter_viewer.sources.scans import scan_slices

        slices = scan_slices(options.scans)
    submission = _file(options.submission)
    found = check_submission(
        submission,
        slices=slices,
        contest_reader=options.contest_reader,
        on_progress=ProgressLine("MB read:"),
    )
    if options.scans is not None and found.status == "ok":
        found = replace(found, findings=[*found.findings, *_on_scans(found, options.scans, str(submission))])
    content = {
        "status": found.status,
        "lines": found.lines,
        "polygons": found.polygons,
        "findings": [finding.to_dict() for finding in found.findings],
    }
    write_json(options.json, content)
    errors = errors_of(found.findings)
    if options.json != "-":
        _print_some([finding for finding in found.findings if finding not in errors])
        print(f"{submission}: {found.status}: polygons {found.polygons}, lines {found.lines}")
    for finding in errors[:_SHOWN]:
        fail(finding.message)
    if len(errors) > _SHOWN:
        fail(f"and {_more(len(errors) - _SHOWN, 'error')}: see --json FILE")
    return 1 if found.status == "malformed" else 0


def _file(given: Path) -> Path:
    """The submission itself, or the one in a folder, as `polygons score` takes it."""
    if not given.is_dir():
        return given
    files = [path for name in ("submission.csv", "submission.zip") if (path := given / name).is_file()]
    if len(files) != 1:
        there = "both submission.csv and submission.zip; keep one" if files else "no submission.csv or submission.zip"
        raise ReadError(f"{given}: holds {there}")
    return files[0]


def _on_scans(found: SubmissionCheck, root: Path, file: str) -> Iterator[Finding]:
    """What the scans say of the polygons: which lie elsewhere, which scans have none."""
    from medotter_viewer.sources.scan_fields import outside_image
    from medotter_viewer.sources.scans import find_scans, read_scan, scan_id

    missing = []
    for folder in find_scans(root):
        name = scan_id(folder)
        if name not in found.boxes:
            missing.append(name)
            continue
        try:
            stack = read_scan(folder)[0].stack
        except ReadError:  # told where the scan is checked
            continue
        if (beside := outside_image(name, found.boxes[name], stack, file)) is not None:
            yield beside
    if missing:
        listed = ", ".join(missing[:_SHOWN]) + (", ..." if len(missing) > _SHOWN else "")
        message = f"no polygon of {len(missing)} of the scans, which count as without prediction: {listed}"
        yield Finding("warning", "scan-not-submitted", message, file)


def _print_some(findings: list[Finding]) -> None:
    print_findings(findings[:_SHOWN])
    if len(findings) > _SHOWN:
        print(f"and {_more(len(findings) - _SHOWN, 'finding')}: see --json FILE")


def _more(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'} more"
