#!/usr/bin/env python3
"""PyTorch's own database of operators (OpInfo) as a recording, and how much of it precision check judges.

    opinfo.py -precision PROGRAM [-out DIR] [-types float32,bfloat16] [-samples 3] [-only add,mul] [-seed N]

The results are PyTorch's on a CPU, so that every wrong is a false alarm. Functions that are random, or that give no tensor, are left
out and counted apart; so are those of linalg, special and other libraries but where -only names them. Prints a line a direction, the false alarms, and with -list the functions without a verdict. Needs torch 2.
"""
import argparse
import collections
import re
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

from recorded import Recording

warnings.filterwarnings("ignore")
options = argparse.ArgumentParser()
options.add_argument("-precision")
options.add_argument("-out")
options.add_argument("-types", default="float32,bfloat16,int64")
options.add_argument("-samples", type=int, default=3)
options.add_argument("-every", type=int, default=1, help="take every N-th function")
options.add_argument("-seed", type=int, default=0)
options.add_argument("-spoil", type=int, default=0, help="the seed of changes to each result, which are to be found")
options.add_argument("-only", default="")
options.add_argument("-list", action="store_true")
options.add_argument("-cases", action="store_true", help="print the smallest sample of each function as a line of compare/oracle/testdata/functions.txt")
options = options.parse_args()
recording, left_out = Recording(options.out, options.spoil), collections.Counter()
random = re.compile(r"dropout|bernoulli|multinomial|normal|rand|exponential|cauchy|geometric|uniform|rrelu|gumbel|empty|resize_|fractional_max|svd_lowrank|pca_lowrank")


def tensors(v):
    return [v] if isinstance(v, torch.Tensor) else [t for x in v for t in tensors(x)] if isinstance(v, (list, tuple)) else []


def written(v):
    """A value as cases.txt has it."""
    if isinstance(v, torch.Tensor):
        if v.dtype not in (torch.float32, torch.int64, torch.int32, torch.int8, torch.bool):
            raise TypeError(v.dtype)
        numbers = ["%.9g" % x if v.dtype.is_floating_point else str(int(x)) for x in v.detach().flatten().tolist()]
        return "%s[%s]{%s}" % (str(v.dtype)[6:], ",".join(map(str, v.shape)), " ".join(numbers))
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(map(written, v)) + "]"
    if isinstance(v, str):
        return '"%s"' % v
    if isinstance(v, torch.dtype):
        return '"%s"' % v
    if v is None or isinstance(v, (bool, int, float)) and v == v and abs(v) != float("inf"):
        return repr(v)
    raise TypeError(type(v))


# What is not computed: arguments, functions of further arguments, and gradients.
unjudged = {"Torch.gradient": {"spacing", "edge_order"}, "Torch.unique": {"dim"}, "Torch.unique_consecutive": {"dim"}}
lone, ungraded = {"Torch.norm", "Torch.cdist"}, {"cholesky_solve", "cumprod", "native_group_norm", "index_reduce", "scatter_reduce", "logcumsumexp", "bilinear"}
x = torch.arange(24.).reshape(2, 4, 3) / 7
small = [("Torch.eye", (3, 4), {}), ("Torch.linspace", (0.5, 3.25, 7), {}), ("Torch.logspace", (-1.0, 2.0, 5), {"base": 2.0}), ("Torch.trace", (x[0, :3],), {}),
         ("Torch.channel_shuffle", (x[:, :, :, None], 2), {}), ("Torch.slice_scatter", (x, -x[:, 1:3]), {"dim": 1, "start": 1, "end": 3}),
         ("Torch.cdist", (x[0] * x[0], x[1], 2.0, "donot_use_mm_for_euclid_dist"), {}), ("Torch.gradient", (x[0] * x[0],), {"dim": 1}),
         ("Torch.isclose", (x[0], x[0] + (x[1] > 2.4) * 0.001), {}), ("Torch.isin", (x[0], x[0, 1]), {}), ("Torch.isposinf", (1 / x[0],), {}), ("Torch.isneginf", (-1 / x[0],), {}),
         ("Torch.unique", ((x[0] * 2).floor(),), {"return_counts": True}), ("Torch.unique_consecutive", ((x[0] * 2).floor(),), {}),
         ("Tensor.unfold", (x[0], 0, 2, 2), {}), ("Torch.bilinear", (x[0], x[1], torch.ones(2, 3, 3) + x[0, :3], x[0, 0, :2]), {})]
