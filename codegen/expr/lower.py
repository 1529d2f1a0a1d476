"""Types an expression for given argument dtypes and lowers it to primitives with explicit conversions.

Numbers are weak, as in torch: they take the dtype of what they meet unless they are of a higher kind (a float
among integers). What only numbers and bool decide stays weak: int32 or float64 until it meets a dtype. In expressions
over shapes and strides, whose only integers are int64, it is int64 (`lower_integers`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ..dtypes import BOOL, DTYPES, FLOAT64, INT32, INT64, INT_LIST, UINT64, DType, Kind, promote, promote_all
from ..errors import suggest
from .errors import ExpressionError, raise_all
from .functions import FUNCTIONS, ROWS, Function, Rule
from .parse import parse
from .text import symbol
from .tree import Apply, Expr, Literal, Name, Number, names
from .typed import Arg, Const, Node, Op, convert, postorder, replaced
from .typed_expression import TypedExpression

Env = Mapping[str, DType]
Native = Callable[[str, DType], bool]

_LARGEST_PRODUCT = 16
"""Powers up to this exponent are products."""


@dataclass(frozen=True)
class Type:
    """The dtype of an expression; a weak dtype gives way to any other of its kind or a higher one."""

    dtype: DType
    weak: bool = False


@dataclass(frozen=True)
class _Value:
    node: Node
    weak: bool

    @property
    def dtype(self) -> DType:
        return self.node.dtype


def type_of(expr: Expr, env: Env) -> Type:
    """Dtype of the expression's value when the arguments have the compute dtypes of `env`."""
    value = _Lowering(_arguments(expr, env), env, None).visit(expr)
    return Type(value.dtype, value.weak)


def lower(expr: Expr, env: Env, result: DType | None = None, native: Native | None = None) -> Node:
    """The typed tree of an expression, converted to the dtype `result` if one is given.

    `native(function, dtype)` is true if the target has the function, so that its definition is not used.
    """
    value = _Lowering(_arguments(expr, env), env, native).visit(expr)
    if result is None:
        return value.node
    _check_assignable(expr, value, result)
    return convert(value.node, result)


def lower_integers(expr: Expr, env: Env, expected: DType | None, native: Native) -> Node:
    """The typed tree of an expression over integers, truth values and lists of integers.

    If a type is `expected`, the expression must have it: bool and integers are not converted to one another.
    """
    value = _Lowering(_arguments(expr, env), env, native, INT64).visit(expr)
    return value.node if expected is None else _expected(expr, value, expected)


def lower_further(root: Node, native: Native) -> Node:
    """The typed tree for a target that lacks some of its functions, with their definitions in place of these."""
    done: dict[Node, Node] = {}
    for node in postorder(root):
        new = replaced(node, {each: done[each] for each in node.children})
        if isinstance(new, Op) and new.row.definition(new.operand_dtype):
            new = lower(Apply(new.function, tuple(map(TypedExpression, new.operands))), {}, new.dtype, native)
        done[node] = new
    return done[root]


def _expected(expr: Expr, value: _Value, dtype: DType) -> Node:
    """The value, which must have this type; only weak integers are converted."""
    if value.dtype == dtype or (value.weak and value.dtype.is_integer and dtype.is_integer):
        return convert(value.node, dtype)
    message = f"expected {_described(dtype)}, got {_described(value.dtype)}"
    raise ExpressionError.at(expr.span, message)


def _truth(expr: Expr, value: _Value) -> Node:
    return _expected(expr, value, BOOL) if value.dtype.is_list else convert(value.node, BOOL)


def _written(expr: Expr) -> str:
    """The expression as it stands in its entry, where names may stand for elements and reductions."""
    span = expr.span
    return str(expr) if span.origin is None else span.origin.value[span.offset : span.offset + span.length]


def _described(dtype: DType) -> str:
    if dtype.is_integer:
        return "an integer"
    return "a truth value" if dtype.is_bool else "a list of integers" if dtype.is_list else f"a number of {dtype}"


def _check_assignable(expr: Expr, value: _Value, result: DType) -> None:
    # Arithmetic on bool gives a weak integer, which is converted to a bool result.
    category = 0 if value.weak and value.dtype.is_integer else value.dtype.kind.category
    if category <= result.kind.category:
        return
    help = None
    if value.dtype.is_floating:
        help = "'/' and mathematical functions give floating point; '//' divides integers"
        if value.weak:
            help = "a float number or '/' makes an integer expression floating point; '//' divides integers"
    message = f"the expression is {value.dtype}, which a result of {result} cannot hold"
    raise ExpressionError.at(expr.span, message, help)


