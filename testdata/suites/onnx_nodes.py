#!/usr/bin/env python3
"""ONNX's node tests as a recording of PyTorch's calls, and how much of it precision check judges.

    onnx_nodes.py -precision PROGRAM [-out DIR] [-list] [-every N] [-spoil SEED]

A test is a node, its inputs and its outputs as the standard says them; where a call of PyTorch says the same it is recorded with these
numbers, so that every wrong is a false alarm. Of models of several nodes each is one, with what ONNX's reference evaluates between
them. With -spoil one element of every output is changed, and what is not wrong is missed. Needs onnx.
"""
import argparse
import collections
import contextlib
import io
import sys
import warnings

import numpy as np
import onnx
import onnx.backend.test.case.node as nodes
from onnx.reference import ReferenceEvaluator

from recorded import Recording

warnings.filterwarnings("ignore")
options = argparse.ArgumentParser()
options.add_argument("-precision", required=True)
options.add_argument("-out")
options.add_argument("-list", action="store_true")
options.add_argument("-every", type=int, default=1, help="take every N-th test")
options.add_argument("-spoil", type=int, default=0)
options = options.parse_args()
np.random.seed(29)  # the tests draw their numbers from it


class Type(str):
    """A type of PyTorch, as msprobe records one."""
    __slots__ = ()

    def __str__(self):
        return "torch." + self[:]


class Other(Exception):
    """No call of PyTorch does this."""


def only(truth):
    if not truth:
        raise Other


def ints(v):
    return [int(i) for i in np.asarray(v).ravel()]


def symmetric(a, spatial):
    """The padding of a window, the same on both sides."""
    pads = a.get("pads", [0] * 2 * spatial)
    only(a.get("auto_pad", "NOTSET") in ("NOTSET", "VALID") and list(pads[:spatial]) == list(pads[spatial:]))
    return list(pads[:spatial])


def window(kind):
    def of(x, a, y):
        n = x[0].ndim - 2
        stride, padding, dilation = list(a.get("strides", [1] * n)), symmetric(a, n), list(a.get("dilations", [1] * n))
        if kind == "conv":
            return "Functional.conv%dd" % n, [x[0], x[1], x[2] if len(x) > 2 else None, stride, padding, dilation, int(a.get("group", 1))], {}, y
        if kind == "conv_transpose":
            only("output_shape" not in a)
            return "Functional.conv_transpose%dd" % n, [x[0], x[1], x[2] if len(x) > 2 else None, stride, padding, list(a.get("output_padding", [0] * n)), int(a.get("group", 1)), dilation], {}, y
        kernel = list(a["kernel_shape"])
        only(all(2 * p <= k for p, k in zip(padding, kernel)) and not a.get("storage_order"))
        if kind == "max_pool":
            return "Functional.max_pool%dd" % n, [x[0], kernel, stride, padding, dilation, bool(a.get("ceil_mode", 0))], {}, y[:1]
        only(set(dilation) == {1})
        return "Functional.avg_pool%dd" % n, [x[0], kernel, stride, padding, bool(a.get("ceil_mode", 0)), bool(a.get("count_include_pad", 0))], {}, y
    return of


def whole(name):
    return lambda x, a, y: ("Functional.adaptive_%s_pool%dd" % (name, x[0].ndim - 2), [x[0], [1] * (x[0].ndim - 2)], {}, y)


def same(name, *fixed, **attributes):
    """A call of the same inputs; attributes are parameters by the attribute's name, with the default of ONNX."""
    def of(x, a, y):
        return name, x + list(fixed), {k: a.get(was, d) for k, (was, d) in attributes.items()}, y
    return of


def pair(name):
    def of(x, a, y):
        only(len(x) == 2 and x[0].dtype == x[1].dtype)
        return name, x, {}, y
    return of


def division(x, a, y):
    return "Torch.div", x, {"rounding_mode": "trunc"} if x[0].dtype.kind in "iu" else {}, y


def modulus(x, a, y):
    return "Torch.fmod" if a.get("fmod") else "Torch.remainder", x, {}, y


def reduced(name, **more):
    def of(x, a, y):
        axes = ints(x[1]) if len(x) > 1 and x[1] is not None else list(a.get("axes", []))
        only(axes or not a.get("noop_with_empty_axes"))
        return name, [x[0]], dict(more, dim=axes or list(range(x[0].ndim)), keepdim=bool(a.get("keepdims", 1))), y
    return of


def extreme(name):
    def of(x, a, y):
        only(not a.get("select_last_index"))
        return name, [x[0], int(a.get("axis", 0)), bool(a.get("keepdims", 1))], {}, y
    return of


