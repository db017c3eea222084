"""Sending results to a tracking server or store, and reading them back.

Each request has MLflow's own time-outs and retries. A result has arrived when its run has the tag
that names its record, which is sent last. Everything before may be sent again: it is then the same.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import mlflow
import mlflow.artifacts
import requests
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, Param, Run, RunTag
from mlflow.exceptions import MlflowException, RestException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE, ErrorCode
from mlflow.tracking.context.registry import resolve_tags
from mlflow.utils import mlflow_tags
from mlflow.utils.credentials import get_default_host_creds
from mlflow.utils.file_utils import ExclusiveFileLock

from ucvtest import EquivalenceResult, NoninferiorityResult, TestResult
from ucvtest_mlflow import content
from ucvtest_mlflow.pause import brief, quiet
from ucvtest_mlflow.records import Record, SpooledRecord, default_spool_dir, restored

FOLDER = "ucvtest"
RECORD_TAG = f"{FOLDER}.record"
# A request takes 1000 values, parameters and tags among them.
MOST_NUMBERS = 500
# A store reads all parameters of a run to add one: what these cost is a sixth of a result.
MOST_PARAMS = 200

JUDGED = (EquivalenceResult, NoninferiorityResult)


class Unreachable(ConnectionError):
    """The tracking server does not answer, or not in time, or with something else."""


class Logged(NamedTuple):
    """Where a result is: the run, and its key there, such as "lda_vs_svm.auc.ustatistic"."""

    run_id: str
    key: str


def log_result(result: Any, run_id: str | None = None) -> Logged:
    """Log one result, a comparison as one table, a choice of a model, or a plan.

    A run that is created for it and cannot be completed ends as failed.

    Parameters
    ----------
    result : TestResult, Comparison, ModelSelection or SamplePlan
    run_id : str, optional
        By default the active run, or a new one where none is active.

    Returns
    -------
    Logged
        ``run_id`` and ``key``, which `load_result` takes.

    Raises
    ------
    ValueError
        If it is anything else, such as a curve.
    ConnectionError
        If the tracking server does not answer within a few seconds, or has not stored the result.
    """
    if not isinstance(result, TestResult) and type(result).__name__ not in content.KINDS:
        if isinstance(result, JUDGED):
            remedy = "log the result that it was asked of, then this answer by log_margin"
        elif hasattr(result, "plot") and hasattr(result, "to_json"):
            remedy = (
                "log its picture by mlflow.log_figure(curve.plot().figure, 'curve.png'), and its "
                "numbers by mlflow.log_text(curve.to_json(), 'curve.json')"
            )
        else:
            remedy = "pass what fit(), uv.compare, uv.select_model or uv.plan returns"
        kinds = ", ".join(("TestResult", *content.KINDS))
        raise ValueError(f"result must be one of {kinds}, got {type(result).__name__}: {remedy}")
    record = destination(Record(result, mlflow.get_tracking_uri()), nested=False)
    return send(record if run_id is None else replace(record, run_id=run_id))


def log_compared(result: Any, run_id: str, judged: Any, words: Mapping[str, str]) -> Logged:
    """Log the comparison of two models, which of them they were, and an answer about a margin."""
    logged = send(Record(result, mlflow.get_tracking_uri(), run_id=run_id, words=words))
    return logged if judged is None else log_margin(judged, *logged)


def load_result(run_id: str, key: str | None = None) -> Any:
    """Read a result, a comparison, a choice of a model or a plan back.

    Parameters
    ----------
    run_id : str
    key : str, optional
        Such as "lda_vs_svm.auc.ustatistic"; not needed where the run contains one result only.

    Returns
    -------
    TestResult, Comparison, ModelSelection or SamplePlan
        Equal to the one that was logged; of a choice the learners' names alone.

    Raises
    ------
    ValueError
        If the run contains no such result, or several and `key` is None.
    """
    key = _known_key(MlflowClient(), run_id, key)
    with quiet():
        return restored(mlflow.artifacts.load_dict(f"runs:/{run_id}/{FOLDER}/{key}/result.json"))


def log_margin(judged: Any, run_id: str | None = None, key: str | None = None) -> Logged:
    """Log an answer about a margin next to its result.

    As metrics and tags of the run, such as ``ucvtest.new_vs_old.auc.delong/noninferiority.passed``,
    which is 1 or 0, and as a file in the folder of the result. A later answer of its kind
    replaces it.

    Parameters
    ----------
    judged : EquivalenceResult or NoninferiorityResult
    run_id : str, optional
        The run that contains the result; by default the active one.
    key : str, optional
        Such as "lda_vs_svm.auc.ustatistic"; not needed where the run contains one result only.

    Returns
    -------
    Logged

    Raises
    ------
    ValueError
        If `judged` is anything else, there is no run, or it contains no such result, or several and
        `key` is None.
    ConnectionError
        If the tracking server does not answer within a few seconds.
    """
    if not isinstance(judged, JUDGED):
        raise ValueError(
            f"judged must be an answer about a margin, got {type(judged).__name__}: pass "
            "result.noninferiority(margin) or result.equivalence(low, high), or log a result by "
            "log_result"
        )
    active = mlflow.active_run()
    if run_id is None and active is None:
        raise ValueError("run_id is missing, and no run is active: name the run of the result")
    run = str(run_id if run_id is not None or active is None else active.info.run_id)
    with _client(mlflow.get_tracking_uri()) as client:
        logged = Logged(run, _known_key(client, run, key))
        metrics, tags = content.of_margin(judged, f"{FOLDER}.{logged.key}")
        file = f"{FOLDER}/{logged.key}/{content.margin_name(judged)}.json"
        client.log_text(run, judged.to_json(indent=1), file)
        client.log_batch(run, metrics=metrics, tags=tags)
    return logged


def _known_key(client: MlflowClient, run_id: str, key: str | None) -> str:
    """The key that is asked for, or the only one that the run contains."""
    keys = sorted(keys_of(client.get_run(run_id)))
    if not keys:
        raise ValueError(f"run {run_id} contains no result of ucvtest")
    if key is None and len(keys) > 1:
        raise ValueError(f"run {run_id} contains several results: name one of {', '.join(keys)}")
    key = keys[0] if key is None else key
    if key not in keys:
        raise ValueError(f"run {run_id} contains no result {key!r}: it has {', '.join(keys)}")
    return key


def keys_of(run: Run) -> list[str]:
    """The keys of the results that a run contains."""
    pattern = re.compile(re.escape(owner_tag("KEY")).replace("KEY", r"([a-z0-9_.]+)"))
    return [match[1] for match in map(pattern.fullmatch, run.data.tags) if match is not None]


def owner_tag(key: str) -> str:
    """The tag that says which record a key belongs to; it comes last, and is there once all is."""
    return f"{FOLDER}.{key}.uuid"


def destination(record: Record, *, nested: bool) -> Record:
    """The record with the run, or the place for a new one, that is current in this thread."""
    active = mlflow.active_run()
    if active is not None and nested:
        return replace(
            record, parent_run_id=active.info.run_id, experiment_id=active.info.experiment_id
        )
    if active is not None:
        return replace(record, run_id=active.info.run_id)
    # The variables that `mlflow run` and `mlflow.set_experiment` set; reading them costs no
    # request, which `mlflow.start_run` would.
    return replace(
        record,
        run_id=os.environ.get("MLFLOW_RUN_ID"),
        experiment_id=os.environ.get("MLFLOW_EXPERIMENT_ID"),
        experiment_name=os.environ.get("MLFLOW_EXPERIMENT_NAME"),
    )


# ----------------------------------------------------------------------------------- servers


def is_local(tracking_uri: str) -> bool:
    """Whether it is a folder or a database file, which hangs on nobody."""
    return urlsplit(tracking_uri).scheme in ("", "file", "sqlite")


def displayed_address(tracking_uri: str) -> str:
    """The server's name; the address may contain a password, which belongs in no message."""
    address = urlsplit(tracking_uri)
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}"


