"""The question that a test answers: data, learners and loss, validated once."""

from typing import Any

import numpy as np

from ucvtest.data.output import OUTPUTS, Output
from ucvtest.data.sample import Sample
from ucvtest.losses.loss import Loss

__all__ = ["check_matrix", "labels_needed", "output_for", "refuse_to_guess", "takes_classes"]


def refuse_to_guess(y: np.ndarray) -> None:
    """Whole numbers that hardly repeat are rather amounts than labels; only the user knows."""
    if y.ndim != 1 or y.dtype.kind not in "iuf":
        return
    n_values = len(np.unique(y))
    if n_values > max(2, len(y) / 2):
        raise ValueError(
            f"y holds {n_values} different whole numbers in {len(y)} observations: pass "
            "loss='squared' or 'absolute' if they are amounts, loss='zero_one' if they are labels"
        )


def output_for(output: Output | None, loss: Loss | None) -> Output:
    """What learners predict: what is asked for, or what the loss scores."""
    if output is None and loss is not None:
        return loss.output
    if output not in OUTPUTS:
        raise ValueError(f"output={output!r} is unknown: use one of {', '.join(OUTPUTS)}")
    return output


def labels_needed(loss: Loss | None) -> str:
    """Why a response of real values will not do."""
    if loss is None:
        return "y must hold class labels for this test, but it holds real values"
    return (
        f"loss={loss.name!r} needs class labels, but y holds real values: "
        "use loss='squared' or 'absolute'"
    )


def takes_classes(output: Output, y: np.ndarray, pos_label: Any) -> bool:
    """Whether labels, or numbers that may be labels, are coded as classes for this output."""
    if output in ("label", "probability", "score") or pos_label is not None:
        return True
    # Squared and absolute error take numbers as they are, and code two labels 0/1.
    return y.dtype.kind not in "iuf" or len(np.unique(y)) <= 2


def check_matrix(loss: Loss | None, sample: Sample) -> None:
    """Refuse a loss matrix with another number of classes than the sample."""
    if loss is not None and loss.matrix is not None and len(loss.matrix) != sample.n_classes:
        classes = ", ".join(map(repr, np.asarray(sample.classes).tolist()))
        raise ValueError(
            f"loss has shape {loss.matrix.shape}, but y has {sample.n_classes} classes "
            f"({classes}): pass one row for each true class and one column for each prediction"
        )
