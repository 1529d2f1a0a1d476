"""`__torch_function__`: classes that say what operators do with their objects, and modes that see what is called."""

from __future__ import annotations

import threading
from typing import Any

import opweave
import pytest
from opweave import Tensor
from opweave.overrides import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    TorchFunctionMode,
    _disabled_torch_function_impl,
    get_overridable_functions,
    handle_torch_function,
    has_torch_function,
    is_tensor_like,
    is_tensor_method_or_property,
    resolve_name,
    wrap_torch_function,
)

CALLS: list[tuple[Any, ...]] = []


@pytest.fixture(autouse=True)
def no_calls() -> None:
    CALLS.clear()


class Seen(Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        CALLS.append((func, types, args, kwargs))
        return super().__torch_function__(func, types, args, kwargs)


class More(Seen):
    pass


class Plain(Tensor):
    pass


class Foreign:
    """A class that is not derived from Tensor."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func, types, args, kwargs


class Declining:
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class Disabled(Tensor):
    __torch_function__ = _disabled_torch_function_impl


def seen(kind: type = Seen) -> Any:
    return opweave.tensor([1.0, 2.0]).as_subclass(kind)


def test_what_was_called() -> None:
    s, x = seen(), opweave.ones(2)
    results = [s.add(x), opweave.add(s, x), s + x, opweave.add(input=s, other=x, alpha=2), s.add_(x)]
    assert [each[0] for each in CALLS] == [opweave.add] * 4 + [Tensor.add_]
    assert opweave.add is Tensor.add
    assert [each[1] for each in CALLS] == [(Seen,)] * 5
    assert [each[3] for each in CALLS] == [{}, {}, {}, {"alpha": 2}, {}]
    assert all(each[2][0] is s and each[2][1] is x and len(each[2]) == 2 for each in CALLS)
    assert all(type(each) is Seen for each in results)
    assert results[-1] is s


def test_operators_of_python() -> None:
    s = seen()
    assert (2 - s).tolist() == [1.0, 0.0]
    assert CALLS[-1][0] is opweave.sub
    assert CALLS[-1][2][0] == 2
    s += 1
    assert CALLS[-1][0] is Tensor.add_
    assert (s == 2).tolist() == [True, False]
    assert CALLS[-1][0] is opweave.eq


def test_arguments_in_lists_and_out() -> None:
    s, x = seen(), opweave.ones(2)
    assert type(opweave.cat([x, s])) is Seen
    assert type(opweave.add(x, x, out=s)) is Seen
    assert CALLS[-1][3] == {"out": s}
    assert type(opweave.zeros_like(s)) is Seen


def test_an_argument_that_chooses_the_operator() -> None:
    assert opweave.div(seen(), 2, rounding_mode="floor").tolist() == [0.0, 1.0]
    func, _, args, kwargs = CALLS[0]
    assert (func, args[1], kwargs) == (opweave.div, 2, {"rounding_mode": "floor"})


def test_results_of_all_kinds() -> None:
    values, indices = seen().max(0)
    assert (type(values), type(indices)) == (Seen, Seen)
    assert type(seen().max(0)) is type(opweave.ones(2).max(0))
    assert [type(each) for each in opweave.unbind(seen())] == [Seen, Seen]
    assert opweave.is_floating_point(seen()) is True
    assert type(seen(Plain) + 1) is Plain


def test_the_most_derived_class_is_asked_first() -> None:
    s, more, x = seen(), seen(More), opweave.ones(2)
    assert type(opweave.where(x > 0, s, more)) is More
    assert CALLS[0][1] == (More, Seen)
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'opweave.add'"):
        opweave.add(s, seen(Plain))  # neither is derived from the other


def test_foreign_classes() -> None:
    x, foreign = opweave.ones(2), Foreign()
    assert opweave.add(x, foreign) == (opweave.add, (Foreign,), (x, foreign), {})
    assert opweave.sum(foreign, dim=0, keepdim=True) == (opweave.sum, (Foreign,), (foreign, 0, True), {})
    assert (x + foreign)[:3] == (opweave.add, (Foreign,), (x, foreign))
    assert (foreign * x)[2] == (foreign, x)  # type: ignore[operator]
    assert opweave.cat([foreign, x], 1)[2] == ([foreign, x], 1)
    assert opweave.max(x, other=foreign)[2] == (x, foreign)


def test_classes_that_decline() -> None:
    x = opweave.ones(2)
    text = (
        r"^Multiple dispatch failed for 'opweave.add'; all __torch_function__ handlers returned NotImplemented:\n\n"
        r"  - tensor subclass <class '.*Declining'>$"
    )
    with pytest.raises(TypeError, match=text):
        opweave.add(x, Declining())
    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \+: 'Tensor' and 'Declining'$"):
        x + Declining()
    with pytest.raises(TypeError, match=r"'opweave.Tensor.add_'"):
        x.add_(Declining())  # type: ignore[arg-type]
    assert opweave.add(Declining(), Foreign())[1] == (Declining, Foreign)


def test_disabled() -> None:
    s = seen()
    assert type(seen(Disabled) + 1) is Tensor
    with DisableTorchFunctionSubclass():
        assert type(s + 1) is Tensor
    with DisableTorchFunction(), Recording() as mode:
        assert type(s + 1) is Tensor
    assert CALLS == mode.functions == []
    assert type(s + 1) is Seen


def test_gradients() -> None:
    s = opweave.ones(2, requires_grad=True).as_subclass(Seen)
    (s * 3).sum().backward()
    assert CALLS[0][0] is opweave.mul


# ---- modes --------------------------------------------------------------------------------------------------


class Recording(TorchFunctionMode):
    def __init__(self) -> None:
        self.functions: list[Any] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.functions.append(func)
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_what_is_called() -> None:
    x = opweave.ones(2)
    with Recording() as outer:
        x + 1
        with Recording() as inner:
            opweave.zeros(2).std()
        x.sum(dim=0)
    x - 1
    assert inner.functions == [opweave.zeros, opweave.std]
    assert outer.functions == [opweave.add, opweave.zeros, opweave.std, opweave.sum]


def test_a_mode_comes_before_classes() -> None:
    with Recording() as mode:
        seen() + 1
    assert [each[0] for each in CALLS] == [opweave.add]
    assert opweave.add in mode.functions


def test_a_mode_is_left_whatever_is_raised() -> None:
    with pytest.raises(ZeroDivisionError), Recording() as mode:
        raise ZeroDivisionError
    opweave.ones(2).sum()
    assert mode.functions == []


def test_a_mode_is_of_one_thread() -> None:
    with Recording() as mode:
        thread = threading.Thread(target=lambda: opweave.ones(2).sum())
        thread.start()
        thread.join()
    assert mode.functions == []


# ---- functions of users -------------------------------------------------------------------------------------


def test_helpers() -> None:
    x, s = opweave.ones(2), seen()
    values = (x, s, seen(Disabled), Foreign(), 3)
    assert [is_tensor_like(each) for each in values] == [True, True, True, True, False]
    assert [has_torch_function((each,)) for each in values] == [False, True, False, True, False]
    assert resolve_name(opweave.add) == "opweave.add"
    assert resolve_name(Tensor.add_) == "opweave.Tensor.add_"
    assert opweave.add in get_overridable_functions()[opweave]
    assert opweave.nn.functional.kl_div in get_overridable_functions()[opweave.nn.functional]
    assert Tensor.add_ in get_overridable_functions()[Tensor]


def test_a_property_that_is_an_operator_is_read_by_its_getter() -> None:
    x = opweave.ones(2, 3).as_subclass(Seen)
    result = x.mT
    assert (type(result), result.shape) == (Seen, (3, 2))
    (called,) = [each for each in CALLS if each[0] == Tensor.mT.__get__]
    assert called[2] == (x,)
    assert is_tensor_method_or_property(Tensor.mT.__get__)
    assert not is_tensor_method_or_property(Tensor.shape.__get__)
    assert resolve_name(Tensor.mT.__get__) == "opweave.Tensor.mT.__get__"
    with pytest.raises(AttributeError):
        x.mT = x


def test_functions_of_users() -> None:
    @wrap_torch_function(lambda x, scale=1: (x,))
    def scaled(x: Any, scale: int = 1) -> Any:
        return x * scale

    foreign = Foreign()
    assert scaled(opweave.ones(1), 3).item() == 3.0
    assert scaled(foreign, scale=3) == (scaled, (Foreign,), (foreign,), {"scale": 3})
    with pytest.raises(TypeError, match=r"no implementation found for '.*scaled' on types that implement __torch_fun"):
        handle_torch_function(scaled, (Declining(),), Declining())


# ---- other libraries ----------------------------------------------------------------------------------------


class Alien:
    """Stands for a tensor of torch: its protocol calls the function again, for torch's own functions to answer."""

    __module__ = "torch"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def alien_add(*args: Any) -> Any:
    """Stands for a function of torch, which asks all classes that have the protocol."""
    result = Tensor.__torch_function__(alien_add, (Tensor,), args)
    if result is NotImplemented:
        raise TypeError("nobody answers")
    return result


def test_tensors_of_torch_take_no_part() -> None:
    with pytest.raises(TypeError, match=r"^add\(\): argument 'other' \(position 2\) must be Tensor, not torch.Alien$"):
        opweave.add(opweave.ones(1), Alien())
    with pytest.raises(TypeError, match="nobody answers"):
        alien_add(opweave.ones(1))


def test_functions_bind_tensors_alone() -> None:
    class Layer(opweave.nn.Module):
        act = opweave.relu
        parts = opweave.split

        def forward(self, x: Any) -> Any:
            return self.act(x)

    layer, x = Layer(), opweave.tensor([-1.0, 2.0])
    assert layer(x).tolist() == [0, 2]
    assert Layer.act is opweave.relu
    assert [each.tolist() for each in layer.parts(x, 1)] == [[-1], [2]]
    changed: Any = Layer
    changed.act = opweave.sigmoid
    assert layer(opweave.zeros(1)).tolist() == [0.5]
    derived: Any = type("Derived", (Tensor,), {"opposite": Tensor.neg})
    assert x.as_subclass(derived).opposite().tolist() == [1, -2]


def test_functions_have_attributes() -> None:
    relu: Any = opweave.nn.functional.relu
    relu.of_users = [relu]
    assert relu.__dict__ == {"of_users": [relu]}
    assert relu(opweave.tensor([-1.0, 2.0])).tolist() == [0, 2]
    del relu.of_users
    with pytest.raises(AttributeError, match="of_users"):
        relu.of_users  # noqa: B018
    with pytest.raises(AttributeError, match="readonly"):
        relu.__name__ = "other"
