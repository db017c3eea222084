"""`advise`: its rule on tables made by hand, and what its advice is worth on the packaged one."""

import csv
import math
from collections import defaultdict
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ucvtest as uv
from studies.calibration.advised import SET_ON, followed_on_other_half, halves, verdict
from ucvtest.advice.advise import advise_from
from ucvtest.advice.calibration import calibration_settings, calibration_table
from ucvtest.advice.configured_tests import PROCEDURES

PROBLEMS = ("a", "b", "c", "d", "e")
N_FITS = {"ustatistic_few_20": 40, "ustatistic_few_40": 80, "five_by_two_t": 20}


def make_table(coverage, *, sizes=(40, 100), widths=None, missing=None, loss="zero_one", size=0.05):
    """A table of 1000 samples in each cell: `coverage` of each procedure in each problem."""
    rows = []
    for name, shares in coverage.items():
        for problem, share in zip(PROBLEMS, shares, strict=False):
            for n_obs in sizes:
                answered = round(1000 * (1 - (missing or {}).get(name, 0)))
                rows.append(
                    {
                        "problem": problem,
                        "loss": loss,
                        "n_obs": n_obs,
                        "target": "difference",
                        "procedure": name,
                        "n_fits": N_FITS.get(name, 2000),
                        "samples": 1000,
                        "answered": answered,
                        "covered": round(answered * share),
                        "equal": int(problem == "a"),
                        "tested": answered,
                        "rejected": round(answered * size),
                        "width": (widths or {}).get(name, 1.0) * (1 + 10 / n_obs),
                    }
                )
    return pd.DataFrame(rows)


# --------------------------------------------------------------------------------- the rule

FEW, MORE, MOST = "ustatistic_few_20", "ustatistic_few_40", "ustatistic"
GOOD = [0.95, 0.96, 0.95, 0.94]


def test_learners_are_compared_with_the_fits_that_can_be_afforded():
    table = make_table({"five_by_two_t": [0.99] * 4, FEW: GOOD, MORE: GOOD, MOST: GOOD})
    for n_fits, name in ((40, FEW), (79, FEW), (80, MORE), (1999, MORE), (2000, MOST)):
        advice = advise_from(table, 60, n_fits)
        assert (advice.test, advice.evidence.procedure) == ("UStatisticTest", name)
        assert advice.options["max_fits"] == n_fits
        assert advice.settings == {"learn_size": 29}
        assert advice.promises


def test_fewer_fits_than_were_studied_are_told():
    table = make_table({FEW: GOOD})
    advice = advise_from(table, 60, 12)
    assert not advice.promises
    assert any("fewest fits that were studied are 40" in reason for reason in advice.reasons)


@pytest.mark.parametrize(
    ("loss", "learners", "test"),
    [
        ("zero_one", 2, "McNemarTest"),
        ("zero_one", 1, "HoldOutTest"),
        ("squared", 2, "HoldOutTest"),
        ("auc", 2, "DeLongTest"),
    ],
)
def test_rules_that_exist_are_judged_on_one_test_set(loss, learners, test):
    assert uv.advise(100, 2, loss=loss, learners=learners, about="rules").test == test


def test_what_more_fits_buy_is_the_ratio_of_widths_on_the_same_cells():
    table = make_table({FEW: GOOD, MORE: GOOD[:3]}, widths={FEW: 0.8, MORE: 0.6})
    reasons = advise_from(table, 60, 40).reasons
    assert any("0.75 times as long with 40 fits of each learner" in each for each in reasons)


def test_the_width_to_expect_falls_with_the_root_of_the_number_of_observations():
    table = make_table({FEW: GOOD}, sizes=(40,), widths={FEW: 0.8})
    found = advise_from(table, 40, 40), advise_from(table, 160, 40)
    assert found[0].evidence.expected_width == pytest.approx(1.0)
    assert found[1].evidence.expected_width == pytest.approx(0.5)
    assert any("about 0.5 wide" in reason for reason in found[1].reasons)
    squared = make_table({FEW: GOOD}, loss="squared")
    assert math.isnan(advise_from(squared, 60, 40, loss="squared").evidence.expected_width)


def test_weak_cells_are_named_with_their_number():
    table = make_table({FEW: [0.95, 0.96, 0.95, 0.87]}, sizes=(100,))
    advice = advise_from(table, 100, 40)
    assert advice.promises
    (weak,) = advice.evidence.weak
    assert str(weak) == "d, n = 100: 87.0% of 1000 samples"
    assert any(each.startswith("Weak: ") and str(weak) in each for each in advice.reasons)
    assert not advise_from(table, 100, 40).evidence.weak[1:]


