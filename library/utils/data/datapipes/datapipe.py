"""Base classes of pipes, which have functional forms: `pipe.batch(2)` is `Batcher(pipe, 2)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import partial, update_wrapper, wraps
from typing import Any, TypeVar

from ...._names.refusals import refused_class
from ..dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe", "length_of"]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class DataChunk(list[T]):
    """A batch: a list that a later step can take apart."""

    def __init__(self, items: Iterable[T]) -> None:
        self.items = list(items)
        super().__init__(self.items)

    def as_str(self, indent: str = "") -> str:
        """Return the elements as text."""
        return indent + "[" + ", ".join(map(str, self)) + "]"

    def raw_iterator(self) -> Iterator[T]:
        """Return an iterator over the elements."""
        return iter(self.items)


class _WithForms:
    """Base class of both kinds of pipes: forms by name."""

    functions: dict[str, Callable[..., Any]]

    def __getattr__(self, name: str) -> Any:
        function = type(self).functions.get(name)
        if function is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return update_wrapper(partial(function, self), function, assigned=("__doc__",), updated=())

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Callable[..., Any], enable_df_api_tracing: bool = False
    ) -> None:
        """Make a class of pipes a form of this name. Raises Exception if there is one."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")

        def made(source: Any, *args: Any, **kwargs: Any) -> Any:
            return cls_to_register(source, *args, **kwargs)

        cls.functions[function_name] = update_wrapper(made, cls_to_register, assigned=("__doc__",), updated=())

    def __repr__(self) -> str:
        return type(self).__qualname__

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]


class IterDataPipe(_WithForms, IterableDataset[T_co]):
    """Base of pipes that are iterated over. A new iterator resets the pipe, and those before it are no longer valid."""

    functions: dict[str, Callable[..., Any]] = {}  # noqa: RUF012 (of the class)
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__iter__" in cls.__dict__:
            setattr(cls, "__iter__", _guarded(cls.__dict__["__iter__"]))  # noqa: B010 (mypy)

    def __iter__(self) -> Iterator[Any]:
        return self

    def reset(self) -> None:
        """Bring the pipe to its beginning; called when a new iterator begins."""

    def _begin(self) -> int:
        self._valid_iterator_id = 0 if self._valid_iterator_id is None else self._valid_iterator_id + 1
        self._number_of_samples_yielded = 0
        self.reset()
        return self._valid_iterator_id

    def _check(self, number: int) -> None:
        if self._valid_iterator_id != number:
            raise RuntimeError(
                "This iterator has been invalidated because another iterator has been created from the same "
                f"IterDataPipe: {self!r}\nThis may be caused by multiple references to the same IterDataPipe. We "
                "recommend using `.fork()` if that is necessary."
            )


def _guarded(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def watched(pipe: Any, elements: Any, number: int) -> Iterator[Any]:
        for element in elements:
            pipe._number_of_samples_yielded += 1
            yield element
            pipe._check(number)

    if inspect.isgeneratorfunction(method):

        @wraps(method)
        def later(self: Any) -> Iterator[Any]:
            number = self._begin()
            yield from watched(self, method(self), number)

        return later

    @wraps(method)
    def now(self: Any) -> Any:
        number = self._begin()
        elements = method(self)
        return elements if elements is self else watched(self, elements, number)

    return now


DFIterDataPipe = refused_class(
    __name__, "DFIterDataPipe", "there are no pipes of data frames. Derive a class from IterDataPipe"
)


class MapDataPipe(_WithForms, Dataset[T_co]):
    """Base of pipes whose elements have keys."""

    functions: dict[str, Callable[..., Any]] = {}  # noqa: RUF012 (of the class)


class functional_datapipe:  # noqa: N801 (PyTorch's name)
    """Decorator: the class is a form of other pipes, by this name."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: Any) -> Any:
        for base in (IterDataPipe, MapDataPipe):
            if issubclass(cls, base):
                base.register_datapipe_as_function(self.name, cls)
        return cls


def length_of(pipe: Any, source: Any) -> int:
    """The length of what a pipe reads. Raises TypeError if it has none."""
    if isinstance(source, Sized):
        return len(source)
    raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
