# python/attn/plain.py: tangled from chapters/10a-doors.nw; edit that file, not this one.
"""Attention as a bilinear form: the library libattn.so for Python."""
import contextlib
import ctypes
import inspect
import os
import re
import sys
from collections.abc import Mapping

TABLE = """
/** Scores S (B,H,n,m) = Q g K^T of Q (B,H,n,d) and K (B,H,m,d) in a metric
    g: null for 1/sqrt(d), (d) for a diagonal one, (d,d) for a full one
    (eq. score-matrix).  ATTN_VALUE: g is not symmetric, positive and
    finite. */
ATTN_FUNCTION(scores, (attn_in Q, attn_in K, attn_in g, attn_out S),
              (Q, K, g, S))
/** Of rows of scores S (B,H,n,m) at temperature T, in units of S, the
    weights A (B,H,n,m) and, each (B,H,n), logZ, the logarithm of the sum
    (eq. gibbs), entropy H in nats, free energy F in units of S, and
    effective number M of keys, 1 to m (def. entropy); each of the five
    may be null.  ATTN_VALUE: not 0 < T < infinity. */
ATTN_FUNCTION(gibbs, (attn_in S, double T, attn_out A, attn_out logZ,
                      attn_out H, attn_out F, attn_out M),
              (S, T, A, logZ, H, F, M))
/** w = F(A) v for each row of weights A, with its Fisher matrix F(A) =
    (diag A - A A^T) / T^2 at temperature T (thm.
    geometry-softmax-fisher); A, v and w are (B,H,n,m).  ATTN_VALUE: not
    0 < T < infinity. */
ATTN_FUNCTION(fisher_times, (attn_in A, attn_in v, double T, attn_out w),
              (A, v, T, w))
/** Natural gradient U of the scores, T times the centred cotangent dA of
    their weights A at temperature T (thm. geometry-natural); A, dA and U
    are (B,H,n,m).  ATTN_VALUE: not 0 < T < infinity. */
ATTN_FUNCTION(natural_gradient,
              (attn_in A, attn_in dA, double T, attn_out U),
              (A, dA, T, U))
/** States X (B,H,n,d) move to Y (B,H,n,d) among patterns K (B,H,m,d) at
    inverse temperature beta (eq. update), in the metric g as for scores;
    null is the identity.  ATTN_VALUE: not 0 < beta < infinity, or g is
    not symmetric, positive and finite. */
ATTN_FUNCTION(hopfield_update, (attn_in X, attn_in K, double beta,
                                attn_in g, attn_out Y),
              (X, K, beta, g, Y))
/** Energies E (B,H,n) of states X (B,H,n,d) among patterns K (B,H,m,d),
    infinite among none (eq. modern-energy); beta, g and ATTN_VALUE as for
    hopfield_update. */
ATTN_FUNCTION(hopfield_energy, (attn_in X, attn_in K, double beta,
                                attn_in g, attn_out E),
              (X, K, beta, g, E))
/** Attention with features Phi (B,H,n,r), Psi (B,H,m,r), values V
    (B,H,m,e) and outputs O (B,H,n,e) (eq. linear-attention): to all keys
    if causal is 0; if it is 1, where m = n, to those before and the
    query's own.  A row whose weights sum to 0 is 0. */
ATTN_FUNCTION(linear_attention, (attn_in Phi, attn_in Psi, attn_in V,
                                 int32_t causal, attn_out O),
              (Phi, Psi, V, causal, O))
/** Cotangents dPhi, dPsi, dV of the arguments Phi, Psi, V, in their
    shapes, given dO (B,H,n,e), that of O; causal as for linear_attention
    (sec. kernel-linear, thm. chunk-gradient). */
ATTN_FUNCTION(linear_attention_vjp,
              (attn_in Phi, attn_in Psi, attn_in V, int32_t causal,
               attn_in dO, attn_out dPhi, attn_out dPsi, attn_out dV),
              (Phi, Psi, V, causal, dO, dPhi, dPsi, dV))
/** Tables cosines, sines (B,H,n,w) of rotary positions at (B,H,n): plane
    a of w turns by base^(-a/w) radians for each position (sec.
    positions-rotations).  ATTN_VALUE: a position is not whole or beyond
    2^52, or not base > 0. */
ATTN_FUNCTION(rotations, (attn_in at, double base, attn_out cosines,
                          attn_out sines), (at, base, cosines, sines))
/** Y (B,H,n,d) is X (B,H,n,d) turned by tables cosines, sines (B,H,n,w),
    2w <= d (prop. rotary-rounding): in plane a features 2a and 2a + 1 if
    halves is 0, a and a + w if it is 1; by the opposite angles if back is
    1 and not 0.  Features from 2w on are copied.  Y may be X itself. */
ATTN_FUNCTION(rotate, (attn_in X, attn_in cosines, attn_in sines,
                       int32_t halves, int32_t back, attn_out Y),
              (X, cosines, sines, halves, back, Y))
/** Writes to program, of room bytes with the zero that ends it, the terms
    of the tensor equation text, of at most 1024 bytes, each a line of
    coefficient and subscripts as einsum wants them: of "s = 2 v^a w_a"
    the line "2 a,a->" (thm. covariant). */
ATTN_FUNCTION(subscripts, (const char *text, char *program, int64_t room),
              (text, program, room))
/** Attention O (B,H,n,e) of Q (B,H,n,d) to K (B,G,m,d), V (B,G,m,e), G
    dividing H, under a rule or null (eq. finished); logZ (B,H,n) or null,
    in natural logarithms.  In the rule, bias and keep are (B,H,n,m),
    slopes and sinks (H).  A query that sees no key has the output 0.
    Rounding: thm. flash-forward.  ATTN_VALUE: a scale, slope or sink is
    not finite, or not 0 < softcap < infinity. */
ATTN_FUNCTION(flash, (attn_in Q, attn_in K, attn_in V,
                      const attn_rule *rule, attn_out O, attn_out logZ),
              (Q, K, V, rule, O, logZ))
/** Cotangents of what flash was given, Q, K, V and rule: dQ, dK, dV in
    the shapes of those; of the rule's bias, dbias (B,H,n,m) or as bias
    is, and sinks, dsinks (H), or null; from its results O and logZ, and
    their cotangents dO and dlogZ, or null for 0 (thm. recompute).
    ATTN_VALUE as for flash. */
ATTN_FUNCTION(flash_vjp,
              (attn_in Q, attn_in K, attn_in V, const attn_rule *rule,
               attn_in O, attn_in logZ, attn_in dO, attn_in dlogZ,
               attn_out dQ, attn_out dK, attn_out dV, attn_out dbias,
               attn_out dsinks),
              (Q, K, V, rule, O, logZ, dO, dlogZ, dQ, dK, dV, dbias,
               dsinks))
/** A cache for G heads of keys of d numbers and values of e, each from 1
    to 2^20: of double for type ATTN_F64, of float for the other types of
    numbers, to which sixteen bits are converted when appended; its
    address goes to *made, for cache_free to end (sec. variants-cache). */
ATTN_FUNCTION(cache_new, (int32_t type, int64_t G, int64_t d, int64_t e,
                          attn_cache **made), (type, G, d, e, made))
/** Appends keys K (G,m,d) and values V (G,m,e) to a cache, all rows or
    none (sec. variants-cache). */
ATTN_OF_CACHE(cache_append, (attn_cache *cache, attn_in K, attn_in V),
              (cache, K, V))
/** The rows first .. end - 1 are in the cache, counted from the first
    that was ever appended (sec. variants-cache). */
ATTN_OF_CACHE(cache_rows, (attn_cache *cache, int64_t *first,
                           int64_t *end), (cache, first, end))
/** Forgets the rows of a cache before a given row >= 0, all if there are
    no others (sec. variants-cache). */
ATTN_OF_CACHE(cache_forget_before, (attn_cache *cache, int64_t row),
              (cache, row))
/** Attention O (H,n,e) of the last n queries Q (H,n,d) to a cache, whose
    G divides H, under a rule without bias, keep and lengths, or null;
    logZ (H,n) or null.  Positions count from the first row that was ever
    appended (thm. cache, sec. flash-decode).  ATTN_VALUE as for flash. */
ATTN_OF_CACHE(decode, (attn_cache *cache, attn_in Q,
                       const attn_rule *rule, attn_out O, attn_out logZ),
              (cache, Q, rule, O, logZ))
/** Ends a cache, which nobody may use any more; null is no error (sec.
    doors-cache). */
ATTN_OF_CACHE(cache_free, (attn_cache *cache), (cache))
"""
FORMATS = {"f": 1, "d": 2, "e": 4, "?": 5, "B": 5}

