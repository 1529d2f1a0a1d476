"""`routine: {c, signature, dtype}`: the loop of an operator in C, over the last dimensions of its tensors, which a
signature names."""

from __future__ import annotations

from types import MappingProxyType

from ...dtypes import DTYPES, DType
from ...errors import suggest
from ...expr import Name
from ...model.loop import MAX_DIMS, Loop, groups
from ...model.operator import Expression, Requirement
from ...source import Mapping, Scalar
from ..fields import Entry
from . import c_text, requirements
from .shared import expression

_EXAMPLE = "routine: {c: 'for (int64_t i = 0; i < n; i++) *result += self[i];', signature: '(n)->()'}"


def read(entry: Entry) -> Loop | None:
    """Read a loop in C; None: there is a mistake, which is reported."""
    node, before = entry.routine, len(entry.diagnostics)
    code, signature = entry.text(node, "c"), entry.text(node, "signature")
    if "signature" not in node:
        entry.report(node.span, "a routine in C needs 'signature'", _EXAMPLE)
    if signature is None or code is None:
        return None
    left, arrow, right = signature.value.partition("->")
    inputs, results = groups(left.strip()), groups(right.strip())
    if not arrow or inputs is None or results is None:
        entry.report(signature.span, f"'{signature.value}' is no signature", "(h,w),(n)->(n)")
        return None
    _check(entry, signature, inputs, results)
    _check_code(entry, code)
    dtypes = _dtypes(entry, node)
    require = _require(entry, inputs)
    if len(entry.diagnostics) > before:
        return None
    labels = [each.name or "result" for each in entry.schema.returns]
    fixed = {each.name: dtypes[each.name] for each in entry.tensors if each.name in dtypes}
    return Loop(inputs, results, MappingProxyType(fixed), tuple(dtypes.get(label) for label in labels), code, require)


def _require(entry: Entry, inputs: tuple[tuple[str, ...], ...]) -> tuple[Requirement[Expression, Name], ...]:
    """Conditions on the parameters and on the sizes that the signature names."""
    sizes = [name for dims in inputs for name in dims if not name.isdigit()]
    known = dict.fromkeys([*(each.name for each in entry.scalars), *sizes])

    def value(name: Scalar) -> Name | None:
        return Name(name.value) if entry.known("parameter or size", name, known) else None

    example = f"{next(iter(known), 'n')} > 0"
    return requirements.read(
        entry, entry.node.get("require"), example, lambda text: expression(entry, text, known), value, by_dtype=True
    )


def _check(
    entry: Entry, signature: Scalar, inputs: tuple[tuple[str, ...], ...], results: tuple[tuple[str, ...], ...]
) -> None:
    returns = entry.schema.returns
    for what, given, wanted in (("tensors", inputs, len(entry.tensors)), ("results", results, len(returns))):
        if len(given) != wanted:
            entry.report(signature.span, f"the signature is of {len(given)} {what}, the schema of {wanted}")
    if len(returns) > 1 and any(each.name is None for each in returns):
        entry.report(entry.name_span, "several results of a body in C have names", "-> (Tensor one, Tensor two)")
    arguments = {each.name for each in entry.schema.arguments}
    sizes = [each.name for each in entry.scalars if str(each.type) == "int"]
    known = {name for dims in inputs for name in dims}
    labels = {each.name or "result" for each in returns}
    for dims in (*inputs, *results):
        if len(dims) > MAX_DIMS:
            entry.report(signature.span, f"{len(dims)} dimensions of one operand; the core takes up to {MAX_DIMS}")
        for name in dims:
            reason = c_text.name_reason(name)
            if reason is not None:
                entry.report(signature.span, f"'{name}' {reason}", "rename the dimension")
            elif name in labels:
                entry.report(signature.span, f"'{name}' is a result", "rename the dimension")
            elif not (name.isdigit() or name.isidentifier()):
                entry.report(signature.span, f"'{name}' is neither a name nor a size")
            elif name in arguments and name not in sizes:
                entry.report(signature.span, f"'{name}' is an argument", "a size may be a parameter of the type int")
    for name in {name for dims in results for name in dims} - known - set(sizes):
        if not name.isdigit():
            help = suggest(name, (*known, *sizes))
            entry.report(signature.span, f"no input has the dimension '{name}', and no int argument is called so", help)


def _check_code(entry: Entry, code: Scalar) -> None:
    """The code ends where its function does, and calls everything by its name."""
    wrong = c_text.mistake(code.value)
    if wrong is not None:
        entry.report(code.span_at(wrong[0], 1), f"{wrong[1]} in C")
    spans = {each.name: entry.argument_name_span(each) for each in entry.schema.arguments}
    spans |= {each.name: entry.name_span for each in entry.schema.returns if each.name is not None}
    for name, span in spans.items():
        reason = c_text.name_reason(name)
        if reason is not None:
            entry.report(span, f"'{name}' {reason}, and the code calls it so", "rename it")


def _dtypes(entry: Entry, node: Mapping) -> dict[str, DType]:
    """`dtype`: that of the only result, or those of inputs and results by their names."""
    labels = [each.name or "result" for each in entry.schema.returns]
    given, names = node.get("dtype"), [*(each.name for each in entry.tensors), *labels]
    if isinstance(given, Mapping):
        entry.known_keys(given, names, "input or result", "dtype")
        texts = {name: entry.text(given, name) for name in given if name in names}
    else:
        texts = dict.fromkeys(labels, entry.text(node, "dtype"))
    known = {dtype.name: dtype for dtype in DTYPES.values() if dtype.compute}
    found = {name: text for name, text in texts.items() if text is not None}
    return {name: known[text.value] for name, text in found.items() if entry.known("dtype", text, known)}
