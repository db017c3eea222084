"""Light constant-weight codes: bounds, critical values and constructions.

The limit of every algorithm under the null hypothesis of label independence, and what an
adversary can reach: Pahikkala et al. (2025), section 3.
"""

from ucvtest.codes.bounds import (
    CodeBounds,
    known_code_sizes,
    light_code_bounds,
    residue_class_sizes,
    spectral_bound,
)
from ucvtest.codes.constructions import (
    AdversarialLearner,
    LightCode,
    RandomLearner,
    cyclic_code,
    order_direction_learner,
    residue_class_code,
)
from ucvtest.codes.critical_values import critical_values, plot_critical_values, supremum_pvalue
from ucvtest.codes.linear_programme import delsarte_bound

__all__ = [
    "AdversarialLearner",
    "CodeBounds",
    "LightCode",
    "RandomLearner",
    "critical_values",
    "cyclic_code",
    "delsarte_bound",
    "known_code_sizes",
    "light_code_bounds",
    "order_direction_learner",
    "plot_critical_values",
    "residue_class_code",
    "residue_class_sizes",
    "spectral_bound",
    "supremum_pvalue",
]
