"""Is one learner better than another, if there are only 120 patients to find out with?

Wisconsin breast cancer data: 30 measurements of cell nuclei, benign or malignant. To be in the
situation that the tests are for, 120 of the 569 patients are drawn at random and the others
are forgotten. The question: with 40 patients to learn from, does it pay to estimate how the 30
measurements vary together (linear discriminant analysis), or does one better pretend that they
vary independently (Gaussian naive Bayes)?

Run with ``make demo``, or ``python examples/demo.py``; writes to the folder build/demo/.
"""

import argparse
from pathlib import Path

import mlflow
import numpy as np
from sklearn.datasets import load_breast_cancer

import ucvtest as uv

N_PATIENTS = 120
LEARN_SIZE = 40
MALIGNANT = 0
FOLDER = Path("build/demo")
STORE = f"sqlite:///{FOLDER}/mlflow.db"


def log_to_local_store() -> None:
    """Have every test logged to an MLflow store of our own, pictures and all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    mlflow.set_tracking_uri(STORE)
    if mlflow.get_experiment_by_name("demo") is None:
        artifacts = (FOLDER / "artifacts").absolute().as_uri()
        mlflow.create_experiment("demo", artifact_location=artifacts)
    mlflow.set_experiment("demo")
    uv.autolog()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few fits, for a first look")
    quick = parser.parse_args().quick

    X, y = load_breast_cancer(return_X_y=True)
    drawn = np.random.default_rng(0).choice(len(y), N_PATIENTS, replace=False)

    log_to_local_store()
    test = uv.UStatisticTest(
        X[drawn], y[drawn], "lda", "gaussian_nb", learn_size=LEARN_SIZE, pos_label=MALIGNANT
    )
    result = test.fit(n_pairs=500 if quick else "auto", rng=0)

    picture = FOLDER / "result.png"
    result.plot().figure.savefig(picture, dpi=150, bbox_inches="tight")

    print(result.summary())
    print(f"\nPicture: {picture}")
    print("The same, logged to MLflow, in a browser:")
    print(f"    .venv/bin/mlflow ui --backend-store-uri {STORE}")


if __name__ == "__main__":
    main()
