"""Sending results to a tracking server or store, and reading them back."""

import contextvars
import json
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

import mlflow
import mlflow.artifacts
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, RunTag
from mlflow.exceptions import MlflowException
from mlflow.tracking.context.registry import resolve_tags
from mlflow.utils import mlflow_tags

from ucvtest import EquivalenceResult, NoninferiorityResult, TestResult
from ucvtest_mlflow import content
from ucvtest_mlflow.content import Data
from ucvtest_mlflow.keys import FOLDER, KnownRun, keys_of, known_run, owner_tag, read_run
from ucvtest_mlflow.locks import alone_in
from ucvtest_mlflow.pause import quiet
from ucvtest_mlflow.records import Judged, Outcome, Record, restored
from ucvtest_mlflow.servers import Unreachable, displayed_address, is_local, require_server
from ucvtest_mlflow.spool import SpooledRecord

RECORD_TAG = f"{FOLDER}.record"
# With what goes on before and after, no call takes more than the 8 seconds that are promised.
WAIT_SECONDS = 7.0
# A request takes 1000 values, parameters and tags among them.
MOST_NUMBERS = 500
# A store reads all parameters of a run to add one: what these cost is a sixth of a result.
MOST_PARAMS = 200

JUDGED = (EquivalenceResult, NoninferiorityResult)

_T = TypeVar("_T")


class Logged(NamedTuple):
    """Where a result is: the run, and its key there, such as "lda_vs_svm.auc.ustatistic"."""

    run_id: str
    key: str


class Written(NamedTuple):
    """The files of a result before it has a key: their folder, and those that are tables."""

    folder: Path
    tables: list[str]


def log_result(result: Outcome, run_id: str | None = None) -> Logged:
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
        If the tracking server does not answer, or has not taken the result, within a few
        seconds.
    """
    if not isinstance(result, TestResult) and type(result).__name__ not in content.KINDS:
        other: object = result
        if isinstance(other, JUDGED):
            remedy = "log the result that it was asked of, then this answer by log_margin"
        elif hasattr(other, "plot") and hasattr(other, "to_json"):
            remedy = (
                "log its picture by mlflow.log_figure(curve.plot().figure, 'curve.png'), and its "
                "numbers by mlflow.log_text(curve.to_json(), 'curve.json')"
            )
        else:
            remedy = "pass what fit(), uv.compare, uv.select_model or uv.plan returns"
        kinds = ", ".join(("TestResult", *content.KINDS))
        raise ValueError(f"result must be one of {kinds}, got {type(other).__name__}: {remedy}")
    record = destination(Record(result, mlflow.get_tracking_uri()), nested=False)
    if run_id is not None:
        record = replace(record, run_id=run_id)
    return send(record)


def log_compared(
    result: Outcome, run_id: str, judged: "Judged | None", words: Mapping[str, str]
) -> Logged:
    """Log the comparison of two models, which of them they were, and an answer about a margin."""
    record = Record(result, mlflow.get_tracking_uri(), run_id=run_id, words=words)

    def work(written: Written) -> Logged:
        logged = _send(record, written)
        if judged is not None:
            _log_margin(_client(record.tracking_uri), judged, logged)
        return logged

    return _with_files(record, work)


def load_result(run_id: str, key: str | None = None) -> Outcome:
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


def log_margin(judged: Judged, run_id: str | None = None, key: str | None = None) -> Logged:
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
    uri = mlflow.get_tracking_uri()

    def work() -> Logged:
        require_server(uri)
        client = _client(uri)
        logged = Logged(run, _known_key(client, run, key))
        _log_margin(client, judged, logged)
        return logged

    return _bounded(uri, work)


def _log_margin(client: MlflowClient, judged: Judged, logged: Logged) -> None:
    metrics, tags = content.of_margin(judged, f"{FOLDER}.{logged.key}")
    with quiet():
        file = f"{FOLDER}/{logged.key}/{content.margin_name(judged)}.json"
        client.log_text(logged.run_id, judged.to_json(indent=1), file)
    client.log_batch(logged.run_id, metrics=metrics, tags=tags)


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


def send(record: Record, data: Data | None = None, kept: SpooledRecord | None = None) -> Logged:
    """Log a record, unless its run contains it already, and forget where it is kept then.

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
        If the server does not answer within `REACH_SECONDS`, or has not taken the result
        within `WAIT_SECONDS`; in the latter case this process goes on trying.
    """

    def work(written: Written) -> Logged:
        logged = _send(record, written, kept, data)
        if kept is not None:
            kept.remove()
        return logged

    return _with_files(record, work, kept)


def _with_files(
    record: Record,
    work: Callable[[Written], Logged],
    kept: SpooledRecord | None = None,
) -> Logged:
    """What `work` makes of the files; that they take long to draw is not the server's fault."""
    with ExitStack() as stack:
        stack.enter_context(kept or nullcontext())
        folder = Path(stack.enter_context(TemporaryDirectory())) / "result"
        folder.mkdir()
        content.write_files(record.result, folder, log_plots=record.log_plots)
        tables = content.write_tables(record.result, folder) if record.log_tables else []
        # Left to `work`, which may go on when nobody waits for it any more.
        until_done = stack.pop_all()

    def work_and_tidy() -> Logged:
        with until_done:
            return work(Written(folder, tables))

    return _bounded(record.tracking_uri, work_and_tidy)


