#!/usr/bin/env python3
"""fields.py OUT [--seed N] [--only TEXT] [--models a,b]: pairs of recordings of small networks of fields that the models of transformers
do not cover: text in pictures, detection, recommendation, graphs, flow, speech, sound, points, volumes, tagging, reinforcement, physics.

As record.py, whose rules of what is right hold, with faults of others.py and more, "call …": one call of one function that the network calls
gives a wrong result. "otherwise" is harmless: the network computes the same by other calls.
"device" is another device: products and functions differ by roundoff.
"""
import glob
import json
import math
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers.utils import ModelOutput

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import others  # noqa: E402
import record  # noqa: E402
import styles  # noqa: E402


class Net(nn.Module):
    """A network whose forward gives a loss; other says that it goes another way to the same result."""
    other = False

    def forward(self, **batch):
        return ModelOutput(loss=self.loss(**batch))


def normal(rng, *shape):
    return torch.tensor(rng.standard_normal(shape), dtype=torch.float32)


def whole(rng, low, high, *shape):
    return torch.tensor(rng.integers(low, high, shape))


class Crnn(Net):
    """Text in pictures: convolutions, a recurrent layer in both directions, CTC."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d((2, 1)))
        self.rnn = nn.LSTM(64, 16, bidirectional=True, batch_first=True)
        self.head = nn.Linear(32, 11)

    def loss(self, image, text):
        x = self.features(image)
        x = x.permute(0, 3, 1, 2).flatten(2) if not self.other else torch.cat([x[:, c].transpose(1, 2) for c in range(x.shape[1])], -1)
        y, _ = self.rnn(x)
        p = self.head(y).log_softmax(-1).transpose(0, 1).float()
        n = torch.full((len(text),), p.shape[0])
        return F.ctc_loss(p, text, n, torch.full((len(text),), text.shape[1]), zero_infinity=True)


class Tagger(Net):
    """Words with tags: packed sequences, GRU, a chain of tags that is summed over."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.rnn = nn.GRU(16, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(24, 5)
        self.step = nn.Parameter(torch.randn(5, 5) * 0.3)

    def loss(self, ids, lengths, tags):
        x = nn.utils.rnn.pack_padded_sequence(self.embed(ids), lengths, batch_first=True, enforce_sorted=False)
        y, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(x)[0], batch_first=True, total_length=ids.shape[1])
        e = self.head(y)
        mask = torch.arange(ids.shape[1])[None] < lengths[:, None]
        a = e[:, 0]
        score = e[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for t in range(1, ids.shape[1]):
            z = a[:, :, None] + self.step[None] + e[:, t, None]
            m = z.amax(1, keepdim=True) if self.other else None
            n = torch.logsumexp(z, 1) if m is None else (z - m).exp().sum(1).log() + m.squeeze(1)
            a = torch.where(mask[:, t, None], n, a)
            score = score + (self.step[tags[:, t - 1], tags[:, t]] + e[:, t].gather(1, tags[:, t:t + 1]).squeeze(1)) * mask[:, t]
        return (torch.logsumexp(a, 1) - score).mean()


class Detector(Net):
    """Boxes: a pyramid of features, anchors, focal loss, hard negatives."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.GroupNorm(4, 8), nn.SiLU())
        self.low = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.LeakyReLU(0.1))
        self.high = nn.Sequential(nn.Conv2d(16, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.LeakyReLU(0.1))
        self.side = nn.Conv2d(16, 16, 1)
        self.kind = nn.Conv2d(16, 6, 3, padding=1)
        self.box = nn.Conv2d(16, 8, 3, padding=1)

    def loss(self, image, target, truth):
        low = self.low(self.stem(image))
        high = self.high(low)
        up = F.interpolate(high, scale_factor=2, mode="nearest") if not self.other else high.repeat_interleave(2, 2).repeat_interleave(2, 3)
        levels = [self.side(low) + up, high]
        kind = torch.cat([self.kind(x).permute(0, 2, 3, 1).reshape(len(image), -1, 3) for x in levels], 1)
        box = torch.cat([self.box(x).permute(0, 2, 3, 1).reshape(len(image), -1, 4) for x in levels], 1)
        p = torch.sigmoid(kind.float())
        one = F.one_hot(target, 4)[..., 1:].to(p.dtype)
        cross = F.binary_cross_entropy_with_logits(kind.float(), one, reduction="none")
        focal = (cross * (1 - (p * one + (1 - p) * (1 - one))) ** 2).sum(-1)
        positive = target > 0
        hard = focal.masked_fill(positive, 0).topk(12, 1)[0].sum()
        corner = torch.cat([box[..., :2] - box[..., 2:].exp().clamp(max=10) / 2, box[..., :2] + box[..., 2:].exp().clamp(max=10) / 2], -1).float()
        near = F.smooth_l1_loss(corner[positive], truth[positive].float(), beta=0.5)
        inner = (torch.minimum(corner[..., 2:], truth[..., 2:]) - torch.maximum(corner[..., :2], truth[..., :2])).clamp(min=0).prod(-1)
        union = (corner[..., 2:] - corner[..., :2]).prod(-1) + (truth[..., 2:] - truth[..., :2]).clamp(min=0).prod(-1) - inner
        return (focal * positive).sum() / 8 + hard / 24 + near + (1 - inner / union.clamp(min=1e-3)).mean()


class Recommender(Net):
    """Clicks: bags of embeddings, products of features in pairs, a factorisation, towers of linear layers."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(50, 8, mode="sum")
        self.mean = nn.EmbeddingBag(30, 8, mode="mean")
        self.user = nn.Embedding(20, 8)
        self.wide = nn.Embedding(20, 1)
        self.bottom = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU())
        self.cross = nn.Linear(32, 32)
        self.top = nn.Sequential(nn.Linear(46, 16), nn.PReLU(), nn.BatchNorm1d(16), nn.Linear(16, 1))

    def loss(self, dense, items, offsets, users, click):
        d = self.bottom(dense)
        if self.other:
            counts = torch.diff(torch.cat([offsets, torch.tensor([len(items)])]))
            where = torch.repeat_interleave(torch.arange(len(offsets)), counts)
            a = torch.zeros(len(offsets), 8, dtype=d.dtype).index_add(0, where, F.embedding(items, self.bag.weight))
            b = torch.zeros(len(offsets), 8, dtype=d.dtype).index_add(0, where, F.embedding(items % 30, self.mean.weight)) / counts[:, None]
        else:
            a, b = self.bag(items, offsets), self.mean(items % 30, offsets)
        z = torch.stack([d, a, b, self.user(users)], 1)
        pairs = torch.einsum("bid,bjd->bij", z, z) if self.other else torch.bmm(z, z.transpose(1, 2))
        i, j = torch.triu_indices(4, 4, 1)
        x = z.flatten(1)
        x = x * self.cross(x) + x
        fm = 0.5 * (z.sum(1) ** 2 - (z ** 2).sum(1))
        y = self.top(torch.cat([x, pairs[:, i, j], fm], 1)) + self.wide(users)
        return F.binary_cross_entropy_with_logits(y.squeeze(1).float(), click.float(), pos_weight=torch.tensor(2.0))


