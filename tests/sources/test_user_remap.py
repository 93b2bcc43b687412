"""A label remap that a person gives for this run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from medotter_viewer.errors import BundleError, ReadError
from medotter_viewer.sources.user_remap import load_user_remap


def write(folder: Path, content: str, name: str = "remap.yaml") -> str:
    (folder / name).write_text(content, encoding="utf-8")
    return str(folder / name)


def test_identity_keeps_every_id_of_every_dataset() -> None:
    given = load_user_remap("identity")
    for dataset in ("A", None):
        remap = given.of(dataset)
        assert remap is not None
        assert (remap.table, remap.form) == (None, "user")
    assert given.source == "identity"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("remap.yaml", "4: 3\n1: 1\nnote: of 2021\n"),
        ("remap.json", '{"4": 3, "1": "1", "note": "of 2021"}'),
    ],
)
def test_one_table_is_for_every_dataset(tmp_path: Path, name: str, content: str) -> None:
    path = write(tmp_path, content, name)
    given = load_user_remap(path)
    for dataset in ("A", None):
        remap = given.of(dataset)
        assert remap is not None
        assert remap.table == {4: 3, 1: 1}
        assert (remap.form, remap.source) == ("user", path)


def test_a_table_for_each_dataset_leaves_the_others_alone(tmp_path: Path) -> None:
    given = load_user_remap(write(tmp_path, "A: {1: 2, note: x}\n7: {1: 3}\nE: {}\n"))
    a, seven, empty = given.of("A"), given.of("7"), given.of("E")
    assert a is not None
    assert a.table == {1: 2}
    assert seven is not None
    assert seven.table == {1: 3}
    assert empty is not None
    assert empty.table == {}
    assert given.of("B") is None
    assert given.of(None) is None


def test_what_is_recorded_names_the_file_and_its_tables_as_json_holds_them(tmp_path: Path) -> None:
    assert load_user_remap("identity").record() == {"source": "identity", "map": {"*": "identity"}}
    one = write(tmp_path, "4: 3\n1: 1\nnote: of 2021\n", "one.yaml")
    assert load_user_remap(one).record() == {"source": one, "map": {"*": {"4": 3, "1": 1}}}
    two = write(tmp_path, "A: {1: 2}\n7: {1: 3}\n", "two.yaml")
    assert load_user_remap(two).record() == {"source": two, "map": {"A": {"1": 2}, "7": {"1": 3}}}


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "got None"),
        ("{}", "got {}"),
        ("note: only\n", "expected native: canonical"),
        ("- 1\n", "got [1]"),
        ("3\n", "got 3"),
        ("A: {1: 2}\n3: 4\n", "mixes ids and datasets"),
        ("1: x\n", "canonical id of 1: got 'x'"),
        ("A: {1: x}\n", "remap.yaml: A: canonical id of 1: got 'x'"),
        ("1: 2\n1: 3\n", "stands twice"),
        ("1: -2\n", "got -2"),
        ("a: [", "line 1"),
    ],
)
def test_anything_else_is_refused_with_the_file(tmp_path: Path, content: str, named: str) -> None:
    with pytest.raises(BundleError, match=re.escape(named)) as caught:
        load_user_remap(write(tmp_path, content))
    assert "remap.yaml" in str(caught.value)


def test_a_file_that_is_not_there_is_a_read_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="No such file"):
        load_user_remap(str(tmp_path / "none.yaml"))
