"""Text about a compiled function: what its programs compute in which loops, and why calls were not recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._bound import size_read
from ._compiled import Compiled, Entry, compiled
from ._graph import Operation, Value
from ._kernels import Kernel
from ._program import Program


def explanation(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the text about a function, after a call if there are arguments."""
    function = getattr(function, "_compiled_call_impl", None) or function
    known = getattr(function, "compiled", None)
    if not isinstance(known, Compiled):
        function = compiled(function, False, None)
        known = vars(function)["compiled"]
        assert isinstance(known, Compiled)
    if args or kwargs:
        function(*args, **kwargs)
    lines = []
    for place, entry in enumerate(reversed(known.entries), 1):
        first, *rest = _of_program(place, entry.program)
        lines += [first, *_of_sizes(entry, known.is_dynamic), *rest]
    lines += [f"not recorded: {each}" for each in known.refusals]
    for module, call in known.modules.compiled.items():
        programs = _counted(len(vars(call)["compiled"].entries), "program")
        lines.append(f"calls a module that is compiled: {type(module).__name__}, {programs}")
    if known.is_other:
        lines.append("the last call ran the function: an argument is no plain tensor, or a mode sees all calls")
    return "\n".join(lines or ["no call was recorded"])


def _of_sizes(entry: Entry, is_dynamic: bool) -> Iterator[str]:
    """Text about the sizes that a program is for."""
    if entry.cause:
        yield f"  recorded anew: {entry.cause}"
    if not is_dynamic:
        return
    for what in dict.fromkeys(f"{size_read(each)}, which is read ({each.place})" for each in entry.ways.reads):
        yield f"  only for {what}"
    if entry.others:
        yield f"  for {_counted(len(entry.others), 'other combination')} of sizes as well"


def _of_program(place: int, program: Program) -> Iterator[str]:
    kernels = [each for each in program.steps if isinstance(each, Kernel)]
    others = len(program.steps) - len(kernels)
    merged = sum(len(each.operations) for each in kernels)
    yield (
        f"program {place}: {_counted(len(kernels), 'kernel')} of {_counted(merged, 'operator')}, "
        f"{_counted(others, 'other operator')}"
    )
    for step in program.steps:
        if isinstance(step, Kernel):
            backward = step.backward
            read, written = _bytes(step.inputs), _bytes(step.results)
            yield f"  kernel of {', '.join(step.operators)}: reads {read} bytes, writes {written}"
            if backward is not None:
                inner = sum(isinstance(each, Kernel) for each in backward.steps)
                others_of = len(backward.steps) - inner
                yield f"    its gradient: {_counted(inner, 'kernel')}, {_counted(others_of, 'other operator')}"
        elif not step.results:
            yield f"  graph break: {step.op.name}() reads an element, to go on by it ({step.place})"
        else:
            yield f"  {_name(step)} ({step.place})"
    for number, kernel in enumerate(kernels, 1):
        if kernel.text:
            yield f"\nC of kernel {number}:\n{kernel.text}"
        else:
            yield f"\nKernel {number} is calls of its operators for a few rows at a time."


def _name(operation: Operation) -> str:
    return f"{operation.op.name}{', whose gradient is recorded' if operation.is_tracked else ''}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _bytes(values: Iterable[Value]) -> int:
    return sum(each.nbytes for each in values)
