"""The result that tests of tables, pictures and logs start from."""

import math
from typing import Any

from ucvtest.results.result import TestResult
from ucvtest.stats.pivots import on_log, plus_four


def sample_result(**fields: Any) -> TestResult:
    """A difference of two error rates by its normal approximation, with other fields as given."""
    shown: dict[str, Any] = {
        "estimate": -0.14,
        "se": 0.107,
        "variance": 0.0114,
        "statistic": -1.31,
        "pvalue": 0.19,
        "df": math.nan,
        "null_value": 0.0,
        "alternative": "two-sided",
        "method": "U-statistic test",
        "estimand": "difference of error rates",
        "reference": "normal",
        "status": "ok",
        "n_obs": 62,
        "n_fits": 8000,
        "elapsed": 24.3,
        "settings": {"learner": "lda", "other": "knn:3"},
    }
    return TestResult(**shown | fields)


RATIO = sample_result(
    rule=on_log(0.9, 0.05, 30.0), contrast="ratio", estimate=0.9, null_value=1.0, se=0.05
)
ONE: dict[str, Any] = {
    "settings": {"learner": "lda"},
    "estimand": "error rate",
    "estimate": 0.2,
    "se": 0.03,
}
RATE = sample_result(**ONE, rule=plus_four(0.2, 0.003, 60), null_value=0.2)
"""A ratio of two losses, and the error rate of one learner."""
