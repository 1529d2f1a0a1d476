"""Definitions of operators by the generated modules: each row becomes functions and methods."""

from __future__ import annotations

from typing import Any

from .._C import lib
from .._handle import Function, Method
from . import binding as binding
from . import conjugates as conjugates
from . import kernels
from . import modes as modes
from . import subclass as subclass
from .op import FORMS, NUMBERS, OPERATORS, Op, kinds
from .ops import BUILTIN, namespaces, ops
from .store import assign


def _setter(op: Op) -> Any:
    """Return the function that assigns to a property: a copy into the view that the operator gives."""

    def assign(tensor: Any, value: Any) -> None:
        view = op.function(tensor)
        if lib.storage_of(view._h) != lib.storage_of(tensor._h):
            raise RuntimeError(
                f"{op.name} cannot be assigned to: of a tensor that is read as conjugates it is a copy, not a view of "
                "its memory; assign to that of resolve_conj()"
            )
        view.copy_(value)

    return assign


def attribute(method: Any) -> Any:
    """Return the attribute of class Tensor for a function or property."""
    return Method(method) if isinstance(method, Function) else method


class Operators:
    """The operators of one package: its functions and methods by name."""

    def __init__(self, namespace: dict[str, Any], package: str) -> None:
        self.functions: dict[str, Any] = {}
        self.methods: dict[str, Any] = {}
        self._namespace = namespace
        self._package = package
        self._internal: dict[str, Any] = {}

    def define(
        self,
        index: int,
        name: str,
        family: str,
        layout: str,
        params: tuple[tuple[Any, ...], ...],
        positional: int,
        *,
        inplace: bool = False,
        method: bool = False,
        function: bool = False,
        aliases: tuple[str, ...] = (),
        dunders: tuple[tuple[str, str], ...] = (),
        getter: tuple[str, str, bool] | None = None,
        differentiable: bool = False,
        fast: object = None,
        **facts: Any,
    ) -> None:
        """Define one operator. `params`: name, types and, unless it is required, default of each argument. `getter`:
        the name and the docstring of the property that it is, and whether that can be assigned to."""
        op = Op(index, name, family, params, positional, package=self._package, **facts)
        makes_memory = "placement" in op.types
        op.is_differentiable = differentiable
        op.is_implicit = op.is_decomposable and not differentiable and not makes_memory
        op.decomposes = op.is_implicit and fast is None
        has_effects = op.is_inplace or op.random or op.data_dependent or op.may_fail
        op.is_pure = not has_effects and (fast is not None or not op.is_composite)
        # Numbers that must be in range are checked before the body of a composite runs.
        bits = tuple([
            kinds(types) & ~NUMBERS if name in op.in_range else kinds(types)
            for name, types in zip(op.names, op.types, strict=True)
        ])  # fmt: skip
        separate = -1 if op.separate is None else op.names.index(op.separate)
        # What has another meaning alone is not for the core to fill in.
        defaults = op.defaults
        if op.bounds:
            pairs = zip(op.names, defaults, strict=True)
            defaults = tuple(... if each in op.bounds else value for each, value in pairs)

        if op.family == "factory" and op.body is not None:
            fast = kernels.producer(op)

        def made(form: str, called: str, leads: int = 0) -> Any:
            has_out = form == "function" and op.out is not None
            names = (*op.names, "out") if has_out else op.names
            takes_out = has_out and not (op.out == "exact" and op.family == "elementwise")
            body, quick = op.body, fast
            if op.is_composite and form == "in_place":  # of a view the tensor itself becomes the view
                body, quick = (None if op.view else op.body), (None if op.is_inplace else assign)
            return Function(
                op, called, FORMS[form], index, names, defaults, positional, leads, layout, bits, separate, has_out,
                takes_out, op.refused, differentiable, body, quick, op.results, op.words,
            )  # fmt: skip

        by_name = {name: made("in_place" if op.is_inplace else "function", op.called)}
        if inplace:
            by_name[f"{name}_"] = made("in_place", f"{op.called}_", op.target)
        as_method = {name: made("function", op.called, op.target)} if op.target else {}
        op.function = by_name[name]
        if index >= 0:
            OPERATORS[index] = op
        for public in (name, *aliases):
            for called, each in by_name.items():
                spelling = public + called[len(name) :]
                if method:
                    self.methods[spelling] = as_method.get(called, each)
                if function:
                    self.functions[spelling] = each
        if getter is not None:
            # The docstring is given, as that of the function is in a module that would be imported for it.
            called, doc, assignable = getter
            made_property = property(op.function, _setter(op) if assignable else None, doc=doc)
            self.methods[called] = made_property
            op.getter = None if function else made_property
        for special, form in dunders:
            self.methods[special] = op.function if form == "function" else made(form, special)
        self._internal.update(by_name)

    def attributes(self) -> dict[str, Any]:
        """The attributes of class Tensor."""
        return {name: attribute(method) for name, method in self.methods.items()}

    def finish(self) -> None:
        """Puts all functions into the module and into `opweave.ops`, and those of opweave itself into the namespace
        that all layers call."""
        self._namespace.update(self._internal)
        self._namespace.update(self.functions)
        for name, each in self._internal.items():
            for argument, options in each.op.choices.items():
                suffix = name[len(each.op.name) :]
                chosen = {text: self._namespace[f"{other}{suffix}"] for text, other in options.items()}
                each.choose(each.op.names.index(argument), chosen)
        is_builtin = self._package == "opweave"
        namespaces[BUILTIN if is_builtin else self._package] = {**self.functions, **self._internal}
        if is_builtin:
            vars(ops).update(self._internal)
            vars(ops).update(self.functions)
