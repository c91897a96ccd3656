#!/usr/bin/env python3
"""Makes operators.json.gz: recorded operators with outputs computed by numpy, for TestOperators.

    operators.py | gzip -9n > operators.json.gz
    operators.py -text > operators.txt

The second prints those of its last section as lines that a person can read and add to.
Each case is an operator type, its attributes, and tensors as a device would record them: type, layout, dims, the
framework's dims and layout, and the bytes in hex. The outputs are computed in float64 by plain loops over the definition and
rounded once; none of the code under test is used. Needs numpy.
"""
import json
import math
import sys

import numpy as np

rng = np.random.default_rng(12)
CODES = {'float32': 1, 'float16': 2, 'int8': 3, 'uint8': 4, 'int32': 7, 'int64': 8, 'uint64': 10, 'bool': 11, 'float64': 12}
FORMATS = {'NCHW': 0, 'NHWC': 1, 'ND': 2, 'NC1HWC0': 3, 'FRACTAL_Z': 4, 'NC1HWC0_C04': 12, 'FRACTAL_Z_C04': 13, 'HWCN': 16, 'FRACTAL_NZ': 29,
           'NCDHW': 30, 'NDC1HWC0': 32}
cases = []


def up(n, k):
    return -(-n // k) * k


def dirty(shape, like):
    """Padding holds garbage."""
    return (rng.standard_normal(shape) * 3).astype(like)


def device(a, layout, axes):
    """The array in a device layout, and its dims."""
    if layout in ('NC1HWC0', 'NC1HWC0_C04'):
        c0 = 4 if layout.endswith('C04') else 32 if a.dtype == np.int8 else 16
        order = [axes.index(x) for x in 'NCHW']
        x = a.transpose(order)
        big = dirty((x.shape[0], up(x.shape[1], c0)) + x.shape[2:], a.dtype)
        big[:, :x.shape[1]] = x
        n, c, h, w = big.shape
        x = big.reshape(n, c // c0, c0, h, w).transpose(0, 1, 3, 4, 2)
    elif layout == 'NDC1HWC0':
        big = dirty((a.shape[0], up(a.shape[1], 16)) + a.shape[2:], a.dtype)
        big[:, :a.shape[1]] = a
        n, c, d, h, w = big.shape
        x = big.reshape(n, c // 16, 16, d, h, w).transpose(0, 3, 1, 4, 5, 2)
    elif layout == 'FRACTAL_Z':
        x = a.transpose([axes.index(x) for x in 'NCHW'])
        big = dirty((up(x.shape[0], 16), up(x.shape[1], 16)) + x.shape[2:], a.dtype)
        big[:x.shape[0], :x.shape[1]] = x
        n, c, h, w = big.shape
        x = big.reshape(n // 16, 16, c // 16, 16, h, w).transpose(2, 4, 5, 0, 1, 3).reshape(c // 16 * h * w, n // 16, 16, 16)
    elif layout == 'FRACTAL_Z_C04':
        n, c, h, w = a.shape
        big = dirty((up(n, 16), up(h * w * 4, 16)), a.dtype)
        for i in range(n):
            for y in range(h):
                for z in range(w):
                    big[i, (y * w + z) * 4:(y * w + z) * 4 + c] = a[i, :, y, z]
        x = big.reshape(big.shape[0] // 16, 16, big.shape[1] // 16, 16).transpose(2, 0, 1, 3)
    elif layout == 'FRACTAL_NZ':
        m, n = a.shape[-2:]
        big = dirty(a.shape[:-2] + (up(m, 16), up(n, 16)), a.dtype)
        big[..., :m, :n] = a
        x = np.moveaxis(big.reshape(a.shape[:-2] + (big.shape[-2] // 16, 16, big.shape[-1] // 16, 16)), -2, -4)
    else:
        x = a
    return np.ascontiguousarray(x)


def tensor(a, layout='ND', axes='ND', name=''):
    a = np.asarray(a)
    x = device(a, layout, axes)
    return {'name': name, 'dtype': CODES[str(a.dtype)], 'format': FORMATS[layout], 'layout': layout, 'shape': list(x.shape), 'origin': list(a.shape),
            'axes': axes, 'hex': x.tobytes().hex()}


def case(kind, inputs, outputs, attrs=None, kernel='', note='', names=()):
    ins = [t if isinstance(t, dict) or t is None else tensor(t) for t in inputs]
    outs = [t if isinstance(t, dict) else tensor(t) for t in outputs]
    cases.append({'type': kind, 'note': note, 'kernel': kernel, 'names': list(names), 'attrs': attrs or {}, 'inputs': ins, 'outputs': outs})


def f16(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float16)


def f32(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def wide(*xs):
    return [np.asarray(x, np.float64) for x in xs]


def out(y, like):
    with np.errstate(all='ignore'):
        return np.asarray(y).astype(like)


# ---- convolutions by the definition ------------------------------------------------------------------

def conv(x, w, b=None, stride=(1, 1), pads=(0, 0, 0, 0), dil=(1, 1), groups=1):
    x, w = wide(x, w)
    n, c, h, wd = x.shape
    o, cg, kh, kw = w.shape
    top, bottom, left, right = pads
    big = np.zeros((n, c, h + top + bottom, wd + left + right))
    big[:, :, top:top + h, left:left + wd] = x
    oh = (big.shape[2] - (kh - 1) * dil[0] - 1) // stride[0] + 1
    ow = (big.shape[3] - (kw - 1) * dil[1] - 1) // stride[1] + 1
    y = np.zeros((n, o, oh, ow))
    for k in range(o):
        g = k // (o // groups)
        for i in range(kh):
            for j in range(kw):
                part = big[:, g * cg:(g + 1) * cg, i * dil[0]:i * dil[0] + stride[0] * (oh - 1) + 1:stride[0],
                           j * dil[1]:j * dil[1] + stride[1] * (ow - 1) + 1:stride[1]]
                y[:, k] += (part * w[k, :, i, j][None, :, None, None]).sum(1)
        if b is not None:
            y[:, k] += float(b[k])
    return y


def five(a):
    return tensor(a, 'NC1HWC0', 'NCHW')


x, w, b = f16(2, 20, 9, 7), f16(24, 20, 3, 3, scale=0.1), f16(24)
at = {'strides': [1, 1, 2, 2], 'pads': [1, 1, 1, 1], 'dilations': [1, 1, 1, 1], 'groups': 1, 'data_format': 'NHWC', 'offset_x': 0}
case('Conv2D', [five(x), tensor(w, 'FRACTAL_Z', 'NCHW'), tensor(b, 'ND', 'NCHW'), None],
     [five(out(conv(x, w, b, (2, 2), (1, 1, 1, 1)), np.float16))], at)
case('Conv2D', [tensor(x, 'NCHW', 'NCHW'), tensor(w, 'NCHW', 'NCHW')], [tensor(out(conv(x, w, None, (1, 1), (0, 1, 2, 0)), np.float16), 'NCHW', 'NCHW')],
     {'strides': [1, 1, 1, 1], 'pads': [0, 1, 2, 0]}, note='uneven pads')
case('Conv2D', [tensor(x.transpose(0, 2, 3, 1), 'NC1HWC0', 'NHWC'), tensor(w.transpose(2, 3, 1, 0), 'FRACTAL_Z', 'HWCN')],
     [tensor(out(conv(x, w, None, (2, 1), (1, 1, 1, 1), (1, 1)).transpose(0, 2, 3, 1), np.float16), 'NC1HWC0', 'NHWC')],
     {'strides': [1, 2, 1, 1], 'pads': [1, 1, 1, 1]}, note='NHWC')
case('Conv2D', [tensor(x, 'NCHW', 'NCHW'), tensor(w, 'NCHW', 'NCHW')], [tensor(out(conv(x, w, None, (1, 1), (2, 2, 2, 2), (2, 2)), np.float16), 'NCHW', 'NCHW')],
     {'strides': [1, 1, 1, 1], 'pads': [2, 2, 2, 2], 'dilations': [1, 1, 2, 2]}, note='dilation')
g = f16(24, 5, 3, 3, scale=0.1)
case('Conv2D', [tensor(x, 'NCHW', 'NCHW'), tensor(g, 'NCHW', 'NCHW')], [tensor(out(conv(x, g, None, (1, 1), (1, 1, 1, 1), (1, 1), 4), np.float16), 'NCHW', 'NCHW')],
     {'strides': [1, 1, 1, 1], 'pads': [1, 1, 1, 1], 'groups': 4}, note='groups')
c3, w3 = f16(1, 3, 14, 14), f16(16, 3, 7, 7, scale=0.1)
case('Conv2D', [tensor(c3, 'NC1HWC0_C04', 'NCHW'), tensor(w3, 'FRACTAL_Z_C04', 'NCHW')], [five(out(conv(c3, w3, None, (2, 2), (3, 3, 3, 3)), np.float16))],
     {'strides': [1, 1, 2, 2], 'pads': [3, 3, 3, 3]}, note='C04')
xi, wi, bi = rng.integers(-128, 128, (1, 8, 5, 5)).astype(np.int8), rng.integers(-128, 128, (6, 8, 3, 3)).astype(np.int8), rng.integers(-999, 999, 6).astype(np.int32)
case('Conv2D', [tensor(xi, 'NCHW', 'NCHW'), tensor(wi, 'NCHW', 'NCHW'), bi], [tensor(out(conv(xi, wi, bi), np.int32), 'NCHW', 'NCHW')],
     {'strides': [1, 1, 1, 1], 'pads': [0, 0, 0, 0], 'offset_x': -128}, note='int8')
case('Conv2D', [tensor(f32(1, 4, 6, 6) * 0 + x[:1, :4, :6, :6].astype(np.float32), 'NCHW', 'NCHW'), tensor(w[:8, :4].astype(np.float32), 'NCHW', 'NCHW')],
     [tensor(out(conv(x[:1, :4, :6, :6], w[:8, :4]), np.float32), 'NCHW', 'NCHW')], {'strides': [1, 1, 1, 1], 'padding': 'VALID'}, note='float32')
dw = f16(20, 1, 3, 3)
case('DepthwiseConv2D', [tensor(x, 'NCHW', 'NCHW'), tensor(dw, 'NCHW', 'NCHW')],
     [tensor(out(conv(x, dw, None, (1, 1), (1, 1, 1, 1), (1, 1), 20), np.float16), 'NCHW', 'NCHW')], {'strides': [1, 1, 1, 1], 'pads': [1, 1, 1, 1]})
case('DepthwiseConv2D', [tensor(x.transpose(0, 2, 3, 1), 'NHWC', 'NHWC'), tensor(dw.transpose(2, 3, 0, 1), 'HWCN', 'HWCN')],
     [tensor(out(conv(x, dw, None, (2, 2), (1, 1, 0, 1), (1, 1), 20).transpose(0, 2, 3, 1), np.float16), 'NHWC', 'NHWC')],
     {'strides': [1, 2, 2, 1], 'padding': 'SAME'}, note='HWCN, SAME')
r = f16(2, 24, 5, 4)
for words, y in (('te_fused_op_conv2d_leaky_relu', np.maximum(conv(x, w, b, (2, 2), (1, 1, 1, 1)), 0)),):
    case('Conv2D', [five(x), tensor(w, 'FRACTAL_Z', 'NCHW'), b], [five(out(y, np.float16))], kernel=words + '_0123456789abcdef_0123456789abcdef_0__kernel0')
case('Conv2D', [five(x), tensor(w, 'FRACTAL_Z', 'NCHW'), b, five(r)], [five(out(np.maximum(conv(x, w, b, (2, 2), (1, 1, 1, 1)) + r.astype(float), 0), np.float16))],
     kernel='te_fused_op_conv2d_eltwise_leaky_relu_0123456789abcdef_0__kernel0')
big = f16(2, 24, 10, 8)
case('ReadSelect', [five(big), five(x[:, :, :5, :4]), tensor(w[:, :, :1, :1], 'FRACTAL_Z', 'NCHW'), b],
     [five(out(np.maximum(conv(x[:, :, :5, :4], w[:, :, :1, :1], b) + big[:, :, ::2, ::2].astype(float), 0), np.float16))],
     kernel='te_fused_op_read_select_conv2d_eltwise_leaky_relu_0123456789abcdef_0__kernel0')
xo = f16(1, 16, 8, 8)
wo = f16(16, 16, 3, 3, scale=0.1)
case('Conv2D', [five(xo), tensor(wo, 'FRACTAL_Z', 'NCHW')], [five(out(conv(xo, wo, None, (2, 2), (0, 1, 0, 1)), np.float16))],
     kernel='te_fused_op_conv2d_relu_'.replace('_relu', '') + '0123456789abcdef_0__kernel0', note='SAME pads, lost')
x5, w5 = f16(1, 4, 4, 5, 5), f16(6, 4, 2, 3, 3, scale=0.2)
y5 = np.zeros((1, 6, 3, 3, 3))
for o in range(6):
    for d in range(3):
        for i in range(3):
            for j in range(3):
                y5[0, o, d, i, j] = (x5[0, :, d:d + 2, i:i + 3, j:j + 3].astype(float) * w5[o].astype(float)).sum()
case('Conv3D', [tensor(x5, 'NDC1HWC0', 'NCDHW'), tensor(w5, 'NCDHW', 'NCDHW')], [tensor(out(y5, np.float16), 'NDC1HWC0', 'NCDHW')],
     {'strides': [1, 1, 1, 1, 1], 'pads': [0] * 6})


def conv_transposed(dy, w, size, stride, pads, dil=(1, 1), groups=1):
    """By scattering: every dy adds its filter."""
    dy, w = wide(dy, w)
    n, co, oh, ow = dy.shape
    _, cg, kh, kw = w.shape
    y = np.zeros((n, cg * groups) + size)
    for o in range(co):
        g = o // (co // groups)
        for i in range(oh):
            for j in range(ow):
                for a in range(kh):
                    for c in range(kw):
                        p, q = i * stride[0] - pads[0] + a * dil[0], j * stride[1] - pads[2] + c * dil[1]
                        if 0 <= p < size[0] and 0 <= q < size[1]:
                            y[:, g * cg:(g + 1) * cg, p, q] += dy[:, o, i, j, None] * w[o, :, a, c][None]
    return y


dy, wt = f16(1, 8, 4, 5), f16(8, 6, 3, 3, scale=0.3)
case('Conv2DBackpropInputD', [tensor(wt, 'NCHW', 'NCHW'), tensor(dy, 'NCHW', 'NCHW')],
     [tensor(out(conv_transposed(dy, wt, (7, 9), (2, 2), (1, 1, 1, 1)), np.float16), 'NCHW', 'NCHW')],
     {'strides': [1, 1, 2, 2], 'pads': [1, 1, 1, 1], 'dilations': [1, 1, 1, 1], 'groups': 1})
wg = f16(8, 3, 3, 3, scale=0.3)
case('Conv2DTransposeD', [tensor(dy, 'NCHW', 'NCHW'), tensor(wg, 'NCHW', 'NCHW')],
     [tensor(out(conv_transposed(dy, wg, (8, 10), (2, 2), (1, 1, 1, 1), (1, 1), 2), np.float16), 'NCHW', 'NCHW')],
     {'strides': [1, 1, 2, 2], 'pads': [1, 1, 1, 1], 'groups': 2}, note='output padding, groups')
xf = f16(2, 5, 7, 7)
dyf = f16(2, 6, 4, 4)
dwf = np.zeros((6, 5, 3, 3))
pad = np.zeros((2, 5, 9, 9))
pad[:, :, 1:8, 1:8] = xf
for i in range(3):
    for j in range(3):
        dwf[:, :, i, j] = np.einsum('nohw,nchw->oc', dyf.astype(float), pad[:, :, i:i + 7:2, j:j + 7:2])
case('Conv2DBackpropFilterD', [tensor(xf, 'NCHW', 'NCHW'), tensor(dyf, 'NCHW', 'NCHW')], [tensor(out(dwf, np.float32), 'NCHW', 'NCHW')],
     {'strides': [1, 1, 2, 2], 'pads': [1, 1, 1, 1], 'dilations': [1, 1, 1, 1]})

# ---- products of matrices ------------------------------------------------------------------------------

for dtype, layout in (('float16', 'FRACTAL_NZ'), ('float16', 'ND'), ('float32', 'ND')):
    for t1 in (False, True):
        for t2 in (False, True):
            a, m, bias = f16(19, 35).astype(dtype), f16(35, 21).astype(dtype), f16(21).astype(dtype)
            y = out(a.astype(float) @ m.astype(float) + bias.astype(float), dtype)
            case('MatMulV2', [tensor(a.T if t1 else a, layout), tensor(m.T if t2 else m, layout), bias, None], [tensor(y, layout)],
                 {'transpose_x1': t1, 'transpose_x2': t2, 'offset_x': 0})
a, m = f16(2, 3, 17, 20), f16(3, 20, 33)
case('BatchMatMulV2', [tensor(a, 'FRACTAL_NZ'), m], [tensor(out(a.astype(float) @ m.astype(float), np.float16), 'FRACTAL_NZ')], {'adj_x1': False, 'adj_x2': False},
     note='broadcast')
case('BatchMatMul', [a, tensor(a, 'FRACTAL_NZ')], [out(a.astype(float) @ a.astype(float).swapaxes(-1, -2), np.float16)], {'adj_x1': False, 'adj_x2': True})
a, m, r = f16(18, 40), f16(40, 30), f16(18, 30)
case('MatMulV2', [tensor(a, 'FRACTAL_NZ'), tensor(m, 'FRACTAL_NZ'), f16(30) * 0, tensor(r, 'FRACTAL_NZ')],
     [tensor(out(a.astype(float) @ m.astype(float) + r, np.float16), 'FRACTAL_NZ')], kernel='te_fused_op_mat_mul_add_0123456789abcdef_0__kernel0')
x, w, b = f16(3, 8, 2, 2), f16(40, 8, 2, 2, scale=0.2), f16(40)
y = x.reshape(3, -1).astype(float) @ w.reshape(40, -1).astype(float).T + b.astype(float)
case('FullyConnection', [five(x), tensor(w, 'FRACTAL_Z', 'NCHW'), tensor(b.reshape(1, 40, 1, 1), 'NC1HWC0', 'NCHW')],
     [five(out(y, np.float16).reshape(3, 40, 1, 1))], {'num_output': 40, 'transpose': False, 'axis': 1, 'alpha': 1})

# ---- element-wise -------------------------------------------------------------------------------------------

def binary(kind, f, a, b, dtype=None, **attrs):
    with np.errstate(all='ignore'):
        y = f(*wide(a, b))
    case(kind, [a, b], [out(y, dtype or a.dtype)], attrs)


for dtype in (np.float16, np.float32):
    a, b = f32(3, 1, 20).astype(dtype), f32(4, 20).astype(dtype)
    for kind, f in (('Add', np.add), ('AddV2', np.add), ('Sub', np.subtract), ('Mul', np.multiply), ('RealDiv', np.divide), ('Div', np.divide),
                    ('Maximum', np.maximum), ('Minimum', np.minimum), ('SquaredDifference', lambda x, y: (x - y) ** 2), ('FloorDiv', lambda x, y: np.floor(x / y)),
                    ('FloorMod', lambda x, y: x - np.floor(x / y) * y)):
        binary(kind, f, a, b)
    binary('Pow', np.power, abs(a) + dtype(0.1), b)
i1, i2 = rng.integers(-50, 50, (5, 6)).astype(np.int32), rng.integers(1, 50, (5, 6)).astype(np.int32)
for kind, f in (('Add', np.add), ('Mul', np.multiply), ('Div', lambda x, y: np.trunc(x / y)), ('FloorDiv', lambda x, y: np.floor(x / y)),
                ('FloorMod', np.mod), ('Maximum', np.maximum)):
    binary(kind, f, i1, i2)
for kind, f in (('Greater', np.greater), ('GreaterEqual', np.greater_equal), ('Less', np.less), ('LessEqual', np.less_equal), ('Equal', np.equal), ('NotEqual', np.not_equal)):
    binary(kind, f, np.round(f32(6, 7)), np.round(f32(7)), np.bool_)
t = [rng.integers(0, 2, (4, 5)).astype(np.bool_) for _ in range(2)]
binary('LogicalAnd', lambda x, y: (x != 0) & (y != 0), *t)
binary('LogicalOr', lambda x, y: (x != 0) | (y != 0), *t)
case('LogicalNot', [t[0]], [~t[0]])
odd = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
case('IsNan', [odd], [np.isnan(odd)])
case('IsInf', [odd], [np.isinf(odd)])
case('IsFinite', [odd], [np.isfinite(odd)])
case('Select', [t[0], f32(4, 5), np.zeros((4, 5), np.float32)], [np.zeros((4, 5), np.float32)])
cases[-1]['outputs'] = [tensor(np.where(t[0], np.frombuffer(bytes.fromhex(cases[-1]['inputs'][1]['hex']), np.float32).reshape(4, 5), np.float32(0)))]
s1, s2 = f16(4, 5), f16(4, 5)
case('Select', [np.array([1, 0, 1, 0], np.bool_), s1, s2], [np.where(np.array([1, 0, 1, 0], bool)[:, None], s1, s2)], note='condition of the first axis')

erf = np.vectorize(math.erf)
gelu = lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
sig = lambda x: 1 / (1 + np.exp(-x))
soft = lambda x: np.log1p(np.exp(-abs(x))) + np.maximum(x, 0)
for dtype in (np.float16, np.float32):
    a = f32(7, 11, scale=2).astype(dtype)
    p = (abs(a) + dtype(0.05)).astype(dtype)
    for kind, f, v in (('Erf', erf, a), ('Erfc', np.vectorize(math.erfc), a), ('Tanh', np.tanh, a), ('Sigmoid', sig, a), ('Sqrt', np.sqrt, p),
                       ('Rsqrt', lambda x: 1 / np.sqrt(x), p), ('Reciprocal', lambda x: 1 / x, p), ('Softplus', soft, a), ('Softsign', lambda x: x / (1 + abs(x)), a),
                       ('Expm1', np.expm1, a), ('Log1p', np.log1p, p), ('Sin', np.sin, a), ('Cos', np.cos, a), ('Mish', lambda x: x * np.tanh(soft(x)), a),
                       ('FastGelu', lambda x: x / (1 + np.exp(-1.702 * x)), a), ('Silu', lambda x: x * sig(x), a), ('Exp', np.exp, a), ('Log', np.log, p),
                       ('Gelu', gelu, a), ('Neg', np.negative, a), ('Abs', abs, a), ('Sign', np.sign, a), ('Floor', np.floor, a), ('Ceil', np.ceil, a),
                       ('Round', np.rint, a), ('Rint', np.rint, a), ('Trunc', np.trunc, a), ('Square', np.square, a), ('Identity', lambda x: x, a),
                       ('Relu', lambda x: np.maximum(x, 0), a), ('Relu6', lambda x: np.clip(x, 0, 6), a), ('Elu', lambda x: np.where(x > 0, x, np.expm1(x)), a),
                       ('Selu', lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), a),
                       ('HardSwish', lambda x: x * np.clip(x + 3, 0, 6) / 6, a), ('HardSigmoid', lambda x: np.clip(x / 6 + 0.5, 0, 1), a)):
        case(kind, [v], [out(f(v.astype(np.float64)), dtype)])
    case('Gelu', [a], [out(a / 2 * (1 + erf(a.astype(float) / math.sqrt(2))), dtype)], note='erf')
    case('Swish', [a], [out(a.astype(float) * sig(1.5 * a.astype(float)), dtype)], {'scale': 1.5})
    case('Exp', [a], [out(2.0 ** (0.5 * a.astype(float) + 1), dtype)], {'base': 2.0, 'scale': 0.5, 'shift': 1.0})
    case('Log', [p], [out(np.log10(2 * p.astype(float) + 1), dtype)], {'base': 10.0, 'scale': 2.0, 'shift': 1.0})
    case('Power', [p], [out((2 * p.astype(float) + 1) ** 1.5, dtype)], {'power': 1.5, 'scale': 2.0, 'shift': 1.0})
    case('LeakyRelu', [a], [out(np.where(a > 0, a, np.float32(0.25) * a.astype(float)), dtype)], {'negative_slope': 0.25})
    case('LeakyRelu', [a], [np.maximum(a, dtype(0))], {'negative_slope': 0})
    case('PRelu', [a, (w := f32(11).astype(dtype))], [out(np.where(a > 0, a, a.astype(float) * w.astype(float)), dtype)])
    case('ClipByValue', [a, dtype(-1), dtype(0.5)], [np.clip(a, dtype(-1), dtype(0.5))])
    case('Muls', [a], [out(a.astype(float) * 0.5, dtype)], {'value': 0.5})
    case('Adds', [a], [out(a.astype(float) + 1.25, dtype)], {'value': 1.25})
    d = f32(7, 11).astype(dtype)
    y = np.tanh(a.astype(float)).astype(dtype)
    case('TanhGrad', [y, d], [out(d.astype(float) * (1 - y.astype(float) ** 2), dtype)])
    y = sig(a.astype(float)).astype(dtype)
    case('SigmoidGrad', [y, d], [out(d.astype(float) * y.astype(float) * (1 - y.astype(float)), dtype)])
    case('SqrtGrad', [p, d], [out(d.astype(float) * 0.5 / p.astype(float), dtype)])
    case('RsqrtGrad', [p, d], [out(d.astype(float) * -0.5 * p.astype(float) ** 3, dtype)])
    case('ReciprocalGrad', [p, d], [out(-d.astype(float) * p.astype(float) ** 2, dtype)])
    case('ReluGrad', [d, a], [np.where(a > 0, d, dtype(0))])
    v = a.astype(float)
    th = np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3))
    case('GeluGrad', [d, a, out(gelu(v), dtype)],
         [out(d.astype(float) * (0.5 * (1 + th) + 0.5 * v * (1 - th ** 2) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * v ** 2)), dtype)])
    e = [f32(5, 6).astype(dtype) for _ in range(3)]
    case('Eltwise', e[:2], [out(e[0].astype(float) + e[1].astype(float), dtype)], {'N': 2, 'mode': 1, 'coeff': []})
    case('Eltwise', e, [out(2 * e[0].astype(float) - e[1].astype(float) + 0.5 * e[2].astype(float), dtype)], {'N': 3, 'mode': 1, 'coeff': [2.0, -1.0, 0.5]})
    case('Eltwise', e[:2], [out(e[0].astype(float) * e[1].astype(float), dtype)], {'N': 2, 'mode': 0})
    case('Eltwise', e, [np.maximum(np.maximum(*e[:2]), e[2])], {'N': 3, 'mode': 2})
    case('AddN', e, [out(sum(x.astype(float) for x in e), dtype)], {'N': 3})
    case('Axpy', e[:2], [out(e[0].astype(float) + 0.5 * e[1].astype(float), dtype)], {'alpha': 0.5})
    case('Mul', e[:2] + [e[2]], [out(e[0].astype(float) * e[1].astype(float) + e[2].astype(float), dtype)], kernel='te_fused_op_mul_add_0123456789abcdef_0__kernel0')
bx, bb = f16(2, 5, 3, 3), f16(5)
case('BiasAdd', [tensor(bx, 'NCHW', 'NCHW'), bb], [tensor(out(bx.astype(float) + bb.astype(float)[:, None, None], np.float16), 'NCHW', 'NCHW')], {'data_format': 'NCHW'})
case('Scale', [tensor(bx, 'NCHW', 'NCHW'), bb, bb], [tensor(out(bx.astype(float) * bb.astype(float)[:, None, None] + bb.astype(float)[:, None, None], np.float16), 'NCHW', 'NCHW')])
case('ZerosLike', [bx], [bx * 0])
case('OnesLike', [bb], [bb * 0 + np.float16(1)])

# ---- casts ----------------------------------------------------------------------------------------------------

a = f32(5, 9, scale=30)
case('Cast', [a], [a.astype(np.float16)], {'dst_type': 1})
case('Cast', [a.astype(np.float16)], [a.astype(np.float16).astype(np.float32)], {'dst_type': 0})
case('Cast', [a], [np.trunc(a).astype(np.int32)], {'dst_type': 3})
case('Cast', [i1], [i1.astype(np.float32)], {'dst_type': 0})
case('Cast', [i1], [i1 != 0], {'dst_type': 12})
case('Cast', [t[0]], [t[0].astype(np.float16)], {'dst_type': 1})

# ---- reductions, softmax, normalisation ------------------------------------------------------------------------

for dtype in (np.float16, np.float32):
    a = f32(4, 6, 9).astype(dtype)
    v = a.astype(float)
    for kind, f in (('ReduceSumD', np.sum), ('ReduceMeanD', np.mean), ('ReduceMaxD', np.max), ('ReduceMinD', np.min), ('ReduceProdD', np.prod)):
        case(kind, [a], [out(f(v, (1,)), dtype)], {'axes': [1], 'keep_dims': False})
        case(kind, [a], [out(f(v, (0, 2), keepdims=True), dtype)], {'axes': [0, -1], 'keep_dims': True})
        case(kind, [a], [out(f(v), dtype).reshape(())], {'axes': []})
    e = np.exp(v - v.max(-1, keepdims=True))
    case('SoftmaxV2', [a], [out(e / e.sum(-1, keepdims=True), dtype)], {'axes': [-1]})
    e = np.exp(v - v.max((0, 2), keepdims=True))
    case('SoftmaxV2', [a], [out(e / e.sum((0, 2), keepdims=True), dtype)], {'axes': [0, 2]})
    sm = np.exp(v - v.max(1, keepdims=True))
    sm /= sm.sum(1, keepdims=True)
    case('LogSoftmaxV2', [a], [out(np.log(sm), dtype)], {'axes': [1]})
    sm = (np.exp(v) / np.exp(v).sum(-1, keepdims=True)).astype(dtype)
    d = f32(4, 6, 9).astype(dtype)
    sd, dd = sm.astype(float), d.astype(float)
    case('SoftmaxGrad', [sm, d], [out((dd - (dd * sd).sum(-1, keepdims=True)) * sd, dtype)])
    g, b = f32(9).astype(dtype), f32(9).astype(dtype)
    mu, var = v.mean(-1, keepdims=True), v.var(-1, keepdims=True)
    y = (v - mu) / np.sqrt(var + 1e-5) * g.astype(float) + b.astype(float)
    case('LayerNorm', [a, g, b], [out(y, dtype), out(mu, dtype), out(var, dtype)], {'begin_norm_axis': 2, 'begin_params_axis': -1, 'epsilon': 1e-5})
    case('LayerNormV3', [a, g, b], [out(y, dtype), out(mu, dtype), out(1 / np.sqrt(var + 1e-5), dtype)], {'begin_norm_axis': -1, 'begin_params_axis': -1, 'epsilon': 1e-5})
    rms = 1 / np.sqrt((v ** 2).mean(-1, keepdims=True) + 1e-6)
    case('RmsNorm', [a, g], [out(v * rms * g.astype(float), dtype), out(rms, dtype)], {'epsilon': 1e-6})
    mr, vr = out(mu, dtype), out(var, dtype)
    hat = (v - mr.astype(float)) / np.sqrt(vr.astype(float) + 1e-5)
    h = dd * g.astype(float)
    dx = (h - h.mean(-1, keepdims=True) - hat * (h * hat).mean(-1, keepdims=True)) / np.sqrt(vr.astype(float) + 1e-5)
    case('LayerNormGrad', [d, a, vr, mr, g], [out(dx, dtype), out((dd * hat).sum((0, 1)), dtype), out(dd.sum((0, 1)), dtype)], {'epsilon': 1e-5})
    case('L2Loss', [a], [out((v ** 2).sum() / 2, dtype).reshape(())])
    lg, lb = f32(5, 8).astype(dtype), np.eye(8)[rng.integers(0, 8, 5)].astype(dtype)
    lv = lg.astype(float)
    ls = lv - lv.max(-1, keepdims=True)
    ls -= np.log(np.exp(ls).sum(-1, keepdims=True))
    case('SoftmaxCrossEntropyWithLogits', [lg, lb], [out(-(lb.astype(float) * ls).sum(-1), dtype), out(np.exp(ls) - lb.astype(float), dtype)])
    n4 = f32(2, 5, 3, 4).astype(dtype)
    nv = n4.astype(float)
    st = [f32(5).astype(dtype) for _ in range(3)] + [abs(f32(5)).astype(dtype) + dtype(0.1)]
    sv = [s.astype(float)[:, None, None] for s in st]
    four = lambda a: tensor(a, 'NCHW', 'NCHW')
    case('BNInfer', [four(n4)] + st, [four(out(sv[0] * (nv - sv[2]) / np.sqrt(sv[3] + 1e-4) + sv[1], dtype))], {'epsilon': 1e-4})
    case('BatchNorm', [four(n4)] + st, [four(out(sv[0] * (nv - sv[2]) / np.sqrt(sv[3] + 1e-3) + sv[1], dtype))], {'epsilon': 1e-3, 'is_training': False})
    m1, v1 = nv.mean((0, 2, 3)), nv.var((0, 2, 3))
    c4 = lambda s: s[:, None, None]
    yb = sv[0] * (nv - c4(m1)) / np.sqrt(c4(v1) + 1e-3) + sv[1]
    case('BatchNorm', [four(n4)] + st[:2], [four(out(yb, dtype)), out(m1, np.float32), out(v1 * 24 / 23, np.float32), out(m1, np.float32), out(v1, np.float32)],
         {'epsilon': 1e-3, 'is_training': True})
    sums, squares = out(nv.sum((0, 2, 3)), np.float32), out((nv ** 2).sum((0, 2, 3)), np.float32)
    case('BNTrainingReduce', [four(n4)], [sums, squares])
    ms, vs = sums.astype(float) / 24, squares.astype(float) / 24 - (sums.astype(float) / 24) ** 2
    sc = [s.astype(np.float32) for s in st]
    yu = sc[0].astype(float)[:, None, None] * (nv - c4(ms)) / np.sqrt(c4(vs) + 1e-5) + sc[1].astype(float)[:, None, None]
    case('BNTrainingUpdate', [four(n4), sums, squares] + sc,
         [four(out(yu, dtype)), out(np.float32(0.1) * ms + (1 - np.float32(0.1)) * sc[2].astype(float), np.float32),
          out(np.float32(0.1) * vs * 24 / 23 + (1 - np.float32(0.1)) * sc[3].astype(float), np.float32), out(ms, np.float32), out(vs, np.float32)],
         {'factor': 0.1, 'epsilon': 1e-5})
    gr = f32(2, 5, 3, 4).astype(dtype)
    gv = gr.astype(float)
    bm, bv = sc[2], sc[3]
    hat = (nv - c4(bm.astype(float))) / np.sqrt(c4(bv.astype(float)) + 1e-4)
    ds, do = out((gv * hat).sum((0, 2, 3)), np.float32), out(gv.sum((0, 2, 3)), np.float32)
    case('BNTrainingUpdateGrad', [four(gr), four(n4), bm, bv], [ds, do], {'epsilon': 1e-4})
    yg = (gv - c4(ds.astype(float)) * hat / 24 - c4(do.astype(float)) / 24) * c4(sc[0].astype(float)) / np.sqrt(c4(bv.astype(float)) + 1e-4)
    case('BNTrainingReduceGrad', [four(gr), four(n4), ds, do, sc[0], bm, bv], [four(out(yg, dtype))], {'epsilon': 1e-4})
    case('BiasAddGrad', [four(gr)], [out(gv.sum((0, 2, 3)), dtype)], {'data_format': 'NCHW'})
case('ReduceAllD', [t[0]], [t[0].all(0)], {'axes': [0]})
case('ReduceAnyD', [t[0]], [t[0].any(1)], {'axes': [1]})
a = f32(4, 9)
case('ArgMaxD', [a], [a.argmax(1).astype(np.int32)], {'dimension': 1})
case('ArgMinD', [a], [a.argmin(0).astype(np.int32)], {'dimension': 0})
top = np.argsort(-a, -1)[:, :3]
case('TopKD', [a], [np.take_along_axis(a, top, -1), top.astype(np.int32)], {'k': 3})

# ---- pooling ------------------------------------------------------------------------------------------------------

def pool(x, window, stride, pads, up, f):
    n, c, h, w = x.shape
    rnd = math.ceil if up else math.floor
    oh = rnd((h + pads[0] + pads[1] - window[0]) / stride[0]) + 1
    ow = rnd((w + pads[2] + pads[3] - window[1]) / stride[1]) + 1
    y = np.zeros((n, c, oh, ow))
    for i in range(oh):
        for j in range(ow):
            t, l = i * stride[0] - pads[0], j * stride[1] - pads[2]
            part = x[:, :, max(t, 0):t + window[0], max(l, 0):l + window[1]].astype(float)
            y[:, :, i, j] = f(part, (2, 3))
    return y


x = f16(2, 20, 9, 8)
for mode, f in ((0, np.max), (1, np.mean)):
    for ceil in (0, 1):
        case('Pooling', [five(x)], [five(out(pool(x, (3, 3), (2, 2), (0, 0, 0, 0), ceil == 0, f), np.float16))],
             {'mode': mode, 'window': [3, 3], 'stride': [2, 2], 'pad': [0, 0, 0, 0], 'ceil_mode': ceil, 'global_pooling': False})
    case('Pooling', [five(x)], [five(out(f(x.astype(float), (2, 3), keepdims=True), np.float16))], {'mode': mode, 'global_pooling': True, 'window': [1, 1], 'stride': [1, 1]})
case('MaxPool', [five(x)], [five(out(pool(x, (2, 2), (2, 2), (0, 0, 0, 0), False, np.max), np.float16))], {'ksize': [1, 1, 2, 2], 'strides': [1, 1, 2, 2], 'padding': 'VALID'})
case('AvgPool', [tensor(x.transpose(0, 2, 3, 1), 'NHWC', 'NHWC')], [tensor(out(pool(x, (3, 3), (1, 1), (1, 1, 1, 1), False, np.mean).transpose(0, 2, 3, 1), np.float16), 'NHWC', 'NHWC')],
     {'ksize': [1, 3, 3, 1], 'strides': [1, 1, 1, 1], 'padding': 'SAME'})
case('GlobalAveragePool', [five(x)], [five(out(x.astype(float).mean((2, 3), keepdims=True), np.float16))])

# ---- moving elements ---------------------------------------------------------------------------------------------------

a = f16(2, 20, 5, 6)
case('TransData', [tensor(a, 'NCHW', 'NCHW')], [five(a)], {'src_format': 'NCHW', 'dst_format': 'NC1HWC0'})
case('TransData', [five(a)], [tensor(a.transpose(0, 2, 3, 1), 'NHWC', 'NHWC')], {'src_format': 'NC1HWC0', 'dst_format': 'NHWC'})
m = f16(3, 18, 21)
case('TransData', [tensor(m, 'FRACTAL_NZ')], [m], {'src_format': 'FRACTAL_NZ', 'dst_format': 'ND'})
case('Reshape', [m], [m.reshape(54, 21)])
case('ExpandDims', [m], [m[None]])
case('Squeeze', [m[None]], [m])
case('TransposeD', [m], [np.ascontiguousarray(m.transpose(2, 0, 1))], {'perm': [2, 0, 1]})
case('Transpose', [m, np.array([1, 0, 2], np.int32)], [np.ascontiguousarray(m.transpose(1, 0, 2))])
case('ConfusionTransposeD', [m], [np.ascontiguousarray(m.transpose(1, 0, 2)).reshape(18, 63)], {'perm': [1, 0, 2], 'shape': [18, 63], 'transpose_first': True})
case('ReadSelect', [five(a)], [five(np.ascontiguousarray(a[:, :, ::2, ::2]))], {'stride_list': [1, 1, 2, 2, 1]})
case('ConcatD', [m, m[:, :4]], [np.concatenate([m, m[:, :4]], 1)], {'concat_dim': 1, 'N': 2})
case('Pack', [m, m + np.float16(1)], [np.stack([m, m + np.float16(1)], 2)], {'axis': 2, 'N': 2})
case('Unpack', [m], [m[0], m[1], m[2]], {'axis': 0, 'num': 3})
case('SplitVD', [m], [m[..., :5], m[..., 5:9], m[..., 9:]], {'size_splits': [5, 4, 12], 'split_dim': 2, 'num_split': 3})
case('SplitD', [m], list(np.split(m, 3, 2)), {'split_dim': -1, 'num_split': 3})
case('StridedSliceD', [m], [np.ascontiguousarray(m[1, 2:16:3, ::-2])],
     {'begin': [1, 2, 0], 'end': [2, 16, 0], 'strides': [1, 3, -2], 'begin_mask': 4, 'end_mask': 4, 'ellipsis_mask': 0, 'new_axis_mask': 0, 'shrink_axis_mask': 1})
case('StridedSliceD', [m], [np.ascontiguousarray(m[..., 3:-2])],
     {'begin': [0, 3], 'end': [0, -2], 'strides': [1, 1], 'begin_mask': 0, 'end_mask': 0, 'ellipsis_mask': 1, 'new_axis_mask': 0, 'shrink_axis_mask': 0})
case('SliceD', [m], [np.ascontiguousarray(m[1:3, :, 4:10])], {'offsets': [1, 0, 4], 'size': [2, -1, 6]})
case('GatherV2D', [m, np.array([[2, 0], [1, 1]], np.int32)], [m[np.array([[2, 0], [1, 1]])]], {'axis': 0, 'batch_dims': 0})
case('GatherV2', [m, np.array([3, 17, 0], np.int32), np.int32(1)], [np.ascontiguousarray(m[:, [3, 17, 0]])], {'batch_dims': 0})
idx = np.array([[0, 5], [1, 2], [17, 3]], np.int32)
case('GatherV2D', [m, idx], [np.stack([m[i][idx[i]] for i in range(3)])], {'axis': 1, 'batch_dims': 1})
case('TileD', [m], [np.tile(m, (2, 1, 3))], {'multiples': [2, 1, 3]})
case('BroadcastToD', [m[:, :1]], [np.ascontiguousarray(np.broadcast_to(m[:, :1], (4, 3, 7, 21)))], {'shape': [4, 3, 7, 21]})
case('Fill', [np.array([3, 4], np.int32), np.float16(2.5)], [np.full((3, 4), 2.5, np.float16)])
case('PadV2', [m, np.array([[0, 1], [2, 0], [3, 4]], np.int32)], [np.pad(m, ((0, 1), (2, 0), (3, 4)))])
oh = np.full((3, 2, 4), -1, np.float32)
for i, row in enumerate([[1, 3], [0, 9], [2, 2]]):
    for j, k in enumerate(row):
        if k < 4:
            oh[i, j, k] = 5
case('OneHotD', [np.array([[1, 3], [0, 9], [2, 2]], np.int32), np.float32(5), np.float32(-1)], [oh], {'depth': 4, 'axis': -1})

# ---- updates and quantisation -----------------------------------------------------------------------------------------------

w, acc, gr = f32(6, 7), f32(6, 7), f32(6, 7)
lr, mom = np.float32(0.01), np.float32(0.9)
na = acc.astype(float) * float(mom) + gr.astype(float)
case('ApplyMomentum', [w, acc, lr, gr, mom], [out(w.astype(float) - float(lr) * na, np.float32)], {'use_nesterov': False})
case('ApplyMomentumD', [w, acc, lr, gr, mom], [out(w.astype(float) - float(lr) * (gr + float(mom) * na), np.float32), out(na, np.float32)], {'use_nesterov': True})
case('ApplyGradientDescent', [w, lr, gr], [out(w.astype(float) - float(lr) * gr.astype(float), np.float32)])
b1, b2, p1, p2, eps = (np.float32(v) for v in (0.9, 0.999, 0.81, 0.998, 1e-8))
am, av = f32(6, 7), abs(f32(6, 7))
nm = float(b1) * am.astype(float) + (1 - float(b1)) * gr.astype(float)
nv2 = float(b2) * av.astype(float) + (1 - float(b2)) * gr.astype(float) ** 2
rate = float(lr) * math.sqrt(1 - float(p2)) / (1 - float(p1))
case('ApplyAdamD', [w, am, av, p1, p2, lr, b1, b2, eps, gr],
     [out(w.astype(float) - rate * nm / (np.sqrt(nv2) + float(eps)), np.float32), out(nm, np.float32), out(nv2, np.float32)], {'use_nesterov': False})
case('AssignAdd', [w, gr], [out(w.astype(float) + gr.astype(float), np.float32)])
q = f16(4, 33, scale=40)
case('AscendQuant', [q], [np.clip(np.rint(q.astype(float) * 0.5 + 3), -128, 127).astype(np.int8)], {'scale': 0.5, 'offset': 3.0, 'round_mode': 'Round', 'sqrt_mode': False, 'dst_type': 2})
xq, sq = rng.integers(-9999, 9999, (1, 5, 3, 3)).astype(np.int32), (abs(f32(5)) * np.float32(0.01))
case('AscendDequant', [four(xq), sq.view(np.uint32).astype(np.uint64)], [four(out(xq * sq.astype(float)[:, None, None], np.float16))], {'sqrt_mode': False, 'relu_flag': False, 'dtype': 1})
case('AscendAntiQuant', [xi], [out((xi.astype(float) + 2) * 0.25, np.float16)], {'scale': 0.25, 'offset': 2.0, 'sqrt_mode': False})

# ---- the same with axes, sizes and paddings as inputs ----------------------------------------------------------------------

m, four = f16(3, 18, 21), (lambda a: tensor(a, 'NCHW', 'NCHW'))
i32 = (lambda *v: np.array(v, np.int32))
mv = m.astype(float)
for kind, f in (('ReduceSum', np.sum), ('ReduceMean', np.mean), ('ReduceMax', np.max), ('ReduceMin', np.min)):
    case(kind, [m, i32(2)], [out(f(mv, 2), np.float16)], {'keep_dims': False}, names=['x', 'axes'])
case('ReduceProd', [m[:, :4], i32(1)], [out(np.prod(mv[:, :4], 1), np.float16)], {}, names=['x', 'axes'])
t = rng.integers(0, 2, (4, 5)).astype(np.bool_)
case('ReduceAll', [t, i32(1)], [t.all(1)], {}, names=['x', 'axes'])
case('ReduceAny', [t, i32(0)], [t.any(0)], {}, names=['x', 'axes'])
case('Tile', [m, i32(1, 2, 1)], [np.tile(m, (1, 2, 1))], names=['x', 'multiples'])
case('Slice', [m, i32(0, 3, 1), i32(3, 4, 5)], [np.ascontiguousarray(m[:, 3:7, 1:6])], names=['x', 'offsets', 'size'])
case('StridedSlice', [m, i32(0, 17), i32(3, 0), i32(2, -4)], [np.ascontiguousarray(m[::2, 17:0:-4])], {'begin_mask': 0, 'end_mask': 0}, names=['x', 'begin', 'end', 'strides'])
case('Split', [np.int32(2), m], list(np.split(m, 3, 2)), {'num_split': 3}, names=['split_dim', 'x'])
case('SplitV', [m, i32(4, -1), np.int32(1)], [m[:, :4], m[:, 4:]], {'num_split': 2}, names=['x', 'size_splits', 'split_dim'])
case('ConcatV2', [m, m, np.int32(0)], [np.concatenate([m, m])], {'N': 2}, names=['x0', 'x1', 'concat_dim'])
case('Concat', [np.int32(1), m, m[:, :3]], [np.concatenate([m, m[:, :3]], 1)], {'N': 2}, names=['concat_dim', 'x0', 'x1'])
case('Pad', [m, np.array([[1, 0], [0, 2], [1, 1]], np.int32)], [np.pad(m, ((1, 0), (0, 2), (1, 1)))], names=['x', 'paddings'])
case('PadV2', [m, np.array([[1, 0], [0, 2], [1, 1]], np.int32), np.float16(7)], [np.pad(m, ((1, 0), (0, 2), (1, 1)), constant_values=7)], names=['x', 'paddings', 'constant_values'])
case('OneHot', [i32(2, 0, 5), np.int32(4), np.float32(1), np.float32(0)], [np.eye(7, dtype=np.float32)[[2, 0, 5]][:, :4].copy()], {'axis': -1}, names=['x', 'depth', 'on_value', 'off_value'])
case('ArgMax', [m, np.int32(2)], [m.argmax(2).astype(np.int32)], names=['x', 'dimension'])
case('ArgMin', [m, np.int32(-1)], [m.argmin(2).astype(np.int32)], names=['x', 'dimension'])
case('Expand', [m[:1], i32(5, 18, 21)], [np.ascontiguousarray(np.broadcast_to(m[:1], (5, 18, 21)))], names=['x', 'shape'])
dy, wt = f16(1, 8, 4, 5), f16(8, 6, 3, 3, scale=0.3)
case('Conv2DBackpropInput', [i32(1, 6, 7, 9), four(wt), four(dy)], [four(out(conv_transposed(dy, wt, (7, 9), (2, 2), (1, 1, 1, 1)), np.float16))],
     {'strides': [1, 1, 2, 2], 'pads': [1, 1, 1, 1]}, names=['input_size', 'filter', 'out_backprop'])
case('Conv2DTranspose', [i32(1, 6, 7, 9), four(dy), four(wt)], [four(out(conv_transposed(dy, wt, (7, 9), (2, 2), (1, 1, 1, 1)), np.float16))],
     {'strides': [1, 1, 2, 2], 'pads': [1, 1, 1, 1]}, names=['input_size', 'x', 'filter'])
case('Deconvolution', [four(dy), four(wt)], [four(out(conv_transposed(dy, wt, (9, 11), (2, 2), (0, 0, 0, 0)), np.float16))],
     {'strides': [1, 1, 2, 2], 'pads': [0, 0, 0, 0]}, names=['x', 'filter'])
case('Conv2DBackpropFilter', [four(xf), i32(6, 5, 3, 3), four(dyf)], [four(out(dwf, np.float32))],
     {'strides': [1, 1, 2, 2], 'pads': [1, 1, 1, 1]}, names=['x', 'filter_size', 'out_backprop'])
bn = f32(2, 5, 3, 4)
me, va, mo = f32(5), abs(f32(5)) + np.float32(0.1), np.float32(2)
case('BNInference', [four(bn), me, va, mo.reshape(1)],
     [four(out((bn.astype(float) - me.astype(float)[:, None, None] / 2) / np.sqrt(va.astype(float)[:, None, None] / 2 + 1e-5), np.float32))], {'epsilon': 1e-5},
     names=['x', 'mean', 'variance', 'momentum'])
case('GlobalMaxPool', [four(bn)], [four(bn.max((2, 3), keepdims=True))])
case('AssignSub', [bn, me.reshape(5, 1, 1)], [out(bn.astype(float) - me.astype(float)[:, None, None], np.float32)])
s5, sq5 = out(bn.astype(float).sum((0, 2, 3)), np.float32), out((bn.astype(float) ** 2).sum((0, 2, 3)), np.float32)
ms, vs = s5.astype(float) / 24, sq5.astype(float) / 24 - (s5.astype(float) / 24) ** 2
case('BNTrainingUpdateV2', [four(bn), s5, sq5, me, va],
     [four(out(me.astype(float)[:, None, None] * (bn - ms[:, None, None]) / np.sqrt(vs[:, None, None] + 1e-5) + va.astype(float)[:, None, None], np.float32)), out(ms, np.float32), out(vs, np.float32)],
     {'epsilon': 1e-5})

if sys.argv[1:] != ['-text']:
    json.dump(cases, sys.stdout, separators=(',', ':'))
    print()
    sys.exit()

# ---- in text ---------------------------------------------------------------------------------------------------------------

rng = np.random.default_rng(29)


def text(v):
    if v is None:
        return 'None'
    if isinstance(v, (list, tuple)):
        return '[' + ', '.join(text(x) for x in v) + ']'
    if isinstance(v, str):
        return '"%s"' % v
    if isinstance(v, np.ndarray):
        return '%s[%s]{%s}' % (v.dtype.name, ','.join(map(str, v.shape)), ' '.join('%.9g' % x if v.dtype.kind == 'f' else str(int(x)) for x in v.ravel()))
    return repr(v)


def line(kind, inputs, outputs, **attrs):
    print('%s(%s) = %s' % (kind, ', '.join([text(v) for v in inputs] + ['%s=%s' % (k, text(v)) for k, v in attrs.items()]), ', '.join(text(v) for v in outputs)))


def last(a):
    """NCHW as NHWC."""
    return np.ascontiguousarray(a.transpose(0, 2, 3, 1))


print("""# Operators of graphs with what they give: type(inputs, attribute=value) = outputs, written as in cases.txt. What has four axes goes by
# format. numpy, by the definitions (operators.py -text), rounded once.

# A step of AdamW, with powers of the step before""")
for typ, more in ((np.float32, {}), (np.float16, {'maximize': True})):
    var, m, grad = (f32(3, 7, scale=s).astype(typ) for s in (1, .1, .5))
    v = abs(f32(3, 7, scale=.01)).astype(typ)
    p1, p2, lr, wd, b1, b2, eps = (np.array([x], typ) for x in (.9 ** 3, .99 ** 3, .01, .1, .9, .99, 1e-4))
    q1, q2, r, d, c1, c2, e = (float(x[0]) for x in (p1, p2, lr, wd, b1, b2, eps))
    g = grad.astype(float) * (-1 if more else 1)
    nm, nv = m.astype(float) * c1 + (1 - c1) * g, v.astype(float) * c2 + (1 - c2) * g * g
    y = var.astype(float) * (1 - r * d) - r * nm / (1 - q1 * c1) / (np.sqrt(nv / (1 - q2 * c2)) + e)
    line('ApplyAdamW', [var, m, v, p1, p2, lr, wd, b1, b2, eps, grad], [out(x, typ) for x in (y, nm, nv)], **more)

print('# Dropout by a mask of bits, the lowest first; of float16 the factor is rounded before')
for typ in (np.float32, np.float16):
    x, keep, mask = f32(5, 11).astype(typ), np.array([.7], typ), rng.integers(0, 256, 16).astype(np.uint8)
    kept = np.unpackbits(mask, bitorder='little')[:55].reshape(5, 11)
    line('DropOutDoMask', [x, mask, keep], [out(x.astype(float) * float(typ(1 / float(keep[0]))) * kept, typ)])

print('# Gradients of layer norms in two kernels, 1e-12 in the root')
for typ, shape, n in ((np.float32, (2, 3, 8), 8), (np.float16, (4, 2, 6), 12)):
    dy, x, gamma = f32(*shape).astype(typ), f32(*shape, scale=.01 if n == 8 else 2).astype(typ), f32(*shape[-1 if n == 8 else -2:]).astype(typ)
    rows = x.astype(float).reshape(-1, n)
    mean, var = out(rows.mean(1), typ), out(rows.var(1), typ)
    r = 1 / np.sqrt(var.astype(float) + 1e-12)[:, None]
    hat = (rows - mean.astype(float)[:, None]) * r
    h = dy.astype(float).reshape(-1, n) * gamma.astype(float).ravel()
    dx = r * (h - h.mean(1, keepdims=True) - hat * (h * hat).mean(1, keepdims=True))
    stat = [shape[0], shape[1], 1] if n == 8 else [shape[0], 1, 1]
    hat = out(hat, np.float32).reshape(shape)
    line('LayerNormXBackpropV2', [dy, x, var.reshape(stat), mean.reshape(stat), gamma], [out(dx, typ).reshape(shape), hat])
    line('LayerNormBetaGammaBackpropV2', [dy, hat], [out((dy.astype(float) * hat).reshape(-1, n).sum(0), np.float32).reshape(gamma.shape), out(dy.astype(float).reshape(-1, n).sum(0), np.float32).reshape(gamma.shape)],
         shape_gamma=list(gamma.shape))


def pads_of(kind, size, n, k, s):
    """How many places are before the first window: TensorFlow's SAME, or none."""
    return max(0, (n - 1) * s + k - size) // 2 if kind == 'SAME' else 0


def pool_back(kind, x, dy, k, s, pad, largest, every=False):
    """The gradient of pooling, window by window."""
    y = np.zeros(x.shape)
    for b, c, i, j in np.ndindex(dy.shape):
        t, u = i * s[0] - pad[0], j * s[1] - pad[1]
        rows, cols = range(max(t, 0), min(t + k[0], x.shape[2])), range(max(u, 0), min(u + k[1], x.shape[3]))
        cells = [(p, q) for p in rows for q in cols]
        if largest:
            p, q = max(cells, key=lambda at: x[b, c, at[0], at[1]])
            y[b, c, p, q] += dy[b, c, i, j]
        else:
            for p, q in cells:
                y[b, c, p, q] += dy[b, c, i, j] / (k[0] * k[1] if every else len(cells))
    return y


print('# Gradients of pooling: windows of 3 by 2, steps of 2 and 1')
k, s, size = (3, 2), (2, 1), (7, 6)
for kind in ('SAME', 'VALID'):
    n = [-(-a // b) if kind == 'SAME' else (a - c) // b + 1 for a, b, c in zip(size, s, k)]
    pad = [pads_of(kind, a, b, c, d) for a, b, c, d in zip(size, n, k, s)]
    x, dy = f16(1, 3, *size), f16(1, 3, *n)
    top = np.zeros(dy.shape, np.float16)
    line('MaxPoolGrad', [last(x), last(top), last(dy)], [last(out(pool_back(kind, x, dy.astype(float), k, s, pad, True), np.float16))],
         ksize=[1, *k, 1], strides=[1, *s, 1], padding=kind, data_format='NHWC', format='NHWC')
    line('AvgPoolGrad', [np.array([1, *size, 3], np.int32), last(dy)], [last(out(pool_back(kind, x, dy.astype(float), k, s, pad, False), np.float16))],
         ksize=[1, *k, 1], strides=[1, *s, 1], padding=kind, data_format='NHWC', format='NHWC')
for kind in ('AvgPoolGradD', 'AvgPoolV2GradD'):
    line(kind, [dy], [out(pool_back('VALID', x, dy.astype(float), k, s, pad, False), np.float16)], orig_input_shape=list(x.shape),
         ksize=[1, 1, *k], strides=[1, 1, *s], **{'padding' if kind == 'AvgPoolGradD' else 'padding_mode': 'VALID'}, format='NCHW')
x, dy = f32(2, 2, 7, 7), f32(2, 2, 4, 4)  # rounded up: the last windows hang over
line('MaxPoolV3Grad', [x, np.zeros(dy.shape, np.float32), dy], [out(pool_back('', x, dy.astype(float), (3, 3), (2, 2), (0, 0), True), np.float32)],
     ksize=[1, 1, 3, 3], strides=[1, 1, 2, 2], padding_mode='CALCULATED', pads=[0, 1, 0, 1], ceil_mode=True, format='NCHW')
for every in (False, True):
    line('AvgPoolV2Grad', [np.array([2, 2, 7, 7], np.int32), dy], [out(pool_back('', x, dy.astype(float), (3, 3), (2, 2), (1, 1), False, every), np.float32)],
         ksize=[1, 1, 3, 3], strides=[1, 1, 2, 2], padding_mode='CALCULATED', pads=[1, 1, 1, 1], exclusive=not every, format='NCHW')


def places(n, m, corners, half):
    """Where each place of the result is in the image, as TensorFlow has it."""
    p = np.arange(m)
    if corners:
        return p * ((n - 1) / (m - 1))
    return (p + .5) * (n / m) - .5 if half else p * (n / m)


def nearest(x, size, corners, half):
    for axis, m in ((2, size[0]), (3, size[1])):
        n = x.shape[axis]
        at = places(n, m, corners, half)
        x = x.take(np.clip(np.floor(at + .5 if corners or half else at), 0, n - 1).astype(int), axis)
    return x


def bilinear(x, size, corners, half):
    x = x.astype(float)
    for axis, m in ((2, size[0]), (3, size[1])):
        n = x.shape[axis]
        at = places(n, m, corners, half)
        low = np.floor(at)
        w = (at - low).reshape([-1 if a == axis else 1 for a in range(4)])
        x = x.take(np.clip(low, 0, n - 1).astype(int), axis) * (1 - w) + x.take(np.clip(low + 1, 0, n - 1).astype(int), axis) * w
    return x


print('# Images of another size')
for corners, half in ((False, False), (True, False), (False, True)):
    x, size = f16(1, 2, 5, 3), (8, 7)
    how = {'align_corners': corners, 'half_pixel_centers': half}
    line('ResizeNearestNeighborV2D', [x], [nearest(x, size, corners, half)], size=list(size), **how, format='NCHW')
    line('ResizeNearestNeighborV2', [last(x), np.array(size, np.int32)], [last(nearest(x, size, corners, half))], **how, format='NHWC')
    line('ResizeBilinearV2D', [x], [out(bilinear(x, size, corners, half), np.float32)], size=list(size), **how, format='NCHW')
    line('ResizeBilinearV2', [last(x), np.array((3, 2), np.int32)], [last(out(bilinear(x, (3, 2), corners, half), np.float32))], **how, format='NHWC')


print('# LSTMs, with gates in either order, states of the start and what is added to the gate that forgets; states and gates are kept in the type of the bias')
for order, forget, start, typ in (('ijfo', 0., False, np.float16), ('ifjo', 1., True, np.float32)):
    t, b, i, n = 3, 2, 5, 4
    x, w, bias = f16(t, b, i), f16(i + n, 4 * n, scale=.6), f32(4 * n, scale=.3).astype(typ)
    h, c = (f16(b, n), f32(b, n).astype(typ)) if start else (np.zeros((b, n), np.float16), np.zeros((b, n), typ))
    states = [None, h[None], c[None]] if start else []
    rows = []
    for step in range(t):
        z = np.concatenate([x[step], h], 1).astype(float) @ w.astype(float) + bias.astype(float)
        parts = dict(zip(order, np.split(z, 4, 1)))
        parts['f'] = parts['f'] + forget
        gates = {g: out(np.tanh(v) if g == 'j' else 1 / (1 + np.exp(-v)), typ) for g, v in parts.items()}
        ii, j, f, o = (gates[g].astype(float) for g in 'ijfo')
        c = out(f * c.astype(float) + ii * j, typ)
        top = out(np.tanh(c.astype(float)), typ)
        y = out(o * top.astype(float), typ)
        h = y.astype(np.float16)
        rows.append((y, h, c, gates['i'], gates['j'], gates['f'], gates['o'], top))
    line('DynamicRNN', [x, w, bias] + states, [np.stack(v) for v in zip(*rows)], cell_type='LSTM', direction='UNIDIRECTIONAL', cell_depth=1, use_peephole=False,
         keep_prob=1.0, cell_clip=-1.0, num_proj=0, time_major=True, activation='tanh', forget_bias=forget, gate_order=order, is_training=True)

print('# Numbers in the order of their first places')
x = np.array([7, 2, 7, -1, 2, 2, 5], np.int32)
y, which, count = np.array([7, 2, -1, 5], np.int32), np.array([0, 1, 0, 2, 1, 1, 3], np.int32), np.array([2, 3, 1, 1], np.int32)
line('Unique', [x], [y, which], out_idx=3)
line('UniqueWithCounts', [x.astype(np.float32)], [y.astype(np.float32), which, count], out_idx=3)

print('# Batches of matrices whose axes are turned before and after')
a, b = f16(4, 3, 6), f16(3, 5, 6)
line('TransposeBatchMatMul', [a, b], [out(np.einsum('mbk,bnk->mbn', a.astype(float), b.astype(float)), np.float16)], perm_x1=[1, 0, 2], perm_x2=[0, 2, 1], perm_y=[1, 0, 2])

print('# GRUs, with gates in either order, and a state of the start')
for order, start, typ in (('zrh', False, np.float16), ('rzh', True, np.float32)):
    t, b, i, n = 3, 2, 5, 4
    x, wi, wh, bi, bh = f16(t, b, i), f16(i, 3 * n, scale=.6), f16(n, 3 * n, scale=.6), f32(3 * n, scale=.3).astype(typ), f32(3 * n, scale=.3).astype(typ)
    h = f32(b, n).astype(typ) if start else np.zeros((b, n), typ)
    states = [None, h[None]] if start else []
    rows = []
    for step in range(t):
        p = dict(zip(order, np.split(x[step].astype(float) @ wi.astype(float) + bi.astype(float), 3, 1)))
        q = dict(zip(order, np.split(h.astype(np.float16).astype(float) @ wh.astype(float) + bh.astype(float), 3, 1)))
        z, r = (out(1 / (1 + np.exp(-p[g] - q[g])), typ) for g in 'zr')
        hn = out(q['h'], typ)
        fresh = out(np.tanh(p['h'] + r.astype(float) * hn.astype(float)), typ)
        h = out((1 - z.astype(float)) * fresh.astype(float) + z.astype(float) * h.astype(float), typ)
        rows.append((h, h, z, r, fresh, hn))
    line('DynamicGRUV2', [x, wi, wh, bi, bh] + states, [np.stack(v) for v in zip(*rows)], direction='UNIDIRECTIONAL', cell_depth=1, keep_prob=1.0, cell_clip=-1.0, num_proj=0,
         time_major=True, activation='tanh', gate_order=order, reset_after=True, is_training=True)

print('# Elements put in the places of an index, and rows added to those of one')
x, at, new = f32(3, 4), np.array([[2, 0, 1, 2], [0, 2, 2, 2]], np.int32), f32(2, 4)
for how, numbers in (('none', x.copy()), ('add', x.astype(float)), ('mul', x.astype(float))):
    where = at if how != 'none' else np.array([[2, 0, 1, 2], [0, 2, 2, 0]], np.int32)
    for i, j in np.ndindex(2, 4):
        a = where[i, j], j
        numbers[a] = {'none': new[i, j], 'add': numbers[a] + new[i, j], 'mul': numbers[a] * new[i, j]}[how]
    line('ScatterElements', [x, where, new], [numbers.astype(np.float32)], axis=0, reduction=how)
x, at, new = np.array([[1, 2048, -3]], np.float16), np.array([[2, 1, 1, 1, 0, 1, 1, 1, 1]], np.int64), np.full((1, 9), .9, np.float16)
numbers = x.copy()
for j in range(9):  # each in the tensor itself, which 2048 does not feel
    numbers[0, at[0, j]] += new[0, j]
line('ScatterElementsV2', [x, at, new], [numbers], axis=1, reduction='add')
x, at, new = f32(4, 3), np.array([2, 0, 2], np.int32), f32(3, 3)
numbers = x.astype(float)
for i, j in enumerate(at):
    numbers[j] += new[i]
line('IndexAdd', [x, at, new], [numbers.astype(np.float32)], axis=0)

print('# A norm in place of its argument, and the sum in place of the other one')
a, b, w = f32(3, 6), f32(3, 6), f32(6)
x = a.astype(float) + b
r = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
line('InplaceAddRmsNorm', [a, b, w], [out(x * r * w, np.float32), out(r, np.float32), out(x, np.float32)], epsilon=1e-6)
