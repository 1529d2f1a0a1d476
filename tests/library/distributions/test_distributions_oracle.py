"""Distributions beside torch's: moments, densities, quantiles, entropies, samples under a seed, and gradients."""

from __future__ import annotations

import pytest
from harness.oracle import Like
from harness.programs import check, programs

LIKE = Like(rtol=3e-5, atol=5e-6, strides=False, grad=False, few=24)
# A distribution, and values for it.
CASES = """
Normal(x(3), 0.5 + x(3).abs()) | x(2, 3)
Normal(0.0, 1.0) | x(4)
Laplace(x(3), 0.5 + x(3).abs()) | x(2, 3)
Cauchy(x(3), 0.5 + x(3).abs()) | x(2, 3)
HalfNormal(0.5 + x(3).abs()) | x(2, 3).abs()
HalfCauchy(0.5 + x(3).abs()) | x(2, 3).abs()
Uniform(-1.5 * L.ones(3), L.tensor([1.0, 2.0, 3.0])) | x(2, 3)
Gumbel(x(3), 0.5 + x(3).abs()) | x(2, 3)
LogNormal(x(3), 0.5 + x(3).abs()) | x(2, 3).exp()
Weibull(0.5 + x(3).abs(), 1 + x(3).abs()) | x(2, 3).abs() + 0.1
Pareto(0.5 + x(3).abs(), 2.5 + x(3).abs()) | x(2, 3).abs() + 2
Exponential(0.5 + x(3).abs()) | x(2, 3).abs()
Gamma(0.5 + x(3).abs(), 1.5) | x(2, 3).abs() + 0.1
InverseGamma(2.5 + x(3).abs(), 1.5) | x(2, 3).abs() + 0.1
Chi2(0.5 + x(3).abs()) | x(2, 3).abs() + 0.1
Beta(0.5 + x(3).abs(), 1 + x(3).abs()) | x(2, 3).sigmoid()
Dirichlet(0.5 + x(2, 3).abs()) | x(4, 2, 3).softmax(-1)
StudentT(2.5 + x(3).abs(), x(3), 0.5) | x(2, 3)
FisherSnedecor(5 + x(3).abs(), 6 + x(3).abs()) | x(2, 3).abs() + 0.1
Bernoulli(x(3).sigmoid()) | L.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
Bernoulli(logits=x(3)) | L.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
Geometric(x(3).sigmoid()) | i(5, 2, 3)
Binomial(6, x(3).sigmoid()) | i(5, 2, 3)
NegativeBinomial(6.0, logits=x(3)) | i(5, 2, 3)
Poisson(0.5 + x(3).abs()) | i(5, 2, 3)
Categorical(x(2, 3).softmax(-1)) | i(3, 4, 2)
Categorical(logits=x(3)) | i(3, 4)
OneHotCategorical(logits=x(3)) | L.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
Multinomial(5, logits=x(3)) | L.tensor([[1.0, 4.0, 0.0], [2.0, 1.0, 2.0]])
Independent(D.Normal(x(2, 3), L.ones(2, 3)), 1) | x(4, 2, 3)
ContinuousBernoulli(x(3, dtype='float64').sigmoid()) | x(2, 3, dtype='float64').sigmoid()
ContinuousBernoulli(logits=L.tensor([0.001, -3.0, 4.0])) | x(2, 3).sigmoid()
Kumaraswamy(0.5 + x(3).abs(), 1 + x(3).abs()) | x(2, 3).sigmoid()
LogisticNormal(x(3), 0.5 + x(3).abs()) | x(2, 4).softmax(-1)
GeneralizedPareto(x(3), 0.5 + x(3).abs(), L.tensor([0.0, 0.3, -0.7])) | x(3) + 0.1 + x(2, 3).abs() / 2
RelaxedBernoulli(L.tensor(0.7), logits=x(3)) | x(2, 3).sigmoid()
RelaxedOneHotCategorical(L.tensor([0.7]), x(2, 3).softmax(-1)) | x(4, 2, 3).softmax(-1)
VonMises(x(3), 0.5 + 4 * x(3).abs()) | x(2, 3)
LKJCholesky(3, 0.5 + x(2).abs()) | L.linalg.cholesky(L.eye(3) + 0.3 * (1 - L.eye(3))).expand(2, 3, 3)
Wishart(L.tensor([4.0, 5.5]), L.eye(3) + 0.2) | (L.eye(3) + 0.3).expand(2, 3, 3)
Wishart(4.5, scale_tril=(L.eye(2) + 0.2).tril()) | L.eye(2) + 0.3
Wishart(4.5, precision_matrix=L.eye(2) + 0.2) | L.eye(2) + 0.3
LowRankMultivariateNormal(x(3), x(2, 3, 2), 0.5 + x(3).abs()) | x(4, 2, 3)
MultivariateNormal(x(3), L.eye(3) + 0.2) | x(2, 3)
MultivariateNormal(x(2, 3), precision_matrix=L.eye(3) + 0.2) | x(2, 3)
MultivariateNormal(x(3), scale_tril=(L.eye(3) + 0.2).tril()) | x(2, 3)
MixtureSameFamily(D.Categorical(logits=x(3)), D.Normal(x(3), 0.5 + x(3).abs())) | x(4)
TransformedDistribution(D.Normal(x(3), 1.0), [D.SigmoidTransform(), D.AffineTransform(1.0, 2.0)]) | x(3).sigmoid() + 1.5
"""


