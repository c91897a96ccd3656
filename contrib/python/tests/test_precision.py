"""Tests of the package, with the sample network of the repository: python -m unittest, with the program in PRECISION_BINARY.

What needs numpy, pandas, pytest, mypy or nbclient skips without them.
"""
import dataclasses
import importlib.util
import json
import math
import os
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import precision

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "..", "..", "..", "testdata", "sample")
NPU, GOLDEN, GRAPH = (os.path.join(SAMPLE, name) for name in ("npu", "golden", "ge_proto_00000001_graph_1_Build.txt"))
CONV = os.path.join(NPU, "20260101120000", "0", "sample_net_1", "1", "0", "Conv2D.block2_conv.11.1.1630000000011000")


def needs(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, "without " + ", ".join(missing))


def content(path):
    if not os.path.exists(path):
        return ""
    with open(path) as f:
        return f.read().strip()


class Compare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = precision.compare(NPU, GOLDEN, GRAPH)

    def test_verdict(self):
        r = self.result
        self.assertEqual(r.verdict, "bad")
        self.assertEqual([(x.op, x.type, x.certainty, x.pattern, x.inherited) for x in r.roots], [("block2/conv", "Conv2D", "certain", "unwritten", 9)])
        self.assertEqual(r.roots[0].causes[0].kind, "cosine")
        self.assertLess(r.roots[0].causes[0].value, r.roots[0].causes[0].limit)
        self.assertEqual((r.coverage["compared"], r.coverage["expected"]), (20, 21))
        self.assertIn("channels 16 to 23 not written", r.summary)
        self.assertNotIn(tempfile.gettempdir(), r.summary)  # no file that is gone
        for value in (r.roots[0], r.operators[0], r.tensors[0]):
            self.assertTrue(dataclasses.is_dataclass(value))

    def test_same_as_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            precision.run("compare", NPU, GOLDEN, "-g", GRAPH, "-json", path, "-out", folder)
            with open(path, encoding="utf-8") as f:
                want = json.load(f)
        # The sum is over the time, too.
        want["table"]["meta"]["time"], want["crc32"] = self.result.json["table"]["meta"]["time"], self.result.json["crc32"]
        self.assertTrue(want == self.result.json)

    def test_tensors(self):
        r = self.result
        self.assertEqual(len(r.tensors), sum(len(o.inputs) + len(o.outputs) for o in r.operators))
        by_name = {t.name: t for t in r.tensors}
        conv = by_name["block2/conv:output:0"]
        self.assertEqual((conv.verdict, conv.shape, conv.left_dtype, conv.role, conv.slot), ("bad", (1, 24, 4, 4), "float16", "output", 0))
        self.assertAlmostEqual(conv.cosine, 0.8245082339894108)
        self.assertTrue(conv.left_file.endswith("Conv2D.block2_conv.11.1.1630000000011000"))
        missing = [t for t in r.tensors if not t.compared]
        self.assertTrue(all(m is None for t in missing for m in t.metrics.values()))
        self.assertEqual(r.operator("top").inherits, ("block2/conv",))
        with self.assertRaises(KeyError):
            r.operator("nothing")

    def test_options(self):
        with tempfile.TemporaryDirectory() as folder:
            r = precision.compare(NPU, GOLDEN, graph=GRAPH, out=folder, gate="strict", metrics=["CosineSimilarity", "MaxAbsoluteError"])
            self.assertEqual(r.status, 3)
            self.assertTrue([f for f in os.listdir(folder) if f.endswith(".csv")])
            self.assertEqual(set(r.tensors[1].metrics), {"CosineSimilarity", "MaxAbsoluteError"})

    def test_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            self.result.save(path)
            again = precision.load(path)
            self.assertEqual((again.verdict, again.roots, again.tensors), (self.result.verdict, self.result.roots, self.result.tensors))
            loose = precision.load(path, threshold=0.5)
            self.assertLess(loose.roots[0].causes[0].limit if loose.roots[0].causes[0].kind == "cosine" else 0, 0.98)

    def test_html(self):
        text = self.result._repr_html_()
        self.assertTrue(text.startswith("<iframe srcdoc="))
        self.assertIn("sandbox=", text)
        self.assertEqual(text.count("<"), 2)  # all of the page is quoted
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            self.assertTrue(self.result.html(page).startswith("<!doctype html>"))
            self.assertGreater(os.path.getsize(page), 10000)

    def test_errors(self):
        for call, words in (
            (lambda: precision.compare("nowhere", GOLDEN), "nowhere"),
            (lambda: precision.compare(NPU, GOLDEN, GRAPH, nonsense=1), "nonsense"),
            (lambda: precision.compare(NPU, GOLDEN, "no graph"), "no graph"),
            (lambda: precision.check("nowhere"), "nowhere"),
            (lambda: precision.why("nothing", NPU, GRAPH), "nothing"),
            (lambda: precision.load("nowhere"), "nowhere"),
        ):
            with self.assertRaises(precision.PrecisionError) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertNotEqual(caught.exception.status, 0)
        with self.assertRaises(TypeError):
            precision.compare(NPU, GOLDEN, GRAPH, max=object())
        with self.assertRaises(ValueError):
            precision.compare(NPU, GOLDEN, all=True)

    def test_assert_good(self):
        with self.assertRaises(AssertionError) as caught:
            precision.assert_good(self.result)
        for words in ("block2/conv", "the verdict is bad", "What to do", "multiple of 16"):
            self.assertIn(words, str(caught.exception))
        same = precision.compare(GOLDEN, GOLDEN)
        precision.assert_good(same)

    def test_check_and_why(self):
        c = precision.check(NPU, GRAPH)
        self.assertEqual(c.verdict, "bad")
        self.assertEqual([(f.op, f.verdict, f.pattern) for f in c.wrong], [("block2/conv", "wrong", "unwritten")])
        self.assertEqual(len(list(c)), 21)
        self.assertGreater(c.wrong[0].ratio, 1000)
        with self.assertRaises(AssertionError):
            precision.assert_good(c)
        self.assertIn("not written", precision.why("block2/conv", NPU, GRAPH))
        self.assertIn("not written", self.result.why("block2/conv"))

    @needs("pandas")
    def test_pandas(self):
        import pandas

        frame = self.result.to_pandas()
        self.assertEqual(len(frame), len(self.result.tensors))
        bad = frame[(frame.role == "output") & frame.root]
        self.assertEqual(list(bad.op), ["block2/conv"])
        self.assertEqual(str(frame.CosineSimilarity.dtype), "Float64")
        missing = frame[~frame.compared]
        self.assertTrue(missing.CosineSimilarity.isna().all())
        self.assertEqual(pandas.api.types.is_float_dtype(frame.CosineSimilarity), True)

    @needs("pandas", "numpy")
    def test_nan_is_not_missing(self):
        data = json.loads(json.dumps(self.result.json))
        out = next(t for o in data["operators"] for t in o["outputs"] if t["metrics"])
        out["metrics"]["CosineSimilarity"] = "NaN"
        del out["metrics"]["MaxAbsoluteError"]
        r = precision.Result(data)
        t = next(t for t in r.tensors if t.row == out["row"])
        self.assertTrue(math.isnan(t.cosine))
        self.assertIsNone(t.metrics["MaxAbsoluteError"])
        row = r.to_pandas().set_index("tensor").loc[t.name]
        import pandas

        self.assertIs(row.MaxAbsoluteError, pandas.NA)
        self.assertTrue(isinstance(row.CosineSimilarity, float) and math.isnan(row.CosineSimilarity))

    @unittest.skipIf(importlib.util.find_spec("pandas"), "with pandas")
    def test_pandas_is_missing(self):
        with self.assertRaisesRegex(ImportError, "pip install pandas"):
            self.result.to_pandas()


