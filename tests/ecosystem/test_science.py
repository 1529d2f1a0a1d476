"""scikit-learn, SciPy, sympy, numba, joblib."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import opweave as ow
import opweave.array_api as xp
import pytest


def regression() -> tuple[ow.Tensor, ow.Tensor]:
    ow.manual_seed(0)
    x = ow.randn(60, 3, dtype=ow.float64)
    return x, x @ ow.tensor([1.0, 2.0, 3.0], dtype=ow.float64)


def test_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn")
    from sklearn.cluster import KMeans
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LinearRegression
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.model_selection import train_test_split

    assert sklearn
    x, y = regression()
    x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=0)
    model = LinearRegression().fit(x_train, y_train)
    assert model.coef_ == pytest.approx([1, 2, 3])
    assert r2_score(y_test, model.predict(x_test)) == pytest.approx(1)
    assert KMeans(3, n_init=1).fit(x).labels_.shape == (60,)
    forest = RandomForestClassifier(5, random_state=0).fit(x_train, y_train > 0)
    assert accuracy_score(y_test > 0, forest.predict(x_test)) > 0.5


def test_scikit_learn_by_the_array_api() -> None:
    sklearn = pytest.importorskip("sklearn")
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Ridge
    from sklearn.metrics import mean_squared_error
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    x, y = regression()
    with sklearn.config_context(array_api_dispatch=True):
        scaled = StandardScaler().fit_transform(x)
        assert isinstance(scaled, ow.Tensor)
        assert abs(float(scaled.mean())) < 1e-12
        assert isinstance(MinMaxScaler().fit_transform(xp.asarray(x)), xp.Array)
        assert PCA(2, svd_solver="full").fit_transform(x).shape == (60, 2)
        ridge = Ridge(1e-9, solver="svd").fit(x, y)
        assert isinstance(ridge.coef_, ow.Tensor)
        assert np.asarray(ridge.coef_) == pytest.approx([1, 2, 3])
        assert float(mean_squared_error(y, ridge.predict(x))) < 1e-12


def test_scipy() -> None:
    pytest.importorskip("scipy")
    from scipy import fft, integrate, interpolate, linalg, ndimage, optimize, signal, sparse, stats

    x = ow.linspace(0, 1, 21, dtype=ow.float64)
    matrix = ow.eye(3, dtype=ow.float64) * 2
    assert np.asarray(linalg.inv(matrix.numpy())).tolist() == (np.eye(3) / 2).tolist()
    assert float(integrate.trapezoid(x, x)) == pytest.approx(0.5)
    assert float(stats.norm.pdf(x)[0]) == pytest.approx(0.3989422804)
    assert np.asarray(signal.convolve(x, x)).shape == (41,)
    assert sparse.csr_matrix(matrix).nnz == 3
    assert float(interpolate.make_interp_spline(x, x)(0.5)) == pytest.approx(0.5)
    assert np.asarray(ndimage.gaussian_filter(ow.rand(4, 4), 1)).shape == (4, 4)
    assert np.allclose(np.asarray(fft.fft(x)), np.fft.fft(x.numpy()))

    def squares(values: Any) -> tuple[float, Any]:
        t = ow.tensor(values, requires_grad=True)
        loss = ((t - 3) ** 2).sum()
        loss.backward()
        assert t.grad is not None
        return loss.item(), t.grad.numpy()

    assert optimize.minimize(squares, np.zeros(3), jac=True).x == pytest.approx([3, 3, 3])


def test_scipy_by_the_array_api() -> None:
    pytest.importorskip("scipy")
    if os.environ.get("SCIPY_ARRAY_API") != "1":
        pytest.skip("SciPy was imported without SCIPY_ARRAY_API=1")
    from scipy import special, stats
    from scipy.cluster import vq

    x = xp.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]], dtype=xp.float64)
    assert isinstance(vq.whiten(x), ow.Tensor)
    assert isinstance(stats.zscore(x, axis=0), ow.Tensor)
    assert np.asarray(stats.skew(x)) == pytest.approx([0, 0.4703305], abs=1e-6)
    assert np.asarray(special.logsumexp(x)) == pytest.approx(9.028373325723342)


def test_sympy() -> None:
    sympy = pytest.importorskip("sympy")
    x, y = sympy.symbols("x y")
    expression = sympy.sin(x) * sympy.exp(y) + sympy.sqrt(x) + sympy.Max(x, y) + sympy.Piecewise((x, x > y), (y, True))
    a, b = ow.rand(5, dtype=ow.float64), ow.rand(5, dtype=ow.float64)
    expected = ow.sin(a) * ow.exp(b) + ow.sqrt(a) + 2 * ow.maximum(a, b)
    found = sympy.lambdify((x, y), expression, modules="numpy")(a, b)
    assert np.allclose(np.asarray(found), expected.numpy())
    polynomial = sympy.lambdify(x, sympy.sin(x) ** 2 + sympy.sqrt(x), modules=ow)
    w = ow.rand(3, requires_grad=True)
    polynomial(w).sum().backward()
    assert w.grad is not None


def test_numba() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit  # type: ignore[untyped-decorator, unused-ignore]
    def total(values: Any) -> float:
        result = 0.0
        for value in values:
            result += value
        values[0] = 7
        return result

    t = ow.ones(5)
    assert total(t.numpy()) == 5
    assert t[0] == 7  # the memory is shared


def test_joblib(tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    assert joblib.hash(ow.ones(3)) == joblib.hash(ow.ones(3)) != joblib.hash(ow.zeros(3))
    sums = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(ow.sum)(ow.ones(n)) for n in (1, 2))
    assert [int(each) for each in sums] == [1, 2]
    joblib.dump({"weights": ow.ones(3)}, tmp_path / "x.joblib")
    assert joblib.load(tmp_path / "x.joblib")["weights"].tolist() == [1, 1, 1]
    calls = []

    def doubled(x: ow.Tensor) -> ow.Tensor:
        calls.append(x)
        return x * 2

    cached = joblib.Memory(tmp_path, verbose=0).cache(doubled)
    assert cached(ow.ones(2)).tolist() == cached(ow.ones(2)).tolist() == [2, 2]
    assert len(calls) == 1
