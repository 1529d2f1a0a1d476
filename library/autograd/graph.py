"""opweave.autograd.graph: nodes of the graph, hooks for gradients and for the tensors that nodes save."""

from .._autograd.gradient_edge import GradientEdge, get_gradient_edge
from .._autograd.gradient_hooks import register_multi_grad_hook
from .._autograd.node import Node
from .._autograd.saved_mutation import allow_mutation_on_saved_tensors, increment_version
from .._autograd.saved_tensors import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from .._base.type_names import type_name

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "region_activation_memory_budget", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks", "set_override_stale_capture_stream", "set_warn_on_accumulate_grad_stream_mismatch",
]  # fmt: skip


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Take torch's setting of warnings about streams, of which there are none: nothing follows from it.

    Raises RuntimeError if `enabled` is no bool.
    """
    _check_bool(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Take torch's setting of the capture of streams, of which there are none: nothing follows from it.

    Raises RuntimeError if `enabled` is no bool.
    """
    _check_bool(enabled)


def _check_bool(enabled: object) -> None:
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type_name(enabled)}")


def region_activation_memory_budget(budget: float) -> None:
    """Raise RuntimeError as torch does outside of compiled code, which is what the budget would be of.

    Raises TypeError if `budget` is no number, ValueError if it is not in [0, 1].
    """
    name = "torch.autograd.graph.region_activation_memory_budget"
    if isinstance(budget, bool) or not isinstance(budget, (int, float)):
        raise TypeError(f"{name}: expects a float, got {type_name(budget)}")
    if not 0 <= budget <= 1:
        raise ValueError(f"{name}: must be in [0, 1], got {budget}")
    raise RuntimeError(f"{name} can only be used inside a torch.compile region; it has no effect in eager mode.")
