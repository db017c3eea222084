"""Predictions in evaluation tables of MLflow's runs, and answers assessed by judges."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ucvtest.common.checks import check_names, check_switch, named_options
from ucvtest.common.plugins import mlflow_function
from ucvtest.losses.from_predictions import SCORE

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses

TABLE = "eval_results_table.json"
QUESTIONS = ("request", "inputs", "question")
"""Columns of questions in tables of assessments."""
MARKS = {"yes": 1.0, "no": 0.0}
"""Words of MLflow's judges, and their values."""


@named_options
def from_mlflow(
    cls: "type[Losses]",
    run_id: str | Mapping[str, str],
    *,
    predictions: str | Sequence[str] | None = None,
    assessment: str | None = None,
    average: bool = False,
    table: str | None = None,
    y: str = "target",
    loss: Any = None,
    metric: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    fold: Any = None,
) -> "Losses":
    """Make losses from predictions, or from assessments of answers, in MLflow's runs.

    Either `predictions` are compared with `y`, in tables of runs; or an `assessment` of
    `mlflow.genai.evaluate` tells whether each answer was right, or how good it was. Answers are
    then paired by question, in any order.

    Parameters
    ----------
    run_id : str or mapping
        A run whose table has a column for each rule; or the name of each rule and the run that
        evaluated it. All predictions must be for the same rows in the same order. With an
        `assessment`, versions of models ("m-...") stand for all their evaluations.
    predictions : str or sequence of str, optional
        The columns with predictions; for several runs, the column that all have.
    assessment : str, optional
        Name of a scorer. True, "yes" and 1 are right, False, "no" and 0 are wrong. Any other
        number is a score; higher is better. Several answers to a question form a group; their
        number must be the same for each rule.
    average : bool
        Whether each question counts with the mean of its answers, instead of as a group.
        `uv.plan` then predicts how many questions are needed.
    table : str, optional
        File of the table, written by `mlflow.log_table` or `mlflow.models.evaluate`; by default
        "eval_results_table.json". Assessments are read from a table only if it is named; the
        table is the `result_df` of an evaluation.
    y : str
        The column with the true response.
    loss, metric, groups, pos_label, fold : optional
        See `from_predictions`; groups and fold may name columns. With an `assessment` only
        `groups` is used: the name of an input, such as "passage", that several questions have
        in common.

    Raises
    ------
    ImportError
        If MLflow is not installed.
    ValueError
        If a column is missing, runs were evaluated on different rows or questions, or answers
        have no assessment; see also `from_predictions`.

    Examples
    --------
    A paired test of two evaluations, with the answers to a question as a cluster::

        runs = {"new prompt": new.run_id, "old prompt": old.run_id}
        losses = uv.Losses.from_mlflow(runs, assessment="correctness")
        print(uv.McNemarTest.from_losses(losses).fit())
    """
    if (predictions is None) == (assessment is None):
        raise ValueError(
            "exactly one of predictions and assessment is needed: name the columns with "
            "predictions, or a scorer of mlflow.genai.evaluate"
        )
    check_switch("average", average)
    if isinstance(run_id, Mapping):
        check_names("run_id", run_id)
    runs = list(run_id.values()) if isinstance(run_id, Mapping) else [run_id]
    names = [("y", y) if assessment is None else ("assessment", assessment)]
    names += [("run_id", run) for run in runs] + ([] if table is None else [("table", table)])
    for argument, name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"{argument} must be a name, got {name!r:.60}: see the run in MLflow")
    if assessment is not None:
        for name, value in {"metric": metric, "pos_label": pos_label, "fold": fold}.items():
            if value is not None:
                raise ValueError(
                    f"{name} does not apply to an assessment, which already tells how good answers "
                    "are: remove it"
                )
        marks, groups = _assessed(run_id, assessment, table, groups, average=average)
        if all(mark in (0, 1) for rule_marks in marks.values() for mark in rule_marks):
            return cls.from_correct(marks, groups=groups)
        return cls.from_predictions(None, marks, loss=SCORE, groups=groups)
    table = TABLE if table is None else table
    response, rules, groups, fold = _of_runs(run_id, table, y, predictions, groups, fold)
    # For scores, y only tells whether runs were evaluated on the same rows.
    target = None if isinstance(loss, str) and loss == SCORE else response
    return cls.from_predictions(
        *(target, rules), loss=loss, metric=metric, groups=groups, pos_label=pos_label, fold=fold
    )


