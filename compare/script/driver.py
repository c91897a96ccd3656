"""Runs the functions of user scripts for a program that talks JSON lines.

Called with the folder of the scripts. Every line on standard input is a
request and is answered by one line on what was standard output at the start.
Arrays are .npy files beside this file. What scripts print goes to standard
error, so that it cannot mix with the answers.
"""
import enum
import importlib
import inspect
import json
import numbers
import os
import sys
import traceback


def channel():
    """Takes standard input and output away from the scripts."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdin = open(os.devnull, encoding="utf-8")
    sys.stdout = sys.stderr
    return requests, answers


if __name__ == "__main__":  # not in processes that a script starts
    REQUESTS, ANSWERS = channel()
    sys.path.insert(1, sys.argv[1])

import numpy as np  # noqa: E402, after the channel is safe

HERE = os.path.dirname(os.path.abspath(__file__))


class ShapeType(str, enum.Enum):
    """What a tensor is. Members are equal to their names, too."""

    Scalar = "Scalar"
    Tensor = "Tensor"


class Arguments(dict):
    """The third argument of compare: values by attribute, by key or by get; get_dict gives all."""

    def get_dict(self):
        return dict(self)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def arguments(values):
    return Arguments(values, shape_type=ShapeType(values["shape_type"]))


FUNCTIONS = {}


def function(folder, prefix, name, called, count):
    """Loads a script once and returns its function."""
    key = folder + "." + prefix + name
    if key not in FUNCTIONS:
        module = importlib.import_module(key)
        f = getattr(module, called, None)
        if not callable(f):
            raise TypeError("there is no function %r" % called)
        try:
            signature = inspect.signature(f)
        except (TypeError, ValueError):
            signature = None  # not written in Python
        if signature is not None:
            try:
                signature.bind(*[None] * count)
            except TypeError:
                raise TypeError("%s%s does not take %d arguments" % (called, signature, count)) from None
        FUNCTIONS[key] = f
    return FUNCTIONS[key]


def compare_function(name):
    return function("algorithm", "alg_", name, "compare", 3)


def convert_function(name, target):
    return function("format_convert", "convert_", name, "convert", 4 if "FRACTAL_Z" in target else 3)


def cell(value):
    """The text of a result."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        return "%.6f" % float(value)
    raise TypeError("the result is of type %s, expected a text or a number" % type(value).__name__)


def messages(value):
    if value is None or isinstance(value, str):
        return [str(value)] if value else []
    if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
        return [str(v) for v in value if v]
    raise TypeError("the message is of type %s, expected a text" % type(value).__name__)


def load(name):
    return np.load(os.path.join(HERE, name), allow_pickle=False)


def do_compare(request):
    f = compare_function(request["name"])
    result = f(load(request["mine"]).reshape(-1), load(request["golden"]).reshape(-1), arguments(request["args"]))
    message = None
    if isinstance(result, (tuple, list)):
        if len(result) != 2:
            raise TypeError("%d values are returned, expected a result and a message" % len(result))
        result, message = result
    return {"text": cell(result), "messages": messages(message)}


def do_convert(request):
    f = convert_function(request["name"], request["target"])
    args = [list(request["from"]), list(request["to"]), load(request["array"]).reshape(-1)]
    if "FRACTAL_Z" in request["target"]:
        args.append(request["group"])
    result = f(*args)
    if not isinstance(result, np.ndarray):
        raise TypeError("a %s is returned, expected an array" % type(result).__name__)
    if result.dtype.kind not in "biufc":
        raise TypeError("an array of %s is returned, expected numbers" % result.dtype)
    result = np.array(result, dtype=result.dtype.newbyteorder("<"), order="C")
    np.save(os.path.join(HERE, request["result"]), result, allow_pickle=False)
    return {}


def do_load(request):
    if request["target"]:
        convert_function(request["name"], request["target"])
    else:
        compare_function(request["name"])
    return {}


def describe(error):
    try:
        text = str(error)
    except BaseException:
        text = ""
    if isinstance(error, SystemExit):
        return "the script ended itself with %s" % (text or "no status")
    return text or type(error).__name__


ACTIONS = {"load": do_load, "compare": do_compare, "convert": do_convert}


def main():
    for line in REQUESTS:
        request = json.loads(line)
        try:
            answer = ACTIONS[request["do"]](request)
        except BaseException as error:
            answer = {"error": describe(error)[:4000]}
        answer["id"] = request["id"]
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)  # threads of scripts do not keep the process
