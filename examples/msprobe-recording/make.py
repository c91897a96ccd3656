#!/usr/bin/env python3
"""Writes the two recordings of this example: a network of four calls, run on a GPU and on
an NPU, where BatchNorm got another eps. Numbers are computed, in float64, by hand."""
import json
import math
import os
import random

SHAPE = {"x": [8, 16], "w1": [8, 16], "hidden": [8, 8], "row": [8], "w2": [4, 8], "out": [8, 4]}


def tensor(values, shape):
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": shape, "Max": max(values), "Min": min(values),
            "Mean": sum(values) / len(values), "Norm": math.sqrt(sum(v * v for v in values)), "requires_grad": False}


def number(value):
    return {"type": "float", "value": value}


def linear(x, w, rows, inner, columns):
    return [sum(x[i * inner + k] * w[j * inner + k] for k in range(inner)) for i in range(rows) for j in range(columns)]


def batch_norm(x, rows, columns, eps):
    out = [0.0] * len(x)
    for j in range(columns):
        column = [x[i * columns + j] for i in range(rows)]
        mean = sum(column) / rows
        spread = sum((v - mean) ** 2 for v in column) / rows
        for i in range(rows):
            out[i * columns + j] = (column[i] - mean) / math.sqrt(spread + eps)
    return out


def recording(folder, eps):
    rng = random.Random(7)
    x, w1, w2 = ([rng.gauss(0, 0.3) for _ in range(math.prod(SHAPE[n]))] for n in ("x", "w1", "w2"))
    h = linear(x, w1, 8, 16, 8)
    n = batch_norm(h, 8, 8, eps)
    r = [max(v, 0.0) for v in n]
    y = linear(r, w2, 8, 8, 4)

    def call(arguments, output, shape):
        return {"input_args": arguments, "input_kwargs": {}, "output": [tensor(output, SHAPE[shape])]}

    data = {
        "Functional.linear.0.forward": call([tensor(x, SHAPE["x"]), tensor(w1, SHAPE["w1"])], h, "hidden"),
        "Functional.batch_norm.0.forward": call([tensor(h, SHAPE["hidden"]), None, None, number(eps)], n, "hidden"),
        "Functional.relu.0.forward": call([tensor(n, SHAPE["hidden"])], r, "hidden"),
        "Functional.linear.1.forward": call([tensor(r, SHAPE["hidden"]), tensor(w2, SHAPE["w2"])], y, "out"),
    }
    stack = {"0": [list(data)[:2], ["File train.py, line 19, in forward, \n x = self.norm(self.first(x))"]],
             "1": [list(data)[2:], ["File train.py, line 20, in forward, \n return self.last(torch.relu(x))"]]}
    os.makedirs(folder, exist_ok=True)
    for name, content in (("dump.json", {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": data}),
                          ("stack.json", stack)):
        with open(os.path.join(folder, name), "w") as f:
            json.dump(content, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    recording(os.path.join(here, "gpu", "step0", "rank0"), 1e-05)
    recording(os.path.join(here, "npu", "step0", "rank0"), 0.5)
