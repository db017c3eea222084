"""`columns`: what predictions would lose without some columns, or gain by them."""

import time
from os import PathLike
from typing import Annotated, Any, Unpack

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import AtLeast
from ucvtest.common.execution import make_generator
from ucvtest.common.words import arg
from ucvtest.comparison.compare import compare
from ucvtest.comparison.specs import TestSpec
from ucvtest.data.missing import complete_rows, dropped_note
from ucvtest.data.rows import Reported
from ucvtest.evaluation.problem import Problem
from ucvtest.gains.blocks import Blocks
from ucvtest.gains.copies import check_copies, pvalue_of_rank
from ucvtest.gains.result import UNDECIDED, ColumnGains
from ucvtest.inference.arguments import OfData, Run, spelled_out
from ucvtest.kernels.ustatistic.rows import MOST_UNITS
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.methods.registry import TESTS
from ucvtest.methods.ustatistic.interval import knows_slope
from ucvtest.methods.ustatistic.simultaneous import MOST_BYTES
from ucvtest.methods.ustatistic.sizes import FEW_OBS
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.stats.wald import OTHER_SIDE, Alternative

MANY, FEW = 1000, 20
"""Fits of each learner: where all are jitted, and otherwise. A gain near 0 never gets as precise as
a share of itself, so that no tolerance could end the draws."""


class GainOptions(OfData, Run, total=False):
    """The question about gains, and how fits are run."""

    loss: Any
    metric: Any
    alternative: Annotated[Alternative, "two-sided"]


@spelled_out
def columns(
    X: Any,
    y: Any,
    learner: Any,
    blocks: Any = None,
    base: Any = None,
    *,
    copies: Annotated[int, AtLeast(0)] = 0,
    fits: Annotated[int, AtLeast(8)] | None = None,
    learn_size: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    **user_options: Unpack[GainOptions],
) -> ColumnGains:
    """Tell what predictions would lose without a block of columns, or gain by it.

    The gain of a block is the expected loss of the learner without the block less that with all
    columns; with `base`, that of the base less that of the base and the block. Both learn from
    `learn_size` observations. Of scores and AUCs it is the other way round, so that a block that
    helps has a gain above 0. H0 of each block: its gain is 0.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,), or the name of a column of X
    learner : learner
        As for any test. Jitted learners, and estimators that one replaces, stay jitted. Functions
        get X with some of its columns.
    blocks : mapping or list, optional
        Columns by the name of their block, or lists of columns: names, or numbers from 0. By
        default each column is a block. The dummies of a category belong into one block.
    base : list, optional
        Columns to which each block is added. By default each block is left out of all columns. An
        empty list is the most frequent class, or the mean.
    copies : int
        Also give a p-value for "the block carries no information": that of the rank of its
        predictions among those with this number of permuted copies in its place. At least 19. It
        takes `copies` + 1 times the fits of a learner for each block.
    fits : int, optional
        Fits of each learner, an even number: by default 1000 if all are jitted, otherwise 20.
    learn_size : int or tuple, optional
        Observations to learn from, at most n/2 - 1, which is the default: see `UStatisticTest`.
    loss, metric, scoring, pos_label, groups, group_weight, backend, missing
        See `UStatisticTest`.
    alternative : {"two-sided", "less", "greater"}
        H1: gains differ from, are below, or are above 0.
    rng, n_jobs, batch_size, progress
        See `UStatisticTest.fit`.
    checkpoint : path, optional
        A folder that keeps finished fits of gains: see `compare`.

    Returns
    -------
    ColumnGains

    Raises
    ------
    ValueError
        If columns are unknown or in two blocks, or anything else cannot be used; before any fit.

    Notes
    -----
    Assumes independent observations (or clusters, with `groups`), and blocks that were not chosen
    by their relation to `y` in this sample.

    All learners share their learning sets. Each difference is that of `UStatisticTest`, intervals
    are simultaneous, and p-values are adjusted step by step. Jitted learners have the variance
    "midpoint" for every loss, because the jackknife vanishes together with a gain, and the interval
    "stabilised" for means of losses. Others have "few".

    "helps" means: this learner, when it learns from `learn_size` observations. A column without
    information has a gain below 0, because learning it costs something; so such a column is hardly
    ever said to help, and "undecided" does not mean that it is irrelevant. A likelihood-ratio test
    asks whether there is any effect, and needs less than half of the observations.

    `copies` is exact if the block is independent of the other columns. With `groups`, columns that
    are constant within groups are permuted among groups, others within them.

    Cost: `fits` times the number of blocks and one, and O(n^2) operations for each block.

    References
    ----------
    B. D. Williamson, P. B. Gilbert, M. Carone, N. Simon (2021), Nonparametric variable importance
    assessment using machine learning techniques. L. Mentch, S. Zhou (2022), Getting better from
    worse: augmented bagging and a cautionary tale of variable importance.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> gains = uv.columns(
    ...     X[50:], y[50:], "lda", {"sepals": X.columns[:2], "petals": X.columns[2:]}, rng=0
    ... )
    >>> gains.frame["finding"].tolist()
    ['undecided', 'helps']
    """
    started = time.perf_counter()
    data: dict[str, Any] = {**user_options}
    run = {name: data.pop(name) for name in Run.__annotations__ if name in data}
    named = {name: data.pop(name, None) for name in ("loss", "metric", "scoring")}
    alternative = data.pop("alternative", "two-sided")
    X, y, groups, n_dropped = complete_rows(X, y, data.get("groups"), data.pop("missing", "raise"))
    plan = Blocks.of(X, blocks, base)
    learners, data = plan.learners(learner), data | {"groups": groups}
    generator, seed = make_generator(run.get("rng"))
    run["rng"] = seed = int(generator.integers(2**32)) if seed is None else seed
    chosen = chosen_loss(named["loss"], named["scoring"], named["metric"])
    problem = Problem.of(Reported(X), y, learners, loss=chosen, **data)
    clusters, metric = problem.sample.groups, problem.metric
    among_groups = [
        check_copies(copies, block, X, own, clusters) if copies else False
        for block, own in plan.places.items()
    ]
    _check_together(problem)
    size, constructor = _checked_size(learn_size, problem), {"learn_size": learn_size}
    options = _options(problem, size, fits)
    rises = metric.greater_is_better if metric.units is None else metric.units.greater_is_better
    sign = (1 if base is None else -1) * (-1 if rises else 1)
    with hooks.parts_of_a_whole():
        comparison = compare(
            *(X, y, learners, TestSpec("ustatistic", constructor, options)),
            **(named | data | run),
            alternative=alternative if sign > 0 else OTHER_SIDE[alternative],
            correction="simultaneous",
            baseline=0,
            checkpoint=checkpoint,
        )
        of_copies = {}
        if copies:
            cls: Any = TESTS["ustatistic"]
            draws = {name: value for name, value in options.items() if name != "interval"}
            question = cls.question_of(Reported(X), y, learner, **named, **data)
            all_columns, *with_block = learners.values()
            for number, (block, own) in enumerate(plan.places.items()):
                seen = all_columns if base is None else with_block[number]
                of_copies[block] = pvalue_of_rank(
                    question.with_learners({block: seen}),
                    lambda question_of_copy: cls.about(question_of_copy, **constructor).fit(
                        **draws, **run
                    ),
                    copies,
                    own,
                    among_groups[number],
                    np.random.default_rng([seed, number]),
                )
    results = [*comparison.results.values()]
    # The remedy of notes on intervals is an option that is decided here.
    common = [
        note
        for note in results[0].notes
        if all(note in result.notes for result in results) and not note.startswith("Interval ")
    ]
    name = as_learner(learner).name
    own_settings = {"learner": name, "other": None, "copies": copies}
    gains = ColumnGains(
        comparison=comparison,
        learner=name,
        blocks={name: plan.named(numbers) for name, numbers in plan.places.items()},
        base=None if plan.base is None else plan.named(plan.base),
        sign=sign,
        copies=of_copies,
        settings={**comparison.settings, **results[0].settings, **own_settings},
        notes=(*plan.notes(problem.sample, size), UNDECIDED, *dropped_note(n_dropped), *common),
        n_fits=comparison.n_fits + len(of_copies) * (copies + 1) * 2 * options["n_pairs"],
        elapsed=time.perf_counter() - started,
    )
    hooks.announce_outcome(problem, gains)
    return gains


