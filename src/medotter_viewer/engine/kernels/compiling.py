"""How kernels are compiled: for named types only, into our own cache folder, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types

from medotter_viewer.engine.store import folder

F = TypeVar("F", bound=Callable[..., Any])

U1, U2, I4 = types.uint8, types.uint16, types.int32
LABELS = (U1, U2, I4)
"""Types of label ids that kernels are compiled for."""


def given(kind: Any) -> Any:
    """Return the type of a flat array that is only read, writeable or not."""
    return types.Array(kind, 1, "C", readonly=True)


def filled(kind: Any) -> Any:
    """Return the type of a flat array that is written to."""
    return types.Array(kind, 1, "C")


def kernel(*signatures: Any) -> Callable[[F], F]:
    """Compile a function for some signatures, or take it from the cache folder; for other types it raises TypeError.

    Arithmetic is that of IEEE 754 in the order written: nothing is fused or reordered.
    """

    def compiled(function: F) -> F:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder())  # read where a function is decorated; other code's stays as it is
        try:
            made: F = numba.njit(list(signatures), nogil=True, cache=True, error_model="numpy")(function)
        finally:
            numba.config.CACHE_DIR = before
        return made

    return compiled


def part(function: F) -> F:
    """Compile a function as a part of the kernels that call it."""
    made: F = numba.njit(error_model="numpy")(function)
    return made
