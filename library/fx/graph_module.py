"""opweave.fx.graph_module: a module whose `forward` is what a graph says."""

from __future__ import annotations

import copy
import itertools
import linecache
import weakref
from typing import Any

from .._base.tensor_class import Tensor
from ..nn import Module, Parameter
from ._names import root_name
from .graph import Graph, PythonCode

__all__ = ["GraphModule"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_numbers = itertools.count()


class _CodeOnlyModule(Module):
    """A module with the attributes of another one, as copies of graph modules are made from."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


class GraphModule(Module):
    """A module made of a graph: `forward` is compiled of it, and `code` is its text. After changes of the graph call
    `recompile()`.

    Args:
        root (Module | dict): what has the attributes and modules that nodes name, as a module or by their paths. Those
            that are named are taken over.
        graph (Graph): the graph, which is not copied.
        class_name (str): the name of the class, of which this is the only object.

    Raises:
        RuntimeError: nodes name what `root` does not have.
    """

    _graph: Graph
    _code: str

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # A class of its own, as `forward` is found there.
        made: GraphModule = super().__new__(type(cls.__name__, (_class_of(cls),), {"_is_single": True}))
        return made

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
            self.meta = dict(vars(root).get("meta", {}))
        else:
            self.meta = {}
        # Those of few parts first: what is in a module that has been taken over as a whole is there already.
        for target in sorted(_named_by(graph), key=lambda name: name.count(".")):
            if isinstance(root, Module):
                _copy_attr(root, self, target)
            elif target in root:
                _assign_attr(root[target], self, target)
            else:
                raise RuntimeError(
                    f"a node referenced target {target} but that target was not provided in `root`, which has "
                    f"{list(root)}"
                )
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = None if tracer is None or "<locals>" in tracer.__qualname__ else tracer

    # ---- the graph ----

    @property
    def graph(self) -> Graph:
        """The graph. Assigning another one compiles it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The text of `forward`.

        Raises:
            RuntimeError: the graph has not been compiled.
        """
        if "_code" not in self.__dict__:
            raise RuntimeError("Code has not been generated! Call recompile().")
        return self._code

    def recompile(self) -> PythonCode:
        """Make `forward` and `code` anew from the graph, and return them."""
        python_code = self._graph.python_code("self")
        self._code = python_code.src
        type(self).forward = _compiled(python_code)
        return python_code

    # ---- modules in it ----

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path, with modules on the way that are missing, and return whether it could be put there.

        Args:
            target (str): the path, such as `layers.0`.
            m (Module): the module.
        """
        *path, name = target.split(".")
        module: Module = self
        for each in path:
            found = getattr(module, each, None)
            if found is None:
                found = Module()
                setattr(module, each, found)
            if not isinstance(found, Module):
                return False
            module = found
        module.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a path out, and return whether there was one.

        Args:
            target (str): the path, such as `layers.0`.
        """
        *path, name = target.split(".")
        module: Any = self
        for each in path:
            module = getattr(module, each, None)
        if not isinstance(module, Module) or not isinstance(getattr(module, name, None), Module):
            return False
        delattr(module, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take out modules that no node calls, nor has attributes of, nor are in one that is called."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[:count]) for count in range(1, len(parts) + 1))
            if node.op == "call_module":
                inner = self.get_submodule(node.target).named_modules()
                used.update(f"{node.target}.{name}" for name, _ in inner if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ---- text ----

    def __str__(self) -> str:
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self.code, reminder])

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """Return the text of this module, and of graph modules in it, as classes.

        Args:
            print_output (bool): whether it is printed as well.
        """
        body = self.code.strip()
        inner = [each.print_readable(False) for each in self.children() if isinstance(each, GraphModule)]
        lines = "\n\n".join([body, *inner]).replace("\n", "\n    ")
        text = f"class {self._get_name()}({root_name()}.nn.Module):\n    {lines}\n"
        if print_output:
            print(text)
        return text

    # ---- copies ----

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made: GraphModule = type(self).__new__(type(self))
        type(made).__name__ = type(self).__name__
        memo[id(self)] = made
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        made.graph = made._graph
        return made

    def __copy__(self) -> GraphModule:
        return GraphModule(self, copy.deepcopy(self._graph), type(self).__name__)

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in self.__dict__.items() if name != "_code"}
        return _from_state, (_class_of(type(self)), type(self).__name__, state)


def _class_of(kind: type) -> type:
    """The class that has a name of its own, of one that was made for one object."""
    return next(each for each in kind.__mro__ if "_is_single" not in vars(each))


def _from_state(kind: type[GraphModule], name: str, state: dict[str, Any]) -> GraphModule:
    made = kind.__new__(kind)
    type(made).__name__ = name
    made.__setstate__(state)
    made.graph = made._graph
    return made


def _compiled(code: PythonCode) -> Any:
    """The function, with its text where tracebacks and `inspect` look for it."""
    name = f"<eval_with_key>.{next(_numbers)}"
    names = dict(code.globals)
    exec(compile(code.src, name, "exec", dont_inherit=True), names)
    function = names["forward"]
    linecache.cache[name] = (len(code.src), None, code.src.splitlines(keepends=True), name)
    weakref.finalize(function, linecache.cache.pop, name, None)
    return function


def _named_by(graph: Graph) -> list[str]:
    """The paths that nodes name, each once."""
    return list(dict.fromkeys(node.target for node in graph.nodes if node.op in ("get_attr", "call_module")))


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Make the attribute of one module at a path that of another, with modules on the way."""
    *path, name = target.split(".")
    for each in path:
        found, known = getattr(from_module, each), getattr(to_module, each, None)
        if known is found:  # all of it has been taken over
            return
        if known is None:
            known = Module()
            setattr(to_module, each, known)
        from_module, to_module = found, known
    value = getattr(from_module, name)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        persistent = name not in from_module.__dict__.get("_non_persistent_buffers_set", ())
        to_module.register_buffer(name, value, persistent)
    else:
        setattr(to_module, name, value)


def _assign_attr(value: Any, to_module: Module, target: str) -> None:
    """Make a value the attribute at a path, with modules on the way."""
    *path, name = target.split(".")
    for each in path:
        known = getattr(to_module, each, None)
        if known is None:
            known = Module()
            setattr(to_module, each, known)
        to_module = known
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        to_module.register_buffer(name, value)
    else:
        setattr(to_module, name, value)