def _arguments(expr: Expr, env: Env) -> dict[str, _Value]:
    """The names that an expression uses, which may be few of those that are known."""
    used = {name: env[name] for name in names(expr) if name in env}
    for name, dtype in used.items():
        if not dtype.compute:
            raise ValueError(f"{name}: {dtype} has no kernels; compute in {dtype.opmath}")
    return {name: _Value(Arg(dtype, name), weak=False) for name, dtype in used.items()}


@cache
def _definition(text: str) -> Expr:
    return parse(text)


class _Lowering:
    def __init__(
        self, values: Mapping[str, _Value], known: Collection[str], native: Native | None, integer: DType = INT32
    ) -> None:
        self.values = values
        self.known = known
        self.native = native
        self.integer = integer
        self.done: dict[Expr, _Value] = {}

    def visit(self, expr: Expr) -> _Value:
        if expr not in self.done:
            self.done[expr] = self._visit(expr)
        return self.done[expr]

    def _visit(self, expr: Expr) -> _Value:
        if isinstance(expr, Name):
            if expr.name not in self.values:
                help = suggest(expr.name, self.known)
                raise ExpressionError.at(expr.span, f"unknown name '{expr.name}'", help)
            return self.values[expr.name]
        if isinstance(expr, Literal):
            return self._number(expr)
        if isinstance(expr, TypedExpression):
            return _Value(expr.node, weak=False)
        assert isinstance(expr, Apply)
        function = ROWS[expr.function]
        values = self._operands(expr.args)
        if function.rule is Rule.TYPED:
            types = function.types or (INT64,) * len(values)
            nodes = tuple(_expected(*each) for each in zip(expr.args, values, types, strict=True))
            assert function.result is not None
            return _Value(Op(function.result, function.name, nodes), False)
        if function.rule is Rule.SELECT:
            condition, *choices = values
            truth = _truth(expr.args[0], condition)
            dtype, weak = _common(expr, expr.args[1:], choices)
            if isinstance(condition.node, Const):
                return _Value(convert(choices[0 if condition.node.value else 1].node, dtype), weak)
            operands = (truth, *(convert(value.node, dtype) for value in choices))
            return _Value(Op(dtype, "where", operands), weak)
        if function.rule is Rule.LOGICAL:
            return _Value(Op(BOOL, expr.function, tuple(map(_truth, expr.args, values))), False)
        dtype, weak = self._operand_dtype(expr, function, values)
        operands = tuple(convert(value.node, dtype) for value in values)
        try:
            if function.takes(dtype):
                return self._apply(function, operands, dtype, weak)
        except ExpressionError:
            if not dtype.is_complex:
                raise
        # The message names the function that was written, not one that its definition uses.
        operand = "complex numbers" if dtype.is_complex else dtype.name
        message = f"{symbol(expr.function)} is not defined for {operand}"
        raise ExpressionError.at(expr.span, message)

    def _operands(self, args: Sequence[Expr]) -> list[_Value]:
        """The values of the arguments. Mistakes in several of them are raised together."""
        values: list[_Value] = []
        errors: list[ExpressionError] = []
        for arg in args:
            try:
                values.append(self.visit(arg))
            except ExpressionError as error:
                errors.extend(error.all)
        raise_all(errors)
        return values

    def _apply(self, function: Function, operands: tuple[Node, ...], dtype: DType, weak: bool) -> _Value:
        result = _result_dtype(function, dtype)
        weak = weak and function.rule is not Rule.COMPARISON
        text = function.definition(dtype)
        if text is not None and not (self.native and self.native(function.name, dtype)):
            params = {param: _Value(node, weak) for param, node in zip(function.params, operands, strict=True)}
            value = _Lowering(params, params, self.native).visit(_definition(text)).node
            # A definition may give real numbers for complex operands; otherwise the rule decides the dtype.
            return _Value(value if dtype.is_complex else convert(value, result), weak)
        if function.name == "pow" and isinstance(operands[1], Const) and _is_product(operands[1].value, result):
            return self._product(operands[0], int(operands[1].value), weak)
        numbers = [operand.value for operand in operands if isinstance(operand, Const)]
        if function.rule is Rule.COMPARISON and function.python and len(numbers) == function.arity:
            return _Value(Const(BOOL, function.python(*numbers)), False)
        return _Value(Op(result, function.name, operands), weak)

    def _number(self, expr: Literal) -> _Value:
        value = expr.value
        if isinstance(value, bool):
            return _Value(Const(BOOL, value), weak=True)
        if isinstance(value, float):
            return _Value(Const(FLOAT64, value), weak=True)
        for dtype in (self.integer, INT64, *([UINT64] if self.integer is INT32 else [])):
            if dtype.lowest <= value <= dtype.highest:
                return _Value(Const(dtype, value), weak=True)
        message = f"{value if abs(value) < 10**40 else 'this number'} does not fit in int64"
        help = f"as a float: {float(value)!r}" if abs(value) < 10**300 else None
        raise ExpressionError.at(expr.span, message, help)

    def _operand_dtype(self, expr: Apply, function: Function, values: Sequence[_Value]) -> tuple[DType, bool]:
        """The dtype to which the operands are converted, and whether it is weak."""
        if not function.takes(INT_LIST):
            for arg, value in zip(expr.args, values, strict=True):
                if value.dtype.is_list:
                    _expected(arg, value, INT64)
        dtype, weak = _common(expr, expr.args, values)
        rule = function.rule
        if rule in (Rule.BITWISE, Rule.SHIFT) and dtype.kind.category > INT64.kind.category:
            culprit, value = next(
                (arg, value)
                for arg, value in zip(expr.args, values, strict=True)
                if value.dtype.kind.category > INT64.kind.category
            )
            kinds = "integers" if rule is Rule.SHIFT else "integers or bool"
            message = f"{symbol(expr.function)} needs {kinds}, but '{_written(culprit)}' is {value.dtype}"
            help = function.meant if value.dtype.is_floating else None
            raise ExpressionError.at(culprit.span, message, help)
        if rule is Rule.FLOATING and not (dtype.is_floating or dtype.is_complex):
            return FLOAT64, True
        if rule in (Rule.ARITHMETIC, Rule.SHIFT) and dtype.is_bool:
            return self.integer, True
        return dtype, weak

    def _product(self, base: Node, exponent: int, weak: bool) -> _Value:
        """A power as repeated products, which are much cheaper than pow. torch rounds squares and cubes so, too."""
        if exponent < 0:
            below = self._product(base, -exponent, weak).node
            return self._apply(FUNCTIONS["div"], (Const(base.dtype, 1), below), base.dtype, weak)
        if exponent == 1:
            return _Value(base, weak)
        half = self._product(base, exponent // 2, weak).node
        square = self._apply(FUNCTIONS["mul"], (half, half), base.dtype, weak)
        return square if exponent % 2 == 0 else self._apply(FUNCTIONS["mul"], (square.node, base), base.dtype, weak)


def _is_product(exponent: Number, dtype: DType) -> bool:
    """Return True if a power is a product of few factors; powers of integers have no negative exponents."""
    least = -_LARGEST_PRODUCT if dtype.is_floating or dtype.is_complex else 2
    return float(exponent).is_integer() and least <= exponent <= _LARGEST_PRODUCT and exponent not in (0, 1)


def _result_dtype(function: Function, operand: DType) -> DType:
    """The dtype of a primitive's result, and of a definition's result for real operands."""
    if function.rule is Rule.COMPARISON:
        return BOOL
    if operand.name in function.gives:
        return DTYPES[function.gives[operand.name]]
    if function.name in ("real", "imag"):
        return operand.to_real
    return operand.to_complex if function.name == "complex" else operand


def _common(expr: Apply, args: Sequence[Expr], values: Sequence[_Value]) -> tuple[DType, bool]:
    strong = [value.dtype for value in values if not value.weak]
    weak = [value.dtype for value in values if value.weak]
    if not strong:
        return promote_all(weak), True
    dtype = promote_all(strong)
    if dtype.is_list:
        for arg, value in zip(args, values, strict=True):
            _expected(arg, value, dtype)
    if weak and promote_all(weak).kind.category > dtype.kind.category:
        return promote_all(weak), True
    if dtype.is_integer:
        for arg, value in zip(args, values, strict=True):
            if value.weak and isinstance(value.node, Const):
                dtype = _fit(expr, arg, int(value.node.value), dtype)
    return dtype, False


def _fit(expr: Apply, arg: Expr, number: int, dtype: DType) -> DType:
    """The dtype in which an integer number meets operands of `dtype`.

    It is a wider one where wrapping would be wrong, as in a comparison of uint8 with -1.
    """
    if dtype.lowest <= number <= dtype.highest:
        return dtype
    if FUNCTIONS[expr.function].modular:
        if -(1 << (dtype.bits - 1)) <= number < 1 << dtype.bits:
            return dtype
        raise ExpressionError.at(arg.span, f"{number} does not fit in {dtype}")
    signed = (other for other in DTYPES.values() if other.kind is Kind.SIGNED)
    return promote(dtype, next(other for other in signed if other.lowest <= number <= other.highest))
