"""Tables on file, in the folder of a study that can be stopped."""

from pathlib import Path

import pandas as pd

SECONDS = "seconds.csv"


def written(frame: pd.DataFrame, path: Path) -> None:
    """Whole or not at all, so that a run that was stopped can be continued."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    frame.to_csv(part, index=False, float_format="%.6g")
    part.replace(path)


def note_seconds(folder: Path, name: str, seconds: float) -> None:
    """Add to the seconds of processor time that parts of the study took."""
    with (folder / SECONDS).open("a") as file:
        file.write(f"{name},{seconds:.1f}\n")


def seconds_noted(folder: Path) -> dict[str, float]:
    """What every part took; of parts that were run twice, the last time."""
    path = folder / SECONDS
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: float(seconds) for name, seconds in (line.split(",") for line in lines)}
