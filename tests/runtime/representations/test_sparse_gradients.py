"""Gradients of sparse tensors: the history is that of the values, and they are sparse tensors of the same places."""

import opweave as torch
import pytest

INDICES = [[0, 1, 1], [2, 0, 2]]


def matrix(values, layout="coo"):
    if layout == "coo":
        return torch.sparse_coo_tensor(INDICES, values, (2, 3))
    return torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], values, (2, 3))


DENSE = torch.tensor([[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]], dtype=torch.float64)
FULL = torch.tensor([[0.5, -1.0, 1.0], [2.0, 0.25, 3.0]], dtype=torch.float64)

FUNCTIONS = {
    "to_dense": lambda s: s.to_dense(),
    "values": lambda s: s.coalesce().values() if s.is_sparse else s.values(),
    "sum": lambda s: s.sum(),
    "sum along": lambda s: s.sum(0).to_dense(),
    "product": lambda s: s @ DENSE,
    "product from the left": lambda s: FULL.t() @ s,
    "vector": lambda s: s @ DENSE[:, 0],
    "both sparse": lambda s: (s @ s.t()).to_dense(),
    "addmm": lambda s: torch.addmm(torch.ones(2, 2, dtype=torch.float64), s, DENSE, beta=2, alpha=3),
    "extremes": lambda s: torch.sparse.mm(s, DENSE, reduce="amax"),
    "elementwise": lambda s: (s.sin() * 2).to_dense(),
    "squares": lambda s: (s * s).to_dense(),
    "beside dense": lambda s: (s * FULL).to_dense() + (FULL + s),
    "union": lambda s: (s + torch.eye(2, 3, dtype=torch.float64, layout=torch.sparse_coo)).to_dense(),
    "transposed": lambda s: s.t().to_dense(),
    "row": lambda s: s[1].to_dense(),
    "element": lambda s: s[1, 2],
    "columns": lambda s: s[:, ::2].to_dense(),
    "joined": lambda s: torch.cat([s, s]).to_dense(),
    "selected": lambda s: s.index_select(0, torch.tensor([1, 1])).to_dense(),
    "softmax": lambda s: torch.sparse.softmax(s, 1).to_dense(),
    "log_softmax": lambda s: torch.sparse.log_softmax(s, 0).to_dense(),
    "sampled": lambda s: torch.sparse.sampled_addmm(s, FULL[:, :2], DENSE.t(), beta=0.5, alpha=2.0).to_dense(),
    "norm": lambda s: s.norm(),
    "converted": lambda s: s.to_sparse_csc().to_dense(),
    "masked": lambda s: (s * 3).sparse_mask(s).to_dense(),
}


@pytest.mark.parametrize("layout", ["coo", "csr"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_of_values(function, layout):
    """First and second derivatives agree with differences."""
    values = torch.tensor([3.0, 4.0, 5.0], dtype=torch.float64, requires_grad=True)

    def of_values(values):
        return function(matrix(values, layout))

    assert torch.autograd.gradcheck(of_values, (values,))
    assert torch.autograd.gradgradcheck(of_values, (values,))


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_of_dense_operands(layout):
    values = torch.tensor([3.0, 4.0, 5.0], dtype=torch.float64)
    dense = DENSE.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda dense: matrix(values, layout) @ dense, (dense,))
    full = FULL.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda full: (matrix(values, layout) * full).to_dense(), (full,))
    assert torch.autograd.gradcheck(lambda full: full - matrix(values, layout), (full,))
    assert torch.autograd.gradcheck(lambda full: full.to_sparse().to_dense(), (full,))
    assert torch.autograd.gradcheck(lambda full: full.sparse_mask(matrix(values, layout)).to_dense(), (full,))


def test_complex():
    values = torch.tensor([1 + 2j, -0.5 + 1j, 3 - 1j], dtype=torch.complex128, requires_grad=True)
    dense = torch.tensor([[1j, 2.0], [0.5, -1j], [1 + 1j, 3.0]], dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(lambda values, dense: matrix(values, "csr") @ dense, (values, dense))


def test_leaf_has_a_sparse_gradient():
    leaf = matrix(torch.tensor([3.0, 4.0, 5.0]), "csr").requires_grad_()
    assert leaf.is_leaf
    assert leaf.requires_grad
    assert leaf.grad is None
    (leaf @ torch.ones(3, 2)).sum().backward()
    assert leaf.grad.layout is torch.sparse_csr
    assert leaf.grad.values().tolist() == [2, 2, 2]
    (leaf * leaf).sum().backward()
    assert leaf.grad.values().tolist() == [8, 10, 12]
    leaf.grad = None
    assert leaf.grad is None


def test_values_that_were_given_stay_without_a_gradient():
    values = torch.tensor([1.0, 2.0, 3.0])
    leaf = matrix(values).requires_grad_()
    assert not values.requires_grad
    values[0] = 7
    assert leaf._values()[0] == 7


def test_autograd_grad_takes_and_gives_sparse_tensors():
    leaf = matrix(torch.tensor([3.0, 4.0, 5.0])).requires_grad_()
    (grad,) = torch.autograd.grad(leaf * leaf, [leaf], grad_outputs=[torch.ones(2, 3)])
    assert grad.layout is torch.sparse_coo
    assert grad._values().tolist() == [6, 8, 10]
    (grad,) = torch.autograd.grad((leaf * leaf).sum(), [leaf], create_graph=True)
    grad.sum().backward()
    assert leaf.grad._values().tolist() == [2, 2, 2]
    torch.autograd.backward([leaf * 2], [leaf.detach()])
    assert leaf.grad._values().tolist() == [8, 10, 12]


def test_gradient_of_another_shape_is_refused():
    leaf = matrix(torch.tensor([3.0, 4.0, 5.0])).requires_grad_()
    with pytest.raises(
        RuntimeError, match=r"a gradient has a shape of opweave.Size\(\[3\]\) and the tensor has a shape"
    ):
        (leaf * 2).backward(torch.ones(3))


def test_hooks_see_sparse_gradients():
    leaf = matrix(torch.tensor([3.0, 4.0, 5.0])).requires_grad_()
    seen = []
    leaf.register_hook(lambda grad: seen.append(grad) or grad * 2)
    leaf.sum().backward()
    assert seen[0].layout is torch.sparse_coo
    assert leaf.grad._values().tolist() == [2, 2, 2]


def test_in_place():
    leaf = matrix(torch.tensor([3.0, 4.0, 5.0])).requires_grad_()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        leaf.mul_(2)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        leaf.add_(torch.eye(2, 3, layout=torch.sparse_coo))
    product = leaf * 1
    product.mul_(3)
    product.sum().backward()
    assert leaf.grad._values().tolist() == [3, 3, 3]
    with torch.no_grad():
        leaf.mul_(2)
    assert leaf._values().tolist() == [6, 8, 10]
    assert leaf.requires_grad


def test_detached():
    leaf = matrix(torch.tensor([3.0, 4.0, 5.0])).requires_grad_()
    assert not leaf.detach().requires_grad
    assert not leaf.data.requires_grad
    assert repr(leaf).endswith("requires_grad=True)")
    assert repr(leaf * 2).endswith("grad_fn=<MulBackward0>)")
