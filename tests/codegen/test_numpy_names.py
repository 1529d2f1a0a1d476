"""What the NumPy form of an operator may name: a file that is only checked runs nothing that it says."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from codegen import library
from codegen.check import numpy_names
from codegen.errors import CodegenError, render

ENTRY = """- func: f(Tensor self) -> Tensor
  doc: Doc.
  elementwise: self + 1
  dtypes: floating
  derivatives: auto
  reference: "{}"
"""

HOSTILE = [
    "np.f2py.os.system('touch PATH')",
    "np.lib.os.system('touch PATH')",
    "np.save('PATH', self)",
    "self.tofile('PATH')",
    "self.dump('PATH')",
    "np.memmap('PATH', mode='w+', shape=3)",
    "np.ctypeslib.ctypes.CDLL(None).system(b'touch PATH')",
    "np.vectorize(np.f2py.os.system)('touch PATH')",
    "np.apply_along_axis(np.savetxt, 0, ['PATH'], [1.0])",
    "(lambda np: np)(np).save('PATH', self)",
    "(lambda np: np.save('PATH', self))(scipy)",
    "np.f2py.rundocs('PATH')",
    "np.testing.rundocs('PATH')",
    "scipy.special.os.system('touch PATH')",
    "scipy.io.savemat('PATH', dict(a=self))",
    "np.linalg.test('PATH')",
    "np.load.__globals__['os'].system('touch PATH')",
    "'{0.__class__}'.format(self)",
    "np.add.reduce.__self__",
    "[np for x in self][0].save('PATH', self)",
    "[m.save('PATH', self) for m in (np,)]",
    "self + 9**9**9",
    "self + (1 << 10**12)",
    "self + 2 ** (9 ** 99 ** 9)",
    "self + int(9) ** -(9**99999)",
    "self + sum(range(10**18))",
    "self + math.factorial(10**12)",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_does_more_than_compute_is_refused_unseen(text: str, tmp_path: Path) -> None:
    path = tmp_path / "written"
    text = text.replace("PATH", str(path))
    with pytest.raises(CodegenError) as caught:
        library.read(write(tmp_path, text), "ops.yaml")
    assert re.findall(r"ops.yaml:(\d+:\d+): error: 'reference'", render(caught.value.diagnostics)) == ["6:14"]
    with pytest.raises(ValueError, match="reference"):
        numpy_names.value(text, {"self": np.ones(3)})
    assert not any(each.name.startswith("written") for each in tmp_path.iterdir())


def write(folder: Path, reference: str) -> Path:
    path = folder / "ops.yaml"
    path.write_text(ENTRY.format(reference))
    return path


def test_an_operator_that_is_called_as_a_function_of_files_is_not_compared_with_it(tmp_path: Path) -> None:
    """Without a reference the function of NumPy of its name would be called."""
    path = write(tmp_path, "none")
    text = path.read_text().replace("func: f(", "func: fromfile(").replace('  reference: "none"\n', "")
    text = text.replace("elementwise: self + 1", "reduce: {identity: 0, combine: acc + self}").replace("auto", "none")
    path.write_text(text.replace("(Tensor self)", "(Tensor self, int[1]? dim=None, bool keepdim=False)"))
    assert len(library.read(path, "ops.yaml")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "self + 1",
        "np.add(self, 1.0)",
        "np.linalg.norm(self[:, None], axis=1) * 0 + self + 1",
        "np.logaddexp.accumulate(self * 0) * 0 + self.astype(dtype) + 1",
        "np.vectorize(lambda each: math.fabs(each))(self) * 0 + self + 1",
        "scipy.special.expit(self) * 0 + self + 1",
        "np.array([each + 1 for each in self])",
        "self + 2**10 - 2.0**10 + sum(range(2)) + 2**-(1 << 6) * 0",
    ],
)
def test_what_computes_is_taken(text: str, tmp_path: Path) -> None:
    assert len(library.read(write(tmp_path, text), "ops.yaml")) == 1


def test_attributes_are_harmless_on_modules_as_well() -> None:
    """A name that stands for a module here and for an argument there is looked at as an argument."""
    for module in (np, math, numpy_names.module("scipy")):
        for name in numpy_names.ATTRIBUTES & set(dir(module)):
            assert numpy_names.refusal(f"{'math' if module is math else 'np'}.{name}", ()) is None
