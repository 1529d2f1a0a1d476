"""Python's operators and the special methods they stand for. Operators have their names in module `operator`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class PythonOperator:
    """`symbol` is its spelling; `reflected` and `augmented` are true if `__rX__` and `__iX__` exist."""

    name: str
    symbol: str
    operands: int = 2
    reflected: bool = True
    augmented: bool = True

    @property
    def method(self) -> str:
        return f"__{self.name}__"

    @property
    def reflected_method(self) -> str:
        return f"__r{self.name}__"

    @property
    def augmented_method(self) -> str:
        return f"__i{self.name}__"


def _comparison(name: str, symbol: str) -> PythonOperator:
    # Python itself swaps the operands of a comparison.
    return PythonOperator(name, symbol, reflected=False, augmented=False)


PYTHON_OPERATORS: Mapping[str, PythonOperator] = MappingProxyType(
    {
        operator.name: operator
        for operator in (
            PythonOperator("add", "+"),
            PythonOperator("sub", "-"),
            PythonOperator("mul", "*"),
            PythonOperator("truediv", "/"),
            PythonOperator("floordiv", "//"),
            PythonOperator("mod", "%"),
            PythonOperator("pow", "**"),
            PythonOperator("matmul", "@", augmented=False),
            PythonOperator("and", "&"),
            PythonOperator("or", "|"),
            PythonOperator("xor", "^"),
            PythonOperator("lshift", "<<"),
            PythonOperator("rshift", ">>"),
            _comparison("eq", "=="),
            _comparison("ne", "!="),
            _comparison("lt", "<"),
            _comparison("le", "<="),
            _comparison("gt", ">"),
            _comparison("ge", ">="),
            PythonOperator("neg", "-", 1, False, False),
            PythonOperator("pos", "+", 1, False, False),
            PythonOperator("abs", "abs", 1, False, False),
            PythonOperator("invert", "~", 1, False, False),
        )
    }
)
