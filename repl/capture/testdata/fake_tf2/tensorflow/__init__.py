"""A stand-in for the few interfaces of TensorFlow 2 that the recorder uses.

It computes with numpy. Operators run eagerly, or are made in the graph of a
tf.function while it is traced and run in that order when it is called, those
with a state even if nothing takes their outputs. Behind each, callbacks are
called as op_callbacks of TensorFlow describes: with the type as text or bytes, a
name only in graphs, and not for operators that callbacks make themselves.
"""
import contextlib
import types

import numpy as np

__version__ = "2.6.5"


class DType(object):
    def __init__(self, name):
        self.name = name
        self.is_floating = name.startswith(("float", "bfloat"))
        self.is_integer, self.is_bool = name.startswith(("int", "uint")), name == "bool"
        self.is_complex = name.startswith("complex")


float32 = DType("float32")


class _Context(object):
    def __init__(self):
        self.callbacks, self.invoking, self.graphs, self.scopes = [], False, [], []


_context = _Context()


class Tensor(object):
    """Of a graph: it has a name, and a value only when it runs."""
    def __init__(self, name, dtype):
        self.name, self.dtype = name, DType(dtype)


class EagerTensor(object):
    def __init__(self, value, dtype=None):
        self.value = value
        self.dtype = DType(dtype or str(np.asarray(value).dtype))

    def numpy(self):
        if self.dtype.name == "bfloat16":
            raise TypeError("numpy has no bfloat16")
        return np.asarray(self.value)


class FuncGraph(object):
    def __init__(self, name):
        self.name, self.names, self.ops = name, {}, []

    def unique(self, name):
        n = self.names.get(name, 0)
        self.names[name] = n + 1
        return name if n == 0 else "%s_%d" % (name, n)


@contextlib.contextmanager
def name_scope(name):
    _context.scopes.append(name)
    try:
        yield
    finally:
        _context.scopes.pop()


def _scope():
    return "/".join(_context.scopes)


def _callbacks(op_type, inputs, outputs, op_name, graph):
    if not _context.callbacks or _context.invoking:
        return outputs
    _context.invoking = True
    try:
        for f in _context.callbacks:
            new = f(op_type, tuple(inputs), (), tuple(outputs), op_name=op_name, graph=graph)
            if new is not None and len(new) != len(outputs):
                raise ValueError("the callback returned %d tensors for %d" % (len(new), len(outputs)))
            outputs = new or outputs
        return outputs
    finally:
        _context.invoking = False


def _op(op_type, compute, inputs, dtypes, stateful=False, name=None, constant=False):
    """Makes an operator in the graph that is traced, or runs it."""
    if not _context.graphs:
        values = compute(*[t.value for t in inputs])
        outputs = [EagerTensor(v, d) for v, d in zip(values, dtypes)]
        return _callbacks(op_type.encode(), inputs, outputs, None, None)
    graph = _context.graphs[-1]
    scope = _scope()
    name = graph.unique((scope + "/" if scope else "") + (name or op_type))
    outputs = [Tensor("%s:%d" % (name, i), d) for i, d in enumerate(dtypes)]
    graph.ops.append((compute, list(inputs), outputs, stateful))
    return _callbacks(op_type, inputs, outputs, None if constant else name, graph)


def constant(value):
    value = np.asarray(value, np.float32)
    return _op("Const", lambda: [value], [], ["float32"], constant=True)[0]


def matmul(a, b):
    return _op("MatMul", lambda x, y: [x @ y], [a, b], ["float32"])[0]


def add(a, b):
    return _op("AddV2", lambda x, y: [x + y], [a, b], ["float32"], name="add")[0]


def split_two(a):
    return _op("Split", lambda x: [x[:1], x[1:]], [a], ["float32", "float32"], name="split")


def cast(t, dtype):
    return _op("Cast", lambda x: [np.asarray(x, dtype.name)], [t], [dtype.name])[0]


def bfloat(t):
    return _op("Cast", lambda x: [x], [t], ["bfloat16"])[0]


def variant(t):
    return _op("TensorListReserve", lambda x: [object()], [t], ["variant"])[0]


def print_op(t):
    _op("NoOp", lambda x: [], [t], [], stateful=True)


def numpy_function(func, inp, Tout):
    assert Tout == []

    def run(*values):
        assert all(isinstance(v, (np.ndarray, np.generic)) for v in values)
        func(*values)
        return []
    return _op("PyFunc", run, inp, [], stateful=True)


class Function(object):
    """What tf.function makes; it is traced once."""
    def __init__(self, f):
        self._python_function, self._graph = f, None

    @property
    def python_function(self):
        return self._python_function

    def __call__(self, *args):
        if self._graph is None:
            graph = FuncGraph(self._python_function.__name__)
            self._places = [Tensor("args_%d:0" % i, "float32") for i in range(len(args))]
            _context.graphs.append(graph)
            try:
                out = self._python_function(*self._places)
            finally:
                _context.graphs.pop()
            self._graph, self._out = graph, out
        if _context.graphs:  # a call of a function within another one
            return _op("StatefulPartitionedCall", lambda *v: [self._run(v)], args, ["float32"])[0]
        value = self._run([a.value for a in args])
        return _callbacks(b"__inference_f_1", args, [EagerTensor(value)], None, None)[0]

    def _run(self, values):
        known = {id(p): v for p, v in zip(self._places, values)}
        for compute, inputs, outputs, _ in self._needed():
            for t, v in zip(outputs, compute(*[known[id(i)] for i in inputs])):
                known[id(t)] = v
        return known[id(self._out)]

    def _needed(self):
        """The operators that the result needs, and those with a state."""
        wanted, keep = {id(self._out)}, []
        for op in reversed(self._graph.ops):
            if op[3] or any(id(o) in wanted for o in op[2]):
                wanted.update(id(i) for i in op[1])
                keep.append(op)
        return reversed(keep)


def function(f):
    return Function(f)


class Callback(object):
    def __init__(self):
        self.model = None


keras = types.SimpleNamespace(callbacks=types.SimpleNamespace(Callback=Callback))
