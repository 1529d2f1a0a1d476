"""Functions of integers and of lists of integers, as shapes and strides are. Rows name the types of their operands.

Functions of lists, and functions that can fail, are helpers of the core's view_geometry.h, which notes errors in the
view.
"""

from __future__ import annotations

from ...dtypes import INT64, INT_LIST, DType
from .function import Function, Rule

LIST = "[...]"
"""The function that makes a list of any number of operands: `[a, b]`."""
ITEM = "[]"
"""The function that takes an item of a list: `list[index]`."""
LENGTH = "len"


def _row(
    name: str, meaning: str, result: DType, c: str | None = None, *, may_fail: bool = False, **operands: DType
) -> Function:
    return Function(
        name=name, params=tuple(operands), rule=Rule.TYPED, types=tuple(operands.values()), result=result, c=c,
        may_fail=may_fail, meaning=meaning,
    )  # fmt: skip


def _list(name: str, meaning: str, **operands: DType) -> Function:
    return _row(name, meaning, INT_LIST, f"ow_ints_{name}", may_fail=True, **operands)


LISTS = (
    _row(LIST, "The list of these", INT_LIST),
    _row(
        ITEM,
        "The item at a position; negative ones count from the end",
        INT64,
        "ow_ints_at",
        may_fail=True,
        list=INT_LIST,
        index=INT64,
    ),
    _row(LENGTH, "The number of items", INT64, list=INT_LIST),
    _row("ceil_div", "Quotient rounded up", INT64, "ow_int_ceil_div", may_fail=True, a=INT64, b=INT64),
    _row(
        "default",
        "The optional argument, or `value` where it was not given",
        INT64,
        "ow_int_default",
        argument=INT64,
        value=INT64,
    ),
    # No element has an offset beyond 64 bits.
    _row(
        "stepped",
        "The stride times `step`, or the stride itself where that is beyond 64 bits",
        INT64,
        "ow_int_stepped",
        stride=INT64,
        step=INT64,
    ),
    _list("swap", "The list with two items exchanged", list=INT_LIST, first=INT64, second=INT64),
    _list("remove", "The list without the item at a position", list=INT_LIST, at=INT64),
    _list("insert", "The list with a value before a position", list=INT_LIST, at=INT64, value=INT64),
    _list("replace", "The list with a value in place of the item at a position", list=INT_LIST, at=INT64, value=INT64),
    _list("gather", "The items at these positions, which are a permutation of all", list=INT_LIST, indices=INT_LIST),
    _list("prepend", "The list with a value in front", value=INT64, list=INT_LIST),
    _list("concat", "The items of both lists", first=INT_LIST, second=INT_LIST),
    _list(
        "view_strides",
        "Strides by which the same elements have the shape `size`",
        shape=INT_LIST,
        strides=INT_LIST,
        size=INT_LIST,
    ),
    _list(
        "infer_size",
        "The shape with the one size of -1 replaced by what `numel` elements ask for",
        size=INT_LIST,
        numel=INT64,
    ),
    _list("expand_shape", "The shape `size`, in which -1 keeps a size", shape=INT_LIST, size=INT_LIST),
    _list(
        "expand_strides",
        "Strides of that shape: 0 for the dimensions that are repeated",
        shape=INT_LIST,
        strides=INT_LIST,
        size=INT_LIST,
    ),
    _list(
        "squeeze_shape",
        "The shape without those of the named dimensions whose size is one",
        shape=INT_LIST,
        dims=INT_LIST,
    ),
    _list("squeeze_strides", "The strides of that shape", shape=INT_LIST, strides=INT_LIST, dims=INT_LIST),
)
