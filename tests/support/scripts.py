"""Scripts outside the packages: loaded from their files, or run as users run them."""

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from tests.support.compiling import environment_of_users
from tests.support.paths import ROOT
from tests.support.processes import finished

__all__ = ["run_quickly", "run_together", "script"]

ONE_AFTER_ANOTHER = """
import contextlib, os, runpy, sys, traceback, warnings
from pathlib import Path

folder, *paths = map(Path, sys.argv[1:])
for path in paths:
    own = folder / path.stem
    own.mkdir()
    os.chdir(own)
    sys.argv, sys.path[0] = [str(path), "--quick"], str(path.parent)
    # What a script silences, it silences for itself.
    with (folder / f"{path.stem}.txt").open("w") as printed, warnings.catch_warnings():
        try:
            with contextlib.redirect_stdout(printed):
                runpy.run_path(str(path), run_name="__main__")
        except BaseException:
            traceback.print_exc(file=printed)
            (folder / f"{path.stem}.failed").touch()
"""
"""Scripts in one process, each as the main program in a folder of its own."""


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


def run_together(paths: Sequence[Path], folder: Path) -> dict[str, tuple[bool, str]]:
    """Of scripts at their smallest size in one process: whether they succeed, and their output.

    They share the slowest part, the imports and the first use of JAX.
    """
    done = finished(
        [sys.executable, "-c", ONE_AFTER_ANOTHER, folder, *paths],
        cwd=folder,
        env=environment_of_users() | {"MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = {}
    for name in (path.stem for path in paths):
        assert {each.name for each in (folder / name).iterdir()} <= {"build"}
        printed = (folder / f"{name}.txt").read_text()
        outcomes[name] = not (folder / f"{name}.failed").exists(), printed
    return outcomes


def run_quickly(path: Path, folder: Path, **environment: str) -> str:
    """The output of a script at its smallest size in its own folder, where it uses build/."""
    done = finished(
        [sys.executable, path, "--quick"],
        cwd=folder,
        env=environment_of_users() | {"MPLBACKEND": "Agg"} | environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {each.name for each in folder.iterdir()} <= {"build"}
    return done.stdout
