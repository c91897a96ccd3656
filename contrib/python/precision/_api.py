"""The functions of the package. Each runs the program once and reads what it wrote."""
from __future__ import annotations

import os
import re
from typing import Any, List, Optional

from precision._program import Option, PrecisionError, Scratch, StrPath, arguments, path_of, run, why
from precision._result import AnyResult, CheckResult, Result, check_of, result_of

__all__ = ["assert_good", "check", "compare", "load", "read_dump", "version", "why"]


def compare(
    left: StrPath, right: StrPath, graph: Optional[StrPath] = None, *, out: Optional[StrPath] = None, timeout: Optional[float] = None, **options: Option
) -> Result:
    """Compares two sides: NPU dumps with golden arrays, two recordings, two sets of weights.

    graph is the GE graph of the left side, where there is one. out keeps the csv table in a folder. Every option of `precision compare`
    can be given by its name, with underscores for dashes: profile="strict.toml", check=True, left_time="2024…".
    """
    if options.pop("all", None):
        raise ValueError('a whole job has a result for each rank and step: precision.run("compare", "-all", …) writes them to a folder')
    given = {name: options.pop(name, None) for name in ("json", "events")}
    if given["events"]:
        raise ValueError("events are lines of the program's output: precision.run(…).stdout")
    with Scratch() as folder:
        path = os.path.join(folder, "result.json") if given["json"] is None else os.fspath(str(given["json"]))
        words: List[str] = ["compare", "-lt=" + path_of(left), "-rt=" + path_of(right), "-json=" + path]
        if graph is not None:
            words.append("-g=" + os.fspath(graph))
        words.append("-out=" + (folder if out is None else os.fspath(out)))
        return result_of(path, run(*words, *arguments(options), timeout=timeout, accept=(0, 2, 3)), folder)


def load(path: StrPath, **options: Option) -> Result:
    """Judges a saved result again: what `-json`, `-html` or `Result.save` wrote, or a result csv. Options are those of `precision report`."""
    with Scratch() as folder:
        to = os.path.join(folder, "result.json")
        return result_of(to, run("report", path_of(path), "-json=" + to, *arguments(options), accept=(0, 2, 3)), folder)


def check(
    path: StrPath, graph: Optional[StrPath] = None, golden: Optional[StrPath] = None, *, out: Optional[StrPath] = None, timeout: Optional[float] = None, **options: Option
) -> CheckResult:
    """Recomputes what was recorded from its own inputs; no golden data is needed. Options are those of `precision check`."""
    with Scratch() as folder:
        to = os.path.join(folder, "check.json")
        words: List[str] = ["check", "-lt=" + path_of(path), "-json=" + to]
        if graph is not None:
            words.append("-g=" + os.fspath(graph))
        if golden is not None:
            words.append("-rt=" + os.fspath(golden))
        words.append("-out=" + (folder if out is None else os.fspath(out)))
        return check_of(to, run(*words, *arguments(options), timeout=timeout, accept=(0, 2, 3)), folder)


def read_dump(path: StrPath, tensor: Optional[str] = None, *, layout: Optional[str] = None) -> Any:
    """A recorded tensor as a numpy array: of a device dump, .npy, .npz, .pt, .safetensors or any other file that the program reads.

    A file of several tensors needs the name of one: output.0 or input.1 of a dump, the key of an archive; without a name it is the only
    output. layout brings a device layout back to another one: "NCHW".
    """
    try:
        import numpy  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ImportError("read_dump needs numpy, which is not installed: pip install numpy") from error
    with Scratch() as folder:
        words = ["dc", path_of(path), "-o", folder]
        if layout is not None:
            words += ["-f", layout]
        run(*words)
        found = {}
        base = os.path.basename(os.fspath(path))
        for name in sorted(os.listdir(folder)):
            stem, ext = os.path.splitext(name)
            if ext == ".npy":
                key = stem[len(base) + 1 :] if stem.startswith(base + ".") else stem
                if layout is not None:  # then the shape stands behind the name
                    key = re.sub(r"\.\d+(x\d+)*$", "", key)
                found[key] = os.path.join(folder, name)
        if tensor is None:
            outputs = [name for name in found if not name.startswith("input.")]
            if len(outputs) != 1:
                raise PrecisionError("%s: holds %s: name one of them" % (os.fspath(path), ", ".join(found) or "no tensors"))
            tensor = outputs[0]
        elif tensor not in found:
            raise PrecisionError("%s: no tensor %s, found %s" % (os.fspath(path), tensor, ", ".join(found) or "none"))
        return numpy.load(found[tensor], allow_pickle=False)


def assert_good(result: AnyResult, *, strict: bool = False) -> None:
    """Raises AssertionError if the verdict is bad or inconclusive; with strict also if it is suspect. The message says where the error
    begins and what to do."""
    __tracebackhide__ = True
    if result.verdict == "good" or result.verdict == "suspect" and not strict:
        return
    lines = ["the verdict is %s" % result.verdict]
    if isinstance(result, Result):
        lines += ["error begins in %s%s (%s)" % (r.type + " " if r.type else "", r.op, ", ".join(c.kind for c in r.causes)) for r in result.roots[:3]]
    else:
        lines += ["wrong: %s output %d: %s" % (f.op, f.output, f.reason) for f in result.wrong[:3]]
    if result.summary:
        lines += ["", result.summary.rstrip()]
    if isinstance(result, Result) and result.roots:
        try:
            lines += ["", "What to do:", result.advise()]
        except (PrecisionError, OSError):
            lines += ["", 'What to do: look at it with result.why(%r), and at the page of result.html("report.html")' % result.roots[0].op]
    raise AssertionError("\n".join(lines))


def version() -> str:
    """What `precision version` says."""
    return run("version").stdout.strip()
