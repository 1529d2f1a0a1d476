"""The rows of the table, by topic: importing them adds them."""

from __future__ import annotations

from . import elements, factories, indexing, joins, layers, products, reductions, views

__all__ = ["elements", "factories", "indexing", "joins", "layers", "products", "reductions", "views"]
