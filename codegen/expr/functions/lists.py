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


def _row(name: str, result: DType, c: str | None = None, *, may_fail: bool = False, **operands: DType) -> Function:
    return Function(
        name=name, params=tuple(operands), rule=Rule.TYPED, types=tuple(operands.values()), result=result, c=c,
        may_fail=may_fail,
    )  # fmt: skip


def _list(name: str, **operands: DType) -> Function:
    return _row(name, INT_LIST, f"ow_ints_{name}", may_fail=True, **operands)


LISTS = (
    _row(LIST, INT_LIST),
    _row(ITEM, INT64, "ow_ints_at", may_fail=True, list=INT_LIST, index=INT64),
    _row(LENGTH, INT64, list=INT_LIST),
    _row("ceil_div", INT64, "ow_int_ceil_div", may_fail=True, a=INT64, b=INT64),
    # The value stands in for an optional integer that was not given.
    _row("default", INT64, "ow_int_default", argument=INT64, value=INT64),
    # The stride times `step`, or the stride itself if the product is beyond 64 bits: no element has such an offset
    # then.
    _row("stepped", INT64, "ow_int_stepped", stride=INT64, step=INT64),
    _list("swap", list=INT_LIST, first=INT64, second=INT64),
    _list("remove", list=INT_LIST, at=INT64),
    _list("insert", list=INT_LIST, at=INT64, value=INT64),
    _list("replace", list=INT_LIST, at=INT64, value=INT64),
    _list("gather", list=INT_LIST, indices=INT_LIST),
    _list("prepend", value=INT64, list=INT_LIST),
    _list("concat", first=INT_LIST, second=INT_LIST),
    _list("view_strides", shape=INT_LIST, strides=INT_LIST, size=INT_LIST),
    _list("infer_size", size=INT_LIST, numel=INT64),
    _list("expand_shape", shape=INT_LIST, size=INT_LIST),
    _list("expand_strides", shape=INT_LIST, strides=INT_LIST, size=INT_LIST),
    _list("squeeze_shape", shape=INT_LIST, dims=INT_LIST),
    _list("squeeze_strides", shape=INT_LIST, strides=INT_LIST, dims=INT_LIST),
)
