"""The search tree of the plain engine: what it finds is tested with surface distances; here, how it is interrupted."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from medotter_viewer.metrics.nearest import nearest_by_tree, queried


def test_the_nearest_of_two_voxels_by_hand() -> None:
    distances, nearest = nearest_by_tree(np.array([[0, 0], [5, 5]]), np.array([[0, 3], [5, 6]]), np.array([2.0, 1.0]))
    assert distances.tolist() == [3.0, 1.0]
    assert nearest.tolist() == [0, 1]


class SlowTree:
    """A search tree that is interrupted by Ctrl+C while it is asked."""

    def __init__(self) -> None:
        self.has_ended = False

    def query(self, places: Any, k: int, workers: int) -> Any:
        time.sleep(0.1)  # until it is waited for
        signal.raise_signal(signal.SIGINT)  # reaches the main thread
        time.sleep(0.3)
        self.has_ended = True
        return places, k * workers


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Take Ctrl+C as a terminal's programs do: what a script starts in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_search_ends_before_it_is_said_to_be_interrupted() -> None:
    tree = SlowTree()
    with pytest.raises(KeyboardInterrupt):
        queried(tree, np.zeros((1, 3)))
    assert tree.has_ended
