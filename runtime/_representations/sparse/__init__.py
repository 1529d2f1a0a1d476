"""Sparse tensors: elements by coordinates (COO), or compressed by rows or columns (CSR, CSC, BSR, BSC).

In the order in which they import each other: payload, tensor, kernels, convert, masking and matrices; rules by family
(elementwise, reductions, views) and by operator (factories, copies, selection, products); and here, which operator has
which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._base.types import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from ..._dispatch import kernels as dense
from ..._dispatch.check import check
from ..._dispatch.dispatcher import Handler, register
from ..._dispatch.op import INPLACE, Op
from ..._dispatch.ops import ops
from . import copies, elementwise, factories, products, reductions, selection, views
from .results import sparse_among, unsupported
from .tensor import SparseTensor

__all__ = ["sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr"]
_PACKAGE_NAMES = __all__

_FAMILIES = {"elementwise": elementwise.handle, "reduce": reductions.handle}

_RULES = {
    products.multiply: ("mm", "mv", "bmm", "matmul"),
    products.add_product: ("addmm", "addmv", "baddbmm"),
    copies.clone: ("clone",),
    copies.detach: ("detach",),
    copies.to_copy: ("_to_copy",),
    copies.copy_: ("copy_",),
    copies.zero_: ("zero_",),
    factories.make_zeros: ("zeros", "empty", "zeros_like", "empty_like", "new_zeros", "new_empty"),
    factories.eye: ("eye",),
    copies.conj: ("conj",),
    copies.pin: ("_pin_memory",),
    selection.index: ("index",),
    copies.item: ("item",),
    copies.compare: ("equal", "allclose"),
    selection.index_select: ("index_select",),
    selection.cat: ("cat",),
    selection.stack: ("stack",),
}
"""Operators whose rule does not follow from their family."""


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The handler of the key `sparse`: by the family of the operator. Composites are the calls that they make."""
    _check_target(op, args, mode)
    if op.view and not op.is_composite:
        return views.handle(op, args, out, mode)
    rule = _FAMILIES.get(op.family)
    if rule is not None:
        return rule(op, args, out, mode)
    if op.is_decomposable and sparse_among(args):
        return dense.run(op, args, out, mode)
    return unsupported(op, args)


def _checked(rule: Handler) -> Handler:
    """The rule, given arguments of the types in the schema."""

    def checked(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        _check_target(op, args, mode)
        return rule(op, check(op, args), out, mode)

    return checked


def _check_target(op: Op, args: Sequence[Any], mode: int) -> None:
    """Refuses to overwrite what would be a view, of which the tensor would not learn."""
    target = args[op.target] if mode == INPLACE or op.is_inplace else None
    if isinstance(target, SparseTensor) and target._is_part:
        raise NotImplementedError(
            f"{op.name.rstrip('_')}_(): parts of sparse tensors have memory of their own, so the tensor would not "
            "change; clone() the part, or use the function that is not in place"
        )


register("sparse", handle)
_named = {name: rule for rule, names in _RULES.items() for name in names}
for _name in [name for name in vars(ops) if name in _named or name.endswith("_like")]:
    register("sparse", _checked(_named.get(_name, factories.refuse)), getattr(ops, _name).op)
