#!/usr/bin/env python3
"""How many of the functions that others name the catalogue computes, suite by suite.

    names.py [-list] FILE...

A file is msprobe's support_wrap_ops.yaml, whose sections are suites, or torch_npu's npu_native_functions_by_codegen.yaml, of which
the functions npu_* are one; with -list also the names that are missing. A function counts if its row of op/operators.txt has a
formula or a call, and not if it only says what the function is. What left_out.txt has a reason for is counted apart, and so
is what nobody has written yet, of which it says what is missing.
"""
import os
import re
import sys


def signatures():
    """The parameters of each function that is computed, with their other names, and whether it takes more."""
    calls = {}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "op", "operators.txt")
    with open(path) as f:
        for line in f:
            row, _, traits = line.partition("|")
            form = re.search(r"(?:^| )(?:call=[\w'.]+|Functional=\w+|Torch=\w+|f)\(([^)]*)\)", traits)
            if form and not line.startswith("#"):
                params = re.split(r"[,;]", form[1])
                calls.update({n: ([re.split(r"[:?{]", p.strip("*"))[0].split("/") for p in params], "*" in form[1]) for n in row.split() if not n[0].isupper()})
    return calls


dunders = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "invert": "bitwise_not", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}


def plain(name):
    """Without the marks of Python, as the program reads names of calls."""
    name = name.split(".")[0]
    base = name.strip("_")
    if re.fullmatch(r"__[ir]?\w+__", name) and base not in rows and base not in dunders and base[:1] in "ir" and len(base) > 2:
        base = dunders.get(base[1:], base[1:])
    return dunders.get(base, base)


def suites(path):
    section, found = os.path.basename(path), {}
    with open(path) as f:
        for line in f:
            if m := re.search(r"func: (_?npu_\w+)", line):
                found.setdefault("torch_npu's own npu_*", set()).add(m[1])
            elif m := re.match(r"(\w+):\s*$", line):
                section = "msprobe " + m[1]
            elif m := re.match(r"\s*- ([\w.]+)\s*$", line):
                name = m[1] if section != "msprobe mindspeed" else m[1].split(".")[-1]  # behind the file that has it
                found.setdefault(section, set()).add(name)
    if len(found) > 1:
        found.pop("autograd", None)
    return {s: n for s, n in found.items() if s.startswith(("msprobe", "torch_npu"))}


def reasons():
    """Why nothing is recomputed of a function, by its name."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "left_out.txt")) as f:
        return {n: reason.strip() for reason, _, names in (line.partition("|") for line in f if line[0] != "#") for n in names.split()}


rows, left_out = signatures(), reasons()
for path in sys.argv[1:] if __name__ == "__main__" else []:
    if path == "-list":
        continue
    for suite, names in sorted(suites(path).items()):
        missing = sorted(n for n in names if n not in rows and plain(n) not in rows)
        apart = [n for n in missing if n in left_out or plain(n) in left_out]
        missing = [n for n in missing if n not in apart]
        open_ = [n for n in apart if left_out.get(n, left_out.get(plain(n), "")).startswith("not written")]
        print("%-28s %4d of %4d, %3d left out with a reason, %3d not written, %3d neither" % (suite, len(names) - len(missing) - len(apart), len(names), len(apart) - len(open_), len(open_), len(missing)))
        if "-list" in sys.argv:
            print("   ", " ".join(missing))
