"""What JAX computes and differentiates, in double precision.

Forward passes are written as the definitions are, backward passes are left to
automatic differentiation.  Where JAX has a function of its own (softmax, logsumexp,
entr, kl_div, dot_product_attention) that is used, or agreed with.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import entr, kl_div, logsumexp
from mpmath import mp

from table import write

jax.config.update("jax_enable_x64", True)
inf = np.inf


def elementary_functions_are_good():
    """The comparison in C++ takes for granted that these err by at most 4 ulp."""
    mp.dps = 40
    x = np.linspace(-30, 30, 4001)
    for name in "exp", "log", "log1p", "tanh", "sin", "cos":
        at = np.abs(x) + 1e-3 if name.startswith("log") else x
        for a, y in zip(at, np.asarray(getattr(jnp, name)(at))):
            truth = getattr(mp, name)(mp.mpf(float(a)))
            if abs(mp.mpf(float(y)) - truth) > 8 * mp.mpf(2) ** -53 * abs(truth):
                sys.exit(f"XLA's {name}({a!r}) is off by more than four ulp")


def draw(seed, **shapes):
    g = np.random.default_rng(seed)
    return {k: jnp.array(g.standard_normal(s)) for k, s in shapes.items()}


def with_gradient(f, p, bar, fixed=()):
    """f(p) and the gradient of the sum of bar[k] f(p)[k]; infinities do not count."""

    def loss(moving):
        y = f({**p, **moving})
        return sum(jnp.sum(bar[k] * jnp.where(jnp.isfinite(y[k]), y[k], 0)) for k in bar)

    moving = {k: v for k, v in p.items() if k not in fixed}
    g = jax.grad(loss)(moving)
    return {**p, **f(p), **{"bar_" + k: v for k, v in bar.items()},
            **{"d" + k: v for k, v in g.items()}}


def weigh(X, mask):
    """Weights and log Z; rows without an allowed key are empty."""
    some = mask.any(1)
    X = jnp.where(some[:, None], jnp.where(mask, X, -inf), 0)
    A = jnp.where(some[:, None], jax.nn.softmax(X, axis=1), 0)
    return A, jnp.where(some, logsumexp(X, axis=1), -inf)


def attend(p):
    d = p["K"].shape[1]
    low = p["K"] @ p["M"].T if "M" in p else p["K"] * (1 / jnp.sqrt(float(d)))
    S = p["Q"] @ low.T
    if "bias" in p:
        S = S + p["bias"]
    mask = p.get("mask", jnp.ones(S.shape)) > 0
    A, logZ = weigh(S / p["T"], mask)
    return {"O": A @ p["V"], "logZ": logZ, "A": A}


def attention_cases():
    def causal(n, m):
        return np.tril(np.ones((n, m)), m - n)

    def window(n, m, w):
        return causal(n, m) - np.tril(np.ones((n, m)), m - n - w)

    def scattered(n, m):
        mask = np.random.default_rng(5).random((n, m)) < 0.5
        mask[1] = False
        return mask.astype(float)

    spd = lambda W: W.T @ W + jnp.eye(W.shape[1])
    for seed, (name, n, m, d, T, mask, form, bias) in enumerate([
        ("plain", 4, 6, 3, 1.0, None, None, False),
        ("one_key", 3, 1, 2, 1.0, None, None, False),
        ("causal", 7, 7, 4, 1.0, causal(7, 7), None, False),
        ("causal_with_a_past", 3, 8, 4, 1.0, causal(3, 8), None, False),
        ("causal_without_keys", 6, 4, 3, 1.0, causal(6, 4), None, False),
        ("window", 9, 9, 3, 1.0, window(9, 9, 3), None, False),
        ("scattered_mask", 5, 7, 4, 1.0, scattered(5, 7), None, False),
        ("cold", 4, 5, 3, 0.0625, None, None, False),
        ("hot", 4, 5, 3, 40.0, None, None, False),
        ("learned_metric", 5, 6, 4, 0.7, None, "metric", False),
        ("any_form", 4, 5, (3, 2), 1.3, None, "form", False),
        ("bias", 4, 6, 3, 1.0, None, None, True),
        ("all_at_once", 6, 8, 5, 0.4, causal(6, 8) * scattered(6, 8), "metric", True),
    ], 1):
        d_q, d_k = d if isinstance(d, tuple) else (d, d)
        x = draw(seed, Q=(n, d_q), K=(m, d_k), V=(m, 3), bias=(n, m), O=(n, 3), logZ=(n,),
                 W=(d_q, d_q), M=(d_q, d_k))
        p = {"Q": x["Q"], "K": x["K"], "V": x["V"], "T": jnp.array(T)}
        if form:
            p["M"] = spd(x["W"]) if form == "metric" else x["M"]
        if bias:
            p["bias"] = x["bias"]
        if mask is not None:
            p["mask"] = jnp.array(mask)
        bar = {"O": x["O"], "logZ": x["logZ"]}
        yield name, with_gradient(attend, p, bar, fixed=("mask",))


def multihead(p):
    """One head after the other; each key-value head serves H/G query heads."""
    H, G = int(p["heads"][0]), int(p["heads"][1])
    project = lambda X, a: X @ p["W_" + a] + p["b_" + a]
    Q, K, V = project(p["X"], "Q"), project(p["C"], "K"), project(p["C"], "V")
    d_k, d_v = Q.shape[1] // H, V.shape[1] // G
    O = []
    for h in range(H):
        g = h // (H // G)
        q, k = Q[:, h * d_k:(h + 1) * d_k], K[:, g * d_k:(g + 1) * d_k]
        S = (q * (1 / jnp.sqrt(float(d_k)))) @ k.T
        A, _ = weigh(S, p["mask"] > 0)
        O.append(A @ V[:, g * d_v:(g + 1) * d_v])
    return {"Y": jnp.concatenate(O, 1) @ p["W_O"] + p["b_O"]}


def agrees_with_jax(p):
    """JAX's own attention, in single precision, on the same heads and mask."""
    H, G = int(p["heads"][0]), int(p["heads"][1])
    heads = lambda X, a, n: (X @ p["W_" + a] + p["b_" + a]).reshape(1, len(X), n, -1)
    O = jax.nn.dot_product_attention(
        heads(p["X"], "Q", H), heads(p["C"], "K", G), heads(p["C"], "V", G),
        mask=(p["mask"] > 0)[None, None])
    Y = O.reshape(len(p["X"]), -1) @ p["W_O"] + p["b_O"]
    if not np.allclose(Y, multihead(p)["Y"], atol=1e-4):
        sys.exit("jax.nn.dot_product_attention disagrees with the definition")


