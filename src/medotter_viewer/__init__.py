"""Inspect medical image segmentations: ground truth after its label remap against a prediction, scored live.

Names are loaded when they are first used, so that importing the package costs little more than numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medotter_viewer.core.case import Case, CaseEntry
    from medotter_viewer.core.grid import Grid
    from medotter_viewer.core.labels import LabelMap, Remap
    from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
    from medotter_viewer.core.spec import EvalSpec, TaskSpec
    from medotter_viewer.evaluation.api import evaluate, score
    from medotter_viewer.evaluation.sample import Predictor, Sample
    from medotter_viewer.evaluation.schema import LabelSchema
    from medotter_viewer.evaluation.score_report import ScoreReport
    from medotter_viewer.notebook import plot_case, plot_spine, score_bundle, score_case, view
    from medotter_viewer.scoring.arrays import label_scores
    from medotter_viewer.scoring.instances import instance_scores
    from medotter_viewer.scoring.lung import lung_scan_score
    from medotter_viewer.scoring.vertebrae import landmark_scores
    from medotter_viewer.sources.bundle import Bundle
    from medotter_viewer.sources.opening import open_source

__version__ = "0.1.0"

_HOME = {
    "Bundle": "sources.bundle",
    "Case": "core.case",
    "CaseEntry": "core.case",
    "CaseScore": "core.scores",
    "EvalSpec": "core.spec",
    "Grid": "core.grid",
    "LabelMap": "core.labels",
    "LabelSchema": "evaluation.schema",
    "MetricValue": "core.scores",
    "Predictor": "evaluation.sample",
    "RegionScore": "core.scores",
    "Remap": "core.labels",
    "Sample": "evaluation.sample",
    "ScoreReport": "evaluation.score_report",
    "TaskSpec": "core.spec",
    "evaluate": "evaluation.api",
    "instance_scores": "scoring.instances",
    "label_scores": "scoring.arrays",
    "landmark_scores": "scoring.vertebrae",
    "lung_scan_score": "scoring.lung",
    "open_source": "sources.opening",
    "plot_case": "notebook",
    "plot_spine": "notebook",
    "score": "evaluation.api",
    "score_bundle": "notebook",
    "score_case": "notebook",
    "view": "notebook",
}

__all__ = [
    "Bundle",
    "Case",
    "CaseEntry",
    "CaseScore",
    "EvalSpec",
    "Grid",
    "LabelMap",
    "LabelSchema",
    "MetricValue",
    "Predictor",
    "RegionScore",
    "Remap",
    "Sample",
    "ScoreReport",
    "TaskSpec",
    "__version__",
    "evaluate",
    "instance_scores",
    "label_scores",
    "landmark_scores",
    "lung_scan_score",
    "open_source",
    "plot_case",
    "plot_spine",
    "score",
    "score_bundle",
    "score_case",
    "view",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
