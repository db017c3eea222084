"""The choice of a model as tables and words."""

from collections.abc import Mapping, Sequence

import numpy as np

from ucvtest.results.summary_tables import GridSummary
from ucvtest.results.text_tables import Grid, Tables, escape_markdown, hanging, number_column

__all__ = ["SelectionSummary"]

TITLE = "Model selection"


class SelectionSummary(GridSummary):
    """A statsmodels Summary of a `ModelSelection`: a row for each learner."""

    def __init__(
        self,
        verdict: str,
        names: Sequence[str],
        columns: Mapping[str, np.ndarray],
        choices: Mapping[str, int],
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__()
        criteria_by_learner: dict[int, list[str]] = {}
        for criterion, learner_index in choices.items():
            criteria_by_learner.setdefault(learner_index, []).append(criterion)
        cells = zip(*(number_column(column.tolist()) for column in columns.values()), strict=True)
        rows = [
            [name, *row, ", ".join(criteria_by_learner.get(learner_index, []))]
            for learner_index, (name, row) in enumerate(zip(names, cells, strict=True))
        ]
        self._verdict, self._grid = verdict, Grid(rows, ["", *columns, "chosen by"], TITLE)
        self._notes = tuple(notes)

        def lines_below(width: int) -> list[str]:
            return [line for sentence in (verdict, *notes) for line in hanging(sentence, width)]

        self.fill(Tables([self._grid], lines_below))

    def as_markdown(self) -> str:
        """Verdict and table as Markdown."""
        verdict = f"**{escape_markdown(self._verdict)}**"
        notes = map(escape_markdown, self._notes)
        return "\n\n".join([f"## {TITLE}", verdict, self._grid.markdown(), *notes]) + "\n"
