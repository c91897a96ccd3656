"""The part of the debugger that records runs."""
import json
import os

from tensorflow import note

# What a run leaves: operator type and tensor.
TENSORS = [("VariableV2", "w:0"), ("MatMul", "layer/fc:0"), ("Split", "split:0"), ("Split", "split:1"), ("Add", "while/add:0"), ("Add", "while/add:0")]


def check(folder):
    if os.path.isdir(folder) and os.listdir(folder):
        raise ValueError("session_root path points to a non-empty directory: %s" % folder)


class DumpingDebugWrapperSession(object):
    def __init__(self, sess, session_root):
        check(session_root)
        self.sess, self.root, self.runs = sess, session_root, 0

    def run(self, fetches, feed_dict=None):
        self.runs += 1
        folder = os.path.join(self.root, "run_%d" % (1630000000000000 + self.runs))
        os.makedirs(folder)
        with open(os.path.join(folder, "tensors.json"), "w") as f:
            json.dump(TENSORS, f)
        note("recorded", folder=folder)
        return self.sess.run(fetches, feed_dict)


class DumpingDebugHook(object):
    def __init__(self, session_root):
        check(session_root)
        self.root = session_root
