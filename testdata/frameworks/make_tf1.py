"""Writes a run as the debugger of TensorFlow 1 records it.

    python make_tf1.py FOLDER

needs TensorFlow 1.15. The time in the name of the run was set to 1700000000000000 afterwards.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.debug.wrappers import dumping_wrapper  # noqa: E402

tf1 = tf.compat.v1
x = tf1.placeholder(tf.float32, [2, 3], name="x")
w = tf1.get_variable("w", initializer=np.arange(12, dtype="float32").reshape(3, 4) / 10)
y = tf.nn.relu(tf.matmul(x, w, name="mm") - 1.0, name="act")
with tf1.Session() as session:
    session.run(tf1.global_variables_initializer())
    folder = os.path.join(os.path.abspath(sys.argv[1]), "tfdbg1")
    os.makedirs(folder)
    dumping_wrapper.DumpingDebugWrapperSession(session, folder, log_usage=False).run(y, {x: np.ones((2, 3), "float32")})
