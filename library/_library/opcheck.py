"""`opcheck`: tests that an operator does what its schema, its fake and its gradients say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._base.pytree import flatten
from .._base.tensor_class import Tensor
from .._C import lib
from .._dispatch.infer import descriptions
from .._dispatch.ops import ops
from .._dispatch.overloads import OpOverload, OpOverloadPacket
from .custom_op import CustomOpDef
from .definition import definitions
from .results import check_result, tensors_in


class OpCheckError(Exception):
    """An operator does not do what is registered for it."""


def opcheck(
    op: OpOverload | OpOverloadPacket | CustomOpDef,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] | None = None,
    raise_exception: bool = True,
) -> dict[str, Any]:
    """Return `"SUCCESS"` by the name of each test that an operator passes when it is called with these arguments.

    Args:
        op: a custom operator, or an overload such as `opweave.ops.aten.sin.default`.
        args, kwargs: arguments of a call.
        test_utils (str or sequence of str): the tests; None: all that there are.
            `"test_schema"`: what is written to, the results and what they share memory with are as the schema says.
            `"test_autograd_registration"`: results have gradients by the arguments that require them.
            `"test_faketensor"`: the results on the device `meta` have the real ones' dtypes, shapes and strides.
        raise_exception (bool): where False, the error of a test that fails is given in place of `"SUCCESS"`.

    Raises:
        OpCheckError: a test fails.
        ValueError: `op` is no operator, or there is no such test.
    """
    overload = _overload_of(op)
    names = tuple(TESTS) if test_utils is None else (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(names) <= set(TESTS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={test_utils}), expected test_utils to be subset of {tuple(TESTS)} but it was "
            "not"
        )
    found: dict[str, Any] = {}
    for name in names:
        try:
            TESTS[name](overload, tuple(args), dict(kwargs or {}))
            found[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck(op, ...): {name} failed with {error}") from error
            found[name] = error
    return found


def _overload_of(op: Any) -> OpOverload:
    if isinstance(op, CustomOpDef):
        return op._opoverload
    if isinstance(op, OpOverloadPacket):
        first: OpOverload = getattr(op, op.overloads()[0])
        return first
    if not isinstance(op, OpOverload):
        raise ValueError(
            f"opcheck(op, ...): op must be instance of OpOverload, e.g. opweave.ops.aten.sin.default, got {type(op)}"
        )
    return op


def _mapped(values: Any, change: Callable[[Any], Any]) -> Any:
    """Arguments with each tensor changed."""
    leaves, structure = flatten(values)
    return structure.unflatten([change(each) if isinstance(each, Tensor) else each for each in leaves])


# ---- schema -------------------------------------------------------------------------------------------------


def _check_schema(overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    schema = overload._schema
    args, kwargs = _mapped((args, kwargs), lambda each: each.detach().clone())
    given = _by_argument(overload, args, kwargs)
    before = {name: [each.clone() for each in tensors_in(value)] for name, value in given.items()}
    result = overload(*args, **kwargs)
    check_result(f"{overload}", schema, result)
    for name, value in given.items():
        argument = schema.argument(name)
        if argument is None:
            continue
        tensors = tensors_in(value)
        is_changed = not all(map(_same, tensors, before[name]))
        if is_changed and not argument.is_write:
            raise RuntimeError(f"argument {name} is not defined as mutable but was mutated: {schema}")
        alias = None if argument.alias is None else argument.alias.before
        _check_aliases(overload, name, alias, tensors, result)


def _by_argument(overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the names of the schema."""
    positional = [each.name for each in overload._schema.positional]
    named = {"self" if name == "input" and "self" in positional else name: value for name, value in kwargs.items()}
    return dict(zip(positional, args, strict=False)) | named


def _same(now: Any, then: Any) -> bool:
    if now.shape != then.shape or now.dtype is not then.dtype:
        return False
    return bool((ops.eq(now, then) | (ops.ne(now, now) & ops.ne(then, then))).all())


def _check_aliases(overload: OpOverload, name: str, alias: Any, tensors: Sequence[Any], result: Any) -> None:
    """Results share memory with an argument only where the schema says so."""
    storages = {lib.storage_of(each._h) for each in tensors}
    returns = overload._schema.returns
    results = result if len(returns) > 1 else (result,)
    for declared, value in zip(returns, results, strict=len(returns) > 0):
        declares = alias is not None and declared.alias is not None and set(alias) & set(declared.alias.before)
        if not declares and any(lib.storage_of(each._h) in storages for each in tensors_in(value)):
            raise RuntimeError(f"argument {name} is not defined to alias output but was aliasing: {overload._schema}")


# ---- gradients ----------------------------------------------------------------------------------------------


def _check_gradients(overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not any(each.requires_grad for each in tensors_in(args, kwargs)):
        return
    args, kwargs = _mapped((args, kwargs), lambda each: each.detach().clone().requires_grad_(each.requires_grad))
    inputs = [each for each in tensors_in(args, kwargs) if each.requires_grad]
    outputs = [each for each in tensors_in(overload(*args, **kwargs)) if each.is_floating_point() or each.is_complex()]
    definition = definitions.get(overload.name())
    if definition is not None and not definition.decomposes and definition.formula.backward is None:
        return
    outputs = [each for each in outputs if each.requires_grad]
    if not outputs:
        raise RuntimeError(f"{overload} has no result that requires grad, though an argument does")
    from ..autograd import grad

    gradients = grad(outputs, inputs, [ops.ones_like(each) for each in outputs], allow_unused=True)
    for wanted, found in zip(inputs, gradients, strict=True):
        if found is not None and found.shape != wanted.shape:
            raise RuntimeError(f"the gradient of an argument of shape {tuple(wanted.shape)} has {tuple(found.shape)}")


# ---- fake ---------------------------------------------------------------------------------------------------


def _check_fake(overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    args, kwargs = _mapped((args, kwargs), lambda each: each.detach().clone())
    described = descriptions()
    fake_args, fake_kwargs = described.of(args), {name: described.of(value) for name, value in kwargs.items()}
    real = overload(*args, **kwargs)
    fake = overload(*fake_args, **fake_kwargs)
    schema = overload._schema
    check_result(f"the fake of {overload}", schema, fake)
    (expected, structure), (found, other) = flatten(real), flatten(fake)
    if structure != other:
        raise RuntimeError(f"the result is {structure}, but the fake returned {other}")
    for place, (each, meta) in enumerate(zip(expected, found, strict=True)):
        if isinstance(each, Tensor):
            _compare(place if len(expected) > 1 else None, each, meta)


def _compare(place: int | None, real: Any, fake: Any) -> None:
    which = "the result" if place is None else f"result {place}"
    if fake.device.type != "meta":
        raise RuntimeError(f"the fake returned {which} on {fake.device}, but it must be on meta")
    facts = {
        "dtype": (real.dtype, fake.dtype),
        "shape": (tuple(real.shape), tuple(fake.shape)),
        "strides": (real.stride(), fake.stride()),
    }
    for what, (expected, found) in facts.items():
        if expected != found and not (what == "strides" and real.numel() == 0):
            raise RuntimeError(f"{which} has {what} {expected}, but the fake's has {found}")


TESTS: dict[str, Callable[[OpOverload, tuple[Any, ...], dict[str, Any]], None]] = {
    "test_schema": _check_schema,
    "test_autograd_registration": _check_gradients,
    "test_faketensor": _check_fake,
}
