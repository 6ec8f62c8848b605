# python/checks/with_torch.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import os
import random
import subprocess
import sys
import warnings

import torch
import torch._dynamo
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils.flop_counter import FlopCounterMode

import attn.torch
from attn.torch import LearnedMetric
from attn.torch import scaled_dot_product_attention as ours
from facts import Count, fact
import torch._inductor.config

sdpa = torch.nn.functional.scaled_dot_product_attention
torch._inductor.config.force_disable_caches = True
torch.manual_seed(1)
fact("version/torch", torch.__version__.split("+")[0])
def said(f):
    try:
        f()
    except Exception as error:
        return type(error), str(error)

def their_errors():
    x = torch.ones(2, 4, 6, 8)
    calls = {
        "type": ((x, x.double(), x), {}),
        "rank": ((x[0, 0, 0], x, x), {}),
        "width": ((x, x[..., :7], x), {}),
        "heads": ((x, x[:, :3], x[:, :3]), {}),
        "groups": ((x, x[:, :3], x[:, :3]), {"enable_gqa": True}),
        "both": ((x, x, x), {"is_causal": True,
                             "attn_mask": torch.ones(6, 6).bool()}),
        "mask type": ((x, x, x), {"attn_mask": torch.ones(6, 6).int()}),
        "mask shape": ((x, x, x), {"attn_mask": torch.ones(5, 6).bool()}),
        "batch": ((x, torch.ones(3, 4, 6, 8), x), {}),
        "mask rank": ((x, x, x), {"attn_mask": torch.ones(6)}),
        "dropout": ((x, x, x), {"dropout_p": 2.0}),
        "no number": ((x, x, x), {"dropout_p": "much"})}
    count = Count("torch/errors")
    for name, (args, options) in calls.items():
        theirs = said(lambda: sdpa(*args, **options))
        mine = said(lambda: ours(*args, **options))
        count(f"{name}: {theirs} {mine}", theirs and theirs == mine)
    fewer = x, x, x[:, :, :5]
    fact("torch/fewer", "refuses" if said(lambda: sdpa(*fewer))
         else "answers")
    assert said(lambda: ours(*fewer))
    return count.done()
def graded(f, args, options, kind):
    leaves = [x.detach().to(kind).requires_grad_() for x in args]
    mask = options.get("attn_mask")
    if mask is not None and mask.is_floating_point():
        leaves.append(mask.detach().to(kind).requires_grad_())
        options = {**options, "attn_mask": leaves[3]}
    O = f(*leaves[:3], **options)
    dO = torch.arange(O.numel()).reshape(O.shape) % 5 - 2
    return [O.detach(), *torch.autograd.grad(O, leaves, dO.to(kind))]
def units(kind):
    u = 2.0 ** -53
    return (u if kind == torch.float64 else 2.0 ** -24) + u, (
        torch.finfo(kind).eps / 2)

def bounds(kind, q, k, v, mask, s):
    u, r = units(kind)
    (n, d), (m, e) = q.shape[-2:], v.shape[-2:]
    Q, K, V = (float(x.abs().max()) for x in (q, k, v))
    q, k, v = (float(x.double().norm(dim=-1).max()) for x in (q, k, v))
    B = float(mask.abs().max()) if mask is not None else 0.0
    s = d ** -0.5 if s is None else s
    eta = 2 * (d + 8) * u * (s * q * k + B) + (m + 10) * u
    o = (eta + (m + 1) * u + r) * V
    x = 2 * e ** 0.5 * v
    eps = 2 * eta * x + 2 * (e + 2) * u * x + 2 * e * o
    return [(o, V), (s * K * (eps + 2 * (m + 1) * u * x), 2 * s * K * x),
            (s * Q * n * (eps + 2 * (n + 1) * u * x), 2 * s * Q * n * x),
            (2 * n * (eta + (n + 1) * u), 2 * n), (eps, 2 * x)]
def near(x, truth, copies, bound, size, kind):
    u, r = units(kind)
    if copies > 1:
        bound = copies * (bound + (r + copies * u) * size)
    bound = bound * (1 + r) + r * float(truth.abs().max())
    return float((x - truth).abs().max()) <= bound < float("inf")