def require_same_server(tracking_uri: str) -> None:
    """Refuse a server that only a record names, where MLflow would send it credentials.

    Raises
    ------
    ValueError
        If the present configuration has credentials, and another tracking server.
    """
    server, creds_of = displayed_address(tracking_uri), cast("Any", get_default_host_creds)
    own = creds_of(tracking_uri)
    secrets = (own.username, own.password, own.token, own.auth, own.aws_sigv4, own.client_cert_path)
    other = server != displayed_address(mlflow.get_tracking_uri())
    if server.startswith("http") and other and any(secrets):
        raise ValueError(
            f"{server} would be sent the credentials of the present configuration, which names "
            "another tracking server: set MLFLOW_TRACKING_URI to that server, with its own "
            "credentials"
        )


@contextmanager
def _client(tracking_uri: str) -> Iterator[MlflowClient]:
    """A client that is neither patient nor talkative in this context.

    Raises
    ------
    Unreachable
        In the place of what MLflow raises where a server does not answer.
    """
    # MLflow gives a new database its tables without a look whether another process is doing so.
    # Both fail then, and often everything that uses the database later does.
    # The lock is in a folder of the user, where nobody else can put a file of its name.
    folder = default_spool_dir().parent
    is_file = urlsplit(tracking_uri).scheme == "sqlite" and os.name == "posix"
    if is_file:
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    can_lock = is_file and os.access(folder, os.W_OK | os.X_OK)
    try:
        with quiet(), brief():
            with ExclusiveFileLock(str(folder / "store.lock")) if can_lock else nullcontext():
                client = MlflowClient(tracking_uri=tracking_uri)
            yield client
    except (MlflowException, OSError) as error:
        if is_local(tracking_uri) or isinstance(error, (RestException, Unreachable)):
            raise
        cause = error.__context__
        silent = isinstance(cause, (requests.ConnectionError, requests.Timeout))
        reason = type(cause).__name__ if silent else f"{type(error).__name__}: {error}"
        raise Unreachable(f"no answer from {displayed_address(tracking_uri)} ({reason})") from error


