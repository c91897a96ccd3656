"""Arrays of floats, their files, and random numbers, for the scripts."""
import random as _random
import struct
import types

from tensorflow import note


class ndarray(object):
    def __init__(self, values, shape, dtype="float64"):
        self.values, self.shape, self.dtype = values, tuple(shape), dtype

    def astype(self, dtype):
        return ndarray([float(v) for v in self.values], self.shape, str(dtype))

    def plain(self):
        return {"shape": list(self.shape), "dtype": self.dtype, "values": self.values}


def asarray(value):
    if isinstance(value, ndarray):
        return value
    if isinstance(value, (int, float)):
        return ndarray([float(value)], ())
    return ndarray([float(v) for v in value], (len(value),))


def save(path, array, allow_pickle=True):
    assert not allow_pickle
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': %r, }" % (array.shape,)
    head = head.ljust(117) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%dd" % len(array.values), *array.values))


def load(path, allow_pickle=True):
    assert not allow_pickle
    with open(path, "rb") as f:
        data = f.read()
    n = (len(data) - 128) // 8
    return ndarray(list(struct.unpack("<%dd" % n, data[128:])), (n,))


class RandomState(object):
    def __init__(self, seed):
        note("RandomState", seed=seed)
        self.random = _random.Random(seed)

    def _many(self, size, one):
        n = 1
        for d in size:
            n *= d
        return ndarray([one() for _ in range(n)], size)

    def uniform(self, size):
        return self._many(size, self.random.random)

    def randint(self, low, high, size):
        return self._many(size, lambda: self.random.randrange(low, high))


random = types.SimpleNamespace(seed=lambda seed: note("numpy seed", seed=seed), RandomState=RandomState)