def cast(x, a, y):
    only(a.get("round_mode", "up") == "up" and y[0].dtype.kind != "U" and x[0].dtype.kind != "U")
    return "Tensor.to", [x[0], Type(y[0].dtype.name)], {}, y


def reshaped(x, a, y):
    return "Torch.reshape", [x[0], list(y[0].shape)], {}, y


def sliced(x, a, y):
    starts, ends = ints(x[1]), ints(x[2])
    axes = [i % x[0].ndim for i in (ints(x[3]) if len(x) > 3 and x[3] is not None else range(len(starts)))]
    steps = ints(x[4]) if len(x) > 4 and x[4] is not None else [1] * len(starts)
    only(min(steps) > 0)
    index = [slice(None)] * x[0].ndim
    for axis, s, e, step in zip(axes, starts, ends, steps):
        index[axis] = slice(s, min(e, 1 << 40), step)
    return "Tensor.__getitem__", [x[0], index], {}, y


def split(x, a, y):
    return "Torch.split", [x[0], [int(v.shape[a.get("axis", 0)]) for v in y], int(a.get("axis", 0))], {}, [list(y)]


def gathered(x, a, y):
    only(x[1].size and x[1].min() >= 0)
    if x[1].ndim == 1:
        return "Torch.index_select", [x[0], int(a.get("axis", 0)), x[1]], {}, y
    only(a.get("axis", 0) == 0 and x[0].ndim == 2)
    return "Functional.embedding", [x[1], x[0]], {}, y


def scattered(x, a, y):
    only(x[1].min() >= 0)
    how = a.get("reduction", "none")
    if how == "none":
        return "Torch.scatter", [x[0], int(a.get("axis", 0)), x[1], x[2]], {}, y
    return "Torch.scatter_reduce", [x[0], int(a.get("axis", 0)), x[1], x[2], {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}[how]], {}, y


def placed(x, a, y):
    only(a.get("reduction", "none") in ("none", "add"))
    return "Torch.index_put", [x[0], [np.ascontiguousarray(x[1][..., i]) for i in range(x[1].shape[-1])], x[2]], {"accumulate": a.get("reduction") == "add"}, y


def bordered(x, a, y):
    pads, n = ints(x[1]), x[0].ndim
    axes = [i % n for i in ints(x[3])] if len(x) > 3 and x[3] is not None else list(range(n))
    both = [(0, 0)] * n
    for i, axis in enumerate(axes):
        both[axis] = (pads[i], pads[i + len(axes)])
    mode = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}[a.get("mode", "constant")]
    while mode != "constant" and len(both) > 1 and both[0] == (0, 0):
        both = both[1:]
    value = [float(x[2].ravel()[0])] if len(x) > 2 and x[2] is not None and mode == "constant" else []
    return "Functional.pad", [x[0], [p for b in both[::-1] for p in b], mode] + value, {}, y


def trilu(x, a, y):
    return "Torch.triu" if a.get("upper", 1) else "Torch.tril", [x[0], int(x[1]) if len(x) > 1 else 0], {}, y


def gemm(x, a, y):
    only(len(x) == 3)
    m = [np.ascontiguousarray(v.T) if a.get(t) else v for v, t in zip(x, ("transA", "transB"))]
    return "Torch.addmm", [x[2]] + m, {"alpha": a.get("alpha", 1.0), "beta": a.get("beta", 1.0)}, y


def layer_norm(x, a, y):
    shape = list(x[0].shape[a.get("axis", -1):])
    only(list(x[1].shape) == shape and x[0].dtype == x[1].dtype)
    return "Torch.native_layer_norm", [x[0], shape, x[1], x[2] if len(x) > 2 else None, a.get("epsilon", 1e-5)], {}, y


def rms_norm(x, a, y):
    shape = list(x[0].shape[a.get("axis", -1):])
    only(list(x[1].shape) == shape)
    return "Functional.rms_norm", [x[0], shape, x[1], a.get("epsilon", 1e-5)], {}, y


def loss(name):
    def of(x, a, y):
        return name, [x[0], x[1].astype(np.int64)], {"weight": x[2] if len(x) > 2 else None, "ignore_index": int(a.get("ignore_index", -100)), "reduction": a.get("reduction", "mean")}, y[:1]
    return of