def _require(client: MlflowClient, done: Any, what: str = "has not stored all it was sent") -> None:
    """Refuse the word of a server: what stands between may answer with anything, or keep a part."""
    if not done:
        raise Unreachable(f"{displayed_address(client.tracking_uri)} {what}")


def _read_run(client: MlflowClient, run_id: str) -> Run:
    run = client.get_run(run_id)
    _require(client, run.info.run_id == run_id, f"answers with something else than run {run_id}")
    return run


# ----------------------------------------------------------------------------------- sending


@dataclass
class KnownRun:
    """What this process knows of a run, which it reads whole at its first result only."""

    artifact_uri: str
    datasets: list[Dataset]
    """Its inputs."""
    keys: set[str]
    """Those that are not free."""
    n_params: int = 0
    """How many parameters of results this process has given it."""


_runs: dict[tuple[str, str], KnownRun] = {}


def send(
    record: Record, data: content.Data | None = None, kept: SpooledRecord | None = None
) -> Logged:
    """Log a record, unless its run contains it already.

    Parameters
    ----------
    record : Record
    data : pair of arrays, optional
        Features and response, to see whether the user has logged them.
    kept : SpooledRecord, optional
        The record on disk.

    Raises
    ------
    Unreachable
        If the server does not answer in the time of `BRIEF`, or has not stored what it was sent.
    """
    sent_before = kept is not None and kept.sent_before
    with tempfile.TemporaryDirectory() as name:
        # That files take long to draw is not the server's fault.
        folder, root = Path(name, "result"), Path(name, FOLDER)
        root.mkdir()
        folder.mkdir()
        content.write_files(record.result, folder, log_plots=record.log_plots)
        tables = content.write_tables(record.result, folder) if record.log_tables else []
        with _client(record.tracking_uri) as client:
            if record.run_id is not None:
                return _log(client, record, record.run_id, folder, tables, data, sent_before)
            run_id = _own_run(client, record, sent_before)
            try:
                logged = _log(client, record, run_id, folder, tables, data, sent_before)
            except Exception:
                # Kept results come later.
                if kept is None:
                    with suppress(Exception):
                        client.set_terminated(run_id, "FAILED")
                raise
            client.set_terminated(run_id, end_time=record.created)
            if not is_local(record.tracking_uri):
                _require(client, _read_run(client, run_id).info.status == "FINISHED")
            return logged


