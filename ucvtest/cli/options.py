"""What options may say, and which go together."""

import dataclasses
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from ucvtest.comparison.specs import TestSpec

LossName = Literal["zero_one", "squared", "absolute", "log", "brier", "auc"]
RuleLossName = Literal[LossName, "score", "correct"]
"""Of rules whose answers may have been marked already."""
AlternativeName = Literal["two-sided", "less", "greater"]
AlternativeOption = Annotated[
    AlternativeName,
    typer.Option(
        help="What to show of the first minus the second: less that a loss or an error of the "
        "first is smaller; greater that the first is better where higher is better, as for auc, "
        "accuracy, marked answers and most metrics."
    ),
]
CorrectionName = Literal[
    "holm",
    "bonferroni",
    "sidak",
    "holm-sidak",
    "simes-hochberg",
    "hommel",
    "fdr_bh",
    "fdr_by",
    "simultaneous",
    "none",
]
VarianceName = Literal["auto", "midpoint", "clipped", "jackknife", "unbiased", "asymptotic", "few"]
IntervalName = Literal["auto", "wald", "stabilised", "plus_four", "hall", "hall_floor", "logit"]

ContrastName = Literal["difference", "ratio"]
GroupWeightName = Literal["group", "row"]


def complete_learner(incomplete: str) -> list[str]:
    """Names of learners that begin so, for the Tab key."""
    from ucvtest.learners.adapters.coerce import PATHS, SHORT_NAMES
    from ucvtest.learners.adapters.named import DEFAULTS

    return [
        name for name in sorted({*SHORT_NAMES, *PATHS, *DEFAULTS}) if name.startswith(incomplete)
    ]


def listed_learners(option_values: Iterable[str]) -> list[str]:
    """Learners that options name, once each or several with commas between them."""
    from ucvtest.learners.adapters.coerce import PATHS, SHORT_NAMES
    from ucvtest.learners.adapters.named import DEFAULTS

    names = "|".join(sorted({*SHORT_NAMES, *PATHS, *DEFAULTS}, key=len, reverse=True))
    # Arguments of a learner have commas too.
    between = re.compile(rf",\s*(?=(?:{names})(?:[:,]|$))")
    return [name for option_value in option_values for name in between.split(option_value)]


def listed_metrics(option_values: Iterable[str]) -> list[str]:
    """Metrics in the same way; commas within brackets belong to them."""
    return [
        name.strip()
        for option_value in option_values
        for name in re.split(r",(?![^\[(]*[\])])", option_value)
    ]


def complete_test(incomplete: str) -> list[str]:
    """Names of tests that begin so."""
    from ucvtest.methods.registry import TESTS

    return [name for name in TESTS if name.startswith(incomplete)]


DataArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Text separated by commas, semicolons, tabs or bars, also compressed (gz, bz2, xz), "
        "JSON lines, Excel, parquet or feather; - reads the standard input.",
    ),
]
TargetOption = Annotated[str, typer.Option(help="Column to predict; all others are features.")]
TruthOption = Annotated[
    str | None,
    typer.Option(help="Column with the true response; not for --loss correct and --loss score."),
]
EventOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with 1 for an event and 0 for a censored time, for metrics of survival: the "
        "target is then the time, and predictions are risks.",
    ),
]
SepOption = Annotated[
    str | None,
    typer.Option(help="What separates columns: one character, or tab. [default: found]"),
]
SheetOption = Annotated[
    str | None,
    typer.Option(
        help="Sheet of an Excel file; in JSON the key of the array of records, as in "
        "results.results. [default: the first sheet, the only array]"
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the model of each row, if the table has a row for each model and item: "
        "--scores then names models, and --item and --value the other columns.",
    ),
]
ItemOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL,COL,...",
        help="Column with the question, or other item, of each row (with --model); several if only "
        "they tell rows of a model apart, such as question,epoch.",
    ),
]
ValueOption = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column with the prediction, score or mark (with --model)."),
]
LossOption = Annotated[
    LossName | None,
    typer.Option(help="[default: zero_one for classes, squared for real numbers]"),
]
LabelOption = Annotated[
    str | None,
    typer.Option(
        help="The positive class. [default: the last in sorted order; metrics of one class, such "
        "as f1, need it unless labels are 0 and 1, false and true, or -1 and 1]"
    ),
]
PositiveOption = Annotated[
    str | None,
    typer.Option(
        help="The positive class, which columns of scores and probabilities are about. Labels "
        "other than 0 and 1, false and true, or -1 and 1 need it. With --loss correct, the mark of "
        "a right answer, such as C; all others are wrong."
    ),
]
AlphaOption = Annotated[float, typer.Option(help="One minus the confidence level of the interval.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the random learning sets.")]
DropOption = Annotated[
    list[str] | None, typer.Option(metavar="COL,COL,...", help="Columns to leave out; repeatable.")
]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="FILE.png", help="Draw the result (or .pdf, .svg).")
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.json", help="Write the whole result as JSON; - prints it and nothing else."
    ),
]
GroupsOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that names the group of each row, such as the patient; it is not a feature.",
    ),
]
FoldOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help=(
            "Column with the fold of each row, which was predicted by the rule learnt from all "
            "other folds. The tests are then tests of K-fold cross-validation."
        ),
    ),
]
RepeatOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column with the repetition of the cross-validation (with --fold): rows of each are "
        "the same observations in the same order.",
    ),
]
GroupWeightOption = Annotated[
    GroupWeightName, typer.Option(help="Groups count the same each, or as many as their rows.")
]
RuleGroupWeightOption = Annotated[
    GroupWeightName | None,
    typer.Option(
        help="What counts alike. [default: row for correct and for metrics such as f1 and "
        "accuracy, otherwise group]"
    ),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.html", help="Write everything as one page, with the picture inside."
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the verdict.")]
NotesOption = Annotated[bool, typer.Option("--notes", help="Print all notes, settings and tables.")]
MethodsTextOption = Annotated[
    bool,
    typer.Option(
        "--methods-text",
        help="Also print a paragraph for the methods section of a paper, and its references.",
    ),
]
OneHotOption = Annotated[
    bool,
    typer.Option(
        "--one-hot",
        help="Encode columns of texts as zeros and ones: row by row and without the target, so "
        "that no split learns from its test set.",
    ),
]
ScoringOption = Annotated[
    str | None,
    typer.Option(
        help="scikit-learn's name of a score instead of --loss, such as accuracy, f1 or r2: all "
        "numbers are then scores; greater is better."
    ),
]
MetricOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A metric that is not a mean of losses: f1, f1_macro, 'fbeta(2)', mcc, "
        "balanced_accuracy, r2 and others, as in Python; with --event harrell, uno, 'auc(365)' or "
        "'brier(365)'.",
    ),
]
MetricsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A metric that is not a mean of losses: f1, f1_macro, 'fbeta(2)', mcc, "
        "balanced_accuracy, r2 and others, as in Python; repeatable, for a table of several that "
        "share the fits.",
    ),
]
MissingOption = Annotated[
    Literal["raise", "drop"],
    typer.Option(
        help="Rows with missing values, which are empty fields and words such as NA, None and "
        "null: refuse them, or leave them out with a note."
    ),
]

RuleMissingOption = Annotated[
    Literal["raise", "drop", "wrong"],
    typer.Option(
        help="Rows with missing values, which are empty fields and words such as NA, None and "
        "null: refuse them, leave them out with a note, or count missing answers as wrong (with "
        "--loss correct and zero_one), as where a model ended in an error."
    ),
]

OWN_OPTIONS = {
    "--learn-size": ("constructor", "learn_size", None),
    "--variance": ("fit", "variance", "auto"),
    "--interval": ("fit", "interval", "auto"),
    "--n-pairs": ("fit", "n_pairs", "auto"),
    "--tol": ("fit", "tol", 0.05),
    "--max-fits": ("fit", "max_fits", None),
}
"""Options of ustatistic alone: what takes them, their names there and their defaults."""

DESIGN_OPTIONS = {
    "--folds": "n_folds",
    "--repeats": "n_repeats",
    "--splits": "n_splits",
    "--test-fraction": "test_fraction",
    "--stratify": "stratify",
}
"""Options about designs, and what these call them."""

STDOUT = Path("-")
"""What --json takes to print JSON alone."""

RECOMMENDED = "recommended"
PLOT_FORMATS = (".png", ".pdf", ".svg")


def check_options(
    alpha: float, plot: Path | None, json: Path | None, report: Path | None = None
) -> None:
    """Refuse before the first fit what would fail after the last one."""
    if not 0 < alpha < 1:
        raise ValueError(f"--alpha must lie between 0 and 1, got {alpha}: use 0.05 for 95%")
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        raise ValueError(f"--plot must end in {', '.join(PLOT_FORMATS)}, got {plot}")
    if plot is not None and find_spec("matplotlib") is None:
        raise ImportError("--plot needs matplotlib: pip install 'ucvtest[plot]'")
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--report must end in .html, got {report}")
    for option, path in (("--plot", plot), ("--json", json), ("--report", report)):
        if path is not None and path != STDOUT and not path.absolute().parent.is_dir():
            raise ValueError(f"{option} {path}: the folder {path.parent} does not exist")


