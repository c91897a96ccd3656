"""A stand-in for TensorFlow that notes what it is asked to do.

It has what the scripts use and no more, so that a function of another name is an
error. FAKE_TF=1 makes it look like version 1.12, without tf.compat.v1. Notes are
in NOTES and, if FAKE_NOTES names a file, there as lines of JSON.
"""
import json
import os
import sys
import types

__version__ = "1.12.0" if os.environ.get("FAKE_TF") == "1" else "2.6.5"

NOTES = []


def note(what, **values):
    NOTES.append(dict(values, what=what))
    if os.environ.get("FAKE_NOTES"):
        with open(os.environ["FAKE_NOTES"], "a", encoding="utf-8") as f:
            f.write(json.dumps(NOTES[-1], ensure_ascii=False) + "\n")


# Configuration

class Parameter(object):
    """A value of a parameter map, as strict as a protocol buffer."""
    kinds = {"s": bytes, "b": bool, "i": int}

    def __setattr__(self, name, value):
        if type(value) is not self.kinds[name]:
            raise TypeError("%s takes %s, not %r" % (name, self.kinds[name], value))
        self.__dict__.clear()  # one of the three
        self.__dict__[name] = value


class ParameterMap(dict):
    def __missing__(self, name):
        self[name] = Parameter()
        return self[name]

    def plain(self):
        return {k: list(v.__dict__.values())[0] for k, v in self.items()}


class CustomOptimizer(object):
    def __init__(self):
        self.name, self.parameter_map = "", ParameterMap()


class CustomOptimizers(list):
    def add(self):
        self.append(CustomOptimizer())
        return self[-1]


class ConfigProto(object):
    def __init__(self, allow_soft_placement=False):
        rewrite = types.SimpleNamespace(custom_optimizers=CustomOptimizers(), remapping=0)
        self.graph_options = types.SimpleNamespace(rewrite_options=rewrite)

    def plain(self):
        rewrite = self.graph_options.rewrite_options
        maps = [o.parameter_map.plain() for o in rewrite.custom_optimizers if o.name == "NpuOptimizer"]
        texts = [{k: v.decode("utf-8") if isinstance(v, bytes) else v for k, v in m.items()} for m in maps]
        return {"ops": texts, "remapping": rewrite.remapping}


# Graphs

class DType(object):
    def __init__(self, name):
        self.name, self.base_dtype, self.as_numpy_dtype = name, self, name
        self.is_floating = name.startswith(("float", "bfloat"))
        self.is_integer = name.startswith(("int", "uint"))
        self.is_bool, self.is_complex = name == "bool", name.startswith("complex")


as_dtype = DType


class Graph(object):
    current = []

    def __init__(self):
        self.ops, self.collections, self.variables = [], {}, ["w"]

    def as_default(self):
        return self

    def __enter__(self):
        Graph.current.append(self)
        return self

    def __exit__(self, *_):
        Graph.current.pop()

    def get_operations(self):
        return self.ops

    def as_graph_element(self, key):
        if isinstance(key, str):
            return types.SimpleNamespace(name=key)
        if not hasattr(key, "name"):
            raise TypeError("Can not convert a %s into a Tensor or Operation." % type(key).__name__)
        return key




class _Hashable(types.SimpleNamespace):
    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other


class MetaGraphDef(object):
    """A meta graph; its file is JSON: nodes, placeholders, collections."""

    def ParseFromString(self, data):
        self.json = json.loads(data.decode("utf-8"))

        def node(n):
            attr = {"dtype": types.SimpleNamespace(type=n.get("dtype", "float32")),
                    "value": types.SimpleNamespace(tensor=Value(n.get("value"), n.get("shape", [])))}
            return types.SimpleNamespace(name=n["name"], op=n["op"], attr=attr)

        functions = [types.SimpleNamespace(node_def=[node(n) for n in f]) for f in self.json.get("functions", [])]
        self.graph_def = types.SimpleNamespace(node=[node(n) for n in self.json["nodes"]],
                                               library=types.SimpleNamespace(function=functions))

    def constants(self):
        nodes = list(self.graph_def.node)
        for f in self.graph_def.library.function:
            nodes.extend(f.node_def)
        return {n.name: [n.attr["value"].tensor.value, n.attr["value"].tensor.shape] for n in nodes if n.op == "Const"}


