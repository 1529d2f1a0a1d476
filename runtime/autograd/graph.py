"""opweave.autograd.graph: nodes of the graph, hooks for gradients and for the tensors that nodes save."""

from .._autograd.gradient_hooks import register_multi_grad_hook
from .._autograd.node import Node
from .._autograd.saved_tensors import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = ["Node", "disable_saved_tensors_hooks", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"]
