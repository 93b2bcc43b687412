"""``remap-audit``: show what the label remap does to the ids that really occur."""

from __future__ import annotations

import argparse

from medotter_viewer.cli import what_if
from medotter_viewer.cli.output import fail, print_findings, print_table, write_csv, write_json
from medotter_viewer.cli.source import source_of
from medotter_viewer.errors import UsageError
from medotter_viewer.evaluation.remap_audit import RemapAudit, audit_remaps, native_rows
from medotter_viewer.sources.source import Split

WORDS = {
    "mapped": "mapped",
    "dropped": "dropped (listed as 0)",
    "not_listed": "not listed: dropped",
    "not_seen": "listed, never seen",
}


def run(options: argparse.Namespace) -> int:
    """Print the audit, or a what-if; return 1 for an error, and with ``--strict`` for an id nobody decided about."""
    if options.what_if:
        return what_if.run(options)
    if options.compute:
        raise UsageError("--compute goes with --what-if")
    source = source_of(options, predictions=False)
    split: Split = "all" if options.all else options.split or "test"
    ids = [options.case] if options.case else source.case_ids(split)
    cases = (source.load(case_id, images=False) for case_id in ids)
    audit = audit_remaps(cases, source.spec, target=source.target)
    write_json(options.json, audit.to_dict())
    write_csv(options.csv, _csv_rows(audit))
    if options.json != "-":
        _print(audit)
        if not any(dataset.voxels for dataset in audit.datasets.values()):
            print(f"{source.target}: nothing to audit: {_why(len(ids), split)}")
    errors = [f for f in audit.findings if f.severity == "error"]
    for finding in [*errors, *(audit.undecided if options.strict else ())]:
        fail(finding.message)
    return 1 if errors or (options.strict and audit.undecided) else 0


def _why(n_cases: int, split: Split) -> str:
    if n_cases == 0:
        return f"no case in split {split!r}"
    counted = f"{n_cases} case{'s' if n_cases != 1 else ''}"
    return f"no ground truth of ids could be read in {counted} (contours have no ids)"


def _print(audit: RemapAudit) -> None:
    for name, dataset in audit.datasets.items():
        source = dataset.remap.source if dataset.remap is not None else "no remap known: native ids are not scored"
        print(f"{name}: {dataset.form}{f' ({source})' if source else ''}")
        print_table(
            ("native", "cases", "voxels", "canonical", "  what", "regions"),
            [
                (
                    str(r.native),
                    str(dataset.cases.get(r.native, 0)),
                    str(r.voxels),
                    str(r.canonical),
                    f"  {WORDS[r.status]}",
                    ", ".join(r.regions),
                )
                for r in native_rows(dataset.voxels, dataset.remap, audit.spec)
            ],
            left=0,
        )
        if dataset.regions_not_labelled:
            print(f"not labelled: {', '.join(dataset.regions_not_labelled)}")
        print()
    print_findings(audit.findings)


def _csv_rows(audit: RemapAudit) -> list[dict[str, object]]:
    return [
        {
            "dataset": name,
            "form": dataset.form,
            "native": r.native,
            "cases": dataset.cases.get(r.native, 0),
            "voxels": r.voxels,
            "canonical": r.canonical,
            "status": r.status,
            "regions": ";".join(r.regions),
        }
        for name, dataset in audit.datasets.items()
        for r in native_rows(dataset.voxels, dataset.remap, audit.spec)
    ]
