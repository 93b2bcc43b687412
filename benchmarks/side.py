"""What stands on one line of a table: a way to do a piece of work, ours or a peer's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from measuring import Step

Values = dict[str, dict[str, float]]
"""Region (or what else is counted) to quantity to value."""


@dataclass(frozen=True, slots=True)
class Side:
    """A way to do a piece of work.

    Parameters
    ----------
    name : str
        As printed.
    packages : tuple of str
        Distributions whose versions are printed; none for what is part of this folder.
    modules : tuple of str
        What must be importable.
    steps : callable
        From the inputs, and how many parts are wanted at most, to the calls that are timed.
    values : callable
        From the inputs and the results of the steps to numbers that can be compared; not timed.
    allowed : mapping of str to float
        Quantity to the largest difference from ours, absolute up to 1 and relative above; 0 is bit for bit. Quantities
        that are not listed are not compared.
    told : mapping of str to str
        A quantity that is defined otherwise to the nearest one of ours: the difference is told, and may be any.
    parts : mapping of str to int
        Work item to the number of parts (labels) that are done where all would take too long; the rest is
        extrapolated in proportion.
    environment : {"", "panoptica"}
        Which environment it runs in.
    engine : {"", "plain", "compiled"}
        For ours: which engine is forced.
    remark : str
        Printed with it.
    too_large : mapping of str to str
        Work item to why it is not tried.
    """

    name: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    steps: Callable[[Any, int | None], Iterable[Step]]
    values: Callable[[Any, list[Any]], Values]
    allowed: Mapping[str, float] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, int] = field(default_factory=dict)
    environment: Literal["", "panoptica"] = ""
    engine: Literal["", "plain", "compiled"] = ""
    remark: str = ""
    too_large: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Whether it is this package."""
        return bool(self.engine)


OURS, PLAIN = "medotter-viewer", "medotter-viewer, plain engine"
OUR_PACKAGES = ("medotter-viewer", "numba")
