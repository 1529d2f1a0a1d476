"""The schema of an operator from the annotations of a function, by torch's rules and with its messages."""

from __future__ import annotations

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterable, Iterator
from types import GenericAlias
from typing import Any, NoReturn

from .._base.devices import device
from .._base.dtypes import dtype
from .._base.tensor_class import Tensor

UNKNOWN = "unknown"
_Number = int | float | bool
_KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _derived(base: Any, name: str, lists: bool, of_optional: bool, optional_lists: bool) -> Iterator[tuple[Any, str]]:
    """An annotation with those for lists of it and for None besides, each with its type in schemas."""
    yield base, name
    yield typing.Optional[base], f"{name}?"  # noqa: UP045
    sequences: tuple[Any, ...] = (typing.Sequence, typing.List, collections.abc.Sequence, list)  # noqa: UP006
    for sequence in sequences:
        if lists:
            yield sequence[base], f"{name}[]"
        if of_optional:
            yield sequence[typing.Optional[base]], f"{name}?[]"  # noqa: UP045
        if optional_lists:
            yield typing.Optional[sequence[base]], f"{name}[]?"  # noqa: UP045


PARAMETER_TYPES: dict[Any, str] = {
    annotation: name
    for row in (
        (Tensor, "Tensor", True, True, False),
        (int, "SymInt", True, False, True),
        (float, "float", True, False, True),
        (bool, "bool", True, False, True),
        (str, "str", False, False, False),
        (_Number, "Scalar", True, False, False),
        (dtype, "ScalarType", False, False, False),
        (device, "Device", False, False, False),
    )
    for annotation, name in _derived(*row)
}
RESULT_TYPES: dict[Any, str] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    _Number: "Scalar",
}


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """Return the schema that the annotations of a function describe, such as `(Tensor x, SymInt n=1) -> Tensor`.

    Args:
        prototype_function (Callable): every argument and the result have annotations: Tensor, int, float, bool, str,
            `int | float | bool`, dtype and device, lists of them, or None besides.
        mutates_args (Iterable[str]): the arguments whose memory the function writes to; `"unknown"`: all tensors.
        op_name (str): put before the schema.

    Raises:
        ValueError: an annotation is missing or of another type, or no argument has a name of `mutates_args`.
    """
    return _Inference(prototype_function, mutates_args).schema(op_name or "")


class _Inference:
    def __init__(self, function: Any, mutates_args: str | Iterable[str]) -> None:
        self.globals: dict[str, Any] = getattr(function, "__globals__", {})
        self.signature = inspect.signature(function)
        self.mutated = mutates_args if isinstance(mutates_args, str) else tuple(mutates_args)
        if isinstance(self.mutated, str) and self.mutated != UNKNOWN:
            raise ValueError(
                "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
                "'unknown'. "
            )

    def schema(self, name: str) -> str:
        parameters = self.signature.parameters
        written: list[str] = []
        for place, parameter in enumerate(parameters.values()):
            if parameter.kind is _KEYWORD_ONLY and "*" not in written:
                written.append("*")
            written.append(self._parameter(place, parameter))
        if self.mutated != UNKNOWN and not set(self.mutated) <= set(parameters):
            self._fail(
                f"{set(self.mutated) - set(parameters)} in mutates_args were not found in the custom op's signature. "
                "mutates_args should contain the names of all args that the custom op mutates, or just the string "
                "'unknown' if you don't know."
            )
        return f"{name}({', '.join(written)}) -> {self._results()}"

    def _parameter(self, place: int, parameter: inspect.Parameter) -> str:
        name = parameter.name
        if parameter.kind not in (_POSITIONAL, _KEYWORD_ONLY):
            self._fail("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.annotation is parameter.empty:
            self._fail(f"Parameter {name} must have a type annotation.")
        annotation = self._evaluated(parameter.annotation)
        kind = PARAMETER_TYPES.get(annotation)
        if kind is None:
            instead = ""
            if typing.get_origin(annotation) is tuple:
                instead = "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. "
            types = PARAMETER_TYPES.keys()
            self._fail(
                f"Parameter {name} has unsupported type {parameter.annotation}. {instead}The valid types are: {types}."
            )
        if self._is_mutated(name, kind):
            kind = f"Tensor(a{place}!){kind.removeprefix('Tensor')}"
        default = "" if parameter.default is parameter.empty else f"={self._default(name, parameter.default)}"
        return f"{kind} {name}{default}"

    def _is_mutated(self, name: str, kind: str) -> bool:
        if self.mutated == UNKNOWN:
            return kind.startswith("Tensor")
        if name not in self.mutated:
            return False
        if not kind.startswith("Tensor"):
            self._fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        return True

    def _default(self, name: str, value: Any) -> str:
        if value is None or isinstance(value, (int, float, bool)):
            return str(value)
        if isinstance(value, (str, device)):
            return f'"{value}"'
        if isinstance(value, dtype):
            return str(value).rpartition(".")[2]
        self._fail(f"Parameter {name} has an unsupported default value type {type(value)}.")

    def _results(self) -> str:
        annotation = self._evaluated(self.signature.return_annotation)
        if annotation is None:
            return "()"
        if annotation is inspect.Parameter.empty:
            self._fail("No return type annotation was provided. Please add one.")
        several = typing.get_origin(annotation) is tuple
        each = [RESULT_TYPES.get(kind) for kind in (typing.get_args(annotation) if several else (annotation,))]
        if None in each:
            self._fail(f"Return has unsupported type {annotation}. The valid types are: {RESULT_TYPES}.")
        listed = ", ".join(map(str, each))
        return f"({listed})" if len(each) > 1 else listed

    def _evaluated(self, annotation: Any) -> Any:
        """An annotation whose text, or that of a part of it, is evaluated where the function stands."""
        if isinstance(annotation, str):
            try:
                return eval(annotation, self.globals)
            except Exception as error:
                kind = "" if isinstance(error, NameError) else f"{type(error).__name__}: "
                self._fail(f"Unsupported type annotation {annotation}. It is not a type. ({kind}{error})")
        parts = typing.get_args(annotation)
        if any(isinstance(part, (str, typing.ForwardRef)) for part in parts):
            origin: Any = typing.get_origin(annotation)
            texts = [part.__forward_arg__ if isinstance(part, typing.ForwardRef) else part for part in parts]
            return GenericAlias(origin, tuple(self._evaluated(part) for part in texts))
        return annotation

    def _fail(self, what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {self.signature})")
