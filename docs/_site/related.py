"""What an operator has to do with others: its names in torch and NumPy, what it calls, and what calls it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache

from harness import recording
from opweave.codegen.model import reference as references
from opweave.codegen.model.operator import Operator
from opweave.codegen.model.variants import own_name

_CALLED = re.compile(r"\b([a-z_]\w*)\(")
_NO_CODE = re.compile(r"'[^']*'|\"[^\"]*\"|#.*")


def calls(operators: Iterable[Operator]) -> Mapping[str, list[str]]:
    """The operators that the body and the gradients of each operator name, by its name."""
    known = {operator.name: operator for operator in operators}
    return {
        name: [word for word in dict.fromkeys(_CALLED.findall(_code(operator))) if word in known and word != name]
        for name, operator in known.items()
    }


def callers(called: Mapping[str, list[str]]) -> Mapping[str, list[str]]:
    """Return the same relation from the other end."""
    found = defaultdict(list)
    for name, others in called.items():
        for other in others:
            found[other].append(name)
    return found


def _code(operator: Operator) -> str:
    """Python of the body and of the formulas of gradients, in which calls are."""
    body = operator.body.python
    texts = ["" if body is None else body.value]
    texts += [each.text for each in operator.derivatives.values() if each.tree is None]
    return _NO_CODE.sub("", "\n".join(texts))


def in_torch(operator: Operator) -> list[str]:
    """The names of the same function in torch, which are those of opweave, as far as torch has them."""
    paths = [".".join(filter(None, (operator.module, own_name(operator))))] if operator.function else []
    paths += [f"Tensor.{operator.name}"] if operator.method else []
    paths += [f"Tensor.{operator.property_name}"] if operator.property_name else []
    return [f"torch.{path}" for path in paths if recording.has(path)]


def in_numpy(operator: Operator) -> str | None:
    """The NumPy function, or the expression, that computes the same; None where the entry has none."""
    text = operator.reference or f"np.{operator.name}"
    if text == "none":
        return None
    if re.fullmatch(r"np(\.\w+)+", text):
        return text if _exists(text) else None
    written = references.reference(operator)
    return None if written is None or len(written) > 200 or "scipy" in written or "\n" in written else written


@cache
def _exists(name: str) -> bool:
    import numpy

    found: object = numpy
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None
