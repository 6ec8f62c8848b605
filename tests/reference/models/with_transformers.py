"""Tiny models of nine families, as the transformers package computes them.

Weights are random and sharp: queries and keys are drawn so large that attention is
far from uniform, since a wrong position or window hardly shows where all keys weigh
the same.  They are rounded to sixteen or thirty-two bits before use, so that the file
holds them exactly.  Everything is computed in double precision: where a model asks
for single precision, as in its norms, softmax and rotary angles, it gets double.

    python with_transformers.py DIRECTORY
"""

import json
import os
import sys

import torch

# The models say `float32' and `.float()' where they do not trust half precision.
torch.float32 = torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

import numpy as np  # noqa: E402  (what follows must see the names above)
import safetensors.numpy  # noqa: E402
import safetensors.torch  # noqa: E402
import transformers as hf  # noqa: E402

single = torch.from_numpy(np.zeros(1, "f4")).dtype  # since its own name is taken

TOKENS, MORE, VOCABULARY = 12, 6, 24
common = dict(vocab_size=VOCABULARY, attn_implementation="eager", pad_token_id=None,
              bos_token_id=1, eos_token_id=None, use_cache=True)
llama = dict(common, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
             num_attention_heads=4, num_key_value_heads=2, head_dim=8,
             max_position_embeddings=256, rope_theta=500.0, rms_norm_eps=1e-5)


def families():
    """Name, model, stored type, and what the file has to say besides the weights."""
    scaled = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0,
                  high_freq_factor=4.0, original_max_position_embeddings=64)
    yield "llama", hf.LlamaForCausalLM(hf.LlamaConfig(
        **llama, rope_scaling=scaled, tie_word_embeddings=False)), torch.bfloat16
    yield "mistral", hf.MistralForCausalLM(hf.MistralConfig(
        **llama, sliding_window=4)), torch.bfloat16
    yield "qwen3", hf.Qwen3ForCausalLM(hf.Qwen3Config(
        **llama, tie_word_embeddings=False)), torch.bfloat16
    yield "gemma2", hf.Gemma2ForCausalLM(hf.Gemma2Config(
        **{**llama, "rms_norm_eps": 1e-6}, sliding_window=4, attn_logit_softcapping=4.0,
        final_logit_softcapping=6.0, query_pre_attn_scalar=6)), torch.bfloat16
    yarn = dict(rope_type="yarn", factor=8.0, beta_fast=4.0, beta_slow=1.0,
                truncate=False, original_max_position_embeddings=64)
    yield "gpt_oss", hf.GptOssForCausalLM(hf.GptOssConfig(
        **{**llama, "intermediate_size": 12}, rope_scaling=yarn, sliding_window=4,
        num_local_experts=3, num_experts_per_tok=2)), torch.bfloat16
    yield "deepseek_v3", hf.DeepseekV3ForCausalLM(hf.DeepseekV3Config(
        **{**llama, "num_key_value_heads": 4, "head_dim": 4}, q_lora_rank=12,
        kv_lora_rank=10, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=6,
        first_k_dense_replace=2)), torch.bfloat16
    yield "t5", hf.T5ForConditionalGeneration(hf.T5Config(
        **{**common, "pad_token_id": 0}, d_model=16, d_kv=8, d_ff=24, num_layers=2,
        num_decoder_layers=2, num_heads=3, relative_attention_num_buckets=8,
        relative_attention_max_distance=16, feed_forward_proj="relu",
        decoder_start_token_id=0)), torch.float16
    yield "bloom", hf.BloomForCausalLM(hf.BloomConfig(
        **common, hidden_size=24, n_layer=2, n_head=3)), torch.float16
    yield "gpt2", hf.GPT2LMHeadModel(hf.GPT2Config(
        **common, n_positions=32, n_embd=16, n_layer=2, n_head=2, n_inner=32)), single


def redraw(model, dtype, seed):
    """Gains that make scores vary by several units, gains near one, biases near zero."""
    draw = torch.Generator().manual_seed(seed)
    for name, w in sorted(model.named_parameters()):
        x = torch.randn(w.shape, generator=draw, dtype=torch.float64)
        if "norm" in name or ".ln_" in name or "layernorm" in name:
            x = 0.2 * x + (0.0 if name.endswith("bias") or model.config.model_type ==
                           "gemma2" else 1.0)
        elif "sinks" in name or "relative_attention_bias" in name:
            x = 2 * x
        elif name.endswith("bias"):
            x = 0.3 * x
        elif not any(k in name for k in ("embed", "shared", "wte", "wpe")):
            fan_in = w.shape[-1] if w.shape[-1] != w.numel() else w.numel()
            if "gpt2" in model.config.model_type or "experts" in name:
                fan_in = w.shape[-2]
            sharp = any(k in name for k in (
                "q_proj", "k_proj", "q_b_proj", ".q.", ".k.", "c_attn", "query_key"))
            loud = "bloom" in model.config.model_type and not sharp
            x = x / fan_in ** 0.5 * (1.6 if sharp else 2.0 if loud else 1.0)
            if ".q." in name:
                x = x / 2  # T5 does not divide by the root of d
        elif model.config.model_type in ("gemma2", "t5"):
            x = 0.3 * x  # a tied read-out would find but the token that it saw
        with torch.no_grad():
            w.copy_(x.to(dtype))
    model.tie_weights()
    return model.eval()