@pytest.mark.parametrize(
    ("arguments", "doubt"),
    [
        ({"coverage": {FEW: [0.92, 0.93, 0.93, 0.92]}}, "fewer than 93% of the samples"),
        ({"coverage": {FEW: [0.95, 0.95]}}, "Only 2 problems"),
        ({"coverage": {FEW: GOOD}, "sizes": (40, 50)}, "nearest to this one are n = 50"),
    ],
)
def test_says_when_it_cannot_promise(arguments, doubt):
    advice = advise_from(make_table(**arguments), 60, 40)
    assert not advice.promises
    assert any(reason.startswith("Caution: ") and doubt in reason for reason in advice.reasons)
    assert "no promise" in str(advice)


@pytest.mark.parametrize(("n", "promised"), [(39, False), (40, True), (100, True), (101, False)])
def test_nothing_is_promised_outside_of_the_sizes_studied(n, promised):
    assert advise_from(make_table({FEW: GOOD}), n, 100).promises is promised


def test_evidence_comes_from_the_sizes_on_both_sides():
    parts = [
        make_table({FEW: [share] * 4}, sizes=(n,))
        for n, share in ((40, 0.7), (60, 0.96), (100, 0.94), (200, 0.7))
    ]
    table = pd.concat(parts, ignore_index=True)
    assert advise_from(table, 80, 100).evidence.coverage == pytest.approx(0.95)
    assert advise_from(table, 60, 100).evidence.coverage == pytest.approx(0.96)


def test_losses_have_evidence_of_their_own_unless_few_problems_have_it():
    table = pd.concat(
        [make_table({FEW: [share] * 4}, loss=loss) for loss, share in LOSSES_AND_SHARES.items()]
    )
    assert advise_from(table, 60, 40).evidence.coverage == pytest.approx(0.97)
    squared = advise_from(table, 60, 40, loss="squared")
    assert squared.evidence.coverage == pytest.approx(0.90)
    assert squared.settings["loss"] == "squared"
    # Nobody has studied absolute losses: the others that are no errors stand for them.
    assert advise_from(table, 60, 40, loss="absolute").evidence.coverage == pytest.approx(0.925)


LOSSES_AND_SHARES = {"zero_one": 0.97, "squared": 0.90, "log": 0.95}


def test_differences_of_losses_with_tails_are_sent_to_ratios():
    advice = uv.advise(60, 40, loss="squared")
    assert not advice.promises
    assert any("contrast='ratio'" in reason for reason in advice.reasons)


# ------------------------------------------------------------------------------ arguments


def test_learners_may_be_given_themselves():
    assert uv.advise(60, learners=["lda", "knn:3"]) == uv.advise(60, learners=2)
    assert uv.advise(60, learners=["lda"]).n_learners == 1


# ------------------------------------------------------------------------- the packaged table


@pytest.mark.parametrize(
    ("loss", "learners", "goal", "n_fits"),
    [
        ("zero_one", 2, "test", 30),
        ("zero_one", 1, "interval", 1000),
        ("zero_one", 2, "interval", 100_000),
        ("auc", 2, "test", 1000),
        ("auc", 2, "interval", 30),
    ],
)
def test_advice_is_the_same_each_time_and_can_be_run(goal, n_fits, loss, learners):
    advice = uv.advise(75, n_fits, loss=loss, learners=learners, goal=goal)
    assert advice == uv.advise(75, n_fits, loss=loss, learners=learners, goal=goal)
    assert advice.evidence.n_fits <= n_fits or not advice.promises
    rng = np.random.default_rng(0)
    y = np.arange(75) % 2
    X = rng.normal(size=(75, 2)) + y[:, None]
    test = advice.make(X, y, *["lda", "knn:3"][:learners])
    assert type(test).__name__ == advice.test
    if advice.evidence.n_fits <= 1000:
        assert test.fit(**advice.options, rng=0).status == "ok"
    for text in (*advice.reasons, advice.test):
        assert text in str(advice)


def test_advice_for_another_number_of_learners_is_refused(rng):
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match="the advice is for 2 learners"):
        uv.advise(60).make(X, y, "lda")


