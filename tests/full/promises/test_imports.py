"""The graph of imports: no circle anywhere.

Imports for type checking, in functions, and of names such as ".module:Class" are included.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGES = {
    "ucvtest": ROOT / "ucvtest",
    "ucvtest_mlflow": ROOT / "mlflow_plugin/ucvtest_mlflow",
    "ucvtest_r": ROOT / "r_bridge/ucvtest_r",
}


def modules_of(package: str, folder: Path) -> dict[str, Path]:
    found = {}
    for path in folder.rglob("*.py"):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join((package, *parts)).removesuffix(".__init__")
        found[name] = path
    return found


def imported(path: Path, known: set[str]) -> Iterator[str]:
    """The modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
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


@pytest.mark.parametrize("package", PACKAGES)
def test_no_circle(package):
    modules = modules_of(package, PACKAGES[package])
    graph = {name: set(imported(path, set(modules))) - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(error.args[1])}")


def test_imports_by_name_are_seen():
    modules = modules_of("ucvtest", PACKAGES["ucvtest"])
    of_registry = set(imported(modules["ucvtest.methods.registry"], set(modules)))
    assert {"ucvtest.methods.ustatistic.method", "ucvtest.methods.classical.delong"} <= of_registry


def test_a_circle_would_be_seen(tmp_path):
    (tmp_path / "first.py").write_text("def call():\n    from package.second import thing\n")
    (tmp_path / "second.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import package.first\n"
    )
    modules = modules_of("package", tmp_path)
    graph = {name: set(imported(path, set(modules))) for name, path in modules.items()}
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()