def _of_runs(
    run_id: Any, table: str, y: str, predictions: Any, groups: Any, fold: Any
) -> tuple[Any, Any, Any, Any]:
    """Response, predictions by name, groups and folds, for `Losses.from_predictions`."""
    if isinstance(run_id, Mapping):
        if not isinstance(predictions, str):
            raise ValueError(
                f"predictions must be the one column that every run has, got {predictions!r:.60}"
            )
        run_and_column = {name: (run_of_rule, predictions) for name, run_of_rule in run_id.items()}
    else:
        columns = [predictions] if isinstance(predictions, str) else predictions
        if not isinstance(columns, Sequence) or not all(isinstance(c, str) for c in columns):
            raise ValueError(f"predictions must name columns of the table, got {columns!r:.60}")
        run_and_column = {column: (run_id, column) for column in columns}
    if not run_and_column:
        raise ValueError("no run and no column is named: pass at least one")
    load = mlflow_function("load_table")
    tables = {
        run: load(run, table) for run in dict.fromkeys(run for run, _ in run_and_column.values())
    }
    for run, column in [(run, y) for run in tables] + list(run_and_column.values()):
        if column not in tables[run].columns:
            raise ValueError(
                f"{column!r:.60} is not a column of {table} of run {run}, which has "
                f"{', '.join(map(str, tables[run].columns))}"
            )
    first = next(iter(tables.values()))
    for run, run_table in tables.items():
        if run_table[y].tolist() != first[y].tolist():
            raise ValueError(
                f"run {run} was evaluated on other rows than the first run, because {y!r:.60} "
                "differs: log all predictions for the same rows in the same order"
            )
    rules = {name: tables[run][column] for name, (run, column) in run_and_column.items()}
    named_columns = {"groups": groups, "fold": fold}
    for argument, column in named_columns.items():
        if not isinstance(column, str):
            continue
        if column not in first.columns:
            raise ValueError(
                f"{argument}={column!r:.60} is not a column of the table, which has "
                f"{', '.join(map(str, first.columns))}"
            )
        named_columns[argument] = first[column]
    return first[y], rules, *named_columns.values()


def _assessed(
    run_id: Any, assessment: Any, table: str | None, groups: Any, *, average: bool
) -> tuple[dict[str, list[float]], list[Any] | None]:
    """Marks by rule, paired by question, and their groups if there are any."""
    runs = run_id if isinstance(run_id, Mapping) else {str(assessment): run_id}
    if not runs:
        raise ValueError("no run is named: pass at least one")
    answers = {name: _answers(run, assessment, table) for name, run in runs.items()}
    first, *other_names = answers
    for other in other_names:
        for name, compared in ((first, answers[other]), (other, answers[first])):
            unpaired = [
                question
                for question, marks in answers[name].items()
                if len(marks) > len(compared.get(question, ()))
            ]
            if unpaired:
                raise ValueError(
                    f"{len(unpaired)} questions have more answers of {name!r:.60} than of the "
                    f"other, such as {unpaired[0]!r:.60}: evaluate both on the same questions, "
                    "equally often"
                )
    if average:
        answers = {
            name: {question: [sum(marks) / len(marks)] for question, marks in by_question.items()}
            for name, by_question in answers.items()
        }
    questions = [question for question, marks in answers[first].items() for _ in marks]
    marks = {
        name: [mark for question in answers[first] for mark in by_question[question]]
        for name, by_question in answers.items()
    }
    if groups is None:
        return marks, questions if len(questions) > len(answers[first]) else None
    groups_of_questions = []
    for question in questions:
        inputs = json.loads(question) if question.startswith("{") else {}
        if not isinstance(groups, str) or groups not in inputs:
            raise ValueError(
                f"groups={groups!r:.60} is not an input of the question {question!r:.60}: name "
                "one that all questions have"
            )
        groups_of_questions.append(str(inputs[groups]))
    return marks, groups_of_questions


def _answers(run: str, assessment: str, table: str | None) -> dict[str, list[float]]:
    """The marks of the answers to each question."""
    if table is None:
        assessments = mlflow_function("load_assessments")(run, assessment)
        question_column, value_column = "request", "value"
    else:
        assessments = mlflow_function("load_table")(run, table)
        question_column = _first_column(assessments, QUESTIONS, run, table)
        value_column = _first_column(assessments, (f"{assessment}/value", assessment), run, table)
    if not len(assessments):
        raise ValueError(
            f"{run} has no answers with the assessment {assessment!r:.60}: name a scorer that was "
            "passed to mlflow.genai.evaluate"
        )
    answers: dict[str, list[float]] = {}
    rows = zip(assessments[question_column], assessments[value_column], strict=True)
    for question, user_mark in rows:
        if isinstance(user_mark, str) and user_mark.lower() in MARKS:
            mark = MARKS[user_mark.lower()]
        elif isinstance(user_mark, (bool, int, float)) and not math.isnan(user_mark):
            mark = float(user_mark)
        else:
            raise ValueError(
                f"the assessment {assessment!r:.60} of {run} is {user_mark!r:.40} for the question "
                f"{str(question)!r:.60}, but must be True or False, 'yes' or 'no', or a number: "
                "assess it again, or count failures as wrong in a table for Losses.from_correct"
            )
        try:
            inputs = json.loads(question) if isinstance(question, str) else question
            # The names of the inputs are put into order.
            text = json.dumps(inputs, sort_keys=True, default=str)
        except ValueError:
            text = str(question)
        answers.setdefault(text, []).append(mark)
    return answers


def _first_column(assessments: Any, names: Sequence[str], run: str, table: str) -> str:
    for name in names:
        if name in assessments.columns:
            return name
    raise ValueError(
        f"{' and '.join(map(repr, names))} are not columns of {table} of run {run}, which has "
        f"{', '.join(map(str, assessments.columns))}"
    )