def _own_run(client: MlflowClient, record: Record, sent_before: bool) -> str:
    """The run that is created for a record, once."""
    experiment_id = _experiment_id(client, record)

    def runs() -> list[str]:
        named = f"tags.`{RECORD_TAG}` = '{record.id}'"
        return sorted(str(run.info.run_id) for run in client.search_runs([experiment_id], named))

    # The answer to the creation of a run can get lost, and its maker be killed before it reports.
    found = runs() if sent_before else []
    if not found:
        tags = {
            mlflow_tags.MLFLOW_AUTOLOGGING: "ucvtest",
            mlflow_tags.MLFLOW_RUN_NOTE: content.description(record.result),
            RECORD_TAG: record.id,
        }
        if record.parent_run_id is not None:
            tags[mlflow_tags.MLFLOW_PARENT_RUN_ID] = record.parent_run_id
        # The run lasts as long as the test did. Without a name MLflow would draw one from
        # Python's global random state.
        run = client.create_run(
            experiment_id=experiment_id,
            start_time=int(record.created - record.result.elapsed * 1000),
            tags=resolve_tags(tags),
            run_name=content.run_name(record.result),
        )
        # MLflow itself repeats a request whose answer got lost.
        found = [] if is_local(record.tracking_uri) else runs()
        found = found or [str(run.info.run_id)]
    first, *others = found
    _require(client, first, "does not say which run it has created")
    for other in others:
        client.delete_run(other)
    return first


def _experiment_id(client: MlflowClient, record: Record) -> str:
    name = record.experiment_name
    if record.experiment_id is not None or name is None:
        return record.experiment_id or "0"
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        try:
            return str(client.create_experiment(name))
        except MlflowException:
            # Another process may have made it meanwhile.
            experiment = client.get_experiment_by_name(name)
            if experiment is None:
                raise
    return str(experiment.experiment_id)


def _log(
    client: MlflowClient,
    record: Record,
    run_id: str,
    folder: Path,
    tables: list[str],
    data: content.Data | None,
    sent_before: bool,
) -> Logged:
    """Log into a run, which is its own or somebody's."""
    result, place = record.result, (client.tracking_uri, run_id)
    known, is_first, listed, taken = _runs.get(place), False, "[]", set[str]()
    if known is None or sent_before:
        run = _read_run(client, run_id)
        taken = set(keys_of(run))
        for key in taken:
            if run.data.tags[owner_tag(key)] == record.id:
                return Logged(run_id, key)
        inputs = run.inputs.dataset_inputs if run.inputs else []
        mine = KnownRun(str(run.info.artifact_uri), [item.dataset for item in inputs], taken)
        # A run of its own is not seen again.
        known = mine if record.run_id is None else _runs.setdefault(place, mine)
        is_first = content.VERDICT_TAG not in run.data.tags and (known is mine or sent_before)
        listed = run.data.tags.get(mlflow_tags.MLFLOW_LOGGED_ARTIFACTS, "[]")
    key = content.key(result)
    if record.run_id is not None:
        # An earlier attempt may have taken one already.
        taken = taken if sent_before else known.keys
        key = _claimed_key(client, run_id, record.id, key, taken)
        known.keys.add(key)
    folder = folder.rename(folder.with_name(FOLDER) / key)
    prefix, tags = f"{FOLDER}.{key}", content.tags(result, f"{FOLDER}.{key}", record.words)
    if is_first and tables:
        tags += _list_tables(listed, [f"{FOLDER}/{key}/{name}" for name in tables])
    if record.dataset is not None:
        digest = _log_dataset(client, run_id, known.datasets, record.dataset, data)
        tags.append(RunTag(f"{prefix}.dataset", digest))
    # Results of a run share the folder above, which MLflow makes even if another thread is faster.
    client.log_artifacts(run_id, str(folder.parent), FOLDER)
    if not is_local(client.tracking_uri):
        # Of the artifacts' address, because a look by the run's name reads the whole run again.
        files = mlflow.artifacts.list_artifacts(
            artifact_uri=f"{known.artifact_uri}/{FOLDER}/{key}", tracking_uri=client.tracking_uri
        )
        _require(client, "result.json" in {Path(file.path).name for file in files})
    numbers, params = (
        content.metrics(result, prefix, record.created),
        content.params(result, prefix),
    )
    for start in range(MOST_NUMBERS, len(numbers), MOST_NUMBERS):
        client.log_batch(run_id, numbers[start : start + MOST_NUMBERS], synchronous=True)
    known.n_params += len(params)
    if known.n_params > MOST_PARAMS:
        tags, params = [*(RunTag(each.key, each.value) for each in params), *tags], []
    if record.run_id is not None and not is_local(client.tracking_uri):
        # What stands between may have kept the claim.
        params.append(Param(f"{prefix}.record", record.id))
    # Pages show them in this order.
    first_numbers, first_tags = content.headline(result, record.created) if is_first else ([], [])
    # The batch comes last, and who owns the key last in it: with that, the result has arrived.
    tags = [*first_tags, *tags, RunTag(owner_tag(key), record.id)]
    numbers = [*first_numbers, *numbers[:MOST_NUMBERS]]
    client.log_batch(run_id, numbers, params, tags, synchronous=True)
    if not is_local(client.tracking_uri):
        arrived: Any = numbers and client.get_metric_history(run_id, numbers[-1].key)
        _require(client, arrived or owner_tag(key) in _read_run(client, run_id).data.tags)
    if record.log_plots:
        # The picture is among the files: the chart that repeats it must not cost a result.
        with suppress(Exception):
            content.show_plot(client, run_id, folder, key, record.created)
    return Logged(run_id, key)


