"""The slow path of operators: whatever the generated functions do not settle with one call of the core.

A generated function handles tensors and Python numbers of the common kinds itself. Here are all other cases: wrong
types, optional arguments, subclasses, `out=`, errors, and the table of handlers for tensors whose dispatch keys say
that the dense CPU code must not touch them (autograd, meta, named, sparse, quantized, cuda).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

from .._base import histories
from .._base.dtypes import BY_CODE
from .._base.dtypes import dtype as dtype_class
from .._base.errors import raise_pending, take_pending
from .._base.handles import NONE as NONE
from .._base.handles import OVERFLOW
from .._base.histories import needs_grad
from .._base.tensor_class import Tensor as Tensor
from .._base.types import Size, check_placement, memory_order
from .._C import lib
from .._handle import as_view
from ..return_types import named_results
from .arguments import MISSING as MISSING
from .arguments import Arguments, dtype_code, integer, integers, operands_of, type_name
from .arguments import separate as separate

LISTS = (list, tuple, Size)
"""Of these classes generated functions take lists as they are, if the elements have the type wanted."""

NEW, INPLACE, OUT = 0, 1, 2
"""ow_mode"""
NO_LIST, EMPTY_LIST = 1, 2
"""ow_dims"""


class Op:
    """An operator as the runtime sees it: what the core calls it and what its arguments are named."""

    __slots__ = (
        *("any_out", "arguments", "derivative", "exact_out", "function", "index", "inputs", "name", "number_first"),
        *("complex_refusal", "one_dim", "optional", "package", "params", "promotes", "reals", "refusal"),
        *("refused", "results", "sequence"),
    )

    def __init__(
        self,
        index: int,
        name: str,
        inputs: tuple[str, ...],
        params: tuple[str, ...] = (),
        refused: tuple[int, ...] = (),
        optional: tuple[str, ...] = (),
        reals: tuple[str, ...] = (),
        results: tuple[str, ...] = (),
        one_dim: bool = False,
        refusal: str | None = None,
        complex_refusal: str | None = None,
        arguments: tuple[tuple[str, int, str | None], ...] = (),
        exact_out: bool = False,
        any_out: bool = False,
        sequence: bool = False,
        promotes: bool = False,
        number_first: bool = False,
        package: str = "opweave",
    ) -> None:
        self.index = index
        self.name = name
        self.inputs = inputs
        self.params = params
        self.optional = optional
        """Parameters, and dimensions to reduce, that may be None."""
        self.reals = reals
        """Parameters that are floats, whatever the dtype."""
        self.refused = refused
        """Codes of the dtypes a composite does not take; the core knows those of all other families."""
        self.refusal = refusal
        """What it says then."""
        self.complex_refusal = complex_refusal
        """What it says of complex dtypes."""
        self.results = named_results(name, results) if results else None
        """The class of several results that have names."""
        self.one_dim = one_dim
        """Is `dim` one dimension, and not a list?"""
        self.arguments = arguments
        """Name, position (0: by keyword only) and types of a composite's arguments."""
        self.exact_out = exact_out
        """Must `out` have the dtype of the result?"""
        self.any_out = any_out
        """May `out` have any dtype, whatever is lost?"""
        self.sequence = sequence
        """Does an `out` of as many elements as the result has keep its shape?"""
        self.promotes = promotes
        """Is the dtype refused, or not, to which the first two inputs promote, and not that of the first?"""
        self.number_first = number_first
        """May all operands be numbers, so that the result is a tensor without dimensions?"""
        self.function: Callable[..., Any] | None = None
        self.package = package
        """The one whose generated modules it is in."""
        self.derivative: Any = ...
        """The class of its nodes in a graph, or None; found when it is first asked for."""
        if index >= 0:
            histories.operators[index] = self

    def __repr__(self) -> str:
        return f"<operator {self.name}>"


# ---- dispatch keys ------------------------------------------------------------------------------------------

KEYS = ("autograd", "named", "meta", "sparse", "quantized", "cuda", "subclass")
"""Names of the bits of a handle's `keys`, lowest first (tensor.h); a lower one is handled first."""

Handler = Callable[..., Any]
_handlers: dict[tuple[str, str | None], Handler] = {}


