"""Tables of studies whose results are committed as CSV files, and of learners and losses."""

import inspect
from pathlib import Path

import pandas as pd

import ucvtest as uv
from made.files import Folder, markdown_table
from ucvtest.advice.calibration import calibration_settings
from ucvtest.learners.adapters.coerce import SHORT_NAMES
from ucvtest.losses import LOSSES

STUDIES = (
    "benchmarks/slow_learners",
    "clusters/fixed_rules",
    "clusters/learners",
    "clusters/permuted_labels",
    "designs/strata",
    "intervals/column_gains",
    "intervals/column_gains_in_short",
    "intervals/concordance_of_learners_in_short",
    "intervals/few_fits_auc_in_short",
    "intervals/few_fits_in_short",
    "intervals/few_fits_sizes_in_short",
    "intervals/many_learners",
    "intervals/metrics_of_learners_in_short",
    "intervals/right_or_wrong",
    "intervals/weighted_errors",
    "ledger/lives",
    "planning/equivalence",
    "planning/others",
    "planning/planning",
    "planning/problems",
    "planning/reasons",
)
"""Folders and names of the tables in `studies/`."""


def write(parts: Folder, root: Path) -> None:
    """One table for each file, and the lists."""
    tables = {name: pd.read_csv(root / "studies" / f"{name}.csv") for name in STUDIES}
    for name, table in tables.items():
        parts.text(f"study_{name.replace('/', '_')}.md", _table(table))
    of_clusters = _clusters_in_short(tables["clusters/learners"])
    parts.text("study_clusters_in_short.md", of_clusters)
    parts.text("study_planning_in_short.md", _planning_in_short(tables["planning/problems"]))
    parts.text("problems.md", _problems())
    parts.text("learners.md", _learners())
    parts.text("losses.md", _losses())


def _clusters_in_short(cells: pd.DataFrame) -> str:
    """Coverage by test and number of clusters, on average and at worst, and without groups."""
    paired = cells["learners"].str.contains(" - ")
    cells = cells.assign(learners=paired.map({True: "two", False: "one"}))
    rows = []
    for (loss, test, learners), of_test in cells.groupby(["loss", "test", "learners"], sort=False):
        by_number = {
            number: _mean_and_least(part)
            for number, part in of_test[of_test.grouped].groupby("clusters")
        }
        clusters, alone = of_test[of_test.grouped], of_test[~of_test.grouped]
        optimism = alone["bias"] if loss == "auc" else -alone["bias"]
        rows.append(
            [
                *(str(loss), str(test), str(learners)),
                *(by_number.get(number, "") for number in (20, 40, 100)),
                f"{clusters['coverage'].mean():.1f}%",
                _mean_and_least(alone),
                f"{optimism.max():.3f}",
                str(int((clusters["samples"] - clusters["answered"]).sum())),
                str(int(clusters["samples"].sum())),
            ]
        )
    head = ["loss", "test", "learners", "20 clusters", "40", "100", "all"]
    head += ["without groups", "largest optimism", "no answer", "samples"]
    return markdown_table(head, rows)


def _mean_and_least(cells: pd.DataFrame) -> str:
    return f"{cells['coverage'].mean():.1f}% ({cells['coverage'].min():.1f}%)"


def _planning_in_short(problems: pd.DataFrame) -> str:
    """How many problems have a median as it should be, and how many pilots are near."""
    parts = [*problems.groupby("use", sort=False), ("all", problems)]
    rows = []
    for use, part in parts:
        right = part["se"].between(0.9, 1.15).sum()
        error = (part["se_within_mc"] ** 2).sum() ** 0.5 / len(part)
        within = f"{part['se_within'].mean():.1%} ± {100 * error:.1f}"
        rows.append([str(use), str(len(part)), str(right), within])
    head = ["problems", "number", "median ratio within .9 and 1.15", "pilots within 30%"]
    return markdown_table(head, rows)


def _table(frame: pd.DataFrame) -> str:
    rows = [[_text(value) for value in row] for row in frame.itertuples(index=False)]
    return markdown_table([name.replace("_", " ") for name in frame.columns], rows)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.4g}"
    return str(value).replace("|", "\\|")


def _problems() -> str:
    rows = [
        [f"`{name}`", each["words"], str(each["loss"]), str(each["population"])]
        for name, each in calibration_settings()["problems"].items()
    ]
    return markdown_table(["problem", "description", "loss", "population"], rows)


def _learners() -> str:
    rows = []
    for name in SHORT_NAMES:
        factory = getattr(uv.learners, name)
        doc = (inspect.getdoc(factory) or "").splitlines()[0]
        rows.append([f"`{name}`", f"{{py:func}}`~ucvtest.learners.{name}`", doc])
    return markdown_table(["short string", "Python", "description"], rows)


def _losses() -> str:
    rows = [[f"`{name}`", loss.estimand, loss.output] for name, loss in LOSSES.items()]
    rows.append(["`auc`", "area under the ROC curve", "score"])
    return markdown_table(["name", "its mean is the", "what learners must predict"], rows)
