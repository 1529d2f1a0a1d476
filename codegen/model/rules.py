"""A row of facts about an operator besides its body: which tensors it writes to or shares memory with, whether it draws
random numbers, what of its results depends on elements, and which dimensions of its results come from which of its
tensors.

The last one is the rule of dimensions: a word, or a signature as NumPy's generalised ufuncs have them, in which a
dimension with a small letter may be taken apart (an element of the result is of that position alone), and one with a
capital is needed whole. Functions of samples (_batching/) and names of dimensions (_representations/named/) follow it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..schema import Argument, Return, base_name
from .operator import Family, Operator

WORDS = ("at", "each", "flat", "gather", "index", "join", "keep", "make", "reduce", "roll", "unify", "view")
NAMING = ("drop", "join", "keep", "reduce", "refuse", "select", "unify", "view")
"""The words by which results get names of dimensions."""
DATA_DEPENDENT, DYNAMIC_SHAPE, MAY_FAIL = "data_dependent", "dynamic_shape", "may_fail"
"""Tags of operators whose result is read from elements, has a shape that depends on them, or is an error for some."""


@dataclass(frozen=True)
class Facts:
    """The row of an operator.

    Attributes:
        writes: arguments that are written to.
        aliases: arguments that results may share memory with.
        random: whether it draws random numbers.
        data_dependent: whether it reads elements for what is no tensor.
        dynamic_shape: whether the shape of its result depends on elements.
        may_fail: whether elements may make it raise an error; what a composite calls is not looked at.
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
    may_fail: bool
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
        may_fail=MAY_FAIL in operator.tags or operator.body.may_fail(operator),
        rule=found,
        reason=None if found else _reason(operator),
        combine=operator.body.combination,
    )


def _sets(values: Iterable[Argument | Return]) -> set[str]:
    """The alias sets of arguments or results."""
    return {name for each in values if each.alias is not None for name in (*each.alias.before, *each.alias.after)}


def rule(operator: Operator) -> str | None:
    """A word or a signature; None: there is none."""
    if operator.rule is not None or operator.reason is not None:
        return operator.rule
    return operator.body.rule(operator)


def naming(operator: Operator) -> str | None:
    """The rule by which results get names of dimensions: that of dimensions, but for signatures of several results and
    of routines, which refuse names, and words without a meaning for them."""
    if operator.naming is not None or operator.family is Family.COMPOSITE:
        return operator.naming
    found = rule(operator)
    if found is None or "(" not in found:
        return found if found in NAMING else None
    return None if operator.rule is not None or found.count("(") > len(operator.inputs) + 1 else found


def _reason(operator: Operator) -> str | None:
    if operator.reason is not None:
        return operator.reason
    if DYNAMIC_SHAPE in operator.tags:
        return "the shape of its result depends on elements"
    return operator.body.reason
