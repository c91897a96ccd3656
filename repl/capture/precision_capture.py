# -*- coding: utf-8 -*-
"""Records what precision compares: import this file in a training script.

It needs Python 3.6 or newer. TensorFlow is imported when a function needs it.

    import precision_capture as capture

TensorFlow 1, session (also Keras and Estimator through their session config):

    config = capture.session_dump_config(config, action="dump")
    with tf.Session(config=config) as sess: ...

TensorFlow 1, your own custom op, or an Estimator:

    capture.update_custom_op(custom_op, action="overflow")
    NPURunConfig(dump_config=capture.estimator_dump_config(action="dump"), ...)

TensorFlow 2:

    npu_device.open().as_default()
    capture.npu_device_dump_config(npu_device, action="dump")
    model.fit(..., callbacks=[capture.loss_scale_callback(optimizer)])

Golden side, TensorFlow 2 on a CPU or GPU: precision kit -g writes its recorder.
Golden side, TensorFlow 1 on a CPU or GPU; afterwards: precision tf_dump

    sess = capture.sess_dump(sess)
    estimator.train(..., hooks=[capture.estimator_dump()])

A checkpoint and the fed tensors for "precision train":

    with capture.checkpoint_session(config=config) as sess: ...

An action is one of dump, overflow, fusion_off, fusion_switch, prof, or several
joined by "|". dump and overflow exclude each other. Without an action the
environment decides: PRECISION_TOOL_DUMP=True or PRECISION_TOOL_OVERFLOW=True.

PRECISION_TOOL_DATA overrides the data folder written below, and
PRECISION_TOOL_DEBUG_ID the folder for this run below its folder npu.
"""
import json
import os
import random
import re
import time

# The options of "precision kit".
DATA_FOLDER = "@root@"
DEBUG_ID = "@id@"
DUMP_STEP = "@step@"    # "0", "0|5-7"; empty for every step
DUMP_LAYER = "@layer@"  # operators separated by spaces; empty for all
DUMP_DATA = "@data@"    # tensor or stats; empty for the default, tensor
OP_DEBUG_LEVEL = "@op_debug_level@"
GE_GRAPH = "@ge_graph@"
GRAPH_LEVEL = "@graph_level@"
SEED = "@seed@"

ACTIONS = ("dump", "overflow", "fusion_off", "fusion_switch", "prof")

ROOT = os.path.abspath(os.environ.get("PRECISION_TOOL_DATA") or DATA_FOLDER)
OVERFLOW_DUMP = os.path.join(ROOT, "overflow", "dump")
TF_DEBUG = os.path.join(ROOT, "tf", "tf_debug")
CHECKPOINTS = os.path.join(ROOT, "tf", "checkpoints")
INPUTS = os.path.join(CHECKPOINTS, "input")
# Files for the option fusion_switch_file, also of NPURunConfig: the first turns
# off every fusion pass that can be turned off, the second is yours to edit. A
# file fusion_switch.cfg, as the guide names it, takes precedence over
# fusion_switch.json.
FUSION_OFF_FILE = os.path.join(ROOT, "fusion", "fusion_off.json")
FUSION_SWITCH_FILE = os.path.join(ROOT, "fusion", "fusion_switch.cfg")
if not os.path.exists(FUSION_SWITCH_FILE):
    FUSION_SWITCH_FILE = os.path.join(ROOT, "fusion", "fusion_switch.json")


def _say(text):
    text = "precision: " + text
    try:
        print(text, flush=True)
    except UnicodeError:
        print(text.encode("ascii", "backslashreplace").decode("ascii"), flush=True)


def _tensorflow():
    """TensorFlow with the functions of version 1."""
    import tensorflow as tf
    compat = getattr(tf, "compat", None)
    return getattr(compat, "v1", None) or tf


# Folders and files

def _make_folder(path):
    """Makes a folder and those above it, for the owner only."""
    if not path or os.path.isdir(path):
        return
    _make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # by another process of the same training
        if not os.path.isdir(path):
            raise


def _run_folder(debug_id, *parts):
    name = debug_id or os.environ.get("PRECISION_TOOL_DEBUG_ID") or DEBUG_ID
    if not re.match(r"^[^/\\]+$", name) or name in (".", ".."):
        raise ValueError("precision: %r cannot be the name of a run, expected one such as debug_0" % name)
    return os.path.join(ROOT, "npu", name, *parts)


