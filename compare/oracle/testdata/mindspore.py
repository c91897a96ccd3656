"""mindspore.py OUT: records the calls of a small network of MindSpore with msprobe; needs mindspore and mindstudio-probe.

    python mindspore.py /tmp/m && tar -C /tmp/m -czf mindspore.tar.gz step0
    python mindspore.py /tmp/k kernels && tar -C /tmp/k -czf kernels.tar.gz rank_0/Net

The second is a step of training as MindSpore dumps it itself, kernel by kernel; of its parameters and the updates
of its weights the first two are enough.
"""
import json
import os
import sys

sys.path.pop(0)  # this file is called like the package
OUT, KERNELS = os.path.abspath(sys.argv[1]), "kernels" in sys.argv
if KERNELS:  # MindSpore reads this when it is loaded
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, "config.json"), "w") as f:
        json.dump({"common_dump_settings": {"op_debug_mode": 0, "dump_mode": 0, "path": OUT, "net_name": "Net", "iteration": "all", "saved_data": "tensor",
                                            "input_output": 0, "kernels": [], "support_device": [0]}, "e2e_dump_settings": {"enable": True, "trans_flag": True}}, f)
    os.environ["MINDSPORE_DUMP_CONFIG"] = os.path.join(OUT, "config.json")
import mindspore as ms
import msprobe.core.dump.data_dump.data_processor.mindspore_processor as processor
import numpy as np
from mindspore import Tensor, mint, nn, ops
from msprobe.mindspore import PrecisionDebugger


def statistics(self, data):
    """The kernels of msprobe's statistics do not exist on a CPU."""
    s, a = processor.TensorStatInfo(), data.asnumpy()
    if a.dtype == bool:
        s.max, s.min = a.max().item(), a.min().item()
    elif a.size:
        a = a.astype(np.float32)
        s.max, s.min, s.mean, s.norm = (Tensor(np.float32(v)) for v in (a.max(), a.min(), a.mean(), np.linalg.norm(a.reshape(-1))))
    return s


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed, self.conv, self.bn = nn.Embedding(9, 4), nn.Conv2d(1, 2, 3, pad_mode="pad", padding=1, has_bias=True), nn.BatchNorm2d(2)
        self.act, self.pool, self.flat = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc, self.norm, self.head = nn.Dense(8, 6), nn.LayerNorm((6,)), nn.Dense(6, 5, has_bias=False)

    def construct(self, ids):
        x = ops.expand_dims(self.embed(ids), 1)
        x = self.flat(self.pool(self.act(self.bn(self.conv(x)))))
        x = self.norm(self.fc(x))
        x = ops.mul(ops.gelu(x), 0.5) + ops.sigmoid(x)
        y = ops.matmul(ops.transpose(x, (1, 0)), ops.softmax(x, -1))
        return self.head(ops.matmul(x, y))


class Steps(nn.Cell):
    """What Net has not: parts of tensors, views, choices, and a loop."""
    def __init__(self):
        super().__init__()
        self.net, self.gates = Net(), nn.Dense(5, 16)

    def construct(self, ids):
        a, b, c, d = ops.chunk(self.gates(self.net(ids)), 4, -1)
        x = ops.stack((ops.sigmoid(a) * ops.tanh(b), ops.rsqrt(ops.square(c) + 1), ops.relu(d)), 1)
        top, _ = ops.topk(x, 2)
        return mint.matmul(x[:, 1:], mint.transpose(x, 1, 2))[:, 0] + top.sum(-1) + ops.concat((c[:, 1:], a[:, :1]), 1)[:, :3]


def kernels():
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU", jit_level="O0")
    rng, net = np.random.default_rng(3), Steps()
    for p in net.trainable_params():
        p.set_data(Tensor((rng.standard_normal(p.shape) * 0.4 + (p.ndim == 1)).astype(np.float32)))
    net.set_train()

    def forward(ids, labels):
        return ops.cross_entropy(net(ids), labels)
    adam, step = nn.Adam(net.trainable_params(), 0.01), ms.value_and_grad(forward, None, net.trainable_params())

    class Train(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net, self.adam = net, adam

        def construct(self, i, l):
            loss, grads = step(i, l)
            self.adam(grads)
            return loss
    Train()(Tensor(rng.integers(0, 9, (3, 4)).astype(np.int32)), Tensor(rng.integers(0, 3, 3).astype(np.int32))).asnumpy()


def single(rng):
    """Functions whose parameters or defaults are not those of PyTorch's, and some that nobody wrote down."""
    def f(*shape):
        return Tensor(rng.standard_normal(shape).astype(np.float32))

    def share(*shape):
        return Tensor((rng.random(shape) * 0.8 + 0.1).astype(np.float32))
    a, b, x, w = f(3, 4), f(3, 4), f(1, 2, 5, 5), f(3, 2, 3, 3)
    for y in (ops.conv2d(x, w), ops.conv2d(x, w, f(3), 2, "pad", 1), ops.conv2d(x, w, pad_mode="same"), ops.var(a, 1), ops.std(a, 1), a.var(-1), ops.norm(a, 1, 1), a.norm(), ops.pad(a, (1, 2)),
              ops.one_hot(Tensor([2, 0, 1]), 4), ops.smooth_l1_loss(a, b), *ops.meshgrid(f(2), f(3)), ops.repeat_interleave(a, 2, 1), ops.log_softmax(a), ops.div(a, b, rounding_mode="floor"),
              ops.cosine_similarity(a, b), ops.binary_cross_entropy_with_logits(a, share(3, 4), share(3, 4), share(3, 4)), ops.tensor_dot(a, b, ((1,), (1,))), ops.fmod(a, 0.7), ops.bias_add(a, f(4)),
              ops.arange(0, 7, 2), ops.relu6(a), *ops.cummax(a, 1), ops.floor_div(a, 0.7), *ops.unstack(a, 1), ops.atan2(a, b), ops.interpolate(x, size=(7, 7), mode="bicubic")):
        y.asnumpy()


def main(out):
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    processor.MindsporeDataProcessor.get_stat_info = statistics
    rng, net = np.random.default_rng(3), Net()
    for p in net.get_parameters():
        if "moving" not in p.name:
            p.set_data(Tensor((rng.standard_normal(p.shape) * 0.4 + (p.ndim == 1)).astype(np.float32)))
    net.set_train()
    ids, labels = Tensor(rng.integers(0, 9, (3, 4)).astype(np.int32)), Tensor(rng.integers(0, 5, 3).astype(np.int32))
    config = os.path.join(out, "config.json")
    os.makedirs(out, exist_ok=True)
    with open(config, "w") as f:
        json.dump({"task": "tensor", "dump_path": out, "rank": [], "step": [], "level": "mix", "tensor": {"scope": [], "list": [], "data_mode": ["all"]}}, f)
    step = ms.value_and_grad(lambda i, l: ops.cross_entropy(net(i), l), None, net.trainable_params())
    debugger = PrecisionDebugger(config_path=config)
    debugger.start(net)
    step(ids, labels)[0].asnumpy()
    single(rng)
    debugger.stop()
    debugger.step()
    for root, _, files in os.walk(out):
        for f in files:
            if f in ("config.json", "stack.json"):
                os.remove(os.path.join(root, f))


kernels() if KERNELS else main(OUT)
