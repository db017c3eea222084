"""Tables of the page on calibration that set a few tests side by side: tails, ratios, others'."""

import numpy as np
import pandas as pd

from studies.calibration.problems import problems
from studies.calibration.promises import SAMPLES, TAILS
from studies.calibration.table import binomial_limits
from studies.calibration.unstable_problems import MAKERS as UNSTABLE
from studies.calibration.words import percent, range_words, rejected_words
from studies.coverage import markdown

PUBLISHED = {
    "corrected_t": "93.6",
    "conservative_z": "96.6, width 1.08",
    "nested": "97.1, width 0.85",
    "wald_all_pairs": "86, on leave-one-out",
    "five_by_two_t": "down to 70",
}
"""Average coverage in percent of Schulz-Kuempel and others (2024), over their problems and learners
at their sample sizes; widths relative to those of the corrected t test."""

OURS = ("ustatistic", "ustatistic_wald")

OF_UNSTABLE = (
    "corrected_t",
    "corrected_t_repeated",
    "fold_covariance",
    "conservative_z",
    "nested",
    "five_by_two_t",
    "ustatistic",
    "ustatistic_third",
)
"""Tests shown on pairs with an unstable learner; the last three learn from half or less."""


def benchmark_table(table: pd.DataFrame) -> str:
    """One learner's error on the public benchmark's problems, compared with published results."""
    names = {name for name, each in problems().items() if each.benchmark}
    rows = table[table["problem"].isin(names) & (table["target"] == "error")]
    sizes = sorted(set(rows["n_obs"]))
    lines = []
    for name in (*PUBLISHED, *OURS):
        line = [f"`{name}`", PUBLISHED.get(name, "-")]
        for n_obs in sizes:
            at = rows[rows["n_obs"] == n_obs]
            cells = at[(at["procedure"] == name) & (at["answered"] > 0)]
            line.append(_covered(cells, at[at["procedure"] == "corrected_t"]))
        lines.append(line)
    columns = ["test", "published", *(f"n = {n}" for n in sizes)]
    title = "Public benchmark, as far as it can be simulated: expected loss of one learner"
    return markdown(columns, lines, title)


def _covered(cells: pd.DataFrame, reference: pd.DataFrame) -> str:
    """Coverage over problems, the lowest one, and the width."""
    if cells.empty:
        return "-"
    share = cells["covered"] / cells["answered"]
    widths = cells.set_index("problem")["width"] / reference.set_index("problem")["width"]
    width = float(np.exp(np.log(widths.dropna()).mean()))
    worst = cells.loc[share.idxmin(), "problem"]
    return (
        f"{percent(share.mean())}, lowest {percent(share.min())} ({worst}), width {width:.2f}; "
        f"{len(cells)} problems, {int(cells['samples'].sum())} samples"
    )


def tails_table(table: pd.DataFrame) -> str:
    """Squared losses with tails, cell by cell: what the default costs, and the narrower rules."""
    rows = table[table["problem"].isin(TAILS) & (table["target"] == "error")]
    by_rule = {
        name: rows[rows["procedure"] == name].set_index(["problem", "n_obs"])
        for name in ("ustatistic", "ustatistic_hall", "ustatistic_wald")
    }
    default, hall, wald = by_rule.values()
    lines = []
    for key in default.index.intersection(wald.index).intersection(hall.index):
        line = [f"{key[0]}, n = {key[1]}", str(int(default.loc[key, "answered"]))]
        line += [_with_width(each.loc[key], wald.loc[key]) for each in (default, hall)]
        lines.append([*line, percent(wald.loc[key, "covered"] / wald.loc[key, "answered"])])
    title = "Heavy-tailed squared loss, one learner: coverage (width over the symmetric interval's)"
    return markdown(
        ["cell", "samples", '"hall_floor", the default', '"hall"', '"wald"'], lines, title
    )


def _with_width(cell: pd.Series, reference: pd.Series) -> str:
    share = cell["covered"] / cell["answered"]
    return f"{percent(share)} ({cell['width'] / reference['width']:.2f})"


def unstable_table(table: pd.DataFrame) -> str:
    """Differences of error rates where one learner is unstable: all sizes, and the worst one."""
    rows = table[(table["target"] == "difference") & (table["samples"] >= SAMPLES)]
    by_test = {name: rows[rows["procedure"] == name] for name in OF_UNSTABLE}
    lines = []
    for problem in ("held_spam", *(make.__name__ for make in UNSTABLE)):
        parts = [each[each["problem"] == problem] for each in by_test.values()]
        if all(len(part) for part in parts):
            lines.append([f"`{problem}`", *map(_with_lowest, parts)])
    return markdown(
        ["problem", *(f"`{name}`" for name in OF_UNSTABLE)],
        lines,
        "Pairs chosen because one learner is unstable: coverage of differences of error rates, all "
        "sample sizes together (and at the size with the lowest)",
    )


def _with_lowest(cells: pd.DataFrame) -> str:
    share = cells["covered"] / cells["answered"]
    lowest = cells.loc[share.idxmin(), "n_obs"]
    together = cells["covered"].sum() / cells["answered"].sum()
    return f"{percent(together)} ({percent(share.min())}, n = {lowest})"


def ratio_table(table: pd.DataFrame) -> str:
    """Rejections by the ratio, and by tests of the difference on the same problems."""
    tests = (
        ("ustatistic_ratio", "ratio"),
        ("ustatistic", "difference"),
        ("corrected_t", "difference"),
    )
    cells = [
        table[(table["procedure"] == name) & (table["target"] == target) & (table["tested"] > 0)]
        for name, target in tests
    ]
    keys = [set(zip(each["problem"], each["n_obs"], strict=True)) for each in cells]
    shared = set.intersection(*keys)
    lines = []
    for (name, _), each in zip(tests, cells, strict=True):
        here = each[[key in shared for key in zip(each["problem"], each["n_obs"], strict=True)]]
        line = [f"`{name}`"]
        for equal in (1, 0):
            counts = here[here["equal"] == equal][["rejected", "tested"]].sum()
            line.append(rejected_words(int(counts["rejected"]), int(counts["tested"])))
        covered, answered = (int(here[column].sum()) for column in ("covered", "answered"))
        limits = range_words(binomial_limits(covered, answered))
        lines.append([*line, f"{percent(covered / answered)} {limits}"])
    title = f"Rejections by the ratio and by the difference, the same {len(shared)} cells"
    return markdown(["test", "true nulls rejected", "others rejected", "coverage"], lines, title)
