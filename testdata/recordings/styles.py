#!/usr/bin/env python3
"""styles.py OUT [--nets NAMES] [--cfg LEVEL-TASK-DTYPE,...] [--only WAYS] [--seed N]: pairs of programs that are written in other ways than models
of transformers are, some of them with tensors of real size: functions of their own (torch.autograd.Function), hooks, modules that return
dictionaries, parametrizations, complex and whole numbers, recurrent cells, micro-batches, a table of 50 000 rows, a router of experts.

Pairs are folders with `left`, `golden` and `answer.json`, as record.py makes them. WAYS are harmless ones (H of a program), such as another
formula for the same or the noise of another device (dev7, dev4), and faults (F). Not all faults have an effect that is recorded; `go run
./testdata/recordings -in OUT` says what is right. BIG=0.25 in the environment makes tensors smaller, for the task tensor. DTYPE is fp32, bf16,
auto (autocast) or scaler.
"""

import argparse
import contextlib
import json
import os
import shutil
import dataclasses
import torch
import torch.nn as nn
import torch.nn.functional as F
from msprobe.pytorch import PrecisionDebugger
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from torch.nn.utils import parametrizations
from forked import child

BIG = float(os.environ.get("BIG", "1"))

_add, _mul, _randn, _pow, _mean, _sqrt = torch.Tensor.add_, torch.Tensor.mul_, torch.randn, torch.Tensor.pow, torch.Tensor.mean, torch.Tensor.sqrt
_to = torch.Tensor.to


class Dev(TorchDispatchMode):
    """another device: roundoff-like noise on results. prod: relative to rms of products; el: relative per element"""

    def __init__(s, prod, el):
        super().__init__()
        s.prod, s.el = prod, el
        s.g = torch.Generator().manual_seed(77)

    def __torch_dispatch__(s, op, types, args=(), kwargs=None):
        out = op(*args, **(kwargs or {}))
        n = str(op).split(".")[1]
        if (
            n
            in (
                "mm",
                "addmm",
                "bmm",
                "baddbmm",
                "convolution",
                "convolution_backward",
                "sum",
                "mean",
                "native_layer_norm_backward",
                "native_batch_norm",
                "embedding_dense_backward",
                "mkldnn_rnn_layer",
                "_scaled_dot_product_flash_attention_for_cpu",
                "_scaled_dot_product_flash_attention_for_cpu_backward",
            )
            and s.prod
        ):
            for t in (out if isinstance(out, (tuple, list)) else [out]):
                # A single number may be the recorder's own mean of a tensor.
                if isinstance(t, torch.Tensor) and t.dtype in (torch.float32, torch.bfloat16) and t.numel() > 1:
                    u = s.prod if t.dtype == torch.float32 else max(s.prod, 2e-3)
                    _add(t, _to(_mul(_randn(t.shape, generator=s.g), float(_sqrt(_mean(_pow(_to(t, torch.float32), 2)))) * u), t.dtype))
        elif (
            n
            in (
                "div",
                "exp",
                "_softmax",
                "tanh",
                "sigmoid",
                "gelu",
                "silu",
                "native_layer_norm",
                "gelu_backward",
                "_softmax_backward_data",
                "_log_softmax",
                "rsqrt",
                "erf",
                "pow",
                "sqrt",
                "native_batch_norm_backward",
            )
            and s.el
        ):
            for t in (out if isinstance(out, (tuple, list)) else [out]):
                if isinstance(t, torch.Tensor) and t.dtype == torch.float32 and t.numel():
                    _mul(t, _add(_mul(_randn(t.shape, generator=s.g), s.el), 1))
        return out


def linear(m, x, how):
    if how == "splitmm":
        h = x.shape[-1] // 2
        y = x[..., :h] @ m.weight[:, :h].t() + x[..., h:] @ m.weight[:, h:].t()
        return y + m.bias if m.bias is not None else y
    if how == "einsum":
        y = torch.einsum("...i,oi->...o", x, m.weight)
        return y + m.bias if m.bias is not None else y
    if how == "addmm" and m.bias is not None:
        return torch.addmm(m.bias, x.reshape(-1, x.shape[-1]), m.weight.t()).view(*x.shape[:-1], -1)
    return m(x)


