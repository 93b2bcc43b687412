"""``agreement``: how far the verdicts of two readers agree."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from medotter_viewer.cli.output import fail, print_findings, print_table, write_all, write_csv, write_json
from medotter_viewer.core.findings import errors_of
from medotter_viewer.core.reprs import NOTHING
from medotter_viewer.review.agreement import NO_COMMON_CASE, ONE_CATEGORY, Agreement, JudgedCase, compare_readers
from medotter_viewer.review.reading import read_reviews
from medotter_viewer.review.records import Record

_WHY = {
    ONE_CATEGORY: "not defined: both readers gave one and the same verdict to every case",
    NO_COMMON_CASE: "not defined: no case was judged by both",
}


def run(options: argparse.Namespace) -> int:
    """Print kappa, the table of verdicts, and the cases in which the readers differ."""
    found = compare_readers(read_reviews(options.first), read_reviews(options.second), force=options.force)
    written = write_all(
        lambda: write_csv(options.csv, list(_rows(found))),
        lambda: write_json(options.json, found.to_dict()),
    )
    if options.json != "-":
        _print(found)
    errors = errors_of(found.findings)
    print_findings([f for f in found.findings if f not in errors], to_stderr=True)
    for error in errors:
        fail(error.message)
    if not found.pairs:
        fail("no case was judged by both readers")
    return 0 if written and found.pairs and not errors else 1


def _rows(found: Agreement) -> Iterator[dict[str, Any]]:
    for case in found.cases:
        yield {
            "case_id": case.case_id,
            "first_reader": found.readers[0],
            "first": case.first,
            "second_reader": found.readers[1],
            "second": case.second,
            "agree": ("yes" if case.first == case.second else "no") if case.is_common else None,
            "first_comments": " | ".join(_comment(record) for record in case.first_comments),
            "second_comments": " | ".join(_comment(record) for record in case.second_comments),
        }


def _print(found: Agreement) -> None:
    one, other = found.readers
    print(found.subject.describe())
    print(f"1: {one}   2: {other}")
    print()
    if found.verdicts:
        rows = [(f"1: {row}", *map(str, counts.values())) for row, counts in found.table.items()]
        print_table(("", *(f"2: {verdict}" for verdict in found.verdicts)), rows)
        print()
    n = len(found.pairs)
    same = n - len(found.differing)
    share = "" if found.observed is None else f", {found.observed:.3f}"
    print(f"judged by both: {n}; same verdict: {same}{share}")
    rule = found.kappa_rule
    kappa = _WHY[rule] if found.kappa is None and rule is not None else f"{found.kappa:.3f}"
    print(f"Cohen's kappa (unweighted): {kappa}")
    for name, only in ((one, "first"), (other, "second")):
        count = sum(getattr(c, only) is not None and not c.is_common for c in found.cases)
        if count:
            print(f"judged by {name} alone: {count}")
    _print_cases("differing", found.differing)
    agreed = [c for c in found.cases if c not in found.differing and (c.first_comments or c.second_comments)]
    _print_cases("other cases with comments", agreed)


def _print_cases(title: str, cases: tuple[JudgedCase, ...] | list[JudgedCase]) -> None:
    if not cases:
        return
    print()
    print(f"{title}:")
    for case in cases:
        print(f"  {case.case_id}  1: {case.first or NOTHING}  2: {case.second or NOTHING}")
        for number, comments in ((1, case.first_comments), (2, case.second_comments)):
            for record in comments:
                print(f"    {number}: {_comment(record)}")


def _comment(record: Record) -> str:
    """A comment in one line, with its place in mm RAS+."""
    text, world = " ".join((record.text or "").split()), record.place.position_world
    return text if world is None else f"{text} [RAS+ {' '.join(f'{v:.1f}' for v in world)} mm]"
