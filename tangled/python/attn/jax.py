# python/attn/jax.py: tangled from chapters/10b-python.nw; edit that file, not this one.
"""Attention for JAX: dot_product_attention."""
import ctypes
import functools
import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy
from jax.nn import dot_product_attention as theirs

_path = os.path.join(os.path.dirname(__file__), "libattn_xla.so")
if not os.path.exists(_path):
    raise ImportError("attn was built without JAX: pip install "
                      "--no-build-isolation, with JAX, builds its door")
_lib = ctypes.CDLL(_path)
for _name in "flash", "flash_vjp":
    jax.ffi.register_ffi_target(
        "attn_" + _name, platform="cpu",
        fn=jax.ffi.pycapsule(getattr(_lib, "attn_xla_" + _name)))
def _call(name: str, out: Any, args: Any, bias: Any, mask: Any,
          rule: tuple[Any, ...]) -> Any:
    scale, left, right = rule
    has = 1 + 32 * (left is not None) + 64 * (right is not None)
    rest = [x for x in (bias, mask) if x is not None]
    return jax.ffi.ffi_call("attn_" + name, out,
                            vmap_method="broadcast_all")(
        *args, *rest, has=numpy.int64(has), scale=numpy.float64(scale),
        arrays=numpy.int64((bias is not None) + 2 * (mask is not None)),
        left=numpy.int64(left or 0), right=numpy.int64(right or 0))
@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _flash(rule, q, k, v, bias, mask):
    return _forward(rule, q, k, v, bias, mask)[0]

def _forward(rule, q, k, v, bias, mask):
    B, n, H, _ = q.shape
    wide = jnp.promote_types(q.dtype, jnp.float32)
    O, L = _call("flash", (
        jax.ShapeDtypeStruct((B, n, H, v.shape[-1]), q.dtype),
        jax.ShapeDtypeStruct((B, H, n), wide)), (q, k, v), bias, mask, rule)
    return (O, L), (q, k, v, bias, mask, O, L)
def _backward(rule, kept, bars):
    q, k, v, bias, mask, O, L = kept
    B, n, H, _ = q.shape
    like = lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype)
    full = (B, H, n, k.shape[1]) if bias is not None else (1, 1, 1)
    wide = L.dtype if bias is None else bias.dtype
    dq, dk, dv, dbias = _call(
        "flash_vjp", (like(q), like(k), like(v),
                      jax.ShapeDtypeStruct(full, wide)),
        (q, k, v, O, L, bars[0].astype(O.dtype)), bias, mask, rule)
    return dq, dk, dv, (None if bias is None else _summed(
        dbias, bias.shape)), None

_flash.defvjp(_forward, _backward)
def _summed(x, shape):
    axes = tuple(k for k, n in enumerate(shape) if n != x.shape[k])
    return x.sum(axes, keepdims=True)
def _of_rank_four(x):
    x = jnp.asarray(x)
    return x.reshape((1,) * (4 - x.ndim) + x.shape)

def _below(n, length):
    return jnp.arange(n)[None] < length[:, None]
def _with_lengths(mask, q, k, rows, columns):
    both = [] if mask is None else [mask]
    if rows is not None:
        both.append(_below(q.shape[1], rows)[:, None, :, None])
    if columns is not None:
        both.append(_below(k.shape[1], columns)[:, None, None, :])
    return functools.reduce(jnp.logical_and, both) if both else None
def dot_product_attention(
        query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None,
        *, scale: float | None = None, is_causal: bool = False,
        query_seq_lengths: Any = None, key_value_seq_lengths: Any = None,
        local_window_size: int | tuple[int, int] | None = None,
        implementation: str | None = None,
        return_residual: bool = False) -> Any:
    """jax.nn's function on the kernel of the book.

    query (..., n, H, d), key (..., m, G, d), value (..., m, G, e), bias and
    mask (..., H, n, m); (..., n, H, e), and log-sum-exps (..., n, H) if
    return_residual. Raises what JAX raises, ValueError for an
    implementation other than "xla".
    """
    if implementation not in (None, "xla"):
        raise ValueError(f"attn: no implementation {implementation!r}")
    lengths = query_seq_lengths, key_value_seq_lengths
    shape = jax.eval_shape(
        theirs, query, key, value, bias, mask, query_seq_lengths=lengths[0],
        key_value_seq_lengths=lengths[1]).shape
    q, k, v, bias, mask = (x if x is None else _of_rank_four(x)
                           for x in (query, key, value, bias, mask))
    mask = _with_lengths(mask, q, k, *lengths)
    left, right = (local_window_size if isinstance(local_window_size, tuple)
                   else (local_window_size, local_window_size))
    if is_causal:
        right = 0 if right is None else min(right, 0)
    rule = (float(q.shape[-1] ** -0.5 if scale is None else scale), left, right)
    if bias is not None:
        bias = bias.astype(jnp.promote_types(q.dtype, jnp.float32))
    O, L = _flash(rule, q, k, v, bias, mask)
    O = O.astype(q.dtype).reshape(shape)
    if return_residual:
        L = jax.lax.stop_gradient(L.swapaxes(1, 2).astype(k.dtype))
        return O, L.reshape(shape[:-1])
    return O
