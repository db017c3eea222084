"""The tables of the study of sizes with few fits: what the page says is what they have."""

from pathlib import Path

import numpy as np
import pandas as pd

from studies.intervals import few_fits_sizes as study

CELLS, MEANS = pd.read_csv(study.TABLE), pd.read_csv(study.IN_SHORT)
PAGE = " ".join(Path("docs/validation/studies-few-fits.md").read_text().split())


def test_the_short_table_is_that_of_the_cells():
    pd.testing.assert_frame_equal(MEANS, study.in_short(CELLS).round(3), atol=0.002)


def test_the_page_has_the_numbers_of_the_tables():
    samples = CELLS["samples"]
    small, large = CELLS["n_obs"] <= 30, CELLS["n_obs"] >= 500
    for part in (small, large):
        for fits in (20, 80):
            cells = CELLS[part & (CELLS["fits_of_each"] == fits)]
            share = 100 * cells["covered"].sum() / cells["samples"].sum()
            assert f"{share:.1f}% from {fits} fits" in PAGE
    keys = ["problem", "n_obs", "fits_of_each"]
    wide = CELLS[~small & ~large].pivot(index=keys, columns="sets", values=["width", "covered"])
    ratio = wide["width"]["third"] / wide["width"]["half"]
    of_fits = np.exp(np.log(ratio).groupby("fits_of_each").mean())
    assert f"{of_fits[20]:.2f} and {of_fits[80]:.2f} times as long" in PAGE
    asked = CELLS["wrongly"].notna()
    rate = 100 * CELLS["wrongly"][asked].sum() / samples[asked].sum()
    most = (100 * CELLS["wrongly"] / samples).max()
    assert f"in {rate:.1f}% of the samples, {most:.0f}% in the worst setting" in PAGE


def test_a_sample_gives_the_rows_of_the_table():
    problem, n_obs, sets = next(study.cells())
    rows = list(study.rows_of(problem, n_obs, sets, 0))
    assert len(rows) == len(study.PAIRS)
    assert {len(row) for row in rows} == {len(study.COLUMNS)}
    # As the script wrote it.
    assert rows[0][:6] == ("equal", 20, "half", 10, 0, "0.135")
