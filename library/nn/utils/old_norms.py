"""Norms of weights by hooks before the call, whose tensors `name_g`, `name_v` or `name_orig` are part of the state. New
programs use opweave.nn.utils.parametrizations.
"""

from __future__ import annotations

from typing import Any

from ..._autograd.grad_mode import no_grad
from ..._base.warn import warn
from ..functional import normalize
from ..parameter import Parameter
from .parametrizations import norm_except

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]


class WeightNorm:
    """The hook: a weight is computed from its length and its direction."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """Return the weight."""
        length, direction = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return direction * (length / norm_except(direction, self.dim))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        for name in (self.name, f"{self.name}_g", f"{self.name}_v"):
            delattr(module, name)
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


class SpectralNorm:
    """The hook: a weight is divided by its largest singular value."""

    def __init__(self, name: str, steps: int, dim: int, eps: float) -> None:
        if steps <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={steps}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, steps, dim, eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """Return the weight with rows along `dim`."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *(each for each in range(weight.dim()) if each != self.dim))
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """Return the weight, after some steps towards its singular value."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for name in (self.name, f"{self.name}_u", f"{self.name}_v", f"{self.name}_orig"):
            delattr(module, name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def _add(module: Any, hook: Any) -> None:
    for each in module._forward_pre_hooks.values():
        if isinstance(each, type(hook)) and each.name == hook.name:
            kind = "weight_norm" if isinstance(hook, WeightNorm) else "spectral_norm"
            raise RuntimeError(f"Cannot register two {kind} hooks on the same parameter {hook.name}")


def _remove(module: Any, name: str, kind: type) -> Any:
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and getattr(hook, "name", None) == name:
            hook.remove(module)  # type: ignore[attr-defined]
            del module._forward_pre_hooks[number]
            return module
    called = "weight_norm" if kind is WeightNorm else "spectral_norm"
    raise ValueError(f"{called} of '{name}' not found in {module}")


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """The same as opweave.nn.utils.parametrizations.weight_norm, which is to be used."""
    warn(
        "`opweave.nn.utils.weight_norm` is deprecated in favor of `opweave.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    hook = WeightNorm(name, dim)
    _add(module, hook)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(norm_except(weight, hook.dim).data))
    module.register_parameter(f"{name}_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo `weight_norm`. Raises ValueError where there was none."""
    return _remove(module, name, WeightNorm)


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """The same as opweave.nn.utils.parametrizations.spectral_norm, which is to be used."""
    if dim is None:
        dim = 1 if "ConvTranspose" in type(module).__name__ else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    _add(module, hook)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with no_grad():
        rows, columns = hook.reshape_weight_to_matrix(weight).size()
        u = normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
        v = normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo `spectral_norm`. Raises ValueError where there was none."""
    return _remove(module, name, SpectralNorm)
