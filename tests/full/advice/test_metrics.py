"""`advise` about metrics such as F1: its evidence is that of the studies, its promises are few."""

import csv
import math
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ucvtest as uv
from studies.calibration.advised import SET_ON, followed_on, verdict
from studies.calibration.metric_rows import (
    STUDIES,
    as_calibration_table,
    metric_rows,
    write_metric_rows,
)
from tests.full.advice.test_advice import make_table
from tests.support.paths import ROOT
from ucvtest.advice.advise import advise_from
from ucvtest.advice.calibration import metric_cells

STUDIED = ("f1", "mcc", "balanced_accuracy", "r2", "rmse")
LEARNERS = {"one": 1, "difference": 2}
FILE = ROOT / "ucvtest" / "advice" / "metrics.csv"


def of_study(name):
    with (STUDIES / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


# -------------------------------------------------------------------------- the evidence


@pytest.mark.parametrize("metric", STUDIED)
@pytest.mark.parametrize("target", LEARNERS)
@pytest.mark.parametrize(("n", "sizes"), [(100, {"100"}), (75, {"60", "100"})])
@pytest.mark.parametrize("fits", [20, 2000])
def test_evidence_by_a_loop_over_the_study(metric, target, n, sizes, fits):
    """An oracle that shares no code: plain Python over the CSV of the study."""
    answered, covered, widths = defaultdict(int), defaultdict(int), []
    for row in of_study("metrics_of_learners"):
        asked = (row["metric"], row["target"], row["fits"]) == (metric, target, str(fits))
        if asked and row["n"] in sizes:
            answered[row["problem"]] += int(row["answered"])
            covered[row["problem"]] += round(float(row["coverage"]) * int(row["answered"]) / 100)
            widths.append(math.log(float(row["width"]) * math.sqrt(int(row["n"]) / n)))
    shares = {name: covered[name] / answered[name] for name in answered}
    learners = LEARNERS[target]
    advice = uv.advise(n, fits * learners, metric=metric, learners=learners)
    evidence = advice.evidence
    assert evidence.n_fits == fits * learners
    assert evidence.coverage == pytest.approx(sum(shares.values()) / len(shares))
    assert evidence.lowest_coverage == shares[evidence.worst] == min(shares.values())
    assert evidence.n_problems == len(shares)
    assert evidence.n_samples == sum(answered.values())
    assert f"on {len(shares)} problems" in advice.reasons[0]
    assert f"{sum(answered.values())} samples" in advice.reasons[0]
    if metric == "rmse":
        assert math.isnan(evidence.expected_width)
    else:
        assert evidence.expected_width == pytest.approx(math.exp(sum(widths) / len(widths)))


def test_the_file_of_the_package_has_the_rows_of_the_studies(tmp_path):
    write_metric_rows(tmp_path / "metrics.csv")
    assert FILE.read_text() == (tmp_path / "metrics.csv").read_text()
    rows = metric_rows()
    keys = ["metric", "problem", "n_obs", "target", "procedure"]
    assert not rows.duplicated(keys).any()
    assert (rows["covered"] <= rows["answered"]).all()
    assert (rows["answered"] <= rows["samples"]).all()
    cells = metric_cells(frozenset({"hold_out", "ustatistic", "ustatistic_few_20"}))
    assert len(cells) == len(rows)
    for cell, row in zip(cells, rows.itertuples(), strict=True):
        assert (cell.loss, cell.problem, cell.covered) == (row.metric, row.problem, row.covered)


def test_counts_of_fixed_rules_are_their_shares():
    kept = {
        (cell.loss, cell.problem, cell.n_obs, cell.target): cell
        for cell in metric_cells(frozenset({"hold_out"}))
    }
    target = {"one": "error", "difference": "difference"}
    for row in of_study("metrics_of_rules"):
        if "clusters" in row["problem"]:
            continue
        n_obs = 3 * int(row["n"])
        cell = kept[row["metric"], f"rules_{row['problem']}", n_obs, target[row["target"]]]
        share = 100 * cell.covered / cell.answered
        assert share == pytest.approx(float(row["coverage"]), abs=1e-2)
        # That every sample has an answer follows from the standard error.
        se = math.sqrt(share * (100 - share) / cell.answered)
        assert se == pytest.approx(float(row["mc_se"]), abs=1.01e-2)
        if cell.equal:
            assert abs(float(row["truth"])) < 2e-3
            assert cell.rejected == round(float(row["rejects_0"]) * cell.tested / 100)


def test_weak_cells_are_named_if_some_samples_have_no_answer():
    question = {"learners": 2, "metric": "balanced_accuracy"}
    weak = uv.advise(40, 4000, **question).evidence.weak
    assert [str(cell) for cell in weak] == ["imbalance, n = 40: 78.7% of 47 samples"]


def test_weak_cells_come_with_the_number_that_chance_explains():
    advice = uv.advise(100, 40, metric="f1")
    (said,) = [reason for reason in advice.reasons if "by chance" in reason]
    expected = 31 * stats.binom.cdf(44, 50, 0.95)
    assert said.startswith("If all 31 cells had 95%, about 1 would be below 90%")
    assert round(expected) == 1
    assert not any("by chance" in reason for reason in uv.advise(100, 40).reasons)


# -------------------------------------------------------------------------- the promises


@pytest.mark.parametrize("n", [40, 75, 200])
@pytest.mark.parametrize("n_fits", [20, 2000, 10_000])
def test_nothing_is_promised_about_the_r2_of_one_learner(n, n_fits):
    advice = uv.advise(n, n_fits, metric="r2", learners=1)
    assert not advice.promises
    doubt = (
        "Its intervals were right in fewer than 93%"
        if advice.evidence.coverage < 0.93
        else "Over all sample sizes studied its intervals were right in 92.2% of the samples"
    )
    assert any(each.startswith(f"Caution: {doubt}") for each in advice.reasons)


@pytest.mark.parametrize("metric", ["f1", "mcc", "balanced_accuracy"])
@pytest.mark.parametrize("learners", [1, 2])
def test_metrics_of_labels_are_promised_where_they_were_studied(metric, learners):
    for n in (40, 60, 100, 200):
        assert uv.advise(n, 4000, metric=metric, learners=learners).promises
    for n in (39, 201):
        assert not uv.advise(n, 4000, metric=metric, learners=learners).promises


def test_good_coverage_at_one_size_is_no_promise():
    parts = [make_table({"ustatistic_few_20": [0.95] * 4}, sizes=(100,), loss="f1")]
    parts += [make_table({"ustatistic_few_20": [0.90] * 4}, sizes=(40, 60), loss="f1")]
    advice = advise_from(pd.concat(parts), 100, 40, metric="f1")
    assert advice.evidence.coverage == pytest.approx(0.95)
    assert not advice.promises
    assert "right in 91.7% of the samples" in advice.reasons[-1]


@pytest.mark.parametrize(
    ("metric", "stands_in"),
    [
        ("kappa", "about f1, whose intervals were worst among f1, mcc, balanced_accuracy."),
        ("recall", "about f1, "),
        ("pearson", "about rmse, whose intervals were worst among r2, rmse."),
        ("uno", "about harrell, "),
        (uv.metrics.Cells(np.trace, "mine"), "about f1, "),
    ],
)
def test_a_metric_that_was_not_studied_has_the_worst_of_its_kind(metric, stands_in):
    advice = uv.advise(100, 4000, metric=metric)
    assert not advice.promises
    doubt = f"Caution: {advice.loss} was not studied. These numbers are {stands_in}"
    assert any(each.startswith(doubt) for each in advice.reasons)
    assert math.isnan(advice.evidence.expected_width)
    shares = {
        name: uv.advise(100, 4000, metric=name).evidence.coverage
        for name in ("f1", "mcc", "balanced_accuracy")
    }
    if "about f1" in stands_in:
        assert advice.evidence.coverage == shares["f1"] == min(shares.values())


def test_without_anything_alike_there_is_no_advice():
    table = make_table({"ustatistic_few_20": [0.95] * 4}, loss="f1")
    with pytest.raises(ValueError, match="metric='r2' has no advice"):
        advise_from(table, 100, 40, metric="r2")


@pytest.mark.parametrize(
    ("metric", "mean"),
    [("f1", 95.7), ("mcc", 96.2), ("balanced_accuracy", 95.8), ("rmse", 94.5), ("r2", 92.5)],
)
def test_advice_on_problems_that_its_evidence_is_not_from(metric, mean):
    table = as_calibration_table(pd.read_csv(FILE))
    table = table[table["loss"] == metric]
    others = set(table["problem"]) - SET_ON
    found = verdict(followed_on(table, sorted(others), kind="other"))
    assert round(100 * found["mean"], 1) == mean
    assert found["mean_promised"] > 0.93
    assert set(found["below_in"]) <= {"auc_equal_weak", "held_spam", "held_tails", "imbalance"} | (
        {"contaminated"} if metric == "rmse" else set()
    )


# -------------------------------------------------------------------------- the question


def test_a_metric_is_named_as_in_tests():
    advice = uv.advise(60, 40, metric="f1")
    assert (advice.test, advice.loss) == ("UStatisticTest", "f1")
    assert advice.settings == {"learn_size": 29, "metric": "f1"}
    assert uv.advise(60, 40, loss="f1") == advice
    assert uv.advise(60, 40, metric="f1_score").evidence == advice.evidence
    assert uv.advise(60, 40, metric=uv.metrics.f1()).evidence == advice.evidence
    assert "metric=f1_macro" in str(uv.advise(60, 40, metric=uv.metrics.f1("macro")))
    # Names of losses and scores are losses.
    errors = uv.advise(60, 40)
    assert uv.advise(60, 40, loss="zero_one") == errors
    assert uv.advise(60, 40, metric="accuracy").evidence == errors.evidence
    assert uv.advise(60, 40, metric="auc").settings == {"loss": "auc"}
    log_loss = uv.advise(60, 40, metric="neg_log_loss")
    assert log_loss.settings["metric"] == "neg_log_loss"
    assert log_loss.evidence == uv.advise(60, 40, loss="log").evidence


@pytest.mark.parametrize("about", ["learner", "rules"])
def test_advice_can_be_followed(rng, about):
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    advice = uv.advise(60, 40, metric="f1", about=about)
    result = advice.make(X, y, "lda", "knn:3").fit(**advice.options, rng=0)
    assert result.status == "ok"
    assert "F1" in result.estimand


def test_fixed_rules_have_evidence_on_test_sets_of_a_third():
    advice = uv.advise(180, 2, metric="kappa", about="rules")
    assert advice.promises
    assert advice.test == "HoldOutTest"
    assert advice.evidence.learn_size == 120
    rows = [
        row
        for row in of_study("metrics_of_rules")
        if (row["metric"], row["target"], row["n"]) == ("kappa", "difference", "60")
        and "clusters" not in row["problem"]
    ]
    assert advice.evidence.n_problems == len(rows)
    mean = sum(float(row["coverage"]) for row in rows) / len(rows) / 100
    assert advice.evidence.coverage == pytest.approx(mean, abs=1e-4)
    assert any("fixed rules, tested on a third of n" in reason for reason in advice.reasons)
