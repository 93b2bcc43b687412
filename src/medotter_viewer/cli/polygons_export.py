"""``polygons export``: write predictions as a submission of contours, or one case as an RTSTRUCT."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from medotter_viewer.cli.output import ProgressLine, fail, print_findings, write_json
from medotter_viewer.cli.source import source_of
from medotter_viewer.core.case import Case
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import UsageError
from medotter_viewer.export.polygon_files import export_cases, submission_paths
from medotter_viewer.export.sources_kept import check_not_a_source
from medotter_viewer.sources.source import CaseSource

_SUBMISSION, _STRUCTURES = ".csv", ".dcm"


def run(options: argparse.Namespace) -> int:
    """Write the files and return 1 when a case is left out."""
    suffix = options.out.suffix.lower()
    if suffix not in (_SUBMISSION, _STRUCTURES):
        raise UsageError(
            f"--out {options.out}: expected a name that ends in .csv (a submission; --zip writes an archive beside it) "
            "or in .dcm (an RTSTRUCT)"
        )
    source = source_of(options)
    if source.spec.is_instances:
        raise UsageError("ids are names of single objects here: there is no region to be written as polygons")
    case_ids = _case_ids(source, options)
    paths = submission_paths(options.out, zipped=options.zip).values() if suffix == _SUBMISSION else [options.out]
    check_not_a_source(paths, source.entries("all"))
    return _structures(options, source, case_ids) if suffix == _STRUCTURES else _submission(options, source, case_ids)


def _submission(options: argparse.Namespace, source: CaseSource, case_ids: Sequence[str]) -> int:
    region = _region(source.spec, options.region)
    progress = ProgressLine("written")
    found = export_cases(
        _cases(source, case_ids),
        options.out,
        spec=source.spec,
        region=region,
        generated_only=options.generated_only,
        zipped=options.zip,
        as_drawn=True,
        on_progress=lambda done, polygons: progress(done, len(case_ids), more=f" cases, polygons {polygons}"),
    )
    content = {
        "files": [str(path) for path in found.files],
        "region": region,
        "cases": found.cases,
        "polygons": found.polygons,
        "findings": [finding.to_dict() for finding in found.findings],
    }
    write_json(options.json, content)
    if options.json != "-":
        _print(found.findings)
        for path in found.files:
            print(f"wrote {path}")
        if found.files:
            print(f"region {region}: polygons {found.polygons}, cases {found.cases}")
    errors = errors_of(found.findings)
    for finding in errors:
        fail(finding.message)
    if not found.files:
        fail(f"{options.out}: not written: no case could be")
    return 1 if errors or not found.files else 0


def _structures(options: argparse.Namespace, source: CaseSource, case_ids: Sequence[str]) -> int:
    from medotter_viewer.export.structure_file import export_structures

    if len(case_ids) != 1:
        listed = ", ".join(case_ids[:8]) + (", ..." if len(case_ids) > 8 else "")
        raise UsageError(f"an RTSTRUCT holds one case: name it by --case; cases are {listed}")
    if options.zip:
        raise UsageError("--zip is for a submission, FILE.csv")
    regions = list(source.spec.regions) if options.region is None else [_region(source.spec, options.region)]
    found = export_structures(
        source.load(case_ids[0], images=False),
        options.out,
        spec=source.spec,
        regions=regions,
        generated_only=options.generated_only,
        as_drawn=True,
    )
    content = {
        "files": [str(path) for path in found.files],
        "region": options.region,
        "cases": found.cases,
        "polygons": found.polygons,
        "findings": [finding.to_dict() for finding in found.findings],
    }
    write_json(options.json, content)
    if options.json != "-":
        _print(found.findings)
        print(f"wrote {options.out}")
        print(f"case {case_ids[0]}: regions {', '.join(regions)}; contours {found.polygons}")
    return 0


def _print(findings: Sequence[Finding]) -> None:
    print_findings(finding for finding in findings if finding.severity != "error")


def _region(spec: EvalSpec, named: str | None) -> str:
    """The region that is meant: a submission holds one."""
    names = ", ".join(spec.regions) or "none"
    if named is not None and named not in spec.regions:
        raise UsageError(f"--region {named}: no such region; regions are {names}")
    if named is None and len(spec.regions) != 1:
        raise UsageError(f"a submission holds one region: name it by --region; regions are {names}")
    return named if named is not None else next(iter(spec.regions))


def _case_ids(source: CaseSource, options: argparse.Namespace) -> list[str]:
    """The cases that are meant: those named, in the order of the source, else all of the split."""
    if options.case is None:
        return source.case_ids(options.split or "test")
    known = source.case_ids("all")
    if unknown := [case_id for case_id in options.case if case_id not in known]:
        raise UsageError(f"--case {', '.join(unknown)}: no such case; 'medotter-viewer cases' lists them")
    return [case_id for case_id in known if case_id in options.case]


def _cases(source: CaseSource, case_ids: Sequence[str]) -> Iterator[Case]:
    """One case after the other."""
    for case_id in case_ids:
        yield source.load(case_id, images=False)