class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32),
                ("rank", ctypes.c_int32),
                ("extent", ctypes.c_int64 * 4),
                ("stride", ctypes.c_int64 * 4)]
class _Buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object),
                ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]
@contextlib.contextmanager
def seen(name, x, write):
    """The view of anything that has the buffer protocol; None is null."""
    if x is None:
        yield None
        return
    held = _Buffer()
    flags = 0x1C | (1 if write else 0)  # strides, format (and writable)
    try:
        _get(ctypes.py_object(memoryview(x)), ctypes.byref(held), flags)
    except (BufferError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
    try:
        yield _view(name, held)
    finally:
        _release(ctypes.byref(held))
def _view(name, b):
    mine = "@=<" if sys.byteorder == "little" else "@=>!"
    kind = FORMATS.get((b.format or b"B").decode().lstrip(mine))
    if kind is None:
        raise ValueError(f"{name}: elements of format {b.format!r}")
    if not 1 <= b.ndim <= 4:
        raise ValueError(f"{name}: rank {b.ndim}, expected 1 to 4")
    view = View(b.buf, kind, b.ndim)
    sizes = (ctypes.c_ssize_t * b.ndim).from_address(b.shape)
    steps = (ctypes.c_ssize_t * b.ndim).from_address(b.strides)
    for k in range(b.ndim):
        if steps[k] % b.itemsize:
            raise ValueError(f"{name}: strides of part of an element")
        view.extent[k] = sizes[k]
        view.stride[k] = steps[k] // b.itemsize
    return view
NUMBERS = ["scale", "softcap", "slope", "sink", "offset", "left",
           "right", "queries", "keys"]
ARRAYS = ["bias", "keep", "slopes", "sinks"]

class Rule(ctypes.Structure):
    _fields_ = ([("size", ctypes.c_int64), ("has", ctypes.c_int64)] +
                [(n, ctypes.c_double) for n in NUMBERS[:4]] +
                [(n, ctypes.c_int64) for n in NUMBERS[4:]] +
                [(n, ctypes.POINTER(View)) for n in ARRAYS])
def _rule(stack, given):
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError("rule: is not a dictionary")
    rule = Rule(ctypes.sizeof(Rule), 0)
    for name, value in given.items():
        if value is None and name in NUMBERS + ARRAYS:
            continue
        if name in NUMBERS:
            rule.has |= 1 << NUMBERS.index(name)
            try:
                setattr(rule, name, value)
            except TypeError:
                raise ValueError(f"rule: {name} is no number") from None
            if NUMBERS.index(name) > 3 and getattr(rule, name) != value:
                raise ValueError(f"rule: {name} is no number")
        elif name in ARRAYS:
            view = stack.enter_context(seen(name, value, False))
            setattr(rule, name, ctypes.pointer(view))
        else:
            raise ValueError(f"rule: no field is called {name}")
    return rule
def _load():
    here = os.path.join(os.path.dirname(__file__), "libattn.so.1")
    path = os.environ.get("ATTN_LIBRARY") or (
        here if os.path.exists(here) else "libattn.so.1")
    lib = ctypes.CDLL(path)
    for name in "message", "version", "cpu":
        getattr(lib, "attn_" + name).restype = ctypes.c_char_p
    lib.attn_use_cpu.argtypes = [ctypes.c_char_p]
    lib.attn_cache_free.argtypes = [ctypes.c_void_p]
    return lib
_lib = _load()
_get = ctypes.pythonapi.PyObject_GetBuffer
_get.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_release = ctypes.pythonapi.PyBuffer_Release
_release.argtypes = [ctypes.c_void_p]
_release.restype = None
ENTRY = re.compile(r"/\*\*(.*?)\*/\s*ATTN_\w+\(\s*(\w+),\s*\((.*?)\)",
                   re.S)
TYPES = {"attn_in": ctypes.POINTER(View),
         "attn_out": ctypes.POINTER(View),
         "const attn_rule *": ctypes.POINTER(Rule),
         "double": ctypes.c_double, "int32_t": ctypes.c_int32,
         "int64_t": ctypes.c_int64, "attn_cache *": ctypes.c_void_p,
         "attn_cache **": ctypes.POINTER(ctypes.c_void_p),
         "int64_t *": ctypes.POINTER(ctypes.c_int64),
         "const char *": ctypes.c_char_p, "char *": ctypes.c_char_p}
def entries():
    """name, documentation and (type, name) of all parameters"""
    for doc, name, parameters in ENTRY.findall(TABLE):
        pairs = [re.match(r"(.*?[\s*])(\w+)$", p.strip()).groups()
                 for p in parameters.split(",")]
        yield (name, " ".join(doc.split()),
               [(kind.strip(), p) for kind, p in pairs])
def _function(name, doc, parameters):
    call = getattr(_lib, "attn_" + name)
    call.argtypes = [TYPES[kind] for kind, _ in parameters]
    def function(*args, **named):
        args = _bound.bind(*args, **named).args
        with contextlib.ExitStack() as stack:
            held = [_argument(stack, k, p, x) for (k, p), x
                    in zip(parameters, args, strict=True)]
            try:
                _check(call(*held))
            except ctypes.ArgumentError as error:
                raise TypeError(f"{name}: {error}") from None
    _bound = inspect.Signature([inspect.Parameter(
        p, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for _, p in parameters])
    function.__name__, function.__doc__ = name, doc
    function.__signature__ = _bound
    return function
def _argument(stack, kind, name, x):
    if kind in ("attn_in", "attn_out"):
        view = stack.enter_context(seen(name, x, kind == "attn_out"))
        return None if view is None else ctypes.pointer(view)
    if kind == "const attn_rule *":
        rule = _rule(stack, x)
        return None if rule is None else ctypes.pointer(rule)
    if kind in ("int32_t", "int64_t") and TYPES[kind](x).value != x:
        raise ValueError(f"{name}: {x} is too large")
    return x
def _check(code):
    kinds = {3: MemoryError, 5: RuntimeError}
    if code:
        raise kinds.get(code, ValueError)(
            _lib.attn_message().decode(errors="replace"))
for _name, _doc, _parameters in entries():
    globals()[_name] = _function(_name, _doc, _parameters)
class Cache:
    """Keys and values of G heads; type 1 is float, 2 double."""
    def __init__(self, type, G, d, e):
        self._made = ctypes.c_void_p()
        cache_new(type, G, d, e, ctypes.byref(self._made))
    def append(self, K, V):
        cache_append(self._made, K, V)
    def decode(self, Q, rule, O, logZ):
        decode(self._made, Q, rule, O, logZ)
    def forget_before(self, row):
        cache_forget_before(self._made, row)
    def __len__(self):
        first, end = ctypes.c_int64(), ctypes.c_int64()
        cache_rows(self._made, first, end)
        return end.value - first.value
    def __del__(self):
        if getattr(self, "_made", None):
            made, self._made.value = self._made.value, None
            _lib.attn_cache_free(made)
_subscripts = subscripts
def subscripts(text):
    if "\0" in text:
        raise ValueError("eq: a text with a zero in it")
    room = ctypes.create_string_buffer(1024)
    _subscripts(text.encode(), room, len(room))
    return room.value.decode()
subscripts.__doc__ = _subscripts.__doc__
def version():
    return _lib.attn_version().decode()
def cpu():
    return _lib.attn_cpu().decode()
def use_cpu(name):
    _check(_lib.attn_use_cpu(None if name is None else name.encode()))
_IN_C = {"attn_cache *", "attn_cache **", "char *"}
__all__ = ["Cache", "subscripts", "version", "cpu", "use_cpu"] + [
    name for name, _, parameters in entries()
    if not _IN_C & {kind for kind, _ in parameters}]
