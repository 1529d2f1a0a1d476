"""A row of facts about an operator besides its body: which tensors it writes to or shares memory with,
whether it draws random numbers, whether its result depends on elements, and which dimensions of its results come from
which of its tensors.

The last one is the rule of dimensions: a word, or a signature as NumPy's generalised ufuncs have them, in which a
dimension with a small letter may be taken apart (an element of the result is of that position alone), and one with a
capital is needed whole. Functions of samples (_batching/) and names of dimensions (_representations/named/) follow it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..expr import Apply, Expr, Name, names
from ..expr.atoms import Read
from ..schema import Argument, Return, base_name
from .compute import Compute
from .loop import Loop
from .operator import Composite, Extent, Extern, Family, Found, Operator, Reduce, Rows

BATCH = "..."
"""In a signature: any dimensions before a tensor's own."""
WORDS = ("at", "each", "flat", "gather", "index", "join", "keep", "make", "reduce", "unify", "view")
NAMING = ("drop", "join", "keep", "reduce", "refuse", "select", "unify", "view")
"""The words by which results get names of dimensions."""
FAMILIES: Mapping[Family, str] = {
    Family.ELEMENTWISE: "unify",
    Family.FACTORY: "make",
    Family.REDUCE: "reduce",
    Family.SCAN: "keep",
    Family.ROWS: "reduce",
    Family.FOLD: "reduce",
    Family.RANDOM: "keep",
    Family.VIEW: "view",
}
"""The rules that follow from families. Composites have those of the operators that they are made of."""
COMBINATIONS = {
    "add": "sum",
    "mul": "product",
    "maximum": "max",
    "minimum": "min",
    "bitwise_or": "max",
    "bitwise_and": "min",
}
"""Words for how the results of parts make that of the whole, by the function that combines elements."""
DATA_DEPENDENT, DYNAMIC_SHAPE = "data_dependent", "dynamic_shape"
"""Tags of operators whose result is read from elements, or has a shape that depends on them."""


@dataclass(frozen=True)
class Facts:
    """The row of an operator.

    Attributes:
        writes: arguments that are written to.
        aliases: arguments that results may share memory with.
        random: whether it draws random numbers.
        data_dependent: whether it reads elements for what is no tensor.
        dynamic_shape: whether the shape of its result depends on elements.
        rule: the rule of dimensions; None: there is none.
        reason: why there is none.
        combine: how the results of parts of a reduction make that of the whole: `sum`, `product`, `max`, `min`, or
            `avg` of parts of equal size; None: it is no reduction, or they do not.
    """

    writes: tuple[str, ...]
    aliases: tuple[str, ...]
    random: bool
    data_dependent: bool
    dynamic_shape: bool
    rule: str | None
    reason: str | None
    combine: str | None


def facts(operator: Operator) -> Facts:
    """Return the facts about an operator that rules of the runtime use."""
    schema, found = operator.schema, rule(operator)
    shared = _sets(schema.returns)
    is_drawn = any(base_name(each.type) == "Generator" for each in schema.arguments)
    arguments = [each for each in schema.arguments if each.alias is not None]
    return Facts(
        writes=tuple(each.name for each in arguments if each.alias and each.alias.is_write),
        aliases=tuple(each.name for each in arguments if shared.intersection(_sets([each]))),
        random=operator.family is Family.RANDOM or is_drawn,
        data_dependent=DATA_DEPENDENT in operator.tags,
        dynamic_shape=DYNAMIC_SHAPE in operator.tags,
        rule=found,
        reason=None if found else _reason(operator),
        combine=combination(operator),
    )


def _sets(values: Iterable[Argument | Return]) -> set[str]:
    """The alias sets of arguments or results."""
    return {name for each in values if each.alias is not None for name in (*each.alias.before, *each.alias.after)}


def rule(operator: Operator) -> str | None:
    """A word or a signature; None: there is none."""
    if operator.rule is not None or operator.reason is not None:
        return operator.rule
    if isinstance(operator.body, Extern):
        return operator.body.signature
    if isinstance(operator.body, Loop):
        inputs, results = (list(map(_whole, dims)) for dims in (operator.body.inputs, operator.body.results))
        return _signature(inputs, results)
    if isinstance(operator.body, Compute):
        return _of_indices(operator, operator.body)
    return FAMILIES.get(operator.family)


