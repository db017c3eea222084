"""Code in processes of its own, with JAX's flag for double precision off and on."""

import os
import subprocess
import sys

from tests.support.paths import ROOT


def printed_with_and_without_x64(code: str) -> set[str]:
    """What the code prints, which may import test modules; one element if it is the same."""
    return {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"JAX_ENABLE_X64": flag, "PYTHONPATH": _search_path()},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    }


def _search_path() -> str:
    """The root of the project, so that test modules can be imported, before what is there."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
