"""The straight-line code of Fourier transforms, run in Python beside NumPy's transform."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.emit import dft


def evaluated(program: dft.Program, results: list[dft.Complex], x: np.ndarray) -> np.ndarray:
    """Run the statements, which are C and Python alike but for types."""
    values = {f"x{k}r": number.real for k, number in enumerate(x)} | {
        f"x{k}i": number.imag for k, number in enumerate(x)
    }
    for statement in program.statements:
        name, expression = statement.removeprefix("const vector ").removesuffix(";").split(" = ")
        values[name] = eval(expression.replace("(real)", ""), {}, values)
    return np.array([complex(values[re], values[im]) for re, im in results])


@pytest.mark.parametrize("radix", dft.RADICES)
def test_radix(radix: int) -> None:
    program = dft.Program()
    results = dft.transform(program, [dft.Complex(f"x{k}r", f"x{k}i") for k in range(radix)])
    random = np.random.default_rng(radix)
    x = random.standard_normal(radix) + 1j * random.standard_normal(radix)
    np.testing.assert_allclose(evaluated(program, results, x), np.fft.fft(x), rtol=0, atol=1e-14)


@pytest.mark.parametrize("width", [dft.width(lanes) for lanes in dft.LANES], ids=str)
def test_orders_of_lanes(width: dft.Width) -> None:
    lanes = width.lanes
    both = np.arange(2 * lanes)
    assert both[width.zip_low + width.zip_high].tolist() == both.reshape(2, lanes).T.ravel().tolist()
    assert both[width.evens + width.odds].tolist() == [*both[::2], *both[1::2]]
    rows = np.arange(lanes * lanes).reshape(lanes, lanes)
    turned = rows.copy()
    for distance, (low, high) in width.exchanges.items():
        for i in range(lanes):
            if not i & distance:
                pair = np.concatenate([turned[i], turned[i + distance]])
                turned[i], turned[i + distance] = pair[low], pair[high]
    assert turned.tolist() == rows.T.tolist()
