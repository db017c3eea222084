"""The rooms of the package and who imports whom, drawn from the imports."""

import tomllib
from pathlib import Path

import grimp
import numpy as np
from matplotlib.figure import Figure

from made.files import Folder

FLOOR, EDGE = "#e8eef7", "#3b528b"


def write(parts: Folder, root: Path) -> None:
    """One picture of the floors, one of the imports."""
    floors = _floors(root)
    parts.figure("floors.png", _house(floors))
    parts.figure("imports.png", _matrix([room for floor in reversed(floors) for room in floor]))


def _floors(root: Path) -> list[list[str]]:
    """The rooms from the top floor down, as the import rules name them."""
    rules = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(each["layers"] for each in rules["contracts"] if each["type"] == "layers")
    return [[room.strip() for room in floor.split("|")] for floor in layers]


def _house(floors: list[list[str]]) -> Figure:
    figure = Figure(figsize=(7.2, 0.52 * len(floors)))
    axes = figure.subplots()
    for level, rooms in enumerate(reversed(floors)):
        width = 1 / len(rooms)
        for place, room in enumerate(rooms):
            axes.barh(level, width - 0.01, 0.84, left=place * width, color=FLOOR, edgecolor=EDGE)
            axes.text((place + 0.5) * width - 0.005, level, room, ha="center", va="center", size=9)
    axes.set_axis_off()
    return figure


def _matrix(rooms: list[str]) -> Figure:
    """How many modules of the room in a row import from the room in a column."""
    counts = np.zeros((len(rooms), len(rooms)), int)
    graph = grimp.build_graph("ucvtest")
    place = {room: number for number, room in enumerate(rooms)}
    for importer in graph.modules:
        room = importer.split(".")[1:2]
        if not room or room[0] not in place:
            continue
        used = {
            each.split(".")[1]
            for each in graph.find_modules_directly_imported_by(importer)
            if each.startswith("ucvtest.")
        }
        for other in used & set(place) - set(room):
            counts[place[room[0]], place[other]] += 1
    figure = Figure(figsize=(7.2, 6.4))
    axes = figure.subplots()
    shown = np.ma.masked_equal(counts, 0)
    axes.imshow(np.log1p(shown), cmap="Blues", vmin=-0.5)
    for row, column in zip(*np.nonzero(counts), strict=True):
        dark = counts[row, column] > 12
        axes.text(
            column,
            row,
            counts[row, column],
            ha="center",
            va="center",
            size=7,
            color="white" if dark else "black",
        )
    axes.set_xticks(range(len(rooms)), rooms, rotation=60, ha="right", size=8)
    axes.set_yticks(range(len(rooms)), rooms, size=8)
    axes.set_xlabel("imported room")
    axes.set_ylabel("modules of this room import it")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure
