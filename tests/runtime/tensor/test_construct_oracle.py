"""Tensors from Python and NumPy data against torch: values, dtypes and errors."""

from __future__ import annotations

import pytest
from harness import expressions
from harness.oracle import Like

DATA = r"""
1
2.5
True
-2**63
2**63
-2**63-1
2**70
[]
[[]]
[[], []]
[[[]], [[]]]
()
(1, 2)
range(3)
[1, 2.5]
[True, 2]
[True, 2.5]
[True, False]
[[1, 2], [3, 4]]
[(1, 2), [3, 4]]
([1, 2], [3, 4])
[[[1], [2]], [[3], [4]]]
[1, [2]]
[1, [2, 3]]
[[1, 2], 3]
[[1, 2], [3]]
[[1], []]
[[1, 2], [3, 4, 5]]
[[[1, 2], [3, 4]], [[1, 2], [3]]]
[[[1, 2]], [[1, 2], [3]]]
[2**63]
[2**64, 1.5]
[2**63, True]
[float('nan'), float('inf'), -0.0]
[1e300]
[1e-50]
[0.1, 0.2, 1/3]
'x'
''
b'x'
['x']
['xy', 'z']
[['x']]
[1, 'x']
['x', 1]
[b'x']
bytearray(b'xy')
None
[None]
[1, None]
object()
[object()]
{}
{1: 2}
{1, 2}
[{1, 2}]
(x for x in [1])
iter([1])
int
[[1, 2], {3, 4}]
np.float64(1)
np.float32(1)
np.float16(1.5)
np.int8(-3)
np.uint8(200)
np.True_
[np.float64(1)]
[np.float64(1), 1.0]
[np.float32(1), 1]
[np.float32(1), 1.5]
[np.int8(1), 1]
[np.int8(1), np.int8(2)]
[np.int8(1), np.uint8(2)]
[np.float16(1), np.int64(2)]
[np.True_, False]
[[np.int16(1)], [2]]
np.arange(3)
np.arange(6).reshape(2, 3).T
np.arange(12.0).reshape(3, 4)[:, ::2]
np.zeros((0, 3))
np.array(2.5)
np.array([True, False])
np.float16([1, 2])
np.array(['a'])
np.array([object()])
np.zeros(3, 'M8[s]')
np.zeros(3, 'V8')
np.zeros(3, '>f4')
np.zeros(3, 'longdouble')
[np.arange(3), np.arange(3)]
[np.arange(3), [1, 2, 3]]
[np.arange(2.0), [1, 2]]
[np.arange(2), np.arange(3)]
[np.array([3]), [4]]
z
[z, z]
[z, 1]
[zi, 1.5]
[zi, True]
[z, zi]
[a]
[a[0], a[1]]
[a[0], [1, 2, 3]]
[a[0, 0:1]]
[a[0, 0:1], a[0, 0:1]]
[[z], [zi]]
[zi, 2**70]
[L.tensor(1, dtype=L.int8), L.tensor(2, dtype=L.uint8)]
a
a.t()
u
""".strip().splitlines()


DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("function", ["tensor", "as_tensor"])
def test_data(function: str) -> None:
    # torch lists more dtypes that arrays may have.
    for data in DATA:
        expressions.check(f"L.{function}({data})", Like(printed=True, until=" The only supported types"))


