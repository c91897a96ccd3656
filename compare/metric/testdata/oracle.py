#!/usr/bin/env python3
"""Writes oracle.json: the metrics of generated arrays, computed by numpy in float32, as bits.

    oracle.py > oracle.json          made with NumPy 1.24.2

The arrays come from an integer generator that the test repeats (series).
"""
import json
import struct

import numpy as np

F = np.float32
EPS64, EPS32 = np.finfo(float).eps, np.finfo(F).eps


def series(n, seed):
    with np.errstate(over='ignore'):
        h = np.arange(n, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(seed) * np.uint32(40503)
        for shift, factor in ((16, 0x7feb352d), (15, 0x846ca68b)):
            h ^= h >> np.uint32(shift)
            h *= np.uint32(factor)
        h ^= h >> np.uint32(16)
    return (h >> np.uint32(8)).astype(F) * F(2.0**-22) - F(1.75)


def pair(n, seed, kind):
    y = series(n, seed)
    x = y + series(n, seed + 1) * F(2.0**-10)
    if kind == 'zeros':
        y[::3] = 0
        x[::5] = 0
    elif kind == 'wide':
        s = np.ldexp(F(1), np.arange(n, dtype=np.int32) % 31 - 15).astype(F)
        x, y = x * s, y * s
    elif kind == 'offset':
        x, y = x + F(1000), y + F(1000)
    return x, y


def bits32(v):
    return struct.unpack('<I', struct.pack('<f', v))[0]


def bits64(v):
    return '%016x' % struct.unpack('<Q', struct.pack('<d', v))[0]


def spread(v):
    low, high = v.min(), v.max()
    p = np.maximum((v - low) / (high - low) if high != low else v, EPS32)
    return p / p.sum()


def metrics(x, y):
    nx, ny = np.sqrt((x * x).sum()), np.sqrt((y * y).sum())
    with np.errstate(all='ignore'):
        rel = np.where(np.abs(y) > EPS64, np.abs(x / y - F(1)), F(0))
    d = x - y
    p, q = spread(x), spread(y)
    f32 = {
        'CosineSimilarity': min(((x / nx) * (y / ny)).sum(), F(1)),
        'MaxAbsoluteError': np.abs(d).max(),
        'AccumulatedRelativeError': rel.sum(),
        'MeanAbsoluteError': np.abs(d).mean(),
        'RootMeanSquareError': np.sqrt((d * d).mean()),
        'MaxRelativeError': rel.max(),
        'MeanRelativeError': rel.mean(),
    }
    for v in f32.values():
        assert v.dtype == F
    return {
        'float32': {k: bits32(v) for k, v in f32.items()},
        'RelativeEuclideanDistance': bits64(np.sqrt(np.float64((d * d).sum() / (y * y).sum()))),
        'KullbackLeiblerDivergence': float((p * np.log(p / q)).sum()),
        'StandardDeviation': [bits64(f(v, dtype=np.float64)) for v in (x, y) for f in (np.mean, np.std)],
    }


def main():
    cases = []
    for n in (5, 8, 100, 129, 1000, 8193, 20000, 200001):
        for kind in ('plain', 'zeros', 'wide', 'offset'):
            cases.append({'n': n, 'seed': n % 97, 'kind': kind, **metrics(*pair(n, n % 97, kind))})
    print('[\n' + ',\n'.join(json.dumps(c) for c in cases) + '\n]')


if __name__ == '__main__':
    main()
