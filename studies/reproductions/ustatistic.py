"""The data example of Fuchs, Hornung, De Bin and Boulesteix (2013), section 6.

Colon cancer data of Alon et al. (1999): 62 tissues, 2000 gene expressions. Two lasso-penalised
logistic regressions, lambda = 0.08 against lambda = 0.5, learnt from 26 tissues each. At
lambda = 0.5 no gene enters, so the prediction is the majority class of the learning set; where
a learning set contains 13 tissues of each class, the fitted probability is exactly 1/2 and the
first class (normal tissue) is predicted, as glmnet does.

The data are not part of the package: `studies/data.py` says where they are looked for.
"""

import argparse
import time

import pandas as pd

import ucvtest as uv
from studies.data import DataMissing, data_set

PAPER = {
    "estimate": "-0.14",
    "variance (unbiased)": "0.01",
    "95% interval": "[-0.35, 0.07]",
    "p-value": "0.19",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="150 pairs of learning sets")
    quick = parser.parse_args().quick

    start = time.perf_counter()
    try:
        data = data_set("colon")
    except DataMissing as error:
        print(error)
        return
    test = uv.UStatisticTest(
        data.iloc[:, 1:],
        data.iloc[:, 0],
        uv.learners.lasso(0.08),
        uv.learners.lasso(0.5),
        learn_size=26,
    )
    result = test.fit(n_pairs=150 if quick else "auto", variance="unbiased", rng=0)
    seconds = time.perf_counter() - start

    print(result.summary())
    low, high = result.conf_int()
    ours = {
        "estimate": f"{result.estimate:.4f} +- {result.diagnostics['mc_se_estimate']:.4f}",
        "variance (unbiased)": (
            f"{result.variance:.5f} +- {result.diagnostics['mc_se_variance']:.5f}"
        ),
        "95% interval": f"[{low:.3f}, {high:.3f}]",
        "p-value": f"{result.pvalue:.3f}",
    }
    print("\n(+- is the Monte-Carlo standard error)")
    print(pd.DataFrame({"paper": PAPER, "ucvtest": ours}).to_string())
    print(f"\n{result.n_fits} fits, {seconds:.1f} s from start to verdict")


if __name__ == "__main__":
    main()
