"""Results and errors in docstrings: shapes and dtypes, which follow from the family and the body.

What does not follow is the last sentence of the entry's `doc`, either part of which may be left out:
`Returns shape (*, n, n) for A (*, n, n); dtype that of A.`
"""

from __future__ import annotations

from ..dtypes import BOOL, COMPLEX64, DTYPE_CLASSES, FLOAT32, INT64, DType, Promotion, ordered
from ..expr.geometry import Geometry
from ..expr.typed import Arg, Op
from ..model.computation import own_computed_dtype, result_dtype
from ..model.compute import Compute
from ..model.operator import Elementwise, Extern, Factory, Family, Found, Operator, Reduce, Scan, View
from ..model.signatures import accepted_types
from ..model.variants import is_factory
from .examples import python_name

_PROMOTED = "the one that the inputs promote to"
_RESULTS = {
    Promotion.DEFAULT: _PROMOTED,
    Promotion.INT_TO_FLOAT: f"{_PROMOTED}; for integers and bool the default floating dtype",
    Promotion.ALWAYS_BOOL: "bool",
    Promotion.BOOL: "bool; uint8 for an input of uint8",
    Promotion.INT_TO_LONG: "that of the input; int64 for integers and bool",
    Promotion.BOOL_TO_LONG: "that of the input; int64 for bool",
    Promotion.TO_DOUBLE: "float64; for complex numbers complex128",
    Promotion.KEEP: "that of the input",
}
_CLASSES = ("any", "all", "numeric", "integer", "signed", "unsigned", "floating", "half", "complex", "float8", "bool")
"""The classes of dtypes whose names are clear to readers."""
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


def meaning(operator: Operator) -> str:
    """The entry's `doc` without the sentence about the result."""
    return _split(operator)[0]


def result(operator: Operator) -> str:
    """Kind, shape and dtype of what is returned."""
    if operator.schema.returns_value:
        return {"bool": "True or False.", "int": "int.", "Scalar": "Number of Python."}[str(operator.schema.returns[0])]
    _, shape, dtype = _split(operator)
    kind, shape = _kind_of_result(operator), shape or _shape(operator)
    # Results of a composite are unknown unless the entry declares them.
    dtype = dtype or (_dtype(operator) if shape or operator.family is not Family.COMPOSITE else "")
    chosen = "`dtype`, or " if operator.has_dtype_argument else ""
    facts = [f"{kind}{' of' if kind == 'Tensor' else ', of'} {shape}" if shape else kind]
    facts += [f"dtype: {chosen}{dtype}"] if dtype else []
    return "; ".join(facts) + "."


def _split(operator: Operator) -> tuple[str, str, str]:
    """The parts of `doc`: what the operator means, and the shape and the dtype of its result."""
    text, _, returns = operator.doc.partition(" Returns ")
    shape, _, dtype = f"; {returns.removesuffix('.')}".partition("; dtype ")
    return text, shape.removeprefix("; "), dtype


def _kind_of_result(operator: Operator) -> str:
    alone = ", or the first of them alone" if "unpack" in operator.tags else ""
    if operator.result_names:
        return f"Named tuple of tensors ({', '.join(operator.result_names)}){alone}"
    if len(operator.schema.returns) > 1:
        return f"Tuple of {len(operator.schema.returns)} tensors{alone}"
    if operator.schema.name.inplace:
        return "The tensor itself"
    if isinstance(operator.body, View) and operator.body.copies:
        return "View of the input where its memory order allows, else a copy"
    if operator.returns_list:
        return "Tuple of " + ("views of the input" if operator.schema.returns_alias else "tensors")
    if operator.family is Family.VIEW or operator.schema.returns_alias:
        return "View of the input"
    return "Tensor"


def _shape(operator: Operator) -> str:
    """The shape of the result, as far as it follows from the family."""
    body = operator.body
    if isinstance(body, View):
        return _view_shape(body)
    if isinstance(body, Extern):
        inputs, result = body.signature.split("->")
        pairs = zip(operator.inputs, inputs.split(",("), strict=True)
        named = (f"{python_name(argument.name)} ({_sizes(sizes)})" for argument, sizes in pairs)
        return f"shape ({_sizes(result)}) for {', '.join(named)}"
    if isinstance(body, Factory):
        return f"shape `{body.shape}`" if operator.schema.argument(body.shape) else "one dimension"
    if operator.schema.argument("keepdim"):
        return "the input's shape without `dim` (size 1 if `keepdim`)"
    if isinstance(body, Reduce):
        return "the input's shape without `dim`"
    if operator.family is Family.ELEMENTWISE and len(operator.inputs) > 1:
        return "the shape to which the inputs broadcast"
    if is_factory(operator):
        return "shape `size`" if operator.schema.argument("size") else "the input's shape"
    keeps = operator.family in (Family.ELEMENTWISE, Family.SCAN, Family.FOLD, Family.ROWS)
    return "the input's shape" if keeps or operator.updates_self or operator.schema.name.inplace else ""


