"""Names that the NumPy form of an operator may use, with their values: the form is Python of others, and only computes.

A form names functions of the modules below and attributes of numbers and arrays that are listed here. None of them
reads or writes a file, runs a text as code or finds other modules. Everything else is refused before it is evaluated,
and so are integers written in the text that would take for ever, as Python's have no largest: `9**9**9`.
"""

from __future__ import annotations

import ast
import importlib
import math
from collections.abc import Iterable, Mapping
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

from ..errors import suggest

MODULES = ("np", "scipy", "math")
BUILTINS = {
    each.__name__: each
    for each in (abs, bool, complex, float, int, len, list, max, min, range, round, slice, sum, tuple)
}


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Universal functions of NumPy and SciPy need no listing: they are told by their type, and compute elementwise.
_FUNCTIONS = {
    "np": _names("""
    all allclose amax amin angle any append apply_along_axis apply_over_axes arange argmax argmin argpartition
    argsort argwhere around array array_equal array_equiv array_split asanyarray asarray ascontiguousarray
    asfortranarray astype atleast_1d atleast_2d atleast_3d average bartlett bincount blackman block bool_
    broadcast_arrays broadcast_shapes broadcast_to can_cast choose clip column_stack common_type complex128
    complex64 compress concat concatenate convolve copy corrcoef correlate count_nonzero cov cross cumprod cumsum
    cumulative_prod cumulative_sum delete diag diag_indices diagflat diagonal diff digitize dot dsplit dstack dtype
    e ediff1d einsum empty empty_like euler_gamma expand_dims extract eye finfo fix flatnonzero flip fliplr flipud
    float16 float32 float64 fromfunction full full_like geomspace gradient hamming hanning histogram histogram2d
    histogram_bin_edges histogramdd hsplit hstack i0 identity iinfo imag in1d indices inf inner insert int16 int32
    int64 int8 interp intersect1d intp isclose iscomplex iscomplexobj isin isneginf isposinf isreal isrealobj ix_
    kaiser kron lexsort linspace logspace matrix_transpose max mean median meshgrid min min_scalar_type moveaxis nan
    nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod
    nanquantile nanstd nansum nanvar ndim newaxis nonzero ones ones_like outer pad partition percentile permute_dims
    pi piecewise poly polyadd polyder polydiv polyfit polyint polymul polysub polyval prod promote_types ptp
    quantile ravel ravel_multi_index real real_if_close repeat reshape resize result_type roll rollaxis roots rot90
    round searchsorted select setdiff1d setxor1d shape sinc size sort sort_complex split squeeze stack std sum
    swapaxes take take_along_axis tensordot tile trace transpose trapezoid trapz tri tril tril_indices trim_zeros
    triu triu_indices uint16 uint32 uint64 uint8 union1d unique unique_counts unique_inverse unique_values
    unravel_index unwrap vander var vdot vectorize vsplit vstack where zeros zeros_like
    """),
    "np.fft": _names("""
    fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq
    rfftn
    """),
    "np.linalg": _names("""
    cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power matrix_rank
    matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve trace
    vecdot vector_norm
    """),
    "scipy.special": _names("""
    bernoulli comb diric euler factorial factorial2 factorialk log_softmax logsumexp multigammaln perm polygamma
    sinc softmax zeta
    """),
}
ATTRIBUTES = _names("""
    T accumulate all any argmax argmin argpartition argsort astype at bits clip compress conj conjugate copy cumprod
    cumsum denominator diagonal dot dtype eps flatten imag is_integer item itemsize kind max mean min ndim nin
    nonzero nout numerator outer prod ptp ravel real reduce reduceat repeat reshape resolution round searchsorted
    shape size smallest_normal sort squeeze std strides sum swapaxes take tiny tolist trace transpose var
""")
"""Attributes of arrays, numbers, dtypes and universal functions. No module has anything else by one of these names."""


