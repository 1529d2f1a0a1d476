"""Methods, attributes, dtypes, sizes, devices and storages against torch."""

from __future__ import annotations

from harness import expressions

EXPRESSIONS = r"""
a.shape, a.size(), a.stride(), a.ndim, a.dim(), a.ndimension(), a.numel(), a.nelement()
z.shape, z.size(), z.stride(), z.ndim, z.numel(), z.storage_offset()
e.shape, e.stride(), e.numel(), e.data_ptr()
a.dtype, a.device, a.layout, a.itemsize, a.element_size(), a.nbytes, a.get_device()
a.is_floating_point(), a.is_signed(), a.is_complex(), u.is_signed(), u.is_floating_point()
a.is_leaf, a.requires_grad, a.grad, a.grad_fn, a.is_cuda, a.is_sparse, a.is_meta, a.is_quantized
a.size(0), a.size(-1), a.stride(0), a.stride(-2)
a.size(2)
a.size(-3)
a.size('x')
a.size(1.5)
a.size(None)
a.stride(2)
z.size(0)
z.stride(0)
a[1:].storage_offset(), a[:, 2].storage_offset(), a[1:].data_ptr() - a.data_ptr()
a.is_same_size(a.t()), a.is_same_size(a + 1)
a.item()
e.item()
z.item(), zi.item(), u[2].item(), a[0, 0:1].item(), L.tensor(True).item()
a.tolist(), z.tolist(), e.tolist(), b.tolist(), u.tolist(), a.t().tolist(), a[:, ::2].tolist()
L.zeros(2, 0).tolist(), L.zeros(0, 2).tolist(), L.zeros(2, 0, 3).tolist(), L.zeros(2, 3, 0).tolist()
L.tensor([True, False]).tolist(), L.tensor([1.5], dtype=L.bfloat16).tolist(), L.tensor([0.1], dtype=L.float16).tolist()
L.tensor([1, -1], dtype=L.int8).tolist(), L.tensor([0.1], dtype=L.float64).tolist(), L.tensor([0.1]).tolist()
bool(a)
bool(e)
bool(z), bool(L.tensor([0.0])), bool(L.tensor(0)), bool(L.tensor([[True]])), bool(L.tensor(float('nan')))
int(z), float(z), complex(z), int(zi), float(zi), int(L.tensor(-1.9))
int(a)
float(e)
complex(a)
int(L.tensor(float('nan')))
int(L.tensor(float('inf')))
operator.index(zi), operator.index(L.tensor(True)), operator.index(L.tensor([1]))
operator.index(z)
operator.index(i)
operator.index(e)
[10, 20, 30][zi]
range(3)[zi:]
f'{z:.2f}', f'{zi:05d}', f'{a}', f'{z}', f'{L.tensor(True)}'
f'{a:.2f}'
str(a), repr(z), repr(e), repr(u)
hash(a) == id(a) // 16 or hash(a) == hash(a)
a == a
a.clone()
a.t().clone()
b[..., 1].clone()
L.zeros(1, 3).expand(2, 3).clone()
a.t().clone(memory_format=L.contiguous_format)
a.clone(memory_format=L.preserve_format)
a.contiguous() is a, a.t().contiguous() is a
a.t().contiguous()
a[:, ::2].contiguous()
a.contiguous(memory_format=3)
a.t().contiguous(memory_format=L.contiguous_format)
a.is_contiguous(), a.t().is_contiguous(), a[:, :1].is_contiguous(), a[0:1].is_contiguous(), e.t().is_contiguous()
a.is_contiguous(memory_format=L.contiguous_format)
a.reshape(3, 2)
a.reshape((3, 2))
a.reshape([3, 2])
a.reshape(-1)
a.reshape(2, -1, 1)
a.t().reshape(6)
a.t().reshape(3, 2, 1)
a.reshape(L.tensor(3), 2)
a.reshape(np.int64(3), 2)
a.reshape(L.Size([3, 2]))
z.reshape(())
z.reshape(1, 1)
L.tensor([5]).reshape([])
a.reshape(4)
a.t().reshape(4)
a.reshape(-1, -1)
a.reshape(-2, 3)
a.reshape(0, -1)
e.reshape(0, -1)
e.reshape(-1)
e.reshape(3, 0)
a.reshape([])
a.reshape()
a.reshape('x')
r = a.reshape(6); r[0] = 9; a
r = a.t().reshape(6); r[0] = 9; a
a.view_as(L.zeros(3, 2))
a.reshape_as(L.zeros(3, 2))
a.expand_as(L.zeros(2, 2, 3))
a.T
a.mT
b.mT
b.T
u.T
u.mT
z.T
z.mT
a.H
u.H
b.H
b.mH
u.mH
a.as_strided((2,), (1,))
a.as_strided((2, 2), (1, 2), 1)
a[1].as_strided((2,), (1,))
a.as_strided((), ())
a.as_strided((2,), (10,))
a.as_strided((2,), (-1,))
a.as_strided((2,), (1, 1))
a.as_strided((2,), (1,), -1)
a.to(L.int32)
a.to(L.float32) is a
a.to(L.float32, copy=True) is a
a.to(L.float32, False, True) is a
a.to(dtype=L.float64)
a.to('cpu') is a
a.to(L.device('cpu')) is a
a.to('cpu', non_blocking=True) is a
a.to('cpu', copy=True) is a
a.to('cpu', L.float64)
a.to('cpu', L.int8, False, False)
a.to(None, L.float64)
a.to(device='cpu', dtype=None) is a
a.to(zi)
a.to(zi, copy=True)
a.to(zi, False, True)
a.to(a) is a
a.to(float)
a.to(int)
a.to(bool)
a.to(memory_format=L.contiguous_format) is a
a.t().to(L.float64)
a.t().to(L.float64, memory_format=L.contiguous_format)
a.to('cpu:x')
a.double(), a.float() is a, a.half(), a.bfloat16(), a.int(), a.long(), a.short(), a.char(), a.byte(), a.bool()
a.double(memory_format=L.contiguous_format)
L.tensor([1.9, -1.9, 255.0]).int(), L.tensor([0.5, -0.0, float('nan')]).bool(), L.tensor([300, -1]).byte()
a.type(), u.type(), L.zeros(1, dtype=L.bfloat16).type(), L.zeros(1, dtype=L.bool).type()
a.type(L.int32)
a.type(L.float32) is a
a.type('x')
a.type_as(zi)
a.cpu() is a
a.data.data_ptr() == a.data_ptr(), a.data
a.copy_(3)
a.copy_(L.ones(3))
a.copy_(L.tensor([[1], [2]]))
i.copy_(z)
a.copy_(True)
i.copy_(2.7)
a.copy_([1, 2, 3])
a.copy_(np.zeros(3))
a.copy_(None)
a.copy_(L.ones(4))
a.copy_(L.ones(2, 2, 3))
a.copy_(a.clone().t())
a.numpy()
a.t().numpy()
e.numpy()
z.numpy()
b[..., 1].numpy()
L.tensor([True]).numpy()
L.zeros(1, dtype=L.bfloat16).numpy()
n = a.numpy(); n[0, 0] = 9; a
n = a.numpy(); a[0, 0] = 9; n
n = a.t().numpy(); n[0, 1] = 9; a
np.asarray(a)
np.asarray(a, dtype=np.int32)
np.asarray(L.zeros(1, dtype=L.bfloat16))
np.array(a)
n = np.array(a); n[0] = 5; a
np.add(a, 1)
np.sin(z)
np.exp(a.numpy())
np.maximum(i, 2)
a.__array__(np.dtype('f8'))
copy.copy(a)
c = copy.copy(a); c[0] = 9; a
c = copy.deepcopy(a); c[0] = 9; a
copy.deepcopy(a[1])
copy.deepcopy(a.t())
c = copy.deepcopy([a, a[0]]); c[0][0] = 9; c
len(copy.deepcopy(a[1]).storage())
pickle.loads(pickle.dumps(a))
pickle.loads(pickle.dumps(a.t()))
pickle.loads(pickle.dumps(b[0, 1:, 0]))
pickle.loads(pickle.dumps(e))
pickle.loads(pickle.dumps(z))
pickle.loads(pickle.dumps(L.tensor([1.5], dtype=L.bfloat16)))
pickle.loads(pickle.dumps((L.float32, L.half, L.Size([1, 2]), L.device('cpu'), L.strided, L.preserve_format)))
L.float32, L.half, L.bfloat16, L.short, L.int, L.long, L.float, L.double, L.bool, L.uint8
L.half is L.float16, L.float is L.float32, L.int is L.int32, L.long is L.int64
[(d.itemsize, d.is_floating_point, d.is_signed, d.is_complex) for d in (L.bool, L.uint8, L.int8, L.float16, L.float64)]
L.dtype()
{L.float32: 1}[L.float]
copy.deepcopy(L.float32) is L.float32
L.strided, L.contiguous_format, L.preserve_format
L.Size([2, 3])
L.Size()
L.Size((2, 3)) == (2, 3), (2, 3) == L.Size([2, 3]), hash(L.Size([2])) == hash((2,))
L.Size([2, 3]).numel(), L.Size([]).numel(), L.Size([2, 0]).numel()
L.Size([2, 3])[0], L.Size([2, 3])[-1], L.Size([2, 3])[:1], L.Size([2, 3])[::-1]
L.Size([2, 3])[5]
L.Size([2, 3]) + (1,)
(1,) + L.Size([2, 3])
L.Size([2, 3]) + L.Size([1])
L.Size([2, 3]) * 2
2 * L.Size([2, 3])
L.Size([2, 3]) + [1]
L.Size([1.5])
L.Size(['x'])
L.Size(3)
L.Size([2, 3]).count(2), L.Size([2, 3]).index(3), len(L.Size([2, 3])), 3 in L.Size([2, 3])
x, y = a.shape; x, y
L.device('cpu')
L.device('cpu:0')
L.device('cpu', 0)
L.device(type='cpu', index=1)
L.device(L.device('cpu'))
L.device('meta'), L.device('cuda'), L.device('cuda:3')
str(L.device('cpu:0')), str(L.device('cpu'))
L.device('cpu').type, L.device('cpu').index, L.device('cpu:0').index
L.device('cpu') == L.device('cpu:0'), L.device('cpu') == 'cpu', L.device('cpu') == L.device('cpu')
hash(L.device('cpu')) == hash(L.device('cpu'))
L.device('')
L.device('cpu:x')
L.device('cpu:-1')
L.device('cpu:01')
L.device('cpu', -1)
L.device('cpu:0', 0)
L.device(3)
a.storage().tolist(), a.t().storage().tolist(), a[1:].storage().tolist(), list(a[1].storage())
len(a.storage()), a.storage().size(), a.storage().nbytes(), a.storage().element_size(), a.storage().dtype
a.storage().device, a.storage().type(), u.storage().type(), e.storage().tolist(), len(e.storage())
a.storage()[0], a.storage()[-1], a.storage()[5], type(i.storage()[0])
a.storage()[6]
a.storage()[-7]
a.storage()[10]
a.storage().data_ptr() == a.data_ptr(), a[1:].storage().data_ptr() == a.data_ptr()
a.storage()[0] = 9; a
a[1].storage()[0] = 9; a
s = a.storage(); s[1] = 8; a[:, 1]
s = a.storage(); s[0:2] = 7; a
s = a.storage(); s.fill_(3); a
s = a.storage().clone(); s[0] = 5; a
1.0 in a.storage(), 9.0 in a.storage()
len(a.untyped_storage()), a.untyped_storage().tolist()[:9], a.untyped_storage()[7], a.untyped_storage()[-1]
a.untyped_storage()[24]
a.untyped_storage()[::2]
a.untyped_storage()[6:8].tolist()
L.is_storage(a.storage()), L.is_storage(a)
""".strip().splitlines()


def test_expression() -> None:
    expressions.check_all(EXPRESSIONS)
