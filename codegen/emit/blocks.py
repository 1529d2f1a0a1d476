"""Division of expressions into stages: calls of functions of whole rows, and the loops around them.

vector_math.h, special.h and complex_math.h have functions of rows that use vector instructions which no compiler
generates from a loop, or that compute less where the row allows it. A kernel that is only such a call passes its rows
on. A kernel that contains some computes a few hundred elements at a time: each call fills a buffer, which is still in
the level-1 cache when the loops behind it read it. So every function is computed as the kernel that is only a call of
it computes it, and an expression has the same bits as its parts computed one after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..expr import Emitted
from ..expr.kernel_text import emit_tree, variable
from ..expr.typed import Arg, Const, Node, Op, Results, may_fail, names, postorder, replaced
from .expressions import Variable

_WORTHWHILE = 3.0
"""The cost from which a value that several stages read is kept: cheaper ones are computed again, in a few instructions
that need no memory."""


@dataclass(frozen=True)
class Buffer:
    """A row of intermediate values."""

    name: str
    ctype: str


@dataclass(frozen=True)
class Computed:
    """A loop that fills a buffer with the values of an expression."""

    buffer: Buffer
    value: Emitted
    reads: frozenset[str]
    """The C variables that the expression reads."""
    kind: str = "computed"


@dataclass(frozen=True)
class Called:
    """A call of a function of rows, whose operands are rows of inputs or buffers."""

    buffer: Buffer
    function: str
    operands: tuple[str, ...]
    kind: str = "called"


@dataclass(frozen=True)
class Stages:
    """The steps before the last loop of a kernel, and the expressions of that loop."""

    steps: tuple[Computed | Called, ...]
    rest: tuple[Emitted, ...]
    """Each of the kernel's expressions with buffers in place of what is kept, or one of all of them together."""
    is_call: bool
    """True if the kernel's only result is that of the last call, so that nothing is left to compute."""
    fills: bool
    """True if the kernel is one call, of a function that accepts any length, so that the loop need not pad."""

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return tuple(dict.fromkeys(step.buffer for step in self.steps))

    @property
    def inner_buffers(self) -> tuple[Buffer, ...]:
        """The same where a call that gives the only result writes it to where that belongs."""
        return tuple(dict.fromkeys(step.buffer for step in self.steps[: -1 if self.is_call else None]))

    @property
    def only_call(self) -> Called | None:
        """The call of inputs that is all that the kernel does, if it is."""
        step = self.steps[0]
        return step if isinstance(step, Called) and self.is_call and len(self.steps) == 1 else None

    @property
    def has_complex(self) -> bool:
        return any("_Complex" in step.buffer.ctype for step in self.steps if isinstance(step, Called))

    @property
    def rest_reads(self) -> frozenset[str]:
        """The C variables that the last loop reads, buffers among them."""
        return frozenset[str]().union(*map(_reads, self.rest))


@dataclass(frozen=True)
class Local:
    """A variable of a function of one element, and C of its value for element `i` of a stage."""

    name: str
    ctype: str
    element: str


class Staged:
    """A kernel that may compute in stages."""

    name: str
    inputs: tuple[Variable, ...]
    params: tuple[Variable, ...]
    stages: Stages | None

    @property
    def has_blocks(self) -> bool:
        return self.stages is not None

    @property
    def has_complex_blocks(self) -> bool:
        return self.stages is not None and self.stages.has_complex

    @property
    def rows(self) -> dict[str, str]:
        """C of the rows of inputs in a stage."""
        return {each.name: f"from_{each.name} + done" for each in self.inputs}

    @property
    def locals(self) -> tuple[Local, ...]:
        inputs = [Local(each.name, each.ctype, f"from_{each.name}[done + i]") for each in self.inputs]
        params = [Local(each.name, each.ctype, each.name) for each in self.params]
        return (*inputs, *params, *self.buffered)

    @property
    def buffered(self) -> tuple[Local, ...]:
        """The buffers that the last loop reads."""
        buffers = self.stages.buffers if self.stages else ()
        return tuple(Local(each.name, each.ctype, f"{each.name}[i]") for each in buffers)


def stages(roots: Sequence[Node], rows: Collection[str], together: bool = False) -> Stages | None:
    """The stages of expressions; None if one loop computes them, or if the argument of a call may fail, which only the
    loop knows to avoid. `rows` are the arguments that calls can read as rows. The rest is one for each expression, or
    one of all `together`, which computes common parts once.

    A function with the same bits in all forms is called for its speed, which a kernel has nothing of that does more:
    loops of several results wait for memory, and other functions take longer.
    """
    whole = roots[0] if len(roots) == 1 else Results(roots[0].dtype, tuple(roots))
    order = postorder(whole)
    calls = [node for node in order if isinstance(node, Op) and _function(node)]
    if len(calls) > 1 or len(roots) > 1:
        calls = [node for node in calls if not node.row.exact]
    alone = [] if _is_uniform(order, roots, rows) else _inexact(order, calls)
    if not (calls or alone) or any(may_fail(node) for call in (*calls, *alone) for node in postorder(call)):
        return None
    kept = _kept(order, calls, alone, roots)
    buffers = {node: f"staged_{index}" if len(kept) > 1 else "staged" for index, node in enumerate(kept)}
    parts = _Parts(
        {node: Arg(node.dtype, f"<{name}>") for node, name in buffers.items()},
        {f"<{name}>": name for name in buffers.values()},
    )
    steps: list[Computed | Called] = []
    for node, name in buffers.items():
        if node in calls:
            assert isinstance(node, Op)
            steps += _call(node, name, buffers, rows, parts)
        else:
            steps.append(_computed(Buffer(name, node.dtype.c_type), parts.inside(node), parts.own))
    tops = [parts.cut(root) for root in roots]
    if together and len(tops) > 1:
        tops = [Results(tops[0].dtype, tuple(tops))]
    is_call = len(roots) == 1 and roots[0] in calls
    fills = is_call and len(steps) == 1 and calls[0].row.fills
    return Stages(tuple(steps), tuple(emit_tree(top, parts.own) for top in tops), is_call, fills)


