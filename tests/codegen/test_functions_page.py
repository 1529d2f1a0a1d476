"""docs/functions.md and `opweave functions` say all of the table of functions."""

from __future__ import annotations

from harness.catalog import operators
from harness.paths import ROOT

from codegen.docs import functions
from codegen.expr.functions import FUNCTIONS, LIST_FUNCTIONS


def test_the_page_is_of_this_table() -> None:
    written = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    assert written == functions.page(operators()), "write it again: opweave functions --markdown > docs/functions.md"


def test_every_function_has_a_meaning() -> None:
    rows = [row for _, rows in functions.groups(operators()) for row in rows]
    assert {row.names[0] for row in rows} == set(FUNCTIONS)
    assert {row.names[0] for row in functions.list_rows()} == set(LIST_FUNCTIONS)
    assert [row.call for row in (*rows, *functions.list_rows()) if not row.meaning] == []


def test_rows() -> None:
    rows = {row.names[0]: row for _, rows in functions.groups(operators()) for row in rows}
    assert rows["atan2"].cells == (
        "atan2(x, y)",
        "Angle of the point (`y`, `x`), in radians",
        (
            "x: where((x == 0) & (y == 0), 0, y / hypot(x, y) / hypot(x, y)); "
            "y: where((x == 0) & (y == 0), 0, -(x / hypot(x, y) / hypot(x, y)))"
        ),
        "floating",
    )
    assert rows["pow"].names == ("pow", "**")
    assert rows["logical_not"].call == "not x"
    assert rows["where"].cells[::2] == ("x if condition else y", "x: where(condition, 1, 0); y: where(condition, 0, 1)")
    assert rows["square"].meaning == "Square of each element"
    assert rows["floor"].derivative == "0"
    assert rows["gcd"].derivative == "none"
