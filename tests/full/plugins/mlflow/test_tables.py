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
    marked = logged(TABLE.assign(right=NEW > 0))
    assert uv.Losses.from_mlflow(marked, predictions="right", loss="score").right_or_wrong
    fold = np.arange(40) // 2 % 4
    of_folds = logged(TABLE.assign(new=NEW, part=fold))
    for given in ("part", fold):
        found = uv.Losses.from_mlflow(of_folds, predictions="new", loss="auc", fold=given)
        expected = uv.Losses.from_predictions(TABLE["target"], {"new": NEW}, loss="auc", fold=fold)
        assert found.design == expected.design
        np.testing.assert_array_equal(found.means, expected.means)

    other = logged(TABLE.assign(score=NEW, target=1 - TABLE["target"]))
    with mlflow.start_run(run_name="rules") as run:
        mlflow.log_dict({"a": 1}, "a.json")
    asked: list[tuple[Any, dict[str, Any], str]] = [
        (both, {"predictions": "mid"}, "'mid' is not a column of eval_results_table.json"),
        (runs, {"predictions": ["score"]}, "predictions must be the one column"),
        (both, {"predictions": [1]}, "predictions must name columns"),
        (runs | {"b": other}, {"predictions": "score"}, "was evaluated on other rows"),
        (run.info.run_id, {"predictions": "a", "table": "a.json"}, "is not a table"),
    ]
    for given, options, message in asked:
        with pytest.raises(ValueError, match=message):
            uv.Losses.from_mlflow(given, **options)
