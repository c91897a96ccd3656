"""The functions by which a training script records: those of precision_capture.py,
which "precision kit" writes for the settings of lib/config/config.py."""
import importlib.util
import os
import shutil
import sys
import tempfile

from . import program
from .lib.config import config


def _load():
    """The kit as a module. Its file is of this process alone."""
    folder = tempfile.mkdtemp(prefix="precision_tool_")
    try:
        path = os.path.join(folder, "precision_capture.py")
        root = os.path.join(os.path.abspath(config.ROOT_DIR or "."), "precision_data")
        program.call(["kit", "-o", path, "-r", root, "-s", config.TF_DUMP_STEP or ""])
        spec = importlib.util.spec_from_file_location("precision_capture", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["precision_capture"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_kit = _load()
# The file that the guide says to edit.
_kit.FUSION_SWITCH_FILE = config.FUSION_SWITCH_FILE

FUSION_OFF_FILE = _kit.FUSION_OFF_FILE
FUSION_SWITCH_FILE = _kit.FUSION_SWITCH_FILE

session_dump_config = _kit.session_dump_config
update_custom_op = _kit.update_custom_op
estimator_dump_config = _kit.estimator_dump_config
npu_device_dump_config = _kit.npu_device_dump_config
sess_dump = _kit.sess_dump
estimator_dump = _kit.estimator_dump
seed_everything = _kit.seed_everything


def NpuPrintLossScaleCallBack(optimizer, sess=None):
    """A Keras callback that prints the loss scale before each batch."""
    return _kit.loss_scale_callback(optimizer)
