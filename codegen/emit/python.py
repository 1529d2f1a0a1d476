"""The Python functions and methods of every operator (opweave/_operators.py): a row of facts for each, and the bodies
of those that are written in Python."""

from __future__ import annotations

import ast
import hashlib
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..cache import NONE as NO_CACHE
from ..cache import Cache
from ..docs.docstrings import docstring
from ..docs.results import meaning
from ..dtypes import DTYPES
from ..model import layout, rules, variants
from ..model.operator import Composite, Factory, Family, Found, Operator
from ..model.python_operators import PythonOperator
from ..model.signatures import accepted_types, overload_names
from ..read.accepts import ANY
from ..schema import Argument, base_name
from .composites import composite_body
from .registry import indexed
from .text import in_docstring, render, template_folder


@dataclass(frozen=True)
class Body:
    """A function of Python behind an operator."""

    name: str
    parameters: tuple[str, ...]
    text: str
    formats: int = 0
    """The number of its arguments that decide the memory format of the results; 0: none."""


@dataclass(frozen=True)
class Row:
    """An operator as operators.py.j2 wants it: the facts of `_dispatch.define`, as Python."""

    name: str
    facts: tuple[str, ...]
    body: Body | None


@dataclass(frozen=True)
class Package:
    """A woven package: its name, and what the files of its kernels begin with (None: all operators are Python)."""

    name: str
    stem: str | None

    @property
    def arguments(self) -> str:
        """The arguments of the call that loads it."""
        return f"{self.name!r}, __file__, {self.stem!r}, INTERFACE"


def emit(operators: Sequence[Operator], source: str, output: str, package: Package | None = None) -> str:
    """The module. `package` is the woven package it belongs to; None: opweave itself."""
    places = {operator.name: place for place, operator in enumerate(indexed(operators))}
    return render(
        "operators.py.j2",
        source,
        output,
        rows=[_row(operator, places.get(operator.name), package) for operator in operators],
        package=package,
        interface=interface(),
    )


def emit_docstrings(
    operators: Sequence[Operator],
    source: str,
    output: str,
    package: Package | None = None,
    examples: Mapping[str, str] = MappingProxyType({}),
    cache: Cache = NO_CACHE,
) -> str:
    """The module of docstrings and schemas, imported when one is read. `examples`: sessions that are not derived."""
    name = "opweave" if package is None else package.name

    def text(operator: Operator) -> str:
        example = examples.get(operator.name, "")
        return cache.text(operator, f"docstring {example}", lambda: docstring(operator, name, examples))

    texts = [(each.name, in_docstring(text(each).strip())) for each in operators]
    schemas = [(each.name, repr(str(each.schema))) for each in operators]
    return render("docstrings.py.j2", source, output, docstrings=texts, schemas=schemas, package=package)


def interface() -> str:
    """Return a hash of what the module expects of the runtime: it changes with the template, and with what makes the
    rows."""
    sources = (template_folder() / "operators.py.j2", Path(__file__), Path(layout.__file__))
    return hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()[:8]


def _row(operator: Operator, index: int | None, package: Package | None) -> Row:
    path = variants.path(operator) if package is None else None  # woven ones are not added to submodules of opweave
    number = "-1" if index is None else str(index) if package is None else f"_library.first + {index}"
    facts = (
        number,
        repr(operator.name),
        repr(operator.family.key),
        repr(layout.layout(operator)),
        f"({''.join(f'{each}, ' for each in _parameters(operator))})",
        str(sum(not parameter.keyword_only for parameter in variants.parameters(operator))),
        *([] if path is None else [f"path={path!r}"]),
        *(f"{name}={value}" for name, value in _keywords(operator) if value is not None),
    )
    return Row(operator.name, facts, _body(operator))


def _parameters(operator: Operator) -> Iterator[str]:
    """Name, types and default of each argument."""
    for parameter in variants.parameters(operator):
        default = () if parameter.default is None else (parameter.default,)
        yield f"({', '.join((repr(parameter.name), repr(_types(operator, parameter.argument)), *default))})"


