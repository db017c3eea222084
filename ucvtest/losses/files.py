"""Losses as plain dictionaries, JSON and .npz files, without pickle, and checked when read."""

import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ucvtest.designs.design import Design

__all__ = ["fields_of", "read", "to_dict", "write"]

FORMAT = "ucvtest.Losses"
FORMAT_VERSION = 2
"""The newest version that can be read. Version 2 has groups; losses without are written as 1."""

MAX_CELLS = 2**32
"""Cells of a design (learning sets times observations) that a JSON file may ask for."""

WORDS = ("learners", "loss", "in_words", "bounds", "settings", "diagnostics", "elapsed")
ARRAYS = ("learning", "testing", "means", "values", "target")

UNUSABLE = (TypeError, ValueError, KeyError, IndexError, AttributeError)
"""What Python and NumPy raise over parts of a wrong type, shape or length."""


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
        "version": _version(losses),
        "n_obs": design.n_obs,
        "learning": [np.flatnonzero(row).tolist() for row in design.learning],
        "testing": [np.flatnonzero(row).tolist() for row in design.testing],
        "means": _numbers(losses.means),
        "values": None if losses.values is None else _numbers(losses.values),
        "target": None if losses.target is None else losses.target.tolist(),
        **({} if losses.groups is None else {"groups": losses.groups.tolist()}),
        **_words_of(losses),
    }


def fields_of(data: Any) -> dict[str, Any]:
    """The fields of `Losses` in what `to_dict` gave.

    Raises
    ------
    ValueError
        If `data` is something else, of a newer version, or lacks a part.
    """
    _check_format(data, "data")
    missing = [name for name in ("n_obs", *ARRAYS, *WORDS) if name not in data]
    if missing:
        raise ValueError(f"data lacks {', '.join(missing)}: it was cut short, or changed")
    try:
        splits = list(zip(data["learning"], data["testing"], strict=True))
        n_obs = data["n_obs"]
        if not isinstance(n_obs, int) or not 0 < n_obs * max(len(splits), 1) <= MAX_CELLS:
            raise ValueError(f"n_obs={n_obs!r} with {len(splits)} learning sets is impossible")
        arrays = {
            name: None if data[name] is None else np.array(data[name], dtype=float)
            for name in ("means", "values", "target")
        }
        groups = data.get("groups")
        arrays["groups"] = None if groups is None else np.array(groups)
        return {"design": Design.from_indices(splits, n_obs), **arrays, **_fields(data)}
    except UNUSABLE as error:
        raise ValueError(f"data holds no losses that can be used: {error}") from error


def write(losses: Any, path: str | Path) -> None:
    """Write losses to a .json or .npz file.

    Raises
    ------
    ValueError
        If the name ends otherwise.
    """
    path = Path(path)
    if _suffix(path) == ".json":
        path.write_text(json.dumps(to_dict(losses), allow_nan=False))
        return
    words = {"format": FORMAT, "version": _version(losses), **_words_of(losses)}
    arrays: dict[str, Any] = {
        "words": np.array(json.dumps(words, allow_nan=False)),
        "means": losses.means,
        "learning": losses.design.learning,
        "testing": losses.design.testing,
        "values": losses.values,
        "target": losses.target,
        "groups": losses.groups,
    }
    known = {name: array for name, array in arrays.items() if array is not None}
    with path.open("wb") as file:
        np.savez_compressed(file, **known)


def read(path: str | Path) -> dict[str, Any]:
    """The fields of `Losses` in a file that `write` wrote.

    Raises
    ------
    ValueError
        If the file holds something else, is of a newer version, or is damaged.
    """
    path = Path(path)
    if _suffix(path) == ".json":
        try:
            data = json.loads(path.read_text())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path.name} is no JSON, or was cut short: {error}") from error
        return fields_of(data)
    try:
        # Without pickle a file from elsewhere can run no code.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ("words", *ARRAYS, "groups") if name in stored}
    except (*UNUSABLE, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path.name} is no .npz of plain arrays, or was cut short") from error
    missing = [name for name in ("words", "learning", "testing", "means") if name not in arrays]
    if missing:
        raise ValueError(f"{path.name} lacks {', '.join(missing)}: it holds no losses")
    try:
        words = json.loads(str(arrays["words"]))
        _check_format(words, path.name)
        design = Design.checked(arrays["learning"], arrays["testing"])
        optional = {name: arrays.get(name) for name in ("values", "target", "groups")}
        return {"design": design, "means": arrays["means"], **optional, **_fields(words)}
    except UNUSABLE as error:
        raise ValueError(f"{path.name} holds no losses that can be used: {error}") from error


def _words_of(losses: Any) -> dict[str, Any]:
    return {
        "learners": list(losses.learners),
        "loss": losses.loss,
        "in_words": losses.in_words,
        "bounds": None if losses.bounds is None else list(losses.bounds),
        "settings": dict(losses.settings),
        "diagnostics": {name: dict(counts) for name, counts in losses.diagnostics.items()},
        "elapsed": None if math.isnan(losses.elapsed) else losses.elapsed,
    }


def _fields(words: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are no arrays, in their own types."""
    bounds, elapsed = words["bounds"], words["elapsed"]
    if not isinstance(words["learners"], list):
        raise TypeError("learners must be a list of names")
    return {
        "learners": tuple(words["learners"]),
        "loss": words["loss"],
        "in_words": str(words["in_words"]),
        "bounds": None if bounds is None else (float(bounds[0]), float(bounds[1])),
        "settings": dict(words["settings"]),
        "diagnostics": dict(words["diagnostics"]),
        "elapsed": math.nan if elapsed is None else float(elapsed),
    }


def _version(losses: Any) -> int:
    """The format version: an older ucvtest must not read groups as independent rows."""
    return 1 if losses.groups is None else FORMAT_VERSION


def _numbers(array: np.ndarray) -> list[list[Any]]:
    """Rows of numbers; None for NaN, strings for infinity."""
    return [
        [value if math.isfinite(value) else _no_number(value) for value in row]
        for row in array.tolist()
    ]


def _no_number(value: float) -> str | None:
    if math.isnan(value):
        return None
    return "inf" if value > 0 else "-inf"


def _check_format(data: Any, source: str) -> None:
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise ValueError(f"{source} does not hold losses written by Losses.save or Losses.to_dict")
    version = data.get("version")
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"{source} has no format version, got {version!r}")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{source} has format version {version}, this ucvtest reads up to "
            f"{FORMAT_VERSION}: upgrade ucvtest"
        )


def _suffix(path: Path) -> str:
    if path.suffix not in (".npz", ".json"):
        raise ValueError(f"path must end in .npz or .json, got {path.name}")
    return path.suffix
