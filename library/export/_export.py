"""`export`: a module runs once with example arguments, and what it calls becomes a program."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .._base.notes import explained
from .._base.pytree import Structure, flatten
from ..nn import Module
from ..nn.utils.stateless import functional_call
from ..utils._pytree import tree_flatten_with_path
from ._dims import Dim, dims_of
from ._dynamic import DynamicError, with_dims
from ._program import CallSpec, ExportedProgram
from ._recorder import Input, Recorded, copied, recorded
from .graph_signature import InputKind

__all__ = ["export", "positional_names"]


def export(
    mod: Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    preserve_module_call_signature: Sequence[str] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """Run a module once with example arguments, and return what it does as a program.

    The program computes what the module computes for tensors of the same dtypes and sizes: what Python decides is
    as in the example. Its arguments that are no tensors are those of the example. The module is as before afterwards.

    Args:
        mod (Module): the module, which is exported in the mode, training or evaluation, that it is in.
        args (tuple): its arguments, in which tensors may be nested.
        kwargs (dict): its arguments by name.
        dynamic_shapes (dict | tuple): sizes that may be others than the example's: nested like the arguments, or a
            dictionary by the names of all of them, with `{dim: Dim(...)}` or a list for each tensor. The
            program has them if the module reads them nowhere.
        strict (bool): without effect.
        preserve_module_call_signature (sequence): without effect.
        prefer_deferred_runtime_asserts_over_guards (bool): without effect.

    Raises:
        ValueError: `mod` is no module; or `args` is no tuple; or `dynamic_shapes` is not nested like the arguments.
        RuntimeError: the module reads elements of tensors (`if x.sum() > 0`), a dynamic size, or a tensor that requires
            gradients and is no parameter; or its result has an object that is no tensor. The error names the line.

    Examples:
        >>> program = opweave.export.export(opweave.nn.Linear(2, 3), (opweave.ones(4, 2),))
        >>> program.module()(opweave.zeros(4, 2)).shape
        torch.Size([4, 3])
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise ValueError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    named = dict(kwargs or {})
    leaves, structure = flatten((args, named))
    positional = positional_names(mod, args, named)
    names = _names(positional, args, named)
    dims = dims_of(dynamic_shapes, structure, leaves, positional)
    inputs = [*_state(mod)]

    def run(values: Sequence[Any]) -> Recorded:
        return _recorded(mod, [*inputs], names, values, structure)

    found = _with_dims(run, leaves, dims)
    specs = found.signature.input_specs[-len(leaves) or len(found.signature.input_specs) :]
    sizes = {spec.arg.name: each for spec, each in zip(specs, dims, strict=True) if each}
    state = {str(each.target): (_own(mod, str(each.target)), each.persistent is not False) for each in inputs}
    return ExportedProgram(
        found.graph,
        found.signature,
        {name: each for name, (each, persistent) in state.items() if persistent},
        {**{name: each for name, (each, persistent) in state.items() if not persistent}, **found.constants},
        CallSpec(structure, found.structure),
        (args, named),
        sizes,
    )


def _with_dims(run: Callable[[Sequence[Any]], Recorded], leaves: Sequence[Any], dims: list[dict[int, Dim]]) -> Recorded:
    """Return the graph for dynamic dimensions, without those that may be and cannot."""
    while True:
        try:
            return with_dims(run, leaves, dims)
        except DynamicError as error:
            if not error.dim.is_optional:
                raise explained(error, "docs/export.md#sizes-that-change")  # noqa: B904 (it is the same error)
            for each in dims:
                for place in [place for place, dim in each.items() if dim is error.dim]:
                    del each[place]


def _recorded(
    mod: Module, state: Sequence[Input], names: Sequence[str], leaves: Sequence[Any], structure: Structure
) -> Recorded:
    """Return what a module does. What it writes to buffers and arguments it writes to copies."""
    copies = [*map(copied, leaves)]
    inputs = [
        *(each._replace(value=copied(each.value)) if each.kind is InputKind.BUFFER else each for each in state),
        *(Input(name, InputKind.USER_INPUT, None, None, each) for name, each in zip(names, copies, strict=True)),
    ]
    replaced = {str(each.target): each.value for each in inputs if each.kind is InputKind.BUFFER}
    args, kwargs = structure.unflatten(copies)
    return recorded(lambda: functional_call(mod, replaced, args, kwargs), inputs)


def _state(mod: Module) -> Iterator[Input]:
    for name, each in mod.named_parameters(remove_duplicate=False):
        yield Input(f"p_{name.replace('.', '_')}", InputKind.PARAMETER, name, None, each)
    for name, each in mod.named_buffers(remove_duplicate=False):
        path, _, last = name.rpartition(".")
        persistent = last not in mod.get_submodule(path)._non_persistent_buffers_set
        yield Input(f"b_{name.replace('.', '_')}", InputKind.BUFFER, name, persistent, each)


def _own(mod: Module, path: str) -> Any:
    owner, _, name = path.rpartition(".")
    return getattr(mod.get_submodule(owner), name)


def positional_names(mod: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """Return the names of the positional arguments, with a number behind those that `*args` takes."""
    signature = inspect.signature(mod.forward)
    names = []
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        names += [f"{name}_{place}" for place in range(len(value))] if several else [name]
    return names[: len(args)]


def _names(positional: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """The names of the leaves of the arguments: those of the arguments, and the keys and positions in them."""
    names = []
    for (kind, *path), _ in tree_flatten_with_path((args, kwargs))[0]:
        first, *rest = (str(getattr(each, "key", getattr(each, "idx", getattr(each, "name", "")))) for each in path)
        names.append("_".join((positional[int(first)] if kind.idx == 0 else first, *rest)))
    return names