def _write_json(path, content, replace):
    if os.path.exists(path) and not replace:
        return
    text = json.dumps(content, indent=2) + "\n"
    try:
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    except (OSError, UnicodeError):
        pass
    _make_folder(os.path.dirname(path))
    # Several processes may train at once; each finds the old file or the new.
    part = "%s.%d" % (path, os.getpid())
    with open(part, "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(part, path)


def write_fusion_files():
    """Writes the two fusion switch files; one that was edited is kept."""
    off = {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}
    _write_json(FUSION_OFF_FILE, off, True)
    _write_json(FUSION_SWITCH_FILE, {"Switch": {"GraphFusion": {}, "UBFusion": {}}}, False)


def _prepare(debug_id):
    """Makes the folders of a run and sets what GE reads from the environment."""
    for path in (_run_folder(debug_id), OVERFLOW_DUMP, _run_folder(debug_id, "dump"),
                 _run_folder(debug_id, "graph"), _run_folder(debug_id, "prof")):
        _make_folder(path)
    write_fusion_files()
    os.environ["DUMP_GE_GRAPH"] = str(GE_GRAPH)
    os.environ["DUMP_GRAPH_LEVEL"] = str(GRAPH_LEVEL)
    os.environ["DUMP_GRAPH_PATH"] = _run_folder(debug_id, "graph")
    os.environ["NPU_DUMP_GRAPH"] = "true"


# Actions

def parse_action(action=None):
    """The words of an action as a set; without one those of the environment."""
    if action is None:
        names = (("PRECISION_TOOL_DUMP", "dump"), ("PRECISION_TOOL_OVERFLOW", "overflow"))
        words = [word for name, word in names if os.environ.get(name, "").strip().lower() == "true"]
    else:
        words = re.split(r"[|\s]+", action.strip())
    words = set(w for w in words if w)
    unknown = sorted(words.difference(ACTIONS))
    if unknown:
        raise ValueError("precision: unknown action %s, expected %s, or several joined by |"
                         % (", ".join(unknown), ", ".join(ACTIONS)))
    if "dump" in words and "overflow" in words:
        raise ValueError("precision: dump and overflow exclude each other; capture them in two runs")
    return words


def _fusion_file(words):
    if "fusion_off" in words:
        if "fusion_switch" in words:
            _say("fusion_off and fusion_switch were both given, fusion_off counts")
        return FUSION_OFF_FILE
    return FUSION_SWITCH_FILE if "fusion_switch" in words else None


def profiling_options(debug_id=None):
    """The profiling options as the text that the framework takes."""
    return json.dumps({
        "output": _run_folder(debug_id, "prof"), "storage_limit": "1000MB",
        "training_trace": "on", "l2": "on", "hccl": "on", "task_trace": "on", "aicpu": "on",
        "fp_point": "", "bp_point": "", "aic_metrics": "PipeUtilization", "msproftx": "on",
    }, ensure_ascii=False)


# TensorFlow 1 on the NPU

def session_dump_config(config=None, action=None, debug_id=None):
    """A ConfigProto that captures; config is changed if there is one."""
    tf = _tensorflow()
    from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
    if config is None:
        config = tf.ConfigProto()
    rewrite = config.graph_options.rewrite_options
    custom_op = None
    for op in rewrite.custom_optimizers:
        if op.name == "NpuOptimizer":
            custom_op = op
    if custom_op is None:
        custom_op = rewrite.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["use_off_line"].b = True
    update_custom_op(custom_op, action, debug_id)
    rewrite.remapping = RewriterConfig.OFF
    return config


def update_custom_op(custom_op, action=None, debug_id=None):
    """Sets the parameters of an NpuOptimizer and returns it."""
    words = parse_action(action)
    _prepare(debug_id)
    parameter = custom_op.parameter_map

    def text(name, value):
        parameter[name].s = value.encode("utf-8")

    text("debug_dir", _run_folder(debug_id))
    if "dump" in words:
        parameter["enable_dump"].b = True
        text("dump_path", _run_folder(debug_id, "dump"))
        text("dump_mode", "all")
        if DUMP_STEP:
            text("dump_step", DUMP_STEP)
        if DUMP_LAYER:
            text("dump_layer", DUMP_LAYER)
        if DUMP_DATA:
            text("dump_data", DUMP_DATA)
    elif "overflow" in words:
        parameter["enable_dump_debug"].b = True
        text("dump_path", OVERFLOW_DUMP)
        text("dump_debug_mode", "all")
    if "dump" in words or "overflow" in words:
        parameter["op_debug_level"].i = OP_DEBUG_LEVEL
    switch = _fusion_file(words)
    if switch:
        text("fusion_switch_file", switch)
    if "prof" in words:
        parameter["profiling_mode"].b = True
        text("profiling_options", profiling_options(debug_id))
    return custom_op


def estimator_dump_config(action=None, debug_id=None):
    """A DumpConfig for NPURunConfig(dump_config=...)."""
    words = parse_action(action)
    try:
        from npu_bridge.estimator.npu.npu_config import DumpConfig
    except ImportError:
        from npu_bridge.npu_init import DumpConfig
    _prepare(debug_id)
    if _fusion_file(words):
        _say("a DumpConfig has no fusion switches; NPURunConfig takes them: "
             "fusion_switch_file=precision_capture.%s"
             % ("FUSION_OFF_FILE" if "fusion_off" in words else "FUSION_SWITCH_FILE"))
    if "prof" in words:
        _say("a DumpConfig has no profiling; NPURunConfig takes it: profiling_config=ProfilingConfig("
             "enable_profiling=True, profiling_options=precision_capture.profiling_options())")
    if "overflow" in words:
        return DumpConfig(enable_dump_debug=True, dump_path=OVERFLOW_DUMP, dump_mode="all", dump_debug_mode="all")
    if "dump" not in words:
        return DumpConfig()
    more = {}
    if DUMP_STEP:
        more["dump_step"] = DUMP_STEP
    if DUMP_LAYER:
        more["dump_layer"] = DUMP_LAYER
    if DUMP_DATA:
        more["dump_data"] = DUMP_DATA
    return DumpConfig(enable_dump=True, dump_path=_run_folder(debug_id, "dump"), dump_mode="all", **more)


# TensorFlow 2 on the NPU

def npu_device_dump_config(npu_device, action=None, debug_id=None):
    """Sets the global options of npu_device and returns it."""
    words = parse_action(action)
    _prepare(debug_id)
    options = npu_device.global_options()
    if "dump" in words:
        options.dump_config.enable_dump = True
        options.dump_config.dump_path = _run_folder(debug_id, "dump")
        options.dump_config.dump_mode = "all"
        if DUMP_STEP:
            options.dump_config.dump_step = DUMP_STEP
        if DUMP_LAYER:
            options.dump_config.dump_layer = DUMP_LAYER
        if DUMP_DATA:
            options.dump_config.dump_data = DUMP_DATA
    elif "overflow" in words:
        options.dump_config.enable_dump_debug = True
        options.dump_config.dump_path = OVERFLOW_DUMP
        options.dump_config.dump_debug_mode = "all"
    if "dump" in words or "overflow" in words:
        options.op_debug_level = OP_DEBUG_LEVEL
    switch = _fusion_file(words)
    if switch:
        options.fusion_switch_file = switch
    if "prof" in words:
        options.profiling_config.enable_profiling = True
        options.profiling_config.profiling_options = profiling_options(debug_id)
    return npu_device


def _value(scale):
    if callable(scale):  # optimizers of early versions have a function
        scale = scale()
    return scale.numpy() if hasattr(scale, "numpy") else scale


def _finite(optimizer, scale, before):
    """Whether the gradients of the last step were finite, None if that is not known.
    Keras keeps the steps since the scale last changed, and lowers the scale when a
    gradient is not finite."""
    known = getattr(optimizer, "last_step_finite", None)
    if known is not None:
        return bool(_value(known))
    for name in ("step_counter", "dynamic_counter"):  # Keras 3, Keras 2
        count = getattr(optimizer, name, None)
        if count is not None and _value(count) > 0:
            return True
    if scale is None or before is None or scale == before:
        return None
    return bool(scale > before)


def loss_scale_callback(optimizer):
    """A Keras callback that prints the loss scale before each batch."""
    import tensorflow as tf

    class LossScaleCallback(tf.keras.callbacks.Callback):
        before = None

        def on_train_batch_begin(self, batch, logs=None):
            scale = used = None
            # Under mixed precision Keras may have wrapped the optimizer.
            for used in (getattr(getattr(self, "model", None), "optimizer", None), optimizer):
                for name in ("dynamic_scale", "loss_scale", "initial_scale"):  # Keras 3; Keras 2 and npu_device; Keras 3 before it is built
                    if scale is None and getattr(used, name, None) is not None:
                        scale = _value(getattr(used, name))
                if scale is not None:
                    break
            finite = _finite(used, scale, self.before)
            self.before = scale
            _say("step %s, loss scale %s, last step finite: %s"
                 % (batch, "none" if scale is None else "%.3f" % scale, "unknown" if finite is None else finite))

    return LossScaleCallback()


# TensorFlow 1 on a CPU or GPU

def _debug_folder():
    """An empty folder for the debugger, which takes no other. What an earlier
    training left there is moved aside."""
    if os.path.isdir(TF_DEBUG) and os.listdir(TF_DEBUG):
        stamp = time.strftime("%Y%m%d%H%M%S")
        aside, n = TF_DEBUG + "_" + stamp, 1
        while os.path.exists(aside):
            aside, n = "%s_%s_%d" % (TF_DEBUG, stamp, n), n + 1
        os.rename(TF_DEBUG, aside)
        _say("moved an earlier run to " + aside)
    _make_folder(TF_DEBUG)
    return TF_DEBUG


def _steps(text):
    """The steps that a text such as "0|5-7" stands for; None is every step."""
    if not text:
        return None
    found = set()
    for part in text.split("|"):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def _flat(fetches):
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        return [f for part in fetches for f in _flat(part)]
    return [fetches]


class _Runs(object):
    """Counts the runs of a session as the NPU counts steps: those that fetch the
    same are steps of one graph, from 0. Runs that set variables are none."""

    def __init__(self):
        self.counts, self.names, self.folder = {}, set(), None

    def wanted(self, graph, fetches):
        """Whether to record the run that comes; its folder is then set."""
        flat = _flat(fetches)
        if self._initializes(graph, flat):
            return False
        key = tuple(sorted(str(getattr(f, "name", f)) for f in flat))
        step = self.counts.get(key, 0)
        self.counts[key] = step + 1
        wanted = _steps(DUMP_STEP)
        if wanted is not None and step not in wanted:
            return False
        name, n = "step_%d" % step, 1
        while name in self.names:
            n += 1
            name = "step_%d_graph_%d" % (step, n)
        self.names.add(name)
        self.folder = name
        return True

    def _initializes(self, graph, flat):
        tf = _tensorflow()
        try:
            sets = set(v.initializer for kind in (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES) for v in graph.get_collection(kind))
            sets.update(graph.get_collection(tf.GraphKeys.TABLE_INITIALIZERS))

            def only_sets(op):
                inner = list(op.control_inputs)
                return op in sets or op.type == "NoOp" and bool(inner) and all(only_sets(i) for i in inner)
            return bool(flat) and all(only_sets(getattr(f, "op", f)) for f in (graph.as_graph_element(f) for f in flat))
        except Exception:  # what is fetched is no element of a graph
            return False


def _debug_session():
    """The wrapper of TensorFlow's debugger, for the steps of the kit."""
    from tensorflow.python.debug.wrappers import dumping_wrapper, framework

    class StepSession(dumping_wrapper.DumpingDebugWrapperSession):
        runs = None

        def on_run_start(self, request):
            if self.runs is None:
                self.runs = _Runs()
            if not self.runs.wanted(self.graph, request.fetches):
                return framework.OnRunStartResponse(framework.OnRunStartAction.NON_DEBUG_RUN, [])
            return super(StepSession, self).on_run_start(request)

        def prepare_run_debug_urls(self, fetches, feed_dict):
            urls = super(StepSession, self).prepare_run_debug_urls(fetches, feed_dict)
            made = urls[0][len("file://"):]
            folder = os.path.join(os.path.dirname(made), self.runs.folder)
            os.rename(made, folder)
            _say("recording into %s" % folder)
            return ["file://" + folder]

    return StepSession


def sess_dump(sess):
    """The session wrapped so that the steps of "precision kit -s" are recorded in
    tf/tf_debug, each in a folder. They are counted as on the NPU: runs that fetch
    the same, from 0."""
    return _debug_session()(sess, _debug_folder())


def estimator_dump():
    """A hook that records the steps of "precision kit -s" in tf/tf_debug."""
    from tensorflow.python.debug.wrappers import hooks

    class StepHook(hooks.DumpingDebugHook):
        runs = None

        def before_run(self, run_context):
            if self.runs is None:
                self.runs = _Runs()
            if not self.runs.wanted(run_context.session.graph, run_context.original_args.fetches):
                return None
            if not self._session_wrapper:
                self._session_wrapper = _debug_session()(run_context.session, self._session_root)
                self._session_wrapper.runs = self.runs
            return super(StepHook, self).before_run(run_context)

    return StepHook(_debug_folder())


# Checkpoint and inputs for "precision train"

def input_file(tensor):
    """Where the value fed to a tensor of that name is kept."""
    return os.path.join(INPUTS, re.sub("[:/]", "_", tensor) + ".npy")


def _save_inputs(graph, feed_dict):
    import numpy as np
    _make_folder(INPUTS)
    for key, value in (feed_dict or {}).items():
        try:
            name = graph.as_graph_element(key).name
            np.save(input_file(name), np.asarray(value), allow_pickle=False)
        except Exception as e:  # a value that is no array must not end the training
            _say("the value fed to %s was not kept: %s" % (key, e))


_session_class = None


def _checkpoint_session_class():
    global _session_class
    if _session_class is not None:
        return _session_class
    tf = _tensorflow()

    class CheckpointSession(tf.Session):
        """Keeps what is fed to a run, and a checkpoint behind it."""
        _inside = False
        _saver = None
        _told = None

        def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
            # Saving is a run, too.
            if self._inside:
                return super(CheckpointSession, self).run(fetches, feed_dict, options, run_metadata)
            self._inside = True
            try:
                _save_inputs(self.graph, feed_dict)
                result = super(CheckpointSession, self).run(fetches, feed_dict, options, run_metadata)
                self._save()
                return result
            finally:
                self._inside = False

        def _save(self):
            _make_folder(CHECKPOINTS)
            try:
                with self.graph.as_default():
                    if self._saver is None:
                        self._saver = tf.train.Saver()
                    self._saver.save(self, os.path.join(CHECKPOINTS, "ckpt"))
            except Exception as e:  # as before the variables have values
                why = str(e).split("\n")[0]
                if why != self._told:
                    _say("no checkpoint was kept of this run: %s" % why)
                self._told = why

    _session_class = CheckpointSession
    return _session_class


def checkpoint_session(*args, **kwargs):
    """A session to use in place of tf.Session."""
    return _checkpoint_session_class()(*args, **kwargs)


# Seeds

def _deterministic(tf):
    """Has operators that TensorFlow runs itself give the same result each time. It
    makes the same operators as without: those that it would take apart, for GPUs,
    are deterministic elsewhere, and the NPU must get the operators of the script."""
    if os.environ.get("PRECISION_TOOL_DETERMINISM", "").lower() in ("off", "0", "false", "no"):
        _say("operators may be non-deterministic (PRECISION_TOOL_DETERMINISM)")
        return
    os.environ["TF_DETERMINISTIC_OPS"] = "1"  # all there is before version 2.8
    how = "TF_DETERMINISTIC_OPS=1"
    try:
        enable = getattr(getattr(getattr(tf, "config", None), "experimental", None), "enable_op_determinism", None)
        if enable is not None:
            enable()
            how = "enable_op_determinism"
        from tensorflow.python.framework import config
        from tensorflow.python.ops import nn_ops
        if not tf.config.list_physical_devices("GPU"):
            if hasattr(config, "is_op_determinism_enabled"):
                config.is_op_determinism_enabled = lambda: False
            if hasattr(nn_ops, "_tf_deterministic_ops"):
                nn_ops._tf_deterministic_ops.value = False
    except (ImportError, AttributeError):  # versions that take nothing apart
        pass
    except Exception as e:
        _say("operators may be non-deterministic: %s" % e)
        return
    _say("operators are deterministic (%s); PRECISION_TOOL_DETERMINISM=off leaves them alone" % how)


def seed_everything(seed=SEED):
    """Takes chance out of the run, and prints what it was taken out of."""
    os.environ["PYTHONHASHSEED"] = str(seed)
    _say("PYTHONHASHSEED=%d for child processes" % seed)
    random.seed(seed)
    _say("random: seed %d, from which Keras draws, too" % seed)
    try:
        import tensorflow as tf
    except ImportError as e:
        tf = None
        _say("TensorFlow: no seed, it cannot be imported (%s)" % e)
    if tf is not None:
        if hasattr(tf, "random") and hasattr(tf.random, "set_seed"):
            tf.random.set_seed(seed)
        else:
            tf.set_random_seed(seed)
        _say("TensorFlow: seed %d" % seed)
    try:
        import numpy as np
        np.random.seed(seed)
        _say("NumPy: seed %d" % seed)
    except ImportError:
        _say("NumPy: no seed, it is not installed")
    if tf is None:
        return
    _deterministic(tf)
    try:
        from tfdeterminism import patch
    except ImportError:
        _say("tfdeterminism: not installed, reductions on a GPU may vary")
        return
    try:
        patch()
        _say("tfdeterminism: patched")
    except Exception as e:  # it refuses versions it does not know
        _say("tfdeterminism: not patched: %s" % e)


seed_everything()
try:
    write_fusion_files()
except OSError as e:
    _say("%s cannot be written (%s); set PRECISION_TOOL_DATA to a data folder on this machine" % (ROOT, e))
