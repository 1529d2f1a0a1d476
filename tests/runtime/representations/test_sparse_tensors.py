"""Sparse tensors as tensors: memory that is shared, layouts, copies, writes, files, neighbours, gradients of tables."""

import copy
import gc
import io
import pickle
import weakref

import numpy as np
import opweave as torch
import pytest
from opweave.testing import assert_close
from scipy import sparse as scipy_sparse

INDICES = [[0, 1, 1], [2, 0, 2]]
DENSE = [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]
LAYOUTS = (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def sparse(layout=torch.sparse_coo, **options):
    blocks = (1, 3) if layout in LAYOUTS[3:] else None
    return torch.tensor(DENSE, **options).to_sparse(layout=layout, blocksize=blocks)


# ---- layouts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", LAYOUTS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_each_layout_becomes_each_other(layout, target):
    blocks = (2, 3) if target in LAYOUTS[3:] else None
    found = sparse(layout).to_sparse(layout=target, blocksize=blocks)
    assert found.layout is target
    assert found.to_dense().tolist() == DENSE


@pytest.mark.parametrize("layout", LAYOUTS[1:], ids=str)
def test_batches(layout):
    dense = torch.tensor([DENSE, [[1.0, 0.0, 0.0], [0.0, 2.0, 6.0]]])
    blocks = (1, 1) if layout in LAYOUTS[3:] else None
    found = dense.to_sparse(layout=layout, blocksize=blocks)
    assert found.to_dense().tolist() == dense.tolist()
    assert found._nnz() == 3
    assert found[1].layout is layout
    assert found[1].to_dense().tolist() == dense[1].tolist()
    assert found.transpose(1, 2).to_dense().tolist() == dense.transpose(1, 2).tolist()
    assert (found @ torch.ones(2, 3, 2)).tolist() == (dense @ torch.ones(2, 3, 2)).tolist()
    with pytest.raises(RuntimeError, match=r"same number of specified elements per batch, but got \[3, 2\]"):
        torch.stack([dense[0], torch.eye(2, 3)]).to_sparse(layout=layout, blocksize=blocks)


def test_hybrid():
    dense = torch.arange(24.0).reshape(2, 3, 4)
    found = dense.to_sparse(2)
    assert (found.sparse_dim(), found.dense_dim()) == (2, 1)
    assert found.values().shape == (6, 4)
    assert found[1].to_dense().tolist() == dense[1].tolist()
    assert found[:, 1:, ::2].to_dense().tolist() == dense[:, 1:, ::2].tolist()
    assert found.sum(2).to_dense().tolist() == dense.sum(2).tolist()
    assert found.sum((0, 1)).tolist() == dense.sum((0, 1)).tolist()
    assert (found * dense).to_dense().tolist() == (dense * dense).tolist()
    assert dense.to_sparse_csr(dense_dim=1).to_dense().tolist() == dense.tolist()
    with pytest.raises(NotImplementedError, match="takes no hybrid tensors"):
        found @ torch.ones(4, 2)


def test_without_dimensions_and_without_elements():
    number = torch.tensor(5.0).to_sparse()
    assert number._nnz() == 1
    assert number.to_dense().item() == 5
    assert number.item() == 5
    assert torch.tensor(0.0).to_sparse()._nnz() == 0
    nothing = torch.zeros(3, 2).to_sparse()
    assert (nothing @ torch.ones(2, 2)).tolist() == [[0, 0]] * 3
    assert nothing.sum().item() == 0
    assert (nothing + nothing)._nnz() == 0
    assert nothing.t().shape == (2, 3)
    assert torch.zeros(0, 3).to_sparse_csr().to_dense().shape == (0, 3)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_products_of_matrices_without_columns(layout):
    assert (sparse(layout) @ torch.ones(3, 0)).shape == (2, 0)
    assert (torch.ones(0, 2) @ sparse(layout)).shape == (0, 3)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_views_are_those_of_dense_tensors(layout):
    dense, found = torch.tensor(DENSE), sparse(layout)
    for view in (
        lambda t: t.t(),
        lambda t: t[1],
        lambda t: t[:, 2],
        lambda t: t[:, 1:],
        lambda t: t[1:, ::2],
        lambda t: t.unsqueeze(1),
        lambda t: t.reshape(3, 2),
        lambda t: t.flatten(),
        lambda t: t.diagonal(1),
        lambda t: t.unsqueeze(0).permute(2, 0, 1),
        lambda t: t[..., None],
    ):
        assert view(found).to_dense().tolist() == view(dense).tolist()
    assert [each.to_dense().tolist() for each in found.split([1, 2], 1)] == [
        each.tolist() for each in dense.split([1, 2], 1)
    ]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.int32, torch.complex64], ids=str)