def _types(operator: Operator, argument: Argument) -> str:
    """Return the types that an argument accepts, as _dispatch/check.py reads them: `Tensor|Scalar?`, `int[]`, `dtype?`;
    `placement` for what is checked by itself, `any` for what the body judges."""
    base = base_name(argument.type).replace("SymInt", "int")
    types = accepted_types(operator, argument)
    if ANY in types or _is_interpreted(operator, argument):
        return "any"
    if base == "MemoryFormat" and (operator.family is Family.CORE or not variants.is_factory(operator)):
        return "MemoryFormat?" if argument.is_optional else "MemoryFormat"
    if base in ("Layout", "Device", "MemoryFormat") or argument.name in variants.PLACEMENT:
        return "placement"
    if base == "ScalarType":
        return "dtype?"
    # The core tells no dimensions from an empty list of them; elsewhere None becomes the default when it is checked.
    optional = argument.takes_none if operator.family is Family.REDUCE else argument.is_optional
    return "|".join(map(str, types)).replace("SymInt", "int") + "?" * optional


def _is_interpreted(operator: Operator, argument: Argument) -> bool:
    """Return True if a factory interprets the argument itself. Numbers are taken as they are."""
    return operator.body.interprets(argument.name) and not argument.is_scalar


def _keywords(operator: Operator) -> Iterator[tuple[str, str | None]]:
    """Facts that few operators have, by their names in `_dispatch.define`; None where this one has not."""
    body = operator.body
    vararg, tensors = variants.varargs(operator), variants.separate_tensors(operator)
    refused = sum(1 << dtype.code for dtype in DTYPES.values() if dtype not in operator.dtypes)
    choices = {name: dict(options) for name, options in operator.choices.items()}
    dunder = variants.python_operator(operator)
    yield "overload", repr(operator.schema.name.overload) if operator.schema.name.overload else None
    yield "overloads", _tuple(overload_names(operator)) if not operator.internal else None
    yield "out", repr(_out(operator)) if variants.has_out(operator) else None
    yield "inplace", _flag(variants.has_inplace(operator) and not operator.schema.name.inplace)
    yield "method", _flag(operator.method)
    yield "getter", _getter(operator) if operator.property_name else None
    yield "function", _flag(bool(variants.function_names(operator)))
    yield "first", None if operator.function and not (operator.family is Family.VIEW and operator.method) else "0"
    yield "aliases", _tuple(operator.aliases)
    yield "dunders", _tuple(_dunders(dunder, operator)) if dunder else None
    yield "separate", repr(vararg.name) if vararg else repr(tensors.name) if tensors else None
    yield "results", _tuple(() if operator.internal else operator.result_names)
    yield "view", _flag(operator.schema.returns_alias and not operator.schema.name.inplace)
    yield "refused", str(refused) if operator.family is Family.COMPOSITE and refused else None
    yield "refusal", repr(operator.refusal) if operator.refusal else None
    yield "complex_refusal", repr(operator.complex_refusal) if operator.complex_refusal else None
    yield "promotes", _flag("promotes" in operator.tags)
    yield "lone_numbers", _flag("lone_numbers" in operator.tags)
    yield "single", _flag(variants.has_single_tensor(operator))
    yield "inplace_argument", _flag(variants.has_inplace_argument(operator))
    yield "differentiable", _flag(bool(operator.derivatives))
    facts, naming = rules.facts(operator), rules.naming(operator)
    yield "rule", repr(facts.rule) if facts.rule else None
    yield "naming", repr(naming) if naming != facts.rule else None
    yield "shared", _tuple(sorted(body.per_place))
    yield "sums_rows", _flag(body.sums_rows)
    yield "by_operators", body.by_operators(operator)
    yield "combine", repr(facts.combine) if facts.combine else None
    yield "random", _flag(facts.random)
    yield "data_dependent", _flag(facts.data_dependent)
    yield "dynamic_shape", _flag(facts.dynamic_shape)
    yield "may_fail", _flag(facts.may_fail)
    yield "in_range", _tuple(operator.in_range) if operator.family is Family.COMPOSITE else None
    yield "autocast", repr(operator.autocast) if operator.autocast else None
    yield "choices", repr(choices) if choices else None
    yield "by_tensor", repr(operator.by_tensor) if operator.by_tensor else None
    yield "alone", f"lambda {_first(operator)}: {operator.alone}" if operator.alone else None
    yield "pairwise", repr(body.pairwise) if body.pairwise else None
    if operator.family is Family.RANDOM:
        integers = [each.name for each in operator.schema.arguments if str(each.type) == "int?"]
        yield "bounds", _tuple(integers)
    yield "default_dtype", str(body.default_dtype.code) if body.default_dtype else None
    yield "numbers", repr(dict(body.numbers)) if body.numbers else None
    yield "words", _words(operator)
    if _body(operator) is not None:
        yield "body", f"_{operator.name}_body"
    yield "fast", _fast(operator, body.core) if body.core else None
    yield "opaque", _flag(body.opaque)


