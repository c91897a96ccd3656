import numpy as np


def convert(shape_from, shape_to, array):
    assert type(shape_from) is list and array.ndim == 1, (shape_from, array.shape)
    return np.transpose(array.reshape(shape_from), (0, 2, 3, 1)).astype(array.dtype.newbyteorder(">"))
