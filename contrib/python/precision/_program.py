"""Finds the program precision and runs it."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import List, Optional, Sequence, Union

__all__ = ["Completed", "PrecisionError", "Option", "StrPath", "binary", "run"]

StrPath = Union[str, "os.PathLike[str]"]
#: What an option takes: True is an option without a value, None and False leave it out, a sequence is joined with commas.
Option = Union[None, bool, int, float, StrPath, Sequence[Union[str, int, float]]]


class PrecisionError(RuntimeError):
    """The program ended with an error; the text is what it said."""

    def __init__(self, message: str, status: int = 1, command: Sequence[str] = ()) -> None:
        super().__init__(message)
        #: Exit status of the program.
        self.status = status
        #: The command line.
        self.command: List[str] = list(command)


@dataclass(frozen=True)
class Completed:
    """A run of the program that has ended."""

    command: List[str]
    status: int
    stdout: str
    stderr: str


def binary() -> str:
    """The path of the program: that of $PRECISION_BINARY, that of this package, or one on PATH."""
    name = "precision.exe" if os.name == "nt" else "precision"
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    given = os.environ.get("PRECISION_BINARY")
    if given:
        if not os.path.isfile(given):
            raise PrecisionError("PRECISION_BINARY: %s is no file" % given)
        return given
    if os.path.isfile(own):
        return own
    found = shutil.which("precision")
    # The command that an installation of this package puts on PATH is no program of its own.
    if found is None or _is_script(found):
        raise PrecisionError("the program precision is neither in this package nor on PATH; install a wheel for this platform, or name it in PRECISION_BINARY")
    return found


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as f:
            return f.read(2) == b"#!"
    except OSError:
        return False


def arguments(options: "dict[str, Option]") -> List[str]:
    """Options of Python as words: left_time="…" is -left-time …"""
    words: List[str] = []
    for name, value in options.items():
        flag = "-" + name.strip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (str, int, float)):
            words.append("%s=%s" % (flag, value))
        elif isinstance(value, os.PathLike):
            words.append("%s=%s" % (flag, os.fspath(value)))
        elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
            words.append("%s=%s" % (flag, ",".join(str(v) for v in value)))
        else:
            raise TypeError("%s: expected a text, a number, True, a path or a list of these, found %s" % (name, type(value).__name__))
    return words


def run(*words: StrPath, timeout: Optional[float] = None, accept: Sequence[int] = (0,)) -> Completed:
    """Runs `precision WORDS…` and waits for it. An exit status that is not in accept raises PrecisionError with what the program said.

    When waiting is interrupted (Ctrl-C, a notebook's stop button, timeout) the program is stopped, too.
    """
    command = [binary()] + [os.fspath(w) for w in words]
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, creationflags=flags)
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        stop(child)
        raise PrecisionError("precision %s: not done after %g seconds" % (command[1] if len(command) > 1 else "", timeout or 0), 130, command) from None
    except BaseException:
        stop(child)
        raise
    done = Completed(command, child.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
    if done.status not in accept:
        raise PrecisionError(_message(done), done.status, command)
    return done


class Scratch:
    """A folder that is gone afterwards."""

    def __enter__(self) -> str:
        self._path = tempfile.mkdtemp(prefix="precision-")
        return self._path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._path, ignore_errors=True)


def path_of(value: StrPath) -> str:
    text = os.fspath(value)
    # A path that begins with a dash is no option.
    return os.path.join(os.curdir, text) if text.startswith("-") else text


def why(operator: str, path: StrPath, graph: Optional[StrPath] = None, golden: Optional[StrPath] = None, *, timeout: Optional[float] = None, **options: Option) -> str:
    """How the outputs of an operator or call are wrong, in words: it is recomputed from its recorded inputs."""
    words: List[str] = ["why", operator, "-lt=" + path_of(path)]
    if graph is not None:
        words.append("-g=" + os.fspath(graph))
    if golden is not None:
        words.append("-rt=" + os.fspath(golden))
    return run(*words, *arguments(options), timeout=timeout).stdout.rstrip("\n")


#: How long a program that was told to stop may take for it: it removes what it has half written.
_PATIENCE = 10.0


def stop(child: "subprocess.Popen[bytes]") -> None:
    """Ends a child as Ctrl-C would, and kills it where it does not end."""
    if child.poll() is None:
        if os.name == "nt":
            child.terminate()
        else:
            child.send_signal(signal.SIGINT)
        try:
            child.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()


def _message(done: Completed) -> str:
    """What the program said of its error, without its own name in front, else all it said."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    for at, line in enumerate(lines):
        if line.startswith("precision"):
            head, colon, rest = line.partition(": ")
            if colon and len(head.split()) <= 3:
                return "\n".join([rest] + lines[at + 1 :])
    frame = str.maketrans("", "", "╭╮╰╯│─")
    said = lines or [line.translate(frame).strip() for line in done.stdout.splitlines()]
    text = "\n".join(line for line in said if line)
    return text or "precision ended with status %d" % done.status


def warnings_of(done: Completed) -> List[str]:
    """The warnings in what the program said beside its results."""
    found: List[str] = []
    for line in done.stderr.splitlines():
        if line.strip() and not line.startswith("precision "):
            for mark in ("warning: ", "警告："):
                if line.startswith(mark):
                    line = line[len(mark) :]
            found.append(line)
    return found


def main() -> int:
    """Runs the program in place of Python, with the words of the command line."""
    try:
        path = binary()
    except PrecisionError as error:
        print("precision: %s" % error, file=sys.stderr)
        return 1
    command = [path] + sys.argv[1:]
    if os.name != "nt":
        os.execv(path, command)
    child = subprocess.Popen(command)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            pass  # the console told the child as well, and it says what became of it
