"""The namespace `opweave.distributed.elastic`: what torchrun's programs import of it."""

from __future__ import annotations

from . import multiprocessing

__all__ = ["multiprocessing"]