def _bounded(tracking_uri: str, work: Callable[[], _T]) -> _T:
    """What `work` returns; it is left to itself when a server keeps it too long."""
    if is_local(tracking_uri):
        # These hang on nobody, but their first use can take longer than a server may.
        return work()
    outcome: Future[_T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="ucvtest_mlflow", daemon=True).start()
    try:
        return outcome.result(WAIT_SECONDS)
    except TimeoutError:
        if outcome.done():
            raise
        raise Unreachable(
            f"{displayed_address(tracking_uri)} has not taken the result within {WAIT_SECONDS:g} s"
        ) from None


def _send(
    record: Record, written: Written, kept: SpooledRecord | None = None, data: Data | None = None
) -> Logged:
    require_server(record.tracking_uri)
    client = _client(record.tracking_uri)
    if record.run_id is not None:
        return _log(client, record.run_id, record, written, kept, data)
    run_id = _own_run(client, record, sent_before=kept is not None and kept.sent_before)
    try:
        logged = _log(client, run_id, record, written, kept, data, own=True)
    except Exception:
        with suppress(Exception), quiet():
            client.set_terminated(run_id, "FAILED")
        raise
    with quiet():
        client.set_terminated(run_id, end_time=record.created)
    if not is_local(client.tracking_uri) and read_run(client, run_id).info.status != "FINISHED":
        raise Unreachable(f"{displayed_address(client.tracking_uri)} has not ended run {run_id}")
    return logged


def _client(tracking_uri: str) -> MlflowClient:
    # MLflow gives a new database its tables without a look whether another process is doing so.
    # Both fail then, and often everything that uses the database later does.
    # Servers see to themselves.
    address = urlsplit(tracking_uri)
    is_file = address.scheme == "sqlite"
    with alone_in(Path(address.path[1:]).parent) if is_file else nullcontext():
        return MlflowClient(tracking_uri=tracking_uri)


def _own_run(client: MlflowClient, record: Record, *, sent_before: bool) -> str:
    """The run that is created for a record, once."""
    experiment_id = _experiment_id(client, record)
    # The answer to the creation of a run can get lost, and its maker be killed before it reports.
    found = _runs_of(client, record, experiment_id) if sent_before else []
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
        found = [str(run.info.run_id)]
        if not is_local(record.tracking_uri):
            # MLflow itself repeats a request whose answer got lost.
            found = _runs_of(client, record, experiment_id) or found
    first, *others = found
    if not first:
        raise Unreachable(
            f"{displayed_address(client.tracking_uri)} does not say which run it has created"
        )
    for other in others:
        client.delete_run(other)
    return first


def _runs_of(client: MlflowClient, record: Record, experiment_id: str) -> list[str]:
    named = f"tags.`{RECORD_TAG}` = '{record.id}'"
    return sorted(str(run.info.run_id) for run in client.search_runs([experiment_id], named))


def _experiment_id(client: MlflowClient, record: Record) -> str:
    if record.experiment_id is not None:
        return record.experiment_id
    if record.experiment_name is None:
        return "0"
    experiment = client.get_experiment_by_name(record.experiment_name)
    if experiment is None:
        try:
            return str(client.create_experiment(record.experiment_name))
        except MlflowException:
            # Another process may have made it meanwhile.
            experiment = client.get_experiment_by_name(record.experiment_name)
            if experiment is None:
                raise
    return str(experiment.experiment_id)


