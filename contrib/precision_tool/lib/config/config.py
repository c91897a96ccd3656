"""Settings of the shim, by the names that the guide has."""
import os

# The steps to record: "0", "0|5|10", "3-5"; empty records every step.
TF_DUMP_STEP = "0"

# The folder that holds precision_data; empty is the current one.
ROOT_DIR = ""

# The switches of fusion passes for action="fusion_switch": edit that file.
FUSION_SWITCH_FILE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "fusion_switch.cfg")

# CANN is not needed; the setting is here for scripts that set it.
CMD_ROOT_PATH = "/usr/local/Ascend"
