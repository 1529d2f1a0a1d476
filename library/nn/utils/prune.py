"""opweave.nn.utils.prune: parameters whose less important elements are zero, as in torch.nn.utils.prune."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ... import _operators as ops
from ._pruning import BasePruningMethod, PruningContainer
from .convert_parameters import parameters_to_vector

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from ..modules.module import Module

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip

Amount = int | float


# ---- methods ------------------------------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prunes nothing, but makes NAME_orig and NAME_mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask so far."""
        return default_mask


class _Part(BasePruningMethod):
    """Base of methods that prune an `amount` of elements or slices: a number of them, or a share."""

    def __init__(self, amount: Any) -> None:
        whole = isinstance(amount, numbers.Integral)
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if not 0 <= float(amount) <= (math.inf if whole else 1):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount: Any = amount

    def _count(self, size: int) -> int:
        is_count = isinstance(self.amount, numbers.Integral)
        count = int(self.amount) if is_count else round(self.amount * size)
        if count > size:
            raise ValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
        return count


class _Unstructured(_Part):
    PRUNING_TYPE = "unstructured"

    def _smallest(self, t: Tensor, count: int) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.numel())
        mask = default_mask.contiguous().clone()
        if count:
            mask.view(-1)[self._smallest(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements that are drawn."""

    def _smallest(self, t: Tensor, count: int) -> Tensor:
        result: Tensor = ops.topk(ops.rand_like(t).view(-1), count)[1]
        return result


class L1Unstructured(_Unstructured):
    """Prunes the elements with the smallest magnitudes."""

    def _smallest(self, t: Tensor, count: int) -> Tensor:
        result: Tensor = ops.topk(t.abs().view(-1), count, largest=False)[1]
        return result


class _Structured(_Part):
    """Base of methods that prune slices of a dimension."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.ndim <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.ndim} dims"
            )
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        kept = self._kept(t, size, count)
        if not count:
            return default_mask
        mask = ops.zeros_like(t)
        index: Any = (*(slice(None),) * (self.dim % t.ndim), kept)
        mask[index] = 1
        result: Tensor = mask * default_mask.to(dtype=mask.dtype)
        return result


class RandomStructured(_Structured):
    """Prunes slices of a dimension that are drawn."""

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        if not count:
            return ops.arange(0)
        drawn = ops.rand(size)
        result: Tensor = drawn > ops.kthvalue(drawn, count)[0]
        return result


class LnStructured(_Structured):
    """Prunes the slices of a dimension with the smallest norms."""

    def __init__(self, amount: Amount, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        dims = [dim for dim in range(t.ndim) if dim != self.dim % t.ndim]
        result: Tensor = ops.topk(ops.norm(t, self.n, dims), size - count)[1]
        return result


class CustomFromMask(BasePruningMethod):
    """Prunes where a mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the product of the mask so far and this mask. Raises AssertionError if their shapes differ."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# ---- functions ----------------------------------------------------------------------------------------------


def identity(module: Module, name: str) -> Module:
    """Prune nothing of a parameter, but make NAME_orig and NAME_mask of it. Returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Amount) -> Module:
    """Prune an `amount` of the elements of a parameter, which are drawn. Returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: Amount, importance_scores: Tensor | None = None) -> Module:
    """Prune an `amount` of the elements of a parameter: those that are smallest, or have the smallest scores."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Amount, dim: int) -> Module:
    """Prune an `amount` of the slices of a dimension of a parameter, which are drawn. Returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: Amount, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune an `amount` of the slices of a dimension of a parameter: those with the smallest norms of order `n`."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter where `mask` is zero. Returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one tensor, by an unstructured method and its options.

    Raises TypeError for arguments of other types and for methods that are not unstructured.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if importance_scores is not None and not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    given = list(parameters)
    tensors = [getattr(module, name) for module, name in given]
    scores = [(importance_scores or {}).get(pair, tensor) for pair, tensor in zip(given, tensors, strict=True)]
    masks = [
        getattr(module, name + "_mask", ops.ones_like(tensor))
        for (module, name), tensor in zip(given, tensors, strict=True)
    ]
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    mask = PruningContainer(method).compute_mask(parameters_to_vector(scores), parameters_to_vector(masks))
    parts = mask.split([tensor.numel() for tensor in tensors])
    for (module, name), tensor, part in zip(given, tensors, parts, strict=True):
        custom_from_mask(module, name, part.view_as(tensor))


def remove(module: Module, name: str) -> Module:
    """Make the pruned parameter the parameter again. Returns the module. Raises ValueError if it is not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Return True if a parameter of the module, or of one in it, has a hook that prunes it."""
    return any(
        isinstance(hook, BasePruningMethod) for each in module.modules() for hook in each._forward_pre_hooks.values()
    )
