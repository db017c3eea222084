"""Scripts outside the packages, loaded from their files."""

import importlib.util
import sys
from types import ModuleType

from tests.support.paths import ROOT

__all__ = ["script"]


def script(path: str) -> ModuleType:
    """The module of a script, whatever else is called like it: "examples/demo.py".

    The script's folder comes first on the path, because scripts import what lies next to them.
    """
    file = ROOT / path
    name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    if name not in sys.modules:
        if str(file.parent) not in sys.path:
            sys.path.insert(0, str(file.parent))
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]
