"""Calls of functions whose arguments are variables: what the functions of opweave.func begin with."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..._autograd.backward_api import grad
from ..._autograd.grad_mode import enable_grad, is_grad_enabled
from ..._base.pytree import Structure, flatten
from ..._dispatch.levels import alias_of, is_recorded, levels
from ..._dispatch.modes import are_recorded
from ..._tensor.tensor import Tensor

__all__ = ["Call"]


class Call:
    """A call of a function with variables of its own in place of arguments, and gradients by them.

    `variables` are the tensors in the arguments, `result` is what the function returned and `aux`, with `has_aux`, the
    second part of it.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        argnums: int | tuple[int, ...] | None,
        has_aux: bool,
        name: str,
    ) -> None:
        """`argnums` None means all arguments, as a tuple."""
        self._name = name
        self._recorded_outside = is_grad_enabled()
        self._connected: bool | None = None
        indices = tuple(range(len(args))) if argnums is None else places_of(argnums, len(args))
        chosen = args[indices] if isinstance(indices, int) else tuple(args[index] for index in indices)
        leaves, self._structure = flatten(chosen)
        with enable_grad():
            self.variables = [_variable(leaf) for leaf in leaves]
            variables = self._structure.unflatten(self.variables)
            replaced = dict(
                [(indices, variables)] if isinstance(indices, int) else zip(indices, variables, strict=True)
            )
            _running.calls.append(self)
            try:
                self.result = func(*(replaced.get(index, value) for index, value in enumerate(args)), **kwargs)
            finally:
                _running.calls.pop()
        if has_aux:
            self.result, aux = with_aux(self.result, name)
            tensors, structure = flatten(aux)
            self.aux = structure.unflatten(map(self.outside, tensors))

    def outputs(self) -> tuple[list[Tensor], Structure]:
        """The tensors that the function returned; raises RuntimeError for whatever cannot be differentiated."""
        tensors, structure = flatten(self.result)
        check_outputs(self._name, tensors)
        for tensor in tensors:
            if not (tensor.is_floating_point() or tensor.is_complex()):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                    f"{tensor.dtype}"
                )
        return tensors, structure

    def gradients(
        self,
        outputs: Sequence[Tensor],
        cotangents: Sequence[Any] | None,
        retain_graph: bool = True,
        create_graph: bool | None = None,
    ) -> list[Tensor]:
        """The gradients by the variables, zeros where nothing depends on them."""
        indices = [index for index, output in enumerate(outputs) if output.requires_grad]
        if not indices:
            return [_zeros(variable) for variable in self.variables]
        given = None if cotangents is None else [cotangents[index] for index in indices]
        if create_graph is None:
            create_graph = (self._recorded_outside if given is None else is_grad_enabled()) and (
                self.is_connected or any(cotangent.requires_grad for cotangent in given or ())
            )
        # Recordings have operators, not kernels of formulas. A gradient without its graph loses the tangent as well.
        has_tangents = any(level.differentiates for level in levels())
        is_recorded_alone = not create_graph and are_recorded() and not has_tangents
        gradients = grad(
            [outputs[index] for index in indices],
            self.variables,
            given,
            retain_graph=retain_graph or create_graph,
            create_graph=create_graph or is_recorded_alone,
            allow_unused=True,
        )
        outside = Tensor.detach if is_recorded_alone else self.without_variables
        return [
            _zeros(variable) if gradient is None else outside(gradient)
            for gradient, variable in zip(gradients, self.variables, strict=True)
        ]

    def by_variables(self, gradients: Sequence[Any]) -> Any:
        """Return the values computed for the variables in the structure of the arguments."""
        return self._structure.unflatten(gradients)

    def outside(self, value: Any) -> Tensor:
        """A result for the caller, to whom the variables are unknown."""
        if not isinstance(value, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(value)}")
        return self.without_variables(value) if self._recorded_outside else value.detach()

    @property
    def is_connected(self) -> bool:
        """True if a result depends on tensors with gradients other than the variables, or, as a sample, may."""
        if self._connected is None:
            self._connected = is_recorded() or any(map(self._depends_on_others, flatten(self.result)[0]))
        return self._connected

    def without_variables(self, tensor: Tensor) -> Tensor:
        """The tensor with its graph if that leads to tensors of the caller, and else without."""
        return tensor if self._depends_on_others(tensor) else alias_of(tensor)

    def _depends_on_others(self, tensor: Any) -> bool:
        """True if the history of a tensor contains a leaf of the caller's."""
        if not tensor.requires_grad:
            return False
        if tensor.grad_fn is None:
            return self._is_known_outside(tensor)
        seen = {tensor.grad_fn}
        nodes = [tensor.grad_fn]
        while nodes:
            for node, _ in nodes.pop().next_functions:
                if node is None or node in seen:
                    continue
                leaf = getattr(node, "variable", None)
                if leaf is not None and self._is_known_outside(leaf):
                    return True
                seen.add(node)
                nodes.append(node)
        return False

    def _is_known_outside(self, leaf: Tensor) -> bool:
        """True if the leaf is a tensor of the user's, or a variable of an enclosing call."""
        if id(leaf) not in _variables:
            return True
        calls = [call for call in _running.calls if call is not self]
        return any(leaf is variable for call in calls for variable in call.variables)


class _Running(threading.local):
    """The calls that this thread is in, the outermost one first."""

    def __init__(self) -> None:
        self.calls: list[Call] = []


_running = _Running()
_variables: dict[int, weakref.ref[Tensor]] = {}
"""The leaves among the variables of all calls. By address: equality of tensors is that of their elements."""


def _variable(value: Any) -> Tensor:
    """A tensor of the same elements to differentiate by; connected with what it comes from, if that has a history."""
    if not isinstance(value, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
    if value.requires_grad:
        return value.view_as(value)
    variable: Tensor = alias_of(value).requires_grad_()
    address = id(variable)
    _variables[address] = weakref.ref(variable, lambda _: _variables.pop(address, None))
    return variable


def check_outputs(name: str, outputs: list[Any]) -> None:
    """Raise RuntimeError unless a function has returned tensors."""
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(f"{name}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for each in outputs:
        if not isinstance(each, Tensor):
            raise RuntimeError(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(each)}"
            )


def with_aux(result: Any, name: str) -> tuple[Any, Any]:
    """The two parts of a result with `has_aux`."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def places_of(argnums: Any, count: int) -> int | tuple[int, ...]:
    """The indices of arguments, counted from the front."""
    if isinstance(argnums, int):
        return _place(argnums, count)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    indices = tuple(_place(argnum, count) for argnum in argnums)
    if not indices:
        raise RuntimeError("argnums must be non-empty")
    if len(set(indices)) != len(indices):
        raise RuntimeError(f"argnums elements must be unique, got {indices}")
    return indices


def _place(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def _zeros(like: Tensor) -> Any:
    return like.new_zeros(tuple(like.shape))
