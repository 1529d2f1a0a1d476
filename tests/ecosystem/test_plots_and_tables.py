"""matplotlib, Pillow, pandas, xarray, dask, pyarrow."""

from __future__ import annotations

import io

import numpy as np
import opweave as ow
import opweave.array_api as xp
import pytest


def test_matplotlib() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    x, grid, columns = ow.linspace(0, 1, 20), ow.rand(4, 5), ow.randn(100, 3)
    (line,) = axes.plot(x, ow.sin(x))
    assert np.allclose(line.get_ydata(), np.sin(np.linspace(0, 1, 20)))
    axes.scatter(x, x, c=x)
    axes.bar(x, x)
    axes.errorbar(x, x, yerr=x)
    axes.fill_between(x, x, x + 1)
    axes.imshow(grid)
    axes.contour(grid)
    axes.pcolormesh(grid)
    axes.quiver(x, x, x, x)
    axes.set_xlim(x[0], x[-1])
    # Columns are data sets, as those of arrays are.
    counts, _, _ = axes.hist(columns)
    expected, _, _ = axes.hist(columns.numpy())
    assert np.array_equal(counts, expected)
    assert len(axes.boxplot(columns)["boxes"]) == 3
    assert len(axes.violinplot(columns)["bodies"]) == 3
    figure.savefig(io.BytesIO())
    pyplot.close(figure)


def test_pillow() -> None:
    image_module = pytest.importorskip("PIL.Image")
    pixels = (ow.rand(8, 9, 3) * 255).to(ow.uint8)
    image = image_module.fromarray(pixels.numpy())
    assert image.size == (9, 8)
    for back in (ow.asarray(image), ow.tensor(image), ow.as_tensor(image), ow.from_numpy(np.array(image))):
        assert back.dtype is ow.uint8
        assert ow.equal(back, pixels)


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ow.arange(3), "b": [1.0, 2.0, 3.0]})
    assert frame["a"].dtype == np.int64
    frame["c"] = ow.arange(3.0)
    assert frame["c"].tolist() == [0, 1, 2]
    assert ow.tensor(frame["b"]).tolist() == [1, 2, 3]
    assert ow.asarray(frame[["a", "b"]]).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert type(frame["b"] + ow.ones(3)) is type(ow.ones(3) + frame["b"]) is ow.Tensor
    assert pandas.DataFrame(ow.ones(2, 3)).shape == (2, 3)
    assert frame.iloc[ow.tensor([0, 2])].shape == (2, 3)


def test_xarray() -> None:
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(xp.reshape(xp.arange(6.0), (2, 3)), dims=("x", "y"), coords={"x": [10, 20]})
    assert type(array.data) is xp.Array
    assert type((array + 1).data) is xp.Array
    assert array.sum("x").data.tolist() == [3, 5, 7]
    assert array.mean().data.tolist() == 2.5
    assert (array * array.sel(x=20)).data.tolist() == [[0, 4, 10], [9, 16, 25]]
    assert array.transpose("y", "x").shape == (3, 2)
    assert xarray.concat([array, array], "x").shape == (4, 3)
    assert array.where(array > 2, array * 0).data.tolist() == [[0, 0, 0], [3, 4, 5]]
    assert xarray.DataArray(ow.ones(2, 3), dims=("x", "y")).isel(y=1).data.tolist() == [1, 1]
    for index in (ow.tensor([0, 2]), xarray.DataArray(xp.asarray([0, 2]), dims="y"), [0, 2]):
        assert array.isel(y=index).data.tolist() == [[0, 2], [3, 5]]


def test_dask() -> None:
    array = pytest.importorskip("dask.array")
    lazy = array.from_array(ow.arange(10.0).numpy(), chunks=5)
    assert float(lazy.sum().compute()) == 45
    assert (lazy + 1)[::2].compute().tolist() == [1, 3, 5, 7, 9]
    assert ow.from_numpy(lazy.reshape(2, 5).mean(axis=1).compute()).tolist() == [2, 7]


def test_pyarrow() -> None:
    arrow = pytest.importorskip("pyarrow")
    array = arrow.array(ow.arange(3))
    assert array.to_pylist() == [0, 1, 2]
    assert arrow.array(ow.tensor([True, False, True])).to_pylist() == [True, False, True]
    pairs = arrow.array(ow.arange(6.0).view(3, 2))
    assert str(pairs.type) == "fixed_size_list<item: float>[2]"
    assert pairs.to_pylist() == [[0, 1], [2, 3], [4, 5]]
    assert arrow.table({"a": ow.arange(3), "b": ow.ones(3)}).num_rows == 3
    for back in (ow.tensor(array), ow.asarray(array), ow.from_dlpack(array)):
        assert back.tolist() == [0, 1, 2]
    table = arrow.table({"a": ow.rand(3).numpy()})
    assert ow.asarray(table["a"].to_numpy()).shape == (3,)
    assert arrow.Tensor.from_numpy(ow.ones(2, 3).numpy()).shape == (2, 3)
    with pytest.raises(RuntimeError, match="read-only"):
        ow.from_dlpack(array).add_(1)


def test_polars_and_duckdb() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": ow.arange(3), "b": ow.tensor([True, False, True])})
    assert frame.to_dict(as_series=False) == {"a": [0, 1, 2], "b": [True, False, True]}
    assert polars.Series("x", ow.ones(2, 3)).dtype == polars.Array(polars.Float32, 3)
    assert ow.asarray(frame["a"]).tolist() == [0, 1, 2]
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select sum(a) from frame where b").fetchall() == [(2,)]


def test_jax() -> None:
    numpy = pytest.importorskip("jax.numpy")
    assert numpy.asarray(ow.arange(3.0)).tolist() == [0, 1, 2]
    assert ow.asarray(numpy.arange(3)).tolist() == [0, 1, 2]


def test_stores() -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    with h5py.File(io.BytesIO(), "w") as file:
        file["x"] = ow.arange(6.0).view(2, 3)
        file["x"][0] = ow.ones(3)
        assert ow.tensor(file["x"]).tolist() == [[1, 1, 1], [3, 4, 5]]
        assert ow.from_numpy(file["x"][:]).shape == (2, 3)
    array = zarr.zeros((4, 4), chunks=(2, 2), dtype="f4")
    array[:] = ow.ones(4, 4)
    array[0] = ow.arange(4.0)
    assert ow.asarray(array[:]).sum(1).tolist() == [6, 4, 4, 4]
