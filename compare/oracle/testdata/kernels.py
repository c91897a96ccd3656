#!/usr/bin/env python3
"""Prints the cases of fused kernels in cases.txt: their definitions in numpy, with the roundings of the open kernels.

    python3 testdata/kernels.py >> testdata/cases.txt

With -recording DIR they become a recording of msprobe, for precision check; -seed N gives other numbers, and -fault changes one
element of each result. The names of what was changed are printed.
"""
import argparse
import json
import math
import os

import numpy as np

options = argparse.ArgumentParser()
options.add_argument("-recording")
options.add_argument("-seed", type=int, default=29)
options.add_argument("-fault", action="store_true")
options = options.parse_args()
f4 = np.float32
rng = np.random.default_rng(options.seed)


class bfloat16(np.ndarray):
    """Numbers of bfloat16, kept as float32."""


def bf(x):
    """Rounded to bfloat16, ties to even."""
    bits = np.ascontiguousarray(x, f4).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).view(f4).view(bfloat16)


class float8_e4m3fn(np.ndarray):
    """Numbers of eight bits, kept as float32."""


def f8(x):
    """Rounded to float8_e4m3fn, ties to even, the largest at most."""
    x = np.clip(np.asarray(x, float), -448, 448)
    step = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(x), 2.0 ** -6))) - 3)
    return (np.rint(x / step) * step).astype(f4).view(float8_e4m3fn)


def name_of(v):
    return type(v).__name__ if isinstance(v, (bfloat16, float8_e4m3fn)) else v.dtype.name


def text(v):
    if v is None:
        return "None"
    if isinstance(v, list):
        return "[" + ", ".join(text(x) for x in v) + "]"
    if isinstance(v, str):
        return '"%s"' % v
    if isinstance(v, np.ndarray):
        return "%s[%s]{%s}" % (name_of(v), ",".join(map(str, v.shape)), " ".join("%.9g" % x if v.dtype.kind == "f" else str(int(x)) for x in v.ravel()))
    return repr(v)


calls, counts = {}, {}


def leaf(v, place):
    """A value as msprobe records it, its file written."""
    if isinstance(v, (list, tuple)):
        return [leaf(x, "%s.%d" % (place, i)) for i, x in enumerate(v)]
    if v is None:
        return None
    if not isinstance(v, np.ndarray):
        return {"type": type(v).__name__, "value": v}
    np.save(os.path.join(options.recording, "dump_tensor_data", place + ".npy"), np.asarray(v))
    return {"type": "torch.Tensor", "dtype": "torch." + name_of(v), "shape": list(v.shape), "Max": None, "Min": None, "Mean": None, "Norm": None, "data_name": place + ".npy"}


def spoil(v, call, place):
    """One element changed: of whole numbers by two, of others by a fiftieth of the largest."""
    if isinstance(v, list):
        return [spoil(x, call, "%s.%d" % (place, i)) for i, x in enumerate(v)]
    if not isinstance(v, np.ndarray) or v.size == 0:
        return v
    w = v.copy()
    at = rng.integers(v.size)
    if v.dtype.kind == "f":
        w.flat[at] += max(np.abs(v[np.isfinite(v)]).max(initial=0) / 50, 1e-3) if np.isfinite(w.flat[at]) else 0
    else:
        w.flat[at] = int(w.flat[at]) + (2 if w.flat[at] < 100 else -2)
    if isinstance(v, bfloat16):
        w = bf(w)
    if (w != v).any():
        print(call, place)
    return w


def case(name, args, kwargs, *outputs, after=None, back=None):
    """A call with what it returns; after is the call that reads what it wrote, (name, arguments by name), and back (gradients of the
    results, gradients of the arguments)."""
    if options.recording and any(isinstance(x, float8_e4m3fn) for x in list(args) + list(outputs) + list(kwargs.values())):
        return  # no array of numpy holds them
    if options.recording:
        n = counts[name] = counts.get(name, -1) + 1
        key = "%s.%d.forward" % (name if "." in name else "NPU." + name, n)
        os.makedirs(os.path.join(options.recording, "dump_tensor_data"), exist_ok=True)
        if options.fault and not after:
            outputs = [spoil(o, key, i) for i, o in enumerate(outputs)]
        calls[key] = {"input_args": [leaf(a, "%s.input.%d" % (key, i)) for i, a in enumerate(args)], "input_kwargs": {k: leaf(v, key + ".kwargs." + k) for k, v in kwargs.items()},
                      "output": [leaf(o, "%s.output.%d" % (key, i)) for i, o in enumerate(outputs)] or [None]}
        if back:
            key = key.replace("forward", "backward")
            made = [spoil(o, key, i) for i, o in enumerate(back[1])] if options.fault else back[1]
            calls[key] = {"input": [leaf(o, "%s.input.%d" % (key, i)) for i, o in enumerate(back[0])], "output": [leaf(o, "%s.output.%d" % (key, i)) for i, o in enumerate(made)]}
        if after:
            reader, wrote = after
            case(reader, [], {k: spoil(v, key, k) if options.fault else v for k, v in wrote.items()})
        return
    line(name, args, kwargs, outputs or [None], " : %s = %s" % tuple(", ".join(map(text, side)) for side in back) if back else "")
    for v in after[1].values() if after else []:
        line("Torch.clone", [v], {}, [v])


def line(name, args, kwargs, outputs, back=""):
    arguments = [text(a) for a in args] + ["%s=%s" % (k, text(v)) for k, v in kwargs.items()]
    name = name if "." in name else "NPU." + name
    print("%s(%s) = %s%s" % (name, ", ".join(arguments), ", ".join(text(o) for o in outputs), back))


def pull(f, at, g, of=None):
    """The gradients of Σ f(*at)·g for some of the arguments, all if of is None, by differences of numbers of float64."""
    at, found = [np.array(x, float) for x in at], []
    for i in range(len(at)) if of is None else of:
        d = np.zeros(at[i].shape)
        for place in np.ndindex(d.shape):
            was, sums = at[i][place], []
            for step in (1, -1, 2, -2):
                at[i][place] = was + step * 1e-3
                sums.append((f(*at) * np.asarray(g, float)).sum())
            at[i][place] = was
            d[place] = (8 * (sums[0] - sums[1]) - (sums[2] - sums[3])) / 12e-3
        found.append(d)
    return found


def normal(*shape, dtype=f4):
    return rng.standard_normal(shape).astype(dtype)


def bytes_(*shape):
    return rng.integers(-128, 128, shape).astype(np.int8)


def steps(x):
    most = np.abs(x).max(-1, keepdims=True)
    return np.rint(x * (f4(127) / most)).clip(-128, 127).astype(np.int8), (most * f4(1 / 127))[..., 0]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def turn(x, cos, sin):
    a, b = np.split(x, 2, -1)
    return x * cos + np.concatenate([-b, a], -1) * sin


print("# Fused kernels: numpy (kernels.py)")
x, s = normal(3, 8), np.abs(normal(8)) + f4(.5)
case("npu_dynamic_quant", [x], {}, *steps(x))
case("npu_dynamic_quant", [x], {"smooth_scales": s}, *steps(x * s))
z = rng.integers(-5, 5, 8).astype(f4)
case("npu_quantize", [x * 20, s, z], {"axis": 1, "div_mode": True}, np.rint(x * 20 / s + z).clip(-128, 127).astype(np.int8))
case("npu_quantize", [x * 20, s, None], {"axis": -1, "div_mode": False}, np.rint(x * 20 * s).clip(-128, 127).astype(np.int8))
a, b, scale, token = bytes_(3, 16), bytes_(16, 4), np.abs(normal(4)) / 100, np.abs(normal(3)) / 100
whole = a.astype(np.int64) @ b.astype(np.int64)
bias = rng.integers(-900, 900, 4).astype(np.int32)
case("npu_quant_matmul", [a, b, scale], {"pertoken_scale": token}, (whole * scale.astype(float) * token[:, None]).astype(np.float16))
case("npu_quant_matmul", [a, b, scale], {"bias": bias}, ((whole + bias) * scale.astype(float)).astype(np.float16))
p, q = normal(2, 3, 5), normal(2, 5, 4)
case("npu_bmmV2", [p, q, []], {}, p @ q)
case("npu_transpose_batchmatmul", [p.swapaxes(0, 1).copy(), q], {"perm_x1": [1, 0, 2], "perm_y": [1, 0, 2]}, (p @ q).swapaxes(0, 1).copy())
x, w = normal(6, 5), normal(3, 5, 4)
y = np.zeros((6, 4), f4)
for e, (lo, hi) in enumerate([(0, 2), (2, 2), (2, 6)]):
    y[lo:hi] = x[lo:hi] @ w[e]
