#!/usr/bin/env python3
"""othercells.py OUT [--torch PYTHON] [--seed N] [--only TEXT]: pairs of recordings of MindSpore as cells.py makes them, of other networks.

A vision transformer, separable convolutions with group norms and gates, a GRU written out, a Llama with shared keys and
rotary embeddings, and a mixer.
"""
import types

import numpy as np

import cells
from cells import TOKENS, VOCAB, WIDTH


def functions(nn):
    """What cells.py's names of a framework do not cover."""
    if nn.Module.__module__.startswith("mindspore"):
        from mindspore import Tensor, nn as n, ops

        # What cells call is compiled from its source, so these are no lambdas.
        def silu(x):
            return ops.silu(x)

        def hsw(x):
            return ops.hardswish(x)

        def sigmoid(x):
            return ops.sigmoid(x)

        def tanh(x):
            return ops.tanh(x)

        def elu(x):
            return ops.elu(x)

        def cos(x):
            return ops.cos(x)

        def sin(x):
            return ops.sin(x)

        def sqrt(x):
            return ops.sqrt(x)

        def rsqrt(x):
            return ops.rsqrt(x)

        def cat(xs, d):
            return ops.cat(xs, d)

        def stack(xs, d):
            return ops.stack(xs, d)

        def chunk(x, k):
            return ops.chunk(x, k, -1)

        def mean(x, d, keep=False):
            return x.mean(d, keep)

        def var(x):
            return x.var(-1, keepdims=True)

        def softmax(x):
            return ops.softmax(x, -1)

        def clamp(x, a, b):
            return ops.clamp(x, a, b)

        def rep(x, k, d):
            return ops.repeat_interleave(x, k, d)

        def swap(x, a, b):
            return ops.swapaxes(x, a, b)

        def expand(x, s):
            return ops.broadcast_to(x, s)
        return types.SimpleNamespace(
            silu=silu, hsw=hsw, sigmoid=sigmoid, tanh=tanh, elu=elu, cos=cos, sin=sin, sqrt=sqrt, rsqrt=rsqrt, cat=cat, stack=stack, chunk=chunk, mean=mean, var=var, softmax=softmax, clamp=clamp, rep=rep, swap=swap, expand=expand,
            ms=True, n=n, lin=lambda i, o, bias=True: n.Dense(i, o, has_bias=bias), const=Tensor, gn=lambda g, c, eps=1e-5: n.GroupNorm(g, c, eps=eps), gelu=lambda: n.GELU(approximate=False), prelu=n.PReLU,
            avgpool=lambda k: n.AvgPool2d(k, k), dconv=lambda c, k: n.Conv2d(c, c, k, pad_mode="pad", padding=k // 2, group=c, has_bias=True),
            same=lambda i, o, k: n.Conv2d(i, o, k, pad_mode="same", has_bias=True), tconv=lambda i, o: n.Conv2dTranspose(i, o, 2, stride=2, pad_mode="valid", has_bias=True))
    import torch
    import torch.nn as n
    import torch.nn.functional as F
    return types.SimpleNamespace(
        ms=False, n=n, lin=n.Linear, cat=lambda xs, d: torch.cat(xs, d), stack=lambda xs, d: torch.stack(xs, d), chunk=lambda x, k: torch.chunk(x, k, -1),
        mean=lambda x, d, keep=False: x.mean(d, keep), var=lambda x: x.var(-1, unbiased=False, keepdim=True), softmax=lambda x: F.softmax(x, -1), silu=lambda x: F.silu(x), hsw=lambda x: F.hardswish(x),
        sigmoid=lambda x: torch.sigmoid(x), tanh=lambda x: torch.tanh(x), elu=lambda x: F.elu(x), cos=lambda x: torch.cos(x), sin=lambda x: torch.sin(x), sqrt=lambda x: torch.sqrt(x), rsqrt=lambda x: torch.rsqrt(x),
        clamp=lambda x, a, b: torch.clamp(x, a, b), rep=lambda x, k, d: torch.repeat_interleave(x, k, d), swap=lambda x, a, b: torch.transpose(x, a, b), expand=lambda x, s: x.expand(s), const=torch.tensor,
        gn=lambda g, c, eps=1e-5: n.GroupNorm(g, c, eps=eps), gelu=n.GELU, prelu=n.PReLU, avgpool=lambda k: n.AvgPool2d(k, k), dconv=lambda c, k: n.Conv2d(c, c, k, padding=k // 2, groups=c),
        same=lambda i, o, k: n.Conv2d(i, o, k, padding="same"), tconv=lambda i, o: n.ConvTranspose2d(i, o, 2, stride=2))


def vit(nn, how):
    t = functions(nn)
    D, H, P = 16, 4, 4

    class Enc(nn.Module):
        def __init__(self, wrong):
            super().__init__()
            self.norm1, self.norm2 = nn.layer_norm(D), nn.layer_norm(D, eps=0.2 if wrong == "eps" else 1e-5)
            self.qkv, self.proj = t.lin(D, 3 * D), t.lin(D, D)
            self.fc1, self.act, self.fc2 = t.lin(D, 32), (nn.relu() if wrong == "act" else t.gelu()), t.lin(32, D)
            self.wrong = wrong

        def forward(self, x):
            b, s, d = x.shape
            y = nn.reshape(self.qkv(self.norm1(x)), (b, s, 3, H, d // H))
            y = nn.permute(y, (2, 0, 3, 1, 4))
            q, k, v = y[0], y[1], y[2]
            if self.wrong == "swapped":
                q, k = k, q
            a = t.softmax(nn.matmul(q, t.swap(k, -2, -1)) * (d // H) ** -0.5)
            y = nn.reshape(nn.permute(nn.matmul(a, v), (0, 2, 1, 3)), (b, s, d))
            x = x + self.proj(y)
            return x + self.fc2(self.act(self.fc1(self.norm2(x))))
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.patch = t.n.Conv2d(1, D, P, stride=P, **({"pad_mode": "valid", "has_bias": True} if t.ms else {}))
            self.cls, self.pos = nn.parameter(np.full((1, 1, D), 0.02, np.float32)), nn.parameter(np.zeros((1, 10, D), np.float32))
            self.blocks = nn.list([Enc(""), Enc(how), Enc("")])
            self.norm, self.head = nn.layer_norm(D), t.lin(D, 10)

        def forward(self, x):
            x = self.patch(x)
            b, d = x.shape[0], x.shape[1]
            x = t.swap(nn.reshape(x, (b, d, -1)), 1, 2)
            x = t.cat([t.expand(self.cls, (b, 1, d)), x], 1) + self.pos
            for blk in self.blocks:
                x = blk(x)
            x = self.norm(x)
            return self.head(x[:, 0])
        construct = forward
    return Net()


def sepconv(nn, how):
    t = functions(nn)

    class SE(nn.Module):
        def __init__(self, c, wrong):
            super().__init__()
            self.fc1, self.fc2, self.wrong = nn.conv(c, 4, 1), nn.conv(4, c, 1), wrong

        def forward(self, x):
            y = t.mean(x, (2, 3), True)
            y = self.fc2(nn.do_relu(self.fc1(y)))
            y = t.tanh(y) if self.wrong == "act" else t.sigmoid(y)
            return x * y
        construct = forward

    class Blk(nn.Module):
        def __init__(self, i, o, wrong):
            super().__init__()
            self.pw1, self.bn1 = nn.conv(i, 2 * i, 1, bias=False), nn.batch_norm(2 * i, eps=0.3 if wrong == "eps" else 1e-5)
            self.dw, self.gn, self.se = t.dconv(2 * i, 3), t.gn(2, 2 * i, eps=0.4 if wrong == "gneps" else 1e-5), SE(2 * i, wrong)
            self.pw2, self.wrong = nn.conv(2 * i, o, 1), wrong

        def forward(self, x):
            y = t.hsw(self.bn1(self.pw1(x)))
            y = self.se(t.hsw(self.gn(self.dw(y))))
            return self.pw2(y)
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.pool = t.same(1, 4, 3), t.avgpool(2)
            self.b1, self.b2 = Blk(4, 6, ""), Blk(6, 8, how)
            self.up, self.head = t.tconv(8, 4), t.lin(4, 10)

        def forward(self, x):
            x = self.pool(t.elu(self.stem(x)))
            x = self.b2(self.b1(x))
            x = self.up(x)
            x = t.mean(x, (2, 3))
            return self.head(x)
        construct = forward
    return Net()


def gru(nn, how):
    t = functions(nn)

    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.ih, self.hh, self.wrong = t.lin(WIDTH, 3 * WIDTH), t.lin(WIDTH, 3 * WIDTH), how

        def forward(self, x, h):
            a, b, c = t.chunk(self.ih(x), 3)
            d, e, f = t.chunk(self.hh(h), 3)
            r, z = t.sigmoid(a + d), t.sigmoid(b + e)
            n = t.tanh(c + (f if self.wrong == "dropped" else r * f))
            if self.wrong == "swapped":
                return z * n + (1 - z) * h
            return (1 - z) * n + z * h
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.cell, self.norm, self.head = nn.embedding(VOCAB, WIDTH), Cell(), nn.layer_norm(WIDTH), t.lin(WIDTH, VOCAB)

        def forward(self, x):
            y = self.embed(x)
            h = y[:, 0] * 0
            out = []
            for i in range(y.shape[1]):
                h = self.cell(y[:, i], h)
                out.append(h)
            return self.head(self.norm(t.stack(out, 1)))
        construct = forward
    return Net()


def llama(nn, how):
    t = functions(nn)
    D, H, K, E = 24, 4, 2, 6
    inv = (1.0 / (100.0 ** (np.arange(0, E, 2) / E))).astype(np.float32)
    pos = np.arange(TOKENS, dtype=np.float32)[:, None] * inv[None]
    ang = np.concatenate([pos, pos], -1)
    low = np.triu(np.full((TOKENS, TOKENS), -1e9, np.float32), 1)

    class Rms(nn.Module):
        def __init__(self, eps=1e-6):
            super().__init__()
            self.weight, self.eps = nn.parameter(np.ones(D, np.float32)), eps

        def forward(self, x):
            return self.weight * (x * t.rsqrt(t.mean(x * x, -1, True) + self.eps))
        construct = forward

    class Attn(nn.Module):
        def __init__(self, wrong):
            super().__init__()
            self.q_proj, self.k_proj, self.v_proj, self.o_proj = t.lin(D, H * E, bias=False), t.lin(D, K * E, bias=False), t.lin(D, K * E, bias=False), t.lin(H * E, D, bias=False)
            self.wrong = wrong

        def rot(self, x, cos, sin):
            a, b = t.chunk(x, 2)
            r = t.cat([b, -a] if self.wrong == "rope" else [-b, a], -1)
            return x * cos + r * sin

        def forward(self, x, cos, sin, mask):
            b, s, _ = x.shape
            q = t.swap(nn.reshape(self.q_proj(x), (b, s, H, E)), 1, 2)
            k = t.swap(nn.reshape(self.k_proj(x), (b, s, K, E)), 1, 2)
            v = t.swap(nn.reshape(self.v_proj(x), (b, s, K, E)), 1, 2)
            q, k = self.rot(q, cos, sin), self.rot(k, cos, sin)
            k, v = t.rep(k, H // K, 1), t.rep(v, H // K, 1)
            w = nn.matmul(q, t.swap(k, 2, 3)) * (E ** -0.5 * (0.5 if self.wrong == "scale" else 1))
            w = t.softmax(w + mask)
            y = nn.reshape(t.swap(nn.matmul(w, v), 1, 2), (b, s, H * E))
            return self.o_proj(y)
        construct = forward

    class Mlp(nn.Module):
        def __init__(self, wrong):
            super().__init__()
            self.gate_proj, self.up_proj, self.down_proj = t.lin(D, 32, bias=False), t.lin(D, 32, bias=False), t.lin(32, D, bias=False)
            self.wrong = wrong

        def forward(self, x):
            g = self.gate_proj(x)
            g = nn.do_relu(g) if self.wrong == "act" else t.silu(g)
            return self.down_proj(g * self.up_proj(x))
        construct = forward

    class Layer(nn.Module):
        def __init__(self, wrong):
            super().__init__()
            self.input_layernorm, self.self_attn = Rms(), Attn(wrong)
            self.post_attention_layernorm, self.mlp = Rms(0.1 if wrong == "eps" else 1e-6), Mlp(wrong)

        def forward(self, x, cos, sin, mask):
            x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask)
            return x + self.mlp(self.post_attention_layernorm(x))
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed_tokens, self.layers, self.norm = nn.embedding(VOCAB, D), nn.list([Layer(""), Layer(how)]), Rms()
            self.lm_head = t.lin(D, VOCAB, bias=False)
            self.ang, self.low = t.const(ang), t.const(low)

        def forward(self, x):
            cos, sin = t.cos(self.ang), t.sin(self.ang)
            x = self.embed_tokens(x)
            for l in self.layers:
                x = l(x, cos, sin, self.low)
            return self.lm_head(self.norm(x))
        construct = forward
    return Net()


def mixer(nn, how):
    t = functions(nn)

    class Blk(nn.Module):
        def __init__(self, wrong):
            super().__init__()
            self.ln1, self.ln2 = nn.layer_norm(WIDTH), nn.layer_norm(WIDTH)
            self.tok1, self.tok2, self.ch1, self.ch2 = t.lin(TOKENS, 12), t.lin(12, TOKENS), t.lin(WIDTH, 20), t.lin(20, WIDTH)
            self.act, self.prelu, self.wrong = t.gelu(), t.prelu(), wrong

        def forward(self, x):
            y = t.swap(self.ln1(x), 1, 2)
            y = t.swap(self.tok2(self.act(self.tok1(y))), 1, 2)
            x = x - y if self.wrong == "sign" else x + y
            y = self.prelu(self.ch1(self.ln2(x)))
            y = self.ch2(y)
            v = t.var(y)
            y = y / t.sqrt(v + (0.5 if self.wrong == "eps" else 1e-3))
            return x + t.clamp(y, -2.0, 2.0)
        construct = forward

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.b, self.head = nn.embedding(VOCAB, WIDTH), nn.list([Blk(""), Blk(how)]), t.lin(WIDTH, VOCAB)

        def forward(self, x):
            x = self.embed(x)
            for b in self.b:
                x = b(x)
            return self.head(x)
        construct = forward
    return Net()


def batch(network, seed):
    return known(image[network], seed)


known, image = cells.batch, {"vit": "lenet", "sepconv": "lenet", "gru": "block", "llama": "block", "mixer": "block"}
cells.batch = batch
cells.NETWORKS = {"vit": vit, "sepconv": sepconv, "gru": gru, "llama": llama, "mixer": mixer}
cells.PLACES = {
    ("vit", "eps"): ("blocks.1.norm2", ["layer_norm", "LayerNorm"]),
    ("vit", "act"): ("blocks.1.act", ["relu", "gelu", "ReLU", "GeLU", "GELU"]),
    ("vit", "swapped"): ("blocks.1", ["matmul", "transpose", "swapaxes", "Transpose", "BatchMatMul", "MatMul", "StridedSlice", "__getitem__"]),
    ("vit", "weight"): ("blocks.1.fc1", ["linear", "matmul", "MatMul", "BiasAdd"]),
    ("sepconv", "eps"): ("b2.bn1", ["batch_norm", "BatchNorm"]),
    ("sepconv", "gneps"): ("b2.gn", ["group_norm", "GroupNorm", "add", "Add", "__add__", "sqrt", "Sqrt"]),
    ("sepconv", "act"): ("b2.se", ["sigmoid", "tanh", "Sigmoid", "Tanh"]),
    ("sepconv", "weight"): ("b2.dw", ["conv2d", "Conv2D", "BiasAdd", "Conv2d"]),
    ("gru", "dropped"): ("cell", ["add", "__add__", "Add", "__mul__", "mul", "Mul"]),
    ("gru", "swapped"): ("cell", ["add", "__add__", "Add", "__mul__", "mul", "Mul", "__rsub__", "Sub", "rsub"]),
    ("gru", "weight"): ("cell.hh", ["linear", "matmul", "MatMul", "BiasAdd"]),
    ("llama", "rope"): ("layers.1.self_attn", ["cat", "concat", "Concat", "__neg__", "neg", "Neg", "mul", "__mul__", "Mul"]),
    ("llama", "scale"): ("layers.1.self_attn", ["mul", "__mul__", "Mul"]),
    ("llama", "act"): ("layers.1.mlp", ["relu", "silu", "ReLU", "SiLU"]),
    ("llama", "eps"): ("layers.1.post_attention_layernorm", ["add", "__add__", "Add"]),
    ("llama", "weight"): ("layers.1.mlp.up_proj", ["linear", "matmul", "MatMul"]),
    ("mixer", "sign"): ("b.1", ["sub", "add", "__sub__", "__add__", "Sub", "Add"]),
    ("mixer", "eps"): ("b.1", ["add", "__add__", "Add", "sqrt", "Sqrt"]),
    ("mixer", "weight"): ("b.1.tok2", ["linear", "matmul", "MatMul", "BiasAdd"]),
}

if __name__ == "__main__":
    cells.main()
