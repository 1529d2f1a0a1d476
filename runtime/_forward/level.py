"""A level of dual tensors: calls with them become calls with primals, and tangents of the results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from .._base.handles import exchange
from .._base.tensor_class import Tensor
from .._dispatch.dispatcher import call as dispatch
from .._dispatch.levels import Level, alias_of, unrecorded, viewed, with_each, within, written
from .._dispatch.op import INPLACE, Op
from .duals import dual_of, is_dual, own_tangent, primal_of, set_tangent, tangent_of
from .tangents import Inputs, computed, written_linearly


class DualLevel(Level):
    """One call of a function with dual tensors, or one `dual_level`."""

    __slots__ = ("_replaced",)

    differentiates = True

    def __init__(self, is_recorded: bool = False) -> None:
        super().__init__(is_recorded)
        self._replaced: list[tuple[Any, Any]] = []

    def answer(self, outer: tuple[Level, ...], op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
        if out is not None:
            raise NotImplementedError(
                f"Trying to use forward AD with {op.name}_out that does not support it because it is an out= function"
            )
        if op.rule == "view":
            return viewed(op, args, mode, lambda *view: within(outer, self._reshaped, *view))
        if mode == INPLACE or op.is_inplace:
            return unrecorded(partial(self._overwrite, outer, op, args, mode))
        return unrecorded(partial(within, outer, self._compute, op, args))

    def decomposes(self, op: Op, args: Sequence[Any]) -> bool:
        return not op.is_differentiable

    def after_end(self, op: Op, tensor: Any) -> Any:
        return primal_of(tensor)

    def end(self) -> None:
        """Gives tensors that became dual when they were written to their memory back."""
        for tensor, other in reversed(self._replaced):
            exchange(tensor, other)
        self._replaced.clear()

    # ---- calls ----

    def _reshaped(self, dual: Any, sizes: Sequence[int]) -> Any:
        tangent = tangent_of(dual)
        return dual_of(primal_of(dual).reshape(sizes), None if tangent is None else tangent.reshape(sizes), self)

    def _inputs(self, op: Op, args: Sequence[Any]) -> Inputs:
        primals = with_each(args, lambda each: primal_of(each) if is_dual(each, self) else each)
        return Inputs(op, primals, self._tangents(args))

    def _tangents(self, values: Any) -> Any:
        if isinstance(values, (list, tuple)):
            return [self._tangents(value) for value in values]
        return tangent_of(values) if is_dual(values, self) else None

    def _compute(self, op: Op, args: Sequence[Any]) -> Any:
        result, tangents = computed(self._inputs(op, args))
        if not isinstance(result, (list, tuple)):
            return self._dual(result, tangents[0])
        duals = [self._dual(each, tangent) for each, tangent in zip(result, tangents, strict=True)]
        return tuple(duals) if op.results is None else op.results(tuple(duals))

    def _dual(self, result: Any, tangent: Any) -> Any:
        return result if tangent is None or not isinstance(result, Tensor) else dual_of(result, tangent, self)

    def _overwrite(self, outer: tuple[Level, ...], op: Op, args: Sequence[Any], mode: int) -> Any:
        target = args[op.target]
        if not is_dual(target, self):
            self._make_dual(target)
        within(outer, self._write, op, args, mode)
        return written(target)

    def _write(self, op: Op, args: Sequence[Any], mode: int) -> None:
        target, inputs = args[op.target], self._inputs(op, args)
        if op.is_inplace and op.rule is None:
            raise RuntimeError(f"{op.name}() changes the memory of a tensor, which one with a tangent does not take")
        if op.is_inplace:
            dispatch(op, inputs.primals, None, mode)
            if tangent_of(target) is not None or inputs.active:
                like = next((inputs.tangent(*active) for active in inputs.active), None)
                written_linearly(inputs, own_tangent(target, like), mode)
            return
        result, tangents = computed(inputs)
        primal_of(target).copy_(result)
        set_tangent(target, tangents[0])

    def _make_dual(self, target: Any) -> None:
        """A tensor that a dual one is written to becomes dual, with the one that it is a view of, until the level
        ends."""
        base = target._base if target._is_view() else None
        if base is None:
            self._replace(target, dual_of(alias_of(target), None, self))
            return
        if not is_dual(base, self):
            self._make_dual(base)
        self._replace(target, alias_of(base).as_strided(target.shape, target.stride(), target.storage_offset()))

    def _replace(self, tensor: Any, other: Any) -> None:
        exchange(tensor, other)
        self._replaced.append((tensor, other))
