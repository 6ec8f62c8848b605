# python/checks/speed.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import os
import sys

THREADS, QUICK = int(sys.argv[1]), "quick" in sys.argv
os.environ["OMP_NUM_THREADS"] = str(THREADS)
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=" + ("true" if THREADS > 1 else "false"))
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
import random
import statistics
import time
import timeit

import jax
import jax.numpy as jnp
import numpy
import onnx
import onnxruntime
import openvino
import openvino.opset13
import torch
from transformers import AutoModelForCausalLM, LlamaConfig

import attn
import attn.plain
import attn.transformers
from attn.jax import dot_product_attention as jax_ours
from attn.torch import scaled_dot_product_attention as torch_ours
from facts import fact

sdpa = torch.nn.functional.scaled_dot_product_attention
torch.set_num_threads(THREADS)
widest = largest = 0.0
def race(calls):
    budget, least = (0.0, 1) if QUICK else (2.0, 3)
    took = {name: [] for name in calls}
    begun, rounds = time.perf_counter(), 0
    while rounds < least or (rounds < 25 and
                             time.perf_counter() - begun < budget):
        rounds += 1
        for name in random.sample(list(calls), len(calls)):
            if len(took[name]) > 1 and sum(took[name]) > 3000:
                continue
            time.sleep(0.02)
            start = time.perf_counter()
            calls[name]()
            took[name].append((time.perf_counter() - start) * 1e3)
    return took
def record(what, took):
    global widest
    for name, x in took.items():
        x.sort()
        middle = statistics.median(x)
        spread = (x[-1 - len(x) // 4] - x[len(x) // 4]) / middle * 100
        widest = max(widest, spread)
        fact(f"speed/{THREADS}/{what}/{name}", f"{middle:.4g}")
        fact(f"speed/{THREADS}/{what}/{name}/spread", f"{spread:.3g}")
def truth(q, k, v, dO):
    q, k, v, dO = (x[0, 0].astype("f8") for x in (q, k, v, dO))
    s, O, dq = q.shape[1] ** -0.5, numpy.empty_like(dO), numpy.empty_like(q)
    dk, dv = numpy.zeros_like(k), numpy.zeros_like(v)
    for first in range(0, len(q), 512):
        at = slice(first, first + 512)
        A = numpy.exp(q[at] @ k.T * s)
        A /= A.sum(1, keepdims=True)
        O[at], dA = A @ v, dO[at] @ v.T
        dS = A * (dA - (A * dA).sum(1, keepdims=True)) * s
        dq[at] = dS @ k
        dk += dS.T @ q[at]
        dv += A.T @ dO[at]
    return O, dq, dk, dv
def examine(what, calls, right):
    global largest
    for name, f in calls.items():
        given = f()
        given = given if isinstance(given, (tuple, list)) else [given]
        for x, y in zip(given, right, strict=True):
            x = numpy.asarray(x.detach() if isinstance(x, torch.Tensor)
                              else x)
            x = x[0, :, 0] if name.endswith("jax") else x[0, 0]
            error = abs(x - y).max() / abs(y).max()
            assert error < 1e-4, (what, name, error)
            largest = max(largest, error)
def forward_calls(x):
    x = x[:3]
    t = [torch.tensor(a) for a in x]
    j = [jnp.asarray(a.swapaxes(1, 2)) for a in x]
    O, mine = numpy.empty_like(x[0]), jax.jit(jax_ours)
    theirs = jax.jit(jax.nn.dot_product_attention)
    def ours():
        attn.flash(*x, None, O, None)
        return O
    return {"ours": ours, "ours-in-torch": lambda: torch_ours(*t),
            "torch": lambda: sdpa(*t),
            "ours-in-jax": lambda: mine(*j).block_until_ready(),
            "jax": lambda: theirs(*j).block_until_ready(),
            "onnxruntime": onnx_call(x), "openvino": openvino_call(x)}
def backward_calls(x):
    t = [torch.tensor(a, requires_grad=True) for a in x]
    j = [jnp.asarray(a.swapaxes(1, 2)) for a in x]
    def in_torch(f):
        return lambda: torch.autograd.grad(f(*t[:3]), t[:3], t[3].detach())
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
def openvino_call(x):
    op = openvino.opset13
    Q, K, V = (op.parameter(list(a.shape), openvino.Type.f32) for a in x)
    Y = op.scaled_dot_product_attention(Q, K, V, causal=False)
    request = openvino.Core().compile_model(
        openvino.Model([Y], [Q, K, V]), "CPU",
        {"INFERENCE_NUM_THREADS": THREADS,
         "INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    return lambda: list(request.infer(list(x)).values())
def a_model():
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(LlamaConfig(
        vocab_size=32000, hidden_size=768, intermediate_size=2048,
        num_hidden_layers=12, num_attention_heads=12,
        max_position_embeddings=2048))
    words, logits = torch.randint(3, 32000, (1, 512)), []
    for name in ("eager", "sdpa", "attn"):
        model.set_attn_implementation(name)
        with torch.no_grad():
            logits.append(model(words).logits)
        error = (logits[-1] - logits[0]).abs().max()
        assert error < 1e-3 * logits[0].abs().max(), (name, error)
    return model, words
def training_steps(model, words):
    def step(name):
        def run():
            model.set_attn_implementation(name)
            model.zero_grad()
            model(words, labels=words).loss.backward()
        run()
        return run
    return {name: step(name) for name in ("eager", "sdpa", "attn")}
def decoded_words(model, words):
    def word(name):
        model.set_attn_implementation(name)
        with torch.no_grad():
            past = model(words, use_cache=True).past_key_values
        def run():
            model.set_attn_implementation(name)
            with torch.no_grad():
                model(words[:, :1], past_key_values=past)
                past.crop(-1)
        run()
        return run
    return {name: word(name) for name in ("eager", "sdpa", "attn")}
def price():
    x = numpy.ones((16, 64), "f4")
    o, none = numpy.empty_like(x), numpy.empty((0, 64), "f4")
    for key, f, q, out in (("sixteen", attn.flash, x, o),
                           ("empty", attn.flash, none, none.copy()),
                           ("plain", attn.plain.flash, x, o)):
        best = min(timeit.repeat(
            lambda f=f, q=q, out=out: f(q, x, x, None, out, None),
            number=100, repeat=50)) / 100
        fact("call/" + key, round(best * 1e6, 2))
def heads(n, d):
    return (1, 128 // d) if n > 4096 else (max(1, 1024 // n), 12)

random.seed(1)
for d in (64, 128):
    for n in (128, 512, 2048, 8192):
        x = [numpy.random.default_rng(k).standard_normal(
            (*heads(n, d), n, d), "f4") for k in range(4)]
        O, *gradients = truth(*x)
        for what, calls, right in (("forward", forward_calls(x), [O]),
                                   ("backward", backward_calls(x),
                                    gradients)):
            key = f"{what}/{d}/{n}"
            print("at", key, flush=True)
            examine(key, calls, right)
            record(key, race(calls))
print("at model", flush=True)
model, words = a_model()
record("train", race(training_steps(model, words)))
record("decode", race(decoded_words(model, words)))
fact(f"speed/{THREADS}/spread", f"{widest:.3g}")
fact(f"speed/{THREADS}/error", f"{largest:.2g}")
if THREADS == 1:
    price()
    with open("/proc/cpuinfo") as lines:
        fact("speed/cpu", next((line.split(":")[1].strip() for line in lines
                                if line.startswith("model name")), "?"))
    fact("version/onnxruntime", onnxruntime.__version__)
    fact("version/openvino", openvino.__version__.split("-")[0])
