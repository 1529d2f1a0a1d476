"""`vmap`: what it takes and gives, nested calls, gradients within and around it, random numbers, and refusals."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import opweave as ow
import pytest
from opweave import func, vmap
from opweave._transforms import is_batchedtensor, maybe_current_level, maybe_get_level

X = ow.arange(12.0).view(3, 4)


def test_dimensions_that_go_in_and_come_out() -> None:
    assert vmap(ow.dot)(X, X).tolist() == [14.0, 126.0, 366.0]
    assert vmap(ow.sum, in_dims=1)(X).tolist() == [12.0, 15.0, 18.0, 21.0]
    assert vmap(ow.sum, in_dims=-1)(X).tolist() == [12.0, 15.0, 18.0, 21.0]
    assert vmap(lambda x, y: x + y, in_dims=(0, None), out_dims=1)(X, ow.ones(4)).equal((X + 1).t())
    assert vmap(lambda x, y: x["a"] * y, in_dims=({"a": 0}, None))({"a": X}, 2.0).equal(2 * X)
    first, (second, third) = vmap(lambda x: (x[0], [x, ow.ones(2)]), out_dims=(0, [-1, 0]))(X)
    assert (first.tolist(), second.shape, third.tolist()) == ([0.0, 4.0, 8.0], (4, 3), [[1.0, 1.0]] * 3)
    assert vmap(lambda x: (x, 3), out_dims=(0, None))(X)[1] == 3
    assert vmap(ow.sum)(ow.empty(0, 4)).shape == (0,)


def test_samples_look_like_samples() -> None:
    def function(x: ow.Tensor) -> ow.Tensor:
        assert (x.shape, x.stride(), x.dtype, x.device) == ((4,), (1,), ow.float32, ow.device("cpu"))
        assert is_batchedtensor(x)
        assert (maybe_get_level(x), maybe_current_level()) == (1, 1)
        return x

    assert vmap(function)(X).equal(X)
    assert (is_batchedtensor(X), maybe_current_level()) == (False, None)


def test_nested() -> None:
    outer = vmap(vmap(lambda x, y: x * y, in_dims=(0, None)), in_dims=(None, 0))
    assert outer(ow.arange(3.0), ow.arange(2.0)).tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]]
    captured = vmap(lambda x: vmap(lambda y: x.sum() * y)(x))(X)
    assert captured.equal(X.sum(1, keepdim=True) * X)
    assert vmap(vmap(ow.sum))(X.view(3, 2, 2)).tolist() == [[1.0, 5.0], [9.0, 13.0], [17.0, 21.0]]


def test_chunks() -> None:
    sizes = []

    def function(x: ow.Tensor, y: ow.Tensor) -> tuple[ow.Tensor, ow.Tensor]:
        sizes.append(vmap(lambda _: ow.ones(()), out_dims=None) and x.shape)
        return x + y, x.sum()

    total, sums = vmap(function, in_dims=(0, None), out_dims=(1, 0), chunk_size=2)(X, ow.ones(4))
    assert total.equal((X + 1).t())
    assert sums.equal(X.sum(1))
    assert len(sizes) == 2


def test_dtypes_are_those_of_samples() -> None:
    """A sample without dimensions gives way to a tensor with some."""
    scalars = ow.arange(3.0, dtype=ow.float64)
    assert vmap(lambda x, y: x * y, in_dims=(0, None))(scalars, ow.ones(2)).dtype is ow.float32
    assert vmap(lambda x, y: x * y)(scalars, X).dtype is ow.float32
    assert vmap(lambda x, y: x + y, in_dims=(0, None))(X[:, 0], ow.tensor(1.0, dtype=ow.float64)).dtype is ow.float64
    assert vmap(lambda x: x + 1.5)(ow.arange(3)).dtype is ow.float32


def test_gradients_within() -> None:
    got = vmap(func.grad(lambda x: (x.sin() * x).sum()))(X)
    ow.testing.assert_close(got, X.cos() * X + X.sin())
    second = vmap(func.grad(lambda x: func.grad(lambda y: (y**3).sum())(x).sum()))(X)
    ow.testing.assert_close(second, 6 * X)


def test_gradients_around() -> None:
    def total(x: ow.Tensor) -> ow.Tensor:
        return vmap(lambda each: each.softmax(0).square().sum())(x).sum()

    ow.testing.assert_close(func.grad(total)(X), func.grad(lambda x: x.softmax(1).square().sum())(X))
    x = X.clone().requires_grad_()
    vmap(lambda each: each.exp())(x / 10).sum().backward()
    assert x.grad is not None
    ow.testing.assert_close(x.grad, (X / 10).exp() / 10)
    nested = func.grad(lambda x: vmap(func.grad(lambda y: (y**3).sum()))(x).sum())(X)
    ow.testing.assert_close(nested, 6 * X)


def test_gradients_of_each_sample() -> None:
    ow.manual_seed(0)
    model = ow.nn.Sequential(ow.nn.Conv2d(2, 3, 3), ow.nn.ReLU(), ow.nn.Flatten(), ow.nn.Linear(12, 5))
    parameters = {name: each.detach() for name, each in model.named_parameters()}
    images, labels = ow.randn(4, 2, 4, 4), ow.tensor([0, 4, 2, 2])

    def loss(parameters: Any, image: ow.Tensor, label: ow.Tensor) -> ow.Tensor:
        scores = func.functional_call(model, parameters, (image.unsqueeze(0),))
        return ow.nn.functional.cross_entropy(scores, label.unsqueeze(0))

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none is called for each sample
        got = vmap(func.grad(loss), in_dims=(None, 0, 0))(parameters, images, labels)
    for index in range(4):
        want = func.grad(loss)(parameters, images[index], labels[index])
        for name, each in want.items():
            ow.testing.assert_close(got[name][index], each)


@pytest.mark.filterwarnings("error:There is a performance drop")
@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        (ow.nn.LayerNorm((3, 4)), (2, 3, 4)),
        (ow.nn.RMSNorm(4), (3, 4)),
        (ow.nn.RMSNorm(4), (4,)),
        (ow.nn.GroupNorm(2, 4), (1, 4, 3)),
        (ow.nn.LayerNorm(4).bfloat16(), (3, 4)),
        (ow.nn.Conv1d(4, 6, 2, groups=2), (1, 4, 5)),
        (ow.nn.Conv2d(4, 4, 3, groups=4, padding=1), (2, 4, 5, 5)),
        (ow.nn.Conv2d(2, 3, 3, stride=2, bias=False), (2, 2, 5, 5)),
        (ow.nn.Conv3d(2, 3, 2), (1, 2, 3, 3, 3)),
        (ow.nn.ConvTranspose2d(2, 3, 2, stride=2), (1, 2, 3, 3)),
    ],
    ids=repr,
)
def test_gradients_of_each_sample_by_weights(model: Any, sizes: Any) -> None:
    parameters = {name: each.detach() + 0.1 for name, each in model.named_parameters()}
    samples = ow.randn(5, *sizes, generator=ow.Generator().manual_seed(3)).to(next(iter(parameters.values())).dtype)
    gradient = func.grad(lambda parameters, x: func.functional_call(model, parameters, (x,)).float().square().sum())
    got = vmap(gradient, (None, 0))(parameters, samples)
    for name, each in got.items():
        want = ow.stack([gradient(parameters, sample)[name] for sample in samples])
        ow.testing.assert_close(each, want)
    # And of weights that each sample has itself.
    several = {name: ow.stack([each, 2 * each]) for name, each in parameters.items()}
    got = vmap(gradient)(several, samples[:2])
    for name, each in got.items():
        one, other = ({key: value[index] for key, value in several.items()} for index in (0, 1))
        ow.testing.assert_close(each, ow.stack([gradient(one, samples[0])[name], gradient(other, samples[1])[name]]))


def test_ensembles() -> None:
    """Models of the same form, with a dimension of the batch in their parameters."""
    models = [ow.nn.Sequential(ow.nn.Linear(4, 3), ow.nn.Tanh(), ow.nn.Linear(3, 2)) for _ in range(3)]
    stacked = {
        name: ow.stack([dict(model.named_parameters())[name] for model in models]).detach()
        for name, _ in models[0].named_parameters()
    }
    got = vmap(partial(func.functional_call, models[0]), in_dims=(0, None))(stacked, (X,))
    ow.testing.assert_close(got, ow.stack([model(X) for model in models]).detach())


def test_views_and_writes() -> None:
    def function(x: ow.Tensor) -> ow.Tensor:
        y = x.new_zeros(4)
        y[1:3] = x[:2]
        y[0] += 5
        y.view(2, 2).t()[1].mul_(2)
        return y

    assert vmap(function)(X).equal(ow.stack([function(each) for each in X]))
    batch = X.clone()
    vmap(lambda x: x.add_(1))(batch)
    assert batch.equal(X + 1)


def test_gradients_of_writes_through_views() -> None:
    def function(x: ow.Tensor) -> ow.Tensor:
        y = x.clone()
        y.view(2, 2).t()[1].mul_(x[:2])
        y[0] = y[3] * 2
        return (y * x).sum()

    got, want = vmap(func.grad(function))(X), ow.stack([func.grad(function)(each) for each in X])
    ow.testing.assert_close(got, want)
    whole = func.grad(lambda x: vmap(function)(x).sum())(X)
    ow.testing.assert_close(whole, want)

    def overwritten(x: ow.Tensor) -> ow.Tensor:
        y = x.exp()
        y[0] = 1
        return y.sum()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        vmap(func.grad(overwritten))(X)


def test_indices() -> None:
    places = ow.tensor([[0, 1], [3, 0], [2, 2]])
    assert vmap(lambda x, i: x[i])(X, places).equal(X.gather(1, places))
    assert vmap(lambda x, i: x[i], in_dims=(None, 0))(X, places.clamp(max=2)).shape == (3, 2, 4)
    volume = ow.arange(24.0).view(2, 3, 4)
    index = ow.tensor([[0, 2], [1, 1]])
    for function in (
        lambda x, i: x[:, i],
        lambda x, i: x[i],
        lambda x, i: x[i, 1],
        lambda x, i: x[1, i],
        lambda x, i: x.index_select(0, i),
    ):
        got = vmap(function)(volume, index)
        assert got.equal(ow.stack([function(x, i) for x, i in zip(volume, index, strict=True)]))

    def written(x: ow.Tensor, i: ow.Tensor) -> ow.Tensor:
        x = x.clone()
        x[:, i] = x[:, :2] + 100
        return x

    assert vmap(written)(volume, index).equal(ow.stack([written(x, i) for x, i in zip(volume, index, strict=True)]))


def test_small_shapes() -> None:
    numbers, rows = ow.arange(3.0), ow.arange(6.0).view(3, 2)
    for function, batch in (
        (lambda x: x.amax(()), numbers),
        (lambda x: x.amax((), keepdim=True), rows),
        (lambda x: x.sum(0), numbers),
        (lambda x: x.t(), numbers),
        (lambda x: x.t(), rows),
        (lambda x: ow.take(x, ow.tensor([[-1, 0]])), rows),
        (lambda x: ow.take(x, ow.tensor(0)), numbers),
        (lambda x: x.sort(0).values, numbers),
        (lambda x: x.cumsum(-1), numbers),
        (lambda x: x.softmax(0), numbers),
        (lambda x: x.unsqueeze(-1).squeeze(), numbers),
        (lambda x: x.max(), rows),
        (lambda x: x.roll(1, 0), rows),
        (lambda x: x.roll((1,), (0,)), rows),
        (lambda x: x.roll(1), rows),
        (lambda x: x.flip(0), rows),
        (lambda x: x.repeat(2), rows),
        (lambda x: x.repeat(2, 1), numbers),
        (lambda x: x.argmax(keepdim=True), rows),
    ):
        assert vmap(function)(batch).equal(ow.stack([function(each) for each in batch]))
    index = ow.tensor([[0, -1], [1, 1], [-2, 0]])
    assert vmap(ow.take)(rows, index).tolist() == [[0.0, 1.0], [3.0, 3.0], [4.0, 4.0]]


@pytest.mark.parametrize("dtype", [ow.float32, ow.int64])
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (2, 3), (0, 2), (0.25, 0.75)])
def test_sums_with_products(dtype: ow.dtype, beta: float, alpha: float) -> None:
    vectors, matrices = ow.arange(6).view(2, 3).to(dtype), ow.arange(18).view(2, 3, 3).to(dtype)

    def functions(matrix: ow.Tensor, vector: ow.Tensor) -> tuple[ow.Tensor, ow.Tensor]:
        factors: Any = {"beta": beta, "alpha": alpha}
        return ow.addmv(vector, matrix, vector, **factors), ow.addmm(vector, matrix, matrix, **factors)

    for got, want in zip(
        vmap(functions)(matrices, vectors), zip(*map(functions, matrices, vectors), strict=True), strict=True
    ):
        ow.testing.assert_close(got, ow.stack(list(want)))


def test_sums_with_products_in_place() -> None:
    vectors, matrices = ow.arange(6.0).view(2, 3), ow.arange(18.0).view(2, 3, 3)
    fixed = ow.eye(3)

    def functions(matrix: ow.Tensor, vector: ow.Tensor) -> tuple[ow.Tensor, ow.Tensor]:
        return vector.clone().addmv_(fixed, vector, beta=2), matrix.clone().addmm_(fixed, matrix, alpha=3)

    for got, want in zip(vmap(functions)(matrices, vectors), (vectors * 3, matrices + 3 * matrices), strict=True):
        ow.testing.assert_close(got, want)
    with pytest.raises(RuntimeError, match="vmap"):
        vmap(lambda matrix: fixed.addmm_(matrix, matrix))(matrices)


def test_random_numbers() -> None:
    def function(x: ow.Tensor) -> ow.Tensor:
        return x + ow.rand(4) + ow.randn_like(x) + x.new_empty(4).uniform_()

    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(function)(X)
    same = vmap(function, randomness="same")(X) - X
    assert same[0].allclose(same[2], atol=1e-5)
    different = vmap(function, randomness="different")(X) - X
    assert not different[0].allclose(different[2])
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        vmap(lambda x: x + ow.ones(4).uniform_(), randomness="different")(X)
    assert vmap(lambda x: ow.randperm(5), randomness="different")(X).shape == (3, 5)
    assert vmap(lambda x: ow.rand(2), randomness="same")(X).shape == (3, 2)


def test_what_has_no_rule_is_called_for_each_sample() -> None:
    with pytest.warns(UserWarning, match=r"bucketize has no batching rule: it is called for each of 3 samples"):
        got = vmap(lambda x, y: ow.bucketize(x, y))(X, X[:, :2].contiguous())
    assert got.equal(ow.stack([ow.bucketize(x, y) for x, y in zip(X, X[:, :2], strict=True)]))


def test_checks_are_those_of_all_samples() -> None:
    table = ow.ones(3, 2)
    with pytest.raises(IndexError, match="out of range"):
        vmap(lambda i: ow.nn.functional.embedding(i, table))(ow.tensor([0, 3]))
    with pytest.raises(ow.linalg.LinAlgError, match="a matrix of the batch has no result"):
        vmap(ow.linalg.inv)(ow.stack([ow.eye(2), ow.zeros(2, 2)]))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: x.sum().item(), r"calling \.item\(\) on a Tensor"),
        (lambda x: x if x.sum() > 0 else -x, "data-dependent control flow"),
        (lambda x: ow.ones(4).add_(x), "`other` is batched and `self` is not"),
        (lambda x: x[x > 0], "boolean mask"),
        (lambda x: x.nonzero(), "dynamic shape"),
        (lambda x: ow.add(x, 1, out=ow.empty(4)), r"aten::add\.out"),
        (lambda x: x.clone().resize_(2), "changes the memory"),
    ],
)
def test_functions_that_are_refused(function: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        vmap(function)(X)
    assert maybe_current_level() is None


def test_samples_that_escape() -> None:
    kept = []
    vmap(lambda x: kept.append(x) or x)(X)
    with pytest.raises(RuntimeError, match="used after that call has ended"):
        kept[0] + 1


def named(x: Any, y: Any = None) -> Any:
    return x


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: vmap(named, in_dims=[0])(X),
            ValueError,
            r"vmap\(named, in_dims=\[0\], \.\.\.\)\(<inputs>\): expected `in_dims`",
        ),
        (lambda: vmap(named)(), ValueError, r"vmap\(named\)\(<inputs>\): got no inputs"),
        (
            lambda: vmap(named, in_dims=(0, 0))(X),
            ValueError,
            "in_dims is not compatible with the structure of `inputs`",
        ),
        (lambda: vmap(named, in_dims=("a",))(X), ValueError, "Got in_dim=a for an input but in_dim must be either"),
        (lambda: vmap(named)(3.0), ValueError, "Got in_dim=0 for an input but the input is of type <class 'float'>"),
        (
            lambda: vmap(named, in_dims=2)(X),
            ValueError,
            "dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2",
        ),
        (lambda: vmap(named)(X, X[:2]), ValueError, r"same size in the mapped dimension, got sizes \[3, 2\]"),
        (lambda: vmap(named, in_dims=None)(X), ValueError, "expected `in_dims` to be int or a"),
        (lambda: vmap(named, in_dims=(None,))(X), ValueError, "Expected at least one Tensor to vmap over"),
        (lambda: vmap(lambda x: 3)(X), ValueError, "must only return Tensors, got type <class 'int'>"),
        (lambda: vmap(named, out_dims=None)(X), ValueError, "can not return a BatchedTensor when out_dim is None"),
        (lambda: vmap(named, out_dims=(0, 0))(X), ValueError, "out_dims is not compatible with the structure"),
        (lambda: vmap(named, out_dims="a")(X), ValueError, "`out_dims` must be an int, None or a python collection"),
        (lambda: vmap(named, out_dims=5)(X), IndexError, "Dimension out of range"),
        (lambda: vmap(named, randomness="some"), RuntimeError, "Only allowed values for randomness"),
        (lambda: vmap(named, chunk_size=0), ValueError, "chunk_size should be None or greater than 0"),
        (lambda: vmap(partial(named, y=1), in_dims=3)(X), ValueError, r"functools\.partial\(named, \.\.\.\)"),
    ],
)
def test_arguments_that_are_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_sums_over_rows_are_those_of_each_sample() -> None:
    norm = ow.nn.LayerNorm(3)
    parameters = {name: each.detach() for name, each in norm.named_parameters()}
    x = ow.arange(12.0).view(2, 2, 3).square()

    def loss(parameters: Any, sample: Any) -> Any:
        return ow.func.functional_call(norm, parameters, (sample,)).square().sum()

    gradient = ow.func.grad(loss)
    found = ow.vmap(gradient, in_dims=(None, 0))(parameters, x)
    for name in parameters:
        expected = ow.stack([gradient(parameters, sample)[name] for sample in x])
        assert ow.allclose(found[name], expected, atol=1e-5)


def test_positions_in_flattened_samples() -> None:
    index = ow.tensor([[0, -1], [3, 1], [2, 2]])
    source = ow.tensor([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert vmap(ow.take)(X, index).tolist() == [[0.0, 3.0], [7.0, 5.0], [10.0, 10.0]]
        for accumulate in (False, True):
            got = vmap(partial(ow.Tensor.put, accumulate=accumulate))(X, index, source)
            want = [x.put(*each, accumulate) for x, *each in zip(X, index, source, strict=True)]
            assert (got == ow.stack(want)).all()
    with pytest.raises(IndexError, match="out of range: tried to access index 4 on a tensor of 4 elements"):
        vmap(ow.take)(X, index + 1)
