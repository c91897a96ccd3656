#!/usr/bin/env python3
"""PyTorch's own database of operators (OpInfo) as a recording, and how much of it precision check judges.

    opinfo.py -precision PROGRAM [-out DIR] [-types float32,bfloat16] [-samples 3] [-only add,mul]

The results are PyTorch's on a CPU, so that every wrong is a false alarm. Functions that are random, or that give no tensor, are left
out and counted apart. Prints a line a direction, the false alarms, and with -list the functions without a verdict. Needs torch 2.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

warnings.filterwarnings("ignore")
options = argparse.ArgumentParser()
options.add_argument("-precision", required=True)
options.add_argument("-out")
options.add_argument("-types", default="float32,bfloat16,int64")
options.add_argument("-samples", type=int, default=3)
options.add_argument("-only", default="")
options.add_argument("-list", action="store_true")
options = options.parse_args()
out = options.out or tempfile.mkdtemp()
folder = os.path.join(out, "recording", "step0", "rank0")
os.makedirs(os.path.join(folder, "dump_tensor_data"), exist_ok=True)
random = re.compile(r"dropout|bernoulli|multinomial|normal|rand|exponential|cauchy|geometric|uniform|rrelu|gumbel|empty|resize_|fractional_max|svd_lowrank|pca_lowrank")
calls, counts, left_out = {}, collections.Counter(), collections.Counter()


def leaf(v, place):
    """A value as msprobe records it; a tensor's elements are in a file."""
    if isinstance(v, (list, tuple)) and not isinstance(v, torch.Size):
        return [leaf(x, "%s.%d" % (place, i)) for i, x in enumerate(v)]
    if isinstance(v, torch.Tensor):
        t = v.detach().cpu().contiguous()
        if t.dtype.is_complex or t.layout != torch.strided or t.is_quantized:
            raise TypeError(t.dtype)
        np.save(os.path.join(folder, "dump_tensor_data", place + ".npy"), (t.float() if t.dtype == torch.bfloat16 else t).numpy())
        return {"type": "torch.Tensor", "dtype": str(t.dtype), "shape": list(t.shape), "Max": None, "Min": None, "Mean": None, "Norm": None,
                "requires_grad": v.requires_grad, "data_name": place + ".npy"}
    if isinstance(v, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
        return {"type": "torch.dtype" if isinstance(v, torch.dtype) else "str", "value": str(v)}
    if isinstance(v, torch.Size):
        return {"type": "torch.Size", "value": list(v)}
    if isinstance(v, slice):
        return {"type": "slice", "value": [v.start, v.stop, v.step]}
    if v is Ellipsis:
        return {"type": "ellipsis", "value": "..."}
    if v is None:
        return None
    if isinstance(v, (bool, int, float, str)):
        return {"type": type(v).__name__, "value": v}
    raise TypeError(type(v))


def tensors(v):
    return [v] if isinstance(v, torch.Tensor) else [t for x in v for t in tensors(x)] if isinstance(v, (list, tuple)) else []


def record(op, sample, kind):
    name = kind + "." + op.name.split(".")[-1] if op.name.startswith("nn.functional.") else "Torch." + op.name.replace(".", "_")
    if op.op is None or not hasattr(torch, op.name) and kind == "Torch" and hasattr(torch.Tensor, op.name):
        name = "Tensor." + op.name
    key = "%s.%d" % (name, counts[name])
    args = [sample.input] + list(sample.args)
    y = op(sample.input, *sample.args, **sample.kwargs)
    results = tensors(y)
    if not results:
        raise TypeError("no tensor")
    entry = {"input_args": leaf(args, key + ".forward.input"), "input_kwargs": {k: leaf(v, key + ".forward.kwargs." + k) for k, v in sample.kwargs.items()},
             "output": leaf(y if isinstance(y, (list, tuple)) else [y], key + ".forward.output")}
    counts[name] += 1
    calls[key + ".forward"] = entry
    inputs = [t for t in tensors(args) if t.requires_grad]
    float_results = [t for t in results if t.requires_grad]
    if inputs and float_results:
        g = [torch.randn_like(t) for t in float_results]
        grads = torch.autograd.grad(float_results, inputs, g, allow_unused=True)
        calls[key + ".backward"] = {"input": leaf(g, key + ".backward.input"), "output": leaf(list(grads), key + ".backward.output")}


torch.manual_seed(0)
for op in op_db:
    if options.only and op.name not in options.only.split(","):
        continue
    if getattr(op.op, "__name__", "") == "<lambda>":
        left_out["another order of arguments than the function's"] += 1
        continue
    if random.search(op.name) or op.name.startswith(("fft.", "sparse.", "linalg.", "special.", "signal.", "jiterator", "_native_batch", "masked.")):
        left_out["random, complex, sparse or of another library"] += 1
        continue
    for text in options.types.split(","):
        dtype = getattr(torch, text)
        if dtype not in op.supported_dtypes("cpu"):
            continue
        grad = dtype.is_floating_point and op.supports_autograd
        try:
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=grad))
        except Exception as e:
            left_out["no samples"] += 1
            continue
        step = max(len(samples) // options.samples, 1)
        for s in samples[::step][:options.samples]:
            try:
                record(op, s, "Functional" if op.name.startswith("nn.functional.") else "Torch")
            except Exception as e:
                left_out[type(e).__name__] += 1
with open(os.path.join(folder, "dump.json"), "w") as f:
    json.dump({"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": calls}, f)
report = os.path.join(out, "check.json")
run = subprocess.run([options.precision, "check", "-out", os.path.join(out, "tables"), "-json", report, os.path.join(out, "recording")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
if not os.path.exists(report):
    sys.exit(run.stderr.decode())
verdicts, unknown, false = {}, collections.Counter(), []
for op in json.load(open(report))["operators"]:
    direction = op["op"].rsplit(".", 1)[1]
    for o in op["outputs"]:
        verdicts.setdefault(direction, collections.Counter())[o["verdict"]] += 1
        if o["verdict"] == "unknown":
            unknown[op["op"].rsplit(".", 2)[0], direction, re.sub(r"\d+", "n", o.get("reason", ""))[:90]] += 1
        elif o["verdict"] == "wrong":
            false.append((op["op"], o["index"], o.get("ratio"), o.get("reason", "")[:100]))
for direction, c in verdicts.items():
    n = sum(c.values())
    print("%s: %d of %d outputs judged (%.0f %%), %d suspect, %d false alarms" % (direction, n - c["unknown"], n, 100 * (n - c["unknown"]) / n, c["suspect"], c["wrong"]))
for f in false:
    print("  false", *f)
print("left out:", dict(left_out))
if options.list:
    for (name, direction, reason), n in unknown.most_common(400):
        print("  unknown", n, name, direction, reason)
