"""What sparse tensors are made of is checked, and operators check what may have changed since."""

import contextlib
import random
import warnings

import numpy as np
import opweave as torch
import pytest

ONE = torch.ones(3)

COORDINATES = {
    "outside": (([[0, 5]], [1.0, 2.0], (3,)), "for dim 0, size is 3 but found index 5"),
    "negative": (([[0, -1]], [1.0, 2.0], (3,)), "found negative index -1 for dim 0"),
    "negative without a size": (([[0, -1]], [1.0, 2.0]), "found negative index -1 for dim 0"),
    "numbers of elements": (([[0, 1]], [1.0, 2.0, 3.0], (3,)), "nnz from indices: 2, nnz from values: 3"),
    "one dimension": (([0, 1], [1.0, 2.0], (3,)), r"indices must be sparse_dim x nnz, but got: \[2\]"),
    "too few sizes": (([[0], [1]], [1.0], (3,)), r"len\(size\) = 1, sparse_dim = 2, dense_dim = 0"),
    "dense sizes": (([[0]], [[1.0, 2.0]], (3, 3)), r"values has incorrect size, expected \[1, 3\], got \[1, 2\]"),
    "complex indices": (([[1j]], [1.0], (3,)), "indices must be an int64 tensor type, but got opweave.complex64"),
    "negative sizes": (([[0]], [1.0], (-3,)), r"must not be negative, but got \[-3\]"),
    "too many elements": (([[0], [0]], [1.0], (2**40, 2**40)), "numel: integer multiplication overflow"),
}


@pytest.mark.parametrize(("arguments", "message"), COORDINATES.values(), ids=COORDINATES)
def test_coordinates(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        torch.sparse_coo_tensor(*arguments)


def test_coalesced_must_be_sorted():
    with pytest.raises(RuntimeError, match="cannot set is_coalesced to true if indices correspond to uncoalesced"):
        torch.sparse_coo_tensor([[1, 0]], [1.0, 2.0], (3,), is_coalesced=True)
    with pytest.raises(RuntimeError, match="cannot set is_coalesced to true"):
        torch.sparse_coo_tensor([[1, 1]], [1.0, 2.0], (3,))._coalesced_(True)


V = [3.0, 4.0, 5.0]
ROWS = {
    "outside": (
        ([0, 1, 3], [2, 0, 2], V, (2, 2)),
        r"`0 <= col_indices < ncols` is not satisfied: got 2, and ncols is 2",
    ),
    "negative": (([0, 1, 3], [2, -1, 0], V, (2, 3)), "`0 <= col_indices < ncols` is not satisfied: got -1"),
    "not sorted": (([0, 1, 3], [2, 2, 0], V, (2, 3)), "are sorted and distinct .* 0 follows 2 at position 2"),
    "twice": (([0, 1, 3], [2, 0, 0], V, (2, 3)), "are sorted and distinct .* 0 follows 0 at position 2"),
    "end": (([0, 1, 2], [2, 0, 1], V, (2, 3)), r"-1\] == nnz` is not satisfied: got 2, and nnz is 3"),
    "start": (([1, 1, 3], [2, 0, 1], V, (2, 3)), r"0\] == 0` is not satisfied: got 1"),
    "falling": (([0, 2, 1, 3], [0, 1, 1], V, (3, 3)), "<= ncols` is not satisfied: got -1"),
    "columns": (([0, 1, 3], [2, 0], V, (2, 3)), r"col_indices.shape\[-1\] must be equal to nnz \(=3\) .* but got 2"),
    "rows": (([0, 3], [2, 0, 1], V, (2, 3)), r"the number of rows \+ 1 \(=3\), but got 2"),
    "dimensions": (([0, 1, 3], [2, 0, 2], V, (3,)), r"dimensionalities \(=0 \+ 2 \+ 0\) but got 1"),
    "dtypes": (([0.0, 1, 3], [2, 0, 2], V, (2, 3)), "must have the same dtype, bot got Float and Long"),
    "no int64": (([0.0, 1, 3], [2.0, 0, 2], V, (2, 3)), "dtype must be Int or Long, but got Float"),
    "without dimensions": ((5, [2, 0, 2], V, (2, 3)), "crow_indices must have dimensionality >= 1 but got 0"),
    "batches": (([[0, 1], [0, 1]], [[0], [1]], [[1.0], [2.0]], (3, 1, 2)), r"batch dimensions \(=\[3\]\)"),
}


@pytest.mark.parametrize(("arguments", "message"), ROWS.values(), ids=ROWS)
def test_rows(arguments, message):
    with pytest.raises(RuntimeError, match=message):
        torch.sparse_csr_tensor(*arguments)


def test_columns_and_blocks():
    with pytest.raises(RuntimeError, match="`0 <= row_indices < nrows` is not satisfied: got 2, and nrows is 2"):
        torch.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 2], V, (2, 3))
    with pytest.raises(RuntimeError, match=r"tensor shape\[1\] \(=5\) must be divisible with blocksize\[1\] \(=2\)"):
        torch.sparse_bsr_tensor([0, 1, 2], [1, 0], torch.ones(2, 2, 2), (4, 5))
    with pytest.raises(RuntimeError, match="expected sparse compressed tensor layout but got Sparse"):
        torch.sparse_compressed_tensor([0, 1], [0], [1.0], (1, 1), layout=torch.sparse_coo)
    with pytest.raises(RuntimeError, match=r"makes tensors of layout opweave\.sparse_csr, but got layout"):
        torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), layout=torch.sparse_csc)


