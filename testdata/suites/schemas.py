#!/usr/bin/env python3
"""Prints compare/oracle/testdata/schemas.txt: how aten defines the functions that the catalogue computes, by PyTorch itself.

    schemas.py > compare/oracle/testdata/schemas.txt

A line is a name, an overload or - and the arguments in their order, those behind * by name alone. What writes to out, takes no tensor
or lists of names, or has another type as an argument is left out. TestSchemas holds the rows against it. Needs torch 2.
"""
import torch

from names import rows

lines = set()
for s in torch._C._jit_get_all_schemas():
    space, _, name = s.name.partition("::")
    types = [str(a.type) for a in s.arguments]
    if space != "aten" or name not in rows or s.overload_name.startswith(("names", "dimname", "quantized", "dtype", "int", "float", "bool", "t_", "generator", "sublist", "Tensor_list")):
        continue
    if s.overload_name == "Tensor" and name == "sort":  # of lists of Python
        continue
    if any(a.is_out or a.name == "out" for a in s.arguments) or "out" in s.overload_name or not any("Tensor" in t for t in types) or "Dimname" in " ".join(types):
        continue
    given, named = [a.name for a in s.arguments if not a.kwarg_only], [a.name for a in s.arguments if a.kwarg_only]
    lines.add(" ".join([name, s.overload_name or "-", *given, *(["*", *named] if named else [])]))
print("\n".join(sorted(lines)))
