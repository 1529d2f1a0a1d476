"""Gaussian processes and Bayesian optimization."""

from __future__ import annotations

from typing import Any

import torch

LIBRARIES = ("gpytorch", "linear_operator", "botorch")


def _data() -> tuple[Any, Any]:
    x = torch.linspace(0.0, 1.0, 12)
    return x, torch.sin(6.0 * x) + 0.05 * torch.randn(12)


def _steps(model: Any, likelihood: Any, objective: Any, x: Any, y: Any) -> list[Any]:
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.1)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = -objective(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def exact_process() -> Any:
    """gpytorch: an exact process with a scaled kernel, three steps of training, a prediction, save and load."""
    import gpytorch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x: Any, y: Any, likelihood: Any) -> None:
            super().__init__(x, y, likelihood)
            self.mean = gpytorch.means.ConstantMean()
            self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

    x, y = _data()
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(x, y, likelihood)
    losses = _steps(model, likelihood, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model), x, y)
    other = Model(x, y, gpytorch.likelihoods.GaussianLikelihood())
    other.load_state_dict(model.state_dict())
    other.eval()
    with torch.no_grad():
        prediction = other(torch.linspace(0.0, 1.0, 5))
    return losses, list(model.parameters()), prediction.mean, prediction.variance


def variational_process() -> Any:
    """gpytorch: a sparse variational process with inducing points."""
    import gpytorch

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self, points: Any) -> None:
            inner = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
            super().__init__(gpytorch.variational.VariationalStrategy(self, points, inner))
            self.mean = gpytorch.means.LinearMean(1)
            self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=1.5))

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))

    x, y = _data()
    model, likelihood = Model(torch.linspace(0.0, 1.0, 4).unsqueeze(-1)), gpytorch.likelihoods.GaussianLikelihood()
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=12)
    return _steps(model, likelihood, objective, x.unsqueeze(-1), y), list(model.parameters())


def kernels() -> Any:
    """gpytorch: kernels of several kinds, their sums and products, with gradients."""
    from gpytorch import kernels as kinds

    x = torch.rand(5, 2, requires_grad=True)
    made = [
        kinds.RBFKernel(ard_num_dims=2), kinds.MaternKernel(nu=2.5), kinds.PeriodicKernel(), kinds.LinearKernel(),
        kinds.PolynomialKernel(power=2), kinds.RQKernel(), kinds.CosineKernel(),
        kinds.RBFKernel() + kinds.LinearKernel(), kinds.RBFKernel() * kinds.PeriodicKernel(),
    ]  # fmt: skip
    values = [kernel(x).to_dense() for kernel in made]
    sum(each.sum() for each in values).backward()
    return values, x.grad


def lazy_matrices() -> Any:
    """linear_operator: structured matrices, their products, solutions and determinants."""
    from linear_operator import operators, to_linear_operator

    root = torch.randn(4, 4, dtype=torch.float64)
    dense = to_linear_operator(root @ root.mT + 4.0 * torch.eye(4, dtype=torch.float64))
    diagonal = operators.DiagLinearOperator(torch.rand(4, dtype=torch.float64) + 1.0)
    kronecker = operators.KroneckerProductLinearOperator(dense, diagonal)
    right = torch.randn(4, 2, dtype=torch.float64)
    return (
        (dense + diagonal).solve(right), dense.logdet(), kronecker.to_dense(), diagonal.inv_quad_logdet(right, True),
        (dense @ diagonal).to_dense(), dense.cholesky().to_dense(), operators.RootLinearOperator(root).diagonal(),
    )  # fmt: skip


def acquisition() -> Any:
    """botorch: a model of one task, expected improvement and its gradient, the best of Sobol points."""
    from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
    from botorch.models import SingleTaskGP
    from botorch.utils.sampling import draw_sobol_samples

    x = torch.rand(6, 2, dtype=torch.float64)
    y = -(x - 0.5).square().sum(-1, keepdim=True)
    model = SingleTaskGP(x, y)
    model.eval()
    points = draw_sobol_samples(torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64), n=4, q=1, seed=1)
    points.requires_grad_()
    values = LogExpectedImprovement(model, best_f=y.max())(points)
    values.sum().backward()
    return points, values, points.grad, UpperConfidenceBound(model, beta=0.2)(points)
