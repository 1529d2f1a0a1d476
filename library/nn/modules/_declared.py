"""Modules that are one call of a function in nn.functional: a class says which, and its options with their defaults.

    class LeakyReLU(Call, call="leaky_relu"):
        negative_slope: float = 0.01
        inplace: bool = False

has `__init__(self, negative_slope=0.01, inplace=False)`, and `forward(x)` returns
`leaky_relu(x, negative_slope=..., inplace=...)`.
"""

from __future__ import annotations

from typing import Any

from ..._base.declared import dataclass_transform, declared_defaults, give_constructor
from ..._ops.losses import reduction_word
from ..._tensor.tensor import Tensor
from .. import functional
from .module import Module

__all__ = ["Call", "Loss"]


@dataclass_transform(eq_default=False)
class Call(Module):
    """Base of modules that are one call.

    Args of a derived class:
        call: the name of the function.
        keyword_only: whether the options are given by name.
        trains: whether the function is told if the module is in training.
        shown: what the printed form has between the parentheses, with options in braces; None: all of them, but
            `inplace` only if it is true.
    """

    _ow_call: str
    _ow_options: tuple[str, ...] = ()
    _ow_trains = False
    _ow_shown: str | None = None

    def __init_subclass__(
        cls, call: str = "", keyword_only: bool = False, trains: bool = False, shown: str | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        if not call:
            return
        cls._ow_call, cls._ow_trains, cls._ow_shown = call, trains, shown
        if cls.__doc__:  # which `python -OO` leaves out
            text, heading, example = cls.__doc__.partition("\n\n    Example:")
            text += f"\n\n    Options, shapes, dtypes and errors are those of `nn.functional.{call}`."
            cls.__doc__ = text + (heading + example if heading else "\n    ")
        defaults = declared_defaults(cls)
        cls._ow_options = tuple(defaults)
        if "__init__" not in vars(cls):
            give_constructor(cls, defaults, positional=0 if keyword_only else len(defaults))

    def _ow_begin(self, options: dict[str, Any]) -> None:
        Module.__init__(self)
        for name, value in options.items():
            if isinstance(value, Tensor):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *args: Any) -> Tensor:
        """Return what the function of nn.functional returns, with the options of the module."""
        options = {name: getattr(self, name) for name in self._ow_options}
        if self._ow_trains:
            options["training"] = self.training
        result: Tensor = getattr(functional, self._ow_call)(*args, **options)
        return result

    def extra_repr(self) -> str:
        options = {name: getattr(self, name) for name in self._ow_options}
        if self._ow_shown is not None:
            return self._ow_shown.format(**options)
        return ", ".join(f"{name}={value}" for name, value in options.items() if name != "inplace" or value)


class Loss(Call):
    """Base of losses, whose older options `size_average` and `reduce` are part of `reduction`."""

    def __init_subclass__(cls, call: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(call=call, shown="", **kwargs)
        cls._ow_options = tuple(name for name in cls._ow_options if name not in ("size_average", "reduce"))

    def _ow_begin(self, options: dict[str, Any]) -> None:
        size_average, reduce = options.pop("size_average", None), options.pop("reduce", None)
        if size_average is not None or reduce is not None:
            options["reduction"] = reduction_word(options["reduction"], size_average, reduce)
        Module.__init__(self)
        for name, value in options.items():
            if name in ("weight", "pos_weight"):
                self.register_buffer(name, value)  # also if it is None, so that one can be assigned later
            else:
                setattr(self, name, value)
