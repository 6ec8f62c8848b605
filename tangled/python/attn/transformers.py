# python/attn/transformers.py: tangled from chapters/10b-python.nw; edit that file, not this one.
"""attn_implementation="attn" for the models of Hugging Face."""
import warnings
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from .torch import _cast, _refuse_tangents, attend

def attention(module: torch.nn.Module, query: Tensor, key: Tensor,
              value: Tensor, attention_mask: Tensor | None,
              dropout: float = 0.0, scaling: float | None = None,
              is_causal: bool | None = None,
              softcap: float | None = None, s_aux: Tensor | None = None,
              position_bias: Tensor | None = None,
              output_attentions: bool | None = False,
              **_: Any) -> tuple[Tensor, None]:
    """Attention (B, n, H, e), as models call it, and no weights.

    query (B, H, n, d), key (B, G, m, d), value (B, G, m, e); s_aux are
    sinks (H). Raises NotImplementedError for dropout, a bias of positions
    and tangents.
    """
    if output_attentions:
        warnings.warn("attn: has no weights to return; "
                      "attn_implementation=\"eager\" has", stacklevel=2)
    if dropout or position_bias is not None:
        raise NotImplementedError("attn: dropout or a bias of positions")
    _refuse_tangents(query, key, value, attention_mask, s_aux)
    keep = bias = None
    if attention_mask is not None:
        mask = attention_mask[..., :key.shape[-2]].expand(
            *query.shape[:3], key.shape[-2])
        keep, bias = ((mask, None) if mask.dtype == torch.bool
                      else (None, mask))
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    causal = is_causal and attention_mask is None and query.shape[2] > 1
    near = 0 if causal else None
    O = attend(*_cast(query, key, value, bias), keep, s_aux, scaling,
               softcap, near, None, near)
    return O.transpose(1, 2).contiguous(), None

AttentionInterface.register("attn", attention)
AttentionMaskInterface.register("attn", sdpa_mask)
