import numpy as np
from algorithm.shared import largest


def compare(my_output_dump_data, ground_truth_dump_data, args):
    return "%.2f" % largest(np.abs(my_output_dump_data - ground_truth_dump_data)), "taken from a script"