class Graph(Net):
    """Nodes and edges: messages are summed, softmax over the edges of a node, the largest of neighbours, means of graphs."""

    def __init__(self):
        super().__init__()
        self.enter, self.conv, self.key, self.value, self.leave = nn.Linear(6, 16), nn.Linear(16, 16, bias=False), nn.Linear(16, 4), nn.Linear(16, 16), nn.Linear(32, 4)
        self.norm = nn.LayerNorm(16)

    def loss(self, x, edges, part, kind):
        n, (a, b) = len(x), edges
        h = F.elu(self.enter(x))
        degree = torch.zeros(n, dtype=h.dtype).scatter_add(0, b, torch.ones(len(b), dtype=h.dtype)).clamp(min=1)
        w = degree.rsqrt()
        m = self.conv(h)[a] * (w[a] * w[b])[:, None]
        if self.other:
            h = h + torch.zeros_like(h).index_add(0, b, m)
        else:
            h = h + torch.zeros_like(h).scatter_add(0, b[:, None].expand(-1, 16), m)
        h = self.norm(h)
        s = F.leaky_relu(self.key(h)[a] + self.key(h.flip(1))[b], 0.2)
        wide = b[:, None].expand(-1, 4)
        top = torch.full((n, 4), -1e4, dtype=s.dtype).scatter_reduce(0, wide, s, "amax")
        e = (s - top[b]).exp()
        e = e / torch.zeros(n, 4, dtype=e.dtype).index_add(0, b, e)[b]
        v = (self.value(h)[a].view(-1, 4, 4) * e[..., None]).flatten(1)
        h = F.relu(torch.zeros_like(h).index_add(0, b, v))
        count = torch.bincount(part, minlength=3)[:, None]
        mean = torch.zeros(3, 16, dtype=h.dtype).index_add(0, part, h) / count
        most = torch.zeros(3, 16, dtype=h.dtype).scatter_reduce(0, part[:, None].expand(-1, 16), h, "amax", include_self=True)
        return F.cross_entropy(self.leave(torch.cat([mean, most], 1)).float(), kind)


