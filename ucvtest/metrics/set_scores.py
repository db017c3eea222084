"""Scores of whole test sets: one number each, without values of observations."""

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.exceptions import warn_caller
from ucvtest.common.words import arg, place
from ucvtest.data.positive_class import plain_label
from ucvtest.metrics.base import Kind, Metric, with_ties

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample


@dataclass(frozen=True)
class SetScore(Metric):
    """A score of a whole test set; greater is better.

    `function` takes the true values and the predictions of one test set: labels as the user gave
    them, numbers, or probabilities and scores, (t,) or (t, C) for more than two classes. Without
    `fixed_output` its predictions are labels if the response contains classes. `parameters` are the
    parameters that the function knows. `positive` is the positive class of scikit-learn's scorer,
    often 1. A user's `pos_label` replaces it, unless the scorer itself was made with one.
    """

    fixed_output: bool = True
    parameters: frozenset[str] = frozenset()
    positive: Any = None
    scorer_names_positive: bool = False
    kind: Kind = field(default="set", init=False)

    @property
    def counts_errors(self) -> bool:
        """Never: its value is one number."""
        return False

    @property
    def of_one_class(self) -> bool:
        """Whether the scorer's function has an argument for the positive class."""
        return super().of_one_class or "pos_label" in self.parameters

    def positive_class(self, sample: "Sample") -> Any:
        """The class of two that the function is about: scikit-learn's, or the user's.

        A function without an argument for the class uses the last one of the sorted labels.
        """
        if not self.of_one_class or sample.classes is None or len(sample.classes) != 2:
            return None
        can_be_told = "pos_label" in self.parameters and not self.scorer_names_positive
        named = sample.positive_named and can_be_told
        if named or self.positive is None:
            return plain_label(sample.classes[-1] if named else np.sort(sample.classes)[-1])
        return plain_label(self.positive)

    @property
    def needs_every_class(self) -> bool:
        """Scores of classes are often undefined if a class is missing."""
        return self.output != "number"

    def kept(
        self, sample: "Sample", predictions: np.ndarray, testing: np.ndarray, first: int = 0
    ) -> np.ndarray:
        """The score of each test set, (R,), from predictions (R, n) or (R, n, C).

        Test sets are numbered from `first`.

        Raises
        ------
        ValueError
            If a test set has no such score.
        """
        from sklearn.exceptions import UndefinedMetricWarning

        sample_arguments = self._known_arguments(sample)
        set_scores, doubts = np.empty(len(testing)), dict[int, str]()
        for row, tested in enumerate(testing):
            try:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always", UndefinedMetricWarning)
                    predicted = predictions[row, tested]
                    set_scores[row] = self.of_set(sample, predicted, tested, sample_arguments)
            except (ValueError, TypeError) as error:
                raise ValueError(
                    f"{arg('scoring', self.name)} failed on split {place(first + row)}: {error}"
                ) from None
            if not np.isfinite(set_scores[row]):
                raise ValueError(
                    f"{arg('scoring', self.name)} gave {set_scores[row]} on split "
                    f"{place(first + row)}, whose test set has no such score: use fewer folds, or "
                    "stratified folds"
                )
            if caught:
                doubts[row] = str(caught[0].message)
        if doubts:
            warn_caller(
                f"{arg('scoring', self.name)} in {len(doubts)} of {len(testing)} test sets: "
                f"{next(iter(doubts.values()))} Use fewer folds, or stratified folds"
            )
        return set_scores

    def of_set(
        self, sample: "Sample", predicted: np.ndarray, tested: np.ndarray, arguments: Any
    ) -> float:
        """The score of one test set, with arguments for the function."""
        function: Any = partial(self.function, **arguments)
        classes = sample.classes
        if self.output == "number" or classes is None:
            return function(sample.target[tested], predicted)
        true = sample.response[tested]
        if self.output == "label":
            return with_ties(lambda codes: function(true.copy(), classes[codes]), predicted)
        if len(classes) > 2:
            # Columns in ascending order of the classes.
            predicted = predicted[:, np.argsort(classes)]
        elif self.positive_class(sample) != classes[-1]:
            # Predictions are about the last class.
            predicted = 1 - predicted if self.output == "probability" else -predicted
        return function(true, predicted)

    def _known_arguments(self, sample: "Sample") -> dict[str, Any]:
        """The positive class that a user names, and labels, for functions that need them.

        If nobody names the positive class, scikit-learn decides, and may refuse.
        """
        if sample.classes is None or self.output == "number":
            return {}
        if sample.n_classes == 2 and "pos_label" in self.parameters and sample.positive_named:
            return {"pos_label": sample.classes[-1]}
        if sample.n_classes > 2 and self.output != "label" and "labels" in self.parameters:
            return {"labels": np.sort(sample.classes)}
        return {}


def check_positive_of(score: SetScore, sample: "Sample") -> None:
    """Refuse, before any fit, what scikit-learn's function refuses for its positive class.

    The function is called with the true classes as predictions.

    Raises
    ------
    ValueError
        With scikit-learn's message, and the remedy.
    """
    asks = "pos_label" in score.parameters and score.output != "number"
    if not asks or sample.n_classes != 2 or sample.positive_named:
        return
    classes = np.asarray(sample.classes).tolist()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score.of_set(sample, sample.target, np.arange(sample.n_obs), {})
    except (ValueError, TypeError) as error:
        labels = " or ".join(arg("pos_label", label) for label in classes)
        # scikit-learn names its own argument, with the default that no label equals.
        cause = str(error).replace("pos_label=1", arg("pos_label", 1))
        raise ValueError(
            f"{arg('scoring', score.name)} cannot score the labels of y as they are "
            f"({cause}): pass {labels}, the class that it is about"
        ) from None
