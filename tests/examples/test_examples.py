"""Every example runs as it stands, in a folder of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.compiling import environment_of_users
from tests.support.paths import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    environment = {"UCVTEST_DATA": str(ROOT.parent / "shared" / "data"), "MPLBACKEND": "Agg"}
    finished = subprocess.run(
        [sys.executable, str(example), "--quick"],
        cwd=tmp_path,
        env=environment | environment_of_users(),
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout
