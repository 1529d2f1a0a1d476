"""The words of the key `autocast` are those that the runtime has a rule for."""

from __future__ import annotations

import pytest

pytest.importorskip("opweave")

from opweave._dispatch import autocast

from codegen.model.operator import AUTOCAST


def test_every_word_has_a_rule() -> None:
    assert autocast._RULES.keys() - {None} == {*AUTOCAST}
