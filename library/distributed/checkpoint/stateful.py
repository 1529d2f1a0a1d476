"""The protocol of objects that have a state to save, as modules and optimizers."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """Objects with `state_dict` and `load_state_dict`, which are saved and loaded by these."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state, whose tensors are also those that are loaded into."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """Take a state."""
        ...
