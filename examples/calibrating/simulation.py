"""Samples from the problems, all tests on each, and the true values of what they estimate."""

import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from calibrating.problems import SEED, Problem
from calibrating.rules import population_rules
from ucvtest.advice.procedures import PROCEDURES, Procedure
from ucvtest.designs.design import Design
from ucvtest.designs.named import KFold, NamedDesign, RandomSplits, SplitHalves
from ucvtest.learners.base import JittedLearner, Learner
from ucvtest.results.result import TestResult

ALPHA = 0.05
CHUNK = 20
"""Samples whose results are kept in one file."""

BLOCK = 1000
"""Observations drawn at a time for the learning sets of the true values."""

TARGETS = {"difference": (0, 1), "error": (0, None)}
"""What is estimated: first learner minus second, and the first learner's expected loss."""

EVERY = {
    "fold_covariance": (2, 2),
    "nested": (1, 8),
    "ustatistic": (1, 4),
    "ustatistic_jackknife": (3, 8),
    "influence_error": (3, 0),
    "influence_auc": (6, 0),
    "corrected_t_auc": (2, 2),
    "permutation": (2, 0),
}
"""Costly tests are run on every so many samples: for learners that are quick to fit, and for
others; 0: never."""

FURTHER = ("nested", "bayesian_t")

HALF = ("ustatistic", "ustatistic_jackknife")
"""One learner alone on every other sample, since that needs fits of its own."""

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

    def __post_init__(self) -> None:
        self.members = self.problem.draw(np.random.default_rng(self._seeds("")), self.n_obs)
        self.X = self.problem.features[self.members]
        self.y = self.problem.response[self.members]
        self._losses: dict[tuple[NamedDesign, str], uv.Losses] = {}
        self._conditional: dict[tuple[NamedDesign, str], np.ndarray] = {}

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
            self._losses[design, loss] = self._evaluated(design, loss)
        return self._losses[design, loss]

    def _evaluated(self, design: NamedDesign, loss: str) -> uv.Losses:
        if design == KFold(10):
            return _first_rows(self.losses(KFold(10, n_repeats=10), loss), 10)
        if design == RandomSplits(15, 0.1):
            return _first_rows(self.losses(SplitHalves(), loss), 15)
        learners = dict(zip(("first", "second"), self.problem.learners, strict=True))
        seed = self.seed(f"{design.words}, {loss}")
        return uv.evaluate(learners, self.X, self.y, design, loss, rng=seed)

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


def _first_rows(losses: uv.Losses, count: int) -> uv.Losses:
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
    """What every test of a group says of one sample."""
    with warnings.catch_warnings():
        # "No interval" is counted here, and so needs no warning.
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        return _rows(SampleRun(problem, n_obs, number), group)


def group_of(procedure: Procedure) -> str:
    """What is run, and kept on file, together: tests that share fits, or do their own."""
    if procedure.name in FURTHER:
        return "further"
    return "own_fits" if procedure.design is None else "losses"


def _rows(run: SampleRun, group: str | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    problem = run.problem
    for procedure in usable(problem):
        if group not in (None, group_of(procedure)):
            continue
        if procedure.name in EVERY and not run.due(procedure.name):
            continue
        if procedure.name == "ustatistic_paper":
            continue  # one fit serves both
        for target, (_, other) in TARGETS.items():
            if other is None and not procedure.single:
                continue
            if other is None and procedure.name in HALF and run.number % 2:
                continue
            rows += _tested(run, procedure, target)
    own = group in (None, "own_fits") and problem.no_signal
    if own and run.due("permutation") and run.n_obs <= 100:
        rows += _independence(run)
    return rows


def usable(problem: Problem) -> Iterator[Procedure]:
    """The tests that suit the loss of a problem, of those that are there."""
    for procedure in PROCEDURES.values():
        suits = problem.auc if procedure.auc else True
        if procedure.zero_one and problem.loss != "zero_one":
            suits = False
        if suits and procedure.test in uv.__all__:
            yield procedure


def _tested(run: SampleRun, procedure: Procedure, target: str) -> list[dict[str, Any]]:
    first, other = TARGETS[target]
    cls = getattr(uv, procedure.test)
    loss = "auc" if procedure.auc else run.problem.loss
    truth, learn_size = nan, 0
    try:
        if procedure.design is not None:
            losses = run.losses(procedure.design, loss)
            learn_size = int(losses.design.learning[0].sum())
            if procedure.about == "rules":
                both = run.conditional(procedure.design, loss)
                truth = both[0] if other is None else both[0] - both[1]
            result = cls.from_losses(losses, first, other).fit(**procedure.options)
            # Nested cross-validation corrects its estimate to learning from all observations.
            stated = result.settings["learn_size"]
            learn_size = stated if isinstance(stated, int) else learn_size
        else:
            test, options = _from_data(run, cls, procedure, other)
            learn_size = _learn_size(test)
            result = test.fit(**options, rng=run.seed(procedure.name))
    except ValueError as error:
        # A sample that a test refuses: no answer. Anything else is an error of ours.
        if not _is_refusal(str(error)):
            raise
        return [_row(run, procedure.name, target, learn_size, truth, None)]
    rows = [_row(run, procedure.name, target, learn_size, truth, result)]
    if procedure.name == "ustatistic":
        rows.append(_paper_row(rows[0], result))
    return rows


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
    if procedure.test != "InfluenceFunctionTest":
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
    run: SampleRun,
    name: str,
    target: str,
    learn_size: int,
    truth: float,
    result: TestResult | None,
) -> dict[str, Any]:
    low, high = (nan, nan) if result is None else result.conf_int(ALPHA)
    return {
        "number": run.number,
        "procedure": name,
        "target": target,
        "learn_size": learn_size,
        "truth": truth,
        "estimate": nan if result is None else result.estimate,
        "low": low,
        "high": high,
        "pvalue": nan if result is None else result.pvalue,
        "n_fits": 0 if result is None else result.n_fits,
    }


