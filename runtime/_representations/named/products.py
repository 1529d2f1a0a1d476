"""The names of results whose dimensions a signature names, as `(n?,k),(k,m?)->(n?,m?)`.

It names the last dimensions of each tensor; those with a question mark are left out of tensors that have too few.
Dimensions before them, for which a signature may have three dots, are matched from the right. Two tensors that have
dimensions which the result does not have are multiplied, and those that both share with the result are batches; other
tensors are added to the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._dispatch.rules import BATCH, Letters, Signature
from .names import Names, described, listed, names_of
from .unify import unified


def names_of_product(rule: Signature, operands: Sequence[Any]) -> Names | None:
    """The names of the result of these tensors, of which some may be None; None where one has too few dimensions, which
    the operator refuses. Raises RuntimeError where names do not match or one would be there twice."""
    inputs, output = map(_own, rule.inputs), _own(rule.results[0])
    each = [
        (letters, names_of(tensor)) for letters, tensor in zip(inputs, operands, strict=False) if tensor is not None
    ]
    factors = [pair for pair in each if any(letter not in _plain(output) for letter in _plain(pair[0]))]
    if any(len(names) < sum(not letter.endswith("?") for letter in letters) for letters, names in factors):
        return None
    result: Names = ()
    if len(factors) == 2:
        result = _product(factors, output)
        each = [pair for pair in each if not any(pair is factor for factor in factors)]
    for letters, names in each:
        result = unified(result, _mapped(letters, names, output))
    return result


def _mapped(letters: Letters, names: Names, output: Letters) -> Names:
    """The names of a tensor at the places where the result has its dimensions."""
    count = min(len(letters), len(names))
    core = dict(zip(_plain(letters)[len(letters) - count :], names[len(names) - count :], strict=True))
    return (*names[: len(names) - count], *(core.get(letter) for letter in _plain(output)))


def _product(factors: list[tuple[Letters, Names]], output: Letters) -> Names:
    (first, left), (second, right) = factors
    mine, others = _cut(first, left), _cut(second, right)
    shared = [letter for letter in _plain(output) if letter in mine[1] and letter in others[1]]
    batches = [(*lead, *(core[letter] for letter in shared)) for lead, core in (mine, others)]
    features = [tuple([name for letter, name in core.items() if letter not in shared]) for _, core in (mine, others)]
    _check_apart(left, right, batches[0], features[1], "second", "first")
    _check_apart(left, right, batches[1], features[0], "first", "second")
    kept = [letter for letter in _plain(output) if letter not in shared]
    result = (
        *unified(batches[0], batches[1]),
        *(core[letter] for letter in kept for _, core in (mine, others) if letter in core),
    )
    given = [name for name in result if name is not None]
    if len(set(given)) < len(given):
        raise RuntimeError(
            f"Matrix multiplying {described(left)} with {described(right)} would produce output tensor with duplicate "
            f"names {listed(result)}. Please rename the input tensors with `Tensor.rename` to prevent this."
        )
    return result


def _check_apart(left: Names, right: Names, batch: Names, features: Names, of: str, other: str) -> None:
    """A dimension that counts matrices must not be one of the other tensor's matrices."""
    if any(name is not None and name in features for name in batch):
        raise RuntimeError(
            f"Misaligned dims when batch matrix multiplying {described(left)} and {described(right)}: there is overlap "
            f"between the feature dims of the {of} tensor ({listed(features)}) and the batch dims of the {other} "
            f"tensor ({listed(batch)}). Please ensure batch dims are not present in the feature dims."
        )


def _cut(letters: Letters, names: Names) -> tuple[Names, dict[str, str | None]]:
    """The names of leading dimensions, and by letter those of the last ones."""
    missing = len(letters) - len(names)
    present = list(letters)
    for letter in [each for each in letters if each.endswith("?")][: max(missing, 0)]:
        present.remove(letter)
    lead = len(names) - len(present)
    return names[:lead], dict(zip([each.rstrip("?") for each in present], names[lead:], strict=True))


def _own(letters: Letters) -> Letters:
    return tuple([each for each in letters if each != BATCH])


def _plain(letters: Letters) -> list[str]:
    return [each.rstrip("?") for each in letters]
