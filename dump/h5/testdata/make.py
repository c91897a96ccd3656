#!/usr/bin/python3
"""Writes the fixtures of this folder: HDF5 files, and beside each NAME.h5 a
NAME.json with what h5py reads from it, both with .gz where that saves much.

Needs python3-h5py (HDF5 1.10 or later) and python3-numpy; run it in this folder.
A few settings h5py has no function for are made by calling the HDF5 library.
"""
import ctypes
import gzip
import hashlib
import json
import os

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5p, h5s, h5t

LIB = ctypes.CDLL(next(l.split()[-1] for l in open("/proc/self/maps") if "libhdf5_serial.so" in l))
rng = np.random.default_rng(7)


def call(name, pid, *args):
    f = getattr(LIB, name)
    f.argtypes = [ctypes.c_int64] + [ctypes.c_uint if isinstance(a, int) else type(a) for a in args]
    assert f(pid, *args) >= 0, name


# ---- expectations ------------------------------------------------------------

def kind(t):
    if t.kind == "b":
        return "bool"
    if t.kind in "iuf":
        return {"i": "int", "u": "uint", "f": "float"}[t.kind] + str(8 * t.itemsize)
    return "undefined"


def little(a):
    return np.ascontiguousarray(a).astype(a.dtype.newbyteorder("<")).tobytes()


def digest(b):
    return b.hex() if len(b) <= 64 else "sha256:" + hashlib.sha256(b).hexdigest()


def attr(o, name):
    space = h5a.open(o.id, name.encode()).get_space()
    try:
        v = o.attrs[name]
    except (TypeError, OSError, ValueError):
        return {"type": "undefined"}
    if isinstance(v, h5py.Empty):
        return {"type": kind(v.dtype), "shape": [0], "data": ""}
    if isinstance(v, (str, bytes)):
        v = np.array(v, dtype=object)
    v = np.asarray(v)
    if v.dtype.kind in "OS":
        text = [x.decode("utf-8", "surrogateescape") if isinstance(x, bytes) else x for x in v.ravel()]
        return {"type": "string", "shape": list(v.shape), "text": text}
    if kind(v.dtype) == "undefined":
        return {"type": "undefined"}
    return {"type": kind(v.dtype), "shape": list(v.shape), "data": digest(little(v))}


def describe(o):
    e = {"attrs": {n: attr(o, n) for n in o.attrs}}
    if isinstance(o, h5py.Group):
        e["names"] = sorted(o, key=str.encode)
    elif isinstance(o, h5py.Dataset):
        e["shape"] = list(o.shape) if o.shape is not None else [0]
        try:
            e["type"] = kind(o.dtype)
            if e["type"] != "undefined":
                a = o[()] if o.shape is not None else np.empty(0, o.dtype)
                e["data"] = digest(little(np.asarray(a, o.dtype)))
        except (TypeError, OSError, ValueError):
            e["type"] = "undefined"
    else:
        e["named"] = True
    return e


def expect(name, zipped, changed=None):
    """Describes NAME.h5 in NAME.json; changed holds what h5py sees differently."""
    out = {}

    def walk(g, path):
        out[path or "/"] = describe(g)
        for n in sorted(g, key=str.encode):
            if not isinstance(g.get(n, getlink=True), h5py.HardLink):
                continue
            p = path + "/" + n
            o = h5py.h5o.open(g.id, n.encode())
            if isinstance(o, h5py.h5g.GroupID):
                walk(h5py.Group(o), p)
            elif isinstance(o, h5d.DatasetID):
                out[p] = describe(h5py.Dataset(o))
            else:
                out[p] = describe(h5py.Datatype(o))

    with h5py.File(name + ".h5", "r") as f:
        walk(f, "")
    for p, v in (changed or {}).items():
        out[p].update(v)
    with open(name + ".json", "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(p)}: {json.dumps(e, sort_keys=True)}" for p, e in out.items()) + "\n}\n")
    if zipped:
        squeeze(name + ".h5")
        squeeze(name + ".json")


def squeeze(n):
    with open(n, "rb") as f, open(n + ".gz", "wb") as z:
        z.write(gzip.compress(f.read(), 9, mtime=0))
    os.remove(n)