class Flow(Net):
    """Motion between two pictures: correlation, samples on a grid, a recurrent unit of convolutions."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.InstanceNorm2d(8, affine=True), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1))
        self.gates, self.state, self.step = nn.Conv2d(8 + 11, 16, 3, padding=1), nn.Conv2d(8 + 11, 8, 3, padding=1), nn.Conv2d(8, 2, 3, padding=1)

    def loss(self, first, second, motion):
        a, b = self.features(first), self.features(second)
        n, c, h, w = a.shape
        if self.other:
            volume = torch.matmul(a.flatten(2).transpose(1, 2), b.flatten(2)) / c ** 0.5
        else:
            volume = torch.einsum("bci,bcj->bij", a.flatten(2), b.flatten(2)) / c ** 0.5
        volume = volume.reshape(n * h * w, 1, h, w)
        y, x = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        base = torch.stack([x, y], -1).to(a.dtype)
        flow, state = torch.zeros(n, 2, h, w, dtype=a.dtype), torch.tanh(a)
        around = torch.stack(torch.meshgrid(torch.arange(-1, 2), torch.arange(-1, 2), indexing="ij"), -1).reshape(1, 3, 3, 2).to(a.dtype)
        losses = []
        for _ in range(2):
            flow = flow.detach()
            at = (base[None] + flow.permute(0, 2, 3, 1)).reshape(-1, 1, 1, 2) + around
            grid = 2 * at / torch.tensor([w - 1, h - 1], dtype=a.dtype) - 1
            seen = F.grid_sample(volume, grid, align_corners=True).view(n, h, w, 9).permute(0, 3, 1, 2)
            z, r = torch.sigmoid(self.gates(torch.cat([state, seen, flow], 1))).chunk(2, 1)
            new = torch.tanh(self.state(torch.cat([r * state, seen, flow], 1)))
            state = (1 - z) * state + z * new
            flow = flow + self.step(state)
            up = F.interpolate(flow, scale_factor=4, mode="bilinear", align_corners=False)
            losses.append((up - motion).abs().mean())
        return losses[0] * 0.8 + losses[1]


class Gan(Net):
    """A generator against a discriminator: transposed convolutions, spectral norm, hinge loss, a penalty of gradients."""

    def __init__(self):
        super().__init__()
        self.make = nn.Sequential(nn.Linear(8, 64), nn.Unflatten(1, (16, 2, 2)), nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Tanh())
        self.judge = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.LeakyReLU(0.2), nn.utils.parametrizations.spectral_norm(nn.Conv2d(8, 8, 4, 2, 1)), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(32, 1))

    def loss(self, noise, real):
        fake = self.make(noise)
        mixed = (0.3 * real + 0.7 * fake.detach()).requires_grad_()
        g, = torch.autograd.grad(self.judge(mixed).sum(), mixed, create_graph=True)
        penalty = ((g.flatten(1).norm(dim=1) - 1) ** 2).mean()
        if self.other:
            hinge = (1 - self.judge(real)).clamp(min=0).mean() + (1 + self.judge(fake)).clamp(min=0).mean()
        else:
            hinge = F.relu(1 - self.judge(real)).mean() + F.relu(1 + self.judge(fake)).mean()
        return hinge + 0.1 * penalty


class Vocoder(Net):
    """Sound: weight norm, dilated and transposed convolutions, spectra."""

    def __init__(self):
        super().__init__()
        w = nn.utils.parametrizations.weight_norm
        self.enter = w(nn.Conv1d(6, 16, 3, padding=1))
        self.up = w(nn.ConvTranspose1d(16, 8, 8, 4, 2))
        self.blocks = nn.ModuleList([w(nn.Conv1d(8, 8, 3, padding=d, dilation=d)) for d in (1, 3, 5)])
        self.gate = nn.Conv1d(8, 16, 1)
        self.leave = w(nn.Conv1d(8, 1, 7, padding=3))

    def loss(self, mel, sound):
        x = self.up(F.leaky_relu(self.enter(mel), 0.1))
        for b in self.blocks:
            x = x + b(F.leaky_relu(x, 0.1))
        if self.other:
            a, g = self.gate(x).chunk(2, 1)
            x = x + torch.tanh(a) * torch.sigmoid(g)
        else:
            y = self.gate(x)
            x = x + torch.tanh(y[:, :8]) * torch.sigmoid(y[:, 8:])
        y = torch.tanh(self.leave(x)).squeeze(1).float()
        window = torch.hann_window(16)
        a, b = (torch.stft(s, 16, 8, window=window, return_complex=True).abs().clamp(min=1e-5) for s in (y, sound.float()))
        return (a.log() - b.log()).abs().mean() + (b - a).norm() / b.norm() + F.l1_loss(y, sound.float())


class Points(Net):
    """Clouds of points: neighbours by distance, what is gathered of them, the largest."""

    def __init__(self):
        super().__init__()
        self.edge = nn.Sequential(nn.Conv2d(6, 16, 1), nn.BatchNorm2d(16), nn.ReLU())
        self.local = nn.Sequential(nn.Conv1d(16, 24, 1), nn.BatchNorm1d(24), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(48, 16), nn.Dropout(0.0), nn.Hardswish(), nn.Linear(16, 5))

    def loss(self, cloud, kind):
        x = cloud.transpose(1, 2)
        if self.other:
            d = cloud.pow(2).sum(-1)
            d = (d[:, :, None] + d[:, None] - 2 * torch.matmul(cloud, x)).clamp(min=0).sqrt()
        else:
            d = torch.cdist(cloud.float(), cloud.float(), compute_mode="donot_use_mm_for_euclid_dist")
        near = d.topk(4, -1, largest=False)[1]
        n, p, k = near.shape
        got = torch.gather(cloud[:, None].expand(-1, p, -1, -1), 2, near[..., None].expand(-1, -1, -1, 3))
        e = torch.cat([got - cloud[:, :, None], cloud[:, :, None].expand(-1, -1, k, -1)], -1).permute(0, 3, 1, 2)
        h = self.local(self.edge(e).max(-1)[0])
        return F.cross_entropy(self.head(torch.cat([h.amax(-1), h.mean(-1)], 1)).float(), kind, label_smoothing=0.1)


class Quantiser(Net):
    """Codes: the nearest of a book, gradients that go straight through it, residual convolutions."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.SiLU(), nn.Conv2d(8, 8, 4, 2, 1))
        self.book = nn.Embedding(16, 8)
        self.leave = nn.Sequential(nn.Conv2d(8, 32, 3, padding=1), nn.PixelShuffle(2), nn.SiLU(), nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(8, 3, 3, padding=1))

    def loss(self, image):
        z = self.enter(image)
        flat = z.permute(0, 2, 3, 1).reshape(-1, 8)
        d = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.book.weight.t() + self.book.weight.pow(2).sum(1)
        code = d.argmin(1)
        q = (F.one_hot(code, 16).to(z.dtype) @ self.book.weight if self.other else self.book(code)).view(len(z), *z.shape[2:], 8).permute(0, 3, 1, 2)
        y = self.leave(z + (q - z).detach())
        return F.mse_loss(y, image) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())