# ---------------------------------------------------------------- conv
class Conv(nn.Module):
    H = ["same", "threads", "channels_last", "unfold", "dev7", "dev4", "bf16", "autocast", "manualbn", "contig"]
    F = ["bneps", "weight", "norelu", "pad", "poolidx", "nan", "stride", "sign", "bnstale"]

    def __init__(s, how):
        super().__init__()
        s.how = how
        c = int(32 * BIG)
        s.c1 = nn.Conv2d(3, c, 3, padding=1)
        s.b1 = nn.BatchNorm2d(c)
        s.c2 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        s.b2 = nn.BatchNorm2d(c)
        s.c3 = nn.Conv2d(c, 2 * c, 3, stride=2, padding=1)
        s.b3 = nn.BatchNorm2d(2 * c)
        s.act = nn.ReLU(inplace=True)
        s.pool = nn.MaxPool2d(2, return_indices=True)
        s.un = nn.MaxUnpool2d(2)
        s.pool2 = nn.MaxPool2d(2)
        s.fc = nn.Linear(2 * c, 100)

    def batch(s, g):
        return torch.randn(8, 3, 64, 64, generator=g), torch.randint(0, 100, (8,), generator=g)

    def bn(s, b, x):
        if s.how == "manualbn":
            m = x.mean((0, 2, 3), keepdim=True)
            v = x.var((0, 2, 3), unbiased=False, keepdim=True)
            return (x - m) / torch.sqrt(v + b.eps) * b.weight[:, None, None] + b.bias[:, None, None]
        return b(x)

    def conv(s, c, x):
        if s.how == "unfold" and c.stride == (1, 1):
            u = F.unfold(x, 3, padding=1)
            y = (c.weight.flatten(1) @ u).view(x.shape[0], -1, x.shape[2], x.shape[3])
            return y + c.bias[:, None, None] if c.bias is not None else y
        return c(x)

    def forward(s, x, y):
        h = s.act(s.bn(s.b1, s.conv(s.c1, x)))
        p, i = s.pool(h)
        if s.how == "poolidx":
            i = i.flip(1)
        u = s.un(p, i)
        h = h + 0.5 * u
        h = s.bn(s.b2, s.conv(s.c2, h))
        if s.how != "norelu":
            h = s.act(h)
        if s.how == "nan":
            h = h * torch.where(torch.arange(h.shape[-1]) == 5, float("nan"), 1.0)
        h = s.pool2(h)
        if s.how == "contig":
            h = h.transpose(2, 3).contiguous().transpose(2, 3)
        if s.how == "pad":
            h = F.conv2d(F.pad(h, (2, 0, 1, 1)), s.c3.weight, s.c3.bias, stride=2)
        elif s.how == "stride":
            h = s.c3(h.flip(-1)).flip(-1)
        else:
            h = s.conv(s.c3, h)
        if s.how == "sign":
            h = -h
        h = F.relu(s.bn(s.b3, h))
        h = F.adaptive_avg_pool2d(h, 1).flatten(1)
        return F.cross_entropy(s.fc(h), y)

    def spoil(s):
        if s.how == "bneps":
            s.b2.eps = 0.1
            return "b2", ["batch_norm"]
        if s.how == "weight":
            with torch.no_grad():
                s.c2.weight.view(-1)[500] += 0.5
            return "c2", ["conv2d"]
        if s.how == "bnstale":
            s.b2.eval()
            return "b2", ["batch_norm"]
        return {
            "norelu": ("act", ["max_pool2d", "relu", "conv2d"]),
            "pad": ("", ["pad", "conv2d"]),
            "poolidx": ("un", ["flip", "max_unpool2d"]),
            "nan": ("", ["where", "__mul__"]),
            "stride": ("", ["flip", "conv2d"]),
            "sign": ("", ["__neg__", "neg"]),
        }.get(s.how, ("", []))


# ---------------------------------------------------------------- tower
class Attn(nn.Module):
    def __init__(s, d, h, how):
        super().__init__()
        s.q, s.k, s.v, s.o = (nn.Linear(d, d) for _ in range(4))
        s.h = h
        s.how = how
        s.drop = nn.Dropout(0.1).eval()
        s.drop.train = lambda mode=True: s.drop

    def forward(s, x, mask):
        b, n, d = x.shape
        if s.how == "fusedqkv":
            q, k, v = F.linear(x, torch.cat([s.q.weight, s.k.weight, s.v.weight]), torch.cat([s.q.bias, s.k.bias, s.v.bias])).chunk(3, -1)
        elif s.how == "vkq":
            v = s.v(x)
            k = s.k(x)
            q = s.q(x)
        else:
            q, k, v = linear(s.q, x, s.how), linear(s.k, x, s.how), linear(s.v, x, s.how)
        q, k, v = (t.view(b, n, s.h, -1).transpose(1, 2) for t in (q, k, v))
        if s.how == "contig":
            q, k, v = (t.contiguous() for t in (q, k, v))
        if s.how == "transposed":
            k = k.flip(2)
        if s.how == "sdpa":
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            sc = d // s.h
            if s.how == "prescale":
                w = (q * sc**-0.5) @ k.transpose(-1, -2)
            elif s.how == "einsum":
                w = torch.einsum("bhid,bhjd->bhij", q, k) * sc**-0.5
            elif s.how == "noscale":
                w = q @ k.transpose(-1, -2) * sc**-0.4
            else:
                w = q @ k.transpose(-1, -2) * sc**-0.5
            if s.how == "maskfill":
                w = w.masked_fill(mask == float("-inf"), float("-inf"))
            elif s.how == "maskmin":
                w = w + mask.clamp(min=torch.finfo(w.dtype).min)
            else:
                w = w + mask
            if s.how == "manualsoftmax":
                w = (w - w.amax(-1, keepdim=True)).exp()
                w = w / w.sum(-1, keepdim=True)
            elif s.how == "softaxis":
                w = w.clamp(min=-1e4).softmax(-2)
            else:
                w = F.softmax(w, -1)
            w = s.drop(w)
            a = w @ v
        return linear(s.o, a.transpose(1, 2).reshape(b, n, d), s.how)


