"""Many cases on any executor: order, progress, cancelling."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer.batch import score_entries
from medotter_viewer.core.scores import CaseScore
from medotter_viewer.errors import UnsupportedTaskError
from medotter_viewer.formats import registry
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.sources.bundle_source import BundleSource
from medotter_viewer.sources.opening import open_source

N = 5


@pytest.fixture
def source(tmp_path: Path, write_bundle: Any) -> BundleSource:
    """Cases 0 to 4 of one row of 8 voxels; the prediction of case i misses i of them."""
    gt = np.ones((8, 1, 1), dtype=np.uint8)
    preds = {f"S/{i}": np.where(np.arange(8).reshape(8, 1, 1) < i, 0, gt).astype(np.uint8) for i in range(N)}
    cases = {case_id: {"dataset": "S", "gt": gt, "image": gt} for case_id in preds}
    spec = {"eval_regions": {"one": [1]}, "metrics": ["dice"]}
    tiny = write_bundle(tmp_path, cases, eval_spec=spec, predictions=preds)
    return open_source(tiny.bundle, predictions=tiny.predictions)


def dice(scores: list[CaseScore]) -> list[float | None]:
    return [s.regions["one"].metrics["dice"].value for s in scores]


EXPECTED = pytest.approx([2 * (8 - i) / (16 - i) for i in range(N)])


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_scores_come_in_the_order_of_the_entries(source: BundleSource, threads: int | None) -> None:
    told: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, score: CaseScore) -> None:
        told.append((done, total, score.case_id))

    entries = list(source.entries("test"))
    if threads is None:
        scores = score_entries(entries, source.spec, ScoreOptions(), progress=progress)
    else:
        with ThreadPoolExecutor(threads) as executor:
            scores = score_entries(entries, source.spec, ScoreOptions(), executor=executor, progress=progress)
    assert [s.case_id for s in scores] == [f"S/{i}" for i in range(N)]
    assert dice(scores) == EXPECTED
    assert [t[:2] for t in told] == [(i + 1, N) for i in range(N)]
    assert sorted(t[2] for t in told) == [f"S/{i}" for i in range(N)]


@pytest.mark.parametrize("threads", [None, 1])
def test_cancelling_returns_what_is_done(source: BundleSource, threads: int | None) -> None:
    done: list[str] = []
    executor = None if threads is None else ThreadPoolExecutor(threads)
    scores = score_entries(
        list(source.entries("test")),
        source.spec,
        ScoreOptions(),
        executor=executor,
        progress=lambda n, total, score: done.append(score.case_id),
        cancelled=lambda: len(done) == 2,
    )
    assert [s.case_id for s in scores] == done == ["S/0", "S/1"]
    if executor is not None:
        executor.shutdown(wait=True)


def test_a_damaged_case_stops_nobody(source: BundleSource) -> None:
    entries = list(source.entries("test"))
    assert entries[1].pred_path is not None
    entries[1].pred_path.write_bytes(b"nothing")
    scores = score_entries(entries, source.spec, ScoreOptions())
    assert [s.status for s in scores] == ["scored", "error", "scored", "scored", "scored"]


def test_images_are_not_read(source: BundleSource, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    read_volume = registry.read_volume

    def noted(path: Path, series: Any) -> Any:
        read.append(path.name)
        return read_volume(path, series)

    monkeypatch.setattr(registry, "read_volume", noted)
    score_entries(list(source.entries("test")), source.spec, ScoreOptions())
    assert read == []
    source.load("S/1")
    assert read == ["1.nii.gz"]


def test_an_unsupported_task_is_refused_before_any_file_is_opened(
    tmp_path: Path, write_bundle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = {"S/1": {"dataset": "S", "gt": np.ones((2, 2, 2), dtype=np.uint8)}}
    tiny = write_bundle(tmp_path, cases, eval_spec={"task_type": "det"})
    source = open_source(tiny.bundle)
    opened: list[Any] = []
    monkeypatch.setattr("medotter_viewer.cache.scores.load_case", lambda *a, **o: opened.append(a))
    with pytest.raises(UnsupportedTaskError, match="det"):
        score_entries(list(source.entries("test")), source.spec, ScoreOptions())
    assert opened == []


def test_nothing_to_score_is_nothing(source: BundleSource) -> None:
    assert score_entries([], source.spec, ScoreOptions()) == []
