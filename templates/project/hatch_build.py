"""The step of the build that weaves the operators: hatchling runs it before it packs a wheel."""

from __future__ import annotations

from pathlib import Path
from sysconfig import get_platform
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from opweave.weave import weave


class WeaveOperators(BuildHookInterface):
    """Weaves my_ops.yaml into the package my_ops beside it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Weave for this processor where the install is editable, for all instruction-set levels otherwise."""
        if self.target_name != "wheel":
            return
        folder = Path(self.root)
        weave(folder / "my_ops.yaml", out=folder, all_levels=version != "editable")
        build_data["pure_python"] = False
        # The kernels do not call Python, so one wheel serves every version of it.
        build_data["tag"] = f"py3-none-{get_platform().replace('-', '_').replace('.', '_')}"
