#!/usr/bin/env python3
"""Makes recordings.json.gz: calls of PyTorch and torch_npu with results computed by numpy, for TestCalls.

    recordings.py | gzip -9n > recordings.json.gz

Each case is a call as a recorder has it: its name, arguments and results. Tensors are types, shapes and bytes in hex. The
results are computed in float64 from the definition and rounded once; none of the code under test is used. Needs numpy.
"""
import json
import math
import sys

import numpy as np

rng = np.random.default_rng(18)
cases = []
INF = float('inf')


class T:
    """A tensor with the type it is recorded in."""

    def __init__(self, a, dtype=None):
        a = np.asarray(a)
        if dtype is None:
            dtype = {'float64': 'float32', 'int64': 'int64', 'bool': 'bool', 'int32': 'int32', 'int8': 'int8', 'uint8': 'uint8'}[str(a.dtype)]
        self.dtype, self.shape = dtype, list(a.shape)
        if dtype == 'bfloat16':
            bits = np.ascontiguousarray(a, dtype='<f4').view('<u4').astype('<u8')
            raw = ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype('<u2')
            self.a = (raw.astype('<u4') << 16).view('<f4').astype(float).reshape(a.shape)
        else:
            raw = np.ascontiguousarray(a).astype({'bool': '?'}.get(dtype, np.dtype(dtype).newbyteorder('<')))
            self.a = raw.reshape(a.shape)
            if dtype.startswith('float'):
                self.a = self.a.astype(float)
        self.hex = raw.tobytes().hex()

    def json(self):
        return {'dtype': self.dtype, 'shape': self.shape, 'hex': self.hex}


def value(x):
    if isinstance(x, T):
        return {'tensor': x.json()}
    if isinstance(x, slice):
        return {'leaf': {'type': 'slice', 'value': [x.start, x.stop, x.step]}}
    if x is Ellipsis:
        return {'leaf': {'type': 'ellipsis', 'value': '...'}}
    if isinstance(x, (list, tuple)):
        return {'list': [value(v) for v in x]}
    if x is None:
        return {'none': True}
    if isinstance(x, float) and not math.isfinite(x):
        return {'leaf': {'type': 'float', 'value': repr(x)}}
    return {'leaf': {'type': {bool: 'bool', int: 'int', float: 'float', str: 'str'}[type(x)], 'value': x}}


def call(name, args, outputs, kwargs=None, dtype='float32', backward=None, note='', parameters=None, loose=False):
    """A forward call; outputs are arrays or tensors. backward is (gradients of the outputs, gradients of the arguments)."""
    def tensor(x):
        return x if isinstance(x, T) or x is None else T(x, dtype if np.asarray(x).dtype == float else None)
    outs = [tensor(x) for x in (outputs if isinstance(outputs, list) else [outputs])]
    c = {'name': name, 'args': [value(x) for x in args], 'kwargs': {k: value(v) for k, v in (kwargs or {}).items()},
         'outputs': [value(x) for x in outs], 'parameters': {k: value(v) for k, v in (parameters or {}).items()}, 'note': note, 'loose': loose}
    if backward:
        g, back = backward
        c['gradients'], c['back'] = [value(tensor(x)) for x in g], [value(tensor(x)) for x in back]
    cases.append(c)


def normal(*shape, scale=1.0, dtype='float32'):
    return T(rng.standard_normal(shape) * scale, dtype)