def _sizes(text: str) -> str:
    """Sizes of the signature of a routine, without parentheses."""
    return ", ".join(text.strip("()").split(","))


def _view_shape(body: View) -> str:
    tree: Geometry | None = body.shape
    if isinstance(tree, Arg):
        tree = dict(body.let).get(tree.name)
    if not isinstance(tree, Op) or tree.function not in _SHAPES:
        return ""
    names = [f"`{each.name.rstrip('_')}`" if isinstance(each, Arg) else "" for each in tree.operands]
    return _SHAPES[tree.function].format(*names)


def _dtype(operator: Operator) -> str:
    body = operator.body
    if isinstance(body, Factory):
        numbers = "that of the numbers given, or " if operator.params else ""
        return str(body.dtype) if body.dtype else f"{numbers}the default dtype"
    is_view = operator.family is Family.VIEW or operator.schema.returns_alias
    if is_view or operator.family in (Family.EXTERN, Family.INDEXING, Family.CORE) or operator.schema.name.inplace:
        return "that of the input"
    if isinstance(body, Elementwise) and body.is_single and body.own[0] is not None:
        return str(body.own[0])
    if isinstance(body, Compute) and not body.places and len(operator.schema.returns) == 1:
        own = own_computed_dtype(operator, body, 0)
        if own is not None or (body.given and not body.promotes):
            return str(own or "the default dtype")
    dtype = _RESULTS[operator.promotion]
    if len(operator.inputs) == 1:
        dtype = dtype.replace(_PROMOTED, "that of the input")
    if isinstance(body, Elementwise) and result_dtype(operator, FLOAT32).is_complex:
        return "the complex one whose parts have the dtype of the inputs"
    if isinstance(body, Elementwise) and COMPLEX64 in operator.dtypes and result_dtype(operator, COMPLEX64) == FLOAT32:
        dtype += "; for complex numbers that of their parts"
    if is_factory(operator) and not operator.inputs:
        return "the default dtype"
    if not isinstance(body, (Reduce, Scan)) or Found.POSITION not in body.results:
        return dtype
    return "int64" if body.results == (Found.POSITION,) else f"{dtype}, and int64 for positions"


def errors(operator: Operator) -> list[str]:
    """The exceptions that a call may raise, with their causes."""
    elementwise = operator.family is Family.ELEMENTWISE and "lone_numbers" not in operator.tags
    mixed = elementwise and all(len(accepted_types(operator, each)) > 1 for each in operator.inputs)
    errors = [f"TypeError: an argument is of another type{', or no operand is a tensor' if mixed else ''}."]
    accepted = _accepted_dtypes(operator)
    if isinstance(operator.body, Compute) and operator.body.given:
        errors.append("RuntimeError: an input has a dtype of its own, which does not hold that of the tensor.")
    refused = DTYPE_CLASSES["any"] - accepted
    if refused not in (frozenset(), DTYPE_CLASSES["complex"]):
        # Reductions of floating numbers raise RuntimeError for integers, as no dtype of the result follows.
        real = operator.refusal or (isinstance(operator.body, Reduce) and INT64 in refused)
        refusals = {operator.complex_refusal if dtype.is_complex else real for dtype in refused}
        if isinstance(operator.body, Elementwise) and set(operator.body.fixed.values()) - {BOOL}:
            refusals.add("an input has a dtype of its own")
        kinds = sorted({"RuntimeError" if refusal else "NotImplementedError" for refusal in refusals})
        errors.append(f"{' or '.join(kinds)}: a dtype is not {named(accepted)}.")
    if len(operator.inputs) > 1:
        errors.append("RuntimeError: the shapes do not fit together.")
    if any(argument.name.startswith("dim") for argument in operator.schema.arguments):
        errors.append("IndexError: a dimension is out of range.")
    return errors


def _accepted_dtypes(operator: Operator) -> frozenset[DType]:
    """The dtypes that the entry accepts and for which it has an expression."""
    body, promotion = operator.body, operator.promotion
    if isinstance(body, Compute) and body.given and not body.promotes:
        return DTYPE_CLASSES["any"]
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
