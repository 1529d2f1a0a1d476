"""Calls of modules with other tensors in the places of their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import chain
from typing import Any

from ..._base.tensor_class import Tensor
from ..modules.module import Module

__all__ = ["functional_call"]


_ABSENT: Any = object()
"""The value of an attribute that a module does not have."""


@contextmanager
def _replaced(module: Any, tensors: dict[str, Any], tie_weights: bool, strict: bool) -> Iterator[None]:
    """The module with tensors as members of these names until the block ends; `tensors` then has what they became."""
    own = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    wanted = _with_tied(own, tensors) if tie_weights else tensors
    if strict:
        _check_names(module, own.keys(), wanted.keys())
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    try:
        for name, tensor in wanted.items():
            before[name] = _exchange(module, name, tensor)
        yield
    finally:
        for name, tensor in reversed(before.items()):
            after[name] = _exchange(module, name, tensor)
        tensors.update({name: after[name] for name in tensors if name in after})


def _with_tied(own: Mapping[str, Any], tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Add the other names of tensors that have several in the module. Raises ValueError for different values."""
    names: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names.setdefault(id(tensor), []).append(name)
    result = dict(tensors)
    for tied in names.values():
        given = [tensors[name] for name in tied if name in tensors]
        if any(each is not given[0] for each in given):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if given:
            result.update(dict.fromkeys(tied, given[0]))
    return result


def _check_names(module: Any, own: Set[str], given: Set[str]) -> None:
    unexpected, missing = (", ".join(map(repr, sorted(names))) for names in (given - own, own - given))
    lines = [f"\n\tUnexpected key(s): {unexpected}."] if unexpected else []
    lines += [f"\n\tMissing key(s): {missing}."] if missing else []
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:{''.join(lines)}")


def _exchange(module: Any, path: str, tensor: Any) -> Any:
    """Puts a tensor or None in the place of a member of a module or of its parts, and returns what was there."""
    if tensor is not _ABSENT:
        _check_tensor(tensor)
    prefix, _, name = path.rpartition(".")
    part = _part(module, prefix)
    if not name:
        raise KeyError('tensor name can\'t be empty string ""')
    members = next((each for each in (part._parameters, part._buffers) if name in each), None)
    before = getattr(part, name, _ABSENT) if members is None else members[name]
    if members is not None and tensor is not _ABSENT:
        members[name] = tensor
        return before
    if before is not _ABSENT:
        _check_tensor(before, f"attribute `{name}`: ")
    if tensor is not _ABSENT:
        setattr(part, name, tensor)
    elif before is not _ABSENT:
        delattr(part, name)
    return before


def _part(module: Any, path: str) -> Any:
    prefix = ""
    for name in filter(None, path.split(".")):
        prefix += f".{name}" if prefix else name
        part = getattr(module, name, _ABSENT)
        if part is _ABSENT:
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if not isinstance(part, Module):
            raise TypeError(f"submodule `{prefix}`: {part} is not an instance of opweave.nn.Module")
        module = part
    return module


def _check_tensor(value: Any, where: str = "") -> None:
    if value is not None and not isinstance(value, Tensor):
        raise TypeError(f"{where}{value} is not an instance of opweave.Tensor")


def _merged(dicts: Any) -> dict[str, Any]:
    """The one dict that is given, or what several have together."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(each, dict) for each in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    repeated = [name for name, count in Counter(chain.from_iterable(dicts)).items() if count > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for each in dicts for name, tensor in each.items()}


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
        parameter_and_buffer_dicts (dict, or sequence of dict): tensors, or None, by their dotted names. Other
            attributes than parameters and buffers may be named as well. What the module assigns to these names
            is in the dict afterwards.
        args: the arguments, a tuple or one value.
        kwargs (dict): arguments by name.
        tie_weights (bool): whether tensors that the module has under several names are replaced under all of them.
        strict (bool): whether there must be a tensor for each parameter and buffer, and no others.

    Raises:
        RuntimeError: the names do not fit, with `strict`.
        ValueError: a name is in several dicts, or there are several tensors for one of the module's.
        TypeError: a value, or what it would replace, is no tensor.
    """
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, _merged(parameter_and_buffer_dicts), tie_weights, strict):
        return module(*given, **(kwargs or {}))
