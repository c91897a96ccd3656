"""The settings, where older versions had them."""
from .lib.config.config import *  # noqa: F401,F403
