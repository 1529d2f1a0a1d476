"""A contract of import-linter: the modules of one folder of the sources import none of another's.

Both folders are installed as one package, so the contract names folders and the modules follow from their files.
"""

from __future__ import annotations

from pathlib import Path

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

ROOT = Path(__file__).resolve().parent.parent


class FolderContract(Contract):
    """Imports from `lower` to `upper`, two folders of the repository, break the contract; none are forgiven."""

    upper = fields.StringField()
    lower = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Compare the imports of the package with the folders that its modules come from."""
        upper, lower = (_modules(graph, str(folder)) for folder in (self.upper, self.lower))
        found = sorted((one, other) for one in lower for other in graph.find_modules_directly_imported_by(one) & upper)
        return ContractCheck(kept=bool(upper and lower) and not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports that break the contract."""
        for one, other in check.metadata["found"]:
            output.print_error(f"{one} imports {other}, but {self.lower}/ is to import nothing of {self.upper}/")


def _modules(graph: ImportGraph, folder: str) -> set[str]:
    """The modules of the package whose files are in a folder."""
    (package,) = (module for module in graph.modules if "." not in module)
    top = {f"{package}.{path.stem}" for path in (ROOT / folder).iterdir() if path.stem != "__init__"}
    return {module for module in graph.modules if ".".join(module.split(".")[:2]) in top}
