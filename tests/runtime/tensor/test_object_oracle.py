"""Tensors as Python objects: their memory, conversions, copies, predicates, storages and subclasses, against torch."""

from __future__ import annotations

from harness import expressions

EXPRESSIONS = r"""
a.is_set_to(a), a.is_set_to(a[:]), a.is_set_to(a.t()), a.is_set_to(a.clone())
x = L.zeros(0); x.set_(a); x.is_set_to(a), x
x = L.zeros(2); x.set_(a.storage()); x
x = L.zeros(2); x.set_(a.storage(), 1, (2,), (2,)); x
x = L.zeros(2); x.set_(a.untyped_storage()); x
x = L.zeros(2); x.set_(a, 1, (2,)); x
x = L.zeros(2); x.set_(a, 1, (2,), (3,)); x
x = L.zeros(2); x.set_(); x, x.shape
x = L.zeros(0); x.set_(a); x[0, 0] = 5; a
x = L.arange(6); x.resize_(2, 2); x
x = L.arange(6); x.resize_((3,)); x
x = L.arange(6); x.resize_(3).resize_(6); x
x = L.arange(6); x.resize_(10)[:6]
x = L.arange(6); x.resize_(10).shape, x.storage().size()
x = L.arange(6); x.resize_(2).storage().size()
x = L.arange(6); x.resize_('a')
x = L.arange(6); x.resize_(())
x = L.arange(6).reshape(2, 3).t(); x.resize_(2, 3); x
x = L.arange(6).reshape(2, 3).t(); x.resize_(3, 2); x
x = L.arange(6)[2:]; x.resize_(2, 2); x
L.arange(6).resize_as_(a)
x = L.from_numpy(np.zeros(2)); x.resize_(3)
i.apply_(lambda x: x * 2), a.t().apply_(lambda x: x + 1), a
a.map_(a.clone(), lambda x, y: x + 2 * y)
a.map_(L.ones(3), lambda x, y: x + y)
a.requires_grad_(False) is a
a.is_nonzero()
zi.is_nonzero(), z.is_nonzero(), L.tensor([0.0]).is_nonzero()
a.is_conj(), a.is_neg(), a.is_inference(), a.is_pinned(), a.is_shared()
a.is_contiguous(memory_format=L.contiguous_format), L.zeros(1,2,3,4).is_contiguous(memory_format=L.channels_last)
L.zeros(1,3,4,2).permute(0,3,1,2).is_contiguous(memory_format=L.channels_last)
L.zeros(1,2,3,4,2).is_contiguous(memory_format=L.channels_last_3d)
L.zeros(2,2,3,4).contiguous(memory_format=L.channels_last).stride()
L.zeros(2,2,3,4).clone(memory_format=L.channels_last).stride()
L.zeros(2,2,3,4).to(memory_format=L.channels_last).stride()
L.empty_like(L.zeros(2,2,3,4), memory_format=L.channels_last).stride()
L.empty(2,2,3,4, memory_format=L.channels_last).stride()
L.zeros(2,2,3,4,2).contiguous(memory_format=L.channels_last_3d).stride()
a.contiguous(memory_format=L.channels_last)
a.contiguous(memory_format=L.preserve_format)
a.dim_order(), a.t().dim_order(), z.dim_order(), b.permute(2,0,1).dim_order()
a.size(), a.size(0), a.size(dim=1), a.stride(dim=0), a.shape.numel()
a.type(), a.type(L.float64), a.type('torch.IntTensor'.replace('torch', L.__name__)), a.type(dtype=L.int8)
a.type('nonsense')
a.type_as(i), a.cpu() is a
a.to(L.float64), a.to('cpu') is a, a.to(L.device('cpu'), L.int32), a.to(i), a.to(L.float32, copy=True) is a
a.to(dtype=L.int8, copy=True), a.to(device='cpu', dtype=L.int8, non_blocking=True, copy=False)
a.to('cpu', L.int8, non_blocking=False)
a.to(3)
a.to('nonsense')
a.to()
a.int(), a.long(), a.short(), a.char(), a.byte(), a.half(), a.bfloat16(), a.double(), a.float() is a, a.bool()
a.__int__()
z.__int__(), z.__float__(), z.__bool__(), zi.__index__(), z.__complex__()
complex(z), int(u[0]), float(zi), bool(z)
round(z), round(L.tensor(2.567), 2), abs(z)
import math; math.floor(z), math.ceil(z), math.trunc(z), math.sqrt(z)
len(a), len(b)
len(z)
list(a)[0], [x.tolist() for x in b]
list(z)
2.0 in a, 9.0 in a, L.tensor(2.0) in a
'x' in a
hash(a) == hash(a), hash(a) == hash(a.clone())
a == a.clone(), a != 3, (a == None), (a != None)
a.tolist(), z.tolist(), e.tolist(), a.t().tolist()
a.numpy(), a.numpy(force=True), np.asarray(a), np.array(z), a.__array__(), np.asarray(a, dtype='f8')
np.sum(a.numpy()), np.add(a, 1), a.__array_priority__
n = a.numpy(); n[0, 0] = 7; a
a.numpy().strides, a.t().numpy().strides, a.expand(2, 2, 3).numpy().strides
L.zeros(2, dtype=L.bfloat16).numpy()
a.data is a, a.data.is_set_to(a)
a.detach().is_set_to(a)
a.nbytes, a.itemsize, a.element_size(), a.numel(), a.nelement(), a.dim(), a.ndim, a.ndimension()
a.storage_offset(), a[1].storage_offset(), a.data_ptr() == a.storage().data_ptr(), a.untyped_storage().nbytes()
a.untyped_storage().size(), len(a.untyped_storage()), a.storage().nbytes(), a.storage().dtype
str(a.storage())
repr(i.storage())
str(L.tensor([True, False]).storage())
str(L.tensor([1.5], dtype=L.half).storage())
str(u.untyped_storage())
a.storage().float().tolist(), a.storage().int().tolist(), a.storage().cpu().tolist()
a.storage().is_shared(), a.storage().is_cuda
a.storage().data_ptr() == a[1].storage().data_ptr()
s = a.storage(); s[0] = 9; a
s = a.storage(); s[1:3] = 9; a
a.storage()[100]
s = a.storage(); s['a']
a.storage().copy_(L.ones(6).storage()).tolist()
s = a.storage(); s.fill_(2); a
a.swapaxes(0, 1).stride(), a.get_device(), a.device, a.layout, a.is_sparse, a.is_cuda, a.is_meta, a.is_quantized
a.is_xpu, a.is_mkldnn, a.is_mps, a.is_vulkan, a.is_nested, a.is_sparse_csr, a.is_ipu, a.is_maia
pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(a.t())).stride()
x, y = copy.deepcopy((a, a[0])); y[0] = 9; x
copy.copy(a).is_set_to(a), copy.copy(a) is a, copy.deepcopy(a).is_set_to(a)
copy.deepcopy(a.t()).stride(), copy.deepcopy([a, a])[0] is copy.deepcopy([a, a])[1]
d = copy.deepcopy([a, a]); d[0] is d[1]
a[0:1].is_contiguous(), a[:, 0].is_contiguous(), e.t().is_contiguous()
L.Size([1, 2]), L.Size([1, 2])[0], L.Size([1, 2])[:1], L.Size([1, 2]) + (3,), L.Size([1, 2]) == (1, 2)
L.Size([1, 2]).numel(), L.Size()
L.Size((1, 2)) * 2, (1,) + L.Size([2]), L.Size([L.tensor(1)]), L.Size(L.Size([1]))
L.Size([1.5])
L.Size('ab')
L.Size(3)
L.Size([1, 2]).index(2), L.Size([1]).count(1), hash(L.Size([1])) == hash((1,)), sorted(L.Size([2, 1]))
isinstance(L.Size([1]), tuple), [*L.Size([1, 2])], L.Size([1, 2])[-1:], pickle.loads(pickle.dumps(L.Size([1])))
copy.copy(L.Size([1])), copy.deepcopy(L.Size([1]))
L.device('cpu'), L.device('cpu', 0), L.device('cpu:1'), L.device('cpu') == L.device('cpu')
L.device('cpu') == L.device('cpu:0'), str(L.device('cpu:0'))
L.device('cpu').type, L.device('cpu').index, L.device(type='cpu', index=1)
L.device('nonsense')
L.strided, L.contiguous_format, L.preserve_format, L.channels_last, L.channels_last_3d, repr(L.strided)
type(L.strided).__name__
a.__class__.__name__, type(a).__name__, isinstance(a, L.Tensor)
a.__deepcopy__({}), a.__format__(''), z.__format__('.2f')
'{:.3f}'.format(z), '{}'.format(a), f'{zi:d}', f'{z:8.2f}', str(a), repr(a)
'{:.3f}'.format(a)
'%d %s %.1f' % (zi, z, z)
[1, 2, 3][zi], range(5)[zi], 'abc'[zi], np.arange(5)[zi]
[1][z]
[1][a]
dict([(1, 2)])[int(zi)]
sum(L.tensor([1, 2])), max(L.tensor([1, 2])), min(L.tensor([3, 1])), sorted(L.tensor([3, 1]))
any(L.tensor([0, 1])), all(L.tensor([0, 1]))
L.from_dlpack(a).data_ptr() == a.data_ptr()
L.from_dlpack(np.arange(3.))
np.from_dlpack(a), np.from_dlpack(a.t()).strides
x = L.from_dlpack(np.arange(3.)); x[0] = 5; x
z == 3.5 and 1
bool(L.tensor([]))
bool(a)
if_ = 1 if z else 0; if_
a.cpu(memory_format=L.preserve_format) is a
a.is_signed(), u.is_signed(), a.is_floating_point(), i.is_floating_point(), a.is_complex()
a.nonsense
del a[0]
a.shape = 3
x = L.zeros(2); x.data = L.ones(3); x
x = L.zeros(2); x.data = a; x.is_set_to(a)
reversed(a), list(reversed(i)), reversed(L.tensor(3))
x = L.zeros(3); x.add_(1); x += 1; x.mul_(L.ones(3)); x.view(3, 1).mul_(2); x[1:].neg_(); x._version
x = L.zeros(3); x.copy_(L.ones(3)); x.fill_(2); x.fill_(3.5); x.zero_(); x[0] = 1; x[:2] = 5; x.detach()._version
x = L.zeros(3); L.add(x, 1, out=x); L.sum(x, 0, out=L.zeros(())); x.cumsum_(0); x.clamp_(0); x._version
x = L.zeros(3); x[L.tensor([0, 1])] = 3; x._version
x = L.zeros(3); x + 1, x[0], x.t(), x.tolist(), x.clone(); x._version, x.clone()._version
x = L.zeros(2, 3).expand(4, 2, 3); x.fill_(2); x
x = L.zeros(2, 3)[:, ::2]; x.fill_(2); x.t().zero_(); x
L.zeros(2, dtype=L.int8).fill_(300), L.zeros(2, dtype=L.uint8).fill_(-3)
L.zeros(2, dtype=L.uint8).fill_(-3), L.zeros(2, dtype=L.bool).fill_(7), L.zeros(2, dtype=L.uint8).fill_(2.9)
L.zeros(2, dtype=L.float16).fill_(1e6)
L.zeros(2).fill_(float('nan')), L.zeros(2).fill_(2**70), L.zeros(0, dtype=L.int8).fill_(3)
L.zeros(2, dtype=L.int32).fill_(float('nan'))
L.zeros(2).fill_(L.tensor(3)), L.zeros(2).fill_(True), L.zeros(2).fill_(np.float32(1.5))
L.zeros(2).fill_(L.ones(1))
[L.zeros(2, 0, 3).tolist(), L.zeros(0).tolist(), L.tensor(2).tolist(), L.tensor(True).tolist(), L.tensor(0.5).tolist()]
a.t().tolist(), b[:, ::2].tolist(), L.arange(3).expand(2, 3).tolist(), L.ones(2, dtype=L.bfloat16).tolist()
L.tensor([[True, False]]).tolist(), L.tensor([2**64 - 1], dtype=L.uint64).tolist()
L.tensor([1e-5], dtype=L.float16).tolist()
L.arange(1200).reshape(2, 600).tolist(), L.tensor([float('inf'), -float('inf')]).tolist()
type(a.shape[0]), a.shape[-1], a.shape[:1], type(a.shape[:1]), a.shape[::-1], a.shape[5:], a.shape[L.tensor(1)]
a.shape[2]
a.shape['a']
a.shape == (2, 3), hash(a.shape) == hash((2, 3)), a.shape + (1,), list(a.shape), tuple(a.shape)
a.numpy(), a.t().numpy(), a[1, 1].numpy(), L.zeros(0, 2).numpy(), np.asarray(i), np.array(a, dtype=np.int8)
np.asarray(L.ones(2, dtype=L.bfloat16)), 1
L.ones(2, dtype=L.bfloat16).numpy()
x = L.zeros(2); y = x.numpy(); y[0] = 5; x, np.shares_memory(y, x.numpy())
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x).__name__, type(x + 1).__name__, type(x[0]).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x.sum()).__name__, type(a + x).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x.t()).__name__, type(x.reshape(-1)).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x.split(1)[0]).__name__, type(x.clone()).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x.to(L.int8)).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(L.zeros_like(x)).__name__, type(x.new_zeros(1)).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x.fill_(1)).__name__, type(x.mm(x.t())).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(L.where(x > 0, x, x)).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); x
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x == x).__name__, type(-x).__name__, type(1 + x).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x.numpy()).__name__, type(next(iter(x))).__name__
x = a.as_subclass(type('S', (L.Tensor,), {})); type(x.T).__name__, type(x.flatten()).__name__, type(x.data).__name__
""".strip().splitlines()


def test_expression() -> None:
    expressions.check_all(EXPRESSIONS)
