"""The tables of the study of AUCs from few fits, and what pages and notes say of them."""

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from studies.intervals.few_fits_auc import FEW_FITS_AUC
from tests.support.paths import ROOT
from ucvtest.advice.configured_tests import FEW_PAIRS
from ucvtest.methods.ustatistic.reporting import coverage_in_words

PATH = FEW_FITS_AUC.study().path
CELLS, SHORT = pd.read_csv(PATH), pd.read_csv(PATH.with_stem("few_fits_auc_in_short"))
MEANS = SHORT.set_index(["target", "fits_of_each"])


def test_the_short_table_is_that_of_the_cells():
    pd.testing.assert_frame_equal(SHORT, FEW_FITS_AUC.short(CELLS), atol=0.011)


@pytest.mark.parametrize("target", ["difference", "error"])
def test_aucs_are_covered_at_every_budget(target):
    rows = MEANS.loc[target]
    assert list(rows.index) == [2 * pairs for pairs in FEW_PAIRS]
    assert (rows["coverage"] >= 95).all()
    if target == "difference":
        assert (rows["size"] <= 5).all()


def test_no_setting_has_low_coverage():
    assert (CELLS["coverage"] >= 90 - 250 * np.sqrt(0.09 / CELLS["answered"])).all()


def test_docstring_page_and_note_have_the_numbers():
    page = (ROOT / "docs" / "methods" / "ustatistic-few-fits.md").read_text(encoding="utf-8")
    for text in map(_one_line, (page, uv.UStatisticTest.__doc__)):
        for target in ("difference", "error"):
            assert f"{MEANS['coverage'][target, 20]:.1f}%" in text
        assert MEANS["worst_cell"]["difference", 20].split()[0] in text
    for target, paired in (("difference", True), ("error", False)):
        row = MEANS.loc[target, 20]
        said = coverage_in_words(paired=paired)
        assert f"{row['coverage']:.1f}%" in said
        assert f"{row['worst']:.1f}%" in said


def _one_line(text):
    return " ".join(str(text).split())


def test_a_sample_gives_the_rows_of_the_table():
    study = FEW_FITS_AUC.study()
    rows = list(study.rows_of("weak", 40, 0))
    assert len(rows) == 2 * len(FEW_PAIRS)
    # As the script wrote it.
    assert float(rows[0][study.columns.index("estimate")]) == pytest.approx(0.00991736)