def test_values_are_those_of_dense_tensors(layout, dtype):
    dense, found = torch.tensor(DENSE).to(dtype), sparse(layout).to(dtype)
    other = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]).to(dtype)
    for function in (
        lambda t, o: t * 2,
        lambda t, o: t + o,
        lambda t, o: t - o,
        lambda t, o: t * o,
        lambda t, o: -t,
        lambda t, o: t.sgn(),
        lambda t, o: t.sum(0),
        lambda t, o: t.sum(1, keepdim=True),
        lambda t, o: t @ o.t(),
        lambda t, o: torch.cat([t, o], 1),
    ):
        both = function(found, other.to_sparse(layout=layout, blocksize=(1, 3) if layout in LAYOUTS[3:] else None))
        assert_close(both.to_dense(), function(dense, other))
    assert_close(found @ other.t(), dense @ other.t())
    assert_close(other.t() @ found, other.t() @ dense)
    assert_close(other + found, other + dense)


def test_operators_that_keep_zeros_are_found():
    """All functions of one tensor give what they give of dense ones, or say that their result is dense."""
    found = sparse()
    kept = []
    for name in ("sin", "cos", "exp", "expm1", "log1p", "sqrt", "sigmoid", "erf", "erfc", "relu", "ceil", "isnan"):
        try:
            result = getattr(found, name)()
        except NotImplementedError:
            assert getattr(torch.zeros(1), name)().item() != 0
            continue
        kept.append(name)
        assert_close(result.to_dense(), getattr(found.to_dense(), name)())
    assert kept == ["sin", "expm1", "log1p", "sqrt", "erf", "relu", "ceil", "isnan"]
    for low, keeps in ((-1.0, True), (0.5, False)):
        if keeps:
            assert found.clamp(low, 4.0).to_dense().tolist() == [[0, 0, 3], [4, 0, 4]]
        else:
            with pytest.raises(NotImplementedError, match="its result is not zero where the tensor is"):
                found.clamp(low, 4.0)


def test_only_linear_functions_leave_places_twice():
    twice = torch.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (2,))
    assert (twice * 2)._nnz() == 2
    assert (-twice)._nnz() == 2
    assert (twice / 3)._nnz() == 2
    assert (twice.long() * 3)._nnz() == 2
    assert (twice.half() / 3)._nnz() == 2
    for function in (torch.square, torch.abs, lambda t: t.clamp(-1, 1), lambda t: t.clamp(-(2.0**90), 2.0**90)):
        assert function(twice)._nnz() == 1
    assert twice.abs().to_dense().tolist() == [3, 0]
    assert twice.clamp(-1, 1).to_dense().tolist() == [1, 0]


def test_functions_of_integers_that_stand_at_a_place_twice():
    """They are those of the sum, which wraps around: of a dense tensor's element."""
    ones = torch.sparse_coo_tensor([[0, 0]], torch.tensor([1, 1], dtype=torch.uint8), (2,))
    for function in (torch.asin, torch.atanh, torch.sin, torch.sqrt, torch.neg, torch.sign):
        assert_close(function(ones).to_dense(), function(ones.to_dense()), equal_nan=True)
    large = torch.sparse_coo_tensor([[0, 0]], torch.tensor([60, 60], dtype=torch.uint8), (2,))
    for function in (lambda t: t.clamp(max=100), lambda t: t * 3, lambda t: (t * 3) * 0.5, lambda t: t / 3):
        assert_close(function(large).to_dense(), function(large.to_dense()))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.bool, torch.float16, torch.int64])