def run(model, tokens, bar):
    """Logits, the gradient of <bar, logits>, and what the model says next."""
    t5 = model.config.model_type == "t5"
    table = model.get_input_embeddings().weight
    x = table[tokens].detach().clone().requires_grad_()
    if t5:
        start = torch.tensor([[0]])
        y = table[torch.cat([start, tokens[:, :7]], 1)].detach().clone().requires_grad_()
        out = model(inputs_embeds=x, decoder_inputs_embeds=y, output_attentions=True)
        maps = out.encoder_attentions + out.decoder_attentions + out.cross_attentions
    else:
        out = model(inputs_embeds=x, output_attentions=True)
        maps = out.attentions
    sharp = torch.cat([a.max(-1).values.flatten() for a in maps]).mean()
    model.zero_grad()
    bar = bar[:, : out.logits.shape[1]]
    (out.logits * bar).sum().backward()
    data = {"run.logits": out.logits[0].detach(), "run.bar_logits": bar[0],
            "run.d.embeddings": x.grad[0]}
    if t5:
        data["run.d.decoder_embeddings"] = y.grad[0]
    for name, w in model.named_parameters():
        first = any(k in name for k in ("layers.0.", ".h.0.", "block.0."))
        if first and w.grad is not None:
            data["run.d." + name] = w.grad
    said = model.generate(tokens, attention_mask=torch.ones_like(tokens), do_sample=False,
                          max_new_tokens=MORE, min_new_tokens=MORE, use_cache=True)
    data["run.tokens"] = tokens[0]
    data["run.said"] = said[0][1 if t5 else tokens.shape[1]:]
    return data, float(sharp)


def settings(model):
    """The configuration's numbers as text, nested names joined by a dot."""
    flat = {}

    def walk(prefix, d):
        for k, v in d.items():
            if isinstance(v, dict):
                walk(prefix + k + ".", v)
            elif isinstance(v, bool):
                flat[prefix + k] = "1" if v else "0"
            elif isinstance(v, (int, float)):
                flat[prefix + k] = repr(v)
            elif isinstance(v, list) and k == "layer_types":
                flat[prefix + k] = " ".join(v)

    walk("", model.config.to_dict())
    wanted = ("hidden_size d_model n_embd num_hidden_layers n_layer num_layers num_attention_heads "
              "num_heads n_head num_key_value_heads head_dim d_kv rms_norm_eps "
              "layer_norm_epsilon rope_theta sliding_window layer_types "
              "attn_logit_softcapping final_logit_softcapping query_pre_attn_scalar "
              "num_experts_per_tok kv_lora_rank qk_nope_head_dim qk_rope_head_dim "
              "v_head_dim relative_attention_max_distance").split()
    return {k: v for k, v in flat.items() if k in wanted or k.startswith("rope_scaling.")}


def store(path, data, meta):
    """Single precision goes through numpy, which knows no bfloat16."""
    data = {k: v.contiguous() for k, v in data.items()}
    if any(v.dtype == single for v in data.values()):
        data = {k: v.double() if v.dtype == torch.bfloat16 else v for k, v in data.items()}
        safetensors.numpy.save_file({k: v.numpy() for k, v in data.items()}, path, meta)
    else:
        safetensors.torch.save_file(data, path, meta)
    with open(path, "rb") as file:  # the order of the metadata changes from run to run
        n = int.from_bytes(file.read(8), "little")
        head, rest = json.loads(file.read(n)), file.read()
    head["__metadata__"] = dict(sorted(head["__metadata__"].items()))
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    os.remove(path)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + rest)


def main(directory):
    for number, (name, model, dtype) in enumerate(families()):
        for seed in range(1000 * number, 1000 * number + 100):
            redraw(model, dtype, seed)
            draw = torch.Generator().manual_seed(seed + 500)
            tokens = torch.randint(2, VOCABULARY, (1, TOKENS), generator=draw)
            bar = torch.randn(1, TOKENS, VOCABULARY, generator=draw, dtype=torch.float64)
            data, sharp = run(model, tokens, bar.to(torch.bfloat16).double())
            if len(set(data["run.said"].tolist())) > MORE // 2:
                break  # a model that repeats itself would be too easy to agree with
        weights = {}
        for k, w in model.named_parameters():
            weights[k] = w.detach().to(dtype)
            if not torch.equal(weights[k].double(), w.detach()):
                sys.exit(f"{name}: {k} is not what the file would hold")
        data["run.bar_logits"] = data["run.bar_logits"].to(torch.bfloat16)
        versions = f"transformers {hf.__version__}, torch {torch.__version__.split('+')[0]}"
        meta = {"family": model.config.model_type, "made_by": versions,
                "largest_weight": f"{sharp:.3f}", **settings(model)}
        store(f"{directory}/{name}.safetensors", {**weights, **data}, meta)
        print(name, "mean largest weight", f"{sharp:.3f}", "said", data["run.said"].tolist(),
              "seed", seed, flush=True)


main(sys.argv[1])