class Block(nn.Module):
    def __init__(s, d, h, how):
        super().__init__()
        s.how = how
        s.n1, s.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        s.attn = Attn(d, h, how)
        s.up, s.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        s.act = nn.GELU()

    def norm(s, n, x):
        if s.how == "manualnorm":
            m = x.mean(-1, keepdim=True)
            v = (x - m).pow(2).mean(-1, keepdim=True)
            return (x - m) * torch.rsqrt(v + n.eps) * n.weight + n.bias
        return n(x)

    def forward(s, x, mask):
        x = x + s.attn(s.norm(s.n1, x), mask)
        h = linear(s.up, s.norm(s.n2, x), s.how)
        h = s.act(h) if s.how != "manualgelu" else 0.5 * h * (1 + torch.erf(h * 0.5**0.5))
        return x + linear(s.down, h, s.how)


class Tower(nn.Module):
    H = [
        "same",
        "threads",
        "fusedqkv",
        "vkq",
        "contig",
        "sdpa",
        "prescale",
        "einsum",
        "splitmm",
        "addmm",
        "maskfill",
        "maskmin",
        "manualsoftmax",
        "manualnorm",
        "manualgelu",
        "dev7",
        "dev4",
        "bf16",
        "autocast",
        "checkpoint",
        "reentrant",
        "cefloat",
        "onehot",
    ]
    F = [
        "noscale",
        "transposed",
        "softaxis",
        "eps",
        "weight",
        "mask",
        "ignore",
        "index",
        "sign",
        "nan",
        "lostgrad",
        "untied",
        "wrongpos",
        "actmiss",
        "reduction",
        "lr",
    ]

    def __init__(s, how):
        super().__init__()
        s.how = how
        d = 64
        V = int(50000 if BIG >= 1 else 500)
        s.V = V
        s.emb = nn.Embedding(V, d, padding_idx=0)
        s.pos = nn.Embedding(128, d)
        s.l = nn.ModuleList(Block(d, 4, "" if how in Tower.F else how) for _ in range(2))
        s.nf = nn.LayerNorm(d)
        s.head = nn.Linear(d, V, bias=False)
        s.head.weight = s.emb.weight
        nn.init.normal_(s.emb.weight, std=0.1)
        if how in ("noscale", "transposed", "softaxis"):
            s.l[1].attn.how = how

    def batch(s, g):
        ids = torch.randint(1, s.V, (2, 96), generator=g)
        y = ids.roll(-1, 1).clone()
        y[:, -1] = -100
        y[1, 80:] = -100
        ids[1, 80:] = 0
        return ids, y

    def forward(s, ids, y):
        n = ids.shape[1]
        p = torch.arange(n)
        if s.how == "wrongpos":
            p = p + 1
        if s.how == "index":
            ids = ids.clone()
            ids[0, 3] += 1
        x = F.embedding(ids, s.emb.weight.flip(0).flip(0), 0) if False else s.emb(ids)
        if s.how == "onehot" and s.V < 1000:
            pass
        x = x * 8.0 + s.pos(p)
        mask = torch.full((n, n), float("-inf")).triu(1 if s.how != "mask" else 2).to(x.dtype)
        for l in s.l:
            if s.how == "checkpoint":
                x = checkpoint(l, x, mask, use_reentrant=False)
            elif s.how == "reentrant":
                x = checkpoint(l, x, mask, use_reentrant=True)
            else:
                x = l(x, mask)
        if s.how == "nan":
            x = x * torch.where(torch.arange(x.shape[-1]) == 5, float("nan"), 1.0)
        if s.how == "sign":
            x = -x
        if s.how == "lostgrad":
            x = torch.cat([x[:, :48].detach(), x[:, 48:]], 1)
        x = s.nf(x)
        w = s.emb.weight.detach().clone().requires_grad_() if s.how == "untied" else None
        z = F.linear(x, w) if w is not None else s.head(x)
        if s.how == "cefloat":
            z = z.float().contiguous()
        if s.how == "ignore":
            y = y.clamp(min=0)
        if s.how == "reduction":
            return F.cross_entropy(z.flatten(0, 1), y.flatten(), reduction="sum") / y.numel()
        return F.cross_entropy(z.flatten(0, 1), y.flatten())

    def spoil(s):
        if s.how == "eps":
            s.l[1].n2.eps = 0.1
            return "l.1.n2", ["layer_norm"]
        if s.how == "weight":
            with torch.no_grad():
                s.l[0].down.weight.view(-1)[7777] += 0.5
            return "l.0.down", ["linear"]
        if s.how == "actmiss":
            s.l[1].act.forward = lambda x: x * 1
            return "l.1.act", ["__mul__", "gelu"]
        return {
            "noscale": ("l.1.attn", ["__mul__"]),
            "transposed": ("l.1.attn", ["flip", "matmul", "__matmul__"]),
            "softaxis": ("l.1.attn", ["clamp", "softmax"]),
            "mask": ("", ["triu", "__add__"]),
            "ignore": ("", ["clamp", "cross_entropy"]),
            "index": ("emb", ["__setitem__", "__iadd__", "embedding", "clone"]),
            "sign": ("", ["__neg__", "neg"]),
            "nan": ("", ["where", "__mul__"]),
            "lostgrad": ("", ["cat", "detach"]),
            "untied": ("emb", ["linear", "detach", "clone"]),
            "wrongpos": ("pos", ["__add__", "embedding"]),
            "reduction": ("", ["cross_entropy"]),
        }.get(s.how, ("", ["add_", "add", "mul_", "addcdiv_", "lerp_"]))