def check_truth(target: str | None, loss: RuleLossName | None, metric: str | None = None) -> None:
    """Refuse predictions without a response, and marked answers with one."""
    marked = loss in ("correct", "score")
    if marked and metric is not None:
        raise ValueError(
            f"--loss {loss} and --metric {metric} exclude each other: pass one of them"
        )
    if target is None and not marked:
        raise ValueError(
            "--target is missing: name the column with the true response; answers that are marked "
            "right or wrong take --loss correct"
        )
    if target is not None and marked:
        raise ValueError(
            f"--target does not apply with --loss {loss}, whose columns show how good answers are: "
            "leave it out"
        )


def check_long(model: str | None, item: str | None, value: str | None) -> None:
    """Refuse a long table whose columns are not all named."""
    named = {"--model": model, "--item": item, "--value": value}
    lacking = [option for option, column in named.items() if column is None]
    if lacking and len(lacking) < len(named):
        raise ValueError(
            f"{lacking[0]} is missing: a table with a row for each model and item needs --model, "
            "--item and --value, which name columns; --scores then names models"
        )


def check_event(event: str | None, target: str | None, metric: str | None) -> None:
    """Refuse a column of events that nothing is said about, and a survival metric without one."""
    from ucvtest.metrics.named import named_smooth_metric

    smooth_metric = None if metric is None else named_smooth_metric(metric)
    about_times = smooth_metric is not None and smooth_metric.of_survival
    if event is None and about_times:
        raise ValueError(
            f"--event is missing: --metric {metric} is about survival times, so name the column "
            "with 1 for an event and 0 for a censored time"
        )
    if event is not None and not about_times:
        raise ValueError(
            "--event is for metrics of survival times: pass --metric harrell, uno, 'auc(365)' or "
            "'brier(365)'"
        )
    if event is not None and event == target:
        raise ValueError(f"--event {event}: that is the target, which is the time")


def check_margin(
    margin: float | None,
    alpha: float,
    contrast: ContrastName = "difference",
    *,
    is_single: bool = False,
) -> None:
    """Refuse a margin that means nothing; `is_single`: one learner, compared with nothing."""
    if margin is None:
        return
    least_margin = 1 if contrast == "ratio" else 0
    if not least_margin < margin < float("inf"):
        units = " with --contrast ratio" if least_margin else ""
        raise ValueError(f"--margin must be above {least_margin}{units}, got {margin}")
    if not alpha < 0.5:
        raise ValueError(f"--alpha must be below 0.5 with --margin, got {alpha}: use 0.05")
    if is_single:
        raise ValueError("--margin compares with something: add --other, or --null-value")


def check_margin_of(tests: Iterable[str]) -> None:
    """Refuse a margin, before anything is fitted, where no test can say whether it is kept."""
    from ucvtest.methods.registry import TESTS

    test_names = list(tests)
    without = [TESTS[name].needs.without for name in test_names if name in TESTS]
    if without and all("interval" in reasons for reasons in without):
        raise ValueError(
            f"--margin needs an interval, and the test {test_names[0]} {without[0]['interval']}: "
            "use another --test, such as ustatistic"
        )


def method_name(names: str) -> str:
    """Names of tests as they are typed, where some are those of classes, as messages have them."""
    if not any(letter.isupper() for letter in names):
        return names
    from ucvtest.methods.registry import TESTS

    short = {cls.__name__: name for name, cls in TESTS.items()}
    return ",".join(short.get(name.strip(), name) for name in names.split(","))


def is_of_one_learner(test: str) -> bool:
    """Whether a test, by its name, compares nothing."""
    if not test or test == RECOMMENDED:
        return False
    from ucvtest.methods.registry import TESTS

    return test in TESTS and not TESTS[test].needs.compares