class Coupling(Net):
    """A flow of densities: affine couplings, a mixing matrix with its determinant, a prior."""

    def __init__(self):
        super().__init__()
        self.nets = nn.ModuleList([nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8)) for _ in range(3)])
        self.mix = nn.ParameterList([nn.Parameter(torch.linalg.qr(torch.randn(8, 8))[0]) for _ in range(3)])

    def loss(self, x):
        total = torch.zeros(len(x), dtype=x.dtype)
        for net, w in zip(self.nets, self.mix):
            x = x @ w if not self.other else F.linear(x, w.t())
            total = total + torch.linalg.slogdet(w.float())[1].to(x.dtype)
            a, b = x.chunk(2, 1)
            s, t = net(a).chunk(2, 1)
            s = torch.tanh(s)
            x = torch.cat([a, b * s.exp() + t], 1)
            total = total + s.sum(1)
        prior = -0.5 * (x ** 2 + math.log(2 * math.pi)).sum(1)
        return -(prior + total).mean()


class Fourier(Net):
    """Fields by their spectra: products in the frequencies, what is local beside them."""

    def __init__(self):
        super().__init__()
        self.lift, self.drop = nn.Linear(3, 8), nn.Linear(8, 1)
        self.local = nn.ModuleList([nn.Conv1d(8, 8, 1) for _ in range(2)])
        self.mode = nn.ParameterList([nn.Parameter(torch.randn(8, 8, 5, 2) * 0.1) for _ in range(2)])

    def loss(self, field, truth):
        x = self.lift(field).transpose(1, 2)
        for w, net in zip(self.mode, self.local):
            f = torch.fft.rfft(x.float())
            c = torch.view_as_complex(w.float())
            low = torch.einsum("bik,iok->bok", f[..., :5], c) if not self.other else (f[:, :, None, :5] * c).sum(1)
            back = torch.fft.irfft(F.pad(low, (0, f.shape[-1] - 5)), n=x.shape[-1]).to(x.dtype)
            x = F.gelu(back + net(x))
        y = self.drop(x.transpose(1, 2)).squeeze(-1)
        return ((y - truth).norm(dim=1) / truth.norm(dim=1)).mean()


class Rays(Net):
    """Volumes seen along rays: sines of places, densities, what is left of light."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.density, self.colour = nn.Linear(27, 32), nn.Linear(59, 32), nn.Linear(32, 1), nn.Linear(32, 3)

    def loss(self, origin, direction, colour):
        t = torch.linspace(0.5, 3, 12, dtype=origin.dtype)
        at = origin[:, None] + direction[:, None] * t[None, :, None]
        f = at[..., None] * (2.0 ** torch.arange(4, dtype=at.dtype))
        x = torch.cat([at, f.sin().flatten(-2), f.cos().flatten(-2)], -1)
        h = F.softplus(self.first(x))
        h = F.relu(self.second(torch.cat([h, x], -1)))
        sigma, rgb = F.softplus(self.density(h)).squeeze(-1), torch.sigmoid(self.colour(h))
        alpha = 1 - torch.exp(-sigma * (t[1] - t[0]))
        if self.other:
            left = torch.exp(torch.cumsum(torch.log(1 - alpha + 1e-6), -1))
        else:
            left = torch.cumprod(1 - alpha + 1e-6, -1)
        left = torch.cat([torch.ones_like(left[:, :1]), left[:, :-1]], -1)
        seen = ((alpha * left)[..., None] * rgb).sum(1)
        return F.mse_loss(seen, colour)


class Queries(Net):
    """Detection by queries: attention of torch itself, boxes against boxes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 4, 4)
        self.encoder = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(16, 2, 32, 0.0, batch_first=True, activation="gelu")
        self.place = nn.Parameter(torch.randn(1, 64, 16) * 0.1)
        self.query = nn.Embedding(5, 16)
        self.kind, self.box = nn.Linear(16, 4), nn.Linear(16, 4)

    def loss(self, image, kind, truth):
        x = self.stem(image).flatten(2).transpose(1, 2)
        m = self.encoder(x + self.place if not self.other else torch.add(self.place.expand_as(x), x))
        y = self.decoder(self.query.weight[None].expand(len(image), -1, -1), m)
        b = self.box(y).sigmoid()
        return F.cross_entropy(self.kind(y).transpose(1, 2).float(), kind, weight=torch.tensor([0.1, 1, 1, 1])) + 5 * F.l1_loss(b, truth)


class Segment(Net):
    """Pictures cut to pieces: places of the largest that are kept, skips, dice."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.InstanceNorm2d(8), nn.ELU())
        self.pool, self.unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)
        self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, padding=2, dilation=2), nn.GroupNorm(4, 16), nn.Mish(), nn.Conv2d(16, 8, 1))
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 8, 1), nn.Hardsigmoid())
        self.head = nn.Conv2d(16, 3, 1)

    def loss(self, image, part):
        a = self.down(image)
        small, where = self.pool(a)
        d = self.deep(small)
        s = self.squeeze(d) if not self.other else F.hardsigmoid(self.squeeze[1](d.mean((2, 3), keepdim=True)))
        up = self.unpool(d * s, where, output_size=a.shape[-2:])
        y = self.head(torch.cat([a, up], 1)).float()
        p = y.softmax(1)
        one = F.one_hot(part, 3).permute(0, 3, 1, 2).float()
        dice = 1 - (2 * (p * one).sum((0, 2, 3)) + 1) / (p.sum((0, 2, 3)) + one.sum((0, 2, 3)) + 1)
        return F.nll_loss(y.log_softmax(1), part) + dice.mean()


class Decay(Net):
    """Attention that is linear: sums that run on, decays, rotations by complex numbers."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.q, self.k, self.v, self.gate, self.o = (nn.Linear(16, 16, bias=False) for _ in range(5))
        self.norm, self.group, self.head = nn.RMSNorm(16), nn.GroupNorm(4, 16), nn.Linear(16, 40)

    def loss(self, ids, labels):
        x = self.embed(ids)
        n, t, _ = x.shape
        h = self.norm(x)
        turn = torch.polar(torch.ones(t, 2), torch.outer(torch.arange(t).float(), torch.tensor([1.0, 0.1])))
        q, k = (torch.view_as_real(torch.view_as_complex(p(h).float().reshape(n, t, 4, 2, 2)) * turn[None, :, None]).flatten(3).to(x.dtype) for p in (self.q, self.k))
        v = self.v(h).view(n, t, 4, 4)
        rate = 1 - torch.exp2(-5.0 - torch.arange(4)).to(x.dtype)
        if self.other:
            s, out = torch.zeros(n, 4, 4, 4, dtype=x.dtype), []
            for i in range(t):
                s = s * rate[None, :, None, None] + torch.einsum("bhd,bhe->bhde", k[:, i], v[:, i])
                out.append(torch.einsum("bhd,bhde->bhe", q[:, i], s))
            y = torch.stack(out, 1)
        else:
            far = (torch.arange(t)[:, None] - torch.arange(t)[None]).clamp(min=0)
            d = torch.tril(torch.ones(t, t))[None].to(x.dtype) * rate[:, None, None] ** far
            y = torch.einsum("bhij,bjhe->bihe", torch.einsum("bihd,bjhd->bhij", q, k) * d, v)
        y = self.group(y.reshape(n * t, 16)).view(n, t, 16)
        x = x + self.o(y * F.silu(self.gate(h)))
        return F.cross_entropy(self.head(x).flatten(0, 1).float(), labels.flatten())


