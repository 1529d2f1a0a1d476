"""autocast as it is set without a block: by kind of device, nested, and beside blocks."""

from __future__ import annotations

from .programs import check, programs

PROGRAMS = programs("""
L.GradScaler is L.amp.GradScaler
---
def state():
    return L.is_autocast_enabled("cpu"), str((L.ones(2, 2) @ L.ones(2, 2)).dtype)
seen = [state(), L.set_autocast_enabled("cpu", True), state(), L.is_autocast_enabled()]
with L.autocast("cpu", enabled=False):
    seen += [state()]
    L.set_autocast_enabled("cpu", True)
    seen += [state()]
    with L.autocast("cpu", dtype=L.float16):
        seen += [state()]
        L.set_autocast_enabled("cpu", False)
        seen += [state()]
    seen += [state()]
seen += [state(), L.set_autocast_enabled("cpu", False), state()]
seen
---
L.set_autocast_enabled("cpu", True)
with L.autocast("cuda"):
    seen = [L.is_autocast_enabled("cpu"), L.is_autocast_enabled("cuda"), str((L.ones(2, 2) @ L.ones(2, 2)).dtype)]
L.set_autocast_enabled("cpu", False)
seen
---
def dtypes():
    return [str(L.get_autocast_dtype(kind)) for kind in ("cpu", "cuda", "xpu", "mps", "hpu", "xla")]
seen = [dtypes(), L.set_autocast_dtype("cpu", L.float16), L.set_autocast_dtype("cuda", L.bfloat16), dtypes()]
with L.autocast("cpu"):
    seen += [str((L.ones(2, 2) @ L.ones(2, 2)).dtype)]
    L.set_autocast_dtype("cpu", L.bfloat16)
    seen += [str((L.ones(2, 2) @ L.ones(2, 2)).dtype)]
seen += [dtypes(), L.set_autocast_dtype("cpu", L.bfloat16), L.set_autocast_dtype("cuda", L.float16)]
seen
---
seen = [L.autocast_increment_nesting(), L.autocast_increment_nesting(), L.autocast_decrement_nesting()]
with L.autocast("cpu"):
    seen += [L.autocast_increment_nesting(), L.autocast_decrement_nesting()]
seen + [L.autocast_decrement_nesting(), L.clear_autocast_cache()]
---
seen = [L.is_autocast_cpu_enabled(), L.set_autocast_cpu_enabled(True), L.is_autocast_enabled("cpu")]
seen += [L.set_autocast_cpu_enabled(False), str(L.get_autocast_cpu_dtype()), L.set_autocast_cpu_dtype(L.float16)]
seen + [str(L.get_autocast_dtype("cpu")), L.set_autocast_cpu_dtype(L.bfloat16)]
---
[L.set_autocast_enabled(True), L.is_autocast_enabled(), L.is_autocast_enabled("cpu"), L.set_autocast_enabled(False)]
---
class Seen(L.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        dtypes.append(str(args[0].dtype))
        return func(*args, **(kwargs or {}))
dtypes, x = [], L.ones(2, 2)
with Seen():
    L.set_autocast_enabled("cpu", True)
    y = L.mm(x, x)
z = L.mm(x, x)
L.set_autocast_enabled("cpu", False)
dtypes[-1:], y, z, L.mm(x, x)
---
L.set_autocast_enabled(False, "cpu")
---
L.set_autocast_enabled("cpu")
---
L.set_autocast_enabled("cpu", 1)
---
L.set_autocast_enabled("abc", True)
---
L.set_autocast_enabled("meta", True)
---
L.is_autocast_enabled("abc")
---
L.is_autocast_enabled("meta")
---
L.is_autocast_enabled(3)
---
L.get_autocast_dtype("meta")
---
L.get_autocast_dtype(3)
---
L.set_autocast_dtype("cpu", 3)
---
L.set_autocast_cpu_dtype(3)
---
L.set_autocast_cpu_enabled(1)
---
L.set_autocast_cache_enabled(1)
---
L.autocast("meta")
""")


def test_autocast() -> None:
    for text in PROGRAMS:
        check(text)
