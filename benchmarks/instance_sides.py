"""F1, PQ, SQ and AJI of two instance masks: this package and its peers."""

from __future__ import annotations

from typing import Any

import hovernet_definition
from measuring import Step
from side import OUR_PACKAGES, OURS, PLAIN, Side, Values
from work import Work

THRESHOLD = 0.5


def our_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from medotter_viewer.scoring.instances import instance_scores

    return [lambda: instance_scores(work.gt, work.pred, iou_threshold=THRESHOLD)]


def our_values(work: Work, results: list[Any]) -> Values:
    """With an IoU of exactly the threshold counted, too, as StarDist does."""
    from medotter_viewer.metrics.instances import detections, match_instances

    (found,) = detections(match_instances(work.gt, work.pred), [THRESHOLD], inclusive=True)
    inclusive = {f"{name} (inclusive)": getattr(found, name) for name in ("tp", "fp", "fn", "f1", "pq", "sq")}
    return {"objects": {name: value.value for name, value in results[0].items()} | inclusive}


def stardist_steps(work: Work, _parts: int | None = None) -> list[Step]:
    from stardist.matching import matching

    return [lambda: matching(work.gt, work.pred, thresh=THRESHOLD)]


def stardist_values(_work: Work, results: list[Any]) -> Values:
    found = results[0]
    numbers = {name: getattr(found, name) for name in ("tp", "fp", "fn", "f1")}
    numbers |= {"pq": found.panoptic_quality, "sq": found.mean_matched_score}
    return {"objects": {f"{name} (inclusive)": float(value) for name, value in numbers.items()}}


def hovernet_steps(work: Work, _parts: int | None = None) -> list[Step]:
    return [lambda: hovernet_definition.scores(work.gt, work.pred, THRESHOLD)]


def hovernet_values(_work: Work, results: list[Any]) -> Values:
    return {"objects": {name: float(getattr(results[0], name)) for name in ("dq", "sq", "pq", "aji", "aji_plus")}}


INSTANCES: tuple[Side, ...] = (
    Side(OURS, OUR_PACKAGES, (), our_steps, our_values, engine="compiled"),
    Side(PLAIN, ("medotter-viewer", "numpy"), (), our_steps, our_values, engine="plain"),
    Side(
        "StarDist matching",
        ("stardist",),
        ("stardist",),
        stardist_steps,
        stardist_values,
        {
            f"{name} (inclusive)": most
            for name, most in {"tp": 0.0, "fp": 0.0, "fn": 0.0, "f1": 1e-12, "pq": 1e-6, "sq": 1e-6}.items()
        },
        remark="its IoU is float32; without AJI",
    ),
    Side(
        "HoVer-Net's definition",
        (),
        ("hovernet_definition",),
        hovernet_steps,
        hovernet_values,
        dict.fromkeys(("dq", "sq", "pq", "aji", "aji_plus"), 1e-12),
        remark="one mask of the whole image for each object, as in their code",
        too_large={"W6": "6,000 masks of 16.8 MB: 100 GB"},
    ),
)