def attention(x, a, y):
    x = x + [None] * 6
    q, k, v, mask, result = x[0], x[1], x[2], x[3], y[0]
    only(not any(v is not None for v in x[4:]) and not a.get("softcap") and a.get("left_window_size", -1) == -1 and a.get("right_window_size", -1) == -1 and len(y) == 1)
    if q.ndim == 3:
        split = lambda v, n: np.ascontiguousarray(v.reshape(v.shape[0], v.shape[1], n, -1).swapaxes(1, 2))
        q, k, v = split(q, a["q_num_heads"]), split(k, a["kv_num_heads"]), split(v, a["kv_num_heads"])
        result = split(result, a["q_num_heads"])
    only(mask is None or not a.get("is_causal"))
    return "Functional.scaled_dot_product_attention", [q, k, v], {"attn_mask": mask, "is_causal": bool(a.get("is_causal", 0)), "scale": a.get("scale"), "enable_gqa": q.shape[1] != k.shape[1]}, [result]


def resized(x, a, y):
    n = x[0].ndim - 2
    mode, how = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
    only(n in (1, 2, 3) and y[0].shape[:2] == x[0].shape[:2] and "axes" not in a and not a.get("exclude_outside") and not a.get("antialias") and a.get("keep_aspect_ratio_policy", "stretch") == "stretch")
    if mode == "nearest":
        only((how, a.get("nearest_mode", "round_prefer_floor")) == ("asymmetric", "floor"))
        name = "nearest"
    else:
        only(how in ("half_pixel", "align_corners") and (mode == "linear" or n == 2 and a.get("cubic_coeff_a", -0.75) == -0.75))
        name = {"linear": ["linear", "bilinear", "trilinear"][n - 1], "cubic": "bicubic"}[mode]
    sizes = [int(v) for v in y[0].shape[2:]]
    if len(x) > 2 and x[2] is not None and x[2].size:
        only(all(s == int(s) for s in x[2] * x[0].shape))
    return "Functional.interpolate", [x[0]], {"size": sizes, "mode": name, "align_corners": None if mode == "nearest" else how == "align_corners"}, y


def unique(x, a, y):
    only("axis" not in a and a.get("sorted", 1) and len(y) == 4)
    return "Torch.unique", [x[0]], {"sorted": True, "return_inverse": True, "return_counts": True}, [y[0], y[2].reshape(x[0].shape), y[3]]


def powers(x, a, y):
    only(x[0].dtype == y[0].dtype and (x[0].dtype.kind == "f" or x[1].dtype.kind != "f"))
    return "Torch.pow", x, {}, y


def shifted(x, a, y):
    only(x[0].dtype.name == "uint8")
    return "Torch.bitwise_%s_shift" % a["direction"].lower(), x, {}, y


def shrunk(x, a, y):
    bias, lambd = a.get("bias", 0.0), a.get("lambd", 0.5)
    only(bias in (0, lambd))
    return "Functional.softshrink" if bias else "Functional.hardshrink", [x[0], lambd], {}, y


def normed(x, a, y):
    return "Functional.normalize", [x[0], float(a.get("p", 2)), int(a.get("axis", -1))], {}, y


def sampled(x, a, y):
    mode = {"linear": "bilinear", "bilinear": "bilinear", "cubic": "bicubic", "bicubic": "bicubic", "nearest": "nearest"}[a.get("mode", "linear")]
    return "Functional.grid_sample", x, {"mode": mode, "padding_mode": a.get("padding_mode", "zeros"), "align_corners": bool(a.get("align_corners", 0))}, y


def dropped(x, a, y):
    only(len(x) < 3 or x[2] is None or not bool(x[2]))
    return "Functional.dropout", [x[0], 0.5, False], {}, y[:1]


def kept(name, *named, then=()):
    """The first input with attributes by position, as (name, default) each."""
    return lambda x, a, y: (name, [x[0]] + [a.get(k, d) for k, d in named] + list(then), {}, y)


def given(truth, of):
    def checked(x, a, y):
        only(truth(x, a, y))
        return of(x, a, y)
    return checked


def softmax(name):
    return kept(name, ("axis", -1))


