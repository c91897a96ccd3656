"""Writes the arrays of this folder and index.txt, which lists them.

Run with numpy: python3 make.py. The files are numpy's own output, so that the
reader is tested against numpy and not against our writer.
"""
import numpy as np
from numpy.lib import format as npformat

base = np.array([[0, 1, 2], [3, 100, 1]])
arrays = {}
for code in "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 c8 c16".split():
    arrays["le_" + code] = (base.astype("<" + code), (1, 0))
for code in "f2 f4 f8 i2 i8 u4 c8".split():
    arrays["be_" + code] = (base.astype(">" + code), (1, 0))
arrays["fortran"] = (np.asfortranarray(base.astype("<f4")), (1, 0))
arrays["fortran_be"] = (np.asfortranarray(base.astype(">f8")), (1, 0))
arrays["scalar"] = (np.array(-2.5, "<f4"), (1, 0))
arrays["empty"] = (np.zeros((3, 0, 2), "<f2"), (1, 0))
arrays["one"] = (np.array([7], "<i8"), (1, 0))
arrays["v2"] = (base.astype("<f4"), (2, 0))
arrays["v3"] = (base.astype("<f4"), (3, 0))
arrays["five"] = (np.arange(24, dtype="<i2").reshape(1, 2, 3, 4, 1), (1, 0))

with open("index.txt", "w") as index:
    for name, (a, version) in arrays.items():
        with open(name + ".npy", "wb") as f:
            npformat.write_array(f, a, version=version, allow_pickle=False)
        stored = a.ravel(order="F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C")
        parts = stored.astype("<c16").view("<f8") if a.dtype.kind == "c" else stored.astype("<f8")
        index.write("%s %s big=%s fortran=%s shape=%s values=%s\n" % (
            name, a.dtype.name, str(a.dtype.byteorder == ">").lower(),
            str(a.flags.f_contiguous and not a.flags.c_contiguous).lower(),
            "x".join(map(str, a.shape)), ",".join("%g" % v for v in parts)))

for name, a in {
    "bad_object": np.array([None, 1], object), "bad_text": np.array(["ab"]), "bad_bytes": np.array([b"ab"]),
    "bad_record": np.zeros(2, [("a", "<f4"), ("b", "<i4")]), "bad_date": np.array(["2020-01-01"], "M8[D]"),
    "bad_longdouble": np.zeros(2, np.longdouble),
}.items():
    np.save(name + ".npy", a)
