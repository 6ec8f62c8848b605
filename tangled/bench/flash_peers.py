# bench/flash_peers.py: tangled from chapters/09-flash-checks.nw; edit that file, not this one.
import ctypes, json, os, sys, time
import numpy as np

ours = ctypes.CDLL(os.path.abspath(sys.argv[1]))
ours.flash_peak.restype = ctypes.c_double
sizes, rounds = (512, 1024, 2048, 4096), 9
H, d = 8, 64

def kernel(x, causal, back=False):
    at = lambda name: x[name].ctypes.data_as(ctypes.c_void_p)
    n = x["Q"].shape[1]
    size = [ctypes.c_ssize_t(k) for k in (H, n, d)]
    failed = ours.flash_heads(*size, int(causal),
                     *map(at, ("Q", "K", "V", "O", "L")),
                     *(map(at, ("dO", "dQ", "dK", "dV")) if back
                       else [None] * 4))
    assert not failed
    return [x[k] for k in (("dQ", "dK", "dV") if back else ("O",))]

def problem(n):
    draw = np.random.default_rng(1)
    shape = {k: (H, n, d) for k in ("Q", "K", "V", "dO", "O", "dQ", "dK",
                                    "dV")}
    x = {k: draw.standard_normal(s, np.float32) for k, s in shape.items()}
    x["L"] = np.empty((H, n), np.float32)
    return x
def torch_peer(x, causal, back):
    import torch
    torch.set_num_threads(1)
    q, k, v, g = (torch.from_numpy(x[a])[None] for a in ("Q", "K", "V", "dO"))
    attend = torch.nn.functional.scaled_dot_product_attention
    if not back:
        return lambda: [attend(q, k, v, is_causal=causal)[0].numpy()]
    q, k, v = (a.clone().requires_grad_() for a in (q, k, v))
    out = attend(q, k, v, is_causal=causal)
    return lambda: [a[0].numpy() for a in torch.autograd.grad(
        out, (q, k, v), g, retain_graph=True)]

def jax_peer(x, causal, back):
    import jax
    q, k, v, g = (jax.numpy.asarray(x[a].swapaxes(0, 1)[None])
                  for a in ("Q", "K", "V", "dO"))
    attend = jax.jit(lambda q, k, v: jax.nn.dot_product_attention(
        q, k, v, is_causal=causal))
    take = lambda y: [np.asarray(a[0]).swapaxes(0, 1) for a in y]
    if not back:
        return lambda: take([attend(q, k, v)])
    pull = jax.jit(lambda q, k, v, g: jax.vjp(attend, q, k, v)[1](g))
    return lambda: take(pull(q, k, v, g))
def onnx_peer(x, causal, back):
    import onnx, onnxruntime
    from onnx import helper
    if back:
        return None
    n = x["Q"].shape[1]
    info = [helper.make_tensor_value_info(a, onnx.TensorProto.FLOAT,
                                          (1, n, H * d)) for a in "QKVO"]
    node = helper.make_node("MultiHeadAttention", list("QKV"), ["O"],
                            domain="com.microsoft", num_heads=H,
                            unidirectional=int(causal))
    model = helper.make_model(
        helper.make_graph([node], "attention", info[:3], info[3:]),
        opset_imports=[helper.make_opsetid("", 17),
                       helper.make_opsetid("com.microsoft", 1)],
        ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, ["CPUExecutionProvider"])
    flat = {a: np.ascontiguousarray(x[a].swapaxes(0, 1)).reshape(1, n, -1)
            for a in "QKV"}
    return lambda: [session.run(None, flat)[0].reshape(n, H, d)
                    .swapaxes(0, 1)]
peers = {"ours": lambda x, causal, back: lambda: kernel(x, causal, back)}
for name, make in (("torch", torch_peer), ("jax", jax_peer),
                   ("onnxruntime", onnx_peer)):
    try:
        print(f"flash_peers: {name} {__import__(name).__version__}",
              file=sys.stderr)
        peers[name] = make
    except ImportError:
        print(f"flash_peers: {name} was not found", file=sys.stderr)
def check(x, causal, back, found):
    for h in range(H):
        for i in (0, n_of(x) // 3, n_of(x) - 1):
            m = i + 1 if causal else n_of(x)
            K, V = (x[a][h, :m].astype(float) for a in "KV")
            s = K @ x["Q"][h, i].astype(float) / d ** 0.5
            A = np.exp(s - s.max())
            A /= A.sum()
            dA = V @ x["dO"][h, i].astype(float)
            dQ = (A * (dA - A @ dA)) @ K / d ** 0.5
            off = np.abs(found[0][h, i] - (dQ if back else A @ V)).max()
            assert off < 2e-4, f"the kernel is off by {off}"

def n_of(x):
    return x["Q"].shape[1]

def measure(n, causal, back):
    x, ready = problem(n), {}
    kernel(x, causal)
    truth = [a.copy() for a in kernel(x, causal, back)]
    check(x, causal, back, truth)
    for name, make in peers.items():
        f = make(x, causal, back)
        if f is None:
            continue
        off = max(float(np.abs(a - b).max()) for a, b in zip(f(), truth))
        if off < 2e-4:
            ready[name] = f
        else:
            print(f"flash_peers: {name}, n = {n}, causal {causal}: "
                  f"output off by {off}", file=sys.stderr)
    sample = {name: [] for name in ready}
    for _ in range(rounds):
        for name, f in ready.items():
            before, start = ours.flash_peak(), time.process_time()
            f()
            seconds = time.process_time() - start
            peak = max(before, ours.flash_peak())
            sample[name].append((seconds, seconds * peak))
    return sample
def report():
    for n in sizes:
        for causal in (False, True):
            pairs = n * (n + 1) / 2 if causal else n * n
            for back in (False, True):
                work = (10 if back else 4) * d * H * pairs
                sample = measure(n, causal, back)
                for name, times in sample.items():
                    seconds, at_peak = np.median(times, axis=0)
                    yield {"run_name": "/".join((
                        "flash/python", name, "backward" if back else
                        "forward", str(n), "causal" if causal else "full")),
                        "aggregate_name": "median",
                        "cpu_time": 1e3 * seconds, "ms": 1e3 * seconds,
                        "of_peak": work / at_peak, "time_unit": "ms"}

json.dump({"benchmarks": list(report())}, sys.stdout, indent=2)
