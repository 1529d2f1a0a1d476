"""Results of every operator for every dtype beside those of torch, on the sample inputs of its tests."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from harness import oracle, recording, sample_inputs
from harness.oracle import CLOSE, Like
from harness.outcome import Described, Error
from harness.sample_inputs import function_of, rebuilt, rounded

SAMPLES, RECORDED = 4, 1
DTYPES = ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "complex64"]
LIKE = Like(rtol=CLOSE | {"float32": 1e-5}, atol=CLOSE, scale=True, strides=False, grad=False, few=8)

# What is not compared, and why.
_MEMORY = "the values are those of the memory"
_INACCURATE = "torch has seven digits of float64"
_SIGNS = "the phases of vectors differ"
LEFT_OUT = {
    "empty": _MEMORY,
    "empty_like": _MEMORY,
    "empty_permuted": _MEMORY,
    "empty_strided": _MEMORY,
    "new_empty": _MEMORY,
    "new_empty_strided": _MEMORY,
    "kthvalue": "which of equal elements is named",
    "linalg.eig": _SIGNS,
    "linalg.eigh": _SIGNS,
    "matrix_exp": "torch gives NaN for halves",
    "special.bessel_j0": _INACCURATE,
    "special.bessel_j1": _INACCURATE,
    "special.bessel_y0": _INACCURATE,
    "special.bessel_y1": _INACCURATE,
}


def cases() -> list[str]:
    if recording.SESSION.mode == "replay":
        return sample_inputs.recorded("test_sample_inputs_oracle")
    return [name for name, op in sample_inputs.table().items() if not {op.name, name} & LEFT_OUT.keys()]


def result(library: Any, name: str, given: Described) -> Any:
    arguments, keywords = rebuilt(given, library)
    library.manual_seed(0)
    return function_of(name, library)(*arguments, **keywords)


@pytest.mark.parametrize("name", cases())
def test_results(name: str) -> None:
    replayed = recording.SESSION.mode == "replay"
    function = name.partition("-")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in DTYPES:
            live = [] if replayed else sample_inputs.samples(sample_inputs.table()[name], dtype, SAMPLES, RECORDED)
            count = oracle.ask(lambda _, live=live: len(live), f"samples {dtype}")
            for index in range(count):
                what = f"{dtype} {index}"
                given = oracle.ask(
                    lambda _, live=live, index=index: rounded([*live[index]]), f"inputs {what}", sample_inputs.INPUTS
                )
                want = oracle.ask(lambda L, given=given: result(L, function, given), f"results {what}", LIKE)
                if not isinstance(want, Error):  # the sample is for another function of this name
                    oracle.agree(lambda L, given=given: result(L, function, given), want, f"results {what}", LIKE)
