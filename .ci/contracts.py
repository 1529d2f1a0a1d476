"""Contracts of import-linter about folders of the sources, which are installed as one package.

The contracts name folders, and the modules follow from their files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.contracts.layers import LayersContract

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "opweave"


class FolderContract(Contract):
    """Imports from `lower` to `upper`, two folders of the repository, break the contract; none are forgiven."""

    upper = fields.StringField()
    lower = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Compare the imports of the package with the folders that its modules come from."""
        upper, lower = (set(_modules(str(folder))) for folder in (self.upper, self.lower))
        found = sorted(
            (one, other)
            for one in graph.modules
            if _top(one) in lower
            for other in graph.find_modules_directly_imported_by(one)
            if _top(other) in upper
        )
        return ContractCheck(kept=bool(upper and lower) and not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports that break the contract."""
        for one, other in check.metadata["found"]:
            output.print_error(f"{one} imports {other}, but {self.lower}/ is to import nothing of {self.upper}/")


class FolderLayersContract(LayersContract):
    """Layers, of which one that ends in a slash is all modules of that folder that no other layer names."""

    def __init__(self, name: str, session_options: dict[str, Any], contract_options: dict[str, Any]) -> None:
        layers = contract_options["layers"]
        named = {module.strip() for layer in layers for module in layer.split(":")}
        rows = [
            " : ".join(sorted(set(_modules(row.rstrip("/"))) - named)) if row.endswith("/") else row for row in layers
        ]
        super().__init__(name, session_options, {**contract_options, "layers": rows})


def _modules(folder: str) -> list[str]:
    """The top-level modules of the package whose files are in a folder."""
    paths = [path for path in (ROOT / folder).iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return [f"{PACKAGE}.{path.stem}" for path in paths if path.stem != "__init__"]


def _top(module: str) -> str:
    return ".".join(module.split(".")[:2])
