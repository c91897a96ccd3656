"""Tests of the recorder of TensorFlow 2 against a stand-in. DATA is its data folder."""
import contextlib
import io
import os
import re
import shutil
import unittest

import numpy as np
import tensorflow as tf

ROOT = os.environ["DATA"]
GRAMMAR = re.compile(r"^([A-Za-z0-9_-]+)\.([0-9]+)\.([0-9]{16})\.npy$")

with contextlib.redirect_stdout(io.StringIO()) as first:
    import tfdbg_ascend as dbg


def layer(x):
    with tf.name_scope("model"), tf.name_scope("dense"):
        return tf.add(tf.matmul(x, tf.constant([[1, 2], [3, 4]])), tf.constant([1, 1]))


class Recorder(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(ROOT, ignore_errors=True)
        self.quiet(dbg.enable)
        dbg._path = None
        self.x = tf.EagerTensor(np.eye(2, dtype=np.float32))

    def quiet(self, f, *args):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            result = f(*args)
        self.said = out.getvalue()
        return result

    def files(self, path=os.path.join(ROOT, "tf", "dump")):
        found = {}
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else []:
            m = GRAMMAR.match(name)
            self.assertTrue(m, name)
            found.setdefault(m.group(1) + "." + m.group(2), []).append(np.load(os.path.join(path, name)))
        return found

    def test_import(self):
        self.assertIn("recording is on", first.getvalue())
        self.assertEqual(dbg.get_dump_path(), os.path.join(ROOT, "tf", "dump"))

    def test_function(self):
        f = tf.function(layer)
        want = f(self.x).numpy()
        got = self.files()
        self.assertEqual(sorted(got), ["model_dense_Const.0", "model_dense_Const_1.0", "model_dense_MatMul.0", "model_dense_add.0"])
        np.testing.assert_array_equal(got["model_dense_add.0"][0], want)
        f(self.x)  # traced once, recorded twice
        self.assertEqual(len(self.files()["model_dense_add.0"]), 2)

    def test_switch(self):
        f = tf.function(layer)
        dbg.disable()
        for step in range(7):  # the lines of the guide
            dbg.disable()
            if step == 5:
                self.quiet(dbg.enable)
                self.quiet(dbg.set_dump_path, os.path.join(ROOT, "gpu_dump"))
                self.assertIn("gpu_dump", self.said)
            f(self.x)
        self.assertEqual(len(self.files(os.path.join(ROOT, "gpu_dump"))["model_dense_add.0"]), 1)
        self.assertEqual(self.files(), {})
        self.assertFalse(self.quiet(dbg.get_dump_switch))
        self.assertIn("off", self.said)

    def test_nested(self):
        inner = tf.function(layer)

        def outer(x):
            with tf.name_scope("outer"):
                return tf.add(inner(x), x)
        tf.function(outer)(self.x)
        self.assertIn("outer_model_dense_MatMul.0", self.files())
        self.assertIn("outer_add.0", self.files())

    def test_unused_and_several(self):
        def f(x):
            tf.matmul(x, x)  # nothing takes it
            a, b = tf.split_two(x)
            tf.variant(x)
            tf.print_op(x)
            return tf.add(a, tf.bfloat(b))
        tf.function(f)(self.x)
        got = self.files()
        self.assertEqual(sorted(got), ["Cast.0", "MatMul.0", "add.0", "split.0", "split.1"])
        self.assertEqual(got["Cast.0"][0].dtype, np.float32)

    def test_eager(self):
        with tf.name_scope("a"):
            y = tf.matmul(self.x, self.x)
            tf.matmul(y, y)
        tf.bfloat(y)
        self.assertEqual(sorted(self.files()), ["Cast.0", "a_MatMul.0", "a_MatMul_1.0"])
        self.quiet(dbg.enable)  # another step begins to count anew
        with tf.name_scope("a"):
            tf.matmul(self.x, self.x)
        self.assertEqual(len(self.files()["a_MatMul.0"]), 2)

    def test_keras(self):
        f = tf.function(layer)
        callback = self.quiet(dbg.step_callback, 2, os.path.join(ROOT, "keras"))
        for batch in range(4):
            self.quiet(callback.on_train_batch_begin, batch)
            f(self.x)
            self.quiet(callback.on_train_batch_end, batch)
        self.assertEqual(len(self.files(os.path.join(ROOT, "keras"))["model_dense_add.0"]), 1)

    def test_what_goes_wrong(self):
        def f(x):
            with tf.name_scope("n" * 300):
                y = tf.matmul(x, x)
            with tf.name_scope("a:b c.d"):
                return tf.add(y, y)
        self.quiet(tf.function(f), self.x)
        self.assertIn("too long", self.said)
        self.assertEqual(sorted(self.files()), ["a_b_c_d_add.0"])
        with open(os.path.join(ROOT, "file"), "w"):
            pass
        self.quiet(dbg.set_dump_path, os.path.join(ROOT, "file"))
        self.quiet(tf.matmul, self.x, self.x)
        self.assertIn("was not recorded", self.said)


if __name__ == "__main__":
    unittest.main()
