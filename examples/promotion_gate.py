"""Promote a model in MLflow's registry only where it is not worse than the champion.

Two versions of a model are registered, the one in use with the alias "champion" and a new one with
the alias "challenger". Both predict patients whom neither has seen. The challenger becomes the
champion if its error rate is shown to be higher by less than a margin, and not because it happened
to err less often on these patients.

Writes to the folder build/promotion/; look at it with

    mlflow ui --backend-store-uri sqlite:///build/promotion/mlflow.db
"""

import argparse
import warnings
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import ucvtest_mlflow
from mlflow.models import MetricThreshold
from mlflow.models.evaluation.validation import ModelValidationFailedException
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv

FOLDER = Path("build/promotion")
MODEL = "tumours"
MARGIN = 0.03
"""How much higher the error rate may be: chosen before anybody has looked."""


def use_local_store() -> mlflow.MlflowClient:
    FOLDER.mkdir(parents=True, exist_ok=True)
    mlflow.set_tracking_uri(f"sqlite:///{FOLDER}/mlflow.db")
    if mlflow.get_experiment_by_name(MODEL) is None:
        artifacts = (FOLDER / "artifacts").absolute().as_uri()
        mlflow.create_experiment(MODEL, artifact_location=artifacts)
    mlflow.set_experiment(MODEL)
    return mlflow.MlflowClient()


def register(client: mlflow.MlflowClient, model: object, alias: str) -> None:
    """A new version of the model, under an alias."""
    with mlflow.start_run(run_name=f"fit of the {alias}"):
        info = mlflow.sklearn.log_model(
            model, name=MODEL, registered_model_name=MODEL, pip_requirements=[]
        )
    client.set_registered_model_alias(MODEL, alias, str(info.registered_model_version))


def promoted_by_evaluation(client: mlflow.MlflowClient, holdout: pd.DataFrame) -> bool:
    """The gate by MLflow's own evaluation and validation; moves the alias if it is passed."""
    with mlflow.start_run(run_name="challenger against champion"):
        evaluation = mlflow.models.evaluate(
            model=f"models:/{MODEL}@challenger",
            data=holdout,
            targets="benign",
            model_type="classifier",
            evaluators="ucvtest",
            evaluator_config={"baseline_model": f"models:/{MODEL}@champion", "margin": MARGIN},
        )
    gate = "ucvtest.model_vs_baseline.zero_one.mcnemar/noninferiority.passed"
    try:
        mlflow.validate_evaluation_results(
            {gate: MetricThreshold(threshold=1, greater_is_better=True)}, evaluation
        )
    except ModelValidationFailedException as error:
        print(f"The champion stays: {error}")
        return False
    challenger = client.get_model_version_by_alias(MODEL, "challenger")
    client.set_registered_model_alias(MODEL, "champion", challenger.version)
    return True


def judged_by_tables(models: dict[str, object], holdout: pd.DataFrame) -> uv.NoninferiorityResult:
    """The same answer from tables of predictions in runs, without predicting again."""
    runs = {}
    for name, model in models.items():
        with mlflow.start_run(run_name=f"predictions of the {name}") as run:
            table = pd.DataFrame({"target": holdout["benign"]})
            table["prediction"] = model.predict(holdout.drop(columns="benign"))
            mlflow.log_table(table, "predictions.json")
        runs[name] = run.info.run_id
    losses = uv.Losses.from_mlflow(runs, predictions="prediction", table="predictions.json")
    result = uv.McNemarTest.from_losses(losses, "challenger", "champion").fit()
    judged = result.noninferiority(MARGIN)
    with mlflow.start_run(run_name="from tables"):
        ucvtest_mlflow.log_margin(judged, *ucvtest_mlflow.log_result(result))
    return judged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer patients")
    n_fit = 100 if parser.parse_args().quick else 200
    # MLflow on its own formats and type hints.
    warnings.filterwarnings("ignore", module="mlflow")

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    order = np.random.default_rng(0).permutation(len(y))
    fitted, new = order[:n_fit], order[n_fit:]
    holdout = X.iloc[new].assign(benign=y.iloc[new])
    models = {
        "champion": LinearDiscriminantAnalysis(),
        "challenger": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    client = use_local_store()
    for alias, model in models.items():
        register(client, model.fit(X.iloc[fitted], y.iloc[fitted]), alias)

    judged = judged_by_tables(models, holdout)
    print(judged.verdict)
    promoted = promoted_by_evaluation(client, holdout)
    assert promoted == (judged.decision == "pass")
    version = client.get_model_version_by_alias(MODEL, "champion").version
    print(f"{MODEL}@champion is version {version}.")


if __name__ == "__main__":
    main()
