# python/checks/speed.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import os
import sys

THREADS, QUICK = int(sys.argv[1]), "quick" in sys.argv
os.environ["OMP_NUM_THREADS"] = str(THREADS)
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=" + ("true" if THREADS > 1 else "false"))
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
import statistics
import time

import jax
import jax.numpy as jnp
import numpy
import onnx
import onnxruntime
import torch
from transformers import AutoModelForCausalLM, LlamaConfig

import attn
import attn.transformers
from attn.jax import dot_product_attention as jax_ours
from attn.torch import scaled_dot_product_attention as torch_ours
from facts import fact

sdpa = torch.nn.functional.scaled_dot_product_attention
torch.set_num_threads(THREADS)
def medians(calls, least=3, budget=6.0):
    took = {name: [] for name in calls}
    for f in calls.values():
        f()
    begun = time.perf_counter()
    while (min(map(len, took.values())) < least or
           (time.perf_counter() - begun < budget and
            len(next(iter(took.values()))) < 25)):
        for name, f in calls.items():
            start = time.perf_counter()
            f()
            took[name].append(time.perf_counter() - start)
    return {name: statistics.median(x) * 1e3 for name, x in took.items()}
def forward_calls(H, n, d):
    x = [numpy.random.default_rng(k).standard_normal((1, H, n, d), "f4")
         for k in range(3)]
    t = [torch.tensor(a) for a in x]
    j = [jnp.asarray(a.swapaxes(1, 2)) for a in x]
    O, mine, run = numpy.empty_like(x[0]), jax.jit(jax_ours), onnx_call(x)
    theirs = jax.jit(jax.nn.dot_product_attention)
    return {
        "ours": lambda: attn.flash(*x, None, O, None),
        "ours-in-torch": lambda: torch_ours(*t),
        "torch": lambda: sdpa(*t),
        "ours-in-jax": lambda: mine(*j).block_until_ready(),
        "jax": lambda: theirs(*j).block_until_ready(),
        "onnxruntime": run}
def backward_calls(H, n, d):
    t = [torch.randn(1, H, n, d, requires_grad=True) for _ in range(4)]
    j = [jnp.asarray(a.detach().numpy().swapaxes(1, 2)) for a in t]
    def in_torch(f):
        return lambda: torch.autograd.grad(f(*t[:3]), t[:3], t[3])
    def in_jax(f):
        g = jax.jit(lambda q, k, v, bar: jax.vjp(f, q, k, v)[1](bar))
        return lambda: jax.block_until_ready(g(*j))
    return {"ours-in-torch": in_torch(torch_ours), "torch": in_torch(sdpa),
            "ours-in-jax": in_jax(jax_ours),
            "jax": in_jax(jax.nn.dot_product_attention)}
def onnx_call(x):
    make = onnx.helper
    value = lambda name: make.make_tensor_value_info(
        name, onnx.TensorProto.FLOAT, x[0].shape)
    graph = make.make_graph(
        [make.make_node("Attention", ["Q", "K", "V"], ["Y"])], "attention",
        [value(n) for n in "QKV"], [value("Y")])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(make.make_model(
        graph, opset_imports=[make.make_opsetid("", 23)],
        ir_version=10).SerializeToString(), options)
    feed = dict(zip("QKV", x, strict=True))
    return lambda: session.run(None, feed)
def model_times():
    config = LlamaConfig(
        vocab_size=32000, hidden_size=768, intermediate_size=2048,
        num_hidden_layers=12, num_attention_heads=12,
        max_position_embeddings=2048)
    model = AutoModelForCausalLM.from_config(config)
    words = torch.randint(3, 32000, (1, 512))
    def step(name):
        def run():
            model.set_attn_implementation(name)
            model.zero_grad()
            model(words, labels=words).loss.backward()
        return run
    names = ("eager", "sdpa", "attn")
    for name, ms in medians({n: step(n) for n in names}).items():
        fact(f"speed/{THREADS}/train/{name}", ms)
    def word(name):
        model.set_attn_implementation(name)
        with torch.no_grad():
            past = model(words, use_cache=True).past_key_values
        def run():
            model.set_attn_implementation(name)
            with torch.no_grad():
                model(words[:, :1], past_key_values=past)
                past.crop(512)
        return run
    for name, ms in medians({n: word(n) for n in names}).items():
        fact(f"speed/{THREADS}/decode/{name}", ms)
sizes = (128, 512) if QUICK else (128, 512, 2048, 8192)
for d in (64, 128):
    for n in sizes:
        H = 12 if n < 8192 else 2
        for what, make in (("forward", forward_calls),
                           ("backward", backward_calls)):
            for name, ms in medians(make(H, n, d)).items():
                fact(f"speed/{THREADS}/{what}/{d}/{n}/{name}", ms)
model_times()
