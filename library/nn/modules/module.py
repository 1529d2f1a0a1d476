"""Class Module, the base of all neural networks: members, calls, state, and what goes through all of its tensors."""

# ruff: noqa: F405 (the names in __all__ are those of the modules, in full for type checkers)
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import compiler
from ..._autograd.grad_mode import no_grad
from ..._base.dtypes import EXPORTS
from ..functional.to_arguments import _parse_to
from ..parameter import Parameter, is_lazy
from ._calls import Calls
from ._global_hooks import *  # noqa: F403
from ._global_hooks import _global_buffer_registration_hooks as _global_buffer_registration_hooks
from ._global_hooks import _global_module_registration_hooks as _global_module_registration_hooks
from ._global_hooks import _global_parameter_registration_hooks as _global_parameter_registration_hooks
from ._members import Members
from ._state import _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX
from ._state import State
from ._state import _IncompatibleKeys as _IncompatibleKeys

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook",
    "register_module_forward_hook", "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook", "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]  # fmt: skip


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Compute the module's result: to be defined by derived classes. Raises NotImplementedError."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(Calls, Members, State):
    """Base class of neural networks. A derived class calls `super().__init__()`, assigns parameters and other modules
    to attributes, and computes in `forward`:

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.hidden = nn.Linear(20, 10)
                self.output = nn.Linear(10, 1)

            def forward(self, x):
                return self.output(self.hidden(x).relu())

    A model is called as a function. `training` says whether modules such as Dropout behave as in training (`train()`,
    `eval()`).

    Example:
        >>> class Scaled(opweave.nn.Module):
        ...     def __init__(self, size):
        ...         super().__init__()
        ...         self.scale = opweave.nn.Parameter(opweave.ones(size))
        ...     def forward(self, x):
        ...         return x * self.scale
        >>> [name for name, _ in Scaled(3).named_parameters()]
        ['scale']
        >>> Scaled(3)(opweave.arange(3.0)).detach()
        tensor([0., 1., 2.])
    """

    __module__ = "opweave.nn.modules.module"
    call_super_init = False
    """True if the `__init__` of further base classes is called, with the arguments."""
    dump_patches = False

    forward: Callable[..., Any] = _forward_unimplemented

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                name = type(self).__name__
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
            if args:
                count = len(args) + 1
                raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {count} were given")
        # Straight into the dictionary: these are no members, and modules are made often.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _backward_pre_hooks=OrderedDict(),
            _backward_hooks=OrderedDict(),
            _is_full_backward_hook=None,
            _forward_hooks=OrderedDict(),
            _forward_hooks_with_kwargs=OrderedDict(),
            _forward_hooks_always_called=OrderedDict(),
            _forward_pre_hooks=OrderedDict(),
            _forward_pre_hooks_with_kwargs=OrderedDict(),
            _state_dict_hooks=OrderedDict(),
            _state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_pre_hooks=OrderedDict(),
            _load_state_dict_post_hooks=OrderedDict(),
            _modules={},
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---- changes of all tensors ----

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace each parameter, its gradient, and each buffer by what `fn` returns of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            with no_grad():
                changed, grad = fn(parameter), parameter.grad
                changed_grad = None if grad is None else fn(grad)
            if is_lazy(parameter):
                self._parameters[name] = changed
            elif changed.device == parameter.device:
                parameter.data = changed
            else:
                parameter = Parameter(changed, parameter.requires_grad)
                self._parameters[name] = parameter
            if changed_grad is not None:
                parameter.grad = None  # whose dtype may be another one
                parameter.grad = changed_grad.requires_grad_(grad.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call `fn(module)` for all parts, and then for this module. Return the module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert parameters and buffers in place, as `Tensor.to` does: `to(dtype)`, `to(device)`, `to(device, dtype)`,
        `to(tensor)`, `to(memory_format=...)`. Only floating and complex ones change their dtype.

        Raises:
            TypeError: the dtype is neither floating nor complex.
        """
        device, kind, non_blocking, order = _parse_to(*args, **kwargs)
        if kind is not None and not (kind.is_floating_point or kind.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={kind}")

        def convert(tensor: Any) -> Any:
            wanted = kind if tensor.is_floating_point() or tensor.is_complex() else None
            options = {"memory_format": order} if order is not None and tensor.dim() in (4, 5) else {}
            return tensor.to(
                tensor.device if device is None else device, wanted or tensor.dtype, non_blocking, **options
            )

        return self._apply(convert)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device without copying the elements, as from `meta`."""
        from ..._operators import empty_like

        return self._apply(lambda tensor: empty_like(tensor, device=device), recurse=recurse)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def _ow_floating(self, name: str) -> Self:
        wanted = EXPORTS[name]
        return self._apply(lambda tensor: tensor.to(wanted) if tensor.is_floating_point() else tensor)

    def float(self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self._ow_floating("float32")

    def double(self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self._ow_floating("float64")

    def half(self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self._ow_floating("float16")

    def bfloat16(self) -> Self:
        """Convert floating parameters and buffers to bfloat16."""
        return self._ow_floating("bfloat16")

    def cpu(self) -> Self:
        """Move all parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Raise RuntimeError: there is no such device."""
        return self._apply(lambda tensor: tensor.to("cuda" if device is None else device))

    def share_memory(self) -> Self:
        """Move all tensors to memory that processes share, where there is such."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def train(self, mode: bool = True) -> Self:
        """Set the module and all parts to training, or, with False, to evaluation. Return the module.

        Raises:
            ValueError: `mode` is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set the module and all parts to evaluation. Return the module."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Ask for gradients of all parameters, or for none. Return the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or, unless `set_to_none`, fill them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    grad = parameter.grad
                    (grad.detach_ if grad.grad_fn is not None else lambda grad=grad: grad.requires_grad_(False))()
                    grad.zero_()

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the module's calls, with the arguments of `opweave.compile`."""
        compiler.compile(self, *args, **kwargs)

    # ---- printing and copying ----

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return what the printed form has between the parentheses: to be defined by derived classes."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own = extra.split("\n") if extra else []
        parts = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        if len(own) == 1 and not parts:
            return f"{self._get_name()}({own[0]})"
        lines = [*own, *parts]
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_compiled_call_impl"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fresh = Module.__new__(Module)
        Module.__init__(fresh)
        # Pickles of older versions may lack what has been added since.
        lacking = {name: value for name, value in fresh.__dict__.items() if name not in state and name[0] == "_"}
        self.__dict__.update(lacking)
        self.__dict__.update(state)
