# -*- coding: utf-8 -*-
"""Runs one training step of a checkpoint on a device, and records it.

The checkpoint is the newest in tf/checkpoints of the data folder, the inputs are
in tf/checkpoints/input; precision_capture.checkpoint_session keeps both. This
file needs precision_capture.py, and on a CPU tf_dump.py, next to it.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# This folder may be someone else's: a file in it must not stand for a library.
sys.path[:] = [p for p in sys.path if p and os.path.abspath(p) != HERE]

import importlib.util  # noqa: E402


def neighbour(name):
    """The module in the file of that name next to this one."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


capture = neighbour("precision_capture")
DEVICE = "@device@"
ACTION = "@action@"


class Missing(Exception):
    """Something that a run needs is not there."""


def tensorflow_for(device):
    """TensorFlow with the functions of version 1, for a device."""
    tf = capture._tensorflow()
    if device == "npu":
        try:
            import npu_bridge.npu_init  # noqa: F401
        except ImportError:
            try:
                import npu_device
            except ImportError:
                raise Missing("neither npu_bridge nor npu_device can be imported: this is not an NPU training environment")
            npu_device.compat.enable_v1()
    if hasattr(tf, "disable_eager_execution"):
        tf.disable_eager_execution()
    return tf


def newest_checkpoint(tf):
    """The path of the newest checkpoint without its ending."""
    path = tf.train.latest_checkpoint(capture.CHECKPOINTS)
    if path and os.path.exists(path + ".meta"):
        return path
    # The list of checkpoints may have paths of another machine.
    try:
        names = [n for n in os.listdir(capture.CHECKPOINTS) if n.endswith(".meta")]
    except OSError:
        names = []
    if not names:
        raise Missing("there is no checkpoint with a .meta file in %s; train one step with "
                      "precision_capture.checkpoint_session in place of tf.Session" % capture.CHECKPOINTS)
    paths = [os.path.join(capture.CHECKPOINTS, n) for n in names]
    return max(paths, key=lambda p: (os.path.getmtime(p), p))[:-len(".meta")]


def without_dropout(tf, meta):
    """Sets the dropout rates of a meta graph to 0 and returns their names."""
    nodes = list(meta.graph_def.node)
    for function in meta.graph_def.library.function:
        nodes.extend(function.node_def)
    changed = []
    for node in nodes:
        if node.op != "Const" or "dropout" not in node.name or "rate" not in node.name:
            continue
        dtype = tf.as_dtype(node.attr["dtype"].type)
        if not dtype.is_floating:  # a shape or an axis
            continue
        old = tf.make_ndarray(node.attr["value"].tensor)
        new = tf.make_tensor_proto(0.0, dtype=dtype, shape=old.shape)
        node.attr["value"].tensor.CopyFrom(new)
        changed.append(node.name)
    return changed


def value_for(np, chance, tensor):
    """What to feed: the value kept of the training, else random numbers."""
    path = capture.input_file(tensor.name)
    if os.path.exists(path):
        return np.load(path, allow_pickle=False)
    dims = tensor.shape.dims
    shape = [1 if d.value is None else d.value for d in dims] if dims is not None else []
    capture._say("%s is not there, %s gets random numbers of shape %s" % (path, tensor.name, shape))
    dtype = tensor.dtype.base_dtype
    if dtype.is_floating or dtype.is_complex:
        return chance.uniform(size=shape).astype(dtype.as_numpy_dtype)
    if dtype.is_integer or dtype.is_bool:  # 0 and 1 are good as labels and as indices
        return chance.randint(0, 2, size=shape).astype(dtype.as_numpy_dtype)
    raise Missing("%s takes values of type %s; save what to feed as %s" % (tensor.name, dtype.name, path))


def train(device, action):
    """Runs one step on a device, which is cpu or npu."""
    try:
        tf = tensorflow_for(device)
        import numpy as np
    except ImportError as e:
        raise Missing("%s; install TensorFlow, or run this on the training machine" % e)
    checkpoint = newest_checkpoint(tf)
    capture._say("checkpoint %s" % checkpoint)
    meta = tf.MetaGraphDef()
    with open(checkpoint + ".meta", "rb") as f:
        meta.ParseFromString(f.read())
    for name in without_dropout(tf, meta):
        capture._say("dropout off: %s" % name)
    # The same seed for both devices, so that they get the same numbers.
    chance = np.random.RandomState(capture.SEED)
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(capture.SEED)
        saver = tf.train.import_meta_graph(meta, clear_devices=True)
        fetches = tf.get_collection(tf.GraphKeys.TRAIN_OP)
        if not fetches:
            raise Missing("the graph of %s has nothing in the collection train_op; add it in the training script: "
                          "tf.add_to_collection('train_op', op)" % checkpoint)
        tensors = [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
        feed = {t: value_for(np, chance, t) for t in sorted(tensors, key=lambda t: t.name)}
        config = tf.ConfigProto(allow_soft_placement=True)
        if device == "npu":
            config = capture.session_dump_config(config, action)
        with tf.Session(config=config, graph=graph) as sess:
            if saver is not None:
                saver.restore(sess, checkpoint)
            if tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES):  # checkpoints have none
                sess.run(tf.local_variables_initializer())
            if tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS):
                sess.run(tf.tables_initializer())
            # The debugger is put around the session last, so that it records
            # the step and nothing else.
            recorded = capture.sess_dump(sess) if device == "cpu" else sess
            recorded.run(fetches, feed_dict=feed)
    capture._say("one step done on %s" % device)


def main():
    try:
        train(DEVICE, ACTION)
    except Missing as e:
        capture._say("error: %s" % e)
        return 2
    if DEVICE == "cpu":
        return neighbour("tf_dump").main()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
