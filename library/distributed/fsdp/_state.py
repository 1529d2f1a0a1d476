"""Calls of sharded modules and backward passes through them: when parameters are gathered and gradients reduced."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ..._autograd import engine
from ..._autograd.grad_mode import is_grad_enabled
from ..._autograd.gradient_edge import edge
from ..._base.pytree import tree_map
from ..._base.tensor_class import Tensor
from ...nn import Module
from ..errors import DistBackendError
from ..utils import _tensors_in
from ._policies import MixedPrecisionPolicy
from ._unit import Unit, saving_recipes

__all__ = ["State", "state_of"]


def state_of(module: Module) -> State | None:
    """Return what `fully_shard` has given a module; None: it is not sharded."""
    found: State | None = vars(module).get("_fsdp_state")
    return found


class _Tree:
    """The sharded modules under a root, and the passes that go through them.

    Attributes:
        states: those of the modules, the root first.
        is_last_backward: whether backward passes wait for the gradients.
        limit: the number of reductions that may be under way.
    """

    def __init__(self) -> None:
        self.states: list[State] = []
        self.is_last_backward, self.limit = True, 1
        self._runs = self._is_in_backward = False
        self._reductions: deque[Unit] = deque()
        self._order: list[Unit] = []
        """Units in the order in which forward passes have left their modules."""

    def units(self) -> Iterator[Unit]:
        """The units of all modules."""
        for state in self.states:
            yield from state.units

    # ---- forward passes ----

    def run(self, function: Callable[[], Any]) -> Any:
        """The result of a call of a module, which may be within that of another one."""
        if self._runs or engine.current_pass() is not None:
            return function()
        if self._is_in_backward:  # the last one has failed
            self.reset()
        for unit in self.units():
            if unit.is_left_by_forward:
                unit.reshard()
        self._runs = True
        try:
            return function()
        except BaseException:
            with suppress(DistBackendError):  # of the same rank that is gone
                self.reset()
            raise
        finally:
            self._runs = False

    def left(self, units: Sequence[Unit], is_recorded: bool) -> None:
        """Take note that a forward pass has left a module."""
        if is_recorded:
            self._order.extend(units)

    def reset(self) -> None:
        """Forget all that is under way, and release the memory of whole parameters."""
        for unit in self.units():
            unit.forget_gradients()
            unit.reshard()
        for state in self.states:
            state.begin()
        self._order.clear()
        self._reductions.clear()
        self._is_in_backward = False

    # ---- backward passes ----

    def begin_backward(self, number: int) -> None:
        """Take note that a backward pass has come to the node of a number, which is an output of a module."""
        if not self._is_in_backward:
            self._is_in_backward = True
            engine.queue_callback(self.finish_backward)
        current = engine.current_pass()
        assert current is not None, "hooks of gradients are called by backward passes"
        current.deliver_early(number)
        for unit in self._reductions:
            unit.advance()

    def before(self, units: Sequence[Unit]) -> Unit | None:
        """The unit that backward passes come to after these."""
        while self._order and self._order[-1] in units:
            self._order.pop()
        return self._order[-1] if self._order else None

    def reduce(self, units: Sequence[Unit]) -> None:
        """Reduce the gradients that units have by now, and release their memory."""
        for unit in units:
            unit.take_gradients()
            if unit.reshards_after_backward:
                unit.reshard()
            unit.is_left_by_forward = False
            if not unit.reduces:
                continue
            while len(self._reductions) >= self.limit:
                self._reductions.popleft().finish_reduction()
            if unit.begin_reduction():
                self._reductions.append(unit)

    def finish_backward(self) -> None:
        """Reduce the gradients of modules whose arguments need none, and wait for all."""
        self.reduce([*self.units()])
        if self.is_last_backward:
            while self._reductions:
                self._reductions.popleft().finish_reduction()
        self._order.clear()
        self._is_in_backward = False


class State:
    """The units of a module, or of several that are gathered together, and their part in passes.

    Args:
        modules: those that were sharded by one call.
        units: their parameters.
        policy (MixedPrecisionPolicy): the dtypes of arguments and results.
        is_automatic: whether the root keeps its parameters from the forward to the backward pass, and others do not.

    Attributes:
        prefetched_in_forward, prefetched_in_backward: states whose parameters are asked for when a pass comes here.
    """

    def __init__(
        self, modules: Sequence[Module], units: Sequence[Unit], policy: MixedPrecisionPolicy, is_automatic: bool
    ) -> None:
        self.modules, self.units, self.policy, self.is_automatic = modules, units, policy, is_automatic
        self.tree = _Tree()
        self.is_root: bool | None = None
        self.prefetched_in_forward: list[State] = []
        self.prefetched_in_backward: list[State] = []
        self._missing: set[Module] = set()
        self.begin()

    def begin(self) -> None:
        """Expect calls of all modules."""
        self._missing = set(self.modules)

    def initialize(self) -> None:
        """Make the module that is called first the root of those in it.

        Raises:
            RuntimeError: there are several, or one in it was called before.
        """
        if self.is_root is not None:
            return
        if len(self.modules) > 1:
            raise RuntimeError(f"FSDP requires a single root module but got {tuple(self.modules)}")
        found: dict[State, str] = {}
        for name, module in self.modules[0].named_modules():
            state = state_of(module)
            if state is not None:
                found.setdefault(state, name)
        for state, name in found.items():
            if state.is_root is not None:
                raise RuntimeError(
                    f"FSDP state has already been lazily initialized for {name}\n"
                    "FSDP requires running forward through the root module first"
                )
        for state in found:
            state.is_root, state.tree = state is self, self.tree
        self.tree.states = [*found]
        if self.is_automatic:
            for unit in self.units:
                unit.reshards_after_forward = False

    # ---- forward passes ----

    def call(self, module: Module, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a call of one of the modules, with whole parameters."""
        self.initialize()
        return self.tree.run(lambda: self._called(module, function, args, kwargs))

    def _called(self, module: Module, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self.policy.cast_forward_inputs and self.policy.param_dtype:
            args, kwargs = tree_map(self._as_parameters, (args, kwargs))
        for unit in self.units:
            unit.unshard()
        if engine.current_pass() is not None:  # a checkpoint computes again: a backward pass releases the memory
            return self._converted(function(*args, **kwargs))
        for state in self.prefetched_in_forward:
            for unit in state.units:
                unit.begin_unshard()
        if len(self._missing) == len(self.modules):
            self._watch_arguments(args, kwargs)
        with saving_recipes():
            result = function(*args, **kwargs)
        self._missing.discard(module)
        is_recorded = is_grad_enabled() and self._watch_results(result)
        if not self._missing:
            self._leave(is_recorded)
        if self.is_root:
            for state in self.tree.states:
                if len(state._missing) < len(state.modules):
                    state._leave(is_recorded)
        return self._converted(result)

    def _leave(self, is_recorded: bool) -> None:
        """Release the memory after a forward pass."""
        self.begin()
        for unit in self.units:
            if unit.reshards_after_forward or (self.is_automatic and not is_recorded):
                unit.reshard()
            else:
                unit.is_left_by_forward = self.is_automatic
        self.tree.left(self.units, is_recorded)

    def _as_parameters(self, value: Any) -> Any:
        is_cast = isinstance(value, Tensor) and value.is_floating_point()
        return value.to(self.policy.param_dtype) if is_cast else value

    def _converted(self, result: Any) -> Any:
        """A result with the dtype of the policy."""
        dtype = self.policy.output_dtype
        if dtype is None:
            return result
        return tree_map(
            lambda each: each.to(dtype) if isinstance(each, Tensor) and each.is_floating_point() else each, result
        )

    # ---- backward passes ----

    def _watch_arguments(self, args: Any, kwargs: Any) -> None:
        """Reduce gradients when a backward pass has come to the arguments, past all that the module has done."""
        if not is_grad_enabled():
            return
        is_waiting = True

        def leave(grad: Any) -> None:
            nonlocal is_waiting
            if is_waiting:
                is_waiting = False
                self.tree.reduce(self.units)

        for each in _tensors_in((args, kwargs)):
            if each.requires_grad and not each.is_leaf:
                each.register_hook(leave)

    def _watch_results(self, result: Any) -> bool:
        """Gather parameters when a backward pass comes to a result; whether there is one that it may come to."""
        is_watched = False
        for each in _tensors_in(result):
            found = edge(each) if each.requires_grad else None
            if found is not None:
                is_watched = True
                if not found[0].collects:
                    each.register_hook(self._entrance(found[0].number))
        return is_watched

    def _entrance(self, number: int) -> Callable[[Any], None]:
        def enter(grad: Any) -> None:
            self.tree.begin_backward(number)
            for unit in self.units:
                if unit.unshards_in_backward:
                    unit.unshard()
            for state in self.prefetched_in_backward:
                for unit in state.units:
                    unit.begin_unshard()
            following = self.tree.before(self.units)
            if following is not None and following.unshards_in_backward and not self.prefetched_in_backward:
                following.begin_unshard()

        return enter
