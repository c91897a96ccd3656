"""mindspore.py OUT: records the calls of a small network of MindSpore with msprobe; needs mindspore and mindstudio-probe.

    python mindspore.py /tmp/m && tar -C /tmp/m -czf mindspore.tar.gz step0
"""
import json
import os
import sys

sys.path.pop(0)  # this file is called like the package
import mindspore as ms
import msprobe.core.dump.data_dump.data_processor.mindspore_processor as processor
import numpy as np
from mindspore import Tensor, nn, ops
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
    debugger.stop()
    debugger.step()
    for root, _, files in os.walk(out):
        for f in files:
            if f in ("config.json", "stack.json"):
                os.remove(os.path.join(root, f))


main(os.path.abspath(sys.argv[1]))
