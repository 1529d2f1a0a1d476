"""Class Tensor before it has methods: every layer can tell tensors from other objects and make them.

The methods stand above, in `_tensor/` and in the generated module, and call what stands between. `_tensor/tensor.py`
adds them to the class when all of it has been imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .._handle import TensorBase

_Class = TypeVar("_Class", bound=type)

if TYPE_CHECKING:
    Tensor: Any  # the modules below know none of its methods
else:

    class Tensor(TensorBase):
        __slots__ = ()
        __module__ = "opweave"


TensorClass = type(Tensor)
"""The class of the class."""


def adds_methods(cls: _Class) -> _Class:
    """Decorator that gives Tensor what the decorated class and its bases define, and returns Tensor."""
    for each in reversed(cls.__mro__):
        if each is not object and not issubclass(TensorBase, each):
            for name, value in vars(each).items():
                if name not in ("__dict__", "__module__", "__slots__", "__weakref__"):
                    setattr(Tensor, name, value)
    return Tensor  # type: ignore[no-any-return]
