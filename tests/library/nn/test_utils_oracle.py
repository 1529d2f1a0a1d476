"""nn.utils beside torch's: limits of gradients, vectors of parameters, parametrizations, norms of weights."""

from __future__ import annotations

import pytest
from harness.programs import check, programs

SETUP = """
m = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
m(x(5, 3)).square().sum().backward()
U, P = nn.utils, nn.utils.parametrizations
import importlib
Z = importlib.import_module(L.__name__ + '.nn.utils.parametrize')
"""
PROGRAMS = programs("""
U.clip_grad_norm_(m.parameters(), 0.5), [p.grad for p in m.parameters()]
---
U.clip_grad_norm_(m.parameters(), 0.5, float('inf')), [p.grad for p in m.parameters()]
---
U.clip_grad_norm_(m[0].weight, 1e6, norm_type=1), m[0].weight.grad, U.get_total_norm([x(3), x(2)])
---
m[0].weight.grad[0, 0] = float('nan')
U.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)
---
U.clip_grad_norm_([], 1.0)
---
U.clip_grad_value_(m.parameters(), 0.1); [p.grad for p in m.parameters()]
---
v = U.parameters_to_vector(m.parameters())
U.vector_to_parameters(v * 2, m.parameters()); v, m(x(1, 3))
---
U.vector_to_parameters([1], m.parameters())
---
w = P.weight_norm(nn.Linear(3, 4)); w, list(w.state_dict()), w.weight, w(x(2, 3)), isinstance(w.weight, nn.Parameter)
---
w = P.weight_norm(nn.Linear(3, 4), dim=None)
w(x(2, 3)).sum().backward(); w.parametrizations.weight.original0, w.parametrizations.weight.original1.grad
---
w = P.spectral_norm(nn.Linear(3, 4)); y = w(x(2, 3)); dict(w.state_dict()), y, L.linalg.matrix_norm(w.weight, 2)
---
w = P.spectral_norm(nn.Linear(3, 4), n_power_iterations=3).eval(); w(x(2, 3)), w
---
P.spectral_norm(nn.Linear(3, 4), n_power_iterations=0)
---
P.spectral_norm(nn.Linear(3, 4), 'other')
---
w = P.orthogonal(nn.Linear(4, 4)); w.weight @ w.weight.T, list(w.state_dict()), w
---
w = P.orthogonal(nn.Linear(4, 4), orthogonal_map='cayley'); w.weight @ w.weight.T
---
w = P.orthogonal(nn.Linear(3, 5)); w.weight.T @ w.weight
---
P.orthogonal(nn.Linear(3, 5), orthogonal_map='other')
---
class Twice(nn.Module):
    def forward(self, x):
        return 2 * x
    def right_inverse(self, x):
        return x / 2
a = Z.register_parametrization(nn.Linear(2, 2), 'weight', Twice())
before = a.weight.detach().clone(); a.weight = L.ones(2, 2)
b = a.parametrizations.weight.original.detach().clone()
with Z.cached():
    same = a.weight is a.weight
done = [Z.is_parametrized(a), Z.is_parametrized(a, 'bias'), Z.type_before_parametrizations(a).__name__, repr(a)]
Z.remove_parametrizations(a, 'weight')
before, b, same, done, a.weight, type(a).__name__, list(a.state_dict())
---
class Twice(nn.Module):
    def forward(self, x):
        return 2 * x
a = nn.Linear(2, 2); Z.register_parametrization(a, 'weight', Twice()); Z.register_parametrization(a, 'weight', Twice())
a.weight, list(a.state_dict()), a.parametrizations.weight, Z.remove_parametrizations(a, 'weight', False).weight
---
Z.register_parametrization(nn.Linear(2, 2), 'other', nn.ReLU())
---
Z.register_parametrization(nn.Linear(2, 2), 'weight', nn.Flatten(0))
---
Z.remove_parametrizations(nn.Linear(2, 2), 'weight')
---
w = U.weight_norm(nn.Linear(3, 4)); y = w(x(2, 3))
list(w.state_dict()), y, U.remove_weight_norm(w), list(w.state_dict())
---
w = U.spectral_norm(nn.Linear(3, 4)); y = w(x(2, 3)); dict(w.state_dict()), y, U.remove_spectral_norm(w)
---
U.remove_weight_norm(nn.Linear(3, 4))
---
U.skip_init(nn.Linear, 2, 3).weight.shape
---
U.skip_init(nn.ReLU)
---
c, b = nn.Conv2d(2, 3, 2, bias=False).eval(), nn.BatchNorm2d(3).eval()
b.running_mean.copy_(x(3)), b.running_var.copy_(x(3, step=0.4).abs() + 0.1)
f = U.fuse_conv_bn_eval(c, b); z = x(2, 2, 4, 4)
f.weight, f.bias, f(z), b(c(z)), c.bias, f.weight.requires_grad, f.bias.requires_grad
---
c, b = nn.ConvTranspose1d(2, 3, 2).eval(), nn.BatchNorm1d(3, affine=False).eval()
b.running_mean.copy_(x(3)), b.running_var.copy_(x(3, step=0.4).abs() + 0.1)
f = U.fuse_conv_bn_eval(c, b, transpose=True); z = x(2, 2, 4)
f(z), b(c(z)), [p.requires_grad for p in f.parameters()], type(f).__name__
---
l, b = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
b.running_mean.copy_(x(3)), b.running_var.copy_(x(3, step=0.4).abs() + 0.1)
f = U.fuse_linear_bn_eval(l, b); f(x(4, 2)), b(l(x(4, 2))), f.weight, f.bias
---
U.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(4).eval())
---
U.fuse_conv_bn_eval(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3).eval())
---
U.fuse_conv_bn_eval(nn.Conv2d(2, 3, 2).eval(), nn.BatchNorm2d(3, track_running_stats=False).eval())
---
n = nn.Sequential(nn.Conv2d(4, 3, 2), nn.Sequential(nn.ConvTranspose2d(2, 2, 2)), nn.Conv3d(1, 2, 2), nn.Linear(2, 3))
U.convert_conv2d_weight_memory_format(n, L.channels_last) is n, [p.stride() for p in n.parameters()]
---
n = nn.Sequential(nn.Conv2d(4, 3, 2), nn.Conv3d(3, 2, 2))
U.convert_conv3d_weight_memory_format(n, L.channels_last_3d); [p.stride() for p in n.parameters()], n[1].weight
---
[importlib.import_module(f'{L.__name__}.nn.utils.{n}').__name__.partition('.')[2]
 for n in ('clip_grad', 'convert_parameters', 'fusion', 'init', 'memory_format')]
---
f = L.func.functional_call
y = x(2, 3)
f(m, {'0.weight': L.ones(4, 3)}, (y,)), f(m, ({'1.bias': L.zeros(2)}, {'1.weight': L.ones(2, 4)}), y), m(y)
---
y = x(2, 3)
L.func.grad(lambda w: L.func.functional_call(m, {'0.weight': w}, (y,)).sum())(L.ones(4, 3))
---
a = nn.Linear(2, 2); b = nn.Sequential(a, a)
L.func.functional_call(b, {'0.weight': L.ones(2, 2)}, x(1, 2))
""")

