def compare(mine, golden, args):
    return "x" * (4 << 20)