def _claimed_key(
    client: MlflowClient, run_id: str, record_id: str, wanted: str, taken: set[str]
) -> str:
    """A key that no other result in somebody's run has, the same at each attempt.

    Nothing but parameters is safe from being overwritten in a run: whoever is the first to write
    one has the key, whatever other threads, processes and machines do.
    """
    number, key = 1, wanted
    while True:
        if key not in taken:
            claim = f"{FOLDER}.{key}.record"
            try:
                client.log_param(run_id, claim, record_id, synchronous=True)
                return key
            except MlflowException as error:
                refused = error.error_code == ErrorCode.Name(INVALID_PARAMETER_VALUE)
                if not refused or claim not in _read_run(client, run_id).data.params:
                    raise
        number += 1
        key = f"{wanted}.{number}"


def _list_tables(tag: str, paths: list[str]) -> list[RunTag]:
    """The tag that `mlflow.load_table` goes by with more tables; none where it has no room.

    Everybody who logs a table rewrites it, so that it is written right after it was read.
    """
    try:
        listed = json.loads(tag)
    except ValueError:  # cut off by MLflow, so full
        return []
    text = json.dumps(listed + [{"path": path, "type": "table"} for path in paths])
    named = RunTag(mlflow_tags.MLFLOW_LOGGED_ARTIFACTS, text)
    return [named] if len(text) <= content.LONGEST_TAG else []


def _log_dataset(
    client: MlflowClient,
    run_id: str,
    datasets: list[Dataset],
    dataset: Mapping[str, str],
    data: content.Data | None,
) -> str:
    """Log the data once, unless the user has; the digest under which the run has them."""
    for known in datasets:
        if content.is_of(known, dataset["digest"], data):
            return str(known.digest)
    made = Dataset(**dataset)
    inputs = [DatasetInput(made, [InputTag(mlflow_tags.MLFLOW_DATASET_CONTEXT, "ucvtest")])]
    # A store checks for missing parts before it adds them, and fails if somebody else adds the
    # same in between: the data set, once in an experiment, or its link, once in a run. A server is
    # asked again by MLflow itself.
    for attempts_left in reversed(range(3 if is_local(client.tracking_uri) else 1)):
        try:
            client.log_inputs(run_id, inputs)
            break
        except MlflowException:
            if not attempts_left:
                raise
    datasets.append(made)
    return str(made.digest)
