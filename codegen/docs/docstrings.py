"""The text that explains an operator: its docstring, which follows from its entry.

Kinds of arguments come from the schema and the family, shapes and dtypes from the family and the body.
tests/test_docstrings.py calls every operator as its docstring says.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping

from ..dtypes import DTYPE_CLASSES, INT64, DType, Promotion, ordered
from ..expr.geometry_tree import Call, Geometry, Variable
from ..model.operator import (
    Elementwise,
    Extern,
    Factory,
    Family,
    Found,
    Indexing,
    Operator,
    Reduce,
    Scan,
    View,
)
from ..model.python_operators import PYTHON_OPERATORS
from ..model.signatures import accepted_types
from ..model.variants import (
    Parameter,
    has_inplace,
    has_inplace_argument,
    has_out,
    is_factory,
    own_name,
    parameters,
    separate_tensors,
    varargs,
)
from ..schema import ListType, Type, base_name
from .examples import example

_TYPES = {
    "Scalar": "number",
    "SymInt": "int",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device or str or int",
    "MemoryFormat": "memory format",
}
"""What documentation calls the types of schemas, where not by the same name."""
_RESULTS = {
    Promotion.DEFAULT: "the one that the inputs promote to",
    Promotion.NO_OPMATH: "the one that the inputs promote to",
    Promotion.INT_TO_FLOAT: "the one that the inputs promote to; for integers and bool the default floating dtype",
    Promotion.ALWAYS_BOOL: "bool",
    Promotion.BOOL: "bool; uint8 for an input of uint8",
    Promotion.INT_TO_LONG: "that of the input; int64 for integers and bool",
    Promotion.BOOL_TO_LONG: "that of the input; int64 for bool",
    Promotion.TO_DOUBLE: "float64",
    Promotion.KEEP: "that of the input",
}
_MEANINGS = {
    "keepdim": "whether reduced dimensions stay, with size 1",
    "dtype": "dtype of the result",
    "layout": "must be strided",
    "device": "must be the CPU",
    "pin_memory": "must be false, as there is no accelerator",
    "memory_format": "order of the result's elements in memory",
    "size": "sizes of the result",
    "generator": "source of random numbers; the default generator if None",
}
_CLASSES = ("any", "all", "numeric", "integer", "signed", "unsigned", "floating", "half", "complex", "bool")
"""The classes of dtypes that say what they mean."""
_SHAPES = {
    "swap": "the input's shape with dimensions {1} and {2} exchanged",
    "remove": "the input's shape without dimension {1}",
    "replace": "the input's shape with another size of dimension {1}",
    "insert": "the input's shape with a dimension of size 1 at {1}",
    "gather": "the input's sizes in the order {1}",
    "infer_size": "shape {0}, in which one size may be -1 and is computed",
    "expand_shape": "shape {1}, in which -1 keeps the input's size",
    "squeeze_shape": "the input's shape without dimensions of size 1",
}
"""The shape of a view, by the function of geometry that gives it; braces hold the arguments of that function."""


def docstring(operator: Operator, package: str, recorded: Mapping[str, str]) -> str:
    """What `help()` shows: meaning, formula, arguments, result, errors, spellings, an example."""
    blocks = [operator.doc]
    formula = _formula(operator)
    if formula:
        blocks.append(f"Formula: {formula}")
    blocks += [_section("Args", _arguments(operator)), _section("Returns", [_result(operator)])]
    blocks.append(_section("Raises", _errors(operator)))
    also = _spellings(operator)
    if also:
        blocks.append(f"Also: {also}.")
    session = example(operator, package, recorded)
    if session:
        blocks.append("Example:\n" + textwrap.indent(session, "    "))
    return "\n\n".join(blocks) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join(
        [f"{title}:", *(textwrap.fill(line, 112, initial_indent=" " * 4, subsequent_indent=" " * 8) for line in lines)]
    )


def _formula(operator: Operator) -> str:
    body = operator.body
    if isinstance(body, Elementwise):
        return "; ".join(f"`{text}`" for text in dict.fromkeys(case.source.value for _, case in body.cases))
    if isinstance(body, (Reduce, Scan)):
        finish = f", then `{body.finalize.source.value}`" if isinstance(body, Reduce) and body.finalize else ""
        return f"`acc = {body.combine.source.value}` over the elements{finish}"
    return ""


# ---- arguments ----------------------------------------------------------------------------------------------


def _arguments(operator: Operator) -> Iterator[str]:
    instead = operator.body.numbers if isinstance(operator.body, Indexing) else {}
    named = {argument: name for argument, name in instead.items() if argument != name}
    for parameter in parameters(operator):
        meaning = _meaning(parameter, operator.family)
        required = _is_shape(operator, parameter) or (parameter.default is None and parameter.name not in named)
        optional = "" if required else ", optional"
        yield f"{parameter.name} ({_kinds(operator, parameter)}{optional}){f': {meaning}' if meaning else ''}."
    if has_inplace_argument(operator):
        yield "inplace (bool, optional): whether to write the result to the input."
    for argument, name in named.items():
        yield f"{name} (number, optional): takes the place of `{argument}`."
    if isinstance(operator.body, Reduce) and operator.body.pairwise:
        yield f"other (Tensor, optional): computes `{operator.body.pairwise}` of both tensors."
    if has_out(operator):
        kind = "tuple of Tensors" if operator.result_names else "Tensor"
        yield f"out ({kind}, optional): where to write the result; resized if its shape differs."
    if operator.family is Family.FACTORY or is_factory(operator):
        yield "requires_grad (bool, optional): whether to record operations on the result."


def _kinds(operator: Operator, parameter: Parameter) -> str:
    argument = parameter.argument
    # Of several operands each may be a number, as long as one is a tensor.
    leads = len(operator.inputs) == 1 or operator.family is not Family.ELEMENTWISE
    types = accepted_types(operator, argument, leads=leads and argument == operator.schema.arguments[0])
    kinds = ["others, as described" if str(type) == "any" else _kind(type) for type in types]
    if parameter == varargs(operator):
        kinds.append("separate ints")
    if parameter == separate_tensors(operator):
        kinds.append("separate Tensors")
    fixed = operator.body.fixed.get(argument.name) if isinstance(operator.body, Elementwise) else None
    if fixed is not None:
        kinds = [f"{kind} of {fixed}" if kind == "Tensor" else kind for kind in kinds]
    if argument.is_optional and not _is_shape(operator, parameter):
        kinds.append("None")
    return " or ".join(dict.fromkeys(kinds))


def _is_shape(operator: Operator, parameter: Parameter) -> bool:
    """Is it the shape of a new tensor? That must be given, though arguments before it may be left out."""
    return isinstance(operator.body, Factory) and parameter.name == operator.body.shape


def _kind(type: Type) -> str:
    if not isinstance(type, ListType):
        return _TYPES.get(base_name(type), base_name(type))
    element = _kind(type.element)
    several = f"{'list' if element == 'Tensor' else 'tuple'} of {element}s"
    return f"{element} or {several}" if type.size else several


def _meaning(parameter: Parameter, family: Family) -> str:
    if parameter.name == "dim":
        several = "dimension or dimensions" if parameter.argument.is_list else "dimension"
        every = "; all of them if None" if parameter.argument.is_optional else ""
        return f"{several} to work along, negative ones counted from the end{every}"
    if parameter.name == "dtype" and family in (Family.REDUCE, Family.SCAN, Family.ROWS):
        return "dtype of the result, to which the input is converted first"
    return _MEANINGS.get(parameter.name, "")


# ---- result and errors --------------------------------------------------------------------------------------


def _result(operator: Operator) -> str:
    if operator.schema.returns_bool:
        return "True or False."
    shape, dtype = _shape(operator), _dtype(operator)
    facts = [f"{_kind_of_result(operator)}{f' of {shape}' if shape else ''}"]
    facts += [f"dtype: {dtype}"] if dtype else []
    return "; ".join(facts) + "."


def _kind_of_result(operator: Operator) -> str:
    if operator.result_names:
        return f"Named tuple of tensors ({', '.join(operator.result_names)})"
    if len(operator.schema.returns) > 1:
        return f"Tuple of {len(operator.schema.returns)} tensors"
    if operator.schema.name.inplace:
        return "The tensor itself"
    if isinstance(operator.body, View) and operator.body.copies:
        return "View of the input where its memory order allows, else a copy,"
    if operator.returns_list:
        return "Tuple of " + ("views of the input" if operator.schema.returns_alias else "tensors")
    if operator.family is Family.VIEW or operator.schema.returns_alias:
        return "Tensor that shares the memory of the input"
    return "Tensor"


def _shape(operator: Operator) -> str:
    """That of the result, as far as the family knows it."""
    body = operator.body
    if isinstance(body, View):
        return _view_shape(body)
    if isinstance(body, Extern):
        inputs, result = body.signature.split("->")
        return f"shape {result} for inputs of shapes {inputs}"
    if isinstance(body, Factory):
        return f"shape `{body.shape}`" if operator.schema.argument(body.shape) else "one dimension"
    if isinstance(body, Reduce) or (operator.family is Family.ROWS and operator.schema.argument("keepdim")):
        return "the input's shape without `dim`" + (
            " (size 1 if `keepdim`)" if operator.schema.argument("keepdim") else ""
        )
    if operator.family is Family.ELEMENTWISE and len(operator.inputs) > 1:
        return "the shape to which the inputs broadcast"
    same = operator.family in (Family.ELEMENTWISE, Family.SCAN, Family.ROWS, Family.RANDOM) or operator.updates_self
    return "the input's shape" if same else ""


def _view_shape(body: View) -> str:
    tree: Geometry | None = body.shape
    if isinstance(tree, Variable):
        tree = dict(body.let).get(tree.name)
    if not isinstance(tree, Call) or tree.function not in _SHAPES:
        return ""
    names = [f"`{each.name.rstrip('_')}`" if isinstance(each, Variable) else "" for each in tree.args]
    return _SHAPES[tree.function].format(*names)


def _dtype(operator: Operator) -> str:
    body = operator.body
    if isinstance(body, Factory):
        return str(body.dtype) if body.dtype else "`dtype`, or that of the numbers given, or the default dtype"
    if isinstance(body, (Extern, View)) or operator.updates_self or operator.family is Family.RANDOM:
        return "that of the input"
    if operator.family in (Family.COMPOSITE, Family.INDEXING):
        return ""
    alone = operator.promotion is Promotion.DEFAULT and len(operator.inputs) == 1
    dtype = _RESULTS[Promotion.KEEP if alone else operator.promotion]
    if not isinstance(body, (Reduce, Scan)) or Found.POSITION not in body.results:
        return f"`dtype`, or {dtype}" if operator.has_dtype_argument else dtype
    return "int64" if body.results == (Found.POSITION,) else f"{dtype}, and int64 for positions"


def _errors(operator: Operator) -> list[str]:
    mixed = operator.family is Family.ELEMENTWISE and len(operator.inputs) > 1 and not operator.accepts
    found = [f"TypeError: an argument is of another type{', or no operand is a tensor' if mixed else ''}."]
    accepted = _accepted_dtypes(operator)
    refused = DTYPE_CLASSES["any"] - accepted
    if refused not in (frozenset(), DTYPE_CLASSES["complex"]):
        # Reductions of floating numbers say of integers that no dtype of the result follows.
        real = operator.refusal or (isinstance(operator.body, Reduce) and INT64 in refused)
        refusals = {operator.complex_refusal if dtype.is_complex else real for dtype in refused}
        kinds = sorted({"RuntimeError" if refusal else "NotImplementedError" for refusal in refusals})
        found.append(f"{' or '.join(kinds)}: a dtype is not {named(accepted)}.")
    if len(operator.inputs) > 1:
        found.append("RuntimeError: the shapes do not fit together.")
    if any(argument.name.startswith("dim") for argument in operator.schema.arguments):
        found.append("IndexError: a dimension is out of range.")
    return found


def _accepted_dtypes(operator: Operator) -> frozenset[DType]:
    """Those that the entry accepts, and for which it has an expression."""
    body, promotion = operator.body, operator.promotion
    if not isinstance(body, Elementwise):
        return operator.dtypes
    return frozenset(dtype for dtype in operator.dtypes if body.expression(promotion.resolve(dtype)[0].opmath))


def named(dtypes: frozenset[DType]) -> str:
    """A set of dtypes as a union of classes: `bool, integer or floating`."""
    words: list[str] = []
    rest = set(dtypes)
    classes = [name for name in _CLASSES if DTYPE_CLASSES[name] <= dtypes]
    # The class that covers most of what is left, so that there are few of them.
    while classes and (best := max(classes, key=lambda name: len(DTYPE_CLASSES[name] & rest))):
        if len(DTYPE_CLASSES[best] & rest) < 2 and best != "bool":
            break
        words.append(best)
        rest -= DTYPE_CLASSES[best]
        classes.remove(best)
    words += map(str, ordered(frozenset(rest)))
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


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
