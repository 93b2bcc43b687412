"""``polygons export``: write predicted label maps as a submission of contours."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from medotter_viewer.cli.output import ProgressLine, fail, print_findings, write_json
from medotter_viewer.cli.source import source_of
from medotter_viewer.core.case import Case
from medotter_viewer.core.findings import errors_of
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import UsageError
from medotter_viewer.export.polygon_files import export_cases
from medotter_viewer.sources.source import CaseSource, Split


def run(options: argparse.Namespace) -> int:
    """Write the files and return 1 when a case is left out."""
    if options.out.suffix.lower() != ".csv":
        raise UsageError(f"--out {options.out}: expected a name that ends in .csv; --zip writes an archive beside it")
    source = source_of(options)
    region = _region(source.spec, options.region)
    found = export_cases(
        _cases(source, options.split or "test"),
        options.out,
        spec=source.spec,
        region=region,
        generated_only=options.generated_only,
        zipped=options.zip,
    )
    content = {
        "files": [str(path) for path in found.files],
        "region": region,
        "cases": found.cases,
        "polygons": found.polygons,
        "findings": [finding.to_dict() for finding in found.findings],
    }
    write_json(options.json, content)
    errors = errors_of(found.findings)
    if options.json != "-":
        print_findings(finding for finding in found.findings if finding not in errors)
        for path in found.files:
            print(f"wrote {path}")
        if found.files:
            print(f"region {region}: polygons {found.polygons}, cases {found.cases}")
    for finding in errors:
        fail(finding.message)
    if not found.files:
        fail(f"{options.out}: not written: no case could be")
    return 1 if errors or not found.files else 0


def _region(spec: EvalSpec, named: str | None) -> str:
    """The region that is meant: a submission holds one."""
    names = ", ".join(spec.regions) or "none"
    if spec.is_instances:
        raise UsageError("ids are names of single objects here: there is no region to be written as polygons")
    if named is not None and named not in spec.regions:
        raise UsageError(f"--region {named}: no such region; regions are {names}")
    if named is None and len(spec.regions) != 1:
        raise UsageError(f"a submission holds one region: name it by --region; regions are {names}")
    return named if named is not None else next(iter(spec.regions))


def _cases(source: CaseSource, split: Split) -> Iterator[Case]:
    """One case after the other."""
    case_ids = source.case_ids(split)
    progress = ProgressLine("written")
    for place, case_id in enumerate(case_ids, 1):
        yield source.load(case_id, images=False)
        progress(place, len(case_ids))
