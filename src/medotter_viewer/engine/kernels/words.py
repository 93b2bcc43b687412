"""Eight bytes of a flat array at once, from anywhere in it, and how many bytes an element of it has."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

BLOCK_BITS = np.uint64(10)
"""Voxels of a block, as a power of two: of each it is known whether there is any id in it."""


@intrinsic
def word_at(typing_context: Any, array: Any, place: Any) -> Any:
    """Return the 64-bit word that starts at element `place` of a flat array; it need not be aligned.

    Nothing checks that the array reaches so far.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = builder.load(_pointer(context, builder, signature, arguments))
        loaded.align = 1
        return loaded

    return types.uint64(array, place), build


@intrinsic
def set_word(typing_context: Any, array: Any, place: Any, word: Any) -> Any:
    """Write a 64-bit word from element `place` of a flat array on; nothing checks that the array reaches so far."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        stored = builder.store(arguments[2], _pointer(context, builder, signature, arguments))
        stored.align = 1
        return context.get_dummy_value()

    return types.void(array, place, types.uint64), build


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    view = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.bitcast(builder.gep(view.data, [arguments[1]]), ir.IntType(64).as_pointer())


@intrinsic
def bytes_of(typing_context: Any, array: Any) -> Any:
    """Return the bytes of an element of a flat array, as a constant: what follows from it is computed beforehand."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_constant(types.uint64, signature.args[0].dtype.bitwidth // 8)

    return types.uint64(array), build
