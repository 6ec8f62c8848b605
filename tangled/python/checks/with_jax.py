# python/checks/with_jax.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import importlib.util
import os
import sys
import unittest

import jax
import jax.numpy as jnp
import numpy

from attn.jax import dot_product_attention as ours
from facts import Count, fact

theirs = jax.nn.dot_product_attention
jax.config.update("jax_enable_x64", True)
fact("version/jax", jax.__version__)
def random_problem(roll):
    pick = lambda *of: of[roll.integers(len(of))]
    B, T, S, G, H = (int(roll.integers(1, 5)) for _ in range(5))
    N = G * int(roll.integers(1, 4))
    make = lambda *shape: jnp.asarray(roll.standard_normal(shape))
    args = [make(B, T, N, H), make(B, S, G, H), make(B, S, G, H)]
    bias = make(pick(1, B), pick(1, N), T, S) if pick(0, 1) else None
    mask = pick(None, "some")
    if mask:
        mask = jnp.asarray(roll.random((pick(1, B), pick(1, N), T, S))
                           < 0.8).at[..., 0].set(True)
    options = {"is_causal": bool(pick(0, 1)),
               "scale": pick(None, 0.4),
               "local_window_size": pick(None, None, (S + T, 1), S + T)}
    if pick(0, 0, 1):
        options["key_value_seq_lengths"] = jnp.asarray(
            roll.integers(1, S + 1, B), "int32")
    return args, bias, mask, options
def agrees(args, bias, mask, options):
    def loss(f, q, k, v, b):
        O = f(q, k, v, b, mask, **options)
        return (O * jnp.cos(jax.lax.stop_gradient(O))).sum(), O
    which = (1, 2, 3, 4) if bias is not None else (1, 2, 3)
    made = [jax.jit(jax.grad(loss, which, has_aux=True), static_argnums=0)(
        f, *args, bias) for f in (ours, theirs)]
    pairs = zip(*(jax.tree.leaves(x) for x in made), strict=True)
    return all(numpy.allclose(x, y, rtol=1e-5, atol=1e-5)
               for x, y in pairs)
def batches():
    roll = numpy.random.default_rng(2)
    make = lambda *shape: jnp.asarray(roll.standard_normal(shape))
    count = Count("jax/vmap")
    q, k, v = make(3, 2, 5, 4, 8), make(3, 2, 6, 2, 8), make(3, 2, 6, 2, 8)
    masks = {"own": (jnp.asarray(roll.random((3, 2, 1, 5, 6)) < .7), 0),
             "outer": (jnp.asarray(roll.random((3, 1, 1, 5, 6)) < .7), 0),
             "shared": (jnp.asarray(roll.random((2, 1, 5, 6)) < .7), None),
             "none": (None, None)}
    for name, (mask, axis) in masks.items():
        if mask is not None:
            mask = mask.at[..., 0].set(True)
        for axes in ((0, 0, 0), (0, None, 0), (0, None, None)):
            args = [x if a == 0 else x[0]
                    for x, a in zip((q, k, v), axes, strict=True)]
            f = lambda g: jax.vmap(jax.grad(
                lambda q, k, v, m: (g(q, k, v, None, m) ** 2).sum(),
                (0, 1, 2)), (*axes, axis))(*args, mask)
            count(f"{name} {axes}", all(
                numpy.allclose(x, y, rtol=1e-4, atol=1e-4)
                for x, y in zip(f(ours), f(theirs), strict=True)))
    return count.done()
def windows():
    roll = numpy.random.default_rng(3)
    q, k, v = (jnp.asarray(roll.standard_normal((2, 9, 2, 4)))
               for _ in range(3))
    for window in ((2, 1), (0, 3), 1, 0):
        for causal in (False, True):
            O, P = (f(q, k, v, local_window_size=window, is_causal=causal)
                    for f in (ours, theirs))
            assert numpy.allclose(O, P, rtol=1e-5, atol=1e-5), window
def their_tests(path):
    def either(*args, implementation=None, **options):
        if implementation == "xla":
            calls[0] += 1
            return ours(*args, **options)
        return theirs(*args, **options)
    calls, jax.nn.dot_product_attention = [0], either
    jax.config.update("jax_enable_x64", False)
    spec = importlib.util.spec_from_file_location("nn_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    suite = unittest.TestSuite(
        t for t in unittest.TestLoader().loadTestsFromTestCase(
            module.NNFunctionsTest)
        if "DotProductAttention" in t.id())
    found = unittest.TextTestRunner(stream=sys.stderr).run(suite)
    bad = len(found.failures) + len(found.errors)
    fact("jax/theirs/of", found.testsRun - len(found.skipped))
    fact("jax/theirs/skipped", len(found.skipped))
    fact("jax/theirs/passed", found.testsRun - bad - len(found.skipped))
    assert calls[0] > 10
    return bad == 0
windows()
roll, count = numpy.random.default_rng(1), Count("jax/random")
for k in range(100):
    problem = random_problem(roll)
    count(f"{k} {problem[3]}", agrees(*problem))
good = [count.done(), batches()]
path = os.environ.get("JAX_SOURCES", "") + "/tests/nn_test.py"
if os.path.exists(path):
    good.append(their_tests(path))
raise SystemExit(not all(good))
