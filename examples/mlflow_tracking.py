"""Tests inside MLflow runs: an analysis that someone can read, check and repeat next month.

Three questions about 120 patients of the Wisconsin breast cancer data. Two tests
land in the run of the analysis, one makes a run of its own, and the last one compares two models
that exist on patients that neither has seen.

Writes to the folder build/tracking/; look at it with

    mlflow ui --backend-store-uri sqlite:///build/tracking/mlflow.db

If a tracking server is down, results wait on disk until ``ucvtest mlflow flush``.
"""

import argparse
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import ucvtest_mlflow
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import ucvtest as uv

FOLDER = Path("build/tracking")
N_PATIENTS = 120
LEARN_SIZES = (40, 55)


def patients() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]:
    """120 patients to learn from and test on, and the others."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    diagnosis = np.where(y == 0, "malignant", "benign")
    order = np.random.default_rng(0).permutation(len(y))
    ours, others = order[:N_PATIENTS], order[N_PATIENTS:]
    return X.iloc[ours], diagnosis[ours], X.iloc[others], diagnosis[others]


def use_local_store() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    mlflow.set_tracking_uri(f"sqlite:///{FOLDER}/mlflow.db")
    if mlflow.get_experiment_by_name("tumours") is None:
        artifacts = (FOLDER / "artifacts").absolute().as_uri()
        mlflow.create_experiment("tumours", artifact_location=artifacts)
    mlflow.set_experiment("tumours")


def compare_models(X: pd.DataFrame, y: np.ndarray, new_X: pd.DataFrame, new_y: np.ndarray) -> None:
    """Two fitted models on new patients, with the evaluator "ucvtest" of MLflow."""
    models = {"lda": LinearDiscriminantAnalysis(), "naive_bayes": GaussianNB()}
    predicted = {name: model.fit(X, y).predict(new_X) for name, model in models.items()}
    evaluation = mlflow.models.evaluate(
        data=pd.DataFrame(predicted).assign(diagnosis=new_y),
        predictions="lda",
        targets="diagnosis",
        model_type="classifier",
        evaluators="ucvtest",
        evaluator_config={"baseline": "naive_bayes"},
    )
    pvalue = evaluation.metrics["ucvtest.lda_vs_naive_bayes.zero_one.mcnemar/pvalue"]
    print(f"McNemar: p = {pvalue:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few fits, for a first look")
    n_pairs = 300 if parser.parse_args().quick else "auto"

    X, y, new_X, new_y = patients()
    use_local_store()
    uv.autolog()

    # Into the active run: the same question at two learning-set sizes.
    with mlflow.start_run(run_name="lda or naive Bayes"):
        for learn_size in LEARN_SIZES:
            test = uv.UStatisticTest(X, y, "lda", "gaussian_nb", learn_size=learn_size)
            result = test.fit(n_pairs=n_pairs, rng=0)
            print(f"{learn_size} patients: {result.verdict}")

    # No run is active: the test makes its own, with the verdict as its description.
    result = uv.UStatisticTest(X, y, "lda", "knn:5", learn_size=55).fit(n_pairs=n_pairs, rng=0)

    # Everything can be read back.
    (run,) = mlflow.search_runs(order_by=["start_time DESC"], max_results=1, output_format="list")
    again = ucvtest_mlflow.load_result(run.info.run_id)
    assert again.to_json() == result.to_json()
    print(f"Run {run.info.run_name}: {again.verdict}")

    with mlflow.start_run(run_name="two models on new patients"):
        compare_models(X, y, new_X, new_y)


if __name__ == "__main__":
    main()