class Value(object):
    def __init__(self, value, shape):
        self.value, self.shape = value, shape

    def CopyFrom(self, other):
        self.value, self.shape = other.value, other.shape


def make_ndarray(value):
    return value


def make_tensor_proto(value, dtype=None, shape=None):
    return Value(value, shape)


class GraphKeys(object):
    TRAIN_OP, GLOBAL_VARIABLES, LOCAL_VARIABLES, TABLE_INITIALIZERS = "train_op", "variables", "local_variables", "table_initializer"


def get_collection(name):
    return Graph.current[-1].collections.get(name, [])


def set_random_seed(seed):
    note("graph seed" if Graph.current else "set_random_seed", seed=seed)


def local_variables_initializer():
    return "init local variables"


def tables_initializer():
    return "init tables"


# Sessions

class Session(object):
    def __init__(self, target="", graph=None, config=None):
        self.graph = graph or Graph()
        note("session", config=config.plain() if config else None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        note("session closed")

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        feed = {getattr(k, "name", str(k)): getattr(v, "plain", lambda: v)() for k, v in (feed_dict or {}).items()}
        note("run", fetches=fetches if isinstance(fetches, str) else list(fetches), feed=feed)
        if fetches == "fail":
            raise ValueError("the run failed")
        return "result"


class Saver(object):
    def __init__(self):
        if not Graph.current[-1].variables:
            raise ValueError("No variables to save")

    def save(self, sess, path):
        sess.run("save")
        for ending in (".meta", ".index"):
            with open(path + ending, "w") as f:
                f.write("{}")
        note("save", path=path)
        return path

    def restore(self, sess, path):
        note("restore", path=path)


def import_meta_graph(meta, clear_devices=False):
    graph = Graph.current[-1]
    for p in meta.json.get("placeholders", []):
        shape = p.get("shape")
        dims = None if shape is None else [types.SimpleNamespace(value=d) for d in shape]
        out = _Hashable(name=p["name"] + ":0", dtype=DType(p.get("dtype", "float32")), shape=types.SimpleNamespace(dims=dims))
        graph.ops.append(types.SimpleNamespace(type="Placeholder", name=p["name"], outputs=[out]))
    graph.ops.append(types.SimpleNamespace(type="PlaceholderWithDefault", name="with_default", outputs=[None]))
    graph.collections = meta.json.get("collections", {})
    note("import_meta_graph", constants=meta.constants())
    return Saver()


def latest_checkpoint(folder):
    try:
        with open(os.path.join(folder, "checkpoint"), encoding="utf-8") as f:
            return os.path.join(folder, f.read().strip())
    except OSError:
        return None


train = types.SimpleNamespace(Saver=Saver, import_meta_graph=import_meta_graph, latest_checkpoint=latest_checkpoint)


class Callback(object):
    pass


keras = types.SimpleNamespace(callbacks=types.SimpleNamespace(Callback=Callback))


def disable_eager_execution():
    note("disable_eager_execution")


if os.environ.get("FAKE_TF") == "1":
    del disable_eager_execution
else:
    # The functions of version 1 are in compat.v1 only.
    v1 = types.ModuleType("tensorflow.compat.v1")
    for _name in ("ConfigProto", "Graph", "MetaGraphDef", "GraphKeys", "get_collection", "set_random_seed", "local_variables_initializer",
                  "tables_initializer", "Session", "train", "as_dtype", "make_ndarray", "make_tensor_proto", "disable_eager_execution"):
        setattr(v1, _name, globals()[_name])
    for _name in ("ConfigProto", "MetaGraphDef", "GraphKeys", "get_collection", "set_random_seed", "local_variables_initializer",
                  "tables_initializer", "Session", "train", "disable_eager_execution"):
        del globals()[_name]
    compat = types.ModuleType("tensorflow.compat")
    compat.v1 = v1
    sys.modules["tensorflow.compat"], sys.modules["tensorflow.compat.v1"] = compat, v1
    random = types.SimpleNamespace(set_seed=lambda seed: note("random.set_seed", seed=seed))
