"""opweave.func: functions that compute derivatives of functions, as in torch.func.

A function is called with variables of its own in place of the arguments, so derivatives may be nested: each level knows
its variables alone. What comes out has a history only where something did that went in, or that the function uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from . import _operators
from ._base.pytree import flatten
from ._batching.call import NotBatchedError
from ._batching.vmap import vmap as vmap
from ._functionalization import functionalize as functionalize
from ._names.module_names import submodule
from ._ops.derivatives.basic import NoDerivativeError
from ._tensor.tensor import Tensor
from .autograd.functional.forward import Forward
from .autograd.functional.functional_call import Call, places_of
from .autograd.functional.matrices import unit_gradients
from .autograd.functional.tangents import Tangents

if TYPE_CHECKING:
    from .nn.utils.stateless import functional_call

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "vjp",
    "vmap",
]


def __getattr__(name: str) -> Any:
    if name == "functional_call":  # modules are imported where they are used
        from .nn.utils.stateless import functional_call

        return functional_call
    return submodule(__name__, name)


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of `func` for arguments of `func`.

    `func` returns one number, as a tensor without dimensions; with `has_aux` a pair of it and of tensors that are not
    differentiated, and the gradient is the first of a pair as well. `argnums` says by which arguments, each a tensor or
    a nest of tuples, lists and dictionaries of tensors; a tuple gives a tuple of gradients.

    The function raises RuntimeError where `func` returns anything else or has no such argument, ValueError where the
    argument holds no tensor.
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return gradient


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Like `grad`, but the function returns a pair: the gradient and what `func` returns."""

    @wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        call = Call(func, args, kwargs, argnums, has_aux, "grad_and_value(f)(*args)")
        value = call.result
        if not isinstance(value, Tensor):
            raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(value)}")
        if value.dim():
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{value.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        gradient = call.by_variables(call.gradients([value], None, retain_graph=False))
        return gradient, (call.outside(value), call.aux) if has_aux else call.outside(value)

    return gradient_and_value


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return `func` of the arguments, and the function that multiplies a vector with its Jacobian there.

    That function takes gradients in the form of what `func` returned, and gives a tuple of gradients by the arguments.
    Of arguments and result it is true as of those of `grad`, but the result may hold any number of tensors of any
    shape. With `has_aux` the second of what `func` returns is the last of three results here.

    Raises RuntimeError where `func` returns what is no tensor or no real or complex numbers; so does the function where
    the gradients have another form.
    """
    call = Call(func, primals, {}, None, has_aux, "vjp(f, *primals)")
    outputs, structure = call.outputs()

    def product(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, form = flatten(cotangents)
        if form != structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {form}, primal output: {structure}"
            )
        return call.by_variables(call.gradients(outputs, given, retain_graph, create_graph))

    result = structure.unflatten(map(call.outside, outputs))
    return (result, product, call.aux) if has_aux else (result, product)


def jacrev(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that gives the Jacobian of `func`: a backward of all elements of what `func` returns at once.

    A Jacobian has the shape of the output followed by that of the argument. There is one in the place of each tensor
    that `func` returns; for a tuple `argnums`, and for nested arguments, a tuple or nest of them.

    * `argnums`, `has_aux`: as of `grad`.
    * `chunk_size`: the most rows that are computed at once; None: all.

    Raises ValueError for a `chunk_size` below one. The function raises RuntimeError for complex tensors, and where
    `func` returns what is no tensor or has no such argument.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @wraps(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex(flatten(args)[0], "inputs")
        call = Call(func, args, {}, argnums, has_aux, "vjp(f, *primals)")
        outputs, structure = call.outputs()
        _refuse_complex(outputs, "outputs")
        rows = structure.unflatten(call.by_variables(_rows(call, output, chunk_size)) for output in outputs)
        return (rows, call.aux) if has_aux else rows

    return jacobian


_JVP = "jvp(f, primals, tangents)"
"""The name of the function in messages."""


def jvp(
    func: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """Return `func(*primals)`, and its Jacobian there times the tangents, in the form of what `func` returned.

    * `primals`, `tangents`: tuples of the same form, of tensors or nests of them.
    * `strict`: refuse outputs that do not depend on the arguments, whose tangents are zero otherwise.
    * `has_aux`: as of `vjp`.

    Raises RuntimeError where these are no tuples or differ in form, hold anything but tensors, or `func` returns what
    is no tensor of real or complex numbers.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    (given, form), (vectors, form_of_vectors) = flatten(primals), flatten(tangents)
    if form != form_of_vectors:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {form} and tangents with structure "
            f"{form_of_vectors}"
        )
    _check_tensors(given, "primals")
    _check_tensors(vectors, "tangents")
    forward = Forward(func, primals, vectors, has_aux, _JVP)
    if strict and not forward.depends:
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    result, product = map(forward.structure.unflatten, (forward.outputs, forward.tangents))
    return (result, product, forward.aux) if has_aux else (result, product)


