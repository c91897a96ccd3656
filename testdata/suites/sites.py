#!/usr/bin/env python3
"""How many calls of torch_npu's kernels in somebody's sources the catalogue computes.

    sites.py [-list] FOLDER...

Each call of torch_npu.npu_* (or _npu_*, torch.ops.npu.npu_*) in the Python files counts, once for each place. It can be judged if the
row of op/operators.txt has a call with all keywords that are given, the overloads .out with theirs. What is asked of kernels and
not computed (sizes of workspaces, formats of memory) counts apart. With -list also the names and places that cannot be judged.
"""
import ast
import collections
import os
import re
import sys

from names import signatures

asks = re.compile(r"workspace|get_npu_format|metadata")
written = {"out", "workspace", "generator"}  # memory that results go to, which no recorder lists as arguments of a row


def dotted(node):
    return dotted(node.value) + "." + node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def sites(folder):
    for root, _, files in sorted(os.walk(folder)):
        for name in sorted(files):
            path = os.path.join(root, name)
            if not name.endswith(".py"):
                continue
            with open(path) as f:
                tree = ast.parse(f.read())
            for node in ast.walk(tree):
                m = re.fullmatch(r"(?:torch_npu|torch\.ops\.npu)\.(_?npu_\w+)(\.\w+)?", dotted(node.func)) if isinstance(node, ast.Call) else None
                if m:
                    yield m[1], [k.arg for k in node.keywords if not (isinstance(k.value, ast.Constant) and k.value.value is None)], len(node.args), "%s:%d" % (os.path.relpath(path, folder), node.lineno)


calls, found, missing, asked = signatures(), collections.Counter(), collections.defaultdict(list), 0
for folder in [a for a in sys.argv[1:] if a != "-list"]:
    for name, keywords, positional, place in sites(folder):
        if asks.search(name):
            asked += 1
        elif name not in calls and name.strip("_") not in calls:
            missing[name, "no row"].append(place)
        else:
            params, rest = calls.get(name) or calls[name.strip("_")]
            extra = sorted(set(k for k in keywords if k) - {n for p in params for n in p} - written)
            if extra and not rest:
                missing[name, "without " + " ".join(extra)].append(place)
            elif positional > len(params) and not rest:
                missing[name, "%d arguments by position" % positional].append(place)
            else:
                found[name] += 1
lost = sum(map(len, missing.values()))
print("%d of %d call sites have a row that computes them (%d of %d names); %d more ask for sizes" % (found.total(), found.total() + lost, len(found), len(set(found) | {n for n, _ in missing}), asked))
if "-list" in sys.argv:
    for (name, why), places in sorted(missing.items(), key=lambda x: -len(x[1])):
        print("%4d %s: %s (%s)" % (len(places), name, why, ", ".join(places[:3])))
