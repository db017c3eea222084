"""Scripts run as users run them, in a folder of their own."""

import subprocess
import sys
from pathlib import Path

from tests.support.compiling import environment_of_users
from tests.support.paths import ROOT


def run_quickly(script: Path, folder: Path) -> str:
    """What a script prints at its smallest size."""
    environment = {"UCVTEST_DATA": str(ROOT.parent / "shared" / "data"), "MPLBACKEND": "Agg"}
    finished = subprocess.run(
        [sys.executable, str(script), "--quick"],
        cwd=folder,
        env=environment | environment_of_users(),
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout
