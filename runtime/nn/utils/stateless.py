"""Calls of modules with other tensors in the places of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..._base.tensor_class import Tensor

__all__ = ["functional_call"]


@contextmanager
def _replaced(module: Any, tensors: Mapping[str, Any], tie_weights: bool, strict: bool) -> Iterator[None]:
    """The module with tensors in the places of parameters and buffers of these names, until the block ends."""
    own = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    unknown = tensors.keys() - own.keys()
    if unknown and strict:
        raise RuntimeError(f"the module has no parameters or buffers named {', '.join(sorted(unknown))}")
    missing = own.keys() - tensors.keys()
    if missing and strict:
        raise RuntimeError(f"there are no tensors for {', '.join(sorted(missing))}")
    wanted = dict(tensors)
    if tie_weights:  # what is one tensor of the module stays one
        given = {id(own[name]): (name, tensor) for name, tensor in tensors.items() if name in own}
        for name, tensor in own.items():
            if id(tensor) in given and name not in wanted:
                wanted[name] = given[id(tensor)][1]
    before = []
    try:
        for name, tensor in wanted.items():
            path, _, last = name.rpartition(".")
            part = module.get_submodule(path)
            members = part._parameters if last in part._parameters else part._buffers
            if last not in members:
                raise KeyError(f"{name} is no parameter or buffer")
            before.append((members, last, members[last]))
            members[last] = tensor
        yield
    finally:
        for members, last, tensor in reversed(before):
            members[last] = tensor


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Return what a module returns with other tensors in the places of its parameters and buffers.

    Args:
        module (Module): the module, which is as before afterwards.
        parameter_and_buffer_dicts (dict, or sequence of dict): tensors by their dotted names.
        args: the arguments, a tuple or one value.
        kwargs (dict): arguments by name.
        tie_weights (bool): are tensors that the module has under several names replaced under all of them?
        strict (bool): must there be a tensor for each name, and no others?

    Raises:
        RuntimeError: the names do not fit, and that is an error.
    """
    dicts = parameter_and_buffer_dicts
    tensors: dict[str, Any] = {}
    for each in dicts if isinstance(dicts, Sequence) else [dicts]:
        if tensors.keys() & each.keys():
            raise ValueError(f"{', '.join(sorted(tensors.keys() & each.keys()))} appear in several dictionaries")
        tensors.update(each)
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} is no tensor, but {type(tensor).__name__}")
    with _replaced(module, tensors, tie_weights, strict):
        return module(*given, **(kwargs or {}))
