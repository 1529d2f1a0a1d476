"""Passes recorded calls on to autograd, whose engine is imported only when a gradient is first asked for."""

from __future__ import annotations

from typing import Any

from .._handle import needs_grad as needs_grad

operators: dict[int, Any] = {}
"""Every operator that the core knows, by its number."""

recording: Any = None
"""The module record.py, from when on tensors have histories; `needs_grad()` is false before."""
