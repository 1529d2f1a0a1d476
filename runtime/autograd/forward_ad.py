"""opweave.autograd.forward_ad: tensors with a forward derivative beside them, of which there are none."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._base.refusals import refused_class, refused_function

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "set_fwd_grad_enabled",
    "unpack_dual",
]

_INSTEAD = "derivatives are computed backward. Use opweave.autograd.functional.jvp"

dual_level = refused_class(__name__, "dual_level", _INSTEAD)
enter_dual_level = refused_function(__name__, "enter_dual_level", _INSTEAD)
exit_dual_level = refused_function(__name__, "exit_dual_level", _INSTEAD)
make_dual = refused_function(__name__, "make_dual", _INSTEAD)
set_fwd_grad_enabled = refused_class(__name__, "set_fwd_grad_enabled", _INSTEAD)


class UnpackedDualTensor(NamedTuple):
    """A tensor and its forward derivative, None where it has none."""

    primal: Any
    tangent: Any


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the tensor, and None for the derivative that it has not."""
    return UnpackedDualTensor(tensor, None)
