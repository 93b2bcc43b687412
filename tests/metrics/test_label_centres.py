"""Centres of mass of labels, against hand values and scipy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from scipy.ndimage import center_of_mass

from medotter_viewer.errors import MetricInputError
from medotter_viewer.metrics.label_centres import label_centres


def test_it_is_the_mean_index_of_the_voxels() -> None:
    labels = np.zeros((4, 5, 6), dtype=np.uint8)
    labels[1, 2, 2:5] = 7
    labels[3, 2, 2] = 7
    assert label_centres(labels, {7}) == {7: (1.5, 2.0, 2.75)}


def test_labels_that_do_not_occur_are_not_asked_for_or_are_no_label_have_none() -> None:
    labels = np.array([[-1, 0, 3]], dtype=np.int16)
    assert label_centres(labels, {-1, 0, 4}) == {}
    assert label_centres(np.zeros((2, 2), dtype=np.uint8), {1}) == {}


def test_fractions_are_refused() -> None:
    with pytest.raises(MetricInputError, match="whole numbers"):
        label_centres(np.zeros(3), {1})  # type: ignore[arg-type]


@given(hnp.arrays(np.uint8, (4, 3, 5), elements=st.integers(0, 3)), st.sampled_from("CF"))
def test_it_equals_scipys(labels: NDArray[Any], order: Any) -> None:
    ids = [i for i in (1, 2, 3) if (labels == i).any()]
    expected = dict(zip(ids, center_of_mass(np.ones(labels.shape), labels, ids), strict=True)) if ids else {}
    found = label_centres(np.array(labels, order=order), {1, 2, 3})
    assert found == {i: pytest.approx(centre) for i, centre in expected.items()}
