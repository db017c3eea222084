"""The scheme behind the design of existing losses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.common.words import arg, call
from ucvtest.designs.design import Design
from ucvtest.designs.structure import folds_of, pairs_of
from ucvtest.inference.question import Question
from ucvtest.methods.influence.estimation import times_tested
from ucvtest.methods.influence.options import InfluenceOptions, Layout, Options, resampled_of
from ucvtest.methods.influence.resamples import Folds, Resamples, WholeFolds, single_folds


@dataclass(frozen=True, eq=False)
class GivenLayout(Layout):
    """A layout whose only scheme is the design of given losses.

    For random splits, K is the number nearest to n divided by the size of a test set. `order` has
    the row of the design behind each row of `resamples`, if their orders differ.
    """

    smooth = one_size = (
        "use losses of random splits, with the same number of each class in every test set"
    )

    design: Design
    scheme: str
    resamples: Resamples
    order: np.ndarray | None = None

    def learn_sizes(self, scheme: str) -> tuple[int, ...]:
        """See `Layout`."""
        return self.design.learn_sizes

    def n_tested(self, scheme: str) -> tuple[int, ...] | None:
        """See `Layout`; for random splits, the number in the design, which n_folds may not tell."""
        if scheme != "monte_carlo":
            return super().n_tested(scheme)
        first = self.design.testing[0]
        return tuple(int(first[members].sum()) for members in self.classes)

    def no_share(self, scheme: str) -> str:
        """See `Layout`."""
        return "it needs further fits, but losses are given"

    def ad_hoc(self, scheme: str) -> tuple[str, ...]:
        """See `Layout`."""
        if scheme == "monte_carlo" or isinstance(self.resamples, WholeFolds):
            # The ad-hoc forms need test sets of 1/K, and all pairs of folds.
            return ()
        return super().ad_hoc(scheme)

    def resolved(self, question: Question, options: Options) -> InfluenceOptions:
        """See `Layout`; the design decides everything except the variance."""
        question.refuse_budget(max_fits=options.max_fits, max_seconds=options.max_seconds)
        decided = {"n_repeats": self.resamples.n_repeats, "scheme": self.scheme}
        for name, value in decided.items():
            user_option = getattr(options, name)
            if user_option not in ("auto", None, value):
                raise ValueError(
                    f"{arg(name, user_option)}, but the design of the given losses has "
                    f"{value!r:.60}: leave it out"
                )
        chosen = self.chosen(self.scheme, options.variance)
        return InfluenceOptions(**{**vars(options), **decided, "variance": chosen})


def layout_of_losses(question: Question) -> GivenLayout:
    """The layout for the design of given losses."""
    pairs, classes = resampled_of(question)
    design, clusters = question.design, question.clusters
    assert design is not None
    of_units = design if clusters is None else design.by_groups(clusters.groups)
    layout = replace(_read_off(of_units, classes), clusters=clusters, pairs=pairs)
    layout.check_scheme(layout.scheme)
    untested = int((times_tested(layout, layout.resamples) == 0).sum())
    if untested:
        tested_units = (
            "observations" if not layout.ranks_pairs else "pairs of a positive and a negative"
        )
        raise ValueError(
            f"the design of the losses never tests {untested} {tested_units} (together): use more "
            f"repeats, as in {call('designs.RandomSplits', '1000', arg('stratify', True))}"
        )
    layout.check_memory(2 if question.paired else 1)
    return layout


def _read_off(design: Design, classes: tuple[np.ndarray, ...]) -> GivenLayout:
    auc = len(classes) == 2
    if auc and design.test_sizes == (2,):
        positive, negative = pairs_of(design, np.isin(np.arange(design.n_obs), classes[0]))
        order = np.lexsort((negative, positive))
        n_folds = max(map(len, classes))
        pairs = single_folds(classes)
        return GivenLayout(classes, n_folds, design, "leave_one_out", pairs, order)
    try:
        folds = folds_of(design)
    except ValueError:
        if (design.learning == design.testing).any():
            raise ValueError(
                "the design has observations that are neither learnt from nor tested: use K-fold "
                "cross-validation or random splits of the whole sample"
            ) from None
        _check_test_sets(design, classes, 0)
        n_folds = round(design.n_obs / design.test_sizes[-1])
        splits = Folds(classes, design.learning.astype(np.uint8), (1,) * len(classes))
        return GivenLayout(classes, n_folds, design, "monte_carlo", splits)
    n_repeats, n_folds = len(folds), int(folds.max()) + 1
    _check_test_sets(design, classes, 1)
    if auc:
        whole_folds = WholeFolds(classes, folds, (n_folds, n_folds))
        return GivenLayout(classes, n_folds, design, "repeated", whole_folds)
    single = "leave_one_out" if n_folds == design.n_obs else "kfold"
    scheme = "repeated" if n_repeats > 1 else single
    return GivenLayout(classes, n_folds, design, scheme, Folds(classes, folds, (n_folds,)))


def _check_test_sets(
    design: Design, classes: Sequence[np.ndarray], largest_difference: int
) -> None:
    """Refuse test sets whose numbers of a class differ by more, or that contain none of a class."""
    for members in classes:
        sizes = design.testing[:, members].sum(axis=1)
        if sizes.max() - sizes.min() > largest_difference or not sizes.min():
            of_class = "" if len(classes) == 1 else " of one class"
            raise ValueError(
                f"the design tests between {sizes.min()} and {sizes.max()} observations{of_class} "
                "at a time, but the test needs the same number each time"
                + ("" if len(classes) == 1 else ": use stratified folds")
            )
