"""opweave/_operators.py: the Python functions and methods of every operator.

A function settles the common case with one call of the core and leaves everything else to the slow path in
runtime/_dispatch/. Which call that is follows from the family and the number of inputs; the text stands in
templates/operators.py.j2.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..docs.docstrings import docstring
from ..model import variants
from ..model.operator import Composite, Factory, Family, Found, Indexing, Operator, Reduce, Rows, Scan
from ..model.python_operators import PythonOperator
from ..model.signatures import signature
from ..read.accepts import described
from ..read.bodies.indexing import word_argument
from ..schema import Argument, base_name
from .composites import composite_body
from .registry import indexed
from .text import in_docstring, render, template_folder


@dataclass(frozen=True)
class Callable:
    """One operator as operators.py.j2 wants it."""

    name: str
    index: int
    family: str
    signature: str
    method_signature: str
    inplace_signature: str
    doc: str
    inputs: tuple[str, ...]
    params: tuple[str, ...]
    names: tuple[str, ...]
    passed: tuple[str, ...]
    ints: tuple[str, ...]
    used_ints: tuple[str, ...]
    lists: tuple[str, ...]
    optional: tuple[str, ...]
    vararg: str | None
    separate_tensors: str | None
    single: bool
    results: tuple[str, ...]
    placement: tuple[str, ...]
    default_params: str
    self_place: int
    has_dtype: bool
    has_keepdim: bool
    has_numpy_names: bool
    required: tuple[str, ...]
    """Arguments without a default that NumPy's names may stand for, or that follow one of these."""
    plain: bool
    pairwise: str | None
    number_first: bool
    alone: str | None
    one_dim: bool
    has_out: bool
    any_out: bool
    exact_out: bool
    sequence: bool
    promotes: bool
    inplace: bool
    returns_view: bool
    method: bool
    function: bool
    aliases: tuple[str, ...]
    choices: tuple[tuple[str, str | None, Mapping[str, str]], ...]
    inplace_argument: bool
    optional_names: tuple[str, ...]
    real_names: tuple[str, ...]
    dunder: PythonOperator | None
    shape: str
    let: tuple[tuple[str, str], ...]
    fill: str | None
    default_dtype: int | None
    others: tuple[str, ...]
    floats: tuple[str, ...]
    integers: tuple[str, ...]
    flags: tuple[str, ...]
    body: str
    body_names: tuple[str, ...]
    refused: tuple[int, ...]
    arguments: tuple[tuple[str, int, str | None], ...]
    plain_call: str
    core: str | None
    core_test: str
    word: str | None
    words: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, str], ...]
    refusal: str | None
    complex_refusal: str | None
    summary: str
    has_derivatives: bool

    @property
    def slow_arguments(self) -> str:
        return self._slow_arguments(self.inputs)

    @property
    def inplace_arguments(self) -> str:
        return self._slow_arguments(tuple("self" if name == "input" else name for name in self.inputs))

    def _slow_arguments(self, inputs: tuple[str, ...]) -> str:
        return _tuple(inputs) + (f", {_tuple(self.params)}" if self.params else "")


@dataclass(frozen=True)
class Package:
    """A woven package: its name, and the file of its kernels (None: all operators are Python)."""

    name: str
    shared_object: str | None

    @property
    def arguments(self) -> str:
        """Of the call that loads it."""
        return f"{self.name!r}, __file__, {self.shared_object!r}, INTERFACE"


def _tuple(names: Sequence[str]) -> str:
    return "(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")"


