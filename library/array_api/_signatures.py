"""The functions of the standard that are calls of one operator: names, and signatures where these differ from its own.

What a function's arguments are called in the operator follows from the operator's schema (_derive.py).
"""

from __future__ import annotations

ELEMENTWISE = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_left_shift",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "copysign", "cos", "cosh", "divide", "exp", "floor",
    "greater", "greater_equal", "hypot", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p",
    "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply",
    "negative", "nextafter", "not_equal", "pow", "reciprocal", "signbit", "sin", "sinh", "sqrt", "square", "subtract",
    "tan", "tanh", "trunc",
]  # fmt: skip
"""Their arguments are the tensors of the operator of the same name: `x`, or `x1` and `x2`."""

ELEMENTWISE_NAMED = {"bitwise_invert": "bitwise_not", "conj": "conj_physical", "equal": "eq"}
"""The same, for operators of another name. torch's `conj` is a view that other libraries cannot read, and its `equal`
gives one bool."""

SIGNATURES = {
    # creation
    "empty_like(x, /, *, dtype=None, device=None)": "empty_like",
    "full_like(x, /, fill_value, *, dtype=None, device=None)": "full_like",
    "ones_like(x, /, *, dtype=None, device=None)": "ones_like",
    "zeros_like(x, /, *, dtype=None, device=None)": "zeros_like",
    "empty(shape, *, dtype=None, device=None)": "empty",
    "full(shape, fill_value, *, dtype=None, device=None)": "full",
    "ones(shape, *, dtype=None, device=None)": "ones",
    "zeros(shape, *, dtype=None, device=None)": "zeros",
    "tril(x, /, *, k=0)": "tril",
    "triu(x, /, *, k=0)": "triu",
    # shapes
    "broadcast_to(x, /, shape)": "broadcast_to",
    "moveaxis(x, source, destination, /)": "movedim",
    "permute_dims(x, /, axes)": "permute",
    "matrix_transpose(x, /)": "linalg_matrix_transpose",
    "stack(arrays, /, *, axis=0)": "stack",
    "tile(x, repetitions, /)": "tile",
    "unstack(x, /, *, axis=0)": "unbind",
    "diff(x, /, *, axis=-1, n=1, prepend=None, append=None)": "diff",
    # order
    "argmax(x, /, *, axis=None, keepdims=False)": "argmax",
    "argmin(x, /, *, axis=None, keepdims=False)": "argmin",
    "argsort(x, /, *, axis=-1, descending=False, stable=True)": "argsort",
}
"""The operators by the signature of the function."""

LINALG = {
    "cholesky(x, /, *, upper=False)": "linalg_cholesky",
    "det(x, /)": "linalg_det",
    "diagonal(x, /, *, offset=0)": "linalg_diagonal",
    "eig(x, /)": "linalg_eig",
    "eigh(x, /)": "linalg_eigh",
    "eigvals(x, /)": "linalg_eigvals",
    "eigvalsh(x, /)": "linalg_eigvalsh",
    "inv(x, /)": "linalg_inv",
    "matrix_norm(x, /, *, keepdims=False, ord='fro')": "linalg_matrix_norm",
    "matrix_power(x, n, /)": "linalg_matrix_power",
    "matrix_rank(x, /, *, rtol=None)": "linalg_matrix_rank",
    "outer(x1, x2, /)": "outer",
    "pinv(x, /, *, rtol=None)": "linalg_pinv",
    "qr(x, /, *, mode='reduced')": "linalg_qr",
    "slogdet(x, /)": "linalg_slogdet",
    "svd(x, /, *, full_matrices=True)": "linalg_svd",
    "svdvals(x, /)": "linalg_svdvals",
}

_LINE = "(x, /, *, n=None, axis=-1, norm='backward')"
_LINES = "(x, /, *, s=None, axes=None, norm='backward')"
FFT = {
    **{f"{name}{_LINE}": f"fft_{name}" for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"{name}{_LINES}": f"fft_{name}" for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    "fftfreq(n, /, *, d=1.0, dtype=None, device=None)": "fft_fftfreq",
    "rfftfreq(n, /, *, d=1.0, dtype=None, device=None)": "fft_rfftfreq",
    "fftshift(x, /, *, axes=None)": "fft_fftshift",
    "ifftshift(x, /, *, axes=None)": "fft_ifftshift",
}
