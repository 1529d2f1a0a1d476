"""Runs the programs of a file in programs/ and prints what each answers, as JSON:

    python tests/ecosystem/run_programs.py FILE                       with torch
    python -m opweave.as_torch tests/ecosystem/run_programs.py FILE   with opweave in its place

A program is a public function without arguments. It starts with the seed 0, and so with the same weights here and
there, as the random streams are torch's. What it returns, numbers, texts and tensors in lists and dictionaries, is
summarised: of a tensor its shape, the mean of its absolute values, and some of its elements.
"""

from __future__ import annotations

import importlib.metadata
import json
import random
import runpy
import sys
import traceback
import warnings
from types import FunctionType
from typing import Any

import numpy as np

KEPT = 24
"""Elements of a tensor that are compared."""


def main(path: str) -> None:
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    scope = runpy.run_path(path)
    answers = {
        name: answer(each)
        for name, each in scope.items()
        if isinstance(each, FunctionType) and each.__module__ == scope["__name__"] and not name.startswith("_")
    }
    versions = {each: importlib.metadata.version(each) for each in scope["LIBRARIES"]}
    sys.stdout.flush()  # programs print as well, before the last line
    print("\n" + json.dumps({"libraries": versions, "answers": answers}))


def answer(program: FunctionType) -> Any:
    import torch

    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    try:
        return summary(program())
    except Exception as error:
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"}


def summary(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): summary(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [summary(each) for each in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = (value.float() if value.element_size() < 4 else value).resolve_conj().numpy()
    array = np.asarray(value)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    numbers = array.astype("float64").ravel()
    some = numbers[np.linspace(0, numbers.size - 1, min(numbers.size, KEPT)).astype(int)] if numbers.size else numbers
    size = float(np.abs(numbers).mean()) if numbers.size else 0.0
    return {"shape": list(array.shape), "size": rounded(size), "values": [*map(rounded, some.tolist())]}


def rounded(number: float) -> float:
    return float(f"{number:.7g}")


if __name__ == "__main__":
    main(sys.argv[1])
