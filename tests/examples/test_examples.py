"""Every example runs as it stands, in a folder of its own."""

from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.scripts import run_quickly

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    assert run_quickly(example, tmp_path)
