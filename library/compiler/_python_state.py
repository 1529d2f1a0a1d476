"""Values that a function reads besides its arguments: variables of modules and of other functions, attributes.

All that can be reached from the function is compared before a program answers in its place: each variable must have the
value, and each container the content, that it had when the program was recorded. Objects of which that cannot be told
are no part of programs.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from functools import cache, partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

from .._base.tensor_class import Tensor
from .._handle import Function, Method, are_unchanged
from ._recording import Unsupported

PACKAGE = __name__.partition(".")[0]
_MODULES = f"{PACKAGE}.nn.modules"

CONSTANTS = (
    type(None), bool, int, float, complex, str, bytes, range, slice, type(...), type(NotImplemented),
    BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType, CodeType, Function, Method,
)  # fmt: skip
"""Classes whose objects do not change."""
_WITH_ATTRIBUTES = (int, float, complex, str, bytes)
"""Classes among them whose subclasses have attributes."""
_MOST_OBJECTS = 20_000
_DICTIONARIES = (dict, OrderedDict, defaultdict)
_LISTS = (list, deque)
_SETS = (set, frozenset)


def is_own(module: str | None) -> bool:
    """Return whether a module of this name is one of the package."""
    return module is not None and (module == PACKAGE or module.startswith(PACKAGE + "."))


def is_own_frame(frame: FrameType) -> bool:
    """Return whether a function of the package runs in a frame."""
    return is_own(frame.f_globals.get("__name__"))


class Guard(NamedTuple):
    """Conditions for a program to answer."""

    entries: tuple[Any, ...]
    """Dictionaries, keys and values, or objects, attributes and values, as `are_unchanged` takes them."""
    condition: Callable[[], bool] | None
    """The rest; None: there is none."""

    def holds(self) -> bool:
        """Return whether everything has the value that it had."""
        return are_unchanged(self.entries) and (self.condition is None or self.condition())


class PythonState:
    """The values of everything that some roots lead to.

    Attributes:
        codes: the code that they can run, without that of the package.
        tensors: the tensors among them.
        seen: them, by identity.
    """

    def __init__(self, roots: Iterable[Any], names: Iterable[str]) -> None:
        """Read the state. `names` are what the roots are called in messages.

        Raises Unsupported for an object that may change without this being seen.
        """
        self.codes: set[CodeType] = set()
        self.tensors: list[Any] = []
        self._attributes: set[str] = set()
        self._absent: set[str] = set()
        """Names that some code may ask for without knowing that there are such attributes."""
        self._namespaces: list[tuple[str, ModuleType | type]] = []
        self._known_names: dict[int, set[str]] = {}
        """Names of modules and classes that were read already."""
        self._entries: list[Any] = []
        self._conditions: list[str] = []
        self._named: dict[str, Any] = {"is_same": _is}
        self.seen: dict[int, Any] = {}
        self._waiting: list[tuple[str, Any]] = []
        self._knows_hooks = False
        self._read_hooks()
        self._of_hooks = len(self._entries), len(self._conditions)
        self._read_all(zip(names, roots, strict=True))

    def guard(self, calls_modules: bool) -> Guard:
        """Return what must hold for another run of the same code, which may call modules or does not."""
        if calls_modules and not self._knows_hooks and any(self._read_hooks().values()):
            raise Unsupported("the function imports modules and adds hooks to all of them")
        entry, condition = (0, 0) if calls_modules else self._of_hooks
        text = " and ".join(self._conditions[condition:])
        return Guard(tuple(self._entries[entry:]), eval(f"lambda: {text}", self._named) if text else None)

    def _read_all(self, named: Iterable[tuple[str, Any]]) -> None:
        waiting = self._waiting
        waiting += named
        while waiting:
            while waiting:
                self._read(*waiting.pop())
            self._read_namespaces()

    def _read_hooks(self) -> dict[str, Any]:
        """The hooks of all modules, which are read as well; none where nobody has imported modules."""
        found = getattr(sys.modules.get(f"{_MODULES}._global_hooks"), "ALL", None)
        if found is None:
            return {}
        self._knows_hooks = True
        hooks: dict[str, Any] = vars(found)
        self._read_all([("the hooks of all modules", hooks)])
        return hooks

    # ---- objects ----

    def _read(self, name: str, value: Any) -> None:
        if is_constant(value) or id(value) in self.seen:
            return
        if len(self.seen) >= _MOST_OBJECTS:
            raise Unsupported(f"the function leads to more than {_MOST_OBJECTS} objects, {name} among them")
        self.seen[id(value)] = value
        kind = type(value)
        if isinstance(value, Tensor):
            self.tensors.append(value)
            if vars(value):
                self._read_dictionary(name, vars(value), ".{}")
        elif isinstance(value, FunctionType):
            self._read_function(name, value)
        elif isinstance(value, MethodType):
            self._waiting += [(name, value.__func__), (name, value.__self__)]
        elif isinstance(value, ModuleType):
            self._namespaces.append((name, value))
        elif isinstance(value, partial):
            self._waiting += [(name, value.func), (name, value.args), (name, value.keywords)]
        elif kind is tuple or (isinstance(value, tuple) and hasattr(value, "_fields")):
            self._waiting += [(f"{name}[{place}]", each) for place, each in enumerate(value)]
        elif kind in _LISTS:
            self._read_list(name, value)
        elif kind in _DICTIONARIES:
            self._read_dictionary(name, value, "[{!r}]")
        elif kind in _SETS:
            self._read_set(name, value)
        elif isinstance(value, CellType):
            self._read_cell(name, value)
        elif isinstance(value, type):
            self._read_class(name, value)
        elif isinstance(value, (staticmethod, classmethod)):
            self._waiting.append((name, value.__func__))
        elif isinstance(value, property):
            self._waiting += [(name, value.fget), (name, value.fset)]
        elif is_own(kind.__module__) and not is_module(value):
            pass  # its methods are the package's, whose calls are watched
        elif hasattr(value, "__dict__") and (isinstance(value, CONSTANTS) or not _slots(kind)):
            self._entries += [value, "__class__", kind]
            self._waiting.append((f"the class of {name}", kind))
            self._read_dictionary(name, vars(value), ".{}")
        else:
            raise Unsupported(f"{name} is an object of class {kind.__qualname__}, whose state cannot be compared")

    def _read_function(self, name: str, function: FunctionType) -> None:
        code = function.__code__
        defaults, others = function.__defaults__, function.__kwdefaults__
        self._entries += [function, "__code__", code, function, "__defaults__", defaults]
        self._entries += [function, "__kwdefaults__", others]
        self._waiting += [(f"a default of {name}", each) for each in (defaults, others)]
        cells = function.__closure__ or ()
        self._waiting += [(each, cell) for each, cell in zip(code.co_freevars, cells, strict=True)]
        if function.__dict__:
            self._read_dictionary(name, function.__dict__, ".{}")
        if is_own(function.__globals__.get("__name__")):
            return
        self.codes |= _codes(code)
        names = _names_of(code)
        self._attributes |= names.attributes | names.asked_for
        self._absent |= names.asked_for
        if "_base" in names.attributes:
            raise Unsupported(f"{name} may ask a tensor for its _base, by which calls are not told apart")
        for each in names.variables:
            self._read_variable(function.__globals__, each)

    def _read_variable(self, variables: dict[str, Any], name: str) -> None:
        if name in variables:
            self._add(variables, name, name)
            return
        self._require("{} not in {}", name, variables)
        if hasattr(builtins, name):
            self._add(vars(builtins), name, name)

    def _require(self, condition: str, *objects: Any) -> None:
        """Add a condition, of objects in the places of braces."""
        names = [f"v{len(self._named) + place}" for place in range(len(objects))]
        self._named.update(zip(names, objects, strict=True))
        self._conditions.append(condition.format(*names))

    def _add(self, dictionary: dict[Any, Any], key: Any, name: str) -> None:
        self._entries += [dictionary, key, dictionary[key]]
        self._waiting.append((name, dictionary[key]))

    def _read_dictionary(self, name: str, dictionary: dict[Any, Any], shown: str) -> None:
        self._entries += [dictionary, dictionary, len(dictionary)]
        for key in list(dictionary):
            if not is_constant(key) and not is_own(type(key).__module__):
                raise Unsupported(f"{name} has a key of class {type(key).__qualname__}, whose state cannot be compared")
            self._add(dictionary, key, name + shown.format(key))

    def _read_list(self, name: str, values: Any) -> None:
        before = tuple(values)
        self._require("len({0}) == len({1}) and all(map(is_same, {0}, {1}))", values, before)
        self._waiting += [(f"{name}[{place}]", each) for place, each in enumerate(before)]

    def _read_set(self, name: str, values: Any) -> None:
        before = frozenset(values)
        if not all(map(is_constant, before)):
            raise Unsupported(f"{name} is a set of objects whose state cannot be compared")
        self._require("{} == {}", values, before)

    def _read_cell(self, name: str, cell: CellType) -> None:
        try:
            value = cell.cell_contents
        except ValueError:  # it has no value yet
            raise Unsupported(f"the variable {name} has no value yet") from None
        self._entries += [cell, "cell_contents", value]
        self._waiting.append((name, value))

    def _read_class(self, name: str, kind: type) -> None:
        if kind in _READERS or _is_of_another_language(kind):
            raise Unsupported(f"{name} is {kind.__qualname__}, whose objects may be made of more than their arguments")
        if is_own(kind.__module__) or kind.__module__ in _TRUSTED:
            return
        for each in kind.__mro__:
            if is_own(each.__module__) or each.__module__ in _TRUSTED:
                continue
            self._require("len({}.__dict__) == {}", each, len(vars(each)))
            for key, value in list(vars(each).items()):
                if key not in _OF_CLASSES and isinstance(value, _READ_OF_CLASSES):
                    self._read_of_class(name, each, key)
            self._namespaces.append((name, each))

    def _read_of_class(self, name: str, kind: type, key: str) -> None:
        value = vars(kind)[key]
        self._require("{}.__dict__.get({}) is {}", kind, key, value)
        self._waiting.append((f"{name}.{key}", value))

    def _read_namespaces(self) -> None:
        """The variables of modules, and other objects of classes, whose names are in the code that is known by now."""
        for name, space in self._namespaces:
            if is_own(space.__name__) or space.__name__ in _TRUSTED:
                continue
            variables, known = vars(space), self._known_names.setdefault(id(space), set())
            found = (self._attributes & variables.keys()) - known
            absent = set() if isinstance(space, type) else self._absent - variables.keys() - known
            known |= found | absent
            for each in found:
                if not isinstance(space, type):
                    self._add(space.__dict__, each, f"{name}.{each}")
                elif each not in _OF_CLASSES and not isinstance(variables[each], _READ_OF_CLASSES):
                    self._read_of_class(name, space, each)
            for each in absent:
                self._require("{} not in {}", each, variables)


_TRUSTED = frozenset((
    "abc", "builtins", "collections", "collections.abc", "contextlib", "dataclasses", "enum", "functools", "itertools",
    "_weakrefset", "math", "numbers", "operator", "types", "typing", "typing_extensions", "weakref",
))  # fmt: skip
"""Modules whose functions depend on their arguments alone."""
_READERS = (bytes, bytearray, memoryview)
"""Classes that read the memory of tensors."""
_MADE_BY_PYTHON = 1 << 9
"""The flag of classes that are made while a program runs."""
_OF_CLASSES = frozenset((
    "__dict__", "__weakref__", "__module__", "__doc__", "__annotations__", "__qualname__",
    "__dataclass_fields__", "__dataclass_params__",
))  # fmt: skip
_READ_OF_CLASSES = (
    *CONSTANTS, FunctionType, staticmethod, classmethod, property, Tensor, list, dict, tuple, type, partial,
)  # fmt: skip
"""Classes of what is read of a class whatever its name is, as Python may find it by itself."""


def is_constant(value: Any) -> bool:
    """Return whether an object never changes: neither it nor attributes that it may have, as texts of a class of their
    own."""
    return isinstance(value, CONSTANTS) and not (isinstance(value, _WITH_ATTRIBUTES) and hasattr(value, "__dict__"))


def is_trusted(module: str | None) -> bool:
    """Return whether the functions of a module depend on their arguments alone."""
    return module in _TRUSTED


def _is(one: Any, other: Any) -> bool:
    return one is other


def _is_of_another_language(kind: type) -> bool:
    """Return whether a class is written in C, elsewhere than in modules that are known."""
    module = kind.__module__
    if is_own(module) or module in _TRUSTED or module == "__main__":
        return False
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return not (kind.__flags__ & _MADE_BY_PYTHON and file.endswith(".py"))


def _module_class() -> type | tuple[()]:
    """The class of modules; there are no modules before somebody has imported it."""
    found: type | tuple[()] = getattr(sys.modules.get(f"{_MODULES}.module"), "Module", ())
    return found


def is_module(value: Any) -> bool:
    """Return whether an object is a module of a network."""
    return isinstance(value, _module_class())


def _slots(kind: type) -> bool:
    """Return whether objects of a class have attributes that are in no dictionary."""
    return any(vars(each).get("__slots__") for each in kind.__mro__) or (
        kind.__basicsize__ > _PLAIN_SIZE and not issubclass(kind, _module_class())
    )


class _Plain:
    pass


_PLAIN_SIZE = _Plain.__basicsize__


@cache
def _codes(code: CodeType) -> frozenset[CodeType]:
    """The code of a function, and of the functions that it makes."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return frozenset((code,)).union(*map(_codes, inner))


class _Names(NamedTuple):
    """The names that some code reads."""

    variables: frozenset[str]
    """Variables of its module."""
    attributes: frozenset[str]
    asked_for: frozenset[str]
    """Texts that may be names of attributes, where it looks for attributes by text."""


@cache
def _names_of(code: CodeType) -> _Names:
    """The names that some code and the functions that it makes read."""
    variables, attributes, texts = set(), set(), set()
    for each in _codes(code):
        for step in dis.get_instructions(each):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"):
                variables.add(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "LOAD_SUPER_ATTR"):
                attributes.add(step.argval)
        texts |= {text for text in each.co_consts if isinstance(text, str) and text.isidentifier()}
    asked_for = texts if variables & {"getattr", "hasattr"} else ()
    return _Names(frozenset(variables), frozenset(attributes), frozenset(asked_for))