def _log(
    client: MlflowClient,
    run_id: str,
    record: Record,
    written: Written,
    kept: SpooledRecord | None,
    data: Data | None,
    *,
    own: bool = False,
) -> Logged:
    """Log into a run, which is its own or somebody's."""
    result = record.result
    run = known_run(client, run_id, own=own)
    # In a run of its own nothing takes a key, unless an earlier attempt at the same result.
    key = content.key(result) if own else record.key
    if kept is not None and kept.sent_before:
        found = read_run(client, run_id)
        owners = {name: found.data.tags[owner_tag(name)] for name in keys_of(found)}
        # The disk may have refused to keep the key.
        mine = [name for name, owner in owners.items() if owner == record.id]
        if mine and _has_files(client, run, mine[0]):
            return Logged(run_id, mine[0])
        if mine or key in owners:
            key = mine[0] if mine else None
        if run.tables is not None:
            run.tables = found.data.tags.get(mlflow_tags.MLFLOW_LOGGED_ARTIFACTS, "[]")
    if key is None:
        key = run.take_key(content.key(result))
        if kept is not None:
            kept.note_key(key)
    run.taken.add(key)
    root = written.folder.parent
    (root / FOLDER).mkdir()
    folder = written.folder.rename(root / FOLDER / key)
    if record.log_plots:
        content.write_image(folder, root, key, record.id, record.created)
    # Results of a run share these folders. MLflow makes the folder that it logs into even if
    # another thread is faster, but fails for the folders within what it copies.
    for shared in sorted(root.iterdir()):
        client.log_artifacts(run_id, str(shared), shared.name)
    prefix = f"{FOLDER}.{key}"
    tags = content.tags(result, prefix, record.words)
    if written.tables and run.tables is not None:
        tags += _list_tables(run.tables, [f"{FOLDER}/{key}/{name}" for name in written.tables])
    if record.log_plots:
        tags.append(RunTag(mlflow_tags.MLFLOW_LOGGED_IMAGES, "True"))
    if record.dataset is not None:
        digest = _log_dataset(client, run_id, run, record.dataset, data)
        tags.append(RunTag(f"{prefix}.dataset", digest))
    # The batch comes last, and who owns the key last in it: with that, the result has arrived.
    tags.append(RunTag(owner_tag(key), record.id))
    numbers = content.metrics(result, prefix, record.created)
    for start in range(MOST_NUMBERS, len(numbers), MOST_NUMBERS):
        client.log_batch(run_id, metrics=numbers[start : start + MOST_NUMBERS])
    params = content.params(result, prefix)
    if run.n_params + len(params) > MOST_PARAMS:
        tags, params = [*(RunTag(each.key, each.value) for each in params), *tags], []
    # Pages show them in this order.
    short_numbers, short_tags = (
        content.headline(result, record.created) if run.take_first_place() else ([], [])
    )
    client.log_batch(
        run_id,
        metrics=[*short_numbers, *numbers[:MOST_NUMBERS]],
        params=params,
        tags=[*short_tags, *tags],
    )
    # A local store says itself what it has not taken; of servers, what stands between may have
    # kept a part. Neither look reads the run.
    if not is_local(client.tracking_uri):
        arrived = _has_files(client, run, key)
        if arrived and numbers:
            arrived = bool(client.get_metric_history(run_id, numbers[0].key))
        elif arrived:
            arrived = owner_tag(key) in read_run(client, run_id).data.tags
        if not arrived:
            raise Unreachable(
                f"{displayed_address(client.tracking_uri)} has not stored all that it was sent"
            )
    run.n_params += len(params)
    run.tables = None
    return Logged(run_id, key)


def _has_files(client: MlflowClient, run: KnownRun, key: str) -> bool:
    if is_local(client.tracking_uri):
        return True
    found = mlflow.artifacts.list_artifacts(
        artifact_uri=f"{run.artifact_uri}/{FOLDER}/{key}", tracking_uri=client.tracking_uri
    )
    return "result.json" in {Path(item.path).name for item in found}


def _list_tables(tag: str, paths: list[str]) -> list[RunTag]:
    """The tag that `mlflow.load_table` goes by with more tables; none where it has no room."""
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
    run: KnownRun,
    dataset: Mapping[str, str],
    data: Data | None,
) -> str:
    """Log the data once, unless the user has; the digest under which the run has them."""
    digest = dataset["digest"]
    if digest not in run.digests:
        theirs = [each.digest for each in run.datasets if content.is_of(each, digest, data)]
        if not theirs:
            _add_dataset(client, run_id, dataset)
        run.digests[digest] = theirs[0] if theirs else digest
    return run.digests[digest]


def _add_dataset(client: MlflowClient, run_id: str, dataset: Mapping[str, str]) -> None:
    tag = InputTag(mlflow_tags.MLFLOW_DATASET_CONTEXT, "ucvtest")
    inputs = [DatasetInput(Dataset(**dataset), [tag])]
    # A store checks for missing parts before it adds them, and fails if somebody else adds the
    # same in between: the data set, once in an experiment, or its link, once in a run.
    for _ in range(2):
        with suppress(MlflowException):
            return client.log_inputs(run_id, inputs)
    return client.log_inputs(run_id, inputs)