torch.manual_seed(options.seed)
g, v, w, image, kernel, gain = [torch.randn(s) for s in ((3, 8), (3, 8), (3, 8), (2, 4, 6, 6), (6, 2, 3, 3), (8,))]
unit, labels, cube, line = torch.sigmoid(w), torch.tensor([2, 0, 7]), torch.randn(1, 2, 4, 4, 4), torch.randn(2, 4, 6)
y, mean, rstd = torch.native_layer_norm(v, (8,), gain, gain, 1e-5)
_, means, roots = torch.native_group_norm(image, gain[:4], gain[:4], 2, 4, 36, 2, 1e-5)
most, where = torch.ops.aten.max_pool2d_with_indices(image, (2, 2))
sure, total = torch.ops.aten.nll_loss_forward(v, labels, gain, 1, -100)
convolved = torch.randn(2, 6, 3, 3)
geometry = ((2, 2), (1, 1), (1, 1), False, (0, 0), 2)
small += [("Aten." + name, args, kwargs) for name, args, kwargs in (
    ("sigmoid_backward", (g, unit), {}), ("tanh_backward", (g, unit), {}), ("silu_backward", (g, v), {}), ("gelu_backward", (g, v), {"approximate": "tanh"}), ("gelu_backward", (g, v), {}),
    ("elu_backward", (g, .7, 1., 1., False, v), {}), ("elu_backward", (g, .7, 1., 1., True, -.6 * unit), {}), ("leaky_relu_backward", (g, v, .1, False), {}), ("hardsigmoid_backward", (g, v * 3), {}),
    ("hardswish_backward", (g, v * 3), {}), ("hardtanh_backward", (g, v, -1, .5), {}), ("threshold_backward", (g, v, 0), {}), ("softplus_backward", (g, v, 1.5, 20), {}),
    ("log_sigmoid_backward", (g, v, (-v.abs()).exp()), {}), ("logit_backward", (g, unit, .2), {}), ("mish_backward", (g, v), {}), ("glu_backward", (g[:, :4], v, -1), {}),
    ("mse_loss_backward", (g[0, 0], v, w, 1), {}), ("smooth_l1_loss_backward", (g, v, w, 0, .5), {}), ("huber_loss_backward", (g[0, 0], v, w, 2, .5), {}),
    ("binary_cross_entropy_backward", (g, unit, torch.sigmoid(v), None, 0), {}), ("soft_margin_loss", (v, torch.sign(w)), {"reduction": 0}), ("soft_margin_loss_backward", (g[0, 0], v, torch.sign(w), 1), {}),
    ("nll_loss_backward", (g[0, 0], v, labels, gain, 1, -100, total), {}),
    ("_softmax_backward_data", (g, torch.softmax(v, 1), 1, torch.float32), {}), ("_log_softmax_backward_data", (g, torch.log_softmax(v, 1), 1, torch.float32), {}),
    ("embedding_dense_backward", (g, labels, 9, -1, False), {}), ("native_layer_norm_backward", (g, v, (8,), mean, rstd, gain, gain, [True, True, True]), {}),
    ("native_group_norm_backward", (image.flip(2), image, means, roots, gain[:4], 2, 4, 36, 2, [True, True, True]), {}),
    ("convolution", (image, kernel, gain[:6], *geometry), {}), ("convolution", (line, kernel[:4, :, 0], None, (2,), (1,), (1,), True, (1,), 1), {}),
    ("convolution_backward", (convolved, image, kernel, [6], *geometry, [True, True, True]), {}),
    ("avg_pool2d_backward", (most, image, (2, 2), (2, 2), (0, 0), False, True, None), {}), ("avg_pool3d_backward", (cube[..., :2, :2, :2], cube, (2, 2, 2), (2, 2, 2), (0, 0, 0), False, True, None), {}),
    ("max_pool2d_with_indices", (image, (2, 2)), {}), ("max_pool3d_with_indices", (cube, (2, 2, 2)), {}), ("max_pool2d_with_indices_backward", (most.flip(1), image, (2, 2), (2, 2), (0, 0), (1, 1), False, where), {}),
    ("_adaptive_avg_pool2d_backward", (most, image), {}), ("_adaptive_avg_pool3d_backward", (cube[..., :2, :2, :2], cube), {}),
    *[(how + "_pad%dd" % n, (t, (1, 2) * n), {}) for how in ("reflection", "replication") for n, t in ((1, line), (2, image[:1, :1]), (3, cube[:, :1]))],
    *[(how + "_pad%dd_backward" % n, (torch.nn.functional.pad(t, (1, 2) * n), t, (1, 2) * n), {}) for how in ("reflection", "replication") for n, t in ((1, line), (2, image[:1, :1]), (3, cube[:, :1]))],
    ("max_pool3d_with_indices_backward", (cube[..., :2, :2, :2], cube, (2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), False, torch.ops.aten.max_pool3d_with_indices(cube, (2, 2, 2))[1]), {}),
    ("_foreach_add", ([v, w], [w, g]), {"alpha": 2}), ("_foreach_mul", ([v, w], .3), {}), ("_foreach_div", ([v, w], [w, g]), {}), ("_foreach_maximum", ([v, w], [.5, -.5]), {}),
    ("_foreach_pow", ([unit], 2.5), {}), ("_foreach_sqrt", ([unit, unit[0]],), {}), ("_foreach_neg", ([v, w],), {}), ("_foreach_addcmul", ([v, w], [w, g], [g, v], .4), {}),
    ("_foreach_addcdiv", ([v, w], [w, g], [unit, unit], .4), {}), ("_foreach_lerp", ([v, w], [w, g], .3), {}),
    ("bitwise_left_shift", (torch.tensor([-9, 77, 3]), torch.tensor([1, 3, 20])), {}), ("lcm", (torch.tensor([-12, 77, 5]), torch.tensor([18, 121, 0])), {}),
    ("bitwise_right_shift", (torch.tensor([-9, 77, 1 << 30]), torch.tensor([1, 3, 20])), {}), ("gcd", (torch.tensor([-12, 77, 0, 7]), torch.tensor([18, 121, 5, 0])), {}),
    ("angle", (v,), {}), ("special_xlog1py", (v, unit), {}), ("_add_relu", (v, w), {"alpha": .5}), ("linalg_cross", (v[:, :3], w[:, :3]), {}), ("linalg_diagonal", (image[0, :, :, :4],), {"offset": 1}),
    ("_prelu_kernel", (v, gain), {}), ("_pdist_forward", (v, 2.), {}),
    ("im2col", (image[:1], (2, 2), (1, 1), (0, 0), (2, 2)), {}), ("col2im", (v[:, :4].reshape(1, 4, 3).repeat(1, 1, 3), (6, 6), (2, 2), (1, 1), (0, 0), (2, 2)), {}),
    ("unfold_backward", (torch.randn(3, 4, 2), [3, 8], 1, 2, 2), {}), ("slice_backward", (v[:, 1:7:2], [3, 8], 1, 1, 7, 2), {}), ("select_backward", (gain, [3, 8], 0, 1), {}),
    ("diagonal_backward", (gain[:3], [3, 8], 2, 0, 1), {}), ("upsample_nearest2d", (image[:1], (4, 9)), {}), ("upsample_bilinear2d", (image[:1], (4, 9), True), {}),
    ("upsample_bicubic2d", (image[:1], (4, 9), False), {}), ("adjoint", (image[0],), {}),
)]
small += [("Torch.frobenius_norm", (v, 1), {}), ("Torch.msort", (v,), {}), ("Torch.linalg.matmul", (v, w.T), {}), ("Functional.upsample_nearest", (image[:1],), {"scale_factor": 2}),
          ("Functional.upsample_bilinear", (image[:1],), {"scale_factor": 2})]

