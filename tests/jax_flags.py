"""Code in processes of its own, with JAX's flag for double precision off and on."""

import os
import subprocess
import sys


def printed_with_and_without_x64(code: str) -> set[str]:
    """What the code prints, which may import test modules; one element if it is the same."""
    return {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"JAX_ENABLE_X64": flag, "PYTHONPATH": os.path.dirname(__file__)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    }
