"""Tables on file, in the folder of a study that can be stopped."""

from pathlib import Path

SECONDS = "seconds.csv"


def note_seconds(folder: Path, name: str, seconds: float) -> None:
    """Add to the seconds of processor time that parts of the study took."""
    with (folder / SECONDS).open("a") as file:
        file.write(f"{name},{seconds:.1f}\n")


def seconds_noted(folder: Path) -> dict[str, float]:
    """What every part took; of parts that were run twice, the last time."""
    path = folder / SECONDS
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: float(seconds) for name, seconds in (line.split(",") for line in lines)}
