"""Checks that operators which other entries name, under `overloads` and `accumulate`, exist and fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import Diagnostics, suggest
from ..model.operator import Declaration, Family, Indexing, Operator


def check(declarations: Sequence[Declaration], diagnostics: Diagnostics) -> None:
    """Report operators that other entries name and that do not exist or do not fit."""
    _check_choices(declarations, diagnostics)
    _check_shortcuts(declarations, diagnostics)
    for declaration in declarations:
        _check_reductions(declaration, declarations, diagnostics)


def _check_choices(declarations: Sequence[Declaration], diagnostics: Diagnostics) -> None:
    """Check that every operator that is chosen exists and takes the same tensors, and that every internal operator is
    chosen, called by a composite or a derivative, or said to be what handlers of dispatch keys call."""
    by_name = {declaration.name: declaration for declaration in declarations}
    chosen: set[str] = set()
    for operator in declarations:
        if not isinstance(operator, Operator):
            continue
        for name in (name for options in operator.choices.values() for name in options.values()):
            chosen.add(name)
            if name not in by_name:
                diagnostics.report(operator.span, f"there is no operator '{name}' to choose", suggest(name, by_name))
            elif [each.name for each in by_name[name].inputs] != [each.name for each in operator.inputs]:
                diagnostics.report(operator.span, f"'{name}' does not take the arguments of '{operator.name}'")
        if operator.by_tensor is not None:
            chosen.add(name := operator.by_tensor[1])
            if name not in by_name:
                diagnostics.report(operator.span, f"there is no operator '{name}' to choose", suggest(name, by_name))
        chosen.update(operator.shortcuts.values())
        texts = [
            each or ""
            for derivative in operator.derivatives.values()
            for each in (derivative.formula, derivative.grads)
        ]
        python = operator.body.python
        texts += [each.value for each in (*operator.body.quoted, *([] if python is None else [python]))]
        chosen.update(word for text in texts for word in re.findall(r"\w+", text))
    for declaration in declarations:
        if declaration.internal and not _is_called_by_python(declaration) and declaration.name not in chosen:
            diagnostics.report(
                declaration.span, f"no operator chooses or calls '{declaration.name}'", "tags: [handler]"
            )


def _is_called_by_python(declaration: Declaration) -> bool:
    """Return True if functions behind composites, methods of Tensor or handlers of dispatch keys call the
    declaration."""
    is_known = isinstance(declaration, Operator)
    is_python = isinstance(declaration, Operator) and declaration.body.opaque
    is_handled = is_known and "handler" in declaration.tags
    return is_python or is_handled or declaration.family in (Family.RANDOM, Family.CORE)


def _check_shortcuts(declarations: Sequence[Declaration], diagnostics: Diagnostics) -> None:
    """Check that every operator that is named exists and takes the first input alone."""
    by_name = {declaration.name: declaration for declaration in declarations}
    for operator in declarations:
        for name in operator.shortcuts.values() if isinstance(operator, Operator) else ():
            other = by_name.get(name)
            if other is None:
                diagnostics.report(operator.span, f"there is no operator '{name}' to take", suggest(name, by_name))
            elif not isinstance(other, Operator) or other.family is not Family.ELEMENTWISE or _takes_more(other):
                diagnostics.report(operator.span, f"'{name}' is no elementwise operator of one input")


def _takes_more(operator: Operator) -> bool:
    return len(operator.inputs) != 1 or bool(operator.params)


def _check_reductions(operator: Declaration, declarations: Sequence[Declaration], diagnostics: Diagnostics) -> None:
    """Check that an indexing body accumulates by reductions of the same file."""
    if not isinstance(operator, Operator) or not isinstance(operator.body, Indexing):
        return
    known = [declaration.name for declaration in declarations if declaration.family is Family.REDUCE]
    for name in dict.fromkeys(operator.body.reductions):
        if name not in known:
            help = suggest(name, known)
            diagnostics.report(operator.body.source.span, f"'{name}' is no reduction of this file", help)
