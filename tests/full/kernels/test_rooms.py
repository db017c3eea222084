"""Rooms of arrays: what users pass is checked, and put into words, at the door alone."""

import ast
from pathlib import Path

import pytest

import ucvtest.kernels

ROOT = Path(ucvtest.kernels.__file__).parent
DOORS = ("__init__.py", "validation.py", "status.py")
ROOMS = ("auc_ustatistic", "fold_covariance", "influence", "leave_pair_out", "ustatistic")
FILES = [path for room in ROOMS for path in sorted((ROOT / room).glob("*.py"))]
OF_ARRAYS = [path for path in FILES if path.name not in DOORS]


def modules_imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


@pytest.mark.parametrize("path", OF_ARRAYS, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_files_of_arrays_neither_check_what_users_pass_nor_use_words(path):
    tree = ast.parse(path.read_text())
    checks = {"ucvtest.common.arrays", "ucvtest.common.checks"}
    doors = {f"ucvtest.kernels.{room}.{door[:-3]}" for room in ROOMS for door in DOORS[1:]}
    assert not (checks | doors) & set(modules_imported(tree))
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    assert not raised