def _is_uniform(order: Sequence[Node], roots: Sequence[Node], rows: Collection[str]) -> bool:
    """True if a loop computes in vectors of one number of elements, or in complex numbers: where elements differ in
    size, or a function has no vector form, compilers choose other vector forms of functions, with other last bits."""
    if any(node.dtype.is_complex for node in order):
        return True
    if any(isinstance(node, Op) and node.row.branches_for(node.operand_dtype) for node in order):
        return False
    computed = (node for node in order if not isinstance(node, (Arg, Const, Results)) and not node.dtype.is_bool)
    read = (node for node in order if isinstance(node, Arg) and node.name in rows)
    return len({node.dtype.itemsize for node in (*computed, *read, *roots)}) <= 1


def _inexact(order: Sequence[Node], calls: Collection[Node]) -> list[Op]:
    """The functions that are no calls and whose vector and scalar forms differ in the last bit."""
    functions = (node for node in order if isinstance(node, Op) and node not in calls)
    return [
        node
        for node in functions
        if not (node.row.is_exact_for(node.operand_dtype) or node.row.branches_for(node.operand_dtype))
    ]


@dataclass(frozen=True)
class _Parts:
    """Expressions with buffers in place of the nodes that are kept."""

    unnamed: Mapping[Node, Node]
    """The buffers as arguments, which have names that no argument can have."""
    own: Mapping[str, str]

    def cut(self, node: Node) -> Node:
        return replaced(node, self.unnamed)

    def inside(self, node: Node) -> Node:
        """The expression that computes a node that is kept."""
        return replaced(node, {each: new for each, new in self.unnamed.items() if each != node})


def _call(
    node: Op, name: str, buffers: Mapping[Node, str], rows: Collection[str], parts: _Parts
) -> Iterator[Computed | Called]:
    """The loops that compute the arguments that are not rows yet, and the call."""
    operands = []
    for index, operand in enumerate(node.operands):
        if operand in buffers:
            operands.append(buffers[operand])
        elif isinstance(operand, Arg) and operand.name in rows:
            operands.append(variable(operand.name))
        else:
            # The function may write where the first argument stands.
            buffer = Buffer(name if not index else f"{name}_{index}", operand.dtype.c_type)
            yield _computed(buffer, parts.cut(operand), parts.own)
            operands.append(buffer.name)
    function = _function(node)
    assert function is not None
    yield Called(Buffer(name, node.dtype.c_type), function, tuple(operands))


def _computed(buffer: Buffer, tree: Node, own: Mapping[str, str]) -> Computed:
    emitted = emit_tree(tree, own)
    return Computed(buffer, emitted, _reads(emitted))


def _reads(emitted: Emitted) -> frozenset[str]:
    """The C variables of the arguments, of which buffers are in angle brackets."""
    return frozenset(name.strip("<>") if name.startswith("<") else variable(name) for name in names(emitted.root))


def _kept(order: Sequence[Node], calls: Sequence[Node], alone: Sequence[Node], roots: Sequence[Node]) -> list[Node]:
    """The nodes that get a buffer, operands first: calls, functions whose loops do nothing else, and what several
    stages read and would compute again."""
    certain = {
        *calls,
        *alone,
        *(each for node in alone for each in node.children if not isinstance(each, (Arg, Const))),
    }
    uses: dict[Node, set[int]] = {}
    arguments = [node.children for node in certain]
    for stage, tops in enumerate([*arguments, roots]):
        for node in _within(tops, certain):
            uses.setdefault(node, set()).add(stage)
    costs: dict[Node, float] = {}
    for node in order:
        of_operands = sum(costs[child] for child in node.children)
        costs[node] = 0 if node in certain or not isinstance(node, Op) else node.row.cost + of_operands
    costly = {
        node
        for node in order
        if len(uses.get(node, ())) > 1 and costs[node] >= _WORTHWHILE and not node.dtype.is_bool
        if not any(map(may_fail, postorder(node)))
    }
    # What only a kept value reads needs no buffer of its own.
    inner = {child for node in costly for child in node.children if child in costly and uses[child] == uses[node]}
    return [node for node in order if node in certain or node in costly - inner]


def _within(tops: Sequence[Node], calls: Collection[Node]) -> set[Node]:
    """The nodes that a stage computes, without the results of calls."""
    seen: set[Node] = set()
    waiting = [top for top in tops if top not in calls]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(child for child in node.children if child not in calls)
    return seen


def _function(node: Op) -> str | None:
    return node.row.block(node.operand_dtype)
