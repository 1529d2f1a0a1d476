"""The namespace `opweave.distributed.fsdp.wrap`: which parts of a module are wrapped for themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...nn import Module, ModuleDict, ModuleList, MultiheadAttention

__all__ = [
    "CustomPolicy",
    "ModuleWrapPolicy",
    "always_wrap_policy",
    "enable_wrap",
    "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
    "wrap",
]


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Return True: all parts are wrapped."""
    return True


def lambda_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable[[Module], bool]
) -> bool:
    """Return whether `lambda_fn` says so; True for `recurse`, which asks whether parts of the module are looked at."""
    return recurse or lambda_fn(module)


def transformer_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, transformer_layer_cls: Iterable[type[Module]]
) -> bool:
    """Return whether a module is of one of the classes; True for `recurse`."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def _module_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, module_classes: Iterable[type[Module]]
) -> bool:
    return transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, module_classes)


def _or_policy(module: Module, recurse: bool, nonwrapped_numel: int, policies: Iterable[Callable[..., bool]]) -> bool:
    """Whether one of several policies says so."""
    return any(policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel) for policy in policies)


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = 100_000_000,
    force_leaf_modules: Collection[type[Module]] | None = None,
    exclude_wrap_modules: Collection[type[Module]] | None = None,
) -> bool:
    """Return whether a module has many elements that none of its parts is wrapped with.

    Args:
        module (Module): the module.
        recurse (bool): whether its parts are asked about.
        nonwrapped_numel (int): the number of these elements.
        min_num_params (int): the least one that is many.
        force_leaf_modules (set of type): classes whose parts are not looked at; None: MultiheadAttention.
        exclude_wrap_modules (set of type): classes that are not wrapped; None: ModuleList and ModuleDict.
    """
    if recurse:
        others = _LEAVES if force_leaf_modules is None else force_leaf_modules
    else:
        others = _EXCLUDED if exclude_wrap_modules is None else exclude_wrap_modules
    return nonwrapped_numel >= min_num_params and not isinstance(module, tuple(others))


_LEAVES: Collection[type[Module]] = {MultiheadAttention}
_EXCLUDED: Collection[type[Module]] = {ModuleList, ModuleDict}
size_based_auto_wrap_policy.FORCE_LEAF_MODULES = _LEAVES  # type: ignore[attr-defined]
size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = _EXCLUDED  # type: ignore[attr-defined]


class _Policy(ABC):
    """The base class of policies that look at a whole module."""

    @abstractmethod
    def _run_policy(
        self, root_module: Module, ignored_modules: Collection[Module], root_kwargs: Mapping[str, Any]
    ) -> dict[Module, dict[str, Any]]:
        """The options with which modules are wrapped."""


class ModuleWrapPolicy(_Policy):
    """The policy that wraps modules of some classes.

    Args:
        module_classes (iterable of type): the classes.
    """

    def __init__(self, module_classes: Iterable[type[Module]]) -> None:
        self._module_classes = set(module_classes)

    def _run_policy(
        self, root_module: Module, ignored_modules: Collection[Module], root_kwargs: Mapping[str, Any]
    ) -> dict[Module, dict[str, Any]]:
        chosen = CustomPolicy(lambda module: isinstance(module, tuple(self._module_classes)))
        return chosen._run_policy(root_module, ignored_modules, root_kwargs)

    def __call__(self, module: Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        """Return whether a module is of one of the classes; True for `recurse`."""
        return transformer_auto_wrap_policy(module, recurse, -1, self._module_classes)

    def __repr__(self) -> str:
        return f"{super().__repr__()}({self._module_classes})"


class CustomPolicy(_Policy):
    """The policy that wraps modules of which a function says so.

    Args:
        lambda_fn (callable): returns False, True, or a dict of options that replace those of the root.
    """

    def __init__(self, lambda_fn: Callable[[Module], Any]) -> None:
        self._lambda_fn = lambda_fn

    def _run_policy(
        self, root_module: Module, ignored_modules: Collection[Module], root_kwargs: Mapping[str, Any]
    ) -> dict[Module, dict[str, Any]]:
        result = {}
        for module in root_module.modules():
            if module in ignored_modules:
                continue
            chosen = self._lambda_fn(module)
            if not isinstance(chosen, (dict, bool)):
                raise ValueError(
                    "The lambda_fn passed to CustomPolicy should return False/True or a kwarg dict, but it returned "
                    f"{chosen}"
                )
            if chosen:
                result[module] = {**root_kwargs, **(chosen if isinstance(chosen, dict) else {})}
        return result


# ---- wrapping ------------------------------------------------------------------------------------------------


def wrap_parts(
    root: Module, policy: Any, ignored: Collection[Module], make: Callable[..., Module], options: Mapping[str, Any]
) -> None:
    """Replace the parts of a module that a policy chooses by what `make` returns of them, the innermost first."""
    if isinstance(policy, _Policy):
        chosen = policy._run_policy(root, ignored, options)
    else:
        chosen = {}
        _choose(root, policy, ignored, chosen, options)
    made: dict[Module, Module] = {}

    def visit(module: Module) -> None:
        for name, child in module.named_children():
            visit(child)
            if child in chosen:
                if child not in made:
                    made[child] = make(child, **chosen[child])
                setattr(module, name, made[child])

    visit(root)


def _choose(
    module: Module,
    policy: Callable[..., bool],
    ignored: Collection[Module],
    chosen: dict[Module, dict[str, Any]],
    options: Mapping[str, Any],
    is_root: bool = True,
) -> int:
    """Choose parts of a module, and the module itself; the number of elements that are wrapped then."""
    total: int = sum(each.numel() for each in module.parameters())
    if not policy(module=module, recurse=True, nonwrapped_numel=total):
        return 0
    wrapped = sum(
        _choose(child, policy, ignored, chosen, options, False) for child in module.children() if child not in ignored
    )
    if not is_root and policy(module=module, recurse=False, nonwrapped_numel=total - wrapped):
        chosen[module] = dict(options)
        return total
    return wrapped


class _Context:
    wrapper: tuple[Callable[..., Module], dict[str, Any]] | None = None


@contextmanager
def enable_wrap(*, wrapper_cls: Callable[..., Module], **wrapper_kwargs: Any) -> Iterator[None]:
    """A context in which `wrap` makes a module of class `wrapper_cls` with these options."""
    before, _Context.wrapper = _Context.wrapper, (wrapper_cls, wrapper_kwargs)
    try:
        yield
    finally:
        _Context.wrapper = before


def wrap(module: Module, **wrap_overrides: Any) -> Module:
    """Return the module wrapped, with other options than those of `enable_wrap`; outside of it the module itself."""
    if _Context.wrapper is None:
        return module
    kind, options = _Context.wrapper
    return kind(module, **{**options, **wrap_overrides})
