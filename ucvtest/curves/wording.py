"""A curve in words and tables."""

import numpy as np

from ucvtest.curves.band import Band
from ucvtest.curves.result import DIFFERENCE, Curve
from ucvtest.results.text_tables import Grid, Tables, number_column
from ucvtest.results.wording import percent

TITLES = {
    "roc": "ROC curve",
    "precision_recall": "Precision-recall curve",
    "calibration": "Calibration curve",
    "decision": "Decision curve",
}

OTHER_FACTS = (
    ("n_groups", "Clusters"),
    ("n_folds", "Folds"),
    ("learn_size", "Learning-set size"),
    ("n_fits", "Model fits"),
    ("pos_label", "Class"),
)
"""Settings in the table of facts, if a curve has them."""

MOST_ROWS = 6
"""Number of points of each band in a summary."""


def verdict(curve: Curve) -> str:
    """Thresholds at which the difference is not zero, by its band for all points."""
    differences = [band for band in curve.bands if band.learner == DIFFERENCE]
    if not differences:
        return ""
    first, second = curve.learners
    findings = []
    for band in differences:
        for name, is_significant in ((first, band.low_all > 0), (second, band.high_all < 0)):
            if is_significant.any():
                thresholds = band.x[is_significant]
                limits = dict.fromkeys(
                    f"{limit:.4g}" for limit in (thresholds.min(), thresholds.max())
                )
                findings.append(
                    f"{name} has the larger {band.quantity} at {len(thresholds)} of "
                    f"{len(is_significant)} thresholds ({' to '.join(limits)})"
                )
    if not findings:
        names = " or ".join(band.quantity for band in differences)
        return (
            f"No evidence at the {percent(curve.alpha)} level that {first} and {second} differ in "
            f"{names} at any threshold."
        )
    return f"At the {percent(curve.alpha)} level, over all thresholds: {'; '.join(findings)}."


def tables(curve: Curve, *, notes: bool = False) -> Tables:
    """Tables of the estimand, and of some points of each band."""
    settings, title = curve.settings, TITLES[curve.kind]
    fact_rows = [
        ("Rows", str(settings["n_obs"])),
        ("Positive", str(settings["n_positive"])),
        ("Level", percent(1 - curve.alpha)),
        ("Points", str(len(curve.bands[0].x))),
    ]
    fact_rows += [(label, str(settings[name])) for name, label in OTHER_FACTS if name in settings]
    return Tables(
        title,
        [("Estimand", settings["estimand"])],
        fact_rows,
        [_points(band, settings["x"]) for band in curve.bands],
        verdict(curve),
        notes=curve.notes,
        in_full=notes,
    )


def _points(band: Band, x_name: str) -> Grid:
    """Some points, evenly spaced on the grid."""
    shown_points = np.unique(np.linspace(0, len(band.x) - 1, MOST_ROWS).round().astype(int))
    columns = {
        "estimate": band.estimate,
        "std err": band.se,
        "low": band.low,
        "high": band.high,
        "low all": band.low_all,
        "high all": band.high_all,
    }
    cells = [
        number_column([float(value) for value in band_column[shown_points]], 3)
        for band_column in columns.values()
    ]
    counts = [f"{value:.0f}" for value in band.n[shown_points]]
    places = number_column([float(value) for value in band.x[shown_points]])
    rows = [list(row) for row in zip(places, counts, *cells, strict=True)]
    title = f"{band.learner}: {band.quantity} by {x_name}"
    return Grid(rows, [x_name, "n", *columns], title=title)
