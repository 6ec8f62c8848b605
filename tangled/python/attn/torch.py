# python/attn/torch.py: tangled from chapters/10b-python.nw; edit that file, not this one.
"""Attention for PyTorch: scaled_dot_product_attention, LearnedMetric."""
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn.attention.bias import CausalBias, CausalVariant
from torch.utils.dlpack import to_dlpack

try:
    from . import _attn
except ImportError as error:
    raise ImportError("attn.torch needs the compiled module: pip install "
                      "./tangled/python compiles it") from error

_FIELDS = ("bias", "keep", "sinks", "scale", "softcap", "offset", "left",
           "right")
_RULE = ("Tensor? bias, Tensor? keep, Tensor? sinks, float? scale, "
         "float? softcap, SymInt? offset, SymInt? left, SymInt? right")

def _seen(x: Tensor | None) -> Tensor | None:
    return None if x is None else x.detach()
def _rule(values: tuple[Any, ...]) -> dict[str, Any]:
    return {name: _seen(x) if isinstance(x, Tensor) else x
            for name, x in zip(_FIELDS, values, strict=True)}
def _output(q: Tensor, v: Tensor) -> Tensor:
    if q.shape[-1] == v.shape[-1]:
        return torch.empty_like(q)
    return q.new_empty((*q.shape[:-1], v.shape[-1]))

