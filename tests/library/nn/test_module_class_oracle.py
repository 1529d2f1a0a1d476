"""Class Module and containers beside torch's: members, state, hooks, copies, printed forms and errors."""

from __future__ import annotations

import pytest
from harness.programs import check, programs

MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.register_buffer('scale', L.ones(2))
        self.register_buffer('hidden', L.zeros(1), persistent=False)
        self.factor = nn.Parameter(L.tensor(2.0))
    def forward(self, x):
        return self.rest(self.first(x)) * self.scale * self.factor
net = Net()
"""
PROGRAMS = programs("""
[name for name, _ in net.named_parameters()], [name for name, _ in net.named_buffers()]
---
[name for name, _ in net.named_modules()], [name for name, _ in net.named_children()]
---
[name for name, _ in net.named_parameters('net', recurse=False)], len(list(net.parameters())), len(list(net.modules()))
---
repr(net)
---
net(x(5, 3))
---
list(net.state_dict()), list(net.state_dict(prefix='a.')), dict(net.state_dict()._metadata)
---
other = Net()
repr(other.load_state_dict(net.state_dict())), other(x(2, 3)) - net(x(2, 3))
---
state = net.state_dict(); del state['first.bias']; state['more'] = L.ones(1)
net.load_state_dict(state)
---
state = net.state_dict(); del state['first.bias']; state['rest.7.weight'] = L.ones(1)
net.load_state_dict(state, strict=False)
---
state = net.state_dict(); state['first.bias'] = L.ones(9)
net.load_state_dict(state, strict=False)
---
net.load_state_dict(5)
---
state = {name: each + 1 for name, each in net.state_dict().items()}
net.load_state_dict(state, assign=True)
net.first.bias is state['first.bias'], type(net.first.bias).__name__, net(x(2, 3))
---
copied = copy.deepcopy(net)
copied.first is net.first, copied(x(2, 3)) - net(x(2, 3)), type(copied.factor).__name__, copied.factor.requires_grad
---
restored = pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))))
restored, dict(restored.state_dict())
---
net.eval(); [each.training for each in net.modules()], net.train() is net, net.first.training
---
net.train('yes')
---
net.double(); [str(each.dtype).rpartition('.')[2] for each in net.state_dict().values()], net(x(1, 3, dtype='float64'))
---
net.to(L.bfloat16).first.weight.dtype is L.bfloat16, net.half().scale.dtype is L.float16, net.float().factor
---
net.to(L.int32)
---
net.requires_grad_(False); [each.requires_grad for each in net.parameters()]
---
net(x(2, 3)).sum().backward(); net.zero_grad(set_to_none=False); [each.grad for each in net.parameters()]
---
net(x(2, 3)).sum().backward(); net.zero_grad(); [each.grad for each in net.parameters()]
---
seen = []; net.apply(lambda each: seen.append(type(each).__name__)); seen
---
net.get_submodule('rest.1'), net.get_parameter('rest.1.bias'), net.get_buffer('scale')
---
net.get_submodule('rest.5')
---
net.get_submodule('scale')
---
net.get_parameter('scale')
---
net.set_submodule('rest.1', nn.Linear(4, 3)); net
---
net.set_submodule('nothing.1', nn.Linear(4, 3))
---
net.nothing
---
net.first = 5
---
net.factor = L.ones(1)
---
net.factor = None; list(dict(net.named_parameters())), net.state_dict().keys() >= {'scale'}
---
net.scale = None; list(net.state_dict())
---
net.scale = L.zeros(3); net.scale, 'scale' in net._buffers
---
net.scale = 'text'
---
del net.first; del net.scale; del net.factor; list(net.state_dict()), hasattr(net, 'first')
---
net.register_buffer('a.b', L.ones(1))
---
net.register_buffer('', L.ones(1))
---
net.register_buffer('forward', L.ones(1))
---
net.register_parameter('a.b', None)
---
net.register_parameter('w', L.nn.Parameter(L.ones(1)) * 2)
---
w = L.nn.Parameter(L.ones(1)); net.register_parameter('other', w)
net.other is w, 'other' in dict(net.named_parameters())
---
net.add_module('a.b', nn.ReLU())
---
net.add_module('a', 5)
---
net.tensor = L.ones(2); 'tensor' in net.__dict__, 'tensor' in net.state_dict()
---
net.tensor = nn.Buffer(L.ones(2))
'tensor' in net._buffers, 'tensor' in net.state_dict(), isinstance(net.tensor, nn.Buffer)
---
net.tensor = nn.Buffer(L.ones(2), persistent=False); 'tensor' in net._buffers, 'tensor' in net.state_dict()
---
nn.Module().forward(1)
---
nn.Module()(1)
---
nn.Module(3)
---
nn.Module(a=3)
---
class Early(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(1, 1)
Early()
---
class Early(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(L.ones(1))
Early()
---
seen = []
h = net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
k = net.register_forward_hook(lambda m, args, out: seen.append(args[0]))
a = net(x(2, 3)); h.remove(); b = net(x(2, 3)); k.remove(); net(x(2, 3)); a, b, len(seen), seen[0]
---
net.register_forward_hook(lambda m, args, out: out * 0 + 1)
net.register_forward_hook(lambda m, args, out: out + 5, prepend=True)
net(x(1, 3))
---
class Named(nn.Module):
    def forward(self, a, b=1):
        return a * b
m = Named()
m.register_forward_pre_hook(lambda mod, args, kwargs: (args, {'b': kwargs['b'] + 1}), with_kwargs=True)
m.register_forward_hook(lambda mod, args, kwargs, out: (out, kwargs), with_kwargs=True)
m(x(2), b=3)
---
class Fails(nn.Module):
    def forward(self, a):
        raise ValueError('no')
seen = []; m = Fails(); m.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
try:
    m(1)
except ValueError as error:
    seen.append(str(error))
seen
---
seen = []
net.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
y = g(2, 3); net(y).sum().backward(); seen, y.grad
---
net.first.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
y = g(2, 3); net(y).sum().backward(); y.grad, net.first.weight.grad
---
net.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
y = g(2, 3); net(y).sum().backward(); y.grad
---
seen = []; net.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go))); net(x(2, 3)).sum().backward(); seen
---
class Product(nn.Module):
    def forward(self, a, b):
        seen.append((a.requires_grad, b.requires_grad))
        return a * b
