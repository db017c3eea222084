"""``ucvtest plan``: how many observations a question takes."""

from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from ucvtest.cli.files import Sample
from ucvtest.cli.report import Printed


@dataclass(frozen=True, kw_only=True)
class Plan(Sample, Printed):
    r"""Tell from a pilot sample how many observations a comparison takes.

    One of --difference, --ratio and --width must be given. Predicted are the standard error that
    the test ustatistic would report, the width of its interval and its power.

    Parameters
    ----------
    data : FILE
        The pilot: a CSV file, or as for compare.
    learner
        First learner, for example lasso:0.08.
    other
        Second learner. Without it the precision of the first is planned.
    difference
        The true difference of expected losses (or metrics) to be found.
    ratio
        The true ratio of expected losses to be found.
    width
        The width that the interval should have.
    n
        Observations to tell of; repeatable.
    power
        Power of the two-sided test.
    alpha
        Level of the test, and of the interval.
    learn_size : N|N,N
        Observations to learn from; with --loss auc also negatives and positives. [default: half
        of the pilot, less one]
    metric : NAME
        A metric that is not a mean of losses: f1, f1_macro, 'fbeta(2)', mcc, balanced_accuracy, r2
        and others, as in Python.
    plot : FILE.png
        Draw power or width (or .pdf, .svg).
    notes
        Print all notes, settings and tables.

    Examples
    --------
    ucvtest plan pilot.csv --target died --learner lda --other knn:5 \
        --difference 0.1
    ucvtest plan pilot.csv --target died --learner lda --width 0.06
    """

    learner: str
    other: str | None = None
    difference: float | None = None
    ratio: float | None = None
    width: float | None = None
    n: list[int] | None = None
    power: float = 0.8
    alpha: float = 0.05
    learn_size: str | None = None
    metric: str | None = None
    plot: Path | None = None
    notes: bool = False

    def run(self) -> None:
        """Plan, and print it."""
        X, y, labels, pos_label = self.read()

        import ucvtest as uv
        from ucvtest.data.missing import complete_rows

        X, y, labels, _ = complete_rows(X, y, labels, self.missing)
        sizes = {"n": self.n or None, "learn_size": parse_sizes(self.learn_size)}
        names = signature(uv.plan).parameters
        sample_plan = uv.plan(**self.arguments(names, (X, y, labels, pos_label), **sizes))
        if self.plot is not None:
            sample_plan.save_plot(self.plot)
        summary = sample_plan.summary(with_verdict=False, notes=self.notes)
        self.tell(sample_plan.to_dict, [sample_plan.verdict], summary.as_text)


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
