"""The keys of results in a run: who has which, and which is next."""

import re
from collections.abc import Mapping

from mlflow import MlflowClient
from mlflow.entities import Run
from mlflow.exceptions import MlflowException

__all__ = ["FOLDER", "keys_of", "named_in", "next_key", "take_key"]

FOLDER = "ucvtest"


def keys_of(run: Run) -> list[str]:
    """The keys of the results that a run holds."""
    return list(named_in(run.data.tags, "status"))


def named_in(names: Mapping[str, str], last: str) -> dict[str, str]:
    """The values of "ucvtest.<key>.<last>" by key."""
    pattern = re.compile(rf"{FOLDER}\.([a-z0-9_]+\.\d+)\.{last}")
    found = ((pattern.fullmatch(name), value) for name, value in names.items())
    return {match[1]: value for match, value in found if match is not None}


def next_key(
    client: MlflowClient, run_id: str, kind: str, record_id: str, numbers: Mapping[str, int]
) -> str | None:
    """The key after the last one that this process took; None if there is none, or it is taken."""
    if kind not in numbers:
        return None
    key = f"{kind}.{numbers[kind] + 1}"
    try:
        client.log_param(run_id, f"{FOLDER}.{key}.uuid", record_id)
    except MlflowException:
        return None
    return key


def take_key(client: MlflowClient, run: Run, kind: str, record_id: str) -> str:
    """A key that belongs to this record, whoever else logs into the run at the same time.

    A parameter is the only thing in a run that a store never overwrites: whoever writes this
    one first has the key. Its name sorts late, because the comparison of runs shows the first
    parameters that differ.
    """
    taken = named_in(run.data.params, "uuid")
    for key, value in taken.items():
        if value == record_id:
            return key
    numbers = [int(key.partition(".")[2]) for key in taken if key.startswith(f"{kind}.")]
    key = f"{kind}.{max(numbers, default=0) + 1}"
    try:
        client.log_param(run.info.run_id, f"{FOLDER}.{key}.uuid", record_id)
    except MlflowException:
        now = client.get_run(run.info.run_id)
        if key not in named_in(now.data.params, "uuid"):
            raise
        return take_key(client, now, kind, record_id)
    return key