def test_types():
    with pytest.raises(TypeError, match=r"argument 'size' .* must be tuple of ints, not str"):
        torch.sparse_coo_tensor([[0]], [1.0], "a")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'values'"):
        torch.sparse_csr_tensor([0, 1], [0])
    with pytest.raises(TypeError, match="but expected indices, values and a size, or a size alone"):
        torch.sparse_coo_tensor()


def test_whether_invariants_are_checked():
    invariants = torch.sparse.check_sparse_tensor_invariants
    assert invariants.is_enabled()
    torch.sparse_coo_tensor([[5]], [1.0], (3,), check_invariants=False)
    with invariants(enable=False):
        outside = torch.sparse_coo_tensor([[5]], [1.0], (3,))
        with pytest.raises(RuntimeError, match="found index 5"):
            torch.sparse_coo_tensor([[5]], [1.0], (3,), check_invariants=True)
    assert invariants.is_enabled()
    with pytest.raises(IndexError, match="sparse index 5 is out of bounds for dimension 0 with size 3"):
        outside.to_dense()


def test_what_has_no_rule_says_so():
    x = torch.eye(3, layout=torch.sparse_coo)
    for call, name, layout in (
        (x.cos, "cos", "sparse_coo"),
        (x.to_sparse_csr().exp, "exp", "sparse_csr"),
        (lambda: x + 1, "add", "sparse_coo"),
        (lambda: x.cumsum(0), "cumsum", "sparse_coo"),
        (lambda: torch.ones_like(x), "ones_like", "sparse_coo"),
        (lambda: x.expand(2, 3, 3), "expand", "sparse_coo"),
        (lambda: x.argmax(), "argmax", "sparse_coo"),
        (lambda: x.max(0), "max", "sparse_coo"),
    ):
        with pytest.raises(NotImplementedError, match=rf"^{name}\(\) is not implemented for .* {layout}.*to_dense\(\)"):
            call()


