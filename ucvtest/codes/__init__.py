"""Light constant-weight codes: bounds and critical values.

The limit of every algorithm under the null hypothesis of label independence: Pahikkala et al.
(2025), section 3.
"""

from ucvtest.codes.bounds import (
    CodeBounds,
    known_code_sizes,
    light_code_bounds,
    residue_class_sizes,
    spectral_bound,
)
from ucvtest.codes.critical_values import critical_values, plot_critical_values, supremum_pvalue
from ucvtest.codes.linear_programme import delsarte_bound

__all__ = [
    "CodeBounds",
    "critical_values",
    "delsarte_bound",
    "known_code_sizes",
    "light_code_bounds",
    "plot_critical_values",
    "residue_class_sizes",
    "spectral_bound",
    "supremum_pvalue",
]