def multihead_cases():
    for seed, (name, H, G, n, m) in enumerate([
        ("multi_head", 3, 3, 4, 5), ("grouped_query", 4, 2, 5, 6),
        ("multi_query", 3, 1, 6, 6),
    ], 101):
        d, D, d_v = 2, 4, 2
        p = draw(seed, X=(n, D), C=(m, 3), W_Q=(D, H * d), W_K=(3, G * d), W_V=(3, G * d_v),
                 W_O=(H * d_v, D), b_Q=(H * d,), b_K=(G * d,), b_V=(G * d_v,), b_O=(D,))
        p["heads"] = jnp.array([float(H), float(G)])
        p["mask"] = jnp.array(np.tril(np.ones((n, m)), m - n))
        agrees_with_jax(p)
        bar = {"Y": draw(seed + 50, Y=(n, D))["Y"]}
        yield name, with_gradient(multihead, p, bar, fixed=("heads", "mask"))


def block(p):
    """Normalise, attend causally, add; normalise, two layers with silu, add."""

    def normalise(X):
        X = X - X.mean(1, keepdims=True)
        return X / jnp.sqrt((X * X).mean(1, keepdims=True) + 1e-5)

    zero = {a: 0.0 for a in ("b_Q", "b_K", "b_V", "b_O")}
    n = p["X"].shape[0]
    x = normalise(p["X"])
    Y = multihead({**p, **zero, "X": x, "C": x, "mask": jnp.tri(n)})["Y"]
    middle = p["X"] + Y
    hidden = normalise(middle) @ p["W_1"] + p["b_1"]
    return {"Y": middle + (hidden * jax.nn.sigmoid(hidden)) @ p["W_2"] + p["b_2"]}


def block_cases():
    D, H, n, F = 4, 2, 5, 3
    p = draw(201, X=(n, D), W_Q=(D, D), W_K=(D, D), W_V=(D, D), W_O=(D, D), W_1=(D, F),
             b_1=(F,), W_2=(F, D), b_2=(D,))
    p["heads"] = jnp.array([float(H), float(H)])
    yield "block", with_gradient(block, p, draw(202, Y=(n, D)), fixed=("heads",))