def register_handler(key: str, handler: Handler, name: str | None = None) -> None:
    """Has `handler(op, *arguments)` answer calls with tensors that carry the dispatch key `key`.

    With `name`, only calls of that operator. Raises ValueError for an unknown key.
    """
    if key not in KEYS:
        raise ValueError(f"unknown dispatch key {key!r}; there are {', '.join(KEYS)}")
    _handlers[key, name] = handler


def decline(op: Op, handles: Sequence[float], *arguments: Any) -> Any:
    """After the core declined: an error of its own, or the handler of the first key."""
    error = take_pending()
    if error is not None:
        raise error
    keys = 0
    for handle in handles:
        if handle:
            keys |= lib.keys(handle)
    for bit, key in enumerate(KEYS):
        if keys >> bit & 1:
            handler = _handlers.get((key, op.name)) or _handlers.get((key, None))
            if handler is None:
                raise NotImplementedError(f"{op.name}() has no implementation for {key} tensors")
            return handler(op, *arguments)
    raise RuntimeError(f"{op.name}() failed without saying why")


overloads: dict[str, Callable[..., Any]] = {}
"""By the name of a view: what takes its arguments first, by name; NotImplemented leaves them to the operator."""


# ---- one function per family --------------------------------------------------------------------------------


def elementwise(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...] = (), out: Any = None) -> Any:
    """A new result, or `out`. Also serves extern operators, which have the same calling convention."""
    if needs_grad(inputs, out):
        run = partial(_elementwise, op, inputs, params, None, NEW)
        return histories.recording.call(op, (*inputs, *params), run, out)
    return _elementwise(op, inputs, params, out, NEW if out is None else OUT)


def elementwise_(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...] = ()) -> Any:
    """In place: the first input is overwritten and returned."""
    target = inputs[0]
    if needs_grad(inputs):
        run = partial(_elementwise, op, inputs, params, target, INPLACE)
        return histories.recording.call_inplace(op, target, (*inputs, *params), run)
    return _elementwise(op, inputs, params, target, INPLACE)


def _elementwise(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], out: Any, mode: int) -> Any:
    arguments = Arguments()
    try:
        tensors = [arguments.tensor(op, place, value) for place, value in enumerate(inputs)]
        if not op.number_first and not any(isinstance(value, Tensor) for value in inputs):
            raise TypeError(
                f"{op.name}(): argument '{op.inputs[0]}' (position 1) must be Tensor, not {type_name(inputs[0])}"
            )
        numbers = [arguments.param(op, place, value) for place, value in enumerate(params)]
        target = arguments.out(op, out)
        handle = lib.call(op.index, *pad3(tensors), *pad3(numbers), target, mode)
        if not handle:
            return decline(op, [*tensors, target], inputs, params, out, mode)
        return out if mode else arguments.result(handle)
    finally:
        arguments.release()


def pad3(handles: list[float]) -> tuple[float, float, float]:
    """Absent arguments of the core's calls are 0.0."""
    first, second, third = [*handles, 0.0, 0.0, 0.0][:3]
    return first, second, third


def choice(op: Op, name: str, text: Any, default: str | None, options: dict[str, Callable[..., Any]]) -> Any:
    """The function that a text other than the default stands for."""
    if not isinstance(text, str):
        raise TypeError(f"{op.name}(): argument '{name}' must be str, not {type_name(text)}")
    if text not in options:
        *most, last = [repr(each) for each in (default, *options)]
        raise RuntimeError(f"{op.name} expected {name} to be one of {', '.join(most)}, or {last} but found '{text}'")
    return options[text]


def binary(op: Op, left: Any, right: Any) -> Any:
    """A Python operator: like elementwise, but arrays are operands too, and other classes get their turn."""
    operands = operands_of(left, right)
    return NotImplemented if operands is None else elementwise(op, operands)


def binary_(op: Op, left: Any, right: Any) -> Any:
    """An augmented assignment."""
    operands = operands_of(left, right)
    return NotImplemented if operands is None else elementwise_(op, operands)


def binary_tensors(op: Op, left: Any, right: Any) -> Any:
    """A Python operator of tensors alone, one of which is none: an array, which is promoted, or of another class."""
    operands = operands_of(left, right)
    if operands is None or not all(isinstance(operand, Tensor) for operand in operands):
        return NotImplemented
    common = BY_CODE[lib.result_type(operands[0]._h, operands[1]._h)]
    assert op.function is not None
    return op.function(*(operand.to(common) for operand in operands))


