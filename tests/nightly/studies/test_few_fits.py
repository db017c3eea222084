"""The tables of the study of few fits: what they say, and that one is made of the other."""

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from studies.intervals import few_fits as study

CELLS, MEANS = pd.read_csv(study.TABLE), pd.read_csv(study.IN_SHORT)


def test_the_short_table_is_that_of_the_cells():
    pd.testing.assert_frame_equal(MEANS, study.in_short(CELLS).round(2), atol=0.011)


def test_differences_of_error_rates_are_covered_at_every_budget():
    rows = MEANS[(MEANS["loss"] == "zero_one") & (MEANS["target"] == "difference")]
    assert list(rows["fits_of_each"]) == [2 * pairs for pairs in study.PAIRS]
    assert (rows["coverage"] >= 95).all()
    assert rows["width_over_5x2"].iloc[1] <= 0.65
    assert (rows["size"] <= 5).all()


def test_settings_with_low_coverage_are_those_that_the_pages_name():
    cells = CELLS[(CELLS["loss"] == "zero_one") & (CELLS["target"] == "difference")]
    cells = cells.assign(share=cells["covered"] / cells["answered"])
    low = cells[cells["share"] < 0.9 - 2.5 * np.sqrt(0.09 / cells["answered"])]
    assert set(low["problem"]) == {"held_spam"}


def test_a_sample_gives_the_rows_of_the_table():
    (problem,) = (each for each in study.studied() if each.name == "weak")
    rows = list(study.rows_of(problem, 40, 0))
    assert len(rows) == len(study.PAIRS) * len(study.TARGETS)
    assert {len(row) for row in rows} == {len(study.COLUMNS)}
    # As the script wrote it.
    assert float(rows[0][5]) == pytest.approx(0.0875)


def test_the_docstring_and_the_notes_have_the_numbers_of_the_table():
    rows = MEANS.set_index(["loss", "target", "fits_of_each"])
    differences = rows.loc["zero_one", "difference"]
    docstring = " ".join(uv.UStatisticTest.__doc__.split())
    for said in (
        f"{differences['coverage'][20]:.1f}% of the samples of {differences['cells'][20]}",
        f"at {differences['width_over_5x2'][20]:.2f} times the width of the 5x2 t test's",
        f"{differences['width_over_full'][20]:.2f} times that of thousands of fits",
        f"with 200 fits in {differences['coverage'][200]:.1f}%",
        f"The worst setting had {differences['worst'][20]:.1f}%",
    ):
        assert said in docstring
    tails, one = rows.loc["other", "difference", 20], rows.loc["other", "error", 20]
    note = f"{tails['coverage']:.0f}% of simulated samples, {tails['worst']:.0f}% in the worst"
    of_one = f"{one['coverage']:.0f}% of simulated samples, and in {one['worst']:.0f}% in the worst"
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)
    for learners, said in ((("ridge:1.0", "ridge:9.0"), note), (("ridge:1.0",), of_one)):
        test = uv.UStatisticTest(X, y, *learners, loss="squared")
        notes = " ".join(test.fit(variance="few", rng=0).notes)
        assert said in notes
