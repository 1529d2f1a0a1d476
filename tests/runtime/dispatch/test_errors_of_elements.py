"""The operators whose errors depend on elements are those that say so: all others give results whatever these are.

The operators are called as functions and their gradients call them, with the sample inputs of torch and others, and
then once more with extreme elements in place of those.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import product
from typing import Any

import opweave as ow
import pytest
from harness import recording, samples
from harness.catalog import described
from harness.outcome import Items, Table, restored
from harness.sample_inputs import function_of, rebuilt
from opweave import randn
from opweave._base.pytree import flatten
from opweave._dispatch.dispatcher import call
from opweave._dispatch.op import NEW, OPERATORS, Op
from opweave.compiler._graph import mapped
from opweave.compiler._recording import Call, Recording, record
from opweave.nn import functional

MOST_CALLS, MOST_ELEMENTS = 40, 3000
EXTREMES = (float("nan"), float("inf"), -float("inf"), 0, -1, 1, 7, 10**4, -(2**63), 2**63 - 1)
DTYPES = (*samples.REAL, *samples.COMPLEX, ("int64", "int64"), ("float32", "int64"), ("bool", "bool"))


class Kernels(Recording):
    """The calls that others are made of."""

    def decomposes(self, op: Op, out: Any, mode: int) -> bool:
        return op.is_composite and op.body is not None and mode == NEW and out is None


# ---- calls --------------------------------------------------------------------------------------------------


@cache
def calls() -> dict[Op, list[Call]]:
    """Calls of every operator."""
    found: dict[Op, list[Call]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function in (*of_samples(), *of_types(), *of_kernels(), *PROGRAMS):
            kernels = Kernels([], lambda frame: False, has_conditions=True)
            with suppress(Exception):  # the arguments do not fit, or there is no second derivative
                record(kernels, None, with_gradients, function)
            for each in kernels.calls:
                found.setdefault(each.op, []).append(each)
    return found


def with_gradients(function: Callable[[], Any], order: int = 2) -> None:
    results = [each for each in flatten(function())[0] if isinstance(each, ow.Tensor) and each.requires_grad]
    if results:
        total = sum(each.abs().square().sum() for each in results)
        leaves = [*leaves_of(total)]
        with_gradients(partial(ow.autograd.grad, total, leaves, create_graph=order > 1, allow_unused=True), order - 1)


def leaves_of(result: ow.Tensor) -> Iterator[ow.Tensor]:
    waiting, seen = [result.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            yield node.variable
        waiting += [each for each, _ in node.next_functions]


def differentiated(*shape: int) -> ow.Tensor:
    return randn(shape).requires_grad_()


def of_samples() -> Iterator[Callable[[], Any]]:
    """The recorded samples of torch."""
    answers, tests = recording.load("test_sample_inputs_oracle")
    for name, row in tests.items():
        function = function_of(name.partition("[")[2].removesuffix("]").partition("-")[0])
        for given in (restored(answers[place]) for place in row[1:]):
            if isinstance(given, Items) and len(given.items) == 2 and isinstance(given.items[1], Table):
                try:
                    arguments, keywords = rebuilt(given, ow)
                except NameError:  # an object of torch
                    continue
                for each in flatten((arguments, keywords))[0]:
                    if isinstance(each, ow.Tensor) and each.is_floating_point():
                        each.requires_grad_()
                yield partial(function, *arguments, **keywords)


def of_types() -> Iterator[Callable[[], Any]]:
    """All functions with arguments of their types."""
    for operator in described():
        kind, path = next(samples.calls_of(operator), (None, ""))
        for given in samples.arguments(operator["schema"], DTYPES) if kind is not None else ():
            yield partial(samples.call, kind, path, given, "varargs" in operator["tags"], ow)


def of_kernels() -> Iterator[Callable[[], Any]]:
    """Kernels of elements, rows and random numbers, which are not all functions."""
    for op, dtype in product(OPERATORS.values(), (ow.float64, ow.int64, ow.bool)):
        if op.family in ("elementwise", "factory", "random", "reduce", "rows", "scan"):
            values = [argument(name, types, dtype) for name, types in zip(op.names, op.types, strict=True)]
            named = dict(zip(op.names[op.positional :], values[op.positional :], strict=True))
            yield partial(op.function, *values[: op.positional], **named)


def argument(name: str, types: str, dtype: ow.dtype) -> Any:
    first = types.rstrip("?").partition("|")[0]
    if first in ("Generator", "dtype", "placement"):
        return None
    if name == "dim":
        return [0] if "[" in first else 0
    return {"Tensor": ow.ones(3, dtype=dtype), "bool": True, "int": 3 if name == "high" else 1}.get(
        first, [3] if "[" in first else 0.5
    )


def channels_last(*shape: int) -> ow.Tensor:
    return randn(shape).to(memory_format=ow.channels_last).requires_grad_()


def internal(name: str, *args: Any) -> Any:
    return next(op for op in OPERATORS.values() if op.name == name).function(*args)


STARTS, COLUMNS = ow.tensor([0, 2, 3]), ow.tensor([0, 1, 1])
COORDINATES = ow.tensor([[0, 1, 1], [0, 2, 2]])
PROGRAMS: tuple[Callable[[], Any], ...] = (
    *(
        lambda groups=groups, made=made: functional.conv2d(
            made(2, 4, 6, 6), made(4, 4 // groups, 3, 3), differentiated(4), groups=groups
        )
        for groups, made in product((1, 2, 4), (differentiated, channels_last))
    ),
    lambda: functional.conv3d(differentiated(2, 4, 5, 5, 5), differentiated(6, 4, 3, 3, 3), differentiated(6)),
    lambda: functional.fold(functional.unfold(differentiated(1, 2, 4, 4), 2), (4, 4), 2),
    *(
        lambda pool=pool, size=size, made=made: pool(made(1, 2, 4, 4), size)
        for pool in (
            functional.max_pool2d,
            functional.avg_pool2d,
            functional.adaptive_max_pool2d,
            functional.adaptive_avg_pool2d,
        )
        for size, made in product((2, 3), (differentiated, channels_last))
    ),
    *(
        lambda pool=pool, size=size: pool(differentiated(1, 2, 4, 4, 4), size)
        for pool in (
            functional.max_pool3d,
            functional.avg_pool3d,
            functional.adaptive_max_pool3d,
            functional.adaptive_avg_pool3d,
        )
        for size in (2, 3)
    ),
    lambda: functional.avg_pool2d(ow.ones(1, 1, 4, 4, dtype=ow.int64), 2),
    lambda: functional.avg_pool3d(ow.ones(1, 1, 4, 4, 4, dtype=ow.int64), 2),
    lambda: functional.fractional_max_pool2d(randn(1, 2, 6, 6), 2, output_size=3),
    *(
        lambda mode=mode, padding=padding: functional.grid_sample(
            differentiated(1, 2, 4, 4), differentiated(1, 3, 3, 2), mode=mode, padding_mode=padding, align_corners=False
        )
        for mode, padding in product(("nearest", "bilinear", "bicubic"), ("zeros", "border", "reflection"))
    ),
    lambda: functional.grid_sample(differentiated(1, 2, 4, 4, 4), differentiated(1, 3, 3, 3, 3), align_corners=False),
    *(
        lambda mode=mode, sizes=sizes: functional.interpolate(
            differentiated(1, 2, *(4,) * len(sizes)), sizes, mode=mode
        )
        for mode, sizes in (("nearest", (5, 5)), ("bilinear", (5, 5)), ("bicubic", (5, 5)), ("trilinear", (5, 5, 5)))
    ),
    *(
        lambda layer=layer: layer(differentiated(3, 2, 4))[0]
        for layer in (ow.nn.LSTM(4, 5), ow.nn.GRU(4, 5), ow.nn.RNN(4, 5), ow.nn.RNN(4, 5, nonlinearity="relu"))
    ),
    lambda: functional.layer_norm(differentiated(3, 4), (4,), differentiated(4), differentiated(4)),
    lambda: functional.rms_norm(differentiated(3, 4), (4,), differentiated(4)),
    *(
        lambda size=size: functional.group_norm(differentiated(3, 4, size), 2, differentiated(4), differentiated(4))
        for size in (2, 20)
    ),
    lambda: functional.batch_norm(differentiated(3, 4, 2), None, None, differentiated(4), differentiated(4), True),
    lambda: ow.linalg.ldl_solve(*ow.linalg.ldl_factor(ow.eye(3)), randn(3, 2)),
    lambda: ow.linalg.lstsq(randn(4, 3), randn(4, 2), driver="gelsd"),
    lambda: ow.ormqr(*ow.geqrf(randn(4, 4)), randn(4, 4)),
    lambda: randn(4, 3).index_put_((ow.tensor([0, 1]),), randn(3)),
    lambda: ow.multinomial(ow.rand(3, 4), 2, replacement=True),
    lambda: ow.binomial(ow.ones(3) * 4, ow.rand(3)),
    lambda: randn(3).bernoulli_(ow.rand(3)),
    lambda: ow.randperm(4),
    lambda: randn(3, 4).to_sparse_csr() @ randn(4, 2),
    lambda: randn(3, 4).to_sparse_csr() @ randn(4),
    lambda: randn(3, 4).to_sparse_csr() @ randn(4, 5).to_sparse_csr(),
    lambda: ow.sparse.mm(randn(3, 4).to_sparse().requires_grad_(), randn(4, 3).to_sparse().requires_grad_()),
    lambda: ow.sparse_coo_tensor(COORDINATES, randn(3), (3, 3)).coalesce().to_sparse_csr(),
    lambda: internal("csr_order", COLUMNS, 2),
    lambda: internal("csr_product_pattern", STARTS, COLUMNS, STARTS, COLUMNS, 2),
    lambda: ow.randint(3, (4,)),
    lambda: ow.sparse.sampled_addmm(randn(3, 4).to_sparse_csr(), randn(3, 2), randn(2, 4)),
    *(
        lambda dtype=dtype: ow.quantize_per_tensor(randn(3), 0.1, 0, dtype).dequantize()
        for dtype in (ow.quint8, ow.qint8, ow.qint32)
    ),
    lambda: ow.fake_quantize_per_channel_affine(randn(3), ow.rand(3), ow.zeros(3, dtype=ow.int32), 0, 0, 255),
    lambda: ow._int_mm(ow.ones(17, 8, dtype=ow.int8), ow.ones(8, 8, dtype=ow.int8)),
    lambda: functional.scaled_dot_product_attention(*(differentiated(1, 3, 4).to(ow.bfloat16) for _ in range(3))),
)


# ---- errors -------------------------------------------------------------------------------------------------


def plain_calls(op: Op) -> Iterator[Call]:
    """Some calls that have results."""
    chosen = [each for each in calls().get(op, ()) if each.out is None and all(map(is_plain, tensors(each)))]
    return (each for each in chosen[:MOST_CALLS] if error(each, each.args) is None)


def tensors(made: Call) -> list[ow.Tensor]:
    return [each for each in flatten([*made.args])[0] if isinstance(each, ow.Tensor)]


def is_plain(tensor: ow.Tensor) -> bool:
    return tensor.layout is ow.strided and not tensor.is_quantized and 0 < tensor.numel() < MOST_ELEMENTS


def error(made: Call, args: Any) -> Exception | None:
    """The error of the call with other arguments."""
    try:
        call(
            made.op,
            mapped(args, lambda each: each.detach().clone() if isinstance(each, ow.Tensor) else each),
            None,
            made.mode,
        )
    except Exception as found:
        return found
    return None


def with_extremes(made: Call) -> Iterator[Any]:
    """The arguments of a call with extreme elements: of all tensors, and of each one."""
    leaves, structure = flatten([*made.args])
    places = [place for place, each in enumerate(leaves) if isinstance(each, ow.Tensor)]
    for extreme, chosen in product(EXTREMES, (places, *([each] for each in places))):
        yield structure.unflatten(
            filled(each, extreme) if place in chosen else each for place, each in enumerate(leaves)
        )  # fmt: skip


def filled(tensor: ow.Tensor, extreme: float) -> ow.Tensor:
    if tensor.is_floating_point() or tensor.is_complex():
        return ow.full(tensor.shape, float(extreme)).to(tensor.dtype)
    if tensor.dtype is ow.bool:
        return ow.full(tensor.shape, extreme > 0)
    ends = ow.iinfo(tensor.dtype)
    number = 0 if extreme != extreme else min(max(extreme, ends.min), ends.max)
    return ow.full(tensor.shape, int(number), dtype=tensor.dtype)


UNCALLED = ("centred_sums_backward_backward", "convolve_channels2d", "convolve_each_channel2d")
"""Kernels of expressions that divide nothing, which would take larger tensors."""
NEVER = {"sample_nearest", "sample_linear2d", "sample_linear3d", "sample_taps"}
"""Operators that find elements by data, which could only fail where 64 bits do not hold what is computed of it."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(each.name for each in OPERATORS.values()))
def test_errors_depend_on_elements_only_where_the_operator_says_so(name: str) -> None:
    op = next(each for each in OPERATORS.values() if each.name == name)
    made = [*plain_calls(op)]
    assert made or name.startswith(UNCALLED), "it is never called"
    errors = (error(each, args) for each in made for args in with_extremes(each))
    found = next((each for each in errors if each is not None), None)
    assert (found is not None) == (op.may_fail and name not in NEVER), found
