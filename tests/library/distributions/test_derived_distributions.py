"""Classes that users derive from distributions, constraints and transforms, as libraries of them do."""

from __future__ import annotations

from typing import Any

import opweave
import pytest
from opweave import distributions as ds
from opweave.distributions import constraints as cs
from opweave.distributions import transforms as ts


class Named(ds.Normal):
    """With an `__init__` of its own, and therefore an `expand`."""

    def __init__(self, loc: Any, scale: Any, name: str = "", validate_args: bool | None = None) -> None:
        self.name = name
        super().__init__(loc, scale, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        made = self._get_checked_instance(Named, _instance)
        made.name = self.name
        return super().expand(batch_shape, _instance=made)


def test_expand_fills_in_the_instance_of_a_derived_class() -> None:
    expanded = Named(opweave.zeros(2), 1.0, "a").expand((3, 2))
    assert (type(expanded), expanded.name, tuple(expanded.loc.shape)) == (Named, "a", (3, 2))


@pytest.mark.parametrize(
    ("base", "args"),
    [
        (ds.Gumbel, (0.0, 1.0)), (ds.Weibull, (1.0, 1.0)), (ds.Pareto, (1.0, 1.0)), (ds.Kumaraswamy, (1.0, 1.0)),
        (ds.LogNormal, (0.0, 1.0)), (ds.Independent, (ds.Normal(opweave.zeros(2, 2), 1.0), 1)),
        (ds.MultivariateNormal, (opweave.zeros(2), opweave.eye(2))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_expand_of_every_kind_keeps_the_class(base: Any, args: Any) -> None:
    derived = type("Derived", (base,), {})
    expanded = derived(*args).expand((3, 2))
    assert type(expanded) is derived
    assert expanded.batch_shape == (3, 2)
    with_init = type("WithInit", (base,), {"__init__": lambda self: base.__init__(self, *args)})
    with pytest.raises(NotImplementedError, match=r"must also define a custom \.expand\(\) method"):
        with_init().expand((3, 2))


def test_expand_is_for_a_class_of_its_own_to_define() -> None:
    class Own(ds.Distribution):
        arg_constraints = {"loc": cs.real}  # noqa: RUF012 (as users write it)

        def __init__(self, loc: Any) -> None:
            self.loc = loc
            super().__init__(loc.shape)

    with pytest.raises(NotImplementedError, match=r"Own has no expand\(\)"):
        Own(opweave.zeros(2)).expand((3, 2))


def test_constraints_are_classes() -> None:
    for made, kind in (
        (cs.positive, cs.greater_than), (cs.nonnegative, cs.greater_than_eq), (cs.unit_interval, cs.interval),
        (cs.real_vector, cs.independent), (cs.positive_integer, cs._IntegerGreaterThan), (cs.real, cs._Real),
        (cs.lower_cholesky, cs._LowerCholesky), (cs.positive_definite, cs._PositiveDefinite),
        (cs.cat([cs.real]), cs.cat), (cs.integer_interval(0, 2), cs.integer_interval), (cs.dependent, cs._Dependent),
    ):  # fmt: skip
        assert type(made) is kind, kind
    assert not isinstance(cs.integer_interval(0, 2), cs.interval)
    assert repr(cs.interval(0.0, 2.0)) == "Interval(lower_bound=0.0, upper_bound=2.0)"

    class Halves(cs.interval):
        def __init__(self) -> None:
            super().__init__(0, 0.5)

    assert Halves().check(opweave.tensor([0.25, 1.0])).tolist() == [True, False]


def test_what_is_dependent_says_whether_its_dimension_is_known() -> None:
    assert cs.dependent(event_dim=1).event_dim == 1
    for name in ("event_dim", "is_discrete"):
        with pytest.raises(NotImplementedError, match=f"{name} cannot be determined statically"):
            getattr(cs.dependent, name)
    assert cs.dependent_property(is_discrete=True).is_discrete


def test_registries_take_classes_of_constraints() -> None:
    registry = ds.constraint_registry.ConstraintRegistry()
    registry.register(cs.interval, lambda found: ts.AffineTransform(found.lower_bound, 1.0))
    assert registry(cs.unit_interval)(opweave.tensor(2.0)).item() == 2.0
    with pytest.raises(NotImplementedError, match="Cannot transform _Real constraints"):
        registry(cs.real)
    with pytest.raises(TypeError, match="either a Constraint subclass or instance"):
        registry.register(3, registry)
    assert isinstance(ds.biject_to(cs.greater_than(2.0)), ts.ComposeTransform)
    assert isinstance(ds.biject_to(cs.independent(cs.positive, 1)), ts.IndependentTransform)


def test_divergences_of_any_classes() -> None:
    class Base: ...

    class Derived(Base): ...

    ds.register_kl(Base, Base)(lambda p, q: 7)
    assert ds.kl_divergence(Derived(), Derived()) == 7
    with pytest.raises(TypeError, match="to be a class"):
        ds.register_kl(3, ds.Normal)


def test_transforms_keep_pairs_under_the_name_that_derived_classes_use() -> None:
    class Doubled(ts.Transform):
        domain = codomain = cs.real
        bijective = True

        def _call(self, x: Any) -> Any:
            return 2 * x

    transform = Doubled(cache_size=1)
    x = opweave.ones(2)
    y = transform(x)
    assert transform._cached_x_y == (x, y)
    assert transform.inv(y) is x
    assert isinstance(transform.inv, ts._InverseTransform)


def test_modules_named_as_those_of_torch_have_what_these_import() -> None:
    from opweave.distributions.multivariate_normal import Distribution

    assert Distribution is ds.Distribution
    with pytest.raises(ImportError, match="nothing"):
        from opweave.distributions.multivariate_normal import nothing  # noqa: F401