def naming(operator: Operator) -> str | None:
    """The rule by which results get names of dimensions: that of dimensions, but for signatures of several results and
    of routines, which refuse names, and words without a meaning for them."""
    if operator.naming is not None or operator.family is Family.COMPOSITE:
        return operator.naming
    found = rule(operator)
    if found is None or "(" not in found:
        return found if found in NAMING else None
    return None if operator.rule is not None or found.count("(") > len(operator.inputs) + 1 else found


def combination(operator: Operator) -> str | None:
    """Return how the results of parts of a reduction make that of the whole; None where they do not."""
    body = operator.body
    if not isinstance(body, Reduce) or body.results != (Found.VALUE,):
        return None
    word = COMBINATIONS.get(body.combine.tree.function) if isinstance(body.combine.tree, Apply) else None
    if body.finalize is None or word is None:
        return word
    is_mean = body.finalize.tree == Apply("div", (Name("acc"), Name("count")))
    return "avg" if word == "sum" and is_mean else None


def shared_by_rows(operator: Operator) -> tuple[str, ...]:
    """The tensors of rows whose elements are the same in all rows."""
    return tuple(sorted(operator.body.per_place)) if isinstance(operator.body, Rows) else ()


def sums_rows(operator: Operator) -> bool:
    """True if a result of rows is a sum over all of them."""
    return isinstance(operator.body, Rows) and any(extent is Extent.PLACE for extent, _ in operator.body.outputs)


def _reason(operator: Operator) -> str | None:
    if operator.reason is not None:
        return operator.reason
    if DYNAMIC_SHAPE in operator.tags:
        return "the shape of its result depends on elements"
    if isinstance(operator.body, Compute):
        return "its indices are those of all dimensions together"
    if isinstance(operator.body, Composite):
        return "its body reads memory" if operator.body.opaque else "it is made of operators that have rules"
    return None


def _whole(dims: tuple[str, ...]) -> tuple[str, ...]:
    """The dimensions of a batch, then those that the loop of an entry is given."""
    return (BATCH, *(each.upper() for each in dims))


def _of_indices(operator: Operator, body: Compute) -> str | None:
    """A dimension of a tensor is that dimension of the results whose variable, alone, is in its indices. It may be
    taken apart if the variable itself is the index wherever it occurs."""
    if body.flat or body.small:
        return None
    inputs = []
    for argument in operator.inputs:
        reads = [read.indices for read in body.reads.values() if read.tensor == argument.name]
        places = range(body.tensors.get(argument.name, 0))
        found = [{_variable(body, indices[place]) for indices in reads} for place in places]
        single = [next(iter(each)) if len(each) == 1 else None for each in found]
        letters = (each if single.count(each) == 1 else None for each in single)
        own = tuple(each or f"{argument.name}_{place}" for place, each in enumerate(letters))
        inputs.append((BATCH, *own) if body.is_batched(argument.name) else own)
    is_batched = not body.over_batch and any(BATCH in each for each in inputs)
    whole = {name: name.upper() for name in _needed_whole(body, inputs)}
    groups = [tuple([whole.get(letter, letter) for letter in each]) for each in (*inputs, body.names)]
    *inputs, names_of_result = groups
    return _signature(inputs, [(BATCH, *names_of_result) if is_batched else names_of_result])


def _needed_whole(body: Compute, inputs: Sequence[tuple[str, ...]]) -> set[str]:
    """The variables of the results that an element depends on by more than which it is: in an index with others, twice
    in the indices of a tensor, in a bound or as a number."""
    trees = [result.tree for result in body.results]
    plain = {letter for each in inputs for letter in each}
    whole: set[str] = set()
    for atom in body.atoms.values():
        if not isinstance(atom, Read):
            trees.extend(atom.expressions)
            continue
        found = [each.name for each in atom.indices if isinstance(each, Name)]
        whole.update(name for name in found if found.count(name) > 1 or name not in plain)
        trees.extend(each for each in atom.indices if not isinstance(each, Name))
    return {name for name in body.names if name in whole or any(name in names(tree) for tree in trees)}


def _variable(body: Compute, index: Expr) -> str | None:
    """The only variable of the results that an index depends on, also by the bounds of reductions; None where it
    depends on data as well."""
    used = names(index)
    for each in used & body.ranges.keys():
        used |= names(body.ranges[each].first) | names(body.ranges[each].stop)
    variables = [name for name in body.names if name in used]
    return variables[0] if len(variables) == 1 and used.isdisjoint(body.atoms) else None


def _signature(inputs: Sequence[tuple[str, ...]], results: Sequence[tuple[str, ...]]) -> str:
    first, last = (",".join(f"({','.join(each)})" for each in groups) for groups in (inputs, results))
    return f"{first}->{last}"
