"""Losses as plain dictionaries, JSON and .npz files, without pickle and checked on reading."""

import json
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.exceptions import UNUSABLE
from ucvtest.common.whole_files import replacing, write_whole
from ucvtest.designs.design import Design
from ucvtest.metrics.directions import names_a_score
from ucvtest.metrics.named import named_smooth_metric

MAX_BYTES = 2**30
"""Most bytes of arrays that are read unless the user allows more; small files can declare any
size."""

JSON_GROWTH = 8
"""Memory of numbers after reading, as a multiple of their JSON text."""

WORDS = ("learners", "loss", "in_words", "bounds", "settings", "diagnostics", "elapsed")
ARRAYS = ("learning", "testing", "means", "values", "target")
OPTIONAL = ("values", "target", "groups", "predictions", "event")

KINDS = {
    "words": "U",
    "learning": "b",
    "testing": "b",
    "event": "b",
    "groups": "iu",
} | dict.fromkeys(("means", "values", "target", "predictions"), "fiub")
"""The kinds of NumPy types that arrays of an archive may have."""

NO_NUMBERS = {math.inf: "inf", -math.inf: "-inf"}
"""What stands for infinity in JSON; None stands for NaN."""

DAMAGED = (*UNUSABLE, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""Errors about files that are damaged, encrypted, or not archives."""


NAMES = ("n_obs", *ARRAYS, *WORDS)
"""What a dictionary of losses must contain."""


def plain(losses: Any) -> dict[str, Any]:
    """Losses as JSON knows them, 0/1 matrices as lists of row numbers.

    Infinite scores are the strings "inf" and "-inf": JSON has no such numbers.
    """
    design = losses.design
    return {
        "n_obs": design.n_obs,
        "learning": [np.flatnonzero(row).tolist() for row in design.learning],
        "testing": [np.flatnonzero(row).tolist() for row in design.testing],
        "means": _numbers(losses.means),
        "values": None if losses.values is None else _numbers(losses.values),
        "target": None if losses.target is None else losses.target.tolist(),
        **({} if losses.groups is None else {"groups": losses.groups.tolist()}),
        **({} if losses.predictions is None else {"predictions": _numbers(losses.predictions)}),
        **({} if losses.event is None else {"event": losses.event.astype(int).tolist()}),
        **_words_of(losses),
    }


def fields_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Losses` from their plain form, or with the arrays of an archive in it."""
    if isinstance(data["learning"], np.ndarray):
        design = Design.checked(data["learning"], data["testing"])
        arrays = {name: data[name] for name in ("means", *OPTIONAL) if name in data}
    else:
        splits = zip(data["learning"], data["testing"], strict=True)
        design = Design.from_indices(list(splits), data["n_obs"])
        arrays = {
            name: np.array(data[name]) if name == "groups" else _array(name, data[name])
            for name in ("means", *OPTIONAL)
            if data.get(name) is not None
        }
        if "event" in arrays:
            arrays["event"] = arrays["event"] == 1
    bounds, elapsed = data["bounds"], data["elapsed"]
    return {
        "design": design,
        # None where means are missing is refused by the table.
        "means": None,
        **arrays,
        "learners": tuple(data["learners"]),
        "loss": data["loss"],
        "in_words": data["in_words"],
        "bounds": None if bounds is None else (float(bounds[0]), float(bounds[1])),
        "settings": dict(data["settings"]),
        "diagnostics": {name: dict(counts) for name, counts in data["diagnostics"].items()},
        "elapsed": math.nan if elapsed is None else float(elapsed),
        "greater_is_better": data.get("greater_is_better"),
    }


def check_memory(data: Any, max_bytes: Any) -> None:
    """Refuse a dictionary whose design needs more memory."""
    if not is_integer(max_bytes) or max_bytes < 1:
        raise ValueError(f"max_bytes must be a positive integer, got {max_bytes!r:.60}")
    parts = data if isinstance(data, Mapping) else {}
    n_obs: Any = parts.get("n_obs")
    learning = parts.get("learning")
    if is_integer(n_obs) and isinstance(learning, list):
        # Two 0/1 matrices have a byte for every learning set and observation.
        source = f"n_obs={n_obs!r:.60} with {len(learning)} learning sets"
        _check_size(source, 2 * n_obs * len(learning), max_bytes)


def write(losses: Any, path: str | Path, heading: Mapping[str, Any]) -> None:
    """Write losses to a .json or .npz file; an older file stays until the new one is complete.

    Raises
    ------
    ValueError
        If the name has another ending.
    """
    path = as_path(path)
    if path.suffix == ".json":
        write_whole(path, losses.to_json())
        return
    words = {**heading, **_words_of(losses)}
    arrays: dict[str, Any] = {
        "words": np.array(json.dumps(words, allow_nan=False)),
        "means": losses.means,
        "learning": losses.design.learning,
        "testing": losses.design.testing,
        **{name: getattr(losses, name) for name in OPTIONAL},
    }
    saved_arrays = {name: array for name, array in arrays.items() if array is not None}
    with replacing(path) as temporary_path, temporary_path.open("wb") as file:
        np.savez_compressed(file, **saved_arrays)


def read(path: Path, max_bytes: int) -> Any:
    """The dictionary in a file that `write` wrote; of an archive with its arrays.

    Raises
    ------
    ValueError
        If the file is damaged, or needs more than `max_bytes`.
    """
    is_json = path.suffix == ".json"
    _check_size(path.name, path.stat().st_size * (JSON_GROWTH if is_json else 1), max_bytes)
    if is_json:
        try:
            return json.loads(path.read_text())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path.name} is not JSON, or was cut short: {error}") from error
    arrays = _read_arrays(path, max_bytes)
    try:
        words = json.loads(str(arrays.pop("words")))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} contains no losses that can be used: {error}") from error
    absent = dict.fromkeys(("n_obs", *OPTIONAL))
    return {**absent, **arrays, **words} if isinstance(words, dict) else words


