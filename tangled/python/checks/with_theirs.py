# python/checks/with_theirs.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import collections
import importlib.util
import os
import subprocess
import sys
import unittest

import torch
import torch.nn.functional as F

import attn.torch
from attn.torch import scaled_dot_product_attention as ours
from facts import fact

theirs = F.scaled_dot_product_attention
torch.manual_seed(1)
sources = os.environ.get("TORCH_SOURCES", "")
path = sources + "/test/test_transformers.py"
if not os.path.exists(path):
    raise SystemExit(0)
sys.path.insert(0, sources + "/test")
spec = importlib.util.spec_from_file_location("test_transformers", path)
tests = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tests)
fact("torch/theirs/version",
     open(sources + "/version.txt").read().split("a")[0].strip())
asked, first = [], attn.torch._refuse_tangents
def noticed(*args):
    asked.append(True)
    return first(*args)
attn.torch._refuse_tangents = noticed
def either(*args, **options):
    fused = torch.backends.cuda.flash_sdp_enabled()
    return (ours if fused else theirs)(*args, **options)
def use(f):
    F.scaled_dot_product_attention = f
    tests.scaled_dot_product_attention = f
def outcome(test):
    asked.clear()
    found = unittest.TestResult()
    unittest.TestSuite([test]).run(found)
    for word in ("skipped", "failures", "errors"):
        for _, text in getattr(found, word):
            return word, text
    return "passed", ""
def passes_without(test):
    name = f"{type(test).__name__}.{test._testMethodName}"
    return subprocess.run([sys.executable, path, name],
                          capture_output=True).returncode == 0
def verdict(test):
    word, text = outcome(test)
    if word == "passed" and not asked:
        return "elsewhere"
    if word in ("passed", "skipped"):
        return word
    if "attn: dropout" in text:
        return "dropout"
    print(f"{test.id()}: {text[-400:]}", file=sys.stderr)
    return "failed" if passes_without(test) else "old"
STRIDE, MANY = 31, "fused_attention_mask_vs_math_cpu"
counts, failed = collections.Counter(), []
for name in ("Transformers", "SDPAFailureModes", "SDPA", "AttnBias",
             "SDPACpuOnly"):
    suite = list(unittest.TestLoader().loadTestsFromTestCase(
        getattr(tests, f"Test{name}CPU")))
    many = [t for t in suite if MANY in t.id()]
    use(either if name == "SDPACpuOnly" else ours)
    counts["left"] += len(many) - len(many[::STRIDE])
    for test in [t for t in suite if t not in many] + many[::STRIDE]:
        word = verdict(test)
        counts[word] += 1
        if word == "failed":
            failed.append(test.id().split(".")[-1])
for word in ("left", "skipped", "elsewhere", "dropout", "old", "passed",
             "failed"):
    fact("torch/theirs/" + word, counts[word])
fact("torch/theirs/stride", STRIDE)
fact("torch/theirs/of", counts["passed"] + counts["failed"])
print("failed:", *failed, sep="\n  ", flush=True)
translated = "script", "transformerencoderlayer_subclass"
raise SystemExit(not all(any(t in f for t in translated) for f in failed))
