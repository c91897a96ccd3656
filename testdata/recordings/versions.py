#!/usr/bin/env python3
"""versions.py OUT --golden WHERE --left WHERE [--seed N] [--only TEXT] [--models NAMES]: pairs of record.py whose sides ran other versions of
transformers, or of what else stands in a folder of `pip install --target`; WHERE may be a Python, too, whose torch and recorder are others,
or PYTHON:FOLDER.
The golden side saves the model, the left one loads it: nothing but the versions differs, or that and one of record.py's faults; `before` is
the left side without the fault, by which the judge knows what it changes. The kind of a pair without one is "harmless: versions".
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys

import record
from forked import keep


def side(where, *args):
    """Records one side in a Python of its own; the answer, or what went wrong."""
    python, folder = sys.executable, ""
    for part in where.split(":"):
        python, folder = (part, folder) if os.path.isfile(part) else (python, part)
    ran = subprocess.run([python, __file__, "--one", json.dumps(args)], env=os.environ | {"PYTHONPATH": folder}, capture_output=True, text=True)
    if ran.returncode:
        return {"error": (ran.stderr.strip() or "killed").splitlines()[-1]}
    return json.loads(ran.stdout.splitlines()[-1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out", nargs="?")
    p.add_argument("--one", default="")
    p.add_argument("--golden", default="")
    p.add_argument("--left", default="")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    p.add_argument("--models", default="")
    o = p.parse_args()
    if o.one:
        print(json.dumps(record.record(*json.loads(o.one))))
        return
    rng = random.Random(o.seed)
    for made, name in enumerate(o.models.split(",") if o.models else record.MODELS):
        for how in ["versions", "versions", *rng.sample(record.FAULTS, 2)]:
            level, task = rng.choice([("L0", "statistics"), ("L1", "statistics"), ("mix", "statistics"), ("mix", "md5"), ("mix", "tensor"), ("L1", "tensor")])
            dtype = rng.choice(["fp32", "fp32", "bf16"])
            label = f"{name}-{level}-{task}-{dtype}-{how}"
            out = os.path.join(o.out, label)
            if o.only not in label:
                continue
            shutil.rmtree(out, ignore_errors=True)
            saved = o.out.rstrip("/") + ".saved"
            shutil.rmtree(saved, ignore_errors=True)
            rest = (name, o.seed * 1000 + made, level, task, dtype)
            sides = [("golden", o.golden, None), ("left", o.left, None)] if how == "versions" else [("golden", o.golden, None), ("before", o.left, None), ("left", o.left, how)]
            answers = [side(where, os.path.join(out, folder), *rest, fault, None, saved) for folder, where, fault in sides]
            keep(out, answers, model=name, level=level, task=task, dtype=dtype, kind="harmless: versions" if how == "versions" else "fault: " + how)


if __name__ == "__main__":
    main()