def refusal(text: str, names: Iterable[str]) -> str | None:
    """Return what a form over these names contains that it may not, or None."""
    try:
        nodes = list(ast.walk(_parsed(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "'reference' is not a Python expression"
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    own = bound.union(names)
    modules = {name for name in MODULES if name not in own}
    within: set[ast.AST] = set()
    """Parts of `np.linalg.norm`, which is looked at as a whole."""
    for node in nodes:
        problem = _endless(node)
        if isinstance(node, ast.Attribute) and node not in within:
            path = _path(node)
            if path is not None and path.name in modules:
                within.update(path.nodes)
                problem = _wrong_path(path)
            elif node.attr.startswith("_"):
                problem = f"'reference' uses the private name '{node.attr}'"
            elif node.attr not in ATTRIBUTES:
                problem = f"'reference' uses '.{node.attr}', which is none of the attributes that only compute"
        elif isinstance(node, ast.Name) and node not in within:
            if node.id in modules:
                problem = f"'reference' uses the module '{node.id}' itself"
            elif node.id not in own and node.id not in BUILTINS:
                problem = f"unknown name '{node.id}' in 'reference': {suggest(node.id, (*names, *MODULES))}"
        if problem is not None:
            return problem
    return None


_LARGEST_EXPONENT = 1024
"""Beyond it a power of two has no value in any dtype."""

_LONGEST_RANGE = 1 << 20


def _endless(node: ast.AST) -> str | None:
    """Return what is wrong with an exponent, a shift, a range or an argument of math that the text makes too large."""
    match node:
        case ast.BinOp(op=ast.Pow() | ast.LShift(), right=right) if not _constant(right) <= _LARGEST_EXPONENT:
            return f"'reference' has an exponent or a shift beyond {_LARGEST_EXPONENT}: '{ast.unparse(node)}'"
        case ast.Call(func=called) if ast.unparse(called).startswith(("range", "math.")):
            if not all(_constant(each) <= _LONGEST_RANGE for each in node.args):
                return f"'reference' counts beyond {_LONGEST_RANGE}: '{ast.unparse(node)}'"
    return None


def _constant(node: ast.expr) -> float:
    """Return the size of an integer that is written out with operators, rounded; 0 of everything else."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return float(min(abs(node.value), 1 << 1000))
    if isinstance(node, ast.UnaryOp):
        return _constant(node.operand)
    if not isinstance(node, ast.BinOp):
        return 0.0
    left, right = _constant(node.left), _constant(node.right)
    try:
        match node.op:
            case ast.Pow():
                return math.pow(left, right)
            case ast.LShift():
                return left * math.pow(2, right)
            case ast.Mult():
                return left * right
            case ast.Add():
                return left + right
            case _:
                return left
    except OverflowError:
        return math.inf


def value(text: str, names: Mapping[str, Any]) -> Any:
    """Return the value of a form, in which nothing may be refused."""
    problem = _known_refusal(text, frozenset(names))
    if problem is not None:
        raise ValueError(problem)
    scope = BUILTINS | {name: module(name) for name in MODULES if name in text}
    return eval(_compiled(text), {"__builtins__": {}, **scope, **names})


@cache
def _known_refusal(text: str, names: frozenset[str]) -> str | None:
    return refusal(text, names)


def module(name: str) -> Any:
    """Return the module that a name stands for; None if it is not installed."""
    try:
        if name == "scipy":
            importlib.import_module("scipy.special")
        return importlib.import_module("numpy" if name == "np" else name)
    except ImportError:
        return None


@cache
def _parsed(text: str) -> ast.Expression:
    return ast.parse(text.strip(), mode="eval")


@cache
def _compiled(text: str) -> CodeType:
    return compile(_parsed(text), "<reference>", "eval")


class _Path(NamedTuple):
    """The root and the attributes of a dotted name such as `name.this.that`."""

    name: str
    attributes: tuple[str, ...]
    nodes: tuple[ast.AST, ...]

    def __str__(self) -> str:
        return ".".join([self.name, *self.attributes])


def _path(node: ast.expr) -> _Path | None:
    """Return the path that a node is; None of other values."""
    if isinstance(node, ast.Name):
        return _Path(node.id, (), (node,))
    inner = _path(node.value) if isinstance(node, ast.Attribute) else None
    if inner is None:
        return None
    assert isinstance(node, ast.Attribute)
    return _Path(inner.name, (*inner.attributes, node.attr), (*inner.nodes, node))


def _wrong_path(path: _Path) -> str | None:
    """Return what is wrong with the path of a function within a module, or None."""
    found, place = module(path.name), path.name
    if found is None:
        return None  # it is not installed, so nothing is evaluated
    for index, name in enumerate(path.attributes):
        if not hasattr(found, name):
            return f"'reference' names '{path}', which does not exist"
        found = getattr(found, name)
        if f"{place}.{name}" in _FUNCTIONS:
            place += f".{name}"
        elif _may_be_named(place, name, found) and ATTRIBUTES.issuperset(path.attributes[index + 1 :]):
            return None
        else:
            return f"'reference' names '{path}', which is none of the functions that only compute"
    return f"'reference' uses the module '{path}' itself"


def _may_be_named(place: str, name: str, found: object) -> bool:
    import numpy as np

    if place == "math":
        return not name.startswith("_")
    return isinstance(found, np.ufunc) or name in _FUNCTIONS.get(place, ())
