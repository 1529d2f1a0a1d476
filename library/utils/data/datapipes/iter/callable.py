"""Pipes that apply a function to each element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...collate import default_collate
from ..columns import apply_to, check_columns, check_function
from ..datapipe import IterDataPipe, length_of
from ..decorators import functional_datapipe

__all__ = ["CollatorIterDataPipe", "FilterIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[Any]):
    """A pipe of a function's results for each element, or for its columns `input_col`. The result replaces the first of
    these columns; it goes to `output_col` if that is given, and behind all columns for -1."""

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        check_function(fn)
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col
        check_columns(fn, input_col)

    def _apply_fn(self, data: Any) -> Any:
        result = apply_to(self.fn, data, self.input_col)
        if self.input_col is None:
            return result
        changed = list(data) if isinstance(data, tuple) else data
        if self.output_col is None:
            columns = self.input_col if isinstance(self.input_col, (list, tuple)) else [self.input_col]
            changed[columns[0]] = result
            for column in sorted(columns[1:], reverse=True):
                del changed[column]
        elif self.output_col == -1:
            changed.append(result)
        else:
            changed[self.output_col] = result
        return tuple(changed) if isinstance(data, tuple) else changed

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        return length_of(self, self.datapipe)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches of lists of elements."""

    def __init__(
        self, datapipe: Any, conversion: Any = default_collate, collate_fn: Callable[..., Any] | None = None
    ) -> None:
        function = conversion if collate_fn is None else collate_fn
        if not callable(function):
            raise RuntimeError("collate() of data frames, with a conversion for each column, is not supported")
        super().__init__(datapipe, function)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Any]):
    """The elements for which a function, of them or of their columns `input_col`, returns True."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., bool], input_col: Any = None) -> None:
        check_function(filter_fn)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col
        check_columns(filter_fn, input_col)

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            condition = apply_to(self.filter_fn, data, self.input_col)
            if not isinstance(condition, bool):
                raise ValueError(
                    "Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(condition)
                )
            if condition:
                yield data
