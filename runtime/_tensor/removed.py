"""Functions that torch had until version 1.8 and now refuses: a program that calls one of them learns its successor.

The texts are torch's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

_REMOVED = "This function was deprecated since version 1.9 and is now removed."

_METHODS = {
    "eig": (
        " `opweave.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors "
        "mimicking complex tensors.\n\n"
        "L, _ = opweave.eig(A) should be replaced with:\n"
        "L_complex = opweave.linalg.eigvals(A)\n\n"
        "and\n\n"
        "L, V = opweave.eig(A, eigenvectors=True) should be replaced with:\n"
        "L_complex, V_complex = opweave.linalg.eig(A)"
    ),
    "lstsq": (
        " `opweave.lstsq` is deprecated in favor of `opweave.linalg.lstsq`.\n"
        "`opweave.linalg.lstsq` has reversed arguments and does not return the QR decomposition in the returned tuple "
        "(although it returns other information about the problem).\n\n"
        "To get the QR decomposition consider using `opweave.linalg.qr`.\n\n"
        "The returned solution in `opweave.lstsq` stored the residuals of the solution in the last m - n columns of "
        "the returned value whenever m > n. In opweave.linalg.lstsq, the residuals are in the field 'residuals' of the "
        "returned named tuple.\n\n"
        "The unpacking of the solution, as in\n"
        "X, _ = opweave.lstsq(B, A).solution[:A.size(1)]\n"
        "should be replaced with:\n"
        "X = opweave.linalg.lstsq(A, B).solution"
    ),
    "solve": (
        " `opweave.solve` is deprecated in favor of `opweave.linalg.solve`. `opweave.linalg.solve` has its arguments "
        "reversed and does not return the LU factorization.\n\n"
        "To get the LU factorization see `opweave.lu`, which can be used with `opweave.lu_solve` or "
        "`opweave.lu_unpack`.\n"
        "X = opweave.solve(B, A).solution should be replaced with:\n"
        "X = opweave.linalg.solve(A, B)"
    ),
    "symeig": (
        " The default behavior has changed from using the upper triangular portion of the matrix by default to using "
        "the lower triangular portion.\n\n"
        "L, _ = opweave.symeig(A, upper=upper) should be replaced with:\n"
        "L = opweave.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\n"
        "and\n\n"
        "L, V = opweave.symeig(A, eigenvectors=True) should be replaced with:\n"
        "L, V = opweave.linalg.eigh(A, UPLO='U' if upper else 'L')"
    ),
}
"""The advice for functions that were methods as well."""
_FUNCTIONS = {
    "matrix_rank": (
        "\nPlease use the `opweave.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in "
        "`opweave.linalg.matrix_rank()` to 'hermitian'."
    ),
}


def _refusing(name: str, text: str) -> Callable[..., NoReturn]:
    def removed(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(_REMOVED + text)

    removed.__name__ = removed.__qualname__ = name
    removed.__doc__ = f"Removed by torch in version 1.9: raises RuntimeError, which names the successor of `{name}`."
    return removed


FUNCTIONS = {name: _refusing(name, text) for name, text in (_METHODS | _FUNCTIONS).items()}
"""The removed functions and methods, by name."""


class RemovedMethods:
    """Mixed into Tensor: those that were methods as well."""

    __slots__ = ()
    __module__ = "opweave"


for _name in _METHODS:
    setattr(RemovedMethods, _name, FUNCTIONS[_name])
