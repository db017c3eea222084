"""Values of results as JSON, and back."""

import base64
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType, NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from ucvtest.common.checks import check_format_version
from ucvtest.common.equality import ByValue
from ucvtest.common.exceptions import UNUSABLE
from ucvtest.common.notes import lines_of, with_lines
from ucvtest.common.words import excerpt
from ucvtest.results.plot_data import Picture
from ucvtest.stats.interval_rules import TYPES, rule_to_dict


class Saved(ByValue):
    """A frozen dataclass that nobody can change, is written as JSON, and read again."""

    _version: ClassVar[int] = 1
    """Of the format that `to_dict` writes, and the only one that `from_dict` reads."""

    _result_kind: ClassVar[str] = "result"
    """What messages call it."""

    _later: ClassVar[Mapping[str, Any]] = {}
    """Fields that former versions did not write, with what they meant."""

    def __post_init__(self) -> None:
        for attribute in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, attribute.name, freeze(getattr(self, attribute.name)))

    def to_dict(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts; NaN and infinity become strings."""
        return {**self._heading, **self._plain()}

    @property
    def _heading(self) -> dict[str, Any]:
        """What tells which class and version was written."""
        return {"format": f"ucvtest.{type(self).__name__}", "version": self._version}

    def to_json(self, **kwargs: Any) -> str:
        """`to_dict` as strict JSON; `kwargs` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **kwargs)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` was called on.

        Raises
        ------
        ValueError
            If `data` was not written by `to_dict`, or in another version of its format.
        """
        return cls._read(data, "data")

    @classmethod
    def _read(cls, data: Any, source: str) -> Self:
        """What `to_dict` was called on, from what messages call `source`."""
        format_name = data.get("format") if isinstance(data, Mapping) else None
        if not isinstance(format_name, str) or format_name != f"ucvtest.{cls.__name__}":
            raise ValueError(
                f"{source} is not a {cls._result_kind} written by {cls.__name__}.to_dict"
            )
        check_format_version(source, data.get("version"), cls._version)
        data = {**cls._later, **data}
        missing = [name for name in cls._names() if name not in data]
        if missing:
            raise ValueError(
                f"{source} does not contain {', '.join(missing)}: it was cut short or edited"
            )
        with reading(cls._result_kind, source):
            values = cls._values(data)
            # Fields of another type than declared would fail when they are used.
            hints = get_type_hints(cls)
            for name, value in values.items():
                # Text for a list would be read letter by letter.
                read = data[name] if isinstance(data.get(name), str) else value
                if not _has_type(read, hints.get(name, Any)):
                    raise TypeError(f"{name} is of another type: got {excerpt(read)}")
            restored = cls(**values)
            # Deeper parts, such as settings and tables, are used when they are shown.
            str(restored.summary() if hasattr(restored, "summary") else restored)
            return restored

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        """What a dictionary must contain."""
        return tuple(attribute.name for attribute in fields(cls))  # type: ignore[arg-type]

    def _plain(self) -> dict[str, Any]:
        """The fields in plain form, and next to notes the lines of those that have one."""
        plain = {own.name: to_plain(getattr(self, own.name)) for own in fields(self)}  # type: ignore[arg-type]
        lines = lines_of(getattr(self, "notes", ()))
        return plain | ({"note_lines": lines} if lines else {})

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The fields from their plain form."""
        values = {attribute.name: from_plain(data[attribute.name]) for attribute in fields(cls)}  # type: ignore[arg-type]
        if "notes" in values:
            values["notes"] = with_lines(values["notes"], data.get("note_lines", {}))
        return values


@contextmanager
def reading(result_kind: str, source: str = "data") -> Iterator[None]:
    """Say in our words what Python raises over parts of the wrong kind."""
    try:
        yield
    except (*UNUSABLE, StopIteration) as error:
        raise ValueError(f"{source} contains no {result_kind} that can be used: {error}") from error


def _has_type(value: Any, hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return any(_has_type(value, type_argument) for type_argument in get_args(hint))
    # The class behind a type such as ``tuple[str, ...]``; text for a choice of words.
    kind = get_origin(hint) or hint
    if kind is Literal:
        kind = type(get_args(hint)[0])
    if kind is NoneType:
        return value is None
    if kind not in TOLD_APART:
        return True
    if kind is tuple:
        return isinstance(value, (list, tuple))
    if kind in (int, float):
        return isinstance(value, (int, kind)) and not isinstance(value, bool)
    return bool(isinstance(value, kind))


TOLD_APART = (bool, int, float, str, tuple, Mapping)
"""The types that are told apart on reading."""


UNCHANGEABLE = frozenset({bool, int, float, str, tuple, type(None)})
"""Types of values that stay as they are."""


def freeze(value: Any) -> Any:
    """The value with read-only mappings and arrays."""
    # Most values; asking whether they are mappings takes twenty times as long.
    if type(value) in UNCHANGEABLE:
        return value
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(element) for key, element in value.items()})
    if isinstance(value, np.ndarray):
        copy = value.copy()
        copy.flags.writeable = False
        return copy
    if isinstance(value, np.generic):
        return value.item()
    return value


def to_plain(value: Any) -> Any:
    """The value as JSON knows it; NaN, infinity and other labels become strings."""
    if isinstance(value, Picture):
        return to_plain(value.to_dict())
    if isinstance(value, TYPES):
        return to_plain(rule_to_dict(value))
    if is_dataclass(value):
        return {element.name: to_plain(getattr(value, element.name)) for element in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(element) for key, element in value.items()}
    if isinstance(value, np.ndarray):
        return {"array": to_plain(value.tolist()), "dtype": value.dtype.str}
    if isinstance(value, (list, tuple)):
        return [to_plain(element) for element in value]
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
        return {key: from_plain(element) for key, element in value.items()}
    if isinstance(value, list):
        return [from_plain(element) for element in value]
    return value
