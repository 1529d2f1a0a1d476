"""The print options: what they accept, refuse and restore."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from opweave._tensor import printing


@pytest.fixture(autouse=True)
def _default_options() -> Iterator[None]:
    yield
    printing.set_printoptions(profile="default")


def test_context_manager_restores_everything() -> None:
    printing.set_printoptions(precision=7, sci_mode=True)
    before = printing.get_printoptions()
    with printing.printoptions(profile="short", linewidth=33):
        assert printing.get_printoptions() == {
            "precision": 2,
            "threshold": 1000,
            "edgeitems": 2,
            "linewidth": 33,
            "sci_mode": None,
        }
        printing.set_printoptions(precision=1)
        with pytest.raises(KeyError), printing.printoptions(edgeitems=9):
            raise KeyError
        assert printing.get_printoptions()["edgeitems"] == 2
    assert printing.get_printoptions() == before
    with pytest.raises(ValueError, match="precision"), printing.printoptions(precision=-1):
        pass
    assert printing.get_printoptions() == before


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"precision": -1}, ValueError, "precision must not be negative, got -1"),
        ({"precision": 2.5}, TypeError, "precision must be an integer, got float"),
        ({"precision": True}, TypeError, "precision must be an integer, got bool"),
        ({"edgeitems": -3}, ValueError, "edgeitems must not be negative, got -3"),
        ({"edgeitems": "3"}, TypeError, "edgeitems must be an integer, got str"),
        ({"linewidth": math.inf}, TypeError, "linewidth must be an integer, got float"),
        ({"linewidth": -80}, ValueError, "linewidth must not be negative, got -80"),
        ({"threshold": "many"}, TypeError, "threshold must be a number, got str"),
        ({"threshold": math.nan}, ValueError, "threshold must be a number, got nan"),
        ({"threshold": 1j}, TypeError, "threshold must be a number, got complex"),
        ({"profile": "long"}, ValueError, "'long': expected one of 'default', 'short', 'full'"),
        ({"profile": 1}, TypeError, "profile must be a string, got int"),
        ({"sci_mode": "yes"}, TypeError, "sci_mode must be True, False or None, got str"),
        ({"colour": 1}, TypeError, "colour"),
    ],
    ids=str,
)
def test_refused_options_change_nothing(options: dict[str, Any], error: type[Exception], message: str) -> None:
    printing.set_printoptions(precision=6)
    before = printing.get_printoptions()
    with pytest.raises(error) as caught:
        printing.set_printoptions(**{"linewidth": 99, **options})
    assert message in str(caught.value)
    assert printing.get_printoptions() == before


def test_numpy_scalars_are_accepted() -> None:
    np = pytest.importorskip("numpy")
    printing.set_printoptions(precision=np.int64(3), threshold=np.float32(9), edgeitems=np.int8(1))
    options = printing.get_printoptions()
    assert (options["precision"], options["threshold"], options["edgeitems"]) == (3, 9.0, 1)
    assert [type(options[name]) for name in ("precision", "threshold", "edgeitems")] == [int, float, int]
