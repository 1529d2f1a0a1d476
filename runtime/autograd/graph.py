"""opweave.autograd.graph: nodes of the graph, and hooks for the tensors that they save."""

from .node import Node
from .saved_tensors import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = ["Node", "disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks"]
