"""What is known of operators besides their bodies: the row of facts of each, and the table that the command prints."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from harness.catalog import operators

from codegen import library
from codegen.__main__ import main
from codegen.library import Entries
from codegen.model.rules import facts, naming

ENTRIES = Path(__file__).parents[2] / "ops.yaml"

FACTS = {
    "add": {"rule": "unify"},
    "addmm": {"rule": "(n,m),(n,k),(k,m)->(n,m)"},
    "amax": {"rule": "reduce", "combine": "max"},
    "argmax": {"rule": "reduce"},
    "argwhere": {"dynamic_shape": True, "reason": "the shape of its result depends on elements"},
    "copy_": {"writes": ("self",), "aliases": ("self",), "rule": "unify"},
    "cumsum": {"rule": "keep"},
    "dropout": {"random": False, "reason": "it is made of operators that have rules"},
    "floor_divide": {"may_fail": True, "rule": "unify"},
    "gather": {"may_fail": True, "rule": "gather"},
    "item": {"data_dependent": True, "reason": "its body reads memory"},
    "lapack_potrf": {"rule": "(...,N,N)->(...,N,N),(...)"},
    "mean": {"rule": "reduce", "combine": "avg"},
    "mean_of_windows2d": {"rule": "(...,Y,X)->(...,Y,X)"},
    "normal_": {"writes": ("self",), "aliases": ("self",), "random": True, "rule": "keep"},
    "select": {"aliases": ("self",), "rule": "view"},
    "set_": {
        "writes": ("self",),
        "aliases": ("self",),
        "reason": "it changes memory, which the samples of a batch share",
    },
    "softmax": {"rule": "reduce"},
    "sum": {"rule": "reduce", "combine": "sum"},
    "windows2d": {"rule": "(...,self_0,self_1)->(...,I,J,Y,X)"},
}
"""By operator: what is not the least that can be said."""
LEAST: dict[str, Any] = {
    "writes": (), "aliases": (), "random": False, "data_dependent": False, "dynamic_shape": False, "may_fail": False,
    "rule": None, "reason": None, "combine": None,
}  # fmt: skip


@cache
def entries() -> Entries:
    return Entries(ENTRIES)


@pytest.mark.parametrize("name", FACTS)
def test_facts(name: str) -> None:
    assert vars(facts(entries().operator(name))) == LEAST | FACTS[name]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("add", "unify"),
        ("cat", "join"),
        ("view", "refuse"),
        ("tril", None),
        ("gather", None),
        ("conv1d", "(a,x),(o,b,i),(o)->(o,x)"),
        ("zeros", None),
    ],
)
def test_names_follow_the_rule_unless_the_entry_says_otherwise(name: str, rule: str | None) -> None:
    assert naming(entries().operator(name)) == rule


def test_every_kernel_has_a_rule_or_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = operators()  # other tests of this process want them, too
    monkeypatch.setattr(library, "read", lambda *args, **options: found)
    assert main(["--yaml", str(ENTRIES), "--rules"]) == 0
    *rows, counts = capsys.readouterr().out.splitlines()
    assert counts.endswith("0 without either")
    assert "fill_gamma_" in {row.split()[0] for row in rows}
    known = dict(row.split(maxsplit=1) for row in rows)
    assert known["bernoulli_"] == "keep; writes self; aliases self; random; may_fail"
    assert known["addmm"] == "(n,m),(n,k),(k,m)->(n,m); linear in self and mat1; linear in self and mat2"
    assert known["index_add"] == "at; may_fail; linear in self and source"
    assert known["add"] == "unify; linear in self and other"
    assert known["mul"] == "unify; linear in self; linear in other"
    assert known["lerp"] == "unify; linear in self and end"
    assert "linear" not in known["exp"] + known["relu"] + known["floor_divide"]
    assert "linear" not in known["sort"] + known["softmax"] + known["lapack_trsm"]