CONVERTED = [
    "[]",
    "1",
    "[1, 0]",
    "[True, 2.5]",
    "[1.5, -0.5]",
    "[-1]",
    "[-1.5]",
    "[-0.5]",
    "[127, -128]",
    "[128]",
    "[-129]",
    "[255]",
    "[256]",
    "[-255]",
    "[-256]",
    "[300.5]",
    "[127.5]",
    "[2**15]",
    "[2**31]",
    "[2**40]",
    "[2**63]",
    "[2**64]",
    "[-2**63]",
    "[float('nan')]",
    "[float('inf')]",
    "[1e10]",
    "[1e39]",
    "[1e300]",
    "[70000.0]",
    "[65519.0, 65520.0]",
    "[1e-8]",
    "np.arange(3)",
    "np.array([1.5, -1.5])",
    "a",
    "[zi, 1]",
    "[np.int8(2)]",
    "2**1100",
    "[[1, 2.5], [True, 4]]",
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_data_with_dtype(dtype: str) -> None:
    expressions.check_all(f"L.tensor({data}, dtype=L.{dtype})" for data in CONVERTED)


EXPRESSIONS = r"""
L.tensor([1], dtype=float)
L.tensor([1], dtype=int)
L.tensor([1], dtype=bool)
L.tensor([1.5], dtype='float32')
L.tensor([1], dtype=np.float32)
L.tensor([1], dtype=3)
L.tensor([1], device='cpu')
L.tensor([1], device='cpu:0').device
L.tensor([1], device='cpu:1').device
L.tensor([1], device=L.device('cpu'))
L.tensor([1], device=0)
L.tensor([1], device='cpu:x')
L.as_tensor(a) is a
L.as_tensor(a, dtype=L.float32) is a
L.as_tensor(a, dtype=L.float64)
L.as_tensor(a, L.float64)
L.as_tensor(np.arange(3), dtype=L.float64)
x = np.zeros(3); L.as_tensor(x).add_(1); x
x = np.zeros(3); L.tensor(x).add_(1); x
x = np.zeros(3); L.as_tensor(x, dtype=L.float32).add_(1); x
L.asarray([1, 2])
L.asarray(1.5)
L.asarray(np.arange(2))
L.asarray(np.float32(3))
L.asarray(a) is a
L.asarray(a, copy=True) is a
L.asarray(a, copy=False) is a
L.asarray(a, dtype=L.int32)
L.asarray(a, copy=False, dtype=L.int32)
L.asarray(np.arange(3), copy=False, dtype=L.float32)
L.asarray([1, 2], copy=False)
L.asarray(None)
L.asarray('x')
L.asarray(bytearray(b'abcd'), dtype=L.int16)
L.asarray(bytearray(b'ab'))
L.asarray(bytearray(b'abcd'), dtype=L.int16, copy=True)
x = bytearray(4); L.asarray(x, dtype=L.uint8)[1] = 7; x
L.scalar_tensor(3)
L.scalar_tensor(3, dtype=L.int64)
L.scalar_tensor(True)
L.scalar_tensor([1])
L.scalar_tensor('x')
L.frombuffer(bytearray(b'abcd'), dtype=L.int16)
L.frombuffer(bytearray(b'abcd'), dtype=L.int16, offset=2)
L.frombuffer(bytearray(b'abcd'), dtype=L.int16, count=1)
L.frombuffer(bytearray(b'abcd'), dtype=L.uint8, count=2, offset=1)
L.frombuffer(b'abcd', dtype=L.int16)
L.frombuffer(bytearray(b'abc'), dtype=L.int16)
L.frombuffer(bytearray(b''), dtype=L.int16)
L.frombuffer(bytearray(b'abcd'), dtype=L.int16, offset=1)
L.frombuffer(bytearray(b'abcd'), dtype=L.int16, offset=5)
L.frombuffer(bytearray(b'abcd'), dtype=L.int16, offset=-1)
L.frombuffer(bytearray(b'abcd'), dtype=L.int16, count=5)
L.frombuffer(bytearray(b'abcd'), dtype=L.int16, count=0)
L.frombuffer([1], dtype=L.int16)
L.from_numpy(np.arange(3))
L.from_numpy(np.arange(6.0).reshape(2, 3).T)
L.from_numpy(np.zeros((0, 3)))
L.from_numpy(np.array(1.0))
L.from_numpy(np.zeros((2, 3), np.float16))
L.from_numpy(np.zeros(3, 'f4,i4')['f0'])
L.from_numpy(np.zeros(3, [('a', 'f4'), ('b', 'i2')])['a'])
L.from_numpy(np.zeros(3, '>f4'))
L.from_numpy([1])
L.from_numpy(np.float32(1))
L.from_numpy(a)
L.from_numpy(np.broadcast_to(np.zeros(3), (2, 3)))
x = np.zeros(3); L.from_numpy(x)[1] = 5; x
x = np.zeros((2, 3)); t = L.from_numpy(x.T); x[1, 2] = 5; t
L.set_default_dtype(L.int32)
L.set_default_dtype(3)
L.set_default_dtype('x')
L.get_default_dtype()
L.promote_types(L.int8, L.uint8)
L.promote_types(L.float16, L.bfloat16)
L.promote_types(3, L.int8)
L.can_cast(L.float32, L.int8)
L.can_cast(L.int64, L.float16)
L.can_cast(3, L.int8)
L.result_type(a, 1)
L.result_type(i, 1.5)
L.result_type(u, 2**60)
L.result_type(1, 2)
L.result_type(1.0, 2)
L.result_type(z, i)
L.is_tensor(a), L.is_tensor(3)
""".strip().splitlines()


def test_expression() -> None:
    expressions.check_all(EXPRESSIONS)
