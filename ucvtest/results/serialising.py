"""Values of results as JSON, and back."""

import base64
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from ucvtest.common.checks import as_integer
from ucvtest.common.exceptions import UNUSABLE
from ucvtest.results.pictures import Picture
from ucvtest.stats.rules import TYPES, rule_to_dict

__all__ = ["check_format", "check_written", "freeze", "from_plain", "reading", "to_plain"]


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say in our words what Python raises over parts of the wrong kind."""
    try:
        yield
    except UNUSABLE as error:
        raise ValueError(f"data holds no {what} that can be used: {error}") from error


def check_format(data: Any, kind: type, what: str, version: int) -> None:
    """Refuse what `to_dict` of the class has not written, or a newer format than `version`."""
    known = data.get("format") if isinstance(data, Mapping) else None
    if not isinstance(known, str) or known != f"ucvtest.{kind.__name__}":
        raise ValueError(f"data is not a {what} written by {kind.__name__}.to_dict")
    if as_integer("version", data.get("version", 0)) > version:
        raise ValueError(
            f"data has format version {data['version']}, this ucvtest reads up to {version}: "
            "upgrade ucvtest"
        )


def check_written(data: Mapping[str, Any], kind: type, what: str, version: int) -> None:
    """`check_format`, and refuse what lacks a field of the dataclass."""
    check_format(data, kind, what, version)
    missing = [item.name for item in fields(kind) if item.name not in data]
    if missing:
        raise ValueError(f"data lacks {', '.join(missing)}: it was cut short or edited")


def freeze(value: Any) -> Any:
    """The value with read-only mappings and arrays."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, np.ndarray):
        copy = value.copy()
        copy.flags.writeable = False
        return copy
    if isinstance(value, np.generic):
        return value.item()
    return value


def to_plain(value: Any) -> Any:
    """The value as JSON knows it; NaN, infinity and labels that JSON lacks become strings."""
    if isinstance(value, Picture):
        return to_plain(value.to_dict())
    if isinstance(value, TYPES):
        return to_plain(rule_to_dict(value))
    if is_dataclass(value):
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return {"array": to_plain(value.tolist()), "dtype": value.dtype.str}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (str, int, float)):
        return value
    for name, (kind, write, _) in LABELS.items():
        if isinstance(value, kind):
            return {"type": name, "value": write(value)}
    # Whatever else serves as a label is at least written in words.
    return str(value)


LABELS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "bytes": (bytes, lambda value: base64.b64encode(value).decode("ascii"), base64.b64decode),
    # Before dates, which these are too.
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, str, date.fromisoformat),
    "Decimal": (Decimal, str, Decimal),
    "Fraction": (Fraction, str, Fraction),
}
"""What class labels can be and JSON lacks: by name, the type, and how it is written and read."""


def from_plain(value: Any) -> Any:
    """The value that `to_plain` was called on."""
    if isinstance(value, dict) and set(value) == {"type", "value"} and str(value["type"]) in LABELS:
        _, _, read = LABELS[value["type"]]
        return read(value["value"])
    if isinstance(value, dict) and set(value) == {"float"}:
        return float(value["float"])
    if isinstance(value, dict) and set(value) == {"array", "dtype"}:
        return np.array(from_plain(value["array"]), dtype=value["dtype"])
    if isinstance(value, dict):
        return {key: from_plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    return value
