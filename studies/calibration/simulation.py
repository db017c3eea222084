"""Samples from the problems, and all tests on each."""

import time
import warnings
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np

import ucvtest as uv
from studies.calibration.plan import CHUNK, GROUPS
from studies.calibration.problem import SEED, Problem
from studies.calibration.rules import population_rules
from studies.coverage import add_rows
from ucvtest.advice.configured_tests import FEW_PAIRS, PROCEDURES, Procedure
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.schemes import DisjointSets, HoldOut, KFold, RandomSplits, SplitHalves
from ucvtest.designs.within_classes import WithinClasses
from ucvtest.results.result import TestResult
from ucvtest.stats.pivots import Hall
from ucvtest.stats.wald import wald_interval, wald_pvalue

ALPHA = 0.05

TARGETS = {"difference": (0, 1), "error": (0, None), "ratio": (0, 1)}
"""What is estimated: first learner minus second, the first learner's expected loss, and what it is
as a share of the second's."""

EVERY = {
    "nested": (1, 8),
    "ustatistic": (1, 4),
    "ustatistic_stabilised": (3, 0),
    "ustatistic_third": (1, 0),
    "ustatistic_ratio": (1, 4),
    "ustatistic_jackknife": (3, 8),
    "influence_error": (3, 0),
    "influence_auc": (3, 3),
    "influence_auc_jackknife": (4, 4),
    "delong": (3, 3),
    "delong_folds": (3, 3),
    "permutation": (2, 0),
}
"""Costly tests are run on every so many samples: for learners that are quick to fit, and for
others; 0: never."""

FURTHER = ("nested", "bayesian_t")
OF_USTATISTIC = (
    "ustatistic",
    "ustatistic_paper",
    "ustatistic_stabilised",
    "ustatistic_wald",
    "ustatistic_third",
    "ustatistic_hall",
    "ustatistic_ratio",
)

HALF = ("ustatistic_jackknife",)
"""One learner alone on every other sample, since that needs fits of its own."""

ONLY_ERROR_RATES = ("ustatistic_third",)
"""Studied for zero-one losses alone."""

EVERY_DIFFERENCE = 3
"""Differences of other losses, which are known to be covered too seldom and need many fits, on
every so many samples."""

SAME_FIT = {
    "ustatistic": {"ustatistic_paper": "unbiased"},
    "ustatistic_auc": {"ustatistic_auc_jackknife": "jackknife"},
}
"""Tests that are read off the fit of another: their variance is in its table."""

SAME_VARIANCE = {"ustatistic": ("ustatistic_wald", "ustatistic_hall")}
"""Tests that are read off the fit of another: only the interval differs."""

FOLDS = (KFold(10), KFold(2, n_repeats=5), HoldOut(1 / 3))
"""The designs for learners that are slow to fit, whose other tests would take most of the time."""

SLOW_FITS = 3000
"""`max_fits` of `UStatisticTest` for learners that are slow to fit."""

PERMUTATIONS = 199


# ------------------------------------------------------------------- one sample, all tests


