import sys


def compare(mine, golden, args):
    sys.exit(7)
