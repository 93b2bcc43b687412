"""``polygons check``: say before the contest does what is wrong with a submission of contours.

The other commands about polygons stand beside this module: `polygons_score` and `polygons_export`.
"""

from __future__ import annotations

import argparse

from medotter_viewer.checks.submission import check_submission
from medotter_viewer.cli.output import ProgressLine, fail, print_findings, write_json
from medotter_viewer.core.findings import Finding, errors_of

_SHOWN = 20  # findings of one severity on the screen; the JSON has more


def run(options: argparse.Namespace) -> int:
    """Print the findings and return 1 when the submission is malformed."""
    slices = None
    if options.scans is not None:
        from medotter_viewer.sources.scans import scan_slices

        slices = scan_slices(options.scans)
    found = check_submission(
        options.submission,
        slices=slices,
        contest_reader=options.contest_reader,
        on_progress=ProgressLine("MB read:"),
    )
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
        print(f"{options.submission}: {found.status}: polygons {found.polygons}, lines {found.lines}")
    for finding in errors[:_SHOWN]:
        fail(finding.message)
    if len(errors) > _SHOWN:
        fail(f"and {_more(len(errors) - _SHOWN, 'error')}: see --json FILE")
    return 1 if found.status == "malformed" else 0


def _print_some(findings: list[Finding]) -> None:
    print_findings(findings[:_SHOWN])
    if len(findings) > _SHOWN:
        print(f"and {_more(len(findings) - _SHOWN, 'finding')}: see --json FILE")


def _more(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'} more"
