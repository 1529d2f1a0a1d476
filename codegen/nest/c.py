"""Prints the forms of kernels as C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .forms import Axis, Block, Case, Declared, Form, Function, Lanes, Line, Pragma, Sourced, Strip, Text

_INDENT = "    "


def text(functions: Iterable[Function | Text], source: str) -> str:
    """Return functions as C, each with an empty line behind it. `source` is the file of the declarations, for markers
    that become `#line` (emit/text.py)."""
    return "".join(f"{line}\n" for function in functions for line in _function(function, source))


def _function(function: Function | Text, source: str) -> Iterator[str]:
    if isinstance(function, Text):
        yield from (function.text, "")
        return
    if function.comment:
        yield f"/* {function.comment} */"
    yield f"{function.head} {{"
    yield from lines(function.body, source, 1)
    yield from ("}", "")


def lines(forms: Iterable[Form], source: str, depth: int) -> Iterator[str]:
    """Yield the lines of forms that are indented so far."""
    indent = _INDENT * depth
    for form in forms:
        match form:
            case Line(text):
                yield indent + text
            case Declared(line, text):
                yield from (f"@line {line} {source}@", indent + text, "@here@")
            case Lanes(size, body, index, ctype, unrolled):
                yield from [f"#pragma GCC unroll {unrolled}"] * (unrolled > 1)
                yield "#pragma GCC ivdep"
                yield from _loop(f"for ({ctype} {index} = 0; {index} < {size}; {index}++)", body, source, depth)
            case Axis():
                yield from _loop(f"for ({_positions(form)})", form.body, source, depth)
            case Strip(size, body, first, length, whole):
                start = f"int64_t done = {first}" if first else ""
                lasts = f"done + {size} <= {length}" if whole else f"done < {length}"
                yield from _block(f"for ({start}; {lasts}; done += {size})", body, source, depth)
            case Block(head, body):
                yield from _block(head, body, source, depth)
            case Sourced(line, body):
                yield from (f"@line {line} {source}@", *lines(body, source, depth), "@here@")
            case Pragma(text):
                yield f"#pragma {text}"
            case Case(condition, body, ()):
                yield from _loop(f"if ({condition})", body, source, depth)
            case Case():
                yield from _cases(form, source, depth)


def _cases(case: Case, source: str, depth: int, before: str = "") -> Iterator[str]:
    """Yield the bodies of a condition, and of those that are tested where it does not hold."""
    indent = _INDENT * depth
    yield f"{indent}{before}if ({case.condition}) {{"
    yield from lines(case.body, source, depth + 1)
    match case.otherwise:
        case (Case() as following,):
            yield from _cases(following, source, depth, "} else ")
        case ():
            yield f"{indent}}}"
        case otherwise:
            yield from (f"{indent}}} else {{", *lines(otherwise, source, depth + 1), f"{indent}}}")


def _positions(axis: Axis) -> str:
    name, first, size = axis.index, axis.first, axis.size
    if axis.descending:
        return f"{axis.ctype} {name} = {size} - 1; {name} >= {first}; {axis.step or f'{name}--'}"
    if axis.once:
        first, size = f"{first}, stop_{name} = {size}", f"stop_{name}"
    return f"{axis.ctype} {name} = {first}; {name} < {size}; {axis.step or f'{name}++'}"


def _loop(head: str, body: tuple[Form, ...], source: str, depth: int) -> Iterator[str]:
    """Yield a loop or a condition, of a single statement in one line."""
    match body:
        case (Line(text),):
            yield f"{_INDENT * depth}{head} {text}"
        case _:
            yield from _block(head, body, source, depth)


def _block(head: str, body: tuple[Form, ...], source: str, depth: int) -> Iterator[str]:
    yield f"{_INDENT * depth}{head}{' ' * bool(head)}{{"
    yield from lines(body, source, depth + 1)
    yield f"{_INDENT * depth}}}"
