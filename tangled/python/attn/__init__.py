# python/attn/__init__.py: tangled from chapters/10b-python.nw; edit that file, not this one.
"""Attention as a bilinear form: the library libattn.so for Python."""
from typing import Any

try:
    from ._attn import *
    compiled = True
except ImportError:
    from .plain import *
    compiled = False
__version__ = version()
def attention(Q: Any, K: Any, V: Any, **rule: Any) -> Any:
    """Attention of arrays of NumPy: softmax(Q K^T / sqrt(d)) V, (..., n, e).

    The rule by name, for query i at i + offset among the keys:
    left, right: how many keys it sees on either side; right=0 is causal
    offset: keys - queries, of those in use, if absent
    queries, keys: how many are in use
    scale: 1 / sqrt(d) if absent; softcap; slope of distance; sink
    slopes, sinks (H) in place of slope, sink
    bias (B, H, n, m) is added; keep, of bool, forbids where it is False
    """
    import numpy
    O = numpy.empty((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    flash(Q, K, V, rule or None, O, None)
    return O
def rotary(X: Any, at: Any = None, base: float = 10000.0,
           width: int | None = None, halves: bool = False) -> Any:
    """X (..., n, d) of NumPy, turned by rotary positions.

    at: positions (..., n), by default 0, 1, ...; width: how many features
    turn, by default all; halves: features half a width apart are a pair.
    """
    import numpy
    at = numpy.asarray(range(X.shape[-2]) if at is None else at, "d")
    if at.ndim == 2 and X.ndim == 4:
        at = at[:, None]
    kind = numpy.result_type(X.dtype, "f")
    planes, odd = divmod(X.shape[-1] if width is None else width, 2)
    if odd:
        raise ValueError(f"rotary: a width of {2 * planes + 1} is odd")
    tables = numpy.empty((2, *at.shape, planes))
    rotations(at, base, *tables)
    Y = numpy.empty(X.shape, X.dtype)
    rotate(X, *tables.astype(kind), int(halves), 0, Y)
    return Y
def equation(text: str, *factors: Any) -> Any:
    """The left side of a tensor equation of the book, by NumPy, such as
    equation("S^{ij} = Q^{ia} g_{ab} K^{jb}", Q, g, K): one array for each
    factor, with slots at the heights that the equation says.
    """
    import numpy
    rest, total, known = [numpy.asarray(x) for x in factors], 0, {}
    plan = [line.split(" ") for line in subscripts(text).splitlines()]
    if sum(slots.count(",") + 1 for _, slots in plan) != len(rest):
        raise ValueError("eq: there must be as many arguments as factors")
    for coefficient, slots in plan:
        left, free = slots.split("->")
        mine, rest = rest[:left.count(",") + 1], rest[left.count(",") + 1:]
        known = {a: known[a] for a in known if a in free}
        for letters, x in zip(left.split(","), mine, strict=True):
            if len(letters) != x.ndim:
                raise ValueError(f"eq: {x.ndim} slots in place of {letters}")
            for letter, extent in zip(letters, x.shape, strict=True):
                if known.setdefault(letter, extent) != extent:
                    raise ValueError(f"eq: index {letter} has extent "
                                     f"{known[letter]} and {extent}")
        number, _, over = coefficient.partition("/")
        part = numpy.einsum(slots, *mine, optimize=True) * int(number)
        total = total + (part / int(over) if over else part)
    return total

__all__ = ["compiled"] + [name for name, x in list(globals().items())
                          if callable(x) and name[0] != "_" and x is not Any]
