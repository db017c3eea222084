"""Imports: no circle anywhere, and rooms of arrays that neither check nor use words.

Imports for type checking, in functions, and of names such as ".module:Class" are included.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from files import ROOT

PACKAGES = {
    "ucvtest": ROOT / "ucvtest",
    "ucvtest_mlflow": ROOT / "mlflow_plugin/ucvtest_mlflow",
    "ucvtest_r": ROOT / "r_bridge/ucvtest_r",
}


def modules_of(package: str, folder: Path) -> dict[str, Path]:
    """The files of a package, by the names of their modules."""
    found = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join((package, *parts)).removesuffix(".__init__")
        found[name] = path
    return found


def imported(path: Path, known: set[str]) -> Iterator[str]:
    """The modules that a file imports where it is loaded.

    A class may ask for its picture in a method, and a type may be named before it is there.
    """
    tree = ast.parse(path.read_text())
    later = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    for node in (node for node in ast.walk(tree) if node not in later):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A registry imports a class when it is asked for.
            module, colon, _ = node.value.partition(":")
            if colon and module.startswith("."):
                yield from (name for name in known if name.endswith(module))
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in known:
                    yield name
                elif node.module in known:
                    yield node.module


KERNELS = ROOT / "ucvtest" / "kernels"
DOORS = ("__init__.py", "validation.py", "status.py")
ROOMS = ("auc_ustatistic", "fold_covariance", "influence", "leave_pair_out", "ustatistic")
"""Of arrays: what users pass is checked, and put into words, at the door alone."""


def findings() -> Iterator[str]:
    """Circles, and files of arrays that do what their doors are for."""
    for package, folder in PACKAGES.items():
        modules = modules_of(package, folder)
        graph = {name: set(imported(path, set(modules))) - {name} for name, path in modules.items()}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            yield f"{package}: modules import each other: {' -> '.join(error.args[1])}"
    checks = {"ucvtest.common.arrays", "ucvtest.common.checks"}
    checks |= {f"ucvtest.kernels.{room}.{door[:-3]}" for room in ROOMS for door in DOORS[1:]}
    for path in (path for room in ROOMS for path in sorted((KERNELS / room).glob("*.py"))):
        if path.name in DOORS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            checked = isinstance(node, ast.ImportFrom) and node.module in checks
            if checked or isinstance(node, ast.Raise):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: leave this to {', '.join(DOORS)}"
