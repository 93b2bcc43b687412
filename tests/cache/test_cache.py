"""The cache answers only for the same bytes, is never trusted when damaged, and changes no number."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medotter_viewer import open_source
from medotter_viewer.batch import score_entries
from medotter_viewer.cache import scores as through
from medotter_viewer.cache import store
from medotter_viewer.cache.store import CACHE_VARIABLE, FactCache, content_key, default_cache_path
from medotter_viewer.errors import UsageError
from medotter_viewer.scoring.options import ScoreOptions

ALL = ScoreOptions(("dice", "iou", "hd95"))


@pytest.fixture
def cache(tmp_path: Path) -> FactCache:
    return FactCache(tmp_path / "cache" / "scores.sqlite")


@pytest.fixture
def source(tmp_path: Path, write_bundle: Any) -> Any:
    gt = np.zeros((9, 8, 7), dtype=np.uint8)
    gt[1:4, 1:4, 1:4], gt[5:8, 4:7, 2:6], gt[0, 0, 0] = 5, 7, 9
    pred = np.zeros_like(gt)
    pred[2:5, 1:4, 1:4], pred[5:8, 4:7, 3:6] = 1, 2
    task = {
        "task": {"id": "t"},
        "canonical_labels": {"one": [1], "two": [2], "both": [1, 2]},
        "label_remap": {"D": {5: 1, 7: 2}},
    }
    tiny = write_bundle(
        tmp_path / "b",
        {"D/1": {"gt": gt, "dataset": "D", "affine": np.diag([1.0, 2.0, 3.0, 1.0])}},
        task=task,
        eval_spec={"metrics": ["dice", "hd95"]},
        predictions={"D/1": pred},
    )
    return open_source(tiny.bundle, predictions=tiny.predictions)


def run(source: Any, cache: FactCache | None, options: ScoreOptions = ALL, **changes: Any) -> Any:
    entries = [replace(entry, **changes) for entry in source.entries("test")]
    (score,) = score_entries(entries, source.spec, options, cache=cache)
    return score


def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("voxels were read")

    monkeypatch.setattr(through, "load_case", refuse)


def test_the_second_run_reads_no_voxel_and_gives_the_same(
    source: Any, cache: FactCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run(source, None)
    assert run(source, cache) == plain
    no_reading(monkeypatch)
    assert run(source, cache) == plain


def test_another_remap_reads_no_voxel_for_dice(source: Any, cache: FactCache, monkeypatch: pytest.MonkeyPatch) -> None:
    from medotter_viewer.core.labels import Remap

    run(source, cache)
    swapped = Remap({5: 2, 7: 1}, "user")
    plain = run(source, None, ScoreOptions(("dice",)), remap=swapped)
    no_reading(monkeypatch)
    assert run(source, cache, ScoreOptions(("dice",)), remap=swapped) == plain
    assert plain.regions["one"].metrics["dice"].value == 0.0


def test_a_score_that_was_derived_from_facts_is_kept_too(
    source: Any, cache: FactCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(source, cache)
    options = ScoreOptions(("dice",))
    derived = run(source, cache, options)
    no_reading(monkeypatch)
    monkeypatch.setattr(through, "_from_facts", lambda *_: pytest.fail("it was derived again"))
    assert run(source, cache, options) == derived


@pytest.mark.parametrize("variant", ["pooled", "mean", "surfel"])
def test_another_hd95_is_computed_and_then_remembered(
    source: Any, cache: FactCache, monkeypatch: pytest.MonkeyPatch, variant: Any
) -> None:
    run(source, cache)
    options = ScoreOptions(("hd95",), variant)
    plain = run(source, None, options)
    assert run(source, cache, options) == plain
    no_reading(monkeypatch)
    assert run(source, cache, options) == plain
    assert run(source, cache) is not None  # the first definition is still there


def test_changed_bytes_are_another_case(source: Any, cache: FactCache) -> None:
    import nibabel

    first = run(source, cache)
    path = next(source.entries("test")).pred_path
    image = nibabel.load(path)
    data = np.asarray(image.dataobj).copy()
    data[0, 0, 0] = 1
    nibabel.save(nibabel.Nifti1Image(data, image.affine), path)
    second = run(source, cache)
    assert second.regions["one"].pred_voxels == first.regions["one"].pred_voxels + 1
    assert second == run(source, None)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"not a database at all, but long enough to be looked at " * 40),
        lambda path: path.write_bytes(path.read_bytes()[:3000]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:2048] + b"\xff" * 4096 + path.read_bytes()[6144:]),
    ],
    ids=["text", "cut", "empty", "overwritten"],
)
def test_a_damaged_file_is_rebuilt(source: Any, cache: FactCache, damage: Any) -> None:
    plain = run(source, None)
    run(source, cache)
    damage(cache.path)
    assert run(source, cache) == plain
    assert run(source, cache) == plain


def test_what_is_no_file_is_neither_moved_nor_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes").write_text("keep")
    os.mkfifo(tmp_path / "pipe")
    for path in (folder, tmp_path / "pipe"):
        FactCache(path).put("key", {"a": 1})
        assert FactCache(path).get("key") is None
        monkeypatch.setenv(CACHE_VARIABLE, str(path))
        with pytest.raises(UsageError, match=f"{CACHE_VARIABLE}: {path} is .*, expected the name of a file"):
            default_cache_path()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "pipe"]
    assert (folder / "notes").read_text() == "keep"


def test_two_files_of_somebody_else_are_both_kept(tmp_path: Path) -> None:
    path = tmp_path / "scores.sqlite"
    for content in ("first " * 200, "second " * 200):
        path.write_text(content)
        FactCache(path).put("key", {"a": 1})
        assert FactCache(path).get("key") == {"a": 1}
    kept = sorted(p.read_text()[:5] for p in tmp_path.glob("*.put-aside*"))
    assert kept == ["first", "secon"]


def test_somebody_elses_database_is_put_aside_not_destroyed(source: Any, cache: FactCache) -> None:
    cache.path.parent.mkdir()
    with sqlite3.connect(cache.path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
        connection.execute("INSERT INTO theirs VALUES (42)")
    connection.close()
    assert run(source, cache) == run(source, None)
    aside = cache.path.with_name("scores.sqlite.put-aside")
    with sqlite3.connect(aside) as connection:
        assert connection.execute("SELECT x FROM theirs").fetchone() == (42,)
    connection.close()


def test_a_changed_entry_is_not_trusted(source: Any, cache: FactCache) -> None:
    plain = run(source, cache)
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE facts SET body = replace(body, '27', '26')")
    connection.close()
    assert run(source, cache) == plain


def test_a_place_that_cannot_be_written_changes_nothing(source: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run(source, FactCache(tmp_path / "file" / "scores.sqlite")) == run(source, None)


def _put_many(path: Path, start: int) -> None:
    cache = FactCache(path)
    for n in range(start, start + 25):
        cache.put(f"key{n % 30}", {"n": n % 30, "distances": {str(start): 1.0}})


def test_two_processes_may_write_at_once(cache: FactCache) -> None:
    import multiprocessing

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        for future in [pool.submit(_put_many, cache.path, start) for start in (0, 10)]:
            future.result()
    stored = [cache.get(f"key{n}") for n in range(30)]
    assert [facts["n"] for facts in stored] == list(range(30))
    assert stored[15]["distances"] == {"0": 1.0, "10": 1.0}  # both writers' distances


def test_keys_depend_on_bytes_order_and_settings(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(b"ab"), two.write_bytes(b"c")
    keys = {
        content_key(one, two),
        content_key(two, one),
        content_key(one, two, resample=True),
        content_key(one),
    }
    assert len(keys) == 4
    other = tmp_path / "3"
    other.write_bytes(b"ab")
    assert content_key(other, two) == content_key(one, two)


def test_remarks_name_the_file_as_it_lies_now(source: Any, cache: FactCache, tmp_path: Path) -> None:
    entry = next(source.entries("test"))
    wrong = tmp_path / "wrong.nii"
    wrong.write_bytes(entry.pred_path.read_bytes())  # gzip data without .gz: a remark that names the file
    first = run(source, cache, pred_path=wrong)
    moved = tmp_path / "moved.nii"
    wrong.rename(moved)
    second = run(source, cache, pred_path=moved)
    assert [str(wrong) in (n.file or "") for n in first.notes if n.code == "wrong-suffix"] == [True]
    assert [str(moved) in (n.file or "") for n in second.notes if n.code == "wrong-suffix"] == [True]


def test_many_keys_are_answered_at_once_and_damaged_facts_are_left_out(
    cache: FactCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_KEYS_AT_ONCE", 2)
    for number in range(5):
        cache.put(f"k{number}", {"n": number})
    connection = sqlite3.connect(cache.path, isolation_level=None)
    connection.execute("UPDATE facts SET body = '{\"n\": 7}' WHERE key = 'k3'")
    connection.close()
    assert cache.get_many(["k4", "k0", "k0", "k3", "nothing"]) == {"k0": {"n": 0}, "k4": {"n": 4}}
    assert len(cache.get_many(f"k{n}" for n in range(5))) == 4
    assert cache.get_many([]) == {}
