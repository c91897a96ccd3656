class Evil(Exception):
    def __str__(self):
        raise Evil()


def compare(mine, golden, args):
    raise Evil()
