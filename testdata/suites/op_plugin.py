#!/usr/bin/env python3
"""What op-plugin tests its kernels with, as a recording in which nothing is wrong: precision check must not accuse it.

    op_plugin.py -tests DIR/test/test_custom_ops -config DIR/op_plugin -precision PROGRAM [-only NAME] [-spoil SEED] [-list]

DIR is a checkout of op-plugin; needs torch 2 and numpy. Its tests run without a device: a kernel gives back random numbers in the
shapes and types that op-plugin's shape rules say, and what the test then compares them with, its own reference on the CPU rounded to
that type, is recorded as the kernel's result. What a kernel writes into its arguments is recorded as a call that reads them.
"""
import argparse
import collections
import contextlib
import functools
import importlib.util
import io
import os
import re
import signal
import sys
import threading
import types
import unittest

import numpy as np
import torch
from torch.library import Library
from torch.overrides import TorchFunctionMode

from recorded import Recording

options = argparse.ArgumentParser()
options.add_argument("-tests")
options.add_argument("-config")
options.add_argument("-precision")
options.add_argument("-out")
options.add_argument("-only", default="")
options.add_argument("-skip", default="add_rms_norm_quant", help="files whose names have this in them are left out: of these references do not round as kernels do")
options.add_argument("-spoil", type=int, default=0)
options.add_argument("-list", action="store_true")
options.add_argument("-most", type=int, default=4, help="calls of one test")
options.add_argument("-patience", type=int, default=20, help="seconds for one test")
options = options.parse_args()
torch.set_num_threads(1)  # threads do not come along into the processes that run tests
MOST = 1 << 23  # elements of an argument or a result; larger tests are left out


class Device(TorchFunctionMode):
    """Devices are the CPU, whatever a test asks for."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        def cpu(v):
            if isinstance(v, str) and re.fullmatch(r"npu(:\d+)?", v):
                return "cpu"
            return v
        return func(*map(cpu, args), **{k: cpu(v) for k, v in (kwargs or {}).items()})


class Anything(types.ModuleType):
    """A module with every function that does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: None


def only(devices):
    return lambda f: f


class TestCase(unittest.TestCase):
    maxDiff = None

    def assertRtolEqual(self, x, y, *a, **k):
        compared(x, y)

    def assertEqual(self, x, y, *a, **k):
        compared(x, y)

    assertExpectedInline = assertNotEqual = assertTrue = assertFalse = assertLess = assertLessEqual = assertGreater = lambda *a, **k: None


def create_common_tensor(item, low, high, device=None):
    kind, _, shape = item
    x = np.random.uniform(low, high, shape).astype(kind if kind != "bfloat16" else np.float32)
    t = torch.from_numpy(x)
    return t, t.clone()


def module(name, **members):
    m = Anything(name)
    m.__path__ = []
    for k, v in members.items():
        setattr(m, k, v)
    sys.modules[name] = m
    if "." in name:
        setattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2], m)
    return m


# The functions as op-plugin defines them, and their shapes.
library = Library("npu", "DEF")
schemas = {}
with open(os.path.join(options.config, "config", "op_plugin_functions.yaml")) as f:
    for line in f:
        found = re.match(r"\s*- func: ((_?npu\w+|\w*)(\.\w+)?\(.*)", line)
        if not found:
            continue
        try:
            library.define(found[1].strip())
        except Exception:
            continue
        schemas.setdefault(found[2], torch._C.parse_schema("npu::" + found[1].strip()))

kernels = types.SimpleNamespace()
pending = []  # the results that a test has not compared yet


class Kernel:
    """A kernel that gives back random numbers."""

    def __init__(self, name):
        self.name, self.schema = name, schemas[name]

    def __getattr__(self, overload):
        return self

    def __call__(self, *args, **kwargs):
        before = copy((args, kwargs))
        flat = [t for t in tensors((args, kwargs)) if t.numel() > MOST]
        if flat:
            raise unittest.SkipTest("large")
        fake = lambda t: t.detach().to("meta")
        try:
            shapes = getattr(torch.ops.npu, self.name)(*mapped(args, fake), **mapped(kwargs, fake))
        except Exception as e:
            raise unittest.SkipTest("no shapes: " + str(e)[:80])
        if sum(t.numel() for t in tensors(shapes)) > MOST:
            raise unittest.SkipTest("large")
        call = types.SimpleNamespace(name=self.name, before=before, wrote={}, results=None, golden={})
        results = mapped(shapes, noise)
        call.results = results
        for n, t in enumerate(tensors(results)):
            pending.append((call, n, t, t.clone()))
        # What is written is known by the marks of the schema.
        named = dict(zip((a.name for a in self.schema.arguments), args)) | kwargs
        for a in self.schema.arguments:
            if a.alias_info is not None and a.alias_info.is_write:
                for t in tensors(named.get(a.name)):
                    t.data.copy_(noise(t))
                    pending.append((call, a.name, t, t.clone()))
        made.append(call)
        return results


