import os
import sys


def compare(mine, golden, args):
    sys.stderr.write("last words\n")
    sys.stderr.flush()
    os._exit(7)