def self_handle(op: Op, value: Any, arguments: Arguments) -> float:
    if not isinstance(value, Tensor):
        raise TypeError(f"{op.name}(): argument '{op.inputs[0]}' (position 1) must be Tensor, not {type_name(value)}")
    return arguments.tensor(op, 0, value)


def reduce(op: Op, input: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None, out: Any = None) -> Any:
    """`dim`: None or empty for every dimension, an int, or several."""
    if needs_grad(input, out):
        return histories.recording.call(op, (input, dim, keepdim), partial(reduce, op, input, dim, keepdim, dtype), out)
    arguments = Arguments()
    handle = self_handle(op, input, arguments)
    dims = dimensions(op, dim, keepdim)
    target = arguments.out(op, out)
    code = dtype_code(op, dtype)
    try:
        every = 0 if dims else NO_LIST if dim is None else EMPTY_LIST
        result = lib.reduce(op.index, handle, dims, len(dims), every, bool(keepdim), code, target)
    except OverflowError:
        raise ValueError(OVERFLOW) from None
    if not result:
        return decline(op, (handle, target), input, dim, keepdim, dtype, out)
    return arguments.result(result) if out is None else out


def reduce_all(op: Op, input: Any, keepdim: Any, out: Any) -> Any:
    """The form without `dim` of an operator that has others."""
    if keepdim is not False:
        raise TypeError(f"{op.name}() received an invalid combination of arguments: 'keepdim' without 'dim'")
    return reduce(op, input, out=out)


def dimensions(op: Op, dim: Any, keepdim: Any) -> list[int]:
    """Those to reduce, none standing for all of them."""
    if not isinstance(keepdim, bool):
        raise TypeError(f"{op.name}(): argument 'keepdim' must be bool, not {type_name(keepdim)}")
    if dim is None and "dim" in op.optional:
        return []
    return [integer(op, "dim", dim)] if op.one_dim else integers(op, "dim", dim)


_OTHER_NAMES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
    "_stacklevel": "stacklevel",
}
"""NumPy's names of arguments, which torch takes wherever it has such an argument, and torch's own of one."""


