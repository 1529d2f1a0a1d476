"""The types of every function and method (opweave/_operators.pyi) and of the package, for checkers and editors."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..dtypes import DTYPES
from ..model import variants
from ..model.operator import Family, Operator
from ..model.signatures import signature
from ..read.exports import Exports
from . import dtypes
from .text import in_docstring, render


@dataclass(frozen=True)
class Stub:
    """One `def` line and its docstring's first sentence."""

    name: str
    signature: str
    result: str
    summary: str
    overloaded: bool = False
    """True if the function has several `def` lines (`@overload`)."""
    is_property: bool = False
    is_assignable: bool = False


def emit(operators: Sequence[Operator], source: str, output: str, package: str | None = None) -> str:
    """The stub file of the woven package `package`, or of opweave itself (None)."""
    return render(
        "operators.pyi.j2",
        source,
        output,
        results=[(each.name, _fields(each)) for each in operators if each.result_names and not each.internal],
        functions=[stub for operator in operators for stub in functions(operator)],
        exported=_exported(operators),
        methods=[stub for operator in operators for stub in methods(operator)],
        package=package,
    )


def emit_methods(packages: Mapping[str, Sequence[Operator]]) -> str:
    """The stub of the mixin of class Tensor that has the methods of woven packages."""
    named = {
        package: [f"_{each.name}_results" for each in operators if each.result_names and each.method]
        for package, operators in packages.items()
    }
    return render(
        "woven_methods.pyi.j2",
        "",
        "_woven_methods.pyi",
        results=[(package, names) for package, names in named.items() if names],
        methods=[stub for operators in packages.values() for operator in operators for stub in methods(operator)],
    )


def emit_package(operators: Sequence[Operator], source: str, exports: Exports) -> str:
    """The stub of opweave itself: type checkers want to see the names in `__all__` one by one."""
    names = dtypes.names()
    # `from opweave import *` leaves Python's own `int` and `float` alone.
    exported = [name for name in names if not hasattr(builtins, name)]
    exported += _exported(operators)
    types = [f"{dtype.scalar_name}Tensor" for dtype in DTYPES.values() if dtype.method and not dtype.is_complex]
    storages = [f"{dtype.scalar_name}Storage" for dtype in DTYPES.values()]
    by_module = exports.by_module()
    by_hand = [name for group in by_module.values() for name in group]
    submodules = [name for name in exports.submodules if not name.startswith("_")]
    return render(
        "package.pyi.j2",
        source,
        "__init__.pyi",
        dtypes=names,
        by_module=by_module,
        submodules=submodules,
        constants=exports.constants,
        written=sorted([*by_hand, *exports.constants, *submodules, *types, *storages]),
        exported=exported,
        types=types,
        storages=storages,
    )


def _exported(operators: Sequence[Operator]) -> list[str]:
    """The names of all functions."""
    return [
        name
        for operator in operators
        for name in (*variants.function_names(operator), *variants.inplace_function_names(operator))
    ]


def functions(operator: Operator) -> list[Stub]:
    """Stubs of the functions of an operator; a function of a submodule has the operator's name here."""
    text = signature(operator, "input")
    names = variants.function_names(operator) or ((operator.name,) if operator.module else ())
    alone = operator.alone is not None
    stubs = [Stub(name, text, _result(operator), _summary(operator), alone) for name in names]
    if alone:
        first = text.partition(",")[0]
        stubs += [Stub(name, first, "Any", f"`{operator.alone}`", overloaded=True) for name in names]
    if not (variants.inplace_function_names(operator) or variants.has_inplace_argument(operator)):
        return stubs
    text = signature(operator, "self", with_out=False).replace("self", "self: Tensor", 1)
    return stubs + [Stub(f"{name}_", text, "Tensor", f"In-place version of `{name}`.") for name in names]


def methods(operator: Operator) -> list[Stub]:
    """Stubs of the methods of an operator, special methods included."""
    stubs: list[Stub] = []
    summary = _summary(operator)
    if operator.method:
        for name in (operator.name, *operator.aliases):
            stubs.append(Stub(name, signature(operator, "self"), _result(operator), summary))
            if variants.has_inplace(operator):
                inplace = signature(operator, "self", with_out=False)
                stubs.append(Stub(name + "_", inplace, "Self", f"In-place version of `{name}`."))
    if operator.property_name is not None:
        own = (operator.property_name, "self", _result(operator), summary)
        stubs.append(Stub(*own, is_property=True, is_assignable=operator.assignable))
    python = variants.python_operator(operator)
    if python is None:
        return stubs
    if python.operands == 1:
        return [*stubs, Stub(python.method, "self", "Tensor", summary)]
    # Comparisons override those of `object`, which take anything.
    ignore = "  # type: ignore[override]" if python.method in ("__eq__", "__ne__") else ""
    other = f"self, other: Tensor | {'Operand' if operator.family is Family.ELEMENTWISE else 'Array'}"
    stubs.append(Stub(python.method, other, "Tensor" + ignore, summary))
    if python.reflected:
        stubs.append(Stub(python.reflected_method, other, "Tensor", summary))
    if python.augmented and variants.has_inplace(operator):
        stubs.append(Stub(python.augmented_method, other, "Self", summary))
    return stubs


def _result(operator: Operator) -> str:
    if operator.body.pairwise or "unpack" in operator.tags:
        return "Any"  # one tensor or several, depending on the arguments
    if operator.result_names:
        return f"_{operator.name}_results"
    if operator.schema.returns_value:
        return {"bool": "bool", "int": "int", "Scalar": "bool | int | float"}[str(operator.schema.returns[0])]
    if len(operator.schema.returns) > 1:
        return f"tuple[{', '.join('Tensor' for _ in operator.schema.returns)}]"
    return "tuple[Tensor, ...]" if operator.returns_list else "Tensor"


def _fields(operator: Operator) -> list[tuple[str, str]]:
    """Names and types of the results that are a named tuple."""
    kinds = ["tuple[Tensor, ...]" if each.is_tensor_list else "Tensor" for each in operator.schema.returns]
    return list(zip(operator.result_names, kinds, strict=True))


def _summary(operator: Operator) -> str:
    return in_docstring(operator.doc.split(". ")[0].rstrip(".") + ".")
