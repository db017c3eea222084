"""Run the commands whose output the pages show, and keep what they print and draw.

    python docs/print_again.py                  # lists them, with the seconds they took
    python docs/print_again.py sequential colon # writes docs/validation/printed/*.txt again
    python docs/print_again.py --all            # all of them, as `make reproduce` does

The first line of each file is its command. Pictures go into the folder of the same name. As many
commands run at once as there are cores, in folders of build/reproductions, where some keep what
they have done: stopped, they go on there.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "validation" / "printed"
RUNS = ROOT / "build" / "reproductions"


def command_of(path: Path) -> list[str]:
    """The arguments of Python, from the first line."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("$ python studies/"), first
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


def seconds_of(path: Path) -> float:
    """What it took, as its output says; short ones do not say."""
    found = re.findall(r"\b([\d.]+) s\b", path.read_text(encoding="utf-8"))
    return sum(map(float, found))


def place_of(path: Path) -> Path:
    """The folder to run it in: commands that may go on from one another's rows share one."""
    script, *options = command_of(path)
    out = [options[options.index("--out") + 1]] if "--out" in options else []
    return RUNS / "_".join([Path(script).stem, *out])


def keep_pictures(path: Path, start: float) -> None:
    """Those that were drawn since the start, in the place of the older ones."""
    pictures = sorted(place_of(path).rglob("*.png"))
    drawn = [picture for picture in pictures if picture.stat().st_mtime >= start]
    kept = FOLDER / path.stem
    if drawn:
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
    for picture in drawn:
        shutil.copy(picture, kept / picture.name)


def print_again(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    print(f"{first}\n", end="", flush=True)  # in one piece, as others print at the same time
    start = time.time()
    found = printed(place_of(path), *command_of(path))
    path.write_text(f"{first}\n{found}", encoding="utf-8")
    keep_pictures(path, start)


def print_in_turn(paths: list[Path]) -> None:
    for path in paths:
        print_again(path)


def print_all_again(paths: list[Path]) -> None:
    """A folder's commands one after the other, as many folders at once as there are cores."""
    places: dict[Path, list[Path]] = {}
    for path in paths:
        places.setdefault(place_of(path), []).append(path)
    # What takes longest starts first, so that no core waits long for the last.
    longest_first = sorted(places.values(), key=lambda kept: -sum(map(seconds_of, kept)))
    with ThreadPoolExecutor(joblib.cpu_count()) as pool:
        list(pool.map(print_in_turn, longest_first))


def main() -> None:
    paths = {path.stem: path for path in sorted(FOLDER.glob("*.txt"))}
    names = list(paths) if sys.argv[1:] == ["--all"] else sys.argv[1:]
    print_all_again([paths[name] for name in names])
    if not names:
        for name, path in paths.items():
            print(f"{name}: python {shlex.join(command_of(path))} ({seconds_of(path):.0f} s)")


if __name__ == "__main__":
    main()
