"""Tests of the kit against a stand-in for TensorFlow. DATA is its data folder."""
import contextlib
import importlib
import io
import json
import os
import shutil
import stat
import types
import unittest

ROOT = os.environ["DATA"]


def load():
    """The kit as at its first import, and what it printed."""
    import precision_capture
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        return importlib.reload(precision_capture), out.getvalue()


def path(*parts):
    return os.path.join(ROOT, *parts)


class KitTest(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(ROOT, ignore_errors=True)
        for name in [n for n in os.environ if n.startswith(("PRECISION_TOOL_", "DUMP_", "NPU_DUMP"))]:
            del os.environ[name]
        global tf, npu_device
        import tensorflow as tf
        import npu_device
        npu_device._options = npu_device.fresh()
        del tf.NOTES[:]
        with contextlib.redirect_stdout(io.StringIO()):
            import precision_capture  # noqa: F401, which prints
        self.kit, self.printed = load()

    def quiet(self, function, *args, **kwargs):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            result = function(*args, **kwargs)
        self.said = out.getvalue()
        return result

    def op(self, action=None, **more):
        op = tf.CustomOptimizer()
        self.assertIs(self.quiet(self.kit.update_custom_op, op, action, **more), op)
        return op.parameter_map.plain()

    def device(self, action=None, **more):
        npu_device._options = npu_device.fresh()
        self.assertIs(self.quiet(self.kit.npu_device_dump_config, npu_device, action, **more), npu_device)
        return npu_device.global_options().changed()

    def text(self, *parts):
        return path(*parts).encode("utf-8")


class FusionFiles(KitTest):
    def test_cfg(self):
        self.assertTrue(self.kit.FUSION_SWITCH_FILE.endswith("fusion_switch.json"))
        os.makedirs(path("fusion"), exist_ok=True)
        with open(path("fusion", "fusion_switch.cfg"), "w") as f:
            f.write("{}")
        kit, _ = load()
        self.assertEqual(kit.FUSION_SWITCH_FILE, path("fusion", "fusion_switch.cfg"))
        op = tf.CustomOptimizer()
        self.quiet(kit.update_custom_op, op, "fusion_switch")
        self.assertEqual(op.parameter_map.plain()["fusion_switch_file"], self.text("fusion", "fusion_switch.cfg"))
        with open(path("fusion", "fusion_switch.cfg")) as f:
            self.assertEqual(f.read(), "{}")  # it is the user's


class Seeds(KitTest):
    def test_import(self):
        self.assertEqual(os.environ["PYTHONHASHSEED"], "2022")
        kinds = [(n["what"], n.get("seed")) for n in tf.NOTES[-3:]]
        seeder = "set_random_seed" if os.environ.get("FAKE_TF") == "1" else "random.set_seed"
        self.assertEqual(kinds, [(seeder, 2022), ("numpy seed", 2022), ("tfdeterminism", None)])
        lines = self.printed.splitlines()
        self.assertEqual(os.environ["TF_DETERMINISTIC_OPS"], "1")
        self.assertEqual(len(lines), 6)
        for line, item in zip(lines, ("PYTHONHASHSEED", "random", "TensorFlow", "NumPy", "TF_DETERMINISTIC_OPS", "tfdeterminism")):
            self.assertIn(item, line)

    def test_random(self):
        import random
        first = random.random()
        self.quiet(self.kit.seed_everything)
        self.assertEqual(first, random.Random(2022).random())

    def test_patch_that_refuses(self):
        import tfdeterminism
        old = tfdeterminism.patch

        def refuse():
            raise TypeError("version unknown")
        tfdeterminism.patch = refuse
        try:
            _, printed = load()
        finally:
            tfdeterminism.patch = old
        self.assertIn("not patched: version unknown", printed)


class CustomOp(KitTest):
    def test_dump(self):
        self.assertEqual(self.op("dump"), {
            "debug_dir": self.text("npu", "debug_0"), "enable_dump": True, "dump_path": self.text("npu", "debug_0", "dump"),
            "dump_mode": b"all", "dump_step": b"0", "op_debug_level": 4})

    def test_overflow(self):
        self.assertEqual(self.op("overflow"), {
            "debug_dir": self.text("npu", "debug_0"), "enable_dump_debug": True, "dump_path": self.text("overflow", "dump"),
            "dump_debug_mode": b"all", "op_debug_level": 4})

    def test_nothing(self):
        self.assertEqual(self.op(), {"debug_dir": self.text("npu", "debug_0")})
        self.assertEqual(self.op(""), {"debug_dir": self.text("npu", "debug_0")})

    def test_fusion(self):
        self.assertEqual(self.op("fusion_off")["fusion_switch_file"], self.kit.FUSION_OFF_FILE.encode("utf-8"))
        self.assertEqual(self.op("fusion_switch")["fusion_switch_file"], self.kit.FUSION_SWITCH_FILE.encode("utf-8"))
        both = self.op("dump | fusion_switch | fusion_off")
        self.assertEqual(both["fusion_switch_file"], self.kit.FUSION_OFF_FILE.encode("utf-8"))
        self.assertIn("fusion_off counts", self.said)
        self.assertTrue(both["enable_dump"])

    def test_prof(self):
        got = self.op("prof")
        self.assertIs(got["profiling_mode"], True)
        self.assertEqual(json.loads(got["profiling_options"].decode("utf-8")), {
            "output": path("npu", "debug_0", "prof"), "storage_limit": "1000MB", "training_trace": "on", "l2": "on", "hccl": "on",
            "task_trace": "on", "aicpu": "on", "msproftx": "on", "fp_point": "", "bp_point": "", "aic_metrics": "PipeUtilization"})
        self.assertNotIn("enable_dump", got)
        self.assertNotIn("op_debug_level", got)

    def test_environment(self):
        os.environ["PRECISION_TOOL_DUMP"] = "True"
        self.assertIn("enable_dump", self.op())
        self.assertNotIn("enable_dump", self.op("prof"))
        os.environ["PRECISION_TOOL_DUMP"] = "False"
        os.environ["PRECISION_TOOL_OVERFLOW"] = "True"
        self.assertEqual([k for k in self.op() if k.startswith("enable")], ["enable_dump_debug"])
        os.environ["PRECISION_TOOL_DUMP"] = "True"
        with self.assertRaisesRegex(ValueError, "exclude each other"):
            self.op()

    def test_refused(self):
        for action in ("dump|overflow", " overflow | prof | dump "):
            with self.assertRaisesRegex(ValueError, "exclude each other"):
                self.op(action)
            with self.assertRaisesRegex(ValueError, "exclude each other"):
                self.device(action)
            with self.assertRaisesRegex(ValueError, "exclude each other"):
                self.kit.estimator_dump_config(action)
        with self.assertRaisesRegex(ValueError, "unknown action dumps"):
            self.op("dumps")

    def test_limits(self):
        self.kit.DUMP_STEP, self.kit.DUMP_LAYER, self.kit.DUMP_DATA = "", "conv1 fc", "stats"
        got = self.op("dump")
        self.assertNotIn("dump_step", got)
        self.assertEqual((got["dump_layer"], got["dump_data"]), (b"conv1 fc", b"stats"))
        self.assertNotIn("dump_layer", self.op("overflow"))

    def test_run(self):
        self.assertEqual(self.op("dump", debug_id="debug_1")["dump_path"], self.text("npu", "debug_1", "dump"))
        self.assertTrue(os.path.isdir(path("npu", "debug_1", "graph")))
        os.environ["PRECISION_TOOL_DEBUG_ID"] = "debug_2"
        got = self.op("dump")
        self.assertEqual(got["debug_dir"], self.text("npu", "debug_2"))
        self.assertEqual(os.environ["DUMP_GRAPH_PATH"], path("npu", "debug_2", "graph"))
        for name in ("../x", "..", "a\\b"):
            with self.assertRaisesRegex(ValueError, "name of a run"):
                self.op("dump", debug_id=name)


class SessionConfig(KitTest):
    def test_new(self):
        config = self.quiet(self.kit.session_dump_config, action="dump")
        rewrite = config.graph_options.rewrite_options
        self.assertEqual(rewrite.remapping, 2)
        self.assertEqual([o.name for o in rewrite.custom_optimizers], ["NpuOptimizer"])
        got = rewrite.custom_optimizers[0].parameter_map.plain()
        self.assertIs(got["use_off_line"], True)
        self.assertEqual(got["dump_mode"], b"all")

    def test_own(self):
        config = self.kit._tensorflow().ConfigProto()
        optimizers = config.graph_options.rewrite_options.custom_optimizers
        optimizers.add().name = "Other"
        optimizers.add().name = "NpuOptimizer"
        optimizers[1].parameter_map["precision_mode"].s = b"allow_mix_precision"
        self.assertIs(self.quiet(self.kit.session_dump_config, config, "overflow"), config)
        self.assertEqual(len(optimizers), 2)
        got = optimizers[1].parameter_map.plain()
        self.assertEqual(got["precision_mode"], b"allow_mix_precision")
        self.assertEqual(got["dump_path"], self.text("overflow", "dump"))
        self.assertEqual(optimizers[0].parameter_map.plain(), {})


class Estimator(KitTest):
    def config(self, action=None):
        return self.quiet(self.kit.estimator_dump_config, action).__dict__

    def test_dump(self):
        got = self.config("dump")
        self.assertIs(got["enable_dump"], True)
        self.assertEqual((got["dump_path"], got["dump_mode"], got["dump_step"]), (path("npu", "debug_0", "dump"), "all", "0"))
        self.assertIs(got["enable_dump_debug"], False)

    def test_limits(self):
        self.kit.DUMP_STEP, self.kit.DUMP_LAYER, self.kit.DUMP_DATA = "", "conv1 fc", "stats"
        got = self.config("dump")
        self.assertEqual((got["dump_step"], got["dump_layer"], got["dump_data"]), (None, "conv1 fc", "stats"))

    def test_overflow(self):
        got = self.config("overflow")
        self.assertIs(got["enable_dump_debug"], True)
        self.assertIs(got["enable_dump"], False)
        self.assertEqual((got["dump_path"], got["dump_mode"], got["dump_debug_mode"]), (path("overflow", "dump"), "all", "all"))

    def test_nothing(self):
        got = self.config()
        self.assertFalse(got["enable_dump"] or got["enable_dump_debug"])

    def test_what_it_cannot(self):
        self.config("fusion_off")
        self.assertIn("FUSION_OFF_FILE", self.said)
        self.config("dump|fusion_switch")
        self.assertIn("FUSION_SWITCH_FILE", self.said)
        self.config("prof")
        self.assertIn("profiling_config", self.said)

    def test_early_package(self):
        import sys
        import npu_bridge.npu_init as init
        kept = sys.modules["npu_bridge.estimator.npu.npu_config"]
        sys.modules["npu_bridge.estimator.npu.npu_config"] = None
        try:
            self.assertIsInstance(self.quiet(self.kit.estimator_dump_config, "dump"), init.DumpConfig)
        finally:
            sys.modules["npu_bridge.estimator.npu.npu_config"] = kept


class Device(KitTest):
    def test_dump(self):
        self.assertEqual(self.device("dump"), {
            "dump_config.enable_dump": True, "dump_config.dump_path": path("npu", "debug_0", "dump"), "dump_config.dump_mode": "all",
            "dump_config.dump_step": "0", "op_debug_level": 4})

    def test_overflow(self):
        self.assertEqual(self.device("overflow"), {
            "dump_config.enable_dump_debug": True, "dump_config.dump_path": path("overflow", "dump"), "dump_config.dump_debug_mode": "all",
            "op_debug_level": 4})

    def test_rest(self):
        self.assertEqual(self.device(), {})
        self.assertEqual(self.device("fusion_off"), {"fusion_switch_file": self.kit.FUSION_OFF_FILE})
        self.assertEqual(self.device("fusion_switch"), {"fusion_switch_file": self.kit.FUSION_SWITCH_FILE})
        self.assertEqual(self.device("fusion_switch|fusion_off"), {"fusion_switch_file": self.kit.FUSION_OFF_FILE})
        got = self.device("prof", debug_id="debug_5")
        self.assertIs(got["profiling_config.enable_profiling"], True)
        self.assertEqual(json.loads(got["profiling_config.profiling_options"])["output"], path("npu", "debug_5", "prof"))

    def test_limits(self):
        self.kit.DUMP_STEP, self.kit.DUMP_LAYER, self.kit.DUMP_DATA = "", "fc", "stats"
        got = self.device("dump")
        self.assertNotIn("dump_config.dump_step", got)
        self.assertEqual((got["dump_config.dump_layer"], got["dump_config.dump_data"]), ("fc", "stats"))


class Callback(KitTest):
    def test_line(self):
        def var(v):
            return types.SimpleNamespace(numpy=lambda: v)
        callback = self.kit.loss_scale_callback(types.SimpleNamespace(loss_scale=var(1024.0), last_step_finite=var(True)))
        self.assertIsInstance(callback, tf.Callback)
        self.quiet(callback.on_train_batch_begin, 7)
        self.assertIn("step 7, loss scale 1024.000, last step finite: True", self.said)

    def test_other_optimizers(self):
        self.quiet(self.kit.loss_scale_callback(types.SimpleNamespace()).on_train_batch_begin, 1)
        self.assertIn("loss scale none, last step finite: unknown", self.said)
        self.quiet(self.kit.loss_scale_callback(types.SimpleNamespace(loss_scale=lambda: 2)).on_train_batch_begin, 1)
        self.assertIn("loss scale 2.000", self.said)

    def test_keras(self):
        """Keras 3 keeps the scale under another name, in the optimizer that it made of the user's."""
        scaled = types.SimpleNamespace(dynamic_scale=8.0, step_counter=0)
        callback = self.kit.loss_scale_callback(types.SimpleNamespace())
        callback.model = types.SimpleNamespace(optimizer=scaled)
        for scale, count, said in ((8.0, 0, "unknown"), (8.0, 1, "True"), (4.0, 0, "False"), (4.0, 0, "unknown"), (8.0, 0, "True")):
            scaled.dynamic_scale, scaled.step_counter = scale, count
            self.quiet(callback.on_train_batch_begin, 0)
            self.assertIn("loss scale %.3f, last step finite: %s\n" % (scale, said), self.said)


class Files(KitTest):
    def test_environment(self):
        self.op("dump")
        got = {k: os.environ.get(k) for k in ("DUMP_GE_GRAPH", "DUMP_GRAPH_LEVEL", "DUMP_GRAPH_PATH", "NPU_DUMP_GRAPH")}
        self.assertEqual(got, {"DUMP_GE_GRAPH": "2", "DUMP_GRAPH_LEVEL": "3", "DUMP_GRAPH_PATH": path("npu", "debug_0", "graph"),
                               "NPU_DUMP_GRAPH": "true"})

    def test_folders(self):
        calls = {"op": lambda: self.op(), "config": lambda: self.quiet(self.kit.session_dump_config),
                 "estimator": lambda: self.quiet(self.kit.estimator_dump_config), "device": lambda: self.device()}
        for name, call in calls.items():
            shutil.rmtree(ROOT)
            os.environ.pop("DUMP_GE_GRAPH", None)
            call()
            self.assertEqual(os.environ["DUMP_GE_GRAPH"], "2", name)
            for parts in ((), ("npu",), ("npu", "debug_0"), ("npu", "debug_0", "dump"), ("npu", "debug_0", "graph"),
                          ("npu", "debug_0", "prof"), ("overflow",), ("overflow", "dump")):
                self.assertEqual(stat.S_IMODE(os.stat(path(*parts)).st_mode), 0o700, (name, parts))

    def test_refused_action_makes_nothing(self):
        shutil.rmtree(ROOT)
        with self.assertRaises(ValueError):
            self.op("dump|overflow")
        self.assertFalse(os.path.exists(ROOT))

    def test_fusion_files(self):
        with open(self.kit.FUSION_OFF_FILE) as f:
            self.assertEqual(json.load(f), {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}})
        with open(self.kit.FUSION_SWITCH_FILE) as f:
            self.assertEqual(json.load(f), {"Switch": {"GraphFusion": {}, "UBFusion": {}}})
        edited = '{"Switch": {"GraphFusion": {"ALL": "off", "SoftmaxFusionPass": "on"}}}'
        for file in (self.kit.FUSION_OFF_FILE, self.kit.FUSION_SWITCH_FILE):
            with open(file, "w") as f:
                f.write(edited)
        self.op("fusion_switch")
        with open(self.kit.FUSION_SWITCH_FILE) as f:
            self.assertEqual(f.read(), edited)
        with open(self.kit.FUSION_OFF_FILE) as f:
            self.assertNotEqual(f.read(), edited)
        self.assertEqual(sorted(os.listdir(path("fusion"))), ["fusion_off.json", "fusion_switch.json"])

    def test_other_data_folder(self):
        other = ROOT + " of another"
        os.environ["PRECISION_TOOL_DATA"] = other
        self.kit, _ = load()
        try:
            self.assertEqual(self.op("dump")["dump_path"], os.path.join(other, "npu", "debug_0", "dump").encode("utf-8"))
        finally:
            shutil.rmtree(other)

    def test_folder_that_cannot_be_written(self):
        shutil.rmtree(ROOT)
        with open(ROOT, "w"):
            pass
        try:
            _, printed = load()
        finally:
            os.remove(ROOT)
        self.assertIn("PRECISION_TOOL_DATA", printed)


