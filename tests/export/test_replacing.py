"""Files that take their names when they are whole."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from medotter_viewer.export.replacing import unfinished


def test_two_at_once_do_not_share_a_file(tmp_path: Path) -> None:
    out = {"csv": tmp_path / "o.csv"}
    with unfinished(out) as one, unfinished(out) as other:
        one["csv"].write_text("one")
        other["csv"].write_text("other")
        one["csv"].replace(out["csv"])
        assert out["csv"].read_text() == "one"
        other["csv"].replace(out["csv"])
    assert [path.name for path in tmp_path.iterdir()] == ["o.csv"]
    assert out["csv"].read_text() == "other"


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    def fail() -> None:
        with unfinished({"csv": tmp_path / "o.csv"}) as parts:
            parts["csv"].write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_after_a_day_and_only_then(tmp_path: Path) -> None:
    old, fresh, other = (tmp_path / f".{name}.part.csv" for name in ("o.aaaa", "o.bbbb", "p.aaaa"))
    for path in (old, fresh, other):
        path.write_text("half")
    for path in (old, other):
        os.utime(path, (time.time() - 2 * 86400,) * 2)
    with unfinished({"csv": tmp_path / "o.csv"}):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {fresh.name, other.name}
