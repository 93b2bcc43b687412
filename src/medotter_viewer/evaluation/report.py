"""The scores of one model on one split of a target, with everything needed to read them later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from medotter_viewer.core.reprs import html_pairs, to_dataframe
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError
from medotter_viewer.evaluation.aggregate import Aggregate, roll_up
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.source import CaseSource, Split

if TYPE_CHECKING:
    import pandas as pd

HD95_MEANING: Mapping[str, str] = {
    "directed_max": "percentile of each direction, the larger of the two",
    "pooled": "percentile of the distances of both directions together",
    "mean": "mean of the percentiles of the two directions",
    "surfel": "area-weighted percentile over surface elements, the larger of the two directions",
}

SPLITS: tuple[Split, ...] = ("test", "train")
_LISTED = 10  # cases without numbers that a notebook names


@dataclass(frozen=True, slots=True)
class TargetReport:
    """Scores of every case of a split and their means.

    Parameters
    ----------
    target, version, hash, model, split : str
        What was scored.
    definitions : mapping
        The rules in force.
    cases : mapping of str to CaseScore
        In the manifest's order.
    aggregate : Aggregate
        Means over the scored cases.
    n_split : int, optional
        How many cases the split has; None takes `cases` for all of them.
    """

    target: str
    version: str | None
    hash: str | None
    model: str | None
    split: str
    definitions: Mapping[str, Any]
    cases: Mapping[str, CaseScore]
    aggregate: Aggregate
    n_split: int | None = None

    @property
    def complete(self) -> bool:
        """Whether every case of the split is scored; a chosen part of it is not the whole."""
        whole = self.n_split is None or len(self.cases) == self.n_split
        return whole and self.has_no_failures

    @property
    def has_no_failures(self) -> bool:
        """Whether every case that was asked for is scored."""
        return all(score.status == "scored" for score in self.cases.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: no NaN, lengths in mm."""
        return {
            "target": self.target,
            "version": self.version,
            "hash": self.hash,
            "model": self.model,
            "split": self.split,
            "definitions": dict(self.definitions),
            "complete": self.complete,
            "cases": {case_id: score.to_dict() for case_id, score in self.cases.items()},
            "aggregate": self.aggregate.to_dict(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for each case, region and metric."""
        return [row for score in self.cases.values() for row in score.rows()]

    def to_dataframe(self) -> pd.DataFrame:
        """Return `rows` as a table (needs pandas)."""
        return to_dataframe(self.rows())

    def _repr_html_(self) -> str:
        statuses = Counter(score.status.replace("_", " ") for score in self.cases.values())
        counted = ", ".join(f"{n} {status}" for status, n in statuses.items())
        identity = {"target": self.target, "version": self.version, "hash": self.hash, "model": self.model}
        pairs = {**{name: text for name, text in identity.items() if text}, "split": self.split, "cases": counted}
        unscored = [s for s in self.cases.values() if s.status != "scored"]
        notes = [f"{s.case_id}: {s.message}" for s in unscored[:_LISTED]]
        if len(unscored) > _LISTED:
            notes.append(f"and {len(unscored) - _LISTED} more without numbers")
        return html_pairs(pairs, notes=notes) + self.aggregate._repr_html_()


def cases_of(source: CaseSource, split: Split) -> list[str]:
    """Return the ids of a split, in order.

    Raises
    ------
    BundleError
        If it has none: means over nothing would look like a result.
    """
    ids = source.case_ids(split)
    if not ids:
        counts = ", ".join(f"{len(source.case_ids(one))} in {one}" for one in SPLITS)
        raise BundleError(f"{source.target}: no case in split {split!r} ({counts}); choose another split")
    return ids


def make_report(
    scores: list[CaseScore],
    spec: EvalSpec,
    options: ScoreOptions,
    *,
    target: str,
    split: str,
    version: str | None = None,
    hash_: str | None = None,
    model: str | None = None,
    n_split: int | None = None,
    more_definitions: Mapping[str, Any] | None = None,
) -> TargetReport:
    """Return the report of some scored cases."""
    return TargetReport(
        target=target,
        version=version,
        hash=hash_,
        model=model,
        split=split,
        definitions={**definitions(spec, options), **(more_definitions or {})},
        cases={score.case_id: score for score in scores},
        aggregate=roll_up(scores, spec),
        n_split=n_split,
    )


def report_on(source: CaseSource, scores: list[CaseScore], options: ScoreOptions, split: Split) -> TargetReport:
    """Return the report of a source's scored cases, with what was chosen about the source."""
    return make_report(
        scores,
        source.spec,
        options,
        target=source.target,
        split=split,
        version=source.version,
        hash_=source.hash,
        model=source.model,
        n_split=len(source.case_ids(split)),
        more_definitions=source.record(),
    )


def definitions(spec: EvalSpec, options: ScoreOptions) -> dict[str, Any]:
    """Return the rules behind the numbers, in words and figures."""
    return {
        "task_type": spec.task_type,
        "regions": {name: list(ids) for name, ids in spec.regions.items()},
        "hd95": {
            "name": options.hd95,
            "meaning": HD95_MEANING[options.hd95],
            "percentile": spec.hd95_percentile,
            "interpolation": None if options.hd95 == "surfel" else "linear",
            "surface": "marching-cubes elements"
            if options.hd95 == "surfel"
            else "voxels with a face neighbour outside; image edge is background",
            "spacing": list(spec.hd95_spacing) if spec.hd95_spacing else "from_header",
            "unit": "mm",
        },
        "empty_structure": {metric: dict(table) for metric, table in spec.empty_structure.items()},
        "without_rule": "both empty: dice, iou 1, distances 0; one empty: dice, iou 0, distances the image diagonal",
        "iou_threshold": spec.iou_threshold if spec.is_instances else None,
        "partial_label": spec.partial_label,
        "missing": options.missing,
        "unit": spec.unit,
        "macro": "mean over units for each region, then over regions",
    }
