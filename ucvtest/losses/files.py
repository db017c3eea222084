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

from ucvtest.common.checks import check_format_version, is_integer
from ucvtest.common.exceptions import UNUSABLE
from ucvtest.common.whole_files import replacing, write_whole
from ucvtest.designs.design import Design
from ucvtest.metrics.directions import names_a_score
from ucvtest.metrics.named import named_smooth_metric

FORMAT = "ucvtest.Losses"
FORMAT_VERSION = 1
"""The version that is written, and the only version that is read."""

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


def to_dict(losses: Any) -> dict[str, Any]:
    """A dictionary that `json.dumps` accepts: 0/1 matrices as lists of row numbers.

    Parameters
    ----------
    losses : Losses

    Returns
    -------
    dict
        Infinite scores are the strings "inf" and "-inf": JSON has no such numbers.
    """
    design = losses.design
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
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


def fields_of(data: Any, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """The fields of `Losses` from the result of `to_dict`.

    Raises
    ------
    ValueError
        If `data` is something else, has another format version or a missing part, or needs more
        than `max_bytes`.
    """
    _check_max_bytes(max_bytes)
    _check_format(data, "data")
    missing = [name for name in ("n_obs", *ARRAYS, *WORDS) if name not in data]
    if missing:
        raise ValueError(
            f"data does not contain {', '.join(missing)}: it was cut short, or changed"
        )
    try:
        splits = list(zip(data["learning"], data["testing"], strict=True))
        n_obs = data["n_obs"]
        matrix_sizes = f"n_obs={n_obs!r:.60} with {len(splits)} learning sets"
        if not is_integer(n_obs) or n_obs < 1:
            raise ValueError(f"{matrix_sizes} is impossible")
        # Two 0/1 matrices have a byte for every learning set and observation.
        _check_size(matrix_sizes, 2 * n_obs * len(splits), max_bytes)
        arrays: dict[str, np.ndarray] = {
            name: np.array(data[name]) if name == "groups" else _array(name, data[name])
            for name in ("means", *OPTIONAL)
            if data.get(name) is not None
        }
        if "event" in arrays:
            arrays["event"] = arrays["event"] == 1
        # None where means are missing is refused by the table.
        design = Design.from_indices(splits, n_obs)
        return {"design": design, "means": None, **arrays, **_fields(data)}
    except UNUSABLE as error:
        raise ValueError(f"data contains no losses that can be used: {error}") from error


def write(losses: Any, path: str | Path) -> None:
    """Write losses to a .json or .npz file; an older file stays until the new one is complete.

    Raises
    ------
    ValueError
        If the name has another ending.
    """
    path = _as_path(path)
    if _suffix(path) == ".json":
        write_whole(path, json.dumps(to_dict(losses), allow_nan=False))
        return
    text_fields = {"format": FORMAT, "version": FORMAT_VERSION, **_words_of(losses)}
    arrays: dict[str, Any] = {
        "words": np.array(json.dumps(text_fields, allow_nan=False)),
        "means": losses.means,
        "learning": losses.design.learning,
        "testing": losses.design.testing,
        **{name: getattr(losses, name) for name in OPTIONAL},
    }
    saved_arrays = {name: array for name, array in arrays.items() if array is not None}
    with replacing(path) as temporary_path, temporary_path.open("wb") as file:
        np.savez_compressed(file, **saved_arrays)


def read(path: str | Path, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """The fields of `Losses` in a file that `write` wrote.

    Raises
    ------
    ValueError
        If the file contains something else, has another format version, is damaged, or needs more
        than `max_bytes`.
    """
    _check_max_bytes(max_bytes)
    path = _as_path(path)
    is_json = _suffix(path) == ".json"
    _check_size(path.name, path.stat().st_size * (JSON_GROWTH if is_json else 1), max_bytes)
    if is_json:
        try:
            data = json.loads(path.read_text())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path.name} is not JSON, or was cut short: {error}") from error
        return fields_of(data, max_bytes)
    arrays = _read_arrays(path, max_bytes)
    try:
        text_fields = json.loads(str(arrays["words"]))
        _check_format(text_fields, path.name)
        design = Design.checked(arrays["learning"], arrays["testing"])
        optional = {name: arrays.get(name) for name in OPTIONAL}
        return {"design": design, "means": arrays["means"], **optional, **_fields(text_fields)}
    except UNUSABLE as error:
        raise ValueError(f"{path.name} contains no losses that can be used: {error}") from error


def _check_max_bytes(max_bytes: Any) -> None:
    """Refuse anything but a positive number of bytes."""
    if not is_integer(max_bytes) or max_bytes < 1:
        raise ValueError(f"max_bytes must be a positive integer, got {max_bytes!r:.60}")


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


def _fields(text_fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not arrays, in their own types."""
    bounds, elapsed = text_fields["bounds"], text_fields["elapsed"]
    if not isinstance(text_fields["learners"], list):
        raise TypeError("learners must be a list of names")
    for name in ("loss", "in_words"):
        if not isinstance(text_fields[name], str):
            raise TypeError(f"{name} must be a string, got {text_fields[name]!r}")
    greater = text_fields.get("greater_is_better")
    if not isinstance(greater, (bool, NoneType)):
        raise TypeError(f"greater_is_better must be true or false, got {greater!r:.60}")
    return {
        "learners": tuple(text_fields["learners"]),
        "loss": text_fields["loss"],
        "in_words": text_fields["in_words"],
        "bounds": None if bounds is None else (float(bounds[0]), float(bounds[1])),
        "settings": dict(text_fields["settings"]),
        "diagnostics": {name: dict(counts) for name, counts in text_fields["diagnostics"].items()},
        "elapsed": math.nan if elapsed is None else float(elapsed),
        "greater_is_better": greater,
    }


def _numbers(array: np.ndarray) -> list[Any]:
    """Rows of numbers; None for NaN, strings for infinity."""
    if array.ndim > 2:
        return [_numbers(nested_row) for nested_row in array]
    return [
        [value if math.isfinite(value) else NO_NUMBERS.get(value) for value in row]
        for row in array.tolist()
    ]


def _check_format(data: Any, source: str) -> None:
    kind = data.get("format") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind != FORMAT:
        raise ValueError(
            f"{source} does not contain losses written by Losses.save or Losses.to_dict"
        )
    check_format_version(source, data.get("version"), FORMAT_VERSION)


def _as_path(path: Any) -> Path:
    if not isinstance(path, (str, PathLike)):
        raise ValueError(f"path must be the name of a file, got {path!r:.60}")
    return Path(path)


def _suffix(path: Path) -> str:
    if path.suffix not in (".npz", ".json"):
        raise ValueError(f"path must end in .npz or .json, got {path.name}")
    return path.suffix
