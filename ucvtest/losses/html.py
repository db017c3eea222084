"""A table of losses for notebooks."""

from typing import Any

import numpy as np

from ucvtest.designs.adapters import as_design
from ucvtest.results.summary_tables import page
from ucvtest.results.text_tables import Grid, in_two_columns, number_column


def page_of(losses: Any) -> str:
    """The mean of each learner, and the smallest and the largest mean of a resample, as HTML."""
    design, is_single = losses.design, losses.design.n_resamples == 1
    fact_rows = [
        ("Loss", losses.in_words or losses.loss),
        ("Observations", str(design.n_obs)),
        ("Design", str(losses.settings.get("design", as_design(design).words))),
        ("Model fits", str(losses.n_fits)),
        ("Better", "higher" if losses.greater_is_better else "lower"),
        ("Known", "means" if losses.values is None else "every observation"),
    ]
    if losses.without_value:
        fact_rows.append(("No value", losses.without_value))
    reduced = (
        {"mean": np.mean} if is_single else {"mean": np.mean, "least": np.min, "greatest": np.max}
    )
    columns = {
        name: number_column([_reduced(row, reduce) for row in losses.means])
        for name, reduce in reduced.items()
    }
    rows = [list(cells) for cells in zip(losses.learners, *columns.values(), strict=True)]
    return page([], [Grid(in_two_columns(fact_rows), aligns="lrl"), Grid(rows, ["", *columns])])


def _reduced(means: np.ndarray, reduce: Any) -> float:
    """A summary over the resamples that have a value."""
    finite_means = means[~np.isnan(means)]
    return float(reduce(finite_means)) if len(finite_means) else float("nan")
