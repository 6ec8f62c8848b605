"""What mpmath computes with 300 digits, from the definitions alone.

Derivatives are numerical ones, which 300 digits leave exact to more than 42.
"""

import random
import sys
from itertools import product

from mpmath import binomial, diff, exp, findroot, lambertw, log, mp, mpf, sqrt

from table import write

mp.dps = 300


def draw(seed, n, m, step=8, reach=3):
    """Small multiples of 1/step, which doubles hold exactly."""
    g = random.Random(seed)
    return [[mpf(g.randint(-reach * step, reach * step)) / step for _ in range(m)]
            for _ in range(n)]


def dot(x, y):
    return sum((a * b for a, b in zip(x, y)), mpf(0))


def transposed(X):
    return [list(c) for c in zip(*X)]


def times(X, Y):
    return [[dot(x, y) for y in transposed(Y)] for x in X]


def softmax(s, T=mpf(1)):
    """Weights of one row; None is a forbidden key."""
    e = [mpf(0) if x is None else exp(x / T) for x in s]
    Z = sum(e)
    return ([x / Z for x in e], log(Z)) if Z else (e, -mp.inf)


def gradient(f, p, names):
    """Gradient of f(p) by the entries of the named matrices."""
    g = {}
    for name in names:
        X = p[name]
        g["d" + name] = [[None] * len(X[0]) for _ in X]
        for i, j in product(range(len(X)), range(len(X[0]))):
            def moved(t):
                Y = [list(r) for r in X]
                Y[i][j] = t
                return f({**p, name: Y})
            g["d" + name][i][j] = diff(moved, X[i][j])
    return g


def attend(p):
    form = times(p["Q"], p["M"]) if "M" in p else [
        [x / sqrt(mpf(len(p["K"][0]))) for x in q] for q in p["Q"]]
    T = p["T"][0][0]
    S = [[dot(q, k) if m else None for k, m in zip(p["K"], row)]
         for q, row in zip(form, p["mask"])]
    rows = [softmax(s, T) for s in S]
    return {"O": times([A for A, _ in rows], p["V"]), "logZ": [[z] for _, z in rows]}


def attention_cases():
    for seed, (name, T, form, mask) in enumerate([
        ("standard", 1, None, [[1] * 3] * 2),
        ("metric", mpf("0.5"), "metric", [[1, 0, 1], [1, 1, 1]]),
        ("cold_metric", mpf(2) ** -5, "metric", [[1] * 3] * 2),
        ("form_and_empty_row", mpf(4), "form", [[0, 0, 0], [1, 1, 0]]),
    ], 1):
        p = {"Q": draw(seed, 2, 2), "K": draw(seed + 10, 3, 2), "V": draw(seed + 20, 3, 2),
             "T": [[mpf(T)]], "mask": mask}
        W = draw(seed + 30, 2, 2)
        if form:
            p["M"] = times(transposed(W), W) if form == "metric" else W
            if form == "metric":
                p["M"] = [[x + (a == b) for b, x in enumerate(r)] for a, r in enumerate(p["M"])]
        bar = {"O": draw(seed + 40, 2, 2), "logZ": draw(seed + 50, 2, 1)}

        def loss(p):
            y = attend(p)
            return sum(a * b for k in bar for r, s in zip(bar[k], y[k]) for a, b in zip(r, s)
                       if mp.isfinite(b))

        names = ["Q", "K", "V", "T"] + (["M"] if form else [])
        yield name, {**p, **attend(p), **{"bar_" + k: v for k, v in bar.items()},
                     **gradient(loss, p, names)}


