#!/usr/bin/env python3
"""cells.py OUT [--torch PYTHON] [--seed N] [--only TEXT]: pairs of recordings of MindSpore, made on a CPU.

Needs mindspore and mindstudio-probe from PyPI; for migrations also PYTHON, which has torch and
mindstudio-probe. Every pair is a folder of OUT with `left`, `golden` and `answer.json`, as those of
record.py; "recorder" in the answer is "msprobe", "dump" (MindSpore's own, MINDSPORE_DUMP_CONFIG) or
"migration" (MindSpore on the left, the same network in PyTorch on the right, both by msprobe).

msprobe's kernels of statistics do not exist on a CPU: here they are numpy's, by the same formulas.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import traceback

import numpy as np

VOCAB, TOKENS, WIDTH, HEADS = 40, 7, 16, 2


# The networks are written once, in terms of a framework: nn has its modules under one name each.

def lenet(nn, how):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = nn.conv(1, 6, 3), nn.batch_norm(6, eps=0.2 if how == "eps" else 1e-5)
            self.act, self.pool = (nn.leaky() if how == "act" else nn.relu()), nn.max_pool(2)
            self.conv2, self.flat = nn.conv(6, 12, 3), nn.flatten()
            self.fc1, self.fc2 = nn.linear(12 * 3 * 3, 24), nn.linear(24, 10)

        def forward(self, x):
            x = self.pool(self.act(self.bn1(self.conv1(x))))
            x = self.flat(self.pool(self.act(self.conv2(x))))
            return self.fc2(self.act(self.fc1(x)))
        construct = forward
    return Net()


def block(nn, how):
    class Attn(nn.Module):
        def __init__(self, wrong):
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.linear(WIDTH, WIDTH) for _ in range(4))
            self.wrong = wrong

        def forward(self, x):
            b, t, w = x.shape

            def heads(y):
                return nn.permute(nn.reshape(y, (b, t, HEADS, w // HEADS)), (0, 2, 1, 3))
            if how == "order":
                v, k, q = heads(self.v(x)), heads(self.k(x)), heads(self.q(x))
            else:
                q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
            s = nn.matmul(q, nn.permute(k, (0, 1, 3, 2))) * ((w // HEADS) ** -0.5 * (1.3 if self.wrong == "scale" else 1))
            s = s + nn.mask(t)
            y = nn.matmul(nn.softmax(s), v)
            if self.wrong != "transposed":
                y = nn.permute(y, (0, 2, 1, 3))
            return self.o(nn.reshape(y, (b, t, w)))
        construct = forward

    class Layer(nn.Module):
        def __init__(self, last):
            super().__init__()
            wrong = how if last else ""
            self.ln1, self.attn = nn.layer_norm(WIDTH), Attn(wrong)
            self.ln2 = nn.layer_norm(WIDTH, eps=0.1 if wrong == "eps" else 1e-5)
            self.up, self.down = nn.linear(WIDTH, 24), nn.linear(24, WIDTH)
            self.wrong = wrong

        def forward(self, x):
            x = x + self.attn(self.ln1(x))
            y = self.up(self.ln2(x))
            y = nn.do_relu(y) if self.wrong == "act" else nn.gelu(y)
            return x + self.down(y)
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.layers = nn.embedding(VOCAB, WIDTH), nn.list([Layer(False), Layer(True)])
            self.norm, self.head = nn.layer_norm(WIDTH), nn.linear(WIDTH, VOCAB, bias=False)

        def forward(self, x):
            x = self.embed(x)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x))
        construct = forward
    return Net()


def mint(nn, how):
    f = nn.mint

    class Rms(nn.Module):
        def __init__(self, eps=1e-6):
            super().__init__()
            self.weight, self.eps = nn.parameter(np.ones(WIDTH, np.float32)), eps

        def forward(self, x):
            return f.mul(f.mul(x, f.rsqrt(f.add(f.mean(f.square(x), -1, True), self.eps))), self.weight)
        construct = forward

    class Layer(nn.Module):
        def __init__(self, last):
            super().__init__()
            self.wrong = how if last else ""
            self.norm1, self.norm2 = Rms(), Rms(0.1 if self.wrong == "eps" else 1e-6)
            self.q, self.k, self.v, self.o = (nn.linear(WIDTH, WIDTH, bias=False) for _ in range(4))
            self.gate, self.up, self.down = nn.linear(WIDTH, 24, bias=False), nn.linear(WIDTH, 24, bias=False), nn.linear(24, WIDTH, bias=False)

        def forward(self, x):
            y = self.norm1(x)
            q, k, v = self.q(y), self.k(y), self.v(y)
            s = f.mul(f.matmul(q, f.transpose(k, 1, 2)), WIDTH ** -0.5 * (1.3 if self.wrong == "scale" else 1))
            s = f.softmax(f.add(s, nn.mask(x.shape[1])), -1)
            if self.wrong == "transposed":
                s = f.transpose(s, 1, 2)
            x = f.add(x, self.o(f.matmul(s, v)))
            y = self.norm2(x)
            g = f.relu(self.gate(y)) if self.wrong == "act" else f.silu(self.gate(y))
            return f.add(x, self.down(f.mul(g, self.up(y))))
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.layers = nn.embedding(VOCAB, WIDTH), nn.list([Layer(False), Layer(True)])
            self.norm, self.head = Rms(), nn.linear(WIDTH, VOCAB, bias=False)

        def forward(self, x):
            x = self.embed(x)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x))
        construct = forward
    return Net()


def resnet(nn, how):
    class Block(nn.Module):
        def __init__(self, i, o, wrong):
            super().__init__()
            self.conv1, self.bn1, self.act = nn.conv(i, o, 3, bias=False), nn.batch_norm(o, eps=0.3 if wrong == "eps" else 1e-5), nn.leaky() if wrong == "act" else nn.relu()
            self.conv2, self.bn2, self.short = nn.conv(o, o, 3, bias=False), nn.batch_norm(o, eps=1e-5), nn.conv(i, o, 1, bias=False)
            self.wrong = wrong

        def forward(self, x):
            y = self.bn2(self.conv2(self.act(self.bn1(self.conv1(x)))))
            if self.wrong != "dropped":
                y = y + self.short(x)
            return nn.do_relu(y)
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.bn, self.pool = nn.conv(3, 4, 3, bias=False), nn.batch_norm(4, eps=1e-5), nn.max_pool(2)
            self.blocks = nn.list([Block(4, 6, ""), Block(6, 8, how)])
            self.head = nn.linear(8, 10)

        def forward(self, x):
            x = self.pool(nn.do_relu(self.bn(self.stem(x))))
            for b in self.blocks:
                x = b(x)
            return self.head(nn.mean(x, (2, 3)))
        construct = forward
    return Net()


def lstm(nn, how):
    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.ih, self.hh = nn.linear(WIDTH, 4 * WIDTH), nn.linear(WIDTH, 4 * WIDTH)

        def forward(self, x, h, c):
            i, f, g, o = nn.split4(self.ih(x) + self.hh(h))
            g = nn.do_relu(g) if how == "act" else nn.tanh(g)
            c = nn.sigmoid(f + 1.0 if how == "scale" else f) * c + nn.sigmoid(i) * g
            return nn.sigmoid(o) * nn.tanh(c), c
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.step, self.head = nn.embedding(VOCAB, WIDTH), Step(), nn.linear(WIDTH, VOCAB)

        def forward(self, x):
            x = self.embed(x)
            h = c = x[:, 0] * 0.0
            out = []
            for t in range(TOKENS):
                h, c = self.step(x[:, t], h, c)
                out.append(h)
            return self.head(nn.stack(out))
        construct = forward
    return Net()


def moe(nn, how):
    class Expert(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.linear(WIDTH, 24), nn.linear(24, WIDTH)

        def forward(self, x):
            return self.down(nn.gelu(self.up(x)))
        construct = forward

    class Moe(nn.Module):
        def __init__(self, wrong):
            super().__init__()
            self.router, self.experts = nn.linear(WIDTH, 4, bias=False), nn.list([Expert() for _ in range(4)])
            self.wrong = wrong

        def forward(self, x):
            p, at = nn.topk(nn.softmax(self.router(x)), 2)
            if self.wrong == "scale":
                p = p * 1.4
            y = x * 0.0
            for i, e in enumerate(self.experts):
                y = y + nn.sum(p * nn.same(at, i)) * e(x)
            return y
        construct = forward

    class Layer(nn.Module):
        def __init__(self, last):
            super().__init__()
            wrong = how if last else ""
            self.norm, self.moe = nn.layer_norm(WIDTH, eps=0.3 if wrong == "eps" else 1e-5), Moe(wrong)
            self.wrong = wrong

        def forward(self, x):
            y = self.moe(self.norm(x))
            return y if self.wrong == "dropped" else x + y
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.place = nn.embedding(VOCAB, WIDTH), nn.parameter(0.2 * np.random.default_rng(5).standard_normal((TOKENS, WIDTH)).astype(np.float32))
            self.layers, self.norm, self.head = nn.list([Layer(False), Layer(True)]), nn.layer_norm(WIDTH), nn.linear(WIDTH, VOCAB, bias=False)

        def forward(self, x):
            x = self.embed(x) + self.place
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x))
        construct = forward
    return Net()


def mintnn(nn, how):
    f = nn.mint

    class Layer(nn.Module):
        def __init__(self, last):
            super().__init__()
            wrong = how if last else ""
            self.norm1, self.norm2 = nn.layer_norm(WIDTH), nn.layer_norm(WIDTH, eps=0.3 if wrong == "eps" else 1e-5)
            self.qkv, self.o = nn.mint_linear(WIDTH, 3 * WIDTH), nn.mint_linear(WIDTH, WIDTH)
            self.up, self.down = nn.mint_linear(WIDTH, 24), nn.mint_linear(24, WIDTH)
            self.wrong = wrong

        def forward(self, x):
            y = self.qkv(self.norm1(x))
            q, k, v = y[..., :WIDTH], y[..., WIDTH:2 * WIDTH], y[..., 2 * WIDTH:]
            if self.wrong == "order":
                k, q = q, k
            s = f.softmax(f.add(f.mul(f.matmul(q, f.transpose(k, 1, 2)), WIDTH ** -0.5), nn.mask(x.shape[1])), -1)
            x = f.add(x, self.o(f.matmul(s, v)))
            y = self.up(self.norm2(x))
            y = f.tanh(y) if self.wrong == "act" else f.relu(y)
            y = self.down(y)
            if self.wrong == "scale":
                y = f.mul(y, 1.5)
            return f.add(x, y)
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.layers = nn.embedding(VOCAB, WIDTH), nn.list([Layer(False), Layer(True)])
            self.norm, self.head = nn.layer_norm(WIDTH), nn.mint_linear(WIDTH, VOCAB, bias=False)

        def forward(self, x):
            x = self.embed(x)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.norm(x))
        construct = forward
    return Net()


NETWORKS = {"lenet": lenet, "block": block, "mint": mint, "resnet": resnet, "lstm": lstm, "moe": moe, "mintnn": mintnn}
# What is wrong where: the module, and the calls of it that count as its call.
PLACES = {
    ("lenet", "eps"): ("bn1", ["batch_norm", "BatchNorm"]),
    ("lenet", "act"): ("act", ["leaky_relu", "relu", "LeakyReLU", "ReLU"]),
    ("lenet", "weight"): ("conv2", ["conv2d", "Conv2D", "BiasAdd"]),
    ("lenet", "transposed"): ("fc1", ["linear", "matmul", "MatMul", "BiasAdd"]),
    ("block", "eps"): ("layers.1.ln2", ["layer_norm", "LayerNorm"]),
    ("block", "act"): ("layers.1", ["relu", "gelu", "ReLU", "GeLU"]),
    ("block", "weight"): ("layers.1.up", ["linear", "matmul", "MatMul", "BiasAdd"]),
    ("block", "scale"): ("layers.1.attn", ["mul", "__mul__", "Mul"]),
    ("block", "transposed"): ("layers.1.attn", ["permute", "transpose", "reshape", "Reshape", "Transpose"]),
    ("mint", "eps"): ("layers.1.norm2", ["add"]),
    ("mint", "act"): ("layers.1", ["relu", "silu"]),
    ("mint", "weight"): ("layers.1.up", ["linear", "matmul", "MatMul", "BiasAdd"]),
    ("mint", "scale"): ("layers.1", ["mul"]),
    ("mint", "transposed"): ("layers.1", ["transpose", "softmax", "matmul"]),
    ("resnet", "eps"): ("blocks.1.bn1", ["batch_norm", "BatchNorm"]),
    ("resnet", "act"): ("blocks.1.act", ["leaky_relu", "relu", "LeakyReLU", "ReLU"]),
    ("resnet", "weight"): ("blocks.1.conv2", ["conv2d", "Conv2D"]),
    ("resnet", "dropped"): ("blocks.1", ["add", "__add__", "Add", "relu", "ReLU"]),
    ("lstm", "act"): ("step", ["tanh", "relu", "Tanh", "ReLU"]),
    ("lstm", "weight"): ("step.hh", ["linear", "matmul", "MatMul", "BiasAdd"]),
    ("lstm", "transposed"): ("step.ih", ["linear", "matmul", "MatMul", "BiasAdd"]),
    ("lstm", "scale"): ("step", ["add", "__add__", "Add", "sigmoid", "Sigmoid"]),
    ("moe", "eps"): ("layers.1.norm", ["layer_norm", "LayerNorm"]),
    ("moe", "scale"): ("layers.1.moe", ["mul", "__mul__", "Mul"]),
    ("moe", "weight"): ("layers.1.moe.experts.2.up", ["linear", "matmul", "MatMul", "BiasAdd"]),
    ("moe", "dropped"): ("layers.1", ["add", "__add__", "Add"]),
    ("mintnn", "eps"): ("layers.1.norm2", ["layer_norm", "LayerNorm", "LayerNormExt"]),
    ("mintnn", "act"): ("layers.1", ["tanh", "relu", "Tanh", "ReLU"]),
    ("mintnn", "weight"): ("layers.1.qkv", ["linear", "matmul", "MatMul", "BiasAdd", "Dense"]),
    ("mintnn", "scale"): ("layers.1", ["mul", "Mul", "add", "Add"]),
    ("mintnn", "order"): ("layers.1", ["transpose", "matmul", "Transpose", "BatchMatMul", "MatMulExt", "__getitem__", "StridedSlice"]),
}


def fill(name, shape, seed, how, network):
    """The value of a parameter by its name in PyTorch."""
    rng = np.random.default_rng([seed] + [ord(c) for c in name])
    w = rng.standard_normal(shape).astype(np.float32) * (0.3 if len(shape) > 1 else 0.1)
    if len(shape) == 1 and name.endswith("weight"):
        w += 1
    wrong = PLACES.get((network, how), (None,))[0]
    if name == f"{wrong}.weight" and how == "weight":
        w.reshape(-1)[int(np.random.default_rng(seed).integers(w.size))] += 0.7
    if name == f"{wrong}.weight" and how == "transposed":
        w = np.ascontiguousarray(w.reshape(shape[::-1]).T)
    return w


def batch(network, seed):
    rng = np.random.default_rng([seed, 7])
    if network in ("lenet", "resnet"):
        return rng.standard_normal((4, 3 if network == "resnet" else 1, 12, 12)).astype(np.float32), rng.integers(0, 10, 4).astype(np.int32)
    return rng.integers(0, VOCAB, (2, TOKENS)).astype(np.int32), rng.integers(0, VOCAB, 2 * TOKENS).astype(np.int32)


def config(out, task, level, framework):
    t = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "md5" if task == "md5" else "statistics"}
    kind = "tensor" if task == "tensor" else "statistics"
    path = os.path.join(out, "config.json")
    with open(path, "w") as f:
        json.dump({"task": kind, "dump_path": out, "rank": [], "step": [], "level": level, kind: t}, f)
    return path


AGAIN = {}  # configurations of MindSpore's own dump that the program wrote, by side


class Late:
    """Functions of modules as they are when they are called: a recorder puts its own in their place."""
    def __init__(self, *modules, **names):
        self.__dict__.update(modules=modules, names=names)

    def __getattr__(self, name):
        name = self.names.get(name, name)
        return next(getattr(m, name) for m in self.modules if hasattr(m, name))


def record_torch(out, network, seed, level, task, how):
    import types
    import torch
    import torch.nn.functional as F
    from msprobe.pytorch import PrecisionDebugger
    torch.set_num_threads(1)
    n = torch.nn
    nn = types.SimpleNamespace(
        Module=n.Module, conv=lambda i, o, k, bias=True: n.Conv2d(i, o, k, padding=k // 2, bias=bias), batch_norm=lambda c, eps: n.BatchNorm2d(c, eps=eps),
        relu=n.ReLU, leaky=lambda: n.LeakyReLU(0.1), max_pool=lambda k: n.MaxPool2d(k, k), flatten=n.Flatten, linear=n.Linear,
        layer_norm=lambda w, eps=1e-5: n.LayerNorm(w, eps=eps), embedding=n.Embedding, list=n.ModuleList, parameter=lambda v: n.Parameter(torch.tensor(v)),
        permute=lambda x, a: x.permute(*a), reshape=lambda x, s: x.reshape(*s), matmul=lambda a, b: torch.matmul(a, b), softmax=lambda x: F.softmax(x, -1),
        gelu=lambda x: F.gelu(x), do_relu=lambda x: F.relu(x), mask=lambda t: torch.triu(torch.ones(t, t), 1) * -10000.0,
        tanh=lambda x: torch.tanh(x), sigmoid=lambda x: torch.sigmoid(x), split4=lambda x: x.chunk(4, -1), stack=lambda x: torch.stack(x, 1),
        mean=lambda x, a: x.mean(a), topk=lambda x, k: torch.topk(x, k), sum=lambda x: x.sum(-1, keepdim=True), same=lambda x, i: (x == i).float(),
        mint_linear=n.Linear,
        mint=Late(types.SimpleNamespace(softmax=lambda x, d: F.softmax(x, d)), F, torch))
    model = NETWORKS[network](nn, how)
    for name, p in model.named_parameters():
        p.data = torch.tensor(fill(name, tuple(p.shape), seed, how, network))
    x, y = (torch.tensor(v) for v in batch(network, seed))
    x, y = x if x.is_floating_point() else x.long(), y.long()
    debugger = PrecisionDebugger(config_path=config(out, task, level, "pytorch"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    debugger.start(model=model)
    logits = model(x)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y)
    loss.backward()
    optimizer.step()
    debugger.stop()
    debugger.step()


def record_mindspore(out, network, seed, level, task, how):
    """By msprobe, or where task is "dump" by MindSpore itself."""
    import types
    own = task == "dump"
    if own:
        path = os.path.join(out, "dump.json")
        given = AGAIN.get(os.path.basename(out))
        if given:
            given["common_dump_settings"]["path"] = os.path.abspath(out)
        with open(path, "w") as f:
            json.dump(given or {"common_dump_settings": {
                "op_debug_mode": 0, "dump_mode": 0, "path": os.path.abspath(out), "net_name": "Net", "iteration": "all", "saved_data": "tensor",
                "input_output": 0, "kernels": [], "support_device": [0, 1, 2, 3, 4, 5, 6, 7], "statistic_category": ["max", "min", "avg", "l2norm"], "file_format": "npy"},
                "e2e_dump_settings": {"enable": True, "trans_flag": True}}, f)
        os.environ["MINDSPORE_DUMP_CONFIG"] = path
    import mindspore as ms
    from mindspore import nn as n, ops, Tensor, Parameter
    ms.set_context(mode=ms.GRAPH_MODE if own else ms.PYNATIVE_MODE, device_target="CPU")
    if own:
        ms.set_context(jit_level="O0")
    try:
        from mindspore import mint as m
    except ImportError:
        m = None

    # What cells call is compiled from its source, so these are no lambdas.
    def softmax(x):
        return ops.softmax(x, -1)

    def gelu(x):
        return ops.gelu(x, approximate="none")

    def mask(t):
        return ops.triu(ops.ones((t, t), ms.float32), 1) * -10000.0

    def split4(x):
        return ops.chunk(x, 4, -1)

    def stack(x):
        return ops.stack(x, 1)

    def mean(x, axes):
        return x.mean(axes)

    def total(x):
        return x.sum(-1, keepdims=True)

    def same(x, i):
        return ops.equal(x, i).astype(ms.float32)
    nn = types.SimpleNamespace(
        Module=n.Cell, conv=lambda i, o, k, bias=True: n.Conv2d(i, o, k, pad_mode="pad", padding=k // 2, has_bias=bias),
        batch_norm=lambda c, eps: n.BatchNorm2d(c, eps=eps), relu=n.ReLU, leaky=lambda: n.LeakyReLU(0.1), max_pool=lambda k: n.MaxPool2d(k, k),
        flatten=n.Flatten, linear=lambda i, o, bias=True: n.Dense(i, o, has_bias=bias), layer_norm=lambda w, eps=1e-5: n.LayerNorm((w,), epsilon=eps),
        embedding=n.Embedding, list=n.CellList, parameter=lambda v: Parameter(Tensor(v)),
        permute=ops.transpose, reshape=ops.reshape, matmul=ops.matmul, softmax=softmax, gelu=gelu, do_relu=ops.relu, mask=mask,
        tanh=ops.tanh, sigmoid=ops.sigmoid, split4=split4, stack=stack, mean=mean, topk=ops.topk, sum=total, same=same,
        mint_linear=m and m.nn.Linear,
        mint=m and types.SimpleNamespace(mul=m.mul, rsqrt=m.rsqrt, add=m.add, mean=m.mean, square=m.square, tanh=m.tanh, matmul=m.matmul, transpose=m.transpose,
                                         softmax=m.nn.functional.softmax, relu=m.nn.functional.relu, silu=m.nn.functional.silu))
    if not own:
        late = Late(ops)
        nn.permute, nn.reshape, nn.matmul, nn.do_relu = (lambda *a, name=name: getattr(late, name)(*a) for name in ("transpose", "reshape", "matmul", "relu"))
        nn.tanh, nn.sigmoid, nn.topk = (lambda *a, name=name: getattr(late, name)(*a) for name in ("tanh", "sigmoid", "topk"))
        nn.mint = m and Late(m.nn.functional, m)
    model = NETWORKS[network](nn, how)
    names = {"gamma": "weight", "beta": "bias", "embedding_table": "weight"}
    for p in model.trainable_params():
        head, _, last = p.name.rpartition(".")
        name = (head + "." + names.get(last, last)).lstrip(".")
        p.set_data(Tensor(fill(name, tuple(p.shape), seed, how, network)))
    x, y = (Tensor(v) for v in batch(network, seed))

    def forward(x, y):
        logits = model(x)
        logits = ops.reshape(logits, (-1, logits.shape[-1])).to(ms.float32)
        return ops.cross_entropy(logits, y), logits
    model.set_train()
    opt = n.Adam(model.trainable_params(), 0.01) if own else n.SGD(model.trainable_params(), 0.1)
    step = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)
    if own:
        class Train(n.Cell):
            def __init__(self):
                super().__init__()
                self.model, self.opt = model, opt

            def construct(self, x, y):
                (loss, _), grads = step(x, y)
                self.opt(grads)
                return loss
        Train()(x, y).asnumpy()
        return
    import msprobe.core.dump.data_dump.data_processor.mindspore_processor as processor

    def statistics(self, data):
        s = processor.TensorStatInfo()
        a = data.asnumpy() if data.dtype != ms.bfloat16 else data.float().asnumpy()
        if not a.size:
            return s
        if a.dtype == bool:
            s.max, s.min = a.max().item(), a.min().item()
            return s
        a = a.astype(np.float32)
        s.max, s.min, s.mean, s.norm = (Tensor(np.float32(v)) for v in (a.max(), a.min(), a.mean(), np.linalg.norm(a.reshape(-1))))
        return s
    processor.MindsporeDataProcessor.get_stat_info = statistics
    from msprobe.mindspore import PrecisionDebugger
    debugger = PrecisionDebugger(config_path=config(out, task, level, "mindspore"))
    debugger.start(model)
    (loss, _), grads = step(x, y)
    if task != "tensor":
        opt(grads)
    loss.asnumpy()
    debugger.stop()
    debugger.step()


def forked(out, framework, *args):
    """Records in a process of its own, forked from this one, which has loaded what it needs; the error, if any."""
    if framework == "mindspore":
        import mindspore  # noqa: F401, once for all children
        import msprobe.mindspore  # noqa: F401
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        if not os.environ.get("VERBOSE"):
            os.dup2(null, 2)
        os.chdir(out)  # where MindSpore leaves what it could not compile
        try:
            {"torch": record_torch, "mindspore": record_mindspore}[framework](out, *args)
        except BaseException:
            os.write(w, traceback.format_exc()[-600:].encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        bad = f.read()
    _, status = os.waitpid(pid, 0)
    return bad or (f"status {status}" if status else "")


def side(python, out, framework, network, seed, level, task, how):
    """One recording below out; an earlier one of the same is copied."""
    # A copy of the same would be held against itself.
    seen = SEEN.setdefault((framework, network, seed, level, task, how), out)
    if seen != out:
        shutil.copytree(seen, out)
        return ""
    os.makedirs(out)
    args = (os.path.abspath(out), framework, network, seed, level, task, how)
    if framework == "torch":
        run = subprocess.run([python, os.path.abspath(sys.argv[0]), out, "--one", json.dumps(args)], capture_output=True, text=True)
        bad = run.stdout
    else:
        bad = forked(*args)
    for name in ("config.json", "dump.json"):
        if os.path.exists(os.path.join(out, name)):
            os.remove(os.path.join(out, name))
    if bad or not any(files for _, _, files in os.walk(out)):
        del SEEN[framework, network, seed, level, task, how]
        return bad or "nothing was recorded"
    return ""


SEEN = {}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--torch", default="")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--one")
    p.add_argument("--again", default="", help="of pairs of MindSpore's own dump: record with the configurations in this folder")
    o = p.parse_args()
    if o.one:
        print(forked(*json.loads(o.one)), end="")
        return
    for name, file in (("left", "mindspore_dump.json"), ("golden", "mindspore_dump_golden.json")):
        if o.again:
            with open(os.path.join(o.again, file)) as f:
                AGAIN[name] = json.load(f)
    rng = random.Random(o.seed)
    plans = []
    for network in NETWORKS:
        faults = [how for (of, how) in PLACES if of == network]
        harmless = ["same"] + ["order"] * (network == "block")
        for recorder in ("msprobe", "dump", "migration"):
            if recorder == "migration" and not o.torch:
                continue
            for how in harmless + faults:
                level, task = rng.choice(["mix", "mix", "L1", "L0"]), rng.choice(["statistics", "md5", "tensor"])
                if recorder == "migration":
                    level, task = rng.choice([("mix", "statistics"), ("mix", "tensor")])
                if recorder == "dump":
                    level, task = "O0", "dump"
                plans.append((network, recorder, level, task, how))
    for network, recorder, level, task, how in plans:
        label = f"{recorder}-{network}-{level}-{task}-{how}"
        if o.only not in label:
            continue
        out, seed = os.path.join(o.out, label), o.seed * 1000 + len(network)
        shutil.rmtree(out, ignore_errors=True)
        bad = side(o.torch, os.path.join(out, "golden"), "torch" if recorder == "migration" else "mindspore", network, seed, level, task, "")
        bad = bad or side(o.torch, os.path.join(out, "left"), "mindspore", network, seed, level, task, how)
        if bad:
            print(label, "not made:", bad, flush=True)
            shutil.rmtree(out, ignore_errors=True)
            continue
        module, calls = PLACES.get((network, how), (None, []))
        kind = ("fault: " if module else "harmless: ") + how
        with open(os.path.join(out, "answer.json"), "w") as f:
            json.dump({"model": network, "recorder": recorder, "level": level, "task": task, "dtype": "fp32", "kind": kind, "module": module, "calls": calls}, f, indent=1)
        print(label, flush=True)


if __name__ == "__main__":
    main()
