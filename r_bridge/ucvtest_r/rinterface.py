"""rpy2's low-level interface, with errors that say what to install where it cannot be had."""

import shutil
import subprocess
import sys
from types import ModuleType

PINNED = "pip install --force-reinstall --no-cache-dir rpy2==3.6.6 rpy2-rinterface==3.6.5"


def import_rinterface() -> ModuleType:
    """Import ``rpy2.rinterface``.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If rpy2 or R is missing, or rpy2 was built for another R; with the remedy.
    """
    if "rpy2.rinterface" in sys.modules:
        return sys.modules["rpy2.rinterface"]
    if shutil.which("R") is None:
        raise ImportError("R was not found on the PATH: install R 4.2 or newer")
    try:
        import rpy2.rinterface as ri
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("rpy2", "cffi"):
            raise
        raise ImportError(f"{error.name} is missing: run  pip install 'ucvtest[r]'") from error
    except (ImportError, OSError) as error:
        raise ImportError(
            f"rpy2 does not fit {_r_version()} ({error}): with R before 4.5 run  {PINNED}  and "
            "with a newer R  pip install --upgrade rpy2 rpy2-rinterface"
        ) from error
    return ri


def _r_version() -> str:
    answer = subprocess.run(["R", "--version"], capture_output=True, text=True, check=False)
    return " ".join(answer.stdout.split()[:3]) or "this R"
