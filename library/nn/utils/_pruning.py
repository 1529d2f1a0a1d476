"""The hook that prunes a parameter: before the module's forward pass it multiplies the parameter by a mask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ... import _operators as ops

if TYPE_CHECKING:
    from ..._tensor.tensor import Tensor
    from ..modules.module import Module

__all__ = ["BasePruningMethod", "PruningContainer"]


class BasePruningMethod(ABC):
    """Base of methods. A derived class has `compute_mask` and PRUNING_TYPE: `unstructured` methods see what is left of
    the tensor, `structured` ones the slices of `dim` of which something is left, `global` ones all of it."""

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of a tensor by the importance of its elements, starting from a mask."""

    def apply_mask(self, module: Module) -> Tensor:
        """Return the parameter times its mask."""
        orig: Tensor = getattr(module, self._tensor_name + "_orig")
        mask: Tensor = getattr(module, self._tensor_name + "_mask")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter: NAME_orig is the parameter then, NAME_mask a buffer, and NAME their product."""
        method = cls._joined(module, name, cls(*args, **kwargs))
        orig = getattr(module, name)
        scores = _scores(importance_scores, orig, f"parameter {name} of {module}")
        first = not isinstance(method, PruningContainer)
        if first:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            mask = ops.ones_like(orig)
        else:
            mask = getattr(module, name + "_mask").detach().contiguous().clone()
        try:
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    @staticmethod
    def _joined(module: Module, name: str, method: BasePruningMethod) -> BasePruningMethod:
        """The method, after those that prune the parameter already, whose hook is taken away."""
        method._tensor_name = name
        hooks = module._forward_pre_hooks
        found = [
            key for key, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(found) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                "PruningContainer."
            )
        for key in found:
            old: Any = hooks.pop(key)
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            method = container
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """Return a tensor times the mask that this method computes for it."""
        scores = _scores(importance_scores, t, "tensor t")
        mask = ops.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the product of parameter and mask the parameter again."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig: Any = module._parameters.pop(name + "_orig")
        orig.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, orig)


def _scores(importance_scores: Tensor | None, t: Tensor, what: str) -> Tensor:
    if importance_scores is None:
        return t
    if importance_scores.shape != t.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as {what}, got {importance_scores.shape} vs {t.shape}"
        )
    return importance_scores


class PruningContainer(BasePruningMethod):
    """Methods that prune a parameter one after the other."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Append a method for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask after the last method, which sees what the others have left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        left = _left(method, t, default_mask)
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=mask.dtype)
        return mask


def _left(method: Any, t: Tensor, mask: Tensor) -> Any:
    """The index of the part of a tensor that a method sees."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return ...
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = method.dim + t.ndim if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.ndim}")
    kept = mask.sum(dim=[each for each in range(t.ndim) if each != dim]) != 0
    return (*(slice(None),) * dim, kept)
