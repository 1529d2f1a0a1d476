"""tqdm, rich, IPython."""

from __future__ import annotations

import io

import opweave as ow
import pytest


def test_tqdm() -> None:
    tqdm = pytest.importorskip("tqdm").tqdm
    assert sum(int(each) for each in tqdm(ow.arange(4), file=io.StringIO())) == 6
    text = io.StringIO()
    assert len(list(tqdm(ow.ones(3, 2), file=text))) == 3
    assert "3/3" in text.getvalue()


def test_rich() -> None:
    pytest.importorskip("rich")
    from rich import inspect
    from rich.console import Console
    from rich.pretty import pretty_repr

    console = Console(file=io.StringIO())
    console.print({"a": ow.ones(2, 2)})
    inspect(ow.ones(2), console=console)
    assert pretty_repr({"x": ow.ones(2)}) == "{'x': tensor([1., 1.])}"


def test_ipython() -> None:
    pytest.importorskip("IPython")
    from IPython.core.formatters import DisplayFormatter
    from IPython.lib.pretty import pretty

    assert pretty([ow.ones(2)]) == "[tensor([1., 1.])]"
    # What is shown is summarized before it is formatted, so the size does not matter.
    large = ow.zeros(5000, 5000)
    assert pretty(large).count("...") == 7
    formats, _ = DisplayFormatter().format(large)
    assert list(formats) == ["text/plain"]
