"""Tests of the kit on TensorFlow 1 itself: sessions on a CPU. DATA is its data folder."""
import os
import shutil
import subprocess
import sys
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = os.environ["DATA"]
sys.path.insert(0, os.environ["KIT"])

import numpy as np  # noqa: E402
import precision_capture as capture  # noqa: E402
import tensorflow as tf  # noqa: E402


def build():
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 2])
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w, name="mm")), name="loss")
    return x, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)


def arrays(*parts):
    folder = os.path.join(ROOT, "tf", "dump", *parts)
    return dict((n.rsplit(".", 2)[0], np.load(os.path.join(folder, n))) for n in os.listdir(folder) if n.endswith(".npy"))


class Sessions(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(ROOT, ignore_errors=True)

    def convert(self):
        out = subprocess.check_output([sys.executable, os.path.join(os.environ["KIT"], "tf_dump.py")], env=dict(os.environ, PRECISION_TOOL_DATA=ROOT))
        return out.decode("utf-8")

    def train(self, step):
        capture.DUMP_STEP = step
        x, loss, train = build()
        with tf.Session() as sess:
            sess = capture.sess_dump(sess)
            sess.run(tf.global_variables_initializer())
            return [float(sess.run([loss, train], {x: np.full((2, 3), i + 1.0)})[0]) for i in range(4)]

    def test_one_step(self):
        losses = self.train("2")
        self.convert()
        got = arrays()
        self.assertEqual(float(got["loss.0"]), losses[2])
        self.assertIn("mm.0", got)

    def test_several(self):
        losses = self.train("0|3")
        self.convert()
        self.assertEqual(sorted(os.listdir(os.path.join(ROOT, "tf", "dump"))), ["0", "3"])
        for step in (0, 3):
            self.assertEqual(float(arrays(str(step))["loss.0"]), losses[step])

    def test_monitored(self):
        capture.DUMP_STEP = "1"
        x, loss, train = build()
        with tf.train.MonitoredSession(hooks=[capture.estimator_dump()]) as sess:
            losses = [float(sess.run([loss, train], {x: np.full((2, 3), i + 1.0)})[0]) for i in range(3)]
        self.convert()
        self.assertEqual(float(arrays()["loss.0"]), losses[1])


if __name__ == "__main__":
    unittest.main()
