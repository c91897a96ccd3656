"""Writes small files as TensorFlow and Keras write them, for tests of their readers.

    python make.py FOLDER

needs TensorFlow 2.15.1 and tensorboard. Beside the files it writes expected.json: what is in them.
"""
import contextlib
import glob
import io
import json
import os
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

OUT = os.path.abspath(sys.argv[1])


def weights():
    r = np.random.RandomState(11)
    return tf.Variable(r.rand(3, 4).astype("float32") - 0.5, name="w"), tf.Variable(r.rand(4).astype("float32"), name="b")


def batch():
    return tf.constant(np.random.RandomState(2).rand(2, 3).astype("float32") - 0.5)


def not_finite():
    """How many NaN and infinities the first operator makes that makes any."""
    w, b = weights()
    h = (tf.matmul(batch(), w) + b).numpy()
    with np.errstate(all="ignore"):
        h = np.log(h - h[0, 0])
    return [int(np.isnan(h).sum()), int(np.isinf(h).sum())]


def debugger(mode, bad=False):
    """A step of a network with a loop and a branch; bad makes NaN and infinities in it."""
    folder = os.path.join(OUT, "tfdbg", mode.lower())
    tf.debugging.experimental.enable_dump_debug_info(folder, tensor_debug_mode=mode, circular_buffer_size=-1)
    w, b = weights()

    @tf.function
    def step(x):
        with tf.name_scope("net"):
            h = tf.nn.bias_add(tf.matmul(x, w, name="mm"), b, name="add")
            h = tf.math.log(h - h[0, 0], name="log") if bad else tf.nn.relu(h, name="relu")
            half = tf.cast(tf.cast(h, tf.float16, name="half"), tf.float32, name="float")
        total = tf.constant(0.0)
        for i in tf.range(3):
            total += tf.reduce_sum(half) * tf.cast(i, tf.float32)
        return tf.reduce_mean(half, name="mean") + total
    step(batch())
    tf.debugging.experimental.disable_dump_debug_info()
    # Of the sources of TensorFlow, which the debugger keeps, too, the paths are enough.
    from tensorflow.core.protobuf import debug_event_pb2
    for path in glob.glob(folder + "/*"):
        head, end = os.path.basename(path).split(".")[:1], os.path.basename(path).split(".")[-1]
        records = [debug_event_pb2.DebugEvent.FromString(r.numpy()) for r in tf.data.TFRecordDataset(path)]
        for e in records:
            if e.HasField("source_file"):
                if e.source_file.file_path != os.path.abspath(__file__):
                    del e.source_file.lines[:]
                e.source_file.file_path = e.source_file.file_path.replace(os.path.dirname(os.path.dirname(tf.__file__)), "/usr/lib/python3/site-packages").replace(
                    os.path.abspath(__file__), "/home/user/train.py")
                e.source_file.host_name = "host"
            if e.HasField("graph_op_creation"):
                e.graph_op_creation.code_location.host_name = "host"
        os.remove(path)
        with tf.io.TFRecordWriter(os.path.join(folder, head[0] + ".1700000000.host." + end)) as out:
            for e in records:
                out.write(e.SerializeToString())
    values = {}
    if mode == "FULL_TENSOR":
        from tensorflow.python.debug.lib import debug_events_reader
        with debug_events_reader.DebugDataReader(folder) as reader:
            reader.update()
            for t in reader.graph_execution_traces():
                value = reader.graph_execution_trace_to_tensor_value(t)
                values.setdefault("%s:%d" % (t.op_name, t.output_slot), []).append(np.asarray(value).astype("float64").ravel().tolist())
    return values


def events():
    """Scalars in two files of a run, the second of a restart, and by PyTorch's way."""
    folder = os.path.join(OUT, "events", "train")
    losses = {}
    for part, steps in ((0, range(0, 6)), (1, range(6, 10))):
        writer = tf.summary.create_file_writer(folder)
        with writer.as_default():
            for i in steps:
                losses[i] = 2.0 / (i + 1)
                tf.summary.scalar("loss", losses[i], step=i)
                tf.summary.scalar("optimizer/grad_norm", 0.5 + i, step=i)
            tf.summary.histogram("weights", [1.0, 2.0], step=steps[-1])
        writer.close()
        made = max((p for p in glob.glob(folder + "/*") if "part" not in p), key=os.path.getmtime)
        os.rename(made, os.path.join(folder, "events.out.tfevents.17000000%d0.host.part%d.v2" % (part, part)))
    v1 = os.path.join(OUT, "events", "simple", "events.out.tfevents.1700000000.host")
    os.makedirs(os.path.dirname(v1))
    with tf.io.TFRecordWriter(v1) as out:  # simple_value, as TensorFlow 1 and PyTorch write it
        event = tf.compat.v1.Event(wall_time=1.0, file_version="brain.Event:2")
        out.write(event.SerializeToString())
        for i in range(5):
            value = tf.compat.v1.Summary.Value(tag="loss", simple_value=2.0 / (i + 1))
            out.write(tf.compat.v1.Event(wall_time=2.0 + i, step=i, summary=tf.compat.v1.Summary(value=[value])).SerializeToString())
    return losses