def named_tests(
    test: str, tests: str | None, option_values: dict[str, Any]
) -> "dict[str, TestSpec]":
    """The tests by name, none if recommended; `option_values` are those of `OWN_OPTIONS`."""
    from ucvtest.comparison.specs import TestSpec, as_specs

    if test and tests is not None:
        raise ValueError("--test and --tests exclude each other: list all in --tests")
    used_options = [
        option for option, value in option_values.items() if value != OWN_OPTIONS[option][2]
    ]
    test, tests = method_name(test), None if tests is None else method_name(tests)
    # Options of one test name it.
    listed = test or ("ustatistic" if used_options and tests is None else tests or RECOMMENDED)
    if listed == RECOMMENDED:
        specs_by_label: dict[str, TestSpec] = {}
    else:
        specs_by_label = as_specs([name.strip() for name in listed.split(",")])
    if used_options and "ustatistic" not in specs_by_label:
        raise ValueError(f"{used_options[0]} belongs to the test ustatistic, which is not run")
    arguments_by_place: dict[str, dict[str, Any]] = {"constructor": {}, "fit": {}}
    for option in used_options:
        constructor_or_fit, name, _ = OWN_OPTIONS[option]
        arguments_by_place[constructor_or_fit][name] = option_values[option]
    return {
        label: TestSpec("ustatistic", **arguments_by_place) if label == "ustatistic" else spec
        for label, spec in specs_by_label.items()
    }


def with_designs(
    specs_by_label: "dict[str, TestSpec]", design_sizes: Mapping[str, Any]
) -> "dict[str, TestSpec]":
    """The tests with designs that have the sizes that options name."""
    design_sizes = {option: value for option, value in design_sizes.items() if value is not None}
    if not design_sizes:
        return specs_by_label
    if not specs_by_label:
        raise ValueError(f"{next(iter(design_sizes))} needs the name of a test: add --test")
    from ucvtest.comparison.specs import TestSpec

    sizes = {DESIGN_OPTIONS[option]: value for option, value in design_sizes.items()}
    sized: dict[str, TestSpec] = {}
    for label, spec in specs_by_label.items():
        cls: Any = spec.cls
        design = getattr(cls, "default_design", None)
        if design is None:
            known_names = {
                *inspect.signature(cls.__init__).parameters,
                *inspect.signature(cls.fit).parameters,
            }
        else:
            known_names = {design_field.name for design_field in dataclasses.fields(design)}
        has = [option for option, name in DESIGN_OPTIONS.items() if name in known_names]
        for option in design_sizes:
            if option not in has:
                raise ValueError(
                    f"{option} does not apply to the test {label}: it has "
                    f"{', '.join(has) or 'no such option'}"
                )
        if design is None:
            own = TestSpec.of(spec.test, sizes)
            constructor = {**spec.constructor, **own.constructor}
            sized[label] = TestSpec(spec.test, constructor, {**spec.fit, **own.fit})
        else:
            constructor = {**spec.constructor, "design": dataclasses.replace(design, **sizes)}
            sized[label] = dataclasses.replace(spec, constructor=constructor)
    return sized


def of_ratios(specs_by_label: "dict[str, TestSpec]", learners: int) -> "dict[str, TestSpec]":
    """The tests that can be about ratios: by default the only one."""
    from ucvtest.comparison.specs import as_specs

    if learners == 1:
        raise ValueError("--contrast ratio compares learners: name another in --other")
    for label, spec in specs_by_label.items():
        if "ratio" not in spec.cls.needs.contrasts:
            raise ValueError(f"--contrast ratio is for the test ustatistic, not for {label}")
    return specs_by_label or as_specs("ustatistic")


def parse_pairs(pairs: str) -> Any:
    """What `fit` takes as n_pairs."""
    if pairs in ("auto", "exact"):
        return pairs
    try:
        return int(pairs)
    except ValueError:
        raise ValueError(
            f"--n-pairs must be auto, exact or a whole number, got {pairs!r:.60}"
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
            f"5,6; got {sizes!r:.60}"
        ) from None
    return numbers if len(numbers) > 1 else numbers[0]


def check_together(
    as_table: bool,
    learners: Sequence[str],
    null_value: float | None,
    correction: CorrectionName,
    baseline: str | None = None,
) -> None:
    """Refuse options that mean nothing for a table, or for a single test."""
    if as_table and null_value is not None:
        raise ValueError("--null-value is for one test of one or two learners")
    if as_table and len(learners) == 1:
        raise ValueError(
            "--tests compares learners: name another in --other, or use --test with one "
            "test for the error of the first"
        )
    if not as_table and baseline is not None:
        raise ValueError(
            "--baseline does not apply: the second learner is what the first is compared with"
        )
    if not as_table and correction != "holm":
        raise ValueError("--correction does not apply: there is one p-value")