COUNTER = """
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(L.ones(2))
        self.register_buffer("seen", L.zeros(2))
        self.register_buffer("none", None)
        self.plain, self.word, self.tied = L.full((2,), 3.0), "word", self.w

    def forward(self, x):
        self.seen = self.seen + 1
        return x * self.w + self.seen + self.plain + self.tied

m, one, two = Counter(), L.ones(2), L.full((2,), 2.0)
f = L.func.functional_call
"""

FUNCTIONAL_CALLS = """
[d := {"w": two, "seen": one * 10}, f(m, d, one), d, m.seen, m.w]
f(m, {"other": one}, one), hasattr(m, "other")
f(m, {"none": one}, one), m.none
f(m, {"w": None}, one)
f(m, {"plain": two}, one), m.plain
f(nn.Sequential(m), {"0.plain": two, "0.seen": two}, one)
f(m, {"word": one}, one)
f(m, {"w": 5}, one)
f(m, {"tied": two}, one)
f(m, {"w": two}, one, tie_weights=False)
f(m, {"w": one, "tied": two}, one)
f(m, {"w": two, "seen": one}, one, strict=True), f(m, {"tied": two, "seen": one}, one, strict=True)
f(m, {"w": two, "seen": one}, one, strict=True, tie_weights=False)
f(m, {"w": two, "plain": one, "other": one}, one, strict=True)
f(m, ({"w": two}, {"w": one}), one)
f(m, ({"w": two}, [one]), one)
f(m, 5, one)
f(m, {"": one}, one)
f(m, {"w.data": one}, one)
f(m, {"other.w": one}, one)
"""


@pytest.mark.parametrize("call", FUNCTIONAL_CALLS.strip().splitlines())
def test_functional_call(call: str) -> None:
    check(COUNTER + call)


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(SETUP + text)
