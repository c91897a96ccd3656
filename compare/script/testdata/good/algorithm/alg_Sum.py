def compare(mine, golden, args):
    return float((mine + golden).sum())
