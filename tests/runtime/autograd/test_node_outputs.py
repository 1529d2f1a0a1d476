"""What nodes count as outputs, and what hooks of an output see that no gradient arrives at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import opweave as ow
import pytest
from derivatives import check_outcome

SPLITS: dict[str, Callable[[Any], Any]] = {
    "UnbindBackward0": lambda x: x.unbind(1),
    "SplitBackward0": lambda x: x.split(2, 1),
    "SplitWithSizesBackward0": lambda x: x.split_with_sizes([1, 0, 2], -1),
}


@pytest.mark.parametrize("name", SPLITS)
def test_parts_are_outputs_of_one_node(name: str) -> None:
    parts = SPLITS[name](ow.ones(2, 3, requires_grad=True))
    assert [part.output_nr for part in parts] == list(range(len(parts)))
    assert {part.grad_fn for part in parts} == {parts[0].grad_fn}
    assert parts[0].grad_fn.name() == name


@pytest.mark.parametrize("name", SPLITS)
def test_gradients_of_some_parts(name: str) -> None:
    x = ow.arange(6.0, dtype=ow.float64).reshape(2, 3).requires_grad_()
    assert ow.autograd.gradcheck(lambda x: SPLITS[name](x)[-1] ** 3, x)
    assert ow.autograd.gradgradcheck(lambda x: SPLITS[name](x)[-1] ** 3, x)
    assert ow.autograd.gradgradcheck(lambda x: tuple(part**3 for part in SPLITS[name](x)), x)


@pytest.mark.parametrize("call", ["max(0)", "sort()", "topk(2)", "kthvalue(1)", "mode(0)", "cummin(0)", "frexp()"])
def test_indices_are_no_outputs(call: str) -> None:
    values, indices = eval(f"x.{call}", {"x": ow.rand(3, 3, requires_grad=True)})
    assert not indices.requires_grad
    seen: list[Any] = []
    values.grad_fn.register_prehook(seen.append)
    values.sum().backward()
    assert [len(grads) for grads in seen] == [1]


def test_hooks_are_called_without_a_gradient() -> None:
    x = ow.ones(4, requires_grad=True)
    first, second = x.split(2)
    seen: list[Any] = []
    second.register_hook(seen.append)
    together: list[Any] = []
    ow.autograd.graph.register_multi_grad_hook([first, second], together.append)
    first.sum().backward()
    assert seen == [None]
    assert [[None if grad is None else grad.tolist() for grad in grads] for grads in together] == [[[1, 1], None]]
    assert x.grad.tolist() == [1, 1, 0, 0]


def test_hooks_make_no_gradient_of_none() -> None:
    first, second = ow.ones(4, requires_grad=True).split(2)
    second.register_hook(lambda grad: ow.ones(2))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        first.sum().backward()


def test_hooks_of_a_leaf_are_called_without_a_gradient() -> None:
    class Nothing(ow.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None

    x = ow.ones(2, requires_grad=True)
    seen: list[Any] = []
    x.register_hook(seen.append)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf is x and leaf.grad))
    Nothing.apply(x).sum().backward()
    assert seen == [None, None]


def test_gradients_that_were_made_of_nothing_are_differentiable() -> None:
    x, unused = ow.ones(2, requires_grad=True), ow.ones(2, requires_grad=True)
    (zeros,) = ow.autograd.grad((x**2).sum(), unused, create_graph=True, materialize_grads=True)
    (second,) = ow.autograd.grad(zeros.sum(), x, materialize_grads=True)
    assert second.tolist() == [0, 0]
    (plain,) = ow.autograd.grad((x**2).sum(), unused, materialize_grads=True)
    assert not plain.requires_grad


def test_a_new_size_counts_as_a_write() -> None:
    x = ow.ones(4)
    versions = [x.resize_(*size)._version for size in ((4,), (2, 2), (6,), (6,))]
    assert versions == [0, 1, 2, 2]


OF_KERNELS_WITH_MORE: dict[str, Callable[[Any, Any], Any]] = {
    "var": lambda lib, x: x.var(0),
    "std": lambda lib, x: x.std(1),
    "var_mean": lambda lib, x: lib.var_mean(x, 1),
    "std_mean": lambda lib, x: lib.std_mean(x),
    "det": lambda lib, x: x.det(),
    "slogdet": lambda lib, x: x.slogdet(),
    "solve": lambda lib, x: lib.linalg.solve(x, lib.ones(3, 2, dtype=x.dtype)),
    "solve_ex": lambda lib, x: lib.linalg.solve_ex(x, lib.ones(3, 2, dtype=x.dtype)),
    "lstsq": lambda lib, x: lib.linalg.lstsq(x[:, :2], lib.ones(3, 2, dtype=x.dtype)),
    "layer_norm": lambda lib, x: lib.nn.functional.layer_norm(x, (3,)),
    "native_layer_norm": lambda lib, x: lib.native_layer_norm(x, (3,), None, None, 1e-5),
    "batch_norm": lambda lib, x: lib.nn.functional.batch_norm(x, None, None, training=True),
    "aminmax": lambda lib, x: x.aminmax(dim=1),
    "min": lambda lib, x: x.min(0),
    "svdvals": lambda lib, x: lib.linalg.svdvals(x),
}  # fmt: skip


def with_gradients(library: Any, results: Any) -> list[Any]:
    return [each for each in ([results] if isinstance(results, library.Tensor) else results) if each.requires_grad]


@pytest.mark.oracle
def test_what_a_kernel_computes_besides_is_no_output() -> None:
    def shown(lib: Any, call: Callable[[Any, Any], Any]) -> Any:
        x = lib.tensor([[1.0, 2, 4], [0, 3, 1], [2, 5, -1]], dtype=lib.float64, requires_grad=True)
        results = with_gradients(lib, call(lib, x))
        seen: list[Any] = []
        for each in results:
            each.grad_fn.register_prehook(lambda grads: seen.append([grad is not None for grad in grads]))
            each.grad_fn.register_hook(lambda inputs, grads: seen.append((len(inputs), len(grads))))
        numbers = [each.output_nr for each in results]
        shapes = [[tuple(each.shape) for each in result.grad_fn._input_metadata] for result in results]
        (first,) = lib.autograd.grad(sum(each.cos().sum() for each in results), x, create_graph=True)
        (second,) = lib.autograd.grad((first * first).sum(), x)
        return numbers, shapes, [(each * 1).grad_fn.next_functions[0][1] for each in results], seen[:4], first, second

    for name, call in OF_KERNELS_WITH_MORE.items():
        check_outcome(lambda lib, call=call: shown(lib, call), name)  # type: ignore[misc]


def test_prehooks_replace_the_gradients_that_they_see() -> None:
    x = ow.rand(3, 3, dtype=ow.float64, requires_grad=True)
    deviation, mean = ow.std_mean(x, 1)
    assert deviation.grad_fn is mean.grad_fn
    assert deviation.grad_fn is not None
    deviation.grad_fn.register_prehook(lambda grads: (ow.zeros(3, dtype=ow.float64), 2 * grads[1]))
    (deviation.sum() + mean.sum()).backward()
    assert x.grad is not None
    assert ow.allclose(x.grad, ow.full_like(x.grad, 2 / 3))
    edge = ow.autograd.graph.get_gradient_edge(mean)
    assert edge.output_nr == 1


def test_a_mean_beside_a_deviation_may_be_overwritten() -> None:
    x = ow.arange(6.0).reshape(2, 3).requires_grad_()
    deviation, mean = ow.std_mean(x, 1)
    mean.mul_(3)
    (deviation.sum() + mean.sum()).backward()
    wanted = ow.arange(6.0).reshape(2, 3).requires_grad_()
    (wanted.std(1).sum() + 3 * wanted.mean(1).sum()).backward()
    assert x.grad is not None
    assert wanted.grad is not None
    assert ow.allclose(x.grad, wanted.grad)


def test_gradients_of_one_extremum() -> None:
    x = ow.tensor([[1.0, 5, 5], [2, 2, 7]], requires_grad=True)
    for place, wanted in enumerate([[[1, 0, 0], [0.5, 0.5, 0]], [[0, 0.5, 0.5], [0, 0, 1]]]):
        (grad,) = ow.autograd.grad(x.aminmax(dim=1)[place].sum(), x)
        assert grad.tolist() == wanted


REPLACEMENTS: dict[str, Callable[[Any, tuple[Any, ...]], Any]] = {
    "none": lambda lib, grads: None,
    "the same": lambda lib, grads: grads,
    "fewer": lambda lib, grads: grads[:1],
    "more": lambda lib, grads: (*grads, *grads),
    "nothing": lambda lib, grads: tuple(None for _ in grads),
    "a tensor": lambda lib, grads: grads[0],
    "a list": lambda lib, grads: [*grads],
    "a number": lambda lib, grads: tuple(3 for _ in grads),
    "another shape": lambda lib, grads: tuple(lib.ones(5) for _ in grads),
    "another dtype": lambda lib, grads: tuple(None if each is None else each.double() for each in grads),
    "twice as much": lambda lib, grads: tuple(None if each is None else each * 2 for each in grads),
    "in the place of none": lambda lib, grads: tuple(lib.ones(1) for _ in grads),
}


@pytest.mark.oracle
def test_what_hooks_return() -> None:
    def run(lib: Any, kind: str, change: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
        x, y = lib.ones(1, requires_grad=True), lib.ones(4)

        def before(grads: Any) -> Any:
            return change(lib, grads)

        def after(inputs: Any, grads: Any) -> Any:
            return change(lib, inputs)

        if kind == "register_hook":
            product = x * y
            product.grad_fn.register_hook(after)
            product.sum().backward()
        else:
            first, second = x.expand(4).split(2)
            first.grad_fn.register_prehook(before)
            (first.sum() + 3 * second.sum()).backward()
        return x.grad

    for kind in ("register_prehook", "register_hook"):
        for name, change in REPLACEMENTS.items():
            check_outcome(lambda lib, kind=kind, change=change: run(lib, kind, change), f"{kind} {name}")  # type: ignore[misc]


@pytest.mark.oracle
def test_what_hooks_of_tensors_return() -> None:
    def run(lib: Any, change: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
        x = lib.ones(2, requires_grad=True)
        y = x * 3

        def hook(grad: Any) -> Any:
            changed = change(lib, (grad,))
            return changed[0] if type(changed) is tuple and changed else changed

        y.register_hook(hook)
        y.sum().backward()
        return x.grad

    for name, change in REPLACEMENTS.items():
        check_outcome(lambda lib, change=change: run(lib, change), name)  # type: ignore[misc]
