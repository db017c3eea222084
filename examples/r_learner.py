"""R's glmnet, ranger and your own function as learners in a test in Python.

    python examples/r_learner.py [--quick]

Needs R with the packages glmnet and ranger, and the colon data in the folder that the environment
variable UCVTEST_DATA names; without them it takes the breast cancer data of scikit-learn.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from ucvtest_r import RLearner, RWarning

import ucvtest as uv

# The R code of a learner: it returns one label for each row of xnew.
NEAREST_MEAN = """
function(x, y, xnew) {
  means <- sapply(levels(y), function(label) colMeans(x[y == label, , drop = FALSE]))
  distance <- apply(means, 2, function(mean) colSums((t(xnew) - mean)^2))
  levels(y)[max.col(-distance, "first")]
}
"""


def load() -> tuple[np.ndarray, np.ndarray]:
    """The features and the labels, the positive class last."""
    colon = Path(os.environ.get("UCVTEST_DATA", "../shared/data")) / "colon.csv.gz"
    if colon.exists():
        table = pd.read_csv(colon)
        labels = np.where(table["tumour"] == 1, "tumour", "normal")
        return table.drop(columns="tumour").to_numpy(float), labels
    data = load_breast_cancer()
    drawn = np.random.default_rng(0).choice(len(data.target), 62, replace=False)
    return data.data[drawn], data.target_names[data.target[drawn]]


def main() -> None:
    n_pairs = 20 if "--quick" in sys.argv else 200
    # glmnet warns of classes with fewer than 8 observations, which 26 patients often have.
    warnings.filterwarnings("ignore", "learner glmnet.* dangerous ground", RWarning)
    X, y = load()
    lasso = RLearner("glmnet", s=0.08)
    others = {
        "the same lasso, jitted": uv.learners.lasso(0.08),
        "glmnet with a larger penalty": RLearner("glmnet", s=0.5),
        "a random forest": RLearner("ranger", num_trees=50),
        "an R function": RLearner(NEAREST_MEAN),
    }
    print(f"{lasso.name} against          difference      95% interval")
    for name, other in others.items():
        result = uv.UStatisticTest(X, y, lasso, other, learn_size=26).fit(n_pairs=n_pairs, rng=0)
        row = result.summary_frame().iloc[0]
        interval = f"[{row['conf_low']:.3f}, {row['conf_high']:.3f}]"
        print(f"{name:<34}{result.estimate:>9.4f}   {interval}")


if __name__ == "__main__":
    main()
