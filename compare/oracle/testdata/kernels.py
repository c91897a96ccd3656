#!/usr/bin/env python3
"""Prints the cases of fused kernels in cases.txt: their definitions in numpy, with the roundings of the open kernels.

    python3 testdata/kernels.py >> testdata/cases.txt
"""
import numpy as np

f4 = np.float32
rng = np.random.default_rng(29)


def text(v):
    if v is None:
        return "None"
    if isinstance(v, list):
        return "[" + ", ".join(text(x) for x in v) + "]"
    if isinstance(v, str):
        return '"%s"' % v
    if isinstance(v, np.ndarray):
        return "%s[%s]{%s}" % (v.dtype.name, ",".join(map(str, v.shape)), " ".join("%.9g" % x if v.dtype.kind == "f" else str(int(x)) for x in v.ravel()))
    return repr(v)


def case(name, args, kwargs, *outputs):
    arguments = [text(a) for a in args] + ["%s=%s" % (k, text(v)) for k, v in kwargs.items()]
    print("NPU.%s(%s) = %s" % (name, ", ".join(arguments), ", ".join(text(o) for o in outputs)))


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
