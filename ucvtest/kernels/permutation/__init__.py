r"""Optimism of a learner on permuted labels, its closed form, and bounds from it.

Notation of Magdon-Ismail and Mertsalov (2011): the learner is fitted to labels y^pi that say
nothing about x; g^pi is its rule, e_in its loss on these labels, e_out its expected loss on a
label drawn again from the same distribution, and e_gen = e_out - e_in its optimism.
"""

from ucvtest.kernels.permutation.bounds import SAMPLINGS, Sampling, complexity_bound, error_bound
from ucvtest.kernels.permutation.optimism import generalization
from ucvtest.kernels.permutation.smoothers import (
    effective_degrees,
    final_prediction_error,
    leave_one_out,
    smoother_complexity,
    smoother_optimism,
    vc_penalty,
)

__all__ = [
    "SAMPLINGS",
    "Sampling",
    "complexity_bound",
    "effective_degrees",
    "error_bound",
    "final_prediction_error",
    "generalization",
    "leave_one_out",
    "smoother_complexity",
    "smoother_optimism",
    "vc_penalty",
]
