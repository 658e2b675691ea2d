"""`python -m saddle` is the program: the one of the wheel, of the tree that the library is in, or of the PATH."""
from __future__ import annotations

import os
import pathlib
import shutil
import sys
from typing import Optional

from . import _library


def program() -> Optional[str]:
    named = os.environ.get("SADDLE_PROGRAM")
    if named:
        return named
    library = pathlib.Path(_library.path)
    places = [_library.HERE / "bin" / "saddle"]
    if library.is_absolute():
        places += [folder / "bin" / "saddle" for folder in library.parents[1:3]]
    for place in places:
        if os.access(place, os.X_OK):
            return str(place)
    return shutil.which("saddle")


def main() -> None:
    path = program()
    if path is None:
        sys.exit("the program saddle was not found: set SADDLE_PROGRAM to its path")
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")


if __name__ == "__main__":
    main()
