"""Tests of the recorder on TensorFlow 2 itself. DATA is its data folder.

Run as a script with words, it is one of the trainings that the tests watch.
"""
import json
import os
import re
import subprocess
import sys
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = os.environ["DATA"]
FILE = re.compile(r"^([A-Za-z0-9_-]+)\.([0-9]+)\.([0-9]{16})\.npy$")


# Trainings

def network(tf, np):
    """A step of a network with what networks have: layers of Keras, a function
    with a decision in it, called twice, a loop, and gradients through all."""
    k = tf.keras
    place = k.Input((6, 6, 2))
    x = k.layers.Conv2D(4, 3, padding="same", name="c")(place)
    x = k.layers.BatchNormalization(name="norm")(x)
    model = k.Model(place, k.layers.GlobalAveragePooling2D(name="mean")(x), name="model")
    w = tf.Variable(np.random.RandomState(5).rand(4, 4).astype("float32") - 0.4, name="w")
    chance = np.random.RandomState(7)
    images, labels = chance.rand(5, 6, 6, 2).astype("float32"), chance.randint(0, 4, 5)

    @tf.function
    def mix(a):
        with tf.name_scope("mix"):
            if tf.reduce_sum(a) > -100.0:
                a = tf.matmul(a, w, name="mm")
            return tf.nn.softplus(a, name="soft")

    @tf.function
    def step(a, b):
        with tf.GradientTape() as tape:
            h = mix(mix(model(a, training=True)))
            i = tf.constant(0)
            while i < 3:
                h = tf.tanh(tf.matmul(h, w, name="again"), name="squash")
                i += 1
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(b, h), name="loss")
        weights = model.trainable_variables + [w]
        for v, g in zip(weights, tape.gradient(loss, weights)):
            v.assign_sub(0.25 * g)
        return loss

    losses = [float(step(images, labels)) for _ in range(2)]
    return losses, float(tf.reduce_sum(w))


def product(tf):
    @tf.function
    def f(a):
        return tf.math.exp(tf.matmul(a, a) - 1.0)
    return f(tf.ones((2, 2))).numpy().tolist()


def seeds(tf, np):
    import random
    random.seed(3)
    np.random.seed(3)
    tf.random.set_seed(3)


def train_plain(out):
    import numpy as np
    import tensorflow as tf
    seeds(tf, np)
    return network(tf, np)


def train_debugger(out):
    import numpy as np
    import tensorflow as tf
    seeds(tf, np)
    tf.debugging.experimental.enable_dump_debug_info(out, tensor_debug_mode="FULL_TENSOR", circular_buffer_size=-1)
    return network(tf, np)


def train_recorder(out):
    import tfdbg_ascend as dbg
    import numpy as np
    import tensorflow as tf
    seeds(tf, np)
    dbg.set_dump_path(out)
    return network(tf, np)


def train_chain(out, order):
    import tensorflow as tf
    others = {"numerics": tf.debugging.enable_check_numerics,
              "debugger": lambda: tf.debugging.experimental.enable_dump_debug_info(out + "_other", "FULL_TENSOR")}
    words = order.split("-")
    if words[0] in others:
        others[words[0]]()
    import tfdbg_ascend as dbg
    dbg.set_dump_path(out)
    if words[-1] in others:
        others[words[-1]]()
    return product(tf)


def train_both(out, first):
    """An operator that runs eagerly and one of a function, of the same name, either first."""
    import tfdbg_ascend as dbg
    import tensorflow as tf
    f = tf.function(lambda a: tf.reduce_sum(tf.square(a)))
    dbg.set_dump_path(out)
    for run in (tf.reduce_sum, f) if first == "eager" else (f, tf.reduce_sum):
        run(tf.ones(3))


def train_xla(out):
    import tfdbg_ascend as dbg
    import tensorflow as tf
    dbg.set_dump_path(out)

    @tf.function(jit_compile=True)
    def inner(a):
        return tf.matmul(a, a, name="inner")

    @tf.function(jit_compile=True)
    def outer(a):
        return tf.reduce_sum(inner(a) + 1.0, name="outer")
    return [float(outer(tf.ones((2, 2)))), float(outer.get_concrete_function(tf.TensorSpec((3, 3)))(tf.ones((3, 3))))]


