"""Import scikit-learn's metrics, which the estimators need, without side effects.

While they are imported, scikit-learn's progress bars draw from Python's global generator; the
user's state is put back. Whatever needs scikit-learn imports this module first.
"""

import random

_state = random.getstate()
import sklearn.metrics  # noqa: E402, F401

random.setstate(_state)
