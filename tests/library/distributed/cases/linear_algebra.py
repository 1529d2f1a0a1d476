"""Cases of linear algebra with sharded matrices on any number of ranks: `case_...(rank, size)`. The answers are
those of one process, for panels of few columns."""

from __future__ import annotations

import functools
import itertools
import warnings

import opweave as torch
import pytest
from opweave.distributed import init_device_mesh
from opweave.distributed.tensor import Replicate, Shard, distribute_tensor
from opweave.distributed.tensor._linalg import _gathering, _split

_split.WIDTH = 3
linalg = torch.linalg
KINDS = {torch.float64: 1e-9, torch.complex128: 1e-9, torch.float32: 2e-3}
CHOICES = {1: [(None,), (-2,), (-1,), (0,)], 2: [(-2, -1), (0, -2)]}
"""The dimensions that those of a mesh shard, by how many it has."""


@functools.cache
def mesh_of(size):
    """Four processes make a mesh of two dimensions."""
    return init_device_mesh("cpu", (2, 2) if size == 4 else (size,))


def kinds(size):
    """Dtypes and tolerances: many processes are tried with one of them."""
    return list(KINDS.items())[1:2] if size == 4 else KINDS.items()


def distribute(tensor, mesh, placements):
    return distribute_tensor(tensor, mesh, placements, src_data_rank=None)


def random(*shape, dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=dtype)


def positive(n, batch=(), dtype=torch.float64):
    a = random(*batch, n, n, dtype=dtype)
    return a @ a.mH + n * torch.eye(n, dtype=dtype)


def distributions(size, *ndims):
    """A mesh and placements of several tensors: by rows, columns, blocks, batches or not at all."""
    mesh = mesh_of(size)
    for choice in CHOICES[mesh.ndim]:
        yield (
            mesh,
            [
                [Replicate() if dim is None else Shard(dim % ndim) for dim in (choice[::-1] if place else choice)]
                for place, ndim in enumerate(ndims)
            ],
        )


def listed(function):
    return lambda *tensors: [function(*tensors)]


def gradients(results, weights, inputs):
    total = sum((weight * each).sum().abs() for weight, each in zip(weights, results, strict=True))
    return torch.autograd.grad(total, inputs)


