#!/usr/bin/env python3
"""Stands in for CANN's msaccucmp.py: runs the msaccucmp binary with the same arguments.

Put it where scripts look for msaccucmp.py. The binary is found through the environment variable MSACCUCMP, beside this
file, or on PATH, in this order.
"""
import os
import shutil
import sys


def find():
    here = os.path.join(os.path.dirname(os.path.realpath(__file__)), "msaccucmp")
    for path in (os.environ.get("MSACCUCMP"), here, here + ".exe"):
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return shutil.which("msaccucmp")


def main():
    program = find()
    if program is None:
        sys.exit("msaccucmp.py: no msaccucmp binary in $MSACCUCMP, beside this file or on PATH")
    arguments = [program] + sys.argv[1:]
    if os.name == "nt":
        import subprocess
        sys.exit(subprocess.call(arguments))
    os.execv(program, arguments)


if __name__ == "__main__":
    main()