class Conformer(Net):
    """Speech: gated convolutions by channel, attention with shifted places, norms of batches."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Conv1d(8, 16, 3, 2, 1)
        self.norms = nn.ModuleList([nn.LayerNorm(16) for _ in range(3)])
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)
        self.qkv, self.place, self.o = nn.Linear(16, 48), nn.Linear(16, 16, bias=False), nn.Linear(16, 16)
        self.u, self.v = nn.Parameter(torch.randn(2, 8) * 0.2), nn.Parameter(torch.randn(2, 8) * 0.2)
        self.wide, self.depth, self.batch, self.narrow = nn.Conv1d(16, 32, 1), nn.Conv1d(16, 16, 5, padding=2, groups=16), nn.BatchNorm1d(16), nn.Conv1d(16, 16, 1)
        self.head = nn.Linear(16, 9)

    def loss(self, sound, label):
        x = F.relu(self.enter(sound)).transpose(1, 2)
        n, t, _ = x.shape
        x = x + 0.5 * self.down(F.silu(self.up(self.norms[0](x))))
        q, k, v = self.qkv(self.norms[1](x)).view(n, t, 3, 2, 8).permute(2, 0, 3, 1, 4)
        at = torch.arange(t - 1, -t, -1)[:, None] * torch.exp(torch.arange(0, 16, 2) * -0.5)
        p = self.place(torch.stack([at.sin(), at.cos()], -1).flatten(1).to(x.dtype)).view(-1, 2, 8).transpose(0, 1)
        b = (q + self.v[:, None]) @ p.transpose(1, 2)
        if self.other:
            index = (torch.arange(t)[None] - torch.arange(t)[:, None] + t - 1)
            b = b.gather(-1, index.expand(n, 2, t, t))
        else:
            b = F.pad(b, (1, 0)).view(n, 2, -1, t)[:, :, 1:].reshape(n, 2, t, -1)[..., :t]
        a = ((q + self.u[:, None]) @ k.transpose(-1, -2) + b) / 8 ** 0.5
        y = (a.softmax(-1) @ v).transpose(1, 2).reshape(n, t, 16)
        x = x + self.o(y)
        c = F.glu(self.wide(self.norms[2](x).transpose(1, 2)), 1)
        x = x + self.narrow(F.silu(self.batch(self.depth(c)))).transpose(1, 2)
        return F.cross_entropy(self.head(x).transpose(1, 2).float(), label, ignore_index=0)


class Contrast(Net):
    """Pairs: unit vectors, their cosines, a temperature, a margin."""

    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Sequential(nn.Flatten(), nn.Linear(192, 32), nn.GELU(), nn.Linear(32, 16)), nn.Sequential(nn.EmbeddingBag(40, 32), nn.Linear(32, 16))
        self.scale = nn.Parameter(torch.tensor(2.6))

    def loss(self, picture, words, far):
        a, b, c = self.image(picture), self.text(words), self.text(far)
        if self.other:
            u, v = (z / z.norm(dim=-1, keepdim=True) for z in (a, b))
        else:
            u, v = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
        s = self.scale.exp() * u @ v.t()
        same = torch.arange(len(s))
        both = (F.cross_entropy(s.float(), same) + F.cross_entropy(s.t().float(), same)) / 2
        return both + F.triplet_margin_loss(a, b, c, margin=0.5) + F.cosine_embedding_loss(a, c, -torch.ones(len(a)), margin=0.2)


class Series(Net):
    """Numbers over time: a trend that is a moving mean, patches, quantiles."""

    def __init__(self):
        super().__init__()
        self.trend, self.patch, self.mix, self.leave = nn.Linear(32, 8), nn.Linear(8, 16), nn.Linear(7, 7), nn.Linear(112, 24)
        self.norm = nn.BatchNorm1d(16)

    def loss(self, past, future):
        mean, std = past.mean(-1, keepdim=True), past.std(-1, keepdim=True, unbiased=False) + 1e-3
        x = (past - mean) / std
        wide = torch.cat([x[:, :1].expand(-1, 4), x, x[:, -1:].expand(-1, 4)], 1)
        trend = F.avg_pool1d(wide[:, None], 9, 1).squeeze(1) if not self.other else wide.unfold(1, 9, 1).mean(-1)
        p = self.patch((x - trend).unfold(1, 8, 4))
        p = self.norm(p.transpose(1, 2)) + self.mix(p.transpose(1, 2)).tanh()
        y = self.leave(p.flatten(1)).view(-1, 3, 8) + self.trend(trend)[:, None]
        e = future[:, None] - (y * std[:, None] + mean[:, None])
        q = torch.tensor([0.1, 0.5, 0.9], dtype=e.dtype)[None, :, None]
        return torch.maximum(q * e, (q - 1) * e).mean()


class Actor(Net):
    """Reinforcement: distributions, ratios that are cut, advantages summed backwards."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.mean, self.choice, self.value = nn.Linear(32, 2), nn.Linear(32, 4), nn.Linear(32, 1)
        self.spread = nn.Parameter(torch.zeros(2) - 0.5)

    def loss(self, state, action, pick, reward, old):
        h = self.body(state)
        v = self.value(h).squeeze(-1)
        a, advantage = torch.zeros_like(v[0]), []
        for t in reversed(range(len(v) - 1)):
            a = reward[t] + 0.99 * v[t + 1].detach() - v[t].detach() + 0.95 * 0.99 * a
            advantage.insert(0, a)
        advantage = torch.stack(advantage)
        d = torch.distributions.Normal(self.mean(h), self.spread.exp().expand(2))
        c = torch.distributions.Categorical(logits=self.choice(h))
        k = c.log_prob(pick) if not self.other else c.logits.gather(-1, pick[..., None]).squeeze(-1)
        log = (d.log_prob(action).sum(-1) + k)[:-1]
        ratio = (log - old[:-1]).exp()
        g = (advantage - advantage.mean()) / (advantage.std() + 1e-5)
        policy = -torch.min(ratio * g, ratio.clamp(0.8, 1.2) * g).mean()
        return policy + 0.5 * F.huber_loss(v[:-1], (advantage + v[:-1]).detach()) - 0.01 * (d.entropy().sum(-1) + c.entropy()).mean()


