"""Lets lower layers record calls by formulas of their own, before the module that does it has been imported."""

from __future__ import annotations

from typing import Any

recording: Any = None
"""The module record.py, from when on tensors have histories; no tensor has one before."""
