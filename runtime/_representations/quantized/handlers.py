"""Handlers of calls with quantized tensors: operators of their integers, or of the numbers that these stand for.

Views are views of the integers. Of the others rules.py says which compute at all, and how results are quantized; what
gives no floating numbers, as comparisons, is computed of the numbers. The remaining ones are refused, as in torch: a
result has a scale of its own, which nobody has named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._base.dtypes import EXPORTS
from ..._base.handles import shape_of, strides_of
from ..._base.sequences import remade
from ..._base.tensor_class import Tensor
from ..._base.types import channels_last_3d
from ..._dispatch.dispatcher import redispatch, register
from ..._dispatch.infer import infer
from ..._dispatch.op import INPLACE, NEW, Op
from ..._dispatch.ops import ops
from ..._ops.interpolation import check_interpolation, resampled_by_products
from .quantizer import PerChannel, PerTensor, Quantizer, quantized
from .rules import AVERAGES, KEPT, MOVED, bounded
from .tensors import (
    dequantize,
    distances,
    is_quantized,
    memory_of,
    own_quantizer,
    quantize,
    with_distances,
    with_quantizer,
)

_FLOAT32 = EXPORTS["float32"]


def handle(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    """Answer a call with quantized tensors by the rule of its operator."""
    if op.view:
        return _view(op, args, mode)
    if op.name in MOVED:
        return _stored(op, _moved(op, args, mode), args, out, mode)
    first = _first(args) if _first(args) is not None else out
    if op.name in AVERAGES or (op.family == "compute" and sum(isinstance(each, Tensor) for each in args) == 1):
        return _stored(op, _averages(op, args, first), args, out, mode)
    if op.name in KEPT:
        return _stored(op, _kept(op, args, own_quantizer(first), first.dtype), args, out, mode)
    quantizer = bounded(op.name, first.dtype)
    if quantizer is not None:
        return _stored(op, _kept(op, args, quantizer, first.dtype), args, out, mode)
    if op.family == "elementwise" and mode == NEW and not is_quantized(out):
        numbers = _each(args, dequantize)
        if not infer(op, numbers).is_floating_point():
            return redispatch(op, numbers, out, mode, below="quantized")
    raise NotImplementedError(
        f"Could not run 'aten::{op.name}' with arguments from the 'QuantizedCPU' backend. {op.name}() has no rule for "
        "quantized tensors, as its result has a scale of its own: call it of dequantize() and quantize the result; "
        "opweave.ao.nn.quantized.functional has operators that are told the scale"
    )


# ---- views --------------------------------------------------------------------------------------------------


def _view(op: Op, args: Sequence[Any], mode: int) -> Any:
    tensor = args[op.target]
    if not is_quantized(tensor):
        return redispatch(op, args, None, mode, below="quantized")
    if mode == INPLACE:
        view = op.function(*args)
        redispatch(op, args, None, mode, below="quantized")
        return with_quantizer(tensor, own_quantizer(view))
    view = redispatch(op, _replaced(op, args, memory_of(tensor)), below="quantized")
    quantizer = own_quantizer(tensor)
    parts = view if isinstance(view, (tuple, list)) else (view,)
    if any(each.dtype is not tensor.dtype.memory for each in parts):
        raise RuntimeError(f"{op.name}() of quantized tensors does not change the dtype: their integers are int_repr()")
    for place, each in enumerate(parts):
        with_quantizer(each, quantizer if isinstance(quantizer, PerTensor) else _of_view(op, args, place, each))
    return view


def _replaced(op: Op, args: Sequence[Any], tensor: Any) -> list[Any]:
    given = list(args)
    given[op.target] = tensor
    return given


def _of_view(op: Op, args: Sequence[Any], place: int, view: Any) -> Quantizer:
    """The quantizer of a view by channel: the same view of a tensor that has the number of the channel at every
    place."""
    tensor = args[op.target]
    quantizer: Any = own_quantizer(tensor)
    if shape_of(view._h) == shape_of(tensor._h) and strides_of(view._h) == strides_of(tensor._h):
        return quantizer  # type: ignore[no-any-return]
    refusal = f"{op.name}() would spread the channels of a tensor that is quantized by channel over several dimensions"
    if op.family != "view":
        raise RuntimeError(refusal)
    sizes = [1] * tensor.ndim
    sizes[quantizer.axis] = -1
    channels = ops.arange(len(quantizer.scales)).view(sizes).expand(tensor.shape)
    try:
        found = redispatch(op, _replaced(op, args, channels), below="quantized")
    except RuntimeError as error:
        raise RuntimeError(refusal) from error
    channels = found[place] if isinstance(found, (tuple, list)) else found
    dims = [dim for dim in range(channels.ndim) if channels.stride(dim) and channels.shape[dim] != 1]
    if len(dims) > 1:
        raise RuntimeError(refusal)
    axis = dims[0] if dims else None
    for dim in range(channels.ndim - 1, -1, -1):
        channels = channels if dim == axis or not channels.numel() else channels.select(dim, 0)
    return quantizer.of_channels(channels, axis)  # type: ignore[no-any-return]


# ---- what operators compute ---------------------------------------------------------------------------------


def _moved(op: Op, args: Sequence[Any], mode: int) -> Any:
    """The operator of the integers. What has the dtype of the integers is quantized as the first tensor is."""
    target = args[op.target] if mode == INPLACE or op.is_inplace else _first(args)
    quantizer, of = own_quantizer(target), target.dtype
    if op.name != "clone":
        _check_one_scale(op, quantizer)

    def integers(value: Any) -> Any:
        if is_quantized(value):
            if value.dtype is not of:
                raise RuntimeError(f"All dtypes must be the same: {op.name}() got {of} and {value.dtype}")
            same = own_quantizer(value) == quantizer
            return memory_of(value) if same else quantized(quantizer, dequantize(value), of)
        return quantized(quantizer, value.to(_FLOAT32), of) if value.is_floating_point() else value

    given = _each(args, integers, Tensor)
    for place, types in enumerate(op.types):
        if "Scalar" in types and isinstance(given[place], (int, float)):
            number = ops.full((), given[place], dtype=_FLOAT32)
            given[place] = quantized(quantizer, number, of).item()
    result = redispatch(op, given, None, INPLACE if op.is_inplace else NEW, below="quantized")
    if op.is_inplace:
        return target
    return _wrapped(result, lambda each: with_quantizer(each, quantizer) if each.dtype is of.memory else each)


def _kept(op: Op, args: Sequence[Any], quantizer: Quantizer, of: Any) -> Any:
    """The operator of the numbers; floating results are quantized."""
    result = redispatch(op, _each(args, dequantize), None, NEW, below="quantized")
    if op.family != "elementwise":
        _check_one_scale(op, quantizer)
    return _wrapped(result, lambda each: quantize(each, quantizer, of) if each.dtype is _FLOAT32 else each)


def _averages(op: Op, args: Sequence[Any], like: Any) -> Any:
    """The operator of distances from the zero point; results are at these distances from it."""
    _check_one_scale(op, own_quantizer(like))
    # Operators made of others may round several times: in float64 halves between integers are told all the same.
    given = _each(args, lambda each: distances(each).double() if op.is_composite else distances(each))
    result = redispatch(op, given, None, NEW, below="quantized")
    result = result.float() if op.is_composite else result
    if op.name == "avg_pool3d" and like.dim() == 5:  # as the kernels of torch make it
        result = result.contiguous(memory_format=channels_last_3d)
    return _wrapped(result, lambda each: with_distances(each, like) if each.dtype is _FLOAT32 else each)


def _check_one_scale(op: Op, quantizer: Quantizer) -> None:
    if not isinstance(quantizer, PerTensor):
        raise RuntimeError(f"{op.name}() of quantized tensors is for those with one scale, but got {quantizer.scheme}")


def _stored(op: Op, result: Any, args: Sequence[Any], out: Any, mode: int) -> Any:
    """The rules of methods in place and of `out=`."""
    target = args[op.target] if mode == INPLACE else out
    if target is None or result is target:
        return result
    if isinstance(target, (tuple, list)):
        return type(target)(_stored(op, each, args, to, NEW) for each, to in zip(result, target, strict=True))
    if target.shape != result.shape:
        if mode == INPLACE:
            raise RuntimeError(
                f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(result.shape)}"
            )
        target.resize_(result.shape)
    return target.copy_(dequantize(result) if mode == INPLACE and is_quantized(result) else result)


def _first(args: Sequence[Any]) -> Any:
    """The first quantized tensor among arguments, those in lists included."""
    for value in args:
        found = _first(value) if isinstance(value, (tuple, list)) else value if is_quantized(value) else None
        if found is not None:
            return found
    return None


def _each(args: Sequence[Any], change: Callable[[Any], Any], kind: type | None = None) -> list[Any]:
    """The arguments with all quantized tensors changed, or all tensors, those in lists included."""

    def changed(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return remade(type(value), [changed(each) for each in value])
        chosen = is_quantized(value) if kind is None else isinstance(value, kind)
        return change(value) if chosen else value

    return [changed(value) for value in args]


def _wrapped(result: Any, change: Callable[[Any], Any]) -> Any:
    if not isinstance(result, (tuple, list)):
        return change(result) if isinstance(result, Tensor) else result
    parts = [_wrapped(each, change) for each in result]
    return type(result)(parts)


# ---- operators of their own ---------------------------------------------------------------------------------


def _copy(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    target, source = args[0], args[1]
    if not is_quantized(target):
        raise RuntimeError(
            "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get a "
            "float Tensor from a quantized Tensor"
        )
    quantizer = own_quantizer(target)
    if not is_quantized(source):
        if source.dtype is not _FLOAT32:
            raise RuntimeError(f"Quantized copy only works with kFloat as source Tensor, but got {source.dtype}")
        source = quantize(source.expand(target.shape), quantizer, target.dtype)
    if source.dtype is not target.dtype:
        raise RuntimeError(
            f"Expected self.scalar_type() == src.scalar_type() to be true, but got false.  ({target.dtype} and "
            f"{source.dtype})"
        )
    theirs = own_quantizer(source)
    if theirs.scheme is not quantizer.scheme:
        raise RuntimeError(
            f"Quantized Copy only works with same qscheme, but got {quantizer.scheme} and {theirs.scheme}"
        )
    redispatch(op, [memory_of(target), memory_of(source), *args[2:]], None, mode, below="quantized")
    return with_quantizer(target, theirs)


def _to_copy(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    tensor, dtype = args[0], args[op.names.index("dtype")]
    if dtype is not None:
        raise RuntimeError(
            f"Creation of quantized tensor requires quantized dtype like opweave.quint8, but got {dtype}: "
            "dequantize() gives the numbers, int_repr() the integers"
        )
    copied = redispatch(op, _replaced(op, args, memory_of(tensor)), None, mode, below="quantized")
    return with_quantizer(copied, own_quantizer(tensor))


def _empty_like(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    dtype = args[op.names.index("dtype")]
    if dtype not in (None, args[0].dtype):
        return redispatch(op, _each(args, memory_of), out, mode, below="quantized")
    given = _each(args, memory_of)
    given[op.names.index("dtype")] = None
    return with_quantizer(redispatch(op, given, None, mode, below="quantized"), own_quantizer(args[0]))


def _fill(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    target, value = args
    if not isinstance(own_quantizer(target), PerChannel):
        return handle(op, args, out, mode)
    number = dequantize(value) if is_quantized(value) else value
    return target.copy_(ops.fill(ops.empty(target.shape, dtype=_FLOAT32, device=target.device), number))


def _zero(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    return args[0].fill_(0.0)


def _resize(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    _check_one_scale(op, own_quantizer(args[0]))
    return redispatch(op, args, None, mode, below="quantized")


def _item(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    if args[0].numel() != 1:
        raise RuntimeError(f"a Tensor with {args[0].numel()} elements cannot be converted to Scalar")
    return dequantize(args[0].reshape(())).item()


def _equal(op: Op, args: Sequence[Any], out: Any, mode: int) -> bool:
    tensor, other = args
    if not (is_quantized(tensor) and is_quantized(other)) or tensor.dtype is not other.dtype:
        return False
    if tensor.shape != other.shape or own_quantizer(tensor) != own_quantizer(other):
        return False
    return bool(ops.equal(memory_of(tensor), memory_of(other)))


def _resampled(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    tensor, sizes, scales, word, align, antialias = args
    if word != "bilinear" or antialias:
        return _averages(op, args, tensor)
    quantizer: Any = own_quantizer(tensor)
    _check_one_scale(op, quantizer)
    check_interpolation(tensor, sizes, word, align, antialias)
    integers = resampled_by_products(memory_of(tensor).to(_FLOAT32), sizes, scales, align)
    return with_distances(integers - quantizer.zero_point, tensor)


def _is_signed(op: Op, args: Sequence[Any], out: Any, mode: int) -> bool:
    return bool(args[0].dtype.is_signed)  # which raises the error


def _close(op: Op, args: Sequence[Any], out: Any, mode: int) -> Any:
    raise RuntimeError(f"{op.name} is not supported for quantized inputs.")


register("quantized", handle, composites=False)
for _name in (MOVED | KEPT | AVERAGES) & vars(ops).keys():
    if getattr(ops, _name).op.is_decomposable:
        register("quantized", handle, getattr(ops, _name).op)
for _name, _handler in {
    "copy_": _copy,
    "_to_copy": _to_copy,
    "empty_like": _empty_like,
    "zero_": _zero,
    "fill_": _fill,
    "resize_": _resize,
    "item": _item,
    "resampled": _resampled,
    "equal": _equal,
    "is_signed": _is_signed,
    "isclose": _close,
}.items():
    register("quantized", _handler, getattr(ops, _name).op)
