# -*- coding: utf-8 -*-
"""Records what TensorFlow 2 computes on a CPU or GPU: the golden side.

It needs Python 3.6 or newer and TensorFlow 2.3 or newer, and is used like
the debug plug-in of the same name:

    import tfdbg_ascend as dbg      # before the model is built

    dbg.disable()
    if current_step == 5:
        dbg.enable()
        dbg.set_dump_path("/home/test/gpu_dump")

or, with Keras, for batch 4 counted over all epochs:

    model.fit(..., callbacks=[dbg.step_callback(4, "/home/test/gpu_dump")])

It is on as soon as it is imported. Without a path, files go to tf/dump of the
data folder, where precision looks for them. PRECISION_TOOL_DATA overrides the
data folder written below.

Every output of every operator becomes a file, {op_name}.{output_index}.{time}.npy.
In functions (tf.function, and models of Keras) op_name is the operator's name in
its graph. Operators that run eagerly have no name; they are called by name scope
and type, and numbered, in the order they run.

What runs several times in a step, as the body of a loop does, or a function that
is called twice, has the number of the run in its name, counted from 0, behind two
dashes and the kind of what runs: while_MatMul--body-0, while_Less--cond-1,
block_mm--call-0. The last run has the plain name. Input pipelines (tf.data) run
ahead of the step; of their operators there is what they computed last.

How the graphs that ran were made is in files precision_recorder.0.{time}.npy: bytes
of the events that TensorFlow's own debugger writes of a graph. By these precision
knows types of operators, what feeds them, and the lines of the program.

Importing it takes chance out of the training: seeds of Python, NumPy and
TensorFlow, and deterministic operators; PRECISION_TOOL_DETERMINISM=off leaves the
operators alone. It turns XLA off (jit_compile=True), since nothing can be recorded
inside. Recording an operator also keeps it from being fused with its neighbours:
the last digits of a loss may differ from those of a run without it, most under
mixed precision, as they do with TensorFlow's own debugger.

What is traced keeps copying tensors to the host while it is off, so that it can be
turned on at any step: import this file for the run that records, and only for
that. When the program ends, it says what was recorded, and what ran unrecorded.
"""
import atexit
import os
import random
import re
import shutil
import tempfile
import threading
import time
import uuid

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import op_callbacks
from tensorflow.python.framework import ops

# The options of "precision kit".
DATA_FOLDER = "@root@"
STEP = "@step@"  # "0", "0|5-7"; empty for every step
SEED = "@seed@"

