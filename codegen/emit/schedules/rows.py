"""The parts that schedules of several families share: rows of memory, parameters and errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...nest.forms import Axis, Form, Line
from ..expressions import Variable

ARGUMENTS = "char *const *ptr, const int64_t *stride, int64_t length, const ow_scalar *params"
ALWAYS_INLINE = "static inline __attribute__((always_inline))"
NEVER_INLINE = "static __attribute__((noinline))"
_EQUAL = "equal inputs give equal results anywhere"
PADDED = f"length is a multiple of OW_PAD: only the vector form of the loop runs, so {_EQUAL}."
WHOLE_PARTS = "~(int64_t)(OW_PAD - 1)"


def call(name: str, *arguments: str) -> str:
    """Return a call with the arguments that are not empty."""
    return f"{name}({', '.join(filter(None, arguments))})"


def written(statements: Iterable[str], value: str) -> str:
    """Return temporaries and what follows from them as one line."""
    return " ".join((*statements, value))


def unused(ctype: str, name: str, value: str) -> tuple[Form, Form]:
    """Return the declaration of a variable that may not be used."""
    return Line(f"{ctype} {name} = {value};"), Line(f"(void){name};")


def locals_of(params: Iterable[Variable], fails: bool) -> Iterator[Form]:
    """Yield the parameters of a loop's function as variables, and where errors are noted."""
    for each in params:
        value = each.value or f"({each.ctype})params[{each.index}].{each.field}"
        yield Line(written(each.statements, f"const {each.ctype} {each.name} = {value};"))
    if fails:
        yield Line("int failed = 0, *err = &failed;")


def status(fails: bool) -> Line:
    """Return the end of a loop's function."""
    return Line(f"return {'failed ? OW_ZERO_DIVISION : OW_OK' if fails else 'OW_OK'};")


def pointers(ctype: str, places: Mapping[str, str]) -> Line:
    """Return pointers to elements of this type, by their names."""
    cast = f"({ctype} *)"
    to = (f"*{name} = {cast}{f'({place})' if ' ' in place else place}" for name, place in places.items())
    return Line(f"{ctype} {', '.join(to)};")


def is_contiguous(operand: int, ctype: str) -> str:
    """Return the condition that the row of an operand has no gaps."""
    return f"stride[{operand}] == sizeof({ctype})"


def buffers(variables: Iterable[Variable], size: str, aligned: bool) -> Iterator[Form]:
    """Yield buffers for parts of rows."""
    for each in variables:
        yield Line(f"{'_Alignas(64) ' * aligned}{each.ctype} {buffer(each.name)}[{size}];")


def buffer(name: str) -> str:
    return f"ow_buffer_{name}" if name else "ow_buffer"


def row(each: Variable, operand: int) -> str:
    """Return the arguments by which a part of a row is found or copied."""
    place = f"ptr[{operand}] + done * stride[{operand}], stride[{operand}]"
    return f"{buffer(each.name)}, {place}, count, sizeof({each.ctype})"


def loads(inputs: Sequence[Variable], first: int, whole: str = "") -> Iterator[Form]:
    """Yield the parts of rows, where they are or copied to buffers: those of `padded` elements, if `whole` is the
    condition that no more are computed than there are."""
    for operand, each in enumerate(inputs, first):
        found = f"ow_row({row(each, operand)})"
        if not whole:
            yield Line(f"const {each.ctype} *from_{each.name} = {found};")
            continue
        copied = f"{is_contiguous(operand, each.ctype)} ? {_copy(each, operand)} : ow_copied_row({row(each, operand)})"
        yield Line(f"const {each.ctype} *from_{each.name} = {whole} ? {found} : {copied};")
        filled = f"{buffer(each.name)}[i] = {buffer(each.name)}[count - 1];"
        yield Axis("i", "padded", (Line(filled),), first="count")


def _copy(each: Variable, operand: int) -> str:
    return f"memcpy({buffer(each.name)}, ptr[{operand}] + done * stride[{operand}], count * sizeof({each.ctype}))"


def put(name: str, ctype: str, operand: int) -> str:
    """Return the copy of a part of a result from its buffer to where it belongs."""
    place = f"ptr[{operand}] + done * stride[{operand}], {buffer(name)}, stride[{operand}]"
    return f"ow_put_row({place}, count, sizeof({ctype}));"


def put_padded(name: str, ctype: str, operand: int) -> tuple[Line, Line]:
    """Return the same of a part that may be the last of a row without gaps."""
    place = f"ptr[{operand}] + done * stride[{operand}], {buffer(name)}"
    copy = f"memcpy({place}, count * sizeof({ctype}));"
    return Line(f"if ({is_contiguous(operand, ctype)}) {copy}"), Line(f"else {put(name, ctype, operand)}")
