"""Which loops are told to take the vectors that suit memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import library
from codegen.emit import kernels


def emitted(folder: Path, expression: str, func: str = "f(Tensor self) -> Tensor", **fields: str) -> str:
    yaml = folder / "f.yaml"
    given = {"doc": "Doc.", "elementwise": expression, "derivatives": "none", **fields}
    yaml.write_text(f"- func: {func}\n" + "".join(f"  {name}: {value}\n" for name, value in given.items()))
    (operator,) = library.read(yaml, yaml.name)
    text = kernels.emit(operator)
    assert text is not None
    return text


def streaming(folder: Path, expression: str, **fields: str) -> set[str]:
    """The dtypes, by the suffix of their kernel's name, whose loops wait for memory."""
    text = emitted(folder, expression, **fields)
    declared = [line for line in text.splitlines() if line.startswith("OW_STREAMS static int f_")]
    assert text.count("#pragma GCC unroll 4\n") >= len(declared)  # once for each layout
    return {line.split("(")[0].removeprefix("OW_STREAMS static int f_") for line in declared}


def test_arithmetic_of_real_numbers(tmp_path: Path) -> None:
    dtypes = streaming(tmp_path, "self + 1", dtypes="numeric")
    assert {"f32", "f64", "i32", "u8"} <= dtypes
    assert not {"c64", "c128"} & dtypes


@pytest.mark.parametrize("expression", ["exp(self)", "lgamma(self)", "sqrt(self)"])
def test_not_functions(tmp_path: Path, expression: str) -> None:
    assert not streaming(tmp_path, expression, dtypes="floating")


def test_not_what_costs_more_than_an_addition(tmp_path: Path) -> None:
    assert streaming(tmp_path, "1 - self", dtypes="floating")
    assert streaming(tmp_path, "1 - self", dtypes="floating", cost="4")  # the grain of threads, which is no matter here
    assert not streaming(tmp_path, "1 - self * self", dtypes="floating")


def test_not_divisions(tmp_path: Path) -> None:
    assert not streaming(tmp_path, "1 / self", dtypes="floating")


def test_not_elements_of_several_widths(tmp_path: Path) -> None:
    func = "f(Tensor condition, Tensor self, Tensor other) -> Tensor"
    dtypes = streaming(tmp_path, "self if condition else other", func=func)
    assert dtypes == {"bool"}


def test_not_booleans_made_of_numbers(tmp_path: Path) -> None:
    assert not streaming(tmp_path, "self < 1", dtypes="numeric")


def test_every_other_element_is_read_where_it_is(tmp_path: Path) -> None:
    text = emitted(tmp_path, "self * other", "f(Tensor self, Tensor other) -> Tensor", dtypes="float32")
    assert "f_f32_element(from_v_self[2 * i], from_v_other[2 * i]);" in text


def test_booleans_of_every_other_number(tmp_path: Path) -> None:
    text = emitted(tmp_path, "self < 1", dtypes="float64")
    assert "f_f64_element(from_v_self[2 * i]);" in text


def test_pages_of_what_a_mask_may_hide_are_touched(tmp_path: Path) -> None:
    text = emitted(tmp_path, "self if self > 0 else other", "f(Tensor self, Tensor other) -> Tensor", dtypes="float32")
    steps = "stride[2] == sizeof(float) || stride[2] == 2 * sizeof(float)"
    assert f"if ({steps}) ow_touch(ptr[2], stride[2] * (length - 1) + 1);" in text


def test_every_other_complex_number_too(tmp_path: Path) -> None:
    text = emitted(tmp_path, "self + 1", dtypes="complex")
    assert "f_c64_element(from_v_self[2 * i]);" in text
    assert "OW_STREAMS" not in text


def test_not_several_steps(tmp_path: Path) -> None:
    assert not streaming(tmp_path, "2 * self + 1", dtypes="floating")
    assert "#pragma GCC unroll 2\n" in emitted(tmp_path, "2 * self + 1", dtypes="floating")
