"""Parameters and buffers of modules, also those whose shape is known only when the first input comes."""

from __future__ import annotations

from copy import deepcopy
from types import FunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn

from .._autograd.grad_mode import no_grad
from .._base.type_names import type_name
from .._dispatch.subclass import disabled
from .._handle import set_parameter_class
from .._operators import empty
from .._tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class _ParameterType(type(Tensor)):  # type: ignore[misc]
    """Metaclass: a tensor of another class is a parameter too, if it says so by an attribute `_is_param`."""

    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterType):
    """A tensor that a module, to which it is assigned, counts among its parameters.

    Operators take it as a tensor of class Tensor, and their results are such.

    Args:
        data (Tensor): the values, whose memory is shared; None: no elements.
        requires_grad (bool): whether a gradient is recorded.

    Example:
        >>> opweave.nn.Parameter(opweave.ones(2))
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    __module__ = "opweave.nn.parameter"
    __torch_function__ = staticmethod(disabled)

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = empty(0)
        if type(data) is Tensor or isinstance(data, Parameter):
            with no_grad():
                return data.detach().as_subclass(cls).requires_grad_(requires_grad)
        if not isinstance(data, Tensor):
            raise TypeError(f"a parameter is made of a tensor, but got {type_name(data)}. Use opweave.tensor() on it.")
        same: Any = data.detach().requires_grad_(requires_grad)
        if type(same) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns "
                f"an instance of the same type, but return type {type(same).__name__} was found instead. To use the "
                "type as a Parameter, please correct the detach() semantics defined by its __torch_dispatch__() "
                "implementation."
            )
        same._is_param = True  # type: ignore[attr-defined]
        return same  # type: ignore[return-value]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        copied = type(self)(self.data.clone(), self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        plain: Any = self.as_subclass(Tensor).requires_grad_(self.requires_grad) if self.is_leaf else self
        return "Parameter containing:\n" + Tensor.__repr__(plain, **options)


set_parameter_class(Parameter)


class _BufferType(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that a module, to which it is assigned, counts among its buffers: part of its state, but not trained.

    The call returns a tensor of class Tensor over the same memory.

    Args:
        data (Tensor): the values; None: no elements.
        persistent (bool): whether it is part of the module's `state_dict`.

    Example:
        >>> model = opweave.nn.Module()
        >>> model.mean = opweave.nn.Buffer(opweave.zeros(2))
        >>> model.state_dict()
        OrderedDict([('mean', tensor([0., 0.]))])
    """

    __module__ = "opweave.nn.parameter"

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = empty(0)
        same = data.detach().requires_grad_(data.requires_grad)
        same.persistent = persistent
        same._is_buffer = True
        return same

    __torch_function__ = staticmethod(disabled)


class UninitializedTensorMixin:
    """Mixed into a class of tensors: neither shape nor elements are there before `materialize`."""

    _initialized_class: type

    _ALLOWED = frozenset(
        ("copy_", "is_inference", "is_complex", "is_floating_point", "half", "float", "double", "bfloat16", "char",
         "short", "int", "long", "cuda", "cpu", "to", "_to_copy", "get_device", "size")
    )  # fmt: skip

    def __init_subclass__(cls, **options: Any) -> None:
        """Methods in Python refuse as operators do, which ask `__torch_function__`."""
        super().__init_subclass__(**options)
        for kind in Tensor.__mro__:
            for name, value in vars(kind).items():
                is_method = isinstance(value, (FunctionType, MethodDescriptorType)) and not name.startswith("_")
                is_kept = name in cls._ALLOWED or hasattr(UninitializedTensorMixin, name)
                if (is_method or name == "__len__") and not is_kept:
                    setattr(cls, name, _refusing(value))

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give it a shape, and memory that is not initialized. It is an ordinary parameter or buffer afterwards.

        Args:
            shape: the sizes.
            device, dtype: others than it was made with.
        """
        tensor: Any = self
        device = tensor._placement[0] if device is None else device
        dtype = tensor._placement[1] if dtype is None else dtype
        tensor.data = empty(shape, device=device, dtype=dtype)
        tensor.__class__ = self._initialized_class

    @property
    def data(self) -> Any:
        """A plain tensor without elements, until there is a shape."""
        return Tensor.as_subclass(Tensor.data.__get__(self), Tensor)

    @data.setter
    def data(self, value: Any) -> None:
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined]

    @property
    def shape(self) -> NoReturn:
        """Raise RuntimeError: there is no shape yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> NoReturn:
        """Raise RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self, **options: Any) -> str:
        return f"<{self.__class__.__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        tensor: Any = self
        return _uninitialized, (type(self), tensor.requires_grad, *tensor._placement)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            rebuild, arguments = self.__reduce_ex__(2)
            memo[id(self)] = rebuild(*deepcopy(arguments, memo))
        return memo[id(self)]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name not in cls._ALLOWED:
            raise _refusal(cls, func)
        result: Any = disabled(func, types, args, kwargs or {})
        if isinstance(result, Tensor) and not issubclass(type(result), UninitializedTensorMixin):
            return _uninitialized(cls, args[0].requires_grad, result.device, result.dtype)
        return result


def _refusal(kind: type, function: Any) -> ValueError:
    return ValueError(
        f"Attempted to use an uninitialized parameter in {function}. This error happens when you are using a "
        f"`LazyModule` or explicitly manipulating `{kind.__module__.rpartition('.')[0]}.{kind.__name__}` objects. When "
        "using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch "
        "functions"
    )


def _refusing(method: Any) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise _refusal(type(self), method)

    return refuse


def _uninitialized(kind: type, requires_grad: bool, device: Any, dtype: Any) -> Any:
    options = {"requires_grad": requires_grad, "device": device, "dtype": dtype}
    return kind(**options)


def _bare(cls: type, requires_grad: bool, device: Any, dtype: Any) -> Any:
    data: Any = empty(0, device=device, dtype=dtype)
    result = Tensor.requires_grad_(data.as_subclass(cls), requires_grad)
    result._placement = (data.device, data.dtype)
    return result


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is not known yet. Modules of the kind `Lazy...` have such, and give them a shape when
    they are first called.

    Args:
        requires_grad (bool): whether a gradient is recorded.
        device, dtype: what it will have.

    Example:
        >>> opweave.nn.LazyLinear(2).weight
        <UninitializedParameter>
    """

    __module__ = "opweave.nn.parameter"
    _initialized_class = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _bare(cls, requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer whose shape is not known yet.

    Args:
        requires_grad (bool): whether a gradient is recorded.
        device, dtype: what it will have.
        persistent (bool): whether it is part of the module's `state_dict`.
    """

    __module__ = "opweave.nn.parameter"
    _initialized_class = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        result = _bare(cls, requires_grad, device, dtype)
        result.persistent = persistent
        result._is_buffer = True
        return result


def is_lazy(param: Any) -> bool:
    """Return whether it is a parameter or buffer without a shape."""
    return isinstance(param, UninitializedTensorMixin)