class Physics(Net):
    """An equation: derivatives of a network by its inputs in the loss."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Softplus(), nn.Linear(16, 1))

    def loss(self, place, edge, known):
        x = place.clone().requires_grad_()
        u = self.net(x)
        g, = torch.autograd.grad(u.sum(), x, create_graph=True)
        second, = torch.autograd.grad(g[:, 0].sum(), x, create_graph=True)
        left = g[:, 1] + u.squeeze(1) * g[:, 0] - 0.1 * second[:, 0]
        return left.pow(2).mean() + ((self.net(edge).squeeze(1) - known) ** 2).mean()


class Deform(Net):
    """Attention at places that are learnt, over two levels."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 2, 2)
        self.value, self.offset, self.weight, self.o = nn.Linear(16, 16), nn.Linear(16, 2 * 2 * 3 * 2), nn.Linear(16, 12), nn.Linear(16, 16)
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 5)

    def loss(self, image, kind):
        f = self.stem(image)
        levels = [f, F.adaptive_avg_pool2d(f, 4)]
        sizes = [x.shape[-2:] for x in levels]
        tokens = torch.cat([x.flatten(2).transpose(1, 2) for x in levels], 1)
        n, t, _ = tokens.shape
        v = self.value(tokens).view(n, t, 2, 8)
        at = torch.cat([torch.stack(torch.meshgrid((torch.arange(h) + 0.5) / h, (torch.arange(w) + 0.5) / w, indexing="ij")[::-1], -1).reshape(-1, 2) for h, w in sizes])
        where = at[None, :, None, None, None].to(v.dtype) + self.offset(tokens).view(n, t, 2, 2, 3, 2) * 0.1
        weight = self.weight(tokens).view(n, t, 2, 6).softmax(-1).view(n, t, 2, 2, 3)
        seen = []
        for i, (part, (h, w)) in enumerate(zip(v.split([h * w for h, w in sizes], 1), sizes)):
            m = part.permute(0, 2, 3, 1).reshape(n * 2, 8, h, w)
            g = (2 * where[:, :, :, i] - 1).transpose(1, 2).flatten(0, 1)
            seen.append(F.grid_sample(m, g, mode="bilinear", padding_mode="zeros", align_corners=False))
        s = torch.stack(seen, -2).flatten(-2)
        w = weight.flatten(3).transpose(1, 2).reshape(n * 2, 1, t, 6)
        y = (s * w).sum(-1).reshape(n, 16, t).transpose(1, 2) if not self.other else torch.einsum("bctp,botp->bct", s, w).reshape(n, 16, t).transpose(1, 2)
        return F.cross_entropy(self.head(self.norm(tokens + self.o(y)).mean(1)).float(), kind)


