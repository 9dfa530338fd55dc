"""What `memidx doctor` asks of this computer itself: Python, libraries, a compiler."""

from __future__ import annotations

import platform
import shutil
from importlib import import_module, metadata, util

import memidx
from memidx.engines.doctor import Library, Machine

# Library -> the module that shows whether it works. wordllama is never imported: it only ships the model's files.
LIBRARIES = {
    "click": "click",
    "filelock": "filelock",
    "gitpython": "git",
    "hnswlib": "hnswlib",
    "numpy": "numpy",
    "pathspec": "pathspec",
    "pyromark": "pyromark",
    "pyyaml": "yaml",
    "safetensors": "safetensors",
    "tantivy": "tantivy",
    "tokenizers": "tokenizers",
    "wordllama": "",
}
COMPILERS = ("c++", "g++", "clang++", "cl")


def look() -> Machine:
    """Find out. Imports every library, which takes about half a second."""
    return Machine(
        memidx=memidx.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        libraries=tuple(_library(name, module) for name, module in LIBRARIES.items()),
        compiler=next((path for name in COMPILERS if (path := shutil.which(name))), None),
    )


def _library(name: str, module: str) -> Library:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Library(name, None, "")
    try:
        if module:
            import_module(module)
        elif util.find_spec(name) is None:
            return Library(name, version, "its files are missing")
    except Exception as error:  # noqa: BLE001 - whatever a broken library raises is the finding
        return Library(name, version, f"cannot be imported: {error}")
    return Library(name, version, "")