def model():
    k = tf.keras
    tf.keras.utils.set_random_seed(5)
    m = k.Sequential([k.Input((6, 6, 2)), k.layers.Conv2D(3, 3, name="conv"), k.layers.BatchNormalization(name="norm"),
                      k.layers.Flatten(name="flat"), k.layers.Dense(2, name="head")], name="net")
    m.compile(k.optimizers.SGD(0.1, momentum=0.9), "mse")
    return m


def checkpoints():
    folder = os.path.join(OUT, "weights")
    os.makedirs(folder)
    m = model()
    chance = np.random.RandomState(1)
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        m.fit(chance.rand(12, 6, 6, 2), chance.rand(12, 2), epochs=3, batch_size=4, shuffle=False, verbose=1,
              callbacks=[tf.keras.callbacks.CSVLogger(os.path.join(OUT, "keras.csv"))])
    with open(os.path.join(OUT, "keras.txt"), "w") as f:
        f.write(log.getvalue())
    m.save(os.path.join(folder, "net.keras"))
    m.save(os.path.join(folder, "net.h5"))
    m.save_weights(os.path.join(folder, "net.weights.h5"))
    m.save(os.path.join(folder, "saved"), save_format="tf")
    for name in ("keras_metadata.pb", "fingerprint.pb"):
        os.remove(os.path.join(folder, "saved", name))
    tf.train.Checkpoint(model=m).save(os.path.join(folder, "ckpt", "c"))
    return dict((w.name, np.asarray(w).astype("float64").ravel().tolist()) for w in m.weights)


def pair():
    """A network that PyTorch can have, too (make_torch.py), with a square product."""
    k = tf.keras
    i = k.Input((6, 6, 2))
    x = k.layers.BatchNormalization(name="norm")(k.layers.Conv2D(3, 3, name="conv")(i))
    x = k.layers.GlobalAveragePooling2D(name="mean")(k.layers.DepthwiseConv2D(2, depth_multiplier=2, name="depth")(x))
    words = k.Input((2,))
    x = k.layers.Concatenate(name="all")([x, k.layers.Flatten(name="flat")(k.layers.Embedding(5, 3, name="embed")(words))])
    m = k.Model([i, words], k.layers.Dense(4, name="head")(k.layers.Dense(12, name="square")(x)), name="net")
    r = np.random.RandomState(17)
    m.set_weights([r.rand(*w.shape).astype("float32") for w in m.get_weights()])
    folder = os.path.join(OUT, "weights")
    m.save(os.path.join(folder, "pair.h5"))
    np.savez(os.path.join(folder, "pair.npz"), **dict((w.name.replace("/", "."), np.asarray(w)) for w in m.weights))


def graphs():
    folder = os.path.join(OUT, "graphs")
    os.makedirs(folder)
    w, b = weights()

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def net(x):
        with tf.name_scope("net"):
            h = tf.nn.bias_add(tf.matmul(x, w, name="mm"), b, name="add")
            return tf.nn.softmax(h, name="out")
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    frozen = convert_variables_to_constants_v2(net.get_concrete_function()).graph.as_graph_def()
    tf.io.write_graph(frozen, folder, "frozen.pb", as_text=False)
    tf.io.write_graph(frozen, folder, "frozen.pbtxt", as_text=True)
    return [[n.name, n.op, list(n.input)] for n in frozen.node]


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    expected = {"debugger": debugger("FULL_TENSOR"), "losses": events(), "weights": checkpoints(), "graph": graphs(), "not_finite": not_finite()}
    pair()
    debugger("FULL_HEALTH", True)
    debugger("CURT_HEALTH", True)
    with open(os.path.join(OUT, "expected.json"), "w") as f:
        json.dump(expected, f, indent=1, sort_keys=True)


main()
