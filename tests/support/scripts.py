"""Scripts outside the packages: loaded from their files, or run as users run them."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tests.support.compiling import environment_of_users
from tests.support.paths import ROOT
from tests.support.processes import finished

__all__ = ["run_quickly", "script"]


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


def run_quickly(path: Path, folder: Path, **environment: str) -> str:
    """What a script prints at its smallest size in a folder of its own, of which it uses build/."""
    done = finished(
        [sys.executable, path, "--quick"],
        cwd=folder,
        env=environment_of_users() | {"MPLBACKEND": "Agg"} | environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {each.name for each in folder.iterdir()} <= {"build"}
    return done.stdout