def erf(x):
    return np.vectorize(math.erf)(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def difference(f, x, g):
    """The gradient of sum(f(x)·g) by central differences, for element-wise f."""
    h = 3e-4
    return (8 * (f(x + h) - f(x - h)) - f(x + 2 * h) + f(x - 2 * h)) / (12 * h) * g


# Element by element.
x, y = normal(3, 5), normal(3, 5)
row = normal(5)
call('Torch.add', [x, y], x.a + y.a, backward=([y], [y, y]))
call('Torch.add', [x, row], x.a + 0.5 * row.a, {'alpha': 0.5}, backward=([y], [y, T(0.5 * y.a.sum(0))]))
call('Tensor.__add__', [x, 0.1], x.a + 0.1)
call('Tensor.__radd__', [x, 2], x.a + 2)
call('Tensor.add_', [x, y], x.a - 0.1 * y.a, {'alpha': -0.1})
call('Tensor.__iadd__', [x, y], x.a + y.a)
call('Torch.sub', [x, y], x.a - 2 * y.a, {'alpha': 2})
call('Tensor.__rsub__', [x, 1.5], 1.5 - x.a)
call('Torch.rsub', [x, y], y.a - x.a)
call('Torch.mul', [x, row], x.a * row.a, backward=([y], [y.a * row.a, (y.a * x.a).sum(0)]))
call('Tensor.__mul__', [x, 0.35355339], x.a * 0.35355339, dtype='float32')
call('Torch.div', [x, y], x.a / y.a, backward=([row.a + 0 * x.a], [row.a / y.a, -row.a * x.a / y.a ** 2]))
call('Tensor.__truediv__', [x, 3], x.a / 3)
call('Tensor.__rtruediv__', [x, 2.0], 2 / x.a)
call('Torch.div', [x, T([0.7])], np.floor(x.a / np.float32(0.7)), {'rounding_mode': 'floor'})
call('Torch.div', [x, T([0.7])], np.trunc(x.a / np.float32(0.7)), {'rounding_mode': 'trunc'})
i, j = T(rng.integers(-9, 9, (4, 3))), T(rng.integers(1, 5, (4, 3)))
call('Torch.add', [i, j], i.a + 3 * j.a, {'alpha': 3})
call('Torch.mul', [i, 7], i.a * 7)
call('Torch.floor_divide', [i, j], i.a // j.a)
call('Torch.remainder', [i, j], i.a % j.a)
call('Torch.div', [i, j], T(i.a / j.a, 'float32'))
call('Torch.pow', [x, 2], x.a ** 2, backward=([y], [2 * x.a * y.a]))
pos = T(np.abs(x.a) + 0.1)
call('Torch.pow', [pos, 0.7], pos.a ** 0.7)
call('Tensor.__rpow__', [x, 2.0], 2 ** x.a)
call('Torch.pow', [i, 3], i.a ** 3)
for name, f, z in [('exp', np.exp, x), ('log', np.log, pos), ('sqrt', np.sqrt, pos), ('rsqrt', lambda v: 1 / np.sqrt(v), pos), ('sin', np.sin, x), ('cos', np.cos, x),
                   ('tanh', np.tanh, x), ('sigmoid', sigmoid, x), ('reciprocal', lambda v: 1 / v, pos), ('erf', erf, x), ('log2', np.log2, pos), ('log10', np.log10, pos),
                   ('log1p', np.log1p, pos), ('expm1', np.expm1, x), ('square', np.square, x), ('exp2', np.exp2, x), ('neg', np.negative, x), ('abs', np.abs, x)]:
    r = T(f(z.a))
    slope = {'sigmoid': r.a * (1 - r.a), 'tanh': 1 - r.a ** 2}.get(name)  # from the recorded result, as it is kept
    call('Torch.' + name, [z], r, backward=([y], [difference(f, z.a, y.a) if slope is None else slope * y.a]) if name not in ('log2', 'log10', 'exp2') else None, loose=name in ('sqrt', 'rsqrt', 'exp', 'reciprocal'))
for name, f in [('erfc', np.vectorize(math.erfc)), ('sinh', np.sinh), ('cosh', np.cosh), ('atan', np.arctan), ('floor', np.floor), ('ceil', np.ceil), ('trunc', np.trunc),
                ('round', np.round), ('sign', np.sign)]:
    call('Torch.' + name, [x], f(x.a))
for dtype in ('float16', 'bfloat16', 'float64'):
    a, b = normal(4, 6, dtype=dtype), normal(4, 6, dtype=dtype)
    call('Torch.add', [a, b], a.a + b.a, dtype=dtype)
    call('Tensor.__mul__', [a, b], a.a * b.a, dtype=dtype)
    call('Torch.exp', [a], np.exp(a.a), dtype=dtype)
    call('Torch.sum', [a], a.a.sum(1), {'dim': 1}, dtype=dtype)
    call('Torch.matmul', [a, T(b.a.T, dtype)], a.a @ b.a.T, dtype=dtype)
    call('Functional.gelu', [a], a.a / 2 * (1 + erf(a.a / math.sqrt(2))), dtype=dtype)
    call('Functional.softmax', [a], softmax(a.a), {'dim': -1}, dtype=dtype)
    call('Functional.linear', [a, b], a.a @ b.a.T, dtype=dtype)
call('Torch.maximum', [x, y], np.maximum(x.a, y.a))
call('Torch.minimum', [x, y], np.minimum(x.a, y.a))
call('Torch.clamp', [x], np.clip(x.a, -0.5, 0.3), {'min': -0.5, 'max': 0.3}, backward=([y], [np.where((x.a > -0.5) & (x.a < 0.3), y.a, 0)]))
call('Torch.clamp', [x], np.maximum(x.a, 0.1), {'min': 0.1})
call('Torch.addcmul', [x, y, row], x.a + 0.3 * y.a * row.a, {'value': 0.3})
call('Torch.addcdiv', [x, y, pos], x.a + 0.3 * y.a / pos.a, {'value': 0.3})
call('Torch.lerp', [x, y, 0.25], x.a + 0.25 * (y.a - x.a))
nan = T([[1.0, math.nan], [INF, -INF]])
call('Torch.nan_to_num', [nan], np.array([[1.0, 7.0], [3.4028234663852886e38, -2.0]]), {'nan': 7.0, 'neginf': -2.0})

# Logic.
for name, f in [('gt', np.greater), ('ge', np.greater_equal), ('lt', np.less), ('le', np.less_equal), ('eq', np.equal), ('ne', np.not_equal)]:
    call('Torch.' + name, [i, j], f(i.a, j.a))
    call('Tensor.__%s__' % name, [x, 0.25], f(x.a, 0.25))
m, n = T(rng.random((3, 5)) < 0.5), T(rng.random((3, 5)) < 0.5)
call('Torch.logical_and', [m, n], m.a & n.a)
call('Torch.logical_or', [m, n], m.a | n.a)
call('Torch.logical_xor', [m, n], m.a ^ n.a)
call('Torch.logical_not', [m], ~m.a)
call('Tensor.__and__', [m, n], m.a & n.a)
call('Tensor.__or__', [i, j], i.a | j.a)
call('Tensor.__invert__', [m], ~m.a)
call('Torch.bitwise_not', [i], ~i.a)
call('Torch.isnan', [nan], np.isnan(nan.a))
call('Torch.isinf', [nan], np.isinf(nan.a))
call('Torch.isfinite', [nan], np.isfinite(nan.a))
call('Torch.where', [m, x, y], np.where(m.a, x.a, y.a), backward=([row.a + 0 * x.a], [None, np.where(m.a, row.a, 0), np.where(m.a, 0, row.a)]))
call('Tensor.masked_fill', [x, m, -INF], np.where(m.a, -INF, x.a), backward=([y], [np.where(m.a, 0, y.a)]))

# What moves.
z = normal(2, 3, 4)
g = normal(2, 3, 4)
call('Tensor.to', [z], T(z.a, 'float16'), {'dtype': None})
call('Tensor.half', [z], T(z.a, 'float16'))
call('Tensor.long', [T(z.a * 5)], (z.a * 5).astype(np.float32).astype(np.int64))
call('Tensor.bool', [i], i.a != 0)
call('Tensor.float', [i], T(i.a, 'float32'))
call('Tensor.type_as', [z, T(g.a, 'bfloat16')], T(z.a, 'bfloat16'))
call('Torch.clone', [z], z.a, backward=([g], [g]))
call('Tensor.contiguous', [z], z.a)
call('Torch.transpose', [z, 1, -1], z.a.swapaxes(1, 2), backward=([T(g.a.swapaxes(1, 2))], [g]))
call('Tensor.t', [x], x.a.T)
call('Tensor.permute', [z, 2, 0, 1], z.a.transpose(2, 0, 1), backward=([T(g.a.transpose(2, 0, 1))], [g]))
call('Torch.permute', [z, [1, 2, 0]], z.a.transpose(1, 2, 0))
call('Tensor.reshape', [z, -1, 6], z.a.reshape(4, 6), backward=([T(g.a.reshape(4, 6))], [g]))
call('Tensor.view', [z, [2, 12]], z.a.reshape(2, 12))
call('Torch.flatten', [z, 1], z.a.reshape(2, 12))
call('Tensor.squeeze', [T(z.a[:, :1]), 1], z.a[:, 0])
call('Tensor.unsqueeze', [z, 0], z.a[None])
call('Tensor.expand', [T(z.a[:, :1]), -1, 3, -1], np.broadcast_to(z.a[:, :1], (2, 3, 4)), backward=([g], [g.a.sum(1, keepdims=True)]))
call('Tensor.repeat', [x, 2, 1, 3], np.tile(x.a, (2, 1, 3)))
call('Torch.tile', [x, [2]], np.tile(x.a, (1, 2)))
call('Torch.flip', [z], z.a[:, ::-1, ::-1], {'dims': [1, 2]})
call('Torch.roll', [z, [1, -1], [0, 2]], np.roll(z.a, (1, -1), (0, 2)))
call('Torch.movedim', [z, 0, 2], np.moveaxis(z.a, 0, 2))
call('Torch.cat', [[z, T(g.a[:, :2])]], np.concatenate([z.a, g.a[:, :2]], 1), {'dim': 1}, backward=([T(np.arange(40.).reshape(2, 5, 4))],
     [T(np.arange(40.).reshape(2, 5, 4)[:, :3]), T(np.arange(40.).reshape(2, 5, 4)[:, 3:])]))
call('Torch.stack', [[z, g], 1], np.stack([z.a, g.a], 1))
call('Torch.split', [z, 2, 1], [z.a[:, :2], z.a[:, 2:]])
call('Torch.split', [z, [1, 3]], [z.a[..., :1], z.a[..., 1:]], {'dim': -1})
call('Torch.chunk', [z, 2], [z.a[:, :, :2], z.a[:, :, 2:]], {'dim': 2})
call('Torch.unbind', [z, 1], [z.a[:, 0], z.a[:, 1], z.a[:, 2]])
call('Torch.narrow', [z, 2, 1, 2], z.a[..., 1:3])
call('Torch.select', [z, 1, -1], z.a[:, -1])
call('Torch.index_select', [z, 2, T([3, 0, 0])], z.a[..., [3, 0, 0]])
idx = T(rng.integers(0, 3, (2, 2, 4)))
call('Torch.gather', [z, 1, idx], np.take_along_axis(z.a, idx.a, 1))
call('Tensor.__getitem__', [z, 1], z.a[1])
call('Tensor.__getitem__', [z, [slice(None, None, None), slice(0, 3, 2)]], z.a[:, 0:3:2])
call('Tensor.__getitem__', [z, [Ellipsis, None, -1]], z.a[..., None, -1])
call('Tensor.__getitem__', [z, [slice(None, None, None), T([2, 0])]], z.a[:, [2, 0]])
call('Torch.tril', [x], np.tril(x.a, 1), {'diagonal': 1})
call('Torch.triu', [x, -1], np.triu(x.a, -1))
call('Torch.arange', [1, 7, 2], np.arange(1, 7, 2))
call('Torch.arange', [5], T(np.arange(5), 'float32'))
call('Torch.zeros', [2, 3], np.zeros((2, 3)))
call('Torch.ones_like', [x], np.ones((3, 5)))
call('Torch.full', [[2, 2], 0.1], np.full((2, 2), 0.1))
call('Functional.one_hot', [T([0, 2, 1]), 4], np.eye(4, dtype=np.int64)[[0, 2, 1]])
call('Functional.pad', [z, [1, 2, 0, 1]], np.pad(z.a, ((0, 0), (0, 1), (1, 2)), constant_values=0.5), {'mode': 'constant', 'value': 0.5})
call('Functional.pad', [z, [2, 1]], np.pad(z.a, ((0, 0), (0, 0), (2, 1)), mode='reflect'), {'mode': 'reflect'})
call('Functional.pad', [z, [1, 1]], np.pad(z.a, ((0, 0), (0, 0), (1, 1)), mode='edge'), {'mode': 'replicate'})

# Reductions.
call('Torch.sum', [z], z.a.sum(), backward=([T(2.5)], [np.full((2, 3, 4), 2.5)]))
call('Torch.sum', [z, [0, 2]], z.a.sum((0, 2)), {'keepdim': False}, backward=([T(np.array([1., 2, 3]))], [np.array([1., 2, 3])[None, :, None] + 0 * z.a]))
call('Torch.sum', [i], i.a.sum())
call('Tensor.mean', [z, -1, True], z.a.mean(-1, keepdims=True), backward=([T(g.a[..., :1])], [np.repeat(g.a[..., :1], 4, 2) / 4]))
call('Torch.prod', [x], x.a.prod(1), {'dim': 1})
call('Torch.amax', [z, [1]], z.a.max(1))
call('Torch.amin', [z], z.a.min())
call('Torch.max', [z], z.a.max())
call('Torch.max', [z, 1], [z.a.max(1), z.a.argmax(1)])
call('Torch.min', [z, 2, True], [z.a.min(2, keepdims=True), z.a.argmin(2)[..., None]])
call('Torch.max', [x, y], np.maximum(x.a, y.a))
call('Torch.argmax', [z, 0], z.a.argmax(0))
call('Torch.argmin', [z], np.int64(z.a.argmin()))
call('Torch.all', [m, 1], m.a.all(1))
call('Torch.any', [m], m.a.any())
call('Torch.var', [z, 1], z.a.var(1, ddof=1))
call('Torch.var', [z], z.a.var((0, 2)), {'dim': [0, 2], 'correction': 0})
call('Torch.std', [z, 2, False, True], z.a.std(2, keepdims=True))
call('Torch.var', [z, False], z.a.var())
call('Torch.logsumexp', [z, 1], np.log(np.exp(z.a).sum(1)))
call('Torch.norm', [z], np.sqrt((z.a ** 2).sum()))
call('Torch.linalg_vector_norm', [z, 1, 1], np.abs(z.a).sum(1))
call('Torch.cumsum', [z, 1], z.a.cumsum(1))
call('Torch.topk', [x, 2], [np.sort(x.a, 1)[:, ::-1][:, :2], np.argsort(-x.a, 1)[:, :2]])
call('Torch.sort', [x, 0, True], [np.sort(x.a, 0)[::-1], np.argsort(-x.a, 0)])
call('Torch.argsort', [x], np.argsort(x.a, 1))

# Products.
a, b = normal(2, 3, 4, 5), normal(3, 5, 2)
d = normal(2, 3, 4, 2)
call('Torch.matmul', [a, b], a.a @ b.a, backward=([d], [d.a @ b.a.swapaxes(-1, -2), (a.a.swapaxes(-1, -2) @ d.a).sum(0)]))
call('Tensor.__matmul__', [T(a.a[0, 0]), T(b.a[0, :, 0])], a.a[0, 0] @ b.a[0, :, 0])
call('Torch.matmul', [T(b.a[0, :, 0]), T(a.a.swapaxes(2, 3))], b.a[0, :, 0] @ a.a.swapaxes(2, 3))
call('Torch.dot', [T(b.a[0, :, 0]), T(b.a[0, :, 1])], b.a[0, :, 0] @ b.a[0, :, 1])
call('Torch.bmm', [T(a.a[0]), b], a.a[0] @ b.a, backward=([T(d.a[0])], [d.a[0] @ b.a.swapaxes(1, 2), a.a[0].swapaxes(1, 2) @ d.a[0]]))
call('Torch.mm', [T(a.a[0, 0]), T(b.a[0])], a.a[0, 0] @ b.a[0])
call('Torch.baddbmm', [T(d.a[0]), T(a.a[0]), b], 0.5 * d.a[0] + 0.3 * (a.a[0] @ b.a), {'beta': 0.5, 'alpha': 0.3})
call('Torch.addmm', [T(d.a[0, 0, 0]), T(a.a[0, 0]), T(b.a[0])], d.a[0, 0, 0] + a.a[0, 0] @ b.a[0])
call('Torch.einsum', ['bhqd,hdk->bhqk', a, b], np.einsum('bhqd,hdk->bhqk', a.a, b.a))
call('Torch.einsum', ['ij,jk', T(a.a[0, 0]), T(b.a[0])], a.a[0, 0] @ b.a[0])
call('Torch.outer', [row, row], np.outer(row.a, row.a))
w, bias = normal(7, 5), normal(7)
u, gu = normal(2, 4, 5), normal(2, 4, 7)
flat = gu.a.reshape(8, 7)
call('Functional.linear', [u, w, bias], u.a @ w.a.T + bias.a, backward=([gu], [gu.a @ w.a, flat.T @ u.a.reshape(8, 5), flat.sum(0)]))
call('Functional.linear', [u, w, None], u.a @ w.a.T, backward=([gu], [T(flat)]), note='the gradient of the last node, a view')
v, gv = normal(3, 5), normal(3, 7)
call('Functional.linear', [v, w, bias], v.a @ w.a.T + bias.a, backward=([gv], [gv.a.sum(0), gv.a @ w.a, v.a.T @ gv.a]), note='the gradients of the last node')
# Under autocast the factors are rounded within the call, and gradients before they get the type of their argument.
ub, wbf, bbf, gbf = T(u.a, 'bfloat16'), T(w.a, 'bfloat16'), T(bias.a, 'bfloat16'), T(gu.a, 'bfloat16')
fb = gbf.a.reshape(8, 7)
call('Functional.linear', [u, w, bias], T(ub.a @ wbf.a.T + bbf.a, 'bfloat16'), backward=([gbf], [T(T(gbf.a @ wbf.a, 'bfloat16').a),
     T(T(fb.T @ ub.a.reshape(8, 5), 'bfloat16').a), T(T(fb.sum(0), 'bfloat16').a)]))
call('Torch.matmul', [a, b], T(T(a.a, 'float16').a @ T(b.a, 'float16').a, 'float16'))
call('Module.fc.Linear', [u], u.a @ w.a.T + bias.a, parameters={'weight': w, 'bias': bias}, backward=([gu], [gu.a @ w.a]))


def conv(x, w, bias, stride, pad, dilation, groups):
    """Any number of axes, by definition."""
    d = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    out = [(x.shape[2 + k] - dilation[k] * (w.shape[2 + k] - 1) - 1) // stride[k] + 1 for k in range(d)]
    y = np.zeros([x.shape[0], w.shape[0]] + out)
    og = w.shape[0] // groups
    for o in range(w.shape[0]):
        xs = x[:, o // og * w.shape[1]:(o // og + 1) * w.shape[1]]
        for p in np.ndindex(*out):
            at = tuple(slice(p[k] * stride[k], p[k] * stride[k] + dilation[k] * (w.shape[2 + k] - 1) + 1, dilation[k]) for k in range(d))
            y[(slice(None), o) + p] = (xs[(slice(None), slice(None)) + at] * w[o]).reshape(x.shape[0], -1).sum(1)
    if bias is not None:
        y += bias.reshape([-1] + [1] * d)
    return y


def conv_gradients(x, w, g, stride, pad, dilation, groups):
    """By the linearity of the convolution in each element of x and w."""
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for k in np.ndindex(*x.shape):
        e = np.zeros(x.shape)
        e[k] = 1
        dx[k] = (conv(e, w, None, stride, pad, dilation, groups) * g).sum()
    for k in np.ndindex(*w.shape):
        e = np.zeros(w.shape)
        e[k] = 1
        dw[k] = (conv(x, e, None, stride, pad, dilation, groups) * g).sum()
    return dx, dw, g.sum((0,) + tuple(range(2, g.ndim)))


x4, w4, b4 = normal(2, 4, 5, 6), normal(6, 2, 3, 2), normal(6)
y4 = conv(x4.a, w4.a, b4.a, (2, 1), (1, 0), (1, 2), 2)
g4 = normal(*y4.shape)
call('Functional.conv2d', [x4, w4, b4, [2, 1], [1, 0], [1, 2], 2], y4, backward=([g4], list(conv_gradients(x4.a, w4.a, g4.a, (2, 1), (1, 0), (1, 2), 2))))
x3, w3 = normal(2, 3, 8), normal(4, 3, 3)
call('Functional.conv1d', [x3, w3], conv(x3.a, w3.a, None, (1,), (1,), (1,), 1), {'padding': 'same'})
x5, w5 = normal(1, 2, 3, 4, 3), normal(3, 2, 2, 2, 2)
call('Functional.conv3d', [x5, w5, None, 1, 1], conv(x5.a, w5.a, None, (1, 1, 1), (1, 1, 1), (1, 1, 1), 1))
# A transposed convolution is the gradient of a convolution in its input.
wt, bt = normal(4, 3, 3, 3), normal(3)
xt = normal(1, 4, 3, 3)
probe = np.zeros((1, 3, 6, 6))
yt = conv_gradients(probe, wt.a, xt.a, (2, 2), (1, 1), (1, 1), 1)[0] + bt.a.reshape(1, 3, 1, 1)
call('Functional.conv_transpose2d', [xt, wt, bt], yt, {'stride': 2, 'padding': 1, 'output_padding': 1})
wm = normal(6, 4, 3, 3)
call('Module.c.Conv2d', [x4], conv(x4.a, wm.a, None, (1, 1), (1, 1), (1, 1), 1), parameters={'weight': wm}, note='hidden')

# Normalisation.
def norm_gradients(x, g, w, axes, shape, eps, rms=False):
    """By central differences."""
    def f(v):
        mean = 0 if rms else v.mean(axes, keepdims=True)
        r = 1 / np.sqrt(((v - mean) ** 2).mean(axes, keepdims=True) + eps)
        return (v - mean) * r
    dx = np.zeros(x.shape)
    h = 3e-4
    for k in np.ndindex(*x.shape):
        e = np.zeros(x.shape)
        e[k] = h
        dx[k] = ((8 * (f(x + e) - f(x - e)) - f(x + 2 * e) + f(x - 2 * e)) * g * w.reshape(shape)).sum() / (12 * h)
    return f(x), dx


xn, gn, wn, bn = normal(4, 6), normal(4, 6), normal(6), normal(6)
hat, dx = norm_gradients(xn.a, gn.a, wn.a, 1, (1, 6), 1e-5)
call('Functional.layer_norm', [xn, [6], wn, bn, 1e-5], hat * wn.a + bn.a, backward=([gn], [dx, (gn.a * hat).sum(0), gn.a.sum(0)]), note='the gradients of the last node')
call('Functional.layer_norm', [xn, [6]], norm_gradients(xn.a, gn.a, np.ones(6), 1, (1, 6), 0.3)[0], {'eps': 0.3})
hat, dx = norm_gradients(xn.a, gn.a, wn.a, 1, (1, 6), 1e-6, rms=True)
call('Functional.rms_norm', [xn, [6], wn, 1e-6], hat * wn.a, backward=([gn], [dx, None, (gn.a * hat).sum(0)]))
call('NPU.npu_rms_norm', [xn, wn], [hat * wn.a, 1 / np.sqrt((xn.a ** 2).mean(1, keepdims=True) + 1e-6)])
sn = xn.a + gn.a
rn = 1 / np.sqrt((sn ** 2).mean(1, keepdims=True) + 1e-5)
call('NPU.npu_add_rms_norm', [xn, gn, wn], [sn * rn * wn.a, rn, sn], {'epsilon': 1e-5})
xb, gb, wb, bb = normal(3, 4, 2, 2), normal(3, 4, 2, 2), normal(4), normal(4)
mean, var = normal(4), T(np.abs(rng.standard_normal(4)) + 0.5)
hat, dx = norm_gradients(xb.a, gb.a, wb.a, (0, 2, 3), (1, 4, 1, 1), 1e-5)
channel = (1, 4, 1, 1)
call('Functional.batch_norm', [xb, mean, var, wb, bb, True, 0.1, 1e-5], hat * wb.a.reshape(channel) + bb.a.reshape(channel),
     backward=([gb], [dx, (gb.a * hat).sum((0, 2, 3)), gb.a.sum((0, 2, 3))]), note='the gradients of the last node')
root = 1 / np.sqrt(var.a + 1e-5).reshape(channel)
fixed = (xb.a - mean.a.reshape(channel)) * root
call('Functional.batch_norm', [xb, mean, var, wb, bb, False, 0.1, 1e-5], fixed * wb.a.reshape(channel) + bb.a.reshape(channel),
     backward=([gb], [gb.a * root * wb.a.reshape(channel), None, None, (gb.a * fixed).sum((0, 2, 3)), gb.a.sum((0, 2, 3))]))
parts = xb.a.reshape(3, 2, -1)
hat = ((parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 1e-5)).reshape(xb.shape)
call('Functional.group_norm', [xb, 2, wb, bb], hat * wb.a.reshape(channel) + bb.a.reshape(channel))
call('Functional.normalize', [xn], xn.a / np.sqrt((xn.a ** 2).sum(1, keepdims=True)))
call('Module.n.LayerNorm', [xn], norm_gradients(xn.a, gn.a, wn.a, 1, (1, 6), 1e-5)[0] * wn.a + bn.a, parameters={'weight': wn, 'bias': bn}, note='hidden')

# Activations.
def soft(v):
    return np.log1p(np.exp(v))


wide = normal(3, 8, scale=2)
gw = normal(3, 8)
for name, kwargs, f in [
        ('relu', {}, lambda v: np.maximum(v, 0)), ('relu6', {}, lambda v: np.clip(v, 0, 6)), ('leaky_relu', {'negative_slope': 0.2}, lambda v: np.where(v > 0, v, 0.2 * v)),
        ('gelu', {}, lambda v: v / 2 * (1 + erf(v / math.sqrt(2)))), ('gelu', {'approximate': 'tanh'}, lambda v: v / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3)))),
        ('silu', {}, lambda v: v * sigmoid(v)), ('mish', {}, lambda v: v * np.tanh(soft(v))), ('elu', {'alpha': 0.7}, lambda v: np.where(v > 0, v, 0.7 * np.expm1(v))),
        ('selu', {}, lambda v: 1.0507009873554805 * np.where(v > 0, v, 1.6732632423543772 * np.expm1(v))), ('hardswish', {}, lambda v: v * np.clip(v + 3, 0, 6) / 6),
        ('hardsigmoid', {}, lambda v: np.clip(v + 3, 0, 6) / 6), ('hardtanh', {'min_val': -0.5, 'max_val': 0.75}, lambda v: np.clip(v, -0.5, 0.75)),
        ('softplus', {'beta': 2}, lambda v: soft(2 * v) / 2), ('softsign', {}, lambda v: v / (1 + np.abs(v))), ('logsigmoid', {}, lambda v: -soft(-v))]:
    call('Functional.' + name, [wide], f(wide.a), kwargs, backward=([gw], [difference(f, wide.a, gw.a)]))
call('Functional.prelu', [xb, T([0.1, 0.2, 0.3, 0.4])], np.where(xb.a > 0, xb.a, xb.a * np.float32([0.1, 0.2, 0.3, 0.4]).astype(float).reshape(channel)))
call('Functional.glu', [wide], wide.a[:, :4] * sigmoid(wide.a[:, 4:]))
call('NPU.npu_swiglu', [wide], wide.a[:, :4] * sigmoid(wide.a[:, :4]) * wide.a[:, 4:], {'dim': -1})
p = T(softmax(wide.a, 1))
call('Functional.softmax', [wide, 1], p, backward=([gw], [p.a * (gw.a - (gw.a * p.a).sum(1, keepdims=True))]), loose=True)
lp = T(np.log(softmax(wide.a, 0)))
call('Functional.log_softmax', [wide], lp, {'dim': 0}, backward=([gw], [gw.a - np.exp(lp.a) * gw.a.sum(0, keepdims=True)]), loose=True)
table, ids = normal(9, 4), T([[1, 5, 5], [0, 8, 1]])
ge = normal(2, 3, 4)
dw = np.zeros((9, 4))
for k in np.ndindex(2, 3):
    if ids.a[k] != 0:
        dw[ids.a[k]] += ge.a[k]
call('Functional.embedding', [ids, table, 0], table.a[ids.a], backward=([ge], [None, dw]))
call('Functional.dropout', [x, 0.5, False], x.a)
keep = rng.random((3, 5)) < 0.75
call('Functional.dropout', [x, 0.25, True, False], np.where(keep, x.a / 0.75, 0), backward=([y], [np.where(keep, y.a / 0.75, 0)]))

# Pooling and resizing.
def windows(v, size, stride, pad, dilation, fill, f, up=False):
    v = np.pad(v, [(0, 0), (0, 0)] + [(k, k + (s if up else 0)) for k, s in zip(pad, stride)], constant_values=fill)
    n = [int((math.ceil if up else math.floor)((v.shape[2 + k] - (stride[k] if up else 0) - dilation[k] * (size[k] - 1) - 1) / stride[k])) + 1 for k in range(len(size))]
    out = np.zeros(list(v.shape[:2]) + n)
    for q in np.ndindex(*n):
        at = tuple(slice(q[k] * stride[k], q[k] * stride[k] + dilation[k] * (size[k] - 1) + 1, dilation[k]) for k in range(len(size)))
        out[(slice(None), slice(None)) + q] = f(v[(slice(None), slice(None)) + at].reshape(v.shape[0], v.shape[1], -1))
    return out


xp = normal(2, 3, 7, 6)
ym = windows(xp.a, (3, 2), (2, 2), (1, 0), (1, 1), -INF, lambda v: v.max(2))
gp = normal(*ym.shape)
dm = np.zeros(xp.shape)
padded = np.pad(xp.a, ((0, 0), (0, 0), (1, 1), (0, 0)), constant_values=-INF)
for q in np.ndindex(*ym.shape):
    win = padded[q[0], q[1], q[2] * 2:q[2] * 2 + 3, q[3] * 2:q[3] * 2 + 2]
    k = np.unravel_index(win.argmax(), win.shape)
    dm[q[0], q[1], q[2] * 2 + k[0] - 1, q[3] * 2 + k[1]] += gp.a[q]
call('Functional.max_pool2d', [xp, [3, 2], 2, [1, 0]], ym, backward=([gp], [dm]))
call('Functional.max_pool2d', [xp, 2], windows(xp.a, (2, 2), (2, 2), (0, 0), (1, 1), -INF, lambda v: v.max(2), up=True), {'ceil_mode': True})
call('Functional.avg_pool2d', [xp, 3, 2, 1], windows(xp.a, (3, 3), (2, 2), (1, 1), (1, 1), 0, lambda v: v.mean(2)))
call('Functional.avg_pool2d', [xp, 3, 2, 1], windows(xp.a, (3, 3), (2, 2), (1, 1), (1, 1), math.nan, lambda v: np.nanmean(v, 2)), {'count_include_pad': False})
call('Functional.max_pool1d', [T(xp.a[0]), 3], windows(xp.a[:1].reshape(1, 3, 42)[..., :42].reshape(3, 7, 6)[None].reshape(1, 21, 6), (3,), (3,), (0,), (1,), -INF, lambda v: v.max(2)).reshape(3, 7, 2))
ya = np.zeros((2, 3, 3, 4))
for q in np.ndindex(3, 4):
    ya[:, :, q[0], q[1]] = xp.a[:, :, q[0] * 7 // 3:-(-(q[0] + 1) * 7 // 3), q[1] * 6 // 4:-(-(q[1] + 1) * 6 // 4)].mean((2, 3))
call('Functional.adaptive_avg_pool2d', [xp, [3, 4]], ya)


def resize(v, size, weight):
    for k, n in enumerate(size):
        old = v.shape[2 + k]
        m = np.array([weight(old, n, o) for o in range(n)])
        v = np.moveaxis(np.tensordot(v, m, (2 + k, 1)), -1, 2 + k)
    return v


def linear(corners):
    def weight(old, new, o):
        s = o * (old - 1) / (new - 1) if corners else max((o + 0.5) * old / new - 0.5, 0)
        lo = min(int(s), old - 1)
        row = np.zeros(old)
        row[lo] += 1 - (s - lo)
        row[min(lo + 1, old - 1)] += s - lo
        return row
    return weight


def near(old, new, o):
    row = np.zeros(old)
    row[o * old // new] = 1
    return row


def cubic(old, new, o):
    s = (o + 0.5) * old / new - 0.5
    lo, a = math.floor(s), -0.75
    row = np.zeros(old)
    for k in range(-1, 3):
        t = abs(s - lo - k)
        q = ((a + 2) * t - (a + 3)) * t * t + 1 if t <= 1 else ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
        row[min(max(lo + k, 0), old - 1)] += q
    return row


call('Functional.interpolate', [xp, [5, 9]], resize(xp.a, (5, 9), near))
call('Functional.interpolate', [xp, [4, 9]], resize(xp.a, (4, 9), linear(False)), {'mode': 'bilinear', 'align_corners': False})
call('Functional.interpolate', [xp, [4, 9]], resize(xp.a, (4, 9), linear(True)), {'mode': 'bilinear', 'align_corners': True})
call('Functional.interpolate', [xp, None, 2], resize(xp.a, (14, 12), cubic), {'mode': 'bicubic'})

# Losses.
lx, lt = normal(6, 5), T(rng.integers(0, 5, 6))
one = np.eye(5)[lt.a]
lp = np.log(softmax(lx.a))
call('Functional.cross_entropy', [lx, lt], -(lp * one).sum() / 6, backward=([T(1.5)], [1.5 * (softmax(lx.a) - one) / 6]))
call('Functional.cross_entropy', [lx, lt], -(lp * one).sum() / 6, backward=([T(1.5)], [-1.5 * one / 6]), note='the gradient of the last node, of log-probabilities')
cw = T(np.abs(rng.standard_normal(5)) + 0.2)
q = 0.9 * one * cw.a + 0.1 / 5 * cw.a
call('Functional.cross_entropy', [lx, lt], -(lp * q).sum() / cw.a[lt.a].sum(), {'weight': cw, 'label_smoothing': 0.1})
call('Functional.cross_entropy', [lx, lt], -(lp * one).sum(1), {'reduction': 'none'})
call('Functional.cross_entropy', [lx, T(softmax(gn.a[:, :5].repeat(2, 0)[:6]))], -(lp * T(softmax(gn.a[:, :5].repeat(2, 0)[:6])).a).sum(), {'reduction': 'sum'})
lpt = T(lp)
ig = T(np.array([1, -100, 3, 0, -100, 2]))
call('Functional.nll_loss', [lpt, ig], -np.mean([lpt.a[k, ig.a[k]] for k in (0, 2, 3, 5)]))
dd = x.a - y.a
call('Functional.mse_loss', [x, y], (dd ** 2).mean(), backward=([T(2.0)], [4 * dd / 15]))
call('Functional.l1_loss', [x, y], np.abs(dd).sum(), {'reduction': 'sum'})
call('Functional.smooth_l1_loss', [x, y], np.where(np.abs(dd) < 0.5, dd ** 2, np.abs(dd) - 0.25).mean(), {'beta': 0.5},
     backward=([T(1.0)], [np.where(np.abs(dd) < 0.5, 2 * dd, np.sign(dd)) / 15, None]))
call('Functional.huber_loss', [x, y], np.where(np.abs(dd) <= 0.7, dd ** 2 / 2, 0.7 * (np.abs(dd) - 0.35)), {'delta': 0.7, 'reduction': 'none'})
prob, label = T(sigmoid(x.a)), T((rng.random((3, 5)) < 0.5).astype(float))
call('Functional.binary_cross_entropy', [prob, label], -(label.a * np.log(prob.a) + (1 - label.a) * np.log(1 - prob.a)).mean())
call('Functional.binary_cross_entropy_with_logits', [x, label], (soft(x.a) - label.a * x.a).mean())
tp = T(softmax(y.a))
call('Functional.kl_div', [T(np.log(softmax(x.a))), tp], (tp.a * (np.log(tp.a) - T(np.log(softmax(x.a))).a)).sum() / 3, {'reduction': 'batchmean'})

# Attention.
def attend(q, k, v, scale, mask=0):
    s = q @ k.swapaxes(-1, -2) * scale + mask
    return softmax(s) @ v


for dtype in ('float32', 'bfloat16'):
    q, k, v = normal(2, 2, 5, 8, dtype=dtype), normal(2, 2, 6, 8, dtype=dtype), normal(2, 2, 6, 4, dtype=dtype)
    call('Functional.scaled_dot_product_attention', [q, k, v], attend(q.a, k.a, v.a, 8 ** -0.5), dtype=dtype)
am = T(rng.standard_normal((5, 6)))
call('Functional.scaled_dot_product_attention', [q, k, v, am], attend(q.a, k.a, v.a, 0.3, am.a), {'scale': 0.3}, dtype='bfloat16')
q, k, v = normal(2, 2, 5, 8), normal(2, 2, 6, 8), normal(2, 2, 6, 4)
bm = T(np.tril(np.ones((5, 6), bool)))
call('Functional.scaled_dot_product_attention', [q, k, v], attend(q.a, k.a, v.a, 8 ** -0.5, np.where(bm.a, 0, -INF)), {'attn_mask': bm})
call('Functional.scaled_dot_product_attention', [q, k, v], attend(q.a, k.a, v.a, 8 ** -0.5, np.where(bm.a, 0, -INF)), {'is_causal': True})


def heads(t, n):
    return t.reshape(t.shape[0], t.shape[1], n, -1).transpose(0, 2, 1, 3)


fq, fk, fv = normal(2, 5, 8), normal(2, 5, 8), normal(2, 5, 8)
fm = T(np.triu(np.ones((5, 5), bool), 1))
fo = attend(heads(fq.a, 2), heads(fk.a, 2), heads(fv.a, 2), 0.5, np.where(fm.a, -INF, 0)).transpose(0, 2, 1, 3).reshape(2, 5, 8)
call('NPU.npu_fusion_attention', [fq, fk, fv, 2], [fo], {'input_layout': 'BSH', 'atten_mask': fm, 'scale': 0.5, 'keep_prob': 1.0})
call('NPU.npu_fusion_attention', [T(fq.a.reshape(2, 5, 2, 4)), T(fk.a.reshape(2, 5, 2, 4)), T(fv.a.reshape(2, 5, 2, 4)), 2, 'BSND'], [fo.reshape(2, 5, 2, 4)],
     {'scale': 0.5, 'sparse_mode': 2})
ang = normal(1, 5, 1, 8)
rx = normal(2, 5, 2, 8)
half = np.concatenate([-rx.a[..., 4:], rx.a[..., :4]], -1)
call('NPU.npu_rotary_mul', [rx, T(np.cos(ang.a)), T(np.sin(ang.a))], rx.a * T(np.cos(ang.a)).a + half * T(np.sin(ang.a)).a)
sm = T(rng.random((3, 8)) < 0.3)
call('NPU.npu_scaled_masked_softmax', [wide, sm, 0.5, False], softmax(np.where(sm.a, -10000, wide.a * 0.5)))
call('NPU.npu_dtype_cast', [x], T(x.a, 'bfloat16'), {'dtype': None})
call('NPU.npu_format_cast', [x, 29], x.a)

# The same under other names, in other numbers of axes.
call('Torch.embedding', [table, ids, 0], table.a[ids.a], backward=([ge], [dw]), note='the gradient of the last node')
call('Aten._softmax.default', [wide, 1, False], softmax(wide.a, 1))
call('Torch.softmax', [wide, 0], softmax(wide.a, 0))
call('Tensor.log_softmax', [wide, 1], np.log(softmax(wide.a, 1)))
unit = T(rng.uniform(-0.95, 0.95, (3, 4)))
call('Torch.acos', [unit], np.arccos(unit.a))
call('Torch.asin', [unit], np.arcsin(unit.a))
call('Torch.frac', [wide], wide.a - np.trunc(wide.a))
call('Torch.positive', [wide], wide.a)
call('Torch.clamp_min', [x, 0.25], np.maximum(x.a, 0.25))
call('Tensor.clamp_max_', [x, 0.25], np.minimum(x.a, 0.25))
call('Tensor.__xor__', [i, j], i.a ^ j.a)
call('Torch.count_nonzero', [T(np.where(m.a, x.a, 0))], m.a.sum(1), {'dim': 1})
call('Torch.mv', [T(a.a[0, 0]), T(b.a[0, :, 0])], a.a[0, 0] @ b.a[0, :, 0])
call('Torch.addmv', [T(a.a[0, 0, :, 0]), T(a.a[0, 0]), T(b.a[0, :, 0])], a.a[0, 0, :, 0] + 2 * (a.a[0, 0] @ b.a[0, :, 0]), {'alpha': 2})
call('Torch.addbmm', [T(d.a[0, 0]), T(a.a[0]), b], d.a[0, 0] + (a.a[0] @ b.a).sum(0))
wb2 = normal(3, 5, 2)
call('Functional.bilinear', [T(a.a[0, 0]), T(d.a[0, 0]), wb2, T([0.1, 0.2, 0.3])], np.einsum('ni,nj,oij->no', a.a[0, 0], d.a[0, 0], wb2.a) + T([0.1, 0.2, 0.3]).a)
call('Tensor.fill_', [x, 2.5], np.full((3, 5), 2.5))
call('Tensor.copy_', [T(z.a, 'float16'), T(z.a[0])], T(np.broadcast_to(z.a[0], (2, 3, 4)), 'float16'))
call('Torch.full_like', [x, -1.5], np.full((3, 5), -1.5))
call('Tensor.new_full', [x, [2, 2], 7.0], np.full((2, 2), 7.0))
call('Torch.batch_norm', [xb, wb, bb, mean, var, False, 0.1, 1e-5, True], fixed * wb.a.reshape(channel) + bb.a.reshape(channel))
call('Functional.celu', [wide, 0.7], np.where(wide.a > 0, wide.a, 0.7 * np.expm1(wide.a / 0.7)))
call('Functional.tanhshrink', [wide], wide.a - np.tanh(wide.a))
call('NPU.npu_fast_gelu', [wide], wide.a * sigmoid(1.702 * wide.a))
call('NPU.npu_confusion_transpose', [z, [1, 0, 2], [3, 8], True], z.a.transpose(1, 0, 2).reshape(3, 8))
call('NPU.npu_confusion_transpose', [z, [2, 0, 1], [4, 3, 2], False], z.a.reshape(4, 3, 2).transpose(2, 0, 1))
xq = normal(1, 2, 5)
call('Functional.avg_pool1d', [xq, 2], windows(xq.a, (2,), (2,), (0,), (1,), 0, lambda v: v.mean(2)))
xv = normal(1, 2, 4, 3, 5)
call('Functional.avg_pool3d', [xv, 2], windows(xv.a, (2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), 0, lambda v: v.mean(2)))
call('Functional.max_pool3d', [xv, [2, 1, 2], 1], windows(xv.a, (2, 1, 2), (1, 1, 1), (0, 0, 0), (1, 1, 1), -INF, lambda v: v.max(2)))


def adapt(v, size, f):
    out = np.zeros(list(v.shape[:2]) + list(size))
    for q in np.ndindex(*size):
        at = tuple(slice(q[k] * v.shape[2 + k] // size[k], -(-(q[k] + 1) * v.shape[2 + k] // size[k])) for k in range(len(size)))
        out[(slice(None), slice(None)) + q] = f(v[(slice(None), slice(None)) + at].reshape(v.shape[0], v.shape[1], -1))
    return out


for kind, f in [('avg', lambda v: v.mean(2)), ('max', lambda v: v.max(2))]:
    call('Functional.adaptive_%s_pool1d' % kind, [xq, 3], adapt(xq.a, (3,), f))
    call('Functional.adaptive_%s_pool3d' % kind, [xv, [3, 2, 2]], adapt(xv.a, (3, 2, 2), f))
call('Functional.adaptive_max_pool2d', [xp, [3, 4]], adapt(xp.a, (3, 4), lambda v: v.max(2)))
w1, x1 = normal(2, 3, 3), normal(1, 2, 4)
call('Functional.conv_transpose1d', [x1, w1], conv_gradients(np.zeros((1, 3, 6)), w1.a, x1.a, (1,), (0,), (1,), 1)[0])
w2, x2 = normal(2, 1, 2, 2, 2), normal(1, 2, 2, 2, 2)
call('Functional.conv_transpose3d', [x2, w2, None, 2, 0, 0, 2], conv_gradients(np.zeros((1, 2, 4, 4, 4)), w2.a, x2.a, (2, 2, 2), (0, 0, 0), (1, 1, 1), 2)[0])

# What moves numbers gives gradients back to where they came from.
def scattered(shape, at, g):
    """g added up at places of a tensor."""
    y = np.zeros(int(np.prod(shape)))
    np.add.at(y, np.asarray(at).ravel(), np.asarray(g).ravel())
    return y.reshape(shape)


xs = normal(3, 4)
places = np.arange(12).reshape(3, 4)
for name, args, f in [('Torch.roll', [1, -1], lambda v: np.roll(v, 1, -1)), ('Tensor.repeat', [2, 1, 3], lambda v: np.tile(v, (2, 1, 3))),
                      ('Torch.narrow', [1, 1, 2], lambda v: v[:, 1:3]), ('Torch.select', [0, -1], lambda v: v[-1]),
                      ('Torch.index_select', [1, T(np.array([3, 0, 3]))], lambda v: v[:, [3, 0, 3]]), ('Tensor.__getitem__', [slice(0, 2, None)], lambda v: v[:2]),
                      ('Functional.pad', [[1, 2]], lambda v: np.pad(v, ((0, 0), (1, 2))))]:
    g = normal(*f(xs.a).shape)
    at = f(places + 1)
    back = scattered((13,), at, g.a)[1:].reshape(3, 4)
    call(name, [xs] + args, f(xs.a), backward=([g], [back]))
gs = [normal(3, 2), normal(3, 2)]
call('Torch.split', [xs, 2, 1], [xs.a[:, :2], xs.a[:, 2:]], backward=(gs, [np.concatenate([gs[0].a, gs[1].a], 1)]))
order = np.argsort(-xs.a, 1)[:, :2]
top = np.take_along_axis(xs.a, order, 1)
g = normal(3, 2)
back = np.zeros((3, 4))
np.put_along_axis(back, order, g.a, 1)
call('Torch.topk', [xs, 2], [top, T(order)], backward=([g], [back]))
xp5 = normal(2, 3, 5, 4)
g = normal(2, 3, 2, 3)
back = np.zeros((2, 3, 5, 4))
for p in range(2):
    for q in range(3):
        rows, cols = slice(p * 5 // 2, -(-(p + 1) * 5 // 2)), slice(q * 4 // 3, -(-(q + 1) * 4 // 3))
        n = (rows.stop - rows.start) * (cols.stop - cols.start)
        back[:, :, rows, cols] += g.a[:, :, p:p + 1, q:q + 1] / n
call('Functional.adaptive_avg_pool2d', [xp5, [2, 3]], adapt(xp5.a, (2, 3), lambda v: v.mean(2)), backward=([g], [back]))
x3, g = normal(1, 2, 3), normal(1, 2, 6)
weights = np.zeros((6, 3))
for p in range(6):
    s = max((p + 0.5) * 0.5 - 0.5, 0)
    lo = min(int(s), 2)
    weights[p, lo] += 1 - (s - lo)
    weights[p, min(lo + 1, 2)] += s - lo
call('Functional.interpolate', [x3], x3.a @ weights.T, {'scale_factor': 2.0, 'mode': 'linear'}, backward=([g], [g.a @ weights]))
w1, x1, g = normal(2, 3, 3), normal(1, 2, 4), normal(1, 3, 6)
dx = np.array([[[sum(g.a[0, o, i + k] * w1.a[c, o, k] for o in range(3) for k in range(3)) for i in range(4)] for c in range(2)]])
dw = np.array([[[sum(x1.a[0, c, i] * g.a[0, o, i + k] for i in range(4)) for k in range(3)] for o in range(3)] for c in range(2)])
call('Functional.conv_transpose1d', [x1, w1], conv_gradients(np.zeros((1, 3, 6)), w1.a, x1.a, (1,), (0,), (1,), 1)[0], backward=([g], [dx, dw]))
c, a, b, g = normal(4), normal(3, 5), normal(5, 4), normal(3, 4)
call('Torch.addmm', [c, a, b], 0.5 * c.a + 2 * a.a @ b.a, {'beta': 0.5, 'alpha': 2}, backward=([g], [0.5 * g.a.sum(0), 2 * g.a @ b.a.T, 2 * a.a.T @ g.a]))
q, k, v, g = normal(1, 2, 3, 4), normal(1, 2, 5, 4), normal(1, 2, 5, 6), normal(1, 2, 3, 6)
p = softmax(q.a @ k.a.swapaxes(2, 3) / 2)
dp = g.a @ v.a.swapaxes(2, 3)
ds = p * (dp - (p * dp).sum(-1, keepdims=True))
call('Functional.scaled_dot_product_attention', [q, k, v], p @ v.a, backward=([g], [ds @ k.a / 2, ds.swapaxes(2, 3) @ q.a / 2, p.swapaxes(2, 3) @ g.a]))

# Places.
m = T(np.array([[True, False, True], [False, False, True]]))
call('Torch.where', [m], [T(i) for i in np.nonzero(m.a)])
for name in ['Tensor.nonzero', 'Torch.argwhere']:
    call(name, [m], T(np.argwhere(m.a)))
call('Torch.nonzero', [m], [T(i) for i in np.nonzero(m.a)], {'as_tuple': True})
to, source, g = T(np.array([2, 0, 2])), normal(3, 4), normal(3, 4)
added = xs.a.copy()
np.add.at(added, to.a, 0.5 * source.a)
call('Tensor.index_add_', [xs, 0, to, source], added, {'alpha': 0.5}, backward=([g], [g, 0.5 * g.a[to.a]]))
g = normal(3, 3)
call('Torch.diff', [xs], np.diff(xs.a), backward=([g], [np.pad(g.a, ((0, 0), (1, 0))) - np.pad(g.a, ((0, 0), (0, 1)))]))
bins = T(np.array([0.1, 0.9, 0.4, 0.35, 0.62, 0.97, 0.1]))
call('Torch.histc', [bins], np.histogram(bins.a, 4, (0, 1))[0].astype(float), {'bins': 4, 'min': 0, 'max': 1})
for name in ['Torch._foreach_norm', 'Aten._foreach_norm']:
    call(name, [[xs, normal(5)], 2.0], None)
    cases[-1]['outputs'] = [value(T(np.sqrt((T_.a ** 2).sum()))) for T_ in [xs]] + [value(T(np.sqrt((np.frombuffer(bytes.fromhex(cases[-1]['args'][0]['list'][1]['tensor']['hex']), '<f4').astype(float) ** 2).sum())))]
xi, wi, bi = normal(2, 3, 7), normal(3), normal(3)
hat = (xi.a - xi.a.mean(2, keepdims=True)) / np.sqrt(xi.a.var(2, keepdims=True) + 1e-5)
call('Functional.instance_norm', [xi], hat * wi.a[:, None] + bi.a[:, None], {'weight': wi, 'bias': bi})

# Extremes give their gradient back to what they are, in equal shares; quotients that are rounded give none.
ties = T(np.array([[1.0, 3.0, 3.0, 0.5], [2.0, -1.0, 0.25, 1.5]]))
for names, f in [(['Torch.amax', 'Tensor.amax'], np.max), (['Torch.amin'], np.min)]:
    for name in names:
        g, best = normal(2), f(ties.a, axis=1, keepdims=True)
        hit = (ties.a == best) / (ties.a == best).sum(1, keepdims=True)
        call(name, [ties, 1], best[:, 0], backward=([g], [hit * g.a[:, None]]))
g, place = normal(4), T(np.argmax(ties.a, axis=0))
call('Torch.max', [ties], [ties.a.max(0), place], {'dim': 0}, backward=([g, None], [(np.arange(2)[:, None] == place.a) * g.a]))
g, place = normal(2, 1), T(np.argmin(ties.a, axis=1)[:, None])
call('Tensor.min', [ties, -1, True], [ties.a.min(1, keepdims=True), place], backward=([g, None], [(np.arange(4) == place.a) * g.a]))
call('Torch.max', [ties], ties.a.max(), backward=([T(1.5)], [1.5 * (ties.a == 3) / 2]))
x5, y5, g, two = normal(3, 5), normal(3, 5), normal(3, 5), T([0.7])
call('Torch.div', [x5, two], np.floor(x5.a / np.float32(0.7)), {'rounding_mode': 'floor'}, backward=([g], [0 * g.a, T([0.0])]))
# The last step of what is composed: a mean of distances, a quotient, a mean over rows.
call('Functional.l1_loss', [x5, y5], np.abs(x5.a - y5.a).mean(), backward=([T(1.5)], [0 * x5.a + 0.1]), note='the gradient of the last node, of the distances')
call('Functional.l1_loss', [x5, y5], np.abs(x5.a - y5.a), {'reduction': 'none'}, backward=([g], [g.a * np.sign(x5.a - y5.a)]))
d5 = x5.a - y5.a
call('Functional.huber_loss', [x5, y5], np.where(np.abs(d5) < 0.5, d5 ** 2 / 2, 0.5 * (np.abs(d5) - 0.25)).mean(), {'delta': 0.5},
     backward=([T(1.5)], [0.1 * np.clip(d5, -0.5, 0.5)]))
call('Functional.softsign', [x5], x5.a / (1 + np.abs(x5.a)), backward=([g], [g.a / (1 + np.abs(x5.a)) ** 2]))
call('Functional.softsign', [x5], x5.a / (1 + np.abs(x5.a)), backward=([g], [g.a / (1 + np.abs(x5.a))]), note='the gradient of the last node, of the dividend')
p5 = T(softmax(y5.a))
call('Functional.cross_entropy', [x5, p5], -(np.log(softmax(x5.a)) * p5.a).sum() / 3, backward=([T(1.5)], [T(0.5)]), note='the gradient of the last node, a quotient')

json.dump({'cases': cases}, sys.stdout, separators=(',', ':'))
