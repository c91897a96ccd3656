#!/usr/bin/env python3
"""jobs.py OUT [--seed N] [--only TEXT]: pairs of recordings of distributed jobs, made by the real recorder with gloo.

As record.py, with several ranks: data parallel by hand and by DistributedDataParallel, tensor parallel by
hand (also as Megatron does it, with sequences cut, too) and by DTensor, a pipeline, FSDP2, and jobs of nothing but
collectives, of which one does other than it is told. The golden side of kinds that begin with one is a run of one process. answer.json of a fault has `rank`, the rank that is wrong
first, and `calls`, names of functions that count as its call; that of a wrong collective has "collective": true.
"""
import argparse
import contextlib
import functools
import json
import os
import random
import shutil
import tempfile
import time
import traceback

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from msprobe.pytorch import PrecisionDebugger

VOCAB, WIDTH = 64, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.act = nn.GELU()
        self.down = nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(depth))
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


class RowParallel(nn.Module):
    """The down projection of a block, split by its inputs over the ranks."""

    def __init__(self, linear, rank, world, state):
        super().__init__()
        self.weight = nn.Parameter(linear.weight.detach().chunk(world, 1)[rank].clone())
        self.bias = nn.Parameter(linear.bias.detach().clone())
        self.state = state

    def forward(self, x):
        y = F.linear(x, self.weight)
        y = reduce_forward(y, self.state)
        return y + self.bias


def reduce_forward(y, state):
    state["reductions"] += 1
    op = dist.ReduceOp.SUM
    if state["how"] == "max" and state["reductions"] == state["at"]:
        op = dist.ReduceOp.MAX
    z = y.detach().clone()
    if not (state["how"] == "lost" and state["reductions"] == state["at"] and state["rank"] == state["bad"]):
        dist.all_reduce(z, op=op)
    else:
        dist.all_reduce(z.clone())
    return y + (z - y).detach()


class ColumnParallel(nn.Module):
    def __init__(self, linear, rank, world):
        super().__init__()
        self.weight = nn.Parameter(linear.weight.detach().chunk(world, 0)[rank].clone())
        self.bias = nn.Parameter(linear.bias.detach().chunk(world, 0)[rank].clone())

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


def tensor_parallel(model, rank, world, state):
    for b in model.layers:
        b.up, b.down = ColumnParallel(b.up, rank, world), RowParallel(b.down, rank, world, state)
    return model