def test_selection_keeps_the_dtype(dtype):
    hybrid = torch.sparse_coo_tensor([[0, 1, 1]], torch.tensor([[1, 2], [200, 4], [100, 6]]).to(dtype), (2, 2))
    for found in (hybrid, hybrid.coalesce()):
        assert_close(found[1], found.to_dense()[1])
        assert found[1].dtype is dtype
        assert_close(found[1, 0], found.to_dense()[1, 0])


def test_index_select_counts_from_the_end():
    found = sparse()
    assert_close(found.index_select(1, torch.tensor([-1, 0])).to_dense(), found.to_dense()[:, [-1, 0]])
    for wrong in (-3, 2):
        with pytest.raises(
            IndexError, match=rf"index contains {wrong} that is out of range for tensor of size \[2, 3\]"
        ):
            found.index_select(0, torch.tensor([0, wrong]))


@pytest.mark.parametrize("shape", [(0, 6), (6, 0), (0, 0)])
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_complex_products_without_elements(shape, layout):
    dense = torch.zeros(shape, dtype=torch.complex64)
    for columns in (0, 3):
        other = torch.ones(shape[1], columns, dtype=torch.complex64)
        assert_close(dense.to_sparse(layout=layout) @ other, dense @ other)


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_csc])
def test_no_matrices(layout):
    for shape in ((0, 2, 3), (2, 0, 3), (2, 3, 0)):
        dense = torch.zeros(shape)
        assert_close(dense.to_sparse(layout=layout).to_dense(), dense)


def test_dense_dimensions_that_differ():
    one, other = torch.eye(2).to_sparse(), torch.eye(2).to_sparse(1)
    with pytest.raises(RuntimeError, match="'self' has 2 sparse dimensions while 'other' has 1 sparse dimensions"):
        one + other


# ---- memory -------------------------------------------------------------------------------------------------------


def test_memory_is_shared_with_what_it_is_made_of():
    values = torch.tensor([3.0, 4.0, 5.0])
    found = torch.sparse_coo_tensor(torch.tensor(INDICES), values, (2, 3))
    values[0] = 7
    assert found._values().tolist() == [7, 4, 5]
    assert found.detach()._values().tolist() == [7, 4, 5]
    rows = torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], values, (2, 3))
    rows.values()[1] = 8
    assert values.tolist() == [7, 8, 5]
    assert rows.clone().values().mul_(2).tolist() == [14, 16, 10]
    assert values.tolist() == [7, 8, 5]


def test_cycles_are_collected():
    """Of a tensor and its values, which the hook refers to."""
    x = torch.sparse_coo_tensor([[0, 1]], torch.ones(2), (2,), requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda each: None)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_swapped_with_a_dense_tensor():
    x, y = torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,)), torch.zeros(3)
    torch.utils.swap_tensors(x, y)
    assert (x.layout, x.tolist()) == (torch.strided, [0.0] * 3)
    assert (y.layout, y.to_dense().tolist(), (y + y).layout) == (torch.sparse_coo, [1.0, 2.0], torch.sparse_coo)


def test_has_no_class_of_its_own():
    class Derived(torch.Tensor):
        pass

    x = torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,))
    for make in (x.as_subclass, lambda kind: torch.Tensor._make_subclass(kind, x)):
        with pytest.raises(NotImplementedError, match="a sparse tensor cannot be of a class of its own"):
            make(Derived)


def test_scipy_both_ways():
    for kind, make in (
        (scipy_sparse.csr_array, torch.sparse_csr_tensor),
        (scipy_sparse.csc_array, torch.sparse_csc_tensor),
    ):
        matrix = kind(np.array(DENSE))
        found = make(*[torch.from_numpy(each) for each in (matrix.indptr, matrix.indices, matrix.data)], matrix.shape)
        matrix.data[0] = 9
        assert found.values()[0] == 9
        assert found.to_dense().tolist() == matrix.toarray().tolist()
        parts = [part.numpy() for _, part in found._sparse.parts]
        back = kind((parts[2], parts[1], parts[0]), shape=found.shape)
        back.data[1] = 1
        assert matrix.data[1] == 1
    listed = scipy_sparse.coo_array(np.array(DENSE))
    found = torch.sparse_coo_tensor(np.stack(listed.coords), torch.from_numpy(listed.data), listed.shape)
    listed.data[0] = 9
    assert found._values()[0] == 9
    product = scipy_sparse.csr_array(np.array(DENSE)) @ scipy_sparse.csr_array(np.array(DENSE)).T
    assert (found.to_sparse_csr() @ found.to_sparse_csr().t()).layout is torch.sparse_csr
    assert product.shape == (2, 2)


