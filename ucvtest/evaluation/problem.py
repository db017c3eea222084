"""The question that a test answers: data, learners and loss, validated once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ucvtest.common.exceptions import warn_caller
from ucvtest.data.groups import Clusters, Groups, GroupWeight, check_group_weight, clusters_of
from ucvtest.data.output import OUTPUTS, Output
from ucvtest.data.rows import Reported
from ucvtest.data.sample import Sample, make_sample, taken_for_classes
from ucvtest.learners.adapters.coerce import as_learner, as_learners, is_regressor
from ucvtest.learners.adapters.translate import Backend, choose_backend
from ucvtest.learners.base import Learner
from ucvtest.losses.loss import Loss, as_loss, for_classes, output_of
from ucvtest.losses.resample_means import AUC
from ucvtest.losses.sklearn_scorers import SetScore, is_auc

__all__ = ["Problem", "check_two_classes", "named_learners"]


@dataclass(frozen=True, eq=False)
class Problem:
    """One sample, the learners that are asked about, and what their predictions cost.

    Made by `of`, which validates everything that does not depend on a design. There is no loss
    where the question is about none, as with the AUC.
    """

    sample: Sample
    learners: Mapping[str, Learner]
    loss: Loss | None
    output: Output
    backend: Backend
    group_weight: GroupWeight = "group"
    given_groups: Groups | None = None
    """The groups as they were passed, for splitters: also where each has one row."""

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        learners: Any,
        *,
        loss: Any = None,
        output: Output | None = None,
        pos_label: Any = None,
        groups: Any = None,
        group_weight: Any = "group",
        backend: Backend = "auto",
    ) -> Self:
        """Validate what a user passes; an output stands in the place of a loss.

        Warnings about rows are given, unless X is `Reported`. Groups of one row each are none.
        """
        weight = check_group_weight(group_weight, grouped=groups is not None)
        named = named_learners(learners)
        as_classes = taken_for_classes(
            y,
            output or output_asked_of(loss),
            regresses=any(map(is_regressor, named.values())),
            pos_label=pos_label,
        )
        scored = None if output else _for_response(loss, as_classes=as_classes)
        output = _output_for(output, scored)
        if output != "number" and not as_classes:
            raise ValueError(_labels_needed(scored))
        features = X.features if isinstance(X, Reported) else X
        sample = make_sample(features, y, as_classes=as_classes, pos_label=pos_label, groups=groups)
        given = sample.groups
        if given is not None and given.single:
            sample, weight = replace(sample, groups=None), "group"
        if sample.n_classes == 2 or output == "score" or isinstance(scored, SetScore):
            _check_classes_of_groups(sample)
        check_matrix(scored, sample)
        if scored is not None and not isinstance(scored, SetScore):
            scored = for_classes(scored, sample.n_classes)
        if features is X:
            warn_of(sample)
        return cls(sample, named, scored, output, backend, weight, given)

    @classmethod
    def of_loss_or_auc(
        cls,
        X: Any,
        y: Any,
        learners: Any,
        loss: Any,
        *,
        several_classes: bool = False,
        **arguments: Any,
    ) -> Self:
        """The same where ``loss="auc"`` asks for areas under the ROC curve."""
        if not is_auc(loss):
            return cls.of(X, y, learners, loss=loss, **arguments)
        problem = cls.of(X, y, learners, output="score", **arguments)
        if not several_classes:
            check_two_classes(problem.sample)
        return problem

    def fitting(self, learn_size: int) -> Self:
        """The problem with learners that can learn from so few, jitted where they can be."""
        ready = {name: self.ready(each, learn_size) for name, each in self.learners.items()}
        return replace(self, learners=ready)

    def ready(self, learner: Learner, learn_size: int) -> Learner:
        """A learner as it is fitted: checked, a jitted one in the place of an estimator."""
        learner.check(self.sample, self.output, learn_size)
        return choose_backend(learner, self.backend, self.sample, self.output, learn_size)

    @property
    def clusters(self) -> Clusters | None:
        """The groups as observations of a test; None where rows are by themselves."""
        return clusters_of(self.sample.groups, self.group_weight)

    @property
    def n_units(self) -> int:
        """Clusters, or observations where there are none: what learning sets are drawn from."""
        return self.sample.n_obs if self.clusters is None else self.clusters.n_groups

    def learnt_rows(self, n_units: int) -> int:
        """Rows in a learning set of that many clusters at least: the smallest ones."""
        if self.clusters is None:
            return n_units
        return int(np.sort(self.clusters.groups.sizes)[:n_units].sum())

    @property
    def positive(self) -> Any:
        """The positive class, as JSON knows it; None for a real response."""
        classes = self.sample.classes
        if classes is None:
            return None
        return classes[-1].item() if isinstance(classes[-1], np.generic) else classes[-1]

    @property
    def loss_name(self) -> str:
        """What tables call the loss."""
        return AUC if self.loss is None else self.loss.name


def output_asked_of(loss: Any) -> Output | None:
    """What a loss that a user names scores; None where the response decides it."""
    if isinstance(loss, SetScore) and not loss.fixed_output:
        return None
    return output_of(loss)


def _for_response(loss: Any, *, as_classes: bool) -> Loss:
    """The loss; a score of whatever is predicted takes numbers where the response holds them."""
    if isinstance(loss, SetScore) and not loss.fixed_output and not as_classes:
        return replace(loss, output="number")
    return as_loss(loss, has_classes=as_classes)


def _check_classes_of_groups(sample: Sample) -> None:
    """Refuse classes that are in one group only, which is learnt from or tested.

    Of several classes a mean loss can do without one in some learning sets.
    """
    if sample.groups is None or sample.class_index is None or sample.classes is None:
        return
    sample.groups.check_classes(sample.class_index, sample.classes.tolist())


def warn_of(sample: Sample) -> None:
    """Warn the user of rows that cannot be independent."""
    for remark in sample.remarks:
        if remark.warns:
            warn_caller(remark.text)


def named_learners(learners: Any) -> dict[str, Learner]:
    """Names and learners in their order; the names of jitted ones are their own."""
    if isinstance(learners, Mapping):
        for name in learners:
            if not isinstance(name, str) or not name.strip():
                raise ValueError(f"learners has the key {name!r}: names must be strings with text")
        named = {name: as_learner(learner) for name, learner in learners.items()}
        if not named:
            raise ValueError("learners is empty: pass at least one")
        return named
    several = isinstance(learners, (list, tuple))
    found = [each for one in (learners if several else [learners]) for each in as_learners(one)]
    if not found:
        raise ValueError("learners is empty: pass at least one")
    named = {}
    for learner in found:
        name, number = learner.name, 1
        while name in named:
            number += 1
            name = f"{learner.name} ({number})"
        named[name] = learner
    return named


def check_two_classes(sample: Sample, argument: str = "loss", instead: str = "zero_one") -> None:
    """Refuse the AUC where there are not two classes."""
    if sample.n_classes == 2:
        return
    raise ValueError(
        f"{argument}='auc' needs two classes, y has {sample.n_classes}: merge classes, use "
        f"{argument}={instead!r}, or UStatisticTest, which estimates Hand and Till's AUC of "
        "several classes"
    )


def _output_for(output: Output | None, loss: Loss | None) -> Output:
    """What learners predict: what is asked for, or what the loss scores."""
    if output is None and loss is not None:
        return loss.output
    if output not in OUTPUTS:
        raise ValueError(f"output={output!r} is unknown: use one of {', '.join(OUTPUTS)}")
    return output


def _labels_needed(loss: Loss | None) -> str:
    if loss is None:
        return "y must hold class labels for this test, but it holds real values"
    return (
        f"loss={loss.name!r} needs class labels, but y holds real values: "
        "use loss='squared' or 'absolute'"
    )


def check_matrix(loss: Loss | None, sample: Sample) -> None:
    """Refuse a matrix of costs for another number of classes."""
    if loss is not None and loss.matrix is not None and len(loss.matrix) != sample.n_classes:
        classes = ", ".join(map(repr, np.asarray(sample.classes).tolist()))
        raise ValueError(
            f"loss has shape {loss.matrix.shape}, but y has {sample.n_classes} classes "
            f"({classes:.60}): pass one row for each true class and one column for each prediction"
        )
