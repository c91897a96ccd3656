import os
import subprocess
import sys


def compare(mine, golden, args):
    print('{"id": 1, "text": "printed"}')
    sys.stdout.write("no line end")
    os.write(1, b'{"id": 2}\n' * 10000)
    subprocess.call(["echo", "{}"])
    return repr(sys.stdin.read()), "said"
