"""``python -m ucvtest_r install``: put the R package that comes with this one into R."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ucvtest_r", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "install", help="install the R package 'ucvtest', which will use this Python"
    )
    command.add_argument("--library", type=Path, help="R library; by default R's own default")
    try:
        install(parser.parse_args(arguments).library)
    except RuntimeError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def install(library: Path | None = None) -> None:
    """Install the R package, bound to this Python.

    Parameters
    ----------
    library : path, optional
        Folder of the R library; by default the one that R itself would take.

    Raises
    ------
    RuntimeError
        If R is missing, or the installation fails: with what R said.
    """
    if shutil.which("R") is None:
        raise RuntimeError("R was not found on the PATH: install R 4.2 or newer")
    if library is not None:
        library.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        # R compiles in the folder of the sources, which may belong to someone else.
        copy = shutil.copytree(
            package_source(), Path(folder) / "ucvtest", ignore=shutil.ignore_patterns("*.o", "*.so")
        )
        options = [] if library is None else [f"--library={library}"]
        done = subprocess.run(
            ["R", "CMD", "INSTALL", *options, str(copy)],
            env=os.environ | {"UCVTEST_PYTHON": sys.executable},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(
            f"{done.stdout}\nR could not install the package: see above. If the package "
            "'generics' is missing, run install.packages(\"generics\") in R; if the library "
            "is not writable, name another one with --library"
        )


def package_source() -> Path:
    """The folder of the R package: next to this one in the sources, inside it in a wheel."""
    here = Path(__file__).resolve().parent
    inside = here / "r_package"
    return inside if inside.exists() else here.parent / "ucvtest"


if __name__ == "__main__":
    sys.exit(main())
