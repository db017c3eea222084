"""The calibration study: true values, what is counted, and a guard against regressions."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import ucvtest as uv
from studies.calibration.plan import GROUPS, ROUNDS, chunks
from studies.calibration.problem import Problem
from studies.calibration.problems import problems
from studies.calibration.promises import KNOWN_MISSES, cell_bound, known_misses, promises_kept
from studies.calibration.rules import population_rules
from studies.calibration.simulation import SampleRun, group_of, rows_of_sample, run_chunks
from studies.calibration.table import cells_of, read_samples
from studies.calibration.truth import (
    true_values,
)
from ucvtest.advice.calibration import calibration_table
from ucvtest.advice.configured_tests import PROCEDURES
from ucvtest.data.sample import make_sample
from ucvtest.designs.schemes import KFold
from ucvtest.evaluation.evaluator import Evaluator

GUARD_SAMPLES = range(10_000, 10_060)
"""None of those that the packaged table was made from."""

NOT_IN_THE_EARLIER_RUN = {("error", "ustatistic_jackknife")}
"""What the study has come to test since the run whose counts some rows of the table still are: one
learner alone by the jackknife. The page on calibration says so."""


def make_problem(rng, learners, *, size=300, loss="zero_one", p=3, auc=False):
    X = rng.normal(size=(size, p))
    if loss == "squared":
        y = X[:, 0] + rng.normal(size=size)
    else:
        y = (X.sum(axis=1) + rng.normal(size=size) > 0).astype(int)
    return Problem("test", "made for tests", X, y, learners, loss=loss, auc=auc)


@pytest.mark.parametrize(
    ("learners", "loss"),
    [
        (("lda", "nearest_centroid"), "zero_one"),
        (("gaussian_nb", "knn:3"), "zero_one"),
        (("ridge:1", "lasso:0.05"), "zero_one"),
        (("lda", "logistic:0.5"), "log"),
        (("ridge:2", "ridge:0"), "squared"),
    ],
)
def test_risk_is_the_mean_loss_over_the_rest_of_the_population(rng, learners, loss):
    problem = make_problem(rng, learners, loss=loss)
    members = problem.draw(rng, 40)
    learning = KFold(4).draw(40, rng).learning
    target = problem.sample.target
    for learner, rules in zip(problem.fitted, population_rules(problem, members), strict=True):
        found = rules.risks(learning)
        for mask, risk in zip(learning, found, strict=True):
            learnt = np.zeros(300, dtype=bool)
            learnt[members[mask]] = True
            evaluator = Evaluator(problem.sample, learner, problem.loss_object.output)
            predicted = evaluator.predict(learnt[None], ~learnt[None], np.zeros(1, int)).values[0]
            losses = problem.loss_object.function(target[~learnt], predicted[~learnt])
            assert risk == pytest.approx(losses.mean(), rel=1e-9)


def test_auc_on_the_population(rng):
    problem = make_problem(rng, ("lda", "knn:5"), auc=True)
    members = problem.draw(rng, 30)
    learning = np.ones((1, 30), dtype=bool)
    rest = np.setdiff1d(np.arange(300), members)
    for learner, rules in zip(problem.fitted, population_rules(problem, members), strict=True):
        learnt = np.zeros((1, 300), dtype=bool)
        learnt[0, members] = True
        scores = Evaluator(problem.sample, learner, "score").predict(learnt, ~learnt, np.zeros(1))
        expected = roc_auc_score(problem.response[rest], scores.values[0, rest])
        assert rules.aucs(learning)[0] == pytest.approx(expected, rel=1e-12)


def test_true_values_agree_with_all_learning_sets(rng):
    problem = make_problem(rng, ("nearest_centroid", "knn:1"), size=14, p=1)
    risks = []
    for learnt in combinations(range(14), 3):
        mask = np.zeros((1, 14), dtype=bool)
        mask[0, list(learnt)] = True
        rest = ~mask[0]
        wrong = []
        for learner in problem.fitted:
            sample = make_sample(problem.features, problem.response, as_classes=True)
            labels = Evaluator(sample, learner, "label").predict(mask, ~mask, np.zeros(1)).values
            wrong.append((labels[0, rest] != problem.response[rest]).mean())
        risks.append(wrong)
    first, second = np.mean(risks, axis=0)
    found = true_values(problem, 3, n_sets=400)
    assert abs(found["error"] - first) < 4 * found["error_se"]
    assert abs(found["difference"] - (first - second)) < 4 * found["difference_se"]


def test_groups_of_tests_can_be_run_apart(rng):
    problem = make_problem(rng, ("lda", "nearest_centroid"), auc=True)
    together = pd.DataFrame(rows_of_sample(problem, 40, 0))
    apart = pd.concat([pd.DataFrame(rows_of_sample(problem, 40, 0, group)) for group in GROUPS])
    keys = ["procedure", "target"]
    together, apart = (
        frame.drop(columns="seconds").sort_values(keys, ignore_index=True)
        for frame in (together, apart)
    )
    pd.testing.assert_frame_equal(together, apart)
    assert {group_of(each) for each in PROCEDURES.values()} == set(GROUPS)
    numbers = make_problem(rng, ("ridge:1", "ridge:5"), loss="squared")
    of_numbers = pd.DataFrame(rows_of_sample(numbers, 40, 0, "ustatistic"))
    assert set(together["procedure"]) | set(of_numbers["procedure"]) == set(PROCEDURES)
    ratio = of_numbers[of_numbers["procedure"] == "ustatistic_ratio"]
    assert list(ratio["target"]) == ["ratio"]
    assert ratio["low"].item() > 0


@pytest.mark.parametrize(
    ("learners", "loss", "name", "target"),
    [
        (("lda", "nearest_centroid"), "zero_one", "ustatistic_wald", "difference"),
        (("lda", "nearest_centroid"), "zero_one", "ustatistic_wald", "error"),
        (("ridge:1", "ridge:5"), "squared", "ustatistic_wald", "error"),
        (("ridge:1", "ridge:5"), "squared", "ustatistic_hall", "error"),
    ],
)
def test_intervals_read_off_a_fit_are_those_of_a_fit_of_their_own(
    rng, learners, loss, name, target
):
    problem = make_problem(rng, learners, loss=loss)
    (row,) = (
        each
        for each in rows_of_sample(problem, 40, 0, "ustatistic")
        if (each["procedure"], each["target"]) == (name, target)
    )
    procedure, run = PROCEDURES[name], SampleRun(problem, 40, 0)
    other = learners[1] if target == "difference" else None
    test = uv.UStatisticTest(run.X, run.y, learners[0], other, learn_size=19, loss=loss)
    result = test.fit(**procedure.options, rng=run.seed("ustatistic"))
    assert (row["low"], row["high"]) == pytest.approx(result.conf_int(), rel=1e-9)
    assert row["pvalue"] == pytest.approx(result.pvalue, rel=1e-9, nan_ok=True)


def test_what_is_on_file_is_not_run_again(rng, tmp_path, monkeypatch):
    monkeypatch.setattr("studies.calibration.simulation.CHUNK", 2)
    problem = make_problem(rng, ("lda", "nearest_centroid"))
    run_chunks(problem, [(40, "losses", 0)], tmp_path)
    (path,) = tmp_path.glob("test.csv")
    before = path.read_bytes()
    run_chunks(problem, [(40, "losses", 0)], tmp_path)
    assert path.read_bytes() == before
    rows, n_missing = read_samples(problem, tmp_path)
    assert set(rows["number"]) == {0, 1}
    assert n_missing == len({chunk for k in ROUNDS for chunk in chunks(problem, k)}) - 1


def test_counts_of_a_cell(rng):
    problem = make_problem(rng, ("lda", "nearest_centroid"))
    rows = pd.DataFrame(
        {
            "n_obs": 40,
            "number": range(5),
            "target": "difference",
            "procedure": "corrected_t",
            "learn_size": 36,
            "learn_positive": 0,
            "seconds": [1.0, 3.0, 2.0, 5.0, 4.0],
            "truth": np.nan,
            "estimate": [0.1, 0.2, 0.1, 0.2, 0.1],
            "low": [0.0, 0.2, 0.05, np.nan, 0.0],
            "high": [0.2, 0.3, 0.25, np.nan, 0.1],
            "pvalue": [0.5, 0.01, 0.05, np.nan, 0.06],
            "n_fits": [20, 20, 20, 0, 20],
        }
    )
    rules = rows.assign(procedure="wald_all_pairs", truth=[0.0, 0.3, 0.3, 0.0, -1.0])
    known = {(36, 0, False): {"difference": 0.1, "difference_se": 0.01}}
    table = cells_of(problem, pd.concat([rows, rules], ignore_index=True), known)
    first, second = table.to_dict("records")
    assert (first["samples"], first["answered"], first["covered"]) == (5, 4, 3)
    assert (first["tested"], first["rejected"], first["n_fits"]) == (4, 2, 20)
    assert (first["truth"], first["truth_se"]) == (0.1, 0.01)
    assert first["width"] == pytest.approx(0.15)
    assert second["covered"] == 2
    assert (first["missed_below"], first["missed_above"]) == (0, 1)
    assert (second["missed_below"], second["missed_above"]) == (1, 1)
    assert first["seconds"] == 3
    assert first["sd"] == pytest.approx(np.sqrt(0.003))
    exact = stats.binomtest(3, 4).proportion_ci(method="exact")
    assert (first["coverage_low"], first["coverage_high"]) == pytest.approx((exact.low, exact.high))


def test_true_aucs_agree_with_those_of_all_learning_sets(rng):
    problem = make_problem(rng, ("lda", "nearest_centroid"), size=16, p=2, auc=True)
    negatives, positives = (np.flatnonzero(problem.response == label) for label in (0, 1))
    lda = Evaluator(problem.sample, problem.fitted[0], "score")
    expected = []
    for zeros in combinations(negatives, 2):
        for ones in combinations(positives, 2):
            learnt = np.isin(np.arange(16), [*zeros, *ones])[None]
            scores = lda.predict(learnt, ~learnt, np.zeros(1))
            rest = ~learnt[0]
            expected.append(roc_auc_score(problem.response[rest], scores.values[0, rest]))
    found = true_values(problem, 4, 2, auc=True, n_sets=400)
    assert abs(found["error"] - np.mean(expected)) < 4 * found["error_se"]


def test_the_packaged_table_keeps_what_is_promised():
    """As `studies/calibration/run.py --check` does."""
    assert [str(each) for each in promises_kept(calibration_table()) if not each.kept] == []


def test_what_is_known_to_fail_does_and_is_said():
    table = calibration_table()
    found = known_misses(table)
    assert len(found) == len(KNOWN_MISSES)
    for (procedure, problem, n_obs, target), words in zip(KNOWN_MISSES, found, strict=True):
        rows = table[(table["procedure"] == procedure) & (table["problem"] == problem)]
        cell = rows[(rows["n_obs"] == n_obs) & (rows["target"] == target)].iloc[0]
        share = cell["covered"] / cell["answered"]
        assert share < cell_bound(0.92, cell["answered"])
        assert words.startswith("MISSED")
        assert f"{share:.4f}" in words
        assert f"{problem}, n = {n_obs}" in words


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "n_obs"), [("weak", 60), ("neighbours", 40), ("ridge", 100)])
def test_coverage_is_that_of_the_table(name, n_obs):
    """New samples, counted against the packaged counts: Fisher's exact test for every test."""
    groups = [group for group in GROUPS if "auc" not in group]
    found, worst = _beside_the_table(name, n_obs, groups, GUARD_SAMPLES)
    assert found > 15
    # Some 40 tests in each of three cells: chance goes below this once in 80 runs of them all.
    assert worst > 1e-4


