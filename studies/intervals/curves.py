"""Do bands of curves contain the true curve, at one point and at all points?

Scores of both classes are normal, so that every true value is known: also those of rules that were
learnt in five folds, which are linear. Those of learners are means over 2000 other learning sets of
the same size, with the normal tails of each linear rule. A sample gives a row for each curve of one
rule or learner, and for the difference of two.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import ucvtest as uv
from studies.coverage import Study, markdown

VALUES = ("point", "all", "width", "width_all")
FEW = np.arange(1, 10) / 10
"""Thresholds that are fixed before any sample is drawn."""

HEADINGS = {
    "roc": "ROC",
    "precision_recall": "precision-recall",
    "calibration": "calibration",
    "decision": "decision",
}

SHIFTS, CORRELATION, ICC, N_FOLDS, N_FEATURES = (1.5, 1.0), 0.5, 0.3, 5, 4

LEARNERS = {"a": LinearDiscriminantAnalysis(), "b": LogisticRegression(C=0.05)}
LEARNT_SHIFTS, N_TRUE_SETS = np.array([1.2, 0.6, 0.3, 0.0]), 2000


@dataclass(frozen=True)
class Problem:
    """Rows, share of positives, clusters (0 for none), and how rules are learnt.

    They are learnt in folds, or by learners on pairs of disjoint learning sets, or they are given.
    """

    n_obs: int
    share: float
    n_groups: int = 0
    folds: bool = False
    n_pairs: int = 0

    @property
    def learn_size(self) -> int:
        """Rows, or clusters, that a learner learns from."""
        return (self.n_groups or self.n_obs) // 2 - 1


PROBLEMS = {
    "50 rows": Problem(50, 0.4),
    "200 rows": Problem(200, 0.4),
    "200 rows, 10% positive": Problem(200, 0.1),
    "200 rows in 40 clusters": Problem(200, 0.4, n_groups=40),
    "150 rows in 15 clusters": Problem(150, 0.4, n_groups=15),
    "100 rows, 5 folds": Problem(100, 0.4, folds=True),
    "60 rows, 10 pairs": Problem(60, 0.4, n_pairs=10),
    "60 rows, 200 pairs": Problem(60, 0.4, n_pairs=200),
    "200 rows, 10 pairs": Problem(200, 0.4, n_pairs=10),
    "200 rows, 200 pairs": Problem(200, 0.4, n_pairs=200),
    "200 rows, 10% positive, 200 pairs": Problem(200, 0.1, n_pairs=200),
    "200 rows in 40 clusters, 10 pairs": Problem(200, 0.4, n_groups=40, n_pairs=10),
}

Tails = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""The share of positives, and of negatives, whose predictions are at least c."""


@dataclass(frozen=True)
class Drawn:
    """A sample with what two rules predict, and the truth about both."""

    y: np.ndarray
    predictions: dict[str, np.ndarray] | uv.Losses
    tails: tuple[Tails, Tails]
    options: dict[str, np.ndarray]

    def curve(self, make: Callable[..., uv.curves.Curve], *names: str, **options: object):
        """The curve of these rules, or learners."""
        if isinstance(self.predictions, uv.Losses):
            return make(self.predictions, names, **options)
        chosen = {name: self.predictions[name] for name in names}
        return make(self.y, chosen, **options, **self.options)


def draw(problem: Problem, rng: np.random.Generator) -> Drawn:
    """A sample that has both classes."""
    y = np.zeros(problem.n_obs, dtype=int)
    while not 1 < y.sum() < problem.n_obs - 1:
        y = (rng.random(problem.n_obs) < problem.share).astype(int)
    if problem.n_pairs:
        return of_learners(problem, y, rng)
    return learnt(problem, y, rng) if problem.folds else given(problem, y, rng)


