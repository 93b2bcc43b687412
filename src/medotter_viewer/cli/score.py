"""``score``: score a model's predictions on a split."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from medotter_viewer.batch import score_entries
from medotter_viewer.cache.store import FactCache, default_cache_path
from medotter_viewer.cli.batch import ScoringLine, say_interrupted, workers_for
from medotter_viewer.cli.output import fail, print_findings, print_table, write_all, write_csv, write_json
from medotter_viewer.cli.source import check_named, source_of
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.reprs import NOTHING, metric_text, number_text
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import UsageError
from medotter_viewer.evaluation.aggregate import Aggregate, Mean
from medotter_viewer.evaluation.report import TargetReport, cases_of, report_on
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.label_names import regions_never_seen
from medotter_viewer.sources.other_predictions import meant_text
from medotter_viewer.sources.source import Split


def run(options: argparse.Namespace) -> int:
    """Print the scores and return 1 when a case of the split is not scored, 130 after Ctrl+C."""
    check_named(options)
    if options.predictions is None and options.pred is None:
        option = "--pred PATH" if options.target is None else "--predictions DIR"
        raise UsageError(f"give the model's predictions: {option}")
    if options.gt is None and options.target is None:
        raise UsageError("there is nothing to score against: give --gt PATH")
    source = source_of(options)
    split: Split = options.split or "test"
    metrics = tuple(m.strip() for m in options.metrics.split(",") if m.strip()) if options.metrics else None
    chosen = ScoreOptions(metrics, options.hd95, options.missing)
    wanted = list(dict.fromkeys(options.case)) if options.case else cases_of(source, split)
    entries = [source.entry(case_id) for case_id in wanted]
    cache = None if options.no_cache else FactCache(default_cache_path())
    line = ScoringLine()
    try:
        with workers_for(options) as workers:
            scores = score_entries(
                entries,
                source.spec,
                chosen,
                resample_prediction=source.resample_prediction,
                executor=workers,
                progress=line,
                cache=cache,
                notice=line.say,
            )
    except KeyboardInterrupt:
        line.leave()
        say_interrupted(line.done, len(entries), is_kept=cache is not None and cache.path.is_file())
        return 130
    report = report_on(source, scores, chosen, split)
    has_names = any(entry.label_regions is not None and entry.segment_ids is None for entry in entries)
    findings = list(regions_never_seen(source.spec.regions, scores)) if has_names else []
    content = report.to_dict()
    if findings:
        content["findings"] = [finding.to_dict() for finding in findings]
    written = write_all(
        lambda: print_report(report, findings) if options.json != "-" else None,
        lambda: write_csv(options.csv, report.rows()),
        lambda: write_json(options.json, content),
    )
    for score in scores:
        if score.status != "scored":
            fail(f"{score.case_id}: {score.status}: {score.message}")
    if all(score.status == "missing_prediction" for score in scores):
        check = "'medotter-viewer check' with the same options names the files that no case uses"
        fail(f"no prediction was found: {meant_text(source) or check}")
    return 0 if report.has_no_failures and written else 1


def print_report(report: TargetReport, findings: Iterable[Finding] = ()) -> None:
    """Print a table for each case, the means, the headline, and findings about the whole."""
    known = {"version": report.version, "hash": report.hash}
    print("  ".join([report.target, *(f"{name} {text}" for name, text in known.items() if text is not None)]))
    print(f"model {report.model}  split {report.split}{_hd95_words(report)}")
    for score in report.cases.values():
        print(f"\n{score.case_id}" + ("" if score.status == "scored" else f": {score.status}"))
        print_case(score)
    print("\nmean over " + ("patients" if report.definitions["unit"] == "patient" else "cases"))
    aggregate = report.aggregate
    metrics = list(aggregate.macro)
    has_regions = any(score.regions for score in report.cases.values())  # scans of contours have none
    rows = list(aggregate.by_region.items()) if has_regions else []
    last = "macro (over regions)" if has_regions else "all"
    print_table(
        ("region" if has_regions else "", *metrics, "n"),
        [
            (
                name,
                *(number_text(m, means[m].value if m in means else None) for m in metrics),
                _n_text(means, aggregate if means is aggregate.macro and has_regions else None),
            )
            for name, means in [*rows, (last, aggregate.macro)]
        ],
    )
    value = number_text(aggregate.headline_metric, aggregate.headline.value)
    whole = "" if report.complete else "  INCOMPLETE: not every case of the split is scored"
    name = f"{aggregate.headline_metric} of {aggregate.headline_region}"
    n = _count(aggregate.headline.n, regions=aggregate.counts_regions)
    print(f"\nheadline {name}: {value} ({_scale_words(aggregate)}n {n}){whole}")
    print_findings(findings)


def _n_text(means: Mapping[str, Mean], whole: Aggregate | None) -> str:
    """Over how many the means of a row are; `whole` for the row that is over regions (metrics of cases are not)."""
    counted = means if whole is None else {m for table in whole.by_region.values() for m in table}
    n = max((mean.n for metric, mean in means.items() if metric in counted), default=0)
    return _count(n, regions=whole is not None)


def _count(n: int, *, regions: bool) -> str:
    return f"{n} region{'s' if n != 1 else ''}" if regions else str(n)


def _scale_words(aggregate: Aggregate) -> str:
    """How the headline comes from a mean; nothing where it is one."""
    if aggregate.headline.value is None or aggregate.scale == 1.0:
        return ""
    mean = number_text(aggregate.headline_metric, aggregate.headline.value / aggregate.scale)
    return f"mean {mean} x {aggregate.scale:.10g}, "


def _hd95_words(report: TargetReport) -> str:
    """Which hd95 the numbers are; nothing for a report without any."""
    hd95 = report.definitions["hd95"]
    return f"  hd95: {hd95['name']}, {hd95['meaning']}" if "hd95" in report.aggregate.macro else ""


def print_case(score: CaseScore) -> None:
    """Print the regions of one case, and its notes."""
    metrics = list(dict.fromkeys(m for region in score.regions.values() for m in region.metrics))
    if score.regions:
        print_table(
            ("region", *metrics, "gt voxels", "pred voxels"),
            [
                (
                    name,
                    *(metric_text(m, region.shown(m)) for m in metrics),
                    NOTHING if region.gt_voxels is None else str(region.gt_voxels),
                    NOTHING if region.pred_voxels is None else str(region.pred_voxels),
                )
                for name, region in score.regions.items()
            ],
        )
    for metric, value in score.case.items():
        print(f"{metric}: {metric_text(metric, value)}")
    print_findings(score.notes)
