"""Every entry of a manifest with its files found and its remap chosen; what is wrong with one stays with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer import Bundle, CaseEntry, open_source
from medotter_viewer.core.findings import Finding
from medotter_viewer.errors import BundleError, BundleNotFoundError, CaseNotFoundError, UsageError

GT = np.zeros((4, 5, 6), dtype=np.uint8)
GT[1, 1, 1:4] = 1
GT[2, 2, 1:3] = 4
DICT_TASK = {"canonical_labels": {"one": [1], "three": [3]}, "label_remap": {"A": {1: 1, 4: 3, "note": "x"}}}


def codes(entry: CaseEntry) -> list[str]:
    return [f"{f.severity} {f.code}" for f in entry.findings]


def only(findings: tuple[Finding, ...], code: str) -> Finding:
    (found,) = [f for f in findings if f.code == code]
    return found


def tell(tiny: Any, case_id: str, **meta: Any) -> None:
    """Change what the manifest says of a case."""
    path = tiny.bundle / "manifest_test.json"
    manifest = json.loads(path.read_text())
    manifest["per_case"][case_id].update(meta)
    path.write_text(json.dumps(manifest))


# ---------------------------------------------------------------- what an entry says


def test_an_entry_carries_what_the_manifest_says_and_opens_no_file(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"dataset": "A", "tier": "hard", "patient_uid": 17}}, task=DICT_TASK)
    tell(tiny, "A/1", seg="gt/1.nii.gz", image="im/1.nii.gz")
    for name in ("gt/1.nii.gz", "im/1.nii.gz"):
        (tiny.data / name).parent.mkdir()
        (tiny.data / name).write_bytes(b"not even a volume")
    source = open_source(tiny.bundle)
    entry = source.entry("A/1")
    assert (entry.dataset, entry.split, entry.tier, entry.patient_uid) == ("A", "test", "hard", "17")
    assert entry.gt_path == tiny.data / "gt" / "1.nii.gz"
    assert entry.channels == {"image": tiny.data / "im" / "1.nii.gz"}
    assert entry.pred_path is None
    assert entry.missing == ("prediction",)
    assert entry.remap is not None
    assert entry.remap.table == {1: 1, 4: 3}
    assert codes(entry) == []
    assert (source.name, source.target) == ("tiny", str(tiny.bundle))


def test_region_stands_in_for_tier(tmp_path: Path, write_bundle: Any) -> None:
    cases = {"A/1": {"gt": GT, "region": "thorax"}, "A/2": {"gt": GT, "region": "x", "tier": "y"}}
    source = open_source(write_bundle(tmp_path, cases).bundle)
    assert [source.entry(c).tier for c in ("A/1", "A/2")] == ["thorax", "y"]


def test_channels_keep_the_order_of_the_manifest(tmp_path: Path, write_bundle: Any) -> None:
    values = {"t2f": 40, "t1c": 10, "t2w": 30, "t1n": 20}
    chan = {name: np.full(GT.shape, value, dtype=np.int16) for name, value in values.items()}
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT, "chan": chan}})
    tell(tiny, "A/1", image="ignored.nii.gz")
    source = open_source(tiny.bundle)
    assert list(source.entry("A/1").channels) == ["t2f", "t1c", "t2w", "t1n"]
    case = source.load("A/1")
    assert {name: int(volume.data[0, 0, 0]) for name, volume in case.channels.items()} == values
    assert list(case.channels) == list(values)


@pytest.mark.parametrize("image", [{}, {"image": None}, {"chan": None}, {"chan": {}}])
def test_a_case_without_images_is_complete(tmp_path: Path, write_bundle: Any, image: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, predictions={"A/1": GT})
    tell(tiny, "A/1", **image)
    case = open_source(tiny.bundle, predictions=tiny.predictions).load("A/1")
    assert case.findings == ()
    assert (dict(case.channels), case.entry.missing) == ({}, ())
    assert case.gt is not None


def test_channels_that_are_no_object_are_a_warning(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}})
    tell(tiny, "A/1", chan=["t1.nii.gz"])
    entry = open_source(tiny.bundle).entry("A/1")
    assert codes(entry) == ["warning bad-entry"]
    assert entry.channels == {}


# ---------------------------------------------------------------- splits


def test_splits_come_in_the_order_of_the_manifest_and_all_names_each_once(tmp_path: Path, write_bundle: Any) -> None:
    cases = {"A/2": {"gt": GT}, "A/1": {"gt": GT}, "B/1": {"gt": GT, "split": "train"}}
    tiny = write_bundle(tmp_path, cases, manifest={"train": ["B/1", "A/1", "B/1"]})
    source = open_source(tiny.bundle)
    assert source.case_ids("test") == ["A/2", "A/1"]
    assert source.case_ids("train") == ["B/1", "A/1"]
    assert source.case_ids() == ["B/1", "A/1", "A/2"]
    assert [entry.case_id for entry in source.entries("train")] == ["B/1", "A/1"]


def test_a_case_in_both_splits_is_a_test_case_with_a_warning(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, manifest={"train": ["A/1"]})
    entry = open_source(tiny.bundle).entry("A/1")
    assert entry.split == "test"
    assert codes(entry) == ["warning split-clash"]


def test_a_listed_case_without_an_entry_is_an_error_of_that_case_alone(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, manifest={"test": ["A/2", "A/1"]})
    source = open_source(tiny.bundle)
    first, second = source.entries("test")
    assert codes(first) == ["error no-entry"]
    assert "'A/2'" in first.findings[0].message
    assert codes(second) == []


def test_a_case_that_no_split_lists_is_not_found(tmp_path: Path, write_bundle: Any) -> None:
    source = open_source(write_bundle(tmp_path, {"A/1": {"gt": GT}}).bundle)
    for case_id in ("A/2", "A", ""):
        with pytest.raises(CaseNotFoundError, match="no case"):
            source.entry(case_id)


# ---------------------------------------------------------------- files


def test_a_missing_ground_truth_is_an_error_and_a_missing_image_a_warning(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {}})
    tell(tiny, "A/1", seg="no/gt.nii.gz", image="no/im.nii.gz")
    entry = open_source(tiny.bundle).entry("A/1")
    assert codes(entry) == ["warning missing-file", "error missing-file"]
    assert str(tiny.data / "no" / "gt.nii.gz") in entry.findings[1].message
    assert entry.missing == ("image", "gt", "prediction")


@pytest.mark.parametrize("seg", [{}, {"seg": None}])
def test_a_case_without_ground_truth_is_shown_but_not_scored(tmp_path: Path, write_bundle: Any, seg: Any) -> None:
    image = np.ones(GT.shape, dtype=np.int16)
    case = open_source(write_bundle(tmp_path, {"A/1": {**seg, "image": image}}).bundle).load("A/1")
    assert [f.code for f in case.errors] == ["no-ground-truth"]
    assert case.gt is None
    assert case.channels["image"].data.tolist() == image.tolist()


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../outside.nii.gz", "C:\\x.nii", "x\0", "y" * 400, "\ud800", 5, "", []]
)
@pytest.mark.parametrize("key", ["seg", "image", "chan"])
def test_an_unsafe_path_is_an_error_before_anything_is_opened(
    tmp_path: Path, write_bundle: Any, monkeypatch: pytest.MonkeyPatch, key: str, path: Any
) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}, "A/2": {"gt": GT}})
    tell(tiny, "A/1", **{key: {"t1": path} if key == "chan" else path})
    (tiny.data.parent / "outside.nii.gz").write_bytes(b"")
    source = open_source(tiny.bundle)
    assert source.task is not None
    assert source.spec.landmarks is None
    opened = []
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(self))
    entry = source.entry("A/1")
    monkeypatch.undo()
    assert opened == []
    finding = only(entry.findings, "unsafe-path")
    assert finding.severity == "error"
    assert f"case A/1: {'chan.t1' if key == 'chan' else key}: path" in finding.message
    assert entry.channels == {}
    assert (entry.gt_path is None) == (key == "seg")
    assert codes(source.entry("A/2")) == []


def test_a_link_out_of_the_data_is_unsafe(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"seg": "link.nii.gz"}})
    (tmp_path / "secret.nii.gz").write_bytes(b"")
    (tiny.data / "link.nii.gz").symlink_to(tmp_path / "secret.nii.gz")
    assert codes(open_source(tiny.bundle).entry("A/1")) == ["error unsafe-path"]


# ---------------------------------------------------------------- remaps


def loaded_ids(source: Any, case_id: str = "A/1") -> list[int] | None:
    case = source.load(case_id, images=False)
    return None if case.gt is None else np.bincount(case.gt.data.ravel(), minlength=5).tolist()


def test_the_remap_of_the_dataset_is_applied_to_the_ground_truth(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT, "dataset": "A"}}, task=DICT_TASK)
    source = open_source(tiny.bundle)
    assert loaded_ids(source) == [115, 3, 0, 2, 0]
    native = source.load("A/1").gt_native
    assert native is not None
    assert np.bincount(native.data.ravel()).tolist() == [115, 3, 0, 0, 2]


def test_the_remap_of_a_case_replaces_that_of_its_dataset(tmp_path: Path, write_bundle: Any) -> None:
    case = {"gt": GT, "dataset": "A", "remap": {"4": 1}}
    source = open_source(write_bundle(tmp_path, {"A/1": case}, task=DICT_TASK).bundle)
    entry = source.entry("A/1")
    assert entry.remap is not None
    assert (entry.remap.table, entry.remap.form) == ({4: 1}, "per_case")
    assert loaded_ids(source) == [118, 2, 0, 0, 0]  # neither merged (1 stays) nor chained (4 -> 1 -> ...)


def test_a_broken_remap_of_one_case_is_its_own_error(tmp_path: Path, write_bundle: Any) -> None:
    cases = {n: {"gt": GT, "dataset": "A"} for n in ("A/1", "A/2", "A/3", "A/4", "A/5")}
    for number, remap in zip("1234", ({"x": 1}, 3, {"1": 10**30}, {"1": -1}), strict=True):
        cases[f"A/{number}"]["remap"] = remap
    source = open_source(write_bundle(tmp_path, cases, task=DICT_TASK).bundle)
    for number in "1234":
        assert codes(source.entry(f"A/{number}")) == ["error bad-remap"]
        assert source.load(f"A/{number}").gt is None
    assert codes(source.entry("A/5")) == []


@pytest.mark.parametrize(
    ("task", "form"),
    [
        ({"canonical_labels": {"one": [1]}}, "none"),
        ({"label_remap": {"A": {"native": [1, 4], "to": [1, 3]}}}, "list"),
    ],
)
def test_no_remap_and_a_documentary_one_leave_every_id(tmp_path: Path, write_bundle: Any, task: Any, form: str) -> None:
    source = open_source(write_bundle(tmp_path, {"A/1": {"gt": GT, "dataset": "A"}}, task=task, eval_spec={}).bundle)
    entry = source.entry("A/1")
    assert entry.remap is not None
    assert entry.remap.form == form
    assert loaded_ids(source) == [115, 3, 0, 0, 2]
    assert codes(entry) == []


@pytest.mark.parametrize(("task", "reason"), [(DICT_TASK, "no label_remap for dataset 'B'"), (None, "no task.yaml")])
def test_where_the_bundle_leaves_the_remap_open_native_ids_are_shown_and_not_scored(
    tmp_path: Path, write_bundle: Any, task: Any, reason: str
) -> None:
    source = open_source(write_bundle(tmp_path, {"A/1": {"gt": GT, "dataset": "B"}}, task=task, eval_spec={}).bundle)
    finding = only(source.entry("A/1").findings, "no-remap")
    assert finding.severity == "error"
    assert reason in finding.message
    assert "--remap FILE" in finding.message
    assert "--remap identity" in finding.message
    case = source.load("A/1")
    assert case.gt is None
    assert case.gt_native is not None


def test_code_in_a_bundle_is_never_run(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, task=None)
    for name in ("remap.py", "scoring.py", "__init__.py", "conftest.py"):
        (tiny.bundle / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    source = open_source(tiny.bundle)
    assert [f.code for f in source.load("A/1").errors] == ["no-remap"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("task", [DICT_TASK, None])
def test_the_users_remap_replaces_those_of_the_bundle(tmp_path: Path, write_bundle: Any, task: Any) -> None:
    cases = {"A/1": {"gt": GT, "dataset": "A", "remap": {"1": 2}}, "B/1": {"gt": GT, "dataset": "B"}}
    tiny = write_bundle(tmp_path, cases, task=task, eval_spec={})
    (tmp_path / "remap.yaml").write_text("4: 2\n")
    source = open_source(tiny.bundle, remap=str(tmp_path / "remap.yaml"))
    for case_id in cases:
        entry = source.entry(case_id)
        assert codes(entry) == []
        assert entry.remap is not None
        assert (entry.remap.form, entry.remap.source) == ("user", str(tmp_path / "remap.yaml"))
        assert loaded_ids(source, case_id) == [118, 0, 2, 0, 0]
    assert loaded_ids(open_source(tiny.bundle, remap="identity"), "B/1") == [115, 3, 0, 0, 2]


def test_a_users_remap_for_one_dataset_leaves_the_others_to_the_bundle(tmp_path: Path, write_bundle: Any) -> None:
    cases = {"A/1": {"gt": GT, "dataset": "A"}, "B/1": {"gt": GT, "dataset": "B"}}
    tiny = write_bundle(tmp_path, cases, task=DICT_TASK)
    (tmp_path / "remap.yaml").write_text("B: {1: 2}\n")
    source = open_source(tiny.bundle, remap=str(tmp_path / "remap.yaml"))
    assert loaded_ids(source, "A/1") == [115, 3, 0, 2, 0]
    assert loaded_ids(source, "B/1") == [117, 0, 3, 0, 0]


# ---------------------------------------------------------------- predictions


def test_predictions_are_found_and_never_remapped(tmp_path: Path, write_bundle: Any) -> None:
    pred = GT.copy()
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT, "dataset": "A"}}, task=DICT_TASK, predictions={"A/1": pred})
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    assert source.entry("A/1").pred_path == tiny.predictions / "A" / "1.nii.gz"
    case = source.load("A/1")
    assert case.pred is not None
    assert case.pred.data.tolist() == pred.tolist()
    assert source.predictions is not None
    assert source.predictions.name == "model"
    assert open_source(tiny.bundle, predictions=tiny.predictions, model_name="x").predictions.name == "x"  # type: ignore[union-attr]


def test_an_ambiguous_prediction_is_an_error_of_its_case(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}, "A/2": {"gt": GT}}, predictions={"A/1": GT, "A/2": GT})
    (tiny.predictions / "A" / "1.nii").write_bytes(b"")
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    assert codes(source.entry("A/1")) == ["error ambiguous-prediction"]
    assert source.load("A/1").pred is None
    assert codes(source.entry("A/2")) == []


def test_one_broken_file_does_not_stop_the_others(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {n: {"gt": GT} for n in ("A/1", "A/2", "A/3")}, predictions={"A/2": GT})
    (tiny.data / "labels" / "A" / "1.nii.gz").write_bytes(b"\x1f\x8bdamage")
    (tiny.predictions / "A" / "3.nii.gz").write_bytes(b"")
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    errors = {case_id: [f.code for f in source.load(case_id).errors] for case_id in source.case_ids()}
    assert errors == {"A/1": ["unreadable-file"], "A/2": [], "A/3": ["unreadable-file"]}


@pytest.mark.parametrize("hostile", ["../1", "/etc/passwd", "x" * 400, "\ud800", "a\0b"])
def test_a_hostile_case_id_does_not_stop_the_others(tmp_path: Path, write_bundle: Any, hostile: str) -> None:
    tiny = write_bundle(
        tmp_path,
        {"A/1": {"gt": GT}},
        predictions={"A/1": GT},
        manifest={
            "test": [hostile, "A/1"],
            "per_case": {hostile: {"seg": "x.nii.gz"}, "A/1": {"seg": "labels/A/1.nii.gz"}},
        },
    )
    source = open_source(tiny.bundle, predictions=tiny.predictions)
    bad, good = source.load(hostile), source.load("A/1")
    assert [f.code for f in bad.errors] == ["missing-file", "unsafe-path"]
    assert good.errors == []
    assert good.pred is not None


# ---------------------------------------------------------------- opening


def test_a_target_is_opened_as_bundle_folder_parent_or_loaded_bundle(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}})
    for target in (tiny.bundle, str(tiny.bundle), tmp_path, Bundle(tiny.bundle)):
        source = open_source(target)
        assert source.case_ids() == ["A/1"]
        assert source.root.resolve() == tiny.data.resolve()


def test_what_is_no_bundle_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(BundleNotFoundError, match=r"holds no manifest_test\.json"):
        open_source(tmp_path)
    with pytest.raises(FileNotFoundError, match="is not there"):
        open_source(tmp_path / "none")


def test_folders_that_are_not_there_are_usage_errors(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}})
    with pytest.raises(UsageError, match="predictions: no such folder"):
        open_source(tiny.bundle, predictions=tmp_path / "none")
    with pytest.raises(UsageError, match="data root: no such folder"):
        open_source(tiny.bundle, data_root=tmp_path / "none").entry("A/1")


def test_a_specification_that_cannot_be_used_raises(tmp_path: Path, write_bundle: Any) -> None:
    tiny = write_bundle(tmp_path, {"A/1": {"gt": GT}}, eval_spec="metrics: dice\n")
    with pytest.raises(BundleError, match=r"eval_spec\.yaml: metrics"):
        _ = open_source(tiny.bundle).spec
