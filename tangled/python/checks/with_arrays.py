# python/checks/with_arrays.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import importlib.metadata
import os
import signal
import subprocess
import sys
import threading
import time

import jax
import numpy
import torch

import attn
import attn.plain
from facts import fact

assert attn.compiled
assert importlib.metadata.version("attn") == attn.__version__
def refuses(words, f, *args, **named):
    try:
        f(*args, **named)
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words} {args!r:.300}")

def frozen(x):
    x = x.view()
    x.flags.writeable = False
    return x
def truth(Q, K, V):
    S = Q @ K.swapaxes(-1, -2) / numpy.sqrt(Q.shape[-1])
    A = numpy.exp(S - S.max(-1, keepdims=True))
    return A / A.sum(-1, keepdims=True) @ V

def near(O, Q, K, V, u=2.0 ** -53, r=0.0):
    O, Q, K, V = (numpy.asarray(x, "f8") for x in (O, Q, K, V))
    d, m = K.shape[-1], K.shape[-2]
    q, k = ((x * x).sum(-1).max(initial=0.0) ** 0.5 for x in (Q, K))
    v = abs(V).max(initial=0.0)
    unit = 2 * (d + 8) * d ** -0.5 * q * k + 2 * m + 12
    error = abs(O - (truth(Q, K, V) if m else 0)).max(initial=0.0)
    assert error <= ((u + 2.0 ** -53) * unit + r) * v, error
rng = numpy.random.default_rng(1)
Q, K, V = (rng.standard_normal((2, 3, n, 8)) for n in (5, 7, 7))
O = numpy.empty_like(Q)
attn.flash(Q, K, V, None, O, None)
near(O, Q, K, V)
assert (attn.attention(Q, K, V, left=0, right=0, offset=0)
        == V[:, :, :5]).all()
q = Q.swapaxes(1, 2).copy().swapaxes(1, 2)[:, ::-1]
attn.flash(q, K[:, ::-1], V[:, ::-1], None, O, None)
near(O[:, ::-1], Q, K, V)
t = [torch.tensor(x) for x in (Q, K, V)]
out = torch.empty(Q.shape, dtype=torch.float64)
attn.flash(*t, None, out, None)
near(out, Q, K, V)
for kind in (torch.bfloat16, torch.float16):
    out = torch.empty(Q.shape, dtype=kind)
    short = [x.to(kind) for x in t]
    attn.flash(*short, None, out, None)
    near(out.double(), *(x.double() for x in short), 2.0 ** -24,
         torch.finfo(kind).eps / 2)
refuses("sign is still to be changed", attn.flash, torch._neg_view(t[0]),
        *t[1:], None, out, None)
t[0].requires_grad_()
refuses("Tensor is no array that can be read, since it needs a gradient",
        attn.flash, *t, None, out, None)
j = [jax.numpy.asarray(x, "float32") for x in (Q, K, V)]
out = numpy.empty(Q.shape, "float32")
attn.flash(*j, None, out, None)
near(out, *j, 2.0 ** -24)
for x in (O.astype("f4"), O.astype("f4").astype(jax.numpy.bfloat16)):
    refuses("is no array that can be written", attn.flash, *j, None,
            jax.numpy.asarray(x), None)
keep = rng.integers(0, 3, (2, 3, 5, 7)).astype("u1")
keep[..., 0] = 1
assert (attn.attention(Q, K, V, keep=keep) ==
        attn.attention(Q, K, V, keep=keep != 0)).all()
refuses("keep: elements are signed integers of 8 bits", attn.attention, Q, K,
        V, keep=keep.astype("i1"))
y, z = numpy.array([2 ** 60 + 1, 3]), numpy.array([5, 7])
x = attn.equation("x^i = y^i + 2 z^i", y, z)
assert x.dtype == y.dtype and (x == y + 2 * z).all()
x = attn.equation(r"x^i = \tfrac{1}{2} z^i", z)
assert (x == z / 2).all()
O[:] = 7
bad = {
    "rank 5": Q[None], "rank 0": numpy.float64(1.0) + numpy.zeros(()),
    "int": Q.astype(int), "complex": Q.astype(complex),
    "object": Q.astype(object), "string": "Q", "number": 3.0,
    "list": Q.tolist(), "float": Q.astype("f"), "wide": Q[..., :-1],
    "few": Q[:, :2], "big endian": Q.astype(">f8"),
    "odd": numpy.zeros(8 * Q.size + 4, "u1")[4:].view("f8").reshape(
        Q.shape), "batch": Q[:1],
    "meta": torch.empty(Q.shape, device="meta", dtype=torch.float64)}
for name, x in bad.items():
    for args in ((x, K, V), (Q, x, V), (Q, K, x)):
        refuses("", attn.flash, *args, None, O, None)
refuses("Q: elements are signed integers of 64 bits", attn.flash,
        Q.astype(int), K, V, None, O, None)
refuses("K: elements are complex numbers of 128 bits", attn.flash, Q,
        K.astype(complex), V, None, O, None)
for name, o in {"itself": Q, "part": K[:, :, :5], "read": frozen(O),
                "one": numpy.broadcast_to(O[:, :1], O.shape),
                "none": None}.items():
    refuses("", attn.flash, Q, K, V, None, o, None)
for rule in ({"left_": 1}, {"left": "x"}, {"bias": Q}, {"keep": K}, 3,
             {"scale": [1]}, {"left": 2 ** 60}, {"left": 2 ** 64},
             {"left": 2.5}, {"\udc80": 1}, {1: 1}):
    refuses("", attn.flash, Q, K, V, rule, O, None)
