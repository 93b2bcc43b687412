"""A bundle on disk: the interface of the benchmark's own loader, and where its data lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from medotter_viewer import Bundle
from medotter_viewer.errors import BundleError, UsageError
from medotter_viewer.sources.bundle import DATA_ROOT_VARIABLE, find_bundle, find_data_root

MANIFEST: dict[str, Any] = {
    "task": "abdomen",
    "version": "1.2",
    "hash": "0123456789ab",
    "train": ["B/2", "A/9"],
    "test": ["A/1", "B/1"],
    "per_case": {name: {"seg": f"{name}.nii.gz"} for name in ("A/1", "A/9", "B/1", "B/2")},
    "skipped": [{"id": "C/1"}],
}


def write(folder: Path, manifest: Any = MANIFEST, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    (folder / "manifest_test.json").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(content, encoding="utf-8")
    return folder


def test_the_attributes_are_those_of_the_manifest(tmp_path: Path) -> None:
    bundle = Bundle(str(write(tmp_path)))
    assert bundle.directory == tmp_path
    assert (bundle.task, bundle.version, bundle.hash) == ("abdomen", "1.2", "0123456789ab")
    assert bundle.train == ["B/2", "A/9"]
    assert bundle.test == ["A/1", "B/1"]
    assert bundle.manifest == MANIFEST
    assert repr(bundle) == "Bundle('abdomen', version 1.2, hash 0123456789ab, 2 train, 2 test)"


def test_cases_are_train_then_test_in_the_order_of_the_manifest(tmp_path: Path) -> None:
    pairs = list(Bundle(write(tmp_path)).cases())
    assert [case_id for case_id, _ in pairs] == ["B/2", "A/9", "A/1", "B/1"]
    assert pairs[0][1] == {"seg": "B/2.nii.gz"}


def test_a_case_without_an_entry_is_a_key_error_with_readable_words(tmp_path: Path) -> None:
    bundle = Bundle(write(tmp_path))
    assert bundle.case_meta("A/1") == {"seg": "A/1.nii.gz"}
    for case_id in ("A/2", "", "A"):
        with pytest.raises(KeyError) as caught:
            bundle.case_meta(case_id)
        assert str(caught.value).endswith(f"no entry in per_case for case {case_id!r}")


def test_no_manifest_is_a_file_not_found_error(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(FileNotFoundError, match=r"no manifest_test\.json"):
            Bundle(folder)


@pytest.mark.parametrize("key", ["task", "version", "hash", "train", "test", "per_case"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    manifest = {k: v for k, v in MANIFEST.items() if k != key}
    with pytest.raises(BundleError, match=rf"manifest_test\.json: missing {key}; required are"):
        Bundle(write(tmp_path, manifest))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"train": "A/1"}, "train: expected a list"),
        ({"test": [1]}, "test: expected a list"),
        ({"test": None}, "test: expected a list"),
        ({"per_case": []}, "per_case: expected an object"),
    ],
)
def test_a_key_of_another_kind_is_named(tmp_path: Path, changed: dict[str, Any], named: str) -> None:
    with pytest.raises(BundleError, match=named):
        Bundle(write(tmp_path, {**MANIFEST, **changed}))


@pytest.mark.parametrize("text", ["[]", "3", "null", '"x"'])
def test_a_manifest_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BundleError, match="expected an object"):
        Bundle(write(tmp_path, text))


def test_a_case_that_stands_twice_in_per_case_is_an_error_that_names_it(tmp_path: Path) -> None:
    text = json.dumps(MANIFEST).replace('"per_case": {', '"per_case": {"A/1": {"seg": "other"}, ')
    with pytest.raises(BundleError, match="key 'A/1' stands twice"):
        Bundle(write(tmp_path, text))


def test_a_byte_order_mark_before_the_manifest_is_accepted(tmp_path: Path) -> None:
    assert Bundle(write(tmp_path, "\ufeff" + json.dumps(MANIFEST))).task == "abdomen"


def test_yaml_is_parsed_at_every_call(tmp_path: Path) -> None:
    bundle = Bundle(write(tmp_path, task="task: {id: one}\n", eval_spec="metrics: [dice]\n"))
    assert bundle.task_spec() == {"task": {"id": "one"}}
    assert bundle.eval_spec() == {"metrics": ["dice"]}
    (tmp_path / "task.yaml").write_text("task: {id: two}\n", encoding="utf-8")
    (tmp_path / "eval_spec.yaml").write_text("metrics: [hd95]\n", encoding="utf-8")
    assert bundle.task_spec() == {"task": {"id": "two"}}
    assert bundle.eval_spec() == {"metrics": ["hd95"]}
    assert bundle.typed_spec().metrics == ("hd95",)


def test_broken_yaml_does_not_keep_a_bundle_from_being_opened(tmp_path: Path) -> None:
    bundle = Bundle(write(tmp_path, task="a: [", eval_spec="- 1\n"))
    with pytest.raises(BundleError, match=r"task\.yaml: line"):
        bundle.task_spec()
    with pytest.raises(BundleError, match=r"eval_spec\.yaml: got list, expected keys and values"):
        bundle.eval_spec()


def test_an_older_bundle_has_no_task_and_the_default_specification(tmp_path: Path) -> None:
    bundle = Bundle(write(tmp_path))
    assert not bundle.has_task
    assert bundle.typed_task() is None
    assert bundle.typed_spec().metrics == ("dice", "hd95")
    for read in (bundle.task_spec, bundle.eval_spec):
        with pytest.raises(FileNotFoundError, match="no such file"):
            read()


@pytest.mark.parametrize("task", ["task: [", "task: abdomen", "task:", "{}", "- 1", None])
def test_a_notebook_shows_the_identity_escaped_and_never_a_traceback_for_odd_tasks(tmp_path: Path, task: Any) -> None:
    files = {} if task is None else {"task": task}
    bundle = Bundle(write(tmp_path, {**MANIFEST, "task": "<b>x</b>"}, **files))
    try:
        html = bundle._repr_html_()
    except BundleError:
        assert task in ("task: [", "- 1")
    else:
        assert "&lt;b&gt;x" in html
        assert "<b>x" not in html
        assert "0123456789ab" in html


# ---------------------------------------------------------------- where things lie


def test_a_target_is_a_bundle_or_the_folder_around_it(tmp_path: Path) -> None:
    bundle = write(tmp_path / "bundle")
    assert find_bundle(bundle) == bundle
    assert find_bundle(tmp_path) == bundle
    assert find_bundle(tmp_path / "none") is None


def test_the_data_root_is_the_option_then_the_variable_then_data_beside_then_the_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DATA_ROOT_VARIABLE, raising=False)
    bundle = write(tmp_path / "bundle")
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.mkdir()
    told.mkdir()
    assert find_data_root(bundle) == bundle
    (tmp_path / "data").mkdir()
    assert find_data_root(bundle) == tmp_path / "data"
    monkeypatch.setenv("MEDOTTER_VIEWER_DATA_ROOT", str(told))
    assert find_data_root(bundle) == told
    assert find_data_root(bundle, asked) == asked
    monkeypatch.setenv("MEDOTTER_VIEWER_DATA_ROOT", "")
    assert find_data_root(bundle) == tmp_path / "data"


@pytest.mark.parametrize("how", ["option", "variable", "beside", "bundle"])
def test_a_folder_of_prepared_data_is_used_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.delenv(DATA_ROOT_VARIABLE, raising=False)
    bundle = write(tmp_path / "bundle")
    root = {"bundle": bundle, "beside": tmp_path / "data"}.get(how, tmp_path / "elsewhere")
    (root / "_prepared").mkdir(parents=True)
    if how == "variable":
        monkeypatch.setenv(DATA_ROOT_VARIABLE, str(root))
    assert find_data_root(bundle, root if how == "option" else None) == root / "_prepared"


def test_a_data_root_that_is_not_there_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = write(tmp_path / "bundle")
    with pytest.raises(UsageError, match="data root: no such folder"):
        find_data_root(bundle, tmp_path / "none")
    monkeypatch.setenv(DATA_ROOT_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(UsageError, match="data root: no such folder"):
        find_data_root(bundle)
