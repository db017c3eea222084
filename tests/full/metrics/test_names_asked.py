"""Nothing outside of metrics asks for the name of the AUC: metrics declare what they are."""

import ast
from itertools import chain

from tests.support.paths import ROOT


def is_name_of_auc(node):
    named = isinstance(node, ast.Name) and node.id == "AUC"
    return named or (isinstance(node, ast.Constant) and node.value == "auc")


def names_asked(source):
    """Comparisons with the name of the AUC, and calls of `is_auc`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            if any(is_name_of_auc(each) for each in ast.walk(node)):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("is_auc"):
            yield ast.unparse(node)


def test_nobody_asks_for_the_name_of_the_auc():
    package = ROOT / "ucvtest"
    # The record of needs is about kinds of metrics, which metrics declare.
    kinds = package / "inference" / "needs.py"
    found = {
        str(path.relative_to(ROOT)): asked
        for path in chain(package.rglob("*.py"), (ROOT / "mlflow_plugin").rglob("*.py"))
        if path != kinds
        and (
            path.is_relative_to(ROOT / "mlflow_plugin")
            or path.relative_to(package).parts[0] != "metrics"
        )
        if (asked := list(names_asked(path.read_text())))
    }
    assert found == {}
