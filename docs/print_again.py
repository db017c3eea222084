"""Run the commands whose output the pages show, and keep what they print.

    python docs/print_again.py            # lists them
    python docs/print_again.py sequential # writes docs/validation/printed/sequential.txt anew

The first line of each file is its command.
"""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "validation" / "printed"


def command_of(path: Path) -> list[str]:
    """The arguments of Python, from the first line."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("$ python examples/"), first
    return shlex.split(first.removeprefix("$ python "))


def printed(script: str, *options: str) -> str:
    """What a script prints, in a folder of its own, where it may write."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(ROOT / script), *options],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines()) + "\n"


def main() -> None:
    paths = {path.stem: path for path in sorted(FOLDER.glob("*.txt"))}
    for name in sys.argv[1:]:
        first = paths[name].read_text(encoding="utf-8").splitlines()[0]
        paths[name].write_text(f"{first}\n{printed(*command_of(paths[name]))}", encoding="utf-8")
    if not sys.argv[1:]:
        for name, path in paths.items():
            print(f"{name}: python {shlex.join(command_of(path))}")


if __name__ == "__main__":
    main()