class Golden(KitTest):
    def wrapped(self, step="0"):
        self.kit.DUMP_STEP = step
        return self.quiet(self.kit.sess_dump, self.kit._tensorflow().Session())

    def recorded(self):
        return sorted(os.listdir(path("tf", "tf_debug")))

    def test_steps(self):
        for step, want in (("0", ["step_0", "step_0_graph_2"]), ("1|3-4", ["step_1", "step_3", "step_4"]), ("7", []),
                           ("", ["step_0", "step_0_graph_2"] + ["step_%d" % i for i in range(1, 5)])):
            shutil.rmtree(ROOT)
            wrapped = self.wrapped(step)
            self.assertEqual(wrapped.root, path("tf", "tf_debug"))
            for fetches in ("loss", ["loss", "train"], "loss", "loss", "loss", "loss"):  # "loss" five times
                self.assertEqual(self.quiet(wrapped.run, fetches), "result")
            self.assertEqual(self.recorded(), want, step)

    def test_variables_are_set(self):
        def op(type, inputs=()):
            return types_name_op(type, inputs)
        init = op("Assign")
        graph = types.SimpleNamespace(get_collection=lambda kind: [types.SimpleNamespace(initializer=init)] if "variables" in kind else [],
                                      as_graph_element=lambda f: f)
        train = op("NoOp", [op("AssignAdd")])
        runs = self.kit._Runs()
        self.assertFalse(runs.wanted(graph, op("NoOp", [init])))
        self.assertFalse(runs.wanted(graph, [op("NoOp", [op("NoOp", [init])])]))
        self.assertTrue(runs.wanted(graph, train))
        self.assertTrue(runs.wanted(graph, {"a": (train, op("NoOp", [init]))}))

    def test_second_session(self):
        sess = self.kit._tensorflow().Session()
        for _ in range(3):
            self.quiet(lambda: self.kit.sess_dump(sess).run("x"))
        self.assertIn("moved an earlier run", self.said)
        self.assertEqual(len(os.listdir(path("tf", "tf_debug"))), 1)
        self.assertEqual(len(os.listdir(path("tf"))), 3)

    def test_hook(self):
        self.kit.DUMP_STEP = "1"
        hook = self.kit.estimator_dump()
        sess = self.kit._tensorflow().Session()
        context = types.SimpleNamespace(session=sess, original_args=types.SimpleNamespace(fetches="train", feed_dict=None))
        self.assertEqual([self.quiet(hook.before_run, context) is None for _ in range(3)], [True, False, True])
        self.assertEqual(self.recorded(), ["step_1"])


