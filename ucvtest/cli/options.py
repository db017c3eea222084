"""What options may say, and which go together."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ucvtest.comparison.specs import TestSpec

LossName = Literal["zero_one", "squared", "absolute", "log", "brier", "auc"]
AlternativeName = Literal["two-sided", "less", "greater"]
CorrectionName = Literal[
    "holm",
    "bonferroni",
    "sidak",
    "holm-sidak",
    "simes-hochberg",
    "hommel",
    "fdr_bh",
    "fdr_by",
    "none",
]
VarianceName = Literal["auto", "midpoint", "clipped", "jackknife", "unbiased", "asymptotic"]
IntervalName = Literal["auto", "wald", "stabilised", "plus_four", "hall", "hall_floor", "logit"]

ContrastName = Literal["difference", "ratio"]
GroupWeightName = Literal["group", "row"]

OWN_OPTIONS = {
    "--learn-size": ("constructor", "learn_size", None),
    "--variance": ("fit", "variance", "auto"),
    "--interval": ("fit", "interval", "auto"),
    "--n-pairs": ("fit", "n_pairs", "auto"),
    "--tol": ("fit", "tol", 0.05),
    "--max-fits": ("fit", "max_fits", None),
}
"""Options of ustatistic alone: what takes them, their names there and their defaults."""

RECOMMENDED = "recommended"
PLOT_FORMATS = (".png", ".pdf", ".svg")


def check_options(alpha: float, plot: Path | None, json: Path | None) -> None:
    """Refuse before the first fit what would fail after the last one."""
    if not 0 < alpha < 1:
        raise ValueError(f"--alpha must lie between 0 and 1, got {alpha}: use 0.05 for 95%")
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        raise ValueError(f"--plot must end in {', '.join(PLOT_FORMATS)}, got {plot}")
    if plot is not None and find_spec("matplotlib") is None:
        raise ImportError("--plot needs matplotlib: pip install 'ucvtest[plot]'")
    for option, path in (("--plot", plot), ("--json", json)):
        if path is not None and not path.absolute().parent.is_dir():
            raise ValueError(f"{option} {path}: the folder {path.parent} does not exist")


def check_margin(
    margin: float | None,
    alpha: float,
    contrast: ContrastName = "difference",
    *,
    alone: bool = False,
) -> None:
    """Refuse a margin that means nothing; `alone`: one learner and nothing to compare it with."""
    if margin is None:
        return
    least = 1 if contrast == "ratio" else 0
    if not least < margin < float("inf"):
        units = " with --contrast ratio" if least else ""
        raise ValueError(f"--margin must be above {least}{units}, got {margin}")
    if not alpha < 0.5:
        raise ValueError(f"--alpha must be below 0.5 with --margin, got {alpha}: use 0.05")
    if alone:
        raise ValueError("--margin compares with something: add --other, or --null-value")


def named_tests(test: str, tests: str | None, own: dict[str, Any]) -> "dict[str, TestSpec]":
    """The tests by name, none for the recommended one; `own` holds the values of `OWN_OPTIONS`."""
    from ucvtest.comparison.specs import TestSpec, as_specs

    if test and tests is not None:
        raise ValueError("--test and --tests exclude each other: list all in --tests")
    given = [option for option, value in own.items() if value != OWN_OPTIONS[option][2]]
    # Options of one test name it.
    listed = test or ("ustatistic" if given and tests is None else tests or RECOMMENDED)
    if listed == RECOMMENDED:
        chosen: dict[str, TestSpec] = {}
    else:
        chosen = as_specs([name.strip() for name in listed.split(",")])
    if given and "ustatistic" not in chosen:
        raise ValueError(f"{given[0]} belongs to the test ustatistic, which is not run")
    parts: dict[str, dict[str, Any]] = {"constructor": {}, "fit": {}}
    for option in given:
        part, name, _ = OWN_OPTIONS[option]
        parts[part][name] = own[option]
    return {
        label: TestSpec("ustatistic", **parts) if label == "ustatistic" else spec
        for label, spec in chosen.items()
    }


def of_ratios(named: "dict[str, TestSpec]", learners: int) -> "dict[str, TestSpec]":
    """The tests that can be about ratios: by default the only one."""
    from ucvtest.comparison.specs import as_specs

    if learners == 1:
        raise ValueError("--contrast ratio compares learners: name another in --other")
    for label, spec in named.items():
        if "ratio" not in spec.cls.contrasts:
            raise ValueError(f"--contrast ratio is for the test ustatistic, not for {label}")
    return named or as_specs("ustatistic")


def parse_pairs(pairs: str) -> Any:
    """What `fit` takes as n_pairs."""
    if pairs in ("auto", "exact"):
        return pairs
    try:
        return int(pairs)
    except ValueError:
        raise ValueError(
            f"--n-pairs must be auto, exact or a whole number, got {pairs!r}"
        ) from None


def parse_sizes(sizes: str | None) -> Any:
    """What a test takes as learn_size: a number, or one for each class."""
    if sizes is None:
        return None
    try:
        numbers = tuple(map(int, sizes.split(",")))
    except ValueError:
        raise ValueError(
            "--learn-size must be a whole number or, with --loss auc, one for each class as in "
            f"5,6; got {sizes!r}"
        ) from None
    return numbers if len(numbers) > 1 else numbers[0]


def check_together(
    as_table: bool, learners: Sequence[str], null_value: float | None, correction: CorrectionName
) -> None:
    """Refuse options that mean nothing for a table, or for a single test."""
    if as_table and null_value is not None:
        raise ValueError("--null-value is for one test of one or two learners")
    if as_table and len(learners) == 1:
        raise ValueError(
            "--tests compares learners: name another in --other, or use --test with one "
            "test for the error of the first"
        )
    if not as_table and correction != "holm":
        raise ValueError("--correction has no use: there is one p-value")
