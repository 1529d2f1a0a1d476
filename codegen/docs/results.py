"""Results and errors in docstrings: shapes and dtypes, which follow from the family and the body.

What does not follow is the last sentence of the entry's `doc`, either part of which may be left out:
`Returns shape (*, n, n) for A (*, n, n); dtype that of A.`
"""

from __future__ import annotations

from ..dtypes import BOOL, COMPLEX64, DTYPE_CLASSES, INT64, DType, Promotion, ordered
from ..model.computation import turns_complex, turns_real
from ..model.operator import Family, Found, Operator
from ..model.signatures import accepted_types
from ..model.variants import is_factory

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
    if operator.body.copies:
        return "View of the input where its memory order allows, else a copy"
    if operator.returns_list:
        return "Tuple of " + ("views of the input" if operator.schema.returns_alias else "tensors")
    if operator.family is Family.VIEW or operator.schema.returns_alias:
        return "View of the input"
    return "Tensor"


def _shape(operator: Operator) -> str:
    """The shape of the result, as far as it follows from the family."""
    if operator.schema.argument("keepdim"):
        return "the input's shape without `dim` (size 1 if `keepdim`)"
    text = operator.body.shape_text(operator)
    if text is not None:
        return text
    if is_factory(operator):
        return "shape `size`" if operator.schema.argument("size") else "the input's shape"
    return "the input's shape" if operator.updates_self or operator.schema.name.inplace else ""


def _dtype(operator: Operator) -> str:
    text = operator.body.dtype_text(operator)
    if text is not None:
        return text
    if operator.family is Family.VIEW or operator.schema.returns_alias or operator.schema.name.inplace:
        return "that of the input"
    dtype = _RESULTS[operator.promotion]
    if len(operator.inputs) == 1:
        dtype = dtype.replace(_PROMOTED, "that of the input")
    if turns_complex(operator):
        return "the complex one whose parts have the dtype of the inputs"
    if turns_real(operator) and COMPLEX64 in operator.dtypes:
        dtype += "; for complex numbers that of their parts"
    if is_factory(operator) and not operator.inputs:
        return "the default dtype"
    return f"{dtype}, and int64 for positions" if Found.POSITION in operator.body.found else dtype


def errors(operator: Operator) -> list[str]:
    """The exceptions that a call may raise, with their causes."""
    elementwise = operator.family is Family.ELEMENTWISE
    has_number = elementwise and "lone_numbers" not in operator.tags
    mixed = has_number and all(len(accepted_types(operator, each)) > 1 for each in operator.inputs)
    errors = [f"TypeError: an argument is of another type{', or no operand is a tensor' if mixed else ''}."]
    accepted = _accepted_dtypes(operator)
    if operator.family is Family.COMPUTE and operator.body.told:
        errors.append("RuntimeError: an input has a dtype of its own, which does not hold that of the tensor.")
    refused = DTYPE_CLASSES["any"] - accepted
    if refused not in (frozenset(), DTYPE_CLASSES["complex"]):
        # Reductions of floating numbers raise RuntimeError for integers, as no dtype of the result follows.
        real = operator.refusal or (operator.family is Family.REDUCE and INT64 in refused)
        refusals = {operator.complex_refusal if dtype.is_complex else real for dtype in refused}
        if elementwise and set(operator.body.fixed.values()) - {BOOL}:
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
    if body.told and not body.promotes:
        return DTYPE_CLASSES["any"]
    return frozenset(dtype for dtype in operator.dtypes if body.computes(promotion.resolve(dtype)[0].opmath))


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
