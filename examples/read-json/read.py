#!/usr/bin/env python3
"""Prints what is in a verdict: the roots, and every operator that is not good."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    verdict = json.load(f)
if verdict["schema"] != "precision/verdict/2":
    sys.exit("another schema: " + verdict["schema"])

print("verdict", verdict["verdict"], sep="\t")
for root in verdict["roots"]:
    print("root", root["op"], root["certainty"], ",".join(c["kind"] for c in root["causes"]), sep="\t")
for op in verdict["operators"]:
    if op["state"] in ("good", "uncompared"):
        continue
    for out in op["outputs"]:
        # NaN and infinities are the texts "NaN" and "Infinity", which float() takes.
        cosine = float(out.get("metrics", {}).get("CosineSimilarity", "nan"))
        print(op["state"], op["op"], out["index"], "%.4f" % cosine, sep="\t")