def test_evidence_by_a_loop_over_the_file():
    """An oracle that shares no code: plain Python over the CSV."""
    advice = uv.advise(100, 30)
    losses = {name: each["loss"] for name, each in calibration_settings()["problems"].items()}
    shares, widths, reference = defaultdict(list), {}, {}
    with resources.files("ucvtest").joinpath("advice/calibration.csv").open() as file:
        for row in csv.DictReader(file):
            if row["n_obs"] != "100" or row["target"] != "difference":
                continue
            if losses[row["problem"]] != "zero_one" or row["width"] == "":
                continue
            if row["procedure"] == "corrected_t":
                reference[row["problem"]] = float(row["width"])
            if row["procedure"] == advice.evidence.procedure:
                shares[row["problem"]] = [int(row["covered"]), int(row["answered"])]
                widths[row["problem"]] = float(row["width"])
    coverage = {name: covered / answered for name, (covered, answered) in shares.items()}
    ratios = [math.log(widths[name] / reference[name]) for name in widths if name in reference]
    assert advice.evidence.coverage == pytest.approx(sum(coverage.values()) / len(coverage))
    assert advice.evidence.lowest_coverage == pytest.approx(min(coverage.values()))
    assert coverage[advice.evidence.worst] == min(coverage.values())
    assert advice.evidence.n_samples == sum(answered for _, answered in shares.values())
    assert advice.evidence.width == pytest.approx(math.exp(sum(ratios) / len(ratios)))


def test_the_table_is_complete_and_consistent():
    table, about = calibration_table(), calibration_settings()
    assert len(set(table["problem"])) >= 12
    assert set(table["n_obs"]) == {12, 20, 30, 40, 60, 100, 200, 500}
    missing = set(PROCEDURES) - set(table["procedure"])
    assert not missing
    assert {"leave_pair_out", "permutation_complexity"} <= set(table["procedure"])
    assert {"ucvtest", "numpy", "jax", "scikit-learn"} <= set(about["versions"])
    assert isinstance(about["seed"], int)
    assert (table["covered"] <= table["answered"]).all()
    assert (table["answered"] <= table["samples"]).all()
    assert (table["rejected"] <= table["tested"]).all()
    for row in table[table["answered"] > 0].sample(20, random_state=0).itertuples():
        exact = stats.binomtest(row.covered, row.answered).proportion_ci(method="exact")
        assert row.coverage_low == pytest.approx(exact.low, abs=1e-4)
        assert row.coverage_high == pytest.approx(exact.high, abs=1e-4)


def test_learning_set_sizes_are_those_of_the_study():
    table = calibration_table()
    rows = table[(table["target"] != "independence") & (table["learn_size"] > 0)]
    for row in rows.itertuples():
        procedure = PROCEDURES[row.procedure]
        # Classes of odd sizes are rounded one by one.
        rounding = 3 if procedure.auc else 0
        assert abs(row.learn_size - procedure.learn_size(row.n_obs)) <= rounding


@pytest.mark.parametrize(
    ("kind", "mean", "weak", "fewest"),
    [("zero_one", 0.95, {"held_spam"}, 100), ("auc", 0.95, set(), 50)],
)
def test_advice_holds_on_problems_that_its_evidence_is_not_from(kind, mean, weak, fewest):
    """The mean, and in which problems cells are below 90% by more than chance explains."""
    found = verdict(followed_on_other_half(calibration_table(), kind))
    assert found["cells"] > fewest
    assert found["mean"] >= mean
    assert set(found["below_in"]) == weak
    assert found["below"] <= 0.02 * found["cells"]


def test_where_losses_have_tails_the_advice_promises_little_and_that_holds():
    found = verdict(followed_on_other_half(calibration_table(), "other"))
    assert found["promised"] < 0.75
    assert found["mean_promised"] >= 0.95
    assert found["mean"] < 0.95


def test_what_was_written_down_before_the_first_run_is_not_what_evidence_is_from():
    table, known = calibration_table(), calibration_settings()["problems"]
    held_out = {name for name, each in known.items() if each["held_out"]}
    assert not held_out & SET_ON
    for kind in ("zero_one", "other", "auc"):
        first, second = halves(table, kind)
        assert not set(first) & set(second)
        assert min(len(first), len(second)) >= 3


def test_finished_out_of_fold_scores_are_told_where_to_go():
    def said(**question):
        return " ".join(uv.advise(100, 400, **question).reasons)

    assert "uv.Losses.from_predictions and uv.CrossValidationWaldTest" in said(
        loss="auc", about="rules"
    )
    for question in ({"loss": "auc"}, {"about": "rules"}):
        assert "from_predictions" not in said(**question)