def noise(t):
    shape, kind = tuple(t.shape), t.dtype
    if kind == torch.bool:
        return torch.rand(shape) < 0.5
    if kind.is_floating_point:
        return (torch.randn(shape, dtype=torch.float32) * 3).to(kind)
    return torch.randint(0, 100, shape).to(kind)


def tensors(v):
    if isinstance(v, torch.Tensor):
        return [v]
    if isinstance(v, dict):
        v = v.values()
    elif not isinstance(v, (list, tuple)):
        return []
    return [t for x in v for t in tensors(x)]


def mapped(v, f):
    if isinstance(v, torch.Tensor):
        return f(v)
    if isinstance(v, dict):
        return {k: mapped(x, f) for k, x in v.items()}
    if isinstance(v, (list, tuple)) and type(v) in (list, tuple):
        return type(v)(mapped(x, f) for x in v)
    return v


def copy(v):
    return mapped(v, lambda t: t.detach().clone())


def numbers(v):
    if isinstance(v, torch.Tensor):
        return v.detach().double().numpy().ravel() if v.dtype not in (torch.complex64, torch.complex128) else None
    if isinstance(v, np.ndarray) and v.dtype.kind in "fiub":
        return v.astype(float).ravel()
    if isinstance(v, np.ndarray) and v.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return v.astype(float).ravel()
    return None


def compared(x, y):
    """Notes what a result was compared with."""
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        for a, b in zip(x, y):
            compared(a, b)
        return
    a, b = numbers(x), numbers(y)
    if a is None or b is None or a.size != b.size or a.size == 0:
        return
    for one, other, of in ((a, b, y), (b, a, x)):
        for call, place, _, t in pending:
            if place in call.golden or t.numel() != one.size:
                continue
            was = numbers(t)
            if (one == was).all() and not any(u.numel() == other.size and (other == numbers(u)).all() for *_, u in pending):  # two kernels
                call.golden[place] = torch.as_tensor(np.ascontiguousarray(other)).reshape(t.shape).to(t.dtype)
                return


def watched(f):
    """A function of a test: one that is given a result and something of its size compares them."""
    if not isinstance(f, types.FunctionType):
        return f

    @functools.wraps(f)
    def g(*args, **kwargs):
        given = [v for v in [*args, *kwargs.values()] if isinstance(v, (torch.Tensor, np.ndarray, list, tuple))] if pending else []
        for i in range(len(given)):
            for k in range(i):
                compared(given[k], given[i])
        return f(*args, **kwargs)
    return g


def compares(space, name):
    was = getattr(space, name)

    def f(*args, **kwargs):
        if len(args) > 1:
            compared(args[0], args[1])
        return None if name.startswith("assert") else was(*args, **kwargs)
    setattr(space, name, f)


class TorchNPU(Anything):
    hifloat8, int4, float4_e2m1fn_x2, float8_e8m0fnu = 290, 285, 296, 293

    def __getattr__(self, name):
        if name in schemas:
            return Kernel(name)
        if re.match("float8|float4", name) and hasattr(torch, name):
            return getattr(torch, name)
        return super().__getattr__(name)


torch_npu = TorchNPU("torch_npu")
torch_npu.__path__ = []
sys.modules["torch_npu"] = torch_npu
npu = module("torch_npu.npu")
npu.get_device_name = lambda *a: "Ascend910B1"
npu.device_count = lambda: 1
npu.is_available = lambda: True
npu.config = Anything("config")
module("torch_npu.npu.utils", get_cann_version=lambda *a, **k: "9.0.0")
module("torch_npu.npu._backends", get_soc_version=lambda: 224)
module("torch_npu.utils")
module("torch_npu.utils._error_code", ErrCode=Anything("ErrCode"), ops_error=lambda *a: "")
module("torch_npu.testing")
module("torch_npu.testing.testcase", TestCase=TestCase, run_tests=lambda: None)
module("torch_npu.testing.common_utils", SupportedDevices=only, SkipIfNotGteCANNVersion=only, create_common_tensor=create_common_tensor, get_npu_device=lambda: "cpu", UnsupportedDevices=only)
module("torch_npu.testing.common_distributed", skipIfUnsupportMultiNPU=lambda n: lambda f: unittest.skip("ranks")(f))
torch.npu = npu
unittest.skip = unittest.skipIf = unittest.skipUnless = lambda *a: lambda f: f  # for devices and versions of CANN
torch.Tensor.npu = lambda self, *a, **k: self.clone()
for space, name in ((torch, "allclose"), (torch, "equal"), (torch, "isclose"), (np, "allclose"), (np, "array_equal"), (np, "isclose"), (np.testing, "assert_allclose"), (np.testing, "assert_array_equal"), (torch.testing, "assert_close")):
    compares(space, name)



