"""The calibration table in words and as a picture."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from studies.calibration.advised import (
    BINOMIAL_ERRORS,
    BUDGETS,
    KINDS,
    LOWEST,
    followed_on_other_half,
    verdict,
)
from studies.calibration.side_by_side import (
    benchmark_table,
    ratio_table,
    tails_table,
    unstable_table,
)
from studies.calibration.table import about_auc, binomial_limits
from studies.calibration.words import percent, range_words, rejected_words
from studies.coverage import markdown
from ucvtest.advice.calibration import calibration_settings
from ucvtest.advice.configured_tests import PROCEDURES

START, END = (
    "<!-- calibration: written by studies/calibration/run.py -->",
    "<!-- end of calibration -->",
)

GOOD = 0.93
"""Coverage of nominal 95% intervals below which a test is said to have missed."""

NORMAL = 1.96
FEWEST_SHOWN = 5
"""Problems that a test was tried on before it is shown."""

SIZE_COLOURS = {40: "#440154", 60: "#3b528b", 100: "#21918c", 200: "#5ec962", 500: "#e8c100"}


# ----------------------------------------------------------------------------- summaries


def widely_studied(table: pd.DataFrame) -> pd.DataFrame:
    """Without tests that few problems were tried on as yet; independence has one problem."""
    n_problems = table.groupby(["procedure", "target"])["problem"].transform("nunique")
    return table[(n_problems >= FEWEST_SHOWN) | (table["target"] == "independence")]


def summarised(table: pd.DataFrame, target: str, fits_at: int = 100) -> pd.DataFrame:
    """One row for each test: coverage, worst problem, size, width, fits, missing answers, ..."""
    rows = table[table["target"] == target]
    found = []
    for name, cells in rows.groupby("procedure", sort=False):
        procedure = PROCEDURES.get(str(name))
        if procedure is None or not procedure.interval or not cells["answered"].sum():
            continue
        by_problem = cells.groupby("problem", sort=False)[["samples", "answered", "covered"]].sum()
        by_problem = by_problem[by_problem["answered"] > 0]
        coverage = by_problem["covered"] / by_problem["answered"]
        worst = coverage.idxmin()
        reference = rows[
            rows["procedure"] == ("corrected_t_auc" if procedure.auc else "corrected_t")
        ]
        null = cells[cells["equal"] == 1][["tested", "rejected"]].sum()
        other = cells[cells["equal"] == 0][["tested", "rejected"]].sum()
        counted = cells[cells["sd"].notna()]
        learner = procedure.about == "learner"
        found.append(
            {
                "procedure": name,
                "coverage": by_problem["covered"].sum() / by_problem["answered"].sum(),
                "interval": binomial_limits(
                    by_problem["covered"].sum(), by_problem["answered"].sum()
                ),
                "worst": worst,
                "worst_coverage": coverage.min(),
                "worst_interval": binomial_limits(*by_problem.loc[worst, ["covered", "answered"]]),
                "size": (int(null["rejected"]), int(null["tested"])),
                "power": (int(other["rejected"]), int(other["tested"])),
                "ideal": _over_ideal(counted) if learner else np.nan,
                "below": counted["missed_below"].sum() / max(counted["answered"].sum(), 1),
                "above": counted["missed_above"].sum() / max(counted["answered"].sum(), 1),
                "seconds": cells[cells["n_obs"] == fits_at]["seconds"].median(),
                "width": _relative_width(cells, reference),
                "n_fits": int(cells[cells["n_obs"] == fits_at]["n_fits"].median()),
                "missing": 1 - by_problem["answered"].sum() / by_problem["samples"].sum(),
            }
        )
    return pd.DataFrame(found)


def _relative_width(cells: pd.DataFrame, reference: pd.DataFrame) -> float:
    keys = ["problem", "n_obs"]
    ratios = cells.set_index(keys)["width"] / reference.set_index(keys)["width"]
    return float(np.exp(np.log(ratios[ratios > 0]).mean()))


def _over_ideal(cells: pd.DataFrame) -> float:
    """Widths over those of normal intervals with the true standard deviation."""
    return float((cells["width"] / (2 * NORMAL * cells["sd"])).mean())


def missed_cells(table: pd.DataFrame, target: str) -> list[tuple[str, int, str, float]]:
    """Problems and sample sizes where no test about the learner covers 93%, and the best there."""
    good = {
        name
        for name, each in PROCEDURES.items()
        if each.about == "learner" and each.valid and not each.auc
    }
    rows = table[(table["target"] == target) & table["procedure"].isin(good)]
    rows = rows[rows["answered"] > 0.9 * rows["samples"]]
    found = []
    for (problem, n_obs), cells in rows.groupby(["problem", "n_obs"], sort=False):
        coverage = cells["covered"] / cells["answered"]
        if coverage.max() < GOOD:
            best = cells.loc[coverage.idxmax(), "procedure"]
            found.append((str(problem), int(n_obs), str(best), float(coverage.max())))
    return found


# --------------------------------------------------------------------------------- page


def page_section(table: pd.DataFrame) -> str:
    """The section of the page on calibration, from the table alone."""
    advice = (_advice_words(widely_studied(table), kind) for kind in KINDS)
    return "\n".join(part for part in (*tables(table), *advice) if part)


def tables(table: pd.DataFrame) -> list[str]:
    """All of the section except the words on the advice."""
    table = widely_studied(table)
    auc = about_auc(table)
    losses, areas = table[~auc], table[auc & table["sd"].notna()]
    return [
        _sample_words(losses),
        _of_tests("Difference of two learners", summarised(losses, "difference"), COMMON),
        _of_tests("Expected loss of one learner", summarised(losses, "error"), WITHOUT_SIZE),
        unstable_table(losses),
        tails_table(losses),
        _of_tests("Ratio of the losses of two learners", summarised(losses, "ratio"), OF_RATIO),
        ratio_table(losses),
        benchmark_table(losses),
        _tests_without_interval(losses),
        _missed(losses),
        _auc_words(areas),
        _of_tests("Difference of two AUCs", summarised(areas, "difference"), OF_AUC),
        _of_tests("AUC of one learner", summarised(areas, "error"), OF_ONE_AUC),
    ]


Column = tuple[str, Callable[[dict[str, Any]], str]]

_COVERAGE: tuple[Column, ...] = (
    ("coverage", lambda row: f"{percent(row['coverage'])} {range_words(row['interval'])}"),
    (
        "in the worst problem",
        lambda row: (
            f"{percent(row['worst_coverage'])} {range_words(row['worst_interval'])} {row['worst']}"
        ),
    ),
)
_SIZE: Column = ("size at a true null", lambda row: rejected_words(*row["size"]))
_WIDTH: Column = ("width", lambda row: f"{row['width']:.2f}")
_COST: tuple[Column, ...] = (
    ("fits at n = 100", lambda row: f"{row['n_fits']}"),
    ("no answer", lambda row: f"{row['missing']:.1%}"),
)
_IDEAL: tuple[Column, ...] = (
    ("width / ideal", lambda row: _number(row["ideal"], ".2f")),
    ("too low / too high", lambda row: f"{percent(row['below'])} / {percent(row['above'])}"),
)
_POWER: Column = ("power", lambda row: _share(*row["power"]))
_SECONDS: Column = ("seconds at n = 100", lambda row: _number(row["seconds"], ".2g"))

WITHOUT_SIZE: tuple[Column, ...] = (*_COVERAGE, _WIDTH, *_COST)
COMMON: tuple[Column, ...] = (*_COVERAGE, _SIZE, _WIDTH, *_COST)
OF_RATIO: tuple[Column, ...] = (*_COVERAGE, _SIZE, _POWER, *_COST)
OF_ONE_AUC: tuple[Column, ...] = (*_COVERAGE, _WIDTH, *_IDEAL, _SECONDS, *_COST)
OF_AUC: tuple[Column, ...] = (*_COVERAGE, _SIZE, _POWER, _WIDTH, *_IDEAL, _SECONDS, *_COST)


def _of_tests(title: str, rows: pd.DataFrame, columns: tuple[Column, ...]) -> str:
    lines = []
    for row in rows.to_dict("records"):
        mark = "" if PROCEDURES[row["procedure"]].about == "learner" else " (rules)"
        lines.append([f"`{row['procedure']}`{mark}", *(words(row) for _, words in columns)])
    return markdown(["test", *(words for words, _ in columns)], lines, title)


def _auc_words(areas: pd.DataFrame) -> str:
    """What the AUC was studied on, and what columns mean that losses do not have."""
    if areas.empty:
        return ""
    known = calibration_settings()["problems"]
    names = list(dict.fromkeys(areas["problem"]))
    held_out = [name for name in names if known[name].get("held_out")]
    cells = areas[(areas["procedure"] == "ustatistic_auc") & (areas["target"] == "difference")]
    return (
        f"The AUC was studied on {len(names)} problems. These were written down before the first "
        f"run and used for no choice: {', '.join(held_out) or 'none'}. Samples have the class "
        f"proportions of the population. There are {cells['samples'].min()} to "
        f"{cells['samples'].max()} of each problem and size for `ustatistic_auc` and the corrected "
        "t test, and a third or a quarter as many for the others. Widths are relative to the "
        "corrected t test, and to the ideal, 2 x 1.96 standard deviations of the estimate. An "
        "interval misses the true value because it is too low or too high. Power is the share "
        "of rejections where the learners differ. Nested cross-validation has no AUC.\n"
    )


def _sample_words(table: pd.DataFrame) -> str:
    """How many samples there are behind the numbers."""
    cells = table[table["target"] == "difference"]
    cheap = cells[cells["procedure"] == "corrected_t"].groupby("n_obs")["samples"].median()
    costly = cells[cells["procedure"] == "ustatistic"].groupby("n_obs")["samples"].median()
    words = ", ".join(f"{int(cheap[n])} ({int(costly.get(n, 0))}) at n = {n}" for n in cheap.index)
    return (
        f"There are {table['problem'].nunique()} problems. The median number of samples of each, "
        f"for tests that share fits (and for `ustatistic`), is {words}. Other tests that need many "
        "fits have a third to a sixth as many.\n"
    )


def _number(value: float, form: str) -> str:
    return "-" if np.isnan(value) else format(value, form)


def _share(count: int, total: int) -> str:
    return percent(count / total) if total else "-"


def _tests_without_interval(table: pd.DataFrame) -> str:
    lines = []
    null = table[table["equal"] == 1]
    for name, cells in null.groupby("procedure", sort=False):
        procedure = PROCEDURES.get(str(name))
        if procedure is not None and procedure.interval and procedure.name != "mcnemar":
            continue
        rejected, tested = cells["rejected"].sum(), cells["tested"].sum()
        if tested:
            problems = ", ".join(dict.fromkeys(cells["problem"]))
            lines.append(f"`{name}` {rejected_words(int(rejected), int(tested))} ({problems})")
    if not lines:
        return ""
    return (
        "Some p-values come without an interval. They reject at the 5% level, in percent of true "
        "null hypotheses: " + "; ".join(lines) + ".\n"
    )


def _missed(table: pd.DataFrame) -> str:
    parts = []
    for target, words in (("difference", "a difference"), ("error", "one learner")):
        missed = missed_cells(table, target)
        if missed:
            cells = "; ".join(
                f"{problem} n = {n} (best: `{best}`, {coverage:.1%})"
                for problem, n, best, coverage in missed
            )
            parts.append(f"In these cells no test about {words} has a coverage of 93%: {cells}.\n")
        else:
            parts.append(
                f"For {words}, some test has a coverage of 93% in every problem at every size.\n"
            )
    return "\n".join(parts)


def _advice_words(table: pd.DataFrame, kind: str) -> str:
    half = followed_on_other_half(table, kind)
    if half.empty:
        return ""
    found = verdict(half)
    where = f" ({', '.join(found['below_in'])})" if found["below"] else ""
    return (
        f"The advice of `uv.advise` about {KINDS[kind]}, with {BUDGETS[0]} to {BUDGETS[-1]} fits, "
        "was followed on the half of the problems that its evidence does not come from. The "
        f"coverage is {found['mean']:.1%} on average over {found['cells']} cells (problem, size, "
        f"target and fits) and {found['worst']:.1%} in the worst ({found['worst_problem']}). "
        f"{found['size']} percent of true null hypotheses are rejected. "
        f"{found['below']} cells{where} are more than {BINOMIAL_ERRORS:g} binomial standard errors "
        f"below {LOWEST:.0%}. The advice "
        f"makes a promise in {found['promised']:.0%} of the cells, and their coverage is "
        f"{found['mean_promised']:.1%} on average.\n"
    )


def update_page(path: Path, section: str) -> None:
    """Put the section between its marks."""
    text = path.read_text()
    before, rest = text.split(START)
    _, after = rest.split(END)
    path.write_text(f"{before}{START}\n{section}{END}{after}")


# ------------------------------------------------------------------------------- picture


def draw_picture(table: pd.DataFrame, path: Path) -> None:
    """Coverage of every problem, test by test; next to it width and missing answers."""
    # For AUCs, the cells that were studied together.
    table = widely_studied(table[~about_auc(table) | table["sd"].notna()])
    targets = (("difference", "Difference of two learners"), ("error", "One learner"))
    parts = [(title, table[table["target"] == target]) for target, title in targets]
    counts = [_names(rows) for _, rows in parts]
    height = 0.34 * sum(map(len, counts)) + 2.2
    figure = Figure(figsize=(11, height), layout="constrained")
    grid = figure.subplots(
        2,
        3,
        width_ratios=[4, 1.6, 1.2],
        height_ratios=[len(names) for names in counts],
        squeeze=False,
    )
    for axes, (title, rows), names in zip(grid, parts, counts, strict=True):
        _coverage_panel(axes[0], rows, names)
        _width_panel(axes[1], rows, names)
        _missing_panel(axes[2], rows, names)
        axes[0].set_title(f"{title}: coverage of 95% intervals", loc="left", fontsize=10)
        axes[1].set_title("width / corrected t", loc="left", fontsize=10)
        axes[2].set_title("no answer", loc="left", fontsize=10)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=7, fontsize=9, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def _names(rows: pd.DataFrame) -> list[str]:
    kept = set(rows[rows["answered"] > 0]["procedure"])
    return [name for name, each in PROCEDURES.items() if name in kept and each.interval]


def _coverage_panel(axes, rows: pd.DataFrame, names: Iterable[str]) -> None:
    names = list(names)
    axes.axvline(0.95, color="black", linewidth=0.8, zorder=0)
    axes.axvspan(0, GOOD, color="#f4e3e3", zorder=-1, linewidth=0)
    for n_obs, colour in SIZE_COLOURS.items():
        for place, name in enumerate(names):
            cells = rows[(rows["procedure"] == name) & (rows["n_obs"] == n_obs)]
            cells = cells[cells["answered"] >= 5]
            if cells.empty:
                continue
            coverage = cells["covered"] / cells["answered"]
            y = place + (list(SIZE_COLOURS).index(n_obs) - 2) * 0.15
            axes.plot(coverage, np.full(len(cells), y), ".", color=colour, alpha=0.35, markersize=4)
            axes.plot(
                coverage.mean(),
                y,
                "o",
                color=colour,
                markersize=5,
                label=f"n = {n_obs}" if place == 0 else None,
            )
    _rows_axis(axes, names)
    axes.set_xlim(0.6, 1.005)


def _width_panel(axes, rows: pd.DataFrame, names: Iterable[str]) -> None:
    names = list(names)
    axes.axvline(1, color="black", linewidth=0.8, zorder=0)
    for n_obs, colour in SIZE_COLOURS.items():
        for place, name in enumerate(names):
            at = rows[rows["n_obs"] == n_obs]
            reference = "corrected_t_auc" if PROCEDURES[name].auc else "corrected_t"
            width = (
                _relative_width(at[at["procedure"] == name], at[at["procedure"] == reference])
                if len(at)
                else np.nan
            )
            y = place + (list(SIZE_COLOURS).index(n_obs) - 2) * 0.15
            axes.plot(width, y, "o", color=colour, markersize=4)
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2], ["0.5", "1", "2"])
    axes.minorticks_off()
    _rows_axis(axes, names, labels=False)


def _missing_panel(axes, rows: pd.DataFrame, names: Iterable[str]) -> None:
    names = list(names)
    for place, name in enumerate(names):
        cells = rows[rows["procedure"] == name]
        axes.barh(place, 1 - cells["answered"].sum() / cells["samples"].sum(), color="#777777")
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "50%", "100%"])
    _rows_axis(axes, names, labels=False)


def _rows_axis(axes, names: list[str], *, labels: bool = True) -> None:
    axes.set_yticks(range(len(names)), names if labels else [""] * len(names), fontsize=9)
    axes.set_ylim(len(names) - 0.5, -0.5)
    for first, _ in pairwise(range(len(names))):
        axes.axhline(first + 0.5, color="#dddddd", linewidth=0.6, zorder=-2)
    axes.tick_params(axis="x", labelsize=8)
