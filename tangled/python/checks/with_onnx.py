# python/checks/with_onnx.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import warnings

import numpy
import onnx
import torch
from onnx.backend.test.loader import load_model_tests

import attn
from facts import Count, fact

warnings.simplefilter("ignore")
fact("version/onnx", onnx.__version__)
def scores(given, Q, K, rule):
    s, n, m = Q.shape[1] // K.shape[1], Q.shape[2], K.shape[2]
    K = K.repeat(s, 1)
    scale = Q.shape[3] ** -0.5 if rule["scale"] is None else rule["scale"]
    S = numpy.empty((*Q.shape[:3], m), Q.dtype)
    g = numpy.full(Q.shape[3], scale, Q.dtype)
    attn.scores(Q, K, g, S)
    stage, cap = given.get("qk_matmul_output_mode", 0), rule["softcap"]
    if stage >= 1 and cap:
        S = cap * numpy.tanh(S / cap)
    if stage >= 2:
        away = numpy.arange(m) - numpy.arange(n)[:, None] - rule["offset"]
        gone = numpy.zeros((n, m), bool)
        if rule["right"] is not None:
            gone |= away > rule["right"]
        if rule["left"] is not None:
            gone |= -away > rule["left"]
        if "keep" in rule:
            gone = gone | ~rule["keep"]
        S = numpy.where(gone, -numpy.inf, S + rule.get("bias", 0))
        S = S.astype(Q.dtype)
    if stage == 3:
        A = numpy.empty_like(S)
        attn.gibbs(S, 1.0, A, None, None, None, None)
        return A
    return S
def shown(x):
    if x.dtype.name != "bfloat16":
        return x
    return torch.from_numpy(x.view("i2")).view(torch.bfloat16)

def heads(x, H):
    return x if x.ndim == 4 else x.reshape(
        *x.shape[:2], H, -1).swapaxes(1, 2)

def attention(given, Q, K, V, mask=None, past_k=None, past_v=None,
              lengths=None):
    flat = Q.ndim == 3
    Q = heads(Q, given.get("q_num_heads"))
    K, V = (heads(x, given.get("kv_num_heads")) for x in (K, V))
    past = 0
    if past_k is not None:
        past = past_k.shape[2]
        K = numpy.concatenate([past_k, K], 2)
        V = numpy.concatenate([past_v, V], 2)
    left = given.get("left_window_size", -1)
    right = given.get("right_window_size", -1)
    if given.get("is_causal"):
        right = 0 if right < 0 else min(right, 0)
    rule = {"scale": given.get("scale"), "offset": past,
            "softcap": given.get("softcap") or None,
            "left": None if left < 0 else left,
            "right": None if right < 0 else right}
    if mask is not None:
        short = K.shape[2] - mask.shape[-1]
        kind = "keep" if mask.dtype == bool else "bias"
        mask = numpy.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, short)],
                         constant_values=False if kind == "keep" else -numpy.inf)
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
        rule[kind] = numpy.broadcast_to(
            mask, (*mask.shape[:2], Q.shape[2], K.shape[2]))
    O = numpy.empty((*Q.shape[:3], V.shape[3]), Q.dtype)
    for b in range(len(Q)):
        at = slice(b, b + 1)
        if lengths is not None:
            rule["keys"] = int(lengths[b])
            rule["offset"] = int(lengths[b]) - Q.shape[2]
        attn.flash(*map(shown, (Q[at], K[at], V[at])), {
            k: shown(x[at] if len(x) > 1 else x) if k in ("keep", "bias")
            else x for k, x in rule.items()}, shown(O[at]), None)
    if flat:
        O = O.swapaxes(1, 2).reshape(*Q.shape[:1], Q.shape[2], -1)
    return O, K, V, lambda: scores(given, Q, K, rule)
def softmax(given, x):
    axis = given.get("axis", -1)
    rows = numpy.moveaxis(x, axis, -1)
    A = numpy.empty(rows.shape, x.dtype)
    flat = A.reshape(-1, A.shape[-1])
    attn.gibbs(rows.reshape(flat.shape), 1.0, flat, None, None, None, None)
    return [numpy.moveaxis(A, -1, axis)]
def rotary(given, x, cosines, sines, at=None):
    X = heads(x, given.get("num_heads"))
    tables = [t if at is None else t[at] for t in (cosines, sines)]
    Y = numpy.empty(X.shape, X.dtype)
    attn.rotate(X, *(t[:, None] for t in tables),
                1 - given.get("interleaved", 0), 0, Y)
    return [Y if x.ndim == 4 else Y.swapaxes(1, 2).reshape(x.shape)]
ALONE = {"Softmax": softmax, "RotaryEmbedding": rotary}

def near(x, y, case):
    unit = {"float16": 2 ** -9, "bfloat16": 2 ** -6}.get(str(y.dtype), 0)
    return x.shape == y.shape and numpy.allclose(
        x.astype("f8"), y.astype("f8"), rtol=max(case.rtol, unit),
        atol=max(case.atol, unit), equal_nan=True)

def passes(case, node):
    given = {a.name: onnx.helper.get_attribute_value(a)
             for a in node.attribute}
    for inputs, outputs in case.data_sets:
        values = iter(inputs)
        args = [next(values) if name else None for name in node.input]
        if node.op_type in ALONE:
            made = ALONE[node.op_type](given, *args)
        else:
            O, K, V, S = attention(given, *args)
            made = [O, K, V, S] [:len(node.output)]
        made = [x() if callable(x) else x
                for x, name in zip(made, node.output) if name]
        if not all(near(x, y, case)
                   for x, y in zip(made, outputs, strict=True)):
            return False
    return True
counts = {name: Count("onnx/" + name) for name in ("Attention", *ALONE)}
versions = set()
for case in load_model_tests(kind="node"):
    node = case.model.graph.node[0]
    if len(case.model.graph.node) != 1:
        continue
    if node.op_type in counts:
        versions |= {x.version for x in case.model.opset_import
                     if node.op_type == "Attention"}
        try:
            good, why = passes(case, node), ""
        except Exception as error:
            good, why = False, f" {type(error).__name__}: {error}"
        counts[node.op_type](case.name + why, good)
fact("onnx/versions", len(versions))
raise SystemExit(not all([x.done() for x in counts.values()]))
