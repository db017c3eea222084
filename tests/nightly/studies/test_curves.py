"""The table of the study of curves: what the page says of it, and that it can be computed again."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from studies.intervals import curves as study
from tests.support.paths import ROOT

TABLE = pd.read_csv(study.STUDY.path)


def test_the_page_has_the_numbers_of_the_table():
    page = (ROOT / "docs" / "tutorials" / "curves.md").read_text(encoding="utf-8")
    assert study.on_the_page(TABLE) in page


def test_bands_contain_the_curve_except_where_the_page_says_so():
    assert (TABLE["samples"] >= 200).all()
    assert (TABLE["point"] >= 92.5).all()
    low = TABLE[TABLE["all"] < 90.5]
    of_one, of_two = (low[low["target"] == target] for target in ("a", "difference"))
    assert set(of_one["problem"]) <= {"150 rows in 15 clusters"}
    assert set(of_two["curve"]) <= {"roc", "precision_recall"}
    assert set(of_two["problem"]) == {
        "60 rows, 10 pairs",
        "60 rows, 200 pairs",
        "200 rows, 10% positive, 200 pairs",
    }


def test_a_sample_gives_a_row_for_each_curve():
    assert [row[:2] for row in study.sample("50 rows", 0)] == [
        (curve, target)
        for curve in ("roc", "precision_recall", "decision")
        for target in ("a", "difference")
    ] + [("calibration", "a")]
    assert set(TABLE["problem"]) == set(study.PROBLEMS)


def test_true_tails_of_learners_are_those_of_their_rules(monkeypatch):
    """Of 30 learning sets, whose rules are asked about 4000 rows."""
    monkeypatch.setattr(study, "N_TRUE_SETS", 30)
    problem = study.Problem(60, 0.4, n_pairs=10)
    tails = study.true_tails.__wrapped__(problem)[1]
    learner, shares = LogisticRegression(C=0.05), []
    rng = np.random.default_rng(11)
    for _ in range(30):
        y = (rng.random(29) < 0.4).astype(int)
        X, _ = study.features_of(problem, y, rng)
        new = study.LEARNT_SHIFTS + np.random.default_rng(0).normal(size=(4000, 4))
        shares.append((learner.fit(X, y).predict_proba(new)[:, 1] >= 0.5).mean())
    assert tails(np.array([0.5]))[0][0] == pytest.approx(np.mean(shares), abs=0.01)


@pytest.mark.parametrize("folds", [False, True])
def test_truths_are_those_of_a_large_sample(folds):
    drawn = study.draw(study.Problem(40_000, 0.4, folds=folds), np.random.default_rng(0))
    for name, tails in zip("ab", drawn.tails, strict=True):
        p = drawn.predictions[name]
        for quantity, flagged in (("recall", drawn.y == 1), ("precision", p >= 0.5)):
            found = ((p >= 0.5) & (drawn.y == 1))[flagged].mean()
            assert abs(found - study.truth(quantity, 0.4, tails, 0.5)) < 0.01