def _check_tensors(values: Sequence[Any], which: str) -> None:
    if not values:
        raise RuntimeError(f"{_JVP}: Expected {which} to contain at least one Tensor.")
    for value in values:
        if not isinstance(value, Tensor):
            raise RuntimeError(f"{_JVP}: Expected {which} to only contain Tensors, got {type(value)}")


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return `func(*primals)`, and the function that multiplies its Jacobian there with tangents.

    That function takes as many tangents as there are arguments, in their form, and may be called often: `func` is not.
    It raises RuntimeError for tangents of another form, shape, device or dtype.
    """
    call = Call(func, primals, {}, None, False, "linearize(f, *primals)")
    jacobian = Tangents(call)
    given, form = flatten(primals)

    def product(*tangents: Any) -> Any:
        vectors, form_of_vectors = flatten(tangents)
        if form != form_of_vectors:
            raise RuntimeError(
                f"tangents with structure {form_of_vectors} do not match the arguments, which have {form}: give one "
                "for each argument, in its form"
            )
        for index, (value, vector) in enumerate(zip(given, vectors, strict=True)):
            for what in ("shape", "device", "dtype"):
                mine, theirs = getattr(vector, what), getattr(value, what)
                if mine != theirs:
                    raise RuntimeError(
                        f"tangent:{index} with {what} {mine} in flattened pytree doesn't match the {what} {theirs} of "
                        "the corresponding primal."
                    )
        return jacobian.structure.unflatten(jacobian.product(vectors))

    return jacobian.structure.unflatten(map(call.outside, jacobian.outputs)), product


def jacfwd(
    func: Callable[..., Any],
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The function that gives the Jacobian of `func`, as `jacrev` does, by products with a basis of the arguments.

    * `chunk_size`: the most products that are computed at once; None: all.
    * `randomness`: as of `vmap`.
    """

    @wraps(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex(flatten(args)[0], "inputs", "jacfwd")
        indices = places_of(argnums, len(args))
        chosen = args[indices] if isinstance(indices, int) else tuple(args[index] for index in indices)
        variables, form = flatten(chosen)
        aux: Any = None

        def product(*tangents: Any) -> Any:
            nonlocal aux
            forward = Forward(_by_chosen(func, args, indices), (chosen,), tangents, has_aux, _JVP)
            _refuse_complex(forward.outputs, "outputs", "jacfwd")
            aux = forward.aux
            return forward.structure.unflatten(forward.tangents)

        columns = vmap(product, chunk_size=chunk_size, randomness=randomness)(*_basis(variables))
        parts, structure = flatten(columns)
        result = structure.unflatten(form.unflatten(_by_variable(part, variables)) for part in parts)
        return (result, aux) if has_aux else result

    return jacobian


def _by_chosen(func: Callable[..., Any], args: tuple[Any, ...], indices: int | tuple[int, ...]) -> Callable[..., Any]:
    """The function of the chosen arguments, while all others stay."""

    def of_chosen(chosen: Any) -> Any:
        replaced = {indices: chosen} if isinstance(indices, int) else dict(zip(indices, chosen, strict=True))
        return func(*(replaced.get(index, value) for index, value in enumerate(args)))

    return of_chosen


def _basis(variables: Sequence[Any]) -> list[Any]:
    """Tangents of all variables for each of their elements, one after the other."""
    counts = [variable.numel() for variable in variables]
    tangents = []
    for place, variable in enumerate(variables):
        rows = [variable.detach().new_zeros((count, counts[place])) for count in counts]
        rows[place] = _operators.eye(counts[place], dtype=variable.dtype, device=variable.device)
        tangents.append(_operators.cat(rows).view((sum(counts), *variable.shape)))
    return tangents


def _by_variable(columns: Any, variables: Sequence[Any]) -> list[Any]:
    """The Jacobians of an output by each variable, of the products with a basis."""
    parts = columns.split([variable.numel() for variable in variables])
    return [
        part.movedim(0, -1).reshape((*part.shape[1:], *variable.shape))
        for part, variable in zip(parts, variables, strict=True)
    ]


def hessian(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The function that gives the second derivatives of `func`: the forward Jacobian of the backward one.

    Where an operator has no derivative that this takes (those of rows, such as `layer_norm`, have two orders), it is
    the backward Jacobian of the backward one.
    """
    rows = jacrev(func, argnums)
    forward, backward = jacfwd(rows, argnums), jacrev(rows, argnums)

    @wraps(func)
    def derivatives(*args: Any) -> Any:
        try:
            return forward(*args)
        except NoDerivativeError:
            return backward(*args)

    return derivatives


def _refuse_complex(values: Sequence[Any], which: str, name: str = "jacrev") -> None:
    for index, value in enumerate(values):
        if isinstance(value, Tensor) and value.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {which} to be real but received complex tensor at flattened input idx: {index}"
            )


def _rows(call: Call, output: Tensor, chunk_size: int | None) -> list[Any]:
    """The Jacobians of an output by all variables."""
    [cotangents] = unit_gradients((output,), [output.numel()])
    if not len(cotangents):
        return [variable.new_zeros(output.shape + variable.shape) for variable in call.variables]

    def row(cotangent: Any) -> list[Any]:
        return call.gradients([output], [cotangent])

    try:
        rows = vmap(row, chunk_size=chunk_size)(cotangents)
    except NotBatchedError:  # a formula reads elements of gradients
        rows = [_operators.stack(each) for each in zip(*map(row, cotangents), strict=True)]
    return [each.view(output.shape + variable.shape) for each, variable in zip(rows, call.variables, strict=True)]