square, wide = torch.randn(2, 4, 4), torch.randn(2, 4, 3)
definite = square @ square.mT + torch.eye(4)
codes = torch.randint(-100, 100, (2, 3, 4), dtype=torch.int8)
bags, starts = torch.tensor([1, 0, 2, 2, 1]), torch.tensor([0, 3])
plan, places = torch.randn(1, 2, 3), torch.rand(1, 3, 3, 2) * 2 - 1
normed, mean_, root_ = torch.native_batch_norm(image, gain[:4], gain[4:], None, None, True, .1, 1e-5)
small += [("Torch." + name, args, kwargs) for name, args, kwargs in (
    ("lgamma", (v.abs() + .1,), {}), ("digamma", (v.abs() + .1,), {}), ("erfinv", (unit * 1.8 - .9,), {}), ("i0", (v * 4,), {}), ("nextafter", (v, w), {}),
    ("det", (square,), {}), ("logdet", (definite,), {}), ("slogdet", (square,), {}), ("inverse", (square,), {}), ("linalg.det", (square[0],), {}), ("linalg.inv_ex", (square,), {}),
    ("linalg.solve", (square, wide), {}), ("linalg.solve", (square[0], wide[0, :, 0]), {}), ("linalg.cholesky_ex", (definite,), {}),
    ("matrix_power", (square, 3), {}), ("linalg.multi_dot", ([v, w.T, v],), {}), ("chain_matmul", (v, w.T, v), {}), ("kron", (v[:2, :3], w[0, :2]), {}), ("vander", (v[0, :4],), {"N": 3}), ("linalg.vander", (v[:, :2],), {}),
    ("linalg.vecdot", (v, w), {}), ("linalg.norm", (v,), {}), ("linalg.norm", (v, 1), {}), ("linalg.norm", (v, "fro"), {}),
    ("linalg.matrix_norm", (square, -1), {"keepdim": True}), ("linalg.matrix_norm", (square,), {}), ("linalg.vector_norm", (v, 1), {"dim": 1}), ("linalg.solve_triangular", (square.triu(), wide), {"upper": True}),
    ("hann_window", (7,), {}), ("bartlett_window", (6, False), {}), ("blackman_window", (7,), {}), ("hamming_window", (7,), {"periodic": False}), ("kaiser_window", (7,), {}), ("tril_indices", (3, 4, 1), {}), ("triu_indices", (4, 3), {}),
    ("bincount", (labels,), {}), ("bincount", (labels, gain[:3]), {"minlength": 9}), ("embedding_bag", (v, bags, starts), {}), ("affine_grid_generator", (plan, [1, 1, 3, 4], False), {}))]
