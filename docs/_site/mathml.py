"""Formulas as MathML, which browsers typeset: no scripts, no fonts and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def setup(app: Any) -> None:
    """Registers the renderer, which `html_math_renderer` chooses."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    # A wide formula is scrolled by itself, also with the keys.
    translator.body.append('<div class="formula" tabindex="0">')
    translator.body.append(tex2mathml(node.astext(), as_block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode
