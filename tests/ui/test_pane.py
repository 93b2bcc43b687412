"""What a side pane keeps between two paintings, and what it paints anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("qtpy")

from medotter_viewer.ui.letters import EdgeLetters
from medotter_viewer.ui.pane import Pane, PaneContent

pytestmark = pytest.mark.window
ONE, OTHER = EdgeLetters("R", "L", "A", "P"), EdgeLetters("A", "P", "S", "I")


def content(letters: EdgeLetters | None) -> PaneContent:
    return PaneContent(0, (), (), (), (0.0, 0.0), (50.0, 80.0), letters, "")


def pixels(pane: Pane) -> Any:
    image = pane.grab().toImage()
    return np.frombuffer(image.bits().asstring(image.sizeInBytes()), np.uint8).copy()


def shown(letters: EdgeLetters | None, size: tuple[int, int] = (200, 150)) -> Any:
    pane = Pane()
    pane.resize(*size)
    pane.show_content(content(letters))
    return pixels(pane)


@pytest.mark.usefixtures("qapp")
def test_letters_are_those_of_the_plane_and_of_the_size() -> None:
    pane = Pane()
    for letters, size in ((ONE, (200, 150)), (OTHER, (200, 150)), (OTHER, (260, 190)), (None, (260, 190))):
        pane.resize(*size)
        pane.show_content(content(letters))
        np.testing.assert_array_equal(pixels(pane), shown(letters, size))
    assert (shown(ONE) != shown(None)).any()
    assert (shown(ONE) != shown(OTHER)).any()


@pytest.mark.usefixtures("qapp")
def test_letters_are_not_drawn_again_for_another_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    from medotter_viewer.ui import pane as module

    drawn: list[Any] = []
    monkeypatch.setattr(module, "draw_letters", lambda *given, **_: drawn.append(given[2]))
    pane = Pane()
    pane.resize(200, 150)
    for letters in (ONE, ONE, OTHER, OTHER):
        pane.show_content(content(letters))
        pixels(pane)
    assert drawn == [ONE, OTHER]