def emit(
    operators: Sequence[Operator],
    source: str,
    output: str,
    package: Package | None = None,
    examples: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The module. `package` is the woven package it belongs to; None: opweave itself. `examples` are the sessions of
    docstrings that are not derived, by operators."""
    places = {operator.name: place for place, operator in enumerate(indexed(operators))}
    return render(
        "operators.py.j2",
        source,
        output,
        operators=[_callable(operator, places.get(operator.name, -1), package, examples) for operator in operators],
        package=package,
        interface=interface(),
    )


def interface() -> str:
    """Stands for what the module expects of the runtime: it changes with the template."""
    return hashlib.sha256((template_folder() / "operators.py.j2").read_bytes()).hexdigest()[:8]


def _callable(operator: Operator, index: int, package: Package | None, examples: Mapping[str, str]) -> Callable:
    parameters = variants.parameters(operator)
    body = operator.body
    vararg = variants.varargs(operator)
    # A view's integers and lists, in schema order; every other family's have their own place in the template.
    rest = [p for p in parameters if not p.argument.is_tensor and p.argument not in operator.params]
    scalars = [p for p in parameters if p.argument in operator.params]
    dims = [p for p in rest if p.name == "dim" and isinstance(body, (Reduce, Rows))]
    # The core's calls without parameters stand for all of them having their defaults.
    defaults = " and ".join(f"{p.name} {'is' if p.default == 'None' else '=='} {p.default}" for p in scalars)
    inputs = tuple(p.name for p in parameters if p.argument in operator.tensors_only)
    tensors = variants.separate_tensors(operator)
    word = word_argument(operator.schema.arguments)
    text = docstring(operator, "opweave" if package is None else package.name, examples)
    return Callable(
        name=operator.name,
        index=index,
        family=operator.family.value,
        signature=signature(operator, "input"),
        method_signature=signature(operator, "self"),
        inplace_signature=signature(operator, "self", with_out=False),
        doc=in_docstring(textwrap.indent(text, "    ").strip()),
        inputs=inputs,
        params=tuple(p.name for p in scalars),
        names=tuple(p.name for p in parameters),
        passed=tuple(f"{p.name}={p.name}" if p.keyword_only else p.name for p in parameters),
        ints=tuple(p.name for p in rest if not p.argument.is_list),
        used_ints=tuple(p.name for p in rest if not p.argument.is_list and p.argument.name not in operator.unused),
        lists=tuple(p.name for p in rest if p.argument.is_list),
        optional=tuple(p.name for p in rest if p.argument.is_optional),
        vararg=vararg.name if vararg else None,
        separate_tensors=tensors.name if tensors else None,
        single="scalar_ok" in operator.tags,
        results=() if operator.internal else operator.result_names,
        placement=tuple(p.name for p in parameters if p.name in variants.PLACEMENT),
        default_params="" if any(p.default is None for p in scalars) else defaults,
        self_place=[p.name for p in parameters].index("input") if operator.schema.self_argument else -1,
        has_dtype=operator.has_dtype_argument,
        has_keepdim=operator.schema.argument("keepdim") is not None,
        has_numpy_names=variants.has_numpy_names(operator),
        required=tuple(p.name for p in parameters if p.default is None and p not in (vararg, tensors)),
        plain=not isinstance(body, (Reduce, Scan)) or body.results == (Found.VALUE,),
        pairwise=body.pairwise if isinstance(body, Reduce) else None,
        number_first=operator.family is Family.ELEMENTWISE and bool(operator.accepts),
        alone=operator.alone,
        one_dim=not _takes_several_dims(operator),
        has_out=variants.has_out(operator),
        any_out="out_any" in operator.tags,
        exact_out="out_exact" in operator.tags or (isinstance(body, Reduce) and body.results == (Found.POSITION,)),
        sequence="out_same_count" in operator.tags,
        promotes="promotes" in operator.tags,
        inplace=variants.has_inplace(operator),
        returns_view=operator.schema.returns_alias,
        method=operator.method,
        function=bool(variants.function_names(operator)),
        aliases=operator.aliases,
        choices=tuple((p.name, p.default, operator.choices[p.name]) for p in parameters if p.name in operator.choices),
        inplace_argument=variants.has_inplace_argument(operator),
        real_names=tuple(p.name for p in scalars if p.argument.is_real),
        optional_names=tuple(p.name for p in (*scalars, *dims) if p.argument.is_optional),
        dunder=variants.python_operator(operator),
        shape=body.shape if isinstance(body, Factory) else "",
        let=body.let if isinstance(body, Factory) else (),
        fill=body.fill if isinstance(body, Factory) else None,
        default_dtype=body.dtype.code if isinstance(body, Factory) and body.dtype else None,
        others=tuple(name for name in inputs if name != "input"),
        floats=tuple(p.name for p in rest if base_name(p.argument.type) == "float"),
        integers=tuple(p.name for p in rest if str(p.argument.type).rstrip("?") == "int"),
        flags=tuple(p.name for p in rest if str(p.argument.type) in ("int", "bool")),
        body=textwrap.indent(composite_body(body), "    ") if isinstance(body, Composite) else "",
        body_names=tuple(argument.name for argument in operator.schema.arguments),
        refused=tuple(_refused(operator)) if operator.family is Family.COMPOSITE else (),
        arguments=tuple(_arguments(operator)) if operator.family is Family.COMPOSITE else (),
        plain_call=_plain_call(operator, inputs),
        core=re.sub(r"\bself\b", "input", body.core) if isinstance(body, Composite) and body.core else None,
        core_test=_core_test(operator),
        word=None if word is None else word.name,
        words=tuple(_words(operator, word)),
        numbers=tuple(body.numbers.items()) if isinstance(body, Indexing) else (),
        refusal=operator.refusal,
        complex_refusal=operator.complex_refusal,
        summary=operator.doc.split(". ")[0].rstrip(".") + ".",
        has_derivatives=bool(operator.derivatives),
    )


def _arguments(operator: Operator) -> Iterator[tuple[str, int, str | None]]:
    """Name, position (0: by keyword only) and types of a composite's arguments, as the slow path checks them."""
    # Of a function the first one is number 1, of a method the one after `self`.
    for place, parameter in enumerate(variants.parameters(operator), 1 if operator.function else 0):
        position = 0 if parameter.keyword_only else place
        yield parameter.name, position, described(parameter.argument, operator.accepts)


def _plain_call(operator: Operator, inputs: tuple[str, ...]) -> str:
    """When a composite's body can be called as it is: dense tensors of a dtype that it takes, a new result, and other
    arguments of exactly their types."""
    if operator.family is not Family.COMPOSITE or "unpack" in operator.tags:
        return ""
    tests = [_exact(name, types) for name, _, types in _arguments(operator) if types is not None]
    if variants.has_out(operator):
        tests.append("out is None")
    refused = _refused(operator)
    if operator.has_dtype_argument:
        tests.append("dtype is None" if refused else "(dtype is None or _type(dtype) is _dtype_class)")
    if refused:
        code = f"_dtype_of({inputs[0]}._h)" if inputs else "_lib.get_default_dtype()"
        tests.append(f"{code} not in {{{', '.join(map(str, refused))}}}")
    return " and ".join(tests)


def _core_test(operator: Operator) -> str:
    """When the call of the core may be made: it checks the arguments that it takes, but nobody else the others."""
    if not isinstance(operator.body, Composite) or operator.body.core is None:
        return ""
    taken = {"input" if name == "self" else name for name in re.findall(r"\w+", operator.body.core)}
    tests = [_exact(name, types) for name, _, types in _arguments(operator) if types is not None and name not in taken]
    return " and ".join([*tests, "out is None"] if variants.has_out(operator) else tests)


# The Python type, as the module calls it, that a value of a schema's type has in most calls.
_EXACT: Mapping[str, str] = {
    "Tensor": "Tensor", "Scalar": "_float", "int": "_int", "float": "_float", "bool": "_bool", "str": "_str",
}  # fmt: skip


def _exact(name: str, types: str) -> str:
    """A test that is quick, and true of most values that the argument may have."""
    first, *others = types.rstrip("?").split("|")
    element, bracket, _ = first.partition("[")
    kind = _EXACT.get(element)
    tests = [f"{name} is None"] if types.endswith("?") else []
    if kind and bracket:
        tests.append(f"_type({name}) in _LISTS and {{*_map(_type, {name})}} <= {{{kind}}}")
    elif kind:
        tests.append(f"_type({name}) is {kind}")
    if first in ("Scalar", "float", "int[1]") or "int" in others:
        tests.append(f"_type({name}) is _int")
    return f"({' or '.join(tests)})" if len(tests) > 1 else "".join(tests)


def _words(operator: Operator, argument: Argument | None) -> Iterator[tuple[str, str]]:
    """What the core is told for each value of the argument that chooses a reduction."""
    if argument is None or not isinstance(operator.body, Indexing):
        return
    yield from ((repr(word), str(place)) for place, word in enumerate(operator.body.words))
    if argument.is_optional:
        yield "None", "_dispatch.NONE"


def _takes_several_dims(operator: Operator) -> bool:
    dim = operator.schema.argument("dim")
    return dim is not None and dim.is_list


def _refused(operator: Operator) -> list[int]:
    from ..dtypes import DTYPES

    return [dtype.code for dtype in DTYPES.values() if dtype not in operator.dtypes]
