import numpy as np


def convert(shape_from, shape_to, array):
    return np.asfortranarray(array.reshape(shape_to))
