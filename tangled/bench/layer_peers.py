# bench/layer_peers.py: tangled from chapters/09a-layer-checks.nw; edit that file, not this one.
import ctypes, json, os, sys, time
import numpy as np, torch, torch._functorch.config

ours = ctypes.CDLL(os.path.abspath(sys.argv[1]))
ours.layer_numbers.restype = ctypes.POINTER(ctypes.c_float)
n, D, H, d = 2048, 768, 12, 64

def numbers(name, *shape):
    at = ours.layer_numbers(name.encode())
    return torch.from_numpy(np.ctypeslib.as_array(at, shape))

def run_forward():
    ours.layer_attend()
    return [numbers("Y", n, D)]

def run_backward():
    ours.layer_differentiate()
    return ([numbers("dX", n, D)]
            + [numbers("dW_" + a, D, D) for a in "QKVO"])

ours.layer_pose(ctypes.c_ssize_t(n))
ours.layer_attend()
theta = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
angle = torch.arange(n, dtype=torch.float64)[:, None] * theta
turning = [torch.cat((f(angle), f(angle)), -1) for f in (torch.cos, torch.sin)]

def turn(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin

def layer(attend, cos, sin, x, W_Q, W_K, W_V, W_O):
    q, k, v = ((x @ w).view(n, H, d).transpose(0, 1)
               for w in (W_Q, W_K, W_V))
    o = attend(turn(q, cos, sin), turn(k, cos, sin), v)
    return o.transpose(0, 1).reshape(n, D) @ W_O

def own_attention(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(
        q[None], k[None], v[None], is_causal=True)[0]

def by_definition(q, k, v):
    later = torch.ones(n, n, dtype=torch.bool).triu(1)
    s = (q @ k.transpose(1, 2) / d ** 0.5).masked_fill(later, -np.inf)
    return s.softmax(-1) @ v
def directions(attend, number, compiled=False):
    inputs = [numbers("X", n, D)] + [numbers("W_" + a, D, D) for a in "QKVO"]
    inputs = [a.to(number, copy=True).requires_grad_() for a in inputs]
    tables = [t.to(number) for t in turning]
    f = lambda *x: layer(attend, *tables, *x)
    if compiled:
        f = torch.compile(f)
    dY = numbers("dY", n, D).to(number)
    def forward():
        with torch.no_grad():
            return [f(*inputs)]
    y = f(*inputs)
    def backward():
        return list(torch.autograd.grad(y, inputs, dY, retain_graph=True))
    return {"forward": forward, "gradient": backward}
torch.set_num_threads(1)
torch._functorch.config.donated_buffer = False
contestants = {
    "ours": {"forward": run_forward, "gradient": run_backward},
    "torch": directions(own_attention, torch.float32),
    "torch-compiled": directions(own_attention, torch.float32, True)}
truth = {way: f() for way, f in
         directions(by_definition, torch.float64).items()}

def near(found, right):
    return all((a - b).abs().max() <= 1e-4 * b.abs().max()
               for a, b in zip(found, right, strict=True))

def measure(way):
    for name, ways in contestants.items():
        assert near(ways[way](), truth[way]), f"{name} is off: {way}"
    sample = {name: [] for name in contestants}
    for _ in range(11):
        for name, ways in contestants.items():
            start = time.process_time()
            ways[way]()
            sample[name].append(1e3 * (time.process_time() - start))
    return sample
def report():
    for way in ("forward", "gradient"):
        for name, ms in measure(way).items():
            low, middle, high = np.quantile(ms, (0.25, 0.5, 0.75))
            yield {"run_name": f"layer/python/{name}/{way}/{n}",
                   "aggregate_name": "median", "cpu_time": middle,
                   "ms": middle, "spread": (high - low) / middle,
                   "time_unit": "ms"}

print(f"layer_peers: torch {torch.__version__}", file=sys.stderr)
json.dump({"benchmarks": list(report())}, sys.stdout, indent=2)
