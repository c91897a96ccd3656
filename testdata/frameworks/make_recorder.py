"""Writes one step of training as the recorder of "precision kit -g" records it, on two CPU libraries.

    python make_recorder.py KIT FOLDER

needs TensorFlow 2.15.1; KIT is the folder with tfdbg_ascend.py. The gradient of the keys' bias is zero in exact
arithmetic, as a softmax does not see what all its inputs have in common: what is recorded of it, and of the step that
an optimiser makes of it, is rounding.
"""
import glob
import os
import subprocess
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
KIT, OUT = (os.path.abspath(p) for p in sys.argv[1:3])


def train(folder):
    sys.path.insert(0, KIT)
    import tfdbg_ascend as dbg
    import numpy as np
    import tensorflow as tf
    r = np.random.RandomState(7)
    x = tf.constant(r.randn(2, 9, 16).astype("float32"))
    wq, wk, wv = (tf.Variable(r.randn(16, 16).astype("float32") / 4) for _ in range(3))
    bias = tf.Variable(tf.zeros(16))

    @tf.function
    def step(x):
        with tf.GradientTape(watch_accessed_variables=False) as tape, tf.name_scope("net"):
            tape.watch(bias)
            q, v = tf.matmul(x, wq, name="q"), tf.matmul(x, wv, name="v")
            k = tf.add(tf.matmul(x, wk, name="k"), bias, name="kb")
            p = tf.nn.softmax(tf.matmul(q, k, transpose_b=True, name="scores"), name="p")
            loss = tf.reduce_mean(tf.square(tf.matmul(p, v, name="mix"), name="square"), name="loss")
        g = tape.gradient(loss, bias)
        bias.assign_sub(tf.multiply(0.01, tf.divide(g, tf.add(tf.abs(g, name="size"), 1e-12, name="eps"), name="unit"), name="change"))
        return loss
    dbg.set_dump_path(folder)
    dbg.enable()
    step(x)
    dbg.disable()
    from tensorflow.core.protobuf import debug_event_pb2
    for path in glob.glob(folder + "/precision_recorder.*"):
        np.load(path).tofile(path + ".events")
        events = [debug_event_pb2.DebugEvent.FromString(e.numpy()) for e in tf.data.TFRecordDataset(path + ".events")]
        with tf.io.TFRecordWriter(path + ".events") as out:
            for e in events:
                if e.HasField("source_file"):
                    e.source_file.file_path = e.source_file.file_path.replace(os.path.abspath(__file__), "/home/user/train.py")
                out.write(e.SerializeToString())
        np.save(path, np.fromfile(path + ".events", "uint8"))
        os.remove(path + ".events")


if len(sys.argv) > 3:
    train(sys.argv[3])
else:
    for name, library in (("golden", "0"), ("onednn", "1")):
        subprocess.check_call([sys.executable, os.path.abspath(__file__), KIT, OUT, os.path.join(OUT, "recorder", name)],
                              env=dict(os.environ, TF_ENABLE_ONEDNN_OPTS=library))