def test_a_small_part_of_the_study_agrees_with_the_table():
    """The same samples always, so that no chance decides; few, as every run of the suite has them.

    They see a default that fails, not one that covers a little less.
    """
    found, worst = _beside_the_table("weak_2", 40, ["ustatistic"], GUARD_SAMPLES[:12])
    assert found > 4
    assert worst > 1e-3


def _beside_the_table(name, n_obs, groups, numbers):
    """How many tests there are, and the smallest p-value of their counts beside the table's."""
    problem = problems()[name]
    rows = pd.DataFrame(
        [
            row
            for number in numbers
            for group in groups
            for row in rows_of_sample(problem, n_obs, number, group)
        ]
    ).assign(n_obs=n_obs)
    table = calibration_table()
    table = table[(table["problem"] == name) & (table["n_obs"] == n_obs)]
    table = table[~table["procedure"].map(lambda each: each in PROCEDURES and PROCEDURES[each].auc)]
    known = {}
    for row in table[table["target"] != "independence"].itertuples():
        if PROCEDURES[row.procedure].about == "learner":
            # Tests with learning sets of one size are about the same values.
            of_size = known.setdefault((row.learn_size, 0, PROCEDURES[row.procedure].auc), {})
            of_size |= {row.target: row.truth, f"{row.target}_se": row.truth_se}
    found = cells_of(problem, rows, known)
    keys = ["target", "procedure"]
    both = found.merge(table, on=keys, suffixes=("", "_kept"))
    absent = set(found[keys].itertuples(index=False, name=None)).difference(
        table[keys].itertuples(index=False, name=None)
    )
    assert absent <= NOT_IN_THE_EARLIER_RUN
    assert len(both) == len(found) - len(absent)
    return len(both), min(_pvalue(row) for row in both.to_dict("records"))


def _pvalue(row):
    counts = [
        [row[f"covered{end}"], row[f"answered{end}"] - row[f"covered{end}"]]
        for end in ("", "_kept")
    ]
    answers = [
        [row[f"answered{end}"], row[f"samples{end}"] - row[f"answered{end}"]]
        for end in ("", "_kept")
    ]
    return min(stats.fisher_exact(counts).pvalue, stats.fisher_exact(answers).pvalue)