class Copied(torch.autograd.Function):
    """Megatron's f: forward as it is, gradients summed over the ranks."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.contiguous()
        dist.all_reduce(g)
        return g


class Reduced(torch.autograd.Function):
    """Megatron's g: summed over the ranks, gradients as they are."""

    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Gathered(torch.autograd.Function):
    """The parts of a sequence put together, their gradients summed and cut."""

    @staticmethod
    def forward(ctx, x):
        y = torch.empty((x.shape[0] * dist.get_world_size(), *x.shape[1:]), dtype=x.dtype)
        dist.all_gather_into_tensor(y, x.contiguous())
        return y

    @staticmethod
    def backward(ctx, g):
        y = torch.empty((g.shape[0] // dist.get_world_size(), *g.shape[1:]), dtype=g.dtype)
        dist.reduce_scatter_tensor(y, g.contiguous())
        return y


class Scattered(torch.autograd.Function):
    """Summed over the ranks and cut along the sequence."""

    @staticmethod
    def forward(ctx, x):
        y = torch.empty((x.shape[0] // dist.get_world_size(), *x.shape[1:]), dtype=x.dtype)
        dist.reduce_scatter_tensor(y, x.contiguous())
        return y

    @staticmethod
    def backward(ctx, g):
        y = torch.empty((g.shape[0] * dist.get_world_size(), *g.shape[1:]), dtype=g.dtype)
        dist.all_gather_into_tensor(y, g.contiguous())
        return y


class MegatronColumn(ColumnParallel):
    enter = Copied

    def forward(self, x):
        return F.linear(self.enter.apply(x), self.weight, self.bias)


class MegatronRow(RowParallel):
    leave = Reduced

    def forward(self, x):
        return self.leave.apply(F.linear(x, self.weight)) + self.bias


class SequenceColumn(MegatronColumn):
    enter = Gathered


class SequenceRow(MegatronRow):
    leave = Scattered


def megatron(model, rank, world, state, column, row):
    for b in model.layers:
        b.up, b.down = column(b.up, rank, world), row(b.down, rank, world, state)
    return model


class Exchanged(torch.autograd.Function):
    """Rows to other ranks, and their gradients back."""

    @staticmethod
    def forward(ctx, x, given, taken):
        ctx.splits = given, taken
        y = torch.empty(sum(taken), *x.shape[1:], dtype=x.dtype)
        dist.all_to_all_single(y, x.contiguous(), taken, given)
        return y

    @staticmethod
    def backward(ctx, g):
        given, taken = ctx.splits
        y = torch.empty(sum(given), *g.shape[1:], dtype=g.dtype)
        dist.all_to_all_single(y, g.contiguous(), given, taken)
        return y, None, None


class Experts(nn.Module):
    """A mixture of experts in place of the projections of a block, one expert a rank, each token to the one that scores most."""

    def __init__(self, rank, world, state):
        super().__init__()
        self.gate = nn.Linear(WIDTH, world, bias=False)
        experts = [nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)) for _ in range(world)]
        self.expert = experts[rank]
        self.rank, self.world, self.state = rank, world, state

    def forward(self, x):
        flat = x.reshape(-1, WIDTH)
        scores = torch.softmax(self.gate(flat), -1)
        weight, choice = scores.max(-1)
        if self.state["how"] == "route" and self.rank == self.state["bad"]:
            choice = (choice + 1) % self.world
        order = torch.argsort(choice, stable=True)
        given = torch.bincount(choice, minlength=self.world)
        taken = torch.empty_like(given)
        dist.all_to_all_single(taken, given)
        sent, got = given.tolist(), taken.tolist()
        rows = Exchanged.apply(flat[order], sent, got)
        rows = self.expert(rows)
        back = Exchanged.apply(rows, got, sent)
        y = torch.zeros_like(flat).index_copy(0, order, back)
        if self.state["how"] == "unweighted" and self.rank == self.state["bad"]:
            weight = weight / weight.detach()
        y = y * weight.unsqueeze(-1)
        return y.view_as(x)


class Sparse(nn.Module):
    def __init__(self, block, rank, world, state):
        super().__init__()
        self.norm, self.experts = block.norm, Experts(rank, world, state)

    def forward(self, x):
        return x + self.experts(self.norm(x))


# Collectives that do other than they are told: what is done, and on which rank.
WRONG = {
    "all_reduce": ["op", "lost", "scaled", "own", "bit", "group"], "reduce": ["lost", "op"], "all_gather": ["swapped", "bit", "own"],
    "all_gather_into_tensor": ["swapped", "own"], "reduce_scatter": ["swapped", "lost"], "reduce_scatter_tensor": ["scaled", "op", "swapped"],
    "all_to_all": ["swapped", "bit"], "all_to_all_single": ["swapped", "bit"], "broadcast": ["own", "bit"], "scatter": ["swapped"],
    "gather": ["swapped", "bit"], "recv": ["bit", "scaled"],
}


def flip(t):
    """Another bit in one element."""
    if t.numel():
        v = t.detach().view(-1)[t.numel() // 2:][:1].contiguous().view(torch.int32)
        v ^= 1 << 21
        t.detach().view(-1)[t.numel() // 2:][:1] = v.view(t.dtype)


def spoil(name, how, rank, bad, groups):
    """Makes the first call of a collective do something else; the recorder, which comes later, takes it for the real one."""
    real = getattr(dist, name)
    state = {"calls": 0}

    def outputs(args):
        first = args[0]
        return first if isinstance(first, list) else [first] if torch.is_tensor(first) else []

    @functools.wraps(real)  # the recorder asks for the signature: whether a call is asynchronous
    def wrong(*args, **kwargs):
        state["calls"] += 1
        if state["calls"] != 1:
            return real(*args, **kwargs)
        args = list(args)
        if how == "op":
            kwargs["op"] = dist.ReduceOp.MAX
        if how == "group":
            kwargs["group"] = groups["all"]
        if how == "lost" and rank == bad:
            at = 1 if name.startswith("reduce_scatter") else 0
            if at:
                args[at] = [torch.zeros_like(t) for t in args[at]] if isinstance(args[at], list) else torch.zeros_like(args[at])
            else:
                args[0].zero_()
        if how == "swapped" and name in ("reduce_scatter", "scatter", "all_to_all") and len(args) > 1 and isinstance(args[1], list):
            args[1] = args[1][1:] + args[1][:1]
        if how == "swapped" and name == "reduce_scatter_tensor":
            args[1] = torch.cat(list(args[1].chunk(dist.get_world_size()))[1:] + [args[1].chunk(dist.get_world_size())[0]])
        before = [t.clone() for t in outputs(args)] if name != "gather" else []
        work = real(*args, **kwargs)
        if hasattr(work, "wait"):
            work.wait()
        if rank == bad or how == "swapped" and name == "gather":
            out = args[1] if name == "gather" and len(args) > 1 and args[1] else outputs(args)
            if how == "own":
                if name == "all_gather":
                    for t in out:
                        t.copy_(args[1])
                elif name == "all_gather_into_tensor":
                    out[0].copy_(torch.cat([args[1]] * dist.get_world_size()))
                else:
                    for t, b in zip(out, before):
                        t.copy_(b)
            if how == "scaled":
                for t in out:
                    t.mul_(0.5)
            if how == "bit" and out:
                flip(out[-1])
            if how == "swapped" and name in ("all_gather", "gather") and isinstance(out, list) and len(out) > 1 and torch.is_tensor(out[0]):
                first = out[0].clone()
                out[0].copy_(out[1])
                out[1].copy_(first)
            if how == "swapped" and name in ("all_gather_into_tensor", "all_to_all_single"):
                n = out[0].shape[0] // 2
                out[0].copy_(torch.cat([out[0][n:], out[0][:n]]))
        return work

    setattr(dist, name, wrong)
    setattr(dist.distributed_c10d, name, wrong)


def exchange(rank, world, groups, x):
    """Every collective once, on numbers of the rank's own."""
    def own(*shape):
        return torch.randn(*shape, generator=x)
    t = own(6, 4)
    dist.all_reduce(t, op=dist.ReduceOp.SUM, group=groups["own"])
    a = own(5)
    dist.all_reduce(a, dist.ReduceOp.MAX)
    b = own(4, 4)
    work = dist.all_reduce(b, async_op=True)
    work.wait()
    d = own(7)
    dist.reduce(d, 0)
    parts = [torch.empty(3, 2) for _ in range(world)]
    dist.all_gather(parts, own(3, 2))
    into = torch.empty(world * 2, 3)
    dist.all_gather_into_tensor(into, own(2, 3))
    piece = torch.empty(4)
    dist.reduce_scatter(piece, [own(4) for _ in range(world)])
    whole = torch.empty(2, 3)
    dist.reduce_scatter_tensor(whole, own(2 * world, 3))
    got = [torch.empty(3) for _ in range(world)]
    dist.all_to_all(got, [own(3) for _ in range(world)])
    even = torch.empty(world * 2, 3)
    dist.all_to_all_single(even, own(world * 2, 3))
    mine = [(rank + r) % 2 + 1 for r in range(world)]
    uneven = torch.empty(sum(mine), 3)
    dist.all_to_all_single(uneven, own(sum(mine), 3), mine, mine)
    c = own(6)
    dist.broadcast(c, world - 1)
    s = torch.empty(5)
    dist.scatter(s, [own(5) for _ in range(world)] if rank == 0 else None, 0)
    dist.gather(own(4), [torch.empty(4) for _ in range(world)] if rank == 1 else None, 1)
    if rank % 2 == 0:
        dist.send(own(8), rank + 1)
        r = torch.empty(9)
        dist.irecv(r, rank + 1).wait()
    else:
        r = torch.empty(8)
        dist.recv(r, rank - 1)
        dist.isend(own(9), rank - 1).wait()
    dist.barrier()
    return t + F.gelu(t)


def collectives(rank, world, out, seed, level, task, how, steps, bad):
    groups = {"all": None, "own": None}
    if world == 4:
        pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        groups["own"] = pairs[rank // 2]
    if how and " " in how:
        name, way = how.split(" ")
        spoil(name, way, rank, bad, groups)
    debugger, config = debug(rank, out, level, task)
    for step in range(steps):
        debugger.start()
        exchange(rank, world, groups, torch.Generator().manual_seed(seed * 100 + step * 10 + rank))
        debugger.stop()
        debugger.step()
        dist.barrier()
    os.remove(config)
    dist.barrier()


GIVEN = {}  # a configuration in place of that of the level and task


def debug(rank, out, level, task):
    kindly = "tensor" if task == "tensor" else "statistics"
    t = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": task if task in ("statistics", "md5") else "statistics"}
    config = os.path.join(out, f"config{rank}.json")
    with open(config, "w") as f:
        json.dump(dict(GIVEN, dump_path=out) if GIVEN else {"task": kindly, "dump_path": out, "rank": [], "step": [], "level": level, kindly: t}, f)
    return PrecisionDebugger(config_path=config), config


def batched(op, tensor, peer):
    for handle in dist.batch_isend_irecv([dist.P2POp(op, tensor, peer)]):
        handle.wait()


def work(rank, world, out, store, seed, level, task, kind, how, steps):
    depth = 4 if kind.endswith("pipeline") or kind in ("batched", "interleaved") else 2
    alone = kind.startswith("one") and how is None
    kind = "" if alone else kind.removeprefix("one")
    if not alone:
        dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world)
    torch.manual_seed(seed)
    torch.set_num_threads(2 if how == "threads" else 1)
    rng = np.random.default_rng(seed)
    bad = int(rng.integers(world))
    if kind == "coll":
        if how and how.startswith("recv"):
            bad = bad // 2 * 2 + 1
        if how and how.startswith(("reduce ", "gather")):
            bad = {"reduce": bad if "lost" in how else 0, "gather": 1}[how.split(" ")[0]]
        if how == "broadcast own" or how == "broadcast bit":
            bad = min(bad, world - 2)
        collectives(rank, world, out, seed, level, task, how, steps, bad)
        return bad
    state = {"how": how, "rank": rank, "bad": bad, "at": int(rng.integers(1, 3)), "reductions": 0}
    model = Net(depth)
    for p in model.parameters():
        if p.dim() == 1:
            p.data.add_(torch.randn(p.shape) * 0.1)
    data = [torch.tensor(rng.integers(0, VOCAB, (world, 2, 8))) for _ in range(steps)]
    wrong = rank == bad
    parallel = model
    if kind == "tp":
        parallel = tensor_parallel(model, rank, world, state)
    elif kind == "dtensor":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        mesh = init_device_mesh("cpu", (world,))
        for b in model.layers:
            parallelize_module(b, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    elif kind == "moe":
        model.layers = nn.ModuleList(Sparse(b, rank, world, state) for b in model.layers)
    elif kind == "megatron":
        parallel = megatron(model, rank, world, state, MegatronColumn, MegatronRow)
    elif kind == "sequence":
        parallel = megatron(model, rank, world, state, SequenceColumn, SequenceRow)
    elif kind == "ddp":
        parallel = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.005 if how == "buckets" else 25)
    elif kind == "fsdp":
        from torch.distributed.fsdp import fully_shard
        from torch.distributed.device_mesh import init_device_mesh
        mesh = init_device_mesh("cpu", (world,))
        for b in model.layers:
            fully_shard(b, mesh=mesh)
        fully_shard(model, mesh=mesh)
    # What is wrong is put where the rank computes, behind what brings ranks to the same weights.
    half = len(model.layers) // 2
    block = list(model.layers)[(rank * half if kind in ("pipeline", "batched") else 0) + 1]
    if kind == "interleaved":
        block = list(model.layers)[rank + world]
    if how == "weight" and wrong:
        with torch.no_grad():
            weight = block.experts.expert[0].weight if kind == "moe" else block.up.weight
            weight = weight.to_local() if hasattr(weight, "to_local") else weight
            weight.view(-1)[7] += 0.5
    if how == "eps" and wrong:
        block.norm.eps = 0.05
    if how == "activation" and wrong:
        block.act = nn.Tanh()
    if how == "nan" and wrong:
        forward = block.down.forward
        block.down.forward = lambda x: forward(x) * torch.where(torch.arange(WIDTH) == 3, float("nan"), 1.0)
    debugger, config = debug(rank, out, level, task)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.12 if how == "lr" and wrong else 0.1)
    send, recv = (dist.send, dist.recv) if kind == "pipeline" else (lambda t, to: batched(dist.isend, t, to), lambda t, of: batched(dist.irecv, t, of))
    for step in range(steps):
        ids = data[step][rank if kind in ("dp", "async", "uneven", "moe", "ddp", "fsdp") else 0]
        if kind == "uneven":
            ids = ids[:1 + rank % 2]
        if how == "late" and rank:
            time.sleep(0.1 * rank)
        if how == "same batch" and wrong:
            ids = data[step][(rank + 1) % world]
        debugger.start(model=model)
        if kind in ("pipeline", "batched"):
            x = model.embed(ids) if rank == 0 else torch.zeros(2, 8, WIDTH)
            if rank == 0:
                for layer in list(model.layers)[:half]:
                    x = layer(x)
                send(x.detach(), 1)
                g = torch.zeros_like(x)
                recv(g, 1)
                x.backward(g)
            else:
                recv(x, 0)
                x.requires_grad_(True)
                y = x
                for layer in list(model.layers)[half:]:
                    y = layer(y)
                loss = F.cross_entropy(model.head(y).view(-1, VOCAB), ids.view(-1))
                loss.backward()
                send(x.grad, 0)
        elif kind == "interleaved":
            interleaved(model, ids, rank, world)
        else:
            whole = ids
            if kind == "sequence":
                x = model.embed(ids).transpose(0, 1).chunk(world)[rank]
                for layer in model.layers:
                    x = layer(x)
                whole = ids.transpose(0, 1).chunk(world)[rank]
                loss = F.cross_entropy(model.head(x).reshape(-1, VOCAB), whole.reshape(-1))
                loss.backward()
                for p in [*model.embed.parameters(), *model.head.parameters()]:
                    dist.all_reduce(p.grad)
            else:
                loss = F.cross_entropy(parallel(ids).view(-1, VOCAB), ids.view(-1))
                loss.backward()
            if how == "twice" and wrong:
                F.cross_entropy(parallel(ids).view(-1, VOCAB), ids.view(-1)).backward()
        if kind == "moe":
            for n, p in enumerate(p for name, p in model.named_parameters() if ".expert." not in name):
                dist.all_reduce(p.grad, op=dist.ReduceOp.MAX if how == "max" and n == 3 else dist.ReduceOp.SUM)
        if kind == "async":
            handles = []
            for n, p in enumerate(model.parameters()):
                op = dist.ReduceOp.MAX if how == "max" and n == 3 else dist.ReduceOp.SUM
                g = p.grad.clone() if how == "lost" and wrong and n == 3 else p.grad
                handles.append(dist.all_reduce(g, op=op, async_op=True))
            for n, (handle, p) in enumerate(zip(handles, model.parameters())):
                handle.wait()
                if not (how == "no div" and wrong and n == 3):
                    p.grad.div_(world)
        if kind in ("dp", "uneven"):
            for n, p in enumerate(model.parameters()):
                op = dist.ReduceOp.MAX if how == "max" and n == 3 else dist.ReduceOp.SUM
                if how == "lost" and wrong and n == 3:
                    dist.all_reduce(p.grad.clone(), op=op)
                else:
                    dist.all_reduce(p.grad, op=op)
                if not (how == "no div" and wrong and n == 3):
                    p.grad.div_(world)
            if how == "scaled" and wrong:
                list(model.layers)[1].up.weight.grad.mul_(2)
        if not (how == "no step" and wrong):
            optimizer.step()
        optimizer.zero_grad()
        debugger.stop()
        debugger.step()
        if not alone:
            dist.barrier()
    os.remove(config)
    if not alone:
        dist.barrier()
    return bad


def interleaved(model, ids, rank, world):
    """A step of a pipeline of as many stages as layers, of which each rank has every world-th."""
    layers, x, made = list(model.layers), None, []
    for n, layer in enumerate(layers):
        if n % world != rank:
            continue
        if n == 0:
            came = model.embed(ids)
        else:
            came = torch.empty(2, 8, WIDTH)
            dist.recv(came, (rank - 1) % world)
            came.requires_grad_(True)
        x = layer(came)
        made.append((n, came, x))
        if n + 1 < len(layers):
            dist.send(x.detach(), (rank + 1) % world)
    for n, came, x in reversed(made):
        if n + 1 == len(layers):
            F.cross_entropy(model.head(x).view(-1, VOCAB), ids.view(-1)).backward()
        else:
            g = torch.empty_like(x)
            dist.recv(g, (rank + 1) % world)
            x.backward(g)
        if n > 0:
            dist.send(came.grad, (rank - 1) % world)


FAULTS = {
    "weight": ["linear"], "eps": ["layer_norm", "LayerNorm"], "activation": ["tanh", "gelu", "Tanh", "GELU"], "nan": ["mul", "__mul__", "where", "down"],
    "max": ["all_reduce"], "lost": ["all_reduce", "clone", "div_"], "scaled": ["mul_"], "no step": ["step", "sgd", "add_"], "same batch": ["embedding"],
    "route": ["__add__", "__mod__", "add", "remainder", "max"], "unweighted": ["__truediv__", "div"], "lr": ["add_"], "no div": ["div_"], "twice": ["embedding", "layer_norm", "linear", "cross_entropy"],
}
OF = {"dp": ["weight", "eps", "activation", "nan", "max", "lost", "scaled", "same batch", "no step", "lr", "no div", "twice"], "tp": ["weight", "eps", "activation", "max", "lost"],
      "ddp": ["weight", "eps", "activation", "nan", "same batch", "no step"], "dtensor": ["weight", "eps", "activation"], "pipeline": ["weight", "eps", "activation", "nan", "lr"],
      "fsdp": ["weight", "eps", "activation"], "megatron": ["weight", "eps", "activation", "nan", "lr"], "sequence": ["weight", "eps", "activation"],
      "coll": [name + " " + way for name in WRONG for way in WRONG[name]],
      "onepipeline": ["weight", "eps", "activation"], "onedtensor": ["weight", "eps", "activation"], "onemegatron": ["weight", "eps", "activation"],
      "batched": ["weight", "eps", "activation", "nan"],
      "async": ["weight", "eps", "max", "lost", "no div", "lr", "no step"], "moe": ["weight", "eps", "route", "unweighted", "max", "lr"],
      "interleaved": ["weight", "eps", "activation", "nan"], "uneven": ["weight", "lost", "no div"]}
HARMLESS = {"ddp": ["same", "threads", "buckets"], "coll": ["same"], "async": ["same", "late"], "interleaved": ["same", "late"]}


def job(out, world, *args):
    """Runs work in world processes; its answer, or what went wrong."""
    os.makedirs(out, exist_ok=True)
    store = tempfile.mktemp()
    pids = []
    r, w = os.pipe()
    *_, kind, how, _ = args
    for rank in range(1 if kind.startswith("one") and how is None else world):
        pid = os.fork()
        if pid == 0:
            code = 0
            try:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                if not os.environ.get("VERBOSE"):
                    os.dup2(null, 2)
                bad = work(rank, world, out, store, *args)
                if rank == 0:
                    os.write(w, json.dumps({"rank": bad}).encode())
            except BaseException as e:
                if os.environ.get("VERBOSE"):
                    traceback.print_exc()
                os.write(w, json.dumps({"error": repr(e)}).encode())
                code = 1
            os._exit(code)
        pids.append(pid)
    os.close(w)
    failed = False
    for pid in pids:
        failed |= os.waitpid(pid, 0)[1] != 0
    with os.fdopen(r) as f:
        text = f.read()
    with contextlib.suppress(FileNotFoundError):
        os.remove(store)
    return {"error": text[:200]} if failed or not text else json.loads(text)


def again(o, world, *args):
    """Records a pair again with the configurations that the program wrote: its golden side, its left one, and the left one on inputs of the golden one."""
    *args, how = args
    for side, file, what in (("golden", "config_golden.json", None), ("left", "config.json", how), ("load", "config_load.json", how)):
        path = os.path.join(o.again, file)
        if not os.path.exists(path):
            continue
        GIVEN.clear()
        with open(path) as f:
            GIVEN.update(json.load(f))
        if "load" in GIVEN:
            GIVEN["load"]["path"] = os.path.join(o.out, "golden")
        answer = job(os.path.join(o.out, side), world, *args, what, 2)
        print(side, answer.get("error", "recorded"), flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--again", default="", help="of the pair whose name is that of --only: record with the configurations in this folder")
    p.add_argument("--list", action="store_true", help="say which there would be")
    p.add_argument("--sample", type=int, help="as many, drawn at random by the seed")
    o = p.parse_args()
    rng = random.Random(o.seed)
    plans = []
    for n, kind in enumerate(OF):
        for k, (what, how) in enumerate([("harmless", h) for h in HARMLESS.get(kind, ["same", "threads"])] + [("fault", f) for f in OF[kind]]):
            world = 4 if kind not in ("pipeline", "tp", "dtensor", "onepipeline", "onedtensor", "onemegatron", "batched", "interleaved") and rng.random() < 0.3 or kind == "coll" and "group" in how else 2
            level, task = rng.choice([("L1", "statistics"), ("mix", "statistics"), ("mix", "tensor"), ("L1", "tensor"), ("mix", "md5")])
            if kind == "coll":
                level = "L1"  # there is no module
            if kind == "coll" and task != "tensor" and any(w in how for w in ("bit", "group")):
                task = "tensor"  # statistics of all ranks cannot tell these as a rule
            label = f"{kind}{world}-{level}-{task}-{how.replace(' ', '_')}"
            if o.only not in label:
                continue
            plans.append((label, world, (o.seed * 1000 + 40 * n + k, level, task, kind), what, how))
    if o.sample:
        plans = random.Random(o.seed).sample(plans, o.sample)
    for label, world, args, what, how in plans:
        _, level, task, kind = args
        if o.again:
            again(o, world, *args, how)
            return
        out = os.path.join(o.out, label)
        if o.list:
            print(label)
            continue
        shutil.rmtree(out, ignore_errors=True)
        golden = job(os.path.join(out, "golden"), world, *args, None, 2)
        left = job(os.path.join(out, "left"), world, *args, how, 2)
        bad = [a["error"] for a in (golden, left) if "error" in a]
        if bad:
            print(label, "not made:", bad[0], flush=True)
            shutil.rmtree(out, ignore_errors=True)
            continue
        with open(os.path.join(out, "answer.json"), "w") as f:
            json.dump({"model": kind, "level": level, "task": task, "dtype": "fp32", "kind": f"{what}: {how}", "job": True,
                       "rank": left["rank"], "collective": kind == "coll" and what == "fault", "calls": how.split(" ")[:1] if kind == "coll" else FAULTS.get(how, [])}, f, indent=1)
        print(label, flush=True)


if __name__ == "__main__":
    main()
