"""Losses from what the scorers of `mlflow.genai.evaluate` said of answers."""

import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("mlflow")

import mlflow
import ucvtest_mlflow as um

import ucvtest as uv
from tests.support.mlflow_runs import WARNINGS

pytestmark = WARNINGS

N_QUESTIONS = 6
RIGHT = {"new": [1, 1, 1, 0, 1, 1], "old": [0, 1, 0, 0, 1, 0]}
"""By question; each is asked twice, and the second answer to the last one is wrong."""


def asked(name: str) -> list[dict[str, Any]]:
    """Questions with answers; the second rule's in another order."""
    rows = []
    for repeat in (0, 1):
        for number in range(N_QUESTIONS):
            right = RIGHT[name][number] and (repeat == 0 or number < N_QUESTIONS - 1)
            inputs = {"question": f"What is 2 + {number}?", "passage": f"p{number // 2}"}
            answer = str(2 + number) if right else "no idea"
            expected = {"expected_response": str(2 + number)}
            rows.append({"inputs": inputs, "outputs": answer, "expectations": expected})
    return rows[:: 1 if name == "new" else -1]


DRAWS = [random.Random(51).getstate()]


@contextmanager
def other_draws() -> Iterator[None]:
    """MLflow draws names of runs and numbers of traces from Python's global random state.

    They must differ between calls, and the state of the tests must not move.
    """
    state = random.getstate()
    random.setstate(DRAWS[0])
    try:
        yield
    finally:
        DRAWS[0] = random.getstate()
        random.setstate(state)


def external_model(name: str) -> str:
    with other_draws():
        return str(mlflow.create_external_model(name=name).model_id)


def evaluate(**options: Any) -> Any:
    with warnings.catch_warnings(), other_draws():
        # MLflow warns of its own type hints where it is imported.
        warnings.simplefilter("ignore")
        return mlflow.genai.evaluate(**options)


def answering(known: dict[str, str]) -> Callable[[str], str]:
    """What answers, and has nothing but the question among its inputs."""

    def answer(question: str) -> str:
        return known[question]

    return answer


def marks(name: str) -> np.ndarray:
    """Whether the answers were right, question by question."""
    second = np.array(RIGHT[name]) * (np.arange(N_QUESTIONS) < N_QUESTIONS - 1)
    return np.column_stack([RIGHT[name], second]).ravel()


@pytest.fixture(scope="module")
def evaluated(
    empty_store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """Two evaluation runs in a store that is MLflow's current one, made by MLflow itself."""
    folder = tmp_path_factory.mktemp("genai")
    shutil.copy(empty_store, folder / "mlflow.db")

    @mlflow.genai.scorer
    def correct(outputs: Any, expectations: Any) -> bool:
        return bool(outputs == expectations["expected_response"])

    @mlflow.genai.scorer
    def judge(outputs: Any, expectations: Any) -> str:
        return "yes" if outputs == expectations["expected_response"] else "no"

    @mlflow.genai.scorer
    def length(outputs: Any) -> float:
        return len(outputs) / 8

    @mlflow.genai.scorer
    def strange(outputs: Any) -> str:
        return "perhaps"

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MLFLOW_GENAI_EVAL_MAX_WORKERS", "1")
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        found = {}
        for name in RIGHT:
            with mlflow.start_run(run_name=name):
                found[name] = evaluate(data=asked(name), scorers=[correct, judge, length, strange])
        yield found
        mlflow.set_tracking_uri(None)


def test_two_runs_are_paired_by_question(evaluated: dict[str, Any]) -> None:
    runs = {name: found.run_id for name, found in evaluated.items()}
    questions = np.repeat(np.arange(N_QUESTIONS), 2)
    expected = uv.Losses.from_correct({name: marks(name) for name in runs}, groups=questions)
    for assessment in ("correct", "judge"):
        losses = uv.Losses.from_mlflow(runs, assessment=assessment)
        assert losses.right_or_wrong
        assert losses.learners == ("new", "old")
        np.testing.assert_allclose(losses.means, expected.means)
        found = uv.McNemarTest.from_losses(losses).fit()
        same = uv.McNemarTest.from_losses(expected).fit()
        assert (found.estimate, found.pvalue) == (same.estimate, same.pvalue)
        assert found.diagnostics["n_groups"] == N_QUESTIONS
    averages = uv.Losses.from_mlflow(runs, assessment="judge", average=True)
    assert (averages.design.n_obs, averages.groups) == (N_QUESTIONS, None)
    np.testing.assert_allclose(averages.means, expected.means)
    assert uv.plan(averages, learner="new", other="old", difference=0.2).n_needed
    one = uv.Losses.from_mlflow(runs["new"], assessment="correct")
    assert one.learners == ("correct",)
    np.testing.assert_allclose(one.means[0], expected.means[0])


def test_grades_and_groups(evaluated: dict[str, Any]) -> None:
    runs = {name: found.run_id for name, found in evaluated.items()}
    graded = uv.Losses.from_mlflow(runs, assessment="length")
    lengths = {name: [len(row["outputs"]) / 8 for row in asked(name)] for name in runs}
    assert graded.metric.greater_is_better
    np.testing.assert_allclose(graded.means.ravel(), [np.mean(lengths[name]) for name in runs])
    passages = uv.Losses.from_mlflow(runs, assessment="correct", groups="passage")
    assert len(np.unique(passages.groups)) == N_QUESTIONS // 2


def test_tables_of_assessments(evaluated: dict[str, Any]) -> None:
    runs = {}
    for name, found in evaluated.items():
        with mlflow.start_run(run_name=f"table of {name}") as run:
            mlflow.log_table(found.result_df[["request", "correct/value"]], "answers.json")
        runs[name] = run.info.run_id
    read = uv.Losses.from_mlflow(runs, assessment="correct", table="answers.json")
    expected = uv.Losses.from_mlflow(
        {name: found.run_id for name, found in evaluated.items()}, assessment="correct"
    )
    np.testing.assert_allclose(read.means, expected.means)
    with pytest.raises(ValueError, match="'judge/value' and 'judge' are not columns of answers"):
        uv.Losses.from_mlflow(runs, assessment="judge", table="answers.json")


def test_versions_of_a_model(evaluated: dict[str, Any]) -> None:
    """All evaluations of one version are read together."""

    @mlflow.genai.scorer
    def short(outputs: Any) -> bool:
        return len(outputs) < 2

    versions = {}
    for name in RIGHT:
        versions[name] = external_model(f"agent-{name}")
        for half in (slice(N_QUESTIONS), slice(N_QUESTIONS, None)):
            known = {row["inputs"]["question"]: row["outputs"] for row in asked(name)[half]}
            evaluate(
                data=[{"inputs": {"question": question}} for question in known],
                predict_fn=answering(known),
                scorers=[short],
                model_id=versions[name],
            )
    losses = uv.Losses.from_mlflow(versions, assessment="short")
    np.testing.assert_allclose(losses.means.ravel(), [marks(name).mean() for name in versions])
    assert len(np.unique(losses.groups)) == N_QUESTIONS


def test_what_people_said_later_counts(evaluated: dict[str, Any]) -> None:
    run_id = evaluated["old"].run_id
    before = um.load_assessments(run_id, "strange")
    traces = mlflow.search_traces(run_id=run_id, locations=["0"], return_type="list")
    for trace in traces:
        mlflow.log_feedback(trace_id=trace.info.trace_id, name="strange", value=True)
    assert set(before["value"]) == {"perhaps"}
    assert uv.Losses.from_mlflow(run_id, assessment="strange").means.ravel() == [1.0]


def test_what_is_refused(evaluated: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    run = evaluated["new"].run_id

    correct = {"assessment": "correct"}
    asked: list[tuple[Any, dict[str, Any], str]] = [
        (run, {}, "exactly one of predictions and assessment"),
        (run, {"predictions": "a", "assessment": "b"}, "exactly one of predictions and assessment"),
        (run, correct | {"metric": "f1"}, "metric does not apply to an assessment"),
        (run, {"assessment": 1}, "assessment must be a name"),
        ({}, correct, "no run is named"),
        ({1: run, "1": run}, correct, "run_id has the key 1: names must be different"),
        ({1: run, "1": run}, {"predictions": "p"}, "run_id has the key 1: names must be different"),
        (run, {"assessment": "other"}, "has no answers with the assessment 'other'"),
        (run, {"assessment": "strange"}, "is 'perhaps' for the question .* but must be True or"),
        (run, correct | {"groups": "ward"}, "groups='ward' is not an input of the question"),
    ]
    for given, options, message in asked:
        with pytest.raises(ValueError, match=message):
            uv.Losses.from_mlflow(given, **options)

    answers = pd.DataFrame({"request": ["a", "b", "b"], "value": [True, False, True]})
    tables = {"one": answers, "other": answers[:2], "graded": answers.assign(value=0.5)}
    monkeypatch.setattr(um, "load_assessments", lambda run, name: tables[run], raising=False)
    more = "1 questions have more answers of 'one' than of the other, such as 'b'"
    with pytest.raises(ValueError, match=more):
        uv.Losses.from_mlflow({"one": "one", "other": "other"}, assessment="x")
    assert uv.Losses.from_mlflow("graded", assessment="x").means.ravel() == [0.5]
