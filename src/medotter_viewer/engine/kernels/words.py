"""Eight bytes of a label map at once, from anywhere in it."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def word_at(typing_context: Any, array: Any, place: Any) -> Any:
    """Return the 64-bit word that starts at element `place` of a flat array; it need not be aligned.

    Nothing checks that the array reaches so far.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        at = builder.gep(view.data, [arguments[1]])
        loaded = builder.load(builder.bitcast(at, ir.IntType(64).as_pointer()))
        loaded.align = 1
        return loaded

    return types.uint64(array, place), build
