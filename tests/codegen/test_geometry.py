"""The language of view geometry: types, located mistakes, printed C, and what the C computes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.dtypes import BOOL, INT64, INT_LIST, DType
from codegen.emit.dtypes import emit_header
from codegen.expr import ExpressionError
from codegen.expr.emit_c import print_c
from codegen.expr.functions import LIST_FUNCTIONS
from codegen.expr.geometry import BASE_SCOPE, FAMILY, TARGET, read, to_c
from codegen.expr.parse import parse
from codegen.expr.typed import names

SCOPE = {
    **BASE_SCOPE,
    **dict.fromkeys(("dim", "dim0", "dim1", "index", "start", "end", "step"), INT64),
    **dict.fromkeys(("size", "dims"), INT_LIST),
}


@pytest.mark.parametrize(
    ("text", "kind", "used"),
    [
        ("swap(shape, dim0, dim1)", INT_LIST, {"shape", "dim0", "dim1"}),
        ("offset + index * strides[dim]", INT64, {"offset", "index", "strides", "dim"}),
        ("replace(shape, dim, (end - start + step - 1) // step)", INT_LIST, {"shape", "dim", "end", "start", "step"}),
        ("[1, ndim, -2]", INT_LIST, {"ndim"}),
        ("[]", INT_LIST, set()),
        ("len(dims) == ndim and 0 <= dim < ndim", BOOL, {"dims", "ndim", "dim"}),
        ("shape if ndim == 2 else size", INT_LIST, {"shape", "ndim", "size"}),
        ("shape == size", BOOL, {"shape", "size"}),
        ("not (ndim > 0)", BOOL, {"ndim"}),
        ("True", BOOL, set()),
        ("default(start, 0)", INT64, {"start"}),
        (" swap(shape,\n   0, 1)", INT_LIST, {"shape"}),
    ],
)  # fmt: skip
def test_types_and_names(text: str, kind: DType, used: set[str]) -> None:
    tree = read(text, SCOPE, kind)
    assert tree.dtype is kind
    assert names(tree) == used


def test_equality_ignores_places() -> None:
    assert read("shape[ 0 ]") == read("(shape)[0]")
    assert read("1", SCOPE) != read("True", SCOPE)


@pytest.mark.parametrize("text", ["swap(shape, 0, -1)[ndim - 1]", "[1, ndim]", "([] if ndim > 2 else shape)[0]"])
def test_text_is_the_language(text: str) -> None:
    assert str(parse(text, SCOPE, FAMILY)) == text


MISTAKES = [
    ("swap(shap, 0, 1)", None, "shap", "unknown name 'shap'", "did you mean 'shape'?"),
    ("swp(shape, 0, 1)", None, "swp", "unknown function 'swp'", "did you mean 'swap'?"),
    ("swap(shape, 0)", None, "swap(shape, 0)", "swap takes 3 arguments, got 2", "swap(list, first, second)"),
    ("swap(ndim, 0, 1)", None, "ndim", "expected a list of integers, got an integer", None),
    ("remove(shape, strides)", None, "strides", "expected an integer, got a list of integers", None),
    ("shape[ndim == 1]", None, "ndim == 1", "expected an integer, got a truth value", None),
    ("ndim[0]", None, "ndim", "expected a list of integers, got an integer", None),
    ("shape + 1", None, "shape", "expected an integer, got a list of integers", None),
    ("ndim + shape", None, "shape", "expected an integer", None),
    ("shape < strides", None, "shape", "expected an integer, got a list of integers", None),
    ("shape == ndim", None, "ndim", "expected a list of integers, got an integer", None),
    ("shape and True", None, "shape", "expected a truth value, got a list of integers", None),
    ("not shape", None, "shape", "expected a truth value, got a list of integers", None),
    ("-shape", None, "shape", "expected an integer", None),
    ("shape if strides else shape", None, "strides", "expected a truth value, got a list of integers", None),
    ("ndim", BOOL, "ndim", "expected a truth value, got an integer", None),
    ("ndim > 1", INT64, "ndim > 1", "expected an integer, got a truth value", None),
    ("shape if ndim > 1 else 0", None, "0", "expected a list of integers, got an integer", None),
    ("[shape]", None, "shape", "expected an integer, got a list of integers", None),
    ("ndim", INT_LIST, "ndim", "expected a list of integers, got an integer", None),
    ("shape", INT64, "shape", "expected an integer, got a list of integers", None),
    ("ndim / 2", None, "ndim / 2", "'/' is not part of a geometry expression", "'//' divides integers"),
    ("ndim ** 2", None, "ndim ** 2", "not part of a geometry expression", None),
    ("~ndim", None, "~ndim", "'~' is not part of a geometry expression", "'not'"),
    ("shape[1:]", None, "shape[1:]", "slicing is not part of a geometry expression", None),
    ("0.5", None, "0.5", "0.5 is not part of a geometry expression", None),
    ("'a'", None, "'a'", "'a' is not part of a geometry expression", None),
    ("dim in dims", None, "dim in dims", "'in' and 'is'", None),
    ("9223372036854775808", None, "9223372036854775808", "does not fit in int64", None),
    ("len(list=shape)", None, "list=shape", "len takes no keyword arguments", "len(list)"),
    ("shape.len()", None, "shape.len()", "a geometry expression has no methods", "write len(...)"),
    ("maximum", None, "maximum", "'maximum' is a function", "maximum(x, y)"),
    ("max(ndim, 1)", None, "max", "unknown function 'max'", "it is called 'maximum' here"),
    ("exp(ndim)", None, "exp", "unknown function 'exp'", None),
    ("pi", None, "pi", "unknown name 'pi'", None),
    ("[d for d in shape]", None, "[d for d in shape]", "this construct", None),
    ("ndim && dim", None, "&&", "'&&' is not part", "'and'"),
    ("(ndim", None, "(", "'(' is never closed", None),
    ("", None, "", "missing", None),
]


@pytest.mark.parametrize(("text", "expected", "marked", "message", "help"), MISTAKES, ids=lambda v: str(v)[:40])
def test_mistakes_are_located(text: str, expected: DType | None, marked: str, message: str, help: str | None) -> None:
    with pytest.raises(ExpressionError) as caught:
        read(text, SCOPE, expected)
    error = caught.value
    assert message in error.message
    assert text[error.offset : error.offset + error.length] == marked
    assert len(error.all) == 1
    if help is not None:
        assert error.help is not None
        assert help in error.help


def test_all_mistakes_are_reported() -> None:
    with pytest.raises(ExpressionError) as caught:
        read("swap(shap, dmi, 1) if ndim else [foo]", SCOPE)
    assert [error.offset for error in caught.value.all] == [5, 11, 33]
    with pytest.raises(ExpressionError) as caught:
        read("swap(shape, dim, size) if dims else [ndim > 1]", SCOPE)
    assert [error.offset for error in caught.value.all] == [17, 37]


@pytest.mark.parametrize(
    ("text", "c"),
    [
        ("swap(shape, dim0, dim1)", "ow_ints_swap(view, shape, dim0, dim1)"),
        ("shape[dim]", "ow_ints_at(view, shape, dim)"),
        ("[1, ndim]", "&(ow_ints){2, {1, ndim}}"),
        ("[]", "&(ow_ints){0, {0}}"),
        ("len(shape)", "(int64_t)shape->n"),
        ("ndim + 1", "ow_int_add(view, ndim, 1)"),
        ("ndim - (dim - 1) * 2", "ow_int_sub(view, ndim, ow_int_mul(view, ow_int_sub(view, dim, 1), 2))"),
        ("--ndim", "ow_int_neg(view, ow_int_neg(view, ndim))"),
        ("stepped(step, 2)", "ow_int_stepped(step, 2)"),
        ("end // step", "ow_int_floordiv(view, end, step)"),
        ("ceil_div(end, step)", "ow_int_ceil_div(view, end, step)"),
        ("minimum(end, 3000000000)", "ow_int_min(end, INT64_C(3000000000))"),
        ("default(start, 0)", "ow_int_default(start, 0)"),
        ("0 <= dim < ndim", "(0 <= dim) & (dim < ndim)"),
        ("not shape == size", "!ow_ints_equal(shape, size)"),
        ("shape != size", "!ow_ints_equal(shape, size)"),
        ("shape if ndim > 2 else size", "ndim > 2 ? shape : size"),
        ("shape if ndim else size", "ndim != 0 ? shape : size"),
        ("2 * 3000 * 1000000", "ow_int_mul(view, ow_int_mul(view, 2, 3000), 1000000)"),
        ("insert([ndim], 0, 1)", "ow_ints_insert(view, &(ow_ints){1, {ndim}}, 0, 1)"),
        ("view_strides(shape, strides, size)", "ow_ints_view_strides(view, shape, strides, size)"),
    ],
)
def test_golden_lines(text: str, c: str) -> None:
    assert print_c(read(text, SCOPE), TARGET).value == c


def test_names_are_variables_of_the_view_function() -> None:
    assert to_c(read("shape[dim]", SCOPE)) == "ow_ints_at(view, v_shape, v_dim)"


# ---- what the C computes ------------------------------------------------------------------------------------

_CORE = Path(__file__).resolve().parents[2] / "runtime" / "core"

# The language is a subset of Python, so Python itself is the reference.
_PYTHON: dict[str, Any] = {
    "default": lambda value, other: other if value is None else value,
    "ceil_div": lambda a, b: -(-a // b),
    "minimum": min,
    "maximum": max,
    "stepped": lambda stride, step: stride * step if -(2**63) <= stride * step < 2**63 else stride,
    "swap": lambda x, i, j: [x[j] if k == i else x[i] if k == j else v for k, v in enumerate(x)],
    "remove": lambda x, i: x[:i] + x[i + 1 :],
    "insert": lambda x, i, value: [*x[:i], value, *x[i:]],
    "replace": lambda x, i, value: [*x[:i], value, *x[i + 1 :]],
    "gather": lambda x, at: [x[k] for k in at],
    "prepend": lambda value, x: [value, *x],
    "concat": lambda a, b: a + b,
}
TEXTS = [
    "swap(shape, dim, ndim - 1)",
    "remove(shape, dim)",
    "insert(strides, dim, strides[dim] * shape[dim])",
    "replace(shape, dim, ceil_div(step - index, 3))",
    "replace(shape, dim, (step - index + 2) // 3)",
    "gather(shape, [dim, 0, ndim - 1])",
    "prepend(-index, shape)",
    "concat(shape, [index % 5, -step // 4, len(strides)])",
    "offset + (index + shape[dim] if index < 0 else index) * strides[dim]",
    "minimum(maximum(index, 0), shape[dim])",
    "0 <= index < shape[dim] and (step > 1 or not index == -1) | (shape == strides)",
    "shape if ndim == 2 and dim != 0 else [numel, -1]",
    "default(none, shape[-1]) + default(index, 7)",
    "---index - -step * -2",
    "stepped(step, 2) + stepped(3, 9223372036854775807)",
    "len(concat(shape, [])) + len([])",
    "True if shape == shape else False",
]


class _Ints(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int32), ("v", ctypes.c_int64 * 64)]

    @classmethod
    def of(cls, values: list[int]) -> _Ints:
        return cls(len(values), (ctypes.c_int64 * 64)(*values))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    folder: Path = tmp_path_factory.mktemp("geometry")
    scope = {**SCOPE, "none": INT64}
    functions = []
    for number, text in enumerate(TEXTS):
        tree = read(text, scope)
        stored = "ow_ints_assign(out, result)" if tree.dtype.is_list else "*(int64_t *)out = result"
        functions.append(
            f"int f{number}(void *out, ow_list shape, ow_list strides, const int64_t *a) {{\n"
            "    ow_view state, *view = &state;\n    state.error = OW_OK;\n    state.used = 0;\n"
            "    const int64_t ndim = shape->n, offset = a[0], numel = a[1], dim = a[2], index = a[3], step = a[4];\n"
            "    const int64_t none = OW_NONE; (void)none, (void)strides, (void)ndim, (void)offset, (void)numel;\n"
            "    (void)dim, (void)index, (void)step;\n"
            f"    const {TARGET.variable_type(tree.dtype)} result = {print_c(tree, TARGET).value};\n"
            f"    {stored};\n    return view->error != OW_OK;\n}}\n"
        )
    source, shared = folder / "geometry.c", folder / "geometry.so"
    source.write_text('#include "view_geometry.h"\n' + "\n".join(functions))
    (folder / "ow_dtypes.h").write_text(emit_header())
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    folders = [f"-I{each}" for each in (_CORE / "kernel", _CORE / "abi", folder)]
    flags = [*folders, "-DOW_NLEVELS=1", "-O1", *warnings, "-shared", "-fPIC"]
    done = subprocess.run(["gcc", *flags, str(source), "-o", str(shared)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(shared))


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=TEXTS)
def test_c_equals_python(compiled: ctypes.CDLL, number: int) -> None:
    text = TEXTS[number]
    kind = read(text, {**SCOPE, "none": INT64}).dtype
    function = compiled[f"f{number}"]
    function.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Ints), ctypes.POINTER(_Ints), ctypes.c_void_p]

    @settings(max_examples=60, database=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        small = st.integers(-20, 20)
        shape = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=5))
        strides = data.draw(st.lists(st.integers(0, 99), min_size=len(shape), max_size=len(shape)))
        dim = data.draw(st.integers(0, len(shape) - 1))
        values = {"offset": data.draw(small), "numel": data.draw(small), "dim": dim}
        values |= {"index": data.draw(small), "step": data.draw(small)}
        expected = eval(
            text, dict(_PYTHON), {"shape": shape, "strides": strides, "ndim": len(shape), **values, "none": None}
        )
        ints = (ctypes.c_int64 * 5)(*values.values())
        out = _Ints() if kind is INT_LIST else ctypes.c_int64()
        assert function(ctypes.byref(out), _Ints.of(shape), _Ints.of(strides), ints) == 0
        got = list(out.v[: out.n]) if isinstance(out, _Ints) else out.value
        assert got == expected

    check()


# What stands at that place of TEXTS, and values for which 64 bits do not hold the result.
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("offset + (index + shape[dim] if index < 0 else index) * strides[dim]", (0, 0, 0, 2, 0)),
        ("offset + (index + shape[dim] if index < 0 else index) * strides[dim]", (2**63 - 1, 0, 0, 1, 0)),
        ("prepend(-index, shape)", (0, 0, 0, -(2**63), 0)),
        ("default(none, shape[-1]) + default(index, 7)", (0, 0, 0, 2**63 - 1, 0)),
    ],
)
def test_what_64_bits_do_not_hold_is_an_error(compiled: ctypes.CDLL, text: str, values: tuple[int, ...]) -> None:
    function = compiled[f"f{TEXTS.index(text)}"]
    function.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Ints), ctypes.POINTER(_Ints), ctypes.c_void_p]
    assert function(ctypes.byref(_Ints()), _Ints.of([3]), _Ints.of([2**62]), (ctypes.c_int64 * 5)(*values)) == 1


def test_every_function_is_tested_or_the_core_s_own() -> None:
    core = {"view_strides", "infer_size", "expand_shape", "expand_strides", "squeeze_shape", "squeeze_strides"}
    written = {"len", "[]", "[...]"}
    assert _PYTHON.keys() - {"minimum", "maximum"} | written | core == LIST_FUNCTIONS.keys()