def gibbs_cases():
    for name, s, T in [
        ("warm", draw(60, 1, 5)[0], mpf(1)), ("cold", draw(61, 1, 4)[0], mpf(2) ** -9),
        ("hot", draw(62, 1, 4)[0], mpf(2) ** 12),
        ("enormous", [mpf(1000), mpf("999.5"), mpf(-1000), mpf("998.25")], mpf("0.5")),
        ("tie", [mpf(2), mpf(2), mpf(-1)], mpf("0.125")), ("one_key", [mpf(3)], mpf("0.75")),
    ]:
        A, logZ = softmax(s, T)
        n = len(s)

        def F(*t):
            return T * log(sum(exp(x / T) for x in t))

        def energy(T):
            return -dot(softmax(s, T)[0], s)

        def order(*at):
            return tuple(at.count(k) for k in range(n))

        hessian = [[diff(F, s, order(i, j)) / T for j in range(n)] for i in range(n)] \
            if name == "warm" else None
        yield name, {
            "S": [s], "T": [[T]], "A": [A], "logA": [[x / T - logZ for x in s]],
            "logZ": [[logZ]], "F": [[-T * logZ]], "U": [[energy(T)]],
            "H": [[-sum(a * log(a) for a in A)]], "C": [[diff(energy, T)]],
            **({"fisher": hessian} if hessian else {})}


def distribution_cases():
    for seed in 70, 71:
        p = [mpf(x) / 64 for x in ([20, 30, 14] if seed == 70 else [1, 1, 62])]
        q = [mpf(x) / 64 for x in ([40, 8, 16] if seed == 70 else [32, 16, 16])]
        yield f"pair_{seed}", {
            "p": [p], "q": [q], "kl": [[sum(a * log(a / b) for a, b in zip(q, p))]],
            "H": [[-sum(a * log(a) for a in p)]],
            "fisher_rao": [[2 * mp.acos(sum(sqrt(a * b) for a, b in zip(p, q)))]]}


def entmax_cases():
    for alpha in mpf("1.25"), mpf("1.5"), mpf(2):
        s = draw(80, 1, 5)[0]

        def excess(tau):
            return sum(max((alpha - 1) * x - tau, mpf(0)) ** (1 / (alpha - 1)) for x in s) - 1

        top = (alpha - 1) * max(s)
        low, high = top - 1, top
        for _ in range(190):
            tau = (low + high) / 2
            low, high = (tau, high) if excess(tau) > 0 else (low, tau)
        p = [max((alpha - 1) * x - low, mpf(0)) ** (1 / (alpha - 1)) for x in s]
        yield f"alpha_{float(alpha)}", {
            "S": [s], "alpha": [[alpha]], "p": [p],
            "H": [[sum(x - x**alpha for x in p) / (alpha * (alpha - 1))]]}


def hopfield_cases():
    for seed, beta in enumerate([mpf("0.25"), mpf(2), mpf(32)], 90):
        K, x = draw(seed, 4, 3), draw(seed + 10, 1, 3)[0]

        def E(*t):
            return -log(sum(exp(beta * dot(k, t)) for k in K)) / beta + dot(t, t) / 2

        unit = lambda a: tuple(int(a == b) for b in range(3))
        yield f"modern_{float(beta)}", {
            "K": K, "X": [x], "beta": [[beta]], "E": [[E(*x)]],
            "update": [[x[a] - diff(E, x, unit(a)) for a in range(3)]]}


def constant_cases():
    yield "lambert", {"x": [[mpf(x)] for x in ("0", "0.5", "1", "40", "1e6")],
                      "w": [[lambertw(mpf(x)).real] for x in ("0", "0.5", "1", "40", "1e6")]}
    d, kappa, beta, p = 20, 3, 1, mpf(1) / 1024
    a = mpf(2) / (d - 1) * (1 + log(2 * beta * kappa**2 * p * (d - 1)))
    b = mpf(2) / 5 * kappa**2 * beta
    c = b / lambertw(exp(a + log(b))).real
    yield "ramsauer", {"arguments": [[d, kappa, beta, p]], "base": [[c]],
                       "guarantee": [[sqrt(p) * c ** (mpf(d - 1) / 4)]]}
    d, M = 25, 6                    # Hebb: noise of (M-1)(d-1) signs against d-1
    n = (M - 1) * (d - 1)
    yield "hebb", {"arguments": [[d, M]], "error": [[
        sum(binomial(n, k) for k in range(n + 1) if n - 2 * k < -(d - 1)) / mpf(2) ** n]],
        "capacity": [[d / (2 * log(mpf(d)))]]}
    beta = mpf("1.5")               # exponent of a sum over the sphere, by its saddle
    t = findroot(lambda t: beta - t / (1 - t * t), mpf("0.5"))
    yield "sphere", {"beta": [[beta]],
                     "rate": [[beta - beta * t - log(1 - t * t) / 2]]}


