"""Questions, and the doors at which each can be asked: Python, JSON, the shell, R, MLflow.

Every door has to give the numbers of `questions.csv`, or of `golden.csv`, which R's own tests read.
``python -m tests.core.doors.questions`` writes the first again. A door that a question does not
name cannot be asked it.
"""

import csv
import inspect
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import ucvtest as uv
from tests.support import golden
from tests.support.metric_table import TABLE

FILE = Path(__file__).with_name("questions.csv")

NUMBERS = ("estimate", "se", "statistic", "pvalue", "conf_low", "conf_high")

TESTS = {
    "hold_out": uv.HoldOutTest,
    "mcnemar": uv.McNemarTest,
    "delong": uv.DeLongTest,
}
IN_R = {"mcnemar": "mcnemar_learners_test", "delong": "delong_learners_test"}


def numbers_of(result: uv.TestResult) -> list[float]:
    """Those that are compared."""
    return [result.estimate, result.se, *result, *result.conf_int()]


@dataclass(frozen=True)
class OfRules:
    """Two fixed rules, judged on the table that all doors read."""

    asked: str
    """A metric or a loss, in the words of the shell."""
    columns: tuple[str, str, str]
    """The true response and two predictions."""
    is_metric: bool = True
    test: str = "hold_out"
    groups: bool = False
    weights: bool = False
    event: bool = False
    not_at: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        more = [name for name in ("groups", "weights") if getattr(self, name)]
        return " ".join([self.asked, *more, *([self.test] if self.test != "hold_out" else [])])

    @property
    def has_classes(self) -> bool:
        return self.columns[0] == "state"

    def losses(self) -> uv.Losses:
        """In Python: the losses that the test is about."""
        target, *rules = self.columns
        y = uv.survival(TABLE[target], TABLE["died"]) if self.event else TABLE[target]
        return uv.Losses.from_predictions(
            y,
            {rule: TABLE[rule] for rule in rules},
            **{"metric" if self.is_metric else "loss": self.asked},
            pos_label="ill" if self.has_classes else None,
            groups=TABLE["house"] if self.groups else None,
            sample_weight=TABLE["weight"] if self.weights else None,
        )

    def in_python(self) -> uv.TestResult:
        return TESTS[self.test].from_losses(self.losses()).fit()

    def in_shell(self, path: Path) -> list[str]:
        """The words of a command that prints the result as JSON."""
        target, *rules = self.columns
        return [
            *("predictions", str(path), "--target", target, "--scores", ",".join(rules)),
            *("--metric" if self.is_metric else "--loss", self.asked, "--test", self.test),
            *(["--pos-label", "ill"] if self.has_classes else []),
            *(["--groups", "house"] if self.groups else []),
            *(["--weight", "weight"] if self.weights else []),
            *(["--event", "died"] if self.event else []),
            *("--json", "-"),
        ]

    def in_r(self) -> str:
        """An expression of R, where the table is `table`."""
        target, new, old = self.columns
        y = f"survival::Surv(table${target}, table$died)" if self.event else f"table${target}"
        arguments = [
            *(y, f'table[c("{new}", "{old}")]'),
            f"{'metric' if self.is_metric else 'loss'} = {json.dumps(self.asked)}",
            *(['positive = "ill"'] if self.has_classes else []),
            *(["groups = table$house"] if self.groups else []),
            *(["weights = table$weight"] if self.weights else []),
        ]
        test = IN_R.get(self.test, f"{self.test}_test")
        return f"{test}(prediction_losses({', '.join(arguments)}))"

    def in_mlflow(self, run_id: str) -> uv.TestResult:
        """From the table that a run has."""
        target, *rules = self.columns
        losses = uv.Losses.from_mlflow(
            run_id,
            predictions=rules,
            y=target,
            **{"metric" if self.is_metric else "loss": self.asked},
            pos_label="ill" if self.has_classes else None,
            groups="house" if self.groups else None,
        )
        return TESTS[self.test].from_losses(losses).fit()

    @property
    def doors(self) -> set[str]:
        doors = {"compare", "json", "shell", "r", "mlflow"}
        # A table of MLflow's has no column of weights, and no events.
        if self.weights or self.event:
            doors -= {"mlflow"}
        return doors - set(self.not_at)


LABELS, AMOUNTS = ("state", "new", "old"), ("dose", "new_dose", "old_dose")
PROBABILITIES, DAYS = ("state", "p_new", "p_old"), ("days", "new_risk", "old_risk")

