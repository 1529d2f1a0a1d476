"""opweave.autograd.forward_ad: tensors with a forward derivative beside them.

Within a level, operators compute the tangent of their result from those of their arguments. The rules are in
`_forward/`; the function that most programs want is `opweave.func.jvp`.
"""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any, NamedTuple

from .._base.tensor_class import Tensor
from .._base.type_names import type_name
from .._dispatch.levels import level_of, levels, set_levels
from .._forward.duals import dual_of, is_dual, primal_of, tangent_of
from .._forward.level import DualLevel

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "set_fwd_grad_enabled",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """A tensor and its forward derivative, None where it has none."""

    primal: Any
    tangent: Any


class _EnteredLevel(DualLevel):
    """A level that was entered by itself, and not by a call of a function."""

    __slots__ = ()


def _current() -> _EnteredLevel | None:
    return next((level for level in reversed(levels()) if isinstance(level, _EnteredLevel)), None)


def enter_dual_level() -> int:
    """Enter a level of dual tensors, and return its number, which is 0.

    Raises RuntimeError where one was entered before: `func.jvp` may be nested.
    """
    if _current() is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: a dual level is active. Nest opweave.func.jvp"
        )
    set_levels((*levels(), _EnteredLevel(True)))
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level of dual tensors, whose tangents are lost: such a tensor is its primal then.

    Args:
        level (int): number that `enter_dual_level` has returned.

    Raises:
        RuntimeError: no level was entered, or it is another one, or the innermost one is a call of a transform.
    """
    current = _current()
    if current is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
            if current is not None
            else "Trying to exit a forward AD level but no level is active: call enter_dual_level() first."
        )
    if levels()[-1] is not current:
        raise RuntimeError("exit_dual_level(): leave the calls of vmap() and jvp() first that are within the level")
    set_levels(levels()[:-1])
    current.end()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """Return a tensor that shares the memory of `tensor` and has a tangent within the current level.

    Args:
        tensor: primal, of a floating or complex dtype.
        tangent: its derivative, of the same shape, dtype and device.
        level (int): number that `enter_dual_level` has returned.

    Raises:
        RuntimeError: there is no level, or the tangent differs in shape, dtype or device.
        ValueError: the tensors are of no floating or complex dtype.
        TypeError: an argument is no tensor.
    """
    current = _current()
    if current is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for name, value in (("tensor", tensor), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise TypeError(f"make_dual(): argument '{name}' must be Tensor, not {type_name(value)}")
    for what, value in (("tensor", tensor), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            shown = "primal" if what == "tensor" else what
            raise ValueError(f"Expected {shown} to be floating point or complex, but got: {value.dtype}")
    check_tangent(tensor, tangent)
    return dual_of(tensor, tangent, current)


def check_tangent(primal: Any, tangent: Any) -> None:
    """Refuse a tangent that is not like its primal, with RuntimeError."""
    refusal = "Trying to set a forward gradient that has a different {} than that of the original Tensor, this is not "
    if tangent.shape != primal.shape:
        raise RuntimeError(
            f"{refusal.format('size')}supported. Tensor is of size {list(primal.shape)} while the given forward "
            f"gradient is of size {list(tangent.shape)}."
        )
    for what in ("dtype", "device"):
        mine, theirs = getattr(tangent, what), getattr(primal, what)
        if mine != theirs:
            raise RuntimeError(f"{refusal.format(what)}supported: expected {theirs}, but got {mine}.")


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal of a tensor, and its tangent in the current level: None where it has none.

    Args:
        tensor: any tensor.
        level (int): number that `enter_dual_level` has returned.
    """
    current = _current()
    if current is not None and level in (None, 0) and is_dual(tensor, current):
        return UnpackedDualTensor(primal_of(tensor), tangent_of(tensor))
    if isinstance(level_of(tensor), _EnteredLevel):
        return UnpackedDualTensor(primal_of(tensor), None)
    return UnpackedDualTensor(tensor, None)


class dual_level(ContextDecorator):  # noqa: N801 - torch's name
    """Context of a level of dual tensors. At its end their tangents are lost.

    Examples:
        >>> import opweave.autograd.forward_ad as fwAD
        >>> x, v = opweave.tensor([1.0, 2.0]), opweave.tensor([1.0, 0.5])
        >>> with fwAD.dual_level():
        ...     print(fwAD.unpack_dual(fwAD.make_dual(x, v).square()).tangent)
        tensor([2., 2.])
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: object) -> None:
        exit_dual_level()


class set_fwd_grad_enabled(ContextDecorator):  # noqa: N801 - torch's name
    """Context within which tangents are computed, or not.

    Args:
        mode (bool): whether they are.
    """

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._before = levels()
        if not mode:
            set_levels(tuple(level for level in self._before if not isinstance(level, DualLevel)))

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        set_levels(self._before)
