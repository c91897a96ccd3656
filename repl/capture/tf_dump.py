# -*- coding: utf-8 -*-
"""Turns what TensorFlow's debugger recorded into golden arrays.

Each folder in tf/tf_debug of the data folder is a run; it is opened with the
off-line analyzer of the debugger, which lists its tensors and writes every one of
them as tf/dump/<operator>.<output>.<microseconds>.npy. If there are several runs,
each has a folder below tf/dump, named by its step where that is known. What the analyzer said is kept in
temp/tf_dump.log.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# This folder may be someone else's: a file in it must not stand for a library.
sys.path[:] = [p for p in sys.path if p and os.path.abspath(p) != HERE]

import queue  # noqa: E402
import subprocess  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

DATA_FOLDER = "@root@"
PROMPT_TIMEOUT = "@timeout@"  # seconds

ROOT = os.path.abspath(os.environ.get("PRECISION_TOOL_DATA") or DATA_FOLDER)
TF_DEBUG = os.path.join(ROOT, "tf", "tf_debug")
PROMPT = b"tfdbg> "
# These are relative to the data folder, where the analyzer runs: its command
# language has no way to write some characters that the path of the data folder
# may have. It has "/" on every system.
NAMES = "temp/tf_tensor_names.txt"
DUMP = "tf/dump"
LOG = "temp/tf_dump.log"
# The data folder, where it runs, must not stand in for a library.
ANALYZER = """import sys
sys.path[:] = [p for p in sys.path if p]
import runpy
runpy.run_module("tensorflow.python.debug.cli.offline_analyzer", run_name="__main__", alter_sys=True)
"""
# A name of more bytes is no file name on most systems.
LONGEST = 255


class Stopped(Exception):
    """The analyzer ended, or said nothing for too long."""


def parse_names(text):
    """The tensors of a list that the analyzer wrote, as (name, number): number
    is how often the name has come before."""
    seen, tensors = {}, []
    for line in text.splitlines()[3:]:
        words = line.split()
        if not words:
            continue
        number = seen.get(words[-1], 0)
        seen[words[-1]] = number + 1
        tensors.append((words[-1], number))
    return tensors


def file_name(tensor, microseconds):
    """The name of the golden array of a tensor: a/b:0 is a_b.0.<time>.npy"""
    return "%s.%d.npy" % (tensor.replace("/", "_").replace(":", "."), microseconds)


class Analyzer(object):
    """The off-line analyzer on the folder of a run."""

    def __init__(self, run, log):
        # Without a terminal the line editor must not send control sequences.
        env = dict(os.environ, TERM="dumb", PYTHONUNBUFFERED="1", PYTHONIOENCODING="utf-8")
        command = [sys.executable, "-c", ANALYZER, "--ui_type=readline", "--dump_dir=" + run]
        self.log = log
        self.process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pieces = queue.Queue()
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()

    def _read(self):
        while True:
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            self.pieces.put(piece)
            if not piece:
                return

    def wait(self):
        """Waits for the prompt."""
        tail, deadline = b"\n", time.time() + PROMPT_TIMEOUT
        while not tail.endswith(b"\n" + PROMPT):
            try:
                # Short, so that Ctrl-C comes through on every system.
                piece = self.pieces.get(timeout=0.2)
            except queue.Empty:
                if time.time() > deadline:
                    raise Stopped("there was no prompt within %s s" % PROMPT_TIMEOUT)
                continue
            if not piece:
                raise Stopped("the analyzer ended with status %s" % self.process.wait())
            self.log.write(piece)
            # Some systems write line breaks as two characters.
            tail = (tail + piece.replace(b"\r", b""))[-64:]

    def send(self, command):
        self.log.write(command.encode("utf-8") + b"\n")
        try:
            self.process.stdin.write(command.encode("utf-8") + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Stopped("the analyzer ended with status %s" % self.process.wait())

    def close(self):
        try:
            self.send("exit")
            self.process.wait(timeout=10)
        except (Stopped, subprocess.TimeoutExpired):
            pass
        finally:
            self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def say(text):
    text = "precision: " + text
    try:
        print(text, flush=True)
    except UnicodeError:
        print(text.encode("ascii", "backslashreplace").decode("ascii"), flush=True)


def folder_of(run):
    """Where the arrays of one of several runs go: step_5 is 5, as on the NPU."""
    name = os.path.basename(run)
    return DUMP + "/" + (name[len("step_"):] if name.startswith("step_") else name)


def convert(run, dump, log):
    """Writes the tensors of a run; returns how many, and those that failed."""
    names = os.path.join(ROOT, *NAMES.split("/"))
    if os.path.exists(names):
        os.remove(names)
    analyzer = Analyzer(run, log)
    try:
        analyzer.wait()
        analyzer.send("lt > " + NAMES)
        analyzer.wait()
        try:
            with open(names, encoding="utf-8") as f:
                tensors = parse_names(f.read())
        except OSError as e:
            raise Stopped("the analyzer wrote no list of tensors: %s" % e)
        failed, last, told = [], 0, time.time()
        for i, (tensor, number) in enumerate(tensors):
            last = max(last + 1, int(time.time() * 1e6))  # no two are the same
            name = file_name(tensor, last)
            if len(name.encode("utf-8")) > LONGEST:
                failed.append("%s: the name is too long for a file" % tensor)
                continue
            analyzer.send("pt %s -n %d -w %s/%s" % (tensor, number, dump, name))
            analyzer.wait()
            if not os.path.exists(os.path.join(ROOT, *(dump.split("/") + [name]))):
                failed.append("%s: the analyzer wrote no file" % tensor)
            if time.time() - told > 2:
                say("%s: %d of %d tensors" % (os.path.basename(run), i + 1, len(tensors)))
                told = time.time()
        analyzer.close()
        return len(tensors) - len(failed), failed
    finally:
        analyzer.kill()


def runs():
    """The folders of runs, in the order of their times."""
    try:
        names = sorted(os.listdir(TF_DEBUG))
    except OSError:
        return []
    return [p for p in (os.path.join(TF_DEBUG, n) for n in names) if os.path.isdir(p)]


def make(folder):
    """Makes a folder below the data folder, and those above it."""
    path = ROOT
    for part in folder.split("/"):
        path = os.path.join(path, part)
        if not os.path.isdir(path):
            os.mkdir(path, 0o700)


def main():
    found = runs()
    if not found:
        say("error: %s holds no runs; train with precision_capture.sess_dump or estimator_dump first" % TF_DEBUG)
        return 2
    make("temp")
    status = 0
    with open(os.path.join(ROOT, *LOG.split("/")), "wb", buffering=0) as log:
        for run in found:
            dump = DUMP if len(found) == 1 else folder_of(run)
            make(dump)
            try:
                done, failed = convert(run, dump, log)
            except Stopped as e:
                say("error: %s: %s; its words are in %s" % (run, e, os.path.join(ROOT, *LOG.split("/"))))
                status = 1
                continue
            for text in failed:
                say("warning: " + text)
            say("%s: %d tensors in %s" % (os.path.basename(run), done, os.path.join(ROOT, *dump.split("/"))))
            if done == 0:
                status = 1
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
