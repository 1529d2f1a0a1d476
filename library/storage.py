"""opweave.storage: the classes of storages, under torch's name of their module."""

from __future__ import annotations

from ._tensor.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
