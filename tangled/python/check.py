# python/check.py: tangled from chapters/10a-doors-checks.nw; edit that file, not this one.
import array
import copy
import ctypes
import math
import os
import sys
import threading
from collections.abc import Mapping
from types import MappingProxyType

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import attn

def matrix(n, d, f, type="d"):
    x = array.array(type, (f(k) for k in range(n * d)))
    return memoryview(x).cast("B").cast(type, (n, d)) if n * d else None

def softmax_rows(Q, K, V):
    n, d = Q.shape
    for i in range(n):
        s = [sum(Q[i, a] * K[j, a] for a in range(d)) / math.sqrt(d)
             for j in range(K.shape[0])]
        w = [math.exp(x - max(s)) for x in s]
        yield [sum(w[j] * V[j, c] for j in range(len(w))) / sum(w)
               for c in range(V.shape[1])]
def near(a, b):
    assert abs(a - b) <= 1e-12, (a, b)

Q, K = matrix(3, 4, math.sin), matrix(5, 4, math.cos)
V, O = matrix(5, 2, math.tan), matrix(3, 2, lambda k: 0.0)
attn.flash(Q, K, V, None, O, None)
for i, row in enumerate(softmax_rows(Q, K, V)):
    for c, x in enumerate(row):
        near(O[i, c], x)
causal = matrix(3, 2, lambda k: 0.0)
attn.flash(Q, K, V, {"right": 0, "offset": 0}, causal, None)
near(causal[0, 0], V[0, 0])
attn.flash(Q, K, V, MappingProxyType({"right": 0, "offset": 0}), causal,
           None)
near(causal[0, 0], V[0, 0])
attn.flash(Q, K[::-1], V[::-1], None, causal, None)
for i in range(3):
    near(causal[i, 1], O[i, 1])
def refuses(words, f, *args):
    try:
        f(*args)
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError("not refused: " + words)

refuses("flash: Q is 3x4 but K is 5x2", attn.flash, Q, V, V, None, O, None)
refuses("overlaps", attn.flash, Q, K, V, None, Q, None)
refuses("no field", attn.flash, Q, K, V, {"left_": 1}, O, None)
refuses("dictionary", attn.flash, Q, K, V, 5, O, None)
for far in (2 ** 64, 2.5, "x"):
    refuses("left is no number", attn.flash, Q, K, V, {"left": far}, O, None)
refuses("O: elements", attn.flash, Q, K, V, None,
        memoryview(array.array("i", [0])), None)
refuses("O: ", attn.flash, Q, K, V, None, O.toreadonly(), None)
A = matrix(3, 4, lambda k: 0.0)
refuses("positive", attn.gibbs, Q, 0.0, A, None, None, None, None)
def raises(kind, f, *args):
    try:
        f(*args)
    except BaseException as error:
        assert type(error) is kind, repr(error)
    else:
        raise AssertionError(f"not raised: {kind}")

raises(TypeError, attn.gibbs, Q, "a", A, None, None, None, None)
if not attn.compiled:
    for code, kind in (1, ValueError), (3, MemoryError), (5, RuntimeError):
        raises(kind, attn.plain._check, code)
class Ending(Mapping):
    __len__ = __getitem__ = None
    def __iter__(self):
        raise KeyboardInterrupt
    keys = items = __iter__
raises(KeyboardInterrupt, attn.flash, Q, K, V, Ending(), O, None)
refuses("dictionary", attn.flash, Q, K, V, [("left", 1)], O, None)
same, weights = ((ctypes.c_double * 4 * 2)() for _ in range(2))
attn.gibbs(same, 1.0, weights, None, None, None, None)
assert [list(row) for row in weights] == [[0.25] * 4] * 2
used = attn.cpu()
refuses("pdp11", attn.use_cpu, "pdp11")
attn.use_cpu(None)
attn.use_cpu(used)
assert attn.cpu() == used and attn.version().count(".") == 2
refuses("zero", attn.subscripts, "s = v^a w_a\0")
for cut in range(4):
    refuses("no code", attn.use_cpu, "a" * cut + "\u00e9\u20ac" * 60)
