# -*- coding: utf-8 -*-
"""Records what TensorFlow 2 computes on a CPU or GPU: the golden side.

It needs Python 3.6 or newer and TensorFlow 2.3 or newer, and is used like
the debug plug-in of the same name:

    import tfdbg_ascend as dbg      # before the model is built

    dbg.disable()
    if current_step == 5:
        dbg.enable()
        dbg.set_dump_path("/home/test/gpu_dump")

or, with Keras, for batch 4 of every epoch:

    model.fit(..., epochs=1, callbacks=[dbg.step_callback(4, "/home/test/gpu_dump")])

It is on as soon as it is imported. Without a path, files go to tf/dump of the
data folder, where precision looks for them. PRECISION_TOOL_DATA overrides the
data folder written below.

Every output of every operator becomes a file, {op_name}.{output_index}.{time}.npy.
In functions (tf.function, and models of Keras) op_name is the operator's name in
the graph, which is also its name on the NPU; functions that such a function calls
are traced into it, as on the NPU. Operators that run eagerly have no name; they
are called by name scope and type, and numbered, in the order they run.

Functions that were traced before this file was imported are not recorded, nor
are those compiled by XLA (jit_compile=True). What is traced keeps copying tensors
to the host while it is off, so that it can be turned on at any step: import this
file for the run that records, and only for that.
"""
import os
import re
import threading
import time

DATA_FOLDER = "@root@"

# Control flow and calls of functions: what they compute is recorded inside them.
_SKIPPED = frozenset((
    "Enter", "Exit", "Identity", "IdentityN", "If", "LoopCond", "Merge", "NextIteration", "NoOp", "PartitionedCall", "PyFunc", "EagerPyFunc",
    "RemoteCall", "StatefulPartitionedCall", "StatelessIf", "StatelessWhile", "Switch", "While", "Assert", "DestroyResourceOp"))
_FUNCTION = re.compile(r"^__(inference|forward|backward)_")
_NAME_MAX = 255  # of a file name, in bytes

_lock = threading.RLock()
_on = True
_path = None
_last = 0        # time of the newest file, in microseconds
_eager = {}      # how often a name was used by operators that ran eagerly
_told = set()


def _say(text, once=False):
    if once and text in _told:
        return
    _told.add(text)
    text = "precision: " + text
    try:
        print(text, flush=True)
    except UnicodeError:
        print(text.encode("ascii", "backslashreplace").decode("ascii"), flush=True)


# The switch

def enable():
    """Records from now on."""
    global _on
    with _lock:
        _on = True
        _eager.clear()
    get_dump_switch()


def disable():
    """Records nothing from now on."""
    global _on
    with _lock:
        _on = False


def get_dump_switch():
    """Says whether it records, and returns it."""
    _say("recording is %s" % ("on" if _on else "off"))
    return _on


def set_dump_path(path):
    """Sets the folder that files go to; it is made when the first one is."""
    global _path
    with _lock:
        _path = os.path.abspath(path)
        _eager.clear()
    _say("recording into %s" % _path)


def get_dump_path():
    """The folder that files go to."""
    if _path is not None:
        return _path
    root = os.path.abspath(os.environ.get("PRECISION_TOOL_DATA") or DATA_FOLDER)
    return os.path.join(root, "tf", "dump")


def step_callback(step=0, path=None):
    """A Keras callback that records the training batch of that number, counted
    from 0 over all epochs, and nothing else."""
    import tensorflow as tf
    if path is not None:
        set_dump_path(path)
    disable()

    class StepCallback(tf.keras.callbacks.Callback):
        def __init__(self):
            super(StepCallback, self).__init__()
            self.batches = 0

        def on_train_batch_begin(self, batch, logs=None):
            if self.batches == step:
                enable()
            self.batches += 1

        def on_train_batch_end(self, batch, logs=None):
            if _on:
                disable()
                _say("recorded batch %d into %s" % (step, get_dump_path()))

    return StepCallback()