# Control flow and calls of functions: what they compute is recorded inside them.
_SKIPPED = frozenset((
    "Enter", "Exit", "Identity", "IdentityN", "If", "LoopCond", "Merge", "NextIteration", "NoOp", "PartitionedCall", "PyFunc", "EagerPyFunc",
    "RemoteCall", "StatefulPartitionedCall", "StatelessIf", "StatelessWhile", "Switch", "While", "Assert", "DestroyResourceOp",
    # Of other debuggers.
    "CheckNumerics", "CheckNumericsV2", "DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "DebugNumericSummaryV2"))
_FUNCTION = re.compile(r"^__(inference|forward|backward)_")
_BODY = re.compile(r"while_(body|cond)")
_SCOPE = "precision_recorder"
_LIBRARY = re.compile(r"[/\\](site|dist)-packages[/\\](tensorflow|keras|tf_keras|wrapt)[/\\]|tfdbg_ascend\.py$|__autograph_generated_file|^<")
_NAME_MAX = 255  # of a file name, in bytes

_lock = threading.RLock()
_here = threading.local()  # suspended: how many reasons there are not to instrument in this thread
_on = True
_path = None
_last = 0        # time of the newest file, in microseconds
_eager = {}      # how often a name was used by operators that ran eagerly
_told = set()
_run = 0         # counts what was run from Python: a step, or a function called eagerly
_written = {}    # file of (folder, name, index) in this run, with its graph's kind and how often it ran
_operators = set()
_files = 0
_ahead = {}      # what input pipelines computed last while nothing was recorded, and in which graph
_missed = {}     # what ran unrecorded, how often


class _Told(object):
    """What a folder was told of graphs: the files that say how they were made, the
    names in them, and those of what ran eagerly."""

    def __init__(self, folder=None):
        self.folder, self.files, self.names, self.eager = folder, {}, set(), set()


_told_now = _Told()

def _say(text, once=False):
    if once and text in _told:
        return
    _told.add(text)
    text = "precision: " + text
    try:
        print(text, flush=True)
    except UnicodeError:
        print(text.encode("ascii", "backslashreplace").decode("ascii"), flush=True)
    except Exception:  # the output may be closed
        pass


def _miss(what):
    with _lock:
        _missed[what] = _missed.get(what, 0) + 1


# The switch

def enable():
    """Records from now on."""
    global _on
    with _lock:
        _on = True
        _new_step()
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
        _new_step()
    _say("recording into %s" % _path)


def get_dump_path():
    """The folder that files go to."""
    if _path is not None:
        return _path
    root = os.path.abspath(os.environ.get("PRECISION_TOOL_DATA") or DATA_FOLDER)
    return os.path.join(root, "tf", "dump")


def remove():
    """Takes the recorder out, as before a model is converted for other programs.
    Functions that were traced with it keep what it put in, which does nothing."""
    disable()
    _here.suspended = getattr(_here, "suspended", 0) + 1
    if _callback in context.context().op_callbacks:
        op_callbacks.remove_op_callback(_callback)


def _steps(text):
    """The steps that a text such as "0|5-7" stands for; None is every step."""
    if not text:
        return None
    found = set()
    for part in text.split("|"):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def step_callback(step=None, path=None):
    """A Keras callback that records the training batch of that number, counted
    from 0 over all epochs, and nothing else. Without a number it records the steps
    that "precision kit -s" named, which are also those of the NPU; several have a
    folder each."""
    if path is not None:
        set_dump_path(path)
    disable()
    wanted = _steps(STEP) if step is None else {step}
    folder = get_dump_path()

    class StepCallback(tf.keras.callbacks.Callback):
        def __init__(self):
            super(StepCallback, self).__init__()
            self.batches = 0

        def on_train_batch_begin(self, batch, logs=None):
            if wanted is None or self.batches in wanted:
                if wanted is None or len(wanted) > 1:
                    set_dump_path(os.path.join(folder, str(self.batches)))
                enable()
            self.batches += 1

        def on_train_batch_end(self, batch, logs=None):
            if _on:
                disable()
                _say("recorded batch %d into %s" % (self.batches - 1, get_dump_path()))

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


def _new_step():
    global _run, _told_now
    _run += 1
    _written.clear()
    _eager.clear()
    if not all(os.path.exists(path) for path in _told_now.files.values()):  # it was cleared
        _told_now = _Told()


def _number(folder, op_name, index, kind, stamp):
    """The name of the file for an output that runs now. One of the same name that
    ran before in this step gets the number of its run: the newest has the plain
    name. An input pipeline leaves it to the network."""
    old, counts = _written.setdefault((folder, op_name, index), [None, {}])
    number = counts.get(kind, 0)
    counts[kind] = number + 1
    if old is not None and kind == "pipeline" != old[0]:
        return file_name("%s--%s-%d" % (op_name, kind, number), index, stamp)
    if old is not None:
        name = file_name("%s--%s-%d" % (op_name, old[0], old[1]), index, old[2])
        if len(name) <= _NAME_MAX:
            os.rename(os.path.join(folder, file_name(op_name, index, old[2])), os.path.join(folder, name))
    _written[folder, op_name, index][0] = (kind, number, stamp)
    return file_name(op_name, index, stamp)


def _save(folder, stamp, array, name):
    """Writes a file that appears whole. name() is told when its contents are there."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    part = os.path.join(folder, ".%d.%d.part" % (os.getpid(), stamp))
    try:
        with open(part, "wb") as f:
            np.save(f, np.asarray(array), allow_pickle=False)
        path = os.path.join(folder, name())
        os.rename(part, path)
        return path
    except Exception:
        try:
            os.remove(part)
        except OSError:
            pass
        raise


def _write(op_name, index, array, kind="call", graph=None):
    """Writes an array; whatever goes wrong must not end the training."""
    global _files
    try:
        with _lock:
            if not _on:
                if kind == "pipeline":
                    _ahead[op_name, index] = array, graph
                return
            while _ahead:
                key, (value, of) = _ahead.popitem()
                _write(key[0], key[1], value, "pipeline", of)
            folder, stamp = get_dump_path(), _stamp()
            if len(file_name(op_name, index, stamp)) > _NAME_MAX:
                _say("the name of %s is too long for a file, it is not recorded" % op_name, once=True)
                _miss("operators whose names are too long for a file")
                return
            _save(folder, stamp, array, lambda: _number(folder, op_name, index, kind, stamp))
            _files += 1
            _operators.add(op_name)
            _tell(folder, graph, op_name)
    except Exception as e:
        _say("%s was not recorded: %s" % (op_name, e), once=True)
        _miss("outputs that could not be written")


# TensorFlow

def _text(value):
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _plain(tensor):
    """Whether a tensor holds numbers, or truth values. Strings are counted, as what is not recorded."""
    dtype = tensor.dtype
    if dtype == tf.string:
        _miss("outputs that are strings")
    return dtype.is_floating or dtype.is_integer or dtype.is_bool or dtype.is_complex


def _numbers(tensor):
    """The tensor in a type that numpy has."""
    name = tensor.dtype.name
    if name in ("float16", "bfloat16"):
        _say("half precision is computed here: recorded operators are not fused with their neighbours, so that the last digits of the loss "
             "may differ from a run without the recorder", once=True)
    if name == "bfloat16" or name.startswith("float8"):
        return tf.cast(tensor, tf.float32)
    if name in ("int4", "uint4", "int2", "uint2"):
        return tf.cast(tensor, tf.int8)
    if name.startswith("q"):  # quantized: the integers that are kept
        return tf.bitcast(tensor, getattr(tf, name[1:]))
    return tensor


def _name_scope():
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


def _kind(graph):
    """What runs when a graph does: the body or the condition of a loop, an input
    pipeline (tf.data), which runs ahead of the step, or a function."""
    outer = graph
    while outer is not None:
        if (getattr(outer, "name", None) or "").startswith("Dataset"):
            return "pipeline"
        outer = getattr(outer, "outer_graph", None)
    found = _BODY.search(graph.name or "")
    return found.group(1) if found else "call"


def _instrument(graph, outputs):
    """Adds to a graph what records the outputs of an operator when it runs. An
    operator with a state runs in a function even if nothing takes its output."""
    # Not what the callback is given as name, which for some operators is that of
    # the script, without scope and number.
    name, kind = outputs[0].op.name, _kind(graph)
    for index, tensor in enumerate(outputs):
        if not _plain(tensor):
            continue

        def record(array, index=index):
            _write(name, index, array, kind, graph)

        # Absolute, so that no operator of the network gets another name.
        with tf.name_scope(_SCOPE + "/"), tf.device(None):
            tf.numpy_function(record, [_numbers(tensor)], [])


def _id(graph):
    """What a graph is called among all that are recorded."""
    if getattr(graph, "_precision_id", None) is None:
        graph._precision_id = uuid.uuid4().hex
    return graph._precision_id


def _tell(folder, graph, op_name):
    """Writes once how the graph of an operator that ran was made, and those around it. Of an eager one (no graph) that
    has the name of another, it writes that it is not that."""
    global _told_now
    if _told_now.folder != folder:
        _told_now = _Told(folder)
    told = _told_now
    try:
        if graph is None and op_name not in told.eager:
            told.eager.add(op_name)
            if op_name in told.names:
                _save_events(folder, _eager_events([op_name]))
        while getattr(graph, "building_function", False) and _id(graph) not in told.files:
            told.files[_id(graph)] = ""  # not again in this step, whatever goes wrong
            names = set(op.name for op in graph.get_operations())
            told.files[_id(graph)] = _save_events(folder, _events(graph) + _eager_events(names & told.eager))
            told.names |= names
            graph = _outer(graph)
    except Exception as e:
        _say("how graphs were made is not recorded: %s" % str(e).split("\n")[0], once=True)
        _miss("operators of graphs whose making could not be recorded")


def _outer(graph):
    return getattr(graph, "outer_graph", None)


def _save_events(folder, events):
    """Writes events as an array of the bytes of a file of TensorFlow's debugger."""
    scratch = tempfile.mkdtemp()
    try:
        path = os.path.join(scratch, "events")
        with tf.io.TFRecordWriter(path) as w:
            for event in events:
                w.write(event.SerializeToString())
        stamp = _stamp()
        return _save(folder, stamp, np.fromfile(path, "uint8"), lambda: file_name(_SCOPE, 0, stamp))
    finally:
        shutil.rmtree(scratch)


def _eager_events(names):
    from tensorflow.core.protobuf import debug_event_pb2
    events = [debug_event_pb2.DebugEvent() for _ in names]
    for event, name in zip(events, sorted(names)):
        event.graph_op_creation.op_name, event.graph_op_creation.graph_id = name, "eager"
    return events


def _inputs(op):
    """The names of what goes into an operator."""
    try:
        return [t.name for t in op.inputs]
    except AttributeError:  # of some in a loop's condition, in TensorFlow 2.6
        return [i if ":" in i else i + ":0" for i in op.node_def.input if not i.startswith("^")]


def _events(graph):
    """How a graph was made, as TensorFlow's debugger tells it."""
    from tensorflow.core.protobuf import debug_event_pb2
    events, files, frames = [], {}, {}

    def add():
        events.append(debug_event_pb2.DebugEvent())
        return events[-1]

    def frame(path, line):
        if path not in files:
            files[path] = len(files)
            source = add().source_file
            source.file_path = path
            try:
                with open(path, "rb") as f:
                    source.lines.extend(f.read().decode("utf-8", "replace").split("\n"))
            except (OSError, IOError):  # its lines are told by number alone
                pass
        if (path, line) not in frames:
            frames[path, line] = uuid.uuid4().hex
            made = add().stack_frame_with_id
            made.id = frames[path, line]
            made.file_line_col.file_index, made.file_line_col.line = files[path], line
        return frames[path, line]

    told = add().debugged_graph
    told.graph_id, told.graph_name = _id(graph), _text(graph.name)
    if _outer(graph) is not None:
        told.outer_context_id = _id(_outer(graph))
    for op in graph.get_operations():
        if op.name.startswith(_SCOPE):
            continue
        made = add().graph_op_creation
        made.op_type, made.op_name, made.graph_id, made.num_outputs = op.type, op.name, _id(graph), len(op.outputs)
        made.input_names.extend(_inputs(op))
        made.code_location.stack_frame_ids.extend(frame(f[0], f[1]) for f in getattr(op, "traceback", None) or () if not _LIBRARY.search(f[0]))
    return events


_unheard = {}  # functions without the recorder in a function and those that it calls, by its name


def _without(name):
    """The functions that run when one does, and were traced without the recorder."""
    if name in _unheard:
        return _unheard[name]
    _unheard[name] = set()  # of one that calls itself
    try:
        nodes = context.context().get_function_def(name).node_def
    except Exception:  # not known here
        return set()
    found, own, heard = set(), False, False
    for node in nodes:
        heard = heard or node.name.startswith(_SCOPE)
        own = own or node.op not in _SKIPPED
        for attr in node.attr.values():
            for inner in [attr.func] + list(attr.list.func):
                if inner.name:
                    found |= _without(inner.name)
    if own and not heard:
        found = found | {re.sub(r"_\d+$", "", _FUNCTION.sub("", name))}
    _unheard[name] = found
    return found


def _attach():
    """Listens in this thread, before other callbacks: they may replace the outputs,
    or give the next one none."""
    listening = context.context().op_callbacks
    if _callback not in listening:
        op_callbacks.add_op_callback(_callback)
        listening.insert(0, listening.pop())


def _callback(op_type, inputs, attrs, outputs, op_name=None, graph=None):
    """Is called by TensorFlow behind every operator that was made in a graph, or
    has run eagerly. The outputs that it returns are what the next callback gets."""
    try:
        _heard(_text(op_type), outputs, graph)
    except Exception as e:
        _say("%s was not recorded: %s" % (_text(op_name or op_type), str(e).split("\n")[0]), once=True)
        _miss("operators that the recorder could not take")
    return None if outputs is None else list(outputs)  # as without callbacks


def _heard(op_type, outputs, graph):
    if graph is None:
        if _FUNCTION.match(op_type):
            if _on:
                for name in _without(op_type):
                    _miss("calls of %s, which was traced without the recorder" % name)
            with _lock:
                _ran()
            return
        if op_type in _SKIPPED or not outputs or not _on or getattr(_here, "suspended", 0):
            return
        name = _eager_name(op_type)
        for index, tensor in enumerate(outputs):
            if _plain(tensor):
                _write(name, index, _numbers(tensor).numpy())
        return
    if getattr(_here, "suspended", 0) or not getattr(graph, "building_function", False):
        return  # of a graph for tf.compat.v1.Session see _session_ran
    if not outputs or op_type in _SKIPPED:
        return
    _instrument(graph, outputs)


def _ran():
    """What was called from Python is done: what runs next of the same name is
    another step."""
    global _run
    _run += 1
    _written.clear()


class _Suspended(object):
    """Nothing is put into graphs made meanwhile."""

    def __enter__(self):
        _here.suspended = getattr(_here, "suspended", 0) + 1

    def __exit__(self, *unused):
        _here.suspended -= 1


def _jit(function):
    """Turns XLA off; False if the function was compiled before."""
    for name in ("_jit_compile", "_experimental_compile"):
        if getattr(function, name, None):
            if any(getattr(function, made, None) is not None for made in (
                    "_variable_creation_config", "_variable_creation_fn", "_stateful_fn", "_no_variable_creation_config", "_stateless_fn")):
                _say("%s was compiled by XLA before the recorder was imported, it is not recorded" % getattr(function, "_name", "a function"), once=True)
                return False
            setattr(function, name, None)
            _say("XLA is off for %s (jit_compile=True), so that it can be recorded" % getattr(function, "_name", "a function"), once=True)
    return True


def _patched(function):
    """Marks what stands for a function of TensorFlow."""
    function._precision_recorder = True
    return function


def _wrap(owner, name, around):
    """Puts around(original) in the place of a function; what this version of
    TensorFlow does not have is left alone."""
    original = getattr(owner, name, None)
    if original is not None and not getattr(original, "_precision_recorder", False):
        setattr(owner, name, _patched(around(original)))


def _around_call(original):
    def call(self, *args, **kwargs):
        if not getattr(_here, "suspended", 0):
            _attach()  # callbacks belong to a thread
        if _jit(self):
            return original(self, *args, **kwargs)
        with _Suspended():
            return original(self, *args, **kwargs)
    return call


def _around_suspended(original):
    def call(*args, **kwargs):
        with _Suspended():
            return original(*args, **kwargs)
    call.__doc__ = original.__doc__
    return call


def _around_save(original):
    """Functions in a SavedModel must run where there is no recorder."""
    def save(obj, export_dir, *args, **kwargs):
        with _Suspended():
            result = original(obj, export_dir, *args, **kwargs)
        try:
            _strip(os.path.join(_text(os.fspath(export_dir)), "saved_model.pb"))
        except Exception as e:
            _say("the recorder is still in the functions of %s, save it in a run without: %s" % (export_dir, str(e).split("\n")[0]))
        return result
    return save


def _strip(path):
    """Takes the recorder out of the functions of a SavedModel."""
    from tensorflow.core.protobuf import saved_model_pb2
    model = saved_model_pb2.SavedModel()
    with tf.io.gfile.GFile(path, "rb") as f:
        model.ParseFromString(f.read())
    stripped = 0
    for meta in model.meta_graphs:
        for function in meta.graph_def.library.function:
            gone = set(n.name for n in function.node_def if n.name.startswith(_SCOPE))
            if not gone:
                continue
            stripped += 1
            kept = [n for n in function.node_def if n.name not in gone]
            for node in kept:
                inputs = [i for i in node.input if not (i.startswith("^") and i[1:] in gone)]
                del node.input[:]
                node.input.extend(inputs)
            copies = [type(n).FromString(n.SerializeToString()) for n in kept]
            del function.node_def[:]
            function.node_def.extend(copies)
            for key in [k for k, v in function.control_ret.items() if v in gone]:
                del function.control_ret[key]
                outputs = [o for o in function.signature.control_output if o != key]
                del function.signature.control_output[:]
                function.signature.control_output.extend(outputs)
    if stripped:
        with tf.io.gfile.GFile(path + ".part", "wb") as f:
            f.write(model.SerializeToString(deterministic=True))
        tf.io.gfile.rename(path + ".part", path, overwrite=True)
        _say("took the recorder out of %d functions of %s" % (stripped, path))


def _around_session(original):
    def run(self, *args, **kwargs):
        if _on and not getattr(_here, "suspended", 0):
            _miss("runs of tf.compat.v1.Session, which precision_capture.sess_dump records")
        return original(self, *args, **kwargs)
    return run


def _install_functions():
    function = type(tf.function(lambda: None))
    _wrap(function, "__call__", _around_call)
    for name in ("get_concrete_function", "_get_concrete_function_garbage_collected"):
        _wrap(function, name, _around_call)
    # What TensorFlow does with a graph that it traces itself.
    from tensorflow.python.client import session
    from tensorflow.python.ops.parallel_for import control_flow_ops
    from tensorflow.python.saved_model import save
    _wrap(control_flow_ops, "pfor", _around_suspended)
    _wrap(session.BaseSession, "run", _around_session)
    _wrap(save, "save_and_return_nodes", _around_save)


def _as_without_determinism():
    """Lets TensorFlow make the same operators as without determinism. Where there
    is no GPU, the operators that it would take apart are deterministic as they are,
    and those of the NPU; nor does it refuse what the script draws at random."""
    from tensorflow.python.framework import config
    from tensorflow.python.ops import nn_ops
    if hasattr(config, "is_op_determinism_enabled"):
        config.is_op_determinism_enabled = lambda: False
    if hasattr(nn_ops, "_tf_deterministic_ops"):  # before version 2.8
        nn_ops._tf_deterministic_ops.value = False


def _without_chance():
    random.seed(SEED)
    np.random.seed(SEED)
    tf.random.set_seed(SEED)
    _say("seed %d for TensorFlow, NumPy and Python's random, from which Keras draws" % SEED)
    if os.environ.get("PRECISION_TOOL_DETERMINISM", "").lower() in ("off", "0", "false", "no"):
        _say("operators may be non-deterministic (PRECISION_TOOL_DETERMINISM)")
        return
    how = "TF_DETERMINISTIC_OPS=1"  # all there is before version 2.8
    os.environ["TF_DETERMINISTIC_OPS"] = "1"
    try:
        if hasattr(tf.config.experimental, "enable_op_determinism"):
            tf.config.experimental.enable_op_determinism()
            how = "enable_op_determinism"
        if not tf.config.list_physical_devices("GPU"):
            _as_without_determinism()
    except Exception as e:
        _say("operators may be non-deterministic: %s" % e)
        return
    _say("operators are deterministic (%s); PRECISION_TOOL_DETERMINISM=off leaves them alone" % how)


def _summary():
    disable()
    if _files:
        _say("recorded %d operators in %d files, the last into %s" % (len(_operators), _files, get_dump_path()))
    else:
        _say("warning: nothing was recorded into %s. Import this file before the model is built, and let a step run while recording is on "
             "(enable, or step_callback)." % get_dump_path())
    for what, n in sorted(_missed.items()):
        _say("not recorded: %d %s" % (n, what))


def _install():
    _without_chance()
    try:
        _install_functions()
    except Exception as e:
        _say("this version of TensorFlow, %s, has functions that the recorder does not know: %s" % (tf.__version__, e))
    _attach()
    atexit.register(_summary)
    _say("recording is on, into %s" % get_dump_path())


_install()