class Cells(Net):
    """Recurrent layers, in one call or cell by cell, with attention over what was heard."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 12)
        self.rnn, self.cell = nn.GRU(12, 16, batch_first=True), nn.LSTMCell(28, 16)
        self.query, self.key, self.score, self.leave = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 1), nn.Linear(32, 30)

    def loss(self, ids, spoken):
        x = self.embed(ids)
        if self.other:
            h, m = torch.zeros(len(x), 16, dtype=x.dtype), []
            for t in range(x.shape[1]):
                a = F.linear(x[:, t], self.rnn.weight_ih_l0, self.rnn.bias_ih_l0).chunk(3, 1)
                b = F.linear(h, self.rnn.weight_hh_l0, self.rnn.bias_hh_l0).chunk(3, 1)
                r, z = torch.sigmoid(a[0] + b[0]), torch.sigmoid(a[1] + b[1])
                h = (1 - z) * torch.tanh(a[2] + r * b[2]) + z * h
                m.append(h)
            m = torch.stack(m, 1)
        else:
            m, _ = self.rnn(x)
        k, h, c, loss = self.key(m), m[:, -1], torch.zeros_like(m[:, 0]), 0
        for t in range(spoken.shape[1] - 1):
            w = self.score(torch.tanh(self.query(h)[:, None] + k)).softmax(1)
            seen = (w * m).sum(1)
            h, c = self.cell(torch.cat([self.embed(spoken[:, t]), seen], 1), (h, c))
            loss = loss + F.cross_entropy(self.leave(torch.cat([h, seen], 1)).float(), spoken[:, t + 1])
        return loss / spoken.shape[1]


class Volume(Net):
    """Volumes and clips: convolutions and pools in three axes, a transposed one, weights of classes."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.BatchNorm3d(8), nn.ReLU6(), nn.MaxPool3d(2))
        self.parts = nn.Sequential(nn.Conv3d(8, 8, (1, 3, 3), padding=(0, 1, 1)), nn.ReLU(), nn.Conv3d(8, 8, (3, 1, 1), padding=(1, 0, 0)), nn.InstanceNorm3d(8))
        self.up, self.head = nn.ConvTranspose3d(8, 8, 2, 2), nn.Conv3d(8, 2, 1)

    def loss(self, scan, part):
        x = self.enter(scan)
        x = x + self.parts(x)
        y = self.head(F.celu(self.up(x))).float()
        if self.other:
            p = y.permute(0, 2, 3, 4, 1).reshape(-1, 2).log_softmax(-1)
            w = torch.tensor([0.3, 0.7])[part.flatten()]
            return -(p.gather(1, part.reshape(-1, 1)).squeeze(1) * w).sum() / w.sum()
        return F.cross_entropy(y, part, weight=torch.tensor([0.3, 0.7]))


def boxes(rng):
    c, s = rng.uniform(0, 1, (2, 80, 2)), rng.uniform(0.2, 1, (2, 80, 2))
    return torch.tensor(np.concatenate([c - s / 2, c + s / 2], -1), dtype=torch.float32)