for door in (attn, attn.plain):
    for rule in ({"lefft": None}, {"lefft": 1}):
        refuses("no field is called lefft", door.flash, Q, K, V, rule, O, None)
assert (O == 7).all()
nothing = dict.fromkeys("scale softcap slope sink offset left right queries "
                        "keys bias keep slopes sinks".split())
for door in (attn, attn.plain):
    door.flash(Q, K, V, nothing, O, None)
    near(O, Q, K, V)
class Grasping:
    def __init__(self, rule):
        self.rule, self.x = rule, numpy.zeros((5, 7))

    def __getattr__(self, name):
        self.__dict__.get("rule", {}).clear()
        raise AttributeError(name)

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

for _ in range(100):
    rule = {}
    rule |= {"bias": Grasping(rule), "scale": 1.0, "left": 3,
             "sinks": numpy.zeros(3)}
    attn.flash(Q, K, V, rule, O, None)
class Ending:
    def __init__(self, kind):
        self.kind = kind

    def __dlpack__(self, **options):
        raise self.kind

class EndingBuffer:
    def __init__(self, kind):
        self.kind = kind

    def __buffer__(self, flags):
        raise self.kind
def heard(ending):
    for kind, seen in ((KeyboardInterrupt, KeyboardInterrupt),
                       (SystemExit, SystemExit), (RuntimeError, ValueError)):
        array = ending(kind)
        for args in ((array, K, V, None, O), (Q, K, V, None, array),
                     (Q, K, V, {"bias": array}, O)):
            try:
                attn.flash(*args, None)
            except BaseException as error:
                assert type(error) is seen, repr(error)
            else:
                raise AssertionError

heard(Ending)
if sys.version_info >= (3, 12):
    heard(EndingBuffer)
typed = """
import attn, numpy
x = numpy.ones((2, 3))
attn.flash(x, x, x, {"right": 0}, memoryview(bytearray(48)), None)
attn.use_cpu(None)
cache = attn.Cache(2, 1, 3, 3)
cache.append(x, x)
n: int = len(cache)
attn.flash([[1.0]], x, x, None, x, None)
"""
found = subprocess.run(
    [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null",
     "-c", typed], capture_output=True, text=True).stdout
assert found.count(": error:") == 1, found
assert 'incompatible type "list[list[float]]"' in found, found
def drawn(shape, kind):
    x = rng.standard_normal(tuple(n * 2 for n in shape)).astype(kind)
    cut = [slice(None, n) if rng.random() < .5 else
           slice(None, 2 * n, 2) if rng.random() < .5 else
           slice(2 * n - 1, n - 1, -1) if n else slice(0, 0)
           for n in shape]
    x = x[tuple(cut)]
    order = rng.permutation(len(shape)) if rng.random() < .3 else None
    return x if order is None else numpy.transpose(
        numpy.transpose(x, order).copy(), numpy.argsort(order))
def random_call(count):
    B, H, n, m, d, e = rng.integers(0, 4, 6) + (1, 1, 0, 0, 1, 1)
    kind = rng.choice(["f4", "f8"])
    shapes = [[B, H, n, d], [B, H, m, d], [B, H, m, e], [B, H, n, e]]
    wrong = rng.random() < .3
    if wrong:
        shapes[rng.integers(4)][rng.integers(4)] += 1
    Q, K, V, O = (drawn(s, kind if rng.random() < .95 else "f8")
                  for s in shapes)
    before = O.copy()
    try:
        attn.flash(Q, K, V, None, O, None)
    except ValueError as error:
        assert str(error) and numpy.array_equal(O, before)
        assert wrong or len({x.dtype for x in (Q, K, V, O)}) > 1, error
        count["refused"] += 1
    else:
        near(O, Q, K, V, 2.0 ** (-24 if O.dtype == "f4" else -53))
        count["right"] += 1
count = {"refused": 0, "right": 0}
for _ in range(20000):
    random_call(count)
for key, number in count.items():
    fact("fuzz/" + key, number)
assert min(count.values()) > 1000
def counts_meanwhile():
    big = rng.standard_normal((4096, 64))
    out, beats, busy = numpy.empty_like(big), [0], [True]
    def beat():
        while busy[0]:
            beats[0] += 1
            time.sleep(0.001)
    thread = threading.Thread(target=beat)
    thread.start()
    time.sleep(0.01)
    before, start = beats[0], time.perf_counter()
    attn.flash(big, big, big, None, out, None)
    took, after = time.perf_counter() - start, beats[0]
    busy[0] = False
    thread.join()
    assert after - before > took / 0.01, (after - before, took)
class Lent:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.copy().__dlpack__(**options)

def same_bits():
    alone = attn.attention(Q, K, V)
    def work(found):
        O = numpy.empty_like(alone)
        for _ in range(200):
            attn.flash(Lent(Q), Lent(K), Lent(V), None, O, None)
            found.append((O == alone).all())
    found = [[] for _ in range(8)]
    threads = [threading.Thread(target=work, args=(f,)) for f in found]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(len(f) == 200 and all(f) for f in found)
counts_meanwhile()
same_bits()
def after_fork():
    big = rng.standard_normal((4, 512, 64))
    alone = attn.attention(big, big, big)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        same = attn.attention(big, big, big) == alone
        os._exit(0 if same.all() else 1)
    assert os.waitpid(child, 0)[1] == 0
after_fork()
