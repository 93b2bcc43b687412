"""Scores of every kind of task are remembered, for the very files, rules and entries they were computed from."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rtstruct_files import Drawn, Structure, square, write_rtstruct
from scan_files import TARGET, box, submission, write_png_scan

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.cache import scores as through
from medotter_viewer.cache.keys import Rules, key_of
from medotter_viewer.cache.records import parse_record, to_record
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.findings import Finding
from medotter_viewer.core.scores import CaseScore, MetricValue, RegionScore
from medotter_viewer.scoring.options import ScoreOptions

SAMPLES = Path(__file__).resolve().parents[2] / "sample_bundles"


@pytest.fixture(autouse=True)
def plain_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDOTTER_VIEWER_ENGINE", "plain")


@pytest.fixture
def cache(tmp_path: Path) -> FactCache:
    return FactCache(tmp_path / "cache" / "scores.sqlite")


def scored(source: Any, cache: FactCache | None, **options: Any) -> list[CaseScore]:
    return score_entries(list(source.entries("test")), source.spec, ScoreOptions(**options), cache=cache)


def instances(folder: Path) -> Any:
    for part, place in (("gt", 0), ("pred", 1)):
        objects = np.zeros((12, 12), dtype=np.uint8)
        objects[place : place + 4, :4], objects[6:10, 6:10] = 1, 2
        (folder / part).mkdir()
        np.save(folder / part / "a.npy", objects)
    return open_source(gt=folder / "gt", pred=folder / "pred", instances=True)


def scans(folder: Path) -> Any:
    for name in ("A", "B"):
        write_png_scan(folder / "scans", name, {TARGET: {1: [box(0, 0, 10)]}})
    rings = {"A": {1: [box(1, 0, 10)]}, "B": {1: [box(0, 2, 10)]}}
    return open_source(folder / "scans", predictions=submission(folder / "submission.csv", rings))


def sample(name: str) -> Any:
    folder = SAMPLES / name
    return open_source(folder / "bundle", predictions=min((folder / "predictions").iterdir()))


@pytest.mark.parametrize("kind", ["instances", "scans", "spine_ct", "lung_scans", "glioma_mr"])
def test_the_second_run_reads_no_case_and_gives_the_same(
    kind: str, cache: FactCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        {"instances": instances, "scans": scans}[kind](tmp_path) if kind in ("instances", "scans") else sample(kind)
    )
    plain = scored(source, None)
    assert scored(source, cache) == plain
    assert {score.status for score in plain} == {"scored"}
    monkeypatch.setattr(through, "load_case", lambda *_, **__: pytest.fail("a case was read"))
    again = scored(source, cache)
    assert again == plain
    assert [score.to_dict() for score in again] == [score.to_dict() for score in plain]


def test_every_byte_of_a_scan_counts(cache: FactCache, tmp_path: Path) -> None:
    source = scans(tmp_path)
    before = scored(source, cache)
    (rings,) = (tmp_path / "scans" / "A").glob("contour*/*.dat")
    at = rings.stat()
    rings.write_text(rings.read_text().replace("10", "11"))
    os.utime(rings, ns=(at.st_atime_ns, at.st_mtime_ns))  # size and time as they were
    assert rings.stat().st_size == at.st_size
    after = scored(source, cache)
    assert after == scored(source, None)
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_the_series_below_named_structures_counts(cache: FactCache, tmp_path: Path) -> None:
    from dicom_files import ramp, write_series

    def write(spacing: float) -> None:
        shutil.rmtree(tmp_path / "image", ignore_errors=True)
        write_series(tmp_path / "image", ramp(3, (8, 8)), spacing=(spacing, spacing), thickness=1.0)

    files = {
        part: write_rtstruct(tmp_path / f"{part}.dcm", [Structure(1, "GTV", [Drawn(square(-0.25, -0.25, side, 1))])])
        for part, side in (("gt", 4), ("pred", 2))
    }
    counts = []
    for spacing in (1.0, 0.5, 1.0):
        write(spacing)
        source = open_source(**files, image=tmp_path / "image")
        counts += [scored(source, cache)[0].regions["GTV"].gt_voxels for _ in range(2)]
    assert counts == [16, 16, 64, 64, 16, 16]


def test_rules_options_and_what_an_entry_says_are_in_the_key(tmp_path: Path) -> None:
    source = instances(tmp_path)
    (entry,) = source.entries()
    rules = Rules(source.spec, ScoreOptions())
    keys = {
        key_of(entry, rules).score,
        key_of(entry, Rules(source.spec, ScoreOptions(("f1",)))).score,
        key_of(entry, Rules(source.spec, ScoreOptions(), True)).score,
        key_of(entry, Rules(replace(source.spec, iou_threshold=0.75), ScoreOptions())).score,
        key_of(replace(entry, tier="hard"), rules).score,
        key_of(replace(entry, segment_ids={frozenset({"a", "b"}): 1}), rules).score,
    }
    assert len(keys) == 6
    assert key_of(entry, Rules(source.spec, ScoreOptions())) == key_of(entry, rules)


def test_a_key_is_the_same_in_every_process(tmp_path: Path) -> None:
    import subprocess
    import sys

    source = instances(tmp_path)
    (entry,) = source.entries()
    named = replace(entry, segment_ids={frozenset({"liver", "node", "cyst"}): 1})
    found = {key_of(named, Rules(source.spec, ScoreOptions())).score}
    program = (
        "import sys; from dataclasses import replace; from medotter_viewer import open_source\n"
        "from medotter_viewer.cache.keys import Rules, key_of\n"
        "from medotter_viewer.scoring.options import ScoreOptions\n"
        "s = open_source(gt=sys.argv[1] + '/gt', pred=sys.argv[1] + '/pred', instances=True); (e,) = s.entries()\n"
        "e = replace(e, segment_ids={frozenset({'liver', 'node', 'cyst'}): 1})\n"
        "print(key_of(e, Rules(s.spec, ScoreOptions())).score)"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout.strip())
    assert len(found) == 1


def test_no_error_is_remembered_that_may_go_away(cache: FactCache, tmp_path: Path) -> None:
    source = instances(tmp_path)
    file = tmp_path / "pred" / "a.npy"
    whole = file.read_bytes()
    at = file.stat()
    file.write_bytes(b"\0" * len(whole))
    assert scored(source, cache)[0].status == "error"
    file.write_bytes(whole)
    os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert scored(source, cache)[0].status == "scored"


def test_a_file_that_changes_while_it_is_scored_is_not_remembered(
    cache: FactCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = instances(tmp_path)
    first = np.load(tmp_path / "pred" / "a.npy")
    load = through.load_case

    def changed_meanwhile(*args: Any, **options: Any) -> Any:
        np.save(tmp_path / "pred" / "a.npy", np.load(tmp_path / "gt" / "a.npy"))
        return load(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(through, "load_case", changed_meanwhile)
        assert scored(source, cache)[0].regions["instances"].metrics["pq"].value == 1.0
    np.save(tmp_path / "pred" / "a.npy", first)
    assert scored(source, cache) == scored(source, None)
    assert scored(source, cache)[0].regions["instances"].metrics["pq"].value < 1.0


def test_a_record_gives_the_score_back() -> None:
    import json

    score = CaseScore(
        "S/1",
        "scored",
        dataset="S",
        tier=None,
        patient_uid="p",
        notes=(Finding("info", "a-code", "text", "file", None),),
        regions={
            "one": RegionScore({"dice": MetricValue(0.1 + 0.2), "hd95": MetricValue(None, "error", "why")}, 1, 2, 3)
        },
        case={"d_mean": MetricValue(1e-300)},
        voxel_volume_mm3=1 / 3,
    )
    assert parse_record(json.loads(json.dumps(to_record(score))), "S/1") == score
