"""Hooks that decide what the graph keeps instead of the tensors that its nodes save."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any

from .._base import handles
from .._base.pinning import can_pin
from .._base.type_names import type_name, wrong_type
from .._handle import HooksBase, alias, packing, set_edge, versions
from .grad_mode import no_grad

if TYPE_CHECKING:
    from .node import Edge, Node

__all__ = [
    "Packed", "PackedInputs", "disable_saved_tensors_hooks", "pack_inputs", "pack_results", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


class saved_tensors_hooks(HooksBase):  # noqa: N801 (PyTorch's name)
    """Context in which the graph keeps `pack_hook(tensor)` of each tensor that is saved for backward.

    `unpack_hook` is given that when the tensor is needed and returns a tensor of the same elements. Of several contexts
    the innermost one counts. Whether a tensor was overwritten since is not checked. Backward raises TypeError when
    `unpack_hook` returns anything but a tensor; recording raises RuntimeError when `pack_hook` writes to the tensor.
    """

    __module__ = "opweave.autograd.graph"

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"saved_tensors_hooks(): {name} must be callable, not {type_name(hook)}")
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def _ow_takes(self, tensor: Any) -> bool:
        """Return whether a tensor is packed; others are saved, and checked for writes, as without hooks."""
        return True


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 (PyTorch's name)
    """Context in which the graph keeps the tensors that are saved on the CPU: those that are there already as they are.

    With `pin_memory` it keeps copies, in pinned memory where there is an accelerator that allocates it. Whether a
    tensor was overwritten since is not checked.
    """

    __module__ = "opweave.autograd.graph"

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Any) -> Any:
            on_cpu = tensor.cpu()
            if pin_memory and can_pin() and not tensor.is_sparse:
                on_cpu = on_cpu.pin_memory()
            return tensor.device, on_cpu.clone() if pin_memory and on_cpu is tensor else on_cpu

        super().__init__(pack, lambda packed: packed[1].to(packed[0]))


class disable_saved_tensors_hooks(HooksBase, ContextDecorator):  # noqa: N801 (PyTorch's name)
    """Context in which entering `saved_tensors_hooks` raises RuntimeError with this text.

    Where such hooks are in force already, entering the context raises it. Raises TypeError if the text is no str.
    """

    __module__ = "opweave.autograd.graph"

    def __init__(self, error_message: str) -> None:
        if not isinstance(error_message, str):
            raise wrong_type("disable_saved_tensors_hooks", "error_message", "str", error_message, position=1)
        self._refusal = error_message


class Packed:
    """The result of a pack hook for a saved tensor, and the edge that the tensor had."""

    __slots__ = ("_edge", "_unpack", "_value")

    def __init__(self, tensor: Any, hooks: saved_tensors_hooks, edge: Edge | None) -> None:
        version = versions((tensor,))
        with no_grad():
            self._value = hooks.pack_hook(tensor)
        if versions((tensor,)) != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Give back a "
                "changed copy instead."
            )
        self._unpack, self._edge = hooks.unpack_hook, edge

    def tensor(self) -> Any:
        """Return what the unpacking hook gives, with the edge that the tensor had."""
        tensor = self._unpack(self._value)
        if not isinstance(tensor, handles.Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type_name(tensor)}"
            )
        if self._edge is not None:
            tensor = alias(tensor)
            set_edge(tensor, self._edge)
        return tensor


class PackedInputs(tuple[Any, ...]):
    """The saved inputs of a node, packed by hooks: tensors, and numbers given instead of tensors."""

    __slots__ = ()

    def tensors(self) -> tuple[Any, ...]:
        """Return the inputs, with those that hooks packed unpacked."""
        return tuple([each.tensor() if type(each) is Packed else each for each in self])


def _packed(value: Any, hooks: saved_tensors_hooks) -> Any:
    is_packed = isinstance(value, handles.Tensor) and hooks._ow_takes(value)
    return Packed(value, hooks, value._edge) if is_packed else value


def pack_inputs(node: Node) -> None:
    """Packs what a node has saved of its inputs, where there are hooks in this thread."""
    hooks = packing()
    if hooks and node.tensors:
        node.tensors = PackedInputs([_packed(each, hooks) for each in node.tensors])
        node.versions = versions(node.tensors)


def pack_results(node: Node) -> None:
    """Packs what it has saved of its results."""
    hooks = packing()
    if hooks and node.results:
        node.results = tuple(
            [
                (each, version) if each is None or not hooks._ow_takes(each) else (Packed(each, hooks, None), 0)
                for each, version in node.results
            ]
        )