def test_large_matrix():
    """Of 10⁶ rows and columns, in the memory of its elements."""
    generator = torch.Generator().manual_seed(0)
    places = torch.randint(0, 10**6, (2, 10**5), generator=generator)
    found = torch.sparse_coo_tensor(places, torch.ones(10**5), (10**6, 10**6))
    vector = torch.ones(10**6)
    rows = found.to_sparse_csr()
    assert found.numel() == 10**12
    assert (rows @ vector).sum() == 10**5
    assert (found.t() @ vector).sum() == 10**5
    assert (found * 2).sum() == 2 * 10**5
    assert (rows @ rows).shape == (10**6, 10**6)
    assert torch.sparse_coo_tensor(size=(2**31, 2**31)).t().shape == (2**31, 2**31)


# ---- copies and writes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_copies(layout):
    found = sparse(layout).requires_grad_()
    for copied in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert copied.layout is layout
        assert copied.requires_grad
        assert copied.to_dense().tolist() == DENSE
    assert not found.clone().detach().requires_grad
    assert found.clone().requires_grad


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_files(layout):
    file = io.BytesIO()
    found = sparse(layout)
    torch.save({"weight": found, "layout": layout}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["layout"] is layout
    assert loaded["weight"].layout is layout
    assert loaded["weight"].to_dense().tolist() == DENSE


def test_files_say_whether_tensors_are_coalesced():
    file = io.BytesIO()
    torch.save([torch.sparse_coo_tensor([[1, 0]], [1.0, 2.0]), sparse()], file)
    file.seek(0)
    assert [each.is_coalesced() for each in torch.load(file)] == [False, True]


def test_damaged_file():
    file = io.BytesIO()
    with torch.sparse.check_sparse_tensor_invariants(False):
        torch.save(torch.sparse_coo_tensor([[9]], [1.0], (3,)), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"in the file is damaged: size is inconsistent .* index 9"):
        torch.load(file)


def test_writes():
    found = sparse()
    found.mul_(2)
    assert found.to_dense().tolist() == [[0, 0, 6], [8, 0, 10]]
    found.add_(torch.eye(2, 3, layout=torch.sparse_coo))
    assert found.to_dense().tolist() == [[1, 0, 6], [8, 1, 10]]
    found.copy_(sparse())
    assert found.to_dense().tolist() == DENSE
    dense = torch.ones(2, 3)
    dense.sub_(found)
    assert dense.tolist() == [[1, 1, -2], [-3, 1, -4]]
    dense.mul_(found)
    assert dense.tolist() == [[0, 0, -6], [-12, 0, -20]]
    result = torch.zeros(2, 3, layout=torch.sparse_coo)
    assert torch.mul(found, 3, out=result) is result
    assert result.to_dense().tolist() == [[0, 0, 9], [12, 0, 15]]
    found.zero_()
    assert found._nnz() == 0
    assert found.shape == (2, 3)
    found.sparse_resize_((4, 5), 2, 0)
    assert found.to_dense().tolist() == torch.zeros(4, 5).tolist()
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        sparse().long().add_(sparse())


def test_comparisons():
    one = sparse()
    assert torch.equal(one, one.clone())
    assert torch.equal(one, one.to_sparse_csr())
    assert torch.equal(one, one.to_dense())
    assert not torch.equal(one, one * 2)
    assert not torch.equal(one, one[0])
    assert torch.allclose(one, one + 1e-9 * one)
    assert not torch.allclose(one, one * 2)
    assert_close(one, one.clone())
    with pytest.raises(AssertionError, match="item \\['values'\\]"):
        assert_close(one, one * 2)
    with pytest.raises(AssertionError, match="attribute 'layout' do not match"):
        assert_close(one, one.to_sparse_csr())
    assert_close(one, one.to_sparse_csr(), check_layout=False)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_on_meta(layout):
    found = sparse(layout).to("meta")
    assert found.is_meta
    assert found.device.type == "meta"
    assert found.layout is layout
    assert found.shape == (2, 3)
    assert (found * 2).is_meta
    assert found.to_dense().is_meta
    assert found.sum().is_meta
    assert (found @ torch.ones(3, 4, device="meta")).shape == (2, 4)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        found.to("cpu")


def test_parameter_and_module():
    layer = torch.nn.Linear(3, 2)
    layer.mask = torch.nn.Parameter(sparse(torch.sparse_csr))
    assert dict(layer.named_parameters())["mask"].layout is torch.sparse_csr
    (layer.mask @ torch.ones(3, 1)).sum().backward()
    assert layer.mask.grad.values().tolist() == [1, 1, 1]
    layer.double()
    assert layer.mask.dtype is torch.float64
    assert layer.mask.layout is torch.sparse_csr


# ---- gradients of tables --------------------------------------------------------------------------------------------

WEIGHT = (np.arange(10).reshape(5, 2) / 7).tolist()


def table(**options):
    found = torch.nn.Embedding(5, 2, sparse=True, **options)
    found.weight.data = torch.tensor(WEIGHT)
    return found


def test_gradient_of_a_table_has_the_rows_that_were_used():
    found = table(padding_idx=0)
    found(torch.tensor([[1, 1], [3, 0]])).sum().backward()
    grad = found.weight.grad
    assert grad.layout is torch.sparse_coo
    assert not grad.is_coalesced()
    assert grad._indices().tolist() == [[1, 1, 3]]
    found(torch.tensor([2])).sum().backward()
    assert found.weight.grad.coalesce().indices().tolist() == [[1, 2, 3]]
    found.weight.sum().backward()
    assert found.weight.grad.tolist() == [[1, 1], [3, 3], [2, 2], [2, 2], [1, 1]]
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
        table(scale_grad_by_freq=True)(torch.tensor([1])).sum().backward()


@pytest.mark.parametrize(
    ("optimizer", "options", "rows"),
    [
        ("SparseAdam", {"lr": 0.1}, [[-0.00316, 0.1343], [0.50755, 0.6504], [0.55914, 0.70159], [0.84417, 0.98683]]),
        (
            "SparseAdam",
            {"lr": 0.1, "maximize": True},
            [[0.58002, 0.72412], [0.63531, 0.77817], [1.15764, 1.30049], [1.44333, 1.58617]],
        ),
        ("Adagrad", {"lr": 0.1}, [[0.08801, 0.21698], [0.47143, 0.61429], [0.63923, 0.78046], [0.92212, 1.06406]]),
    ],
    ids=["SparseAdam", "uphill", "Adagrad"],
)
def test_optimizers_take_them(optimizer, options, rows):
    """The tables after three steps are torch's."""
    found = table(padding_idx=0)
    steps = getattr(torch.optim, optimizer)(found.parameters(), **options)
    for row in range(3):
        steps.zero_grad()
        (found(torch.tensor([[1, 1, 3], [0, 4, row]])) ** 2).sum().backward()
        steps.step()
    assert np.allclose(found.weight[1:].tolist(), rows, atol=1e-5)
    assert np.allclose(found.weight[0].tolist(), WEIGHT[0])


def test_sparse_adam_refuses():
    found = torch.nn.Embedding(5, 2)
    found(torch.tensor([1])).sum().backward()
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        torch.optim.SparseAdam(found.parameters()).step()
    with pytest.raises(ValueError, match="SparseAdam requires dense parameter tensors"):
        torch.optim.SparseAdam([sparse().requires_grad_()])


def test_gradcheck_takes_sparse_tensors():
    found = sparse(dtype=torch.float64).requires_grad_()
    dense = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.sparse.mm, (found, dense), masked=True)
    assert torch.autograd.gradcheck(lambda s: (s.sin(), s.t()), (found,), masked=True)
    assert torch.autograd.gradgradcheck(lambda s: s * s, (found,), masked=True)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda s: s * s.detach(), (found,), masked=True)
