"""What the tests of weaving share: running Python in a fresh process, and declarations of every family."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from opweave._weave.weave import Woven

DECLARATIONS = """\
- func: wipe.Tensor(Tensor self, Tensor other, *, Scalar amount=0.5) -> Tensor
  doc: Goes from `self` to `other` by `amount`.
  elementwise: self + amount * (other - self)
  dtypes: floating
  aliases: [blend]
  derivatives: auto

- func: softsign(Tensor self) -> Tensor
  doc: Squashes `self` between -1 and 1.
  elementwise: self / (1 + abs(self))
  derivatives: auto

- func: mixed.Tensor(Tensor self, Tensor other, Scalar weight, *, Scalar gain=1) -> Tensor
  doc: Weighs `other` and amplifies the sum.
  elementwise: gain * (self + weight * other)
  dtypes: floating
  derivatives: auto

- func: raised(Tensor self, Scalar by) -> Tensor
  doc: Adds `by`.
  elementwise: self + by
  dtypes: floating
  derivatives: auto

- func: discounted.Tensor(Tensor self, Tensor rate, Tensor time, *, Scalar mu=0.5) -> Tensor
  doc: Value of `self` after `time` at `rate`; all three operands, the result and a number alone are in the derivatives.
  accepts: {rate: Scalar}
  elementwise: log1p(mu) * self * self * exp(-rate * time * time) / sqrt(2 * pi)
  dtypes: floating
  derivatives:
    self: 2 * grad * log1p(mu) * self * exp(-rate * time * time) / sqrt(2 * pi)
    rate: -grad * result * time * time
    time: -2 * grad * log1p(mu) * self * self * exp(-rate * time * time) * rate * time / sqrt(2 * pi)

- func: is_between(Tensor self, Tensor low, Tensor high) -> Tensor
  doc: True where `self` lies between `low` and `high`.
  elementwise: (low <= self) & (self <= high)

- func: norm1(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
  doc: Sum of absolute values over `dim`.
  reduce: {identity: 0, combine: acc + self, map: abs(self)}
  promotion: int_to_long
  derivatives: none

- func: running_maximum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
  doc: Largest element so far along `dim`.
  scan: {identity: lowest, combine: 'maximum(acc, self)'}
  dtypes: floating
  derivatives: none

- func: every_other(Tensor(a) self, int dim) -> Tensor(a)
  doc: View of every second position along `dim`.
  view:
    require:
      - check: ndim > 0
        message: every_other() needs a dimension, but self is {ndim}D
    shape: replace(shape, dim, ceil_div(shape[dim], 2))
    strides: replace(strides, dim, strides[dim] * 2)
  derivatives: none

- func: ramp(SymInt[] size, *, Scalar slope=1, ScalarType? dtype=None) -> Tensor
  doc: Values that rise by `slope` from element to element.
  factory: {shape: size, value: slope * i}

- func: numbered(int[] size, *, ScalarType? dtype=None) -> Tensor
  doc: The position of each element.
  dtypes: numeric
  factory: {shape: size, dtype: int16, value: i}

- func: tangled(Tensor linux, Tensor exp, Tensor t, Scalar M_PI=3, *, Scalar complex=1, Scalar index=0) -> Tensor
  doc: Arguments whose names are macros, keywords and functions of C, and what templates declare.
  elementwise: linux * exp(exp) * M_PI + t * complex + index
  require: {check: index >= 0, message: 'index is {index}'}
  dtypes: float32
  derivatives: auto

- func: tangled_rows(Tensor self, int[1]? dim=None, bool keepdim=False, Scalar lanes=0) -> Tensor
  doc: The same for variables of a row.
  rows: {let: {unix: {max: self}, row: {sum: self - unix}, done: row + lanes}, results: [done / count]}
  dtypes: float32
  derivatives: none

- func: tangled_view(Tensor(a) self, int view, int offset, int int64_t) -> Tensor(a)
  doc: The same for a view.
  view: {let: {ints: view + int64_t}, shape: shape, strides: strides, offset: ints - int64_t + offset_ - view}
  derivatives: none

- func: tangled_fill(int[] tangled_fill, Scalar n, Scalar type=1, *, ScalarType? dtype=None) -> Tensor
  doc: The same for a factory.
  factory: {shape: tangled_fill, value: n * type + i}
  dtypes: float32

- func: tangled_loop(Tensor linux, float unix, float I=2, int code=0) -> Tensor
  doc: The same for C, which calls everything by its name.
  routine:
    c: '*result = I - code; for (int64_t k = 0; k < complex; k++) *result += unix * linux[k];'
    signature: (complex)->()
  dtypes: float32
  derivatives: none

- func: tangled_call(Tensor self, int type, float len, bool map=True) -> Tensor
  doc: The same for Python.
  composite: return self * type + len if map else self

- func: centered(Tensor self, int dim) -> Tensor
  doc: Subtracts the mean along `dim`.
  dtypes: floating
  composite: |
    return sub(self, self.mean(dim, keepdim=True))
"""

TINY = """\
- func: {name}(Tensor self) -> Tensor
  doc: Adds one half to the square.
  elementwise: self * self + 0.5
  dtypes: floating
  derivatives: auto
"""


RAISES = """
def raises(kind, text, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")
"""
"""A function for scripts: the call raises an error with this text."""


def entries(text: str, *names: str) -> str:
    """The declarations of these operators, which stand in a text among others."""
    parts = re.split(r"^(?=- )", text, flags=re.MULTILINE)
    return "".join(part for part in parts if re.match(rf"- func: ({'|'.join(names)})\b", part))


def weave_unoptimized(yaml: Path, out: Path, *, all_levels: bool = False) -> Woven:
    """Weaves a file whose operators are tested by their values: the compiler takes a third of the time.

    With OPWEAVE_TEST_OPTIMIZED, as in `.ci/run levels`, kernels are compiled as those of users are.
    """
    from opweave._toolchain import toolchain
    from opweave._weave.weave import weave

    with pytest.MonkeyPatch.context() as patch:
        if "OPWEAVE_TEST_OPTIMIZED" not in os.environ:
            configured = toolchain.configured()
            unoptimized = replace(configured, arguments=(*configured.arguments, "-O0"))
            patch.setattr(toolchain, "configured", lambda: unoptimized)
        return weave(yaml, out=out, all_levels=all_levels)


def python(*arguments: str, cwd: Path, status: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the interpreter with `cwd` as the working folder and checks its exit status."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done
