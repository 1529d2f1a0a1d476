"""What is not public may refuse whatever it is given; it may not end the process."""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import pickle
from random import Random
from typing import Any

import opweave as ow
import pytest
from harness.processes import python, succeed
from opweave import Tensor, _handle, _operators, autograd
from opweave._base.errors import take_pending
from opweave._tensor.conversion_methods import _rebuild_tensor
from opweave._tensor.storage_pickle import _rebuild_storage

REFUSALS = (TypeError, ValueError, RuntimeError, IndexError, AttributeError, OverflowError, SystemError, BufferError)


class Sub(Tensor):
    def __new__(cls, *args: object) -> Any:
        return super().__new__(cls, *args)


# ---- tensors ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda: Tensor(), lambda: Tensor.__new__(Tensor), lambda: Sub(), lambda: Sub.__new__(Sub)]
)
def test_no_tensor_is_without_elements(make: Any) -> None:
    t = make()
    assert (t.shape, t.dtype, t.tolist(), repr(t).endswith("([])")) == ((0,), ow.float32, [], True)
    assert copy.deepcopy(t).shape == pickle.loads(pickle.dumps(Tensor())).shape == (0,)
    assert (t + 1).shape == (0,)


def test_classes_that_make_no_tensors() -> None:
    class Stranger(_handle.TensorBase):
        pass

    for kind in (_handle.TensorBase, Stranger):
        with pytest.raises(TypeError, match="is no class of tensors"):
            kind()
    with pytest.raises(TypeError):
        object.__new__(Tensor)


@pytest.mark.parametrize("junk", [1.5, 0.0, -1.0, float("nan"), float("inf"), 1e300, 4096.0, 2.0**46, 7, None, "a"])
def test_a_handle_is_not_to_be_set(junk: Any) -> None:
    t = ow.ones(3)
    with pytest.raises(AttributeError):
        t._h = junk  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del t._h  # type: ignore[misc]
    with pytest.raises(TypeError):
        _handle.adopt(junk, Tensor)
    for look in (_handle.shape_of, _handle.strides_of, lambda h: _handle.view_of(h, 0)):
        with pytest.raises(TypeError, match="expected the handle of a tensor"):
            look(junk)
    assert t.tolist() == [1.0, 1.0, 1.0]


def test_no_two_tensors_own_a_handle() -> None:
    t = ow.ones(3)
    with pytest.raises(ValueError, match="another tensor owns the handle"):
        _handle.adopt(t._h, Tensor)
    ow._C.lib.release(t._h)
    gc.collect()
    assert t.sum().item() == 3.0


def test_rebuilt_tensors() -> None:
    storage = ow.arange(4.0).storage()
    assert _rebuild_tensor(Tensor, storage, 1, (3,), (1,)).tolist() == [1.0, 2.0, 3.0]
    calls: list[tuple[Any, ...]] = [
        (Tensor, storage, 0, (2, 2), (1,)),
        (Tensor, storage, 0, (2,) * 64, ()),
        (Tensor, storage, 0, (2, 2), (2, 1, 1)),
        (Tensor, storage, 0, (9,), (1,)),
        (Tensor, storage, -1, (1,), (1,)),
        (Tensor, storage, 2**62, (1,), (1,)),
        (Tensor, storage, 0, (-1,), (1,)),
        (Tensor, None, 0, (1,), (1,)),
        (int, storage, 0, (1,), (1,)),
        (_handle.TensorBase, storage, 0, (1,), (1,)),
        (Tensor, storage, 0, ("a",), (1,)),
    ]
    for arguments in calls:
        with pytest.raises(REFUSALS):
            _rebuild_tensor(*arguments)
    for arguments in ((int, b"", ow.float32), (ow.FloatStorage, -5, ow.float32)):
        with pytest.raises(REFUSALS):
            _rebuild_storage(*arguments)  # type: ignore[arg-type]


# ---- generators ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [1, 8, 4096, 2**40 + 8, 2**64 - 8])
def test_an_address_that_no_generator_has(address: int) -> None:
    generator = ow.Generator()
    own, generator._address = generator._address, address
    uses = (
        lambda: generator.manual_seed(1),
        lambda: generator.get_state(),
        lambda: generator.initial_seed(),
        lambda: generator.set_state(ow.Generator().get_state()),
        lambda: ow.rand(2, generator=generator),
    )
    for use in uses:
        with pytest.raises(RuntimeError, match="there is no generator at address"):
            use()
    generator.__del__()  # which frees nothing
    generator._address = own


def test_generators_that_are_finished_or_not_begun() -> None:
    first, second = ow.Generator(), ow.Generator.__new__(ow.Generator)
    with pytest.raises(AttributeError):
        second.manual_seed(1)
    second._address = first._address
    for generator in (first, second):
        generator.__del__()
        generator.__del__()
        with pytest.raises(AttributeError):
            generator.manual_seed(1)
    for junk in ("a", None, 2**70, 1.5):
        third = ow.Generator()
        own, third._address = third._address, junk  # type: ignore[assignment]
        with pytest.raises((TypeError, OverflowError)):
            third.manual_seed(1)
        third._address = own


# ---- nodes -----------------------------------------------------------------------------------------------------

FOREIGN: tuple[Any, ...] = (
    *(None, 5, (), (5,), ((),), (None, None), [1], ((1, 2),), ((5,),), (("a", "b"),), "ab", object()),
    *((ow.ones(2),), ((ow.ones(2), "a"),), ((ow.ones(2), 0),), (((ow.ones(2), 2**70)),), ((ow.ones(2), None),)),
)


@pytest.mark.parametrize("field", ["edges", "metas", "tensors", "versions", "values", "results", "hooks"])
def test_nodes_with_foreign_fields(field: str) -> None:
    for value in FOREIGN:
        for node in (autograd.Node(()), (ow.ones(2, requires_grad=True) * 2).exp().grad_fn):
            setattr(node, field, value)
            for use in (lambda n: n.saved(), lambda n: n.saved_results(), lambda n: n.release(), repr):
                with contextlib.suppress(REFUSALS):
                    use(node)
        y = (ow.ones(2, requires_grad=True) * 2).exp()
        setattr(y.grad_fn, field, value)
        with contextlib.suppress(REFUSALS):
            y.sum().backward()


def test_edges() -> None:
    t = ow.ones(2)
    for junk in (5, (), (1,), "ab", [1, 2], object()):
        with pytest.raises(TypeError, match="takes a tensor and an edge"):
            _handle.set_edge(t, junk)


# ---- functions of the extension module ---------------------------------------------------------------------------

SETTERS = {"claim", "include", *(name for name in dir(_handle) if name.startswith("set_"))}
JUNK: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 3, 40, 200, 10**6, 2**31, 2**63, -(2**63), 10**30, 0.0, 1.5, 4096.0, 1e300, float("nan")),
    *(
        "a",
        b"a",
        (),
        (1,),
        (1, 2),
        [],
        [1, 2],
        (None,),
        ("a",),
        (2**70,),
        (0,) * 70,
        {},
        object(),
        slice(None),
        ...,
        int,
    ),
    *(ow.float32, ow.Size([2]), ow.Generator(), autograd.Node(()), Tensor, Sub, NotImplemented),
)


def tensors() -> list[Any]:
    return [ow.ones(()), ow.arange(4), ow.ones(2, 3), ow.ones(2, 2, requires_grad=True) * 1, ow.empty(0), Tensor()]


def attempt(function: Any, arguments: list[Any]) -> None:
    try:
        function(*arguments)
    except (*REFUSALS, NotImplementedError, MemoryError, OverflowError):
        pass
    take_pending()


def test_junk_arguments() -> None:
    random = Random(5)
    functions = [
        f for name, f in inspect.getmembers(_handle, callable) if name not in SETTERS and not inspect.isclass(f)
    ]
    assert len(functions) > 30
    for function in functions:
        for count in range(8):
            for _ in range(60):
                pool = [*JUNK, *tensors()]
                attempt(function, random.choices(pool, k=count))
    assert (ow.ones(2) + 1).tolist() == [2.0, 2.0]


def test_operators_of_every_number_called_in_every_way() -> None:
    random = Random(6)
    pool = [*tensors(), None, 0, 1, -1, 2.5, True, (1, 0), (), 2**62, "x", ow.float64, ow.Generator()]
    numbers = [*range(0, ow._C.lib.operator_count(), 7), -1, ow._C.lib.operator_count(), 2**31 - 1, 2**40]
    for number in numbers:
        for call in (_handle.call_kernel, _handle.produce):
            for _ in range(3):
                attempt(call, [number, *random.choices(pool, k=random.randint(0, 6))])
    for function in {id(each): each for each in _operators.FUNCTIONS.values()}.values():
        for _ in range(6):
            arguments = tuple(random.choices(pool, k=len(function.op.names)))
            attempt(_handle.invoke, [function, arguments, random.choice(pool), random.randint(-1, 3)])
    assert _operators.FUNCTIONS["add"](ow.ones(2), 1).tolist() == [2.0, 2.0]


def test_junk_for_what_the_package_tells_its_extension() -> None:
    """In a process of its own, which may not work afterwards."""
    code = """
        import opweave as ow
        from opweave import _handle
        setters = [getattr(_handle, name) for name in dir(_handle) if name.startswith("set_")]
        for setter in setters:
            for junk in (None, 5, "a", (), int, object(), ow.ones(2), (lambda *a: 5), tuple):
                for arguments in ((junk,), (junk, junk), (junk, junk, []), (junk, junk, junk), ()):
                    try:
                        setter(*arguments)
                    except Exception:
                        pass
                    looks = lambda: ow.ones(2).shape, ow.Tensor, lambda: ow.ones(2)[0], lambda: ow.ones(2)[[0]]
                    for use in (*looks, lambda: ow.ones(2, requires_grad=True).exp().sum().backward()):
                        try:
                            use()
                        except Exception:
                            pass
        assert _handle.call_kernel(10**6, None) is None
    """
    succeed(python("-c", inspect.cleandoc(code)))