def _empty(q: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    wide = q.dtype if q.dtype == torch.float64 else torch.float32
    L = torch.empty(q.shape[:-1], dtype=wide, device=q.device)
    return _output(q, v), L
@torch.library.custom_op(
    "attn::flash", mutates_args=(), device_types="cpu",
    schema=f"(Tensor q, Tensor k, Tensor v, {_RULE}) -> (Tensor, Tensor)")
def flash(q, k, v, *rule):
    """Output (B, H, n, e) and log-sum-exps (B, H, n) of attention.

    q (B, H, n, d), k, v (B, G, m, d or e); the rule as in attend.
    """
    O, L = _empty(q, v)
    _attn.flash(_seen(q), _seen(k), _seen(v), _rule(rule), O, L)
    return O, L

@flash.register_fake
def _(q, k, v, *rule):
    return _empty(q, v)
def _gradients(q, k, v, learned, rule):
    bias, sinks = rule[0] if learned else None, rule[2]
    return tuple(q.new_empty(0) if x is None else x.new_empty(x.shape)
                 for x in (q, k, v, bias, sinks))
@torch.library.custom_op(
    "attn::flash_vjp", mutates_args=(), device_types="cpu",
    schema="(Tensor O, Tensor L, Tensor dO, Tensor dL, Tensor q, "
           f"Tensor k, Tensor v, bool learned, {_RULE}) -> "
           "(Tensor, Tensor, Tensor, Tensor, Tensor)")
def flash_vjp(O, L, dO, dL, q, k, v, learned, *rule):
    """Gradients of q, k, v, bias and sinks, from what flash gave and
    cotangents of it; empty for a bias unless learned, and for no sinks."""
    out = _gradients(q, k, v, learned, rule)
    dbias = out[3] if learned else None
    dsinks = out[4] if rule[2] is not None else None
    _attn.flash_vjp(*map(_seen, (q, k, v)), _rule(rule), _seen(O),
                    _seen(L), _seen(dO), _seen(dL), *out[:3], dbias, dsinks)
    return out

@flash_vjp.register_fake
def _(O, L, dO, dL, q, k, v, learned, *rule):
    return _gradients(q, k, v, learned, rule)
def _keep(ctx, inputs, output):
    q, k, v, bias, keep, sinks, *numbers = inputs
    ctx.save_for_backward(q, k, v, bias, keep, sinks, *output)
    ctx.numbers = numbers

def _back(ctx, dO, dL):
    q, k, v, bias, keep, sinks, O, L = ctx.saved_tensors
    learned = ctx.needs_input_grad[3]
    dq, dk, dv, dbias, dsinks = flash_vjp(
        O, L, dO, dL, q, k, v, learned, bias, keep, sinks, *ctx.numbers)
    return (dq, dk, dv, dbias if learned else None, None,
            None if sinks is None else dsinks, *(None,) * 5)

flash.register_autograd(_back, setup_context=_keep)
def _twice(ctx, *_):
    raise NotImplementedError(
        "attn::flash has no second derivative; use "
        "torch.nn.functional.scaled_dot_product_attention with "
        "torch.nn.attention.SDPBackend.MATH for it")

flash_vjp.register_autograd(_twice)
def _refuse_tangents(*args: Any) -> None:
    if forward_ad._current_level >= 0 and any(
            forward_ad.unpack_dual(x).tangent is not None
            for x in args if isinstance(x, Tensor)):
        raise NotImplementedError(
            "attn::flash is differentiated backward only")
def _alone(tensors: list[Tensor]) -> bool:
    if (torch.compiler.is_compiling() or torch.jit.is_tracing() or
            torch._C._len_torch_dispatch_stack() or
            torch._C._len_torch_function_stack()):
        return False
    learned = torch.is_grad_enabled()
    for x in tensors:
        if type(x) not in _PLAIN or x.is_neg() or (
                learned and x.requires_grad):
            return False
    return True
_PLAIN = Tensor, torch.nn.Parameter

def attend(q: Tensor, k: Tensor, v: Tensor, *rule: Any) -> Tensor:
    """Attention (B, H, n, e) of q (B, H, n, d), k, v (B, G, m, d or e).

    The rule, in this order, None for what is absent: bias (added), keep (of
    bool), sinks (H), scale, softcap, offset, left, right.
    """
    given = {name: x for name, x in zip(_FIELDS, rule, strict=True)
             if x is not None}
    if _alone([q, k, v, *(x for x in given.values()
                          if isinstance(x, Tensor))]):
        try:
            O = _output(q, v)
            _attn.flash(to_dlpack(q), to_dlpack(k), to_dlpack(v), {
                name: to_dlpack(x) if isinstance(x, Tensor) else x
                for name, x in given.items()} or None, to_dlpack(O), None)
            return O
        except (BufferError, RuntimeError, ValueError):
            pass
    O: Tensor = flash(q, k, v, *rule)[0]
    return O
_theirs = torch.nn.functional.scaled_dot_product_attention
def _cast(*args: Any) -> tuple[Any, ...]:
    if not torch.is_autocast_enabled("cpu"):
        return args
    kind = torch.get_autocast_dtype("cpu")
    return tuple(
        x.to(kind) if isinstance(x, Tensor) and x.is_floating_point() and
        x.dtype != torch.float64 else x for x in args)
def _ordinary(q: Any, k: Any, v: Any, mask: Any, dropout: Any,
              causal: bool) -> bool:
    if not (isinstance(q, Tensor) and isinstance(k, Tensor) and
            isinstance(v, Tensor) and isinstance(dropout, (int, float)) and
            0 <= dropout <= 1):
        return False
    kinds = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
    return (q.dtype == k.dtype == v.dtype and q.dtype in kinds and
            q.device == k.device == v.device and q.device.type == "cpu" and
            min(q.dim(), k.dim(), v.dim()) >= 2 and
            q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2] and
            (mask is None or (not causal and isinstance(mask, Tensor) and
                              mask.dim() >= 2 and
                              mask.dtype in (torch.bool, torch.float32,
                                             q.dtype))))
def _folded(x: Tensor, lead: tuple[int, ...]) -> Tensor:
    if x.shape[:-2] != lead:
        x = x.expand(*lead, *x.shape[-2:])
    return x.flatten(0, -4) if x.dim() > 4 else x