small += [("Functional." + name, args, kwargs) for name, args, kwargs in (
    ("embedding_bag", (bags, v, starts), {"mode": "max"}), ("embedding_bag", (bags[:4].reshape(2, 2), v), {}), ("affine_grid", (plan, [1, 1, 3, 4]), {"align_corners": True}),
    ("lp_pool1d", (line.abs(), 3., 2), {}), ("lp_pool2d", (image[:1], 2., 3), {"stride": 2, "ceil_mode": True}), ("lp_pool3d", (cube, 2., 2), {}), ("fold", (v.reshape(1, 8, 3)[:, :4], (2, 4), (2, 2)), {}))]
small += [("Aten." + name, args, kwargs) for name, args, kwargs in (
    ("special_i0e", (v * 4,), {}), ("linalg_cholesky_ex", (definite[0],), {"upper": True}), ("special_i1", (v * 4,), {}), ("special_i1e", (v * 4,), {}), ("special_erfcx", (v,), {}), ("special_log_ndtr", (v * 3,), {}), ("special_ndtri", (unit,), {}),
    ("_linalg_det", (square,), {}), ("native_dropout_backward", (g, v > 0, 2.), {}), ("scalar_tensor", (2.5,), {}), ("fft_fftshift", (v,), {}), ("fft_ifftshift", (line, [2]), {}),
    ("_addmm_activation", (gain, v, square[0].repeat(2, 2)), {"use_gelu": True}), ("_addmm_activation", (gain, v, square[0].repeat(2, 2)), {"beta": .5}), ("_cdist_forward", (v, w, 1., None), {}),
    ("_cdist_backward", (torch.randn(3, 3), v, w, 1., torch.cdist(v, w, 1.)), {}), ("_pdist_backward", (gain[:3], v, 2., torch.pdist(v)), {}), ("_foreach_copy", ([v, w], [w, g]), {}),
    ("_native_batch_norm_legit_no_training", (image[:1], gain[:4], gain[4:], means.new_tensor([.1, .2, .3, .4]), gain[:4].abs(), .1, 1e-5), {}), ("native_batch_norm_backward", (image.flip(2), image, gain[:4], None, None, mean_, root_, True, 1e-5, [True, True, True]), {}),
    ("nll_loss_forward", (v, labels, gain, 1, -100), {}), ("nll_loss2d_forward", (image[:, :, :2, :2], labels[:1].expand(2, 2, 2), None, 1, -100), {}), ("nll_loss2d_backward", (g[0, 0], image[:, :, :2, :2], labels[:1].expand(2, 2, 2), None, 1, -100, torch.tensor(8.)), {}),
    ("multilabel_margin_loss_forward", (v, torch.tensor([[1, 3] + [-1] * 6] * 3), 1), {}), ("grid_sampler_2d_backward", (torch.randn(1, 4, 3, 3), image[:1], places, 0, 0, False, [True, True]), {}),
    ("upsample_nearest2d_backward", (image[:1], (6, 6), (1, 4, 3, 2), None, None), {}), ("_int_mm", (codes[0], codes[1].T), {}), ("_prelu_kernel_backward", (g, v, gain), {}))]
