"""`custom_op`: an operator from a function with annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from .._dispatch.overloads import OpOverload
from .definition import Definition, read
from .infer_schema import UNKNOWN, infer_schema

_Function = TypeVar("_Function", bound=Callable[..., Any])
DeviceTypes = str | Sequence[str] | None


class CustomOpDef:
    """An operator that `custom_op` has defined. It is called as the function that it was made of."""

    def __init__(self, definition: Definition, function: Callable[..., Any]) -> None:
        self._definition = definition
        self._init_fn = function
        self.__name__ = definition.op.name
        self.__doc__ = function.__doc__

    @property
    def _qualname(self) -> str:
        return self._definition.qualified

    @property
    def _opoverload(self) -> OpOverload:
        return self._definition.overload

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._definition.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: DeviceTypes, fn: Callable[..., Any] | None = None, /) -> Any:
        """Register the function that computes the results for tensors of some devices. A decorator where `fn` is left
        out.

        Args:
            device_types (str or sequence of str): such as `"cpu"`; None: all that have no function of their own.
        """

        def decorate(function: _Function) -> _Function:
            kinds = [device_types] if device_types is None or isinstance(device_types, str) else device_types
            for kind in kinds:
                self._definition.add_kernel(kind, function)
            return function

        return decorate if fn is None else decorate(fn)

    def register_fake(self, fn: _Function, /) -> _Function:
        """Register the function that makes results of the right shape, strides and dtype from tensors on the device
        `meta`."""
        self._definition.fake = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Register the operator's gradients.

        Args:
            backward (Callable): `backward(ctx, *grads)` returns a gradient or None for each positional argument.
            setup_context (Callable): `setup_context(ctx, inputs, output)` keeps what backward needs of a call; with
                arguments by keyword only it is called as `setup_context(ctx, inputs, keyword_only_inputs, output)`.

        Raises:
            RuntimeError: the operator writes to its arguments, or its result is a view of them.
        """
        self._definition.set_formula(backward, setup_context, self)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: DeviceTypes = None,
    schema: str | None = None,
) -> Any:
    """Define an operator whose results a function computes, and return it. A decorator where `fn` is left out.

    It is called as the function is, and is `opweave.ops.ns.name` besides. It takes part in all that operators do:
    gradients (`register_autograd`), the device `meta` (`register_fake`), `out=`, subclasses and modes.

    Args:
        name (str): the namespace and the name: `"ns::name"`.
        mutates_args (Iterable[str]): the names of the arguments that the function writes to; `"unknown"`: all tensors.
        device_types (str or sequence of str): the devices that the function is for; None: all.
        schema (str): such as `"(Tensor x, int n) -> Tensor"`; else it follows from the annotations.

    Raises:
        ValueError: the annotations do not give a schema, `mutates_args` contradicts it, or the namespace is reserved.
        NotImplementedError: a tensor is given by keyword only.
    """

    def decorate(function: Callable[..., Any]) -> CustomOpDef:
        namespace, qualified, identifier = name.partition("::")
        if not qualified:
            raise ValueError(f"expected a name of the form 'namespace::name', but got {name!r}")
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        parsed = read(f"{identifier}{text}")
        if any(each.is_tensor or each.is_tensor_list for each in (*parsed.keyword_only, *parsed.out)):
            raise NotImplementedError(
                "custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. "
                f"Got: {identifier}{text}"
            )
        written = {each.name for each in parsed.arguments if each.is_write}
        if schema is not None and mutates_args != UNKNOWN and written != set(mutates_args):
            raise ValueError(
                f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}`. The schema "
                f"suggests that the op mutates {written or '{}'}, which is different from what was provided to us in "
                "`mutates_args`. Please make these consistent."
            )
        result = CustomOpDef(Definition(namespace, parsed), function)
        result.register_kernel(device_types)(function)
        return result

    return decorate if fn is None else decorate(fn)
