"""A program: Python that runs the steps of a graph, made as text and compiled once.

Values are its variables, which end where nothing reads them any longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .._base.keys import KEY_BITS
from .._base.pytree import Structure
from .._dispatch.autocast import AUTOCAST
from .._dispatch.dispatcher import call as dispatch
from .._dispatch.op import NEW, OUT
from .._handle import invoke, with_keys
from ._graph import Graph, Operation, Outcome, Value
from ._joins import with_joins
from ._kept_steps import steps_of
from ._kernels import Kernel, Merged
from ._pieces import Joined, filled
from ._tiles import tiled
from ._totals import with_totals

_UNRECORDED = 1 | 1 << 14
_INFERENCE = KEY_BITS["inference"]


class Unrecorded(Exception):  # noqa: N818 (no error, and nobody sees it)
    """Exception: the function goes on in a way that no recorded call has taken. Nothing was done that could be seen.

    Attributes:
        program: the program that does not know the way; None: a check has failed, and the function itself says how.
    """

    def __init__(self, program: Program | None) -> None:
        self.program = program


class Program:
    """The Python that answers calls in place of a function.

    Attributes:
        run: takes the tensors of a call and gives its result.
        steps: the kernels and the operations, in order.
        text: the Python of `run`.
    """

    def __init__(self, graph: Graph, excluded: int, fills: bool = False) -> None:
        """Make the program of a graph, for threads that do not look at some dispatch keys. With `fills` all that it
        copies to is new memory, which is computed there instead."""
        self.steps: list[Kernel | Operation] = []
        self._fills = fills
        self._excluded = excluded
        self._names: dict[str, Any] = {}
        self._lines: list[str] = []
        self._write(graph, "    ")
        arguments = ", ".join(_parameters(graph.inputs))
        self.text = "\n".join((f"def run({arguments}):", *self._lines, ""))
        exec(compile(self.text, "<recorded>", "exec", dont_inherit=True), self._names)
        self.run: Callable[..., Any] = self._alone(graph) or self._names["run"]

    def _alone(self, graph: Graph) -> Any:
        """The function of a kernel that is all that the program does."""
        if len(self.steps) != 1 or graph.constants or not isinstance(self.steps[0], Kernel):
            return None
        kernel = self.steps[0]
        is_plain = not any(each.needs_grad for each in kernel.inputs) and not any(self._keys_of(kernel))
        gives_all = len(kernel.results) == 1 and graph.structure.type is None and graph.results == [*kernel.results]
        return kernel.function if is_plain and gives_all and list(kernel.inputs) == graph.inputs else None

    # ---- text ----

    def _write(self, graph: Graph, indent: str, ended: Iterable[Value] = ()) -> None:
        """Write the lines of a graph and of those that follow. Nothing reads the values that have `ended` any more."""
        lines = [f"del {_variable(each)}" for each in ended]
        lines += [f"{_variable(value)} = {self._named(constant.clone)}()" for value, constant in graph.constants]
        steps = _steps(graph)
        steps = filled(steps, graph.results) if self._fills else steps
        self.steps += steps
        last = _last_uses(steps)
        kept = {each for each in graph.results if isinstance(each, Value)}
        for place, step in enumerate(steps):
            lines.append(self._kernel(step) if isinstance(step, Kernel) else self._operation(step))
            lines += [f"del {_variable(each)}" for each in last.get(place, ()) if each not in kept]
        if graph.condition is None:
            lines.append(f"return {self._result(graph.structure, iter(graph.results))}")
        self._lines += [indent + line for line in lines]
        if graph.condition is not None:
            self._write_ways(graph, graph.condition, indent)

    def _write_ways(self, graph: Graph, condition: Operation, indent: str) -> None:
        self.steps.append(condition)
        read = f"read = {self._named(Outcome)}({self._call(condition)})"
        if condition.op.may_fail:
            self._lines += [f"{indent}try: {read}", f"{indent}except Exception: raise {self._named(Unrecorded)}(None)"]
        else:
            self._lines.append(f"{indent}{read}")
        header = "if"
        for outcome, following in graph.following.items():
            self._lines.append(f"{indent}{header} read == {self._named(outcome)}:")
            used = {*following.used}
            self._write(following, f"{indent} ", [each for each in graph.results if each not in used])
            header = "elif"
        self._lines += [f"{indent}else:", f"{indent} raise {self._named(Unrecorded)}({self._named(self)})"]

    def _named(self, value: Any) -> str:
        name = f"c{len(self._names)}"
        self._names[name] = value
        return name

    def _argument(self, value: Any) -> str:
        if isinstance(value, Value):
            return _variable(value)
        if type(value) in (tuple, list) and any(isinstance(each, (Value, tuple, list)) for each in value):
            inner = "".join(f"{self._argument(each)}, " for each in value)
            return f"({inner})" if type(value) is tuple else f"[{inner}]"
        if value is None or type(value) in (bool, int):
            return repr(value)
        return self._named(value)

    def _kernel(self, kernel: Kernel) -> str:
        """A call of a kernel, whose operations are all of the same modes."""
        results = ", ".join(map(_variable, kernel.results))
        inputs = ", ".join(map(_variable, kernel.inputs))
        keys = self._keys_of(kernel)
        if any(keys):
            return f"{results} = {self._named(partial(with_keys, *keys, kernel.function))}({inputs})"
        if kernel.out:
            out = self._argument(kernel.out if len(kernel.out) > 1 else kernel.out[0])
            return f"{results} = {self._named(invoke)}({self._named(kernel.function)}, ({inputs}, ), {out}, {OUT})"
        return f"{results} = {self._named(kernel.function)}({inputs})"

    def _keys_of(self, kernel: Kernel) -> tuple[int, int]:
        """The dispatch keys that are looked at for a kernel alone, and those that are not."""
        is_unrecorded = kernel.backward is None and any(each.needs_grad for each in kernel.inputs)
        changed = (kernel.operations[0].excluded ^ self._excluded) & _INFERENCE
        return self._excluded & changed, kernel.operations[0].excluded & changed | (_UNRECORDED * is_unrecorded)

    def _operation(self, operation: Operation) -> str:
        results = "".join(f"{_variable(each) if each else '_'}, " for each in operation.results)
        if not results:
            return self._call(operation)
        return f"{results.rstrip(', ') if operation.is_single else results} = {self._call(operation)}"

    def _call(self, operation: Operation) -> str:
        op, args = operation.op, operation.args
        if operation.mode == NEW and operation.out is None:
            function, arguments = op.function, [self._argument(each) for each in args[: op.positional]]
            rest = zip(op.names[op.positional :], args[op.positional :], op.defaults[op.positional :], strict=True)
            arguments += [f"{name}={self._argument(value)}" for name, value, default in rest if value is not default]
        else:
            function = partial(dispatch, op)
            listed = [self._argument(each) for each in args]
            if operation.is_copied:
                listed[op.target] += ".clone()"
            arguments = [
                f"({''.join(f'{each}, ' for each in listed)})",
                self._argument(operation.out),
                str(operation.mode),
            ]
        if operation.excluded != self._excluded:
            changed = operation.excluded ^ self._excluded
            function = partial(under, self._excluded & changed, operation.excluded & changed, function)
        if operation.casts is not None:
            function = partial(casting_to, operation.casts, function)
        return f"{self._named(function)}({', '.join(arguments)})"

    def _result(self, structure: Structure, leaves: Any) -> str:
        if structure.type is None:
            return self._argument(next(leaves))
        values = [self._result(each, leaves) for each in structure.children]
        if structure.type is tuple:
            return f"({''.join(f'{each}, ' for each in values)})"
        if structure.type is list:
            return f"[{', '.join(values)}]"
        shallow = Structure(structure.type, structure.context, tuple(Structure(None) for _ in values))
        return f"{self._named(shallow.unflatten)}([{', '.join(values)}])"


def under(cleared: int, excluded: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the result of a function while other dispatch keys are not looked at."""
    return with_keys(cleared, excluded, partial(function, **kwargs), *args)