signs = torch.sign(v[:, 0])
small += [("Aten." + name, args, {}) for name, args in (
    ("mse_loss", (v, w, 0)), ("l1_loss", (v, w, 2)), ("smooth_l1_loss", (v, w, 0, .5)), ("soft_margin_loss", (v, torch.sign(w), 1)), ("kl_div", (v, unit, 2)), ("nll_loss", (v, labels, gain, 0, -100)),
    ("binary_cross_entropy", (unit, torch.sigmoid(v), None, 0)), ("binary_cross_entropy_with_logits", (v, unit, gain.abs(), gain.abs(), 0)), ("hinge_embedding_loss", (v, torch.sign(w), .5, 0)),
    ("margin_ranking_loss", (v[:, 0], w[:, 0], signs, .5, 0)), ("cosine_embedding_loss", (v, w, signs, .1, 0)), ("multi_margin_loss", (v, labels, 2, .5, gain.abs(), 0)), ("multilabel_margin_loss", (v, torch.tensor([[1, 3] + [-1] * 6] * 3), 0)),
    ("poisson_nll_loss", (v, unit, True, False, 1e-8, 0)), ("triplet_margin_loss", (v, w, g, .5, 2., 1e-6, False, 0)), ("elu", (v, .7)), ("embedding", (v, bags)), ("constant_pad_nd", (v, (1, 2), .5)),
    ("dropout", (v, .5, False)), ("instance_norm", (image, gain[:4], gain[4:], None, None, True, .1, 1e-5, False)), ("max_unpool2d", (most, where, (6, 6))), ("unique_consecutive", ((v[0] * 2).floor(), True)))]
small += [("Functional.soft_margin_loss", (v, torch.sign(w)), {}), ("Torch.swapaxes", (image[0], 0, 2), {})]
heads = [torch.randn(1, 2, n, 4) for n in (3, 5, 5)]
for name, further in (("flash", ()), ("efficient", (None, False))):  # which run on devices alone
    small.append(("Aten._scaled_dot_product_%s_attention" % name, (*heads, *further), {}, torch.nn.functional.scaled_dot_product_attention(*heads)))
# How many results are computed where there are more.
firsts = {"Torch.embedding_bag": 1, "Aten._linalg_det": 1, "Aten._native_batch_norm_legit_no_training": 1, "Aten.multilabel_margin_loss_forward": 1, "Aten._prelu_kernel_backward": 1, "Aten.unique_consecutive": 2}