def by_other_names(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Call a function again whose parameters have the values `given`, `_names` among them: those by unknown names."""
    names = given.pop("_names")
    if given.get("more") == ():
        del given["more"]
    defaults, code = function.__defaults__ or (), function.__code__
    positional = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    default_of = {**dict(zip(positional, defaults, strict=True)), **(function.__kwdefaults__ or {})}
    for name, value in names.items():
        parameter = _OTHER_NAMES.get(name)
        if parameter is None or parameter not in given:
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'")
        if given[parameter] is not default_of.get(parameter, MISSING):
            raise TypeError(f"{function.__name__}() got multiple values for '{parameter}', also called '{name}'")
        given[parameter] = value
    return function(**{name: value for name, value in given.items() if value is not MISSING})


def missing(op: Op, given: dict[str, Any]) -> TypeError:
    """The error of a call that leaves out arguments without a default."""
    names = [f'"{name}"' for name, value in given.items() if value is MISSING]
    return TypeError(f"{op.name}() missing {len(names)} required positional arguments: {', '.join(names)}")


def second_tensor(op: Op, dim: Any, other: Any) -> Any:
    """The tensor that `max` compares with: `other`, or what stands in the place of `dim`."""
    if other is None:
        return dim
    if dim is not None or not isinstance(other, Tensor):
        expected = "None where 'dim' is given" if dim is not None else "Tensor"
        raise TypeError(f"{op.name}(): argument 'other' must be {expected}, not {type_name(other)}")
    return other


def scan(op: Op, input: Any, dim: Any, dtype: Any = None, out: Any = None, mode: int = NEW) -> Any:
    """A running combination along `dim`."""
    if needs_grad(input, out):
        if mode == INPLACE:
            run = partial(scan, op, input, dim, dtype, input, INPLACE)
            return histories.recording.call_inplace(op, input, (input, dim), run)
        return histories.recording.call(op, (input, dim), partial(scan, op, input, dim, dtype), out)
    arguments = Arguments()
    handle = self_handle(op, input, arguments)
    target = arguments.out(op, out)
    if mode == NEW and out is not None:
        mode = OUT
    try:
        result = lib.scan(op.index, handle, integer(op, "dim", dim), dtype_code(op, dtype), target, mode)
    except OverflowError:
        raise ValueError(OVERFLOW) from None
    if not result:
        return decline(op, (handle, target), input, dim, dtype, out, mode)
    return arguments.result(result) if out is None else out


def scan_(op: Op, input: Any, dim: Any, dtype: Any = None) -> Any:
    return scan(op, input, dim, dtype, input, INPLACE)


def view(
    op: Op, input: Any, ints: tuple[tuple[str, Any], ...] = (), lists: tuple[tuple[str, Any, bool], ...] = ()
) -> Any:
    """`ints` and `lists` are the arguments by name, in schema order, and whether a list may be None."""
    if op.name in overloads and isinstance(input, Tensor):
        other = overloads[op.name](input, **dict(ints), **{name: values for name, values, _ in lists})
        if other is not NotImplemented:
            return other
    if needs_grad(input):
        values = (*(value for _, value, _ in lists), *(value for _, value in ints))
        return histories.recording.call(op, (input, *values), partial(view, op, input, ints, lists))
    arguments = Arguments()
    handle = self_handle(op, input, arguments)
    numbers = [NONE if value is None else int(value) if value is True or value is False else integer(op, name, value)
               for name, value in ints]  # fmt: skip
    first, second, third, fourth = [*numbers, NONE, NONE, NONE, NONE][:4]
    rows: list[tuple[list[int], int]] = []
    for name, values, optional in lists:
        absent = values is None and optional
        row = [] if absent else integers(op, name, values)
        rows.append((row, -1 if absent else len(row)))
    rows += [([], -1)] * (2 - len(rows))
    try:
        result = lib.view(
            op.index, handle, first, second, third, fourth, rows[0][0], rows[0][1], rows[1][0], rows[1][1]
        )
    except OverflowError:
        raise ValueError(OVERFLOW) from None
    return as_view(arguments.result(result), input) if result else decline(op, (handle,), input, ints, lists)


def factory(
    op: Op,
    size: Any,
    params: tuple[Any, ...] = (),
    dtype: Any = None,
    out: Any = None,
    default: int | None = None,
    **placement: Any,
) -> Any:
    """`size` of the result; when its dtype is not given it is `default`, or follows from the numbers in `params`."""
    check_placement(op.name, **placement)
    arguments = Arguments()
    try:
        numbers = [arguments.param(op, place, value) for place, value in enumerate(params)]
        target = arguments.out(op, out)
        code = dtype_code(op, dtype)
        if code < 0:
            code = _dtype_of_numbers(params) if default is None else default
        sizes = integers(op, "size", size)
        if op.sequence and out is not None and prod(sizes) == out.numel():
            sizes = list(out.shape)
        try:
            handle = lib.factory(op.index, sizes, len(sizes), code, *pad3(numbers), target)
        except OverflowError:
            raise ValueError(OVERFLOW) from None
        if not handle:
            return decline(op, (target,), size, params, dtype, out)
        if out is not None:
            return out
        order = memory_order(op.name, placement.get("memory_format"))
        if order > 1:
            contiguous, handle = handle, lib.empty_like(handle, -1, order)
            lib.release(contiguous)
            if not handle:
                raise_pending()
        return arguments.result(handle)
    finally:
        arguments.release()


def dtype_with_out(dtype: Any, out: Any) -> Any:
    """The dtype of a factory that writes into `out`: its own, which `dtype` must not contradict."""
    if not isinstance(out, Tensor):
        return dtype  # what `out` must be is said where it is read
    asked = out.dtype if dtype is None else dtype_class.resolve(dtype, "out")
    if asked is not out.dtype:
        message = f"dtype {asked.scalar_name} does not match dtype of out parameter ({out.dtype.scalar_name})"
        raise RuntimeError(message)
    return asked


def _dtype_of_numbers(params: tuple[Any, ...]) -> int:
    """The default dtype for floating numbers and for none at all, else int64, or bool when all are."""
    given = [value.item() if hasattr(value, "item") else value for value in params if value is not None]
    if any(isinstance(value, complex) for value in given):
        return dtype_class.to_complex(BY_CODE[lib.get_default_dtype()]).code
    if not given or any(isinstance(value, float) for value in given):
        return lib.get_default_dtype()
    kind = bool if all(isinstance(value, bool) for value in given) else int
    return dtype_class.of_python_type(kind).code
