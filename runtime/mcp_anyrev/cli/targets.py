"""`MODULE:NAME` → what a module has by that name: a registry, a server, settings.

Rule: everything that can be wrong with it is said in one line that names what was found.
"""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
import sysconfig
import traceback
from types import ModuleType

from mcp_anyrev.declaring.registry import Registry
from mcp_anyrev.serving.server import Server
from mcp_anyrev.settings import Settings

_NOT_THE_APPLICATIONS = (
    str(pathlib.Path(__file__).parents[1]),
    *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
)


class TargetFault(ValueError):
    """There is nothing under that name that can be used; the text says why."""


def load_registry(target: str) -> Registry:
    """Import what declares a registry; that of a server where there is one.

    Args:
        target: a dotted name or a `.py` file, a colon, and the name of a registry or a server in it.

    Raises:
        TargetFault: it is not written like that, there is no such module, or it has no such thing.
    """
    found = load_registry_or_server(target)
    return found.registry if isinstance(found, Server) else found


def load_registry_or_server(target: str) -> Registry | Server:
    """The same, as it is declared."""
    name, found = _found(target)
    if not isinstance(found, Registry | Server):
        raise TargetFault(f"{name} is a {type(found).__name__}, not a Registry or a Server")
    return found


def load_settings(target: str) -> Settings:
    """Import settings.

    Args:
        target: a dotted name or a `.py` file, a colon, and the name of settings in it.

    Raises:
        TargetFault: as above.
    """
    name, found = _found(target)
    if not isinstance(found, Settings):
        raise TargetFault(f"{name} is a {type(found).__name__}, not Settings")
    return found


def _found(target: str) -> tuple[str, object]:
    """What a target names, and how that is called in a sentence."""
    where, colon, name = target.rpartition(":")
    if not colon or not where or not name:
        raise TargetFault(f"{target!r} lacks a part; write a module or a .py file, a colon, and a name")
    module = _from_file(where) if where.endswith(".py") else _from_name(where)
    found = getattr(module, name, None)
    if found is None:
        raise TargetFault(f"{where} has nothing named {name!r}")
    return f"{name!r} in {where}", found


def _from_file(where: str) -> ModuleType:
    path = pathlib.Path(where)
    if not path.is_file():
        raise TargetFault(f"there is no file {where}")
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path.resolve()):
        return known  # settings may stand beside a registry
    specification = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if specification is None or specification.loader is None:
        raise TargetFault(f"{where} cannot be imported")
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # where it looks for modules beside it, as one that is run as a script does
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    try:
        specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise TargetFault(_import_fault(where, error)) from error
    return module


def _from_name(where: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")  # a command finds modules of the current folder, as `python -m` does
    try:
        return importlib.import_module(where)
    except (Exception, SystemExit) as error:
        raise TargetFault(_import_fault(where, error)) from error


def _import_fault(where: str, error: BaseException) -> str:
    """What went wrong while a module was imported, and the line of the application that it went wrong in."""
    words = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}:{error.lineno}: {words}"
    places = [
        f"{frame.filename}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", *_NOT_THE_APPLICATIONS))
    ]
    if not places and isinstance(error, ModuleNotFoundError):
        return f"there is no module {error.name}"
    return f"{places[-1] if places else where}: {words}"
