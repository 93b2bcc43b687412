"""``check``: look for what is wrong, without scoring."""

from __future__ import annotations

import argparse

from medotter_viewer.checks.source import check_source
from medotter_viewer.cli.output import fail, print_findings, write_json
from medotter_viewer.cli.source import source_of, target_text
from medotter_viewer.core.findings import Finding, errors_of
from medotter_viewer.errors import BundleError, ReadError


def run(options: argparse.Namespace) -> int:
    """Print the findings and return 1 when one is an error."""
    try:
        findings = list(check_source(source_of(options)))
    except (BundleError, ReadError) as error:
        findings = [Finding("error", "bad-configuration", str(error), file=target_text(options))]
    errors = errors_of(findings)
    content = {"target": target_text(options), "ok": not errors, "findings": [f.to_dict() for f in findings]}
    write_json(options.json, content)
    if options.json != "-":
        for finding in findings:
            if finding.severity == "error":  # its message stands on stderr
                print(f"error: {finding.code}: {finding.where or finding.file or target_text(options)}")
            else:
                print_findings([finding])
        print(f"{_count(len(errors), 'error')}, {_count(len(findings) - len(errors), 'other finding')}")
    for finding in errors:
        fail(finding.message)
    return 1 if errors else 0


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