case("npu_grouped_matmul", [[x], [w]], {"group_list": np.array([2, 2, 6]), "split_item": 2, "group_type": 0}, [y])
case("npu_grouped_matmul", [[x], [w]], {"group_list": np.array([2, 0, 4]), "split_item": 2, "group_type": 0, "group_list_type": 1}, [y])
a, b, scale, token = bytes_(5, 8), bytes_(2, 8, 4), np.abs(normal(2, 4)) / 50, np.abs(normal(5)) / 50
y = np.concatenate([a[:2].astype(float) @ b[0] * scale[0], a[2:].astype(float) @ b[1] * scale[1]]) * token[:, None]
case("npu_grouped_matmul", [[a], [b]], {"scale": [scale], "per_token_scale": [token], "group_list": np.array([2, 5]), "split_item": 2, "group_type": 0}, [y.astype(np.float16)])
x, idx = normal(4, 3), np.array([[1, 0], [0, 2], [2, 1], [0, 1]], np.int32)
order = np.argsort(idx.ravel(), kind="stable")
case("npu_moe_token_permute", [x, idx], {}, x[order // 2], np.argsort(order).astype(np.int32))
case("npu_moe_token_permute", [x, idx], {"num_out_tokens": 5}, x[order // 2][:5], np.argsort(order).astype(np.int32))
rows, back, probs = normal(8, 3), np.argsort(order).astype(np.int32), np.abs(normal(4, 2))
case("npu_moe_token_unpermute", [rows, back], {"probs": probs}, (rows[back].reshape(4, 2, 3) * probs[..., None]).sum(1))
case("npu_moe_token_unpermute", [rows, back], {}, rows[back])
x = normal(3, 6)
p = softmax(x)
top = np.argsort(-p, -1, kind="stable")[:, :2].astype(np.int32)
case("npu_moe_gating_top_k_softmax", [x], {"k": 2}, np.take_along_axis(p, top, 1), top, (np.arange(3)[:, None] + 3 * np.arange(2)).astype(np.int32))
p, bias = sigmoid(x), normal(6)
top = np.argsort(-(p + bias), -1, kind="stable")[:, :2].astype(np.int32)
y = np.take_along_axis(p, top, 1)
case("npu_moe_gating_top_k", [x, 2], {"bias": bias, "norm_type": 1, "routed_scaling_factor": 2.5}, y / y.sum(1, keepdims=True) * f4(2.5), top, p)
a, b, g = normal(2, 8), normal(2, 8), normal(8)
n = (a + b) / np.sqrt(((a + b) ** 2).mean(-1, keepdims=True) + f4(1e-6)) * g
case("npu_add_rms_norm_dynamic_quant", [a, b, g], {}, steps(n)[0], None, a + b, steps(n)[1])
case("npu_add_rms_norm_quant", [a, b, g, s, z], {}, np.rint(n / s + z).clip(-128, 127).astype(np.int8), None, a + b)
x, cos, sin = normal(2, 3, 1, 8), normal(2, 1, 1, 8), normal(2, 1, 1, 8)
case("npu_interleave_rope", [x, cos, sin], {}, turn(np.concatenate([x[..., ::2], x[..., 1::2]], -1), cos, sin))
k = normal(2, 3, 2, 8)
case("npu_apply_rotary_pos_emb", [x, k, cos, sin], {}, turn(x, cos, sin), turn(k, cos, sin))
lse, out = [normal(5), normal(5), normal(5)], [normal(5, 4), normal(5, 4), normal(5, 4)]
most = np.log(sum(np.exp(l) for l in lse))
case("npu_attention_update", [lse, out, 0], {}, sum(np.exp(l - most)[:, None] * o for l, o in zip(lse, out)), most)
x = normal(3, 8) * 5
gate, up = x[:, ::2].clip(None, 7), x[:, 1::2].clip(-7, 7)
case("npu_clipped_swiglu", [x], {}, gate * sigmoid(f4(1.702) * gate) * (up + 1))
q, k, v = normal(1, 4, 3, 8), normal(1, 2, 5, 8), normal(1, 2, 5, 8)
y = softmax(q @ k.repeat(2, 1).swapaxes(2, 3) * f4(.35)) @ v.repeat(2, 1)
heads = {"num_heads": 4, "num_key_value_heads": 2, "input_layout": "BNSD"}
case("npu_prompt_flash_attention", [q, k, v], {**heads, "scale_value": .35}, y)
case("npu_fused_infer_attention_score", [q, k, v], {**heads, "scale": .35}, y)
flat = lambda x: x.swapaxes(1, 2).reshape(1, x.shape[2], -1)
case("npu_fused_infer_attention_score", [flat(q), flat(k), flat(v)], {"num_heads": 4, "num_key_value_heads": 2, "scale": .35}, flat(y))

# Attention over pages, packed sequences and modes
def attend(q, k, v, scale, seen, sink=None, to=lambda x: x):
    """Heads first: (N, L, D), (Nkv, S, D); seen says which keys a row looks at. P is rounded before the product."""
    per = q.shape[0] // k.shape[0]
    q, k, v = (np.asarray(x, float) for x in (q, k.repeat(per, 0), v.repeat(per, 0)))
    s = np.where(seen, q @ k.swapaxes(1, 2) * scale, -np.inf)
    most = s.max(-1, keepdims=True)
    if sink is not None:
        most = np.maximum(most, sink[:, None, None])
    p = np.exp(s - most)
    total = p.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink[:, None, None] - most))
    return np.asarray(to(to(p) @ v / total), f4), most[..., 0], total[..., 0]


def right_down(l, s):
    return np.arange(s) <= np.arange(l)[:, None] + s - l


heads, few, d, size = 4, 2, 8, 4
for kind in (lambda x: x.astype(f4), bf, lambda x: x.astype(np.float16)) if options.recording else (bf,):
    to = (lambda x: np.asarray(kind(x.astype(f4)), f4).astype(float))
    lens, tokens = [3, 1], [6, 5]
    cache = [kind(normal(5, size, few, d)) for _ in range(2)]
    table = np.array([[4, 2], [0, 3]], np.int32)
    q = kind(normal(sum(lens), heads, d))
    rows, parts, logs = 0, [], []
    for b, (l, n) in enumerate(zip(lens, tokens)):
        keys = [c[table[b]].reshape(-1, few, d)[:n].swapaxes(0, 1) for c in cache]
        y, most, total = attend(q[rows:rows + l].swapaxes(0, 1), *keys, .3, right_down(l, n), to=to)
        parts.append(y.swapaxes(0, 1))
        logs.append((most + np.log(total)).T)
        rows += l
    mask = np.triu(np.ones((6, 6), bool), 1)
    lists = {"actual_seq_lengths": list(np.cumsum(lens).tolist()), "actual_seq_lengths_kv": tokens, "block_table": table}
    flat_cache = [c.reshape(5, size, -1) for c in cache]
    kind_of = {"num_heads": heads, "num_key_value_heads": few, "input_layout": "TND", "scale": .3, "sparse_mode": 3, "atten_mask": mask, "block_size": size}
    y, lse = kind(np.concatenate(parts)), np.concatenate(logs).astype(f4)[..., None]
    case("npu_fused_infer_attention_score", [q] + flat_cache, {**kind_of, **lists, "softmax_lse_flag": True}, y, lse)
    renamed = {"num_heads": "num_query_heads", "scale": "softmax_scale", "actual_seq_lengths": "actual_seq_qlen", "actual_seq_lengths_kv": "actual_seq_kvlen"}
    case("npu_fused_infer_attention_score_v2", [q] + flat_cache, {renamed.get(n, n): v for n, v in {**kind_of, **lists}.items()}, y, np.zeros(1, f4))
    # without pages, and the training kernel
    k, v = (kind(normal(sum(tokens), few, d)) for _ in range(2))
    rows, at, parts, most, total = 0, 0, [], [], []
    for l, n in zip(lens, tokens):
        a, b, c = attend(q[rows:rows + l].swapaxes(0, 1), k[at:at + n].swapaxes(0, 1), v[at:at + n].swapaxes(0, 1), .3, right_down(l, n), to=to)
        parts.append(a.swapaxes(0, 1))
        most.append(b.T)
        total.append(c.T)
        rows, at = rows + l, at + n
    y = kind(np.concatenate(parts))
    eight = lambda x: np.concatenate(x).astype(f4)[..., None].repeat(8, -1)
    case("npu_fusion_attention", [q, k, v, heads, "TND"], {"scale": .3, "sparse_mode": 3, "atten_mask": mask, "softmax_layout": "TND",
                                                         "actual_seq_qlen": np.cumsum(lens).tolist(), "actual_seq_kvlen": np.cumsum(tokens).tolist()}, y, eight(most), eight(total))
    # one token of each sequence
    q = kind(normal(2, heads, d))
    parts = [attend(q[b][:, None], *[c[table[b]].reshape(-1, few, d)[:n].swapaxes(0, 1) for c in cache], .3, True, to=to)[0][:, 0] for b, n in enumerate(tokens)]
    y = kind(np.stack(parts))
    case("_npu_paged_attention", [], {"query": q, "key_cache": cache[0], "value_cache": cache[1], "num_kv_heads": few, "num_heads": heads, "scale_value": .3, "block_table": table,
                                      "context_lens": np.array(tokens, np.int32), "out": kind(np.zeros((2, heads, d), f4))}, after=("npu_reader", {"out": y}))
    case("npu_incre_flash_attention", [q.reshape(2, 1, -1)] + flat_cache, {"num_heads": heads, "num_key_value_heads": few, "input_layout": "BSH", "scale_value": .3,
                                                                           "actual_seq_lengths": tokens, "block_table": table, "block_size": size, "inner_precise": 0}, y.reshape(2, 1, -1))
    # a sink, and a band
    q, k, v, sink = kind(normal(1, heads, 5, d)), kind(normal(1, few, 6, d)), kind(normal(1, few, 6, d)), normal(heads)
    y, most, total = attend(q[0], k[0], v[0], .3, right_down(5, 6), sink=sink, to=to)
    eight = lambda x: x.astype(f4)[None, ..., None].repeat(8, -1)
    case("npu_fusion_attention", [q, k, v, heads, "BNSD"], {"scale": .3, "sparse_mode": 3, "atten_mask": mask, "sink": sink}, kind(y[None]), eight(most), eight(total))
    row, col = np.arange(5)[:, None] + 1, np.arange(6)
    y, most, total = attend(q[0], k[0], v[0], .3, (col <= row) & (col >= row - 2), to=to)
    case("npu_fused_infer_attention_score", [q, k, v], {**kind_of, "input_layout": "BNSD", "sparse_mode": 4, "pre_tokens": 2, "next_tokens": 0, "block_size": 0, "softmax_lse_flag": True},
         kind(y[None]), (most + np.log(total)).astype(f4)[None, ..., None])

# Caches
key, value = bf(normal(3, 2, 16)), bf(normal(3, 2, 16))
before = [bf(normal(4, 4, 2, 16)) for _ in range(2)]
slots = np.array([6, -1, 13], np.int32)
left = [c.copy() for c in before]
for c, x in zip(left, (key, value)):
    c.reshape(-1, 2, 16)[[6, 13]] = x[[0, 2]]
both = {"key": key, "value": value, "key_cache": before[0], "value_cache": before[1]}
wrote = {"key_cache": left[0], "value_cache": left[1]}
case("_npu_reshape_and_cache", [], {**both, "slot_indices": slots}, after=("npu_reader", wrote))
case("npu_scatter_pa_kv_cache", [], {**both, "slot_mapping": slots, "cache_mode": "Norm"}, after=("npu_reader", wrote))
case("npu_scatter_pa_cache", [key, slots], {"key_cache": before[0]}, left[0])
nz = [bf(normal(4, 2, 4, 16)) for _ in range(2)]
left = [c.copy() for c in nz]
for c, x in zip(left, (key, value)):
    for i in (0, 2):
        c[slots[i] // 4, :, slots[i] % 4] = x[i]
case("npu_scatter_pa_kv_cache", [key, value, nz[0], nz[1], slots], {}, after=("npu_reader", {"key_cache": left[0], "value_cache": left[1]}))
table, lens = np.array([[1, 3], [2, 0]], np.int32), np.array([5, 2], np.int32)
took = [np.concatenate([c[table[b]].reshape(-1, 2, 16)[:n] for b, n in enumerate(lens)]).view(bfloat16) for c in before]
gathers = [before[0], before[1], table, lens, bf(normal(7, 2, 16)), bf(normal(7, 2, 16))], {}, *took
case("npu_gather_pa_kv_cache", *gathers[:2], after=("npu_reader", {"key": took[0], "value": took[1]}))
x, rows, updates = normal(5, 3), np.array([[4], [1]]), normal(2, 3)
y = x.copy()
y[rows[:, 0]] = updates
case("npu_scatter_nd_update", [x, rows, updates], {}, y)
n, rest, size = 32, 16, 4
kv, gamma = bf(normal(2, 1, 3, n + rest)), bf(normal(n))
cos, sin = bf(normal(2, 1, 3, rest)), bf(normal(2, 1, 3, rest))
f = np.asarray(kv, f4)
c = f[..., :n] / np.sqrt((f[..., :n] ** 2).mean(-1, keepdims=True) + f4(1e-5)) * np.asarray(gamma, f4)
r = turn(np.concatenate([f[..., n::2], f[..., n + 1::2]], -1), np.asarray(cos, f4), np.asarray(sin, f4))
k_cache, c_cache, index = bf(normal(3, size, 1, rest)), bf(normal(3, size, 1, n)), np.array([0, 5, 6, -1, 11, 2])
left = [k_cache.copy(), c_cache.copy()]
for to, x in zip(left, (bf(r), bf(c))):
    to.reshape(12, -1)[index[index >= 0]] = x.reshape(6, -1)[index >= 0]
case("npu_kv_rmsnorm_rope_cache", [kv, gamma, cos, sin, index, k_cache, c_cache], {"epsilon": 1e-5, "cache_mode": "PA", "is_output_kv": True}, left[0], left[1], bf(r), bf(c))
turned_cache = kv, gamma, cos, sin, index, k_cache, c_cache, left, r, c
case("npu_kv_rmsnorm_rope_cache_v2_functional", [kv, gamma, cos, sin, index, k_cache, c_cache], {"epsilon": 1e-5, "cache_mode": "PA", "is_output_kv": True}, left[0], left[1], bf(r), bf(c))
scales = [np.abs(normal(rest)) * 40, np.abs(normal(n)) * 40]
bytes_of = [np.full((3, size, 1, w), 9, np.int8) for w in (rest, n)]
left = [x.copy() for x in bytes_of]
for to, x, s in zip(left, (r, c), scales):
    to.reshape(12, -1)[index[index >= 0]] = np.rint(x * s).clip(-128, 127).astype(np.int8).reshape(6, -1)[index >= 0]
case("npu_kv_rmsnorm_rope_cache", [kv, gamma, cos, sin, index] + bytes_of, {"k_rope_scale": scales[0], "c_kv_scale": scales[1], "cache_mode": "PA_BNSD"}, left[0], left[1], None, None)

# Rotary embeddings from a table
def embed(x, table, positions, turn, halves):
    """(T, N, D) in float32: the first turn elements of each head."""
    cos, sin = (t[:, None] for t in np.split(np.asarray(table, f4)[positions], 2, -1))
    return embed_by(np.asarray(x, f4), cos, sin, turn, halves)


def embed_by(x, cos, sin, turn, halves):
    y = x.copy()
    a, b = (slice(0, turn // 2), slice(turn // 2, turn)) if halves else (slice(0, turn, 2), slice(1, turn, 2))
    y[..., a], y[..., b] = x[..., a] * cos - x[..., b] * sin, x[..., b] * cos + x[..., a] * sin
    return y


table, positions = bf(normal(9, 8)), np.array([3, 0, 8])
q, k = bf(normal(3, 24)), bf(normal(3, 12))
for halves in (True, False):
    y = [bf(embed(x.reshape(3, -1, 12), table, positions, 8, halves)).reshape(x.shape) for x in (q, k)]
    case("npu_mrope", [positions, q, k, table, 12], {"mrope_section": [0, 0, 0], "rotary_mode": "half" if halves else "interleave"}, *y)
    case("_npu_rotary_embedding", [positions, q, k, 12, table, halves], {}, after=("npu_reader", {"query": y[0], "key": y[1]}))
three = np.array([[3, 0, 8], [1, 2, 2], [7, 7, 5]])
cos, sin = np.split(np.asarray(table, f4)[three], 2, -1)
which = [0, 0, 1, 2]
cos, sin = (x[which, :, range(4)].T[:, None] for x in (cos, sin))
y = [bf(embed_by(np.asarray(x, f4).reshape(3, -1, 12), cos, sin, 8, True)).reshape(x.shape) for x in (q, k)]
case("npu_mrope", [three, q, k, table, 12], {"mrope_section": [2, 1, 1], "rotary_mode": "half"}, *y)

# Quantisers and products of quantised numbers
def silu(x):
    return x / (1 + np.exp(-x))


def gate(x, left):
    a, b = np.split(x, 2, -1)
    return silu(a) * b if left else a * silu(b)


x = bf(normal(4, 16) * 3)
f = np.asarray(x, f4)
most = np.abs(f).max()
row = np.abs(f).max(-1, keepdims=True)
case("npu_dynamic_quant", [x], {}, f8(f * (f4(448) / row)), (row / f4(448))[:, 0])
wide = bf(normal(2, 70))
blocks = np.zeros((2, 128), f4)
blocks[:, :70] = np.abs(np.asarray(wide, f4))
shared = np.floor(np.log2(blocks.reshape(2, 4, 32).max(-1)[:, :3])) - 8
case("npu_dynamic_mx_quant", [wide], {"axis": -1, "round_mode": "rint", "block_size": 32}, f8(np.asarray(wide, f4) / 2.0 ** shared.repeat(32, 1)[:, :70]),
     np.concatenate([shared + 127, np.zeros((2, 1))], 1).astype(np.uint8).reshape(2, 2, 2))
a, b, scale, token = f8(normal(3, 64)), f8(normal(64, 4)), rng.integers(120, 130, (1, 4, 2)).astype(np.uint8), rng.integers(120, 130, (3, 1, 2)).astype(np.uint8)
y = (np.asarray(a, float) * 2.0 ** (token[:, 0].astype(float) - 127).repeat(32, 1)) @ (np.asarray(b, float) * 2.0 ** (scale[0].T.astype(float) - 127).repeat(32, 0))
case("npu_quant_matmul", [a, b, scale], {"pertoken_scale": token, "group_sizes": [1, 1, 32]}, bf(y.astype(f4)))
scale, token = np.abs(normal(4)), np.abs(normal(3))
case("npu_quant_matmul", [a, b, scale], {"pertoken_scale": token}, bf((np.asarray(a, float) @ np.asarray(b, float) * scale * token[:, None]).astype(f4)))
most = np.abs(f).max()
case("npu_dynamic_quant", [x], {"quant_mode": "pertensor"}, np.rint(f * (f4(127) / most)).astype(np.int8), np.array([most / f4(127)], f4))
smooth, ends = np.abs(normal(2, 16)) + f4(.5), np.array([1, 4], np.int32)
case("npu_dynamic_quant", [x], {"smooth_scales": smooth, "group_index": ends}, *steps(f * smooth[[0, 1, 1, 1]]))
y = gate(f, True)
case("npu_swiglu_quant", [x], {"activate_left": True, "quant_mode": 1}, *steps(y))
s8 = np.abs(normal(2, 8)) + f4(.5)
case("npu_swiglu_quant", [x], {"smooth_scales": s8, "group_index": ends, "quant_mode": 1}, *steps(gate(f, False) * s8[[0, 1, 1, 1]]))
whole = rng.integers(-3000, 3000, (4, 16)).astype(np.int32)
channel, token = np.abs(normal(1, 16)) / 500, np.abs(normal(4, 1)) + f4(.2)
y = gate(whole.astype(f4) * channel * token, True)
case("npu_dequant_swiglu_quant", [whole], {"weight_scale": channel, "activation_scale": token, "activate_left": True, "quant_mode": 1}, *steps(y))
channels, counts_of = np.abs(normal(2, 16)) / 500, np.array([3, 1])
y = gate(whole.astype(f4) * channels[[0, 0, 0, 1]] * token, True) * s8[[0, 0, 0, 1]]
case("npu_dequant_swiglu_quant", [whole], {"weight_scale": channels, "activation_scale": token, "quant_scale": s8, "group_index": counts_of, "activate_left": True, "quant_mode": 1}, *steps(y))
a, b, scale, token = bytes_(5, 16), bytes_(2, 16, 8), np.abs(normal(2, 8)) / 500, np.abs(normal(5)) / 50
y = gate(np.concatenate([a[:2].astype(np.int64) @ b[0] * scale[0], a[2:].astype(np.int64) @ b[1] * scale[1]]).astype(f4) * token[:, None], True)
case("npu_grouped_matmul_swiglu_quant", [a, b, np.array([2, 5]), scale, token], {}, *steps(y))
case("npu_grouped_matmul_swiglu_quant_v2", [], {"x": a, "weight": [b], "weight_scale": [scale], "x_scale": token, "group_list": np.array([2, 3]), "group_list_type": 1}, *steps(y))
x, w, scale, shift = bf(normal(3, 16)), bytes_(16, 6), bf(np.abs(normal(1, 6)) / 50), bf(rng.integers(-9, 9, (1, 6)).astype(f4))
plain = np.asarray(bf((w.astype(f4) + np.asarray(shift, f4)) * np.asarray(scale, f4)), f4)
case("npu_weight_quant_batchmatmul", [x, w, scale, shift], {}, bf(np.asarray(x, f4) @ plain))
groups = bf(np.abs(normal(4, 6)) / 50)
plain = np.asarray(bf(w.astype(f4) * np.asarray(groups, f4).repeat(4, 0)), f4)
case("npu_weight_quant_batchmatmul", [x, w, groups], {"antiquant_group_size": 4}, bf(np.asarray(x, f4) @ plain))
packed = rng.integers(-8, 8, (16, 8))
words = sum((packed[:, i::8].astype(np.int64) & 15) << 4 * i for i in range(8)).astype(np.uint32).view(np.int32)
scale = bf(np.abs(normal(1, 8)) / 9)
case("npu_weight_quant_batchmatmul", [x, words, scale], {}, bf(np.asarray(x, f4) @ np.asarray(bf(packed.astype(f4) * np.asarray(scale, f4)), f4)))
w, scale, bias = bytes_(2, 16, 6), bf(np.abs(normal(2, 6)) / 50), normal(2, 6)
x, plain = bf(normal(5, 16)), np.asarray(bf(w.astype(f4) * np.asarray(scale, f4)[:, None]), f4)
y = np.concatenate([np.asarray(x, f4)[:2] @ plain[0] + bias[0], np.asarray(x, f4)[2:] @ plain[1] + bias[1]])
case("npu_grouped_matmul", [[x], [w]], {"antiquant_scale": [scale], "bias": [bias], "group_list": np.array([2, 5]), "split_item": 2, "group_type": 0}, [bf(y)])
case("npu_grouped_matmul", [[x], [w[0], w[1]]], {"antiquant_scale": [scale[0], scale[1]], "bias": [bias[0], bias[1]], "group_list": [2, 5], "split_item": 2, "group_type": 0}, [bf(y)])
case("npu_anti_quant", [w[0], scale[0]], {}, bf(w[0].astype(f4) * np.asarray(scale[0], f4)))
scale = np.abs(normal(6))
case("npu_trans_quant_param", [scale], {}, ((scale.view(np.uint32) & 0xffffe000).astype(np.int64) + (1 << 46)))
x, k2, g = normal(3, 8), normal(3, 8), normal(8)
n = (x + k2) / np.sqrt(((x + k2) ** 2).mean(-1, keepdims=True) + f4(1e-6)) * g
beta, smooth = normal(8), np.abs(normal(8)) + f4(.5)
case("npu_add_rms_norm_dynamic_quant", [x, k2, g], {"smooth_scale1": smooth, "smooth_scale2": g, "beta": beta}, steps((n + beta) * smooth)[0], steps((n + beta) * g)[0], x + k2,
     steps((n + beta) * smooth)[1], steps((n + beta) * g)[1])
p, q = normal(4, 3, 5), normal(4, 5, 2)
case("npu_transpose_batchmatmul", [p, q], {"batch_split_factor": 2}, (p @ q).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3).reshape(2, 3, 4).copy())

# Routing
x, idx = bf(normal(4, 6)), np.array([[3, 0], [5, 2], [2, 3], [0, 5]], np.int32)
for lo, hi in ((0, 6), (2, 5)):
    flat = idx.ravel()
    inside = np.flatnonzero((flat >= lo) & (flat < hi))
    order = inside[np.argsort(flat[inside], kind="stable")]
    where = np.full(8, -1, np.int32)
    where[order] = np.arange(len(order))
    rows = np.zeros((8, 6), f4)
    rows[:len(order)] = np.asarray(x, f4)[order // 2]
    counted = np.bincount(flat[order] - lo, minlength=hi - lo)
    common = {"active_num": 8, "expert_num": 6, "expert_tokens_num_flag": True, "active_expert_range": [lo, hi]}
    if hi == 6:
        case("npu_moe_init_routing_v2", [x, idx], {**common, "expert_tokens_num_type": 1, "quant_mode": -1, "row_idx_type": 1}, bf(rows), order.astype(np.int32), counted, None)
        case("npu_moe_init_routing_v2", [x, idx], {**common, "expert_tokens_num_type": 0, "quant_mode": 1}, steps(rows)[0], where, np.cumsum(counted), steps(rows)[1])
    elif options.recording and not options.fault:
        case("npu_moe_init_routing_v2", [x, idx], {**common, "expert_tokens_num_type": 0, "quant_mode": -1}, bf(rows), where, np.cumsum(counted), None)
rows, skip, bias, weights = normal(8, 3), normal(4, 3), normal(6, 3), np.abs(normal(4, 2))
to = rng.permutation(8).astype(np.int32)
to[3] = -1
y = skip.copy()
for i in range(4):
    for j in range(2):
        at = to[j * 4 + i]
        y[i] += weights[i, j] * ((rows[at] if at >= 0 else 0) + bias[idx[i, j]])
case("npu_moe_finalize_routing", [rows, skip, None, bias, weights, to, idx], {}, y)
y = np.stack([sum(weights[i, j] * (rows[to[i * 2 + j]] if to[i * 2 + j] >= 0 else 0) for j in range(2)) for i in range(4)]).astype(f4)
case("npu_moe_finalize_routing", [rows, None, None, None, weights, to, None], {"drop_pad_mode": 2}, y)
case("npu_moe_compute_expert_tokens", [np.array([0, 0, 2, 3, 3, 3], np.int32), 4], {}, np.array([2, 2, 3, 6], np.int32))
counts_of, rows = np.array([[1, 2, 0], [2, 0, 1]], np.int32), bf(normal(6, 4))
order = np.array([0, 3, 4, 1, 2, 5], np.int32)
scales = np.abs(normal(6))
case("npu_moe_re_routing", [rows, counts_of], {"per_token_scales": scales}, rows[order], scales[order], order, np.array([3, 2, 1], np.int32))
x = normal(3, 12)
p, bias = sigmoid(x), normal(12) / 3
s = p + bias
best = np.argsort(-np.sort(s.reshape(3, 4, 3), -1)[..., -2:].sum(-1), -1, kind="stable")[:, :2]
hide = np.ones((3, 4), bool)
np.put_along_axis(hide, best, False, 1)
top = np.argsort(-np.where(hide.repeat(3, 1), -np.inf, s), -1, kind="stable")[:, :4].astype(np.int32)
y = np.take_along_axis(p, top, 1)
case("npu_moe_gating_top_k", [x, 4], {"bias": bias, "k_group": 2, "group_count": 4, "group_select_mode": 1, "norm_type": 1, "out_flag": True}, y / y.sum(1, keepdims=True), top, p)
x, p, k = normal(3, 12) * 2, np.array([.8, .5, 1], f4), np.array([5, 12, 3], np.int32)
y = x.copy()
for r in range(3):
    order = np.argsort(x[r], kind="stable")
    y[r, x[r] < x[r, order[12 - k[r]]]] = -np.inf
    chance = softmax(y[r, order])
    out = np.cumsum(chance) <= 1 - p[r]
    out[-1] = False
    y[r, order[out]] = -np.inf
case("npu_top_k_top_p", [x, p, k], {}, y)
lens, tokens, size, table = [2, 1], [7, 5], 4, np.array([[2, 0], [1, 3]], np.int32)
q, cache, weights = bf(normal(3, 2, 8)), bf(normal(4, size, 1, 8)), bf(normal(3, 2))
took = np.full((3, 1, 6), -1, np.int32)
rows = 0
for b, (l, n) in enumerate(zip(lens, tokens)):
    keys = np.asarray(cache, f4)[table[b]].reshape(-1, 8)[:n]
    for i in range(l):
        seen = n - l + i + 1
        score = (np.maximum(np.asarray(q, f4)[rows] @ keys[:seen].T, 0) * np.asarray(weights, f4)[rows][:, None]).sum(0)
        order = np.argsort(-score, kind="stable")[:6]
        took[rows, 0, :len(order)] = order
        rows += 1
case("npu_lightning_indexer", [q, cache, weights], {"actual_seq_lengths_query": np.cumsum(lens).astype(np.int32), "actual_seq_lengths_key": np.array(tokens, np.int32), "block_table": table,
                                                 "layout_query": "TND", "layout_key": "PA_BSND", "sparse_count": 6, "sparse_mode": 3}, took)

# The delta rule
lens, nk, nv, dk, dv = [2, 3], 1, 2, 8, 4
norm = lambda x: x / np.sqrt((x ** 2).sum(-1, keepdims=True))
q, key, v = bf(norm(normal(5, nk, dk))), bf(norm(normal(5, nk, dk))), bf(normal(5, nv, dv))
g, beta, slots = -np.abs(normal(5, nv)), bf(sigmoid(normal(5, nv))), np.array([3, 1, 0, 5, 4], np.int32)
for chunked in (False, True):
    state = bf(normal(2 if chunked else 6, nv, dv, dk))
    left, y, t = np.asarray(state, f4).copy(), np.zeros((5, nv, dv), f4), 0
    for b, l in enumerate(lens):
        s = np.asarray(state, f4)[b if chunked else slots[t]].copy()
        for _ in range(l):
            a, c = np.asarray(q, f4)[t].repeat(nv // nk, 0), np.asarray(key, f4)[t].repeat(nv // nk, 0)
            s = s * np.exp(g[t])[:, None, None]
            s = s + ((np.asarray(v, f4)[t] - (s * c[:, None]).sum(-1)) * np.asarray(beta, f4)[t][:, None])[..., None] * c[:, None]
            y[t] = (s * a[:, None]).sum(-1) * f4(dk ** -.5)
            if not chunked:
                left[slots[t]] = s
            t += 1
        if chunked:
            left[b] = s
    lists = {"beta": beta, "g": g, "actual_seq_lengths": np.array(lens, np.int32)}
    if chunked:
        case("npu_chunk_gated_delta_rule", [q, key, v], {**lists, "initial_state": state}, bf(y), bf(left))
    else:
        deltas = [q, key, v, state], {**lists, "ssm_state_indices": slots, "scale": dk ** -.5}, bf(y), bf(left)
        case("npu_recurrent_gated_delta_rule", *deltas[:3])
        if not options.recording:
            line("Torch.clone", [bf(left)], {}, [bf(left)])

# Further gates
x = bf(normal(3, 8))
f = np.asarray(x, f4)
a, b = np.split(f, 2, -1)
tanh = lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + .044715 * x ** 3)))
case("npu_geglu", [x], {"dim": -1, "approximate": 1, "activate_left": False}, bf((a * tanh(b)).astype(f4)), bf(tanh(b).astype(f4)))
x, w, b = normal(2, 4, 3), normal(4), normal(4)
r = x.reshape(2, 2, -1)
r = ((r - r.mean(-1, keepdims=True)) / np.sqrt(r.var(-1, keepdims=True) + f4(1e-5))).reshape(x.shape) * w[:, None] + b[:, None]
case("npu_group_norm_silu", [x, w, b, 2], {}, silu(r), None, None)

if not options.recording:
    x, z = normal(12), np.abs(normal(12)) + f4(.1)
    x[3] = 0
    d, e = x.astype(float), z.astype(float)
    for name, args, y in (("xlogy", [x, z], np.where(x == 0, 0, d * np.log(e))), ("logaddexp", [x, z], np.logaddexp(d, e)), ("hypot", [x, z], np.hypot(d, e)), ("deg2rad", [x], np.deg2rad(d)),
                          ("rad2deg", [x], np.rad2deg(d)), ("heaviside", [x, z], np.heaviside(d, e))):
        line("Torch." + name, args, {}, [y.astype(f4)])
    line("Functional.hardshrink", [x], {"lambd": .7}, [np.where(np.abs(x) > .7, x, 0).astype(f4)])
    line("Functional.softshrink", [x], {"lambd": .7}, [(np.sign(d) * np.maximum(np.abs(d) - .7, 0)).astype(f4)])

# Layers of two products
x, w1, w2, b1, b2 = normal(2, 3, 4), normal(4, 6), normal(6, 5), normal(6), normal(5)
case("npu_ffn", [x, w1, w2, "silu"], {"bias1": b1, "bias2": b2}, silu(x @ w1 + b1) @ w2 + b2)
x, w1, w2 = bf(normal(5, 4)), bf(normal(3, 4, 8)), bf(normal(3, 8, 4))
f, u, v = (np.asarray(t, f4) for t in (x, w1, w2))
counts_of = [2, 0, 3]
rows = [bf(bf(np.maximum(f[lo:hi] @ u[e], 0)) @ v[e]) for lo, hi, e in ((0, 2, 0), (2, 5, 2))]
case("npu_ffn", [x, w1, w2, "relu"], {"expert_tokens": counts_of}, np.concatenate(rows).view(bfloat16))
case("npu_ffn", [x, w1, w2, "relu"], {"expert_tokens_index": [2, 2, 5]}, np.concatenate(rows).view(bfloat16))
x, w1, w2 = normal(4, 4), normal(4, 12), normal(6, 4)
y, z = np.split(x @ w1, 2, -1)
case("npu_ffn", [x, w1, w2, "swiglu"], {}, (silu(y) * z) @ w2)
case("npu_ffn", [x, normal(4, 6) * 0 + w1[:, :6], w2, "gelu"], {}, tanh(x @ w1[:, :6]) @ w2)

# Movement, convolutions and gates by the names of torch_npu
x = normal(2, 3, 4)
case("npu_broadcast", [x[:, :1], [2, 5, 4]], {}, x[:, :1].repeat(5, 1))
case("npu_reshape", [x, [6, 4]], {}, x.reshape(6, 4))
case("npu_transpose", [x, [2, 0, 1]], {}, x.transpose(2, 0, 1).copy())
case("npu_one_hot", [np.array([5, 3, 2, 1], np.int32)], {"depth": 5}, (np.array([5, 3, 2, 1])[:, None] == np.arange(5)).astype(f4))
case("copy_memory_", [x, -x], {}, -x)
case("one_", [x], {}, np.ones_like(x))
f = np.asarray(x, float)
case("npu_gelu_mul", [x], {"approximate": "tanh"}, (tanh(f[..., :2]) * f[..., 2:]).astype(f4))
x, w, b = normal(2, 4, 3), normal(4), normal(4)
r = x.reshape(2, 2, -1)
r = ((r - r.mean(-1, keepdims=True)) / np.sqrt(r.var(-1, keepdims=True) + f4(1e-5))).reshape(x.shape) * w[:, None] + b[:, None]
case("npu_group_norm_swish", [x, 2, w, b], {"eps": 1e-5, "swish_scale": 1.0}, silu(r), None, None)
x, w, b = normal(1, 4, 5, 5), normal(6, 2, 3, 3), normal(6)
wide = np.pad(x.astype(float), ((0, 0), (0, 0), (1, 1), (1, 1)))
y = np.zeros((1, 6, 3, 3))
for c in range(6):
    for i in range(3):
        for j in range(3):
            y[0, c, i, j] = (wide[0, c // 3 * 2:c // 3 * 2 + 2, 2 * i:2 * i + 3, 2 * j:2 * j + 3] * w[c]).sum() + b[c]
case("npu_convolution", [x, w, b, [2, 2], [1, 1], [1, 1], 2], {}, y.astype(f4))
x, w = normal(1, 2, 3, 3), normal(2, 3, 3, 3)
y = np.zeros((1, 3, 8, 8))
for c in range(2):
    for i in range(3):
        for j in range(3):
            y[0, :, 2 * i:2 * i + 3, 2 * j:2 * j + 3] += x[0, c, i, j].astype(float) * w[c]
y = y[:, :, 1:7, 1:7].astype(f4)
for name in ("npu_convolution_transpose", "npu_conv_transpose2d"):
    case(name, [x, w, None, [1, 1], [1, 1], [2, 2], [1, 1], 1], {}, y)
q, k, v, mask = normal(1, 4, 5, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 8), np.triu(np.ones((5, 6), bool), 2)
y, most, total = attend(q[0], k[0], v[0], .3, ~mask)
eight = lambda x: x.astype(f4)[None, ..., None].repeat(8, -1)
for name in ("npu_fusion_attention_v2", "npu_fusion_attention_v3"):
    case(name, [q, k, v, 4, "BNSD"], {"scale": .3, "atten_mask": mask}, y[None], eight(most), eight(total))

# Parts, borders and bits by the names of torch_npu
x = normal(3, 5, 4)
case("npu_slice", [x, [0, 1, 2], [2, -1, 2]], {}, x[:2, 1:, 2:].copy())
case("npu_indexing", [x, [0, 4, 1], [3, 0, 3], [2, -2, 1]], {}, x[0:3:2, 4:0:-2, 1:3].copy())
case("npu_indexing", [x, [1, 0], [2, 0], [1, 2]], {"end_mask": 2, "shrink_axis_mask": 1}, x[1, ::2].copy())
case("npu_pad", [x[0], [1, 2, 0, 3]], {}, np.pad(x[0], ((1, 2), (0, 3))))
case("npu_gather_sparse_index", [x[0], np.array([4, 0, 0, 2])], {}, x[0][[4, 0, 0, 2]])
y = x.copy()
first, last, value = np.array([[0, 1, 2], [1, 0, 3]], np.int32), np.array([[2, 1, 4], [2, 3, 4]], np.int32), normal(2)
for g in range(2):
    for b in range(3):
        y[b, :, first[g, b]:last[g, b]] = value[g]
case("npu_masked_fill_range", [x, first, last, value], {}, y)
signs = normal(21)
bits = np.packbits(signs >= 0, bitorder="little")
case("npu_sign_bits_pack", [signs, 1], {}, bits[None])
case("npu_sign_bits_unpack", [bits, 2], {"dtype": "torch.float32"}, (np.unpackbits(bits, bitorder="little") * 2. - 1).astype(f4).reshape(2, 12))
cache, at = normal(3, 2, 6, 4), np.array([5, 0, 2])
new = normal(3, 2, 1, 4)
y = cache.copy()
for b in range(3):
    y[b, :, at[b]:at[b] + 1] = new[b]
case("scatter_update", [cache, at, new, -2], {}, y)
case("scatter_update_", [cache, at, new, 2], {}, y)
cache, scales = bytes_(3, 2, 6, 4), np.abs(normal(1, 1, 4)) / 20 + f4(.01)
y = cache.copy()
for b in range(3):
    y[b, :, at[b]:at[b] + 1] = np.rint(new[b] / scales).clip(-128, 127)
for name in ("npu_quant_scatter", "npu_quant_scatter_"):
    case(name, [cache, at, new, scales], {}, y)

# Quantisers, products and routes that those above leave out
x, smooth = normal(4, 9), np.abs(normal(9)) + f4(.5)
for by in ({}, {"smooth_scales": smooth}):
    v = x * by.get("smooth_scales", f4(1))
    step = (v.max(1, keepdims=True) - v.min(1, keepdims=True)) / f4(255)
    offset = 127 - v.max(1, keepdims=True) / step
    case("npu_dynamic_quant_asymmetric", [x], by, np.rint(v / step + offset).clip(-128, 127).astype(np.int8), step[:, 0], offset[:, 0].astype(f4))
scales, ends = normal(3, 9) * 30, np.array([1, 1, 4], np.int32)
case("npu_group_quant", [x, scales, ends], {"offset": np.array([2.5], f4)}, np.rint(x * scales[[0, 2, 2, 2]] + f4(2.5)).clip(-128, 127).astype(np.int8))
a, b, scale, token, bias = bytes_(3, 8), bytes_(8, 5), np.abs(normal(5)) / 90, np.abs(normal(3)) / 90, normal(5)
f = (a.astype(float) @ b.astype(float)) * scale * token[:, None]
case("npu_quant_matmul_gelu", [a, b, token, scale], {"approximate": "gelu_tanh"}, tanh(f).astype(f4))
case("npu_quant_matmul_gelu", [a, b, token, scale], {"bias": bias}, np.vectorize(lambda v: v / 2 * (1 + math.erf(v / math.sqrt(2))))(f + bias).astype(f4))
a, b, scale, token = bytes_(3, 2, 8), bytes_(3, 8, 5), bf(np.abs(normal(5)) / 90), np.abs(normal(3, 2)) / 90
case("npu_quant_matmul_reduce_sum", [a, b], {"x1_scale": token, "x2_scale": scale}, bf((a.astype(float) @ b.astype(float) * token[..., None] * np.asarray(scale, float)).sum(0)))
x, w, total_, ends = normal(7, 3), normal(7, 4), normal(9, 4), np.array([2, 2, 7])
case("npu_grouped_matmul_add_", [total_, x, w, ends], {}, total_ + np.concatenate([x[:2].T @ w[:2], np.zeros((3, 4), f4), x[2:].T @ w[2:]]))
a, b, g = normal(3, 8), normal(3, 8), normal(8)
root = 1 / np.sqrt(((a + b) ** 2).mean(-1, keepdims=True) + f4(1e-6))
case("npu_add_rms_norm_v2", [a, b, g], {}, root.astype(f4), after=("npu_reader", {"x1": (a + b) * root * g, "x2": a + b}))
x, lengths = normal(2, 3, 7) + f4(2), np.array([4, 7], np.int32)
for wide in range(2):
    y = np.zeros(x.shape)
    for n in range(2):
        part = x[n, :, :lengths[n]].astype(float)
        kept = {"axis": -1, "keepdims": True} if wide == 0 else {}
        y[n] = (x[n] - part.mean(**kept)) / (part.std(ddof=1, **kept) + 1e-5)
    case("npu_normalize_batch", [x, lengths], {"normalize_type": wide}, y.astype(f4))
x, ids = normal(4, 3), np.array([[2, 0], [1, 2], [0, 3], [2, 1]], np.int32)
rows = np.arange(8, dtype=np.int32).reshape(2, 4).T.copy()
order = np.argsort(ids.ravel(), kind="stable")
back = np.zeros(8, np.int32)
back[rows.ravel()[order]] = np.arange(8)
case("npu_moe_init_routing", [x, rows, ids, 3], {}, x[rows.ravel()[order][:6] % 4], back, ids.ravel()[order])
routes, probs = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]], bool), np.abs(normal(4, 3))
tokens = np.concatenate([np.flatnonzero(routes[:, e]) for e in range(3)])
case("npu_moe_token_permute_with_routing_map", [x, routes], {"probs": probs, "num_out_tokens": 7}, x[tokens], probs.T[routes.T], np.argsort(tokens, kind="stable").astype(np.int32))
tokens = np.argsort(~routes.T, axis=1, kind="stable")[:, :2]
case("npu_moe_token_permute_with_routing_map", [x, routes], {"probs": probs, "num_out_tokens": 6, "drop_and_pad": True}, x[tokens.ravel()], np.take_along_axis(probs.T, tokens, 1).ravel(), tokens.ravel().astype(np.int32))
table = np.array([[2, 5, 3, 0], [1, 7, 0, 0], [3, 2, 6, 4], [2, 1, 0, 0]], np.int32)
chosen, limit, live = np.sort(np.abs(normal(4, 2)))[:, ::-1].copy(), np.array([.7, .3], f4), np.array([1, 1, 1, 0], bool)
for mode in range(2):
    places = [[5 // -(-8 // table[e, 0]) if mode == 0 else t % table[e, 0] for e in ids[t]] for t in range(4)]
    case("npu_moe_update_expert", [ids, table], {"local_rank_id": 5, "world_size": 8, "balance_mode": mode, "expert_scales": chosen, "pruning_threshold": limit[None], "active_mask": live},
         np.take_along_axis(table[ids], np.array(places)[..., None] + 1, 2)[..., 0], (chosen >= chosen.sum(1, keepdims=True) * limit) & live[:, None])

# Streams of a residual (mhc), boxes and a loss
x, phi, alpha, shift, gamma = bf(normal(3, 4, 6)), normal(24, 24), normal(3), normal(24), normal(4, 6)
f = np.asarray(x, float).reshape(3, 24)
root = 1 / np.sqrt((f ** 2).mean(1, keepdims=True) + 1e-6)
mix = (f * gamma.ravel()) @ phi.T.astype(float)
read, wrote, between = np.split(mix * root * np.repeat(alpha, [4, 4, 16]) + shift, [4, 8], 1)
read, wrote = sigmoid(read) + 1e-6, 2 * sigmoid(wrote)
inner = (read[..., None] * f.reshape(3, 4, 6)).sum(1)
case("npu_mhc_pre", [x, phi, alpha, shift], {"gamma": gamma, "out_flag": 1}, bf(inner), wrote.astype(f4), between.reshape(3, 4, 4).astype(f4), root[:, 0].astype(f4), mix.astype(f4), read.astype(f4))
y = softmax(between.reshape(3, 4, 4)) + 1e-6
y = y / (y.sum(-2, keepdims=True) + 1e-6)
for i in range(4):
    y = y / (y.sum(-1, keepdims=True) + 1e-6)
    y = y / (y.sum(-2, keepdims=True) + 1e-6)
case("npu_mhc_sinkhorn", [between.reshape(3, 4, 4).astype(f4)], {"num_iters": 5}, y.astype(f4), None, None)
inner = bf(inner)
spread = wrote.astype(f4)[..., None] * np.asarray(inner)[:, None]
case("npu_mhc_post", [x, y.astype(f4), inner, wrote.astype(f4)], {}, bf(y.transpose(0, 2, 1) @ np.asarray(x, float) + spread))
case("npu_mhc_post", [x, None, inner, wrote.astype(f4)], {}, bf(np.asarray(x) + spread))
a, b = np.abs(normal(4, 5)) + f4(.3), np.abs(normal(4, 5)) + f4(.3)
p, q = ([v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2] for v in (a.astype(float), b.astype(float)))
both = np.maximum(np.minimum(p[2], q[2]) - np.maximum(p[0], q[0]), 0) * np.maximum(np.minimum(p[3], q[3]) - np.maximum(p[1], q[1]), 0)
union = (p[2] - p[0]) * (p[3] - p[1]) + (q[2] - q[0]) * (q[3] - q[1]) - both
wide, high = np.maximum(p[2], q[2]) - np.minimum(p[0], q[0]), np.maximum(p[3], q[3]) - np.minimum(p[1], q[1])
apart = ((p[0] + p[2] - q[0] - q[2]) ** 2 + (p[1] + p[3] - q[1] - q[3]) ** 2) / 4 / (wide ** 2 + high ** 2)
case("npu_giou", [a, b], {"trans": True}, (both / union - (wide * high - union) / (wide * high)).astype(f4)[:, None])
case("npu_diou", [a, b], {"trans": True}, (both / union - apart).astype(f4)[None])
turned = 4 / np.pi ** 2 * (np.arctan(b[2].astype(float) / b[3]) - np.arctan(a[2].astype(float) / a[3])) ** 2
case("npu_ciou", [a, b, True, False], {}, (both / union - apart - turned ** 2 / (1 - both / union + turned)).astype(f4)[None])
case("npu_giou", [np.array(p, f4), np.array(q, f4)], {}, (both / union - (wide * high - union) / (wide * high)).astype(f4)[:, None])
a, b = np.abs(normal(2, 4)), np.abs(normal(2, 4))
a[:, 2:] += a[:, :2]
stride = np.array([2, 4], np.int32)
centre = ((b[:, :2] + b[:, 2:]) / 2 - (a[:, :2] + a[:, 2:]) / 2) / stride[:, None] + .5
case("npu_yolo_boxes_encode", [a, b, stride], {}, np.concatenate([centre.clip(1e-6, 1 - 1e-6), np.log(((b[:, 2:] - b[:, :2]) / (a[:, 2:] - a[:, :2])).clip(1e-6))], 1).astype(f4))
boxes = np.abs(normal(3, 4)).clip(0, 2.9) * 2
flags = np.zeros((3, 4), np.uint8)
for box in boxes:
    flags[int((box[1] + box[3]) / 2 // 2), int((box[0] + box[2]) / 2 // 2)] = 1
case("npu_anchor_response_flags", [boxes, [3, 4], [2, 2], 2], {}, flags.ravel().repeat(2))
x, target, weight = normal(4, 6), np.array([5, 0, 2, 2]), np.abs(normal(6)) + f4(.1)
logs = x.astype(float) - np.log(np.exp(x.astype(float)).sum(1, keepdims=True))
taken = weight[target]
case("npu_cross_entropy_loss", [x, target, weight], {"label_smoothing": .1}, np.array([((.9 * -logs[range(4), target] * taken).sum() - .1 / 6 * (logs * weight).sum()) / taken.sum()], f4), logs.astype(f4), None, None)
labels = softmax(normal(4, 6))
case("npu_softmax_cross_entropy_with_logits", [x, labels], {}, -(labels * logs).sum(1).astype(f4))

# Quantised blocks, products that are combined, and boxes with a border or an angle
x = normal(2, 130)
blocks = np.pad(x, ((0, 0), (0, 126))).reshape(2, 2, 128)
y, scale = steps(blocks)
case("npu_dynamic_block_quant", [x], {}, y.reshape(2, 256)[:, :130], scale)
x, w, scale, token, logit, shared = bytes_(4, 8), bytes_(2, 8, 5), np.abs(normal(2, 5)) / 90, np.abs(normal(4)) / 90, np.abs(normal(4)), bf(normal(2, 5))
rows, groups = np.array([2, 0, 1, 0]), np.array([3, 1])
v = np.concatenate([x[:3].astype(float) @ w[0] * scale[0], x[3:].astype(float) @ w[1] * scale[1]]) * (token * logit)[:, None]
y = np.zeros((3, 5))
np.add.at(y, rows, v)
y[1:] += .5 * np.asarray(shared, float)
case("npu_grouped_matmul_finalize_routing", [x, w, groups], {"scale": scale, "pertoken_scale": token, "shared_input": shared, "logit": logit, "row_index": rows, "shared_input_weight": .5, "shared_input_offset": 1, "output_bs": 3}, y.astype(f4))
case("npu_bounding_box_decode", [np.array([[1, 2, 3, 4], [3, 4, 5, 6]], f4), np.array([[5, 6, 7, 8], [7, 8, 9, 6]], f4), 0., 0., 0., 0., 1., 1., 1., 1., [10, 10], .1], {}, np.array([[2.5, 6.5, 9, 9], [9] * 4], f4))  # as op-plugin's test has it
a, d, means, stds = np.abs(normal(5, 4)), normal(5, 4), [.1, 0., .05, 0.], [.1, .2, .2, .1]
a[:, 2:] += a[:, :2] + 2
f, size = d.astype(float) * stds + means, a[:, 2:].astype(float) - a[:, :2] + 1
centre, size = (a[:, :2].astype(float) + a[:, 2:]) / 2 + f[:, :2] * size, size * np.exp(f[:, 2:].clip(np.log(.8), -np.log(.8)))
case("npu_bounding_box_decode", [a, d, *means, *stds, [4, 6], .8], {}, np.concatenate([centre - size / 2 + .5, centre + size / 2 - .5], 1).clip(0, [5, 3, 5, 3]).astype(f4))
a, b = np.abs(normal(2, 5, 3)) * 9, np.abs(normal(2, 5, 3)) * 9
for v in (a, b):
    v[:, 2:4] += v[:, :2] + 1
p, q = a.astype(float), b.astype(float)
size, tangent = p[:, 2:4] - p[:, :2], np.tan(np.radians(p[:, 4:]))
case("npu_rotated_box_encode", [a, b, np.ones(5, f4)], {}, np.concatenate([((q[:, 2:4] + q[:, :2]) / 2 - (p[:, 2:4] + p[:, :2]) / 2) / size, np.log((q[:, 2:4] - q[:, :2]) / size), np.tan(np.radians(q[:, 4:])) - tangent], 1).astype(f4))
d = normal(2, 5, 3)
f = d.astype(float)
centre, size = (p[:, 2:4] + p[:, :2]) / 2 + f[:, :2] * size, size * np.exp(f[:, 2:4])
case("npu_rotated_box_decode", [a, d, np.ones(5, f4)], {}, np.concatenate([centre - size / 2, centre + size / 2, np.degrees(np.arctan(tangent + f[:, 4:]))], 1).astype(f4))

# MindSpeed's own operators, by its docs/ops: products of experts, rotary positions, and two parts of an attention put together.
x, w = normal(6, 5), normal(3, 5, 4)
case("MindSpeed.npu_gmm", [x, w], {"bias": None, "group_list": [2, 2, 6], "group_type": 0}, np.concatenate([x[:2] @ w[0], x[2:] @ w[2]]).astype(f4))
x, w = bf(x), bf(w)
f, g = x.astype(float), w.astype(float)
case("MindSpeed.npu_gmm_v2", [x, w], {"group_list": np.array([2, 1, 3])}, bf(np.concatenate([f[:2] @ g[0], f[2:3] @ g[1], f[3:] @ g[2]])))
x, angle = normal(3, 2, 1, 8), normal(3, 1, 1, 8)
c, d = np.cos(angle), np.sin(angle)
case("MindSpeed.npu_rotary_position_embedding", [x, c, d], {}, (x * c + np.concatenate([-x[..., 4:], x[..., :4]], -1) * d).astype(f4))
x, c, d = bf(x), bf(c), bf(d)
f = x.astype(float)
case("MindSpeed.npu_rotary_position_embedding", [x, c, d, 1], {}, bf(f * c + np.stack([-f[..., 1::2], f[..., ::2]], -1).reshape(f.shape) * d))
for layout in "SBH", "TND":
    shape = (2, 2, 3, 1) if layout == "SBH" else (3, 2, 1)
    m, n, a, b = 3 * normal(*shape), 3 * normal(*shape), (1 + 4 * rng.random(shape)).astype(f4), (1 + 4 * rng.random(shape)).astype(f4)
    most = np.maximum(m, n)
    p, q = a.astype(float) * np.exp(m.astype(float) - most), b.astype(float) * np.exp(n.astype(float) - most)
    o, u = (normal(3, 2, 4), normal(3, 2, 4)) if layout == "TND" else (bf(normal(3, 2, 4)), bf(normal(3, 2, 4)))
    r, t = p / (p + q), q / (p + q)
    if layout == "SBH":
        r, t = (np.repeat(v[..., 0].transpose(2, 0, 1), 2, -1) for v in (r, t))
    y = o.astype(float) * r + u.astype(float) * t
    eight = lambda v: np.repeat(v, 8, -1).astype(f4)
    case("MindSpeed.npu_ring_attention_update", [o, eight(m), eight(a), u, eight(n), eight(b)], {} if layout == "SBH" else {"actual_seq_qlen": np.array([1, 3]), "layout": "TND"},
         bf(y) if layout == "SBH" else y.astype(f4), eight(most), eight(p + q))
x, d, grad = bf(normal(6, 3)), bf(normal(6, 4)), normal(8, 3)
f, g = x.astype(float), d.astype(float)
case("MindSpeed.npu_groupmatmul_add_fp32", [d, x, np.array([2, 6]), grad], {}, after=("npu_reader", {"grad": np.array(grad + np.concatenate([g[:2].T @ f[:2], g[2:].T @ f[2:]]), f4)}))
grad = normal(4, 3)
case("MindSpeed.npu_matmul_add_fp32", [x, d, grad], {}, after=("npu_reader", {"grad": np.array(grad + g.T @ f, f4)}))
f, g, v = normal(1, 2, 3, 4), normal(1, 2, 5, 4), normal(1, 2, 5, 4)
e = .5 * (f.astype(float) @ g.astype(float).transpose(0, 1, 3, 2))
e = np.exp(e - e.max(-1, keepdims=True))
case("MindSpeed.npu_fusion_attention", [f, g, v, 2, "BNSD"], {"scale": .5, "pre_tokens": 65536, "next_tokens": 65536, "pse_type": 1},
     (e / e.sum(-1, keepdims=True) @ v).astype(f4))

# Gradients: what training goes back through, by differences, as the functions' own gradients and as the kernels that compute them.
def silu(x):
    return x / (1 + np.exp(-x))


def to4(list):
    return [np.asarray(x, f4) for x in list]


x, g = normal(3, 8), normal(3, 4)
y = lambda x: silu(x[:, :4]) * x[:, 4:]
d = to4(pull(y, [x], g))
case("npu_swiglu", [x], {"dim": -1}, y(x.astype(float)).astype(f4), back=([g], d))
case("npu_swiglu_backward", [g, x, -1], {}, *d)
x, g = bf(x), bf(g)
case("npu_swiglu", [x], {"dim": -1}, bf(y(x.astype(float))), back=([g], [bf(v) for v in pull(y, [x], g)]))
x, g = normal(3, 8), normal(3, 4)
erf = np.vectorize(math.erf)
for kind, act in ("none", lambda x: x / 2 * (1 + erf(x / 2 ** .5))), ("tanh", lambda x: x / 2 * (1 + np.tanh((2 / np.pi) ** .5 * (x + .044715 * x ** 3)))):
    y = lambda x: act(x[:, 4:]) * x[:, :4]
    d, gate = to4(pull(y, [x], g)), act(x[:, 4:].astype(float)).astype(f4)
    case("npu_geglu", [x], {"dim": -1, "approximate": int(kind == "tanh"), "activate_left": False}, y(x.astype(float)).astype(f4), gate, back=([g, None], d))
    case("npu_geglu_grad", [g, x, gate, -1, int(kind == "tanh"), False], {}, *d)
    case("npu_gelu_backward", [g, x[:, :4].copy()], {"approximate": kind}, *to4(pull(act, [x[:, :4]], g)))
case("npu_silu_backward", [g, x[:, :4].copy(), silu(x[:, :4].astype(float)).astype(f4)], {}, *to4(pull(silu, [x[:, :4]], g)))
case("npu_mish_backward", [g, x[:, :4].copy()], {}, *to4(pull(lambda x: x * np.tanh(np.log1p(np.exp(x))), [x[:, :4]], g)))
case("npu_fast_gelu_backward", [g, x[:, :4].copy()], {}, *to4(pull(lambda x: x * np.exp(.851 * (x - abs(x))) / (1 + np.exp(-1.702 * abs(x))), [x[:, :4]], g)))
x, w, g = normal(4, 6), normal(6), normal(4, 6)
root = lambda x: 1 / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5)
y = lambda x, w: x * root(x) * w
d, r = to4(pull(y, [x, w], g)), root(x.astype(float)).astype(f4)
case("npu_rms_norm", [x, w, 1e-5], {}, y(x.astype(float), w).astype(f4), r, back=([g, None], d))
case("npu_rms_norm_backward", [g, x, w, r], {}, *d)
mean, dev = x.astype(float).mean(-1, keepdims=True), x.astype(float).std(-1, keepdims=True)
y = lambda x, w, b: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b
case("npu_layernorm_grad", [g, x, [6], mean.astype(f4), (1 / np.sqrt(dev ** 2 + 1e-5)).astype(f4), w, w], {}, *to4(pull(y, [x, w, w], g)))
for kind in (np.asarray, bf):
    for mode in "half", "interleave":
        x, g, angle = kind(normal(2, 3, 2, 6)), kind(normal(2, 3, 2, 6)), normal(1, 3, 1, 6)
        c, s = kind(np.cos(angle)), kind(np.sin(angle))
        y = lambda x, c, s: x * c + (np.concatenate([-x[..., 3:], x[..., :3]], -1) if mode == "half" else np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)) * s
        d = [kind(v.astype(f4)) for v in pull(y, [x, c, s], g)]
        case("npu_rotary_mul", [x, c, s, mode], {}, kind(y(x.astype(float), c.astype(float), s.astype(float)).astype(f4)), back=([g], d))
        case("npu_rotary_mul_backward", [g, x, c, s, mode], {}, *d)
x, g, mask = normal(2, 2, 3, 5), normal(2, 2, 3, 5), rng.random((2, 1, 3, 5)) < .3
y = lambda x: softmax(np.where(mask, -10000, x * .5))
p = y(x.astype(float)).astype(f4)
d = to4([.5 * np.where(mask, 0, p * (g - (g * p.astype(float)).sum(-1, keepdims=True)))])  # from the recorded result, as it is kept
assert np.abs(d[0] - pull(y, [x], g)[0]).max() < 1e-6
case("npu_scaled_masked_softmax", [x, mask, .5, False], {}, p, back=([g], d))
case("npu_scaled_masked_softmax_backward", [g, p, mask, .5, False], {}, *d)
x, w, g = normal(2, 3, 4), normal(2, 4, 5), normal(2, 3, 5)
d = to4([g.astype(float) @ w.transpose(0, 2, 1), x.astype(float).transpose(0, 2, 1) @ g])
case("npu_bmmV2", [x, w, []], {}, (x.astype(float) @ w).astype(f4), back=([g], d))
case("npu_bmm_v2_mat1_backward", [g, x, w, [2, 3, 4]], {}, d[0])
case("npu_bmm_v2_mat2_backward", [g, x, w, [2, 4, 5]], {}, d[1])
w = normal(5, 4)
case("npu_linear_backward", [g[0], x[0], w], {}, (g[0].astype(float) @ w).astype(f4), (g[0].astype(float).T @ x[0]).astype(f4))
x, g = normal(2, 3, 4), normal(4, 6)
case("npu_confusion_transpose", [x, [2, 0, 1], [4, 6], True], {}, x.transpose(2, 0, 1).reshape(4, 6), back=([g], [g.reshape(4, 2, 3).transpose(1, 2, 0).copy()]))
x, index, g = normal(4, 3), np.array([2, 0, 2]), normal(3, 3)
d = np.zeros((4, 3))
np.add.at(d, index, g)
case("npu_gather_sparse_index_backward", [g, [4, 3], index], {}, d.astype(f4))
d = np.zeros((4, 3))
at = np.array([[1, 0, 3], [1, 2, 3]])
np.add.at(d, (at, np.arange(3)), g[:2])
case("npu_gather_backward", [g[:2].copy(), [4, 3], 0, at, False], {}, d.astype(f4))
labels, g = softmax(normal(4, 6)), normal(4)
x = normal(4, 6)
case("npu_softmax_cross_entropy_with_logits_backward", [g, x, labels], {}, *to4(pull(lambda x: -(labels * np.log(softmax(x))).sum(1), [x], g)))
x, target, weight, g = normal(3, 4), rng.random((3, 4)).astype(f4), np.abs(normal(4)), np.array(1.5, f4)
case("npu_binary_cross_entropy_with_logits_backward", [g, x, target, weight, None, 1], {},
     *to4(pull(lambda x: ((np.log1p(np.exp(-x)) + (1 - target) * x) * weight).mean(), [x], g)))
x, g = normal(3, 4) * 3, normal(3, 4)


def held(x):
    n = np.sqrt((x ** 2).sum(1, keepdims=True))
    return np.where(n > 2, x * 2 / (n + 1e-7), x)


case("npu_renorm_backward", [g, x, 2., 0, 2.], {}, *to4(pull(held, [x], g)))
x, w, g = normal(1, 2, 5, 5), normal(3, 2, 3, 3), normal(1, 3, 3, 3)


def slid(x, w):
    return np.array([[[(x[0, :, i:i + 3, j:j + 3] * k).sum() for j in range(3)] for i in range(3)] for k in w])[None]


d = to4(pull(slid, [x, w], g)) + [g.astype(float).sum((0, 2, 3)).astype(f4)]
case("npu_conv2d_backward", [x, g, w, [1, 1], [0, 0], [1, 1], 1, [True, True, True]], {}, *d)
case("npu_convolution_backward", [x, g, w, [1, 1], [0, 0], [1, 1], 1, [True, True, True]], {}, *d)
x, w, g = normal(1, 2, 4, 3, 3), normal(2, 2, 2, 2, 2), normal(1, 2, 3, 2, 2)
cubes = lambda x, w: np.array([[[[(x[0, :, h:h + 2, i:i + 2, j:j + 2] * k).sum() for j in range(2)] for i in range(2)] for h in range(3)] for k in w])[None]
case("npu_conv3d_backward", [x, g, w, [1, 1, 1], [0, 0, 0], [1, 1, 1], 1, [True, True, True]], {}, *to4(pull(cubes, [x, w], g)), g.astype(float).sum((0, 2, 3, 4)).astype(f4))
x, w, g = normal(1, 3, 3, 3), normal(3, 2, 3, 3), normal(1, 2, 5, 5)


def spread(x, w):
    y = np.zeros((1, 2, 5, 5))
    for i, j in np.ndindex(3, 3):
        y[0, :, i:i + 3, j:j + 3] += np.einsum("c,cokl->okl", x[0, :, i, j], w)
    return y


d = to4(pull(spread, [x, w], g)) + [g.astype(float).sum((0, 2, 3)).astype(f4)]
for name in "npu_conv_transpose2d_backward", "npu_convolution_transpose_backward":
    case(name, [x, g, w, [0, 0], [0, 0], [1, 1], [1, 1], 1, [True, True, True]], {}, *d)

# Attention and its gradients; in a ring the statistics and the result are of more keys than these.
def scores(q, k, v, seen, more=None):
    k, v = k.repeat(len(q) // len(k), 0), v.repeat(len(q) // len(v), 0)
    return np.where(seen, q @ k.swapaxes(1, 2) * .3, -np.inf)


def attends(q, k, v, seen=True):
    return softmax(scores(q, k, v, seen)) @ v.repeat(len(q) // len(v), 0)


eight = lambda x: np.asarray(x, f4)[..., None].repeat(8, -1)
q, k, v, g = normal(2, 4, 6), normal(1, 5, 6), normal(1, 5, 6), normal(2, 4, 6)
s = scores(*(x.astype(float) for x in (q, k, v)), True)
most = s.max(-1)
total = np.exp(s - most[..., None]).sum(-1)
d = to4(pull(attends, [q, k, v], g))
o = attends(q.astype(float), k.astype(float), v.astype(float)).astype(f4)
case("npu_fusion_attention", [q[None], k[None], v[None], 2, "BNSD"], {"scale": .3}, o[None], eight(most[None]), eight(total[None]), back=([g[None], None, None], [x[None] for x in d]))
saved = {"softmax_max": eight(most[None]), "softmax_sum": eight(total[None]), "attention_in": o[None], "scale_value": .3}
case("npu_fusion_attention_grad", [q[None], k[None], v[None], g[None], 2, "BNSD"], saved, *[x[None] for x in d], None)
both = lambda q, k, v: attends(q, np.concatenate([k, u], 1), np.concatenate([v, z], 1))
u, z = (normal(1, 3, 6).astype(float) for _ in range(2))
s = scores(q.astype(float), np.concatenate([k, u], 1), np.concatenate([v, z], 1), True)
most = s.max(-1)
saved = {"softmax_max": eight(most[None]), "softmax_sum": eight(np.exp(s - most[..., None]).sum(-1)[None]), "attention_in": both(q.astype(float), k, v).astype(f4)[None], "scale_value": .3}
rows = to4(pull(lambda k, v: both(q.astype(float), k, v), [k, v], g))
p = softmax(s)[..., :5]
dp = g.astype(float) @ v.astype(float).repeat(2, 0).swapaxes(1, 2)
part = .3 * (p * (dp - (g * both(q.astype(float), k, v)).sum(-1, keepdims=True))) @ k.repeat(2, 0)
case("npu_fusion_attention_grad_v2", [q[None], k[None], v[None], g[None], 2, "BNSD"], saved, part.astype(f4)[None], *[x[None] for x in rows], None)
q, k, v, g = bf(normal(4, 2, 6)), bf(normal(5, 2, 6)), bf(normal(5, 2, 6)), bf(normal(4, 2, 6))


def packed(q, k, v):
    parts = [attends(q[a:b].swapaxes(0, 1), k[c:e].swapaxes(0, 1), v[c:e].swapaxes(0, 1), np.arange(e - c) <= np.arange(b - a)[:, None]).swapaxes(0, 1) for a, b, c, e in ((0, 3, 0, 3), (3, 4, 3, 5))]
    return np.concatenate(parts)


o = bf(packed(*(x.astype(float) for x in (q, k, v))))
d = pull(packed, [q, k, v], g)
off = ((o - packed(*(x.astype(float) for x in (q, k, v)))) * g).sum(-1)  # the gradients are by the result as it is kept
for a, b, c, e in ((0, 3, 0, 3), (3, 4, 3, 5)):
    p = softmax(scores(*(x.astype(float).swapaxes(0, 1) for x in (q[a:b], k[c:e], v[c:e])), np.arange(e - c) <= np.arange(b - a)[:, None]))
    ds = .3 * p * off[a:b].T[..., None]
    d[0][a:b] -= (ds @ k[c:e].astype(float).swapaxes(0, 1)).swapaxes(0, 1)
    d[1][c:e] -= (ds.swapaxes(1, 2) @ q[a:b].astype(float).swapaxes(0, 1)).swapaxes(0, 1)
case("npu_fusion_attention", [q, k, v, 2, "TND"], {"scale": .3, "sparse_mode": 2, "atten_mask": np.triu(np.ones((8, 8), bool), 1), "actual_seq_qlen": [3, 4], "actual_seq_kvlen": [3, 5]},
     o, back=([g], [bf(x) for x in d]))

# Norms of sums, and with one more, their gradients, and what is quantised behind them
a, b, w, shift, g, more = normal(3, 8), normal(3, 8), normal(8), normal(8), normal(3, 8), normal(3, 8)
f, e = (v.astype(float) for v in (a, b))
root = lambda x, eps=1e-6: 1 / np.sqrt((x ** 2).mean(-1, keepdims=True) + eps)
dev = lambda x, eps: 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
flat = lambda x, w, c, eps: (x - x.mean(-1, keepdims=True)) * dev(x, eps) * w + c
case("npu_gemma_rms_norm", [a, w], {}, (f * root(f) * (1 + w.astype(float))).astype(f4), root(f).astype(f4))
s = f + e
case("npu_add_rms_norm_v2_functional", [a, b, w], {}, root(s).astype(f4), (s * root(s) * w).astype(f4), s.astype(f4))
h, j, v = normal(3, 8, dtype=np.float16), normal(3, 8, dtype=np.float16), normal(8, dtype=np.float16)
s = (h + j).astype(float)
y = (s * root(s) * v).astype(np.float16)
case("npu_add_rms_norm_cast", [h, j, v], {}, y.astype(f4), y, root(s).astype(f4), h + j)
s = f + e
d = pull(lambda x, y, w, c: flat(x + y, w, c, 1e-5), [a, b, w, shift], g)
d = to4([d[0] + more, d[1] + more] + d[2:])
mean, rstd = s.mean(-1, keepdims=True).astype(f4), dev(s, 1e-5).astype(f4)
case("npu_add_layer_norm", [a, b, w, shift, 1e-5, True], {}, flat(s, w, shift, 1e-5).astype(f4), mean, rstd, s.astype(f4), back=([g, None, None, more], d))
case("npu_add_layer_norm_backward", [g, a, b, rstd, mean, w, more], {}, *d)
s = .3 * f + e
d = to4(pull(lambda x, y, c, w: flat(.3 * x + y, w, c, 1e-6), [a, b, shift, w], g))
mean, rstd = s.mean(-1, keepdims=True).astype(f4), dev(s, 1e-6).astype(f4)
case("npu_deep_norm", [a, b, shift, w, .3], {}, mean, rstd, flat(s, w, shift, 1e-6).astype(f4), back=([None, None, g], d))
case("npu_deep_norm_backward", [g, a, b, w, mean, rstd, .3], {}, *d)
scale, zero = np.array([.04], f4), np.array([3], f4)
for divides in True, False:
    y = f * root(f) * w + shift
    case("npu_rms_norm_quant_v2", [a, w, scale if divides else 1 / scale], {"offset": zero, "beta": shift, "div_mode": divides}, np.rint(y / .04 + 3).clip(-128, 127).astype(np.int8), root(f).astype(f4))
x, mask, bias = normal(1, 2, 3, 4, 4), normal(1, 2, 1, 4, 4), normal(1, 1, 3, 4, 4)
case("npu_masked_softmax_with_rel_pos_bias", [x, mask, bias, .5], {}, softmax(x.astype(float) * .5 + mask + bias).astype(f4))
x, w, mask, g = normal(6, 2, 3), normal(3, 3), rng.random((2, 6)) > .3, normal(6, 2, 3)


def causal(x, w):
    y = np.zeros(x.shape)
    for i in range(3):
        y[2 - i:] += x[:6 - 2 + i] * w[i]
    return np.where(mask.T[..., None], y, 0)


d = to4(pull(causal, [x, w], g))
case("npu_masked_causal_conv1d", [x, w], {"mask": mask}, causal(x.astype(float), w.astype(float)).astype(f4), back=([g], d))
case("npu_masked_causal_conv1d_backward", [g, x, w], {"mask": mask}, *d)
x, w, z = normal(3, 5), normal(5, 4), normal(3, 4)
p = x.astype(float) @ w
for how, y in ("add", p + z), ("mul", p * z), ("gelu_erf", p / 2 * (1 + erf(p / 2 ** .5))):
    case("npu_fused_matmul", [x, w], {"x3": z if how in ("add", "mul") else None, "fused_op_type": how}, y.astype(f4))
x, scale, token, bias = rng.integers(-4000, 4000, (3, 5)).astype(np.int32), np.abs(normal(5)), np.abs(normal(3)), rng.integers(-50, 50, 5).astype(np.int32)
case("npu_dequant_bias", [x, scale, token, None], {}, (x * scale.astype(float) * token[:, None]).astype(np.float16))
case("npu_dequant_bias", [x, scale, token, bias], {}, ((x + bias) * scale.astype(float) * token[:, None]).astype(np.float16))
x = normal(3, 6)
case("npu_quant_max", [x, np.array([.02], f4)], {}, f8(x / f4(.02)), np.abs(x).max().reshape(1))

# Experts: what goes back, and their choice; updates of weights
x, ids, probs = normal(4, 3), np.array([[2, 0], [1, 2], [0, 3], [2, 1]], np.int32), np.abs(normal(4, 2))
order = np.argsort(ids.ravel(), kind="stable")
back, g = np.argsort(order).astype(np.int32), normal(8, 3)
d = g[back].astype(float).reshape(4, 2, 3).sum(1).astype(f4)
case("npu_moe_token_permute", [x, ids], {}, x[order // 2], back, back=([g, None], [d]))
case("npu_moe_token_permute_grad", [x, g, ids, back], {}, d)
case("npu_moe_token_permute_grad_v2", [g, back, 4, "torch.float32", 2], {}, d)
rows, g = normal(8, 3), normal(4, 3)
y = lambda x, p: (x[back].reshape(4, 2, 3) * p[..., None]).sum(1)
d = to4(pull(y, [rows, probs], g))
case("npu_moe_token_unpermute", [rows, back, probs], {}, y(rows.astype(float), probs).astype(f4), back=([g], d))
case("npu_moe_token_unpermute_grad", [rows, g, back, probs], {}, *d)
case("npu_moe_token_unpermute_grad_v2", [g, back, 8, "torch.float32"], {"probs": probs, "permuted_tokens": rows}, *d)
x = normal(3, 6)
best = np.argsort(-x, -1, kind="stable")[:, :2]
p, high = softmax(x.astype(float)), np.take_along_axis(x, best, 1)
case("npu_moe_gating_top_k_softmax_v2", [x], {"k": 2, "output_softmax": True}, np.take_along_axis(p, best, 1).astype(f4), best.astype(np.int32), p.astype(f4))
case("npu_moe_gating_top_k_softmax_v2", [x], {"k": 2, "renorm": 1}, softmax(high.astype(float)).astype(f4), best.astype(np.int32), None)
w, m, v, g = normal(4, 3), normal(4, 3) / 9, np.abs(normal(4, 3)) / 99, normal(4, 3)
wide = [x.astype(float) for x in (w, m, v, g)]


def moments(g, b, c):
    return b * wide[1] + (1 - b) * g, c * wide[2] + (1 - c) * g * g


n, s = moments(wide[3], .9, .999)
case("npu_apply_adam", [.81, .998, .01, .9, .999, 1e-8, g, False, False], {"out": [w, m, v]}, *to4([wide[0] - .01 * (1 - .998) ** .5 / (1 - .81) * n / (s ** .5 + 1e-8), n, s]))
n, s = moments(-wide[3], .9, .999)
case("npu_apply_adam_w", [.81, .998, .01, .1, .9, .999, 1e-8, g, None, False, True], {"out": [w, m, v]},
     *to4([wide[0] * (1 - .001) - .01 * n / (1 - .81 * .9) / ((s / (1 - .998 * .999)) ** .5 + 1e-8), n, s]))
mean = normal(4, 3)
for mode in 1, 0:
    n, s = moments(wide[3] + .1 * wide[0] * (1 - mode), .9, .999)
    y = wide[0] - .01 * (n / (1 - .9 ** 3) / ((s / (1 - .999 ** 3)) ** .5 + 1e-8) + .1 * wide[0] * mode)
    case("MindSpeed.npu_apply_fused_ema_adamw", [g, w, m, v, mean, np.array([3])], {"lr": .01, "ema_decay": .99, "mode": mode, "weight_decay": .1}, *to4([y, n, s, .99 * mean + .01 * y]))

# Blocks of 32 with a power of two, along axes, of tiles, behind norms and gates
def blocks(x, axis=-1, top=8):
    x = np.moveaxis(np.asarray(x, float), axis, -1)
    n = x.shape[-1]
    wide = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, -n % 64)]).reshape(x.shape[:-1] + (-1, 2, 32))
    most = np.abs(wide).max(-1)
    e = np.where(most > 0, np.floor(np.log2(np.maximum(most, 1e-30))) - top, -127)
    y = (wide / 2.0 ** e[..., None]).reshape(x.shape[:-1] + (-1,))[..., :n]
    return f8(np.moveaxis(y, -1, axis)), np.moveaxis(e + 127, -2, axis if axis >= 0 else axis - 1).astype(np.uint8)


x = bf(normal(70, 3) * 9)
case("npu_dynamic_mx_quant", [x], {"axis": 0}, *blocks(x, 0))
case("npu_dynamic_mx_quant_with_dual_axis", [x], {}, *blocks(x), *blocks(x, -2))
parts = [blocks(x[:33], 0), blocks(x[33:], 0)]  # a pair of blocks stays free between groups
case("npu_grouped_dynamic_mx_quant", [x, np.array([33, 70])], {}, f8(np.concatenate([np.asarray(p[0]) for p in parts])), np.concatenate([p[1] for p in parts] + [parts[0][1] * 0]))
x = bf(normal(1, 34, 66))
tiles = np.pad(np.asarray(x, float), ((0, 0), (0, 30), (0, 30))).reshape(1, 2, 32, 3, 32)
e = np.floor(np.log2(np.abs(tiles).max((2, 4)))) - 8
y = f8((tiles / 2.0 ** e[:, :, None, :, None]).reshape(1, 64, 96)[:, :34, :66])
e = (np.pad(e, ((0, 0), (0, 0), (0, 1))) + 127).astype(np.uint8)
case("npu_dynamic_block_mx_quant", [x], {}, y, e.repeat(32, 1)[:, :34].reshape(1, 34, 2, 2), e[..., :3].repeat(32, 2)[:, :, :66].reshape(1, 1, 2, 66).swapaxes(2, 3).copy())
x, w = bf(normal(3, 70)), normal(70)
f = np.asarray(x, float)
y = np.asarray(bf(f * root(f) * w), float)
case("npu_rms_norm_dynamic_mx_quant", [x, w], {}, *blocks(y), root(f).astype(f4))
z = bf(normal(3, 70))
s = bf(f + np.asarray(z, float))
f = np.asarray(s, float)
y, e = blocks(np.asarray(bf(f * root(f) * w), float))
case("npu_add_rms_norm_dynamic_mx_quant", [x, z, w], {}, y, s, e, root(f).astype(f4))
x = bf(normal(34, 12))
f = np.asarray(x, float)
y = np.asarray(bf(silu(f[:, :6]) * f[:, 6:]), float)
case("npu_swiglu_mx_quant", [x], {"activate_left": True}, *blocks(y))
case("npu_swiglu_mx_quant_with_dual_axis", [x], {"scale_alg": 0}, *blocks(y), *blocks(y, -2))
q, e = blocks(y, 0)
case("npu_anti_mx_quant", [q, e], {"axis": 0}, (np.asarray(q, float) * 2.0 ** (e.astype(float).repeat(32, -1).swapaxes(1, 2).reshape(-1, 6)[:34] - 127)).astype(f4))
a, p = blocks(normal(3, 64))
b, r = blocks(normal(64, 4), 0)
y = normal(3, 4)
whole = (np.asarray(a, float) * 2.0 ** (p.astype(float).reshape(3, 2).repeat(32, 1) - 127)) @ (np.asarray(b, float) * 2.0 ** (r.astype(float)[0].T.repeat(32, 0) - 127))
for name in "npu_add_quant_matmul", "npu_add_quant_matmul_":
    case(name, [y, a, b, r], {"x1_scale": p, "group_sizes": [1, 1, 32]}, (y + whole).astype(f4))

# What functions of other calls return in place of writing it, tokens by a map, and sequences without padding
key, value = bf(normal(3, 2, 16)), bf(normal(3, 2, 16))
before = [bf(normal(4, 4, 2, 16)) for _ in range(2)]
left = [c.copy() for c in before]
for c, v in zip(left, (key, value)):
    c.reshape(-1, 2, 16)[[6, 13]] = v[[0, 2]]
case("npu_scatter_pa_kv_cache_functional", [key, value, before[0], before[1], np.array([6, -1, 13], np.int32)], {"cache_mode": "Norm"}, *left)
case("npu_gather_pa_kv_cache_functional", *gathers)
if not options.recording:  # where the state would be as it was before the call that wrote it
    case("npu_recurrent_gated_delta_rule_functional", *deltas)
routes, probs, rows, g = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]], bool), np.abs(normal(3, 3)), normal(6, 4), normal(6, 4)
tokens = np.concatenate([np.flatnonzero(routes[:, e]) for e in range(3)])
back = np.argsort(tokens, kind="stable").astype(np.int32)
y = (rows[back].astype(float) * probs[routes][:, None]).reshape(3, 2, 4).sum(1).astype(f4)
kept = {"probs": probs, "routing_map": routes}
case("npu_moe_token_unpermute_with_routing_map", [rows, back, [3, 4]], kept, y)
case("_npu_moe_token_unpermute_with_routing_map", [rows, back, [3, 4]], kept, y, None, None, probs[routes])
h = normal(3, 4)
d = pull(lambda x, p: (x[back] * p[routes][:, None]).reshape(3, 2, 4).sum(1), [rows, probs], h)
case("npu_moe_token_unpermute_with_routing_map_grad", [h, back, back, routes, rows, probs, False, [3, 4]], {}, *to4(d))
d, r = np.zeros((3, 3), f4), normal(6)
d.T[routes.T] = r
case("npu_moe_token_permute_with_routing_map_grad", [g, r, back, routes, 3, 3, False], {}, g[back].astype(float).reshape(3, 2, 4).sum(1).astype(f4), d)
q, k, v = bf(normal(5, 2, 8)), bf(normal(5, 1, 8)), bf(normal(5, 1, 8))
to = lambda x: np.asarray(bf(x.astype(f4)), f4).astype(float)
parts = [attend(q[a:b].swapaxes(0, 1), k[a:b].swapaxes(0, 1), v[a:b].swapaxes(0, 1), .3, True, to=to)[0].swapaxes(0, 1) for a, b in ((0, 3), (3, 5))]
case("_npu_flash_attention_unpad", [], {"query": q, "key": k, "value": v, "seq_len": np.array([3, 2], np.int32), "scale_value": .3, "num_heads": 2, "num_kv_heads": 1, "out": bf(np.zeros((5, 2, 8), f4))},
     after=("npu_reader", {"out": bf(np.concatenate(parts))}))

# Products of batches that change places, with blocks along what is summed up or scales of tokens and channels
a, p = blocks(normal(3, 2, 64))
b, r = blocks(normal(2, 64, 4), 1)
whole = lambda v, e: np.asarray(v, float) * 2.0 ** (e.astype(float).repeat(32, -1).reshape(v.shape) - 127)
u, v = whole(a, p), np.asarray(b, float) * 2.0 ** (r[:, 0].transpose(0, 2, 1).astype(float).repeat(32, 1) - 127)
turns = {"perm_x1": [1, 0, 2], "perm_x2": [0, 1, 2], "perm_y": [1, 0, 2]}
case("npu_transpose_quant_batchmatmul", [a, b, "torch.bfloat16"], {"x1_scale": p, "x2_scale": r, "group_sizes": [0, 0, 32], **turns}, bf(np.einsum("mbk,bkn->mbn", u, v)))
token, channel = np.abs(normal(3)) / 99, np.abs(normal(4)) / 99
y = np.einsum("mbk,bnk->mbn", np.asarray(a, float), np.asarray(b, float).transpose(0, 2, 1)) * channel * token[:, None, None]
case("npu_transpose_quant_batchmatmul", [a, np.ascontiguousarray(b.transpose(0, 2, 1)).view(float8_e4m3fn), "torch.float16"],
     {"x1_scale": token, "x2_scale": channel, **turns, "perm_x2": [0, 2, 1]}, y.astype(np.float16))

# Attention to chosen blocks, blocks of tokens weighed, dropouts by a mask of bits, and gradients of what moves and picks
q, qr, kv, kr = bf(normal(1, 3, 4, 8)), bf(normal(1, 3, 4, 4)), bf(normal(1, 7, 1, 8)), bf(normal(1, 7, 1, 4))
heads_first = lambda x: np.asarray(x, f4).swapaxes(0, 1)


def chosen(lists, size, tokens, l, causal=True):
    seen = np.zeros((l, tokens), bool)
    for i, row in enumerate(lists):
        for b in row:
            if b < 0:
                break
            seen[i, b * size:(b + 1) * size] = True
    return seen & right_down(l, tokens) if causal else seen


for mode in (3, 0):
    picks = np.array([[4, 0, 6, -1], [1, 5, 2, 3], [6, -1, 0, 0]], np.int32)
    y = attend(heads_first(np.concatenate([q, qr], -1)[0]), heads_first(np.concatenate([kv, kr], -1)[0]), heads_first(kv[0]), .3, chosen(picks, 1, 7, 3, mode == 3), to=to)[0]
    case("npu_sparse_flash_attention", [q, kv, kv, picks.reshape(1, 3, 1, 4), .3], {"query_rope": qr, "key_rope": kr, "sparse_mode": mode, "attention_mode": 2, **({"pre_tokens": 2**63 - 1, "next_tokens": 2**63 - 1} if mode else {})}, bf(y.swapaxes(0, 1)[None]))
q, pages, table = bf(normal(3, 4, 8)), bf(normal(5, 4, 1, 8)), np.array([[4, 2], [0, 3]], np.int32)
picks, parts = np.array([[2, 0], [1, -1], [2, 1]], np.int32), []
for b, (lo, hi, n) in enumerate(((0, 2, 6), (2, 3, 5))):
    keys = heads_first(pages[table[b]].reshape(-1, 1, 8)[:n])
    parts.append(attend(heads_first(q[lo:hi]), keys, keys, .3, chosen(picks[lo:hi], 2, n, hi - lo), to=to)[0].swapaxes(0, 1))
case("npu_sparse_flash_attention", [q, pages, pages, picks.reshape(3, 1, 2), .3], {"block_table": table, "actual_seq_lengths_query": np.array([2, 3], np.int32), "actual_seq_lengths_kv": np.array([6, 5], np.int32),
     "sparse_block_size": 2, "layout_query": "TND", "layout_kv": "PA_BSND"}, bf(np.concatenate(parts)))

q, kv, v, picks = bf(normal(3, 4, 8)), bf(normal(14, 2, 8)), bf(normal(14, 2, 4)), np.array([[[1, 0], [3, 2]], [[2, 0], [0, 1]], [[0, 1], [1, 2]]], np.int32)
parts = [[], [], []]
for lo, hi, a, b in ((0, 2, 0, 8), (2, 3, 8, 14)):
    seen = np.stack([chosen(picks[lo:hi, n // 2], 2, b - a, hi - lo, False) for n in range(4)])
    y, most, total = attend(heads_first(q[lo:hi]), heads_first(kv[a:b]), heads_first(v[a:b]), .3, seen, to=to)
    for part, x in zip(parts, (y.swapaxes(0, 1), most.T, total.T)):
        part.append(x)
y, most, total = (np.concatenate(p) for p in parts)
case("npu_nsa_select_attention", [q, kv, v, picks, .3, 4, 2, 2], {"actual_seq_qlen": [2, 3], "actual_seq_kvlen": [8, 14]}, bf(y), *(x.astype(f4)[..., None].repeat(8, -1) for x in (most, total)))

def compressed(x, w):
    return np.stack([(np.asarray(x)[a:a + 4] * np.asarray(w)[..., None]).sum(0) for a in (0, 2, 4, 9)])


x, w, g = normal(14, 2, 3), normal(4, 2), normal(4, 2, 3)
case("npu_nsa_compress", [x, w, 4, 2], {"actual_seq_len": [9, 14]}, compressed(x, w))
case("npu_nsa_compress_grad", [g, x, w, 4, 2], {"actual_seq_len": [9, 14]}, *to4(pull(compressed, [x, w], g)))
x, mask = normal(3, 8), rng.integers(0, 256, 16).astype(np.uint8)
bits = np.unpackbits(mask, bitorder="little")[:24].reshape(3, 8)
case("npu_dropout_do_mask", [x, mask, .25], {}, x * bits / f4(.75), mask)
case("npu_dropout_backward", [x, mask, .25], {}, x * bits / f4(.75))
x = normal(2, 6, 4)
case("npu_confusion_transpose_backward", [np.ascontiguousarray(x.reshape(2, 3, 2, 4).transpose(2, 0, 1, 3)), [2, 0, 1, 3], [2, 3, 2, 4], False], {}, x.reshape(2, 3, 2, 4))
case("npu_confusion_transpose_backward", [np.ascontiguousarray(x.reshape(2, 3, 2, 4).transpose(2, 0, 1, 3)), [2, 0, 1, 3], [2, 6, 4], True], {}, x)
x, top = normal(2, 3, 4), rng.integers(0, 3, (2, 4))
y = np.zeros((2, 3, 4), f4)
np.put_along_axis(y, top[:, None], x[:, :1], 1)
case("npu_max_backward", [x[:, 0].copy(), 1, top, [2, 3, 4], False], {}, y)
case("npu_min_backward", [x[:, :1].copy(), 1, top[:, None], [2, 3, 4], True], {}, y)
case("npu_view_copy", [normal(2, 3), y[0, :2, :3].copy(), False], {}, y[0, :2, :3].copy())

# Steps of recurrent networks, and blocks that are turned and quantised
x, h, c, w, u, b, d = normal(3, 5), normal(3, 4), normal(3, 4), normal(16, 5), normal(16, 4), normal(16), normal(16)
i, f, g, o = np.split((x @ w.T + b + h @ u.T + d).astype(float), 4, 1)
left = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
out = (sigmoid(o) * np.tanh(left)).astype(f4)
case("Torch.lstm_cell", [x, [h, c], w, u, b, d], {}, out, left.astype(f4))
case("npu_lstm_cell", [x, w.T.copy(), u.T.copy(), h, c, b, d], {}, out[None], out, left.astype(f4))
w, u, b, d = w[:12].copy(), u[:12].copy(), b[:12].copy(), d[:12].copy()
(r, z, n), (rh, zh, nh) = np.split((x @ w.T + b).astype(float), 3, 1), np.split((h @ u.T + d).astype(float), 3, 1)
z, n = sigmoid(z + zh), np.tanh(n + sigmoid(r + rh) * nh)
case("Torch.gru_cell", [x, h, w, u, b, d], {}, ((1 - z) * n + z * h).astype(f4))
w, u, b, d = w[:4].copy(), u[:4].copy(), b[:4].copy(), d[:4].copy()
case("Torch.rnn_tanh_cell", [x, h, w, u, b, d], {}, np.tanh(x @ w.T + b + h @ u.T + d))
case("Torch.rnn_relu_cell", [x, h, w, u], {}, np.maximum(x @ w.T + h @ u.T, 0))
x, w = bf(normal(3, 32)), bf(normal(16, 16) / 4)
y = np.asarray(bf((np.asarray(x).reshape(-1, 16) @ np.asarray(w)).reshape(3, 32)), f4)
case("npu_rotate_quant", [x, w], {}, *steps(y))

x, t = normal(3, 6) * 3, np.array([2, 0, 5])
most = x.max(1)
total = np.exp(x - most[:, None]).sum(1)
hit = (x[np.arange(3), t] - most).astype(f4)
case("npu_fused_cross_entropy_loss_with_max_sum", [most, total, hit], {"vocab_parallel_logits": x}, np.log(total) - hit, np.exp(x - most[:, None]) / total[:, None])

a, b, scale, token = bytes_(5, 8), bytes_(2, 8, 4), np.abs(normal(2, 4)) / 50, np.abs(normal(5)) / 50
y = (np.concatenate([a[:2].astype(float) @ b[0] * scale[0], a[2:].astype(float) @ b[1] * scale[1]]) * token[:, None]).astype(np.float16)
for name, groups in (("npu_quant_gmm", [2, 5]), ("npu_quant_gmm_v2", [2, 3])):
    case("MindSpeed." + name, [a, b, scale], {"per_token_scale": token, "group_list": np.array(groups), "output_dtype": "torch.float16"}, y)

# Gradients of kernels, steps by steps: by differences of numbers of float64


def box_share(kind, trans):
    def of(a, b, alpha=None):
        if trans:
            a, b = (np.concatenate([v[:2] - v[2:] / 2, v[:2] + v[2:] / 2]) for v in (a, b))
        t = {"giou": 0, "diou": 1e-9, "ciou": 1e-9}[kind]
        w, h = np.minimum(a[2], b[2]) - np.maximum(a[0], b[0]), np.minimum(a[3], b[3]) - np.maximum(a[1], b[1])
        inner = w.clip(0) * h.clip(0)
        union = (a[2] - a[0]) * (a[3] - a[1] + t) + (b[2] - b[0]) * (b[3] - b[1] + t) - inner + 1e-16
        wide, high = np.maximum(a[2], b[2]) - np.minimum(a[0], b[0]), np.maximum(a[3], b[3]) - np.minimum(a[1], b[1])
        if kind == "giou":
            return inner / union - (wide * high - union) / (wide * high)
        y = inner / union - (((a[0] + a[2] - b[0] - b[2]) ** 2 + (a[1] + a[3] - b[1] - b[3]) ** 2) / 4) / (wide ** 2 + high ** 2 + t)
        if kind == "ciou":
            v = 4 / np.pi ** 2 * (np.arctan((b[2] - b[0]) / (b[3] - b[1] + t)) - np.arctan((a[2] - a[0]) / (a[3] - a[1] + t))) ** 2
            y = y - v * (v / (1 + t - inner / union + v) if alpha is None else alpha)
            of.alpha = v / (1 + t - inner / union + v)
        return y
    return of


a, b, g = rng.random((4, 5)) * 4 + 1, rng.random((4, 5)) * 4 + 1, normal(5)
a[2:], b[2:], a, b = a[2:] + 1, b[2:] + 1, a.astype(f4), b.astype(f4)
for kind in ("giou", "diou", "ciou"):
    of = box_share(kind, True)
    of(a.astype(float), b.astype(float))
    da, db = pull((lambda p, q, al=of.alpha: of(p, q, al)) if kind == "ciou" else of, [a, b], g)
    case("npu_%s_backward" % kind, [g.reshape(1, 5), a, b] + ([None] if kind == "ciou" else []), {"trans": True}, da.astype(f4), db.astype(f4))
p, q = np.concatenate([a[:2] - a[2:] / 2, a[:2] + a[2:] / 2]), np.concatenate([b[:2] - b[2:] / 2, b[:2] + b[2:] / 2])
da, db = pull(box_share("giou", False), [p, q], g)
case("npu_giou_backward", [g.reshape(1, 5), p, q], {}, da.astype(f4), db.astype(f4))

x, target, weight = normal(4, 6), np.array([2, 5, 0, 2]), np.abs(normal(6)) + f4(.2)
logs = np.log(softmax(x.astype(float)))


def smooth_loss(z):
    lp, taken = z - z.max(-1, keepdims=True), weight.astype(float)[target]
    lp = lp - np.log(np.exp(lp).sum(-1, keepdims=True))
    return np.array([((.9 * -lp[range(4), target] * taken).sum() - .1 / 6 * (lp * weight).sum()) / taken.sum()])


case("npu_cross_entropy_loss_backward", [np.array(1.5, f4), logs.astype(f4), target, weight], {"label_smoothing": .1}, pull(smooth_loss, [np.log(softmax(logs.astype(f4).astype(float)))], [1.5])[0].astype(f4))
x, w, b, g = normal(2, 4, 3, 2), normal(4), normal(4), normal(2, 4, 3, 2)


def group_swish(x, w, b):
    z = x.reshape(2, 2, -1)
    z = ((z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + 1e-5)).reshape(x.shape) * w[None, :, None, None] + b[None, :, None, None]
    return z * sigmoid(z)


flat = x.astype(float).reshape(2, 2, -1)
case("npu_group_norm_swish_grad", [g, x, 2, w, b, flat.mean(-1).astype(f4), (1 / np.sqrt(flat.var(-1) + 1e-5)).astype(f4), [True, True, True]], {}, *[v.astype(f4) for v in pull(group_swish, [x, w, b], g)])
x, mix, inner, wrote, g = bf(normal(3, 4, 6)), normal(3, 4, 4), bf(normal(3, 6)), normal(3, 4), bf(normal(3, 4, 6))
dx, dmix, dinner, dwrote = pull(lambda x, m, h, p: np.einsum("tnm,tnd->tmd", m, x) + p[..., None] * h[:, None], [np.asarray(x), mix, np.asarray(inner), wrote], np.asarray(g))
case("npu_mhc_post_backward", [g, x, mix, inner, wrote], {}, bf(dx), dmix.astype(f4), bf(dinner), dwrote.astype(f4))
case("npu_mhc_post_backward", [g, x, None, inner, wrote], {}, g, None, bf(dinner), dwrote.astype(f4))
x, g, v = normal(2, 3, 5), normal(2, 3, 4), normal(2, 5, 4)
p = softmax(x.astype(float))
case("npu_attn_softmax", [x], {}, p.astype(f4))
case("npu_attn_softmax_backward", [p.astype(f4), g, v], {}, pull(lambda x: softmax(x) @ v, [x], g)[0].astype(f4))
x, idx, g = normal(4, 6), np.array([[0, 3], [5, 1], [2, 4], [1, 0]], np.int32), normal(4, 2)


def gates(x):
    s = np.take_along_axis(sigmoid(x), idx, 1)
    return 2.5 * s / (s.sum(1, keepdims=True) + 1e-20)


case("npu_moe_gating_top_k_backward", [sigmoid(x), g, idx], {"norm_type": 1, "routed_scaling_factor": 2.5}, pull(gates, [x], g)[0].astype(f4))
x, g, weight = normal(4, 8), normal(4, 4), normal(4, 1)
x[np.abs(np.abs(x) - .8) < .01] += f4(.1)  # no difference goes over the edge
for limit in (0., .8, -1.):  # none up to 0
    def clipped(x, w):
        a, b = np.split(x, 2, 1)
        if limit > 0:
            a, b = a.clip(None, limit), b.clip(-limit, limit)
        return a * sigmoid(a) * b * w
    y = clipped(x.astype(float), np.ones((4, 1))).astype(f4)
    dx, dw = pull(clipped, [x, weight], g)
    case("npu_swiglu_group_quant_backward", [g, x], {"weight": weight, "y_origin": y, "clamp_limit": limit}, dx.astype(f4), (g.astype(float) * y).sum(1, keepdims=True).astype(f4))
    case("npu_swiglu_group_quant_backward", [g, x], {"clamp_limit": limit}, pull(lambda x: clipped(x, 1.), [x], g)[0].astype(f4), None)

# Products of what is quantised inside, and tiles
x, w, scale = normal(5, 16).astype(np.float16), bytes_(3, 16), np.abs(normal(3)) / 50
y, step = steps(x.astype(f4))
case("npu_quant_matmul_dequant", [x, w, scale], {"quant_mode": "pertoken"}, (y.astype(float) @ w.T * scale * step[:, None]).astype(np.float16))
smooth, fixed = np.abs(normal(16)).astype(np.float16) + np.float16(.5), np.array([.03], f4)
y = np.rint((x.astype(f4) * smooth.astype(f4)) / fixed).clip(-128, 127)
case("npu_quant_matmul_dequant", [x, w, scale], {"x_scale": fixed, "smooth_scale": smooth, "quant_mode": "pertensor"}, (y.astype(float) @ w.T * scale * fixed).astype(np.float16))
w, scale, ends = bytes_(2, 3, 16), np.abs(normal(2, 3)) / 50, np.array([2, 5])
y, step = steps(x.astype(f4))
both = np.concatenate([y[:2].astype(float) @ w[0].T * scale[0], y[2:].astype(float) @ w[1].T * scale[1]]) * step[:, None]
case("npu_quant_grouped_matmul_dequant", [x, w, scale, ends], {"quant_mode": "pertoken"}, both.astype(np.float16))
x = bf(normal(5, 12))
tiles, low = np.zeros((5, 12)), np.zeros((4, 2))
for start, end, base in ((0, 3, 0), (3, 5, 2)):
    for i in range(start, end):
        for j in range(12):
            r = base + (i - start) // 2
            low[r, j // 8] = max(low[r, j // 8], abs(float(np.asarray(x)[i, j])) / 448)
            tiles[i, j] = r * 2 + j // 8
case("npu_grouped_dynamic_block_quant", [x, np.array([3, 5], np.int32)], {"row_block_size": 2, "col_block_size": 8, "dst_type": 292}, f8(np.asarray(x, float) / low.ravel()[tiles.astype(int)]), np.concatenate([low[:3], low[3:]]).astype(f4))
x, g = bf(normal(34, 64)), bf(normal(34, 32))
a, b, d = *np.split(np.asarray(x, float), 2, 1), np.asarray(g, float)
y = np.asarray(bf(np.concatenate([d * b * sigmoid(a) * (1 + a * (1 - sigmoid(a))), d * silu(a)], 1)), float)
case("_npu_swiglu_backward_mx_quant_with_dual_axis", [x, g], {"scale_alg": 0}, *blocks(y), *blocks(y, -2))
x, w, g = bf(normal(4, 8)), bf(normal(8)), bf(normal(4, 8))
root = 1 / np.sqrt((np.asarray(x, float) ** 2).mean(1, keepdims=True) + 1e-6)
dx, dw = pull(lambda x, w: x / np.sqrt((x ** 2).mean(1, keepdims=True) + 1e-6) * w, [np.asarray(x), np.asarray(w)], np.asarray(g))
q = np.rint(np.asarray(bf(dx), f4) / f4(.02)).clip(-128, 127).astype(np.int8)
case("_npu_rms_norm_backward_quant", [g, x, root.astype(f4), w, np.array([.02], f4)], {}, q, dw.astype(f4))

# What goes into caches and what steps on
y, g = softmax(normal(3, 8).astype(float)).astype(f4), normal(3, 8)
case("npu_dropout_with_add_softmax_backward", [g, np.full(4, 255, np.uint8), y, .5, 0., -1], {}, (.5 * (g - (g * y.astype(float)).sum(-1, keepdims=True)) * y).astype(f4), g)
bits = rng.integers(0, 2, 24)
kept = g.astype(float) * bits.reshape(3, 8) / .8
case("npu_dropout_with_add_softmax_backward", [g, np.packbits(bits.astype(np.uint8), bitorder="little"), y, .5, .2, -1], {}, (.5 * (kept - (kept * y).sum(-1, keepdims=True)) * y).astype(f4), g)
y, x, a, b, at = normal(4, 10), normal(4, 6), normal(3, 2, 5, 6), normal(3, 2, 8, 5), np.array([2, 0, 0, 1], np.int32)
z = y.astype(float)
z[:, 1:9] += .5 * np.einsum("br,bor->bo", np.einsum("bh,brh->br", x.astype(float), a[at, 1]), b[at, 1])
case("npu_batch_gather_matmul_", [y, x, b, at, a], {"layer_idx": 1, "scale": .5, "y_offset": 1, "y_slice_size": 8}, z.astype(f4))


def convolved(x, w, states, starts, lines, accepted=None, residual=0):
    out, states = np.zeros(x.shape), np.array(states, float)
    for b, line in enumerate(lines):
        part = x[starts[b]:starts[b + 1]]
        skip = states.shape[1] - len(w) + 1 if accepted is None else accepted[b] - 1
        whole = np.concatenate([states[line][:skip + len(w) - 1], part])
        n = min(states.shape[1], len(whole))
        states[line][-n:] = whole[-n:]
        whole = whole[skip:]
        out[starts[b]:starts[b + 1]] = sum(whole[j:len(part) + j] * w[j] for j in range(len(w))) + residual * part
    return out, states


x, w, states, starts, lines = bf(normal(9, 4)), bf(normal(3, 4)), bf(normal(4, 4, 4)), np.array([0, 5, 9], np.int32), np.array([2, 0], np.int32)
y, left = convolved(np.asarray(x), np.asarray(w), np.asarray(states), starts, lines)
case("npu_fused_causal_conv1d", [x, w, states], {"query_start_loc": starts, "cache_indices": lines}, bf(y), after=("npu_reader", {"conv_states": bf(left)}))
y, left = convolved(np.asarray(x), np.asarray(w), np.asarray(states), starts, lines, [1, 2], 1)
case("npu_fused_causal_conv1d", [x, w, states], {"query_start_loc": starts, "cache_indices": lines, "num_accepted_tokens": np.array([1, 2], np.int32), "residual_connection": 1}, bf(y), after=("npu_reader", {"conv_states": bf(left)}))
case("npu_fused_causal_conv1d_v2", [x, w, states], {"query_start_loc": starts, "cache_indices": lines, "num_accepted_tokens": np.array([1, 2], np.int32), "residual_connection": 1}, after=("npu_reader", {"x": bf(y), "conv_states": bf(left)}))
x, w, t = normal(10, 6), normal(8, 6), np.array([9, 3, 12, 11, 5, 8, 8, 14, 20, 7], np.int32)
logits = x @ w.T
most, out = logits.max(1), (t < 8) | (t > 15)
places = np.where(out, 0, t - 8).astype(np.int32)
bits = np.packbits(np.concatenate([out, np.ones(6)]).astype(np.uint8))
case("npu_fused_linear_online_max_sum", [x, w, t, 8, 15], {"return_logits": True}, most, np.exp(logits - most[:, None]).sum(1).astype(f4), np.where(out, 0, logits[range(10), places] - most).astype(f4), bits, places, logits)
g, total = normal(10), np.exp(logits - most[:, None]).sum(1).astype(f4)
p = softmax(logits.astype(float))
p[range(10), places] -= 1 - out
p *= g[:, None]
case("npu_fused_linear_cross_entropy_loss_with_max_sum_backward", [g, x, w, bits, places], {"logits_max": most, "sum_exp_logits": total}, (p @ w).astype(f4), (p.T @ x).astype(f4))
case("npu_fused_linear_cross_entropy_loss_with_max_sum_backward", [g, x, w, bits, places], {"softmax": softmax(logits.astype(float)).astype(f4)}, (p @ w).astype(f4), (p.T @ x).astype(f4))


def read_streams(x, phi, alpha, bias, gamma):
    flat = x.reshape(3, -1)
    mix, root = (flat * gamma.ravel()) @ phi.T, 1 / np.sqrt((flat ** 2).mean(1, keepdims=True) + 1e-6)
    z = mix * root * np.concatenate([np.full(4, alpha[0]), np.full(4, alpha[1]), np.full(16, alpha[2])]) + bias
    read, wrote, between = sigmoid(z[:, :4]) + 1e-6, 2 * sigmoid(z[:, 4:8]), z[:, 8:]
    return np.concatenate([np.einsum("tn,tnd->td", read, x), wrote, between], 1), root, mix, read, wrote


x, phi, alpha, bias, gamma, g = normal(3, 4, 5), normal(24, 20) / 4, normal(3), normal(24), normal(4, 5), normal(3, 25)
_, root, mix, read, wrote = read_streams(*[v.astype(float) for v in (x, phi, alpha, bias, gamma)])
grads = [v.astype(f4) for v in pull(lambda *v: read_streams(*v)[0], [x, phi, alpha, bias, gamma], g)]
case("npu_mhc_pre_backward", [x, phi, alpha, g[:, :5].copy(), g[:, 5:9].copy(), g[:, 9:].reshape(3, 4, 4).copy(), root[:, 0].astype(f4), mix.astype(f4), read.astype(f4), wrote.astype(f4)], {"gamma": gamma}, *grads)
x, idx, smooth = normal(5, 8), np.array([[1, 0], [2, 1], [0, 2], [2, 0], [1, 2]], np.int32), np.abs(normal(3, 8)) + f4(.5)
order = np.argsort(idx.ravel(), kind="stable")
q, step = steps(x[order // 2] * smooth[idx.ravel()[order]])
case("npu_moe_init_routing_quant", [x, idx], {"scale": smooth, "active_num": 0, "expert_num": 3, "expert_tokens_num_mode": 2}, q, np.argsort(order).astype(np.int32), np.bincount(idx.ravel(), minlength=3).astype(np.int32), None, step)
case("npu_moe_init_routing_quant", [x, idx], {"scale": np.array([20], f4), "offset": np.array([3], f4), "active_num": 0, "expert_num": 3, "expert_tokens_num_mode": 1, "quant_mode": 0}, np.rint(x[order // 2] * 20 + 3).clip(-128, 127).astype(np.int8), np.argsort(order).astype(np.int32), np.cumsum(np.bincount(idx.ravel(), minlength=3)).astype(np.int32), None, None)


def normed(x, w, eps=1e-6):
    return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + eps) * w


for quant in (False, True):
    tile = 32 if quant else 16
    x, a, b, cos, sin, at = bf(normal(6, 160)), bf(normal(32)), bf(normal(32)), bf(normal(6, 32)), bf(normal(6, 32)), np.array([3, 0, -1, 7, 5, 1])
    q, kk, v = (np.asarray(p, float).reshape(6, -1, 32) for p in np.split(np.asarray(x), [96, 128], 1))
    q, kk = (turn(normed(p, np.asarray(w, float)), np.asarray(cos, float)[:, None], np.asarray(sin, float)[:, None]) for p, w in ((q, a), (kk, b)))
    caches, scales = [], []
    for p in (kk, v):
        cache = rng.integers(-9, 9, (2, 32 // tile, 4, tile)).astype(np.int8) if quant else bf(normal(2, 32 // tile, 4, tile))
        scale = (np.abs(normal(1, 32)) / 20 + f4(.02)).astype(f4)
        after = np.array(cache)
        for i, s in enumerate(at):
            if s >= 0:
                row = np.rint(p[i] / scale).clip(-128, 127) if quant else np.asarray(bf(p[i]))
                after[s // 4, :, s % 4] = row.reshape(32 // tile, tile)
        caches.append((cache, after if quant else bf(after)))
        scales.append(scale)
    more = {"k_scale": scales[0], "v_scale": scales[1]} if quant else {}
    case("npu_qkv_rms_norm_rope_cache", [x, a, b, cos, sin, at, bf(normal(6, 96)), caches[0][0], caches[1][0]], {"qkv_size": [2, 3, 5, 32], "head_nums": [3, 1, 1], "is_output_qkv": True, **more},
         bf(q.reshape(6, 96)), bf(kk.reshape(6, 32)), bf(v.reshape(6, 32)), after=("npu_reader", {"q_out": bf(q.reshape(6, 96)), "k_cache": caches[0][1], "v_cache": caches[1][1]}))
    case("npu_qkv_rms_norm_rope_cache_functional", [x, a, b, cos, sin, at, bf(normal(6, 96)), caches[0][0], caches[1][0]], {"qkv_size": [2, 3, 5, 32], "head_nums": [3, 1, 1], "is_output_qkv": True, **more},
         bf(q.reshape(6, 96)), bf(kk.reshape(6, 32)), bf(v.reshape(6, 32)), bf(q.reshape(6, 96)), caches[0][1], caches[1][1])

kv, gamma, cos, sin, index, k_cache, c_cache, left, r, c = turned_cache
case("npu_kv_rmsnorm_rope_cache_v2", [kv, gamma, cos, sin, index, k_cache, c_cache], {"epsilon": 1e-5, "cache_mode": "PA", "is_output_kv": True}, bf(r), bf(c), after=("npu_reader", {"k_cache": left[0], "ckv_cache": left[1]}))
for name, page in (("npu_rope_quant_kvcache", False), ("npu_rope_quant_kvcache", True), ("npu_dequant_rope_quant_kvcache", False)):
    n = 1 if page else 2
    x, cos, sin, at = bf(normal(2, n, 64)), bf(normal(2, n, 1, 8)), bf(normal(2, n, 1, 8)), np.array([3, 1], np.int32)
    f, more = np.asarray(x, float), {}
    if name == "npu_dequant_rope_quant_kvcache":
        x = rng.integers(-900, 900, (2, n, 64)).astype(np.int32)
        more = {"weight_scale": np.abs(normal(64)) / 500, "activation_scale": np.abs(normal(2 * n)) + f4(.3)}
        f = x * more["weight_scale"].astype(float) * more["activation_scale"].reshape(2, n, 1)
    q, kk, v = (p.reshape(2, n, -1, 8) for p in np.split(f, [32, 48], 2))
    q, kk = turn(q, np.asarray(cos, float), np.asarray(sin, float)), turn(kk, np.asarray(cos, float), np.asarray(sin, float))
    scales, shift, caches, afters = [np.abs(normal(8)) * 20 + 5 for _ in range(2)], rng.integers(-5, 5, 8).astype(f4), [], []
    for p, scale in zip((kk, v), scales):
        cache = bytes_(2, 4, 2, 8)
        after = cache.copy()
        for b in range(2):
            whole = np.rint(p[b] * scale + shift).clip(-128, 127)
            if page:
                after.reshape(8, 2, 8)[at[b]] = whole[0]
            else:
                after[b, at[b] - 1:at[b] - 1 + n] = whole
        caches.append(cache)
        afters.append(after)
    case(name, [x, cos, sin, caches[0], caches[1], at if page else at - 1, scales[0], scales[1], [32, 16, 16]], {"offset_k": shift, "offset_v": shift, "kv_output": True, "cache_mode": "page" if page else "contiguous", **more},
         bf(q), bf(kk), bf(v), afters[0], afters[1])
parts, src = [normal(3, 4, 5) for _ in range(2)], normal(2, 3, 1, 5)
done = [p.copy() for p in parts]
done[0][:, 2], done[1][:, 0] = src[0, :, 0], src[1, :, 0]
case("npu_scatter_list", [parts, np.array([2, 0], np.int32), src], {"axis": -2}, done)
case("npu_scatter_list", [parts, np.array([2, 0], np.int32), src, np.array([0, 1], np.uint8)], {"axis": -2}, [parts[0], done[1]])
case("npu_scatter_list_", [parts, np.array([2, 0], np.int32), src], {"axis": -2}, after=("npu_reader", {"first": done[0], "second": done[1]}))
before = [np.array(v) for v in ([5, 6, 7, 8], [3, 4, 0, 0], [4, 9, 1, 1], [40, 90, -1, -1])]
table, sampled = np.array([[7, 3, 9, 4], [2, 5, 8, 6], [0, 0, 0, 0], [0, 0, 0, 0]]), np.array([[11], [12], [13]])
after = [v.copy() for v in before]
for i in range(3):
    n = before[2][i]
    after[0][i], after[1][i], after[2][i] = sampled[i, 0], n, n + 1
    after[3][i] = (table.ravel()[n // 4] + 4 * i) * 4 + n % 4
after[0][3], after[1][3], after[3][3] = 0, 0, -1
case("npu_advance_step_flashattn", [before[0], sampled, before[1], before[2], before[3], table, 4, 3, 4], {}, after=("npu_reader", dict(zip(("input_tokens", "input_positions", "seq_lens", "slot_mapping"), after))))

# What looks at what is in steps, at blocks, and gradients of it
lens, tokens, size, table = [2, 1], [7, 5], 4, np.array([[2, 0], [1, 3]], np.int32)
q, cache, weights, by, scale = bytes_(3, 2, 8), bytes_(4, size, 1, 8), normal(3, 2).astype(np.float16), (np.abs(normal(3, 2)) / 20).astype(np.float16), (np.abs(normal(4, size, 1)) / 20).astype(np.float16)
took, rows = np.full((3, 1, 4), -1, np.int32), 0
for b, (l, n) in enumerate(zip(lens, tokens)):
    keys, each = cache[table[b]].reshape(-1, 8)[:n].astype(float), scale[table[b]].ravel()[:n].astype(float)
    for i in range(l):
        seen = n - l + i + 1
        score = (np.maximum(q[rows].astype(float) @ keys[:seen].T, 0) * (weights[rows].astype(float) * by[rows])[:, None]).sum(0) * each[:seen]
        order = np.argsort(-score, kind="stable")[:4]
        took[rows, 0, :len(order)] = order
        rows += 1
case("npu_quant_lightning_indexer", [q, cache, weights, by, scale, 0, 0], {"actual_seq_lengths_query": np.cumsum(lens).astype(np.int32), "actual_seq_lengths_key": np.array(tokens, np.int32), "block_table": table,
     "layout_query": "TND", "layout_key": "PA_BSND", "sparse_count": 4, "sparse_mode": 3}, took)
q, whole, turned_part, scale = bf(normal(1, 3, 4, 20)), bytes_(1, 7, 1, 16), bf(normal(1, 7, 1, 4)), (np.abs(normal(1, 7, 1, 2)) / 60).astype(f4)
halves = (np.ascontiguousarray(turned_part).view(np.uint32) >> 16).astype(np.uint16)
kv = np.concatenate([whole, halves.view(np.int8).reshape(1, 7, 1, 8), scale.view(np.int8).reshape(1, 7, 1, 8)], -1)
value = np.asarray(bf(whole * scale.repeat(8, -1)), f4)
key = np.concatenate([value, np.asarray(turned_part)], -1)
picks = np.array([[4, 0, 6, -1], [1, 5, 2, 3], [6, -1, 0, 0]], np.int32)
y = attend(heads_first(q[0]), heads_first(key[0]), heads_first(value[0]), .3, chosen(picks, 1, 7, 3), to=to)[0]
case("npu_kv_quant_sparse_flash_attention", [q, kv, kv, picks.reshape(1, 3, 1, 4), .3, 2, 2], {"attention_mode": 2, "tile_size": 8, "rope_head_dim": 4}, bf(y.swapaxes(0, 1)[None]))
q, pages, values, picks = bf(normal(2, 1, 4, 8)), bf(normal(5, 4, 16)), bf(normal(5, 4, 8)), np.array([[[1, 0], [2, 0]], [[0, 1], [1, -1]]], np.int32).reshape(2, 1, 2, 2)
table, parts = np.array([[4, 2], [0, 3]], np.int32), []
for b, n in enumerate((6, 5)):
    seen = np.stack([chosen(picks[b, :, h // 2], 2, n, 1, False) for h in range(4)])
    parts.append(attend(heads_first(q[b]), pages[table[b]].reshape(-1, 2, 8)[:n].swapaxes(0, 1), values[table[b]].reshape(-1, 2, 4)[:n].swapaxes(0, 1), .3, seen, to=to)[0].swapaxes(0, 1))
case("npu_nsa_select_attention_infer", [q, pages, values, picks, .3, 4, 2, 2, 2, 4], {"layout": "BSND", "block_table": table, "actual_seq_kvlen": [6, 5]}, bf(np.stack(parts)))


def looked(q, k, v, seen):
    per = q.shape[1] // k.shape[1]
    k, v = k.repeat(per, 1), v.repeat(per, 1)
    s = np.where(seen, np.einsum("lhd,shd->hls", q, k) * .3, -np.inf)
    return np.einsum("hls,shd->lhd", softmax(s), v)


q, qr, kk, kr, v, g = normal(3, 4, 6), normal(3, 4, 2), normal(7, 1, 6), normal(7, 1, 2), normal(7, 1, 6), normal(3, 4, 6)
picks = np.array([[4, 0, 6, -1], [1, 5, 2, 3], [6, 1, 0, 2]], np.int32)
of = lambda q, k, v, qr, kr: looked(np.concatenate([q, qr], -1), np.concatenate([k, kr], -1), v, chosen(picks, 1, 7, 3, False))
d = [x.astype(f4) for x in pull(of, [q, kk, v, qr, kr], g)]
o = of(*(x.astype(float) for x in (q, kk, v, qr, kr))).astype(f4)
case("npu_sparse_flash_attention_grad", [q[None], kk[None], v[None], picks.reshape(1, 3, 1, 4), g[None], o[None], np.zeros((1, 1, 3, 4), f4), np.ones((1, 1, 3, 4), f4), .3, 1], {"query_rope": qr[None], "key_rope": kr[None], "sparse_mode": 0}, *[x[None] for x in d])
q, kk, v, g, picks = normal(3, 4, 6), normal(8, 2, 6), normal(8, 2, 4), normal(3, 4, 4), np.array([[[1, 0], [3, 2]], [[2, 0], [0, 1]], [[0, 1], [1, 2]]], np.int32)
seen = np.stack([chosen(picks[:, n // 2], 2, 8, 3, False) for n in range(4)])
of = lambda q, k, v: looked(q, k, v, seen)
o = of(*(x.astype(float) for x in (q, kk, v))).astype(f4)
case("npu_nsa_select_attention_grad", [g, q, kk, v, o, np.zeros((3, 4, 8), f4), np.ones((3, 4, 8), f4), picks, .3, 4, 2, 2], {"actual_seq_qlen": [3], "actual_seq_kvlen": [8]}, *[x.astype(f4) for x in pull(of, [q, kk, v], g)])
q, kk, v, g, mask = normal(5, 4, 6), normal(7, 2, 6), normal(7, 2, 6), normal(5, 4, 6), rng.integers(0, 2, (1, 4, 3, 3)).astype(np.int8)
mask[..., 0] = 1
seen = mask[0].repeat(2, 1).repeat(3, 2)[:, :5, :7] != 0
o = looked(*(x.astype(float) for x in (q, kk, v)), seen)
s = np.where(seen, np.einsum("lhd,shd->hls", q.astype(float), kk.repeat(2, 1)) * .3, -np.inf)
log = np.log(np.exp(s).sum(-1)).T[..., None].astype(f4)
block = {"num_key_value_heads": 2, "scale_value": .3, "actual_seq_lengths": [5], "actual_seq_lengths_kv": [7]}
case("npu_block_sparse_attention", [q, kk, v, mask, [2, 3]], {**block, "inner_precise": 0, "softmax_lse_flag": 1}, o.astype(f4), log)
case("npu_block_sparse_attention_backward", [g, q, kk, v, o.astype(f4), log, mask, [2, 3], [5], [7], "TND", "TND", 2, .3], {}, *[x.astype(f4) for x in pull(lambda *x: looked(*x, seen), [q, kk, v], g)])

# Quantisers of four bits and of gates, sums of groups of products
x, a, b = normal(3, 4, 8).astype(np.float16), normal(4, 4).astype(np.float16), normal(8, 8).astype(np.float16)
y = (a.astype(f4) @ (x.astype(f4) @ b.astype(f4)).astype(np.float16).astype(f4)).astype(np.float16).astype(f4)
most = np.abs(y).max((1, 2), keepdims=True)
q = np.rint((y * (f4(6.3) / most)).astype(np.float16).astype(f4)).astype(np.int64).reshape(3, 4, 8)
case("npu_kronecker_quant", [x, a, b], {"clip_ratio": .9}, ((q & 15) << np.arange(0, 32, 4)).sum(-1, keepdims=True).astype(np.uint32).view(np.int32), (most / f4(6.3)).ravel())
x, weight = bf(normal(3, 512)), np.abs(normal(3, 1))
f = np.asarray(x, float)
y = silu(f[:, :256].clip(None, 2)) * f[:, 256:].clip(-2, 2) * weight
most = np.abs(y.reshape(3, 2, 128)).max(-1)
case("npu_swiglu_group_quant", [x], {"weight": weight, "clamp_limit": 2., "output_origin": True, "dst_type": 292}, f8((y.reshape(3, 2, 128) / (most / 448)[..., None]).reshape(3, 256)), (most / 448).astype(f4), bf(y))
case("npu_swiglu_group_quant", [x], {"weight": weight, "clamp_limit": 2., "quant_mode": 1, "dst_type": 292}, *blocks(y), None)
ends, y = [33, 70], normal(2, 3, 4)
x, w = bf(normal(70, 3) * 9), bf(normal(70, 4))
parts = [[blocks(v[lo:hi], 0) for lo, hi in ((0, 33), (33, 70))] for v in (x, w)]
a, b = (np.concatenate([np.asarray(p[0]) for p in part]).view(float8_e4m3fn) for part in parts)
p, r = (np.concatenate([q[1] for q in part] + [part[0][1] * 0]) for part in parts)
real = lambda q, e, n: np.asarray(q, float) * 2.0 ** (e.astype(float).repeat(32, -1).swapaxes(1, 2).reshape(-1, q.shape[1])[:n] - 127)
sums = [real(a[lo:hi], parts[0][i][1], hi - lo).T @ real(b[lo:hi], parts[1][i][1], hi - lo) for i, (lo, hi) in enumerate(((0, 33), (33, 70)))]
for name in ("npu_add_quant_gmm", "npu_add_quant_gmm_"):
    case(name, [y, np.ascontiguousarray(a.T).view(float8_e4m3fn), b, r, np.array(ends)], {"x1_scale": p.swapaxes(0, 1).copy()}, (y + np.stack(sums)).astype(f4))

q, table = bf(normal(2, 4, 1, 64)), np.array([[4, 2], [0, 3]], np.int32)
tiles = [bytes_(5, 2, 2, 4, 32) for _ in range(2)]
scales = [bf(np.abs(normal(1, 2, 2, 1, 32)) / 60) for _ in range(2)]
shift = bf(rng.integers(-4, 5, (1, 2, 2, 1, 32)))
parts = []
for b, n in enumerate((6, 5)):
    keys, values = (bf((t.astype(f4) + o) * np.asarray(s, f4)).astype(float).transpose(0, 3, 1, 2, 4)[table[b]].reshape(-1, 2, 64)[:n].swapaxes(0, 1) for t, s, o in zip(tiles, scales, (0, np.asarray(shift, f4))))
    parts.append(attend(q[b], keys, values, .2, True, to=to)[0])
case("npu_fused_infer_attention_score", [q, *tiles], {"key_antiquant_scale": scales[0], "value_antiquant_scale": scales[1], "value_antiquant_offset": shift, "block_table": table, "actual_seq_lengths_kv": [6, 5], "num_heads": 4,
     "num_key_value_heads": 2, "input_layout": "BNSD", "scale": .2, "block_size": 4, "antiquant_mode": 0, "key_antiquant_mode": 0, "value_antiquant_mode": 0, "inner_precise": 1, "sparse_mode": 0}, bf(np.stack(parts)), np.zeros(1, f4))

q, kk, v, mask, parts = bf(normal(5, 4, 8)), bf(normal(5, 2, 8)), bf(normal(5, 2, 8)), bf(np.triu(np.full((3, 3), -10000.), 1)), []
for lo, hi in ((0, 3), (3, 5)):
    parts.append(attend(heads_first(q[lo:hi]), heads_first(kk[lo:hi]), heads_first(v[lo:hi]), .3, right_down(hi - lo, hi - lo), to=to)[0].swapaxes(0, 1))
case("_npu_flash_attention", [], {"query": q, "key": kk, "value": v, "mask": mask, "seq_len": np.array([3, 2], np.int32), "scale_value": .3, "num_heads": 4, "num_kv_heads": 2, "out": bf(np.zeros((5, 4, 8), f4))},
     after=("npu_reader", {"out": bf(np.concatenate(parts))}))

# Steps of channels and of all, scales of groups in more than two axes, outputs by a mask, layouts by their names
x, s = bf(normal(2, 4, 3)), bf(np.abs(normal(4)) + .5)
f = np.asarray(x, f4) * np.asarray(s, f4)[:, None]
y, scale = steps(f.swapaxes(1, 2))
case("npu_dynamic_quant", [x], {"smooth_scales": s, "quant_mode": "perchannel", "dst_type": "torch.int8"}, y.swapaxes(1, 2).copy(), scale)
s = bf(np.abs(normal(3, 3)) + .5)
f = np.asarray(x, f4) * np.asarray(s, f4)[[0, 0, 0, 1, 1, 2, 2, 2]].reshape(2, 4, 3)
case("npu_dynamic_quant", [x], {"smooth_scales": s, "group_index": np.array([3, 5, 8], np.int32), "dst_type": "torch.int8"}, *steps(f))
for mode, f in (("pertensor", np.asarray(x, f4).reshape(1, -1)), ("perchannel", np.asarray(x, f4).swapaxes(1, 2))):
    hi, lo = f.max(-1, keepdims=True), f.min(-1, keepdims=True)
    step = (hi - lo) / f4(255)
    y = np.rint(f / step + (127 - hi / step)).clip(-128, 127).astype(np.int8)
    y = y.reshape(2, 4, 3) if mode == "pertensor" else y.swapaxes(1, 2).copy()
    case("npu_dynamic_quant_asymmetric", [x], {"quant_mode": mode, "dst_type": "torch.int8"}, y, step[..., 0], (127 - hi / step)[..., 0])
a, b, w, s = normal(2, 6), normal(2, 6), normal(6), np.abs(normal(6)) + f4(.5)
f = a + b
g = f / np.sqrt((f * f).mean(-1, keepdims=True) + 1e-6) * w
y, scale = steps((g * s).astype(f4))
case("npu_add_rms_norm_dynamic_quant", [a, b, w], {"smooth_scale1": s, "epsilon": 1e-6, "output_mask": [True, False]}, y, None, f, scale, None)
m, n, a, b = (np.repeat(v, 8, -1).astype(f4) for v in (3 * normal(3, 2, 1), 3 * normal(3, 2, 1), 1 + 4 * rng.random((3, 2, 1)), 1 + 4 * rng.random((3, 2, 1))))
most = np.maximum(m, n)
p, q = a.astype(float) * np.exp(m.astype(float) - most), b.astype(float) * np.exp(n.astype(float) - most)
o, u = bf(normal(3, 2, 4)), bf(normal(3, 2, 4))
case("npu_ring_attention_update", [o, m, a, u, n, b], {"actual_seq_qlen": np.array([1, 3]), "input_layout": "TND", "input_softmax_layout": "TND"},
     bf(o.astype(float) * (p / (p + q))[..., :4] + u.astype(float) * (q / (p + q))[..., :4]), most, (p + q).astype(f4))

# Two packed sequences, whose lengths are given and not their ends
q, kk, v, g, mask = normal(5, 4, 6), normal(7, 2, 6), normal(7, 2, 6), normal(5, 4, 6), np.ones((2, 4, 2, 2), np.int8)
mask[0, 1, 1, 1] = mask[1, 2, 0, 1] = 0
seen = np.zeros((4, 5, 7), bool)
for b, (l, k) in enumerate(((slice(0, 2), slice(0, 3)), (slice(2, 5), slice(3, 7)))):
    seen[:, l, k] = mask[b].repeat(2, 1).repeat(2, 2)[:, :l.stop - l.start, :k.stop - k.start] != 0
o = looked(*(x.astype(float) for x in (q, kk, v)), seen)
s = np.where(seen, np.einsum("lhd,shd->hls", q.astype(float), kk.repeat(2, 1)) * .3, -np.inf)
log = np.log(np.exp(s).sum(-1)).T[..., None].astype(f4)
case("npu_block_sparse_attention_backward", [g, q, kk, v, o.astype(f4), log, mask, [2, 2], [2, 3], [3, 4], "TND", "TND", 2, .3], {}, *[x.astype(f4) for x in pull(lambda *x: looked(*x, seen), [q, kk, v], g)])

# Weights of experts in a list: a tensor for each expert, one for all, and rows of each by itself
x, w, bias = normal(6, 5), [normal(5, 4), normal(5, 4), normal(5, 4)], [normal(4), normal(4), normal(4)]
parts = [(a.astype(float) @ b + c).astype(f4) for a, b, c in zip(np.split(x, (2, 3)), w, bias)]
case("npu_grouped_matmul", [[x], w], {"bias": bias, "group_list": np.array([2, 3, 6]), "split_item": 0, "group_type": 0}, parts)
case("npu_grouped_matmul", [[x], w], {"bias": bias, "group_list": np.array([2, 1, 3]), "split_item": 3, "group_type": 0, "group_list_type": 1}, [np.concatenate(parts)])
case("npu_grouped_matmul", [[v.copy() for v in np.split(x, (2, 3))], w], {"bias": bias, "split_item": 2, "group_type": 0}, [np.concatenate(parts)])
case("npu_grouped_matmul", [[v.copy() for v in np.split(x, (2, 3))], w], {"bias": bias, "split_item": 0, "group_type": -1}, parts)

# Numbers whose steps are multiplied out and rounded before scores are made of them: no rounding of what is not explains the last one
q, whole, scale = bf([[[[3, -3, -2, -3]]]]), np.array([[79, -29, -113, 97], [107, -43, 116, -10]], np.int8), np.array([[64], [96]], f4) / f4(4096)
value = np.asarray(bf(whole * scale), f4)[None]
y = attend(np.asarray(q[0], f4), value, value, .25, np.ones((1, 2), bool), to=to)[0]
kv = np.concatenate([whole, scale.view(np.int8)], -1).reshape(1, 2, 1, 8)
case("npu_kv_quant_sparse_flash_attention", [q, kv, kv, np.array([[[[0, 1]]]], np.int32), .25, 2, 2], {"attention_mode": 2, "tile_size": 4, "rope_head_dim": 0}, bf(y[None]))

if options.recording:
    with open(os.path.join(options.recording, "dump.json"), "w") as f:
        json.dump({"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": calls}, f)