def _fast(operator: Operator, call: str) -> str:
    """A call of the core as its function and arguments: places in the schema, and constants in tuples."""
    names = [argument.name for argument in operator.schema.arguments]
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    texts = [ast.unparse(each) for each in (tree.func, *tree.args)]
    parts = [str(names.index(each)) if each in names else f"({each},)" for each in texts[1:]]
    return f"(_handle.{texts[0]}, {', '.join(parts)})"


def _getter(operator: Operator) -> str:
    return repr((operator.property_name, meaning(operator), operator.assignable))


def _flag(value: bool) -> str | None:
    return "True" if value else None


def _tuple(values: Sequence[object]) -> str | None:
    return repr(tuple(values)) if values else None


def _first(operator: Operator) -> str:
    return variants.parameters(operator)[0].name


def _out(operator: Operator) -> str:
    """The rule of `out=`: its dtype must be the result's, may be any or one that the result can be cast to; a sequence
    keeps the shape of an `out` with as many elements."""
    if "out_exact" in operator.tags or (operator.family is Family.REDUCE and operator.body.found == (Found.POSITION,)):
        return "exact"
    if "out_any" in operator.tags:
        return "any"
    return "same_count" if "out_same_count" in operator.tags else "cast"


def _dunders(dunder: PythonOperator, operator: Operator) -> list[tuple[str, str]]:
    """Special methods of Python, and how each calls the operator."""
    if dunder.operands == 1:
        return [(dunder.method, "function")]
    found = [(dunder.method, "binary")]
    if dunder.reflected:
        found.append((dunder.reflected_method, "reflected"))
    if dunder.augmented and variants.has_inplace(operator):
        found.append((dunder.augmented_method, "augmented"))
    return found


def _words(operator: Operator) -> str | None:
    """Return the number that stands for each text of the argument that chooses a reduction, as the text of a dict."""
    if not operator.body.words:
        return None
    argument = next(each for each in operator.schema.arguments if base_name(each.type) == "str")
    words = [f"{word!r}: {place}" for place, word in enumerate(operator.body.words)]
    return f"{{{', '.join([*words, 'None: _NONE'] if argument.is_optional else words)}}}"


def _body(operator: Operator) -> Body | None:
    names = tuple(argument.name for argument in operator.schema.arguments)
    if operator.family not in BODIES:
        return None
    further, lines = BODIES[operator.family](operator, operator.body)
    text = "\n".join(lines)
    if not text:
        return None
    formats = len(operator.tensors_only) if "memory_format" in operator.tags else 0
    return Body(f"_{operator.name}_body", (*names, *further), textwrap.indent(text, "    "), formats)


def _composite(operator: Operator, body: Composite) -> tuple[tuple[str, ...], Iterable[str]]:
    return (), [composite_body(body)]


def _factory(operator: Operator, body: Factory) -> tuple[tuple[str, ...], Iterable[str]]:
    is_plain = not (body.let or body.fill or body.default_dtype) and body.shape.isidentifier()
    return ("_produce",), () if is_plain else _produced(operator, body)


BODIES: dict[Family, Callable[[Operator, Any], tuple[tuple[str, ...], Iterable[str]]]] = {
    Family.COMPOSITE: _composite,
    Family.FACTORY: _factory,
}
"""The Python behind operators of a family: parameters besides the arguments, and lines; none where there is none."""


def _produced(operator: Operator, body: Factory) -> Iterator[str]:
    if body.let:
        yield f"{', '.join(name for name, _ in body.let)} = {', '.join(f'({text})' for _, text in body.let)}"
    result = f"_produce({', '.join([body.shape, 'dtype', *(param.name for param in operator.params)])})"
    if body.fill is None:
        yield f"return {result}"
    else:
        yield f"result = {result}"
        yield f"return {body.fill}"
