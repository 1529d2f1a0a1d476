"""opweave.random: the state of the default generator, as in torch.random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._base.generator import Generator, default_generator

if TYPE_CHECKING:
    from ._tensor.tensor import Tensor

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: Any) -> Generator:
    """Start the default generator's stream of a seed and return the generator.

    Example:
        >>> _ = opweave.manual_seed(0)
        >>> opweave.rand(2)
        tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start a stream of the default generator that the system chooses, and return its seed as an int."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator's stream as an int."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator as a uint8 tensor of shape (5056,)."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator to one that `get_rng_state` returned."""
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
