# python/checks/facts.py: tangled from chapters/10b-python-checks.nw; edit that file, not this one.
"""Facts of a run, for book/measured."""
def fact(key, value, digits=3):
    print(f"fact\tdoors/{key}\t{value}\t{digits}", flush=True)

class Count:
    """How many of how many passed; the names of those that did not."""
    def __init__(self, key):
        self.key, self.passed, self.of, self.failed = key, 0, 0, []

    def __call__(self, name, good):
        self.of += 1
        self.passed += bool(good)
        if not good:
            self.failed.append(name)

    def done(self):
        fact(self.key + "/passed", self.passed)
        fact(self.key + "/of", self.of)
        if self.failed:
            print("failed:", *self.failed[:20], sep="\n  ", flush=True)
        return not self.failed
