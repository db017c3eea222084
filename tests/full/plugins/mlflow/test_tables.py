"""Losses from evaluation tables that runs contain."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("mlflow")

import mlflow
from mlflow import MlflowClient

import ucvtest as uv
from tests.support.mlflow_runs import WARNINGS

pytestmark = WARNINGS

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"target": np.arange(40) % 2, "age": RNG.normal(size=40)})
NEW, OLD = TABLE["target"] + RNG.normal(size=40), TABLE["target"] + RNG.normal(size=40) * 2


def logged(table: pd.DataFrame) -> str:
    with mlflow.start_run(run_name="rules") as run:
        mlflow.log_table(table, "eval_results_table.json")
    return str(run.info.run_id)


def test_one_run_and_several(client: MlflowClient) -> None:
    both = logged(TABLE.assign(new=NEW, old=OLD))
    runs = {"new": logged(TABLE.assign(score=NEW)), "old": logged(TABLE.assign(score=OLD))}
    expected = uv.Losses.from_predictions(TABLE["target"], {"new": NEW, "old": OLD}, loss="auc")
    for found in (
        uv.Losses.from_mlflow(both, predictions=["new", "old"], loss="auc"),
        uv.Losses.from_mlflow(runs, predictions="score", loss="auc"),
    ):
        np.testing.assert_allclose(found.means, expected.means)
        assert found.learners == ("new", "old")
    auc = uv.Losses.from_mlflow(both, predictions=["new", "old"], metric="auc")
    assert auc.metric == expected.metric
    grouped = uv.Losses.from_mlflow(both, predictions="new", loss="auc", groups="age")
    assert grouped.groups is None or len(grouped.groups) == 40
    marked = logged(TABLE.assign(right=NEW > 0))
    assert uv.Losses.from_mlflow(marked, predictions="right", loss="score").right_or_wrong
    fold = np.arange(40) // 2 % 4
    of_folds = logged(TABLE.assign(new=NEW, part=fold))
    for given in ("part", fold):
        found = uv.Losses.from_mlflow(of_folds, predictions="new", loss="auc", fold=given)
        expected = uv.Losses.from_predictions(TABLE["target"], {"new": NEW}, loss="auc", fold=fold)
        assert found.design == expected.design
        np.testing.assert_array_equal(found.means, expected.means)

    def refused(message: str, *arguments: Any, **options: Any) -> None:
        with pytest.raises(ValueError, match=message):
            uv.Losses.from_mlflow(*arguments, **options)

    refused("'mid' is not a column of eval_results_table.json", both, predictions="mid")
    refused("predictions must be the one column", runs, predictions=["score"])
    refused("predictions must name columns", both, predictions=[1])
    other = logged(TABLE.assign(score=NEW, target=1 - TABLE["target"]))
    refused("was evaluated on other rows", runs | {"b": other}, predictions="score")
    with mlflow.start_run(run_name="rules") as run:
        mlflow.log_dict({"a": 1}, "a.json")
    refused("is not a table", run.info.run_id, predictions="a", table="a.json")