MODELS = {
    "crnn": (Crnn, lambda r: dict(image=normal(r, 2, 1, 16, 24), text=whole(r, 1, 11, 2, 4))),
    "tagger": (Tagger, lambda r: dict(ids=whole(r, 1, 40, 3, 9), lengths=torch.tensor([9, 6, 7]), tags=whole(r, 0, 5, 3, 9))),
    "detector": (Detector, lambda r: dict(image=normal(r, 2, 3, 32, 32), target=torch.tensor(r.choice(4, (2, 160), p=[0.7, 0.1, 0.1, 0.1])), truth=torch.cat([boxes(r), boxes(r)], 1))),
    "recommender": (Recommender, lambda r: dict(dense=normal(r, 8, 6), items=whole(r, 0, 50, 24), offsets=torch.tensor([0, 3, 5, 9, 12, 15, 20, 22]), users=whole(r, 0, 20, 8), click=whole(r, 0, 2, 8))),
    "graph": (Graph, lambda r: dict(x=normal(r, 18, 6), edges=whole(r, 0, 18, 2, 60), part=torch.arange(18) // 6, kind=whole(r, 0, 4, 3))),
    "flow": (Flow, lambda r: dict(first=normal(r, 2, 3, 24, 32), second=normal(r, 2, 3, 24, 32), motion=normal(r, 2, 2, 24, 32))),
    "gan": (Gan, lambda r: dict(noise=normal(r, 4, 8), real=normal(r, 4, 3, 8, 8).tanh())),
    "vocoder": (Vocoder, lambda r: dict(mel=normal(r, 2, 6, 16), sound=normal(r, 2, 64) * 0.3)),
    "points": (Points, lambda r: dict(cloud=normal(r, 3, 20, 3), kind=whole(r, 0, 5, 3))),
    "quantiser": (Quantiser, lambda r: dict(image=normal(r, 2, 3, 16, 16))),
    "coupling": (Coupling, lambda r: dict(x=normal(r, 12, 8))),
    "fourier": (Fourier, lambda r: dict(field=normal(r, 3, 24, 3), truth=normal(r, 3, 24))),
    "rays": (Rays, lambda r: dict(origin=normal(r, 6, 3), direction=F.normalize(normal(r, 6, 3), dim=-1), colour=torch.tensor(r.uniform(0, 1, (6, 3)), dtype=torch.float32))),
    "queries": (Queries, lambda r: dict(image=normal(r, 2, 3, 32, 32), kind=whole(r, 0, 4, 2, 5), truth=torch.tensor(r.uniform(0, 1, (2, 5, 4)), dtype=torch.float32))),
    "segment": (Segment, lambda r: dict(image=normal(r, 2, 3, 16, 16), part=whole(r, 0, 3, 2, 16, 16))),
    "decay": (Decay, lambda r: dict(ids=whole(r, 0, 40, 2, 10), labels=whole(r, 0, 40, 2, 10))),
    "conformer": (Conformer, lambda r: dict(sound=normal(r, 3, 8, 18), label=whole(r, 0, 9, 3, 9))),
    "contrast": (Contrast, lambda r: dict(picture=normal(r, 6, 3, 8, 8), words=whole(r, 0, 40, 6, 5), far=whole(r, 0, 40, 6, 5))),
    "series": (Series, lambda r: dict(past=normal(r, 6, 32).cumsum(1), future=normal(r, 6, 8))),
    "actor": (Actor, lambda r: dict(state=normal(r, 10, 3, 6), action=normal(r, 10, 3, 2), pick=whole(r, 0, 4, 10, 3), reward=normal(r, 10, 3), old=normal(r, 10, 3) * 0.3 - 3.4)),
    "physics": (Physics, lambda r: dict(place=normal(r, 16, 2), edge=normal(r, 8, 2), known=normal(r, 8))),
    "deform": (Deform, lambda r: dict(image=normal(r, 2, 3, 16, 16), kind=whole(r, 0, 5, 2))),
    "cells": (Cells, lambda r: dict(ids=whole(r, 0, 30, 2, 8), spoken=whole(r, 0, 30, 2, 6))),
    "volume": (Volume, lambda r: dict(scan=normal(r, 2, 1, 4, 8, 8), part=whole(r, 0, 2, 2, 4, 8, 8))),
}


def otherwise(model):
    """The same by other calls."""
    if "other" not in type(model).loss.__code__.co_names:
        raise LookupError("it has one way")
    model.other = True


def device(model):
    """Another device, whose products and functions are rounded otherwise."""
    styles.Dev(1.2e-7, 6e-8).__enter__()


SPOILT = {
    "scale": lambda z: z * 1.2,
    "little": lambda z: z * 1.02,
    "offset": lambda z: z + 0.1,
    "part": lambda z: torch.cat([z.flatten()[:-2], z.flatten()[:2] * 0]).view(z.shape) if z.numel() > 4 else z * 0,
    "turned": lambda z: z.flip(0) if z.dim() and len(z) > 1 else z * 1.1,
    "nan": lambda z: torch.where(torch.arange(z.numel()).view(z.shape) == z.numel() // 2, torch.nan, z),
}
SPACES = {"Functional": F, "Torch": torch, "Tensor": torch.Tensor, "FFT": torch.fft}


class Instead(torch.autograd.Function):
    """Another result, whose gradients go through as they are."""

    @staticmethod
    def forward(ctx, real, other):
        return other

    @staticmethod
    def backward(ctx, g):
        return g, None


def called(change, model, rng, out):
    """One call of one function of the golden side gives a wrong result, whatever it is given."""
    [path] = glob.glob(os.path.join(os.path.dirname(out), "golden", "step0", "*", "dump.json"))
    with open(path) as f:
        data = json.load(f)["data"]

    def fits(name, call):
        space, what, number, way = name.split(".")
        if way != "forward" or space not in SPACES or what.endswith("_") or what in ("detach", "__setitem__", "__getitem__", "size"):
            return False
        return any(isinstance(o, dict) and "float" in str(o.get("dtype")) and o.get("shape") != [0] for o in call.get("output", [])[:1])
    names = [n for n, c in data.items() if n.count(".") == 3 and fits(n, c)]
    if not names:
        raise LookupError("no function is recorded")
    space, what, number, _ = names[int(rng.integers(len(names)))].split(".")
    real, calls = getattr(SPACES[space], what), 0

    def wrong(*args, **kwargs):
        nonlocal calls
        y = real(*args, **kwargs)
        calls += 1
        if calls != int(number) + 1:
            return y
        model.unused = False
        first = y[0] if isinstance(y, tuple) else y
        changed = change(first.detach().clone())
        changed = Instead.apply(first, changed)
        return changed if first is y else (changed, *y[1:])
    wrong.__name__ = what
    setattr(SPACES[space], what, wrong)
    model.unused = True
    return f"{space}.{what}.{number}.forward", [what]


def fault(kind, model, spec, rng):
    return called(SPOILT[kind[5:]], model, rng, where) if kind.startswith("call ") else known(kind, model, spec, rng)


def recording(out, *args):
    global where
    where = out
    module, calls = recorded(out, *args)
    if str(args[-1]).startswith("call "):
        first = differs(out)
        if first != module:  # what the recorder counts otherwise, or what a size hides
            raise LookupError(f"{module} was spoilt, {first} differs first")
        module = None
    return module, calls


def differs(out):
    """The first call whose result differs between a left side and its golden one."""
    sides = []
    for side in (out, os.path.join(os.path.dirname(out), "golden")):
        [path] = glob.glob(os.path.join(side, "step0", "*", "dump.json"))
        with open(path) as f:
            sides.append(json.load(f)["data"])
    for name, call in sides[0].items():
        if name.count(".") == 3 and call.get("output") != sides[1].get(name, {}).get("output"):
            return name
    return None


def tf32(model):
    """Products of shorter numbers; those of recurrent layers are not recorded, and the steps that make them shorter would be."""
    if any(isinstance(m, nn.RNNBase) for m in model.modules()):
        raise LookupError("its products are not recorded")
    others.tf32(model)


class Config:
    """A configuration that is none."""


def built(cls):
    return lambda: (Config(), lambda cfg: cls())


record.REPLACED = record.REPLACED | {"otherwise": otherwise, "device": device, "tf32": tf32}
record.MODELS = {name: (built(cls), batch, None, None, None, None) for name, (cls, batch) in MODELS.items()}
known, record.fault = record.fault, fault
recorded, record.record = record.record, recording
where = ""
record.FAULTS = ["call " + k for k in SPOILT] + ["eps", "weight", "bias", "activation", "nan", "scale", "dropped bias", "channel", "gradient", "lower", "no gradient", "residual", "decay", "clipped", "lr"]
record.HARMLESS = ["same", "threads", "bf16", "otherwise", "device", "autocast", "foreach", "fused", "many steps", "gelu", "no dropout", "tf32", "channels_last"]
record.EACH = 3, 5

if __name__ == "__main__":
    record.main()
