"""Distributions: parameters of every kind, then each of their methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opweave import distributions

from ..callables import Target, suggested

_METHODS = {
    **dict.fromkeys(("entropy", "enumerate_support"), ()),
    **dict.fromkeys(("sample", "rsample", "expand"), ("SymInt[]",)),
    **dict.fromkeys(("log_prob", "cdf", "icdf"), ("Tensor",)),
}
"""And the arguments that they want."""


def targets() -> Mapping[str, Target]:
    kinds = {name: kind for name, kind in vars(distributions).items() if isinstance(kind, type)}
    return {name: _target(kind) for name, kind in kinds.items()} | {
        "kl_divergence": Target(distributions.kl_divergence, ("distribution", "distribution")),
        "transformed": Target(transformed, ("distribution", "any", "any")),
        **{name: Target(_method(name), ("distribution", *wanted)) for name, wanted in _METHODS.items()},
    }


def _method(name: str) -> Any:
    return lambda one, *arguments: getattr(one, name)(*arguments)


def _target(kind: Any) -> Target:
    places, keywords = suggested(kind.__init__)
    wanted = tuple("Tensor" if each == "any" else each for each in (places or ("self",))[1:])

    def use(shape: Any, value: Any, *arguments: Any, **options: Any) -> Any:
        made = kind(*arguments, **options)
        given = {(): (), ("SymInt[]",): (shape,), ("Tensor",): (value,)}
        results = []
        for name, types in _METHODS.items():
            if hasattr(made, name):
                try:
                    results.append(getattr(made, name)(*given[types]))
                except (NotImplementedError, TypeError, ValueError, RuntimeError):
                    continue
        return results

    return Target(
        use,
        ("SymInt[]", "Tensor", *wanted),
        {name: "Tensor" if kind == "any" else kind for name, kind in keywords.items()},
    )


def transformed(base: Any, transform: Any, argument: Any) -> Any:
    made = distributions.TransformedDistribution(base, [distributions.ExpTransform(), transform])
    return made.log_prob(argument)