seen = []; m = Product(); m.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
m(x(2), g(2)).sum().backward(); seen
---
net.register_full_backward_hook(lambda m, gi, go: gi); net.register_backward_hook(lambda m, gi, go: None)
---
seen = []; handle = L.nn.modules.module.register_module_forward_hook(lambda m, args, out: seen.append(type(m).__name__))
net(x(1, 3)); handle.remove(); net(x(1, 3)); seen
---
net._register_state_dict_hook(lambda m, state, prefix, meta: {'only': state['scale']}); net.state_dict()
---
net.register_state_dict_post_hook(lambda m, state, prefix, meta: state.pop('scale') and None); list(net.state_dict())
---
net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear()); net.load_state_dict({})
---
seen = []
def hook(m, state, prefix, *rest):
    seen.append((type(m).__name__, prefix, len(state)))
net.register_load_state_dict_pre_hook(hook); net.first.register_load_state_dict_pre_hook(hook)
net.load_state_dict(net.state_dict()); seen
---
class Extra(nn.Linear):
    def get_extra_state(self):
        return {'count': 4}
    def set_extra_state(self, state):
        self.count = state['count']
m = Extra(1, 1); n = Extra(1, 1); n.load_state_dict(m.state_dict()); list(m.state_dict()), n.count
---
shared = nn.Linear(2, 2); m = nn.ModuleList([shared, shared])
len(list(m.parameters())), len(list(m.named_parameters(remove_duplicate=False)))
---
nn.Parameter(L.ones(2)), nn.Parameter(L.ones(2), requires_grad=False), isinstance(L.ones(2), nn.Parameter)
---
p = nn.Parameter(L.ones(2))
type(p + 1).__name__, type(p.data).__name__, type(p.detach()).__name__, p.is_leaf, type(p[0]).__name__
---
p = nn.Parameter(L.ones(2)); q = copy.deepcopy(p); r = pickle.loads(pickle.dumps(p))
type(q).__name__, type(r).__name__, r.requires_grad, q is p
---
nn.Parameter(L.tensor([1]))
---
s = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
s[1:], s[-1], len(s), s.append(nn.Tanh()), s.insert(1, nn.Tanh()), s.pop(0)
---
s = nn.Sequential(OrderedDict([('a', nn.ReLU()), ('b', nn.Tanh())])); s, s.a, s[0] is s.a, s + s, s * 2
---
s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.ELU()); del s[1]; s, list(s.state_dict())
---
nn.Sequential(nn.ReLU())[3]
---
nn.Sequential(nn.ReLU(), 5)
---
m = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)] + [nn.ReLU()])
m, m[1:3], len(m), m.insert(1, nn.Tanh()), m.extend([nn.ELU()]), m + [nn.ReLU()]
---
m = nn.ModuleList([nn.ReLU(), nn.Tanh()]); m[0] = nn.ELU(); del m[-1]; m, nn.ModuleList()
---
nn.ModuleList([nn.ReLU()])(1)
---
d = nn.ModuleDict({'a': nn.ReLU(), 'b': nn.Linear(1, 1)}); d['c'] = nn.Tanh()
d, list(d), 'a' in d, len(d), d.pop('a'), list(d.keys()), list(d.items())
---
d = nn.ModuleDict([['a', nn.ReLU()]]); d.update({'b': nn.Tanh()}); d.clear(); d
---
nn.ModuleDict(5)
---
nn.ModuleDict({'a': 5})
---
p = nn.ParameterList([L.ones(2), nn.Parameter(L.ones(2, 3)), 7])
p, len(p), list(p.state_dict()), p[0].requires_grad, p[-1]
---
p = nn.ParameterList([L.ones(2)]); p.append(L.zeros(1)); p.extend([L.ones(1)]); p[0] = L.zeros(5)
[each.shape for each in p], len(list(p.parameters()))
---
nn.ParameterList([L.ones(1)])(2)
---
d = nn.ParameterDict({'a': L.ones(2), 'b': nn.Parameter(L.ones(1))})
d, list(d), list(d.state_dict()), d.pop('a'), len(d), d.get('x', 3)
---
sorted(set(dir(net)) - set(dir(type(net))) - {'_is_full_backward_hook'})[-5:]
---
m = nn.Linear(2, 2, device='meta'); m.weight.is_meta, m.to_empty(device='cpu').weight.is_meta
---
lin = nn.LazyLinear(3)
repr(lin), repr(lin.weight), type(lin.weight).__name__, lin(x(2, 5)).shape, type(lin).__name__, lin
---
try:
    nn.LazyLinear(3).weight + 1
except ValueError as error:
    said = str(error).partition(' in ')[0]
said
---
m = nn.LazyBatchNorm1d().double()
before = type(m.weight).__name__, m.weight.dtype, type(m.running_mean).__name__
before, m(x(2, 5, dtype='float64')), m.weight.requires_grad, m.running_mean.dtype, type(m).__name__
---
nn.LazyConv1d(2, 1).half().weight.dtype, nn.LazyLinear(2).to(L.float64)(x(2, 3, dtype='float64')).dtype
---
nn.LazyLinear(3).weight.shape
---
a, b = nn.LazyLinear(3), nn.Linear(4, 3); a.load_state_dict(b.state_dict()); a.weight.shape, a(x(1, 4)) - b(x(1, 4))
---
m = nn.DataParallel(nn.Linear(3, 2)); m, list(m.state_dict()), m(x(4, 3))
---
net.register_module('extra', None); net
---
list(nn.Module().parameters()), nn.Module()
""")


@pytest.mark.parametrize("text", PROGRAMS, ids=[f"{number}" for number in range(len(PROGRAMS))])
def test_program(text: str) -> None:
    check(MODEL + text)