class ReadDump(unittest.TestCase):
    @needs("numpy")
    def test_dump(self):
        import numpy

        out = precision.read_dump(CONV)
        self.assertEqual((out.shape, str(out.dtype)), ((1, 2, 4, 4, 16), "float16"))
        nchw = precision.read_dump(CONV, "output.0", layout="NCHW")
        golden = precision.read_dump(os.path.join(GOLDEN, "block2_conv.0.1630000000000011.npy"))
        self.assertEqual(nchw.shape[2:], golden.shape[2:])
        error = numpy.abs(nchw[:, :16].astype("f8") - golden[:, :16])
        self.assertLess(error.max(), 0.02)
        self.assertEqual(numpy.abs(nchw[:, 16:24]).max(), 0)
        with self.assertRaisesRegex(precision.PrecisionError, "input.0"):
            precision.read_dump(CONV, "output.7")
        with self.assertRaises(precision.PrecisionError):
            precision.read_dump("nowhere")

    @needs("numpy")
    def test_archives(self):
        import numpy

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npz")
            numpy.savez(path, one=numpy.arange(6.0).reshape(2, 3), two=numpy.float16([1, 2]))
            self.assertEqual(precision.read_dump(path, "one").tolist(), [[0, 1, 2], [3, 4, 5]])
            self.assertEqual(str(precision.read_dump(path, "two").dtype), "float16")
            with self.assertRaisesRegex(precision.PrecisionError, "one, two"):
                precision.read_dump(path)
            other = os.path.join(folder, "b.npz")
            numpy.savez(other, one=numpy.arange(6.0).reshape(2, 3) * 1.5, two=numpy.float16([1, 2]))
            r = precision.compare(path, other)
            self.assertEqual((r.verdict, [x.op for x in r.roots]), ("bad", ["one"]))

    @unittest.skipIf(importlib.util.find_spec("numpy"), "with numpy")
    def test_numpy_is_missing(self):
        with self.assertRaisesRegex(ImportError, "pip install numpy"):
            precision.read_dump(CONV)


