"""Which operators have loops over rows of halves, and how those load and store."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen import library
from codegen.emit import kernels


def emitted(folder: Path, expression: str, func: str = "f(Tensor self) -> Tensor") -> str:
    yaml = folder / "f.yaml"
    yaml.write_text(
        f"- func: {func}\n  doc: Doc.\n  elementwise: {expression}\n  dtypes: floating\n  derivatives: none\n"
    )
    (operator,) = library.read(yaml, yaml.name)
    text = kernels.emit(operator)
    assert text is not None
    return text


@pytest.mark.parametrize(
    ("expression", "half", "load", "store"),
    [
        ("self + 1", "f16", "ow_load_f16", "ow_store_f16"),
        ("self + 1", "bf16", "ow_load_bf16", "ow_store_bf16"),
        ("-abs(self)", "f16", "ow_load_signs", "ow_store_signs"),  # nothing but the sign changes
        ("1 if self > 0 else self", "f16", "ow_load_f16", "ow_store_f16"),
        ("1 if self > 0 else self", "bf16", "ow_load_bf16", "ow_store_exact_bf16"),
        ("0.1 if self > 0 else self", "bf16", "ow_load_bf16", "ow_store_bf16"),  # 0.1 is rounded
        ("self if self < 1e300 else 0", "bf16", "ow_load_bf16", "ow_store_exact_bf16"),  # infinite in float32
    ],
)
def test_loads_and_stores(tmp_path: Path, expression: str, half: str, load: str, store: str) -> None:
    text = emitted(tmp_path, expression)
    kernel = text[text.index(f"static inline void f_{half}_pair(") :]
    assert f" {store}(to, " in kernel[:200]
    assert f"f_{half}_pair(to + i, {load}(from_v_self + i));" in kernel


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 * exp(-self)", "ow_all_lanes(2.0f) * (ow_lanes)ow_exp_16((__m512)(-v_self))"),
        ("exp(self) * sin(self)", "(ow_lanes)ow_exp_16((__m512)(v_self)) * (ow_lanes)ow_sin_16((__m512)(v_self))"),
    ],
)
def test_functions_of_a_register_where_a_level_has_them(tmp_path: Path, expression: str, value: str) -> None:
    text = emitted(tmp_path, expression)
    assert f"return {value};" in text
    assert text.count("#ifdef OW_FUNCTIONS_OF_16\n") == 4
    assert "#ifdef OW_LANES\n" not in text


@pytest.mark.parametrize("expression", ["exp(self) * tan(self)", "tan(self)", "self % 2", "1", "nextafter(self, 0)"])
def test_others_have_none(tmp_path: Path, expression: str) -> None:
    unused = "" if "self" in expression else "\n  unused: [self]"
    assert "_lanes(" not in emitted(tmp_path, expression + unused)


def test_parameters(tmp_path: Path) -> None:
    text = emitted(tmp_path, "self if self > low else low", "f(Tensor self, Scalar low=0) -> Tensor")
    assert "const ow_lanes v_low = ow_all_lanes((float)params[0].d);" in text
    general, plain = text.split(".plain = {")
    assert "[OW_BFLOAT16] = f_bf16," in general
    assert "[OW_BFLOAT16] = f_bf16_plain," in plain
    assert "ow_store_bf16(to" in text[text.index("f_bf16_pair(") :][:200]  # of any number
    assert "ow_store_exact_bf16(to" in text[text.index("f_bf16_plain_pair(") :][:200]
