"""Paths from data files stay inside the folder they belong to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medotter_viewer.core.paths import resolve_inside
from medotter_viewer.errors import UnsafePathError

WHERE = "m.json: case A/1: seg"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "data" / "A").mkdir(parents=True)
    (tmp_path / "data" / "A" / "1.nii").write_bytes(b"")
    (tmp_path / "secret").write_bytes(b"secret")
    return tmp_path / "data"


@pytest.mark.parametrize("relative", ["A/1.nii", "./A/1.nii", "A//1.nii", "A/./1.nii"])
def test_a_plain_path_is_found_under_the_root(root: Path, relative: str) -> None:
    assert resolve_inside(root, relative, where=WHERE) == root / "A" / "1.nii"


@pytest.mark.parametrize(
    "relative", ["A/2.nii", "...", "..a", "a..", "A/...nii", "~", "ä ö/1.nii", "a b.nii", "$HOME", "*"]
)
def test_a_path_that_is_not_there_or_looks_odd_is_still_inside(root: Path, relative: str) -> None:
    assert resolve_inside(root, relative, where=WHERE) == root / relative


@pytest.mark.parametrize(
    ("relative", "reason"),
    [
        ("/etc/passwd", "is absolute"),
        ("//server/share", "is absolute"),
        ("C:\\x.nii", "is absolute"),
        ("c:x.nii", "is absolute"),
        ("\\\\server\\share", "is absolute"),
        ("\\x.nii", "is absolute"),
        ("..", "climbs"),
        ("../secret", "climbs"),
        ("A/../../secret", "climbs"),
        ("A/../A/1.nii", "climbs"),
        ("A/..", "climbs"),
        ("..\\secret", "climbs"),
        ("A\\..\\..\\secret", "climbs"),
        ("A/..\\secret", "climbs"),
        ("", "is not a path"),
        ("  ", "is not a path"),
        ("A/1.nii\0.png", "is not a path"),
        (None, "is not a path"),
        (7, "is not a path"),
        (["A"], "is not a path"),
        ("x" * 300, "cannot be looked up"),
        ("a/" * 3000, "cannot be looked up"),
        ("\ud800.nii", "cannot be looked up"),
    ],
)
def test_whatever_leaves_the_root_is_refused_with_its_place_and_reason(root: Path, relative: Any, reason: str) -> None:
    with pytest.raises(UnsafePathError) as caught:
        resolve_inside(root, relative, where=WHERE)
    assert str(caught.value).startswith(f"{WHERE}: path ")
    assert reason in str(caught.value)


def test_a_link_that_leads_out_is_refused_and_one_that_stays_is_not(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "secret")
    (root / "up").symlink_to("..")
    (root / "B").symlink_to("A")
    for relative in ("out", "up/secret", "up"):
        with pytest.raises(UnsafePathError, match="leaves its folder through a link"):
            resolve_inside(root, relative, where=WHERE)
    assert resolve_inside(root, "B/1.nii", where=WHERE) == root / "B" / "1.nii"


def test_a_root_that_is_itself_a_link_is_fine(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    assert resolve_inside(link, "A/1.nii", where=WHERE) == link / "A" / "1.nii"


def test_links_that_run_in_a_circle_open_nothing(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    try:
        path = resolve_inside(root, "one", where=WHERE)
    except UnsafePathError as error:
        assert "loop of links" in str(error)  # noqa: PT017 - newer versions of Python do not raise
    else:
        assert not path.is_file()


@given(st.text(alphabet="ab./\\:C~\0", max_size=12))
def test_no_text_leads_out(tmp_path_factory: pytest.TempPathFactory, relative: str) -> None:
    root = tmp_path_factory.getbasetemp()
    try:
        path = resolve_inside(root, relative, where=WHERE)
    except UnsafePathError:
        return
    inside = os.path.realpath(root)
    assert os.path.commonpath([os.path.realpath(path), inside]) == inside
