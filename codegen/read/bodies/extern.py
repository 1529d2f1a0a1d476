"""`routine: {extern: …}`: a product of the core, with shapes in NumPy's notation of generalised ufuncs."""

from __future__ import annotations

import re

from ...model.operator import Extern
from ...model.routines import EXTERN
from ...source import Scalar
from ..fields import Entry, lacks

_DIMENSIONS = re.compile(r"\((?:[a-z]\w*(?:,[a-z]\w*)*)?\)")
_OPTIONAL_DIMENSIONS = re.compile(r"\((?:[a-z]\w*\??(?:,[a-z]\w*\??)*)?\)")
_EXAMPLE = "(n,k),(k,m)->(n,m)"


def read(entry: Entry) -> Extern | None:
    """Read the name and the signature of a product of the core; None: there is a mistake, which is reported."""
    routine = entry.text(entry.routine, "extern")
    if routine is not None:
        entry.known("routine", routine, EXTERN)
    if lacks(entry.routine, ("signature",)):
        help = f"{{extern: gemm, signature: '{_EXAMPLE}'}}"
        entry.report(entry.routine.span, "an extern body needs 'signature'", help)
    signature = entry.text(entry.routine, "signature")
    if signature is None or routine is None:
        return None
    check_signature(entry, signature)
    return Extern(routine.value, signature.value)


def check_signature(entry: Entry, signature: Scalar, optional: bool = False) -> None:
    """The dimensions of each input, `->`, and those of the result, each of which must occur in an input. `optional`: a
    question mark may follow one that some tensors do not have."""
    text, at, inputs = signature.value, 0, 0
    dimensions = _OPTIONAL_DIMENSIONS if optional else _DIMENSIONS
    while True:
        group = dimensions.match(text, at)
        if group is None:
            _malformed(entry, signature, at)
            return
        at = group.end()
        inputs += 1
        if text.startswith("->", at):
            break
        if not text.startswith(",", at):
            _malformed(entry, signature, at)
            return
        at += 1
    result = dimensions.match(text, at + 2)
    if result is None or result.end() != len(text):
        _malformed(entry, signature, at + 2 if result is None else result.end())
        return
    for name in re.finditer(r"\w+", result.group()):
        if name.group() not in re.findall(r"\w+", text[:at]):
            span = signature.span_at(result.start() + name.start(), len(name.group()))
            entry.report(span, f"dimension '{name.group()}' of the result stands in no input")
    if inputs != len(entry.tensors):
        message = f"the signature has {inputs} input{'s' * (inputs != 1)}, the schema {len(entry.tensors)}"
        entry.report(signature.span_at(0, at), message)


def _malformed(entry: Entry, signature: Scalar, at: int) -> None:
    entry.report(signature.span_at(at), "malformed signature", f"dimensions of each input and the result: {_EXAMPLE}")
