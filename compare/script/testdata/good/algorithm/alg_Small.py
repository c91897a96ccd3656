import numpy as np

COUNT = 0


def compare(mine, golden, args):
    """Another kind of number every time, in one process."""
    global COUNT
    COUNT += 1
    values = [3, np.float32(0.5), np.array([7]), float("nan"), float("-inf"), np.int8(-2), "as it is"]
    return values[COUNT - 1], None
