# python/attn/__init__.py: tangled from chapters/10b-python.nw; edit that file, not this one.
"""Attention as a bilinear form: the library libattn.so for Python."""
from typing import Any

try:
    from ._attn import *
    compiled = True
except ImportError:
    from .plain import *
    compiled = False
def attention(Q: Any, K: Any, V: Any, **rule: Any) -> Any:
    """Attention of arrays of NumPy: softmax(Q K^T / sqrt(d)) V, (..., n, e).

    The rule by name: scale, softcap, left, right, offset, bias, keep ...
    """
    import numpy
    O = numpy.empty((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    flash(Q, K, V, rule or None, O, None)
    return O