class Program(unittest.TestCase):
    def test_module(self):
        done = subprocess.run([sys.executable, "-m", "precision", "compare", "nowhere", "nowhere"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nowhere", done.stderr)
        done = subprocess.run([sys.executable, "-m", "precision", "version"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, precision.version()))

    def test_missing_program(self):
        code = "import precision\ntry:\n precision.compare('a', 'b')\nexcept precision.PrecisionError as e: print(e)"
        env = dict(os.environ, PRECISION_BINARY="/no/such/program")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        self.assertIn("/no/such/program", done.stdout)

    @unittest.skipIf(os.name == "nt", "signals of Unix")
    def test_interrupt(self):
        """Ctrl-C to Python alone, as from a notebook, ends the program, and is KeyboardInterrupt there."""
        with tempfile.TemporaryDirectory() as folder:
            for stubborn in (False, True):
                program, pid = os.path.join(folder, "program"), os.path.join(folder, "pid%d" % stubborn)
                with open(program, "w") as f:
                    f.write("#!/bin/sh\n%s\necho $$ > %s\nwhile :; do sleep 0.1; done\n" % ("trap '' INT" if stubborn else "", pid))
                os.chmod(program, os.stat(program).st_mode | stat.S_IXUSR)
                code = "import precision, precision._program as p\np._PATIENCE = 0.5\ntry:\n precision.compare('a', 'b')\nexcept KeyboardInterrupt:\n print('interrupted')"
                child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=dict(os.environ, PRECISION_BINARY=program), start_new_session=True)
                until = time.time() + 20
                while not content(pid) and time.time() < until:
                    time.sleep(0.05)
                child.send_signal(signal.SIGINT)
                out, _ = child.communicate(timeout=20)
                self.assertEqual(out.strip(), "interrupted")
                with self.assertRaises(ProcessLookupError):
                    os.kill(int(content(pid)), 0)

    def test_timeout(self):
        with self.assertRaises(precision.PrecisionError):
            precision.run("compare", NPU, GOLDEN, timeout=0.0001)


class Tools(unittest.TestCase):
    @needs("mypy")
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "use.py")
            with open(path, "w") as f:
                f.write(
                    textwrap.dedent(
                        """
                        import precision
                        r: precision.Result = precision.compare("a", "b", graph=None, check=True, left_time="1")
                        names: list[str] = [root.op for root in r.roots]
                        cosine: float | None = r.tensors[0].cosine
                        precision.assert_good(r, strict=True)
                        """
                    )
                )
            source = os.path.dirname(os.path.abspath(precision.__file__))
            for words in ([path], [source]):
                done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull] + words, capture_output=True, text=True, env=dict(os.environ, MYPYPATH=os.path.dirname(source)))
                self.assertEqual(done.returncode, 0, done.stdout)
            with open(path, "a") as f:
                f.write("wrong: int = r.verdict\n")
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, path], capture_output=True, text=True, env=dict(os.environ, MYPYPATH=os.path.dirname(source)))
            self.assertIn("Incompatible types", done.stdout)

    @needs("pytest")
    def test_pytest(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_network.py"), "w") as f:
                f.write("import precision\n\ndef test_network():\n    precision.assert_good(precision.compare(%r, %r, %r))\n" % (NPU, GOLDEN, GRAPH))
            done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder], capture_output=True, text=True, env=self.path())
            self.assertEqual(done.returncode, 1)
            self.assertIn("block2/conv", done.stdout)
            self.assertNotIn("__tracebackhide__", done.stdout)

    @needs("nbclient", "ipykernel")
    def test_notebook(self):
        import nbclient
        import nbformat

        cells = ["import precision\nr = precision.compare(%r, %r, %r)\nr" % (NPU, GOLDEN, GRAPH), "r.roots[0].op"]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        saved = dict(os.environ)
        os.environ.update(self.path())
        try:
            nbclient.NotebookClient(book, timeout=120).execute()
        finally:
            os.environ.clear()
            os.environ.update(saved)
        first, second = (c.outputs[0].data for c in book.cells)
        self.assertTrue(first["text/html"].startswith("<iframe srcdoc="))
        self.assertIn("bad", first["text/plain"])
        self.assertEqual(second["text/plain"], "'block2/conv'")

    @staticmethod
    def path():
        return dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(os.path.abspath(precision.__file__))))


if __name__ == "__main__":
    unittest.main()