def _check_together(problem: Problem) -> None:
    """Refuse questions whose learners, with and without blocks, cannot be judged together."""
    clusters, metric, sample = problem.clusters, problem.metric, problem.sample
    mixed = clusters is not None and clusters.groups.classes(sample.target) is None
    several = metric.ranks_pairs and (mixed or sample.n_classes > 2)
    if several or (clusters is not None and metric.linearised):
        of_whom = (
            "more than two classes" if sample.n_classes > 2 else "groups with rows of both classes"
        )
        raise ValueError(
            f"{arg('loss' if several else 'metric', metric.reported_name)} is not for "
            f"{of_whom if several else 'groups'} here, because blocks are judged together: use the "
            "mean of a loss, such as 'zero_one' or 'squared'"
        )
    if clusters is not None and clusters.offset is not None:
        raise ValueError(
            f"{arg('group_weight', 'row')} is not for groups of different sizes here, because "
            "blocks are judged together: leave it out"
        )


def _checked_size(learn_size: Any, problem: Problem) -> int:
    """How many are learnt from; refused where costs of columns do not protect."""
    most = problem.n_units // 2 - 1
    size = most if learn_size is None else int(np.sum(learn_size))
    if size > most:
        raise ValueError(
            f"{arg('learn_size')} must be at most n/2 - 1 = {most} here, got {size}: with larger "
            "learning sets columns without information are called useful more often"
        )
    return size


def _options(problem: Problem, size: int, fits: int | None) -> dict[str, Any]:
    """The options of the test: those of few fits unless all learners are jitted."""
    fitting = problem.fitting(problem.learnt_rows(size)).learners.values()
    if fits is not None and fits % 2:
        raise ValueError(f"{arg('fits')} must be an even number, got {fits}: use {fits + 1}")
    if any(learner.backend != "jax" for learner in fitting):
        fits = fits or FEW
        # By default such learners have no more than 20 fits.
        return {"n_pairs": fits // 2, "variance": "few", "max_fits": fits * len(problem.learners)}
    metric, n_units = problem.metric, problem.n_units
    least_fits = 4 * n_units if metric.ranks_pairs else 0
    if fits is not None and fits < least_fits:
        raise ValueError(f"{arg('fits')} must be at least {least_fits} for an AUC, got {fits}")
    options = {"n_pairs": (fits or max(MANY, least_fits)) // 2}
    in_memory = 64 * len(problem.learners) * n_units**2 <= MOST_BYTES
    if metric.compares_pairs or not (in_memory and FEW_OBS <= n_units <= MOST_UNITS):
        return {**options, "variance": "jackknife"}
    sloped = metric.is_mean and not metric.linearised and knows_slope(n_units, size)
    return {**options, "variance": "midpoint", **({"interval": "stabilised"} if sloped else {})}