def train_before(out):
    """Functions that were traced or compiled before the recorder was imported."""
    import tensorflow as tf

    @tf.function(jit_compile=True)
    def compiled(a):
        return a + 1.0

    @tf.function
    def traced(a):
        return a * 3.0
    compiled(tf.ones(2)), traced(tf.ones(2))
    import tfdbg_ascend as dbg
    dbg.set_dump_path(out)

    @tf.function
    def outer(a):
        return tf.identity(traced(a)) - 2.0
    return [compiled(tf.ones(2)).numpy().tolist(), compiled(tf.ones(3)).numpy().tolist(), outer(tf.ones(2)).numpy().tolist()]


def train_odd(out):
    """What a training may do besides."""
    import threading
    import tfdbg_ascend as dbg
    import numpy as np
    import tensorflow as tf
    dbg.set_dump_path(out)
    result = {}

    @tf.function
    def elsewhere(a):
        return tf.multiply(a, 5.0, name="elsewhere")
    thread = threading.Thread(target=lambda: result.update(thread=float(elsewhere(tf.constant(2.0)))))
    thread.start()
    thread.join()

    @tf.function(autograph=False)
    def unconverted(a):
        return a + 1.0 if isinstance(a, tf.Tensor) else a

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def signed(a):
        if tf.shape(a)[0] > 1:
            return unconverted(a)
        return a
    result["signed"] = signed(tf.constant([1.0, 2.0])).numpy().tolist()

    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x * x
    result["jacobian"] = np.diag(tape.jacobian(y, x).numpy()).tolist()
    result["mapped"] = tf.vectorized_map(lambda a: a * a, tf.constant([1.0, 2.0])).numpy().tolist()

    @tf.function
    def map_of_functions(a):
        return tf.map_fn(lambda b: tf.cond(b > 1.0, lambda: b * 2.0, lambda: b), a)
    result["map_fn"] = map_of_functions(tf.constant([1.0, 2.0])).numpy().tolist()
    data = tf.data.Dataset.range(6).map(lambda i: i * i, num_parallel_calls=4).batch(2).prefetch(2)
    result["data"] = [b.numpy().tolist() for b in data]

    @tf.function
    def half(a):
        return tf.cast(tf.cast(a, tf.bfloat16) * 2, tf.float32)
    result["half"] = float(half(tf.constant(1.5)))

    @tf.function
    def text(a):
        return tf.strings.length(tf.strings.as_string(a))
    result["text"] = int(text(tf.constant(15)))
    with tf.Graph().as_default() as graph:
        y = tf.constant(2.0) * 4.0
        with tf.compat.v1.Session(graph=graph) as sess:
            result["session"] = float(sess.run(y))

    @tf.function
    def long(a):
        with tf.name_scope("n" * 300):
            return tf.add(a, a)
    result["long"] = float(long(tf.constant(1.0)))
    with open(out + "_file", "w"):
        pass
    dbg.set_dump_path(out + "_file")
    result["unwritable"] = float(elsewhere(tf.constant(3.0)))
    return result


def module(tf):
    class Module(tf.Module):
        def __init__(self):
            super(Module, self).__init__()
            self.w = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, a):
            total = tf.constant(0.0)
            for b in a:
                total += b
            return {"out": a * self.w + total}
    return Module()


def train_save(out):
    import tfdbg_ascend as dbg
    import tensorflow as tf
    dbg.set_dump_path(out)
    m = module(tf)
    before = m(tf.constant([1.0, 2.0]))["out"].numpy().tolist()
    tf.saved_model.save(m, out + "_model")
    return [before, m(tf.constant([1.0, 2.0]))["out"].numpy().tolist()]


def train_load(out):
    import tensorflow as tf
    m = tf.saved_model.load(out + "_model")
    return m(tf.constant([1.0, 2.0]))["out"].numpy().tolist()


def train_load_recorder(out):
    import tfdbg_ascend as dbg
    dbg.set_dump_path(out + "_loaded")
    return train_load(out)


def train_error(out):
    import tfdbg_ascend as dbg
    import tensorflow as tf
    dbg.set_dump_path(out)
    product(tf)
    raise ValueError("an error of the training's own")


def train_nothing(out):
    import tensorflow as tf
    result = product(tf)
    import tfdbg_ascend as dbg
    dbg.set_dump_path(out)
    return result


