"""A what-if from remembered tables gives what scoring the files with the changed remap or regions gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from medotter_viewer import open_source
from medotter_viewer.cache import scores as through
from medotter_viewer.cache.scores import score_through_cache
from medotter_viewer.cache.store import FactCache
from medotter_viewer.core.labels import Remap
from medotter_viewer.core.reprs import metric_text
from medotter_viewer.core.scores import CaseScore, MetricValue
from medotter_viewer.core.spec import EvalSpec
from medotter_viewer.errors import BundleError, RegionNotFoundError, UnsupportedTaskError, UsageError
from medotter_viewer.evaluation.aggregate import roll_up
from medotter_viewer.live import known_scores
from medotter_viewer.live.change_text import load_changes, parse_changes, parse_edits, quoted, yaml_text
from medotter_viewer.live.changes import Changes, edited
from medotter_viewer.live.known_tables import known_tables
from medotter_viewer.live.what_if import WhatIfs
from medotter_viewer.scoring.options import ScoreOptions
from medotter_viewer.scoring.registry import score_case
from medotter_viewer.sources.loading import load_case

N_LABELS = 15
MANY = ScoreOptions(("dice", "iou"))


# ---------------------------------------------------------------- by hand


@pytest.fixture
def tiny(tmp_path: Path, write_bundle: Any) -> Any:
    """Return a source: D/1, D/2 (its own remap), E/1, N/1 (no remap), D/none (no prediction); native 5, 6 and 7."""
    gt = np.zeros((8, 8, 4), dtype=np.uint8)
    gt[0:4, 0:4, 0:2], gt[4:6, 0:4, 0:2], gt[0:2, 6:8, 0:2] = 5, 6, 7  # 32, 16 and 8 voxels
    pred = np.zeros_like(gt)
    pred[0:6, 0:4, 0:2], pred[0:2, 6:8, 0:2] = 1, 2  # all of 5 and 6 is one, all of 7 is two
    task = {
        "task": {"id": "t"},
        "canonical_labels": {"one": [1], "two": [2]},
        "label_remap": {"D": {5: 1, 6: 2, 7: 2}, "E": {5: 1, 6: 1, 7: 2}},
    }
    cases = {
        "D/1": {"gt": gt, "dataset": "D", "affine": np.diag([1.0, 2.0, 3.0, 1.0])},
        "D/2": {"gt": gt, "dataset": "D", "remap": {"5": 1, "6": 1, "7": 2}},
        "E/1": {"gt": gt, "dataset": "E"},
        "N/1": {"gt": gt, "dataset": "N"},
        "D/none": {"gt": gt, "dataset": "D"},
    }
    spec = {"metrics": ["dice", "hd95"], "main_region": "one"}
    made = write_bundle(
        tmp_path / "b",
        cases,
        task=task,
        eval_spec=spec,
        predictions={name: pred for name in cases if name != "D/none"},
    )
    return open_source(made.bundle, predictions=made.predictions)


@pytest.fixture
def cache(tmp_path: Path) -> FactCache:
    return FactCache(tmp_path / "cache.sqlite")


def remember(source: Any, cache: FactCache, options: ScoreOptions | None = None) -> None:
    for entry in source.entries("test"):
        score_through_cache(entry, source.spec, options or ScoreOptions(), cache=cache)


def trials(source: Any, cache: FactCache, options: ScoreOptions | None = None) -> WhatIfs:
    known = known_tables(list(source.entries("test")), source.spec, cache)
    return WhatIfs(known, source.spec, options or ScoreOptions())


def no_voxel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("voxels were read")

    monkeypatch.setattr(through, "load_case", refuse)


def dice(score: CaseScore, region: str) -> float | None:
    return score.regions[region].metrics["dice"].value


class TestByHand:
    def test_before_and_after(self, tiny: Any, cache: FactCache, monkeypatch: pytest.MonkeyPatch) -> None:
        remember(tiny, cache)
        no_voxel(monkeypatch)
        found = trials(tiny, cache)(Changes({"D": {6: 1}}))
        before, after = found.cases["D/1"]
        assert (dice(before, "one"), dice(before, "two")) == (2 * 32 / (32 + 48), 2 * 8 / (24 + 8))
        assert (dice(after, "one"), dice(after, "two")) == (1.0, 1.0)
        assert found.cases["E/1"][0] is found.cases["E/1"][1]  # nothing of it changes
        assert found.before.headline.value == pytest.approx((0.8 + 1 + 1) / 3, abs=1e-15)
        assert (found.after.headline.value, found.after.headline.n) == (1.0, 3)
        assert found.most_changed() == [("D/1", 0.8, 1.0)]

    def test_which_ids_move_and_how_much(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        found = trials(tiny, cache)(Changes({"D": {6: 1, 7: None, 9: 0}, "E": {7: 0}}))
        moved = {(m.dataset, m.native): (m.before, m.after, m.cases, m.voxels, m.volume_mm3) for m in found.moved}
        assert moved == {
            ("D", 6): (2, 1, 1, 16, 96.0),  # voxels of 6 mm3; D/2 has a remap of its own
            ("D", 7): (2, None, 1, 8, 48.0),
            ("D", 9): (None, 0, 0, 0, 0.0),
            ("E", 7): (2, 0, 1, 8, 8.0),
        }

    def test_a_case_with_its_own_remap_follows_its_own_change(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        found = trials(tiny, cache)(Changes(own={"D/2": {6: 2}}))
        assert dice(found.cases["D/2"][1], "one") == 0.8
        assert found.cases["D/1"][0] is found.cases["D/1"][1]
        assert [m.dataset for m in found.moved] == ["D (D/2)"]

    def test_regions(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        found = trials(tiny, cache)(Changes(regions={"one": (1, 2)}))
        before, after = found.cases["D/1"]
        assert (dice(before, "one"), dice(after, "one")) == (0.8, 1.0)
        assert dice(after, "two") == dice(before, "two") == 0.5
        with pytest.raises(RegionNotFoundError, match="three"):
            trials(tiny, cache)(Changes(regions={"three": (1,)}))

    def test_who_is_left_out_and_why(self, tiny: Any, cache: FactCache) -> None:
        known = known_tables(list(tiny.entries("test")), tiny.spec, cache)
        assert known.without_table == ["D/1", "D/2", "E/1", "N/1"]
        assert known.unknown["D/none"] == "no prediction"
        remember(tiny, cache)
        found = trials(tiny, cache)(Changes({"D": {6: 1}}))
        assert dict(found.unknown) == {"D/none": "no prediction"}
        assert [score.status for score in found.apart["N/1"]] == ["error", "error"]  # same bytes as E/1, but no remap

    def test_a_dataset_that_gets_a_remap_is_scored_after_but_in_neither_mean(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        found = trials(tiny, cache)(Changes({"N": {5: 1, 6: 1, 7: 2}}))
        before, after = found.apart["N/1"]
        assert (before.status, after.status, dice(after, "one")) == ("error", "scored", 1.0)
        assert "no label_remap for dataset" in (before.message or "")
        assert found.after.headline.n == 3

    def test_findings_are_those_of_the_audit(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        found = trials(tiny, cache)(Changes({"D": {6: None, 7: 9}}))
        assert {(f.code, f.where) for f in found.new_findings} == {
            ("native-id-not-listed", "D"),
            ("canonical-id-unused", "D"),
        }

    def test_other_tasks_are_refused(self, tiny: Any, cache: FactCache) -> None:
        with pytest.raises(UnsupportedTaskError, match="vertebra"):
            known_tables([], EvalSpec.from_mapping({"task_type": "vertebra"}), cache)


class TestDistances:
    def test_one_that_was_measured_for_these_ids_is_used_and_no_other(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        found = trials(tiny, cache)(Changes({"D": {6: 1}}))
        before, after = found.cases["D/1"]
        assert after.regions["one"].metrics["hd95"] == MetricValue(None, "error", "not_remembered")
        assert before.regions["one"].metrics["hd95"] == after.regions["one"].metrics["hd95"]  # in neither mean
        assert metric_text("hd95", after.regions["one"].metrics["hd95"]) == "not computed"
        assert found.withheld == {"one": {"hd95": 1}, "two": {"hd95": 1}}
        assert found.before.by_region["one"]["hd95"].n == found.after.by_region["one"]["hd95"].n == 2
        assert found.after.by_region["one"]["dice"].n == 3
        assert found.withheld_from_headline == 0

    def test_once_measured_it_is_there(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        changes = Changes({"D": {6: 1}})
        score_through_cache(changes.entry(tiny.entry("D/1"), ()), tiny.spec, ScoreOptions(), cache=cache)
        found = trials(tiny, cache)(changes)
        assert found.withheld == {}
        assert found.cases["D/1"][1].regions["one"].metrics["hd95"] == MetricValue(0.0)

    def test_a_rule_needs_no_distance(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        found = trials(tiny, cache)(Changes({"D": {6: 0, 7: 0}}))
        assert found.cases["D/1"][1].regions["two"].metrics["hd95"].status == "cap"
        assert "two" not in found.withheld

    def test_a_headline_with_gaps_says_so(self, tiny: Any, cache: FactCache) -> None:
        remember(tiny, cache)
        spec = replace(tiny.spec, headline=replace(tiny.spec.headline, metric="hd95"))
        known = known_tables(list(tiny.entries("test")), spec, cache)
        found = WhatIfs(known, spec, ScoreOptions())(Changes({"D": {6: 1}}))
        assert found.withheld_from_headline == 1
        assert found.before.headline.n == found.after.headline.n == 2


# ---------------------------------------------------------------- five hundred cases


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a source of 500 tiny cases of two datasets with 15 labels, and the cache that knows them."""
    import json

    import nibabel

    folder = tmp_path_factory.mktemp("many")
    rng = np.random.default_rng(7)
    regions = {f"organ{k}": [k] for k in range(1, N_LABELS + 1)} | {"first": [1, 2, 3]}
    remap = {k + 20: k for k in range(1, N_LABELS + 1)}
    per_case = {}
    for n in range(500):
        gt = rng.integers(0, N_LABELS + 1, (6, 6, 6)).astype(np.uint8)
        pred = np.where(rng.random(gt.shape) < 0.7, gt, rng.integers(0, N_LABELS + 1, gt.shape)).astype(np.uint8)
        name = f"{'D' if n % 2 else 'E'}/{n:03}"
        for path, data in (
            (folder / f"data/{n:03}.nii", np.where(gt, gt + 20, 0)),
            (folder / f"model/{name}.nii", pred),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            nibabel.save(nibabel.Nifti1Image(data.astype(np.uint8), np.diag([1.0, 1.0, 2.0, 1.0])), path)
        per_case[name] = {"dataset": name[0], "split": "test", "seg": f"{n:03}.nii", "patient_uid": f"p{n // 3}"}
    (folder / "bundle").mkdir()
    manifest = {"task": "t", "version": "1", "hash": "h", "train": [], "test": list(per_case), "per_case": per_case}
    (folder / "bundle/manifest_test.json").write_text(json.dumps(manifest))
    task = {"task": {"id": "t"}, "canonical_labels": regions, "label_remap": {"D": remap, "E": remap}}
    (folder / "bundle/task.yaml").write_text(yaml.safe_dump(task))
    spec = {"eval_regions": regions, "metrics": ["dice", "iou"], "aggregation": {"unit": "patient"}}
    (folder / "bundle/eval_spec.yaml").write_text(yaml.safe_dump(spec))
    source = open_source(folder / "bundle", predictions=folder / "model")
    cache = FactCache(folder / "cache.sqlite")
    remember(source, cache, MANY)
    return source, trials(source, cache, MANY)


CHANGES = [
    Changes({"D": {21: 2, 22: 1}}),  # swapped
    Changes({"D": {23: None}, "E": {24: 0, 25: 6}}),  # unlisted, dropped, two to one
    Changes({"D": {21: 2}}, regions={"first": (1, 4)}),
]


class TestManyCases:
    @pytest.mark.parametrize("changes", CHANGES)
    def test_a_handful_of_cases_are_scored_from_their_files_alike(self, many: Any, changes: Changes) -> None:
        source, what_if = many
        found = what_if(changes)
        assert len(found.cases) == 500
        for case_id in list(found.cases)[::83]:
            entry = source.entry(case_id)
            before, after = found.cases[case_id]
            assert before == score_case(load_case(entry, images=False), source.spec, MANY)
            changed = changes.entry(entry, ())
            assert after == score_case(load_case(changed, images=False), changes.spec(source.spec), MANY)

    @pytest.mark.parametrize("changes", CHANGES)
    def test_all_means_are_those_of_scoring_every_case_anew(self, many: Any, changes: Changes) -> None:
        source, what_if = many
        found, spec = what_if(changes), changes.spec(source.spec)
        facts = what_if.known.facts
        anew = [
            known_scores.score_known(changes.entry(what_if.known.entries[i], ()), facts[i], spec, MANY) for i in facts
        ]
        assert found.after == roll_up(anew, spec, groups=False)
        assert found.before == roll_up(
            [known_scores.score_known(what_if.known.entries[i], facts[i], source.spec, MANY) for i in facts],
            source.spec,
            groups=False,
        )
        assert found.before.by_region.keys() == found.after.by_region.keys()


# ---------------------------------------------------------------- changes and their text


class TestText:
    def test_edits(self) -> None:
        assert parse_edits("BTCV: 5=2, 7=drop,9=unlist") == ("BTCV", {5: 2, 7: 0, 9: None})
        assert parse_edits("a:b:1=2") == ("a:b", {1: 2})

    @pytest.mark.parametrize("text", ["5=2", "D:", ":5=2", "D:5", "D:x=1", "D:5=-1", "D:5=1,5=2", "D:5=²"])
    def test_what_is_none_is_refused_with_the_form(self, text: str) -> None:
        with pytest.raises(UsageError, match="what-if"):
            parse_edits(text)

    def test_what_is_written_is_read_again(self) -> None:
        changes = Changes({"D": {5: 2, 7: 0, 9: None}, "no": {1: 1}}, {"a/1": {2: 3}}, {"one": (1, 4)})
        text = yaml_text(changes, {"D": Remap({5: 1, 9: 4}, "dict"), "a/1": Remap({2: 2}, "per_case")})
        assert parse_changes(yaml.safe_load(text), where="text") == changes
        assert "    5: 2  # was 1\n    7: 0  # was not listed\n    9: null  # was 4\n" in text

    def test_an_identity_is_written_out_so_that_no_other_id_is_dropped(self) -> None:
        identity = Remap(None, "none")
        text = yaml_text(Changes({"D": {2: 1}}), {"D": identity}, ids=[0, 1, 2, 3])
        assert yaml.safe_load(text) == {"label_remap": {"D": {0: 0, 1: 1, 2: 1, 3: 3}}}
        assert dict(edited(identity, {2: 1}, (0, 1, 2, 3)).table or {}) == {0: 0, 1: 1, 2: 1, 3: 3}

    def test_options_add_up_and_clashes_are_named(self, tmp_path: Path) -> None:
        file = tmp_path / "change.yaml"
        file.write_text("D: {5: 2}\n")
        assert load_changes([str(file), "D:6=drop"]).remaps == {"D": {5: 2, 6: 0}}
        with pytest.raises(UsageError, match="native id 5 of D is changed twice"):
            load_changes([str(file), "D:5=1"])

    @pytest.mark.parametrize(
        "content", [None, [], {"label_remap": {"D": {"x": 1}}}, {"label_remap": {}, "regions": {}}]
    )
    def test_a_file_of_another_form_is_refused(self, content: Any) -> None:
        with pytest.raises(BundleError, match=r"change\.yaml"):
            parse_changes(content, where="change.yaml")

    def test_names_that_yaml_would_read_otherwise_are_quoted(self) -> None:
        assert [quoted(name) for name in ("BTCV", "no", "a/1", "7", "")] == ["BTCV", '"no"', '"a/1"', '"7"', '""']