def read(call: str) -> str:
    """What a call gives, or its type of error."""
    return f"""
try:
    out.append({call})
except (NotImplementedError, ValueError) as error:
    out.append(type(error).__name__)"""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_distribution(case: str) -> None:
    made, _, values = case.partition(" | ")
    calls = ["repr(d)", "d.batch_shape", "d.event_shape", "d.mean", "d.variance", "d.stddev", "d.mode", "d.entropy()",
             "d.log_prob(v)", "d.cdf(v)", "d.has_rsample",
             "d.expand((2, *d.batch_shape)).log_prob(v.unsqueeze(0))"]  # fmt: skip
    calls += ["d.icdf(L.tensor(0.3))", "d.enumerate_support()"]
    calls += ["d.sample()", "d.sample((2, 2))", "d.rsample((2,))"]
    text = "D = L.distributions\nout = []\n" + f"d, v = D.{made}, {values}" + "".join(map(read, calls)) + "\nout"
    check(text, LIKE)


PROGRAMS = programs("""
D = L.distributions
d = D.LowRankMultivariateNormal(x(3), x(2, 3, 2), 0.5 + x(3).abs())
d.scale_tril, d.covariance_matrix, d.precision_matrix
---
D = L.distributions
d = D.Wishart(5.0, precision_matrix=L.eye(2) + 0.2)
d.scale_tril, d.covariance_matrix, d.precision_matrix, d.rsample((3,)).shape
---
D = L.distributions
w, k = D.Wishart(L.tensor([4.0, 9.0]), L.eye(3) + 0.2), D.LKJCholesky(4, L.tensor([0.5, 2.0]))
bool(w.support.check(w.sample((50,))).all()), bool(k.support.check(k.sample((50,))).all())
---
D = L.distributions
t, p = L.tensor(0.5, requires_grad=True), g(3)
a, b = D.RelaxedBernoulli(t, logits=p), D.RelaxedOneHotCategorical(t, logits=p)
(a.rsample((4,)).sum() + b.rsample((4,))[..., 0].sum()).backward()
t.grad, p.grad, a.temperature, a.logits, b.probs
---
L.distributions.Wishart(1.5, L.eye(3))
---
L.distributions.LKJCholesky(1)
---
L.distributions.LowRankMultivariateNormal(x(3), x(2, 2), x(3).abs() + 1)
---
D = L.distributions
m, s = g(3), (0.5 + x(3).abs()).requires_grad_()
d = D.Normal(m, s)
d.rsample((2,)).square().sum().backward(); a = m.grad.clone(); d.log_prob(x(3)).sum().backward(); a, m.grad, s.grad
---
D = L.distributions
D.Normal(L.zeros(2), -L.ones(2))
---
D = L.distributions
D.Bernoulli(L.tensor(0.5)).log_prob(L.tensor(0.3))
---
D = L.distributions
D.Bernoulli(L.tensor(0.5), logits=L.tensor(0.5))
---
D = L.distributions
D.Normal(L.zeros(2), L.ones(2)).log_prob(L.zeros(3))
---
D = L.distributions
D.Normal(L.zeros(2), L.ones(2), validate_args=False).log_prob(L.tensor(float('nan')))
---
D = L.distributions
D.Categorical(L.tensor([[0.5, -0.5]]))
---
D = L.distributions
N, K = D.Normal, D.kl_divergence
one, two = 0.5 + x(3).abs(), 1.5 + x(3, step=0.2).abs()
[K(N(x(3), one), N(x(3, step=0.3), two)), K(D.Laplace(x(3), one), D.Laplace(0.0, two)), K(D.Gamma(one, two),
    D.Gamma(two, one)),
 K(D.Beta(one, two), D.Beta(two, one)), K(D.Dirichlet(one), D.Dirichlet(two)), K(D.Exponential(one),
    D.Exponential(two)),
 K(D.Bernoulli(one / 3), D.Bernoulli(two / 3)), K(D.Categorical(one), D.Categorical(two)), K(D.Poisson(one),
    D.Poisson(two)),
 K(D.Geometric(one / 3), D.Geometric(two / 3)), K(D.Uniform(0.0, one), D.Uniform(-1.0, two)), K(D.Cauchy(x(3), one),
    D.Cauchy(x(3), two)),
 K(D.Gumbel(x(3), one), D.Gumbel(x(3), two)), K(D.HalfNormal(one), D.HalfNormal(two)), K(D.LogNormal(x(3), one),
    D.LogNormal(x(3), two)),
 K(D.Binomial(3, one / 3), D.Binomial(3, two / 3)), K(D.OneHotCategorical(one), D.OneHotCategorical(two)),
 K(D.Independent(N(x(3), one), 1), D.Independent(N(x(3), two), 1)), K(D.Uniform(0.0, one), N(x(3), two)),
    K(D.Laplace(x(3), one), N(x(3), two)),
 K(D.MultivariateNormal(x(3), L.eye(3) + 0.2), D.MultivariateNormal(2 * x(3), L.eye(3) + 0.1))]
---
D = L.distributions
D.MultivariateNormal(L.zeros(2), L.tensor([[2.0, 1.0], [0.0, 2.0]]))
---
D = L.distributions
D.MultivariateNormal(L.zeros(2), scale_tril=-L.eye(2))
---
D = L.distributions
D.MultivariateNormal(L.zeros(2), precision_matrix=L.tensor([[2.0, 1.0], [0.0, 2.0]]))
---
D = L.distributions
D.MultivariateNormal(L.zeros(2), L.eye(2)).log_prob(L.tensor([float('nan'), 0.0]))
---
D = L.distributions
D.MultivariateNormal(L.zeros(2), L.eye(2)).expand((3,)).log_prob(L.zeros(3))
---
D = L.distributions
one = L.ones(2)
made = [D.Pareto(one, one, validate_args=v) for v in (True, False)]
made += [D.Weibull(one, one, v) for v in (True, False)] + [D.Gumbel(one, one, v) for v in (True, False)]
made += [D.Kumaraswamy(one, one, v) for v in (True, False)] + [D.MultivariateNormal(one, L.eye(2), None, None, True)]
made += [D.Independent(D.Normal(one, one), 1, v) for v in (True, False)]
made += [D.MixtureSameFamily(D.Categorical(one), D.Normal(one, one), v) for v in (True, False)]
[each.expand((3, *each.batch_shape))._validate_args for each in made]
---
D = L.distributions
one, two = 0.5 + x(3).abs(), 1.5 + x(3, step=0.2).abs()
p, q = D.InverseGamma(one, two), D.HalfCauchy(one)
[D.kl_divergence(p, D.InverseGamma(two, one)), D.kl_divergence(q, D.HalfCauchy(two)),
 isinstance(p, D.TransformedDistribution)]
---
D = L.distributions
D.kl_divergence(D.Normal(0.0, 1.0), D.Categorical(L.ones(3)))
---
T = L.distributions.transforms
v, out = x(2, 3), []
for t in (T.ExpTransform(), T.SigmoidTransform(), T.TanhTransform(), T.SoftplusTransform(),
          T.AffineTransform(1.0, -2.0),
          T.AffineTransform(x(3), 1 + x(3).abs(), event_dim=1), T.StickBreakingTransform(),
          T.ComposeTransform([T.ExpTransform(), T.PowerTransform(2.0)]), T.IndependentTransform(T.ExpTransform(), 1)):
    y = t(v)
    out += [y, t.inv(y), t.log_abs_det_jacobian(v, y), t.domain.event_dim, t.codomain.event_dim, repr(t)]
out
---
T = L.distributions.transforms
a = T.ReshapeTransform((2, 3), (6,)); b = T.LowerCholeskyTransform(); c = T.SoftmaxTransform()
d = a.forward_shape((5, 2, 3))
a(x(4, 2, 3)), a.inv(x(4, 6)).shape, b(x(3, 3)), c(x(3)), d, T.StickBreakingTransform().forward_shape((2, 3))
---
D, C = L.distributions, L.distributions.constraints
[D.biject_to(c)(x(2, 3)) for c in (C.real, C.positive, C.unit_interval, C.interval(-1.0, 2.0), C.simplex,
    C.greater_than(2.0))]
---
T = L.distributions.transforms
t = T.CorrCholeskyTransform(); y = t(x(2, 6))
y, t.inv(y), t.log_abs_det_jacobian(x(2, 6), y), t.forward_shape((5, 6)), t.inverse_shape((5, 4, 4)), t.bijective
---
L.distributions.transforms.CorrCholeskyTransform().forward_shape((5,))
---
T = L.distributions.transforms
t = T.PositiveDefiniteTransform(); y = t(x(3, 3))
y, t.inv(y), t.domain.event_dim, t == T.PositiveDefiniteTransform()
---
T = L.distributions.transforms
t = T.CatTransform([T.ExpTransform(), T.AffineTransform(1.0, -2.0)], 1, [2, 3])
y = t(x(2, 5)); y, t.inv(y), t.log_abs_det_jacobian(x(2, 5), y), t.bijective, t.domain.check(y), t.event_dim, t.length
---
T = L.distributions.transforms
t = T.CatTransform([T.StickBreakingTransform(), T.identity_transform], 0, [2, 1])
a, b = x(3, 4), x(3, 5)
t.event_dim
---
T = L.distributions.transforms
T.CatTransform([T.ExpTransform()], 0, [2])(x(3))
---
T = L.distributions.transforms
t = T.StackTransform([T.ExpTransform(), T.SigmoidTransform()], -1)
y = t(x(3, 2)); y, t.inv(y), t.log_abs_det_jacobian(x(3, 2), y), t.codomain.check(y)
---
D = L.distributions
t = D.transforms.CumulativeDistributionTransform(D.Normal(0.5, 2.0))
y = t(x(4)); y, t.inv(y), t.log_abs_det_jacobian(x(4), y), repr(t.domain), t.sign
---
D, C = L.distributions, L.distributions.constraints
c = C.cat([C.positive, C.unit_interval], 0, [2, 1]); s = C.stack([C.real, C.greater_than(1.0)], 0)
[D.biject_to(c)(x(3)), D.transform_to(s)(x(2)), D.biject_to(C.corr_cholesky)(x(3)),
 D.transform_to(C.lower_cholesky)(x(2, 2)), D.transform_to(C.positive_definite)(x(2, 2))]
---
try:
    found = L.distributions.biject_to(L.distributions.constraints.lower_cholesky)
except NotImplementedError:
    found = None
found
---
D = L.distributions
d = D.MixtureSameFamily(D.Categorical(L.ones(2)), D.Uniform(L.zeros(2), L.tensor([1.0, 2.0])))
repr(d.support), d.support.check(L.tensor([0.5, 1.5, -1.0])), d.support.event_dim, d.support.is_discrete
---
U = L.distributions.utils
m = U.vec_to_tril_matrix(x(2, 6), 0), U.vec_to_tril_matrix(x(3), -1); m, U.tril_matrix_to_vec(m[0], -1)
---
L.distributions.utils.vec_to_tril_matrix(x(4))
---
D, C = L.distributions, L.distributions.constraints
[D.transform_to(c)(x(2, 3)) for c in (C.real, C.positive, C.simplex, C.less_than(-1.0), C.half_open_interval(0.0, 2.0))]
---
C = L.distributions.constraints
v = L.tensor([-1.0, 0.0, 0.5, 1.0, 2.0])
[c.check(v) for c in (C.real, C.positive, C.nonnegative, C.unit_interval, C.boolean, C.nonnegative_integer, C.simplex,
                      C.greater_than(0.5), C.less_than(1.0), C.integer_interval(0, 1), C.positive_integer)]
---
C = L.distributions.constraints
[repr(c) for c in (C.real, C.positive, C.unit_interval, C.boolean, C.simplex, C.integer_interval(0, 3), C.real_vector)]
---
D = L.distributions
d = D.Independent(D.Normal(x(2, 3), L.ones(2, 3)), 1).expand((4, 2))
d.batch_shape, d.event_shape, d.sample().shape, d.entropy()
---
D = L.distributions
d = D.OneHotCategoricalStraightThrough(logits=g(3)); y = d.rsample(); y, y.requires_grad
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(text, LIKE)


FIRST = {
    "Bernoulli": "L.tensor([0.3, 0.6])",
    "Beta": "L.tensor([0.7, 2.0]), L.tensor([1.5, 3.0])",
    "ContinuousBernoulli": "L.tensor([0.2, 0.9])",
    "Exponential": "L.tensor([0.7, 2.0])",
    "Gamma": "L.tensor([0.7, 2.0]), L.tensor([1.5, 3.0])",
    "Gumbel": "L.tensor([-0.3, 1.2]), L.tensor([1.5, 0.8])",
    "Laplace": "L.tensor([-0.3, 1.2]), L.tensor([1.5, 0.8])",
    "Normal": "L.tensor([-0.3, 1.2]), L.tensor([1.5, 0.8])",
    "Pareto": "L.tensor([1.3, 0.5]), L.tensor([3.5, 1.2])",
    "Poisson": "L.tensor([0.7, 2.0])",
    "Uniform": "L.tensor([0.1, -0.5]), L.tensor([0.8, 1.7])",
}
SECOND = {**FIRST, "Binomial": "4, L.tensor([0.3, 0.6])", "Pareto": "L.tensor([0.05, 1.5]), L.tensor([2.5, 1.1])"}


@pytest.mark.parametrize("first", FIRST)
def test_divergences_of_all_types(first: str) -> None:
    """Infinite where the first has values that the second has not; NotImplementedError where torch has none."""
    calls = [f"D.kl_divergence(p, D.{name}({arguments}))" for name, arguments in SECOND.items()]
    text = f"D = L.distributions\nout = []\np = D.{first}({FIRST[first]})" + "".join(map(read, calls)) + "\nout"
    check(text, LIKE)


GRADIENTS = """
Gamma(g(3, dtype=f).exp(), 1.5)
Chi2(g(3, dtype=f).exp())
Beta(g(3, dtype=f).exp(), 0.3)
Beta(2 + 30 * g(3, dtype=f).exp(), 25.0)
Dirichlet(g(2, 3, dtype=f).exp())
StudentT(g(3, dtype=f).exp(), 0.5, 2.0)
FisherSnedecor(g(3, dtype=f).exp(), 3.0)
InverseGamma(g(3, dtype=f).exp(), 2.0)
"""


@pytest.mark.parametrize("made", GRADIENTS.strip().splitlines())
def test_gradients_of_samples(made: str) -> None:
    """The draws of gamma distributed numbers keep the value of the distribution function."""
    text = "D, f = L.distributions, 'float64'\nv = []\ng0, g = g, lambda *n, **o: v.append(g0(*n, **o)) or v[-1]\n"
    check(text + f"y = D.{made}.rsample((50,))\n(y * x(*y.shape, dtype=f)).sum().backward()\ny, v[0].grad", LIKE)


def test_slopes_of_gamma_and_beta() -> None:
    """In every region of the approximations."""
    check(
        """
a, q = (x(30, dtype='float64', step=0.9) * 6).exp(), (x(30, dtype='float64', step=0.31) * 2).exp()
b, s = (x(30, dtype='float64', step=1.7) * 5).exp(), (x(30, dtype='float64', step=1.3) * 4).sigmoid()
(L._standard_gamma_grad(a, a * q), L._standard_gamma_grad(a, a), L._dirichlet_grad(s, a, a + b),
 L._dirichlet_grad(a / (a + b), a, a + b), L._dirichlet_grad(1e-3 * s, a, a + b),
 L._dirichlet_grad(1 - 1e-3 * s, a, a + b))
""",
        LIKE,
    )


def test_divergences_of_vectors_and_matrices() -> None:
    check(
        """
D = L.distributions
m = D.MultivariateNormal(x(3), L.eye(3) + 0.2)
a = D.LowRankMultivariateNormal(x(3), x(2, 3, 2), 0.5 + x(3).abs())
b = D.LowRankMultivariateNormal(x(3) + 1, x(3, 1), L.ones(3))
v, w = D.Wishart(4.5, L.eye(3) + 0.2), D.Wishart(6.0, L.eye(3))
K = D.kl_divergence
K(a, b), K(b, a), K(a, m), K(m, a), K(v, w)
""",
        LIKE,
    )


COUNTS = """
d.log_prob(L.tensor([1, 2])), d.mean, d.variance, d.expand((2, 2)).total_count
d.sample((3,))
"""


@pytest.mark.parametrize("call", COUNTS.strip().splitlines())
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("family", ["Binomial", "NegativeBinomial"])
@pytest.mark.parametrize("given", ["probs", "logits"])
def test_counts_have_the_dtype_of_the_probabilities(family: str, dtype: str, given: str, call: str) -> None:
    setup = f"d = L.distributions.{family}(L.tensor([1, 3], dtype=L.{dtype}), {given}=L.tensor([0.3, 0.4]))"
    check(f"{setup}\n{call}", LIKE)


BORDER = """
D.Binomial(1, logits=l).log_prob(L.zeros(2))
D.Binomial(3, logits=l).log_prob(L.ones(2))
D.Binomial(3, logits=l).entropy()
D.NegativeBinomial(3, logits=l).log_prob(L.ones(2))
"""


@pytest.mark.parametrize("call", BORDER.strip().splitlines())
def test_gradients_by_logits_of_zero(call: str) -> None:
    check(f"l = L.zeros(2, requires_grad=True)\nD = L.distributions\n{call}.sum().backward()\nl.grad", LIKE)


MASKED = """
M.sum(v, 1, mask=m)
M.sum(v, mask=m, dtype=L.float64)
M.prod(v, (0, 1), mask=m)
M.amax(v, 1, mask=m), M.amin(v, 0, keepdim=True, mask=m)
M.argmax(v, 1, mask=m), M.argmin(v, mask=m), M.argmax(v, 0, keepdim=True, dtype=L.float64)
M.mean(v, 1, mask=m), M.mean(v, 1)
M.var(v, 1, mask=m, unbiased=True), M.std(v, 1, False, mask=m)
M.norm(v, 2.0, 1, mask=m), M.norm(v, float('inf'), 1, mask=m)
M.logsumexp(v, 1, mask=m)
M.cumsum(v, 1, mask=m), M.cumprod(v, 1, mask=m)
M.softmax(v, 1, mask=m), M.softmin(v, 1, mask=m)
M.log_softmax(v, 1, mask=m)
M.normalize(v, 2.0, 1, mask=m)
M.median(v, 1, mask=m)
M.sum(i(5, 2, 3), 1, mask=L.tensor([True, False, True]))
"""


@pytest.mark.parametrize("call", MASKED.strip().splitlines())
def test_masked(call: str) -> None:
    check(f"M = L.masked\nv = x(3, 4)\nm = (i(3, 3, 4) > 0) | (L.arange(4) == 1)\n{call}", LIKE)