def compare(function, tensors, size, tolerance=1e-9):
    """Values, and gradients of a function of tensors, are those of one process."""
    inputs = [each.clone().requires_grad_() for each in tensors]
    want = function(*inputs)
    torch.manual_seed(5)
    weights = [torch.randn(each.shape, dtype=each.dtype) for each in want]
    want_grads = gradients(want, weights, inputs)
    for mesh, placements in distributions(size, *[each.ndim for each in tensors]):
        given = [
            distribute(each, mesh, where).requires_grad_() for each, where in zip(tensors, placements, strict=True)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = function(*given)
            spread = [distribute(each, mesh, [Replicate()] * mesh.ndim) for each in weights]
            grads = gradients(got, spread, given)
        for mine, theirs in zip((*got, *grads), (*want, *want_grads), strict=True):
            torch.testing.assert_close(mine.full_tensor(), theirs, rtol=tolerance, atol=tolerance)


def case_products(rank, size):
    for dtype, tolerance in kinds(size):
        compare(lambda a, b: [a @ b], [random(7, 11, dtype=dtype), random(11, 5, dtype=dtype, seed=1)], size, tolerance)
    compare(lambda a, b: [a @ b], [random(3, 7, 5), random(3, 5, 9, seed=1)], size)
    compare(lambda a, b: [a @ b], [random(1, 3), random(3, 2, seed=1)], size)


def case_products_of_other_numbers(rank, size):
    for mesh, placements in distributions(size, 2, 2):
        for a, b in (
            (torch.arange(12).view(4, 3), torch.arange(15).view(3, 5)),
            (torch.ones(0, 3), torch.ones(3, 2)),
            (torch.ones(3, 0), torch.ones(0, 2)),
            (torch.ones(4, 2, dtype=torch.bfloat16), torch.ones(2, 4, dtype=torch.bfloat16)),
        ):
            left, right = (distribute(each, mesh, where) for each, where in zip((a, b), placements, strict=True))
            assert (left @ right).full_tensor().equal(a @ b)


def case_products_stay_sharded(rank, size):
    a, b, mesh = random(8, 8), random(8, 8, seed=1), mesh_of(size)
    blocks = [Shard(0), Shard(1)]
    for where in ([[each] for each in blocks], [blocks])[mesh.ndim - 1]:
        left, right = (distribute(each, mesh, where) for each in (a, b))
        assert (left @ right).placements == tuple(where)
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        left @ distribute(random(5, 4), mesh, where)


def case_solutions(rank, size):
    for dtype, tolerance in kinds(size):
        compare(
            lambda a, b: [linalg.solve(a, b)], [positive(9, dtype=dtype), random(9, 4, dtype=dtype)], size, tolerance
        )
    compare(lambda a, b: [linalg.solve(a, b)], [random(2, 7, 7), random(2, 7, 3)], size)
    compare(lambda a, b: [linalg.solve(a, b, left=False)], [random(8, 8), random(3, 8)], size)
    compare(lambda a: [linalg.inv(a)], [random(7, 7)], size)
    compare(lambda a: [linalg.solve(a, a[:, 0])], [random(7, 7)], size)


def case_determinants(rank, size):
    compare(lambda a: [linalg.det(a), linalg.slogdet(a)[1]], [random(7, 7)], size)


def case_lu(rank, size):
    for shape in ((8, 8), (9, 5), (5, 9), (2, 6, 6), (1, 1)):
        compare(lambda a: [linalg.lu_factor(a)[0]], [random(*shape)], size)
    a, b = random(7, 7), random(7, 3)
    LU, pivots = linalg.lu_factor(a)
    for mesh, (where, other) in distributions(size, 2, 2):
        factors, found = linalg.lu_factor(distribute(a, mesh, where))
        assert found.full_tensor().equal(pivots)
        side = distribute(b, mesh, other)
        for adjoint in (False, True):
            want = linalg.lu_solve(LU, pivots, b, adjoint=adjoint)
            torch.testing.assert_close(linalg.lu_solve(factors, found, side, adjoint=adjoint).full_tensor(), want)


def case_cholesky(rank, size):
    for dtype, tolerance in kinds(size):
        for upper in (False, True):
            factor = functools.partial(linalg.cholesky, upper=upper)
            compare(listed(factor), [positive(8, dtype=dtype)], size, tolerance)
    compare(lambda a: [linalg.cholesky(a)], [positive(7, (2,))], size)
    compare(lambda a, b: [torch.cholesky_solve(b, linalg.cholesky(a))], [positive(7), random(7, 3)], size)
    compare(lambda a, b: [torch.cholesky_solve(b, a, upper=True)], [positive(7).triu(), random(7, 3)], size)


def case_triangles(rank, size):
    triangle = random(8, 8, dtype=torch.complex128) / 8 + torch.eye(8)
    for upper, left, unit in itertools.product((False, True), repeat=3):
        solve = functools.partial(linalg.solve_triangular, upper=upper, left=left, unitriangular=unit)
        compare(listed(solve), [triangle, random(8, 8, dtype=torch.complex128)], size)
    compare(lambda a: [a.tril(1), a.triu(-2), a.mT.tril()], [random(2, 5, 7)], size)


def case_qr(rank, size):
    for shape in ((9, 9), (13, 10), (5, 9), (2, 6, 5)):
        compare(lambda a: [*linalg.qr(a)], [random(*shape)], size)
    compare(lambda a: [*linalg.qr(a)], [random(7, 6, dtype=torch.complex128)], size)
    for mesh, (where,) in distributions(size, 2):
        a = random(7, 4)
        Q, R = linalg.qr(distribute(a, mesh, where), mode="complete")
        torch.testing.assert_close(Q.full_tensor(), linalg.qr(a, mode="complete")[0])
        torch.testing.assert_close(R.full_tensor(), linalg.qr(a, mode="complete")[1])


def case_qr_of_tall_matrices(rank, size):
    """Rows of R may have other signs than those of one process."""

    def unsigned(a):
        Q, R = linalg.qr(a)
        signs = R.diagonal(0, -2, -1).sgn()
        return [Q * signs.unsqueeze(-2), R * signs.conj().unsqueeze(-1)]

    for shape in ((4 * size, 3), (9 * size + 1, 2), (2, 3 * size + 2, 3)):
        compare(unsigned, [random(*shape)], size)
    compare(unsigned, [random(5 * size, 3, dtype=torch.complex128)], size)
    for mesh, (where,) in distributions(size, 2):
        a = random(6 * size, 4)
        a[:, 2] = a[:, 1]
        Q, R = linalg.qr(distribute(a, mesh, where))
        torch.testing.assert_close((Q @ R).full_tensor(), a)
        torch.testing.assert_close((Q.mH @ Q).full_tensor(), torch.eye(4, dtype=a.dtype))
        assert linalg.qr(distribute(a, mesh, where), mode="r")[1].shape == (4, 4)


def case_singular_values(rank, size):
    def product(a):
        U, S, Vh = linalg.svd(a, full_matrices=False)
        return [S, U @ torch.diag_embed(S.to(U.dtype).sqrt()) @ Vh]

    for shape in ((5 * size, 3), (3, 5 * size + 1), (2, 4 * size, 3)):
        compare(product, [random(*shape)], size, 1e-7)
    compare(product, [random(5 * size, 3, dtype=torch.complex128)], size, 1e-7)
    compare(lambda a: [linalg.svdvals(a)], [random(4 * size, 3)], size)
    compare(lambda a: [linalg.pinv(a)], [random(4 * size, 3)], size, 1e-7)


def case_matrices_without_result(rank, size):
    indefinite = positive(8)
    indefinite[6, 6] = -1
    batch = torch.stack([positive(8), indefinite])
    for mesh, (where, cube) in distributions(size, 2, 3):
        b, c = (distribute(each, mesh, where) for each in (indefinite, 0 * indefinite))
        with pytest.raises(linalg.LinAlgError, match=r"linalg.cholesky: .* leading minor of order 7"):
            linalg.cholesky(b)
        with pytest.raises(linalg.LinAlgError, match=r"linalg.solve: The solver failed because .* singular"):
            linalg.solve(c, b)
        with pytest.raises(linalg.LinAlgError, match=r"linalg.inv: The diagonal element 1 is zero"):
            linalg.inv(c)
        assert linalg.cholesky_ex(b).info.item() == 7
        with pytest.raises(linalg.LinAlgError, match=r"\(Batch element 1\)"):
            linalg.cholesky(distribute(batch, mesh, cube))
        assert linalg.det(c).item() == 0


def case_empty_matrices(rank, size):
    for mesh, (where,) in distributions(size, 2):
        empty = distribute(torch.zeros(0, 0), mesh, where)
        assert linalg.cholesky(empty).shape == linalg.inv(empty).shape == (0, 0)
        tall = distribute(torch.zeros(4, 0), mesh, where)
        assert [each.shape for each in linalg.qr(tall)] == [(4, 0), (0, 0)]
        assert linalg.svdvals(tall).shape == (0,)
        one = distribute(torch.full((1, 1), 4.0), mesh, where)
        assert linalg.cholesky(one).item() == 2


def case_what_gathers_has_a_limit(rank, size):
    a = positive(6)
    for mesh, (where,) in distributions(size, 2):
        given = distribute(a, mesh, where)
        torch.testing.assert_close(linalg.eigvalsh(given).full_tensor(), linalg.eigvalsh(a))
        if all(each == Replicate() for each in where):
            continue
        _gathering.GATHERED_BYTES, before = 100, _gathering.GATHERED_BYTES
        try:
            with pytest.raises(RuntimeError, match=r"call the function with its full_tensor\(\)"):
                linalg.eigh(given)
        finally:
            _gathering.GATHERED_BYTES = before