def same(args, options, kind):
    try:
        theirs = graded(sdpa, args, options, kind)
    except RuntimeError as error:
        return said(lambda: graded(ours, args, options, kind)) == (
            type(error), str(error))
    mine = graded(ours, args, options, kind)
    truth = graded(sdpa, args, options, torch.float64)
    mask = options.get("attn_mask") if len(mine) == 5 else None
    rows, pairs = mine[0][..., 0].numel(), args[1].shape[-2]
    copies = [1, *(rows * x.shape[-2] // x[..., 0].numel() //
                   args[0].shape[-2] for x in args)]
    if mask is not None:
        copies.append(rows * pairs // mask.numel())
    return all(x.shape == y.shape and x.dtype == y.dtype and
               near(x, z, c, *b, kind) for x, y, z, c, b in zip(
                   mine, theirs, truth, copies, bounds(
                       kind, *args, mask, options.get("scale"))))
def their_samples():
    [op] = [op for op in op_db if
            op.name == "nn.functional.scaled_dot_product_attention"]
    count, skipped = Count("torch/samples"), 0
    for kind in (torch.float64, torch.float32, torch.bfloat16,
                 torch.float16):
        for k, x in enumerate(op.sample_inputs("cpu", kind)):
            if x.kwargs.get("dropout_p", 0):
                skipped += 1
                continue
            count(f"{kind} {k} {x.kwargs}", same((x.input, *x.args),
                                                 x.kwargs, kind))
    fact("torch/samples/dropout", skipped)
    return count.done()
def random_problem(roll):
    B, H, n, m, d, e = (roll.randint(1, 3), roll.choice([1, 2, 4]),
                        roll.randint(1, 5), roll.randint(1, 5),
                        roll.randint(1, 4), roll.randint(1, 4))
    G = roll.choice([g for g in (1, 2, 4) if H % g == 0])
    make = lambda *shape: torch.randn(*shape, dtype=torch.float64,
                                      requires_grad=True)
    inputs = [make(B, H, n, d), make(B, G, m, d), make(B, G, m, e)]
    options = {"enable_gqa": True,
               "scale": roll.choice([None, 0.3, 1.7])}
    kind = roll.choice(["none", "causal", "keep", "bias"])
    if kind == "causal":
        options["is_causal"] = True
    elif kind == "keep":
        options["attn_mask"] = torch.rand(B, 1, n, m) < 0.7
    elif kind == "bias":
        inputs.append(make(roll.choice([1, B]), H, n, m))
    return inputs, options
def gradients():
    roll, count = random.Random(1), Count("torch/gradcheck")
    for k in range(200):
        inputs, options = random_problem(roll)
        f = lambda q, k, v, mask=None, g=ours: g(
            q, k, v, **({"attn_mask": mask} if mask is not None else {}),
            **options)
        error = (f(*inputs) - f(*inputs, g=sdpa)).abs().max()
        count(f"{k} {options} {error}", error < 1e-12 and
              torch.autograd.gradcheck(f, inputs, raise_exception=False))
    return count.done()
def operator():
    x = torch.randn(1, 2, 5, 4, dtype=torch.float64, requires_grad=True)
    sinks = torch.randn(2, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(1, 2, 5, 5, dtype=torch.float64, requires_grad=True)
    count = Count("torch/opcheck")
    for args in ((None,) * 8, (bias, None, sinks, 0.5, 2.0, 0, 2, 0)):
        found = torch.library.opcheck(torch.ops.attn.flash.default,
                                      (x, x, x, *args))
        for name, word in found.items():
            count(name, word == "SUCCESS")
    f = lambda x: ours(x.sin(), x, x * 2, is_causal=True).cos().sum()
    compiled = torch.compile(f, fullgraph=True)
    y = x.detach().clone().requires_grad_()
    f(x).backward()
    compiled(y).backward()
    count("compile", torch.allclose(x.grad, y.grad, atol=1e-12))
    [once] = torch.autograd.grad(f(x), x, create_graph=True)
    refusal = said(lambda: torch.autograd.grad(once.sum(), x))
    count("twice", refusal[0] is NotImplementedError)
    either = torch.compile(f, fullgraph=True, dynamic=True,
                           backend="aot_eager")
    for n in (7, 4):
        z = torch.randn(1, 2, n, 4, dtype=torch.float64)
        count(f"length {n}", torch.allclose(either(z), f(z), atol=1e-12))
    q, k, v = torch.randn(3, 1, 2, 5, 4).unbind()
    mask = torch.randn(5, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        O, P = (g(q, k.bfloat16(), v, attn_mask=mask) for g in (ours, sdpa))
    count("autocast", O.dtype == P.dtype and torch.allclose(O, P, atol=.05))
    O, P = (g(q.bfloat16(), k.bfloat16(), v.bfloat16(), attn_mask=mask)
            for g in (ours, sdpa))
    count("mask", O.dtype == P.dtype and torch.allclose(O, P, atol=.05))
    O, P = (g(q.double(), k.double(), v.double(), attn_mask=mask)
            for g in (ours, sdpa))
    count("wide", O.dtype == P.dtype and torch.allclose(O, P, atol=1e-12))
    def loss(q):
        return ours(q, k, v).sin().sum()
    count("grad", "functorch" in str(said(lambda: torch.func.grad(loss)(q))))
    count("jvp", "backward only" in str(
        said(lambda: torch.func.jvp(loss, (q,), (q,)))))
    packed = torch.randn(2, 5, 3, 4, 8).permute(2, 0, 3, 1, 4)
    for x in (packed[0], packed[0].contiguous(), packed[0, 0],
              packed[0, 0, 0], packed):
        for y in (x, x.clone(), x[..., :3]):
            O, P = (g(x, x, y) for g in (ours, sdpa))
            count(f"layout {x.shape} {x.stride()} {y.shape[-1]}",
                  O.stride() == P.stride() and torch.allclose(O, P, atol=1e-5))
    keep = torch.rand(5, 5) < .6
    keep[1] = False
    lowest = torch.zeros(5, 5).masked_fill(~keep, torch.finfo(q.dtype).min)
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    ways = [torch.autograd.grad(ours(*leaves, attn_mask=x).sum(), leaves)
            for x in (keep, lowest)]
    count("lowest", (ours(q, k, v, keep) == ours(q, k, v, lowest)).all() and
          all((x == y).all() for x, y in zip(*ways, strict=True)))
    for order in (causal_upper_left(3, 5), causal_lower_right(3, 5)):
        O, P = (g(q[:, :, :3], k, v, attn_mask=order) for g in (ours, sdpa))
        count(f"{order.variant}", torch.allclose(O, P, atol=1e-5))
    for n, m in ((3, 4), (2, 5), (5, 3), (4, 4), (1, 5)):
        order = causal_lower_right(n, m)
        refusal = said(lambda: ours(q[:, :, :3], k, v, attn_mask=order))
        count(f"order of {n}, {m}", refusal[0] is ValueError and
              f"({n}, {m}) queries and keys" in refusal[1])
        order = causal_upper_left(n, m)
        O, P = (g(q[:, :, :3], k, v, attn_mask=order) for g in (ours, sdpa))
        count(f"first of {n}, {m}", torch.allclose(O, P, atol=1e-5))
    asked = []
    def noticed(*args):
        asked.append(True)
        return whole(*args)
    whole, attn.torch.flash = attn.torch.flash, noticed
    attend, Parameter = attn.torch.attend, torch.nn.Parameter
    for kind in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        x, y = torch.randn(2, 2, 4, 7, 16).to(kind).unbind()
        none, sinks = (None,) * 8, torch.randn(4)
        if kind == torch.float64:
            sinks = sinks.double()
        rule = (torch.randn(2, 1, 7, 7).to(kind).expand(2, 4, 7, 7), None, sinks,
                .3, 2.0, -1, 3, 2)
        keep = None, torch.rand(1, 1, 7, 7) < .6, Parameter(sinks), *none[3:]
        cases = [
            (x, y, y, *rule), (x, y, y, *keep),
            (x[..., ::2], y[..., 1::2], y[..., :8].flip(1), *none),
            (*(z.transpose(1, 2).contiguous().transpose(1, 2)
               for z in (x, y, y)), *none),
            (x, y[:, :2], y[:, 2:, :, :9], *none), (x[:, :, -1:], y, y, *none)]
        for args in cases:
            with torch.no_grad():
                O, P = attend(*args), whole(*args)[0]
            count(f"short {kind} {O.stride()}", torch.equal(O, P) and
                  O.stride() == P.stride() and not asked)
    class Other(torch.Tensor):
        pass

    def heard(name, f):
        asked.clear()
        O = f()
        count("heard " + name, asked and (O is None or torch.allclose(
            O, sdpa(q, k, v), atol=1e-5)))

    one = lambda q: attend(q, k, v, *(None,) * 8)
    heard("gradient", lambda: one(q.clone().requires_grad_()))
    heard("class", lambda: one(q.as_subclass(Other)).as_subclass(torch.Tensor))
    heard("sign", lambda: one(torch._neg_view(-q)))
    heard("vmap", lambda: torch.vmap(attend, (0, 0, 0) + (None,) * 8)(
        q, k, v, *(None,) * 8))
    heard("trace", lambda: torch.jit.trace(one, (q,), check_trace=False)(q))
    heard("fx", lambda: make_fx(one, tracing_mode="real")(q)(q))
    with FlopCounterMode(display=False):
        heard("mode", lambda: one(q))
    with torch.device("cpu"):
        heard("mode of functions", lambda: one(q))
    with FakeTensorMode() as mode:
        heard("fake", lambda: [attend(*map(mode.from_tensor, (q, k, v)),
                                      *(None,) * 8)].clear())
    torch._dynamo.reset()
    with torch.no_grad():
        heard("compile", lambda: torch.compile(one, fullgraph=True,
                                               backend="aot_eager")(q))
    attn.torch.flash = whole
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        O, P = (torch.vmap(g)(q, k, v) for g in (ours, sdpa))
    count("vmap", torch.allclose(O, P, atol=1e-5) and any(
        "batching rule" in str(w.message) for w in warned))
    library = os.path.join(os.path.dirname(attn.__file__), "libattn.so.1")
    alone = subprocess.run(
        [sys.executable, "-B", "-c", "import attn; assert not attn.compiled\n"
         "import attn.torch"], capture_output=True, text=True,
        cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
        env={**os.environ, "ATTN_LIBRARY": library, "PYTHONPATH": ""})
    count("alone", "attn.torch needs the compiled module" in alone.stderr)
    torch.nn.functional.scaled_dot_product_attention = ours
    count("replaced", said(lambda: ours(q, k.double(), v)) ==
          said(lambda: sdpa(q, k.double(), v)))
    torch.nn.functional.scaled_dot_product_attention = sdpa
    return count.done()
def metric():
    module = LearnedMetric(3, 4, dtype=torch.float64)
    Q, K, V = (torch.randn(2, 3, 5, 4, dtype=torch.float64)
               for _ in range(3))
    assert torch.allclose(module(Q, K, V), sdpa(Q, K, V), atol=1e-13)
    with torch.no_grad():
        module.factor += torch.randn(3, 4, 4, dtype=torch.float64) / 3
    A = torch.softmax(Q @ module.metric() @ K.mT, -1)
    dO = torch.randn(2, 3, 5, 4, dtype=torch.float64)
    theirs, = torch.autograd.grad((A @ V * dO).sum(), module.factor)
    mine, = torch.autograd.grad((module(Q, K, V) * dO).sum(),
                                module.factor)
    assert torch.allclose(A @ V, module(Q, K, V), atol=1e-13)
    assert torch.allclose(theirs, mine, atol=1e-12)
    assert (torch.linalg.eigvalsh(module.metric()) > 0).all()
    return True
good = [f() for f in (their_samples, their_errors, gradients, operator,
                      metric)]
raise SystemExit(not all(good))
