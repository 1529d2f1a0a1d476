"""Prints an expression tree as LaTeX, for documentation.

Functions without a form of their own are printed as `\\operatorname{name}(...)`. Products are written with a dot, as
names have more than one letter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from .functions import ROWS, Rule
from .functions.lists import ITEM, LIST
from .text import AND, ATOM, BINARY, COMPARE, OR, POWER, PRODUCT, SIGN, TERNARY, UNARY
from .tree import Apply, Expr, Literal, Name, Number

_SYMBOLS = {
    "mul": r"\cdot", "lt": "<", "le": r"\le", "gt": ">", "ge": r"\ge", "eq": "=", "ne": r"\ne", "logical_and": r"\land",
    "logical_or": r"\lor", "bitwise_and": r"\;\&\;", "bitwise_or": r"\mid", "bitwise_xor": r"\oplus",
    "bitwise_left_shift": r"\ll", "bitwise_right_shift": r"\gg", "remainder": r"\bmod",
}  # fmt: skip
"""Operators whose symbol differs from that of the language."""
_LOGIC = {"bitwise_and": (r"\land", AND), "bitwise_or": (r"\lor", OR)}
"""Operators on bits that are those of logic between conditions, with their precedence."""
_PREFIXES = {"neg": "-", "logical_not": r"\lnot ", "bitwise_not": r"\sim "}
FORMS = {
    "div": r"\frac{#1}{#2}", "reciprocal": r"\frac{1}{#1}", "rsqrt": r"\frac{1}{\sqrt{#1}}",
    "pow": "#1^{#2}", "square": "#1^2", "exp2": "2^{#1}", "sqrt": r"\sqrt{#1}", "cbrt": r"\sqrt[3]{#1}",
    "abs": r"\left|#1\right|", "floor": r"\left\lfloor #1\right\rfloor", "ceil": r"\left\lceil #1\right\rceil",
    "floor_divide": r"\left\lfloor\frac{#1}{#2}\right\rfloor", "ceil_div": r"\left\lceil\frac{#1}{#2}\right\rceil",
    "conj": r"\overline{#1}", ITEM: "{#1}_{#2}",
    "exp": r"\exp", "log": r"\log", "log2": r"\log_2", "log10": r"\log_{10}", "lgamma": r"\log\Gamma",
    "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan",
    "sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh", "minimum": r"\min", "maximum": r"\max", "gcd": r"\gcd",
    "sigmoid": r"\sigma", "sign": r"\operatorname{sgn}", "erfinv": r"\operatorname{erf}^{-1}", "digamma": r"\psi",
    "ndtri": r"\Phi^{-1}", "real": r"\operatorname{Re}", "imag": r"\operatorname{Im}", "angle": r"\arg",
    "zeta": r"\zeta", "i0": "I_0", "i1": "I_1", "k0": "K_0", "k1": "K_1", "bessel_j0": "J_0", "bessel_j1": "J_1",
    "bessel_y0": "Y_0", "bessel_y1": "Y_1", "airy_ai": r"\operatorname{Ai}",
    "chebyshev_polynomial_t": "T_{#2}(#1)", "chebyshev_polynomial_u": "U_{#2}(#1)",
    "chebyshev_polynomial_v": "V_{#2}(#1)", "chebyshev_polynomial_w": "W_{#2}(#1)",
    "shifted_chebyshev_polynomial_t": "T^*_{#2}(#1)", "shifted_chebyshev_polynomial_u": "U^*_{#2}(#1)",
    "shifted_chebyshev_polynomial_v": "V^*_{#2}(#1)", "shifted_chebyshev_polynomial_w": "W^*_{#2}(#1)",
    "hermite_polynomial_h": "H_{#2}(#1)", "hermite_polynomial_he": r"\mathit{He}_{#2}(#1)",
    "laguerre_polynomial_l": "L_{#2}(#1)", "legendre_polynomial_p": "P_{#2}(#1)",
}  # fmt: skip
"""Functions with `#1` and `#2` for their operands, as in macros of TeX, or what stands before them in parentheses."""
_LETTERS = {
    **{name: rf"\{name}" for name in ("alpha", "beta", "gamma", "delta", "rho", "mu", "tau", "sigma", "theta")},
    "eps": r"\varepsilon", "epsilon": r"\varepsilon", "lambd": r"\lambda", "pi": r"\pi", "inf": r"\infty",
    "nan": r"\mathrm{NaN}",
}  # fmt: skip
_HIGH = re.compile(r"\\(frac|begin|sum|prod|big)")
_NAMED = {
    math.pi: r"\pi",
    math.e: "e",
    math.log(2): r"\log 2",
    math.sqrt(2): r"\sqrt{2}",
    math.sqrt(0.5): r"\sqrt{0.5}",
}
"""Numbers that are written out in expressions, as these have no names for them."""


def to_latex(expr: Expr, names: Mapping[str, str] | None = None, precedence: int = TERNARY) -> str:
    """Return an expression as LaTeX, in parentheses where it binds less tightly than `precedence`.

    `names` has the LaTeX of names that are not to be printed as they are.
    """
    return _Printer(names or {}).within(expr, precedence)


def name_latex(name: str) -> str:
    """The LaTeX of a name: a Greek letter, an italic one, or a word."""
    if name in _LETTERS:
        return _LETTERS[name]
    if len(name) == 1:
        return name
    word, _, number = name.partition("_") if re.fullmatch(r"[a-zA-Z]_\d+", name) else (name, "", "")
    return f"{word}_{{{number}}}" if number else rf"\mathit{{{escaped(name)}}}"


def function_latex(name: str) -> str:
    """Return the LaTeX of a function that has no form of its own."""
    return rf"\operatorname{{{escaped(name)}}}"


def escaped(text: str) -> str:
    """The text with characters escaped that mean something in LaTeX."""
    return re.sub(r"[_&%$#{}]", lambda found: "\\" + found[0], text)


class _Printer:
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def print(self, expr: Expr) -> tuple[str, int]:
        """The LaTeX and its precedence."""
        if isinstance(expr, Name):
            return self.names.get(expr.name) or name_latex(expr.name), ATOM
        if isinstance(expr, Literal):
            text = _number(expr.value)
            return text, SIGN if text.startswith("-") else ATOM
        assert isinstance(expr, Apply)
        if expr.function == "where":
            return self._cases(expr), TERNARY
        if expr.function == LIST:
            return _parenthesized(self._listed(expr.args)), ATOM
        if expr.function in _PREFIXES:
            precedence = UNARY[expr.function][1]
            return _PREFIXES[expr.function] + self.within(expr.args[0], precedence), precedence
        form = FORMS.get(expr.function)
        if form is None and expr.function in BINARY:
            return self._binary(expr)
        if form is not None and "#1" in form:
            return self._filled(form, expr)
        called = form or function_latex(expr.function)
        return called + _parenthesized(self._listed(expr.args)), ATOM

    def _binary(self, expr: Apply) -> tuple[str, int]:
        symbol, precedence = BINARY[expr.function]
        text = _SYMBOLS.get(expr.function, symbol)
        if expr.function in _LOGIC and _is_condition(expr):
            text, precedence = _LOGIC[expr.function]
        left = precedence + 1 if precedence == COMPARE else precedence
        return f"{self.within(expr.args[0], left)} {text} {self.within(expr.args[1], precedence + 1)}", precedence

    def _filled(self, form: str, expr: Apply) -> tuple[str, int]:
        """A form with operands in the places of `#1` and `#2`, in parentheses unless braces or bars hold them."""
        for place, arg in enumerate(expr.args, 1):
            mark = f"#{place}"
            is_base = form.startswith(f"{mark}^")
            form = form.replace(mark, self.within(arg, ATOM if is_base else TERNARY), 1)
        if form.startswith(r"\frac"):
            return form, PRODUCT
        return form, POWER if expr.function in ("pow", "square", "exp2") else ATOM

    def _cases(self, expr: Expr) -> str:
        """Choices one below the other, those of the last arm among them."""
        lines = []
        while isinstance(expr, Apply) and expr.function == "where":
            condition, then, expr = expr.args
            lines.append(rf"{self.within(then, OR)} & \text{{if }} {self.within(condition, OR)}")
        lines.append(rf"{self.within(expr, OR)} & \text{{otherwise}}")
        return r"\begin{cases} " + r" \\ ".join(lines) + r" \end{cases}"

    def _listed(self, args: tuple[Expr, ...]) -> str:
        return ", ".join(self.print(each)[0] for each in args)

    def within(self, expr: Expr, precedence: int) -> str:
        text, own = self.print(expr)
        return text if own >= precedence else _parenthesized(text)


def _parenthesized(text: str) -> str:
    """The text in parentheses, which grow with what is higher than a line."""
    return rf"\left({text}\right)" if _HIGH.search(text) else f"({text})"


def _is_condition(expr: Expr) -> bool:
    """Return True if the value is sure to be True or False."""
    if isinstance(expr, Apply) and expr.function in _LOGIC:
        return all(map(_is_condition, expr.args))
    return isinstance(expr, Apply) and ROWS[expr.function].rule in (Rule.COMPARISON, Rule.LOGICAL)


def _number(value: Number) -> str:
    """A number with at most six digits, or the name of a known one."""
    if isinstance(value, bool):
        return rf"\mathrm{{{value}}}"
    if isinstance(value, float) and not math.isfinite(value):
        return r"\mathrm{NaN}" if math.isnan(value) else r"\infty" if value > 0 else r"-\infty"
    for known, text in _NAMED.items():
        if isinstance(value, float) and math.isclose(value, known, rel_tol=1e-12):
            return text
    digits, _, power = f"{value:.6g}".partition("e") if isinstance(value, float) else (str(value), "", "")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits
