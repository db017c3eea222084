"""The keys of results in a run: which are taken, and which a process gives next."""

import os
import platform
import re
import threading
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache

from mlflow import MlflowClient
from mlflow.entities import Dataset, Run
from mlflow.utils import mlflow_tags

from ucvtest_mlflow.servers import Unreachable, displayed_address

FOLDER = "ucvtest"
WRITER = f"{FOLDER}.writer."
"""Of tags that name the processes which log into a run."""
MOST_RUNS = 256


def owner_tag(key: str) -> str:
    """The tag that says which record a key belongs to; it comes last, and is there once all is."""
    return f"{FOLDER}.{key}.uuid"


def keys_of(run: Run) -> list[str]:
    """The keys of the results that a run contains."""
    pattern = re.compile(re.escape(owner_tag("KEY")).replace("KEY", r"([a-z0-9_.]+)"))
    found = (pattern.fullmatch(name) for name in run.data.tags)
    return [match[1] for match in found if match is not None]


@dataclass
class KnownRun:
    """Somebody's run as it was when this process first logged into it, and what it did since.

    A run is read whole, and grows with every result: it is read once, not for every result.
    """

    artifact_uri: str
    taken: set[str]
    """Keys that are not free."""
    suffix: str
    """What tells keys of this process from those of others that log into the run meanwhile."""
    datasets: Collection[Dataset]
    """What the user, or an earlier process, has logged as inputs."""
    tables: str | None
    """The list of tables, by which `mlflow.load_table` goes; None once the first result is there.

    Everybody who logs a table rewrites it, so that it is written right after it was read.
    """
    n_params: int
    """How many parameters of results it has."""
    is_empty: bool
    """Whether it has no result yet, so that the next one is its first."""
    digests: dict[str, str] = field(default_factory=dict)
    """Of each data set that was tested on, and the one under which the run has it."""

    def take_first_place(self) -> bool:
        """Whether a result is the run's first one, which one result is told."""
        with _lock:
            first, self.is_empty = self.is_empty, False
        return first

    def take_key(self, wanted: str) -> str:
        """A key that no other result in the run has."""
        with _lock:
            key, number = f"{wanted}{self.suffix}", 1
            while key in self.taken:
                number += 1
                key = f"{wanted}.{number}{self.suffix}"
            self.taken.add(key)
        return key


_runs: dict[tuple[int, str, str], KnownRun] = {}
_looking: dict[tuple[int, str, str], threading.Lock] = {}
"""One thread looks at a run: stores fail where two set the same tag at once."""
_lock = threading.Lock()


def known_run(client: MlflowClient, run_id: str, *, own: bool) -> KnownRun:
    """The run as this process knows it, which reads it at its first result.

    A run that was made for one result is its own, and is read for it.

    Nothing but parameters is safe from being overwritten in a run, and these are for what people
    compare. So each process says first that it is there, and reads then: of two that come at
    once one at least sees the other, and marks its keys.
    """
    if own:
        return _known(read_run(client, run_id))
    process = os.getpid()
    place = (process, client.tracking_uri, run_id)
    with _lock:
        looking = _looking.setdefault(place, threading.Lock())
    with looking:
        known = _runs.get(place)
        if known is not None:
            return known
        name = f"{WRITER}{_name_of(process)}"
        client.set_tag(run_id, name, f"{platform.node()} {process}")
        run = read_run(client, run_id)
        if name not in run.data.tags:
            server = displayed_address(client.tracking_uri)
            raise Unreachable(f"{server} has not stored all that it was sent")
        known = _known(run, name)
        with _lock:
            _runs[place] = known
            if len(_runs) > MOST_RUNS:
                # Forgotten entries are read again.
                oldest = next(iter(_runs))
                del _runs[oldest], _looking[oldest]
        return known


def read_run(client: MlflowClient, run_id: str) -> Run:
    """The run, if the server tells it; what stands between may answer with anything."""
    run = client.get_run(run_id)
    if run.info.run_id != run_id:
        raise Unreachable(
            f"the answer of {displayed_address(client.tracking_uri)} is not about run {run_id}"
        )
    return run


def _known(run: Run, name: str | None = None) -> KnownRun:
    """The known facts of a run; `name` is this process's tag in somebody's run."""
    tags: Mapping[str, str] = run.data.tags
    others = [who for tag, who in tags.items() if tag.startswith(WRITER) and tag != name]
    marked = name is not None and any(map(_may_live, others))
    logged = (*run.data.params, *run.data.metrics, *tags)
    return KnownRun(
        artifact_uri=str(run.info.artifact_uri),
        taken={_key_of(each.removeprefix(f"{FOLDER}.")) for each in logged},
        suffix=f".{str(name).removeprefix(WRITER)}" if marked else "",
        datasets=[item.dataset for item in run.inputs.dataset_inputs] if run.inputs else [],
        tables=tags.get(mlflow_tags.MLFLOW_LOGGED_ARTIFACTS, "[]"),
        n_params=sum(each.startswith(f"{FOLDER}.") for each in run.data.params),
        is_empty=not keys_of(run) and not marked,
    )


def _key_of(name: str) -> str:
    """What stands before the slash of a metric, or the last dot of a parameter or tag."""
    key, slash, _ = name.partition("/")
    return key if slash else name.rpartition(".")[0]


@cache
def _name_of(process: int) -> str:
    """What this process is called; a forked one has another number, and gets another name."""
    return uuid.uuid4().hex[:6]


def _may_live(writer: str) -> bool:
    """Whether a process may log into the run still; those of other machines may."""
    host, _, number = writer.rpartition(" ")
    if host != platform.node() or os.name != "posix":
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    return True
