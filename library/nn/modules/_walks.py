"""All parts, parameters and buffers of a module, with their dotted names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["Walks"]


class Walks:
    """Mixed into Module: iterators over what it consists of."""

    _modules: dict[str, Any]

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield this module and all its parts with their dotted names, each once unless not `remove_duplicate`."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, _joined(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """Yield this module and all its parts."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the modules that this one immediately consists of, each once, with their names."""
        yield from _distinct(self._modules.items(), set(), True)

    def children(self) -> Iterator[Any]:
        """Yield the modules that this one immediately consists of."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[Any] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in _distinct(get_members_fn(module), seen, remove_duplicate):
                yield _joined(path, name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield parameters with their dotted names.

        Args:
            prefix (str): what the names begin with.
            recurse (bool): whether to include those of all parts.
            remove_duplicate (bool): whether one that is shared comes only once.
        """
        yield from self._named_members(lambda each: each._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Yield all parameters, those of all parts if `recurse`; as optimizers take them."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield buffers with their dotted names. The arguments are those of `named_parameters`."""
        yield from self._named_members(lambda each: each._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Yield all buffers, those of all parts if `recurse`."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _distinct(members: Iterable[tuple[str, Any]], seen: set[Any], once: bool) -> Iterator[tuple[str, Any]]:
    for name, member in members:
        if member is not None and member not in seen:
            if once:
                seen.add(member)
            yield name, member