@dataclass
class SampleRun:
    """One sample of a problem, with every design evaluated at most once."""

    problem: Problem
    n_obs: int
    number: int
    within_classes: bool = False
    """Whether as many of each class are drawn as there are in the population, as for the AUC."""

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self._seeds(""))
        if self.within_classes:
            self.members = self.problem.draw_classes(rng, self.problem.class_sizes(self.n_obs))
        else:
            self.members = self.problem.draw(rng, self.n_obs)
        self.X = self.problem.features[self.members]
        self.y = self.problem.response[self.members]
        self._losses: dict[tuple[NamedDesign, str], uv.Losses] = {}
        self._conditional: dict[tuple[NamedDesign, str], np.ndarray] = {}
        self._seconds: dict[tuple[NamedDesign, str], float] = {}

    def _seeds(self, use: str) -> list[int]:
        # Names and not places, so that problems and tests may be added without changing others.
        codes = [zlib.crc32(name.encode()) for name in (self.problem.name, use)]
        return [SEED, *codes, self.n_obs, self.number]

    def seed(self, use: str) -> int:
        """A seed for one of the uses that a sample is put to."""
        return int(np.random.default_rng(self._seeds(use)).integers(2**31))

    def due(self, kind: str) -> bool:
        """Whether a costly test is run on this sample."""
        every = EVERY[kind][0 if self.problem.quick else 1]
        return bool(every) and self.number % every == 0

    def losses(self, design: NamedDesign, loss: str) -> uv.Losses:
        """Losses of both learners on this sample, on a design or part of a larger one."""
        if (design, loss) not in self._losses:
            start = time.process_time()
            self._losses[design, loss] = self._evaluated(design, loss)
            self._seconds[design, loss] = time.process_time() - start
        return self._losses[design, loss]

    def seconds(self, design: NamedDesign, loss: str) -> float:
        """How long the processor took for the losses, which several tests share."""
        return self._seconds[design, loss]

    def _evaluated(self, design: NamedDesign, loss: str) -> uv.Losses:
        if design == KFold(10) and not self.problem.only_folds:
            return first_rows(self.losses(KFold(10, n_repeats=10), loss), 10)
        if design == RandomSplits(15, 0.1):
            return first_rows(self.losses(SplitHalves(), loss), 15)
        learners = dict(zip(("first", "second"), self.problem.learners, strict=True))
        seed = self.seed(f"{design.words}, {loss}")
        return uv.evaluate(learners, self.X, self.y, design, loss, rng=seed)

    @cached_property
    def pairs(self) -> uv.Losses:
        """Losses on the most pairs of disjoint learning sets; smaller numbers are the first."""
        design = DisjointSets(self.n_obs // 2 - 1, n_draws=max(FEW_PAIRS), n_sets=1)
        learners = dict(zip(("first", "second"), self.problem.learners, strict=True))
        seed = self.seed("few fits")
        return uv.evaluate(learners, self.X, self.y, design, self.problem.loss, rng=seed)

    @cached_property
    def pairs_within_classes(self) -> uv.Losses:
        """The same of the AUC, drawn within the classes."""
        seed, n_pairs = self.seed("few fits of the AUC"), max(FEW_PAIRS)
        members = [np.flatnonzero(self.y == label) for label in np.unique(self.y)]
        sizes = WithinClasses.of(members, [len(each) // 2 - 1 for each in members])
        sets = sizes.drawn(np.random.default_rng(seed), n_pairs).reshape(2, n_pairs, -1)
        # The two sets of a pair next to each other, so that the first rows are the first pairs.
        design = Design.checked(sets.swapaxes(0, 1).reshape(2 * n_pairs, -1))
        learners = dict(zip(("first", "second"), self.problem.learners, strict=True))
        return uv.evaluate(learners, self.X, self.y, design, "auc", rng=seed)

    @cached_property
    def rules(self):
        """Both learners' rules on the population."""
        return population_rules(self.problem, self.members)

    def conditional(self, design: NamedDesign, loss: str) -> np.ndarray:
        """True risk (AUC) of the rules learnt on a design, averaged over it, (2,)."""
        if (design, loss) not in self._conditional:
            learning = self.losses(design, loss).design.learning
            self._conditional[design, loss] = np.array(
                [
                    (rules.aucs(learning) if loss == "auc" else rules.risks(learning)).mean()
                    for rules in self.rules
                ]
            )
        return self._conditional[design, loss]


def first_rows(losses: uv.Losses, count: int) -> uv.Losses:
    """The losses on the first resamples alone."""
    testing = losses.design.testing
    n_values = int(testing[:count].sum())
    return replace(
        losses,
        design=Design(losses.design.learning[:count], testing[:count]),
        means=losses.means[:, :count],
        values=losses.values[:, :n_values],
    )


def rows_of_sample(
    problem: Problem, n_obs: int, number: int, group: str | None = None
) -> list[dict[str, Any]]:
    """What every test of a group says of one sample; without a group, what all say."""
    with warnings.catch_warnings():
        # "No interval" is counted here, and so needs no warning.
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        groups = GROUPS if group is None else (group,)
        return [row for each in groups for row in _rows(problem, n_obs, number, each)]


def group_of(procedure: Procedure) -> str:
    """Work that is done, and kept on file, together: tests that share fits, or do their own."""
    if procedure.options.get("variance") == "few":
        return "few_fits_auc" if procedure.auc else "few_fits"
    if procedure.auc:
        return "auc"
    if procedure.name in FURTHER:
        return "further"
    if procedure.name in OF_USTATISTIC:
        return "ustatistic"
    if procedure.name == "fold_covariance":
        return "fold_covariance"  # few fits, so that it need not wait for others of its own
    return "own_fits" if procedure.design is None else "losses"


def _rows(problem: Problem, n_obs: int, number: int, group: str) -> list[dict[str, Any]]:
    auc = group in ("auc", "few_fits_auc")
    if auc and not problem.auc:
        return []
    run = SampleRun(problem, n_obs, number, within_classes=auc)
    rows: list[dict[str, Any]] = []
    read_off = {name for known in (*SAME_FIT.values(), *SAME_VARIANCE.values()) for name in known}
    for procedure in usable(problem):
        if group != group_of(procedure) or procedure.name in read_off:
            continue
        if procedure.name in EVERY and not run.due(procedure.name):
            continue
        for target in procedure.targets:
            if target == "error" and procedure.name in HALF and run.number % 2:
                continue
            if procedure.name == "ustatistic" and target == "difference" and _costly(run):
                continue
            rows += _tested(run, procedure, target)
    if group == "own_fits" and problem.no_signal and run.due("permutation") and n_obs <= 100:
        rows += _independence(run)
    return rows


def _costly(run: SampleRun) -> bool:
    return run.problem.loss != "zero_one" and run.number % EVERY_DIFFERENCE > 0


def usable(problem: Problem) -> Iterator[Procedure]:
    """The tests that suit the loss of a problem, of those that are there."""
    for procedure in PROCEDURES.values():
        suits = problem.auc if procedure.auc else problem.loss != "auc"
        of_rates = procedure.zero_one or procedure.name in ONLY_ERROR_RATES
        if of_rates and problem.loss != "zero_one":
            suits = False
        if procedure.not_zero_one and problem.loss == "zero_one":
            suits = False
        if problem.only_folds and procedure.design not in FOLDS:
            suits = False
        if suits and procedure.test in uv.__all__:
            yield procedure


def _tested(run: SampleRun, procedure: Procedure, target: str) -> list[dict[str, Any]]:
    cls = getattr(uv, procedure.test)
    run_test = _on_losses if procedure.design is not None else _on_data
    if procedure.options.get("variance") == "few":
        run_test = _on_pairs
    try:
        about, result = run_test(run, cls, procedure, target)
    except ValueError as error:
        # A sample that a test refuses: no answer. Anything else is an error of ours.
        if not _is_refusal(str(error)):
            raise
        about, result = About(), None
    first = _row(run, procedure.name, target, about, result)
    names = SAME_FIT.get(procedure.name, {})
    rows = [first, *(_read_off(first, name, result, names[name]) for name in names)]
    for name in SAME_VARIANCE.get(procedure.name, ()):
        other = PROCEDURES[name]
        if target in other.targets and not (other.not_zero_one and run.problem.loss == "zero_one"):
            rows += _by_other_interval(first, other, result)
    return rows


@dataclass(frozen=True)
class About:
    """What a test learns from, what it estimates where that depends on the sample, and its time."""

    learn_size: int = 0
    learn_positive: int = 0
    """Of a learning set, where they are drawn within the classes."""
    truth: float = nan
    seconds: float = nan


def _on_losses(
    run: SampleRun, cls: Any, procedure: Procedure, target: str
) -> tuple[About, TestResult]:
    first, other = TARGETS[target]
    design = procedure.design
    assert design is not None
    loss = "auc" if procedure.auc else run.problem.loss
    losses = run.losses(design, loss)
    truth = nan
    if procedure.about == "rules":
        both = run.conditional(design, loss)
        truth = both[0] if other is None else both[0] - both[1]
    start = time.process_time()
    result = cls.from_losses(losses, first, other).fit(**procedure.options)
    seconds = run.seconds(design, loss) + time.process_time() - start
    # Nested cross-validation corrects its estimate to learning from all observations.
    stated = result.settings["learn_size"]
    learning = losses.design.learning
    learn_size = stated if isinstance(stated, int) else int(learning[0].sum())
    positive = 0
    if procedure.auc:
        learnt = learning[:, run.y == run.problem.sample.classes[1]]
        learn_size = round(float(learning.sum(axis=1).mean()))
        positive = round(float(learnt.sum(axis=1).mean()))
    return About(learn_size, positive, truth, seconds), result


def _on_pairs(
    run: SampleRun, cls: Any, procedure: Procedure, target: str
) -> tuple[About, TestResult]:
    start = time.process_time()
    options = dict(procedure.options)
    pairs = run.pairs_within_classes if procedure.auc else run.pairs
    losses = first_rows(pairs, 2 * options.pop("n_pairs"))
    result = cls.from_losses(losses, *TARGETS[target]).fit(**options)
    learning, positive = losses.design.learning[0], 0
    if procedure.auc:
        positive = int(learning[run.y == run.problem.sample.classes[1]].sum())
    return About(int(learning.sum()), positive, seconds=time.process_time() - start), result


def _on_data(
    run: SampleRun, cls: Any, procedure: Procedure, target: str
) -> tuple[About, TestResult]:
    start = time.process_time()
    test, options = _from_data(run, cls, procedure, TARGETS[target][1])
    result = test.fit(**options, rng=run.seed(procedure.name))
    seconds = time.process_time() - start
    learn_size, positive = _learn_size(test), 0
    if procedure.auc:
        learn_size, positive = _learn_sizes_of_classes(run, result)
    return About(learn_size, positive, seconds=seconds), result


def _learn_sizes_of_classes(run: SampleRun, result: TestResult) -> tuple[int, int]:
    """All that are learnt from, and the positives among them."""
    counts = run.problem.class_sizes(run.n_obs)
    n_folds = result.settings.get("n_folds")
    negatives, positives = (
        result.settings["learn_size_by_class"]
        if n_folds is None
        else (count - count // n_folds for count in counts)
    )
    return int(negatives + positives), int(positives)


REFUSALS = (
    "tests one class only",
    "has fewer observations",
    "at least",
    "one class only",
)


def _is_refusal(message: str) -> bool:
    return any(words in message for words in REFUSALS)


def _from_data(run: SampleRun, cls: type, procedure: Procedure, other: int | None):
    settings = dict(procedure.settings(run.n_obs))
    if procedure.test != "InfluenceFunctionTest" and not procedure.auc:
        settings["loss"] = run.problem.loss
    second = None if other is None else run.problem.learners[other]
    options = dict(procedure.options)
    if not run.problem.quick and "max_fits" in options:
        options["max_fits"] = SLOW_FITS
    return cls(run.X, run.y, run.problem.learners[0], second, **settings), options


def _learn_size(test: Any) -> int:
    if hasattr(test, "learn_size"):
        return int(test.learn_size)
    if hasattr(test, "learn_sizes"):
        return int(test.learn_sizes[0])
    return test.sample.n_obs - test.sample.n_obs // test.n_folds


def _row(
    run: SampleRun, name: str, target: str, about: About, result: TestResult | None
) -> dict[str, Any]:
    low, high = (nan, nan) if result is None else result.conf_int(ALPHA)
    return {
        "number": run.number,
        "procedure": name,
        "target": target,
        "learn_size": about.learn_size,
        "learn_positive": about.learn_positive,
        "truth": about.truth,
        "estimate": nan if result is None else result.estimate,
        "se": nan if result is None else result.se,
        "low": low,
        "high": high,
        "pvalue": nan if result is None else result.pvalue,
        "n_fits": 0 if result is None else result.n_fits,
        "seconds": about.seconds,
    }


def _read_off(
    row: dict[str, Any], name: str, result: TestResult | None, variance: str
) -> dict[str, Any]:
    """Another variance of the same fit, which every result shows next to the chosen one."""
    found: dict[str, Any] = dict.fromkeys(("low", "high", "pvalue"), nan)
    table: Any = {"variance": ()} if result is None else result.tables["Variances"]
    if variance in table["variance"]:
        place = table["variance"].index(variance)
        columns = {"low": "conf_low", "high": "conf_high", "pvalue": "pvalue"}
        found = {name: table[column][place] for name, column in columns.items()}
    return {**row, "procedure": name, **found}


def _by_other_interval(
    row: dict[str, Any], other: Procedure, result: TestResult | None
) -> list[dict[str, Any]]:
    """Another interval of the same fit; nothing where it is the one that the fit has."""
    row = {**row, "procedure": other.name, "low": nan, "high": nan, "pvalue": nan}
    if result is None or result.status != "ok" or not result.variance > 0:
        return [row]
    rule = result.rule
    if other.options["interval"] == "wald":
        if rule is None:
            return []
        student = ("t", result.n_obs - 1.0, "two-sided")
        low, high = wald_interval(result.estimate, result.se, *student, ALPHA)
        statistic = (result.estimate - result.null_value) / result.se
        return [row | {"low": low, "high": high, "pvalue": wald_pvalue(statistic, *student)}]
    if not isinstance(rule, Hall) or rule.least_above == -inf:
        return []
    rule = replace(rule, least_above=-inf)
    low, high = rule.interval("two-sided", ALPHA)
    return [row | {"low": low, "high": high, "pvalue": rule.pvalue(result.null_value, "two-sided")}]


def _independence(run: SampleRun) -> Iterator[dict[str, Any]]:
    """Tests that labels and features are independent, which they are."""
    found = {
        "leave_pair_out": uv.LeavePairOutTest(run.X, run.y, "ridge:1"),
        "permutation_complexity": uv.PermutationComplexityTest(run.X, run.y, "lda"),
    }
    for name, test in found.items():
        seed = run.seed(name)
        result = test.fit(n_permutations=PERMUTATIONS, rng=seed)
        row = _row(run, name, "independence", About(run.n_obs), None)
        yield row | {"pvalue": result.pvalue, "estimate": result.estimate, "n_fits": result.n_fits}


# --------------------------------------------------------------------- running, continuing


CELL = ("n_obs", "group", "chunk")
ROW = ("number", "procedure", "target", "learn_size", "learn_positive", "truth", "estimate", "se")
ROW += ("low", "high", "pvalue", "n_fits", "seconds")


def file_of(problem: Problem, folder: Path) -> Path:
    """Where the rows of a problem are kept."""
    return folder / f"{problem.name}.csv"


def run_chunks(problem: Problem, cells: Iterable[tuple[int, str, int]], folder: Path) -> None:
    """Add the samples of these chunks to the file of the problem, but for those that it has."""

    def rows_of(n_obs: int, group: str, chunk: int) -> Iterator[tuple[Any, ...]]:
        for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
            for row in rows_of_sample(problem, n_obs, number, group):
                values = (row[name] for name in ROW)
                texts = (f"{each:.6g}" if isinstance(each, float) else each for each in values)
                yield n_obs, group, chunk, *texts

    add_rows(file_of(problem, folder), (*CELL, *ROW), CELL, cells, rows_of, inf)
