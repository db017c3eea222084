"""The table of the study of curves: what the page says of it, and that it can be computed again."""

import numpy as np
import pandas as pd
import pytest

from studies.intervals import curves as study
from tests.support.paths import ROOT

TABLE = pd.read_csv(study.TABLE)


def test_the_page_has_the_numbers_of_the_table():
    page = (ROOT / "docs" / "tutorials" / "curves.md").read_text(encoding="utf-8")
    assert study.on_the_page(TABLE) in page


def test_bands_contain_the_curve_except_with_few_clusters():
    assert (TABLE["samples"] >= 200).all()
    assert (TABLE["point"] >= 92.5).all()
    low = TABLE[TABLE["all"] < 90.5]
    assert set(low["problem"]) <= {"150 rows in 15 clusters"}


def test_a_sample_gives_a_row_for_each_curve():
    rows = list(study.rows_of("50 rows", 0))
    assert [(row["curve"], row["target"]) for row in rows] == [
        (curve, target)
        for curve in ("roc", "precision_recall", "decision")
        for target in ("a", "difference")
    ] + [("calibration", "a")]
    assert set(TABLE["problem"]) == set(study.PROBLEMS)


@pytest.mark.parametrize("folds", [False, True])
def test_truths_are_those_of_a_large_sample(folds):
    drawn = study.draw(study.Problem(40_000, 0.4, folds=folds), np.random.default_rng(0))
    for name, tails in zip("ab", drawn.tails, strict=True):
        p = drawn.predictions[name]
        for quantity, flagged in (("recall", drawn.y == 1), ("precision", p >= 0.5)):
            found = ((p >= 0.5) & (drawn.y == 1))[flagged].mean()
            assert abs(found - study.truth(quantity, 0.4, tails, 0.5)) < 0.01
