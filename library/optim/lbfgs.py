"""L-BFGS, a quasi-Newton method with limited memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._autograd.grad_mode import enable_grad, no_grad
from .._operators import cat, view_as_real, zeros_like
from .._tensor.tensor import Tensor
from .line_search import Trial, strong_wolfe
from .optimizer import Parameters
from .options import DeclaredOptimizer, Rate, declared, option

__all__ = ["LBFGS"]

# Pairs of steps and changes of the gradient with less curvature than this would spoil the approximation.
_LEAST_CURVATURE = 1e-10


@declared
class LBFGS(DeclaredOptimizer):
    """L-BFGS, a quasi-Newton method: steps along the gradient times an estimate of the inverse Hessian from the last
    gradients.

    Liu and Nocedal, On the Limited Memory BFGS Method for Large Scale Optimization, 1989. All parameters form one
    vector and one group; its state is that of the first of them.

    Raises:
        ValueError: `lr` is negative, or there are several groups.
        RuntimeError: in `step`, when there is no such line search.

    Example:
        >>> weight = opweave.nn.Parameter(opweave.tensor([1.0, -2.0]))
        >>> optimizer = opweave.optim.LBFGS([weight])
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = (weight - 3).square().sum()
        ...     loss.backward()
        ...     return loss
        >>> optimizer.step(closure).item()
        29.0
        >>> weight.data
        tensor([3.0000, 3.0000])
    """

    lr: Rate = option(default=1, doc="length of a step, or of the first one that a line search tries.")
    max_iter: int = option(default=20, doc="directions in a step of the optimizer.")
    max_eval: int | None = option(default=None, doc="evaluations of the loss in a step; `max_iter * 5 // 4` when None.")
    tolerance_grad: float = option(default=1e-7, doc="a step ends where no element of the gradient is larger.")
    tolerance_change: float = option(default=1e-9, doc="it ends, too, where loss or parameters change less.")
    history_size: int = option(default=100, doc="how many gradients are remembered.")
    line_search_fn: str | None = option(default=None, doc='"strong_wolfe", or None: every step has the length `lr`.')

    def _ow_begin(self, params: Parameters, options: dict[str, Any]) -> None:
        if options["max_eval"] is None:
            options["max_eval"] = options["max_iter"] * 5 // 4
        super()._ow_begin(params, options)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[Tensor]:
        parameters: list[Tensor] = self.param_groups[0]["params"]
        return parameters

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Take up to `max_iter` steps. `closure` computes loss and gradients; returns the loss before the first step.

        Raises RuntimeError for a `line_search_fn` other than "strong_wolfe".
        """
        closure = enable_grad()(closure)
        group = self.param_groups[0]
        lr, tolerance_change, max_eval = float(group["lr"]), group["tolerance_change"], group["max_eval"]
        state = self.state[self._params[0]]
        for count in ("func_evals", "n_iter"):
            state.setdefault(count, 0)

        first_loss = closure()
        loss, gradient = float(first_loss), self._ow_gradient()
        state["func_evals"] += 1
        evaluations = 1
        if _largest(gradient) <= group["tolerance_grad"]:
            return first_loss

        for left in reversed(range(group["max_iter"])):
            state["n_iter"] += 1
            direction = state["d"] = self._ow_direction(gradient, state, group["history_size"])
            # The first direction is not scaled by any curvature.
            step = state["t"] = lr * (1.0 / max(1.0, float(gradient.abs().sum()))) if state["n_iter"] == 1 else lr
            state["prev_flat_grad"], state["prev_loss"] = gradient, loss
            slope = float(gradient.dot(direction))
            if slope > -tolerance_change:
                break
            before, spent, extent = loss, 0, _largest(direction)
            if group["line_search_fn"] is None:
                self._ow_move(direction, step)
                if left:
                    loss, gradient, spent = float(closure()), self._ow_gradient(), 1
            elif group["line_search_fn"] == "strong_wolfe":
                start = Trial(0.0, loss, gradient, slope)
                evaluate = self._ow_trials(closure, direction)
                most = max_eval - evaluations
                result, spent = strong_wolfe(evaluate, start, step, extent, tolerance_change, most)
                loss, gradient, step = result.loss, result.gradient, result.step
                self._ow_move(direction, step)
                state["t"] = step
            else:
                raise RuntimeError("only 'strong_wolfe' is supported")
            evaluations += spent
            state["func_evals"] += spent
            if evaluations >= max_eval or _largest(gradient) <= group["tolerance_grad"]:
                break
            if extent * abs(step) <= tolerance_change or abs(loss - before) < tolerance_change:
                break
        return first_loss

    def _ow_direction(self, gradient: Tensor, state: dict[str, Any], history_size: int) -> Tensor:
        """The negative gradient, multiplied by the inverse Hessian (two-loop recursion). It reads one number."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -gradient
        changes, steps, curvatures = state["old_dirs"], state["old_stps"], state["ro"]
        change, step = gradient - state["prev_flat_grad"], state["d"] * float(state["t"])
        curvature = change.dot(step)
        if float(curvature) > _LEAST_CURVATURE:
            for remembered, new in ((changes, change), (steps, step), (curvatures, 1.0 / curvature)):
                if len(remembered) == history_size:
                    del remembered[0]
                remembered.append(new)
            state["H_diag"] = curvature / change.dot(change)
        result = -gradient
        factors = state.setdefault("al", [None] * history_size)
        for k in reversed(range(len(steps))):
            factors[k] = steps[k].dot(result) * curvatures[k]
            result.addcmul_(changes[k], factors[k], value=-1)
        result.mul_(state["H_diag"])
        for k in range(len(steps)):
            result.addcmul_(steps[k], factors[k] - changes[k].dot(result) * curvatures[k])
        return result

    def _ow_trials(self, closure: Callable[[], Any], direction: Tensor) -> Callable[[float], Trial]:
        """A function that tries steps from where the parameters are now, and leaves them there."""
        origin = [parameter.clone() for parameter in self._params]

        def evaluate(step: float) -> Trial:
            self._ow_move(direction, step)
            loss, gradient = float(closure()), self._ow_gradient()
            for parameter, values in zip(self._params, origin, strict=True):
                parameter.copy_(values)
            return Trial(step, loss, gradient, float(gradient.dot(direction)))

        return evaluate

    def _ow_gradient(self) -> Tensor:
        """All gradients in one vector; zeros where there is none."""
        grads = [zeros_like(each) if each.grad is None else each.grad for each in self._params]
        return cat([_numbers_of(each).reshape(-1) for each in grads])

    def _ow_move(self, direction: Tensor, step: float) -> None:
        moved = [_numbers_of(parameter) for parameter in self._params]
        for numbers, part in zip(moved, direction.split([each.numel() for each in moved]), strict=True):
            numbers.add_(part.view_as(numbers), alpha=step)


def _numbers_of(tensor: Tensor) -> Tensor:
    """The tensor, or the real numbers that a complex one consists of, as a view."""
    return view_as_real(tensor) if tensor.is_complex() else tensor


def _largest(vector: Tensor) -> float:
    return float(vector.abs().max())
