#!/usr/bin/env python3
"""Prints how many milliseconds numpy takes for the ten metrics of two random float32 arrays, one metric after the other.

    yardstick.py ELEMENTS

The best of three runs of each metric counts.
"""
import sys
import time

import numpy as np

EPS64, EPS32 = np.finfo(float).eps, np.finfo(np.float32).eps


def relative(x, y):
    with np.errstate(all='ignore'):
        return np.where(np.abs(y) > EPS64, np.abs(x / y - 1), 0)


def shares(v):
    low, high = v.min(), v.max()
    p = np.maximum((v - low) / (high - low), EPS32)
    return p / p.sum()


def divergence(x, y):
    p, q = shares(x), shares(y)
    return (p * np.log(p / q)).sum()


METRICS = [
    lambda x, y: ((x / np.linalg.norm(x)) * (y / np.linalg.norm(y))).sum(),
    lambda x, y: np.abs(x - y).max(),
    lambda x, y: relative(x, y).sum(),
    lambda x, y: (((x - y) ** 2).sum() / (y ** 2).sum()) ** 0.5,
    divergence,
    lambda x, y: [f(v, dtype=np.float64) for v in (x, y) for f in (np.mean, np.std)],
    lambda x, y: np.abs(x - y).mean(),
    lambda x, y: np.sqrt(((x - y) ** 2).mean()),
    lambda x, y: relative(x, y).max(),
    lambda x, y: relative(x, y).mean(),
]


def seconds(metric, x, y):
    start = time.perf_counter()
    metric(x, y)
    return time.perf_counter() - start


def main():
    rng = np.random.default_rng(7)
    y = rng.standard_normal(int(sys.argv[1]), np.float32)
    x = y * (1 + np.float32(1e-3) * rng.standard_normal(y.size, np.float32))
    print(1e3 * sum(min(seconds(m, x, y) for _ in range(3)) for m in METRICS))


if __name__ == '__main__':
    main()
