"""Finds where a network on Ascend NPUs goes wrong first, from Python.

The package runs the program precision, which it carries, and reads the JSON that it writes:

    import precision
    result = precision.compare("npu", "golden", graph="ge_proto_Build.txt")
    print(result.verdict, [root.op for root in result.roots])
    precision.assert_good(result)  # in a test
"""
from precision._api import assert_good, check, compare, load, read_dump, version, why
from precision._program import Completed, Option, PrecisionError, binary, run
from precision._result import Cause, CheckResult, Finding, Metric, Operator, Reason, Result, Root, Tensor

__all__ = [
    "Cause", "CheckResult", "Completed", "Finding", "Metric", "Operator", "Option", "PrecisionError", "Reason", "Result", "Root", "Tensor",
    "assert_good", "binary", "check", "compare", "load", "read_dump", "run", "version", "why",
]  # fmt: skip

try:
    from importlib.metadata import version as _version

    __version__ = _version("precision")
except Exception:  # run from the sources
    __version__ = "0"
