"""The build backend of this folder: that of the root, started there."""
import os
import pathlib

os.chdir(pathlib.Path(__file__).resolve().parents[2])

from scikit_build_core.build import *  # noqa: E402, F401, F403