def _check_size(source: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ValueError(
            f"{source} needs {size} bytes of memory, more than max_bytes={max_bytes}: pass a "
            "larger max_bytes if you trust its source"
        )


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive; damage found while it is open is reported in our own words."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except DAMAGED as error:
        raise ValueError(
            f"{path.name} is not an .npz file of plain arrays, or was cut short: {error}"
        ) from error


def _read_arrays(path: Path, max_bytes: int) -> dict[str, np.ndarray]:
    """The arrays of an archive; all sizes and shapes are checked before any array is read."""
    with _opened(path) as archive:
        members = {
            name: archive.getinfo(f"{name}.npy")
            for name in dict.fromkeys(("words", *ARRAYS, *OPTIONAL))
            if f"{name}.npy" in archive.namelist()
        }
        shapes = {}
        for name, member in members.items():
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{name} is compressed in an unusual way")
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                if version != (1, 0):
                    raise ValueError(f"{name} is in version {version} of NumPy's format")
                shape, _, dtype = np.lib.format.read_array_header_1_0(file)
                if dtype.kind not in KINDS[name]:
                    raise ValueError(f"{name} contains {dtype}")
                n_bytes = math.prod(shape) * dtype.itemsize
                if min(shape, default=0) < 0 or n_bytes != member.file_size - file.tell():
                    raise ValueError(f"{name} has more or fewer bytes than its shape {shape} needs")
            shapes[name] = tuple(shape)
    _check_size(path.name, sum(member.file_size for member in members.values()), max_bytes)
    missing = [name for name in ("words", "learning", "testing", "means") if name not in shapes]
    if missing:
        raise ValueError(
            f"{path.name} does not contain {', '.join(missing)}, so it is not a file of losses"
        )
    _check_shapes(path.name, shapes)
    arrays = {}
    with _opened(path) as archive:
        for name, member in members.items():
            with archive.open(member) as file:
                # Without pickle, a file from elsewhere cannot run code.
                arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
    return arrays


def _check_shapes(source: str, shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse arrays that cannot belong together: the sets are (R, n), means (learners, R)."""
    sets, means = shapes["learning"], shapes["means"]
    values = shapes.get("values", means[:1])
    predictions = shapes.get("predictions", values)
    fits = {
        "learning": len(sets) == 2,
        "testing": shapes["testing"] == sets,
        "means": len(means) == 2 and means[1:] == sets[:1],
        # One number for each tested observation in `testing`.
        "values": values[:1] == means[:1] and math.prod(values[1:]) <= math.prod(sets),
        "predictions": predictions[:2] == values and len(predictions) <= 3,
        "event": shapes.get("event") in (None, sets[1:]),
        "target": shapes.get("target") in (None, sets[1:]),
        "groups": shapes.get("groups") in (None, sets[1:]),
    }
    misfits = [f"{name} has shape {shapes[name]}" for name, fit in fits.items() if not fit]
    if misfits:
        raise ValueError(
            f"{source} contains no losses that can be used: {misfits[0]}, where learning has "
            f"{sets} and means have {means}"
        )


def _array(name: str, rows: Any) -> np.ndarray:
    """Numbers of a list, or of a list of lists; None is NaN, and infinity is a string."""
    values = rows
    while values and isinstance(values[0], list):
        values = [*chain.from_iterable(values)]
    for value in values:
        if type(value) not in (int, float, NoneType) and value not in ("inf", "-inf"):
            raise TypeError(f"{name} must contain numbers, got {value!r:.60}")
    return np.array(rows, dtype=float)


def _words_of(losses: Any) -> dict[str, Any]:
    if losses.predictions is not None and named_smooth_metric(losses.loss) is None:
        raise ValueError(
            f"losses of your own metric {losses.loss!r:.60} cannot be saved: save "
            "losses.about('f1'), or another metric with a name, and score the predictions again"
        )
    # Whether higher is better, unless the name of the loss decides.
    says_direction = not losses.metric.ranks_pairs and (
        losses.greater_is_better or names_a_score(losses.loss)
    )
    return {
        "learners": list(losses.learners),
        "loss": losses.loss,
        "in_words": losses.in_words,
        "bounds": None if losses.bounds is None else list(losses.bounds),
        "settings": dict(losses.settings),
        "diagnostics": {name: dict(counts) for name, counts in losses.diagnostics.items()},
        "elapsed": None if math.isnan(losses.elapsed) else losses.elapsed,
        **({"greater_is_better": losses.greater_is_better} if says_direction else {}),
    }


def _numbers(array: np.ndarray) -> list[Any]:
    """Rows of numbers; None for NaN, strings for infinity."""
    if array.ndim > 2:
        return [_numbers(nested_row) for nested_row in array]
    return [
        [value if math.isfinite(value) else NO_NUMBERS.get(value) for value in row]
        for row in array.tolist()
    ]


def as_path(path: Any) -> Path:
    """The path of a .json or .npz file."""
    if not isinstance(path, (str, PathLike)):
        raise ValueError(f"path must be the name of a file, got {path!r:.60}")
    path = Path(path)
    if path.suffix not in (".npz", ".json"):
        raise ValueError(f"path must end in .npz or .json, got {path.name}")
    return path