class CheckpointSession(KitTest):
    def kinds(self):
        return [n["what"] if n["what"] != "run" else n["fetches"] for n in tf.NOTES]

    def test_run(self):
        del tf.NOTES[:]
        with self.kit.checkpoint_session() as sess:
            self.assertIsInstance(sess, self.kit._tensorflow().Session)
            self.assertEqual(sess.run("step", feed_dict={types_name("net/x:0"): [1.0, 2.0], "y:0": 3}), "result")
        self.assertEqual(self.kinds(), ["session", "step", "save", "save", "session closed"])
        self.assertEqual(sorted(os.listdir(path("tf", "checkpoints"))), ["ckpt.index", "ckpt.meta", "input"])
        self.assertEqual(sorted(os.listdir(path("tf", "checkpoints", "input"))), ["net_x_0.npy", "y_0.npy"])
        import numpy as np
        self.assertEqual(np.load(self.kit.input_file("net/x:0"), allow_pickle=False).values, [1.0, 2.0])

    def test_inputs_come_first(self):
        sess = self.kit.checkpoint_session()
        with self.assertRaisesRegex(ValueError, "the run failed"):
            sess.run("fail", {"x:0": 1})
        self.assertTrue(os.path.exists(path("tf", "checkpoints", "input", "x_0.npy")))
        self.assertFalse(os.path.exists(path("tf", "checkpoints", "ckpt.meta")))
        sess.run("step")  # and goes on recording
        self.assertTrue(os.path.exists(path("tf", "checkpoints", "ckpt.meta")))

    def test_what_cannot_be_kept(self):
        sess = self.kit.checkpoint_session()
        self.assertEqual(self.quiet(sess.run, "step", {("indices", "values"): 1, "x:0": 1}), "result")
        self.assertIn("was not kept", self.said)
        self.assertTrue(os.path.exists(path("tf", "checkpoints", "input", "x_0.npy")))

    def test_no_variables(self):
        sess = self.kit.checkpoint_session()
        sess.graph.variables = []
        self.assertEqual(self.quiet(sess.run, "step"), "result")
        self.assertIn("no checkpoint was kept of this run: No variables to save", self.said)
        self.quiet(sess.run, "step")
        self.assertEqual(self.said, "")


class types_name_op(object):
    def __init__(self, type, inputs=()):
        self.type, self.control_inputs, self.name = type, inputs, "%s_%d" % (type, id(self))


class types_name(object):
    def __init__(self, name):
        self.name = name


if __name__ == "__main__":
    unittest.main()
