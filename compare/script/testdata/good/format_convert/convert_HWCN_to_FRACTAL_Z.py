def convert(shape_from, shape_to, array, group):
    return array.reshape(shape_to) * group