# ---------------------------------------------------------------- moe
class Moe(nn.Module):
    H = ["same", "threads", "densemask", "dev7", "dev4", "bf16", "indexput", "sortpath", "bmm"]
    F = ["norenorm", "expert", "k", "dropped", "weight", "scatter", "nogate"]

    def __init__(s, how):
        super().__init__()
        s.how = how
        d = 64
        s.E = 8
        s.inp = nn.Linear(32, d)
        s.gate = nn.Linear(d, s.E, bias=False)
        s.w1 = nn.Parameter(torch.randn(s.E, d, 2 * d) / 8)
        s.w2 = nn.Parameter(torch.randn(s.E, 2 * d, d) / 11)
        s.out = nn.Linear(d, 10)
        s.nrm = nn.LayerNorm(d)

    def batch(s, g):
        n = int(4096 * BIG)
        return torch.randn(n, 32, generator=g), torch.randint(0, 10, (n,), generator=g)

    def forward(s, x, y):
        x = F.silu(s.inp(x))
        p = F.softmax(s.gate(x), -1)
        w, i = torch.topk(p, 2, -1)
        if s.how != "norenorm":
            w = w / w.sum(-1, keepdim=True)
        if s.how == "k":
            w = torch.cat([w[:, :1], w[:, 1:] * 0], 1)
        if s.how == "densemask":
            full = torch.zeros_like(p).scatter(1, i, w)
            h = torch.einsum("td,edf->tef", x, s.w1)
            h = F.silu(h)
            h = torch.einsum("tef,efd->ted", h, s.w2)
            o = (h * full.unsqueeze(-1)).sum(1)
        elif s.how == "bmm":
            h = torch.bmm(x.expand(s.E, -1, -1), s.w1)
            h = torch.bmm(F.silu(h), s.w2)
            full = torch.zeros_like(p).scatter(1, i, w)
            o = (h * full.t().unsqueeze(-1)).sum(0)
        elif s.how == "sortpath":
            flat = i.flatten()
            order = flat.argsort(stable=True)
            tok = order // 2
            xs = x[tok]
            cnt = torch.bincount(flat, minlength=s.E).tolist()
            outs = []
            for e, c in enumerate(xs.split(cnt)):
                outs.append(F.silu(c @ s.w1[e]) @ s.w2[e])
            o = torch.zeros_like(x).index_add_(0, tok, torch.cat(outs) * w.flatten()[order][:, None])
        else:
            o = torch.zeros_like(x)
            for e in range(s.E):
                t, k = torch.where(i == e)
                f = e if not (s.how == "expert" and e == 3) else 4
                h = F.silu(x[t] @ s.w1[f]) @ s.w2[f]
                g = w[t, k, None]
                if s.how == "nogate" and e == 2:
                    g = torch.ones_like(g)
                h = h * g
                if s.how == "dropped" and e == 5:
                    h = torch.cat([h[:-9], h[-9:] * 0])
                if s.how == "scatter" and e == 5:
                    t = t.flip(0)
                if s.how == "indexput":
                    o = o.index_put((t,), h, accumulate=True)
                else:
                    o.index_add_(0, t, h)
        return F.cross_entropy(s.out(s.nrm(x + o)), y)

    def spoil(s):
        if s.how == "weight":
            with torch.no_grad():
                s.w1[3, 5, 7] += 0.9
            return "", ["__getitem__", "__matmul__", "matmul"]
        return {
            "norenorm": ("", ["sum", "__truediv__", "div", "__mul__", "__getitem__"]),
            "expert": ("", ["__getitem__", "__matmul__"]),
            "k": ("", ["cat", "__mul__"]),
            "dropped": ("", ["cat", "__mul__"]),
            "scatter": ("", ["flip", "index_add_"]),
            "nogate": ("", ["ones_like", "__mul__"]),
        }.get(s.how, ("", []))


