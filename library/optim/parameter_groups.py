"""Groups of parameters: a dict with the tensors under "params", perhaps their "param_names", and options by name."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

from .._base.handles import type_name
from .._tensor.tensor import Tensor

Group: TypeAlias = dict[str, Any]


def parameters_of(given: Any, may_be_computed: bool = False) -> Group:
    """The entries "params" and, where tensors come as (name, tensor), "param_names" of a group.

    Raises TypeError for sets, which have no order, and for what is no tensor; ValueError for tensors that have been
    computed, and when only some have names.
    """
    if isinstance(given, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    listed = [given] if isinstance(given, Tensor) else list(given)
    names = [each[0] for each in listed if isinstance(each, tuple)]
    if names and len(names) != len(listed):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    tensors = [each[1] for each in listed] if names else listed
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type_name(tensor)}")
        if not (may_be_computed or tensor.is_leaf or tensor.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")
    return {"params": tensors, "param_names": names} if names else {"params": tensors}


def check_among(group: Group, others: Sequence[Group]) -> None:
    """Warns of a parameter that comes twice in the group.

    Raises ValueError for one that another group has, and when only some of the groups have names.
    """
    parameters = set(group["params"])
    if len(parameters) < len(group["params"]):
        warnings.warn(
            "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error",
            stacklevel=4,
        )
    named = "param_names" in group
    if any(named != ("param_names" in other) for other in others):
        raise ValueError(
            "all optimizer param groups should be with/without names. "
            f"cannot add param group {'with' if named else 'without'} names to the optimizer"
        )
    if any(not parameters.isdisjoint(other["params"]) for other in others):
        raise ValueError("some parameters appear in more than one parameter group")
