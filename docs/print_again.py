"""Run the commands whose output the pages show, and keep what they print and draw.

    python docs/print_again.py                  # lists them, with the seconds they took
    python docs/print_again.py sequential colon # writes docs/validation/printed/*.txt anew
    python docs/print_again.py --all            # all of them, as `make reproduce` does

The first line of each file is its command. Pictures go into the folder of the same name. Commands
run in build/reproductions, where some keep what they have done: stopped, they go on there.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "validation" / "printed"
RUNS = ROOT / "build" / "reproductions"


def command_of(path: Path) -> list[str]:
    """The arguments of Python, from the first line."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("$ python examples/"), first
    return shlex.split(first.removeprefix("$ python "))


def printed(folder: Path, script: str, *options: str) -> str:
    """What a script prints, in a folder where it may write."""
    folder.mkdir(parents=True, exist_ok=True)
    # Most scripts look for data beside the repository, which is another place from here.
    data = {"UCVTEST_DATA": str(ROOT.parent / "shared" / "data")}
    done = subprocess.run(
        [sys.executable, str(ROOT / script), *options],
        cwd=folder,
        env=data | os.environ,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines()) + "\n"


def seconds_of(path: Path) -> str:
    """What it took, as its output says."""
    found = re.findall(r"\b([\d.]+) s\b", path.read_text(encoding="utf-8"))
    return f"{sum(map(float, found)):.0f} s" if found else "some seconds"


def keep_pictures(name: str, start: float) -> None:
    """Those that were drawn since the start, in the place of the older ones."""
    drawn = [path for path in sorted(RUNS.rglob("*.png")) if path.stat().st_mtime >= start]
    if drawn:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        (FOLDER / name).mkdir()
    for picture in drawn:
        shutil.copy(picture, FOLDER / name / picture.name)


def main() -> None:
    paths = {path.stem: path for path in sorted(FOLDER.glob("*.txt"))}
    for name in paths if sys.argv[1:] == ["--all"] else sys.argv[1:]:
        first = paths[name].read_text(encoding="utf-8").splitlines()[0]
        print(first, flush=True)
        start = time.time()
        found = printed(RUNS, *command_of(paths[name]))
        paths[name].write_text(f"{first}\n{found}", encoding="utf-8")
        keep_pictures(name, start)
    if not sys.argv[1:]:
        for name, path in paths.items():
            print(f"{name}: python {shlex.join(command_of(path))} ({seconds_of(path)})")


if __name__ == "__main__":
    main()
