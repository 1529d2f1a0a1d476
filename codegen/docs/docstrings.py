"""The text that explains an operator: docstrings, and the notes on dtypes and shapes that follow from its entry."""

from __future__ import annotations

import textwrap

from ..dtypes import DTYPE_CLASSES, Promotion, ordered
from ..model.operator import Elementwise, Extern, Family, Indexing, Operator, Reduce, Scan, View
from ..model.python_operators import PYTHON_OPERATORS
from ..model.variants import has_inplace, has_out, own_name, parameters
from ..schema import Argument, base_name
from .examples import example

_TYPES = {
    "Scalar": "number",
    "ScalarType": "dtype",
    "int": "int",
    "SymInt": "int",
    "bool": "bool",
    "float": "float",
    "str": "text",
    "Layout": "layout",
    "Device": "device",
    "MemoryFormat": "memory format",
    "Generator": "Generator",
}
_RESULTS = {
    Promotion.DEFAULT: "the dtype that the inputs promote to",
    Promotion.NO_OPMATH: "the dtype that the inputs promote to",
    Promotion.INT_TO_FLOAT: "floating; integers and bool give the default floating dtype",
    Promotion.ALWAYS_BOOL: "bool",
    Promotion.BOOL: "bool; uint8 for an input of uint8",
    Promotion.INT_TO_LONG: "that of the input; int64 for integers and bool",
    Promotion.BOOL_TO_LONG: "that of the input; int64 for bool",
    Promotion.TO_DOUBLE: "float64",
    Promotion.KEEP: "that of the input",
}
_MEANINGS = {
    "dim": "dimension or dimensions to work along; negative ones count from the end",
    "keepdim": "keep reduced dimensions with size one",
    "dtype": "dtype of the result, converted to before computing",
    "out": "tensor to write the result to; it is resized when its shape differs",
    "layout": "must be strided",
    "device": "must be the CPU",
    "pin_memory": "has no effect on CPU tensors",
    "memory_format": "contiguous or preserved",
    "size": "sizes of the result, one tuple or separate integers",
    "requires_grad": "is a gradient of the result asked for?",
    "generator": "whose stream is drawn from; the default generator's unless given",
}


def docstring(operator: Operator, package: str = "opweave") -> str:
    """What `help()` shows: meaning, formula, arguments, result, errors, spellings, an example."""
    blocks = [operator.doc]
    formula = _formula(operator)
    if formula:
        blocks.append(f"Formula: {formula}")
    lines = [_argument(p.name, p.argument, _may_be_number(operator, p.argument)) for p in parameters(operator)]
    if has_out(operator):
        lines.append(f"    out: {_MEANINGS['out']}.")
    blocks.append("Args:\n" + "\n".join(lines))
    blocks.append(f"Returns:\n    {_result(operator)}")
    blocks.append("Raises:\n" + "\n".join(_errors(operator)))
    also = _spellings(operator)
    if also:
        blocks.append(f"Also: {also}.")
    session = example(operator, package)
    if session:
        blocks.append("Example:\n" + textwrap.indent(session, "    "))
    return "\n\n".join(blocks) + "\n"


def _formula(operator: Operator) -> str:
    body = operator.body
    if isinstance(body, Elementwise):
        return "; ".join(f"`{text}`" for text in dict.fromkeys(case.source.value for _, case in body.cases))
    if isinstance(body, (Reduce, Scan)):
        finish = f", then `{body.finalize.source.value}`" if isinstance(body, Reduce) and body.finalize else ""
        return f"`acc = {body.combine.source.value}` over the elements{finish}"
    return ""


def _may_be_number(operator: Operator, argument: Argument) -> bool:
    return not isinstance(operator.body, Indexing) or argument.name in operator.body.numbers


def _argument(name: str, argument: Argument, may_be_number: bool) -> str:
    base = base_name(argument.type)
    if base == "Tensor":
        kind = "Tensor or number" if may_be_number else "Tensor"
    else:
        kind = _TYPES.get(base, base)
        kind = f"list of {kind}s" if argument.is_list else kind
    optional = ", optional" if argument.default is not None else ""
    meaning = _MEANINGS.get(name)
    return f"    {name} ({kind}{optional}){': ' + meaning if meaning else ''}."


def _result(operator: Operator) -> str:
    if operator.schema.returns_bool:
        return "True or False."
    if operator.result_names:
        return f"Named tuple of tensors: {', '.join(operator.result_names)}."
    if len(operator.schema.returns) > 1:
        return f"Tuple of {len(operator.schema.returns)} tensors."
    if operator.returns_list:
        return "Tuple of tensors" + (" that share the memory of the input." if operator.schema.returns_alias else ".")
    if isinstance(operator.body, View) and operator.body.copies:
        return "Tensor that shares the memory of the input where its order allows, else a copy."
    if operator.schema.name.inplace:
        return "The tensor itself, filled."
    if operator.family is Family.VIEW or operator.schema.returns_alias:
        return "Tensor that shares the memory of the input."
    if operator.family is Family.FACTORY:
        return "Tensor, contiguous; its dtype is `dtype`, or follows from the numbers given, or is the default dtype."
    if isinstance(operator.body, Extern):
        return f"Tensor; shapes {operator.body.signature}."
    if isinstance(operator.body, Indexing):
        return "Tensor; dtype: that of the input." if operator.name != "argwhere" else "Tensor of int64."
    shape = {
        Family.ELEMENTWISE: "of the broadcast shape of the inputs",
        Family.REDUCE: "without the reduced dimensions",
        Family.SCAN: "of the input's shape",
    }.get(operator.family, "")
    return f"Tensor {shape}; dtype: {_RESULTS[operator.promotion]}.".replace("Tensor ;", "Tensor;")


def _errors(operator: Operator) -> list[str]:
    found = ["    TypeError: an argument has the wrong type."]
    if operator.dtypes not in (DTYPE_CLASSES["all"], DTYPE_CLASSES["any"]):
        classes = {dtypes: name for name, dtypes in DTYPE_CLASSES.items()}
        accepted = classes.get(operator.dtypes) or " or ".join(map(str, ordered(operator.dtypes)))
        found.append(f"    {'RuntimeError' if operator.refusal else 'NotImplementedError'}: a dtype is not {accepted}.")
    if len(operator.inputs) > 1:
        found.append("    RuntimeError: the shapes do not fit together.")
    if any(argument.name.startswith("dim") for argument in operator.schema.arguments):
        found.append("    IndexError: a dimension is out of range.")
    return found


def _spellings(operator: Operator) -> str:
    found = []
    if operator.operator:
        python = PYTHON_OPERATORS[operator.operator]
        found.append(f"`a {python.symbol} b`" if python.operands == 2 else f"`{python.symbol}(a)`")
    if operator.method:
        found.append(f"`Tensor.{operator.name}`")
    if has_inplace(operator):
        where = f"{operator.module}.{own_name(operator)}" if operator.module else f"Tensor.{operator.name}"
        found.append(f"`{where}_` in place")
    found += [f"`{alias}`" for alias in operator.aliases]
    return ", ".join(found)
