"""opweave.utils.checkpoint: parts of a computation that compute their intermediate results again for backward.

T. Chen, B. Xu, C. Zhang and C. Guestrin, "Training Deep Nets with Sublinear Memory Cost", 2016. Of torch's two ways the
reentrant one is a node that runs backward within backward; the other one puts a placeholder in the place of each tensor
that would be saved, and computes all of them when the first is needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ._recompute import CheckpointError, Recomputation, ReentrantCheckpoint

__all__ = [
    "CheckpointError",
    "checkpoint",
    "checkpoint_sequential",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

_DETERMINISM_CHECKS = ("default", "none")
_stops_early: list[bool] = []
"""The values of `set_checkpoint_early_stop`, the innermost last."""


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The devices of tensors among the arguments, but for the CPU, and the states of their generators: none."""
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Any], *, device_type: str | None = None) -> None:
    """Set the states of the generators of devices: of none."""


def noop_context_fn() -> Contexts:
    """Two contexts that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, without what its gradients need: backward calls the function again to have that.

    * `use_reentrant` False lets gradients be computed in every way, also by tensors that are nested in arguments or
      that the function knows from elsewhere. True records nothing within the function and runs `backward` within
      backward: only tensors among the arguments count as inputs, one of them must require gradients, there are no
      keyword arguments, and `autograd.grad` raises RuntimeError. None is deprecated and means True.
    * `preserve_rng_state` (a keyword, True): whether the second call gets the same random numbers as the first.

    These are for `use_reentrant=False`:

    * `context_fn`: gives two contexts, for the first call and for the others.
    * `determinism_check`: "default" compares shapes and dtypes of what both calls save; "none" does not.
    * `early_stop`: end the second call as soon as everything is there that has to be.
    * `debug` changes nothing.

    Raises ValueError for options and keyword arguments that do not go together. In backward, CheckpointError where the
    second call saves other tensors than the first.
    """
    if use_reentrant is None:
        use_reentrant = _reentrant_by_default("opweave.utils.checkpoint")
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        _refuse(kwargs)
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return ReentrantCheckpoint.apply(function, preserve, *args)
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in _DETERMINISM_CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_DETERMINISM_CHECKS)}, but got {determinism_check}")
    first, again = context_fn()
    return Recomputation(
        function,
        args,
        kwargs,
        preserve_rng_state=preserve,
        context=again,
        checks=determinism_check == "default",
        early_stop=_stops_early[-1] if _stops_early else early_stop,
    ).run(first)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Calls functions one after the other, each with the result of the one before, in segments that are checkpoints.

    `functions` are a sequence of functions, or a module with children. All segments but the last keep only their input;
    each has as many functions as fit, and the last what is left. `use_reentrant` and the keyword `preserve_rng_state`
    are as of `checkpoint`. Raises ValueError for other keywords.
    """
    if use_reentrant is None:
        use_reentrant = _reentrant_by_default("opweave.utils.checkpoint.checkpoint_sequential")
    preserve = kwargs.pop("preserve_rng_state", True)
    _refuse(kwargs)
    steps = list(functions.children() if hasattr(functions, "children") else functions)
    size = len(steps) // segments
    last = size * (segments - 1)
    for start in range(0, last, size):
        part = _chain(steps[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _chain(steps[last:])(input)


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Context in which `enable` overrides the option `early_stop` of checkpoints without reentrance."""
    _stops_early.append(enable)
    try:
        yield
    finally:
        _stops_early.pop()


def _chain(steps: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def forward(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return forward


def _reentrant_by_default(name: str) -> bool:
    warnings.warn(
        f"{name}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; without "
        "it the call is made as with use_reentrant=True.",
        stacklevel=3,
    )
    return True


def _refuse(keywords: dict[str, Any]) -> None:
    if keywords:
        raise ValueError("Unexpected keyword arguments: " + ",".join(keywords))
