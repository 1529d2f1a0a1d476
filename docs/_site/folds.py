"""Code behind a fold: `{fold} title`, with the option `language`. The search does not read it, or it would find every
operator by every word of C."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class fold(nodes.General, nodes.Element):  # noqa: N801  Sphinx derives the names of its functions from that of the class
    """Text with a title and a language; it has no children, which is why the search has no words of it."""


class FoldDirective(SphinxDirective):
    """The directive of pages."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"language": directives.unchanged}  # noqa: RUF012  as Sphinx has it

    def run(self) -> list[nodes.Node]:
        title, language = self.arguments[0], self.options.get("language", "text")
        return [fold("", title=title, language=language, text="\n".join(self.content))]


def setup(app: Any) -> None:
    """Registers the directive and its HTML."""
    app.add_node(fold, html=(_open, None), text=(_skip, None))
    app.add_directive("fold", FoldDirective)


def _open(translator: Any, node: fold) -> None:
    highlighted = translator.highlighter.highlight_block(node["text"], node["language"], location=node)
    focusable = highlighted.replace("<pre>", '<pre tabindex="0">', 1)
    translator.body.append(
        f'<details class="fold"><summary>{escape(node["title"])}</summary>'
        f'<div class="highlight-{node["language"]} notranslate">{focusable}</div></details>\n'
    )
    raise nodes.SkipNode


def _skip(translator: Any, node: fold) -> None:
    raise nodes.SkipNode
