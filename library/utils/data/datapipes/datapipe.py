"""Base classes of pipes, which have functional forms: `pipe.map(fn)` is `Mapper(pipe, fn)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import partial, update_wrapper, wraps
from typing import Any, TypeVar

from ..dataset import Dataset, IterableDataset

__all__ = ["Batches", "DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "length_of"]

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
    """Base class of both kinds of pipes: forms by name, and hooks of pickling and printing."""

    functions: dict[str, Callable[..., Any]]
    reduce_ex_hook: Callable[[Any], Any] | None = None
    getstate_hook: Callable[[Any], Any] | None = None
    str_hook: Callable[[Any], str] | None = None
    repr_hook: Callable[[Any], str] | None = None

    def __getattr__(self, name: str) -> Any:
        function = type(self).functions.get(name)
        if function is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return update_wrapper(partial(function, self), function, assigned=("__doc__",), updated=())

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Make a function of a pipe a form of this name."""
        cls.functions[function_name] = function

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

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable[[Any], Any] | None) -> None:
        """Set the function that says what is pickled of a pipe. Raises RuntimeError if there is one."""
        _set_hook(cls, "getstate_hook", hook_fn)

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable[[Any], Any] | None) -> None:
        """Set the function that says how pipes are pickled. Raises RuntimeError if there is one."""
        _set_hook(cls, "reduce_ex_hook", hook_fn)

    def __getstate__(self) -> Any:
        hook = _hook(self, "getstate_hook")
        return self.__dict__ if hook is None else hook(self.__dict__)

    def __reduce_ex__(self, *args: Any) -> Any:
        hook = _hook(self, "reduce_ex_hook")
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(*args)

    def __repr__(self) -> str:
        hook = _hook(self, "repr_hook")
        return type(self).__qualname__ if hook is None else hook(self)

    def __str__(self) -> str:
        hook = _hook(self, "str_hook")
        return type(self).__qualname__ if hook is None else hook(self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]


def _hook(pipe: Any, name: str) -> Any:
    """The hook as the function that it is, not as a method."""
    return inspect.getattr_static(type(pipe), name)


def _set_hook(cls: Any, name: str, hook: Any) -> None:
    if hook is not None and inspect.getattr_static(cls, name) is not None:
        raise RuntimeError(f"Attempt to override existing {name}")
    setattr(cls, name, hook)


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


class DFIterDataPipe(IterDataPipe[T_co]):
    """Base of pipes of data frames."""

    def _is_dfpipe(self) -> bool:
        return True


class MapDataPipe(_WithForms, Dataset[T_co]):
    """Base of pipes whose elements have keys."""

    functions: dict[str, Callable[..., Any]] = {}  # noqa: RUF012 (of the class)


def length_of(pipe: Any, source: Any) -> int:
    """The length of what a pipe reads. Raises TypeError if it has none."""
    if isinstance(source, Sized):
        return len(source)
    raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")


class Batches:
    """The options and the number of batches of pipes of both kinds."""

    def __init__(
        self, datapipe: Any, batch_size: int, drop_last: bool = False, wrapper_class: Callable[[Any], Any] = DataChunk
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __len__(self) -> int:
        length = length_of(self, self.datapipe)
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)
