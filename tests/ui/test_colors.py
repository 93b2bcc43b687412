"""Colours: fixed per id, never transparent by accident, apart for everybody."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from medotter_viewer.metrics.error_map import FN, FP, TP, WRONG
from medotter_viewer.ui import colors


def test_an_id_has_the_same_colour_whatever_else_is_there() -> None:
    assert colors.label_colors([7])[7] == colors.label_colors(range(1, 60))[7] == colors.label_color(7)


def test_ids_1_and_50_differ() -> None:
    assert colors.label_color(1) != colors.label_color(50)


def test_the_first_24_ids_all_differ_and_are_bright() -> None:
    found = np.array([colors.label_color(i)[:3] for i in range(1, 25)])
    apart = [np.abs(a - b).sum() for a, b in itertools.combinations(found, 2)]
    assert min(apart) > 0.1
    assert found.max(axis=1).min() > 0.6


@pytest.mark.parametrize("label", [1, 2, 23, 24, 25, 26, 99, 100, 4095, 65534])
def test_neighbouring_ids_differ_clearly(label: int) -> None:
    one, two, three = (np.array(colors.label_color(i)[:3]) for i in (label, label + 1, label + 2))
    assert np.abs(one - two).max() > 0.2
    assert np.abs(one - three).max() > 0.2


def test_only_background_is_transparent() -> None:
    table = colors.label_colors(range(300))
    assert table[0][3] == 0
    assert all(color[3] == 1 for label, color in table.items() if label != 0)


def test_an_unknown_id_is_magenta_and_no_label_comes_near() -> None:
    table = colors.label_colors(range(1, 1000))
    assert table[None] == (1.0, 0.0, 1.0, 1.0)
    loud = np.array(table[None][:3])
    assert all(np.abs(np.array(color[:3]) - loud).max() > 0.3 for label, color in table.items() if label is not None)


def test_the_accents_of_both_sides_differ_and_no_label_has_that_of_the_prediction() -> None:
    pred = np.array(colors.rgba(colors.PRED_ACCENT)[:3])
    assert np.abs(np.array(colors.rgba(colors.GT_ACCENT)[:3]) - pred).max() > 0.5
    assert all(np.abs(np.array(colors.label_color(i)[:3]) - pred).max() > 0.2 for i in range(1, 25))


# Linear sRGB as the eye sees it with normal cones, without red ones, and without green ones: Machado et al. 2009.
EYES = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
TO_CONES = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
TO_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip


def linear(color: object) -> np.ndarray:
    code = np.array(color[:3])
    return np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)


def oklab(color: object, eye: str) -> np.ndarray:
    return TO_LAB @ np.cbrt(TO_CONES @ np.clip(EYES[eye] @ linear(color), 0, 1))


@pytest.mark.parametrize(("eye", "least"), [("normal", 0.14), ("protanopia", 0.11), ("deuteranopia", 0.11)])
def test_a_second_model_is_told_from_labels_and_errors_by_everybody(eye: str, least: float) -> None:
    second = colors.rgba(colors.SECOND_ACCENT)
    roles = (colors.PRED_ACCENT, colors.GT_ACCENT, colors.FN_ACCENT, colors.FP_ACCENT, colors.TP_ACCENT)
    others = [colors.rgba(code) for code in (*roles, colors.WRONG_ACCENT, colors.SEED_ACCENT)] + [colors.LOUD]
    others += [colors.label_color(i) for i in range(1, 29)]
    apart = [np.linalg.norm(oklab(color, eye) - oklab(second, eye)) for color in others]
    assert min(apart) >= least
    contrast_to_black = (np.array([0.2126, 0.7152, 0.0722]) @ linear(second) + 0.05) / 0.05
    assert contrast_to_black > 2.5


def test_no_colour_of_the_palette_is_that_of_a_wrong_label() -> None:
    wrong = np.array(colors.rgba(colors.WRONG_ACCENT)[:3])
    assert all(np.abs(np.array(colors.label_color(i)[:3]) - wrong).max() > 0.2 for i in range(1, 24))


def test_an_accent_shows_its_ids_and_nothing_else() -> None:
    table = colors.accent_colors([2, 3], colors.GT_ACCENT)
    assert table[2] == table[3] == colors.rgba(colors.GT_ACCENT)
    assert table[None] == table[0] == colors.CLEAR


def test_what_is_right_recedes_behind_what_is_wrong() -> None:
    table = colors.error_colors()
    assert table[TP][3] < min(table[FN][3], table[FP][3], table[WRONG][3])
    assert len({table[kind] for kind in (TP, FN, FP, WRONG)}) == 4


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 50), (50, 2**24), (2**24, 2**24 + 1), (304, 305), (254, 255), (255, 256), (2**31 - 2, 2**31 - 1)],
)
def test_ids_of_any_size_have_opaque_colours_that_differ(one: int, other: int) -> None:
    first, second = colors.label_color(one), colors.label_color(other)
    assert first[3] == second[3] == 1
    assert max(first[:3]) > 0.3
    assert np.abs(np.array(first) - np.array(second)).max() > 0.1
