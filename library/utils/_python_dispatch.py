"""opweave.utils._python_dispatch: modes that see every operator, and helpers of classes with `__torch_dispatch__`.

As in torch.utils._python_dispatch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .._base.tensor_class import Tensor
from .._dispatch.modes import TorchDispatchMode
from .._dispatch.overloads import OpOverload
from .._dispatch.torch_dispatch import is_wrapper, share_storage

__all__ = [
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Return whether a tensor says of which tensors it is made: it is of a derived class with `__tensor_flatten__` and
    `__tensor_unflatten__`."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Return whether the tensors of a class say so."""
    names = ("__tensor_flatten__", "__tensor_unflatten__")
    return issubclass(t, Tensor) and t is not Tensor and all(hasattr(t, name) for name in names)


def transform_subclass(
    t: Any, callback: Callable[[str, Any], Any], outer_size: Any = None, outer_stride: Any = None
) -> Any:
    """Return a tensor of the same class, made of others in the place of its tensors.

    Args:
        t: tensor of which `is_traceable_wrapper_subclass` holds.
        callback: called with the name of an attribute and its tensor; gives the tensor in its place.
        outer_size, outer_stride: those of the result; None: those of `t`.

    Raises AssertionError if the class makes a tensor of another size or other strides.
    """
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    tensors = {name: callback(name, getattr(t, name)) for name in names}
    made = type(t).__tensor_unflatten__(tensors, context, size, stride)
    for what, expected, got in (("shape", size, made.shape), ("stride", stride, made.stride())):
        if tuple(got) != tuple(expected):
            raise AssertionError(
                f"Expected return value from {type(t)}__tensor_unflatten__() to have {what} equal to {expected}, but "
                f"got: {got}"
            )
    return made


def return_and_correct_aliasing(func: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
    """Return what `__torch_dispatch__` is to return where it has computed `out`.

    That is the tensor that was written to, for operators in place and with `out=`. The results of views get the memory
    of their argument in name, so that they count as its views.

    Raises AssertionError if the result of a view is of another class than its argument.
    """
    schema = func._schema
    given = {name: value for (name, _), value in zip(_arguments(schema), args, strict=False)} | dict(kwargs)
    named = {"self" if name == "input" else name: value for name, value in given.items()}
    written = [_argument_of(schema, result.alias, named) for result in schema.returns if result.is_write]
    if written:
        return written[0] if len(written) == 1 else tuple(written)
    for result, tensors in zip(schema.returns, [out] if len(schema.returns) == 1 else out, strict=False):
        if result.alias is not None:
            _alias(func, _argument_of(schema, result.alias, named), tensors)
    return out


def _arguments(schema: Any) -> Iterator[tuple[str, Any]]:
    for each in (*schema.arguments, *schema.out):
        yield ("self" if each.name == "input" else each.name), each.alias


def _argument_of(schema: Any, alias: Any, named: Mapping[str, Any]) -> Any:
    names = [name for name, other in _arguments(schema) if other is not None and set(other.before) & set(alias.before)]
    return named.get(names[0]) if names else None


def _alias(func: OpOverload, argument: Any, results: Any) -> None:
    for each in results if isinstance(results, (list, tuple)) else [results]:
        if type(each) is not type(argument) and any(map(is_traceable_wrapper_subclass, (each, argument))):
            raise AssertionError(
                f"Called {func} with input of type {type(argument)}\nand output of type {type(each)}. But expected "
                "types to match."
            )
        if each is not argument and is_wrapper(each) and is_wrapper(argument):
            share_storage(each, argument)
