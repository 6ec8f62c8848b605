# python/checks/with_models.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import torch
import transformers
from transformers import (AutoModelForCausalLM, Gemma2Config,
                          Gemma3TextConfig, GptOssConfig, LlamaConfig,
                          MistralConfig, Qwen2Config, Qwen3Config)

import attn.torch
import attn.transformers
from facts import Count, fact

transformers.logging.set_verbosity_error()
fact("version/transformers", transformers.__version__)
softmax = torch.nn.functional.softmax
torch.nn.functional.softmax = (
    lambda x, dim, dtype=None: softmax(x, dim))
calls, call = [0], attn.transformers.attend
def counted(*args):
    calls[0] += 1
    return call(*args)
attn.transformers.attend = counted
small = dict(vocab_size=99, hidden_size=48, intermediate_size=64,
             num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=256,
             pad_token_id=0, bos_token_id=1, eos_token_id=None)
configs = {
    "Llama": LlamaConfig(**small),
    "Llama, one head of keys": LlamaConfig(
        **{**small, "num_key_value_heads": 1}),
    "Qwen 2": Qwen2Config(**small, use_sliding_window=True,
                          sliding_window=5, max_window_layers=1),
    "Qwen 3": Qwen3Config(**small, head_dim=16),
    "Gemma 2": Gemma2Config(**small, head_dim=16, sliding_window=5,
                            query_pre_attn_scalar=24,
                            attn_logit_softcapping=2.0),
    "Gemma 3": Gemma3TextConfig(**small, head_dim=16, sliding_window=5),
    "GPT-OSS": GptOssConfig(**small, head_dim=16, sliding_window=5,
                            num_local_experts=4, num_experts_per_tok=2,
                            experts_implementation="eager"),
    "Mistral": MistralConfig(**small, head_dim=16, sliding_window=5)}
def made(config):
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(
        config, attn_implementation="eager").double().eval()
    with torch.no_grad():
        for name, w in model.named_parameters():
            w.copy_(torch.randn_like(w) * (1.5 if "sinks" in name else
                    0.6 / w.shape[-1] ** 0.5 * 3 if w.dim() > 1 else 1))
    return model

def results(model, words, mask, new):
    model.zero_grad()
    logits = model(words, attention_mask=mask).logits[mask.bool()]
    logits.logsumexp(-1).sum().backward()
    caches = {}, {"cache_implementation": "static", "disable_compile": True}
    tokens = [model.generate(words, attention_mask=mask, do_sample=False,
                             max_new_tokens=new, min_new_tokens=new, **cache)
              for cache in caches]
    return [logits.detach(), *(w.grad for w in model.parameters()
                               if w.grad is not None)], tokens
def agree(name, config, count, new=24):
    model = made(config)
    words = torch.randint(3, 99, (3, 11))
    for padded in (False, True):
        mask = torch.ones_like(words)
        if padded:
            mask[1, :4] = 0
        model.set_attn_implementation("eager")
        theirs, tokens = results(model, words, mask, new)
        model.set_attn_implementation("attn")
        mine, again = results(model, words, mask, new)
        error = max(float((x - y).norm() / x.norm())
                    for x, y in zip(theirs, mine, strict=True))
        count(f"{name}, padded {padded}: {error}", error < 1e-10 and
              all(map(torch.equal, tokens, again)))
count = Count("models")
for name, config in configs.items():
    agree(name, config, count)
fact("models/families", len({c.model_type for c in configs.values()}))
fact("models/models", len(configs))
fact("models/tokens", 24)
assert calls[0] >= 2 * 3 * 49 * len(configs), calls
raise SystemExit(not count.done())
