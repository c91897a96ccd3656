from npu_bridge.estimator.npu.npu_config import DumpConfig  # noqa: F401