def train_fit(out):
    """Keras, with the steps that the kit names: 1 and 2."""
    import tfdbg_ascend as dbg
    import numpy as np
    import tensorflow as tf
    seeds(tf, np)
    dbg.STEP = "1|2"
    k = tf.keras
    model = k.Sequential([k.Input((3,)), k.layers.Dense(2, name="d")])
    model.compile(k.optimizers.SGD(0.1), "mse")
    chance = np.random.RandomState(1)
    h = model.fit(chance.rand(8, 3), chance.rand(8, 2), batch_size=2, shuffle=False, verbose=0, callbacks=[dbg.step_callback(path=out)])
    return h.history["loss"]


def train_scaled(out):
    """Mixed precision with a step whose gradients are not finite."""
    import precision_capture as capture
    import numpy as np
    import tensorflow as tf
    k = tf.keras
    k.mixed_precision.set_global_policy("mixed_float16")
    model = k.Sequential([k.Input((3,)), k.layers.Dense(2, name="d")])
    optimizer = k.optimizers.SGD(0.001)
    model.compile(optimizer, "mse")
    x = np.ones((8, 3), "float32")
    x[4:6] = 1e30  # infinite in float16
    model.fit(x, np.ones((8, 2), "float32"), batch_size=2, shuffle=False, verbose=0, callbacks=[capture.loss_scale_callback(optimizer)])


# Tests

