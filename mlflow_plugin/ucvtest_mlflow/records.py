"""A record to log and its destination, as a value that survives on disk until it has arrived."""

import json
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import ucvtest

if TYPE_CHECKING:
    from ucvtest import (
        Comparison,
        EquivalenceResult,
        ModelSelection,
        NoninferiorityResult,
        SamplePlan,
    )

FORMAT = "ucvtest_mlflow.Record"
FORMAT_VERSION = 1

Outcome: TypeAlias = "ucvtest.TestResult | Comparison | ModelSelection | SamplePlan"
"""What is logged."""

Judged: TypeAlias = "EquivalenceResult | NoninferiorityResult"
"""What is logged beside the result that it was asked of."""


def restored(data: Mapping[str, Any]) -> Outcome:
    """The result, comparison, selection or plan that a dictionary was made of."""
    kind = str(data.get("format")).removeprefix("ucvtest.")
    # Looked up here: all except results load JAX, which most records do not need.
    known = ("Comparison", "ModelSelection", "SamplePlan")
    made: Outcome = getattr(ucvtest, kind if kind in known else "TestResult").from_dict(data)
    return made


@dataclass(frozen=True)
class Record:
    """A result on its way to MLflow.

    Parameters
    ----------
    result : TestResult, Comparison, ModelSelection or SamplePlan
    tracking_uri : str
        The server or store that was current when the test ended.
    run_id : str, optional
        Run to log into; None asks for a new one, which is found again by `id`.
    key : str, optional
        The name of the result in that run; None until it is chosen.
    parent_run_id, experiment_id, experiment_name : str, optional
        Where a new run belongs.
    dataset : mapping, optional
        Name, digest, source, schema and profile of the data, as MLflow describes them.
    words : mapping of str to str
        Further tags, such as the compared models.
    log_plots, log_tables : bool
    id : str
        Distinguishes a result that has arrived from others.
    created : int
        When the test ended, in milliseconds since 1970. Numbers that are logged twice with the
        same time are one number to MLflow.
    """

    result: Outcome
    tracking_uri: str
    run_id: str | None = None
    key: str | None = None
    parent_run_id: str | None = None
    experiment_id: str | None = None
    experiment_name: str | None = None
    dataset: Mapping[str, str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    log_plots: bool = True
    log_tables: bool = True
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time() * 1000))

    def to_json(self) -> str:
        """The record as strict JSON in one line."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["result"] = self.result.to_dict()
        document = {"format": FORMAT, "version": FORMAT_VERSION, **values}
        return json.dumps(document, allow_nan=False)

    @staticmethod
    def noted(key: str) -> str:
        """A further line for `from_json`: the key that has been chosen."""
        return f"\n{json.dumps({'key': key})}"

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """The record that `to_json` was called on, with the notes made since.

        Raises
        ------
        ValueError
            If the text was not written by `to_json`, not to its end, or in another version of its
            format.
        """
        first, *notes = text.splitlines() or [""]
        try:
            data = json.loads(first)
        except ValueError:
            raise ValueError("the file ends too early: its writer was killed, delete it") from None
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ValueError("the file was not written by ucvtest's MLflow logging")
        version = data.pop("version", None)
        if version != FORMAT_VERSION:
            raise ValueError(
                f"the file has format version {version}, this ucvtest reads version "
                f"{FORMAT_VERSION}: upgrade ucvtest"
            )
        for note in notes:
            with suppress(ValueError):  # of a disk that was full
                data |= json.loads(note)
        return cls(**{**data, "result": restored(data["result"])})
