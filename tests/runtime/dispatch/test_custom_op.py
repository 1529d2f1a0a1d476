"""Operators of users: schemas, kernels, fakes, gradients, and what refuses to be one."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import opweave
import pytest
from opweave import Tensor, library
from opweave._dispatch import dispatcher
from opweave.utils._python_dispatch import TorchDispatchMode


@library.custom_op("test_ops::scaled", mutates_args=())
def scaled(x: Tensor, factor: int = 2, *, power: float = 1.0) -> Tensor:
    """x ** power * factor"""
    return opweave.from_numpy(x.numpy() ** power * factor).to(x.dtype)


@scaled.register_fake
def _(x: Any, factor: int = 2, *, power: float = 1.0) -> Any:
    return opweave.empty_like(x)


def _keep(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    x, ctx.factor = inputs
    ctx.power = keyword_only_inputs["power"]
    ctx.save_for_backward(x)


def _backward(ctx: Any, grad: Any) -> Any:
    (x,) = ctx.saved_tensors
    return grad * ctx.factor * ctx.power * x ** (ctx.power - 1), None


scaled.register_autograd(_backward, setup_context=_keep)


@library.custom_op("test_ops::sums", mutates_args=())
def sums(tensors: list[Tensor], weights: Sequence[int]) -> list[Tensor]:
    return [each * weight for each, weight in zip(tensors, weights, strict=True)]


sums.register_autograd(lambda ctx, grads: ([grad * 10 for grad in grads], None))


@library.custom_op("test_ops::clear", mutates_args=("x",))
def clear(x: Tensor) -> None:
    x.numpy()[:] = 0


@library.custom_op("test_ops::both", mutates_args=())
def both(x: Tensor) -> tuple[Tensor, Tensor]:
    return x + 1, x * 2


def test_calls() -> None:
    x = opweave.tensor([1.0, 2.0])
    assert scaled(x).tolist() == [2.0, 4.0]
    assert scaled(x, 3, power=2).tolist() == [3.0, 12.0]
    assert opweave.ops.test_ops.scaled(x, factor=5).tolist() == [5.0, 10.0]
    assert opweave.ops.test_ops.scaled.default(x).tolist() == [2.0, 4.0]
    out = opweave.empty(2)
    assert scaled(x, out=out) is out
    assert out.tolist() == [2.0, 4.0]
    assert [each.tolist() for each in both(x)] == [[2.0, 3.0], [2.0, 4.0]]
    assert [each.tolist() for each in sums([x, x], [2, 3])] == [[2.0, 4.0], [3.0, 6.0]]
    assert (repr(scaled), scaled.__doc__) == ("<CustomOpDef(test_ops::scaled)>", "x ** power * factor")


def test_schemas() -> None:
    schema = "test_ops::scaled(Tensor x, SymInt factor=2, *, float power=1.0) -> Tensor"
    assert str(opweave.ops.test_ops.scaled.default._schema) == schema
    assert str(opweave.ops.test_ops.clear.default._schema) == "test_ops::clear(Tensor(a0!) x) -> ()"
    assert str(opweave.ops.test_ops.both.default._schema) == "test_ops::both(Tensor x) -> (Tensor, Tensor)"
    assert str(opweave.ops.test_ops.scaled.default) == "test_ops.scaled.default"


def test_gradients() -> None:
    x = opweave.tensor([1.0, 2.0], requires_grad=True)
    result = scaled(x, 3, power=2)
    assert type(result.grad_fn).__name__ == "GeneratedBackwardFor_test_ops_scaled_defaultBackward"
    result.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, 12.0]
    x64 = opweave.tensor([1.0, 2.0], dtype=opweave.float64, requires_grad=True)
    assert opweave.autograd.gradcheck(lambda each: scaled(each, 3, power=2), (x64,))


def test_gradients_by_tensors_in_lists() -> None:
    x, y = opweave.ones(1, requires_grad=True), opweave.ones(1)
    first, second = sums([x, y], [2, 3])
    (first + second).backward()
    assert x.grad is not None
    assert x.grad.item() == 10.0


def test_without_a_formula() -> None:
    x = opweave.ones(2, requires_grad=True)
    first, _ = both(x)
    assert first.requires_grad
    text = (
        r"^Trying to backward through test_ops.both.default but no autograd formula was registered\. Please use regis"
    )
    with pytest.raises(RuntimeError, match=text):
        first.sum().backward()


def test_fakes() -> None:
    fake = scaled(opweave.empty(3, 2, device="meta", dtype=opweave.float64))
    assert (fake.device.type, fake.shape, fake.dtype) == ("meta", (3, 2), opweave.float64)
    text = r"test_ops::both has no implementation for meta tensors: .*register_fake\('test_ops::both'\)"
    with pytest.raises(NotImplementedError, match=text):
        both(opweave.empty(2, device="meta"))
    clear(opweave.empty(2, device="meta"))


def test_writing_to_an_argument() -> None:
    x = opweave.ones(2)
    version = x._version
    assert clear(x) is None
    assert x.tolist() == [0.0, 0.0]
    assert x._version > version
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator <CustomOpDef"):
        clear.register_autograd(lambda ctx, grad: grad)


def test_subclasses_and_modes() -> None:
    seen: list[Any] = []

    class Seen(Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = opweave.ones(2).as_subclass(Seen)
    assert type(scaled(x)) is Seen
    with Log():
        scaled(opweave.ones(1, requires_grad=True))
    assert seen == [opweave.ops.test_ops.scaled.default, "aten.ones.default", "test_ops.scaled.default"]


@pytest.fixture
def answering() -> Iterator[Callable[[Any], Any]]:
    """Has what it is given answer calls of an operator for tensors of derived classes."""
    yield library.register("test_ops::scaled", "subclass")
    dispatcher.unregister("subclass", scaled._opoverload.op)


def test_a_handler(answering: Callable[[Any], Any]) -> None:
    class Other(Tensor):
        pass

    @answering
    def handler(op: Any, args: Any, out: Any, mode: int) -> Any:
        return opweave.zeros(1) if args[1] == 2 else 5

    x = opweave.ones(2).as_subclass(Other)
    assert scaled(x).tolist() == [0.0]
    text = (
        r"^handler, registered for test_ops::scaled and the key 'subclass', returned int, but the schema .* says Tenso"
    )
    with pytest.raises(TypeError, match=text):
        scaled(x, 3)


def test_kernels_of_devices() -> None:
    @library.custom_op("test_ops::placed", mutates_args=(), device_types="cuda")
    def placed(x: Tensor) -> Tensor:
        raise AssertionError

    text = r"^test_ops::placed has no implementation for cpu tensors; register one with .*_kernel\('test_ops::placed', "
    with pytest.raises(NotImplementedError, match=text):
        placed(opweave.ones(1))
    placed.register_kernel("cpu")(lambda x: x + 1)
    assert placed(opweave.ones(1)).item() == 2.0


def test_results_that_the_schema_does_not_allow() -> None:
    @library.custom_op("test_ops::wrong", mutates_args=())
    def wrong(x: Tensor, how: int) -> tuple[Tensor, Tensor]:
        return {0: x, 1: (x + 1,), 2: (x + 1, 3), 3: (x + 1, x)}[how]  # type: ignore[return-value]

    x = opweave.ones(1)
    start = r"^the cpu kernel of test_ops::wrong returned "
    schema = r"but the schema wrong\(Tensor x, SymInt how\) -> \(Tensor, Tensor\)"
    with pytest.raises(TypeError, match=rf"{start}Tensor, {schema} has 2 results$"):
        wrong(x, 0)
    with pytest.raises(TypeError, match=rf"{start}tuple of 1, {schema} has 2 results$"):
        wrong(x, 1)
    with pytest.raises(TypeError, match=rf"{start}int as result 1, {schema} says Tensor$"):
        wrong(x, 2)
    with pytest.raises(
        RuntimeError, match=r"^wrong \(with implementation in .*The output of this custom operator \(1\)"
    ):
        wrong(x, 3)


def test_arguments_that_the_schema_does_not_allow() -> None:
    with pytest.raises(TypeError, match=r"scaled\(\): argument 'x' \(position 1\) must be Tensor, not int"):
        scaled(3)
    with pytest.raises(TypeError, match=r"scaled\(\): argument 'factor' \(position 2\) must be int, not str"):
        scaled(opweave.ones(1), "a")
    with pytest.raises(TypeError, match=r"scaled\(\) got an unexpected keyword argument 'factr'"):
        scaled(opweave.ones(1), factr=1)
    assert scaled(opweave.ones(1), np.int64(3)).item() == 3.0


def test_definitions_that_are_refused() -> None:
    def untyped(x):  # type: ignore[no-untyped-def]
        return x

    def typed(x: Tensor) -> Tensor:
        return x

    define = library.custom_op
    with pytest.raises(
        ValueError, match=r"^infer_schema\(func\): Parameter x must have a type annotation\. Got func with"
    ):
        define("test_ops::untyped", mutates_args=())(untyped)
    with pytest.raises(
        ValueError, match=r"^infer_schema\(func\): \{'y'\} in mutates_args were not found in the custom op"
    ):
        define("test_ops::typed", mutates_args=("y",))(typed)
    with pytest.raises(
        ValueError, match=r"^Attempted to create a custom op with `mutates_args=\('x',\)` and `schema=\(Ten"
    ):
        define("test_ops::typed", mutates_args=("x",), schema="(Tensor x) -> Tensor")(typed)
    with pytest.raises(NotImplementedError, match=r"^custom_op with kwarg-only Tensor args\."):
        define("test_ops::typed", mutates_args=(), schema="(*, Tensor x) -> Tensor")(typed)
    with pytest.raises(RuntimeError, match=r"unknown type 'Tensro' \(did you mean 'Tensor'\?\)"):
        define("test_ops::typed", mutates_args=(), schema="(Tensro x) -> Tensor")(typed)
    with pytest.raises(ValueError, match=r"the namespace 'aten' is reserved"):
        define("aten::typed", mutates_args=())(typed)
    with pytest.raises(ValueError, match=r"expected a name of the form 'namespace::name', but got 'typed'"):
        define("typed", mutates_args=())(typed)


def test_infer_schema() -> None:
    def function(
        a: Tensor,
        b: Tensor | None,
        c: list[Tensor],
        d: Sequence[int] | None = None,
        e: int | float | bool = 1,
        *,
        f: str = "x",
        g: opweave.dtype = opweave.float32,
        h: bool | None = None,
    ) -> tuple[Tensor, int]:
        raise AssertionError

    tensors, others = "Tensor a, Tensor? b, Tensor[] c", "SymInt[]? d=None, Scalar e=1"
    text = f'{tensors}, {others}, *, str f="x", ScalarType g=float32, bool? h=None'
    assert library.infer_schema(function, mutates_args=()) == f"({text}) -> (Tensor, SymInt)"
    assert library.infer_schema(function, mutates_args=("a", "c"), op_name="f").startswith(
        "f(Tensor(a0!) a, Tensor? b, Tensor(a2!)[] c, "
    )


def test_libraries() -> None:
    lib = library.Library("test_lib", "DEF")
    assert lib.define("shift(Tensor x, int n=1) -> Tensor") == "shift"
    lib.define("shift.by(Tensor x,Tensor by)->(Tensor)")
    with pytest.raises(NotImplementedError, match=r"test_lib::shift has no implementation for cpu tensors"):
        opweave.ops.test_lib.shift(opweave.ones(1))
    lib.impl("shift", lambda x, n=1: x + n, "CPU")
    lib.impl("shift.by", lambda x, by: x + by)
    x = opweave.ones(1, requires_grad=True)
    assert opweave.ops.test_lib.shift.overloads() == ["default", "by", "out"]
    assert opweave.ops.test_lib.shift(opweave.ones(1), 2).item() == 3.0
    opweave.ops.test_lib.shift.by(x, opweave.ones(1)).backward()  # by the operators that it is made of
    assert x.grad is not None
    library.define("test_lib::other", "(Tensor x) -> Tensor")
    library.impl("test_lib::other", "cpu", lambda x: x * 2)
    library.register_fake("test_lib::other", opweave.empty_like)
    assert opweave.ops.test_lib.other(opweave.ones(1, device="meta")).device.type == "meta"
    with pytest.raises(RuntimeError, match="with the same name and overload name multiple times"):
        lib.define("shift(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="operator test_lib::nothing does not exist"):
        library.register_kernel("test_lib::nothing", "cpu", lambda x: x)
    with pytest.raises(ValueError, match="Unsupported kind: FOO"):
        library.Library("test_lib", "FOO")


def test_a_fake_waits_for_its_operator() -> None:
    library.register_fake("test_lib::later", opweave.empty_like)
    library.define("test_lib::later", "(Tensor x) -> Tensor")
    assert opweave.ops.test_lib.later(opweave.ones(2, device="meta")).shape == (2,)


def test_a_library_takes_its_operators_with_it() -> None:
    lib = library.Library("test_gone", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    other = library.Library("test_gone", "IMPL")
    other.impl("f", lambda x: x + 1, "CPU")
    function = opweave.ops.test_gone.f
    assert function(opweave.ones(1)).item() == 2.0
    del other
    gc.collect()
    with pytest.raises(NotImplementedError, match="test_gone::f has no implementation"):
        function(opweave.ones(1))
    lib.impl("f", lambda x: x + 1, "CPU")
    del lib
    gc.collect()
    with pytest.raises(AttributeError, match="'test_gone' object has no attribute 'f'"):
        _ = opweave.ops.test_gone.f
    with pytest.raises(NotImplementedError, match="test_gone::f has no implementation"):
        function(opweave.ones(1))
    with library._scoped_library("test_gone", "FRAGMENT") as again:
        again.define("f(Tensor x, int y) -> Tensor")
        assert str(opweave.ops.test_gone.f.default._schema) == "test_gone::f(Tensor x, int y) -> Tensor"
    assert not hasattr(opweave.ops.test_gone, "f")


def test_kernels_by_names_of_keys() -> None:
    lib = library.Library("test_keys", "DEF")
    lib.define("add_one_(Tensor(a!) x) -> ()")
    lib.impl("add_one_", lambda x: x.add_(1) and None, "CPU")
    x = opweave.ones(1)
    assert opweave.ops.test_keys.add_one_(x) is None
    assert x.item() == 2.0
    lib.define("made(Tensor? x, *, ScalarType dtype=float64) -> Tensor")
    lib.impl("made", lambda x, dtype: opweave.zeros(1, dtype=dtype), "CompositeExplicitAutograd")
    lib.impl("made", lambda x, dtype: x.to(dtype), "Meta")
    assert opweave.ops.test_keys.made(None).dtype is opweave.float64
    assert opweave.ops.test_keys.made(opweave.ones(3, device="meta"), dtype=opweave.int8).shape == (3,)
    with pytest.raises(ValueError, match="unknown dispatch key 'Sparse'; there are CPU, CUDA, Meta, "):
        lib.impl("made", lambda x: x, "Sparse")


def test_the_last_definition_counts() -> None:
    for number in (1, 2):
        again = library.custom_op("test_ops::again", mutates_args=(), schema="(Tensor x) -> Tensor")(
            lambda x, number=number: x + number
        )
    assert again(opweave.ones(1)).item() == 3.0
    assert opweave.ops.test_ops.again(opweave.ones(1)).item() == 3.0


# ---- opcheck ------------------------------------------------------------------------------------------------

TESTS = ["test_schema", "test_autograd_registration", "test_faketensor"]


def test_opcheck() -> None:
    x = opweave.tensor([[1.0, 2.0]], requires_grad=True)
    assert library.opcheck(scaled, (x, 3), {"power": 2}) == dict.fromkeys(TESTS, "SUCCESS")
    assert library.opcheck(clear, (opweave.ones(2),)) == dict.fromkeys(TESTS, "SUCCESS")
    for op, args in {
        opweave.ops.aten.sin: (x,),
        opweave.ops.aten.add_: (x.detach(), 1),
        opweave.ops.aten.t: (x,),
    }.items():
        assert library.opcheck(op, args, test_utils=TESTS) == dict.fromkeys(TESTS, "SUCCESS")


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        (
            lambda x: opweave.empty_like(x, dtype=opweave.float64),
            "the result has dtype opweave.float32, but the fake's has",
        ),
        (lambda x: x.new_empty(3, 2), r"the result has shape \(2, 3\), but the fake's has \(3, 2\)"),
        (lambda x: x.new_empty(3, 2).t(), r"the result has strides \(3, 1\), but the fake's has \(1, 2\)"),
        (lambda x: opweave.empty(2, 3), "the fake returned the result on cpu, but it must be on meta"),
        (lambda x: None, "the fake of test_ops::faked returned NoneType, but the schema"),
    ],
)
def test_opcheck_finds_a_wrong_fake(fake: Any, message: str) -> None:
    faked = library.custom_op("test_ops::faked", mutates_args=(), schema="(Tensor x) -> Tensor")(lambda x: x + 1)
    faked.register_fake(fake)
    with pytest.raises(library.OpCheckError, match=rf"^opcheck\(op, \.\.\.\): test_faketensor failed with {message}"):
        library.opcheck(faked, (opweave.ones(2, 3),))


def test_opcheck_finds_what_the_schema_does_not_say() -> None:
    x = opweave.ones(2)
    writing = library.custom_op("test_ops::writing", mutates_args=(), schema="(Tensor x) -> Tensor")(
        lambda x: x.add_(1) + 1
    )
    writing.register_fake(opweave.empty_like)
    with pytest.raises(library.OpCheckError, match="argument x is not defined as mutable but was mutated"):
        library.opcheck(writing, (x,))
    assert x.tolist() == [1.0, 1.0]
    viewing = library.custom_op("test_ops::viewing", mutates_args=(), schema="(Tensor x) -> Tensor")(
        lambda x: x.view(2)
    )
    results = library.opcheck(viewing, (x,), raise_exception=False)
    assert "may not alias any inputs" in str(results["test_schema"])
    with pytest.raises(ValueError, match=r"expected test_utils to be subset of \('test_schema', "):
        library.opcheck(viewing, (x,), test_utils="test_everything")
    with pytest.raises(ValueError, match=r"op must be instance of OpOverload"):
        library.opcheck(opweave.add, (x,))


def test_opcheck_finds_a_wrong_gradient() -> None:
    wrong = library.custom_op("test_ops::graded", mutates_args=(), schema="(Tensor x) -> Tensor")(lambda x: x + 1)
    wrong.register_autograd(lambda ctx, grad: grad.new_ones(3))
    with pytest.raises(library.OpCheckError, match="test_autograd_registration failed with"):
        library.opcheck(wrong, (opweave.ones(2, requires_grad=True),), test_utils="test_autograd_registration")