def _formed(q, k, v, mask, gqa):
    own = 3 if gqa and q.dim() > 2 else 2
    shapes = [x.shape[:-own] for x in (q, k, v)]
    lead = tuple(shapes[0])
    if shapes[1] != lead or shapes[2] != lead:
        lead = tuple(torch.broadcast_shapes(*shapes))
    heads = [x.shape[-own:-2] for x in (q, k, v)]
    formed = [_folded(x, lead + tuple(h))
              for x, h in zip((q, k, v), heads, strict=True)]
    rows = lead + tuple(heads[0])
    if mask is not None:
        mask = _folded(mask.expand(*rows, q.shape[-2], k.shape[-2]), rows)
    return formed, mask, rows
def scaled_dot_product_attention(
        query: Tensor, key: Tensor, value: Tensor,
        attn_mask: Tensor | None = None, dropout_p: float = 0.0,
        is_causal: bool = False, scale: float | None = None,
        enable_gqa: bool = False) -> Tensor:
    """torch.nn.functional's function on the kernel of the book.

    query (..., H, n, d), key (..., G, m, d), value (..., G, m, e),
    attn_mask (..., n, m); (..., H, n, e). G is H unless enable_gqa. Raises
    what PyTorch raises, ValueError for a CausalBias that does not fit, and
    NotImplementedError for dropout, tangents, types and devices that the
    kernel does not know.
    """
    given, start = (query, key, value), 0
    if isinstance(attn_mask, CausalBias):
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        if attn_mask.variant == CausalVariant.UPPER_LEFT:
            start = 0
        else:
            start, named = None, (attn_mask.seq_len_q, attn_mask.seq_len_kv)
            there = tuple(query.shape[-2:-1] + key.shape[-2:-1])
            if named != there:
                raise ValueError(f"attn: CausalBias is of {named} queries and keys, "
                                 f"which are {there}")
        attn_mask, is_causal = None, True
    options = {"attn_mask": attn_mask, "dropout_p": dropout_p,
               "is_causal": is_causal, "scale": scale,
               "enable_gqa": enable_gqa}
    _refuse_tangents(query, key, value, attn_mask)
    query, key, value, attn_mask = _cast(query, key, value, attn_mask)
    if not _ordinary(query, key, value, attn_mask, dropout_p, is_causal):
        _theirs(*given, **options)
        raise NotImplementedError("attn: types or devices that the kernel "
                                  "does not know")
    if dropout_p != 0:
        raise NotImplementedError("attn: dropout inside of attention")
    try:
        qkv, mask, lead = _formed(query, key, value, attn_mask, enable_gqa)
        keep = mask if mask is not None and mask.dtype == torch.bool else None
        bias = None if keep is not None or mask is None else mask.to(
            torch.promote_types(mask.dtype, query.dtype))
        start, near = (start, 0) if is_causal else (None, None)
        O = attend(*qkv, bias, keep, None, scale, None, start, None, near)
        return O.reshape(*lead, *O.shape[-2:])
    except (RuntimeError, ValueError):
        _theirs(*given, **options)
        raise
class LearnedMetric(torch.nn.Module):
    """Attention under a metric g = L L^T for each head, which is learned.

    Q (..., H, n, d), K (..., H, m, d), V (..., H, m, e); O (..., H, n, e).
    """
    def __init__(self, heads: int, width: int, **factory: Any) -> None:
        super().__init__()
        self.factor = torch.nn.Parameter(
            torch.eye(width, **factory).repeat(heads, 1, 1) * width ** -0.25)

    def metric(self) -> Tensor:
        """The metrics g (H, d, d), whose scale is in them."""
        L = self.factor.tril()
        return L @ L.mT
    def forward(self, Q: Tensor, K: Tensor, V: Tensor,
                attn_mask: Tensor | None = None,
                is_causal: bool = False) -> Tensor:
        """softmax(Q g K^T) V, with a mask or an order as PyTorch has it."""
        L = self.factor.tril()
        return scaled_dot_product_attention(
            Q @ L, K @ L, V, attn_mask, 0.0, is_causal, scale=1.0)
