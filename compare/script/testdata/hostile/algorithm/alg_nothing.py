def compare(mine, golden, args):
    return None
