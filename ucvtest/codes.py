"""Light constant-weight codes: bounds, critical values and constructions.

What no algorithm can exceed under the null hypothesis of label independence, and what an
adversary can reach: Pahikkala et al. (2025), section 3.
"""

from ucvtest.code_bounds import (
    CodeBounds,
    delsarte_bound,
    known_code_sizes,
    light_code_bounds,
    residue_class_sizes,
    spectral_bound,
)
from ucvtest.critical_values import critical_values, supremum_pvalue

__all__ = [
    "CodeBounds",
    "critical_values",
    "delsarte_bound",
    "known_code_sizes",
    "light_code_bounds",
    "residue_class_sizes",
    "spectral_bound",
    "supremum_pvalue",
]