def test_layouts_that_cannot_mix():
    x = torch.eye(3, layout=torch.sparse_coo)
    with pytest.raises(RuntimeError, match="self layout is SparseCsr and src layout is Sparse"):
        x.to_sparse_csr().copy_(x)
    with pytest.raises(RuntimeError, match="the result is dense and cannot overwrite a tensor of layout sparse_coo"):
        x.add_(torch.ones(3, 3))
    with pytest.raises(RuntimeError, match="a dense tensor was found at position 1"):
        torch.cat([x, torch.ones(3, 3)])
    with pytest.raises(RuntimeError, match=r"of the same size, but got \[3, 3\] and \[2, 2\]"):
        torch.add(x, torch.eye(2, layout=torch.sparse_coo))
    with pytest.raises(RuntimeError, match="must be a sparse tensor, but it is dense; use to_sparse"):
        torch.sparse.softmax(torch.ones(2, 2), 1)
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(3x3 and 2x2\)"):
        x @ torch.ones(2, 2)
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        x @ torch.ones(3, 3, dtype=torch.float64)


# ---- indices that change after they were checked -----------------------------------------------------------------

USES = (
    lambda s: s.to_dense(),
    lambda s: s @ torch.ones(s.shape[1], 2),
    lambda s: torch.ones(2, s.shape[0]) @ s,
    lambda s: s @ torch.ones(s.shape[1]),
    lambda s: s @ s.t(),
    lambda s: s.t() @ s,
    lambda s: s * torch.ones(s.shape),
    lambda s: torch.ones(s.shape) + s,
    lambda s: s + s.clone(),
    lambda s: s * s.clone(),
    lambda s: s.sum(0),
    lambda s: s.sum(1),
    lambda s: s[0],
    lambda s: s[:, ::2],
    lambda s: s.t().to_sparse_csr(),
    lambda s: s.to_sparse_csc(),
    lambda s: s.to_sparse(),
    lambda s: s.coalesce(),
    lambda s: s.index_select(1, torch.tensor([0, 1])),
    lambda s: torch.cat([s, s]).to_dense(),
    lambda s: torch.sparse.softmax(s, 1),
    lambda s: torch.sparse.sampled_addmm(s, torch.ones(s.shape[0], 2), torch.ones(2, s.shape[1])),
    lambda s: torch.sparse.mm(s, torch.ones(s.shape[1], 2), reduce="amax"),
    lambda s: torch.ones(s.shape).sparse_mask(s),
    lambda s: s.sparse_mask(s.clone()),
    lambda s: torch.equal(s, s.clone()),
    lambda s: s.to_sparse_bsr((1, 1)),
    lambda s: (s.requires_grad_() @ torch.ones(s.shape[1], 2)).sum().backward(),
    repr,
)
WRONG = (-(2**62), -5, -1, 0, 1, 3, 7, 1000, 2**31, 2**62)


@pytest.mark.parametrize("seed", range(4))
def test_no_index_is_trusted(seed):
    """NumPy writes to the memory of indices: operators give some result, or an error of Python."""
    rng = random.Random(seed)
    for _ in range(60):
        rows, columns = rng.randint(1, 5), rng.randint(1, 5)
        dense = torch.rand(rows, columns, generator=torch.Generator().manual_seed(rng.randrange(10**6)))
        compressed = (dense * (dense > 0.4)).to_sparse_csr()
        starts, places = (
            np.array(each.tolist(), np.int64) for each in (compressed.crow_indices(), compressed.col_indices())
        )
        indices = np.array(compressed.to_sparse().indices().tolist(), np.int64).reshape(2, -1)
        values = compressed.values()
        matrix = torch.sparse_csr_tensor(torch.from_numpy(starts), torch.from_numpy(places), values, (rows, columns))
        listed = torch.sparse_coo_tensor(torch.from_numpy(indices), values, (rows, columns), is_coalesced=True)
        for array in (starts, places, indices):
            for _ in range(rng.randint(0, 3) if array.size else 0):
                array.flat[rng.randrange(array.size)] = rng.choice(WRONG)
        for use in USES:
            for tensor in (matrix, listed):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with contextlib.suppress(RuntimeError, IndexError, ValueError, OverflowError):
                        use(tensor.detach())


