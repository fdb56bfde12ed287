"""`MODULE:REGISTRY` → the registry.

Rule: everything that can be wrong with it is said in one line that names what was found.
"""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
from types import ModuleType

from mcp_anyrev.declaring.registry import Registry


class TargetFault(ValueError):
    """There is no registry under that name; the text says why."""


def load_registry(target: str) -> Registry:
    """Import what declares a registry.

    Args:
        target: a dotted name or a `.py` file, a colon, and the name of the registry in it.

    Raises:
        TargetFault: it is not written like that, there is no such module, or it has no such registry.
    """
    where, colon, name = target.rpartition(":")
    if not colon or not where or not name:
        raise TargetFault(f"{target!r} lacks a part; write a module or a .py file, a colon, and a name")
    module = _from_file(where) if where.endswith(".py") else _from_name(where)
    found = getattr(module, name, None)
    if found is None:
        raise TargetFault(f"{where} has nothing named {name!r}")
    if not isinstance(found, Registry):
        raise TargetFault(f"{name!r} in {where} is a {type(found).__name__}, not a Registry")
    return found


def _from_file(where: str) -> ModuleType:
    path = pathlib.Path(where)
    if not path.is_file():
        raise TargetFault(f"there is no file {where}")
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise TargetFault(f"{where} cannot be imported")
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


def _from_name(where: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")  # a command finds modules of the current folder, as `python -m` does
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        raise TargetFault(f"there is no module {error.name}") from None
