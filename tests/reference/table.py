"""Writes cases of named matrices as text, each number so that none of it is lost."""

import numpy as np
from mpmath import mp


def number(x):
    if isinstance(x, (mp.mpf, mp.mpc)):
        return mp.nstr(x, 42) if mp.isfinite(x) else str(float(x))
    x = float(x)
    return str(int(x)) if x.is_integer() and abs(x) < 2**53 else x.hex()


def rows(x):
    if isinstance(x, mp.matrix):
        return [[x[i, j] for j in range(x.cols)] for i in range(x.rows)]
    if isinstance(x, (list, tuple)):
        return [list(r) if isinstance(r, (list, tuple)) else [r] for r in x]
    x = np.asarray(x) if not isinstance(x, mp.mpf) else np.array([[x]], object)
    return x.reshape(len(x) if x.ndim > 0 else 1, -1).tolist() if x.size else []


def write(path, head, cases):
    """cases: pairs of a name and a dictionary from names to matrices."""
    with open(path, "w") as out:
        for line in head.strip().splitlines():
            print("#", line.rstrip(), file=out)
        for name, parts in cases:
            print("\ncase", name, file=out)
            for key, value in parts.items():
                r = rows(value)
                print(key, len(r), len(r[0]) if r else 0, file=out)
                for row in r:
                    print(*map(number, row), file=out)
