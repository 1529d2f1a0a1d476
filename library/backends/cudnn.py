"""`opweave.backends.cudnn`: NVIDIA's library of neural networks, which is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["flags", "is_acceptable", "is_available", "set_flags", "version"]

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True

_SWITCHES = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")


def is_available() -> bool:
    """Return whether the library is there: False."""
    return False


def version() -> int | None:
    """Return the version of the library: None."""
    return None


def is_acceptable(tensor: object) -> bool:
    """Return whether the library would compute with this tensor: False."""
    return False


def set_flags(
    enabled: bool | None = None,
    benchmark: bool | None = None,
    benchmark_limit: int | None = None,
    deterministic: bool | None = None,
    allow_tf32: bool | None = None,
) -> tuple[bool | int | None, ...]:
    """Sets the switches that are given; returns what all of them were."""
    given = (enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    before = tuple(globals()[name] for name in _SWITCHES)
    globals().update({name: value for name, value in zip(_SWITCHES, given, strict=True) if value is not None})
    return before


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
) -> Iterator[None]:
    """A context in which the switches have these values."""
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        globals().update(zip(_SWITCHES, before, strict=True))