OF_RULES = [
    *(OfRules(name, LABELS) for name in ("f1", "fbeta(2)_macro", 'recall["ill"]', "precision")),
    *(OfRules(name, LABELS) for name in ("mcc", "balanced_accuracy", "f1_weighted", "jaccard")),
    *(OfRules(name, AMOUNTS) for name in ("r2", "rmse", "ccc", "pearson")),
    *(OfRules(name, LABELS, groups=True) for name in ("f1", "mcc", "fbeta(2)_macro")),
    *(OfRules(name, AMOUNTS, groups=True) for name in ("r2", "rmse")),
    *(OfRules("zero_one", LABELS, False, test) for test in ("mcnemar", "hold_out")),
    *(OfRules("zero_one", LABELS, False, test, groups=True) for test in ("mcnemar", "hold_out")),
    OfRules("zero_one", LABELS, False, weights=True),
    *(OfRules(name, AMOUNTS, False) for name in ("squared", "absolute")),
    OfRules("squared", AMOUNTS, False, groups=True),
    OfRules("squared", AMOUNTS, False, weights=True),
    *(OfRules(name, PROBABILITIES, False) for name in ("log", "brier")),
    OfRules("auc", PROBABILITIES, False, "delong"),
    OfRules("auc", PROBABILITIES, False, "delong", groups=True),
    *(OfRules(name, DAYS, event=True) for name in ("harrell", "uno", "auc(3)")),
    OfRules("harrell", DAYS, groups=True, event=True),
]
"""Questions about rules: metrics and losses, groups, weights, survival."""


@dataclass(frozen=True)
class OfLearners:
    """Learners on the sample of `golden.csv`; arguments in a notation that Python and R share."""

    test: str
    arguments: str
    seed: int
    rng: int

    def __str__(self) -> str:
        return f"{self.test}({self.arguments})"

    @property
    def given(self) -> dict[str, Any]:
        return eval(f"dict({self.arguments})")

    @property
    def cls(self) -> Any:
        return getattr(uv, golden.CLASSES[self.test])

    def in_python(self) -> uv.TestResult:
        return golden.result_of(self.test, self.arguments, self.rng)

    def in_compare(self) -> uv.TestResult:
        """The only pair of a comparison by one test."""
        given = self.given
        for_fit = set(inspect.signature(self.cls.fit).parameters) & set(given)
        spec = uv.TestSpec(
            self.cls,
            constructor={k: v for k, v in given.items() if k in ("learn_size", "metric")},
            fit={name: given[name] for name in for_fit},
        )
        X, y = golden.sample()
        found = uv.compare(
            *(X, y, [given["learner"], given["other"]], [spec]),
            # That of the test alone is not that of comparisons.
            loss=given.get("loss", "auc" if self.test == "influence_test" else None),
            rng=self.rng,
        )
        (result,) = found.results.values()
        return result

    def in_shell(self, path: Path) -> list[str]:
        words = ["compare", str(path), "--target", "species", "--test", self.cls.method_name]
        for name, value in self.given.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        return [*words, "--seed", str(self.rng), "--json", "-"]

    def in_r(self) -> str:
        return f"{{ set.seed({self.seed}); {self.test}(two[1:2], two$Species, {self.arguments}) }}"

    @property
    def doors(self) -> set[str]:
        doors = {"json", "r"}
        if "other" in self.given and "null_value" not in self.given:
            doors |= {"compare"}
        if self.test == "ustat_test":
            doors |= {"shell"}
        return doors


with golden.FILE.open() as file:
    GOLDEN = list(csv.DictReader(file))
OF_LEARNERS = [
    OfLearners(row["test"], row["arguments"], int(row["seed"]), int(row["rng"])) for row in GOLDEN
]


def expected() -> dict[str, list[float]]:
    """The numbers of each question."""
    with FILE.open() as file:
        rows = {row["question"]: row for row in csv.DictReader(file)}
    known = {str(each): row for each, row in zip(OF_LEARNERS, GOLDEN, strict=True)} | rows
    return {name: [float(row[number]) for number in NUMBERS] for name, row in known.items()}


def main() -> None:
    with FILE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["question", *NUMBERS])
        for question in OF_RULES:
            numbers = np.array(numbers_of(question.in_python()), dtype=float)
            writer.writerow([str(question), *map(repr, numbers.tolist())])


if __name__ == "__main__":
    main()
