"""A recording of msprobe made of calls whose results are right, and what precision check says of it."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np


class Recording:
    def __init__(self, out=None, spoil=0):
        self.out = out or tempfile.mkdtemp()
        self.folder = os.path.join(self.out, "recording", "step0", "rank0")
        self.calls, self.counts, self.spoilt = {}, collections.Counter(), set()
        self.rng = np.random.default_rng(spoil) if spoil else None
        os.makedirs(os.path.join(self.folder, "dump_tensor_data"), exist_ok=True)

    def array(self, v):
        """A tensor's elements as a file holds them, the name of its type, and whether it has a gradient; None for what is no tensor."""
        if isinstance(v, np.ndarray):
            name = "bfloat16" if v.dtype.name == "bfloat16" else v.dtype.name
            if not re.fullmatch(r"bfloat16|float(16|32|64)|u?int(8|16|32|64)|bool", name):
                raise TypeError(name)
            return v.astype(np.float32) if name == "bfloat16" else v, name, False
        if hasattr(v, "detach"):
            t = v.detach().cpu().contiguous()
            if t.dtype.is_complex or str(t.layout) != "torch.strided" or t.is_quantized:
                raise TypeError(t.dtype)
            return (t.float() if str(t.dtype) == "torch.bfloat16" else t).numpy(), str(t.dtype)[6:], v.requires_grad
        return None

    def leaf(self, v, place, result=False):
        """A value as msprobe records it; a tensor's elements are in a file."""
        kind = type(v).__name__
        if isinstance(v, (list, tuple)) and kind != "Size":
            return [self.leaf(x, "%s.%d" % (place, i), result) for i, x in enumerate(v)]
        if (found := self.array(v)) is not None:
            a, name, grad = found
            if result:
                self.results += 1
                if self.rng and a.size:
                    a = self.changed(a, name, "%s.%d" % (place[:place.index(".output")], self.results - 1))
            np.save(os.path.join(self.folder, "dump_tensor_data", place + ".npy"), a)
            return {"type": "torch.Tensor", "dtype": "torch." + name, "shape": list(a.shape), "Max": None, "Min": None, "Mean": None, "Norm": None,
                    "requires_grad": grad, "data_name": place + ".npy"}
        if kind in ("dtype", "Type", "device", "layout", "memory_format"):
            return {"type": "torch.dtype" if kind in ("dtype", "Type") else "str", "value": str(v)}
        if kind == "Size":
            return {"type": "torch.Size", "value": list(v)}
        if kind == "slice":
            return {"type": "slice", "value": [v.start, v.stop, v.step]}
        if v is Ellipsis:
            return {"type": "ellipsis", "value": "..."}
        if v is None:
            return None
        if isinstance(v, (bool, int, float, str)):
            return {"type": kind, "value": v}
        raise TypeError(kind)

    def changed(self, a, name, place):
        """One element changed: of whole numbers by two, of others by a fiftieth of the largest, of truths turned."""
        a = np.array(a, order="C")
        at = self.rng.integers(a.size)
        was = a.flat[at].copy()
        if a.dtype.kind == "b":
            a.flat[at] = not was
        elif a.dtype.kind in "iu":
            a.flat[at] = int(was) + 2 if was < 100 else int(was) - 2
        elif np.isfinite(was):
            a.flat[at] = was + max(np.abs(a[np.isfinite(a)]).max() / 50, 1e-3)
            if name == "bfloat16":
                a.flat[at] = np.frombuffer((np.float32(a.flat[at]).tobytes()[2:]).rjust(4, b"\0"), np.float32)[0]
        if not np.array_equal(a.flat[at], was, equal_nan=a.dtype.kind == "f"):
            self.spoilt.add(place)
        return a

    def call(self, name, args, kwargs, results):
        key, self.results = "%s.%d" % (name, self.counts[name]), 0
        entry = {"input_args": self.leaf(args, key + ".forward.input"), "input_kwargs": {k: self.leaf(v, key + ".forward.kwargs." + k) for k, v in kwargs.items()},
                 "output": self.leaf(results, key + ".forward.output", True)}
        self.counts[name] += 1
        self.calls[key + ".forward"] = entry
        return key

    def backward(self, key, gradients, results):
        self.results = 0
        self.calls[key + ".backward"] = {"input": self.leaf(gradients, key + ".backward.input"), "output": self.leaf(results, key + ".backward.output", True)}

    def judged(self, program, suite, listing):
        """Prints what check says of each direction (outputs, how many are judged, suspect, wrong), the false alarms, or of changed results those that are not found."""
        with open(os.path.join(self.folder, "dump.json"), "w") as f:
            json.dump({"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": self.calls}, f)
        report = os.path.join(self.out, "check.json")
        run = subprocess.run([program, "check", "-out", os.path.join(self.out, "tables"), "-json", report, os.path.join(self.out, "recording")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if not os.path.exists(report):
            sys.exit(run.stderr.decode())
        verdicts, unknown, false, empty, found, missed = {}, collections.Counter(), [], 0, 0, []
        for op in json.load(open(report))["operators"]:
            direction = op["op"].rsplit(".", 1)[1]
            for o in op["outputs"]:
                if o["verdict"] == "unknown" and o.get("reason", "") == "no elements":
                    empty += 1
                    continue
                verdicts.setdefault(direction, collections.Counter())[o["verdict"]] += 1
                place = "%s.%d" % (op["op"], o["index"])
                if o["verdict"] == "unknown":
                    unknown[op["op"].rsplit(".", 2)[0], direction, re.sub(r"\d+", "n", o.get("reason", ""))[:90]] += 1
                elif place in self.spoilt:
                    found += o["verdict"] == "wrong"
                    missed += [(place, o["verdict"], o.get("ratio"))] if o["verdict"] != "wrong" else []
                elif o["verdict"] == "wrong":
                    false.append((op["op"], o["index"], o.get("ratio"), o.get("reason", "")[:100]))
        for direction, c in verdicts.items():
            n = sum(c.values())
            print("| %s, %s | %d | %.1f %% | %d | %d |" % (suite, direction, n, 100 * (n - c["unknown"]) / n, c["suspect"], c["wrong"]))
        print("%d false alarms" % len(false) if not self.rng else "%d of %d changed outputs are wrong, %d false alarms" % (found, found + len(missed), len(false)))
        for f in false + missed:
            print("  false" if f in false else "  missed", *f)
        print("%d outputs without elements" % empty)
        if listing:
            for (name, direction, reason), n in unknown.most_common(600):
                print("  unknown", n, name, direction, reason)
        return len(false) > 0
