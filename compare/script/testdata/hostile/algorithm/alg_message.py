def compare(mine, golden, args):
    return 1, 2