def given(problem: Problem, y: np.ndarray, rng: np.random.Generator) -> Drawn:
    """Scores of two fixed rules, correlated with each other and within clusters."""
    n = problem.n_obs
    noise, options = rng.normal(size=(3, n)), {}
    if problem.n_groups:
        group = np.arange(n) % problem.n_groups
        common = rng.normal(size=(3, problem.n_groups))[:, group]
        noise, options = np.sqrt(ICC) * common + np.sqrt(1 - ICC) * noise, {"groups": group}
    mixed = np.sqrt(CORRELATION) * noise[0] + np.sqrt(1 - CORRELATION) * noise[1:]
    predictions, tails = {}, []
    for name, shift, error in zip("ab", SHIFTS, mixed, strict=True):
        # The first is calibrated, the second too sure.
        slope = shift if name == "a" else 2 * shift
        start = logit(problem.share) - slope * shift / 2
        predictions[name] = expit(start + slope * (shift * y + error))
        tails.append(tails_of([(start + slope * shift, start, slope)]))
    return Drawn(y, predictions, (tails[0], tails[1]), options)


def learnt(problem: Problem, y: np.ndarray, rng: np.random.Generator) -> Drawn:
    """Out-of-fold predictions of rules by class means, of all features and of the first half."""
    shift = np.full(N_FEATURES, 0.8)
    features = rng.normal(size=(problem.n_obs, N_FEATURES)) + y[:, None] * shift
    fold = rng.permutation(problem.n_obs) % N_FOLDS
    predictions, tails = {}, []
    for name, used in (("a", N_FEATURES), ("b", N_FEATURES // 2)):
        X, found, rules = features[:, :used], np.zeros(problem.n_obs), []
        for each in range(N_FOLDS):
            inside = fold != each
            means = [X[inside & (y == k)].mean(axis=0) for k in (0, 1)]
            weight = means[1] - means[0]
            start = logit(y[inside].mean()) - weight @ (means[0] + means[1]) / 2
            found[~inside] = expit(start + X[~inside] @ weight)
            rules.append((start + weight @ shift[:used], start, np.linalg.norm(weight)))
        predictions[name] = found
        tails.append(tails_of(rules))
    return Drawn(y, predictions, (tails[0], tails[1]), {"fold": fold})


def of_learners(problem: Problem, y: np.ndarray, rng: np.random.Generator) -> Drawn:
    """Probabilities by the rules of two learners, on pairs of disjoint learning sets."""
    X, group = features_of(problem, y, rng)
    losses = uv.evaluate(
        LEARNERS,
        X,
        y,
        uv.designs.DisjointSets(problem.learn_size, problem.n_pairs),
        metric="brier_skill",
        groups=group,
        rng=rng,
        progress=False,
    )
    return Drawn(y, losses, true_tails(problem), {})


def features_of(
    problem: Problem, y: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """Normal features, and the cluster of each row if there are clusters."""
    noise = rng.normal(size=(len(y), len(LEARNT_SHIFTS)))
    group = None
    if problem.n_groups:
        group = np.arange(len(y)) * problem.n_groups // problem.n_obs
        common = rng.normal(size=(problem.n_groups, len(LEARNT_SHIFTS)))[group]
        noise = np.sqrt(ICC) * common + np.sqrt(1 - ICC) * noise
    return y[:, None] * LEARNT_SHIFTS + noise, group


@functools.cache
def true_tails(problem: Problem) -> tuple[Tails, Tails]:
    """Those of the rules that learners learn from other learning sets of the same size."""
    rng = np.random.default_rng(11)
    n_rows = problem.learn_size * (problem.n_obs // (problem.n_groups or problem.n_obs))
    rules: dict[str, list[tuple[float, float, float]]] = {name: [] for name in LEARNERS}
    while len(rules["a"]) < N_TRUE_SETS:
        y = (rng.random(n_rows) < problem.share).astype(int)
        if 0 < y.sum() < n_rows:
            X, _ = features_of(problem, y, rng)
            for name, learner in LEARNERS.items():
                learner.fit(X, y)
                weight, start = learner.coef_[0], learner.intercept_[0]
                norm_of_weight = float(np.linalg.norm(weight))
                rules[name].append((start + weight @ LEARNT_SHIFTS, start, norm_of_weight))
    return tails_of(rules["a"]), tails_of(rules["b"])


def tails_of(rules: list[tuple[float, float, float]]) -> Tails:
    """The mean over rules whose log-odds are normal, with these means and standard deviation."""

    def tails(c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = logit(np.asarray(c, dtype=float))
        positive, negative, sd = np.array(rules).T[..., None]
        positive_tail, negative_tail = (ndtr((mean - at) / sd) for mean in (positive, negative))
        return positive_tail.mean(axis=0), negative_tail.mean(axis=0)

    return tails


def truth(quantity: str, share: float, tails: Tails, c: np.ndarray) -> np.ndarray:
    """A quantity at thresholds c; of bins, whose edges they are, the share of positives."""
    positive, negative = tails(c)
    if quantity in ("sensitivity", "recall"):
        return positive
    if quantity == "specificity":
        return 1 - negative
    tp, fp = share * positive, (1 - share) * negative
    if quantity == "net benefit":
        return tp - fp * c / (1 - c)
    if quantity == "share of positives":
        tp, fp = -np.diff(tp), -np.diff(fp)
    return tp / (tp + fp)


def held(
    curve: uv.curves.Curve, target: str, share: float, both: tuple[Tails, Tails]
) -> dict[str, float]:
    """Whether one point on average, and all points, lie within their intervals; and widths."""
    points, alls, widths, wide = [], [], [], []
    for band in curve.bands:
        if band.learner != target:
            continue
        at = np.array(curve.settings.get("edges", band.x))
        if "edges" in curve.settings:
            at[[0, -1]] = 0, 1
        value = truth(band.quantity, share, both[0], at)
        if target == "difference":
            value = value - truth(band.quantity, share, both[1], at)
        points.append(((band.low <= value) & (value <= band.high)).mean())
        alls.append(((band.low_all <= value) & (value <= band.high_all)).all())
        widths.append((band.high - band.low).mean())
        wide.append((band.high_all - band.low_all).mean())
    return {
        "point": np.mean(points),
        "all": float(np.all(alls)),
        "width": np.mean(widths),
        "width_all": np.mean(wide),
    }


def sample(problem: str, number: int) -> Iterator[tuple]:
    """What one sample says of each curve."""
    case = PROBLEMS[problem]
    drawn = draw(case, np.random.default_rng([number, case.n_obs, case.n_groups]))
    for make in (uv.curves.roc, uv.curves.precision_recall, uv.curves.decision):
        options = {} if make is uv.curves.decision else {"thresholds": FEW}
        curve = drawn.curve(make, "a", "b", **options)
        for target in ("a", "difference"):
            numbers = held(curve, target, case.share, drawn.tails)
            if options and target == "a":
                # The whole curve of one rule, at all scores that occur.
                whole = held(drawn.curve(make, "a"), "a", case.share, drawn.tails)
                numbers |= {key: whole[key] for key in ("all", "width_all")}
            yield curve.kind, target, *(numbers[key] for key in VALUES)
    curve = drawn.curve(uv.curves.calibration, "a")
    numbers = held(curve, "a", case.share, drawn.tails)
    yield curve.kind, "a", *(numbers[key] for key in VALUES)


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage in percent, and mean widths, of each curve."""
    cells = rows.groupby(["problem", "curve", "target"], sort=False)
    found = cells[list(VALUES)].mean()
    found[["point", "all"]] *= 100
    found.insert(0, "samples", cells.size())
    return found.round({"point": 1, "all": 1, "width": 3, "width_all": 3}).reset_index()


def on_the_page(table: pd.DataFrame) -> str:
    """The table of docs/tutorials/curves.md: percentages of one point, and of all."""
    cells = table.set_index(["problem", "curve", "target"])
    columns = [(curve, "a") for curve in HEADINGS]
    columns += [("roc", "difference"), ("decision", "difference")]
    differences = ("difference of ROC", "difference of net benefit")
    heads = [f"{each}: one, all" for each in (*HEADINGS.values(), *differences)]
    lines = []
    for name in PROBLEMS:
        found = [cells.loc[(name, *column)] for column in columns]
        lines.append([name, *(f"{each['point']:.0f}, {each['all']:.0f}" for each in found)])
    return markdown(["", *heads], lines)


STUDY = Study(
    sample, ("curve", "target"), [(name,) for name in PROBLEMS], 250, values=VALUES, table=table
)

if __name__ == "__main__":
    STUDY.main()