def casting_to(wanted: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the result of a function whose products are cast."""
    from ..amp.autocast_mode import autocast

    with autocast("cpu", dtype=wanted):
        return under(AUTOCAST, 0, function, *args, **kwargs)


def _steps(graph: Graph) -> list[Kernel | Operation]:
    """The steps of a graph, without those of what follows."""
    steps: list[Kernel | Operation] = []
    for step in steps_of(with_joins(graph)):
        steps += (step.kernels or _one_by_one(step.operations)) if isinstance(step, Merged) else [step]
    made = with_totals(tiled(steps, graph.results), graph.results)
    kernels = [each.kernel(Program) if isinstance(each, Joined) else each for each in made]
    return [each for step in kernels for each in _with_history(step)]


def _one_by_one(operations: Iterable[Operation]) -> list[Operation]:
    return [replace(each, is_copied=True) if each.renames else each for each in operations]


def _with_history(step: Kernel | Operation) -> Iterable[Kernel | Operation]:
    """A step whose results have a history where gradients are recorded; what it is made of where it can have none."""
    if not isinstance(step, Kernel) or not any(each.is_tracked for each in step.operations):
        return [step]
    from ._gradients import with_gradients

    pair = with_gradients(step, step.operations, Program)
    if pair is not None:
        return [replace(step, function=pair[0], backward=pair[1])]
    return [each for part in step.parts for each in _with_history(part)] or _one_by_one(step.operations)


def _variable(value: Value) -> str:
    return f"v{value.index}"


def _parameters(inputs: Sequence[Value]) -> list[str]:
    """The parameters of a program, of which one that is the same tensor as another is not read."""
    return [_variable(each) if each not in inputs[:place] else f"same{place}" for place, each in enumerate(inputs)]


def _last_uses(steps: Iterable[Kernel | Operation]) -> dict[int, list[Value]]:
    """The values that are read for the last time by a step, or never after it has given them, by its place."""
    last: dict[Value, int] = {}
    for place, step in enumerate(steps):
        last |= {each: place for each in (*step.operands, *step.results) if each is not None}
    by_place: dict[int, list[Value]] = {}
    for value, place in last.items():
        by_place.setdefault(place, []).append(value)
    return by_place