def gibbs_cases():
    logZ = lambda S, T: logsumexp(S / T, axis=1)
    weights = lambda S, T: jax.nn.softmax(S / T, axis=1)
    energy = lambda S, T: -jnp.sum(weights(S, T) * S, axis=1)
    for seed, (name, n, m, T) in enumerate([
        ("warm", 3, 6, 1.0), ("lukewarm", 3, 5, 0.3), ("boiling", 2, 7, 25.0),
    ], 301):
        x = draw(seed, S=(n, m), dA=(n, m), other=(n, m))
        S, q = x["S"], weights(x["other"], 1.0)
        A, vjp = jax.vjp(lambda s: weights(s, T), S)
        H = jnp.sum(entr(A), axis=1)
        yield name, {
            "S": S, "T": jnp.array(T), "A": A, "logA": jax.nn.log_softmax(S / T, axis=1),
            "logZ": logZ(S, T), "F": -T * logZ(S, T), "U": energy(S, T), "H": H,
            "C": jax.jacfwd(lambda t: energy(S, t))(T),       # heat capacity dU/dT
            "fisher": jax.hessian(lambda s: logZ(s[None], T)[0])(S[0]),
            "jacobian": jax.jacrev(lambda s: weights(s[None], T)[0])(S[0]),
            "dA": x["dA"], "dS": vjp(x["dA"])[0],
            "q": q, "kl": jnp.sum(kl_div(q, A), axis=1),
            "normalised": H / np.log(m), "effective": jnp.exp(H)}


def entmax(S, alpha):
    """By sorting (Martins 2016 for alpha 2, Peters 2019 for 1.5)."""
    X = jnp.sort(S * (alpha - 1) - jnp.max(S * (alpha - 1), 1, keepdims=True), 1)[:, ::-1]
    k = jnp.arange(1, X.shape[1] + 1)
    mean, square = jnp.cumsum(X, 1) / k, jnp.cumsum(X * X, 1) / k
    if alpha == 2:
        tau = mean - 1 / k
    else:
        rest = (1 - k * (square - mean**2)) / k
        tau = mean - jnp.sqrt(jnp.where(rest > 0, rest, 0))
    support = jnp.sum(tau <= X, 1)
    t = jnp.take_along_axis(tau, support[:, None] - 1, 1)
    Y = S * (alpha - 1) - jnp.max(S * (alpha - 1), 1, keepdims=True) - t
    return jnp.where(Y > 0, Y, 0) ** (1 / (alpha - 1))


def entmax_cases():
    for seed, alpha in enumerate([1.5, 2.0], 401):
        x = draw(seed, S=(4, 6), p=(4, 6))
        p, vjp = jax.vjp(lambda s: entmax(s, alpha), x["S"])
        yield f"entmax_{alpha}", {"S": x["S"], "alpha": jnp.array(alpha), "p": p,
                                  "bar_p": x["p"], "dS": vjp(x["p"])[0]}


def hopfield_cases():
    for seed, beta in enumerate([0.5, 1.0, 8.0], 501):
        x = draw(seed, X=(3, 4), K=(6, 4))
        K = x["K"]
        E = lambda s: -logsumexp(beta * (K @ s)) / beta + 0.5 * jnp.sum(s * s)
        # The update is where the gradient of the energy points.
        yield f"modern_{beta}", {
            **x, "beta": jnp.array(beta), "E": jnp.stack([E(s) for s in x["X"]]),
            "update": x["X"] - jnp.stack([jax.grad(E)(s) for s in x["X"]])}
    g = np.random.default_rng(550)
    K, s = g.choice([-1.0, 1.0], (3, 10)), g.choice([-1.0, 1.0], (10, 1))
    W = np.einsum("ja,jb->ab", K, K) / 10       # nine odd numbers: no field is zero
    E = -0.5 * s.T @ W @ s
    W0 = W - np.diag(np.diag(W))
    yield "classical", {"K": K, "x": s, "W": W, "W0": W0, "E": E, "update": np.sign(W0 @ s)}


