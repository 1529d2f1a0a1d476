"""The schemas of operators as values: those of in-place forms and of `out=` follow from that of the entry."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module

from ..codegen.schema import Alias, Argument, FunctionSchema, Return, parse
from .op import INPLACE, OUT, Op


@cache
def schema(op: Op, mode: int) -> FunctionSchema:
    """The schema of calls of an operator that make a new result, overwrite the first argument, or write to `out`."""
    text = op.schema if op.schema is not None else import_module(f"{op.package}._docstrings").SCHEMAS[op.name]
    found = parse(text, conventions=False)
    found = replace(found, name=replace(found.name, namespace=op.namespace))
    if mode == OUT:
        return _with_out(found)
    return _in_place(found) if mode == INPLACE and not op.is_inplace else found


def _written(letter: str) -> Alias:
    return Alias((letter,), is_write=True)


def _in_place(functional: FunctionSchema) -> FunctionSchema:
    target = functional.self_argument or functional.arguments[0]
    alias = _written("a")

    def marked(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return tuple(replace(each, alias=alias) if each is target else each for each in arguments)

    return replace(
        functional,
        name=replace(functional.name, inplace=True),
        positional=marked(functional.positional),
        keyword_only=marked(functional.keyword_only),
        returns=(replace(functional.returns[0], alias=alias),),
    )


def _with_out(functional: FunctionSchema) -> FunctionSchema:
    aliases = [_written(letter) for letter, _ in zip("abcdefgh", functional.returns, strict=False)]
    single = len(aliases) == 1
    out = tuple(
        Argument("out" if single else result.name or f"out{place}", result.type, alias=alias)
        for place, (result, alias) in enumerate(zip(functional.returns, aliases, strict=True))
    )
    returns: tuple[Return, ...] = tuple(
        replace(result, alias=alias) for result, alias in zip(functional.returns, aliases, strict=True)
    )
    return replace(functional, name=replace(functional.name, overload="out"), out=out, returns=returns)