# ---- the structure of a PyTorch dump -----------------------------------------

def torch(name, libver):
    codes = {"f4": 1, "u1": 2, "i1": 3, "i2": 5, "i4": 6, "i8": 7, "?": 9, "f2": 10, "f8": 11}

    def tensor(g, path, a, device, stride=None):
        d = g.create_dataset(path, data=a)
        d.attrs["DataType"] = np.int32(codes[a.dtype.str.lstrip("<|").replace("b1", "?")])
        d.attrs["DeviceType"] = np.int32(device)
        d.attrs["Type"] = np.int32(0)
        if stride is None:
            stride = [s // a.itemsize for s in a.strides]
        d.attrs["Stride"] = np.array(stride, "i8")

    with h5py.File(name + ".h5", "w", libver=libver) as f:
        for op, orders in {"NpuConvolutionBackward": [3, 11], "ThnnConvDepthwise2DBackward": [7],
                           "CudnnBatchNormBackward": [9], "AddmmBackward": [1]}.items():
            for order in orders:
                g = f.create_group(f"{op}/{order}")
                tensor(g, "input/grads/grad_output", rng.standard_normal((2, 3, 4, 4)).astype("f4"), 10)
                tensor(g, "input/self", rng.standard_normal((2, 3)).astype("f2"), 10, [1, 2])
                tensor(g, "input/training", np.array(True), 10, [])
                tensor(g, "input/index", rng.integers(-9, 9, (5,)), 10)
                tensor(g, "output/result0", rng.standard_normal((2, 2)), 10)
                tensor(g, "output/result1", rng.integers(0, 255, (3, 1)).astype("u1"), 10)
        tensor(f, "Empty/1/output/result", np.empty((0, 4), "f4"), 10)
    expect(name, True)


# ---- element types -----------------------------------------------------------

def types(name, libver):
    changed = {}
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        for code in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
            for order in "<>":
                t = np.dtype(order + code)
                if code[0] == "f":
                    a = np.array([[0.0, -0.0, 1.5], [np.inf, -np.inf, np.nan], [6e-8, 65504, -3.25]]).astype(t)
                else:
                    i = np.iinfo(t)
                    a = np.array([[i.min, i.max, 1], [2, 3, i.max // 3]], t)
                where = "little" if order == "<" else "big"
                f.create_dataset(f"{where}/{code}", data=a)
                f.create_dataset(f"scalar/{where}/{code}", data=a[0, 1])
        f["bool"] = np.array([[True, False, True], [False, False, True]])
        f["bool_scalar"] = np.array(True)
        f.create_dataset("enum", data=np.array([0, 2, 7], "i2"), dtype=h5py.enum_dtype({"A": 0, "B": 2, "C": 7}, "i2"))
        f.create_dataset("null", dtype="f4", data=h5py.Empty("f4"))
        f.create_dataset("empty", (0,), "f4")
        f.create_dataset("empty3", (3, 0, 2), ">f8")
        f.create_dataset("unwritten", (3, 2), "i4")
        f.create_dataset("filled", (3, 2), ">i4", fillvalue=-7)
        f.create_dataset("wide", (4, 1, 3, 1, 2), "u2", data=np.arange(24, dtype="u2").reshape(4, 1, 3, 1, 2))
        f.create_dataset("compound", data=np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]))
        f.create_dataset("complex", data=np.array([1 + 2j], "c8"))
        f.create_dataset("text", data=np.array([b"ab", b"c"], "S2"))
        f.create_dataset("vartext", data=["ab", "cde"], dtype=h5py.string_dtype())
        f.create_dataset("opaque", data=np.array([b"ab"], "V2"))
        f.create_dataset("array", data=np.zeros(2, [("x", "f4", (2,))])["x"])
        f.create_dataset("ref", data=np.array([f["bool"].ref], dtype=h5py.ref_dtype))

        def low(path, typ, mem, a, stored=None, kind=None):
            space = h5s.create_simple(a.shape)
            lcpl = h5p.create(h5p.LINK_CREATE)
            lcpl.set_create_intermediate_group(True)
            d = h5d.create(f.id, path.encode(), typ, space, lcpl=lcpl)
            d.write(h5s.ALL, h5s.ALL, a, mem)
            changed["/" + path] = {"type": kind or "undefined", "shape": list(a.shape)}
            if kind:
                changed["/" + path]["data"] = digest(little(stored if stored is not None else a))

        for size in (3, 5, 6, 7):
            for base, order in ((h5t.STD_I64LE, "le"), (h5t.STD_I64BE, "be"), (h5t.STD_U64LE, "ule"), (h5t.STD_U64BE, "ube")):
                t = base.copy()
                t.set_size(size)
                signed = order in ("le", "be")
                a = np.array([0, 1, -1, -12345, 70000] if signed else [0, 1, 2**(8 * size) - 1, 70000], "i8" if signed else "u8")
                out = np.dtype(("i" if signed else "u") + ("4" if size == 3 else "8"))
                low(f"odd/{order}{size}", t, h5t.NATIVE_INT64 if signed else h5t.NATIVE_UINT64, a, a.astype(out),
                    ("int" if signed else "uint") + ("32" if size == 3 else "64"))
        t = h5t.STD_I16LE.copy()
        t.set_precision(12)
        t.set_offset(3)
        low("odd/bits12", t, h5t.NATIVE_INT16, np.array([0, 5, -1, -2048, 2047], "i2"), None, "int16")
        t = h5t.STD_U32BE.copy()
        t.set_precision(7)
        t.set_offset(20)
        low("odd/bits7", t, h5t.NATIVE_UINT32, np.array([0, 5, 127], "u4"), None, "uint32")
        low("odd/bitfield", h5t.STD_B16BE, h5t.NATIVE_B16, np.array([0, 5, 0x8001], "u2"), None, "uint16")
        t = h5t.IEEE_F32LE.copy()
        t.set_fields(15, 7, 8, 0, 7)
        t.set_size(2)
        a = np.array([1.0, -2.5, 3.0], "f4")
        low("odd/bfloat16", t, h5t.NATIVE_FLOAT, a, (a.view("u4") >> 16).astype("u2"), "bfloat16")
        t = h5t.IEEE_F64LE.copy()
        t.set_fields(47, 36, 11, 0, 36)
        t.set_precision(48)
        t.set_ebias(1023)
        t.set_size(6)
        low("odd/float48", t, h5t.NATIVE_DOUBLE, a.astype("f8"))
    for p in ("compound", "complex", "text", "vartext", "opaque", "ref"):
        changed["/" + p] = {"type": "undefined"}
    expect(name, True, changed)


# ---- chunks ------------------------------------------------------------------

def chunks(name, libver, zipped):
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        grid = rng.integers(-99, 99, (7, 10)).astype("i4")
        wide = np.round(rng.standard_normal((5, 6, 7)), 2).astype(">f4")
        filters = {
            "plain": {},
            "deflate": dict(compression="gzip"),
            "shuffle": dict(shuffle=True),
            "fletcher": dict(fletcher32=True),
            "all": dict(compression="gzip", compression_opts=9, shuffle=True, fletcher32=True),
        }
        for fname, kw in filters.items():
            # The index depends on the limits: none, one or several unlimited.
            f.create_dataset(f"{fname}/fixed", data=grid, chunks=(3, 4), **kw)
            f.create_dataset(f"{fname}/limited", data=grid, chunks=(3, 4), maxshape=(9, 21), **kw)
            f.create_dataset(f"{fname}/single", data=grid, chunks=(7, 10), **kw)
            f.create_dataset(f"{fname}/row", data=grid, chunks=(1, 10), maxshape=(None, 10), **kw)
            f.create_dataset(f"{fname}/column", data=grid, chunks=(7, 1), maxshape=(7, None), **kw)
            f.create_dataset(f"{fname}/free", data=grid, chunks=(2, 3), maxshape=(None, None), **kw)
            f.create_dataset(f"{fname}/cube", data=wide, chunks=(2, 3, 2), **kw)
            f.create_dataset(f"{fname}/cube_middle", data=wide, chunks=(2, 3, 2), maxshape=(5, None, 9), **kw)
            f.create_dataset(f"{fname}/cube_free", data=wide, chunks=(2, 3, 2), maxshape=(None, 8, None), **kw)
            f.create_dataset(f"{fname}/bytes", data=np.arange(100, dtype="u1"), chunks=(9,), **kw)
            f.create_dataset(f"{fname}/bool", data=np.arange(50) % 3 == 0, chunks=(7,), **kw)

            d = f.create_dataset(f"{fname}/grown", (2, 3), "f2", chunks=(2, 2), maxshape=(None, 9), fillvalue=1.5, **kw)
            d[...] = 2
            d.resize((7, 5))
            d[6, 4] = 3
            d = f.create_dataset(f"{fname}/shrunk", data=grid, chunks=(2, 3), maxshape=(None, None), **kw)
            d.resize((3, 5))
            d = f.create_dataset(f"{fname}/holes", (40,), ">u4", chunks=(3,), fillvalue=0x01020304, **kw)
            d[7], d[30] = 5, 6
            f.create_dataset(f"{fname}/unwritten", (40,), "i8", chunks=(3,), **kw)
            f.create_dataset(f"{fname}/none", (0, 3), "i8", chunks=(2, 2), maxshape=(None, 3), **kw)

        # Chunks without an index: no filter, space taken at once.
        dcpl = h5p.create(h5p.DATASET_CREATE)
        dcpl.set_chunk((3, 4))
        dcpl.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        for n, most in (("implicit", (7, 10)), ("implicit_limited", (8, 15))):
            d = h5d.create(f.id, n.encode(), h5t.STD_I32LE, h5s.create_simple((7, 10), most), dcpl)
            d.write(h5s.ALL, h5s.ALL, grid)

        # Chunks beyond the shape are not filtered.
        dcpl = h5p.create(h5p.DATASET_CREATE)
        dcpl.set_chunk((3, 4))
        dcpl.set_deflate(6)
        dcpl.set_fletcher32()
        call("H5Pset_chunk_opts", dcpl.id, 2)
        for n, most in (("edges", (7, 10)), ("edges_free", (None, None)), ("edges_row", (None, 10))):
            most = tuple(h5s.UNLIMITED if m is None else m for m in most)
            d = h5d.create(f.id, n.encode(), h5t.STD_I32LE, h5s.create_simple((7, 10), most), dcpl)
            d.write(h5s.ALL, h5s.ALL, grid)

        # A chunk stored with the first filter left out, as an optional filter
        # that fails does it.
        dcpl = h5p.create(h5p.DATASET_CREATE)
        dcpl.set_chunk((4,))
        dcpl.set_shuffle()
        dcpl.set_deflate(6)
        d = h5d.create(f.id, b"masked", h5t.STD_I32LE, h5s.create_simple((8,)), dcpl)
        d.write(h5s.ALL, h5s.ALL, np.arange(8, dtype="i4"))
        d.write_direct_chunk((4,), np.arange(40, 44, dtype="<i4").tobytes(), 3)

        f.create_dataset("lzf", data=grid, chunks=(3, 4), compression="lzf")
        f.create_dataset("scaled", data=grid, chunks=(3, 4), scaleoffset=8)
    expect(name, zipped, {"/lzf": {"error": "lzf"}, "/scaled": {"error": "scale-offset"}})


def sparse(name, libver):
    """Shapes with hardly anything behind them, and the most deflate can do."""
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        d = f.create_dataset("chunked", (1 << 40,), "u1", chunks=(16,), maxshape=(None,), fillvalue=9)
        d[1000] = 1
        f.create_dataset("contiguous", (1 << 40,), "i4")
        d = f.create_dataset("wide", (1 << 20, 1 << 20), "u1", chunks=(1 << 12, 1 << 12), compression="gzip")
        d[1 << 19, 77] = 1
        f.create_dataset("zeros", data=np.zeros(4000000, "u1"), chunks=(4000000,), compression="gzip",
                         compression_opts=9)
        dcpl = h5p.create(h5p.DATASET_CREATE)
        dcpl.set_layout(h5d.COMPACT)
        d = h5d.create(f.id, b"compact", h5t.STD_I16BE, h5s.create_simple((2, 3)), dcpl)
        d.write(h5s.ALL, h5s.ALL, np.arange(6, dtype="i2").reshape(2, 3))
    squeeze(name + ".h5")


def manychunks(name, libver):
    """Indexes of several levels and pages, sparse to keep them small."""
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        f.create_dataset("tree", data=np.arange(3000, dtype="u2"), chunks=(2,))
        f.create_dataset("tree_free", data=np.arange(2400, dtype="u2").reshape(40, 60), chunks=(2, 1), maxshape=(None, None))
        for n, kw in (("", {}), ("_deflate", dict(compression="gzip"))):
            d = f.create_dataset("pages" + n, (5003,), "u1", chunks=(1,), **kw)  # 5 pages of 1024 entries
            d[0:3], d[2047:2050], d[5000:] = 1, 2, 3
            d = f.create_dataset("array" + n, (0,), "u1", chunks=(1,), maxshape=(None,), **kw)
            d.resize((700,))
            d[...] = np.arange(700) % 251
            d = f.create_dataset("array_pages" + n, (270000,), "u1", chunks=(1,), maxshape=(None,), **kw)
            d[3], d[5], d[131080], d[200000], d[269999] = 4, 5, 6, 7, 8
            d = f.create_dataset("array_columns" + n, (2, 300), "u1", chunks=(1, 1), maxshape=(2, None), **kw)
            d[...] = np.arange(600).reshape(2, 300) % 256
    expect(name, True)


# ---- groups and attributes ---------------------------------------------------

def many(name, libver, count, width=0):
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        g = f.create_group("many")
        a, b = f.create_dataset("a", data=1.5), f.create_dataset("b", data=np.int8(3))
        for i in rng.permutation(count):
            n = f"n{i}" + "_" * width
            g[n] = a if i % 2 else b
        for i in range(30):
            f.create_dataset(f"some/{i}/x", data=np.int16(i))
        f.create_group("nothing")
        f.create_group("é/ü")
    expect(name, True)


def attributes(name, libver):
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        f.attrs["root"] = 1
        d = f.create_dataset("kinds", data=np.float32(1))
        for code in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
            for order in "<>":
                t = np.dtype(order + code)
                v = [0.5, -1, 1e-7, np.inf] if code[0] == "f" else [0, np.iinfo(t).min, np.iinfo(t).max]
                d.attrs["le_" * (order == "<") + code] = np.array(v).astype(t) if code[0] == "f" else np.array(v, t)
        f.create_group("misc")
        d = f["misc"]
        d.attrs["bool"] = True
        d.attrs["bools"] = np.array([[True], [False]])
        d.attrs["matrix"] = np.arange(6, dtype="i4").reshape(2, 3)
        d.attrs["none"] = h5py.Empty("f4")
        d.attrs["empty"] = np.empty((0,), "i8")
        d.attrs["text"] = "variable ä"
        d.attrs["texts"] = ["one", "", "three"]
        d.attrs["fixed"] = np.bytes_("fixed")
        d.attrs["fixeds"] = np.array([b"a", b"bcd"], "S5")
        d.attrs["long"] = "x" * 9000
        d.attrs["é"] = np.int8(-1)
        for pad, n in ((h5t.STR_NULLTERM, "nullterm"), (h5t.STR_SPACEPAD, "spacepad")):
            t = h5t.C_S1.copy()
            t.set_size(6)
            t.set_strpad(pad)
            a = h5a.create(d.id, n.encode(), t, h5s.create(h5s.SCALAR))
            a.write(np.array(b"abc" + (b"\0\0\0" if pad == h5t.STR_NULLTERM else b"   "), "S6"), t)
        a = h5a.create(d.id, b"array", h5t.array_create(h5t.STD_I16BE, (2, 2)), h5s.create_simple((3,)))
        a.write(np.arange(12, dtype="i2").reshape(3, 2, 2), h5t.array_create(h5t.NATIVE_INT16, (2, 2)))
        d.attrs["compound"] = np.array((1, 2.0), [("a", "i4"), ("b", "f8")])
        d.attrs["reference"] = f["kinds"].ref
        d = f.create_dataset("dense", data=np.float32(1))
        for i in rng.permutation(120):
            d.attrs[f"attribute_{i}"] = np.full(i % 7, i, "i4")
        # Datatypes stored by themselves and shared.
        f["named"] = np.dtype(">i4")
        f["named"].attrs["of"] = 3
        f.create_dataset("typed", data=[1, 2], dtype=f["named"])
        f["typed"].attrs.create("typed", [3, 4], dtype=f["named"])
    expect(name, True, {
        "/misc": {"attrs": {**json_attrs(name, "misc"), "spacepad": {"type": "string", "shape": [], "text": ["abc"]},
                            "array": {"type": "int16", "shape": [3, 2, 2],
                                      "data": little(np.arange(12, dtype="i2")).hex()},
                            "compound": {"type": "undefined"}, "reference": {"type": "undefined"}}}})


def json_attrs(name, path):
    with h5py.File(name + ".h5", "r") as f:
        return {n: attr(f[path], n) for n in f[path].attrs}


# ---- other file-level variants -----------------------------------------------

def lowfile(name, sizes=None, sym=None, istore=None):
    fcpl, fapl = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
    if sizes:
        fcpl.set_sizes(*sizes)
    if sym:
        call("H5Pset_sym_k", fcpl.id, *sym)
    if istore:
        call("H5Pset_istore_k", fcpl.id, istore)
    f = h5py.File(h5f.create((name + ".h5").encode(), h5f.ACC_TRUNC, fcpl, fapl))
    g = f.create_group("g")
    for i in range(60):
        g[f"n{i}"] = np.int16(i)
    d = f.create_dataset("chunked", data=np.arange(200, dtype="f4").reshape(20, 10), chunks=(2, 3), shuffle=True,
                         compression="gzip", fletcher32=True, maxshape=(None, 10))
    d.attrs["a"] = [1, 2, 3]
    d.attrs["text"] = "text"
    for i in range(20):
        d.attrs[f"a{i}"] = i
    f.create_dataset("fixed", data=np.arange(200, dtype="f4").reshape(20, 10), chunks=(2, 3))
    f.create_dataset("free", data=np.arange(200, dtype="f4").reshape(20, 10), chunks=(2, 3), maxshape=(None, None))
    f["plain"] = np.arange(10, dtype="i8")
    f["soft"] = h5py.SoftLink("/g/n5")
    f.close()
    expect(name, True)


def links(name, libver):
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        f["a/b/x"] = np.int8(1)
        f["a/c/y"] = np.int8(2)
        f["hard"] = f["a/b/x"]
        f["soft"] = h5py.SoftLink("/a/b/x")
        f["a/relative"] = h5py.SoftLink("c/./y")
        f["a/b/group"] = h5py.SoftLink("/a/c")
        f["through"] = h5py.SoftLink("/a/b/group/y")
        f["dangling"] = h5py.SoftLink("/a/nowhere")
        f["loop1"] = h5py.SoftLink("/loop2")
        f["loop2"] = h5py.SoftLink("/loop1")
        f["other"] = h5py.ExternalLink("other.h5", "/x")
    expect(name, False)


def dense(name, libver, counts):
    """Groups with names beyond ASCII or links to other files, which the library puts into heaps of their own."""
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        one = f.create_dataset("one", data=np.int8(1))
        for count in counts:
            g = f.create_group(f"层{count}")
            for i in rng.permutation(count):
                g[f"{i}层" + "网络" * int(i % (count // 9))] = one
        for i in range(10):
            f[f"outside/{i}"] = one if i % 2 else h5py.ExternalLink("other.h5", "/x")
    expect(name, True)


def cycle(name, libver):
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        f["a/b/x"] = np.int8(1)
        f["a/b/up"] = f["a"]
        f["a/root"] = f["/"]


chunks("chunks_earliest", "earliest", True)
manychunks("manychunks_earliest", "earliest")
sparse("sparse_earliest", "earliest")
torch("torch_earliest", "earliest")
types("types_earliest", "earliest")
many("many_earliest", "earliest", 1500)
attributes("attributes_earliest", "earliest")
for libver in ("earliest", "latest"):
    links("links_" + libver, libver)
cycle("cycle_earliest", "earliest")
# Messages; a leaf; a tree of two levels; one of three with tables below the heap's.
dense("dense_earliest", "earliest", (9, 60, 1400))
dense("densesmall_earliest", "earliest", (9,))
lowfile("small", sizes=(4, 4))
lowfile("deep", sym=(1, 1), istore=1)
for name in ("links_latest.json", "small.json.gz"):  # of files that are refused
    os.remove(name)
