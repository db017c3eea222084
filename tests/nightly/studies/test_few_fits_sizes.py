"""The tables of the study of sizes with few fits: what the page says is what they have."""

from pathlib import Path

import numpy as np
import pandas as pd

from studies.intervals import few_fits_sizes as study

PATH = study.STUDY.path
CELLS, MEANS = pd.read_csv(PATH), pd.read_csv(PATH.with_stem("few_fits_sizes_in_short"))
PAGE = " ".join(Path("docs/validation/studies-few-fits.md").read_text().split())


def test_the_short_table_is_that_of_the_cells():
    pd.testing.assert_frame_equal(MEANS, study.short(CELLS), atol=0.002)


def test_the_page_has_the_numbers_of_the_tables():
    small, large = CELLS["n_obs"] <= 30, CELLS["n_obs"] >= 500
    for part in (small, large):
        for fits in (20, 80):
            cells = CELLS[part & (CELLS["fits_of_each"] == fits)]
            share = np.average(cells["coverage"], weights=cells["samples"])
            assert f"{share:.1f}% from {fits} fits" in PAGE
    keys = ["problem", "n_obs", "fits_of_each"]
    wide = CELLS[~small & ~large].pivot(index=keys, columns="sets", values=["width", "coverage"])
    ratio = wide["width"]["third"] / wide["width"]["half"]
    of_fits = np.exp(np.log(ratio).groupby("fits_of_each").mean())
    assert f"{of_fits[20]:.2f} and {of_fits[80]:.2f} times as long" in PAGE
    asked = CELLS["wrongly"].notna()
    rate = np.average(CELLS["wrongly"][asked], weights=CELLS["samples"][asked])
    most = CELLS["wrongly"].max()
    assert f"in {rate:.1f}% of the samples, {most:.0f}% in the worst setting" in PAGE


def test_a_sample_gives_the_rows_of_the_table():
    rows = list(study.STUDY.rows_of(*study.STUDY.cells[0], 0))
    assert len(rows) == len(study.PAIRS)
    assert {len(row) for row in rows} == {len(study.STUDY.columns)}
    # As the script wrote it.
    assert rows[0][:7] == ("equal", 20, "half", 0, 20, "0", "0.135")