def case(op, name, samples):
    """The line of the smallest sample that is no single number and has no equal ones, with gradients where there are some."""
    best = None
    for s in samples:
        try:
            args = [s.input] + list(s.args)
            y = op(s.input, *s.args, **s.kwargs)
            results = tensors(y)
            line = "%s(%s) = %s" % (name, ", ".join([written(a) for a in args] + ["%s=%s" % (k, written(v)) for k, v in s.kwargs.items()]), ", ".join(map(written, results)))
            inputs, float_results = [t for t in tensors(args) if t.requires_grad], [t for t in results if t.requires_grad]
            numbers = torch.cat([t.detach().double().flatten() for t in tensors(args)])
            if not results[0].any() or s.kwargs.keys() & unjudged.get(name, set()) or "nuc" in args or len(args) > 1 and name in lone:
                continue
            if any(t.numel() == 0 for t in tensors(args) + results) or numbers.numel() < 2 or sum(t.numel() for t in results) < 2 and "loss" not in name and "dist" not in name or len(line) > 6000:
                continue
            if inputs and float_results and name.split(".")[1] not in ungraded:
                g = [torch.randn_like(t) for t in float_results]
                line += " : %s = %s" % (", ".join(map(written, g)), ", ".join(map(written, torch.autograd.grad(float_results, inputs, g, allow_unused=True))))
            if best is None or len(line) < len(best):
                best = line
        except Exception:
            pass
    if best:
        print(best)


def record(op, sample, kind):
    name = kind + "." + op.name.split(".")[-1] if op.name.startswith("nn.functional.") else "Torch." + op.name.replace(".", "_")
    if op.op is None or not hasattr(torch, op.name) and kind == "Torch" and hasattr(torch.Tensor, op.name):
        name = "Tensor." + op.name
    args = [sample.input] + list(sample.args)
    y = op(sample.input, *sample.args, **sample.kwargs)
    results = tensors(y)
    if not results:
        raise TypeError("no tensor")
    key = recording.call(name, args, sample.kwargs, y if isinstance(y, (list, tuple)) else [y])
    inputs = [t for t in tensors(args) if t.requires_grad]
    float_results = [t for t in results if t.requires_grad]
    if inputs and float_results:
        g = [torch.randn_like(t) for t in float_results]
        recording.backward(key, g, list(torch.autograd.grad(float_results, inputs, g, allow_unused=True)))


torch.manual_seed(options.seed)
for op in op_db[::options.every]:
    if options.only and op.name not in options.only.split(","):
        continue
    if getattr(op.op, "__name__", "") == "<lambda>":
        left_out["another order of arguments than the function's"] += 1
        continue
    if random.search(op.name) or not options.only and op.name.startswith(("fft.", "sparse.", "linalg.", "special.", "signal.", "jiterator", "_native_batch", "masked.")):
        left_out["random, complex, sparse or of another library"] += 1
        continue
    for text in options.types.split(","):
        dtype = getattr(torch, text)
        if dtype not in op.supported_dtypes("cpu"):
            continue
        grad = dtype.is_floating_point and op.supports_autograd
        try:
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=grad))
        except Exception as e:
            left_out["no samples"] += 1
            continue
        if options.cases:
            kind = "Functional." + op.name[14:] if op.name.startswith("nn.functional.") else "Torch." + op.name
            case(op, kind, samples)
            break
        step = max(len(samples) // options.samples, 1)
        for s in samples[::step][:options.samples]:
            try:
                record(op, s, "Functional" if op.name.startswith("nn.functional.") else "Torch")
            except Exception as e:
                left_out[type(e).__name__] += 1
if options.cases:
    for name, args, kwargs, *known in small:
        f = {"Torch": torch, "Tensor": torch.Tensor, "Aten": torch.ops.aten, "Functional": torch.nn.functional}[name.split(".")[0]]
        for part in name.split(".")[1:]:
            f = getattr(f, part)
        y = known[0] if known else f(*args, **kwargs)
        if name in firsts:
            y = [*y[:firsts[name]], *[None] * (len(y) - firsts[name])]
        print("%s(%s) = %s" % (name, ", ".join([written(a) for a in args] + ["%s=%s" % (k, written(v)) for k, v in kwargs.items()]), ", ".join(map(written, y if isinstance(y, (list, tuple)) else [y]))))
    sys.exit()
print("left out:", dict(left_out))
sys.exit(recording.judged(options.precision, "OpInfo", options.list))
