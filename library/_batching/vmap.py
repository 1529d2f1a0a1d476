"""`vmap`: a function of samples, as one of batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from .. import _operators as ops
from .._autograd.grad_mode import is_grad_enabled
from .._base.tensor_class import Tensor
from .._dispatch.levels import level_of, levels, within
from .._dispatch.samples import BatchLevel, batch_of, sample_of
from ..utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_unflatten
from .handler import Samples

__all__ = ["vmap"]
_PACKAGE_NAMES = __all__

_RANDOMNESS = ("error", "different", "same")


_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def vmap(
    func: Callable[_Arguments, _Result],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[_Arguments, _Result]:
    """Return a function that calls `func` with all samples of a batch at once.

    Within `func` a tensor stands for a sample: its shape lacks the dimension of the batch. Operators are called with
    the whole batch, those without a rule for each sample, with a warning that names them. Calls may be nested, and hold
    gradients (`func.grad`) or be within them.

    Args:
        func: takes tensors, or nested lists, tuples and dictionaries of them, and returns such ones. It changes no
            tensor of the outside, and no condition in it depends on elements.
        in_dims (int | None, or nested as the arguments): the dimension of each argument that its samples are along;
            None: all samples have the same one.
        out_dims (int | None, or nested as the result): where that dimension is in the results; None: a result that is
            the same for all samples.
        randomness (str): what drawing random numbers does: `error` raises, `different` draws for each sample, `same`
            draws once for all.
        chunk_size (int): the most samples that are computed together; None: all.

    Raises:
        ValueError: `in_dims` or `out_dims` do not fit, sizes differ, an argument or a result is no tensor, or
            `chunk_size` is less than 1.
        RuntimeError: `randomness` is no such word; or of the call, where `func` reads elements, draws random numbers
            with `error`, or writes to a tensor that all samples share.

    The method is that of torch.func.vmap: https://arxiv.org/abs/2106.05656 has the semantics of batched calls.

    Examples:
        >>> x = opweave.arange(6.0).view(2, 3)
        >>> opweave.vmap(opweave.dot)(x, x)
        tensor([ 5., 50.])

    Example:
        >>> opweave.vmap(opweave.dot)(opweave.ones(3, 2), opweave.ones(3, 2))
        tensor([2., 2., 2.])
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @wraps(func)
    def batched(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        result: _Result = _Batching(func, in_dims, out_dims, randomness).call(args, kwargs, chunk_size)
        return result

    return batched


class _Batching:
    """A call of a function with batches."""

    def __init__(self, func: Callable[..., Any], in_dims: Any, out_dims: Any, randomness: str) -> None:
        self._func, self._in_dims, self._out_dims, self._randomness = func, in_dims, out_dims, randomness
        self._name = _name_of(func)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any], chunk_size: int | None) -> Any:
        leaves, dims, structure = self._inputs(args)
        size = self._size(leaves, dims)
        if chunk_size is None or size <= chunk_size:
            values, made = self._run(leaves, dims, structure, kwargs, size)
            return tree_unflatten(values, made)
        parts = []
        for start in range(0, size, chunk_size):
            count = min(chunk_size, size - start)
            part = [
                leaf if dim is None else leaf.narrow(dim, start, count) for leaf, dim in zip(leaves, dims, strict=True)
            ]
            parts.append(self._run(part, dims, structure, kwargs, count))
        made = parts[0][1]
        where = self._places(made)
        joined = [
            each[0] if dim is None else ops.cat(list(each), dim)
            for dim, each in zip(where, zip(*(values for values, _ in parts), strict=True), strict=True)
        ]
        return tree_unflatten(joined, made)

    def _run(
        self, leaves: list[Any], dims: list[Any], structure: TreeSpec, kwargs: dict[str, Any], size: int
    ) -> tuple[list[Any], TreeSpec]:
        """The results, and how they are nested."""
        is_recorded = is_grad_enabled() and any(leaf.requires_grad for leaf in leaves if isinstance(leaf, Tensor))
        level = Samples(size, self._randomness, is_recorded)
        samples = [
            leaf if dim is None else sample_of(leaf.movedim(dim, 0), level)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        result = within((*levels(), level), partial(self._func, **kwargs), *tree_unflatten(samples, structure))
        values, made = tree_flatten(result)
        places = self._places(made)
        return [self._result(value, place, level) for value, place in zip(values, places, strict=True)], made

    # ---- what goes in ----

    def _inputs(self, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], TreeSpec]:
        """The arguments and their dimensions, one after the other, and how the arguments are nested."""
        if not isinstance(self._in_dims, (int, tuple)):
            raise self._refusal(
                "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
                f"{type(self._in_dims)}."
            )
        if not args:
            raise ValueError(
                f"vmap({self._name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                "vmap over a function with no inputs. The latter is unsupported."
            )
        leaves, structure = tree_flatten(args)
        dims = _broadcast_to_and_flatten(self._in_dims, structure)
        if dims is None:
            raise self._refusal(
                f"in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                f"{tree_flatten(self._in_dims)[1]} but inputs has structure {structure}."
            )
        return leaves, [self._dim(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)], structure

    def _dim(self, leaf: Any, dim: Any) -> int | None:
        if dim is None:
            return None
        if not isinstance(dim, int):
            raise self._refusal(
                f"Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            )
        if not isinstance(leaf, Tensor):
            raise self._refusal(
                f"Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        if not -leaf.dim() <= dim < leaf.dim():
            raise self._refusal(
                f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.dim()} so "
                f"expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
            )
        return dim % int(leaf.dim())

    def _size(self, leaves: list[Any], dims: list[Any]) -> int:
        sizes = [leaf.size(dim) for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
        if not sizes:
            raise ValueError("vmap: Expected at least one Tensor to vmap over")
        if any(size != sizes[0] for size in sizes):
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{sizes} for the mapped dimension"
            )
        return int(sizes[0])

    def _refusal(self, text: str) -> ValueError:
        return ValueError(f"vmap({self._name}, in_dims={self._in_dims}, ...)(<inputs>): {text}")

    # ---- what comes out ----

    def _places(self, made: TreeSpec) -> list[int | None]:
        """The dimension of the batch in each result."""
        if not all(dim is None or isinstance(dim, int) for dim in tree_leaves(self._out_dims)):
            raise ValueError(
                f"vmap({self._name}, ..., out_dims={self._out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear."
            )
        places = _broadcast_to_and_flatten(self._out_dims, made)
        if places is None:
            raise ValueError(
                f"vmap({self._name}, ..., out_dims={self._out_dims})(<inputs>): out_dims is not compatible with the "
                f"structure of `outputs`. out_dims has structure {tree_flatten(self._out_dims)[1]} but outputs has "
                f"structure {made}."
            )
        return places

    def _result(self, value: Any, place: int | None, level: BatchLevel) -> Any:
        is_sample = level_of(value) is level
        if place is None:
            if is_sample:
                raise ValueError(
                    f"vmap({self._name}, ...): `{self._name}` can not return a BatchedTensor when out_dim is None"
                )
            return value
        if not isinstance(value, Tensor):
            raise ValueError(
                f"vmap({self._name}, ...): `{self._name}` must only return Tensors, got type {type(value)}. "
                "Did you mean to set out_dims= to None for output?"
            )
        batch = batch_of(value) if is_sample else value.expand((level.size, *value.shape))
        return batch.movedim(0, place)


def _name_of(func: Any) -> str:
    if isinstance(func, partial):
        return f"functools.partial({_name_of(func.func)}, ...)"
    return str(getattr(func, "__name__", repr(func)))