assert "kernel" not in attn.flash.__doc__
assert "Attention O (B,H,n,e)" in attn.flash.__doc__
attn.flash(logZ=None, O=causal, rule=None, V=V, K=K, Q=Q)
near(causal[0, 1], O[0, 1])
if not attn.compiled:
    assert list(attn.flash.__signature__.parameters) == [
        "Q", "K", "V", "rule", "O", "logZ"]
from attn import plain
assert len(list(plain.entries())) == plain.TABLE.count("/**")
assert set(attn.__all__) - set(plain.__all__) == {
    "attention", "compiled", "equation", "rotary"}
assert set(plain.__all__) < set(attn.__all__)
assert not hasattr(attn, "ctypes") and not hasattr(attn, "decode")
cache = attn.Cache(2, 1, 4, 2)
cube = lambda x: x.cast("B").cast("d", (1, *x.shape))
cache.append(cube(K), cube(V))
assert len(cache) == 5
out = matrix(3, 2, lambda k: 0.0)
cache.decode(cube(Q), None, cube(out), None)
for i in range(3):
    near(out[i, 0], O[i, 0])
if not attn.compiled:
    other = copy.copy(cache)
    del other
    refuses("null", len, cache)
del cache
try:
    import numpy
except ImportError:
    print("without numpy")
else:
    q = numpy.sin(numpy.arange(12.0)).reshape(4, 3).T
    o = numpy.zeros((3, 2))
    attn.flash(q, K, V, None, o, None)
    o16, q16 = o.astype("e"), q.astype("e")
    k16, v16 = numpy.asarray(K).astype("e"), numpy.asarray(V).astype("e")
    attn.flash(q16, k16, v16, None, o16, None)
    assert abs(o16 - o).max() < 0.02
    x, at = numpy.sin(numpy.arange(24.0)).reshape(2, 3, 4), [5, 0, 2]
    angle = numpy.array(at)[:, None] * 100.0 ** -numpy.array([0, 0.5])
    c, s = numpy.cos(angle), numpy.sin(angle)
    near2 = lambda a, b: near(abs(numpy.asarray(a) - b).max(), 0)
    a, b = x[..., :2], x[..., 2:]
    near2(attn.rotary(x, at, 100, halves=True),
          numpy.concatenate([a * c - b * s, a * s + b * c], -1))
    y, (a, b) = attn.rotary(x, at, 100), (x[..., ::2], x[..., 1::2])
    near2(y[..., ::2], a * c - b * s)
    near2(y[..., 1::2], a * s + b * c)
    near2(attn.rotary(x, width=2)[..., 2:], x[..., 2:])
    part = attn.rotary(x.astype("f"), at, 100)
    assert part.dtype == "f" and abs(part - y).max() < 1e-6
    refuses("whole", attn.rotary, x, [0.5, 1, 2])
    refuses("odd", attn.rotary, x, None, 100, 3)
    q, k, v = (numpy.asarray(m) for m in (Q, K, V))
    g = numpy.diag([1.0, 2, 3, 4])
    line = "S^{ij} = Q^{ia} g_{ab} K^{jb}"
    near2(attn.equation(line, q, g, k), q @ g @ k.T)
    near2(attn.equation(r"x^i = -\tfrac{1}{2} A^i{}_j y^j + 2 z^i",
                        g, q[0], q[1]), 2 * q[1] - g @ q[0] / 2)
    near2(attn.equation("s = A^a{}_a", g), 10)
    refuses("with a metric g_{ab}", attn.equation, "S^{ij} = Q^{ia} K^{ja}", q, k)
    refuses("as many arguments", attn.equation, line, q, k)
    refuses("slots", attn.equation, line, q, g[0], k)
    refuses("index a has extent 4 and 1", attn.equation, line, q, g[:1], k)
    refuses("index i has extent 3 and 1", attn.equation, "x^i = y^i + z^i",
            q[:, 0], q[:1, 0])
    assert attn.subscripts(line) == "1 ia,ab,jb->ij\n"
    print("with numpy", numpy.__version__)
outputs = [matrix(3, 2, lambda k: 0.0) for _ in range(8)]
threads = [threading.Thread(
    target=lambda o: [attn.flash(Q, K, V, None, o, None)
                      for _ in range(50)], args=(o,)) for o in outputs]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert all(o == O for o in outputs)
