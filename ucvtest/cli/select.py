"""``ucvtest select``: which of several learners to use."""

import json as json_module
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Literal

from ucvtest.cli.files import Sample
from ucvtest.cli.names import listed_learners
from ucvtest.cli.report import Printed
from ucvtest.data.groups import GroupWeight

CriterionName = Literal["permutation", "loo", "kfold", "rademacher", "fpe", "vc"]


@dataclass(frozen=True, kw_only=True)
class Select(Sample, Printed):
    r"""Choose one of several learners by an estimate of its error on new observations.

    Parameters
    ----------
    learner
        A learner; repeatable.
    criterion
        What the choice goes by.
    scoring
        scikit-learn's name of a score instead of --loss, such as accuracy, f1 or r2: all numbers
        are then scores; greater is better.
    permutations
        Labelings to draw.
    folds
        Folds of cross-validation.
    max_seconds
        Approximate limit on the seconds of the fits: if there is no time for all, there are fewer
        labelings, and fewer observations are left out.
    group_weight
        Groups count the same each, or as many as their rows.
    plot : FILE.png
        Draw the result (or .pdf, .svg).

    Examples
    --------
    ucvtest select heart.csv --target died --learner lda \
        --learner knn:5 --learner majority
    """

    learner: list[str]
    criterion: CriterionName = "permutation"
    scoring: str | None = None
    permutations: int = 100
    folds: int = 10
    max_seconds: float | None = None
    group_weight: GroupWeight = "group"
    plot: Path | None = None

    def run(self) -> None:
        """Choose, and print the choice."""
        data = self.read()

        import ucvtest as uv

        names = signature(uv.select_model).parameters
        learners = listed_learners(self.learner)
        selection = uv.select_model(**self.arguments(names, data, learners=learners))
        chosen_name = selection.names[selection.choices[self.criterion]]
        if self.plot is not None:
            selection.save_plot(self.plot)
        table = selection.table.to_json(orient="records", double_precision=15)
        values = {
            "best": chosen_name,
            "criterion": self.criterion,
            "table": json_module.loads(table),
            "ucvtest": uv.__version__,
        }
        verdict = f"Chosen by {self.criterion}: {chosen_name}"
        self.tell(lambda: values, [verdict], lambda: str(selection))