def tolerant(name):
    was = getattr(torch.library, name)

    def impl(*args, **kwargs):
        def mark(f):
            with contextlib.suppress(RuntimeError, ValueError):  # a kernel of another version of op-plugin
                was(*args, **kwargs)(f)
            return f
        return mark
    setattr(torch.library, name, impl)


tolerant("impl")
tolerant("register_fake")
spec = importlib.util.spec_from_file_location("shapes", os.path.join(options.config, "python", "meta", "_meta_registrations.py"))
with contextlib.redirect_stderr(io.StringIO()):
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def expired(*_):
    raise TimeoutError("too long")


signal.signal(signal.SIGALRM, expired)
options.tests = os.path.abspath(options.tests)


def run(file):
    """The calls of a file's tests with their results, how many tests were recorded or not, and of the others why."""
    global made
    with open(os.path.join(options.tests, file)) as f:
        text = f.read().replace("torch.ops.npu.", "torch_npu.")
    if "multiprocessing" in text and "init_process_group" in text:
        return [], {"of several ranks": 1}, []
    m = types.ModuleType(file[:-3])
    m.__file__ = os.path.join(options.tests, file)
    sys.modules[m.__name__] = m
    np.random.seed(0), torch.manual_seed(0)
    try:
        exec(compile(text, m.__file__, "exec"), m.__dict__)
    except Exception as e:
        return [], {"not loaded": 1}, ["%s not loaded: %r" % (file, e)]
    calls, outcome, told = [], collections.Counter(), []
    for space in [m] + [c for c in vars(m).values() if isinstance(c, type) and c.__module__ == m.__name__]:
        for name, f in list(vars(space).items()):
            if isinstance(f, types.FunctionType) and f.__module__ == m.__name__:
                setattr(space, name, watched(f))
    for case in [c for c in vars(m).values() if isinstance(c, type) and issubclass(c, unittest.TestCase) and c is not TestCase]:
        for name in unittest.defaultTestLoader.getTestCaseNames(case):
            made, pending[:] = [], []
            why = ""
            signal.alarm(options.patience)
            try:
                test = case(name)
                test.setUp()
                getattr(test, name)()
            except BaseException as e:
                why = repr(e)[:160]
            finally:
                signal.alarm(0)
            kept = [c for c in made if c.golden]
            calls += kept[:options.most]
            outcome["with calls recorded" if kept else "nothing compared" if made else "not run"] += 1
            if not kept:
                told.append("%s %s: %d calls, %s" % (file, name, len(made), why))
    found = []
    for c in calls:
        order = iter(range(len(tensors(c.results))))
        found.append((c.name, c.before, mapped(c.results, lambda t: c.golden.get(next(order))), {k: v for k, v in c.golden.items() if isinstance(k, str)}))
    return found, outcome, told


def apart(file):
    """Runs a file in a process of its own, which may hang."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1), os.dup2(null, 2)
        with os.fdopen(write, "wb") as f, Device():
            torch.save(run(file), f)
        os._exit(0)
    os.close(write)
    timer = threading.Timer(6 * options.patience, os.kill, (pid, signal.SIGKILL))
    timer.start()
    with os.fdopen(read, "rb") as f:
        answer = f.read()
    timer.cancel()
    os.waitpid(pid, 0)
    return torch.load(io.BytesIO(answer), weights_only=False) if answer else ([], {"stopped": 1}, [file + ": stopped"])


recording, outcome, done = Recording(options.out, options.spoil), collections.Counter(), collections.Counter()
for file in sorted(f for f in os.listdir(options.tests) if f.startswith("test_") and f.endswith(".py") and options.only in f and not re.search(options.skip, f)):
    calls, counts, told = apart(file)
    outcome.update(counts)
    for name, (args, kwargs), results, wrote in calls:
        try:
            recording.call("NPU." + name, list(args), kwargs, list(results) if isinstance(results, (list, tuple)) else [results])
        except TypeError as e:
            told.append("%s: a type: %s" % (name, e))
            continue
        for t in wrote.values():
            recording.call("Torch.clone", [t], {}, [t])
        done[name] += 1
    if options.list:
        print("".join("  %s\n" % t for t in told), end="", flush=True)
print(dict(outcome), "calls of", len(done), "kernels:", dict(done))
if options.precision:
    sys.exit(recording.judged(options.precision, "op-plugin", options.list))
