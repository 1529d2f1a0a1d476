"""Functions and modules that are compiled in torch: here what tracing makes, and a base class like any other module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._names.refusals import refused_function
from ..nn import Module

if TYPE_CHECKING:
    from ..fx.graph import Graph
    from ._method import TracedMethod

__all__ = ["SAVED", "ScriptFunction", "ScriptMethod", "ScriptModule"]

SAVED = (
    "programs are not saved. Save the state_dict() of a module, and make the module by its class, or trace it, where "
    "it is loaded."
)


class ScriptModule(Module):
    """A module that torch has compiled; here one like any other, which its subclasses make."""

    __module__ = "opweave.jit"


class ScriptMethod:
    """A method of a module that was traced, or a function with the module of its constants.

    Args:
        method (TracedMethod): the graph.
        module (Module): what the attributes are of that the graph names.
    """

    __module__ = "opweave"

    def __init__(self, method: TracedMethod, module: Module) -> None:
        self._method, self._module = method, module
        self.name = self.__name__ = method.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the operators return.

        Raises:
            RuntimeError: the arguments are not those of the example: too many, too few, or not tensors.
        """
        return self._method(self._module, args, kwargs)

    @property
    def graph(self) -> Graph:
        """The graph, as `opweave.fx` has it."""
        return self._method.graph

    inlined_graph = graph

    @property
    def code(self) -> str:
        """The graph as Python."""
        return self._method.code


class ScriptFunction(ScriptMethod):
    """A function that was traced: calls run the operators that its example ran.

    Raises:
        NotImplementedError: made by other means than `trace`.
    """

    __module__ = "opweave.jit"

    def __init__(self, method: TracedMethod | None = None, module: Module | None = None) -> None:
        if method is None or module is None:
            raise NotImplementedError("opweave.jit.ScriptFunction has no instances but those that trace() returns")
        super().__init__(method, module)
        self.qualified_name = method.name

    save: Any = staticmethod(refused_function("opweave.jit", "ScriptFunction.save", SAVED))
