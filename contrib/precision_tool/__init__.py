"""Stands in for the package precision_tool: what its guide says runs as it stands.

    import precision_tool.tf_config as npu_tf_config
    npu_tf_config.npu_device_dump_config(npu_device, action="overflow")
    python3 ./precision_tool/cli.py

The work is done by the program precision. It is found through the environment
variable PRECISION, in this folder, or on PATH, in this order.
"""