def rotate(X, p, half):
    """Rotation as multiplication by exp(i p theta)."""
    n, d = X.shape
    theta = 10000.0 ** (-2.0 * jnp.arange(d // 2) / d)
    turn = jnp.exp(1j * (p + jnp.arange(n))[:, None] * theta)
    pair = (X[:, :d // 2], X[:, d // 2:]) if half else (X[:, ::2], X[:, 1::2])
    z = (pair[0] + 1j * pair[1]) * turn
    if half:
        return jnp.concatenate([z.real, z.imag], 1)
    return jnp.stack([z.real, z.imag], 2).reshape(n, d)


def position_cases():
    for name, half in ("rotary_neighbours", False), ("rotary_halves", True):
        x = draw(601, X=(5, 6), Y=(5, 6))
        Y, vjp = jax.vjp(lambda X: rotate(X, 3, half), x["X"])
        yield name, {"X": x["X"], "first": jnp.array(3.0), "half": jnp.array(float(half)),
                     "Y": Y, "bar_Y": x["Y"], "dX": vjp(x["Y"])[0]}


def variant(p):
    """Capped scores, a slope times the distance, and a sink."""
    n, m = p["Q"].shape[0], p["K"].shape[0]
    X = p["Q"] @ p["K"].T * (1 / jnp.sqrt(float(p["K"].shape[1])))
    away = jnp.abs(jnp.arange(m) - (jnp.arange(n) + m - n)[:, None])
    S = p["cap"] * jnp.tanh(X / p["cap"]) - p["slope"] * away
    S = jnp.where(p["mask"] > 0, S, -inf)
    S = jnp.concatenate([S, jnp.broadcast_to(p["sink"], (n, 1))], 1)
    return {"O": jax.nn.softmax(S, axis=1)[:, :m] @ p["V"], "logZ": logsumexp(S, axis=1)}


def variant_cases():
    n, m, d = 5, 7, 3
    p = draw(701, Q=(n, d), K=(m, d), V=(m, 2), sink=())
    p |= {"slope": jnp.array(0.25), "cap": jnp.array(2.0),
          "mask": jnp.array(np.tril(np.ones((n, m)), m - n))}
    bar = draw(702, O=(n, 2), logZ=(n,))
    yield "alibi_softcap_sink", with_gradient(variant, p, bar, fixed=("mask", "cap"))


def linear_cases():
    n, m, d, d_v = 6, 6, 3, 2
    x = draw(801, X=(n, d), Y=(m, d), V=(m, d_v), O=(n, d_v), W=(8, d), S=(4, d_v))
    elu = lambda X: jax.nn.elu(X) + 1

    def positive(X):
        X = X / d**0.25
        return jnp.exp(X @ x["W"].T - 0.5 * jnp.sum(X * X, 1, keepdims=True)) / np.sqrt(8.0)

    for name, phi, mask in (("elu", elu, np.ones((n, m))), ("elu_causal", elu, np.tri(n)),
                            ("relu", jax.nn.relu, np.ones((n, m))),
                            ("positive", positive, np.ones((n, m)))):
        # The definition: weights phi(q).psi(k), normalised; n_q x n_k of them.
        def f(p):
            A = jnp.array(mask) * (p["Phi"] @ p["Psi"].T)
            return {"O": (A / jnp.sum(A, 1, keepdims=True)) @ p["V"]}

        p = {"Phi": phi(x["X"]) + (0.125 if name == "relu" else 0), "Psi": phi(x["Y"]),
             "V": x["V"]}
        extra = {"W": x["W"]} if name == "positive" else {}
        yield "linear_" + name, {"X": x["X"], "Y": x["Y"], **extra,
                                 **with_gradient(f, p, {"O": x["O"]})}


def recurrence(p, erase):
    M, out = p["start"], []
    for phi, psi, v, alpha, beta in zip(p["Phi"], p["Psi"], p["V"], p["alpha"], p["beta"]):
        M = alpha * M
        M = M + beta * jnp.outer(psi, v - erase * (M.T @ psi))
        out.append(phi @ M)
    return {"O": jnp.stack(out)}


def recurrence_cases():
    n, m, d = 7, 3, 2
    for name, erase in ("decaying", 0.0), ("gated_delta", 1.0):
        p = draw(901, Phi=(n, m), Psi=(n, m), V=(n, d), start=(m, d), alpha=(n,), beta=(n,))
        p["Psi"] = p["Psi"] / jnp.linalg.norm(p["Psi"], axis=1, keepdims=True)
        p["alpha"], p["beta"] = jax.nn.sigmoid(p["alpha"]), jax.nn.sigmoid(p["beta"])
        bar = {"O": draw(902, O=(n, d))["O"]}
        yield name, with_gradient(lambda p: recurrence(p, erase), p, bar)


def main(folder):
    elementary_functions_are_good()
    head = (f"Computed and differentiated in double precision by JAX {jax.__version__};\n"
            "see with_jax.py.  `case NAME', then matrices: name, rows, columns, and the rows;\n"
            "numbers are integers or exact hexadecimal; bar_X is the cotangent of X, dX the\n"
            "gradient by X.")
    for kind in ("attention", "multihead", "block", "gibbs", "entmax", "hopfield", "position",
                 "variant", "linear", "recurrence"):
        write(f"{folder}/jax_{kind}.txt", head, list(globals()[kind + "_cases"]()))


if __name__ == "__main__":
    main(sys.argv[1])
