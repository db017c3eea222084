"""The table of several learners from few fits: what the page and the note say of it."""

import numpy as np
import pandas as pd

from studies.intervals import many_learners_few_fits as study

CELLS = pd.read_csv(study.TABLE)


def test_the_numbers_of_the_page_are_those_of_the_table():
    samples = CELLS["data sets"]
    assert samples.sum() == 1200
    assert np.average(CELLS["covered"], weights=samples).round(3) == 0.938
    assert CELLS["covered"].min() == 0.92
