"""Derives the Python callables of an operator and their parameters from its schema, its family and its tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..schema import Argument, Constant, base_name
from .operator import Declaration, Family, Operator
from .parts import python_name
from .python_operators import PYTHON_OPERATORS, PythonOperator

# Arguments of factories for the placement of the result; the runtime checks them and passes none of them to the core.
PLACES = ("layout", "device", "pin_memory")
PLACEMENT = (*PLACES, "memory_format")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a Python function: its name, and its default as Python text (None: required)."""

    name: str
    argument: Argument
    default: str | None
    keyword_only: bool


def parameters(operator: Declaration) -> tuple[Parameter, ...]:
    """Parameters of the function."""
    return tuple(
        Parameter(
            python_name(argument.name),
            argument,
            _default(argument),
            argument in operator.schema.keyword_only,
        )
        for argument in operator.schema.arguments
    )


def _default(argument: Argument) -> str | None:
    if argument.default is None:
        return None
    value = argument.default.value
    return value.name if isinstance(value, Constant) else repr(value)


def varargs(operator: Declaration) -> Parameter | None:
    """The list that may also be given as separate integers (`x.view(2, 3)`), or None. As in torch it is the only
    positional argument besides self, and a list without a fixed size."""
    rest = [p for p in parameters(operator) if not p.keyword_only and p.argument.name != "self"]
    is_ints = len(rest) == 1 and rest[0].argument.is_list and base_name(rest[0].argument.type) in ("int", "SymInt")
    if not is_ints or str(rest[0].argument.type).endswith("[1]") or rest[0].default is not None:
        return None
    return rest[0]


def separate_tensors(operator: Declaration) -> Parameter | None:
    """The list of tensors that may also be given as separate arguments (`meshgrid(x, y)`), or None."""
    if "varargs" not in operator.tags:
        return None
    return next(p for p in parameters(operator) if p.argument.is_tensor_list)


def has_inplace(operator: Declaration) -> bool:
    """True if there is an in-place form, a method or a function: the first input has the dtype of the result."""
    first = operator.inputs[0].name if operator.inputs else ""
    if operator.result_names:
        return False
    if has_inplace_argument(operator):
        return True
    if operator.family in (Family.ELEMENTWISE, Family.SCAN):
        return first == "self" and (operator.method or operator.internal)
    if "inplace" in operator.tags:
        return True
    if operator.updates_self:
        return operator.method or operator.internal
    return operator.family is Family.EXTERN and operator.method and bool(operator.params)


def has_single_tensor(operator: Operator) -> bool:
    """Return whether a tensor in place of the list gives one result: the overload of lists is then one besides."""
    return "Sequence" in operator.overloads


def has_inplace_argument(operator: Declaration) -> bool:
    """True for `op(x, inplace=True)`, which some functions of torch.nn.functional have instead of `x.op_()`."""
    return "inplace_argument" in operator.tags


def has_out(operator: Declaration) -> bool:
    """True if there is a parameter `out`: the result is new memory, and not laid out like the input."""
    if is_factory(operator) and operator.schema.self_argument is not None:
        return False
    if "out_none" in operator.tags or operator.schema.returns_value or operator.schema.name.inplace:
        return False
    return operator.family not in (Family.VIEW, Family.LAPACK) and not operator.schema.returns_alias


def is_factory(operator: Declaration) -> bool:
    """True if it makes a tensor whose placement (dtype, layout, device) the caller chooses."""
    return any(argument.name in PLACES for argument in operator.schema.arguments)


def python_operator(operator: Declaration) -> PythonOperator | None:
    """Return the operator of Python that an entry implements, or None."""
    return PYTHON_OPERATORS[operator.operator] if operator.operator else None


def method_names(operator: Declaration) -> Iterator[str]:
    """Every method that the operator puts into class Tensor."""
    if operator.method:
        for name in (operator.name, *operator.aliases):
            yield name
            if has_inplace(operator):
                yield name + "_"
    dunder = python_operator(operator)
    if dunder is not None:
        yield dunder.method
        if dunder.reflected:
            yield dunder.reflected_method
        if dunder.augmented and has_inplace(operator):
            yield dunder.augmented_method


def function_names(operator: Declaration) -> tuple[str, ...]:
    """Every name that the operator puts into the package."""
    return (operator.name, *operator.aliases) if operator.function and operator.module is None else ()


def own_name(operator: Declaration) -> str:
    """Return the name within its submodule: `fft_rfft` of the submodule `fft` is `rfft`, as in `opweave.fft.rfft`."""
    prefix = "" if operator.module is None else f"{operator.module.partition('.')[0]}_"
    return operator.name.removeprefix(prefix)


def path(operator: Declaration) -> str | None:
    """Return where users find a function of torch.nn, `nn.functional.softmax`. None for others: the names of torch's
    functions of other submodules have a prefix, as those of entries do."""
    return f"{operator.module}.{own_name(operator)}" if operator.module == "nn.functional" else None


def inplace_function_names(operator: Declaration) -> tuple[str, ...]:
    """Names of in-place functions: `abs_(x)` for `x.abs_()`."""
    return tuple(f"{name}_" for name in function_names(operator)) if has_inplace(operator) else ()


def submodule_names(operator: Declaration) -> tuple[tuple[str, str], ...]:
    """(path of the submodule, name) of everything that the operator adds to submodules, in-place forms included."""
    names = (own_name(operator), *operator.aliases)
    own = () if operator.module is None else ((operator.module, name) for name in names)
    paths = (*own, *operator.exports)
    return (*paths, *((path, f"{name}_") for path, name in paths)) if has_inplace_argument(operator) else paths