def _paper_row(row: dict[str, Any], result: TestResult) -> dict[str, Any]:
    """The paper's variance, which every result shows beside the chosen one."""
    table = result.tables["Variances"]
    place = table["variance"].index("unbiased")
    found = {"low": "conf_low", "high": "conf_high", "pvalue": "pvalue"}
    return row | {"procedure": "ustatistic_paper"} | {k: table[v][place] for k, v in found.items()}


def _independence(run: SampleRun) -> Iterator[dict[str, Any]]:
    """Tests that labels and features are independent, which they are."""
    found = {
        "leave_pair_out": uv.LeavePairOutTest(run.X, run.y, "ridge:1"),
        "permutation_complexity": uv.PermutationComplexityTest(run.X, run.y, "lda"),
    }
    for name, test in found.items():
        seed = run.seed(name)
        result = test.fit(n_permutations=PERMUTATIONS, rng=seed)
        row = _row(run, name, "independence", run.n_obs, nan, None)
        yield row | {"pvalue": result.pvalue, "estimate": result.estimate, "n_fits": result.n_fits}


# ---------------------------------------------------------------------------------- truth


def true_values(
    problem: Problem, learn_size: int, n_sets: int, *, auc: bool = False
) -> dict[str, float]:
    """Expected loss (AUC) at a learning-set size, from independent learning sets.

    Each rule is judged on all of the population that it has not learnt from; sets that come
    from one block of the population do not overlap.

    Returns
    -------
    dict
        Of both targets the mean over learning sets and its standard error.
    """
    code = zlib.crc32(problem.name.encode())
    rng = np.random.default_rng([SEED, code, learn_size, 7])
    size = min(max(BLOCK, learn_size), problem.n_population)
    if any(_one_by_one(learner) for learner in problem.fitted):
        size = learn_size
    found: list[np.ndarray] = []
    while sum(len(part) for part in found) < n_sets:
        members = problem.draw(rng, size)
        n_parts = min(size // learn_size, n_sets)
        learning = np.repeat(np.eye(n_parts, dtype=bool), learn_size, axis=1)
        learning = np.pad(learning, ((0, 0), (0, size - learning.shape[1])))
        rules = population_rules(problem, members)
        judged = [(each.aucs if auc else each.risks)(learning) for each in rules]
        found.append(np.column_stack(judged))
    first, second = np.concatenate(found).T
    values = {"difference": first - second, "error": first}
    return {
        f"{target}{suffix}": float(number)
        for target, each in values.items()
        for suffix, number in (
            ("", each.mean()),
            ("_se", each.std(ddof=1) / np.sqrt(len(each))),
        )
    }


def _one_by_one(learner: Learner) -> bool:
    """Whether many learning sets of one large sample are no quicker than as many samples."""
    return not isinstance(learner, JittedLearner) or learner.name.startswith("knn")


def truth_sets(problem: Problem, learn_size: int) -> int:
    """Learning sets for a true value: rules learnt from few observations vary more."""
    wanted = int(np.clip(12_000 // learn_size, 80, 400))
    return wanted // 2 if any(map(_one_by_one, problem.fitted)) else wanted


# --------------------------------------------------------------------- running, continuing


GROUPS = ("own_fits", "losses", "further")


def run_chunk(problem: Problem, n_obs: int, chunk: int, group: str, folder: Path) -> bool:
    """Run `CHUNK` samples of a cell unless they are on file; whether there was anything to do."""
    path = folder / f"{problem.name}-{n_obs}-{group}-{chunk:03d}.csv"
    if path.exists():
        return False
    numbers = range(chunk * CHUNK, (chunk + 1) * CHUNK)
    rows = [row for number in numbers for row in rows_of_sample(problem, n_obs, number, group)]
    _write(pd.DataFrame(rows), path)
    return True


def true_values_of_cells(
    problem: Problem, needed: pd.DataFrame, folder: Path, progress: Callable[[str], None]
) -> pd.DataFrame:
    """True values at the learning-set sizes that tests need, those on file read."""
    path = folder / f"truth-{problem.name}.csv"
    known = pd.read_csv(path) if path.exists() else pd.DataFrame()
    have = set() if known.empty else set(zip(known["learn_size"], known["auc"], strict=True))
    for learn_size, auc in sorted(set(zip(needed["learn_size"], needed["auc"], strict=True))):
        if (learn_size, auc) in have:
            continue
        progress(f"{problem.name}: truth at learning-set size {learn_size}")
        n_sets = truth_sets(problem, learn_size)
        n_sets = n_sets // 2 if auc else n_sets
        values = true_values(problem, int(learn_size), n_sets, auc=bool(auc))
        row = {"learn_size": learn_size, "auc": auc, **values}
        known = pd.concat([known, pd.DataFrame([row])], ignore_index=True)
        _write(known, path)
    return known


def _write(frame: pd.DataFrame, path: Path) -> None:
    """Whole or not at all, so that a run that was stopped can be continued."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    frame.to_csv(part, index=False, float_format="%.6g")
    part.replace(path)
