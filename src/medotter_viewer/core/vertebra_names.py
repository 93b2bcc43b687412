"""Names and anatomical order of vertebra labels in the numbering of VerSe.

C1-C7 are 1-7, T1-T12 are 8-19, L1-L6 are 20-25 and T13, which few people have, is 28: it lies between T12 (19) and L1
(20), so that the order of the numbers is not that of the spine.

References
----------
Legend of anjany/verse (README.md); Sekuboyina et al., Medical Image Analysis 73 (2021).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

T13, L6 = 28, 25
ANATOMICAL_ORDER: tuple[int, ...] = (*range(1, 20), T13, *range(20, 26))
"""Labels that VerSe scores, from the head to the feet."""

_REGIONS = (("C", 1, 7), ("T", 8, 12), ("L", 20, 6))
NAMES: Mapping[int, str] = MappingProxyType(
    {first + i: f"{letter}{i + 1}" for letter, first, n in _REGIONS for i in range(n)}
    | {26: "sacrum", 27: "coccyx", T13: "T13"}
)
"""Label to name; sacrum and coccyx have a number but are not scored."""

_PLACE: Mapping[int, int] = MappingProxyType({label: place for place, label in enumerate(ANATOMICAL_ORDER)})


def vertebra_name(label: int) -> str:
    """Return the name of a label: ``label 99`` for one that has none.

    Examples
    --------
    >>> [vertebra_name(label) for label in (7, 19, 28, 20, 25, 99)]
    ['C7', 'T12', 'T13', 'L1', 'L6', 'label 99']
    """
    return NAMES.get(label, f"label {label}")


def is_scored(label: int) -> bool:
    """Tell whether VerSe scores a label: 1 to 25 and 28."""
    return label in _PLACE


def in_anatomical_order(labels: Iterable[int]) -> list[int]:
    """Return labels from the head to the feet, each once; those that are not scored follow by number.

    Examples
    --------
    >>> in_anatomical_order([20, 26, 28, 19])
    [19, 28, 20, 26]
    """
    return sorted(set(labels), key=lambda label: (_PLACE.get(label, len(_PLACE)), label))


def moved_along_spine(labels: Iterable[int], by: int) -> dict[int, int]:
    """Return what labels become when they are moved by some levels towards the feet (negative: towards the head).

    Parameters
    ----------
    labels : iterable of int
        All labels that there are, of both sides: T13 and L6 are levels only where they are among them.
    by : int
        Levels.

    Returns
    -------
    dict of int to int
        Label to the label that many levels on. Those that would leave the spine, and those that are not scored, are
        not in it.

    Examples
    --------
    >>> moved_along_spine([18, 19, 20], 1), moved_along_spine([19, 28], 1), moved_along_spine([24], 1)
    ({18: 19, 19: 20, 20: 21}, {19: 28, 28: 20}, {})
    """
    there = set(labels)
    spine = [label for label in ANATOMICAL_ORDER if label not in (T13, L6) or label in there]
    places = {label: place + by for place, label in enumerate(spine)}
    return {i: spine[places[i]] for i in in_anatomical_order(there) if i in places and 0 <= places[i] < len(spine)}