table = {n: same("Torch." + n.lower()) for n in "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Exp Erf Floor Log Neg Reciprocal Round Sigmoid Sign Sin Sinh Sqrt Tan Tanh IsNaN MatMul Relu".split()}
table.update({n: pair("Torch." + t) for n, t in {"Add": "add", "Sub": "sub", "Mul": "mul", "Sum": "add", "Max": "maximum", "Min": "minimum", "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "Equal": "eq",
              "Greater": "gt", "Less": "lt", "GreaterOrEqual": "ge", "LessOrEqual": "le", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor"}.items()})
table.update({"Reduce" + n: reduced("Torch." + t) for n, t in {"Sum": "sum", "Mean": "mean", "Max": "amax", "Min": "amin", "LogSumExp": "logsumexp"}.items()})
table.update({
    "ReduceL1": reduced("Torch.norm", p=1.0), "ReduceL2": reduced("Torch.norm", p=2.0), "Not": same("Torch.logical_not"), "BitwiseNot": same("Torch.bitwise_not"), "Where": same("Torch.where"), "Div": division, "Mod": modulus, "Pow": powers,
    "BitShift": shifted, "Identity": given(lambda x, a, y: isinstance(x[0], np.ndarray), same("Torch.clone")), "Cast": cast, "CastLike": lambda x, a, y: cast(x[:1], a, y), "Reshape": reshaped, "Flatten": reshaped, "Squeeze": reshaped, "Unsqueeze": reshaped,
    "Transpose": lambda x, a, y: ("Torch.permute", [x[0], list(a.get("perm", range(x[0].ndim)[::-1]))], {}, y), "Expand": lambda x, a, y: ("Tensor.expand", [x[0], list(y[0].shape)], {}, y),
    "Tile": lambda x, a, y: ("Torch.tile", [x[0], ints(x[1])], {}, y), "Concat": lambda x, a, y: ("Torch.cat", [x, int(a["axis"])], {}, y), "Split": split, "Slice": sliced, "Gather": gathered, "Pad": bordered, "Trilu": trilu, "Gemm": gemm,
    "GatherElements": given(lambda x, a, y: x[1].min() >= 0, lambda x, a, y: ("Torch.gather", [x[0], int(a.get("axis", 0)), x[1]], {}, y)), "ScatterElements": scattered, "Scatter": scattered, "ScatterND": placed,
    "TopK": lambda x, a, y: ("Torch.topk", [x[0], int(x[1].item()), int(a.get("axis", -1)), bool(a.get("largest", 1)), bool(a.get("sorted", 1))], {}, y), "ArgMax": extreme("Torch.argmax"), "ArgMin": extreme("Torch.argmin"),
    "CumSum": given(lambda x, a, y: not a.get("exclusive") and not a.get("reverse"), lambda x, a, y: ("Torch.cumsum", [x[0], int(x[1])], {}, y)),
    "CumProd": given(lambda x, a, y: not a.get("exclusive") and not a.get("reverse"), lambda x, a, y: ("Torch.cumprod", [x[0], int(x[1])], {}, y)),
    "Range": lambda x, a, y: ("Torch.arange", [v.item() for v in x], {}, y), "ConstantOfShape": lambda x, a, y: ("Torch.full", [list(y[0].shape), y[0].ravel()[0].item() if y[0].size else 0], {}, y),
    "NonZero": lambda x, a, y: ("Torch.nonzero", [x[0]], {"as_tuple": True}, [[np.ascontiguousarray(v) for v in y[0]]]), "Unique": unique, "Einsum": lambda x, a, y: ("Torch.einsum", [a["equation"]] + x, {}, y),
    "Clip": lambda x, a, y: ("Torch.clamp", [x[0]], {k: v for k, v in zip(("min", "max"), x[1:])}, y), "IsInf": given(lambda x, a, y: a.get("detect_negative", 1) and a.get("detect_positive", 1), same("Torch.isinf")),
    "Elu": kept("Functional.elu", ("alpha", 1.0)), "Celu": kept("Functional.celu", ("alpha", 1.0)), "Selu": given(lambda x, a, y: not a, same("Functional.selu")), "LeakyRelu": kept("Functional.leaky_relu", ("alpha", 0.01)),
    "ThresholdedRelu": kept("Functional.threshold", ("alpha", 1.0), then=[0.0]), "Softplus": given(lambda x, a, y: np.abs(x[0]).max() < 20, same("Functional.softplus")), "Softsign": same("Functional.softsign"), "HardSwish": same("Functional.hardswish"),
    "HardSigmoid": given(lambda x, a, y: abs(a.get("alpha", 0.2) - 1 / 6) < 1e-6 and a.get("beta", 0.5) == 0.5, kept("Functional.hardsigmoid")), "Mish": same("Functional.mish"), "Gelu": lambda x, a, y: ("Functional.gelu", [x[0]], {"approximate": a.get("approximate", "none")}, y),
    "Swish": given(lambda x, a, y: a.get("alpha", 1) == 1, kept("Functional.silu")), "Shrink": shrunk, "PRelu": given(lambda x, a, y: x[1].size == 1, lambda x, a, y: ("Functional.prelu", [x[0], x[1].ravel()], {}, y)),
    "Softmax": softmax("Functional.softmax"), "LogSoftmax": softmax("Functional.log_softmax"), "Conv": window("conv"), "ConvTranspose": window("conv_transpose"), "MaxPool": window("max_pool"), "AveragePool": window("avg_pool"),
    "GlobalAveragePool": whole("avg"), "GlobalMaxPool": whole("max"), "LayerNormalization": layer_norm, "RMSNormalization": rms_norm, "LpNormalization": normed, "Attention": attention, "Resize": resized, "GridSample": sampled, "Dropout": dropped,
    "BatchNormalization": given(lambda x, a, y: not a.get("training_mode"), lambda x, a, y: ("Functional.batch_norm", [x[0], x[3], x[4], x[1], x[2], False, 0.1, a.get("epsilon", 1e-5)], {}, y[:1])),
    "InstanceNormalization": lambda x, a, y: ("Functional.instance_norm", [x[0]], {"weight": x[1], "bias": x[2], "eps": a.get("epsilon", 1e-5)}, y), "GroupNormalization": lambda x, a, y: ("Functional.group_norm", [x[0], int(a["num_groups"]), x[1], x[2], a.get("epsilon", 1e-5)], {}, y),
    "LRN": lambda x, a, y: ("Functional.local_response_norm", [x[0], int(a["size"]), a.get("alpha", 1e-4), a.get("beta", 0.75), a.get("bias", 1.0)], {}, y), "SoftmaxCrossEntropyLoss": loss("Functional.cross_entropy"), "NegativeLogLikelihoodLoss": loss("Functional.nll_loss"),
    "DepthToSpace": given(lambda x, a, y: a.get("mode", "DCR") == "CRD", kept("Functional.pixel_shuffle", ("blocksize", 1))), "Det": same("Torch.det"), "ReduceProd": given(lambda x, a, y: len(x) > 1 and x[1] is not None and len(x[1]) == 1, lambda x, a, y: ("Torch.prod", [x[0], int(x[1][0]), bool(a.get("keepdims", 1))], {}, y)),
    "EyeLike": given(lambda x, a, y: not a.get("k"), lambda x, a, y: ("Torch.eye", [int(x[0].shape[0]), int(x[0].shape[1])], {}, y)), "MaxUnpool": given(lambda x, a, y: len(x) == 2, lambda x, a, y: ("Functional.max_unpool2d", [x[0], x[1], list(a["kernel_shape"]), list(a["strides"])], {}, y)),
})
recording, left_out, seen = Recording(options.out, options.spoil), collections.Counter(), collections.Counter()


def tensor(v):
    return v if v is None or isinstance(v, np.ndarray) else onnx.numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else np.asarray(v)


def record(node, inputs, outputs):
    seen["nodes"] += 1
    try:
        name, args, kwargs, results = table[node.op_type]([tensor(v) for v in inputs], {a.name: plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}, [tensor(v) for v in outputs])
        recording.call(name, args, kwargs, results)
    except KeyError:
        left_out["operators that are no call of PyTorch"] += 1
        missing[node.op_type] += 1
    except Other:
        left_out["attributes that the call has not"] += 1
    except (TypeError, ValueError, AttributeError, IndexError):
        left_out["types or shapes that the call has not"] += 1
        failed[node.op_type] += 1


def plain(v):
    return v.decode() if isinstance(v, bytes) else [plain(x) for x in v] if isinstance(v, (list, tuple)) else v


typed = {"AveragePool", "Resize"}  # some of whose results were typed in with four digits
missing, failed = collections.Counter(), collections.Counter()
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    tests = nodes.collect_testcases(None)
for test in tests[::options.every]:
    graph, (inputs, outputs) = test.model.graph, test.data_sets[0]
    seen["tests"] += 1
    values = dict(zip([i.name for i in graph.input], inputs))
    values.update((t.name, onnx.numpy_helper.to_array(t)) for t in graph.initializer)
    if len(graph.node) > 1 or graph.node[0].op_type in typed:
        try:
            values = ReferenceEvaluator(test.model).run(None, values, intermediate=True)
        except Exception:
            left_out["models that the reference does not evaluate"] += 1
            continue
    else:
        values.update(zip([o.name for o in graph.output], outputs))
    for node in graph.node:
        record(node, [values.get(n) if n else None for n in node.input], [values[n] for n in node.output if n in values])
print("%d tests with %d nodes, of which %d calls" % (seen["tests"], seen["nodes"], len(recording.calls)))
print("left out:", dict(left_out))
if options.list:
    print("  no call:", dict(missing.most_common()))
    print("  of other types or shapes:", dict(failed.most_common()))
sys.exit(recording.judged(options.precision, "ONNX", options.list))
