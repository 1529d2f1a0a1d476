"""opweave.random: the state of the default generator, as in torch.random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._tensor.generator import Generator, default_generator

if TYPE_CHECKING:
    from ._tensor.tensor import Tensor

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: Any) -> Generator:
    """Starts the default generator's stream of a seed; the generator."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Starts a stream of the default generator that the system chooses; its seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator's stream."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Has the default generator go on from a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Sequence[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Context at whose end the default generator has the state that it had before; `enabled` False: it does nothing."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
