"""The ratio of the expected losses of two learners: its logarithm, with the jackknife variance.

log(U1/U2) is studentised with the variance of the kernel L1/U1 - L2/U2, its linear part.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ucvtest.inference.quantity import Quantity
from ucvtest.inference.studentise import Hypothesis, Studentised, by_rule, studentise
from ucvtest.stats.pivots import on_log

METHOD = "U-statistic test of the ratio of complete error estimates"
NO_RATIO = "no ratio: the mean loss of a learner is 0; use the contrast 'difference'"
IN_PROPORTION = "degenerate: the variance estimate is zero, the losses are in proportion"
OF_LOGARITHM = "The standard error and the variance are those of the logarithm of the ratio."


def studentise_ratio(
    hypothesis: Hypothesis, ratio: float, variance: float, *, mc_se: float, df: float, status: str
) -> Studentised:
    """The test of a ratio, by variance, Monte-Carlo error and df of its logarithm."""
    if math.isnan(ratio):
        return studentise(hypothesis, math.nan, math.nan, reference="none", status=status)
    null = hypothesis.null_value
    log_scale = studentise(
        replace(hypothesis, null_value=math.log(null)),
        math.log(ratio),
        variance,
        mc_se=mc_se,
        reference="t",
        df=df,
        status=status,
    )
    tested = replace(log_scale, estimate=ratio, null_value=null)
    return by_rule(tested, on_log(ratio, tested.se, df, null)) if status == "ok" else tested


def of_logarithm(diagnostics: Mapping[str, Any], tested: Studentised) -> dict[str, Any]:
    """Diagnostics of the logarithm, which have no units, with the error of the ratio itself."""
    numbers = {name: x.amount if isinstance(x, Quantity) else x for name, x in diagnostics.items()}
    return {**numbers, "mc_se_estimate": tested.estimate * numbers["mc_se_estimate"]}