@pytest.mark.parametrize("seed", range(4))
def test_constructors_of_anything(seed):
    """Whatever tensors are made of, they are refused or work."""
    rng = random.Random(seed)

    def some(*shapes):
        shape = rng.choice(shapes)
        count = int(np.prod(shape))
        return torch.tensor(
            [rng.choice((-1, 0, 1, 2, 3, 2**40)) if rng.random() < 0.2 else rng.randint(0, 2) for _ in range(count)],
            dtype=rng.choice((torch.int64, torch.int32)),
        ).reshape(shape)

    for _ in range(300):
        size = rng.choice((None, (2, 3), (3, 3), (2,), (2, 3, 2), (4, 4)))
        values = torch.ones(rng.choice(((3,), (2,), (3, 2), (2, 2, 2), (0,), ())))
        try:
            if rng.random() < 0.5:
                made = torch.sparse_coo_tensor(some((2, 3), (1, 3), (2, 2), (0, 3), (3,)), values, size)
            else:
                layout = rng.choice((torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc))
                made = torch.sparse_compressed_tensor(
                    some((3,), (4,), (1,), (2, 3)).sort(-1)[0],
                    some((3,), (2,), (2, 3), ()),
                    values,
                    size,
                    layout=layout,
                )
        except (RuntimeError, TypeError, IndexError):
            continue
        if made.numel() < 1000:
            assert made.to_dense().shape == made.shape
        repr(made)


def test_sparse_tensors_where_dense_ones_are_wanted():
    x, dense = torch.eye(3, layout=torch.sparse_coo), torch.ones(3, 3)
    with pytest.raises(RuntimeError, match=r"expected dense tensors of indices and values, but got layout opweave\.sp"):
        torch.sparse_coo_tensor(x.indices(), x)
    with pytest.raises(RuntimeError, match="expected dense tensors of indices and values"):
        torch.sparse_csr_tensor([0, 1], [0], x)
    with pytest.raises(NotImplementedError, match="the list of numbers must be dense, and the tensor sparse"):
        dense.index_select(0, x)
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        dense.data = x
    with pytest.raises(TypeError, match="the data of a sparse tensor must be a sparse tensor, but got Tensor"):
        x.data = dense
    with pytest.raises(NotImplementedError, match="assignment to elements is not implemented for tensors of layout"):
        x[0, 0] = 5
    assert dense.tolist() == torch.ones(3, 3).tolist()


def test_arguments_of_other_types():
    x = torch.eye(3, layout=torch.sparse_coo)
    with pytest.raises(TypeError, match=r"argument 'mat2' \(position 2\) must be Tensor, not int"):
        torch.mm(x, 5)
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        x.index_select(0, [0])
    with pytest.raises(RuntimeError, match=r"Expected dtype int32 or int64 .* but got opweave\.float32"):
        x.index_select(0, torch.tensor([0.0]))
    with pytest.raises(
        IndexError, match=r"index contains 5 that is out of range for tensor of size \[3, 3\] at dimension 0"
    ):
        x.index_select(0, torch.tensor([5]))
    with pytest.raises(TypeError, match=r"argument 'sparse_dim' \(position 1\) must be int, not float"):
        torch.ones(2).to_sparse(1.5)


def test_parts_are_not_overwritten():
    """A part has memory of its own: what is written to it would be lost."""
    x = torch.eye(3, layout=torch.sparse_coo)
    for write in (lambda: x[1:].mul_(2), lambda: x[0].zero_(), lambda: x[:, 1:].copy_(x[:, :2])):
        with pytest.raises(
            NotImplementedError, match=r"parts of sparse tensors have memory of their own, .* clone\(\)"
        ):
            write()
    assert x[1:].clone().mul_(2).sum() == 4
    x.t().mul_(2)  # the same elements in the same memory
    assert x.sum() == 6
    with pytest.raises(NotImplementedError):
        torch.diagonal_scatter(x, torch.ones(3).to_sparse())
    with pytest.raises(NotImplementedError, match="along sparse and dense ones"):
        torch.ones(2, 3, 3).to_sparse(2).diagonal(0, 1, 2)
    with pytest.raises(NotImplementedError, match=r"^fill_\(\) is not implemented for tensors of layout sparse_coo"):
        torch.fill(x, 1.0)