# Files

def file_name(op_name, index, stamp):
    """The name of the file for an output of an operator."""
    return "%s.%d.%d.npy" % (re.sub(r"[^A-Za-z0-9_-]", "_", op_name), index, stamp)


def _stamp():
    """Microseconds, later for every file."""
    global _last
    _last = max(_last + 1, int(time.time() * 1000000))
    return _last


def _write(op_name, index, array):
    """Writes an array; what goes wrong must not end the training."""
    import numpy as np
    with _lock:
        if not _on:
            return
        folder, stamp = get_dump_path(), _stamp()
    name = file_name(op_name, index, stamp)
    if len(name) > _NAME_MAX:
        _say("the name of %s is too long for a file, it is not recorded" % op_name, once=True)
        return
    part = os.path.join(folder, ".%d.%d.part" % (os.getpid(), stamp))
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(part, "wb") as f:
            np.save(f, np.asarray(array), allow_pickle=False)
        os.rename(part, os.path.join(folder, name))
    except (OSError, ValueError) as e:
        _say("%s was not recorded: %s" % (op_name, e), once=True)
        try:
            os.remove(part)
        except OSError:
            pass


# TensorFlow

def _text(value):
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _plain(tensor):
    """Whether a tensor holds numbers, or truth values."""
    dtype = tensor.dtype
    return dtype.is_floating or dtype.is_integer or dtype.is_bool or dtype.is_complex


def _numbers(tf, tensor):
    """The tensor in a type that numpy has."""
    if tensor.dtype.name == "bfloat16":
        return tf.cast(tensor, tf.float32)
    return tensor


def _name_scope():
    from tensorflow.python.framework import ops
    try:
        return ops.get_name_scope().strip("/")
    except AttributeError:  # older versions
        return ""


def _eager_name(op_type):
    scope = _name_scope()
    name = scope + "/" + op_type if scope else op_type
    with _lock:
        n = _eager.get(name, 0)
        _eager[name] = n + 1
    return name if n == 0 else "%s_%d" % (name, n)


def _instrument(tf, op_name, outputs):
    """Adds to a graph what records the outputs of an operator when it runs. An
    operator with a state runs in a function even if nothing takes its output."""
    for index, tensor in enumerate(outputs):
        if not _plain(tensor):
            continue
        name = op_name or tensor.name.split(":")[0]

        def record(array, name=name, index=index):
            _write(name, index, array)

        tf.numpy_function(record, [_numbers(tf, tensor)], [])


def _callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
    """Is called by TensorFlow behind every operator that was made in a graph, or
    has run eagerly. None leaves the outputs as they are."""
    import tensorflow as tf
    op_type = _text(op_type)
    if not outputs or op_type in _SKIPPED or _FUNCTION.match(op_type):
        return None
    if graph is not None:
        _instrument(tf, _text(op_name), outputs)
    elif _on:
        name = _eager_name(op_type)
        for index, tensor in enumerate(outputs):
            if _plain(tensor):
                _write(name, index, _numbers(tf, tensor).numpy())
    return None


_thread = threading.local()


def _inline_functions(tf):
    """Lets a function that another one calls be traced into that one."""
    function = type(tf.function(lambda: None))
    if getattr(function, "_precision_inlined", False):
        return
    call = function.__call__

    def inlined(self, *args, **kwargs):
        if not getattr(_thread, "depth", 0):
            _thread.depth = 1
            try:
                return call(self, *args, **kwargs)
            finally:
                _thread.depth = 0
        return self.python_function(*args, **kwargs)

    function.__call__ = inlined
    function._precision_inlined = True


def _install():
    import tensorflow as tf
    from tensorflow.python.framework import op_callbacks
    _inline_functions(tf)
    op_callbacks.add_op_callback(_callback)
    _say("recording is on, into %s" % get_dump_path())


_install()
