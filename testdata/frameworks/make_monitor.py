"""Writes what msprobe's monitors record of a small training, and the database that msprobe makes of it.

    python make_monitor.py FOLDER

needs PyTorch and mindstudio-probe 26.2. In step 3 the gradient of layers.1.weight is multiplied by 200, in step 5 one element of the batch
is NaN. The times in the names of the folders were set to Nov23_01-37-49 afterwards.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

OUT = os.path.join(os.path.abspath(sys.argv[1]), "monitor")
os.makedirs(OUT)
scratch = tempfile.mkdtemp()
os.environ["MONITOR_OUTPUT_DIR"] = scratch

import torch  # noqa: E402
from msprobe.pytorch import TrainerMon  # noqa: E402


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 6), torch.nn.Linear(6, 6)])
        self.head = torch.nn.Linear(6, 2)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)


torch.manual_seed(5)
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
config = os.path.join(scratch, "config.json")
with open(config, "w") as f:
    json.dump({"targets": {"layers.0": {}, "layers.1": {}, "head": {}}, "print_struct": False, "module_ranks": [], "ur_distribution": False, "xy_distribution": True,
               "all_xy": True, "forward_only": False, "backward_only": False, "mv_distribution": True, "wg_distribution": True, "param_distribution": True,
               "format": "csv", "ops": ["norm", "min", "max", "nans", "mean"], "step_count_per_record": 4}, f)
monitor = TrainerMon(config, params_have_main_grad=False)
step = 0
net.layers[1].weight.register_hook(lambda g: g * 200 if step == 3 else g)
monitor.set_monitor(net, optimizer, grad_acc_steps=1)
for step in range(6):
    x = torch.randn(8, 4)
    if step == 5:
        x[2, 1] = float("nan")
    net(x).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
monitor.summary_writer.close()
for folder in glob.glob(scratch + "/*-rank*"):
    shutil.copytree(folder, os.path.join(OUT, "csv", "Nov23_01-37-49-" + os.path.basename(folder).split("-", 3)[3]))
subprocess.check_call([os.path.join(os.path.dirname(sys.executable), "msprobe"), "data2db", "--db", os.path.join(OUT, "db"), "--data", os.path.join(OUT, "csv"), "--format", "monitor"])
shutil.rmtree(scratch)
