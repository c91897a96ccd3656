"""Finds and runs the program precision."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))


def find():
    """The path of the program; None if there is none."""
    here = os.path.join(HERE, "precision")
    for path in (os.environ.get("PRECISION"), here, here + ".exe"):
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return shutil.which("precision")


def need():
    path = find()
    if path is None:
        sys.exit("precision_tool: no program precision in $PRECISION, in %s or on PATH" % HERE)
    return path


def call(arguments):
    """Runs the program and returns what it printed."""
    p = subprocess.Popen([need()] + arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = p.communicate()[0].decode("utf-8", "replace")
    if p.returncode != 0:
        raise RuntimeError("precision %s ended with %d:\n%s" % (" ".join(arguments), p.returncode, out))
    return out