def run(*words):
    """Runs a training, and returns what it printed, its result and its status."""
    p = subprocess.Popen([sys.executable, os.path.abspath(__file__)] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = (b.decode("utf-8") for b in p.communicate())
    found = re.search(r"^result (.*)$", out, re.M)
    return out, json.loads(found.group(1)) if found else None, p.returncode, err


def files(folder):
    """The arrays of a folder by operator and output, in the order of time."""
    import numpy as np
    found = {}
    names = os.listdir(folder) if os.path.isdir(folder) else []
    for name in sorted(names, key=lambda n: n.split(".")[-2]):
        m = FILE.match(name)
        if not m:
            raise AssertionError("a file that precision does not read: " + name)
        if m.group(1) != "precision_recorder":
            found.setdefault((m.group(1), int(m.group(2))), []).append(np.load(os.path.join(folder, name)))
    return found


def graphs(folder):
    """What the recorder wrote of graphs, as events of TensorFlow's debugger."""
    import numpy as np
    import tensorflow as tf
    from tensorflow.core.protobuf import debug_event_pb2
    found = []
    for name in sorted(os.listdir(folder)):
        if name.startswith("precision_recorder."):
            path = folder + "_events"
            np.load(os.path.join(folder, name)).tofile(path)
            found.extend(debug_event_pb2.DebugEvent.FromString(r.numpy()) for r in tf.data.TFRecordDataset(path))
    return found


class Recorder(unittest.TestCase):
    def work(self, *words):
        said, result, status, err = run(*words)
        self.assertEqual(status, 0, said + err)
        self.assertNotIn("Traceback", err)
        return said, result

    def test_values(self):
        """The values are those of TensorFlow's own debugger, to the bit, under the
        same names; the training is what it is without either."""
        import numpy as np
        from tensorflow.python.debug.lib import debug_events_reader
        out = os.path.join(ROOT, "values")
        _, plain = self.work("plain", out)
        _, debugged = self.work("debugger", out + "_debugger")
        said, recorded = self.work("recorder", out)
        self.assertEqual(plain, recorded)
        self.assertEqual(plain, debugged)
        with open(os.path.join(os.environ["KIT"], "tfdbg_ascend.py")) as f:
            skipped = set(re.findall(r'"(\w+)"', f.read().split("_SKIPPED = ", 1)[1].split("))")[0]))
        want = {}
        with debug_events_reader.DebugDataReader(out + "_debugger") as reader:
            reader.update()
            for trace in reader.graph_execution_traces():
                if trace.op_type not in skipped:
                    name = re.sub(r"[^A-Za-z0-9_-]", "_", trace.op_name)
                    want.setdefault((name, trace.output_slot), []).append(reader.graph_execution_trace_to_tensor_value(trace))
        got = files(out)
        self.assertEqual([k for k in want if k not in got], [])
        compared = 0
        for key, values in want.items():
            if values[-1] is not None:
                np.testing.assert_array_equal(values[-1], got[key][-1], str(key))
                compared += 1
        self.assertGreater(compared, 100)
        # How each was made is what the debugger tells: type, inputs, and the line of this file.
        import tensorflow as tf
        from tensorflow.core.protobuf import debug_event_pb2
        made = {}

        def inputs(op):  # what is captured is called by a number, of another count in each run
            return [re.sub(r"^\d+$", "captured", i.split(":")[0]) for i in op.input_names]
        for name in os.listdir(out + "_debugger"):
            if name.endswith(".graphs"):
                for record in tf.data.TFRecordDataset(os.path.join(out + "_debugger", name)):
                    op = debug_event_pb2.DebugEvent.FromString(record.numpy()).graph_op_creation
                    made.setdefault(op.op_name, []).append((op.op_type, inputs(op), op.num_outputs))
        events = graphs(out)
        told = [e.graph_op_creation for e in events if e.HasField("graph_op_creation")]
        names = set(re.sub(r"[^A-Za-z0-9_-]", "_", op.op_name) for op in told)
        self.assertEqual([k for k in want if k[0] not in names], [])
        for op in told:
            if op.op_type not in skipped.union(["Placeholder", "Const"]) and op.op_name in made:  # control flow gets outputs later
                self.assertIn((op.op_type, inputs(op), op.num_outputs), made[op.op_name], op.op_name)
        sources = [e.source_file.file_path for e in events if e.HasField("source_file")]
        lines = {e.stack_frame_with_id.id: e.stack_frame_with_id.file_line_col for e in events if e.HasField("stack_frame_with_id")}
        with open(os.path.abspath(__file__)) as f:
            script = f.read().split("\n")
        soft = [op for op in told if op.op_name == "mix/soft"][0]
        where = [lines[i] for i in soft.code_location.stack_frame_ids][-1]
        self.assertEqual(os.path.basename(sources[where.file_index]), os.path.basename(__file__))
        self.assertIn('name="soft"', script[where.line - 1])
        # Each run of the body and of the condition has its own file: the debugger's
        # values in their order, for each of two steps.
        for name, kind, times in (("while_again", "body", 3), ("while_Less", "cond", 4), ("mix_soft", "call", 2)):
            values = want[name, 0]
            self.assertEqual(len(values), 2 * times, name)
            for i in range(times - 1):
                for step, array in enumerate(got["%s--%s-%d" % (name, kind, i), 0]):
                    np.testing.assert_array_equal(array, values[step * times + i], name)
        self.assertIn("recorded %d operators in " % len(set(k[0].split("--")[0] for k in got)), said)

    def test_determinism(self):
        said, first = self.work("plain_seeded", "")
        self.assertEqual(first, self.work("plain_seeded", "")[1])
        self.assertIn("seed 2022", said)
        self.assertIn("operators are deterministic", said)

    def test_callbacks(self):
        counts = {}
        for order in ("none", "numerics-first", "last-numerics", "debugger-first", "last-debugger"):
            out = os.path.join(ROOT, "chain", order)
            _, result = self.work("chain", out, order)
            self.assertEqual([round(v, 4) for row in result for v in row], [2.7183] * 4)
            counts[order] = sorted(k for k in files(out) if k[0] not in ("Fill", "a"))  # the argument: on TensorFlow 2.6
        self.assertEqual(counts["none"], [("Exp", 0), ("MatMul", 0), ("sub", 0), ("sub_y", 0)])
        for order, names in counts.items():
            self.assertEqual(names, counts["none"], order)
        for order in ("debugger-first", "last-debugger"):
            self.assertTrue(os.listdir(os.path.join(ROOT, "chain", order) + "_other"))

    def test_both(self):
        for first in ("eager", "function"):
            out = os.path.join(ROOT, "both", first)
            self.work("both", out, first)
            told = [e.graph_op_creation for e in graphs(out) if e.HasField("graph_op_creation")]
            self.assertEqual([op.op_name for op in told if op.graph_id == "eager"], ["Sum"], first)
            self.assertEqual([op.op_type for op in told if op.op_name == "Sum"], ["Sum", ""], first)

    def test_xla(self):
        out = os.path.join(ROOT, "xla")
        said, result = self.work("xla", out)
        self.assertEqual(result, [12.0, 36.0])
        self.assertIn("XLA is off for", said)
        self.assertIn(("outer", 0), files(out))
        self.assertIn(("inner", 0), files(out))

    def test_before(self):
        out = os.path.join(ROOT, "before")
        said, result = self.work("before", out)
        self.assertEqual(result, [[2.0, 2.0], [2.0, 2.0, 2.0], [1.0, 1.0]])
        self.assertIn("compiled was compiled by XLA before the recorder was imported", said)
        if ("mul", 0) not in files(out):  # TensorFlow 2.6 traces it again for the recorder
            self.assertRegex(said, "not recorded: 1 calls of traced, which was traced without the recorder")
        self.assertRegex(said, "not recorded: 2 calls of compiled")
        self.assertIn(("sub", 0), files(out))

    def test_odd(self):
        out = os.path.join(ROOT, "odd")
        said, result = self.work("odd", out)
        self.assertEqual(result, {
            "thread": 10.0, "signed": [2.0, 3.0], "jacobian": [2.0, 4.0, 6.0], "mapped": [1.0, 4.0], "map_fn": [1.0, 4.0],
            "data": [[0, 1], [4, 9], [16, 25]], "half": 3.0, "text": 2, "session": 8.0, "long": 2.0, "unwritable": 15.0})
        got = files(out)
        self.assertEqual(got["elsewhere", 0][0], 10.0)
        self.assertIn("half precision is computed here", said)
        self.assertIn("too long", said)
        self.assertIn("was not recorded", said)
        self.assertRegex(said, "not recorded: 1 runs of tf.compat.v1.Session")
        self.assertRegex(said, r"not recorded: [1-9]\d* outputs that are strings")

    def test_saved(self):
        out = os.path.join(ROOT, "saved")
        said, result = self.work("save", out)
        self.assertEqual(result, [[5.0, 7.0], [5.0, 7.0]])
        with open(os.path.join(out + "_model", "saved_model.pb"), "rb") as f:
            self.assertNotIn(b"PyFunc", f.read())
        self.assertEqual(self.work("load", out)[1], [5.0, 7.0])
        said, result = self.work("load_recorder", out)
        self.assertEqual(result, [5.0, 7.0])
        self.assertRegex(said, "not recorded: 1 calls of .*traced without the recorder")

    def test_end(self):
        said, _, status, err = run("error", os.path.join(ROOT, "error"))
        self.assertEqual(status, 1)
        self.assertTrue(err.rstrip().endswith("ValueError: an error of the training's own"), err)
        self.assertRegex(said, r"recorded [1-9]\d* operators in [1-9]\d* files")
        said, _ = self.work("nothing", os.path.join(ROOT, "nothing"))
        self.assertIn("warning: nothing was recorded", said)

    def test_keras(self):
        out = os.path.join(ROOT, "fit")
        said, _ = self.work("fit", out)
        self.assertEqual(sorted(os.listdir(out)), ["1", "2"])
        first, second = files(os.path.join(out, "1")), files(os.path.join(out, "2"))
        products = [k for k in first if k[0].endswith("MatMul")]
        self.assertTrue(products)
        self.assertEqual(products, [k for k in second if k[0].endswith("MatMul")])
        self.assertFalse((first[products[0]][0] == second[products[0]][0]).all())

    def test_loss_scale(self):
        said, _ = self.work("scaled", "")
        lines = re.findall(r"step (\d), loss scale ([0-9.]+), last step finite: (\w+)", said)
        self.assertEqual([line[0] for line in lines], ["0", "1", "2", "3"], said)
        scales = [float(line[1]) for line in lines]
        self.assertEqual([s / scales[0] for s in scales], [1, 1, 1, 0.5])
        self.assertEqual([line[2] for line in lines], ["unknown", "True", "True", "False"])


def train_plain_seeded(out):
    """Nothing but the recorder sets seeds."""
    import tfdbg_ascend as dbg
    import numpy as np
    import tensorflow as tf
    dbg.disable()
    return network(tf, np)


if __name__ == "__main__":
    if len(sys.argv) > 1 and "train_" + sys.argv[1] in globals():
        sys.path.insert(0, os.environ["KIT"])
        print("result " + json.dumps(globals()["train_" + sys.argv[1]](*sys.argv[2:])), flush=True)
    else:
        unittest.main()