# ---------------------------------------------------------------- funcs
class TwoOut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, k):
        ctx.save_for_backward(x, w)
        ctx.k = k
        return x * w * k, (x + w).tanh(), x.argmax(-1)

    @staticmethod
    def backward(ctx, g1, g2, g3):
        x, w = ctx.saved_tensors
        d = 1 - (x + w).tanh() ** 2
        if g2 is None:
            g2 = torch.zeros_like(x)
        gx = g1 * w * ctx.k + g2 * d
        gw = (g1 * x * ctx.k + g2 * d).sum(0)
        if Funcs.now == "bwdfactor":
            gx = gx * 1.1
        if Funcs.now == "bwdnone":
            gw = None
        return gx, gw, None


class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        x.mul_(k)
        ctx.mark_dirty(x)
        ctx.k = k
        return x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


class Ste(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class Funcs(nn.Module):
    now = ""
    H = ["same", "threads", "plain", "dev7", "dev4", "bf16", "hookid", "order"]
    F = ["bwdfactor", "bwdnone", "hookscale", "dirtyk", "noste", "argidx", "hookmissing", "saved"]

    def __init__(s, how):
        super().__init__()
        s.how = how
        Funcs.now = how
        d = 256
        s.a = nn.Linear(64, d)
        s.w = nn.Parameter(torch.randn(d))
        s.b = nn.Linear(d, d)
        s.c = nn.Linear(d, 16)
        s.n = nn.LayerNorm(d)
        if how != "hookmissing":
            s.b.weight.register_hook(lambda g: g * 2.0 if how != "hookid" else g + g)
        s.b.register_full_backward_hook(lambda m, gi, go: None)

    def batch(s, g):
        n = int(1024 * BIG)
        return torch.randn(n, 64, generator=g), torch.randint(0, 16, (n,), generator=g)

    def forward(s, x, y):
        x = s.a(x)
        if s.how == "plain":
            p, q, i = x * s.w * 1.3, (x + s.w).tanh(), x.argmax(-1)
        else:
            p, q, i = TwoOut.apply(x, s.w, 1.3)
        if s.how == "argidx":
            i = (i + 1) % 256
        z = q.gather(1, i[:, None])
        if s.how == "order":
            h = s.n(q + z)
            r = s.b(h)
            t = s.b(s.n(p))
        else:
            t = s.b(s.n(p))
            h = s.n(q + z)
            r = s.b(h)
        t = Dirty.apply(t, 0.7 if s.how != "dirtyk" else 0.75) if s.how != "plain" else t * 0.7
        t = (
            t + Ste.apply(r * 8) / 8
            if s.how not in ("noste", "plain")
            else (t + (r * 8).round() / 8 if s.how == "noste" else t + r + ((r * 8).round() / 8 - r).detach())
        )
        if s.how == "hookscale":
            t.register_hook(lambda g: g * 1.5)
        else:
            t.register_hook(lambda g: None)
        if s.how == "saved":
            t = t.detach().requires_grad_() + 0 * t
        return F.cross_entropy(s.c(t), y)

    def spoil(s):
        return {
            "bwdfactor": ("", ["__mul__", "mul"]),
            "bwdnone": ("", ["add_"]),
            "hookscale": ("", ["__mul__", "linear"]),
            "dirtyk": ("", ["__mul__", "mul_"]),
            "argidx": ("", ["__add__", "__mod__", "gather", "remainder"]),
            "hookmissing": ("b", []),
            "noste": ("", ["round"]),
            "saved": ("", ["__rmul__", "detach"]),
        }.get(s.how, ("", []))


# ---------------------------------------------------------------- rnn
class Rnn(nn.Module):
    H = ["same", "threads", "manualgru", "dev7", "dev4", "bf16", "mhaweights", "batchfirst", "packed"]
    F = ["weight", "reset", "bidirswap", "mhamask", "nan", "forget", "lrx"]

    def __init__(s, how):
        super().__init__()
        s.how = how
        d = 64
        V = int(2000 * BIG)
        s.e = nn.Embedding(V, d)
        s.l = nn.LSTM(d, d, 2, batch_first=True, bidirectional=True)
        s.g = nn.GRU(2 * d, d, 1, batch_first=True)
        s.m = nn.MultiheadAttention(d, 4, batch_first=True)
        s.enc = nn.TransformerEncoderLayer(d, 4, 128, dropout=0.0, batch_first=True)
        s.o = nn.Linear(d, 50)
        s.V = V

    def batch(s, g):
        return torch.randint(0, s.V, (8, 40), generator=g), torch.randint(0, 50, (8, 40), generator=g)

    def forward(s, x, y):
        x = s.e(x)
        x, (h, c) = s.l(x)
        if s.how == "bidirswap":
            x = torch.cat([x[..., 64:], x[..., :64]], -1)
        if s.how == "packed":
            x = x.transpose(0, 1).contiguous().transpose(0, 1)
        if s.how == "manualgru":
            wi, wh, bi, bh = s.g.weight_ih_l0, s.g.weight_hh_l0, s.g.bias_ih_l0, s.g.bias_hh_l0
            t = torch.zeros(x.shape[0], 64, dtype=x.dtype)
            outs = []
            gi = F.linear(x, wi, bi)
            for k in range(x.shape[1]):
                gh = F.linear(t, wh, bh)
                a, b, cc = gi[:, k].chunk(3, -1)
                d, e, f = gh.chunk(3, -1)
                r = torch.sigmoid(a + d)
                zz = torch.sigmoid(b + e)
                n = torch.tanh(cc + r * f)
                t = (1 - zz) * n + zz * t
                outs.append(t)
            z = torch.stack(outs, 1)
        else:
            z, _ = s.g(x)
        if s.how == "forget":
            z = torch.cat([z[:, :1] * 0, z[:, :-1]], 1)
        mask = torch.ones(40, 40, dtype=torch.bool).triu(1 if s.how != "mhamask" else 3)
        a, w = s.m(z, z, z, attn_mask=mask, need_weights=s.how == "mhaweights")
        z = z + a
        if s.how == "nan":
            z = z * torch.where(torch.arange(64) == 5, float("nan"), 1.0)
        z = s.enc(z, src_mask=mask)
        return F.cross_entropy(s.o(z).flatten(0, 1), y.flatten())

    def spoil(s):
        if s.how == "weight":
            with torch.no_grad():
                s.g.weight_hh_l0[3, 5] += 0.9
            return "g", ["gru"]
        if s.how == "reset":
            with torch.no_grad():
                s.l.bias_hh_l1.zero_()
            return "l", ["lstm"]
        return {"bidirswap": ("", ["cat"]), "mhamask": ("m", ["triu", "masked_fill_"]), "nan": ("", ["where", "__mul__"]), "forget": ("", ["cat", "__mul__"])}.get(
            s.how, ("", ["add_", "add"])
        )


# ---------------------------------------------------------------- misc outputs
@dataclasses.dataclass
class Out:
    h: torch.Tensor
    aux: object


class Dict(nn.Module):
    def __init__(s, d, how):
        super().__init__()
        s.l = nn.Linear(d, d)
        s.n = nn.LayerNorm(d)
        s.how = how
        s.register_buffer("ema", torch.zeros(d))
        s.register_buffer("count", torch.zeros((), dtype=torch.long))

    def forward(s, x, extra=None):
        h = F.gelu(s.l(s.n(x)))
        with torch.no_grad():
            s.ema.lerp_(h.detach().mean(tuple(range(h.dim() - 1))).to(s.ema.dtype), 0.1)
            s.count += 1
        return {"h": x + h, "none": None, "list": [h.mean(), (h.detach(), 3)], "ema": s.ema}


class DC(nn.Module):
    def __init__(s, d, how):
        super().__init__()
        s.ps = nn.ParameterList([torch.randn(d, d) / d**0.5 for _ in range(3)])
        s.how = how

    def forward(s, x):
        for i, p in enumerate(s.ps):
            x = F.leaky_relu(x @ p if s.how != "ptransposed" or i != 1 else x @ p.t(), 0.2)
        return Out(x, (None, x.std()))


class Misc(nn.Module):
    H = ["same", "threads", "dev7", "dev4", "bf16", "reentrant", "checkpoint", "quantmm", "fft", "wnmanual", "inplace"]
    F = ["ptransposed", "wng", "emadecay", "fftsign", "quantscale", "zero", "tanhmiss", "clampwrong"]

    def __init__(s, how):
        super().__init__()
        s.how = how
        d = 128
        s.inp = parametrizations.weight_norm(nn.Linear(32, d))
        s.sn = parametrizations.spectral_norm(nn.Linear(d, d))
        s.d = Dict(d, how)
        s.dc = DC(d, how)
        s.filt = nn.Parameter(torch.randn(d // 2 + 1, 2) * 0.1 + torch.tensor([1.0, 0.0]))
        s.qw = torch.nn.Buffer(torch.randint(-127, 127, (d, d)).to(torch.int8))
        s.qs = torch.nn.Buffer(torch.rand(d) * 1e-3 + 1e-3)
        s.o = nn.Linear(d, 16)

    def batch(s, g):
        n = int(2048 * BIG)
        return torch.randn(n, 32, generator=g), torch.randn(n, 16, generator=g)

    def quant(s, x):
        sc = x.detach().abs().amax(-1, keepdim=True) / 127
        q = torch.clamp(torch.round(x.detach() / sc), -128 if s.how != "clampwrong" else -100, 127).to(torch.int8)
        if s.how == "quantmm":
            acc = torch.matmul(q.float(), s.qw.float().t())
        else:
            acc = torch.matmul(q.to(torch.int32), s.qw.to(torch.int32).t()).to(torch.float32)
        if s.how == "quantscale":
            sc = sc * 1.01
        return (acc * sc * s.qs).to(x.dtype)

    def forward(s, x, y):
        if s.how == "wnmanual":
            v = s.inp.parametrizations.weight.original1
            g = s.inp.parametrizations.weight.original0
            x = F.linear(x, g * v / v.norm(dim=1, keepdim=True), s.inp.bias)
        else:
            x = s.inp(x)
        x = s.sn(x).tanh() if s.how != "tanhmiss" else s.sn(x)
        r = s.d(x)
        x = r["h"]
        if s.how in ("reentrant", "checkpoint"):
            o = checkpoint(lambda t: s.dc(t).h, x, use_reentrant=s.how == "reentrant")
        else:
            o = s.dc(x).h
        c = torch.fft.rfft(o.float(), norm="ortho")
        f = torch.view_as_complex(s.filt.float().contiguous())
        if s.how == "fftsign":
            f = f.conj().resolve_conj()
        if s.how == "fft":
            c = torch.complex(c.real * f.real - c.imag * f.imag, c.real * f.imag + c.imag * f.real)
        else:
            c = c * f
        o = torch.fft.irfft(c, n=128, norm="ortho").to(o.dtype)
        o = o + s.quant(o) + o
        if s.how == "inplace":
            o.mul_(0.5)
            o += r["list"][0]
        else:
            o = o * 0.5
            o = o + r["list"][0]
        if s.how == "zero":
            o = o * (torch.arange(128) < 120)
        return F.mse_loss(s.o(o), y) + 0.1 * F.smooth_l1_loss(s.o(o.detach()), y)

    def spoil(s):
        if s.how == "wng":
            with torch.no_grad():
                s.inp.parametrizations.weight.original0[5] *= 1.5
            return "inp", ["linear", "_weight_norm", "weight_norm"]
        return {
            "ptransposed": ("dc", ["t", "__matmul__"]),
            "fftsign": ("", ["conj", "__mul__", "view_as_complex"]),
            "quantscale": ("", ["__mul__"]),
            "zero": ("", ["__lt__", "__mul__", "arange"]),
            "tanhmiss": ("sn", ["tanh", "layer_norm"]),
            "clampwrong": ("", ["clamp"]),
        }.get(s.how, ("", []))


# ---------------------------------------------------------------- functional
class Func(nn.Module):
    H = ["same", "threads", "dev7", "bf16", "loop", "nofunc"]
    F = ["weight", "sign", "aggr"]

    def __init__(s, how):
        super().__init__()
        s.how = how
        s.net = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1))
        s.o = nn.Linear(16, 8)

    def batch(s, g):
        return torch.randn(64, 16, generator=g), torch.randint(0, 8, (64,), generator=g)

    def forward(s, x, y):
        ps = dict(s.net.named_parameters())
        f = lambda v: torch.func.functional_call(s.net, ps, (v,)).squeeze(-1)
        if s.how == "loop":
            gr = torch.stack([torch.func.grad(lambda u: f(u))(v) for v in x])
        elif s.how == "nofunc":
            xx = x.detach().requires_grad_()
            (gr,) = torch.autograd.grad(s.net(xx).sum(), xx, create_graph=True)
        else:
            gr = torch.func.vmap(torch.func.grad(f))(x)
        if s.how == "sign":
            gr = -gr
        z = x + gr
        if s.how == "aggr":
            z = z - z.mean(1, keepdim=True)
        return F.cross_entropy(s.o(z), y)

    def spoil(s):
        if s.how == "weight":
            with torch.no_grad():
                s.net[0].weight[3, 5] += 0.9
            return "net.0", ["linear"]
        return {"sign": ("", ["__neg__", "neg"]), "aggr": ("", ["mean", "__sub__"])}.get(s.how, ("", []))


# ---------------------------------------------------------------- training loop
class Loop(nn.Module):
    H = ["same", "threads", "dev7", "foreach", "fused", "accum2", "order2", "bf16"]
    F = ["lr", "nozero", "noclip", "wd", "betas", "stepmiss", "stale", "scalerskip", "accumwrong", "momentum"]

    def __init__(s, how):
        super().__init__()
        s.how = how
        d = 128
        s.a = nn.Linear(32, d)
        s.b = nn.Linear(d, d)
        s.c = nn.Linear(d, 10)
        s.n = nn.LayerNorm(d)

    def batch(s, g):
        n = int(512 * BIG)
        return torch.randn(n, 32, generator=g), torch.randint(0, 10, (n,), generator=g)

    def forward(s, x, y):
        h = F.relu(s.a(x))
        h = h + F.gelu(s.b(s.n(h)))
        return F.cross_entropy(s.c(h), y)

    def spoil(s):
        return "", ["add_", "mul_", "addcdiv_", "lerp_", "addcmul_", "mul", "sub", "zero_"]


NETS = {"conv": Conv, "tower": Tower, "moe": Moe, "funcs": Funcs, "rnn": Rnn, "misc": Misc, "func": Func, "loop": Loop}


def record(out, name, seed, level, task, dtype, how):
    torch.manual_seed(seed)
    torch.set_num_threads(2 if how == "threads" else 1)
    net = NETS[name](how)
    for p in net.parameters():
        if p.dim() == 1:
            p.data.add_(torch.randn(p.shape) * 0.1)
    g = torch.Generator().manual_seed(seed + 5)
    x, y = net.batch(g)
    net.train()
    module, calls = net.spoil() if how in NETS[name].F else ("", [])
    if dtype == "bf16" or how == "bf16":
        net = net.bfloat16()
        x = x.bfloat16() if x.is_floating_point() else x
        y = y.bfloat16() if y.is_floating_point() else y
    if how == "channels_last":
        net = net.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last)
    os.makedirs(out, exist_ok=True)
    t = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": task if task in ("statistics", "md5") else "statistics"}
    k = "tensor" if task == "tensor" else "statistics"
    c = os.path.join(out, "config.json")
    json.dump({"task": k, "dump_path": out, "rank": [], "step": [], "level": level, k: t}, open(c, "w"))
    d = PrecisionDebugger(config_path=c)
    auto = torch.autocast("cpu", torch.bfloat16) if dtype == "auto" or how == "autocast" else contextlib.nullcontext()
    dev = {"dev7": (3e-7, 6e-8), "dev4": (1e-4, 1e-7)}.get(how)
    fe = how == "foreach"
    if name == "loop":
        opt = torch.optim.AdamW(
            net.parameters(),
            lr=0.02 if how == "lr" else 0.01,
            weight_decay=0.1 if how == "wd" else 0.01,
            betas=(0.9, 0.95) if how == "betas" else (0.9, 0.99),
            foreach=fe,
            fused=how == "fused",
        )
    else:
        opt = torch.optim.SGD(net.parameters(), lr=0.11 if how in ("lr", "lrx") else 0.1, momentum=0.9, foreach=fe)
    sc = torch.amp.GradScaler("cpu", init_scale=1024.0) if dtype == "scaler" else None
    steps = 3 if name == "loop" else 1
    for s in range(steps):
        d.start(model=net)
        with Dev(*dev) if dev else contextlib.nullcontext():
            if not (how == "nozero" and s == 1):
                opt.zero_grad()
            parts = 4 if how == "accum2" else 2 if name == "loop" else 1
            xs, ys = list(x.chunk(parts)), list(y.chunk(parts))
            if how == "order2":
                xs.reverse()
                ys.reverse()
            for i, (a, b) in enumerate(zip(xs, ys)):
                with auto:
                    l = net(a, b)
                l = l / (parts if not (how == "accumwrong" and i == 1) else 1)
                (sc.scale(l) if sc else l).backward()
            if name == "loop" and how != "noclip":
                if sc and how != "scalerskip":
                    sc.unscale_(opt)
                nn.utils.clip_grad_norm_(net.parameters(), 0.5, foreach=False)
            if not (how == "stepmiss" and s == 1):
                if sc:
                    sc.step(opt)
                    sc.update()
                else:
                    opt.step()
            if how == "stale" and s == 0:
                with torch.no_grad():
                    net.b.weight[3] += 0.05
        d.stop()
        d.step()
    os.remove(c)
    return module, calls


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--nets", default="")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cfg", default="")
    p.add_argument("--only", default="")
    o = p.parse_args()
    for name in o.nets.split(",") if o.nets else NETS:
        N = NETS[name]
        cfgs = [c.split("-") for c in (o.cfg or "mix-statistics-fp32").split(",")]
        for n, (level, task, dtype) in enumerate(cfgs):
            seed = o.seed * 100 + n
            base = os.path.join(o.out, f"{name}-{level}-{task}-{dtype}")
            g = child(record, base + "-golden", name, seed, level, task, dtype, None)
            if isinstance(g, dict):
                print(base, "golden not made", g)
                continue
            for what, hows in (("harmless", N.H), ("fault", N.F)):
                for how in hows:
                    if o.only and how not in o.only.split(","):
                        continue
                    if how in ("bf16", "autocast") and dtype != "fp32":
                        continue
                    out = base + "-" + how
                    shutil.rmtree(out, ignore_errors=True)
                    os.makedirs(out)
                    l = child(record, os.path.join(out, "left"), name, seed, level, task, dtype, how)
                    if isinstance(l, dict):
                        print(out, "not made", l)
                        shutil.rmtree(out)
                        continue
                    os.symlink(os.path.abspath(base + "-golden"), os.path.join(out, "golden"))
                    json.dump(
                        {"model": name, "level": level, "task": task, "dtype": dtype, "kind": what + ": " + how, "module": l[0], "calls": l[1]},
                        open(os.path.join(out, "answer.json"), "w"),
                    )
            print(base, flush=True)


if __name__ == "__main__":
    main()