def position_cases():
    d, n, first = 4, 3, 5
    theta = [mpf(10000) ** (-mpf(2 * a) / d) for a in range(d // 2)]
    X = draw(110, n, d)
    yield "rotary", {"X": X, "first": [[first]], "theta": [[t] for t in theta], "Y": [
        [part(z) for a in range(d // 2)
         for z in [mp.mpc(x[2 * a], x[2 * a + 1]) * mp.expj((first + i) * theta[a])]
         for part in (mp.re, mp.im)] for i, x in enumerate(X)]}
    yield "sinusoidal", {"n": [[n]], "first": [[first]], "P": [
        [f((first + i) * t) for t in theta for f in (mp.sin, mp.cos)] for i in range(n)]}
    for H in 4, 8, 6:
        low = 2 ** (H.bit_length() - 1)
        slopes = [mpf(2) ** (-mpf(8) * h / low) for h in range(1, low + 1)]
        slopes += [mpf(2) ** (-mpf(4) * h / low) for h in range(1, 2 * (H - low), 2)]
        yield f"alibi_{H}", {"heads": [[H]], "slopes": [[x] for x in slopes]}
    for both, count, far in (1, 32, 128), (0, 32, 128), (1, 16, 20):
        def bucket(offset):
            classes = count // 2 if both else count
            side = classes if both and offset > 0 else 0
            k, exact = abs(offset) if both else max(-offset, 0), classes // 2
            if k < exact:
                return side + k
            more = log(mpf(k) / exact) / log(mpf(far) / exact) * (classes - exact)
            return side + min(exact + int(mp.floor(more + mpf(10) ** -40)), classes - 1)
        yield f"buckets_{both}_{count}_{far}", {
            "rules": [[both, count, far]],
            "bucket": [[bucket(t)] for t in range(-150, 151)]}


def feature_cases():
    X, Y, V, W = draw(120, 2, 2), draw(121, 3, 2), draw(122, 3, 2), draw(123, 4, 2)
    elu = lambda x: exp(x) if x < 0 else x + 1
    phi, psi = [[elu(x) for x in r] for r in X], [[elu(x) for x in r] for r in Y]
    weights = [[dot(a, b) for b in psi] for a in phi]
    yield "elu", {"X": X, "Y": Y, "V": V, "Phi": phi, "O": times(
        [[w / sum(r) for w in r] for r in weights], V)}
    yield "positive", {"X": X, "W": W, "Phi": [
        [exp(dot(w, x) - dot(x, x) / 2) / sqrt(mpf(len(W))) for w in W] for x in X]}
    kernel = [[exp(-sum((a - b) ** 2 for a, b in zip(x, y)) / 2) for y in Y] for x in X]
    yield "gaussian", {"X": X, "Y": Y, "kernel": kernel}


def main(folder):
    head = ("Computed with 300 digits by mpmath, 42 of them printed; see with_mpmath.py.\n"
            "`case NAME', then matrices: name, rows, columns, and the rows; bar_X is the\n"
            "cotangent of X, dX the gradient by X.")
    for kind in ("attention", "gibbs", "distribution", "entmax", "hopfield", "constant",
                 "position", "feature"):
        write(f"{folder}/mpmath_{kind}.txt", head, list(globals()[kind + "_cases"]()))


if __name__ == "__main__":
    main(sys.argv[1])
