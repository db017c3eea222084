"""The choice of a model as tables and words."""

from collections.abc import Mapping, Sequence

import numpy as np

from ucvtest.results.text_tables import Grid, Tables, escape_markdown, hanging, number_column

TITLE = "Model selection"


def tables(
    verdict: str,
    names: Sequence[str],
    columns: Mapping[str, np.ndarray],
    choices: Mapping[str, int],
    notes: Sequence[str] = (),
) -> Tables:
    """A row for each learner, with the criteria that choose it."""
    criteria_by_learner: dict[int, list[str]] = {}
    for criterion, learner_index in choices.items():
        criteria_by_learner.setdefault(learner_index, []).append(criterion)
    cells = zip(*(number_column(column.tolist()) for column in columns.values()), strict=True)
    rows = [
        [name, *row, ", ".join(criteria_by_learner.get(learner_index, []))]
        for learner_index, (name, row) in enumerate(zip(names, cells, strict=True))
    ]
    grid = Grid(rows, ["", *columns, "chosen by"], TITLE)

    def lines_below(width: int) -> list[str]:
        return [line for sentence in (verdict, *notes) for line in hanging(sentence, width)]

    def markdown() -> str:
        sections = [f"## {TITLE}", f"**{escape_markdown(verdict)}**", grid.markdown()]
        return "\n\n".join([*sections, *map(escape_markdown, notes)]) + "\n"

    return Tables([grid], lines_below, markdown)
