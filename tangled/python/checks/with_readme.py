# python/checks/with_readme.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
import numpy
import torch

shown, code = open("README.md", encoding="utf-8").read(), ""
for block in shown.split("```python\n")[1:]:
    code += block.split("```")[0]
names = {}
exec(code, names)
Q, K, V, O = (torch.tensor(names[x]) for x in "QKVO")
right = torch.nn.functional.scaled_dot_product_attention(
    Q, K, V, is_causal=True)
assert numpy.allclose(O, right, rtol=0, atol=1e-12)
assert torch.allclose(names["same"], right, rtol=0, atol=1e-12)
